/* The power fails at the worst moment: what a member agent must have on its disk by then, and what must be
 * off it. */
#include <sqlite3.h>

#include "member-agent/disk_test.h"
#include "member-agent/moves_test.h"
#include "member-agent/object_set_test.h"

/* The first such request is the last that leaves, and nothing reaches the disk from then on. */
struct outage {
        struct sim_disk *disk;
        const char *cluster, *method, *path; /* NULL: not yet */
        bool dark;
};

static int fail_power(void *ctx, const struct http_request *rq)
{
        struct outage *o = ctx;

        if (o->dark)
                return ERR_RETRY;
        o->dark = o->path && text_equal(rq->endpoint->base_url, o->cluster) &&
                  text_equal(rq->method, o->method) && text_starts_with(rq->path, o->path);
        if (o->dark)
                sim_disk_set_halted(o->disk, true);
        return 0;
}

static void begin_on_disk(struct agent *a, struct rig *r, struct outage *o, struct loopback_faults *faults)
{
        *o = (struct outage){ .disk = sim_disk_new(r->loop) };
        *faults = (struct loopback_faults){ .ctx = o, .fate = fail_power };
        assert_non_null(o->disk);
        prepare_clusters(r);
        invite(r);
        start_on(a, r, o->disk);
        meet(a, faults);
}

static void lose_power(struct agent *a, struct outage *o)
{
        sim_disk_set_halted(o->disk, true);
        stop(a);
        sim_disk_set_halted(o->disk, false);
        sim_disk_lose_unsynced(o->disk);
}

static void assert_count(const struct outage *o, const char *table, int expected)
{
        char sql[80];
        sqlite3_stmt *st = NULL;
        sqlite3 *db = NULL;

        snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
        assert_int_equal(
                sqlite3_open_v2(sim_disk_uri(o->disk), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL),
                SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(st), SQLITE_ROW);
        if (sqlite3_column_int(st, 0) != expected)
                fail_msg("%s holds %d rows, not %d", table, sqlite3_column_int(st, 0), expected);
        sqlite3_finalize(st);
        sqlite3_close(db);
}

/* What the server got of us is known to be ours. */
static void applied_body(struct rig *r)
{
        struct loopback_faults faults;
        struct outage o;
        struct agent a;

        begin_on_disk(&a, r, &o, &faults);
        o.cluster = MEMBER;
        o.method = "POST";
        o.path = NS "/default/configmaps";
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        lose_power(&a, &o);
        assert_count(&o, "inventory", 1);
        sim_disk_free(o.disk);
}

static void an_object_is_never_on_the_cluster_and_not_in_the_inventory(void **state)
{
        rig_run(applied_body);
}

/* The hub says of a Work only once that it is gone. */
static void removed_body(struct rig *r)
{
        struct loopback_faults faults;
        struct outage o;
        struct agent a;

        begin_on_disk(&a, r, &o, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        delete (r, HUB, WORKS "/w");
        o.cluster = HUB;
        o.method = "PATCH";
        o.path = WORKS "/w?";
        wait_until_gone(r, HUB, WORKS "/w");
        lose_power(&a, &o);
        assert_count(&o, "works", 0);
        assert_count(&o, "wants", 0);
        assert_count(&o, "inventory", 0);
        sim_disk_free(o.disk);
}

static void a_work_that_the_hub_has_let_go_is_off_the_disk(void **state)
{
        rig_run(removed_body);
}

#define SEALED_MAP /* a ConfigMap of no data, in base64 */                                                   \
        "eyJhcGlWZXJzaW9uIjoidjEiLCJraW5kIjoiQ29uZmlnTWFwIiwibWV0YWRh"                                       \
        "dGEiOnsibmFtZSI6ImMiLCJuYW1lc3BhY2UiOiJkZWZhdWx0In19"

/* spec/cluster-object-set.md 12.1: archiving needs no Secrets, also while nothing is in the inventory yet. */
static void digested_body(struct rig *r)
{
        struct loopback_faults faults;
        struct outage o;
        struct agent a;

        begin_on_disk(&a, r, &o, &faults);
        o.cluster = MEMBER;
        o.method = "PATCH";
        o.path = SETS "/app-1/status";
        post(r, MEMBER, SECRETS,
             "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},'immutable':true,'data':{'k':"
             "'" SEALED_MAP "'}}");
        post(r, MEMBER, SETS, SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", REF("s", "k"))));
        settle(r, 5000);
        get(r, MEMBER, SETS "/app-1");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.observedPhases")), 1);
        lose_power(&a, &o);
        delete (r, MEMBER, SECRETS "/s");
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        start_on(&a, r, o.disk);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        stop(&a);
        sim_disk_free(o.disk);
}

static void what_is_noted_of_a_secret_outlives_it(void **state)
{
        rig_run(digested_body);
}

static void run_sql(const struct outage *o, const char *sql)
{
        sqlite3 *db = NULL;

        assert_int_equal(
                sqlite3_open_v2(sim_disk_uri(o->disk), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL),
                SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
}

/* spec/member-agent.md 2.4: nothing of a Work is applied before everything of it is recorded, whichever of
 * its rows it is that cannot be written. */
static void unrecorded_body(struct rig *r)
{
        struct loopback_faults faults;
        struct outage o;
        struct agent a;

        begin_on_disk(&a, r, &o, &faults);
        place(r, "w", "", CONFIG_MAP("before", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
        run_sql(&o, "CREATE TRIGGER refuse BEFORE INSERT ON inventory WHEN NEW.name = 'first' "
                    "BEGIN SELECT RAISE(ABORT, 'refused'); END");
        start(&a, r, sim_disk_uri(o.disk));
        replace_manifests(
                r, "w", CONFIG_MAP("before", "1") "," CONFIG_MAP("first", "1") "," CONFIG_MAP("second", "1"));
        assert_int_equal(fiber_sleep(r->loop, 30000), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("first")), 404);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("second")), 404);
        stop(&a);
        assert_count(&o, "inventory", 1);
        run_sql(&o, "DROP TRIGGER refuse");
        start(&a, r, sim_disk_uri(o.disk));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("first"), "data.k", "1");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("second"), "data.k", "1");
        stop(&a);
        sim_disk_free(o.disk);
}

