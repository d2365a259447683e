/* A browser at the other end of a WebSocket that is none: whole messages, no sockets. What it holds of each
 * view comes by the protocol of docs/page.md alone; what breaks the protocol is kept as its first mistake. */
#pragma once

#include "common/base/vec.h"
#include "common/json/doc.h"
#include "common/net/websocket.h"

struct page_sheet { /* a view that is open */
        int64_t number;
        const char *view; /* a constant */
        json_t *args, *head, *parts, *hidden, *error;
        bool more; /* the rest of a change is to follow */
};

struct page_asked { /* a call that has no answer yet */
        int64_t number;
        const char *what; /* a constant */
};

struct page_browser {
        struct websocket socket;
        struct loop *loop;
        const char *name;       /* in what is said of it */
        struct waitq in, out;   /* to the page; there is room again */
        struct waitq news;      /* something came, or the socket was closed */
        VEC(char *) said;       /* to the page */
        size_t n_taken, n_read; /* of said; of heard */
        VEC(char *) heard;
        unsigned weight; /* a byte counts as so many in the queue: documents of the game are small */
        size_t queued;
        bool left, over, hello; /* left: by itself; over: the session has ended */
        unsigned code;          /* that it was closed with; 0 = none */
        int64_t number;         /* the last one given */
        VEC(struct page_sheet) sheets;
        VEC(struct page_asked) asked;
        size_t n_messages, n_answers;
        void (*heard_text)(void *ctx, const char *text); /* each message; may be NULL */
        void *ctx;
        struct error wrong; /* what the page did that it must not */
};

void page_browser_begin(struct page_browser *b, struct loop *l, const char *name, unsigned weight);
/* Forgets all of the session, which has ended; a mistake stays. */
void page_browser_clear(struct page_browser *b);
void page_browser_say(struct page_browser *b, json_t *taken);
/* Opens a view; `args` is taken. Its number. */
int64_t page_browser_open(struct page_browser *b, const char *view, json_t *args);
void page_browser_close(struct page_browser *b, size_t sheet);
void page_browser_call(struct page_browser *b, const char *what, json_t *args);
/* Takes all that came. */
void page_browser_read(struct page_browser *b);
void page_browser_leave(struct page_browser *b);
struct page_sheet *page_browser_sheet(struct page_browser *b, int64_t number); /* NULL = it is not open */
/* They show the same; else the first difference is told. */
int page_sheet_compare(const struct page_sheet *is, const struct page_sheet *fresh, struct error *err);
