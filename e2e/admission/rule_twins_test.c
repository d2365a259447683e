/* One rule in two places: what the webhooks say of one object, and what the policies say that can stand for
 * them. Random objects are put to both: what a policy refuses the webhook refuses too, in the same words. The
 * webhooks say more. */
#include "e2e/admission/chart_policies.h"
#include "e2e/admission/judge.h"
#include "hub-agent/webhook/webhook_test.h"
#include "proto/test_documents.h"

#define REQUESTS 20000
#define PICK(dice, list) ((list)[roll((dice), ARRAY_LEN(list))])
#define CUT "..." /* what a policy cannot print */

static const char long_part[] = "a23456789-123456789-123456789-123456789-123456789-123456789-123x";

struct twins {
        struct arena arena;
        struct judge *at[8];
        json_t *docs[16];
};

static void twins_compile(struct twins *t)
{
        static const struct chart_policy_options none = { 0 };
        struct error err = { 0 };

        for (size_t i = 0; i < n_rule_policies; i++) {
                const struct chart_policy *p = &rule_policies[i];
                json_t **docs = &t->docs[2 * i];

                assert_int_equal(chart_policy_make(p, &none, &docs[0], &err), 0);
                assert_int_equal(chart_policy_binding(p, p->bindings[0], &docs[1], &err), 0);
                if (judge_compile(&t->arena, docs[0], (const json_t *const *)&docs[1], 1, &t->at[i], &err) <
                    0)
                        fail_msg("%s", err.text);
        }
}

static void twins_free(struct twins *t)
{
        for (size_t i = 0; i < ARRAY_LEN(t->docs); i++)
                json_decref(t->docs[i]);
        arena_free(&t->arena);
}
#define AUTO_TWINS CLEANUP(twins_free)

/* ---- objects ---- */

struct sort {
        const char *path, *group, *version, *resource, *kind;
        bool namespaced, updated;
        json_t *(*make)(struct dice *d);
};

static const char *any_name(struct dice *d)
{
        static const char *const names[] = { "env",   "example.com/env", "a b", "-", "/a",      "a/", "a/b/c",
                                             "A.b/c", "A_b.c",           "x",   "ä", long_part, "m1", "" };

        return PICK(d, names);
}

static const char *any_value(struct dice *d)
{
        static const char *const values[] = { "", "prod", "prod", "-x", "a b", "x.y_z", "ä", long_part };

        return PICK(d, values);
}

static json_t *random_taint(struct dice *d)
{
        json_t *t = json_pack("{s:s,s:s}", "key", roll(d, 2) ? "a" : any_name(d), "effect", "NoSchedule");

        if (roll(d, 2))
                json_object_set_new(t, "value", json_string(any_value(d)));
        return t;
}

static json_t *some_of(struct dice *d, uint32_t most, json_t *(*make)(struct dice *d))
{
        json_t *list = json_array();

        for (uint32_t n = roll(d, most + 1); n > 0; n--)
                json_array_append_new(list, make(d));
        return list;
}

static json_t *random_member(struct dice *d)
{
        return json_pack("{s:{s:s},s:{s:{s:s,s:s},s:o}}", "metadata", "name", "m1", "spec", "identity",
                         "kind", "User", "name", "a", "taints", some_of(d, 3, random_taint));
}

static json_t *random_labels(struct dice *d)
{
        return json_pack("{s:{s:s}}", "matchLabels", roll(d, 4) ? "a" : "a b", "x");
}

static json_t *random_term(struct dice *d)
{
        json_t *t = json_object();

        if (roll(d, 8))
                json_object_set_new(t, "labelSelector", random_labels(d));
        if (roll(d, 12) == 0)
                json_object_set_new(t, "propertySorter",
                                    json_pack("{s:s,s:s}", "name", "p", "sortOrder", "Ascending"));
        if (roll(d, 12) == 0)
                json_object_set_new(t, "propertySelector", json_pack("{s:[]}", "matchExpressions"));
        return t;
}

