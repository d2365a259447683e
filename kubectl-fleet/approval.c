#include "kubectl-fleet/approval.h"

#include <strings.h>

#include "common/base/text.h"
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

const struct kind *approval_kind_of(const char *name)
{
        for (size_t i = 0; i < ARRAY_LEN(flavours); i++)
                for (size_t k = 0; k < ARRAY_LEN(flavours[i].names); k++)
                        if (strcasecmp(name, flavours[i].names[k]) == 0)
                                return flavours[i].kind;
        return NULL;
}

const char *approval_words(const struct approval *a)
{
        return a->ns ? arena_printf(a->arena, "%s \"%s\" in namespace \"%s\"", a->kind->kind, a->name, a->ns)
                     : arena_printf(a->arena, "%s \"%s\"", a->kind->kind, a->name);
}

static int refuse_plan(const struct approval *a, const struct approval_request *r, struct error *err)
{
        const char *shown = r->status->plan_hash;
        const char *run = r->spec ? or_empty(r->spec->parent_stage_rollout) : "";

        if (text_empty(shown))
                return error_set(err, ERR_INVALID,
                                 a->commands ? "it shows no plan, and --plan-hash names one"
                                             : "it shows no plan any more");
        if (text_empty(a->plan_hash))
                return error_set(err, ERR_INVALID, "it shows a plan by now, with hash %s: look at it first",
                                 shown);
        if (!a->commands)
                return error_set(err, ERR_INVALID, "it shows another plan by now, with hash %s", shown);
        return error_set(err, ERR_INVALID,
                         "it shows another plan by now, with hash %s: `kubectl fleet plan %s`", shown, run);
}

/* Who was shown a plan approves no other. */
static int check_plan(const struct approval *a, const struct approval_request *r, struct error *err)
{
        if (!a->plan_hash || text_equal(a->plan_hash, or_empty(r->status->plan_hash)))
                return 0;
        return refuse_plan(a, r, err);
}

static int approve(const struct approval *a, struct approval_request *r, struct error *err)
{
        const struct flavour *f = &flavours[a->kind == flavours[1].kind];
        const struct condition approved = { .type = CONDITION_APPROVED,
                                            .status = CONDITION_TRUE,
                                            .reason = f->reason,
                                            .message = f->message,
                                            .observed_generation = OPT_INT(r->object.meta.generation) };

        r->status->approved_plan_hash = r->status->plan_hash; /* of the plan that is shown now */
        if (condition_set(&r->status->conditions, &approved, loop_wall_ms(a->hub->world->loop), a->arena) < 0)
                return error_no_memory(err);
        return 0;
}

int approval_write(const struct approval *a, bool *ret_changed, struct error *err)
{
        struct object *now, *stored = NULL;
        struct approval_request *wanted;
        int code = kube_get(a->hub, a->kind, a->ns, a->name, a->arena, &now, err);

        if (code < 0)
                return error_wrap(err, "failed to get %s", or_empty(approval_words(a)));
        wanted = (struct approval_request *)object_copy(now, a->arena);
        if (!wanted ||
            (!wanted->status && !(wanted->status = ARENA_NEW(a->arena, struct approval_request_status))))
                return error_no_memory(err);
        TRY(check_plan(a, wanted, err));
        TRY(approve(a, wanted, err));
        TRY(kube_patch_diff(a->hub, now, &wanted->object, OBJECT_STATUS, a->arena, &stored, err));
        *ret_changed = stored != now;
        return 0;
}
