/* From the document of a policy or binding to what the review needs, with every complaint on the way. */
#include <ctype.h>

#include "common/base/limits.h"
#include "e2e/devcluster/builtin/checks.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/policy.h"

#define CONDITIONS_MAX 64
#define ANNOTATIONS_MAX 20

struct compiling {
        struct arena *arena;
        struct schema_problems *problems;
        bool has_params, has_variables;       /* declared at all */
        const struct schema **variable_types; /* of policy->variables */
        const struct policy *policy;
};

/* ---- complaints ---- */

static const char *quoted(struct arena *arena, const char *text)
{
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_REQUEST_BODY_BYTES);
        if (buf_append_json_string(&b, text, strlen(text)) < 0)
                return NULL;
        return arena_strdup(arena, b.data);
}

static int invalid(struct compiling *c, const char *field, const char *value, const char *why)
{
        const char *q = quoted(c->arena, value);
        return q ? problem_add(c->problems, "FieldValueInvalid", field, "Invalid value: %s: %s", q, why)
                 : ERR_NO_MEMORY;
}

static int required(struct compiling *c, const char *field, const char *why)
{
        return problem_add(c->problems, "FieldValueRequired", field, "Required value%s%s", *why ? ": " : "",
                           why);
}

static int one_of(struct compiling *c, const char *field, const char *value, const char *const *known,
                  size_t n)
{
        AUTO_BUF struct buf list;
        buf_init(&list, LIMIT_HEADER_BYTES);
        if (text_in(value, known, n))
                return 0;
        for (size_t i = 0; i < n; i++)
                TRY(buf_printf(&list, "%s\"%s\"", i ? ", " : "", known[i]));
        return problem_add(c->problems, "FieldValueNotSupported", field,
                           "Unsupported value: \"%s\": supported values: %s", value, list.data);
}

static const char *text_at(const json_t *doc, const char *key)
{
        const char *s = json_string_value(json_object_get(doc, key));
        return s ? s : "";
}

static bool is_blank(const char *s)
{
        return slice_trim(slice_of(s)).len == 0;
}

/* ---- expressions ---- */

enum wanted {
        WANT_BOOL = 1,
        WANT_STRING = 2,
        WANT_TEXT_OR_NULL = 4,
        WITH_AUTHORIZER = 8,
        WITH_VARIABLES = 16
};

static const struct schema unknown = { .type = SCHEMA_ANY }; /* until it runs */

/* Variables are seen by those behind them only. */
static const struct schema *variables_schema(struct compiling *c)
{
        const struct policy *p = c->policy;
        struct schema *s = ARENA_NEW(c->arena, struct schema);
        struct schema_property *fields =
                ARENA_NEW_ARRAY(c->arena, struct schema_property, p->n_variables + 1);
        if (!s || !fields)
                return NULL;
        for (size_t i = 0; i < p->n_variables; i++) {
                const struct schema *type = c->variable_types[i] ? c->variable_types[i] : &unknown;
                size_t at = i;
                for (; at > 0 && strcmp(fields[at - 1].name, p->variables[i].name) > 0; at--)
                        fields[at] = fields[at - 1];
                fields[at] = (struct schema_property){ .name = p->variables[i].name, .schema = type };
        }
        /* embedded: without fields it is not open to any */
        *s = (struct schema){ .type = SCHEMA_OBJECT,
                              .embedded_resource = p->n_variables == 0,
                              .properties = fields,
                              .n_properties = p->n_variables };
        return s;
}

