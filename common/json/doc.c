/* Reading, copying, comparing and hashing documents. */
#include "common/json/doc.h"

#include <math.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/scan.h"

/* The tree is built from the pull scanner with a stack of our own: jansson's loader recurses, cannot say "too
 * deep" before it is, and turns large integers into errors. */
struct builder {
        struct scanner scan;
        struct error *err;
        json_t *root;
        json_t *open[LIMIT_JSON_DEPTH]; /* containers that are not closed yet; borrowed from root */
        size_t depth;
        struct slice key; /* of the next member */
        bool key_escaped;
        json_t **duplicates; /* made when the first one is met; NULL = they are not told: */
        bool loose;          /* they are passed over; otherwise refused */
};

/* "line 3, column 7: words"; columns count bytes from 1. */
static int syntax_error(struct builder *b, const char *at, const char *words)
{
        size_t line = 1;
        const char *start = b->scan.begin;
        for (const char *p = b->scan.begin; p < at; p++) {
                if (*p == '\n') {
                        line++;
                        start = p + 1;
                }
        }
        return error_set(b->err, ERR_INVALID, "invalid JSON at line %zu, column %zu: %s", line,
                         (size_t)(at - start) + 1, words);
}

static int scan_failed(struct builder *b)
{
        struct error e;
        if (scan_error(&b->scan, &e) == ERR_LIMIT)
                return error_set(b->err, ERR_LIMIT, "%s", e.text);
        return syntax_error(b, b->scan.at, b->scan.problem);
}

/* Appends the step from an open container to the next one. */
static int write_step(const json_t *parent, const json_t *child, struct buf *path)
{
        const char *key;
        json_t *value;
        if (json_is_array(parent))
                return buf_printf(path, "[%zu]", json_array_size(parent) - 1);
        json_object_foreach((json_t *)parent, key, value)
                if (value == child)
                        return buf_printf(path, "%s%s", path->len ? "." : "", key);
        return 0;
}

static int tell_duplicate(struct builder *b, struct slice key)
{
        AUTO_BUF struct buf path;
        buf_init(&path, LIMIT_OBJECT_BYTES);
        for (size_t i = 0; i + 1 < b->depth; i++)
                (void)write_step(b->open[i], b->open[i + 1], &path);
        (void)buf_append_str(&path, path.len ? "." : "");
        (void)buf_append(&path, key.data, key.len);
        TRY(buf_status(&path, b->err, "a path"));
        if (!*b->duplicates)
                *b->duplicates = json_array();
        return json_array_append_new(*b->duplicates, json_stringn(path.data, path.len)) < 0
                       ? error_no_memory(b->err)
                       : 0;
}

static int refuse_duplicate(struct builder *b, struct slice key)
{
        char words[160];
        snprintf(words, sizeof(words), "duplicate key \"%.*s\"", (int)MIN(key.len, (size_t)100), key.data);
        return syntax_error(b, b->key.data - 1, words);
}

static int add_member(struct builder *b, struct slice key, json_t *value)
{
        json_t *object = b->open[b->depth - 1];
        if (memchr(key.data, '\0', key.len)) {
                json_decref(value);
                return syntax_error(b, b->key.data, "NUL in a key");
        }
        if (json_object_getn(object, key.data, key.len)) {
                int code = b->duplicates ? tell_duplicate(b, key) : b->loose ? 0 : refuse_duplicate(b, key);
                if (code < 0) {
                        json_decref(value);
                        return code;
                }
        }
        if (json_object_setn_new_nocheck(object, key.data, key.len, value) < 0)
                return error_no_memory(b->err);
        return 0;
}

static int add_escaped_member(struct builder *b, json_t *value)
{
        AUTO_FREE char *key = mem_alloc(b->key.len);
        if (!key) {
                json_decref(value);
                return error_no_memory(b->err);
        }
        size_t n = scan_decode(b->key, key);
        return add_member(b, (struct slice){ key, n }, value);
}

/* Hangs a value (taken; NULL = no memory) into the open container. */
static int add_value(struct builder *b, json_t *value)
{
        if (!value)
                return error_no_memory(b->err);
        if (!b->depth) {
                b->root = value;
                return 0;
        }
        json_t *parent = b->open[b->depth - 1];
        if (json_is_object(parent))
                return b->key_escaped ? add_escaped_member(b, value) : add_member(b, b->key, value);
        return json_array_append_new(parent, value) < 0 ? error_no_memory(b->err) : 0;
}

