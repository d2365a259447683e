#include "hub-agent/manifest-generation/tree.h"

#include "common/base/memory.h"
#include "common/base/path.h"
#include "common/base/unicode.h"
#include "common/base/vec.h"

int tree_refuse(struct error *err, enum error_code code, const char *before, const char *path,
                const char *behind)
{
        AUTO_BUF struct buf quoted;

        buf_init(&quoted, 1 << 20);
        (void)write_quoted(&quoted, slice_of(path), QUOTE_PLAIN);
        TRY(buf_status(&quoted, err, "a path"));
        return error_set(err, code, "%s%s%s", before, quoted.data, behind);
}

int tree_wrap(struct error *err, int code, const char *before, const char *path)
{
        struct error own = { 0 };

        if (tree_refuse(&own, code, before, path, "") == code)
                error_wrap(err, "%s", own.text);
        return code;
}

static int outside(const struct tree *t, const char *path, struct error *err)
{
        AUTO_FREE char *behind = mem_printf(" is outside of base directory %s", t->name);

        return behind ? tree_refuse(err, ERR_INVALID, "path ", path, behind) : error_no_memory(err);
}

/* ---- ways ---- */

int tree_join(const struct tree *t, struct arena *arena, const char *folder, const char *path,
              const char **ret, struct error *err)
{
        AUTO_FREE char *whole = mem_printf("%s/%s", folder, path);
        AUTO_BUF struct buf clean;
        struct slice from;

        buf_init(&clean, 1 << 20);
        if (!whole)
                return error_no_memory(err);
        for (from = slice_of(whole); from.len && *from.data == '/'; from.len--)
                from.data++;
        path_clean(from, &clean);
        TRY(buf_status(&clean, err, path));
        if (text_equal(clean.data, "..") || text_starts_with(clean.data, "../"))
                return outside(t, path, err);
        *ret = arena_strdup(arena, text_equal(clean.data, ".") ? "" : clean.data);
        return *ret ? 0 : error_no_memory(err);
}

/* A link that stands at a path, its rest behind it. */
static int follow(const struct tree *t, struct arena *arena, const char *link, const char *rest,
                  const char **ret, struct error *err)
{
        AUTO_FREE char *target = NULL;
        AUTO_FREE char *way = NULL;
        const char *slash = strrchr(link, '/');
        AUTO_FREE char *folder = mem_strndup(link, slash ? (size_t)(slash - link) : 0);
        int code;

        TRY(volume_read_link(t->volume, link, &target, err));
        if (*target == '/')
                return outside(t, link, err);
        way = mem_printf("%s/%s", target, rest);
        if (!folder || !way)
                return error_no_memory(err);
        code = tree_join(t, arena, folder, way, ret, err);
        return code == ERR_INVALID ? outside(t, link, err) : code;
}

/* The first link on the way, if there is one: *ret_link ends where its name does. */
static int find_link(const struct tree *t, const char *path, char **ret_link, struct error *err)
{
        struct volume_info info;

        for (size_t n = 0; path[n];) {
                n += path[n] == '/';
                n += strcspn(path + n, "/");
                AUTO_FREE char *part = mem_strndup(path, n);

                if (!part)
                        return error_no_memory(err);
                TRY(volume_look(t->volume, part, &info, err));
                if (info.kind == VOLUME_LINK) {
                        *ret_link = TAKE_PTR(part);
                        return 0;
                }
        }
        return 0;
}

int tree_resolve(const struct tree *t, struct arena *arena, const char *path, const char **ret,
                 struct error *err)
{
        const char *way;

        TRY(tree_join(t, arena, "", path, &way, err));
        for (int i = 0; i <= TREE_LINKS_MAX; i++) {
                AUTO_FREE char *link = NULL;

                TRY(find_link(t, way, &link, err));
                if (!link) {
                        *ret = way;
                        return 0;
                }
                TRY(follow(t, arena, link, way + strlen(link), &way, err));
        }
        return error_set(err, ERR_LIMIT, "%s: more than %d links on the way", path, TREE_LINKS_MAX);
}

