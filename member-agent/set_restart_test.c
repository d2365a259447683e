/* What sets cost a restarted agent, and that they need no hub: spec/cluster-object-set.md 2, 3, 12.1. */
#include <sqlite3.h>

#include "member-agent/disk_test.h"
#include "member-agent/object_set_test.h"

#define TWO                                                                                                  \
        SET("app-1", OWNED_BY("app"), "1", "",                                                               \
            PHASE("one", INLINE(CONFIG_MAP("a", "1"))) "," PHASE("two", INLINE(CONFIG_MAP("b", "1"))))

/* Of what sets and their objects are asked and written; lists and watches are not. */
static uint64_t what_sets_cost(struct rig *r)
{
        static const char *const verbs[] = { "get", "create", "patch", "delete" }, *const resources[] = {
                "configmaps", "clusterobjectsets", "clusterobjectsets/status"
        };
        uint64_t sum = 0;

        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
                for (size_t k = 0; k < ARRAY_LEN(resources); k++)
                        sum += requests(r, "m1", verbs[i], resources[k]);
        return sum;
}

static void restart(struct agent *a, struct rig *r, struct sim_disk *d)
{
        stop(a);
        start_on(a, r, d);
}

/* spec/cluster-object-set.md checklist 17, 78 */
RIG_TEST(a_restart_costs_sets_nothing, {
        struct sim_disk *d = sim_disk_new(r->loop);
        struct agent a;
        uint64_t before;

        prepare_clusters(r);
        start_on(&a, r, d);
        post(r, MEMBER, SETS, TWO);
        post(r, MEMBER, SETS,
             SET("old", OWNED_BY("old"), "1", "", PHASE("one", INLINE(CONFIG_MAP("c", "1")))));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        wait_for_set(r, "old", "Succeeded", "True/Succeeded");
        merge(r, MEMBER, SETS "/old", ARCHIVED);
        wait_for_set(r, "old", "Progressing", "False/Archived");
        settle(r, 10000);
        before = what_sets_cost(r);
        restart(&a, r, d);
        settle(r, 60000);
        assert_int_equal(what_sets_cost(r), before);
        delete (r, MEMBER, CONFIG_MAP_PATH("b"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("b"), "data.k", "1");
        stop(&a);
        sim_disk_free(d);
})

/* What changed while nobody was there is found by the watches. */
RIG_TEST(what_was_changed_meanwhile_is_put_right_after_a_restart, {
        struct sim_disk *d = sim_disk_new(r->loop);
        struct agent a;

        prepare_clusters(r);
        start_on(&a, r, d);
        post(r, MEMBER, SETS, TWO);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        settle(r, 10000);
        stop(&a);
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'k':'theirs'}}");
        delete (r, MEMBER, CONFIG_MAP_PATH("b"));
        start_on(&a, r, d);
        wait_for(r, MEMBER, CONFIG_MAP_PATH("a"), "data.k", "1");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("b"), "data.k", "1");
        stop(&a);
        sim_disk_free(d);
})

/* The inventory is gone with the state file; what the manifests name and is ours goes all the same. */
RIG_TEST(a_set_is_archived_without_the_state_file, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, TWO);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        stop(&a);
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        start(&a, r, ":memory:");
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 404);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("b")), 404);
        stop(&a);
})

static int rows_of(const struct sim_disk *d, const char *table)
{
        sqlite3 *db = sim_disk_read(d);
        AUTO_FREE char *sql = mem_printf("SELECT count(*) FROM %s", table);
        sqlite3_stmt *count;
        int n;

        assert_non_null(db);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &count, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(count), SQLITE_ROW);
        n = sqlite3_column_int(count, 0);
        sqlite3_finalize(count);
        sqlite3_close(db);
        return n;
}

static int rows_in(const struct sim_disk *d)
{
        return rows_of(d, "inventory");
}

