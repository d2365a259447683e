/* x-kubernetes-validations: reading, compiling and running the rules of a schema. */
#include "common/json/schema_internal.h"

static int read_text(struct arena *arena, const json_t *j, const char *keyword, const struct schema_path *at,
                     const char **ret, struct error *err)
{
        const json_t *value = json_object_get(j, keyword);
        struct schema_path here = PATH_CHILD_OF(at, keyword);
        if (!value)
                return 0;
        if (!json_is_string(value))
                return schema_error_at(err, &here, "Invalid value: must be a string");
        struct slice text = slice_trim((struct slice){ json_string_value(value), json_string_length(value) });
        *ret = text.len ? arena_strndup(arena, text.data, text.len) : NULL;
        return text.len && !*ret ? error_no_memory(err) : 0;
}

static int read_rule(struct arena *arena, const json_t *j, const struct schema_path *at,
                     struct schema_rule *rule, struct error *err)
{
        struct schema_path here = PATH_CHILD_OF(at, "rule"), reason = PATH_CHILD_OF(at, "reason");
        if (!json_is_object(j))
                return schema_error_at(err, at, "Invalid value: must be an object");
        TRY(read_text(arena, j, "rule", at, &rule->rule, err));
        TRY(read_text(arena, j, "message", at, &rule->message, err));
        TRY(read_text(arena, j, "messageExpression", at, &rule->message_expression, err));
        TRY(read_text(arena, j, "reason", at, &rule->reason, err));
        TRY(read_text(arena, j, "fieldPath", at, &rule->field_path, err));
        rule->optional_old_self = json_is_true(json_object_get(j, "optionalOldSelf"));
        if (!rule->rule)
                return schema_error_at(err, &here, "Required value: rule is not specified");
        static const char *const reasons[] = { REASON_REQUIRED, REASON_INVALID, REASON_FORBIDDEN,
                                               REASON_DUPLICATE };
        if (rule->reason && !text_in(rule->reason, reasons, ARRAY_LEN(reasons)))
                return schema_error_at(
                        err, &reason,
                        "Unsupported value: \"%s\": supported values: \"FieldValueRequired\", "
                        "\"FieldValueInvalid\", \"FieldValueForbidden\", \"FieldValueDuplicate\"",
                        rule->reason);
        return 0;
}

int schema_rules_build(struct arena *arena, struct schema *s, const json_t *rules,
                       const struct schema_path *at, struct error *err)
{
        struct schema_path up = PATH_CHILD_OF(at, "x-kubernetes-validations");
        size_t n = json_array_size(rules);
        if (!json_is_array(rules))
                return schema_error_at(err, &up, "Invalid value: must be an array");
        struct schema_rule *list = ARENA_NEW_ARRAY(arena, struct schema_rule, n + 1);
        if (!list)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++) {
                struct schema_path here = PATH_INDEX_OF(&up, i);
                TRY(read_rule(arena, json_array_get(rules, i), &here, &list[i], err));
        }
        s->rules = list;
        s->n_rules = n;
        return 0;
}

int schema_check_rules(struct validation *v, const struct schema *s, const json_t *doc, const json_t *old,
                       const struct schema_path *at, uint64_t *budget)
{
        return 0; /* rules run once the evaluator is in the tree */
}
