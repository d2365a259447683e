/* The authorizer: questions about rights that an expression builds up step by step, and asks by check().
 *
 *     authorizer.group('apps').resource('deployments').namespace('a').check('create').allowed()
 *     authorizer.path('/healthz').check('get').allowed() */
#include "common/json/cel_internal.h"

const char *cel_access_name(const struct cel_access *a)
{
        static const char *const names[] = {
                [CEL_AUTHORIZER] = "kubernetes.authorization.Authorizer",
                [CEL_PATH_CHECK] = "kubernetes.authorization.PathCheck",
                [CEL_GROUP_CHECK] = "kubernetes.authorization.GroupCheck",
                [CEL_RESOURCE_CHECK] = "kubernetes.authorization.ResourceCheck",
                [CEL_DECISION] = "kubernetes.authorization.Decision",
        };
        return names[a->stage];
}

/* A copy of what stands before the dot, at the next stage. */
static int step(struct cel_run *run, const struct cel_value *v, enum cel_access_stage from,
                enum cel_access_stage to, struct cel_access **ret)
{
        if (v->kind != CEL_ACCESS || v->access->stage != from)
                return cel_no_overload(run);
        *ret = arena_memdup(&run->arena, v->access, sizeof(**ret));
        if (!*ret)
                return cel_no_memory(run);
        (*ret)->stage = to;
        return 0;
}

static int give(const struct cel_access *a, struct cel_value *ret)
{
        *ret = (struct cel_value){ .kind = CEL_ACCESS, .access = a };
        return 0;
}

static int text_of(struct cel_run *run, const struct cel_value *v, const char **ret)
{
        if (v->kind != CEL_STRING)
                return cel_no_overload(run);
        *ret = arena_strndup(&run->arena, v->text.data, v->text.len);
        return *ret ? 0 : cel_no_memory(run);
}

static int call_path(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_access *a;
        TRY(step(run, &args[0], CEL_AUTHORIZER, CEL_PATH_CHECK, &a));
        TRY(text_of(run, &args[1], &a->question.path));
        if (!*a->question.path)
                return cel_fail(run, "path must not be empty");
        return give(a, ret);
}

static int call_group(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_access *a;
        TRY(step(run, &args[0], CEL_AUTHORIZER, CEL_GROUP_CHECK, &a));
        TRY(text_of(run, &args[1], &a->question.group));
        return give(a, ret);
}

static int call_service_account(struct cel_run *run, const struct cel_value *args, size_t n,
                                struct cel_value *ret)
{
        struct cel_access *a;
        TRY(step(run, &args[0], CEL_AUTHORIZER, CEL_AUTHORIZER, &a));
        TRY(text_of(run, &args[1], &a->question.account_ns));
        TRY(text_of(run, &args[2], &a->question.account_name));
        return give(a, ret);
}

static int call_resource(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_access *a;
        TRY(step(run, &args[0], CEL_GROUP_CHECK, CEL_RESOURCE_CHECK, &a));
        TRY(text_of(run, &args[1], &a->question.resource));
        return give(a, ret);
}

static int call_subresource(struct cel_run *run, const struct cel_value *args, size_t n,
                            struct cel_value *ret)
{
        struct cel_access *a;
        TRY(step(run, &args[0], CEL_RESOURCE_CHECK, CEL_RESOURCE_CHECK, &a));
        TRY(text_of(run, &args[1], &a->question.subresource));
        return give(a, ret);
}

static int call_namespace(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_access *a;
        TRY(step(run, &args[0], CEL_RESOURCE_CHECK, CEL_RESOURCE_CHECK, &a));
        TRY(text_of(run, &args[1], &a->question.ns));
        return give(a, ret);
}

static int call_name(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_access *a;
        TRY(step(run, &args[0], CEL_RESOURCE_CHECK, CEL_RESOURCE_CHECK, &a));
        TRY(text_of(run, &args[1], &a->question.name));
        return give(a, ret);
}

/* fieldSelector and labelSelector narrow a question; roles know no selectors, so the answer is the same. */
static int call_selector(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_access *a;
        const char *unused;
        TRY(step(run, &args[0], CEL_RESOURCE_CHECK, CEL_RESOURCE_CHECK, &a));
        TRY(text_of(run, &args[1], &unused));
        return give(a, ret);
}

#define CHECK_COST 350000 /* steps; as kube-apiserver counts a question to the authorizer */

static int call_check(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_access *a;
        bool path = args[0].kind == CEL_ACCESS && args[0].access->stage == CEL_PATH_CHECK;
        TRY(step(run, &args[0], path ? CEL_PATH_CHECK : CEL_RESOURCE_CHECK, CEL_DECISION, &a));
        TRY(text_of(run, &args[1], &a->question.verb));
        TRY(cel_spend(run, CHECK_COST));
        const char *reason = "", *copy;
        a->allowed = a->by->allowed(a->by->ctx, &a->question, &reason);
        a->reason = copy = arena_strdup(&run->arena, reason);
        return copy ? give(a, ret) : cel_no_memory(run);
}

static int call_allowed(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_ACCESS || args[0].access->stage != CEL_DECISION)
                return cel_no_overload(run);
        *ret = cel_bool(args[0].access->allowed);
        return 0;
}

static int call_reason(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_ACCESS || args[0].access->stage != CEL_DECISION)
                return cel_no_overload(run);
        *ret = cel_text(CEL_STRING, args[0].access->reason, strlen(args[0].access->reason));
        return 0;
}

/* Our authorizer always has an answer. */
static int call_errored(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(call_allowed(run, args, n, ret));
        *ret = cel_bool(false);
        return 0;
}

static int call_error(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(call_allowed(run, args, n, ret));
        *ret = cel_text(CEL_STRING, "", 0);
        return 0;
}

int cel_access_field(struct cel_run *run, const struct cel_value *v, const char *name, struct cel_value *ret)
{
        struct cel_access *a;
        if (strcmp(name, "requestResource") != 0)
                return cel_fail(run, "no such key: %s", name);
        TRY(step(run, v, CEL_AUTHORIZER, CEL_RESOURCE_CHECK, &a));
        a->question = a->by->request;
        return give(a, ret);
}

const struct cel_function cel_access_functions[] = {
        { "path", true, 2, 2, call_path },
        { "group", true, 2, 2, call_group },
        { "serviceAccount", true, 3, 3, call_service_account },
        { "resource", true, 2, 2, call_resource },
        { "subresource", true, 2, 2, call_subresource },
        { "namespace", true, 2, 2, call_namespace },
        { "name", true, 2, 2, call_name },
        { "fieldSelector", true, 2, 2, call_selector },
        { "labelSelector", true, 2, 2, call_selector },
        { "check", true, 2, 2, call_check },
        { "allowed", true, 1, 1, call_allowed },
        { "reason", true, 1, 1, call_reason },
        { "errored", true, 1, 1, call_errored },
        { "error", true, 1, 1, call_error },
        { NULL, false, 0, 0, NULL },
};
