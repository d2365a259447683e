/* The hub agent as a library: one call runs it inside a fiber until it is cancelled. Any number of them can
 * live in one process (the simulation does that). */
#pragma once

#include "common/base/flags.h"
#include "common/ctrl/metrics.h"
#include "common/kube/client.h"
#include "common/net/http_server.h"

struct admission_policies; /* hub-agent/webhook/policies.h */
struct webhook_options;    /* hub-agent/webhook/serving.h */
struct source_options;     /* hub-agent/source/options.h */

/* How ResourceSets and their providers are worked on. */
struct resource_set_pace {
        unsigned concurrency; /* sets at once, those that wait for health among them */
        unsigned jitter_percent;
        int64_t retry_least_ms, retry_most_ms;
};

struct hub_agent_options {
        struct world *world;
        const struct log *log;
        const struct http_endpoint *hub; /* API server of the hub */
        const char *identity;            /* leader election; NULL = random */
        const char *lease_namespace;     /* NULL = "fleet-system" */
        bool leader_election;
        unsigned shards; /* replicas share placements out in so many parts; 0 = one leads. With an election */
        const char *bind;              /* metrics and health; NULL = no server */
        int metrics_port, health_port; /* -1 = none, 0 = any */
        /* Who answers probes, for a network without ports; handle NULL = no longer. NULL = nobody is told. */
        void (*probed)(void *ctx, http_handler_fn handle, void *handle_ctx);
        void *probed_ctx;
        int64_t heartbeat_grace_ms; /* member counted unhealthy after that silence; 0 = default of the spec */
        const char *skipped_namespaces; /* comma separated, may be NULL */
        const char *skipped_resources;  /* "group/version/Kind;...", may be NULL */
        const char *allowed_resources;  /* the same; nothing else may be placed then; may be NULL */
        bool enable_workload;           /* pods run on the hub: claims are never placed */
        bool networking_agents;         /* members have two agents more, and rights for them */
        bool without_inventory;         /* no ClusterProfiles are written, and their kind need not be there */
        bool without_evictions;         /* evictions are left alone, and their kinds need not be there */
        bool without_report_back;       /* what members report of statuses stays in the Works */
        bool without_staged_runs;       /* so are update runs */
        bool resource_sets; /* ResourceSets and their providers are worked on, once their kinds are there */
        bool local_input_providers;          /* providers may ask addresses that address_guard.h refuses */
        const char *default_service_account; /* of ResourceSets that name none, in their namespace; or NULL */
        /* "NAMESPACE/NAME": as whom sets act for whom the two say nothing; NULL = by the agent's own rights
         */
        const char *resource_set_account;
        const char *watch_configs; /* label selector of ConfigMaps and Secrets that wake who copies them;
                                      NULL = the spec's default */
        const struct flag_strings *override_managers; /* whose fields generated objects are rid of; or NULL */
        int64_t requeue_dependency_ms;                /* 0 = the spec's default */
        const struct resource_set_pace *resource_set_pace; /* NULL = the defaults of hub-agent/flags.h */
        const struct source_options *sources; /* NULL = charts and their sources are left alone */
        bool no_external_snapshots; /* of placements that update runs roll out, only the runs make some */
        /* The admission policies that the agent keeps on the hub; NULL = those it made before are removed. */
        const struct admission_policies *admission_policies;
        /* NULL = no webhooks are served, and configurations that lead to some are removed. */
        const struct webhook_options *webhooks;
        int64_t force_delete_wait_ms; /* of members that do not answer; 0 = the spec's default */
        int64_t lease_duration_ms, renew_deadline_ms, retry_period_ms; /* 0 = the spec's defaults */
        int64_t resource_snapshot_min_interval_ms;                     /* -1 = the spec's default */
        int64_t resource_change_collect_ms;                            /* -1 = the spec's default */
        unsigned list_page;      /* objects that a page of a list has at most; 0 = as usual */
        struct metrics *metrics; /* NULL = own */
};

/* Runs until the calling fiber is cancelled (ERR_CANCELLED: clean end, lease released) or it cannot go on. */
int hub_agent_run(const struct hub_agent_options *o, struct error *err);
/* The CustomResourceDefinitions a hub needs, as JSON; NULL behind the last. */
const char *hub_agent_crd(size_t i);
const char *hub_agent_member_crd(size_t i); /* those a member needs */
