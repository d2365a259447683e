/* What `kubectl fleet plan` says of a Work under each rule of applying: strategies, owners, left-overs. */
#include "kubectl-fleet/plan_work_test.h"

#define STRATEGY(words) "'applyStrategy':{" words "},"

/* The plan of the Work has these lines, in this order. */
static void expect(struct user *u, const char *work, const char *lines)
{
        const char *word = arena_printf(&u->rig->arena, "work/%s", work);

        if (FLEET_RUN(u, "plan", word, ON_M1) != 0)
                fail_msg("%s: %s", work, u->err.data);
        assert_lines(u->out.data, lines);
}

USER_TEST(what_was_there_before_is_treated_as_the_strategy_says, {
        static const struct {
                const char *strategy, *lines;
        } rows[] = {
                { "", "    ~ ConfigMap default/c  taken over\n        /data/k  \"1\" → \"2\"\n" },
                { STRATEGY("'whenToTakeOver':'Never'"),
                  "1 refused\n    ! ConfigMap default/c  NotTakenOver\n"
                  "        no ownership of the object in the member cluster; takeover is needed\n" },
                { STRATEGY("'whenToTakeOver':'IfNoDiff'"),
                  "    ! ConfigMap default/c  FailedToTakeOver\n"
                  "        cannot take over object: configuration differences are found between the "
                  "manifest object and the corresponding object in the member cluster\n"
                  "        /data/k  1 → 2\n" },
                { STRATEGY("'type':'ReportDiff'"),
                  "0 to change, 0 to remove, 1 reported\n    ? ConfigMap default/c  taken over\n"
                  "        /data/k  1 → 2\n" },
                { STRATEGY("'type':'ReportDiff','whenToTakeOver':'Never'"),
                  "    ? ConfigMap default/c\n        /data/k  1 → 2\n" },
                { STRATEGY("'type':'ServerSideApply'"),
                  "  ServerSideApply\n    ! ConfigMap default/c  ManifestApplyFailed\n"
                  "        failed to apply the manifest: failed to apply the manifest object: \n.data.k\n" },
                { STRATEGY("'type':'ServerSideApply','serverSideApplyConfig':{'force':true}"),
                  "    ~ ConfigMap default/c  taken over\n        /data/k  \"1\" → \"2\"\n" },
        };
        char name[8];

        add_member(u);
        post(u->rig, MEMBER, NS "/default/configmaps?fieldManager=somebody", CONFIG_MAP("c", "1"));
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                snprintf(name, sizeof(name), "w%zu", i);
                place(u->rig, name, rows[i].strategy, CONFIG_MAP("c", "2"));
                expect(u, name, rows[i].lines);
        }
})

USER_TEST(an_owner_beside_us_is_a_matter_of_co_ownership, {
        add_member(u);
        add_owned(u, "c");
        place(u->rig, "alone", "", CONFIG_MAP("c", "2"));
        expect(u, "alone", "    ! ConfigMap default/c  FailedToTakeOver\n");
        place(u->rig, "both", STRATEGY("'allowCoOwnership':true"), CONFIG_MAP("c", "2"));
        expect(u, "both", "    ~ ConfigMap default/c  taken over\n        /data/k  \"1\" → \"2\"\n");
})

USER_TEST(drift_is_told_as_the_member_would, {
        struct rig *r = u->rig;

        add_member(u);
        invite(r);
        place(r, "w", STRATEGY("'whenToApply':'IfNotDrifted'"), CONFIG_MAP("c", "1"));
        let_agent_work(u, "w");
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'theirs','more':'x'}}");
        expect(u, "w",
               "    ! ConfigMap default/c  FoundDrifts\n        cannot apply manifest: drifts are found "
               "between the manifest and the object from the member cluster\n        /data/k  theirs → 1\n");
        merge(r, HUB, WORKS "/w",
              "{'spec':{'applyStrategy':{'whenToApply':'Always','comparisonOption':'FullComparison'}}}");
        expect(u, "w",
               "    ~ ConfigMap default/c  what differs beyond the manifest stays, and is told as a drift\n"
               "        /data/k  \"theirs\" → \"1\"\n");
})

#define JOB_LIKE                                                                                             \
        "{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j','namespace':'default'},'spec':{"       \
        "'ttlSecondsAfterFinished':1,'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c'," \
        "'image':'i'}]}}}}"
