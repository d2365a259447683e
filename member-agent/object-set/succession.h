/* Revisions of one owner among each other: which is over, which are replaced, which records are kept:
 * spec/cluster-object-set.md 4.3, 16.3. Pure. */
#pragma once

#include "member-agent/object-set/set.h"

/* Sets as caches have them; `others` may hold any. */
struct set_list {
        const struct cluster_object_set **at;
        size_t n;
};

/* A sibling (4.2) with a higher number that has succeeded: then `s` is archived without creating anything.
 * NULL if there is none. */
const struct cluster_object_set *succession_successor(const struct cluster_object_set *s,
                                                      const struct set_list *others);
/* The siblings with a lower number: a set that is complete archives them. */
bool succession_replaces(const struct cluster_object_set *s, const struct cluster_object_set *other);
int succession_replaced(const struct cluster_object_set *s, const struct set_list *others,
                        struct arena *arena, struct set_list *ret, struct error *err);

#define SUCCESSION_RECORDS 5
/* The sets of the owner of `s` that nobody needs as records any more: archived and taken down, not placed by
 * a Work, and older than the newest so many that are archived. Sets of no owner are nobody's records. */
int succession_forgotten(const struct cluster_object_set *s, const struct set_list *all, struct arena *arena,
                         struct set_list *ret, struct error *err);
