#include "hub-agent/flags.h"

#include <stdio.h>

#include "common/base/text.h"
#include "common/base/timefmt.h"
#include "common/ctrl/program_flags.h"
#include "common/ctrl/shards_plan.h"
#include "hub-agent/flux_account.h"
#include "hub-agent/source/options.h"

#define AT(field) offsetof(struct hub_flags, field)

const struct flag hub_flag_table[] = {
        { "help", FLAG_BOOL, "false", AT(help), "Prints this text." },
        { "kubeconfig", FLAG_STRING, "", AT(kubeconfig),
          "Kubeconfig of the hub cluster; in-cluster if empty." },
        ELECTION_FLAGS(AT, "60s", "45s", "5s", "fleet-system", "Namespace of the lease."),
        { "shards", FLAG_INT, "0", AT(shards),
          "Replicas share the placements out in so many parts, 2 to 64, the same on all of them; 0: one "
          "leads. "
          "Needs leader-elect.",
          SHARDS_MIN, SHARDS_MAX, false, .or_zero = true },
        { "leader-election-qps", FLAG_INT, "250", AT(election_qps), "Checked, has no effect.", 10, 1000, true,
          .or_zero = true },
        { "leader-election-burst", FLAG_INT, "1000", AT(election_burst), "Checked, has no effect.", 10, 2000,
          false },
        { "hub-api-qps", FLAG_INT, "250", AT(hub_qps), "Checked, has no effect: writes are few.", 10, 10000,
          true, .or_zero = true },
        { "hub-api-burst", FLAG_INT, "1000", AT(hub_burst), "Checked, has no effect.", 10, 20000, false },
        ENDPOINT_FLAGS("", "Address", AT(health_address), ":8081", AT(metrics_address), ":8080"),
        { "resync-period", FLAG_DURATION, "6h", AT(resync_ms), "1h to 12h; caches are kept by watches." },
        { "enable-workload", FLAG_BOOL, "false", AT(enable_workload),
          "Pods may run on the hub; PersistentVolumeClaims are not placed then." },
        { "enable-v1beta1-apis", FLAG_BOOL, "true", AT(enable_v1beta1), "Must stay true." },
        { "cluster-unhealthy-threshold", FLAG_DURATION, "60s", AT(unhealthy_threshold_ms),
          "Silence after which a member is not called healthy any more (30s to 1h; at least two of its "
          "heartbeats)." },
        { "force-delete-wait-time", FLAG_DURATION, "15m", AT(force_delete_wait_ms),
          "How long a leaving member's agent may take before its namespace is removed without it (30s to "
          "1h)." },
        { "skipped-propagating-apis", FLAG_STRING, "", AT(skipped_apis),
          "APIs never placed: \"group;group/version;group/version/Kind,Kind;v1/Kind\"." },
        { "allowed-propagating-apis", FLAG_STRING, "", AT(allowed_apis),
          "The only APIs that may be placed, in the same form; excludes the flag above." },
        { "skipped-propagating-namespaces", FLAG_STRING, "", AT(skipped_namespaces),
          "Namespaces never placed, separated by commas or semicolons." },
        { "concurrent-resource-change-syncs", FLAG_INT, "20", AT(change_syncs), "Checked, has no effect.", 1,
          100, false },
        { "max-fleet-size", FLAG_INT, "100", AT(max_fleet_size), "Checked, has no effect.", 30, 100000,
          false },
        { "max-concurrent-cluster-placement", FLAG_INT, "100", AT(max_concurrent_placement),
          "Checked, has no effect.", 10, 100000, false },
        { "rate-limiter-base-delay", FLAG_DURATION, "5ms", AT(limiter_base_ms), "Checked, has no effect." },
        { "rate-limiter-max-delay", FLAG_DURATION, "60s", AT(limiter_max_ms), "Checked, has no effect." },
        { "rate-limiter-qps", FLAG_INT, "10", AT(limiter_qps), "Checked, has no effect.", 1, 1000, false },
        { "rate-limiter-bucket-size", FLAG_INT, "100", AT(limiter_bucket), "Checked, has no effect.", 1,
          10000, false },
        { "resource-snapshot-creation-minimum-interval", FLAG_DURATION, "30s", AT(snapshot_min_interval_ms),
          "Least time between two resource snapshots of a placement (0s to 5m)." },
        { "resource-changes-collection-duration", FLAG_DURATION, "15s", AT(change_collect_ms),
          "How long changes are collected before a new resource snapshot (0s to 1m)." },
        LOG_FLAGS(AT),
        { "enable-webhook", FLAG_BOOL, "true", AT(webhook),
          "Serves admission webhooks on port 9443 and leads the API server to them; POD_NAMESPACE must be "
          "set." },
        { "webhook-client-connection-type", FLAG_STRING, "url", AT(webhook_connection),
          "How the API server reaches the webhooks: by a reference to their Service (service), or by the "
          "URL of its name (url)." },
        { "webhook-service-name", FLAG_STRING, "fleetwebhook", AT(webhook_service),
          "Name of the webhooks' Service." },
        { "webhook-bind-address", FLAG_STRING, ":9443", AT(webhook_address), "Where webhooks are served." },
        { "remove-webhooks", FLAG_BOOL, "false", AT(remove_webhooks),
          "Removes the webhook configurations that lead to webhook-service-name, with "
          "enable-admission-policy-manager its policies, too, and ends: for when the agent was "
          "uninstalled." },
        { "enable-guard-rail", FLAG_BOOL, "false", AT(guard_rail),
          "Webhooks keep users from the fleet's own objects; needs enable-webhook." },
        { "whitelisted-users", FLAG_STRING, "", AT(whitelisted_users),
          "Users whom the guard rail lets through, separated by commas." },
        { "deny-modify-member-cluster-labels", FLAG_BOOL, "false", AT(fixed_member_labels),
          "The guard rail lets nobody but its users change labels of MemberClusters." },
        { "enable-pdbs", FLAG_BOOL, "true", AT(pdbs),
          "PodDisruptionBudgets may be made on the hub; otherwise the webhooks refuse them." },
        { "use-cert-manager", FLAG_BOOL, "false", AT(cert_manager),
          "Certificates of the webhooks come from cert-manager, as files; needs enable-workload." },
        { "enable-admission-policy-manager", FLAG_BOOL, "false", AT(policy_manager),
          "Keeps ValidatingAdmissionPolicies: no pods outside reserved namespaces, no service accounts "
          "inside "
          "of them; without it they are removed." },
        { "admission-policy-manager-config", FLAG_STRING, "", AT(policy_config),
          "File that says which of these policies, and for which namespaces and users; both if empty." },
        { "enable-cluster-inventory-apis", FLAG_BOOL, "true", AT(inventory),
          "Each member that has joined gets a ClusterProfile in fleet-system; its definition must be "
          "there." },
        { "enable-resource-sets", FLAG_BOOL, "false", AT(resource_sets),
          "ResourceSets and ResourceSetInputProviders are worked on, once their definitions are there." },
        { "allow-local-input-providers", FLAG_BOOL, "false", AT(local_input_providers),
          "Input providers may ask addresses of this machine, its link and a cloud's metadata service." },
        { "enable-staged-update-run-apis", FLAG_BOOL, "true", AT(staged_runs),
          "Staged update runs are executed; their definitions must be there." },
        { "enable-status-back-reporting", FLAG_BOOL, "true", AT(report_back),
          "The status of placed objects is written to the hub's objects, where a placement's "
          "reportBackStrategy "
          "asks for it." },
        { "external-placement-snapshots", FLAG_BOOL, "true", AT(external_snapshots),
          "Placements that update runs roll out get resource snapshots whenever what they select changes; "
          "otherwise only runs make them." },
        { "enable-eviction-apis", FLAG_BOOL, "true", AT(evictions),
          "Evictions of placements from clusters are executed, within disruption budgets." },
        { "default-service-account", FLAG_STRING, "", AT(default_service_account),
          "Service account, of the ResourceSet's namespace, whose rights those have that name none." },
        { "resource-set-account", FLAG_STRING, "", AT(resource_set_account),
          "NAMESPACE/NAME of the service account whose rights ResourceSets have that name none, without "
          "default-service-account; the agent's own if empty." },
        { "watch-configs-label-selector", FLAG_STRING, "reconcile.fluxcd.io/watch=Enabled", AT(watch_configs),
          "ConfigMaps and Secrets that wake the ResourceSets which copy them; all if empty." },
        { "override-manager", FLAG_STRINGS, "", AT(override_managers),
          "A field manager whose fields generated objects are rid of; may be given several times." },
        { "requeue-dependency", FLAG_DURATION, "5s", AT(requeue_dependency_ms),
          "How often a ResourceSet looks for what it depends on." },
        { "resource-set-concurrent", FLAG_INT, "256", AT(set_concurrency),
          "ResourceSets that are worked on at once, those that wait for the health of their objects among "
          "them.",
          1, 10000, false },
        { "resource-set-interval-jitter-percentage", FLAG_INT, "5", AT(set_jitter),
          "By how much the time until a ResourceSet's next run may differ from its interval.", 0, 99, false },
        { "resource-set-min-retry-delay", FLAG_DURATION, "750ms", AT(set_retry_least_ms),
          "After which a ResourceSet, or a provider, that failed is tried again; doubles each time." },
        { "resource-set-max-retry-delay", FLAG_DURATION, "15m", AT(set_retry_most_ms),
          "The longest such delay." },
        { "enable-sources", FLAG_BOOL, "false", AT(sources),
          "HelmCharts, HelmRepositories, GitRepositories and Buckets are worked on, once their definitions "
          "are "
          "there, and their artifacts are served." },
        { "watch-all-namespaces", FLAG_BOOL, "true", AT(source_all_namespaces),
          "Charts and sources of all namespaces are worked on; else those of the agent's own." },
        { "watch-label-selector", FLAG_STRING, "", AT(source_labels),
          "Charts and sources that are worked on, by their labels; all if empty." },
        { "source-deny-addresses", FLAG_STRING, SOURCE_DENIED, AT(source_denied),
          "Ranges of addresses where no source is asked, whatever name or redirect leads there; empty: all "
          "are." },
        { "storage-path", FLAG_STRING, "", AT(storage_path),
          "Folder of artifacts; if empty STORAGE_PATH of the environment, else /data." },
        { "storage-addr", FLAG_STRING, "", AT(storage_address),
          "Where artifacts are served; if empty STORAGE_ADDRESS of the environment, else :9090." },
        { "storage-adv-addr", FLAG_STRING, "", AT(storage_advertised),
          "What URLs of artifacts begin with, http:// unless it says otherwise; if empty STORAGE_ADV_ADDR of "
          "the environment, else what storage-addr gives." },
        { "artifact-retention-ttl", FLAG_DURATION, "1m", AT(artifact_ttl_ms),
          "How long a former artifact is kept." },
        { "artifact-retention-records", FLAG_INT, "2", AT(artifact_records),
          "Artifacts kept of an object, the current one among them.", 1, 1000, false },
        { "artifact-digest-algo", FLAG_STRING, "sha256", AT(artifact_digest),
          "What digests of artifacts are made with: sha256, sha384 or sha512." },
        { "helm-index-max-size", FLAG_INT, "52428800", AT(index_bytes), "Most bytes of a repository's index.",
          1, 1 << 30, false },
        { "helm-chart-max-size", FLAG_INT, "10485760", AT(chart_bytes), "Most bytes of a chart's archive.", 1,
          1 << 30, false },
        { "helm-chart-file-max-size", FLAG_INT, "5242880", AT(chart_file_bytes),
          "Most bytes of one file of a chart.", 1, 100 << 20, false },
        { "helm-cache-max-size", FLAG_INT, "0", AT(cache_most),
          "Indexes of repositories of which memory holds where each chart is; 0 = of none.", 0, 10000,
          false },
        { "helm-cache-ttl", FLAG_DURATION, "15m", AT(cache_ttl_ms), "For how long after its last use." },
        { "helm-cache-purge-interval", FLAG_DURATION, "1m", AT(cache_purge_ms),
          "How often what was held for that long is let go." },
        { "git-repository-max-size", FLAG_INT, "268435456", AT(git_bytes),
          "Most bytes that a Git repository sends for one artifact, packed.", 1, 1 << 30, false },
        { "helm-index-digest", FLAG_STRING, "warn", AT(index_digest),
          "What becomes of a chart that is not what its index says: warn of it, or enforce." },
        { "sigstore-trusted-root", FLAG_STRING, "", AT(trusted_root),
          "File (trusted_root.json) of the authorities and logs that signatures without keys are trusted "
          "through; if empty those of sigstore.dev as they were when this agent was built." },
        { "concurrent", FLAG_INT, "2", AT(source_concurrency),
          "Sources of each kind that are worked on at once.", 1, 1000, false },
        { "interval-jitter-percentage", FLAG_INT, "5", AT(source_jitter),
          "By how much the time until a source's next run may differ from its interval.", 0, 99, false },
        { "min-retry-delay", FLAG_DURATION, "750ms", AT(source_retry_least_ms),
          "After which a source that failed is tried again; doubles each time." },
        { "max-retry-delay", FLAG_DURATION, "15m", AT(source_retry_most_ms), "The longest such delay." },
        { "default-workload-identity-service-account", FLAG_STRING, "", AT(workload_identity_account),
          "Whose cloud identity input providers would have.",
          .missing = "input providers have no identities of clouds" },
        { "enable-resource-placement", FLAG_BOOL, "true", AT(resource_placement), "Cannot be switched off.",
          .missing = "ResourcePlacements are handled all the same" },
        { "networking-agents-enabled", FLAG_BOOL, "false", AT(networking_agents),
          "Members run the two networking agents too: they have joined when all three say so, and the "
          "webhooks "
          "let no MemberCluster go whose services are exported." },
        { "work-pending-grace-period", FLAG_STRING, "15s", AT(grace_period), "Obsolete; no effect.",
          .missing = "it is obsolete" },
        { "enable-pprof", FLAG_BOOL, "false", AT(pprof), "There is no profiling server.",
          .missing = "there is no profiling server" },
        { "pprof-port", FLAG_INT, "6065", AT(pprof_port), "Checked, has no effect.", 1, 65535, false },
        KLOG_FLAGS(AT),
};
const size_t n_hub_flags = ARRAY_LEN(hub_flag_table);