static int check(struct compiling *c, const struct cel_program *program, unsigned wanted,
                 const struct schema **ret_type, struct error *err)
{
        struct cel_declaration seen[8] = { { .name = "object", .schema = &cel_anything },
                                           { .name = "oldObject", .schema = &cel_anything },
                                           { .name = "request", .schema = &policy_request_schema },
                                           { .name = "namespaceObject",
                                             .schema = &policy_namespace_schema } };
        size_t n = 4;
        if (c->has_params)
                seen[n++] = (struct cel_declaration){ .name = "params", .schema = &cel_anything };
        if (wanted & WITH_AUTHORIZER)
                seen[n++] = (struct cel_declaration){ .name = "authorizer" };
        if (wanted & WITH_VARIABLES && c->has_variables) {
                const struct schema *variables = variables_schema(c);
                if (!variables)
                        return error_no_memory(err);
                seen[n++] = (struct cel_declaration){ .name = "variables", .schema = variables };
        }
        return cel_check(program, seen, n, ret_type, err);
}

static const char *type_name(const struct schema *type)
{
        static const char *const names[] = {
                [SCHEMA_ANY] = "dyn",       [SCHEMA_OBJECT] = "map",  [SCHEMA_ARRAY] = "list",
                [SCHEMA_STRING] = "string", [SCHEMA_INTEGER] = "int", [SCHEMA_NUMBER] = "double",
                [SCHEMA_BOOLEAN] = "bool",
        };
        return names[type->type];
}

/* *ret: what is wrong with a result of this type; NULL if nothing is. */
static int check_type(struct compiling *c, unsigned wanted, const struct schema *type, const char **ret)
{
        static const struct {
                unsigned wanted;
                enum schema_type type;
                const char *words;
        } types[] = { { WANT_BOOL, SCHEMA_BOOLEAN, "bool" },
                      { WANT_STRING, SCHEMA_STRING, "string" },
                      { WANT_TEXT_OR_NULL, SCHEMA_STRING, "one of [string null_type]" } };
        *ret = NULL;
        for (size_t i = 0; type && type != &unknown && i < ARRAY_LEN(types); i++)
                if (wanted & types[i].wanted && type->type != types[i].type) {
                        *ret = arena_printf(c->arena, "must evaluate to %s but got %s", types[i].words,
                                            type_name(type));
                        return *ret ? 0 : ERR_NO_MEMORY;
                }
        return 0;
}

/* *ret stays NULL if the expression is no good. */
static int compile(struct compiling *c, const char *field, const char *expression, unsigned wanted,
                   const struct cel_program **ret, const struct schema **ret_type)
{
        struct error why = { 0 };
        struct cel_program *program = NULL;
        const struct schema *type = NULL;
        const char *wrong;
        int code = cel_compile(c->arena, expression, &program, &why);
        if (code == 0)
                code = check(c, program, wanted, &type, &why);
        if (code == ERR_NO_MEMORY)
                return code;
        if (code < 0) {
                const char *text = arena_printf(c->arena, "compilation failed: %s", why.text);
                return text ? invalid(c, field, expression, text) : ERR_NO_MEMORY;
        }
        TRY(check_type(c, wanted, type, &wrong));
        if (wrong)
                return invalid(c, field, expression, wrong);
        *ret = program;
        if (ret_type)
                *ret_type = type;
        return 0;
}

static bool is_identifier(const char *s)
{
        if (!(isalpha((unsigned char)*s) || *s == '_'))
                return false;
        while (isalnum((unsigned char)*s) || *s == '_')
                s++;
        return !*s;
}

static int check_variable_name(struct compiling *c, const char *field, const char *name)
{
        if (is_blank(name))
                return required(c, field, "name is not specified");
        return is_identifier(name) ? 0 : invalid(c, field, name, "must be a valid CEL identifier");
}

static int check_qualified_name(struct compiling *c, const char *field, const char *name)
{
        if (!*name)
                return required(c, field, "");
        return text_is_label_key(name) ? 0 : invalid(c, field, name, QUALIFIED_MESSAGE);
}

/* Expressions with a name: a list at spec.KEY of {name_key, expression_key}. */
struct named_list {
        const char *key, *name_key, *expression_key;
        unsigned wanted;
};

static const struct named_list match_conditions = { "matchConditions", "name", "expression",
                                                    WANT_BOOL | WITH_AUTHORIZER };

