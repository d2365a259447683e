/* The strategic three-way patch of client-side apply: what was applied (original), what is wanted (modified),
 * what is there (current). Additions and changes come from current against modified, removals from original
 * against modified; removals of what is not there any more are left out, so that "no difference" is {}. */
#include "common/base/arena.h"
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

/* ---- lists in which a key stands twice: a port of TCP and of UDP ----
 * A patch cannot tell such elements apart, so it replaces the list: by what is wanted, each with what is
 * there of its counterpart, and behind it by what others added. */

#define TWINS_MAX                                                                                            \
        1000 /* elements, since a counterpart is looked for among all; beyond it as kubectl does             \
              */

static bool has_twins(const json_t *list, const struct list_index *index)
{
        return map_count(&index->positions) < json_array_size(list);
}

static bool are_twins(const struct list_versions *l)
{
        const struct versions *v = &l->list;

        return l->merge_key && json_array_size(v->modified) <= TWINS_MAX &&
               json_array_size(v->current) <= TWINS_MAX && json_array_size(v->original) <= TWINS_MAX &&
               (has_twins(v->modified, &l->modified) || has_twins(v->current, &l->current));
}

/* How many members of what is wanted stand there as they are; 0: it has another key. */
static size_t likeness(const json_t *wanted, const json_t *there, const char *merge_key)
{
        const char *key;
        json_t *value;
        size_t n = 0;

        if (!doc_equal(json_object_get(wanted, merge_key), json_object_get(there, merge_key)))
                return 0;
        json_object_foreach((json_t *)wanted, key, value)
                n += doc_equal(value, json_object_get(there, key));
        return n;
}

/* The one most alike of those that nobody chose; `whole`: one in which all is as wanted, or none. */
static void choose(const json_t *wanted, const json_t *there, const char *merge_key, bool whole, bool *used,
                   size_t *pair)
{
        size_t best = whole ? json_object_size(wanted) - 1 : 0;

        if (*pair != SIZE_MAX)
                return;
        for (size_t j = 0; j < json_array_size(there); j++) {
                size_t like = used[j] ? 0 : likeness(wanted, json_array_get(there, j), merge_key);

                if (like > best) {
                        best = like;
                        *pair = j;
                }
        }
        if (*pair != SIZE_MAX)
                used[*pair] = true;
}

/* For each element of `wanted` the place of its counterpart, SIZE_MAX if there is none. Those that are whole
 * there choose first. */
static int pair_up(struct arena *arena, const json_t *wanted, const json_t *there, const char *merge_key,
                   size_t **ret, bool **ret_used, struct error *err)
{
        size_t n = json_array_size(wanted), m = json_array_size(there);
        size_t *pairs = ARENA_NEW_ARRAY(arena, size_t, n + 1);
        bool *used = ARENA_NEW_ARRAY(arena, bool, m + 1);

        if (!pairs || !used)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                pairs[i] = SIZE_MAX;
        for (size_t i = 0; i < n; i++)
                choose(json_array_get(wanted, i), there, merge_key, true, used, &pairs[i]);
        for (size_t i = 0; i < n; i++)
                choose(json_array_get(wanted, i), there, merge_key, false, used, &pairs[i]);
        *ret = pairs;
        *ret_used = used;
        return 0;
}

static int merge_twin(struct versions v, const struct schema *schema, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *change = json_object();

        if (!change)
                return error_no_memory(err);
        if (v.current) {
                TRY(diff_objects(v, schema->items, schema->patch_retain_keys, change, err));
                return patch_strategic(v.current, change, schema->items, ret, err);
        }
        *ret = doc_copy(v.modified);
        return *ret ? 0 : error_no_memory(err);
}

static const json_t *element_at(const json_t *list, size_t at)
{
        return at == SIZE_MAX ? NULL : json_array_get(list, at);
}

/* What the list is to be, into `ret`. */
static int merge_twins(struct arena *arena, const struct list_versions *l, const struct schema *schema,
                       json_t *ret, struct error *err)
{
        const struct versions *v = &l->list;
        size_t *now, *before, *unused;
        bool *is_ours, *was_applied, *unread;

        TRY(pair_up(arena, v->modified, v->current, l->merge_key, &now, &is_ours, err));
        TRY(pair_up(arena, v->modified, v->original, l->merge_key, &before, &unread, err));
        TRY(pair_up(arena, v->original, v->current, l->merge_key, &unused, &was_applied, err));
        for (size_t i = 0; i < json_array_size(v->modified); i++) {
                struct versions one = { element_at(v->original, before[i]), json_array_get(v->modified, i),
                                        element_at(v->current, now[i]) };
                json_t *merged = NULL;

                TRY(merge_twin(one, schema, &merged, err));
                TRY(append_new(ret, merged, err));
        }
        for (size_t i = 0; i < json_array_size(v->current); i++)
                if (!is_ours[i] && !was_applied[i])
                        TRY(append_new(ret, doc_copy(json_array_get(v->current, i)), err));
        return 0;
}

static int diff_twins(const struct list_versions *l, const struct schema *schema, const char *key,
                      json_t *patch, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *list = json_array();
        AUTO_JSON json_t *replace = json_pack("{s:s}", "$patch", "replace");

        if (!list || !replace)
                return error_no_memory(err);
        TRY(merge_twins(&arena, l, schema, list, err));
        if (doc_equal(list, l->list.current))
                return 0;
        TRY(append_new(list, TAKE_PTR(replace), err));
        return set_new(patch, key, TAKE_PTR(list), err);
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
        return are_twins(&l) ? diff_twins(&l, schema, key, patch, err)
                             : diff_list_contents(&l, schema, key, patch, err);
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
