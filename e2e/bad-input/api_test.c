/* What the API says to bad input: a 4xx whose message names the object, the field and the rule; nothing of a
 * refused write is stored, and the server goes on serving. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "e2e/devcluster/rig.h"
#include "proto/gen/kinds.h"
#include "proto/object.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define FLEET "/apis/placement.kubernetes-fleet.io/v1beta1/"
#define CRPS FLEET "clusterresourceplacements"
#define WORKS FLEET "namespaces/default/works"
#define OVERRIDES FLEET "clusterresourceoverrides"
#define CM "/api/v1/namespaces/default/configmaps"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define JSON "application/json"
#define YAML "application/yaml"
#define MERGE "application/merge-patch+json"
#define PATCH "application/json-patch+json"
#define STRATEGIC "application/strategic-merge-patch+json"
#define APPLY "application/apply-patch+yaml"

static void install_crds(struct rig *r)
{
        for (size_t i = 0; i < n_crd_texts; i++)
                if (crd_texts[i].hub)
                        assert_int_equal(rig_post(r, CRDS, crd_texts[i].json), 201);
}

/* JSON with single quotes. */
static const char *json(struct rig *r, const char *text)
{
        char *copy = arena_strdup(&r->arena, text);
        for (char *c = copy; *c; c++)
                if (*c == '\'')
                        *c = '"';
        return copy;
}

struct bad {
        const char *method, *path, *type, *body;
        int status;
        const char *says;
};

static void check(struct rig *r, const struct bad *b)
{
        rig_call(r, b->method, b->path, b->type, text_equal(b->type, JSON) ? json(r, b->body) : b->body);
        const char *message = rig_string(r, "message");
        if (r->status != b->status || !strstr(message, b->says) ||
            !text_equal(rig_string(r, "kind"), "Status"))
                fail_msg("%s %s %s: wanted %d \"%s\", got %d %s", b->method, b->path, b->body, b->status,
                         b->says, r->status, r->text);
}

static void broken_text(struct rig *r)
{
        static const struct bad cases[] = {
                { "POST", CM, JSON, "{", 400, "json parse error: unexpected end of JSON input" },
                { "POST", CM, JSON, "", 400, "json parse error: unexpected end of JSON input (<empty>)" },
                { "POST", CM, JSON, "{'metadata':{'name':'a'},\n'data':{'a':'b',}}", 400,
                  "invalid character '}' looking for beginning of object key string" },
                { "POST", CM "?fieldValidation=Strict", JSON, "{'metadata':{'name':'a','name':'b'}}", 400,
                  "strict decoding error: duplicate field \"metadata.name\"" },
                { "POST", CM, JSON, "[]", 400, "cannot unmarshal array" },
                { "POST", CM, JSON, "null", 422,
                  "metadata.name: Required value: name or generateName is required" },
                { "POST", CM, YAML, "a: b\n c: d\n", 400, "yaml: line 2: mapping values are not allowed" },
                { "POST", CM, YAML, "metadata: {name: a\n", 400, "yaml: line 2" },
                { "POST", CM, YAML, "a: &a [*a]\n", 400, "unknown anchor 'a'" },
                { "POST", CM, "text/html", "<html>", 415,
                  "unknown format - accepted media types include: application/json" },
                { "PATCH", CM "/ok", MERGE, "{", 400, "error decoding patch: unexpected end of JSON input" },
                { "PATCH", CM "/ok", MERGE, "7", 400, "error decoding patch: json: cannot unmarshal" },
                { "PATCH", CM "/ok", PATCH, "{}", 400,
                  "cannot unmarshal object into Go value of type []handlers.jsonPatchOp" },
                { "PATCH", CM "/ok", PATCH, "[{\"op\":\"fly\",\"path\":\"/a\"}]", 422,
                  "the server rejected our request due to an error in our request" },
                { "PATCH", CM "/ok", PATCH,
                  "[{\"op\":\"add\",\"path\":\"/data/c\",\"value\":\"d\"},"
                  "{\"op\":\"remove\",\"path\":\"/a/b\"}]",
                  422, "the server rejected our request due to an error in our request" },
                { "PATCH", CM "/ok", STRATEGIC, "{\"data\":[]}", 422,
                  "patch: Invalid value: \"map[data:[]]\": cannot restore map from slice" },
                { "PATCH", CM "/ok?fieldManager=x", APPLY, "a: [", 400, "yaml: line 2" },
        };
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"ok\"},\"data\":{\"a\":\"b\"}}"), 201);
        const char *before = (rig_get(r, CM "/ok"), r->text);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                check(r, &cases[i]);
        assert_int_equal(rig_get(r, CM "/a"), 404);
        rig_get(r, CM "/ok");
        assert_string_equal(r->text, before);
}

