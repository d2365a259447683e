#include "hub-agent/source/store/serve.h"

#include "common/base/memory.h"
#include "hub-agent/source/store/range.h"

#define PIECE_BYTES (64u << 10)
#define AHEAD_BYTES (256u << 10) /* that the client has not taken yet */
#define STALLED_MS 60000         /* without the client taking anything */

struct download {
        struct artifact_store *store;
        struct http_exchange *x;
        const char *path; /* of the file itself */
        struct volume_reader *file;
        struct volume_info info;
        struct byte_range part;
        bool partial;
};

static void say(struct http_exchange *x, int status, const char *text, const struct http_header *more,
                size_t n)
{
        struct http_headers extra = { (struct http_header *)more, n };

        (void)http_reply(x, status, "text/plain; charset=utf-8", slice_of(text), &extra);
}

/* ---- which file ---- */

static bool is_shown(const char *path)
{
        struct slice rest = slice_of(path), part;
        bool more = true;

        while (more) {
                more = slice_cut(&rest, '/', &part);
                if (part.len == 0 || part.data[0] == '.')
                        return false;
        }
        return !text_ends_with(path, ".lock") && !text_ends_with(path, ".tmp");
}

/* A link is followed once, to the file beside it that it is of. */
static int follow(struct download *d, struct error *err)
{
        AUTO_FREE char *target = NULL;

        if (d->info.kind != VOLUME_LINK)
                return 0;
        TRY(volume_read_link(d->store->volume, d->path, &target, err));
        if (strchr(target, '/') || !is_shown(target))
                return error_set(err, ERR_NOT_FOUND, "%s leads elsewhere", d->path);
        const char *slash = strrchr(d->path, '/');

        d->path = slash ? arena_printf(d->x->arena, "%.*s/%s", (int)(slash - d->path), d->path, target)
                        : arena_strdup(d->x->arena, target);
        return d->path ? volume_look(d->store->volume, d->path, &d->info, err) : error_no_memory(err);
}

/* The server hands on a plus as a space (common/net/http_server.h), and versions have the former. */
static int look(struct download *d, struct error *err)
{
        int code = volume_look(d->store->volume, d->path, &d->info, err);
        char *path;

        if (code != ERR_NOT_FOUND || !strchr(d->path, ' '))
                return code;
        path = arena_strdup(d->x->arena, d->path);
        if (!path)
                return error_no_memory(err);
        for (char *c = path; *c; c++)
                if (*c == ' ')
                        *c = '+';
        d->path = path;
        return volume_look(d->store->volume, path, &d->info, err);
}

static int find(struct download *d, struct error *err)
{
        struct volume *v = d->store->volume;

        const char *path = d->x->path + strspn(d->x->path, "/");

        d->path = http_unescape(d->x->arena, slice_of(path), false);
        if (!d->path || !is_shown(d->path))
                return error_set(err, ERR_NOT_FOUND, "not a file that is kept");
        TRY(look(d, err));
        TRY(follow(d, err));
        if (d->info.kind != VOLUME_FILE)
                return error_set(err, ERR_NOT_FOUND, "%s is no file", d->path);
        return volume_open_file(v, d->path, &d->file, err);
}

/* ---- the answer ---- */

/* The digest, where the file was looked at since the agent began; else what changes with the file. */
static const char *entity_tag(struct download *d)
{
        const char *digest = artifact_known_digest(d->store, d->path, d->info.stamp);

        return digest ? arena_printf(d->x->arena, "\"%s\"", digest)
                      : arena_printf(d->x->arena, "\"%016llx\"", (unsigned long long)d->info.stamp);
}

static bool has_tag(const char *list, const char *tag)
{
        return list && (text_equal(list, "*") || strstr(list, tag));
}

static const char *type_of(const char *path)
{
        if (text_ends_with(path, ".tgz") || text_ends_with(path, ".tar.gz"))
                return "application/gzip";
        return text_ends_with(path, ".yaml") ? "application/yaml" : "application/octet-stream";
}

