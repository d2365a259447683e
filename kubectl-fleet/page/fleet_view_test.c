/* The fleet and one cluster as rows. */
#include "kubectl-fleet/page/look_test.h"

extern const struct page_view fleet_page_view, cluster_page_view;

#define META(name)                                                                                           \
        "'metadata':{'name':'" name "','uid':'u-" name                                                       \
        "','generation':1,'creationTimestamp':'2026-01-01T00:00:00Z'"
#define CONDITION(type, status, message)                                                                     \
        "{'type':'" type "','status':'" status "','reason':'R','message':'" message                          \
        "','observedGeneration':1,'lastTransitionTime':'2026-01-01T00:01:00Z'}"
#define STARTED CONDITION("RolloutStarted", "True", "")
#define APPLIED                                                                                              \
        STARTED "," CONDITION("Overridden", "True", "") "," CONDITION(                                       \
                "WorkSynchronized", "True", "") "," CONDITION("Applied", "True", "")
#define WELL APPLIED "," CONDITION("Available", "True", "")
#define ILL STARTED "," CONDITION("Overridden", "False", "the <b>override</b> is wrong")
#define SCHEDULED(prefix) CONDITION(prefix "PlacementScheduled", "True", "")
#define HEARD "2026-01-01T00:00:30Z"

static void put_cluster(struct scene *s, const char *name, const char *joined, const char *healthy)
{
        scene_put(s, &member_cluster_kind,
                  "{" META("%s") ",'labels':{'region':'eu','<i>':'x'}},'spec':{'identity':{'kind':'User','"
                                 "name':'x'}},"
                                 "'status':{'conditions':[{'type':'Joined','status':'%s','reason':'R','"
                                 "message':'about joining',"
                                 "'lastTransitionTime':'2026-01-01T00:00:00Z'}],'agentStatus':[{'type':'"
                                 "MemberAgent',"
                                 "'lastReceivedHeartbeat':'" HEARD
                                 "','conditions':[{'type':'Healthy','status':'%s','reason':'R',"
                                 "'message':'about health','lastTransitionTime':'2026-01-01T00:00:00Z'}]}]}}",
                  name, name, joined, healthy);
}

static void put_placement(struct scene *s, const char *statuses)
{
        scene_put(s, &cluster_resource_placement_kind,
                  "{" META("web") "},'spec':{'resourceSelectors':[],'policy':{'placementType':'PickN',"
                                  "'numberOfClusters':2}},'status':{'observedResourceIndex':'4','conditions':"
                                  "[" SCHEDULED("ClusterResource") "],'placementStatuses':[%s]}}",
                  statuses);
}

static void clusters_are_rows_with_what_is_known(void **state)
{
        struct scene *s = *state;

        put_cluster(s, "a", "True", "True");
        put_cluster(s, "b", "True", "False");
        put_cluster(s, "c", "False", "True");
        scene_put(s, &member_cluster_kind,
                  "{" META("d") ",'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':['x']},"
                                "'spec':{'identity':{'kind':'User','name':'x'},'taints':[{'key':'cordon-key',"
                                "'value':"
                                "'cordon-value','effect':'NoSchedule'}]},'status':{'properties':{'kubernetes-"
                                "fleet.io/node-count':"
                                "{'value':'3'},'k8s.io/"
                                "k8s-version':{'value':'v1.33.0'},'kubernetes.azure.com/per-cpu-core-cost':"
                                "{'value':'0.04'}},'resourceUsage':{'capacity':{'cpu':'8'},'allocatable':{'"
                                "cpu':'7','memory':"
                                "'16Gi'},'available':{'cpu':'2'}}}}");
        scene_look(s, &fleet_page_view);
        assert_has(scene_head(s), "{'clusters':{'total':4,'done':1,'busy':1,'failed':1,'waits':1}}");
        assert_has(scene_row(s, "clusters", "a"), "{'standing':'done','word':'healthy','labels':{'region':'"
                                                  "eu','<i>':'x'},'heard':1767225630000,"
                                                  "'placements':0}");
        assert_has(scene_row(s, "clusters", "b"),
                   "{'standing':'failed','word':'not healthy','message':'about health'}");
        assert_has(scene_row(s, "clusters", "c"),
                   "{'standing':'waits','word':'not joined','message':'about joining'}");
        assert_has(
                scene_row(s, "clusters", "d"),
                "{'standing':'busy','word':'leaving','removing':true,'cordoned':true,'taints':[{'key':'"
                "cordon-key',"
                "'value':'cordon-value','effect':'NoSchedule'}],'nodes':3,'version':'v1.33.0','cost':{'cpu':"
                "'0.04'},'cpu':{'capacity':'8','allocatable':'7','available':'2'},'memory':{'allocatable':'"
                "16Gi'}}");
}

