/* Files in memory, for tests and the simulation. What is not committed stays under its temporary name when
 * nothing can be removed any more: as after a crash. */
#include <errno.h>

#include "common/base/map.h"
#include "common/loop/files.h"
#include "common/loop/volume_internal.h"

#define FILE_BYTES (256u << 20)

struct content {
        struct buf bytes;
        unsigned refs;
};

struct node {
        enum volume_kind kind;
        struct content *content; /* of files */
        int64_t changed_ms;
        uint64_t stamp;
};

struct memory_volume {
        struct volume base;
        struct map nodes; /* path -> struct node */
        uint64_t stamps;
        int (*fault)(void *ctx, enum volume_change what, const char *path);
        void *ctx;
};

struct memory_reader {
        struct volume_reader base;
        struct content *content;
};

struct memory_writer {
        struct volume_writer base;
        struct memory_volume *volume;
        struct content *content;
        char *path, *temporary; /* both whole paths */
};

static struct memory_volume *of(struct volume *v)
{
        return (struct memory_volume *)v;
}

static int ask(struct memory_volume *v, enum volume_change what, const char *path)
{
        return v->fault ? v->fault(v->ctx, what, path) : 0;
}

/* ---- nodes ---- */

static struct content *content_new(void)
{
        struct content *c = NEW(struct content);

        if (c) {
                buf_init(&c->bytes, FILE_BYTES);
                c->refs = 1;
        }
        return c;
}

static struct content *content_hold(struct content *c)
{
        c->refs++;
        return c;
}

static void content_drop(struct content *c)
{
        if (!c || --c->refs)
                return;
        buf_free(&c->bytes);
        mem_free(c);
}

static void node_free(void *p)
{
        struct node *n = p;

        content_drop(n->content);
        mem_free(n);
}

/* Takes a reference of the content. */
static int put(struct memory_volume *v, const char *path, enum volume_kind kind, struct content *content)
{
        struct node *n = NEW(struct node);

        if (n)
                *n = (struct node){ kind, content ? content_hold(content) : NULL, loop_wall_ms(v->base.loop),
                                    ++v->stamps };
        if (!n || map_put(&v->nodes, path, n) < 0) {
                if (n)
                        node_free(n);
                return ERR_NO_MEMORY;
        }
        return 0;
}

/* The folders on a path's way: an error number if there is something else, or no such folder and none is to
 * be made. */
static int walk(struct memory_volume *v, const char *path, bool make)
{
        for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
                AUTO_FREE char *folder = mem_strndup(path, (size_t)(slash - path));
                const struct node *n = folder ? map_get(&v->nodes, folder) : NULL;

                if (!folder)
                        return ENOMEM;
                if (n && n->kind != VOLUME_FOLDER)
                        return ENOTDIR;
                if (!n && !make)
                        return ENOENT;
                if (!n && put(v, folder, VOLUME_FOLDER, NULL) < 0)
                        return ENOMEM;
        }
        return 0;
}

static int find(struct volume *v, const char *path, const char *verb, struct node **ret, struct error *err)
{
        int problem = walk(of(v), path, false);

        *ret = problem ? NULL : map_get(&of(v)->nodes, path);
        return *ret ? 0 : volume_refuse(err, problem ? problem : ENOENT, verb, path);
}

/* ---- looking ---- */

static int memory_look(struct volume *v, const char *path, struct volume_info *ret, struct error *err)
{
        struct node *n;

        TRY(find(v, path, "look at", &n, err));
        *ret = (struct volume_info){ n->kind, n->content ? n->content->bytes.len : 0, n->changed_ms,
                                     n->stamp };
        return 0;
}

/* The last part of a path that is right in the folder; NULL = it is not. */
static const char *name_in(const char *path, const char *folder)
{
        size_t n = strlen(folder);

        if (n && (strncmp(path, folder, n) != 0 || path[n] != '/'))
                return NULL;
        path += n ? n + 1 : 0;
        return strchr(path, '/') ? NULL : path;
}

