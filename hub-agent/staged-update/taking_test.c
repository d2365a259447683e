/* Runs that take a snapshot of what is selected, while their placement goes or makes another one. */
#include "hub-agent/staged-update/update_run_agent_test.h"

#define READING_MS 5000

struct wire {
        struct loopback_faults faults;
        int made, deleted; /* resource snapshots */
};

static int64_t read_slowly(void *ctx, const struct http_request *rq, bool answer)
{
        bool slow = strstr(rq->path, "configmaps/settings") || strstr(rq->path, "updatestrategies/slow");

        return slow && !answer ? READING_MS : 0;
}

static int count_writes(void *ctx, const struct http_request *rq)
{
        struct wire *w = ctx;
        bool snapshots = strstr(rq->path, "clusterresourcesnapshots");

        w->made += snapshots && text_equal(rq->method, "POST");
        w->deleted += snapshots && text_equal(rq->method, "DELETE");
        return 0;
}

/* The first run reads what is selected when the placement goes, and makes a snapshot of it then; the second
 * comes to its turn after that. */
static void goes_meanwhile(struct rig *r)
{
        struct wire w = { .faults = { .ctx = &w, .delay = read_slowly, .fate = count_writes } };
        struct fleet f;

        start(r, &f);
        stop(&f);
        f.no_external_snapshots = true;
        f.world.transport = loopback_transport(r->net, &f.world, &w.faults);
        start_again(r, &f);
        add_member(&f, "member-1", "\"stage\":\"canary\"");
        add_app(r);
        place(r, ",\"strategy\":{\"type\":\"External\"}");
        fiber_sleep(r->loop, 2 * READING_MS);
        assert_int_equal(w.made, 0);
        post_strategy(r, STAGE("canary", ""));
        post_run(r, "first", "", "");
        fiber_sleep(r->loop, READING_MS - 1000);
        post_run(r, "second", "", "");
        fiber_sleep(r->loop, READING_MS - 1000);
        assert_int_equal(rig_delete(r, FLEET "clusterresourceplacements/web"), 200);
        fiber_sleep(r->loop, 6 * READING_MS);
        assert_int_equal(w.made, 1);
        assert_true(w.deleted >= 1); /* again, where the cache had not heard of the first */
        assert_int_equal(rig_get(r, FLEET "clusterresourceplacements/web"), 404);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 0);
        assert_run(r, "second", "Initialized", "False UpdateRunInitializedFailed");
        stop(&f);
        http_transport_free(f.world.transport);
}
static void no_run_takes_a_snapshot_of_a_placement_that_goes(void **state)
{
        rig_run(goes_meanwhile);
}

/* ---- what is taken stays ---- */

#define LAST_ALONE ",\"revisionHistoryLimit\":1"

static int64_t delay_part(void *ctx, const struct http_request *rq, bool answer)
{
        return !answer && strstr(rq->path, ctx) ? READING_MS : 0;
}

/* A placement that keeps one snapshot, and a run of it that is about to begin; requests for `slow` take their
 * time. The transport is the caller's to free. */
static void begin_slowly(struct rig *r, struct fleet *f, struct loopback_faults *faults)
{
        begin_with(r, f, LAST_ALONE);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        stop(f);
        f->world.transport = loopback_transport(r->net, &f->world, faults);
        start_again(r, f);
        rig_settle(r);
}

static void assert_kept(struct rig *r, const char *index, bool kept)
{
        char path[128];

        snprintf(path, sizeof(path), FLEET "clusterresourcesnapshots/web-%s-snapshot", index);
        assert_int_equal(rig_get(r, path), kept ? 200 : 404);
}

/* What it took is not written down when the next snapshot is made. */
static void is_written_late(struct rig *r)
{
        struct loopback_faults faults = { .ctx = (void *)"updateruns/first/status", .delay = delay_part };
        struct fleet f;

        begin_slowly(r, &f, &faults);
        post_run(r, "first", "", "");
        rig_settle(r);
        assert_run(r, "first", "Initialized", "absent");
        change_app(r, "c");
        assert_kept(r, "1", true);
        settle_often(&f, 8);
        fiber_sleep(r->loop, 6 * READING_MS);
        settle_often(&f, 8);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_string_equal(doc_get_string(r->answer, "status.resourceSnapshotIndexUsed"), "0");
        assert_kept(r, "0", true); /* it is on the clusters */
        stop(&f);
        http_transport_free(f.world.transport);
}
static void what_a_run_took_stays_until_it_has_said_so(void **state)
{
        rig_run(is_written_late);
}

