#include "hub-agent/webhook/webhook_test.h"

#define RP_PATH PLACEMENT_PATH("validate", "resourceplacement")
#define NS "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"app\"}"
#define OF(group, version, kind, more)                                                                       \
        "{\"group\":\"" group "\",\"version\":\"" version "\",\"kind\":\"" kind "\"" more "}"
#define SPEC(selectors, more)                                                                                \
        "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"resourceSelectors\":[" selectors "]" more "}}"
#define POLICY(type, more) SPEC(NS, ",\"policy\":{\"placementType\":\"" type "\"" more "}")
#define STRATEGY(more) SPEC(NS, ",\"strategy\":{" more "}")
#define DENY "deny create/update v1beta1 CRP has invalid fields "
#define BAD_POLICY DENY "the placement policy field is invalid: "
#define BAD_STRATEGY DENY "the rollout Strategy field  is invalid: "
#define NAME_63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NAME_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct row {
        const char *object, *says; /* NULL: let in */
};

static void check(const char *path, const struct row *rows, size_t n)
{
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < n; i++) {
                if (ask(h, &(struct question){ path, .object = rows[i].object }) != !rows[i].says)
                        fail_msg("%s: %s", rows[i].object, h->message);
                if (!rows[i].says)
                        continue;
                assert_int_equal(h->code, 403);
                if (!strstr(h->message, rows[i].says))
                        fail_msg("%s: wanted \"%s\" in \"%s\"", rows[i].object, rows[i].says, h->message);
        }
}

/* ---- selectors ---- */

#define LABELS(inner) ",\"labelSelector\":{" inner "}"
#define EXPRESSION(key, op, values)                                                                          \
        LABELS("\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" op "\"" values "}]")
#define CONTENT                                                                                              \
        OF("", "v1", "Namespace", ",\"name\":\"app\",\"selectionScope\":\"NamespaceWithResourceSelectors\"")

static void selectors_that_select_nothing_are_refused(void **state)
{
        static const struct row rows[] = {
                { SPEC(NS, ""), NULL },
                { SPEC(OF("", "v1", "Namespace", LABELS("\"matchLabels\":{\"a\":\"b\"}")), ""), NULL },
                { "{\"metadata\":{\"name\":\"" NAME_64 "\"},\"spec\":{\"resourceSelectors\":[" NS "]}}",
                  DENY "the name field cannot have length exceeding 63" },
                { SPEC(OF("", "v1", "Namespace", ",\"name\":\"n\"" LABELS("\"matchLabels\":{\"a\":\"b\"}")),
                       ""),
                  DENY
                  "the labelSelector and name fields are mutually exclusive in selector {Group: Version:v1 "
                  "Kind:Namespace Name:n LabelSelector:&LabelSelector{MatchLabels:map[string]string{a: "
                  "b,},MatchExpressions:[]LabelSelectorRequirement{},} SelectionScope:}" },
                { SPEC(OF("", "v1", "Namespace", LABELS("\"matchLabels\":{\"a b\":\"c\"}")), ""),
                  "the labelSelector in resource selector &LabelSelector{" },
                { SPEC(OF("", "v1", "Namespace", LABELS("\"matchLabels\":{\"a b\":\"c\"}")), ""),
                  "is invalid: key: Invalid value: \"a b\": name part must consist of alphanumeric" },
                { SPEC(OF("", "v1", "Namespace", LABELS("\"matchLabels\":{\"a\":\"c d\"}")), ""),
                  "a valid label must be an empty string or consist of alphanumeric characters" },
                { SPEC(OF("", "v1", "Namespace", EXPRESSION("a", "In", "")), ""),
                  "for 'in', 'notin' operators, values set can't be empty" },
                { SPEC(OF("", "v1", "Namespace", EXPRESSION("a", "Exists", ",\"values\":[\"b\"]")), ""),
                  "values set must be empty for exists and does not exist" },
                { SPEC(OF("", "v1", "Namespace", EXPRESSION("a", "Gt", "")), ""),
                  "\"Gt\" is not a valid label selector operator" },
                { SPEC(OF("", "v1", "Namespace", EXPRESSION("a", "DoesNotExist", "")), ""), NULL },
                { "{\"metadata\":{\"name\":\"" NAME_63 "\"},\"spec\":{\"resourceSelectors\":[" NS "]}}",
                  NULL },
        };

        check(CRP_PATH, rows, ARRAY_LEN(rows));
}

