/* What becomes of an object that differs from its manifest, and what is told of it. */
#include "member-agent/member_agent_test.h"

#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"
#define SITE_PATH "/apis/apps/v1/namespaces/default/deployments/site"

static void wait_ms(struct rig *r, int64_t ms)
{
        assert_int_equal(fiber_sleep(r->loop, ms), 0);
}

/* The only entry in the details ("driftDetails.observedDrifts") of the Work's first manifest. */
static void assert_only_detail(struct rig *r, const char *list, const char *path, const char *hub,
                               const char *member)
{
        const json_t *at = doc_get_array(manifest_status(r, "w", 0), list), *entry = json_array_get(at, 0);
        const char *is_hub = doc_get_string(entry, "valueInHub");
        const char *is_member = doc_get_string(entry, "valueInMember");

        if (json_array_size(at) != 1 || !text_equal(doc_get_string(entry, "path"), path) ||
            !text_equal(is_hub ? is_hub : "", hub) || !text_equal(is_member ? is_member : "", member))
                fail_msg("not \"%s %s %s\" alone: %s", path, hub, member, r->text);
}

static const char *version_of(struct rig *r, const char *path)
{
        assert_int_equal(get(r, MEMBER, path), 200);
        return arena_strdup(&r->arena, rig_string(r, "metadata.resourceVersion"));
}

/* ---- taking over ---- */

#define IF_NO_DIFF "'whenToTakeOver':'IfNoDiff'"

/* An object that is there before its Work: as the manifest, with these fields merged in. */
struct found {
        const char *edit, *strategy;
        const char *reason;                    /* of Applied */
        const char *path, *in_hub, *in_member; /* of the difference; NULL = none is told */
};

static void found_body(struct rig *r)
{
        const struct found *f = r->ctx;
        const char *version;
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("c", "1"));
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), f->edit);
        version = version_of(r, CONFIG_MAP_PATH("c"));
        place(r, "w", arena_printf(&r->arena, "'applyStrategy':{%s},", f->strategy), CONFIG_MAP("c", "1"));
        wait_ms(r, 20000);
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), f->reason);
        if (f->path)
                assert_only_detail(r, "diffDetails.observedDiffs", f->path, f->in_hub, f->in_member);
        else
                assert_null(doc_get(manifest_status(r, "w", 0), "diffDetails"));
        if (text_equal(f->reason, "Applied")) {
                get(r, MEMBER, CONFIG_MAP_PATH("c"));
                assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")), 1);
        } else {
                assert_string_equal(version_of(r, CONFIG_MAP_PATH("c")), version);
                assert_null(doc_get(r->answer, "metadata.ownerReferences"));
        }
        stop(&a);
}

#define FULL ",'comparisonOption':'FullComparison'"

