#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "hub-agent/source/source_state.h"

#define NOW INT64_C(1767225600000)
#define PULLED "pulled 'podinfo' chart with version '5.2.1'"
#define NO_VERSION                                                                                           \
        "invalid chart reference: failed to get chart version for remote reference: no 'podinfo' chart "     \
        "with "                                                                                              \
        "version matching '9.*' found"

struct scene {
        struct arena arena;
        struct source_status status;
        struct source_run run;
};

/* A chart that was just made. */
static void open_scene(struct scene *s)
{
        *s = (struct scene){ .arena = ARENA_INIT, .status.observed_generation = OPT_INT(-1) };
        s->run = (struct source_run){ &s->status, &s->arena, 1, NOW };
}

static void close_scene(struct scene *s)
{
        arena_free(&s->arena);
}

/* "Type=Status/Reason message; " of each, in order. */
static const char *said(struct scene *s)
{
        const struct condition_list *l = &s->status.conditions;
        const char *all = "";

        for (uint32_t i = 0; i < l->n; i++)
                all = arena_printf(&s->arena, "%s%s=%s/%s %s; ", all, l->at[i].type, l->at[i].status,
                                   l->at[i].reason, l->at[i].message);
        return all;
}

static void assert_says(struct scene *s, const char *want)
{
        assert_string_equal(said(s), want);
}

static void succeed(struct scene *s)
{
        assert_int_equal(source_begin(&s->run), 0);
        assert_int_equal(source_stored(&s->run, "ChartPullSucceeded", PULLED), 0);
        assert_int_equal(source_succeed(&s->run), 0);
}

static void run_fails(struct scene *s, enum source_trouble trouble, const char *reason, const char *message,
                      bool stalls)
{
        const struct source_failure f = { trouble, reason, message, stalls };

        assert_int_equal(source_begin(&s->run), 0);
        assert_int_equal(source_fail(&s->run, &f), 0);
}

/* spec/helm-chart.md checklist 4, 5, 12 */
static void a_new_chart_comes_to_its_first_artifact(void **state)
{
        struct scene s;

        open_scene(&s);
        assert_true(source_begins_visibly(&s.run, NULL));
        assert_int_equal(source_begin(&s.run), 0);
        assert_says(&s, "Reconciling=True/Progressing processing object: new generation -1 -> 1; "
                        "Ready=Unknown/Progressing processing object: new generation -1 -> 1; ");
        assert_int_equal(s.status.observed_generation.value, -1);
        assert_int_equal(source_progress(&s.run, "building artifact: " PULLED), 0);
        assert_says(&s, "Reconciling=True/Progressing building artifact: " PULLED
                        "; Ready=Unknown/Progressing building artifact: " PULLED "; ");
        assert_int_equal(source_stored(&s.run, "ChartPullSucceeded", PULLED), 0);
        assert_int_equal(source_succeed(&s.run), 0);
        assert_says(&s, "Ready=True/ChartPullSucceeded " PULLED
                        "; ArtifactInStorage=True/ChartPullSucceeded " PULLED "; ");
        assert_int_equal(s.status.observed_generation.value, 1);
        for (uint32_t i = 0; i < s.status.conditions.n; i++)
                assert_int_equal(s.status.conditions.at[i].observed_generation.value, 1);
        s.run.generation = 2;
        assert_int_equal(source_begin(&s.run), 0);
        assert_string_equal(condition_find(&s.status.conditions, "Reconciling")->message,
                            "processing object: new generation 1 -> 2");
        assert_string_equal(condition_find(&s.status.conditions, "Ready")->status, "True");
        close_scene(&s);
}

/* spec/helm-chart.md checklist 38 */
static void a_run_that_finds_nothing_new_shows_nothing(void **state)
{
        struct scene s;
        int64_t before;

        open_scene(&s);
        succeed(&s);
        before = condition_find(&s.status.conditions, "Ready")->last_transition_ms;
        s.run.now_ms += 60000;
        assert_false(source_begins_visibly(&s.run, NULL));
        assert_int_equal(source_begin(&s.run), 0);
        assert_int_equal(source_succeed(&s.run), 0);
        assert_says(&s, "Ready=True/ChartPullSucceeded " PULLED
                        "; ArtifactInStorage=True/ChartPullSucceeded " PULLED "; ");
        assert_int_equal(condition_find(&s.status.conditions, "Ready")->last_transition_ms, before);
        close_scene(&s);
}

/* spec/helm-chart.md checklist 13 */
static void a_failure_is_retried_and_says_so(void **state)
{
        struct scene s;

        open_scene(&s);
        succeed(&s);
        s.run.generation = 2;
        run_fails(&s, TROUBLE_FETCH, "ChartPullError", "chart pull error: x", false);
        assert_says(&s, "Reconciling=True/ProgressingWithRetry processing object: new generation 1 -> 2; "
                        "Ready=False/ChartPullError chart pull error: x; "
                        "ArtifactInStorage=True/ChartPullSucceeded " PULLED
                        "; FetchFailed=True/ChartPullError chart pull error: x; ");
        assert_int_equal(s.status.observed_generation.value, 1);
        assert_int_equal(source_begin(&s.run), 0);
        assert_string_equal(condition_find(&s.status.conditions, "Reconciling")->reason, "Progressing");
        assert_int_equal(source_succeed(&s.run), 0);
        assert_says(&s, "Ready=True/ChartPullSucceeded " PULLED
                        "; ArtifactInStorage=True/ChartPullSucceeded " PULLED "; ");
        assert_int_equal(s.status.observed_generation.value, 2);
        close_scene(&s);
}

