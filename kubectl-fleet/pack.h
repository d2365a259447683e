/* Plain manifests become a ClusterObjectSet and the immutable Secrets that hold them, named by what they
 * hold: spec/cluster-object-set.md 5.1, 16.1, 16.2. Pure: equal manifests give equal results. */
#pragma once

#include "common/json/doc.h"
#include "proto/names.h"

#define PACK_SECRET_BYTES (900 * 1024) /* all values of one Secret; what is longer alone is gzipped */

struct pack_wish {
        const char *owner;      /* the group of revisions: the set is called OWNER-REVISION */
        const char *ns;         /* of the Secrets */
        const char *protection; /* collisionProtection */
        int64_t revision, deadline_minutes /* 0 = none */;
};
struct packed {
        json_t *secrets; /* array, new */
        json_t *set;     /* new */
        /* Objects that need a namespace and have none (a set has no default one): the first in words, the
         * arena's, and how many. */
        const char *homeless;
        size_t n_homeless;
};

/* Which of the phases (5.1) objects of a kind belong to, and whether they are known to be in a namespace. */
struct pack_place {
        size_t phase; /* index of pack_phase_names */
        bool namespaced;
};
struct pack_place pack_place_of(const char *group, const char *kind);
extern const char *const pack_phase_names[];

/* Packs an array of manifests; a List is taken for what it holds. What a server fills in is left out, and so
 * is status. More than fifty objects of one phase go into several: NAME, NAME-2, ... ERR_INVALID names object
 * and rule. */
int pack_set(const struct pack_wish *wish, const json_t *manifests, struct arena *arena, struct packed *ret,
             struct error *err);
void packed_free(struct packed *p);
/* Whether a set is, by its content, what was packed (16.2). */
bool pack_equal(const json_t *set, const struct packed *p);
