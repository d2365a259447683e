/* The view of one object across the fleet. */
#include "kubectl-fleet/page/look_test.h"

extern const struct page_view object_page_view;
static const struct page_view *const view = &object_page_view;

#define COND(type, status, message)                                                                          \
        "{'type':'" type "','status':'" status "','reason':'R','message':'" message                          \
        "','lastTransitionTime':'2025-12-31T23:50:00Z','observedGeneration':1}"
#define SINCE "1767225000000" /* of the above */
#define WRITTEN                                                                                              \
        COND("RolloutStarted", "True", "")                                                                   \
        "," COND("Overridden", "True", "") "," COND("WorkSynchronized", "True", "")
#define WELL WRITTEN "," COND("Applied", "True", "") "," COND("Available", "True", "")
#define NOT_APPLIED WRITTEN "," COND("Applied", "False", "work web-work is not applied")
#define DEPLOYMENT "'group':'apps','version':'v1','kind':'Deployment','namespace':'web','name':'nginx'"
#define SELECTED "'observedResourceIndex':'3','selectedResources':[{" DEPLOYMENT "}]"
#define TIMES(first) "'observationTime':'2026-01-01T00:00:00Z','" first "':'2025-12-31T23:50:00Z',"
#define FIELD "{'path':'/spec/replicas','valueInHub':'2','valueInMember':'5'}"
#define SHOWN_FIELD "'fields':[{'path':'/spec/replicas','hub':'2','member':'5'}]"

static void place(struct scene *s, const char *name, const char *status)
{
        scene_put(s, &cluster_resource_placement_kind,
                  "{'metadata':{'name':'%s','uid':'p-%s','generation':1},'spec':{'resourceSelectors':[]},"
                  "'status':{%s}}",
                  name, name, status);
}

static void bind_to(struct scene *s, const char *placement, int revision, const char *cluster,
                    const char *status)
{
        scene_put(s, &cluster_resource_binding_kind,
                  "{'metadata':{'name':'%s-%s','uid':'b-%s-%s','generation':1,'labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'%s'}},'spec':{'state':'Bound','resourceSnapshotName':"
                  "'%s-%d-snapshot','schedulingPolicySnapshotName':'%s-0','targetCluster':'%s',"
                  "'clusterDecision':{'clusterName':'%s','selected':true,'reason':''}},'status':{%s}}",
                  placement, cluster, placement, cluster, placement, placement, revision, placement, cluster,
                  cluster, status);
}

static void bind(struct scene *s, const char *placement, const char *cluster, const char *status)
{
        bind_to(s, placement, 3, cluster, status);
}

static void put_snapshot(struct scene *s, const char *placement, int revision, const char *part,
                         const char *manifests)
{
        scene_put(s, &cluster_resource_snapshot_kind,
                  "{'metadata':{'name':'%s-%d%s','uid':'s-%s-%d%s','labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'%s','kubernetes-fleet.io/resource-index':'%d'}},'spec':{"
                  "'selectedResources':[%s]}}",
                  placement, revision, part, placement, revision, part, placement, revision, manifests);
}
#define MANIFEST_OF(version, kind, ns, name)                                                                 \
        "{'apiVersion':'" version "','kind':'" kind "','metadata':{'name':'" name "','namespace':'" ns       \
        "'},'data':{'p':'SECRET0'}}"
#define NGINX MANIFEST_OF("apps/v1", "Deployment", "web", "nginx")
#define OTHERS                                                                                               \
        MANIFEST_OF("v1", "ConfigMap", "web", "nginx")                                                       \
        "," MANIFEST_OF("apps/v1", "Deployment", "db", "nginx") "," MANIFEST_OF("v1", "Deployment", "web",   \
                                                                                "nginx")
#define ENVELOPE(manifests)                                                                                  \
        "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ResourceEnvelope','metadata':{"       \
        "'name':'mail','namespace':'web'},'data':{" manifests "}}"

static void put_work(struct scene *s, const char *cluster, const char *conditions, const char *manifests)
{
        scene_put(s, &work_kind,
                  "{'metadata':{'name':'web-work','namespace':'fleet-member-%s','uid':'w-%s','generation':1,"
                  "'labels':{'kubernetes-fleet.io/parent-CRP':'web'}},'spec':{'workload':{'manifests':[{"
                  "'apiVersion':'v1','kind':'Secret','data':{'p':'SECRET0'}}]}},'status':{'conditions':[%s],"
                  "'manifestConditions':[%s]}}",
                  cluster, cluster, conditions, manifests);
}
#define TOLD COND("Applied", "True", "")
#define MANIFEST(rest) "{'identifier':{'ordinal':0,'resource':'deployments'," DEPLOYMENT "}," rest "}"

