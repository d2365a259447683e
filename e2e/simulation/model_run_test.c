/* What update runs may say when all is quiet. */
#include "e2e/simulation/model_test.h"

#define MADE_MS 1000000

/* One run of app-0 with one stage, on member-1. */
struct scene {
        struct wish wish;
        struct model_runs lists;
        json_t *run;
        struct error err;
};

static void open_scene(struct scene *s)
{
        struct wish *w = &s->wish;

        *s = (struct scene){ 0 };
        w->n_members = 2;
        for (unsigned i = 1; i <= 2; i++)
                w->members[i] = (struct wish_member){ .membership = MEMBER_IN, .now = { .in = true } };
        w->apps[0].exists = true;
        w->apps[0].placements[PLACE_MAIN] =
                (struct wish_placement){ .exists = true, .strategy = { .external_ms = 500 } };
        w->apps[0].stages[PLACE_MAIN] = (struct wish_stages){ .exists = true, .n = 1 };
        w->apps[0].n_runs[PLACE_MAIN] = 1;
        w->runs[3] = (struct wish_run){
                .exists = true, .state = RUN_GOES, .index = -1, .retry_of = -1, .made_ms = MADE_MS
        };
        for (unsigned i = 0; i < 2; i++) {
                s->lists.runs[i] = json_array();
                s->lists.approvals[i] = json_array();
                s->lists.bindings[i] = json_array();
        }
        s->run = json_pack("{s:{s:s, s:i}, s:{s:s, s:[], s:[{s:s, s:[], s:[{s:s, s:[]}]}], s:{s:s, s:[]}}}",
                           "metadata", "name", "run-3", "generation", TEST_GENERATION, "status",
                           "resourceSnapshotIndexUsed", "4", "conditions", "stagesStatus", "stageName", "one",
                           "conditions", "clusters", "clusterName", "member-1", "conditions",
                           "deletionStageStatus", "stageName", "deletion", "conditions");
        assert_non_null(s->run);
        json_array_append_new(s->lists.runs[0], s->run);
        json_array_append_new(s->lists.bindings[0],
                              json_pack("{s:{s:s, s:{s:s}, s:i}, s:{s:s, s:s}, s:{s:[]}}", "metadata", "name",
                                        "b", "labels", "kubernetes-fleet.io/parent-CRP", "app-0",
                                        "generation", TEST_GENERATION, "spec", "targetCluster", "member-1",
                                        "resourceSnapshotName", "app-0-4-snapshot", "status", "conditions"));
}

static void close_scene(struct scene *s)
{
        for (unsigned i = 0; i < 2; i++) {
                json_decref(s->lists.runs[i]);
                json_decref(s->lists.approvals[i]);
                json_decref(s->lists.bindings[i]);
        }
        wish_clear(&s->wish);
}

static json_t *status_of(struct scene *s)
{
        return json_object_get(s->run, "status");
}

static json_t *stage_of(struct scene *s)
{
        return json_array_get(json_object_get(status_of(s), "stagesStatus"), 0);
}

static json_t *binding_of(struct scene *s)
{
        return json_array_get(s->lists.bindings[0], 0);
}

static void fails_with(struct scene *s, const char *words)
{
        bench_condition(status_of(s), "", "Initialized", false, "UpdateRunInitializedFailed");
        doc_set_string(json_array_get(json_object_get(status_of(s), "conditions"), 0), "message", words);
}

static void is_on_its_way(struct scene *s)
{
        json_t *cluster = json_array_get(json_object_get(stage_of(s), "clusters"), 0);

        bench_condition(status_of(s), "", "Initialized", true, "UpdateRunInitializedSuccessfully");
        bench_condition(cluster, "", "Started", true, "ClusterUpdatingStarted");
        bench_condition(status_of(s), "", "Progressing", true, "UpdateRunProgressing");
}

static void says(struct scene *s, const char *words)
{
        int code = model_judge_runs(&s->wish, &s->lists, &s->err);

        if (!*words && code < 0)
                fail_msg("%s", s->err.text);
        if (*words && (code == 0 || !strstr(s->err.text, words)))
                fail_msg("\"%s\" does not say \"%s\"", code ? s->err.text : "", words);
}

static void a_run_is_there_when_it_should_be(void **state)
{
        struct scene s;

        open_scene(&s);
        says(&s, "run-3: it says nothing");
        s.wish.runs[3].exists = false;
        says(&s, "run-3 is there, should be gone");
        json_array_clear(s.lists.runs[0]);
        says(&s, "");
        s.wish.runs[3].exists = true;
        says(&s, "run-3: it is not there");
        close_scene(&s);
}

static void a_run_ends_for_a_reason_that_there_is(void **state)
{
#define VALID "cannot continue the updateRun: failed to validate the updateRun: "
#define USER "failed to process the request due to a client error: "
        struct scene s;

        open_scene(&s);
        fails_with(&s, VALID USER "parent placement not found");
        says(&s, "it ended for no reason");
        s.wish.apps[0].placements[PLACE_MAIN].since_ms = MADE_MS + 1;
        says(&s, "");
        s.wish.apps[0].placements[PLACE_MAIN].since_ms = 0;
        fails_with(&s, VALID USER "cluster `member-1` appears in more than one stages");
        says(&s, "it ended for no reason");
        s.wish.apps[0].stages[PLACE_MAIN].flaw = FLAW_OVERLAP;
        says(&s, "");
        fails_with(&s, VALID "unexpected behavior which cannot be handled by the controller: got 2, want 1");
        says(&s, "it ended for no reason");
        fails_with(&s,
                   VALID USER "the number of clusters in index `0` stage has changed, new: 2, existing: 1");
        says(&s, "it ended for no reason");
        s.wish.clock_ms = MADE_MS + 1;
        says(&s, "");
        s.wish.clock_ms = 0;
        fails_with(&s, "something broke");
        says(&s, "it ended with words that there are not");
        close_scene(&s);
}

