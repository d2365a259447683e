#include "hub-agent/source/s3/client.h"

#include "hub-agent/source/s3/s3_url.h"

#define RETRIES 3
#define RETRY_MS 250
#define RETRY_MAX_MS 2000
#define SAID_BYTES 320
/* The hash of no body, which requests here have: with "s3" it is part of what is signed. */
#define NO_BODY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static struct transfer_call call_of(const struct s3_client *c, const char *method, const char *url)
{
        struct transfer_call call = { .method = method,
                                      .url = url,
                                      .aws_key = c->key,
                                      .stays = c->key, /* elsewhere it would not be signed */
                                      .network_retries = RETRIES,
                                      .status_retries = RETRIES,
                                      .retry_ms = RETRY_MS,
                                      .retry_max_ms = RETRY_MAX_MS };

        if (c->key)
                call.headers[call.n_headers++] = (struct http_header){ "x-amz-content-sha256", NO_BODY };
        return call;
}

/* A store that has the bucket elsewhere says where. */
static void add_region(const struct s3_client *c, const struct http_response *a, struct error *err)
{
        const char *region = http_header_get(&a->headers, "x-amz-bucket-region");
        char text[ERROR_TEXT_MAX];

        if (!err || !region || text_equal(region, c->region) || !text_is_dns1123_label(region))
                return;
        (void)text_shorten(err->text, text, sizeof(text));
        (void)error_set(err, err->code, "%s (the bucket is in region %s, spec.region is %s)", text, region,
                        c->region);
}

static int check_status(const struct s3_client *c, const struct transfer_call *call,
                        const struct http_response *a, struct error *err)
{
        const char *url = web_url_public(call->url, c->transfer->arena);
        enum error_code code = a->status == 404 ? ERR_NOT_FOUND : a->status == 412 ? ERR_CONFLICT : ERR_RETRY;
        char said[SAID_BYTES];

        if (a->status >= 200 && a->status <= 299)
                return 0;
        if (!url)
                return error_no_memory(err);
        s3_read_error(a->body, said, sizeof(said));
        error_set(err, code, "%s %s: %d %s%s%s", or_empty(call->method), url, a->status,
                  http_status_text(a->status), *said ? ": " : "", said);
        add_region(c, a, err);
        if (err)
                err->http_status = a->status;
        return code;
}

int s3_look(const struct s3_client *c, struct error *err)
{
        const struct transfer_call call = call_of(c, "HEAD", c->bucket_url);
        struct http_response a;

        TRY(transfer_ask(c->transfer, &call, &a, err));
        return check_status(c, &call, &a, err);
}

/* ---- lists ---- */

struct page_reading {
        struct slice xml;
        struct arena *arena;
        struct s3_objects *objects;
        struct s3_page page;
        struct error err;
        int code;
};

static void read_page(void *ctx)
{
        struct page_reading *r = ctx;

        r->code = s3_read_page(r->xml, r->arena, r->objects, &r->page, &r->err);
}

/* *token: of this page; then of the next, NULL = there is none. */
static int list_page(const struct s3_client *c, const char *prefix, char **token, struct s3_objects *objects,
                     struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct transfer t = *c->transfer;
        struct transfer_call call = call_of(c, "GET", s3_list_url(c->bucket_url, prefix, *token, &arena));
        struct page_reading r = { .arena = &arena, .objects = objects };
        struct http_response a;

        if (!call.url)
                return error_no_memory(err);
        t.arena = &arena;
        call.max_body = S3_PAGE_BYTES;
        TRY(transfer_ask(&t, &call, &a, err));
        TRY(check_status(c, &call, &a, err));
        r.xml = a.body;
        TRY(offload(t.world->loop, read_page, &r, err));
        if (r.code < 0) {
                if (err)
                        *err = r.err;
                return r.code;
        }
        if (r.page.next && text_equal(r.page.next, *token))
                return error_set(err, ERR_INVALID, "the list never ends: its pages have one token");
        mem_free(*token);
        *token = r.page.next ? mem_strdup(r.page.next) : NULL;
        return r.page.next && !*token ? error_no_memory(err) : 0;
}

int s3_list(const struct s3_client *c, const char *prefix, struct s3_objects *objects, struct error *err)
{
        AUTO_FREE char *token = NULL;

        do
                TRY(list_page(c, prefix, &token, objects, err));
        while (token);
        return 0;
}

/* ---- objects ---- */

int s3_get(const struct s3_client *c, const char *key, const char *tag, uint64_t most,
           const struct transfer_sink *sink, struct error *err)
{
        struct arena *arena = c->transfer->arena;
        struct transfer_call call = call_of(c, "GET", s3_object_url(c->bucket_url, key, arena));
        struct http_response a = { 0 };

        if (!call.url)
                return error_no_memory(err);
        call.max_body = MAX((size_t)most, (size_t)1); /* 0 would be another bound */
        if (tag) {
                const char *quoted = arena_printf(arena, "\"%s\"", tag);

                if (!quoted)
                        return error_no_memory(err);
                call.headers[call.n_headers++] = (struct http_header){ "If-Match", quoted };
        }
        TRY(transfer_fetch(c->transfer, &call, sink, &a, err));
        return check_status(c, &call, &a, err);
}
