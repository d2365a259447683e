/* One value of one object changed in a YAML text, everything else left byte for byte: comments, quotes,
 * order, other documents, line ends. spec/flux-yaml.md 9.3.3. Pure, and work that grows with the text:
 * offload what is long.
 *
 * Only the scalar is written anew, in the quotes it had where they can hold the value, else in others that
 * keep it a string. A member that is not there is added at the end of its mapping, in the mapping's own
 * indentation, with mappings on the way that are missing; in flow style within the braces. A member that is
 * removed goes with its line, a comment behind it on that line included; where it was the last one of its
 * mapping, {} stays. A value that an anchor or an alias shares with others cannot be changed alone: refused.
 */
#pragma once

#include "common/base/buf.h"
#include "hub-agent/manifest-generation/update/workload.h"

/* Which object of a stream, those within kinds ending in List too. */
struct yaml_object {
        const char *kind; /* in any case */
        const char
                *ns; /* the effective one: an object that names none is taken too, unless another names it */
        const char *name;
};

struct yaml_edit {
        struct yaml_object object;
        struct doc_place place;
        const char *value; /* a string; NULL = the member is removed */
};

/* Appends the new text. Nothing to do (the value is there, the member is not) gives the text as it was.
 * ERR_NOT_FOUND: no such object in it, or no place for the value; ERR_INVALID: broken YAML, or shared by an
 * anchor; ERR_LIMIT. The messages give the line. */
int yaml_edit(struct slice text, const struct yaml_edit *e, struct buf *ret, struct error *err);
/* All of them, those of one object in their order. */
int yaml_edit_all(struct slice text, const struct yaml_edit *edits, size_t n, struct buf *ret,
                  struct error *err);
