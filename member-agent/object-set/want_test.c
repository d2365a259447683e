/* spec/cluster-object-set.md 8, 12.1: against the same server-side apply that a server does. */
#include "member-agent/object-set/want.h"

#include "common/json/apply.h"
#include "common/json/patch.h"
#include "common/json/schema.h"
#include "member-agent/object-set/testing.h"

static const struct set_identity us = { "app-2", "u2", 2, "app", NULL };
#define OURS SET_REFERENCE("app-2", "u2", CONTROLLING)
#define MARKS                                                                                                \
        "'labels':{'app.kubernetes.io/managed-by':'olm.operatorframework.io',"                               \
        "'olm.operatorframework.io/owner-name':'app'},'annotations':{'olm.operatorframework.io/"             \
        "revision':'2'}"

static json_t *prepare_as(const struct set_identity *set, const char *manifest)
{
        AUTO_JSON json_t *doc = quoted(manifest);
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct set_object o = object_from(&arena, doc);
        struct error err = { 0 };
        json_t *prepared = NULL;

        if (want_prepare(set, &o, true, &prepared, &err) < 0)
                fail_msg("%s", err.text);
        return prepared;
}

/* ---- what is wanted ---- */

/* spec/cluster-object-set.md checklist 33 */
static void an_object_carries_our_marks_and_one_controlling_reference(void **state)
{
        AUTO_JSON json_t *p = prepare_as(
                &us,
                "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'cm','labels':{'app.kubernetes.io/"
                "managed-by':'Helm','olm.operatorframework.io/owner-name':'x','app':'a'}},'data':{}}");

        assert_doc_equal(p,
                         "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'cm','labels':{'app':'a',"
                         "'app.kubernetes.io/managed-by':'olm.operatorframework.io',"
                         "'olm.operatorframework.io/owner-name':'app'},'annotations':{"
                         "'olm.operatorframework.io/revision':'2'},'ownerReferences':[" OURS "]},'data':{}}");
}

/* spec/cluster-object-set.md checklist 34 */
static void a_set_of_no_owner_gives_an_empty_label(void **state)
{
        static const struct set_identity alone = { "alone", "u", 1, NULL, NULL };
        AUTO_JSON json_t *p = prepare_as(
                &alone, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'n','labels':null}}");

        assert_doc_equal(doc_get(p, "metadata.labels"),
                         "{'app.kubernetes.io/managed-by':'olm.operatorframework.io',"
                         "'olm.operatorframework.io/owner-name':''}");
}

static void the_manifest_of_the_set_is_never_changed(void **state)
{
        static const char manifest[] = "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'cm'}}";
        AUTO_JSON json_t *doc = quoted(manifest);
        AUTO_JSON json_t *prepared = NULL;
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct set_object o = object_from(&arena, doc);

        assert_int_equal(want_prepare(&us, &o, false, &prepared, NULL), 0);
        assert_doc_equal(doc, manifest);
}

static void a_status_is_wanted_only_where_it_is_no_subresource(void **state)
{
        AUTO_JSON json_t *doc =
                quoted("{'apiVersion':'v1','kind':'A','metadata':{'name':'a'},'status':{'x':1}}");
        AUTO_JSON json_t *without = NULL, *with = NULL;
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct set_object o = object_from(&arena, doc);

        assert_int_equal(want_prepare(&us, &o, true, &without, NULL), 0);
        assert_int_equal(want_prepare(&us, &o, false, &with, NULL), 0);
        assert_null(doc_get(without, "status"));
        assert_doc_equal(doc_get(with, "status"), "{'x':1}");
}

static void what_only_a_server_sets_is_left_out(void **state)
{
        AUTO_JSON json_t *p =
                prepare_as(&us, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'cm',"
                                "'creationTimestamp':null,'selfLink':'/x','managedFields':[{}]}}");

        assert_doc_equal(p, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'cm'," MARKS
                            ",'ownerReferences':[" OURS "]}}");
}

static void texts_of_a_secret_become_data(void **state)
{
        AUTO_JSON json_t *p = prepare_as(
                &us, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},'data':{'a':'eA==',"
                     "'b':'eA=='},'stringData':{'b':'yy','c':''}}");

        assert_doc_equal(doc_get(p, "data"), "{'a':'eA==','b':'eXk=','c':''}");
        assert_null(doc_get(p, "stringData"));
}

