/* One rule in three places: the definition's CEL, the webhook, and the scheduler that meets what came in
 * before there was either. Random placements, most of them wrong somewhere, are put to all of them. */
#include "common/json/schema.h"
#include "hub-agent/scheduler/framework.h"
#include "hub-agent/webhook/webhook_test.h"
#include "proto/test_documents.h"

#define PLACEMENTS 4000
#define PICK(dice, list) ((list)[roll((dice), ARRAY_LEN(list))])

static const char *const keys[] = { "env", "example.com/env", "a b", "-", "a/b/c", "A_b.c" };
static const char *const values[] = { "prod", "", "-x", "a b", "x.y_z" };
static const char *const properties[] = { "kubernetes-fleet.io/node-count",
                                          "resources.kubernetes-fleet.io/total-cpu",
                                          "resources.kubernetes-fleet.io/free-cpu",
                                          "resources.kubernetes-fleet.io/cpu",
                                          "p",
                                          "_p",
                                          "a/b/c",
                                          "a//b" };
static const char *const amounts[] = { "1", "2", "1000m", "1Ki", "1024", "much", "-3" };
static const char *const comparisons[] = { "Gt", "Ge", "Lt", "Le", "Eq", "Ne", "In" };
static const char *const label_operators[] = { "In", "NotIn", "Exists", "DoesNotExist", "Like" };

static json_t *random_labels(struct dice *d)
{
        json_t *e;

        if (roll(d, 2))
                return json_pack("{s:{s:s}}", "matchLabels", PICK(d, keys), PICK(d, values));
        e = json_pack("{s:s,s:s}", "key", PICK(d, keys), "operator", PICK(d, label_operators));
        if (roll(d, 2))
                json_object_set_new(e, "values", json_pack("[s]", PICK(d, values)));
        return json_pack("{s:[o]}", "matchExpressions", e);
}

static json_t *random_properties(struct dice *d)
{
        json_t *list = json_array();

        for (uint32_t n = 1 + roll(d, 3); n > 0; n--)
                json_array_append_new(list,
                                      json_pack("{s:s,s:s,s:[s]}", "name", PICK(d, properties), "operator",
                                                PICK(d, comparisons), "values", PICK(d, amounts)));
        return json_pack("{s:o}", "matchExpressions", list);
}

static json_t *random_sorter(struct dice *d)
{
        return json_pack("{s:s,s:s}", "name", PICK(d, properties), "sortOrder",
                         roll(d, 4) ? "Ascending" : "Sideways");
}

static json_t *random_term(struct dice *d)
{
        json_t *term = json_object();

        if (roll(d, 2))
                json_object_set_new(term, "labelSelector", random_labels(d));
        if (roll(d, 3) == 0)
                json_object_set_new(term, "propertySelector", random_properties(d));
        if (roll(d, 3) == 0)
                json_object_set_new(term, "propertySorter", random_sorter(d));
        return term;
}

static json_t *random_affinity(struct dice *d)
{
        json_t *a = json_object();

        if (roll(d, 2))
                json_object_set_new(a, "requiredDuringSchedulingIgnoredDuringExecution",
                                    json_pack("{s:[o]}", "clusterSelectorTerms", random_term(d)));
        if (roll(d, 2))
                json_object_set_new(a, "preferredDuringSchedulingIgnoredDuringExecution",
                                    json_pack("[{s:i,s:o}]", "weight", 5, "preference", random_term(d)));
        return json_pack("{s:o}", "clusterAffinity", a);
}

static json_t *random_toleration(struct dice *d)
{
        json_t *t = json_object();

        if (roll(d, 3))
                json_object_set_new(t, "key", json_string(PICK(d, keys)));
        if (roll(d, 3))
                json_object_set_new(t, "operator", json_string(roll(d, 2) ? "Exists" : "Equal"));
        if (roll(d, 2))
                json_object_set_new(t, "value", json_string(PICK(d, values)));
        return t;
}

static json_t *random_policy(struct dice *d)
{
        static const char *const types[] = { "PickAll", "PickN", "PickN", "PickFixed" };
        json_t *p = json_pack("{s:s}", "placementType", PICK(d, types));

        if (roll(d, 3) == 0)
                json_object_set_new(p, "clusterNames", json_pack("[s]", roll(d, 3) ? "m1" : "M_1"));
        if (roll(d, 2))
                json_object_set_new(p, "numberOfClusters", json_integer((json_int_t)roll(d, 4) - 1));
        if (roll(d, 2))
                json_object_set_new(p, "affinity", random_affinity(d));
        if (roll(d, 4) == 0)
                json_object_set_new(p, "topologySpreadConstraints",
                                    json_pack("[{s:s}]", "topologyKey", "zone"));
        if (roll(d, 4) == 0)
                json_object_set_new(p, "tolerations",
                                    json_pack("[o,o]", random_toleration(d), random_toleration(d)));
        return p;
}

