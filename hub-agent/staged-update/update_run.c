/* One pass over an update run, from top to bottom. spec/staged-update-and-eviction.md 2, 3.2, 6.1. */
#include "hub-agent/staged-update/update_run.h"

#include <stdarg.h>
#include <stdio.h>

#include "hub-agent/staged-update/pass.h"

/* ---- errors ---- */

const char *words_f(struct pass *p, const char *fmt, ...)
{
        va_list list, again;
        char *text;
        int n;

        va_start(list, fmt);
        va_copy(again, list);
        n = vsnprintf(NULL, 0, fmt, list);
        text = n < 0 ? NULL : arena_alloc(p->arena, (size_t)n + 1);
        if (text)
                vsnprintf(text, (size_t)n + 1, fmt, again);
        else
                p->no_memory = true;
        va_end(again);
        va_end(list);
        return text;
}

const char *listed_text(struct pass *p, const struct buf *list)
{
        p->no_memory = p->no_memory || list->failed;
        return list->data;
}

const char *ref_of(struct pass *p, const char *name)
{
        const char *ref = words_f(p, "%s/%s", or_empty(p->run->object.meta.ns), or_empty(name));

        return ref ? ref : "";
}

int run_aborts(struct pass *p, const char *words)
{
        if (!words)
                return error_no_memory(p->err);
        p->words = words;
        return ERR_INVALID;
}

int run_retries(struct pass *p, const char *words)
{
        if (!words)
                return error_no_memory(p->err);
        p->words = words;
        return ERR_RETRY;
}

int run_waits_or_aborts(struct pass *p, const char *words)
{
        return p->in->retrying_ms < UPDATE_RUN_GRACE_MS ? run_retries(p, words) : run_aborts(p, words);
}

void note_problem(struct pass *p, const char *words)
{
        for (size_t i = 0; words && i < p->n_problems; i++)
                if (text_equal(p->problems[i], words))
                        return;
        if (words)
                p->problems[p->n_problems++] = words;
}

int problems_end(struct pass *p)
{
        const char *all = p->n_problems > 0 ? p->problems[0] : NULL;

        if (p->no_memory)
                return error_no_memory(p->err);
        for (size_t i = 1; i < p->n_problems && all; i++)
                all = words_f(p, "%s, %s", all, p->problems[i]);
        if (p->n_problems == 0)
                return 0;
        return run_aborts(p, p->n_problems > 1 && all ? words_f(p, "[%s]", all) : all);
}

/* ---- conditions ---- */

bool is_true(const struct pass *p, const struct condition_list *l, const char *type)
{
        return condition_is_true(l, type, p->generation);
}

bool is_false(const struct pass *p, const struct condition_list *l, const char *type)
{
        return condition_is_false(l, type, p->generation);
}

static bool put(struct pass *p, struct condition_list *l, const char *type, const char *status,
                const char *reason, const char *message)
{
        struct condition c = make_condition(type, status, reason, message, p->generation);
        int changed = message ? condition_set(l, &c, p->now_ms, p->arena) : ERR_NO_MEMORY;

        p->no_memory = p->no_memory || changed < 0;
        return changed > 0;
}

void set_condition(struct pass *p, struct condition_list *l, const char *type, const char *status,
                   const char *reason, const char *message)
{
        if (put(p, l, type, status, reason, message))
                p->plan->urgent = true;
}

void set_cluster_condition(struct pass *p, struct cluster_updating_status *c, const char *type,
                           const char *status, const char *reason, const char *message)
{
        put(p, &c->conditions, type, status, reason, message);
}

void set_run_progress(struct pass *p, const char *status, const char *reason, const char *message)
{
        set_condition(p, &p->status->conditions, CONDITION_PROGRESSING, status, reason, message);
}

void set_stage_progress(struct pass *p, struct stage_status *s, const char *status, const char *reason,
                        const char *message)
{
        set_condition(p, &s->conditions, CONDITION_PROGRESSING, status, reason, message);
}

void stage_started(struct pass *p, struct stage_status *s)
{
        if (s->start_time == TIME_NONE)
                s->start_time = p->now_ms;
        set_stage_progress(p, s, CONDITION_TRUE, REASON_STAGE_STARTED, MESSAGE_STAGE_STARTED);
}

