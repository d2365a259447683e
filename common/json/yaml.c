/* YAML streams to documents, on libyaml's events. */
#include "common/json/yaml_reader.h"

#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/json/scan.h"

/* Values that aliases may copy within one stream; without it a few aliases of aliases grow without bound. */
enum { ALIAS_VALUES_MAX = 100000 };

static size_t yaml_line(const struct yaml_reader *r, yaml_mark_t mark)
{
        return r->lines_before + mark.line + 1;
}

int yaml_fail(struct yaml_reader *r, const char *words)
{
        return error_set(r->err, ERR_INVALID, "yaml: line %zu: %s", yaml_line(r, r->event.start_mark), words);
}

static int limit(struct yaml_reader *r, const char *words, int value)
{
        return error_set(r->err, ERR_LIMIT, "yaml: line %zu: more than %d %s",
                         yaml_line(r, r->event.start_mark), value, words);
}

static int count(struct yaml_reader *r, size_t values, size_t bytes)
{
        r->values += values;
        r->bytes += bytes;
        if (r->most_values && r->values > r->most_values)
                return error_set(r->err, ERR_LIMIT, "a part of the document has more than %zu values",
                                 r->most_values);
        if (r->most_bytes && r->bytes > r->most_bytes)
                return error_set(r->err, ERR_LIMIT, "a part of the document has more than %zu bytes",
                                 r->most_bytes);
        return 0;
}

int yaml_next(struct yaml_reader *r)
{
        yaml_event_delete(&r->event);
        if (yaml_parser_parse(&r->parser, &r->event))
                return 0;
        if (r->parser.error == YAML_MEMORY_ERROR)
                return error_no_memory(r->err);
        const char *words = r->parser.problem ? r->parser.problem : "cannot be read";
        return error_set(r->err, ERR_INVALID, "yaml: line %zu: %s", yaml_line(r, r->parser.problem_mark),
                         words);
}

static void unref(void *value)
{
        json_decref(value);
}

/* Called once the value is complete, so an alias within it, which would contain itself, finds nothing. */
static int remember_anchor(struct yaml_reader *r, const char *anchor, json_t *value)
{
        if (!anchor)
                return 0;
        if (map_put(&r->anchors, anchor, json_incref(value)) < 0) {
                json_decref(value);
                return error_no_memory(r->err);
        }
        return 0;
}

static int read_alias(struct yaml_reader *r, json_t **ret)
{
        const char *name = (const char *)r->event.data.alias.anchor;
        const json_t *value = map_get(&r->anchors, name);
        if (!value)
                return error_set(r->err, ERR_INVALID, "yaml: line %zu: unknown anchor '%s' referenced",
                                 yaml_line(r, r->event.start_mark), name);
        if (++r->aliases > LIMIT_YAML_ALIASES)
                return limit(r, "aliases (LIMIT_YAML_ALIASES)", LIMIT_YAML_ALIASES);
        struct doc_measure copied;
        doc_measure(value, &copied);
        r->alias_values += copied.values;
        if (r->alias_values > ALIAS_VALUES_MAX)
                return limit(r, "values copied by aliases", ALIAS_VALUES_MAX);
        if (r->depth + copied.depth > LIMIT_JSON_DEPTH)
                return limit(r, "levels of nesting (LIMIT_JSON_DEPTH)", LIMIT_JSON_DEPTH);
        TRY(count(r, copied.values, copied.bytes));
        *ret = doc_copy(value);
        return *ret ? 0 : error_no_memory(r->err);
}

#define YAML_TAG(name) "tag:yaml.org,2002:" name

static bool is_tag(const yaml_event_t *e, const char *name)
{
        const char *tag = (const char *)e->data.scalar.tag;
        return tag && strcmp(tag, name) == 0;
}

static int binary_value(struct yaml_reader *r, struct slice text, json_t **ret)
{
        AUTO_FREE char *packed = mem_alloc(text.len);
        AUTO_FREE char *bytes = mem_alloc(text.len);
        if (!packed || !bytes)
                return error_no_memory(r->err);
        size_t n = 0, len;
        for (size_t i = 0; i < text.len; i++)
                if (!strchr(" \t\r\n", text.data[i]) || !text.data[i])
                        packed[n++] = text.data[i];
        if (text_base64_decode((struct slice){ packed, n }, bytes, text.len, &len, false) < 0)
                return yaml_fail(r, "!!binary value contains invalid base64 data");
        if (!text_is_utf8(bytes, len))
                return yaml_fail(r, "!!binary value is no UTF-8 text, which a document cannot hold");
        *ret = json_stringn_nocheck(bytes, len);
        return *ret ? 0 : error_no_memory(r->err);
}

