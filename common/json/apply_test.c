#include "common/json/apply.h"

#include "common/json/doc_test.h"
#include "common/json/schema.h"

/* A Deployment-like type. */
static const struct schema text = { .type = SCHEMA_STRING };
static const struct schema number = { .type = SCHEMA_INTEGER };
static const struct schema text_map = { .type = SCHEMA_OBJECT, .additional = &text };
static const struct schema atomic_map = { .type = SCHEMA_OBJECT, .additional = &text, .map_atomic = true };
static const struct schema atomic_list = { .type = SCHEMA_ARRAY, .items = &text };
static const struct schema set = { .type = SCHEMA_ARRAY, .items = &text, .list_type = SCHEMA_LIST_SET };
static json_t *tcp;
static struct schema protocol = { .type = SCHEMA_STRING };
static const char *const port_keys[] = { "port", "protocol" };
static const struct schema_property port_fields[] = { { "port", &number },
                                                      { "protocol", &protocol },
                                                      { "target", &text } };
static const struct schema port = { .type = SCHEMA_OBJECT, .properties = port_fields, .n_properties = 3 };
static const struct schema ports = { .type = SCHEMA_ARRAY,
                                     .items = &port,
                                     .list_type = SCHEMA_LIST_MAP,
                                     .list_map_keys = port_keys,
                                     .n_list_map_keys = 2 };
static const char *const name_keys[] = { "name" };
static const struct schema_property container_fields[] = { { "args", &atomic_list },
                                                           { "image", &text },
                                                           { "name", &text },
                                                           { "policy", &text },
                                                           { "ports", &ports } };
static const struct schema container = { .type = SCHEMA_OBJECT,
                                         .properties = container_fields,
                                         .n_properties = 5 };
static const struct schema containers = { .type = SCHEMA_ARRAY,
                                          .items = &container,
                                          .list_type = SCHEMA_LIST_MAP,
                                          .list_map_keys = name_keys,
                                          .n_list_map_keys = 1 };
static const struct schema_property spec_fields[] = {
        { "containers", &containers }, { "paused", &text }, { "replicas", &number },
        { "selector", &atomic_map },   { "set", &set },     { "values", &text_map }
};
static const struct schema spec = { .type = SCHEMA_OBJECT,
                                    .properties = spec_fields,
                                    .n_properties = ARRAY_LEN(spec_fields) };
static const struct schema_property root_fields[] = { { "apiVersion", &text },
                                                      { "kind", &text },
                                                      { "spec", &spec } };
static const struct schema root = { .type = SCHEMA_OBJECT, .properties = root_fields, .n_properties = 3 };

#define MINUTE 60000

static struct apply_options by(const char *manager, int minute)
{
        return (struct apply_options){ .manager = manager,
                                       .api_version = "apps/v1",
                                       .wall_ms = (int64_t)minute * MINUTE };
}

/* An object with metadata.name and the given spec. */
static json_t *object_of(const char *spec_text)
{
        json_t *doc = doc_of("{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'d'}}");
        assert_int_equal(doc_set(doc, "spec", doc_of(spec_text)), 0);
        return doc;
}

static int try_apply(const json_t *live, const char *spec_text, struct apply_options o, json_t **ret,
                     struct error *err)
{
        AUTO_JSON json_t *config = object_of(spec_text);
        return apply_server_side(live, config, &root, &o, ret, NULL, err);
}

static json_t *applied(const json_t *live, const char *spec_text, struct apply_options o)
{
        struct error e;
        json_t *ret = NULL;
        if (try_apply(live, spec_text, o, &ret, &e) < 0)
                print_error("%s\n", e.text);
        assert_non_null(ret);
        return ret;
}

/* The same, giving up the live object. */
static json_t *then_applied(json_t *live, const char *spec_text, struct apply_options o)
{
        json_t *ret = applied(live, spec_text, o);
        json_decref(live);
        return ret;
}