static void stage_ends(struct pass *p, struct stage_status *s)
{
        if (s->end_time == TIME_NONE)
                s->end_time = p->now_ms;
}

void stage_succeeded(struct pass *p, struct stage_status *s, const char *reason, const char *progress,
                     const char *message)
{
        stage_ends(p, s);
        set_stage_progress(p, s, CONDITION_FALSE, reason, progress);
        set_condition(p, &s->conditions, CONDITION_SUCCEEDED, CONDITION_TRUE, reason, message);
}

static void stage_failed(struct pass *p, struct stage_status *s, const char *words)
{
        stage_ends(p, s);
        set_stage_progress(p, s, CONDITION_FALSE, REASON_STAGE_FAILED, MESSAGE_STAGE_ABORTED);
        set_condition(p, &s->conditions, CONDITION_SUCCEEDED, CONDITION_FALSE, REASON_STAGE_FAILED, words);
}

static void run_failed(struct pass *p, const char *words)
{
        set_run_progress(p, CONDITION_FALSE, REASON_RUN_FAILED, MESSAGE_RUN_ABORTED);
        set_condition(p, &p->status->conditions, CONDITION_SUCCEEDED, CONDITION_FALSE, REASON_RUN_FAILED,
                      words);
}

static void run_succeeded(struct pass *p)
{
        set_run_progress(p, CONDITION_FALSE, REASON_RUN_SUCCEEDED, MESSAGE_RUN_COMPLETED);
        set_condition(p, &p->status->conditions, CONDITION_SUCCEEDED, CONDITION_TRUE, REASON_RUN_SUCCEEDED,
                      MESSAGE_RUN_SUCCEEDED);
}

int64_t since(const struct pass *p, int64_t moment)
{
        if (moment == TIME_NONE || moment <= p->now_ms)
                return moment == TIME_NONE ? 0 : p->now_ms - moment;
        return p->in->ahead_ms ? p->in->ahead_ms(p->in->ctx, moment) : 0;
}

void wake_after(struct pass *p, int64_t ms)
{
        p->plan->after_ms = MIN(p->plan->after_ms, ms);
}

void measure(struct pass *p, enum update_run_measure_kind kind, const char *task_type, int64_t ms)
{
        if (p->plan->n_measured < UPDATE_RUN_MEASURES_MAX)
                p->plan->measured[p->plan->n_measured++] = (struct update_run_measure){ kind, task_type, ms };
}

/* ---- what every pass begins with (spec 2) ---- */

static void bump(const struct pass *p, struct condition_list *l)
{
        for (uint32_t i = 0; i < l->n; i++)
                l->at[i].observed_generation = OPT_INT(p->generation);
}

static void bump_tasks(const struct pass *p, struct stage_task_status_list *l)
{
        for (uint32_t i = 0; i < l->n; i++)
                bump(p, &l->at[i].conditions);
}

static void bump_stage(const struct pass *p, struct stage_status *s)
{
        bump(p, &s->conditions);
        bump_tasks(p, &s->before_stage_task_status);
        bump_tasks(p, &s->after_stage_task_status);
        for (uint32_t i = 0; i < s->clusters.n; i++)
                bump(p, &s->clusters.at[i].conditions);
}

/* What a run has reached holds for its new state too. */
static void bump_all(const struct pass *p)
{
        bump(p, &p->status->conditions);
        for (uint32_t i = 0; i < p->status->stages_status.n; i++)
                bump_stage(p, &p->status->stages_status.at[i]);
        if (p->status->deletion_stage_status)
                bump_stage(p, p->status->deletion_stage_status);
}

static size_t count_entries(const struct update_run_status *s)
{
        size_t n = s->deletion_stage_status ? s->deletion_stage_status->clusters.n : 0;

        for (uint32_t i = 0; i < s->stages_status.n; i++)
                n += s->stages_status.at[i].clusters.n;
        return n;
}

