/* Writes docs/reference.md: all kinds, fields, defaults, rules and columns. */
#include <ctype.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "proto/generate/generate.h"

static bool is_root(const struct type_def *t)
{
        return text_ends_with(t->name, " root");
}

/* Table cells must not hold a bare |. */
static void write_cell(const char *text, struct buf *b)
{
        for (; *text; text++) {
                if (*text == '|')
                        buf_append_char(b, '\\');
                buf_append_char(b, *text);
        }
}

static void write_joined(const json_t *array, struct buf *b)
{
        size_t i;
        json_t *item;
        json_array_foreach(array, i, item)
                buf_printf(b, "%s%s", i ? ", " : "", json_string_value(item));
}

static void write_type_name(const struct field_def *f, struct buf *b)
{
        static const struct {
                const char *name, *words;
        } words[] = {
                { "interned", "string" },
                { "intstr", "integer or string" },
                { "embed", "object with apiVersion and kind" },
                { "raw", "object" },
                { "any", "any value" },
                { "byte", "string (base64)" },
                { "microtime", "time" },
                { "bool", "boolean" },
                { "int", "integer" },
        };
        const char *name = f->inner;
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
                if (text_equal(words[i].name, f->inner))
                        name = words[i].words;
        const char *prefix = f->shape == SHAPE_ONE ? "" : f->shape == SHAPE_MAP ? "map of " : "list of ";
        if (f->type)
                buf_printf(b, "%s[%s](#%s)", prefix, name, f->type->c_name);
        else
                buf_printf(b, "%s%s", prefix, name);
}

/* Bounds, defaults and differences between versions, in words. */
static void write_bounds(const json_t *attributes, struct buf *b)
{
        static const struct {
                const char *attribute, *words;
        } limits[] = {
                { "default", "Default " },
                { "min", "At least " },
                { "max", "At most " },
                { "minLength", "Length at least " },
                { "maxLength", "Length at most " },
                { "minItems", "Items at least " },
                { "maxItems", "Items at most " },
                { "minProperties", "Entries at least " },
                { "maxProperties", "Entries at most " },
        };
        for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
                const char *value = text_attribute(attributes, limits[i].attribute);
                if (value)
                        buf_printf(b, " %s`%s`.", limits[i].words, value);
        }
        const json_t *values = json_object_get(attributes, "enum");
        if (values) {
                buf_append_str(b, " One of ");
                write_joined(values, b);
                buf_append_char(b, '.');
        }
        const char *pattern = text_attribute(attributes, "pattern");
        if (pattern) {
                buf_append_str(b, " Pattern `");
                write_cell(pattern, b);
                buf_append_str(b, "`.");
        }
        pattern = text_attribute(attributes, "itemPattern");
        if (pattern) {
                buf_append_str(b, " Each item a `");
                write_cell(pattern, b);
                buf_append_str(b, "`.");
        }
}

static void write_limits(const struct field_def *f, struct buf *b)
{
        const char *key;
        json_t *special;
        write_bounds(f->attributes, b);
        json_object_foreach(f->attributes, key, special) {
                if (!isupper((unsigned char)*key))
                        continue;
                buf_printf(b, " In %s:", key);
                write_bounds(special, b);
        }
        const json_t *only = json_object_get(f->attributes, "only"),
                     *kinds = json_object_get(f->attributes, "kinds");
        if (only || kinds) {
                buf_append_str(b, " Only in ");
                write_joined(only ? only : kinds, b);
                buf_append_char(b, '.');
        }
        static const char *const versions[] = { "v1", "v1alpha1" };
        for (size_t i = 0; i < ARRAY_LEN(versions); i++)
                if (json_object_get(f->attributes, versions[i]))
                        buf_printf(b, " Differs in %s.", versions[i]);
}

static void write_fields(const struct type_def *t, struct buf *b)
{
        buf_append_str(b, "| Field | Type | Meaning |\n|---|---|---|\n");
        for (size_t i = 0; i < t->n_fields; i++) {
                const struct field_def *f = &t->fields[i];
                buf_printf(b, "| `%s`%s | ", f->name, f->required ? " (required)" : "");
                write_type_name(f, b);
                buf_append_str(b, " | ");
                write_cell(f->doc, b);
                write_limits(f, b);
                buf_append_str(b, " |\n");
        }
        buf_append_char(b, '\n');
}

