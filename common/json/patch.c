/* JSON Patch (RFC 6902) over JSON Pointers (RFC 6901). */
#include "common/json/patch.h"

#include <stdarg.h>

#include "common/base/limits.h"
#include "common/base/memory.h"

/* As kube-apiserver bounds them: a few copies of copies grow without bound. */
enum { OPERATIONS_MAX = 10000, COPY_BYTES_MAX = LIMIT_REQUEST_BODY_BYTES };

struct patcher {
        json_t *root;  /* the document being changed, owned */
        size_t copied; /* bytes by all copy operations */
        bool lenient;  /* replace may add */
        struct error *err;
        /* the current operation */
        size_t index;
        const char *op, *path;
        const json_t *operation;
};

/* The place a pointer names: the container and the last token; parent is NULL for the whole document. */
struct place {
        json_t *parent;
        char *token;  /* decoded, owned */
        size_t depth; /* containers around the place */
};

static void place_cleanup(struct place *p)
{
        mem_free(p->token);
}

PRINTF_LIKE(2, 3) static int refuse(struct patcher *p, const char *fmt, ...)
{
        char words[600];
        va_list args;
        va_start(args, fmt);
        vsnprintf(words, sizeof(words), fmt, args);
        va_end(args);
        return error_set(p->err, ERR_INVALID, "operation %zu: %s operation does not apply: %s", p->index,
                         p->op, words);
}

static int missing(struct patcher *p, const char *path)
{
        return refuse(p, "doc is missing path: \"%s\": missing value", path);
}

/* Decodes one reference token: ~1 is a slash, ~0 a tilde. NULL with code on failure. */
static int decode_token(struct patcher *p, struct slice raw, char **ret)
{
        AUTO_FREE char *token = mem_strndup(raw.data, raw.len);
        if (!token)
                return error_no_memory(p->err);
        size_t n = 0;
        for (size_t i = 0; i < raw.len; i++) {
                char c = raw.data[i];
                if (c == '~') {
                        c = ++i < raw.len ? raw.data[i] : '?';
                        if (c != '0' && c != '1')
                                return refuse(p, "\"%.*s\": ~ must be followed by 0 or 1",
                                              (int)MIN(raw.len, (size_t)200), raw.data);
                        c = c == '0' ? '~' : '/';
                }
                token[n++] = c;
        }
        token[n] = '\0';
        *ret = TAKE_PTR(token);
        return 0;
}

/* An index of an array: decimal without leading zeros, below `bound`. */
static int array_index(struct patcher *p, const char *token, size_t bound, size_t *ret)
{
        uint64_t index;
        if (!text_parse_u64(token, &index) || (token[0] == '0' && token[1]))
                return refuse(p, "\"%.100s\" is no array index: invalid index referenced", token);
        if (index >= bound)
                return refuse(p, "Unable to access invalid index: %.40s: invalid index referenced", token);
        *ret = (size_t)index;
        return 0;
}

static int child_of(struct patcher *p, const json_t *parent, const char *token, const char *path,
                    json_t **ret)
{
        if (json_is_array(parent)) {
                size_t index;
                TRY(array_index(p, token, json_array_size(parent), &index));
                *ret = json_array_get(parent, index);
                return 0;
        }
        json_t *child = json_object_get(parent, token);
        if (!child)
                return missing(p, path);
        *ret = child;
        return 0;
}

static int find_place(struct patcher *p, const char *path, struct place *ret)
{
        if (path[0] == '\0')
                return 0;
        if (path[0] != '/')
                return refuse(p, "\"%.200s\": a path must be empty or start with /", path);
        struct slice rest = slice_of(path + 1), raw;
        json_t *at = p->root;
        for (;;) {
                bool more = slice_cut(&rest, '/', &raw);
                if (!json_is_object(at) && !json_is_array(at))
                        return missing(p, path);
                mem_free(TAKE_PTR(ret->token));
                TRY(decode_token(p, raw, &ret->token));
                ret->parent = at;
                ret->depth++;
                if (!more)
                        return 0;
                TRY(child_of(p, at, ret->token, path, &at));
        }
}

