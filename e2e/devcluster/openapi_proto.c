/* The OpenAPI v2 document in gnostic's protobuf encoding: the only form that kubectl before 1.27 asks for. */
#include "common/base/limits.h"
#include "e2e/devcluster/openapi.h"

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

static int write_integer(struct buf *out, uint32_t field, const json_t *v)
{
        if (!json_is_integer(v))
                return 0;
        TRY(write_varint(out, (uint64_t)field << 3));
        return write_varint(out, (uint64_t)json_integer_value(v));
}

static int write_number(struct buf *out, uint32_t field, const json_t *v)
{
        double value = json_number_value(v);
        uint64_t bits;
        char bytes[8];
        if (!json_is_number(v))
                return 0;
        memcpy(&bits, &value, sizeof(bits));
        for (size_t i = 0; i < sizeof(bytes); i++)
                bytes[i] = (char)(bits >> (8 * i));
        TRY(write_varint(out, (uint64_t)field << 3 | 1));
        return buf_append(out, bytes, sizeof(bytes));
}

static int write_text_list(struct buf *out, uint32_t field, const json_t *list)
{
        return json_is_array(list) ? texts(out, field, list) : 0;
}

static int write_enum(struct buf *out, uint32_t field, const json_t *list)
{
        size_t i;
        json_t *value;
        json_array_foreach((json_t *)list, i, value)
                TRY(message(out, field, value, write_any));
        return 0;
}

static int write_default(struct buf *out, uint32_t field, const json_t *value)
{
        return value && !json_is_null(value) ? message(out, field, value, write_any) : 0;
}

static int write_type_item(struct buf *out, uint32_t field, const json_t *value)
{
        return json_is_string(value) ? message(out, field, value, write_type) : 0;
}

static int write_items_item(struct buf *out, uint32_t field, const json_t *value)
{
        return json_is_object(value) ? message(out, field, value, write_items) : 0;
}

static int write_additional_item(struct buf *out, uint32_t field, const json_t *value)
{
        return value ? message(out, field, value, write_additional) : 0;
}

static int write_properties(struct buf *out, uint32_t field, const json_t *value)
{
        return json_is_object(value) ? message(out, field, value, write_schemas) : 0;
}

static const struct {
        const char *key;
        uint32_t field;
        int (*write)(struct buf *out, uint32_t field, const json_t *value); /* nothing for a value of NULL */
} schema_fields[] = {
        { "$ref", 1, write_text },
        { "format", 2, write_text },
        { "title", 3, write_text },
        { "description", 4, write_text },
        { "default", 5, write_default },
        { "multipleOf", 6, write_number },
        { "maximum", 7, write_number },
        { "exclusiveMaximum", 8, write_bool },
        { "minimum", 9, write_number },
        { "exclusiveMinimum", 10, write_bool },
        { "maxLength", 11, write_integer },
        { "minLength", 12, write_integer },
        { "pattern", 13, write_text },
        { "maxItems", 14, write_integer },
        { "minItems", 15, write_integer },
        { "uniqueItems", 16, write_bool },
        { "maxProperties", 17, write_integer },
        { "minProperties", 18, write_integer },
        { "required", 19, write_text_list },
        { "enum", 20, write_enum },
        { "additionalProperties", 21, write_additional_item },
        { "type", 22, write_type_item },
        { "items", 23, write_items_item },
        { "properties", 25, write_properties },
};

static int write_schema(const json_t *from, struct buf *out)
{
        for (size_t i = 0; i < ARRAY_LEN(schema_fields); i++)
                TRY(schema_fields[i].write(out, schema_fields[i].field,
                                           json_object_get(from, schema_fields[i].key)));
        return write_extensions(out, 31, from);
}

/* ---- paths ---- */

static int write_query(const json_t *from, struct buf *out)
{
        TRY(write_text(out, 2, json_object_get(from, "in")));
        TRY(write_text(out, 3, json_object_get(from, "description")));
        TRY(write_text(out, 4, json_object_get(from, "name")));
        TRY(write_text(out, 6, json_object_get(from, "type")));
        return write_bool(out, 20, json_object_get(from, "uniqueItems"));
}

static int write_in_path(const json_t *from, struct buf *out)
{
        TRY(write_bool(out, 1, json_object_get(from, "required")));
        TRY(write_text(out, 2, json_object_get(from, "in")));
        TRY(write_text(out, 3, json_object_get(from, "description")));
        TRY(write_text(out, 4, json_object_get(from, "name")));
        TRY(write_text(out, 5, json_object_get(from, "type")));
        return write_bool(out, 19, json_object_get(from, "uniqueItems"));
}

static int write_body(const json_t *from, struct buf *out)
{
        TRY(write_text(out, 2, json_object_get(from, "name")));
        TRY(write_text(out, 3, json_object_get(from, "in")));
        TRY(write_bool(out, 4, json_object_get(from, "required")));
        return message(out, 5, json_object_get(from, "schema"), write_schema);
}

static bool is_in(const json_t *parameter, const char *place)
{
        return text_equal(json_string_value(json_object_get(parameter, "in")), place);
}

static int write_non_body(const json_t *from, struct buf *out)
{
        return is_in(from, "path") ? message(out, 4, from, write_in_path)
                                   : message(out, 3, from, write_query);
}

static int write_parameter(const json_t *from, struct buf *out)
{
        return is_in(from, "body") ? message(out, 1, from, write_body)
                                   : message(out, 2, from, write_non_body);
}

static int write_parameter_item(const json_t *from, struct buf *out)
{
        return message(out, 1, from, write_parameter);
}

/* SchemaItem { schema = 1 } */
static int write_schema_item(const json_t *from, struct buf *out)
{
        return message(out, 1, from, write_schema);
}

static int write_response(const json_t *from, struct buf *out)
{
        const json_t *schema = json_object_get(from, "schema");
        TRY(write_text(out, 1, json_object_get(from, "description")));
        return schema ? message(out, 2, schema, write_schema_item) : 0;
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

static int write_parameters(struct buf *out, uint32_t field, const json_t *list)
{
        size_t i;
        json_t *parameter;
        json_array_foreach((json_t *)list, i, parameter)
                TRY(message(out, field, parameter, write_parameter_item));
        return 0;
}

static int write_operation(const json_t *from, struct buf *out)
{
        TRY(write_text(out, 5, json_object_get(from, "operationId")));
        TRY(write_text_list(out, 6, json_object_get(from, "produces")));
        TRY(write_text_list(out, 7, json_object_get(from, "consumes")));
        TRY(write_parameters(out, 8, json_object_get(from, "parameters")));
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
        return write_parameters(out, 9, json_object_get(from, "parameters"));
}

int openapi_proto_path(struct buf *paths, const char *name, const json_t *item)
{
        return named(paths, 2, name, item, write_path);
}

int openapi_proto_definition(struct buf *definitions, const char *name, const json_t *schema)
{
        return named(definitions, 1, name, schema, write_schema);
}

static int write_info(const json_t *from, struct buf *out)
{
        TRY(write_text(out, 1, json_object_get(from, "title")));
        return write_text(out, 2, json_object_get(from, "version"));
}

int openapi_proto_head(struct buf *out, struct slice info)
{
        AUTO_JSON json_t *doc = NULL;
        TRY(doc_parse(info, &doc, NULL));
        TRY(write_bytes(out, 1, "2.0", 3));
        return message(out, 2, doc, write_info);
}

int openapi_proto_section(struct buf *out, bool definitions, struct slice section)
{
        return write_bytes(out, definitions ? 9 : 8, section.data, section.len);
}
