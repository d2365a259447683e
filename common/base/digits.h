/* Numbers as decimal text, for who writes many: nothing is formatted by format. */
#pragma once

#include <stdint.h>

/* Writes in front of `end`, where there is room for it (20 bytes at most), and no NUL. Returns where the text
 * begins. */
static inline char *digits_unsigned(char *end, uint64_t value)
{
        do
                *--end = (char)('0' + value % 10);
        while ((value /= 10));
        return end;
}

static inline char *digits_signed(char *end, int64_t value)
{
        char *begin = digits_unsigned(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);

        if (value < 0)
                *--begin = '-';
        return begin;
}