static json_t *then_updated(json_t *live, const char *spec_text, struct apply_options o)
{
        json_t *object = doc_copy(live);
        assert_int_equal(doc_set(object, "spec", doc_of(spec_text)), 0);
        assert_int_equal(apply_track_update(live, object, &root, &o, NULL), 0);
        json_decref(live);
        return object;
}

static void assert_spec(const json_t *object, const char *want)
{
        assert_doc_is(json_incref(doc_get(object, "spec")), want);
}

static void assert_entries(const json_t *object, size_t n)
{
        assert_int_equal(json_array_size(doc_get(object, "metadata.managedFields")), n);
}

static const json_t *entry_of(const json_t *object, const char *manager)
{
        size_t i;
        const json_t *entry;
        json_array_foreach(doc_get(object, "metadata.managedFields"), i, entry)
                if (strcmp(doc_get_string(entry, "manager"), manager) == 0)
                        return entry;
        return NULL;
}

static void assert_fields(const json_t *object, const char *manager, const char *want)
{
        const json_t *entry = entry_of(object, manager);
        assert_non_null(entry);
        assert_doc_is(json_incref(doc_get(entry, "fieldsV1")), want);
}

static void assert_conflict(const json_t *live, const char *spec_text, struct apply_options o,
                            const char *want)
{
        struct error e;
        json_t *ret = NULL;
        assert_int_equal(try_apply(live, spec_text, o, &ret, &e), ERR_CONFLICT);
        assert_null(ret);
        assert_string_equal(e.text, want);
}

static void sets_combine(void **state)
{
        static const char *const a = "{'f:a':{},'f:b':{'.':{},'f:c':{}},'f:d':{'f:e':{}}}";
        static const char *const b = "{'f:a':{'f:x':{}},'f:b':{'f:c':{}},'f:g':{}}";
        AUTO_JSON json_t *x = doc_of(a), *y = doc_of(b);
        assert_doc_is(fieldset_union(x, y),
                      "{'f:a':{'.':{},'f:x':{}},'f:b':{'.':{},'f:c':{}},'f:d':{'f:e':{}},'f:g':{}}");
        assert_doc_is(fieldset_difference(x, y), "{'f:a':{},'f:b':{},'f:d':{'f:e':{}}}");
        assert_doc_is(fieldset_difference(y, x), "{'f:a':{'f:x':{}},'f:g':{}}");
        assert_doc_is(fieldset_intersection(x, y), "{'f:b':{'f:c':{}}}");
        assert_doc_is(fieldset_difference(x, x), "{}");
        AUTO_JSON json_t *none = json_object();
        assert_true(fieldset_empty(none));
        assert_false(fieldset_empty(x));
}

static void a_document_has_the_fields_its_schema_says(void **state)
{
        AUTO_JSON json_t *doc =
                doc_of("{'metadata':{'labels':{'a':'b'},'finalizers':['x'],'ownerReferences':[{'uid':'u','"
                       "name':'n'}]},"
                       "'spec':{'replicas':1,'selector':{'a':'b'},'set':['p','q'],'values':{},"
                       "'containers':[{'name':'c','args':['1'],'ports':[{'port':80}]}]},'other':{'deep':{'l':"
                       "[1]}}}");
        assert_doc_is(fieldset_of(doc, &root),
                      "{'f:metadata':{'f:finalizers':{'v:\\\"x\\\"':{}},'f:labels':{'f:a':{}},"
                      "'f:ownerReferences':{'k:{\\\"uid\\\":\\\"u\\\"}':{}}},"
                      "'f:other':{'.':{},'f:deep':{'.':{},'f:l':{}}},"
                      "'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"c\\\"}':{'.':{},'f:args':{},'f:name':{}"
                      ",'f:ports':{"
                      "'k:{\\\"port\\\":80,\\\"protocol\\\":\\\"TCP\\\"}':{'.':{},'f:port':{}}}}},"
                      "'f:replicas':{},'f:selector':{},'f:set':{'v:\\\"p\\\"':{},'v:\\\"q\\\"':{}},'f:values'"
                      ":{}}}");
}

