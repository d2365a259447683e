#include "e2e/scenarios/backend.h"
#include "e2e/simulation/sim_fleet.h"

#define WALL_START_MS 1767225600000 /* 2026-01-01T00:00:00Z */
#define SET_UP_MS 120000

struct simulated_run {
        const struct scenario *scenario;
        struct loop *loop;
        struct log_sink sink;
        struct buf *log;
        struct error *err;
        int code;
        bool bug; /* a reconcile failed without an error: common/ctrl/frame.c */
};

static void write_log(void *ctx, const char *line, size_t n)
{
        struct simulated_run *r = ctx;

        r->bug = r->bug || strstr(line, "left no error");
        buf_append(r->log, line, n); /* a full buffer keeps the beginning */
}

static int64_t log_wall(void *ctx)
{
        struct simulated_run *r = ctx;

        return loop_wall_ms(r->loop);
}

static void run_fiber(void *ctx)
{
        struct simulated_run *r = ctx;
        struct sim_fleet_options o = { .loop = r->loop,
                                       .log_sink = &r->sink,
                                       .members = r->scenario->members,
                                       .hub_agents = r->scenario->hub_agents };
        struct fleet *f;

        r->code = sim_fleet_open(&o, &f, r->err);
        if (r->code < 0)
                return;
        f->namespace_account = r->scenario->namespace_account;
        f->member_flags = r->scenario->member_flags;
        f->collect_namespaces = r->scenario->collect_namespaces;
        f->networking_agents = r->scenario->networking_agents;
        f->resource_sets = r->scenario->resource_sets;
        f->admission_policies = r->scenario->admission_policies;
        f->guard_policies = r->scenario->guard_policies;
        f->rule_policies = r->scenario->rule_policies;
        f->webhooks = r->scenario->webhooks;
        f->shards = r->scenario->shards;
        r->code = fleet_set_up(f, loop_now_ms(r->loop) + SET_UP_MS, r->err);
        if (r->code < 0)
                error_wrap(r->err, "setting the fleet up");
        else
                r->code = scenario_run(r->scenario, f, r->err);
        f->ops->close(f);
}

int scenario_run_simulated(const struct scenario *s, uint64_t seed, struct scenario_report *report,
                           struct error *err)
{
        struct simulated_run r = { .scenario = s, .log = &report->log, .err = err };
        struct fiber_group *group;
        int code;

        r.sink = (struct log_sink){
                .write = write_log, .wall_ms = log_wall, .ctx = &r, .format = LOG_TEXT, .least = LOG_DEBUG
        };
        r.loop = loop_new_simulated(seed, WALL_START_MS, err);
        if (!r.loop)
                return ERR_NO_MEMORY;
        group = fiber_group_new(r.loop, NULL, "scenario");
        if (!group || !fiber_spawn(group, "scenario", run_fiber, &r))
                return error_no_memory(err);
        code = loop_run(r.loop, err);
        report->took_ms = loop_now_ms(r.loop);
        if (code < 0)
                return code; /* parked for ever: the loop's fibers cannot be freed, the process ends soon */
        fiber_group_end(group);
        loop_free(r.loop);
        if (r.code == 0 && r.bug)
                return error_set(err, ERR_INTERNAL, "an agent: a reconcile failed and left no error");
        return r.code;
}
