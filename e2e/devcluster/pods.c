#include "e2e/devcluster/pods.h"

#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/readiness.h"
#include "e2e/devcluster/workload_status.h"

#define PODS "/pods"
#define REPLICA_SETS "apps/replicasets"
#define LABEL_TEMPLATE_HASH "pod-template-hash"
#define LABEL_REVISION_HASH "controller-revision-hash"
#define LABEL_POD_INDEX "apps.kubernetes.io/pod-index"
#define REVISION "deployment.kubernetes.io/revision"
#define PODS_PER_WORKLOAD_MAX 250 /* of one workload: a trial fleet has few nodes */

static const struct {
        const char *kind, *table_key, *api_version;
} kinds[] = {
        { "Deployment", "apps/deployments", "apps/v1" },
        { "ReplicaSet", REPLICA_SETS, "apps/v1" },
        { "StatefulSet", "apps/statefulsets", "apps/v1" },
        { "DaemonSet", "apps/daemonsets", "apps/v1" },
        { "Job", "batch/jobs", "batch/v1" },
};

static size_t kind_number(const char *kind)
{
        size_t i = 0;
        while (i < ARRAY_LEN(kinds) && !text_equal(kinds[i].kind, kind))
                i++;
        return i;
}

bool pods_kind_has_any(const char *kind)
{
        return kind_number(kind) < ARRAY_LEN(kinds);
}

/* ---- owners ---- */

static const json_t *controller_of(const json_t *doc)
{
        size_t i;
        json_t *owner;
        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, owner)
                if (doc_get_bool(owner, "controller", false))
                        return owner;
        return NULL;
}

bool pods_owner_of(const json_t *doc, struct pods_owner *ret)
{
        const json_t *owner = controller_of(doc);
        size_t i = kind_number(doc_get_string(owner, "kind"));
        if (i == ARRAY_LEN(kinds))
                return false;
        *ret = (struct pods_owner){ kinds[i].table_key, doc_get_string(owner, "name") };
        return true;
}

static const char *label(const json_t *doc, const char *key)
{
        const char *const keys[] = { "metadata", "labels", key };
        return json_string_value(doc_get_keys(doc, keys, ARRAY_LEN(keys)));
}

/* A ReplicaSet is named after its Deployment and the hash of its template. */
bool pods_are_held(const struct cluster *c, const json_t *doc)
{
        const json_t *owner = controller_of(doc);
        const char *kind = doc_get_string(owner, "kind"), *name = doc_get_string(owner, "name"),
                   *hash = label(doc, LABEL_TEMPLATE_HASH), *ns = meta_ns(doc);
        char deployment[260];
        if (!kind || !name)
                return false;
        if (readiness_is_held(&c->readiness, kind, ns, name))
                return true;
        if (!hash || strlen(name) <= strlen(hash) + 1 || !text_equal(kind, "ReplicaSet"))
                return false;
        snprintf(deployment, sizeof(deployment), "%.*s", (int)(strlen(name) - strlen(hash) - 1), name);
        return readiness_is_held(&c->readiness, "Deployment", ns, deployment);
}

static json_t *owner_reference(const json_t *owner, const char *kind)
{
        return json_pack("{s:s,s:s,s:s,s:s,s:b,s:b}", "apiVersion", kinds[kind_number(kind)].api_version,
                         "kind", kind, "name", meta_name(owner), "uid", meta_uid(owner), "controller", 1,
                         "blockOwnerDeletion", 1);
}

/* ---- what is there ---- */

struct owned {
        VEC(json_t *) at; /* new references */
};

static void owned_free(struct owned *o)
{
        vec_for_each(&o->at, doc)
                json_decref(*doc);
        vec_free(&o->at);
}

static int owned_find(struct request *rq, const char *table_key, const json_t *owner, struct owned *ret)
{
        struct table *t = api_store_table(rq->cluster, table_key, false);
        const char *ns = meta_ns(owner);
        size_t i = t ? api_store_lower_bound(t, ns, "") : 0;
        for (; t && i < t->items.n && strcmp(blob_ns(t->items.at[i]), ns) == 0; i++) {
                AUTO_JSON json_t *doc = NULL;
                if (!t->items.at[i]->n_owners || blob_parse(t->items.at[i], &doc, NULL) < 0 ||
                    !text_equal(doc_get_string(controller_of(doc), "uid"), meta_uid(owner)))
                        continue;
                TRY(vec_push(&ret->at, doc));
                doc = NULL;
        }
        return 0;
}

