#include "hub-agent/placement/progress.h"

#include <stdio.h>

#include "common/base/memory.h"
#include "hub-agent/placement/status.h"

#define COMPLETED "Completed"

static struct progress_point point(const struct placement *p, const char *condition, const char *status,
                                   const char *reason)
{
        struct progress_point r;

        snprintf(r.generation, sizeof(r.generation), "%lld", (long long)p->object.meta.generation);
        snprintf(r.condition, sizeof(r.condition), "%s", condition);
        snprintf(r.status, sizeof(r.status), "%s", status);
        snprintf(r.reason, sizeof(r.reason), "%s", reason);
        return r;
}

struct progress_point progress_of(const struct placement *p)
{
        static const struct condition_list none = { 0 };
        const struct condition_list *conditions = p->status ? &p->status->conditions : &none;
        const char *prefix = scope_of(p->object.meta.ns)->condition_prefix;
        int64_t generation = p->object.meta.generation;
        enum progress expected[N_PROGRESS];
        size_t n = expected_progress(p, expected);

        for (size_t i = 0; i <= n; i++) {
                char type[96];
                const struct condition *c;

                snprintf(type, sizeof(type), "%s%s", prefix,
                         i ? progress_names[expected[i - 1]] : CONDITION_SCHEDULED);
                if (condition_is_true(conditions, type, generation))
                        continue;
                c = condition_find(conditions, type);
                if (c && c->observed_generation.set && c->observed_generation.value == generation)
                        return point(p, type, c->status, or_empty(c->reason));
                return point(p, type, "nil", "nil");
        }
        return point(p, COMPLETED, CONDITION_TRUE, COMPLETED);
}

struct progress_series {
        struct map by_key; /* of placements' keys: struct progress_point */
};

struct progress_series *progress_series_new(void)
{
        struct progress_series *s = NEW(struct progress_series);

        if (s)
                map_init(&s->by_key, MAP_OWN_KEYS, mem_free);
        return s;
}

struct progress_series *progress_series_free(struct progress_series *s)
{
        if (!s)
                return NULL;
        map_free(&s->by_key);
        mem_free(s);
        return NULL;
}

static void set(struct hub_agent *a, const char *key, const struct progress_point *at, int64_t now_ms)
{
        const char *slash = strchr(key, '/');
        AUTO_FREE char *ns = mem_strndup(key, slash ? (size_t)(slash - key) : 0);
        const char *values[] = {
                ns, slash ? slash + 1 : key, at->generation, at->condition, at->status, at->reason
        };

        if (!ns)
                return;
        if (now_ms < 0)
                metric_remove(a->metrics, METRIC_PLACEMENT_STATUS, values);
        else
                metric_set(a->metrics, METRIC_PLACEMENT_STATUS, (double)now_ms / 1000, values);
}

void progress_show(struct hub_agent *a, const struct placement *p, int64_t now_ms)
{
        struct progress_point now = progress_of(p);
        struct progress_point *shown;
        AUTO_KEY struct key key = KEY_EMPTY;

        if (object_key(&key, p->object.meta.ns, p->object.meta.name) < 0)
                return; /* a metric is not worth a failed reconcile */
        shown = map_get(&a->progress->by_key, key.text);
        if (shown)
                set(a, key.text, shown, -1);
        else if (!(shown = NEW(struct progress_point)) ||
                 map_put(&a->progress->by_key, key.text, shown) < 0) {
                mem_free(shown); /* nor here */
                return;
        }
        *shown = now;
        set(a, key.text, shown, now_ms);
}

void progress_forget(struct hub_agent *a, const char *key)
{
        const struct progress_point *shown = map_get(&a->progress->by_key, key);

        if (!shown)
                return;
        set(a, key, shown, -1);
        map_remove(&a->progress->by_key, key);
}

void progress_keep_if(struct hub_agent *a, bool (*keep)(void *ctx, const char *key), void *ctx)
{
        map_for_each(&a->progress->by_key, e)
                if (!keep(ctx, e->key)) {
                        set(a, e->key, e->value, -1);
                        map_remove(&a->progress->by_key, e->key);
                }
}
