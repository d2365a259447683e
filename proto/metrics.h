/* Every metric of the agents, in one table: name, labels, buckets, who exports it and what it says. A
 * registry (common/ctrl/metrics.h) is made from it and holds nothing else, and `make generate` writes
 * docs/metrics.md from it. Names, labels and buckets: spec/membership-webhooks-charts.md 8, spec/placement.md
 * 14, spec/scheduler.md 15, spec/staged-update-and-eviction.md 11 and 14.2, spec/member-agent.md 2.18; those
 * of the controller frame are what dashboards for controllers read. */
#pragma once

#include "common/base/base.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* Both agents; what they both have the manifest-generator has too. */
enum metric_of { METRIC_OF_HUB = 1, METRIC_OF_MEMBER = 2, METRIC_OF_BOTH = 3, METRIC_OF_GENERATOR = 4 };

struct metric_family {
        const char *name;
        enum metric_type type;
        enum metric_of of;
        const char *const *labels; /* NULL behind the last; NULL = none */
        const double *buckets;     /* of a histogram: upper bounds, ascending */
        size_t n_buckets;
        const char *help; /* one sentence */
};

enum metric_id {
        METRIC_JOINS,
        METRIC_LEAVES,
        METRIC_PLACEMENT_STATUS,
        METRIC_EVICTION,
        METRIC_RUN_STATUS,
        METRIC_RESOURCE_SET,
        METRIC_INPUT_PROVIDER,
        METRIC_SOURCE_SECONDS,
        METRIC_INDEX_CACHE,
        METRIC_RUN_APPROVALS,
        METRIC_RUN_STAGES,
        METRIC_SCHEDULING_CYCLES,
        METRIC_SCHEDULING_WORKERS,
        METRIC_WORKLOAD_RECONCILES,
        METRIC_WORKLOAD_ERRORS,
        METRIC_WORKLOAD_SECONDS,
        METRIC_WORKLOAD_LIMIT,
        METRIC_WORKLOAD_ACTIVE,
        METRIC_APPLY_SECONDS,
        METRIC_WORKS,
        METRIC_MANIFESTS,
        METRIC_SYNC_SECONDS,
        METRIC_SYNC_MANIFESTS,
        METRIC_JOB_SECONDS,
        METRIC_JOB_WAITED,
        METRIC_JOBS_WAITING,
        METRIC_GIT_READY,

        METRIC_RECONCILES,
        METRIC_RECONCILE_ERRORS,
        METRIC_RECONCILE_SECONDS,
        METRIC_RECONCILE_LIMIT,
        METRIC_RECONCILE_ACTIVE,
        METRIC_QUEUE_DEPTH,
        METRIC_QUEUE_ADDS,
        METRIC_QUEUE_RETRIES,
        METRIC_QUEUE_WAITED,
        METRIC_QUEUE_WORKED,
        METRIC_QUEUE_UNFINISHED,
        METRIC_QUEUE_LONGEST,
        METRIC_REST_REQUESTS,
        METRIC_LEADER,
        METRIC_SHARDS_HELD,
        METRIC_SHARD_TAKEOVERS,
        METRIC_SHARD_UNOWNED_SECONDS,
        METRIC_WEBHOOK_REQUESTS,
        METRIC_WEBHOOK_SECONDS,
        METRIC_WEBHOOK_UNDER_WAY,
        METRIC_CERTIFICATE_READS,
        METRIC_CERTIFICATE_ERRORS,

        METRIC_CPU_SECONDS,
        METRIC_RESIDENT_BYTES,
        METRIC_VIRTUAL_BYTES,
        METRIC_OPEN_FILES,
        METRIC_MOST_FILES,
        METRIC_START_SECONDS,

        METRIC_FAILURES,
        METRIC_API_REQUESTS,
        METRIC_API_SECONDS,
        METRIC_UNDECODABLE,
        METRIC_CONNECTION_GOOD,
        METRIC_CONNECTION_TROUBLE,
        METRIC_MEMBER_HEARD,
        METRIC_MEMBERS_HEARD_LATE,
        METRIC_TOKEN_EXPIRY,
        METRIC_TOKEN_RENEWAL,
        METRIC_PROPERTY_COLLECTIONS,
        METRIC_PROPERTIES,
        METRIC_STATE_GOOD,
        METRIC_SETS,
        METRIC_SET_OBJECTS,
        METRIC_SET_CORRECTIONS,
        METRIC_SET_ROLLOUT_SECONDS,
        METRIC_SERIES_DROPPED,
        N_METRICS
};
extern const struct metric_family metric_families[N_METRICS];

/* Results of a reconcile: values of the label of METRIC_RECONCILES and METRIC_WORKLOAD_RECONCILES. */
enum reconcile_result { RESULT_SUCCESS, RESULT_ERROR, RESULT_REQUEUE_AFTER, RESULT_REQUEUE, N_RESULTS };
extern const char *const reconcile_results[N_RESULTS];