/* spec/membership-webhooks-charts.md checklist 25 */
static void kinds_of_the_other_scope_are_refused(void **state)
{
        static const struct row cluster[] = {
                { SPEC(OF("apps", "v1", "Deployment", ""), ""),
                  DENY "the resource is not found in schema (please retry) or it is not a cluster scoped "
                       "resource: apps/v1, Kind=Deployment" },
                { SPEC(OF("", "v1", "ConfigMap", ""), ""), "cluster scoped resource: /v1, Kind=ConfigMap" },
                { SPEC(OF("", "v1", "Node", ""), ""), "not a cluster scoped resource: /v1, Kind=Node" },
                { SPEC(CONTENT "," OF("apps", "v1", "Deployment", ""), ""), NULL },
                { SPEC(NS "," OF("apps", "v1", "Deployment", ""), ""), "Kind=Deployment" },
                { SPEC(OF("rbac.authorization.k8s.io", "v1", "ClusterRole", ""), ""), NULL },
        };
        static const struct row own[] = {
                { SPEC(OF("apps", "v1", "Deployment", ""), ""), NULL },
                { SPEC(OF("", "v1", "Node", ""), ""), NULL },
                { SPEC(OF("rbac.authorization.k8s.io", "v1", "ClusterRole", ""), ""),
                  "deny create/update v1beta1 RP has invalid fields the resource is not found in schema "
                  "(please "
                  "retry) or it is a cluster scoped resource: rbac.authorization.k8s.io/v1, "
                  "Kind=ClusterRole" },
        };

        check(CRP_PATH, cluster, ARRAY_LEN(cluster));
        check(RP_PATH, own, ARRAY_LEN(own));
}

/* spec/membership-webhooks-charts.md checklist 26 */
static void nothing_more_is_said_of_a_placement_with_an_unknown_kind(void **state)
{
        static const char object[] =
                SPEC(OF("example.com", "v1", "Gadget", ""), ",\"policy\":{\"placementType\":\"PickN\"}");
        AUTO_HUB struct hub *h = hub_new();

        assert_false(ask(h, &(struct question){ CRP_PATH, .object = object }));
        assert_string_equal(h->message, DENY "failed to get GVR of the selector: no matches for kind "
                                             "\"Gadget\" in version \"example.com/v1\"");
}

/* With one requirement the whole selector is given up. */
static void one_fault_is_told_of_a_label_selector(void **state)
{
        static const char *const selectors[] = {
                LABELS("\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"},{\"key\":\"b\","
                       "\"operator\":\"Exists\",\"values\":[\"c\"]}]"),
                LABELS("\"matchLabels\":{\"a\":\"-\",\"b\":\"_\"}"),
                LABELS("\"matchLabels\":{\"a\":\"-\"},\"matchExpressions\":[{\"key\":\"b\",\"operator\":"
                       "\"In\"}]"),
        };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(selectors); i++) {
                const char *object = arena_printf(
                        &h->arena, SPEC("{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\"%s}", ""),
                        selectors[i]);
                const char *first;

                assert_false(ask(h, &(struct question){ CRP_PATH, .object = object }));
                first = strstr(h->message, "Invalid value");
                assert_non_null(first);
                assert_null(strstr(first + 1, "Invalid value"));
        }
}

static void a_scope_that_cannot_be_told_asks_for_another_try(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        h->scope_fails = "discovery is under way";
        assert_false(ask(h, &(struct question){ CRP_PATH, .object = SPEC(NS, "") }));
        assert_string_equal(h->message, DENY "cannot perform resource scope check for now, please retry");
}

/* ---- policies ---- */

#define TOLERATION(inner) "{" inner ",\"effect\":\"NoSchedule\"}"
#define TOLERATIONS(list) ",\"tolerations\":[" list "]"
#define SPREAD(type)                                                                                         \
        ",\"topologySpreadConstraints\":[{\"topologyKey\":\"a\",\"whenUnsatisfiable\":\"" type "\"}]"
