/* One rule in two places: the guard rail as a webhook, and as the policies of the chart that hold while no
 * agent answers. Random requests are put to both: they agree, and refuse in the same words. */
#include "e2e/admission/chart_policies.h"
#include "e2e/admission/judge.h"
#include "hub-agent/membership/membership.h"
#include "hub-agent/webhook/webhook_test.h"
#include "proto/test_documents.h"

#define REQUESTS 20000
#define PICK(dice, list) ((list)[roll((dice), ARRAY_LEN(list))])

/* ---- the policies ---- */

#define POLICIES_MAX 8

struct twins {
        struct arena arena;
        struct judge *at[POLICIES_MAX];
        json_t *docs[POLICIES_MAX * 3];
        size_t n_docs;
};

static const char *const whitelist[] = { "trusted", NULL };

static void compile_one(struct twins *t, size_t i, bool fixed_labels)
{
        const struct chart_policy_options options = { whitelist, fixed_labels };
        const struct chart_policy *g = &guard_policies[i];
        json_t **docs = &t->docs[t->n_docs];
        struct error err = { 0 };
        size_t n = 1;

        assert_int_equal(chart_policy_make(g, &options, &docs[0], &err), 0);
        for (; g->bindings[n - 1]; n++)
                assert_int_equal(chart_policy_binding(g, g->bindings[n - 1], &docs[n], &err), 0);
        t->n_docs += n;
        if (judge_compile(&t->arena, docs[0], (const json_t *const *)&docs[1], n - 1, &t->at[i], &err) < 0)
                fail_msg("%s", err.text);
}

static void twins_compile(struct twins *t, bool fixed_labels)
{
        for (size_t i = 0; i < n_guard_policies; i++)
                compile_one(t, i, fixed_labels);
}

static void twins_free(struct twins *t)
{
        for (size_t i = 0; i < t->n_docs; i++)
                json_decref(t->docs[i]);
        arena_free(&t->arena);
}
#define AUTO_TWINS CLEANUP(twins_free)

/* ---- a request ---- */

struct asked {
        const char *operation, *group, *version, *resource, *subresource, *kind, *ns, *name, *user;
        json_t *groups, *object, *old;
        const char *identity_kind, *identity, *identity_ns; /* of the member m1 */
        bool labelled;                                      /* the namespace is the fleet's */
        bool unnamed;                                       /* the request does not say the name */
};

static void asked_free(struct asked *a)
{
        json_decref(a->groups);
        json_decref(a->object);
        json_decref(a->old);
}
#define AUTO_ASKED CLEANUP(asked_free)

/* A collection that is deleted comes item by item, and the request has no name. */
static const char *name_in_request(const struct asked *a)
{
        return a->unnamed ? "" : a->name;
}

static json_t *request_doc(const struct asked *a)
{
        json_t *doc =
                json_pack("{s:{s:s,s:s,s:s},s:{s:s,s:s,s:s},s:s,s:{s:s,s:O},s:b}", "kind", "group", a->group,
                          "version", a->version, "kind", a->kind, "resource", "group", a->group, "version",
                          a->version, "resource", a->resource, "operation", a->operation, "userInfo",
                          "username", a->user, "groups", a->groups, "dryRun", 0);
        const char *const texts[][2] = { { "name", name_in_request(a) },
                                         { "namespace", a->ns },
                                         { "subResource", a->subresource } };

        assert_non_null(doc);
        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
                if (*texts[i][1])
                        json_object_set_new(doc, texts[i][0], json_string(texts[i][1]));
        return doc;
}

static json_t *labels_of_namespace(const struct asked *a)
{
        json_t *labels = json_pack("{s:s}", "kubernetes.io/metadata.name", a->ns);

        if (a->labelled)
                json_object_set_new(labels, "kubernetes-fleet.io/is-fleet-resource", json_string("true"));
        return labels;
}

static json_t *member_doc(const struct asked *a)
{
        json_t *identity = json_pack("{s:s,s:s}", "kind", a->identity_kind, "name", a->identity);

        if (*a->identity_ns)
                json_object_set_new(identity, "namespace", json_string(a->identity_ns));
        return json_pack("{s:{s:s},s:{s:o}}", "metadata", "name", "m1", "spec", "identity", identity);
}

