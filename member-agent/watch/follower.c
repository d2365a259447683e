#include "member-agent/watch/follower.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/kube/connection.h"

#define FIRST_PAGE 100 /* objects: how large they are is not known yet */
#define RETRY_FIRST_MS 200
#define RETRY_LAST_MS 30000
#define RETRY_FORBIDDEN_MS 8000 /* at most: a right that comes is used within ten seconds */

struct follower {
        struct follower_options o;
        struct kube_resource resource;
        char *strings[4]; /* behind `resource` */
        struct fiber_group *group;
        struct loop *loop;
        char *version; /* where to go on */
        bool current;
        struct error problem;
};

/* ---- one watch stream ---- */

static int remember_version_of(struct follower *r, struct slice version)
{
        char *copy = mem_strndup(version.data, version.len);

        if (!copy)
                return ERR_NO_MEMORY;
        mem_free(r->version);
        r->version = copy;
        return 0;
}

static int remember_version(struct follower *r, const char *version)
{
        return remember_version_of(r, slice_of(or_empty(version)));
}

static void show_undecodable(struct follower *r, const struct object *id, bool deleted,
                             const struct error *why)
{
        log_warn(r->o.kube->log, "an object cannot be decoded", "resource", r->resource.plural, "namespace",
                 id->meta.ns, "name", id->meta.name, "version", id->meta.resource_version, "error",
                 why->text);
        if (r->o.metadata_only || deleted)
                r->o.object(r->o.ctx, id, deleted);
}

/* `code` is what decoding the event as a whole came to. */
static int handle_undecodable(struct follower *r, struct slice line, int code, struct error *err)
{
        struct error why = *err;
        enum watch_type type;
        struct object *id;
        int result;

        if (object_decode_watch_identity(r->o.kind, line, &type, &id, NULL) < 0)
                return code;
        result = remember_version(r, id->meta.resource_version);
        if (result == 0 && type != WATCH_BOOKMARK)
                show_undecodable(r, id, type == WATCH_DELETED, &why);
        object_unref(id);
        return result < 0 ? error_no_memory(err) : 0;
}

static int handle_line(struct follower *r, struct slice line, struct error *err)
{
        struct watch_glance glance;
        enum watch_type type;
        struct object *o = NULL;
        int result;

        if (object_is_bookmark(line) && object_glance_watch_event(line, &glance))
                return remember_version_of(r, glance.version) < 0 ? error_no_memory(err) : 0;
        result = object_decode_watch_event(r->o.kind, line, DECODE_PROJECTION, NULL, &type, &o, err);
        if (result == ERR_INVALID || result == ERR_LIMIT)
                return handle_undecodable(r, line, result, err);
        if (result < 0)
                return result;
        result = remember_version(r, o->meta.resource_version);
        if (result == 0 && type != WATCH_BOOKMARK)
                r->o.object(r->o.ctx, o, type == WATCH_DELETED);
        object_unref(o);
        return result < 0 ? error_no_memory(err) : 0;
}

/* Consumes whole lines; the rest waits for more bytes. */
static int handle_bytes(struct follower *r, struct buf *pending, struct error *err)
{
        size_t from = 0;
        char *end;

        while ((end = memchr(pending->data + from, '\n', pending->len - from)) != NULL) {
                struct slice line = { pending->data + from, (size_t)(end - pending->data) - from };

                if (slice_trim(line).len > 0)
                        TRY(handle_line(r, line, err));
                from += line.len + 1;
        }
        buf_consume(pending, from);
        return 0;
}

static int read_stream(struct follower *r, struct http_stream *s, struct error *err)
{
        struct buf pending AUTO_BUF;

        buf_init(&pending, LIMIT_WATCH_EVENT_BYTES);
        for (;;) {
                struct slice piece;
                int result = http_stream_read(s, loop_now_ms(r->loop) + KUBE_WATCH_SILENCE_MS, &piece, err);

                if (result < 0)
                        return result;
                if (buf_append(&pending, piece.data, piece.len) < 0)
                        return buf_status(&pending, err, "watch event");
                TRY(handle_bytes(r, &pending, err));
                if (pending.len == 0 && pending.cap > 16384)
                        buf_free(&pending); /* a big object passed by: do not keep its room */
        }
}

static int watch_path(struct follower *r, struct buf *path)
{
        kube_path(path, &r->resource, r->o.ns, NULL, NULL);
        buf_printf(path, "?watch=1&allowWatchBookmarks=true&timeoutSeconds=%llu&resourceVersion=",
                   (unsigned long long)kube_watch_seconds(r->loop));
        http_escape(path, r->version);
        if (r->o.field_selector) {
                buf_append_str(path, "&fieldSelector=");
                http_escape(path, r->o.field_selector);
        }
        return path->failed;
}