static void labels_that_are_no_object_are_named(void **state)
{
        AUTO_JSON json_t *doc = quoted("{'kind':'A','metadata':{'name':'a','labels':['x']}}");
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct set_object o = object_from(&arena, doc);
        json_t *prepared = NULL;
        struct error err = { 0 };

        assert_int_equal(want_prepare(&us, &o, true, &prepared, &err), ERR_INVALID);
        assert_string_equal(err.text, "metadata.labels: must be an object, is an array");
}

/* ---- a server in small ---- */

static const char openapi[] =
        "{'type':'object','properties':{'apiVersion':{'type':'string'},'kind':{'type':'string'},'metadata':{"
        "'type':'object'},'spec':{'type':'object','properties':{'replicas':{'type':'integer'},'paused':{'"
        "type':"
        "'boolean'},'tags':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}},'rules':"
        "{"
        "'type':'array','items':{'type':'object','properties':{'verb':{'type':'string'},'kind':{'type':'"
        "string'"
        "},'from':{'type':'object','x-kubernetes-preserve-unknown-fields':true}}}},'limits':{'type':'object',"
        "'additionalProperties':{'x-kubernetes-int-or-string':true}},'volume':{'type':'object','properties':{"
        "'dir':{'type':'object','properties':{'size':{'type':'string'}}},'path':{'type':'string'}}},"
        "'containers':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['name'],"
        "'items':{'type':'object','required':['name'],'properties':{'name':{'type':'string'},'image':{'type':"
        "'string'},'pull':{"
        "'type':'string','default':'Always'},'ports':{'type':'array','x-kubernetes-list-type':'map',"
        "'x-kubernetes-list-map-keys':['port','protocol'],'items':{'type':'object','required':['port'],"
        "'properties':{'port':{'type':'integer'},'protocol':{'type':'string','default':'TCP'},'label':{'type'"
        ":"
        "'string'}}}}}}}}}}}";

#define MANIFEST                                                                                             \
        "{'apiVersion':'example.com/"                                                                        \
        "v1','kind':'App','metadata':{'name':'a','namespace':'ns','labels':{'app':"                          \
        "'a'}},'spec':{'replicas':2,'tags':['one'],'rules':[{'verb':'get','from':{}}],'limits':{'cpu':'"     \
        "1000m'},"                                                                                           \
        "'volume':{'dir':{}},'containers':[{'name':'main','image':'i:1','ports':[{'port':80},{'port':81,"    \
        "'protocol':'UDP'}]}]}}"

static struct arena schemas;
static const struct schema *schema;

static int make_schema(void **state)
{
        AUTO_JSON json_t *doc = quoted(openapi);
        struct error err = { 0 };

        if (schema_from_crd(&schemas, doc, &schema, &err) < 0)
                fail_msg("%s", err.text);
        return 0;
}

static int free_schema(void **state)
{
        arena_free(&schemas);
        return 0;
}

static struct apply_options as(const char *manager)
{
        return (struct apply_options){
                .manager = manager, .api_version = "example.com/v1", .force = true, .wall_ms = 1000
        };
}

/* Serves an apply: *live is replaced. */
static void serve_apply(json_t **live, const json_t *body, const char *manager)
{
        AUTO_JSON json_t *config = doc_copy(body);
        struct apply_options o = as(manager);
        struct error err = { 0 };
        json_t *now = NULL;

        doc_remove(config, "metadata.resourceVersion");
        if (apply_server_side(*live, config, schema, &o, &now, NULL, &err) < 0 ||
            schema_apply_defaults(schema, now, &err) < 0)
                fail_msg("%s", err.text);
        json_decref(*live);
        *live = now;
}

/* Serves a merge patch, or with *live NULL a POST. */
static void serve_update(json_t **live, const json_t *patch, const char *manager, const char *subresource)
{
        struct apply_options o = as(manager);
        struct error err = { 0 };
        json_t *now = NULL;

        o.subresource = subresource;
        if (!*live)
                now = doc_copy(patch);
        else if (patch_merge(*live, patch, &now, &err) < 0)
                fail_msg("%s", err.text);
        if (schema_apply_defaults(schema, now, &err) < 0 ||
            apply_track_update(*live, now, schema, &o, &err) < 0)
                fail_msg("%s", err.text);
        json_decref(*live);
        *live = now;
}

