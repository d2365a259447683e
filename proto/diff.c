/* Equality and merge patches (RFC 7396) of typed objects, by the field tables. Lists are replaced whole,
 * objects and maps member by member. */
#include "common/json/patch.h"
#include "proto/codec.h"

static bool equal_fields(const struct type *t, const void *a, const void *b);

static bool raw_equal(struct slice a, struct slice b)
{
        if (!a.data || !b.data || slice_equal(a, b))
                return !a.data == !b.data;
        /* Other bytes may still be the same value. */
        AUTO_JSON json_t *x = NULL, *y = NULL;
        return doc_parse(a, &x, NULL) == 0 && doc_parse(b, &y, NULL) == 0 && doc_equal(x, y);
}

static bool element_equal(const struct field *f, const char *a, const char *b)
{
        if (f->type == FIELD_LIST)
                return f->element ? equal_fields(f->element, a, b)
                                  : text_equal(*(const char *const *)a, *(const char *const *)b);
        if (f->type == FIELD_RAW_LIST)
                return raw_equal(*(const struct slice *)(const void *)a,
                                 *(const struct slice *)(const void *)b);
        if (!text_equal(*(const char *const *)a, *(const char *const *)b))
                return false;
        a += sizeof(char *);
        b += sizeof(char *);
        if (f->type == FIELD_STRING_MAP)
                return text_equal(*(const char *const *)a, *(const char *const *)b);
        if (f->type == FIELD_RAW_MAP)
                return raw_equal(*(const struct slice *)(const void *)a,
                                 *(const struct slice *)(const void *)b);
        return equal_fields(f->element, a, b);
}

static bool list_equal(const struct field *f, const struct any_list *a, const struct any_list *b)
{
        size_t size = field_element_size(f);
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++)
                if (!element_equal(f, (const char *)a->at + i * size, (const char *)b->at + i * size))
                        return false;
        return true;
}

static bool int_or_string_equal(const struct int_or_string *a, const struct int_or_string *b)
{
        return text_equal(a->text, b->text) && (a->text || a->value == b->value);
}

/* Both are to be written. An empty string and none are the same where the empty one is written anyway. */
static bool value_equal(const struct field *f, const void *a, const void *b)
{
        switch (f->type) {
        case FIELD_STRING:
        case FIELD_INTERNED: {
                const char *x = *(const char *const *)a, *y = *(const char *const *)b;
                return text_equal(x ? x : "", y ? y : "");
        }
        case FIELD_BOOL:
                return ((const struct opt_bool *)a)->value == ((const struct opt_bool *)b)->value;
        case FIELD_FLAG:
                return *(const bool *)a == *(const bool *)b;
        case FIELD_INT:
                return ((const struct opt_int *)a)->value == ((const struct opt_int *)b)->value;
        case FIELD_TIME: {
                int64_t unit = f->flags & FIELD_MICRO ? 1 : 1000; /* what is written is what counts */
                return *(const int64_t *)a / unit == *(const int64_t *)b / unit;
        }
        case FIELD_OBJECT:
                return equal_fields(f->element, *(void *const *)a, *(void *const *)b);
        case FIELD_RAW:
                return raw_equal(*(const struct slice *)a, *(const struct slice *)b);
        case FIELD_INT_OR_STRING:
                return int_or_string_equal(a, b);
        default:
                return list_equal(f, field_list(f, a), field_list(f, b));
        }
}

static bool field_equal(const struct field *f, const void *a, const void *b)
{
        bool x = encode_wanted(f, a), y = encode_wanted(f, b);
        return x == y && (!x || value_equal(f, a, b));
}

static bool equal_fields(const struct type *t, const void *a, const void *b)
{
        for (size_t i = 0; i < t->n_fields; i++)
                if (!field_equal(&t->fields[i], field_at(&t->fields[i], a), field_at(&t->fields[i], b)))
                        return false;
        return true;
}

static bool in_part(const struct field *f, enum object_part part)
{
        return (strcmp(f->name, "status") == 0) == (part == OBJECT_STATUS);
}

