#include "hub-agent/placement/filter.h"

#include <stdio.h>

#include "common/base/timefmt.h"

#define FLEET_PLACEMENT "placement.kubernetes-fleet.io"

/* spec/placement.md 5.1 */
static const struct api_pattern built_in_deny[] = {
        { "cluster.kubernetes-fleet.io", NULL, NULL },
        { "placement.kubefleet.dev", NULL, NULL },
        { "events.k8s.io", NULL, NULL },
        { "coordination.k8s.io", NULL, NULL },
        { "metrics.k8s.io", NULL, NULL },
        { "", "v1", "Pod" },
        { "", "v1", "Node" },
        { "", "v1", "Event" },
        { "networking.fleet.azure.com", NULL, "ServiceImport" },
        { "networking.fleet.azure.com", NULL, "TrafficManagerProfile" },
        { "networking.fleet.azure.com", NULL, "TrafficManagerBackend" },
};

bool filter_namespace_allowed(const struct filter_rules *r, const char *ns)
{
        if (text_starts_with(ns, "kube-") || text_starts_with(ns, "fleet-") || text_equal(ns, "default"))
                return false;
        return !text_in(ns, r->namespaces, r->n_namespaces);
}

static bool pattern_matches(const struct api_pattern *p, const char *group, const char *version,
                            const char *kind)
{
        return text_equal(p->group, group) && (!p->version || text_equal(p->version, version)) &&
               (!p->kind || text_equal(p->kind, kind));
}

static bool pattern_in(const struct api_pattern *list, size_t n, const char *group, const char *version,
                       const char *kind)
{
        for (size_t i = 0; i < n; i++)
                if (pattern_matches(&list[i], group, version, kind))
                        return true;
        return false;
}

/* All of our own placement kinds stay on the hub, but for the envelopes users fill. */
static bool is_own_kind(const char *group, const char *kind)
{
        return text_equal(group, FLEET_PLACEMENT) && !text_equal(kind, "ClusterResourceEnvelope") &&
               !text_equal(kind, "ResourceEnvelope");
}

bool filter_api_allowed(const struct filter_rules *r, const char *group, const char *version,
                        const char *kind)
{
        bool listed = pattern_in(r->listed, r->n_listed, group, version, kind);

        if (r->allow)
                return listed;
        return !listed && !is_own_kind(group, kind) &&
               !pattern_in(built_in_deny, ARRAY_LEN(built_in_deny), group, version, kind);
}

/* ---- parsing ---- */

static int add_pattern(struct filter_rules *r, const char *group, const char *version, struct slice kind)
{
        struct api_pattern *p = &r->listed[r->n_listed++];

        p->group = group;
        p->version = version;
        if (!kind.len)
                return 0;
        p->kind = arena_strndup(&r->arena, kind.data, kind.len);
        return p->kind ? 0 : ERR_NO_MEMORY;
}

static int add_kinds(struct filter_rules *r, const char *group, const char *version, struct slice kinds)
{
        struct slice kind;

        while (kinds.len > 0) {
                slice_cut(&kinds, ',', &kind);
                TRY(add_pattern(r, group, version, slice_trim(kind)));
        }
        return 0;
}

static bool is_version(struct slice s)
{
        return s.len >= 2 && s.data[0] == 'v' && s.data[1] >= '0' && s.data[1] <= '9';
}

static int parse_token(struct filter_rules *r, struct slice token, struct error *err)
{
        struct slice part[4] = { 0 }, rest = token;
        const char *first, *second;
        size_t n = 0;
        bool more;

        do {
                if (n == 3)
                        return error_set(err, ERR_INVALID, "invalid parameter: %.*s", (int)token.len,
                                         token.data);
                more = slice_cut(&rest, '/', &part[n]);
                part[n] = slice_trim(part[n]);
                n++;
        } while (more);
        first = arena_strndup(&r->arena, part[0].data, part[0].len);
        second = arena_strndup(&r->arena, n > 1 ? part[1].data : "", n > 1 ? part[1].len : 0);
        if (!first || !second)
                return error_no_memory(err);
        if (n == 1 && is_version(part[0]))
                return add_pattern(r, "", first, (struct slice){ 0 });
        if (n == 1)
                return add_pattern(r, first, NULL, (struct slice){ 0 });
        if (n == 2 && is_version(part[0]))
                return add_kinds(r, "", first, part[1]);
        if (n == 2)
                return add_pattern(r, first, second, (struct slice){ 0 });
        return add_kinds(r, first, second, part[2]);
}