static int compile_named(struct compiling *c, const struct named_list *list, const json_t *item, size_t i,
                         struct policy_expression *ret, const struct schema **ret_type)
{
        const char *at = arena_printf(c->arena, "spec.%s[%zu]", list->key, i);
        const char *name_field = at ? arena_printf(c->arena, "%s.%s", at, list->name_key) : NULL;
        const char *field = at ? arena_printf(c->arena, "%s.%s", at, list->expression_key) : NULL;
        if (!name_field || !field)
                return ERR_NO_MEMORY;
        ret->name = text_at(item, list->name_key);
        ret->text = text_at(item, list->expression_key);
        bool variable = strcmp(list->key, "variables") == 0;
        if (variable)
                TRY(check_variable_name(c, name_field, ret->name));
        if (is_blank(ret->text))
                TRY(required(c, field, variable ? "expression is not specified" : ""));
        else
                TRY(compile(c, field, ret->text, list->wanted, &ret->program, ret_type));
        return variable ? 0 : check_qualified_name(c, name_field, ret->name);
}

/* Counts *ret_n up as it goes, so that a variable sees those before it. */
static int compile_list(struct compiling *c, const json_t *spec, const struct named_list *list,
                        struct policy_expression **ret, size_t *ret_n, const struct schema **ret_types)
{
        const json_t *items = json_object_get(spec, list->key), *item;
        size_t i;
        *ret = ARENA_NEW_ARRAY(c->arena, struct policy_expression, json_array_size(items) + 1);
        if (!*ret)
                return ERR_NO_MEMORY;
        json_array_foreach(items, i, item) {
                TRY(compile_named(c, list, item, i, &(*ret)[i], ret_types ? &ret_types[i] : NULL));
                *ret_n = i + 1;
        }
        return 0;
}

/* ---- validations ---- */

static int check_message(struct compiling *c, const json_t *item, const char *at,
                         const struct policy_validation *v)
{
        const char *message = text_at(item, "message");
        const char *field = arena_printf(c->arena, "%s.message", at);
        if (!field)
                return ERR_NO_MEMORY;
        if (*message && !v->message)
                return invalid(c, field, message, "must be non-empty if specified");
        if (v->message && strchr(v->message, '\n'))
                return invalid(c, field, message, "must not contain line breaks");
        return 0;
}

static int compile_message(struct compiling *c, const json_t *item, const char *at,
                           struct policy_validation *v)
{
        const char *expression = text_at(item, "messageExpression");
        const char *field = arena_printf(c->arena, "%s.messageExpression", at);
        if (!field)
                return ERR_NO_MEMORY;
        if (!*expression)
                return 0;
        if (is_blank(expression))
                return invalid(c, field, expression, "must be non-empty if specified");
        return compile(c, field, expression, WANT_STRING | WITH_VARIABLES, &v->message_program, NULL);
}

static int compile_validation(struct compiling *c, const json_t *item, size_t i, struct policy_validation *v)
{
        static const char *const reasons[] = { "Forbidden", "Invalid", "RequestEntityTooLarge" };
        const char *at = arena_printf(c->arena, "spec.validations[%zu]", i);
        const char *field = at ? arena_printf(c->arena, "%s.expression", at) : NULL;
        const char *reason_field = at ? arena_printf(c->arena, "%s.reason", at) : NULL;
        struct slice message = slice_trim(slice_of(text_at(item, "message")));
        if (!field || !reason_field)
                return ERR_NO_MEMORY;
        v->expression.text = text_at(item, "expression");
        v->message = message.len ? arena_strndup(c->arena, message.data, message.len) : NULL;
        if (message.len && !v->message)
                return ERR_NO_MEMORY;
        if (is_blank(v->expression.text))
                TRY(required(c, field, "expression is not specified"));
        else
                TRY(compile(c, field, v->expression.text, WANT_BOOL | WITH_AUTHORIZER | WITH_VARIABLES,
                            &v->expression.program, NULL));
        TRY(compile_message(c, item, at, v));
        TRY(check_message(c, item, at, v));
        if (!json_object_get(item, "reason"))
                return 0;
        v->reason = text_at(item, "reason");
        return one_of(c, reason_field, v->reason, reasons, ARRAY_LEN(reasons));
}

