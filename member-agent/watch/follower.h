/* List, then watch, without a cache: every object is decoded, shown to a handler and dropped, so that
 * following a kind with a hundred thousand objects costs one page of memory. What must be remembered, the
 * handler remembers (a row of the inventory, two numbers per pod). Broken watches are resumed, an expired
 * resourceVersion leads to a new list. An object that cannot be decoded is logged; with metadata_only it is
 * shown with nothing but name, namespace, uid and resourceVersion, else it is passed over. */
#pragma once

#include "common/kube/client.h"

struct follower_options {
        struct kube_client *kube;
        const struct kind *kind;              /* how objects are decoded */
        const struct kube_resource *resource; /* NULL = the kind's own; copied */
        const char *ns, *field_selector;      /* NULL = all; borrowed */
        bool metadata_only;
        /* Called on the follower's fiber; must not park. `begin` starts a list: what is not shown until `end`
         * is gone. */
        void (*begin)(void *ctx);
        void (*object)(void *ctx, const struct object *o, bool deleted);
        void (*end)(void *ctx);
        /* follower_current() or follower_problem() says something else now. May be NULL. */
        void (*turned)(void *ctx);
        void *ctx;
};

struct follower;
struct follower *follower_new(struct fiber_group *group, const struct follower_options *o, struct error *err);
struct follower *follower_stop(struct follower *r); /* from a fiber; returns NULL */
/* The last list was complete and the watch is open: what the handler knows is current. */
bool follower_current(const struct follower *r);
const char *follower_problem(const struct follower *r); /* "" if none */
