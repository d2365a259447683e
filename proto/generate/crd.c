/* Builds CustomResourceDefinitions from the model. */
#include <ctype.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "proto/generate/generate.h"

#define QUANTITY_PATTERN                                                                                     \
        "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]" \
        "*)?)"                                                                                               \
        "|(\\.[0-9]+))))?$"

/* The kind and version a schema is for. */
struct target {
        const struct kind_def *kind;
        const char *version;
};

static void set(json_t *object, const char *key, json_t *value)
{
        if (json_object_set_new(object, key, value) < 0)
                fail("out of memory at %s", key);
}

static json_t *pack(json_t *value)
{
        if (!value)
                fail("out of memory");
        return value;
}

static json_t *schema_of_type(const struct type_def *t, const struct target *to, const char *doc);

static json_t *int_or_string(void)
{
        return pack(json_pack("{s:[{s:s},{s:s}],s:b}", "anyOf", "type", "integer", "type", "string",
                              "x-kubernetes-int-or-string", 1));
}

static json_t *schema_of_scalar(const char *name)
{
        static const struct {
                const char *name, *type, *format;
        } plain[] = {
                { "string", "string", NULL },      { "interned", "string", NULL },
                { "bool", "boolean", NULL },       { "int", "integer", NULL },
                { "int32", "integer", "int32" },   { "int64", "integer", "int64" },
                { "time", "string", "date-time" }, { "byte", "string", "byte" },
        };
        for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
                if (!text_equal(plain[i].name, name))
                        continue;
                json_t *s = pack(json_pack("{s:s}", "type", plain[i].type));
                if (plain[i].format)
                        set(s, "format", json_string(plain[i].format));
                return s;
        }
        if (text_equal(name, "intstr"))
                return int_or_string();
        json_t *s = text_equal(name, "quantity") ? int_or_string() : pack(json_object());
        if (text_equal(name, "quantity")) {
                set(s, "pattern", json_string(QUANTITY_PATTERN));
                return s;
        }
        set(s, "x-kubernetes-preserve-unknown-fields", json_true());
        if (!text_equal(name, "any"))
                set(s, "type", json_string("object"));
        if (text_equal(name, "embed"))
                set(s, "x-kubernetes-embedded-resource", json_true());
        return s;
}

/* The value of `default: 60` in the field's own type; a type's is JSON. */
static json_t *typed_value(const struct field_def *f, const char *text)
{
        int64_t number;
        json_t *object = f->type ? json_loads(text, 0, NULL) : NULL;
        if (f->type && !json_is_object(object))
                fail("%s: default is no object in JSON", f->name);
        if (f->type)
                return object;
        bool numeric = text_starts_with(f->inner, "int") && !text_equal(f->inner, "interned");
        return numeric && text_parse_i64(text, &number) ? json_integer(number) : json_string(text);
}

static void add_numbers(json_t *schema, const struct field_def *f, const struct target *to)
{
        static const struct {
                const char *attribute, *keyword;
        } numbers[] = {
                { "min", "minimum" },
                { "max", "maximum" },
                { "minLength", "minLength" },
                { "maxLength", "maxLength" },
                { "minItems", "minItems" },
                { "maxItems", "maxItems" },
                { "minProperties", "minProperties" },
                { "maxProperties", "maxProperties" },
        };
        for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
                const char *text =
                        json_string_value(field_attribute(f, numbers[i].attribute, to->kind, to->version));
                int64_t number;
                if (!text)
                        continue;
                if (!text_parse_i64(text, &number))
                        fail("%s: %s is not a number", f->name, numbers[i].attribute);
                set(schema, numbers[i].keyword, json_integer(number));
        }
}

static void add_rules(json_t *schema, const json_t *rules, const struct target *to)
{
        json_t *list = json_array();
        size_t i;
        json_t *rule;
        json_array_foreach(rules, i, rule)
                if (applies_to(rule, to->kind, to->version))
                        json_array_append_new(
                                list, pack(json_pack("{s:s,s:s}", "rule", text_attribute(rule, "rule"),
                                                     "message", text_attribute(rule, "message"))));
        if (json_array_size(list))
                set(schema, "x-kubernetes-validations", list);
        else
                json_decref(list);
}

