/* spec/cluster-object-set.md 10 */
#include "member-agent/object-set/probe.h"

#include "member-agent/object-set/testing.h"

/* What built-in rules and these probes, the items of a JSON list, say of an object. */
static struct probe_result probed(struct arena *arena, const char *probes, const char *live,
                                  bool first_consumer)
{
        AUTO_JSON json_t *doc = quoted(live);
        const struct set_object o = object_from(arena, doc);
        const struct cluster_object_set *s = set_from(
                arena, arena_printf(arena, "{'spec':{'progressionProbes':[%s]}}", probes ? probes : ""));
        const struct probe_input in = { .probes = probes ? &s->spec->progression_probes : NULL,
                                        .group = o.group,
                                        .kind = o.kind,
                                        .live = doc,
                                        .first_consumer = first_consumer };
        struct probe_result r = { 0 };
        struct error err = { 0 };

        if (probe_object(&in, arena, &r, &err) < 0)
                r.words = arena_strdup(arena, err.text);
        return r;
}

static void assert_probed(const char *probes, const char *live, enum verdict verdict, const char *words)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct probe_result r = probed(&arena, probes, live, false);

        assert_string_equal(r.words, words);
        assert_int_equal(r.verdict, verdict);
}

#define CRD(status)                                                                                          \
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{'name':'x'}," \
        "'status':" status "}"
#define CORE(kind, status) "{'apiVersion':'v1','kind':'" kind "','metadata':{'name':'x'},'status':" status "}"
#define CERT_MANAGER(kind, status)                                                                           \
        "{'apiVersion':'cert-manager.io/v1','kind':'" kind "','metadata':{'name':'x'},'status':" status "}"
#define DEPLOYMENT(status)                                                                                   \
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'x','generation':2},'spec':{"        \
        "'replicas':2},'status':{" status "}}"
#define CONDITION(type, status) "'conditions':[{'type':'" type "','status':'" status "'}]"
#define NO_CONDITIONS "missing .status.conditions"

