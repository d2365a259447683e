#include "e2e/kube/fake_kubelet.h"

#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/ctrl/informer.h"
#include "common/ctrl/queue.h"
#include "e2e/devcluster/readiness.h"
#include "e2e/devcluster/workload_status.h"
#include "proto/gen/kinds.h"

#define WORKERS 4
#define NODE_CPU "8"
#define NODE_MEMORY "32Gi"

/* Which objects are looked at; keys in the queue name them by their place here. */
static const struct looked_at {
        struct kube_resource resource;
        const char *field_selector;
} looked_at[] = {
        { { "", "v1", "pods", "Pod", true }, "spec.nodeName!=" },
        { { "", "v1", "nodes", "Node", false }, NULL },
        { { "", "v1", "services", "Service", true }, NULL },
        { { "networking.k8s.io", "v1", "ingresses", "Ingress", true }, NULL },
};
static const struct kube_resource *const nodes_resource = &looked_at[1].resource;

struct source {
        struct fake_kubelet *kubelet;
        size_t kind; /* of looked_at */
        struct informer *informer;
};

struct fake_kubelet {
        struct kube_client *client;
        struct loop *loop;
        struct fiber_group *group;
        struct work_queue *queue; /* "KIND/NAMESPACE/NAME", KIND a digit */
        struct map readiness, unsimulated;
        struct source sources[ARRAY_LEN(looked_at)];
};

/* ---- pods ---- */

static const struct owner_match {
        const char *kind, *name;
} no_owner;

static struct owner_match controller_of(const json_t *doc)
{
        const json_t *owner;
        size_t i;

        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, owner)
                if (doc_get_bool(owner, "controller", false))
                        return (struct owner_match){ doc_get_string(owner, "kind"),
                                                     doc_get_string(owner, "name") };
        return no_owner;
}

/* "web" for the replica set "web-7887448d46" of a pod that is labelled with that hash. */
static bool deployment_of(const json_t *pod, const char *replica_set, char ret[256])
{
        static const char *const label[] = { "metadata", "labels", "pod-template-hash" };
        const char *hash = json_string_value(doc_get_keys(pod, label, ARRAY_LEN(label)));
        size_t n = hash ? strlen(replica_set) - MIN(strlen(hash), strlen(replica_set)) : 0;

        if (n < 2 || n > 255 || !text_equal(replica_set + n, hash))
                return false;
        memcpy(ret, replica_set, n - 1);
        ret[n - 1] = '\0';
        return true;
}

static bool is_held(const struct fake_kubelet *f, const char *kind, const json_t *doc)
{
        const char *ns = doc_get_string(doc, "metadata.namespace");
        struct owner_match owner = controller_of(doc);
        char deployment[256];

        if (readiness_is_refused(doc) ||
            readiness_is_held(&f->readiness, kind, ns, doc_get_string(doc, "metadata.name")))
                return true;
        if (!owner.kind || !owner.name)
                return false;
        return readiness_is_held(&f->readiness, owner.kind, ns, owner.name) ||
               (text_equal(owner.kind, "ReplicaSet") && deployment_of(doc, owner.name, deployment) &&
                readiness_is_held(&f->readiness, "Deployment", ns, deployment));
}

/* The pod of a Job has done its work as soon as it runs. */
static int finish(json_t *pod, int64_t now_ms)
{
        const struct status_condition over = { "Ready", "False", "PodCompleted", NULL, false, true };
        char now[RFC3339_SIZE];
        json_t *container;
        size_t i;

        if (!text_equal(doc_get_string(pod, "status.phase"), "Running"))
                return 0;
        time_format_rfc3339(now_ms, now);
        TRY(doc_set_string(pod, "status.phase", "Succeeded"));
        json_array_foreach(doc_get_array(pod, "status.containerStatuses"), i, container) {
                TRY(doc_set(container, "ready", json_false()));
                TRY(doc_set(container, "state",
                            json_pack("{s:{s:i, s:s, s:s, s:s}}", "terminated", "exitCode", 0, "reason",
                                      "Completed", "startedAt", now, "finishedAt", now)));
        }
        return workload_set_condition(pod, &over, now_ms);
}

static int remove_pod(struct fake_kubelet *f, const json_t *pod, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf path;
        AUTO_FREE char *body = mem_printf("{\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"%s\"}}",
                                          doc_get_string(pod, "metadata.uid"));
        struct http_response r;

        buf_init(&path, 4096);
        if (!body || kube_path(&path, &looked_at[0].resource, doc_get_string(pod, "metadata.namespace"),
                               doc_get_string(pod, "metadata.name"), NULL) < 0)
                return error_no_memory(err);
        return kube_raw(f->client, "DELETE", path.data, "application/json", slice_of(body), &arena, &r, err);
}

/* ---- nodes ---- */

