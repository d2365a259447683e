#include "member-agent/flags.h"

#include "common/base/text.h"
#include "common/ctrl/program_flags.h"

#define AT(field) offsetof(struct member_flags, field)
#define LIMITER "work-applier-requeue-rate-limiter-"

const struct flag member_flag_table[] = {
        { "help", FLAG_BOOL, "false", AT(help), "Prints this text." },
        { "kubeconfig", FLAG_STRING, "", AT(kubeconfig),
          "Kubeconfig of the member cluster; in-cluster if empty." },
        { "state-file", FLAG_STRING, "/var/lib/argosy/member-agent.db", AT(state_file),
          "SQLite file of the agent's state; :memory: keeps nothing across restarts." },
        { "use-ca-auth", FLAG_BOOL, "false", AT(use_ca_auth),
          "Client certificate instead of token towards the hub." },
        { "tls-insecure", FLAG_BOOL, "false", AT(tls_insecure),
          "Skips verification of the hub's certificate." },
        { "hub-token-renewal", FLAG_BOOL, "true", AT(hub_token_renewal),
          "Renews the token for the hub before it ends, if it is a service account's and has an end." },
        { "hub-token-secret", FLAG_STRING, "", AT(hub_token_secret),
          "NAMESPACE/NAME of the Secret of this cluster that holds the token for the hub in its key "
          "\"token\": the "
          "renewed one is stored there as well." },
        { "enable-namespace-collection-in-property-provider", FLAG_BOOL, "false", AT(namespace_collection),
          "Tell the hub which namespaces the cluster has (200 at most), and which of them are placed." },
        { "namespace-service-account", FLAG_STRING, "", AT(namespace_account),
          "Service account, by its name in each namespace, as which what is placed out of one namespace (a "
          "ResourcePlacement, a ResourceEnvelope) is applied; empty: the agent's own." },
        ENDPOINT_FLAGS("hub-", "Address", AT(hub_health_address), ":8081", AT(hub_metrics_address), ":8080"),
        ENDPOINT_FLAGS("", "Second address", AT(health_address), ":8091", AT(metrics_address), ":8090"),
        { "hub-api-qps", FLAG_INT, "50", AT(hub_qps), "Checked, has no effect: the agent sends little.", 10,
          1000, true },
        { "hub-api-burst", FLAG_INT, "500", AT(hub_burst), "Checked, has no effect.", 10, 2000, false },
        { "member-api-qps", FLAG_INT, "250", AT(member_qps), "Checked, has no effect.", 10, 10000, true },
        { "member-api-burst", FLAG_INT, "1000", AT(member_burst), "Checked, has no effect.", 10, 20000,
          false },
        ELECTION_FLAGS(AT, "15s", "10s", "2s", "kube-system",
                       "Namespace of the lease, on the member cluster."),
        { "deletion-wait-time", FLAG_INT, "5", AT(deletion_wait_minutes),
          "Minutes after which a stuck deletion no longer waits for objects with other owners.", 1, 60,
          false },
        { LIMITER "attempts-with-fixed-delay", FLAG_INT, "1", AT(attempts_with_fixed_delay),
          "First attempts.", 1, 40, false },
        { LIMITER "fixed-delay-seconds", FLAG_REAL, "5", AT(fixed_delay_s), "Delay of the first attempts.", 2,
          300, false },
        { LIMITER "exponential-base-for-slow-backoff", FLAG_REAL, "1.2", AT(slow_base), "Growth at first.",
          1.05, 2, false },
        { LIMITER "initial-slow-backoff-delay-seconds", FLAG_REAL, "2", AT(initial_slow_s),
          "First growing delay.", 2, 1e9, false },
        { LIMITER "max-slow-backoff-delay-seconds", FLAG_REAL, "15", AT(max_slow_s),
          "Where growth gets faster.", 2, 1e9, false },
        { LIMITER "exponential-base-for-fast-backoff", FLAG_REAL, "1.5", AT(fast_base), "Growth later.",
          1.0001, 2, false },
        { LIMITER "max-fast-backoff-delay-seconds", FLAG_REAL, "900", AT(max_fast_s), "Longest delay.", 0.001,
          3600, false },
        { LIMITER "skip-to-fast-backoff-for-available-or-diff-reported-work-objs", FLAG_BOOL, "true",
          AT(skip_to_fast), "Fast growth at once for Works that are settled." },
        LOG_FLAGS(AT),
        { "enable-v1beta1-apis", FLAG_BOOL, "true", AT(enable_v1beta1), "No effect." },
        { "enable-work-applier-priority-queue", FLAG_BOOL, "false", AT(priority_queue),
          "No effect: user edits always go first.", .missing = "user edits always go first" },
        { "work-applier-priority-linear-equation-coeff-a", FLAG_INT, "-3", AT(coefficient_a),
          "Checked, has no effect.", -100, -1, false },
        { "work-applier-priority-linear-equation-coeff-b", FLAG_INT, "100", AT(coefficient_b),
          "Checked, has no effect.", 1, 1000, false },
        { "enable-pprof", FLAG_BOOL, "false", AT(pprof), "There is no profiling server.",
          .missing = "there is no profiling server" },
        { "pprof-port", FLAG_INT, "6065", AT(pprof_port), "Checked, has no effect.", 1, 65535, false },
        { "hub-pprof-port", FLAG_INT, "6066", AT(hub_pprof_port), "Checked, has no effect.", 1, 65535,
          false },
        { "property-provider", FLAG_STRING, "none", AT(property_provider),
          "none: nodes, resources and version are told; azure: beside them machines by their kind and costs; "
          "anything else: none." },
        { "region", FLAG_STRING, "", AT(region),
          "With azure: the region of the prices; empty: as the nodes' labels say." },
        { "price-table", FLAG_STRING, "", AT(price_table),
          "With azure: NAMESPACE/NAME of the ConfigMap of this cluster that holds the prices of machines, in "
          "its key prices.yaml." },
        { "price-max-age-hours", FLAG_INT, "24", AT(price_max_age_hours),
          "With azure: older prices are told of as outdated.", 1, 8760, false },
        { "property-config-map", FLAG_STRING, "", AT(property_config_map),
          "NAMESPACE/NAME of a ConfigMap of this cluster with properties of your own; empty: none." },
        { "cloud-config", FLAG_STRING, "/etc/kubernetes/provider/config.json", AT(cloud_config),
          "Not read: nothing is asked of a cloud." },
        { "use-cost-properties-in-azure-provider", FLAG_BOOL, "true", AT(azure_costs),
          "With azure: tells what cores and memory cost." },
        { "use-available-res-properties-in-azure-provider", FLAG_BOOL, "true", AT(azure_available),
          "With azure: tells what is free; pods are not looked at without it." },
        KLOG_FLAGS(AT),
};
const size_t n_member_flags = ARRAY_LEN(member_flag_table);

