/* What does not leave a hub in a support bundle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "kubectl-fleet/bundle_hide.h"
#include "proto/gen/kinds.h"

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
        { "{'kind':'ResourceSet','spec':{'steps':[{'name':'one','resources':[{'b':'sesame'}],'timeout':'1m'},"
          "{'"
          "name':'two','resourcesTemplate':'sesame'}]}}",
          { "sesame" },
          { "\"name\":\"one\"", "\"name\":\"two\"", "\"timeout\":\"1m\"" } },
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
          "[{'valueInMember':'sesame'}]},{'kind':'Deployment','observedDrifts':[{'path':'/spec/env',"
          "'valueInMember':'sesame','valueInHub':'sesame'}]}]}]}}",
          { "sesame" },
          { "/spec/env" } },
        { "{'kind':'ClusterResourceBinding','status':{'conditions':[{'type':'Overridden','status':'False','"
          "message':'patch of Secret s: "
          "sesame','reason':'R'},{'type':'Overridden','status':'False','message':'no such field'}]}}",
          { "sesame" },
          { "\"reason\":\"R\"", "no such field" } },
        { "{'kind':'Work','status':{'manifestConditions':[{'backReportedStatus':{'observedStatus':{'status':{"
          "'a':'sesame'}},'observationTime':'now'}}]}}",
          { "sesame" },
          { "observedStatus", "now" } },
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

/* ---- values of any shape ---- */

/* Fields that the kinds' tables leave open, and that hold nothing of others. */
static const struct {
        const char *kind, *path;
} open_fields[] = {
        { "Bucket", ".spec.accessFrom" },         { "Bucket", ".spec.sts" },
        { "GitRepository", ".spec.accessFrom" },  { "HelmChart", ".spec.accessFrom" },
        { "HelmRepository", ".spec.accessFrom" },
};

/* From a value of any shape up to the object that holds it. */
struct step {
        const struct step *parent;
        const struct field *field;
};

struct walk {
        const struct kind *kind;
        size_t n_hidden, n_open;
};

static json_t *around(const struct field *f, json_t *value)
{
        if (f->type == FIELD_LIST || f->type == FIELD_RAW_LIST)
                value = json_pack("[o]", value);
        else if (f->type == FIELD_MAP || f->type == FIELD_RAW_MAP)
                value = json_pack("{s:o}", "any-name", value);
        return json_pack("{s:o}", f->name, value);
}

static void expect_hidden(struct walk *w, const struct step *leaf)
{
        char path[512] = "", before[512];
        AUTO_JSON json_t *doc = json_pack("{s:s, s:s, s:{s:s}}", "kind", "ConfigMap", "any", "sesame",
                                          "metadata", "name", "n");
        AUTO_BUF struct buf b;
        bool open = false;

        for (const struct step *s = leaf; s; s = s->parent) {
                snprintf(before, sizeof(before), "%s", path);
                snprintf(path, sizeof(path), ".%.80s%.400s", s->field->name, before);
                doc = around(s->field, doc);
        }
        json_object_set_new(doc, "kind", json_string(w->kind->kind));
        assert_int_equal(bundle_hide_object(doc, NULL), 0);
        buf_init(&b, 65536);
        assert_int_equal(doc_write_canonical(doc, &b), 0);
        for (size_t i = 0; i < ARRAY_LEN(open_fields); i++)
                open = open || (text_equal(open_fields[i].kind, w->kind->kind) &&
                                text_equal(open_fields[i].path, path));
        if (!strstr(b.data, "sesame") == open)
                fail_msg("%s%s is %s: %s", w->kind->kind, path, open ? "hidden" : "open", b.data);
        *(open ? &w->n_open : &w->n_hidden) += 1;
}

static void walk_fields(struct walk *w, const struct type *t, const struct step *parent)
{
        for (size_t i = 0; t && i < t->n_fields; i++) {
                const struct step here = { parent, &t->fields[i] };

                if (here.field->type == FIELD_RAW || here.field->type == FIELD_RAW_LIST ||
                    here.field->type == FIELD_RAW_MAP)
                        expect_hidden(w, &here);
                else
                        walk_fields(w, here.field->element, &here);
        }
}

