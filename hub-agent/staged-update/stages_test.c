/* Which cluster belongs to which stage, and what a strategy may say. */
#include "hub-agent/staged-update/update_run_test.h"

/* spec/staged-update-and-eviction.md checklist 15 */
static void no_selector_takes_none_and_an_empty_one_all(void **state)
{
        struct scene s;

        begin(&s, "{\"name\":\"none\"},{\"name\":\"all\",\"labelSelector\":{}}");
        add_cluster(&s, "b", "", "Scheduled");
        add_cluster(&s, "a", "\"x\":\"y\"", "Scheduled");
        step(&s);
        assert_string_equal(clusters_of(&s, 0), "");
        assert_true(stage(&s, 0)->clusters.set);
        assert_string_equal(clusters_of(&s, 1), "a b");
        ends(&s);
}

static void a_cluster_in_two_stages_ends_the_run(void **state)
{
        struct scene s;

        begin(&s, "{\"name\":\"a\",\"labelSelector\":{}}," STAGE("b", ""));
        add_cluster(&s, "c1", "\"stage\":\"b\"", "Scheduled");
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_USER "cluster `c1` appears in more than one stages");
        ends(&s);
}

static void clusters_in_no_stage_are_named_up_to_ten(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ""));
        for (int i = 11; i >= 0; i--) {
                char name[8];

                snprintf(name, sizeof(name), "c%02d", i);
                add_cluster(&s, name, "", "Scheduled");
        }
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_USER
                           "some clusters are not placed in any stage, total 12, showing up to 10: c00, c01, "
                           "c02, c03, c04, c05, c06, c07, c08, c09");
        ends(&s);
}

static void a_member_that_is_gone_is_left_to_the_scheduler_for_a_while(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.clusters[0] = NULL;
        step(&s);
        assert_non_null(strstr(s.plan.retry, "a1"));
        s.waited_ms = UPDATE_RUN_GRACE_MS;
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_USER
                           "some clusters are not placed in any stage, total 1, showing up to 10: a1");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 16 */
static void the_order_is_the_labels_as_a_number_and_then_the_names(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ",\"sortingLabelKey\":\"order\""));
        add_cluster(&s, "c1", "\"stage\":\"a\",\"order\":\"10\"", "Scheduled");
        add_cluster(&s, "c2", "\"stage\":\"a\",\"order\":\"9\"", "Scheduled");
        add_cluster(&s, "c3", "\"stage\":\"a\",\"order\":\"-1\"", "Scheduled");
        add_cluster(&s, "c0", "\"stage\":\"a\",\"order\":\"10\"", "Bound");
        step(&s);
        assert_string_equal(clusters_of(&s, 0), "c3 c2 c0 c1");
        ends(&s);
}

static void a_sorting_label_that_is_no_number_ends_the_run(void **state)
{
        static const struct {
                const char *label, *value;
        } rows[] = { { "", "" }, { ",\"order\":\"x1\"", "x1" }, { ",\"order\":\"1.5\"", "1.5" } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char labels[64], message[512];
                struct scene s;

                begin(&s, STAGE("a", ",\"sortingLabelKey\":\"order\""));
                snprintf(labels, sizeof(labels), "\"stage\":\"a\"%s", rows[i].label);
                add_cluster(&s, "c1", labels, "Scheduled");
                step(&s);
                snprintf(message, sizeof(message),
                         PREFIX_VALID PREFIX_USER
                         "the sorting label `order:%s` on cluster `c1` is not valid: strconv.Atoi: parsing "
                         "\"%s\": invalid syntax",
                         rows[i].value, rows[i].value);
                assert_init_failed(&s, message);
                ends(&s);
        }
}

