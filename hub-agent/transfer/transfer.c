#include "hub-agent/transfer/transfer.h"

#include "common/base/limits.h"
#include "common/base/version.h"

/* One call on its way, from address to address. */
struct hop {
        struct transfer *transfer;
        const struct transfer_call *call;
        const struct transfer_sink *sink; /* NULL: the body is held */
        struct web_url first, at;
};

/* ---- one request ---- */

static struct http_endpoint endpoint_of(const struct hop *h, bool own_origin)
{
        const struct transfer *t = h->transfer;

        return (struct http_endpoint){
                .base_url = (char *)(uintptr_t)h->at.origin,
                .ca_pem = (char *)(uintptr_t)t->ca_pem,
                .client_cert_pem = own_origin ? (char *)(uintptr_t)t->cert_pem : NULL,
                .client_key_pem = own_origin ? (char *)(uintptr_t)t->key_pem : NULL,
                .proxy_url = (char *)(uintptr_t)t->proxy_url,
                .user_agent = (char *)(uintptr_t) "argosy/" ARGOSY_VERSION,
                .aws_key = own_origin ? h->call->aws_key : NULL,
                .denied = t->denied,
        };
}

static size_t most_of(const struct transfer_call *c)
{
        return c->max_body ? c->max_body : LIMIT_RESPONSE_BYTES;
}

static int too_long(const struct transfer_call *c, struct error *err)
{
        return error_set(err, ERR_LIMIT, "response body exceeds the maximum allowed size of %zu bytes",
                         most_of(c));
}

static int count(struct transfer *t, size_t n, struct error *err)
{
        t->bytes += n;
        if (t->most_bytes && t->bytes > t->most_bytes)
                return error_set(err, ERR_LIMIT, "all answers together exceed %zu bytes", t->most_bytes);
        return 0;
}

static int roundtrip(struct hop *h, const struct http_request *rq, struct http_response *ret,
                     struct error *err)
{
        struct transfer *t = h->transfer;
        int code = http_roundtrip(t->world->transport, rq, t->arena, ret, err);

        if (code == ERR_LIMIT && strstr(err->text, "is longer than"))
                return too_long(h->call, err);
        TRY(code);
        return count(t, ret->body.len, err);
}

static bool is_good(int status)
{
        return status >= 200 && status <= 299;
}

static int pour(struct hop *h, struct http_stream *s, struct error *err)
{
        struct transfer *t = h->transfer;
        size_t n = 0;

        for (;;) {
                struct slice piece;
                int code = http_stream_read(s, t->deadline_ms, &piece, err);

                if (code == ERR_CLOSED) {
                        error_clear(err);
                        return 0;
                }
                TRY(code);
                n += piece.len;
                if (n > most_of(h->call))
                        return too_long(h->call, err);
                TRY(count(t, piece.len, err));
                TRY(h->sink->write(h->sink->ctx, piece.data, piece.len, err));
        }
}

static int stream(struct hop *h, const struct http_request *rq, struct http_response *ret, struct error *err)
{
        struct http_stream *s;
        int code;

        TRY(http_stream_open(h->transfer->world->transport, rq, &s, err));
        *ret = (struct http_response){ .status = s->status, .body = SLICE("") };
        code = http_headers_copy(h->transfer->arena, &s->headers, &ret->headers);
        if (code < 0)
                error_no_memory(err);
        else if (is_good(s->status))
                code = pour(h, s, err);
        http_stream_close(s);
        return code;
}

static int ask(struct hop *h, struct http_response *ret, struct error *err)
{
        struct http_header headers[TRANSFER_HEADERS_MAX + 1];
        const struct transfer_call *c = h->call;
        bool own_origin = web_url_same_origin(&h->at, &h->first);
        struct http_endpoint e = endpoint_of(h, own_origin);
        size_t n = c->n_headers;
        struct http_request rq = { .endpoint = &e,
                                   .method = c->method ? c->method : "GET",
                                   .path = h->at.query[0] ? arena_printf(h->transfer->arena, "%s?%s",
                                                                         h->at.path, h->at.query)
                                                          : h->at.path,
                                   .body = c->body,
                                   .deadline_ms = h->transfer->deadline_ms,
                                   .max_body = most_of(c) };

        if (!rq.path)
                return error_no_memory(err);
        memcpy(headers, c->headers, n * sizeof(headers[0]));
        if (own_origin && c->secret.value)
                headers[n++] = c->secret;
        rq.headers = (struct http_headers){ headers, n };
        return h->sink ? stream(h, &rq, ret, err) : roundtrip(h, &rq, ret, err);
}