/* As the agent makes it for the MemberCluster. */
static json_t *role_binding(struct hub *h, const struct asked *a)
{
        AUTO_JSON json_t *doc = member_doc(a);
        struct error err = { 0 };
        struct object *o;

        assert_int_equal(object_from_doc(&member_cluster_kind, doc, &h->arena, &o, &err), 0);
        return member_role_binding_doc((const struct member_cluster *)o);
}

/* ---- what the policies say ---- */

/* True if it is let in; else *ret_message is why. */
static bool policies_let_in(struct hub *h, const struct twins *t, const struct asked *a,
                            const char **ret_message)
{
        AUTO_JSON json_t *labels = labels_of_namespace(a), *params = role_binding(h, a);
        AUTO_JSON json_t *request = request_doc(a);
        const struct judge_case c = {
                a->operation, a->group,  a->version, a->resource, a->subresource, a->ns, name_in_request(a),
                request,      a->object, a->old,     params,      labels,         true
        };
        struct judge_answer answer;
        struct error err = { 0 };

        for (size_t i = 0; i < n_guard_policies; i++) {
                if (judge_ask(t->at[i], &c, &h->arena, &answer, &err) < 0)
                        fail_msg("%s", err.text);
                if (answer.allowed)
                        continue;
                assert_string_equal(answer.reason, "Forbidden");
                *ret_message = answer.message;
                return false;
        }
        return true;
}

/* ---- what the webhooks say ---- */

static bool has_word(const char *words, const char *word)
{
        struct slice rest = slice_of(words), one;
        bool more;

        do {
                more = slice_cut(&rest, ' ', &one);
                if (slice_is(one, word) || slice_is(one, "*") || slice_is(one, "*/*"))
                        return true;
        } while (more);
        return false;
}

static unsigned operation_of(const char *name)
{
        return strcmp(name, "CREATE") == 0   ? ADMISSION_CREATE
               : strcmp(name, "UPDATE") == 0 ? ADMISSION_UPDATE
                                             : ADMISSION_DELETE;
}

static bool is_concerned(struct hub *h, const struct webhook *w, const struct asked *a)
{
        const char *full =
                *a->subresource ? arena_printf(&h->arena, "%s/%s", a->resource, a->subresource) : a->resource;

        if (w->configuration != WEBHOOKS_GUARD_RAIL)
                return false;
        if (w->namespace_label && !(strcmp(w->namespace_label, "kubernetes.io/metadata.name") == 0
                                            ? has_word(w->namespace_values, a->ns)
                                            : a->labelled))
                return false;
        for (size_t i = 0; i < w->n_rules; i++) {
                const struct webhook_rule *r = &w->rules[i];
                bool of_cluster = !*a->ns || strcmp(a->kind, "Namespace") == 0;

                if (r->operations & operation_of(a->operation) && has_word(r->groups, a->group) &&
                    has_word(r->versions, a->version) && has_word(r->resources, full) &&
                    (strcmp(r->scope, "Cluster") == 0) == of_cluster)
                        return true;
        }
        return false;
}

static const char *json_text(struct hub *h, const json_t *doc)
{
        return doc ? text_of(&h->arena, doc).data : NULL;
}

static bool webhooks_let_in(struct hub *h, const struct asked *a)
{
        AUTO_JSON json_t *member = member_doc(a);
        struct question q = { GUARD_PATH, a->operation,       a->group,       a->version, a->kind,
                              a->ns,      name_in_request(a), a->subresource, a->user };
        bool concerned = false;

        for (size_t i = 0; i < n_webhooks; i++)
                concerned |= is_concerned(h, &webhooks[i], a);
        if (!concerned)
                return true;
        h->members[0] = json_text(h, member);
        q.groups = json_text(h, a->groups);
        q.object = json_text(h, a->object);
        q.old = json_text(h, a->old);
        return ask(h, &q);
}

/* ---- random requests ---- */

