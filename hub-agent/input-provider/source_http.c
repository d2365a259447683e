#include "hub-agent/input-provider/source_http.h"

#include "common/base/limits.h"

#define RETRY_AFTER_MAX_S 3600

void source_transfer(const struct source *s, struct transfer *ret)
{
        *ret = (struct transfer){ .world = s->world,
                                  .arena = s->arena,
                                  .ca_pem = s->credentials.ca_pem,
                                  .cert_pem = s->credentials.cert_pem,
                                  .key_pem = s->credentials.key_pem,
                                  .denied = s->any_address ? NULL : &address_guard_strict,
                                  .deadline_ms = s->deadline_ms,
                                  .most_bytes = LIMIT_INPUT_TOTAL_BYTES,
                                  .bytes = s->bytes };
}

int source_call(struct source *s, const struct transfer_call *c, struct http_response *ret, struct error *err)
{
        struct transfer_call bounded = *c;
        struct transfer t;
        int code;

        source_transfer(s, &t);
        if (!bounded.max_body)
                bounded.max_body = LIMIT_INPUT_BODY_BYTES;
        code = transfer_ask(&t, &bounded, ret, err);
        s->bytes = t.bytes;
        return code;
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

int source_status_error(struct source *s, const struct transfer_call *c, const struct http_response *a,
                        const char *form, struct error *err)
{
        const char *url = web_url_public(c->url, s->arena), *method = c->method ? c->method : "GET";
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

int source_call_json(struct source *s, const struct transfer_call *c, const char *form,
                     struct http_response *ret_answer, json_t **ret, struct error *err)
{
        TRY(source_call(s, c, ret_answer, err));
        if (ret_answer->status < 200 || ret_answer->status > 299)
                return source_status_error(s, c, ret_answer, form, err);
        int code = doc_parse(ret_answer->body, ret, err);

        if (code < 0)
                error_wrap(err, "%s", or_empty(web_url_public(c->url, s->arena)));
        return code;
}