static int add_string(struct builder *b)
{
        struct slice text = b->scan.text;
        if (!b->scan.escaped)
                return add_value(b, json_stringn_nocheck(text.data, text.len));
        AUTO_FREE char *decoded = mem_alloc(text.len);
        if (!decoded)
                return error_no_memory(b->err);
        return add_value(b, json_stringn_nocheck(decoded, scan_decode(text, decoded)));
}

static int add_number(struct builder *b)
{
        int64_t integer;
        double real;
        if (scan_number(b->scan.text, &integer, &real))
                return add_value(b, json_integer(integer));
        if (!isfinite(real))
                return syntax_error(b, b->scan.text.data, "the number is out of range");
        return add_value(b, json_real(real));
}

static int open_container(struct builder *b, json_t *container)
{
        TRY(add_value(b, container));
        b->open[b->depth++] = container;
        return 0;
}

static int add_token(struct builder *b, enum scan_token t)
{
        switch (t) {
        case SCAN_OBJECT:
                return open_container(b, json_object());
        case SCAN_ARRAY:
                return open_container(b, json_array());
        case SCAN_OBJECT_END:
        case SCAN_ARRAY_END:
                b->depth--;
                return 0;
        case SCAN_KEY:
                b->key = b->scan.text;
                b->key_escaped = b->scan.escaped;
                return 0;
        case SCAN_STRING:
                return add_string(b);
        case SCAN_NUMBER:
                return add_number(b);
        case SCAN_TRUE:
                return add_value(b, json_true());
        case SCAN_FALSE:
                return add_value(b, json_false());
        case SCAN_NULL:
                return add_value(b, json_null());
        default:
                return scan_failed(b);
        }
}

static int parse(struct slice text, json_t **ret, json_t **ret_duplicates, bool loose, struct error *err)
{
        struct builder b = { .err = err, .duplicates = ret_duplicates, .loose = loose };
        scan_init(&b.scan, text);
        enum scan_token t;
        while ((t = scan_next(&b.scan)) != SCAN_END) {
                int code = add_token(&b, t);
                if (code < 0) {
                        json_decref(b.root);
                        return code;
                }
        }
        *ret = b.root;
        return 0;
}

int doc_parse(struct slice text, json_t **ret, struct error *err)
{
        return parse(text, ret, NULL, false, err);
}

int doc_parse_loose(struct slice text, json_t **ret, json_t **ret_duplicates, struct error *err)
{
        AUTO_JSON json_t *duplicates = NULL;
        TRY(parse(text, ret, ret_duplicates ? &duplicates : NULL, true, err));
        if (ret_duplicates)
                *ret_duplicates = TAKE_PTR(duplicates);
        return 0;
}

json_t *doc_copy_members(const json_t *object)
{
        AUTO_JSON json_t *copy = json_object();
        json_t *mutable = (json_t *)object; /* jansson's iterators do not take const */

        if (!copy)
                return NULL;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i))
                if (json_object_setn_nocheck(copy, json_object_iter_key(i), json_object_iter_key_len(i),
                                             json_object_iter_value(i)) < 0)
                        return NULL;
        return TAKE_PTR(copy);
}

int doc_own_member(json_t *object, const json_t *other, const char *key)
{
        const json_t *member = json_object_get(object, key);

        if (!json_is_object(member) || member != json_object_get(other, key))
                return 0;
        return json_object_set_new_nocheck(object, key, doc_copy_members(member)) < 0 ? ERR_NO_MEMORY : 0;
}

static json_t *copy_object(const json_t *doc)
{
        AUTO_JSON json_t *copy = json_object();
        if (!copy)
                return NULL;
        json_t *mutable = (json_t *)doc; /* jansson's iterators do not take const */
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                json_t *value = doc_copy(json_object_iter_value(i));
                /* Takes the value on failure too, and fails on a NULL one. */
                if (json_object_setn_new_nocheck(copy, json_object_iter_key(i), json_object_iter_key_len(i),
                                                 value) < 0)
                        return NULL;
        }
        return TAKE_PTR(copy);
}

static json_t *copy_array(const json_t *doc)
{
        AUTO_JSON json_t *copy = json_array();
        if (!copy)
                return NULL;
        for (size_t i = 0; i < json_array_size(doc); i++)
                if (json_array_append_new(copy, doc_copy(json_array_get(doc, i))) < 0)
                        return NULL;
        return TAKE_PTR(copy);
}

static void let_go(void *doc)
{
        json_decref(doc);
}