/* spec/member-agent.md checklist 22, 23 */
static void what_is_there_is_taken_over_if_it_is_as_wished(void **state)
{
        static const struct found lines[] = {
                { "{'data':{'k':'theirs'}}", IF_NO_DIFF, "FailedToTakeOver", "/data/k", "1", "theirs" },
                { "{'data':{'k':null}}", IF_NO_DIFF, "FailedToTakeOver", "/data", "map[k:1]", "" },
                { "{'metadata':{'labels':{'mine':'x'}}}", IF_NO_DIFF, "Applied", NULL, NULL, NULL },
                { "{'data':{'mine':'x'}}", IF_NO_DIFF, "Applied", NULL, NULL, NULL },
                { "{'metadata':{'labels':{'mine':'x'}}}", IF_NO_DIFF FULL, "FailedToTakeOver",
                  "/metadata/labels/mine", "", "x" },
                { "{'data':{'mine':'x'}}", IF_NO_DIFF FULL, "FailedToTakeOver", "/data/mine", "", "x" },
                { "{'metadata':{'annotations':{}}}", IF_NO_DIFF FULL, "Applied", NULL, NULL, NULL },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                rig_run_for(found_body, (void *)(uintptr_t)&lines[i]);
}

/* ctx: whether sharing is allowed. */
static void owned_body(struct rig *r)
{
        bool shared = *(const bool *)r->ctx;
        const char *strategy = shared ? "'applyStrategy':{'allowCoOwnership':true}," : "", *version;
        struct agent a;

        begin(&a, r);
        place(r, "first", "", CONFIG_MAP("c", "first"));
        wait_for(r, HUB, WORKS "/first", "type=Available", "AllManifestsAvailable");
        version = version_of(r, CONFIG_MAP_PATH("c"));
        post(r, MEMBER, CONFIG_MAPS,
             arena_printf(&r->arena,
                          "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'theirs','namespace':"
                          "'default','ownerReferences':[{'apiVersion':'v1','kind':'Namespace','name':"
                          "'default','uid':'%s'}]}}",
                          (get(r, MEMBER, NS "/default"), rig_string(r, "metadata.uid"))));
        place(r, "w", strategy, CONFIG_MAP("c", "second") "," CONFIG_MAP("theirs", "second"));
        wait_ms(r, 30000);
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "FailedToTakeOver");
        assert_string_equal(version_of(r, CONFIG_MAP_PATH("c")), version);
        assert_string_equal(manifest_reason(r, "w", 1, "Applied"), shared ? "Applied" : "FailedToTakeOver");
        get(r, MEMBER, CONFIG_MAP_PATH("theirs"));
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")),
                         shared ? 2 : 1);
        assert_string_equal(rig_string(r, "data.k"), shared ? "second" : "");
        stop(&a);
}

/* spec/member-agent.md checklist 24 */
static void what_another_work_owns_is_never_taken_over_what_others_own_if_shared(void **state)
{
        static const bool shared[] = { false, true };

        for (size_t i = 0; i < ARRAY_LEN(shared); i++)
                rig_run_for(owned_body, (void *)(uintptr_t)&shared[i]);
}

/* ---- drifts ---- */

/* spec/member-agent.md checklist 32 */
RIG_TEST(a_replica_count_that_somebody_changed_is_told_and_left_alone, {
        const char *version;
        struct agent a;

        begin(&a, r);
        place(r, "w", "'applyStrategy':{'whenToApply':'IfNotDrifted'},", DEPLOYMENT);
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        merge(r, MEMBER, SITE_PATH, "{'spec':{'replicas':5}}");
        wait_ms(r, 20000);
        version = version_of(r, SITE_PATH);
        wait_ms(r, 1000000);
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "FoundDrifts");
        assert_only_detail(r, "driftDetails.observedDrifts", "/spec/replicas", "1", "5");
        assert_string_equal(version_of(r, SITE_PATH), version);
        assert_int_equal(doc_get_int(r->answer, "spec.replicas", 0), 5);
        stop(&a);
})

/* spec/member-agent.md checklist 35 */
RIG_TEST(a_full_comparison_tells_of_drifts_in_what_it_applied, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "'applyStrategy':{'comparisonOption':'FullComparison'},", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_null(doc_get(manifest_status(r, "w", 0), "driftDetails"));
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'changed','mine':'x'}}");
        wait_ms(r, 20000);
        assert_only_detail(r, "driftDetails.observedDrifts", "/data/mine", "", "x");
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "Applied");
        get(r, HUB, WORKS "/w");
        assert_string_equal(read_field(r, "type=Applied"), "AllManifestsApplied");
        assert_string_equal(read_field(r, "type=Available"), "AllManifestsAvailable");
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "1");
        stop(&a);
})

/* Only a full comparison looks once more at what was just written. */
RIG_TEST(without_a_full_comparison_a_change_costs_one_request, {
        struct agent a;
        uint64_t before;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        before = requests(r, "m1", "patch", "configmaps");
        merge(r, HUB, WORKS "/w", "{'spec':{'workload':{'manifests':[" CONFIG_MAP("c", "2") "]}}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        wait_ms(r, 20000);
        assert_int_equal(requests(r, "m1", "patch", "configmaps") - before, 1);
        stop(&a);
})

/* What the server would not let become of the object is compared without its help: fields that the manifest
 * leaves out count, too. */
static void degrade(struct rig *r, const char *strategy)
{
        merge(r, HUB, WORKS "/w", arena_printf(&r->arena, "{'spec':{'applyStrategy':{%s}}}", strategy));
        wait_ms(r, 20000);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'changed'},'immutable':true}");
        wait_ms(r, 20000);
}