static int pass_init(struct pass *p)
{
        struct update_run_plan *plan = p->plan;
        size_t n;

        p->run = (struct update_run *)object_copy(&p->in->run->object, p->arena);
        if (!p->run || (!p->run->status && !(p->run->status = ARENA_NEW(p->arena, struct update_run_status))))
                return error_no_memory(p->err);
        p->status = p->run->status;
        n = p->in->bindings.n + count_entries(p->status) + 2;
        p->generation = p->run->object.meta.generation;
        p->now_ms = p->in->now_ms;
        p->cluster_count = -1;
        p->problems = ARENA_NEW_ARRAY(p->arena, const char *, n);
        *plan = (struct update_run_plan){ .after_ms = NO_WAKE_UP };
        plan->update = ARENA_NEW_ARRAY(p->arena, struct rollout_write, n);
        plan->confirm.at = ARENA_NEW_ARRAY(p->arena, const struct binding *, n);
        plan->started.at = ARENA_NEW_ARRAY(p->arena, const struct binding *, n);
        plan->remove.at = ARENA_NEW_ARRAY(p->arena, const struct binding *, n);
        plan->approvals = ARENA_NEW_ARRAY(p->arena, struct update_run_approval, UPDATE_RUN_APPROVALS_MAX);
        if (!p->problems || !plan->update || !plan->confirm.at || !plan->started.at || !plan->remove.at ||
            !plan->approvals)
                return error_no_memory(p->err);
        bump_all(p);
        scrub_wait_times(p->status->strategy_snapshot);
        return 0;
}

/* ---- running (spec 6) ---- */

static void skip_stage(struct pass *p, struct stage_status *s)
{
        if (s->start_time == TIME_NONE)
                s->start_time = p->now_ms;
        stage_succeeded(p, s, REASON_STAGE_SKIPPED_NO_CLUSTERS, MESSAGE_STAGE_SKIPPED, MESSAGE_STAGE_SKIPPED);
}

static int run_stage(struct pass *p, size_t stage, bool *ret_done)
{
        struct stage_status *s = &p->status->stages_status.at[stage];

        *ret_done = false;
        if (s->clusters.n == 0) {
                skip_stage(p, s);
                *ret_done = true;
                return 0;
        }
        TRY(run_before_tasks(p, stage, ret_done));
        if (*ret_done)
                TRY(update_clusters(p, stage, ret_done));
        else
                return 0;
        if (*ret_done)
                TRY(run_after_tasks(p, stage, ret_done));
        if (*ret_done)
                stage_succeeded(p, s, REASON_STAGE_SUCCEEDED, MESSAGE_STAGE_COMPLETED,
                                MESSAGE_STAGE_SUCCEEDED);
        return 0;
}

/* The end of a stage is written down before the next one begins. */
static int execute(struct pass *p, int stage)
{
        bool done;

        if (stage == (int)p->status->stages_status.n) {
                TRY(run_deletion_stage(p, &done));
                if (done)
                        run_succeeded(p);
                return 0;
        }
        TRY(run_stage(p, (size_t)stage, &done));
        if (done) {
                set_run_progress(p, CONDITION_TRUE, REASON_RUN_PROGRESSING, MESSAGE_RUN_PROGRESSING);
                wake_after(p, 0);
        }
        return 0;
}

/* ---- the pass ---- */

static int put_off(struct pass *p)
{
        *p->plan = (struct update_run_plan){ .retry = p->words, .after_ms = NO_WAKE_UP };
        p->run = NULL;
        return 0;
}

/* A cluster is begun by two writes. Whoever leads after a crash in between learns from the run what is to be
 * announced yet, so it lasts until then. */
static bool finishes_first(struct pass *p)
{
        struct update_run_plan *plan = p->plan;

        if (plan->started.n + plan->n_update == 0 || p->in->retrying_ms >= UPDATE_RUN_GRACE_MS)
                return false;
        plan->confirm.n = 0;
        plan->n_approvals = 0;
        plan->remove.n = 0;
        plan->retry = "the clusters that it began are not announced yet";
        p->run = NULL;
        return true;
}

/* What became of a part of the pass: an aborted run is a plan like any other. */
static int give_up(struct pass *p, struct stage_status *stage)
{
        p->plan->started.n = 0;
        TRY(list_begun(p, &p->plan->started));
        if (finishes_first(p))
                return 0;
        if (stage)
                stage_failed(p, stage, p->words);
        run_failed(p, p->words);
        p->plan->after_ms = NO_WAKE_UP;
        return 0;
}

