/* pkt-line, what Git's wire is made of: four hexadecimal digits, the length with themselves, then that many
 * bytes; 0000 is a flush. Pure. */
#pragma once

#include "common/base/buf.h"
#include "common/base/text.h"

#define PACKET_MAX 65520

/* Pieces of a stream in, packets out. */
struct packet_reader {
        struct buf kept;
        /* data NULL: a flush. A failure ends the reading. */
        int (*take)(void *ctx, struct slice packet, struct error *err);
        void *ctx;
};
void packet_reader_init(struct packet_reader *r, int (*take)(void *, struct slice, struct error *),
                        void *ctx);
void packet_reader_free(struct packet_reader *r);
/* ERR_INVALID: this is no Git; or what `take` returned. */
int packet_reader_feed(struct packet_reader *r, const void *data, size_t n, struct error *err);
/* At the end of the stream: ERR_RETRY if a packet is cut. */
int packet_reader_end(const struct packet_reader *r, struct error *err);

/* A text as one packet, and a flush. As buf_append(); check buf_status(). */
void packet_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void packet_append(struct buf *b, const void *data, size_t n);
void packet_flush(struct buf *b);

/* What a remote says, for a message: one line of printable characters, at most 300 bytes. */
#define PACKET_WORDS_SIZE 320
void packet_words(struct slice said, char ret[PACKET_WORDS_SIZE]);
