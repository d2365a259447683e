#include "hub-agent/staged-update/update_run_metrics.h"

#define SERIES_OF_RUN_MAX 64 /* states, conditions and reasons that one run can be in */

/* ---- what is read off a run ---- */

/* From the message, so that a later pass gives the same answer. */
static const char *failure_type(const struct condition *c)
{
        static const char *const failures[] = { REASON_RUN_FAILED, REASON_RUN_INITIALIZE_FAILED };

        if (!text_equal(c->status, CONDITION_FALSE))
                return "none";
        if (text_equal(c->reason, REASON_RUN_STUCK))
                return "internal_error";
        if (!text_in(or_empty(c->reason), failures, ARRAY_LEN(failures)))
                return "none";
        return strstr(or_empty(c->message), ERROR_CLASS_USER) ? "user_error" : "internal_error";
}

bool update_run_reading(const struct update_run *run, struct update_run_reading *ret)
{
        static const char *const types[] = { CONDITION_SUCCEEDED, CONDITION_PROGRESSING,
                                             CONDITION_INITIALIZED };

        for (size_t i = 0; run->status && i < ARRAY_LEN(types); i++) {
                const struct condition *c = condition_find(&run->status->conditions, types[i]);

                if (!c || c->observed_generation.value != run->object.meta.generation)
                        continue;
                *ret = (struct update_run_reading){ text_empty(run->spec->state) ? RUN_STATE_RUN
                                                                                 : run->spec->state,
                                                    types[i], c->status, or_empty(c->reason),
                                                    failure_type(c) };
                return true;
        }
        return false;
}

/* ---- series ---- */

static bool same_reading(const struct update_run_reading *a, const struct update_run_reading *b)
{
        return text_equal(a->state, b->state) && text_equal(a->condition, b->condition) &&
               text_equal(a->status, b->status) && text_equal(a->reason, b->reason) &&
               text_equal(a->failure_type, b->failure_type);
}

static void reading_free(struct update_run_reading *r)
{
        mem_free((void *)r->state);
        mem_free((void *)r->status);
        mem_free((void *)r->reason);
}

/* What is not kept is not counted either: a metric is not worth a failed reconcile. */
static bool keep(struct update_run_series *s, const struct update_run_reading *r)
{
        struct update_run_reading copy = { mem_strdup(r->state), r->condition, mem_strdup(r->status),
                                           mem_strdup(r->reason), r->failure_type };

        vec_for_each(&s->shown, it) {
                if (same_reading(it, r)) {
                        reading_free(&copy);
                        return true;
                }
        }
        if (copy.state && copy.status && copy.reason && s->shown.n < SERIES_OF_RUN_MAX &&
            vec_push(&s->shown, copy) == 0)
                return true;
        reading_free(&copy);
        return false;
}

void update_run_show(struct metrics *m, struct update_run_series *s, const struct update_run *run,
                     int64_t now_ms)
{
        struct update_run_reading r;

        if (!update_run_reading(run, &r) || !keep(s, &r))
                return;
        metric_set(m, METRIC_RUN_STATUS, (double)now_ms / 1000,
                   (const char *[]){ or_empty(run->object.meta.ns), run->object.meta.name, r.state,
                                     r.condition, r.status, r.reason, r.failure_type });
}

void update_run_measured(struct metrics *m, struct update_run_series *s, const struct update_run *run,
                         const struct update_run_plan *plan)
{
        for (size_t i = 0; i < plan->n_measured; i++) {
                const struct update_run_measure *one = &plan->measured[i];
                const char *values[] = { or_empty(run->object.meta.ns), run->object.meta.name,
                                         one->task_type };

                if (one->kind == MEASURED_STAGE) {
                        s->has_stages = true;
                        metric_observe(m, METRIC_RUN_STAGES, (double)one->ms / 1000, values);
                        continue;
                }
                s->has_approvals[text_equal(one->task_type, TASK_TYPE_AFTER_STAGE)] = true;
                metric_observe(m, METRIC_RUN_APPROVALS, (double)one->ms / 1000, values);
        }
}

void update_run_series_remove(struct metrics *m, struct update_run_series *s, const char *ns,
                              const char *name)
{
        vec_for_each(&s->shown, it) {
                metric_remove(m, METRIC_RUN_STATUS,
                              (const char *[]){ or_empty(ns), name, it->state, it->condition, it->status,
                                                it->reason, it->failure_type });
        }
        if (s->has_stages)
                metric_remove(m, METRIC_RUN_STAGES, (const char *[]){ or_empty(ns), name });
        for (size_t i = 0; i < ARRAY_LEN(s->has_approvals); i++)
                if (s->has_approvals[i])
                        metric_remove(m, METRIC_RUN_APPROVALS,
                                      (const char *[]){ or_empty(ns), name,
                                                        i ? TASK_TYPE_AFTER_STAGE : TASK_TYPE_BEFORE_STAGE });
        update_run_series_free(s);
}

void update_run_series_free(struct update_run_series *s)
{
        vec_for_each(&s->shown, it) {
                reading_free(it);
        }
        vec_free(&s->shown);
        *s = (struct update_run_series){ 0 };
}