static void a_first_apply_creates_and_owns(void **state)
{
        json_t *object = applied(NULL, "{'replicas':1,'values':{'a':'b'}}", by("m", 1));
        assert_doc_is(object,
                      "{'apiVersion':'apps/"
                      "v1','kind':'Deployment','metadata':{'name':'d','managedFields':[{'manager':'m',"
                      "'operation':'Apply','apiVersion':'apps/"
                      "v1','time':'1970-01-01T00:01:00Z','fieldsType':'FieldsV1',"
                      "'fieldsV1':{'f:spec':{'f:replicas':{},'f:values':{'f:a':{}}}}}]},'spec':{'replicas':1,"
                      "'values':{'a':'b'}}}");
}

static void an_apply_without_effect_gives_equal_bytes(void **state)
{
        AUTO_JSON json_t *object =
                applied(NULL, "{'replicas':1,'containers':[{'name':'a','ports':[{'port':1}]},{'name':'b'}]}",
                        by("m", 1));
        AUTO_JSON json_t *again = applied(
                object, "{'containers':[{'name':'a','ports':[{'port':1}]},{'name':'b'}],'replicas':1}",
                by("m", 2));
        AUTO_BUF struct buf a, b;
        buf_init(&a, 10000);
        buf_init(&b, 10000);
        doc_write(object, &a);
        doc_write(again, &b);
        assert_string_equal(a.data, b.data);
}

static void a_field_no_longer_applied_goes(void **state)
{
        json_t *object = applied(NULL, "{'replicas':1,'paused':'x','values':{'a':'1','b':'2'}}", by("m", 1));
        object = then_applied(object, "{'replicas':1,'values':{'a':'1'}}", by("m", 2));
        assert_spec(object, "{'replicas':1,'values':{'a':'1'}}");
        assert_string_equal(doc_get_string(entry_of(object, "m"), "time"), "1970-01-01T00:02:00Z");
        object = then_applied(object, "{'replicas':1}", by("m", 3));
        assert_spec(object, "{'replicas':1}");
        json_decref(object);
}

static void a_field_others_own_stays(void **state)
{
        json_t *object = applied(NULL, "{'replicas':1,'values':{'a':'1'}}", by("m", 1));
        object = then_applied(object, "{'replicas':1}", by("n", 2));
        object = then_applied(object, "{'values':{'a':'1'}}", by("m", 3));
        assert_spec(object, "{'replicas':1,'values':{'a':'1'}}");
        assert_fields(object, "n", "{'f:spec':{'f:replicas':{}}}");
        object = then_applied(object, "{}", by("n", 4));
        assert_spec(object, "{'values':{'a':'1'}}");
        assert_fields(object, "n", "{'f:spec':{}}");
        json_decref(object);
}

static void list_elements_have_owners(void **state)
{
        json_t *object = applied(
                NULL, "{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'}],'set':['x','y']}",
                by("m", 1));
        object = then_applied(object, "{'containers':[{'name':'c','image':'3'}],'set':['z']}", by("n", 2));
        assert_spec(object, "{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'},{'name':'c','"
                            "image':'3'}],'set':['x','y','z']}");
        object = then_applied(object, "{'containers':[{'name':'b','image':'2'}],'set':['y']}", by("m", 3));
        assert_spec(object,
                    "{'containers':[{'name':'b','image':'2'},{'name':'c','image':'3'}],'set':['y','z']}");
        json_decref(object);
}

static void defaults_go_with_the_element_they_belong_to(void **state)
{
        json_t *object = applied(NULL, "{'containers':[{'name':'a','image':'1'},{'name':'b'}]}", by("m", 1));
        json_t *containers_now = doc_get(object, "spec.containers");
        assert_int_equal(doc_set_string(json_array_get(containers_now, 0), "policy", "Always"), 0);
        object = then_applied(object, "{'containers':[{'name':'b'}]}", by("m", 2));
        assert_spec(object, "{'containers':[{'name':'b'}]}");
        json_decref(object);
}

