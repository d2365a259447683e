#include <errno.h>

#include "common/loop/volume_internal.h"

#define DEPTH_MAX 64 /* folders in folders that are removed at once */

int volume_refuse(struct error *err, int error_number, const char *verb, const char *path)
{
        switch (error_number) {
        case ENOENT:
                return error_set(err, ERR_NOT_FOUND, "%s %s: no such file", verb, path);
        case ELOOP:
        case ENOTDIR:
                return error_set(err, ERR_NOT_FOUND, "%s %s: a part of it is no folder", verb, path);
        case ENOMEM:
                return error_no_memory(err);
        default:
                return error_errno(err, error_number, "%s %s", verb, path);
        }
}

char *volume_temporary_name(struct loop *l, const char *name)
{
        return mem_printf(VOLUME_TEMPORARY "%016llx-%.100s", (unsigned long long)loop_random_u64(l), name);
}

/* ---- paths ---- */

static bool is_part(struct slice part)
{
        return part.len && !slice_equal(part, slice_of(".")) && !slice_equal(part, slice_of("..")) &&
               !memchr(part.data, '\0', part.len);
}

static int check_path(const char *path, struct error *err)
{
        struct slice rest = slice_of(path), part;
        bool more = true;

        while (more) {
                more = slice_cut(&rest, '/', &part);
                if (!is_part(part))
                        return error_set(err, ERR_INVALID, "%s: not a path below the folder of files", path);
        }
        return 0;
}

/* ---- what the kinds do ---- */

int volume_look(struct volume *v, const char *path, struct volume_info *ret, struct error *err)
{
        TRY(check_path(path, err));
        return v->ops->look(v, path, ret, err);
}

int volume_list(struct volume *v, const char *path, char **ret_names, struct error *err)
{
        if (*path)
                TRY(check_path(path, err));
        return v->ops->list(v, path, ret_names, err);
}

int volume_open_file(struct volume *v, const char *path, struct volume_reader **ret, struct error *err)
{
        TRY(check_path(path, err));
        return v->ops->open_file(v, path, ret, err);
}

int volume_create(struct volume *v, const char *path, struct volume_writer **ret, struct error *err)
{
        TRY(check_path(path, err));
        return v->ops->create(v, path, ret, err);
}

int volume_link(struct volume *v, const char *path, const char *target, struct error *err)
{
        TRY(check_path(path, err));
        if (!is_part(slice_of(target)) || strchr(target, '/'))
                return error_set(err, ERR_INVALID, "link %s: %s is no name of a file beside it", path,
                                 target);
        return v->ops->link(v, path, target, err);
}

int volume_read_link(struct volume *v, const char *path, char **ret, struct error *err)
{
        TRY(check_path(path, err));
        return v->ops->read_link(v, path, ret, err);
}

int volume_remove(struct volume *v, const char *path, struct error *err)
{
        TRY(check_path(path, err));
        return v->ops->remove(v, path, err);
}

struct volume *volume_close(struct volume *v)
{
        return v ? v->ops->close(v) : NULL;
}

uint64_t volume_reader_size(const struct volume_reader *r)
{
        return r->size;
}

int volume_read(struct volume_reader *r, uint64_t offset, void *ret, size_t n, size_t *ret_n,
                struct error *err)
{
        return r->ops->read(r, offset, ret, n, ret_n, err);
}

struct volume_reader *volume_reader_close(struct volume_reader *r)
{
        if (r)
                r->ops->close(r);
        return NULL;
}

int volume_append(struct volume_writer *w, const void *data, size_t n, struct error *err)
{
        return w->ops->append(w, data, n, err);
}

int volume_read_written(struct volume_writer *w, uint64_t offset, void *ret, size_t n, size_t *ret_n,
                        struct error *err)
{
        return w->ops->read(w, offset, ret, n, ret_n, err);
}

int volume_written(struct volume_writer *w, struct slice *ret, struct error *err)
{
        return w->ops->written(w, ret, err);
}

int volume_commit(struct volume_writer *w, struct error *err)
{
        return w->ops->commit(w, err);
}

struct volume_writer *volume_abandon(struct volume_writer *w)
{
        if (w)
                w->ops->abandon(w);
        return NULL;
}

/* ---- what is made of that ---- */

int volume_each(struct volume *v, const char *path, int (*fn)(void *ctx, const char *name, struct error *err),
                void *ctx, struct error *err)
{
        AUTO_FREE char *names = NULL;

        TRY(volume_list(v, path, &names, err));
        for (const char *name = names; *name; name += strlen(name) + 1)
                TRY(fn(ctx, name, err));
        return 0;
}

struct removal {
        struct volume *volume;
        const char *path;
        unsigned depth;
};

static int remove_below(struct removal *r, struct error *err);

static int remove_name(void *ctx, const char *name, struct error *err)
{
        struct removal *r = ctx;
        AUTO_FREE char *path = mem_printf("%s/%s", r->path, name);
        struct removal below = { r->volume, path, r->depth + 1 };

        return path ? remove_below(&below, err) : error_no_memory(err);
}

static int gone_is_fine(int code, struct error *err)
{
        if (code == ERR_NOT_FOUND)
                error_clear(err);
        return code == ERR_NOT_FOUND ? 0 : code;
}

static int remove_below(struct removal *r, struct error *err)
{
        struct volume_info info;
        int code;

        if (r->depth > DEPTH_MAX)
                return error_set(err, ERR_LIMIT, "remove %s: more than %d folders in each other", r->path,
                                 DEPTH_MAX);
        code = volume_look(r->volume, r->path, &info, err);
        if (code == 0 && info.kind == VOLUME_FOLDER)
                code = volume_each(r->volume, r->path, remove_name, r, err);
        if (code == 0)
                code = volume_remove(r->volume, r->path, err);
        return gone_is_fine(code, err);
}

int volume_remove_all(struct volume *v, const char *path, struct error *err)
{
        struct removal r = { v, path, 0 };

        TRY(check_path(path, err));
        if (v->ops->remove_all)
                return v->ops->remove_all(v, path, err);
        return remove_below(&r, err);
}
