#include "e2e/simulation/run.h"

#include "common/base/memory.h"
#include "e2e/simulation/model.h"
#include "e2e/simulation/rules.h"
#include "e2e/simulation/sim_charts.h"
#include "e2e/simulation/sim_fleet.h"
#include "e2e/simulation/sim_page.h"
#include "e2e/simulation/sim_sources.h"
#include "e2e/simulation/watch.h"

#define WALL_START_MS 1767225600000 /* 2026-01-01T00:00:00Z */
/* With faults: each piece of a watch may be its last, and twenty members have much to tell. */
#define SET_UP_MS 480000
#define SETTLE_MS 60000
/* A member waits a minute before it cleans up after a Work that it misses, and looks every five seconds. What
 * it has not cleaned up may be in the way of what users want. As long and as often a placement asks before it
 * believes that a kind which it holds is gone. */
#define SURE_MS 65000
/* What is right for users may still be tidied up: watches stall for 40 s, too. */
#define CALM_MS 120000
#define QUIET_MS 600000
/* Update runs take their time, stage by stage, and say so: over is what has said nothing for so long. A wait
 * can be twice as long as it should, if a clock is set back. */
#define RUNS_MS 300000
#define RUN_CALM_MS 45000
/* What fails is tried after ever longer pauses, up to a quarter of an hour. */
#define TRIES_MS 960000
/* The garden's agent polls, tries again, and syncs by time what nothing told it of. */
#define GARDEN_MS 120000
#define LOOK_MS 500
#define LAST_LOOKS 2     /* more, before the rest is over */
#define VERDICT_MS 10000 /* so often is looked whether a rule is broken while nothing is done */

struct run {
        const struct run_plan *plan;
        struct run_result *result;
        struct coverage *coverage;
        struct loop *loop;
        FILE *trace;
        struct log_sink sink;
        struct log log;
        struct faults *faults;
        struct watch *watch;
        struct wish wish;
        struct player player;
        struct sim_page *page; /* NULL: it is not played */
        int64_t play_ms;       /* when the play began; 0 = it did not yet */
        int64_t runs_ms;       /* when something of update runs was last written */
        bool enough;           /* the plan's patience is at an end */
        bool bug;              /* a reconcile failed without an error: common/ctrl/frame.c */
};

static void write_trace(void *ctx, const char *line, size_t n)
{
        struct run *r = ctx;

        r->bug = r->bug || strstr(line, "left no error");
        if (r->trace)
                fwrite(line, 1, n, r->trace);
}

static int64_t trace_wall(void *ctx)
{
        struct run *r = ctx;

        return loop_wall_ms(r->loop);
}

static void changed(void *ctx, const struct change *c)
{
        struct run *r = ctx;

        if (text_ends_with(c->resource, "stagedupdateruns") ||
            text_ends_with(c->resource, "resourcebindings"))
                r->runs_ms = c->at_ms;
        if (r->watch)
                watch_change(r->watch, c);
        sim_page_changed(r->page, c);
}

static void sent(void *ctx, const struct sent *s)
{
        struct run *r = ctx;

        if (r->watch)
                watch_sent(r->watch, s);
}

/* ---- the acts of a run ---- */

/* Nothing is broken, and the plan wants more. */
static int go_on(void *ctx, struct error *err)
{
        struct run *r = ctx;
        int64_t patience = r->plan->patience_ms;

        if (r->bug)
                return error_set(err, ERR_INTERNAL, "an agent: a reconcile failed and left no error");
        TRY(watch_verdict(r->watch, err));
        TRY(sim_page_verdict(r->page, err));
        r->enough = patience > 0 && loop_now_ms(r->loop) - r->play_ms > patience;
        return r->enough ? ERR_CANCELLED : 0;
}

static int rest(struct run *r, int64_t ms, struct error *err)
{
        int64_t end = loop_now_ms(r->loop) + ms, left;

        while ((left = end - loop_now_ms(r->loop)) > 0) {
                TRY(fiber_sleep(r->loop, MIN(left, VERDICT_MS)));
                TRY(go_on(r, err));
        }
        return 0;
}

/* All is as the users asked, or the first difference. */
static int look(struct run *r, struct error *err)
{
        TRY(watch_verdict(r->watch, err));
        TRY(model_compare(r->player.fleet, &r->wish, r->player.git, err));
        return sim_page_compare(r->page, err);
}

static int64_t settle_ms(const struct run *r)
{
        int64_t garden_ms = r->wish.garden.there ? GARDEN_MS : 0;
        bool doubts = rules_miss_works(r->watch) || rules_miss_kinds(r->watch);

        return SETTLE_MS + garden_ms + (doubts ? SURE_MS : 0) + (rules_runs_go_on(r->watch) ? RUNS_MS : 0) +
               (rules_tables_try_again(r->watch) || rules_charts_try_again(r->watch) ? TRIES_MS : 0);
}

static bool runs_move(const struct run *r)
{
        return rules_runs_go_on(r->watch) && loop_now_ms(r->loop) - r->runs_ms < RUN_CALM_MS;
}

