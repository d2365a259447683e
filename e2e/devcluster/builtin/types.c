/* Parser of types.txt (written by extract.py):
 *
 *     type a:core.v1.ContainerPort object
 *      containerPort int:int32 !
 *      protocol string default="TCP"
 *
 * A first pass notes where each type begins; a type becomes a schema when it is first asked for. Types may
 * refer to themselves (JSONSchemaProps): a reference to a type under construction is the same node, filled in
 * later. */
#include "e2e/devcluster/builtin/types.h"

#include "common/base/map.h"
#include "common/base/memory.h"

extern const char builtin_types_text[], builtin_types_end[], builtin_resources_text[],
        builtin_resources_end[];

struct type_entry {
        struct slice head;     /* behind "type " */
        struct slice body;     /* the indented lines */
        struct schema *schema; /* NULL until built */
        bool whole;            /* it and all it refers to are built */
};

struct builtin_types {
        struct arena arena;
        struct map types; /* short name -> struct type_entry */
        struct map kinds; /* "group/version/Kind" -> short name */
};

static const struct prefix {
        const char *brief, *full;
} prefixes[] = {
        { "a:", "io.k8s.api." },
        { "m:", "io.k8s.apimachinery.pkg." },
        { "x:", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions." },
        { "r:", "io.k8s.kube-aggregator.pkg.apis.apiregistration." },
};

static const char *full_name(struct arena *a, struct slice name)
{
        for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
                if (slice_starts_with(name, prefixes[i].brief))
                        return arena_printf(a, "%s%.*s", prefixes[i].full, (int)name.len - 2, name.data + 2);
        return arena_strndup(a, name.data, name.len);
}

/* ---- reading the texts ---- */

static int note_type(struct builtin_types *t, struct slice line, struct type_entry **ret)
{
        struct type_entry *e = ARENA_NEW(&t->arena, struct type_entry);
        struct slice rest = { line.data + 5, line.len - 5 }, name;

        if (!e)
                return ERR_NO_MEMORY;
        e->head = rest;
        slice_cut(&rest, ' ', &name);
        e->body.data = line.data + line.len + 1;
        *ret = e;
        return map_put_n(&t->types, name.data, name.len, e);
}

static int index_types(struct builtin_types *t)
{
        struct slice rest = { builtin_types_text, (size_t)(builtin_types_end - builtin_types_text) }, line;
        struct type_entry *current = NULL;
        bool more = true;

        while (more) {
                more = slice_cut(&rest, '\n', &line);
                if (slice_starts_with(line, "type "))
                        TRY(note_type(t, line, &current));
                else if (slice_starts_with(line, " ") && current)
                        current->body.len = (size_t)(line.data + line.len - current->body.data);
        }
        return 0;
}

/* "apps v1 deployments Deployment namespaced type=a:apps.v1.Deployment ..." */
static int index_kind(struct builtin_types *t, struct slice line)
{
        struct slice words[6];
        char key[512];

        for (size_t i = 0; i < ARRAY_LEN(words); i++)
                if (!slice_cut(&line, ' ', &words[i]) && i + 1 < ARRAY_LEN(words))
                        return 0;
        if (memchr(words[2].data, '/', words[2].len) || !slice_starts_with(words[5], "type=") ||
            slice_is(words[5], "type=-"))
                return 0;
        snprintf(key, sizeof(key), "%.*s/%.*s/%.*s", slice_is(words[0], "core") ? 0 : (int)words[0].len,
                 words[0].data, (int)words[1].len, words[1].data, (int)words[3].len, words[3].data);
        char *name = arena_strndup(&t->arena, words[5].data + 5, words[5].len - 5);
        return name ? map_put(&t->kinds, key, name) : ERR_NO_MEMORY;
}

static int index_kinds(struct builtin_types *t)
{
        struct slice rest = { builtin_resources_text,
                              (size_t)(builtin_resources_end - builtin_resources_text) },
                     line;
        bool more = true;

        while (more) {
                more = slice_cut(&rest, '\n', &line);
                if (line.len > 0 && line.data[0] != '#')
                        TRY(index_kind(t, line));
        }
        return 0;
}

struct builtin_types *builtin_types_new(struct error *err)
{
        struct builtin_types *t = NEW(struct builtin_types);

        if (!t) {
                error_no_memory(err);
                return NULL;
        }
        map_init(&t->types, MAP_OWN_KEYS, NULL);
        map_init(&t->kinds, MAP_OWN_KEYS, NULL);
        if (index_types(t) == 0 && index_kinds(t) == 0)
                return t;
        error_no_memory(err);
        return builtin_types_free(t);
}

struct builtin_types *builtin_types_free(struct builtin_types *t)
{
        if (!t)
                return NULL;
        map_free(&t->types);
        map_free(&t->kinds);
        arena_free(&t->arena);
        mem_free(t);
        return NULL;
}

/* ---- building schemas ---- */

static int build_named(struct builtin_types *t, struct slice name, struct schema **ret, struct error *err);

static struct schema *schema_blank(struct arena *a)
{
        struct schema *s = ARENA_NEW(a, struct schema);

        if (s)
                s->min_length = s->max_length = s->min_items = s->max_items = s->min_properties =
                        s->max_properties = -1;
        return s;
}

static const struct shape {
        const char *word;
        enum schema_type type;
} shapes[] = {
        { "string", SCHEMA_STRING },     { "int", SCHEMA_INTEGER },   { "number", SCHEMA_NUMBER },
        { "bool", SCHEMA_BOOLEAN },      { "object", SCHEMA_OBJECT }, { "any", SCHEMA_ANY },
        { "int-or-string", SCHEMA_ANY },
};

/* One of the simple words, with an optional :format; false if the expression is something else. */
static bool simple_shape(struct arena *a, struct slice e, struct schema *s)
{
        struct slice rest = e, word;

        slice_cut(&rest, ':', &word);
        for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
                if (!slice_is(word, shapes[i].word))
                        continue;
                s->type = shapes[i].type;
                s->int_or_string = slice_is(word, "int-or-string");
                s->preserve_unknown = slice_is(word, "any");
                if (rest.len > 0)
                        s->format = arena_strndup(a, rest.data, rest.len);
                return true;
        }
        return false;
}

