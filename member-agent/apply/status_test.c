/* spec/member-agent.md 2.13 */
#include "member-agent/apply/status.h"

#include "common/base/timefmt.h"
#include "member-agent/apply/testing.h"
#include "proto/gen/kinds.h"

struct fixture {
        struct arena arena;
        struct work work;
        struct manifest manifests[4];
        struct status_input in;
        struct work_status *status;
};

static int setup(void **state)
{
        struct fixture *f = NEW(struct fixture);
        static const char *const names[] = { "a", "b", "c", "d" };

        f->work.object.kind = &work_kind;
        f->work.object.meta = (struct object_meta){ .name = "w",
                                                    .ns = "fleet-member-m",
                                                    .generation = 7,
                                                    .creation_ms = TIME_NONE,
                                                    .deletion_ms = TIME_NONE };
        for (int i = 0; i < 4; i++)
                f->manifests[i] =
                        (struct manifest){ .ordinal = i,
                                           .group = "",
                                           .version = "v1",
                                           .kind = "ConfigMap",
                                           .name = names[i],
                                           .identity = names[i],
                                           .resource = { "", "v1", "configmaps", "ConfigMap", true },
                                           .cause = "",
                                           .availability_cause = "",
                                           .result = RESULT_APPLIED,
                                           .availability = AVAILABILITY_AVAILABLE,
                                           .live_exists = true,
                                           .live_generation = 3 };
        f->in = (struct status_input){
                .work = &f->work, .manifests = f->manifests, .n = 2, .now_ms = 1000000
        };
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        arena_free(&f->arena);
        mem_free(f);
        return 0;
}

static void build(struct fixture *f)
{
        struct error err = { 0 };

        for (size_t i = 0; i < f->in.n; i++)
                f->manifests[i].identity =
                        manifest_identity(&f->arena, "", "v1", "ConfigMap", NULL, f->manifests[i].name);
        if (status_build(&f->in, &f->arena, &f->status, &err) < 0)
                fail_msg("%s", err.text);
}

static void assert_condition(const struct condition_list *l, const char *type, const char *status,
                             const char *reason)
{
        const struct condition *c = condition_find(l, type);

        if (!status) {
                assert_null(c);
                return;
        }
        assert_non_null(c);
        assert_string_equal(c->status, status);
        assert_string_equal(c->reason, reason);
}

static const struct condition_list *of_manifest(const struct fixture *f, size_t i)
{
        return &f->status->manifest_conditions.at[i].conditions;
}

static void all_applied_and_available(void **state)
{
        struct fixture *f = *state;

        build(f);
        assert_condition(&f->status->conditions, "Applied", "True", "AllManifestsApplied");
        assert_condition(&f->status->conditions, "Available", "True", "AllManifestsAvailable");
        assert_condition(&f->status->conditions, "DiffReported", NULL, NULL);
        assert_condition(of_manifest(f, 0), "Applied", "True", "Applied");
        assert_int_equal(of_manifest(f, 0)->at[0].observed_generation.value, 3);
        assert_int_equal(f->status->conditions.at[0].observed_generation.value, 7);
        assert_true(status_is_settled(f->status, 7));
        assert_false(status_is_settled(f->status, 8));
}

/* spec/member-agent.md checklist 46 */
static void no_manifests_is_all_manifests(void **state)
{
        struct fixture *f = *state;

        f->in.n = 0;
        build(f);
        assert_condition(&f->status->conditions, "Applied", "True", "AllManifestsApplied");
        assert_condition(&f->status->conditions, "Available", "True", "AllManifestsAvailable");
}

/* spec/member-agent.md checklist 45 */
static void available_is_absent_while_not_all_is_applied(void **state)
{
        struct fixture *f = *state;

        f->manifests[1].result = RESULT_APPLY_FAILED;
        f->manifests[1].cause = "no";
        f->manifests[1].availability = AVAILABILITY_SKIPPED;
        build(f);
        assert_condition(&f->status->conditions, "Applied", "False", "SomeManifestsAreNotApplied");
        assert_string_equal(condition_find(&f->status->conditions, "Applied")->message,
                            "Failed to apply all manifests (1 of 2 manifests are applied)");
        assert_condition(&f->status->conditions, "Available", NULL, NULL);
        assert_condition(of_manifest(f, 1), "Applied", "False", "ManifestApplyFailed");
        assert_condition(of_manifest(f, 1), "Available", NULL, NULL);
}

