#include "proto/metrics.h"

#define LABELS(name, ...) static const char *const name[] = { __VA_ARGS__, NULL }
#define BUCKETS(name, ...) static const double name[] = { __VA_ARGS__ }
#define HISTOGRAM(bounds) .type = METRIC_HISTOGRAM, .buckets = (bounds), .n_buckets = ARRAY_LEN(bounds)

LABELS(result, "result");
LABELS(placement_labels, "namespace", "name", "generation", "conditionType", "status", "reason");
LABELS(eviction_labels, "name", "isCompleted", "isValid");
LABELS(resource_set_labels, "uid", "kind", "name", "exported_namespace", "ready", "reason", "suspended",
       "resources", "revision");
LABELS(input_provider_labels, "uid", "kind", "name", "exported_namespace", "ready", "reason", "suspended",
       "url");
LABELS(source_labels, "kind", "name", "namespace");
LABELS(cache_labels, "event_type", "name", "namespace");
LABELS(run_labels, "namespace", "name", "state", "condition", "status", "reason", "failureType");
LABELS(approval_labels, "namespace", "name", "taskType");
LABELS(stage_labels, "namespace", "name");
LABELS(cycle_labels, "is_failed", "needs_requeue");
LABELS(controller, "controller");
LABELS(controller_and_result, "controller", "result");
LABELS(controller_and_code, "controller", "code");
LABELS(name, "name");
LABELS(work_labels, "apply_status", "availability_status", "diff_reporting_status");
LABELS(manifest_labels, "apply_status", "availability_status", "diff_reporting_status",
       "drift_detection_status", "diff_detection_status");
LABELS(provider, "provider");
LABELS(provider_and_result, "provider", "result");
LABELS(queue_labels, "name", "controller");
LABELS(rest_labels, "code", "host", "method");
LABELS(webhook, "webhook");
LABELS(webhook_and_code, "webhook", "code");
LABELS(request_labels, "verb", "resource", "code");
LABELS(verb, "verb");
LABELS(resource, "resource");
LABELS(server, "server");
LABELS(server_and_reason, "server", "reason");
LABELS(state_and_reason, "state", "reason");
LABELS(success, "success");

BUCKETS(approval_s, 60, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400);
BUCKETS(stage_s, 15, 30, 60, 120, 300, 600, 1800, 3600);
BUCKETS(cycle_ms, 10, 50, 100, 500, 1000, 5000, 10000, 50000);
BUCKETS(reconcile_s, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8,
        0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60);
BUCKETS(apply_s, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5,
        3, 3.5, 4, 4.5, 5, 7, 9, 10, 15, 20, 30, 60, 120);
BUCKETS(queue_s, 1e-08, 1e-07, 1e-06, 1e-05, 0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1000);
BUCKETS(review_s, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10);
BUCKETS(rollout_s, 1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200);
/* Ten from 10 ms to half an hour, each the same multiple of the one before. */
BUCKETS(source_s, 0.01, 0.038363583488692544, 0.14717645380938829, 0.56462161732861693, 2.1660908555907006,
        8.309900738254731, 31.87975707547831, 122.3021722164349, 469.19495946736532, 1800);
BUCKETS(request_s, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60);
BUCKETS(sync_s, 0.5, 5, 10, 20, 30, 40, 50, 60, 75, 90, 120, 240);
BUCKETS(job_s, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600);