/* The schema of an expression: a fresh node, or the shared one of a named type (*ret_shared), which may still
 * be under construction and must not be changed. */
static int build_expression(struct builtin_types *t, struct slice e, struct schema **ret, bool *ret_shared,
                            struct error *err)
{
        bool list = slice_starts_with(e, "[]");
        struct schema *s, *inner = NULL;

        *ret_shared = false;
        s = schema_blank(&t->arena);
        if (!s)
                return error_no_memory(err);
        *ret = s;
        if (list || slice_starts_with(e, "{}")) {
                bool shared;

                TRY(build_expression(t, (struct slice){ e.data + 2, e.len - 2 }, &inner, &shared, err));
                s->type = list ? SCHEMA_ARRAY : SCHEMA_OBJECT;
                s->items = list ? inner : NULL;
                s->additional = list ? NULL : inner;
                return 0;
        }
        if (simple_shape(&t->arena, e, s))
                return 0;
        *ret_shared = true;
        return build_named(t, e, ret, err);
}

/* "map(a,b)" -> list map keys. */
static int set_list_type(struct arena *a, struct slice value, struct schema *s)
{
        if (slice_is(value, "set"))
                s->list_type = SCHEMA_LIST_SET;
        if (!slice_starts_with(value, "map("))
                return 0;
        struct slice rest = { value.data + 4, value.len - 5 }, key;
        const char **keys = ARENA_NEW_ARRAY(a, const char *, rest.len + 1);
        bool more = true;

        if (!keys)
                return ERR_NO_MEMORY;
        while (more) {
                more = slice_cut(&rest, ',', &key);
                keys[s->n_list_map_keys] = arena_strndup(a, key.data, key.len);
                if (!keys[s->n_list_map_keys++])
                        return ERR_NO_MEMORY;
        }
        s->list_type = SCHEMA_LIST_MAP;
        s->list_map_keys = keys;
        return 0;
}

