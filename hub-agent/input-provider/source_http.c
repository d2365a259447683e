#include "hub-agent/input-provider/source_http.h"

#include "common/base/limits.h"
#include "common/base/version.h"

#define RETRY_AFTER_MAX_S 3600

/* ---- URLs ---- */

int source_url_parse(const char *url, struct arena *arena, struct source_url *ret, struct error *err)
{
        const char *scheme = text_starts_with(url, "https://")  ? "https"
                             : text_starts_with(url, "http://") ? "http"
                                                                : NULL;
        for (const char *c = url; *c; c++)
                if (*c <= ' ' || *c == 0x7f || *c == '\\')
                        scheme = NULL;
        if (!scheme)
                return error_set(err, ERR_INVALID, "not an URL of http or https");
        const char *authority = url + strlen(scheme) + 3;
        size_t n = strcspn(authority, "/?#");
        const char *at = memrchr(authority, '@', n), *host = at ? at + 1 : authority;
        const char *rest = authority + n;
        size_t path = strcspn(rest, "?#"), query = rest[path] == '?' ? strcspn(rest + path + 1, "#") : 0;

        if (host == rest)
                return error_set(err, ERR_INVALID, "an URL without a host");
        ret->scheme = scheme;
        ret->host = arena_strndup(arena, host, (size_t)(rest - host));
        ret->path = path > 0 ? arena_strndup(arena, rest, path) : "/";
        ret->query = query > 0 ? arena_strndup(arena, rest + path + 1, query) : "";
        ret->origin = ret->host ? arena_printf(arena, "%s://%s", scheme, ret->host) : NULL;
        return ret->origin && ret->path && ret->query ? 0 : error_no_memory(err);
}

const char *source_public_url(const char *url, struct arena *arena)
{
        const char *authority = strstr(url, "://");

        authority = authority ? authority + 3 : url;
        size_t n = strcspn(authority, "/?#");
        const char *at = memrchr(authority, '@', n), *from = at ? at + 1 : authority;

        return arena_printf(arena, "%.*s%.*s", (int)(authority - url), url, (int)strcspn(from, "?#"), from);
}

/* Where a Location or Link leads, seen from `base`. */
static const char *resolve(const struct source_url *base, const char *target, struct arena *arena)
{
        if (text_starts_with(target, "//"))
                return arena_printf(arena, "%s:%s", base->scheme, target);
        if (target[0] == '/')
                return arena_printf(arena, "%s%s", base->origin, target);
        if (target[0] == '?')
                return arena_printf(arena, "%s%s%s", base->origin, base->path, target);
        if (strstr(target, "://"))
                return target;
        const char *slash = strrchr(base->path, '/');

        return arena_printf(arena, "%s%.*s/%s", base->origin, slash ? (int)(slash - base->path) : 0,
                            base->path, target);
}

/* ---- one request ---- */

static struct http_endpoint endpoint_of(struct source *s, const struct source_url *u)
{
        return (struct http_endpoint){ .base_url = (char *)(uintptr_t)u->origin,
                                       .ca_pem = (char *)(uintptr_t)s->credentials.ca_pem,
                                       .client_cert_pem = (char *)(uintptr_t)s->credentials.cert_pem,
                                       .client_key_pem = (char *)(uintptr_t)s->credentials.key_pem,
                                       .user_agent = (char *)(uintptr_t) "argosy/" ARGOSY_VERSION,
                                       .guarded = !s->any_address };
}

static int ask(struct source *s, const struct source_call *c, const struct source_url *u, bool own_origin,
               struct http_response *ret, struct error *err)
{
        struct http_header headers[SOURCE_HEADERS_MAX + 1];
        struct http_endpoint e = endpoint_of(s, u);
        size_t most = c->max_body ? c->max_body : LIMIT_INPUT_BODY_BYTES, n = c->n_headers;
        struct http_request rq = { .endpoint = &e,
                                   .method = c->method ? c->method : "GET",
                                   .path = u->query[0] ? arena_printf(s->arena, "%s?%s", u->path, u->query)
                                                       : u->path,
                                   .deadline_ms = s->deadline_ms,
                                   .max_body = most };

        if (!rq.path)
                return error_no_memory(err);
        memcpy(headers, c->headers, n * sizeof(headers[0]));
        if (own_origin && c->secret.value)
                headers[n++] = c->secret;
        if (!own_origin)
                e.client_cert_pem = e.client_key_pem = NULL;
        rq.headers = (struct http_headers){ headers, n };
        int code = http_roundtrip(s->world->transport, &rq, s->arena, ret, err);

        if (code == ERR_LIMIT && strstr(err->text, "is longer than"))
                return error_set(err, ERR_LIMIT,
                                 "response body exceeds the maximum allowed size of %zu bytes", most);
        TRY(code);
        s->bytes += ret->body.len;
        if (s->bytes > LIMIT_INPUT_TOTAL_BYTES)
                return error_set(err, ERR_LIMIT, "all answers together exceed %u bytes",
                                 LIMIT_INPUT_TOTAL_BYTES);
        return 0;
}

