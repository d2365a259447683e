/* The program's flags: spec/member-agent.md 1.3. One table gives parsing, defaults, ranges and help. */
#pragma once

#include "common/base/arena.h"
#include "common/base/flags.h"
#include "member-agent/apply/limiter.h"
#include "member-agent/properties/settings.h"

struct member_flags {
        bool use_ca_auth, tls_insecure, leader_elect, skip_to_fast, json_logs, help, enable_v1beta1;
        bool hub_token_renewal, namespace_collection;
        const char *hub_health_address, *hub_metrics_address, *health_address, *metrics_address;
        const char *leader_election_namespace, *kubeconfig, *state_file, *hub_token_secret;
        const char *namespace_account;
        const char *property_provider, *region, *price_table, *property_config_map;
        bool azure_costs, azure_available;
        int64_t price_max_age_hours;
        int64_t hub_qps, hub_burst, member_qps, member_burst;
        int64_t lease_duration_ms, renew_deadline_ms, retry_period_ms;
        int64_t deletion_wait_minutes, attempts_with_fixed_delay, verbosity;
        /* Accepted, checked and warned of: not in this version. */
        bool priority_queue, pprof;
        const char *cloud_config;
        int64_t coefficient_a, coefficient_b, pprof_port, hub_pprof_port;
        struct klog_flags klog;
        double fixed_delay_s, slow_base, initial_slow_s, max_slow_s, fast_base, max_fast_s;
};

extern const struct flag member_flag_table[];
extern const size_t n_member_flags;
/* Splits --hub-token-secret; both NULL if it is empty. Into the arena. ERR_INVALID. */
int member_flags_secret(const struct member_flags *f, struct arena *arena, const char **ret_ns,
                        const char **ret_name, struct error *err);
/* What is told of the cluster; texts in the arena or borrowed of the flags. ERR_INVALID. */
int member_flags_properties(const struct member_flags *f, struct arena *arena, struct property_settings *ret,
                            struct error *err);
/* Rules across flags; all violations in one text. ERR_INVALID. */
int member_flags_check(const struct member_flags *f, struct error *err);
struct limiter_options member_flags_limits(const struct member_flags *f);