/* ---- looking ---- */

int tree_look(const struct tree *t, struct arena *arena, const char *path, enum volume_kind *ret,
              struct error *err)
{
        struct volume_info info;
        const char *way;

        TRY(tree_resolve(t, arena, path, &way, err));
        *ret = VOLUME_FOLDER;
        if (!*way)
                return 0;
        TRY(volume_look(t->volume, way, &info, err));
        *ret = info.kind;
        return 0;
}

int tree_has_file(const struct tree *t, struct arena *arena, const char *path, bool *ret, struct error *err)
{
        struct error own = { 0 };
        enum volume_kind kind;
        int code = tree_look(t, arena, path, &kind, &own);

        *ret = code == 0 && kind == VOLUME_FILE;
        if (code == 0 || code == ERR_NOT_FOUND)
                return 0;
        if (err)
                *err = own;
        return code;
}

int tree_read(const struct tree *t, struct arena *arena, const char *path, struct slice *ret,
              struct error *err)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *r = NULL;
        const char *way;
        uint64_t size;
        size_t n = 0;
        char *data;

        TRY(tree_resolve(t, arena, path, &way, err));
        if (!*way)
                return error_set(err, ERR_INVALID, "read %s: not a regular file", path);
        TRY(volume_open_file(t->volume, way, &r, err));
        size = volume_reader_size(r);
        if (size > TREE_FILE_BYTES)
                return error_set(err, ERR_LIMIT, "%s is larger than %u bytes (TREE_FILE_BYTES)", path,
                                 TREE_FILE_BYTES);
        data = arena_alloc(arena, (size_t)size + 1);
        if (!data)
                return error_no_memory(err);
        TRY(volume_read(r, 0, data, (size_t)size, &n, err));
        data[n] = '\0';
        *ret = (struct slice){ data, n };
        return 0;
}

static int list_one(const struct tree *t, struct arena *arena, const char *way, const char *name,
                    struct tree_entry *ret, struct error *err)
{
        const char *path = arena_printf(arena, "%s%s%s", way, *way ? "/" : "", name);
        struct volume_info info;

        ret->name = arena_strdup(arena, name);
        if (!path || !ret->name)
                return error_no_memory(err);
        TRY(volume_look(t->volume, path, &info, err));
        ret->is_folder = info.kind == VOLUME_FOLDER;
        ret->is_link = info.kind == VOLUME_LINK;
        return 0;
}

int tree_list(const struct tree *t, struct arena *arena, const char *path, struct tree_entry **ret,
              size_t *ret_n, struct error *err)
{
        AUTO_FREE char *names = NULL;
        struct tree_entry *entries;
        size_t n = 0, at = 0;
        const char *way;

        TRY(tree_resolve(t, arena, path, &way, err));
        TRY(volume_list(t->volume, way, &names, err));
        for (const char *name = names; *name; name += strlen(name) + 1)
                n++;
        entries = ARENA_NEW_ARRAY(arena, struct tree_entry, n + 1);
        if (!entries)
                return error_no_memory(err);
        for (const char *name = names; *name; name += strlen(name) + 1)
                TRY(list_one(t, arena, way, name, &entries[at++], err));
        *ret = entries;
        *ret_n = n;
        return 0;
}

/* ---- raw files ---- */

struct raw_walk {
        const struct tree *tree;
        struct arena *arena;
        VEC(const char *) files;
};

static bool is_yaml(const char *name)
{
        return text_ends_with(name, ".yaml") || text_ends_with(name, ".yml");
}

static bool is_chart(const struct tree_entry *entries, size_t n)
{
        unsigned marks = 0;

        for (size_t i = 0; i < n; i++)
                if (!entries[i].is_folder)
                        marks |= text_equal(entries[i].name, "Chart.yaml") |
                                 text_equal(entries[i].name, "values.yaml") << 1;
        return marks == 3;
}

