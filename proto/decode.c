/* From JSON text into typed structs, by the field tables. */
#include <stdarg.h>
#include <stdio.h>

#include "common/base/buf.h"
#include "proto/codec.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

enum {
        INTERN_MAX = 256,            /* longer strings are kept in their object */
        INTERN_TABLE_MAX = 32 << 20, /* a table this large takes nothing new: strings come from members too,
                                      * and names of snapshots grow with history */
        FIRST_CAPACITY = 4,
};

static int decode_struct(struct decoder *d, const struct type *t, const struct path *path, void *ret);
static int decode_field(struct decoder *d, const struct field *f, const struct path *path, void *at);

static void print_path(const struct path *p, struct buf *b)
{
        if (!p)
                return;
        print_path(p->parent, b);
        if (!p->key)
                buf_printf(b, "[%u]", p->index);
        else
                buf_printf(b, "%s%.200s", p->parent ? "." : "", p->key);
}

int decode_wrong(struct decoder *d, const struct path *path, const char *fmt, ...)
{
        AUTO_BUF struct buf where;
        buf_init(&where, ERROR_TEXT_MAX);
        print_path(path, &where);
        char what[256];
        va_list args;
        va_start(args, fmt);
        vsnprintf(what, sizeof(what), fmt, args);
        va_end(args);
        return error_set(d->err, ERR_INVALID, "%s: %s", where.len ? where.data : "object", what);
}

int decode_failed(struct decoder *d)
{
        return scan_error(&d->scan, d->err);
}

static const char *token_words(enum scan_token t)
{
        switch (t) {
        case SCAN_OBJECT:
                return "an object";
        case SCAN_ARRAY:
                return "an array";
        case SCAN_STRING:
                return "a string";
        case SCAN_NUMBER:
                return "a number";
        case SCAN_TRUE:
        case SCAN_FALSE:
                return "a boolean";
        default:
                return "null";
        }
}

static int wrong_type(struct decoder *d, const struct path *path, const char *wanted, enum scan_token t)
{
        if (t == SCAN_ERROR || t == SCAN_END)
                return decode_failed(d);
        return decode_wrong(d, path, "must be %s, is %s", wanted, token_words(t));
}

int decoder_init(struct decoder *d, struct slice json, enum decode_flags flags, struct intern_table *interns,
                 struct arena *arena, struct error *err)
{
        *d = (struct decoder){ .arena = arena, .interns = interns, .flags = flags, .err = err };
        scan_init(&d->scan, json);
        d->text_cap =
                json.len + 1; /* a decoded string and its NUL are never longer than its text with quotes */
        d->text = arena_alloc(arena, d->text_cap);
        return d->text ? 0 : error_no_memory(err);
}

static const char *keep_text(struct decoder *d, const char *s, size_t n)
{
        ASSERT(n < d->text_cap - d->text_len);
        char *to = d->text + d->text_len;
        memcpy(to, s, n);
        to[n] = '\0';
        d->text_len += n + 1;
        return to;
}

static bool table_open(const struct decoder *d)
{
        return d->interns && intern_table_bytes(d->interns) <= INTERN_TABLE_MAX;
}

/* The interned form, or NULL when the string is not to be interned or there is no room. */
static const char *try_intern(struct decoder *d, const char *s, size_t n)
{
        if (n > INTERN_MAX || !table_open(d))
                return NULL;
        return intern(d->interns, s, n);
}

/* A C string cannot hold U+0000 and would end there, so it becomes U+FFFD: what somebody puts into an
 * annotation or a message is no reason to miss the object. No name in Kubernetes holds either. */
static const char *replace_nul(struct decoder *d, const char *s, size_t *n)
{
        static const char replacement[] = "\xef\xbf\xbd";
        char *copy = arena_alloc(d->arena, *n * 3), *to = copy;
        if (!copy)
                return NULL;
        for (size_t i = 0; i < *n; i++) {
                size_t len = s[i] ? 1 : 3;
                memcpy(to, s[i] ? &s[i] : replacement, len);
                to += len;
        }
        *n = (size_t)(to - copy);
        return copy;
}

