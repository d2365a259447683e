/* In what order objects are applied and deleted. Pure. spec/resource-set.md 9.1, 11.3. */
#pragma once

#include "hub-agent/resource-set/build.h"

enum apply_stage { STAGE_DEFINITIONS, STAGE_CLASSES, STAGE_ROLES, STAGE_REST, N_APPLY_STAGES };

struct object_place {
        struct slice group;
        const char *kind, *ns, *name; /* ns "" = none */
};
enum apply_stage apply_stage_of(const struct object_place *o);
/* Within a stage: negative if `a` comes first. */
int apply_compare(const struct object_place *a, const struct object_place *b);
struct object_place place_of_doc(const json_t *doc);
/* By step, stage and within it: negative if `a` comes first. */
int built_compare(const struct built_object *a, const struct built_object *b);
/* Those that go first, and are waited for: they have others let go of what they made. */
bool collected_first(struct slice group);