static json_t *created(const json_t *prepared)
{
        json_t *live = NULL;

        serve_apply(&live, prepared, FIELD_MANAGER_OBJECT_SET);
        doc_set_string(live, "metadata.resourceVersion", "7");
        return live;
}

static enum want compared(const json_t *prepared, const json_t *live)
{
        struct error err = { 0 };
        enum want w;

        if (want_compare(prepared, live, &w, &err) < 0)
                fail_msg("%s", err.text);
        return w;
}

/* ---- 8.4 ---- */

/* What is sent then leaves nothing to be done. */
static void put_right(const json_t *prepared, json_t **live)
{
        AUTO_JSON json_t *body = NULL;

        assert_int_equal(want_request(prepared, *live, &body, NULL), 0);
        serve_apply(live, body, FIELD_MANAGER_OBJECT_SET);
        assert_int_equal(compared(prepared, *live), WANT_NOTHING);
}

/* By POST and conversion, as objects are made: containers are members of our entry then, too. */
static json_t *created_by_post(const json_t *prepared)
{
        AUTO_JSON json_t *conversion = NULL;
        json_t *live = NULL;

        serve_update(&live, prepared, FIELD_MANAGER_OBJECT_SET, NULL);
        assert_int_equal(want_conversion(live, &conversion, NULL), 0);
        serve_update(&live, conversion, FIELD_MANAGER_OBJECT_SET, NULL);
        return live;
}

static void assert_compared(const char *patch, const char *manager, const char *subresource, enum want want)
{
        AUTO_JSON json_t *prepared = prepare_as(&us, MANIFEST);
        AUTO_JSON json_t *live = created(prepared);
        AUTO_JSON json_t *change = quoted(patch);

        assert_int_equal(compared(prepared, live), WANT_NOTHING);
        serve_update(&live, change, manager, subresource);
        if (compared(prepared, live) != want)
                fail_msg("%s: not %d", patch, want);
        put_right(prepared, &live);
}

static void assert_compared_after_post(const char *patch, enum want want)
{
        AUTO_JSON json_t *prepared = prepare_as(&us, MANIFEST);
        AUTO_JSON json_t *live = created_by_post(prepared);
        AUTO_JSON json_t *change = quoted(patch);

        assert_int_equal(compared(prepared, live), WANT_NOTHING);
        serve_update(&live, change, "kubectl-edit", NULL);
        if (compared(prepared, live) != want)
                fail_msg("after a POST, %s: not %d", patch, want);
        put_right(prepared, &live);
}

#define CONTAINERS(list) "{'spec':{'containers':[" list "]}}"
#define MAIN(rest) "{'name':'main','image':'i:1','pull':'Always'," rest "}"
#define PORTS "'ports':[{'port':80,'protocol':'TCP'},{'port':81,'protocol':'UDP'}]"

/* spec/cluster-object-set.md checklist 37 */
static void a_wanted_field_is_set_back_and_an_unwanted_one_stays(void **state)
{
        static const struct {
                const char *patch;
                enum want want;
        } lines[] = {
                { "{'metadata':{'labels':{'more':'1'},'finalizers':['x/y']}}", WANT_NOTHING },
                { "{'metadata':{'labels':{'app':'b'}}}", WANT_RECOVER },
                { "{'metadata':{'labels':{'app':null}}}", WANT_UPDATE },
                { "{'metadata':{'annotations':{'olm.operatorframework.io/revision':'1'}}}", WANT_RECOVER },
                { "{'spec':{'paused':true}}", WANT_NOTHING },
                { "{'spec':{'replicas':3}}", WANT_RECOVER },
                { "{'spec':{'replicas':null}}", WANT_UPDATE },
                { "{'spec':{'tags':['one','two']}}", WANT_NOTHING },
                { "{'spec':{'tags':['two']}}", WANT_UPDATE },
                { "{'spec':{'rules':[{'verb':'get','from':{}},{'verb':'list'}]}}", WANT_RECOVER },
                { "{'spec':{'rules':null}}", WANT_UPDATE },
                { "{'spec':{'limits':{'memory':'1Gi'}}}", WANT_NOTHING },
                { "{'spec':{'limits':{'cpu':'2'}}}", WANT_RECOVER },
                { "{'spec':{'volume':{'dir':null,'path':'/x'}}}", WANT_UPDATE },
                { "{'spec':{'volume':{'dir':{'size':'1'}}}}", WANT_NOTHING },
                { CONTAINERS(MAIN(PORTS) ",{'name':'injected','image':'j'}"), WANT_NOTHING },
                { CONTAINERS("{'name':'injected','image':'j'}," MAIN(PORTS)), WANT_NOTHING },
                { CONTAINERS("{'name':'injected','image':'i:1'}"), WANT_UPDATE },
                { CONTAINERS("{'name':'main','image':'i:2'," PORTS "}"), WANT_RECOVER },
                { CONTAINERS(MAIN("'ports':[{'port':80,'protocol':'TCP','label':'x'},{'port':81,'protocol':"
                                  "'UDP'}]")),
                  WANT_NOTHING },
                { CONTAINERS(MAIN("'ports':[{'port':81,'protocol':'UDP'}]")), WANT_UPDATE },
                { CONTAINERS(MAIN("'ports':[{'port':80,'protocol':'UDP'},{'port':81,'protocol':'UDP'}]")),
                  WANT_RECOVER },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                assert_compared(lines[i].patch, "kubectl-edit", NULL, lines[i].want);
                assert_compared_after_post(lines[i].patch, lines[i].want);
        }
}