/* spec/cluster-object-set.md checklist 47, 49, 51 */
static void known_kinds_are_ready_as_the_page_says(void **state)
{
        static const struct {
                const char *live;
                enum verdict verdict;
                const char *words;
        } lines[] = {
                { CRD("{}"), VERDICT_UNKNOWN, NO_CONDITIONS },
                { CRD("{" CONDITION("Established", "False") "}"), VERDICT_FALSE,
                  ".status.condition[\"Established\"] is False" },
                { CRD("{" CONDITION("Established", "True") "}"), VERDICT_TRUE, "" },
                { CORE("Namespace", "{'phase':'Terminating'}"), VERDICT_FALSE,
                  "value at key \"status.phase\" != \"Active\"; expected: \"Active\" got: \"Terminating\"" },
                { CORE("Namespace", "{'phase':'Active'}"), VERDICT_TRUE, "" },
                { CORE("PersistentVolumeClaim", "{'phase':'Pending'}"), VERDICT_FALSE,
                  "value at key \"status.phase\" != \"Bound\"; expected: \"Bound\" got: \"Pending\"" },
                { CORE("PersistentVolumeClaim", "{'phase':'Bound'}"), VERDICT_TRUE, "" },
                { DEPLOYMENT(""), VERDICT_UNKNOWN, NO_CONDITIONS },
                { DEPLOYMENT("'updatedReplicas':1,'replicas':2," CONDITION("Available", "True")),
                  VERDICT_FALSE, "\"status.updatedReplicas\" != \"status.replicas\" expected: 1 got: 2" },
                { DEPLOYMENT("'replicas':2," CONDITION("Available", "False")), VERDICT_FALSE,
                  "\"status.updatedReplicas\" != \"status.replicas\" expected: 0 got: 2 and "
                  ".status.condition[\"Available\"] is False" },
                { DEPLOYMENT("'updatedReplicas':2,'replicas':2," CONDITION("Available", "True")),
                  VERDICT_TRUE, "" },
                { DEPLOYMENT(CONDITION("Available", "True")), VERDICT_TRUE, "" },
                { DEPLOYMENT("'observedGeneration':1," CONDITION("Available", "True")), VERDICT_UNKNOWN,
                  ".status outdated" },
                { CERT_MANAGER("Certificate", "{}"), VERDICT_UNKNOWN, NO_CONDITIONS },
                { CERT_MANAGER("Certificate", "{" CONDITION("Ready", "True") "}"), VERDICT_TRUE, "" },
                { CERT_MANAGER("Issuer", "{" CONDITION("Ready", "False") "}"), VERDICT_FALSE,
                  ".status.condition[\"Ready\"] is False" },
                { CERT_MANAGER("Issuer", "{" CONDITION("Ready", "True") "}"), VERDICT_TRUE, "" },
                { CERT_MANAGER("ClusterIssuer", "{}"), VERDICT_TRUE, "" },
                { CORE("ConfigMap", "{'observedGeneration':7}"), VERDICT_TRUE, "" },
                { "{'apiVersion':'example.com/v1','kind':'Deployment','metadata':{}}", VERDICT_TRUE, "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                assert_probed(NULL, lines[i].live, lines[i].verdict, lines[i].words);
}

#define STATEFUL_SET(spec, status)                                                                           \
        "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':'x','generation':2},'spec':{" spec  \
        "},'status':{" status "}}"

/* spec/cluster-object-set.md checklist 48 */
static void a_stateful_set_without_a_condition_is_judged_by_its_counts(void **state)
{
        static const struct {
                const char *live;
                enum verdict verdict;
                const char *words;
        } lines[] = {
                { STATEFUL_SET("'replicas':2", "'observedGeneration':2,'replicas':2,'updatedReplicas':2,"
                                               "'availableReplicas':2"),
                  VERDICT_TRUE, "" },
                { STATEFUL_SET("'replicas':2",
                               "'observedGeneration':2,'replicas':2,'updatedReplicas':2,'readyReplicas':2"),
                  VERDICT_TRUE, "" },
                { STATEFUL_SET("'replicas':2", "'observedGeneration':2,'replicas':2,'updatedReplicas':2,"
                                               "'readyReplicas':2,'availableReplicas':1"),
                  VERDICT_FALSE, "\"status.availableReplicas\" < \"spec.replicas\" expected: 2 got: 1" },
                { STATEFUL_SET("", "'observedGeneration':2"), VERDICT_FALSE,
                  "\"status.availableReplicas\" < \"spec.replicas\" expected: 1 got: 0" },
                { STATEFUL_SET("'replicas':0", "'observedGeneration':2"), VERDICT_TRUE, "" },
                { STATEFUL_SET("'replicas':0", ""), VERDICT_UNKNOWN, "missing .status.observedGeneration" },
                { STATEFUL_SET("'replicas':0", "'observedGeneration':1"), VERDICT_UNKNOWN,
                  ".status outdated" },
                { STATEFUL_SET("", "'observedGeneration':2,'replicas':2,'updatedReplicas':1,"
                                   "'availableReplicas':2"),
                  VERDICT_FALSE, "\"status.updatedReplicas\" != \"status.replicas\" expected: 1 got: 2" },
                { STATEFUL_SET("'replicas':2", CONDITION("Available", "True")), VERDICT_TRUE, "" },
                { STATEFUL_SET("'replicas':2", "'availableReplicas':2," CONDITION("Available", "False")),
                  VERDICT_FALSE, ".status.condition[\"Available\"] is False" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                assert_probed(NULL, lines[i].live, lines[i].verdict, lines[i].words);
}

/* spec/cluster-object-set.md checklist 50 */
static void a_claim_that_waits_for_its_first_consumer_holds_nothing_back(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;

        assert_int_equal(
                probed(&arena, NULL, CORE("PersistentVolumeClaim", "{'phase':'Pending'}"), true).verdict,
                VERDICT_TRUE);
        assert_int_equal(probed(&arena, NULL, CORE("PersistentVolumeClaim", "{}"), true).verdict,
                         VERDICT_TRUE);
        assert_int_equal(
                probed(&arena, NULL, CORE("PersistentVolumeClaim", "{'phase':'Lost'}"), true).verdict,
                VERDICT_FALSE);
}

#define CLAIM(class, phase) "{'spec':{" class "},'status':{'phase':'" phase "'}}"

static void the_class_of_a_claim_that_is_not_bound_has_to_be_known(void **state)
{
        static const struct {
                const char *kind, *live;
                bool needs;
                const char *class;
        } lines[] = {
                { "PersistentVolumeClaim", CLAIM("", "Pending"), true, NULL },
                { "PersistentVolumeClaim", "{}", true, NULL },
                { "PersistentVolumeClaim", CLAIM("'storageClassName':'fast'", "Pending"), true, "fast" },
                { "PersistentVolumeClaim", CLAIM("'storageClassName':''", "Pending"), false, NULL },
                { "PersistentVolumeClaim", CLAIM("", "Bound"), false, NULL },
                { "PersistentVolumeClaim", CLAIM("", "Lost"), false, NULL },
                { "Pod", CLAIM("", "Pending"), false, NULL },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *live = quoted(lines[i].live);
                const char *class = NULL;

                assert_int_equal(probe_needs_class("", lines[i].kind, live, &class), lines[i].needs);
                assert_true(text_equal(class, lines[i].class));
        }
}

/* ---- the set's own ---- */

#define PROBE(selector, assertions) "{'selector':" selector ",'assertions':[" assertions "]}"
#define OF_KIND(group, kind) "{'type':'GroupKind','groupKind':{'group':'" group "','kind':'" kind "'}}"
#define LABELLED(text) "{'type':'Label','label':{" text "}}"
#define EXPRESSION(text) LABELLED("'matchExpressions':[{" text "}]")
#define HAS(path, value) "{'type':'FieldValue','fieldValue':{'fieldPath':'" path "','value':'" value "'}}"
#define SAME(a, b) "{'type':'FieldsEqual','fieldsEqual':{'fieldA':'" a "','fieldB':'" b "'}}"
#define IS(type) "{'type':'ConditionEqual','conditionEqual':{'type':'" type "','status':'True'}}"
#define WIDGET                                                                                               \
        "{'apiVersion':'example.com/v1beta1','kind':'Widget','metadata':{'name':'w','labels':{'app':'a',"    \
        "'tier':'x'}},'spec':{'n':1}}"
#define MISSING VERDICT_FALSE, "missing key: \"spec.wrong\""

/* spec/cluster-object-set.md checklist 52, 53 */
static void a_probe_runs_on_what_its_selector_picks(void **state)
{
        static const struct {
                const char *selector;
                bool picked;
        } lines[] = {
                { OF_KIND("example.com", "Widget"), true },
                { OF_KIND("example.com", "widget"), false },
                { OF_KIND("", "Widget"), false },
                { LABELLED("'matchLabels':{'app':'a'}"), true },
                { LABELLED("'matchLabels':{'app':'a','tier':'y'}"), false },
                { EXPRESSION("'key':'app','operator':'In','values':['a','b']"), true },
                { EXPRESSION("'key':'app','operator':'In','values':['b']"), false },
                { EXPRESSION("'key':'app','operator':'NotIn','values':['b']"), true },
                { EXPRESSION("'key':'none','operator':'NotIn','values':['b']"), true },
                { EXPRESSION("'key':'app','operator':'NotIn','values':['a']"), false },
                { EXPRESSION("'key':'app','operator':'Exists'"), true },
                { EXPRESSION("'key':'none','operator':'Exists'"), false },
                { EXPRESSION("'key':'none','operator':'DoesNotExist'"), true },
                { EXPRESSION("'key':'app','operator':'DoesNotExist'"), false },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct arena arena AUTO_ARENA = ARENA_INIT;
                const char *probe =
                        arena_printf(&arena, PROBE("%s", HAS("spec.wrong", "1")), lines[i].selector);

                if (lines[i].picked)
                        assert_probed(probe, WIDGET, MISSING);
                else
                        assert_probed(probe, WIDGET, VERDICT_TRUE, "");
        }
}

/* spec/cluster-object-set.md checklist 52, 54 */
static void an_outdated_status_matters_only_to_probes_that_run(void **state)
{
#define STALE                                                                                                \
        "{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'generation':3},'status':{"              \
        "'observedGeneration':2,'phase':'Up'}}"
        assert_probed(PROBE(OF_KIND("", "Other"), HAS("status.phase", "Up")), STALE, VERDICT_TRUE, "");
        assert_probed(PROBE(OF_KIND("example.com", "Widget"), HAS("status.phase", "Up")), STALE,
                      VERDICT_UNKNOWN, ".status outdated");
}

/* spec/cluster-object-set.md checklist 58 */
static void what_is_unknown_hides_what_is_false(void **state)
{
#define BOTH OF_KIND("example.com", "Widget")
        assert_probed(PROBE(BOTH, HAS("spec.n", "2") "," SAME("spec.n", "spec.m")), WIDGET, VERDICT_FALSE,
                      "value at key \"spec.n\" != \"2\"; expected: \"2\" got: 1 and \"spec.m\" missing");
        assert_probed(
                PROBE(BOTH, HAS("spec.n", "2") "," IS("Ready")) "," PROBE(BOTH, IS("Up") "," SAME("a", "b")),
                WIDGET, VERDICT_UNKNOWN, NO_CONDITIONS " and " NO_CONDITIONS);
        assert_probed(PROBE(BOTH, HAS("spec.n", "1")) "," PROBE(BOTH, SAME("spec.n", "spec.n")), WIDGET,
                      VERDICT_TRUE, "");
}

static void own_probes_are_added_to_those_built_in(void **state)
{
        assert_probed(PROBE(OF_KIND("", "Namespace"), HAS("metadata.name", "y")), CORE("Namespace", "{}"),
                      VERDICT_FALSE,
                      "missing key: \"status.phase\" and value at key \"metadata.name\" != \"y\"; expected: "
                      "\"y\" got: \"x\"");
        assert_probed(PROBE(OF_KIND("", "Namespace"), HAS("metadata.name", "x")),
                      CORE("Namespace", "{'phase':'Active'}"), VERDICT_TRUE, "");
}

static void a_bad_selector_is_an_error_that_shows_it(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;

        assert_string_equal(
                probed(&arena, PROBE(LABELLED("'matchLabels':{'a b':'c'}"), HAS("a", "b")), WIDGET, false)
                        .words,
                "invalid label selector in progressionProbe (a b=c): matchLabels: \"a b\" is not a "
                "valid label key");
}

/* ---- what is told ---- */

/* spec/cluster-object-set.md checklist 59 */
static void objects_that_are_not_ready_are_listed_up_to_ten(void **state)
{
        static const struct set_object objects[] = {
                { .group = "", .version = "v1", .kind = "ConfigMap", .ns = "ns", .name = "cm" },
                { .group = "apiextensions.k8s.io",
                  .version = "v1",
                  .kind = "CustomResourceDefinition",
                  .ns = "",
                  .name = "widgets.example.com" },
        };
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct probe_failure failures[12] = { { &objects[0], "one and two" }, { &objects[1], "three" } };
        const char *words;

        assert_string_equal(probe_failures_words(NULL, 0, &arena), "");
        assert_string_equal(
                probe_failures_words(failures, 2, &arena),
                "Object ConfigMap.v1 ns/cm: one and two\n"
                "Object CustomResourceDefinition.apiextensions.k8s.io/v1 /widgets.example.com: three");
        for (size_t i = 2; i < ARRAY_LEN(failures); i++)
                failures[i] = failures[1];
        words = probe_failures_words(failures, 12, &arena);
        assert_true(text_ends_with(words, ": three\nand 2 more object(s)"));
        assert_null(strstr(probe_failures_words(failures, 10, &arena), "more object"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(known_kinds_are_ready_as_the_page_says),
                cmocka_unit_test(a_stateful_set_without_a_condition_is_judged_by_its_counts),
                cmocka_unit_test(a_claim_that_waits_for_its_first_consumer_holds_nothing_back),
                cmocka_unit_test(the_class_of_a_claim_that_is_not_bound_has_to_be_known),
                cmocka_unit_test(a_probe_runs_on_what_its_selector_picks),
                cmocka_unit_test(an_outdated_status_matters_only_to_probes_that_run),
                cmocka_unit_test(what_is_unknown_hides_what_is_false),
                cmocka_unit_test(own_probes_are_added_to_those_built_in),
                cmocka_unit_test(a_bad_selector_is_an_error_that_shows_it),
                cmocka_unit_test(objects_that_are_not_ready_are_listed_up_to_ten),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
