/* Field sets beyond what common/json/apply.h offers; private to common/json.
 *
 * A set is a fieldsV1 document. Below its root, a node {} is a path of the set without longer ones; a node
 * with "." is a path of the set that has longer ones; a node without "." only leads to longer ones. */
#pragma once

#include "common/base/map.h"
#include "common/json/apply.h"
#include "common/json/schema.h"

/* Set operations with a code instead of NULL. The result is never NULL on success; {} is the empty set. */
int fieldset_unite(const json_t *a, const json_t *b, json_t **ret);
int fieldset_subtract(const json_t *a, const json_t *b, json_t **ret);
int fieldset_intersect(const json_t *a, const json_t *b, json_t **ret);
bool fieldset_overlaps(const json_t *a, const json_t *b); /* have a member in common */
bool fieldset_contains(const json_t *a, const json_t *b); /* all members of b are members of a */
bool fieldset_node_is_member(const json_t *node);
/* Adds the fields on the way to longer paths as members, in place. */
int fieldset_ensure_named(json_t *set);
/* The same set in the order of its keys, itself if that is its order; a new reference, NULL on no memory. */
json_t *fieldset_sorted(const json_t *set);

/* Calls fn with the text of each member (".spec.containers[name=\"a\"].image"), in sorted order. */
int fieldset_each_path(const json_t *set, int (*fn)(void *data, const char *path), void *data);

/* As fieldset_of, with the reason of a failure: a list element without its key, or one twice. */
int fieldset_collect(const json_t *object, const struct schema *schema, json_t **ret, struct error *err);

struct fieldset_changes {
        json_t *added, *modified, *removed;
};
/* What differs between two versions of an object. Containers that come or go are members themselves. */
int fieldset_compare(const json_t *old, const json_t *new, const struct schema *schema,
                     struct fieldset_changes *ret, struct error *err);
void fieldset_changes_free(struct fieldset_changes *c);
/* Whether all that differs are values of fields, apart from metadata, that sets[0] has and none of the other
 * n - 1 sets: then it has what the change takes, and nobody loses anything. False also where that is not
 * plain, and when nothing differs. */
bool fieldset_change_is_own(const json_t *old, const json_t *new, const struct schema *schema,
                            const json_t *const *sets, size_t n);

/* True if the value is followed field by field or element by element, false if it is one value to its owners.
 */
bool is_granular(const json_t *v, const struct schema *s);

/* The elements of a set or map list by their path elements ("k:{...}", "v:..."). */
struct keyed_list {
        char **keys;
        size_t n;
        struct map positions; /* key -> index + 1 */
};
/* ERR_INVALID if an element lacks a key field or two are the same. */
int keyed_list_init(struct keyed_list *l, const json_t *list, const struct schema *s, struct error *err);
void keyed_list_free(struct keyed_list *l);
size_t keyed_list_find(const struct keyed_list *l, const char *key); /* SIZE_MAX if absent */

/* Merges what is applied into the live object, in place. Nulls in `config` do not count. */
int apply_merge(json_t *live, const json_t *config, const struct schema *schema, struct error *err);
/* Removes the members of `set` from an object, in place; containers that this empties go as well unless they
 * are members of `keep`. */
int apply_remove(json_t *object, const json_t *set, const json_t *keep, const struct schema *schema);

/* A schema whose metadata is ObjectMeta even where the given one says nothing about it. */
struct root_schema {
        struct schema schema;
        struct schema_property *properties; /* owned, or NULL */
};
int root_schema_init(struct root_schema *ret, const struct schema *schema);
void root_schema_free(struct root_schema *s);