int decode_text(struct decoder *d, bool intern_it, const char **ret)
{
        const char *s = d->scan.text.data;
        size_t n = d->scan.text.len;
        if (d->scan.escaped) {
                s = scan_string(&d->scan, d->arena, &n);
                if (!s)
                        return error_no_memory(d->err);
        }
        if (d->scan.escaped && memchr(s, '\0', n) && !(s = replace_nul(d, s, &n)))
                return error_no_memory(d->err);
        const char *interned = intern_it ? try_intern(d, s, n) : NULL;
        *ret = interned ? interned : keep_text(d, s, n);
        return 0;
}

static int decode_string(struct decoder *d, const struct field *f, const struct path *path, enum scan_token t,
                         const char **ret)
{
        if (t == SCAN_NUMBER && (f->flags & FIELD_QUANTITY)) {
                *ret = keep_text(d, d->scan.text.data, d->scan.text.len);
                return 0;
        }
        if (t != SCAN_STRING)
                return wrong_type(d, path, "a string", t);
        return decode_text(d, f->type == FIELD_INTERNED || (f->flags & FIELD_INTERNED_ITEMS), ret);
}

static int decode_int(struct decoder *d, const struct path *path, enum scan_token t, int64_t *ret)
{
        if (t != SCAN_NUMBER)
                return wrong_type(d, path, "an integer", t);
        const int64_t most = INT64_MAX / 2, least = INT64_MIN / 2;
        int64_t value;
        double real;
        if (!scan_number(d->scan.text, &value, &real)) {
                value = real >= (double)most ? most : real <= (double)least ? least : (int64_t)real;
                if (value > least && value < most && (double)value != real)
                        return decode_wrong(d, path, "must be an integer, is %.*s",
                                            (int)MIN(d->scan.text.len, 40u), d->scan.text.data);
        }
        *ret = MIN(MAX(value, least), most);
        return 0;
}

static int decode_time(struct decoder *d, const struct path *path, enum scan_token t, int64_t *ret)
{
        if (t != SCAN_STRING)
                return wrong_type(d, path, "a time", t);
        if (time_parse_lenient(d->scan.text, ret) < 0)
                return decode_wrong(d, path, "must be a time");
        return 0;
}

static int decode_int_or_string(struct decoder *d, const struct path *path, enum scan_token t,
                                struct int_or_string *ret)
{
        ret->set = true;
        if (t == SCAN_STRING)
                return decode_text(d, false, &ret->text);
        if (t != SCAN_NUMBER)
                return wrong_type(d, path, "an integer or a string", t);
        return decode_int(d, path, t, &ret->value);
}

/* The next value's text. It may lie in the caller's JSON: copying the object copies it. */
static int decode_raw(struct decoder *d, struct slice *ret)
{
        struct slice raw;
        if (scan_skip(&d->scan, &raw) < 0)
                return decode_failed(d);
        *ret = slice_is(raw, "null") ? (struct slice){ 0 } : raw;
        return 0;
}

/* Room for one more element of `size` bytes, zeroed; the array doubles. */
static void *grow(struct decoder *d, struct any_list *l, uint32_t *cap, size_t size)
{
        if (l->n == *cap) {
                uint32_t wanted = *cap ? *cap * 2 : FIRST_CAPACITY;
                void *at = arena_calloc(d->arena, wanted, size);
                if (!at)
                        return NULL;
                if (l->n)
                        memcpy(at, l->at, l->n * size);
                l->at = at;
                *cap = wanted;
        }
        return (char *)l->at + l->n++ * size;
}

static bool condition_bad(const struct condition *c)
{
        return !text_equal(c->status, "True");
}

/* Spec: a projection keeps of a FIELD_TROUBLED list what is not simply fine. */
static bool element_troubled(const struct type *t, const void *at)
{
        for (size_t i = 0; i < t->n_fields; i++) {
                const struct field *f = &t->fields[i];
                if (f->flags & FIELD_TROUBLE && *(void *const *)field_at(f, at))
                        return true;
                if (f->type != FIELD_LIST || f->element != &condition_type)
                        continue;
                const struct condition_list *l = field_at(f, at);
                for (size_t j = 0; j < l->n; j++)
                        if (condition_bad(&l->at[j]))
                                return true;
        }
        return false;
}

/* One element of a list; its first token is `t`. */
static int decode_element(struct decoder *d, const struct field *f, const struct path *path,
                          enum scan_token t, void *at)
{
        if (!f->element)
                return decode_string(d, f, path, t, at);
        if (t != SCAN_OBJECT)
                return wrong_type(d, path, "an object", t);
        return decode_struct(d, f->element, path, at);
}

