/* What does not leave a hub in a support bundle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "kubectl-fleet/bundle_hide.h"

/* Single quotes stand for double ones. */
static void hide(const char *text, struct buf *ret)
{
        AUTO_BUF struct buf json;
        AUTO_JSON json_t *doc = NULL;
        struct error err = { 0 };

        buf_init(&json, 1 << 20);
        buf_init(ret, 1 << 20);
        for (const char *c = text; *c; c++)
                buf_append_char(&json, *c == '\'' ? '"' : *c);
        assert_int_equal(doc_parse((struct slice){ json.data, json.len }, &doc, &err), 0);
        assert_int_equal(bundle_hide_object(doc, &err), 0);
        assert_int_equal(doc_write_canonical(doc, ret), 0);
}

static const struct {
        const char *object, *hidden[3], *kept[3];
} objects[] = {
        { "{'kind':'Secret','metadata':{'name':'s','annotations':{'a':'sesame'}},'data':{'k':'sesame'},'"
          "stringData':{'l':'sesame'}}",
          { "sesame" },
          { "\"k\"", "\"name\":\"s\"" } },
        { "{'kind':'List','items':[{'kind':'Secret','data':{'k':'sesame'}}]}", { "sesame" }, { "\"k\"" } },
        { "{'kind':'Work','spec':{'workload':{'manifests':[{'apiVersion':'v1','kind':'Secret','metadata':{'"
          "name':'s',"
          "'labels':{'l':'sesame'}},'data':{'k':'sesame'}},{'kind':'ConfigMap','metadata':{'name':'c'},'data'"
          ":{'k':'sesame'}}]}}}",
          { "sesame" },
          { "\"name\":\"s\"", "\"name\":\"c\"", "ConfigMap" } },
        { "{'kind':'ClusterResourceSnapshot','spec':{'selectedResources':[{'kind':'Secret','data':{'k':'"
          "sesame'}}]}}",
          { "sesame" },
          { "Secret" } },
        { "{'kind':'ResourceEnvelope','data':{'a.yaml':{'kind':'Role','metadata':{'name':'r'},'rules':['"
          "sesame']}}}",
          { "sesame" },
          { "a.yaml", "\"name\":\"r\"" } },
        { "{'kind':'ResourceOverride','spec':{'policy':{'overrideRules':[{'jsonPatchOverrides':[{'op':'add','"
          "path':'/data/a',"
          "'value':{'x':'sesame'}}]}]}}}",
          { "sesame" },
          { "/data/a", "\"op\":\"add\"" } },
        { "{'kind':'ResourceSet','spec':{'inputs':[{'a':'sesame'}],'resourcesTemplate':'sesame','resources':["
          "{'b':'sesame'}]}}",
          { "sesame" },
          { "resourcesTemplate" } },
        { "{'kind':'ResourceSetInputProvider','status':{'exportedInputs':[{'a':'sesame'}]}}",
          { "sesame" },
          { "exportedInputs" } },
        { "{'kind':'HelmChart','spec':{'values':{'a':'sesame'},'chart':'web'}}", { "sesame" }, { "web" } },
        { "{'kind':'ClusterObjectSet','spec':{'phases':[{'name':'p','objects':[{'object':{'kind':'ConfigMap',"
          "'data':{'a':'sesame'}}}]}]}}",
          { "sesame" },
          { "ConfigMap", "\"name\":\"p\"" } },
        { "{'kind':'Work','status':{'manifestConditions':[{'identifier':{'kind':'Secret','name':'s'},'"
          "conditions':[{'message':"
          "'sesame','reason':'Applied'}],'driftDetails':{'observedDrifts':[{'path':'/"
          "data','valueInHub':'sesame'}]}},"
          "{'identifier':{'kind':'ConfigMap'},'conditions':[{'message':'open'}]}]}}",
          { "sesame" },
          { "Applied", "/data", "open" } },
        { "{'kind':'ClusterResourcePlacement','status':{'placementStatuses':[{'driftedPlacements':[{'kind':'"
          "Secret','observedDrifts':"
          "[{'valueInMember':'sesame'}]},{'kind':'Deployment','observedDrifts':[{'valueInMember':'open'}]}]}]"
          "}}",
          { "sesame" },
          { "open" } },
        { "{'kind':'Event','involvedObject':{'kind':'Secret'},'message':'sesame','reason':'Bad'}",
          { "sesame" },
          { "Bad" } },
        { "{'kind':'Pod','spec':{'containers':[{'env':[{'name':'HUB_TOKEN','value':'sesame'},{'name':'A','"
          "value':'open'}]}]}}",
          { "sesame" },
          { "open", "HUB_TOKEN" } },
        { "{'kind':'Deployment','metadata':{'managedFields':['sesame'],'annotations':{'kubectl.kubernetes.io/"
          "last-applied-configuration':"
          "'sesame','kubernetes-fleet.io/last-applied-configuration':'sesame','a':'open'}}}",
          { "sesame", "managedFields" },
          { "open" } },
};