static void a_default_beside_a_removed_field_stays(void **state)
{
        json_t *object = applied(NULL, "{'containers':[{'name':'a','image':'1'}]}", by("m", 1));
        assert_int_equal(
                doc_set_string(json_array_get(doc_get(object, "spec.containers"), 0), "policy", "Always"), 0);
        object = then_applied(object, "{'containers':[{'name':'a'}]}", by("m", 2));
        assert_spec(object, "{'containers':[{'name':'a','policy':'Always'}]}");
        json_decref(object);
}

static void changing_what_another_owns_is_a_conflict(void **state)
{
        AUTO_JSON json_t *object = applied(NULL, "{'replicas':1,'values':{'a':'1'}}", by("x", 1));
        assert_conflict(object, "{'replicas':2}", by("m", 2),
                        "Apply failed with 1 conflict: conflict with \"x\": .spec.replicas");
        assert_conflict(
                object, "{'replicas':2,'values':{'a':'2'}}", by("m", 2),
                "Apply failed with 2 conflicts: conflicts with \"x\":\n- .spec.replicas\n- .spec.values.a");
}

static void conflicts_with_updates_name_the_version(void **state)
{
        json_t *object = object_of("{'replicas':1,'containers':[{'name':'a','image':'1'}]}");
        struct apply_options o = by("kubectl-client-side-apply", 1);
        assert_int_equal(apply_track_update(NULL, object, &root, &o, NULL), 0);
        assert_conflict(object, "{'replicas':3}", by("m", 2),
                        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using "
                        "apps/v1: .spec.replicas");
        assert_conflict(
                object, "{'containers':[{'name':'a','image':'2'}]}", by("m", 2),
                "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using apps/v1: "
                ".spec.containers[name=\"a\"].image");
        json_decref(object);
}

static void conflicts_come_as_a_list_too(void **state)
{
        AUTO_JSON json_t *object = applied(NULL, "{'replicas':1}", by("x", 1)),
                         *config = object_of("{'replicas':2}");
        struct apply_options o = by("m", 2);
        json_t *ret = NULL, *conflicts = NULL;
        assert_int_equal(apply_server_side(object, config, &root, &o, &ret, &conflicts, NULL), ERR_CONFLICT);
        assert_doc_is(conflicts,
                      "[{'manager':'x','apiVersion':'apps/v1','field':'.spec.replicas','with':'\\\"x\\\"'}]");
}

static void equal_values_are_shared(void **state)
{
        json_t *object = applied(NULL, "{'replicas':1}", by("x", 1));
        object = then_applied(object, "{'replicas':1}", by("m", 2));
        assert_entries(object, 2);
        assert_conflict(object, "{'replicas':2}", by("m", 3),
                        "Apply failed with 1 conflict: conflict with \"x\": .spec.replicas");
        json_decref(object);
}

static void force_takes_ownership(void **state)
{
        json_t *object = applied(NULL, "{'replicas':1,'paused':'p'}", by("x", 1));
        struct apply_options o = by("m", 2);
        o.force = true;
        object = then_applied(object, "{'replicas':2}", o);
        assert_spec(object, "{'replicas':2,'paused':'p'}");
        assert_fields(object, "x", "{'f:spec':{'f:paused':{}}}");
        assert_fields(object, "m", "{'f:spec':{'f:replicas':{}}}");
        json_decref(object);
}

static void atomic_values_are_replaced_whole(void **state)
{
        json_t *object =
                applied(NULL, "{'selector':{'a':'1','b':'2'},'containers':[{'name':'c','args':['x','y']}]}",
                        by("m", 1));
        object = then_applied(object, "{'selector':{'c':'3'},'containers':[{'name':'c','args':['z']}]}",
                              by("m", 2));
        assert_spec(object, "{'selector':{'c':'3'},'containers':[{'name':'c','args':['z']}]}");
        json_decref(object);
}

