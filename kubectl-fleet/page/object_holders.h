/* Which placements hold one object, and in which of their revisions. A status names what the latest revision
 * selects, and nothing while clusters have several; so revisions that clusters have are read where the status
 * does not tell. Pure. */
#pragma once

#include "kubectl-fleet/page/placement_head.h"

/* Those whose clusters are shown; three needs each, beside the lists of placements. */
#define HOLDERS_MAX 6

struct wanted {
        const char *group, *kind, *ns, *name; /* ns: "" of what is cluster-scoped */
        bool secret;
};

struct held_revision {
        const char *revision;
        bool has;
        const char *envelope; /* what it comes in, "web/mail"; NULL = as it is */
};
struct holder {
        const struct placement *placement;
        bool sure;    /* its status names the object or tells what is wrong with it; else it may hold it */
        bool selects; /* as it is; else in an envelope */
        const char *envelope;
        struct held_revision *at; /* those that clusters have and that could be read */
        size_t n;
        bool revisions_known; /* `at` has all there are */
};
struct holders {
        struct holder *at;
        size_t n; /* sure ones first */
};

bool wanted_is(const struct wanted *w, const struct resource_identifier *id);
/* Whether one of the lists of what is not well on a cluster names it. */
bool wanted_in(const struct wanted *w, const struct failed_placement_list *failed,
               const struct drifted_placement_list *drifted, const struct diffed_placement_list *diffed);
/* From the lists of placements. 0 or ERR_NO_MEMORY. */
int holders_of(const struct page_look *l, const struct wanted *w, struct holders *ret);
/* Its bindings, its Works, and what names the objects of the revisions that clusters have, where that is not
 * told already. */
int holder_needs(const struct page_look *l, const struct holder *h, struct page_needs *ret,
                 struct error *err);
/* Fills the revisions, and what follows from them. 0 or ERR_NO_MEMORY. */
int holder_read_revisions(const struct page_look *l, const struct wanted *w, struct holder *h);
const struct held_revision *holder_revision(const struct holder *h, const char *revision); /* NULL */
bool holder_holds(const struct holder *h);
