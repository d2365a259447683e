/* SHA-256 over bytes, whole or in pieces, and Adler-32 (own code: pure, so it may run offloaded). */
#pragma once

#include "common/base/error.h"

#define SHA256_SIZE 32
#define SHA256_HEX_SIZE 65 /* with the NUL */

struct sha256 {
        uint32_t state[8];
        uint64_t total;
        uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *data, size_t n);
void sha256_final(struct sha256 *s, uint8_t ret[SHA256_SIZE]);
void sha256_hex(const void *data, size_t n, char ret[SHA256_HEX_SIZE]); /* lower-case hex */

uint32_t adler32_sum(const void *data, size_t n);
