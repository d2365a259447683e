#include "e2e/devcluster/snapshot.h"

static int compare_keys(const struct blob *a, const char *ns, const char *name)
{
        int r = strcmp(blob_ns(a), ns);

        return r ? r : strcmp(blob_name(a), name);
}

/* By key, and of one object's changes the first one first: events are given in that order, qsort need not
 * keep it. */
static int compare_changes(const void *a, const void *b)
{
        const struct event *x = *(struct event *const *)a, *y = *(struct event *const *)b;
        int r = compare_keys(x->object, blob_ns(y->object), blob_name(y->object));

        return r ? r : x->rv < y->rv ? -1 : x->rv > y->rv;
}

/* What each object that has changed since was before its first change. */
static int keep_first_changes(struct snapshot *s, struct event *const *events, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct event *e = events[i], *before = i ? events[i - 1] : NULL;
                struct changed_object c = { e->previous, e->object };

                if (before &&
                    compare_keys(e->object, blob_ns(before->object), blob_name(before->object)) == 0)
                        continue;
                if (vec_push(&s->changed, c) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

static int collect_changes(struct snapshot *s, uint64_t version)
{
        const struct event_queue *q = &s->table->events;
        uint64_t from = api_store_events_after(s->table, version), end = q->base + q->n;
        AUTO_FREE struct event **events = NULL;
        size_t n = (size_t)(end - from);

        if (n == 0)
                return 0;
        events = mem_calloc(n, sizeof(struct event *));
        if (!events)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++)
                events[i] = event_queue_get(q, from + i);
        qsort(events, n, sizeof(struct event *), compare_changes);
        return keep_first_changes(s, events, n);
}

int snapshot_begin(struct snapshot *s, const struct table *t, uint64_t version, const char *ns,
                   const char *name)
{
        *s = (struct snapshot){ .table = t };
        if (!t)
                return 0;
        s->at = api_store_lower_bound(t, ns, name);
        TRY(collect_changes(s, version));
        while (s->next < s->changed.n && compare_keys(s->changed.at[s->next].any, ns, name) < 0)
                s->next++;
        return 0;
}

struct blob *snapshot_next(struct snapshot *s)
{
        while (s->table) {
                struct blob *now = s->at < s->table->items.n ? s->table->items.at[s->at] : NULL;
                const struct changed_object *c = s->next < s->changed.n ? &s->changed.at[s->next] : NULL;
                int order = !c ? -1 : !now ? 1 : compare_keys(now, blob_ns(c->any), blob_name(c->any));

                if (!now && !c)
                        break;
                if (order <= 0)
                        s->at++;
                if (order < 0)
                        return now;
                s->next++;
                if (c->then)
                        return c->then;
        }
        return NULL;
}

void snapshot_end(struct snapshot *s)
{
        vec_free(&s->changed);
}