static json_t *random_operation(struct dice *d)
{
        static const char *const paths[] = { "/spec/replicas", "/data/a", "/metadata/labels/a",
                                             "/a//b",          "/a/",     "/" };
        json_t *o = json_pack("{s:s,s:s}", "op", roll(d, 3) ? "add" : "remove", "path",
                              roll(d, 2) ? "/data/b" : PICK(d, paths));

        if (roll(d, 4))
                json_object_set_new(o, "value", json_integer(1));
        return o;
}

static json_t *random_rule(struct dice *d)
{
        json_t *r = json_pack("{s:s}", "overrideType", roll(d, 4) ? "JSONPatch" : "Delete");

        if (roll(d, 3))
                json_object_set_new(r, "clusterSelector",
                                    json_pack("{s:o}", "clusterSelectorTerms", some_of(d, 2, random_term)));
        if (roll(d, 8) == 0)
                json_object_del(r, "overrideType"); /* as one that was there before the definition had it */
        if (strcmp(or_empty(doc_get_string(r, "overrideType")), "Delete") == 0 ? !roll(d, 4) : roll(d, 8))
                json_object_set_new(r, "jsonPatchOverrides", some_of(d, 3, random_operation));
        return r;
}

static json_t *random_selector(struct dice *d)
{
        json_t *s = json_pack("{s:s,s:s,s:s}", "group", "", "version", "v1", "kind", roll(d, 2) ? "A" : "B");

        if (roll(d, 8))
                json_object_set_new(s, "name", json_string(roll(d, 3) ? "x" : roll(d, 4) ? "y" : ""));
        return s;
}

static json_t *random_cluster_selector(struct dice *d)
{
        json_t *s = random_selector(d);

        if (roll(d, 16) == 0)
                json_object_set_new(s, "labelSelector", random_labels(d));
        if (roll(d, 4) == 0)
                json_object_set_new(s, "selectionScope", json_string("NamespaceOnly"));
        return s;
}

static json_t *override_of(struct dice *d, const char *key, json_t *selectors)
{
        return json_pack("{s:{s:s},s:{s:o,s:{s:o}}}", "metadata", "name", "o", "spec", key, selectors,
                         "policy", "overrideRules", some_of(d, 2, random_rule));
}

static json_t *random_cluster_override(struct dice *d)
{
        return override_of(d, "clusterResourceSelectors", some_of(d, 2, random_cluster_selector));
}

static json_t *random_own_override(struct dice *d)
{
        json_t *o = override_of(d, "resourceSelectors", some_of(d, 2, random_selector));

        json_object_set_new(json_object_get(o, "metadata"), "namespace", json_string("web"));
        return o;
}

static json_t *random_toleration(struct dice *d)
{
        bool equal = roll(d, 2);
        json_t *t = json_pack("{s:s,s:s}", "operator", equal ? "Equal" : "Exists", "key",
                              roll(d, 2) ? "a" : any_name(d));

        if (equal && !*doc_get_string(t, "key"))
                json_object_set_new(t, "key", json_string("a")); /* the definition says so */
        if (equal && roll(d, 2))
                json_object_set_new(t, "value", json_string(any_value(d)));
        return t;
}

static json_t *cluster_name(struct dice *d)
{
        return json_string(roll(d, 3) ? roll(d, 2) ? "m1" : "m2" : any_name(d));
}

static json_t *random_policy(struct dice *d)
{
        if (roll(d, 2))
                return json_pack("{s:s,s:o}", "placementType", "PickFixed", "clusterNames",
                                 some_of(d, 3, cluster_name));
        return json_pack("{s:s,s:o}", "placementType", "PickAll", "tolerations",
                         some_of(d, 2, random_toleration));
}