#define WIDGETS                                                                                              \
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{'name':"      \
        "'widgets.example.com'},'spec':{'group':'example.com','scope':'Namespaced','names':{'plural':"       \
        "'widgets','singular':'widget','kind':'Widget','listKind':'WidgetList'},'versions':[{'name':'v1',"   \
        "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}"
#define WIDGET "{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'w','namespace':'default'}}"

USER_TEST(what_the_server_refuses_and_what_it_cannot_try_yet_are_told_apart, {
        add_member(u);
        place(u->rig, "w", "",
              AT_HOME("ConfigMap", "bad", ",'data':{'k':5}") "," AT_HOME(
                      "ConfigMap", "twice", "") "," AT_HOME("ConfigMap", "twice", "") "," WIDGET "," WIDGETS
                                                                                      "," JOB_LIKE);
        expect(u, "w",
               "  m1  4 to add, 0 to change, 0 to remove, 2 refused\n"
               "    ! ConfigMap default/bad  ManifestApplyFailed\n"
               "        failed to apply the manifest: failed to create manifest object: \n"
               "    + ConfigMap default/twice\n    + CustomResourceDefinition widgets.example.com\n"
               "    + Job default/j\n    + Widget default/w  after its definition\n"
               "    ! ConfigMap default/twice  Duplicated\n        a duplicate manifest has been found\n");
})

#define WIDGET_AS(version, place)                                                                            \
        "{'apiVersion':'example.com/" version "','kind':'Widget','metadata':{'name':'" version "'" place "}" \
        "}"

/* A definition beside it helps none that it does not serve. */
USER_TEST(what_its_definition_would_not_serve_is_refused, {
        add_member(u);
        place(u->rig, "w", "", WIDGETS "," WIDGET_AS("v1", "") "," WIDGET_AS("v2", ",'namespace':'default'"));
        expect(u, "w",
               "  m1  1 to add, 0 to change, 0 to remove, 2 refused\n"
               "    + CustomResourceDefinition widgets.example.com\n"
               "    ! Widget v1  DecodingErred\n    ! Widget default/v2  DecodingErred\n");
        invite(u->rig);
        let_agent_work(u, "w");
        assert_string_equal(manifest_reason(u->rig, "w", 1, "Applied"), "DecodingErred");
        assert_string_equal(manifest_reason(u->rig, "w", 2, "Applied"), "DecodingErred");
})

USER_TEST(a_work_of_one_namespace_reaches_no_other, {
        add_member(u);
        place(u->rig, "w", "", CONFIG_MAP("c", "1"));
        merge(u->rig, HUB, WORKS "/w",
              "{'metadata':{'labels':{'kubernetes-fleet.io/parent-placement-namespace':'team'}}}");
        expect(u, "w", "    ! ConfigMap default/c  DecodingErred\n");
        assert_lines(u->out.data, "but this Work may reach namespace \"team\" alone\n");
})

/* ---- what left the Work ---- */

static void label(struct user *u, const char *work)
{
        merge(u->rig, HUB, arena_printf(&u->rig->arena, WORKS "/%s", work),
              "{'metadata':{'labels':{'kubernetes-fleet.io/parent-resource-binding':'web-m1'}}}");
}

/* Objects a and b are the Work's, and it lists neither any more; b has another owner, too. */
static void leave_two(struct user *u)
{
        struct rig *r = u->rig;
        const char *owners;

        add_member(u);
        invite(r);
        place(r, "w", "", CONFIG_MAP("a", "1") "," CONFIG_MAP("b", "1"));
        let_agent_work(u, "w");
        add_owned(u, "other");
        get(r, MEMBER, CONFIG_MAP_PATH("b"));
        owners = rig_string(r, "metadata.uid");
        get(r, MEMBER, APPLIED_WORKS "/w");
        owners = arena_printf(&r->arena,
                              "{'metadata':{'ownerReferences':[{'apiVersion':'placement.kubernetes-fleet.io/"
                              "v1beta1','kind':'AppliedWork','name':'w','uid':'%s'},",
                              rig_string(r, "metadata.uid"));
        get(r, MEMBER, CONFIG_MAP_PATH("parent"));
        merge(r, MEMBER, CONFIG_MAP_PATH("b"),
              arena_printf(&r->arena,
                           "%s{'apiVersion':'v1','kind':'ConfigMap','name':'parent','uid':'%s'}]}}", owners,
                           rig_string(r, "metadata.uid")));
        replace_manifests(r, "w", CONFIG_MAP("new", "1"));
}

USER_TEST(what_left_the_work_goes_unless_others_own_it, {
        leave_two(u);
        expect(u, "w",
               "  m1  1 to add, 0 to change, 1 to remove, 1 unchanged\n    - ConfigMap default/a\n"
               "    = ConfigMap default/b  let go of, and stays: others own it, or it was never applied\n"
               "    + ConfigMap default/new\n");
        merge(u->rig, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'type':'ReportDiff'}}}");
        expect(u, "w", "    = ConfigMap default/a  stays while the Work only reports differences\n");
        assert_int_equal(get(u->rig, MEMBER, CONFIG_MAP_PATH("a")), 200);
        assert_int_equal(get(u->rig, MEMBER, CONFIG_MAP_PATH("b")), 200);
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "metadata.ownerReferences")), 2);
})

