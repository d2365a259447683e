/* Which objects of the hub a placement selects, from the metadata caches, and their bodies.
 * spec/placement.md 6. */
#pragma once

#include "hub-agent/placement/catalog.h"
#include "hub-agent/placement/snapshots.h"

struct chosen {
        const struct catalog_entry *entry; /* referenced by the reconcile's arena */
        const struct object *meta;
};
struct chosen_list {
        struct chosen *at;
        size_t n, cap;
};

/* Why a placement's selection cannot be carried out, in words for its condition. All zero: it can. */
struct refusal {
        const char *words; /* NULL: there is nothing to tell yet */
        bool passing;      /* not the user's doing: it is tried again soon */
};
static inline bool is_refused(const struct refusal *r)
{
        return r->words || r->passing;
}

/* Sorted as spec 6.1. With a refusal nothing was chosen; when it is for a cache that is filling, the
 * placement is queued when that is filled. Does not park. */
int select_resources(struct reconcile *rc, const struct placement *p, struct chosen_list *ret,
                     struct refusal *ret_refusal);
/* Changes whenever the content of what was chosen may have. */
void chosen_fingerprint(const struct chosen_list *l, char ret[65]);
/* Reads, cleans and encodes the bodies. *ret_ids names what is in the selection, in order. Refused when a
 * kind of them is not served. */
int read_selection(struct reconcile *rc, const struct chosen_list *l, struct selection *ret,
                   struct resource_identifier_list *ret_ids, struct refusal *ret_refusal);
/* The snapshot of what is selected now, made if there is none yet, however soon after the one before: for a
 * reconcile in the placement's namespace, by the update run of that name. With a refusal there is none. */
int take_resource_snapshot(struct reconcile *rc, const struct placement *p, const char *run,
                           const struct resource_snapshot **ret, struct refusal *ret_refusal);
/* A binding or an update run names the group of that index no more: it goes, if it was kept for that alone.
 * NO_INDEX: a run that held all of them says now which one it takes. */
void intake_let_go(struct hub_agent *a, const char *ns, const char *placement, int64_t index);
/* Asks the server whether there is any object of a resource in a namespace (NULL: all). */
int peek_resource(struct reconcile *rc, const struct kube_resource *r, const char *ns, bool *ret_any);
/* What the snapshots hold now and the selection would drop may only go because its objects went, not because
 * nobody can tell of its kind: refused while a held kind is not served and not known to be gone. */
int check_held_kinds(struct reconcile *rc, const struct resource_identifier_list *held,
                     struct refusal *ret_refusal);
/* The identity of stored resources. */
int identify_resources(struct arena *arena, const struct raw_list *resources,
                       struct resource_identifier_list *ret, struct error *err);
/* That of what the group of snapshots with an index holds; empty when there is no such group, ERR_RETRY while
 * it is incomplete. */
int identify_group(struct reconcile *rc, const struct object_list *snapshots, const char *index,
                   struct resource_identifier_list *ret);
