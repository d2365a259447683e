/* The kinds as the API server serves them: versions, columns, and what one version hides. spec/api.md 1, 2.
 */
#include "hub-agent/hub_agent_test.h"

#define PLACEMENTS(version) "/apis/placement.kubernetes-fleet.io/" version "/clusterresourceplacements"
#define AS_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

/* "Name Gen Type* ..." of a kind, a star for what only -o wide shows. */
static const char *columns(struct rig *r, const char *path)
{
        const char *text = "";
        json_t *c;
        size_t i;

        assert_int_equal(rig_get_as(r, path, AS_TABLE), 200);
        json_array_foreach(doc_get_array(r->answer, "columnDefinitions"), i, c)
                text = arena_printf(&r->arena, "%s%s%s%s", text, i ? " " : "", doc_get_string(c, "name"),
                                    doc_get_int(c, "priority", 0) ? "*" : "");
        return text;
}

/* spec/api.md checklist 1, 2, 3 */
RIG_TEST(kinds_are_printed_with_their_columns, {
        static const struct {
                const char *path, *columns;
        } rows[] = {
                { PLACEMENTS("v1"), "Name Gen Type* Scheduled Scheduled-Gen Work-Synchronized* "
                                    "Work-Synchronized-Gen* Available Available-Gen Age" },
                { PLACEMENTS("v1beta1"), "Name Gen Type* Scheduled Scheduled-Gen Work-Synchronized* "
                                         "Work-Synchronized-Gen* Available Available-Gen Age" },
                { "/apis/placement.kubernetes-fleet.io/v1/resourceplacements",
                  "Name Gen Type* Scheduled Scheduled-Gen Work-Synchronized* Work-Synchronized-Gen* "
                  "Available "
                  "Available-Gen Age" },
                { "/apis/cluster.kubernetes-fleet.io/v1/memberclusters",
                  "Name Joined Age Member-Agent-Last-Seen Node-Count Available-CPU Available-Memory "
                  "Allocatable-CPU* Allocatable-Memory*" },
                { "/apis/placement.kubernetes-fleet.io/v1beta1/clusterresourceplacementevictions",
                  "Name Valid Executed" },
                { "/apis/placement.kubernetes-fleet.io/v1/clusterresourcebindings",
                  "Name WorkSynchronized ResourcesApplied ResourceAvailable* Age" },
                { "/apis/placement.kubernetes-fleet.io/v1/clusterresourceplacementstatuses",
                  "Name Resource-Index Last-Updated Age" },
                { "/apis/placement.kubernetes-fleet.io/v1/clusterstagedupdateruns",
                  "Name Placement Resource-Snapshot-Index Policy-Snapshot-Index Initialized Progressing "
                  "Succeeded "
                  "Age Strategy*" },
                { "/apis/placement.kubernetes-fleet.io/v1alpha1/clusterstagedupdateruns",
                  "Name Placement Resource-Snapshot-Index Policy-Snapshot-Index Initialized Succeeded Age "
                  "Strategy*" },
                { "/apis/placement.kubernetes-fleet.io/v1/clusterapprovalrequests",
                  "Name Update-Run Stage Approved Age" },
        };

        install_kinds(r);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                if (!text_equal(columns(r, rows[i].path), rows[i].columns))
                        fail_msg("%s: %s", rows[i].path, columns(r, rows[i].path));
})