static void check_range(struct buf *b, const char *flag, int64_t ms, int64_t least_ms, int64_t most_ms)
{
        char least[32], most[32];

        if (ms >= least_ms && ms <= most_ms)
                return;
        duration_format_go(least_ms * 1000000, least, sizeof(least));
        duration_format_go(most_ms * 1000000, most, sizeof(most));
        buf_printf(b, "%s must be %s to %s; ", flag, least, most);
}

static void check_sets(struct buf *b, const struct hub_flags *f)
{
        if (!text_empty(f->resource_set_account) && !flux_account_is_named(f->resource_set_account))
                buf_append_str(b, "resource-set-account must be NAMESPACE/NAME; ");
}

static void check_sources(struct buf *b, const struct hub_flags *f)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct address_ranges denied;
        enum artifact_digest digest;
        struct error e = { 0 };

        if (artifact_digest_named(f->artifact_digest, &digest, NULL) < 0)
                buf_append_str(b, "artifact-digest-algo must be sha256, sha384 or sha512; ");
        if (!text_equal(f->index_digest, "warn") && !text_equal(f->index_digest, "enforce"))
                buf_append_str(b, "helm-index-digest must be warn or enforce; ");
        if (address_ranges_parse(f->source_denied, &arena, &denied, &e) < 0)
                buf_printf(b, "source-deny-addresses: %s; ", e.text);
        if (f->cache_ttl_ms < 1 || f->cache_purge_ms < 1)
                buf_append_str(b, "helm-cache-ttl and helm-cache-purge-interval must be above 0; ");
        if (f->source_retry_least_ms < 1 || f->source_retry_least_ms > f->source_retry_most_ms)
                buf_append_str(b, "min-retry-delay must be above 0 and not above max-retry-delay; ");
}