#define AFFINITY(inner) ",\"affinity\":{\"clusterAffinity\":{" inner "}}"
#define REQUIRED(term)                                                                                       \
        AFFINITY("\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{" term "}]" \
                 "}")
#define PREFERRED(term)                                                                                      \
        AFFINITY("\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,\"preference\":{" term  \
                 "}}]")
#define THREE ",\"numberOfClusters\":3"
#define EQUAL_A "{Key:a Operator:Equal Value:b Effect:NoSchedule}"
#define A_IS_B "\"key\":\"a\",\"operator\":\"Equal\",\"value\":\"b\""

static void policies_say_nothing_of_other_types(void **state)
{
        static const struct row rows[] = {
                { POLICY("PickFixed", ",\"clusterNames\":[\"m1\",\"m2\"]"), NULL },
                { POLICY("PickFixed", ",\"clusterNames\":[]"), NULL },
                { POLICY("PickFixed", ",\"clusterNames\":[\"" NAME_63 "\"]"), NULL },
                { POLICY("PickFixed", ",\"clusterNames\":[\"M\"]"),
                  BAD_POLICY "PickFixed cluster name M is not a valid member name: a lowercase RFC 1123" },
                { POLICY("PickFixed", ",\"clusterNames\":[\"" NAME_64 "\"]"),
                  BAD_POLICY "PickFixed cluster name " NAME_64 " cannot have length exceeding 63" },
                { POLICY("PickFixed", ",\"clusterNames\":[\"m\",\"m\",\"N\"]"),
                  BAD_POLICY "cluster names must be unique for policy type PickFixed" },
                { POLICY("PickFixed", THREE),
                  "number of clusters must be nil for policy type PickFixed, only valid for PickN" },
                { POLICY("PickFixed", ",\"affinity\":{}"), "affinity must be nil for policy type PickFixed" },
                { POLICY("PickFixed", SPREAD("DoNotSchedule")),
                  "topology spread constraints needs to be empty for policy type PickFixed" },
                { POLICY("PickFixed", ",\"tolerations\":[]"),
                  "tolerations needs to be empty for policy type PickFixed, only valid for PickAll/PickN" },
                { POLICY("PickFixed", THREE TOLERATIONS("")), BAD_POLICY
                  "[number of clusters must be nil for policy type PickFixed, only valid for PickN "
                  "placement policy type, tolerations needs to be empty for policy type PickFixed, "
                  "only valid for PickAll/PickN]" },
                { POLICY("PickAll", ""), NULL },
                { POLICY("PickAll", ",\"clusterNames\":[\"a\"]"),
                  "cluster names needs to be empty for policy type PickAll, only valid for PickFixed "
                  "policy" },
                { POLICY("PickAll", THREE), "number of clusters must be nil for policy type PickAll" },
                { POLICY("PickAll", SPREAD("DoNotSchedule")),
                  "topology spread constraints needs to be empty for policy type PickAll" },
                { POLICY("PickAll", PREFERRED("")),
                  "PreferredDuringSchedulingIgnoredDuringExecution will be ignored for placement policy type "
                  "PickAll" },
                { POLICY("PickN", THREE), NULL },
                { POLICY("PickN", ""), BAD_POLICY "number of cluster cannot be nil for policy type PickN" },
                { POLICY("PickN", ",\"numberOfClusters\":-1"),
                  "number of clusters cannot be -1 for policy type PickN" },
                { POLICY("PickN", THREE ",\"clusterNames\":[\"a\"]"),
                  "cluster names needs to be empty for policy type PickN" },
                { POLICY("PickN", THREE SPREAD("ScheduleAnyway")), NULL },
                { POLICY("PickN", THREE SPREAD("Perhaps")), "unknown unsatisfiable type Perhaps" },
        };

        check(CRP_PATH, rows, ARRAY_LEN(rows));
}

#define PROPERTY(more) "\"propertySelector\":{\"matchExpressions\":[" more "]}"
#define SORTER(name, order) "\"propertySorter\":{\"name\":\"" name "\",\"sortOrder\":\"" order "\"}"