/* spec/staged-update-and-eviction.md checklist 17 */
static void waits_are_positive_and_kept_in_one_form(void **state)
{
        static const struct {
                const char *given, *kept, *err;
        } rows[] = {
                { "1h", "1h0m0s", NULL },
                { "90s", "1m30s", NULL },
                { "1.5s", "1.5s", NULL },
                { "0s", NULL, "task 0 of type TimedWait has wait duration <= 0" },
                { "0", NULL, "task 0 of type TimedWait has wait duration <= 0" },
                { "1s", "1s", NULL },
                { "-1s", NULL, "task 0 of type TimedWait has wait duration <= 0" },
                { "1ns", NULL, "task 0 of type TimedWait has wait duration < 1s" },
                { "soon", NULL, "task 0 of type TimedWait has wait duration `soon`, which is no duration" },
                { "0.5s", NULL, "task 0 of type TimedWait has wait duration < 1s" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char more[128], message[512];
                struct scene s;

                snprintf(more, sizeof(more),
                         ",\"afterStageTasks\":[{\"type\":\"TimedWait\",\"waitTime\":\"%s\"}]",
                         rows[i].given);
                begin_usual(&s, more, "");
                step(&s);
                if (rows[i].kept) {
                        assert_string_equal(s.run->status->strategy_snapshot->stages.at[0]
                                                    .after_stage_tasks.at[0]
                                                    .wait_time,
                                            rows[i].kept);
                        assert_string_equal(run_says(&s, "Initialized"),
                                            "True UpdateRunInitializedSuccessfully");
                } else {
                        snprintf(message, sizeof(message),
                                 PREFIX_VALID PREFIX_USER "the after stage tasks are invalid, "
                                                          "updateStrategy: `/slow`, stage: a, err: %s",
                                 rows[i].err);
                        assert_init_failed(&s, message);
                }
                ends(&s);
        }
}

static void tasks_that_make_no_sense_end_the_run(void **state)
{
#define AFTER(tasks) ",\"afterStageTasks\":[" tasks "]"
#define BEFORE(tasks) ",\"beforeStageTasks\":[" tasks "]"
#define APPROVED "{\"type\":\"Approval\"}"
        static const struct {
                const char *more, *message;
        } rows[] = {
                { AFTER(APPROVED "," APPROVED), "the after stage tasks are invalid, updateStrategy: `/slow`, "
                                                "stage: a, err: afterStageTasks "
                                                "cannot have two tasks of the same type: Approval" },
                { AFTER("{\"type\":\"TimedWait\"}"),
                  "the after stage tasks are invalid, updateStrategy: `/slow`, stage: a, err: task 0 of type "
                  "TimedWait has wait duration set to nil" },
                { BEFORE(APPROVED "," APPROVED),
                  "the before stage tasks are invalid, updateStrategy: `/slow`, stage: a, err: "
                  "beforeStageTasks can have at most one task" },
                { BEFORE("{\"type\":\"TimedWait\",\"waitTime\":\"1h\"}"),
                  "the before stage tasks are invalid, updateStrategy: `/slow`, stage: a, err: task 0 of "
                  "type "
                  "TimedWait is not allowed in beforeStageTasks, allowed type: Approval" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin_usual(&s, rows[i].more, "");
                step(&s);
                assert_init_failed(&s,
                                   arena_printf(&s.arena, PREFIX_VALID PREFIX_USER "%s", rows[i].message));
                ends(&s);
        }
}

static void an_approval_loses_a_wait_time_that_an_old_version_let_pass(void **state)
{
        struct scene s;

        begin_usual(&s, AFTER("{\"type\":\"Approval\",\"waitTime\":\"1h\"}"), "");
        step(&s);
        assert_null(s.run->status->strategy_snapshot->stages.at[0].after_stage_tasks.at[0].wait_time);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        ends(&s);
        begin_usual(&s, BEFORE("{\"type\":\"Approval\",\"waitTime\":\"1h\"}"), "");
        step(&s);
        assert_null(s.run->status->strategy_snapshot->stages.at[0].before_stage_tasks.at[0].wait_time);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        ends(&s);
}

static void a_bad_timeout_a_bad_selector_and_a_name_given_twice_end_the_run(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxFailedClusters\":1,\"clusterTimeout\":\"0s\"", "");
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_USER
                           "clusterTimeout `0s` is not at least 1s, updateStrategy: `/slow`, stage: a");
        ends(&s);

        begin(&s, "{\"name\":\"a\",\"labelSelector\":{\"matchExpressions\":[{\"key\":\"x\",\"operator\":"
                  "\"Like\"}]}}");
        add_cluster(&s, "c1", "", "Scheduled");
        step(&s);
        assert_non_null(strstr(run_message(&s, "Initialized"),
                               PREFIX_USER "the stage label selector is invalid, updateStrategy: `/slow`, "
                                           "stage: a, err: "));
        ends(&s);
        begin(&s, STAGE("a", "") "," STAGE("b", "") "," STAGE("a", ""));
        add_cluster(&s, "c1", "\"stage\":\"b\"", "Scheduled");
        step(&s);
        assert_init_failed(&s,
                           PREFIX_VALID PREFIX_USER "two stages have the name `a`, updateStrategy: `/slow`");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 18 */
static void tasks_are_listed_in_order_and_name_their_requests(void **state)
{
        struct scene s;

        begin_usual(&s, BEFORE(APPROVED) AFTER("{\"type\":\"TimedWait\",\"waitTime\":\"1h\"}," APPROVED), "");
        step(&s);
        assert_string_equal(stage(&s, 0)->before_stage_task_status.at[0].approval_request_name,
                            "run-before-a");
        assert_string_equal(stage(&s, 0)->after_stage_task_status.at[0].type, "TimedWait");
        assert_null(stage(&s, 0)->after_stage_task_status.at[0].approval_request_name);
        assert_string_equal(stage(&s, 0)->after_stage_task_status.at[1].approval_request_name, "run-after-a");
        assert_int_equal(stage(&s, 1)->after_stage_task_status.n, 0);
        ends(&s);
}

/* Version v1alpha1 lets names pass that are too long for a label. */
static void a_run_with_approvals_has_a_name_that_fits_a_label(void **state)
{
        static const char name[] = "a23456789-123456789-123456789-123456789-123456789-123456789-1234";
        struct scene s;

        begin_usual(&s, "", APPROVAL("after"));
        s.run->object.meta.name = name;
        step(&s);
        assert_init_failed(&s, arena_printf(&s.arena,
                                            PREFIX_VALID PREFIX_USER
                                            "metadata.name: a run with approvals cannot have a name of more "
                                            "than 63 characters, and `%s` has 64",
                                            name));
        ends(&s);
        begin_usual(&s, "", "");
        s.run->object.meta.name = name;
        step(&s);
        assert_string_equal(written(&s), "a1");
        ends(&s);
}

static void no_stages_are_enough_for_no_cluster(void **state)
{
        struct scene s;

        begin(&s, "");
        add_cluster(&s, "c1", "", "Unscheduled");
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        drop_binding(&s, "c1");
        step(&s);
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

static void thirty_one_stages_and_a_thousand_clusters_in_one_are_fine(void **state)
{
        static struct scene s;
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        for (int i = 0; i < 31; i++)
                buf_printf(&b, "%s{\"name\":\"s%d\",\"maxConcurrency\":1000%s}", i ? "," : "", i,
                           i == 30 ? ",\"labelSelector\":{}" : "");
        begin(&s, b.data);
        for (int i = 0; i < 1000; i++) {
                char name[16];

                snprintf(name, sizeof(name), "c%03d", i);
                add_cluster(&s, name, "", "Scheduled");
        }
        for (int i = 0; i < 32; i++)
                step(&s);
        assert_string_equal(cluster_says(&s, "c999", "Started"), "True ClusterUpdatingStarted");
        for (int i = 0; i < 1000; i++)
                arrive(&s, stage(&s, 30)->clusters.at[i].cluster_name);
        for (int i = 0; i < 3; i++)
                step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

static void the_time_that_a_cluster_has_is_at_least_a_second(void **state)
{
        static const struct {
                const char *given;
                bool refused;
        } rows[] = { { "1s", false }, { "90s", false }, { "999ms", true }, { "0s", true }, { "soon", true } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char more[128];
                struct scene s;

                snprintf(more, sizeof(more), ",\"maxFailedClusters\":1,\"clusterTimeout\":\"%s\"",
                         rows[i].given);
                begin_usual(&s, more, "");
                step(&s);
                assert_string_equal(run_says(&s, "Initialized"),
                                    rows[i].refused ? "False UpdateRunInitializedFailed"
                                                    : "True UpdateRunInitializedSuccessfully");
                ends(&s);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(no_selector_takes_none_and_an_empty_one_all),
                cmocka_unit_test(a_cluster_in_two_stages_ends_the_run),
                cmocka_unit_test(clusters_in_no_stage_are_named_up_to_ten),
                cmocka_unit_test(a_member_that_is_gone_is_left_to_the_scheduler_for_a_while),
                cmocka_unit_test(the_order_is_the_labels_as_a_number_and_then_the_names),
                cmocka_unit_test(a_sorting_label_that_is_no_number_ends_the_run),
                cmocka_unit_test(waits_are_positive_and_kept_in_one_form),
                cmocka_unit_test(tasks_that_make_no_sense_end_the_run),
                cmocka_unit_test(an_approval_loses_a_wait_time_that_an_old_version_let_pass),
                cmocka_unit_test(a_bad_timeout_a_bad_selector_and_a_name_given_twice_end_the_run),
                cmocka_unit_test(tasks_are_listed_in_order_and_name_their_requests),
                cmocka_unit_test(a_run_with_approvals_has_a_name_that_fits_a_label),
                cmocka_unit_test(no_stages_are_enough_for_no_cluster),
                cmocka_unit_test(thirty_one_stages_and_a_thousand_clusters_in_one_are_fine),
                cmocka_unit_test(the_time_that_a_cluster_has_is_at_least_a_second),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
