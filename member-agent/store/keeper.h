/* Looks after what a process cannot see while it works: a state file that was given up, which is tried again
 * after a pause that grows to a minute, and a last time at the end; and a clock that somebody set. Tells both
 * once, in the log; a gauge says whether the file is good. And gives memory back after a burst. */
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

struct keeper;

/* Works in a fiber of the group. Options are copied; the store outlives the keeper. ERR_NO_MEMORY. */
int keeper_start(struct loop *l, struct fiber_group *group, const struct keeper_options *o,
                 struct keeper **ret, struct error *err);

/* Once the group has ended and nobody writes to the store any more: what is in memory only would be lost with
 * the process, so the file is tried once more. NULL is ignored. */
struct keeper *keeper_end(struct keeper *k);