static int settle(struct run *r, struct error *err)
{
        int64_t from = loop_now_ms(r->loop), limit = SETTLE_MS;
        int code;

        faults_set(r->faults, false);
        TRY(moves_heal(&r->player, err));
        TRY(sim_page_calm(r->page, err));
        log_info(&r->log, "peace");
        while (((code = look(r, err)) < 0 || runs_move(r)) && loop_now_ms(r->loop) - from < limit) {
                limit = MAX(limit, settle_ms(r));
                TRY(go_on(r, err));
                TRY(moves_keep_alive(&r->player, err));
                TRY(fiber_sleep(r->loop, LOOK_MS));
        }
        r->result->settled_ms = loop_now_ms(r->loop) - from;
        if (code < 0)
                return error_wrap(err, "not settled");
        error_clear(err); /* of what was not yet as it should be */
        return 0;
}

/* Members tell when they last saw a difference also while all rests, and that may be on its way just now. */
static int look_at_last(struct run *r, struct error *err)
{
        int code = look(r, err);

        for (int i = 0; code < 0 && i < LAST_LOOKS; i++) {
                TRY(fiber_sleep(r->loop, LOOK_MS));
                code = look(r, err);
        }
        if (code < 0)
                return error_wrap(err, "after ten quiet minutes");
        error_clear(err);
        return 0;
}

/* Nothing more is written, and it was not for a moment only that all was well. */
static int stay_quiet(struct run *r, struct error *err)
{
        TRY(rest(r, CALM_MS, err));
        log_info(&r->log, "rest");
        watch_at_rest(r->watch);
        TRY(go_on(r, err));
        TRY(rest(r, QUIET_MS, err));
        TRY(look_at_last(r, err));
        TRY(go_on(r, err));
        return sim_page_leave(r->page, err);
}

static int play(struct run *r, struct error *err)
{
        faults_set(r->faults, true);
        sim_fleet_keep_alive(r->player.fleet, true);
        TRY(fleet_set_up(r->player.fleet, loop_now_ms(r->loop) + SET_UP_MS, err));
        sim_fleet_keep_alive(r->player.fleet, false);
        if (r->player.git)
                TRY(r->player.fleet->ops->start_agent(r->player.fleet, WISH_GARDENER, err));
        log_info(&r->log, "play");
        r->play_ms = loop_now_ms(r->loop);
        sim_fleet_trouble_webhooks(r->player.fleet, true);
        TRY(sim_page_begin(r->page, err));
        if (r->plan->joined)
                r->plan = r->plan->joined(r->plan->joined_ctx);
        TRY(moves_play(&r->player, r->plan->moves, r->plan->n_moves, err));
        TRY(go_on(r, err));
        TRY(settle(r, err));
        return stay_quiet(r, err);
}

static int open_page(struct run *r, struct error *err)
{
        struct sim_page_options o = { .fleet = r->player.fleet,
                                      .wish = &r->wish,
                                      .coverage = r->coverage,
                                      .log = &r->log,
                                      .seed = r->plan->seed };

        return sim_page_open(&o, &r->page, err);
}

/* Lists of many pages take as long as those of a large hub. */
static unsigned list_page_of(uint64_t seed)
{
        return moves_have_lists(seed) ? 1 + (unsigned)(seed % 3) : 0;
}

static int open_fleet(struct run *r, struct error *err)
{
        struct sim_fleet_options o = { .loop = r->loop,
                                       .log_sink = &r->sink,
                                       .members = r->plan->members,
                                       .hub_agents = r->plan->hub_agents,
                                       .faults = faults_table(r->faults),
                                       .changed = changed,
                                       .sent = sent,
                                       .ctx = r };
        struct watch_options w = { .wish = &r->wish, .coverage = r->coverage, .shards = r->plan->shards };

        static const char *const member_flags[] = {
                "--property-config-map=" WISH_TOLD_NAMESPACE "/" WISH_TOLD_MAP, "--property-provider=azure",
                "--region=play", "--price-table=" WISH_TOLD_NAMESPACE "/" WISH_TOLD_PRICES, NULL
        };

        TRY(sim_fleet_open(&o, &r->player.fleet, err));
        r->player.fleet->member_flags = member_flags;
        r->player.fleet->shards = r->plan->shards;
        r->player.fleet->list_page = list_page_of(r->plan->seed);
        r->player.fleet->webhooks = r->plan->seed % 2;
        r->player.fleet->guard_policies = r->plan->seed / 2 % 2;
        r->player.fleet->rule_policies = r->plan->seed % 4 == 0;
        r->player.fleet->resource_sets = moves_have_tables(r->plan->seed);
        r->player.fleet->sources = moves_have_charts(r->plan->seed);
        TRY(sim_sources_open(r->player.fleet, &r->wish.desk, err));
        TRY(sim_charts_open(r->player.fleet, &r->wish.shelf, err));
        if (moves_have_garden(r->plan->seed))
                TRY(sim_git_open(r->player.fleet, &r->wish.garden, &r->player.git, err));
        if (sim_page_is_played(r->plan->seed) && !r->plan->no_page)
                TRY(open_page(r, err));
        w.fleet = r->player.fleet;
        r->watch = watch_new(&w);
        return r->watch ? 0 : error_no_memory(err);
}

