/* Writes the C side: structs of all types, kinds, and the field tables that drive the codec. */
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "proto/generate/generate.h"

#define GENERATED "/* Written by `make generate` from proto/kinds/; do not edit. */\n"

/* How a scalar is held: C type, enum field_type, further flags. */
static const struct scalar {
        const char *name, *c_type, *field_type, *flags;
} scalars[] = {
        { "string", "const char *", "FIELD_STRING", NULL },
        { "byte", "const char *", "FIELD_STRING", NULL },
        { "quantity", "const char *", "FIELD_STRING", "FIELD_QUANTITY" },
        { "interned", "const char *", "FIELD_INTERNED", NULL },
        { "bool", "struct opt_bool ", "FIELD_BOOL", NULL },
        { "int", "struct opt_int ", "FIELD_INT", NULL },
        { "int32", "struct opt_int ", "FIELD_INT", NULL },
        { "int64", "struct opt_int ", "FIELD_INT", NULL },
        { "time", "int64_t ", "FIELD_TIME", NULL },
        { "microtime", "int64_t ", "FIELD_TIME", "FIELD_MICRO" },
        { "intstr", "struct int_or_string ", "FIELD_INT_OR_STRING", NULL },
        { "embed", "struct slice ", "FIELD_RAW", NULL },
        { "raw", "struct slice ", "FIELD_RAW", NULL },
        { "any", "struct slice ", "FIELD_RAW", NULL },
};

static const struct scalar *scalar_of(const struct field_def *f)
{
        for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
                if (text_equal(scalars[i].name, f->inner))
                        return &scalars[i];
        return NULL;
}

static bool is_raw(const struct field_def *f)
{
        const struct scalar *s = scalar_of(f);
        return s && text_equal(s->field_type, "FIELD_RAW");
}

static bool is_list(const struct field_def *f)
{
        return f->shape == SHAPE_LIST || f->shape == SHAPE_LIST_MAP;
}

static const char *field_type_of(const struct field_def *f)
{
        if (is_list(f))
                return is_raw(f) ? "FIELD_RAW_LIST" : "FIELD_LIST";
        if (f->shape == SHAPE_MAP)
                return f->type ? "FIELD_MAP" : is_raw(f) ? "FIELD_RAW_MAP" : "FIELD_STRING_MAP";
        return f->type ? "FIELD_OBJECT" : scalar_of(f)->field_type;
}

static bool is_apart(const struct field_def *f)
{
        bool apart = flag_attribute(f->attributes, "apart");
        if (apart && (!is_list(f) || !f->type))
                fail("%s: only a list of a type can be apart", f->name);
        return apart;
}

static bool is_detail(const struct field_def *f)
{
        bool detail = flag_attribute(f->attributes, "detail");
        if (detail && !is_list(f))
                fail("%s: only a list can be detail", f->name);
        return detail;
}

/* The C type with a space or star behind it. */
static const char *c_type_of(const struct field_def *f)
{
        const char *name = f->type ? f->type->c_name : NULL;
        if (is_apart(f))
                return mem_must(mem_printf("struct %s_list *", name));
        if (is_list(f))
                return name        ? mem_must(mem_printf("struct %s_list ", name))
                       : is_raw(f) ? "struct raw_list "
                                   : "struct string_list ";
        if (f->shape == SHAPE_MAP)
                return name        ? mem_must(mem_printf("struct %s_map ", name))
                       : is_raw(f) ? "struct raw_map "
                                   : "struct string_map ";
        return name ? mem_must(mem_printf("struct %s *", name)) : scalar_of(f)->c_type;
}

static bool is_root(const struct type_def *t)
{
        return text_ends_with(t->name, " root");
}

/* Is the type used as an element of this shape anywhere? */
static bool used_as(const struct model *m, const struct type_def *t, enum shape shape)
{
        for (size_t i = 0; i < m->n_types; i++) {
                for (size_t j = 0; j < m->types[i].n_fields; j++) {
                        const struct field_def *f = &m->types[i].fields[j];
                        bool same = f->shape == shape || (shape == SHAPE_LIST && is_list(f));
                        if (f->type == t && same)
                                return true;
                }
        }
        return false;
}