static int send_bytes(struct download *d, struct error *err)
{
        AUTO_FREE char *piece = mem_alloc(PIECE_BYTES);
        struct loop *l = d->x->loop;
        uint64_t at = d->part.first, end = d->part.first + d->part.n;

        if (!piece)
                return error_no_memory(err);
        while (at < end) {
                size_t n;

                TRY(volume_read(d->file, at, piece, (size_t)MIN(end - at, (uint64_t)PIECE_BYTES), &n, err));
                if (n == 0)
                        return error_set(err, ERR_SYSTEM, "%s became shorter", d->path);
                TRY(http_write(d->x, piece, n));
                TRY(d->x->ops->drain(d->x, AHEAD_BYTES, loop_now_ms(l) + STALLED_MS));
                at += n;
        }
        return 0;
}

static void answer(struct download *d, int status, const char *tag)
{
        struct arena *arena = d->x->arena;
        struct http_header at[6] = {
                { "Content-Type", type_of(d->path) },
                { "Content-Length", arena_printf(arena, "%llu", (unsigned long long)d->part.n) },
                { "Last-Modified", http_date(arena, d->info.changed_ms) },
                { "ETag", tag },
                { "Accept-Ranges", "bytes" },
                { "Content-Range",
                  arena_printf(arena, "bytes %llu-%llu/%llu", (unsigned long long)d->part.first,
                               (unsigned long long)(d->part.first + d->part.n - 1),
                               (unsigned long long)volume_reader_size(d->file)) },
        };
        struct http_headers headers = { at, status == 206 ? 6 : 5 };

        for (size_t i = 0; i < headers.n; i++)
                if (!at[i].value)
                        return; /* the client gets 500 */
        if (http_begin(d->x, status, &headers) < 0)
                return;
        if (text_equal(d->x->method, "HEAD") || send_bytes(d, NULL) == 0)
                (void)http_end(d->x);
}

static void serve(struct download *d)
{
        const char *tag = entity_tag(d), *if_range = http_header_get(&d->x->headers, "if-range");
        uint64_t size = volume_reader_size(d->file);
        const char *range = http_header_get(&d->x->headers, "range");
        enum range_answer want;

        if (!tag)
                return;
        if (has_tag(http_header_get(&d->x->headers, "if-none-match"), tag)) {
                struct http_headers headers = { &(struct http_header){ "ETag", tag }, 1 };

                if (http_begin(d->x, 304, &headers) == 0)
                        (void)http_end(d->x);
                return;
        }
        d->part = (struct byte_range){ 0, size };
        want = range_of(if_range && !text_equal(if_range, tag) ? NULL : range, size, &d->part);
        if (want == RANGE_OUTSIDE) {
                const char *whole = arena_printf(d->x->arena, "bytes */%llu", (unsigned long long)size);

                if (whole)
                        say(d->x, 416, "the file is shorter\n",
                            &(struct http_header){ "Content-Range", whole }, 1);
                return;
        }
        answer(d, want == RANGE_PART ? 206 : 200, tag);
}

void artifact_serve(void *ctx, struct http_exchange *x)
{
        struct download d = { .store = ctx, .x = x };
        struct error err = { 0 };

        if (!text_equal(x->method, "GET") && !text_equal(x->method, "HEAD")) {
                say(x, 405, "files can be read only\n", &(struct http_header){ "Allow", "GET, HEAD" }, 1);
                return;
        }
        if (!d.store->serving) {
                say(x, 503, "another replica leads and has the files\n",
                    &(struct http_header){ "Retry-After", "5" }, 1);
                return;
        }
        if (find(&d, &err) == 0)
                serve(&d);
        else if (err.code == ERR_NO_MEMORY || err.code == ERR_SYSTEM)
                say(x, 500, "the file cannot be read\n", NULL, 0);
        else
                say(x, 404, "404 page not found\n", NULL, 0);
        volume_reader_close(d.file);
}
