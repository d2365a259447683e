/* The view of scheduling: why a cluster is picked or not, and what a policy that is tried out would change.
 */
#include "kubectl-fleet/page/look_test.h"

extern const struct page_view scheduling_page_view;
static const struct page_view *const view = &scheduling_page_view;

#define LOST /* the hub agent says so of who is silent */                                                    \
        "{'type':'Healthy','status':'Unknown','reason':'MemberAgentHeartbeatLost','message':'',"             \
        "'lastTransitionTime':'2025-12-31T20:03:00Z','observedGeneration':1}"
#define TRUE(type)                                                                                           \
        "{'type':'" type "','status':'True','reason':'R','message':'','lastTransitionTime':"                 \
        "'2025-12-31T23:00:00Z','observedGeneration':1}"

struct member {
        const char *name, *labels, *spec, *nodes, *heard;
};

static void put_member(struct scene *s, const struct member *m)
{
        scene_put(s, &member_cluster_kind,
                  "{'metadata':{'name':'%s','uid':'m-%s','labels':{%s}},'spec':{%s'identity':{'kind':'User',"
                  "'name':'x'}},'status':{'properties':{'kubernetes-fleet.io/node-count':{'value':'%s',"
                  "'observationTime':'2026-01-01T00:00:00Z'}},'agentStatus':[{'type':'MemberAgent',"
                  "'lastReceivedHeartbeat':'%s','conditions':[" TRUE("Joined") ",%s]}]}}",
                  m->name, m->name, m->labels, m->spec, m->nodes,
                  m->heard ? m->heard : "2025-12-31T23:59:30Z",
                  m->heard && strcmp(m->heard, "2025-12-31T23:54") < 0 ? LOST : TRUE("Healthy"));
}

#define PICK_ONE                                                                                             \
        "'placementType':'PickN','numberOfClusters':1,'affinity':{'clusterAffinity':"                        \
        "{'requiredDuringSchedulingIgnoredDuringExecution':{'clusterSelectorTerms':[{'labelSelector':"       \
        "{'matchLabels':{'region':'east'}},'propertySelector':{'matchExpressions':[{'name':"                 \
        "'kubernetes-fleet.io/node-count','operator':'Ge','values':['3']}]}}]},"                             \
        "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':20,'preference':{'labelSelector':"     \
        "{'matchExpressions':[{'key':'tier','operator':'In','values':['a','c']}]}}},{'weight':5,"            \
        "'preference':{'propertySorter':{'name':'kubernetes-fleet.io/node-count','sortOrder':'Descending'}}" \
        "}]}}"

static void put_placement(struct scene *s, const char *policy)
{
        scene_put(s, &cluster_resource_placement_kind,
                  "{'metadata':{'name':'web','uid':'p','generation':1},'spec':{'resourceSelectors':[{"
                  "'group':'','version':'v1','kind':'Namespace','name':'web'}],'policy':{%s}}}",
                  policy);
}

static void put_snapshot(struct scene *s, const char *policy, const char *told)
{
        scene_put(s, &cluster_scheduling_policy_snapshot_kind,
                  "{'metadata':{'name':'web-0','uid':'ps','generation':1,'labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'web','kubernetes-fleet.io/is-latest-snapshot':'true'}},"
                  "'spec':{'policyHash':'','policy':{%s}},'status':{'observedCRPGeneration':1,'conditions':"
                  "[" TRUE("Scheduled") "],'targetClusters':[%s]}}",
                  policy, told);
}

static void bind(struct scene *s, const char *cluster, const char *state)
{
        scene_put(s, &cluster_resource_binding_kind,
                  "{'metadata':{'name':'web-%s','uid':'b-%s','labels':{'kubernetes-fleet.io/parent-CRP':"
                  "'web'}},'spec':{'state':'%s','resourceSnapshotName':'','schedulingPolicySnapshotName':"
                  "'web-0','targetCluster':'%s','clusterDecision':{'clusterName':'%s','selected':true,"
                  "'reason':''}}}",
                  cluster, cluster, state, cluster, cluster);
}

