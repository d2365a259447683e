/* Which indexes a placement's snapshots were given before. Bindings name snapshots and Works the index of
 * what they hold, and under the same name contents are not compared again; so a name never stands for two
 * contents, and an index is given once. The snapshots themselves tell which ones were, until somebody deletes
 * them: then it is those who name them that tell. */
#pragma once

#include "common/ctrl/controller.h"
#include "hub-agent/placement/snapshots.h"

struct given { /* the highest index that is named; NO_INDEX: none is */
        int64_t policies, resources;
};
#define NONE_GIVEN ((struct given){ NO_INDEX, NO_INDEX })

/* Pure: raises *g to what one of the placement's bindings, or one of its Works, names. What is being deleted
 * is not used again and does not count: it may be of a former placement of the name. */
void given_by_binding(struct given *g, const char *placement, const struct object *binding);
void given_by_bindings(struct given *g, const char *placement, const struct object_list *bindings);
void given_by_work(struct given *g, const struct object *placement, const struct object *work);

/* The groups of resource snapshots that the placement's bindings and its update runs that have not ended
 * name, as the caches have them; all of them while a run has yet to say which one it takes. taker: the run
 * for which this is asked, and that takes the newest; NULL: none. */
int find_snapshots_in_use(struct reconcile *rc, const struct object *placement, const char *taker,
                          struct snapshots_in_use *ret);
/* From the cache of bindings, which may be behind. */
int given_in_cache(struct reconcile *rc, const struct object *placement, struct given *g);
/* From the cache of Works: of those, too, that outlived a former placement of the name. */
int given_by_works(struct reconcile *rc, const struct object *placement, struct given *g);
/* From the server's bindings, and from the Works that outlived theirs. */
int given_on_server(struct reconcile *rc, const struct object *placement, struct given *g);

/* For those who act on the latest snapshot of the reconcile's placement: ERR_RETRY while an index above its
 * own is in use. Then the cache is behind, or a newer one was deleted, which the intake is made to see; what
 * is decided from an older one takes back what was decided since. */
int check_is_newest(struct reconcile *rc, const struct object *latest, const char *index_label,
                    int64_t given);

/* Calls `each` for the objects of a kind as the server has them; namespace and selector may be NULL. */
int list_on_server(struct reconcile *rc, const struct kind *kind, const char *ns, const char *selector,
                   int (*each)(void *ctx, struct object *o), void *ctx);
/* ERR_RETRY while a snapshot of this owner that is named is on the server and not among those the reconcile
 * has `seen`, also if the cache has heard of it since: what is there is not to be made again. NULL: there was
 * no memory for the name. */
int snapshot_is_known(struct reconcile *rc, const struct kind *kind, const struct object *owner,
                      const char *name, const struct object_list *seen);
