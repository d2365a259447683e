/* Draining against a hub whose eviction controller is a fiber of the test. */
#include "kubectl-fleet/fleet_test.h"

#define HUB "--hub-cluster-context", "hub"
#define DRAIN "draincluster", "--cluster-name", "edge", HUB
#define VALID_TRUE "'Valid','status':'True','reason':'" REASON_EVICTION_VALID "','message':''"
#define EXECUTED(status, message)                                                                            \
        "{'type':" VALID_TRUE ",'observedGeneration':1,'lastTransitionTime':'2026-01-01T00:00:00Z'},"        \
        "{'type':'Executed','status':'" status "','reason':'R','message':'" message                          \
        "','observedGeneration':1,'lastTransitionTime':'2026-01-01T00:00:00Z'}"
#define INVALID(message)                                                                                     \
        "{'type':'Valid','status':'False','reason':'" REASON_EVICTION_INVALID "','message':'" message        \
        "','observedGeneration':1,'lastTransitionTime':'2026-01-01T00:00:00Z'}"

static void add_cluster(struct user *u, const char *name, const char *taints)
{
        store(u, CLUSTERS "memberclusters",
              "{'apiVersion':'cluster.kubernetes-fleet.io/"
              "v1beta1','kind':'MemberCluster','metadata':{'name':'%s'},"
              "'spec':{'identity':{'kind':'User','name':'x'},'taints':[%s]}}",
              name, taints);
}

static void add_binding(struct user *u, const char *placement, const char *cluster)
{
        store(u, FLEET "clusterresourcebindings",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterResourceBinding','metadata':"
              "{'name':'%s-%s','labels':{'kubernetes-fleet.io/parent-CRP':'%s'}},'spec':{'state':'Bound',"
              "'resourceSnapshotName':'','schedulingPolicySnapshotName':'','targetCluster':'%s','"
              "clusterDecision':"
              "{'clusterName':'%s','selected':true,'reason':''}}}",
              placement, cluster, placement, cluster, cluster);
}

static void add_placement(struct user *u, const char *name)
{
        store(u, FLEET "clusterresourceplacements",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterResourcePlacement','metadata':"
              "{'name':'%s'},'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':'Namespace','"
              "name':"
              "'web'}]},'status':{'selectedResources':[{'version':'v1','kind':'Namespace','name':'web'},{'"
              "version':"
              "'v1','kind':'ConfigMap','name':'c','namespace':'web'},{'group':'rbac.authorization.k8s.io','"
              "version':"
              "'v1','kind':'ClusterRole','name':'r'}]}}",
              name);
}

/* Another one at the same hub, so that two fibers do not share an answer. */
static struct rig beside(const struct user *u)
{
        struct rig r = *u->rig;

        r.answer = NULL;
        r.arena = (struct arena){ 0 };
        return r;
}

static void end_beside(struct rig *r)
{
        json_decref(r->answer);
        arena_free(&r->arena);
}

/* Which conditions an eviction of a placement gets, and when. */
struct verdicts {
        struct user *user;
        const char *placement[4], *conditions[4];
        int64_t after_ms;
};

static void judge(const struct verdicts *v, struct rig *r, const json_t *eviction)
{
        for (size_t i = 0; i < ARRAY_LEN(v->placement) && v->placement[i]; i++) {
                char path[256], body[1024];

                if (!text_equal(doc_get_string(eviction, "spec.placementName"), v->placement[i]))
                        continue;
                snprintf(path, sizeof(path), FLEET "clusterresourceplacementevictions/%s/status",
                         doc_get_string(eviction, "metadata.name"));
                snprintf(body, sizeof(body), "{'status':{'conditions':[%s]}}", v->conditions[i]);
                for (char *c = body; *c; c++)
                        if (*c == '\'')
                                *c = '"';
                rig_merge(r, path, body);
        }
}

