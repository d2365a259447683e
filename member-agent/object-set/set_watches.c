/* What sets wait for is followed, metadata only, as long as some set does: Secrets that they refer to, a
 * namespace or a kind that is missing. Who waits is woken: spec/cluster-object-set.md 6.3, 15. */
#include "common/base/memory.h"
#include "member-agent/object-set/set_pass.h"
#include "member-agent/watch/follower.h"

struct set_watch {
        struct sets *sets;
        enum set_awaited what;
        struct follower *follower;
        struct map seen;       /* "ns/name" of Secrets that sets refer to -> struct seen */
        struct arena arena;    /* of what follows */
        struct map *referring; /* "ns/name" of a Secret -> struct referrer; NULL = to be made anew */
        bool listing;          /* what is shown has not changed just now */
};

static const struct kube_resource resources[SET_AWAITED] = {
        [AWAITED_SECRET] = { "", "v1", "secrets", "Secret", true },
        [AWAITED_NAMESPACE] = { "", "v1", "namespaces", "Namespace", false },
        [AWAITED_KIND] = { "apiextensions.k8s.io", "v1", "customresourcedefinitions",
                           "CustomResourceDefinition", false },
};

/* ---- Secrets ---- */

struct seen {
        bool listed;    /* by the list that goes on */
        char version[]; /* resourceVersion; "" = it went */
};

struct referrer {
        const char *set;
        struct referrer *next;
};
typedef int (*ref_handler)(void *ctx, const struct cluster_object_set *s, const struct object_set_ref *ref);

/* Calls fn for each ref until it returns something else than 0, and returns that. What is archived reads
 * none. */
static int each_ref(const struct cluster_object_set *s, ref_handler fn, void *ctx)
{
        for (uint32_t i = 0; s->spec && !set_is_archived(s) && i < s->spec->phases.n; i++) {
                const struct object_set_entry_list *l = &s->spec->phases.at[i].objects;

                for (uint32_t k = 0; k < l->n; k++) {
                        int r = l->at[k].ref ? fn(ctx, s, l->at[k].ref) : 0;

                        if (r != 0)
                                return r;
                }
        }
        return 0;
}

static const char *secret_key(struct arena *arena, const char *ns, const char *name)
{
        return arena_printf(arena, "%s/%s", ns, name);
}

/* One set's refs come one after another, so it is the first there if it is there. */
static int note_ref(void *ctx, const struct cluster_object_set *s, const struct object_set_ref *ref)
{
        struct set_watch *w = ctx;
        const char *ns = text_empty(ref->ns) ? agent_namespace(w->sets->agent) : ref->ns,
                   *key = secret_key(&w->arena, ns, or_empty(ref->name));
        struct referrer *first = key ? map_get(w->referring, key) : NULL, *r;

        if (first && text_equal(first->set, s->object.meta.name))
                return 0;
        r = ARENA_NEW(&w->arena, struct referrer);
        if (!key || !r)
                return ERR_NO_MEMORY;
        *r = (struct referrer){ arena_strdup(&w->arena, s->object.meta.name), first };
        return r->set ? map_put(w->referring, key, r) : ERR_NO_MEMORY;
}

static int index_refs(struct set_watch *w)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct set_list all;

        if (w->referring)
                return 0;
        TRY(sets_list(w->sets, &arena, &all, NULL));
        if (!(w->referring = map_of_arena(&w->arena)))
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < all.n; i++)
                if (each_ref(all.at[i], note_ref, w) < 0)
                        return set_watches_changed(w->sets), ERR_NO_MEMORY;
        return 0;
}

void set_watches_changed(struct sets *s)
{
        struct set_watch *w = s->watches[AWAITED_SECRET];

        if (!w)
                return;
        arena_free(&w->arena);
        w->referring = NULL;
}

static int wake_referring(struct set_watch *w, const char *secret, bool changed, bool *ret_known)
{
        TRY(index_refs(w));
        for (const struct referrer *r = map_get(w->referring, secret); r; r = r->next) {
                struct set_memory *memory = sets_memory(w->sets, r->set);

                *ret_known = true;
                if (!memory)
                        return ERR_NO_MEMORY;
                memory->doubtful |= changed;
                sets_enqueue(w->sets, r->set, QUEUE_NORMAL);
        }
        return 0;
}

static int note_version(struct set_watch *w, const char *key, const char *now)
{
        struct seen *before = map_get(&w->seen, key), *after;
        size_t size = strlen(now) + 1;
        bool known = false;

        if (before)
                before->listed = true;
        if (text_equal(before ? before->version : NULL, now))
                return 0;
        TRY(wake_referring(w, key, before || !w->listing, &known));
        if (!known)
                return 0;
        after = mem_alloc(sizeof(*after) + size);
        if (!after)
                return ERR_NO_MEMORY;
        after->listed = true;
        memcpy(after->version, now, size);
        return map_put(&w->seen, key, after) == 0 ? 0 : (mem_free(after), ERR_NO_MEMORY);
}