/* "merge(key)", "retainKeys", "merge,retainKeys(key)" */
static int set_patch(struct arena *a, struct slice value, struct schema *s)
{
        struct slice rest = value, strategy;

        if (slice_cut(&rest, '(', &strategy)) {
                s->patch_merge_key = arena_strndup(a, rest.data, rest.len - 1);
                if (!s->patch_merge_key)
                        return ERR_NO_MEMORY;
        }
        s->patch_merge = slice_starts_with(strategy, "merge");
        s->patch_retain_keys = memmem(strategy.data, strategy.len, "retainKeys", 10) != NULL;
        s->patch_replace = slice_is(strategy, "replace");
        return 0;
}

static void decref(void *json)
{
        json_decref(json);
}

static int set_default(struct arena *a, struct slice value, struct schema *s, struct error *err)
{
        json_t *doc;

        TRY(doc_parse(value, &doc, err));
        if (arena_defer(a, decref, doc) < 0)
                return error_no_memory(err);
        s->default_value = doc;
        return 0;
}

/* Applies one marker; *ret_required tells of "!". */
static int apply_marker(struct builtin_types *t, struct slice word, struct schema *s, bool *ret_required,
                        struct error *err)
{
        struct slice value = word, key;
        int r = 0;

        if (slice_is(word, "!")) {
                *ret_required = true;
                return 0;
        }
        if (!slice_cut(&value, '=', &key))
                return error_set(err, ERR_INTERNAL, "types.txt: unknown marker %.*s", (int)word.len,
                                 word.data);
        if (slice_is(key, "list"))
                r = set_list_type(&t->arena, value, s);
        else if (slice_is(key, "map"))
                s->map_atomic = slice_is(value, "atomic");
        else if (slice_is(key, "patch"))
                r = set_patch(&t->arena, value, s);
        else if (slice_is(key, "default"))
                return set_default(&t->arena, value, s, err);
        return r < 0 ? error_no_memory(err) : 0;
}

static int apply_markers(struct builtin_types *t, struct slice words, struct schema *s, bool *ret_required,
                         struct error *err)
{
        struct slice word;
        bool more = words.len > 0;

        while (more) {
                if (slice_starts_with(words, "default=")) { /* the rest of the line: may hold spaces */
                        word = words;
                        more = false;
                } else {
                        more = slice_cut(&words, ' ', &word);
                }
                if (word.len > 0)
                        TRY(apply_marker(t, word, s, ret_required, err));
        }
        return 0;
}

/* The words right behind the shape: "!" and how Go writes the field. Cuts them off. */
static void read_presence(struct slice *rest, struct schema_property *p, bool *ret_required)
{
        static const struct {
                const char *word;
                enum schema_presence presence;
        } words[] = { { "zero", SCHEMA_ALWAYS_ZERO },
                      { "null", SCHEMA_ALWAYS_NULL },
                      { "brief", SCHEMA_NOT_WHEN_ZERO } };
        struct slice after = *rest, word;
        bool known = true;

        while (known && after.len > 0) {
                slice_cut(&after, ' ', &word);
                known = slice_is(word, "!");
                *ret_required = *ret_required || known;
                for (size_t i = 0; i < ARRAY_LEN(words); i++)
                        if (slice_is(word, words[i].word)) {
                                p->presence = words[i].presence;
                                known = true;
                        }
                if (known)
                        *rest = after;
        }
}

static int build_field(struct builtin_types *t, struct slice line, struct schema_property *p,
                       bool *ret_required, struct error *err)
{
        struct slice rest = { line.data + 1, line.len - 1 }, name, expression;
        struct schema *s = NULL;
        bool shared;

        slice_cut(&rest, ' ', &name);
        if (!slice_cut(&rest, ' ', &expression))
                rest = (struct slice){ "", 0 };
        p->name = arena_strndup(&t->arena, name.data, name.len);
        if (!p->name)
                return error_no_memory(err);
        TRY(build_expression(t, expression, &s, &shared, err));
        read_presence(&rest, p, ret_required);
        if (shared && rest.len > 0) { /* the field adds markers of its own */
                s = arena_memdup(&t->arena, s, sizeof(*s));
                if (!s)
                        return error_no_memory(err);
        }
        p->schema = s;
        return apply_markers(t, rest, s, ret_required, err);
}