static int decode_list(struct decoder *d, const struct field *f, const struct path *path,
                       struct any_list *ret)
{
        uint32_t cap = 0;
        size_t size = field_element_size(f);
        bool only_troubled = (f->flags & FIELD_TROUBLED) && (d->flags & DECODE_PROJECTION);
        *ret = (struct any_list){ .set = true };
        for (struct path at = { path, NULL, 0 };; at.index++) {
                enum scan_token t = scan_next(&d->scan);
                if (t == SCAN_ARRAY_END)
                        return 0;
                void *element = t == SCAN_ERROR ? NULL : grow(d, ret, &cap, size);
                if (!element)
                        return t == SCAN_ERROR ? decode_failed(d) : error_no_memory(d->err);
                TRY(decode_element(d, f, &at, t, element));
                if (only_troubled && !element_troubled(f->element, element))
                        memset(element, 0, size), ret->n--;
        }
}

/* Where the struct of the list is: behind a pointer if it stands apart. */
static int list_place(struct decoder *d, const struct field *f, void *at, struct any_list **ret)
{
        *ret = at;
        if (!(f->flags & FIELD_APART))
                return 0;
        *ret = *(void **)at = arena_zalloc(d->arena, sizeof(struct any_list));
        return *ret ? 0 : error_no_memory(d->err);
}

static bool own_text(const struct decoder *d, const char *s)
{
        return s >= d->text && s < d->text + d->text_cap;
}

/* Puts the array of a list or map of interned strings into the table too: many objects have an equal one. */
static void share_array(struct decoder *d, const struct field *f, struct any_list *l)
{
        if (!l->n || !field_shares_array(f) || !table_open(d))
                return;
        size_t size = field_element_size(f);
        const char *const *strings = l->at;
        for (size_t i = 0; i < l->n * size / sizeof(*strings); i++)
                if (!strings[i] || own_text(d, strings[i]))
                        return;
        const void *shared = intern_bytes(d->interns, l->at, l->n * size);
        if (shared)
                l->at = (void *)(uintptr_t)shared;
}

static int decode_array(struct decoder *d, const struct field *f, const struct path *path, void *at)
{
        struct any_list *l;
        TRY(list_place(d, f, at, &l));
        TRY(decode_list(d, f, path, l));
        share_array(d, f, l);
        return 0;
}

/* Raw elements are skipped, so the scanner stands before each: it must be asked whether there is one. */
static int decode_raw_list(struct decoder *d, const struct path *path, struct any_list *ret)
{
        uint32_t cap = 0;
        *ret = (struct any_list){ .set = true };
        for (struct path at = { path, NULL, 0 };; at.index++) {
                struct scanner before = d->scan;
                enum scan_token t = scan_next(&d->scan);
                if (t == SCAN_ARRAY_END)
                        return 0;
                if (t == SCAN_ERROR)
                        return decode_failed(d);
                d->scan = before;
                struct slice *element = grow(d, ret, &cap, sizeof(*element));
                if (!element)
                        return error_no_memory(d->err);
                TRY(decode_raw(d, element));
                if (!element->data)
                        return decode_wrong(d, &at, "must not be null");
        }
}

