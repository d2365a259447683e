#include "common/base/memory.h"
#include "e2e/simulation/day_parts.h"

#define WALL_START_MS 1767225600000 /* 2026-01-01T00:00:00Z */
#define MINUTE_MS INT64_C(60000)
#define SET_UP_MS (30 * MINUTE_MS)
#define PART_MS (180 * MINUTE_MS) /* of the day: play, and at its end a quiet moment */
/* About what that takes. Short parts are played whole, and it comes after. */
#define MOMENT_MS (11 * MINUTE_MS)
#define FAULTS_MS (15 * MINUTE_MS) /* in the middle of each */
#define GAP_MS (6 * MINUTE_MS)     /* between moves, in the mean; a shorter day has as many for each member */
#define GAP_LEAST_MS 5000
#define SETTLE_MS (40 * MINUTE_MS)
#define CALM_MS (2 * MINUTE_MS) /* what is right for users may still be tidied up */
#define QUIET_MS (5 * MINUTE_MS)
#define LOOK_MS 5000
#define TICK_MS 5000
#define TOKEN_S 86400
#define OUT_PERCENT 10 /* of the members join later */

static void write_trace(void *ctx, const char *line, size_t n)
{
        struct day *d = ctx;

        if (d->trace)
                fwrite(line, 1, n, d->trace);
        if (strstr(line, "left no error") && !d->broken.code)
                error_set(&d->broken, ERR_INTERNAL, "an agent: a reconcile failed and left no error");
}

static int64_t trace_wall(void *ctx)
{
        const struct day *d = ctx;

        return loop_wall_ms(d->loop);
}

static int verdict(const struct day *d, struct error *err)
{
        if (d->broken.code)
                *err = d->broken;
        return d->broken.code;
}

/* ---- the morning ---- */

static int wait_joined(struct day *d, struct error *err)
{
        int64_t deadline = loop_now_ms(d->loop) + SET_UP_MS;
        char name[32];

        for (unsigned i = 1; i <= d->n; i++) {
                day_member_name(i, name);
                if (d->members[i].in)
                        TRY(fleet_wait_joined(d->fleet, name, deadline, err));
        }
        return 0;
}

static int set_up(struct day *d, struct error *err)
{
        char name[FLEET_AGENT_NAME];

        TRY(fleet_prepare(d->fleet, loop_now_ms(d->loop) + SET_UP_MS, err));
        d->fleet->prepared = true;
        for (unsigned i = 0; i < d->fleet->n_hub_agents; i++) {
                fleet_hub_agent_name(i, name);
                TRY(d->fleet->ops->start_agent(d->fleet, name, err));
        }
        for (unsigned i = 1; i <= d->n; i++) {
                d->members[i].tier = (unsigned)dice_below(&d->dice, DAY_TIERS);
                if (!dice_percent(&d->dice, OUT_PERCENT))
                        TRY(day_join(d, i, err));
        }
        TRY(wait_joined(d, err));
        for (unsigned i = 0; i < DAY_PLACEMENTS; i++)
                TRY(day_make_placement(d, i, err));
        sim_fleet_keep_alive(d->fleet, true);
        return 0;
}

/* ---- quiet moments ---- */

/* What is staged moves by runs only: one brings what users wrote last, and one that failed is made again. */
static int run_staged(struct day *d, bool first, struct error *err)
{
        for (unsigned i = 0; i < DAY_PLACEMENTS; i++) {
                const struct day_placement *p = &d->placements[i];
                int state = p->kind == DAY_STAGED && p->there ? day_run_state(d, i) : 0;

                if (state < 0 || (state > 0 && first))
                        TRY(day_make_run(d, i, err));
        }
        return 0;
}

static bool runs_go_on(struct day *d)
{
        for (unsigned i = 0; i < DAY_PLACEMENTS; i++)
                if (d->placements[i].kind == DAY_STAGED && d->placements[i].there && day_run_state(d, i) == 0)
                        return true;
        return false;
}

static int wait_runs(struct day *d, int64_t limit, struct error *err)
{
        while (runs_go_on(d)) {
                if (loop_now_ms(d->loop) > limit)
                        return error_set(err, ERR_TIMEOUT, "a run does not end");
                TRY(fiber_sleep(d->loop, LOOK_MS));
        }
        return 0;
}

static int settle(struct day *d, struct error *err)
{
        int64_t from = loop_now_ms(d->loop), limit = from + SETTLE_MS;
        int code;

        faults_set(d->faults, false);
        TRY(day_heal(d, err));
        log_info(&d->log, "peace");
        TRY(fiber_sleep(d->loop, CALM_MS)); /* all heartbeats are heard of, and snapshots made */
        TRY(wait_runs(d, limit, err));
        TRY(run_staged(d, true, err));
        while ((code = day_look(d, err)) < 0 && loop_now_ms(d->loop) < limit) {
                TRY(verdict(d, err));
                TRY(day_come_back(d, err));
                TRY(run_staged(d, false, err));
                TRY(fiber_sleep(d->loop, LOOK_MS));
        }
        d->result->slowest_ms = MAX(d->result->slowest_ms, loop_now_ms(d->loop) - from);
        if (code < 0)
                return error_wrap(err, "not settled");
        error_clear(err);
        return 0;
}

static int quiet_moment(struct day *d, struct error *err)
{
        TRY(settle(d, err));
        TRY(fiber_sleep(d->loop, CALM_MS));
        log_info(&d->log, "rest");
        d->resting = true;
        TRY(fiber_sleep(d->loop, QUIET_MS));
        d->resting = false;
        TRY(verdict(d, err));
        if (day_look(d, err) < 0)
                return error_wrap(err, "after quiet minutes");
        d->result->quiet_moments++;
        return 0;
}