/* spec/member-agent.md checklist 43 */
static void untrackable_counts_as_available_and_is_told(void **state)
{
        struct fixture *f = *state;

        f->manifests[1].availability = AVAILABILITY_NOT_TRACKABLE;
        build(f);
        assert_condition(&f->status->conditions, "Available", "True", "WorkNotTrackable");
        assert_condition(of_manifest(f, 1), "Available", "True", "NotTrackable");
}

static void one_not_yet_available_makes_the_work_wait(void **state)
{
        struct fixture *f = *state;

        f->manifests[0].availability = AVAILABILITY_NOT_YET;
        build(f);
        assert_condition(&f->status->conditions, "Available", "False", "SomeManifestsAreNotAvailable");
        assert_string_equal(condition_find(&f->status->conditions, "Available")->message,
                            "Some manifests are not available (1 of 2 manifests are available)");
}

static void every_result_has_its_applied_condition(void **state)
{
        static const struct {
                enum result result;
                const char *status, *reason;
        } lines[] = {
                { RESULT_NONE, "False", "ManifestApplyFailed" }, /* nobody came to it */
                { RESULT_DECODING_ERRED, "False", "DecodingErred" },
                { RESULT_FOUND_GENERATE_NAME, "False", "FoundGenerateName" },
                { RESULT_DUPLICATED, "False", "Duplicated" },
                { RESULT_FAILED_TO_FIND, "False", "FailedToFindObjInMemberCluster" },
                { RESULT_FAILED_TO_TAKE_OVER, "False", "FailedToTakeOver" },
                { RESULT_NOT_TAKEN_OVER, "False", "NotTakenOver" },
                { RESULT_FAILED_DRIFT_DETECTION, "False", "FailedToRunDriftDetection" },
                { RESULT_FOUND_DRIFTS, "False", "FoundDrifts" },
                { RESULT_FOUND_DRIFTS_DEGRADED, "False", "FoundDriftsInDegradedMode" },
                { RESULT_APPLY_FAILED, "False", "ManifestApplyFailed" },
                { RESULT_APPLIED, "True", "Applied" },
                { RESULT_APPLIED_DRIFT_DETECTION_FAILED, "True", "AppliedWithFailedDriftDetection" },
                { RESULT_FOUND_DIFF, "False", "ManifestApplyFailed" },
        };
        struct fixture *f = *state;

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                f->manifests[0].result = lines[i].result;
                build(f);
                assert_condition(of_manifest(f, 0), "Applied", lines[i].status, lines[i].reason);
        }
}

static void report_diff_speaks_of_differences_only(void **state)
{
        static const struct {
                enum result result;
                const char *status, *reason, *work;
        } lines[] = {
                { RESULT_NO_DIFF, "True", "NoDiffFound", "True" },
                { RESULT_FOUND_DIFF, "True", "FoundDiff", "True" },
                { RESULT_FOUND_DIFF_DEGRADED, "True", "FoundDiffInDegradedMode", "True" },
                { RESULT_FAILED_TO_REPORT_DIFF, "False", "FailedToReportDiff", "False" },
                { RESULT_FAILED_TO_TAKE_OVER, "False", "FailedToReportDiff", "False" },
        };
        struct fixture *f = *state;

        f->in.n = 1;
        build(f); /* was applied before */
        f->in.before = f->status;
        f->in.report_diff = true;
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                f->manifests[0].result = lines[i].result;
                f->manifests[0].availability = AVAILABILITY_SKIPPED;
                build(f);
                assert_condition(of_manifest(f, 0), "DiffReported", lines[i].status, lines[i].reason);
                assert_condition(of_manifest(f, 0), "Applied", NULL, NULL);
                assert_condition(&f->status->conditions, "Applied", NULL, NULL);
                assert_condition(&f->status->conditions, "Available", NULL, NULL);
                assert_string_equal(condition_find(&f->status->conditions, "DiffReported")->status,
                                    lines[i].work);
        }
}

static struct differences *one_difference(struct fixture *f)
{
        struct differences *d = ARENA_NEW(&f->arena, struct differences);

