/* Reading, copying, comparing and hashing documents. */
#include "common/json/doc_beside.h"

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
        /* Containers that are not closed yet; borrowed from root. NULL: one that has been as the other
         * document's so far, of which nothing was built. */
        json_t *open[LIMIT_JSON_DEPTH];
        struct beside *beside; /* one for each of open[], NULL = there is no other document */
        const json_t *like;    /* the other document */
        size_t depth;
        struct slice key; /* of the next member */
        bool key_escaped;
        json_t **duplicates; /* made when the first one is met; NULL = they are not told: */
        bool loose;          /* they are passed over; otherwise refused */
};

/* A container beside that of the other document. */
struct beside {
        json_t *like;     /* NULL: there is none */
        void *next;       /* member of it, objects only */
        size_t n_same;    /* of its first members, while nothing was built */
        struct slice key; /* under which it goes into its own container */
        bool key_escaped;
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
        size_t n = json_object_size(object);
        if (json_object_setn_new_nocheck(object, key.data, key.len, value) < 0)
                return error_no_memory(b->err);
        if (json_object_size(object) > n)
                return 0;
        return b->duplicates ? tell_duplicate(b, key) : b->loose ? 0 : refuse_duplicate(b, key);
}

static int add_escaped_member(struct builder *b, json_t *value)
{
        AUTO_FREE char *key = mem_alloc(b->key.len);
        if (!key) {
                json_decref(value);
                return error_no_memory(b->err);
        }
        size_t n = scan_decode(b->key, key);
        if (memchr(key, '\0', n)) {
                json_decref(value);
                return syntax_error(b, b->key.data, "NUL in a key");
        }
        return add_member(b, (struct slice){ key, n }, value);
}

/* Hangs a value (taken; NULL = no memory) into the open container, which is built. */
static int add_built(struct builder *b, json_t *value)
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

/* A copy of what an open container has been so far. */
static json_t *first_same(const struct beside *at)
{
        AUTO_JSON json_t *copy = json_is_object(at->like) ? json_object() : json_array();
        void *member = json_object_iter(at->like);
        for (size_t i = 0; copy && i < at->n_same; i++) {
                int r;
                if (json_is_array(at->like)) {
                        r = json_array_append(copy, json_array_get(at->like, i));
                } else {
                        r = json_object_setn_nocheck(copy, json_object_iter_key(member),
                                                     json_object_iter_key_len(member),
                                                     json_object_iter_value(member));
                        member = json_object_iter_next(at->like, member);
                }
                if (r < 0)
                        return NULL;
        }
        return TAKE_PTR(copy);
}

/* Something is another: builds the open containers as far as they were the same. */
static int build_open(struct builder *b)
{
        struct slice key = b->key;
        bool escaped = b->key_escaped;
        size_t depth = b->depth, first = depth;
        while (first > 0 && !b->open[first - 1])
                first--;
        int r = 0;
        for (b->depth = first; r == 0 && b->depth < depth; b->depth++) {
                struct beside *at = &b->beside[b->depth];
                json_t *built = first_same(at);
                b->key = at->key;
                b->key_escaped = at->key_escaped;
                r = add_built(b, built);
                b->open[b->depth] = r == 0 ? built : NULL;
        }
        b->depth = depth;
        b->key = key;
        b->key_escaped = escaped;
        return r;
}

static int add_value(struct builder *b, json_t *value)
{
        if (value && b->depth && !b->open[b->depth - 1]) {
                int r = build_open(b);
                if (r < 0)
                        return json_decref(value), r;
        }
        return add_built(b, value);
}

/* Passes a member of the other document that is the same as the one that comes. */
static int pass_same(struct builder *b, const json_t *same)
{
        if (b->depth && !b->open[b->depth - 1]) {
                b->beside[b->depth - 1].n_same++;
                return 0;
        }
        return add_built(b, json_incref((json_t *)same));
}

/* What the other document has under the key that was read; with another key than that one's next the
 * container is another. */
static const json_t *expect_member(struct builder *b, struct beside *in)
{
        if (b->key_escaped)
                return NULL;
        if (in->next && json_object_iter_key_len(in->next) == b->key.len &&
            memcmp(json_object_iter_key(in->next), b->key.data, b->key.len) == 0) {
                const json_t *value = json_object_iter_value(in->next);
                in->next = json_object_iter_next(in->like, in->next);
                return value;
        }
        if (!b->open[b->depth - 1] && build_open(b) < 0)
                return NULL; /* which is told when the value is added */
        return json_object_getn(in->like, b->key.data, b->key.len);
}

/* What the other document has where the next value goes. */
static const json_t *expect(struct builder *b)
{
        if (!b->beside || !b->depth)
                return b->like;
        struct beside *in = &b->beside[b->depth - 1];
        json_t *built = b->open[b->depth - 1];
        if (!in->like)
                return NULL;
        if (json_is_object(in->like))
                return expect_member(b, in);
        return json_array_get(in->like, built ? json_array_size(built) : in->n_same);
}

static int add_string(struct builder *b)
{
        struct slice text = b->scan.text;
        const json_t *like = expect(b);
        if (!b->scan.escaped && json_is_string(like) && json_string_length(like) == text.len &&
            memcmp(json_string_value(like), text.data, text.len) == 0)
                return pass_same(b, like);
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
        const json_t *like = expect(b);
        if (scan_number(b->scan.text, &integer, &real))
                return json_is_integer(like) && json_integer_value(like) == integer
                               ? pass_same(b, like)
                               : add_value(b, json_integer(integer));
        if (!isfinite(real))
                return syntax_error(b, b->scan.text.data, "the number is out of range");
        return add_value(b, json_real(real));
}