static void whatever_a_kind_carries_for_others_is_hidden_unless_it_is_listed(void **state)
{
        struct walk w = { 0 };

        for (const struct kind *const *kind = all_kinds; *kind; kind++) {
                w.kind = *kind;
                walk_fields(&w, (*kind)->root, NULL);
        }
        assert_int_equal(w.n_open, ARRAY_LEN(open_fields));
        assert_true(w.n_hidden > w.n_open);
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
        { "Authorization: Bearer abcdefghijklmnop x\ny", "Authorization: <hidden>\ny" },
        { "> authorization: token ghp_x", "> authorization: <hidden>" },
        { "Authorization: Basic YTpi", "Authorization: <hidden>" },
        { "Authorization: Digest user=\"me\", response=\"sesame\"", "Authorization: <hidden>" },
        { "curl -H \"Authorization: Basic YTpi\" https://x",
          "curl -H \"Authorization: <hidden>\" https://x" },
        { "Authorization:[Basic YTpi] Accept:[x]\n", "Authorization:<hidden>\n" },
        { "{\"m\":\"Authorization: Basic YTpi\\nA: b\",\"a\":1}",
          "{\"m\":\"Authorization: <hidden>\\nA: b\",\"a\":1}" },
        { "{\"m\":\"Authorization: Digest user=\\\"me\\\", response=\\\"sesame\\\"\",\"a\":1}",
          "{\"m\":\"Authorization: <hidden>\",\"a\":1}" },
        { "{\"Authorization\":\"token ghp_x\",\"a\":1}", "{\"Authorization\":\"<hidden>\",\"a\":1}" },
        { "{\"Authorization\":[\"token ghp_x\"],\"a\":1}", "{\"Authorization\":[\"<hidden>\"],\"a\":1}" },
        { "{\"authorization\":{\"mode\":\"RBAC\"}}", "{\"authorization\":{\"mode\":\"RBAC\"}}" },
        { "5\" wide, token=\"sesame\" x", "5\" wide, token=\"<hidden>\" x" },
        { "{\"m\":\"a token=\",\"a\":\"b\"}", "{\"m\":\"a token=\",\"a\":\"b\"}" },
        { "Bearer abcdefghijklmnop x", "Bearer <hidden> x" },
        { "secretary=me tokens=5", "secretary=me tokens=5" },
        { "{\"m\":\"token:\\n next\"}", "{\"m\":\"token:\\n next\"}" },
        { "password=ses\\ame x", "password=<hidden> x" },
        { "{\"m\":\"{\\\"n\\\":\\\"{\\\\\\\"token\\\\\\\":\\\\\\\"sesame\\\\\\\"}\\\"}\"}",
          "{\"m\":\"{\\\"n\\\":\\\"{\\\\\\\"token\\\\\\\":\\\\\\\"<hidden>\\\\\\\"}\\\"}\"}" },
        { "{\"m\":\"{\\\"token\\\":\\\"a\\\\\\\"ses ame\\\",\\\"a\\\":1}\"}",
          "{\"m\":\"{\\\"token\\\":\\\"<hidden>\\\",\\\"a\\\":1}\"}" },
        { "{\"m\":\"{\\\"k\\\":\\\"-----BEGIN PRIVATE KEY-----c2Vz\\\"}\"}",
          "{\"m\":\"{\\\"k\\\":\\\"<hidden>\\\"}\"}" },
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

static void expect_text_hidden(const char *text, const char *wanted)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 4096);
        assert_int_equal(bundle_hide_text(slice_of(text), &b), 0);
        assert_string_equal(b.data, wanted);
}

static void every_name_of_a_credential_is_read_to_its_end(void **state)
{
        static const char *const known[] = { "secretkey",  "secretKey",     "SECRET_KEY", "accesskey",
                                             "passphrase", "client_secret", "api-key",    "PASSPHRASE" };
        size_t n = 0;

        for (const char *name; (name = bundle_hidden_name(n)); n++) {
                char text[256], wanted[256];

                snprintf(text, sizeof(text), "a %s=sesame-sesame", name);
                snprintf(wanted, sizeof(wanted), "a %s=" BUNDLE_HIDDEN, name);
                expect_text_hidden(text, wanted);
                snprintf(text, sizeof(text), "{\"%s\":\"sesame-sesame\",\"a\":1}", name);
                snprintf(wanted, sizeof(wanted), "{\"%s\":\"" BUNDLE_HIDDEN "\",\"a\":1}", name);
                expect_text_hidden(text, wanted);
        }
        assert_true(n > ARRAY_LEN(known));
        for (size_t i = 0; i < ARRAY_LEN(known); i++) {
                char text[256], wanted[256];

                snprintf(text, sizeof(text), "%s: sesame", known[i]);
                snprintf(wanted, sizeof(wanted), "%s: " BUNDLE_HIDDEN, known[i]);
                expect_text_hidden(text, wanted);
        }
}

/* A text of pieces that matter here, as number `i` tells. */
static void append_pieces(uint64_t i, struct buf *b)
{
        static const char *const pieces[] = { "token",  "Authorization",
                                              "bearer", "=",
                                              ":",      " ",
                                              "\"",     "'",
                                              "\\",     "\n",
                                              "n",      "sesame-sesame",
                                              "\\\"",   "{",
                                              "[",      "://a",
                                              "@b",     "-----BEGIN PRIVATE KEY-----",
                                              "\x01",   "é" };

        for (uint64_t x = i * 0x9e3779b97f4a7c15u + 1, n = 2 + i % 9; n; n--) {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                buf_append_str(b, pieces[x % ARRAY_LEN(pieces)]);
        }
}

/* {"m": text, "a": 1}, as JSON. */
static void wrap(struct buf *text)
{
        AUTO_JSON json_t *doc = json_pack("{s:s, s:i}", "m", text->data, "a", 1);

        buf_clear(text);
        assert_int_equal(doc_write_canonical(doc, text), 0);
}

static void whatever_texts_in_json_hold_it_stays_json(void **state)
{
        for (uint64_t i = 0; i < 60000; i++) {
                AUTO_BUF struct buf b, hidden;
                AUTO_JSON json_t *doc = NULL;

                buf_init(&b, 65536);
                buf_init(&hidden, 65536);
                append_pieces(i, &b);
                for (uint64_t depth = 0; depth <= i % 3; depth++)
                        wrap(&b);
                assert_int_equal(bundle_hide_text((struct slice){ b.data, b.len }, &hidden), 0);
                if (doc_parse((struct slice){ hidden.data, hidden.len }, &doc, NULL) < 0)
                        fail_msg("%s became %s", b.data, hidden.data);
                assert_int_equal(doc_get_int(doc, "a", 0), 1);
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
                cmocka_unit_test(whatever_a_kind_carries_for_others_is_hidden_unless_it_is_listed),
                cmocka_unit_test(an_object_without_end_is_refused),
                cmocka_unit_test(credentials_are_hidden_in_texts_and_json_stays_json),
                cmocka_unit_test(every_name_of_a_credential_is_read_to_its_end),
                cmocka_unit_test(whatever_texts_in_json_hold_it_stays_json),
                cmocka_unit_test(texts_may_end_anywhere),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