static int compile_validations(struct compiling *c, const json_t *spec, struct policy *p)
{
        const json_t *items = json_object_get(spec, "validations"), *item;
        static const char needed[] = "validations or auditAnnotations must contain at least one item";
        size_t i;
        p->n_validations = json_array_size(items);
        p->validations = ARENA_NEW_ARRAY(c->arena, struct policy_validation, p->n_validations + 1);
        if (!p->validations)
                return ERR_NO_MEMORY;
        if (p->n_validations == 0 && json_array_size(json_object_get(spec, "auditAnnotations")) == 0) {
                TRY(required(c, "spec.validations", needed));
                return required(c, "spec.auditAnnotations", needed);
        }
        json_array_foreach(items, i, item)
                TRY(compile_validation(c, item, i, &p->validations[i]));
        return 0;
}

/* ---- whom it concerns ---- */

static int read_strings(struct arena *arena, const json_t *list, const char *const **ret)
{
        const char **strings = ARENA_NEW_ARRAY(arena, const char *, json_array_size(list) + 1);
        json_t *item;
        size_t i, n = 0;
        if (!strings)
                return ERR_NO_MEMORY;
        json_array_foreach(list, i, item)
                if (json_is_string(item))
                        strings[n++] = json_string_value(item);
        *ret = strings;
        return 0;
}

static int check_words(struct compiling *c, const char *at, const char *key, const char *const *words,
                       const char *nobody_else)
{
        const char *field = arena_printf(c->arena, "%s.%s", at, key);
        bool any = false;
        size_t n = 0;
        if (!field)
                return ERR_NO_MEMORY;
        for (; words[n]; n++)
                any |= strcmp(words[n], "*") == 0;
        if (n == 0)
                return required(c, field, "");
        if (!any || n == 1 || !nobody_else)
                return 0;
        AUTO_BUF struct buf list;
        buf_init(&list, LIMIT_HEADER_BYTES);
        for (size_t i = 0; i < n; i++)
                TRY(buf_printf(&list, "%s\"%s\"", i ? "," : "", words[i]));
        return problem_add(c->problems, "FieldValueInvalid", field, "Invalid value: [%s]: %s", list.data,
                           nobody_else);
}

static int check_operations(struct compiling *c, const char *at, const char *const *operations)
{
        static const char *const known[] = { "*", "CONNECT", "CREATE", "DELETE", "UPDATE" };
        for (size_t i = 0; operations[i]; i++) {
                const char *field = arena_printf(c->arena, "%s.operations[%zu]", at, i);
                if (!field)
                        return ERR_NO_MEMORY;
                TRY(one_of(c, field, operations[i], known, ARRAY_LEN(known)));
        }
        return 0;
}

static int read_rule(struct compiling *c, const json_t *doc, const char *at, struct policy_rule *ret)
{
        static const char *const scopes[] = { "*", "Cluster", "Namespaced" };
        const char *scope_field = arena_printf(c->arena, "%s.scope", at);
        if (!scope_field)
                return ERR_NO_MEMORY;
        TRY(read_strings(c->arena, json_object_get(doc, "operations"), &ret->operations));
        TRY(read_strings(c->arena, json_object_get(doc, "apiGroups"), &ret->groups));
        TRY(read_strings(c->arena, json_object_get(doc, "apiVersions"), &ret->versions));
        TRY(read_strings(c->arena, json_object_get(doc, "resources"), &ret->resources));
        TRY(read_strings(c->arena, json_object_get(doc, "resourceNames"), &ret->names));
        ret->scope = json_object_get(doc, "scope") ? text_at(doc, "scope") : "*";
        TRY(check_words(c, at, "operations", ret->operations,
                        "if '*' is present, must not specify other operations"));
        TRY(check_operations(c, at, ret->operations));
        TRY(check_words(c, at, "apiGroups", ret->groups,
                        "if '*' is present, must not specify other API groups"));
        TRY(check_words(c, at, "apiVersions", ret->versions,
                        "if '*' is present, must not specify other API versions"));
        TRY(check_words(c, at, "resources", ret->resources,
                        "if '*' is present, must not specify other resources without subresources"));
        return one_of(c, scope_field, ret->scope, scopes, ARRAY_LEN(scopes));
}

