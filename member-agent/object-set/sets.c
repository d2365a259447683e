#include "member-agent/object-set/sets.h"

#include "common/base/memory.h"
#include "member-agent/object-set/set_pass.h"

#define TAKEN_OVER_LOOK_MS                                                                                   \
        10000 /* from the first object that a set loses to the look at all that it lost                      \
               */

bool sets_holds(const char *holder)
{
        return text_starts_with(holder, SET_HOLDER_PREFIX);
}

void sets_enqueue(struct sets *s, const char *name, enum queue_priority priority)
{
        manager_enqueue(s->agent->manager, &object_set_controller, name, priority);
}

struct set_memory *sets_memory(struct sets *s, const char *name)
{
        struct set_memory *m = map_get(&s->memory, name);

        if (m)
                return m;
        m = NEW(struct set_memory);
        if (!m)
                return NULL;
        m->phase = JUDGE_NO_PHASE;
        if (map_put(&s->memory, name, m) == 0)
                return m;
        mem_free(m);
        return NULL;
}

static const struct cluster_object_set *set_of(const struct object *o)
{
        return (const struct cluster_object_set *)(const void *)o;
}

int sets_list(struct sets *s, struct arena *arena, struct set_list *ret, struct error *err)
{
        struct object_list l = { 0 };

        if (informer_list(s->informer, arena, &l) < 0 ||
            !(ret->at = ARENA_NEW_ARRAY(arena, const struct cluster_object_set *, l.n)))
                return error_no_memory(err);
        ret->n = l.n;
        for (size_t i = 0; i < l.n; i++)
                ret->at[i] = set_of(l.at[i]);
        return 0;
}

/* ---- events ---- */

static bool same_finalizers(const struct object_meta *a, const struct object_meta *b)
{
        if (a->n_finalizers != b->n_finalizers)
                return false;
        for (size_t i = 0; i < a->n_finalizers; i++)
                if (!text_equal(a->finalizers[i], b->finalizers[i]))
                        return false;
        return true;
}

/* Our own statuses wake nobody; what somebody else writes there is corrected with the next pass. */
static bool calls_for_work(const struct informer_event *e)
{
        const struct object_meta *a, *b;

        if (e->type != INFORMER_UPDATED)
                return true;
        a = &e->old->meta;
        b = &e->now->meta;
        return a->generation != b->generation || a->deletion_ms != b->deletion_ms ||
               !text_equal(a->uid, b->uid) || !string_map_equal(&a->labels, &b->labels) ||
               !string_map_equal(&a->annotations, &b->annotations) || !same_finalizers(a, b);
}

/* What siblings go by: spec/cluster-object-set.md 4.2, 4.3. */
static bool concerns_siblings(const struct informer_event *e)
{
        return calls_for_work(e) || set_has_succeeded(set_of(e->old)) != set_has_succeeded(set_of(e->now));
}

static void wake_owner(struct sets *s, const struct object *of, enum queue_priority priority)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct set_identity one, other;
        struct set_list all;

        set_identify(set_of(of), &one);
        if (!one.owner || sets_list(s, &arena, &all, NULL) < 0)
                return;
        for (size_t i = 0; i < all.n; i++) {
                set_identify(all.at[i], &other);
                if (set_have_one_owner(&one, &other) && !text_equal(one.name, other.name))
                        sets_enqueue(s, other.name, priority);
        }
}

static void on_set(void *ctx, const struct informer_event *e)
{
        struct sets *s = ctx;
        enum queue_priority priority = e->initial ? QUEUE_LOW : QUEUE_HIGH;

        if (calls_for_work(e)) {
                set_watches_changed(s);
                sets_enqueue(s, e->now->meta.name, priority);
        }
        if (e->initial || !concerns_siblings(e))
                return;
        wake_owner(s, e->now, QUEUE_NORMAL);
        if (e->type == INFORMER_UPDATED && !string_map_equal(&e->old->meta.labels, &e->now->meta.labels))
                wake_owner(s, e->old, QUEUE_NORMAL);
}

/* ---- what becomes of objects ---- */

static const struct cluster_object_set *controlling_set(struct sets *s, const struct object *o)
{
        for (size_t i = 0; i < o->meta.n_owners; i++) {
                const struct owner_reference *r = &o->meta.owners[i];
                const struct object *set;

                if (!r->controller || !text_starts_with(or_empty(r->api_version), OLM_PREFIX) ||
                    !text_equal(r->kind, KIND_CLUSTER_OBJECT_SET))
                        continue;
                set = informer_get(s->informer, NULL, or_empty(r->name));
                return set && text_equal(set->meta.uid, r->uid) ? set_of(set) : NULL;
        }
        return NULL;
}

/* A later revision that is on its way has the object. */
static bool was_taken_over(struct sets *s, const char *name, const struct object *o)
{
        const struct object *self = informer_get(s->informer, NULL, name);
        const struct cluster_object_set *later = controlling_set(s, o);

        return self && later && succession_replaces(later, set_of(self)) && !set_has_succeeded(later);
}

/* Whoever is being taken over has nothing to do about what it loses, loses one object after the other, and is
 * archived in the end: it looks at all of them together. Whatever else happens to its objects is looked at at
 * once. */
void sets_changed(struct member_agent *a, const char *holder, const struct object *now)
{
        const char *name = holder + strlen(SET_HOLDER_PREFIX);

        if (!a->sets)
                return;
        if (now && was_taken_over(a->sets, name, now))
                manager_enqueue_after(a->manager, &object_set_controller, name, TAKEN_OVER_LOOK_MS);
        else
                sets_enqueue(a->sets, name, QUEUE_NORMAL);
}

/* ---- what went while nobody was there ---- */

static int enqueue_vanished(struct sets *s, struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const char **holders;
        size_t n = 0;

        TRY(store_holders(s->agent->store, SET_HOLDER_PREFIX, &arena, &holders, &n, err));
        for (size_t i = 0; i < n; i++) {
                const char *name = holders[i] + strlen(SET_HOLDER_PREFIX);

                if (!informer_get(s->informer, NULL, name))
                        sets_enqueue(s, name, QUEUE_LOW);
        }
        return 0;
}

void sets_sweep_fiber(void *agent)
{
        struct member_agent *a = agent;
        struct error err = { 0 };

        if (informer_wait_synced(a->sets->informer, DEADLINE_NONE) == 0 &&
            enqueue_vanished(a->sets, &err) < 0)
                log_warn(a->log, "what is kept of ClusterObjectSets that are gone could not be looked for",
                         "error", err.text);
}

/* ---- life ---- */

int sets_start(struct member_agent *a, struct error *err)
{
        const struct informer_options o = { .kind = &cluster_object_set_kind,
                                            .flags = DECODE_PROJECTION,
                                            .interns = a->interns };
        struct sets *s = a->sets = NEW(struct sets);

        if (!s)
                return error_no_memory(err);
        s->agent = a;
        map_init(&s->memory, MAP_OWN_KEYS, mem_free);
        if (manager_add_informer(a->manager, &o, &s->informer) < 0 ||
            informer_add_handler(s->informer, on_set, s) < 0)
                return error_no_memory(err);
        set_metrics_begin(s);
        return 0;
}

struct sets *sets_free(struct sets *s)
{
        if (!s)
                return NULL;
        metrics_remove_source(&s->metrics);
        set_watches_free(s);
        map_free(&s->memory);
        mem_free(s);
        return NULL;
}
