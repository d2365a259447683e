/* The generated CRDs against the rules of spec/api.md (checklist 6-30), by the same validation the API server
 * has. */
#include "proto/crd_test.h"

#define P ".placement.kubernetes-fleet.io"
#define C ".cluster.kubernetes-fleet.io"

#define CRP "clusterresourceplacements" P
#define RP "resourceplacements" P
#define CM "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\"}"
#define NS(more) "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\"" more "}"
#define WITH_SELECTORS ",\"selectionScope\":\"NamespaceWithResourceSelectors\""
#define PLACEMENT(selectors, more) "{\"spec\":{\"resourceSelectors\":[" selectors "]" more "}}"
#define POLICY(policy) PLACEMENT(CM, ",\"policy\":{" policy "}")
#define BOTH(old, text, problem)                                                                             \
        { CRP, "v1beta1", old, text, problem }, { RP, "v1beta1", old, text, problem },                       \
                { CRP, "v1", old, text, problem },                                                           \
        {                                                                                                    \
                RP, "v1", old, text, problem                                                                 \
        }

/* spec/api.md checklist 8-12, 15, 17, 18 */
static void placements_are_checked(void **state)
{
        static const struct rule_case cases[] = {
                BOTH(NULL, PLACEMENT("", ""), "resourceSelectors"),
                BOTH(NULL, PLACEMENT(CM, ""), NULL),
                BOTH(NULL,
                     PLACEMENT("{\"group\":\"\",\"version\":\"v1\",\"kind\":\"A\",\"name\":\"n\","
                               "\"labelSelector\":{}}",
                               ""),
                     "name and labelSelector are mutually exclusive in a resource selector"),
                BOTH(NULL,
                     PLACEMENT("{\"group\":\"\",\"version\":\"v1\",\"kind\":\"A\",\"name\":\"\","
                               "\"labelSelector\":{}}",
                               ""),
                     NULL),
                BOTH(NULL, POLICY("\"placementType\":\"PickFixed\",\"tolerations\":[]"),
                     "affinity, numberOfClusters, topologySpreadConstraints, and tolerations cannot be set "
                     "when placementType "
                     "is PickFixed"),
                BOTH(NULL, POLICY("\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\"]"), NULL),
                BOTH(NULL, POLICY("\"clusterNames\":[]"),
                     "clusterNames, numberOfClusters, and topologySpreadConstraints cannot be set when "
                     "placementType is "
                     "PickAll"),
                BOTH(NULL, POLICY("\"placementType\":\"PickN\""),
                     "clusterNames cannot be set and numberOfClusters must be set when placementType is "
                     "PickN"),
                BOTH(NULL, POLICY("\"placementType\":\"PickN\",\"numberOfClusters\":0"), NULL),
                BOTH(NULL, POLICY("\"placementType\":\"PickN\",\"numberOfClusters\":-1"), "numberOfClusters"),
                BOTH(POLICY(""), PLACEMENT(CM, ""), "policy cannot be removed once set"),
                BOTH(PLACEMENT(CM, ""), POLICY("\"placementType\":\"PickN\",\"numberOfClusters\":1"), NULL),
                BOTH(POLICY(""), POLICY("\"placementType\":\"PickN\",\"numberOfClusters\":1"),
                     "placement type is immutable"),
                BOTH(PLACEMENT(CM, ",\"strategy\":{\"type\":\"External\"}"),
                     PLACEMENT(CM, ",\"strategy\":{}"),
                     "cannot change rollout strategy type from 'External' to other types"),
                BOTH(PLACEMENT(CM, ",\"strategy\":{}"),
                     PLACEMENT(CM, ",\"strategy\":{\"type\":\"External\"}"), NULL),
                BOTH(PLACEMENT(CM, ",\"strategy\":{\"type\":\"External\"}"), PLACEMENT(CM, ""), NULL),
                BOTH(NULL,
                     PLACEMENT(NS(WITH_SELECTORS ",\"name\":\"a\"") "," NS(WITH_SELECTORS ",\"name\":\"b\""),
                               ""),
                     "only one namespace selector with NamespaceWithResourceSelectors mode is allowed"),
                BOTH(NULL, PLACEMENT(NS(WITH_SELECTORS ",\"labelSelector\":{}"), ""),
                     "namespace selector with NamespaceWithResourceSelectors mode must select by name (not "
                     "by label)"),
                BOTH(NULL, PLACEMENT(NS(WITH_SELECTORS ",\"name\":\"\""), ""),
                     "namespace selector with NamespaceWithResourceSelectors mode must select by name (not "
                     "by label)"),
                BOTH(NULL, PLACEMENT(NS(WITH_SELECTORS ",\"name\":\"a\"") "," NS(",\"name\":\"b\""), ""),
                     "when using NamespaceWithResourceSelectors mode, only one namespace selector is allowed "
                     "(cannot mix with "
                     "other namespace selectors)"),
                BOTH(NULL, PLACEMENT(NS(WITH_SELECTORS ",\"name\":\"a\"") "," CM, ""), NULL),
                BOTH(NULL, PLACEMENT(CM, ",\"strategy\":{\"rollingUpdate\":{\"maxUnavailable\":\"101%\"}}"),
                     "maxUnavailable"),
                BOTH(NULL,
                     PLACEMENT(CM, ",\"strategy\":{\"rollingUpdate\":{\"maxUnavailable\":\"100%\","
                                   "\"maxSurge\":\"5\"}}"),
                     NULL),
                BOTH(NULL,
                     PLACEMENT(CM,
                               ",\"strategy\":{\"rollingUpdate\":{\"maxUnavailable\":-1,\"maxSurge\":5}}"),
                     NULL),
                BOTH(NULL, POLICY("\"tolerations\":[{\"operator\":\"Exists\",\"value\":\"x\"}]"),
                     "value must be empty when operator is Exists"),
                BOTH(NULL, POLICY("\"tolerations\":[{\"operator\":\"Equal\"}]"),
                     "operator must be Exists when key is empty"),
                BOTH(NULL,
                     POLICY("\"tolerations\":[{\"operator\":\"Exists\"},{\"key\":\"a\",\"value\":\"b\"}]"),
                     NULL),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

/* What an admission webhook refuses in the reference for ClusterResourcePlacements, and only for these. */
#define CRP_ONLY(old, text, problem)                                                                         \
        { CRP, "v1beta1", old, text, problem }, { CRP, "v1", old, text, problem },                           \
                { RP, "v1beta1", old, text, NULL },                                                          \
        {                                                                                                    \
                RP, "v1", old, text, NULL                                                                    \
        }
#define TERM(term)                                                                                           \
        POLICY("\"affinity\":{\"clusterAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"     \
               "\"clusterSelectorTerms\":[" term "]}}}")
#define PREFERENCE(term)                                                                                     \
        POLICY("\"placementType\":\"PickN\",\"numberOfClusters\":1,\"affinity\":{\"clusterAffinity\":{"      \
               "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,\"preference\":" term     \
               "}]}}")
#define PROPERTY(name, operator, values)                                                                     \
        TERM("{\"propertySelector\":{\"matchExpressions\":[{\"name\":\"" name "\",\"operator\":\""           \
             operator"\",\"values\":[" values "]}]}}")
#define LABELS(operator, values)                                                                             \
        "{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"" operator"\"" values "}]}" \
                                                                                           "}"
#define T1 "{\"key\":\"a\",\"value\":\"b\"}"
#define T2 "{\"key\":\"c\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}"
#define T3 "{\"operator\":\"Exists\"}"
#define TOLERATIONS(list) POLICY("\"placementType\":\"PickAll\",\"tolerations\":[" list "]")

/* spec/membership-webhooks-charts.md 5.2, checklist 23 */
static void what_would_be_silent_is_refused_in_cluster_scope(void **state)
{
        static const char type[] = "supported capacity types are [allocatable available total]";
        static const char values[] = "values must be specified when operator is In or NotIn";
        static const char added[] = "only additions to tolerations are allowed";
        static const struct rule_case cases[] = {
                CRP_ONLY(NULL, PROPERTY("a/nodes", "Like", "\"3\""), "supported values: \"Gt\""),
                CRP_ONLY(NULL, PROPERTY("a/nodes", "Gt", ""), "at least 1 items"),
                CRP_ONLY(NULL, PROPERTY("a/nodes", "Gt", "\"many\""), "should match"),
                CRP_ONLY(NULL, PROPERTY("resources.kubernetes-fleet.io/used-cpu", "Gt", "\"1\""), type),
                CRP_ONLY(NULL, PROPERTY("resources.kubernetes-fleet.io/cpu", "Gt", "\"1\""), type),
                BOTH(NULL, PROPERTY("resources.kubernetes-fleet.io/total-ephemeral-storage", "Ge", "\"1Gi\""),
                     NULL),
                BOTH(NULL, PROPERTY("kubernetes-fleet.io/node-count", "Ne", "\"-1.5e3\""), NULL),
                CRP_ONLY(
                        NULL,
                        PREFERENCE("{\"propertySorter\":{\"name\":\"resources.kubernetes-fleet.io/used-cpu\","
                                   "\"sortOrder\":\"Ascending\"}}"),
                        type),
                CRP_ONLY(NULL, TERM(LABELS("Like", "")), "supported values: \"In\""),
                CRP_ONLY(NULL, PREFERENCE(LABELS("NotIn", "")), values),
                CRP_ONLY(NULL, TERM(LABELS("Exists", ",\"values\":[\"x\"]")), values),
                BOTH(NULL, TERM(LABELS("In", ",\"values\":[\"x\"]") "," LABELS("DoesNotExist", "")), NULL),
                CRP_ONLY(NULL, TERM("{\"propertySorter\":{\"name\":\"a/b\",\"sortOrder\":\"Ascending\"}}"),
                         "PropertySorter is not allowed for RequiredDuringSchedulingIgnoredDuringExecution"),
                CRP_ONLY(
                        NULL,
                        PREFERENCE(
                                "{\"propertySelector\":{\"matchExpressions\":[{\"name\":\"a/b\",\"operator\":"
                                "\"Gt\",\"values\":[\"1\"]}]}}"),
                        "PropertySelector is not allowed for "
                        "PreferredDuringSchedulingIgnoredDuringExecution"),
                CRP_ONLY(NULL,
                         POLICY("\"placementType\":\"PickAll\",\"affinity\":{\"clusterAffinity\":{"
                                "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,"
                                "\"preference\":{}}]}}"),
                         "will be ignored for placement policy type PickAll"),
                BOTH(NULL,
                     POLICY("\"placementType\":\"PickAll\",\"affinity\":{\"clusterAffinity\":{"
                            "\"preferredDuringSchedulingIgnoredDuringExecution\":[]}}"),
                     NULL),
                CRP_ONLY(TOLERATIONS(T1 "," T2), TOLERATIONS(T1), added),
                CRP_ONLY(TOLERATIONS(T1), TOLERATIONS("{\"key\":\"a\",\"value\":\"c\"}"), added),
                CRP_ONLY(TOLERATIONS(T1), POLICY("\"placementType\":\"PickAll\""), added),
                BOTH(TOLERATIONS(T1), TOLERATIONS(T3 "," T1 "," T2), NULL),
                BOTH(TOLERATIONS(T1), TOLERATIONS("{\"key\":\"a\",\"value\":\"b\",\"operator\":\"Equal\"}"),
                     NULL),
                BOTH(TOLERATIONS(T3), TOLERATIONS("{\"key\":\"\",\"value\":\"\",\"operator\":\"Exists\"}"),
                     NULL),
                CRP_ONLY(TOLERATIONS(T2), TOLERATIONS("{\"key\":\"c\",\"operator\":\"Exists\"}"), added),
                BOTH(TOLERATIONS(""), POLICY("\"placementType\":\"PickAll\""), NULL),
                BOTH(POLICY("\"placementType\":\"PickAll\""), TOLERATIONS(T1), NULL),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

#define LONG_NAME "a23456789012345678901234567890123456789012345678901234567890123"
#define PLACEMENT_NAMED(name, more)                                                                          \
        "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"resourceSelectors\":[" CM "]}" more "}"

/* Names are judged when the object is made: what got in before can be changed, and can go. */
static void names_that_are_no_label_values_are_refused_in_cluster_scope(void **state)
{
        static const struct rule_case cases[] = {
                BOTH(NULL, PLACEMENT_NAMED(LONG_NAME, ""), NULL),
                CRP_ONLY(NULL, PLACEMENT_NAMED(LONG_NAME "4", ""),
                         "the name field cannot have length exceeding 63"),
                BOTH(PLACEMENT_NAMED(LONG_NAME "4", ",\"status\":{}"),
                     PLACEMENT_NAMED(LONG_NAME "4", ",\"status\":{\"conditions\":[]}"), NULL),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

#define SCOPE(selectors, scope) PLACEMENT(selectors, ",\"statusReportingScope\":\"" scope "\"")

/* spec/api.md checklist 13, 14, 19 */
static void the_two_placement_kinds_differ_in_status_reporting_only(void **state)
{
        static const char one[] =
                "when statusReportingScope is NamespaceAccessible, exactly one resourceSelector with kind "
                "'Namespace' is required";
        static const struct rule_case cases[] = {
                { CRP, "v1beta1", NULL, SCOPE(CM, "NamespaceAccessible"), one },
                { CRP, "v1", NULL, SCOPE(NS("") "," NS(""), "NamespaceAccessible"), one },
                { CRP, "v1beta1", NULL, SCOPE(NS("") "," CM, "NamespaceAccessible"), NULL },
                { RP, "v1beta1", NULL, SCOPE(CM, "NamespaceAccessible"), NULL },
                { CRP, "v1beta1", SCOPE(NS(""), "NamespaceAccessible"), PLACEMENT(NS(""), ""),
                  "statusReportingScope is immutable" },
                { CRP, "v1beta1", PLACEMENT(NS(""), ""), SCOPE(NS(""), "NamespaceAccessible"),
                  "statusReportingScope is immutable" },
                { RP, "v1beta1", SCOPE(NS(""), "NamespaceAccessible"), PLACEMENT(NS(""), ""), NULL },
                { CRP, "v1beta1", NULL, SCOPE(CM, ""), "statusReportingScope" },
                { CRP, "v1beta1", NULL,
                  PLACEMENT(CM, ",\"strategy\":{\"reportBackStrategy\":{\"type\":\"Mirror\"}}"),
                  "when reportBackStrategy.type is 'Mirror', a destination must be specified" },
                { CRP, "v1beta1", NULL,
                  PLACEMENT(CM, ",\"strategy\":{\"reportBackStrategy\":{\"type\":\"Mirror\",\"destination\":"
                                "\"WorkAPI\"}}"),
                  NULL },
                { CRP, "v1beta1", NULL, PLACEMENT(CM, ",\"strategy\":{\"reportBackStrategy\":{}}"), NULL },
        };
        check_cases(cases, ARRAY_LEN(cases));
}

#define MC "memberclusters" C
#define MEMBER(more) "{\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"u\"}" more "}}"
#define LETTERS_31 "abcdefghijklmnopqrstuvwxyzabcde"
#define NAMED(name, more) "{\"metadata\":{\"name\":\"" name "\"}," more "}"

/* spec/api.md checklist 6, 7, 30 */
static void clusters_are_checked(void **state)
{
        static const struct rule_case cases[] = {
                { MC, "v1beta1", NULL,
                  NAMED(LETTERS_31 LETTERS_31 "aa",
                        "\"spec\":{\"identity\":{\"kind\":\"U\",\"name\":\"u\"}}"),
                  "metadata.name max length is 63" },
                { MC, "v1", NULL,
                  NAMED(LETTERS_31 LETTERS_31 "aa",
                        "\"spec\":{\"identity\":{\"kind\":\"U\",\"name\":\"u\"}}"),
                  "metadata.name max length is 63" },
                { MC, "v1beta1", NULL,
                  NAMED(LETTERS_31 LETTERS_31 "a", "\"spec\":{\"identity\":{\"kind\":\"U\",\"name\":\"u\"}}"),
                  NULL },
                { MC, "v1beta1", NULL, MEMBER(",\"heartbeatPeriodSeconds\":0"), "heartbeatPeriodSeconds" },
                { MC, "v1beta1", NULL, MEMBER(",\"heartbeatPeriodSeconds\":601"), "heartbeatPeriodSeconds" },
                { MC, "v1beta1", NULL, MEMBER(",\"heartbeatPeriodSeconds\":600"), NULL },
                { MC, "v1beta1", NULL, MEMBER(",\"taints\":[{\"key\":\"a\",\"effect\":\"NoExecute\"}]"),
                  "effect" },
                { "internalmemberclusters" C, "v1beta1", NULL, "{\"spec\":{\"state\":\"Foo\"}}", NULL },
                { "works" P, "v1beta1", NULL, "{\"status\":{}}", "status.conditions" },
                { "works" P, "v1beta1", NULL, "{\"status\":{\"conditions\":[]}}", NULL },
                { "works" P, "v1", NULL, "{}", NULL },
        };
        check_cases(cases, ARRAY_LEN(cases));
}

#define CRPDB "clusterresourceplacementdisruptionbudgets" P
#define BUDGET(text) "{\"spec\":{" text "}}"

/* spec/api.md checklist 21 */
static void budgets_and_evictions_are_checked(void **state)
{
        static const char text53[] =
                "If supplied value is String should match regex '^(100|[0-9]{1,2})%$' or If supplied value "
                "is Integer must be greater than or equal to 0";
        static const struct rule_case cases[] = {
                { CRPDB, "v1beta1", NULL, BUDGET("\"maxUnavailable\":1,\"minAvailable\":1"),
                  "Both MaxUnavailable and MinAvailable cannot be specified" },
                { CRPDB, "v1beta1", NULL, BUDGET("\"maxUnavailable\":\"10\""), text53 },
                { CRPDB, "v1beta1", NULL, BUDGET("\"maxUnavailable\":\"-1%\""), text53 },
                { CRPDB, "v1alpha1", NULL, BUDGET("\"minAvailable\":\"101%\""), text53 },
                { CRPDB, "v1beta1", NULL, BUDGET("\"minAvailable\":-1"), text53 },
                { CRPDB, "v1beta1", NULL, BUDGET("\"maxUnavailable\":\"01%\""), NULL },
                { CRPDB, "v1beta1", NULL, BUDGET("\"maxUnavailable\":0"), NULL },
                { CRPDB, "v1beta1", NULL, BUDGET(""), NULL },
                { "clusterresourceplacementevictions" P, "v1beta1",
                  "{\"spec\":{\"placementName\":\"a\",\"clusterName\":\"b\"}}",
                  "{\"spec\":{\"placementName\":\"c\",\"clusterName\":\"b\"}}",
                  "The PlacementName field is immutable" },
                { "clusterresourceplacementevictions" P, "v1alpha1",
                  "{\"spec\":{\"placementName\":\"a\",\"clusterName\":\"b\"}}",
                  "{\"spec\":{\"placementName\":\"a\",\"clusterName\":\"c\"}}",
                  "The ClusterName field is immutable" },
        };
        check_cases(cases, ARRAY_LEN(cases));
}

#define CRO "clusterresourceoverrides" P
#define RO "resourceoverrides" P
#define RULE "{\"clusterSelector\":{\"clusterSelectorTerms\":[]}}"
#define RULES_10 RULE "," RULE "," RULE "," RULE "," RULE "," RULE "," RULE "," RULE "," RULE "," RULE
#define EDIT "{\"op\":\"remove\",\"path\":\"/a\"}"
#define EDITS_10 EDIT "," EDIT "," EDIT "," EDIT "," EDIT "," EDIT "," EDIT "," EDIT "," EDIT "," EDIT
#define CLUSTER_OVERRIDE(placement, rules)                                                                   \
        "{\"spec\":{" placement "\"clusterResourceSelectors\":[" CM                                          \
        "],\"policy\":{\"overrideRules\":[" rules "]}}}"
#define TARGET "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"c\"}"
#define OVERRIDE(placement, rules)                                                                           \
        "{\"spec\":{" placement "\"resourceSelectors\":[" TARGET "],\"policy\":{\"overrideRules\":[" rules   \
        "]}}}"
#define FOR(name, more) "\"placement\":{\"name\":\"" name "\"" more "},"

/* spec/api.md checklist 22-24 */
static void overrides_are_checked(void **state)
{
        static const char r21[] = "clusterResourceOverride placement reference cannot be Namespaced scope";
        static const char r20[] = "The placement field is immutable";
        static const char namespaced[] = CLUSTER_OVERRIDE(FOR("p", ",\"scope\":\"Namespaced\""), RULE);
        static const struct rule_case cases[] = {
                { CRO, "v1", NULL, namespaced, r21 },
                { CRO, "v1beta1", NULL, namespaced, r21 },
                { CRO, "v1alpha1", NULL, namespaced, r21 },
                { RO, "v1beta1", NULL, OVERRIDE(FOR("p", ",\"scope\":\"Namespaced\""), RULE), NULL },
                { CRO, "v1beta1", CLUSTER_OVERRIDE("", RULE), CLUSTER_OVERRIDE(FOR("p", ""), RULE), r20 },
                { CRO, "v1", CLUSTER_OVERRIDE(FOR("p", ""), RULE), CLUSTER_OVERRIDE("", RULE), r20 },
                { RO, "v1beta1", OVERRIDE(FOR("p", ""), RULE), OVERRIDE(FOR("q", ""), RULE), r20 },
                { RO, "v1alpha1", OVERRIDE(FOR("p", ""), RULE), OVERRIDE(FOR("q", ""), RULE), NULL },
                { RO, "v1", OVERRIDE(FOR("p", ""), RULE), OVERRIDE(FOR("p", ""), RULE "," RULE), NULL },
                { CRO, "v1beta1", NULL, CLUSTER_OVERRIDE("", ""), "overrideRules" },
                { CRO, "v1beta1", NULL, CLUSTER_OVERRIDE("", RULES_10 "," RULES_10), NULL },
                { CRO, "v1beta1", NULL, CLUSTER_OVERRIDE("", RULES_10 "," RULES_10 "," RULE),
                  "overrideRules" },
                { RO, "v1beta1", NULL,
                  OVERRIDE("", "{\"jsonPatchOverrides\":[" EDITS_10 "," EDITS_10 "," EDIT "]}"),
                  "jsonPatchOverrides" },
                { RO, "v1beta1", NULL, OVERRIDE("", "{\"jsonPatchOverrides\":[" EDITS_10 "," EDITS_10 "]}"),
                  NULL },
        };
        check_cases(cases, ARRAY_LEN(cases));
}

#define EDIT_AT(path) "{\"jsonPatchOverrides\":[{\"op\":\"replace\",\"path\":\"" path "\",\"value\":1}]}"

/* spec/membership-webhooks-charts.md checklist 31 */
static void overrides_of_what_makes_an_object_that_object_are_refused(void **state)
{
        static const char type[] = "cannot override typeMeta fields";
        static const char metadata[] = "cannot override metadata fields except annotations and labels";
        static const char status[] = "cannot override status fields";
        static const struct rule_case cases[] = {
                { RO, "v1", NULL, OVERRIDE("", EDIT_AT("")), "path must start with /" },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("kind")), "path must start with /" },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("/kind")), type },
                { RO, "v1alpha1", NULL, OVERRIDE("", EDIT_AT("/kind/x")), type },
                { RO, "v1", NULL, OVERRIDE("", EDIT_AT("/apiVersion")), type },
                { CRO, "v1", NULL, CLUSTER_OVERRIDE("", EDIT_AT("/apiVersion")), type },
                { CRO, "v1beta1", NULL, CLUSTER_OVERRIDE("", EDIT_AT("/metadata")),
                  "cannot override field metadata" },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("/metadata/name")), metadata },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("/metadata/labels~1x")), metadata },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("/metadata/")), metadata },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("/status")), status },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("/status/x")), status },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("/metadata/labels")), NULL },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("/metadata/annotations/a~1b")), NULL },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("/kinds")), NULL },
                { RO, "v1beta1", NULL, OVERRIDE("", EDIT_AT("/spec/status")), NULL },
                /* snapshots are as the override was: the agent tells of what it does not apply */
                { "resourceoverridesnapshots" P, "v1beta1", NULL,
                  "{\"spec\":{\"overrideHash\":\"eA==\",\"overrideSpec\":{\"resourceSelectors\":[" TARGET
                  "],\"policy\":{\"overrideRules\":[" EDIT_AT("/kind") "]}}}}",
                  NULL },
        };
        check_cases(cases, ARRAY_LEN(cases));
}

