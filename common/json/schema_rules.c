/* x-kubernetes-validations: reading, compiling and running the rules of a schema. */
#include "common/base/limits.h"
#include "common/json/cel_internal.h"
#include "common/json/schema_internal.h"

#define MESSAGE_MAX 5120 /* bytes of an evaluated messageExpression */

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

static int compile(struct arena *arena, const struct schema *s, const char *expression, const char *keyword,
                   const struct schema_path *at, struct cel_program **ret, struct error *err)
{
        struct error why = { 0 };
        struct schema_path here = PATH_CHILD_OF(at, keyword);
        int code = cel_compile(arena, expression, ret, &why);
        if (code == 0)
                code = cel_check_fields(*ret, s, &why);
        if (code == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (code < 0)
                return schema_error_at(err, &here, "Invalid value: \"%.200s\": compilation failed: %s",
                                       expression, why.text);
        return 0;
}

/* Refuses an expression that is plainly of another kind than it must be. */
static int check_kind(const struct cel_program *program, enum cel_kind wanted, const char *keyword,
                      const char *words, const struct schema_path *at, struct error *err)
{
        struct schema_path here = PATH_CHILD_OF(at, keyword);
        int kind = cel_result_kind(program);
        if (kind < 0 || kind == (int)wanted)
                return 0;
        return schema_error_at(err, &here, "Invalid value: \"%.200s\": %s", program->expression, words);
}

static int compile_rule(struct arena *arena, const struct schema *s, struct schema_rule *rule,
                        const struct schema_path *at, struct error *err)
{
        struct schema_path here = PATH_CHILD_OF(at, "optionalOldSelf");
        TRY(compile(arena, s, rule->rule, "rule", at, &rule->program, err));
        TRY(check_kind(rule->program, CEL_BOOL, "rule", "cel expression must evaluate to a bool", at, err));
        rule->is_transition = cel_uses_variable(rule->program, "oldSelf");
        if (rule->optional_old_self && !rule->is_transition)
                return schema_error_at(err, &here,
                                       "Invalid value: true: may not be set if oldSelf is not used in rule");
        if (!rule->message_expression)
                return 0;
        TRY(compile(arena, s, rule->message_expression, "messageExpression", at, &rule->message_program,
                    err));
        return check_kind(rule->message_program, CEL_STRING, "messageExpression",
                          "messageExpression must evaluate to a string", at, err);
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
                TRY(compile_rule(arena, s, &list[i], &here, err));
        }
        s->rules = list;
        s->n_rules = n;
        return 0;
}

/* --- Running
 * ------------------------------------------------------------------------------------------------- */

struct walk {
        struct validation *v;
        uint64_t *budget; /* steps left for all rules on the object */
        bool stopped;     /* the budget is spent */
};

/* A value and what it was. Failures are forgiven where the nearest value with a known past is unchanged. */
struct place {
        const struct schema_path *at;
        const json_t *doc, *old;
        const json_t *anchor, *old_anchor;
};

static const char *text_of_rule(const struct schema_rule *rule)
{
        return rule->message ? rule->message : rule->rule;
}

/* The value a rule does not hold for: scalars are told, larger ones would be too much. */
static const char *bad_value(struct arena *arena, const struct schema *s, const json_t *doc,
                             const char *between)
{
        if (s->type == SCHEMA_OBJECT || s->type == SCHEMA_ARRAY || json_is_object(doc) || json_is_array(doc))
                return "";
        const char *text = schema_value_text(arena, doc);
        return text ? arena_printf(arena, "%s%s", text, between) : NULL;
}

static int report(struct walk *w, const struct schema *s, const char *field, const char *detail)
{
        if (!detail)
                return error_no_memory(w->v->err);
        return schema_problem_add(w->v, REASON_INVALID, field,
                                  arena_printf(w->v->problems->arena, "Invalid value: \"%s\": %s",
                                               schema_type_name(s->type), detail));
}

