/* Applying strategic merge patches: lists merge by key, directives steer. */
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/list_key.h"
#include "common/json/patch.h"
#include "common/json/schema.h"

#define DIRECTIVE "$patch"
#define RETAIN_KEYS "$retainKeys"
#define DELETE_FROM "$deleteFromPrimitiveList/"
#define ELEMENT_ORDER "$setElementOrder/"

static int merge_object(json_t *target, const json_t *patch, const struct schema *schema, struct error *err);

static bool is_directive(const char *key)
{
        return strcmp(key, DIRECTIVE) == 0 || strcmp(key, RETAIN_KEYS) == 0 ||
               text_starts_with(key, DELETE_FROM) || text_starts_with(key, ELEMENT_ORDER);
}

static const struct schema *member_schema(const struct schema *s, const char *name)
{
        return s ? schema_property(s, name) : NULL;
}

static int set_new(json_t *object, const char *key, json_t *value, struct error *err)
{
        return json_object_set_new_nocheck(object, key, value) < 0 ? error_no_memory(err) : 0;
}

static json_t *plain_copy(const json_t *v);

static json_t *plain_object(const json_t *v)
{
        AUTO_JSON json_t *copy = json_object();
        json_t *mutable = (json_t *)v;
        for (void *i = json_object_iter(mutable); copy && i; i = json_object_iter_next(mutable, i)) {
                const char *key = json_object_iter_key(i);
                if (is_directive(key) || json_is_null(json_object_iter_value(i)))
                        continue;
                if (json_object_set_new_nocheck(copy, key, plain_copy(json_object_iter_value(i))) < 0)
                        return NULL;
        }
        return TAKE_PTR(copy);
}

/* Elements that only direct ("$patch: delete", "$patch: replace") have nothing to act on and are left out. */
static bool only_directs(const json_t *element)
{
        const char *directive = json_string_value(json_object_get(element, DIRECTIVE));
        return directive && strcmp(directive, "merge") != 0;
}

static json_t *plain_array(const json_t *v)
{
        AUTO_JSON json_t *copy = json_array();
        for (size_t i = 0; copy && i < json_array_size(v); i++) {
                const json_t *element = json_array_get(v, i);
                if (!only_directs(element) && json_array_append_new(copy, plain_copy(element)) < 0)
                        return NULL;
        }
        return TAKE_PTR(copy);
}

/* A copy of what a patch brings where nothing is there yet: without directives and without nulls. */
static json_t *plain_copy(const json_t *v)
{
        if (json_is_object(v))
                return plain_object(v);
        return json_is_array(v) ? plain_array(v) : doc_copy(v);
}

enum directive { MERGE, REPLACE, DELETE };

static int unknown_directive(const json_t *patch, const char *words, struct error *err)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 300);
        (void)doc_write_go(patch, &b);
        return error_set(err, ERR_INVALID, "unknown patch type: %.50s in map: %s", words,
                         b.data ? b.data : "");
}

static int read_directive(const json_t *patch, enum directive *ret, struct error *err)
{
        const json_t *v = json_object_get(patch, DIRECTIVE);
        const char *words = json_string_value(v);
        *ret = MERGE;
        if (!v || (words && strcmp(words, "merge") == 0))
                return 0;
        if (words && strcmp(words, "replace") == 0)
                *ret = REPLACE;
        else if (words && strcmp(words, "delete") == 0)
                *ret = DELETE;
        else
                return unknown_directive(patch, words ? words : "(not a string)", err);
        return 0;
}

/* $retainKeys names all keys that may stay; the patch must not bring others. */
static int retain_keys(json_t *target, const json_t *patch, struct error *err)
{
        const json_t *keep = json_object_get(patch, RETAIN_KEYS);
        if (!keep)
                return 0;
        if (!json_is_array(keep))
                return error_set(err, ERR_INVALID,
                                 "invalid patch format of \"$retainKeys\" directive: must be a list");
        AUTO_LIST_INDEX struct list_index index;
        TRY(list_index_build(keep, NULL, &index, err));
        size_t at;
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)patch, key, value) {
                AUTO_JSON json_t *name = json_string_nocheck(key);
                if (!name)
                        return error_no_memory(err);
                TRY(list_index_find_like(&index, name, NULL, &at, err));
                if (at == SIZE_MAX && !json_is_null(value) && !is_directive(key))
                        return error_set(
                                err, ERR_INVALID,
                                "invalid patch format of \"$retainKeys\" directive: it does not name %.100s",
                                key);
        }
        void *next;
        json_object_foreach_safe(target, next, key, value) {
                AUTO_JSON json_t *name = json_string_nocheck(key);
                if (!name)
                        return error_no_memory(err);
                TRY(list_index_find_like(&index, name, NULL, &at, err));
                if (at == SIZE_MAX)
                        json_object_del(target, key);
        }
        return 0;
}

