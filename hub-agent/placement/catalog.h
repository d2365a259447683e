/* The resources of the hub that can be placed: one metadata-only informer for each kind. A change of an
 * object enqueues the placements that select it. spec/placement.md 4, 12. */
#pragma once

#include "hub-agent/agent.h"

struct catalog_entry {
        struct hub_agent *agent;
        struct kube_resource resource; /* strings owned by the catalog */
        struct informer *informer;
        char kind_key[256]; /* "group/version/Kind" */
        bool seen;          /* in the current round of discovery */
};

struct catalog *catalog_new(struct hub_agent *a);
struct catalog *catalog_free(struct catalog *c);
/* Brings the informers in line with discovery. From a fiber. */
int catalog_refresh(struct catalog *c, struct error *err);
/* Keeps the catalog in line until cancelled: refreshes when CustomResourceDefinitions change. A fiber_fn. */
void catalog_follow(void *catalog);

struct catalog_entry *catalog_find(struct catalog *c, const char *group, const char *version,
                                   const char *kind);
struct catalog_entry *catalog_next(struct catalog *c, struct catalog_entry *previous); /* in a fixed order */

/* Indexes of the placement informers. */
#define INDEX_SELECTOR "selector" /* "group/version/Kind" of every selector */
#define INDEX_SELECTED "selected" /* "group/version/Kind/ns/name" of every selected resource */
void emit_selectors(const struct object *o, index_emit emit, void *to);
void emit_selected(const struct object *o, index_emit emit, void *to);

/* Whether two states of an object would be placed alike, as far as metadata tells. */
bool same_content(const struct object_meta *a, const struct object_meta *b);