static void controller(void *ctx)
{
        const struct verdicts *v = ctx;
        struct rig own = beside(v->user), *r = &own;

        while (fiber_sleep(r->loop, v->after_ms) == 0) {
                AUTO_JSON json_t *all = NULL;
                json_t *item;
                size_t i;

                rig_get(r, FLEET "clusterresourceplacementevictions");
                all = json_incref(r->answer);
                json_array_foreach(json_object_get(all, "items"), i, item)
                        if (!doc_get(item, "status.conditions"))
                                judge(v, r, item);
        }
        end_beside(r);
}

static int drain(struct user *u, struct verdicts *v, const char *extra)
{
        struct fiber_group *group = fiber_group_new(u->rig->loop, NULL, "evictions");
        int code;

        v->user = u;
        v->after_ms = v->after_ms ? v->after_ms : 5;
        assert_non_null(fiber_spawn(group, "controller", controller, v));
        code = extra ? FLEET_RUN(u, DRAIN, extra) : FLEET_RUN(u, DRAIN);
        fiber_group_end(group);
        return code;
}

static size_t count_of(const char *text, const char *what)
{
        size_t n = 0;

        for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
                n++;
        return n;
}

/* spec/staged-update-and-eviction.md checklist 56 */
USER_TEST(every_placement_of_the_cluster_is_evicted_in_two_passes, {
        struct verdicts v = { .placement = { "a", "b" },
                              .conditions = { EXECUTED("True", "gone"), EXECUTED("True", "gone") } };

        add_cluster(u, "edge", "{'key':'k','value':'v','effect':'NoSchedule'}");
        add_binding(u, "b", "edge");
        add_binding(u, "a", "edge");
        add_binding(u, "c", "core");
        add_placement(u, "a");
        add_placement(u, "b");
        assert_int_equal(drain(u, &v, NULL), 0);
        assert_string_equal(u->out.data, "");
        assert_lines(
                u->err.data,
                "2026/01/01 00:00:00 Successfully cordoned member cluster edge by adding cordon taint\n"
                "Created eviction drain-eviction-a-edge-\n"
                " for CRP a targeting member cluster edge\n"
                "eviction drain-eviction-a-edge-\n"
                " was executed successfully for CRP a targeting member cluster edge\n"
                "evicted resource ''/v1/Namespace/''/web propagated by CRP a targeting member cluster edge\n"
                "evicted resource rbac.authorization.k8s.io/v1/ClusterRole/''/r propagated by CRP a "
                "targeting\n"
                "Created eviction drain-eviction-b-edge-\n"
                "drain was successful for cluster edge\n"
                "retrying drain to ensure all resources propagated from hub cluster are evicted\n"
                "Successfully cordoned member cluster edge by adding cordon taint\n"
                "Created eviction drain-eviction-a-edge-\n"
                "drain retry was successful for cluster edge\n"
                "reminder: uncordon the cluster edge to remove cordon taint if needed\n");
        assert_null(strstr(u->err.data, "ConfigMap"));
        assert_null(strstr(u->err.data, "CRP c"));
        assert_int_equal(count_of(u->err.data, "Created eviction"), 4);
        rig_get(u->rig, CLUSTERS "memberclusters/edge");
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "spec.taints")), 2);
        assert_int_equal(count_of(u->rig->text, "\"cordon-value\""), 1);
})

/* spec/staged-update-and-eviction.md checklist 56 */
USER_TEST(what_a_budget_keeps_is_told_and_is_no_error, {
        struct verdicts v = { .placement = { "a", "b" },
                              .conditions = { EXECUTED("False", "Eviction is blocked by budget"),
                                              EXECUTED("True", "gone") } };

        add_cluster(u, "edge", "");
        add_binding(u, "a", "edge");
        add_binding(u, "b", "edge");
        assert_int_equal(drain(u, &v, NULL), 0);
        assert_lines(u->err.data, " was not executed successfully for CRP a targeting member cluster edge\n"
                                  "Eviction is blocked by budget\n"
                                  " was executed successfully for CRP b targeting member cluster edge\n"
                                  "failed to get CRP b: \n"
                                  "drain was not successful for cluster edge\n"
                                  "drain retry was not successful for cluster edge\n"
                                  "reminder: uncordon");
})