/* spec/helm-chart.md checklist 14, 33 */
static void what_only_a_change_can_mend_stalls(void **state)
{
        struct scene s;

        open_scene(&s);
        run_fails(&s, TROUBLE_FETCH, "InvalidChartReference", NO_VERSION, true);
        assert_says(&s, "Stalled=True/InvalidChartReference " NO_VERSION
                        "; Ready=False/InvalidChartReference " NO_VERSION
                        "; FetchFailed=True/InvalidChartReference " NO_VERSION "; ");
        assert_int_equal(s.status.observed_generation.value, 1);
        run_fails(&s, TROUBLE_FETCH, "ChartPullError", "x", false);
        assert_null(condition_find(&s.status.conditions, "Stalled"));
        close_scene(&s);
}

/* spec/helm-chart.md checklist 15 */
static void ready_says_the_gravest(void **state)
{
        struct scene s;

        open_scene(&s);
        succeed(&s);
        assert_int_equal(source_outdated(&s.run, "NewChart", "newer"), 0);
        run_fails(&s, TROUBLE_BUILD, "ValuesFilesError", "values", false);
        assert_string_equal(condition_find(&s.status.conditions, "Ready")->reason, "ValuesFilesError");
        run_fails(&s, TROUBLE_FETCH, "ChartPullError", "pull", false);
        assert_null(condition_find(&s.status.conditions, "BuildFailed"));
        assert_string_equal(condition_find(&s.status.conditions, "Ready")->reason, "ChartPullError");
        run_fails(&s, TROUBLE_STORAGE, "StorageOperationFailed", "full", false);
        assert_string_equal(condition_find(&s.status.conditions, "Ready")->message, "full");
        assert_non_null(condition_find(&s.status.conditions, "FetchFailed"));
        assert_int_equal(source_verified(&s.run, false, "VerificationError", "no signature"), 0);
        run_fails(&s, TROUBLE_BUILD, "ChartVerificationError", "no signature", false);
        assert_string_equal(condition_find(&s.status.conditions, "Ready")->reason, "ChartVerificationError");
        assert_null(condition_find(&s.status.conditions,
                                   "SourceVerified")); /* what was False is dropped at the start */
        assert_int_equal(source_begin(&s.run), 0);
        assert_int_equal(source_verified(&s.run, false, "VerificationError", "no signature"), 0);
        const struct source_failure f = { TROUBLE_BUILD, "ChartVerificationError", "no", false };

        assert_int_equal(source_fail(&s.run, &f), 0);
        assert_string_equal(condition_find(&s.status.conditions, "Ready")->reason, "VerificationError");
        assert_int_equal(source_begin(&s.run), 0);
        assert_int_equal(source_verified(&s.run, true, "Succeeded", "verified signature of version 1"), 0);
        assert_int_equal(source_succeed(&s.run), 0);
        assert_says(&s, "Ready=True/ChartPullSucceeded " PULLED
                        "; ArtifactInStorage=True/ChartPullSucceeded " PULLED
                        "; SourceVerified=True/Succeeded verified signature of version 1; ");
        source_unverified(&s.run);
        assert_null(condition_find(&s.status.conditions, "SourceVerified"));
        close_scene(&s);
}

/* spec/helm-chart.md checklist 10 */
static void a_request_is_noted_once(void **state)
{
        struct scene s;

        open_scene(&s);
        succeed(&s);
        assert_true(source_begins_visibly(&s.run, "1"));
        source_note_handled(&s.run, "1");
        assert_string_equal(s.status.last_handled_reconcile_at, "1");
        assert_false(source_begins_visibly(&s.run, "1"));
        source_note_handled(&s.run, NULL);
        assert_string_equal(s.status.last_handled_reconcile_at, "1");
        close_scene(&s);
}

/* spec/helm-chart.md checklist 19 */
static void an_artifact_that_went_is_shown_no_more(void **state)
{
        struct source_artifact a = { .path = "a" };
        struct scene s;

        open_scene(&s);
        succeed(&s);
        s.status.artifact = &a;
        s.status.url = "http://a";
        assert_int_equal(source_begin(&s.run), 0);
        source_lost(&s.run);
        assert_int_equal(source_progress(&s.run, "building artifact: disappeared from storage"), 0);
        assert_null(s.status.artifact);
        assert_null(s.status.url);
        assert_says(&s, "Ready=Unknown/Progressing building artifact: disappeared from storage; "
                        "Reconciling=True/Progressing building artifact: disappeared from storage; ");
        close_scene(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_new_chart_comes_to_its_first_artifact),
                cmocka_unit_test(a_run_that_finds_nothing_new_shows_nothing),
                cmocka_unit_test(a_failure_is_retried_and_says_so),
                cmocka_unit_test(what_only_a_change_can_mend_stalls),
                cmocka_unit_test(ready_says_the_gravest),
                cmocka_unit_test(a_request_is_noted_once),
                cmocka_unit_test(an_artifact_that_went_is_shown_no_more),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