/* What stands in the columns of a row. */
RIG_TEST(columns_show_what_the_status_says, {
        static const char *const cells[] = { "web", "1", "PickAll", "True", "7" };
        json_t *row;

        install_kinds(r);
        place(r, ",\"policy\":{\"placementType\":\"PickAll\"}");
        rig_merge(r, PLACEMENTS("v1beta1") "/web/status",
                  "{\"status\":{\"conditions\":[{\"type\":\"ClusterResourcePlacementScheduled\",\"status\":"
                  "\"True\","
                  "\"reason\":\"R\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\","
                  "\"observedGeneration\":7}]}}");
        assert_int_equal(r->status, 200);
        assert_int_equal(rig_get_as(r, PLACEMENTS("v1"), AS_TABLE), 200);
        row = doc_get(json_array_get(doc_get_array(r->answer, "rows"), 0), "cells");
        for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
                const json_t *cell = json_array_get(row, i);
                char number[32];

                if (json_is_integer(cell))
                        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(cell));
                assert_string_equal(json_is_integer(cell) ? number : json_string_value(cell), cells[i]);
        }
})

/* spec/api.md checklist 4 */
RIG_TEST(kinds_are_stored_as_v1beta1_and_read_as_v1, {
        static const char *const groups[] = { "cluster.kubernetes-fleet.io",
                                              "placement.kubernetes-fleet.io" };
        size_t n = 0;

        install_kinds(r);
        for (size_t i = 0; hub_agent_crd(i); i++) {
                AUTO_JSON json_t *crd = NULL;
                struct error err = { 0 };
                json_t *v;
                size_t k;

                assert_int_equal(doc_parse(slice_of(hub_agent_crd(i)), &crd, &err), 0);
                if (!text_in(doc_get_string(crd, "spec.group"), groups, ARRAY_LEN(groups)))
                        continue;
                json_array_foreach(doc_get_array(crd, "spec.versions"), k, v) {
                        assert_true(doc_get_bool(v, "served", false));
                        assert_int_equal(doc_get_bool(v, "storage", false),
                                         text_equal(doc_get_string(v, "name"), "v1beta1"));
                }
                n++;
        }
        assert_int_equal(n, 26);
        for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
                assert_int_equal(rig_get(r, arena_printf(&r->arena, "/apis/%s", groups[i])), 200);
                assert_string_equal(rig_string(r, "preferredVersion.version"), "v1");
        }
})

/* spec/api.md checklist 5 */
RIG_TEST(what_v1_does_not_show_is_lost_when_written_through_it, {
        AUTO_JSON json_t *read = NULL;
        AUTO_BUF struct buf b;

        install_kinds(r);
        place(r, ",\"strategy\":{\"deleteStrategy\":{\"propagationPolicy\":\"Abandon\"}}");
        assert_int_equal(rig_get(r, PLACEMENTS("v1beta1") "/web"), 200);
        assert_string_equal(rig_string(r, "spec.strategy.deleteStrategy.propagationPolicy"), "Abandon");
        assert_int_equal(rig_get(r, PLACEMENTS("v1") "/web"), 200);
        assert_null(doc_get(r->answer, "spec.strategy.deleteStrategy"));
        assert_int_equal(rig_get(r, PLACEMENTS("v1beta1") "/web"), 200); /* reading takes nothing away */
        assert_non_null(doc_get(r->answer, "spec.strategy.deleteStrategy"));
        assert_int_equal(rig_get(r, PLACEMENTS("v1") "/web"), 200);
        read = json_incref(r->answer);
        json_object_set_new(doc_get(read, "spec"), "revisionHistoryLimit", json_integer(7));
        buf_init(&b, 1 << 16);
        doc_write_canonical(read, &b);
        assert_int_equal(rig_put(r, PLACEMENTS("v1") "/web", b.data), 200);
        assert_int_equal(rig_get(r, PLACEMENTS("v1beta1") "/web"), 200);
        assert_int_equal(doc_get_int(r->answer, "spec.revisionHistoryLimit", 0), 7);
        assert_null(doc_get(r->answer, "spec.strategy.deleteStrategy"));
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(kinds_are_printed_with_their_columns),
                cmocka_unit_test(columns_show_what_the_status_says),
                cmocka_unit_test(kinds_are_stored_as_v1beta1_and_read_as_v1),
                cmocka_unit_test(what_v1_does_not_show_is_lost_when_written_through_it),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