/* Until it has begun nobody can tell which snapshot it will take. */
static void takes_the_newest(struct rig *r)
{
        struct loopback_faults faults = { .ctx = (void *)"updatestrategies/slow", .delay = delay_part };
        struct fleet f;

        begin_slowly(r, &f, &faults);
        post_run(r, "first", "", ",\"state\":\"Initialize\"");
        rig_settle(r);
        change_app(r, "c");
        assert_kept(r, "0", true);
        assert_kept(r, "1", true);
        fiber_sleep(r->loop, 2 * READING_MS);
        assert_run(r, "first", "Initialized", "True UpdateRunInitializedSuccessfully");
        assert_string_equal(doc_get_string(r->answer, "status.resourceSnapshotIndexUsed"), "1");
        assert_kept(r, "0", false);
        assert_kept(r, "1", true);
        stop(&f);
        http_transport_free(f.world.transport);
}
static void what_is_too_much_goes_when_the_run_has_begun(void **state)
{
        rig_run(takes_the_newest);
}

static void fails_to_begin(struct rig *r)
{
        struct loopback_faults faults = { .ctx = (void *)"updatestrategies/other", .delay = delay_part };
        struct fleet f;

        begin_slowly(r, &f, &faults);
        post(r, RUNS, "ClusterStagedUpdateRun", "first",
             "\"placementName\":\"web\",\"stagedRolloutStrategyName\":\"other\"");
        rig_settle(r);
        change_app(r, "c");
        assert_kept(r, "0", true);
        fiber_sleep(r->loop, 2 * READING_MS);
        assert_run(r, "first", "Initialized", "False UpdateRunInitializedFailed");
        assert_kept(r, "0", false);
        stop(&f);
        http_transport_free(f.world.transport);
}
static void what_is_too_much_goes_when_the_run_cannot_begin(void **state)
{
        rig_run(fails_to_begin);
}

/* The run comes while what is selected is read for the next snapshot. */
static void comes_meanwhile(struct rig *r)
{
        struct loopback_faults faults = { .ctx = (void *)"configmaps/settings", .delay = delay_part };
        struct fleet f;

        begin_slowly(r, &f, &faults);
        fiber_sleep(r->loop, 2 * READING_MS);
        change_app(r, "c");
        post_run(r, "first", "0", ",\"state\":\"Initialize\"");
        rig_settle(r);
        assert_run(r, "first", "Initialized", "True UpdateRunInitializedSuccessfully");
        assert_kept(r, "1", false); /* not made yet */
        fiber_sleep(r->loop, 2 * READING_MS);
        assert_kept(r, "1", true);
        assert_kept(r, "0", true);
        stop(&f);
        http_transport_free(f.world.transport);
}
static void what_a_run_names_stays_though_it_came_while_the_next_was_made(void **state)
{
        rig_run(comes_meanwhile);
}

/* Runs alone make snapshots, and the one that does it needs none but the newest. */
static void tidies_up(struct rig *r)
{
        struct fleet f;

        begin_with(r, &f, LAST_ALONE);
        stop(&f);
        f.no_external_snapshots = true;
        start_again(r, &f);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        change_app(r, "c");
        assert_kept(r, "1", false);
        post_run(r, "first", "", ",\"state\":\"Initialize\"");
        rig_settle(r);
        assert_kept(r, "0", false);
        assert_kept(r, "1", true);
        stop(&f);
}
static void a_run_that_takes_a_snapshot_holds_none_before_it(void **state)
{
        rig_run(tidies_up);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_a_run_took_stays_until_it_has_said_so),
                cmocka_unit_test(what_is_too_much_goes_when_the_run_has_begun),
                cmocka_unit_test(what_is_too_much_goes_when_the_run_cannot_begin),
                cmocka_unit_test(what_a_run_names_stays_though_it_came_while_the_next_was_made),
                cmocka_unit_test(a_run_that_takes_a_snapshot_holds_none_before_it),
                cmocka_unit_test(no_run_takes_a_snapshot_of_a_placement_that_goes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