static void terms_ask_for_what_their_place_allows(void **state)
{
        static const struct row rows[] = {
                { POLICY("PickAll", REQUIRED("\"labelSelector\":{\"matchLabels\":{\"a\":\"b\"}}")), NULL },
                { POLICY("PickAll", REQUIRED("\"labelSelector\":{\"matchLabels\":{\"a\":\"b c\"}}")),
                  BAD_POLICY "the labelSelector in cluster selector &LabelSelector{" },
                { POLICY("PickAll", REQUIRED(SORTER("x", "Ascending"))),
                  "PropertySorter is not allowed for RequiredDuringSchedulingIgnoredDuringExecution "
                  "affinity" },
                { POLICY("PickN", THREE PREFERRED("\"labelSelector\":{\"matchLabels\":{\"a\":\"b c\"}}")),
                  BAD_POLICY "the labelSelector in preferred cluster selector &LabelSelector{" },
                { POLICY("PickN", THREE PREFERRED(PROPERTY(""))),
                  "PropertySelector is not allowed for PreferredDuringSchedulingIgnoredDuringExecution" },
                { POLICY("PickN", THREE PREFERRED(SORTER("x", "Sideways"))),
                  "invalid property sort order Sideways" },
                { POLICY("PickN", THREE PREFERRED(SORTER("a b", "Ascending"))),
                  BAD_POLICY "property name a b is not valid: name part must consist" },
                { POLICY("PickN", THREE PREFERRED(SORTER("kubernetes-fleet.io/node-count", "Descending"))),
                  NULL },
        };

        check(CRP_PATH, rows, ARRAY_LEN(rows));
}

static void tolerations_that_are_no_good_are_refused(void **state)
{
        static const struct row rows[] = {
                { POLICY("PickAll", TOLERATIONS(TOLERATION(A_IS_B))), NULL },
                { POLICY("PickAll", TOLERATIONS("{\"operator\":\"Exists\"}")), NULL },
                { POLICY("PickAll", TOLERATIONS(TOLERATION("\"key\":\"a\",\"operator\":\"Equal\""))), NULL },
                { POLICY("PickAll", TOLERATIONS(TOLERATION(A_IS_B) "," TOLERATION(A_IS_B))),
                  BAD_POLICY "toleration " EQUAL_A " already exists, tolerations must be unique" },
                { POLICY("PickAll", TOLERATIONS(TOLERATION("\"operator\":\"Exists\",\"value\":\"b\""))),
                  "invalid toleration {Key: Operator:Exists Value:b Effect:NoSchedule}: toleration value "
                  "needs "
                  "to be empty, when operator is Exists" },
                { POLICY("PickAll", TOLERATIONS(TOLERATION("\"operator\":\"Equal\",\"value\":\"b\""))),
                  "toleration key cannot be empty, when operator is Equal" },
                { POLICY("PickAll", TOLERATIONS(TOLERATION("\"key\":\"a b\",\"operator\":\"Exists\""))),
                  "invalid toleration key {Key:a b Operator:Exists Value: Effect:NoSchedule}: name part "
                  "must" },
                { POLICY("PickAll",
                         TOLERATIONS(TOLERATION("\"key\":\"a\",\"operator\":\"Equal\",\"value\":\"-\""))),
                  "invalid toleration value {Key:a Operator:Equal Value:- Effect:NoSchedule}: a valid "
                  "label" },
        };

        check(CRP_PATH, rows, ARRAY_LEN(rows));
}

/* ---- strategies ---- */

#define PACE(inner) "\"rollingUpdate\":{" inner "}"

