#include "hub-agent/manifest-generation/job_run.h"

#include "common/base/memory.h"
#include "hub-agent/manifest-generation/text_diff.h"
#include "hub-agent/manifest-generation/work_diff.h"

#define MESSAGE_BYTES (128u << 10)
#define DIFF_BYTES (48u << 10) /* of what a dry run answers */

/* ---- objects ---- */

static enum update_origin origin_of(const struct resource *r)
{
        const struct flux_config *c = r->target ? r->target->config : NULL;

        if (!c || c->variant == FLUX_SCAN_FOR_FILES)
                return ORIGIN_RAW;
        return c->variant == FLUX_PATCH_UPDATED ? ORIGIN_PATCH : ORIGIN_COMMANDS;
}

int job_objects(struct arena *arena, const struct loaded *l, struct update_objects *ret, struct error *err)
{
        struct update_object *at = ARENA_NEW_ARRAY(arena, struct update_object, l->resources.n + 1);

        if (!at)
                return error_no_memory(err);
        for (size_t i = 0; i < l->resources.n; i++) {
                const struct resource *r = &l->resources.at[i];

                at[i] = (struct update_object){ .id = r->identity,
                                                .doc = r->doc,
                                                .source = r->source,
                                                .origin = origin_of(r),
                                                .config = r->target };
        }
        *ret = (struct update_objects){ at, l->resources.n };
        return 0;
}

/* ---- the plan ---- */

static int load(struct job *j, struct error *err)
{
        struct arena *arena = j->rc->arena;

        TRY(sync_load_checkout(j->a, &j->head, &j->read, false, arena, &j->loaded, err));
        return job_objects(arena, &j->loaded, &j->objects, err);
}

static int plan(struct job *j, struct error *err)
{
        struct image_catalog catalog = { 0 };
        bool wants_tags = job_request_wants_images(j->request);

        if (j->request->type == JOB_AUTO)
                return job_automation(j, err);
        if (wants_tags)
                TRY(job_read_tags(j, &catalog, err));
        return job_plan_make(j->rc->arena, j->request, &j->objects, wants_tags ? &catalog : NULL, &j->plan,
                             err);
}

/* ---- whether it was done ---- */

static int verify(struct job *j, struct error *err)
{
        struct arena *arena = j->rc->arena;
        struct update_objects after;
        struct loaded loaded;

        if (j->request->type == JOB_POLICY)
                return 0; /* generators take long, and updaters are taken to have worked */
        TRY(sync_load_checkout(j->a, &j->head, &j->work, true, arena, &loaded, err));
        for (size_t i = 0; i < loaded.n_targets; i++)
                if (loaded.targets[i].error && !j->loaded.targets[i].error)
                        return error_set(err, ERR_INVALID, "verifying changes: %s", loaded.targets[i].error);
        TRY(job_objects(arena, &loaded, &after, err));
        return job_verify(&j->objects, &after, &j->plan, err);
}

/* ---- committing ---- */

/* Modes stay as they are. */
static int keep_modes(struct job *j, struct work_diff *d, struct error *err)
{
        const struct repository *r = &j->a->options->repository;

        for (size_t i = 0; i < d->n; i++) {
                enum git_entry_kind kind = GIT_FILE;
                int code;

                if (d->at[i].removed || d->at[i].kind != GIT_FILE)
                        continue;
                code = r->ops->entry(r->ctx, &j->head, d->at[i].path, &kind, err);
                if (code < 0 && code != ERR_NOT_FOUND)
                        return code;
                error_clear(err);
                if (kind == GIT_EXECUTABLE)
                        d->at[i].kind = GIT_EXECUTABLE;
        }
        return 0;
}