static void set_scene(struct scene *s)
{
        static const struct member members[] = {
                { "east-1", "'region':'east','tier':'a'", "", "5", NULL },
                { "east-2", "'region':'east'", "", "9", NULL },
                { "east-3", "'region':'east','tier':'b'",
                  "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}],", "5", NULL },
                { "south-1", "'region':'south'", "", "5", "2025-12-31T20:00:00Z" },
                { "west-1", "'region':'west'", "", "2", NULL },
        };

        scene_args(s, "{'kind':'crp','name':'web'}");
        for (size_t i = 0; i < ARRAY_LEN(members); i++)
                put_member(s, &members[i]);
        put_placement(s, PICK_ONE);
}

static void set_placed(struct scene *s)
{
        set_scene(s);
        put_snapshot(s, PICK_ONE,
                     "{'clusterName':'east-1','selected':true,'reason':'picked by scheduling policy'}");
        bind(s, "east-1", "Bound");
}

/* Tries out what the text says. */
static void try_policy(struct scene *s, const char *text)
{
        json_decref(s->args);
        s->args = json_pack("{s:s, s:s, s:s}", "kind", "crp", "name", "web", "policy", text);
        scene_look(s, view);
}

static const json_t *cluster(const struct scene *s, const char *name)
{
        const json_t *row = scene_row(s, "clusters", name);

        if (!row)
                fprintf(stderr, "no row of %s\n", name);
        assert_non_null(row);
        return row;
}

static const json_t *tried(const struct scene *s)
{
        assert_non_null(json_object_get(scene_head(s), "tried"));
        return json_object_get(scene_head(s), "tried");
}

/* ---- why ---- */

static void every_cluster_has_a_word_a_reason_and_scores(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "clusters"), 5);
        assert_has(cluster(s, "east-1"), "{'order':1,'word':'would be picked','tone':'done','anew':true,"
                                         "'fits':true,'eligible':true,'affinity':22,'spread':0,'because':"
                                         "'it fits best: affinity 22, spread 0','labels':{'tier':'a'}}");
        assert_has(cluster(s, "east-2"), "{'order':2,'word':'not picked','tone':'waits','fits':true,"
                                         "'affinity':5}");
        assert_has(cluster(s, "east-3"), "{'order':3,'word':'not picked','eligible':true,'taints':["
                                         "'k=v:NoSchedule'],'against':"
                                         "'taint k=v:NoSchedule cannot be tolerated'}");
        assert_null(json_object_get(cluster(s, "east-3"), "fits"));
        assert_null(json_object_get(cluster(s, "east-3"), "affinity"));
        assert_null(json_object_get(cluster(s, "south-1"), "eligible"));
        assert_has(scene_head(s),
                   "{'kind':'ClusterResourcePlacement','name':'web','policy':'PickN 1','scheduled':null,"
                   "'numbers':{'clusters':5,'placed':0,'anew':1,'fit':2,'ineligible':1,'unfit':2},"
                   "'clustersKnown':true,'placedKnown':true}");
        assert_null(json_object_get(scene_head(s), "tried"));
        assert_null(json_object_get(scene_head(s), "problem"));
}

static void each_requirement_stands_beside_what_the_cluster_has(void **state)
{
        struct scene *s = *state;
        const json_t *terms;

        set_scene(s);
        scene_look(s, view);
        terms = json_object_get(cluster(s, "west-1"), "terms");
        assert_int_equal(json_array_size(terms), 3);
        assert_has(json_array_get(terms, 0),
                   "{'title':'required','holds':false,'requirements':[{'text':'region=east','holds':false,"
                   "'has':'west'},{'text':'kubernetes-fleet.io/node-count Ge 3','holds':false,'has':'2'}]}");
        assert_has(json_array_get(terms, 1), "{'title':'preferred, weight 20','holds':false,'requirements':["
                                             "{'text':'tier in (a,c)','holds':false}]}");
        assert_has(json_array_get(terms, 2), "{'title':'preferred, weight 5','holds':true,'requirements':[],"
                                             "'sortedBy':'kubernetes-fleet.io/node-count','order':"
                                             "'Descending','has':'2'}");
        terms = json_object_get(cluster(s, "east-1"), "terms");
        assert_has(json_array_get(terms, 0), "{'holds':true}");
        assert_has(json_array_get(json_object_get(json_array_get(terms, 1), "requirements"), 0),
                   "{'text':'tier in (a,c)','holds':true,'has':'a'}");
}