/* The user deletes it, and what it began is finished without it. */
static int leave(struct pass *p)
{
        TRY(list_begun(p, &p->plan->started));
        if (!finishes_first(p))
                p->run = NULL;
        return 0;
}

static int proceed(struct pass *p, int stage)
{
        const char *state = p->run->spec->state;
        bool is_stage = stage < (int)p->status->stages_status.n;
        int code;

        if (text_equal(state, RUN_STATE_STOP))
                code = stop_run(p, stage);
        else if (text_empty(state) || text_equal(state, RUN_STATE_RUN))
                code = execute(p, stage);
        else
                code = run_aborts(
                        p,
                        words_f(p, ERROR_CLASS_UNEXPECTED ": found unsupported updateRun state: %s", state));
        if (code != ERR_INVALID)
                return code == ERR_RETRY && p->words ? put_off(p) : code;
        return give_up(p, is_stage ? &p->status->stages_status.at[stage] : p->status->deletion_stage_status);
}

/* What it will bring where is written down before the first cluster hears of it: else nobody could tell what
 * a run began that is deleted after a crash. */
static int begin(struct pass *p)
{
        int code = initialize_run(p);

        if (code == ERR_INVALID) {
                set_condition(p, &p->status->conditions, CONDITION_INITIALIZED, CONDITION_FALSE,
                              REASON_RUN_INITIALIZE_FAILED, p->words);
                return 0;
        }
        if (code == ERR_RETRY && p->words)
                return put_off(p);
        TRY(code);
        if (!p->plan->take_snapshot && !text_equal(p->run->spec->state, RUN_STATE_INITIALIZE))
                wake_after(p, 0);
        return 0;
}

static int go_on(struct pass *p)
{
        int stage = STAGE_NONE, code = validate_run(p, &stage);

        if (code == ERR_INVALID)
                return give_up(p, NULL);
        if (code == ERR_RETRY && p->words)
                return put_off(p);
        TRY(code);
        if (stage == STAGE_NONE) {
                run_succeeded(p);
                return 0;
        }
        if (text_equal(p->run->spec->state, RUN_STATE_INITIALIZE)) {
                p->run = NULL;
                return 0;
        }
        return proceed(p, stage);
}

bool update_run_ended(const struct update_run *run)
{
        const struct condition_list *l = run->status ? &run->status->conditions : NULL;
        const struct condition *initialized = l ? condition_find(l, CONDITION_INITIALIZED) : NULL,
                               *succeeded = l ? condition_find(l, CONDITION_SUCCEEDED) : NULL;

        return (initialized && text_equal(initialized->status, CONDITION_FALSE)) ||
               (succeeded && !text_equal(succeeded->status, CONDITION_UNKNOWN));
}

const char *update_run_index(const struct update_run *run)
{
        if (run->status && !text_empty(run->status->resource_snapshot_index_used))
                return run->status->resource_snapshot_index_used;
        return run->spec ? run->spec->resource_snapshot_index : NULL;
}

int plan_update_run(struct arena *arena, const struct update_run_input *in, struct update_run_plan *ret,
                    struct error *err)
{
        struct pass p = { .arena = arena, .in = in, .err = err, .plan = ret };

        *ret = (struct update_run_plan){ .after_ms = NO_WAKE_UP };
        if (!in->run->spec || update_run_ended(in->run))
                return 0;
        TRY(pass_init(&p));
        if (is_deleting(&in->run->object))
                return leave(&p);
        TRY(is_true(&p, &p.status->conditions, CONDITION_INITIALIZED) ? go_on(&p) : begin(&p));
        if (p.no_memory)
                return error_no_memory(err);
        ret->wanted = ret->take_snapshot ? NULL : p.run;
        return 0;
}

const char *update_run_rollout_message(const struct update_run *run, struct arena *arena)
{
        return arena_printf(arena, MESSAGE_ROLLOUT_STARTED_BY_RUN,
                            run->status ? or_empty(run->status->resource_snapshot_index_used) : "",
                            run->object.meta.name);
}