static void nulls_in_the_configuration_do_not_count(void **state)
{
        json_t *object = applied(NULL, "{'replicas':null,'paused':'p','values':{'a':null}}", by("m", 1));
        assert_spec(object, "{'paused':'p','values':{}}");
        assert_fields(object, "m", "{'f:spec':{'f:paused':{},'f:values':{}}}");
        object = then_applied(object, "{'paused':null}", by("m", 2));
        assert_spec(object, "{}");
        json_decref(object);
}

static void bad_lists_in_the_configuration_are_refused(void **state)
{
        struct error e;
        json_t *ret = NULL;
        assert_int_equal(
                try_apply(NULL, "{'containers':[{'image':'x'},{'image':'y'}]}", by("m", 1), &ret, &e),
                ERR_INVALID);
        assert_string_equal(e.text, ".spec.containers: duplicate entries for key [{}]");
        assert_int_equal(try_apply(NULL, "{'set':['a','a']}", by("m", 1), &ret, &e), ERR_INVALID);
        assert_string_equal(e.text, ".spec.set: duplicate entries for key [\"a\"]");
        AUTO_JSON json_t *config = doc_of("{'metadata':{'managedFields':[{}]}}");
        struct apply_options o = by("m", 1);
        assert_int_equal(apply_server_side(NULL, config, &root, &o, &ret, NULL, &e), ERR_INVALID);
        assert_string_equal(e.text, "metadata.managedFields must be nil");
}

static void what_was_there_before_the_first_apply_has_an_owner(void **state)
{
        AUTO_JSON json_t *live = object_of("{'replicas':1,'paused':'p'}");
        assert_conflict(live, "{'replicas':2}", by("m", 1),
                        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using apps/v1: "
                        ".spec.replicas");
        json_t *object = applied(live, "{'replicas':1}", by("m", 1));
        assert_entries(object, 2);
        assert_fields(object, "before-first-apply", "{'f:spec':{'.':{},'f:paused':{},'f:replicas':{}}}");
        json_decref(object);
}

static void a_create_is_tracked_with_its_containers(void **state)
{
        json_t *object = doc_of("{'apiVersion':'v1','kind':'X','metadata':{'name':'a','uid':'u','labels':{'l'"
                                ":'1'}},'spec':{'replicas':1,"
                                "'containers':[{'name':'a'}]}}");
        struct apply_options o = by("m", 1);
        assert_int_equal(apply_track_update(NULL, object, &root, &o, NULL), 0);
        assert_fields(object, "m",
                      "{'f:metadata':{'f:labels':{'.':{},'f:l':{}}},'f:spec':{'.':{},'f:replicas':{},"
                      "'f:containers':{'.':{},'k:{\\\"name\\\":\\\"a\\\"}':{'.':{},'f:name':{}}}}}");
        assert_string_equal(doc_get_string(entry_of(object, "m"), "operation"), "Update");
        json_decref(object);
}

static void an_update_takes_what_it_changes(void **state)
{
        json_t *object = applied(NULL, "{'replicas':1,'paused':'p','values':{'a':'1'}}", by("x", 1));
        object = then_updated(object, "{'replicas':2,'paused':'p','values':{'b':'2'}}", by("m", 2));
        assert_fields(object, "x", "{'f:spec':{'f:paused':{}}}");
        assert_fields(object, "m", "{'f:spec':{'f:replicas':{},'f:values':{'f:b':{}}}}");
        json_decref(object);
}

static void an_update_without_effect_changes_no_entry(void **state)
{
        json_t *object = applied(NULL, "{'replicas':1}", by("x", 1));
        json_t *before = doc_copy(object);
        object = then_updated(object, "{'replicas':1}", by("m", 2));
        assert_true(doc_equal(object, before));
        json_decref(before);
        json_decref(object);
}

