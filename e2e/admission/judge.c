#include "e2e/admission/judge.h"

#include "e2e/devcluster/policy.h"

#define BUDGET 10000000 /* steps for all expressions of a policy: kube-apiserver's */

struct judge {
        struct policy policy;
        struct policy_binding *bindings;
        size_t n_bindings;
};

static int no_problem(const struct schema_problems *p, const char *name, struct error *err)
{
        return p->n ? error_set(err, ERR_INVALID, "%s: %s: %s", name, p->at[0].field, p->at[0].message) : 0;
}

int judge_compile(struct arena *arena, const json_t *policy, const json_t *const *bindings, size_t n,
                  struct judge **ret, struct error *err)
{
        struct schema_problems problems = { .arena = arena };
        struct judge *j = ARENA_NEW(arena, struct judge);

        if (!j || !(j->bindings = ARENA_NEW_ARRAY(arena, struct policy_binding, n + 1)) ||
            policy_compile(arena, policy, &j->policy, &problems) < 0)
                return error_no_memory(err);
        TRY(no_problem(&problems, j->policy.name, err));
        for (; j->n_bindings < n; j->n_bindings++) {
                struct policy_binding *b = &j->bindings[j->n_bindings];

                if (policy_binding_compile(arena, bindings[j->n_bindings], b, &problems) < 0)
                        return error_no_memory(err);
                TRY(no_problem(&problems, b->name, err));
        }
        *ret = j;
        return 0;
}

static bool is_concerned(const struct judge *j, const struct judge_case *c)
{
        const struct policy_target target = { c->operation,   c->group, c->version, c->resource,
                                              c->subresource, c->ns,    c->name };
        const struct resource one_version = { 0 };
        const char *version;

        if (!policy_match_rules(&j->policy.match, &target, &one_version, &version))
                return false;
        for (size_t i = 0; i < j->n_bindings; i++)
                if (!*c->ns || policy_match_labels(j->bindings[i].match.ns_selector, c->namespace_labels))
                        return !j->policy.param_kind || c->has_param;
        return false;
}

static int fill(struct cel_scope *scope, const struct judge_case *c, struct error *err)
{
        if (cel_scope_set(scope, "object", c->object, NULL) < 0 ||
            cel_scope_set(scope, "oldObject", c->old, NULL) < 0 ||
            cel_scope_set(scope, "request", c->request, &policy_request_schema) < 0 ||
            cel_scope_set(scope, "params", c->params, NULL) < 0)
                return error_no_memory(err);
        return 0;
}

static int refuse(struct cel_scope *scope, const struct policy_validation *v, struct arena *arena,
                  struct judge_answer *ret, struct error *err)
{
        struct cel_result r;

        ret->allowed = false;
        ret->reason = v->reason;
        ret->message = v->message;
        if (!v->message_program)
                return 0;
        TRY(cel_scope_eval(scope, v->message_program, &r, err));
        ret->message = arena_strndup(arena, r.text.data, r.text.len);
        return ret->message ? 0 : error_no_memory(err);
}

static int ask(const struct policy *p, struct cel_scope *scope, struct arena *arena, struct judge_answer *ret,
               struct error *err)
{
        struct cel_result r;

        for (size_t i = 0; i < p->n_conditions; i++) {
                TRY(cel_scope_eval(scope, p->conditions[i].program, &r, err));
                if (!r.boolean)
                        return 0;
        }
        for (size_t i = 0; i < p->n_variables; i++)
                TRY(cel_scope_define(scope, p->variables[i].name, p->variables[i].program, err));
        for (size_t i = 0; i < p->n_validations; i++) {
                TRY(cel_scope_eval(scope, p->validations[i].expression.program, &r, err));
                if (!r.boolean)
                        return refuse(scope, &p->validations[i], arena, ret, err);
        }
        return 0;
}

int judge_ask(const struct judge *j, const struct judge_case *c, struct arena *arena,
              struct judge_answer *ret, struct error *err)
{
        struct cel_scope *scope;
        int code;

        *ret = (struct judge_answer){ .allowed = true, .concerned = is_concerned(j, c) };
        if (!ret->concerned)
                return 0;
        scope = cel_scope_new(BUDGET);
        if (!scope)
                return error_no_memory(err);
        code = fill(scope, c, err);
        if (code == 0)
                code = ask(&j->policy, scope, arena, ret, err);
        cel_scope_free(scope);
        return code < 0 ? error_wrap(err, "%s", j->policy.name) : 0;
}