static void values_that_are_nobodys_business_are_hidden_in_objects(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
                AUTO_BUF struct buf b;

                hide(objects[i].object, &b);
                for (size_t k = 0; k < 3 && objects[i].hidden[k]; k++)
                        if (strstr(b.data, objects[i].hidden[k]))
                                fail_msg("%s is in %s", objects[i].hidden[k], b.data);
                for (size_t k = 0; k < 3 && objects[i].kept[k]; k++)
                        if (!strstr(b.data, objects[i].kept[k]))
                                fail_msg("%s is not in %s", objects[i].kept[k], b.data);
        }
}

static void an_object_without_end_is_refused(void **state)
{
        AUTO_JSON json_t *doc = json_object();
        json_t *at = doc;
        struct error err = { 0 };

        for (int i = 0; i < 200; i++) {
                json_object_set_new(at, "a", json_object());
                at = json_object_get(at, "a");
        }
        assert_int_equal(bundle_hide_object(doc, &err), ERR_LIMIT);
}

#define JWT "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl_-"
static const struct {
        const char *text, *wanted;
} texts[] = {
        { "token is " JWT ", they say", "token is <hidden>, they say" },
        { JWT, "<hidden>" },
        { "eyJ is no token", "eyJ is no token" },
        { "Authorization: Bearer abcdefghijklmnop x", "Authorization: Bearer <hidden> x" },
        { "the bearer has come", "the bearer has come" },
        { "https://me:sesame@git.example.com/a.git", "https://<hidden>@git.example.com/a.git" },
        { "https://hub:6443/api?x=a@b", "https://hub:6443/api?x=a@b" },
        { "password=sesame&user=me", "password=<hidden>&user=me" },
        { "PASSWORD: sesame", "PASSWORD: <hidden>" },
        { "--token=sesame --v=5", "--token=<hidden> --v=5" },
        { "accessToken: 'ses ame' b", "accessToken: '<hidden>' b" },
        { "{\"token\":\"ses\\\"ame\",\"a\":1}", "{\"token\":\"<hidden>\",\"a\":1}" },
        { "{\"token\":null,\"secret\":{\"name\":\"s\"},\"password\":5}",
          "{\"token\":null,\"secret\":{\"name\":\"s\"},\"password\":5}" },
        { "{\"m\":\"{\\\"token\\\":\\\"sesame\\\"}\"}", "{\"m\":\"{\\\"token\\\":\\\"<hidden>\\\"}\"}" },
        { "{\"kind\":\"Secret\",\"name\":\"token\"}", "{\"kind\":\"Secret\",\"name\":\"token\"}" },
        { "client-key-data: c2VzYW1l\nname: x", "client-key-data: <hidden>\nname: x" },
        { "a -----BEGIN RSA PRIVATE KEY-----\nc2VzYW1l\n-----END RSA PRIVATE KEY----- b", "a <hidden> b" },
        { "{\"k\":\"-----BEGIN PRIVATE KEY-----\\nc2Vz\",\"a\":1}", "{\"k\":\"<hidden>\",\"a\":1}" },
        { "-----BEGIN CERTIFICATE-----\nabc", "-----BEGIN CERTIFICATE-----\nabc" },
        { "workqueue_depth{name=\"x\"} 1", "workqueue_depth{name=\"x\"} 1" },
        { "", "" },
};

static void credentials_are_hidden_in_texts_and_json_stays_json(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                AUTO_BUF struct buf b;
                json_t *doc = NULL;

                buf_init(&b, 4096);
                buf_append_str(&b, "");
                assert_int_equal(bundle_hide_text(slice_of(texts[i].text), &b), 0);
                if (strcmp(b.data ? b.data : "", texts[i].wanted) != 0)
                        fail_msg("\"%s\" became \"%s\"", texts[i].text, b.data);
                if (texts[i].text[0] == '{' && doc_parse((struct slice){ b.data, b.len }, &doc, NULL) < 0)
                        fail_msg("no JSON any more: %s", b.data);
                json_decref(doc);
        }
}

/* Wherever a text is cut, nothing is read behind its end. */
static void texts_may_end_anywhere(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
                for (size_t n = 0; n < strlen(texts[i].text); n++) {
                        AUTO_FREE char *part = mem_strndup(texts[i].text, n);
                        AUTO_BUF struct buf b;

                        buf_init(&b, 4096);
                        assert_int_equal(bundle_hide_text((struct slice){ part, n }, &b), 0);
                }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(values_that_are_nobodys_business_are_hidden_in_objects),
                cmocka_unit_test(an_object_without_end_is_refused),
                cmocka_unit_test(credentials_are_hidden_in_texts_and_json_stays_json),
                cmocka_unit_test(texts_may_end_anywhere),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
