/* spec/member-agent.md 2.10 */
#include "member-agent/apply/prepare.h"

#include "common/json/patch.h"
#include "common/kube/merge_keys.h"
#include "member-agent/apply/clean.h"
#include "member-agent/apply/testing.h"

static const struct owner us = { "w", "1" };
static const char deployment[] =
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'a','labels':{'x':'1'}},"
        "'spec':{'replicas':1,'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}}}";

static struct prepared prepare(const char *text, enum apply_type type)
{
        AUTO_JSON json_t *manifest = quoted(text);
        struct prepared p = { 0 };
        char hash[65];

        assert_int_equal(clean_hash(manifest, hash, NULL), 0);
        assert_int_equal(prepare_manifest(manifest, hash, &us, type, &p, NULL), 0);
        return p;
}

static struct apply_request request(const struct prepared *p, const json_t *live, const char *group,
                                    const char *kind, struct strategy s)
{
        struct apply_request r = { 0 };
        struct error err = { 0 };

        if (prepare_request(p, live, group, kind, &s, &r, &err) < 0)
                fail_msg("%s", err.text);
        return r;
}

/* spec/member-agent.md checklist 27 */
static void the_hash_is_on_everything_the_last_applied_text_only_on_client_side(void **state)
{
        struct prepared client CLEANUP(prepared_free) = prepare(deployment, STRATEGY_CLIENT_SIDE);
        struct prepared server CLEANUP(prepared_free) = prepare(deployment, STRATEGY_SERVER_SIDE);

        assert_non_null(clean_annotation(client.doc, ANNOTATION_SPEC_HASH));
        assert_non_null(clean_annotation(server.doc, ANNOTATION_SPEC_HASH));
        assert_non_null(clean_annotation(client.doc, ANNOTATION_LAST_APPLIED));
        assert_null(clean_annotation(server.doc, ANNOTATION_LAST_APPLIED));
        assert_non_null(owner_find(client.doc, &us));
        assert_int_equal(owner_count(client.doc), 1);
}

static void the_last_applied_text_is_canonical_and_holds_hash_and_owner(void **state)
{
        struct prepared p CLEANUP(prepared_free) = prepare(deployment, STRATEGY_CLIENT_SIDE);
        const char *text = clean_annotation(p.doc, ANNOTATION_LAST_APPLIED);
        AUTO_JSON json_t *doc = NULL;

        assert_true(text_starts_with(text, "{\"apiVersion\":\"apps/v1\",\"kind\":"));
        assert_true(text_ends_with(text, "}\n"));
        assert_int_equal(doc_parse(slice_trim(slice_of(text)), &doc, NULL), 0);
        assert_non_null(clean_annotation(doc, ANNOTATION_SPEC_HASH));
        assert_null(clean_annotation(doc, ANNOTATION_LAST_APPLIED));
        assert_non_null(owner_find(doc, &us));
}

/* A ConfigMap of so much data, and how long its annotations become. */
static size_t prepare_large(size_t bytes, bool *ret_kept)
{
        AUTO_JSON json_t *manifest =
                quoted("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'},'data':{}}");
        AUTO_FREE char *big = mem_alloc(bytes + 1);
        struct prepared p CLEANUP(prepared_free) = { 0 };
        const char *key;
        json_t *value;
        size_t n = 0;

        memset(big, 'x', bytes);
        big[bytes] = '\0';
        assert_int_equal(doc_set_string(manifest, "data.k", big), 0);
        assert_int_equal(prepare_manifest(manifest, "h", &us, STRATEGY_CLIENT_SIDE, &p, NULL), 0);
        json_object_foreach(doc_get(p.doc, "metadata.annotations"), key, value)
                n += strlen(key) + json_string_length(value);
        *ret_kept = clean_annotation(p.doc, ANNOTATION_LAST_APPLIED)[0] != '\0';
        assert_int_equal(*ret_kept, p.last_applied_set);
        return n;
}

