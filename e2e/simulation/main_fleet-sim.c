/* fleet-sim: seeded runs of a whole fleet under faults, on a virtual clock. */
#include <getopt.h>
#include <mimalloc.h>

#include "common/base/memory.h"
#include "e2e/simulation/day.h"
#include "e2e/simulation/moves.h"
#include "e2e/simulation/run.h"
#include "e2e/simulation/shrink.h"
#include "e2e/simulation/sim_page.h"

#define SHRINK_TRIES 400

#pragma weak mi_option_set

static const char help[] =
        "fleet-sim plays users and accidents on a simulated fleet and checks what must hold.\n"
        "\n"
        "  fleet-sim [--seed N | --seeds A-B] [--members M] [--hub-agents H] [--minutes T] [--trace FILE]\n"
        "            [--coverage FILE] [--without-page]\n"
        "  fleet-sim --seed N --members 21..1000 [--minutes T] [--heartbeat S] [--trace FILE]\n"
        "  fleet-sim --seed N --shrink [--trace FILE]\n"
        "  fleet-sim --report SEEDS FILE...\n"
        "\n"
        "  --seed, --seeds  which runs (default 1); the same seed does the same, byte for byte\n"
        "  --members        member clusters (default by the seed, 1 to 20, mostly few); of more than 20 a "
        "day of\n"
        "                   a large fleet is played, which is another game\n"
        "  --heartbeat      seconds between heartbeats of a large fleet's members (default 60)\n"
        "  --hub-agents     hub agents, of which one leads (default by the seed, 1 or 2)\n"
        "  --shards         in so many parts hub agents share the placements (default by the seed: none, or "
        "2 to\n"
        "                   8 from seed 7000000 on, none again from 8000000 on)\n"
        "  --minutes        virtual minutes of play before the peace (default 3; 0: only of a large fleet)\n"
        "  --trace          writes what users did, what went wrong and what the agents said, with virtual "
        "times\n"
        "  --coverage       writes what was played and hit\n"
        "  --without-page   leaves the live page out where it would be played: what it costs\n"
        "  --shrink         looks for few moves and faults that still fail\n"
        "  --report         adds up such files of a run of SEEDS seeds, prints them, and fails if\n"
        "                   something was never played or hit\n";

struct options {
        uint64_t first, last, members, hub_agents, shards, minutes, report, heartbeat;
        const char *coverage;
        FILE *trace;
        bool shrink, no_page;
};

/* One seed. The verdict goes to standard output, the trace to its file. */
static bool run_seed(const struct options *o, uint64_t seed, struct coverage *coverage, struct error *err)
{
        struct run_plan plan = { .seed = seed,
                                 .members = (unsigned)o->members,
                                 .hub_agents = (unsigned)o->hub_agents,
                                 .shards = (unsigned)o->shards,
                                 .minutes = (unsigned)o->minutes,
                                 .no_page = o->no_page };
        struct run_result result;
        bool ok;

        run_plan_draw(&plan);
        AUTO_FREE struct move *moves =
                mem_must(moves_draw(seed, plan.minutes * 60000, plan.members, &plan.n_moves));
        plan.moves = moves;
        if (o->shrink)
                return shrink(&plan, SHRINK_TRIES, o->trace, err) == 0;
        ok = run_play(&plan, o->trace, coverage, &result) == 0;
        printf("%s seed %llu: %u members, %u hub agents, %u moves, %zu faults, settled in %lld.%lld s, %lld "
               "virtual "
               "s%s%s\n",
               ok ? "ok" : "FAILED", (unsigned long long)seed, plan.members, plan.hub_agents, result.n_moves,
               result.n_faults, (long long)result.settled_ms / 1000, (long long)result.settled_ms / 100 % 10,
               (long long)result.virtual_ms / 1000, ok ? "" : ": ", ok ? "" : result.err.text);
        if (!ok)
                printf("  replay: fleet-sim --seed %llu --members %u --hub-agents %u --minutes %u --trace "
                       "trace.txt\n",
                       (unsigned long long)seed, plan.members, plan.hub_agents, plan.minutes);
        fflush(stdout);
        run_result_clear(&result);
        return ok;
}

/* The same of a large fleet. */
static bool run_day(const struct options *o, uint64_t seed)
{
        struct day_plan plan = { .seed = seed,
                                 .members = (unsigned)o->members,
                                 .hub_agents = o->hub_agents ? (unsigned)o->hub_agents : 2,
                                 .minutes = (unsigned)o->minutes,
                                 .heartbeat_s = (unsigned)o->heartbeat };
        struct day_result r;
        bool ok = day_play(&plan, o->trace, &r) == 0;

        printf("%s day of seed %llu: %u members, %u minutes, %u moves, %zu faults, %u quiet moments, settled "
               "in "
               "%lld s at most, %llu writes, %llu heartbeats, %u silences, %lld virtual s%s%s\n",
               ok ? "ok" : "FAILED", (unsigned long long)seed, plan.members, plan.minutes, r.moves, r.faults,
               r.quiet_moments, (long long)r.slowest_ms / 1000, (unsigned long long)r.writes,
               (unsigned long long)r.heartbeats, r.silences, (long long)r.virtual_ms / 1000, ok ? "" : ": ",
               ok ? "" : r.err.text);
        fflush(stdout);
        return ok;
}

