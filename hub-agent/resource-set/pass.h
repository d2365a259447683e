/* One run of one ResourceSet: what its steps share. Private to this folder. */
#pragma once

#include "common/base/memory.h"
#include "common/base/vec.h"
#include "hub-agent/agent.h"
#include "hub-agent/flux_account.h"
#include "hub-agent/flux_info.h"
#include "hub-agent/resource-set/build.h"
#include "hub-agent/resource-set/inventory.h"
#include "hub-agent/resource-set/look.h"
#include "hub-agent/resource-set/state.h"

struct set_memory {
        struct memory memory;
        char *trigger; /* "Kind/ns/name" of what wants another run; NULL = nothing does */
        struct flux_info info;
        char *copied; /* " Kind/ns/name " of each object that the last build copied from, one after the other
                       */
};

struct set_pass {
        struct reconcile *rc;
        struct set_memory *memory;
        const struct resource_set *set; /* as it was read */
        const struct object *now;       /* as it is stored by now */
        struct resource_set *wanted;    /* a copy to change: its status is written */
        struct flux_account account;
        struct kube_client kube; /* as whom objects are read and written */
        struct build build;
        char digest[BUILD_DIGEST_SIZE];
        struct set_item *items;
        inventory before, applied;
        struct buf lines; /* of the event */
        size_t n_lines;
        int64_t began_ms, deadline_ms; /* of the loop; waits for health put the deadline off */
        int64_t timeout_ms;            /* of the work, and of each wait for health */
        const char *reason;            /* why it failed: of Ready */
        bool told;                     /* that it failed is in the status */
};

int pass_write_status(struct set_pass *p);
/* "Kind/ns/name created", a line of the event. */
int pass_tell(struct set_pass *p, const char *words, const char *what);
/* The event itself, if there is a line; of the step that is named, or of all. */
void pass_flush(struct set_pass *p, const char *step);
int pass_say_running(struct set_pass *p, const char *message); /* NULL counts as no memory */

int pass_copy(struct set_pass *p, struct error *err);  /* what objects take from others: 6 */
int pass_apply(struct set_pass *p, struct error *err); /* all steps */
int pass_apply_stage(struct set_pass *p, struct set_item *at, size_t n, enum apply_stage stage,
                     struct error *err);
int pass_replace_failed_jobs(struct set_pass *p, const struct set_item *items, size_t n, struct error *err);
int pass_collect(struct set_pass *p, const inventory *stale, struct error *err);
int pass_await_health(struct set_pass *p, const struct set_item *items, size_t n, int64_t timeout_ms,
                      struct error *err);
/* A live document; *ret NULL if there is none. Kept in the arena. */
int pass_read(struct set_pass *p, struct kube_client *kube, const struct kube_resource *r, const char *ns,
              const char *name, json_t **ret, struct error *err);

/* An object that was deleted. */
struct gone {
        const struct kube_resource *resource;
        const char *ns, *name, *uid;
};
/* Waits until it is; another one of that name counts as gone, one that cannot be read does not. ERR_TIMEOUT
 * when it is still there at the deadline, a time of the loop, or why it cannot be read then. */
int pass_await_gone(struct set_pass *p, const struct gone *o, int64_t poll_ms, int64_t deadline_ms,
                    struct error *err);
/* ERR_RETRY once the work of the run has taken longer than it may. */
int pass_check_time(struct set_pass *p, struct error *err);
/* Whether something happened that another run is for. */
bool pass_is_overtaken(struct set_pass *p);