/* An element with its position in the wanted order and in the list as it was; SIZE_MAX = not there. */
struct ranked {
        json_t *element; /* borrowed */
        size_t wanted, before, index;
};

/* Elements of the wanted order come first here, in that order; then the others as they stood. */
static int compare_ranked(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;
        if (x->wanted != y->wanted)
                return x->wanted < y->wanted ? -1 : 1;
        if (x->wanted == SIZE_MAX && x->before != y->before)
                return x->before < y->before ? -1 : 1;
        return x->index < y->index ? -1 : x->index > y->index;
}

/* Weaves the elements nobody ordered between the ordered ones: each goes before the next ordered one if it
 * stood before that one already. */
static int weave(const struct ranked *ranked, size_t n_wanted, size_t n, json_t *ret)
{
        size_t i = 0, j = n_wanted;
        while (i < n_wanted || j < n) {
                bool other_first = i == n_wanted;
                if (i < n_wanted && j < n)
                        other_first = ranked[i].before != SIZE_MAX && ranked[j].before < ranked[i].before;
                if (json_array_append(ret, ranked[other_first ? j++ : i++].element) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

static int rank(const json_t *list, const struct list_index *wanted, const struct list_index *before,
                const char *merge_key, struct ranked *ret, size_t *ret_n_wanted, struct error *err)
{
        *ret_n_wanted = 0;
        for (size_t i = 0; i < json_array_size(list); i++) {
                json_t *element = json_array_get(list, i);
                ret[i] = (struct ranked){ .element = element, .index = i };
                TRY(list_index_find_like(wanted, element, merge_key, &ret[i].wanted, err));
                TRY(list_index_find_like(before, element, merge_key, &ret[i].before, err));
                *ret_n_wanted += ret[i].wanted != SIZE_MAX;
        }
        return 0;
}

/* Brings `list` into the order of the list `order`; `before` holds the positions before the patch. */
static int order_list(json_t *list, const json_t *order, const struct list_index *before,
                      const char *merge_key, struct error *err)
{
        size_t n = json_array_size(list), n_wanted;
        AUTO_LIST_INDEX struct list_index wanted;
        AUTO_FREE struct ranked *ranked = mem_calloc(n, sizeof(*ranked));
        TRY(list_index_build(order, merge_key, &wanted, err));
        AUTO_JSON json_t *ordered = json_array();
        if (!ranked || !ordered)
                return error_no_memory(err);
        TRY(rank(list, &wanted, before, merge_key, ranked, &n_wanted, err));
        qsort(ranked, n, sizeof(*ranked), compare_ranked);
        if (weave(ranked, n_wanted, n, ordered) < 0)
                return error_no_memory(err);
        json_array_clear(list);
        return json_array_extend(list, ordered) < 0 ? error_no_memory(err) : 0;
}

/* Removes all elements with the identity of one in `like`. */
static int remove_like(json_t *list, const json_t *like, const char *merge_key, struct error *err)
{
        AUTO_LIST_INDEX struct list_index index;
        AUTO_JSON json_t *kept = json_array();
        TRY(list_index_build(like, merge_key, &index, err));
        if (!kept)
                return error_no_memory(err);
        for (size_t i = 0; i < json_array_size(list); i++) {
                json_t *element = json_array_get(list, i);
                size_t at;
                TRY(list_index_find_like(&index, element, merge_key, &at, err));
                if (at == SIZE_MAX && json_array_append(kept, element) < 0)
                        return error_no_memory(err);
        }
        json_array_clear(list);
        return json_array_extend(list, kept) < 0 ? error_no_memory(err) : 0;
}

/* As they stand, also several of one key. */
static int replace_list(json_t *list, const json_t *elements, struct error *err)
{
        json_array_clear(list);
        for (size_t i = 0; i < json_array_size(elements); i++)
                if (json_array_append_new(list, plain_copy(json_array_get(elements, i))) < 0)
                        return error_no_memory(err);
        return 0;
}

/* Acts on the elements that direct; *ret_plain (new) are the others, NULL if the list was replaced by them.
 */
static int split_list_patch(json_t *list, const json_t *patch, const char *merge_key, json_t **ret_plain,
                            struct error *err)
{
        AUTO_JSON json_t *plain = json_array();
        AUTO_JSON json_t *deletes = json_array();
        bool replace = false;
        if (!plain || !deletes)
                return error_no_memory(err);
        for (size_t i = 0; i < json_array_size(patch); i++) {
                json_t *element = json_array_get(patch, i);
                enum directive directive;
                if (!json_is_object(element))
                        return error_set(err, ERR_INVALID, "a list merged by %s must hold objects",
                                         merge_key);
                TRY(read_directive(element, &directive, err));
                replace = replace || directive == REPLACE;
                if (directive != REPLACE &&
                    json_array_append(directive == DELETE ? deletes : plain, element) < 0)
                        return error_no_memory(err);
        }
        *ret_plain = NULL;
        if (replace)
                return replace_list(list, plain, err);
        if (json_array_size(deletes))
                TRY(remove_like(list, deletes, merge_key, err));
        *ret_plain = TAKE_PTR(plain);
        return 0;
}

static int merge_elements(json_t *list, const json_t *patch, const struct schema *schema,
                          const char *merge_key, struct error *err)
{
        AUTO_LIST_INDEX struct list_index index;
        TRY(list_index_build(list, merge_key, &index, err));
        for (size_t i = 0; i < json_array_size(patch); i++) {
                const json_t *element = json_array_get(patch, i);
                size_t at;
                TRY(list_index_find_like(&index, element, merge_key, &at, err));
                if (at != SIZE_MAX) {
                        TRY(merge_object(json_array_get(list, at), element, schema->items, err));
                        continue;
                }
                AUTO_FREE char *key = NULL;
                if (list_key_of(element, merge_key, &key) < 0 ||
                    list_index_add(&index, key, json_array_size(list)) < 0 ||
                    json_array_append_new(list, plain_copy(element)) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

static bool holds_objects(const json_t *a, const json_t *b)
{
        return json_is_object(json_array_get(a, 0)) || json_is_object(json_array_get(b, 0));
}

static int merge_scalars(json_t *list, const json_t *patch, struct error *err)
{
        AUTO_LIST_INDEX struct list_index index;
        TRY(list_index_build(list, NULL, &index, err));
        for (size_t i = 0; i < json_array_size(patch); i++) {
                json_t *element = json_array_get(patch, i);
                AUTO_FREE char *key = NULL;
                if (list_key_of(element, NULL, &key) < 0)
                        return error_no_memory(err);
                if (list_index_find(&index, key) != SIZE_MAX)
                        continue;
                if (list_index_add(&index, key, json_array_size(list)) < 0 ||
                    json_array_append_new(list, doc_copy(element)) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

/* Merges a list and brings it into order. `patch` or `order` may be NULL. */
static int merge_list(json_t *list, const json_t *patch, const json_t *order, const struct schema *schema,
                      struct error *err)
{
        const char *merge_key = holds_objects(list, patch) ? schema->patch_merge_key : NULL;
        if (!merge_key && holds_objects(list, patch))
                return error_set(err, ERR_INVALID, "cannot merge lists without merge key");
        AUTO_LIST_INDEX struct list_index before;
        AUTO_JSON json_t *plain = NULL;
        TRY(list_index_build(list, merge_key, &before, err));
        if (patch && merge_key) {
                TRY(split_list_patch(list, patch, merge_key, &plain, err));
                if (!plain)
                        return 0;
                TRY(merge_elements(list, plain, schema, merge_key, err));
        } else if (patch) {
                TRY(merge_scalars(list, patch, err));
        }
        const json_t *wanted = order ? order : plain ? plain : patch;
        return wanted ? order_list(list, wanted, &before, merge_key, err) : 0;
}

/* The order a patch gives for its member `key`; NULL if none. */
static const json_t *order_of(const json_t *patch, const char *key)
{
        char name[300];
        if (snprintf(name, sizeof(name), ELEMENT_ORDER "%s", key) >= (int)sizeof(name))
                return NULL;
        return json_object_get(patch, name);
}

static int merge_member(json_t *target, const char *key, const json_t *value, const json_t *patch,
                        const struct schema *schema, struct error *err)
{
        if (json_is_null(value)) {
                json_object_del(target, key);
                return 0;
        }
        const struct schema *s = member_schema(schema, key);
        json_t *now = json_object_get(target, key);
        if (json_is_object(now) && json_is_object(value) && !(s && s->patch_replace))
                return merge_object(now, value, s, err);
        if (json_is_array(now) && json_is_array(value) && s && s->patch_merge)
                return merge_list(now, value, order_of(patch, key), s, err);
        return set_new(target, key, plain_copy(value), err);
}

static int delete_from_list(json_t *target, const char *key, const json_t *values, struct error *err)
{
        json_t *list = json_object_get(target, key);
        if (!json_is_array(values))
                return error_set(err, ERR_INVALID, DELETE_FROM "%.100s: must be a list", key);
        return json_is_array(list) ? remove_like(list, values, NULL, err) : 0;
}

/* An order on its own, without a patch of the list: reorders what is there. */
static int order_member(json_t *target, const char *key, const json_t *order, const json_t *patch,
                        const struct schema *schema, struct error *err)
{
        const struct schema *s = member_schema(schema, key);
        json_t *list = json_object_get(target, key);
        if (!json_is_array(order))
                return error_set(err, ERR_INVALID, ELEMENT_ORDER "%.100s: must be a list", key);
        if (!json_is_array(list) || !s || !s->patch_merge || json_object_get(patch, key))
                return 0;
        return merge_list(list, NULL, order, s, err);
}

/* Every element a patch brings must stand in the order it gives, in the same sequence. */
static int check_order(const char *key, const json_t *list, const json_t *order, const struct schema *s,
                       struct error *err)
{
        if (!json_is_array(list) || !json_is_array(order) || !s || !s->patch_merge)
                return 0;
        const char *merge_key = holds_objects(list, NULL) ? s->patch_merge_key : NULL;
        AUTO_LIST_INDEX struct list_index index;
        TRY(list_index_build(order, merge_key, &index, err));
        size_t previous = 0, at;
        for (size_t i = 0; i < json_array_size(list); i++) {
                const json_t *element = json_array_get(list, i);
                if (only_directs(element))
                        continue;
                TRY(list_index_find_like(&index, element, merge_key, &at, err));
                if (at == SIZE_MAX || at < previous)
                        return error_set(err, ERR_INVALID,
                                         "The order in patch list: %.100s doesn't match " ELEMENT_ORDER
                                         "%.100s list",
                                         key, key);
                previous = at;
        }
        return 0;
}

static int merge_entry(json_t *target, const char *key, const json_t *value, const json_t *patch,
                       const struct schema *schema, struct error *err)
{
        if (text_starts_with(key, DELETE_FROM))
                return delete_from_list(target, key + strlen(DELETE_FROM), value, err);
        if (text_starts_with(key, ELEMENT_ORDER))
                return order_member(target, key + strlen(ELEMENT_ORDER), value, patch, schema, err);
        if (is_directive(key))
                return 0;
        TRY(check_order(key, value, order_of(patch, key), member_schema(schema, key), err));
        return merge_member(target, key, value, patch, schema, err);
}

/* Deletions from lists of scalars go first and orders last, so that the sequence of a patch's members has no
 * effect. */
static int merge_entries(json_t *target, const json_t *patch, const struct schema *schema, struct error *err)
{
        for (int pass = 0; pass < 3; pass++) {
                const char *key;
                json_t *value;
                json_object_foreach((json_t *)patch, key, value) {
                        int turn = text_starts_with(key, DELETE_FROM)     ? 0
                                   : text_starts_with(key, ELEMENT_ORDER) ? 2
                                                                          : 1;
                        if (turn == pass)
                                TRY(merge_entry(target, key, value, patch, schema, err));
                }
        }
        return 0;
}

/* Merges in place. */
static int merge_object(json_t *target, const json_t *patch, const struct schema *schema, struct error *err)
{
        enum directive directive;
        TRY(read_directive(patch, &directive, err));
        if (directive == MERGE) {
                TRY(retain_keys(target, patch, err));
                return merge_entries(target, patch, schema, err);
        }
        json_object_clear(target);
        if (directive == DELETE)
                return 0;
        AUTO_JSON json_t *plain = plain_copy(patch);
        const char *key;
        json_t *value;
        if (!plain)
                return error_no_memory(err);
        json_object_foreach(plain, key, value)
                if (json_object_set_nocheck(target, key, value) < 0)
                        return error_no_memory(err);
        return 0;
}

int patch_strategic(const json_t *doc, const json_t *patch, const struct schema *schema, json_t **ret,
                    struct error *err)
{
        if (!json_is_object(patch) || !json_is_object(doc))
                return error_set(err, ERR_INVALID,
                                 "a strategic merge patch and what it patches must be objects");
        AUTO_JSON json_t *result = doc_copy(doc);
        if (!result)
                return error_no_memory(err);
        TRY(merge_object(result, patch, schema, err));
        *ret = TAKE_PTR(result);
        return 0;
}