#define CSUS "clusterstagedupdatestrategies" P
#define SUS "stagedupdatestrategies" P
#define STAGE(more) "{\"name\":\"a\"" more "}"
#define STAGES_10                                                                                            \
        STAGE("")                                                                                            \
        "," STAGE("") "," STAGE("") "," STAGE("") "," STAGE("") "," STAGE("") "," STAGE("") "," STAGE(       \
                "") "," STAGE("") "," STAGE("")
#define STRATEGY(stages) "{\"spec\":{\"stages\":[" stages "]}}"
#define AFTER(task) STRATEGY(STAGE(",\"afterStageTasks\":[{" task "}]"))
#define BEFORE(task) STRATEGY(STAGE(",\"beforeStageTasks\":[{" task "}]"))
#define WAIT(time) AFTER("\"type\":\"TimedWait\",\"waitTime\":\"" time "\"")
#define CONCURRENCY(value) STRATEGY(STAGE(",\"maxConcurrency\":" value))

/* spec/api.md checklist 25-27 */
static void strategies_are_checked(void **state)
{
        static const struct rule_case cases[] = {
                { CSUS, "v1beta1", NULL,
                  STRATEGY(STAGES_10 "," STAGES_10 "," STAGES_10 "," STAGE("") "," STAGE("")), "stages" },
                { CSUS, "v1", NULL, STRATEGY(STAGES_10 "," STAGES_10 "," STAGES_10 "," STAGE("")), NULL },
                { SUS, "v1beta1", NULL, STRATEGY("{\"name\":\"Stage-1\"}"), "name" },
                { SUS, "v1beta1", NULL, CONCURRENCY("0"), "maxConcurrency must be at least 1" },
                { CSUS, "v1", NULL, CONCURRENCY("-1"), "maxConcurrency must be at least 1" },
                { CSUS, "v1beta1", NULL, CONCURRENCY("\"0%\""), "maxConcurrency" },
                { CSUS, "v1beta1", NULL, CONCURRENCY("\"50\""), "maxConcurrency" },
                { CSUS, "v1beta1", NULL, CONCURRENCY("\"101%\""), "maxConcurrency" },
                { CSUS, "v1beta1", NULL, CONCURRENCY("200"), NULL },
                { CSUS, "v1beta1", NULL, CONCURRENCY("\"100%\""), NULL },
                { CSUS, "v1beta1", NULL, STRATEGY(STAGE(",\"maxFailedClusters\":\"0%\"")), NULL },
                { SUS, "v1", NULL, STRATEGY(STAGE(",\"maxFailedClusters\":-1")),
                  "maxFailedClusters must be at least 0" },
                { CSUS, "v1beta1", NULL, STRATEGY(STAGE(",\"maxFailedClusters\":\"101%\"")),
                  "maxFailedClusters" },
                { CSUS, "v1beta1", NULL, WAIT("1h30m"), NULL },
                { CSUS, "v1beta1", NULL, WAIT("0s"), NULL },
                { CSUS, "v1beta1", NULL, WAIT("1"), "waitTime" },
                { CSUS, "v1beta1", NULL, WAIT("1d"), "waitTime" },
                { CSUS, "v1beta1", NULL, WAIT("01h"), "waitTime" },
                { CSUS, "v1beta1", NULL, WAIT("0"), "waitTime" },
                { CSUS, "v1alpha1", NULL, WAIT("0"), NULL },
                { CSUS, "v1beta1", NULL, AFTER("\"type\":\"Approval\",\"waitTime\":\"1h\""),
                  "AfterStageTaskType is Approval, waitTime is not allowed" },
                { SUS, "v1", NULL, BEFORE("\"type\":\"Approval\",\"waitTime\":\"1h\""),
                  "AfterStageTaskType is Approval, waitTime is not allowed" },
                { CSUS, "v1", NULL, AFTER("\"type\":\"TimedWait\""),
                  "AfterStageTaskType is TimedWait, waitTime is required" },
                { CSUS, "v1alpha1", NULL, AFTER("\"type\":\"TimedWait\""), NULL },
                { CSUS, "v1beta1", NULL, BEFORE("\"type\":\"TimedWait\",\"waitTime\":\"1h\""),
                  "BeforeStageTaskType cannot be TimedWait" },
        };
        check_cases(cases, ARRAY_LEN(cases));
}