/* spec/member-agent.md checklist 28: the limit itself is still kept to. */
static void the_last_applied_text_is_kept_up_to_the_limit_of_all_annotations(void **state)
{
        bool kept;
        size_t room = 262144 - prepare_large(0, &kept);

        assert_true(kept);
        assert_int_equal(prepare_large(room, &kept), 262144);
        assert_true(kept);
        assert_in_range(prepare_large(room + 1, &kept), 0, 1000);
        assert_false(kept);
}

/* spec/member-agent.md checklist 28 */
static void too_large_an_object_falls_back_to_unforced_server_side_apply(void **state)
{
        AUTO_JSON json_t *manifest =
                quoted("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'},'data':{}}");
        AUTO_JSON json_t *live = quoted("{'metadata':{'managedFields':[{'manager':'other'}]}}");
        AUTO_FREE char *big = mem_alloc(ANNOTATIONS_MAX_BYTES + 1);
        struct prepared p CLEANUP(prepared_free) = { 0 };
        struct apply_request r CLEANUP(apply_request_free) = { 0 };

        memset(big, 'x', ANNOTATIONS_MAX_BYTES);
        big[ANNOTATIONS_MAX_BYTES] = '\0';
        assert_int_equal(doc_set_string(manifest, "data.k", big), 0);
        assert_int_equal(prepare_manifest(manifest, "h", &us, STRATEGY_CLIENT_SIDE, &p, NULL), 0);
        assert_false(p.last_applied_set);
        assert_string_equal(clean_annotation(p.doc, ANNOTATION_LAST_APPLIED), "");
        r = request(&p, live, "", "ConfigMap",
                    (struct strategy){ .type = STRATEGY_CLIENT_SIDE, .force = true });
        assert_int_equal(r.request, REQUEST_APPLY);
        assert_false(r.force);
}

static void an_unchanged_object_needs_no_request(void **state)
{
        struct prepared p CLEANUP(prepared_free) = prepare(deployment, STRATEGY_CLIENT_SIDE);
        struct apply_request r CLEANUP(apply_request_free) =
                request(&p, p.doc, "apps", "Deployment", (struct strategy){ 0 });

        assert_int_equal(r.request, REQUEST_NOTHING);
}

static void drift_is_undone_and_foreign_additions_stay(void **state)
{
        struct prepared p CLEANUP(prepared_free) = prepare(deployment, STRATEGY_CLIENT_SIDE);
        struct apply_request r CLEANUP(apply_request_free) = { 0 };
        AUTO_JSON json_t *live = doc_copy(p.doc);
        AUTO_JSON json_t *after = NULL;

        doc_set_int(live, "spec.replicas", 5);
        doc_set_string(live, "metadata.labels.mine", "kept");
        json_array_append_new(doc_get(live, "spec.template.spec.containers"),
                              json_pack("{s:s}", "name", "sidecar"));
        r = request(&p, live, "apps", "Deployment", (struct strategy){ 0 });
        assert_int_equal(r.patch_type, KUBE_PATCH_STRATEGIC);
        assert_int_equal(patch_strategic(live, r.body, merge_keys_of("apps", "Deployment"), &after, NULL), 0);
        assert_int_equal(doc_get_int(after, "spec.replicas", 0), 1);
        assert_string_equal(doc_get_string(after, "metadata.labels.mine"), "kept");
        assert_int_equal(json_array_size(doc_get(after, "spec.template.spec.containers")), 2);
        assert_null(doc_get(r.body, "metadata.resourceVersion"));
}