static void what_is_placed_stands_first_with_the_schedulers_words(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "west-1", "Bound");
        bind(s, "east-2", "Unscheduled");
        put_snapshot(s, PICK_ONE, "{'clusterName':'west-1','selected':true,'reason':'picked long ago'}");
        scene_look(s, view);
        assert_has(cluster(s, "west-1"),
                   "{'order':1,'word':'picked','tone':'busy','placed':true,'binding':'web-west-1','said':"
                   "'picked long ago','because':'it stays, but would not be picked anew: cluster does not "
                   "match with any of the required cluster affinity terms'}");
        assert_has(cluster(s, "east-1"), "{'order':2,'word':'not picked','tone':'busy','anew':true}");
        assert_null(json_object_get(cluster(s, "east-2"), "placed"));
        assert_has(scene_head(s), "{'numbers':{'placed':1,'anew':1},'scheduled':{'type':'Scheduled','status':"
                                  "'True'}}");
}

static void the_policy_is_told_in_words_and_as_text_to_begin_from(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_placement(s, "'placementType':'PickN','numberOfClusters':2,'tolerations':[{'key':'k'}]");
        scene_look(s, view);
        assert_has(scene_head(s), "{'policyText':['numberOfClusters: 2','placementType: PickN',"
                                  "'tolerations:','- key: k'],'policyWords':['puts up with taint k']}");
        scene_put(s, &cluster_resource_placement_kind,
                  "{'metadata':{'name':'web','uid':'p'},'spec':{'resourceSelectors':[]}}");
        scene_look(s, view);
        assert_has(scene_head(s), "{'policy':'PickAll','policyText':['placementType: PickAll']}");
}

static void a_policy_of_a_newer_version_is_told_to_be_none_that_can_be_followed(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_placement(s, "'placementType':'PickSome','future':{'x':1}");
        scene_look(s, view);
        assert_true(strstr(doc_get_string(scene_head(s), "problem"), "PickSome") != NULL);
        assert_has(cluster(s, "east-1"), "{'word':'not picked'}");
        try_policy(s, "placementType: PickAll\n");
        assert_has(tried(s), "{'changes':{'joins':3,'leaves':0,'stays':0}}");
        try_policy(s, "placementType: PickAll\nfuture: {x: 1}\n");
        assert_has(tried(s), "{'error':'unknown field \\'spec.policy.future\\'','line':2,'column':1}");
}

static void only_the_cluster_that_changed_is_sent(void **state)
{
        struct scene *s = *state;

        set_placed(s);
        scene_look(s, view);
        put_member(s, &(struct member){ "east-2", "'region':'east'", "", "9", "2025-12-31T23:59:59Z" });
        scene_look(s, view);
        assert_int_equal(s->bytes_sent, 0); /* a heartbeat is no news */
        put_member(s, &(struct member){ "west-1", "'region':'north'", "", "2", NULL });
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 1);
        bind(s, "east-2", "Bound");
        scene_look(s, view);
        assert_has(cluster(s, "east-2"), "{'placed':true,'word':'picked'}");
}

static void a_namespaced_placement_is_looked_at_in_its_namespace(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        scene_put(s, &resource_placement_kind,
                  "{'metadata':{'name':'web','namespace':'team','uid':'r','generation':1},'spec':{"
                  "'resourceSelectors':[{'group':'','version':'v1','kind':'ConfigMap','name':'c'}],'policy':{"
                  "'placementType':'PickFixed','clusterNames':['west-1']}}}");
        json_decref(s->args);
        s->args = json_pack("{s:s, s:s, s:s, s:s}", "kind", "rp", "ns", "team", "name", "web", "policy",
                            "{\"placementType\": \"PickFixed\", \"clusterNames\": [\"east-1\"]}");
        scene_look(s, view);
        assert_has(scene_head(s), "{'scope':'rp','namespace':'team','kind':'ResourcePlacement'}");
        assert_null(json_object_get(tried(s), "error"));
}

