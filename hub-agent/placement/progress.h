/* The metric that says how far each placement has come:
 * fleet_workload_placement_status_last_timestamp_seconds. spec/placement.md 14. A placement has one series at
 * a time, that of its present state. */
#pragma once

#include "hub-agent/agent.h"

struct progress_point { /* the labels that change while a placement lives */
        char generation[24], condition[96], status[16], reason[128];
};
/* The first condition on the way that is not True for this generation, or Completed. Pure. */
struct progress_point progress_of(const struct placement *p);

struct progress_series;                            /* those that placements have now */
struct progress_series *progress_series_new(void); /* NULL on no memory */
struct progress_series *progress_series_free(struct progress_series *s);
void progress_show(struct hub_agent *a, const struct placement *p, int64_t now_ms);
void progress_keep_if(struct hub_agent *a, bool (*keep)(void *ctx, const char *key), void *ctx);
void progress_forget(struct hub_agent *a, const char *key); /* of a placement that goes or is gone */