static void a_field_dropped_from_the_manifest_is_removed(void **state)
{
        struct prepared old CLEANUP(prepared_free) = prepare(deployment, STRATEGY_CLIENT_SIDE);
        struct prepared new CLEANUP(prepared_free) = prepare(
                "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'a'},"
                "'spec':{'replicas':1,'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}}}",
                STRATEGY_CLIENT_SIDE);
        struct apply_request r CLEANUP(apply_request_free) =
                request(&new, old.doc, "apps", "Deployment", (struct strategy){ 0 });
        AUTO_JSON json_t *after = NULL;

        assert_int_equal(patch_strategic(old.doc, r.body, merge_keys_of("apps", "Deployment"), &after, NULL),
                         0);
        assert_null(doc_get(after, "metadata.labels.x"));
}

/* Of the labels, `gone` and `shared` are no longer in the manifest, `shared` is somebody else's, too. */
static void what_server_side_apply_wrote_is_removed_by_merging(void **state)
{
        struct prepared p CLEANUP(prepared_free) = prepare(
                "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','labels':{'stays':'1'}}}",
                STRATEGY_CLIENT_SIDE);
        struct apply_request r CLEANUP(apply_request_free) = { 0 };
        AUTO_JSON json_t *after = NULL;
        AUTO_JSON json_t *live =
                quoted("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','labels':{'stays':'1','"
                       "gone':'1',"
                       "'shared':'1','theirs':'1'},'ownerReferences':[{'uid':'9'}],'managedFields':["
                       "{'manager':'work-api-agent','operation':'Apply','apiVersion':'v1','fieldsV1':{'f:"
                       "data':{'f:k':{}},"
                       "'f:metadata':{'f:labels':{'f:stays':{},'f:gone':{},'f:shared':{}},'f:ownerReferences'"
                       ":{'.':{},"
                       "'k:{\\'uid\\':\\'9\\'}':{}}}}},"
                       "{'manager':'kubectl','operation':'Update','apiVersion':'v1','fieldsV1':{'f:metadata':"
                       "{'f:labels':"
                       "{'f:shared':{},'f:theirs':{}}}}}]},'data':{'k':'1'}}");

        r = request(&p, live, "", "ConfigMap", (struct strategy){ 0 });
        assert_int_equal(patch_strategic(live, r.body, merge_keys_of("", "ConfigMap"), &after, NULL), 0);
        assert_null(doc_get(after, "metadata.labels.gone"));
        assert_null(doc_get(after, "data.k"));
        assert_string_equal(doc_get_string(after, "metadata.labels.stays"), "1");
        assert_string_equal(doc_get_string(after, "metadata.labels.shared"), "1");
        assert_string_equal(doc_get_string(after, "metadata.labels.theirs"), "1");
        assert_int_equal(json_array_size(doc_get(after, "metadata.ownerReferences")), 2);
}

static void a_custom_resource_keeps_its_other_owners(void **state)
{
        struct prepared p CLEANUP(prepared_free) = prepare(
                "{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'a'},'spec':{'size':1}}",
                STRATEGY_CLIENT_SIDE);
        struct apply_request r CLEANUP(apply_request_free) = { 0 };
        AUTO_JSON json_t *live = doc_copy(p.doc);

        json_array_append_new(doc_get(live, "metadata.ownerReferences"), json_pack("{s:s}", "uid", "other"));
        doc_set_int(live, "spec.size", 2);
        r = request(&p, live, "example.com", "Widget", (struct strategy){ 0 });
        assert_int_equal(r.patch_type, KUBE_PATCH_MERGE);
        assert_doc_equal(r.body, "{'spec':{'size':1}}");
}

static void if_not_drifted_is_bound_to_the_version_that_was_compared(void **state)
{
        struct strategy s = { .only_if_not_drifted = true };
        struct prepared p CLEANUP(prepared_free) = prepare(deployment, STRATEGY_CLIENT_SIDE);
        struct apply_request r CLEANUP(apply_request_free) = { 0 };
        AUTO_JSON json_t *live = doc_copy(p.doc);

        doc_set_string(live, "metadata.resourceVersion", "42");
        doc_set_int(live, "spec.replicas", 9);
        r = request(&p, live, "apps", "Deployment", s);
        assert_string_equal(doc_get_string(r.body, "metadata.resourceVersion"), "42");
}

