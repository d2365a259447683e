/* Looks after what a process cannot see while it works: a state file that was given up, which is tried again
 * every minute, and a clock that somebody set. Tells both once, in the log; a gauge says whether the file is
 * good. And gives memory back after a burst. */
#pragma once

#include "common/base/log.h"
#include "common/ctrl/metrics.h"
#include "common/loop/loop.h"
#include "member-agent/store/store.h"

struct keeper_options {
        struct store *store;
        const struct log *log;
        struct metrics *metrics;
        const char *path; /* as logs name it */
};

/* In a fiber of the group, which ends it; the store outlives that. Options are copied. ERR_NO_MEMORY. */
int keeper_start(struct loop *l, struct fiber_group *group, const struct keeper_options *o,
                 struct error *err);
