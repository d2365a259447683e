/* Getters and setters by dotted paths. */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/json/doc.h"

json_t *doc_get(const json_t *doc, const char *path)
{
        struct slice rest = slice_of(path), key;
        bool more = true;
        while (doc && more) {
                more = slice_cut(&rest, '.', &key);
                doc = json_object_getn(doc, key.data, key.len); /* NULL for anything that is no object */
        }
        return (json_t *)doc;
}

json_t *doc_get_keys(const json_t *doc, const char *const *keys, size_t n)
{
        for (size_t i = 0; doc && i < n; i++)
                doc = json_object_get(doc, keys[i]);
        return (json_t *)doc;
}

/* C code reads strings up to the first NUL; one that holds a NUL would be mistaken for another, so it is
 * none. */
static const char *c_string(const json_t *v)
{
        const char *s = json_string_value(v);
        return s && !memchr(s, '\0', json_string_length(v)) ? s : NULL;
}

const char *doc_get_string(const json_t *doc, const char *path)
{
        return c_string(doc_get(doc, path));
}

bool doc_get_bool(const json_t *doc, const char *path, bool fallback)
{
        const json_t *v = doc_get(doc, path);
        return json_is_boolean(v) ? json_is_true(v) : fallback;
}

int64_t doc_get_int(const json_t *doc, const char *path, int64_t fallback)
{
        const json_t *v = doc_get(doc, path);
        return json_is_integer(v) ? json_integer_value(v) : fallback;
}

json_t *doc_get_object(const json_t *doc, const char *path)
{
        json_t *v = doc_get(doc, path);
        return json_is_object(v) ? v : NULL;
}

json_t *doc_get_array(const json_t *doc, const char *path)
{
        json_t *v = doc_get(doc, path);
        return json_is_array(v) ? v : NULL;
}

static const char *type_words(const json_t *v)
{
        switch (json_typeof(v)) {
        case JSON_OBJECT:
                return "an object";
        case JSON_ARRAY:
                return "an array";
        case JSON_STRING:
                return "a string";
        case JSON_INTEGER:
                return "an integer";
        case JSON_REAL:
                return "a number";
        case JSON_NULL:
                return "null";
        default:
                return "a boolean";
        }
}

static int wrong_type(const json_t *v, const char *path, const char *wanted, struct error *err)
{
        return error_set(err, ERR_INVALID, "%s: must be %s, is %s", path, wanted, type_words(v));
}

int doc_want_string(const json_t *doc, const char *path, const char **ret, struct error *err)
{
        const json_t *v = doc_get(doc, path);
        if (!v)
                return 0;
        if (!json_is_string(v))
                return wrong_type(v, path, "a string", err);
        const char *s = c_string(v);
        if (!s)
                return error_set(err, ERR_INVALID, "%s: must not contain NUL", path);
        *ret = s;
        return 0;
}

int doc_need_string(const json_t *doc, const char *path, const char **ret, struct error *err)
{
        if (!doc_get(doc, path))
                return error_set(err, ERR_INVALID, "%s: is required", path);
        return doc_want_string(doc, path, ret, err);
}

int doc_want_int(const json_t *doc, const char *path, int64_t *ret, struct error *err)
{
        const json_t *v = doc_get(doc, path);
        if (!v)
                return 0;
        if (!json_is_integer(v))
                return wrong_type(v, path, "an integer", err);
        *ret = json_integer_value(v);
        return 0;
}

int doc_want_bool(const json_t *doc, const char *path, bool *ret, struct error *err)
{
        const json_t *v = doc_get(doc, path);
        if (!v)
                return 0;
        if (!json_is_boolean(v))
                return wrong_type(v, path, "a boolean", err);
        *ret = json_is_true(v);
        return 0;
}

int doc_want_object(const json_t *doc, const char *path, json_t **ret, struct error *err)
{
        json_t *v = doc_get(doc, path);
        if (!v)
                return 0;
        if (!json_is_object(v))
                return wrong_type(v, path, "an object", err);
        *ret = v;
        return 0;
}

int doc_want_array(const json_t *doc, const char *path, json_t **ret, struct error *err)
{
        json_t *v = doc_get(doc, path);
        if (!v)
                return 0;
        if (!json_is_array(v))
                return wrong_type(v, path, "an array", err);
        *ret = v;
        return 0;
}

/* The object under `key`, made if absent; NULL on no memory or when something else is in the way. */
static json_t *descend(json_t *object, struct slice key)
{
        json_t *child = json_object_getn(object, key.data, key.len);
        if (child)
                return child;
        child = json_object();
        return json_object_setn_new_nocheck(object, key.data, key.len, child) < 0 ? NULL : child;
}

int doc_set(json_t *doc, const char *path, json_t *value)
{
        AUTO_JSON json_t *taken = value;
        if (!taken)
                return ERR_NO_MEMORY;
        struct slice rest = slice_of(path), key;
        while (slice_cut(&rest, '.', &key)) {
                if (!json_is_object(doc))
                        return ERR_INVALID;
                doc = descend(doc, key);
                if (!doc)
                        return ERR_NO_MEMORY;
        }
        if (!json_is_object(doc))
                return ERR_INVALID;
        return json_object_setn_new_nocheck(doc, key.data, key.len, TAKE_PTR(taken)) < 0 ? ERR_NO_MEMORY : 0;
}

json_t *doc_base64(struct slice data)
{
        AUTO_FREE char *text = mem_alloc(text_base64_size(data.len));
        if (!text)
                return NULL;
        text_base64_encode(data.data, data.len, text);
        return json_string(text);
}

int doc_set_string(json_t *doc, const char *path, const char *value)
{
        return doc_set(doc, path, json_string(value));
}

int doc_set_int(json_t *doc, const char *path, int64_t value)
{
        return doc_set(doc, path, json_integer(value));
}

int doc_remove(json_t *doc, const char *path)
{
        struct slice rest = slice_of(path), key;
        while (slice_cut(&rest, '.', &key))
                doc = json_object_getn(doc, key.data, key.len);
        json_object_deln(doc, key.data, key.len);
        return 0;
}