static size_t count_separators(const char *s)
{
        size_t n = 1;

        for (; s && *s; s++)
                n += *s == ';' || *s == ',';
        return n;
}

static int parse_apis(struct filter_rules *r, const char *text, struct error *err)
{
        struct slice rest = slice_of(text), token;

        r->listed = ARENA_NEW_ARRAY(&r->arena, struct api_pattern, count_separators(text) + 1);
        if (!r->listed)
                return error_no_memory(err);
        while (rest.len > 0) {
                slice_cut(&rest, ';', &token);
                token = slice_trim(token);
                if (token.len > 0)
                        TRY(parse_token(r, token, err));
        }
        return 0;
}

static int parse_namespaces(struct filter_rules *r, const char *text, struct error *err)
{
        const char *at = text ? text : "";

        r->namespaces = ARENA_NEW_ARRAY(&r->arena, const char *, count_separators(text) + 1);
        if (!r->namespaces)
                return error_no_memory(err);
        while (*at) {
                size_t n = strcspn(at, ",;");
                struct slice name = slice_trim((struct slice){ at, n });

                if (name.len > 0) {
                        char *copy = arena_strndup(&r->arena, name.data, name.len);

                        if (!copy)
                                return error_no_memory(err);
                        r->namespaces[r->n_namespaces++] = copy;
                }
                at += n + (at[n] != 0);
        }
        return 0;
}

int filter_rules_parse(const char *skipped_apis, const char *allowed_apis, const char *skipped_namespaces,
                       bool workloads_run_here, struct filter_rules *ret, struct error *err)
{
        struct filter_rules r = { .workloads_run_here = workloads_run_here,
                                  .allow = !text_empty(allowed_apis) };
        int code;

        if (r.allow && !text_empty(skipped_apis))
                return error_set(err, ERR_INVALID, "skipped and allowed propagating APIs exclude each other");
        code = parse_apis(&r, r.allow ? allowed_apis : skipped_apis, err);
        if (code == 0)
                code = parse_namespaces(&r, skipped_namespaces, err);
        if (code < 0) {
                filter_rules_free(&r);
                return code;
        }
        *ret = r;
        return 0;
}

void filter_rules_free(struct filter_rules *r)
{
        arena_free(&r->arena);
}

/* ---- objects ---- */

struct gvk {
        const char *group, *version, *kind;
};

static bool is(const struct gvk *g, const char *group, const char *version, const char *kind)
{
        return text_equal(g->kind, kind) && text_equal(g->group, group) && text_equal(g->version, version);
}

bool filter_object_excluded(const struct filter_rules *r, const char *group, const char *version,
                            const char *kind, const struct object_meta *meta)
{
        struct gvk g = { group, version, kind };

        if (meta->deletion_ms != TIME_NONE)
                return true;
        if (is(&g, "apps", "v1", "ReplicaSet") || is(&g, "apps", "v1", "ControllerRevision"))
                return meta->n_owners > 0;
        if (is(&g, "", "v1", "ConfigMap"))
                return text_equal(meta->name, "kube-root-ca.crt");
        if (is(&g, "", "v1", "ServiceAccount"))
                return text_equal(meta->name, "default");
        if (is(&g, "", "v1", "PersistentVolumeClaim"))
                return r->workloads_run_here;
        if (is(&g, "discovery.k8s.io", "v1", "EndpointSlice"))
                return string_map_get(&meta->labels, "endpointslice.kubernetes.io/managed-by") != NULL;
        return false;
}

bool filter_document_excluded(const json_t *doc)
{
        return text_equal(doc_get_string(doc, "kind"), "Secret") &&
               text_equal(doc_get_string(doc, "apiVersion"), "v1") &&
               text_equal(doc_get_string(doc, "type"), "kubernetes.io/service-account-token");
}

/* ---- cleaning ---- */

static void remove_annotation(json_t *doc, const char *key)
{
        json_t *annotations = doc_get_object(doc, "metadata.annotations");

        json_object_del(annotations, key);
        if (annotations && json_object_size(annotations) == 0)
                doc_remove(doc, "metadata.annotations");
}

static int sanitise_service(json_t *doc, struct error *err)
{
        json_t *spec = json_object_get(doc, "spec"), *port;
        size_t i;

        if (!json_is_object(spec))
                return error_set(err, ERR_INVALID, "Service \"%s\": spec must be an object",
                                 doc_get_string(doc, "metadata.name"));
        if (json_object_get(spec, "clusterIP") && !text_equal(doc_get_string(spec, "clusterIP"), "None")) {
                json_object_del(spec, "clusterIP");
                json_object_del(spec, "clusterIPs");
        }
        json_object_del(spec, "healthCheckNodePort");
        json_array_foreach(json_object_get(spec, "ports"), i, port)
                json_object_del(port, "nodePort");
        return 0;
}

