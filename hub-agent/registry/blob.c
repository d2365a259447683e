/* Blobs, which are taken only if they are what their descriptor says. spec/helm-chart.md 9.2 step 5. */
#include "common/base/digest.h"
#include "common/base/limits.h"
#include "hub-agent/registry/manifest.h"

struct pouring {
        const struct transfer_sink *sink;
        const struct registry_descriptor *what;
        struct sha256 hash;
        uint64_t n;
};

static int size_differs(const struct registry_descriptor *d, struct error *err)
{
        return error_set(err, ERR_INVALID, "blob %s has not the size of %llu bytes that its manifest says",
                         d->digest, (unsigned long long)d->size);
}

static int pour(void *ctx, const void *data, size_t n, struct error *err)
{
        struct pouring *p = ctx;

        p->n += n;
        if (p->n > p->what->size)
                return size_differs(p->what, err);
        sha256_update(&p->hash, data, n);
        return p->sink->write(p->sink->ctx, data, n, err);
}

static int check(struct pouring *p, struct error *err)
{
        uint8_t sum[SHA256_SIZE];
        char hex[SHA256_HEX_SIZE];

        if (p->n != p->what->size)
                return size_differs(p->what, err);
        sha256_final(&p->hash, sum);
        text_hex_encode(sum, sizeof(sum), hex);
        return text_equal(p->what->digest + strlen("sha256:"), hex)
                       ? 0
                       : error_set(err, ERR_INVALID, "blob %s has digest sha256:%s", p->what->digest, hex);
}

int registry_blob(struct registry *r, const struct registry_descriptor *d, const struct transfer_sink *sink,
                  struct error *err)
{
        struct pouring p = { .sink = sink, .what = d };
        const struct transfer_sink own = { pour, &p };
        struct registry_question q = { .max_body = SIZE_MAX, .sink = &own };
        struct http_response a;

        registry_begin(r);
        TRY(registry_check_digest(d->digest, err));
        sha256_init(&p.hash);
        q.path = arena_printf(r->transfer->arena, "blobs/%s", d->digest);
        if (!q.path)
                return error_no_memory(err);
        TRY(registry_ask(r, &q, &a, err));
        return check(&p, err);
}

struct held {
        char *bytes;
        size_t n;
};

static int hold(void *ctx, const void *data, size_t n, struct error *err)
{
        struct held *h = ctx;

        memcpy(h->bytes + h->n, data, n);
        h->n += n;
        return 0;
}

int registry_blob_read(struct registry *r, const struct registry_descriptor *d, size_t most,
                       struct slice *ret, struct error *err)
{
        struct held h = { 0 };
        const struct transfer_sink sink = { hold, &h };

        if (d->size > most)
                return error_set(err, ERR_LIMIT, "blob %s has %llu bytes, %zu are allowed", d->digest,
                                 (unsigned long long)d->size, most);
        h.bytes = arena_alloc(r->transfer->arena, (size_t)d->size + 1);
        if (!h.bytes)
                return error_no_memory(err);
        TRY(registry_blob(r, d, &sink, err));
        h.bytes[h.n] = 0;
        *ret = (struct slice){ h.bytes, h.n };
        return 0;
}