static void write_containers(const struct model *m, struct buf *b)
{
        for (size_t i = 0; i < m->n_types; i++) {
                const struct type_def *t = &m->types[i];
                if (!t->builtin && used_as(m, t, SHAPE_LIST))
                        buf_printf(b,
                                   "struct %s_list {\n        struct %s *at;\n        uint32_t n;\n"
                                   "        bool set;\n};\n",
                                   t->c_name, t->c_name);
                if (used_as(m, t, SHAPE_MAP))
                        buf_printf(b,
                                   "struct %s_map { /* sorted by key */\n        struct %s_entry *at;\n"
                                   "        uint32_t n;\n        bool set;\n};\n",
                                   t->c_name, t->c_name);
        }
}

/* What a reader of the C header must know beside the sentence. */
static void write_notes(const struct field_def *f, struct buf *b)
{
        if (scalar_of(f) && text_equal(scalar_of(f)->field_type, "FIELD_TIME"))
                buf_append_str(b, " Wall ms.");
        if (text_equal(f->inner, "byte"))
                buf_append_str(b, " Base64 text.");
        json_t *fallback = json_object_get(f->attributes, "default");
        if (fallback)
                buf_printf(b, " Default %s.", json_string_value(fallback));
        if (flag_attribute(f->attributes, "bulk"))
                buf_append_str(b, " Not in projections.");
        if (is_apart(f))
                buf_append_str(b, " NULL = absent.");
        if (flag_attribute(f->attributes, "troubled"))
                buf_append_str(b, " Projections keep those with a condition that is not True, a drift or a "
                                  "difference.");
}

static void write_struct(const struct model *m, const struct type_def *t, struct buf *b)
{
        buf_printf(b, "\n/* %s */\nstruct %s {\n", t->doc ? t->doc : "A family of kinds.", t->c_name);
        if (is_root(t))
                buf_append_str(b, "        struct object object;\n");
        if (t->base)
                buf_printf(b, "        struct %s id;\n", t->base->c_name);
        for (size_t i = t->base ? t->base->n_fields : 0; i < t->n_fields; i++) {
                const struct field_def *f = &t->fields[i];
                buf_printf(b, "        %s%s; /* %s%s", c_type_of(f), f->c_name,
                           f->required ? "Required. " : "", f->doc);
                write_notes(f, b);
                buf_append_str(b, " */\n");
        }
        buf_append_str(b, "};\n");
        if (used_as(m, t, SHAPE_MAP))
                buf_printf(b, "struct %s_entry {\n        const char *key;\n        struct %s value;\n};\n",
                           t->c_name, t->c_name);
}

void write_types_header(const struct model *m, struct buf *b)
{
        buf_append_str(b, GENERATED "#pragma once\n\n#include \"proto/object.h\"\n\n");
        for (size_t i = 0; i < m->n_types; i++)
                if (!is_root(&m->types[i]))
                        buf_printf(b, "struct %s;\n", m->types[i].c_name);
        buf_append_str(b, "\n");
        write_containers(m, b);
        for (size_t i = 0; i < m->n_types; i++)
                if (!m->types[i].builtin)
                        write_struct(m, &m->types[i], b);
}

void write_kinds_header(const struct model *m, struct buf *b)
{
        buf_append_str(b, GENERATED "#pragma once\n\n#include \"proto/gen/types.h\"\n\n");
        for (size_t i = 0; i < m->n_kinds; i++)
                buf_printf(b, "extern const struct kind %s_kind; /* struct %s */\n", m->kinds[i].c_name,
                           m->kinds[i].root->c_name);
        buf_append_str(
                b,
                "\n/* All of the above, those of Kubernetes included; ends with NULL. */\n"
                "extern const struct kind *const all_kinds[];\n\n"
                "/* The definitions to install on a hub and on a member cluster, as JSON. */\n"
                "struct crd_text {\n        const char *name; /* \"works.placement.kubernetes-fleet.io\" */\n"
                "        const char *json;\n        bool hub, member;\n};\n"
                "extern const struct crd_text crd_texts[];\n"
                "extern const size_t n_crd_texts;\n\n"
                "/* Tables of types that code uses without a kind. */\n"
                "extern const struct type condition_type;\n");
        for (size_t i = 0; i < m->n_types; i++)
                if (!m->types[i].builtin && !is_root(&m->types[i]))
                        buf_printf(b, "extern const struct type %s_type;\n", m->types[i].c_name);
}

static bool has_any(const struct field_def *f, const char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (json_object_get(f->attributes, names[i]))
                        return true;
        return false;
}

