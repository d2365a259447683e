/* One policy put to one write, by one binding, with one parameter or none. */
#include "e2e/devcluster/policy_review.h"

#define MESSAGE_MAX 5120 /* bytes of an evaluated messageExpression */

struct trial {
        struct policy_review *v;
        const struct policy *policy;
        const struct policy_binding *binding;
        const char *version;
        const json_t *params;
        struct cel_scope *scope, *messages; /* the latter NULL until needed */
};

/* ---- decisions ---- */

/* The policy said no, by whatever the binding makes of that. */
static int refuse(struct trial *t, const char *reason, const char *message)
{
        if (t->binding->warns)
                request_warn(t->v->rq,
                             "Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s",
                             t->policy->name, t->binding->name, message);
        if (!t->binding->denies)
                return 0;
        return review_deny(t->v, reason,
                           arena_printf(t->v->rq->arena,
                                        "ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s",
                                        t->policy->name, t->binding->name, message));
}

/* The policy could not say. */
static int fail_trial(struct trial *t, const char *message)
{
        return t->policy->ignores_failure ? 0 : refuse(t, NULL, message);
}

/* ---- match conditions ---- */

static const char *expression_error(struct policy_review *v, const char *what, const char *expression,
                                    const struct error *why)
{
        const char *s =
                arena_printf(v->rq->arena, "%s '%s' resulted in error: %s", what, expression, why->text);
        return s ? s : "out of memory";
}

/* One that is false beats those that fail. */
int review_conditions(struct policy_review *v, struct cel_scope *scope, const struct policy *p,
                      bool *ret_matches, const char **ret_why)
{
        AUTO_BUF struct buf errors;
        size_t n_errors = 0;
        buf_init(&errors, 64u << 10);
        *ret_why = NULL;
        for (size_t i = 0; i < p->n_conditions; i++) {
                const struct policy_expression *e = &p->conditions[i];
                struct cel_result result;
                struct error why = { 0 };
                if (cel_scope_eval(scope, e->program, &result, &why) < 0)
                        TRY(buf_printf(&errors, "%s%s", n_errors++ ? ", " : "",
                                       expression_error(v, "expression", e->text, &why)));
                else if (result.kind == CEL_RESULT_BOOL && !result.boolean)
                        return *ret_matches = false, 0;
        }
        *ret_matches = n_errors == 0;
        if (n_errors == 0)
                return 0;
        *ret_why = arena_printf(v->rq->arena, n_errors > 1 ? "[%s]" : "%s", errors.data);
        return *ret_why ? 0 : request_fail_memory(v->rq);
}

static int check_conditions(struct trial *t, bool *ret_matches)
{
        const char *why;
        TRY(review_conditions(t->v, t->scope, t->policy, ret_matches, &why));
        return why ? fail_trial(t, why) : 0;
}

/* ---- validations ---- */

/* `namespaceObject` and `variables` are for what comes behind the match conditions. The namespace's times are
 * texts here, whatever the compiler takes them for: so they are in kube-apiserver. */
static int complete_scope(struct trial *t, struct cel_scope *scope, struct error *why)
{
        const struct policy *p = t->policy;
        TRY(review_read_namespace(t->v));
        if (cel_scope_set(scope, "namespaceObject", t->v->ns_doc, NULL) < 0)
                return request_fail_memory(t->v->rq);
        for (size_t i = 0; i < p->n_variables; i++)
                TRY(cel_scope_define(scope, p->variables[i].name, p->variables[i].program, why));
        return 0;
}

/* Messages see no authorizer, and variables that ask it have no value there. */
static struct cel_scope *scope_of_messages(struct trial *t)
{
        struct error why = { 0 };
        if (t->messages)
                return t->messages;
        t->messages = cel_scope_new(POLICY_BUDGET);
        if (t->messages && (review_fill_scope(t->v, t->messages, t->version, t->params) < 0 ||
                            complete_scope(t, t->messages, &why) < 0))
                t->messages = cel_scope_free(t->messages);
        return t->messages;
}

/* The text of messageExpression, or NULL if it gives none that can be used. */
static const char *evaluated_message(struct trial *t, const struct policy_validation *c)
{
        struct cel_scope *scope = c->message_program ? scope_of_messages(t) : NULL;
        struct cel_result result;
        if (!scope || cel_scope_eval(scope, c->message_program, &result, NULL) < 0 ||
            result.kind != CEL_RESULT_STRING)
                return NULL;
        struct slice text = slice_trim(result.text);
        if (!text.len || text.len > MESSAGE_MAX || memchr(text.data, '\n', text.len))
                return NULL;
        return arena_strndup(t->v->rq->arena, text.data, text.len);
}

static int validate(struct trial *t, const struct policy_validation *c)
{
        struct arena *arena = t->v->rq->arena;
        struct cel_result result;
        struct error why = { 0 };
        const char *message;
        if (cel_scope_eval(t->scope, c->expression.program, &result, &why) < 0)
                return fail_trial(t, expression_error(t->v, "expression", c->expression.text, &why));
        if (result.kind == CEL_RESULT_BOOL && result.boolean)
                return 0;
        message = evaluated_message(t, c);
        if (!message)
                message = c->message;
        if (!message) {
                struct slice text = slice_trim(slice_of(c->expression.text));
                message = arena_printf(arena, "failed expression: %.*s", (int)text.len, text.data);
        }
        return message ? refuse(t, c->reason, message) : request_fail_memory(t->v->rq);
}

/* There is no audit log to write to, but an annotation that fails fails the request. */
static int annotate(struct trial *t, const struct policy_expression *e)
{
        struct cel_result result;
        struct error why = { 0 };
        if (cel_scope_eval(t->scope, e->program, &result, &why) == 0)
                return 0;
        return fail_trial(t, expression_error(t->v, "valueExpression", e->text, &why));
}

static int run_trial(struct trial *t)
{
        const struct policy *p = t->policy;
        struct policy_review *v = t->v;
        struct error why = { 0 };
        bool matches = true;
        TRY(review_fill_scope(v, t->scope, t->version, t->params));
        if (cel_scope_set_authorizer(t->scope, &v->authorizer) < 0)
                return request_fail_memory(v->rq);
        TRY(check_conditions(t, &matches));
        if (!matches)
                return 0;
        if (complete_scope(t, t->scope, &why) < 0)
                return why.code ? fail_trial(t, why.text) : ERR_NO_MEMORY;
        for (size_t i = 0; i < p->n_validations; i++)
                TRY(validate(t, &p->validations[i]));
        for (size_t i = 0; i < p->n_annotations; i++)
                TRY(annotate(t, &p->annotations[i]));
        return 0;
}

int review_try(struct policy_review *v, const struct policy *p, const struct policy_binding *b,
               const char *version, const json_t *params)
{
        struct trial t = { v, p, b, version, params, cel_scope_new(POLICY_BUDGET), NULL };
        if (!t.scope)
                return request_fail_memory(v->rq);
        int r = run_trial(&t);
        cel_scope_free(t.scope);
        cel_scope_free(t.messages);
        return r;
}
