#include "e2e/devcluster/store_internal.h"

#define HISTORY_EVENTS_DEFAULT 10000
/* Of superseded states that are kept alive per cluster, with as many events or fewer; with more in
 * proportion. */
#define HISTORY_BYTES_MAX ((size_t)64 << 20)

/* ---- event queues ---- */

struct event *event_queue_get(const struct event_queue *q, uint64_t position)
{
        ASSERT(position >= q->base && position - q->base < q->n);
        return q->at[(q->head + (uint32_t)(position - q->base)) & (q->cap - 1)];
}

static int event_queue_grow(struct event_queue *q)
{
        if (q->n < q->cap)
                return 0;
        uint32_t cap = q->cap ? q->cap * 2 : 4;
        struct event **at = mem_calloc(cap, sizeof(struct event *));
        if (!at)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < q->n; i++)
                at[i] = q->at[(q->head + i) & (q->cap - 1)];
        mem_free(q->at);
        q->at = at;
        q->cap = cap;
        q->head = 0;
        return 0;
}

static void event_queue_push(struct event_queue *q, struct event *e)
{
        ASSERT(q->n < q->cap);
        q->at[(q->head + q->n++) & (q->cap - 1)] = e;
}

static struct event *event_queue_pop(struct event_queue *q)
{
        struct event *e = q->at[q->head];
        q->head = (q->head + 1) & (q->cap - 1);
        q->n--;
        q->base++;
        return e;
}

/* ---- history ---- */

static size_t event_bytes(const struct event *e)
{
        return sizeof(*e) + e->object->end;
}

static void forget_oldest(struct cluster *c)
{
        struct event *e = event_queue_pop(&c->history);
        struct event *same = event_queue_pop(&e->table->events);
        ASSERT(same == e);
        c->history_bytes -= event_bytes(e);
        c->compacted_rv = e->rv;
        scopes_forget(e);
        blob_unref(e->object);
        blob_unref(e->previous);
        mem_free(e);
}

void api_store_compact(struct cluster *c, size_t keep_events)
{
        while (c->history.n > keep_events)
                forget_oldest(c);
}

static void trim_history(struct cluster *c)
{
        int64_t wanted = c->store->options.history_events;
        size_t most = (size_t)(wanted > 0 ? wanted : HISTORY_EVENTS_DEFAULT);
        size_t bytes = HISTORY_BYTES_MAX / HISTORY_EVENTS_DEFAULT * MAX(most, (size_t)HISTORY_EVENTS_DEFAULT);
        api_store_compact(c, most);
        while (c->history_bytes > bytes && c->history.n > 1)
                forget_oldest(c);
}

static void wake_table(struct table *t)
{
        waitq_wake_all(&t->watchers);
        scopes_wake_all(t);
}

void api_store_cut_watches(struct cluster *c, bool compact)
{
        if (compact) {
                c->rv++; /* so that even a watcher that saw everything is behind */
                api_store_compact(c, 0);
                c->compacted_rv = c->committed_rv = c->rv;
                c->store->cut = true;
                c->store->queued++;
                loop_hook_arm(&c->store->hook);
        }
        c->watch_epoch++;
        map_for_each(&c->tables, e)
                wake_table(e->value);
}

