/* JSON Patch operations that turn one document into another. */
#include "common/base/limits.h"
#include "common/json/doc_write.h"
#include "common/json/patch.h"

struct differ {
        json_t *operations;
        struct buf path; /* JSON Pointer of the place being compared */
};

static int diff(struct differ *d, const json_t *from, const json_t *to);

/* `value` is borrowed; NULL for none. */
static int emit(struct differ *d, const char *op, const json_t *value)
{
        AUTO_JSON json_t *operation = json_object();
        if (!operation || json_object_set_new_nocheck(operation, "op", json_string_nocheck(op)) < 0 ||
            json_object_set_new_nocheck(operation, "path", json_stringn_nocheck(d->path.data, d->path.len)) <
                    0 ||
            (value && json_object_set_new_nocheck(operation, "value", doc_copy(value)) < 0))
                return ERR_NO_MEMORY;
        return json_array_append(d->operations, operation) < 0 ? ERR_NO_MEMORY : 0;
}

/* Runs one step with a token more on the path. */
static int push_key(struct differ *d, const char *key)
{
        TRY(buf_append_char(&d->path, '/'));
        for (; *key; key++) {
                if (*key == '~' || *key == '/')
                        TRY(buf_append_str(&d->path, *key == '~' ? "~0" : "~1"));
                else
                        TRY(buf_append_char(&d->path, *key));
        }
        return 0;
}

static int diff_member(struct differ *d, const char *key, const json_t *from, const json_t *to)
{
        size_t len = d->path.len;
        TRY(push_key(d, key));
        if (from && to)
                TRY(diff(d, from, to));
        else
                TRY(from ? emit(d, "remove", NULL) : emit(d, "add", to));
        buf_truncate(&d->path, len);
        return 0;
}

static int diff_sorted_members(struct differ *d, const json_t *from, const json_t *to, struct key_stack *keys)
{
        TRY(doc_push_sorted_keys(from, keys));
        for (size_t i = 0; i < keys->n; i++)
                TRY(diff_member(d, keys->at[i], json_object_get(from, keys->at[i]),
                                json_object_get(to, keys->at[i])));
        keys->n = 0;
        TRY(doc_push_sorted_keys(to, keys));
        for (size_t i = 0; i < keys->n; i++)
                if (!json_object_get(from, keys->at[i]))
                        TRY(diff_member(d, keys->at[i], NULL, json_object_get(to, keys->at[i])));
        return 0;
}

static int diff_objects(struct differ *d, const json_t *from, const json_t *to)
{
        struct key_stack keys = { 0 };
        int code = diff_sorted_members(d, from, to, &keys);
        vec_free(&keys);
        return code;
}

static int diff_element(struct differ *d, size_t index, const json_t *from, const json_t *to)
{
        char token[24];
        snprintf(token, sizeof(token), "%zu", index);
        return diff_member(d, token, from, to);
}

/* Equal ends stay; what lies between is changed pairwise, then the surplus is removed (from the back, so that
 * indexes stay true) or added. */
static int diff_arrays(struct differ *d, const json_t *from, const json_t *to)
{
        size_t start = 0, from_end = json_array_size(from), to_end = json_array_size(to);
        while (start < from_end && start < to_end &&
               doc_equal(json_array_get(from, start), json_array_get(to, start)))
                start++;
        while (from_end > start && to_end > start &&
               doc_equal(json_array_get(from, from_end - 1), json_array_get(to, to_end - 1)))
                from_end--, to_end--;
        size_t common = MIN(from_end, to_end);
        for (size_t i = start; i < common; i++)
                TRY(diff_element(d, i, json_array_get(from, i), json_array_get(to, i)));
        for (size_t i = from_end; i > common; i--)
                TRY(diff_element(d, i - 1, json_array_get(from, i - 1), NULL));
        for (size_t i = common; i < to_end; i++)
                TRY(diff_element(d, i, NULL, json_array_get(to, i)));
        return 0;
}

static int diff(struct differ *d, const json_t *from, const json_t *to)
{
        if (json_is_object(from) && json_is_object(to))
                return diff_objects(d, from, to);
        if (json_is_array(from) && json_is_array(to))
                return diff_arrays(d, from, to);
        return doc_equal(from, to) ? 0 : emit(d, "replace", to);
}

int patch_json_diff(const json_t *from, const json_t *to, json_t **ret, struct error *err)
{
        struct differ d = { .operations = json_array() };
        buf_init(&d.path, LIMIT_OBJECT_BYTES);
        int code = d.operations ? diff(&d, from, to) : ERR_NO_MEMORY;
        buf_free(&d.path);
        if (code < 0) {
                json_decref(d.operations);
                return code == ERR_NO_MEMORY ? error_no_memory(err)
                                             : error_set(err, code, "a path is too long");
        }
        *ret = d.operations;
        return 0;
}