static void random_user(struct dice *d, struct asked *a)
{
        static const char *const users[] = { "alice",
                                             "alice",
                                             "trusted",
                                             "aks-support",
                                             "system:kube-scheduler",
                                             "agent",
                                             "system:serviceaccount:fleet-system:agent",
                                             "system:serviceaccount:other:agent",
                                             "system:serviceaccount::agent",
                                             "system:serviceaccount:fleet-system:",
                                             "" };
        static const char *const groups[] = { "system:authenticated",
                                              "system:masters",
                                              "kubeadm:cluster-admins",
                                              "system:nodes",
                                              "system:serviceaccounts",
                                              "a",
                                              "b",
                                              "c d",
                                              "e'f" };

        a->user = PICK(d, users);
        a->groups = json_array();
        for (uint32_t n = roll(d, 4) ? roll(d, 3) : roll(d, 14); n > 0; n--)
                json_array_append_new(a->groups,
                                      json_string(roll(d, 3) ? groups[5 + roll(d, 4)] : PICK(d, groups)));
        if (roll(d, 8) == 0)
                json_array_append_new(a->groups, json_string("system:masters"));
        a->identity_kind = roll(d, 2) ? "ServiceAccount" : "User";
        a->identity = roll(d, 8) ? "agent" : "";
        a->identity_ns = roll(d, 3) ? roll(d, 2) ? "fleet-system" : "other" : "";
}

static json_t *named(const char *name)
{
        return *name ? json_pack("{s:{s:s}}", "metadata", "name", name) : json_pack("{s:{}}", "metadata");
}

static const char *const operations[] = { "CREATE", "UPDATE", "DELETE" };

static void random_states(struct asked *a)
{
        a->object = strcmp(a->operation, "DELETE") == 0 ? NULL : named(a->name);
        a->old = strcmp(a->operation, "CREATE") == 0 ? NULL : named(a->name);
}

static void random_definition(struct dice *d, struct asked *a)
{
        static const char *const names[] = { "works.placement.kubernetes-fleet.io",
                                             "x.cluster.kubernetes-fleet.io",
                                             "x.networking.fleet.azure.com",
                                             "clusterprofiles.multicluster.x-k8s.io",
                                             "x.example.com",
                                             "x.y.placement.kubernetes-fleet.io",
                                             "placement.kubernetes-fleet.io",
                                             "none" };

        *a = (struct asked){ .group = "apiextensions.k8s.io",
                             .version = "v1",
                             .ns = "",
                             .resource = "customresourcedefinitions",
                             .kind = "CustomResourceDefinition",
                             .subresource = roll(d, 5) ? "" : "status",
                             .name = PICK(d, names) };
}

static void random_namespace(struct dice *d, struct asked *a)
{
        static const char *const names[] = { "fleet-system",    "fleet-",  "fleet",
                                             "kube-system",     "kube-x",  "default",
                                             "fleet-member-m1", "x-kube-", "kubernetes" };

        *a = (struct asked){ .group = "",
                             .version = "v1",
                             .resource = "namespaces",
                             .kind = "Namespace",
                             .subresource = roll(d, 5) ? "" : "status",
                             .name = PICK(d, names) };
        a->ns = a->name;
        a->labelled = roll(d, 2);
}

