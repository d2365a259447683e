/* Fields that a manifest leaves to its cluster (annotation ignore-differences), in every mode of a Work. */
#include "member-agent/moves_test.h"

#define RULE(paths) ",'annotations':{'kubernetes-fleet.io/ignore-differences':'" paths "'}"
#define SETTINGS(rule, k, l)                                                                                 \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'default'" rule            \
        "},'data':{'k':'" k "','l':'" l "'}}"
#define LEFT RULE("/data/k")
#define C_PATH CONFIG_MAP_PATH("c")
#define MINUTE 60000

static const char *const ways[] = {
        "",
        "'applyStrategy':{'type':'ServerSideApply'},",
        "'applyStrategy':{'type':'ServerSideApply','serverSideApplyConfig':{'force':true}},",
        "'applyStrategy':{'whenToApply':'IfNotDrifted'},",
        "'applyStrategy':{'whenToApply':'IfNotDrifted','comparisonOption':'FullComparison'},",
        "'applyStrategy':{'type':'ServerSideApply','whenToApply':'IfNotDrifted'},",
};

static void assert_data(struct rig *r, const char *k, const char *l)
{
        assert_int_equal(get(r, MEMBER, C_PATH), 200);
        assert_string_equal(rig_string(r, "data.k"), k);
        assert_string_equal(rig_string(r, "data.l"), l);
}

static void pass_time(struct rig *r, int64_t ms)
{
        assert_int_equal(fiber_sleep(r->loop, ms), 0);
}

static const char *reason(struct rig *r)
{
        return manifest_reason(r, "w", 0, "Applied");
}

static void left_to_the_member(struct rig *r)
{
        const char *strategy = r->ctx, *version;
        struct agent a;

        begin(&a, r);
        place(r, "w", strategy, SETTINGS(LEFT, "1", "1"));
        wait_until_applied(r, "w", 1);
        pass_time(r, MINUTE);
        assert_data(r, "1", "1"); /* it begins with it */
        merge(r, MEMBER, C_PATH, "{'data':{'k':'mine'}}");
        pass_time(r, MINUTE);
        assert_data(r, "mine", "1");
        assert_string_equal(reason(r), "Applied");
        replace_manifests(r, "w", SETTINGS(LEFT, "2", "2"));
        pass_time(r, MINUTE);
        assert_data(r, "mine", "2");
        assert_string_equal(reason(r), "Applied");
        merge(r, MEMBER, C_PATH, "{'data':{'k':null}}");
        pass_time(r, MINUTE);
        assert_data(r, "", "2");
        /* Nothing is written while nothing changes. */
        version = arena_strdup(&r->arena, rig_string(r, "metadata.resourceVersion"));
        pass_time(r, 40 * MINUTE);
        get(r, MEMBER, C_PATH);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        stop(&a);
}
static void what_is_left_to_the_member_is_not_set_back(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
                print_message("%s\n", ways[i]);
                rig_run_for(left_to_the_member, (void *)(uintptr_t)ways[i]);
        }
}

RIG_TEST(the_rest_is, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", SETTINGS(LEFT, "1", "1"));
        wait_until_applied(r, "w", 1);
        merge(r, MEMBER, C_PATH, "{'data':{'k':'mine','l':'mine'}}");
        pass_time(r, MINUTE);
        assert_data(r, "mine", "1");
        replace_manifests(r, "w", SETTINGS("", "1", "1")); /* and so is all once it is asked for */
        pass_time(r, MINUTE);
        assert_data(r, "1", "1");
        stop(&a);
})

RIG_TEST(only_the_rest_counts_as_drift, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "'applyStrategy':{'whenToApply':'IfNotDrifted'},", SETTINGS(LEFT, "1", "1"));
        wait_until_applied(r, "w", 1);
        merge(r, MEMBER, C_PATH, "{'data':{'k':'mine','l':'mine'}}");
        pass_time(r, MINUTE);
        assert_string_equal(reason(r), "FoundDrifts");
        assert_string_equal(doc_get_string(json_array_get(doc_get_array(manifest_status(r, "w", 0),
                                                                        "driftDetails.observedDrifts"),
                                                          0),
                                           "path"),
                            "/data/l");
        assert_int_equal(
                json_array_size(doc_get_array(manifest_status(r, "w", 0), "driftDetails.observedDrifts")), 1);
        stop(&a);
})

