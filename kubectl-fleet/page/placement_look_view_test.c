/* The view of one placement: what a browser gets to know, and what it never does. */
#include "kubectl-fleet/page/look_test.h"

extern const struct page_view placement_page_view;
static const struct page_view *const view = &placement_page_view;

#define COND(type, status, reason, message)                                                                  \
        "{'type':'" type "','status':'" status "','reason':'" reason "','message':'" message                 \
        "','lastTransitionTime':'2025-12-31T23:50:00Z','observedGeneration':1}"
#define SINCE "1767225000000" /* of the above */
#define ROLLED COND("RolloutStarted", "True", "RolloutStarted", "")
#define OVERRIDDEN COND("Overridden", "True", "NoOverrideSpecified", "")
#define WRITTEN COND("WorkSynchronized", "True", "AllWorkSynced", "")
#define APPLIED COND("Applied", "True", "AllWorkHaveBeenApplied", "")
#define AVAILABLE COND("Available", "True", "AllWorkAreAvailable", "")
#define WELL ROLLED "," OVERRIDDEN "," WRITTEN "," APPLIED "," AVAILABLE
#define ID(kind, name) "'version':'v1','kind':'" kind "','name':'" name "','namespace':'web'"
#define DRIFT(kind, name, fields)                                                                            \
        "{" ID(kind, name) ",'observationTime':'2026-01-01T00:00:00Z','firstDriftedObservedTime':"           \
                           "'2025-12-31T23:50:00Z','targetClusterObservedGeneration':1,'observedDrifts':["   \
                           "" fields "]}"

static void put_placement(struct scene *s, const char *spec, const char *status)
{
        scene_put(s, &cluster_resource_placement_kind,
                  "{'metadata':{'name':'web','uid':'p','generation':1,'creationTimestamp':"
                  "'2025-12-31T23:00:00Z'},'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':"
                  "'Namespace','name':'web'}],%s},'status':{%s}}",
                  spec, status);
}

static void put_member(struct scene *s, const char *name, const char *labels, const char *healthy)
{
        scene_put(s, &member_cluster_kind,
                  "{'metadata':{'name':'%s','uid':'m-%s','labels':{%s}},'spec':{'identity':{'kind':'User',"
                  "'name':'x'}},'status':{'conditions':[" COND(
                          "Joined", "True", "J",
                          "") "],'agentStatus':"
                              "[{'type':'MemberAgent','lastReceivedHeartbeat':'2025-12-31T23:59:30Z','"
                              "conditions':[{"
                              "'type':'Healthy','status':'%s','reason':'R','message':'','lastTransitionTime':"
                              "'2025-12-31T23:50:00Z'}]}]}}",
                  name, name, labels, healthy);
}

static void bind(struct scene *s, const char *cluster, const char *spec, const char *status)
{
        scene_put(s, &cluster_resource_binding_kind,
                  "{'metadata':{'name':'web-%s','uid':'b-%s','generation':1,'creationTimestamp':"
                  "'2025-12-31T23:40:00Z','labels':{'kubernetes-fleet.io/parent-CRP':'web'}},'spec':{%s"
                  "'resourceSnapshotName':'web-3-snapshot','schedulingPolicySnapshotName':'web-0',"
                  "'targetCluster':'%s','clusterDecision':{'clusterName':'%s','selected':true,'reason':"
                  "'picked by scheduling policy'}},'status':{%s}}",
                  cluster, cluster, spec, cluster, cluster, status);
}
#define BOUND "'state':'Bound',"

static void put_work(struct scene *s, const char *cluster, const char *name)
{
        scene_put(s, &work_kind,
                  "{'metadata':{'name':'%s','namespace':'fleet-member-%s','uid':'w-%s-%s','labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'web','kubernetes-fleet.io/"
                  "parent-resource-snapshot-index':'3'}},'spec':{'workload':{'manifests':[{'apiVersion':'v1',"
                  "'kind':'Secret','metadata':{'name':'s'},'data':{'p':'SECRETDATA'}}]}}}",
                  name, cluster, cluster, name);
}

static void put_snapshot(struct scene *s, const char *index)
{
        scene_put(s, &cluster_resource_snapshot_kind,
                  "{'metadata':{'name':'web-%s-snapshot','uid':'s','creationTimestamp':'2025-12-31T23:50:00Z'"
                  ",'labels':{'kubernetes-fleet.io/parent-CRP':'web','kubernetes-fleet.io/"
                  "is-latest-snapshot':'true'}},'spec':{'selectedResources':[]}}",
                  index);
}

#define SCHEDULED                                                                                            \
        "'conditions':[" COND("ClusterResourcePlacementScheduled", "True", "SchedulingPolicyFulfilled",      \
                              "found all") "]"
