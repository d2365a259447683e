/* What becomes of one binding: a binding and a snapshot of no placement, so that nobody else has a part in
 * it. spec/rollout-and-work.md 6.2, 6.3, 6.10. */
#include "common/ctrl/metrics.h"
#include "hub-agent/common.h"
#include "hub-agent/hub_agent_test.h"

#define BINDINGS FLEET "clusterresourcebindings"
#define BINDING BINDINGS "/b"
#define SNAPSHOTS FLEET "clusterresourcesnapshots"
#define WORKS FLEET "namespaces/fleet-member-member-1/works"
#define WORK WORKS "/ghost-work"
#define WORK_CLEANUP "kubernetes-fleet.io/work-cleanup"

#define SETTINGS                                                                                             \
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"settings\",\"namespace\":"   \
        "\"app\"},\"data\":{\"a\":\"b\"}}"
#define ENVELOPE(manifest)                                                                                   \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ResourceEnvelope\","           \
        "\"metadata\":{\"name\":\"e\",\"namespace\":\"app\"},\"data\":{\"k\":" manifest "}}"
#define RIGHT_ENVELOPE                                                                                       \
        ENVELOPE("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"packed\","          \
                 "\"namespace\":\"app\"}}")
/* A Namespace may not be in a ResourceEnvelope. */
#define WRONG_ENVELOPE                                                                                       \
        ENVELOPE("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"z\"}}")

static void post(struct rig *r, const char *path, const char *body)
{
        if (rig_post(r, path, body) != 201)
                fail_msg("%s: %s", path, r->text);
}

static void post_snapshot(struct rig *r, const char *resources)
{
        post(r, SNAPSHOTS,
             arena_printf(
                     &r->arena,
                     "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                     "\"ClusterResourceSnapshot\",\"metadata\":{\"name\":\"ghost-0-snapshot\",\"labels\":{"
                     "\"kubernetes-fleet.io/parent-CRP\":\"ghost\",\"kubernetes-fleet.io/resource-index\":"
                     "\"0\",\"kubernetes-fleet.io/is-latest-snapshot\":\"true\"},\"annotations\":{"
                     "\"kubernetes-fleet.io/resource-hash\":\"h\","
                     "\"kubernetes-fleet.io/number-of-resource-snapshots\":\"1\","
                     "\"kubernetes-fleet.io/number-of-enveloped-object\":\"1\"}},\"spec\":{"
                     "\"selectedResources\":[%s]}}",
                     resources));
}

#define OVERRIDES FLEET "namespaces/app/resourceoverridesnapshots"
#define OVERRIDDEN ",\"resourceOverrideSnapshots\":[{\"name\":\"tier-0\",\"namespace\":\"app\"}]"

static void post_override(struct rig *r, const char *patch)
{
        post(r, OVERRIDES,
             arena_printf(
                     &r->arena,
                     "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                     "\"ResourceOverrideSnapshot\",\"metadata\":{\"name\":\"tier-0\",\"labels\":{"
                     "\"kubernetes-fleet.io/is-latest-snapshot\":\"true\","
                     "\"kubernetes-fleet.io/parent-resource-override\":\"tier\","
                     "\"kubernetes-fleet.io/override-index\":\"0\"}},\"spec\":{\"overrideHash\":\"eA==\","
                     "\"overrideSpec\":{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\","
                     "\"kind\":\"ConfigMap\",\"name\":\"settings\"}],\"policy\":{\"overrideRules\":[{"
                     "\"clusterSelector\":{\"clusterSelectorTerms\":[]},\"jsonPatchOverrides\":[%s]}]}}}}",
                     patch));
}

static void begin(struct rig *r, struct fleet *f, const char *resources)
{
        start(r, f);
        stop(f);
        f->metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        post_snapshot(r, resources);
}

static void end(struct fleet *f)
{
        stop(f);
        metrics_free(f->metrics);
}

