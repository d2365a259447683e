/* The definition of ClusterObjectSets against spec/cluster-object-set.md 1, by the same validation the API
 * server has. */
#include "proto/crd_test.h"

#define SETS "clusterobjectsets.olm.operatorframework.io"
#define SET_OF(state, revision, protection, more)                                                            \
        "{spec: {lifecycleState: " state ", revision: " revision ", collisionProtection: " protection more   \
        "}}"
#define SET(more) SET_OF("Active", "1", "Prevent", more)
#define PHASES(phases) SET(", phases: [" phases "]")
#define PHASE(name, objects) "{name: " name ", objects: [" objects "]}"
#define OBJECT "{object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}"
#define OTHER "{object: {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}}"
#define REF(fields) PHASES(PHASE("a", "{ref: {" fields "}}"))
#define PROBES(probes) SET(", progressionProbes: [" probes "]")
#define PROBE(selector, assertions) PROBES("{selector: {" selector "}, assertions: [" assertions "]}")
#define KIND "type: GroupKind, groupKind: {group: '', kind: Pod}"
#define READY "{type: ConditionEqual, conditionEqual: {type: Ready, status: 'True'}}"
#define ASSERTION(fields) PROBE(KIND, "{" fields "}")
#define LABEL(fields) PROBE("type: Label, label: {" fields "}", READY)
#define STATUS(phases)                                                                                       \
        "{spec: {lifecycleState: Active, revision: 1, collisionProtection: Prevent}, "                       \
        "status: {observedPhases: [" phases "]}}"
#define IS(text, problem)                                                                                    \
        {                                                                                                    \
                SETS, "v1", NULL, text, problem                                                              \
        }
#define BECOMES(old, text, problem)                                                                          \
        {                                                                                                    \
                SETS, "v1", old, text, problem                                                               \
        }

static const char bad_name[] =
        "the value must consist of only lowercase alphanumeric characters and hyphens, "
        "and must start and end with an alphanumeric character.";
static const char letters_63[] = "abcdefghijklmnopqrstuvwxyz0123456789-abcdefghijklmnopqrstuvwxyz";