/* spec/membership-webhooks-charts.md checklist 28 */
static void strategies_that_nobody_could_follow_are_refused(void **state)
{
        static const struct row rows[] = {
                { STRATEGY(""), NULL },
                { STRATEGY(PACE("\"maxUnavailable\":0,\"maxSurge\":0")), NULL },
                { STRATEGY(PACE("\"maxUnavailable\":\"0%\",\"maxSurge\":\"100%\"")), NULL },
                { STRATEGY(PACE("\"maxUnavailable\":\"25\"")),
                  BAD_STRATEGY "maxUnavailable `25` is invalid: invalid value for IntOrString" },
                { STRATEGY(PACE("\"maxUnavailable\":\"x%\"")), "maxUnavailable `x%` is invalid: " },
                { STRATEGY(PACE("\"maxUnavailable\":-1")),
                  BAD_STRATEGY "maxUnavailable must be greater than or equal to 0, got `-1`" },
                { STRATEGY(PACE("\"maxUnavailable\":\"-5%\"")),
                  "maxUnavailable must be greater than or equal to 0, got `-5%`" },
                { STRATEGY(PACE("\"maxSurge\":\"25\"")), "maxSurge `25` is invalid: " },
                { STRATEGY(PACE("\"maxSurge\":-1")),
                  "maxSurge must be greater than or equal to 0, got `-1`" },
                { STRATEGY(PACE("\"unavailablePeriodSeconds\":-7")),
                  "unavailablePeriodSeconds must be greater than or equal to 0, got -7" },
                { STRATEGY(PACE("\"unavailablePeriodSeconds\":0")), NULL },
                { STRATEGY("\"type\":\"External\""), NULL },
                { STRATEGY("\"type\":\"External\"," PACE("")),
                  "rollingUpdateConifg is not valid for ExternalRollout strategy type" },
                { STRATEGY("\"type\":\"Whenever\""),
                  BAD_STRATEGY "unsupported rollout strategy type `Whenever`" },
                { STRATEGY("\"applyStrategy\":{\"type\":\"ServerSideApply\",\"serverSideApplyConfig\":{}}"),
                  NULL },
                { STRATEGY("\"applyStrategy\":{\"type\":\"ClientSideApply\",\"serverSideApplyConfig\":{}}"),
                  "serverSideApplyConfig is only valid for ServerSideApply strategy type" },
                { POLICY("PickN", "},\"strategy\":{\"type\":\"Whenever\""), DENY
                  "[the placement policy field is invalid: number of cluster cannot be nil for policy type "
                  "PickN, the rollout Strategy field  is invalid: unsupported rollout strategy type "
                  "`Whenever`]" },
        };

        check(CRP_PATH, rows, ARRAY_LEN(rows));
}

/* What is wrong is told in the order in which it is looked at. */
static void faults_are_told_in_order(void **state)
{
        static const struct {
                const char *object, *first, *second;
        } rows[] = {
                { SPEC(OF("", "v1", "ConfigMap", ",\"name\":\"n\"" LABELS("\"matchLabels\":{\"a b\":\"c\"}")),
                       ""),
                  "mutually exclusive", "the labelSelector in resource selector" },
                { SPEC(OF("", "v1", "ConfigMap", ",\"name\":\"n\"" LABELS("\"matchLabels\":{\"a b\":\"c\"}")),
                       ""),
                  "the labelSelector in resource selector", "the resource is not found in schema" },
                { POLICY("PickN",
                         THREE PREFERRED(
                                 "\"labelSelector\":{\"matchLabels\":{\"a b\":\"c\"}}," PROPERTY(""))),
                  "the labelSelector in preferred", "PropertySelector is not allowed" },
                { POLICY("PickAll",
                         TOLERATIONS(TOLERATION("\"key\":\"a b\",\"operator\":\"Exists\"") "," TOLERATION(
                                 "\"key\":\"a b\",\"operator\":\"Exists\""))),
                  "invalid toleration key", "already exists" },
                { STRATEGY("\"type\":\"Whenever\"," PACE("\"unavailablePeriodSeconds\":-1,\"maxSurge\":-1,"
                                                         "\"maxUnavailable\":-1")),
                  "unsupported rollout strategy type", "unavailablePeriodSeconds must be" },
                { POLICY("PickAll", ",\"clusterNames\":[\"a\"]" THREE), "cluster names needs to be empty",
                  "number of clusters must be nil" },
                { POLICY("PickAll", THREE PREFERRED("")), "number of clusters must be nil",
                  "will be ignored for placement policy type PickAll" },
                { POLICY("PickAll", SPREAD("DoNotSchedule") TOLERATIONS(
                                            TOLERATION("\"key\":\"a b\",\"operator\":\"Exists\""))),
                  "topology spread constraints needs to be empty", "invalid toleration key" },
                { "{\"metadata\":{\"name\":\"" NAME_64
                  "\"},\"spec\":{\"resourceSelectors\":[" OF("", "v1", "ConfigMap", "") "]}}",
                  "the name field cannot have length", "the resource is not found in schema" },
                { STRATEGY(PACE("\"maxSurge\":-1,\"maxUnavailable\":-1")), "maxUnavailable must be",
                  "maxSurge must be" },
        };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char *first, *second;

                assert_false(ask(h, &(struct question){ CRP_PATH, .object = rows[i].object }));
                first = strstr(h->message, rows[i].first);
                second = strstr(h->message, rows[i].second);
                if (!first || !second || first > second)
                        fail_msg("%s before %s: %s", rows[i].first, rows[i].second, h->message);
        }
}