static int read_rules(struct compiling *c, const json_t *list, const char *at, struct policy_rule **ret,
                      size_t *ret_n)
{
        json_t *item;
        size_t i;
        *ret = ARENA_NEW_ARRAY(c->arena, struct policy_rule, json_array_size(list) + 1);
        if (!*ret)
                return ERR_NO_MEMORY;
        json_array_foreach(list, i, item) {
                const char *here = arena_printf(c->arena, "%s[%zu]", at, i);
                if (!here)
                        return ERR_NO_MEMORY;
                TRY(read_rule(c, item, here, &(*ret)[i]));
        }
        *ret_n = json_array_size(list);
        return 0;
}

static int check_selector(struct compiling *c, const json_t *selector, const char *at)
{
        static const char *const operators[] = { "In", "NotIn", "Exists", "DoesNotExist" };
        json_t *term;
        size_t i;
        json_array_foreach(json_object_get(selector, "matchExpressions"), i, term) {
                const char *operator= text_at(term, "operator");
                size_t n = json_array_size(json_object_get(term, "values"));
                const char *here = arena_printf(c->arena, "%s.matchExpressions[%zu]", at, i);
                const char *values = here ? arena_printf(c->arena, "%s.values", here) : NULL;
                const char *field = here ? arena_printf(c->arena, "%s.operator", here) : NULL;
                if (!values || !field)
                        return ERR_NO_MEMORY;
                if (!text_in(operator, operators, ARRAY_LEN(operators)))
                        TRY(invalid(c, field, operator, "not a valid selector operator"));
                else if (operators[0][0] == operator[0] || operator[0] == 'N')
                        TRY(n ? 0
                              : required(c, values, "must be specified when `operator` is 'In' or 'NotIn'"));
                else if (n)
                        TRY(problem_add(c->problems, "FieldValueForbidden", values,
                                        "Forbidden: may not be specified when `operator` is 'Exists' or "
                                        "'DoesNotExist'"));
        }
        return 0;
}

static int read_match(struct compiling *c, const json_t *doc, const char *at, struct policy_match *ret)
{
        static const char *const policies[] = { "Equivalent", "Exact" };
        const char *policy = json_object_get(doc, "matchPolicy") ? text_at(doc, "matchPolicy") : "Equivalent";
        const char *rules = arena_printf(c->arena, "%s.resourceRules", at);
        const char *excluded = arena_printf(c->arena, "%s.excludeResourceRules", at);
        const char *ns = arena_printf(c->arena, "%s.namespaceSelector", at);
        const char *object = arena_printf(c->arena, "%s.objectSelector", at);
        const char *policy_field = arena_printf(c->arena, "%s.matchPolicy", at);
        if (!rules || !excluded || !ns || !object || !policy_field)
                return ERR_NO_MEMORY;
        ret->exact = strcmp(policy, "Exact") == 0;
        ret->ns_selector = json_object_get(doc, "namespaceSelector");
        ret->object_selector = json_object_get(doc, "objectSelector");
        TRY(one_of(c, policy_field, policy, policies, ARRAY_LEN(policies)));
        TRY(check_selector(c, ret->ns_selector, ns));
        TRY(check_selector(c, ret->object_selector, object));
        TRY(read_rules(c, json_object_get(doc, "resourceRules"), rules, &ret->rules, &ret->n_rules));
        return read_rules(c, json_object_get(doc, "excludeResourceRules"), excluded, &ret->excluded,
                          &ret->n_excluded);
}