static int memory_list(struct volume *v, const char *path, char **ret_names, struct error *err)
{
        AUTO_BUF struct buf names;
        struct node *folder;
        size_t n = 0;

        buf_init(&names, NAMES_BYTES);
        if (*path) {
                TRY(find(v, path, "read", &folder, err));
                if (folder->kind != VOLUME_FOLDER)
                        return error_set(err, ERR_UNSUPPORTED, "read %s: not a folder", path);
        }
        map_for_each(&of(v)->nodes, e) {
                const char *name = name_in(e->key, path);

                if (!name)
                        continue;
                (void)buf_append(&names, name, strlen(name) + 1);
                n++;
        }
        TRY(buf_status(&names, err, path));
        return sort_names(names.data, n, ret_names, err);
}

/* ---- reading ---- */

static int read_part(const struct buf *b, uint64_t offset, void *ret, size_t n, size_t *ret_n)
{
        size_t at = MIN(offset, b->len);

        *ret_n = MIN(n, b->len - at);
        memcpy(ret, b->data + at, *ret_n);
        return 0;
}

static int reader_read(struct volume_reader *base, uint64_t offset, void *ret, size_t n, size_t *ret_n,
                       struct error *err)
{
        return read_part(&((struct memory_reader *)base)->content->bytes, offset, ret, n, ret_n);
}

static void reader_close(struct volume_reader *base)
{
        struct memory_reader *r = (struct memory_reader *)base;

        content_drop(r->content);
        mem_free(r);
}

static const struct volume_reader_ops reader_ops = { .read = reader_read, .close = reader_close };

static int memory_open_file(struct volume *v, const char *path, struct volume_reader **ret, struct error *err)
{
        struct memory_reader *r;
        struct node *n;

        TRY(find(v, path, "read", &n, err));
        if (n->kind == VOLUME_LINK)
                return volume_refuse(err, ELOOP, "read", path);
        if (n->kind != VOLUME_FILE)
                return error_set(err, ERR_INVALID, "read %s: not a regular file", path);
        r = NEW(struct memory_reader);
        if (!r)
                return error_no_memory(err);
        *r = (struct memory_reader){ { &reader_ops, n->content->bytes.len }, content_hold(n->content) };
        *ret = &r->base;
        return 0;
}

/* ---- writing ---- */

static void writer_free(struct memory_writer *w)
{
        content_drop(w->content);
        mem_free(w->path);
        mem_free(w->temporary);
        mem_free(w);
}

static int writer_append(struct volume_writer *base, const void *data, size_t n, struct error *err)
{
        struct memory_writer *w = (struct memory_writer *)base;
        int problem = ask(w->volume, VOLUME_APPEND, w->path);

        if (problem)
                return volume_refuse(err, problem, "write", w->path);
        (void)buf_append(&w->content->bytes, data, n);
        return buf_status(&w->content->bytes, err, w->path);
}

static int writer_read(struct volume_writer *base, uint64_t offset, void *ret, size_t n, size_t *ret_n,
                       struct error *err)
{
        return read_part(&((struct memory_writer *)base)->content->bytes, offset, ret, n, ret_n);
}

static int writer_written(struct volume_writer *base, struct slice *ret, struct error *err)
{
        const struct buf *b = &((struct memory_writer *)base)->content->bytes;

        *ret = (struct slice){ b->data, b->len };
        return 0;
}

static void writer_abandon(struct volume_writer *base)
{
        struct memory_writer *w = (struct memory_writer *)base;

        if (!ask(w->volume, VOLUME_REMOVE, w->temporary))
                map_remove(&w->volume->nodes, w->temporary);
        writer_free(w);
}

static int land(struct memory_writer *w, struct error *err)
{
        struct memory_volume *v = w->volume;
        const struct node *there = map_get(&v->nodes, w->path);
        int problem = ask(v, VOLUME_SYNC, w->path);

        if (!problem)
                problem = ask(v, VOLUME_RENAME, w->path);
        if (!problem && there && there->kind == VOLUME_FOLDER)
                problem = EISDIR;
        if (problem)
                return volume_refuse(err, problem, "write", w->path);
        if (put(v, w->path, VOLUME_FILE, w->content) < 0)
                return error_no_memory(err);
        map_remove(&v->nodes, w->temporary);
        return 0;
}

static int writer_commit(struct volume_writer *base, struct error *err)
{
        struct memory_writer *w = (struct memory_writer *)base;
        int code = land(w, err);

        if (code < 0)
                writer_abandon(base);
        else
                writer_free(w);
        return code;
}