#define SELECTED                                                                                             \
        "'observedResourceIndex':'3','selectedResources':[{'version':'v1','kind':'Namespace','name':'web'}]"

static void set_scene(struct scene *s)
{
        scene_args(s, "{'kind':'crp','name':'web'}");
        put_placement(s, "'policy':{'placementType':'PickN','numberOfClusters':3}", SELECTED "," SCHEDULED);
        put_snapshot(s, "3");
        put_member(s, "alpha", "'region':'eu'", "True");
        put_member(s, "bravo", "'region':'us'", "True");
}

static const json_t *cluster(const struct scene *s, const char *name)
{
        const json_t *row = scene_row(s, "clusters", name);

        if (!row)
                fprintf(stderr, "no row of %s\n", name);
        assert_non_null(row);
        return row;
}

/* "done done busy waits waits waits" */
static const char *states(const struct scene *s, const char *name, char ret[256])
{
        size_t i, n = 0;
        json_t *step;

        ret[0] = '\0';
        json_array_foreach(json_object_get(cluster(s, name), "steps"), i, step)
                n += (size_t)snprintf(ret + n, 256 - n, "%s%s", i ? " " : "", doc_get_string(step, "state"));
        return ret;
}

/* ---- the way of a cluster ---- */

static void each_cluster_shows_its_six_steps(void **state)
{
        struct scene *s = *state;
        char text[256];

        set_scene(s);
        bind(s, "alpha", BOUND, "'conditions':[" WELL "]");
        bind(s, "bravo", BOUND,
             "'conditions':[" ROLLED "," OVERRIDDEN "," WRITTEN
             "," COND("Applied", "False", "NotAllWorkHaveBeenApplied", "work web-work is not applied") "]");
        put_work(s, "alpha", "web-work");
        scene_look(s, view);
        assert_string_equal(states(s, "alpha", text), "done done done done done done");
        assert_string_equal(states(s, "bravo", text), "done done done done failed waits");
        assert_has(cluster(s, "alpha"),
                   "{'cluster':'alpha','standing':'done','word':'available','revision':'3','latest':true,"
                   "'since':" SINCE ",'works':['web-work'],'worksTotal':1,'labels':{'region':'eu'},"
                   "'trouble':'','rank':4}");
        assert_has(cluster(s, "bravo"),
                   "{'standing':'failed','word':'apply failed','message':'work web-work is not applied',"
                   "'rank':0}");
        assert_has(json_array_get(json_object_get(cluster(s, "bravo"), "steps"), 4),
                   "{'step':'applied','state':'failed','word':'apply failed','reason':"
                   "'NotAllWorkHaveBeenApplied','message':'work web-work is not applied','since':" SINCE "}");
        assert_has(json_array_get(json_object_get(cluster(s, "bravo"), "steps"), 0),
                   "{'step':'scheduled','state':'done','message':'picked by scheduling policy'}");
}

static void a_cluster_that_waits_says_for_what(void **state)
{
        struct scene *s = *state;
        char text[256];

        set_scene(s);
        bind(s, "alpha", "'state':'Scheduled',", "'conditions':[]");
        bind(s, "bravo", BOUND,
             "'conditions':[" COND("RolloutStarted", "False", "RolloutNotStartedYet",
                                   "limited by maxSurge") "]");
        scene_look(s, view);
        assert_string_equal(states(s, "alpha", text), "done waits waits waits waits waits");
        assert_has(cluster(s, "alpha"), "{'word':'picked, waiting','standing':'waits'}");
        assert_string_equal(states(s, "bravo", text), "done waits waits waits waits waits");
        assert_has(cluster(s, "bravo"), "{'word':'held back','message':'limited by maxSurge'}");
}

static void a_comparison_has_a_step_of_its_own(void **state)
{
        struct scene *s = *state;
        char text[256];

        set_scene(s);
        bind(s, "alpha", BOUND,
             "'conditions':[" ROLLED "," OVERRIDDEN "," WRITTEN
             "," COND("DiffReported", "True", "AllWorkHaveDiffReported", "") "]");
        scene_look(s, view);
        assert_string_equal(states(s, "alpha", text), "done done done done done");
        assert_has(json_array_get(json_object_get(cluster(s, "alpha"), "steps"), 4),
                   "{'step':'compared','state':'done'}");
}