#define CSUR "clusterstagedupdateruns" P
#define SUR "stagedupdateruns" P
#define RUN_OF(placement, index, strategy, more)                                                             \
        "{\"spec\":{\"placementName\":\"" placement "\",\"resourceSnapshotIndex\":\"" index                  \
        "\",\"stagedRolloutStrategyName\":\"" strategy "\"" more "}}"
#define RUN(state) RUN_OF("p", "1", "s", ",\"state\":\"" state "\"")

/* spec/api.md checklist 28, 29
 * spec/staged-update-and-eviction.md checklist 2, 3 */
static void runs_are_checked(void **state)
{
        static const char immutable[] = "The spec field is immutable";
        static const struct rule_case cases[] = {
                { CSUR, "v1beta1", RUN("Initialize"), RUN("Stop"),
                  "invalid state transition: cannot transition from Initialize to Stop" },
                { SUR, "v1", RUN("Run"), RUN("Initialize"),
                  "invalid state transition: cannot transition from Run to Initialize" },
                { CSUR, "v1beta1", RUN_OF("p", "1", "s", ",\"retryOf\":\"a\""),
                  RUN_OF("p", "1", "s", ",\"retryOf\":\"b\""), "retryOf is immutable" },
                { SUR, "v1", RUN_OF("p", "1", "s", ""), RUN_OF("p", "1", "s", ",\"retryOf\":\"b\""),
                  "retryOf is immutable" },
                { SUR, "v1beta1", RUN("Stop"), RUN("Initialize"),
                  "invalid state transition: cannot transition from Stop to Initialize" },
                { CSUR, "v1beta1", RUN("Initialize"), RUN("Run"), NULL },
                { CSUR, "v1beta1", RUN("Run"), RUN("Stop"), NULL },
                { CSUR, "v1beta1", RUN("Stop"), RUN("Run"), NULL },
                { CSUR, "v1beta1", NULL, RUN("Stop"), NULL },
                { CSUR, "v1beta1", RUN("Run"), RUN_OF("q", "1", "s", ",\"state\":\"Run\""),
                  "placementName is immutable" },
                { SUR, "v1", RUN("Run"), RUN_OF("p", "2", "s", ",\"state\":\"Run\""),
                  "resourceSnapshotIndex is immutable" },
                { SUR, "v1beta1", RUN("Run"), RUN_OF("p", "1", "t", ",\"state\":\"Run\""),
                  "stagedRolloutStrategyName is immutable" },
                { CSUR, "v1alpha1", RUN_OF("p", "1", "s", ""), RUN_OF("p", "2", "s", ""), immutable },
                { CSUR, "v1alpha1", NULL,
                  "{\"spec\":{\"placementName\":\"p\",\"stagedRolloutStrategyName\":\"s\"}}",
                  "resourceSnapshotIndex" },
                { CSUR, "v1alpha1", NULL,
                  NAMED(LETTERS_31 LETTERS_31 "aa",
                        "\"spec\":{\"placementName\":\"p\","
                        "\"resourceSnapshotIndex\":\"1\",\"stagedRolloutStrategyName\":\"s\"}"),
                  NULL },
                { CSUR, "v1beta1", NULL,
                  NAMED(LETTERS_31 LETTERS_31 "aa", "\"spec\":{\"placementName\":\"p\","
                                                    "\"stagedRolloutStrategyName\":\"s\"}"),
                  "metadata.name max length is 63" },
                { "approvalrequests" P, "v1beta1",
                  "{\"spec\":{\"parentStageRollout\":\"r\",\"targetStage\":\"a\"}}",
                  "{\"spec\":{\"parentStageRollout\":\"r\",\"targetStage\":\"b\"}}", immutable },
                { "clusterapprovalrequests" P, "v1alpha1",
                  "{\"spec\":{\"parentStageRollout\":\"r\",\"targetStage\":\"a\"}}",
                  "{\"spec\":{\"parentStageRollout\":\"q\",\"targetStage\":\"a\"}}", immutable },
                { "clusterapprovalrequests" P, "v1",
                  "{\"spec\":{\"parentStageRollout\":\"r\",\"targetStage\":\"a\"}}",
                  "{\"spec\":{\"parentStageRollout\":\"r\",\"targetStage\":\"a\"},\"status\":{}}", NULL },
        };
        check_cases(cases, ARRAY_LEN(cases));
}

