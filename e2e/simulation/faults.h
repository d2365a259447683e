/* What goes wrong on the agents' network while `on`: delays, lost requests, lost answers, duplicates,
 * refusals with 409/410/429/500/503, cut watches, silence (nobody says that a request is lost), watches that
 * stall. Rates are in tenths of a percent. */
#pragma once

#include "common/net/http_server.h"
#include "e2e/simulation/random.h"

struct faults {
        struct dice dice;
        bool on;
        unsigned lost, lost_answer, duplicate, status, cut, silent, stall, gone; /* per mille */
        int64_t max_delay_ms;
        uint64_t injected;            /* how many so far */
        struct loopback_faults table; /* hand this to the fleet */
};

void faults_init(struct faults *f, uint64_t seed);