/* ---- writes ---- */

static int write_new(struct request *rq, const char *table_key, json_t *doc, struct error *err)
{
        AUTO_JSON json_t *taken UNUSED = doc;
        struct write_result w = { 0 };
        struct request one;
        if (!doc)
                return error_no_memory(err);
        TRY(request_internal(&one, rq->devcluster, rq->cluster, table_key, rq->ns, NULL, rq->arena));
        int r = rest_create(&one, doc, &w);
        if (r < 0 && text_equal(one.status.reason, "AlreadyExists"))
                r = 0;
        if (r < 0)
                error_set(err, ERR_INTERNAL, "%s: %s", table_key, one.status.message);
        json_decref(w.doc);
        vec_free(&one.warnings);
        return r;
}

static int remove_pod(struct request *rq, const json_t *pod, struct error *err)
{
        const struct delete_options o = { .uid = meta_uid(pod), .grace_seconds = 0 };
        const char *uid;
        json_t *rest = NULL;
        struct request one;
        TRY(request_internal(&one, rq->devcluster, rq->cluster, PODS, rq->ns, meta_name(pod), rq->arena));
        int r = rest_delete(&one, rq->ns, meta_name(pod), &o, &rest, &uid);
        if (r < 0 && one.status.code != 404)
                error_set(err, ERR_INTERNAL, "pod %s: %s", meta_name(pod), one.status.message);
        else
                r = 0;
        json_decref(rest);
        vec_free(&one.warnings);
        return r;
}

static int store(struct request *rq, const char *table_key, json_t *doc, struct error *err)
{
        struct table *t = api_store_table(rq->cluster, table_key, true);
        return t ? api_store_put(t, doc, NULL, err) : error_no_memory(err);
}

/* ---- replica sets of a deployment ---- */

static int scale(struct request *rq, json_t *set, int64_t replicas, struct error *err)
{
        if (doc_get_int(set, "spec.replicas", 1) == replicas)
                return 0;
        if (doc_set_int(set, "spec.replicas", replicas) < 0 ||
            doc_set_int(set, "metadata.generation", doc_get_int(set, "metadata.generation", 0) + 1) < 0)
                return error_no_memory(err);
        return store(rq, REPLICA_SETS, set, err);
}

static int set_label(json_t *doc, const char *path, const char *key, const char *value)
{
        if (!doc_get_object(doc, path))
                TRY(doc_set(doc, path, json_object()));
        return json_object_set_new(doc_get_object(doc, path), key, json_string(value)) < 0 ? ERR_NO_MEMORY
                                                                                           : 0;
}

static json_t *replica_set_of(struct request *rq, const json_t *deployment, const char *hash)
{
        static const char *const revision[] = { "metadata", "annotations", REVISION };
        const char *name = arena_printf(rq->arena, "%s-%s", meta_name(deployment), hash);
        const char *number = json_string_value(doc_get_keys(deployment, revision, ARRAY_LEN(revision)));
        json_t *doc = json_pack("{s:{s:s?,s:{s:s},s:[o]},s:{s:I,s:O*,s:O*}}", "metadata", "name", name,
                                "annotations", REVISION, number ? number : "1", "ownerReferences",
                                owner_reference(deployment, "Deployment"), "spec", "replicas",
                                (json_int_t)doc_get_int(deployment, "spec.replicas", 1), "selector",
                                doc_get_object(deployment, "spec.selector"), "template",
                                doc_get_object(deployment, "spec.template"));
        AUTO_JSON json_t *own = doc ? doc_copy(doc) : NULL; /* selector and template are the deployment's */
        AUTO_JSON json_t *labels =
                own ? doc_copy(doc_get_object(own, "spec.template.metadata.labels")) : NULL;
        json_decref(doc);
        if (!own || !name || (labels && doc_set(own, "metadata.labels", json_incref(labels)) < 0) ||
            set_label(own, "metadata.labels", LABEL_TEMPLATE_HASH, hash) < 0 ||
            set_label(own, "spec.selector.matchLabels", LABEL_TEMPLATE_HASH, hash) < 0 ||
            set_label(own, "spec.template.metadata.labels", LABEL_TEMPLATE_HASH, hash) < 0)
                return NULL;
        return json_incref(own);
}

