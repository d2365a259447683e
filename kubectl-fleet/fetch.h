/* What a command reads from the hub, asked for side by side: as few requests as it has kinds to look at,
 * whatever the size of the fleet. */
#pragma once

#include "common/ctrl/informer.h"
#include "kubectl-fleet/session.h"

struct fetch {
        const struct kind *kind;
        const char *ns;       /* NULL = all */
        const char *name;     /* one object by its name; NULL: a list */
        const char *selector; /* labels, of a list; NULL = all */
        bool metadata_only;   /* the objects are struct partial_object */
        bool whole;           /* with what projections leave out */
        bool names_only; /* for the page: of whole resource snapshots what names the objects, and no more */
        bool may_lack;   /* not found, or a kind that the hub does not have, is nothing */
        /* Filled: one object or none for a name; a list is sorted as the hub does, by namespace and name. The
         * objects live as long as the session's arena. */
        struct object_list result;
        bool kind_missing; /* with may_lack: the hub does not have the kind */
};

int fetch_all(struct session *s, struct fetch *fetches, size_t n, struct error *err);
const struct object *fetched(const struct fetch *f); /* the one that was named; NULL = not there */

/* A list whose objects are looked at as pages come in, the first of few objects. `each` as kube_list's. */
int fetch_each(struct session *s, const struct kind *kind, const char *ns,
               int (*each)(void *ctx, struct object *o), void *ctx, struct error *err);

/* Whether a request failed because the server does not have the kind. */
bool fetch_lacks_kind(const struct error *err);

/* "a=b", "a=b,c=d"; NULL on no memory. */
const char *selector_of(struct arena *arena, const char *key, const char *value);
