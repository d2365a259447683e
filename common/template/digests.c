/* SHA-1, Adler-32 and base32. */
#include "common/template/digests.h"

/* ---- SHA-1 (FIPS 180-4) ---- */

static uint32_t rotate(uint32_t x, unsigned n)
{
        return x << n | x >> (32 - n);
}

static void sha1_block(uint32_t state[5], const uint8_t block[64])
{
        uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
        for (size_t i = 0; i < 16; i++)
                w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
        for (size_t i = 16; i < 80; i++)
                w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        for (size_t i = 0; i < 80; i++) {
                uint32_t f = i < 20              ? (b & c) | (~b & d)
                             : i < 40 || i >= 60 ? b ^ c ^ d
                                                 : (b & c) | (b & d) | (c & d);
                uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
                uint32_t next = rotate(a, 5) + f + e + k + w[i];
                e = d;
                d = c;
                c = rotate(b, 30);
                b = a;
                a = next;
        }
        const uint32_t sum[5] = { a, b, c, d, e };
        for (size_t i = 0; i < 5; i++)
                state[i] += sum[i];
}

void sha1_hex(struct slice s, char ret[SHA1_HEX_SIZE])
{
        uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
        const uint8_t *data = (const uint8_t *)s.data;
        uint8_t tail[128] = { 0 }, sum[20];
        size_t whole = s.len / 64 * 64, left = s.len - whole, n_tail = left < 56 ? 64 : 128;
        for (size_t i = 0; i < whole; i += 64)
                sha1_block(state, data + i);
        if (left)
                memcpy(tail, data + whole, left);
        tail[left] = 0x80;
        for (size_t i = 0; i < 8; i++)
                tail[n_tail - 1 - i] = (uint8_t)((uint64_t)s.len * 8 >> (8 * i));
        for (size_t i = 0; i < n_tail; i += 64)
                sha1_block(state, tail + i);
        for (size_t i = 0; i < 20; i++)
                sum[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
        text_hex_encode(sum, sizeof(sum), ret);
}

uint32_t adler32_sum(struct slice s)
{
        uint32_t a = 1, b = 0;
        for (size_t i = 0; i < s.len; i++) {
                a = (a + (unsigned char)s.data[i]) % 65521;
                b = (b + a) % 65521;
        }
        return b << 16 | a;
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