const struct metric_family metric_families[N_METRICS] = {
        /* ---- the fleet ---- */
        [METRIC_JOINS] = { "join_result_counter", METRIC_COUNTER, METRIC_OF_BOTH, result,
                           .help = "Joins of members; on a member, its own." },
        [METRIC_LEAVES] = { "leave_result_counter", METRIC_COUNTER, METRIC_OF_BOTH, result,
                            .help = "Leaves of members; on a member, its own." },
        [METRIC_PLACEMENT_STATUS] = { "fleet_workload_placement_status_last_timestamp_seconds", METRIC_GAUGE,
                                      METRIC_OF_HUB, placement_labels,
                                      .help = "When a placement was last seen in the state of its labels, in "
                                              "seconds since 1970; one series for each placement." },
        [METRIC_EVICTION] = { "fleet_workload_eviction_complete", METRIC_GAUGE, METRIC_OF_HUB,
                              eviction_labels,
                              .help = "When an eviction was completed, or failed to be, in seconds since "
                                      "1970; gone with the eviction." },
        [METRIC_RESOURCE_SET] = { "flux_resourceset_info", METRIC_GAUGE, METRIC_OF_HUB, resource_set_labels,
                                  .help = "1 for each ResourceSet, with the state that it is in, how many "
                                          "objects it has and of which revision; gone with it." },
        [METRIC_INPUT_PROVIDER] = { "flux_resourcesetinputprovider_info", METRIC_GAUGE, METRIC_OF_HUB,
                                    input_provider_labels,
                                    .help = "1 for each ResourceSetInputProvider, with the state that it is "
                                            "in; "
                                            "gone with it." },
        [METRIC_SOURCE_SECONDS] = { "gotk_reconcile_duration_seconds", .of = METRIC_OF_HUB,
                                    .labels = source_labels, HISTOGRAM(source_s),
                                    .help = "Length of the runs of a chart or a source; gone with it." },
        [METRIC_INDEX_CACHE] = { "gotk_cache_events_total", METRIC_COUNTER, METRIC_OF_HUB, cache_labels,
                                 .help = "Looks for a repository's index in memory (cache_hit, cache_miss); "
                                         "gone with the repository." },
        [METRIC_RUN_STATUS] = { "fleet_workload_update_run_status_last_timestamp_seconds", METRIC_GAUGE,
                                METRIC_OF_HUB, run_labels,
                                .help = "When an update run was last seen in the state of its labels, in "
                                        "seconds since 1970; gone with the run." },
        [METRIC_RUN_APPROVALS] = { "fleet_workload_update_run_approval_request_latency_seconds",
                                   .of = METRIC_OF_HUB, .labels = approval_labels, HISTOGRAM(approval_s),
                                   .help = "From when an approval was asked for until it was given." },
        [METRIC_RUN_STAGES] = { "fleet_workload_update_run_stage_cluster_updating_duration_seconds",
                                .of = METRIC_OF_HUB, .labels = stage_labels, HISTOGRAM(stage_s),
                                .help = "From the start of a stage until all its clusters were updated; the "
                                        "tasks of the stage are not counted." },
        [METRIC_SCHEDULING_CYCLES] = { "scheduling_cycle_duration_milliseconds", .of = METRIC_OF_HUB,
                                       .labels = cycle_labels, HISTOGRAM(cycle_ms),
                                       .help = "Length of scheduling cycles, their writes included." },
        [METRIC_SCHEDULING_WORKERS] = { "scheduling_active_workers", METRIC_GAUGE, METRIC_OF_HUB,
                                        .help = "Placements that are being scheduled now." },
        [METRIC_WORKLOAD_RECONCILES] = { "fleet_workload_reconcile_total", METRIC_COUNTER, METRIC_OF_BOTH,
                                         controller_and_result,
                                         .help = "Passes over placements and changes of what they select, by "
                                                 "result; a member has no such controllers." },
        [METRIC_WORKLOAD_ERRORS] = { "fleet_workload_reconcile_errors_total", METRIC_COUNTER, METRIC_OF_BOTH,
                                     controller, .help = "Those of them that failed." },
        [METRIC_WORKLOAD_SECONDS] = { "fleet_workload_reconcile_time_seconds", .of = METRIC_OF_BOTH,
                                      .labels = controller, HISTOGRAM(reconcile_s), .help = "Their length." },
        [METRIC_WORKLOAD_LIMIT] = { "fleet_workload_max_concurrent_reconciles", METRIC_GAUGE, METRIC_OF_BOTH,
                                    controller, .help = "How many of them may run at once." },
        [METRIC_WORKLOAD_ACTIVE] = { "fleet_workload_active_workers", METRIC_GAUGE, METRIC_OF_BOTH,
                                     controller, .help = "How many of them run now." },
        [METRIC_APPLY_SECONDS] = { "work_apply_time_seconds", .of = METRIC_OF_MEMBER, .labels = name,
                                   HISTOGRAM(apply_s),
                                   .help = "Never observed; known to dashboards. Passes over Works are in "
                                           "controller_runtime_reconcile_time_seconds." },
        [METRIC_WORKS] = { "fleet_work_processing_requests_total", METRIC_COUNTER, METRIC_OF_MEMBER,
                           work_labels,
                           .help = "Completed passes over Works, by the reasons of their conditions." },
        [METRIC_MANIFESTS] = { "fleet_manifest_processing_requests_total", METRIC_COUNTER, METRIC_OF_MEMBER,
                               manifest_labels,
                               .help = "Manifests in those passes, by the reasons of their conditions and "
                                       "whether drifts and differences were found." },
        [METRIC_SYNC_SECONDS] = { "flux_daemon_sync_duration_seconds", .of = METRIC_OF_GENERATOR,
                                  .labels = success, HISTOGRAM(sync_s),
                                  .help = "Length of syncs of a Git repository to the hub." },
        [METRIC_SYNC_MANIFESTS] = { "flux_daemon_sync_manifests", METRIC_GAUGE, METRIC_OF_GENERATOR, success,
                                    .help = "Objects of the last sync that are as the repository has them, "
                                            "and those that could not be made so." },
        [METRIC_JOB_SECONDS] = { "flux_daemon_job_duration_seconds", .of = METRIC_OF_GENERATOR,
                                 .labels = success, HISTOGRAM(job_s),
                                 .help = "Length of jobs, which change the repository." },
        [METRIC_JOB_WAITED] = { "flux_daemon_queue_duration_seconds", .of = METRIC_OF_GENERATOR,
                                HISTOGRAM(job_s), .help = "How long jobs waited before they began." },
        [METRIC_JOBS_WAITING] = { "flux_daemon_queue_length_count", METRIC_GAUGE, METRIC_OF_GENERATOR,
                                  .help = "Jobs that wait." },
        [METRIC_GIT_READY] = { "flux_git_ready", METRIC_GAUGE, METRIC_OF_GENERATOR,
                               .help = "1 if the repository can be read and, unless it is never to be, "
                                       "written." },

        /* ---- the controller frame ---- */
        [METRIC_RECONCILES] = { "controller_runtime_reconcile_total", METRIC_COUNTER, METRIC_OF_BOTH,
                                controller_and_result, .help = "Reconciles by result." },
        [METRIC_RECONCILE_ERRORS] = { "controller_runtime_reconcile_errors_total", METRIC_COUNTER,
                                      METRIC_OF_BOTH, controller, .help = "Reconciles that failed." },
        [METRIC_RECONCILE_SECONDS] = { "controller_runtime_reconcile_time_seconds", .of = METRIC_OF_BOTH,
                                       .labels = controller, HISTOGRAM(reconcile_s),
                                       .help = "Length of reconciles." },
        [METRIC_RECONCILE_LIMIT] = { "controller_runtime_max_concurrent_reconciles", METRIC_GAUGE,
                                     METRIC_OF_BOTH, controller, .help = "Reconciles that may run at once." },
        [METRIC_RECONCILE_ACTIVE] = { "controller_runtime_active_workers", METRIC_GAUGE, METRIC_OF_BOTH,
                                      controller, .help = "Reconciles that run now." },
        [METRIC_QUEUE_DEPTH] = { "workqueue_depth", METRIC_GAUGE, METRIC_OF_BOTH, queue_labels,
                                 .help = "Keys that wait now; those with a time to come are not among "
                                         "them." },
        [METRIC_QUEUE_ADDS] = { "workqueue_adds_total", METRIC_COUNTER, METRIC_OF_BOTH, queue_labels,
                                .help = "Keys that were queued; one that waits already is not queued "
                                        "again." },
        [METRIC_QUEUE_RETRIES] = { "workqueue_retries_total", METRIC_COUNTER, METRIC_OF_BOTH, queue_labels,
                                   .help = "Keys that were put off to a later time." },
        [METRIC_QUEUE_WAITED] = { "workqueue_queue_duration_seconds", .of = METRIC_OF_BOTH,
                                  .labels = queue_labels, HISTOGRAM(queue_s),
                                  .help = "How long keys waited before their reconcile." },
        [METRIC_QUEUE_WORKED] = { "workqueue_work_duration_seconds", .of = METRIC_OF_BOTH,
                                  .labels = queue_labels, HISTOGRAM(queue_s),
                                  .help = "How long keys were worked on." },
        [METRIC_QUEUE_UNFINISHED] = { "workqueue_unfinished_work_seconds", METRIC_GAUGE, METRIC_OF_BOTH,
                                      queue_labels,
                                      .help = "How long all that is worked on now has taken so far, added "
                                              "up; "
                                              "what grows without end is stuck." },
        [METRIC_QUEUE_LONGEST] = { "workqueue_longest_running_processor_seconds", METRIC_GAUGE,
                                   METRIC_OF_BOTH, queue_labels,
                                   .help = "How long the oldest reconcile that runs now has taken so far." },
        [METRIC_REST_REQUESTS] = { "rest_client_requests_total", METRIC_COUNTER, METRIC_OF_BOTH, rest_labels,
                                   .help = "Requests to API servers; without an answer the code is "
                                           "<error>." },
        [METRIC_LEADER] = { "leader_election_master_status", METRIC_GAUGE, METRIC_OF_BOTH, name,
                            .help = "1 while this process leads, by the name of the lease; without an "
                                    "election "
                                    "that name is empty." },
        [METRIC_SHARDS_HELD] = { "argosy_shards_held", METRIC_GAUGE, METRIC_OF_HUB,
                                 .help = "Shards of the placements that this replica works on; only with "
                                         "--shards." },
        [METRIC_SHARD_TAKEOVERS] = { "argosy_shard_takeovers_total", METRIC_COUNTER, METRIC_OF_HUB,
                                     .help = "Shards that this replica began to work on." },
        [METRIC_SHARD_UNOWNED_SECONDS] = { "argosy_shard_unowned_seconds_total", METRIC_COUNTER,
                                           METRIC_OF_HUB,
                                           .help = "Seconds that shards were free to be taken, as this "
                                                   "replica saw it, all added up." },
        [METRIC_WEBHOOK_REQUESTS] = { "controller_runtime_webhook_requests_total", METRIC_COUNTER,
                                      METRIC_OF_HUB, webhook_and_code,
                                      .help = "Admission reviews by path and HTTP status." },
        [METRIC_WEBHOOK_SECONDS] = { "controller_runtime_webhook_latency_seconds", .of = METRIC_OF_HUB,
                                     .labels = webhook, HISTOGRAM(review_s),
                                     .help = "Time an admission review took." },
        [METRIC_WEBHOOK_UNDER_WAY] = { "controller_runtime_webhook_requests_in_flight", METRIC_GAUGE,
                                       METRIC_OF_HUB, webhook, .help = "Admission reviews under way." },
        [METRIC_CERTIFICATE_READS] = { "certwatcher_read_certificate_total", METRIC_COUNTER, METRIC_OF_HUB,
                                       .help = "Looks at the webhooks' certificate, in files or in the "
                                               "Secret." },
        [METRIC_CERTIFICATE_ERRORS] = { "certwatcher_read_certificate_errors_total", METRIC_COUNTER,
                                        METRIC_OF_HUB, .help = "Those of them that failed." },

        /* ---- the process ---- */
        [METRIC_CPU_SECONDS] = { "process_cpu_seconds_total", METRIC_COUNTER, METRIC_OF_BOTH,
                                 .help = "Processor time used." },
        [METRIC_RESIDENT_BYTES] = { "process_resident_memory_bytes", METRIC_GAUGE, METRIC_OF_BOTH,
                                    .help = "Memory in use, shared libraries included." },
        [METRIC_VIRTUAL_BYTES] = { "process_virtual_memory_bytes", METRIC_GAUGE, METRIC_OF_BOTH,
                                   .help = "Address space in use." },
        [METRIC_OPEN_FILES] = { "process_open_fds", METRIC_GAUGE, METRIC_OF_BOTH,
                                .help = "Open files and sockets." },
        [METRIC_MOST_FILES] = { "process_max_fds", METRIC_GAUGE, METRIC_OF_BOTH,
                                .help = "How many of them may be open." },
        [METRIC_START_SECONDS] = { "process_start_time_seconds", METRIC_GAUGE, METRIC_OF_BOTH,
                                   .help = "When the process was started, in seconds since 1970." },

        /* ---- our own ---- */
        [METRIC_FAILURES] = { "argosy_reconcile_failures_total", METRIC_COUNTER, METRIC_OF_BOTH,
                              controller_and_code,
                              .help = "Reconciles that failed, by what the error allows to be done." },
        [METRIC_API_REQUESTS] = { "argosy_api_requests_total", METRIC_COUNTER, METRIC_OF_BOTH, request_labels,
                                  .help = "Requests to API servers by verb and resource; code 0 means no "
                                          "answer." },
        [METRIC_API_SECONDS] = { "argosy_api_request_duration_seconds", .of = METRIC_OF_BOTH, .labels = verb,
                                 HISTOGRAM(request_s), .help = "Time until an API server answered." },
        [METRIC_UNDECODABLE] = { "argosy_undecodable_objects_total", METRIC_COUNTER, METRIC_OF_BOTH, resource,
                                 .help = "Versions of objects that could not be decoded; the object counts "
                                         "as "
                                         "it was last known." },
        [METRIC_CONNECTION_GOOD] = { "argosy_connection_good", METRIC_GAUGE, METRIC_OF_BOTH, server,
                                     .help = "1 while the API server can be used, 0 while it cannot." },
        [METRIC_CONNECTION_TROUBLE] = { "argosy_connection_trouble", METRIC_GAUGE, METRIC_OF_BOTH,
                                        server_and_reason,
                                        .help = "1 while that is wrong with the way to the API server, or "
                                                "how "
                                                "many rights are missing." },
        [METRIC_MEMBER_HEARD] = { "argosy_member_heard", METRIC_GAUGE, METRIC_OF_HUB, name,
                                  .help = "1 while a member's agent is heard of, 0 while it is not; from its "
                                          "first report on, gone with the MemberCluster." },
        [METRIC_MEMBERS_HEARD_LATE] = { "argosy_members_heard_late_total", METRIC_COUNTER, METRIC_OF_HUB,
                                        .help = "How often a member looked silent because the agent's watch "
                                                "of its reports is late, and the API server had heard of "
                                                "it." },
        [METRIC_TOKEN_EXPIRY] = { "argosy_hub_token_expiry_timestamp_seconds", METRIC_GAUGE, METRIC_OF_MEMBER,
                                  .help = "When the token for the hub ends, in seconds since 1970; absent if "
                                          "it never does or does not say." },
        [METRIC_TOKEN_RENEWAL] = { "argosy_hub_token_renewal_timestamp_seconds", METRIC_GAUGE,
                                   METRIC_OF_MEMBER,
                                   .help = "When the agent asks, or began to ask, for that token's "
                                           "successor; "
                                           "what lies long ago fails." },
        [METRIC_PROPERTY_COLLECTIONS] = { "argosy_property_collections_total", METRIC_COUNTER,
                                          METRIC_OF_MEMBER, provider_and_result,
                                          .help = "Looks at the providers of properties, by provider and "
                                                  "result: collected, or missing." },
        [METRIC_PROPERTIES] = { "argosy_properties", METRIC_GAUGE, METRIC_OF_MEMBER, provider,
                                .help = "Properties that the last look brought, by provider." },
        [METRIC_STATE_GOOD] = { "argosy_state_file_good", METRIC_GAUGE, METRIC_OF_MEMBER,
                                .help = "1 while what the agent remembers is on disk, 0 while it is in "
                                        "memory "
                                        "only." },
        [METRIC_SETS] = { "argosy_object_sets", METRIC_GAUGE, METRIC_OF_MEMBER, state_and_reason,
                          .help = "ClusterObjectSets by lifecycle state and reason of their condition "
                                  "Progressing." },
        [METRIC_SET_OBJECTS] = { "argosy_object_set_objects", METRIC_GAUGE, METRIC_OF_MEMBER,
                                 .help = "Objects that ClusterObjectSets control." },
        [METRIC_SET_CORRECTIONS] = { "argosy_object_set_corrections_total", METRIC_COUNTER, METRIC_OF_MEMBER,
                                     .help = "Objects of ClusterObjectSets that were set back, or made "
                                             "again, "
                                             "after somebody had changed or deleted them." },
        [METRIC_SET_ROLLOUT_SECONDS] = { "argosy_object_set_rollout_seconds", .of = METRIC_OF_MEMBER,
                                         HISTOGRAM(rollout_s),
                                         .help = "From the creation of a ClusterObjectSet until it had "
                                                 "rolled "
                                                 "out." },
        [METRIC_SERIES_DROPPED] = { "argosy_metric_series_dropped_total", METRIC_COUNTER, METRIC_OF_BOTH,
                                    .help = "Series that were not kept because a metric was full." },
};

const char *const reconcile_results[N_RESULTS] = {
        [RESULT_SUCCESS] = "success",
        [RESULT_ERROR] = "error",
        [RESULT_REQUEUE_AFTER] = "requeue_after",
        [RESULT_REQUEUE] = "requeue",
};