static void updates_of_one_manager_share_an_entry(void **state)
{
        json_t *object = applied(NULL, "{'replicas':1}", by("x", 1));
        object = then_updated(object, "{'replicas':2}", by("m", 2));
        object = then_updated(object, "{'replicas':2,'paused':'p'}", by("m", 3));
        assert_entries(object, 1);
        assert_fields(object, "m", "{'f:spec':{'f:paused':{},'f:replicas':{}}}");
        struct apply_options o = by("m", 4);
        o.subresource = "status";
        object = then_updated(object, "{'replicas':3,'paused':'p'}", o);
        assert_entries(object, 2);
        json_decref(object);
}

static void objects_never_tracked_stay_so(void **state)
{
        json_t *object = object_of("{'replicas':1}");
        object = then_updated(object, "{'replicas':2}", by("m", 2));
        assert_null(doc_get(object, "metadata.managedFields"));
        json_decref(object);
}

static void an_empty_entry_forgets_all_owners(void **state)
{
        AUTO_JSON json_t *live = applied(NULL, "{'replicas':1}", by("x", 1));
        AUTO_JSON json_t *object = doc_copy(live);
        doc_set(object, "metadata.managedFields", doc_of("[{}]"));
        struct apply_options o = by("m", 2);
        assert_int_equal(apply_track_update(live, object, &root, &o, NULL), 0);
        assert_null(doc_get(object, "metadata.managedFields"));
}

static void old_updates_are_folded_above_the_cap(void **state)
{
        static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" };
        json_t *object = applied(NULL, "{'replicas':1}", by("x", 1));
        char spec_text[400] = "{'replicas':1,'values':{'a':'1'";
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
                size_t n = strlen(spec_text);
                snprintf(spec_text + n, sizeof(spec_text) - n, ",'%s%zu':'v'", names[i], i);
                char closed[420];
                snprintf(closed, sizeof(closed), "%s}}", spec_text);
                object = then_updated(object, closed, by(names[i], 2 + (int)i));
        }
        assert_entries(object, 11);
        assert_fields(object, "ancient-changes",
                      "{'f:spec':{'f:values':{'.':{},'f:a':{},'f:a0':{},'f:b1':{},'f:c2':{}}}}");
        assert_null(entry_of(object, "c"));
        assert_non_null(entry_of(object, "d"));
        json_decref(object);
}

static void stored_lists_with_duplicates_do_not_block(void **state)
{
        json_t *object = applied(NULL, "{'replicas':1}", by("m", 1));
        doc_set(object, "spec.set", doc_of("['a','a']"));
        object = then_applied(object, "{'replicas':2}", by("m", 2));
        assert_spec(object, "{'replicas':2,'set':['a','a']}");
        json_decref(object);
}

static void objects_without_schema_are_merged_field_by_field(void **state)
{
        AUTO_JSON json_t *first = doc_of("{'metadata':{'name':'a'},'data':{'a':'1','l':[1,2]}}");
        AUTO_JSON json_t *second = doc_of("{'metadata':{'name':'a'},'data':{'b':'2'}}");
        struct apply_options m = by("m", 1), n = by("n", 2);
        AUTO_JSON json_t *live = NULL;
        json_t *object = NULL;
        assert_int_equal(apply_server_side(NULL, first, NULL, &m, &live, NULL, NULL), 0);
        assert_int_equal(apply_server_side(live, second, NULL, &n, &object, NULL, NULL), 0);
        assert_doc_is(json_incref(doc_get(object, "data")), "{'a':'1','b':'2','l':[1,2]}");
        json_decref(object);
}

static void very_large_lists_apply(void **state)
{
        json_t *list = json_array();
        for (int i = 0; i < 20000; i++)
                json_array_append_new(list,
                                      json_pack("{s:o,s:s}", "name", json_sprintf("c%d", i), "image", "x"));
        AUTO_JSON json_t *config = object_of("{}");
        doc_set(config, "spec.containers", list);
        struct apply_options o = by("m", 1), later = by("m", 2);
        AUTO_JSON json_t *live = NULL, *after = NULL;
        assert_int_equal(apply_server_side(NULL, config, &root, &o, &live, NULL, NULL), 0);
        json_array_remove(list, 0);
        assert_int_equal(apply_server_side(live, config, &root, &later, &after, NULL, NULL), 0);
        assert_int_equal(json_array_size(doc_get(after, "spec.containers")), 19999);
}