static void nothing_is_applied_while_one_of_its_rows_cannot_be_written(void **state)
{
        rig_run(unrecorded_body);
}

/* What the API server refuses to delete. */
static int refuse_deletion(void *ctx, const struct http_request *rq)
{
        const bool *refuse = ctx;

        return *refuse && text_equal(rq->method, "DELETE") && strstr(rq->path, "/configmaps/") ? 503 : 0;
}

/* A Work's change takes an object away, the object cannot be removed yet, and the state file is lost. */
static void lost_body(struct rig *r)
{
        bool refuse = true;
        struct loopback_faults faults = { .ctx = &refuse, .fate = refuse_deletion };
        struct agent a;

        prepare_clusters(r);
        invite(r);
        start(&a, r, ":memory:");
        meet(&a, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        replace_manifests(r, "w", CONFIG_MAP("d", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("d"), "data.k", "2");
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        stop(&a);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        start(&a, r, ":memory:");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        stop(&a);
}

static void what_left_a_work_is_removed_though_the_state_file_was_lost(void **state)
{
        rig_run(lost_body);
}

/* The first that the agent would write on the full disk is what the watch tells of an object. */
static void full_body(struct rig *r)
{
        struct loopback_faults faults;
        struct outage o;
        struct agent a;

        begin_on_disk(&a, r, &o, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        sim_disk_set_full(o.disk, true);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'edited'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        delete (r, MEMBER, CONFIG_MAP_PATH("d"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("d"), "data.k", "1");
        stop(&a);
        sim_disk_free(o.disk);
}

static void what_happens_at_the_moment_the_disk_is_full_is_noticed(void **state)
{
        rig_run(full_body);
}

/* The disk is full, so what the agent remembers is in memory alone; it makes an object, and the power fails
 * at once. The AppliedWork told of it before. */
RIG_TEST(what_is_made_on_a_full_disk_is_known_after_an_outage, {
        struct loopback_faults faults;
        struct outage o;
        struct agent a;

        begin_on_disk(&a, r, &o, &faults);
        place(r, "w", "", CONFIG_MAP("a", "1"));
        wait_until_applied(r, "w", 1);
        sim_disk_set_full(o.disk, true);
        merge(r, HUB, WORKS "/w",
              "{'spec':{'workload':{'manifests':[" CONFIG_MAP("a", "2") "]}}}"); /* which it notices */
        wait_until_applied(r, "w", 2);
        o.cluster = a.member.base_url;
        o.method = "POST";
        o.path = "/api/v1/namespaces/default/configmaps";
        merge(r, HUB, WORKS "/w",
              "{'spec':{'workload':{'manifests':[" CONFIG_MAP("a", "2") "," CONFIG_MAP("c", "1") "]}}}");
        for (int i = 0; i < 6000 && !o.dark; i++)
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
        assert_true(o.dark);
        assert_int_equal(fiber_sleep(r->loop, 100), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        lose_power(&a, &o);
        sim_disk_set_full(o.disk, false);
        merge(r, HUB, WORKS "/w", "{'spec':{'workload':{'manifests':[" CONFIG_MAP("a", "2") "]}}}");
        start_on(&a, r, o.disk);
        wait_until_applied(r, "w", 4);
        assert_int_equal(fiber_sleep(r->loop, 20000), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        stop(&a);
        sim_disk_free(o.disk);
})

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_made_on_a_full_disk_is_known_after_an_outage),
                cmocka_unit_test(an_object_is_never_on_the_cluster_and_not_in_the_inventory),
                cmocka_unit_test(a_work_that_the_hub_has_let_go_is_off_the_disk),
                cmocka_unit_test(what_is_noted_of_a_secret_outlives_it),
                cmocka_unit_test(nothing_is_applied_while_one_of_its_rows_cannot_be_written),
                cmocka_unit_test(what_happens_at_the_moment_the_disk_is_full_is_noticed),
                cmocka_unit_test(what_left_a_work_is_removed_though_the_state_file_was_lost),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
