#include "member-agent/store/key.h"

#include "common/base/memory.h"

void store_random(void *loop, void *ret, size_t n)
{
        loop_random(loop, ret, n);
}

static int hex_value(char c)
{
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode_hex(const char *text, size_t n, uint8_t ret[STORE_KEY_SIZE])
{
        if (n < 2 * STORE_KEY_SIZE)
                return false;
        for (size_t i = 0; i < STORE_KEY_SIZE; i++) {
                int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);

                if (high < 0 || low < 0)
                        return false;
                ret[i] = (uint8_t)(high << 4 | low);
        }
        return true;
}

/* A lost or broken key makes the specs in the file unreadable; they are read from the hub again. */
int store_key(struct world *w, const char *state_path, uint8_t ret[STORE_KEY_SIZE], struct error *err)
{
        AUTO_FREE char *path = mem_printf("%s.key", state_path);
        AUTO_FREE char *text = NULL;
        char hex[2 * STORE_KEY_SIZE + 1];
        size_t n = 0;

        if (!path)
                return error_no_memory(err);
        if (!text_equal(state_path, ":memory:") && w->files &&
            w->files->read(w->ctx, path, 4096, &text, &n, NULL) == 0 && decode_hex(text, n, ret))
                return 0;
        loop_random(w->loop, ret, STORE_KEY_SIZE);
        if (text_equal(state_path, ":memory:") || !w->files)
                return 0;
        text_hex_encode(ret, STORE_KEY_SIZE, hex);
        return w->files->write(w->ctx, path, hex, 2 * STORE_KEY_SIZE, err);
}

int store_check_owner(struct store *s, const char *member_name, const char *hub_url,
                      char ret_owner[SHA256_HEX_SIZE], struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const char *text = arena_printf(&arena, "%s %s", member_name, hub_url ? hub_url : ""), *known = NULL;

        if (!text)
                return error_no_memory(err);
        sha256_hex(text, strlen(text), ret_owner);
        TRY(store_meta_get(s, "owner", &arena, &known, err));
        if (known && !text_equal(known, ret_owner))
                TRY(store_clear(s, err));
        return known && text_equal(known, ret_owner) ? 0 : store_meta_put(s, "owner", ret_owner, err);
}