static int follow_deployment(struct request *rq, const json_t *doc, struct error *err)
{
        CLEANUP(owned_free) struct owned sets = { .at = VEC_INIT };
        char hash[POD_HASH_SIZE];
        bool found = false;
        if (owned_find(rq, REPLICA_SETS, doc, &sets) < 0 ||
            workload_hash(doc_get(doc, "spec.template"), hash) < 0)
                return error_no_memory(err);
        vec_for_each(&sets.at, set) {
                bool current = text_equal(label(*set, LABEL_TEMPLATE_HASH), hash);
                found |= current;
                TRY(scale(rq, *set, current ? doc_get_int(doc, "spec.replicas", 1) : 0, err));
        }
        return found ? 0 : write_new(rq, REPLICA_SETS, replica_set_of(rq, doc, hash), err);
}

/* ---- pods ---- */

struct pod_plan {
        const char *kind, *name;   /* of one that is made; NULL = a random one */
        const char *node;          /* NULL = any */
        const char *label, *value; /* one more of its labels */
        const char *index;         /* of a stateful set's; NULL = none */
};

static json_t *pod_of(struct request *rq, const json_t *owner, const struct pod_plan *p)
{
        const json_t *template = doc_get_object(owner, "spec.template");
        const char *name =
                p->name ? p->name : meta_random_name(rq, arena_printf(rq->arena, "%s-", meta_name(owner)));
        AUTO_JSON json_t *doc = doc_copy(template);
        if (!doc || !name || doc_set_string(doc, "metadata.name", name) < 0 ||
            doc_set(doc, "metadata.ownerReferences", json_pack("[o]", owner_reference(owner, p->kind))) < 0 ||
            (p->node && doc_set_string(doc, "spec.nodeName", p->node) < 0) ||
            (p->label && set_label(doc, "metadata.labels", p->label, p->value) < 0) ||
            (p->index && set_label(doc, "metadata.labels", LABEL_POD_INDEX, p->index) < 0))
                return NULL;
        return json_incref(doc);
}

static int make_pod(struct request *rq, const json_t *owner, const struct pod_plan *p, struct error *err)
{
        return write_new(rq, PODS, pod_of(rq, owner, p), err);
}

static bool is_over(const json_t *pod)
{
        const char *phase = doc_get_string(pod, "status.phase");
        return text_equal(phase, "Succeeded") || text_equal(phase, "Failed");
}

/* As many as there are to be, whichever they are: the last ones go. */
static int follow_count(struct request *rq, const json_t *doc, const char *kind, int64_t want,
                        const struct owned *pods, struct error *err)
{
        const struct pod_plan plan = { .kind = kind };
        int64_t n = 0;
        vec_for_each(&pods->at, pod) {
                if (meta_is_deleting(*pod) || (is_over(*pod) && strcmp(kind, "Job") != 0))
                        continue;
                if (++n > want)
                        TRY(remove_pod(rq, *pod, err));
        }
        for (; n < want; n++)
                TRY(make_pod(rq, doc, &plan, err));
        return 0;
}

static json_t *named(const struct owned *pods, const char *name)
{
        vec_for_each(&pods->at, pod)
                if (text_equal(meta_name(*pod), name))
                        return *pod;
        return NULL;
}

/* By their numbers: web-0, web-1. A new template takes their places, all at once. */
static int follow_stateful_set(struct request *rq, const json_t *doc, int64_t want, const struct owned *pods,
                               struct error *err)
{
        char hash[POD_HASH_SIZE];
        if (workload_hash(doc_get(doc, "spec.template"), hash) < 0)
                return error_no_memory(err);
        const char *revision = arena_printf(rq->arena, "%s-%s", meta_name(doc), hash);
        vec_for_each(&pods->at, pod) {
                const char *number = strrchr(meta_name(*pod), '-');
                int64_t index = INT64_MAX;
                if (number)
                        (void)text_parse_i64(number + 1, &index);
                if (index >= want || !text_equal(label(*pod, LABEL_REVISION_HASH), revision))
                        TRY(remove_pod(rq, *pod, err));
        }
        for (int64_t i = 0; i < want; i++) {
                const struct pod_plan plan = { .kind = "StatefulSet",
                                               .name = arena_printf(rq->arena, "%s-%lld", meta_name(doc),
                                                                    (long long)i),
                                               .label = LABEL_REVISION_HASH,
                                               .value = revision,
                                               .index = arena_printf(rq->arena, "%lld", (long long)i) };
                const json_t *pod = named(pods, plan.name);
                if (!revision || !plan.name || !plan.index)
                        return error_no_memory(err);
                if (!pod || !text_equal(label(pod, LABEL_REVISION_HASH), revision))
                        TRY(make_pod(rq, doc, &plan, err));
        }
        return 0;
}

