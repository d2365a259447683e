/* Approves an approval request of a staged update run: spec/staged-update-and-eviction.md 17.1. What `kubectl
 * fleet approve` and the live page have in common. */
#pragma once

#include "common/kube/client.h"

struct approval {
        struct kube_client *hub;
        struct arena *arena;
        const struct kind *kind; /* of approval_kind_of() */
        const char *ns, *name;   /* ns: NULL without a namespace */
        /* Of the plan that is approved, and no other; "" = none is shown; NULL = whatever is shown. */
        const char *plan_hash;
        bool commands; /* a refusal says what is to be typed */
};
/* "careq", "ClusterApprovalRequest", "areq", "ApprovalRequest", in any case; NULL = neither. */
const struct kind *approval_kind_of(const char *name);
/* `ClusterApprovalRequest "a"`, `ApprovalRequest "a" in namespace "b"`; NULL on no memory. */
const char *approval_words(const struct approval *a);
/* Reads, checks, writes; once more does no harm. Parks. *ret_changed: it was not approved, or another plan.
 * ERR_CONFLICT: to be tried again (conflicts.h). ERR_INVALID: it shows another plan. The text does not name
 * the request, unless it cannot be read. */
int approval_write(const struct approval *a, bool *ret_changed, struct error *err);