static void conditions_of_an_older_generation_do_not_count(void **state)
{
        struct scene *s = *state;
        char text[256];

        set_scene(s);
        scene_put(s, &cluster_resource_binding_kind,
                  "{'metadata':{'name':'web-alpha','uid':'b','generation':2,'labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'web'}},'spec':{'state':'Bound','resourceSnapshotName':"
                  "'web-2-snapshot','schedulingPolicySnapshotName':'web-0','targetCluster':'alpha',"
                  "'clusterDecision':{'clusterName':'alpha','selected':true,'reason':''}},'status':{"
                  "'conditions':[" WELL "]}}");
        scene_look(s, view);
        assert_string_equal(states(s, "alpha", text), "done waits waits waits waits waits");
        assert_has(cluster(s, "alpha"), "{'revision':'2'}");
        assert_null(json_object_get(cluster(s, "alpha"), "latest"));
}

static void what_is_removed_and_what_is_left_over_is_shown(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "alpha", "'state':'Unscheduled',", "'conditions':[" WELL "]");
        put_work(s, "alpha", "web-work");
        put_work(s, "zulu", "web-work");
        put_work(s, "zulu", "web-work-2");
        scene_look(s, view);
        assert_has(cluster(s, "alpha"),
                   "{'removing':true,'word':'being removed','steps':[],'works':['web-work']}");
        assert_has(cluster(s, "zulu"),
                   "{'removing':true,'word':'left over','works':['web-work','web-work-2'],'trouble':"
                   "'there is no such member cluster'}");
        assert_has(scene_head(s), "{'leftover':1}");
}

static void a_cluster_with_two_bindings_has_two_rows(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "alpha", BOUND, "'conditions':[" WELL "]");
        scene_put(s, &cluster_resource_binding_kind,
                  "{'metadata':{'name':'web-old','uid':'o','generation':1,'deletionTimestamp':"
                  "'2025-12-31T23:50:00Z','labels':{'kubernetes-fleet.io/parent-CRP':'web'}},'spec':{"
                  "'state':'Unscheduled','resourceSnapshotName':'web-2-snapshot',"
                  "'schedulingPolicySnapshotName':'web-0','targetCluster':'alpha','clusterDecision':{"
                  "'clusterName':'alpha','selected':true,'reason':''}}}");
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "clusters"), 2);
        assert_has(cluster(s, "alpha"), "{'word':'available'}");
        assert_has(cluster(s, "alpha web-old"), "{'word':'being removed','since':" SINCE "}");
}

static void places_that_no_cluster_was_found_for_are_rows(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_placement(s, "'policy':{'placementType':'PickN','numberOfClusters':3}",
                      SELECTED
                      ",'placementStatuses':[{'clusterName':'alpha','conditions':[]},{'clusterName':"
                      "'bravo','conditions':[" COND(
                              "Scheduled", "False", "ScheduleFailed",
                              "bravo is not eligible") "]},{'conditions':[" COND("Scheduled", "False",
                                                                                 "ScheduleFailed",
                                                                                 "none "
                                                                                 "left") "]}]");
        bind(s, "alpha", BOUND, "'conditions':[" WELL "]");
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "clusters"), 3);
        assert_has(cluster(s, "bravo"),
                   "{'unplaced':true,'standing':'failed','message':'bravo is not eligible','steps':[]}");
        assert_has(cluster(s, "#0"), "{'unplaced':true,'cluster':'','message':'none left','trouble':''}");
        assert_has(scene_head(s), "{'unplaced':2}");
}

static void a_cluster_that_is_not_well_is_told_of(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_member(s, "bravo", "", "False");
        bind(s, "alpha", BOUND, "'conditions':[" WELL "]");
        bind(s, "bravo", BOUND, "'conditions':[" WELL "]");
        bind(s, "gone", BOUND, "'conditions':[" WELL "]");
        scene_look(s, view);
        assert_has(cluster(s, "alpha"), "{'trouble':'','rank':4}");
        assert_has(cluster(s, "bravo"),
                   "{'word':'available','trouble':'the cluster is not healthy','rank':0}");
        assert_has(cluster(s, "gone"), "{'trouble':'there is no such member cluster'}");
}

/* What the members last said still counts as done, as in the placement's status. */
static void clusters_that_are_not_well_stand_first_and_are_counted(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_member(s, "zulu", "", "False");
        bind(s, "alpha", BOUND,
             "'conditions':[" WELL "],'driftedPlacements':[" DRIFT("ConfigMap", "c", "") "]");
        bind(s, "zulu", BOUND, "'conditions':[" WELL "]");
        scene_look(s, view);
        assert_has(scene_head(s), "{'ill':1,'progress':{'done':2,'failed':0,'total':2}}");
        assert_has(cluster(s, "zulu"), "{'rank':0}");
        assert_has(cluster(s, "alpha"), "{'rank':1}");
}

/* ---- objects that are not well ---- */