static int read_constraints(struct compiling *c, const json_t *spec, struct policy *p)
{
        const json_t *match = json_object_get(spec, "matchConstraints");
        if (!json_is_object(match))
                return required(c, "spec.matchConstraints", "");
        TRY(read_match(c, match, "spec.matchConstraints", &p->match));
        return p->match.n_rules ? 0 : required(c, "spec.matchConstraints.resourceRules", "");
}

static int read_param_kind(struct compiling *c, const json_t *spec, struct policy *p)
{
        const json_t *param = json_object_get(spec, "paramKind");
        if (!json_is_object(param))
                return 0;
        c->has_params = true;
        p->param_version = text_at(param, "apiVersion");
        p->param_kind = text_at(param, "kind");
        if (!*p->param_version)
                TRY(required(c, "spec.paramKind.apiVersion", ""));
        return *p->param_kind ? 0 : required(c, "spec.paramKind.kind", "");
}

static int check_limits(struct compiling *c, const struct policy *p)
{
        if (p->n_conditions > CONDITIONS_MAX)
                TRY(problem_add(c->problems, "FieldValueTooMany", "spec.matchConditions",
                                "Too many: %zu: must have at most %d items", p->n_conditions,
                                CONDITIONS_MAX));
        if (p->n_annotations > ANNOTATIONS_MAX)
                TRY(problem_add(c->problems, "FieldValueInvalid", "spec.auditAnnotations",
                                "Invalid value: must not have more than %d auditAnnotations",
                                ANNOTATIONS_MAX));
        return 0;
}

int policy_compile(struct arena *arena, const json_t *doc, struct policy *ret, struct schema_problems *p)
{
        static const struct named_list variables = { "variables", "name", "expression",
                                                     WITH_AUTHORIZER | WITH_VARIABLES };
        static const struct named_list annotations = { "auditAnnotations", "key", "valueExpression",
                                                       WANT_TEXT_OR_NULL | WITH_AUTHORIZER | WITH_VARIABLES };
        static const char *const failures[] = { "Fail", "Ignore" };
        const json_t *spec = json_object_get(doc, "spec");
        const char *failure =
                json_object_get(spec, "failurePolicy") ? text_at(spec, "failurePolicy") : "Fail";
        struct compiling c = { .arena = arena, .problems = p, .policy = ret };
        c.variable_types = ARENA_NEW_ARRAY(arena, const struct schema *,
                                           json_array_size(json_object_get(spec, "variables")) + 1);
        if (!c.variable_types)
                return ERR_NO_MEMORY;
        c.has_variables = json_array_size(json_object_get(spec, "variables")) > 0;
        *ret = (struct policy){ .name = text_at(json_object_get(doc, "metadata"), "name"),
                                .ignores_failure = strcmp(failure, "Ignore") == 0 };
        TRY(one_of(&c, "spec.failurePolicy", failure, failures, ARRAY_LEN(failures)));
        TRY(read_param_kind(&c, spec, ret));
        TRY(read_constraints(&c, spec, ret));
        TRY(compile_list(&c, spec, &match_conditions, &ret->conditions, &ret->n_conditions, NULL));
        TRY(compile_list(&c, spec, &variables, &ret->variables, &ret->n_variables, c.variable_types));
        TRY(compile_validations(&c, spec, ret));
        TRY(compile_list(&c, spec, &annotations, &ret->annotations, &ret->n_annotations, NULL));
        return check_limits(&c, ret);
}

/* ---- webhooks ---- */

