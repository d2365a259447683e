/* A strict pull scanner over JSON text for hot paths: no allocation, no recursion, limits on depth and length. It
 * validates everything it passes, skipped values included. */
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
/* The decoded text of the last KEY or STRING, NUL-terminated in the arena; NULL on no memory. */
const char *scan_string(struct scanner *s, struct arena *arena, size_t *ret_len);
bool scan_key_is(const struct scanner *s, const char *name);
int scan_error(const struct scanner *s, struct error *err); /* ERR_INVALID with offset and words */
