/* A growing byte buffer that declares its maximum at birth. Always NUL-terminated behind len.
 * Append functions return 0, ERR_LIMIT or ERR_NO_MEMORY; after a failure the buffer is `failed`, further
 * appends return the same code and do nothing, so a writer may check once at the end (buf_status). */
#pragma once

#include "common/base/error.h"

struct buf {
        char *data; /* "" (static) while empty */
        size_t len, cap, max;
        int failed; /* 0 or the first error code */
};

void buf_init(struct buf *b, size_t max);
void buf_free(struct buf *b);
void buf_clear(struct buf *b);                /* len = 0, failed = 0; keeps the memory */
void buf_truncate(struct buf *b, size_t len); /* keeps the first len bytes of at least as many */
int buf_append(struct buf *b, const void *data, size_t n);
int buf_append_str(struct buf *b, const char *s);
int buf_append_char_slowly(struct buf *b, char c); /* use buf_append_char() */
static inline int buf_append_char(struct buf *b, char c)
{
        if (b->failed || b->cap - b->len < 2)
                return buf_append_char_slowly(b, c);
        b->data[b->len++] = c;
        b->data[b->len] = '\0';
        return 0;
}
int buf_append_int(struct buf *b, int64_t value);   /* decimal */
int buf_append_uint(struct buf *b, uint64_t value); /* the same */
int buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
int buf_append_json_string(struct buf *b, const char *s,
                           size_t n);         /* quoted and escaped; s must be valid UTF-8 */
int buf_reserve(struct buf *b, size_t extra); /* room for extra bytes behind len */
void buf_consume(struct buf *b, size_t n);    /* drops n bytes at the front */
int buf_status(const struct buf *b, struct error *err,
               const char *what);               /* 0 or the failure, with a sentence */
char *buf_take(struct buf *b, size_t *ret_len); /* hands over; free with mem_free; NULL if failed */

#define AUTO_BUF CLEANUP(buf_free)