static int by_key(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool sorted_by_key(const struct any_list *l, size_t size)
{
        for (uint32_t i = 1; i < l->n; i++)
                if (by_key((char *)l->at + (i - 1) * size, (char *)l->at + i * size) >= 0)
                        return false;
        return true;
}

/* Labels and annotations whose values many objects share. */
static bool shares_value(const struct decoder *d, const struct path *path)
{
        static const char *const keys[] = {
                LABEL_PARENT_PLACEMENT,
                LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX,
                LABEL_RESOURCE_INDEX,
                LABEL_IS_LATEST_SNAPSHOT,
                ANNOTATION_PARENT_RESOURCE_SNAPSHOT,
                ANNOTATION_OVERRIDE_SNAPSHOT_HASH,
                ANNOTATION_CLUSTER_OVERRIDE_SNAPSHOT_HASH,
        };
        return d->interns && d->intern_keys && strchr(path->key, '/') &&
               text_in(path->key, keys, ARRAY_LEN(keys));
}

/* One value of a map. The key is already there; the value lies behind it. Null drops the entry. */
static int decode_map_value(struct decoder *d, const struct field *f, const struct path *path, void *value,
                            bool *ret_dropped)
{
        if (f->type == FIELD_RAW_MAP) {
                TRY(decode_raw(d, value));
                *ret_dropped = !((struct slice *)value)->data;
                return 0;
        }
        enum scan_token t = scan_next(&d->scan);
        *ret_dropped = t == SCAN_NULL;
        if (t == SCAN_NULL)
                return 0;
        if (f->type == FIELD_STRING_MAP && t == SCAN_STRING)
                return decode_text(d, shares_value(d, path), value);
        if (f->type == FIELD_STRING_MAP)
                return decode_string(d, f, path, t, value);
        if (t != SCAN_OBJECT)
                return wrong_type(d, path, "an object", t);
        return decode_struct(d, f->element, path, value);
}

static int decode_map(struct decoder *d, const struct field *f, const struct path *path, struct any_list *ret)
{
        uint32_t cap = 0;
        size_t size = field_element_size(f);
        *ret = (struct any_list){ .set = true };
        for (;;) {
                enum scan_token t = scan_next(&d->scan);
                if (t == SCAN_OBJECT_END)
                        break;
                if (t != SCAN_KEY)
                        return decode_failed(d);
                const char **entry = grow(d, ret, &cap, size);
                if (!entry)
                        return error_no_memory(d->err);
                TRY(decode_text(d, d->intern_keys, entry));
                struct path at = { path, *entry, 0 };
                bool dropped = false;
                TRY(decode_map_value(d, f, &at, entry + 1, &dropped));
                if (dropped)
                        memset(entry, 0, size), ret->n--;
        }
        bool sorted = sorted_by_key(ret, size);
        if (!sorted)
                qsort(ret->at, ret->n, size, by_key);
        if (!sorted && !sorted_by_key(ret, size))
                return decode_wrong(d, path, "has a key twice");
        share_array(d, f, ret);
        return 0;
}

struct owned decoder_owned(const struct decoder *d)
{
        return (struct owned){ .lo = d->text, .hi = d->text + d->text_cap, .interns = d->interns };
}

/* May the struct's bytes stand for its value? Then all it points to is in the intern table. */
static bool sharable(const struct decoder *d, const struct type *t, const void *at)
{
        for (size_t i = 0; i < t->n_fields; i++) {
                const struct field *f = &t->fields[i];
                if (f->type == FIELD_BOOL || f->type == FIELD_INT)
                        continue;
                if (f->type != FIELD_INTERNED && f->type != FIELD_OBJECT)
                        return false;
                const void *value = *(void *const *)field_at(f, at);
                if (f->type == FIELD_INTERNED && own_text(d, value))
                        return false;
                if (f->type == FIELD_OBJECT && value &&
                    !intern_has_bytes(d->interns, value, f->element->size))
                        return false;
        }
        return true;
}

static int decode_child(struct decoder *d, const struct field *f, const struct path *path, void **ret)
{
        const struct type *t = f->element;
        void *child = arena_alloc(d->arena, t->size);
        if (!child)
                return error_no_memory(d->err);
        TRY(decode_struct(d, t, path, child));
        *ret = child;
        bool share = (f->flags & FIELD_SHARED) && table_open(d) && sharable(d, t, child);
        const void *shared = share ? intern_bytes(d->interns, child, t->size) : NULL;
        if (shared)
                *ret = (void *)(uintptr_t)shared;
        return 0;
}

static int decode_token(struct decoder *d, const struct field *f, const struct path *path, enum scan_token t,
                        void *at)
{
        switch (f->type) {
        case FIELD_STRING:
        case FIELD_INTERNED:
                return decode_string(d, f, path, t, at);
        case FIELD_INT: {
                int64_t value = 0;
                TRY(decode_int(d, path, t, &value));
                *(struct opt_int *)at = OPT_INT(value);
                return 0;
        }
        case FIELD_TIME:
                TRY(decode_time(d, path, t, at));
                if (d->notes)
                        outline_note_time(d, f, at);
                return 0;
        case FIELD_BOOL:
        case FIELD_FLAG:
                if (t != SCAN_TRUE && t != SCAN_FALSE)
                        return wrong_type(d, path, "a boolean", t);
                if (f->type == FIELD_FLAG)
                        *(bool *)at = t == SCAN_TRUE;
                else
                        *(struct opt_bool *)at = OPT_BOOL(t == SCAN_TRUE);
                return 0;
        case FIELD_INT_OR_STRING:
                return decode_int_or_string(d, path, t, at);
        case FIELD_OBJECT:
                return t == SCAN_OBJECT ? decode_child(d, f, path, at) : wrong_type(d, path, "an object", t);
        case FIELD_LIST:
                return t == SCAN_ARRAY ? decode_array(d, f, path, at) : wrong_type(d, path, "an array", t);
        case FIELD_RAW_LIST:
                return t == SCAN_ARRAY ? decode_raw_list(d, path, at) : wrong_type(d, path, "an array", t);
        default:
                return t == SCAN_OBJECT ? decode_map(d, f, path, at) : wrong_type(d, path, "an object", t);
        }
}

static int decode_field(struct decoder *d, const struct field *f, const struct path *path, void *at)
{
        if ((f->flags & FIELD_BULK) && (d->flags & DECODE_PROJECTION))
                return scan_skip(&d->scan, NULL) < 0 ? decode_failed(d) : 0;
        if (f->type == FIELD_RAW)
                return decode_raw(d, at);
        enum scan_token t = scan_next(&d->scan);
        if (t == SCAN_NULL)
                return 0;
        return decode_token(d, f, path, t, at);
}

/* `key` is not empty. */
static int compare_name(struct slice key, const char *name)
{
        int order = (unsigned char)name[0] - (unsigned char)key.data[0];
        if (order == 0)
                order = strncmp(name, key.data, key.len);
        return order ? order : name[key.len] != '\0';
}

static const struct field *find_field(const struct type *t, struct slice key)
{
        size_t low = 0, high = key.len ? t->n_fields : 0;
        while (low < high) {
                size_t middle = (low + high) / 2;
                int order = compare_name(key, t->fields[middle].name);
                if (order == 0)
                        return &t->fields[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

/* Texts are mostly written in the order of the table: `next` is the place behind the field before. */
static const struct field *find_next_field(const struct type *t, struct slice key, size_t *next)
{
        const struct field *f = *next < t->n_fields ? &t->fields[*next] : NULL;
        if (!f || !key.len || compare_name(key, f->name) != 0)
                f = find_field(t, key);
        if (f)
                *next = (size_t)(f - t->fields) + 1;
        return f;
}

static void clear_struct(const struct type *t, void *at)
{
        memset(at, 0, t->size);
        for (size_t i = 0; i < t->n_fields; i++)
                if (t->fields[i].type == FIELD_TIME)
                        *(int64_t *)((char *)at + t->fields[i].offset) = TIME_NONE;
}

/* Messages of conditions that hold are few fixed sentences. */
static void share_message(struct decoder *d, struct condition *c)
{
        if (!c->message || condition_bad(c))
                return;
        const char *shared = try_intern(d, c->message, strlen(c->message));
        if (shared)
                c->message = shared;
}

/* What others write of who wrote what is long, is in all objects and is kept of none: its end alone counts.
 */
static bool is_managed_fields(const struct decoder *d, const struct type *t)
{
        return t == &meta_wire_type && slice_is(d->scan.text, "managedFields");
}

static int skip_member(struct decoder *d, const struct type *t)
{
        struct slice raw;
        bool managed = is_managed_fields(d, t);
        int code = managed ? scan_skip_unchecked(&d->scan, &raw) : scan_skip(&d->scan, NULL);
        if (code == 0 && managed && d->notes)
                outline_note_managed_fields(d, raw);
        return code < 0 ? decode_failed(d) : 0;
}

/* Keys with escapes are none of ours: fields' names are plain. */
static int decode_member(struct decoder *d, const struct type *t, const struct path *path, void *base,
                         size_t *next)
{
        const struct field *f = d->scan.escaped ? NULL : find_next_field(t, d->scan.text, next);
        if (!f)
                return skip_member(d, t);
        struct path at = { path, f->name, 0 };
        TRY(decode_field(d, f, &at, (char *)base + f->offset));
        if (d->notes && t == &meta_wire_type && f->offset == offsetof(struct meta_wire, resource_version))
                outline_note_version(d);
        return 0;
}

/* The members of an object whose { was just read. */
static int decode_struct(struct decoder *d, const struct type *t, const struct path *path, void *ret)
{
        size_t next = 0;
        clear_struct(t, ret);
        for (;;) {
                enum scan_token token = scan_next(&d->scan);
                if (token == SCAN_OBJECT_END)
                        break;
                if (token != SCAN_KEY)
                        return decode_failed(d);
                TRY(decode_member(d, t, path, ret, &next));
        }
        if (t == &condition_type)
                share_message(d, ret);
        return 0;
}

int decode_root(struct decoder *d, const struct type *t, void *ret)
{
        enum scan_token token = scan_next(&d->scan);
        if (token != SCAN_OBJECT)
                return wrong_type(d, NULL, "an object", token);
        TRY(decode_struct(d, t, NULL, ret));
        return scan_next(&d->scan) == SCAN_END ? 0 : decode_failed(d);
}

/* Moves entries within the array only behind a long one: an array with such a one is not shared (INTERN_MAX).
 */
static void drop_long_annotations(struct string_map *m)
{
        _Static_assert(PROJECTION_ANNOTATION_MAX >= INTERN_MAX, "a shared array must not change");
        uint32_t kept = 0;
        for (uint32_t i = 0; i < m->n; i++) {
                if (strlen(m->at[i].value) > PROJECTION_ANNOTATION_MAX)
                        continue;
                if (kept < i)
                        m->at[kept] = m->at[i];
                kept++;
        }
        m->n = kept;
}

static int decode_meta(struct decoder *d, struct object_meta *ret)
{
        struct path path = { NULL, "metadata", 0 };
        enum scan_token t = scan_next(&d->scan);
        if (t == SCAN_NULL)
                return 0;
        if (t != SCAN_OBJECT)
                return wrong_type(d, &path, "an object", t);
        struct meta_wire wire;
        TRY(decode_struct(d, &meta_wire_type, &path, &wire));
        if (d->flags & DECODE_PROJECTION)
                drop_long_annotations(&wire.annotations);
        return meta_from_wire(&wire, ret, d->err);
}

/* apiVersion and kind must be those of the kind, if they are there. */
static int check_identity(struct decoder *d, const char *key, const char *wanted)
{
        struct path path = { NULL, key, 0 };
        enum scan_token t = scan_next(&d->scan);
        if (t == SCAN_NULL)
                return 0;
        if (t != SCAN_STRING)
                return wrong_type(d, &path, "a string", t);
        const char *given;
        TRY(decode_text(d, false, &given));
        return text_equal(given, wanted) ? 0 : decode_wrong(d, &path, "must be %s, is %.100s", wanted, given);
}

static int decode_top_member(struct decoder *d, const struct kind *kind, struct object *o)
{
        if (scan_key_is(&d->scan, "metadata"))
                return decode_meta(d, &o->meta);
        if (scan_key_is(&d->scan, "apiVersion") && !find_field(kind->root, d->scan.text))
                return check_identity(d, "apiVersion", kind->api_version);
        if (scan_key_is(&d->scan, "kind") && !find_field(kind->root, d->scan.text))
                return check_identity(d, "kind", kind->kind);
        size_t next = 0;
        return decode_member(d, kind->root, NULL, o, &next);
}

int decode_object(struct decoder *d, const struct kind *kind, struct object **ret)
{
        d->intern_keys = kind->api_version[0] != '\0';
        enum scan_token t = scan_next(&d->scan);
        if (t != SCAN_OBJECT)
                return wrong_type(d, NULL, "an object", t);
        const char *begin = d->scan.at - 1;
        struct object *o = arena_alloc(d->arena, kind->root->size);
        if (!o)
                return error_no_memory(d->err);
        clear_struct(kind->root, o);
        o->kind = kind;
        o->meta.creation_ms = o->meta.deletion_ms = TIME_NONE;
        for (;;) {
                t = scan_next(&d->scan);
                if (t == SCAN_OBJECT_END)
                        break;
                if (t != SCAN_KEY)
                        return decode_failed(d);
                TRY(decode_top_member(d, kind, o));
        }
        if (d->notes)
                d->notes->text = (struct slice){ begin, (size_t)(d->scan.at - begin) };
        *ret = o;
        return 0;
}
