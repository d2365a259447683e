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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_job_that_goes_when_it_has_finished_is_not_made_again),
                cmocka_unit_test(one_that_stays_when_it_has_finished_is),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
