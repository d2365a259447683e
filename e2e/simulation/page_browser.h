/* A browser of the simulation. What it holds of each view comes by the protocol of docs/page.md alone; what
 * breaks the protocol is kept as its first mistake. */
#pragma once

#include "common/json/doc.h"
#include "e2e/simulation/page_line.h"

struct page_sheet { /* a view that is open */
        int64_t number;
        const char *view; /* a constant */
        json_t *args, *head, *parts, *hidden, *error;
        bool more;       /* the rest of a change is to follow */
        bool in_trouble; /* opened while the page could not read the hub; of who opens it */
        int64_t odd_ms;  /* since when it says what is not so; 0 = it does not; of who looks at it */
};

struct page_asked { /* a call that has no answer yet */
        int64_t number;
        const char *what; /* a constant */
        json_t *args;
};

struct page_told {                    /* what it heard */
        uint64_t rows, changed, gone; /* rows: new ones */
        uint64_t heads, errors;       /* of views */
        uint64_t packed;              /* messages */
        uint64_t done, refused;       /* calls */
};

struct page_browser {
        struct page_line line;
        struct loop *loop;
        const char *name;  /* in what is said of it */
        bool over, hello;  /* over: the session has ended */
        unsigned sessions; /* that it has had */
        int64_t number;    /* the last one given */
        VEC(struct page_sheet) sheets;
        VEC(struct page_asked) asked;
        struct page_told told;
        void (*heard_text)(void *ctx, const char *text); /* each message; may be NULL */
        /* Each answer to what it asked; may be NULL. */
        void (*answered)(void *ctx, const struct page_asked *to, const json_t *answer);
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
void page_browser_call(struct page_browser *b, const char *what, json_t *args); /* `args` is taken */
/* Takes all that came. */
void page_browser_read(struct page_browser *b);
void page_browser_leave(struct page_browser *b);
struct page_sheet *page_browser_sheet(struct page_browser *b, int64_t number); /* NULL = it is not open */
/* They show the same; else the first difference is told. */
int page_sheet_compare(const struct page_sheet *is, const struct page_sheet *fresh, struct error *err);