/* ---- updates ---- */

static bool may_change(struct hub *h, const char *from, const char *to)
{
        return ask(h, &(struct question){ CRP_PATH, "UPDATE", .old = from, .object = to });
}

/* spec/membership-webhooks-charts.md checklist 22 */
static void the_type_of_a_placement_stays(void **state)
{
        static const char *const all[] = { SPEC(NS, ""), POLICY("PickAll", "") };
        static const char *const others[] = { POLICY("PickN", THREE), POLICY("PickFixed", "") };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(all); i++) {
                for (size_t k = 0; k < ARRAY_LEN(all); k++)
                        assert_true(may_change(h, all[i], all[k]));
                for (size_t k = 0; k < ARRAY_LEN(others); k++) {
                        assert_false(may_change(h, all[i], others[k]));
                        assert_string_equal(h->message, "placement type is immutable");
                        assert_false(may_change(h, others[k], all[i]));
                }
        }
        /* before a word about what else is wrong */
        assert_false(may_change(h, POLICY("PickAll", TOLERATIONS("{\"operator\":\"Exists\"}")),
                                POLICY("PickN", ",\"numberOfClusters\":-1")));
        assert_string_equal(h->message, "placement type is immutable");
        assert_false(may_change(h, others[0], others[1]));
        assert_true(may_change(h, others[0], POLICY("PickN", ",\"numberOfClusters\":4")));
}

/* spec/membership-webhooks-charts.md checklist 23 */
static void tolerations_can_be_added_alone(void **state)
{
        static const char none[] = POLICY("PickAll", ""),
                          one[] = POLICY("PickAll", TOLERATIONS(TOLERATION(A_IS_B))),
                          other[] = POLICY("PickAll",
                                           TOLERATIONS(TOLERATION("\"key\":\"a\",\"operator\":\"Equal\","
                                                                  "\"value\":\"c\""))),
                          two[] = POLICY("PickAll",
                                         TOLERATIONS("{\"operator\":\"Exists\"}," TOLERATION(A_IS_B))),
                          turned[] = POLICY("PickAll",
                                            TOLERATIONS(TOLERATION(A_IS_B) ",{\"operator\":\"Exists\"}"));
        AUTO_HUB struct hub *h = hub_new();

        assert_true(may_change(h, none, one));
        assert_true(may_change(h, one, two));
        assert_true(may_change(h, two, turned));
        assert_false(may_change(h, two, one));
        assert_string_equal(h->message,
                            "tolerations have been updated/deleted, only additions to tolerations "
                            "are allowed");
        assert_false(may_change(h, one, none));
        assert_false(may_change(h, one, other));
        assert_false(may_change(h, one, SPEC(NS, "")));
}

#define INVALID(meta, number)                                                                                \
        "{\"metadata\":{\"name\":\"web\"" meta "},\"spec\":{\"resourceSelectors\":[" NS                      \
        "],\"policy\":{\"placementType\":\"PickAll\",\"numberOfClusters\":" number "}}}"
#define GOING ",\"finalizers\":[\"a/b\"],\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""