/* spec/staged-update-and-eviction.md checklist 57 */
USER_TEST(an_unknown_cluster_is_an_error_and_an_empty_one_is_not, {
        assert_int_equal(FLEET_RUN(u, DRAIN), 1);
        assert_lines(u->err.data,
                     "Error: failed to drain member cluster edge: failed to cordon member cluster "
                     "edge: ");
        assert_non_null(strstr(u->err.data, "memberclusters.cluster.kubernetes-fleet.io \"edge\" not found"));
        add_cluster(u, "edge", "");
        assert_int_equal(FLEET_RUN(u, DRAIN, "an", "argument", "more"), 0);
        assert_lines(u->err.data, "There are currently no resources propagated to edge from fleet using "
                                  "ClusterResourcePlacement "
                                  "resources\n"
                                  "drain was successful for cluster edge\n"
                                  "There are currently no resources propagated to edge from fleet using "
                                  "ClusterResourcePlacement "
                                  "resources\n"
                                  "drain retry was successful for cluster edge\n");
})

/* Improve: the message tells that nothing is there to be evicted; the reason is the same for all. */
USER_TEST(an_eviction_of_what_is_gone_is_as_good, {
        struct verdicts v = { .placement = { "a", "b", "c", "d" },
                              .conditions = { INVALID(MESSAGE_EVICTION_NO_PLACEMENT),
                                              INVALID(MESSAGE_EVICTION_PLACEMENT_DELETING),
                                              INVALID(MESSAGE_EVICTION_NO_DECISION),
                                              INVALID(MESSAGE_EVICTION_PICK_FIXED) } };

        add_cluster(u, "edge", "");
        add_binding(u, "a", "edge");
        add_binding(u, "b", "edge");
        add_binding(u, "c", "edge");
        assert_int_equal(drain(u, &v, NULL), 0);
        assert_int_equal(count_of(u->err.data, " but drain will succeed\n"), 6);
        assert_lines(u->err.data, "drain was successful for cluster edge\ndrain retry was successful");
        add_binding(u, "d", "edge");
        assert_int_equal(drain(u, &v, NULL), 0);
        assert_lines(u->err.data, " was not executed successfully for CRP d\n" MESSAGE_EVICTION_PICK_FIXED
                                  "\ndrain was not successful for cluster edge");
})

/* Improve: an eviction may take its time, up to --timeout. */
USER_TEST(an_eviction_is_waited_for_as_long_as_the_timeout_says, {
        struct verdicts v = { .placement = { "a" },
                              .conditions = { EXECUTED("True", "gone") },
                              .after_ms = 20000 };
        struct verdicts never = { 0 };

        add_cluster(u, "edge", "");
        add_binding(u, "a", "edge");
        assert_int_equal(drain(u, &v, NULL), 0);
        assert_true(u->requests < 60);
        assert_int_equal(drain(u, &never, "--timeout=10s"), 1);
        assert_lines(u->err.data,
                     "Error: failed to drain member cluster edge: failed to wait for eviction "
                     "drain-eviction-a-edge-\n"
                     " for CRP a targeting member cluster edge to reach terminal state: timed out "
                     "waiting for the condition\n");
})

/* Somebody else makes an eviction of that name just before. */
static int be_quicker(struct user *u, const struct http_request *rq)
{
        struct rig own = beside(u);

        if (text_equal(rq->method, "POST") && u->requests <= 5)
                rig_post(&own, FLEET "clusterresourceplacementevictions", rq->body.data);
        end_beside(&own);
        return 0;
}

/* Improve: the same name would be taken at every attempt. */
USER_TEST(a_name_that_is_taken_gets_other_digits, {
        struct verdicts v = { .placement = { "a" }, .conditions = { EXECUTED("True", "gone") } };

        add_cluster(u, "edge", "");
        add_binding(u, "a", "edge");
        u->fate = be_quicker;
        assert_int_equal(drain(u, &v, NULL), 0);
        assert_int_equal(count_of(u->err.data, "Created eviction drain-eviction-a-edge-"), 2);
        rig_get(u->rig, FLEET "clusterresourceplacementevictions");
        assert_true(json_array_size(doc_get_array(u->rig->answer, "items")) > 3);
})

