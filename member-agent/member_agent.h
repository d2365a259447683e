/* The member agent as a library: one call runs it inside a fiber until it is cancelled. Any number of them
 * can live in one process. */
#pragma once

#include "common/ctrl/metrics.h"
#include "common/kube/client.h"
#include "member-agent/apply/limiter.h"
#include "member-agent/properties/settings.h"

/* A further address that serves metrics and health. */
struct listen_address {
        const char *host;
        int port; /* -1 = none, 0 = any */
};

struct member_agent_options {
        struct world *world;
        const struct log *log;
        const char *member_name;         /* MemberCluster name; namespace on the hub is fleet-member-NAME */
        const struct http_endpoint *hub; /* API server of the hub, with this member's credential */
        const struct http_endpoint *member; /* API server of the own cluster */
        const char *state_path;             /* SQLite file; ":memory:" allowed */
        const char *bind;
        int metrics_port, health_port; /* -1 = none, 0 = any */
        struct metrics *metrics;       /* NULL = own */

        /* The rest may be zero. */
        struct http_transport *hub_transport; /* NULL = the world's; for extra headers towards the hub */
        const char *lease_namespace;          /* leases live on the member cluster; NULL = no election */
        const char *identity;                 /* of the lease holder; NULL = random */
        int64_t lease_duration_ms, renew_deadline_ms, retry_period_ms; /* 0 = 15 s, 10 s, 2 s */
        const struct limiter_options *limits;                          /* NULL = limiter_defaults */
        int64_t deletion_wait_ms;                                      /* 0 = 5 minutes */
        const char
                *hub_token_file; /* renewed before it ends and stored here; NULL = somebody else's business */
        const char *hub_token_secret_ns,
                *hub_token_secret; /* and in this Secret of the own cluster; NULL = none */
        /* Called when this cluster's API server can be used and before anything is written there; an error
         * ends the agent. NULL = nothing to do. */
        int (*begin)(void *ctx, struct error *err);
        void *begin_ctx;
        /* Our own Pod, which events about the hub are about. NULL = "default", "member-agent", "". */
        const char *pod_namespace, *pod_name, *pod_uid;
        /* Service account of a Work's only namespace, as which its objects are read and written; NULL or "" =
         * the agent's own credential. */
        const char *namespace_account;
        struct property_settings properties;
        const struct listen_address *also; /* more addresses than bind with the two ports */
        size_t n_also;
};

/* Runs until the calling fiber is cancelled (ERR_CANCELLED: clean end, lease released) or it cannot go on. */
int member_agent_run(const struct member_agent_options *o, struct error *err);
