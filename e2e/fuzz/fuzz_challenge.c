/* What a registry wants to see, in a header of its answer: what is found in it is found again in a header
 * that says just that. */
#include "e2e/fuzz/fuzz.h"
#include "hub-agent/registry/challenge.h"

static void find(const char *text, struct arena *arena, struct challenge *ret, bool *ret_found)
{
        struct http_header at = { "WWW-Authenticate", text };
        const struct http_headers h = { &at, 1 };

        ASSERT(challenge_find(&h, "Bearer", arena, ret, ret_found, NULL) == 0);
}

static void append(struct buf *b, const char *key, const char *value)
{
        if (!value)
                return;
        buf_printf(b, ", %s=\"", key);
        for (; *value; value++) {
                if (*value == '"' || *value == '\\')
                        buf_append_char(b, '\\');
                buf_append_char(b, *value);
        }
        buf_append_char(b, '"');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *text = arena_strndup(&arena, (const char *)data, size);
        AUTO_BUF struct buf again;
        struct challenge a, b;
        bool found;

        buf_init(&again, 8 * size + 256);
        find(text, &arena, &a, &found);
        if (!found) {
                ASSERT(!a.realm && !a.service && !a.scope);
                return 0;
        }
        buf_append_str(&again, "Bearer ");
        append(&again, "realm", a.realm);
        append(&again, "service", a.service);
        append(&again, "scope", a.scope);
        ASSERT(!again.failed);
        find(again.data, &arena, &b, &found);
        ASSERT(found && text_equal(a.realm, b.realm) && text_equal(a.service, b.service) &&
               text_equal(a.scope, b.scope));
        return 0;
}
