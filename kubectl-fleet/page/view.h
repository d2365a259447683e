/* What a view of the live page is: a pure function from what the hub has to a head and rows. The session
 * keeps what a view reads up to date, has it look again after each change, and sends what is different
 * (docs/page.md). Each view stands in a file of its own, x_view.c, which ends in its `struct page_view`;
 * views.c lists them. */
#pragma once

#include "kubectl-fleet/fetch.h"

struct page_journal;

/* One thing a view reads. As a command's fetch, but kept by an informer that all who look share. Of a list of
 * all placements, clusters' conditions that are True have neither message nor time (source.h). */
struct page_need {
        struct fetch fetch; /* `result` is filled before need() and look() are called */
        bool filled;        /* it was read at least once; else `result` is empty */
        /* Why it cannot be read now: missing rights, the hub is away; NULL = none. What was read before stays
         * in `result`. The session tells of it ("hidden"), the view need not. */
        const char *problem;
        int code; /* of the problem: ERR_FORBIDDEN, ERR_RETRY ...; 0 = none */
};
#define PAGE_NEEDS_MAX 20
struct page_needs {
        struct page_need at[PAGE_NEEDS_MAX];
        size_t n;
};

struct page_look {
        struct arena *arena; /* dies after the look, with all results */
        const json_t *args;  /* an object, of strings unless the view says otherwise */
        int64_t now_ms;      /* wall time */
        const struct page_needs *needs;
        const struct page_journal *journal;
};

struct page_doc;

struct page_view {
        const char *name; /* in requests: "fleet" */
        /* The whole set of what is to be read, from the arguments and from what was read so far (l->needs;
         * none at first): called before each look, so that one thing read may name the next. What is no
         * longer in the set is let go. Strings live in l->arena. ERR_INVALID names the argument and the rule.
         */
        int (*need)(const struct page_look *l, struct page_needs *ret, struct error *err);
        /* Draws. Not called before every need is filled or has a problem. ERR_NOT_FOUND: what the arguments
         * name is not there (any more); the text is shown in place of the view, which goes on when it is
         * there. */
        int (*look)(const struct page_look *l, struct page_doc *d, struct error *err);
};
extern const struct page_view *const page_views[]; /* ends in NULL */

/* All kinds that views read, and no others; ends in NULL. In a pod the page has the rights of
 * charts/hub-agent/files/rules-page.yaml, which names the same (page_kinds_test.c). */
extern const struct kind *const page_kinds[];

/* Adds a fetch; the fields that are not named are those of `f`. 0 or ERR_LIMIT. */
int page_needs_add(struct page_needs *n, struct fetch f, struct error *err);
int page_needs_add_all(struct page_needs *n, const struct fetch *f, size_t count, struct error *err);
/* The need of that kind, the n-th; NULL = there is none. */
const struct page_need *page_need_of(const struct page_look *l, const struct kind *kind, size_t nth);

/* An argument. ERR_INVALID if it is no string, or absent or empty where it is needed. */
int page_arg(const struct page_look *l, const char *name, const char **ret, struct error *err);
const char *page_arg_or(const struct page_look *l, const char *name, const char *fallback);

/* ---- what a view draws: one head, and rows by part and key ---- */

/* Taken, also on failure; NULL is ERR_NO_MEMORY. Strings of more than PAGE_TEXT_MAX bytes are cut and end in
 * words that say so. A look that draws no head draws {}. ERR_INTERNAL: a row was drawn twice; ERR_LIMIT. */
#define PAGE_TEXT_MAX (16u << 10)
int page_head(struct page_doc *d, json_t *head);
int page_row(struct page_doc *d, const char *part, const char *key, json_t *row);
/* Whether that row was drawn from the same `stamp` last time: then it stays, and is not built again. The
 * stamp stands for everything that the row shows (never 0); page_row_stamped() remembers it with the row. */
bool page_row_stays(struct page_doc *d, const char *part, const char *key, uint64_t stamp);
int page_row_stamped(struct page_doc *d, const char *part, const char *key, uint64_t stamp, json_t *row);
/* Identity and version of an object in a stamp: page_stamp(page_stamp(PAGE_STAMP, a), b). NULL counts, too:
 * as a text, and as an object. */
#define PAGE_STAMP UINT64_C(0xcbf29ce484222325)
uint64_t page_stamp(uint64_t stamp, const struct object *o);
uint64_t page_stamp_text(uint64_t stamp, const char *text);

/* What a view keeps for its next look at the same, to save work and for nothing else: NULL at first. What was
 * kept before is destroyed; the last goes with the document. */
void *page_kept(const struct page_doc *d);
void page_keep(struct page_doc *d, void *kept, void (*destroy)(void *kept));

/* Who looks. */
struct page_user {
        const char *name;        /* for people; "" = whoever started the page */
        struct kube_client *hub; /* with the rights of the user: for what is written or tried */
        struct world *world;
};

/* ---- what a user does: answered once ---- */
struct page_action {
        const char *name; /* "approve" */
        /* Parks. *ret: new, an object. The error's text is shown. */
        int (*run)(const struct page_user *u, const json_t *args, struct arena *arena, json_t **ret,
                   struct error *err);
};
extern const struct page_action *const page_actions[]; /* ends in NULL */
