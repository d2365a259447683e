/* JSON text as Go's encoder writes typed values: fields in the order of the calls, keys of maps sorted, <, >
 * and & escaped. Hashes of specs are taken over it, so that snapshots of the reference are taken over
 * unchanged. spec/placement.md 6.3, spec/rollout-and-work.md 1.4. What goes wrong is kept in the buffer:
 * buf_status(). */
#pragma once

#include "common/base/buf.h"
#include "proto/gen/types.h"

void go_put_string(struct buf *b, const char *s);
void go_put_key(struct buf *b, const char *key); /* with the comma before it, unless it is the first */
/* A string field; an empty one only with `always`. */
void go_put_field(struct buf *b, const char *key, const char *value, bool always);
void go_put_strings(struct buf *b, const char *key, const struct string_list *l, bool always);
void go_put_label_selector(struct buf *b, const struct label_selector *s); /* with its key */
void go_put_cluster_selector(struct buf *b, const struct cluster_selector *s);
void go_put_term(struct buf *b, const struct cluster_selector_term *t);
/* A value whose text is kept as it is: Go takes out white space and escapes, and leaves numbers and the order
 * of keys alone. */
void go_put_raw(struct buf *b, struct slice json);
