#include "kubectl-fleet/manifest_rules.h"

static const char *definition_of(const struct kind *kind)
{
        char name[256];

        snprintf(name, sizeof(name), "%s.%s", kind->plural, kind->group);
        for (size_t i = 0; i < n_crd_texts; i++)
                if (text_equal(crd_texts[i].name, name))
                        return crd_texts[i].json;
        return NULL;
}

int manifest_schema(struct arena *arena, const struct kind *kind, const char *version,
                    const struct schema **ret, struct error *err)
{
        AUTO_JSON json_t *crd = NULL;
        json_t *v;
        size_t i;

        TRY(doc_parse(slice_of(definition_of(kind)), &crd, err));
        json_array_foreach(doc_get_array(crd, "spec.versions"), i, v) {
                if (!text_equal(doc_get_string(v, "name"), version))
                        continue;
                TRY(doc_keep(arena, json_incref(crd), err));
                return schema_from_crd(arena, doc_get(v, "schema.openAPIV3Schema"), ret, err);
        }
        return error_set(err, ERR_INVALID, "%s has no version \"%s\"", kind->kind, version);
}

/* A name that is mistyped is another placement than was meant: kubectl refuses it, too. */
static int refuse_unknown_fields(const struct schema *schema, json_t *doc, struct error *err)
{
        AUTO_JSON json_t *removed = json_array();

        if (!removed)
                return error_no_memory(err);
        TRY(schema_prune(schema, doc, removed, err));
        if (json_array_size(removed) == 0)
                return 0;
        return error_set(err, ERR_INVALID, "unknown field \"%s\"",
                         or_empty(json_string_value(json_array_get(removed, 0))));
}

int manifest_complete(struct arena *arena, const struct schema *schema, json_t *doc, struct error *err)
{
        struct schema_problems problems = { .arena = arena };

        TRY(refuse_unknown_fields(schema, doc, err));
        TRY(schema_apply_defaults(schema, doc, err));
        TRY(schema_validate(schema, doc, NULL, &problems, err));
        if (problems.n)
                return error_set(err, ERR_INVALID, "%s: %s", problems.at[0].field, problems.at[0].message);
        return 0;
}

int manifest_change_problem(struct arena *arena, const struct schema *schema, const json_t *old,
                            const json_t *doc, const char **ret, struct error *err)
{
        struct schema_problems problems = { .arena = arena };
        const char *text = NULL;

        TRY(schema_validate(schema, doc, old, &problems, err));
        if (problems.n &&
            !(text = arena_printf(arena, "%s: %s", problems.at[0].field, problems.at[0].message)))
                return error_no_memory(err);
        *ret = text;
        return 0;
}