static void wrong_words(struct rig *r)
{
        static const struct bad cases[] = {
                { "POST", CM, JSON, "{'metadata':[]}", 400, "struct field ConfigMap.metadata of type" },
                { "POST", CM, JSON, "{'metadata':{'name':7}}", 400, "metadata.name of type string" },
                { "POST", CM, JSON, "{'metadata':{'name':'a','labels':{'a':true}}}", 400, "metadata.labels" },
                { "POST", CM, JSON, "{'metadata':{'name':'a','labels':{'-a':'b'}}}", 422,
                  "ConfigMap \"a\" is invalid: metadata.labels: Invalid value: \"-a\": name part must" },
                { "POST", CM, JSON, "{'metadata':{'name':'a','finalizers':'x'}}", 400,
                  "metadata.finalizers" },
                { "POST", CM, JSON, "{'apiVersion':7,'metadata':{'name':'a'}}", 400,
                  "cannot unmarshal number into Go struct field .apiVersion of type string" },
                { "POST", CM, JSON, "{'kind':[],'metadata':{'name':'a'}}", 400,
                  "field .kind of type string" },
                { "POST", CM, JSON, "{'apiVersion':'v1','kind':'Nothing','metadata':{'name':'a'}}", 400,
                  "Nothing in version \"v1\" cannot be handled as a ConfigMap" },
                { "POST", CM, JSON, "{'apiVersion':'v2','kind':'ConfigMap','metadata':{'name':'a'}}", 400,
                  "no kind \"ConfigMap\" is registered for version \"v2\"" },
                { "POST", CRPS, JSON,
                  "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ClusterResourcePlacement',"
                  "'metadata':{'name':'a'},'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':7}]"
                  "}}",
                  422,
                  "ClusterResourcePlacement.placement.kubernetes-fleet.io \"a\" is invalid: "
                  "[spec.resourceSelectors[0].kind: Invalid value: \"integer\": "
                  "spec.resourceSelectors[0].kind in body must be of type string" },
                { "GET", CM "?labelSelector=a%3D%3D%3Db", NULL, NULL, 400, "unable to parse requirement" },
                { "GET", CM "?fieldSelector=data.a%3Db", NULL, NULL, 400,
                  "\"data.a\" is not a known field selector" },
                { "GET", CM "?limit=x", NULL, NULL, 400, "parsing \"x\": invalid syntax" },
                { "GET", CM "?continue=zzz", NULL, NULL, 400, "continue key is not valid" },
                { "GET", CM "?resourceVersion=zzz", NULL, NULL, 400, "zzz" },
        };
        install_crds(r);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                check(r, &cases[i]);
        assert_int_equal(rig_post(r, "/apis/no.such/v1/things", "{\"kind\":\"Thing\"}"), 404);
        assert_int_equal(rig_get(r, CM "/a"), 404);
        assert_int_equal(rig_get(r, CRPS "/a"), 404);
}

