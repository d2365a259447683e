/* The resources of the hub that can be placed: one metadata-only informer for each kind. A change of an
 * object enqueues the placements that select it. spec/placement.md 4, 12. */
#pragma once

#include "hub-agent/agent.h"

/* A kind in one version. What a reference holds keeps its names; the informer goes with the kind. */
struct catalog_entry {
        struct hub_agent *agent;
        struct kube_resource resource; /* strings owned by the entry */
        const char *kind_key;          /* "group/version/Kind", owned */
        struct informer *informer;     /* NULL once the kind was let go */
        unsigned refs;
        bool preferred; /* the version in which a namespace's content is taken */
        bool stale;     /* the server cannot tell of it at present: kube_mapped */
        bool missing;   /* discovery lacks it; kept until it is known to be gone */
        bool seen;      /* in the current round of discovery */
        bool awaited;   /* a fiber waits for the cache */
        int64_t missing_since_ms, awaited_since_ms; /* loop times */
        struct fiber_group *waiting;
};

struct catalog *catalog_new(struct hub_agent *a);
struct catalog *catalog_free(struct catalog *c); /* parks */
/* Brings the informers in line with discovery. A kind is let go only when two readings a minute apart lack
 * it, and neither a definition nor a registration promises it: letting go takes its objects off the members.
 * From a fiber. */
int catalog_refresh(struct catalog *c, struct error *err);
/* Whether every kind that was found at the start has had its cache filled once; why not, in fixed words:
 * spec/membership-webhooks-charts.md 7.2. A kind that cannot be listed is waited for a minute, for it may be
 * a tenant's who broke it; and what comes later makes nothing unready, or whoever makes a kind could. */
bool catalog_ready(struct catalog *c, struct buf *why_not);
/* Keeps the catalog in line until cancelled: refreshes when definitions of kinds change. A fiber_fn. */
void catalog_follow(void *catalog);

/* Borrowed until the next park; take a reference to keep. */
struct catalog_entry *catalog_find(struct catalog *c, const char *group, const char *version,
                                   const char *kind);
struct catalog_entry *catalog_find_kind(struct catalog *c, const char *group,
                                        const char *kind);    /* any version */
struct catalog_entry *catalog_definitions(struct catalog *c); /* the CustomResourceDefinitions, or NULL */
/* The same; a version that is served, but not preferred, is taken in. NULL: not served. */
struct catalog_entry *catalog_demand(struct catalog *c, const char *group, const char *version,
                                     const char *kind);
struct catalog_entry *catalog_next(struct catalog *c, struct catalog_entry *previous); /* in a fixed order */
struct catalog_entry *catalog_entry_ref(const struct catalog_entry *e);
void catalog_entry_unref(void *entry);

/* The entry's cache is not filled: the placements it concerns are queued when it is. Milliseconds since
 * somebody began to wait. Does not park. */
int64_t catalog_await(struct catalog_entry *e);
/* Parks until the kinds of the hub have been read again: 0 or ERR_CANCELLED. */
int catalog_await_reading(struct catalog *c);
/* Whether a kind of the group that the catalog lacks is not served for good, as far as discovery tells; if it
 * is too early to say, it is looked at again in time. Definitions are not asked. */
bool catalog_lacks_for_good(struct catalog *c, const char *group);

/* Index of the catalog's informers. */
#define INDEX_NAMESPACE "namespace"

/* Indexes of the placement informers. */
#define INDEX_SELECTOR "selector" /* "group/version/Kind" of every selector */
#define INDEX_SELECTED "selected" /* "group/version/Kind/ns/name" of every selected resource */
void emit_selectors(const struct object *o, index_emit emit, void *to);
void emit_selected(const struct object *o, index_emit emit, void *to);

/* Whether two states of an object would be placed alike, as far as metadata tells. */
bool same_content(const struct object_meta *a, const struct object_meta *b);