static bool runs_on(const struct owned *pods, const char *node, const char *hash)
{
        vec_for_each(&pods->at, pod)
                if (text_equal(doc_get_string(*pod, "spec.nodeName"), node) &&
                    text_equal(label(*pod, LABEL_REVISION_HASH), hash))
                        return true;
        return false;
}

static int follow_daemon_set(struct request *rq, const json_t *doc, const struct owned *pods,
                             struct error *err)
{
        const struct table *nodes = api_store_table(rq->cluster, "/nodes", false);
        char hash[POD_HASH_SIZE];
        if (workload_hash(doc_get(doc, "spec.template"), hash) < 0)
                return error_no_memory(err);
        vec_for_each(&pods->at, pod) {
                const char *node = doc_get_string(*pod, "spec.nodeName");
                bool there = nodes && node && api_store_get((struct table *)nodes, "", node);
                if (!there || !text_equal(label(*pod, LABEL_REVISION_HASH), hash))
                        TRY(remove_pod(rq, *pod, err));
        }
        for (size_t i = 0; nodes && i < nodes->items.n; i++) {
                const struct pod_plan plan = { .kind = "DaemonSet",
                                               .node = blob_name(nodes->items.at[i]),
                                               .label = LABEL_REVISION_HASH,
                                               .value = hash };
                if (!runs_on(pods, plan.node, hash))
                        TRY(make_pod(rq, doc, &plan, err));
        }
        return 0;
}

/* ---- jobs ---- */

static int finish_pod(struct request *rq, json_t *pod, struct error *err)
{
        size_t i;
        json_t *container;
        if (is_over(pod))
                return 0;
        const struct status_condition over = {
                .type = "Ready", .status = "False", .reason = "PodCompleted", .with_probe_time = true
        };
        json_array_foreach(doc_get_array(pod, "status.containerStatuses"), i, container)
                if (json_object_set_new(container, "ready", json_false()) < 0 ||
                    json_object_set_new(container, "state",
                                        json_pack("{s:{s:i,s:s}}", "terminated", "exitCode", 0, "reason",
                                                  "Completed")) < 0)
                        return error_no_memory(err);
        if (doc_set_string(pod, "status.phase", "Succeeded") < 0 ||
            workload_set_condition(pod, &over, rq->now_ms) < 0)
                return error_no_memory(err);
        return store(rq, PODS, pod, err);
}

static int follow_job(struct request *rq, const json_t *doc, const struct owned *pods, struct error *err)
{
        int64_t parallel = doc_get_int(doc, "spec.parallelism", 1);
        int64_t want = doc_get_int(doc, "spec.completions", parallel);
        bool over = doc_get_string(doc, "status.completionTime") != NULL;
        if (doc_get_bool(doc, "spec.suspend", false))
                want = 0;
        if (!over)
                return follow_count(rq, doc, "Job", MIN(want, parallel), pods, err);
        vec_for_each(&pods->at, pod)
                TRY(finish_pod(rq, *pod, err));
        return 0;
}

int pods_follow(struct request *rq, const json_t *doc, struct error *err)
{
        const char *kind = rq->resource->kind;
        CLEANUP(owned_free) struct owned pods = { .at = VEC_INIT };
        int64_t want = MIN(doc_get_int(doc, "spec.replicas", 1), PODS_PER_WORKLOAD_MAX);
        if (strcmp(kind, "Deployment") == 0)
                return follow_deployment(rq, doc, err);
        if (owned_find(rq, PODS, doc, &pods) < 0)
                return error_no_memory(err);
        if (strcmp(kind, "StatefulSet") == 0)
                return follow_stateful_set(rq, doc, want, &pods, err);
        if (strcmp(kind, "DaemonSet") == 0)
                return follow_daemon_set(rq, doc, &pods, err);
        if (strcmp(kind, "Job") == 0)
                return follow_job(rq, doc, &pods, err);
        return follow_count(rq, doc, kind, want, &pods, err);
}
