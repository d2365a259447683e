#include "hub-agent/source/verify/decode.h"

int decode_base64(const char *text, struct arena *arena, const char *what, struct slice *ret,
                  struct error *err)
{
        size_t n = strlen(text);
        char *data = arena_alloc(arena, n + 1);

        if (!data)
                return error_no_memory(err);
        ret->data = data;
        if (text_base64_decode(slice_of(text), data, n, &ret->len, false) < 0)
                return error_set(err, ERR_INVALID, "%s: it is no base64", what);
        return 0;
}

static unsigned digit(char c)
{
        return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

void decode_hex(const char *text, char *ret, size_t n)
{
        for (size_t i = 0; i < n; i++)
                ret[i] = (char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
}

void sha256_of(struct slice data, uint8_t ret[SHA256_SIZE])
{
        struct sha256 s;

        sha256_init(&s);
        sha256_update(&s, data.data, data.len);
        sha256_final(&s, ret);
}

int refuse(struct error *err, const char *what)
{
        if (err->code == ERR_NO_MEMORY)
                return err->code;
        error_wrap(err, "%s", what);
        err->code = ERR_FORBIDDEN;
        return err->code;
}
