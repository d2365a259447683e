/* Texts that are put together. Private to this folder. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

const char *words_quote(struct arena *arena, const char *s);  /* as %q; NULL on no memory */
const char *words_slice(struct arena *arena, struct slice s); /* a copy with its NUL; NULL on no memory */
/* One non-blank line of a text after the other, trimmed, numbered from 1. False at the end. */
struct words_lines {
        struct slice rest;
        size_t line;
        bool over;
};
struct words_lines words_lines_of(const char *text);
bool words_next_line(struct words_lines *l, struct slice *ret);
size_t words_count_lines(const char *text);
/* Room for one more behind n items: the array, or a larger copy of it. NULL on no memory. */
void *words_grow(struct arena *arena, void *at, size_t n, size_t *cap, size_t item_size);
int words_compare(const void *a, const void *b); /* of two const char *, for qsort */
