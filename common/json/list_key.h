/* Elements of lists by identity: a scalar's own value, or an object's key fields. Private to common/json. */
#pragma once

#include "common/base/map.h"
#include "common/json/doc.h"

/* The identity of an element as text. merge_key NULL: the element itself. ERR_NOT_FOUND (no text is set) if
 * it is an object without that key, else 0 or ERR_NO_MEMORY. Free with mem_free. */
int list_key_of(const json_t *element, const char *merge_key, char **ret);

/* Positions of the elements of a list, by identity; of equal elements the first. */
struct list_index {
        struct map positions;
};
int list_index_build(const json_t *list, const char *merge_key, struct list_index *ret, struct error *err);
void list_index_free(struct list_index *index);
size_t list_index_find(const struct list_index *index, const char *key); /* SIZE_MAX if absent */
int list_index_add(struct list_index *index, const char *key,
                   size_t position) MUST_CHECK; /* keeps the first */
/* Position of the element with the identity of `element`; SIZE_MAX if absent. */
int list_index_find_like(const struct list_index *index, const json_t *element, const char *merge_key,
                         size_t *ret, struct error *err);

#define AUTO_LIST_INDEX CLEANUP(list_index_free)