/* spec/cluster-object-set.md checklist 37 */
static void what_an_autoscaler_writes_is_taken_back_by_force(void **state)
{
        assert_compared("{'spec':{'replicas':5}}", "kube-controller-manager", "scale", WANT_RECOVER);
}

static void a_status_is_nobodys_business(void **state)
{
        assert_compared("{'status':{'readyReplicas':2}}", "controller", "status", WANT_NOTHING);
}

/* Wiping happens to objects that are written back without their managedFields. */
static void without_an_entry_of_ours_an_object_is_recovered(void **state)
{
        AUTO_JSON json_t *prepared = prepare_as(&us, MANIFEST);
        AUTO_JSON json_t *live = created(prepared);

        doc_remove(live, "metadata.managedFields");
        assert_int_equal(compared(prepared, live), WANT_RECOVER);
        put_right(prepared, &live);
}

static void an_entry_that_says_nothing_is_none(void **state)
{
        AUTO_JSON json_t *prepared = prepare_as(&us, MANIFEST);
        AUTO_JSON json_t *live = created(prepared);
        json_t *entry = json_array_get(doc_get_array(live, "metadata.managedFields"), 0);

        json_object_set_new(entry, "fieldsV1", json_object());
        assert_int_equal(compared(prepared, live), WANT_RECOVER);
}

static void another_spelling_is_the_same_only_of_a_field_of_ours(void **state)
{
        AUTO_JSON json_t *prepared = prepare_as(&us, MANIFEST);
        AUTO_JSON json_t *live = created(prepared);
        json_t *entry = json_array_get(doc_get_array(live, "metadata.managedFields"), 0);

        assert_int_equal(doc_set_string(live, "spec.limits.cpu", "1"), 0);
        assert_int_equal(compared(prepared, live), WANT_NOTHING);
        json_object_del(doc_get(entry, "fieldsV1.f:spec.f:limits"), "f:cpu");
        json_object_set_new(doc_get(entry, "fieldsV1.f:spec.f:limits"), ".", json_object());
        assert_int_equal(compared(prepared, live), WANT_UPDATE);
}

/* The same values, changed behind the back of managedFields. */
static void values_count_whatever_managed_fields_say(void **state)
{
        static const struct {
                const char *path, *value;
                enum want want;
        } lines[] = {
                { "spec.replicas", "3", WANT_UPDATE },
                { "spec.replicas", "2.0", WANT_NOTHING },
                { "spec.replicas", "null", WANT_UPDATE },
                { "spec.limits", "{'cpu':'1'}", WANT_NOTHING },
                { "spec.limits", "{'cpu':1}", WANT_NOTHING },
                { "spec.limits", "{'cpu':'1001m'}", WANT_UPDATE },
                { "spec.rules", "[{'verb':'get','from':{},'kind':'filled in'}]", WANT_NOTHING },
                { "spec.rules", "[{'verb':'get'}]", WANT_NOTHING },
                { "spec.rules", "[{'verb':'put','from':{}}]", WANT_UPDATE },
                { "spec.rules", "[{'verb':'get','from':{}},{'verb':'put'}]", WANT_UPDATE },
                { "spec.rules", "{'verb':'get'}", WANT_UPDATE },
                { "spec.volume", "{}", WANT_NOTHING },
                { "spec.volume", "'text'", WANT_UPDATE },
                { "spec.containers", "[{'name':'main','image':'other'," PORTS "}]", WANT_UPDATE },
                { "metadata.ownerReferences", "[]", WANT_UPDATE },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *prepared = prepare_as(&us, MANIFEST);
                AUTO_JSON json_t *live = created(prepared);
                struct arena arena AUTO_ARENA = ARENA_INIT;
                AUTO_JSON json_t *value = quoted(arena_printf(&arena, "{'v':%s}", lines[i].value));

                assert_int_equal(doc_set(live, lines[i].path, json_incref(doc_get(value, "v"))), 0);
                if (compared(prepared, live) != lines[i].want)
                        fail_msg("%s %s: not %d", lines[i].path, lines[i].value, lines[i].want);
        }
}