static void write_rules(const json_t *rules, const char *where, struct buf *b)
{
        size_t i;
        json_t *rule;
        json_array_foreach(rules, i, rule) {
                const char *id = text_attribute(rule, "id");
                const json_t *only = json_object_get(rule, "only"), *kinds = json_object_get(rule, "kinds");
                buf_printf(b, "- %s%s`%s`: \"%s\"", id ? id : "", id ? " " : "", where,
                           text_attribute(rule, "message"));
                if (only || kinds) {
                        buf_append_str(b, " (only ");
                        write_joined(kinds ? kinds : only, b);
                        buf_append_char(b, ')');
                }
                buf_append_char(b, '\n');
        }
}

static bool has_rules(const struct type_def *t)
{
        if (json_array_size(t->rules))
                return true;
        for (size_t i = 0; i < t->n_fields; i++)
                if (json_object_get(t->fields[i].attributes, "rules"))
                        return true;
        return false;
}

static void write_all_rules(const struct type_def *t, struct buf *b)
{
        if (!has_rules(t))
                return;
        buf_append_str(b, "Rules, with the message of a request that breaks them:\n\n");
        write_rules(t->rules, is_root(t) ? "object" : t->name, b);
        for (size_t i = 0; i < t->n_fields; i++)
                write_rules(json_object_get(t->fields[i].attributes, "rules"), t->fields[i].name, b);
        buf_append_char(b, '\n');
}

static void write_columns(const struct kind_def *k, struct buf *b)
{
        size_t i;
        json_t *column;
        if (!json_array_size(k->columns))
                return;
        buf_append_str(b, "Columns of `kubectl get`: NAME");
        json_array_foreach(k->columns, i, column) {
                const json_t *only = json_object_get(column, "only");
                buf_printf(b, ", %s", text_attribute(column, "name"));
                if (text_attribute(column, "priority"))
                        buf_append_str(b, " (`-o wide`)");
                if (only) {
                        buf_append_str(b, " (");
                        write_joined(only, b);
                        buf_append_char(b, ')');
                }
        }
        buf_append_str(b, ".\n\n");
}

static void write_kind(const struct kind_def *k, struct buf *b)
{
        buf_printf(b, "### %s\n\n%s\n\n", k->kind, k->doc);
        buf_printf(b, "`%s.%s`, %s, versions ", k->plural, k->group,
                   k->namespaced ? "namespaced" : "cluster-scoped");
        for (size_t i = 0; i < k->n_versions; i++)
                buf_printf(b, "%s%s", i ? ", " : "", k->versions[i]);
        buf_printf(b, " (stored as %s)", storage_version(k));
        if (k->short_name)
                buf_printf(b, ", short name `%s`", k->short_name);
        buf_printf(b, ", %s status subresource. Installed on %s.\n\n", k->has_status ? "with" : "without",
                   !installed_on(k, "member") ? "the hub"
                   : installed_on(k, "hub")   ? "the hub and member clusters"
                                              : "member clusters");
        write_fields(k->root, b);
        write_all_rules(k->root, b);
        write_columns(k, b);
}

static bool reachable(const struct model *m, const struct type_def *wanted, const struct type_def *from)
{
        for (size_t i = 0; i < from->n_fields; i++) {
                const struct type_def *t = from->fields[i].type;
                if (t && (t == wanted || reachable(m, wanted, t)))
                        return true;
        }
        return false;
}

/* Types that only kinds of Kubernetes use are not ours to document. */
static bool is_ours(const struct model *m, const struct type_def *t)
{
        for (size_t i = 0; i < m->n_kinds; i++)
                if (!m->kinds[i].external && reachable(m, t, m->kinds[i].root))
                        return true;
        return false;
}

void write_reference(const struct model *m, struct buf *b)
{
        buf_append_str(b, "# API reference\n\nWritten by `make generate` from the descriptions in "
                          "proto/kinds/; do not edit.\n\n"
                          "## Kinds\n\n");
        for (size_t i = 0; i < m->n_kinds; i++)
                if (!m->kinds[i].external)
                        write_kind(&m->kinds[i], b);
        buf_append_str(b, "## Types\n\n");
        for (size_t i = 0; i < m->n_types; i++) {
                const struct type_def *t = &m->types[i];
                if (is_root(t) || !is_ours(m, t))
                        continue;
                buf_printf(b, "<a id=\"%s\"></a>\n### %s\n\n%s\n\n", t->c_name, t->name, t->doc);
                write_fields(t, b);
                write_all_rules(t, b);
        }
}