static void tell_turn(struct follower *r)
{
        if (r->o.turned)
                r->o.turned(r->o.ctx);
}

static int watch(struct follower *r, struct error *err)
{
        struct buf path AUTO_BUF;
        struct kube_watch w = { .plural = r->resource.plural, .metadata_only = r->o.metadata_only };
        struct http_stream *s = NULL;
        int result;

        buf_init(&path, LIMIT_HEADER_BYTES);
        if (watch_path(r, &path) < 0)
                return error_no_memory(err);
        w.path = path.data;
        TRY(kube_watch_open(r->o.kube, &w, &s, err));
        r->current = true;
        error_clear(&r->problem);
        tell_turn(r);
        result = read_stream(r, s, err);
        http_stream_close(s);
        return result;
}

/* ---- list, then watch, for ever ---- */

static int show(void *ctx, struct object *o)
{
        struct follower *r = ctx;

        r->o.object(r->o.ctx, o, false);
        return 0;
}

static int list_undecodable(void *ctx, struct object *id, const struct error *why)
{
        show_undecodable(ctx, id, false, why);
        return 0;
}

static int list(struct follower *r, struct error *err)
{
        struct kube_list_options options = { .ns = r->o.ns,
                                             .field_selector = r->o.field_selector,
                                             .flags = DECODE_PROJECTION,
                                             .metadata_only = r->o.metadata_only,
                                             .first_page = FIRST_PAGE,
                                             .undecodable = list_undecodable };
        char *version = NULL;

        r->o.begin(r->o.ctx);
        TRY(kube_list_resource(r->o.kube, r->o.kind, &r->resource, &options, show, r, &version, err));
        mem_free(r->version);
        r->version = version;
        r->o.end(r->o.ctx);
        mem_trim(); /* the pages of the list are not needed again soon */
        return 0;
}

static int round_trip(struct follower *r, struct error *err)
{
        int result = 0;

        if (!r->version)
                TRY(list(r, err));
        result = watch(r, err);
        if (result == ERR_GONE) {
                mem_free(r->version);
                r->version = NULL;
        }
        return result == ERR_CLOSED || result == ERR_GONE ? 0 : result;
}

static void follower_fiber(void *ctx)
{
        struct follower *r = ctx;
        int64_t wait = RETRY_FIRST_MS;
        struct kube_past past = { 0 };

        for (;;) {
                struct error err = { 0 };
                int64_t begin = loop_now_ms(r->loop);
                int result = round_trip(r, &err);
                bool past_is_over = kube_past_is_over(r->o.kube, &past, result);

                r->current = r->current && result == 0 && r->version;
                r->problem = err;
                if (result == ERR_CANCELLED)
                        return;
                tell_turn(r);
                if (result == 0 || loop_now_ms(r->loop) - begin > RETRY_LAST_MS || past_is_over)
                        wait = RETRY_FIRST_MS;
                if (kube_connection_pause(r->o.kube,
                                          result == ERR_FORBIDDEN ? MIN(wait, RETRY_FORBIDDEN_MS) : wait) < 0)
                        return;
                wait = MIN(wait * 2, RETRY_LAST_MS);
        }
}

/* ---- life ---- */

static void release(struct follower *r)
{
        for (size_t i = 0; i < ARRAY_LEN(r->strings); i++)
                mem_free(r->strings[i]);
        mem_free(r->version);
        mem_free(r);
}

static int copy_resource(struct follower *r, const struct kube_resource *from)
{
        const char *const texts[] = { from->group, from->version, from->plural, from->kind };

        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
                if (!(r->strings[i] = mem_strdup(texts[i])))
                        return ERR_NO_MEMORY;
        r->resource = (struct kube_resource){ r->strings[0], r->strings[1], r->strings[2], r->strings[3],
                                              from->namespaced };
        return 0;
}

struct follower *follower_new(struct fiber_group *group, const struct follower_options *o, struct error *err)
{
        struct kube_resource own = kube_resource_of(o->kind);
        struct follower *r = NEW(struct follower);

        if (!r) {
                error_no_memory(err);
                return NULL;
        }
        r->o = *o;
        r->loop = fiber_group_loop(group);
        r->group = fiber_group_new(r->loop, group, "follower");
        if (!r->group || copy_resource(r, o->resource ? o->resource : &own) < 0 ||
            !fiber_spawn(r->group, "follower", follower_fiber, r)) {
                error_no_memory(err);
                if (r->group)
                        fiber_group_end(r->group);
                release(r);
                return NULL;
        }
        return r;
}

struct follower *follower_stop(struct follower *r)
{
        if (!r)
                return NULL;
        fiber_group_end(r->group);
        release(r);
        return NULL;
}

bool follower_current(const struct follower *r)
{
        return r->current;
}

const char *follower_problem(const struct follower *r)
{
        return r->problem.text;
}
