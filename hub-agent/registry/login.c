/* As whom a registry is asked: challenges, and the tokens that answer them. spec/helm-chart.md 9.2 step 1. */
#include <strings.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "hub-agent/registry/ask.h"

#define TOKEN_S 60
#define TOKEN_MAX_S 86400
#define TOKEN_MARGIN_MS 5000
#define TOKEN_ANSWER_BYTES (1u << 20)
#define TOKENS_MAX 1000

/* ---- the cache ---- */

struct kept_token {
        char *authorization;
        int64_t ends_ms; /* loop */
};

static void token_free(void *value)
{
        struct kept_token *t = value;

        mem_free(t->authorization);
        mem_free(t);
}

void registry_tokens_init(struct registry_tokens *t)
{
        map_init(&t->by_use, MAP_OWN_KEYS, token_free);
}

void registry_tokens_free(struct registry_tokens *t)
{
        map_free(&t->by_use);
}

/* No password stays in memory for it. */
static const char *use_of(const struct registry *r)
{
        struct sha256 hash;
        uint8_t sum[SHA256_SIZE];
        char hex[SHA256_HEX_SIZE];
        const char *username = or_empty(r->login.username), *password = or_empty(r->login.password);

        sha256_init(&hash);
        sha256_update(&hash, username, strlen(username) + 1);
        sha256_update(&hash, password, strlen(password));
        sha256_final(&hash, sum);
        text_hex_encode(sum, sizeof(sum), hex);
        return arena_printf(r->transfer->arena, "%s/%s %s", r->origin, r->place.path, hex);
}

int registry_remember_login(struct registry *r, struct error *err)
{
        const struct kept_token *t;
        const char *use;

        if (!r->tokens)
                return 0;
        use = use_of(r);
        if (!use)
                return error_no_memory(err);
        t = map_get(&r->tokens->by_use, use);
        if (!t || t->ends_ms - TOKEN_MARGIN_MS <= loop_now_ms(r->transfer->world->loop))
                return 0;
        r->authorization = arena_strdup(r->transfer->arena, t->authorization);
        return r->authorization ? 0 : error_no_memory(err);
}

/* Those that ended go, and if that is not enough the oldest. */
static void make_room(struct map *tokens, int64_t now_ms)
{
        if (map_count(tokens) < TOKENS_MAX)
                return;
        map_for_each(tokens, e)
                if (((const struct kept_token *)e->value)->ends_ms <= now_ms)
                        map_remove(tokens, e->key);
        if (map_count(tokens) >= TOKENS_MAX)
                map_remove(tokens, map_next(tokens, NULL)->key);
}

static int keep(struct registry *r, int64_t ends_ms, struct error *err)
{
        struct kept_token *t;
        const char *use;

        if (!r->tokens)
                return 0;
        use = use_of(r);
        t = NEW(struct kept_token);
        if (t)
                t->authorization = mem_strdup(r->authorization);
        if (!use || !t || !t->authorization) {
                if (t)
                        token_free(t);
                return error_no_memory(err);
        }
        t->ends_ms = ends_ms;
        make_room(&r->tokens->by_use, loop_now_ms(r->transfer->world->loop));
        if (map_put(&r->tokens->by_use, use, t) == 0)
                return 0;
        token_free(t);
        return error_no_memory(err);
}

/* ---- challenges ---- */

static bool is_token_letter(char c)
{
        return c > ' ' && c < 0x7f && !strchr("=,\"", c);
}

/* One key="value" or key=value behind what *at points at; false: there is none. Escapes stay as they are,
 * since no value that is looked for has one. */
static bool next_parameter(const char **at, struct slice *ret_key, struct slice *ret_value)
{
        const char *p = *at + strspn(*at, " ,\t"), *end;

        ret_key->data = p;
        while (is_token_letter(*p))
                p++;
        ret_key->len = (size_t)(p - ret_key->data);
        if (ret_key->len == 0 || *p != '=')
                return false;
        if (*++p == '"') {
                end = strchr(++p, '"');
                if (!end)
                        return false;
                *at = end + 1;
        } else {
                for (end = p; is_token_letter(*end);)
                        end++;
                *at = end;
        }
        *ret_value = (struct slice){ p, (size_t)(end - p) };
        return true;
}

struct challenge {
        const char *realm, *service, *scope; /* NULL = not given */
};

static int read_challenge(const char *text, struct arena *arena, struct challenge *ret, struct error *err)
{
        struct slice key, value;

        *ret = (struct challenge){ 0 };
        while (next_parameter(&text, &key, &value)) {
                const char **field = slice_is(key, "realm")     ? &ret->realm
                                     : slice_is(key, "service") ? &ret->service
                                     : slice_is(key, "scope")   ? &ret->scope
                                                                : NULL;

                if (field && !(*field = arena_strndup(arena, value.data, value.len)))
                        return error_no_memory(err);
        }
        return 0;
}

/* The header that begins with the word; NULL = none does. What comes behind the word. */
static const char *find_challenge(const struct http_headers *h, const char *word)
{
        size_t n = strlen(word);

        for (size_t i = 0; i < h->n; i++)
                if (strcasecmp(h->at[i].name, "WWW-Authenticate") == 0 &&
                    strncasecmp(h->at[i].value, word, n) == 0 &&
                    (!h->at[i].value[n] || h->at[i].value[n] == ' '))
                        return h->at[i].value + n;
        return NULL;
}

/* ---- tokens ---- */

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
        return keep(r, asked_ms + (seconds > 0 ? MIN(seconds, TOKEN_MAX_S) : TOKEN_S) * 1000, err);
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

static int get_token(struct registry *r, const char *text, struct error *err)
{
        struct arena *arena = r->transfer->arena;
        struct transfer_call c = { .headers = { { "Accept", "application/json" } },
                                   .n_headers = 1,
                                   .max_body = TOKEN_ANSWER_BYTES };
        struct challenge challenge;

        TRY(read_challenge(text, arena, &challenge, err));
        if (!is_realm(r, challenge.realm))
                return error_set(err, ERR_INVALID, "%s: the registry names no place to get a token from",
                                 r->origin);
        TRY(make_token_url(r, &challenge, &c.url, err));
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
        const char *bearer = find_challenge(&refused->headers, "Bearer"), *before = r->authorization;

        *ret_changed = bearer != NULL;
        if (bearer)
                return get_token(r, bearer, err);
        if (!find_challenge(&refused->headers, "Basic") || !r->login.username)
                return 0;
        r->authorization = transfer_basic(r->transfer->arena, r->login.username, or_empty(r->login.password));
        *ret_changed = !text_equal(r->authorization, before);
        return r->authorization ? 0 : error_no_memory(err);
}