static void add_attributes(json_t *schema, const struct field_def *f, const struct target *to)
{
        add_numbers(schema, f, to);
        json_t *value = field_attribute(f, "enum", to->kind, to->version);
        if (value)
                set(schema, "enum", json_deep_copy(value));
        value = field_attribute(f, "pattern", to->kind, to->version);
        if (value)
                set(schema, "pattern", json_deep_copy(value));
        value = field_attribute(f, "itemPattern", to->kind, to->version);
        if (value)
                set(json_object_get(schema, "items"), "pattern",
                    text_equal(json_string_value(value), "quantity") ? json_string(QUANTITY_PATTERN)
                                                                     : json_deep_copy(value));
        value = field_attribute(f, "default", to->kind, to->version);
        if (value)
                set(schema, "default", typed_value(f, json_string_value(value)));
        value = field_attribute(f, "list", to->kind, to->version);
        if (value)
                set(schema, "x-kubernetes-list-type", json_deep_copy(value));
        json_t *rules = field_attribute(f, "rules", to->kind, to->version);
        if (rules && json_object_get(schema, "x-kubernetes-validations"))
                fail("%s: both the field and its type have rules", f->name);
        if (rules)
                add_rules(schema, rules, to);
}

static json_t *schema_of_field(const struct field_def *f, const struct target *to)
{
        bool one = f->shape == SHAPE_ONE;
        json_t *schema = f->type ? schema_of_type(f->type, to, one ? f->doc : f->type->doc)
                                 : schema_of_scalar(f->inner);
        if (f->shape == SHAPE_MAP)
                schema = pack(json_pack("{s:s,s:o}", "type", "object", "additionalProperties", schema));
        else if (!one)
                schema = pack(json_pack("{s:s,s:o}", "type", "array", "items", schema));
        if (f->shape == SHAPE_LIST_MAP) {
                set(schema, "x-kubernetes-list-type", json_string("map"));
                const char *key = text_attribute(f->attributes, "key");
                set(schema, "x-kubernetes-list-map-keys", json_pack("[s]", key ? key : "type"));
        }
        set(schema, "description", json_string(f->doc));
        add_attributes(schema, f, to);
        return schema;
}

static bool is_required(const struct field_def *f, const char *version)
{
        json_t *special = json_object_get(json_object_get(f->attributes, version), "required");
        return special ? text_equal(json_string_value(special), "true") : f->required;
}

static json_t *schema_of_type(const struct type_def *t, const struct target *to, const char *doc)
{
        json_t *properties = json_object(), *needed = json_array();
        for (size_t i = 0; i < t->n_fields; i++) {
                const struct field_def *f = &t->fields[i];
                if (!field_in(f, to->kind, to->version))
                        continue;
                set(properties, f->name, schema_of_field(f, to));
                if (is_required(f, to->version))
                        json_array_append_new(needed, json_string(f->name));
        }
        json_t *schema = pack(json_pack("{s:s,s:o}", "type", "object", "properties", properties));
        if (json_array_size(needed))
                set(schema, "required", needed);
        else
                json_decref(needed);
        if (doc)
                set(schema, "description", json_string(doc));
        if (t->atomic)
                set(schema, "x-kubernetes-map-type", json_string("atomic"));
        add_rules(schema, t->rules, to);
        return schema;
}

static json_t *root_schema(const struct target *to)
{
        json_t *schema = schema_of_type(to->kind->root, to, to->kind->doc);
        json_t *properties = json_object_get(schema, "properties");
        set(properties, "apiVersion",
            pack(json_pack("{s:s,s:s}", "type", "string", "description",
                           "API group and version of this object.")));
        set(properties, "kind",
            pack(json_pack("{s:s,s:s}", "type", "string", "description", "Kind of this object.")));
        set(properties, "metadata", pack(json_pack("{s:s}", "type", "object")));
        return schema;
}

/* `C[{kind}Applied].status` -> `.status.conditions[?(@.type=="ClusterResourcePlacementApplied")].status` */
char *column_path(const struct kind_def *k, const char *text)
{
        struct buf b;
        buf_init(&b, 512);
        bool condition = text_starts_with(text, "C[");
        if (condition) {
                buf_append_str(&b, ".status.conditions[?(@.type==\"");
                text += 2;
        }
        for (; *text; text++) {
                if (text_starts_with(text, "{kind}")) {
                        buf_append_str(&b, k->kind);
                        text += strlen("{kind}") - 1;
                } else if (condition && *text == ']') {
                        buf_append_str(&b, "\")]");
                } else {
                        buf_append_char(&b, *text);
                }
        }
        return mem_must(buf_take(&b, NULL));
}

