/* Label selectors: as typed fields, as documents, and as query text. */
#pragma once

#include "proto/gen/types.h"

bool label_selector_matches(const struct label_selector *s,
                            const struct string_map *labels); /* NULL s matches nothing; empty matches all */
int label_selector_check(const struct label_selector *s, struct error *err); /* operators, values, syntax */
int label_selector_print(const struct label_selector *s, struct buf *b);     /* "a=b,c in (d,e)" */

/* Query text as clients send it ("a=b,c!=d,e in (f,g),!h"). */
struct label_query;
int label_query_parse(struct arena *arena, const char *text, struct label_query **ret, struct error *err);
bool label_query_matches(const struct label_query *q,
                         const json_t *labels); /* document form; NULL = no labels */
bool label_query_matches_map(const struct label_query *q, const struct string_map *labels);
