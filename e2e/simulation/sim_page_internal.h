/* Shared by sim_page.c (the process, its browsers, what they must hold), page_user.c (what users do) and
 * page_model.c (what the hub's objects say). */
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
        int64_t deaf_until_ms; /* reads nothing */
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
        int64_t same_ms; /* when all was last found to be the same; 0 = it was not */
        struct error wrong;
};

/* sim_page.c */
int page_desk_enter(struct page_desk *d, struct page_browser *b); /* a session; ERR_NO_MEMORY */
void page_note_call(struct sim_page *p, const char *what, const char *ns, const char *name);
/* page_user.c: until nobody is left */
void page_user_live(void *user);
/* page_model.c */
int page_model_check(struct sim_page *p, const struct page_sheet *s, struct error *err);
