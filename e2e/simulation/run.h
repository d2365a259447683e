/* One seeded run: users, accidents and lost messages on a simulated fleet for some virtual minutes, then
 * peace, in which everything has to come out as the users asked (model.h) and every rule has to hold
 * (watch.h).
 *
 * What a run does is decided by its plan and nothing else: the same plan does the same, byte for byte. */
#pragma once

#include <stdio.h>

#include "e2e/simulation/coverage.h"
#include "e2e/simulation/faults.h"
#include "e2e/simulation/moves.h"

struct run_plan {
        uint64_t seed;
        unsigned members, hub_agents,
                minutes;          /* run_plan_draw() fills in members and hub agents that are 0 */
        unsigned shards;          /* 0 = as the seed draws: of those from SHARDED_SEEDS on they have some */
        const struct move *moves; /* borrowed */
        size_t n_moves;
        const uint64_t *faults; /* keys of the message faults that happen; NULL = as the seed draws */
        size_t n_faults;
        int64_t patience_ms; /* from the beginning of the play on: what has not failed by then passes; 0 =
                                played to its end */
        bool no_page;        /* the live page is not played where it would be: to measure what it costs */
        /* Asked when the members have joined, which moves have no part in: whose moves are played from there
         * on. What the rest of it says has to be the same. NULL = its own. */
        const struct run_plan *(*joined)(void *ctx);
        void *joined_ctx;
};

struct run_result {
        struct error err;  /* code 0: all is well */
        int64_t failed_ms; /* when, from the beginning of the play; before that 0 */
        unsigned n_moves;  /* that had an effect */
        size_t n_begun;    /* of plan->moves, when it failed or they ended */
        uint64_t n_requests;
        int64_t virtual_ms, settled_ms; /* settled: from the end of the accidents */
        uint64_t *faults;               /* keys of those that happened, in order */
        size_t n_faults;
};

/* A fleet of the seed's own size. */
void run_plan_draw(struct run_plan *p);
/* Lines of the agents, moves and faults go to `trace` (NULL = nowhere), counts to `coverage`. Returns the
 * result's code. After a failure memory may stay behind: end the process soon. */
int run_play(const struct run_plan *p, FILE *trace, struct coverage *coverage, struct run_result *ret);
void run_result_clear(struct run_result *r);
