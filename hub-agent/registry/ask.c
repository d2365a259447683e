#include "hub-agent/registry/ask.h"

#define RETRY_MS 250
#define RETRY_AFTER_MAX_S 3600
#define HUB_HOST "registry-1.docker.io"
#define ERRORS_TOLD 3
#define ERROR_BYTES 512

int registry_open(struct registry *r, struct error *err)
{
        const char *host = text_equal(r->place.host, "docker.io") ? HUB_HOST : r->place.host;

        r->authorization = NULL;
        r->origin = arena_printf(r->transfer->arena, "%s://%s", r->scheme == REGISTRY_HTTP ? "http" : "https",
                                 host);
        return r->origin ? 0 : error_no_memory(err);
}

void registry_begin(struct registry *r)
{
        if (r->timeout_ms > 0)
                r->transfer->deadline_ms = loop_now_ms(r->transfer->world->loop) + r->timeout_ms;
}

const char *registry_url(const struct registry *r, const char *path)
{
        return strstr(path, "://")
                       ? path
                       : arena_printf(r->transfer->arena, "%s/v2/%s/%s", r->origin, r->place.path, path);
}

/* ---- what a refusal says ---- */

/* "MANIFEST_UNKNOWN" as "manifest unknown"; nothing that does not print. */
static void append_words(struct buf *b, const char *text, bool is_code)
{
        for (; *text; text++) {
                unsigned char c = (unsigned char)*text;

                if (is_code && c == '_')
                        c = ' ';
                else if (is_code && c >= 'A' && c <= 'Z')
                        c += 'a' - 'A';
                buf_append_char(b, c < ' ' || c == 0x7f ? ' ' : (char)c);
        }
}

static void append_errors(struct buf *b, struct slice body)
{
        AUTO_JSON json_t *doc = NULL;
        const json_t *one;
        size_t i;

        if (doc_parse(body, &doc, NULL) < 0)
                return;
        json_array_foreach(doc_get_array(doc, "errors"), i, one) {
                const char *code = doc_get_string(one, "code"), *message = doc_get_string(one, "message");

                if (i >= ERRORS_TOLD)
                        break;
                if (i > 0)
                        buf_append_str(b, "; ");
                append_words(b, or_empty(code), true);
                if (!text_empty(code) && !text_empty(message))
                        buf_append_str(b, ": ");
                append_words(b, or_empty(message), false);
        }
}

static int64_t wait_of(const struct http_response *a)
{
        const char *text = http_header_get(&a->headers, "Retry-After");
        int64_t seconds;

        if (!text || !text_parse_i64(text, &seconds) || seconds < 0)
                return 0;
        return MIN(seconds, RETRY_AFTER_MAX_S) * 1000;
}

static enum error_code code_of(int status)
{
        switch (status) {
        case 401:
                return ERR_UNAUTHORIZED;
        case 403:
                return ERR_FORBIDDEN;
        case 404:
                return ERR_NOT_FOUND;
        case 429:
                return ERR_TOO_MANY;
        default:
                return ERR_RETRY;
        }
}

int registry_refused(struct registry *r, const struct transfer_call *c, const struct http_response *a,
                     struct error *err)
{
        const char *url = web_url_public(c->url, r->transfer->arena);
        AUTO_BUF struct buf words;

        buf_init(&words, ERROR_BYTES);
        if (r->refused)
                return r->refused(r->ctx, c, a, err);
        append_errors(&words, a->body);
        if (!url || words.failed == ERR_NO_MEMORY)
                return error_no_memory(err);
        error_set(err, code_of(a->status), "%s \"%s\": response status code %d: %s",
                  c->method ? c->method : "GET", url, a->status,
                  words.len ? words.data : http_status_text(a->status));
        if (err) {
                err->http_status = a->status;
                err->retry_after_ms = (uint32_t)wait_of(a);
        }
        return code_of(a->status);
}

/* ---- one request ---- */

static bool wants_retry(int status)
{
        return status == 408 || status == 429 || (status >= 500 && status != 501);
}

int registry_call(struct registry *r, const struct transfer_call *c, const struct transfer_sink *sink,
                  struct http_response *ret, struct error *err)
{
        struct transfer *t = r->transfer;
        struct loop *l = t->world->loop;
        int64_t pause_ms = RETRY_MS;

