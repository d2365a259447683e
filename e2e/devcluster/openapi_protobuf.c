#include "e2e/devcluster/openapi_protobuf.h"

#include "common/base/limits.h"

/* Field numbers are those of gnostic's OpenAPIv2.proto. Each writer appends the fields of one message;
 * message() puts that, with tag and length, into its parent. */
typedef int (*writer_fn)(const json_t *from, struct buf *out);

static int write_varint(struct buf *out, uint64_t v)
{
        while (v >= 0x80) {
                TRY(buf_append_char(out, (char)(v | 0x80)));
                v >>= 7;
        }
        return buf_append_char(out, (char)v);
}

static int write_bytes(struct buf *out, uint32_t field, const char *data, size_t n)
{
        TRY(write_varint(out, (uint64_t)field << 3 | 2));
        TRY(write_varint(out, n));
        return buf_append(out, data, n);
}

static int write_text(struct buf *out, uint32_t field, const json_t *s)
{
        return json_is_string(s) ? write_bytes(out, field, json_string_value(s), json_string_length(s)) : 0;
}

static int write_bool(struct buf *out, uint32_t field, const json_t *v)
{
        if (!json_is_true(v))
                return 0;
        TRY(write_varint(out, (uint64_t)field << 3));
        return write_varint(out, 1);
}

static int message(struct buf *out, uint32_t field, const json_t *from, writer_fn write)
{
        AUTO_BUF struct buf in;
        buf_init(&in, LIMIT_RESPONSE_BYTES);
        TRY(write(from, &in));
        return write_bytes(out, field, in.data, in.len);
}

static int texts(struct buf *out, uint32_t field, const json_t *list)
{
        size_t i;
        json_t *s;
        json_array_foreach((json_t *)list, i, s)
                TRY(write_text(out, field, s));
        return 0;
}

/* A name and a value of some message: {name = 1, value = 2}. */
static int named(struct buf *out, uint32_t field, const char *name, const json_t *value, writer_fn write)
{
        AUTO_BUF struct buf in;
        buf_init(&in, LIMIT_RESPONSE_BYTES);
        TRY(write_bytes(&in, 1, name, strlen(name)));
        TRY(message(&in, 2, value, write));
        return write_bytes(out, field, in.data, in.len);
}

/* Any {yaml = 2}: JSON is YAML. */
static int write_any(const json_t *from, struct buf *out)
{
        AUTO_BUF struct buf text;
        buf_init(&text, LIMIT_OBJECT_BYTES);
        TRY(doc_write(from, &text));
        return write_bytes(out, 2, text.data, text.len);
}

static int write_extensions(struct buf *out, uint32_t field, const json_t *from)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)from, key, value)
                if (text_starts_with(key, "x-"))
                        TRY(named(out, field, key, value, write_any));
        return 0;
}

/* ---- schemas ---- */

static int write_schema(const json_t *from, struct buf *out);

static int write_type(const json_t *from, struct buf *out)
{
        return write_text(out, 1, from);
}

static int write_items(const json_t *from, struct buf *out)
{
        return message(out, 1, from, write_schema);
}

static int write_additional(const json_t *from, struct buf *out)
{
        if (json_is_object(from))
                return message(out, 1, from, write_schema);
        return write_bool(out, 2, from);
}

static int write_schemas(const json_t *from, struct buf *out)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)from, key, value)
                TRY(named(out, 1, key, value, write_schema));
        return 0;
}

/* What v2 cannot say is left out, as kube-apiserver does: nullable values and objects that keep unknown
 * fields have no type, or old clients would refuse what is allowed. */