static const struct volume_writer_ops writer_ops = { .append = writer_append,
                                                     .written = writer_written,
                                                     .read = writer_read,
                                                     .commit = writer_commit,
                                                     .abandon = writer_abandon };

static char *temporary_path(struct memory_volume *v, const char *path)
{
        const char *slash = strrchr(path, '/');
        size_t n = slash ? (size_t)(slash - path) + 1 : 0;
        AUTO_FREE char *name = volume_temporary_name(v->base.loop, path + n);

        return name ? mem_printf("%.*s%s", (int)n, path, name) : NULL;
}

static int memory_create(struct volume *base, const char *path, struct volume_writer **ret, struct error *err)
{
        struct memory_volume *v = of(base);
        int problem = ask(v, VOLUME_CREATE, path);
        struct memory_writer *w;

        if (!problem)
                problem = walk(v, path, true);
        if (problem)
                return problem == ENOMEM ? error_no_memory(err) : volume_refuse(err, problem, "write", path);
        w = NEW(struct memory_writer);
        if (!w)
                return error_no_memory(err);
        *w = (struct memory_writer){
                { &writer_ops }, v, content_new(), mem_strdup(path), temporary_path(v, path)
        };
        if (!w->content || !w->path || !w->temporary || put(v, w->temporary, VOLUME_FILE, w->content) < 0) {
                writer_free(w);
                return error_no_memory(err);
        }
        *ret = &w->base;
        return 0;
}

static int memory_link(struct volume *base, const char *path, const char *target, struct error *err)
{
        struct memory_volume *v = of(base);
        int problem = ask(v, VOLUME_MAKE_LINK, path);
        struct content *c;
        int code;

        if (!problem)
                problem = walk(v, path, true);
        if (problem)
                return problem == ENOMEM ? error_no_memory(err) : volume_refuse(err, problem, "link", path);
        c = content_new();
        code = c ? buf_append_str(&c->bytes, target) : ERR_NO_MEMORY;
        if (code == 0)
                code = put(v, path, VOLUME_LINK, c);
        content_drop(c);
        return code < 0 ? error_no_memory(err) : 0;
}

static int memory_read_link(struct volume *v, const char *path, char **ret, struct error *err)
{
        struct node *n;

        TRY(find(v, path, "read", &n, err));
        if (n->kind != VOLUME_LINK)
                return error_set(err, ERR_INVALID, "read %s: not a link", path);
        *ret = mem_strdup(n->content->bytes.data);
        return *ret ? 0 : error_no_memory(err);
}

static int memory_remove(struct volume *base, const char *path, struct error *err)
{
        struct memory_volume *v = of(base);
        int problem = ask(v, VOLUME_REMOVE, path);
        struct node *n;

        if (problem)
                return volume_refuse(err, problem, "remove", path);
        TRY(find(base, path, "remove", &n, err));
        if (n->kind == VOLUME_FOLDER)
                map_for_each(&v->nodes, e)
                        if (name_in(e->key, path))
                                return volume_refuse(err, ENOTEMPTY, "remove", path);
        map_remove(&v->nodes, path);
        return 0;
}

/* ---- the volume ---- */

static struct volume *memory_close(struct volume *v)
{
        map_free(&of(v)->nodes);
        mem_free(v);
        return NULL;
}

static const struct volume_ops ops = {
        .look = memory_look,
        .list = memory_list,
        .open_file = memory_open_file,
        .create = memory_create,
        .link = memory_link,
        .read_link = memory_read_link,
        .remove = memory_remove,
        .close = memory_close,
};

struct volume *volume_new_in_memory(struct loop *l)
{
        struct memory_volume *v = NEW(struct memory_volume);

        if (!v)
                return NULL;
        v->base = (struct volume){ &ops, l };
        map_init(&v->nodes, MAP_OWN_KEYS, node_free);
        return &v->base;
}

void volume_set_fault(struct volume *v, int (*fault)(void *ctx, enum volume_change what, const char *path),
                      void *ctx)
{
        ASSERT(v->ops == &ops);
        of(v)->fault = fault;
        of(v)->ctx = ctx;
}