static json_t *random_strategy(struct dice *d)
{
        json_t *s = json_pack("{s:s}", "type", roll(d, 3) ? "RollingUpdate" : "External");

        if (roll(d, 3) == 0)
                json_object_set_new(s, "rollingUpdate", json_pack("{s:i}", "maxSurge", (int)roll(d, 2)));
        if (roll(d, 3) == 0)
                json_object_set_new(
                        s, "applyStrategy",
                        json_pack("{s:s}", "type", roll(d, 2) ? "ServerSideApply" : "ClientSideApply"));
        if (roll(d, 3) == 0 && json_object_get(s, "applyStrategy"))
                json_object_set_new(json_object_get(s, "applyStrategy"), "serverSideApplyConfig",
                                    json_pack("{s:b}", "force", 0));
        return s;
}

static json_t *random_placement(struct dice *d)
{
        json_t *p = json_pack("{s:{s:s},s:{s:[{s:s,s:s,s:s,s:s}]}}", "metadata", "name", "p", "spec",
                              "resourceSelectors", "group", "", "version", "v1", "kind", "Namespace", "name",
                              "web");

        if (roll(d, 4))
                json_object_set_new(json_object_get(p, "spec"), "policy", random_policy(d));
        if (roll(d, 3) == 0)
                json_object_set_new(json_object_get(p, "spec"), "strategy", random_strategy(d));
        return p;
}

static json_t *random_own_placement(struct dice *d)
{
        json_t *p = random_placement(d);

        json_object_set_new(json_object_get(p, "metadata"), "namespace", json_string("web"));
        json_object_set_new(json_array_get(doc_get_array(p, "spec.resourceSelectors"), 0), "kind",
                            json_string("ConfigMap"));
        return p;
}

static json_t *workload(struct dice *d)
{
        return roll(d, 3) ? json_pack("{s:{s:s}}", "metadata", "name", "x")
                          : json_pack("{s:{s:s}}", "metadata", "generateName", "x-");
}

#define PLACEMENT "placement.kubernetes-fleet.io", "v1beta1"
static const struct sort sorts[] = {
        { "/validate-cluster.kubernetes-fleet.io-v1beta1-membercluster", "cluster.kubernetes-fleet.io",
          "v1beta1", "memberclusters", "MemberCluster", false, true, random_member },
        { PLACEMENT_PATH("validate", "clusterresourceoverride"), PLACEMENT, "clusterresourceoverrides",
          "ClusterResourceOverride", false, true, random_cluster_override },
        { PLACEMENT_PATH("validate", "resourceoverride"), PLACEMENT, "resourceoverrides", "ResourceOverride",
          true, true, random_own_override },
        { CRP_PATH, PLACEMENT, "clusterresourceplacements", "ClusterResourcePlacement", false, true,
          random_placement },
        { PLACEMENT_PATH("validate", "resourceplacement"), PLACEMENT, "resourceplacements",
          "ResourcePlacement", true, true, random_own_placement },
        { "/validate--v1-pod", "", "v1", "pods", "Pod", true, false, workload },
        { "/validate-apps-v1-replicaset", "apps", "v1", "replicasets", "ReplicaSet", true, false, workload },
        { "/validate-policy-v1-poddisruptionbudget", "policy", "v1", "poddisruptionbudgets",
          "PodDisruptionBudget", true, false, workload },
};

/* ---- both ---- */

