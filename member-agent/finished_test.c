/* A Job that its cluster deletes when it has finished does not run again for that. */
#include <sqlite3.h>

#include "member-agent/disk_test.h"
#include "member-agent/moves_test.h"

#define JOB(more, image)                                                                                     \
        "{'apiVersion':'batch/"                                                                              \
        "v1','kind':'Job','metadata':{'name':'sums','namespace':'default'},'spec':{" more                    \
        "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'" image "'}]}}}}"
#define GOES "'ttlSecondsAfterFinished':60,"
#define WAITS "'suspend':true," GOES /* it does not finish by itself */
#define JOB_PATH "/apis/batch/v1/namespaces/default/jobs/sums"

/* As the cluster does, a minute after the Job has finished. */
static void take_away(struct rig *r)
{
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        delete (r, MEMBER, JOB_PATH "?propagationPolicy=Background");
        assert_int_equal(fiber_sleep(r->loop, 20 * 60 * 1000), 0);
}

RIG_TEST(a_job_that_goes_when_it_has_finished_is_not_made_again, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", JOB(GOES, "one") "," CONFIG_MAP("c", "1"));
        take_away(r);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 404);
        assert_int_equal(requests(r, "m1", "create", "jobs"), 1);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        replace_manifests(r, "w", JOB(GOES, "two") "," CONFIG_MAP("c", "1"));
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 200);
        assert_int_equal(requests(r, "m1", "create", "jobs"), 2);
        stop(&a);
})

RIG_TEST(one_that_stays_when_it_has_finished_is, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", JOB("", "one"));
        take_away(r);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 200);
        stop(&a);
})

/* Requests for the Job meet this. */
static int refuse_looks(void *ctx, const struct http_request *rq)
{
        return *(bool *)ctx && text_equal(rq->method, "GET") && text_equal(rq->path, JOB_PATH) ? 500 : 0;
}

RIG_TEST(a_look_at_it_that_fails_does_not_have_it_run_again, {
        bool refuses = false;
        const struct loopback_faults faults = { .ctx = &refuses, .fate = refuse_looks };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w", "", JOB(GOES, "one"));
        take_away(r);
        refuses = true;
        assert_int_equal(fiber_sleep(r->loop, 20 * 60 * 1000), 0);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        refuses = false;
        assert_int_equal(fiber_sleep(r->loop, 20 * 60 * 1000), 0);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        assert_int_equal(get(r, MEMBER, JOB_PATH), 404);
        stop(&a);
})

RIG_TEST(it_is_told_as_missing_where_differences_are_only_reported, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", JOB(GOES, "one"));
        take_away(r);
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'type':'ReportDiff'}}}");
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_string_equal(manifest_reason(r, "w", 0, "DiffReported"), "FoundDiff");
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'type':'ClientSideApply'}}}");
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        assert_int_equal(get(r, MEMBER, JOB_PATH), 404);
        stop(&a);
})

RIG_TEST(one_that_somebody_deletes_before_it_has_finished_is_made_again, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", JOB(WAITS, "one") "," CONFIG_MAP("c", "1"));
        take_away(r);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 200);
        assert_int_equal(requests(r, "m1", "create", "jobs"), 2);
        replace_manifests(r, "w", JOB("'suspend':false," GOES, "one") "," CONFIG_MAP("c", "1"));
        take_away(r);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 404);
        stop(&a);
})

static int64_t delay_answers(void *ctx, const struct http_request *rq, bool answer)
{
        bool ours = text_equal(rq->method, "PATCH") && text_starts_with(rq->path, JOB_PATH);

        return *(bool *)ctx && answer && ours ? SLOW_MS : 0;
}