static void bind(struct rig *r, const char *state, const char *cluster, const char *more)
{
        post(r, BINDINGS,
             arena_printf(
                     &r->arena,
                     "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                     "\"ClusterResourceBinding\",\"metadata\":{\"name\":\"b\",\"labels\":{"
                     "\"kubernetes-fleet.io/parent-CRP\":\"ghost\"}},\"spec\":{\"state\":\"%s\","
                     "\"targetCluster\":\"%s\",\"resourceSnapshotName\":\"ghost-0-snapshot\","
                     "\"schedulingPolicySnapshotName\":\"ghost-0\",\"applyStrategy\":{\"type\":"
                     "\"ClientSideApply\"}%s,\"clusterDecision\":{\"clusterName\":\"%s\",\"selected\":true,"
                     "\"reason\":\"one\"}}}",
                     state, cluster, more, cluster));
        rig_settle(r);
}

/* As the rollout, of a generation. */
static void say_started(struct rig *r, const char *status, int generation)
{
        merge_and_settle(
                r, BINDING "/status",
                arena_printf(
                        &r->arena,
                        "{\"status\":{\"conditions\":[{\"type\":\"RolloutStarted\",\"status\":\"%s\","
                        "\"reason\":"
                        "\"RolloutStarted\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\","
                        "\"observedGeneration\":%d}]}}",
                        status, generation));
}

static void give_reason(struct rig *r, const char *reason)
{
        merge_and_settle(
                r, BINDING,
                arena_printf(&r->arena, "{\"spec\":{\"clusterDecision\":{\"reason\":\"%s\"}}}", reason));
        rig_settle(r);
}

static bool holds(const json_t *o, const char *finalizer)
{
        json_t *f;
        size_t i;

        json_array_foreach(doc_get_array(o, "metadata.finalizers"), i, f)
                if (text_equal(json_string_value(f), finalizer))
                        return true;
        return false;
}

/* "False Reason" of the binding. */
static const char *told(struct rig *r, const char *type)
{
        json_t *c;
        size_t i;

        assert_int_equal(rig_get(r, BINDING), 200);
        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type) &&
                    doc_get_int(c, "observedGeneration", 0) ==
                            doc_get_int(r->answer, "metadata.generation", 0))
                        return arena_printf(&r->arena, "%s %s", doc_get_string(c, "status"),
                                            doc_get_string(c, "reason"));
        return "absent";
}

static int passes(struct fleet *f)
{
        return passes_of(f, "work-generator");
}

static void assert_untouched(struct rig *r)
{
        assert_int_equal(count(r, FLEET "works"), 0);
        assert_int_equal(rig_get(r, BINDING), 200);
        assert_false(holds(r->answer, WORK_CLEANUP));
        assert_string_equal(told(r, "WorkSynchronized"), "absent");
        assert_string_equal(told(r, "Overridden"), "absent");
}

/* ---- who gets Works ---- */

/* spec/rollout-and-work.md checklist 35 */
RIG_TEST(neither_scheduled_nor_for_nobody_makes_a_work, {
        struct fleet f;

        begin(r, &f, SETTINGS);
        bind(r, "Scheduled", "member-1", "");
        say_started(r, "True", 1);
        give_reason(r, "two");
        say_started(r, "True", 2);
        assert_untouched(r);
        assert_int_equal(rig_delete(r, BINDING), 200);
        rig_settle(r);
        bind(r, "Bound", "nowhere", "");
        say_started(r, "True", 2);
        give_reason(r, "two");
        assert_untouched(r);
        end(&f);
})

/* spec/rollout-and-work.md checklist 36 */
RIG_TEST(a_bound_one_waits_until_the_rollout_has_spoken_whatever_it_says, {
        static const char *const words[] = { "True", "False" };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct fleet f;

                if (!i)
                        begin(r, &f, SETTINGS);
                bind(r, "Bound", "member-1", "");
                assert_untouched(r);
                say_started(r, words[i], 1);
                give_reason(r, "two"); /* generation 2: what was said is old */
                fiber_sleep(r->loop, 60000);
                assert_untouched(r);
                say_started(r, words[i], 3);
                give_reason(r, "three");
                assert_int_equal(count(r, FLEET "works"), 1);
                assert_string_equal(told(r, "WorkSynchronized"), "True AllWorkSynced");
                assert_true(holds(r->answer, WORK_CLEANUP));
                assert_int_equal(rig_delete(r, BINDING), 200);
                rig_settle(r);
                rig_merge(r, WORK, "{\"metadata\":{\"finalizers\":null}}"); /* as the member */
                rig_settle(r);
                assert_int_equal(rig_get(r, BINDING), 404);
                if (i == ARRAY_LEN(words) - 1)
                        end(&f);
        }
})