/* Runs one program over the place's variables; *ret_value lives in run->arena, which the caller frees. */
static int evaluate(struct walk *w, const struct cel_program *program, const struct schema *s,
                    const struct schema_rule *rule, const struct place *p, struct cel_run *run,
                    struct cel_value *ret_value)
{
        run->program = program;
        run->arena.limit = CEL_MEMORY_LIMIT;
        run->limit = MIN(*w->budget, (uint64_t)CEL_COST_LIMIT);
        TRY(cel_run_bind(run, "self", p->doc, s, false));
        if (p->old || rule->optional_old_self)
                TRY(cel_run_bind(run, "oldSelf", p->old, s, rule->optional_old_self));
        int code = cel_run_program(run, ret_value);
        *w->budget -= MIN(run->cost, *w->budget);
        return code;
}

static int report_error(struct walk *w, const struct schema *s, const struct schema_rule *rule,
                        const struct place *p, int code, const char *text)
{
        struct arena *arena = w->v->problems->arena;
        const char *field = schema_path_text(arena, p->at, false);
        if (code == ERR_NO_MEMORY)
                return error_no_memory(w->v->err);
        w->stopped = code == ERR_LIMIT;
        if (code == ERR_LIMIT)
                return report(w, s, field,
                              arena_printf(arena,
                                           "'%s': no further validation rules will be run due to call cost "
                                           "exceeds limit for "
                                           "rule: %s",
                                           text, text_of_rule(rule)));
        if (text_starts_with(text, "no such overload"))
                return report(
                        w, s, field,
                        arena_printf(
                                arena,
                                "'%s': call arguments did not match a supported operator, function or macro "
                                "signature for rule: %s",
                                text, text_of_rule(rule)));
        return report(w, s, field, arena_printf(arena, "%s evaluating rule: %s", text, text_of_rule(rule)));
}

/* The text of messageExpression, or NULL if it gives none that can be used. */
static int evaluate_message(struct walk *w, const struct schema *s, const struct schema_rule *rule,
                            const struct place *p, const char **ret)
{
        struct error why = { 0 };
        struct cel_run run = { .err = &why };
        struct cel_value value = { 0 };
        int code = evaluate(w, rule->message_program, s, rule, p, &run, &value);
        *ret = NULL;
        if (code == 0 && value.kind == CEL_STRING) {
                struct slice text = slice_trim(value.text);
                bool usable = text.len && text.len <= MESSAGE_MAX && !memchr(text.data, '\n', text.len);
                if (usable && !(*ret = arena_strndup(w->v->problems->arena, text.data, text.len)))
                        code = ERR_NO_MEMORY;
        }
        arena_free(&run.arena);
        return code == ERR_NO_MEMORY ? error_no_memory(w->v->err) : 0;
}

/* "spec" and ".a['b'].c" as "spec.a.b.c". */
static const char *field_of_rule(struct arena *arena, const struct schema_rule *rule,
                                 const struct schema_path *at)
{
        const char *base = schema_path_text(arena, at, false);
        if (!base || !rule->field_path)
                return base;
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_HEADER_BYTES);
        buf_append_str(&b, base);
        for (const char *c = rule->field_path; *c; c++) {
                if (*c == '[' || *c == '.')
                        buf_append_str(&b, b.len ? "." : "");
                else if (*c != ']' && *c != '\'')
                        buf_append_char(&b, *c);
        }
        return b.failed ? NULL : arena_strndup(arena, b.data, b.len);
}

static int report_failure(struct walk *w, const struct schema *s, const struct schema_rule *rule,
                          const struct place *p)
{
        struct arena *arena = w->v->problems->arena;
        const char *detail = NULL, *field = field_of_rule(arena, rule, p->at);
        if (rule->message_program)
                TRY(evaluate_message(w, s, rule, p, &detail));
        if (!detail)
                detail = rule->message ? rule->message : arena_printf(arena, "failed rule: %s", rule->rule);
        if (!detail)
                return error_no_memory(w->v->err);
        if (text_equal(rule->reason, REASON_FORBIDDEN))
                return schema_problem_add(w->v, REASON_FORBIDDEN, field,
                                          arena_printf(arena, "Forbidden: %s", detail));
        if (text_equal(rule->reason, REASON_REQUIRED))
                return schema_problem_add(w->v, REASON_REQUIRED, field,
                                          arena_printf(arena, "Required value: %s", detail));
        bool duplicate = text_equal(rule->reason, REASON_DUPLICATE);
        const char *value = bad_value(arena, s, p->doc, duplicate ? "" : ": ");
        if (!value)
                return error_no_memory(w->v->err);
        return duplicate ? schema_problem_add(w->v, REASON_DUPLICATE, field,
                                              arena_printf(arena, "Duplicate value: %s", value))
                         : schema_problem_add(w->v, REASON_INVALID, field,
                                              arena_printf(arena, "Invalid value: %s%s", value, detail));
}

