/* Regular expressions with the syntax and meaning of RE2 (as Go's regexp and therefore Kubernetes has them),
 * run in time linear in the text: patterns come from users. Not supported, with a clear error: Unicode
 * classes (\p{..}) other than ASCII ones; (?i) folds ASCII only. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

#define REGEX_MAX_NESTING 100
#define REGEX_MAX_REPEAT 1000        /* of one {n,m}, as in RE2 */
#define REGEX_MAX_GROUPS 100         /* of a pattern whose groups are asked for */
#define REGEX_MAX_INSTRUCTIONS 20000 /* of one pattern after expansion of repeats */

struct regex;

struct regex_span {
        size_t begin, end;
};

/* ERR_INVALID names what is wrong in Go's words ("missing closing ): `a(`"); ERR_LIMIT. Lives in `arena`. */
int regex_compile(struct arena *arena, struct slice pattern, const struct regex **ret, struct error *err);
/* The leftmost match (first alternative preferred) that begins at or after `from`: 1 and *ret if found, 0 if
 * not, ERR_NO_MEMORY. */
int regex_find(const struct regex *re, struct slice text, size_t from, struct regex_span *ret);
int regex_test(const struct regex *re, struct slice text); /* 1, 0 or ERR_NO_MEMORY */

/* As regex_compile, for a pattern whose groups are asked for: regex_groups.c. */
int regex_compile_groups(struct arena *arena, struct slice pattern, const struct regex **ret,
                         struct error *err);
size_t regex_group_count(const struct regex *re);                    /* without the whole match */
struct slice regex_group_name(const struct regex *re, size_t group); /* from 1; "" if it has none */
size_t regex_size(const struct regex *re); /* instructions: a measure of what each byte of text costs */
/* As regex_find; ret[0] is the whole match, ret[i] group i, SIZE_MAX..SIZE_MAX where it took no part. `ret`
 * has regex_group_count() + 1 elements. *ret_seen, found or not: how far the text was looked at. */
int regex_find_groups(const struct regex *re, struct slice text, size_t from, struct regex_span *ret,
                      size_t *ret_seen);
