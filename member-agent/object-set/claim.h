/* Whose an object is, and what this set may do with it: spec/cluster-object-set.md 8.2, 8.3 and 9. Pure: one
 * live document in, a decision out. */
#pragma once

#include "member-agent/object-set/set.h"

enum claim {
        CLAIM_CREATE,     /* there is none */
        CLAIM_KEEP,       /* ours: want_compare() says what is to be done */
        CLAIM_ADOPT,      /* to become ours */
        CLAIM_PROGRESSED, /* a newer sibling has it: leave it, judge it */
        CLAIM_COLLISION,  /* another's: leave it, hold the phase */
        CLAIM_GOING       /* ours, or to be adopted, and being deleted: wait until it is gone */
};
struct claim_input {
        const struct set_identity *set;
        const struct set_identity *siblings;
        size_t n_siblings;
        const struct set_object *object;
        const json_t *live; /* NULL = absent */
        /* The set itself was read from the server in this pass and is not being deleted: then what lost its
         * controller and still has a revision annotation may be adopted. */
        bool set_is_fresh;
};
struct claim_result {
        enum claim claim;
        bool needs_fresh_set;     /* COLLISION only for want of set_is_fresh: read it and ask again */
        const json_t *controller; /* the owner reference that decides; NULL = none. Borrowed from live */
};
/* ERR_INVALID: the revision annotation is no number. */
int claim_decide(const struct claim_input *in, struct claim_result *ret, struct error *err);

/* 9: the report of one collision, with its plain first sentence. NULL on no memory. */
const char *claim_collision_words(const struct claim_input *in, const struct claim_result *r,
                                  struct arena *arena);
/* "revision object collisions in phase %d\n…" */
const char *claim_phase_words(size_t index, const char *const *reports, size_t n, struct arena *arena);
