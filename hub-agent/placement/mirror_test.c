#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hub-agent/placement/mirror.h"

#define NOW INT64_C(1767225600000)
#define BY_NAME                                                                                              \
        "\"statusReportingScope\":\"NamespaceAccessible\",\"resourceSelectors\":[{\"group\":\"rbac\","       \
        "\"version\":\"v1\",\"kind\":\"ClusterRole\",\"name\":\"r\"},{\"group\":\"\",\"version\":\"v1\","    \
        "\"kind\":\"Namespace\",\"name\":\"web\"}]"
#define BY_LABEL                                                                                             \
        "\"statusReportingScope\":\"NamespaceAccessible\",\"resourceSelectors\":[{\"group\":\"\","           \
        "\"version\":\"v1\",\"kind\":\"Namespace\",\"labelSelector\":{}}]"
#define PLACED(name)                                                                                         \
        "\"selectedResources\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"" name  \
        "\"}]"
#define SYNCED                                                                                               \
        "{\"type\":\"ClusterResourcePlacementStatusSynced\",\"status\":\"True\",\"reason\":\"r\","           \
        "\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"
#define SCHEDULED                                                                                            \
        "{\"type\":\"ClusterResourcePlacementScheduled\",\"status\":\"True\",\"reason\":\"r\","              \
        "\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"

static const struct placement *placement(struct arena *arena, const char *ns, const char *spec,
                                         const char *status)
{
        struct object *o;
        struct error err = { 0 };
        const char *json = arena_printf(arena,
                                        "{\"metadata\":{\"name\":\"p\",%s\"uid\":\"u\",\"generation\":3},"
                                        "\"spec\":{%s},\"status\":{%s}}",
                                        ns, spec, status);

        if (object_decode_arena(*ns ? &resource_placement_kind : &cluster_resource_placement_kind,
                                slice_of(json), arena, &o, &err) < 0)
                fail_msg("%s: %s", json, err.text);
        return (const struct placement *)o;
}

static void only_a_namespace_accessible_cluster_placement_is_mirrored(void **state)
{
        static const struct {
                const char *ns, *spec;
                bool wanted;
        } rows[] = { { "", BY_NAME, true },
                     { "", "\"resourceSelectors\":[]", false },
                     { "", "\"statusReportingScope\":\"ClusterScopeOnly\",\"resourceSelectors\":[]", false },
                     { "\"namespace\":\"web\",", BY_NAME, false } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;

                assert_int_equal(mirror_wanted(placement(&arena, rows[i].ns, rows[i].spec, "")),
                                 rows[i].wanted);
        }
}

/* spec/placement.md checklist 51 */
static void another_namespace_than_the_placed_one_is_refused(void **state)
{
        static const struct {
                const char *spec, *status, *refusal;
        } rows[] = {
                { BY_NAME, "", NULL },
                { BY_NAME, PLACED("web"), NULL },
                { BY_LABEL, "", NULL },
                { BY_NAME, PLACED("old"),
                  "namespace resource selector is choosing a different namespace 'web' from what was "
                  "originally picked 'old'. This is not allowed for NamespaceAccessible "
                  "ClusterResourcePlacement" },
                { BY_LABEL, PLACED("old"),
                  "NamespaceAccessible ClusterResourcePlacement doesn't specify a resource selector which "
                  "selects a namespace" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                const char *refusal = "untouched";

                assert_int_equal(mirror_check(&arena, placement(&arena, "", rows[i].spec, rows[i].status),
                                              &refusal, &err),
                                 0);
                if (rows[i].refusal)
                        assert_string_equal(refusal, rows[i].refusal);
                else
                        assert_null(refusal);
        }
}

static void of_all_that_is_selected_the_namespace_counts(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct placement *p = placement(
                &arena, "",
                "\"statusReportingScope\":\"NamespaceAccessible\",\"resourceSelectors\":[{\"group\":\"\","
                "\"version\":\"v1\",\"kind\":\"PersistentVolume\",\"name\":\"disk\"},{\"group\":\"\","
                "\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"web\"}]",
                "\"selectedResources\":[{\"version\":\"v1\",\"kind\":\"PersistentVolume\",\"name\":\"disk\"},"
                "{"
                "\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"web\"}]");

        assert_string_equal(mirror_target(p), "web");
        assert_string_equal(mirror_placed(p), "web");
}

/* spec/placement.md checklist 49; spec/api.md checklist 41 */
static void the_copy_is_owned_and_lacks_the_synced_condition(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        const struct placement *p =
                placement(&arena, "", BY_NAME, PLACED("web") ",\"conditions\":[" SCHEDULED "," SYNCED "]");
        struct cluster_resource_placement_status *copy;

        assert_int_equal(mirror_plan(&arena, p, "web", NULL, NOW, &copy, &err), 0);
        assert_non_null(copy);
        assert_string_equal(copy->object.meta.ns, "web");
        assert_string_equal(copy->object.meta.name, "p");
        assert_string_equal(copy->object.meta.owners[0].uid, "u");
        assert_true(copy->object.meta.owners[0].controller);
        assert_int_equal(copy->source_status->conditions.n, 1);
        assert_string_equal(copy->source_status->conditions.at[0].type, "ClusterResourcePlacementScheduled");
        assert_int_equal(copy->last_updated_time, NOW);
        assert_int_equal(p->status->conditions.n, 2); /* the placement itself keeps it */
}

static void the_copy_is_written_only_when_the_status_changed(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        const struct placement *p =
                placement(&arena, "", BY_NAME, PLACED("web") ",\"conditions\":[" SCHEDULED "]");
        const struct placement *later =
                placement(&arena, "", BY_NAME, PLACED("web") ",\"conditions\":[" SCHEDULED "," SYNCED "]");
        const struct placement *changed = placement(&arena, "", BY_NAME, PLACED("web"));
        struct cluster_resource_placement_status *copy, *again;

        assert_int_equal(mirror_plan(&arena, p, "web", NULL, NOW, &copy, &err), 0);
        assert_int_equal(mirror_plan(&arena, later, "web", copy, NOW + 1000, &again, &err), 0);
        assert_null(again);
        assert_int_equal(mirror_plan(&arena, changed, "web", copy, NOW + 1000, &again, &err), 0);
        assert_non_null(again);
        assert_int_equal(again->last_updated_time, NOW + 1000);
}

static void the_placement_says_whether_the_copy_was_made(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct placement *p = placement(&arena, "", BY_NAME, "");
        const struct placement *ok = mirror_result(&arena, p, "web", NULL, NOW);
        const struct placement *bad = mirror_result(&arena, p, "web", "namespaces \"web\" not found", NOW);
        const struct condition *c;

        assert_non_null(ok);
        assert_non_null(bad);
        assert_true(condition_is_true(&ok->status->conditions, "ClusterResourcePlacementStatusSynced", 3));
        c = condition_find(&bad->status->conditions, "ClusterResourcePlacementStatusSynced");
        assert_string_equal(c->status, "False");
        assert_string_equal(c->reason, "StatusSyncFailed");
        assert_string_equal(c->message, "Failed to create or update ClusterResourcePlacementStatus: "
                                        "namespaces \"web\" not found");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_a_namespace_accessible_cluster_placement_is_mirrored),
                cmocka_unit_test(another_namespace_than_the_placed_one_is_refused),
                cmocka_unit_test(of_all_that_is_selected_the_namespace_counts),
                cmocka_unit_test(the_copy_is_owned_and_lacks_the_synced_condition),
                cmocka_unit_test(the_copy_is_written_only_when_the_status_changed),
                cmocka_unit_test(the_placement_says_whether_the_copy_was_made),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