/* ---- redirects ---- */

static bool is_redirect(int status)
{
        return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static int follow(struct hop *h, const char *to, struct error *err)
{
        const char *url = web_url_resolve(&h->at, to, h->transfer->arena);
        struct web_url next;

        if (!url)
                return error_no_memory(err);
        int code = web_url_parse(url, h->transfer->arena, &next, err);

        if (code == ERR_INVALID)
                return error_set(err, ERR_INVALID, "%s%s: redirected to what is no URL", h->at.origin,
                                 h->at.path);
        TRY(code);
        if (text_equal(h->at.scheme, "https") && text_equal(next.scheme, "http"))
                return error_set(err, ERR_INVALID, "%s%s: redirected from https to http", h->at.origin,
                                 h->at.path);
        h->at = next;
        return 0;
}

/* Requests here change nothing but for the one that gets a token, so methods stay what they are. */
static int ask_and_follow(struct hop *h, struct http_response *ret, struct error *err)
{
        TRY(web_url_parse(h->call->url, h->transfer->arena, &h->first, err));
        h->at = h->first;
        for (int i = 0; i <= TRANSFER_REDIRECTS; i++) {
                TRY(ask(h, ret, err));
                const char *to = http_header_get(&ret->headers, "Location");

                if (h->call->ret_at)
                        *h->call->ret_at = h->at;
                if (!is_redirect(ret->status) || !to || h->call->stays)
                        return 0;
                TRY(follow(h, to, err));
        }
        return error_set(err, ERR_INVALID, "%s%s: more than %d redirects", h->first.origin, h->first.path,
                         TRANSFER_REDIRECTS);
}

/* ---- the whole ---- */

static bool wants_retry(const struct transfer_call *c, int code, const struct http_response *a, int *network,
                        int *status)
{
        if (code == ERR_RETRY)
                return (*network)++ < c->network_retries;
        return code == 0 && (a->status == 429 || a->status >= 500) && (*status)++ < c->status_retries;
}

int transfer_ask(struct transfer *t, const struct transfer_call *c, struct http_response *ret,
                 struct error *err)
{
        int64_t pause_ms = c->retry_ms;
        int network = 0, status = 0;

        for (;;) {
                struct hop h = { .transfer = t, .call = c };
                struct error e = { 0 };
                struct http_response a = { 0 };
                int code = ask_and_follow(&h, &a, &e);
                struct loop *l = t->world->loop;

                if (!wants_retry(c, code, &a, &network, &status) ||
                    loop_now_ms(l) + pause_ms >= t->deadline_ms) {
                        *ret = a;
                        if (code < 0 && err)
                                *err = e;
                        return code;
                }
                if (fiber_sleep(l, pause_ms) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                pause_ms = MIN(pause_ms * 2, c->retry_max_ms);
        }
}

int transfer_fetch(struct transfer *t, const struct transfer_call *c, const struct transfer_sink *sink,
                   struct http_response *ret, struct error *err)
{
        struct hop h = { .transfer = t, .call = c, .sink = sink };
        struct error own = { 0 };

        return ask_and_follow(&h, ret, err ? err : &own);
}

const char *transfer_basic(struct arena *arena, const char *username, const char *password)
{
        const char *plain = arena_printf(arena, "%s:%s", username, password);
        size_t n = plain ? strlen(plain) : 0;
        char *coded = arena_alloc(arena, text_base64_size(n));

        if (!plain || !coded)
                return NULL;
        text_base64_encode(plain, n, coded);
        return arena_printf(arena, "Basic %s", coded);
}
