/* Sealing of what must not lie on a disk in clear: AES-256-GCM, a fresh nonce each time, bound to a context
 * string. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

#define SEAL_KEY_SIZE 32
#define SEAL_NONCE_SIZE 12
#define SEAL_TAG_SIZE 16
#define SEAL_OVERHEAD (SEAL_NONCE_SIZE + SEAL_TAG_SIZE)

/* *ret = nonce, tag, cipher text; plain.len + SEAL_OVERHEAD bytes in the arena. */
int seal(const uint8_t key[SEAL_KEY_SIZE], const uint8_t nonce[SEAL_NONCE_SIZE], const char *context,
         struct slice plain, struct arena *arena, struct slice *ret, struct error *err);
/* ERR_INVALID when key, context or bytes do not fit together. */
int unseal(const uint8_t key[SEAL_KEY_SIZE], const char *context, struct slice sealed, struct arena *arena,
           struct slice *ret, struct error *err);
