#include "e2e/devcluster/workloads.h"

#include "e2e/devcluster/csr.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/pods.h"
#include "e2e/devcluster/rbac_aggregate.h"
#include "e2e/devcluster/readiness.h"
#include "e2e/devcluster/storage_protection.h"
#include "e2e/devcluster/workload_status.h"

#define CLUSTER_ROLES "rbac.authorization.k8s.io/clusterroles"
#define JOBS "batch/jobs"
#define SIGNING_REQUESTS "certificates.k8s.io/certificatesigningrequests"
#define OBJECTS_PER_TURN 64

static const char *const simulated[] = {
        "apps/deployments",
        "apps/replicasets",
        "apps/statefulsets",
        "apps/daemonsets",
        JOBS,
        "/pods",
        "/services",
        "/persistentvolumeclaims",
        "/persistentvolumes",
        "/replicationcontrollers",
        "/resourcequotas",
        "networking.k8s.io/ingresses",
        "autoscaling/horizontalpodautoscalers",
        "policy/poddisruptionbudgets",
        "apiregistration.k8s.io/apiservices",
        "/nodes",
        SIGNING_REQUESTS,
};

/* One object to look at; waits in the order of its due time, which is the order of arrival. */
struct item {
        int64_t due_ms;
        const char *cluster, *key, *ns, *name; /* behind id */
        char id[];                             /* "CLUSTER\1KEY\1NS\1NAME", then the four texts */
};

struct simulator {
        struct devcluster *devcluster;
        VEC(struct item *) queue;
        size_t next;         /* of the queue */
        struct map waiting;  /* id -> item: each object waits once */
        struct fiber *fiber; /* while the queue is not empty */
        int64_t delay_ms;
        bool writing; /* the change is our own: rules settle in one step, but those of jobs */
};

struct simulator *simulator_new(struct devcluster *d)
{
        struct simulator *s = NEW(struct simulator);
        if (!s)
                return NULL;
        s->devcluster = d;
        s->delay_ms = WORKLOAD_DELAY_MS;
        map_init(&s->waiting, MAP_BORROW_KEYS, NULL);
        return s;
}

struct simulator *simulator_free(struct simulator *s)
{
        if (!s)
                return NULL;
        map_free(&s->waiting);
        for (; s->next < s->queue.n; s->next++)
                mem_free(s->queue.at[s->next]);
        vec_free(&s->queue);
        mem_free(s);
        return NULL;
}

void simulator_set_delay(struct simulator *s, int64_t ms)
{
        s->delay_ms = ms;
}

/* ---- queue ---- */

static const char *pack(char **at, const char *s)
{
        size_t n = strlen(s) + 1;
        char *start = *at;
        memcpy(start, s, n);
        *at += n;
        return start;
}

static struct item *item_new(const char *id, size_t n, const char *cluster, const char *key, const char *ns,
                             const char *name)
{
        struct item *item = mem_alloc(sizeof(*item) + n + 1 + strlen(cluster) + strlen(key) + strlen(ns) +
                                      strlen(name) + 4);
        if (!item)
                return NULL;
        char *at = item->id;
        (void)pack(&at, id);
        item->cluster = pack(&at, cluster);
        item->key = pack(&at, key);
        item->ns = pack(&at, ns);
        item->name = pack(&at, name);
        return item;
}

static void run(void *ctx);

static int start(struct simulator *s)
{
        if (!s->fiber)
                s->fiber = fiber_spawn(s->devcluster->group, "devcluster workloads", run, s);
        return s->fiber ? 0 : ERR_NO_MEMORY;
}

static int enqueue(struct simulator *s, struct cluster *c, const char *key, const char *ns, const char *name)
{
        char id[1200];
        int n = snprintf(id, sizeof(id), "%s\1%s\1%s\1%s", c->name, key, ns, name);
        if (n < 0 || (size_t)n >= sizeof(id) || map_has(&s->waiting, id))
                return 0;
        struct item *item = item_new(id, (size_t)n, c->name, key, ns, name);
        if (!item)
                return ERR_NO_MEMORY;
        item->due_ms = loop_now_ms(s->devcluster->loop) + s->delay_ms;
        if (map_put(&s->waiting, item->id, item) < 0) {
                mem_free(item);
                return ERR_NO_MEMORY;
        }
        if (vec_push(&s->queue, item) < 0) {
                map_remove(&s->waiting, item->id);
                mem_free(item);
                return ERR_NO_MEMORY;
        }
        return start(s);
}

/* Roles made of others' rules are looked at when any role changed. */
static void enqueue_aggregated_roles(struct simulator *s, struct table *t)
{
        for (size_t i = 0; i < t->items.n; i++)
                if (strstr(t->items.at[i]->data, "\"aggregationRule\""))
                        (void)enqueue(s, t->cluster, t->key, "", blob_name(t->items.at[i]));
}

