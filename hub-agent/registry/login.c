/* As whom a registry is asked: what it wants, and where a token is got. spec/helm-chart.md 9.2 step 1. */
#include "common/base/limits.h"
#include "hub-agent/registry/ask.h"
#include "hub-agent/registry/challenge.h"

#define TOKEN_S 60
#define TOKEN_MAX_S 86400
#define TOKEN_ANSWER_BYTES (1u << 20)

static int make_token_url(struct registry *r, const struct challenge *c, const char **ret, struct error *err)
{
        AUTO_BUF struct buf b;
        bool has_query = strchr(c->realm, '?') != NULL;

        buf_init(&b, LIMIT_HEADER_BYTES);
        buf_append_str(&b, c->realm);
        if (c->service) {
                buf_append_str(&b, has_query ? "&service=" : "?service=");
                http_escape(&b, c->service);
                has_query = true;
        }
        buf_append_str(&b, has_query ? "&scope=" : "?scope=");
        if (c->scope) {
                http_escape(&b, c->scope);
        } else {
                buf_append_str(&b, "repository%3A");
                http_escape(&b, r->place.path);
                buf_append_str(&b, "%3Apull");
        }
        TRY(buf_status(&b, err, "the address of a registry's tokens"));
        *ret = arena_strndup(r->transfer->arena, b.data, b.len);
        return *ret ? 0 : error_no_memory(err);
}

static bool may_stand_in_header(const char *token)
{
        size_t n = 0;

        for (; token[n]; n++)
                if (token[n] <= ' ' || token[n] >= 0x7f)
                        return false;
        return n > 0 && n <= LIMIT_TOKEN_BYTES;
}

static int no_token(struct registry *r, const char *url, const char *why, struct error *err)
{
        const char *shown = web_url_public(url, r->transfer->arena);

        return shown ? error_set(err, ERR_INVALID, "%s: %s", shown, why) : error_no_memory(err);
}

static int take_token(struct registry *r, const char *url, const json_t *doc, int64_t asked_ms,
                      struct error *err)
{
        const char *token = doc_get_string(doc, "token");
        int64_t seconds = doc_get_int(doc, "expires_in", 0);

        if (text_empty(token))
                token = doc_get_string(doc, "access_token");
        if (text_empty(token))
                return no_token(r, url, "the answer has no token", err);
        if (!may_stand_in_header(token))
                return no_token(r, url, "the token cannot be sent", err);
        r->authorization = arena_printf(r->transfer->arena, "Bearer %s", token);
        if (!r->authorization)
                return error_no_memory(err);
        return registry_keep_login(r, asked_ms + (seconds > 0 ? MIN(seconds, TOKEN_MAX_S) : TOKEN_S) * 1000,
                                   err);
}

static int ask_for_token(struct registry *r, struct transfer_call *c, struct error *err)
{
        int64_t asked_ms = loop_now_ms(r->transfer->world->loop);
        AUTO_JSON json_t *doc = NULL;
        struct http_response a;

        TRY(registry_call(r, c, NULL, &a, err));
        if (a.status < 200 || a.status > 299)
                return registry_refused(r, c, &a, err);
        int code = doc_parse(a.body, &doc, err);

        if (code < 0)
                return error_wrap(err, "%s", or_empty(web_url_public(c->url, r->transfer->arena))), code;
        return take_token(r, c->url, doc, asked_ms, err);
}

/* Where TLS is spoken, tokens and what they are got with go nowhere without. */
static bool is_realm(const struct registry *r, const char *realm)
{
        return realm && (text_starts_with(realm, "https://") ||
                         (text_starts_with(realm, "http://") && text_starts_with(r->origin, "http://")));
}

static int get_token(struct registry *r, const struct challenge *challenge, struct error *err)
{
        struct arena *arena = r->transfer->arena;
        struct transfer_call c = { .headers = { { "Accept", "application/json" } },
                                   .n_headers = 1,
                                   .max_body = TOKEN_ANSWER_BYTES };

        if (!is_realm(r, challenge->realm))
                return error_set(err, ERR_INVALID, "%s: the registry names no place to get a token from",
                                 r->origin);
        TRY(make_token_url(r, challenge, &c.url, err));
        if (r->login.username) {
                c.secret.name = "Authorization";
                c.secret.value = transfer_basic(arena, r->login.username, or_empty(r->login.password));
                if (!c.secret.value)
                        return error_no_memory(err);
        }
        return ask_for_token(r, &c, err);
}

int registry_log_in(struct registry *r, const struct http_response *refused, bool *ret_changed,
                    struct error *err)
{
        const char *before = r->authorization;
        struct challenge challenge;
        bool bearer, basic;

        *ret_changed = false;
        r->authorization = NULL; /* what was refused is of no use any more */
        TRY(challenge_find(&refused->headers, "Bearer", r->transfer->arena, &challenge, &bearer, err));
        if (bearer) {
                *ret_changed = true;
                return get_token(r, &challenge, err);
        }
        TRY(challenge_find(&refused->headers, "Basic", r->transfer->arena, &challenge, &basic, err));
        if (!basic || !r->login.username)
                return 0;
        r->authorization = transfer_basic(r->transfer->arena, r->login.username, or_empty(r->login.password));
        *ret_changed = !text_equal(r->authorization, before);
        return r->authorization ? 0 : error_no_memory(err);
}