        d->at[0] = (struct difference){ "/spec/replicas", "1", "5" };
        d->n = d->total = 1;
        return d;
}

/* spec/member-agent.md 2.13 */
static void the_first_drift_time_survives_a_changing_drift(void **state)
{
        struct fixture *f = *state;

        f->manifests[0].result = RESULT_FOUND_DRIFTS;
        f->manifests[0].drifts = one_difference(f);
        build(f);
        assert_int_equal(f->status->manifest_conditions.at[0].drift_details->first_drifted_observed_time,
                         1000000);
        f->in.before = f->status;
        f->in.now_ms = 2000000;
        f->manifests[0].drifts->at[0].path = "/spec/paused";
        build(f);
        assert_int_equal(f->status->manifest_conditions.at[0].drift_details->first_drifted_observed_time,
                         1000000);
        assert_int_equal(f->status->manifest_conditions.at[0].drift_details->observation_time, 2000000);
        f->in.before = f->status;
        f->manifests[0].drifts = NULL;
        build(f);
        assert_null(f->status->manifest_conditions.at[0].drift_details);
}

/* The status that comes before may be older than the pass that found none: that one's was not written. */
static void a_remembered_result_has_no_details(void **state)
{
        struct fixture *f = *state;

        f->manifests[0].drifts = one_difference(f);
        f->manifests[1].result = RESULT_FAILED_TO_TAKE_OVER;
        f->manifests[1].diffs = one_difference(f);
        build(f);
        assert_non_null(f->status->manifest_conditions.at[0].drift_details);
        assert_non_null(f->status->manifest_conditions.at[1].diff_details);
        f->in.before = f->status;
        f->manifests[1].result = RESULT_APPLIED;
        for (size_t i = 0; i < 2; i++) {
                f->manifests[i].drifts = f->manifests[i].diffs = NULL;
                f->manifests[i].reused = true;
        }
        build(f);
        assert_null(f->status->manifest_conditions.at[0].drift_details);
        assert_null(f->status->manifest_conditions.at[1].diff_details);
}

static void a_missing_object_has_no_generation_in_its_diff(void **state)
{
        struct fixture *f = *state;

        f->in.report_diff = true;
        f->manifests[0].result = RESULT_FOUND_DIFF;
        f->manifests[0].live_exists = false;
        f->manifests[0].diffs = one_difference(f);
        build(f);
        assert_false(
                f->status->manifest_conditions.at[0].diff_details->observed_in_member_cluster_generation.set);
}

static void a_transition_time_moves_only_with_the_status(void **state)
{
        struct fixture *f = *state;

        build(f);
        f->in.before = f->status;
        f->in.now_ms = 2000000;
        build(f);
        assert_int_equal(condition_find(of_manifest(f, 0), "Applied")->last_transition_ms, 1000000);
        f->in.before = f->status;
        f->manifests[0].result = RESULT_APPLY_FAILED;
        build(f);
        assert_int_equal(condition_find(of_manifest(f, 0), "Applied")->last_transition_ms, 2000000);
}

static void a_duplicate_leaves_the_history_of_the_first_alone(void **state)
{
        struct fixture *f = *state;

        f->manifests[1].name = "a";
        f->manifests[1].result = RESULT_DUPLICATED;
        f->manifests[1].availability = AVAILABILITY_SKIPPED;
        build(f);
        assert_condition(of_manifest(f, 0), "Applied", "True", "Applied");
        assert_condition(of_manifest(f, 1), "Applied", "False", "Duplicated");
}

static void equal_passes_give_equal_status(void **state)
{
        struct fixture *f = *state;
        struct work a = f->work, b = f->work;

        build(f);
        a.status = f->status;
        f->in.before = f->status;
        f->in.now_ms += 60000;
        build(f);
        b.status = f->status;
        assert_true(object_equal_part(&a.object, &b.object, OBJECT_STATUS));
}

