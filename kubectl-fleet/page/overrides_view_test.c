/* The view of overrides: which rule touched which cluster, and what it made of the objects there. */
#include "kubectl-fleet/page/look_test.h"

#include "kubectl-fleet/page/overrides.h"

extern const struct page_view overrides_page_view;
static const struct page_view *const view = &overrides_page_view;

#define SELECTED                                                                                             \
        "{'version':'v1','kind':'Namespace','name':'web'},{'version':'v1','kind':'ConfigMap','name':'site'," \
        "'namespace':'web'}"
#define NAMESPACE "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'web'}}"
#define CONFIG                                                                                               \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'site','namespace':'web'},'data':{"        \
        "'a':'1'}}"
#define DEPLOYMENT                                                                                           \
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'api','namespace':'web'},'spec':{"   \
        "'replicas':1}}"
#define SECRET                                                                                               \
        "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'login','namespace':'web'},'data':{'p':"      \
        "'SECRETOLD'}}"

#define OF_NS "'clusterResourceSelectors':[{'group':'','version':'v1','kind':'Namespace','name':'web'}]"
#define OF(kind, name) "'resourceSelectors':[{'group':'','version':'v1','kind':'" kind "','name':'" name "'}]"
#define OF_API "'resourceSelectors':[{'group':'apps','version':'v1','kind':'Deployment','name':'api'}]"
#define ALL "'clusterSelector':{'clusterSelectorTerms':[]}"
#define WITH(label, value)                                                                                   \
        "'clusterSelector':{'clusterSelectorTerms':[{'labelSelector':{'matchLabels':{'" label "':'" value    \
        "'}}}]}"
#define OP(op, path, value) "{'op':'" op "','path':'" path "','value':" value "}"
#define PATCH(where, operations) "{" where ",'jsonPatchOverrides':[" operations "]}"
#define DELETE(where) "{" where ",'overrideType':'Delete'}"
#define SPEC(selects, rules) selects ",'policy':{'overrideRules':[" rules "]}"

static void put_placement(struct scene *s, const char *selected)
{
        scene_put(s, &cluster_resource_placement_kind,
                  "{'metadata':{'name':'web','uid':'p','generation':1},'spec':{'resourceSelectors':[]},"
                  "'status':{'selectedResources':[%s]}}",
                  selected);
}

static void put_member(struct scene *s, const char *name, const char *labels)
{
        scene_put(s, &member_cluster_kind,
                  "{'metadata':{'name':'%s','uid':'m-%s','labels':{%s}},'spec':{'identity':{'kind':'User',"
                  "'name':'x'}}}",
                  name, name, labels);
}

#define WIDE(names) "'clusterResourceOverrideSnapshots':[" names "],"
#define OWN(name) "'resourceOverrideSnapshots':[{'namespace':'web','name':'" name "'}],"
#define OVERRIDDEN(status, message)                                                                          \
        "{'type':'Overridden','status':'" status "','reason':'R','message':'" message                        \
        "','lastTransitionTime':'2025-12-31T23:50:00Z','observedGeneration':1}"

static void bind_told(struct scene *s, const char *cluster, const char *overrides, const char *conditions)
{
        scene_put(s, &cluster_resource_binding_kind,
                  "{'metadata':{'name':'web-%s','uid':'b-%s','generation':1,'labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'web'}},'spec':{%s'state':'Bound','resourceSnapshotName':"
                  "'web-3-snapshot','schedulingPolicySnapshotName':'web-0','targetCluster':'%s',"
                  "'clusterDecision':{'clusterName':'%s','selected':true,'reason':''}},'status':{"
                  "'conditions':[%s]}}",
                  cluster, cluster, overrides, cluster, cluster, conditions);
}

static void bind(struct scene *s, const char *cluster, const char *overrides)
{
        bind_told(s, cluster, overrides, OVERRIDDEN("True", "well"));
}

static void put_manifests(struct scene *s, const char *manifests)
{
        scene_put(s, &cluster_resource_snapshot_kind,
                  "{'metadata':{'name':'web-3-snapshot','uid':'s','labels':{'kubernetes-fleet.io/parent-CRP':"
                  "'web','kubernetes-fleet.io/resource-index':'3'}},'spec':{'selectedResources':[%s]}}",
                  manifests);
}

