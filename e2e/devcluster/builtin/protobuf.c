#include "e2e/devcluster/builtin/protobuf.h"

#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"

/* protobuf.txt, linked in by data.S. */
extern const char builtin_protobuf_text[], builtin_protobuf_end[];

struct protobuf_types {
        struct map messages; /* "core.v1.Pod" -> its first field line */
};

/* ---- the table ---- */

static const char *next_line(const char *line)
{
        const char *end = strchr(line, '\n');
        return end ? end + 1 : builtin_protobuf_end;
}

struct protobuf_types *protobuf_types_new(void)
{
        static const char word[] = "message ";
        struct protobuf_types *t = NEW(struct protobuf_types);
        if (!t)
                return NULL;
        for (const char *line = builtin_protobuf_text; line < builtin_protobuf_end; line = next_line(line)) {
                if (strncmp(line, word, strlen(word)) != 0)
                        continue;
                const char *name = line + strlen(word);
                if (map_put_n(&t->messages, name, strcspn(name, "\n"), (void *)next_line(line)) < 0)
                        return protobuf_types_free(t);
        }
        return t;
}

struct protobuf_types *protobuf_types_free(struct protobuf_types *t)
{
        if (t)
                map_free(&t->messages);
        mem_free(t);
        return NULL;
}

struct field {
        struct slice name, shape;
};

/* Field lines are " NUMBER NAME SHAPE". */
static bool find_field(const char *lines, uint64_t number, struct field *ret)
{
        for (const char *line = lines; *line == ' '; line = next_line(line)) {
                struct slice rest = { line + 1, strcspn(line + 1, "\n") }, head;
                int64_t have;
                (void)slice_cut(&rest, ' ', &head);
                if (!slice_parse_i64(head, &have) || (uint64_t)have != number)
                        continue;
                (void)slice_cut(&rest, ' ', &ret->name);
                ret->shape = rest;
                return true;
        }
        return false;
}

/* ---- the wire ---- */

struct reader {
        const struct protobuf_types *types;
        const uint8_t *at, *end;
        int depth;
        struct error *err;
};

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct value {
        enum wire wire;
        uint64_t number; /* of VARINT and FIXED */
        struct slice bytes;
};

static int broken(struct reader *r)
{
        return error_set(r->err, ERR_INVALID, "the protobuf message is cut short or malformed");
}

static int read_varint(struct reader *r, uint64_t *ret)
{
        uint64_t v = 0;
        for (int shift = 0; shift < 64; shift += 7) {
                if (r->at == r->end)
                        return broken(r);
                uint8_t b = *r->at++;
                v |= (uint64_t)(b & 0x7f) << shift;
                if (!(b & 0x80)) {
                        *ret = v;
                        return 0;
                }
        }
        return broken(r);
}

static int read_fixed(struct reader *r, size_t n, uint64_t *ret)
{
        uint64_t v = 0;
        if ((size_t)(r->end - r->at) < n)
                return broken(r);
        for (size_t i = 0; i < n; i++)
                v |= (uint64_t)r->at[i] << (8 * i);
        r->at += n;
        *ret = v;
        return 0;
}

/* Next field: its number and value; the reader must not be at its end. */
static int read_field(struct reader *r, uint64_t *ret_number, struct value *v)
{
        uint64_t tag, n;
        TRY(read_varint(r, &tag));
        *ret_number = tag >> 3;
        v->wire = (enum wire)(tag & 7);
        switch (v->wire) {
        case WIRE_VARINT:
                return read_varint(r, &v->number);
        case WIRE_FIXED64:
                return read_fixed(r, 8, &v->number);
        case WIRE_FIXED32:
                return read_fixed(r, 4, &v->number);
        case WIRE_BYTES:
                TRY(read_varint(r, &n));
                if (n > (uint64_t)(r->end - r->at))
                        return broken(r);
                v->bytes = (struct slice){ (const char *)r->at, (size_t)n };
                r->at += n;
                return 0;
        }
        return broken(r);
}

