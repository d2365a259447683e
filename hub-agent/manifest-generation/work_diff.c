#include "hub-agent/manifest-generation/work_diff.h"

#include <stdlib.h>

#include "common/base/memory.h"

/* ---- all files of a folder ---- */

struct walk {
        const struct tree *tree;
        struct arena *arena;
        int (*take)(void *ctx, const char *path, const struct volume_info *info, struct error *err);
        void *ctx;
};

static int walk_folder(const struct walk *w, const char *folder, unsigned depth, struct error *err);

static int walk_entry(const struct walk *w, const char *folder, const char *name, unsigned depth,
                      struct error *err)
{
        const char *path = arena_printf(w->arena, "%s%s%s", folder, *folder ? "/" : "", name);
        struct volume_info info;

        if (!path)
                return error_no_memory(err);
        if (text_equal(name, ".git"))
                return 0;
        TRY(volume_look(w->tree->volume, path, &info, err));
        if (info.kind == VOLUME_FOLDER)
                return walk_folder(w, path, depth + 1, err);
        return info.kind == VOLUME_FILE || info.kind == VOLUME_LINK ? w->take(w->ctx, path, &info, err) : 0;
}

static int walk_folder(const struct walk *w, const char *folder, unsigned depth, struct error *err)
{
        AUTO_FREE char *names = NULL;

        if (depth > GIT_DEPTH_MAX)
                return error_set(err, ERR_LIMIT, "%.200s: more than %d folders in folders", folder,
                                 GIT_DEPTH_MAX);
        TRY(volume_list(w->tree->volume, folder, &names, err));
        for (const char *n = names; *n; n += strlen(n) + 1)
                TRY(walk_entry(w, folder, n, depth, err));
        return 0;
}

/* ---- before ---- */

struct taking {
        struct arena *arena;
        struct map *files;
};

static int take_info(void *ctx, const char *path, const struct volume_info *info, struct error *err)
{
        struct taking *t = ctx;
        void *copy = arena_memdup(t->arena, info, sizeof(*info));

        if (map_count(t->files) >= WORK_FILES_MAX)
                return error_set(err, ERR_LIMIT, "the checkout has more than %d files", WORK_FILES_MAX);
        return copy && map_put(t->files, path, copy) == 0 ? 0 : error_no_memory(err);
}

int work_snapshot_take(const struct tree *t, struct arena *arena, struct work_snapshot *ret,
                       struct error *err)
{
        struct taking taking = { arena, map_of_arena(arena) };
        const struct walk w = { t, arena, take_info, &taking };

        ret->files = taking.files;
        return ret->files ? walk_folder(&w, "", 0, err) : error_no_memory(err);
}

/* ---- after ---- */

struct comparing {
        const struct tree *tree;
        const struct work_snapshot *before;
        struct arena *arena;
        struct map *seen;
        struct work_diff *diff;
        size_t room, bytes;
        bool only_known;
};

static int add(struct comparing *c, struct git_change change, struct error *err)
{
        struct git_change *at = &c->diff->at[c->diff->n];

        c->bytes += change.data.len;
        if (c->diff->n >= c->room || c->bytes > WORK_CHANGED_BYTES)
                return error_set(err, ERR_LIMIT, "more than %u MiB, or %d new files, changed",
                                 WORK_CHANGED_BYTES >> 20, WORK_FILES_MAX);
        *at = change;
        c->diff->n++;
        return 0;
}

static int read_file(struct comparing *c, const char *path, const struct volume_info *info, struct slice *ret,
                     struct error *err)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *r = NULL;
        char *data;
        size_t n = 0;

        if (info->size > WORK_CHANGED_BYTES - MIN(c->bytes, WORK_CHANGED_BYTES))
                return error_set(err, ERR_LIMIT, "%.200s: more than %u MiB changed", path,
                                 WORK_CHANGED_BYTES >> 20);
        TRY(volume_open_file(c->tree->volume, path, &r, err));
        data = arena_alloc(c->arena, (size_t)info->size + 1);
        if (!data)
                return error_no_memory(err);
        TRY(volume_read(r, 0, data, (size_t)info->size, &n, err));
        *ret = (struct slice){ data, n };
        return 0;
}

static int read_link(struct comparing *c, const char *path, struct slice *ret, struct error *err)
{
        AUTO_FREE char *target = NULL;
        char *kept;

        TRY(volume_read_link(c->tree->volume, path, &target, err));
        kept = arena_strdup(c->arena, target);
        if (!kept)
                return error_no_memory(err);
        *ret = slice_of(kept);
        return 0;
}

static int compare(void *ctx, const char *path, const struct volume_info *info, struct error *err)
{
        struct comparing *c = ctx;
        const struct volume_info *was = map_get(c->before->files, path);
        struct git_change change = { .path = path, .kind = info->kind == VOLUME_LINK ? GIT_LINK : GIT_FILE };

        if (map_put(c->seen, path, c) < 0)
                return error_no_memory(err);
        if (was ? was->stamp == info->stamp && was->kind == info->kind : c->only_known)
                return 0;
        TRY(info->kind == VOLUME_LINK ? read_link(c, path, &change.data, err)
                                      : read_file(c, path, info, &change.data, err));
        return add(c, change, err);
}

static int by_path(const void *a, const void *b)
{
        return strcmp(((const struct git_change *)a)->path, ((const struct git_change *)b)->path);
}

int work_diff_make(const struct tree *t, const struct work_snapshot *before, bool only_known,
                   struct arena *arena, struct work_diff *ret, struct error *err)
{
        struct comparing c = { .tree = t,
                               .before = before,
                               .arena = arena,
                               .seen = map_of_arena(arena),
                               .diff = ret,
                               .room = map_count(before->files) + WORK_FILES_MAX,
                               .only_known = only_known };
        const struct walk w = { t, arena, compare, &c };

        *ret = (struct work_diff){ .at = ARENA_NEW_ARRAY(arena, struct git_change, c.room) };
        if (!c.seen || !ret->at)
                return error_no_memory(err);
        TRY(walk_folder(&w, "", 0, err));
        map_for_each(before->files, e)
                if (!map_has(c.seen, e->key))
                        TRY(add(&c, (struct git_change){ .path = e->key, .removed = true }, err));
        if (ret->n > 1)
                qsort(ret->at, ret->n, sizeof(*ret->at), by_path);
        return 0;
}

static bool is_below(const char *path, const char *folder)
{
        size_t n = strlen(folder);

        return n == 0 || (strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

void work_diff_confine(struct work_diff *d, const char *const *paths, size_t n_paths)
{
        size_t kept = 0;

        for (size_t i = 0; i < d->n; i++)
                for (size_t k = 0; k < n_paths; k++)
                        if (is_below(d->at[i].path, paths[k])) {
                                d->at[kept++] = d->at[i];
                                break;
                        }
        d->n = kept;
}
