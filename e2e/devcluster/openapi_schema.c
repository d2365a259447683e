/* Built-in types as OpenAPI schemas. types.txt has no bounds, patterns or enums, so none are written. */
#include "e2e/devcluster/openapi.h"

static const char *type_name(const struct schema *s)
{
        switch (s->type) {
        case SCHEMA_OBJECT:
                return "object";
        case SCHEMA_ARRAY:
                return "array";
        case SCHEMA_STRING:
                return "string";
        case SCHEMA_INTEGER:
                return "integer";
        case SCHEMA_NUMBER:
                return "number";
        case SCHEMA_BOOLEAN:
                return "boolean";
        case SCHEMA_ANY:
                break;
        }
        return NULL;
}

void openapi_reference_write(struct openapi_document *d, const char *definition)
{
        const char *prefix = openapi_is_v2(d) ? "#/definitions/" : "#/components/schemas/";
        struct buf *b = &d->piece;
        out_open(b, '{');
        out_key(b, "$ref");
        (void)buf_printf(b, "\"%s%s\"", prefix, definition);
        out_close(b, '}');
}

void openapi_kind_write(struct buf *b, const struct kind_name *kind)
{
        out_open(b, '{');
        out_member(b, "group", kind->group);
        out_member(b, "kind", kind->kind);
        out_member(b, "version", kind->version);
        out_close(b, '}');
}

void openapi_kinds_write(struct buf *b, const struct kind_name *kind)
{
        out_key(b, "x-kubernetes-group-version-kind");
        out_open(b, '[');
        openapi_kind_write(b, kind);
        out_close(b, ']');
}

/* int-or-string: v2 has no oneOf and calls it a string (a quantity without saying more). */
static void write_mixed(struct openapi_document *d, const struct schema *s)
{
        bool quantity = s->ref && strstr(s->ref, "Quantity");
        struct buf *b = &d->piece;
        if (!quantity)
                out_member(b, "format", "int-or-string");
        if (openapi_is_v2(d)) {
                out_member(b, "type", "string");
                return;
        }
        out_key(b, "oneOf");
        out_open(b, '[');
        out_open(b, '{');
        out_member(b, "type", quantity ? "string" : "integer");
        out_close(b, '}');
        out_open(b, '{');
        out_member(b, "type", quantity ? "number" : "string");
        out_close(b, '}');
        out_close(b, ']');
}

static void write_markers(struct buf *b, const struct schema *s)
{
        static const char *const strategies[] = { "merge", "retainKeys", "merge,retainKeys" };
        int strategy = (s->patch_merge ? 1 : 0) + (s->patch_retain_keys ? 2 : 0);
        if (s->list_type == SCHEMA_LIST_MAP)
                out_member_strings(b, "x-kubernetes-list-map-keys", s->list_map_keys, s->n_list_map_keys);
        if (s->type == SCHEMA_ARRAY && (s->list_type != SCHEMA_LIST_ATOMIC || !s->patch_merge))
                out_member(b, "x-kubernetes-list-type",
                           s->list_type == SCHEMA_LIST_MAP   ? "map"
                           : s->list_type == SCHEMA_LIST_SET ? "set"
                                                             : "atomic");
        if (s->map_atomic)
                out_member(b, "x-kubernetes-map-type", "atomic");
        out_member(b, "x-kubernetes-patch-merge-key", s->patch_merge_key);
        if (strategy)
                out_member(b, "x-kubernetes-patch-strategy", strategies[strategy - 1]);
}

static void write_default(struct buf *b, const struct schema *s)
{
        if (!s->default_value)
                return;
        out_key(b, "default");
        out_value(b, s->default_value);
}

static void write_inner(struct openapi_document *d, const struct schema *s, const char *description);

/* A field of a named type. What the field itself says stands beside the reference, which v3 wraps. */
static void write_named(struct openapi_document *d, const struct schema *s, const char *description)
{
        struct buf *b = &d->piece;
        bool plain = !description && !s->default_value && !s->patch_merge && !s->patch_retain_keys;
        if (plain) {
                openapi_reference_write(d, s->ref);
                return;
        }
        out_open(b, '{');
        if (openapi_is_v2(d)) {
                out_key(b, "$ref");
                (void)buf_printf(b, "\"#/definitions/%s\"", s->ref);
        } else {
                out_key(b, "allOf");
                out_open(b, '[');
                openapi_reference_write(d, s->ref);
                out_close(b, ']');
        }
        out_member(b, "description", description);
        write_default(b, s);
        write_markers(b, s);
        out_close(b, '}');
}

static void write_properties(struct openapi_document *d, const struct schema *s)
{
        struct buf *b = &d->piece;
        if (!s->n_properties)
                return;
        out_key(b, "properties");
        out_open(b, '{');
        for (size_t i = 0; i < s->n_properties; i++) {
                const char *name = s->properties[i].name;
                out_key(b, name);
                write_inner(d, s->properties[i].schema, openapi_describe_field(s->ref, name));
        }
        out_close(b, '}');
}

static void write_body(struct openapi_document *d, const struct schema *s, const char *description)
{
        struct buf *b = &d->piece;
        out_member(b, "description", description);
        if (s->int_or_string) {
                write_mixed(d, s);
                return;
        }
        out_member(b, "type", type_name(s));
        out_member(b, "format", s->format);
        write_default(b, s);
        write_properties(d, s);
        out_member_strings(b, "required", s->required, s->n_required);
        if (s->items) {
                out_key(b, "items");
                write_inner(d, s->items, NULL);
        }
        if (s->additional) {
                out_key(b, "additionalProperties");
                write_inner(d, s->additional, NULL);
        }
        write_markers(b, s);
}

static void write_inner(struct openapi_document *d, const struct schema *s, const char *description)
{
        if (s->ref) {
                write_named(d, s, description);
                return;
        }
        out_open(&d->piece, '{');
        write_body(d, s, description);
        out_close(&d->piece, '}');
}

void openapi_schema_write(struct openapi_document *d, const struct schema *s, const struct kind_name *kind)
{
        struct buf *b = &d->piece;
        out_open(b, '{');
        write_body(d, s, s->ref ? openapi_describe_type(s->ref) : NULL);
        if (kind)
                openapi_kinds_write(b, kind);
        out_close(b, '}');
}

int openapi_schema_collect(struct openapi_document *d, const struct schema *s)
{
        if (!s || (s->ref && map_has(&d->types, s->ref)))
                return 0;
        if (s->ref)
                TRY(map_put(&d->types, s->ref, (void *)s));
        for (size_t i = 0; i < s->n_properties; i++)
                TRY(openapi_schema_collect(d, s->properties[i].schema));
        TRY(openapi_schema_collect(d, s->items));
        return openapi_schema_collect(d, s->additional);
}