static void both_values_of_what_drifted_stand_side_by_side(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "alpha", BOUND,
             "'conditions':[" WELL "],'driftedPlacements':[" DRIFT(
                     "ConfigMap", "c",
                     "{'path':'/data/a','valueInHub':'1','valueInMember':'2'},{'path':'/data/"
                     "b','valueInMember':'n'}") "]");
        scene_look(s, view);
        assert_has(scene_row(s, "drifted", "alpha /ConfigMap/web/c"),
                   "{'cluster':'alpha','kind':'ConfigMap','namespace':'web','name':'c','since':" SINCE
                   ",'fields':[{'path':'/data/a','hub':'1','member':'2'},{'path':'/data/b','hub':null,"
                   "'member':'n'}]}");
        assert_has(cluster(s, "alpha"), "{'drifted':1,'rank':1}");
        assert_has(scene_head(s), "{'drifted':{'total':1,'shown':1}}");
}

static void what_differs_and_what_failed_has_parts_of_its_own(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "alpha", BOUND,
             "'conditions':[" WELL "],'diffedPlacements':[{" ID(
                     "Service",
                     "s") ",'observationTime':'2026-01-01T00:00:00Z','firstDiffedObservedTime':"
                          "'2025-12-31T23:50:00Z','observedDiffs':[{'path':'/spec/type','valueInHub':"
                          "'ClusterIP','valueInMember':'NodePort'}]}],'failedPlacements':[{" ID(
                                  "Deployment", "d") ",'condition':" COND("Applied", "False",
                                                                          "ManifestApplyFailed",
                                                                          "no such namespace") "}]");
        scene_look(s, view);
        assert_has(scene_row(s, "different", "alpha /Service/web/s"),
                   "{'fields':[{'path':'/spec/type','hub':'ClusterIP','member':'NodePort'}]}");
        assert_has(scene_row(s, "failed", "alpha /Deployment/web/d"),
                   "{'condition':{'type':'Applied','status':'False','reason':'ManifestApplyFailed','message':"
                   "'no such namespace','since':" SINCE ",'current':true},'since':" SINCE "}");
}

/* The original agents report such values as they are. */
static void values_of_secrets_are_never_sent(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "alpha", BOUND,
             "'conditions':[" WELL "],'driftedPlacements':[" DRIFT(
                     "Secret", "s",
                     "{'path':'/data/p','valueInHub':'SECRET1','valueInMember':'SECRET2'},{'path':'/data/q',"
                     "'valueInHub':'SECRET3'}") ",{'group':'placement.kubernetes-fleet.io','version':"
                                                "'v1beta1','kind':'ResourceEnvelope','name':'e','namespace':"
                                                "'web','observationTime':'2026-01-01T00:00:00Z',"
                                                "'firstDriftedObservedTime':'2025-12-31T23:50:00Z',"
                                                "'targetClusterObservedGeneration':1,'observedDrifts':[{"
                                                "'path':'/data/s.yaml','valueInHub':'SECRET4'}]},{'version':"
                                                "'v1','kind':'Secret','name':'t','namespace':'web',"
                                                "'envelope':{'name':'e','namespace':'web','type':"
                                                "'ResourceEnvelope'},'observationTime':'2026-01-01T00:00:00Z'"
                                                ",'firstDriftedObservedTime':'2025-12-31T23:50:00Z',"
                                                "'targetClusterObservedGeneration':1,'observedDrifts':[{"
                                                "'path':'','valueInMember':'SECRET5'}]}],'diffedPlacements':"
                                                "[{" ID("Secret",
                                                        "s") ",'observationTime':'2026-01-01T00:00:00Z',"
                                                             "'firstDiffedObservedTime':"
                                                             "'2025-12-31T23:50:00Z','observedDiffs':[{"
                                                             "'path':'/stringData/p','valueInHub':'SECRET6'}]"
                                                             "}],'failedPlacements':[{" ID(
                                                                     "Secret",
                                                                     "s") ",'condition':" COND("Applied",
                                                                                               "False",
                                                                                               "ManifestApply"
                                                                                               "Failed",
                                                                                               "Invalid "
                                                                                               "value: "
                                                                                               "SECRET7") "}"
                                                                                                          "]");
        put_work(s, "alpha", "web-work");
        scene_look(s, view);
        assert_has(
                scene_row(s, "drifted", "alpha /Secret/web/s"),
                "{'hidden':true,'fields':[{'path':'/data/p','hub':{'hidden':true},'member':{'hidden':true}}"
                ",{'path':'/data/q','hub':{'hidden':true},'member':null}]}");
        assert_has(scene_row(s, "drifted", "alpha /Secret/web/t in web/e"),
                   "{'envelope':{'kind':'ResourceEnvelope','namespace':'web','name':'e'},'hidden':true}");
        assert_has(scene_row(s, "failed", "alpha /Secret/web/s"),
                   "{'condition':{'reason':'ManifestApplyFailed'}}");
        assert_int_equal(scene_rows(s, "different"), 1);
        assert_false(scene_shows(s, "SECRET"));
}