bool object_equal_part(const struct object *a, const struct object *b, enum object_part part)
{
        ASSERT(a->kind == b->kind);
        if (part == OBJECT_META_SPEC) {
                struct meta_wire x, y;
                meta_to_wire(&a->meta, &x);
                meta_to_wire(&b->meta, &y);
                if (!equal_fields(&meta_wire_mutable_type, &x, &y))
                        return false;
        }
        const struct type *t = a->kind->root;
        for (size_t i = 0; i < t->n_fields; i++)
                if (in_part(&t->fields[i], part) &&
                    !field_equal(&t->fields[i], field_at(&t->fields[i], a), field_at(&t->fields[i], b)))
                        return false;
        return true;
}

/* A JSON object being written: members are separated, and nested ones begun and ended, as needed. */
struct members {
        struct buf *b;
        bool first;
};

static int write_key(struct members *m, const char *key)
{
        if (!m->first)
                TRY(buf_append_char(m->b, ','));
        m->first = false;
        TRY(buf_append_json_string(m->b, key, strlen(key)));
        return buf_append_char(m->b, ':');
}

static int begin(struct members *m, const char *key, struct members *ret_inner)
{
        TRY(write_key(m, key));
        *ret_inner = (struct members){ m->b, true };
        return buf_append_char(m->b, '{');
}

static int diff_fields(const struct type *t, const void *now, const void *wanted, struct members *m);
/* A merge keeps the keys of an object it does not name, so keys that are to vanish must be named. */
static int diff_raw(struct slice now, struct slice wanted, struct buf *b);

/* The value of a map entry as a field of its own, so that it can be compared and written like one. */
static struct field entry_field(const struct field *f)
{
        static const uint8_t types[] = {
                [FIELD_STRING_MAP] = FIELD_STRING, [FIELD_MAP] = FIELD_OBJECT, [FIELD_RAW_MAP] = FIELD_RAW
        };
        return (struct field){ .type = types[f->type], .element = f->element };
}

static int diff_entry(const struct field *f, const char *now, const char *wanted, struct members *m)
{
        if (element_equal(f, now, wanted))
                return 0;
        const char *key = *(const char *const *)wanted;
        now += sizeof(char *);
        wanted += sizeof(char *);
        if (f->type == FIELD_MAP) {
                struct members inner;
                TRY(begin(m, key, &inner));
                TRY(diff_fields(f->element, now, wanted, &inner));
                return buf_append_char(m->b, '}');
        }
        struct field value = entry_field(f);
        TRY(write_key(m, key));
        if (f->type == FIELD_RAW_MAP)
                return diff_raw(*(const struct slice *)(const void *)now,
                                *(const struct slice *)(const void *)wanted, m->b);
        return encode_value(&value, wanted, m->b);
}

static int add_entry(const struct field *f, const char *wanted, struct members *m)
{
        struct field value = entry_field(f);
        TRY(write_key(m, *(const char *const *)wanted));
        wanted += sizeof(char *);
        const void *struct_at = wanted; /* a FIELD_OBJECT holds a pointer, the entry the struct itself */
        return encode_value(&value, f->type == FIELD_MAP ? (const void *)&struct_at : wanted, m->b);
}

static int remove_key(struct members *m, const char *key)
{
        TRY(write_key(m, key));
        return buf_append_str(m->b, "null");
}

/* Both are sorted by key. */
static int diff_map(const struct field *f, const struct any_list *now, const struct any_list *wanted,
                    struct members *m)
{
        size_t size = field_element_size(f);
        uint32_t i = 0, j = 0;
        while (i < now->n || j < wanted->n) {
                const char *a = i < now->n ? (const char *)now->at + i * size : NULL;
                const char *b = j < wanted->n ? (const char *)wanted->at + j * size : NULL;
                int order = !a ? 1 : !b ? -1 : strcmp(*(const char *const *)a, *(const char *const *)b);
                if (order < 0)
                        TRY(remove_key(m, *(const char *const *)a));
                else if (order > 0)
                        TRY(add_entry(f, b, m));
                else
                        TRY(diff_entry(f, a, b, m));
                i += order <= 0;
                j += order >= 0;
        }
        return 0;
}