/* spec/member-agent.md 2.11, improve: who sees a hundred must not take them for all. */
static void it_is_said_how_many_differences_are_not_listed(void **state)
{
        static const struct {
                enum result result;
                bool report_diff, drifts;
                const char *type, *ends;
                size_t total;
        } lines[] = {
                { RESULT_FOUND_DRIFTS, false, true, "Applied", "(error: )", 100 },
                { RESULT_FOUND_DRIFTS, false, true, "Applied",
                  "(error: ); the first 100 of 101 differences are listed", 101 },
                { RESULT_APPLIED, false, true, "Applied",
                  "successfully; the first 100 of 150 differences are listed", 150 },
                { RESULT_FAILED_TO_TAKE_OVER, false, false, "Applied",
                  "(error: ); the first 100 of 150 differences are listed", 150 },
                { RESULT_FOUND_DIFF, true, false, "DiffReported",
                  "member cluster; the first 100 of 150 differences are listed", 150 },
        };
        struct fixture *f = *state;

        f->in.n = 1;
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct differences *d = one_difference(f);

                for (size_t k = 1; k < COMPARE_MAX_DETAILS; k++)
                        d->at[k] = d->at[0];
                d->n = COMPARE_MAX_DETAILS;
                d->total = lines[i].total;
                f->in.report_diff = lines[i].report_diff;
                f->manifests[0].result = lines[i].result;
                f->manifests[0].drifts = lines[i].drifts ? d : NULL;
                f->manifests[0].diffs = lines[i].drifts ? NULL : d;
                build(f);
                f->in.before = f->status;
                build(f); /* the words are not added to those of the last time */
                assert_true(text_ends_with(condition_find(of_manifest(f, 0), lines[i].type)->message,
                                           lines[i].ends));
        }
}

/* Drifts of the first manifest, differences of the second, statuses of both. */
static void report_all(struct fixture *f, size_t paths)
{
        for (size_t i = 0; i < 2; i++) {
                struct differences *d = one_difference(f);

                d->n = d->total = paths;
                for (size_t k = 1; k < paths; k++)
                        d->at[k] = (struct difference){ "/spec/paused", "true", "false" };
                f->manifests[i].observed_status =
                        SLICE("{\"apiVersion\":\"v1\",\"kind\":\"X\",\"status\":{}}");
                f->manifests[i].result = i == 0 ? RESULT_FOUND_DRIFTS : RESULT_FAILED_TO_TAKE_OVER;
                *(i == 0 ? &f->manifests[i].drifts : &f->manifests[i].diffs) = d;
        }
        f->in.mirror = true;
}

static void assert_summary(const struct patch_detail *at, uint32_t n, const char *path)
{
        assert_int_equal(n, 1);
        assert_string_equal(at->path, path);
        assert_string_equal(at->value_in_hub, "(omitted)");
        assert_string_equal(at->value_in_member, "(omitted)");
}

/* spec/member-agent.md checklist 48 */
static void an_oversized_status_is_summarised(void **state)
{
        static const struct {
                size_t paths;
                const char *summary;
        } lines[] = { { 1, "/spec/replicas" },
                      { 2, "/spec/replicas and 1 more path(s)" },
                      { 3, "/spec/replicas and 2 more path(s)" } };
        struct fixture *f = *state;
        const struct manifest_condition *at;

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                report_all(f, lines[i].paths);
                f->in.work_bytes = WORK_SIZE_LIMIT;
                build(f);
                assert_condition(&f->status->conditions, "StatusTrimmed", "True", "Oversized");
                at = f->status->manifest_conditions.at;
                assert_summary(at[0].drift_details->observed_drifts.at,
                               at[0].drift_details->observed_drifts.n, lines[i].summary);
                assert_summary(at[1].diff_details->observed_diffs.at, at[1].diff_details->observed_diffs.n,
                               lines[i].summary);
                assert_null(at[0].back_reported_status);
                assert_null(at[1].back_reported_status);
        }
        f->in.work_bytes = 0;
        f->in.before = f->status;
        build(f);
        assert_condition(&f->status->conditions, "StatusTrimmed", NULL, NULL);
}

/* spec/member-agent.md checklist 48: the whole Work counts, and may be as large as the limit. */
static void a_status_that_just_fits_stays_whole(void **state)
{
        struct fixture *f = *state;
        const char *message;
        size_t over = 0;

        report_all(f, 3);
        f->in.work_bytes = WORK_SIZE_LIMIT;
        build(f);
        message = condition_find(&f->status->conditions, "StatusTrimmed")->message;
        assert_int_equal(sscanf(strrchr(message, '('), "(%zu bytes over limit 1415578)", &over), 1);
        assert_true(over > 0);
        f->in.work_bytes = WORK_SIZE_LIMIT - over;
        build(f);
        assert_condition(&f->status->conditions, "StatusTrimmed", NULL, NULL);
        assert_int_equal(f->status->manifest_conditions.at[0].drift_details->observed_drifts.n, 3);
        f->in.work_bytes++;
        build(f);
        assert_condition(&f->status->conditions, "StatusTrimmed", "True", "Oversized");
}

