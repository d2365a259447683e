/* SHA-1 and base32. */
#include "common/template/digests.h"

#include <openssl/sha.h>

int sha1_hex(struct slice s, char ret[SHA1_HEX_SIZE])
{
        uint8_t sum[SHA_DIGEST_LENGTH];
        if (!SHA1((const unsigned char *)s.data, s.len, sum))
                return ERR_NO_MEMORY;
        text_hex_encode(sum, sizeof(sum), ret);
        return 0;
}

/* ---- base32 ---- */

static const char base32_alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

int base32_encode(struct slice s, struct buf *b)
{
        for (size_t at = 0; at < s.len; at += 5) {
                uint64_t bits = 0;
                size_t n = MIN(s.len - at, 5u), digits = (8 * n + 4) / 5;
                for (size_t i = 0; i < 5; i++)
                        bits = bits << 8 | (i < n ? (unsigned char)s.data[at + i] : 0);
                for (size_t i = 0; i < 8; i++)
                        TRY(buf_append_char(b,
                                            i < digits ? base32_alphabet[bits >> (35 - 5 * i) & 31] : '='));
        }
        return 0;
}

/* How many bytes so many digits are: -1 where none can be. */
static int bytes_of(int digits)
{
        static const signed char bytes[] = { 0, -1, 1, -1, 2, 3, -1, 4, 5 };
        return bytes[digits];
}

static void give_bytes(struct buf *b, uint64_t bits, int digits)
{
        bits <<= 5 * (8 - digits);
        for (int i = 0; i < bytes_of(digits); i++)
                buf_append_char(b, (char)(bits >> (32 - 8 * i)));
}

bool base32_decode(struct slice s, struct buf *b, size_t *ret_fault)
{
        uint64_t bits = 0;
        int digits = 0, padding = 0;
        size_t seen = 0; /* without line ends, as Go counts */
        for (size_t i = 0; i < s.len; i++) {
                char c = s.data[i];
                const char *digit = c ? strchr(base32_alphabet, c) : NULL;
                if (c == '\n' || c == '\r')
                        continue;
                *ret_fault = seen++;
                if (c == '=' && digits && digits + padding < 8) {
                        padding++;
                        continue;
                }
                if (!digit || padding)
                        return false;
                bits = bits << 5 | (uint64_t)(digit - base32_alphabet);
                if (++digits == 8) {
                        give_bytes(b, bits, 8);
                        digits = 0;
                        bits = 0;
                }
        }
        *ret_fault = seen;
        if (!digits && !padding)
                return true;
        if (digits + padding != 8 || bytes_of(digits) < 0)
                return false;
        give_bytes(b, bits, digits);
        return true;
}
