/* Objects at rest: the same values in about a quarter of the bytes, for caches that hold hundreds of
 * thousands and read few of them at a time. What is in the intern table is told by its number there, what is
 * absent by a bit, times by what lies between them, uids and versions in binary. A stowed object is read by
 * unstowing it, which is as much work as copying it. */
#pragma once

#include "proto/object.h"

struct stowed;

/* `o`, a block that was decoded with `interns` (NULL: with none), stowed; the caller's, for stowed_free().
 * `key` is kept in front, for maps that borrow their keys. `scratch` is used and may be used again. NULL on
 * no memory. */
struct stowed *object_stow(const struct object *o, const char *key, const struct intern_table *interns,
                           struct buf *scratch);
enum stowed_part {
        STOWED_WHOLE,
        STOWED_WITHOUT_DETAIL, /* lists that are FIELD_DETAIL are absent, and cost nothing */
        STOWED_WITHOUT_STATUS, /* so are those, and the status too, which costs only its place */
};
/* As it was: a block with one reference, the caller's. It has the kind and the table that it was stowed with.
 * NULL on no memory. */
struct object *object_unstow(const struct stowed *p, const struct kind *kind,
                             const struct intern_table *interns, enum stowed_part part);
void stowed_free(struct stowed *p); /* NULL is fine */
const char *stowed_key(const struct stowed *p);
size_t stowed_bytes(const struct stowed *p);