/* spec/cluster-object-set.md checklist 2 */
static void what_a_set_must_have_is_asked_for(void **state)
{
        static const struct rule_case cases[] = {
                IS(SET(""), NULL),
                IS("{}", "spec: "),
                IS("{spec: {revision: 1, collisionProtection: Prevent}}", "spec.lifecycleState: Required"),
                IS("{spec: {lifecycleState: Active, collisionProtection: None}}", "spec.revision: Required"),
                IS("{spec: {lifecycleState: Active, revision: 1}}", "spec.collisionProtection: Required"),
                IS(SET_OF("Active", "0", "Prevent", ""), "greater than or equal to 1"),
                IS(SET_OF("Active", "9223372036854775807", "IfNoController", ""), NULL),
                IS(SET_OF("Archived", "1", "None", ""), NULL),
                IS(SET_OF("Paused", "1", "None", ""), "supported values: \"Active\", \"Archived\""),
                IS(SET_OF("Active", "1", "Never", ""), "supported values: \"Prevent\""),
                IS(SET_OF("Active", "1", "''", ""), "supported values: \"Prevent\""),
                IS(SET(", progressDeadlineMinutes: 10"), NULL),
                IS(SET(", progressDeadlineMinutes: 720"), NULL),
                IS(SET(", progressDeadlineMinutes: 9"), "greater than or equal to 10"),
                IS(SET(", progressDeadlineMinutes: 721"), "less than or equal to 720"),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

/* spec/cluster-object-set.md checklist 3, 4, 5, 6, 7 */
static void only_what_may_change_later_changes(void **state)
{
        static const char immutable[] = "phases is immutable";
        static const char two[] = PHASES(PHASE("a", OBJECT) ", " PHASE("b", ""));
        static const struct rule_case cases[] = {
                BECOMES(SET(""), SET_OF("Active", "2", "Prevent", ""), "revision is immutable"),
                BECOMES(SET(""), SET_OF("Active", "1", "None", ""), "collisionProtection is immutable"),
                BECOMES(SET(""), SET_OF("Archived", "1", "Prevent", ""), NULL),
                BECOMES(SET_OF("Archived", "1", "Prevent", ""), SET(""), "cannot un-archive"),
                BECOMES(SET_OF("Archived", "1", "Prevent", ""),
                        SET_OF("Archived", "1", "Prevent", ", progressDeadlineMinutes: 10"), NULL),
                BECOMES(SET(""), SET(", progressDeadlineMinutes: 10"), NULL),
                BECOMES(SET(", progressDeadlineMinutes: 10"), SET(""), NULL),
                BECOMES(PROBE(KIND, READY), SET(""), NULL),
                BECOMES(SET(""), two, NULL),
                BECOMES(PHASES(""), two, NULL),
                BECOMES(PHASES(""), SET(""), NULL),
                BECOMES(two, two, NULL),
                BECOMES(two, SET(""), immutable),
                BECOMES(two, PHASES(""), immutable),
                BECOMES(two, PHASES(PHASE("a", OBJECT)), immutable),
                BECOMES(two, PHASES(PHASE("a", OTHER) ", " PHASE("b", "")), immutable),
                BECOMES(two, PHASES(PHASE("b", "") ", " PHASE("a", OBJECT)), immutable),
                BECOMES(two, PHASES(PHASE("a", OBJECT) ", " PHASE("b", OBJECT)), immutable),
                BECOMES(two,
                        PHASES("{name: a, collisionProtection: None, objects: [" OBJECT
                               "]}, " PHASE("b", "")),
                        immutable),
                BECOMES(PHASES(PHASE("a", OBJECT ", " OTHER)), PHASES(PHASE("a", OTHER ", " OBJECT)),
                        immutable),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

static const char *phases_of(struct arena *arena, size_t n_phases, size_t n_objects)
{
        const char *objects = "", *phases = "";
        for (size_t i = 0; i < n_objects; i++)
                objects = arena_printf(arena, "%s%s" OBJECT, objects, i ? ", " : "");
        for (size_t i = 0; i < n_phases; i++)
                phases = arena_printf(arena, "%s%s{name: p%zu, objects: [%s]}", phases, i ? ", " : "", i,
                                      objects);
        return arena_printf(arena, SET(", phases: [%s]"), phases);
}

/* spec/cluster-object-set.md checklist 8 */
static void phases_and_their_objects_are_counted(void **state)
{
        struct suite *s = suite_new();
        assert_string_equal(problems_of(s, SETS, "v1", NULL, phases_of(&s->arena, 20, 50)), "");
        const char *got = problems_of(s, SETS, "v1", NULL, phases_of(&s->arena, 21, 1));
        assert_non_null(strstr(got, "spec.phases: Too many: 21: must have at most 20 items"));
        got = problems_of(s, SETS, "v1", NULL, phases_of(&s->arena, 1, 51));
        assert_non_null(strstr(got, "spec.phases[0].objects: Too many: 51: must have at most 50 items"));
        got = problems_of(s, SETS, "v1", NULL, PHASES(PHASE("a", "") ", " PHASE("a", "")));
        assert_non_null(strstr(got, "spec.phases[1]: Duplicate value"));
        suite_free(s);
}

/* spec/cluster-object-set.md checklist 9 */
static void a_phase_is_named_by_a_label(void **state)
{
        static const char *const good[] = { "1-crds", "a", "a--b", letters_63 };
        static const char *const bad[] = { "-a", "a-", "A", "a.b", "a_b" };
        struct suite *s = suite_new();
        for (size_t i = 0; i < ARRAY_LEN(good); i++) {
                const char *text = arena_printf(&s->arena, PHASES("{name: '%s', objects: []}"), good[i]);
                assert_string_equal(problems_of(s, SETS, "v1", NULL, text), "");
        }
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                const char *text = arena_printf(&s->arena, PHASES("{name: '%s', objects: []}"), bad[i]);
                assert_non_null(strstr(problems_of(s, SETS, "v1", NULL, text), bad_name));
        }
        const char *text = arena_printf(&s->arena, PHASES("{name: '%sz', objects: []}"), letters_63);
        assert_non_null(strstr(problems_of(s, SETS, "v1", NULL, text), "may not be more than 63"));
        assert_non_null(
                strstr(problems_of(s, SETS, "v1", NULL, PHASES(PHASE("''", ""))), "at least 1 chars"));
        suite_free(s);
}

/* spec/cluster-object-set.md checklist 10 */
static void an_object_has_one_source(void **state)
{
        static const char one[] = "exactly one of the fields in [object ref] must be set";
        static const struct rule_case cases[] = {
                IS(PHASES(PHASE("a", OBJECT)), NULL),
                IS(REF("name: n, namespace: ns, key: k"), NULL),
                IS(REF("name: n, namespace: '', key: k"), NULL),
                IS(PHASES(PHASE("a", "{}")), one),
                IS(PHASES(PHASE("a", "{collisionProtection: None}")), one),
                IS(PHASES(PHASE("a", "{ref: {name: n, key: k}, object: {apiVersion: v1, kind: ConfigMap}}")),
                   one),
                IS(PHASES("{name: a}"), "objects: Required"),
                IS(PHASES(PHASE("a", "{object: {kind: ConfigMap}}")), "object.apiVersion"),
                IS(PHASES(PHASE("a", "{object: {apiVersion: v1}}")), "object.kind"),
                IS(PHASES(PHASE("a",
                                "{object: {apiVersion: v1, kind: X, metadata: {name: x}, spec: {a: [1]}}}")),
                   NULL),
                IS(PHASES(PHASE("a", "{collisionProtection: '', ref: {name: n, key: k}}")),
                   "supported values"),
                IS(PHASES("{name: a, objects: [], collisionProtection: Some}"), "supported values"),
                IS(REF("key: k"), "ref.name: Required"),
                IS(REF("name: n"), "ref.key: Required"),
                IS(REF("name: '', key: k"), "at least 1 chars"),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

/* spec/cluster-object-set.md checklist 11 */
static void probes_pick_objects_in_one_way(void **state)
{
        static const char by_kind[] = "groupKind is required when type is GroupKind, and forbidden otherwise";
        static const char by_label[] = "label is required when type is Label, and forbidden otherwise";
        static const char one[] = "exactly one of matchLabels or matchExpressions must be set";
        static const struct rule_case cases[] = {
                IS(PROBE(KIND, READY), NULL),
                IS(PROBES(""), "at least 1 items"),
                IS(PROBE(KIND, ""), "at least 1 items"),
                IS(PROBES("{selector: {" KIND "}}"), "assertions: Required"),
                IS(PROBES("{assertions: [" READY "]}"), "selector: Required"),
                IS(PROBE("type: Name", READY), "supported values: \"GroupKind\", \"Label\""),
                IS(PROBE("type: GroupKind", READY), by_kind),
                IS(PROBE("type: GroupKind, groupKind: {kind: Pod}", READY), "groupKind.group: Required"),
                IS(PROBE("type: GroupKind, groupKind: {group: ''}", READY), "groupKind.kind: Required"),
                IS(PROBE(KIND ", label: {matchLabels: {a: b}}", READY), by_label),
                IS(PROBE("type: Label", READY), by_label),
                IS(PROBE("type: Label, groupKind: {group: '', kind: Pod}, label: {matchLabels: {a: b}}",
                         READY),
                   by_kind),
                IS(LABEL("matchLabels: {a: b}"), NULL),
                IS(LABEL("matchExpressions: [{key: a, operator: Exists}]"), NULL),
                IS(LABEL(""), one),
                IS(LABEL("matchLabels: {a: b}, matchExpressions: [{key: a, operator: Exists}]"), one),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

#define FIELDS(a, b) ASSERTION("type: FieldsEqual, fieldsEqual: {fieldA: '" a "', fieldB: '" b "'}")
#define VALUE(path, value)                                                                                   \
        ASSERTION("type: FieldValue, fieldValue: {fieldPath: '" path "', value: '" value "'}")

/* spec/cluster-object-set.md checklist 11 */
static void assertions_are_of_one_kind(void **state)
{
        static const char path[] =
                "must contain a valid field path. valid fields contain upper or lower-case "
                "alphanumeric characters separated by the \".\" character.";
        static const struct rule_case cases[] = {
                IS(FIELDS("spec.replicas", "status.readyReplicas"), NULL),
                IS(VALUE("status.phase", "Bound"), NULL),
                IS(ASSERTION("type: Ready"), "supported values: \"ConditionEqual\""),
                IS(ASSERTION("type: ConditionEqual"),
                   "conditionEqual is required when type is ConditionEqual, and forbidden otherwise"),
                IS(ASSERTION("type: FieldsEqual"),
                   "fieldsEqual is required when type is FieldsEqual, and forbidden otherwise"),
                IS(ASSERTION("type: FieldValue"),
                   "fieldValue is required when type is FieldValue, and forbidden otherwise"),
                IS(ASSERTION("type: FieldValue, fieldValue: {fieldPath: a, value: b}, "
                             "conditionEqual: {type: Ready, status: 'True'}"),
                   "conditionEqual is required when type is ConditionEqual, and forbidden otherwise"),
                IS(ASSERTION("type: ConditionEqual, conditionEqual: {type: Ready, status: Unknown}"),
                   "supported values: \"True\", \"False\""),
                IS(ASSERTION("type: ConditionEqual, conditionEqual: {type: '', status: 'False'}"),
                   "at least 1 chars"),
                IS(FIELDS(".spec.a", "b"), path),
                IS(FIELDS("a", "b."), path),
                IS(FIELDS("a[0]", "b"), path),
                IS(FIELDS("a", "b..c"), path),
                IS(VALUE("a-b", "x"), path),
                IS(VALUE("a_b", "x"), path),
                IS(VALUE("a/b", "x"), path),
                IS(VALUE("a", ""), "at least 1 chars"),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

static void what_was_observed_is_kept(void **state)
{
        static const char form[] = "digest must be in the format '<algorithm>:<hex>'";
        static const struct rule_case cases[] = {
                IS(STATUS("{name: a, digest: 'sha256:0af'}"), NULL),
                IS(STATUS("{name: A, digest: 'sha256:0af'}"), bad_name),
                IS(STATUS("{name: a, digest: 'sha256:0AF'}"), form),
                IS(STATUS("{name: a, digest: sha256}"), form),
                BECOMES(STATUS(""), STATUS("{name: a, digest: 'sha256:0af'}"), NULL),
                BECOMES(STATUS("{name: a, digest: 'sha256:0af'}"), STATUS("{name: a, digest: 'sha256:1af'}"),
                        "observedPhases is immutable"),
                BECOMES(STATUS("{name: a, digest: 'sha256:0af'}"), STATUS(""), "observedPhases is immutable"),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

/* spec/cluster-object-set.md checklist 1 */
static void kubectl_shows_how_sets_are(void **state)
{
        AUTO_JSON json_t *crd = crd_named(SETS);
        assert_null(doc_get(crd, "spec.names.shortNames"));
        assert_null(doc_get(crd, "spec.names.categories"));
        assert_string_equal(doc_get_string(crd, "spec.scope"), "Cluster");
        const json_t *columns = json_object_get(json_array_get(doc_get_array(crd, "spec.versions"), 0),
                                                "additionalPrinterColumns");
        static const char *const names[] = {
                "Available", "Progressing", "Age", "Revision", "State", "Reason"
        };
        assert_int_equal(json_array_size(columns), ARRAY_LEN(names));
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
                const json_t *c = json_array_get(columns, i);
                assert_string_equal(doc_get_string(c, "name"), names[i]);
                assert_int_equal(doc_get_int(c, "priority", 0), i >= 3);
        }
        assert_string_equal(doc_get_string(json_array_get(columns, 0), "jsonPath"),
                            ".status.conditions[?(@.type=='Available')].status");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(kubectl_shows_how_sets_are),
                cmocka_unit_test(what_a_set_must_have_is_asked_for),
                cmocka_unit_test(only_what_may_change_later_changes),
                cmocka_unit_test(phases_and_their_objects_are_counted),
                cmocka_unit_test(a_phase_is_named_by_a_label),
                cmocka_unit_test(an_object_has_one_source),
                cmocka_unit_test(probes_pick_objects_in_one_way),
                cmocka_unit_test(assertions_are_of_one_kind),
                cmocka_unit_test(what_was_observed_is_kept),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