static int write_schema(const json_t *from, struct buf *out)
{
        bool open = json_is_true(json_object_get(from, "x-kubernetes-preserve-unknown-fields")) ||
                    json_is_true(json_object_get(from, "nullable"));
        const json_t *any = json_object_get(from, "default"), *required = json_object_get(from, "required");
        TRY(write_text(out, 1, json_object_get(from, "$ref")));
        TRY(write_text(out, 2, json_object_get(from, "format")));
        TRY(write_text(out, 4, json_object_get(from, "description")));
        if (any && !json_is_null(any))
                TRY(message(out, 5, any, write_any));
        if (json_is_array(required))
                TRY(texts(out, 19, required));
        if (!open) {
                const json_t *additional = json_object_get(from, "additionalProperties");
                const json_t *type = json_object_get(from, "type"), *items = json_object_get(from, "items");
                const json_t *properties = json_object_get(from, "properties");
                if (additional)
                        TRY(message(out, 21, additional, write_additional));
                if (json_is_string(type))
                        TRY(message(out, 22, type, write_type));
                if (items)
                        TRY(message(out, 23, items, write_items));
                if (properties)
                        TRY(message(out, 25, properties, write_schemas));
        }
        return write_extensions(out, 31, from);
}

/* ---- paths ---- */

/* ParametersItem > Parameter > NonBodyParameter > QueryParameterSubSchema. */
static int write_query(const json_t *from, struct buf *out)
{
        TRY(write_text(out, 2, json_object_get(from, "in")));
        TRY(write_text(out, 4, json_object_get(from, "name")));
        TRY(write_text(out, 6, json_object_get(from, "type")));
        return write_bool(out, 20, json_object_get(from, "uniqueItems"));
}

static int write_non_body(const json_t *from, struct buf *out)
{
        return message(out, 3, from, write_query);
}

static int write_parameter(const json_t *from, struct buf *out)
{
        return message(out, 2, from, write_non_body);
}

static int write_parameter_item(const json_t *from, struct buf *out)
{
        return message(out, 1, from, write_parameter);
}

static int write_response(const json_t *from, struct buf *out)
{
        return write_text(out, 1, json_object_get(from, "description"));
}

static int write_response_value(const json_t *from, struct buf *out)
{
        return message(out, 1, from, write_response);
}

static int write_responses(const json_t *from, struct buf *out)
{
        const char *code;
        json_t *value;
        json_object_foreach((json_t *)from, code, value)
                TRY(named(out, 1, code, value, write_response_value));
        return 0;
}

static int write_operation(const json_t *from, struct buf *out)
{
        size_t i;
        json_t *parameter;
        TRY(write_text(out, 5, json_object_get(from, "operationId")));
        json_array_foreach(json_object_get(from, "parameters"), i, parameter)
                TRY(message(out, 8, parameter, write_parameter_item));
        TRY(message(out, 9, json_object_get(from, "responses"), write_responses));
        return write_extensions(out, 13, from);
}

static int write_path(const json_t *from, struct buf *out)
{
        static const struct {
                const char *method;
                uint32_t field;
        } methods[] = { { "get", 2 }, { "put", 3 }, { "post", 4 }, { "delete", 5 }, { "patch", 8 } };
        for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
                const json_t *operation = json_object_get(from, methods[i].method);
                if (operation)
                        TRY(message(out, methods[i].field, operation, write_operation));
        }
        return 0;
}

static int write_paths(const json_t *from, struct buf *out)
{
        const char *path;
        json_t *value;
        json_object_foreach((json_t *)from, path, value)
                TRY(named(out, 2, path, value, write_path));
        return 0;
}

static int write_info(const json_t *from, struct buf *out)
{
        TRY(write_text(out, 1, json_object_get(from, "title")));
        return write_text(out, 2, json_object_get(from, "version"));
}

int openapi_write_protobuf(const json_t *doc, struct buf *out)
{
        TRY(write_text(out, 1, json_object_get(doc, "swagger")));
        TRY(message(out, 2, json_object_get(doc, "info"), write_info));
        TRY(message(out, 8, json_object_get(doc, "paths"), write_paths));
        return message(out, 9, json_object_get(doc, "definitions"), write_schemas);
}
