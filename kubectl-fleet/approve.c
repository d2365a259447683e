/* kubectl fleet approve: spec/staged-update-and-eviction.md 17.1. */
#include "kubectl-fleet/approval.h"
#include "kubectl-fleet/command.h"

static int check_approve(const struct session *s, struct error *err)
{
        const struct kind *kind;

        if (text_empty(session_argument(s, 0)))
                return error_set(err, ERR_INVALID, "resource kind is required");
        kind = approval_kind_of(session_argument(s, 0));
        if (!kind)
                return error_set(err, ERR_INVALID, "unsupported resource kind \"%s\"",
                                 session_argument(s, 0));
        if (text_empty(s->options.name))
                return error_set(err, ERR_INVALID, "resource name is required");
        if (!kind->namespaced && !text_empty(s->options.namespace))
                return error_set(err, ERR_INVALID,
                                 "clusterapprovalrequest is cluster-scoped and does not accept a namespace");
        if (kind->namespaced && text_empty(s->options.namespace))
                return error_set(err, ERR_INVALID,
                                 "namespace is required for approvalrequest (use --namespace or -n flag)");
        return 0;
}

static int approve_once(struct session *s, void *ctx, struct error *err)
{
        bool changed;

        return approval_write(ctx, &changed, err);
}

static int run_approve(struct session *s, struct error *err)
{
        struct approval a = { .hub = &s->hub, .arena = s->arena, .name = s->options.name, .commands = true };
        const char *words;

        a.kind = approval_kind_of(session_argument(s, 0));
        a.ns = a.kind->namespaced ? s->options.namespace : NULL;
        if (!text_empty(s->options.plan_hash))
                a.plan_hash = s->options.plan_hash;
        words = approval_words(&a);
        if (!words)
                return error_no_memory(err);
        if (session_retry_conflicts(s, approve_once, &a, err) < 0)
                return error_wrap(err, "failed to approve %s", words);
        session_say(s, "%s approved successfully", words);
        return 0;
}

static const struct command_argument arguments[] = { { "kind", COMPLETES_APPROVAL_KIND } };
static const struct flag flags[] = {
        { "name", FLAG_STRING, "", OPTION(name), "Name of the approval request.", .required = true,
          .completes = COMPLETES_APPROVAL },
        { "namespace", FLAG_STRING, "", OPTION(namespace), "Namespace of an approvalrequest.", .letter = 'n',
          .completes = COMPLETES_NAMESPACE },
        { "plan-hash", FLAG_STRING, "", OPTION(plan_hash),
          "Hash of the plan that is approved, as `kubectl fleet plan` shows it: no other is approved." },
        { "timeout", FLAG_DURATION, "5m", OPTION(timeout_ms), "How long all of it may take." },
};

const struct command approve_command = {
        .name = "approve",
        .usage = "<kind>",
        .summary = "Approve an approval request of a staged update run",
        .about = "Approve an approval request, so that the staged update run which waits for it goes on.\n\n"
                 "<kind> is clusterapprovalrequest (careq) or approvalrequest (areq). An approval that the "
                 "run has\n"
                 "accepted cannot be taken back.",
        .examples =
                "kubectl fleet approve careq --name example-run-after-canary --hub-cluster-context hub\n"
                "kubectl fleet approve areq --name example-run-before-prod -n web --hub-cluster-context hub",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .least = 1,
        .most = 1,
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB,
        .hub_required = true,
        .published = true,
        .check = check_approve,
        .run = run_approve,
};