int doc_keep(struct arena *a, json_t *doc, struct error *err)
{
        return arena_defer(a, let_go, doc) < 0 ? error_no_memory(err) : 0;
}

json_t *doc_copy(const json_t *doc)
{
        if (!doc)
                return NULL;
        switch (json_typeof(doc)) {
        case JSON_OBJECT:
                return copy_object(doc);
        case JSON_ARRAY:
                return copy_array(doc);
        case JSON_STRING:
                return json_stringn_nocheck(json_string_value(doc), json_string_length(doc));
        case JSON_INTEGER:
                return json_integer(json_integer_value(doc));
        case JSON_REAL:
                return json_real(json_real_value(doc));
        default: /* true, false, null: shared constants */
                return (json_t *)doc;
        }
}

static void measure(const json_t *v, size_t outer, struct doc_measure *m)
{
        json_t *mutable = (json_t *)v;
        bool container = json_is_object(v) || json_is_array(v);
        m->values++;
        m->bytes += 6 + json_string_length(v);
        m->depth = MAX(m->depth, outer + container);
        for (size_t i = 0; i < json_array_size(v); i++)
                measure(json_array_get(v, i), outer + 1, m);
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                m->bytes += 3 + json_object_iter_key_len(i);
                measure(json_object_iter_value(i), outer + 1, m);
        }
}

void doc_measure(const json_t *doc, struct doc_measure *ret)
{
        *ret = (struct doc_measure){ 0 };
        measure(doc, 0, ret);
}

static bool objects_equal(const json_t *a, const json_t *b)
{
        if (json_object_size(a) != json_object_size(b))
                return false;
        json_t *mutable = (json_t *)a;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                const json_t *other =
                        json_object_getn(b, json_object_iter_key(i), json_object_iter_key_len(i));
                if (!other || !doc_equal(json_object_iter_value(i), other))
                        return false;
        }
        return true;
}

static bool arrays_equal(const json_t *a, const json_t *b)
{
        if (json_array_size(a) != json_array_size(b))
                return false;
        for (size_t i = 0; i < json_array_size(a); i++)
                if (!doc_equal(json_array_get(a, i), json_array_get(b, i)))
                        return false;
        return true;
}

/* Exact: 2^53 + 1 is not 2^53. The bound keeps the conversion to an integer defined. */
static bool integer_equals_real(json_int_t integer, double real)
{
        return real >= -0x1p63 && real < 0x1p63 && real == floor(real) && (json_int_t)real == integer;
}

bool doc_equal(const json_t *a, const json_t *b)
{
        if (a == b)
                return true;
        if (!a || !b)
                return false;
        if (json_is_integer(a) && json_is_real(b))
                return integer_equals_real(json_integer_value(a), json_real_value(b));
        if (json_is_real(a) && json_is_integer(b))
                return integer_equals_real(json_integer_value(b), json_real_value(a));
        if (json_typeof(a) != json_typeof(b))
                return false;
        switch (json_typeof(a)) {
        case JSON_OBJECT:
                return objects_equal(a, b);
        case JSON_ARRAY:
                return arrays_equal(a, b);
        case JSON_STRING:
                return json_string_length(a) == json_string_length(b) &&
                       memcmp(json_string_value(a), json_string_value(b), json_string_length(a)) == 0;
        case JSON_INTEGER:
                return json_integer_value(a) == json_integer_value(b);
        case JSON_REAL:
                return json_real_value(a) == json_real_value(b);
        default:
                return true;
        }
}

static size_t count_apart_from(const json_t *object, const char *const *left_out, size_t n)
{
        size_t count = json_object_size(object);
        for (size_t i = 0; i < n; i++)
                count -= json_object_get(object, left_out[i]) != NULL;
        return count;
}

bool doc_equal_apart_from(const json_t *a, const json_t *b, const char *const *left_out, size_t n)
{
        const char *key;
        json_t *value;
        if (!json_is_object(a) || !json_is_object(b) ||
            count_apart_from(a, left_out, n) != count_apart_from(b, left_out, n))
                return false;
        json_object_foreach((json_t *)a, key, value)
                if (!text_in(key, left_out, n) && !doc_equal(value, json_object_get(b, key)))
                        return false;
        return true;
}

int doc_hash(const json_t *doc, char ret[65], struct error *err)
{
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_RESPONSE_BYTES);
        doc_write_canonical(doc, &b);
        TRY(buf_status(&b, err, "the document to hash"));
        sha256_hex(b.data, b.len, ret);
        return 0;
}
