/* Approval requests: made, shown a plan, accepted. spec/staged-update-and-eviction.md 6.2. */
#include "hub-agent/staged-update/pass.h"

/* ---- requests ---- */

static bool speaks_true(const struct approval_request *r, const char *type)
{
        return r->status && condition_is_true(&r->status->conditions, type, r->object.meta.generation);
}

static struct approval_request *request_new(struct pass *p, const struct approval_task *t)
{
        const struct object *run = &p->run->object;
        struct approval_request *r = (struct approval_request *)object_new(
                run->meta.ns ? &approval_request_kind : &cluster_approval_request_kind, run->meta.ns,
                t->task->approval_request_name, p->arena);

        if (!r || !(r->spec = ARENA_NEW(p->arena, struct approval_request_spec)))
                return NULL;
        *r->spec = (struct approval_request_spec){ .parent_stage_rollout = run->meta.name,
                                                   .target_stage = t->stage->stage_name };
        if (set_label(&r->object, LABEL_TARGET_UPDATING_STAGE, t->stage->stage_name, p->arena) < 0 ||
            set_label(&r->object, LABEL_TARGET_UPDATE_RUN, run->meta.name, p->arena) < 0 ||
            set_label(&r->object, LABEL_TASK_TYPE, t->type, p->arena) < 0 ||
            set_label(&r->object, LABEL_IS_LATEST_UPDATE_RUN_APPROVAL, LABEL_TRUE, p->arena) < 0)
                return NULL;
        return r;
}

static int add_approval(struct pass *p, const struct approval_request *now, struct approval_request *wanted)
{
        if (!wanted)
                return error_no_memory(p->err);
        if (p->plan->n_approvals == UPDATE_RUN_APPROVALS_MAX)
                return run_retries(p, "more approval requests in one pass than a stage has tasks");
        p->plan->approvals[p->plan->n_approvals++] = (struct update_run_approval){ now, wanted };
        return 0;
}

static int check_request(struct pass *p, const struct approval_task *t, const struct approval_request *r)
{
        const char *run = p->run->object.meta.name, *stage = t->stage->stage_name;
        const char *has_run = r->spec ? or_empty(r->spec->parent_stage_rollout) : "",
                   *has_stage = r->spec ? or_empty(r->spec->target_stage) : "";

        if (text_equal(has_run, run) && text_equal(has_stage, stage))
                return 0;
        return run_aborts(p, words_f(p,
                                     ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED
                                                     ": the approval request task `%s` is targeting update "
                                                     "run `%s` and stage `%s`, want target update run `%s` "
                                                     "and stage `%s`",
                                     ref_of(p, r->object.meta.name), ref_of(p, has_run), has_stage,
                                     ref_of(p, run), stage));
}

/* ---- plans (not in the reference) ---- */

void ask_for_plan(const struct pass *p, struct approval_task *t, size_t stage, uint32_t task)
{
        const struct stage_config *config = config_of(p, stage);
        bool before = text_equal(t->type, TASK_TYPE_BEFORE_STAGE);
        const struct stage_status_list *l = &p->status->stages_status;
        struct stage_task_list tasks = { 0 };

        if (config)
                tasks = before ? config->before_stage_tasks : config->after_stage_tasks;
        if (task >= tasks.n || !tasks.at[task].plan.value)
                return;
        for (size_t i = before ? stage : stage + 1; i < l->n && !t->planned; i++)
                if (l->at[i].clusters.n > 0)
                        t->planned = &l->at[i];
        t->removal = !t->planned;
        if (!t->planned)
                t->planned = p->status->deletion_stage_status;
}

static int put_condition(struct pass *p, struct approval_request *r, const char *type, const char *status,
                         const char *reason, const char *message)
{
        struct condition c = make_condition(type, status, reason, message, r->object.meta.generation);

        if (!message || condition_set(&r->status->conditions, &c, p->now_ms, p->arena) < 0)
                return error_no_memory(p->err);
        return 0;
}

/* Approved was said of another plan: whoever said it has to look at this one. */
static int refuse_approval(struct pass *p, struct approval_request *r, const char *given, const char *hash)
{
        const char *words = words_f(p,
                                    "the approval was given for plan %s, and what is planned now is %s: see "
                                    "status.plan, and approve again",
                                    text_empty(given) ? "(none)" : given, hash);

        r->status->approved_plan_hash = NULL;
        TRY(put_condition(p, r, CONDITION_APPROVED, CONDITION_FALSE, REASON_APPROVAL_OF_ANOTHER_PLAN, words));
        return put_condition(p, r, CONDITION_APPROVAL_ACCEPTED, CONDITION_FALSE,
                             REASON_APPROVAL_OF_ANOTHER_PLAN, words);
}