static void what_is_as_it_should_be_is_not_written_for_the_sake_of_its_version(void **state)
{
        struct prepared p CLEANUP(prepared_free) = prepare(deployment, STRATEGY_CLIENT_SIDE);
        struct apply_request r CLEANUP(apply_request_free) = { 0 };
        AUTO_JSON json_t *live = doc_copy(p.doc);

        doc_set_string(live, "metadata.resourceVersion", "42");
        r = request(&p, live, "apps", "Deployment", (struct strategy){ .only_if_not_drifted = true });
        assert_int_equal(r.request, REQUEST_NOTHING);
}

/* spec/member-agent.md checklist 31 */
static void no_version_binds_who_may_overwrite_drifts(void **state)
{
        static const struct {
                struct strategy strategy;
                bool bound;
        } lines[] = {
                { { .type = STRATEGY_CLIENT_SIDE }, false },
                { { .type = STRATEGY_CLIENT_SIDE, .only_if_not_drifted = true }, true },
                { { .type = STRATEGY_SERVER_SIDE }, false },
                { { .type = STRATEGY_SERVER_SIDE, .only_if_not_drifted = true }, true },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct prepared p CLEANUP(prepared_free) = prepare(deployment, lines[i].strategy.type);
                struct apply_request r CLEANUP(apply_request_free) = { 0 };
                AUTO_JSON json_t *live = doc_copy(p.doc);

                doc_set_string(live, "metadata.resourceVersion", "42");
                doc_set_int(live, "spec.replicas", 9);
                r = request(&p, live, "apps", "Deployment", lines[i].strategy);
                assert_int_equal(doc_get(r.body, "metadata.resourceVersion") != NULL, lines[i].bound);
        }
}

/* spec/member-agent.md checklist 30 */
static void server_side_apply_is_forced_among_own_managers(void **state)
{
        static const struct {
                const char *live;
                bool own;
        } lines[] = {
                { "{}", true },
                { "{'metadata':{'managedFields':[{'manager':'work-api-agent'},{'manager':'before-first-apply'"
                  "}]}}",
                  true },
                { "{'metadata':{'managedFields':[{'manager':'work-api-agent'},{'manager':'kubectl'}]}}",
                  false },
                { "{'metadata':{'managedFields':[{'manager':'work-api-agent'},{'manager':'controller','"
                  "subresource':'status'}]}}",
                  true },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *live = quoted(lines[i].live);

                assert_int_equal(prepare_only_own_managers(live), lines[i].own);
        }
}

static void kinds_of_kubernetes_merge_strategically(void **state)
{
        assert_non_null(merge_keys_of("", "ConfigMap"));
        assert_non_null(merge_keys_of("batch", "CronJob"));
        assert_null(merge_keys_of("apiextensions.k8s.io", "CustomResourceDefinition"));
        assert_null(merge_keys_of("apiregistration.k8s.io", "APIService"));
        assert_null(merge_keys_of("example.com", "Deployment"));
}

#define OWN(operation, version, fields)                                                                      \
        "{'manager':'work-api-agent','operation':'" operation "','apiVersion':'" version                     \
        "','fieldsType':'FieldsV1','fieldsV1':" fields "}"
#define OTHER "{'manager':'kubectl','operation':'Update','apiVersion':'v1','fieldsV1':{'f:b':{}}}"
#define OWN_STATUS                                                                                           \
        "{'manager':'work-api-agent','operation':'Update','apiVersion':'v1','subresource':'status','"        \
        "fieldsV1':"                                                                                         \
        "{'f:s':{}}}"

