/* Metrics of update runs: spec/staged-update-and-eviction.md 11. */
#pragma once

#include "common/base/vec.h"
#include "common/ctrl/metrics.h"
#include "hub-agent/staged-update/update_run.h"

/* The series that a run has; they stay until it is deleted. Zeroed, it has none. */
struct update_run_series {
        VEC(struct update_run_reading) shown; /* texts owned */
        bool has_stages, has_approvals[2];    /* before and after a stage */
};

void update_run_show(struct metrics *m, struct update_run_series *s, const struct update_run *run,
                     int64_t now_ms);
void update_run_measured(struct metrics *m, struct update_run_series *s, const struct update_run *run,
                         const struct update_run_plan *plan);
void update_run_series_remove(struct metrics *m, struct update_run_series *s, const char *ns,
                              const char *name);
void update_run_series_free(struct update_run_series *s);
