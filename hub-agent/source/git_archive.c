/* The archive of a commit: which files are in it, and in what form. spec/helm-chart.md 12.1 steps 4 and 5. */
#include "hub-agent/source/git_source.h"
#include "hub-agent/source/ignore.h"
#include "hub-agent/source/tree_archive.h"

#define IGNORE_FILE ".sourceignore"
#define IGNORE_BYTES (1u << 20)
#define FILE_BYTES (64u << 20) /* of one file: it is in memory while it is packed */
#define ALL_BYTES (1u << 30)

/* ---- folders that are kept ---- */

static struct slice clean(const char *folder)
{
        struct slice s = slice_of(folder);

        while (slice_starts_with(s, "./"))
                s = (struct slice){ s.data + 2, s.len - 2 };
        while (s.len > 0 && s.data[s.len - 1] == '/')
                s.len--;
        return slice_is(s, ".") ? SLICE("") : s;
}

const char *git_sparse_problem(const struct string_list *l)
{
        for (size_t i = 0; i < l->n; i++) {
                struct slice rest = clean(l->at[i]), part;
                bool more = rest.len > 0;

                while (more) {
                        more = slice_cut(&rest, '/', &part);
                        if (part.len == 0 || slice_is(part, ".") || slice_is(part, ".."))
                                return l->at[i];
                }
        }
        return NULL;
}

/* a is b, or a folder that b is in. */
static bool holds(struct slice a, struct slice b)
{
        if (a.len == 0)
                return true;
        return a.len <= b.len && memcmp(a.data, b.data, a.len) == 0 &&
               (a.len == b.len || b.data[a.len] == '/');
}

bool git_sparse_keeps(const struct string_list *l, const char *path, bool is_folder)
{
        struct slice p = slice_of(path);

        for (size_t i = 0; i < l->n; i++) {
                struct slice folder = clean(l->at[i]);

                if (holds(folder, p) || (is_folder && holds(p, folder)))
                        return true;
        }
        return l->n == 0;
}

static int check_folders(struct git_pass *g, const struct git_hash *commit, struct error *err)
{
        struct arena *arena = g->pass->rc->arena;
        const struct string_list *l = &g->spec->sparse_checkout;

        for (size_t i = 0; i < l->n; i++) {
                struct slice folder = clean(l->at[i]);
                const char *path = arena_strndup(arena, folder.data, folder.len);
                struct git_entry e;

                if (!path)
                        return error_no_memory(err);
                if (!*path)
                        continue;
                int code = repo_entry(g->repo, commit, path, arena, &e, err);

                if (code == ERR_NOT_FOUND || (code == 0 && e.kind != GIT_FOLDER))
                        return error_set(err, ERR_NOT_FOUND,
                                         "sparse checkout directory '%s' does not exist in repository",
                                         l->at[i]);
                TRY(code);
        }
        return 0;
}

/* ---- what is left out ---- */

struct ignore_texts {
        struct git_pass *git;
        struct arena *arena;
        struct ignore_rules said; /* by files of the tree and the spec, to know whether there is any */
        struct ignore_rules rules;
};

static bool is_in(const struct git_pass *g, const struct git_entry *e)
{
        return git_sparse_keeps(&g->spec->sparse_checkout, e->path,
                                e->kind == GIT_FOLDER || e->kind == GIT_SUBMODULE);
}

static bool wants_ignore(void *ctx, const struct git_entry *e)
{
        struct ignore_texts *t = ctx;
        const char *slash = strrchr(e->path, '/');

        if (!is_in(t->git, e))
                return false;
        return e->kind == GIT_FOLDER || e->kind == GIT_SUBMODULE ||
               (e->kind != GIT_LINK && text_equal(slash ? slash + 1 : e->path, IGNORE_FILE));
}