static void bring_up_with(struct rig *r, struct fleet *f, const char *more, size_t n_works)
{
        bind(r, "Bound", "member-1", more);
        say_started(r, "True", 2);
        give_reason(r, "two");
        assert_int_equal(count(r, FLEET "works"), n_works);
        report_works(f, "True", "True");
        rig_settle(r);
        rig_settle(r);
        assert_string_equal(told(r, "Available"), "True AllWorkAreAvailable");
}

static void bring_up(struct rig *r, struct fleet *f)
{
        bring_up_with(r, f, "", 1);
}

/* spec/rollout-and-work.md checklist 37 */
RIG_TEST(what_was_placed_stays_while_unscheduled_and_is_told_of, {
        struct fleet f;

        begin(r, &f, SETTINGS);
        bring_up(r, &f);
        merge_and_settle(r, BINDING, "{\"spec\":{\"state\":\"Unscheduled\"}}");
        rig_settle(r);
        assert_int_equal(count(r, FLEET "works"), 1);
        assert_int_equal(rig_get(r, WORK), 200);
        assert_null(doc_get_string(r->answer, "metadata.deletionTimestamp"));
        report_works(&f, "True", "False");
        fiber_sleep(r->loop, 10000);
        assert_string_equal(told(r, "Applied"), "True AllWorkHaveBeenApplied");
        assert_string_equal(told(r, "Available"), "False NotAllWorkAreAvailable");
        assert_string_equal(told(r, "RolloutStarted"), "absent"); /* of this generation nobody has spoken */
        end(&f);
})

/* spec/rollout-and-work.md checklist 47 */
RIG_TEST(without_its_snapshot_what_works_report_is_still_told, {
        struct fleet f;

        begin(r, &f, SETTINGS);
        bring_up(r, &f);
        assert_int_equal(rig_delete(r, SNAPSHOTS "/ghost-0-snapshot"), 200);
        rig_settle(r);
        report_works(&f, "True", "False");
        fiber_sleep(r->loop, 10000);
        assert_string_equal(told(r, "WorkSynchronized"), "True AllWorkSynced");
        assert_string_equal(told(r, "Available"), "False NotAllWorkAreAvailable");
        report_works(&f, "False", "False");
        fiber_sleep(r->loop, 10000);
        assert_string_equal(told(r, "Applied"), "False NotAllWorkHaveBeenApplied");
        end(&f);
})

/* As without its snapshot: what is placed is what the binding asks for, and nothing of it has failed. A
 * rollout takes what failed to something else beyond every limit. */
RIG_TEST(without_its_override_what_works_report_is_still_told_as_long_as_all_are_there, {
        struct fleet f;

        begin(r, &f, SETTINGS "," RIGHT_ENVELOPE);
        post_override(r, "{\"op\":\"remove\",\"path\":\"/data/a\"}");
        bring_up_with(r, &f, OVERRIDDEN, 2);
        assert_int_equal(rig_delete(r, OVERRIDES "/tier-0"), 200);
        rig_settle(r);
        say_started(r, "False", 3);
        give_reason(r, "three");
        fiber_sleep(r->loop, 10000);
        assert_string_equal(told(r, "Overridden"), "True OverriddenSucceeded");
        assert_string_equal(told(r, "Available"), "True AllWorkAreAvailable");
        assert_int_equal(rig_delete(r, WORK), 200);
        rig_merge(r, WORK, "{\"metadata\":{\"finalizers\":null}}"); /* as the member */
        rig_settle(r);
        assert_int_equal(rig_get(r, WORK), 404);
        fiber_sleep(r->loop, 10000);
        assert_string_equal(told(r, "Overridden"), "False OverriddenFailed");
        end(&f);
})

/* ---- what cannot be made ---- */

/* Deleted by hand while the rollout went to it, and made again under its name by the intake. */
RIG_TEST(a_snapshot_that_comes_late_is_placed, {
        struct fleet f;

        begin(r, &f, SETTINGS);
        assert_int_equal(rig_delete(r, SNAPSHOTS "/ghost-0-snapshot"), 200);
        bind(r, "Bound", "member-1", "");
        say_started(r, "True", 2);
        give_reason(r, "two");
        fiber_sleep(r->loop, 10000);
        assert_string_equal(told(r, "Overridden"), "False OverriddenFailed");
        assert_int_equal(count(r, WORKS), 0);
        post_snapshot(r, SETTINGS);
        fiber_sleep(r->loop, 1000);
        assert_string_equal(told(r, "WorkSynchronized"), "True AllWorkSynced");
        assert_int_equal(count(r, WORKS), 1);
        end(&f);
})