        for (int left = r->tries ? r->tries : REGISTRY_TRIES;;) {
                int64_t wait_ms;

                *ret = (struct http_response){ 0 };
                TRY(sink ? transfer_fetch(t, c, sink, ret, err) : transfer_ask(t, c, ret, err));
                wait_ms = MAX(pause_ms, wait_of(ret));
                if (!wants_retry(ret->status) || --left <= 0 || loop_now_ms(l) + wait_ms >= t->deadline_ms)
                        return 0;
                if (fiber_sleep(l, wait_ms) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                pause_ms *= 2;
        }
}

/* Whether a server without TLS may be there in place of one with it. */
static bool may_be_plain(const struct registry *r, int code, const struct error *err)
{
        return code < 0 && r->scheme == REGISTRY_EITHER && !r->transfer->ca_pem && !r->transfer->cert_pem &&
               text_starts_with(r->origin, "https://") &&
               (text_equal(err->reason, HTTP_REASON_NOT_TLS) ||
                text_equal(err->reason, HTTP_REASON_REFUSED) || text_equal(err->reason, HTTP_REASON_FAILED));
}

static int call_as_known(struct registry *r, struct transfer_call *c, const struct transfer_sink *sink,
                         struct http_response *ret, struct error *err)
{
        c->secret = (struct http_header){ "Authorization", r->authorization };
        return registry_call(r, c, sink, ret, err);
}

static int call_without_tls(struct registry *r, struct transfer_call *c, const char *path,
                            const struct transfer_sink *sink, struct http_response *ret, struct error *err)
{
        r->origin = arena_printf(r->transfer->arena, "http://%s", r->origin + strlen("https://"));
        r->authorization = NULL;
        c->url = r->origin ? registry_url(r, path) : NULL;
        if (!c->url)
                return error_no_memory(err);
        return call_as_known(r, c, sink, ret, err);
}

static int call_as_wanted(struct registry *r, struct transfer_call *c, const struct registry_question *q,
                          struct http_response *ret, struct error *err)
{
        bool changed;
        int code;

        if (!r->authorization)
                TRY(registry_remember_login(r, err));
        code = call_as_known(r, c, q->sink, ret, err);
        if (may_be_plain(r, code, err) && c->url != q->path)
                code = call_without_tls(r, c, q->path, q->sink, ret, err);
        TRY(code);
        if (ret->status != 401)
                return 0;
        TRY(registry_log_in(r, ret, &changed, err));
        return changed ? call_as_known(r, c, q->sink, ret, err) : 0;
}

int registry_ask(struct registry *r, const struct registry_question *q, struct http_response *ret,
                 struct error *err)
{
        struct transfer_call c = { .method = q->method,
                                   .url = registry_url(r, q->path),
                                   .headers = { { "Accept", q->accept } },
                                   .n_headers = q->accept ? 1 : 0,
                                   .max_body = q->max_body };
        struct error own = { 0 };
        int code;

        if (!c.url)
                return error_no_memory(err);
        code = call_as_wanted(r, &c, q, ret, &own);
        if (code < 0) {
                if (err)
                        *err = own;
                return code;
        }
        if ((ret->status >= 200 && ret->status <= 299) || (q->may_be_absent && ret->status == 404))
                return 0;
        return registry_refused(r, &c, ret, err);
}

/* ---- pages ---- */

int registry_enter_page(struct registry *r, struct registry_pages *p, const char *path, struct error *err)
{
        if (!p->seen)
                p->seen = map_of_arena(r->transfer->arena);
        if (!p->seen)
                return error_no_memory(err);
        if (map_has(p->seen, path))
                return error_set(err, ERR_INVALID, "OCI tags pagination returned a repeated page");
        if (map_count(p->seen) >= REGISTRY_PAGES_MAX)
                return error_set(err, ERR_LIMIT, "OCI tags pagination exceeds maximum of %d pages",
                                 REGISTRY_PAGES_MAX);
        return map_put(p->seen, path, p) < 0 ? error_no_memory(err) : 0;
}

int registry_next_page(struct registry *r, const char *path, const struct http_response *a, const char **ret,
                       struct error *err)
{
        struct arena *arena = r->transfer->arena;
        const char *url = registry_url(r, path);
        struct web_url u;

        if (!url)
                return error_no_memory(err);
        TRY(web_url_parse(url, arena, &u, err));
        return web_url_next(&a->headers, &u, arena, ret, err);
}
