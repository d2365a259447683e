/* Sees at once when an applied object changes or vanishes: one metadata-only watch per kind in the inventory.
 * An event is compared with the resourceVersion of the inventory's row; what the agent wrote itself wakes
 * nobody, anything else wakes the Works that hold the object. Objects that are not in the inventory cost one
 * look-up. */
#pragma once

#include "common/kube/client.h"
#include "member-agent/store/store.h"

struct applied_watch;
struct applied_watch_options {
        struct kube_client *kube;
        struct store *store;
        const struct log *log;
        /* A row's Work or set, and the object's metadata as they are now; NULL if it is gone. Must not park.
         */
        void (*changed)(void *ctx, const char *holder, const struct object *now);
        /* applied_watch_current() or applied_watch_lists() says something else now. Must not park. */
        void (*turned)(void *ctx);
        void *ctx;
};
struct applied_watch *applied_watch_new(struct fiber_group *group, const struct applied_watch_options *o,
                                        struct error *err);
struct applied_watch *applied_watch_free(struct applied_watch *w);
/* Follows a resource from now on; again is fine. */
int applied_watch_want(struct applied_watch *w, const struct kube_resource *resource, struct error *err);
/* Starts what the inventory names, stops what it no longer names. From a fiber. */
int applied_watch_reconcile(struct applied_watch *w, struct error *err);
/* The watch of this resource is complete and open: the inventory's `seen` is current. */
bool applied_watch_current(const struct applied_watch *w, const char *group, const char *plural);
/* It is followed and neither current nor failed yet: a list is on the way, which will tell. */
bool applied_watch_lists(const struct applied_watch *w, const char *group, const char *plural);
size_t applied_watch_count(const struct applied_watch *w);

#define SEEN_GONE "gone" /* instead of a resourceVersion: the object does not exist */