static void what_an_override_would_have_put_into_a_secret_is_not_told(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "alpha", BOUND,
             "'conditions':[" ROLLED
             "," COND("Overridden", "False", "OverriddenFailed", "failed to apply on Secret s: SECRET1") "]");
        bind(s, "bravo", BOUND,
             "'conditions':[" ROLLED "," COND("Overridden", "False", "OverriddenFailed",
                                              "failed to apply on ConfigMap c: no such path") "]");
        scene_look(s, view);
        assert_true(scene_shows(s, "no such path"));
        assert_false(scene_shows(s, "SECRET1"));
}

static void fail_objects(struct scene *s, int n)
{
        AUTO_BUF struct buf list;

        buf_init(&list, 1u << 20);
        buf_append_str(&list, "'failedPlacements':[");
        for (int i = 0; i < n; i++)
                buf_printf(&list,
                           "%s{'version':'v1','kind':'ConfigMap','name':'c%d','namespace':'web',"
                           "'condition':" COND("Applied", "False", "R", "m") "}",
                           i ? "," : "", i);
        buf_append_str(&list, "]");
        bind(s, "alpha", BOUND, list.data);
}

static void it_is_said_when_the_api_tells_of_no_more(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        fail_objects(s, 99);
        scene_look(s, view);
        assert_null(json_object_get(scene_head(s), "cutAt"));
        fail_objects(s, 100);
        scene_look(s, view);
        assert_has(scene_head(s), "{'cutAt':100,'failed':{'total':100,'shown':100}}");
}

/* ---- the head ---- */

static void the_head_says_what_it_is_and_how_it_goes(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_placement(
                s,
                "'policy':{'placementType':'PickN','numberOfClusters':3,'affinity':{'clusterAffinity':{"
                "'requiredDuringSchedulingIgnoredDuringExecution':{'clusterSelectorTerms':[{"
                "'labelSelector':{'matchLabels':{'region':'eu'}},'propertySelector':{"
                "'matchExpressions':[{'name':'nodes','operator':'Ge','values':['3']}]}}]},"
                "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':20,'preference':{"
                "'labelSelector':{'matchLabels':{'tier':'a'}}}},{'weight':5,'preference':{'propertySorter':{"
                "'name':'nodes','sortOrder':'Descending'}}}]}},'topologySpreadConstraints':[{"
                "'topologyKey':'zone'}],'tolerations':[{'key':'k','value':'v','operator':'Equal'}]},"
                "'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':1,'maxSurge':"
                "'10%'},'applyStrategy':{'type':'ServerSideApply','whenToApply':'IfNotDrifted'}}",
                SELECTED "," SCHEDULED);
        bind(s, "alpha",
             BOUND "'clusterResourceOverrideSnapshots':['limits-2'],'resourceOverrideSnapshots':[{'name':"
                   "'images-0','namespace':'web'}],",
             "'conditions':[" WELL "]");
        bind(s, "bravo", BOUND "'clusterResourceOverrideSnapshots':['limits-2'],",
             "'conditions':[" ROLLED "]");
        scene_look(s, view);
        assert_has(scene_head(s),
                   "{'kind':'ClusterResourcePlacement','scope':'crp','name':'web','namespace':'','policy':"
                   "'PickN 3','policyWords':['only clusters with region=eu and nodes Ge 3','20 points for "
                   "tier=a','up to 5 points for the most nodes','spread over zone, at most 1 apart','puts up "
                   "with taint k=v'],'strategy':{'type':"
                   "'RollingUpdate','maxUnavailable':'1','maxSurge':'10%','unavailablePeriodSeconds':60,"
                   "'apply':{'type':'ServerSideApply','whenToApply':'IfNotDrifted','whenToTakeOver':'Always'}"
                   "},'revision':'3','snapshot':'web-3-snapshot','revisionSince':" SINCE ",'standing':'busy',"
                   "'word':'in progress','progress':{'done':1,'busy':1,'failed':0,'total':2},'deleting':null,"
                   "'resourcesTotal':1}");
        assert_has(json_array_get(json_object_get(scene_head(s), "overrides"), 0),
                   "{'kind':'ClusterResourceOverride','name':'limits','snapshot':'limits-2','clusters':2}");
        assert_has(json_array_get(json_object_get(scene_head(s), "overrides"), 1),
                   "{'kind':'ResourceOverride','namespace':'web','name':'images','clusters':1}");
        assert_has(json_array_get(json_object_get(scene_head(s), "conditions"), 0),
                   "{'type':'ClusterResourcePlacementScheduled','status':'True','since':" SINCE
                   ",'current':true}");
        assert_has(json_array_get(json_object_get(scene_head(s), "steps"), 2),
                   "{'step':'overridden','waits':0,'busy':1,'done':1,'failed':0}");
}