static bool is_large(const struct options *o)
{
        return o->members > WISH_MEMBERS;
}

static int run_seeds(const struct options *o, struct coverage *coverage)
{
        unsigned passed = 0, failed = 0;
        struct error err;

        error_clear(&err);
        for (uint64_t seed = o->first; seed <= o->last; seed++)
                if (is_large(o) ? run_day(o, seed) : run_seed(o, seed, coverage, &err))
                        passed++;
                else
                        failed++;
        if (o->coverage && coverage_write(coverage, o->coverage, &err) < 0)
                failed++;
        if (err.code)
                fprintf(stderr, "%s\n", err.text);
        if (!o->shrink)
                printf("%u passed, %u failed\n", passed, failed);
        return failed > 0;
}

static int report(const struct options *o, char **files, int n, struct coverage *coverage)
{
        struct error err;

        for (int i = 0; i < n; i++)
                if (coverage_merge(coverage, files[i], &err) < 0) {
                        fprintf(stderr, "%s\n", err.text);
                        return 2;
                }
        if (o->report >= MOVES_SEEDS)
                moves_expect(coverage);
        if (o->report >= COVERAGE_SEEDS)
                sim_page_expect(coverage);
        return coverage_report(coverage, (unsigned)o->report, stdout) > 0;
}

/* ---- the command line ---- */

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

static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
        return text_parse_u64(text, ret) && *ret >= least && *ret <= most;
}

static bool parse_option(struct options *o, int c)
{
        switch (c) {
        case 's':
                return parse_seeds(optarg, &o->first, &o->last);
        case 'm':
                return parse_number(optarg, 1, DAY_MEMBERS, &o->members);
        case 'a':
                return parse_number(optarg, 1, 3, &o->hub_agents);
        case 'd':
                return parse_number(optarg, 2, 64, &o->shards);
        case 't':
                return parse_number(optarg, 0, 10000, &o->minutes);
        case 'b':
                return parse_number(optarg, 1, 600, &o->heartbeat);
        case 'r':
                return parse_number(optarg, 1, UINT32_MAX, &o->report);
        case 'f':
                return (o->trace = fopen(optarg, "we")) != NULL;
        case 'c':
                o->coverage = optarg;
                return true;
        case 'p':
                o->no_page = true;
                return true;
        case 'k':
                o->shrink = true;
                return true;
        default:
                return false;
        }
}

/* Of a thousand members there is a gigabyte of small blocks, each of which is met about once a minute: in
 * pages of 2 MiB that takes a tenth less CPU time. Nothing without this allocator, as under sanitizers. */
static void use_large_pages(void)
{
        if (!mi_option_set)
                return;
        mi_option_set(mi_option_large_os_pages, 1);
        mi_option_set(mi_option_allow_decommit, 0); /* else they are taken apart again */
}

int main(int argc, char **argv)
{
        static const struct option longs[] = {
                { "seed", 1, NULL, 's' },         { "seeds", 1, NULL, 's' },
                { "members", 1, NULL, 'm' },      { "hub-agents", 1, NULL, 'a' },
                { "shards", 1, NULL, 'd' },       { "minutes", 1, NULL, 't' },
                { "heartbeat", 1, NULL, 'b' },    { "trace", 1, NULL, 'f' },
                { "coverage", 1, NULL, 'c' },     { "shrink", 0, NULL, 'k' },
                { "without-page", 0, NULL, 'p' }, { "report", 1, NULL, 'r' },
                { "help", 0, NULL, 'h' },         { 0 }
        };
        struct options o = { .first = 1, .last = 1, .minutes = 3 };
        struct coverage *coverage;
        int c, code;

        mem_hook_libraries();
        while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
                if (c == 'h') {
                        fputs(help, stdout);
                        return 0;
                }
                if (!parse_option(&o, c)) {
                        fputs(help, stderr);
                        return 2;
                }
        }
        if ((optind < argc) != (o.report > 0) || (o.shrink && o.first != o.last) ||
            (is_large(&o) && (o.shrink || o.coverage))) {
                fputs(help, stderr);
                return 2;
        }
        if (o.minutes == 0 && !is_large(&o) && !o.report) {
                fprintf(stderr,
                        "fleet-sim: --minutes: a fleet of up to %d members plays one minute at least\n",
                        WISH_MEMBERS);
                return 2;
        }
        if (is_large(&o))
                use_large_pages();
        coverage = mem_must(coverage_new());
        code = o.report ? report(&o, argv + optind, argc - optind, coverage) : run_seeds(&o, coverage);
        if (o.trace)
                fclose(o.trace);
        coverage_free(coverage);
        return code;
}
