/* ResourceSets with steps, and Jobs that failed. */
#include "hub-agent/resource-set/resource_set_test.h"

/* A set that is ready once a ConfigMap of its name is there. */
#define GATE(name)                                                                                           \
        "{\"apiVersion\":\"fluxcd.controlplane.io/"                                                          \
        "v1\",\"kind\":\"ResourceSet\",\"metadata\":{\"name\":\"" name                                       \
        "\",\"namespace\":\"default\"},\"spec\":{\"dependsOn\":[{\"apiVersion\":\"v1\",\"kind\":"            \
        "\"ConfigMap\","                                                                                     \
        "\"name\":\"" name "\"}],\"resources\":[]}}"
#define STEP(name, objects) "{\"name\":\"" name "\",\"timeout\":\"30s\",\"resources\":[" objects "]}"

static void open_gate(struct rig *r, const char *name)
{
        AUTO_FREE char *body = mem_printf("{\"metadata\":{\"name\":\"%s\"}}", name);

        assert_int_equal(rig_post(r, MAPS("default"), body), 201);
}

/* spec/resource-set.md checklist 80 */
RIG_TEST(a_step_begins_when_the_one_before_is_ready_and_the_last_is_not_waited_for, {
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("") "\"steps\":[" STEP("base", GATE("a")) "," STEP("apps", GATE("b")) "]}}");
        fiber_sleep(r->loop, 10000);
        assert_ready(r, "Unknown", "Progressing", "Applying step 1/2 \"base\"");
        assert_string_equal(condition_of(r, "Reconciling"), "True");
        assert_true(was_told(r, "ApplySucceeded", "step \"base\": ResourceSet/default/a created"));
        assert_int_equal(rig_get(r, SETS "/b"), 404);
        fiber_sleep(r->loop, 30000);
        assert_true(was_told(r, "HealthCheckFailed",
                             "reconciliation failed: step \"base\" health check failed: timeout waiting for: "
                             "[ResourceSet/default/a status: 'InProgress']"));
        assert_int_equal(rig_get(r, SETS "/b"), 404);
        open_gate(r, "a");
        fiber_sleep(r->loop, 10000);
        rig_settle(r);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_int_equal(rig_get(r, SETS "/b"), 200);
        assert_true(was_told(r, "ApplySucceeded", "ResourceSet/default/b created"));
        assert_false(was_told(r, "ApplySucceeded", "step \"apps\""));
        merge(r, SET, "{\"spec\":{\"wait\":true}}");
        fiber_sleep(r->loop, 10000);
        assert_ready(r, "Unknown", "Progressing", "");
        open_gate(r, "b");
        fiber_sleep(r->loop, 10000);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        stop(&f);
})

RIG_TEST(an_edit_ends_the_wait_of_a_step_and_is_no_failure, {
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("") "\"steps\":[" STEP("base", GATE("a")) "," STEP("apps", GATE("b")) "]}}");
        fiber_sleep(r->loop, 5000);
        merge(r, SET, "{\"spec\":{\"steps\":[" STEP("apps", GATE("b")) "]}}");
        fiber_sleep(r->loop, 10000);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_true(was_told(r, "HealthCheckCanceled", "triggered by ResourceSet/default/tenants"));
        assert_false(was_told(r, "ReconciliationFailed", ""));
        stop(&f);
})

#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define JOB_OF(name, more)                                                                                   \
        "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"" name                       \
        "\",\"namespace\":\"default\"" more                                                                  \
        "},\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":\"Never\","                                   \
        "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}"
#define JOB(name, value)                                                                                     \
        JOB_OF(name, ",\"annotations\":{\"fluxcd.controlplane.io/recreateOnFailure\":\"" value "\"}")

static void end_job(struct rig *r, const char *name, const char *type)
{
        AUTO_FREE char *path = mem_printf(JOBS "/%s/status", name);
        AUTO_FREE char *body =
                mem_printf("{\"status\":{\"conditions\":[{\"type\":\"%s\",\"status\":\"True\"}]}}", type);

        merge(r, path, body);
}

static char *uid_of(struct rig *r, const char *name)
{
        AUTO_FREE char *path = mem_printf(JOBS "/%s", name);

        assert_int_equal(rig_get(r, path), 200);
        return mem_strdup(rig_string(r, "metadata.uid"));
}

/* spec/resource-set.md checklist 79 */
RIG_TEST(a_job_of_ours_that_failed_is_made_anew, {
        static const struct {
                const char *name;
                bool anew;
        } jobs[] = { { "failed", true }, { "complete", false }, { "foreign", false }, { "other", false } };
        char *before[ARRAY_LEN(jobs)];
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("") "\"resources\":[" JOB("failed", "enabled") "," JOB("complete", "enabled") "," JOB(
                          "other", "Enabled") "]}}");
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        rig_post(r, JOBS, JOB_OF("foreign", ""));
        end_job(r, "failed", "Failed");
        end_job(r, "complete", "Complete");
        end_job(r, "foreign", "Failed");
        end_job(r, "other", "Failed");
        for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
                before[i] = uid_of(r, jobs[i].name);
        merge_and_settle(
                r, SET,
                "{\"spec\":{\"resources\":[" JOB("failed", "enabled") "," JOB("complete", "enabled") "," JOB(
                        "other", "Enabled") "," JOB("foreign", "enabled") "]}}");
        fiber_sleep(r->loop, 10000);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_true(was_told(r, "ApplySucceeded", "Job/default/failed created"));
        for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
                AUTO_FREE char *now = uid_of(r, jobs[i].name);

                if (text_equal(now, before[i]) == jobs[i].anew)
                        fail_msg("%s", jobs[i].name);
                mem_free(before[i]);
        }
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_step_begins_when_the_one_before_is_ready_and_the_last_is_not_waited_for),
                cmocka_unit_test(an_edit_ends_the_wait_of_a_step_and_is_no_failure),
                cmocka_unit_test(a_job_of_ours_that_failed_is_made_anew),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