int policy_compile_webhook(struct arena *arena, const json_t *hook, struct policy *ret)
{
        struct schema_problems ignored = { .arena = arena }; /* a webhook without use was refused */
        struct compiling c = { .arena = arena, .problems = &ignored, .policy = ret };
        *ret = (struct policy){ .name = text_at(hook, "name"),
                                .ignores_failure = text_equal(text_at(hook, "failurePolicy"), "Ignore") };
        TRY(read_match(&c, hook, "webhooks", &ret->match));
        TRY(read_rules(&c, json_object_get(hook, "rules"), "rules", &ret->match.rules, &ret->match.n_rules));
        return compile_list(&c, hook, &match_conditions, &ret->conditions, &ret->n_conditions, NULL);
}

/* ---- bindings ---- */

static int read_actions(struct compiling *c, const json_t *spec, struct policy_binding *ret)
{
        static const char *const known[] = { "Audit", "Deny", "Warn" };
        const json_t *list = json_object_get(spec, "validationActions"), *item;
        size_t i;
        if (json_array_size(list) == 0)
                return required(c, "spec.validationActions", "at least one validation action is required");
        json_array_foreach(list, i, item) {
                const char *action = json_string_value(item) ? json_string_value(item) : "";
                const char *field = arena_printf(c->arena, "spec.validationActions[%zu]", i);
                bool *flag = strcmp(action, "Deny") == 0   ? &ret->denies
                             : strcmp(action, "Warn") == 0 ? &ret->warns
                                                           : NULL;
                if (!field)
                        return ERR_NO_MEMORY;
                TRY(one_of(c, field, action, known, ARRAY_LEN(known)));
                if (flag)
                        *flag = true;
        }
        if (!ret->denies || !ret->warns)
                return 0;
        return problem_add(c->problems, "FieldValueInvalid", "spec.validationActions",
                           "Invalid value: [\"Deny\",\"Warn\"]: must not contain both Deny and Warn "
                           "(repeating the same validation failure information in the API response and "
                           "headers serves no purpose)");
}

static int read_param_ref(struct compiling *c, const json_t *spec, struct policy_binding *ret)
{
        static const char *const actions[] = { "Deny", "Allow" };
        const json_t *ref = json_object_get(spec, "paramRef");
        if (!json_is_object(ref))
                return 0;
        ret->param_ref = ref;
        bool named = *text_at(ref, "name"), selected = json_is_object(json_object_get(ref, "selector"));
        if (named && selected) {
                TRY(problem_add(c->problems, "FieldValueForbidden", "spec.paramRef.name",
                                "Forbidden: name and selector are mutually exclusive"));
                TRY(problem_add(c->problems, "FieldValueForbidden", "spec.paramRef.selector",
                                "Forbidden: name and selector are mutually exclusive"));
        }
        if (!named && !selected)
                TRY(required(c, "spec.paramRef", "one of name or selector must be specified"));
        TRY(check_selector(c, json_object_get(ref, "selector"), "spec.paramRef.selector"));
        if (!json_object_get(ref, "parameterNotFoundAction"))
                return required(c, "spec.paramRef.parameterNotFoundAction", "");
        return one_of(c, "spec.paramRef.parameterNotFoundAction", text_at(ref, "parameterNotFoundAction"),
                      actions, ARRAY_LEN(actions));
}

int policy_binding_compile(struct arena *arena, const json_t *doc, struct policy_binding *ret,
                           struct schema_problems *p)
{
        const json_t *spec = json_object_get(doc, "spec"), *match = json_object_get(spec, "matchResources");
        struct compiling c = { .arena = arena, .problems = p };
        *ret = (struct policy_binding){ .name = text_at(json_object_get(doc, "metadata"), "name"),
                                        .policy = text_at(spec, "policyName") };
        if (!*ret->policy)
                TRY(required(&c, "spec.policyName", ""));
        else if (!text_is_dns1123_subdomain(ret->policy))
                TRY(invalid(&c, "spec.policyName", ret->policy, SUBDOMAIN_MESSAGE));
        TRY(read_param_ref(&c, spec, ret));
        if (json_is_object(match))
                TRY(read_match(&c, match, "spec.matchResources", &ret->match));
        return read_actions(&c, spec, ret);
}
