#include <uv.h>

#include "common/loop/internal.h"

struct job {
        uv_work_t work;
        void (*fn)(void *ctx);
        void *ctx;
        struct fiber *waiter;
        bool done;
};

static void run_job(uv_work_t *work)
{
        struct job *job = work->data;
        job->fn(job->ctx);
}

static void job_done(uv_work_t *work, int status)
{
        struct job *job = work->data;
        job->done = true;
        fiber_wake(job->waiter);
}

int offload(struct loop *l, void (*fn)(void *ctx), void *ctx, struct error *err)
{
        uv_loop_t *uv = loop_uv(l);
        if (!uv) {
                fn(ctx);
                return 0;
        }
        ASSERT(l->current);
        struct job job = { .fn = fn, .ctx = ctx, .waiter = l->current };
        job.work.data = &job;
        int code = uv_queue_work(uv, &job.work, run_job, job_done);
        if (code < 0)
                return error_set(err, ERR_SYSTEM, "cannot hand work to the pool: %s", uv_strerror(code));
        fiber_mask_cancel(l);
        while (!job.done)
                (void)fiber_park(l, DEADLINE_NONE);
        fiber_unmask_cancel(l);
        return 0;
}