static void assert_default(struct suite *s, const char *name, const char *version, const char *text,
                           const char *path, const char *expected)
{
        AUTO_JSON json_t *doc = defaulted(schema_of(s, name, version), text);
        /* The last [0] of a path stands for the first item. */
        json_t *value = doc;
        char part[64];
        for (struct slice rest = slice_of(path), head; rest.len;) {
                slice_cut(&rest, '.', &head);
                snprintf(part, sizeof(part), "%.*s", (int)head.len, head.data);
                value = text_equal(part, "0") ? json_array_get(value, 0) : json_object_get(value, part);
        }
        char *got = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
        if (!text_equal(got, expected))
                fail_msg("%s %s: %s: wanted %s, got %s", name, version, path, expected ? expected : "none",
                         got ? got : "none");
        free(got);
}

/* spec/api.md checklist 7, 16, 19, 26 */
static void defaults_are_filled_in(void **state)
{
        struct suite *s = suite_new();
        assert_default(s, MC, "v1", MEMBER(""), "spec.heartbeatPeriodSeconds", "60");
        assert_default(s, MC, "v1beta1", MEMBER(""), "spec.deleteOptions", NULL);
        assert_default(s, CRP, "v1", PLACEMENT(CM, ""), "spec.resourceSelectors.0.selectionScope",
                       "\"NamespaceWithResources\"");
        assert_default(s, CRO, "v1alpha1", CLUSTER_OVERRIDE("", RULE),
                       "spec.clusterResourceSelectors.0.selectionScope", "\"NamespaceWithResources\"");
        assert_default(s, CRP, "v1beta1", PLACEMENT(CM, ""), "spec.strategy",
                       NULL); /* spec/api.md checklist 20 */
        assert_default(s, CRP, "v1beta1", PLACEMENT(CM, ""), "spec.revisionHistoryLimit", "10");
        assert_default(s, CRP, "v1beta1", PLACEMENT(CM, ",\"strategy\":{\"rollingUpdate\":{}}"),
                       "spec.strategy.rollingUpdate.maxSurge", "\"25%\"");
        assert_default(s, CRP, "v1beta1", PLACEMENT(CM, ",\"strategy\":{\"reportBackStrategy\":{}}"),
                       "spec.strategy.reportBackStrategy.type", "\"Disabled\"");
        assert_default(s, CSUS, "v1", STRATEGY(STAGE("")), "spec.stages.0.maxConcurrency", "1");
        assert_default(s, CSUS, "v1alpha1", STRATEGY(STAGE("")), "spec.stages.0.maxConcurrency", NULL);
        assert_default(s, CSUR, "v1beta1", RUN_OF("p", "1", "s", ""), "spec.state", "\"Run\"");
        static const char enveloped[] = "{\"status\":{\"selectedResources\":[{\"version\":\"v1\",\"kind\":"
                                        "\"k\",\"name\":\"n\",\"envelope\":{\"name\":"
                                        "\"e\"}}]},\"spec\":{\"resourceSelectors\":[" CM "]}}";
        assert_default(s, CRP, "v1beta1", enveloped, "status.selectedResources.0.envelope.type",
                       "\"ConfigMap\"");
        assert_default(s, CRP, "v1", enveloped, "status.selectedResources.0.envelope.type", NULL);
        suite_free(s);
}