static void placements_are_rows_and_count_on_their_clusters(void **state)
{
        struct scene *s = *state;

        put_cluster(s, "a", "True", "True");
        put_cluster(s, "b", "True", "True");
        put_placement(s, "{'clusterName':'a','conditions':[" WELL "]},{'clusterName':'b','conditions':[" ILL
                         "]}");
        scene_put(
                s, &resource_placement_kind,
                "{" META("own") ",'namespace':'team'},'spec':{'resourceSelectors':[]},'status':{'conditions':"
                                "[" SCHEDULED("Resource") "],'placementStatuses':[{'clusterName':'a','"
                                                          "conditions':[" WELL
                                                          "],'driftedPlacements':[{'kind':'ConfigMap','name':"
                                                          "'c','version':'v1','observationTime':'" HEARD
                                                          "','firstDriftedObservedTime':'" HEARD
                                                          "','targetClusterObservedGeneration':1}]}]}}");
        scene_look(s, &fleet_page_view);
        assert_has(scene_head(s), "{'placements':{'total':2,'done':0,'busy':1,'failed':1,'waits':0}}");
        assert_has(
                scene_row(s, "placements", "crp/web"),
                "{'standing':'failed','word':'failed','policy':'PickN 2','revision':'4','progress':{'done':1,"
                "'busy':0,'failed':1,'total':2},'since':1767225660000}");
        assert_has(scene_row(s, "placements", "rp/team/own"),
                   "{'standing':'busy','word':'drifted','drifted':1,'policy':'PickAll'}");
        assert_has(scene_row(s, "clusters", "a"), "{'placements':2}");
        assert_null(json_object_get(scene_row(s, "clusters", "a"), "trouble"));
        assert_has(scene_row(s, "clusters", "b"), "{'placements':1,'trouble':1}");
}

#define GATE(approved)                                                                                       \
        "{'type':'Approval','approvalRequestName':'r-before-canary','conditions':[" CONDITION(               \
                "ApprovalRequestCreated", "True", "") approved "]}"

static void put_run(struct scene *s, const char *gate)
{
        scene_put(s, &cluster_staged_update_run_kind,
                  "{" META("r") "},'spec':{'placementName':'web','stagedRolloutStrategyName':'s',"
                                "'resourceSnapshotIndex':'4'},'status':{'conditions':[" CONDITION(
                                        "Initialized", "True",
                                        "") ","
                                            "{'type':'Progressing','status':'False','reason':'"
                                            "UpdateRunWaiting','message':'waits',"
                                            "'observedGeneration':1,'lastTransitionTime':'2026-01-01T00:01:"
                                            "00Z'}],'stagesStatus':[{'stageName':"
                                            "'canary','clusters':[{'clusterName':'a'},{'clusterName':'b'}],'"
                                            "beforeStageTaskStatus':[%s],"
                                            "'conditions':[{'type':'Progressing','status':'False','reason':'"
                                            "StageUpdatingWaiting','message':'',"
                                            "'observedGeneration':1,'lastTransitionTime':'2026-01-01T00:01:"
                                            "00Z'}]}]}}",
                  gate);
}

static void runs_are_rows_and_tell_which_approvals_they_wait_for(void **state)
{
        struct scene *s = *state;

        put_run(s, GATE(""));
        scene_look(s, &fleet_page_view);
        assert_has(scene_head(s), "{'approvals':1,'runs':{'total':1,'busy':1}}");
        assert_has(
                scene_row(s, "runs", "csur/r"),
                "{'standing':'busy','word':'waiting','placement':'crp/web','revision':'4','stage':'canary',"
                "'progress':{'done':0,'busy':0,'failed':0,'total':2},'approvals':[{'stage':'canary','when':"
                "'before','request':'r-before-canary'}]}");
        put_run(s, GATE("," CONDITION("ApprovalRequestApproved", "True", "")));
        scene_look(s, &fleet_page_view);
        assert_has(scene_head(s), "{'approvals':0}");
        assert_has(scene_row(s, "runs", "csur/r"), "{'approvals':[]}");
}