static void assert_degraded(struct rig *r, const char *list)
{
        const json_t *at = doc_get_array(manifest_status(r, "w", 0), list);

        assert_int_equal(json_array_size(at), 2);
        assert_string_equal(doc_get_string(json_array_get(at, 0), "path"), "/data/k");
        assert_string_equal(doc_get_string(json_array_get(at, 1), "path"), "/immutable");
}

/* spec/member-agent.md checklist 36 */
RIG_TEST(drifts_that_the_server_forbids_to_undo_are_compared_in_full, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        degrade(r, "'whenToApply':'IfNotDrifted'");
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "FoundDriftsInDegradedMode");
        assert_degraded(r, "driftDetails.observedDrifts");
        stop(&a);
})

/* spec/member-agent.md checklist 36 */
RIG_TEST(and_so_are_differences, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        degrade(r, "'type':'ReportDiff'");
        assert_string_equal(manifest_reason(r, "w", 0, "DiffReported"), "FoundDiffInDegradedMode");
        assert_degraded(r, "diffDetails.observedDiffs");
        stop(&a);
})

static int refuse_dry_runs(void *ctx, const struct http_request *rq)
{
        return strstr(rq->path, "dryRun") ? *(const int *)ctx : 0;
}

/* Any other refusal says nothing of the manifest. */
RIG_TEST(what_cannot_be_asked_at_the_moment_is_not_compared_in_full, {
        static const int refusals[] = { 403, 503 };
        int refusal = 0;
        struct loopback_faults faults = { .ctx = &refusal, .fate = refuse_dry_runs };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w", "'applyStrategy':{'whenToApply':'IfNotDrifted'},", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
                refusal = refusals[i];
                merge(r, MEMBER, CONFIG_MAP_PATH("c"),
                      arena_printf(&r->arena, "{'data':{'k':'%d'}}", refusals[i]));
                wait_ms(r, 20000);
                assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "FailedToRunDriftDetection");
        }
        refusal = 0;
        wait_ms(r, 60000);
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "FoundDrifts");
        stop(&a);
})

/* ---- differences only ---- */

/* spec/member-agent.md checklist 40 */
RIG_TEST(a_missing_object_differs_as_a_whole, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "'applyStrategy':{'type':'ReportDiff'},", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=DiffReported", "AllManifestsDiffReported");
        assert_string_equal(manifest_reason(r, "w", 0, "DiffReported"), "FoundDiff");
        assert_only_detail(r, "diffDetails.observedDiffs", "/", "(the whole object)", "");
        assert_null(doc_get(manifest_status(r, "w", 0), "diffDetails.observedInMemberClusterGeneration"));
        wait_ms(r, 100000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("c", "2"));
        wait_ms(r, 1000000);
        assert_only_detail(r, "diffDetails.observedDiffs", "/data/k", "1", "2");
        assert_non_null(doc_get(manifest_status(r, "w", 0), "diffDetails.observedInMemberClusterGeneration"));
        stop(&a);
})

static size_t applied_resources(struct rig *r)
{
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 200);
        return json_array_size(doc_get_array(r->answer, "status.appliedResources"));
}

/* spec/member-agent.md checklist 41 */
RIG_TEST(who_reports_differences_says_nothing_of_applying, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        wait_ms(r, 1000);
        assert_int_equal(applied_resources(r), 1);
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'type':'ReportDiff'}}}");
        wait_for(r, HUB, WORKS "/w", "type=DiffReported", "AllManifestsDiffReported");
        wait_ms(r, 1000);
        assert_string_equal(read_field(r, "type=Applied"), "");
        assert_string_equal(read_field(r, "type=Available"), "");
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "");
        assert_string_equal(manifest_reason(r, "w", 0, "Available"), "");
        assert_string_equal(manifest_reason(r, "w", 0, "DiffReported"), "NoDiffFound");
        assert_int_equal(applied_resources(r), 0);
        stop(&a);
})