static int take_ignore(void *ctx, const struct git_entry *e, struct slice data, struct error *err)
{
        struct ignore_texts *t = ctx;
        const char *slash = strrchr(e->path, '/');

        if (e->kind == GIT_FOLDER || e->kind == GIT_SUBMODULE)
                return 0;
        const char *folder = arena_strndup(t->arena, e->path, slash ? (size_t)(slash - e->path) : 0);

        return folder ? ignore_add(&t->said, folder, data, err) : error_no_memory(err);
}

/* The rules of the tree stand between those that always hold and the spec's. */
static int read_ignores(struct git_pass *g, const struct git_hash *commit, struct ignore_texts *t,
                        struct error *err)
{
        const struct git_walk walk = { .wants = wants_ignore,
                                       .take = take_ignore,
                                       .ctx = t,
                                       .into_submodules = g->spec->recurse_submodules.value,
                                       .deadline_ms = g->deadline_ms,
                                       .file_bytes = IGNORE_BYTES,
                                       .all_bytes = IGNORE_BYTES };

        TRY(repo_walk(g->repo, commit, &walk, err));
        if (!text_empty(g->spec->ignore))
                TRY(ignore_add(&t->said, "", slice_of(g->spec->ignore), err));
        TRY(ignore_add_defaults(&t->rules, t->said.n == 0, err));
        ignore_join(&t->rules, &t->said);
        return 0;
}

/* ---- the archive ---- */

struct writing {
        struct git_pass *git;
        const struct ignore_rules *rules;
        struct artifact_writer *into;
        struct tree_archive *archive;
        bool no_room;
};

static int put(void *ctx, const void *data, size_t n, struct error *err)
{
        struct writing *w = ctx;
        int code = artifact_append(w->into, data, n, err);

        w->no_room = code < 0 && code != ERR_NO_MEMORY;
        return code;
}

static bool wants_file(void *ctx, const struct git_entry *e)
{
        struct writing *w = ctx;

        if (e->kind == GIT_LINK || !is_in(w->git, e))
                return false;
        /* What is in a folder that is left out may be kept all the same. */
        return e->kind == GIT_FOLDER || e->kind == GIT_SUBMODULE || !ignore_has(w->rules, e->path, false);
}

static int take_file(void *ctx, const struct git_entry *e, struct slice data, struct error *err)
{
        struct writing *w = ctx;

        if (e->kind == GIT_FOLDER || e->kind == GIT_SUBMODULE)
                return 0;
        TRY(e->kind == GIT_EXECUTABLE ? tree_archive_begin_program(w->archive, e->path, data.len, err)
                                      : tree_archive_begin(w->archive, e->path, data.len, err));
        return tree_archive_add(w->archive, data, err);
}

static int write_archive(struct writing *w, const struct git_hash *commit, struct error *err)
{
        const struct git_pass *g = w->git;
        const struct git_walk walk = { .wants = wants_file,
                                       .take = take_file,
                                       .ctx = w,
                                       .into_submodules = g->spec->recurse_submodules.value,
                                       .deadline_ms = g->deadline_ms,
                                       .file_bytes = FILE_BYTES,
                                       .all_bytes = ALL_BYTES };

        TRY(repo_walk(g->repo, commit, &walk, err));
        return tree_archive_end(w->archive, err);
}

int git_archive_write(struct git_pass *g, const struct git_hash *commit, struct artifact_writer *into,
                      bool *ret_no_room, struct error *err)
{
        struct arena *arena = g->pass->rc->arena;
        struct ignore_texts texts = { g, arena, { .arena = arena }, { .arena = arena } };
        struct writing w = { .git = g, .rules = &texts.rules, .into = into };
        const struct archive_sink sink = { put, &w };

        *ret_no_room = false;
        TRY(check_folders(g, commit, err));
        TRY(read_ignores(g, commit, &texts, err));
        w.archive = tree_archive_new(&sink);
        if (!w.archive)
                return error_no_memory(err);
        int code = write_archive(&w, commit, err);

        tree_archive_free(w.archive);
        *ret_no_room = w.no_room;
        return code;
}