static void only_rows_that_changed_are_sent(void **state)
{
        struct scene *s = *state;

        for (int i = 0; i < 500; i++) {
                char name[16];

                snprintf(name, sizeof(name), "c%d", i);
                put_cluster(s, name, "True", "True");
        }
        put_placement(s, "{'clusterName':'c1','conditions':[" WELL "]}");
        scene_look(s, &fleet_page_view);
        assert_int_equal(s->rows_sent, 501);
        scene_look(s, &fleet_page_view);
        assert_int_equal(s->rows_sent, 0);
        put_cluster(s, "c7", "True", "False");
        scene_look(s, &fleet_page_view);
        assert_int_equal(s->rows_sent, 1);
        put_placement(s, "{'clusterName':'c1','conditions':[" ILL "]}");
        scene_look(s, &fleet_page_view);
        assert_int_equal(s->rows_sent, 2); /* the placement, and the cluster of which it tells */
        assert_has(scene_row(s, "clusters", "c1"), "{'trouble':1}");
        scene_remove(s, &cluster_resource_placement_kind, NULL, "web");
        scene_look(s, &fleet_page_view);
        assert_int_equal(scene_rows(s, "placements"), 0);
        assert_has(scene_row(s, "clusters", "c1"), "{'placements':0}");
}

/* ---- sums that are kept ---- */

static void put_on(struct scene *s, unsigned placement, unsigned step)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 64u << 10);
        for (unsigned c = 0; c < 6; c++) {
                unsigned dice = (placement * 7 + step * 5 + c * 3 + step * c) % 5;

                if (dice < 3)
                        buf_printf(&b, "%s{'clusterName':'c%u','conditions':[%s]}", b.len ? "," : "", c,
                                   dice == 2 ? ILL : WELL);
        }
        scene_put(s, &cluster_resource_placement_kind,
                  "{'metadata':{'name':'p%u','uid':'%u','generation':1},'spec':{'resourceSelectors':[]},'"
                  "status':"
                  "{'conditions':[],'placementStatuses':[%s]}}",
                  placement, placement, b.len ? b.data : "");
}

/* Placements come, change and go: each look shows what a first one would. */
static void sums_that_are_kept_are_those_of_a_first_look(void **state)
{
        struct scene *s = *state;

        for (char name[] = "c0"; name[1] < '6'; name[1]++)
                put_cluster(s, name, "True", "True");
        for (unsigned step = 0; step < 60; step++) {
                struct page_doc *kept = s->doc;
                json_t *shown = s->shown;
                char name[8];

                snprintf(name, sizeof(name), "p%u", step * 3 % 7);
                if (step % 4 == 3 && scene_find(s, &cluster_resource_placement_kind, NULL, name))
                        scene_remove(s, &cluster_resource_placement_kind, NULL, name);
                else
                        put_on(s, step * 3 % 7, step);
                scene_look(s, &fleet_page_view);
                s->doc = page_doc_new(7);
                s->shown = json_pack("{s:{}, s:{}}", "head", "parts");
                scene_look(s, &fleet_page_view);
                assert_true(json_equal(s->shown, shown));
                assert_true(step < 4 || scene_shows(s, "trouble"));
                page_doc_free(s->doc);
                json_decref(s->shown);
                s->doc = kept;
                s->shown = shown;
        }
}

static void put_on_many(struct scene *s, unsigned placement, const char *last)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1u << 20);
        for (unsigned i = 0; i < 100; i++)
                buf_printf(&b, "%s{'clusterName':'cluster-%04u','conditions':[%s]}", i ? "," : "",
                           (placement * 37 + i) % 1000, i == 99 ? last : WELL);
        scene_put(s, &cluster_resource_placement_kind,
                  "{'metadata':{'name':'p%u','uid':'%u','generation':1},'spec':{'resourceSelectors':[]},'"
                  "status':"
                  "{'conditions':[],'placementStatuses':[%s]}}",
                  placement, placement, b.data);
}

/* What a look costs then is in docs/benchmarks.md. */
static void of_a_large_fleet_one_change_is_two_rows(void **state)
{
        struct scene *s = *state;
        char name[16];

        for (unsigned i = 0; i < 1000; i++) {
                snprintf(name, sizeof(name), "cluster-%04u", i);
                put_cluster(s, name, "True", "True");
        }
        for (unsigned i = 0; i < 200; i++)
                put_on_many(s, i, WELL);
        scene_look(s, &fleet_page_view);
        assert_int_equal(s->rows_sent, 1200);
        put_on_many(s, 3, ILL);
        scene_look(s, &fleet_page_view);
        assert_int_equal(s->rows_sent, 2);
        assert_has(scene_row(s, "clusters", "cluster-0210"), "{'trouble':1}");
}

