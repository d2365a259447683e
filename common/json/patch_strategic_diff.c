/* The strategic three-way patch of client-side apply: what was applied (original), what is wanted (modified),
 * what is there (current). Additions and changes come from current against modified, removals from original
 * against modified; removals of what is not there any more are left out, so that "no difference" is {}. */
#include "common/json/list_key.h"
#include "common/json/patch.h"
#include "common/json/schema.h"

struct versions {
        const json_t *original, *modified, *current; /* original may be NULL */
};

static int diff_objects(struct versions v, const struct schema *schema, bool retain, json_t *patch,
                        struct error *err);

static int set_new(json_t *object, const char *key, json_t *value, struct error *err)
{
        return json_object_set_new_nocheck(object, key, value) < 0 ? error_no_memory(err) : 0;
}

static int append_new(json_t *array, json_t *value, struct error *err)
{
        return json_array_append_new(array, value) < 0 ? error_no_memory(err) : 0;
}

static int set_list(json_t *patch, const char *prefix, const char *key, const json_t *list, struct error *err)
{
        char name[300];
        if (!json_array_size(list))
                return 0;
        if (snprintf(name, sizeof(name), "%s%s", prefix, key) >= (int)sizeof(name))
                return error_set(err, ERR_LIMIT, "the field name %.50s... is too long", key);
        return set_new(patch, name, doc_copy(list), err);
}

static bool is_list_of_objects(const json_t *list)
{
        return json_is_object(json_array_get(list, 0));
}

/* The element of `list` like `element`, NULL if none. */
static int element_like(const json_t *list, const struct list_index *index, const json_t *element,
                        const char *merge_key, const json_t **ret, struct error *err)
{
        size_t at;
        TRY(list_index_find_like(index, element, merge_key, &at, err));
        *ret = at == SIZE_MAX ? NULL : json_array_get(list, at);
        return 0;
}

/* The lists and where their elements stand. */
struct list_versions {
        struct versions list;
        struct list_index original, modified, current;
        const char *merge_key; /* NULL: scalars */
};

static void list_versions_free(struct list_versions *l)
{
        list_index_free(&l->original);
        list_index_free(&l->modified);
        list_index_free(&l->current);
}

static int list_versions_init(struct list_versions *l, struct error *err)
{
        TRY(list_index_build(l->list.original, l->merge_key, &l->original, err));
        TRY(list_index_build(l->list.modified, l->merge_key, &l->modified, err));
        return list_index_build(l->list.current, l->merge_key, &l->current, err);
}

/* Whether the wanted elements that are there already stand in another order. */
static int order_differs(const struct list_versions *l, bool *ret, struct error *err)
{
        size_t previous = 0, at;
        *ret = false;
        for (size_t i = 0; i < json_array_size(l->list.modified); i++) {
                const json_t *element = json_array_get(l->list.modified, i);
                TRY(list_index_find_like(&l->current, element, l->merge_key, &at, err));
                if (at == SIZE_MAX)
                        continue;
                *ret = *ret || at < previous;
                previous = at;
        }
        return 0;
}

static int diff_element(const struct list_versions *l, const json_t *wanted, const struct schema *schema,
                        bool retain, json_t *changes, struct error *err)
{
        struct versions v = { .modified = wanted };
        TRY(element_like(l->list.current, &l->current, wanted, l->merge_key, &v.current, err));
        TRY(element_like(l->list.original, &l->original, wanted, l->merge_key, &v.original, err));
        if (!v.current)
                return append_new(changes, doc_copy(wanted), err);
        AUTO_JSON json_t *change = json_object();
        if (!change)
                return error_no_memory(err);
        TRY(diff_objects(v, schema->items, retain, change, err));
        if (!json_object_size(change))
                return 0;
        TRY(set_new(change, l->merge_key, doc_copy(json_object_get(wanted, l->merge_key)), err));
        return append_new(changes, TAKE_PTR(change), err);
}

static int delete_element(const struct list_versions *l, const json_t *element, json_t *changes,
                          struct error *err)
{
        AUTO_JSON json_t *change = json_object();
        if (!change)
                return error_no_memory(err);
        TRY(set_new(change, "$patch", json_string("delete"), err));
        TRY(set_new(change, l->merge_key, doc_copy(json_object_get(element, l->merge_key)), err));
        return append_new(changes, TAKE_PTR(change), err);
}

/* Elements that were applied, are not wanted any more and are still there: fn for each. */
static int each_removed(const struct list_versions *l,
                        int (*fn)(const struct list_versions *, const json_t *, json_t *, struct error *),
                        json_t *into, struct error *err)
{
        for (size_t i = 0; i < json_array_size(l->list.original); i++) {
                const json_t *element = json_array_get(l->list.original, i);
                size_t wanted, now;
                TRY(list_index_find_like(&l->modified, element, l->merge_key, &wanted, err));
                TRY(list_index_find_like(&l->current, element, l->merge_key, &now, err));
                if (wanted == SIZE_MAX && now != SIZE_MAX)
                        TRY(fn(l, element, into, err));
        }
        return 0;
}

static int take_scalar(const struct list_versions *l, const json_t *element, json_t *into, struct error *err)
{
        return append_new(into, doc_copy(element), err);
}