int member_flags_check(const struct member_flags *f, struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, ERROR_TEXT_MAX - 1);
        if (f->hub_burst < f->hub_qps)
                buf_append_str(&b, "hub-api-burst must not be below hub-api-qps; ");
        if (f->member_burst < f->member_qps)
                buf_append_str(&b, "member-api-burst must not be below member-api-qps; ");
        if (f->lease_duration_ms <= f->renew_deadline_ms || f->renew_deadline_ms <= f->retry_period_ms)
                buf_append_str(
                        &b,
                        "leader-lease-duration > leader-renew-deadline > leader-retry-period must hold; ");
        if (f->initial_slow_s > f->max_slow_s)
                buf_append_str(&b, "the initial slow backoff delay must not exceed the maximal slow one; ");
        if (f->max_slow_s > f->max_fast_s)
                buf_append_str(&b, "the maximal slow backoff delay must not exceed the maximal fast one; ");
        if (f->fast_base < f->slow_base)
                buf_append_str(&b, "the base of the fast backoff must not be below that of the slow one; ");
        if (f->namespace_account[0] && !text_is_dns1123_subdomain(f->namespace_account))
                buf_append_str(&b, "namespace-service-account must be a service account's name; ");
        if (b.len == 0)
                return 0;
        return error_set(err, ERR_INVALID, "%.*s", (int)b.len - 2, b.data);
}

/* NAMESPACE/NAME; both NULL if it is empty. */
static int split_name(const char *flag, const char *text, struct arena *arena, const char **ret_ns,
                      const char **ret_name, struct error *err)
{
        const char *slash = strchr(text, '/');

        *ret_ns = *ret_name = NULL;
        if (text_empty(text))
                return 0;
        *ret_ns = arena_strndup(arena, text, slash ? (size_t)(slash - text) : 0);
        *ret_name = arena_strdup(arena, slash ? slash + 1 : "");
        if (!*ret_ns || !*ret_name)
                return error_no_memory(err);
        if (!text_is_dns1123_subdomain(*ret_ns) || !text_is_dns1123_subdomain(*ret_name))
                return error_set(err, ERR_INVALID, "%s \"%s\" is not NAMESPACE/NAME", flag, text);
        return 0;
}

int member_flags_secret(const struct member_flags *f, struct arena *arena, const char **ret_ns,
                        const char **ret_name, struct error *err)
{
        return split_name("hub-token-secret", f->hub_token_secret, arena, ret_ns, ret_name, err);
}

int member_flags_properties(const struct member_flags *f, struct arena *arena, struct property_settings *ret,
                            struct error *err)
{
        *ret = (struct property_settings){ .namespaces = f->namespace_collection,
                                           .azure = text_equal(f->property_provider, "azure"),
                                           .costs = f->azure_costs,
                                           .without_available = !f->azure_available,
                                           .region = f->region,
                                           .price_max_age_ms = f->price_max_age_hours * 3600 * 1000 };
        TRY(split_name("price-table", f->price_table, arena, &ret->price_ns, &ret->prices, err));
        return split_name("property-config-map", f->property_config_map, arena, &ret->own_ns, &ret->own, err);
}

struct limiter_options member_flags_limits(const struct member_flags *f)
{
        return (struct limiter_options){ .attempts_with_fixed_delay = (int)f->attempts_with_fixed_delay,
                                         .fixed_delay_s = f->fixed_delay_s,
                                         .slow_base = f->slow_base,
                                         .initial_slow_s = f->initial_slow_s,
                                         .max_slow_s = f->max_slow_s,
                                         .fast_base = f->fast_base,
                                         .max_fast_s = f->max_fast_s,
                                         .skip_to_fast = f->skip_to_fast };
}