/* A required field without a rule against its empty value is written even when nothing was set. */
static bool emitted_empty(const struct field_def *f)
{
        static const char *const rules[] = { "enum",     "pattern",       "minLength", "default",
                                             "minItems", "minProperties", "kinds" };
        const struct scalar *s = scalar_of(f);
        bool writable =
                f->shape != SHAPE_ONE || (s && !text_equal(s->field_type, "FIELD_TIME") && !is_raw(f));
        return f->required && writable && !has_any(f, rules, ARRAY_LEN(rules));
}

static void write_flags(const struct field_def *f, struct buf *b)
{
        const struct scalar *s = scalar_of(f);
        bool interned_items = f->shape != SHAPE_ONE && text_equal(f->inner, "interned");
        buf_append_str(b, f->required ? "FIELD_REQUIRED" : "0");
        if (emitted_empty(f))
                buf_append_str(b, " | FIELD_EMIT_EMPTY");
        if (flag_attribute(f->attributes, "bulk"))
                buf_append_str(b, " | FIELD_BULK");
        if (flag_attribute(f->attributes, "troubled"))
                buf_append_str(b, " | FIELD_TROUBLED");
        if (flag_attribute(f->attributes, "trouble"))
                buf_append_str(b, " | FIELD_TROUBLE");
        if (flag_attribute(f->attributes, "share"))
                buf_append_str(b, " | FIELD_SHARED");
        if (is_apart(f))
                buf_append_str(b, " | FIELD_APART");
        if (is_detail(f))
                buf_append_str(b, " | FIELD_DETAIL");
        if (interned_items)
                buf_append_str(b, " | FIELD_INTERNED_ITEMS");
        if (s && s->flags)
                buf_printf(b, " | %s", s->flags);
}

static int by_name(const void *a, const void *b)
{
        const struct field_def *const *x = a, *const *y = b;
        return strcmp((*x)->name, (*y)->name);
}

static void write_table(const struct type_def *t, struct buf *b)
{
        const struct field_def **sorted = mem_must(mem_calloc(t->n_fields, sizeof(*sorted)));
        for (size_t i = 0; i < t->n_fields; i++)
                sorted[i] = &t->fields[i];
        qsort(sorted, t->n_fields, sizeof(*sorted), by_name);
        const char *suffix = is_root(t) ? "_root" : "";
        buf_printf(b, "\nstatic const struct field %s%s_fields[] = {\n", t->c_name, suffix);
        for (size_t i = 0; i < t->n_fields; i++) {
                const struct field_def *f = sorted[i];
                buf_printf(b, "        { \"%s\", %s, ", f->name, field_type_of(f));
                write_flags(f, b);
                buf_printf(b, ", offsetof(struct %s, %s), ", t->c_name, f->c_name);
                buf_printf(b, f->type ? "&%s_type },\n" : "NULL },\n", f->type ? f->type->c_name : "");
        }
        buf_printf(b,
                   "};\n%sconst struct type %s%s_type = { \"%s\", %s%s_fields, %zu, sizeof(struct %s) };\n",
                   is_root(t) ? "static " : "", t->c_name, suffix, is_root(t) ? t->c_name : t->name,
                   t->c_name, suffix, t->n_fields, t->c_name);
        mem_free(sorted);
}

static void write_kind(const struct kind_def *k, struct buf *b)
{
        const char *version = storage_version(k);
        const char *slash = text_empty(k->group) ? "" : "/";
        buf_printf(b, "\nconst struct kind %s_kind = {\n        \"%s\", \"%s\", \"%s%s%s\",\n", k->c_name,
                   k->group, version, k->group, slash, version);
        buf_printf(b, "        \"%s\", \"%s\", \"%sList\", %s, %s, &%s_root_type,\n};\n", k->kind, k->plural,
                   k->kind, k->namespaced ? "true" : "false", k->has_status ? "true" : "false",
                   k->root->c_name);
}

void write_tables(const struct model *m, struct buf *b)
{
        buf_append_str(b, GENERATED "#include \"proto/gen/kinds.h\"\n");
        for (size_t i = 0; i < m->n_types; i++)
                write_table(&m->types[i], b);
        for (size_t i = 0; i < m->n_kinds; i++)
                write_kind(&m->kinds[i], b);
        buf_append_str(b, "\nconst struct kind *const all_kinds[] = {\n");
        for (size_t i = 0; i < m->n_kinds; i++)
                buf_printf(b, "        &%s_kind,\n", m->kinds[i].c_name);
        buf_append_str(b, "        NULL,\n};\n");
}