static void remove_controller_uid(json_t *labels)
{
        json_object_del(labels, "controller-uid");
        json_object_del(labels, "batch.kubernetes.io/controller-uid");
}

static void sanitise_job(json_t *doc)
{
        if (doc_get_bool(doc, "spec.manualSelector", false))
                return;
        remove_controller_uid(doc_get_object(doc, "spec.selector.matchLabels"));
        remove_controller_uid(doc_get_object(doc, "spec.template.metadata.labels"));
        json_object_del(doc_get_object(doc, "spec.template.metadata"), "creationTimestamp");
}

int filter_sanitise(json_t *doc, struct error *err)
{
        static const char *const metadata[] = { "resourceVersion", "generation",        "uid",
                                                "selfLink",        "deletionTimestamp", "managedFields",
                                                "ownerReferences", "creationTimestamp" };
        const char *api = doc_get_string(doc, "apiVersion"), *kind = doc_get_string(doc, "kind");
        json_t *meta = doc_get_object(doc, "metadata");

        for (size_t i = 0; i < ARRAY_LEN(metadata); i++)
                json_object_del(meta, metadata[i]);
        json_object_del(doc, "status");
        remove_annotation(doc, "kubectl.kubernetes.io/last-applied-configuration");
        remove_annotation(doc, "deployment.kubernetes.io/revision");
        if (text_equal(kind, "Service") && text_equal(api, "v1"))
                return sanitise_service(doc, err);
        if (text_equal(kind, "Job") && text_equal(api, "batch/v1"))
                sanitise_job(doc);
        return 0;
}

/* ---- order ---- */

#define KNOWN_KINDS 32

static size_t rank_of(const char *kind)
{
        static const char *const ranks[] = {
                "PriorityClass",
                "Namespace",
                "NetworkPolicy",
                "ResourceQuota",
                "LimitRange",
                "PodDisruptionBudget",
                "ServiceAccount",
                "Secret",
                "ConfigMap",
                "StorageClass",
                "PersistentVolume",
                "PersistentVolumeClaim",
                "CustomResourceDefinition",
                "ClusterRole",
                "ClusterRoleBinding",
                "Role",
                "RoleBinding",
                "Service",
                "DaemonSet",
                "Pod",
                "ReplicationController",
                "ReplicaSet",
                "Deployment",
                "HorizontalPodAutoscaler",
                "StatefulSet",
                "Job",
                "CronJob",
                "IngressClass",
                "Ingress",
                "APIService",
                "MutatingWebhookConfiguration",
                "ValidatingWebhookConfiguration",
        };
        size_t i = 0;

        while (i < ARRAY_LEN(ranks) && !text_equal(ranks[i], kind))
                i++;
        return i;
}

/* A text in parts, the last of which is NULL. */
struct parts {
        const char *part[6];
};

static int next_character(const char *const **part, const char **at)
{
        while (*at && !**at)
                *at = *++*part;
        return *at ? (unsigned char)*(*at)++ : -1;
}

/* As strcmp() of the whole texts, whatever their length. */
static int compare_parts(struct parts a, struct parts b)
{
        const char *const *p = a.part, *const *q = b.part;
        const char *x = *p, *y = *q;
        int c, d;

        do {
                c = next_character(&p, &x);
                d = next_character(&q, &y);
        } while (c == d && c >= 0);
        return c - d;
}

/* Kinds with a rank are compared by version alone, where the core group has no slash; others with their kind.
 */
static struct parts version_parts(const struct selected_id *s, bool known)
{
        if (known && !s->group[0])
                return (struct parts){ { s->version } };
        if (known)
                return (struct parts){ { s->group, "/", s->version } };
        return (struct parts){ { s->group, "/", s->version, ",", s->kind } };
}

int filter_compare(const struct selected_id *a, const struct selected_id *b)
{
        size_t rank_a = rank_of(a->kind), rank_b = rank_of(b->kind);
        bool known = rank_a < KNOWN_KINDS;
        int order;

        if (rank_a != rank_b)
                return rank_a < rank_b ? -1 : 1;
        order = compare_parts(version_parts(a, known), version_parts(b, known));
        return order ? order
                     : compare_parts((struct parts){ { a->ns, "/", a->name } },
                                     (struct parts){ { b->ns, "/", b->name } });
}