static void a_second_owner_of_the_same_value_is_fine(void **state)
{
        AUTO_JSON json_t *prepared = prepare_as(&us, MANIFEST);
        AUTO_JSON json_t *live = created(prepared);
        AUTO_JSON json_t *same = quoted("{'apiVersion':'example.com/v1','kind':'App','metadata':{'name':'a'},"
                                        "'spec':{'replicas':2}}");

        serve_apply(&live, same, "kubectl");
        assert_int_equal(compared(prepared, live), WANT_NOTHING);
}

/* ---- creating, and what follows: 8.2 ---- */

/* spec/cluster-object-set.md checklist 35, 36 */
static void what_is_created_is_applied_and_bound_to_a_version_of_nothing(void **state)
{
        AUTO_JSON json_t *prepared = prepare_as(&us, MANIFEST);
        AUTO_JSON json_t *body = NULL;

        assert_int_equal(want_creation(prepared, &body, NULL), 0);
        assert_string_equal(doc_get_string(body, "metadata.resourceVersion"), "9223372036854775807");
        assert_null(doc_get(prepared, "metadata.resourceVersion"));
        doc_remove(body, "metadata.resourceVersion");
        assert_true(doc_equal(body, prepared));
}

/* spec/cluster-object-set.md checklist 36 */
static void after_a_post_the_fields_become_those_of_an_apply(void **state)
{
        AUTO_JSON json_t *prepared = prepare_as(&us, MANIFEST);
        AUTO_JSON json_t *live = NULL, *patch = NULL, *again = NULL;
        const json_t *entries;

        serve_update(&live, prepared, FIELD_MANAGER_OBJECT_SET, NULL);
        doc_set_string(live, "metadata.resourceVersion", "7");
        assert_int_equal(want_conversion(live, &patch, NULL), 0);
        assert_string_equal(doc_get_string(patch, "metadata.resourceVersion"), "7");
        serve_update(&live, patch, FIELD_MANAGER_OBJECT_SET, NULL);
        entries = doc_get_array(live, "metadata.managedFields");
        assert_int_equal(json_array_size(entries), 1);
        assert_string_equal(doc_get_string(json_array_get(entries, 0), "operation"), "Apply");
        assert_int_equal(want_conversion(live, &again, NULL), 0);
        assert_null(again);
        assert_int_equal(compared(prepared, live), WANT_NOTHING);
}

/* spec/cluster-object-set.md checklist 38, 42, 65 */
static void at_a_handover_dropped_fields_go_and_owners_stay_without_control(void **state)
{
        static const struct set_identity before = { "app-1", "u1", 1, "app", NULL };
        AUTO_JSON json_t *old = prepare_as(&before, MANIFEST);
        AUTO_JSON json_t *new = prepare_as(
                &us, "{'apiVersion':'example.com/v1','kind':'App','metadata':{'name':'a','namespace':'ns'},"
                     "'spec':{'replicas':2}}");
        AUTO_JSON json_t *live = NULL, *conversion = NULL, *body = NULL, *again = NULL;

        serve_update(&live, old, FIELD_MANAGER_OBJECT_SET, NULL);
        assert_int_equal(want_conversion(live, &conversion, NULL), 0);
        serve_update(&live, conversion, FIELD_MANAGER_OBJECT_SET, NULL);
        doc_set_string(live, "metadata.resourceVersion", "8");
        assert_int_equal(want_adoption(new, live, &body, NULL), 0);
        assert_string_equal(doc_get_string(body, "metadata.resourceVersion"), "8");
        serve_apply(&live, body, FIELD_MANAGER_OBJECT_SET);
        assert_doc_equal(doc_get(live, "spec"), "{'replicas':2}");
        assert_doc_equal(doc_get(live, "metadata.ownerReferences"),
                         "[" SET_REFERENCE("app-1", "u1", RELEASED) "," OURS "]");
        assert_int_equal(compared(new, live), WANT_NOTHING);
        assert_int_equal(want_request(new, live, &again, NULL), 0);
        serve_apply(&live, again, FIELD_MANAGER_OBJECT_SET);
        assert_int_equal(json_array_size(doc_get(live, "metadata.ownerReferences")), 2);
}