static int add_file(struct raw_walk *w, const char *path, struct error *err)
{
        if (w->files.n >= TREE_RAW_FILES_MAX)
                return error_set(err, ERR_LIMIT, "more than %d files of manifests (TREE_RAW_FILES_MAX)",
                                 TREE_RAW_FILES_MAX);
        return vec_push(&w->files, path) < 0 ? error_no_memory(err) : 0;
}

/* A link may lead to a folder, whatever its name ends in: those are not walked, so it is no file either. */
static int is_file(struct raw_walk *w, const char *path, const struct tree_entry *e, bool *ret,
                   struct error *err)
{
        enum volume_kind kind = VOLUME_FILE;
        int code = e->is_link ? tree_look(w->tree, w->arena, path, &kind, NULL) : 0;

        *ret = kind != VOLUME_FOLDER; /* what cannot be read is told by who reads it */
        return code == ERR_NO_MEMORY ? error_no_memory(err) : 0;
}

static int walk(struct raw_walk *w, const char *folder, size_t depth, struct error *err)
{
        struct tree_entry *entries;
        size_t n;

        if (depth > TREE_DEPTH_MAX)
                return error_set(err, ERR_LIMIT, "%s: more than %d folders in folders (TREE_DEPTH_MAX)",
                                 folder, TREE_DEPTH_MAX);
        TRY(tree_list(w->tree, w->arena, folder, &entries, &n, err));
        if (is_chart(entries, n))
                return 0;
        for (size_t i = 0; i < n; i++) {
                const char *path =
                        arena_printf(w->arena, "%s%s%s", folder, *folder ? "/" : "", entries[i].name);
                bool file = false;

                if (!path)
                        return error_no_memory(err);
                if (entries[i].is_folder && !text_equal(entries[i].name, ".git"))
                        TRY(walk(w, path, depth + 1, err));
                if (!entries[i].is_folder && is_yaml(entries[i].name))
                        TRY(is_file(w, path, &entries[i], &file, err));
                if (file)
                        TRY(add_file(w, path, err));
        }
        return 0;
}

/* Whether a folder above that path is a chart. */
static int is_in_chart(struct raw_walk *w, const char *path, bool *ret, struct error *err)
{
        *ret = false;
        while (*path && !*ret) {
                const char *slash = strrchr(path, '/');
                struct tree_entry *entries;
                size_t n;

                path = slash ? arena_strndup(w->arena, path, (size_t)(slash - path)) : "";
                if (!path)
                        return error_no_memory(err);
                TRY(tree_list(w->tree, w->arena, path, &entries, &n, err));
                *ret = is_chart(entries, n);
        }
        return 0;
}

static int find_files(struct raw_walk *w, const char *target, struct error *err)
{
        enum volume_kind kind;
        bool in_chart;
        int code = tree_look(w->tree, w->arena, target, &kind, err);

        if (code == ERR_NOT_FOUND)
                return tree_refuse(err, ERR_NOT_FOUND, "unable to read root path ", target, "");
        TRY(code);
        TRY(is_in_chart(w, target, &in_chart, err));
        if (in_chart)
                return 0;
        if (kind == VOLUME_FOLDER)
                return walk(w, target, 0, err);
        return is_yaml(target) ? add_file(w, target, err) : 0;
}

int tree_raw_files(const struct tree *t, struct arena *arena, const char *target, const char *const **ret,
                   size_t *ret_n, struct error *err)
{
        struct raw_walk w = { .tree = t, .arena = arena, .files = VEC_INIT };
        const char **files = NULL;
        int code = tree_join(t, arena, "", target, &target, err);

        if (code == 0)
                code = find_files(&w, target, err);
        if (code == 0) {
                files = ARENA_NEW_ARRAY(arena, const char *, w.files.n + 1);
                code = files ? 0 : error_no_memory(err);
        }
        if (code == 0) {
                memcpy(files, w.files.at ? w.files.at : files, w.files.n * sizeof(*files));
                *ret = files;
                *ret_n = w.files.n;
        }
        vec_free(&w.files);
        return code;
}