static struct reader inside(const struct reader *r, struct slice bytes)
{
        const uint8_t *at = (const uint8_t *)bytes.data;
        return (struct reader){ r->types, at, at + bytes.len, r->depth + 1, r->err };
}

/* Collects the first fields of a small message by number; absent ones stay zero. */
static int read_small(struct reader *r, struct slice bytes, struct value *ret, size_t n)
{
        struct reader in = inside(r, bytes);
        while (in.at < in.end) {
                uint64_t number;
                struct value v = { 0 };
                TRY(read_field(&in, &number, &v));
                if (number >= 1 && number <= n)
                        ret[number - 1] = v;
        }
        return 0;
}

/* ---- values with a form of their own ---- */

static json_t *text(struct slice s)
{
        if (s.len == 0)
                return json_string("");
        return text_is_utf8(s.data, s.len) ? json_stringn(s.data, s.len) : NULL;
}

static json_t *time_text(const struct value *parts, bool micro)
{
        char out[RFC3339_SIZE];
        int64_t seconds = (int64_t)parts[0].number, nanos = (int64_t)parts[1].number;
        if (seconds > INT64_MAX / 1000000 || seconds < INT64_MIN / 1000000)
                return NULL;
        if (micro)
                time_format_rfc3339_micro(seconds * 1000000 + nanos / 1000, out);
        else
                time_format_rfc3339(seconds * 1000, out);
        return json_string(out);
}

static json_t *duration_text(int64_t ns)
{
        char out[64];
        duration_format_go(ns, out, sizeof(out));
        return json_string(out);
}

static int parse_json(struct reader *r, struct slice bytes, json_t **ret)
{
        return doc_parse(bytes, ret, r->err);
}

/* Messages that appear in JSON as something else. *ret stays NULL for a zero value. */
static int read_special(struct reader *r, struct slice shape, struct slice bytes, json_t **ret)
{
        struct value p[3] = { 0 };
        TRY(read_small(r, bytes, p, ARRAY_LEN(p)));
        if (slice_is(shape, "raw") || slice_is(shape, "fields"))
                return p[0].bytes.len ? parse_json(r, p[0].bytes, ret) : 0;
        if (slice_is(shape, "time") || slice_is(shape, "micro-time"))
                *ret = bytes.len ? time_text(p, slice_is(shape, "micro-time")) : NULL;
        else if (slice_is(shape, "quantity"))
                *ret = p[0].bytes.len ? text(p[0].bytes) : json_string("0");
        else if (slice_is(shape, "duration"))
                *ret = duration_text((int64_t)p[0].number);
        else if (p[0].number == 1)
                *ret = text(p[2].bytes);
        else
                *ret = json_integer((int64_t)p[1].number);
        return *ret || !bytes.len ? 0 : broken(r);
}

/* ---- messages ---- */

static int read_message(struct reader *r, struct slice name, json_t *into);

static int read_value(struct reader *r, struct slice shape, const struct value *v, json_t **ret)
{
        bool bytes = v->wire == WIRE_BYTES;
        if (slice_starts_with(shape, "@")) {
                json_t *object = json_object();
                struct reader in = inside(r, v->bytes);
                int rc = !object ? error_no_memory(r->err)
                         : bytes ? read_message(&in, (struct slice){ shape.data + 1, shape.len - 1 }, object)
                                 : broken(r);
                if (rc < 0) {
                        json_decref(object);
                        return rc;
                }
                *ret = object;
                return 0;
        }
        if (slice_is(shape, "string") || slice_is(shape, "bytes"))
                *ret = !bytes ? NULL : slice_is(shape, "bytes") ? doc_base64(v->bytes) : text(v->bytes);
        else if (slice_is(shape, "bool"))
                *ret = bytes ? NULL : json_boolean(v->number);
        else if (slice_is(shape, "int") || slice_is(shape, "byte"))
                *ret = bytes ? NULL : json_integer((int64_t)v->number);
        else if (slice_is(shape, "double")) {
                double d;
                memcpy(&d, &v->number, sizeof(d));
                *ret = v->wire == WIRE_FIXED64 ? json_real(d) : NULL;
        } else {
                return bytes ? read_special(r, shape, v->bytes, ret) : broken(r);
        }
        return *ret ? 0 : broken(r);
}

