#include <strings.h>

#include "common/base/digest.h"
#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "common/net/http_assets.h"

#define TAG_DIGITS 32 /* of the content's SHA-256 */
#define TAG_SIZE (TAG_DIGITS + sizeof("\"\""))
#define GZIP_TAG_SIZE (TAG_SIZE + sizeof("-gzip") - 1)

struct prepared {
        char tag[TAG_SIZE], gzip_tag[GZIP_TAG_SIZE]; /* another encoding is another entity */
        struct buf gzip;                             /* empty: it is no smaller */
};

struct http_assets {
        const struct http_asset *table;
        size_t n;
        struct prepared at[];
};

/* ---- preparing ---- */

static int prepare(const struct http_asset *a, struct prepared *p)
{
        char hex[SHA256_HEX_SIZE];
        int r;

        sha256_hex(a->bytes, a->size, hex);
        snprintf(p->tag, sizeof(p->tag), "\"%.*s\"", TAG_DIGITS, hex);
        snprintf(p->gzip_tag, sizeof(p->gzip_tag), "\"%.*s-gzip\"", TAG_DIGITS, hex);
        buf_init(&p->gzip, a->size);
        r = gzip_pack((struct slice){ a->bytes, a->size }, &p->gzip, NULL);
        if (r == ERR_LIMIT || (r == 0 && p->gzip.len >= a->size)) {
                buf_free(&p->gzip);
                r = 0;
        }
        return r;
}

struct http_assets *http_assets_new(const struct http_asset *table, size_t n)
{
        struct http_assets *a = mem_zalloc(sizeof(*a) + n * sizeof(a->at[0]));

        if (!a)
                return NULL;
        a->table = table;
        for (size_t i = 0; i < n; i++) {
                a->n++;
                if (prepare(&table[i], &a->at[i]) < 0)
                        return http_assets_free(a);
        }
        return a;
}

struct http_assets *http_assets_free(struct http_assets *a)
{
        for (size_t i = 0; a && i < a->n; i++)
                buf_free(&a->at[i].gzip);
        mem_free(a);
        return NULL;
}

/* ---- what the client takes ---- */

/* Of "q=0.5": whether it is above zero. What is no weight is none. */
static bool weighs(struct slice parameters)
{
        struct slice one;

        while (parameters.len > 0) {
                slice_cut(&parameters, ';', &one);
                one = slice_trim(one);
                if (one.len < 2 || strncasecmp(one.data, "q=", 2) != 0)
                        continue;
                for (size_t i = 2; i < one.len; i++)
                        if (one.data[i] >= '1' && one.data[i] <= '9')
                                return true;
                return false;
        }
        return true;
}

/* RFC 9110 12.5.3. */
static bool takes_gzip(const struct http_exchange *x)
{
        struct slice rest = slice_of(http_header_get(&x->headers, "Accept-Encoding")), name, one;
        bool any = false;

        while (rest.len > 0) {
                slice_cut(&rest, ',', &one);
                slice_cut(&one, ';', &name);
                name = slice_trim(name);
                if (name.len == 4 && strncasecmp(name.data, "gzip", 4) == 0)
                        return weighs(one);
                if (slice_is(name, "*"))
                        any = weighs(one);
        }
        return any;
}

/* RFC 9110 13.1.2: whether one of the entities that the client has is this one. */
static bool has_it(const struct http_exchange *x, const char *tag)
{
        struct slice rest = slice_of(http_header_get(&x->headers, "If-None-Match")), one;

        while (rest.len > 0) {
                slice_cut(&rest, ',', &one);
                one = slice_trim(one);
                if (slice_starts_with(one, "W/"))
                        one = (struct slice){ one.data + 2, one.len - 2 };
                if (slice_is(one, tag) || slice_is(one, "*"))
                        return true;
        }
        return false;
}

/* ---- answering ---- */

struct answer {
        struct http_exchange *x;
        struct http_headers headers;
};

static int begin_answer(struct answer *a, struct http_exchange *x, const struct http_headers *extra)
{
        size_t n = extra ? extra->n : 0;

        a->x = x;
        a->headers.n = 0;
        a->headers.at = ARENA_NEW_ARRAY(x->arena, struct http_header, n + 5);
        if (!a->headers.at)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++)
                a->headers.at[a->headers.n++] = extra->at[i];
        return 0;
}

/* What the caller said himself is his. */
static void add(struct answer *a, const char *name, const char *value)
{
        if (!http_header_get(&a->headers, name))
                a->headers.at[a->headers.n++] = (struct http_header){ name, value };
}

static int refuse(struct answer *a, int status, struct slice text)
{
        add(a, "X-Content-Type-Options", "nosniff");
        return http_reply(a->x, status, "text/plain; charset=utf-8", text, &a->headers);
}

static int not_modified(struct answer *a)
{
        TRY(http_begin(a->x, 304, &a->headers));
        return http_end(a->x);
}

static int answer(struct answer *a, const struct http_asset *asset, const struct prepared *p)
{
        bool packed = p->gzip.len > 0 && takes_gzip(a->x);
        const char *tag = packed ? p->gzip_tag : p->tag;

        add(a, "ETag", tag);
        add(a, "Cache-Control", "no-cache"); /* kept, and asked for each time */
        if (p->gzip.len > 0)
                add(a, "Vary", "Accept-Encoding");
        if (has_it(a->x, tag))
                return not_modified(a);
        add(a, "X-Content-Type-Options", "nosniff");
        if (packed)
                add(a, "Content-Encoding", "gzip");
        return http_reply(a->x, 200, asset->content_type,
                          packed ? (struct slice){ p->gzip.data, p->gzip.len }
                                 : (struct slice){ asset->bytes, asset->size },
                          &a->headers);
}

static size_t find(const struct http_assets *a, const char *path)
{
        size_t i = 0;

        while (i < a->n && !text_equal(a->table[i].path, path))
                i++;
        return i;
}

bool http_assets_have(const struct http_assets *a, const char *path)
{
        return find(a, path) < a->n;
}

int http_assets_serve(const struct http_assets *a, struct http_exchange *x, const struct http_headers *extra)
{
        size_t i = find(a, x->path);
        struct answer to;

        TRY(begin_answer(&to, x, extra));
        if (i == a->n)
                return refuse(&to, 404, SLICE("not found\n"));
        if (!text_equal(x->method, "GET") && !text_equal(x->method, "HEAD")) {
                add(&to, "Allow", "GET, HEAD");
                return refuse(&to, 405, SLICE("only GET and HEAD\n"));
        }
        return answer(&to, &a->table[i], &a->at[i]);
}