/* Admission gives every new node this taint; the controller that takes it away again waits for heartbeats,
 * which nobody sends here. */
static void drop_not_ready_taint(json_t *node)
{
        json_t *taints = doc_get_array(node, "spec.taints");

        for (size_t i = 0; i < json_array_size(taints); i++) {
                if (!text_equal(doc_get_string(json_array_get(taints, i), "key"),
                                "node.kubernetes.io/not-ready"))
                        continue;
                json_array_remove(taints, i);
                return;
        }
}

static int make_node(struct fake_kubelet *f, const char *name, struct error *err)
{
        AUTO_JSON json_t *doc = json_pack(
                "{s:s, s:s, s:{s:s, s:{s:s, s:s, s:s}}, s:{s:{s:s, s:s, s:s, s:s}}}", "apiVersion", "v1",
                "kind", "Node", "metadata", "name", name, "labels", "kubernetes.io/arch", "amd64",
                "kubernetes.io/hostname", name, "kubernetes.io/os", "linux", "status", "capacity", "cpu",
                NODE_CPU, "ephemeral-storage", "100Gi", "memory", NODE_MEMORY, "pods", "110");

        if (!doc)
                return error_no_memory(err);
        int code = kube_doc_create(f->client, nodes_resource, NULL, doc, NULL, NULL, err);
        return code == ERR_EXISTS ? 0 : code;
}

/* ---- one object ---- */

static int advance(struct fake_kubelet *f, const char *kind, json_t *doc)
{
        const char *uid = doc_get_string(doc, "metadata.uid");
        uint64_t h = uid ? hash_bytes(uid, strlen(uid), 0) : 0;
        char pod_ip[32], address[32];
        const struct workload_facts facts = { .now_ms = loop_wall_ms(f->loop),
                                              .ready = !is_held(f, kind, doc),
                                              .pod_ip = pod_ip,
                                              .address = address };

        snprintf(pod_ip, sizeof(pod_ip), "10.244.%u.%u", (unsigned)(h >> 8) & 255, (unsigned)h & 255);
        snprintf(address, sizeof(address), "172.18.%u.%u", (unsigned)(h >> 8) & 255, (unsigned)h & 255);
        TRY(workload_advance(kind, doc, &facts));
        if (text_equal(kind, "Pod") && facts.ready && text_equal(controller_of(doc).kind, "Job"))
                return finish(doc, facts.now_ms);
        return 0;
}

static int write_changes(struct fake_kubelet *f, const struct kube_resource *r, const json_t *live,
                         json_t *doc, struct error *err)
{
        const char *ns = doc_get_string(live, "metadata.namespace");
        const char *name = doc_get_string(live, "metadata.name");
        const struct kube_write status = { .subresource = "status" };

        if (!doc_equal(doc_get(live, "spec"), doc_get(doc, "spec"))) {
                AUTO_JSON json_t *answer = NULL;

                TRY(kube_doc_update(f->client, r, ns, name, doc, NULL, &answer, err));
                if (doc_set(doc, "metadata", json_incref(doc_get(answer, "metadata"))) < 0)
                        return error_no_memory(err);
        }
        if (doc_equal(doc_get(live, "status"), doc_get(doc, "status")))
                return 0;
        return kube_doc_update(f->client, r, ns, name, doc, &status, NULL, err);
}

static int look_at(struct fake_kubelet *f, const struct kube_resource *r, const char *ns, const char *name,
                   struct error *err)
{
        bool pod = text_equal(r->kind, "Pod");
        AUTO_JSON json_t *live = NULL, *doc = NULL;

        TRY(kube_doc_get(f->client, r, *ns ? ns : NULL, name, &live, err));
        if (pod && map_has(&f->unsimulated, ns))
                return 0; /* its end is somebody else's too */
        if (doc_get(live, "metadata.deletionTimestamp"))
                return pod ? remove_pod(f, live, err) : 0;
        doc = doc_copy(live);
        if (!doc || advance(f, r->kind, doc) < 0)
                return error_no_memory(err);
        if (text_equal(r->kind, "Node"))
                drop_not_ready_taint(doc);
        return write_changes(f, r, live, doc, err);
}

/* ---- queue ---- */

static void enqueue(struct source *s, const struct object *o, enum queue_priority priority)
{
        char key[600];

        snprintf(key, sizeof(key), "%zu/%s/%s", s->kind, o->meta.ns ? o->meta.ns : "", o->meta.name);
        if (work_queue_add(s->kubelet->queue, key, priority) < 0)
                log_warn(s->kubelet->client->log, "out of memory: an object keeps its status", "key", key);
}

static void on_event(void *ctx, const struct informer_event *e)
{
        if (e->type != INFORMER_DELETED)
                enqueue(ctx, e->now, QUEUE_HIGH);
}

