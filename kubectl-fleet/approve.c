/* kubectl fleet approve: spec/staged-update-and-eviction.md 17.1. */
#include <strings.h>

#include "kubectl-fleet/command.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

static const struct flavour {
        const char *names[2];
        const struct kind *kind;
        const char *reason, *message;
} flavours[] = {
        { { "clusterapprovalrequest", "careq" },
          &cluster_approval_request_kind,
          "ClusterApprovalRequestApproved",
          "ClusterApprovalRequest has been approved" },
        { { "approvalrequest", "areq" },
          &approval_request_kind,
          "ApprovalRequestApproved",
          "ApprovalRequest has been approved" },
};

static const struct flavour *flavour_of(const struct session *s)
{
        for (size_t i = 0; i < ARRAY_LEN(flavours); i++)
                for (size_t k = 0; k < ARRAY_LEN(flavours[i].names); k++)
                        if (strcasecmp(session_argument(s, 0), flavours[i].names[k]) == 0)
                                return &flavours[i];
        return NULL;
}

static int check_approve(const struct session *s, struct error *err)
{
        const struct flavour *f = flavour_of(s);

        if (text_empty(session_argument(s, 0)))
                return error_set(err, ERR_INVALID, "resource kind is required");
        if (!f)
                return error_set(err, ERR_INVALID, "unsupported resource kind \"%s\"",
                                 session_argument(s, 0));
        if (text_empty(s->options.name))
                return error_set(err, ERR_INVALID, "resource name is required");
        if (!f->kind->namespaced && !text_empty(s->options.namespace))
                return error_set(err, ERR_INVALID,
                                 "clusterapprovalrequest is cluster-scoped and does not accept a namespace");
        if (f->kind->namespaced && text_empty(s->options.namespace))
                return error_set(err, ERR_INVALID,
                                 "namespace is required for approvalrequest (use --namespace or -n flag)");
        return 0;
}

/* What is approved, in words: `ClusterApprovalRequest "a"`, `ApprovalRequest "a" in namespace "b"`. */
struct approval {
        const struct flavour *flavour;
        const char *name, *ns, *words;
};

/* Who names a plan approves no other. */
static int check_plan(const struct session *s, const struct approval_request *r, struct error *err)
{
        const char *wanted = s->options.plan_hash, *shown = r->status->plan_hash;

        if (text_empty(wanted) || text_equal(wanted, shown))
                return 0;
        if (text_empty(shown))
                return error_set(err, ERR_INVALID, "it shows no plan, and --plan-hash names one");
        return error_set(err, ERR_INVALID,
                         "it shows another plan by now, with hash %s: `kubectl fleet plan %s`", shown,
                         r->spec && r->spec->parent_stage_rollout ? r->spec->parent_stage_rollout : "");
}

static int approve_once(struct session *s, void *ctx, struct error *err)
{
        const struct approval *a = ctx;
        struct approval_request *now, *wanted;
        struct object *read;
        struct condition approved = { .type = CONDITION_APPROVED,
                                      .status = CONDITION_TRUE,
                                      .reason = a->flavour->reason,
                                      .message = a->flavour->message };
        int code = kube_get(&s->hub, a->flavour->kind, a->ns, a->name, s->arena, &read, err);

        if (code < 0)
                return error_wrap(err, "failed to get %s", a->words);
        now = (struct approval_request *)read;
        wanted = (struct approval_request *)object_copy(read, s->arena);
        if (!wanted ||
            (!wanted->status && !(wanted->status = ARENA_NEW(s->arena, struct approval_request_status))))
                return error_no_memory(err);
        TRY(check_plan(s, wanted, err));
        wanted->status->approved_plan_hash = wanted->status->plan_hash; /* of the plan that is shown now */
        approved.observed_generation = OPT_INT(now->object.meta.generation);
        if (condition_set(&wanted->status->conditions, &approved, loop_wall_ms(s->world->loop), s->arena) < 0)
                return error_no_memory(err);
        return kube_patch_diff(&s->hub, &now->object, &wanted->object, OBJECT_STATUS, s->arena, NULL, err);
}

static int run_approve(struct session *s, struct error *err)
{
        struct approval a = { .flavour = flavour_of(s), .name = s->options.name };
        const char *kind = a.flavour->kind->kind;

        a.ns = a.flavour->kind->namespaced ? s->options.namespace : NULL;
        a.words = a.ns ? arena_printf(s->arena, "%s \"%s\" in namespace \"%s\"", kind, a.name, a.ns)
                       : arena_printf(s->arena, "%s \"%s\"", kind, a.name);
        if (!a.words)
                return error_no_memory(err);
        if (session_retry_conflicts(s, approve_once, &a, err) < 0)
                return error_wrap(err, "failed to approve %s", a.words);
        session_say(s, "%s approved successfully", a.words);
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
