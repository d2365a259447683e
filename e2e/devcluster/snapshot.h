/* The objects of a table as they were at an earlier version, as far as the history reaches back: in order of
 * namespace and name, without a copy of the table. Nothing may be written to it in between. */
#pragma once

#include "e2e/devcluster/store.h"

struct changed_object {
        struct blob *then, *any; /* then: as it was, NULL = it was not there; any: has its name */
};

struct snapshot {
        const struct table *table;
        size_t at; /* in the table */
        VEC(struct changed_object) changed;
        size_t next; /* in `changed` */
};

/* From namespace and name on; table may be NULL. The caller has seen that version >= compacted_rv.
 * ERR_NO_MEMORY. */
int snapshot_begin(struct snapshot *s, const struct table *t, uint64_t version, const char *ns,
                   const char *name);
struct blob *snapshot_next(struct snapshot *s); /* borrowed; NULL at the end */
void snapshot_end(struct snapshot *s);