static int find_value(struct patcher *p, const char *path, json_t **ret)
{
        CLEANUP(place_cleanup) struct place place = { 0 };
        TRY(find_place(p, path, &place));
        if (place.parent)
                return child_of(p, place.parent, place.token, path, ret);
        *ret = p->root;
        return 0;
}

/* `value` is taken, also on failure. */
static int add_at(struct patcher *p, const char *path, json_t *value)
{
        AUTO_JSON json_t *taken = value;
        CLEANUP(place_cleanup) struct place place = { 0 };
        struct doc_measure m;
        if (!value)
                return error_no_memory(p->err);
        TRY(find_place(p, path, &place));
        doc_measure(value, &m);
        if (place.depth + m.depth > LIMIT_JSON_DEPTH)
                return error_set(
                        p->err, ERR_LIMIT,
                        "operation %zu: the document would nest deeper than %d levels (LIMIT_JSON_DEPTH)",
                        p->index, LIMIT_JSON_DEPTH);
        if (!place.parent) {
                json_decref(p->root);
                p->root = TAKE_PTR(taken);
                return 0;
        }
        if (json_is_object(place.parent))
                return json_object_set_nocheck(place.parent, place.token, value) < 0 ? error_no_memory(p->err)
                                                                                     : 0;
        size_t index = json_array_size(place.parent);
        if (strcmp(place.token, "-") != 0)
                TRY(array_index(p, place.token, index + 1, &index));
        return json_array_insert(place.parent, index, value) < 0 ? error_no_memory(p->err) : 0;
}

static int remove_at(struct patcher *p, const char *path)
{
        CLEANUP(place_cleanup) struct place place = { 0 };
        json_t *value;
        TRY(find_place(p, path, &place));
        if (!place.parent)
                return refuse(p, "the whole document cannot be removed");
        TRY(child_of(p, place.parent, place.token, path, &value));
        if (json_is_object(place.parent)) {
                json_object_del(place.parent, place.token);
                return 0;
        }
        size_t index;
        TRY(array_index(p, place.token, json_array_size(place.parent), &index));
        json_array_remove(place.parent, index);
        return 0;
}

static int need_value(struct patcher *p, const json_t **ret)
{
        *ret = json_object_get(p->operation, "value");
        return *ret ? 0 : error_set(p->err, ERR_INVALID, "operation %zu: %s needs a value", p->index, p->op);
}

static int need_from(struct patcher *p, const char **ret)
{
        *ret = doc_get_string(p->operation, "from");
        return *ret ? 0
                    : error_set(p->err, ERR_INVALID, "operation %zu: %s needs from, a string", p->index,
                                p->op);
}

static int do_add(struct patcher *p)
{
        const json_t *value;
        TRY(need_value(p, &value));
        return add_at(p, p->path, doc_copy(value));
}

static int do_remove(struct patcher *p)
{
        return remove_at(p, p->path);
}

static int do_replace(struct patcher *p)
{
        CLEANUP(place_cleanup) struct place place = { 0 };
        const json_t *value;
        json_t *old;
        size_t index;
        TRY(need_value(p, &value));
        TRY(find_place(p, p->path, &place));
        if (place.parent && !(p->lenient && json_is_object(place.parent)))
                TRY(child_of(p, place.parent, place.token, p->path, &old));
        if (!json_is_array(place.parent))
                return add_at(p, p->path, doc_copy(value));
        TRY(array_index(p, place.token, json_array_size(place.parent), &index));
        TRY(add_at(p, p->path, doc_copy(value))); /* checks the depth, too */
        json_array_remove(place.parent, index + 1);
        return 0;
}

