/* Label and field selectors of list, watch and deletecollection, as query text. */
#pragma once

#include "e2e/devcluster/request.h"

struct selector_term {
        enum { TERM_IN, TERM_NOT_IN, TERM_EXISTS, TERM_NOT_EXISTS, TERM_GREATER, TERM_LESS } op;
        const char *key;
        const char **values;
        size_t n_values;
};

struct selector {
        struct selector_term *labels, *fields;
        size_t n_labels, n_fields;
        const char *only_name, *only_ns; /* metadata.name=, metadata.namespace=; NULL = any */
        bool needs_document;             /* a field beyond name and namespace is asked for */
};

/* Parses both query parameters (NULL = none); fails with 400 as kube-apiserver does. */
int selector_parse(struct request *rq, const char *labels, const char *fields, struct selector *ret);
/* Whether a stored object matches. Parses the text only when a field needs it. */
bool selector_matches(struct request *rq, const struct selector *s, const struct blob *b);
