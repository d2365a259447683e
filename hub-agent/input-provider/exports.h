/* From what a source gave to status.exportedInputs. Pure. spec/resource-set.md 18, 19.1, 20.4. */
#pragma once

#include "hub-agent/input-provider/filter.h"
#include "proto/gen/types.h"

#define EXPORTS_REVISION_SIZE 72 /* "sha256:" and the digest */

/* What gets into the exports in addition to the source's sets. */
struct export_rules {
        const json_t *defaults;  /* an object; NULL = none */
        const char *const *skip; /* skip.labels */
        size_t n_skip;
        const json_t *former; /* exportedInputs as they are; NULL = none */
};

/* New arrays of objects. ERR_LIMIT: they do not fit into the object. */
int exports_of_refs(const struct export_rules *rules, const struct input_ref *refs, size_t n, json_t **ret,
                    struct error *err);
int exports_of_sets(const struct export_rules *rules, const json_t *sets, json_t **ret, struct error *err);
/* spec.defaultValues, of the arena; NULL = none. ERR_INVALID: it is no object. */
int exports_defaults(struct slice text, struct arena *arena, json_t **ret, struct error *err);
int exports_static(const json_t *defaults, const char *uid, json_t **ret, struct error *err);

/* A function of the contents alone. */
int exports_revision(const json_t *exports, char ret[EXPORTS_REVISION_SIZE], struct error *err);
/* As the status holds them, with their revision; of the arena. */
int exports_store(const json_t *exports, struct input_provider_status *into, struct arena *arena,
                  struct error *err);
