#include "hub-agent/resource-set/live.h"

#include "common/json/patch.h"
#include "hub-agent/resource-set/testing.h"

static bool differs(const char *live, const char *dry)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        return live_differs(yaml_of(&arena, live), yaml_of(&arena, dry));
}

/* spec/resource-set.md checklist 72 */
static void only_what_users_see_is_drift(void **state)
{
        assert_false(
                differs("{metadata: {resourceVersion: '1', labels: {a: b}}, data: {a: b}, status: {x: 1}}",
                        "{metadata: {resourceVersion: '2', labels: {a: b}}, data: {a: b}, status: {x: 2}}"));
        assert_false(differs("{metadata: {labels: {}}}", "{metadata: {}}"));
        assert_true(differs("{metadata: {labels: {a: b}}}", "{metadata: {labels: {a: c}}}"));
        assert_true(differs("{metadata: {}}", "{metadata: {annotations: {a: c}}}"));
        assert_true(differs("{data: {a: b}}", "{data: {a: c}}"));
        assert_true(differs("{data: {a: b}}", "{}"));
}

#define ENTRY(manager, operation, more)                                                                      \
        "{manager: " manager ", operation: " operation                                                       \
        ", apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:data': {'f:" manager "': {}}}" more "}"

/* The object when it is clean; NULL if there was nothing to clean. */
static json_t *clean(struct arena *arena, const char *live, const char *const *managers, size_t n)
{
        struct error err = { 0 };
        json_t *doc = yaml_of(arena, live), *patch, *ret;

        assert_int_equal(live_cleaning(doc, managers, n, &patch, &err), 0);
        if (!patch)
                return NULL;
        assert_int_equal(doc_keep(arena, patch, &err), 0);
        assert_string_equal(doc_get_string(json_array_get(patch, 0), "path"), "/metadata/resourceVersion");
        if (patch_json(doc, patch, &ret, &err) < 0)
                fail_msg("%s", err.text);
        assert_int_equal(doc_keep(arena, ret, &err), 0);
        return ret;
}

/* spec/resource-set.md checklist 73, 74 */
static void fields_of_other_tools_become_ours(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char *const mine[] = { "mine" };
        static const char live
                [] = "{metadata: {resourceVersion: '7', managedFields: [" ENTRY("flux-operator", "Apply", "") ", " ENTRY(
                        "kubectl-edit", "Update",
                        "") ", " ENTRY("helm", "Update",
                                       "") ", " ENTRY("helm", "Apply",
                                                      "") ", " ENTRY("mine", "Update",
                                                                     "") ", " ENTRY("kubectl", "Update",
                                                                                    ", subresource: "
                                                                                    "status") ","
                                                                                              " " ENTRY(
                                                                                                      "other",
                                                                                                      "Updat"
                                                                                                      "e",
                                                                                                      "") "]}"
                                                                                                          "}";
        const json_t *fields = doc_get(clean(&arena, live, NULL, 0), "metadata.managedFields");

        assert_int_equal(json_array_size(fields), 5);
        assert_string_equal(json_of(&arena, doc_get(json_array_get(fields, 0), "fieldsV1")),
                            "{\"f:data\":{\"f:flux-operator\":{},\"f:helm\":{},\"f:kubectl-edit\":{}}}");
        fields = doc_get(clean(&arena, live, mine, 1), "metadata.managedFields");
        assert_int_equal(json_array_size(fields), 4);
        fields = doc_get(clean(&arena,
                               "{metadata: {resourceVersion: '7', managedFields: [" ENTRY(
                                       "before-first-apply", "Update", "") "]}}",
                               NULL, 0),
                         "metadata.managedFields");
        assert_string_equal(doc_get_string(json_array_get(fields, 0), "manager"), "flux-operator");
        assert_string_equal(doc_get_string(json_array_get(fields, 0), "operation"), "Apply");
        assert_null(
                clean(&arena,
                      "{metadata: {resourceVersion: '7', managedFields: [" ENTRY("other", "Update", "") "]}}",
                      NULL, 0));
}

static void marks_of_other_tools_go(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        json_t *doc = clean(
                &arena,
                "{metadata: {resourceVersion: '7', labels: {kustomize.toolkit.fluxcd.io/name: a, b: c}, "
                "annotations: {kubectl.kubernetes.io/last-applied-configuration: x, "
                "meta.helm.sh/release-name: y}}}",
                NULL, 0);

        assert_string_equal(json_of(&arena, doc_get(doc, "metadata.labels")), "{\"b\":\"c\"}");
        assert_int_equal(json_object_size(doc_get(doc, "metadata.annotations")), 0);
}

/* spec/resource-set.md checklist 77, 78 */
static void force_recreates_what_cannot_be_changed(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char plain[] = "{kind: ConfigMap}", space[] = "{kind: Namespace}";
        static const char forced[] =
                "{kind: Namespace, metadata: {annotations: {fluxcd.controlplane.io/force: Enabled}}}";
        static const struct {
                const char *wanted, *live;
                bool by_set;
                int code;
                const char *text;
                enum force force;
        } rows[] = {
                { plain, plain, true, ERR_INVALID, "data: field is immutable when `immutable` is set",
                  FORCE_YES },
                { plain, plain, true, ERR_INVALID, "Bad_Name is no name", FORCE_IF_CREATABLE },
                { plain, plain, true, ERR_CONFLICT, "x", FORCE_IF_CREATABLE },
                { plain, plain, true, ERR_FORBIDDEN, "x", FORCE_NO },
                { plain, plain, false, ERR_INVALID, "field is immutable", FORCE_NO },
                { plain, NULL, true, ERR_INVALID, "field is immutable", FORCE_NO },
                { space, space, true, ERR_INVALID, "field is immutable", FORCE_NO },
                { forced, space, false, ERR_INVALID, "field is immutable", FORCE_YES },
                { space, forced, false, ERR_INVALID, "field is immutable", FORCE_YES },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct error err = { 0 };

                error_set(&err, (enum error_code)rows[i].code, "%s", rows[i].text);
                assert_int_equal(force_decide(yaml_of(&arena, rows[i].wanted),
                                              rows[i].live ? yaml_of(&arena, rows[i].live) : NULL,
                                              rows[i].by_set, &err),
                                 rows[i].force);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_what_users_see_is_drift),
                cmocka_unit_test(fields_of_other_tools_become_ours),
                cmocka_unit_test(marks_of_other_tools_go),
                cmocka_unit_test(force_recreates_what_cannot_be_changed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
