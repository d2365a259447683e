#include "hub-agent/git/packet.h"

#include <stdarg.h>
#include <stdio.h>

#define HEAD 4
#define PIECE 65536

void packet_reader_init(struct packet_reader *r, int (*take)(void *, struct slice, struct error *), void *ctx)
{
        *r = (struct packet_reader){ .take = take, .ctx = ctx };
        buf_init(&r->kept, PACKET_MAX + PIECE);
}

void packet_reader_free(struct packet_reader *r)
{
        buf_free(&r->kept);
}

static int digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* -1: it is none. */
static int length_of(const char *head)
{
        int n = 0;

        for (int i = 0; i < HEAD; i++) {
                int d = digit(head[i]);

                if (d < 0)
                        return -1;
                n = n * 16 + d;
        }
        return n == 0 || (n >= HEAD && n <= PACKET_MAX) ? n : -1;
}

static int give_out(struct packet_reader *r, struct error *err)
{
        size_t at = 0;
        int code = 0;

        while (code == 0 && r->kept.len - at >= HEAD) {
                int n = length_of(r->kept.data + at);

                if (n < 0) {
                        code = error_set(err, ERR_INVALID, "the answer is not what Git's protocol has");
                        break;
                }
                if (n > 0 && r->kept.len - at < (size_t)n)
                        break;
                const struct slice packet = { r->kept.data + at + HEAD, n > 0 ? (size_t)n - HEAD : 0 };

                code = r->take(r->ctx, n > 0 ? packet : (struct slice){ 0 }, err);
                at += n > 0 ? (size_t)n : HEAD;
        }
        buf_consume(&r->kept, at);
        return code;
}

int packet_reader_feed(struct packet_reader *r, const void *data, size_t n, struct error *err)
{
        for (size_t at = 0; at < n; at += PIECE) {
                if (buf_append(&r->kept, (const char *)data + at, MIN(n - at, (size_t)PIECE)) < 0)
                        return error_no_memory(err);
                TRY(give_out(r, err));
        }
        return 0;
}

int packet_reader_end(const struct packet_reader *r, struct error *err)
{
        return r->kept.len == 0 ? 0 : error_set(err, ERR_RETRY, "the answer ended within a packet");
}

void packet_append(struct buf *b, const void *data, size_t n)
{
        (void)buf_printf(b, "%04zx", n + HEAD);
        (void)buf_append(b, data, n);
}

void packet_printf(struct buf *b, const char *fmt, ...)
{
        char text[4096];
        va_list ap;

        va_start(ap, fmt);
        int n = vsnprintf(text, sizeof(text), fmt, ap);
        va_end(ap);
        ASSERT(n >= 0 && (size_t)n < sizeof(text));
        packet_append(b, text, (size_t)n);
}

void packet_flush(struct buf *b)
{
        (void)buf_append_str(b, "0000");
}

void packet_words(struct slice said, char ret[PACKET_WORDS_SIZE])
{
        struct slice line = slice_trim(said);
        size_t n = 0;

        for (size_t i = 0; i < line.len && n < PACKET_WORDS_SIZE - 20; i++)
                ret[n++] = (char)(line.data[i] < ' ' || line.data[i] > '~' ? ' ' : line.data[i]);
        ret[n] = '\0';
}
