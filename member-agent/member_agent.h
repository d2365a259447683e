/* The member agent as a library: one call runs it inside a fiber until it is cancelled. Any number of them can live
 * in one process. */
#pragma once

#include "common/ctrl/metrics.h"
#include "common/kube/client.h"

struct member_agent_options {
        struct world *world;
        const struct log *log;
        const char *member_name;            /* MemberCluster name; namespace on the hub is fleet-member-NAME */
        const struct http_endpoint *hub;    /* API server of the hub, with this member's credential */
        const struct http_endpoint *member; /* API server of the own cluster */
        const char *state_path;             /* SQLite file; ":memory:" allowed */
        const char *bind;
        int metrics_port, health_port; /* -1 = none, 0 = any */
        struct metrics *metrics;       /* NULL = own */
        const char *version;           /* shown in logs */
};

int member_agent_run(const struct member_agent_options *o, struct error *err);
