#include "common/base/digest.h"

#include "common/base/text.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int by)
{
        return x >> by | x << (32 - by);
}

static uint32_t load_be(const uint8_t *p)
{
        uint32_t v;
        memcpy(&v, p, sizeof(v));
        return __builtin_bswap32(v);
}

/* FIPS 180-4, 6.2.2. */
static void block_portable(uint32_t state[8], const uint8_t *block)
{
        uint32_t w[64];
        for (int i = 0; i < 16; i++)
                w[i] = load_be(block + 4 * i);
        for (int i = 16; i < 64; i++) {
                uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
                uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
                w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 64; i++) {
                uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
                uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + k[i] + w[i];
                uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
                uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
                h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

#ifdef __x86_64__
/* The same with the processor's own instructions, four rounds at a time. The instructions want the state as
 * two vectors, ABEF and CDGH. */
__attribute__((target("sha,sse4.1"))) static void blocks_sha_ni(uint32_t state[8], const uint8_t *data,
                                                                size_t n)
{
        const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
        __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)state), 0xb1);
        __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(state + 4)), 0x1b);
        __m128i abef = _mm_alignr_epi8(abcd, efgh, 8), cdgh = _mm_blend_epi16(efgh, abcd, 0xf0);

        for (; n > 0; n--, data += 64) {
                const __m128i abef_before = abef, cdgh_before = cdgh;
                __m128i w[4];
                for (int i = 0; i < 16; i++) {
                        if (i < 4)
                                w[i] = _mm_shuffle_epi8(
                                        _mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i)),
                                        big_endian);
                        else
                                w[i & 3] = _mm_sha256msg2_epu32(
                                        _mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
                                                      _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4)),
                                        w[(i + 3) & 3]);
                        __m128i x = _mm_add_epi32(
                                w[i & 3], _mm_loadu_si128((const __m128i *)(const void *)(k + 4 * i)));
                        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, x);
                        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(x, 0x0e));
                }
                abef = _mm_add_epi32(abef, abef_before);
                cdgh = _mm_add_epi32(cdgh, cdgh_before);
        }
        __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
        _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xf0));
        _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_sha_ni(void)
{
        unsigned a, b, c, d;
        return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}
#endif

static void blocks(uint32_t state[8], const uint8_t *data, size_t n)
{
#ifdef __x86_64__
        static signed char known; /* 0 = not asked yet; the answer never changes */
        if (!known)
                known = has_sha_ni() ? 1 : -1;
        if (known > 0) {
                blocks_sha_ni(state, data, n);
                return;
        }
#endif
        for (size_t i = 0; i < n; i++)
                block_portable(state, data + 64 * i);
}

void sha256_init(struct sha256 *s)
{
        static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
        memcpy(s->state, start, sizeof(start));
        s->total = 0;
}

void sha256_update(struct sha256 *s, const void *data, size_t n)
{
        const uint8_t *p = data;
        size_t held = s->total % 64;
        if (!n)
                return;
        s->total += n;
        if (held) {
                size_t part = MIN(64 - held, n);
                memcpy(s->block + held, p, part);
                p += part;
                n -= part;
                if (held + part < 64)
                        return;
                blocks(s->state, s->block, 1);
        }
        blocks(s->state, p, n / 64);
        memcpy(s->block, p + n / 64 * 64, n % 64);
}

void sha256_final(struct sha256 *s, uint8_t ret[SHA256_SIZE])
{
        static const uint8_t padding[64] = { 0x80 };
        uint64_t bits = __builtin_bswap64(s->total * 8);
        sha256_update(s, padding, 1 + (119 - s->total % 64) % 64);
        sha256_update(s, &bits, sizeof(bits));
        for (int i = 0; i < 8; i++) {
                uint32_t v = __builtin_bswap32(s->state[i]);
                memcpy(ret + 4 * i, &v, sizeof(v));
        }
}

void sha256_hex(const void *data, size_t n, char ret[SHA256_HEX_SIZE])
{
        struct sha256 s;
        uint8_t raw[SHA256_SIZE];
        sha256_init(&s);
        sha256_update(&s, data, n);
        sha256_final(&s, raw);
        text_hex_encode(raw, sizeof(raw), ret);
}

#define ADLER_BASE 65521
#define ADLER_RUN 5552 /* so many bytes cannot overflow 32 bits */

uint32_t adler32_sum(const void *data, size_t n)
{
        const uint8_t *at = data;
        uint32_t low = 1, high = 0;

        while (n > 0) {
                size_t run = MIN(n, (size_t)ADLER_RUN);

                n -= run;
                while (run-- > 0) {
                        low += *at++;
                        high += low;
                }
                low %= ADLER_BASE;
                high %= ADLER_BASE;
        }
        return high << 16 | low;
}
