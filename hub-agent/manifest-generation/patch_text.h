/* The text of a patch file, written anew with as much as possible of what was there: documents that say the
 * same as they stand, comments of the others. Pure. */
#pragma once

#include "common/json/doc.h"

struct patch_text {
        struct arena *arena;
        struct slice header; /* comments before the first marker */
        struct patch_part *parts;
        size_t n;
};

/* The text has been read as objects already. What is not understood is not kept. ERR_NO_MEMORY. */
int patch_text_read(struct arena *arena, struct slice text, struct patch_text *ret, struct error *err);
int patch_text_begin(const struct patch_text *t, struct buf *ret, struct error *err); /* the header */
/* Appends "---\n" and the document. Keys are sorted, unless the part of that identity says the same. */
int patch_text_write(const struct patch_text *t, const char *identity, const json_t *patch, struct buf *ret,
                     struct error *err);