static void set_scene(struct scene *s)
{
        scene_args(s, "{'group':'apps','kind':'Deployment','ns':'web','name':'nginx'}");
        place(s, "web", SELECTED);
        place(s, "other", "'selectedResources':[{'version':'v1','kind':'Namespace','name':'web'}]");
}

static const json_t *cluster(const struct scene *s, const char *key)
{
        const json_t *row = scene_row(s, "clusters", key);

        if (!row)
                fprintf(stderr, "no row of %s\n", key);
        assert_non_null(row);
        return row;
}

static void each_cluster_says_how_the_object_does_there(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "web", "well", "'conditions':[" WELL "]");
        put_work(s, "well", TOLD, MANIFEST("'conditions':[" COND("Applied", "True", "") "]"));
        bind(s, "web", "refused", "'conditions':[" NOT_APPLIED "]");
        put_work(s, "refused", COND("Applied", "False", ""),
                 MANIFEST("'conditions':[" COND("Applied", "False", "no such namespace") "]"));
        bind(s, "web", "slow", "'conditions':[" WRITTEN "]");
        put_work(s, "slow", TOLD,
                 MANIFEST("'conditions':[" COND("Applied", "True", "") "," COND("Available", "False",
                                                                                "1 of 2 ready") "]"));
        bind(s, "web", "waits", "'conditions':[]");
        bind(s, "other", "elsewhere", "'conditions':[" WELL "]");
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "clusters"), 4);
        assert_has(cluster(s, "well /web crp"),
                   "{'cluster':'well','standing':'done','word':'available','message':'','revision':'3',"
                   "'latest':true,'placement':{'scope':'crp','namespace':'','name':'web'}}");
        assert_has(cluster(s, "refused /web crp"),
                   "{'standing':'failed','word':'apply failed','message':'no such namespace','since':" SINCE
                   ",'work':'web-work'}");
        assert_has(cluster(s, "slow /web crp"),
                   "{'standing':'busy','word':'not available','message':'1 of 2 ready'}");
        assert_has(cluster(s, "waits /web crp"), "{'standing':'waits','word':'waiting'}");
        assert_has(scene_head(s),
                   "{'kind':'Deployment','namespace':'web','name':'nginx','progress':{'done':1,"
                   "'busy':1,'failed':1,'total':4},'notShown':0}");
        assert_has(json_array_get(json_object_get(scene_head(s), "placements"), 0),
                   "{'scope':'crp','name':'web','clusters':4,'selects':true,'shown':true}");
        assert_int_equal(json_array_size(json_object_get(scene_head(s), "placements")), 1);
}

static void what_another_object_suffers_is_not_told_of_this_one(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "web", "alpha", "'conditions':[" NOT_APPLIED "]");
        put_work(s, "alpha", COND("Applied", "False", ""),
                 "{'identifier':{'ordinal':1,'version':'v1','kind':'ConfigMap','resource':'configmaps',"
                 "'namespace':'web','name':'nginx'},'conditions':[" COND("Applied", "False", "no") "]}");
        scene_look(s, view);
        assert_has(cluster(s, "alpha /web crp"), "{'standing':'done','word':'available','message':''}");
}

static void until_all_works_have_told_nobody_knows(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "web", "alpha", "'conditions':[" WRITTEN "]");
        put_work(s, "alpha", "", "");
        scene_look(s, view);
        assert_has(cluster(s, "alpha /web crp"), "{'standing':'busy','word':'applying'}");
}

static void both_values_of_a_drift_stand_side_by_side(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "web", "alpha", "'conditions':[" WELL "]");
        put_work(s, "alpha", TOLD,
                 MANIFEST("'conditions':[" COND("Applied", "True", "") "," COND(
                         "Available", "True",
                         "") "],'driftDetails':{" TIMES("firstDriftedObservedTime") "'observedInMemberCluster"
                                                                                    "Generation':2,'"
                                                                                    "observedDrifts':[" FIELD
                                                                                    "]}"));
        bind(s, "web", "bravo",
             "'conditions':[" WELL "],'diffedPlacements':[{" DEPLOYMENT
             "," TIMES("firstDiffedObservedTime") "'observedDiffs':[" FIELD "]}]");
        scene_look(s, view);
        assert_has(cluster(s, "alpha /web crp"),
                   "{'word':'drifted','standing':'busy','change':'drifted','changedSince':" SINCE
                   "," SHOWN_FIELD "}");
        assert_has(cluster(s, "bravo /web crp"), "{'word':'differs','change':'different'," SHOWN_FIELD "}");
        assert_has(scene_head(s), "{'drifted':1,'different':1}");
}

