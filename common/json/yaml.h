/* What the YAML reader and writer share, and who writes scalars into a text. */
#pragma once

#include "common/json/doc.h"

/* The document value of a plain scalar by sigs.k8s.io/yaml's rules (new; a string if nothing else fits). NULL
 * on no memory. Not-a-number and infinities, which JSON cannot hold, give *ret_bad = true and NULL. */
json_t *yaml_plain_value(struct slice text, bool *ret_bad);
/* True if the text, written plain, would read back as something other than that string: it must be quoted. */
bool yaml_needs_quotes(struct slice text);
/* As doc_walk(), of a text that is no JSON. */
int yaml_walk(struct slice text, const struct doc_walk *w, struct error *err);