static bool is_redirect(int status)
{
        return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Requests here change nothing but for the one that gets a token, so methods stay what they are. */
static int ask_and_follow(struct source *s, const struct source_call *c, struct http_response *ret,
                          struct error *err)
{
        struct source_url first, u, next;

        TRY(source_url_parse(c->url, s->arena, &first, err));
        u = first;
        for (int i = 0; i <= LIMIT_INPUT_REDIRECTS; i++) {
                TRY(ask(s, c, &u, text_equal(u.origin, first.origin), ret, err));
                const char *to = http_header_get(&ret->headers, "Location"), *url;

                if (!is_redirect(ret->status) || !to)
                        return 0;
                url = resolve(&u, to, s->arena);
                if (!url)
                        return error_no_memory(err);
                if (source_url_parse(url, s->arena, &next, err) < 0)
                        return error_set(err, ERR_INVALID, "%s%s: redirected to what is no URL", u.origin,
                                         u.path);
                if (text_equal(u.scheme, "https") && text_equal(next.scheme, "http"))
                        return error_set(err, ERR_INVALID, "%s%s: redirected from https to http", u.origin,
                                         u.path);
                u = next;
        }
        return error_set(err, ERR_INVALID, "%s%s: more than %d redirects", first.origin, first.path,
                         LIMIT_INPUT_REDIRECTS);
}

static bool wants_retry(const struct source_call *c, int code, const struct http_response *a, int *network,
                        int *status)
{
        if (code == ERR_RETRY)
                return (*network)++ < c->network_retries;
        return code == 0 && (a->status == 429 || a->status >= 500) && (*status)++ < c->status_retries;
}

int source_call(struct source *s, const struct source_call *c, struct http_response *ret, struct error *err)
{
        int64_t pause_ms = c->retry_ms;
        int network = 0, status = 0;

        for (;;) {
                struct error e = { 0 };
                struct http_response a = { 0 };
                int code = ask_and_follow(s, c, &a, &e);
                struct loop *l = s->world->loop;

                if (!wants_retry(c, code, &a, &network, &status) ||
                    loop_now_ms(l) + pause_ms >= s->deadline_ms) {
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

/* ---- answers ---- */

static bool number_of(const struct http_headers *h, const char *name, int64_t *ret)
{
        const char *text = http_header_get(h, name);

        return text && text_parse_i64(text, ret) && *ret >= 0;
}

/* Seconds until the service wants to be asked again; 0: it does not say. */
static int64_t wait_of(struct source *s, const struct http_response *a)
{
        int64_t n, left;

        if (number_of(&a->headers, "Retry-After", &n))
                return n;
        if (a->status == 429 || (number_of(&a->headers, "X-RateLimit-Remaining", &left) && left == 0) ||
            (number_of(&a->headers, "RateLimit-Remaining", &left) && left == 0))
                if (number_of(&a->headers, "X-RateLimit-Reset", &n) ||
                    number_of(&a->headers, "RateLimit-Reset", &n))
                        return MAX(n - loop_wall_ms(s->world->loop) / 1000, 1);
        return 0;
}

int source_status_error(struct source *s, const struct source_call *c, const struct http_response *a,
                        const char *form, struct error *err)
{
        const char *url = source_public_url(c->url, s->arena), *method = c->method ? c->method : "GET";
        int64_t wait_s = wait_of(s, a);
        bool refused = a->status == 401 || a->status == 403 || a->status == 404;
        enum error_code code = wait_s > 0 || a->status == 429 ? ERR_TOO_MANY
                               : a->status == 401             ? ERR_UNAUTHORIZED
                               : a->status == 403             ? ERR_FORBIDDEN
                               : a->status == 404             ? ERR_NOT_FOUND
                                                              : ERR_RETRY;

        if (wait_s > 0)
                error_set(err, code, "%s %s: HTTP %d: the service is to be asked again in %lld s", method,
                          or_empty(url), a->status, (long long)wait_s);
        else if (refused && form)
                error_set(err, code, "%s %s: HTTP %d: expected is %s that its credentials may read", method,
                          or_empty(url), a->status, form);
        else
                error_set(err, code, "%s %s: HTTP %d", method, or_empty(url), a->status);
        if (err) {
                err->http_status = a->status;
                err->retry_after_ms = (uint32_t)MIN(wait_s, RETRY_AFTER_MAX_S) * 1000;
        }
        return code;
}

int source_call_json(struct source *s, const struct source_call *c, const char *form,
                     struct http_response *ret_answer, json_t **ret, struct error *err)
{
        TRY(source_call(s, c, ret_answer, err));
        if (ret_answer->status < 200 || ret_answer->status > 299)
                return source_status_error(s, c, ret_answer, form, err);
        int code = doc_parse(ret_answer->body, ret, err);

        if (code < 0)
                error_wrap(err, "%s", or_empty(source_public_url(c->url, s->arena)));
        return code;
}

/* ---- pages ---- */

/* The target of the entry that says rel="next"; {0} if none does. */
static struct slice find_next(const char *link)
{
        struct slice rest = slice_of(link), entry, target;

        while (rest.len > 0) {
                slice_cut(&rest, '<', &entry);
                if (!slice_cut(&rest, '>', &target))
                        break;
                struct slice after = rest;

                slice_cut(&after, '<', &entry);
                if (memmem(entry.data, entry.len, "rel=\"next\"", 10) ||
                    memmem(entry.data, entry.len, "rel=next", 8))
                        return target;
        }
        return (struct slice){ 0 };
}

int source_next_link(const struct http_headers *h, const struct source_url *base, struct arena *arena,
                     const char **ret, struct error *err)
{
        struct slice next = find_next(or_empty(http_header_get(h, "Link")));
        struct source_url u;

        *ret = NULL;
        if (next.len == 0)
                return 0;
        const char *target = arena_strndup(arena, next.data, next.len);
        const char *url = target ? resolve(base, target, arena) : NULL;

        if (!url)
                return error_no_memory(err);
        if (source_url_parse(url, arena, &u, err) < 0 || !text_equal(u.origin, base->origin))
                return error_set(err, ERR_INVALID, "%s%s: its next page is on another host", base->origin,
                                 base->path);
        *ret = url;
        return 0;
}