static void values_of_a_secret_are_never_sent(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'kind':'Secret','ns':'web','name':'s'}");
        place(s, "web",
              "'selectedResources':[{'version':'v1','kind':'Secret','namespace':'web','name':'s'}]");
        bind(s, "web", "alpha",
             "'conditions':[" NOT_APPLIED "],'failedPlacements':[{'version':'v1','kind':'Secret','namespace':"
             "'web','name':'s','condition':" COND(
                     "Applied", "False",
                     "Invalid value: SECRET1") "}],"
                                               "'driftedPlacements':[{'version':'v1','kind':'Secret','"
                                               "namespace':'web','name':'s'," TIMES(
                                                       "firstDriftedObservedTime") "'targetClusterObservedGen"
                                                                                   "eration':1,'"
                                                                                   "observedDrifts':[{'path':"
                                                                                   "'/data/p',"
                                                                                   "'valueInHub':'SECRET2','"
                                                                                   "valueInMember':'SECRET3'}"
                                                                                   "]}]");
        bind(s, "web", "bravo", "'conditions':[" NOT_APPLIED "]");
        put_work(s, "bravo", COND("Applied", "False", ""),
                 "{'identifier':{'ordinal':0,'version':'v1','kind':'Secret','resource':'secrets','namespace':"
                 "'web','name':'s'},'conditions':[" COND(
                         "Applied", "False",
                         "Invalid value: SECRET4") "],'diffDetails':{" TIMES("firstDiffedObservedTim"
                                                                             "e") "'observedDiffs':[{"
                                                                                  "'path':'/data/p',"
                                                                                  "'valueInHub':'"
                                                                                  "SECRET5'}]}}");
        scene_look(s, view);
        assert_has(scene_head(s), "{'hidden':true}");
        assert_has(
                cluster(s, "alpha /web crp"),
                "{'standing':'failed','fields':[{'path':'/data/p','hub':{'hidden':true},'member':{'hidden':"
                "true}}]}");
        assert_has(cluster(s, "bravo /web crp"), "{'standing':'failed','change':'different','hidden':true}");
        assert_false(scene_shows(s, "SECRET"));
}

static void all_placements_that_hold_it_are_shown(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        scene_put(s, &resource_placement_kind,
                  "{'metadata':{'name':'own','namespace':'web','uid':'rp','generation':1},'spec':{"
                  "'resourceSelectors':[]},'status':{" SELECTED "}}");
        scene_put(s, &resource_binding_kind,
                  "{'metadata':{'name':'own-a','namespace':'web','uid':'rb','generation':1,'labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'own'}},'spec':{'state':'Bound','resourceSnapshotName':"
                  "'own-3-snapshot','schedulingPolicySnapshotName':'own-0','targetCluster':'alpha',"
                  "'clusterDecision':{'clusterName':'alpha','selected':true,'reason':''}},'status':{"
                  "'conditions':[" WELL "]}}");
        bind(s, "web", "alpha", "'conditions':[" WRITTEN "]");
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "clusters"), 2);
        assert_has(cluster(s, "alpha web/own rp"),
                   "{'word':'available','placement':{'scope':'rp','namespace':'web','name':'own'}}");
        assert_has(cluster(s, "alpha /web crp"), "{'word':'applying'}");
}

static void more_placements_than_are_read_are_named(void **state)
{
        struct scene *s = *state;
        char name[16];

        set_scene(s);
        for (int i = 0; i < 8; i++) {
                snprintf(name, sizeof(name), "p%d", i);
                place(s, name, SELECTED);
                bind(s, name, "alpha", "'conditions':[" WELL "]");
        }
        scene_look(s, view);
        assert_true(s->n_needs <= PAGE_NEEDS_MAX);
        assert_int_equal(scene_rows(s, "clusters"), 6);
        assert_has(scene_head(s), "{'notShown':3}");
        assert_int_equal(json_array_size(json_object_get(scene_head(s), "placements")), 9);
        assert_null(
                json_object_get(json_array_get(json_object_get(scene_head(s), "placements"), 8), "shown"));
}