static void runs_that_roll_it_out_are_named(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_placement(s, "'strategy':{'type':'External'}", SELECTED "," SCHEDULED);
        scene_put(s, &cluster_staged_update_run_kind,
                  "{'metadata':{'name':'first','uid':'r1','generation':1,'creationTimestamp':"
                  "'2025-12-31T23:00:00Z'},'spec':{'placementName':'web','stagedRolloutStrategyName':'x'},"
                  "'status':{'conditions':[" COND("Initialized", "True", "I", "") "," COND(
                          "Succeeded", "True", "S", "") "],'resourceSnapshotIndexUsed':'2'}}");
        scene_put(s, &cluster_staged_update_run_kind,
                  "{'metadata':{'name':'second','uid':'r2','generation':1,'creationTimestamp':"
                  "'2025-12-31T23:50:00Z'},'spec':{'placementName':'web','stagedRolloutStrategyName':'x'}}");
        scene_put(s, &cluster_staged_update_run_kind,
                  "{'metadata':{'name':'other','uid':'r3','generation':1},'spec':{'placementName':'api',"
                  "'stagedRolloutStrategyName':'x'}}");
        scene_look(s, view);
        assert_has(scene_head(s), "{'runsTotal':2,'strategy':{'type':'External'}}");
        assert_null(doc_get(scene_head(s), "strategy.maxSurge"));
        assert_has(
                json_array_get(json_object_get(scene_head(s), "runs"), 0),
                "{'scope':'crp','name':'second','standing':'waits','word':'being initialized','since':" SINCE
                "}");
        assert_has(json_array_get(json_object_get(scene_head(s), "runs"), 1),
                   "{'name':'first','standing':'done','word':'succeeded','revision':'2'}");
}

static void a_namespaced_placement_is_looked_at_in_its_namespace(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'kind':'rp','ns':'team','name':'api'}");
        scene_put(s, &resource_placement_kind,
                  "{'metadata':{'name':'api','namespace':'team','uid':'p','generation':1},'spec':{"
                  "'resourceSelectors':[]}}");
        scene_put(s, &resource_binding_kind,
                  "{'metadata':{'name':'api-a','namespace':'team','uid':'b','generation':1,'labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'api'}},'spec':{'state':'Bound','resourceSnapshotName':"
                  "'api-0-snapshot','schedulingPolicySnapshotName':'api-0','targetCluster':'alpha',"
                  "'clusterDecision':{'clusterName':'alpha','selected':true,'reason':''}}}");
        scene_put(s, &work_kind,
                  "{'metadata':{'name':'team.api-work','namespace':'fleet-member-alpha','uid':'w','labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'api','kubernetes-fleet.io/parent-placement-namespace':"
                  "'team'}}}");
        scene_put(s, &work_kind,
                  "{'metadata':{'name':'api-work','namespace':'fleet-member-alpha','uid':'w2','labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'api'}}}");
        scene_look(s, view);
        assert_has(scene_head(s), "{'scope':'rp','namespace':'team','name':'api'}");
        assert_has(cluster(s, "alpha"), "{'works':['team.api-work']}");
}

/* ---- changes ---- */

static void only_the_cluster_that_changed_is_sent(void **state)
{
        struct scene *s = *state;
        char name[16];

        set_scene(s);
        for (int i = 0; i < 1000; i++) {
                snprintf(name, sizeof(name), "c%03d", i);
                bind(s, name, BOUND, "'conditions':[" WELL "]");
        }
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 1000);
        assert_true(s->bytes_sent < 1000000);
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 0);
        assert_int_equal(s->bytes_sent, 0);
        bind(s, "c500", BOUND, "'conditions':[" ROLLED "]");
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 1);
        assert_has(cluster(s, "c500"), "{'word':'overriding'}");
        put_member(s, "c500", "'region':'eu'", "True");
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 1);
        assert_has(cluster(s, "c500"), "{'labels':{'region':'eu'}}");
        put_work(s, "c500", "web-work");
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 1);
        put_snapshot(s, "4");
        scene_remove(s, &cluster_resource_snapshot_kind, NULL, "web-3-snapshot");
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 1000);
        assert_null(json_object_get(cluster(s, "c001"), "latest"));
}

static void a_heartbeat_sends_nothing(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "alpha", BOUND, "'conditions':[" WELL "]");
        scene_look(s, view);
        put_member(s, "alpha", "'region':'eu'", "True");
        scene_look(s, view);
        assert_int_equal(s->bytes_sent, 0);
}