static int refuse_a(struct user *u, const struct http_request *rq)
{
        return text_equal(rq->method, "POST") && strstr(rq->body.data, "\"a\"") ? 403 : 0;
}

/* Improve: what is refused for one placement does not keep the others on the cluster. */
USER_TEST(a_refused_eviction_is_told_and_the_others_go_on, {
        struct verdicts v = { .placement = { "b" }, .conditions = { EXECUTED("True", "gone") } };

        add_cluster(u, "edge", "");
        add_binding(u, "a", "edge");
        add_binding(u, "b", "edge");
        u->fate = refuse_a;
        assert_int_equal(drain(u, &v, NULL), 1);
        assert_lines(u->err.data, "failed to create eviction drain-eviction-a-edge-\n"
                                  " for CRP a targeting member cluster edge: \n"
                                  " was executed successfully for CRP b\n"
                                  "drain was not successful for cluster edge\n"
                                  " was executed successfully for CRP b\n"
                                  "drain retry was not successful for cluster edge\n"
                                  "reminder: uncordon\n"
                                  "Error: failed to drain cluster on retry edge: failed to create eviction");
})

USER_TEST(a_binding_without_its_placement_ends_the_drain, {
        add_cluster(u, "edge", "");
        store(u, FLEET "clusterresourcebindings",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterResourceBinding','metadata':"
              "{'name':'lone'},'spec':{'state':'Bound','resourceSnapshotName':'','"
              "schedulingPolicySnapshotName':'',"
              "'targetCluster':'edge','clusterDecision':{'clusterName':'edge','selected':true,'reason':''}}"
              "}");
        assert_int_equal(FLEET_RUN(u, DRAIN), 1);
        assert_lines(
                u->err.data,
                "Error: failed to drain member cluster edge: \nfailed to get CRP name from binding lone\n");
})

/* spec/staged-update-and-eviction.md checklist 58 */
USER_TEST(uncordoning_takes_the_cordon_alone, {
        add_cluster(
                u, "edge",
                "{'key':'k','value':'v','effect':'NoSchedule'},{'key':'cordon-key','value':'cordon-value',"
                "'effect':'NoSchedule'},{'key':'cordon-key','value':'mine','effect':'NoSchedule'}");
        assert_int_equal(FLEET_RUN(u, "uncordoncluster", "--cluster-name=edge", HUB), 0);
        assert_string_equal(u->err.data, "2026/01/01 00:00:00 uncordoned member cluster edge\n");
        rig_get(u->rig, CLUSTERS "memberclusters/edge");
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "spec.taints")), 2);
        assert_null(strstr(u->rig->text, "\"cordon-value\""));
        assert_int_equal(FLEET_RUN(u, "uncordoncluster", "--cluster-name=edge", HUB, "more"), 0);
        assert_int_equal(u->requests, 1);
        assert_int_equal(FLEET_RUN(u, "uncordoncluster", "--cluster-name=core", HUB), 1);
        assert_lines(u->err.data, "Error: failed to uncordon cluster core: ");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_placement_of_the_cluster_is_evicted_in_two_passes),
                cmocka_unit_test(what_a_budget_keeps_is_told_and_is_no_error),
                cmocka_unit_test(an_unknown_cluster_is_an_error_and_an_empty_one_is_not),
                cmocka_unit_test(an_eviction_of_what_is_gone_is_as_good),
                cmocka_unit_test(an_eviction_is_waited_for_as_long_as_the_timeout_says),
                cmocka_unit_test(a_name_that_is_taken_gets_other_digits),
                cmocka_unit_test(a_refused_eviction_is_told_and_the_others_go_on),
                cmocka_unit_test(a_binding_without_its_placement_ends_the_drain),
                cmocka_unit_test(uncordoning_takes_the_cordon_alone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