static void what_may_not_be_read_is_said(void **state)
{
        struct scene *s = *state;

        set_placed(s);
        s->unreadable = &cluster_resource_binding_kind;
        try_policy(s, "placementType: PickN\nnumberOfClusters: 2\n");
        assert_has(scene_head(s), "{'placedKnown':false}");
        assert_null(json_object_get(tried(s), "changes"));
        assert_null(json_object_get(cluster(s, "east-1"), "change"));
        assert_has(cluster(s, "west-1"), "{'word':'would be picked'}");
        s->unreadable = &member_cluster_kind;
        scene_look(s, view);
        assert_has(scene_head(s), "{'clustersKnown':false,'numbers':{'clusters':0}}");
        assert_int_equal(scene_rows(s, "clusters"), 0);
}

static void more_requirements_than_fit_are_counted(void **state)
{
        struct scene *s = *state;
        AUTO_BUF struct buf policy;

        set_scene(s);
        buf_init(&policy, 1u << 20);
        buf_append_str(&policy, "placementType: PickAll\naffinity: {clusterAffinity: {"
                                "requiredDuringSchedulingIgnoredDuringExecution: {clusterSelectorTerms: [{"
                                "labelSelector: {matchExpressions: [");
        for (int i = 0; i < 70; i++)
                buf_printf(&policy, "%s{key: k%d, operator: DoesNotExist}", i ? ", " : "", i);
        buf_append_str(&policy, "]}}]}}}\n");
        try_policy(s, policy.data);
        assert_null(json_object_get(tried(s), "error"));
        assert_has(json_array_get(json_object_get(cluster(s, "east-1"), "terms"), 0),
                   "{'left':20,'holds':null}");
        assert_int_equal(
                json_array_size(json_object_get(
                        json_array_get(json_object_get(cluster(s, "west-1"), "terms"), 0), "requirements")),
                50);
}

/* ---- tried out ---- */

static void a_policy_that_is_tried_out_says_who_joins_leaves_and_stays(void **state)
{
        struct scene *s = *state;

        set_placed(s);
        bind(s, "west-1", "Bound");
        try_policy(s, "placementType: PickN\nnumberOfClusters: 2\naffinity:\n  clusterAffinity:\n"
                      "    requiredDuringSchedulingIgnoredDuringExecution:\n      clusterSelectorTerms:\n"
                      "      - labelSelector:\n          matchLabels: {region: east}\n");
        assert_has(scene_head(s), "{'policy':'PickN 2','policyWords':['only clusters with region=east']}");
        assert_has(tried(s), "{'changes':{'joins':1,'leaves':1,'stays':1}}");
        assert_null(json_object_get(tried(s), "refused"));
        assert_has(cluster(s, "east-1"),
                   "{'change':'stays','word':'would stay','tone':'done','placed':true}");
        assert_has(cluster(s, "east-2"), "{'change':'joins','word':'would join','tone':'done'}");
        assert_has(cluster(s, "west-1"), "{'change':'leaves','word':'would leave','tone':'failed','order':3,"
                                         "'because':'cluster does not match with any of the required "
                                         "cluster affinity terms'}");
        assert_null(json_object_get(cluster(s, "east-3"), "change"));
        assert_true(json_array_size(json_object_get(scene_head(s), "policyText")) > 10); /* the one of now */
        scene_args(s, "{'kind':'crp','name':'web'}");
        scene_look(s, view);
        assert_has(cluster(s, "west-1"), "{'word':'picked'}");
        assert_null(json_object_get(cluster(s, "west-1"), "change"));
}