/* ---- what comes from outside ---- */

static void markup_in_names_and_messages_stays_text(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "alpha", BOUND,
             "'conditions':[" ROLLED "," OVERRIDDEN "," WRITTEN "," COND(
                     "Applied", "False", "<b>R</b>",
                     "<img src=x onerror=alert(1)>") "],'failedPlacements':[{" ID("ConfigMap",
                                                                                  "<script>") ",'condition'"
                                                                                              ":" COND(
                                                                                                      "Appli"
                                                                                                      "ed",
                                                                                                      "Fals"
                                                                                                      "e",
                                                                                                      "R",
                                                                                                      "</"
                                                                                                      "scrip"
                                                                                                      "t>") "}]");
        scene_look(s, view);
        assert_has(cluster(s, "alpha"), "{'message':'<img src=x onerror=alert(1)>'}");
        assert_has(scene_row(s, "failed", "alpha /ConfigMap/web/<script>"),
                   "{'name':'<script>','condition':{'message':'</script>'}}");
}

static void long_texts_are_shortened_and_say_how_long_they_are(void **state)
{
        struct scene *s = *state;
        AUTO_FREE char *text = mem_alloc(102401), *status = mem_alloc(310000);

        memset(text, 'x', 102400);
        text[102400] = '\0';
        set_scene(s);
        snprintf(status, 310000,
                 "'conditions':[" ROLLED "," OVERRIDDEN "," WRITTEN ",{'type':'Applied','status':'False',"
                 "'reason':'R','message':'%s','lastTransitionTime':'2025-12-31T23:50:00Z',"
                 "'observedGeneration':1}],'driftedPlacements':[" DRIFT(
                         "ConfigMap", "c", "{'path':'/data/a','valueInHub':'%s','valueInMember':'2'}") "]",
                 text, text);
        bind(s, "alpha", BOUND, status);
        scene_look(s, view);
        assert_true(s->bytes_sent < 16000);
        assert_has(cluster(s, "alpha"), "{'messageBytes':102400}");
        assert_has(json_array_get(
                           json_object_get(scene_row(s, "drifted", "alpha /ConfigMap/web/c"), "fields"), 0),
                   "{'hubBytes':102400,'member':'2'}");
}

static void more_troubles_than_fit_are_counted(void **state)
{
        struct scene *s = *state;
        char name[16];

        set_scene(s);
        for (int i = 0; i < 1200; i++) {
                snprintf(name, sizeof(name), "c%04d", i);
                bind(s, name, BOUND,
                     "'conditions':[" WELL "],'driftedPlacements':[" DRIFT(
                             "ConfigMap", "c", "{'path':'/data/a','valueInHub':'1'}") "]");
        }
        scene_look(s, view);
        assert_has(scene_head(s), "{'drifted':{'total':1200,'shown':1000}}");
        assert_int_equal(scene_rows(s, "drifted"), 1000);
        assert_int_equal(scene_rows(s, "clusters"), 1200);
}

static void conditions_that_nobody_knows_yet_are_shown_as_they_are(void **state)
{
        struct scene *s = *state;
        char text[256];

        set_scene(s);
        put_placement(s, "'policy':{'placementType':'PickSome','future':{'x':1}}",
                      SELECTED ",'novel':7,'conditions':[" COND("ClusterResourcePlacementPolished", "True",
                                                                "Shiny", "new") "]");
        bind(s, "alpha", "'state':'Hovering',",
             "'conditions':[" WELL "," COND("Polished", "False", "NotYet", "") "]");
        scene_look(s, view);
        assert_has(scene_head(s), "{'policy':'PickSome'}");
        assert_has(json_array_get(json_object_get(scene_head(s), "conditions"), 0),
                   "{'type':'ClusterResourcePlacementPolished','message':'new'}");
        assert_string_equal(states(s, "alpha", text), "done done done done done done");
}

/* The original agents say no observedResourceIndex, and leave reasons and messages of their own. */
static void statuses_of_the_original_agents_are_understood(void **state)
{
        struct scene *s = *state;
        char text[256];

        set_scene(s);
        put_placement(s, "'policy':{'placementType':'PickAll'}", SCHEDULED);
        bind(s, "alpha", BOUND,
             "'conditions':[" ROLLED "," OVERRIDDEN "," WRITTEN
             "," COND("Applied", "False", "NotAllWorkHaveBeenApplied",
                      "Work object web-work has not yet completed applying") "]");
        scene_look(s, view);
        assert_string_equal(states(s, "alpha", text), "done done done done busy waits");
        assert_has(cluster(s, "alpha"), "{'word':'applying','standing':'busy'}");
}