static int diff_field(const struct field *f, const void *now, const void *wanted, struct members *m)
{
        bool had = encode_wanted(f, now), has = encode_wanted(f, wanted);
        if (!has)
                return had ? remove_key(m, f->name) : 0;
        if (had && value_equal(f, now, wanted))
                return 0;
        struct members inner;
        if (had && f->type == FIELD_OBJECT) {
                TRY(begin(m, f->name, &inner));
                TRY(diff_fields(f->element, *(void *const *)now, *(void *const *)wanted, &inner));
                return buf_append_char(m->b, '}');
        }
        if (had && (f->type == FIELD_STRING_MAP || f->type == FIELD_MAP || f->type == FIELD_RAW_MAP)) {
                TRY(begin(m, f->name, &inner));
                TRY(diff_map(f, now, wanted, &inner));
                return buf_append_char(m->b, '}');
        }
        TRY(write_key(m, f->name));
        if (had && f->type == FIELD_RAW)
                return diff_raw(*(const struct slice *)now, *(const struct slice *)wanted, m->b);
        return encode_value(f, wanted, m->b);
}

static int diff_fields(const struct type *t, const void *now, const void *wanted, struct members *m)
{
        for (size_t i = 0; i < t->n_fields; i++)
                TRY(diff_field(&t->fields[i], field_at(&t->fields[i], now), field_at(&t->fields[i], wanted),
                               m));
        return 0;
}

static int diff_raw(struct slice now, struct slice wanted, struct buf *b)
{
        AUTO_JSON json_t *from = NULL, *to = NULL, *patch = NULL;
        TRY(doc_parse(now, &from, NULL));
        TRY(doc_parse(wanted, &to, NULL));
        if (!json_is_object(from) || !json_is_object(to))
                return buf_append(b, wanted.data, wanted.len);
        TRY(patch_merge_diff(from, to, &patch, NULL));
        return doc_write(patch, b);
}

/* The members of metadata: what changed, and the resourceVersion the patch is bound to. */
static int diff_meta(const struct object *now, const struct object *wanted, enum object_part part, bool bound,
                     struct members *m)
{
        struct members inner;
        TRY(begin(m, "metadata", &inner));
        if (bound && now->meta.resource_version) {
                TRY(write_key(&inner, "resourceVersion"));
                TRY(buf_append_json_string(m->b, now->meta.resource_version,
                                           strlen(now->meta.resource_version)));
        }
        if (part == OBJECT_META_SPEC) {
                struct meta_wire x, y;
                meta_to_wire(&now->meta, &x);
                meta_to_wire(&wanted->meta, &y);
                TRY(diff_fields(&meta_wire_mutable_type, &x, &y, &inner));
        }
        return buf_append_char(m->b, '}');
}

static int write_patch(const struct object *now, const struct object *wanted, enum object_part part,
                       bool bound, struct buf *b)
{
        struct members m = { b, true };
        TRY(buf_append_char(b, '{'));
        if (bound || part == OBJECT_META_SPEC)
                TRY(diff_meta(now, wanted, part, bound, &m));
        const struct type *t = now->kind->root;
        for (size_t i = 0; i < t->n_fields; i++)
                if (in_part(&t->fields[i], part))
                        TRY(diff_field(&t->fields[i], field_at(&t->fields[i], now),
                                       field_at(&t->fields[i], wanted), &m));
        return buf_append_char(b, '}');
}

int object_merge_patch(const struct object *now, const struct object *wanted, enum object_part part,
                       bool bound, struct buf *b, struct error *err)
{
        if (object_equal_part(now, wanted, part))
                return 0;
        int code = write_patch(now, wanted, part, bound, b);
        if (code < 0 && buf_status(b, err, "merge patch") == 0)
                error_set(err, code, "%s %s: a value is not JSON", now->kind->kind, now->meta.name);
        return code;
}
