#include "hub-agent/manifest-generation/load.h"

#include "common/base/memory.h"
#include "common/base/vec.h"

/* Not about what the target says: a later look helps. */
static bool is_fatal(int code)
{
        return code == ERR_NO_MEMORY || code == ERR_CANCELLED;
}

/* ---- one target ---- */

struct parsing {
        struct resource_list *list;
        struct slice text;
        const char *source;
        struct flux_target *target;
        struct error *err;
        int code;
};

static void parse_it(void *ctx)
{
        struct parsing *p = ctx;

        p->code = resources_parse(p->list, p->text, p->source, p->target, p->err);
}

/* Many MiB take seconds. */
static int parse(const struct load *l, struct parsing p)
{
        if (l->loop)
                TRY(offload(l->loop, parse_it, &p, p.err));
        else
                parse_it(&p);
        return p.code;
}

/* Objects are known by their text as it was read, so it stays as long as they do: once it is known that there
 * is room for it. */
static int parse_text(struct arena *texts, const struct load *l, struct flux_target *target,
                      const char *source, struct slice text, struct loaded_target *report,
                      struct resource_list *ret, struct error *err)
{
        const char *kept;

        if (text.len > LOAD_BYTES - MIN(l->used + report->bytes, (size_t)LOAD_BYTES))
                return error_set(err, ERR_LIMIT, "more than %u bytes of manifests in all (LOAD_BYTES)",
                                 LOAD_BYTES);
        report->bytes += text.len;
        kept = arena_strndup(texts, text.data, text.len);
        if (!kept)
                return error_no_memory(err);
        return parse(l, (struct parsing){ ret, { kept, text.len }, source, target, err, 0 });
}

static int parse_generated(struct arena *arena, struct arena *texts, const struct load *l,
                           struct flux_target *target, struct resource_list *ret,
                           struct loaded_target *report, struct error *err)
{
        const char *source = arena_printf(arena, "%s%s%s", target->folder, *target->folder ? "/" : "",
                                          target->config->relative);
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        const char *message = NULL;
        struct slice stream;
        int code;

        if (!source)
                return error_no_memory(err);
        code = generate(l->generation, &scratch, target, &stream, &message, err);
        if (message) {
                report->error = arena_strdup(arena, message);
                report->command_failed = true;
                return report->error ? code : error_no_memory(err);
        }
        return code < 0 ? code : parse_text(texts, l, target, source, stream, report, ret, err);
}

static int warn_of_missing(struct arena *arena, const struct patch_missing *missing, size_t n,
                           struct loaded_target *report, struct error *err)
{
        const char **warnings = ARENA_NEW_ARRAY(arena, const char *, n + 1);

        if (!warnings)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++) {
                warnings[i] =
                        arena_printf(arena, "patch refers to missing resource (%s)", missing[i].identity);
                if (!warnings[i])
                        return error_no_memory(err);
        }
        report->warnings = warnings;
        report->n_warnings = n;
        return 0;
}

static int apply_patch(struct arena *arena, const struct load *l, struct flux_target *target,
                       struct resource_list *ret, struct loaded_target *report, struct error *err)
{
        const struct flux_config *config = target->config;
        struct patch_missing *missing;
        struct slice text = { "", 0 };
        bool there = false;
        size_t n;

        if (!config->patch_path)
                return 0;
        TRY(tree_has_file(l->tree, arena, config->patch_path, &there, err));
        if (there)
                TRY(tree_read(l->tree, arena, config->patch_path, &text, err));
        TRY(patch_file_apply(ret, text, config->patch_file, &missing, &n, err));
        return warn_of_missing(arena, missing, n, report, err);
}

static int load_generated(struct arena *arena, struct arena *texts, const struct load *l,
                          struct flux_target *target, struct resource_list *ret,
                          struct resource_list *ret_generated, struct loaded_target *report,
                          struct error *err)
{
        int code;

        TRY(parse_generated(arena, texts, l, target, ret, report, err));
        for (size_t i = 0; ret_generated && i < ret->n; i++)
                TRY(resources_add(ret_generated, &ret->at[i], err));
        code = apply_patch(arena, l, target, ret, report, err);
        if (code < 0 && !is_fatal(code)) {
                const char *name = command_quote(arena, *target->path ? target->path : ".");

                if (!name)
                        return error_no_memory(err);
                report->error = arena_printf(arena, "processing %s, %s", name, err->text);
                if (!report->error)
                        return error_no_memory(err);
        }
        return code;
}

static int load_file(struct arena *texts, const struct load *l, struct flux_target *target, const char *path,
                     struct resource_list *ret, struct loaded_target *report, struct error *err)
{
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        struct slice text;
        int code = tree_read(l->tree, &scratch, path, &text, err);

        if (code < 0)
                return tree_wrap(err, code, "unable to read file at ", path);
        return parse_text(texts, l, target, path, text, report, ret, err);
}

