#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "kubectl-fleet/page/reduce.h"
#include "kubectl-fleet/placement_view.h"

#define WELL(type)                                                                                           \
        "{\"type\":\"" type                                                                                  \
        "\",\"status\":\"True\",\"reason\":\"R\",\"message\":\"as it should be on this cluster\","           \
        "\"observedGeneration\":2,\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"
#define ALL_WELL                                                                                             \
        WELL("Scheduled")                                                                                    \
        "," WELL("RolloutStarted") "," WELL("Overridden") "," WELL("WorkSynchronized") "," WELL("Applied")
#define FAILED                                                                                               \
        "{\"type\":\"Available\",\"status\":\"False\",\"reason\":\"X\",\"message\":\"the image is not "      \
        "there\","                                                                                           \
        "\"observedGeneration\":2,\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"
#define DRIFT                                                                                                \
        "\"driftedPlacements\":[{\"kind\":\"ConfigMap\",\"name\":\"c\",\"version\":\"v1\","                  \
        "\"observationTime\":"                                                                               \
        "\"2026-01-01T00:00:00Z\",\"firstDriftedObservedTime\":\"2026-01-01T00:00:00Z\","                    \
        "\"targetClusterObservedGeneration\":1,\"observedDrifts\":[{\"path\":\"/"                            \
        "data\",\"valueInHub\":\"a\"}]}]"

static const char text[] =
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ClusterResourcePlacement\","
        "\"metadata\":{\"name\":\"web\",\"uid\":\"u\",\"resourceVersion\":\"5\",\"generation\":2},"
        "\"spec\":{\"resourceSelectors\":[]},\"status\":{\"observedResourceIndex\":\"3\","
        "\"placementStatuses\":["
        "{\"clusterName\":\"a\",\"observedResourceIndex\":\"3\",\"conditions\":[" ALL_WELL
        "," WELL("Available") "]},"
                              "{\"clusterName\":\"b\",\"observedResourceIndex\":\"3\",\"conditions\":"
                              "[" ALL_WELL "," WELL("Available") "]," DRIFT "},"
                                                                 "{\"clusterName\":\"c\","
                                                                 "\"applicableClusterResourceOverrides\":["
                                                                 "\"o\"],\"conditions\":[" ALL_WELL "," FAILED
                                                                 "]},{\"conditions\":[]}]}}";

static struct object *decode(struct intern_table *interns)
{
        struct object *o = NULL;
        struct error err = { 0 };

        if (object_decode(&cluster_resource_placement_kind, slice_of(text), DECODE_PROJECTION, interns, &o,
                          &err) < 0)
                fail_msg("%s", err.text);
        return o;
}

static const struct per_cluster_status *cluster(const struct object *o, uint32_t i)
{
        return &((const struct placement *)o)->status->placement_statuses.at[i];
}

static void a_reduced_placement_stands_as_before(void **state)
{
        struct intern_table *interns = intern_table_new();
        struct object *o = decode(interns), *less = page_reduce_placement(interns, o);
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct placement_summary a, b;

        assert_non_null(less);
        assert_int_equal(placement_summarize(&arena, (const struct placement *)o, &a), 0);
        assert_int_equal(placement_summarize(&arena, (const struct placement *)less, &b), 0);
        assert_string_equal(a.word, b.word);
        assert_string_equal(a.revision, b.revision);
        assert_memory_equal(&a.progress, &b.progress, sizeof(a.progress));
        assert_int_equal(b.n_drifted, 1);
        for (uint32_t i = 0; i < 4; i++)
                assert_string_equal(cluster_word_of(&cluster(o, i)->conditions, 2).word,
                                    cluster_word_of(&cluster(less, i)->conditions, 2).word);
        object_unref(o);
        assert_string_equal(cluster(less, 2)->cluster_name, "c"); /* nothing of it was the other's */
        assert_string_equal(condition_find(&cluster(less, 2)->conditions, "Available")->message,
                            "the image is not there");
        assert_string_equal(less->meta.uid, "u");
        object_unref(less);
        intern_table_free(interns);
}

static void clusters_where_all_is_well_share_their_conditions(void **state)
{
        struct intern_table *interns = intern_table_new();
        struct object *o = decode(interns), *less = page_reduce_placement(interns, o);

        assert_int_equal(cluster(less, 0)->conditions.n, 6);
        assert_ptr_equal(cluster(less, 0)->conditions.at, cluster(less, 1)->conditions.at);
        assert_ptr_not_equal(cluster(less, 0)->conditions.at, cluster(less, 2)->conditions.at);
        assert_null(cluster(less, 0)->conditions.at[0].message);
        assert_int_equal(cluster(less, 1)->drifted_placements.at[0].observed_drifts.n, 0);
        assert_true(object_bytes(less) < object_bytes(o) / 3 * 2);
        object_unref(less);
        object_unref(o);
        intern_table_free(interns);
}