/* Everything that the table names, and some that it does not. */
static void random_content(struct dice *d, struct asked *a)
{
        static const struct {
                const char *group, *version, *resource, *subresource, *kind;
        } kinds[] = {
                { "", "v1", "pods", "", "Pod" },
                { "", "v1", "pods", "status", "Pod" },
                { "", "v1", "pods", "eviction", "Eviction" },
                { "", "v1", "secrets", "", "Secret" },
                { "", "v1", "serviceaccounts", "token", "TokenRequest" },
                { "", "v1", "events", "", "Event" },
                { "events.k8s.io", "v1", "events", "", "Event" },
                { "", "v1", "configmaps", "", "ConfigMap" },
                { "apps", "v1", "deployments", "", "Deployment" },
                { "apps", "v1", "deployments", "scale", "Scale" },
                { "apps", "v1", "controllerrevisions", "", "ControllerRevision" },
                { "authorization.k8s.io", "v1", "localsubjectaccessreviews", "", "LocalSubjectAccessReview" },
                { "autoscaling", "v1", "horizontalpodautoscalers", "status", "HorizontalPodAutoscaler" },
                { "batch", "v1", "jobs", "", "Job" },
                { "coordination.k8s.io", "v1", "leases", "", "Lease" },
                { "discovery.k8s.io", "v1", "endpointslices", "", "EndpointSlice" },
                { "networking.k8s.io", "v1", "ingresses", "status", "Ingress" },
                { "policy", "v1", "poddisruptionbudgets", "", "PodDisruptionBudget" },
                { "rbac.authorization.k8s.io", "v1", "rolebindings", "", "RoleBinding" },
                { "storage.k8s.io", "v1", "csistoragecapacities", "", "CSIStorageCapacity" },
                { "example.com", "v1", "things", "", "Thing" },
                { "cluster.kubernetes-fleet.io", "v1beta1", "internalmemberclusters", "",
                  "InternalMemberCluster" },
                { "cluster.kubernetes-fleet.io", "v1beta1", "internalmemberclusters", "status",
                  "InternalMemberCluster" },
                { "placement.kubernetes-fleet.io", "v1beta1", "works", "", "Work" },
                { "placement.kubernetes-fleet.io", "v1beta1", "works", "status", "Work" },
                { "placement.kubernetes-fleet.io", "v1beta1", "resourceoverrides", "", "ResourceOverride" },
                { "networking.fleet.azure.com", "v1alpha1", "endpointsliceexports", "",
                  "EndpointSliceExport" },
                { "networking.fleet.azure.com", "v1alpha1", "endpointsliceimports", "",
                  "EndpointSliceImport" },
                { "networking.fleet.azure.com", "v1alpha1", "internalserviceexports", "status",
                  "InternalServiceExport" },
                { "networking.fleet.azure.com", "v1alpha1", "internalserviceimports", "",
                  "InternalServiceImport" },
        };
        static const char *const spaces[] = { "fleet-system",    "kube-system",    "kube-public",
                                              "kube-node-lease", "default",        "fleet-other",
                                              "fleet-member-m1", "fleet-member-m1" };
        size_t i = roll(d, ARRAY_LEN(kinds));

        *a = (struct asked){ .group = kinds[i].group,
                             .version = kinds[i].version,
                             .resource = kinds[i].resource,
                             .subresource = kinds[i].subresource,
                             .kind = kinds[i].kind,
                             .name = roll(d, 5) ? "x" : "",
                             .ns = PICK(d, spaces) };
        a->labelled = roll(d, 4) ? text_starts_with(a->ns, "fleet-member-") : roll(d, 2);
}

/* ---- MemberClusters ---- */

static json_t *random_words(struct dice *d, const char *const *keys, size_t n)
{
        json_t *map = json_object();

        for (uint32_t i = roll(d, 3); i > 0; i--)
                json_object_set_new(map, keys[roll(d, (uint32_t)n)], json_string(roll(d, 2) ? "1" : ""));
        return map;
}

static json_t *random_member(struct dice *d)
{
        static const char *const annotations[] = { "fleet.azure.com/id", "fleet.azure.com", "a", "b" };
        static const char *const labels[] = { "env", "kubernetes-fleet.io/x", "region" };
        json_t *doc = json_pack("{s:{s:s},s:{s:{s:s,s:s}}}", "metadata", "name", "m1", "spec", "identity",
                                "kind", "User", "name", "agent");
        json_t *meta = json_object_get(doc, "metadata"), *spec = json_object_get(doc, "spec");

        if (roll(d, 4))
                json_object_set_new(meta, "annotations",
                                    random_words(d, annotations, ARRAY_LEN(annotations)));
        if (roll(d, 2))
                json_object_set_new(meta, "labels", random_words(d, labels, ARRAY_LEN(labels)));
        if (roll(d, 6) == 0)
                json_object_set_new(meta, "finalizers", json_pack("[s]", "a/b"));
        if (roll(d, 6) == 0)
                json_object_set_new(meta, "ownerReferences", json_pack("[{s:s}]", "name", "a"));
        if (roll(d, 4) == 0)
                json_object_set_new(meta, "resourceVersion", json_string(roll(d, 2) ? "7" : "8"));
        if (roll(d, 3) == 0)
                json_object_set_new(spec, "taints", json_pack("[{s:s}]", "key", roll(d, 2) ? "a" : "b"));
        if (roll(d, 4) == 0)
                json_object_set_new(spec, "heartbeatPeriodSeconds", json_integer((json_int_t)roll(d, 2) + 1));
        if (roll(d, 4) == 0)
                json_object_set_new(doc, "status", json_pack("{s:[]}", "conditions"));
        return doc;
}