static bool policies_let_in(struct hub *h, const struct twins *t, const struct sort *s, struct question *q,
                            const json_t *object, const json_t *old, const char **ret_message)
{
        AUTO_JSON json_t *labels = json_pack("{s:s}", "kubernetes.io/metadata.name", or_empty(q->ns));
        AUTO_JSON json_t *request =
                json_pack("{s:{s:s,s:s,s:s},s:s,s:s,s:{s:s}}", "kind", "group", s->group, "version",
                          s->version, "kind", s->kind, "operation", q->operation, "namespace",
                          or_empty(q->ns), "userInfo", "username", "alice");
        const struct judge_case c = { .operation = q->operation,
                                      .group = s->group,
                                      .version = s->version,
                                      .resource = s->resource,
                                      .subresource = "",
                                      .ns = or_empty(q->ns),
                                      .name = "x",
                                      .request = request,
                                      .object = object,
                                      .old = old,
                                      .namespace_labels = labels };
        size_t concerned = 0;
        bool allowed = true;

        for (size_t i = 0; i < n_rule_policies; i++) {
                struct judge_answer answer;
                struct error err = { 0 };

                if (judge_ask(t->at[i], &c, &h->arena, &answer, &err) < 0)
                        fail_msg("%s: %s", err.text, q->object);
                concerned += answer.concerned;
                if (!answer.allowed)
                        *ret_message = answer.message;
                allowed = allowed && answer.allowed;
        }
        assert_true(concerned == 1 || (concerned == 0 && strcmp(or_empty(q->ns), "fleet-system") == 0));
        return allowed;
}

/* As far as a policy can print it. */
static void assert_told(const char *webhook, const char *policy)
{
        struct slice rest = slice_of(policy), part;
        const char *cut = strstr(policy, CUT);
        size_t len = cut ? (size_t)(cut - policy) : rest.len;

        part = (struct slice){ policy, len };
        if (!memmem(webhook, strlen(webhook), part.data, part.len) ||
            (cut && !strstr(webhook, cut + strlen(CUT))))
                fail_msg("the policy says \"%s\", the webhook \"%s\"", policy, webhook);
}

/* What an update of an invalid placement is told is what was wrong before. */
static bool tells_of_before(const struct hub *h)
{
        return strncmp(h->message, "deny update on old invalid", strlen("deny update on old invalid")) == 0;
}

static void compare(struct hub *h, const struct twins *t, struct dice *d, size_t refused[2])
{
        static const char *const spaces[] = { "web",    "default", "fleet-system",
                                              "kube-x", "fleet",   "kubernetes" };
        const struct sort *s = &PICK(d, sorts);
        AUTO_JSON json_t *object = s->make(d), *old = s->updated && roll(d, 3) == 0 ? s->make(d) : NULL;
        const char *message = NULL;
        struct question q = { .path = s->path, .group = s->group, .version = s->version, .kind = s->kind };

        if (old && roll(d, 3) == 0) {
                json_object_set_new(object, "spec", json_deep_copy(json_object_get(old, "spec")));
                if (strstr(s->resource, "placement") && roll(d, 2)) /* a default that comes on the way */
                        json_object_set_new(json_object_get(object, "spec"), "revisionHistoryLimit",
                                            json_integer(10));
        }
        if (old && roll(d, 4) == 0)
                json_object_set_new(json_object_get(object, "metadata"), "deletionTimestamp",
                                    json_string("2026-01-01T00:00:00Z"));
        q.operation = old ? "UPDATE" : "CREATE";
        q.ns = !s->namespaced ? NULL : s->updated ? "web" : PICK(d, spaces);
        q.object = text_of(&h->arena, object).data;
        q.old = old ? text_of(&h->arena, old).data : NULL;
        if (policies_let_in(h, t, s, &q, object, old, &message)) {
                ask(h, &q);
                refused[0] += !h->allowed;
                assert_true(h->allowed || s->updated); /* of workloads a policy says all */
                return;
        }
        refused[1]++;
        if (ask(h, &q))
                fail_msg("the policy says \"%s\", the webhook lets in %s (was %s)", message, q.object,
                         or_empty(q.old));
        assert_int_equal(h->code, 403);
        if (!s->updated)
                assert_string_equal(h->message, message);
        if (!tells_of_before(h) && strcmp(h->message, "placement type is immutable") != 0 &&
            !strstr(h->message, "tolerations have been updated/deleted"))
                assert_told(h->message, message);
}

static void what_a_policy_refuses_the_webhook_refuses_too_in_the_same_words(void **state)
{
        AUTO_TWINS struct twins t = { 0 };
        struct dice dice = { 23 };
        size_t refused[2] = { 0 };

        twins_compile(&t);
        for (size_t i = 0; i < REQUESTS; i++) {
                AUTO_HUB struct hub *h = hub_new();

                compare(h, &t, &dice, refused);
        }
        assert_true(refused[1] > REQUESTS / 4 && refused[0] < refused[1] / 4);
}