static void run_fiber(void *ctx)
{
        struct run *r = ctx;
        struct error *err = &r->result->err;
        struct faults_options f = { .loop = r->loop,
                                    .log = &r->log,
                                    .coverage = r->coverage,
                                    .seed = r->plan->seed,
                                    .only = r->plan->faults,
                                    .n_only = r->plan->n_faults };

        r->faults = faults_new(&f);
        if (!r->faults) {
                error_no_memory(err);
                return;
        }
        if ((open_fleet(r, err) == 0 && play(r, err) == 0) || r->enough)
                error_clear(err); /* of what was not yet as it should be */
        if (err->code && r->play_ms)
                r->result->failed_ms = loop_now_ms(r->loop) - r->play_ms;
        r->page = sim_page_close(r->page);
        if (r->player.fleet)
                r->player.fleet->ops->close(r->player.fleet);
        r->player.git = sim_git_close(r->player.git);
        if (err->code == 0)
                watch_verdict(r->watch, err);
}

/* ---- around it ---- */

static int keep_faults(struct run *r)
{
        size_t n = 0;
        const struct fault *happened = r->faults ? faults_happened(r->faults, &n) : NULL;

        r->result->faults = mem_calloc(n + 1, sizeof(uint64_t));
        if (!r->result->faults)
                return error_no_memory(&r->result->err);
        for (size_t i = 0; i < n; i++)
                r->result->faults[i] = happened[i].key;
        r->result->n_faults = n;
        return 0;
}

static void begin(struct run *r)
{
        r->sink = (struct log_sink){ .write = write_trace,
                                     .wall_ms = trace_wall,
                                     .ctx = r,
                                     .format = LOG_TEXT,
                                     .least = r->trace ? LOG_DEBUG : LOG_ERROR };
        r->log = (struct log){ .sink = &r->sink };
        r->wish.n_members = r->plan->members;
        for (unsigned i = 1; i <= r->plan->members; i++) {
                r->wish.members[i].membership = MEMBER_IN;
                r->wish.members[i].now.in = true;
        }
        r->player.wish = &r->wish;
        r->player.coverage = r->coverage;
        r->player.log = &r->log;
        r->player.go_on = go_on;
        r->player.ctx = r;
}

static int run_loop(struct run *r)
{
        struct fiber_group *group = fiber_group_new(r->loop, NULL, "run");
        int code;

        if (!group || !fiber_spawn(group, "run", run_fiber, r))
                return error_no_memory(&r->result->err);
        code = loop_run(r->loop, &r->result->err);
        r->result->virtual_ms = loop_now_ms(r->loop);
        if (code < 0)
                return code; /* fibers are parked for ever: the loop cannot be freed */
        if (keep_faults(r) < 0)
                return r->result->err.code;
        r->watch = watch_free(r->watch);
        r->faults = faults_free(r->faults);
        fiber_group_end(group);
        loop_free(r->loop);
        wish_clear(&r->wish);
        return r->result->err.code;
}

int run_play(const struct run_plan *p, FILE *trace, struct coverage *coverage, struct run_result *ret)
{
        size_t live = mem_live_count() - coverage_allocations(coverage), more;
        struct run *r = NEW(struct run); /* too big for a stack */
        int code;

        *ret = (struct run_result){ 0 };
        if (!r)
                return error_no_memory(&ret->err);
        *r = (struct run){ .plan = p, .result = ret, .coverage = coverage, .trace = trace };
        r->loop = loop_new_simulated(p->seed, WALL_START_MS, &ret->err);
        if (!r->loop)
                return ret->err.code;
        begin(r);
        code = run_loop(r);
        ret->n_moves = r->player.n_moves;
        ret->n_begun = r->player.n_begun;
        mem_free(r);
        /* What is left beside the list of faults was forgotten by somebody. */
        more = mem_live_count() - coverage_allocations(coverage) - live - 1;
        if (code == 0 && more > 0)
                code = error_set(&ret->err, ERR_INTERNAL,
                                 "memory: %zu allocations live after the fleet has ended", more);
        return code;
}

void run_result_clear(struct run_result *r)
{
        mem_free(r->faults);
        *r = (struct run_result){ 0 };
}

void run_plan_draw(struct run_plan *p)
{
        struct dice dice = { p->seed ^ 0x7368617065u };
        unsigned few = 1 + (unsigned)dice_below(&dice, 5), many = 6 + (unsigned)dice_below(&dice, 15);
        bool is_large = dice_percent(&dice, 6) && !moves_have_garden(p->seed), two = dice_percent(&dice, 50);

        if (p->members == 0)
                p->members = is_large ? many : few;
        if (p->seed >= SHARDED_SEEDS && !moves_have_lists(p->seed) && p->shards == 0)
                p->shards = 2 + (unsigned)dice_below(&dice, 7);
        if (p->hub_agents == 0)
                p->hub_agents = p->shards ? 2 + dice_percent(&dice, 50) : two ? 2 : 1;
}
