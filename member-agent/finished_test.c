/* A Job that its cluster deletes when it has finished does not run again for that. */
#include "member-agent/member_agent_test.h"

#define JOB(more, image)                                                                                     \
        "{'apiVersion':'batch/"                                                                              \
        "v1','kind':'Job','metadata':{'name':'sums','namespace':'default'},'spec':{" more                    \
        "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'" image "'}]}}}}"
#define GOES "'ttlSecondsAfterFinished':60,"
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_job_that_goes_when_it_has_finished_is_not_made_again),
                cmocka_unit_test(one_that_stays_when_it_has_finished_is),
                cmocka_unit_test(a_look_at_it_that_fails_does_not_have_it_run_again),
                cmocka_unit_test(it_is_told_as_missing_where_differences_are_only_reported),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
