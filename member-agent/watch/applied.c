#include "member-agent/watch/applied.h"

#include "common/base/map.h"
#include "common/base/memory.h"
#include "member-agent/watch/follower.h"
#include "proto/gen/kinds.h"

struct followed {
        struct applied_watch *owner;
        struct follower *follower;
        char *group, *plural;
        struct map listed; /* keys of our objects shown by the list that is under way */
        bool listing;
        bool wanted; /* mark of applied_watch_reconcile */
};

struct applied_watch {
        struct applied_watch_options o;
        struct fiber_group *group;
        struct map followed; /* "plural.group" -> struct followed */
};

static const char *resource_key(struct arena *arena, const char *group, const char *plural)
{
        return arena_printf(arena, "%s.%s", plural, group);
}

static const char *object_key(struct arena *arena, const char *ns, const char *name)
{
        return arena_printf(arena, "%s/%s", ns ? ns : "", name);
}

/* ---- events ---- */

/* The row knows this version already: our own write, or a repetition. */
static bool is_known(const struct row *row, const char *version)
{
        return text_equal(row->seen, version) ||
               (text_equal(row->handled, version) && row->state == ROW_APPLIED);
}

/* now NULL: the object is gone. */
static int take_note(struct followed *f, const struct rows *rows, const char *ns, const char *name,
                     const struct object *now, struct error *err)
{
        const char *version = now ? now->meta.resource_version : SEEN_GONE;
        struct applied_watch *w = f->owner;
        bool fresh = false;

        for (size_t i = 0; i < rows->n; i++)
                fresh |= !text_equal(rows->at[i].seen, version);
        if (!fresh)
                return 0;
        TRY(store_object_seen(w->o.store, f->group, f->plural, ns ? ns : "", name, version, err));
        for (size_t i = 0; i < rows->n; i++)
                if (!is_known(&rows->at[i], version))
                        w->o.changed(w->o.ctx, rows->at[i].work, now);
        return 0;
}

/* The watch told of each version: one that goes as it was last looked at has not finished meanwhile. */
static int note_taken(struct followed *f, struct rows *rows, struct error *err)
{
        for (size_t i = 0; i < rows->n; i++) {
                struct row *row = &rows->at[i];

                if (row->state != ROW_APPLIED || row->ended != ENDED_NOT ||
                    !text_equal(row->handled, row->seen))
                        continue;
                row->ended = ENDED_TAKEN;
                TRY(store_row_put(f->owner->o.store, row, err));
        }
        return 0;
}

static int note_object(struct followed *f, const struct object *o, bool deleted, struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const struct object_meta *m = &o->meta;
        struct rows rows;

        TRY(store_rows_of_object(f->owner->o.store, f->group, f->plural, m->ns ? m->ns : "", m->name, &arena,
                                 &rows, err));
        if (rows.n == 0)
                return 0;
        if (f->listing && !deleted) {
                const char *key = object_key(&arena, m->ns, m->name);

                if (!key || map_put(&f->listed, key, f) < 0)
                        return error_no_memory(err);
        }
        if (deleted)
                TRY(note_taken(f, &rows, err));
        return take_note(f, &rows, m->ns, m->name, deleted ? NULL : o, err);
}

/* An event comes once, and the call at which the state file is given up fails: the next one goes on in
 * memory. */
static void on_object(void *ctx, const struct object *o, bool deleted)
{
        struct followed *f = ctx;
        struct error err = { 0 };
        int r = note_object(f, o, deleted, &err);

        if (r == ERR_RETRY)
                r = note_object(f, o, deleted, &err);
        if (r < 0)
                log_warn(f->owner->o.log, "event of an applied object was not noted", "resource", f->plural,
                         "name", o->meta.name, "error", err.text);
}

static void on_begin(void *ctx)
{
        struct followed *f = ctx;

        map_clear(&f->listed);
        f->listing = true;
}

/* A list is complete: rows whose object was not in it are of objects that are gone. */
static int note_absent(struct followed *f, struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct rows rows;

        TRY(store_rows_of_resource(f->owner->o.store, f->group, f->plural, &arena, &rows, err));
        for (size_t i = 0; i < rows.n; i++) {
                const struct row *row = &rows.at[i];
                const char *key = object_key(&arena, row->ns, row->name);
                struct rows one = { &rows.at[i], 1 };

                if (!key)
                        return error_no_memory(err);
                if (row->state == ROW_APPLIED && !map_has(&f->listed, key))
                        TRY(take_note(f, &one, row->ns, row->name, NULL, err));
        }
        return 0;
}

