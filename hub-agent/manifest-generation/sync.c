/* One sync: what is loaded, applied, collected, recorded and told. spec/flux-yaml.md 7, 8. */
#include "common/base/memory.h"
#include "hub-agent/manifest-generation/generation_agent.h"
#include "hub-agent/manifest-generation/update/commit.h"
#include "hub-agent/manifest-generation/update/workload.h"

#define EVENTS_MAX 50 /* of single objects, in one sync */
#define COMMITS_MAX 1000
#define EVENT_BYTES 1000 /* of a text that an event has */

struct sync {
        struct reconcile *rc;
        struct generator_agent *a;
        struct desired *d;
        struct git_hash head, before; /* the commit to sync, and the one synced last */
        int64_t confirmed_ms;         /* when somebody asked to go on with collection; TIME_NONE */
        bool broken;                  /* a target path could not be loaded */
        bool held;
};

/* ---- target paths ---- */

static const char *name_of_path(const struct loaded_target *t)
{
        return text_empty(t->target.path) ? "." : t->target.path;
}

static void tell_broken(struct sync *s, const struct loaded_target *t)
{
        struct generator_agent *a = s->a;
        char text[EVENT_BYTES];

        s->broken = true;
        a->command_failed |= t->command_failed;
        log_error(&a->log, "a target path is left out of the sync", "path", name_of_path(t), "error",
                  t->error);
        text_shorten(t->error, text, sizeof(text));
        generation_event(a, "Warning", t->target.config ? "GenerateFailed" : "SyncFailed", text);
}

static int tell_unknown(struct sync *s, const struct resource_unknown *u)
{
        AUTO_FREE char *scope =
                mem_printf("cannot find scope of resource %s: %s", u->resource->identity, u->why);
        AUTO_FREE char *excluded = mem_printf("resource %s will be excluded until its scope is available",
                                              u->resource->identity);

        if (!scope || !excluded)
                return ERR_NO_MEMORY;
        warn_once(s->a, scope);
        warn_once(s->a, excluded);
        return 0;
}

static int look_at_targets(struct sync *s)
{
        const struct loaded *l = &s->d->loaded;

        for (size_t i = 0; i < l->n_targets; i++) {
                for (size_t k = 0; k < l->targets[i].n_warnings; k++)
                        warn_once(s->a, l->targets[i].warnings[k]);
                if (l->targets[i].error)
                        tell_broken(s, &l->targets[i]);
        }
        for (size_t i = 0; i < l->n_unknown; i++)
                TRY(tell_unknown(s, &l->unknown[i]));
        return 0;
}

/* ---- holds ---- */

static void tell_held(struct sync *s, const char *path, const struct path_record *r)
{
        char text[EVENT_BYTES];

        snprintf(text, sizeof(text),
                 "target path \"%.200s\" gives %zu objects, %zu before: nothing is deleted until another "
                 "commit changes it, or a request of type collect confirms it",
                 path, r->objects, r->before);
        log_warn(&s->a->log, text);
        generation_event(s->a, "Warning", "CollectionHeld", text);
}

static void take_records(struct sync *s)
{
        struct generator_agent *a = s->a;
        const struct loaded *l = &s->d->loaded;

        for (size_t i = 0; i < l->n_targets && i < a->n_paths; i++) {
                struct path_record *r = &a->records[i];
                bool was = r->held;

                if (l->targets[i].error)
                        continue;
                a->records_grew |= l->targets[i].n > r->objects;
                s->held |= path_record_take(r, &(struct path_found){ .objects = l->targets[i].n,
                                                                     .revision = s->head.hex,
                                                                     .now_ms = loop_wall_ms(a->world->loop),
                                                                     .confirmed_ms = s->confirmed_ms });
                if (r->held && !was && a->options->collect)
                        tell_held(s, a->paths[i], r);
        }
}

/* ---- what became of it ---- */

/* Of targets and objects as they are by now. */
static int gather(struct generator_agent *a, const struct desired *d)
{
        size_t events = 0;

        sync_problems_clear(&a->problems);
        a->objects = d->n;
        a->changed = a->ignored = a->failed = 0;
        for (size_t i = 0; i < d->loaded.n_targets; i++)
                if (d->loaded.targets[i].error)
                        TRY(sync_problems_add(&a->problems, NULL, name_of_path(&d->loaded.targets[i]),
                                              d->loaded.targets[i].error));
        for (size_t i = 0; i < d->n; i++) {
                const struct sync_item *item = &d->items[i];

                a->changed += item->outcome == ITEM_CHANGED;
                a->ignored += item->outcome == ITEM_IGNORED || item->outcome == ITEM_OUTSIDE;
                if (item->outcome != ITEM_FAILED)
                        continue;
                a->failed++;
                TRY(sync_problems_add(&a->problems, item->object.identity, item->object.source,
                                      or_empty(item->problem)));
                if (!item->told && events++ < EVENTS_MAX)
                        generation_tell_failure(a, &d->items[i]);
        }
        return 0;
}

static bool is_told_of(const struct sync_item *item)
{
        return (item->outcome == ITEM_CHANGED || item->outcome == ITEM_FAILED) &&
               workload_is_kind(item->object.kind);
}