/* Mostly alike, so that what differs is one thing. */
static void random_member_cluster(struct dice *d, struct asked *a)
{
        *a = (struct asked){ .group = "cluster.kubernetes-fleet.io",
                             .version = "v1beta1",
                             .ns = "",
                             .resource = "memberclusters",
                             .kind = "MemberCluster",
                             .subresource = roll(d, 3) ? "" : "status",
                             .name = "m1" };
}

static void random_member_states(struct dice *d, struct asked *a)
{
        static const char *const parts[] = { "metadata", "spec", "status" };
        json_t *other = random_member(d);
        const char *part = PICK(d, parts);

        a->old = random_member(d);
        a->object = json_deep_copy(a->old);
        if (json_object_get(other, part))
                json_object_set(a->object, part, json_object_get(other, part));
        json_decref(other);
        if (strcmp(a->operation, "UPDATE") == 0)
                return;
        json_t **gone = strcmp(a->operation, "CREATE") == 0 ? &a->old : &a->object;
        json_decref(*gone);
        *gone = NULL;
}

static void random_request(struct dice *d, struct asked *a)
{
        void (*const kinds[])(struct dice * d, struct asked * a) = { random_definition, random_namespace,
                                                                     random_member_cluster, random_content,
                                                                     random_content };
        uint32_t kind = roll(d, ARRAY_LEN(kinds));

        kinds[kind](d, a);
        a->operation = PICK(d, operations);
        if (kind == 2)
                random_member_states(d, a);
        else
                random_states(a);
        random_user(d, a);
        a->unnamed = strcmp(a->operation, "DELETE") == 0 && roll(d, 4) == 0;
}

/* ---- both ---- */

static void compare(struct hub *h, const struct twins *t, const struct asked *a, size_t refused[2])
{
        const char *message = NULL;
        bool by_policy = policies_let_in(h, t, a, &message), by_webhook = webhooks_let_in(h, a);

        refused[!by_webhook]++;
        if (by_policy != by_webhook)
                fail_msg("%s %s/%s in '%s' by %s %s of %s (was %s): policies say \"%s\", webhooks \"%s\"",
                         a->operation, a->resource, a->subresource, a->ns, a->user, json_text(h, a->groups),
                         or_empty(json_text(h, a->object)), or_empty(json_text(h, a->old)), or_empty(message),
                         h->message);
        if (!by_policy)
                assert_string_equal(message, h->message);
}

static void put_to_both(bool fixed_labels, uint64_t seed)
{
        AUTO_TWINS struct twins t = { 0 };
        struct dice dice = { seed };
        size_t refused[2] = { 0 };

        twins_compile(&t, fixed_labels);
        for (size_t i = 0; i < REQUESTS; i++) {
                AUTO_HUB struct hub *h = hub_new();
                AUTO_ASKED struct asked a;

                h->world.flags = (struct admission_flags){ .guard_rail = true,
                                                           .fixed_member_labels = fixed_labels,
                                                           .whitelisted_users = "trusted" };
                random_request(&dice, &a);
                compare(h, &t, &a, refused);
        }
        assert_true(refused[0] > REQUESTS / 5 && refused[1] > REQUESTS / 5);
}

static void policies_and_webhooks_refuse_the_same_in_the_same_words(void **state)
{
        put_to_both(false, 5);
}

static void so_they_do_where_labels_of_members_are_fixed(void **state)
{
        put_to_both(true, 6);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(policies_and_webhooks_refuse_the_same_in_the_same_words),
                cmocka_unit_test(so_they_do_where_labels_of_members_are_fixed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