static void put_override(struct scene *s, const char *ns, const char *name, const char *spec)
{
        scene_put(s, ns ? &resource_override_snapshot_kind : &cluster_resource_override_snapshot_kind,
                  "{'metadata':{'name':'%s','uid':'o-%s',%s%s%s'creationTimestamp':'2025-12-31T23:50:00Z',"
                  "'labels':{'kubernetes-fleet.io/is-latest-snapshot':'true'}},'spec':{'overrideHash':'eA==',"
                  "'overrideSpec':{%s}}}",
                  name, name, ns ? "'namespace':'" : "", ns ? ns : "", ns ? "'," : "", spec);
}

/* Two clusters, a namespace with a ConfigMap and a Deployment. */
static void set_scene(struct scene *s)
{
        scene_args(s, "{'kind':'crp','name':'web'}");
        put_placement(s, SELECTED);
        put_manifests(s, NAMESPACE "," CONFIG "," DEPLOYMENT);
        put_member(s, "east", "'region':'eu'");
        put_member(s, "west", "'region':'us'");
        bind(s, "east", "");
        bind(s, "west", "");
}

static const json_t *row_of(const struct scene *s, const char *part, const char *key)
{
        const json_t *row = scene_row(s, part, key);

        if (!row)
                fprintf(stderr, "no row %s of %s\n", key, part);
        assert_non_null(row);
        return row;
}

#define THE_CONFIG "web-3-snapshot/1"
#define THE_API "web-3-snapshot/2"
static const json_t *object(const struct scene *s, const char *key)
{
        return row_of(s, "objects", key);
}

static const json_t *rendered(const struct scene *s, const char *cluster)
{
        return row_of(s, "rendered", cluster);
}

static void set_labelled(struct scene *s)
{
        set_scene(s);
        put_override(s, NULL, "tier-0",
                     SPEC(OF_NS, PATCH(WITH("region", "eu"),
                                       OP("add", "/metadata/labels",
                                          "{'tier':'gold'}")) "," DELETE(WITH("region", "us"))));
        bind(s, "east", WIDE("'tier-0'"));
        bind(s, "west", WIDE("'tier-0'"));
}

/* ---- what touches what ---- */

static void each_rule_says_which_clusters_it_is_for_and_how_many_it_touches(void **state)
{
        struct scene *s = *state;

        set_labelled(s);
        scene_look(s, view);
        assert_has(
                row_of(s, "overrides", "cro/tier-0"),
                "{'override':{'kind':'ClusterResourceOverride','name':'tier','snapshot':'tier-0'},'latest':"
                "true,'clusters':2,'targets':[{'group':'','version':'v1','kind':'Namespace','namespace':'',"
                "'name':'web'}],'rules':[{'where':'clusters with region=eu','clusters':1,'operations':[{"
                "'op':'add','path':'/metadata/labels','value':'{\\'tier\\':\\'gold\\'}'}]},{'where':"
                "'clusters with region=us','clusters':1,'deletes':true,'operations':[]}]}");
        assert_has(row_of(s, "clusters", "east"), "{'overrides':[{'key':'cro/tier-0','rules':[0]}],'told':{"
                                                  "'type':'Overridden','status':'True','message':'well'}}");
        assert_has(row_of(s, "clusters", "west"), "{'overrides':[{'key':'cro/tier-0','rules':[1]}]}");
        assert_has(scene_head(s),
                   "{'placement':{'scope':'crp','name':'web'},'clusters':2,'touched':2,'asked':"
                   "'east','revision':3}");
}

static void the_clusters_of_a_rule_are_told_in_words(void **state)
{
        static const struct {
                const char *selector, *words;
        } cases[] = {
                { ALL, "all clusters" },
                { "'overrideType':'JSONPatch'", "no cluster" },
                { WITH("a", "b"), "clusters with a=b" },
                { "'clusterSelector':{'clusterSelectorTerms':[{'labelSelector':{'matchLabels':{'a':'b'}}},{"
                  "'labelSelector':{'matchExpressions':[{'key':'c','operator':'In','values':['d','e']}]}}]}",
                  "clusters with a=b or c in (d,e)" },
                { "'clusterSelector':{'clusterSelectorTerms':[{'labelSelector':{}}]}",
                  "clusters with any labels" },
                { "'clusterSelector':{'clusterSelectorTerms':[{}]}", "no cluster" },
        };
        struct scene *s = *state;

        set_scene(s);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char spec[1024];

                snprintf(spec, sizeof(spec), SPEC(OF_NS, "{%s,'jsonPatchOverrides':[]}"), cases[i].selector);
                put_override(s, NULL, "x-0", spec);
                scene_look(s, view);
                assert_string_equal(
                        doc_get_string(
                                json_array_get(json_object_get(row_of(s, "overrides", "cro/x-0"), "rules"),
                                               0),
                                "where"),
                        cases[i].words);
        }
}

