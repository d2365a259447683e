/* What is taken out of objects, logs and metrics before they go into a support bundle. Pure. What is hidden
 * leaves BUNDLE_HIDDEN behind, so that it shows that there was something. */
#pragma once

#include "common/json/doc.h"

#define BUNDLE_HIDDEN "<hidden>"

/* Changes the document in place:
 * - values of Secrets, wherever such an object stands; messages of conditions of a Secret, or of an envelope,
 *   which may hold some;
 * - both values of what drifted or differs: they are of manifests; paths and reasons stay;
 * - statuses of manifests that were brought back; what a ClusterProfile holds for plugins;
 * - manifests, of Works, snapshots, envelopes, sets: what they are called stays;
 * - values of overrides, inputs and templates of ResourceSets and of their steps, values of charts;
 * - values of what is called a token, a password, a secret or a key, as environment variables;
 * - managed fields, and what kubectl applied last.
 * ERR_NO_MEMORY. */
int bundle_hide_object(json_t *doc, struct error *err);

/* Appends the text without tokens, passwords in URLs and behind their names, authorisation headers, private
 * keys and kubeconfigs' credentials. What it is given of JSON stays JSON. */
int bundle_hide_text(struct slice text, struct buf *ret);
/* What bundle_hide_text() hides the values behind, one by one; NULL behind the last. */
const char *bundle_hidden_name(size_t i);
