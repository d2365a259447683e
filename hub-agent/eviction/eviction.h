/* Evictions and disruption budgets: whether a placement's resources may be taken off a cluster now, and what
 * its eviction says. Pure. spec/staged-update-and-eviction.md 14-16.
 *
 * An eviction is decided once, and its decision is stored before it is carried out: one write of the status
 * holds Valid=True and `decision`, which says of what uid and version the binding is that is deleted then,
 * and what Executed will say. The deletion is bound to that uid and version; Executed takes the place of
 * `decision` when it is through. So whoever finds a decision, after a crash at whatever point, knows:
 *   - that binding is gone, or going: the decision was carried out, and Executed says its message;
 *   - it is there: nothing was deleted so far, and it is decided again from what is true now.
 * In the second case a request to delete may still be under way. If the answer is no this time, the binding
 * is touched first (`touch`): of that version nothing can be deleted any more. */
#pragma once

#include "hub-agent/common.h"

struct eviction_input {
        const struct eviction *eviction;
        const struct placement *placement;      /* NULL: there is none of the name */
        const struct disruption_budget *budget; /* of the placement's name; NULL: none */
        struct object_list bindings;            /* of the placement, all, as the server has them */
        /* Uids of bindings that other evictions decided to delete: they count as unavailable. */
        const char *const *decided;
        size_t n_decided;
        /* Whether the binding's Works say that they failed (works_have_failed); NULL = they do not. */
        int (*works_failed)(void *ctx, const struct binding *b, bool *ret);
        void *ctx;
        int64_t now_ms;
};

/* In this order: touch, write, remove, and then Executed=True with `message`. */
struct eviction_plan {
        const struct binding *touch;
        struct eviction *wanted; /* with the status to write now */
        const struct binding *remove;
        const char *message; /* with `remove`: what Executed will say */
};

/* Whether nothing is to be done about it, now or ever: spec 14.1 step 2. One that is being deleted gets no
 * new decision. */
bool eviction_is_over(const struct eviction *e);
/* Fails for want of memory, or with what works_failed fails with. */
int plan_eviction(struct arena *arena, const struct eviction_input *in, struct eviction_plan *ret,
                  struct error *err);
/* The eviction with Executed=True in place of its decision; NULL on no memory. */
struct eviction *eviction_executed(struct arena *arena, const struct eviction *e, const char *message,
                                   int64_t now_ms);

/* ---- budgets (spec 15) ---- */

/* How many evictions it allows now. `n_wanted` is what percentages are of. */
int64_t budget_allows(const struct disruption_budget *b, int64_t n_wanted, size_t available, size_t total);
/* Of a PickAll nobody knows how many clusters it will have: only a number of available ones is measurable. */
bool budget_is_misconfigured(const struct disruption_budget *b, const struct placement *p);
/* As the placement's policy says; "PickAll" without one. */
const char *placement_type_of(const struct placement *p);

/* ---- what a webhook is to say (spec 16) ---- */

struct admission {
        bool allowed;
        const char *message; /* why, also of what is allowed; NULL: there is nothing to say */
};
/* Of a new eviction; `p` is its placement, NULL: there is none. */
int eviction_admission(struct arena *arena, const struct placement *p, struct admission *ret,
                       struct error *err);
/* Of a new or changed budget; `p` is the placement of its name, NULL: there is none. */
int budget_admission(struct arena *arena, const struct disruption_budget *b, const struct placement *p,
                     struct admission *ret, struct error *err);
