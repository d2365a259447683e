/* Base64 and hex of text.h. */
#include "common/base/text.h"

size_t text_base64_size(size_t n)
{
        return (n + 2) / 3 * 4 + 1;
}

void text_base64_encode(const void *data, size_t n, char *ret)
{
        static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const uint8_t *p = data;
        for (size_t i = 0; i < n; i += 3) {
                size_t left = n - i;
                uint32_t v = (uint32_t)p[i] << 16;
                v |= left > 1 ? (uint32_t)p[i + 1] << 8 : 0;
                v |= left > 2 ? p[i + 2] : 0;
                *ret++ = alphabet[v >> 18];
                *ret++ = alphabet[v >> 12 & 63];
                *ret++ = left > 1 ? alphabet[v >> 6 & 63] : '=';
                *ret++ = left > 2 ? alphabet[v & 63] : '=';
        }
        *ret = '\0';
}

static int value_of(char c, bool url_alphabet)
{
        if (c >= 'A' && c <= 'Z')
                return c - 'A';
        if (c >= 'a' && c <= 'z')
                return c - 'a' + 26;
        if (c >= '0' && c <= '9')
                return c - '0' + 52;
        if (c == (url_alphabet ? '-' : '+'))
                return 62;
        return c == (url_alphabet ? '_' : '/') ? 63 : -1;
}

int text_base64_decode(struct slice s, void *ret, size_t cap, size_t *ret_len, bool url_alphabet)
{
        uint8_t *out = ret;
        size_t n = 0, digits = 0, padding = 0;
        uint32_t bits = 0;
        for (size_t i = 0; i < s.len; i++) {
                char c = s.data[i];
                if (c == '\r' || c == '\n')
                        continue;
                if (c == '=') {
                        padding++;
                        continue;
                }
                int v = value_of(c, url_alphabet);
                if (v < 0 || padding)
                        return ERR_INVALID;
                bits = bits << 6 | (uint32_t)v;
                if (digits++ % 4 == 0)
                        continue;
                if (n == cap)
                        return ERR_LIMIT;
                out[n++] = (uint8_t)(bits >> (6 - 2 * ((digits - 1) % 4)));
        }
        bool unpadded_is_fine = url_alphabet && padding == 0;
        if (digits % 4 == 1 || padding > 2 || (!unpadded_is_fine && (digits + padding) % 4 != 0))
                return ERR_INVALID;
        *ret_len = n;
        return 0;
}

void text_hex_encode(const void *data, size_t n, char *ret)
{
        const uint8_t *p = data;
        for (size_t i = 0; i < n; i++) {
                *ret++ = "0123456789abcdef"[p[i] >> 4];
                *ret++ = "0123456789abcdef"[p[i] & 15];
        }
        *ret = '\0';
}