static void our_updates_become_our_apply_entry_when_the_manifest_changed(void **state)
{
        static const struct {
                const char *managed, *wanted; /* NULL = no patch */
        } lines[] = {
                { OTHER, NULL },
                { OWN("Apply", "v1", "{'f:a':{}}") "," OTHER, NULL },
                { OWN_STATUS, NULL },
                { OWN("Update", "v1", "{'f:a':{}}") "," OTHER "," OWN_STATUS,
                  OTHER "," OWN_STATUS "," OWN("Apply", "v1", "{'f:a':{}}") },
                { OWN("Update", "v1", "{'f:a':{}}") "," OWN("Apply", "v1", "{'f:c':{}}"),
                  OWN("Apply", "v1", "{'f:a':{},'f:c':{}}") },
                { OWN("Update", "v2", "{'f:a':{}}") "," OWN("Apply", "v1", "{'f:c':{}}"),
                  OWN("Apply", "v1", "{'f:c':{}}") },
        };
        static const struct strategy server_side = { .type = STRATEGY_SERVER_SIDE };
        const struct prepared p = { 0 };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct arena arena AUTO_ARENA = ARENA_INIT;
                AUTO_JSON json_t *live = quoted(arena_printf(
                        &arena,
                        "{'metadata':{'resourceVersion':'7','annotations':{'kubernetes-fleet.io/spec-hash':"
                        "'old'},'managedFields':[%s]}}",
                        lines[i].managed));
                AUTO_JSON json_t *patch = NULL, *same = NULL;

                assert_int_equal(prepare_adoption(&p, live, "new", &server_side, &patch, NULL), 0);
                assert_int_equal(prepare_adoption(&p, live, "old", &server_side, &same, NULL), 0);
                assert_null(same);
                if (!lines[i].wanted)
                        assert_null(patch);
                else
                        assert_doc_equal(
                                patch,
                                arena_printf(&arena,
                                             "{'metadata':{'resourceVersion':'7','managedFields':[%s]}}",
                                             lines[i].wanted));
        }
}

static void merging_on_the_client_side_needs_no_entry(void **state)
{
        static const struct strategy client_side = { .type = STRATEGY_CLIENT_SIDE };
        const struct prepared whole = { .last_applied_set = true }, too_large = { 0 };
        AUTO_JSON json_t *live = quoted(
                "{'metadata':{'resourceVersion':'7','managedFields':[" OWN("Update", "v1", "{}") "]}}");
        AUTO_JSON json_t *none = NULL, *patch = NULL;

        assert_int_equal(prepare_adoption(&whole, live, "new", &client_side, &none, NULL), 0);
        assert_null(none);
        assert_int_equal(prepare_adoption(&too_large, live, "new", &client_side, &patch, NULL), 0);
        assert_non_null(patch);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(our_updates_become_our_apply_entry_when_the_manifest_changed),
                cmocka_unit_test(merging_on_the_client_side_needs_no_entry),
                cmocka_unit_test(the_hash_is_on_everything_the_last_applied_text_only_on_client_side),
                cmocka_unit_test(the_last_applied_text_is_canonical_and_holds_hash_and_owner),
                cmocka_unit_test(the_last_applied_text_is_kept_up_to_the_limit_of_all_annotations),
                cmocka_unit_test(too_large_an_object_falls_back_to_unforced_server_side_apply),
                cmocka_unit_test(an_unchanged_object_needs_no_request),
                cmocka_unit_test(drift_is_undone_and_foreign_additions_stay),
                cmocka_unit_test(a_field_dropped_from_the_manifest_is_removed),
                cmocka_unit_test(what_server_side_apply_wrote_is_removed_by_merging),
                cmocka_unit_test(a_custom_resource_keeps_its_other_owners),
                cmocka_unit_test(if_not_drifted_is_bound_to_the_version_that_was_compared),
                cmocka_unit_test(what_is_as_it_should_be_is_not_written_for_the_sake_of_its_version),
                cmocka_unit_test(no_version_binds_who_may_overwrite_drifts),
                cmocka_unit_test(server_side_apply_is_forced_among_own_managers),
                cmocka_unit_test(kinds_of_kubernetes_merge_strategically),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