static void without_bindings_the_status_tells_the_way(void **state)
{
        struct scene *s = *state;
        char text[256];

        set_scene(s);
        s->unreadable = &cluster_resource_binding_kind;
        put_placement(s, "'policy':{'placementType':'PickAll'}",
                      SELECTED "," SCHEDULED ",'placementStatuses':[{'clusterName':'alpha',"
                               "'observedResourceIndex':'3','conditions':[" COND(
                                       "Scheduled", "True", "Scheduled",
                                       "picked") "," WELL
                                                 "],'driftedPlacements':[" DRIFT("ConfigMap", "c", "") "]}]");
        bind(s, "bravo", BOUND, "'conditions':[" WELL "]");
        put_work(s, "alpha", "web-work");
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "clusters"), 1);
        assert_string_equal(states(s, "alpha", text), "done done done done done done");
        assert_has(cluster(s, "alpha"), "{'revision':'3','word':'available','drifted':1}");
        assert_has(scene_head(s), "{'leftover':0,'progress':{'done':1,'total':1}}");
        assert_int_equal(scene_rows(s, "drifted"), 1);
}

static void bad_arguments_name_themselves(void **state)
{
        assert_names_a_placement(*state, view);
}

static void a_placement_that_is_not_there_is_said_to_be_missing(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'kind':'rp','ns':'team','name':'web'}");
        assert_int_equal(scene_try(s, view), ERR_NOT_FOUND);
        assert_string_equal(s->err.text, "ResourcePlacement \"web\" not found in namespace team");
        s->unreadable = &resource_placement_kind;
        assert_int_equal(scene_try(s, view), ERR_RETRY);
        assert_string_equal(s->err.text, "ResourcePlacement \"web\" cannot be read: may not be listed");
}

static void any_allocation_may_fail(void **state)
{
        struct scene *s = *state;
        bool fired = true;

        both_values_of_what_drifted_stand_side_by_side(state);
        what_differs_and_what_failed_has_parts_of_its_own(state);
        the_head_says_what_it_is_and_how_it_goes(state);
        runs_that_roll_it_out_are_named(state);
        put_work(s, "zulu", "web-work");
        for (uint64_t n = 1; fired; n++) {
                page_doc_free(s->doc);
                s->doc = page_doc_new(7);
                if (scene_look_failing(s, view, n, &fired) < 0)
                        assert_int_equal(s->err.code, ERR_NO_MEMORY);
        }
        scene_look(s, view);
        assert_has(scene_head(s), "{'leftover':1}");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCENE_TEST(each_cluster_shows_its_six_steps),
                SCENE_TEST(a_cluster_that_waits_says_for_what),
                SCENE_TEST(a_comparison_has_a_step_of_its_own),
                SCENE_TEST(conditions_of_an_older_generation_do_not_count),
                SCENE_TEST(what_is_removed_and_what_is_left_over_is_shown),
                SCENE_TEST(a_cluster_with_two_bindings_has_two_rows),
                SCENE_TEST(places_that_no_cluster_was_found_for_are_rows),
                SCENE_TEST(a_cluster_that_is_not_well_is_told_of),
                SCENE_TEST(clusters_that_are_not_well_stand_first_and_are_counted),
                SCENE_TEST(both_values_of_what_drifted_stand_side_by_side),
                SCENE_TEST(what_differs_and_what_failed_has_parts_of_its_own),
                SCENE_TEST(values_of_secrets_are_never_sent),
                SCENE_TEST(what_an_override_would_have_put_into_a_secret_is_not_told),
                SCENE_TEST(it_is_said_when_the_api_tells_of_no_more),
                SCENE_TEST(the_head_says_what_it_is_and_how_it_goes),
                SCENE_TEST(runs_that_roll_it_out_are_named),
                SCENE_TEST(a_namespaced_placement_is_looked_at_in_its_namespace),
                SCENE_TEST(only_the_cluster_that_changed_is_sent),
                SCENE_TEST(a_heartbeat_sends_nothing),
                SCENE_TEST(markup_in_names_and_messages_stays_text),
                SCENE_TEST(long_texts_are_shortened_and_say_how_long_they_are),
                SCENE_TEST(more_troubles_than_fit_are_counted),
                SCENE_TEST(conditions_that_nobody_knows_yet_are_shown_as_they_are),
                SCENE_TEST(statuses_of_the_original_agents_are_understood),
                SCENE_TEST(without_bindings_the_status_tells_the_way),
                SCENE_TEST(bad_arguments_name_themselves),
                SCENE_TEST(a_placement_that_is_not_there_is_said_to_be_missing),
                SCENE_TEST(any_allocation_may_fail),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