static int tell_commits(struct sync *s, struct error *err)
{
        struct generator_agent *a = s->a;
        const struct repository *r = &a->options->repository;
        struct arena *arena = s->rc->arena;
        const char **workloads = ARENA_NEW_ARRAY(arena, const char *, s->d->n + 1), **commits;
        struct sync_commit *log;
        size_t n = 0, n_workloads = 0;
        AUTO_BUF struct buf text;
        bool more;

        buf_init(&text, 1u << 20);
        TRY(r->ops->log(r->ctx, &s->before, &s->head, a->options->generation ? NULL : a->paths,
                        a->options->generation ? 0 : a->n_paths, COMMITS_MAX, arena, &log, &n, &more, err));
        commits = ARENA_NEW_ARRAY(arena, const char *, n + 1);
        if (!workloads || !commits)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                commits[i] = log[i].at.hex;
        for (size_t i = 0; i < s->d->n; i++)
                if (is_told_of(&s->d->items[i]))
                        workloads[n_workloads++] = s->d->items[i].object.identity;
        if (n == 0)
                return 0;
        TRY(sync_event_text(commits, n, s->before.hex, workloads, n_workloads, &text, err));
        log_info(&a->log, text.data);
        generation_event(a, "Normal", "Synced", text.data);
        return 0;
}

static int finish(struct sync *s, struct error *err)
{
        struct generator_agent *a = s->a;

        if (s->broken)
                return error_set(err, ERR_INVALID, "loading resources from repo: %zu of %zu target paths: %s",
                                 a->problems.n + a->problems.more - MIN(a->failed, a->problems.n), a->n_paths,
                                 a->problems.n ? a->problems.at[0].text : "");
        TRY(sync_state_write(a, &s->head, err) < 0 ? error_wrap(err, "recording the sync") : 0);
        a->synced = s->head;
        a->synced_ms = loop_wall_ms(a->world->loop);
        return git_hash_equal(&s->before, &s->head) ? 0 : tell_commits(s, err);
}

/* ---- the steps ---- */

static int check_ready(struct generator_agent *a, struct error *err)
{
        const char *why = repository_unready(&a->repository);

        return why ? error_set(err, ERR_RETRY, "git repo not ready: %s", why) : 0;
}

/* What was committed, and what is known of before. */
static int begin(struct sync *s, struct error *err)
{
        struct generator_agent *a = s->a;
        const struct repository *r = &a->options->repository;

        a->command_failed = false;
        TRY(check_ready(a, err));
        TRY(generation_read_status(a, err));
        TRY(r->ops->head(r->ctx, &s->head, err));
        a->head = s->head;
        TRY(sync_state_read(a, &s->before, err));
        if (!git_hash_is_none(&s->before) && !r->ops->has(r->ctx, &s->before))
                s->before = (struct git_hash){ "" }; /* the branch has another history by now */
        s->d = NEW(struct desired);
        if (!s->d)
                return error_no_memory(err);
        TRY(sync_load(a, &s->head, &s->d->arena, &s->d->loaded, err));
        TRY(sync_items(a, s->d, err));
        return look_at_targets(s) < 0 ? error_no_memory(err) : 0;
}

/* Before they are applied: were they on the hub and in no record, as after a crash, the next process would
 * find nothing of a sudden where there was nothing before, and delete them. Whoever may not write the status
 * has no records. */
static int keep_records(struct sync *s, struct error *err)
{
        int code = s->a->records_grew ? generation_write_status(s->a, err) : 0;

        if (code == ERR_CANCELLED || error_is_retryable(code))
                return code == ERR_CANCELLED ? code : error_wrap(err, "%s", SYNC_STATUS_NAME);
        error_clear(err);
        return 0;
}

static int apply_and_collect(struct sync *s, struct error *err)
{
        struct generator_agent *a = s->a;

        take_records(s);
        TRY(keep_records(s, err));
        TRY(sync_apply(s->rc, s->d, false, err));
        if (gather(a, s->d) < 0)
                return error_no_memory(err);
        hub_view_tidy(a->view);
        a->deleted = 0;
        if (a->options->collect && !s->broken && !s->held)
                TRY(sync_collect(s->rc, s->d, &a->deleted, err));
        if (!s->broken)
                hub_view_keep(a->view, &s->d->by_identity);
        return finish(s, err);
}

int sync_all(struct reconcile *rc, int64_t confirmed_ms, struct error *err)
{
        struct sync s = { .rc = rc, .a = generator_of(rc), .confirmed_ms = confirmed_ms };
        struct generator_agent *a = s.a;
        int code = begin(&s, err);

        if (code < 0) {
                desired_free(s.d);
                return code;
        }
        desired_free(a->desired);
        a->desired = s.d;
        return apply_and_collect(&s, err);
}

int sync_mend(struct reconcile *rc, struct error *err)
{
        struct generator_agent *a = generator_of(rc);

        if (!a->desired)
                return 0;
        TRY(sync_apply(rc, a->desired, true, err));
        return gather(a, a->desired) < 0 ? error_no_memory(err) : 0;
}
