/* Tokens of a GitHub App's installation. spec/resource-set.md 19.2. */
#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/net/cert.h"
#include "hub-agent/input-provider/sources.h"

#define TOKENS_MAX 1000
#define MARGIN_MS 300000 /* a token is not used in its last minutes */

struct app_token {
        int64_t good_until_ms; /* wall */
        char text[];
};

static int check(const struct source_credentials *c, struct error *err)
{
        const char *problem =
                !c->app_id ? "app ID must be provided to use github app authentication"
                : !c->app_owner && !c->app_installation
                        ? "app installation owner or ID must be provided to use github app "
                          "authentication"
                : c->app_owner && c->app_installation
                        ? "only one of app installation owner or ID must be provided to use github "
                          "app authentication"
                : !c->app_key ? "private key must be provided to use github app authentication"
                              : NULL;
        if (!problem)
                return 0;
        error_set(err, ERR_INVALID, "%s", problem);
        return source_not_made(err);
}

/* By all that it is got with. */
static int key_of(const struct source_credentials *c, const char *api, char ret[SHA256_HEX_SIZE])
{
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_CERT_BYTES);
        buf_printf(&b, "%s\n%s\n%s\n%s\n%s", api, c->app_id, or_empty(c->app_owner),
                   or_empty(c->app_installation), c->app_key);
        if (b.failed)
                return b.failed;
        sha256_hex(b.data, b.len, ret);
        explicit_bzero(b.data, b.len);
        return 0;
}

static int sign(struct source *s, const char **ret, struct error *err)
{
        int64_t now_s = loop_wall_ms(s->world->loop) / 1000;
        AUTO_FREE char *jwt = NULL;
        AUTO_BUF struct buf payload;

        buf_init(&payload, LIMIT_TOKEN_BYTES);
        buf_printf(&payload, "{\"iat\":%lld,\"exp\":%lld,\"iss\":", (long long)(now_s - 30),
                   (long long)(now_s + 90));
        buf_append_json_string(&payload, s->credentials.app_id, strlen(s->credentials.app_id));
        buf_append_char(&payload, '}');
        TRY(buf_status(&payload, err, "token of a GitHub App"));
        if (jwt_sign_rs256(s->credentials.app_key, (struct slice){ payload.data, payload.len }, &jwt, err) <
            0) {
                error_wrap(err, "could not parse private key");
                return source_not_made(err);
        }
        *ret = arena_printf(s->arena, "Bearer %s", jwt);
        return *ret ? 0 : error_no_memory(err);
}

static int ask(struct source *s, const char *method, const char *bearer, const char *url, json_t **ret,
               struct error *err)
{
        const struct transfer_call c = { .method = method,
                                         .url = url,
                                         .headers = { { "Accept", "application/vnd.github+json" } },
                                         .n_headers = 1,
                                         .secret = { "Authorization", bearer } };
        struct http_response a;

        return url ? source_call_json(s, &c, NULL, &a, ret, err) : error_no_memory(err);
}

/* An owner is an organization or a user. */
static int find_installation(struct source *s, const char *api, const char *bearer, const char **ret,
                             struct error *err)
{
        static const char *const owners[] = { "orgs", "users" };
        AUTO_JSON json_t *doc = NULL;
        AUTO_BUF struct buf owner;
        int code = ERR_NOT_FOUND;

        buf_init(&owner, LIMIT_HEADER_BYTES);
        *ret = s->credentials.app_installation;
        if (*ret)
                return 0;
        TRY(http_escape(&owner, s->credentials.app_owner));
        for (size_t i = 0; code < 0 && code != ERR_CANCELLED && i < ARRAY_LEN(owners); i++)
                code = ask(s, "GET", bearer,
                           arena_printf(s->arena, "%s%s/%s/installation", api, owners[i], owner.data), &doc,
                           err);
        if (code < 0)
                return code;
        *ret = arena_printf(s->arena, "%lld", (long long)doc_get_int(doc, "id", 0));
        return *ret ? 0 : error_no_memory(err);
}

/* That it is not kept is no failure. */
static void remember(struct source *s, const char *key, const char *token, int64_t expires_ms)
{
        size_t n = strlen(token) + 1;
        struct app_token *t = mem_alloc(sizeof(*t) + n);

        if (!t)
                return;
        t->good_until_ms = expires_ms - MARGIN_MS;
        memcpy(t->text, token, n);
        if (map_count(&s->memory->app_tokens) >= TOKENS_MAX)
                map_clear(&s->memory->app_tokens);
        if (map_put(&s->memory->app_tokens, key, t) < 0)
                mem_free(t);
}

static int get_token(struct source *s, const char *api, const char *key, const char **ret, struct error *err)
{
        const char *bearer, *installation, *text, *expires;
        AUTO_JSON json_t *doc = NULL;
        AUTO_BUF struct buf id;
        int64_t expires_ms;

        buf_init(&id, LIMIT_HEADER_BYTES);
        TRY(sign(s, &bearer, err));
        TRY(find_installation(s, api, bearer, &installation, err));
        TRY(http_escape(&id, installation));
        TRY(ask(s, "POST", bearer,
                arena_printf(s->arena, "%sapp/installations/%s/access_tokens", api, id.data), &doc, err));
        text = doc_get_string(doc, "token");
        if (text_empty(text))
                return error_set(err, ERR_INVALID, "the installation's answer has no token");
        expires = doc_get_string(doc, "expires_at");
        if (expires && time_parse_rfc3339(slice_of(expires), &expires_ms) == 0)
                remember(s, key, text, expires_ms);
        *ret = arena_strdup(s->arena, text);
        return *ret ? 0 : error_no_memory(err);
}

int github_app_token(struct source *s, const char *api, const char **ret, struct error *err)
{
        const char *base = s->credentials.app_base_url;
        char key[SHA256_HEX_SIZE];

        TRY(check(&s->credentials, err));
        if (!text_empty(base))
                api = arena_printf(s->arena, "%s%s", base, text_ends_with(base, "/") ? "" : "/");
        if (!api || key_of(&s->credentials, api, key) < 0)
                return error_no_memory(err);
        const struct app_token *known = map_get(&s->memory->app_tokens, key);

        if (!known || known->good_until_ms <= loop_wall_ms(s->world->loop))
                return get_token(s, api, key, ret, err);
        *ret = arena_strdup(s->arena, known->text);
        return *ret ? 0 : error_no_memory(err);
}