USER_TEST(what_another_work_of_the_placement_lists_is_handed_over, {
        leave_two(u);
        place(u->rig, "heir", "", CONFIG_MAP("a", "1"));
        expect(u, "heir", "    ! ConfigMap default/a  FailedToTakeOver\n"); /* a stranger's */
        label(u, "w");
        label(u, "heir");
        expect(u, "w", "    = ConfigMap default/a  handed to Work heir\n");
        expect(u, "heir", "    = ConfigMap default/a  taken over\n");
        delete (u->rig, HUB, WORKS "/heir");
        label(u, "w");
        expect(u, "w", "    - ConfigMap default/a\n");
})

/* Runs the agent until the object is gone. */
static void let_agent_remove(struct user *u, const char *path)
{
        struct rig *r = u->rig;
        struct agent a;

        start(&a, r, ":memory:");
        for (int i = 0; get(r, MEMBER, path) != 404; i++) {
                if (i > 6000)
                        fail_msg("it was not removed: %s", r->text);
                assert_int_equal(fiber_sleep(r->loop, 100), 0);
        }
        stop(&a);
        on(r, HUB);
}

/* A stranger that lists it where it may not be never gets a row of it, and so is no heir. */
USER_TEST(what_a_work_lists_that_may_not_reach_it_is_not_handed_over, {
        leave_two(u);
        place(u->rig, "elsewhere", "", CONFIG_MAP("a", "1"));
        expect(u, "w", "    = ConfigMap default/a  handed to Work elsewhere\n");
        merge(u->rig, HUB, WORKS "/elsewhere",
              "{'metadata':{'labels':{'kubernetes-fleet.io/parent-placement-namespace':'team'}}}");
        expect(u, "w", "    - ConfigMap default/a\n");
        let_agent_remove(u, CONFIG_MAP_PATH("a"));
})

/* A Work of the placement that still has the revision before may come to list it. */
USER_TEST(what_may_be_listed_by_a_work_that_is_to_come_stays, {
        leave_two(u);
        place(u->rig, "late", "", CONFIG_MAP("else", "1"));
        label(u, "w");
        label(u, "late");
        merge(u->rig, HUB, WORKS "/w",
              "{'metadata':{'labels':{'kubernetes-fleet.io/parent-resource-snapshot-index':'2'}}}");
        expect(u, "w",
               "    = ConfigMap default/a  stays until all Works of its placement are there: one may list "
               "it\n");
})

USER_TEST(nobody_is_to_come_where_the_work_is_all_of_its_set, {
        leave_two(u);
        label(u, "w");
        merge(u->rig, HUB, WORKS "/w",
              "{'metadata':{'labels':{'kubernetes-fleet.io/parent-resource-snapshot-index':'2'},"
              "'annotations':{'" ANNOTATION_WORK_SET "':'2/./1'}}}");
        expect(u, "w", "    - ConfigMap default/a\n");
})

USER_TEST(what_a_work_that_is_gone_left_behind_may_be_taken, {
        leave_two(u);
        merge(u->rig, HUB, WORKS "/w", "{'metadata':{'finalizers':null}}");
        delete (u->rig, HUB, WORKS "/w");
        place(u->rig, "next", "", CONFIG_MAP("a", "2"));
        expect(u, "next", "    ~ ConfigMap default/a  taken over\n        /data/k  \"1\" → \"2\"\n");
})

USER_TEST(of_a_work_that_is_being_deleted_all_goes, {
        struct rig *r = u->rig;

        add_member(u);
        invite(r);
        place(r, "w", "", CONFIG_MAP("a", "1"));
        let_agent_work(u, "w");
        delete (r, HUB, WORKS "/w"); /* the agent's finalizer keeps it */
        expect(u, "w",
               "Work fleet-member-m1/w  ClientSideApply  being deleted\n"
               "  m1  0 to add, 0 to change, 1 to remove\n    - ConfigMap default/a\n");
})