static void an_override_that_touches_no_cluster_is_there_and_says_so(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_override(s, NULL, "none-0", SPEC(OF_NS, DELETE(WITH("region", "moon"))));
        put_override(s, NULL, "soon-0", SPEC(OF_NS, DELETE(WITH("region", "eu"))));
        put_override(s, NULL, "named-0", SPEC("'placement':{'name':'web'}", DELETE(ALL)));
        put_override(s, NULL, "other-0", SPEC("'placement':{'name':'shop'}," OF_NS, DELETE(ALL)));
        put_override(
                s, NULL, "elsewhere-0",
                SPEC("'clusterResourceSelectors':[{'group':'','version':'v1','kind':'Namespace','name':'x'}]",
                     DELETE(ALL)));
        put_override(s, "web", "own-0", SPEC(OF("ConfigMap", "site"), DELETE(WITH("region", "moon"))));
        put_override(s, "shop", "own-0", SPEC(OF("ConfigMap", "site"), DELETE(ALL)));
        scene_look(s, view);
        assert_has(row_of(s, "overrides", "cro/none-0"), "{'clusters':0,'would':0}");
        assert_has(row_of(s, "overrides", "cro/soon-0"), "{'clusters':0,'would':1}");
        assert_has(row_of(s, "overrides", "cro/named-0"), "{'clusters':0,'would':2}");
        assert_has(row_of(s, "overrides", "ro/web/own-0"), "{'clusters':0,'would':0}");
        assert_int_equal(scene_rows(s, "overrides"), 4);
        assert_has(scene_head(s), "{'touched':0}");
}

static void a_snapshot_that_is_gone_is_told_of(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        bind(s, "east", WIDE("'lost-4'"));
        scene_look(s, view);
        assert_has(row_of(s, "clusters", "east"),
                   "{'overrides':[{'key':'cro/lost-4','rules':[],'gone':{'kind':'ClusterResourceOverride',"
                   "'namespace':'','name':'lost','snapshot':'lost-4'}}]}");
        assert_int_equal(scene_rows(s, "overrides"), 0);
        assert_has(rendered(s, "east"), "{'touched':0,'untouched':3}");
}

static void the_older_snapshot_of_a_binding_stands_beside_the_newest(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_override(s, NULL, "tier-1", SPEC(OF_NS, DELETE(ALL)));
        scene_put(
                s, &cluster_resource_override_snapshot_kind,
                "{'metadata':{'name':'tier-0','uid':'o'},'spec':{'overrideHash':'eA==','overrideSpec':{" SPEC(
                        OF_NS, DELETE(ALL)) "}}}");
        bind(s, "east", WIDE("'tier-0'"));
        scene_look(s, view);
        assert_has(row_of(s, "overrides", "cro/tier-1"), "{'latest':true,'clusters':0,'would':2}");
        assert_null(json_object_get(row_of(s, "overrides", "cro/tier-0"), "latest"));
}

static void the_binding_that_stays_counts_beside_one_that_goes(void **state)
{
        struct scene *s = *state;

        set_labelled(s);
        scene_put(
                s, &cluster_resource_binding_kind,
                "{'metadata':{'name':'web-a','uid':'b','deletionTimestamp':'2025-12-31T23:50:00Z','labels':{"
                "'kubernetes-fleet.io/parent-CRP':'web'}},'spec':{'state':'Bound','resourceSnapshotName':"
                "'web-2-snapshot','targetCluster':'east'}}");
        scene_look(s, view);
        assert_has(scene_head(s), "{'clusters':2,'asked':'east','revision':3}");
        assert_null(json_object_get(row_of(s, "clusters", "east"), "removing"));
}

/* ---- before and after ---- */