static int cannot_decode(struct yaml_reader *r, struct slice text, const char *type)
{
        return error_set(r->err, ERR_INVALID, "yaml: line %zu: cannot decode `%.*s` as a %s",
                         yaml_line(r, r->event.start_mark), (int)MIN(text.len, (size_t)100), text.data, type);
}

/* A scalar with a tag of a core type must be readable as that type. */
static int check_tag(struct yaml_reader *r, struct slice text, json_t **value)
{
        const yaml_event_t *e = &r->event;
        if (is_tag(e, YAML_TAG("float")) && json_is_integer(*value)) {
                json_t *real = json_real((double)json_integer_value(*value));
                json_decref(*value);
                *value = real;
                return real ? 0 : error_no_memory(r->err);
        }
        if (is_tag(e, YAML_TAG("int")) && !json_is_integer(*value))
                return cannot_decode(r, text, "!!int");
        if (is_tag(e, YAML_TAG("float")) && !json_is_real(*value))
                return cannot_decode(r, text, "!!float");
        if (is_tag(e, YAML_TAG("bool")) && !json_is_boolean(*value))
                return cannot_decode(r, text, "!!bool");
        if (is_tag(e, YAML_TAG("null")) && !json_is_null(*value))
                return cannot_decode(r, text, "!!null");
        return 0;
}

/* Whether the scalar's text decides its type: plain without a tag, or with a tag of such a type. */
static bool is_resolved_by_text(const yaml_event_t *e)
{
        if (e->data.scalar.tag)
                return is_tag(e, YAML_TAG("int")) || is_tag(e, YAML_TAG("float")) ||
                       is_tag(e, YAML_TAG("bool")) || is_tag(e, YAML_TAG("null"));
        return e->data.scalar.plain_implicit && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static int read_scalar(struct yaml_reader *r, json_t **ret)
{
        const yaml_event_t *e = &r->event;
        struct slice text = { (const char *)e->data.scalar.value, e->data.scalar.length };
        TRY(count(r, 1, text.len));
        if (is_tag(e, YAML_TAG("binary")))
                return binary_value(r, text, ret);
        bool bad = false;
        AUTO_JSON json_t *value = is_resolved_by_text(e) ? yaml_plain_value(text, &bad)
                                                         : json_stringn_nocheck(text.data, text.len);
        if (bad)
                return yaml_fail(r, "a number that is infinite or not a number has no JSON form");
        if (!value)
                return error_no_memory(r->err);
        TRY(check_tag(r, text, &value));
        *ret = TAKE_PTR(value);
        return 0;
}

static int read_sequence(struct yaml_reader *r, json_t *array)
{
        for (;;) {
                TRY(yaml_next(r));
                if (r->event.type == YAML_SEQUENCE_END_EVENT)
                        return 0;
                json_t *value = NULL;
                TRY(yaml_read_value(r, &value));
                if (json_array_append_new(array, value) < 0)
                        return error_no_memory(r->err);
        }
}

int yaml_key_text(struct yaml_reader *r, const json_t *key, char number[64], struct slice *ret)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 62);
        switch (json_typeof(key)) {
        case JSON_STRING:
                *ret = (struct slice){ json_string_value(key), json_string_length(key) };
                break;
        case JSON_TRUE:
        case JSON_FALSE:
        case JSON_INTEGER:
        case JSON_REAL:
                doc_write(key, &b);
                TRY(buf_status(&b, r->err, "a key"));
                memcpy(number, b.data, b.len + 1);
                *ret = (struct slice){ number, b.len };
                break;
        default:
                return yaml_fail(r, "a key must be a string");
        }
        if (memchr(ret->data, '\0', ret->len))
                return yaml_fail(r, "NUL in a key");
        return 0;
}

bool yaml_is_merge_key(const yaml_event_t *e)
{
        return e->type == YAML_SCALAR_EVENT && e->data.scalar.length == 2 &&
               memcmp(e->data.scalar.value, "<<", 2) == 0 &&
               (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE || is_tag(e, YAML_TAG("merge")));
}