static json_t *random_strategy(struct dice *d)
{
        static const char *const shares[] = { "25%", "0%", "25", "-5%", "x%" };
        json_t *s = json_object();

        if (roll(d, 2))
                json_object_set_new(s, "type", json_string(roll(d, 3) ? "RollingUpdate" : "External"));
        if (roll(d, 3) == 0)
                json_object_set_new(s, "rollingUpdate",
                                    json_pack("{s:s,s:i}", "maxUnavailable", PICK(d, shares), "maxSurge",
                                              (int)roll(d, 4) - 1));
        return s;
}

static json_t *random_placement(struct dice *d)
{
        return json_pack("{s:{s:s},s:{s:[{s:s,s:s,s:s}],s:o,s:o}}", "metadata", "name", "web", "spec",
                         "resourceSelectors", "group", "", "version", "v1", "kind", "Namespace", "policy",
                         random_policy(d), "strategy", random_strategy(d));
}

static const struct schema *schema_of_placements(struct arena *arena)
{
        const struct schema *schema = NULL;
        struct error err = { 0 };

        for (size_t i = 0; i < n_crd_texts; i++) {
                AUTO_JSON json_t *crd = NULL;
                json_t *v;
                size_t k;

                if (!text_equal(crd_texts[i].name, "clusterresourceplacements.placement.kubernetes-fleet.io"))
                        continue;
                crd = json_of(crd_texts[i].json);
                json_array_foreach(doc_get_array(crd, "spec.versions"), k, v)
                        if (text_equal(doc_get_string(v, "name"), "v1beta1") &&
                            schema_from_crd(arena, doc_get(v, "schema.openAPIV3Schema"), &schema, &err) < 0)
                                fail_msg("%s", err.text);
        }
        assert_non_null(schema);
        return schema;
}

/* Bounds of single values are the definition's alone. */
static bool is_a_rule_of_both(const char *message)
{
        static const char *const both[] = {
                "cannot be set when placementType is",
                "must be set when placementType is PickN",
                "value must be empty when operator is Exists",
                "operator must be Exists when key is empty",
                "values must be specified when operator is In",
                "a resource property name must be",
                "PropertySorter is not allowed",
                "PropertySelector is not allowed",
                "PreferredDuringSchedulingIgnoredDuringExecution will be ignored"
        };

        for (size_t i = 0; i < ARRAY_LEN(both); i++)
                if (strstr(message, both[i]))
                        return true;
        return false;
}

static const char *refused_by_rule(const struct schema *schema, const json_t *doc, struct arena *arena)
{
        struct schema_problems problems = { .arena = arena };
        struct error err = { 0 };

        if (schema_validate(schema, doc, NULL, &problems, &err) < 0)
                fail_msg("%s", err.text);
        for (size_t i = 0; i < problems.n; i++)
                if (is_a_rule_of_both(problems.at[i].message))
                        return problems.at[i].message;
        return NULL;
}

static const char *refused_by_scheduler(const json_t *doc, struct arena *arena)
{
        const char *why = NULL;
        struct error err = { 0 };
        struct object *o;

        assert_int_equal(object_from_doc(&cluster_resource_placement_kind, doc, arena, &o, &err), 0);
        assert_int_equal(policy_problem(arena, ((struct placement *)o)->spec->policy, &why), 0);
        return why;
}

static void what_one_place_refuses_the_webhook_refuses_too(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct schema *schema = schema_of_placements(&arena);
        size_t refused = 0, let_in = 0;
        struct dice dice = { 17 };

        for (size_t i = 0; i < PLACEMENTS; i++) {
                AUTO_HUB struct hub *h = hub_new();
                AUTO_JSON json_t *doc = random_placement(&dice);
                const char *rule, *why, *text;
                struct error err = { 0 };

                assert_int_equal(schema_apply_defaults(schema, doc, &err), 0);
                text = text_of(&h->arena, doc).data;
                rule = refused_by_rule(schema, doc, &h->arena);
                why = refused_by_scheduler(doc, &h->arena);
                if (!ask(h, &(struct question){ CRP_PATH, .object = text })) {
                        refused++;
                        continue;
                }
                let_in++;
                if (rule)
                        fail_msg("the definition says \"%s\" of %s", rule, text);
                if (why)
                        fail_msg("the scheduler says \"%s\" of %s", why, text);
        }
        assert_true(refused > PLACEMENTS / 2 && let_in > PLACEMENTS / 50);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_one_place_refuses_the_webhook_refuses_too),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
