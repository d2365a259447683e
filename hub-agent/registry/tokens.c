/* Tokens that registries gave, until they end. */
#include "common/base/digest.h"
#include "common/base/memory.h"
#include "hub-agent/registry/ask.h"

#define TOKEN_MARGIN_MS 5000
#define TOKENS_MAX 1000

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

int registry_keep_login(struct registry *r, int64_t ends_ms, struct error *err)
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