/* What leaves the Work meanwhile was somebody's before, and is again. */
RIG_TEST(what_was_only_compared_is_given_back_as_it_was, {
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("c", "0"));
        post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("d", "0"));
        place(r, "w", "'applyStrategy':{'type':'ReportDiff'},",
              CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=DiffReported", "AllManifestsDiffReported");
        replace_manifests(r, "w", CONFIG_MAP("c", "1"));
        wait_ms(r, 60000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("d")), 200);
        assert_string_equal(rig_string(r, "data.k"), "0");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")), 0);
        stop(&a);
})

/* spec/member-agent.md 2.4: it is removed when the Work is applied again. */
RIG_TEST(who_reports_differences_deletes_nothing, {
        struct agent a;
        uint64_t reads;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        merge(r, HUB, WORKS "/w",
              "{'spec':{'applyStrategy':{'type':'ReportDiff'},'workload':{'manifests':[" CONFIG_MAP(
                      "c", "1") "]}}}");
        wait_for(r, HUB, WORKS "/w", "type=DiffReported", "AllManifestsDiffReported");
        wait_ms(r, 60000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("d")), 200);
        reads = requests(r, "m1", "get", "configmaps");
        wait_ms(r, 60000);
        assert_true(requests(r, "m1", "get", "configmaps") - reads < 20); /* nobody waits for it either */
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'type':'ClientSideApply'}}}");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("d"));
        stop(&a);
})

/* ctx: whether the objects had been applied before differences were reported. Of two manifests one goes with
 * the change of the strategy. */
static void back_to_applying_body(struct rig *r)
{
        bool applied = *(const bool *)r->ctx;
        struct agent a;

        begin(&a, r);
        place(r, "w", applied ? "" : "'applyStrategy':{'type':'ReportDiff'},",
              CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_ms(r, 20000);
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'type':'ReportDiff'}}}");
        wait_for(r, HUB, WORKS "/w", "type=DiffReported", "AllManifestsDiffReported");
        wait_ms(r, 20000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("d")), applied ? 200 : 404);
        merge(r, HUB, WORKS "/w",
              "{'spec':{'applyStrategy':{'type':'ClientSideApply'},'workload':{'manifests':[" CONFIG_MAP(
                      "c", "2") "]}}}");
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        wait_ms(r, 20000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("d")), 404);
        get(r, HUB, WORKS "/w");
        assert_string_equal(read_field(r, "type=DiffReported"), "");
        assert_string_equal(manifest_reason(r, "w", 0, "DiffReported"), "");
        stop(&a);
}

/* spec/member-agent.md checklist 42 */
static void a_manifest_may_go_when_applying_begins_again(void **state)
{
        static const bool applied[] = { false, true };

        for (size_t i = 0; i < ARRAY_LEN(applied); i++)
                rig_run_for(back_to_applying_body, (void *)(uintptr_t)&applied[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_only_compared_is_given_back_as_it_was),
                cmocka_unit_test(who_reports_differences_deletes_nothing),
                cmocka_unit_test(what_is_there_is_taken_over_if_it_is_as_wished),
                cmocka_unit_test(what_another_work_owns_is_never_taken_over_what_others_own_if_shared),
                cmocka_unit_test(a_replica_count_that_somebody_changed_is_told_and_left_alone),
                cmocka_unit_test(a_full_comparison_tells_of_drifts_in_what_it_applied),
                cmocka_unit_test(without_a_full_comparison_a_change_costs_one_request),
                cmocka_unit_test(drifts_that_the_server_forbids_to_undo_are_compared_in_full),
                cmocka_unit_test(and_so_are_differences),
                cmocka_unit_test(what_cannot_be_asked_at_the_moment_is_not_compared_in_full),
                cmocka_unit_test(a_missing_object_differs_as_a_whole),
                cmocka_unit_test(who_reports_differences_says_nothing_of_applying),
                cmocka_unit_test(a_manifest_may_go_when_applying_begins_again),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