/* ---- the day ---- */

/* Moves come as often for each member whatever the fleet, but to a small one not all at once. */
static int64_t draw_gap(struct day *d)
{
        int64_t mean = MAX(GAP_MS * 100 / MAX((int64_t)d->n, 100), 0);

        mean = d->n > 100 ? GAP_MS : mean / 3;
        return GAP_LEAST_MS + (int64_t)dice_below(&d->dice, (uint64_t)(2 * mean));
}

static int play_part(struct day *d, int64_t from, int64_t until, struct error *err)
{
        int64_t middle = (from + until) / 2, next = from + draw_gap(d), now;

        while ((now = loop_now_ms(d->loop)) < until) {
                TRY(verdict(d, err));
                faults_set(d->faults, now >= middle - FAULTS_MS / 2 && now < middle + FAULTS_MS / 2);
                TRY(day_come_back(d, err));
                if (now >= next) {
                        int code = day_move(d, err);

                        if (code < 0)
                                return error_wrap(err, "a move");
                        d->result->moves += (unsigned)code;
                        next = code ? loop_now_ms(d->loop) + draw_gap(d) : next;
                }
                TRY(fiber_sleep(d->loop, TICK_MS));
        }
        return quiet_moment(d, err);
}

static int play(struct day *d, struct error *err)
{
        int64_t begin, end;

        TRY(set_up(d, err));
        TRY(quiet_moment(d, err));
        log_info(&d->log, "play");
        begin = loop_now_ms(d->loop);
        end = begin + d->plan->minutes * MINUTE_MS;
        for (int64_t at = begin; at < end; at += PART_MS) {
                int64_t from = loop_now_ms(d->loop), until = MIN(at + PART_MS, end);

                if (until - from > 2 * MOMENT_MS)
                        until -= MOMENT_MS;
                TRY(play_part(d, from, until, err));
        }
        return 0;
}

static int open_fleet(struct day *d, struct error *err)
{
        static const enum day_kind kinds[DAY_PLACEMENTS] = { DAY_EVERYWHERE, DAY_TIER,   DAY_TIER,
                                                             DAY_PICK_N,     DAY_SPREAD, DAY_FIXED,
                                                             DAY_STAGED,     DAY_TIER };
        struct faults_options f = {
                .loop = d->loop, .log = &d->log, .coverage = d->coverage, .seed = d->plan->seed
        };
        struct sim_fleet_options o = { .loop = d->loop,
                                       .log_sink = &d->sink,
                                       .members = d->n,
                                       .hub_agents = d->plan->hub_agents,
                                       .changed = day_changed,
                                       .ctx = d,
                                       .looks_into = day_looks_into,
                                       .token_s = TOKEN_S };

        for (unsigned i = 0; i < DAY_PLACEMENTS; i++) {
                d->placements[i].kind = kinds[i];
                d->placements[i].tier = i % DAY_TIERS;
                d->placements[i].wanted = MAX(d->n / 20, 1u);
        }
        d->faults = faults_new(&f);
        if (!d->faults)
                return error_no_memory(err);
        o.faults = faults_table(d->faults);
        TRY(sim_fleet_open(&o, &d->fleet, err));
        d->fleet->heartbeat_s = d->plan->heartbeat_s ? d->plan->heartbeat_s : 60;
        return d->fleet->ops->client(d->fleet, "hub", &d->hub, err);
}

static void day_fiber(void *ctx)
{
        struct day *d = ctx;
        struct error *err = &d->result->err;
        size_t n = 0;

        if (open_fleet(d, err) == 0 && play(d, err) == 0)
                error_clear(err); /* of what was not yet as it should be */
        if (d->fleet)
                d->fleet->ops->close(d->fleet);
        if (d->faults)
                (void)faults_happened(d->faults, &n);
        d->result->faults = n;
        if (!err->code)
                (void)verdict(d, err);
}

static int run_loop(struct day *d, struct error *err)
{
        struct fiber_group *group = fiber_group_new(d->loop, NULL, "day");

        if (!group || !fiber_spawn(group, "day", day_fiber, d))
                return error_no_memory(err);
        TRY(loop_run(d->loop, err)); /* else fibers are parked for ever: the loop cannot be freed */
        d->result->virtual_ms = loop_now_ms(d->loop);
        d->faults = faults_free(d->faults);
        fiber_group_end(group);
        loop_free(d->loop);
        coverage_free(d->coverage);
        return err->code;
}

int day_play(const struct day_plan *p, FILE *trace, struct day_result *ret)
{
        size_t live = mem_live_count();
        struct day *d = NEW(struct day);
        int code;

        *ret = (struct day_result){ 0 };
        if (!d)
                return error_no_memory(&ret->err);
        *d = (struct day){ .plan = p, .result = ret, .trace = trace, .n = p->members, .dice = { p->seed } };
        d->sink = (struct log_sink){ .write = write_trace,
                                     .wall_ms = trace_wall,
                                     .ctx = d,
                                     .format = LOG_TEXT,
                                     .least = trace ? LOG_DEBUG : LOG_ERROR };
        d->log = (struct log){ .sink = &d->sink };
        d->coverage = coverage_new();
        d->loop = d->coverage ? loop_new_simulated(p->seed, WALL_START_MS, &ret->err) : NULL;
        code = d->loop ? run_loop(d, &ret->err) : error_no_memory(&ret->err);
        mem_free(d);
        if (code == 0 && mem_live_count() > live)
                code = error_set(&ret->err, ERR_INTERNAL,
                                 "memory: %zu allocations live after the fleet has ended",
                                 mem_live_count() - live);
        return code;
}