/* $setElementOrder: the wanted elements, as scalars or as objects of just their key. */
static int set_order(const struct list_versions *l, const char *key, json_t *patch, struct error *err)
{
        AUTO_JSON json_t *order = json_array();
        if (!order)
                return error_no_memory(err);
        for (size_t i = 0; i < json_array_size(l->list.modified); i++) {
                const json_t *element = json_array_get(l->list.modified, i);
                AUTO_JSON json_t *entry = l->merge_key ? json_object() : doc_copy(element);
                if (!entry)
                        return error_no_memory(err);
                if (l->merge_key)
                        TRY(set_new(entry, l->merge_key, doc_copy(json_object_get(element, l->merge_key)),
                                    err));
                TRY(append_new(order, TAKE_PTR(entry), err));
        }
        return set_list(patch, "$setElementOrder/", key, order, err);
}

static int diff_list_contents(const struct list_versions *l, const struct schema *schema, const char *key,
                              json_t *patch, struct error *err)
{
        AUTO_JSON json_t *changes = json_array();
        AUTO_JSON json_t *removed = json_array();
        if (!changes || !removed)
                return error_no_memory(err);
        for (size_t i = 0; i < json_array_size(l->list.modified); i++) {
                const json_t *element = json_array_get(l->list.modified, i);
                size_t now;
                TRY(list_index_find_like(&l->current, element, l->merge_key, &now, err));
                if (l->merge_key)
                        TRY(diff_element(l, element, schema, schema->patch_retain_keys, changes, err));
                else if (now == SIZE_MAX)
                        TRY(append_new(changes, doc_copy(element), err));
        }
        TRY(l->merge_key ? each_removed(l, delete_element, changes, err)
                         : each_removed(l, take_scalar, removed, err));
        bool reordered;
        TRY(order_differs(l, &reordered, err));
        TRY(set_list(patch, "", key, changes, err));
        TRY(set_list(patch, "$deleteFromPrimitiveList/", key, removed, err));
        if (json_array_size(l->list.current) &&
            (reordered || json_array_size(changes) || json_array_size(removed)))
                TRY(set_order(l, key, patch, err));
        return 0;
}

static int diff_list(struct versions v, const struct schema *schema, const char *key, json_t *patch,
                     struct error *err)
{
        bool objects = is_list_of_objects(v.modified) || is_list_of_objects(v.current) ||
                       is_list_of_objects(v.original);
        if (objects && !schema->patch_merge_key)
                return error_set(err, ERR_INVALID, "%s: cannot merge lists without merge key", key);
        CLEANUP(list_versions_free) struct list_versions l = { .list = v };
        l.merge_key = objects ? schema->patch_merge_key : NULL;
        TRY(list_versions_init(&l, err));
        return diff_list_contents(&l, schema, key, patch, err);
}

static int diff_inner_object(struct versions v, const struct schema *schema, const char *key, json_t *patch,
                             struct error *err)
{
        AUTO_JSON json_t *inner = json_object();
        if (!inner)
                return error_no_memory(err);
        TRY(diff_objects(v, schema, schema && schema->patch_retain_keys, inner, err));
        return json_object_size(inner) ? set_new(patch, key, TAKE_PTR(inner), err) : 0;
}

static int diff_member(struct versions v, const struct schema *schema, const char *key, json_t *patch,
                       struct error *err)
{
        if (json_is_object(v.modified) && json_is_object(v.current) && !(schema && schema->patch_replace)) {
                v.original = json_is_object(v.original) ? v.original : NULL;
                return diff_inner_object(v, schema, key, patch, err);
        }
        if (json_is_array(v.modified) && json_is_array(v.current) && schema && schema->patch_merge) {
                v.original = json_is_array(v.original) ? v.original : NULL;
                return diff_list(v, schema, key, patch, err);
        }
        if (doc_equal(v.modified, v.current) || (json_is_null(v.modified) && !v.current))
                return 0;
        return set_new(patch, key, doc_copy(v.modified), err);
}

/* $retainKeys lists the wanted keys when something changes or when there are others to clear. */
static int add_retain_keys(struct versions v, json_t *patch, struct error *err)
{
        const char *key;
        json_t *value;
        bool needed = json_object_size(patch) > 0;
        AUTO_JSON json_t *keys = json_array();
        if (!keys)
                return error_no_memory(err);
        json_object_foreach((json_t *)v.current, key, value)
                needed = needed || !json_object_get(v.modified, key);
        json_object_foreach((json_t *)v.modified, key, value)
                if (!json_is_null(value))
                        TRY(append_new(keys, json_string_nocheck(key), err));
        return needed ? set_list(patch, "$retainKeys", "", keys, err) : 0;
}

static int diff_objects(struct versions v, const struct schema *schema, bool retain, json_t *patch,
                        struct error *err)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)v.modified, key, value) {
                struct versions member = { json_object_get(v.original, key), value,
                                           json_object_get(v.current, key) };
                TRY(diff_member(member, schema ? schema_property(schema, key) : NULL, key, patch, err));
        }
        json_object_foreach((json_t *)v.original, key, value)
                if (!json_object_get(v.modified, key) && json_object_get(v.current, key))
                        TRY(set_new(patch, key, json_null(), err));
        return retain ? add_retain_keys(v, patch, err) : 0;
}

int patch_strategic_three_way(const json_t *original, const json_t *modified, const json_t *current,
                              const struct schema *schema, json_t **ret_patch, struct error *err)
{
        if (!json_is_object(modified) || !json_is_object(current) || (original && !json_is_object(original)))
                return error_set(err, ERR_INVALID, "a three-way patch needs objects");
        AUTO_JSON json_t *patch = json_object();
        if (!patch)
                return error_no_memory(err);
        TRY(diff_objects((struct versions){ original, modified, current }, schema, false, patch, err));
        *ret_patch = TAKE_PTR(patch);
        return 0;
}