static void fields_stand_with_their_values_before_and_after(void **state)
{
        struct scene *s = *state;

        set_labelled(s);
        scene_look(s, view);
        assert_has(
                object(s, "web-3-snapshot/0"),
                "{'kind':'Namespace','group':'','version':'v1','namespace':'','name':'web','steps':[{'key':"
                "'cro/tier-0','rule':0,'fields':[{'path':'/metadata/"
                "labels','to':'{\\'tier\\':\\'gold\\'}'}]}]"
                "}");
        assert_has(rendered(s, "east"), "{'objects':3,'touched':3,'untouched':0,'leftOut':0,'unread':0}");
}

static void what_a_rule_deletes_is_dropped_there(void **state)
{
        struct scene *s = *state;

        set_labelled(s);
        scene_args(s, "{'kind':'crp','name':'web','cluster':'west'}");
        scene_look(s, view);
        assert_has(scene_head(s), "{'asked':'west'}");
        assert_has(object(s, THE_CONFIG), "{'steps':[{'key':'cro/tier-0','rule':1,'dropped':true}]}");
        assert_int_equal(scene_rows(s, "rendered"), 1);
}

static void rules_are_applied_one_after_the_other(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_override(s, "web", "data-0",
                     SPEC(OF("ConfigMap", "site"),
                          PATCH(ALL, OP("replace", "/data/a", "'2'")) "," PATCH(
                                  WITH("region", "us"),
                                  OP("replace", "/data/a",
                                     "'no'")) "," PATCH(ALL, OP("replace", "/data/a",
                                                                "'3'") "," OP("add", "/data/b", "'4'"))));
        bind(s, "east", OWN("data-0"));
        scene_look(s, view);
        assert_has(
                object(s, THE_CONFIG),
                "{'steps':[{'key':'ro/web/data-0','rule':0,'fields':[{'path':'/data/a','from':'\\'1\\'','to':"
                "'\\'2\\''}]},{'key':'ro/web/data-0','rule':2,'fields':[{'path':'/data/a','from':'\\'2\\'',"
                "'to':'\\'3\\''},{'path':'/data/b','to':'\\'4\\''}]}]}");
        assert_has(rendered(s, "east"), "{'touched':1,'untouched':2}");
}

static void variables_are_filled_in_from_the_cluster(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_override(s, "web", "vars-0",
                     SPEC(OF("ConfigMap", "site"),
                          PATCH(ALL, OP("replace", "/data/a",
                                        "'${MEMBER-CLUSTER-NAME} in ${MEMBER-CLUSTER-LABEL-KEY-region}'"))));
        bind(s, "east", OWN("vars-0"));
        scene_look(s, view);
        assert_has(object(s, THE_CONFIG),
                   "{'steps':[{'key':'ro/web/vars-0','rule':0,'fields':[{'path':'/data/a',"
                   "'from':'\\'1\\'','to':'\\'east in eu\\''}]}]}");
        put_member(s, "east", "'region':'north'");
        scene_look(s, view);
        assert_true(scene_shows(s, "east in north"));
}

static void an_error_stops_and_is_told(void **state)
{
        struct scene *s = *state;
        const json_t *steps;

        set_scene(s);
        put_override(s, "web", "wrong-0",
                     SPEC(OF("ConfigMap", "site"),
                          PATCH(ALL, OP("replace", "/data/a", "'2'")) "," PATCH(
                                  ALL, OP("replace", "/none/x", "1")) "," PATCH(ALL, OP("replace", "/data/a",
                                                                                        "'3'"))));
        bind(s, "east", OWN("wrong-0"));
        scene_look(s, view);
        steps = json_object_get(object(s, THE_CONFIG), "steps");
        assert_int_equal(json_array_size(steps), 2);
        assert_has(json_array_get(steps, 1), "{'rule':1}");
        assert_true(strstr(doc_get_string(json_array_get(steps, 1), "error"), "ConfigMap \"site\"") != NULL);
        assert_null(json_object_get(object(s, THE_CONFIG), "error"));
}

static void what_only_all_of_them_together_break_is_told_of_the_object(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_override(s, NULL, "drop-0", SPEC(OF_NS, DELETE(ALL)));
        put_override(s, "web", "wrong-0",
                     SPEC(OF("ConfigMap", "site"),
                          PATCH(ALL, OP("replace", "/data/a", "'${MEMBER-CLUSTER-LABEL-KEY-none}'"))));
        bind(s, "east", WIDE("'drop-0'") OWN("wrong-0"));
        scene_look(s, view);
        assert_int_equal(json_array_size(json_object_get(object(s, THE_CONFIG), "steps")), 1);
        assert_true(strstr(doc_get_string(object(s, THE_CONFIG), "error"), "label key none not found") !=
                    NULL);
}

