/* A key that is put together, looked up and let go of. It may be of any length: short ones stand in the
 * struct itself, and only those beyond need memory. */
#pragma once

#include "common/base/error.h"

#define KEY_OWN_BYTES 384 /* a namespace and a name of ordinary length, with what is between them */

struct key {
        const char
                *text; /* NUL-terminated; NULL until something was put together. The struct is not copied */
        char *grown;
        char own[KEY_OWN_BYTES];
};

/* Replaces what was there. Only b if a is NULL or "". 0 or ERR_NO_MEMORY, then text is NULL. */
int key_join(struct key *k, const char *a, char between, const char *b);
void key_free(struct key *k);

#define AUTO_KEY CLEANUP(key_free)
#define KEY_EMPTY ((struct key){ .text = NULL })