static bool is_simulated(const char *key)
{
        for (size_t i = 0; i < ARRAY_LEN(simulated); i++)
                if (strcmp(simulated[i], key) == 0)
                        return true;
        return false;
}

static void enqueue_table(struct simulator *s, struct cluster *c, const char *key, const char *ns)
{
        struct table *t = api_store_table(c, key, false);
        size_t i = t ? api_store_lower_bound(t, ns ? ns : "", "") : 0;
        for (; t && i < t->items.n; i++) {
                if (ns && strcmp(blob_ns(t->items.at[i]), ns) != 0)
                        break;
                (void)enqueue(s, c, key, blob_ns(t->items.at[i]), blob_name(t->items.at[i]));
        }
}

/* What went may have to be made again. */
static void enqueue_owner(struct simulator *s, struct cluster *c, const struct blob *object)
{
        AUTO_JSON json_t *doc = NULL;
        struct pods_owner owner;
        if (blob_parse(object, &doc, NULL) == 0 && pods_owner_of(doc, &owner))
                (void)enqueue(s, c, owner.table_key, blob_ns(object), owner.name);
}

void simulator_changed(struct simulator *s, struct table *t, enum event_type type, const struct blob *object)
{
        if (strcmp(t->key, "/nodes") == 0 && type != EVENT_MODIFIED)
                enqueue_table(s, t->cluster, "apps/daemonsets", NULL);
        if (type != EVENT_ADDED && strcmp(t->key, "/pods") == 0)
                enqueue_table(s, t->cluster, "/persistentvolumeclaims", blob_ns(object));
        if (type == EVENT_DELETED && strcmp(t->key, "/persistentvolumeclaims") == 0)
                enqueue_table(s, t->cluster, "/persistentvolumes", NULL);
        if (t->cluster->makes_pods && type == EVENT_DELETED && object->n_owners)
                enqueue_owner(s, t->cluster, object);
        bool from_start = type == EVENT_ADDED &&
                          blob_label(object, "kubernetes.io/bootstrapping"); /* summed up already */
        if (strcmp(t->key, CLUSTER_ROLES) == 0 && !from_start)
                enqueue_aggregated_roles(s, t);
        if (text_starts_with(t->key, "apps/"))
                enqueue_table(s, t->cluster, "policy/poddisruptionbudgets", blob_ns(object));
        if (type == EVENT_DELETED || !is_simulated(t->key) || (s->writing && strcmp(t->key, JOBS) != 0))
                return;
        if (enqueue(s, t->cluster, t->key, blob_ns(object), blob_name(object)) < 0)
                log_warn(s->devcluster->log, "out of memory: an object stays without a status", "cluster",
                         t->cluster->name, "name", blob_name(object));
}

void simulator_refresh(struct simulator *s, struct cluster *c)
{
        for (size_t i = 0; i < ARRAY_LEN(simulated); i++)
                enqueue_table(s, c, simulated[i], NULL);
}

/* ---- facts ---- */

static bool is_run_by_others(const struct cluster *c, const char *key, const char *ns)
{
        return *ns && map_has(&c->unsimulated, ns) &&
               (text_starts_with(key, "apps/") || strcmp(key, "/pods") == 0 || strcmp(key, JOBS) == 0);
}

static bool may_become_ready(const struct cluster *c, const char *kind, const json_t *doc)
{
        return !readiness_is_refused(doc) && !pods_are_held(c, doc) &&
               !readiness_is_held(&c->readiness, kind, meta_ns(doc), meta_name(doc));
}

static bool selects(const json_t *selector, const json_t *labels)
{
        const char *key;
        json_t *value;
        const json_t *wanted = doc_get_object(selector, "matchLabels");
        json_object_foreach((json_t *)wanted, key, value)
                if (!text_equal(json_string_value(json_object_get(labels, key)), json_string_value(value)))
                        return false;
        return selector != NULL;
}

/* There are no pods to count: the workloads' templates and replicas stand for them. */
static void count_pods(struct cluster *c, const json_t *budget, struct workload_facts *f)
{
        static const char *const tables[] = { "apps/deployments", "apps/statefulsets" };
        const char *ns = meta_ns(budget);
        for (size_t k = 0; k < ARRAY_LEN(tables); k++) {
                struct table *t = api_store_table(c, tables[k], false);
                for (size_t i = t ? api_store_lower_bound(t, ns, "") : 0;
                     t && i < t->items.n && strcmp(blob_ns(t->items.at[i]), ns) == 0; i++) {
                        AUTO_JSON json_t *doc = NULL;
                        if (blob_parse(t->items.at[i], &doc, NULL) < 0 ||
                            !selects(doc_get_object(budget, "spec.selector"),
                                     doc_get_object(doc, "spec.template.metadata.labels")))
                                continue;
                        f->expected_pods += doc_get_int(doc, "spec.replicas", 1);
                        f->healthy_pods += doc_get_int(doc, "status.readyReplicas", 0);
                }
        }
}

