/* What of a manifest is compared, hashed and sent: spec/member-agent.md 2.10 (sanitize) and 2.11 (clean,
 * hash). */
#pragma once

#include "common/json/doc.h"
#include "proto/names.h"

/* Removes, in place, everything a comparison must not look at: identity, server-set metadata, status, owner
 * references, and labels and annotations of reserved domains. Maps and lists that were cleared stay as {} and
 * []. */
int clean_for_comparison(json_t *doc, struct error *err);
/* SHA-256 (hex) over the canonical text of the cleaned manifest. `manifest` is not changed. */
int clean_hash(const json_t *manifest, char ret[65], struct error *err);
/* Removes, in place, what a manifest must not carry to the API server. */
int clean_for_apply(json_t *doc, struct error *err);
/* Removes, in place, what the hub's API server chose for one object and the member's chooses anew: of a Job
 * without manualSelector the selector and the labels with its uid. What is left empty goes too: applied on
 * the server side it would be an emptied selector. Merged on the client side it changes nothing, so there it
 * stays, as in what the reference agent last applied. */
void clean_generated(json_t *doc);
/* Reads an annotation or a label (keys hold dots, so doc_get cannot); NULL if absent. */
const char *clean_annotation(const json_t *doc, const char *key);
const char *clean_label(const json_t *doc, const char *key);
/* Sets it; anything but an object in the place of the annotations or labels gives way. */
int clean_set_annotation(json_t *doc, const char *key, const char *value, struct error *err);
int clean_set_label(json_t *doc, const char *key, const char *value, struct error *err);
