/* From descriptions to the model: types, fields and kinds, with names resolved. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "proto/generate/generate.h"

#define MAX_TYPES 256
#define MAX_KINDS 64

static const char *const scalars[] = { "string", "interned", "bool", "int",      "int32",
                                       "int64",  "time",     "byte", "intstr",   "quantity",
                                       "embed",  "raw",      "any",  "microtime" };

const char *text_attribute(const json_t *o, const char *name)
{
        return json_string_value(json_object_get(o, name));
}

bool flag_attribute(const json_t *o, const char *name)
{
        return text_equal(text_attribute(o, name), "true");
}

static bool listed(const json_t *array, const char *text)
{
        size_t i;
        json_t *item;
        json_array_foreach(array, i, item)
                if (text_equal(json_string_value(item), text))
                        return true;
        return false;
}

bool applies_to(const json_t *attributes, const struct kind_def *k, const char *version)
{
        const json_t *only = json_object_get(attributes, "only");
        const json_t *kinds = json_object_get(attributes, "kinds");
        return (!only || listed(only, version)) && (!kinds || listed(kinds, k->kind));
}

bool field_in(const struct field_def *f, const struct kind_def *k, const char *version)
{
        return applies_to(f->attributes, k, version);
}

json_t *field_attribute(const struct field_def *f, const char *name, const struct kind_def *k,
                        const char *version)
{
        json_t *special = json_object_get(json_object_get(f->attributes, version), name);
        if (!special)
                special = json_object_get(json_object_get(f->attributes, k->kind), name);
        if (!special)
                return json_object_get(f->attributes, name);
        return text_equal(json_string_value(special), "null") ? NULL : special;
}

const char *storage_version(const struct kind_def *k)
{
        for (size_t i = 0; i < k->n_versions; i++)
                if (text_equal(k->versions[i], "v1beta1"))
                        return k->versions[i];
        return k->versions[0];
}

bool installed_on(const struct kind_def *k, const char *cluster)
{
        return text_equal(k->cluster, cluster) || text_equal(k->cluster, "both");
}

/* "observedCRPGeneration" -> "observed_crp_generation"; "tls-server-name" -> "tls_server_name". */
static const char *snake_case(const char *name)
{
        if (text_equal(name, "namespace"))
                return "ns";
        struct buf b;
        buf_init(&b, 256);
        for (const char *c = name; *c; c++) {
                bool starts_word = isupper((unsigned char)*c) && c > name &&
                                   (islower((unsigned char)c[-1]) || islower((unsigned char)c[1]));
                if (starts_word)
                        buf_append_char(&b, '_');
                buf_append_char(&b, *c == '-' ? '_' : (char)tolower((unsigned char)*c));
        }
        return mem_must(buf_take(&b, NULL));
}

/* "list<Condition>" -> SHAPE_LIST and "Condition". */
static void parse_type(struct field_def *f, const char *text)
{
        static const struct {
                const char *prefix;
                enum shape shape;
        } shapes[] = { { "list<", SHAPE_LIST }, { "listmap<", SHAPE_LIST_MAP }, { "map<", SHAPE_MAP } };
        f->shape = SHAPE_ONE;
        f->inner = text;
        for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
                if (!text_starts_with(text, shapes[i].prefix))
                        continue;
                size_t skip = strlen(shapes[i].prefix);
                f->shape = shapes[i].shape;
                f->inner = mem_must(mem_strndup(text + skip, strlen(text) - skip - 1));
        }
}

static struct type_def *find_type(struct model *m, const char *name)
{
        for (size_t i = 0; i < m->n_types; i++)
                if (text_equal(m->types[i].name, name))
                        return &m->types[i];
        return NULL;
}

/* name!: [type, "sentence", {attributes}] */
static void load_field(struct field_def *f, const char *key, json_t *value, const char *where)
{
        size_t n = strlen(key);
        f->required = key[n - 1] == '!';
        f->name = mem_must(mem_strndup(key, f->required ? n - 1 : n));
        const char *type = json_string_value(json_array_get(value, 0));
        f->doc = json_string_value(json_array_get(value, 1));
        f->attributes = json_array_get(value, 2);
        if (!f->attributes)
                f->attributes = json_object();
        if (!type || text_empty(f->doc) || !json_is_object(f->attributes))
                fail("%s.%s: wants [type, \"sentence\", {attributes}]", where, key);
        parse_type(f, type);
        const char *c_name = text_attribute(f->attributes, "c");
        f->c_name = c_name ? c_name : snake_case(f->name);
}

static void load_fields(struct model *m, struct type_def *t, json_t *description)
{
        const char *inherited = text_attribute(description, "inline");
        const struct type_def *base = inherited ? find_type(m, inherited) : NULL;
        if (inherited && !base)
                fail("%s: inline type %s must be described before", t->name, inherited);
        json_t *fields = json_object_get(description, "fields");
        size_t n = json_object_size(fields) + (base ? base->n_fields : 0);
        if (!n)
                fail("%s: has no fields", t->name);
        t->fields = mem_must(mem_calloc(n, sizeof(*t->fields)));
        t->base = base;
        for (size_t i = 0; base && i < base->n_fields; i++) {
                struct field_def *f = &t->fields[t->n_fields++];
                *f = base->fields[i];
                f->c_name = mem_must(mem_printf("id.%s", f->c_name));
        }
        const char *key;
        json_t *value;
        json_object_foreach(fields, key, value)
                load_field(&t->fields[t->n_fields++], key, value, t->name);
}