static void what_is_in_an_envelope_is_changed_not_the_envelope(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_manifests(s, "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ResourceEnvelope',"
                         "'metadata':{'name':'pack','namespace':'web'},'data':{'a':" DEPLOYMENT ",'b':" CONFIG
                         ",'c':7}}");
        put_override(s, "web", "data-0",
                     SPEC(OF("ConfigMap", "site"), PATCH(ALL, OP("replace", "/data/a", "'2'"))));
        bind(s, "east", OWN("data-0"));
        scene_look(s, view);
        assert_has(
                object(s, "web-3-snapshot/0/0"),
                "{'kind':'ConfigMap','name':'site','envelope':{'kind':'ResourceEnvelope','namespace':'web',"
                "'name':'pack'},'steps':[{'key':'ro/web/data-0','rule':0,'fields':[{'path':'/data/a','from':"
                "'\\'1\\'','to':'\\'2\\''}]}]}");
        assert_has(rendered(s, "east"), "{'objects':2,'touched':1}");
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "objects"), 1);
        assert_int_equal(s->bytes_sent, 0);
}

static void a_broken_selector_concerns_every_cluster_and_stops(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_override(
                s, NULL, "bad-0",
                SPEC(OF_NS, DELETE("'clusterSelector':{'clusterSelectorTerms':[{'labelSelector':{"
                                   "'matchExpressions':[{'key':'a','operator':'Like','values':['b']}]}}]}")));
        bind(s, "east", WIDE("'bad-0'"));
        scene_look(s, view);
        assert_has(json_array_get(json_object_get(row_of(s, "overrides", "cro/bad-0"), "rules"), 0),
                   "{'broken':true}");
        assert_has(row_of(s, "clusters", "east"), "{'overrides':[{'key':'cro/bad-0','rules':[0]}]}");
        assert_non_null(
                doc_get_string(json_array_get(json_object_get(object(s, THE_CONFIG), "steps"), 0), "error"));
}

/* ---- Secrets ---- */

static void no_value_of_a_secret_is_shown(void **state)
{
        static const char *const rules[] = {
                PATCH(ALL, OP("replace", "/data/p", "'SECRETNEW'")),
                PATCH(ALL, OP("replace", "/data/none/x", "'SECRETNEW'")),
                PATCH(ALL, OP("replace", "/data/p", "'SECRETNEW ${MEMBER-CLUSTER-LABEL-KEY-x'")),
                PATCH(ALL, OP("add", "/stringData", "{'p':'SECRETNEW'}")),
        };
        struct scene *s = *state;

        set_scene(s);
        put_placement(s, SELECTED ",{'version':'v1','kind':'Secret','name':'login','namespace':'web'}");
        put_manifests(s, NAMESPACE "," SECRET);
        bind_told(s, "east", OWN("s-0"), OVERRIDDEN("False", "input SECRETNEW is wrong"));
        for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
                char spec[2048];

                snprintf(spec, sizeof(spec), SPEC(OF("Secret", "login"), "%s"), rules[i]);
                put_override(s, "web", "s-0", spec);
                scene_look(s, view);
                assert_int_equal(json_array_size(json_object_get(object(s, "web-3-snapshot/1"), "steps")), 1);
                assert_false(scene_shows(s, "SECRET"));
        }
}

static void an_override_of_a_namespace_shows_none_of_the_secrets_in_it(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_placement(s, SELECTED ",{'version':'v1','kind':'Secret','name':'login','namespace':'web'}");
        put_manifests(s, NAMESPACE "," CONFIG "," SECRET);
        put_override(s, NULL, "wide-0",
                     SPEC(OF_NS, PATCH(ALL, OP("add", "/metadata/labels", "{'tier':'gold'}") "," OP(
                                                    "add", "/data", "{'p':'SECRETNEW'}"))));
        put_override(s, "web", "after-0",
                     SPEC(OF("ConfigMap", "site"), PATCH(ALL, OP("add", "/data/q", "'7'"))));
        bind_told(s, "east", WIDE("'wide-0'") OWN("after-0"),
                  OVERRIDDEN("False", "SECRETNEW failed to apply on Secret login"));
        scene_look(s, view);
        assert_has(
                object(s, "web-3-snapshot/2"),
                "{'kind':'Secret','steps':[{'key':'cro/wide-0','rule':0,'fields':[{'path':'/data/p','hidden':"
                "true},{'path':'/metadata/labels','hidden':true}]}]}");
        assert_false(scene_shows(s, "SECRET"));
        assert_true(scene_shows(s, "gold"));
}