static int note_secret(struct set_watch *w, const struct object *o, bool deleted, struct arena *arena)
{
        const char *key = secret_key(arena, or_empty(o->meta.ns), o->meta.name);

        return key ? note_version(w, key, deleted ? "" : or_empty(o->meta.resource_version)) : ERR_NO_MEMORY;
}

static void begin_list(struct set_watch *w)
{
        map_for_each(&w->seen, e)
                ((struct seen *)e->value)->listed = false;
}

/* What the list did not show went while nobody could watch. */
static int end_list(struct set_watch *w)
{
        map_for_each(&w->seen, e) {
                const struct seen *s = e->value;
                bool known = false;

                if (s->listed || !*s->version)
                        continue;
                TRY(wake_referring(w, e->key, true, &known));
                ((struct seen *)e->value)->version[0] = '\0';
        }
        return 0;
}

/* ---- namespaces and kinds ---- */

/* Few sets wait, and not for long: each looks for itself whether it was this one. */
static void wake_waiting(struct set_watch *w)
{
        map_for_each(&w->sets->memory, e) {
                struct set_memory *memory = e->value;

                if (!memory->awaits[w->what])
                        continue;
                memory->kinds_have_come |= w->what == AWAITED_KIND;
                sets_enqueue(w->sets, e->key, QUEUE_NORMAL);
        }
}

/* ---- life ---- */

static void on_begin(void *ctx)
{
        struct set_watch *w = ctx;

        w->listing = true;
        begin_list(w);
}

static void on_object(void *ctx, const struct object *o, bool deleted)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct set_watch *w = ctx;

        if (w->what != AWAITED_SECRET && !deleted)
                wake_waiting(w);
        if (w->what == AWAITED_SECRET && note_secret(w, o, deleted, &arena) < 0)
                log_warn(w->sets->agent->log, "a Secret's event was not noted: no memory", "name",
                         o->meta.name);
}

static void on_end(void *ctx)
{
        struct set_watch *w = ctx;

        if (end_list(w) < 0)
                log_warn(w->sets->agent->log, "which Secrets went was not noted: no memory");
        w->listing = false;
}

static struct set_watch *watch_free(struct set_watch *w)
{
        if (!w)
                return NULL;
        follower_stop(w->follower);
        map_free(&w->seen);
        arena_free(&w->arena);
        mem_free(w);
        return NULL;
}

int set_watches_want(struct sets *s, enum set_awaited what, struct error *err)
{
        struct set_watch *w;
        struct follower_options o = { .kube = &s->agent->member,
                                      .kind = &partial_object_kind,
                                      .resource = &resources[what],
                                      .metadata_only = true,
                                      .begin = on_begin,
                                      .object = on_object,
                                      .end = on_end };

        if (s->watches[what])
                return 0;
        if (!(w = NEW(struct set_watch)))
                return error_no_memory(err);
        w->sets = s;
        w->what = what;
        w->listing = true;
        map_init(&w->seen, MAP_OWN_KEYS, mem_free);
        o.ctx = w;
        s->watches[what] = w;
        if ((w->follower = follower_new(s->agent->group, &o, err)))
                return 0;
        s->watches[what] = watch_free(w);
        return ERR_NO_MEMORY;
}

static int one(void *ctx, const struct cluster_object_set *s, const struct object_set_ref *ref)
{
        return 1;
}

static bool is_wanted(struct sets *s, enum set_awaited what, const struct set_list *all)
{
        for (size_t i = 0; i < all->n; i++) {
                const struct set_memory *memory = map_get(&s->memory, all->at[i]->object.meta.name);

                if (what == AWAITED_SECRET ? each_ref(all->at[i], one, NULL) > 0
                                           : memory && memory->awaits[what])
                        return true;
        }
        return false;
}

void set_watches_settle(struct sets *s)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct set_list all;

        for (size_t i = 0; i < SET_AWAITED; i++) {
                struct set_watch *w = s->watches[i];

                if (!w || sets_list(s, &arena, &all, NULL) < 0 || is_wanted(s, i, &all))
                        continue;
                s->watches[i] = NULL;
                watch_free(w);
        }
}

void set_watches_free(struct sets *s)
{
        for (size_t i = 0; i < SET_AWAITED; i++)
                s->watches[i] = watch_free(s->watches[i]);
}
