/* What stands before and after a stage: waits, and approvals (approvals.c).
 * spec/staged-update-and-eviction.md 6.2, 6.7. */
#include "hub-agent/staged-update/pass.h"

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
        ask_for_plan(p, &t, stage, 0);
        TRY(run_approval(p, &t, ret_done));
        if (*ret_done)
                return 0;
        set_stage_progress(p, s, CONDITION_FALSE, REASON_STAGE_WAITING, MESSAGE_STAGE_WAITING_BEFORE);
        set_run_progress(p, CONDITION_FALSE, REASON_RUN_WAITING,
                         words_f(p, MESSAGE_RUN_WAITING, RUN_WAITING_BEFORE_STAGE, s->stage_name));
        wake_after(p, UPDATE_RUN_STAGE_POLL_MS);
        return 0;
}

int was_let_in(struct pass *p, size_t stage, bool *ret)
{
        const struct stage_task_status_list *l = &p->status->stages_status.at[stage].before_stage_task_status;

        *ret = true;
        return l->n > 0 ? was_approved(p, &l->at[0], ret) : 0;
}

void note_let_in(struct pass *p, size_t stage)
{
        struct stage_status *s = &p->status->stages_status.at[stage];
        struct approval_task t = { .stage = s, .type = TASK_TYPE_BEFORE_STAGE };

        if (s->before_stage_task_status.n == 0)
                return;
        t.task = &s->before_stage_task_status.at[0];
        note_approved(p, &t);
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
        struct approval_task t = { .task = &s->after_stage_task_status.at[i],
                                   .stage = s,
                                   .type = TASK_TYPE_AFTER_STAGE };

        if (!text_equal(t.task->type, STAGE_TASK_APPROVAL)) {
                *ret_done = has_waited(p, s, t.task, wait_of(config_of(p, stage), i));
                return 0;
        }
        ask_for_plan(p, &t, stage, i);
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