static json_t *columns(const struct target *to)
{
        json_t *list = json_array();
        size_t i;
        json_t *column;
        json_array_foreach(to->kind->columns, i, column) {
                if (!applies_to(column, to->kind, to->version))
                        continue;
                const char *type = text_attribute(column, "type");
                AUTO_FREE char *path = column_path(to->kind, text_attribute(column, "path"));
                json_t *c = pack(json_pack("{s:s,s:s,s:s}", "name", text_attribute(column, "name"),
                                           "jsonPath", path, "type", type ? type : "string"));
                if (text_attribute(column, "priority"))
                        set(c, "priority", json_integer(1));
                json_array_append_new(list, c);
        }
        return list;
}

static json_t *version_of(const struct target *to)
{
        json_t *v = pack(json_pack("{s:s,s:b,s:b,s:{s:o}}", "name", to->version, "served", 1, "storage",
                                   text_equal(to->version, storage_version(to->kind)), "schema",
                                   "openAPIV3Schema", root_schema(to)));
        if (to->kind->has_status)
                set(v, "subresources", json_pack("{s:{}}", "status"));
        json_t *list = columns(to);
        if (json_array_size(list))
                set(v, "additionalPrinterColumns", list);
        else
                json_decref(list);
        return v;
}

static json_t *names_of(const struct kind_def *k)
{
        AUTO_FREE char *list_kind = mem_must(mem_printf("%sList", k->kind));
        AUTO_FREE char *singular = mem_must(mem_strdup(k->kind));
        for (char *c = singular; *c; c++)
                *c = (char)tolower((unsigned char)*c);
        json_t *names = pack(json_pack("{s:s,s:s,s:s,s:s}", "kind", k->kind, "listKind", list_kind, "plural",
                                       k->plural, "singular", singular));
        if (k->categories)
                set(names, "categories", json_deep_copy(k->categories));
        if (k->short_name)
                set(names, "shortNames", json_pack("[s]", k->short_name));
        return names;
}

json_t *crd_of(const struct kind_def *k)
{
        json_t *versions = json_array();
        for (size_t i = 0; i < k->n_versions; i++)
                json_array_append_new(versions, version_of(&(struct target){ k, k->versions[i] }));
        AUTO_FREE char *name = mem_must(mem_printf("%s.%s", k->plural, k->group));
        return pack(json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:o,s:s,s:o}}", "apiVersion",
                              "apiextensions.k8s.io/v1", "kind", "CustomResourceDefinition", "metadata",
                              "name", name, "spec", "group", k->group, "names", names_of(k), "scope",
                              k->namespaced ? "Namespaced" : "Cluster", "versions", versions));
}

/* ---- as C ---- */

enum { LITERAL_WIDTH = 100 };

static void write_literal(const char *text, struct buf *b)
{
        size_t column = 0;
        buf_append_str(b, "          \"");
        for (; *text; text++) {
                if (column >= LITERAL_WIDTH) {
                        buf_append_str(b, "\"\n          \"");
                        column = 0;
                }
                if (*text == '"' || *text == '\\')
                        buf_append_char(b, '\\');
                buf_append_char(b, *text);
                column++;
        }
        buf_append_str(b, "\"");
}

void write_crd_texts(const struct model *m, struct buf *b)
{
        buf_append_str(b, "/* Written by `make generate` from proto/kinds/; do not edit. */\n"
                          "#include \"proto/gen/kinds.h\"\n\nconst struct crd_text crd_texts[] = {\n");
        size_t n = 0;
        for (size_t i = 0; i < m->n_kinds; i++) {
                const struct kind_def *k = &m->kinds[i];
                if (k->external)
                        continue;
                n++;
                json_t *crd = crd_of(k);
                char *text = json_dumps(crd, JSON_COMPACT | JSON_SORT_KEYS);
                buf_printf(b, "        { \"%s.%s\",\n", k->plural, k->group);
                write_literal(mem_must(text), b);
                buf_printf(b, ",\n          %s, %s },\n", installed_on(k, "hub") ? "true" : "false",
                           installed_on(k, "member") ? "true" : "false");
                free(text);
                json_decref(crd);
        }
        buf_printf(b, "};\nconst size_t n_crd_texts = %zu;\n", n);
}