static int open_container(struct builder *b, bool object)
{
        const json_t *like = expect(b);
        json_t *built = NULL;
        bool same = like && (object ? json_is_object(like) : json_is_array(like));
        if (b->beside)
                b->beside[b->depth] = (struct beside){ .like = same ? (json_t *)like : NULL,
                                                       .key = b->key,
                                                       .key_escaped = b->key_escaped };
        if (same)
                b->beside[b->depth].next = json_object_iter((json_t *)like);
        else
                TRY(add_value(b, built = object ? json_object() : json_array()));
        b->open[b->depth++] = built;
        return 0;
}

static int close_container(struct builder *b)
{
        if (!b->open[b->depth - 1]) {
                struct beside *at = &b->beside[b->depth - 1];
                size_t n = json_is_object(at->like) ? json_object_size(at->like) : json_array_size(at->like);
                if (at->n_same == n) {
                        b->depth--;
                        b->key = at->key;
                        b->key_escaped = at->key_escaped;
                        return pass_same(b, at->like);
                }
                TRY(build_open(b));
        }
        b->depth--;
        return 0;
}

static int add_word(struct builder *b, json_t *value)
{
        const json_t *like = expect(b);
        return like == value && !json_is_null(value) ? pass_same(b, like) : add_value(b, value);
}

static int add_token(struct builder *b, enum scan_token t)
{
        switch (t) {
        case SCAN_OBJECT:
                return open_container(b, true);
        case SCAN_ARRAY:
                return open_container(b, false);
        case SCAN_OBJECT_END:
        case SCAN_ARRAY_END:
                return close_container(b);
        case SCAN_KEY:
                b->key = b->scan.text;
                b->key_escaped = b->scan.escaped;
                return 0;
        case SCAN_STRING:
                return add_string(b);
        case SCAN_NUMBER:
                return add_number(b);
        case SCAN_TRUE:
                return add_word(b, json_true());
        case SCAN_FALSE:
                return add_word(b, json_false());
        case SCAN_NULL:
                return add_word(b, json_null());
        default:
                return scan_failed(b);
        }
}

static int build(struct builder *b, struct slice text, json_t **ret)
{
        scan_init(&b->scan, text);
        enum scan_token t;
        while ((t = scan_next(&b->scan)) != SCAN_END) {
                int code = add_token(b, t);
                if (code < 0) {
                        json_decref(b->root);
                        return code;
                }
        }
        *ret = b->root;
        return 0;
}

int doc_parse(struct slice text, json_t **ret, struct error *err)
{
        struct builder b = { .err = err };
        return build(&b, text, ret);
}

int doc_parse_beside(struct slice text, const json_t *like, json_t **ret, json_t **ret_duplicates,
                     struct error *err)
{
        AUTO_JSON json_t *duplicates = NULL;
        struct beside beside[LIMIT_JSON_DEPTH];
        struct builder b = { .err = err,
                             .duplicates = ret_duplicates ? &duplicates : NULL,
                             .loose = true,
                             .like = like,
                             .beside = like ? beside : NULL };
        TRY(build(&b, text, ret));
        if (ret_duplicates)
                *ret_duplicates = TAKE_PTR(duplicates);
        return 0;
}

int doc_parse_loose(struct slice text, json_t **ret, json_t **ret_duplicates, struct error *err)
{
        return doc_parse_beside(text, NULL, ret, ret_duplicates, err);
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

bool doc_pairs_next(struct doc_pairs *p)
{
        p->at = p->begun ? json_object_iter_next(p->object, p->at) : json_object_iter(p->object);
        if (!p->begun)
                p->beside = json_object_iter(p->other_object);
        p->begun = true;
        if (!p->at)
                return false;
        p->key = json_object_iter_key(p->at);
        p->key_len = json_object_iter_key_len(p->at);
        p->value = json_object_iter_value(p->at);
        if (p->beside && json_object_iter_key_len(p->beside) == p->key_len &&
            memcmp(json_object_iter_key(p->beside), p->key, p->key_len) == 0) {
                p->other = json_object_iter_value(p->beside);
                p->beside = json_object_iter_next(p->other_object, p->beside);
        } else {
                p->other = json_object_getn(p->other_object, p->key, p->key_len);
        }
        return true;
}

bool doc_shares_members(const json_t *object, const json_t *other)
{
        struct doc_pairs p = DOC_PAIRS(object, other);
        while (doc_pairs_next(&p))
                if (p.value != p.other)
                        return false;
        return true;
}

static bool objects_equal(const json_t *a, const json_t *b)
{
        struct doc_pairs p = DOC_PAIRS(a, b);
        if (json_object_size(a) != json_object_size(b))
                return false;
        while (doc_pairs_next(&p))
                if (!p.other || !doc_equal(p.value, p.other))
                        return false;
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

bool doc_equal_apart_from(const json_t *a, const json_t *b, const char *const *left_out, size_t n)
{
        struct doc_pairs p = DOC_PAIRS(a, b);
        size_t count = json_object_size(b);
        if (!json_is_object(a) || !json_is_object(b))
                return false;
        for (size_t i = 0; i < n; i++)
                count -= json_object_get(b, left_out[i]) != NULL;
        while (doc_pairs_next(&p))
                if (!text_in(p.key, left_out, n) && (!count-- || !p.other || !doc_equal(p.value, p.other)))
                        return false;
        return count == 0;
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