/* No pass has a reason to look at the object but the rule itself. */
RIG_TEST(a_rule_ends_a_drift_and_its_end_begins_it, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "'applyStrategy':{'whenToApply':'IfNotDrifted'},", SETTINGS("", "1", "1"));
        wait_until_applied(r, "w", 1);
        merge(r, MEMBER, C_PATH, "{'data':{'k':'mine'}}");
        pass_time(r, MINUTE);
        assert_string_equal(reason(r), "FoundDrifts");
        replace_manifests(r, "w", SETTINGS(LEFT, "1", "1"));
        pass_time(r, MINUTE);
        assert_string_equal(reason(r), "Applied");
        assert_data(r, "mine", "1");
        replace_manifests(r, "w", SETTINGS("", "1", "1"));
        pass_time(r, 5000);
        assert_string_equal(reason(r), "FoundDrifts");
        assert_data(r, "mine", "1");
        stop(&a);
})

RIG_TEST(it_is_no_difference_to_report, {
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, NS "/default/configmaps", SETTINGS("", "mine", "1"));
        place(r, "w", "'applyStrategy':{'type':'ReportDiff'},", SETTINGS("", "1", "1"));
        pass_time(r, MINUTE);
        assert_string_equal(manifest_reason(r, "w", 0, "DiffReported"), "FoundDiff");
        replace_manifests(r, "w", SETTINGS(LEFT, "1", "1"));
        pass_time(r, MINUTE);
        assert_string_equal(manifest_reason(r, "w", 0, "DiffReported"), "NoDiffFound");
        stop(&a);
})

RIG_TEST(nor_one_that_is_in_the_way_of_taking_over, {
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, NS "/default/configmaps", SETTINGS("", "mine", "1"));
        place(r, "w", "'applyStrategy':{'whenToTakeOver':'IfNoDiff'},", SETTINGS(LEFT, "1", "1"));
        pass_time(r, MINUTE);
        assert_string_equal(reason(r), "Applied");
        assert_data(r, "mine", "1");
        stop(&a);
})

/* An HPA scales: the agent reads, the HPA writes, and the agent's apply must not undo that. */
static int64_t delay_applies(void *ctx, const struct http_request *rq, bool answer)
{
        bool apply = text_starts_with(rq->path, C_PATH "?") && strstr(rq->path, "force=true");

        return *(bool *)ctx && !answer && apply ? 2 * SLOW_MS : 0;
}

RIG_TEST(what_the_member_says_while_an_apply_is_on_its_way_stays, {
        bool slow = false;
        const struct loopback_faults faults = { .ctx = &slow, .delay = delay_applies };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w", ways[2], SETTINGS(LEFT, "1", "1"));
        wait_until_applied(r, "w", 1);
        merge(r, MEMBER, C_PATH, "{'data':{'k':'mine'}}");
        pass_time(r, MINUTE);
        slow = true;
        replace_manifests(r, "w", SETTINGS(LEFT, "1", "2"));
        pass_time(r, SLOW_MS);
        slow = false;
        merge(r, MEMBER, C_PATH, "{'data':{'k':'newer'}}");
        pass_time(r, MINUTE);
        assert_data(r, "newer", "2");
        stop(&a);
})

RIG_TEST(a_rule_that_can_be_none_is_told_and_the_object_stays, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", SETTINGS("", "1", "1"));
        wait_until_applied(r, "w", 1);
        replace_manifests(r, "w", SETTINGS(RULE("data.k"), "2", "1"));
        pass_time(r, MINUTE);
        assert_string_equal(reason(r), "DecodingErred");
        assert_data(r, "1", "1");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_non_null(strstr(r->text, "ignore-differences: \\\"data.k\\\" is no path"));
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_left_to_the_member_is_not_set_back),
                cmocka_unit_test(the_rest_is),
                cmocka_unit_test(only_the_rest_counts_as_drift),
                cmocka_unit_test(a_rule_ends_a_drift_and_its_end_begins_it),
                cmocka_unit_test(it_is_no_difference_to_report),
                cmocka_unit_test(nor_one_that_is_in_the_way_of_taking_over),
                cmocka_unit_test(what_the_member_says_while_an_apply_is_on_its_way_stays),
                cmocka_unit_test(a_rule_that_can_be_none_is_told_and_the_object_stays),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