static int load_raw(struct arena *arena, struct arena *texts, const struct load *l,
                    struct flux_target *target, struct resource_list *ret, struct loaded_target *report,
                    struct error *err)
{
        const char *const *files;
        size_t n;

        TRY(tree_raw_files(l->tree, arena, target->path, &files, &n, err));
        for (size_t i = 0; i < n; i++)
                TRY(load_file(texts, l, target, files[i], ret, report, err));
        return 0;
}

static void free_texts(void *texts)
{
        arena_free(texts);
}

/* An arena within the other, which can be emptied before. */
static int new_texts(struct arena *arena, struct arena **ret, struct error *err)
{
        *ret = ARENA_NEW(arena, struct arena);
        return !*ret || arena_defer(arena, free_texts, *ret) < 0 ? error_no_memory(err) : 0;
}

int load_target(struct arena *arena, const struct load *l, struct flux_target *target,
                struct resource_list *ret, struct resource_list *ret_generated, struct loaded_target *report,
                struct error *err)
{
        struct error own = { 0 };
        struct arena *texts;
        int code;

        *ret = (struct resource_list){ .arena = arena };
        if (ret_generated)
                *ret_generated = (struct resource_list){ .arena = arena };
        report->error = NULL;
        report->command_failed = false;
        report->bytes = 0;
        err = err ? err : &own;
        TRY(new_texts(arena, &texts, err));
        code = target->config ? load_generated(arena, texts, l, target, ret, ret_generated, report, err)
                              : load_raw(arena, texts, l, target, ret, report, err);
        report->n = code == 0 ? ret->n : 0;
        if (code == 0)
                return 0;
        arena_free(texts);
        report->bytes = ret->n = 0;
        if (ret_generated)
                ret_generated->n = 0;
        if (is_fatal(code) || report->error)
                return code;
        report->error = arena_strdup(arena, err->text);
        return report->error ? code : error_no_memory(err);
}

/* ---- all ---- */

struct loading {
        struct arena *arena;
        struct load load;
        struct loaded *to;
        struct resource_list *lists; /* of each target */
};

static int break_target(struct loading *l, size_t i, struct error *err)
{
        struct loaded_target *t = &l->to->targets[i];

        if (!t->error)
                t->error = arena_strdup(l->arena, err->text);
        t->n = l->lists[i].n = 0;
        return t->error ? 0 : error_no_memory(err);
}

static int load_one(struct loading *l, size_t i, const char *path, struct error *err)
{
        struct loaded_target *t = &l->to->targets[i];
        int code =
                flux_target_find(l->arena, l->load.tree, path, l->load.generation != NULL, &t->target, err);

        l->lists[i] = (struct resource_list){ .arena = l->arena };
        if (code < 0)
                t->target = (struct flux_target){ path, path, NULL };
        else
                code = load_target(l->arena, &l->load, &t->target, &l->lists[i], NULL, t, err);
        l->load.used += t->bytes;
        if (code == 0 || is_fatal(code))
                return code;
        return break_target(l, i, err);
}

static int join(struct loading *l, struct error *err)
{
        l->to->resources = (struct resource_list){ .arena = l->arena };
        for (size_t t = 0; t < l->to->n_targets; t++) {
                size_t before = l->to->resources.n;
                int code = 0;

                for (size_t i = 0; i < l->lists[t].n && code == 0; i++)
                        code = resources_add(&l->to->resources, &l->lists[t].at[i], err);
                if (code == ERR_LIMIT) {
                        l->to->resources.n = before;
                        code = break_target(l, t, err);
                }
                TRY(code);
        }
        return 0;
}

static size_t index_of(const struct loading *l, const struct flux_target *target)
{
        for (size_t i = 0; i < l->to->n_targets; i++)
                if (&l->to->targets[i].target == target)
                        return i;
        UNREACHABLE();
}

/* Each round leaves out one target more. */
static int settle(struct loading *l, struct error *err)
{
        for (;;) {
                const struct resource *bad;
                int code;

                TRY(join(l, err));
                code = resources_settle(&l->to->resources, l->load.rules, &l->to->unknown, &l->to->n_unknown,
                                        &bad, err);
                if (code != ERR_INVALID || !bad)
                        return code;
                TRY(break_target(l, index_of(l, bad->target), err));
        }
}

int load_all(struct arena *arena, const struct load *load, struct loaded *ret, struct error *err)
{
        static const char *const root[] = { "" };
        size_t n = load->n_paths ? load->n_paths : 1;
        struct loading l = { arena, *load, ret, ARENA_NEW_ARRAY(arena, struct resource_list, n) };
        struct error own = { 0 };

        *ret = (struct loaded){ .targets = ARENA_NEW_ARRAY(arena, struct loaded_target, n), .n_targets = n };
        err = err ? err : &own;
        if (!ret->targets || !l.lists)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                TRY(load_one(&l, i, load->n_paths ? load->paths[i] : root[0], err));
        TRY(settle(&l, err));
        error_clear(err); /* those of targets are with them */
        return 0;
}
