/* Schemas of CustomResourceDefinitions. v3 shows them as given. v2 has no nullable, no alternatives and
 * clients that check strictly: what they would take wrongly is left out, as kube-apiserver does. */
#include "e2e/devcluster/openapi.h"

static const char api_version_text[] =
        "Group and version of the API this object is written in, as \"group/version\" (\"v1\" for core).";
static const char kind_text[] = "Name of the object's type in its group and version. It cannot be changed.";

static void write_schema(struct openapi_document *d, const json_t *schema, const struct kind_name *kind);

static void write_member_text(struct buf *b, const char *key, const json_t *given, const char *fallback)
{
        const char *text = json_string_value(json_object_get(given, "description"));
        out_key(b, key);
        out_open(b, '{');
        out_member(b, "description", text ? text : fallback);
        out_member(b, "type", "string");
        out_close(b, '}');
}

/* The three fields every object has. */
static void write_object_fields(struct openapi_document *d, const json_t *properties)
{
        struct buf *b = &d->piece;
        write_member_text(b, "apiVersion", json_object_get(properties, "apiVersion"), api_version_text);
        write_member_text(b, "kind", json_object_get(properties, "kind"), kind_text);
        out_key(b, "metadata");
        openapi_reference_write(d, OPENAPI_OBJECT_META);
}

static bool is_object_field(const char *name)
{
        static const char *const names[] = { "apiVersion", "kind", "metadata" };
        return text_in(name, names, ARRAY_LEN(names));
}

static void write_properties(struct openapi_document *d, const json_t *properties, bool whole_object)
{
        struct buf *b = &d->piece;
        const char *name;
        json_t *value;
        out_key(b, "properties");
        out_open(b, '{');
        if (whole_object)
                write_object_fields(d, properties);
        json_object_foreach((json_t *)properties, name, value) {
                if (whole_object && is_object_field(name))
                        continue;
                out_key(b, name);
                write_schema(d, value, NULL);
        }
        out_close(b, '}');
}

static bool shown_in_v2(const json_t *schema, const char *key)
{
        static const char *const never[] = {
                "nullable", "oneOf", "anyOf", "allOf", "not", "default", "x-kubernetes-validations"
        };
        static const char *const shape[] = { "type", "properties", "items", "required",
                                             "additionalProperties" };
        if (text_in(key, never, ARRAY_LEN(never)))
                return false;
        if (doc_get_bool(schema, "nullable", false))
                return !text_in(key, shape, ARRAY_LEN(shape));
        if (json_is_true(json_object_get(schema, "x-kubernetes-preserve-unknown-fields")))
                return strcmp(key, "type") == 0 || !text_in(key, shape, ARRAY_LEN(shape));
        return true;
}

static void write_keyword(struct openapi_document *d, const char *key, const json_t *value)
{
        struct buf *b = &d->piece;
        out_key(b, key);
        if ((strcmp(key, "items") == 0 || strcmp(key, "additionalProperties") == 0) && json_is_object(value))
                write_schema(d, value, NULL);
        else
                out_value(b, value);
}

/* kind: of the whole object, NULL inside. */
static void write_schema(struct openapi_document *d, const json_t *schema, const struct kind_name *kind)
{
        struct buf *b = &d->piece;
        bool open = json_is_true(json_object_get(schema, "x-kubernetes-preserve-unknown-fields"));
        bool embedded = json_is_true(json_object_get(schema, "x-kubernetes-embedded-resource"));
        bool whole_object = kind || (embedded && !(open && openapi_is_v2(d)));
        const json_t *properties = json_object_get(schema, "properties");
        const char *key;
        json_t *value;
        out_open(b, '{');
        if (whole_object || (properties && (!openapi_is_v2(d) || shown_in_v2(schema, "properties"))))
                write_properties(d, properties, whole_object);
        json_object_foreach((json_t *)schema, key, value)
                if (strcmp(key, "properties") != 0 && (!openapi_is_v2(d) || shown_in_v2(schema, key)))
                        write_keyword(d, key, value);
        if (kind)
                openapi_kinds_write(b, kind);
        out_close(b, '}');
}

void openapi_custom_write(struct openapi_document *d, const json_t *schema, const struct kind_name *kind)
{
        write_schema(d, schema, kind);
}