static void check_webhook(struct buf *b, const struct hub_flags *f)
{
        const char *type = f->webhook_connection;

        if (!text_empty(type) && strcasecmp(type, "url") != 0 && strcasecmp(type, "service") != 0)
                buf_append_str(b, "webhook-client-connection-type must be url or service; ");
        if (f->webhook && text_empty(f->webhook_service))
                buf_append_str(b, "webhook-service-name must be set with enable-webhook; ");
        if (f->cert_manager && !f->enable_workload)
                buf_append_str(b, "use-cert-manager needs enable-workload; ");
}

/* Short words: all of them together fit into one error. */
int hub_flags_check(const struct hub_flags *f, struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, ERROR_TEXT_MAX - 1);
        check_range(&b, "force-delete-wait-time", f->force_delete_wait_ms, 30000, 3600000);
        check_range(&b, "cluster-unhealthy-threshold", f->unhealthy_threshold_ms, 30000, 3600000);
        check_range(&b, "resync-period", f->resync_ms, 3600000, 12 * 3600000LL);
        check_range(&b, "resource-snapshot-creation-minimum-interval", f->snapshot_min_interval_ms, 0,
                    300000);
        check_range(&b, "resource-changes-collection-duration", f->change_collect_ms, 0, 60000);
        check_range(&b, "rate-limiter-base-delay", f->limiter_base_ms, 1, 200);
        check_range(&b, "rate-limiter-max-delay", f->limiter_max_ms, 1000, 300000);
        if (f->limiter_base_ms >= f->limiter_max_ms)
                buf_append_str(&b, "rate-limiter-base-delay must be below rate-limiter-max-delay; ");
        if (f->limiter_qps > f->limiter_bucket)
                buf_append_str(&b, "rate-limiter-qps must not exceed rate-limiter-bucket-size; ");
        if (f->hub_burst < f->hub_qps)
                buf_append_str(&b, "hub-api-burst must not be below hub-api-qps; ");
        if (f->election_burst < f->election_qps)
                buf_append_str(&b, "leader-election-burst must not be below leader-election-qps; ");
        if (f->lease_duration_ms <= f->renew_deadline_ms || f->renew_deadline_ms <= f->retry_period_ms)
                buf_append_str(
                        &b,
                        "leader-lease-duration > leader-renew-deadline > leader-retry-period must hold; ");
        if (f->shards > 0 && !f->leader_elect)
                buf_append_str(&b, "shards needs leader-elect; ");
        if (!text_empty(f->skipped_apis) && !text_empty(f->allowed_apis))
                buf_append_str(&b,
                               "skipped-propagating-apis and allowed-propagating-apis exclude each other; ");
        if (!f->enable_v1beta1)
                buf_append_str(&b,
                               "the KubeFleet v1beta1 APIs are the storage version and must be enabled; ");
        if (f->set_retry_least_ms < 1 || f->set_retry_least_ms > f->set_retry_most_ms)
                buf_append_str(&b, "resource-set-min-retry-delay must be above 0 and not above "
                                   "resource-set-max-retry-delay; ");
        check_webhook(&b, f);
        check_sets(&b, f);
        check_sources(&b, f);
        if (b.len == 0)
                return 0;
        return error_set(err, ERR_INVALID, "%.*s", (int)b.len - 2, b.data);
}

