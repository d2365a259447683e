/* Schemas of the built-in kinds from OpenAPI definitions with references. */
#include "common/base/map.h"
#include "common/json/schema_internal.h"

static const char *definition_name(const char *reference)
{
        static const char *const prefixes[] = { "#/definitions/", "#/components/schemas/" };
        for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
                if (text_starts_with(reference, prefixes[i]))
                        return reference + strlen(prefixes[i]);
        return NULL;
}

/* Objects without any declared content (RawExtension, JSON) and nodes without type keep what they are given.
 */
static void settle_open_objects(struct schema *s)
{
        bool open = s->type == SCHEMA_ANY || s->type == SCHEMA_OBJECT;
        if (open && !s->n_properties && !s->additional && !s->int_or_string)
                s->preserve_unknown = true;
        if (text_equal(s->format, "int-or-string"))
                s->int_or_string = true;
        if (s->int_or_string) {
                s->type = SCHEMA_ANY;
                s->format = NULL;
                s->preserve_unknown = false;
        }
}

static int build_definition(struct schema_builder *b, const char *name, const struct schema_path *at,
                            size_t depth, const struct schema **ret)
{
        const json_t *definition = json_object_get(b->definitions, name);
        if (!json_is_object(definition))
                return schema_error_at(b->err, at, "Not found: definition \"%s\"", name);
        struct schema *s = ARENA_NEW(b->arena, struct schema);
        /* Known before its children are built, so that a definition may lead back to itself. */
        if (!s || map_put(b->built, name, s) < 0 || !(s->ref = arena_strdup(b->arena, name)))
                return error_no_memory(b->err);
        struct schema_path here = { .kind = PATH_CHILD, .name = name };
        TRY(schema_build_into(b, definition, &here, SCHEMA_LEVEL_FIELD, depth, s));
        settle_open_objects(s);
        *ret = s;
        return 0;
}

int schema_resolve_reference(struct schema_builder *b, const char *reference, const struct schema_path *at,
                             size_t depth, const struct schema **ret)
{
        const char *name = definition_name(reference);
        if (!name)
                return schema_error_at(b->err, at, "Invalid value: \"%s\": not a reference to a definition",
                                       reference);
        const struct schema *known = map_get(b->built, name);
        if (!known)
                return build_definition(b, name, at, depth + 1, ret);
        *ret = known;
        return 0;
}

int schema_from_definitions(struct arena *arena, const json_t *definitions, const char *root_name,
                            const struct schema **ret, struct error *err)
{
        CLEANUP(map_free) struct map built = MAP_INIT;
        struct schema_builder b = { .arena = arena, .err = err, .definitions = definitions, .built = &built };
        struct schema_path root = { 0 };
        const struct schema *s = NULL;
        TRY(build_definition(&b, root_name, &root, 0, &s));
        *ret = s;
        return 0;
}