/* What Go leaves out of JSON: zero values of fields that are no pointers. */
static bool is_zero(const json_t *v)
{
        switch (json_typeof(v)) {
        case JSON_STRING:
                return json_string_length(v) == 0;
        case JSON_INTEGER:
                return json_integer_value(v) == 0;
        case JSON_OBJECT:
                return json_object_size(v) == 0;
        case JSON_FALSE:
                return true;
        default:
                return false;
        }
}

static json_t *member(json_t *into, const char *name, json_t *(*make)(void))
{
        json_t *have = json_object_get(into, name);
        if (!have && json_object_set_new(into, name, have = make()) < 0)
                return NULL;
        return have;
}

static struct slice behind(struct slice shape, size_t n)
{
        return (struct slice){ shape.data + n, shape.len - n };
}

static int read_list_item(struct reader *r, struct slice shape, const struct value *v, json_t *list)
{
        json_t *item = NULL;
        TRY(read_value(r, shape, v, &item));
        return json_array_append_new(list, item ? item : json_null()) < 0 ? error_no_memory(r->err) : 0;
}

/* A list type with a message of its own around it (field 1, repeated). */
static int read_items(struct reader *r, struct slice shape, struct slice bytes, json_t **ret)
{
        AUTO_JSON json_t *list = json_array();
        struct reader in = inside(r, bytes);
        while (list && in.at < in.end) {
                uint64_t number;
                struct value v = { 0 };
                TRY(read_field(&in, &number, &v));
                if (number == 1)
                        TRY(read_list_item(r, shape, &v, list));
        }
        *ret = TAKE_PTR(list);
        return *ret ? 0 : error_no_memory(r->err);
}

static int read_map_entry(struct reader *r, struct slice shape, const struct value *v, json_t *map)
{
        struct value parts[2] = { 0 };
        json_t *value = NULL;
        if (v->wire != WIRE_BYTES)
                return broken(r);
        parts[1].wire = WIRE_BYTES;
        TRY(read_small(r, v->bytes, parts, 2));
        if (slice_starts_with(shape, "items:"))
                TRY(read_items(r, behind(shape, 6), parts[1].bytes, &value));
        else
                TRY(read_value(r, shape, &parts[1], &value));
        AUTO_FREE char *key = mem_strndup(parts[0].bytes.len ? parts[0].bytes.data : "", parts[0].bytes.len);
        if (!key || !text_is_utf8(key, parts[0].bytes.len) || strlen(key) != parts[0].bytes.len) {
                json_decref(value);
                return broken(r);
        }
        return json_object_set_new(map, key, value ? value : json_null()) < 0 ? error_no_memory(r->err) : 0;
}

static int read_member(struct reader *r, const struct field *f, const struct value *v, json_t *into)
{
        char name[128];
        struct slice shape = f->shape;
        json_t *value = NULL;
        snprintf(name, sizeof(name), "%.*s", (int)f->name.len, f->name.data);
        if (slice_is(f->name, "-")) { /* an embedded struct: its fields are the parent's */
                struct reader in = inside(r, v->bytes);
                bool pointer = slice_starts_with(shape, "*");
                return v->wire == WIRE_BYTES ? read_message(&in, behind(shape, pointer ? 2 : 1), into)
                                             : broken(r);
        }
        if (slice_starts_with(shape, "[]")) {
                json_t *list = member(into, name, json_array);
                return list ? read_list_item(r, behind(shape, 2), v, list) : error_no_memory(r->err);
        }
        if (slice_starts_with(shape, "{}")) {
                json_t *map = member(into, name, json_object);
                return map ? read_map_entry(r, behind(shape, 2), v, map) : error_no_memory(r->err);
        }
        if (slice_starts_with(shape, "items:")) {
                TRY(read_items(r, behind(shape, 6), v->bytes, &value));
                return json_object_set_new(into, name, value) < 0 ? error_no_memory(r->err) : 0;
        }
        bool pointer = slice_starts_with(shape, "*");
        TRY(read_value(r, pointer ? behind(shape, 1) : shape, v, &value));
        if (!value || (!pointer && is_zero(value))) {
                json_decref(value);
                return 0;
        }
        return json_object_set_new(into, name, value) < 0 ? error_no_memory(r->err) : 0;
}