static void what_cannot_be_read_leaves_the_rest(void **state)
{
        struct scene *s = *state;

        put_cluster(s, "a", "True", "True");
        put_placement(s, "{'clusterName':'a','conditions':[" WELL "]}");
        s->unreadable = &cluster_resource_placement_kind;
        scene_look(s, &fleet_page_view);
        assert_has(scene_head(s), "{'clusters':{'total':1},'placements':{'total':0}}");
}

/* ---- one cluster ---- */

static void put_work(struct scene *s, const char *kind)
{
        scene_put(s, &work_kind,
                  "{'metadata':{'name':'web-work','namespace':'fleet-member-a','uid':'w','labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'web','kubernetes-fleet.io/"
                  "parent-resource-snapshot-index':'4'}},"
                  "'spec':{'workload':{'manifests':[]}},'status':{'manifestConditions':[{'identifier':{'"
                  "ordinal':0,"
                  "'version':'v1','kind':'%s','namespace':'x','name':'one'},'conditions':[{'type':'Applied','"
                  "status':"
                  "'False','reason':'R','message':'password "
                  "hunter2','observedGeneration':1,'lastTransitionTime':"
                  "'2026-01-01T00:01:00Z'}]}]}}",
                  kind);
}

static void a_cluster_shows_its_facts_and_what_is_placed_there(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'name':'a'}");
        put_cluster(s, "a", "True", "True");
        put_work(s, "ConfigMap");
        scene_look(s, &cluster_page_view);
        assert_has(scene_head(s),
                   "{'name':'a','word':'healthy','joined':1767225600000,'labels':{'region':'eu'}}");
        assert_has(scene_row(s, "shares", "crp/web"),
                   "{'standing':'failed','revision':'4','progress':{'done':0,'busy':0,'failed':1,'total':1},"
                   "'objects':[{'group':'','version':'v1','kind':'ConfigMap','namespace':'x','name':'one','"
                   "standing':"
                   "'failed','word':'apply failed','message':'password hunter2'}]}");
}

static void what_was_said_about_a_secret_is_not_shown(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'name':'a'}");
        put_cluster(s, "a", "True", "True");
        put_work(s, "Secret");
        scene_look(s, &cluster_page_view);
        assert_int_equal(scene_rows(s, "shares"), 1);
        assert_false(scene_shows(s, "hunter2"));
}

static void a_cluster_that_is_not_there_is_told(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'name':'a'}");
        assert_int_equal(scene_try(s, &cluster_page_view), ERR_NOT_FOUND);
        assert_string_equal(s->err.text, "there is no member cluster \"a\"");
}

/* ---- no memory ---- */

static void fail_each(struct scene *s, const struct page_view *view)
{
        bool fired = true;

        for (uint64_t n = 1; fired; n++) {
                int code = scene_look_failing(s, view, n, &fired);

                assert_true(code == 0 || (fired && code == ERR_NO_MEMORY));
        }
        scene_look(s, view);
}

static void any_allocation_may_fail(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'name':'a'}");
        put_cluster(s, "a", "True", "False");
        put_placement(s, "{'clusterName':'a','conditions':[" ILL "]}");
        put_run(s, GATE(""));
        put_work(s, "ConfigMap");
        fail_each(s, &fleet_page_view);
        assert_has(scene_row(s, "clusters", "a"), "{'trouble':1}");
        page_doc_free(s->doc);
        s->doc = page_doc_new(7);
        fail_each(s, &cluster_page_view);
        assert_has(scene_row(s, "shares", "crp/web"), "{'standing':'failed'}");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCENE_TEST(clusters_are_rows_with_what_is_known),
                SCENE_TEST(placements_are_rows_and_count_on_their_clusters),
                SCENE_TEST(runs_are_rows_and_tell_which_approvals_they_wait_for),
                SCENE_TEST(only_rows_that_changed_are_sent),
                SCENE_TEST(sums_that_are_kept_are_those_of_a_first_look),
                SCENE_TEST(of_a_large_fleet_one_change_is_two_rows),
                SCENE_TEST(what_cannot_be_read_leaves_the_rest),
                SCENE_TEST(a_cluster_shows_its_facts_and_what_is_placed_there),
                SCENE_TEST(what_was_said_about_a_secret_is_not_shown),
                SCENE_TEST(a_cluster_that_is_not_there_is_told),
                SCENE_TEST(any_allocation_may_fail),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
