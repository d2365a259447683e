/* A branch, tag, request or environment as a source tells it, and as it is exported. Pure.
 * spec/resource-set.md 3.2, 19. */
#pragma once

#include "common/json/doc.h"

struct input_ref {
        const char *id, *sha; /* id NULL = the provider's ID() of its name */
        const char *branch, *tag, *digest, *author, *title, *slug; /* NULL or "" = none */
        const char *const *labels;
        size_t n_labels;
};

#define INPUT_ID_SIZE 11
/* ID(text): Adler-32 as unsigned decimal. */
void input_id(const char *text, char ret[INPUT_ID_SIZE]);
/* GitLab's slug of a ref's name: lower case, dashes in place of all else, at most 63 bytes. NULL on no
 * memory. */
char *input_slug(struct arena *arena, const char *name);
/* A new object of id, sha and what else is not empty; NULL on no memory. */
json_t *input_ref_export(const struct input_ref *r);
bool input_ref_has_label(const struct input_ref *r, const char *label);
