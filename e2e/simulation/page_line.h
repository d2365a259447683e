/* The browser's end of a WebSocket that is none: whole messages, no sockets. What a session sends waits here
 * until it is read; what is packed is unpacked then. For the simulation and the tests of sessions. */
#pragma once

#include "common/base/vec.h"
#include "common/net/websocket.h"

struct page_heard {
        char *data; /* NUL-terminated behind its length */
        size_t n;
        bool packed;
};

struct page_line {
        struct websocket socket;
        struct waitq in, out;   /* to the page; there is room again */
        struct waitq news;      /* something came */
        VEC(char *) said;       /* to the page */
        size_t n_taken, n_read; /* of said; of heard */
        VEC(struct page_heard) heard;
        unsigned weight; /* a byte counts as so many in the queue; 0: the queue is always empty */
        size_t queued;
        bool left;     /* by itself */
        unsigned code; /* that it was closed with; 0 = none */
        char reason[128];
        size_t n_packed; /* messages that came so, and were read */
        bool overfull;   /* something was sent while more waited than may be */
};

void page_line_begin(struct page_line *l, struct loop *loop, unsigned weight);
/* Forgets what was said and heard; it can be used again. */
void page_line_clear(struct page_line *l);
int page_line_say(struct page_line *l, const char *text); /* copied; 0 or ERR_NO_MEMORY */
/* The next message as text, whose memory is handed over. 1; 0: there is none. ERR_INVALID: it cannot be
 * unpacked; ERR_NO_MEMORY. */
int page_line_read(struct page_line *l, char **ret);
void page_line_leave(struct page_line *l);