RIG_TEST(so_is_one_that_goes_in_the_middle_of_a_pass, {
        bool slow = false;
        const struct loopback_faults faults = { .ctx = &slow, .delay = delay_answers };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w", "", JOB(WAITS, "one"));
        wait_until_applied(r, "w", 1);
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        slow = true; /* it has been read, and is compared */
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'whenToApply':'IfNotDrifted'}}}");
        assert_int_equal(fiber_sleep(r->loop, SLOW_MS / 2), 0);
        delete (r, MEMBER, JOB_PATH "?propagationPolicy=Background");
        slow = false;
        assert_int_equal(fiber_sleep(r->loop, 20 * 60 * 1000), 0);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 200);
        assert_int_equal(requests(r, "m1", "create", "jobs"), 2);
        stop(&a);
})

/* Between the last look and its end it may have finished. */
RIG_TEST(one_that_went_while_nobody_looked_counts_as_finished, {
        struct sim_disk *disk = sim_disk_new(r->loop);
        struct agent a;

        assert_non_null(disk);
        prepare_clusters(r);
        invite(r);
        start_on(&a, r, disk);
        place(r, "w", "", JOB(WAITS, "one"));
        wait_until_applied(r, "w", 1);
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        stop(&a);
        delete (r, MEMBER, JOB_PATH "?propagationPolicy=Background");
        start_on(&a, r, disk);
        assert_int_equal(fiber_sleep(r->loop, 20 * 60 * 1000), 0);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 404);
        stop(&a);
        sim_disk_free(disk);
})

RIG_TEST(a_lost_state_file_does_not_have_it_run_again, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", JOB(GOES, "one") "," A);
        take_away(r);
        stop(&a);
        start(&a, r, ":memory:"); /* its state was in memory */
        assert_int_equal(fiber_sleep(r->loop, 20 * 60 * 1000), 0);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 404);
        replace_manifests(r, "w", JOB(GOES, "one") "," B);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 404);
        replace_manifests(r, "w", JOB(GOES, "two") "," B);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 200);
        stop(&a);
})

RIG_TEST(one_whose_manifest_changed_meanwhile_does, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", JOB(GOES, "one"));
        take_away(r);
        stop(&a);
        replace_manifests(r, "w", JOB(GOES, "two"));
        start(&a, r, ":memory:");
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(requests(r, "m1", "create", "jobs"), 2);
        stop(&a);
})

/* ---- it moves between Works of one placement ---- */

static const struct part with_it = { "w", 1, 2, JOB(GOES, "one") "," A };
static const struct part other = { "w-1", 1, 2, C };
static const struct part without = { "w", 2, 2, A };
static const struct part heir = { "w-1", 2, 2, C "," JOB(GOES, "one") };

static void begin_and_finish(struct agent *a, struct rig *r)
{
        begin(a, r);
        make_part(r, "", &with_it);
        make_part(r, "", &other);
        wait_until_applied(r, "w", 1);
        take_away(r);
        assert_int_equal(get(r, MEMBER, JOB_PATH), 404);
}

static void end_unrepeated(struct agent *a, struct rig *r)
{
        assert_int_equal(fiber_sleep(r->loop, 20 * 60 * 1000), 0);
        wait_for(r, HUB, WORKS "/w-1", "type=Applied", "AllManifestsApplied");
        assert_int_equal(get(r, MEMBER, JOB_PATH), 404);
        assert_int_equal(requests(r, "m1", "create", "jobs"), 1);
        stop(a);
}

RIG_TEST(a_finished_job_that_leaves_its_work_first_does_not_run_again, {
        struct agent a;

        begin_and_finish(&a, r);
        change_part(r, &without);
        assert_int_equal(fiber_sleep(r->loop, 3000), 0);
        change_part(r, &heir);
        end_unrepeated(&a, r);
})

RIG_TEST(nor_one_whose_heir_is_first, {
        struct agent a;

        begin_and_finish(&a, r);
        change_part(r, &heir);
        assert_int_equal(fiber_sleep(r->loop, 3000), 0);
        change_part(r, &without);
        end_unrepeated(&a, r);
})

