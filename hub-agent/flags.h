/* The program's flags: spec/membership-webhooks-charts.md 7.3. One table gives parsing, defaults, ranges and
 * help. */
#pragma once

#include "common/base/arena.h"
#include "common/base/flags.h"
#include "common/loop/world.h"

struct hub_flags {
        bool help, json_logs, leader_elect, enable_workload, evictions;
        const char *kubeconfig, *health_address, *metrics_address, *leader_election_namespace;
        const char *default_service_account, *resource_set_account, *watch_configs;
        struct flag_strings override_managers;
        int64_t requeue_dependency_ms, set_concurrency, set_jitter, set_retry_least_ms, set_retry_most_ms;
        const char *workload_identity_account;
        const char *skipped_apis, *allowed_apis, *skipped_namespaces;
        int64_t shards, lease_duration_ms, renew_deadline_ms, retry_period_ms;
        int64_t force_delete_wait_ms, unhealthy_threshold_ms, resync_ms;
        int64_t snapshot_min_interval_ms, change_collect_ms;
        int64_t hub_qps, hub_burst, election_qps, election_burst;
        int64_t change_syncs, max_fleet_size, max_concurrent_placement;
        int64_t limiter_base_ms, limiter_max_ms, limiter_qps, limiter_bucket, verbosity;
        bool enable_v1beta1, staged_runs, external_snapshots, inventory, report_back;
        bool resource_sets, local_input_providers;
        bool sources, source_all_namespaces;
        const char *source_denied, *source_labels;
        const char *storage_path, *storage_address, *storage_advertised, *artifact_digest, *index_digest,
                *trusted_root;
        int64_t artifact_ttl_ms, artifact_records, index_bytes, chart_bytes, chart_file_bytes, git_bytes;
        int64_t cache_most, cache_ttl_ms, cache_purge_ms;
        int64_t source_concurrency, source_jitter, source_retry_least_ms, source_retry_most_ms;
        bool remove_webhooks;
        bool webhook, guard_rail, fixed_member_labels, pdbs, cert_manager, policy_manager, networking_agents;
        /* Accepted, checked and warned of: not in this version. */
        bool resource_placement, pprof;
        const char *webhook_connection, *webhook_service, *webhook_address, *whitelisted_users,
                *policy_config, *grace_period;
        int64_t pprof_port;
        struct klog_flags klog;
};

extern const struct flag hub_flag_table[];
extern const size_t n_hub_flags;
/* Rules across flags and ranges of durations; all violations in one text. ERR_INVALID. */
int hub_flags_check(const struct hub_flags *f, struct error *err);
/* What the environment says of ResourceSets: a default account where the flag gives none, and override
 * managers in place of the flag's. Lives in the arena. ERR_NO_MEMORY; ERR_LIMIT: too many managers. */
int hub_flags_take_environment(struct hub_flags *f, const struct world *w, struct arena *arena,
                               struct error *err);