static void what_comes_in_an_envelope_is_known_while_it_is_not_well(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'kind':'ConfigMap','ns':'web','name':'in'}");
        place(s, "web",
              "'placementStatuses':[{'clusterName':'alpha','conditions':[],'failedPlacements':[{'version':"
              "'v1','kind':'ConfigMap','namespace':'web','name':'in','condition':" COND("Applied", "False",
                                                                                        "no") "}]}]");
        bind(s, "web", "alpha", "'conditions':[" NOT_APPLIED "]");
        put_work(s, "alpha", COND("Applied", "False", ""),
                 "{'identifier':{'ordinal':1,'version':'v1','kind':'ConfigMap','resource':'configmaps',"
                 "'namespace':'web','name':'in'},'conditions':[" COND("Applied", "False", "no") "]}");
        scene_look(s, view);
        assert_has(cluster(s, "alpha /web crp"), "{'word':'apply failed','message':'no'}");
        assert_null(
                json_object_get(json_array_get(json_object_get(scene_head(s), "placements"), 0), "selects"));
        place(s, "web", "");
        assert_int_equal(scene_try(s, view), ERR_NOT_FOUND);
        assert_string_equal(s->err.text, "no placement holds ConfigMap web/in: none says so, and it is in no "
                                         "revision that a cluster has of one that selects it");
}

/* As `web` selects what is in its namespace, and its clusters have several revisions: a status names none. */
static void set_mixed(struct scene *s)
{
        scene_args(s, "{'group':'apps','kind':'Deployment','ns':'web','name':'nginx'}");
        scene_put(s, &cluster_resource_placement_kind,
                  "{'metadata':{'name':'web','uid':'p-web','generation':1},'spec':{'resourceSelectors':[{"
                  "'group':'','version':'v1','kind':'Namespace','name':'web'}]},'status':{'placementStatuses'"
                  ":[]}}");
        bind_to(s, "web", 3, "alpha", "'conditions':[" WELL "]");
        bind_to(s, "web", 4, "bravo", "'conditions':[" WELL "]");
        bind_to(s, "web", 4, "carol", "'conditions':[" WRITTEN "]");
        put_snapshot(s, "web", 3, "-snapshot", OTHERS "," NGINX);
        put_snapshot(s, "web", 4, "-snapshot", OTHERS);
        put_snapshot(s, "web", 5, "-snapshot", NGINX);
}

static const json_t *first_placement(const struct scene *s)
{
        return json_array_get(json_object_get(scene_head(s), "placements"), 0);
}

static void revisions_tell_where_a_status_names_no_objects(void **state)
{
        struct scene *s = *state;

        set_mixed(s);
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "clusters"), 3);
        assert_has(cluster(s, "alpha /web crp"), "{'word':'available','revision':'3','standing':'done'}");
        assert_has(cluster(s, "bravo /web crp"),
                   "{'word':'not in revision 4','standing':'waits','revision':'4','absent':true}");
        assert_has(cluster(s, "carol /web crp"), "{'absent':true}");
        assert_has(scene_head(s), "{'progress':{'done':1,'total':1}}");
        assert_has(first_placement(s), "{'name':'web','selects':true,'clusters':1,'shown':true}");
        assert_false(scene_shows(s, "SECRET"));
        /* a revision may be several snapshots; the object comes with the next one */
        put_snapshot(s, "web", 4, "-1", NGINX);
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 2);
        assert_has(cluster(s, "carol /web crp"), "{'word':'applying','revision':'4'}");
        assert_has(scene_head(s), "{'progress':{'done':2,'busy':1,'total':3}}");
}

/* The one whose status tells is read first, and its name begins with the other's. */
static void a_placement_whose_name_begins_another_has_its_own_bindings(void **state)
{
        struct scene *s = *state;

        set_mixed(s);
        place(s, "web-2", SELECTED);
        bind(s, "web-2", "delta", "'conditions':[" WELL "]");
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "clusters"), 4);
        assert_has(cluster(s, "delta /web-2 crp"), "{'word':'available','revision':'3'}");
        assert_has(cluster(s, "alpha /web crp"), "{'word':'available','revision':'3'}");
        assert_has(cluster(s, "bravo /web crp"), "{'word':'not in revision 4','absent':true}");
}