/* spec/scheduler.md 10, 11.5: with another number nothing is decided anew; under another policy what runs in
 * spite of a taint stays. */
static void it_is_evaluated_with_what_is_placed_as_the_scheduler_would(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_placement(s, "'placementType':'PickN','numberOfClusters':1");
        put_snapshot(s, "'placementType':'PickN','numberOfClusters':1", "");
        bind(s, "east-1", "Bound"); /* anew it were west-1, by its name */
        try_policy(s, "{placementType: PickN, numberOfClusters: 2}");
        assert_has(tried(s), "{'changes':{'joins':1,'leaves':0,'stays':1}}");
        assert_has(cluster(s, "east-1"), "{'change':'stays'}");
        assert_has(cluster(s, "west-1"), "{'change':'joins'}");
        try_policy(s, "{placementType: PickN, numberOfClusters: 0}");
        assert_has(tried(s), "{'changes':{'joins':0,'leaves':1,'stays':0}}");
        assert_has(cluster(s, "east-1"), "{'change':'leaves'}");
        bind(s, "east-3", "Bound");
        try_policy(s, "{placementType: PickN, numberOfClusters: 3, topologySpreadConstraints: []}");
        assert_has(cluster(s, "east-3"), "{'change':'stays','tone':'busy'}");
}

static void what_cannot_be_changed_is_evaluated_and_said(void **state)
{
        struct scene *s = *state;

        set_placed(s);
        try_policy(s, "placementType: PickFixed\nclusterNames: [west-1]\n");
        assert_has(tried(s), "{'changes':{'joins':1,'leaves':1,'stays':0}}");
        assert_true(strstr(doc_get_string(tried(s), "refused"), "placement type is immutable") != NULL);
        try_policy(s, "placementType: PickN\nnumberOfClusters: 1\n");
        assert_null(json_object_get(tried(s), "refused"));
}

static void a_wrong_policy_is_told_with_field_rule_and_place_and_the_rows_stay(void **state)
{
        static const struct {
                const char *text, *error;
                int line, column;
        } cases[] = {
                { "placementType: PickN\nnumberOfCluster: 3\n",
                  "unknown field \"spec.policy.numberOfCluster\"", 2, 1 },
                { "placementType: PickN\naffinity:\n  clusterAffinity:\n    required: 1\n",
                  "unknown field \"spec.policy.affinity.clusterAffinity.required\"", 4, 5 },
                { "placementType: PickN\nnumberOfClusters: many\n", "spec.policy.numberOfClusters: Invalid ",
                  2, 1 },
                { "placementType: PickSome\n", "spec.policy.placementType: Unsupported value: \"PickSome\"",
                  1, 1 },
                { "placementType: PickFixed\nclusterNames: [a]\naffinity: {}\n", "spec.policy: Invalid value",
                  0, 0 },
                { "tolerations:\n- key: k\n- {operator: Exists, value: x}\n", "spec.policy.tolerations", 1,
                  1 },
                { "a: 1\nb: ]\n", "yaml: line 2: ", 2, 4 },
                { "a: 1\na: 2\n", "yaml: line 2: ", 2, 0 },
                { "", "spec.policy: must be a mapping", 0, 0 },
                { "- PickAll\n", "spec.policy: must be a mapping", 0, 0 },
                { "PickAll", "spec.policy: must be a mapping", 0, 0 },
                { "a: 1\n---\nb: 1\n", "spec.policy: must be one document, there are 2", 0, 0 },
        };
        struct scene *s = *state;

        set_placed(s);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const char *error;

                try_policy(s, cases[i].text);
                error = or_empty(doc_get_string(tried(s), "error"));
                if (!text_starts_with(error, cases[i].error) ||
                    json_integer_value(json_object_get(tried(s), "line")) != cases[i].line)
                        fprintf(stderr, "of: %s\n%s\n", cases[i].text, error);
                assert_true(text_starts_with(error, cases[i].error));
                assert_int_equal(json_integer_value(json_object_get(tried(s), "line")), cases[i].line);
                assert_int_equal(json_integer_value(json_object_get(tried(s), "column")), cases[i].column);
                assert_has(cluster(s, "east-1"), "{'word':'picked','order':1}");
                assert_has(scene_head(s), "{'policy':'PickN 1'}");
                assert_null(json_object_get(tried(s), "changes"));
        }
}

