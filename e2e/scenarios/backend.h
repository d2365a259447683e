/* What a scenario runs on: the simulation, or real programs on devcluster or on real Kubernetes. Each
 * scenario gets a fresh fleet. */
#pragma once

#include "e2e/scenarios/scenario.h"

struct scenario_report {
        int64_t took_ms; /* of the fleet's clock, set-up included */
        struct buf log;  /* what the agents said; init by the caller */
};

int scenario_run_simulated(const struct scenario *s, uint64_t seed, struct scenario_report *report,
                           struct error *err);

/* Real programs. */
struct process_session;
struct process_session_options {
        const char *programs; /* folder with devcluster or kube-clusters, hub-agent and member-agent */
        const char *scratch;  /* folder for files of the session */
        const char *assets;   /* folder of real Kubernetes (e2e/kube/build); NULL = devcluster */
};
int process_session_open(const struct process_session_options *o, struct process_session **ret,
                         struct error *err);
struct process_session *process_session_close(struct process_session *s); /* NULL is fine */
/* scratch: an empty folder for the files of this scenario. */
int process_session_run(struct process_session *s, const struct scenario *scenario, const char *scratch,
                        struct scenario_report *report, struct error *err);
