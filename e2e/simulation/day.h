/* A day of a large fleet: up to a thousand members on one hub, placements of several kinds, what users do to
 * them over hours, members that come, go and are away, faults of messages for some minutes of each part of
 * the day, and quiet moments in which everything has to be as the users asked. Written apart from run.h,
 * whose wish and model are of twenty members: this one's checks cost what changes.
 *
 * The same plan does the same, byte for byte. */
#pragma once

#include <stdio.h>

#include "e2e/simulation/coverage.h"

#define DAY_MEMBERS 1000

struct day_plan {
        uint64_t seed;
        unsigned members, hub_agents, minutes;
        unsigned heartbeat_s; /* of the members; 0 = 60 */
};

struct day_result {
        struct error err; /* code 0: all is well */
        unsigned moves, quiet_moments;
        size_t faults;
        unsigned silences;           /* told of members, each time */
        uint64_t writes, heartbeats; /* changes of stores; those of them that say that members live */
        int64_t slowest_ms;          /* from the end of the accidents until all was as asked */
        int64_t virtual_ms;
};

/* Lines of agents, moves and faults go to `trace` (NULL = nowhere). Returns the result's code. After a
 * failure memory may stay behind: end the process soon. */
int day_play(const struct day_plan *p, FILE *trace, struct day_result *ret);