static void every_crd_is_structural_and_stored_in_one_version(void **state)
{
        struct suite *s = suite_new();
        assert_int_equal(n_crd_texts, 35);
        for (size_t i = 0; i < n_crd_texts; i++) {
                AUTO_JSON json_t *crd = crd_named(crd_texts[i].name);
                assert_string_equal(doc_get_string(crd, "metadata.name"), crd_texts[i].name);
                bool both = text_starts_with(crd_texts[i].name, "clusterobjectsets.");
                bool member = both || text_starts_with(crd_texts[i].name, "appliedworks.");
                assert_int_equal(crd_texts[i].member, member);
                assert_int_equal(crd_texts[i].hub, both || !member);
                size_t j, stored = 0;
                json_t *v;
                json_array_foreach(doc_get_array(crd, "spec.versions"), j, v) {
                        stored += doc_get_bool(v, "storage", false);
                        schema_of(s, crd_texts[i].name, doc_get_string(v, "name"));
                }
                assert_int_equal(stored, 1);
        }
        suite_free(s);
}

/* What v1 hides, and a write through v1 drops: spec/api.md 2. */
static void fields_of_one_version_are_pruned_in_the_other(void **state)
{
        static const struct {
                const char *name, *version, *text, *removed;
        } cases[] = {
                { CRP, "v1", PLACEMENT(CM, ",\"strategy\":{\"deleteStrategy\":{},\"reportBackStrategy\":{}}"),
                  "[\"spec.strategy.deleteStrategy\", \"spec.strategy.reportBackStrategy\"]" },
                { CRP, "v1beta1",
                  PLACEMENT(CM, ",\"strategy\":{\"deleteStrategy\":{},\"reportBackStrategy\":{}}"), "[]" },
                { MC, "v1", MEMBER(",\"deleteOptions\":{}"), "[\"spec.deleteOptions\"]" },
                { "works" P, "v1", "{\"spec\":{\"reportBackStrategy\":{}}}",
                  "[\"spec.reportBackStrategy\"]" },
                { CSUR, "v1alpha1", RUN("Run"), "[\"spec.state\"]" },
        };
        struct suite *s = suite_new();
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *doc = NULL, *removed = json_array();
                assert_int_equal(doc_parse(slice_of(cases[i].text), &doc, NULL), 0);
                assert_int_equal(
                        schema_prune(schema_of(s, cases[i].name, cases[i].version), doc, removed, NULL), 0);
                char *got = json_dumps(removed, 0);
                assert_string_equal(got, cases[i].removed);
                free(got);
        }
        suite_free(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_crd_is_structural_and_stored_in_one_version),
                cmocka_unit_test(placements_are_checked),
                cmocka_unit_test(what_would_be_silent_is_refused_in_cluster_scope),
                cmocka_unit_test(names_that_are_no_label_values_are_refused_in_cluster_scope),
                cmocka_unit_test(the_two_placement_kinds_differ_in_status_reporting_only),
                cmocka_unit_test(clusters_are_checked),
                cmocka_unit_test(budgets_and_evictions_are_checked),
                cmocka_unit_test(overrides_are_checked),
                cmocka_unit_test(overrides_of_what_makes_an_object_that_object_are_refused),
                cmocka_unit_test(strategies_are_checked),
                cmocka_unit_test(runs_are_checked),
                cmocka_unit_test(defaults_are_filled_in),
                cmocka_unit_test(fields_of_one_version_are_pruned_in_the_other),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