uint64_t api_store_events_after(const struct table *t, uint64_t rv)
{
        uint64_t low = t->events.base, high = t->events.base + t->events.n;
        while (low < high) {
                uint64_t middle = low + (high - low) / 2;
                if (event_queue_get(&t->events, middle)->rv <= rv)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* ---- tables ---- */

static void table_free(void *value)
{
        struct table *t = value;
        ASSERT(t->events.n == 0);
        for (size_t i = 0; i < t->items.n; i++)
                blob_unref(t->items.at[i]);
        vec_free(&t->items);
        map_free(&t->scopes);
        mem_free(t->events.at);
        mem_free(t);
}

struct table *api_store_table(struct cluster *c, const char *key, bool create)
{
        struct table *t = map_get(&c->tables, key);
        if (t || !create)
                return t;
        t = NEW(struct table);
        if (!t || map_put(&c->tables, key, t) < 0) {
                mem_free(t);
                return NULL;
        }
        map_for_each(&c->tables, e)
                if (e->value == t)
                        t->key = e->key;
        t->cluster = c;
        t->order = map_count(&c->tables);
        return t;
}

static int compare_key(const struct blob *b, const char *ns, const char *name)
{
        int r = strcmp(blob_ns(b), ns);
        return r ? r : strcmp(blob_name(b), name);
}

size_t api_store_lower_bound(const struct table *t, const char *ns, const char *name)
{
        size_t low = 0, high = t->items.n;
        /* A write looks for its object again and again. */
        if (t->found < high && compare_key(t->items.at[t->found], ns, name) == 0)
                return t->found;
        /* Appending in order is the common bulk case. */
        if (high && compare_key(t->items.at[high - 1], ns, name) < 0)
                return high;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (compare_key(t->items.at[middle], ns, name) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

struct blob *api_store_get(struct table *t, const char *ns, const char *name)
{
        if (!t)
                return NULL;
        size_t i = api_store_lower_bound(t, ns ? ns : "", name);
        if (i == t->items.n || compare_key(t->items.at[i], ns ? ns : "", name) != 0)
                return NULL;
        t->found = i;
        return t->items.at[i];
}

/* ---- writes ---- */

/* Reserves everything a write needs first, so that a write either happens whole or not at all. */
static int reserve_write(struct table *t, struct event **ret, struct error *err)
{
        struct cluster *c = t->cluster;
        if (event_queue_grow(&t->events) < 0 || event_queue_grow(&c->history) < 0 ||
            vec_reserve(&t->items, t->items.n + 1) < 0 ||
            vec_reserve(&c->store->changed, c->store->changed.n + 1) < 0 ||
            vec_reserve(&c->store->pending, c->store->pending.n + 1) < 0)
                return error_no_memory(err);
        struct event *e = NEW(struct event);
        if (!e)
                return error_no_memory(err);
        *ret = e;
        return 0;
}

static void record(struct table *t, struct event *e, enum event_type type, struct blob *previous,
                   struct blob *object)
{
        struct cluster *c = t->cluster;
        struct store *s = c->store;
        *e = (struct event){ .rv = object->rv,
                             .table = t,
                             .object = blob_ref(object),
                             .previous = previous ? blob_ref(previous) : NULL,
                             .type = (uint8_t)type };
        event_queue_push(&t->events, e);
        event_queue_push(&c->history, e);
        c->history_bytes += event_bytes(e);

        struct pending p = { .cluster = c, .key = t->key, .row = object->row };
        if (type != EVENT_DELETED)
                p.blob = blob_ref(object);
        s->pending.at[s->pending.n++] = p;
        if (!t->changed)
                s->changed.at[s->changed.n++] = t;
        t->changed = true;
        s->queued++;
        loop_hook_arm(&s->hook);
        if (s->options.observer.changed)
                s->options.observer.changed(s->options.observer.ctx, t, type, previous, object);
}

/* Puts b, which has the version that follows, in its place; takes b and e. */
static void put_blob(struct table *t, struct event *e, struct blob *b)
{
        t->cluster->rv++;
        size_t i = api_store_lower_bound(t, blob_ns(b), blob_name(b));
        bool exists = i < t->items.n && compare_key(t->items.at[i], blob_ns(b), blob_name(b)) == 0;
        struct blob *previous = exists ? t->items.at[i] : NULL;
        if (!exists) {
                memmove(&t->items.at[i + 1], &t->items.at[i], (t->items.n - i) * sizeof(struct blob *));
                t->items.n++;
                b->row = t->cluster->store->next_row++;
        } else {
                b->row = previous->row;
                b->often |= previous->often;
        }
        t->items.at[i] = b;
        record(t, e, exists ? EVENT_MODIFIED : EVENT_ADDED, previous, b);
        if (previous)
                blob_forget_doc(previous);
        blob_unref(previous);
}

int api_store_put(struct table *t, json_t *doc, struct blob **ret, struct error *err)
{
        struct event *e;
        TRY(reserve_write(t, &e, err));
        struct blob *b;
        int r = blob_from_doc(doc, t->cluster->rv + 1, &b, err);
        if (r < 0) {
                mem_free(e);
                return r;
        }
        put_blob(t, e, b);
        if (ret)
                *ret = b;
        return 0;
}

/* What is kept of the object that doc is to replace; NULL if nothing is. */
static const struct kept_document *kept_before(struct table *t, const json_t *doc)
{
        const json_t *meta = json_object_get(doc, "metadata");
        const char *name = json_string_value(json_object_get(meta, "name"));
        const struct blob *b =
                api_store_get(t, json_string_value(json_object_get(meta, "namespace")), name ? name : "");
        return b && b->kept && b->kept->doc ? b->kept : NULL;
}

int api_store_put_kept(struct table *t, json_t *doc, struct blob **ret, struct error *err)
{
        const struct kept_document *before = kept_before(t, doc);
        static const struct doc_spans none;
        struct doc_known_text known = { before ? before->blob->data : NULL, before ? before->blob->len : 0,
                                        before ? &before->spans : &none };
        CLEANUP(doc_spans_free) struct doc_spans spans = { 0 };
        struct event *e;
        TRY(reserve_write(t, &e, err));
        int r = blob_from_doc_beside(doc, t->cluster->rv + 1, &known, &spans, ret, err);
        if (r < 0) {
                mem_free(e);
                return r;
        }
        put_blob(t, e, *ret);
        kept_add(t->cluster->store, *ret, doc, &spans);
        return 0;
}

/* Where things stand in the text whose version has become longer. */
static void shift_repeat(struct repeat *r, uint32_t more)
{
        if (more && r->entry_time_at > r->version_at)
                r->entry_time_at += more;
        for (uint32_t i = 0; more && i < r->n; i++)
                if (r->places[i].at > r->version_at)
                        r->places[i].at += more;
}

int api_store_put_repeated(struct table *t, struct blob *b, const char *told, const char *entry_time,
                           struct blob **ret, struct error *err)
{
        struct repeat *r = b->kept->repeat;
        struct event *e;
        TRY(reserve_write(t, &e, err));
        struct blob *next = blob_copy_as(b, r->version_at, t->cluster->rv + 1);
        if (!next) {
                mem_free(e);
                return error_no_memory(err);
        }
        next->often = next->repeated = true;
        shift_repeat(r, next->len - b->len);
        memcpy(next->data + r->entry_time_at, entry_time, REPEAT_TIME_LEN);
        for (uint32_t i = 0; i < r->n; i++)
                memcpy(next->data + r->places[i].at, told + r->places[i].told_at, REPEAT_TIME_LEN);
        struct kept_document *k = kept_take(b);
        put_blob(t, e, next);
        kept_give(next, k);
        k->of->repeated++;
        *ret = next;
        return 0;
}

uint64_t api_store_repeated(const struct store *s)
{
        return s->kept.repeated;
}

uint64_t api_store_read_again(const struct store *s)
{
        return s->kept.read_again;
}

void api_store_never_repeat(struct store *s)
{
        s->kept.never_repeat = true;
}

int api_store_put_copy(struct table *t, const struct blob *of, struct error *err)
{
        ASSERT(of->rv == t->cluster->rv + 1);
        struct event *e;
        TRY(reserve_write(t, &e, err));
        struct blob *b = blob_copy(of);
        if (!b) {
                mem_free(e);
                return error_no_memory(err);
        }
        put_blob(t, e, b);
        return 0;
}

int api_store_remove(struct table *t, json_t *doc, struct error *err)
{
        struct event *e;
        TRY(reserve_write(t, &e, err));
        struct blob *last;
        int r = blob_from_doc(doc, t->cluster->rv + 1, &last, err);
        if (r < 0) {
                mem_free(e);
                return r;
        }
        size_t i = api_store_lower_bound(t, blob_ns(last), blob_name(last));
        ASSERT(i < t->items.n && compare_key(t->items.at[i], blob_ns(last), blob_name(last)) == 0);
        t->cluster->rv++;
        struct blob *previous = t->items.at[i];
        last->row = previous->row;
        vec_remove(&t->items, i);
        record(t, e, EVENT_DELETED, previous, last);
        blob_forget_doc(previous);
        blob_unref(previous);
        blob_unref(last);
        return 0;
}

/* ---- commit ---- */

static int compare_tables(const void *a, const void *b)
{
        const struct table *x = *(struct table *const *)a, *y = *(struct table *const *)b;
        if (x->cluster != y->cluster)
                return x->cluster->id < y->cluster->id ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

/* The tables of one cluster, of which there are n. */
static void wake_watchers_of(struct cluster *c, struct table **at, size_t n)
{
        uint64_t from = c->committed_rv;
        for (size_t i = 0; i < n; i++)
                at[i]->changed = false;
        if (from == c->rv) /* all were cut since */
                return;
        c->committed_rv = c->rv;
        for (size_t i = 0; i < n; i++) {
                struct event_queue *q = &at[i]->events;
                if (!q->n || event_queue_get(q, q->base + q->n - 1)->rv <= from)
                        continue;
                waitq_wake_all(&at[i]->watchers);
                scopes_wake(at[i], from);
        }
        waitq_wake_all(&c->any_change);
        trim_history(c);
}

/* Cluster by cluster and table by table, as they were made; what was not written costs nothing. */
static void wake_watchers(struct store *s)
{
        struct table **at = s->changed.at;
        if (s->changed.n > 1)
                qsort(at, s->changed.n, sizeof(struct table *), compare_tables);
        for (size_t i = 0, end; i < s->changed.n; i = end) {
                for (end = i + 1; end < s->changed.n && at[end]->cluster == at[i]->cluster; end++)
                        ;
                wake_watchers_of(at[i]->cluster, at + i, end - i);
        }
        s->changed.n = 0;
}

int api_store_commit(struct store *s, struct error *err)
{
        int r = s->failed ? error_set(err, ERR_SYSTEM, "the store failed to commit before") : 0;
        if (s->db && r == 0 && (s->pending.n > 0 || s->cut))
                r = api_store_sql_commit(s, err);
        if (r < 0 && !s->failed) {
                s->failed = true;
                log_error(s->options.log, "commit failed: no write is acknowledged any more", "path",
                          s->options.path, "error", err ? err->text : "");
        }
        for (size_t i = 0; i < s->pending.n; i++)
                blob_unref(s->pending.at[i].blob);
        s->pending.n = 0;
        s->committed = s->queued;
        if (!s->failed)
                wake_watchers(s);
        waitq_wake_all(&s->waiters);
        if (s->options.observer.committed)
                s->options.observer.committed(s->options.observer.ctx, r);
        return r;
}

static void commit_turn(void *ctx)
{
        struct error err = { 0 };
        (void)api_store_commit(ctx, &err);
}

int api_store_wait(struct store *s, struct error *err)
{
        uint64_t until = s->queued;
        fiber_mask_cancel(s->loop);
        while (s->committed < until && !s->failed)
                (void)waitq_wait(s->loop, &s->waiters, DEADLINE_NONE);
        fiber_unmask_cancel(s->loop);
        if (s->failed)
                return error_set(err, ERR_SYSTEM, "the store failed to commit; see the server's log");
        return 0;
}

/* ---- clusters ---- */

struct cluster *api_store_cluster(struct store *s, const char *name)
{
        return map_get(&s->clusters, name);
}

const struct map *api_store_clusters(const struct store *s)
{
        return &s->clusters;
}

static void cluster_free(void *value)
{
        struct cluster *c = value;
        if (c->store->options.cluster_free)
                c->store->options.cluster_free(c);
        api_store_compact(c, 0);
        map_free(&c->tables);
        mem_free(c->history.at);
        mem_free(c->name);
        mem_free(c);
}

struct cluster *api_store_cluster_new(struct store *s, const char *name, int64_t id, uint64_t rv)
{
        struct cluster *c = NEW(struct cluster);
        if (!c)
                return NULL;
        c->name = mem_strdup(name);
        if (!c->name || map_put(&s->clusters, name, c) < 0) {
                mem_free(c->name);
                mem_free(c);
                return NULL;
        }
        c->store = s;
        c->id = id;
        c->rv = c->committed_rv = c->compacted_rv = c->stored_rv = rv;
        map_init(&c->tables, MAP_OWN_KEYS, table_free);
        return c;
}

int api_store_cluster_create(struct store *s, const char *name, struct cluster **ret, struct error *err)
{
        struct cluster *c = api_store_cluster_new(s, name, s->next_cluster++, 1);
        if (!c)
                return error_no_memory(err);
        if (s->db) {
                int r = api_store_sql_cluster_create(s, c, err);
                if (r < 0) {
                        map_remove(&s->clusters, name);
                        return r;
                }
        }
        *ret = c;
        return 0;
}

static void drop_pending(struct store *s, const struct cluster *c)
{
        size_t kept = 0;
        for (size_t i = 0; i < s->pending.n; i++) {
                if (s->pending.at[i].cluster == c)
                        blob_unref(s->pending.at[i].blob);
                else
                        s->pending.at[kept++] = s->pending.at[i];
        }
        s->pending.n = kept;
}

static void drop_changed(struct store *s, const struct cluster *c)
{
        size_t kept = 0;
        for (size_t i = 0; i < s->changed.n; i++)
                if (s->changed.at[i]->cluster != c)
                        s->changed.at[kept++] = s->changed.at[i];
        s->changed.n = kept;
}

int api_store_cluster_delete(struct store *s, struct cluster *c, struct error *err)
{
        if (s->db)
                TRY(api_store_sql_cluster_delete(s, c, err));
        if (vec_reserve(&s->deleted, s->deleted.n + 1) < 0)
                return error_no_memory(err);
        drop_pending(s, c);
        drop_changed(s, c);
        (void)map_take(&s->clusters, c->name);
        c->deleted = true;
        s->deleted.at[s->deleted.n++] = c;
        return 0;
}

int api_store_load_blob(struct cluster *c, const char *key, struct blob *b)
{
        struct table *t = api_store_table(c, key, true);
        b->often = true; /* nobody knows; the first patch may tell */
        if (!t || vec_push(&t->items, b) < 0) {
                blob_unref(b);
                return ERR_NO_MEMORY;
        }
        return 0;
}

static int compare_blobs(const void *a, const void *b)
{
        const struct blob *x = *(struct blob *const *)a, *y = *(struct blob *const *)b;
        return compare_key(x, blob_ns(y), blob_name(y));
}

void api_store_sort_loaded(struct cluster *c)
{
        map_for_each(&c->tables, e) {
                struct table *t = e->value;
                qsort(t->items.at, t->items.n, sizeof(struct blob *), compare_blobs);
        }
}

/* ---- open and close ---- */

int api_store_open(const struct store_options *o, struct store **ret, struct error *err)
{
        struct store *s = NEW(struct store);
        if (!s)
                return error_no_memory(err);
        s->options = *o;
        s->loop = o->loop;
        s->next_row = s->next_cluster = 1;
        map_init(&s->clusters, MAP_OWN_KEYS, cluster_free);
        list_init(&s->kept.list);
        s->hook = (struct loop_hook){ .fn = commit_turn, .ctx = s };
        loop_hook_add(s->loop, &s->hook);
        int r = text_equal(o->path, ":memory:") ? 0 : api_store_sql_open(s, err);
        if (r < 0) {
                api_store_close(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct store *api_store_close(struct store *s)
{
        if (!s)
                return NULL;
        (void)api_store_commit(s, NULL);
        api_store_forget_docs(s);
        loop_hook_remove(s->loop, &s->hook);
        api_store_sql_close(s);
        map_free(&s->clusters);
        for (size_t i = 0; i < s->deleted.n; i++)
                cluster_free(s->deleted.at[i]);
        vec_free(&s->deleted);
        vec_free(&s->pending);
        vec_free(&s->changed);
        mem_free(s);
        return NULL;
}