static void during_a_rollout_clusters_of_before_may_not_have_it_yet(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "web", "alpha", "'conditions':[" WELL "]");
        scene_look(s, view);
        assert_int_equal(s->n_needs, 4); /* the status says it: no revision is read */
        bind_to(s, "web", 2, "bravo", "'conditions':[" WELL "]");
        put_snapshot(s, "web", 2, "-snapshot", OTHERS);
        put_snapshot(s, "web", 3, "-snapshot", NGINX);
        scene_look(s, view);
        assert_has(cluster(s, "alpha /web crp"), "{'word':'available'}");
        assert_has(cluster(s, "bravo /web crp"), "{'word':'not in revision 2'}");
        scene_remove(s, &cluster_resource_snapshot_kind, NULL, "web-2-snapshot");
        scene_look(s, view);
        assert_has(cluster(s, "bravo /web crp"),
                   "{'word':'not known','message':'the hub keeps no snapshot of revision 2'}");
}

static void the_link_tells_where_it_was_found_though_nothing_selects_it_now(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        place(s, "web",
              "'observedResourceIndex':'3','selectedResources':[{'version':'v1','kind':'Node','name':"
              "'x'}]");
        bind(s, "web", "alpha", "'conditions':[" WELL "]");
        put_snapshot(s, "web", 3, "-snapshot", NGINX);
        assert_int_equal(scene_try(s, view), ERR_NOT_FOUND);
        for (int i = 0; i < 2; i++) {
                static const char *const from[] = { "rp/web/web", "crp/we" };

                json_object_set_new(s->args, "from", json_string(from[i]));
                assert_int_equal(scene_try(s, view), ERR_NOT_FOUND);
        }
        json_object_set_new(s->args, "from", json_string("crp/web"));
        scene_look(s, view);
        assert_has(cluster(s, "alpha /web crp"), "{'word':'available'}");
}

static void what_is_well_in_an_envelope_is_found_there(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        place(s, "web",
              "'observedResourceIndex':'3','selectedResources':[{'group':'placement.kubernetes-fleet.io',"
              "'version':'v1beta1','kind':'ResourceEnvelope','namespace':'web','name':'mail'}]");
        bind(s, "web", "alpha", "'conditions':[" WELL "]");
        put_snapshot(s, "web", 3, "-snapshot", OTHERS "," ENVELOPE("'a.yaml':" NGINX));
        scene_look(s, view);
        assert_has(cluster(s, "alpha /web crp"), "{'word':'available','revision':'3'}");
        assert_has(first_placement(s), "{'envelope':'web/mail'}");
        assert_null(json_object_get(first_placement(s), "selects"));
        assert_false(scene_shows(s, "SECRET"));
        put_snapshot(s, "web", 3, "-snapshot",
                     ENVELOPE("'a.yaml':" MANIFEST_OF("v1", "Pod", "web", "nginx")));
        assert_int_equal(scene_try(s, view), ERR_NOT_FOUND);
}

static void where_revisions_may_not_be_read_a_status_tells(void **state)
{
        struct scene *s = *state;

        set_mixed(s);
        s->unreadable = &cluster_resource_snapshot_kind;
        assert_int_equal(scene_try(s, view), ERR_NOT_FOUND);
        place(s, "web", SELECTED);
        scene_look(s, view);
        assert_has(cluster(s, "bravo /web crp"), "{'word':'available'}");
}

static void of_many_placements_that_may_hold_it_not_all_are_looked_into(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'group':'apps','kind':'Deployment','ns':'web','name':'nginx'}");
        for (int i = 0; i < 8; i++) {
                char name[16];

                snprintf(name, sizeof(name), "p%d", i);
                scene_put(s, &cluster_resource_placement_kind,
                          "{'metadata':{'name':'%s','uid':'%s'},'spec':{'resourceSelectors':[{'group':'',"
                          "'version':'v1','kind':'Namespace','labelSelector':{}}]},'status':{}}",
                          name, name);
                bind(s, name, "alpha", "'conditions':[" WELL "]");
                put_snapshot(s, name, 3, "-snapshot", i == 0 ? NGINX : OTHERS);
        }
        scene_look(s, view);
        assert_true(s->n_needs <= PAGE_NEEDS_MAX);
        assert_int_equal(json_array_size(json_object_get(scene_head(s), "placements")), 1);
        assert_has(scene_head(s), "{'notShown':0,'notAsked':2}");
        scene_args(s, "{'group':'apps','kind':'Deployment','ns':'web','name':'none'}");
        assert_int_equal(scene_try(s, view), ERR_NOT_FOUND);
        assert_string_equal(s->err.text,
                            "no placement says that it holds Deployment web/none; 2 that may hold it "
                            "were not looked into: open it from the page of a placement or of a "
                            "cluster");
}