static int read_message(struct reader *r, struct slice name, json_t *into)
{
        const char *lines = map_get_n(&r->types->messages, name.data, name.len);
        if (!lines)
                return error_set(r->err, ERR_UNSUPPORTED, "no protobuf table for %.*s", (int)name.len,
                                 name.data);
        if (r->depth > LIMIT_JSON_DEPTH)
                return error_set(r->err, ERR_LIMIT, "the protobuf message is nested deeper than %d",
                                 LIMIT_JSON_DEPTH);
        while (r->at < r->end) {
                uint64_t number;
                struct value v = { 0 };
                struct field f;
                TRY(read_field(r, &number, &v));
                if (find_field(lines, number, &f))
                        TRY(read_member(r, &f, &v, into));
        }
        return 0;
}

/* ---- the envelope: "k8s\0", then {1: {1: apiVersion, 2: kind}, 2: the message} ---- */

static const char *find_message(const struct protobuf_types *t, struct slice api_version, struct slice kind,
                                char *name, size_t size)
{
        struct slice version = api_version, group;
        if (!slice_cut(&version, '/', &group)) {
                version = api_version;
                group = SLICE("core");
        }
        size_t n = 0;
        while (n < group.len && group.data[n] != '.')
                n++;
        snprintf(name, size, "%.*s.%.*s.%.*s", (int)n, group.data, (int)version.len, version.data,
                 (int)kind.len, kind.data);
        if (!map_has(&t->messages, name)) /* DeleteOptions and its like belong to every group */
                snprintf(name, size, "meta.v1.%.*s", (int)kind.len, kind.data);
        return map_get(&t->messages, name);
}

int protobuf_decode(const struct protobuf_types *t, struct slice body, json_t **ret, struct error *err)
{
        static const char magic[4] = { 'k', '8', 's', '\0' };
        struct reader r = { .types = t, .err = err };
        struct value parts[2] = { 0 }, names[2] = { 0 };
        char message[256];
        if (body.len < sizeof(magic) || memcmp(body.data, magic, sizeof(magic)) != 0)
                return error_set(err, ERR_INVALID,
                                 "the body does not begin with the bytes of a protobuf message");
        TRY(read_small(&r, behind(body, sizeof(magic)), parts, 2));
        TRY(read_small(&r, parts[0].bytes, names, 2));
        if (!names[0].bytes.data || !names[1].bytes.data ||
            !find_message(t, names[0].bytes, names[1].bytes, message, sizeof(message)))
                return error_set(err, ERR_UNSUPPORTED, "no protobuf table for %.*s %.*s",
                                 (int)names[0].bytes.len, names[0].bytes.data ? names[0].bytes.data : "",
                                 (int)names[1].bytes.len, names[1].bytes.data ? names[1].bytes.data : "");
        AUTO_JSON json_t *doc = json_object();
        json_t *version = text(names[0].bytes), *kind = text(names[1].bytes);
        if (json_object_set_new(doc, "kind", kind) < 0 || json_object_set_new(doc, "apiVersion", version) < 0)
                return error_no_memory(err);
        struct reader in = inside(&r, parts[1].bytes);
        TRY(read_message(&in, slice_of(message), doc));
        *ret = TAKE_PTR(doc);
        return 0;
}
