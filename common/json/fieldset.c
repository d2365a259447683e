/* Algebra of field sets. */
#include "common/json/fieldset.h"

#include "common/base/limits.h"
#include "common/json/doc_write.h"

bool fieldset_node_is_member(const json_t *node)
{
        return node && (json_object_size(node) == 0 || json_object_get(node, "."));
}

bool fieldset_empty(const json_t *set)
{
        return json_object_size(set) == 0;
}

static bool is_self(const char *key)
{
        return key[0] == '.' && key[1] == '\0';
}

/* Hands over a node from its children (taken) and membership; NULL in *ret if it is neither. */
static int finish_node(json_t *children, bool member, json_t **ret)
{
        AUTO_JSON json_t *node = children;
        *ret = NULL;
        if (!json_object_size(node) && !member)
                return 0;
        if (json_object_size(node) && member && json_object_set_new_nocheck(node, ".", json_object()) < 0)
                return ERR_NO_MEMORY;
        *ret = TAKE_PTR(node);
        return 0;
}

/* For each operation: which nodes of a alone, of b alone stay, and when a path that both lead to is a member.
 */
enum operation { UNITE, SUBTRACT, INTERSECT };

static int combine(const json_t *a, const json_t *b, enum operation op, bool root, json_t **ret);

static int combine_children(const json_t *a, const json_t *b, enum operation op, json_t *into)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)a, key, value) {
                const json_t *other = json_object_get(b, key);
                json_t *child = NULL;
                if (is_self(key) || (!other && op == INTERSECT))
                        continue;
                TRY(combine(value, other, op, false, &child));
                if (child && json_object_set_new_nocheck(into, key, child) < 0)
                        return ERR_NO_MEMORY;
        }
        if (op != UNITE)
                return 0;
        json_object_foreach((json_t *)b, key, value)
                if (!is_self(key) && !json_object_get(a, key) &&
                    json_object_set_new_nocheck(into, key, doc_copy(value)) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}

static int combine(const json_t *a, const json_t *b, enum operation op, bool root, json_t **ret)
{
        AUTO_JSON json_t *children = json_object();
        if (!children)
                return ERR_NO_MEMORY;
        TRY(combine_children(a, b, op, children));
        bool in_a = !root && fieldset_node_is_member(a), in_b = !root && fieldset_node_is_member(b);
        bool member = op == UNITE ? in_a || in_b : op == SUBTRACT ? in_a && !in_b : in_a && in_b;
        return finish_node(TAKE_PTR(children), member, ret);
}

static int combine_sets(const json_t *a, const json_t *b, enum operation op, json_t **ret)
{
        json_t *set = NULL;
        TRY(combine(a, b, op, true, &set));
        if (!set && !(set = json_object()))
                return ERR_NO_MEMORY;
        *ret = set;
        return 0;
}

int fieldset_unite(const json_t *a, const json_t *b, json_t **ret)
{
        return combine_sets(a, b, UNITE, ret);
}

int fieldset_subtract(const json_t *a, const json_t *b, json_t **ret)
{
        return combine_sets(a, b, SUBTRACT, ret);
}

int fieldset_intersect(const json_t *a, const json_t *b, json_t **ret)
{
        return combine_sets(a, b, INTERSECT, ret);
}

bool fieldset_overlaps(const json_t *a, const json_t *b)
{
        const char *key;
        json_t *node;
        json_object_foreach((json_t *)a, key, node) {
                const json_t *other = is_self(key) ? NULL : json_object_get(b, key);
                if (other && ((fieldset_node_is_member(node) && fieldset_node_is_member(other)) ||
                              fieldset_overlaps(node, other)))
                        return true;
        }
        return false;
}

bool fieldset_contains(const json_t *a, const json_t *b)
{
        const char *key;
        json_t *node;
        json_object_foreach((json_t *)b, key, node) {
                const json_t *other = is_self(key) ? NULL : json_object_get(a, key);
                if (is_self(key))
                        continue;
                if (!other || (fieldset_node_is_member(node) && !fieldset_node_is_member(other)) ||
                    !fieldset_contains(other, node))
                        return false;
        }
        return true;
}