/* What is not yet on the disk when the power fails: that the objects are gone. */
static void bring_back_a_row(const struct sim_disk *d, const char *set)
{
        char sql[512];
        sqlite3 *db;

        snprintf(sql, sizeof(sql),
                 "INSERT INTO inventory (work, grp, kind, ns, name, version, plural, namespaced, uid, "
                 "ordinal, "
                 "state, work_generation, hash, strategy, handled, seen, live_generation, result, "
                 "availability, "
                 "first_drift, first_diff, checked) VALUES ('clusterobjectset/%s', '', 'ConfigMap', "
                 "'default', "
                 "'a', 'v1', 'configmaps', 1, 'u', 0, 1, 1, '', 0, '', '', 1, 0, 0, -1, -1, 0)",
                 set);
        assert_int_equal(sqlite3_open_v2(sim_disk_uri(d), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
}

/* Nothing of an archived set tells of them again. */
RIG_TEST(rows_that_an_archived_set_still_has_go_at_the_start, {
        struct sim_disk *d = sim_disk_new(r->loop);
        struct agent a;

        prepare_clusters(r);
        start_on(&a, r, d);
        post(r, MEMBER, SETS, TWO);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        settle(r, 10000);
        stop(&a);
        assert_int_equal(rows_in(d), 0);
        bring_back_a_row(d, "app-1");
        assert_int_equal(rows_in(d), 1);
        start_on(&a, r, d);
        settle(r, 60000);
        assert_int_equal(rows_in(d), 0);
        stop(&a);
        sim_disk_free(d);
})

/* So that it gets no finalizer. */
static int refuse_set(void *ctx, const struct http_request *rq)
{
        return text_equal(rq->method, "PATCH") && strstr(rq->path, "/clusterobjectsets/app-1?") ? 403 : 0;
}

/* It had no object yet, but what its Secret holds was read. */
RIG_TEST(of_a_set_that_is_archived_before_it_has_begun_no_secret_is_kept, {
        struct loopback_faults faults = { .fate = refuse_set };
        struct sim_disk *d = sim_disk_new(r->loop);
        struct agent a;

        prepare_clusters(r);
        start_on(&a, r, d);
        meet(&a, &faults);
        post(r, MEMBER, SECRETS,
             "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},'immutable':true,'data':{'k':'"
             "eyJhcGlWZXJzaW9uIjoidjEiLCJraW5kIjoiQ29uZmlnTWFwIiwibWV0YWRhdGEiOnsibmFtZSI6ImEi"
             "LCJuYW1lc3BhY2UiOiJkZWZhdWx0In19'}}"); /* ConfigMap "a" */
        post(r, MEMBER, SETS, SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", REF("s", "k"))));
        settle(r, 12000); /* the next attempt is far */
        assert_int_equal(rows_of(d, "works"), 1);
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        settle(r, 1000);
        stop(&a);
        assert_int_equal(rows_of(d, "works"), 0);
        sim_disk_free(d);
})

/* It only collided, so nothing of it is on the cluster, and its rows are all that tells of it. */
RIG_TEST(rows_of_a_set_that_went_while_the_agent_was_away_go_at_the_start, {
        struct sim_disk *d = sim_disk_new(r->loop);
        struct agent a;

        prepare_clusters(r);
        post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("a", "theirs"));
        start_on(&a, r, d);
        post(r, MEMBER, SETS,
             SET("gone", OWNED_BY("app"), "1", "", PHASE("one", INLINE(CONFIG_MAP("a", "1")))));
        wait_for_set(r, "gone", "Progressing", "True/Retrying");
        stop(&a);
        assert_int_equal(rows_in(d), 1);
        merge(r, MEMBER, SETS "/gone", "{'metadata':{'finalizers':[]}}");
        delete (r, MEMBER, SETS "/gone");
        wait_until_gone(r, MEMBER, SETS "/gone");
        start_on(&a, r, d);
        settle(r, 60000);
        assert_int_equal(rows_in(d), 0);
        stop(&a);
        sim_disk_free(d);
})

/* spec/cluster-object-set.md checklist 99 */
RIG_TEST(sets_work_without_a_hub, {
        struct agent a;

        prepare_clusters(r);
        start(&a, r, ":memory:");
        a.hub.base_url = (char *)(uintptr_t) "https://gone/clusters/hub";
        post(r, MEMBER, SETS, TWO);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'k':'theirs'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("a"), "data.k", "1");
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        stop(&a);
})

/* The kind may come long after the agent. */
RIG_TEST(the_kind_is_found_when_it_comes, {
        struct agent a;

        prepare_clusters(r);
        delete (r, MEMBER, CRDS "/clusterobjectsets.olm.operatorframework.io");
        start(&a, r, ":memory:");
        settle(r, 300000);
        install_sets(r);
        post(r, MEMBER, SETS, TWO);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_restart_costs_sets_nothing),
                cmocka_unit_test(what_was_changed_meanwhile_is_put_right_after_a_restart),
                cmocka_unit_test(a_set_is_archived_without_the_state_file),
                cmocka_unit_test(rows_that_an_archived_set_still_has_go_at_the_start),
                cmocka_unit_test(of_a_set_that_is_archived_before_it_has_begun_no_secret_is_kept),
                cmocka_unit_test(rows_of_a_set_that_went_while_the_agent_was_away_go_at_the_start),
                cmocka_unit_test(sets_work_without_a_hub),
                cmocka_unit_test(the_kind_is_found_when_it_comes),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
