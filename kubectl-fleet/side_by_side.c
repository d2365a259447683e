#include "kubectl-fleet/side_by_side.h"

#define IN_FLIGHT 4

struct job {
        int (*fn)(void *ctx, size_t i, struct error *err);
        void *ctx;
        size_t i;
        int code;
        struct error err;
};

static void run_job(void *ctx)
{
        struct job *j = ctx;

        j->code = j->fn(j->ctx, j->i, &j->err);
}

static int start_jobs(struct fiber_group *group, struct job *jobs, size_t n, struct error *err)
{
        int code = 0;

        for (size_t i = 0; code == 0 && i < n; i++) {
                code = fiber_group_wait_below(group, IN_FLIGHT);
                if (code == 0 && !fiber_spawn(group, "try", run_job, &jobs[i]))
                        return error_no_memory(err);
        }
        if (code == 0)
                code = fiber_group_join(group, DEADLINE_NONE);
        return code < 0 ? error_set(err, code, "cancelled") : 0;
}

int side_by_side(struct session *s, size_t n, int (*fn)(void *ctx, size_t i, struct error *err), void *ctx,
                 struct error *err)
{
        struct fiber_group *group = fiber_group_new(s->world->loop, s->group, "tries");
        struct job *jobs = ARENA_NEW_ARRAY(s->arena, struct job, n + 1);
        int code = group && jobs ? 0 : error_no_memory(err);

        for (size_t i = 0; code == 0 && i < n; i++)
                jobs[i] = (struct job){ .fn = fn, .ctx = ctx, .i = i };
        if (code == 0)
                code = start_jobs(group, jobs, n, err);
        fiber_group_end(group);
        for (size_t i = 0; code == 0 && i < n; i++)
                if ((code = jobs[i].code) < 0)
                        *err = jobs[i].err;
        return code;
}