static json_t *or_null(const json_t *a, const json_t *b, enum operation op)
{
        json_t *set = NULL;
        return combine_sets(a, b, op, &set) < 0 ? NULL : set;
}

json_t *fieldset_union(const json_t *a, const json_t *b)
{
        return or_null(a, b, UNITE);
}

json_t *fieldset_difference(const json_t *a, const json_t *b)
{
        return or_null(a, b, SUBTRACT);
}

json_t *fieldset_intersection(const json_t *a, const json_t *b)
{
        return or_null(a, b, INTERSECT);
}

int fieldset_ensure_named(json_t *set)
{
        const char *key;
        json_t *node;
        json_object_foreach(set, key, node) {
                TRY(fieldset_ensure_named(node));
                if (text_starts_with(key, "f:") && json_object_size(node) && !json_object_get(node, ".") &&
                    json_object_set_new_nocheck(node, ".", json_object()) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

static int sort_into(const json_t *set, json_t *into)
{
        struct key_stack keys = { 0 };
        int code = doc_push_sorted_keys(set, &keys);
        for (size_t i = 0; code == 0 && i < keys.n; i++) {
                json_t *node = json_object();
                code = json_object_set_new_nocheck(into, keys.at[i], node) < 0 ? ERR_NO_MEMORY : 0;
                if (code == 0)
                        code = sort_into(json_object_get(set, keys.at[i]), node);
        }
        vec_free(&keys);
        return code;
}

static bool is_sorted(const json_t *set)
{
        const char *key, *before = NULL;
        json_t *node;
        json_object_foreach((json_t *)set, key, node) {
                if ((before && strcmp(before, key) > 0) || !is_sorted(node))
                        return false;
                before = key;
        }
        return true;
}

json_t *fieldset_sorted(const json_t *set)
{
        if (is_sorted(set))
                return json_incref((json_t *)set);
        AUTO_JSON json_t *sorted = json_object();
        if (!sorted || sort_into(set, sorted) < 0)
                return NULL;
        return TAKE_PTR(sorted);
}

struct path_walk {
        struct buf path;
        int (*fn)(void *data, const char *path);
        void *data;
};

/* {"name":"a","port":80} -> [name="a",port=80] */
static int append_key_fields(struct buf *b, const char *json)
{
        AUTO_JSON json_t *fields = NULL;
        TRY(doc_parse(slice_of(json), &fields, NULL));
        const char *name;
        json_t *value;
        const char *separator = "[";
        json_object_foreach(fields, name, value) {
                TRY(buf_printf(b, "%s%s=", separator, name));
                TRY(doc_write(value, b));
                separator = ",";
        }
        return buf_append_char(b, ']');
}

static int append_element(struct buf *b, const char *key)
{
        if (text_starts_with(key, "f:"))
                return buf_printf(b, ".%s", key + 2);
        if (text_starts_with(key, "k:"))
                return append_key_fields(b, key + 2);
        if (text_starts_with(key, "v:"))
                return buf_printf(b, "[=%s]", key + 2);
        return text_starts_with(key, "i:") ? buf_printf(b, "[%s]", key + 2) : buf_append_str(b, key);
}

static int walk_paths(struct path_walk *w, const json_t *set)
{
        const char *key;
        json_t *node;
        json_object_foreach((json_t *)set, key, node) {
                if (is_self(key))
                        continue;
                size_t len = w->path.len;
                TRY(append_element(&w->path, key));
                if (fieldset_node_is_member(node))
                        TRY(w->fn(w->data, w->path.data));
                TRY(walk_paths(w, node));
                buf_truncate(&w->path, len);
        }
        return 0;
}

int fieldset_each_path(const json_t *set, int (*fn)(void *data, const char *path), void *data)
{
        struct path_walk w = { .fn = fn, .data = data };
        AUTO_JSON json_t *sorted = fieldset_sorted(set);
        if (!sorted)
                return ERR_NO_MEMORY;
        buf_init(&w.path, LIMIT_OBJECT_BYTES);
        int code = walk_paths(&w, sorted);
        buf_free(&w.path);
        return code;
}