static int do_move(struct patcher *p)
{
        const char *from;
        json_t *value;
        TRY(need_from(p, &from));
        TRY(find_value(p, from, &value));
        if (strcmp(from, p->path) == 0)
                return 0;
        if (text_starts_with(p->path, from) && (p->path[strlen(from)] == '/' || !*from))
                return refuse(p, "\"%.200s\" cannot move into itself", from);
        AUTO_JSON json_t *moved = json_incref(value);
        TRY(remove_at(p, from));
        return add_at(p, p->path, TAKE_PTR(moved));
}

static int do_copy(struct patcher *p)
{
        const char *from;
        json_t *value;
        struct doc_measure m;
        TRY(need_from(p, &from));
        TRY(find_value(p, from, &value));
        doc_measure(value, &m);
        p->copied += m.bytes;
        if (p->copied > COPY_BYTES_MAX)
                return error_set(p->err, ERR_LIMIT,
                                 "operation %zu: Unable to complete the copy, the accumulated size increase "
                                 "of copy is %zu, exceeding the limit %d",
                                 p->index, p->copied, COPY_BYTES_MAX);
        return add_at(p, p->path, doc_copy(value));
}

static int do_test(struct patcher *p)
{
        const json_t *value;
        json_t *found;
        TRY(need_value(p, &value));
        TRY(find_value(p, p->path, &found));
        if (!doc_equal(found, value))
                return error_set(p->err, ERR_INVALID, "operation %zu: testing value %s failed: test failed",
                                 p->index, p->path);
        return 0;
}

static int apply_operation(struct patcher *p)
{
        static const struct {
                const char *op;
                int (*apply)(struct patcher *);
        } operations[] = { { "add", do_add },   { "remove", do_remove }, { "replace", do_replace },
                           { "move", do_move }, { "copy", do_copy },     { "test", do_test } };
        if (!json_is_object(p->operation))
                return error_set(p->err, ERR_INVALID, "operation %zu: must be an object", p->index);
        p->op = doc_get_string(p->operation, "op");
        p->path = doc_get_string(p->operation, "path");
        if (!p->op || !p->path)
                return error_set(p->err, ERR_INVALID, "operation %zu: %s must be a string", p->index,
                                 p->op ? "path" : "op");
        for (size_t i = 0; i < ARRAY_LEN(operations); i++)
                if (strcmp(p->op, operations[i].op) == 0)
                        return operations[i].apply(p);
        return error_set(p->err, ERR_INVALID, "operation %zu: Unexpected kind: %.50s", p->index, p->op);
}

static int run_all(struct patcher *p, const json_t *operations)
{
        if (!json_is_array(operations))
                return error_set(p->err, ERR_INVALID, "a JSON patch must be an array of operations");
        if (json_array_size(operations) > OPERATIONS_MAX)
                return error_set(p->err, ERR_LIMIT,
                                 "The allowed maximum operations in a JSON patch is %d, got %zu",
                                 OPERATIONS_MAX, json_array_size(operations));
        for (p->index = 0; p->index < json_array_size(operations); p->index++) {
                p->operation = json_array_get(operations, p->index);
                TRY(apply_operation(p));
        }
        return 0;
}

static int apply_to_copy(const json_t *doc, const json_t *operations, bool lenient, json_t **ret,
                         struct error *err)
{
        struct patcher p = { .root = doc_copy(doc), .lenient = lenient, .err = err };
        int code = p.root ? run_all(&p, operations) : error_no_memory(err);
        if (code < 0) {
                json_decref(p.root);
                return code;
        }
        *ret = p.root;
        return 0;
}

int patch_json(const json_t *doc, const json_t *operations, json_t **ret, struct error *err)
{
        return apply_to_copy(doc, operations, false, ret, err);
}

int patch_json_lenient(const json_t *doc, const json_t *operations, json_t **ret, struct error *err)
{
        return apply_to_copy(doc, operations, true, ret, err);
}

int patch_json_in_place(json_t **doc, const json_t *operations, struct error *err)
{
        struct patcher p = { .root = *doc, .err = err };
        int code = run_all(&p, operations);
        *doc = p.root;
        return code;
}