/* ---- bad input, size ---- */

static void markup_and_long_values_come_as_text_and_cut(void **state)
{
        struct scene *s = *state;
        AUTO_BUF struct buf spec;

        set_scene(s);
        buf_init(&spec, 1u << 20);
        buf_append_str(&spec,
                       OF("ConfigMap", "site") ",'policy':{'overrideRules':[{" ALL
                                               ",'jsonPatchOverrides':[{'op':'replace','path':'/data/a',"
                                               "'value':'<b>");
        for (int i = 0; i < 100000; i++)
                buf_append_char(&spec, 'x');
        buf_append_str(&spec, "'}]}]}");
        put_override(s, "web", "long-0", spec.data);
        bind(s, "east", OWN("long-0"));
        scene_look(s, view);
        assert_true(scene_shows(s, "<b>xxx"));
        assert_true(s->bytes_sent < 16384);
        assert_has(json_array_get(json_object_get(json_array_get(json_object_get(row_of(s, "overrides",
                                                                                        "ro/web/long-0"),
                                                                                 "rules"),
                                                                 0),
                                                  "operations"),
                                  0),
                   "{'valueBytes':100005}");
}

static void values_are_as_a_person_would_write_them(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        put_override(s, "web", "x-0",
                     SPEC(OF("ConfigMap", "site"), PATCH(ALL, OP("replace", "/data/a", "'<i>&\\\\u003c'"))));
        bind(s, "east", OWN("x-0"));
        scene_look(s, view);
        assert_has(object(s, THE_CONFIG),
                   "{'steps':[{'key':'ro/web/x-0','rule':0,'fields':[{'path':'/data/a',"
                   "'from':'\\'1\\'','to':'\\'<i>&\\\\\\\\u003c\\''}]}]}");
}

static void what_is_not_rendered_for_its_size_is_counted(void **state)
{
        struct scene *s = *state;
        AUTO_BUF struct buf all;
        const json_t *r;

        set_scene(s);
        buf_init(&all, 8u << 20);
        for (int i = 0; i < 12; i++) {
                buf_printf(
                        &all,
                        "%s{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c%d','namespace':'web'},"
                        "'data':{'a':'",
                        i ? "," : "", i);
                for (int k = 0; k < 300000; k++)
                        buf_append_char(&all, 'x');
                buf_append_str(&all, "'}}");
        }
        put_manifests(s, all.data);
        put_override(s, NULL, "four-0",
                     SPEC(OF_NS, PATCH(ALL, OP("add", "/data/b", "'1'")) "," PATCH(
                                         ALL, OP("add", "/data/c", "'1'"))));
        bind(s, "east", WIDE("'four-0'"));
        scene_look(s, view);
        r = rendered(s, "east");
        assert_has(r, "{'objects':9,'touched':9,'leftOut':3}");
        assert_int_equal(scene_rows(s, "objects"), 9);
}

static void of_a_thousand_clusters_only_what_changed_is_sent(void **state)
{
        struct scene *s = *state;

        set_labelled(s);
        for (int i = 0; i < 1000; i++) {
                char name[16];

                snprintf(name, sizeof(name), "m-%d", i);
                put_member(s, name, "'region':'eu'");
                bind(s, name, WIDE("'tier-0'"));
        }
        scene_look(s, view);
        assert_has(row_of(s, "overrides", "cro/tier-0"), "{'clusters':1002}");
        assert_int_equal(s->rows_sent, 1002 + 1 + 3 + 1);
        scene_look(s, view);
        assert_int_equal(s->bytes_sent, 0);
        bind_told(s, "m-500", WIDE("'tier-0'"), OVERRIDDEN("False", "no"));
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 1);
        put_member(s, "m-7", "'region':'us'");
        scene_look(s, view);
        assert_int_equal(s->rows_sent, 2); /* the cluster, and how many each rule touches */
        assert_has(row_of(s, "clusters", "m-7"), "{'overrides':[{'key':'cro/tier-0','rules':[1]}]}");
}