static struct type_def *add_type(struct model *m, const char *name, json_t *description)
{
        if (m->n_types == MAX_TYPES || find_type(m, name))
                fail("%s: is described twice, or there are too many types", name);
        struct type_def *t = &m->types[m->n_types];
        *t = (struct type_def){
                .name = name,
                .c_name = text_attribute(description, "struct"),
                .doc = text_attribute(description, "doc"),
                .atomic = flag_attribute(description, "atomic"),
                .builtin = flag_attribute(description, "builtin"),
                .rules = json_object_get(description, "rules"),
        };
        if (!t->c_name)
                fail("%s: needs the name of its struct", name);
        load_fields(m, t, description);
        m->n_types++;
        return t;
}

static void load_versions(struct kind_def *k, json_t *versions)
{
        size_t i;
        json_t *version;
        json_array_foreach(versions, i, version) {
                if (k->n_versions == ARRAY_LEN(k->versions))
                        fail("%s: too many versions", k->kind);
                k->versions[k->n_versions++] = json_string_value(version);
        }
}

static const char *plural_of(const char *kind)
{
        struct buf b;
        buf_init(&b, 256);
        for (const char *c = kind; *c; c++)
                buf_append_char(&b, (char)tolower((unsigned char)*c));
        buf_append_char(&b, 's');
        return mem_must(buf_take(&b, NULL));
}

/* What one of the twins of a family says itself, else what the family says. */
static json_t *either(json_t *own, json_t *family, const char *name)
{
        json_t *value = json_object_get(own, name);
        return value ? value : json_object_get(family, name);
}

static void add_kind(struct model *m, json_t *own, json_t *family, const struct type_def *root)
{
        if (m->n_kinds == MAX_KINDS)
                fail("too many kinds");
        struct kind_def *k = &m->kinds[m->n_kinds++];
        k->kind = text_attribute(own, "kind");
        const char *plural = text_attribute(own, "plural");
        k->plural = plural ? plural : plural_of(k->kind);
        k->c_name = snake_case(k->kind);
        k->group = json_string_value(either(own, family, "group"));
        k->short_name = text_attribute(own, "short");
        k->doc = text_attribute(own, "doc");
        k->cluster = text_attribute(family, "cluster");
        k->namespaced = text_equal(text_attribute(own, "scope"), "Namespaced");
        k->has_status = text_equal(json_string_value(either(own, family, "status")), "true");
        k->partial = flag_attribute(own, "partial");
        k->categories = json_object_get(family, "categories");
        k->columns = json_object_get(family, "columns");
        k->root = root;
        if (text_attribute(own, "version"))
                k->versions[k->n_versions++] = text_attribute(own, "version");
        else
                load_versions(k, either(own, family, "versions"));
        if (!k->kind || !k->doc || !k->group || !k->n_versions)
                fail("a kind lacks one of kind, doc, group, versions");
}

static void load_types(struct model *m, json_t *description)
{
        const char *name;
        json_t *type;
        json_object_foreach(json_object_get(description, "types"), name, type)
                add_type(m, name, type);
}

static void load_family(struct model *m, json_t *description)
{
        load_types(m, description);
        size_t i;
        json_t *own;
        json_t *kinds = json_object_get(description, "kinds");
        if (kinds) {
                const char *name = mem_must(mem_printf("%s root", text_attribute(description, "struct")));
                const struct type_def *root = add_type(m, name, description);
                json_array_foreach(kinds, i, own)
                        add_kind(m, own, description, root);
        }
        json_array_foreach(json_object_get(description, "external"), i, own) {
                const char *name = mem_must(mem_printf("%s root", text_attribute(own, "struct")));
                add_kind(m, own, description, add_type(m, name, own));
                m->kinds[m->n_kinds - 1].external = true;
        }
}

static void resolve(struct model *m)
{
        for (size_t i = 0; i < m->n_types; i++) {
                for (size_t j = 0; j < m->types[i].n_fields; j++) {
                        struct field_def *f = &m->types[i].fields[j];
                        f->type = find_type(m, f->inner);
                        if (!f->type && !text_in(f->inner, scalars, ARRAY_LEN(scalars)))
                                fail("%s.%s: no such type: %s", m->types[i].name, f->name, f->inner);
                }
        }
}

/* shared.yaml comes first, so that others can inline its types; then by name. */
static int is_description(const struct dirent *e)
{
        return text_ends_with(e->d_name, ".yaml") && !text_equal(e->d_name, "shared.yaml");
}

void model_load(struct model *m, const char *folder)
{
        m->types = mem_must(mem_calloc(MAX_TYPES, sizeof(*m->types)));
        m->kinds = mem_must(mem_calloc(MAX_KINDS, sizeof(*m->kinds)));
        load_family(m, description_load(mem_must(mem_printf("%s/shared.yaml", folder))));
        struct dirent **entries;
        int n = scandir(folder, &entries, is_description, alphasort);
        if (n < 0)
                fail("%s: cannot be read", folder);
        for (int i = 0; i < n; i++) {
                load_family(m, description_load(mem_must(mem_printf("%s/%s", folder, entries[i]->d_name))));
                free(entries[i]);
        }
        free(entries);
        resolve(m);
}