static void a_run_ends_without_a_policy_where_the_namespace_to_select_in_is_gone(void **state)
{
        struct scene s;
        struct wish_app *a = &s.wish.apps[0];
        struct wish_placement *p = &a->placements[PLACE_MAIN];

        open_scene(&s);
        fails_with(&s, VALID "no latest policy snapshot found for placement /app-0");
        says(&s, "it ended for no reason");
        p->selection = SELECT_LABELLED;
        says(&s, "it ended for no reason");
        a->exists = false;
        says(&s, "");
        p->selection = SELECT_NAMESPACE;
        says(&s, "it ended for no reason");
        p->changed_ms = MADE_MS + 1; /* before, it may have selected in the namespace */
        says(&s, "");
        p->changed_ms = 0;
        p->selection = SELECT_LABELLED;
        a->exists = true;
        a->home_ms = MADE_MS + 1; /* it is there again */
        says(&s, "");
        close_scene(&s);
}

static void a_run_that_goes_on_waits_for_a_cluster_that_has_not_arrived(void **state)
{
        struct scene s;

        open_scene(&s);
        is_on_its_way(&s);
        says(&s, "");
        bench_condition(json_object_get(binding_of(&s), "status"), "", "Available", true, "AllAvailable");
        says(&s, "it says UpdateRunProgressing, no cluster is on its way");
        close_scene(&s);
}

static void a_run_waits_for_an_approval_that_nobody_gave(void **state)
{
        struct scene s;
        json_t *request = json_pack("{s:{s:s, s:i}, s:{s:[]}}", "metadata", "name", "run-3-before-one",
                                    "generation", TEST_GENERATION, "status", "conditions");

        open_scene(&s);
        bench_condition(status_of(&s), "", "Initialized", true, "UpdateRunInitializedSuccessfully");
        bench_condition(status_of(&s), "", "Progressing", false, "UpdateRunWaiting");
        json_object_set_new(
                stage_of(&s), "beforeStageTaskStatus",
                json_pack("[{s:s, s:[]}]", "approvalRequestName", "run-3-before-one", "conditions"));
        says(&s, "it waits, no approval is asked for");
        json_array_append_new(s.lists.approvals[0], request);
        says(&s, "");
        bench_condition(json_object_get(request, "status"), "", "Approved", true, "Play");
        says(&s, "it waits, no approval is asked for");
        close_scene(&s);
}

static void a_run_is_held_as_long_as_users_hold_it(void **state)
{
        struct scene s;

        open_scene(&s);
        s.wish.runs[3].state = RUN_STOPPED;
        bench_condition(status_of(&s), "", "Initialized", true, "UpdateRunInitializedSuccessfully");
        bench_condition(status_of(&s), "", "Progressing", false, "UpdateRunStopped");
        says(&s, "");
        s.wish.runs[3].state = RUN_GOES;
        says(&s, "it has not ended, and says UpdateRunStopped");
        s.wish.runs[3].state = RUN_PREPARED;
        says(&s, "it goes, and nobody let it go");
        close_scene(&s);
}

static void clusters_that_a_run_reached_are_on_its_snapshot(void **state)
{
        struct scene s;

        open_scene(&s);
        is_on_its_way(&s);
        doc_set_string(binding_of(&s), "spec.resourceSnapshotName", "app-0-3-snapshot");
        says(&s, "member-1 is on app-0-3-snapshot, should be on app-0-4-snapshot");
        s.wish.apps[0].n_runs[PLACE_MAIN] = 2; /* the other one may have had a say */
        says(&s, "");
        close_scene(&s);
}

static void a_run_succeeds_with_all_its_stages(void **state)
{
        struct scene s;

        open_scene(&s);
        is_on_its_way(&s);
        bench_condition(status_of(&s), "", "Succeeded", true, "UpdateRunSucceeded");
        says(&s, "it succeeded, stage one did not");
        bench_condition(stage_of(&s), "", "Succeeded", true, "StageUpdatingSucceeded");
        says(&s, "it succeeded, stage deletion did not");
        bench_condition(json_object_get(status_of(&s), "deletionStageStatus"), "", "Succeeded", true,
                        "StageUpdatingSucceeded");
        says(&s, "");
        close_scene(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_run_is_there_when_it_should_be),
                cmocka_unit_test(a_run_ends_for_a_reason_that_there_is),
                cmocka_unit_test(a_run_ends_without_a_policy_where_the_namespace_to_select_in_is_gone),
                cmocka_unit_test(a_run_that_goes_on_waits_for_a_cluster_that_has_not_arrived),
                cmocka_unit_test(a_run_waits_for_an_approval_that_nobody_gave),
                cmocka_unit_test(a_run_is_held_as_long_as_users_hold_it),
                cmocka_unit_test(clusters_that_a_run_reached_are_on_its_snapshot),
                cmocka_unit_test(a_run_succeeds_with_all_its_stages),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
