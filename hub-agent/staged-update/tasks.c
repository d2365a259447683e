/* What stands before and after a stage: approvals and waits. spec/staged-update-and-eviction.md 6.2, 6.7. */
#include "hub-agent/staged-update/pass.h"

/* ---- approvals ---- */

struct approval_task {
        struct stage_task_status *task;
        const struct stage_status *stage;
        const char *type; /* value of the label */
};

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

static void note_approved(struct pass *p, const struct approval_task *t)
{
        const struct condition *created =
                condition_find(&t->task->conditions, CONDITION_APPROVAL_REQUEST_CREATED);

        set_condition(p, &t->task->conditions, CONDITION_APPROVAL_REQUEST_APPROVED, CONDITION_TRUE,
                      REASON_APPROVAL_REQUEST_APPROVED, MESSAGE_APPROVAL_REQUEST_APPROVED);
        if (created)
                measure(p, MEASURED_APPROVAL, t->type, since(p, created->last_transition_ms));
}

static bool speaks_true(const struct approval_request *r, const char *type)
{
        return r->status && condition_is_true(&r->status->conditions, type, r->object.meta.generation);
}

/* *ret: it was approved, which cannot be taken back. */
static int run_approval(struct pass *p, const struct approval_task *t, bool *ret)
{
        const struct approval_request *r = NULL;

        *ret = is_true(p, &t->task->conditions, CONDITION_APPROVAL_REQUEST_APPROVED);
        if (*ret)
                return 0;
        TRY(p->in->approval(p->in->ctx, t->task->approval_request_name, &r));
        if (r)
                TRY(check_request(p, t, r));
        else
                TRY(add_approval(p, NULL, request_new(p, t)));
        set_condition(p, &t->task->conditions, CONDITION_APPROVAL_REQUEST_CREATED, CONDITION_TRUE,
                      REASON_APPROVAL_REQUEST_CREATED, MESSAGE_APPROVAL_REQUEST_CREATED);
        if (!r)
                return 0;
        *ret = speaks_true(r, CONDITION_APPROVAL_ACCEPTED);
        if (!*ret && speaks_true(r, CONDITION_APPROVED)) {
                TRY(accept(p, r));
                *ret = true;
        }
        if (*ret)
                note_approved(p, t);
        return 0;
}

/* ---- before a stage ---- */

int run_before_tasks(struct pass *p, size_t stage, bool *ret_done)
{
        struct stage_status *s = &p->status->stages_status.at[stage];
        struct approval_task t = { .stage = s, .type = TASK_TYPE_BEFORE_STAGE };

        *ret_done = s->before_stage_task_status.n == 0;
        if (*ret_done)
                return 0;
        t.task = &s->before_stage_task_status.at[0];
        if (!text_equal(t.task->type, STAGE_TASK_APPROVAL))
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED
                                                             ": found unsupported task type in before stage "
                                                             "tasks: %s",
                                             or_empty(t.task->type)));
        TRY(run_approval(p, &t, ret_done));
        if (*ret_done)
                return 0;
        set_stage_progress(p, s, CONDITION_FALSE, REASON_STAGE_WAITING, MESSAGE_STAGE_WAITING_BEFORE);
        set_run_progress(p, CONDITION_FALSE, REASON_RUN_WAITING,
                         words_f(p, MESSAGE_RUN_WAITING, RUN_WAITING_BEFORE_STAGE, s->stage_name));
        wake_after(p, UPDATE_RUN_STAGE_POLL_MS);
        return 0;
}

/* ---- after a stage ---- */

static int64_t wait_of(const struct stage_config *config, uint32_t task)
{
        int64_t ns;

        if (!config || task >= config->after_stage_tasks.n ||
            duration_parse_go(slice_of(config->after_stage_tasks.at[task].wait_time), &ns) < 0)
                return 0;
        return ns / 1000000;
}

/* The stage turned to waiting when its clusters were done, and neither waiting nor being stopped meanwhile
 * moves that moment. */
static bool has_waited(struct pass *p, const struct stage_status *s, struct stage_task_status *t,
                       int64_t wait_ms)
{
        const struct condition *c = condition_find(&s->conditions, CONDITION_PROGRESSING);
        int64_t left = wait_ms - (c ? since(p, c->last_transition_ms) : 0);

        if (is_true(p, &t->conditions, CONDITION_WAIT_TIME_ELAPSED))
                return true;
        if (left > 0) {
                wake_after(p, left);
                return false;
        }
        set_condition(p, &t->conditions, CONDITION_WAIT_TIME_ELAPSED, CONDITION_TRUE,
                      REASON_WAIT_TIME_ELAPSED, MESSAGE_WAIT_TIME_ELAPSED);
        return true;
}

static int run_after_task(struct pass *p, size_t stage, uint32_t i, bool *ret_done)
{
        struct stage_status *s = &p->status->stages_status.at[stage];
        struct approval_task t = { &s->after_stage_task_status.at[i], s, TASK_TYPE_AFTER_STAGE };

        if (!text_equal(t.task->type, STAGE_TASK_APPROVAL)) {
                *ret_done = has_waited(p, s, t.task, wait_of(config_of(p, stage), i));
                return 0;
        }
        TRY(run_approval(p, &t, ret_done));
        if (!*ret_done)
                wake_after(p, UPDATE_RUN_STAGE_POLL_MS);
        return 0;
}

int run_after_tasks(struct pass *p, size_t stage, bool *ret_done)
{
        struct stage_status *s = &p->status->stages_status.at[stage];

        *ret_done = true;
        if (s->after_stage_task_status.n > 0)
                set_stage_progress(p, s, CONDITION_FALSE, REASON_STAGE_WAITING, MESSAGE_STAGE_WAITING_AFTER);
        for (uint32_t i = 0; i < s->after_stage_task_status.n; i++) {
                bool done = false;

                TRY(run_after_task(p, stage, i, &done));
                *ret_done = *ret_done && done;
        }
        if (!*ret_done)
                set_run_progress(p, CONDITION_FALSE, REASON_RUN_WAITING,
                                 words_f(p, MESSAGE_RUN_WAITING, RUN_WAITING_AFTER_STAGE, s->stage_name));
        return 0;
}