static int look_at_key(struct fake_kubelet *f, const char *key, struct error *err)
{
        struct slice rest = slice_of(key + 2), ns_part;
        char ns[300];

        slice_cut(&rest, '/', &ns_part);
        snprintf(ns, sizeof(ns), "%.*s", (int)ns_part.len, ns_part.data);
        return look_at(f, &looked_at[key[0] - '0'].resource, ns, rest.data, err);
}

static void work(void *ctx)
{
        struct fake_kubelet *f = ctx;
        const char *key;

        while (work_queue_get(f->queue, DEADLINE_NONE, &key) == 0) {
                struct error err = { 0 };
                int code = look_at_key(f, key, &err);

                if (code < 0 && code != ERR_NOT_FOUND && code != ERR_CANCELLED) {
                        if (code != ERR_CONFLICT)
                                log_warn(f->client->log, "a pretended status is not written", "key", key,
                                         "error", err.text);
                        work_queue_add_backoff(f->queue, key, INT64_MAX);
                } else {
                        work_queue_forget(f->queue, key);
                }
                work_queue_done(f->queue, key);
        }
}

/* Rules changed. */
static int look_at_all(struct fake_kubelet *f)
{
        for (size_t i = 0; i < ARRAY_LEN(looked_at); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct object_list all;

                TRY(informer_list(f->sources[i].informer, &arena, &all));
                for (size_t k = 0; k < all.n; k++)
                        enqueue(&f->sources[i], all.at[k], QUEUE_HIGH);
        }
        return 0;
}

int fake_kubelet_set_ready(struct fake_kubelet *f, const char *kind, const char *ns, const char *name,
                           bool ready)
{
        TRY(readiness_set(&f->readiness, kind, ns, name, ready));
        return look_at_all(f);
}

int fake_kubelet_set_simulated(struct fake_kubelet *f, const char *ns, bool simulated)
{
        if (!simulated)
                return map_put(&f->unsimulated, ns, f);
        map_remove(&f->unsimulated, ns);
        return look_at_all(f);
}

void fake_kubelet_clear(struct fake_kubelet *f)
{
        map_clear(&f->readiness);
        map_clear(&f->unsimulated);
}

/* ---- life ---- */

static int start_sources(struct fake_kubelet *f, struct error *err)
{
        for (size_t i = 0; i < ARRAY_LEN(looked_at); i++) {
                struct source *s = &f->sources[i];
                const struct informer_options o = { .kind = &partial_object_kind,
                                                    .resource = &looked_at[i].resource,
                                                    .field_selector = looked_at[i].field_selector };

                *s = (struct source){ .kubelet = f, .kind = i };
                s->informer = informer_new(f->client, f->group, &o);
                if (!s->informer || informer_add_handler(s->informer, on_event, s) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

static int start_all(struct fake_kubelet *f, struct fiber_group *parent, unsigned nodes, struct error *err)
{
        const struct queue_options queue = { .backoff_base_ms = 20,
                                             .backoff_max_ms = 1000,
                                             .name = "kubelet" };
        char name[32];

        f->group = fiber_group_new(f->loop, parent, "pretended kubelet");
        f->queue = work_queue_new(f->loop, &queue);
        if (!f->group || !f->queue)
                return error_no_memory(err);
        for (unsigned i = 1; i <= nodes; i++) {
                snprintf(name, sizeof(name), "node-%u", i);
                TRY(make_node(f, name, err));
        }
        TRY(start_sources(f, err));
        for (size_t i = 0; i < WORKERS; i++)
                if (!fiber_spawn(f->group, "pretended kubelet", work, f))
                        return error_no_memory(err);
        return 0;
}

struct fake_kubelet *fake_kubelet_stop(struct fake_kubelet *f)
{
        if (!f)
                return NULL;
        for (size_t i = 0; i < ARRAY_LEN(looked_at); i++)
                if (f->sources[i].informer)
                        informer_stop(f->sources[i].informer);
        fiber_group_end(f->group);
        work_queue_free(f->queue);
        map_free(&f->readiness);
        map_free(&f->unsimulated);
        mem_free(f);
        return NULL;
}

int fake_kubelet_start(struct kube_client *k, struct fiber_group *group, unsigned nodes,
                       struct fake_kubelet **ret, struct error *err)
{
        struct fake_kubelet *f = NEW(struct fake_kubelet);
        int code;

        if (!f)
                return error_no_memory(err);
        f->client = k;
        f->loop = k->world->loop;
        map_init(&f->readiness, MAP_OWN_KEYS, NULL);
        map_init(&f->unsimulated, MAP_OWN_KEYS, NULL);
        code = start_all(f, group, nodes, err);
        if (code < 0) {
                fake_kubelet_stop(f);
                return code;
        }
        *ret = f;
        return 0;
}