static void a_policy_that_is_too_large_is_refused(void **state)
{
        struct scene *s = *state;
        AUTO_BUF struct buf text;

        set_placed(s);
        buf_init(&text, 1u << 20);
        for (int i = 0; i < 70000; i++)
                buf_append_char(&text, '#');
        try_policy(s, text.data);
        assert_has(tried(s), "{'error':'spec.policy: has 70000 bytes, at most 65536 are taken'}");
        buf_clear(&text);
        buf_append_str(&text, "clusterNames: [");
        for (int i = 0; i < 21000; i++)
                buf_append_str(&text, "a,");
        buf_append_str(&text, "a]\n");
        try_policy(s, text.data);
        assert_non_null(doc_get_string(tried(s), "error"));
        buf_clear(&text);
        buf_append_str(&text, "a: &a [x,x,x,x,x,x,x,x,x]\n");
        for (char c = 'b'; c < 'j'; c++)
                buf_printf(&text, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1, c - 1,
                           c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
        try_policy(s, text.data);
        assert_non_null(doc_get_string(tried(s), "error"));
        assert_true(strlen(doc_get_string(tried(s), "error")) < 1024);
}

static void bad_arguments_name_themselves(void **state)
{
        static const struct bad_args policy = { "{'kind':'crp','name':'x','policy':{}}",
                                                "policy: must be a string" };

        assert_names_a_placement(*state, view);
        assert_bad_args(*state, view, &policy, 1);
}

static void walk_failures(struct scene *s, uint64_t from, uint64_t step)
{
        bool fired = true;

        for (uint64_t n = from; fired; n += step) {
                page_doc_free(s->doc);
                s->doc = page_doc_new(7);
                if (scene_look_failing(s, view, n, &fired) < 0)
                        assert_int_equal(s->err.code, ERR_NO_MEMORY);
        }
}

/* Reading the definition takes thousands of allocations: of those each so many fails. */
static void any_allocation_may_fail(void **state)
{
        struct scene *s = *state;

        what_is_placed_stands_first_with_the_schedulers_words(state);
        walk_failures(s, 1, 1);
        try_policy(s, "placementType: PickFixed\nclusterNames: [west-1]\n");
        walk_failures(s, 1, 211);
        try_policy(s, "placementType: PickN\nnumberOfClusters: many\n");
        walk_failures(s, 101, 211);
        scene_look(s, view);
        assert_has(tried(s), "{'line':2}");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCENE_TEST(every_cluster_has_a_word_a_reason_and_scores),
                SCENE_TEST(each_requirement_stands_beside_what_the_cluster_has),
                SCENE_TEST(what_is_placed_stands_first_with_the_schedulers_words),
                SCENE_TEST(the_policy_is_told_in_words_and_as_text_to_begin_from),
                SCENE_TEST(a_policy_of_a_newer_version_is_told_to_be_none_that_can_be_followed),
                SCENE_TEST(only_the_cluster_that_changed_is_sent),
                SCENE_TEST(a_namespaced_placement_is_looked_at_in_its_namespace),
                SCENE_TEST(what_may_not_be_read_is_said),
                SCENE_TEST(more_requirements_than_fit_are_counted),
                SCENE_TEST(a_policy_that_is_tried_out_says_who_joins_leaves_and_stays),
                SCENE_TEST(it_is_evaluated_with_what_is_placed_as_the_scheduler_would),
                SCENE_TEST(what_cannot_be_changed_is_evaluated_and_said),
                SCENE_TEST(a_wrong_policy_is_told_with_field_rule_and_place_and_the_rows_stay),
                SCENE_TEST(a_policy_that_is_too_large_is_refused),
                SCENE_TEST(bad_arguments_name_themselves),
                SCENE_TEST(any_allocation_may_fail),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