static const char *node_for(struct cluster *c, uint64_t number)
{
        const struct table *nodes = api_store_table(c, "/nodes", false);
        return nodes && nodes->items.n ? blob_name(nodes->items.at[number % nodes->items.n]) : NULL;
}

static int find_facts(struct simulator *s, struct request *rq, const json_t *doc, struct workload_facts *ret)
{
        const char *kind = rq->resource->kind, *uid = meta_uid(doc);
        const struct table *nodes = api_store_table(rq->cluster, "/nodes", false);
        uint64_t h = hash_bytes(uid, strlen(uid), 0);
        *ret = (struct workload_facts){
                .now_ms = rq->now_ms,
                .ready = may_become_ready(rq->cluster, kind, doc),
                .n_nodes = nodes ? (int64_t)nodes->items.n : 0,
                .node = node_for(rq->cluster, h),
                .pod_ip = arena_printf(rq->arena, "10.244.%u.%u", (unsigned)(h >> 8) & 255,
                                       (unsigned)(h & 255)),
                .address = arena_printf(rq->arena, "172.18.%u.%u", (unsigned)(h >> 8) & 255,
                                        (unsigned)(h & 255)),
        };
        if (strcmp(kind, "PodDisruptionBudget") == 0)
                count_pods(rq->cluster, doc, ret);
        return ret->pod_ip && ret->address ? 0 : ERR_NO_MEMORY;
}

/* ---- the fiber ---- */

static int write_status(struct simulator *s, struct request *rq, const json_t *live, json_t *doc,
                        struct error *err)
{
        struct table *t = request_table(rq, true);
        if (!t)
                return error_no_memory(err);
        s->writing = true;
        int r = api_store_put(t, doc, NULL, err);
        s->writing = false;
        TRY(r);
        const struct resource_hooks *hooks = rq->resource->hooks;
        if (hooks && hooks->after_write)
                hooks->after_write(rq->devcluster, rq->cluster, live, doc);
        return 0;
}

static int advance(struct simulator *s, struct request *rq, struct error *err)
{
        struct blob *b = api_store_get(request_table(rq, false), rq->ns, rq->name);
        AUTO_JSON json_t *live = NULL, *doc = NULL;
        struct workload_facts facts;
        if (!b)
                return 0;
        TRY(blob_parse(b, &live, err));
        if (meta_is_deleting(live)) {
                storage_protection_release(rq, live);
                return 0;
        }
        doc = doc_copy(live);
        if (!doc || find_facts(s, rq, live, &facts) < 0)
                return error_no_memory(err);
        const char *key = rq->resource->table_key;
        if (strcmp(key, SIGNING_REQUESTS) == 0)
                TRY(csr_sign(s->devcluster, doc, rq->now_ms, err));
        else if ((strcmp(key, CLUSTER_ROLES) == 0 ? rbac_aggregate(rq->cluster, doc)
                                                  : workload_advance(rq->resource->kind, doc, &facts)) < 0)
                return error_no_memory(err);
        if (!doc_equal(live, doc))
                TRY(write_status(s, rq, live, doc, err));
        return rq->cluster->makes_pods && pods_kind_has_any(rq->resource->kind) ? pods_follow(rq, doc, err)
                                                                                : 0;
}

static void run_item(struct simulator *s, const struct item *item)
{
        struct devcluster *d = s->devcluster;
        struct cluster *c = api_store_cluster(d->store, item->cluster);
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct request rq;
        struct error err = { 0 };
        if (!c || is_run_by_others(c, item->key, item->ns) ||
            request_internal(&rq, d, c, item->key, item->ns, item->name, &arena) < 0)
                return;
        if (advance(s, &rq, &err) < 0)
                log_warn(d->log, "simulated status is not written", "cluster", item->cluster, "resource",
                         item->key, "name", item->name, "error", err.text);
        vec_free(&rq.warnings);
}

static void take_next(struct simulator *s)
{
        struct item *item = s->queue.at[s->next++];
        map_remove(&s->waiting, item->id);
        run_item(s, item);
        mem_free(item);
        if (s->next >= 1024 && s->next * 2 >= s->queue.n) {
                memmove(s->queue.at, &s->queue.at[s->next], (s->queue.n - s->next) * sizeof(*s->queue.at));
                s->queue.n -= s->next;
                s->next = 0;
        }
}

static void run(void *ctx)
{
        struct simulator *s = ctx;
        struct loop *loop = s->devcluster->loop;
        for (size_t done = 0; s->next < s->queue.n;) {
                int64_t wait = s->queue.at[s->next]->due_ms - loop_now_ms(loop);
                if (wait > 0) {
                        if (fiber_sleep(loop, wait) < 0)
                                break;
                        continue;
                }
                take_next(s);
                if (++done % OBJECTS_PER_TURN == 0 && fiber_yield(loop) < 0)
                        break;
        }
        if (s->next == s->queue.n)
                s->next = s->queue.n = 0;
        s->fiber = NULL;
}
