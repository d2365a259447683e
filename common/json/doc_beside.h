/* Documents that are mostly the same as one that is at hand. */
#pragma once

#include "common/json/doc.h"

/* doc_parse_loose(), where values that `like` (may be NULL) has at the same place are not made anew: they are
 * its own nodes, which nobody changes then. A null is always made anew. */
int doc_parse_beside(struct slice text, const json_t *like, json_t **ret, json_t **ret_duplicates,
                     struct error *err);

/* Whether each member of an object is the other's own node under that key; the other may have more. */
bool doc_shares_members(const json_t *object, const json_t *other);

/* Where the larger containers of a document stand in its text, in the order of the text. */
struct doc_span {
        const json_t *node; /* borrowed from the document */
        uint32_t at, len;
};
struct doc_spans {
        struct doc_span *at;
        size_t n, cap;
        bool reals; /* there was one in what was not copied */
};
void doc_spans_free(struct doc_spans *s);
/* doc_write() of a document, or of a part, that shares nodes with one whose text is `text`, with `spans`
 * (none: {0}): what they name is copied. *into gets this one's, by their places in the whole buffer. */
struct doc_known_text {
        const char *text;
        size_t len;
        const struct doc_spans *spans;
};
int doc_write_beside(const json_t *doc, const struct doc_known_text *known, struct buf *b,
                     struct doc_spans *into);