static void any_allocation_may_fail(void **state)
{
        struct intern_table *interns = intern_table_new();
        struct object *o = decode(interns), *less = NULL;

        for (uint64_t n = 1; !less; n++) {
                struct intern_table *fresh = intern_table_new();

                mem_fail_at(n, false);
                less = page_reduce_placement(fresh, o);
                mem_fail_at(0, false);
                if (less) {
                        assert_int_equal(cluster(less, 0)->conditions.n, 6);
                        object_unref(less);
                }
                intern_table_free(fresh);
        }
        object_unref(o);
        intern_table_free(interns);
}

static void a_work_is_kept_without_its_manifests_once_they_are_told_of(void **state)
{
        static const char *const status[] = {
                "",
                ",\"status\":{\"manifestConditions\":[{\"identifier\":{\"kind\":\"Secret\",\"name\":\"s\"},"
                "\"conditions\":[]}]}"
        };
        for (int told = 0; told < 2; told++) {
                AUTO_BUF struct buf b;
                struct object *o = NULL, *less;
                const struct work *w;

                buf_init(&b, 4096);
                buf_printf(&b,
                           "{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"},\"spec\":{\"workload\":{"
                           "\"manifests\":"
                           "[{\"kind\":\"Secret\"}]}}%s}",
                           status[told]);
                assert_int_equal(object_decode(&work_kind, (struct slice){ b.data, b.len }, DECODE_FULL, NULL,
                                               &o, NULL),
                                 0);
                less = page_reduce_work(NULL, o);
                w = (const struct work *)less;
                object_unref(o);
                assert_string_equal(w->object.meta.name, "w");
                assert_int_equal(w->spec != NULL, !told);
                if (told)
                        assert_string_equal(w->status->manifest_conditions.at[0].identifier->name, "s");
                object_unref(less);
        }
}

/* Also of Secrets and of what envelopes hold. */
static void of_a_snapshots_manifests_their_names_are_kept(void **state)
{
        static const char snapshot[] =
                "{\"metadata\":{\"name\":\"w-1\"},\"spec\":{\"selectedResources\":[{"
                "\"apiVersion\":\"v1\",\"kind\":"
                "\"Secret\",\"metadata\":{\"name\":\"s\",\"namespace\":\"n\",\"labels\":{"
                "\"a\":\"b\"}},\"data\":{"
                "\"p\":\"x\"}},{\"kind\":\"ResourceEnvelope\",\"metadata\":{\"name\":"
                "\"e\"},\"data\":{\"1\":{\"kind\":"
                "\"Secret\",\"stringData\":{\"p\":\"x\"}},\"2\":3}}]}}";
        static const char *const want[] = {
                "{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\"},\"apiVersion\":\"v1\",\"kind\":"
                "\"Secret\"}",
                "{\"metadata\":{\"name\":\"e\"},\"kind\":\"ResourceEnvelope\",\"data\":{\"1\":{\"metadata\":{"
                "},\"kind\":"
                "\"Secret\"},\"2\":{\"metadata\":{}}}}",
        };
        struct object *o = NULL, *less = NULL;
        const struct resource_snapshot *r;

        assert_int_equal(object_decode(&cluster_resource_snapshot_kind, slice_of(snapshot), DECODE_FULL, NULL,
                                       &o, NULL),
                         0);
        for (uint64_t n = 1; !less; n++) {
                mem_fail_at(n, false);
                less = page_reduce_snapshot(NULL, o);
                mem_fail_at(0, false);
        }
        object_unref(o);
        r = (const struct resource_snapshot *)less;
        assert_int_equal(r->spec->selected_resources.n, 2);
        for (size_t i = 0; i < 2; i++)
                assert_true(slice_is(r->spec->selected_resources.at[i], want[i]));
        object_unref(less);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_reduced_placement_stands_as_before),
                cmocka_unit_test(clusters_where_all_is_well_share_their_conditions),
                cmocka_unit_test(a_work_is_kept_without_its_manifests_once_they_are_told_of),
                cmocka_unit_test(of_a_snapshots_manifests_their_names_are_kept),
                cmocka_unit_test(any_allocation_may_fail),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