static const char *plan_approved(const struct approval_request *r)
{
        if (!r->status)
                return NULL;
        return text_empty(r->status->approved_plan_hash) ? r->status->plan_hash
                                                         : r->status->approved_plan_hash;
}

/* *ret: the request shows what is planned, and if it was approved, that was. */
static int check_plan(struct pass *p, const struct approval_task *t, const struct approval_request *r,
                      bool *ret)
{
        const char *known = r->status ? r->status->plan_hash : NULL, *hash = NULL;
        bool approved = speaks_true(r, CONDITION_APPROVED), shown;
        struct approval_request *wanted;
        struct update_plan *plan = NULL;

        TRY(p->in->plan(p->in->ctx, p->run, t->planned, t->removal, known, &plan, &hash));
        shown = text_equal(known, hash);
        *ret = shown && (!approved || text_equal(plan_approved(r), hash));
        if (*ret)
                return 0;
        wanted = (struct approval_request *)object_copy(&r->object, p->arena);
        if (!wanted ||
            (!wanted->status && !(wanted->status = ARENA_NEW(p->arena, struct approval_request_status))))
                return error_no_memory(p->err);
        if (!shown) {
                wanted->status->plan = plan;
                wanted->status->plan_hash = hash;
        }
        if (approved)
                TRY(refuse_approval(p, wanted, plan_approved(r), hash));
        return add_approval(p, r, wanted);
}

/* ---- the answer ---- */

static int accept(struct pass *p, const struct approval_request *r)
{
        struct condition c =
                make_condition(CONDITION_APPROVAL_ACCEPTED, CONDITION_TRUE, REASON_APPROVAL_ACCEPTED,
                               MESSAGE_APPROVAL_ACCEPTED, r->object.meta.generation);
        struct approval_request *wanted = (struct approval_request *)object_copy(&r->object, p->arena);

        if (!wanted || condition_set(&wanted->status->conditions, &c, p->now_ms, p->arena) < 0)
                return error_no_memory(p->err);
        return add_approval(p, r, wanted);
}

static void note_created(struct pass *p, const struct approval_task *t)
{
        set_condition(p, &t->task->conditions, CONDITION_APPROVAL_REQUEST_CREATED, CONDITION_TRUE,
                      REASON_APPROVAL_REQUEST_CREATED, MESSAGE_APPROVAL_REQUEST_CREATED);
}

void note_approved(struct pass *p, const struct approval_task *t)
{
        const struct condition *created =
                condition_find(&t->task->conditions, CONDITION_APPROVAL_REQUEST_CREATED);

        if (is_true(p, &t->task->conditions, CONDITION_APPROVAL_REQUEST_APPROVED))
                return;
        set_condition(p, &t->task->conditions, CONDITION_APPROVAL_REQUEST_APPROVED, CONDITION_TRUE,
                      REASON_APPROVAL_REQUEST_APPROVED, MESSAGE_APPROVAL_REQUEST_APPROVED);
        if (created)
                measure(p, MEASURED_APPROVAL, t->type, since(p, created->last_transition_ms));
}

int run_approval(struct pass *p, const struct approval_task *t, bool *ret)
{
        const struct approval_request *r = NULL;
        bool as_planned = true;

        *ret = is_true(p, &t->task->conditions, CONDITION_APPROVAL_REQUEST_APPROVED);
        if (*ret)
                return 0;
        TRY(p->in->approval(p->in->ctx, t->task->approval_request_name, &r));
        if (r)
                TRY(check_request(p, t, r));
        else
                TRY(add_approval(p, NULL, request_new(p, t)));
        note_created(p, t);
        if (!r) {
                if (t->planned)
                        wake_after(p, 0); /* it is there with the next pass, and shows the plan */
                return 0;
        }
        *ret = speaks_true(r, CONDITION_APPROVAL_ACCEPTED);
        if (!*ret && t->planned)
                TRY(check_plan(p, t, r, &as_planned));
        if (!*ret && as_planned && speaks_true(r, CONDITION_APPROVED)) {
                TRY(accept(p, r));
                *ret = true;
        }
        if (*ret)
                note_approved(p, t);
        return 0;
}

int was_approved(struct pass *p, const struct stage_task_status *task, bool *ret)
{
        const struct approval_request *r = NULL;

        *ret = is_true(p, &task->conditions, CONDITION_APPROVAL_REQUEST_APPROVED);
        if (*ret || text_empty(task->approval_request_name))
                return 0;
        TRY(p->in->approval(p->in->ctx, task->approval_request_name, &r));
        *ret = r && speaks_true(r, CONDITION_APPROVAL_ACCEPTED);
        return 0;
}