/* The servers tell of the Work's Job that it was applied, and it is gone. */
static void let_job_go(struct rig *r)
{
        post(r, MEMBER, APPLIED_WORKS,
             "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'AppliedWork','metadata':{'name':"
             "'w'},'spec':{'workName':'w','workNamespace':'fleet-member-m1'}}");
        merge(r, MEMBER, APPLIED_WORKS "/w/status",
              "{'status':{'appliedResources':[{'ordinal':0,'group':'batch','version':'v1','kind':'Job',"
              "'resource':'jobs','namespace':'default','name':'j','uid':'u'}]}}");
        merge(r, HUB, WORKS "/w/status",
              "{'status':{'conditions':[{'type':'Applied','status':'True','reason':'R','message':'',"
              "'lastTransitionTime':'2026-01-01T00:00:00Z','observedGeneration':1}],'manifestConditions':[{"
              "'identifier':{'ordinal':0,'group':'batch','version':'v1','kind':'Job','resource':'jobs',"
              "'namespace':'default','name':'j'},'conditions':[{'type':'Applied','status':'True','reason':'R'"
              ","
              "'message':'','lastTransitionTime':'2026-01-01T00:00:00Z'}]}]}}");
}

#define RAN "    = Job default/j  it has run and gone, and is not made again\n"

USER_TEST(a_job_that_ran_and_went_is_not_made_again, {
        add_member(u);
        place(u->rig, "w", "", JOB_LIKE);
        expect(u, "w", "    + Job default/j\n");
        let_job_go(u->rig);
        expect(u, "w", RAN);
})

static void expect_of_file(struct user *u, const char *text, const char *lines)
{
        u->input = arena_strdup(&u->rig->arena, text);
        assert_int_equal(FLEET_RUN(u, "plan", "-f", "-", ON_M1), 0);
        assert_lines(u->out.data, lines);
}

/* The status in a file is of what the hub has, not of what the file makes of it. */
USER_TEST(a_job_that_ran_is_made_again_when_the_file_has_another, {
        struct rig *r = u->rig;
        char *image;

        add_member(u);
        place(r, "w", "", JOB_LIKE);
        let_job_go(r);
        get(r, HUB, WORKS "/w");
        expect_of_file(u, r->text, RAN);
        expect_of_file(u,
                       "{apiVersion: placement.kubernetes-fleet.io/v1beta1, kind: Work, metadata: {name: w}, "
                       "spec: {workload: {manifests: [" JOB_LIKE "]}}}",
                       RAN);
        image = strstr(r->text, "\"image\":\"i\"");
        assert_non_null(image);
        image[9] = 'k';
        expect_of_file(u, r->text, "    + Job default/j\n");
})

#define TWO_KEYS(k, more) AT_HOME("ConfigMap", "c", ",'data':{'k':'" k "','more':'" more "'}")

/* Its own earlier writes are no conflict then; those of others are. */
USER_TEST(a_work_that_goes_over_to_server_side_apply_conflicts_with_others_alone, {
        struct rig *r = u->rig;

        add_member(u);
        invite(r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        let_agent_work(u, "w");
        merge(r, MEMBER, CONFIG_MAP_PATH("c") "?fieldManager=somebody", "{'data':{'more':'theirs'}}");
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'type':'ServerSideApply'}}}");
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        expect(u, "w",
               "    ~ ConfigMap default/c  its fields pass to server-side apply first: what the manifest no "
               "longer names goes, too\n        /data/k  \"1\" → \"2\"\n");
        replace_manifests(r, "w", TWO_KEYS("2", "ours"));
        expect(u, "w",
               "    ! ConfigMap default/c  ManifestApplyFailed\n        failed to apply the manifest: \n"
               "conflicts with \"somebody\" using v1:\n        - .data.more\n");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_there_before_is_treated_as_the_strategy_says),
                cmocka_unit_test(an_owner_beside_us_is_a_matter_of_co_ownership),
                cmocka_unit_test(drift_is_told_as_the_member_would),
                cmocka_unit_test(what_the_server_refuses_and_what_it_cannot_try_yet_are_told_apart),
                cmocka_unit_test(what_its_definition_would_not_serve_is_refused),
                cmocka_unit_test(a_work_of_one_namespace_reaches_no_other),
                cmocka_unit_test(what_left_the_work_goes_unless_others_own_it),
                cmocka_unit_test(what_another_work_of_the_placement_lists_is_handed_over),
                cmocka_unit_test(what_a_work_lists_that_may_not_reach_it_is_not_handed_over),
                cmocka_unit_test(what_may_be_listed_by_a_work_that_is_to_come_stays),
                cmocka_unit_test(nobody_is_to_come_where_the_work_is_all_of_its_set),
                cmocka_unit_test(what_a_work_that_is_gone_left_behind_may_be_taken),
                cmocka_unit_test(of_a_work_that_is_being_deleted_all_goes),
                cmocka_unit_test(a_job_that_ran_and_went_is_not_made_again),
                cmocka_unit_test(a_job_that_ran_is_made_again_when_the_file_has_another),
                cmocka_unit_test(a_work_that_goes_over_to_server_side_apply_conflicts_with_others_alone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