static size_t count_lines(struct slice body)
{
        size_t n = body.len > 0;

        for (size_t i = 0; i < body.len; i++)
                n += body.data[i] == '\n';
        return n;
}

static int build_fields(struct builtin_types *t, struct slice body, struct schema *s, struct error *err)
{
        size_t n = count_lines(body), n_required = 0;
        struct schema_property *properties = ARENA_NEW_ARRAY(&t->arena, struct schema_property, n + 1);
        const char **required = ARENA_NEW_ARRAY(&t->arena, const char *, n + 1);
        struct slice line;

        if (!properties || !required)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++) {
                bool is_required = false;

                slice_cut(&body, '\n', &line);
                TRY(build_field(t, line, &properties[i], &is_required, err));
                if (is_required)
                        required[n_required++] = properties[i].name;
        }
        s->properties = properties; /* types.txt has them sorted */
        s->n_properties = n;
        s->required = required;
        s->n_required = n_required;
        return 0;
}

/* Fields of these types hold any JSON: nothing inside is unknown. */
static bool is_free_form(struct slice name)
{
        static const char *const names[] = { "m:runtime.RawExtension",
                                             "m:apis.meta.v1.FieldsV1",
                                             "x:v1.JSON",
                                             "x:v1.JSONSchemaPropsOrArray",
                                             "x:v1.JSONSchemaPropsOrBool",
                                             "x:v1.JSONSchemaPropsOrStringArray" };

        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if (slice_is(name, names[i]))
                        return true;
        return false;
}

static int build_named(struct builtin_types *t, struct slice name, struct schema **ret, struct error *err)
{
        struct type_entry *e = map_get_n(&t->types, name.data, name.len);
        struct slice rest, own, expression;
        struct schema *shape = NULL;
        bool flag;

        if (!e)
                return error_set(err, ERR_NOT_FOUND, "types.txt has no type %.*s", (int)name.len, name.data);
        if (e->schema) {
                *ret = e->schema;
                return 0;
        }
        e->schema = schema_blank(&t->arena);
        if (!e->schema)
                return error_no_memory(err);
        rest = e->head;
        slice_cut(&rest, ' ', &own);
        if (!slice_cut(&rest, ' ', &expression))
                rest = (struct slice){ "", 0 };
        e->schema->ref = full_name(&t->arena, name);
        if (!e->schema->ref)
                return error_no_memory(err);
        TRY(build_expression(t, expression, &shape, &flag, err));
        shape->ref = e->schema->ref;
        *e->schema = *shape;
        if (is_free_form(name))
                e->schema->preserve_unknown = true;
        TRY(apply_markers(t, rest, e->schema, &flag, err));
        TRY(build_fields(t, e->body, e->schema, err));
        *ret = e->schema;
        return 0;
}

/* A build that failed half-way leaves nodes that others may point to: all of it is forgotten. */
static void settle(struct builtin_types *t, bool good)
{
        map_for_each(&t->types, entry) {
                struct type_entry *e = entry->value;

                if (good)
                        e->whole = e->schema != NULL;
                else if (!e->whole)
                        e->schema = NULL;
        }
}

int builtin_types_named(struct builtin_types *t, const char *name, const struct schema **ret,
                        struct error *err)
{
        const struct type_entry *e = map_get(&t->types, name);
        struct schema *s = NULL;

        if (e && e->whole) {
                *ret = e->schema;
                return 0;
        }
        int r = build_named(t, slice_of(name), &s, err);
        settle(t, r == 0);
        if (r == 0)
                *ret = s;
        return r;
}

int builtin_types_kind(struct builtin_types *t, const char *group, const char *version, const char *kind,
                       const struct schema **ret, struct error *err)
{
        char key[512];
        const char *name;

        snprintf(key, sizeof(key), "%s/%s/%s", group, version, kind);
        name = map_get(&t->kinds, key);
        if (!name)
                return error_set(err, ERR_NOT_FOUND, "no built-in kind %s", key);
        return builtin_types_named(t, name, ret, err);
}

uint64_t builtin_types_fingerprint(void)
{
        return hash_bytes(builtin_types_text, (size_t)(builtin_types_end - builtin_types_text), 1);
}
