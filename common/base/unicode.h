/* Characters of UTF-8, and what Go knows of them from its Unicode tables. */
#pragma once

#include "common/base/buf.h"
#include "common/base/text.h"

#define RUNE_ERROR 0xfffdu

uint32_t rune_decode_any(const char *s, size_t n, size_t *ret_width);
/* The first character and its width in bytes; RUNE_ERROR and 1 where the text is no UTF-8. 0 width at the
 * end. */
static inline uint32_t rune_decode(const char *s, size_t n, size_t *ret_width)
{
        if (n == 0 || (unsigned char)*s >= 0x80)
                return rune_decode_any(s, n, ret_width);
        *ret_width = 1;
        return (unsigned char)*s;
}
size_t rune_encode(uint32_t c, char ret[4]); /* its length; what is no character becomes RUNE_ERROR */
size_t rune_count(struct slice s);
bool rune_is_letter(uint32_t c);
bool rune_is_digit(uint32_t c);
bool rune_is_print(uint32_t c); /* as strconv.IsPrint: a space is, other spaces are not */
bool rune_is_space(uint32_t c);
uint32_t rune_upper(uint32_t c);
uint32_t rune_lower(uint32_t c);
uint32_t rune_title(uint32_t c);

enum quoting { QUOTE_PLAIN, QUOTE_ASCII };

/* As strconv.Quote and QuoteToASCII. */
int write_quoted(struct buf *b, struct slice s, enum quoting how);
int write_quoted_rune(struct buf *b, uint32_t c, enum quoting how); /* 'c' */
bool fits_backquotes(struct slice s);                               /* may stand in a raw string */
