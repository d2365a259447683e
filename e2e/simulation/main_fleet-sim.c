/* fleet-sim: seeded runs of a whole fleet under faults, on a virtual clock. */
#include <getopt.h>

#include "common/base/memory.h"
#include "e2e/simulation/play.h"
#include "e2e/simulation/sim_fleet.h"

#define WALL_START_MS 1767225600000 /* 2026-01-01T00:00:00Z */
#define SET_UP_MS 120000
#define SETTLE_MS 600000

static const char help[] =
        "fleet-sim plays users and accidents on a simulated fleet and checks what must hold.\n"
        "\n"
        "  fleet-sim [--seed N | --seeds A-B] [--members M] [--hub-agents H] [--minutes T] [--trace FILE]\n"
        "\n"
        "  --seed, --seeds  which runs (default 1); the same seed does the same, byte for byte\n"
        "  --members        member clusters (default by the seed, 1 to 20, mostly few)\n"
        "  --hub-agents     hub agents, of which one leads (default by the seed, 1 or 2)\n"
        "  --minutes        virtual minutes of play before the quiet (default 3)\n"
        "  --trace          writes everything the agents said, with virtual times\n";

struct run {
        uint64_t seed;
        unsigned members, hub_agents, minutes;
        struct loop *loop;
        FILE *trace;
        struct log_sink sink;
        struct error err;
        int code;
        unsigned actions;
        uint64_t faults, looks;
        struct budget *budget;
};

static void write_trace(void *ctx, const char *line, size_t n)
{
        struct run *r = ctx;

        if (r->trace)
                fwrite(line, 1, n, r->trace);
}

static int64_t trace_wall(void *ctx)
{
        struct run *r = ctx;

        return loop_wall_ms(r->loop);
}

static void work_written(void *ctx)
{
        struct run *r = ctx;

        if (r->budget)
                budget_look(r->budget);
}

static int play_on(struct run *r, struct fleet *f, struct faults *faults)
{
        struct play p = { .fleet = f, .faults = faults, .dice = { r->seed }, .budget = r->budget };
        int code = fleet_set_up(f, loop_now_ms(r->loop) + SET_UP_MS, &r->err);

        if (code == 0)
                code = play_prepare(&p, &r->err);
        if (code == 0)
                code = play_run(&p, r->minutes * 60000, &r->err);
        if (code == 0)
                code = play_settle(&p, SETTLE_MS, &r->err);
        r->actions = p.actions;
        r->faults = faults->injected;
        play_clear(&p);
        return code;
}

static void run_fiber(void *ctx)
{
        struct run *r = ctx;
        struct faults faults;
        struct sim_fleet_options o = { .loop = r->loop,
                                       .log_sink = &r->sink,
                                       .members = r->members,
                                       .hub_agents = r->hub_agents,
                                       .faults = &faults.table,
                                       .work_written = work_written,
                                       .ctx = r };
        struct fiber_group *watching = fiber_group_new(r->loop, NULL, "budget");
        struct fleet *f;

        faults_init(&faults, r->seed);
        r->code = sim_fleet_open(&o, &f, &r->err);
        if (r->code < 0)
                return;
        r->budget = watching ? budget_new(f, watching) : NULL;
        r->code = r->budget ? play_on(r, f, &faults) : error_no_memory(&r->err);
        fiber_group_end(watching);
        r->looks = r->budget ? budget_looks(r->budget) : 0;
        r->budget = budget_free(r->budget);
        f->ops->close(f);
}

/* What the command line left open: a fleet of the seed's own size. */
static void draw_shape(struct run *r)
{
        struct dice dice = { r->seed ^ 0x7368617065u };
        unsigned few = 1 + (unsigned)dice_below(&dice, 5), many = 6 + (unsigned)dice_below(&dice, 15);
        bool is_large = dice_percent(&dice, 8), two = dice_percent(&dice, 35);

        if (r->members == 0)
                r->members = is_large ? many : few;
        if (r->hub_agents == 0)
                r->hub_agents = two ? 2 : 1;
}