static void only_what_changed_is_sent(void **state)
{
        struct scene *s = *state;
        char name[16];

        set_scene(s);
        for (int i = 0; i < 300; i++) {
                snprintf(name, sizeof(name), "c%03d", i);
                bind(s, "web", name, "'conditions':[" WELL "]");
        }
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 300);
        scene_look(s, view);
        assert_int_equal(s->bytes_sent, 0);
        put_work(s, "c007", COND("Applied", "False", ""),
                 MANIFEST("'conditions':[" COND("Applied", "False", "<b>no</b>") "]"));
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 1);
        assert_has(cluster(s, "c007 /web crp"), "{'message':'<b>no</b>'}");
}

static void without_works_bindings_tell(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        s->unreadable = &work_kind;
        bind(s, "web", "alpha",
             "'conditions':[" NOT_APPLIED "],'failedPlacements':[{" DEPLOYMENT
             ",'condition':" COND("Applied", "False", "no such namespace") "}]");
        bind(s, "web", "bravo", "'conditions':[" WELL "]");
        scene_look(s, view);
        assert_has(cluster(s, "alpha /web crp"), "{'word':'apply failed','message':'no such namespace'}");
        assert_has(cluster(s, "bravo /web crp"), "{'word':'available'}");
}

static void nobody_is_said_to_hold_it_where_placements_cannot_be_read(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        s->unreadable = &cluster_resource_placement_kind;
        assert_int_equal(scene_try(s, view), ERR_RETRY);
        assert_string_equal(s->err.text, "placements cannot be read: may not be listed");
}

static void bad_arguments_name_themselves(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'name':'x'}");
        assert_int_equal(scene_try(s, view), ERR_INVALID);
        assert_string_equal(s->err.text, "kind: is needed");
        scene_args(s, "{'kind':'Pod'}");
        assert_int_equal(scene_try(s, view), ERR_INVALID);
        assert_string_equal(s->err.text, "name: is needed");
        scene_args(s, "{'kind':'Pod','name':'x','ns':'a=b'}");
        assert_int_equal(scene_try(s, view), ERR_INVALID);
        assert_string_equal(s->err.text, "ns: must be a name of a namespace");
}

static void any_allocation_may_fail(void **state)
{
        struct scene *s = *state;
        bool fired = true;

        each_cluster_says_how_the_object_does_there(state);
        both_values_of_a_drift_stand_side_by_side(state);
        bind_to(s, "web", 4, "zulu", "'conditions':[" WELL "]");
        put_snapshot(s, "web", 3, "-snapshot", NGINX);
        put_snapshot(s, "web", 4, "-snapshot", ENVELOPE("'a.yaml':" NGINX));
        for (uint64_t n = 1; fired; n++) {
                page_doc_free(s->doc);
                s->doc = page_doc_new(7);
                if (scene_look_failing(s, view, n, &fired) < 0)
                        assert_int_equal(s->err.code, ERR_NO_MEMORY);
        }
        assert_int_equal(scene_rows(s, "clusters"), 7);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCENE_TEST(each_cluster_says_how_the_object_does_there),
                SCENE_TEST(what_another_object_suffers_is_not_told_of_this_one),
                SCENE_TEST(until_all_works_have_told_nobody_knows),
                SCENE_TEST(both_values_of_a_drift_stand_side_by_side),
                SCENE_TEST(values_of_a_secret_are_never_sent),
                SCENE_TEST(all_placements_that_hold_it_are_shown),
                SCENE_TEST(more_placements_than_are_read_are_named),
                SCENE_TEST(what_comes_in_an_envelope_is_known_while_it_is_not_well),
                SCENE_TEST(revisions_tell_where_a_status_names_no_objects),
                SCENE_TEST(a_placement_whose_name_begins_another_has_its_own_bindings),
                SCENE_TEST(during_a_rollout_clusters_of_before_may_not_have_it_yet),
                SCENE_TEST(the_link_tells_where_it_was_found_though_nothing_selects_it_now),
                SCENE_TEST(what_is_well_in_an_envelope_is_found_there),
                SCENE_TEST(where_revisions_may_not_be_read_a_status_tells),
                SCENE_TEST(of_many_placements_that_may_hold_it_not_all_are_looked_into),
                SCENE_TEST(only_what_changed_is_sent),
                SCENE_TEST(without_works_bindings_tell),
                SCENE_TEST(nobody_is_said_to_hold_it_where_placements_cannot_be_read),
                SCENE_TEST(bad_arguments_name_themselves),
                SCENE_TEST(any_allocation_may_fail),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