struct inputs {
        json_t *live, *config, *untracked;
};

static int apply_and_update(void *data)
{
        const struct inputs *in = data;
        struct apply_options o = by("m", 5), x = by("x", 6);
        AUTO_JSON json_t *a = NULL, *b = NULL, *c = NULL, *conflicts = NULL;
        struct error e;
        x.force = true;
        TRY(apply_server_side(in->live, in->config, &root, &o, &a, NULL, NULL));
        int code = apply_server_side(a, in->untracked, &root, &o, &b, &conflicts, &e);
        if (code != ERR_CONFLICT)
                return code < 0 ? code : ERR_INTERNAL;
        TRY(apply_server_side(a, in->untracked, &root, &x, &b, NULL, NULL));
        TRY(apply_server_side(in->untracked, in->untracked, &root, &o, &c, NULL, NULL));
        return apply_track_update(a, b, &root, &o, NULL);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
        struct inputs in = {
                .live = applied(
                        NULL,
                        "{'replicas':1,'set':['a'],'containers':[{'name':'a','image':'1'},{'name':'b'}]}",
                        by("m", 1))
        };
        in.live = then_applied(in.live, "{'paused':'p'}", by("x", 2));
        in.config = object_of("{'set':['b'],'containers':[{'name':'b','ports':[{'port':1}]}]}");
        in.untracked = object_of("{'paused':'q','values':{'a':'b'}}");
        walk_failing_allocations(apply_and_update, &in);
        json_decref(in.live);
        json_decref(in.config);
        json_decref(in.untracked);
}

int main(void)
{
        mem_hook_libraries();
        tcp = json_string("TCP");
        protocol.default_value = tcp;
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sets_combine),
                cmocka_unit_test(a_document_has_the_fields_its_schema_says),
                cmocka_unit_test(a_first_apply_creates_and_owns),
                cmocka_unit_test(an_apply_without_effect_gives_equal_bytes),
                cmocka_unit_test(a_field_no_longer_applied_goes),
                cmocka_unit_test(a_field_others_own_stays),
                cmocka_unit_test(list_elements_have_owners),
                cmocka_unit_test(defaults_go_with_the_element_they_belong_to),
                cmocka_unit_test(a_default_beside_a_removed_field_stays),
                cmocka_unit_test(changing_what_another_owns_is_a_conflict),
                cmocka_unit_test(conflicts_with_updates_name_the_version),
                cmocka_unit_test(conflicts_come_as_a_list_too),
                cmocka_unit_test(equal_values_are_shared),
                cmocka_unit_test(force_takes_ownership),
                cmocka_unit_test(atomic_values_are_replaced_whole),
                cmocka_unit_test(nulls_in_the_configuration_do_not_count),
                cmocka_unit_test(bad_lists_in_the_configuration_are_refused),
                cmocka_unit_test(what_was_there_before_the_first_apply_has_an_owner),
                cmocka_unit_test(a_create_is_tracked_with_its_containers),
                cmocka_unit_test(an_update_takes_what_it_changes),
                cmocka_unit_test(an_update_without_effect_changes_no_entry),
                cmocka_unit_test(updates_of_one_manager_share_an_entry),
                cmocka_unit_test(objects_never_tracked_stay_so),
                cmocka_unit_test(an_empty_entry_forgets_all_owners),
                cmocka_unit_test(old_updates_are_folded_above_the_cap),
                cmocka_unit_test(stored_lists_with_duplicates_do_not_block),
                cmocka_unit_test(objects_without_schema_are_merged_field_by_field),
                cmocka_unit_test(very_large_lists_apply),
                cmocka_unit_test(running_out_of_memory_leaks_nothing),
        };
        int failed = cmocka_run_group_tests(tests, NULL, NULL);
        json_decref(tcp);
        return failed;
}
