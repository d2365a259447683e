/* All work, one thing at a time: steps to the repository, jobs, syncs, what is to be mended, polls of images.
 * spec/flux-yaml.md 7.1. */
#include "hub-agent/manifest-generation/generation_agent.h"

#define HOUR_MS (INT64_C(3600) * 1000)
#define LONG_MS (INT64_C(6) * 3600 * 1000) /* commands have limits of their own */

static int64_t now_of(const struct generator_agent *a)
{
        return loop_now_ms(a->world->loop);
}

void work_ask(struct generator_agent *a)
{
        manager_enqueue(a->manager, &work_controller, WORK_KEY, QUEUE_HIGH);
}

/* ---- syncs ---- */

static void measure_sync(struct generator_agent *a, bool success, int64_t began_us)
{
        const char *const yes[] = { "true" }, *const no[] = { "false" };

        metric_observe(a->metrics, METRIC_SYNC_SECONDS,
                       (double)(loop_now_us(a->world->loop) - began_us) / 1e6, success ? yes : no);
        metric_set(a->metrics, METRIC_SYNC_MANIFESTS, (double)(a->objects - MIN(a->failed, a->objects)), yes);
        metric_set(a->metrics, METRIC_SYNC_MANIFESTS, (double)a->failed, no);
}

static void tell_failure(struct generator_agent *a, const struct error *err)
{
        log_error(&a->log, "the sync failed", "error", err->text);
        generation_event(a, "Warning", "SyncFailed", err->text);
        if (!a->desired || a->problems.n == 0)
                (void)sync_problems_add(&a->problems, NULL, "", err->text);
}

/* What is about the hub or the network is tried again soon, and commands, which may have asked either. */
static void put_forward(struct generator_agent *a, const struct error *err)
{
        int64_t pause_ms = mend_pause_ms(++a->sync_failures);

        if ((a->command_failed || error_is_retryable(err->code)) && !repository_unready(&a->repository))
                a->timetable.sync_due = now_of(a) + MIN(pause_ms, a->timetable.sync_ms);
}

int work_sync(struct reconcile *rc, int64_t confirmed_ms)
{
        struct generator_agent *a = generator_of(rc);
        int64_t began_us = loop_now_us(a->world->loop);
        int code;

        timetable_begin(&a->timetable, TASK_SYNC);
        sync_problems_clear(&a->problems);
        code = sync_all(rc, confirmed_ms, rc->err);
        if (code == ERR_CANCELLED)
                return code;
        timetable_done(&a->timetable, TASK_SYNC, now_of(a));
        measure_sync(a, code == 0, began_us);
        timetable_mend_at(&a->timetable, hub_view_due_ms(a->view));
        if (code == 0) {
                a->sync_failures = 0;
        } else {
                tell_failure(a, rc->err);
                put_forward(a, rc->err);
        }
        return code;
}

static int mend(struct reconcile *rc)
{
        struct generator_agent *a = generator_of(rc);
        int64_t began_ms = now_of(a);
        int code;

        timetable_begin(&a->timetable, TASK_MEND);
        code = sync_mend(rc, rc->err);
        if (code < 0 && code != ERR_CANCELLED) {
                log_warn(&a->log, "objects are not mended", "error", rc->err->text);
                timetable_mend_at(&a->timetable, now_of(a) + mend_pause_ms(++a->sync_failures));
        } else if (code == 0) {
                a->sync_failures = 0;
                hub_view_rest(a->view, began_ms);
                timetable_mend_at(&a->timetable, hub_view_due_ms(a->view));
        }
        return code;
}

/* ---- images ---- */

static int poll_images(struct reconcile *rc)
{
        struct generator_agent *a = generator_of(rc);
        int code;

        timetable_begin(&a->timetable, TASK_IMAGES);
        code = images_poll(rc);
        timetable_done(&a->timetable, TASK_IMAGES, now_of(a));
        return code;
}

/* ---- what is next ---- */

static int run_task(struct reconcile *rc, enum task task)
{
        switch (task) {
        case TASK_SYNC:
                return work_sync(rc, TIME_NONE);
        case TASK_MEND:
                return mend(rc);
        case TASK_JOB:
                return request_run(rc);
        case TASK_IMAGES:
                return poll_images(rc);
        case TASK_NONE:
                break;
        }
        return 0;
}

static int tell_status(struct reconcile *rc)
{
        struct generator_agent *a = generator_of(rc);
        struct error err = { 0 };
        int code = generation_write_status(a, &err);

        if (code < 0 && code != ERR_CANCELLED && !kube_connection_tells(&a->kube, &err))
                log_warn(&a->log, "the status is not written", "error", err.text);
        return code == ERR_CANCELLED ? code : 0;
}

static struct outcome work_reconcile(struct reconcile *rc)
{
        struct generator_agent *a = generator_of(rc);
        int64_t due_ms;
        int code;

        if (repository_steps(a, rc->err) == ERR_CANCELLED)
                return failed(rc->err);
        a->timetable.jobs = requests_waiting(a);
        metric_set(a->metrics, METRIC_JOBS_WAITING, (double)a->timetable.jobs, NULL);
        code = run_task(rc, timetable_next(&a->timetable, now_of(a)));
        a->timetable.jobs = requests_waiting(a);
        metric_set(a->metrics, METRIC_JOBS_WAITING, (double)a->timetable.jobs, NULL);
        if (code == ERR_CANCELLED || tell_status(rc) == ERR_CANCELLED) {
                error_set(rc->err, ERR_CANCELLED, "cancelled");
                return failed(rc->err);
        }
        due_ms = MIN(timetable_due(&a->timetable), repository_due_ms(&a->repository));
        return again_after(MIN(due_ms - now_of(a), HOUR_MS));
}

const struct controller work_controller = {
        .name = "manifest-generation",
        .reconcile = work_reconcile,
        .concurrency = 1,
        .reconcile_deadline_ms = LONG_MS,
        .event_source = GENERATION_EVENTS,
};