#define FOREIGN "{'apiVersion':'v1','kind':'A','name':'a','uid':'f'"

/* spec/cluster-object-set.md checklist 39, 42 */
static void requests_keep_the_references_of_others(void **state)
{
        static const struct {
                const char *live, *own, *adopted;
        } lines[] = {
                { "", OURS, OURS },
                { FOREIGN "}", FOREIGN "}," OURS, FOREIGN ",'controller':false}," OURS },
                { OURS "," FOREIGN "}", OURS "," FOREIGN "}", OURS "," FOREIGN ",'controller':false}" },
                { FOREIGN ",'controller':true}", FOREIGN ",'controller':true}," OURS,
                  FOREIGN ",'controller':false}," OURS },
                { SET_REFERENCE("app-2", "u2", RELEASED), OURS, OURS },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct arena arena AUTO_ARENA = ARENA_INIT;
                AUTO_JSON json_t *prepared = prepare_as(&us, MANIFEST);
                AUTO_JSON json_t *live = quoted(
                        arena_printf(&arena, "{'metadata':{'resourceVersion':'5','ownerReferences':[%s]}}",
                                     lines[i].live));
                AUTO_JSON json_t *own = NULL, *adopted = NULL;

                assert_int_equal(want_request(prepared, live, &own, NULL), 0);
                assert_int_equal(want_adoption(prepared, live, &adopted, NULL), 0);
                assert_doc_equal(doc_get(own, "metadata.ownerReferences"),
                                 arena_printf(&arena, "[%s]", lines[i].own));
                assert_doc_equal(doc_get(adopted, "metadata.ownerReferences"),
                                 arena_printf(&arena, "[%s]", lines[i].adopted));
                assert_string_equal(doc_get_string(own, "metadata.resourceVersion"), "5");
        }
}

/* ---- letting go ---- */

#define LIVE(references) "{'metadata':{'resourceVersion':'5'," MARKS ",'ownerReferences':[" references "]}}"
#define NO_MARKS                                                                                             \
        "'labels':{'app.kubernetes.io/managed-by':null,'olm.operatorframework.io/owner-name':null},"         \
        "'annotations':{'olm.operatorframework.io/revision':null}"
#define LATER SET_REFERENCE("app-3", "u3", CONTROLLING)

/* spec/cluster-object-set.md checklist 75, 81 */
static void letting_go_takes_our_reference_and_of_an_orphan_the_marks(void **state)
{
        static const struct {
                const char *live, *released, *orphaned; /* NULL = no patch */
        } lines[] = {
                { LIVE(""), NULL, "{'metadata':{'resourceVersion':'5'," NO_MARKS "}}" },
                { LIVE(OURS), "{'metadata':{'resourceVersion':'5','ownerReferences':[]}}",
                  "{'metadata':{'resourceVersion':'5','ownerReferences':[]," NO_MARKS "}}" },
                { LIVE(SET_REFERENCE("app-2", "u2", RELEASED) "," LATER),
                  "{'metadata':{'resourceVersion':'5','ownerReferences':[" LATER "]}}",
                  "{'metadata':{'resourceVersion':'5','ownerReferences':[" LATER "]}}" },
                { LIVE(LATER), NULL, NULL },
                { "{'metadata':{'resourceVersion':'5','labels':{'app.kubernetes.io/managed-by':'Helm'}}}",
                  NULL, NULL },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *live = quoted(lines[i].live);
                AUTO_JSON json_t *released = NULL, *orphaned = NULL;

                assert_int_equal(want_release(&us, live, false, &released, NULL), 0);
                assert_int_equal(want_release(&us, live, true, &orphaned, NULL), 0);
                assert_int_equal(released != NULL, lines[i].released != NULL);
                assert_int_equal(orphaned != NULL, lines[i].orphaned != NULL);
                if (released)
                        assert_doc_equal(released, lines[i].released);
                if (orphaned)
                        assert_doc_equal(orphaned, lines[i].orphaned);
        }
}