static void an_edited_override_changes_only_what_it_makes(void **state)
{
        struct scene *s = *state;

        set_labelled(s);
        put_override(
                s, NULL, "tier-1",
                SPEC(OF_NS, PATCH(WITH("region", "eu"), OP("add", "/metadata/labels", "{'tier':'iron'}"))));
        bind(s, "east", WIDE("'tier-1'"));
        scene_look(s, view);
        assert_true(scene_shows(s, "iron"));
        put_override(
                s, NULL, "tier-1",
                SPEC(OF_NS, PATCH(WITH("region", "us"), OP("add", "/metadata/labels", "{'tier':'iron'}"))));
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "objects"), 0);
        assert_has(rendered(s, "east"), "{'untouched':3}");
}

static void one_may_ask_for_the_objects_alone_or_for_all_but_them(void **state)
{
        struct scene *s = *state;

        set_labelled(s);
        scene_args(s, "{'kind':'crp','name':'web','part':'clusters'}");
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "clusters"), 2);
        assert_int_equal(scene_rows(s, "objects"), 0);
        assert_int_equal(s->n_needs, 5); /* manifests are not read */
        scene_args(s, "{'kind':'crp','name':'web','part':'objects','cluster':'west'}");
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "clusters"), 0);
        assert_int_equal(scene_rows(s, "overrides"), 0);
        assert_int_equal(scene_rows(s, "objects"), 3);
}

static void a_namespaced_placement_is_looked_at_in_its_namespace(void **state)
{
        struct scene *s = *state;

        scene_args(s, "{'kind':'rp','ns':'web','name':'app'}");
        scene_put(s, &resource_placement_kind,
                  "{'metadata':{'name':'app','namespace':'web','uid':'p'},'spec':{'resourceSelectors':[]},"
                  "'status':{'selectedResources':[" SELECTED "]}}");
        put_member(s, "east", "'region':'eu'");
        put_override(s, "web", "own-0",
                     SPEC("'placement':{'name':'app','scope':'Namespaced'}," OF("ConfigMap", "site"),
                          DELETE(ALL)));
        put_override(s, NULL, "wide-0", SPEC("'placement':{'name':'app'}," OF_NS, DELETE(ALL)));
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "overrides"), 1);
        assert_has(scene_head(s), "{'kind':'ResourcePlacement','clusters':0,'asked':''}");
}

static void what_is_asked_about_and_is_not_there_is_said(void **state)
{
        struct scene *s = *state;

        set_labelled(s);
        scene_args(s, "{'kind':'crp','name':'web','cluster':'moon'}");
        scene_look(s, view);
        assert_has(scene_head(s), "{'asked':'moon','askedNot':true}");
        assert_int_equal(scene_rows(s, "objects"), 0);
        assert_int_equal(scene_rows(s, "clusters"), 2);
        scene_remove(s, &member_cluster_kind, NULL, "east");
        scene_args(s, "{'kind':'crp','name':'web','cluster':'east'}");
        scene_look(s, view);
        assert_has(scene_head(s), "{'asked':'east','askedGone':true}");
        assert_has(row_of(s, "clusters", "east"),
                   "{'gone':true,'overrides':[{'key':'cro/tier-0','rules':[]}]}");
}

static void what_may_not_be_read_is_said(void **state)
{
        struct scene *s = *state;

        set_labelled(s);
        s->unreadable = &cluster_resource_binding_kind;
        scene_look(s, view);
        assert_has(scene_head(s), "{'clustersUnknown':true,'clusters':0}");
        assert_has(row_of(s, "overrides", "cro/tier-0"), "{'clusters':0}");
}

static void bad_arguments_name_themselves(void **state)
{
        static const struct bad_args part = { "{'kind':'crp','name':'x','part':'all'}",
                                              "part: must be clusters or objects" };

        assert_names_a_placement(*state, view);
        assert_bad_args(*state, view, &part, 1);
}