static void a_mirrored_status_goes_when_mirroring_ends(void **state)
{
        struct fixture *f = *state;

        f->in.mirror = true;
        f->manifests[0].observed_status = SLICE("{\"apiVersion\":\"v1\",\"kind\":\"X\",\"status\":{}}");
        build(f);
        assert_non_null(f->status->manifest_conditions.at[0].back_reported_status);
        f->in.before = f->status;
        f->in.mirror = false;
        build(f);
        assert_null(f->status->manifest_conditions.at[0].back_reported_status);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void what_cannot_be_tracked_is_told_with_its_cause(void **state)
{
        struct fixture *f = *state;

        f->manifests[1].availability = AVAILABILITY_FAILED;
        f->manifests[1].availability_cause = "no scale";
        build(f);
        assert_condition(&f->status->conditions, "Available", "False", "SomeManifestsAreNotAvailable");
        assert_string_equal(condition_find(of_manifest(f, 1), "Available")->status, "False");
        assert_string_equal(condition_find(of_manifest(f, 1), "Available")->message,
                            "Failed to track the availability of the applied manifest (error = no scale)");
}

static void what_is_in_the_way_is_told_with_it(void **state)
{
        struct fixture *f = *state;

        f->manifests[0].availability = f->manifests[1].availability = AVAILABILITY_NOT_YET;
        f->manifests[1].availability_cause = "Blocked: why";
        build(f);
        assert_string_equal(condition_find(of_manifest(f, 0), "Available")->message,
                            "Manifest is not yet available; Fleet will check again later");
        assert_string_equal(condition_find(of_manifest(f, 1), "Available")->message,
                            "Manifest is not yet available; Fleet will check again later (Blocked: why)");
}

static void an_oversized_status_loses_differences_too(void **state)
{
        for (int n = 1; n <= 2; n++) {
                struct fixture *f = *state;

                f->in.report_diff = true;
                f->manifests[0].result = RESULT_FOUND_DIFF;
                f->manifests[0].diffs = one_difference(f);
                f->manifests[0].diffs->n = f->manifests[0].diffs->total = (size_t)n;
                f->manifests[0].diffs->at[1] = f->manifests[0].diffs->at[0];
                f->in.work_bytes = WORK_SIZE_LIMIT;
                build(f);
                assert_condition(&f->status->conditions, "StatusTrimmed", "True", "Oversized");
                assert_int_equal(f->status->manifest_conditions.at[0].diff_details->observed_diffs.n, 1);
                assert_string_equal(
                        f->status->manifest_conditions.at[0].diff_details->observed_diffs.at[0].path,
                        n > 1 ? "/spec/replicas and 1 more path(s)" : "/spec/replicas");
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(all_applied_and_available),
                TEST(no_manifests_is_all_manifests),
                TEST(available_is_absent_while_not_all_is_applied),
                TEST(untrackable_counts_as_available_and_is_told),
                TEST(one_not_yet_available_makes_the_work_wait),
                TEST(every_result_has_its_applied_condition),
                TEST(report_diff_speaks_of_differences_only),
                TEST(the_first_drift_time_survives_a_changing_drift),
                TEST(a_remembered_result_has_no_details),
                TEST(a_missing_object_has_no_generation_in_its_diff),
                TEST(a_transition_time_moves_only_with_the_status),
                TEST(a_duplicate_leaves_the_history_of_the_first_alone),
                TEST(equal_passes_give_equal_status),
                TEST(it_is_said_how_many_differences_are_not_listed),
                TEST(an_oversized_status_is_summarised),
                TEST(a_status_that_just_fits_stays_whole),
                TEST(a_mirrored_status_goes_when_mirroring_ends),
                TEST(what_cannot_be_tracked_is_told_with_its_cause),
                TEST(what_is_in_the_way_is_told_with_it),
                TEST(an_oversized_status_loses_differences_too),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