#define MARKED(manager, owner, revision)                                                                     \
        "{'metadata':{'labels':{'app.kubernetes.io/managed-by':'" manager                                    \
        "','olm.operatorframework.io/owner-name':'" owner                                                    \
        "'},'annotations':{'olm.operatorframework.io/revision':'" revision "'}}}"

/* spec/cluster-object-set.md checklist 81 */
static void marks_of_another_set_stay_and_of_ours_what_is_there_goes(void **state)
{
        static const struct set_identity ownerless = { "app-2", "u2", 2, NULL, NULL };
        static const struct {
                const struct set_identity *set;
                const char *live, *orphaned; /* NULL = no patch */
        } lines[] = {
                { &us, MARKED("olm.operatorframework.io", "other", "2"), NULL },
                { &us, MARKED("olm.operatorframework.io", "app", "3"), NULL },
                { &us, MARKED("olm.operatorframework.io", "app", "two"), NULL },
                { &ownerless, MARKED("olm.operatorframework.io", "app", "2"), NULL },
                { &us, "{'metadata':{'labels':{'olm.operatorframework.io/owner-name':'app'}}}", NULL },
                { &us, MARKED("Helm", "app", "2"),
                  "{'metadata':{'resourceVersion':'','labels':{'olm.operatorframework.io/owner-name':null},"
                  "'annotations':{'olm.operatorframework.io/revision':null}}}" },
                { &ownerless, "{'metadata':{'annotations':{'olm.operatorframework.io/revision':'2'}}}",
                  "{'metadata':{'resourceVersion':'','annotations':{'olm.operatorframework.io/"
                  "revision':null}}}" },
                { &us,
                  "{'metadata':{'labels':{'app.kubernetes.io/managed-by':'olm.operatorframework.io'},"
                  "'ownerReferences':[" OURS "]}}",
                  "{'metadata':{'resourceVersion':'','ownerReferences':[],'labels':{'app.kubernetes.io/"
                  "managed-by':null}}}" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *live = quoted(lines[i].live);
                AUTO_JSON json_t *orphaned = NULL;

                assert_int_equal(want_release(lines[i].set, live, true, &orphaned, NULL), 0);
                assert_int_equal(orphaned != NULL, lines[i].orphaned != NULL);
                if (orphaned)
                        assert_doc_equal(orphaned, lines[i].orphaned);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_object_carries_our_marks_and_one_controlling_reference),
                cmocka_unit_test(a_set_of_no_owner_gives_an_empty_label),
                cmocka_unit_test(the_manifest_of_the_set_is_never_changed),
                cmocka_unit_test(a_status_is_wanted_only_where_it_is_no_subresource),
                cmocka_unit_test(what_only_a_server_sets_is_left_out),
                cmocka_unit_test(texts_of_a_secret_become_data),
                cmocka_unit_test(labels_that_are_no_object_are_named),
                cmocka_unit_test(a_wanted_field_is_set_back_and_an_unwanted_one_stays),
                cmocka_unit_test(what_an_autoscaler_writes_is_taken_back_by_force),
                cmocka_unit_test(a_status_is_nobodys_business),
                cmocka_unit_test(without_an_entry_of_ours_an_object_is_recovered),
                cmocka_unit_test(an_entry_that_says_nothing_is_none),
                cmocka_unit_test(another_spelling_is_the_same_only_of_a_field_of_ours),
                cmocka_unit_test(values_count_whatever_managed_fields_say),
                cmocka_unit_test(a_second_owner_of_the_same_value_is_fine),
                cmocka_unit_test(what_is_created_is_applied_and_bound_to_a_version_of_nothing),
                cmocka_unit_test(after_a_post_the_fields_become_those_of_an_apply),
                cmocka_unit_test(at_a_handover_dropped_fields_go_and_owners_stay_without_control),
                cmocka_unit_test(requests_keep_the_references_of_others),
                cmocka_unit_test(letting_go_takes_our_reference_and_of_an_orphan_the_marks),
                cmocka_unit_test(marks_of_another_set_stay_and_of_ours_what_is_there_goes),
        };

        return cmocka_run_group_tests(tests, make_schema, free_schema);
}
