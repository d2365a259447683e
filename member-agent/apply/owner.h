/* Owner references of applied objects: who owns an object, who may take it over:
 * spec/member-agent.md 2.2, 2.7, 2.10. */
#pragma once

#include "common/json/doc.h"
#include "member-agent/apply/strategy.h"

#define APPLIED_WORK_API_VERSION "placement.kubernetes-fleet.io/v1beta1"
#define APPLIED_WORK_KIND "AppliedWork"

/* The AppliedWork on whose behalf this pass works. */
struct owner {
        const char *name, *uid;
};

json_t *owner_reference_new(const struct owner *o); /* new; NULL on no memory */
/* Our reference among those of `doc` (uid, name, kind and apiVersion equal); NULL if absent. */
json_t *owner_find(const json_t *doc, const struct owner *o);
size_t owner_count(const json_t *doc);
bool owner_is_sole(const json_t *doc, const struct owner *o); /* no reference is another's */
bool owner_is_applied_work(const json_t *reference);

/* Step 1 of 2.7: which references stay. `is_orphan` says whether an AppliedWork of that name has no Work any
 * more. A reference to our own AppliedWork under an outdated UID is dropped too. *ret is a new array. */
typedef int (*owner_is_orphan)(void *ctx, const char *work_name, bool *ret, struct error *err);
int owner_remaining(const json_t *live, const struct owner *o, owner_is_orphan is_orphan, void *ctx,
                    json_t **ret, struct error *err);
/* Steps 2 and 3: may we join the references that stay? 0 or ERR_INVALID with the cause. */
int owner_may_take_over(const json_t *remaining, const struct owner *o, bool allow_co_ownership,
                        struct error *err);
/* 2.10 step 3: 0 or ERR_INVALID with the rule that is broken. `live` NULL = not created yet. */
int owner_check_before_apply(const json_t *manifest, const json_t *live, const struct owner *o,
                             bool allow_co_ownership, struct error *err);
/* Removes our reference from a copy of `live`. */
int owner_without(const json_t *live, const struct owner *o, json_t **ret, struct error *err);
/* The references of `live` with those to the AppliedWorks of the given uids replaced by one to `to` (which
 * may be among them already). *ret is a new array. */
int owner_swapped(const json_t *live, const char *const *uids, size_t n, const struct owner *to, json_t **ret,
                  struct error *err);
/* A merge patch that sets these references, bound to the resourceVersion of `live`; new, NULL on no memory.
 */
json_t *owner_patch(const json_t *live, json_t *references);