static void broken_objects_of_the_hub_do_no_harm(void **state)
{
        struct scene *s = *state;

        set_scene(s);
        scene_put(s, &cluster_resource_override_snapshot_kind, "{'metadata':{'name':'empty-0','uid':'o'}}");
        put_override(s, NULL, "bare-0", OF_NS);
        bind(s, "east", WIDE("'empty-0','bare-0'"));
        scene_put(
                s, &cluster_resource_binding_kind,
                "{'metadata':{'name':'web-x','uid':'x','labels':{'kubernetes-fleet.io/parent-CRP':'web'}}}");
        put_manifests(s, "{},{'kind':7}");
        scene_look(s, view);
        assert_has(row_of(s, "overrides", "cro/bare-0"), "{'rules':[],'clusters':1}");
        assert_has(rendered(s, "east"), "{'touched':0}");
}

/* ---- memory ---- */

static void any_allocation_may_fail(void **state)
{
        struct scene *s = *state;
        bool fired = true;

        set_labelled(s);
        put_override(s, "web", "data-0",
                     SPEC(OF("ConfigMap", "site"), PATCH(ALL, OP("replace", "/data/a", "'2'")) "," PATCH(
                                                           ALL, OP("replace", "/none/x", "1"))));
        bind(s, "east", WIDE("'tier-0','lost-1'") OWN("data-0"));
        for (uint64_t n = 1; fired; n++) {
                page_doc_free(s->doc);
                s->doc = page_doc_new(7);
                if (scene_look_failing(s, view, n, &fired) < 0)
                        assert_int_equal(s->err.code, ERR_NO_MEMORY);
        }
        scene_look(s, view);
        assert_int_equal(scene_rows(s, "objects"), 3);
}

/* Rows that were drawn before the memory ran out are taken up again. */
static void a_look_that_failed_half_way_is_made_up_for(void **state)
{
        struct scene *s = *state;
        bool fired = true;

        set_labelled(s);
        scene_look(s, view);
        for (uint64_t n = 1; fired; n += 7) {
                put_override(s, NULL, "tier-0",
                             SPEC(OF_NS, PATCH(WITH("region", "eu"),
                                               OP("add", "/metadata/labels", "{'tier':'iron'}"))));
                scene_look_failing(s, view, n, &fired);
                scene_look(s, view);
                assert_int_equal(scene_rows(s, "objects"), 3);
                assert_true(scene_shows(s, "iron"));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCENE_TEST(each_rule_says_which_clusters_it_is_for_and_how_many_it_touches),
                SCENE_TEST(the_clusters_of_a_rule_are_told_in_words),
                SCENE_TEST(an_override_that_touches_no_cluster_is_there_and_says_so),
                SCENE_TEST(a_snapshot_that_is_gone_is_told_of),
                SCENE_TEST(the_older_snapshot_of_a_binding_stands_beside_the_newest),
                SCENE_TEST(the_binding_that_stays_counts_beside_one_that_goes),
                SCENE_TEST(fields_stand_with_their_values_before_and_after),
                SCENE_TEST(what_a_rule_deletes_is_dropped_there),
                SCENE_TEST(rules_are_applied_one_after_the_other),
                SCENE_TEST(variables_are_filled_in_from_the_cluster),
                SCENE_TEST(an_error_stops_and_is_told),
                SCENE_TEST(what_only_all_of_them_together_break_is_told_of_the_object),
                SCENE_TEST(what_is_in_an_envelope_is_changed_not_the_envelope),
                SCENE_TEST(a_broken_selector_concerns_every_cluster_and_stops),
                SCENE_TEST(no_value_of_a_secret_is_shown),
                SCENE_TEST(an_override_of_a_namespace_shows_none_of_the_secrets_in_it),
                SCENE_TEST(markup_and_long_values_come_as_text_and_cut),
                SCENE_TEST(values_are_as_a_person_would_write_them),
                SCENE_TEST(what_is_not_rendered_for_its_size_is_counted),
                SCENE_TEST(of_a_thousand_clusters_only_what_changed_is_sent),
                SCENE_TEST(an_edited_override_changes_only_what_it_makes),
                SCENE_TEST(one_may_ask_for_the_objects_alone_or_for_all_but_them),
                SCENE_TEST(a_namespaced_placement_is_looked_at_in_its_namespace),
                SCENE_TEST(what_is_asked_about_and_is_not_there_is_said),
                SCENE_TEST(what_may_not_be_read_is_said),
                SCENE_TEST(bad_arguments_name_themselves),
                SCENE_TEST(broken_objects_of_the_hub_do_no_harm),
                SCENE_TEST(any_allocation_may_fail),
                SCENE_TEST(a_look_that_failed_half_way_is_made_up_for),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