/* spec/membership-webhooks-charts.md checklist 24 */
static void what_was_invalid_before_changes_only_while_it_goes(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        assert_false(may_change(h, INVALID("", "1"), INVALID("", "2")));
        assert_says(h, "deny update on old invalid v1beta1 CRP with DeletionTimestamp not set the placement "
                       "policy field is invalid: number of clusters must be nil for policy type PickAll");
        assert_false(may_change(h, INVALID("", "1"), POLICY("PickAll", "")));
        assert_true(may_change(h, INVALID(GOING, "1"), INVALID(GOING, "2")));
        assert_string_equal(h->message, "allow update on old invalid v1beta1 CRP with DeletionTimestamp set");
}

/* A definition may go that a selector names; the agents' finalizers must come and go all the same, also when
 * the webhook of the defaults filled the spec on the way. */
static void an_update_of_metadata_is_let_in_whatever_the_spec(void **state)
{
        static const char gadget[] = SPEC(OF("example.com", "v1", "Gadget", ""), ""),
                          labelled[] =
                                  "{\"metadata\":{\"name\":\"web\",\"finalizers\":[\"a/b\"]},\"spec\":"
                                  "{\"policy\":{\"placementType\":\"PickAll\"},\"revisionHistoryLimit\":10,"
                                  "\"resourceSelectors\":[" OF("example.com", "v1", "Gadget", "") "]}}",
                          changed[] =
                                  SPEC(OF("example.com", "v1", "Gadget", ""), ",\"revisionHistoryLimit\":7");
        AUTO_HUB struct hub *h = hub_new();

        assert_true(may_change(h, gadget, labelled));
        assert_false(may_change(h, gadget, changed));
        assert_true(may_change(h, INVALID("", "1"), INVALID(",\"labels\":{\"a\":\"b\"}", "1")));
}

static void what_cannot_be_decoded_is_an_error(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        assert_false(ask(h, &(struct question){ CRP_PATH, .object = "{\"spec\":[]}" }));
        assert_int_equal(h->code, 400);
        assert_false(may_change(h, "{\"spec\":[]}", SPEC(NS, "")));
        assert_int_equal(h->code, 400);
        assert_false(may_change(h, NULL, SPEC(NS, "")));
        assert_int_equal(h->code, 400);
        assert_true(ask(h, &(struct question){ CRP_PATH, "DELETE", .old = SPEC(NS, "") }));
}

/* However much is wrong, it is told in bounds. */
static void only_so_many_faults_are_told(void **state)
{
        AUTO_HUB struct hub *h = hub_new();
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        buf_append_str(&b, "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"resourceSelectors\":[");
        for (int i = 0; i < 300; i++)
                buf_printf(&b, "%s{\"group\":\"g%d\",\"version\":\"v1\",\"kind\":\"ConfigMap\"}",
                           i ? "," : "", i);
        buf_append_str(&b, "]}}");
        assert_false(ask(h, &(struct question){ CRP_PATH, .object = b.data }));
        assert_says(h, "g0/v1, Kind=ConfigMap, ");
        assert_says(h, "g99/v1, Kind=ConfigMap, and 200 more]");
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(selectors_that_select_nothing_are_refused),
                cmocka_unit_test(kinds_of_the_other_scope_are_refused),
                cmocka_unit_test(nothing_more_is_said_of_a_placement_with_an_unknown_kind),
                cmocka_unit_test(faults_are_told_in_order),
                cmocka_unit_test(one_fault_is_told_of_a_label_selector),
                cmocka_unit_test(a_scope_that_cannot_be_told_asks_for_another_try),
                cmocka_unit_test(policies_say_nothing_of_other_types),
                cmocka_unit_test(terms_ask_for_what_their_place_allows),
                cmocka_unit_test(tolerations_that_are_no_good_are_refused),
                cmocka_unit_test(strategies_that_nobody_could_follow_are_refused),
                cmocka_unit_test(the_type_of_a_placement_stays),
                cmocka_unit_test(tolerations_can_be_added_alone),
                cmocka_unit_test(what_was_invalid_before_changes_only_while_it_goes),
                cmocka_unit_test(an_update_of_metadata_is_let_in_whatever_the_spec),
                cmocka_unit_test(what_cannot_be_decoded_is_an_error),
                cmocka_unit_test(only_so_many_faults_are_told),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
