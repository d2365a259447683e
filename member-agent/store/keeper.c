#include "member-agent/store/keeper.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#define LOOK_MS 10000
#define FIRST_PAUSE_MS 1000 /* between tries to mend the file, doubling */
#define LAST_PAUSE_MS 60000
#define BURST_ALLOCATIONS 50000 /* so many since the last look have left gaps worth giving back */
#define CLOCK_PLAY_MS 5000      /* what a clock is slewed by meanwhile is nobody's news */

struct keeper {
        struct keeper_options options;
        struct loop *loop;
        bool told;             /* that the file was given up */
        int64_t tried_ms;      /* to mend it */
        int64_t pause_ms;      /* until the next try */
        uint64_t allocations;  /* of the process, when memory was given back the last time */
        int64_t wall_ahead_ms; /* of the loop's clock, at the last look */
};

static void say_given_up(struct keeper *k, const char *problem)
{
        k->told = true;
        metric_set(k->options.metrics, METRIC_STATE_GOOD, 0, NULL);
        log_error(k->options.log,
                  "the state file cannot be used: state is kept in memory only, and lost with the process",
                  "file", k->options.path, "problem", problem);
}

static void try_to_mend(struct keeper *k)
{
        struct error err = { 0 };

        k->tried_ms = loop_now_ms(k->loop);
        k->pause_ms = MIN(2 * k->pause_ms, LAST_PAUSE_MS);
        if (store_mend(k->options.store, &err) < 0)
                return;
        k->told = false;
        metric_set(k->options.metrics, METRIC_STATE_GOOD, 1, NULL);
        log_info(k->options.log, "the state file is written again", "file", k->options.path);
}

/* Pauses go on growing when the file is given up again soon after it was mended: all of it is written each
 * time. */
static void look_at_file(struct keeper *k)
{
        const char *problem = store_problem(k->options.store);
        int64_t since = loop_now_ms(k->loop) - k->tried_ms;

        if (!problem[0] && since >= LAST_PAUSE_MS)
                k->pause_ms = FIRST_PAUSE_MS;
        if (problem[0] && !k->told)
                say_given_up(k, problem);
        else if (k->told && since >= k->pause_ms)
                try_to_mend(k);
}

static int64_t until_next_look(const struct keeper *k)
{
        return k->told ? MIN(k->pause_ms, LOOK_MS) : LOOK_MS;
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
        } while (fiber_sleep(k->loop, until_next_look(k)) == 0);
}

int keeper_start(struct loop *l, struct fiber_group *group, const struct keeper_options *o,
                 struct keeper **ret, struct error *err)
{
        struct keeper *k = NEW(struct keeper);

        if (!k)
                return error_no_memory(err);
        *k = (struct keeper){ .options = *o,
                              .loop = l,
                              .pause_ms = FIRST_PAUSE_MS,
                              .allocations = mem_alloc_count(),
                              .wall_ahead_ms = loop_wall_ms(l) - loop_now_ms(l) };
        if (!fiber_spawn(group, "keeper", keeper_fiber, k)) {
                mem_free(k);
                return error_no_memory(err);
        }
        metric_set(k->options.metrics, METRIC_STATE_GOOD, 1, NULL);
        *ret = k;
        return 0;
}

struct keeper *keeper_end(struct keeper *k)
{
        if (k && store_problem(k->options.store)[0])
                try_to_mend(k);
        mem_free(k);
        return NULL;
}
