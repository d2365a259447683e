/* A strict pull scanner over JSON text for hot paths: no allocation, no recursion, limits on depth and
 * length. It validates everything it passes, skipped values included. */
#pragma once

#include "common/base/arena.h"
#include "common/base/limits.h"
#include "common/base/text.h"

enum scan_token {
        SCAN_ERROR = -1,
        SCAN_END,
        SCAN_OBJECT,
        SCAN_OBJECT_END,
        SCAN_ARRAY,
        SCAN_ARRAY_END,
        SCAN_KEY,
        SCAN_STRING,
        SCAN_NUMBER,
        SCAN_TRUE,
        SCAN_FALSE,
        SCAN_NULL
};

struct scanner {
        const char *begin, *at, *end;
        struct slice text; /* of the last KEY, STRING (raw: without quotes, escapes not decoded) or NUMBER */
        bool escaped;      /* text contains backslashes: use scan_string() */
        uint8_t expect;
        uint16_t depth;
        uint64_t nest[(LIMIT_JSON_DEPTH + 63) / 64]; /* a bit per level: 1 = object */
        const char *problem;                         /* words of the first error */
};

void scan_init(struct scanner *s, struct slice text);
enum scan_token scan_next(struct scanner *s);
/* Skips the value that comes next (after a key, or an array element); its raw text in *ret if not NULL. */
int scan_skip(struct scanner *s, struct slice *ret);
/* The same for a value that scan_skip() refuses, as it is too deep or malformed: its end is found by brackets
 * and quotes alone, at any depth, and nothing within is checked. */
int scan_skip_unchecked(struct scanner *s, struct slice *ret);
/* True when the next token closes the array or object: ends a loop of scan_skip() over an array's elements
 * (the closing token is still to be read with scan_next()). */
bool scan_at_close(struct scanner *s);
/* The decoded text of the last KEY or STRING, NUL-terminated in the arena; NULL on no memory. */
const char *scan_string(struct scanner *s, struct arena *arena, size_t *ret_len);
bool scan_key_is(const struct scanner *s, const char *name);
int scan_error(const struct scanner *s,
               struct error *err); /* ERR_INVALID (ERR_LIMIT: depth) with offset and words */

/* All values in a text, itself included; of what is no JSON those before that shows. */
size_t scan_count_values(struct slice text);

/* Decodes the raw text of a KEY or STRING that the scanner has passed into `ret` (room for raw.len bytes, no
 * NUL is added) and returns the length. */
size_t scan_decode(struct slice raw, char *ret);
/* The value of a NUMBER: true and *ret for integers within 64 bits; false and *ret_real for all others
 * (infinite when out of range). */
bool scan_number(struct slice text, int64_t *ret, double *ret_real);