static int publish(struct job *j, struct work_diff *d, struct error *err)
{
        const struct generation_options *o = j->a->options;
        const struct commit_person committer = { o->git_user, o->git_mail };
        struct publication p = { .parent = j->head, .changes = d->at, .n_changes = d->n };
        struct commit_person author = committer;
        struct git_hash commit = { "" };
        AUTO_BUF struct buf message;
        AUTO_BUF struct buf note;
        bool same = false;

        buf_init(&message, MESSAGE_BYTES);
        buf_init(&note, COMMIT_NOTE_BYTES_MAX);
        TRY(commit_author(j->rc->arena, j->request, &committer, o->set_author, &author, err));
        TRY(commit_message(j->request, &j->plan, o->skip_text, &message, err));
        TRY(commit_note_write(j->id, j->request, &j->plan, &note, err));
        p.author = author.name;
        p.author_mail = author.mail;
        p.message = message.data;
        p.note = note.data;
        j->reason = "PushFailed";
        TRY(o->repository.ops->publish(o->repository.ctx, &p, &commit, &same, err));
        if (!same) {
                j->commit = commit;
                generation_event(j->a, "Normal", "Committed", message.data);
                log_info(&j->a->log, "committed and pushed", "commit", commit.hex, "job", j->id);
        }
        return 0;
}

static int add_difference(struct job *j, const struct git_change *c, struct buf *text, struct error *err)
{
        struct slice before = { NULL, 0 };
        int code = tree_read(&j->read.tree, j->rc->arena, c->path, &before, err);

        if (code < 0 && code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        (void)text_diff(j->rc->arena, c->path, before, c->removed ? (struct slice){ NULL, 0 } : c->data,
                        text);
        return text->failed == ERR_NO_MEMORY ? error_no_memory(err) : 0;
}

/* What would be committed. */
static int show(struct job *j, const struct work_diff *d, struct error *err)
{
        AUTO_BUF struct buf text;

        buf_init(&text, DIFF_BYTES);
        for (size_t i = 0; i < d->n; i++)
                TRY(add_difference(j, &d->at[i], &text, err));
        j->diff = arena_printf(j->rc->arena, "%s%s", or_empty(text.data),
                               text.failed ? "\n... and more\n" : "");
        return j->diff ? 0 : error_no_memory(err);
}

/* `no changes made in repo` is no failure. */
static int commit(struct job *j, const struct work_snapshot *before, struct error *err)
{
        struct generator_agent *a = j->a;
        struct work_diff d;

        TRY(work_diff_make(&j->work.tree, before, !a->options->generation, j->rc->arena, &d, err));
        if (!a->options->generation)
                work_diff_confine(&d, a->paths, a->n_paths);
        if (d.n == 0)
                return 0;
        if (j->request->dry_run)
                TRY(show(j, &d, err));
        TRY(keep_modes(j, &d, err));
        TRY(verify(j, err));
        if (j->request->dry_run)
                return 0;
        return publish(j, &d, err);
}

/* ---- tries ---- */

static int change(struct job *j, struct error *err)
{
        const struct repository *r = &j->a->options->repository;
        struct work_snapshot before;

        TRY(load(j, err));
        TRY(plan(j, err));
        if (j->plan.n_changes == 0)
                return 0;
        TRY(r->ops->checkout(r->ctx, &j->head, j->rc->arena, &j->work, err));
        TRY(work_snapshot_take(&j->work.tree, j->rc->arena, &before, err));
        TRY(job_edit(j, err));
        return commit(j, &before, err);
}

static int try_once(struct job *j, struct error *err)
{
        const struct repository *r = &j->a->options->repository;
        int code;

        j->reason = "UpdateFailed";
        j->message = NULL;
        j->read = j->work = (struct checkout){ 0 };
        TRY(r->ops->head(r->ctx, &j->head, err));
        code = r->ops->checkout(r->ctx, &j->head, j->rc->arena, &j->read, err);
        if (code == 0)
                code = change(j, err);
        r->ops->discard(r->ctx, &j->work);
        r->ops->discard(r->ctx, &j->read);
        return code;
}

int job_run(struct job *j, struct error *err)
{
        const char *unready;
        int code = 0;

        if (j->a->options->readonly)
                return error_set(err, ERR_UNSUPPORTED, "cannot make a working clone of a read-only git repo");
        for (unsigned i = 0; i < JOB_TRIES; i++) {
                TRY(repository_refresh(j->a, err));
                code = try_once(j, err);
                if (code != ERR_CONFLICT)
                        break;
                log_info(&j->a->log, "the branch was moved meanwhile, trying again on its new head", "job",
                         j->id);
                if (i + 1 < JOB_TRIES)
                        error_clear(err);
        }
        unready = repository_unready(&j->a->repository);
        if (code == ERR_CONFLICT && !unready)
                return error_wrap(err, "Problem committing and pushing to git repository.");
        return code;
}