static int check_rule(struct walk *w, const struct schema *s, const struct schema_rule *rule,
                      const struct place *p)
{
        struct error why = { 0 };
        struct cel_run run = { .err = &why };
        struct cel_value value = { 0 };
        if (rule->is_transition && !p->old && !rule->optional_old_self)
                return 0;
        int code = evaluate(w, rule->program, s, rule, p, &run, &value);
        bool holds = code == 0 && value.kind == CEL_BOOL && value.boolean;
        arena_free(&run.arena);
        if (code < 0)
                return report_error(w, s, rule, p, code, why.text);
        bool unchanged =
                !holds && !rule->is_transition && p->old_anchor && doc_equal(p->anchor, p->old_anchor);
        return holds || unchanged ? 0 : report_failure(w, s, rule, p);
}

static int check_place(struct walk *w, const struct schema *s, const struct place *p);

static int check_child(struct walk *w, const struct schema *s, const struct place *up, const json_t *doc,
                       const json_t *old, const struct schema_path *at)
{
        struct place p = { at, doc, old, old ? doc : up->anchor, old ? old : up->old_anchor };
        return check_place(w, s, &p);
}

static int check_children(struct walk *w, const struct schema *s, const struct place *p)
{
        for (size_t i = 0; s->items && s->items->has_rules && i < json_array_size(p->doc); i++) {
                const json_t *item = json_array_get(p->doc, i);
                struct schema_path here = PATH_INDEX_OF(p->at, i);
                TRY(check_child(w, s->items, p, item, schema_old_item(s, p->old, item), &here));
        }
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)p->doc, key, value) {
                const struct schema *property = schema_property(s, key);
                if (!property || !property->has_rules)
                        continue;
                struct schema_path here =
                        property == s->additional ? PATH_KEY_OF(p->at, key) : PATH_CHILD_OF(p->at, key);
                TRY(check_child(w, property, p, value, s->map_atomic ? NULL : json_object_get(p->old, key),
                                &here));
        }
        return 0;
}

/* Rules see values that are there; a null is for the rules of its parent. */
static int check_place(struct walk *w, const struct schema *s, const struct place *p)
{
        if (!s->has_rules || json_is_null(p->doc))
                return 0;
        for (size_t i = 0; i < s->n_rules && !w->stopped; i++)
                TRY(check_rule(w, s, &s->rules[i], p));
        return w->stopped ? 0 : check_children(w, s, p);
}

int schema_check_rules(struct validation *v, const struct schema *s, const json_t *doc, const json_t *old,
                       const struct schema_path *at, uint64_t *budget)
{
        struct walk w = { .v = v, .budget = budget };
        struct place root = { at, doc, old, doc, old };
        return check_place(&w, s, &root);
}

/* --- What rules look at
 * ---------------------------------------------------------------------------------------------- */

bool schema_rules_read(const struct schema *s, const char *member)
{
        for (size_t i = 0; i < s->n_rules; i++)
                if (cel_reads_member(s->rules[i].program, "self", member))
                        return true;
        return false;
}

bool schema_rules_compare(const struct schema *s)
{
        if (!s || !s->has_rules)
                return false;
        for (size_t i = 0; i < s->n_rules; i++)
                if (s->rules[i].is_transition)
                        return true;
        for (size_t i = 0; i < s->n_properties; i++)
                if (schema_rules_compare(s->properties[i].schema))
                        return true;
        return schema_rules_compare(s->items) || schema_rules_compare(s->additional);
}
