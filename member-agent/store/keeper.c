#include "member-agent/store/keeper.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#define LOOK_MS 10000
#define MEND_MS 60000
#define BURST_ALLOCATIONS 50000 /* so many since the last look have left gaps worth giving back */
#define CLOCK_PLAY_MS 5000      /* what a clock is slewed by meanwhile is nobody's news */

struct keeper {
        struct keeper_options options;
        struct loop *loop;
        bool told;             /* that the file was given up */
        int64_t tried_ms;      /* to mend it */
        uint64_t allocations;  /* of the process, when memory was given back the last time */
        int64_t wall_ahead_ms; /* of the loop's clock, at the last look */
};

static void say_given_up(struct keeper *k, const char *problem)
{
        k->told = true;
        k->tried_ms = loop_now_ms(k->loop);
        metric_set(k->options.metrics, METRIC_STATE_GOOD, 0, NULL);
        log_error(k->options.log,
                  "the state file cannot be used: state is kept in memory only, and lost with the process",
                  "file", k->options.path, "problem", problem);
}

static void try_to_mend(struct keeper *k)
{
        struct error err = { 0 };

        k->tried_ms = loop_now_ms(k->loop);
        if (store_mend(k->options.store, &err) < 0)
                return;
        k->told = false;
        metric_set(k->options.metrics, METRIC_STATE_GOOD, 1, NULL);
        log_info(k->options.log, "the state file is written again", "file", k->options.path);
}

static void look_at_file(struct keeper *k)
{
        const char *problem = store_problem(k->options.store);

        if (problem[0] && !k->told)
                say_given_up(k, problem);
        else if (k->told && loop_now_ms(k->loop) - k->tried_ms >= MEND_MS)
                try_to_mend(k);
}

static void look_at_clock(struct keeper *k)
{
        int64_t ahead = loop_wall_ms(k->loop) - loop_now_ms(k->loop), by = ahead - k->wall_ahead_ms;

        k->wall_ahead_ms = ahead;
        if (by > CLOCK_PLAY_MS || by < -CLOCK_PLAY_MS)
                log_warn(k->options.log, by > 0 ? "the clock was set forward" : "the clock was set back",
                         "by_ms", LOG_INT(by));
}

/* A burst of Works leaves pages that the next ones may never need. */
static void look_at_memory(struct keeper *k)
{
        if (mem_alloc_count() - k->allocations < BURST_ALLOCATIONS)
                return;
        mem_trim();
        k->allocations = mem_alloc_count();
}

static void keeper_fiber(void *ctx)
{
        struct keeper *k = ctx;

        do {
                look_at_file(k);
                look_at_clock(k);
                look_at_memory(k);
        } while (fiber_sleep(k->loop, LOOK_MS) == 0);
        mem_free(k);
}

int keeper_start(struct loop *l, struct fiber_group *group, const struct keeper_options *o, struct error *err)
{
        struct keeper *k = NEW(struct keeper);

        if (!k)
                return error_no_memory(err);
        *k = (struct keeper){ .options = *o,
                              .loop = l,
                              .allocations = mem_alloc_count(),
                              .wall_ahead_ms = loop_wall_ms(l) - loop_now_ms(l) };
        if (!fiber_spawn(group, "keeper", keeper_fiber, k)) {
                mem_free(k);
                return error_no_memory(err);
        }
        metric_set(k->options.metrics, METRIC_STATE_GOOD, 1, NULL);
        return 0;
}
