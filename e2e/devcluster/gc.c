#include "e2e/devcluster/gc.h"

#include "e2e/devcluster/gc_work.h"

struct item {
        char *cluster, *key, *ns, *name; /* one allocation, at cluster */
        bool repeated;                   /* nothing but times has moved */
};

struct gc {
        struct devcluster *devcluster;
        VEC(struct item) queue;
        size_t next; /* of the queue */
        struct waitq wake;
        struct fiber *fiber;
};

struct owner_dependents {
        VEC(struct blob *) at; /* borrowed: the current states in their tables */
};

/* ---- index: owner's uid -> dependents ---- */

static void dependents_free(void *value)
{
        struct owner_dependents *d = value;
        vec_free(&d->at);
        mem_free(d);
}

void gc_forget(struct cluster *c)
{
        map_free(&c->owners);
}

static void index_add(struct cluster *c, struct blob *b)
{
        const char *uid = b->data + b->owners_at;
        c->owners.destroy = dependents_free;
        for (uint16_t i = 0; i < b->n_owners; i++, uid = blob_string_next(uid)) {
                struct owner_dependents *d = map_get(&c->owners, uid);
                if (!d) {
                        d = NEW(struct owner_dependents);
                        if (!d || map_put(&c->owners, uid, d) < 0) {
                                mem_free(d);
                                return;
                        }
                }
                (void)vec_push(&d->at, b);
        }
}

static void index_remove(struct cluster *c, struct blob *b)
{
        const char *uid = b->data + b->owners_at;
        for (uint16_t i = 0; i < b->n_owners; i++, uid = blob_string_next(uid)) {
                struct owner_dependents *d = map_get(&c->owners, uid);
                for (size_t k = 0; d && k < d->at.n; k++)
                        if (d->at.at[k] == b) {
                                d->at.at[k] = d->at.at[--d->at.n];
                                break;
                        }
                if (d && d->at.n == 0)
                        map_remove(&c->owners, uid);
        }
}

struct blob *const *gc_dependents(struct cluster *c, const char *uid, size_t *ret_n)
{
        const struct owner_dependents *d = map_get(&c->owners, uid);
        *ret_n = d ? d->at.n : 0;
        return d ? d->at.at : NULL;
}

/* ---- queue ---- */

void gc_enqueue(struct gc *g, struct cluster *c, const char *key, const char *ns, const char *name)
{
        size_t a = strlen(c->name) + 1, b = strlen(key) + 1, e = strlen(ns) + 1, f = strlen(name) + 1;
        char *text = mem_alloc(a + b + e + f);
        if (!text)
                return;
        struct item item = { text, text + a, text + a + b, text + a + b + e };
        memcpy(item.cluster, c->name, a);
        memcpy(item.key, key, b);
        memcpy(item.ns, ns, e);
        memcpy(item.name, name, f);
        if (vec_push(&g->queue, item) < 0)
                mem_free(text);
        waitq_wake_all(&g->wake);
}

void gc_enqueue_blob(struct gc *g, struct cluster *c, const struct blob *b)
{
        AUTO_JSON json_t *doc = NULL;
        char key[600];
        if (blob_parse(b, &doc, NULL) < 0)
                return;
        const struct resource *r = gc_resource_of(c, doc);
        if (!r)
                return;
        snprintf(key, sizeof(key), "%s", r->table_key);
        gc_enqueue(g, c, key, blob_ns(b), blob_name(b));
}

static bool mentions_deletion(const struct blob *b)
{
        return strstr(b->data, "\"deletionTimestamp\"");
}

/* Something went: its owner, its namespace or its CRD may have waited for that. */
static void enqueue_waiting(struct gc *g, struct table *t, const struct blob *gone)
{
        struct cluster *c = t->cluster;
        size_t n;
        struct blob *const *dependents = gc_dependents(c, blob_uid(gone), &n);
        for (size_t i = 0; i < n; i++)
                gc_enqueue_blob(g, c, dependents[i]);
        if (gone->n_owners)
                gc_enqueue_owners(g, c, gone);
        const struct blob *ns =
                *blob_ns(gone) ? api_store_get(api_store_table(c, "/namespaces", false), "", blob_ns(gone))
                               : NULL;
        if (ns && mentions_deletion(ns))
                gc_enqueue(g, c, "/namespaces", "", blob_ns(gone));
        const struct resource *r = map_has(&c->custom, t->key) ? registry_find_key(c, t->key) : NULL;
        char crd[600];
        if (!r)
                return;
        snprintf(crd, sizeof(crd), "%s.%s", r->plural, r->group);
        gc_enqueue(g, c, CRD_TABLE_KEY, "", crd);
}

void gc_changed(struct gc *g, struct table *t, enum event_type type, struct blob *previous,
                struct blob *object)
{
        struct cluster *c = t->cluster;
        if (previous)
                index_remove(c, previous);
        if (type == EVENT_DELETED) {
                enqueue_waiting(g, t, object);
                return;
        }
        index_add(c, object);
        if (object->n_owners || mentions_deletion(object)) {
                size_t n = g->queue.n;
                gc_enqueue(g, c, t->key, blob_ns(object), blob_name(object));
                if (g->queue.n > n)
                        g->queue.at[n].repeated = object->repeated;
        }
        if (previous && previous->n_owners > object->n_owners)
                gc_enqueue_owners(g, c, previous);
}

void gc_load(struct gc *g, struct cluster *c)
{
        map_for_each(&c->tables, e) {
                struct table *t = e->value;
                for (size_t i = 0; i < t->items.n; i++)
                        index_add(c, t->items.at[i]);
        }
        map_for_each(&c->tables, e) {
                struct table *t = e->value;
                for (size_t i = 0; i < t->items.n; i++) {
                        struct blob *b = t->items.at[i];
                        if (b->n_owners || mentions_deletion(b))
                                gc_enqueue(g, c, t->key, blob_ns(b), blob_name(b));
                }
        }
}

/* ---- the fiber ---- */

#define ITEMS_PER_TURN 64

static void run_item(struct gc *g, const struct item *item)
{
        struct devcluster *d = g->devcluster;
        struct cluster *c = api_store_cluster(d->store, item->cluster);
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct request rq;
        if (!c || request_internal(&rq, d, c, item->key, item->ns, item->name, &arena) < 0)
                return;
        gc_process(g, &rq);
        vec_free(&rq.warnings);
}

static void run(void *ctx)
{
        struct gc *g = ctx;
        struct loop *loop = g->devcluster->loop;
        size_t done = 0;
        for (;;) {
                while (g->next < g->queue.n) {
                        struct item item = g->queue.at[g->next++];
                        if (!item.repeated) /* else it was looked at when something else changed */
                                run_item(g, &item);
                        mem_free(item.cluster);
                        if (++done % ITEMS_PER_TURN == 0 && fiber_yield(loop) < 0)
                                return;
                }
                g->queue.n = g->next = 0;
                if (waitq_wait(loop, &g->wake, DEADLINE_NONE) == ERR_CANCELLED)
                        return;
        }
}

struct gc *gc_new(struct devcluster *d)
{
        struct gc *g = NEW(struct gc);
        if (!g)
                return NULL;
        g->devcluster = d;
        g->fiber = fiber_spawn(d->group, "devcluster gc", run, g);
        if (!g->fiber) {
                mem_free(g);
                return NULL;
        }
        return g;
}

struct gc *gc_free(struct gc *g)
{
        if (!g)
                return NULL;
        for (; g->next < g->queue.n; g->next++)
                mem_free(g->queue.at[g->next].cluster);
        vec_free(&g->queue);
        mem_free(g);
        return NULL;
}