/* spec/rollout-and-work.md checklist 45 */
RIG_TEST(an_envelope_that_holds_what_it_may_not_is_told_and_waits_for_its_author, {
        struct fleet f;
        int before;

        begin(r, &f, WRONG_ENVELOPE "," SETTINGS);
        bind(r, "Bound", "member-1", "");
        say_started(r, "True", 2);
        give_reason(r, "two");
        assert_string_equal(told(r, "Overridden"), "True NoOverrideSpecified");
        assert_string_equal(told(r, "WorkSynchronized"), "False SyncWorkFailed");
        assert_string_equal(told(r, "Applied"), "absent");
        fiber_sleep(r->loop, 10000);
        before = passes(&f);
        fiber_sleep(r->loop, 60 * 60 * 1000);
        assert_int_equal(passes(&f), before);
        end(&f);
})

/* spec/rollout-and-work.md checklist 34 */
RIG_TEST(a_patch_that_does_not_apply_is_told_by_name_and_not_tried_again, {
        struct fleet f;
        int before;

        begin(r, &f, SETTINGS);
        post_override(r, "{\"op\":\"remove\",\"path\":\"/data/missing\"}");
        bind(r, "Bound", "member-1", OVERRIDDEN);
        say_started(r, "True", 2);
        give_reason(r, "two");
        assert_string_equal(told(r, "Overridden"), "False OverriddenFailed");
        assert_non_null(strstr(r->text,
                               "ResourceOverrideSnapshot \\\"tier-0\\\" failed to apply on ConfigMap "
                               "\\\"settings\\\" in namespace \\\"app\\\": "));
        assert_string_equal(told(r, "WorkSynchronized"), "absent");
        assert_int_equal(count(r, FLEET "works"), 0);
        fiber_sleep(r->loop, 10000);
        before = passes(&f);
        fiber_sleep(r->loop, 60 * 60 * 1000);
        assert_int_equal(passes(&f), before);
        end(&f);
})

/* ---- the end ---- */

/* spec/rollout-and-work.md checklist 55: what a member has not let go of yet counts too, which section 6.10
 * calls better. */
RIG_TEST(a_binding_goes_when_its_works_are_gone, {
        struct fleet f;
        int before;

        begin(r, &f, SETTINGS);
        bring_up(r, &f);
        merge_and_settle(r, WORK, "{\"metadata\":{\"finalizers\":[\"example.com/hold\"]}}");
        assert_int_equal(rig_delete(r, BINDING), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, WORK), 200);
        assert_non_null(doc_get_string(r->answer, "metadata.deletionTimestamp"));
        fiber_sleep(r->loop, 5000);
        before = passes(&f);
        fiber_sleep(r->loop, 5 * 60 * 1000);
        assert_int_equal(passes(&f), before + 10); /* every 30 s */
        assert_int_equal(rig_get(r, BINDING), 200);
        assert_true(holds(r->answer, WORK_CLEANUP));
        rig_merge(r, WORK, "{\"metadata\":{\"finalizers\":null}}");
        rig_settle(r);
        assert_int_equal(rig_get(r, WORK), 404);
        assert_int_equal(rig_get(r, BINDING), 404);
        end(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(neither_scheduled_nor_for_nobody_makes_a_work),
                cmocka_unit_test(a_bound_one_waits_until_the_rollout_has_spoken_whatever_it_says),
                cmocka_unit_test(what_was_placed_stays_while_unscheduled_and_is_told_of),
                cmocka_unit_test(without_its_snapshot_what_works_report_is_still_told),
                cmocka_unit_test(
                        without_its_override_what_works_report_is_still_told_as_long_as_all_are_there),
                cmocka_unit_test(a_snapshot_that_comes_late_is_placed),
                cmocka_unit_test(an_envelope_that_holds_what_it_may_not_is_told_and_waits_for_its_author),
                cmocka_unit_test(a_patch_that_does_not_apply_is_told_by_name_and_not_tried_again),
                cmocka_unit_test(a_binding_goes_when_its_works_are_gone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
