/* Makes a plan's changes in the working folder, each by where its object came from. spec/flux-yaml.md 9.3.3.
 */
#include "common/base/memory.h"
#include "common/base/path.h"
#include "hub-agent/manifest-generation/job_run.h"

static int write_file(struct job *j, const char *path, const struct buf *text, struct error *err)
{
        struct volume_writer *w = NULL;

        TRY(volume_create(j->work.tree.volume, path, &w, err));
        if (volume_append(w, text->data, text->len, err) < 0) {
                volume_abandon(w);
                return err->code;
        }
        return volume_commit(w, err);
}

/* The first change of a file, or of a target, does all of them. */
static bool is_first(const struct job_plan *p, size_t i, bool by_target)
{
        const struct update_object *o = p->changes[i].object;

        for (size_t k = 0; k < i; k++) {
                const struct update_object *other = p->changes[k].object;

                if (other->origin == o->origin &&
                    (by_target ? other->config == o->config : text_equal(other->source, o->source)))
                        return false;
        }
        return true;
}

/* ---- raw files ---- */

static int edit_raw(struct job *j, const char *source, struct error *err)
{
        AUTO_BUF struct buf text;
        const char *path;
        struct slice now;

        buf_init(&text, TREE_FILE_BYTES);
        TRY(tree_resolve(&j->work.tree, j->rc->arena, source, &path, err)); /* a link's file is changed */
        TRY(tree_read(&j->work.tree, j->rc->arena, path, &now, err));
        TRY(job_edit_file(&j->plan, source, now, &text, err) < 0 ? error_wrap(err, "%s", source) : 0);
        return write_file(j, path, &text, err);
}

/* ---- commands ---- */

static int run_commands(struct job *j, const struct job_change *c, struct error *err)
{
        struct arena *arena = j->rc->arena;
        const struct flux_target *target = c->object->config;
        struct workload_id id;

        TRY(workload_id_parse(arena, c->object->id, &id, err));
        const struct update_change change = { .namespace = id.ns,
                                              .kind = id.kind,
                                              .name = id.name,
                                              .container = c->container,
                                              .image = c->image,
                                              .tag = c->tag,
                                              .policy = c->policy,
                                              .value = c->value };

        return run_updaters(&j->a->commands, arena, j->work.root, target, j->a->options->environment, &change,
                            &j->message, err);
}

/* ---- patch files ---- */

static bool is_same(const struct resource *r, const struct update_object *o)
{
        return text_equal(r->kind, doc_get_string(o->doc, "kind")) &&
               text_equal(r->name, doc_get_string(o->doc, "metadata.name")) &&
               (text_empty(r->namespace) ||
                text_equal(r->namespace, doc_get_string(o->doc, "metadata.namespace")));
}

/* B becomes C. */
static int change_patched(struct job *j, struct resource_list *patched, const struct flux_target *target,
                          struct error *err)
{
        for (size_t i = 0; i < j->plan.n_changes; i++) {
                const struct job_change *c = &j->plan.changes[i];

                for (size_t k = 0; c->object->config == target && k < patched->n; k++) {
                        struct resource *r = &patched->at[k];
                        json_t *doc;

                        if (!is_same(r, c->object))
                                continue;
                        doc = doc_copy(r->doc);
                        TRY(doc ? doc_keep(j->rc->arena, doc, err) : error_no_memory(err));
                        TRY(job_change_document(c, doc, err));
                        r->doc = doc;
                }
        }
        return 0;
}

static int edit_patch(struct job *j, const struct flux_target *target, struct error *err)
{
        struct arena *arena = j->rc->arena;
        struct resource_list patched = { .arena = arena }, generated = { .arena = arena };
        struct loaded_target report = { 0 };
        struct flux_target own = *target;
        const struct flux_config *config = target->config;
        struct load_setup setup;
        struct slice before = { "", 0 };
        bool there = false;
        AUTO_BUF struct buf text;

        buf_init(&text, PATCH_FILE_BYTES);
        load_setup(j->a, &j->head, &j->read, false, &setup);
        TRY(load_target(arena, &setup.load, &own, &patched, &generated, &report, err));
        if (report.error) {
                j->message = report.error;
                return error_set(err, ERR_INVALID, "%.900s", report.error);
        }
        TRY(patch_file_check_folder(&j->work.tree, arena, config, err));
        TRY(change_patched(j, &patched, target, err));
        TRY(tree_has_file(&j->work.tree, arena, config->patch_path, &there, err));
        if (there)
                TRY(tree_read(&j->work.tree, arena, config->patch_path, &before, err));
        TRY(patch_file_create(arena, &generated, &patched, before, &text, err));
        if (text.len == before.len && memcmp(or_empty(text.data), before.data, before.len) == 0)
                return 0;
        return write_file(j, config->patch_path, &text, err);
}

/* ---- all ---- */

static int edit(struct job *j, size_t i, struct error *err)
{
        const struct job_change *c = &j->plan.changes[i];

        switch (c->object->origin) {
        case ORIGIN_RAW:
                return is_first(&j->plan, i, false) ? edit_raw(j, c->object->source, err) : 0;
        case ORIGIN_PATCH:
                return is_first(&j->plan, i, true) ? edit_patch(j, c->object->config, err) : 0;
        case ORIGIN_COMMANDS:
                return run_commands(j, c, err);
        }
        UNREACHABLE();
}

int job_edit(struct job *j, struct error *err)
{
        for (size_t i = 0; i < j->plan.n_changes; i++)
                TRY(edit(j, i, err));
        return 0;
}
