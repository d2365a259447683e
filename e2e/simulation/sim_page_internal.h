/* Shared by sim_page.c (the process, its browsers, what it must not do), page_user.c (what users do),
 * page_compare.c (what is open is what a fresh look shows) and page_model.c (what the hub's objects say). */
#pragma once

#include "common/base/map.h"
#include "e2e/simulation/page_browser.h"
#include "e2e/simulation/random.h"
#include "e2e/simulation/sim_fleet.h"
#include "e2e/simulation/sim_page.h"
#include "kubectl-fleet/page/session.h"

#define PAGE_TOKEN "a-token-of-the-page-that-nobody-else-has"
#define PAGE_KEPT 7 /* lists that the page keeps: page.c */

/* A page process without its HTTP side. */
struct page_desk {
        struct world world;
        struct kube_client hub;
        struct log log;
        struct fiber_group *group, *sessions;
        struct page_core core;
        struct page_journal *journal;
        struct page_kept {
                struct page_use use;
                struct page_desk *desk;
        } kept[PAGE_KEPT];
};

#define PAGE_USERS 2
struct page_user_of { /* who sits at a browser */
        struct sim_page *page;
        struct page_browser browser;
        char name[16];
        struct dice dice;
        bool steady;           /* stays: what such a one has open is old when all is quiet */
        uint64_t next;         /* view to be opened: they take turns */
        int64_t deaf_until_ms; /* reads nothing */
        struct page_told told; /* as it was counted */
};

struct sim_page {
        struct sim_page_options options;
        struct loop *loop;
        struct fiber_group *group;
        struct page_desk desk;
        bool open, calm, leaving; /* open: the process runs */
        struct page_user_of users[PAGE_USERS];
        struct map called;  /* "approve cluster-wide name": what the page was asked to do */
        struct map secrets; /* values, as they are and in base64 */
        bool wrote[WISH_RUNS];
        int64_t same_ms;      /* when all was last found to be the same; 0 = it was not */
        int64_t restarted_ms; /* by a user */
        struct error wrong;
};

/* sim_page.c */
int page_desk_open(struct page_desk *d, const struct world *w, const struct http_endpoint *hub,
                   const struct log *log, struct error *err);
void page_desk_close(struct page_desk *d);
int page_desk_enter(struct page_desk *d, struct page_browser *b); /* a session; ERR_NO_MEMORY */
void page_desk_ignore(struct page_use *u);                        /* of what it reads without looking */
void page_note_call(struct sim_page *p, const char *what, const char *ns, const char *name);
void page_hear(void *sim_page, const char *text); /* a message: it holds no secret */
void page_say_wrong(struct sim_page *p, const char *format, ...) PRINTF_LIKE(2, 3);
/* page_user.c: until nobody is left */
void page_user_live(void *user);
bool page_user_listens(const struct page_user_of *u);
/* The arguments of an approval that a run's rows offer; of a run of the fleet that waits for one. New, or
 * NULL. */
json_t *page_user_open_gate(const struct page_sheet *run);
json_t *page_user_waiting_run(const struct page_sheet *fleet);
/* page_compare.c */
void page_glance_on(void *sim_page);                  /* while users play */
bool page_desk_in_trouble(const struct page_desk *d); /* it cannot read what it always reads */
/* page_model.c: against the stores, when all is quiet */
int page_model_check(struct sim_page *p, const struct page_sheet *s, struct error *err);
/* page_model_read.c: against what the page itself has read by now. Does not park. */
int page_model_check_read(struct page_desk *d, const struct page_sheet *s, struct error *err);
bool page_model_is_done(const struct condition_list *l, int64_t generation); /* on a cluster */
/* A placement's rows that are done are so by these bindings. */
int page_model_check_done(const struct page_sheet *s, const struct object_list *bindings, struct error *err);