static void conflicting_owners(struct rig *r)
{
#define OWNER(name, uid) "{'apiVersion':'v1','kind':'X','name':'" name "','uid':'" uid "','controller':true}"
        static const struct bad cases[] = {
                { "POST", CM, JSON, "{'metadata':{'name':'a','ownerReferences':[7]}}", 400,
                  "metadata.ownerReferences" },
                { "POST", CM, JSON, "{'metadata':{'name':'a','ownerReferences':[{'kind':'X'}]}}", 422,
                  "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty" },
                { "POST", CM, JSON,
                  "{'metadata':{'name':'a','ownerReferences':[" OWNER("p", "1") "," OWNER("q", "2") "]}}",
                  422,
                  "Only one reference can have Controller set to true. Found \"true\" in references for "
                  "X/p and X/q" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                check(r, &cases[i]);
        assert_int_equal(rig_get(r, CM "/a"), 404);
}

static const char *named(struct rig *r, size_t length)
{
        char *name = arena_alloc(&r->arena, length + 1);
        memset(name, 'a', length);
        name[length] = '\0';
        return arena_printf(&r->arena, "{'metadata':{'name':'%s'}}", name);
}

static void long_names(struct rig *r)
{
        check(r,
              &(struct bad){ "POST", CM, JSON, named(r, 254), 422, "metadata.name: Invalid value: \"aaaa" });
        assert_non_null(strstr(rig_string(r, "message"), "must be no more than 253 characters"));
        assert_int_equal(rig_post(r, CM, json(r, named(r, 253))), 201);
        check(r, &(struct bad){ "POST", "/api/v1/namespaces", JSON, named(r, 64), 422,
                                "must be no more than 63 characters" });
        check(r, &(struct bad){
                         "POST", CM, JSON, "{'metadata':{'name':'A_b'}}", 422,
                         "ConfigMap \"A_b\" is invalid: metadata.name: Invalid value: \"A_b\": a lowercase "
                         "RFC 1123 subdomain must consist of" });
}

/* The transport refuses such a body before the API sees it; just below, the API takes it or says why not. */
static void large_objects(struct rig *r)
{
        static const char head[] = "{\"metadata\":{\"name\":\"big\"},\"binaryData\":{\"a\":\"",
                          tail[] = "\"}}";
        size_t size = 4u << 20, n = sizeof(head) - 1;
        char *body = arena_alloc(&r->arena, size + sizeof(head) + sizeof(tail));
        memcpy(body, head, n);
        memset(body + n, 'A', size);
        memcpy(body + n + size, tail, sizeof(tail));
        assert_int_equal(rig_post(r, CM, body), 413);
        assert_non_null(strstr(r->text, "3145728 bytes"));
        assert_int_equal(rig_get(r, CM "/big"), 404);
        char *deep = arena_alloc(&r->arena, 100001);
        memset(deep, '[', 100000);
        deep[100000] = '\0';
        check(r, &(struct bad){ "POST", CM, JSON, deep, 400,
                                "nested deeper than 128 levels (LIMIT_JSON_DEPTH)" });
}

/* ---- every value of a good document replaced by one of every other type ---- */

struct mutation {
        struct rig *rig;
        const char *collection, *name;
        json_t *document;
        unsigned refused, taken;
};

/* Sends the document as it is now, with `field` of a wrong type. A null stands for absence: a rule on what
 * holds the field may answer then. */
static void send_mutant(struct mutation *m, const char *field, bool is_null)
{
        struct rig *r = m->rig;
        char *body = json_dumps(m->document, JSON_COMPACT);
        char path[300];
        snprintf(path, sizeof(path), "%s/%s", m->collection, m->name);
        rig_post(r, m->collection, body);
        if (r->status == 201) {
                m->taken++;
                rig_get(r, path);
                if (r->status == 200)
                        rig_delete(r, path);
        } else {
                m->refused++;
                const char *message = rig_string(r, "message");
                const char *name = strcmp(field, "metadata") == 0 ? "Meta" : field; /* or v1.ObjectMeta */
                if ((r->status != 400 && r->status != 422) ||
                    !strcasestr(message, is_null && strstr(message, "is invalid: ") ? "" : name))
                        fail_msg("%s: %s: %d %s", field, body, r->status, r->text);
                if (rig_get(r, path) != 404)
                        fail_msg("%s: refused, yet stored: %s", field, r->text);
        }
        free(body);
}

static void mutate(struct mutation *m, json_t *node, const char *field);

/* Puts values of every type in the place of `old`, then `old` again. */
static void mutate_at(struct mutation *m, json_t *parent, const char *key, size_t index, const char *field)
{
        json_t *old = key ? json_object_get(parent, key) : json_array_get(parent, index);
        json_t *others[] = { json_integer(7),
                             json_real(1.5),
                             json_true(),
                             json_pack("[i]", 7),
                             json_pack("{s:i}", "x", 7),
                             json_string("7"),
                             json_null() };
        json_incref(old);
        for (size_t i = 0; i < ARRAY_LEN(others); i++) {
                if (json_typeof(others[i]) != json_typeof(old)) {
                        if (key)
                                json_object_set(parent, key, others[i]);
                        else
                                json_array_set(parent, index, others[i]);
                        send_mutant(m, field, json_is_null(others[i]));
                }
                json_decref(others[i]);
        }
        if (key)
                json_object_set(parent, key, old);
        else
                json_array_set(parent, index, old);
        mutate(m, old, field);
        json_decref(old);
}

static void mutate(struct mutation *m, json_t *node, const char *field)
{
        AUTO_JSON json_t *shape = json_copy(node);
        const char *key;
        json_t *value;
        size_t i;
        json_object_foreach(shape, key, value)
                mutate_at(m, node, key, 0, key);
        json_array_foreach(shape, i, value)
                mutate_at(m, node, NULL, i, field);
}

static void wrong_types(struct rig *r)
{
        static const struct {
                const char *collection, *document;
        } rows[] = {
                { CRPS,
                  "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ClusterResourcePlacement',"
                  "'metadata':{'name':'m','labels':{'l':'v'},'annotations':{'n':'v'},'finalizers':['f/g']},"
                  "'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':'Namespace','labelSelector'"
                  ":"
                  "{'matchLabels':{'a':'b'},'matchExpressions':[{'key':'k','operator':'In','values':['v']}]}}"
                  "],"
                  "'policy':{'placementType':'PickN','numberOfClusters':2,'affinity':{'clusterAffinity':{"
                  "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':2,'preference':{'"
                  "labelSelector':"
                  "{'matchLabels':{'a':'b'}}}}]}},'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z'"
                  ","
                  "'whenUnsatisfiable':'DoNotSchedule'}],'tolerations':[{'key':'k','operator':'Equal','value'"
                  ":"
                  "'v','effect':'NoSchedule'}]},'strategy':{'type':'RollingUpdate','rollingUpdate':{"
                  "'maxUnavailable':'25%','maxSurge':1,'unavailablePeriodSeconds':60},'applyStrategy':{'type'"
                  ":"
                  "'ServerSideApply','serverSideApplyConfig':{'force':true},'allowCoOwnership':true,"
                  "'whenToApply':'Always'}},'revisionHistoryLimit':3}}" },
                { WORKS,
                  "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'Work','metadata':{'name':"
                  "'m'},'spec':{'workload':{'manifests':[{'apiVersion':'v1','kind':'ConfigMap','metadata':"
                  "{'name':'c'},'data':{'a':'b'}}]},'applyStrategy':{'whenToTakeOver':'Always'}}}" },
                { OVERRIDES,
                  "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ClusterResourceOverride',"
                  "'metadata':{'name':'m'},'spec':{'clusterResourceSelectors':[{'group':'','version':'v1','"
                  "kind':"
                  "'Namespace','name':'n'}],'policy':{'overrideRules':[{'clusterSelector':{"
                  "'clusterSelectorTerms':[{'labelSelector':{'matchLabels':{'a':'b'}}}]},'jsonPatchOverrides'"
                  ":[{"
                  "'op':'add','path':'/metadata/labels/x','value':'y'}]}]}}}" },
                { DEPLOYMENTS,
                  "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'m','namespace':'default'},"
                  "'spec':{'replicas':2,'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels'"
                  ":"
                  "{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i','ports':[{'containerPort':80}],"
                  "'env':[{'name':'E','value':'v'}]}]}}}}" },
        };
        install_crds(r);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct mutation m = { .rig = r, .collection = rows[i].collection, .name = "m" };
                assert_int_equal(doc_parse(slice_of(json(r, rows[i].document)), &m.document, NULL), 0);
                char path[300];
                snprintf(path, sizeof(path), "%s/m", m.collection);
                assert_int_equal(rig_post(r, m.collection, json(r, rows[i].document)), 201);
                assert_true(rig_merge(r, path, "{\"metadata\":{\"finalizers\":null}}") == 200);
                assert_true(rig_delete(r, path) == 200);
                json_object_del(json_object_get(m.document, "metadata"), "finalizers");
                mutate(&m, m.document, "");
                assert_true(m.refused > m.taken);
                json_decref(m.document);
        }
}

/* ---- credentials ---- */

static void stale_tokens(struct rig *r)
{
#define SA "/api/v1/namespaces/default/serviceaccounts"
        assert_int_equal(rig_post(r, SA, "{\"metadata\":{\"name\":\"robot\"}}"), 201);
        assert_int_equal(rig_post(r, SA "/robot/token", "{\"spec\":{\"expirationSeconds\":600}}"), 201);
        r->endpoint.bearer_token = arena_strdup(&r->arena, rig_string(r, "status.token"));
        assert_int_equal(rig_get(r, CM), 403);
        assert_int_equal(fiber_sleep(r->loop, 601000), 0);
        check(r, &(struct bad){ "GET", CM, NULL, NULL, 401, "Unauthorized" });
        check(r, &(struct bad){ "POST", CM, JSON, "{'metadata':{'name':'a'}}", 401, "Unauthorized" });
        r->endpoint.bearer_token = (char *)"neither.a.token";
        check(r, &(struct bad){ "GET", CM, NULL, NULL, 401, "Unauthorized" });
        r->endpoint.bearer_token = NULL;
        assert_int_equal(rig_get(r, CM "/a"), 404);
}

#define TEST(name, body)                                                                                     \
        static void name(void **state)                                                                       \
        {                                                                                                    \
                rig_run(body);                                                                               \
        }

TEST(broken_json_yaml_and_patches_are_refused_with_line_or_operation, broken_text)
TEST(wrong_words_and_unknown_kinds_are_named, wrong_words)
TEST(owners_that_conflict_are_refused, conflicting_owners)
TEST(names_that_are_too_long_or_odd_are_refused, long_names)
TEST(objects_of_4_mib_and_bottomless_ones_are_refused, large_objects)
TEST(a_wrong_type_at_any_depth_is_refused_by_field_and_stores_nothing, wrong_types)
TEST(stale_and_foreign_tokens_are_refused, stale_tokens)

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(broken_json_yaml_and_patches_are_refused_with_line_or_operation),
                cmocka_unit_test(wrong_words_and_unknown_kinds_are_named),
                cmocka_unit_test(owners_that_conflict_are_refused),
                cmocka_unit_test(names_that_are_too_long_or_odd_are_refused),
                cmocka_unit_test(objects_of_4_mib_and_bottomless_ones_are_refused),
                cmocka_unit_test(a_wrong_type_at_any_depth_is_refused_by_field_and_stores_nothing),
                cmocka_unit_test(stale_and_foreign_tokens_are_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