/* Names between commas, in place of what is there. */
static int split_managers(struct flag_strings *into, const char *list, struct arena *arena, struct error *err)
{
        into->n = 0;
        for (struct slice rest = slice_of(list); rest.len;) {
                const char *comma = memchr(rest.data, ',', rest.len);
                struct slice one = { rest.data, comma ? (size_t)(comma - rest.data) : rest.len };

                rest = comma ? slice_of(comma + 1) : (struct slice){ NULL, 0 };
                one = slice_trim(one);
                if (one.len == 0)
                        continue;
                if (into->n == FLAG_STRINGS_MAX)
                        return error_set(err, ERR_LIMIT, "OVERRIDE_MANAGERS: more than %d names",
                                         FLAG_STRINGS_MAX);
                into->at[into->n] = arena_strndup(arena, one.data, one.len);
                if (!into->at[into->n++])
                        return error_no_memory(err);
        }
        into->at[into->n] = NULL;
        return 0;
}

int hub_flags_take_environment(struct hub_flags *f, const struct world *w, struct arena *arena,
                               struct error *err)
{
        const char *account = w->process->getenv(w->ctx, "DEFAULT_SERVICE_ACCOUNT");
        const char *managers = w->process->getenv(w->ctx, "OVERRIDE_MANAGERS");

        if (text_empty(f->default_service_account) && account)
                f->default_service_account = account;
        return text_empty(managers) ? 0 : split_managers(&f->override_managers, managers, arena, err);
}