static void on_end(void *ctx)
{
        struct followed *f = ctx;
        struct error err = { 0 };
        int r = note_absent(f, &err);

        if (r == ERR_RETRY)
                r = note_absent(f, &err);
        if (r < 0)
                log_warn(f->owner->o.log, "list of applied objects was not noted", "resource", f->plural,
                         "error", err.text);
        map_free(&f->listed);
        map_init(&f->listed, MAP_OWN_KEYS, NULL);
        f->listing = false;
}

static void on_turn(void *ctx)
{
        const struct applied_watch *w = ((struct followed *)ctx)->owner;

        if (w->o.turned)
                w->o.turned(w->o.ctx);
}

/* ---- life ---- */

static void followed_free(struct followed *f)
{
        if (!f)
                return;
        follower_stop(f->follower);
        map_free(&f->listed);
        mem_free(f->group);
        mem_free(f->plural);
        mem_free(f);
}

struct applied_watch *applied_watch_new(struct fiber_group *group, const struct applied_watch_options *o,
                                        struct error *err)
{
        struct applied_watch *w = NEW(struct applied_watch);

        if (!w) {
                error_no_memory(err);
                return NULL;
        }
        w->o = *o;
        w->group = group;
        map_init(&w->followed, MAP_OWN_KEYS, NULL);
        return w;
}

struct applied_watch *applied_watch_free(struct applied_watch *w)
{
        if (!w)
                return NULL;
        map_for_each(&w->followed, e)
                followed_free(e->value);
        map_free(&w->followed);
        mem_free(w);
        return NULL;
}

static struct followed *follow(struct applied_watch *w, const struct kube_resource *resource,
                               struct error *err)
{
        struct followed *f = NEW(struct followed);
        struct follower_options o = { .kube = w->o.kube,
                                      .kind = &partial_object_kind,
                                      .resource = resource,
                                      .metadata_only = true,
                                      .begin = on_begin,
                                      .object = on_object,
                                      .end = on_end,
                                      .turned = on_turn,
                                      .ctx = f };

        if (!f) {
                error_no_memory(err);
                return NULL;
        }
        map_init(&f->listed, MAP_OWN_KEYS, NULL);
        f->owner = w;
        f->group = mem_strdup(resource->group);
        f->plural = mem_strdup(resource->plural);
        if (f->group && f->plural)
                f->follower = follower_new(w->group, &o, err);
        else
                error_no_memory(err);
        if (f->follower)
                return f;
        followed_free(f);
        return NULL;
}

int applied_watch_want(struct applied_watch *w, const struct kube_resource *resource, struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const char *key = resource_key(&arena, resource->group, resource->plural);
        struct followed *f = key ? map_get(&w->followed, key) : NULL;

        if (!key)
                return error_no_memory(err);
        if (!f) {
                if (!(f = follow(w, resource, err)))
                        return ERR_NO_MEMORY;
                if (map_put(&w->followed, key, f) < 0) {
                        followed_free(f);
                        return error_no_memory(err);
                }
        }
        f->wanted = true;
        return 0;
}

int applied_watch_reconcile(struct applied_watch *w, struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct rows rows;

        TRY(store_resources(w->o.store, &arena, &rows, err));
        map_for_each(&w->followed, e)
                ((struct followed *)e->value)->wanted = false;
        for (size_t i = 0; i < rows.n; i++) {
                const struct row *row = &rows.at[i];
                struct kube_resource resource = { row->group, row->version, row->plural, row->kind,
                                                  row->namespaced };

                TRY(applied_watch_want(w, &resource, err));
        }
        /* Stopping parks, and the map may change meanwhile: take out first, one at a time. */
        for (;;) {
                struct followed *unused = NULL;

                map_for_each(&w->followed, e)
                        if (!((struct followed *)e->value)->wanted) {
                                unused = map_take(&w->followed, e->key);
                                break;
                        }
                if (!unused)
                        return 0;
                followed_free(unused);
        }
}

static const struct follower *find_follower(const struct applied_watch *w, const char *group,
                                            const char *plural)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const char *key = resource_key(&arena, group, plural);
        const struct followed *f = key ? map_get(&w->followed, key) : NULL;

        return f ? f->follower : NULL;
}

bool applied_watch_current(const struct applied_watch *w, const char *group, const char *plural)
{
        const struct follower *f = find_follower(w, group, plural);
        return f && follower_current(f);
}

bool applied_watch_lists(const struct applied_watch *w, const char *group, const char *plural)
{
        const struct follower *f = find_follower(w, group, plural);
        return f && !follower_current(f) && !*follower_problem(f);
}

size_t applied_watch_count(const struct applied_watch *w)
{
        return map_count(&w->followed);
}