/* So that the giver is still looking when the heir begins. */
static int64_t delay_looks(void *ctx, const struct http_request *rq, bool answer)
{
        return !answer && text_equal(rq->method, "GET") && text_equal(rq->path, JOB_PATH) ? 2000 : 0;
}

RIG_TEST(nor_one_whose_heir_is_new, {
        static const struct part alone = { "w", 1, 1, JOB(GOES, "one") "," A };
        const struct loopback_faults faults = { .delay = delay_looks };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        make_part(r, "", &alone);
        wait_until_applied(r, "w", 1);
        take_away(r);
        change_part(r, &without);
        assert_int_equal(fiber_sleep(r->loop, 3000), 0);
        make_part(r, "", &heir);
        end_unrepeated(&a, r);
})

RIG_TEST(nor_one_whose_work_goes, {
        static const struct part remains = { "w-1", 2, 1, C "," JOB(GOES, "one") };
        struct agent a;

        begin_and_finish(&a, r);
        delete (r, HUB, WORKS "/w");
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        change_part(r, &remains);
        end_unrepeated(&a, r);
})

/* As a version that did not keep account of it left its state file. */
static void forget_ends(const struct sim_disk *disk)
{
        sqlite3 *db = NULL;

        assert_int_equal(
                sqlite3_open_v2(sim_disk_uri(disk), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL),
                SQLITE_OK);
        assert_int_equal(sqlite3_exec(db,
                                      "UPDATE meta SET value = '3' WHERE key = 'schema';"
                                      "ALTER TABLE inventory DROP COLUMN ended",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        sqlite3_close(db);
}

RIG_TEST(nor_one_that_had_gone_before_its_end_was_kept, {
        struct sim_disk *disk = sim_disk_new(r->loop);
        struct agent a;

        assert_non_null(disk);
        prepare_clusters(r);
        invite(r);
        start_on(&a, r, disk);
        make_part(r, "", &with_it);
        make_part(r, "", &other);
        wait_until_applied(r, "w", 1);
        take_away(r);
        stop(&a);
        forget_ends(disk);
        start_on(&a, r, disk);
        assert_int_equal(fiber_sleep(r->loop, 60 * 1000), 0);
        change_part(r, &without);
        assert_int_equal(fiber_sleep(r->loop, 3000), 0);
        change_part(r, &heir);
        end_unrepeated(&a, r);
        sim_disk_free(disk);
})

/* The same manifest of another placement is another wish. */
RIG_TEST(another_placements_job_of_the_name_runs, {
        struct agent a;

        begin_and_finish(&a, r);
        place(r, "other", "", JOB(GOES, "one"));
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        assert_int_equal(requests(r, "m1", "create", "jobs"), 2);
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_job_that_goes_when_it_has_finished_is_not_made_again),
                cmocka_unit_test(one_that_stays_when_it_has_finished_is),
                cmocka_unit_test(a_look_at_it_that_fails_does_not_have_it_run_again),
                cmocka_unit_test(it_is_told_as_missing_where_differences_are_only_reported),
                cmocka_unit_test(one_that_somebody_deletes_before_it_has_finished_is_made_again),
                cmocka_unit_test(so_is_one_that_goes_in_the_middle_of_a_pass),
                cmocka_unit_test(one_that_went_while_nobody_looked_counts_as_finished),
                cmocka_unit_test(a_lost_state_file_does_not_have_it_run_again),
                cmocka_unit_test(one_whose_manifest_changed_meanwhile_does),
                cmocka_unit_test(a_finished_job_that_leaves_its_work_first_does_not_run_again),
                cmocka_unit_test(nor_one_whose_heir_is_first),
                cmocka_unit_test(nor_one_whose_heir_is_new),
                cmocka_unit_test(nor_one_whose_work_goes),
                cmocka_unit_test(nor_one_that_had_gone_before_its_end_was_kept),
                cmocka_unit_test(another_placements_job_of_the_name_runs),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