/* Members of `from` that `into` does not have; jansson's own function does not report a lack of memory. */
static int add_missing(json_t *into, json_t *from)
{
        for (void *i = json_object_iter(from); i; i = json_object_iter_next(from, i)) {
                const char *key = json_object_iter_key(i);
                if (!json_object_get(into, key) &&
                    json_object_set_nocheck(into, key, json_object_iter_value(i)) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

static int merge_one(struct yaml_reader *r, json_t *into, const json_t *from)
{
        if (!json_is_object(from))
                return yaml_fail(r, "map merge requires map or sequence of maps as the value");
        return add_missing(into, (json_t *)from) < 0 ? error_no_memory(r->err) : 0;
}

/* What "<<" brings is kept apart, since a mapping's own members override it wherever they stand. */
static int read_merge(struct yaml_reader *r, json_t **merged)
{
        AUTO_JSON json_t *value = NULL;
        TRY(yaml_next(r));
        TRY(yaml_read_value(r, &value));
        if (!*merged && !(*merged = json_object()))
                return error_no_memory(r->err);
        if (!json_is_array(value))
                return merge_one(r, *merged, value);
        for (size_t i = 0; i < json_array_size(value); i++)
                TRY(merge_one(r, *merged, json_array_get(value, i)));
        return 0;
}

static int read_member(struct yaml_reader *r, json_t *object)
{
        AUTO_JSON json_t *key = NULL;
        char number[64];
        struct slice name = SLICE("");
        if (r->event.type != YAML_SCALAR_EVENT && r->event.type != YAML_ALIAS_EVENT)
                return yaml_fail(r, "a key must be a scalar");
        TRY(yaml_read_value(r, &key));
        TRY(yaml_key_text(r, key, number, &name));
        if (json_object_getn(object, name.data, name.len))
                return error_set(r->err, ERR_INVALID, "yaml: line %zu: key \"%.*s\" already set in map",
                                 yaml_line(r, r->event.start_mark), (int)MIN(name.len, (size_t)200),
                                 name.data);
        json_t *value = NULL;
        TRY(yaml_next(r));
        TRY(yaml_read_value(r, &value));
        return json_object_setn_new_nocheck(object, name.data, name.len, value) < 0 ? error_no_memory(r->err)
                                                                                    : 0;
}

static int read_mapping(struct yaml_reader *r, json_t *object)
{
        AUTO_JSON json_t *merged = NULL;
        for (;;) {
                TRY(yaml_next(r));
                if (r->event.type == YAML_MAPPING_END_EVENT)
                        break;
                TRY(yaml_is_merge_key(&r->event) ? read_merge(r, &merged) : read_member(r, object));
        }
        if (merged && add_missing(object, merged) < 0)
                return error_no_memory(r->err);
        return 0;
}

static int read_container(struct yaml_reader *r, bool mapping, json_t **ret)
{
        if (r->depth++ >= LIMIT_JSON_DEPTH)
                return limit(r, "levels of nesting (LIMIT_JSON_DEPTH)", LIMIT_JSON_DEPTH);
        TRY(count(r, 1, 0));
        const yaml_char_t *name =
                mapping ? r->event.data.mapping_start.anchor : r->event.data.sequence_start.anchor;
        AUTO_FREE char *anchor = name ? mem_strdup((const char *)name) : NULL;
        AUTO_JSON json_t *value = mapping ? json_object() : json_array();
        if (!value || (name && !anchor))
                return error_no_memory(r->err);
        TRY(mapping ? read_mapping(r, value) : read_sequence(r, value));
        TRY(remember_anchor(r, anchor, value));
        r->depth--;
        *ret = TAKE_PTR(value);
        return 0;
}

int yaml_read_value(struct yaml_reader *r, json_t **ret)
{
        switch (r->event.type) {
        case YAML_ALIAS_EVENT:
                return read_alias(r, ret);
        case YAML_SCALAR_EVENT: {
                AUTO_JSON json_t *value = NULL;
                TRY(read_scalar(r, &value));
                TRY(remember_anchor(r, (const char *)r->event.data.scalar.anchor, value));
                *ret = TAKE_PTR(value);
                return 0;
        }
        case YAML_SEQUENCE_START_EVENT:
                return read_container(r, false, ret);
        case YAML_MAPPING_START_EVENT:
                return read_container(r, true, ret);
        default:
                return yaml_fail(r, "expected a value");
        }
}

static int read_document(struct yaml_reader *r, json_t *documents)
{
        AUTO_JSON json_t *doc = NULL;
        TRY(yaml_next(r));
        TRY(yaml_read_value(r, &doc));
        TRY(yaml_next(r)); /* the document's end */
        map_clear(&r->anchors);
        r->aliases = 0;
        if (json_is_null(doc))
                return 0;
        return json_array_append(documents, doc) < 0 ? error_no_memory(r->err) : 0;
}

static int read_stream(struct yaml_reader *r, json_t *documents)
{
        do {
                TRY(yaml_next(r));
                if (r->event.type == YAML_DOCUMENT_START_EVENT)
                        TRY(read_document(r, documents));
        } while (r->event.type != YAML_STREAM_END_EVENT);
        return 0;
}

/* A text that opens like JSON may be JSON, also several values in a row, as the Kubernetes tools accept.
 * Returns 1 if it was, 0 if it has to be read as YAML (whose flow style it may be). */
static int read_json(struct slice text, json_t *documents, struct error *err)
{
        text = slice_trim(text);
        if (!text.len || (text.data[0] != '{' && text.data[0] != '['))
                return 0;
        while (text.len) {
                struct scanner s;
                struct slice raw;
                json_t *doc = NULL;
                scan_init(&s, text);
                int code = scan_skip(&s, &raw);
                if (code == 0)
                        code = doc_parse(raw, &doc, err);
                if (code < 0) {
                        json_array_clear(documents);
                        return code == ERR_NO_MEMORY ? code : 0;
                }
                if (!json_is_null(doc) && json_array_append(documents, doc) < 0)
                        code = error_no_memory(err);
                json_decref(doc);
                TRY(code);
                text = slice_trim((struct slice){ s.at, (size_t)(s.end - s.at) });
        }
        return 1;
}

int yaml_open_reader(struct yaml_reader *r, struct slice text, struct error *err)
{
        *r = (struct yaml_reader){ .err = err };
        if (!yaml_parser_initialize(&r->parser))
                return error_no_memory(err);
        map_init(&r->anchors, MAP_OWN_KEYS, unref);
        yaml_parser_set_input_string(&r->parser, (const unsigned char *)(text.data ? text.data : ""),
                                     text.len);
        yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
        return 0;
}

void yaml_close_reader(struct yaml_reader *r)
{
        map_free(&r->anchors);
        yaml_event_delete(&r->event);
        yaml_parser_delete(&r->parser);
}

struct part {
        struct slice text;
        size_t lines_before, most_values;
};

static int read_yaml(const struct part *p, json_t *documents, struct error *err)
{
        struct yaml_reader r;
        int code;

        TRY(yaml_open_reader(&r, p->text, err));
        r.lines_before = p->lines_before;
        r.most_values = p->most_values;
        code = read_stream(&r, documents);
        yaml_close_reader(&r);
        return code;
}

static int parse_part(const struct part *p, json_t **ret_array, struct error *err)
{
        if (p->text.len > LIMIT_YAML_BYTES)
                return error_set(err, ERR_LIMIT, "YAML of %zu bytes is larger than %u (LIMIT_YAML_BYTES)",
                                 p->text.len, LIMIT_YAML_BYTES);
        AUTO_JSON json_t *documents = json_array();
        if (!documents)
                return error_no_memory(err);
        bool counts = p->most_values && p->text.len > p->most_values;
        /* what is too much for JSON is refused in YAML's words */
        int code =
                counts && doc_count_values(p->text) > p->most_values ? 0 : read_json(p->text, documents, err);
        TRY(code);
        if (code == 0)
                TRY(read_yaml(p, documents, err));
        *ret_array = TAKE_PTR(documents);
        return 0;
}

int yaml_parse_part(struct slice text, size_t lines_before, json_t **ret_array, struct error *err)
{
        const struct part p = { .text = text, .lines_before = lines_before };

        return parse_part(&p, ret_array, err);
}

int yaml_parse_bounded(struct slice text, size_t most_values, json_t **ret_array, struct error *err)
{
        const struct part p = { .text = text, .most_values = most_values };

        return parse_part(&p, ret_array, err);
}

int yaml_parse_all(struct slice text, json_t **ret_array, struct error *err)
{
        return yaml_parse_part(text, 0, ret_array, err);
}

int yaml_parse(struct slice text, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *documents = NULL;
        TRY(yaml_parse_all(text, &documents, err));
        size_t n = json_array_size(documents);
        if (n != 1)
                return error_set(err, ERR_INVALID,
                                 n ? "yaml: %zu documents where one is expected" : "yaml: no document (%zu)",
                                 n);
        *ret = json_incref(json_array_get(documents, 0));
        return 0;
}
