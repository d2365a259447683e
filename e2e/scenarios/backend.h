/* The two kinds of fleet a scenario runs on. Each function runs one scenario on a fresh fleet, in a loop of
 * its own. */
#pragma once

#include "e2e/scenarios/scenario.h"

struct scenario_report {
        int64_t took_ms; /* of the fleet's clock, set-up included */
        struct buf log;  /* what the agents said; init by the caller */
};

int scenario_run_simulated(const struct scenario *s, uint64_t seed, struct scenario_report *report,
                           struct error *err);
/* programs: folder with devcluster, hub-agent and member-agent; scratch: an empty folder for files. */
int scenario_run_processes(const struct scenario *s, const char *programs, const char *scratch,
                           struct scenario_report *report, struct error *err);