/* One seed. The verdict goes to standard output, the trace to its file. */
static int run_seed(struct run *r)
{
        struct fiber_group *group;
        int code;

        error_clear(&r->err);
        draw_shape(r);
        r->sink = (struct log_sink){ .write = write_trace,
                                     .wall_ms = trace_wall,
                                     .ctx = r,
                                     .format = LOG_TEXT,
                                     .least = r->trace ? LOG_DEBUG : LOG_ERROR };
        r->loop = loop_new_simulated(r->seed, WALL_START_MS, &r->err);
        if (!r->loop)
                return ERR_NO_MEMORY;
        group = fiber_group_new(r->loop, NULL, "run");
        if (!group || !fiber_spawn(group, "run", run_fiber, r))
                return ERR_NO_MEMORY;
        code = loop_run(r->loop, &r->err);
        printf("%s seed %llu: %u members, %u hub agents, %u actions, %llu faults, %llu looks at budgets, "
               "%lld virtual s%s%s\n",
               code < 0 || r->code < 0 ? "FAILED" : "ok", (unsigned long long)r->seed, r->members,
               r->hub_agents, r->actions, (unsigned long long)r->faults, (unsigned long long)r->looks,
               (long long)loop_now_ms(r->loop) / 1000, code < 0 || r->code < 0 ? ": " : "",
               code < 0 || r->code < 0 ? r->err.text : "");
        fflush(stdout);
        if (code < 0)
                return code; /* fibers are parked for ever: the loop cannot be freed */
        fiber_group_end(group);
        loop_free(r->loop);
        return r->code;
}

static bool parse_seeds(const char *text, uint64_t *first, uint64_t *last)
{
        struct slice rest = slice_of(text), head;
        int64_t a, b;

        if (!slice_cut(&rest, '-', &head))
                rest = head;
        if (!slice_parse_i64(head, &a) || !slice_parse_i64(rest, &b) || a < 0 || b < a)
                return false;
        *first = (uint64_t)a;
        *last = (uint64_t)b;
        return true;
}

int main(int argc, char **argv)
{
        static const struct option longs[] = { { "seed", 1, NULL, 's' },    { "seeds", 1, NULL, 's' },
                                               { "members", 1, NULL, 'm' }, { "hub-agents", 1, NULL, 'a' },
                                               { "minutes", 1, NULL, 't' }, { "trace", 1, NULL, 'f' },
                                               { "help", 0, NULL, 'h' },    { 0 } };
        uint64_t first = 1, last = 1, members = 0, hub_agents = 0, minutes = 3;
        unsigned passed = 0, failed = 0;
        FILE *trace = NULL;
        bool bad = false;
        int c;

        mem_hook_libraries();
        while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
                if (c == 'h') {
                        fputs(help, stdout);
                        return 0;
                }
                bad |= c == '?' || (c == 's' && !parse_seeds(optarg, &first, &last)) ||
                       (c == 'm' &&
                        (!text_parse_u64(optarg, &members) || members < 1 || members > PLAY_MEMBERS)) ||
                       (c == 'a' &&
                        (!text_parse_u64(optarg, &hub_agents) || hub_agents < 1 || hub_agents > 3)) ||
                       (c == 't' && (!text_parse_u64(optarg, &minutes) || minutes > 10000)) ||
                       (c == 'f' && !(trace = fopen(optarg, "we")));
        }
        if (bad || optind < argc) {
                fputs(help, stderr);
                return 2;
        }
        for (uint64_t seed = first; seed <= last; seed++) {
                struct run r = { .seed = seed,
                                 .members = (unsigned)members,
                                 .hub_agents = (unsigned)hub_agents,
                                 .minutes = (unsigned)minutes,
                                 .trace = trace };
                bool ok = run_seed(&r) == 0;

                passed += ok;
                failed += !ok;
                if (!ok)
                        printf("  replay: fleet-sim --seed %llu --members %u --hub-agents %u --minutes %u "
                               "--trace trace.txt\n",
                               (unsigned long long)seed, r.members, r.hub_agents, r.minutes);
        }
        if (trace)
                fclose(trace);
        printf("%u passed, %u failed\n", passed, failed);
        return failed > 0;
}
