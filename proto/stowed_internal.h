/* How stowed objects are laid out: shared by stow.c and unstow.c.
 *
 *     bytes of the whole, key and NUL, size of the block's structs in words and a bit whether some are of
 *     details, of its texts in bytes, if so the same two of the details alone, metadata, the kind's root
 *
 * A struct is a bit for each field of its type, whole bytes, and then the values of those that are there.
 * Numbers are of 7 bits a byte, the lowest first, the high bit set on all but the last; signed ones are
 * folded (0, -1, 1, -2, ...). */
#pragma once

#include "proto/codec.h"
#include "proto/stowed.h"

struct stowed {
        uint32_t bytes;
        char key[]; /* and what follows it */
};

/* A text begins with a number, whose two lowest bits say which it is and the others how many. */
enum stowed_text {
        TEXT_INTERNED, /* the number in the table */
        TEXT_PLAIN,    /* so many bytes follow */
        TEXT_AGAIN,    /* the so-manieth of the plain ones */
        TEXT_OTHER,    /* one of below */
};
enum {
        OTHER_UID,     /* 16 bytes: 32 digits, small ones, and four dashes */
        OTHER_DECIMAL, /* a number follows, written without leading zeros */
        OTHER_OF_KEY,  /* with so many more: the last so many bytes of the key */
        UID_LENGTH = 36,
        UID_BYTES = 16,
        DECIMAL_MAX = 19, /* digits: what surely is below 2^64 */
        AGAIN_MAX = 4,    /* plain ones that are remembered, the first of the object */
};

/* Before a list of details: its bytes, so that it can be passed over. What comes behind it does not refer to
 * it. */
enum { DETAIL_LENGTH = sizeof(uint32_t) };

/* The number before a list: three are in one. */
enum { LIST_SHARED = 1 /* the array is in the table: its number follows */, LIST_SET = 2, LIST_COUNT = 4 };

static inline size_t bits_bytes(const struct type *t)
{
        return ((size_t)t->n_fields + 7) / 8;
}

static inline bool uid_has_dash_at(size_t i)
{
        return i == 8 || i == 13 || i == 18 || i == 23;
}
