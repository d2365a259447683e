/* What the definitions that come with this program say of a document: values left out, unknown fields, rules.
 * Pure. */
#pragma once

#include "common/json/schema.h"
#include "proto/gen/kinds.h"

/* Of one version of a kind of the fleet. It lives in the arena. ERR_INVALID: there is no such version. */
int manifest_schema(struct arena *arena, const struct kind *kind, const char *version,
                    const struct schema **ret, struct error *err);
/* Values left out get their defaults, in place. ERR_INVALID, with the field first: what is wrong, as the hub
 * would tell it; an unknown field. Texts live in the arena while it works. */
int manifest_complete(struct arena *arena, const struct schema *schema, json_t *doc, struct error *err);
/* The same of a document that takes the place of `old`: *ret is what the hub says against that change, NULL =
 * nothing. Both are complete. */
int manifest_change_problem(struct arena *arena, const struct schema *schema, const json_t *old,
                            const json_t *doc, const char **ret, struct error *err);