/* ---- the biggest ---- */

#define PREFIX                                                                                               \
        "a23456789-123456789-123456789-123456789-123456789-123456789-123.b23456789-123456789-123456789-"     \
        "123456789-123456789-123456789-123.c23456789-123456789-123456789-123456789-123456789-123456789-123"

static json_t *many(int n, json_t *(*make)(int i))
{
        json_t *list = json_array();

        for (int i = 0; i < n; i++)
                json_array_append_new(list, make(i));
        return list;
}

static json_t *long_name(int i)
{
        return json_sprintf("a23456789-123456789-123456789-123456789-123456789-123456789-%03d", i);
}

static json_t *long_mark(int i)
{
        return json_pack("{s:o,s:s,s:s,s:s}", "key",
                         json_sprintf(PREFIX "/a23456789-123456789-123456789-123456789-123456789-%03d", i),
                         "operator", "Equal", "value",
                         "a23456789-123456789-123456789-123456789-123456789-123456789-123", "effect",
                         "NoSchedule");
}

static json_t *long_selector(int i)
{
        return json_pack("{s:s,s:s,s:s,s:o}", "group", PREFIX, "version", "v1", "kind", "A", "name",
                         json_sprintf(PREFIX "%d", i));
}

static json_t *long_operation(int i)
{
        return json_pack("{s:s,s:o,s:s}", "op", "add", "path", json_sprintf("/data/" PREFIX PREFIX "%d", i),
                         "value", PREFIX);
}

static json_t *labelled_term(int i)
{
        return json_pack("{s:{s:{s:s}}}", "labelSelector", "matchLabels", "a", "b");
}

static json_t *long_rule(int i)
{
        return json_pack("{s:s,s:{s:o},s:o}", "overrideType", "JSONPatch", "clusterSelector",
                         "clusterSelectorTerms", many(10, labelled_term), "jsonPatchOverrides",
                         many(20, long_operation));
}

static json_t *biggest(const struct sort *s, bool fixed)
{
        json_t *spec;

        if (s->make == random_member)
                spec = json_pack("{s:o}", "taints", many(100, long_mark));
        else if (s->make == random_placement)
                spec = fixed ? json_pack("{s:{s:s,s:o}}", "policy", "placementType", "PickFixed",
                                         "clusterNames", many(100, long_name))
                             : json_pack("{s:{s:s,s:o}}", "policy", "placementType", "PickAll", "tolerations",
                                         many(100, long_mark));
        else
                spec = json_pack("{s:o,s:{s:o}}", "clusterResourceSelectors", many(20, long_selector),
                                 "policy", "overrideRules", many(20, long_rule));
        return json_pack("{s:{s:s},s:o}", "metadata", "name", "x", "spec", spec);
}

/* Else a policy would have no opinion of what the definition lets through. */
static void the_biggest_objects_are_judged_within_the_budget(void **state)
{
        AUTO_TWINS struct twins t = { 0 };
        AUTO_HUB struct hub *h = hub_new();
        static const struct {
                size_t sort;
                bool fixed;
        } rows[] = { { 0, false }, { 1, false }, { 3, true }, { 3, false } };

        twins_compile(&t);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct sort *s = &sorts[rows[i].sort];
                AUTO_JSON json_t *object = biggest(s, rows[i].fixed);
                struct question q = { .operation = "CREATE", .object = s->resource };
                const char *message = NULL;

                if (!policies_let_in(h, &t, s, &q, object, NULL, &message))
                        fail_msg("%s: %s", s->resource, message);
        }
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_a_policy_refuses_the_webhook_refuses_too_in_the_same_words),
                cmocka_unit_test(the_biggest_objects_are_judged_within_the_budget),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
