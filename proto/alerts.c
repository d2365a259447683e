#include "proto/alerts.h"

#define LABELS(name, ...) static const char *const name[] = { __VA_ARGS__, NULL }

LABELS(by_controller, "job", "controller");
LABELS(by_verb, "job", "verb");
LABELS(by_code, "job", "code");
LABELS(by_condition, "job", "conditionType");
LABELS(by_status, "job", "apply_status");

/* Only what the leader says holds: who led before keeps its series until it ends. */
#define OF_LEADER " and on (job, instance) (@leader_election_master_status == 1)"
/* What belongs to placements: with --shards each holder of some says it of its own. */
#define OF_HOLDER " and on (job, instance) (@leader_election_master_status == 1 or @argosy_shards_held > 0)"
/* A counter that is there only from its first event on: its beginning is no increase to Prometheus. */
#define HAPPENED(series, range)                                                                              \
        "increase(" series "[" range "]) > 0 or (" series " > 0 unless " series " offset " range ")"

const struct recorded recorded_series[] = {
        { "argosy:reconcile_errors:ratio_rate5m", METRIC_OF_BOTH, by_controller,
          "sum by (job, controller) (rate(@controller_runtime_reconcile_errors_total[5m]))"
          " / (sum by (job, controller) (rate(@controller_runtime_reconcile_total[5m])) > 0)" },
        { "argosy:queue_wait_seconds:p99_5m", METRIC_OF_BOTH, by_controller,
          "histogram_quantile(0.99, sum by (job, controller, le)"
          " (rate(@workqueue_queue_duration_seconds_bucket[5m])))" },
        { "argosy:api_requests:rate5m", METRIC_OF_BOTH, by_code,
          "sum by (job, code) (rate(@argosy_api_requests_total[5m]))" },
        { "argosy:api_request_seconds:p99_5m", METRIC_OF_BOTH, by_verb,
          "histogram_quantile(0.99, sum by (job, verb, le)"
          " (rate(@argosy_api_request_duration_seconds_bucket[5m])))" },
        { "argosy:placements:count", METRIC_OF_HUB, by_condition,
          "count by (job, conditionType) (@fleet_workload_placement_status_last_timestamp_seconds" OF_HOLDER
          ")" },
        { "argosy:manifests:rate5m", METRIC_OF_MEMBER, by_status,
          "sum by (job, apply_status) (rate(@fleet_manifest_processing_requests_total[5m]))" },
        { 0 },
};

const char *const severities[] = {
        [SEVERITY_CRITICAL] = "critical",
        [SEVERITY_WARNING] = "warning",
        [SEVERITY_INFO] = "info",
};

#define PLACEMENT "fleet_workload_placement_status_last_timestamp_seconds"
#define BY_PLACEMENT "by (job, instance, exported_namespace, name) "
#define RUN "@fleet_workload_update_run_status_last_timestamp_seconds"
#define BY_RUN "by (job, instance, exported_namespace, name) "
#define MANIFESTS "@fleet_manifest_processing_requests_total"
/* A run keeps the series of all states that it was in: it is in the one with the newest time. */
#define RUN_IS(state)                                                                                        \
        "max " BY_RUN "(" RUN state ") == on (job, instance, exported_namespace, name) max " BY_RUN "(" RUN  \
        ")" OF_HOLDER
#define NAMED "{{ with $labels.exported_namespace }}{{ . }}/{{ end }}{{ $labels.name }}"

const struct alert alerts[] = {
        /* ---- the agent itself ---- */
        { "ArgosyAgentAbsent", METRIC_OF_BOTH, SEVERITY_CRITICAL, "5m",
          "absent(@leader_election_master_status)",
          "No agent of {{ $labels.job }} gives metrics: none runs, or Prometheus does not reach it." },
        { "ArgosyNoLeader", METRIC_OF_BOTH, SEVERITY_CRITICAL, "3m",
          "max by (job) (@leader_election_master_status) == 0",
          "Agents of {{ $labels.job }} run, but none of them leads, so nothing is done." },
        { "ArgosyAgentRestarts", METRIC_OF_BOTH, SEVERITY_WARNING, NULL,
          "changes(@process_start_time_seconds[30m]) > 2",
          "The agent {{ $labels.instance }} was started anew {{ $value }} times within half an hour." },
        { "ArgosyOpenFiles", METRIC_OF_BOTH, SEVERITY_WARNING, "10m",
          "@process_open_fds / @process_max_fds > 0.8",
          "The agent {{ $labels.instance }} has used {{ $value | humanizePercentage }} of the files and "
          "sockets that it may open." },
        { "ArgosySeriesDropped", METRIC_OF_BOTH, SEVERITY_INFO, NULL,
          "increase(@argosy_metric_series_dropped_total[1h]) > 0",
          "A metric of {{ $labels.instance }} is full: what else would stand in it is not told." },

        /* ---- the way to API servers ---- */
        { "ArgosyConnectionBad", METRIC_OF_BOTH, SEVERITY_CRITICAL, "5m", "@argosy_connection_good == 0",
          "The API server \"{{ $labels.server }}\" cannot be used by {{ $labels.instance }}." },
        { "ArgosyRightMissing", METRIC_OF_BOTH, SEVERITY_WARNING, "10m",
          "@argosy_connection_trouble{reason=\"RightMissing\"} > 0",
          "{{ $labels.instance }} lacks {{ $value }} right(s) on the API server \"{{ $labels.server }}\"." },
        { "ArgosyApiThrottled", METRIC_OF_BOTH, SEVERITY_WARNING, "15m",
          "sum by (job) (@argosy:api_requests:rate5m{code=\"429\"}) > 0.1",
          "The API server turns away {{ $value | humanize }} requests of {{ $labels.job }} a second (429)." },
        { "ArgosyApiErrors", METRIC_OF_BOTH, SEVERITY_WARNING, "15m",
          "sum by (job) (@argosy:api_requests:rate5m{code=~\"0|5..\"})"
          " / sum by (job) (@argosy:api_requests:rate5m) > 0.05",
          "{{ $value | humanizePercentage }} of the requests of {{ $labels.job }} fail at the API server." },
        { "ArgosyApiSlow", METRIC_OF_BOTH, SEVERITY_WARNING, "15m",
          "@argosy:api_request_seconds:p99_5m{verb=~\"get|create|patch|update|delete\"} > 1",
          "One of a hundred requests ({{ $labels.verb }}) of {{ $labels.job }} takes "
          "{{ $value | humanizeDuration }} or longer." },

        /* ---- its work ---- */
        { "ArgosyQueueWaits", METRIC_OF_BOTH, SEVERITY_WARNING, "15m",
          "@argosy:queue_wait_seconds:p99_5m > 10",
          "Keys of {{ $labels.controller }} ({{ $labels.job }}) wait {{ $value | humanizeDuration }} before "
          "they are looked at." },
        { "ArgosyReconcileStuck", METRIC_OF_BOTH, SEVERITY_WARNING, "5m",
          "@workqueue_longest_running_processor_seconds > 600",
          "A reconcile of {{ $labels.controller }} on {{ $labels.instance }} has run for "
          "{{ $value | humanizeDuration }}." },
        { "ArgosyReconcileErrors", METRIC_OF_BOTH, SEVERITY_WARNING, "15m",
          "@argosy:reconcile_errors:ratio_rate5m > 0.2",
          "{{ $value | humanizePercentage }} of the reconciles of {{ $labels.controller }} "
          "({{ $labels.job }}) fail." },
        { "ArgosyUndecodableObject", METRIC_OF_BOTH, SEVERITY_WARNING, NULL,
          HAPPENED("@argosy_undecodable_objects_total", "15m"),
          "An object of {{ $labels.resource }} cannot be read; it counts as it was last known." },

        /* ---- the fleet, seen from the hub ---- */
        { "ArgosyMemberNotHeard", METRIC_OF_HUB, SEVERITY_WARNING, "5m",
          "@argosy_member_heard == 0" OF_LEADER,
          "Nothing is heard of the agent of member {{ $labels.name }}." },
        { "ArgosyManyMembersNotHeard", METRIC_OF_HUB, SEVERITY_CRITICAL, "5m",
          "count by (job, instance) (@argosy_member_heard == 0)"
          " / count by (job, instance) (@argosy_member_heard) > 0.2" OF_LEADER,
          "Nothing is heard of {{ $value | humanizePercentage }} of the members." },
        { "ArgosyMembersHeardLate", METRIC_OF_HUB, SEVERITY_WARNING, NULL,
          HAPPENED("@argosy_members_heard_late_total", "15m"),
          "What {{ $labels.instance }} hears of members comes late; it asks for those that would look "
          "silent." },
        { "ArgosyPlacementNotScheduled", METRIC_OF_HUB, SEVERITY_WARNING, "15m",
          "count " BY_PLACEMENT "(@" PLACEMENT
          "{conditionType=~\".*Scheduled\",status=\"False\"}) > 0" OF_HOLDER,
          "Placement " NAMED " does not find the clusters that it wants, or its selectors cannot be used." },
        { "ArgosyPlacementNotAvailable", METRIC_OF_HUB, SEVERITY_WARNING, "30m",
          "count " BY_PLACEMENT "(@" PLACEMENT
          "{conditionType!=\"Completed\",conditionType!~\".*Scheduled\"}) > 0" OF_HOLDER,
          "Placement " NAMED " has not been rolled out, applied and available for half an hour." },
        { "ArgosyUpdateRunWaits", METRIC_OF_HUB, SEVERITY_INFO, "4h",
          RUN_IS("{condition=\"Progressing\",reason=\"UpdateRunWaiting\"}"),
          "Update run " NAMED " has waited for an approval, or a time, for hours." },
        { "ArgosyUpdateRunStuck", METRIC_OF_HUB, SEVERITY_WARNING, "5m",
          RUN_IS("{condition=\"Progressing\",reason=\"UpdateRunStuck\"}"),
          "Update run " NAMED " goes on no further: a cluster of its stage does not become available." },
        { "ArgosyUpdateRunFailed", METRIC_OF_HUB, SEVERITY_WARNING, NULL,
          RUN_IS("{condition=~\"Succeeded|Initialized\",status=\"False\"}"),
          "Update run " NAMED " has failed." },
        { "ArgosyWebhookErrors", METRIC_OF_HUB, SEVERITY_WARNING, "10m",
          "sum by (job, webhook) (rate(@controller_runtime_webhook_requests_total{code!=\"200\"}[5m])) > 0",
          "The webhook {{ $labels.webhook }} cannot answer reviews: what it is asked for is refused." },
        { "ArgosyWebhookCertificate", METRIC_OF_HUB, SEVERITY_WARNING, "10m",
          "increase(@certwatcher_read_certificate_errors_total[15m]) > 0",
          "The webhooks' certificate cannot be read by {{ $labels.instance }}." },
        { "ArgosyResourceSetNotReady", METRIC_OF_HUB, SEVERITY_WARNING, "15m",
          "@flux_resourceset_info{ready=\"False\",suspended=\"False\"} == 1" OF_LEADER,
          "ResourceSet " NAMED " is not ready: {{ $labels.reason }}." },

        /* ---- a member ---- */
        { "ArgosyApplyFailures", METRIC_OF_MEMBER, SEVERITY_WARNING, "15m",
          "sum by (job, apply_status) (increase(" MANIFESTS
          "{apply_status!~\"Applied|AppliedWithFailedDriftDetection|Skipped|Unknown|PreparingToProcess\"}["
          "20m])) "
          "> 0",
          "Manifests cannot be applied on this cluster: {{ $labels.apply_status }}." },
        { "ArgosyDriftFound", METRIC_OF_MEMBER, SEVERITY_WARNING, "5m",
          "sum by (job) (increase(" MANIFESTS "{drift_detection_status=\"Found\"}[20m])) > 0",
          "Placed objects were changed on this cluster." },
        { "ArgosyWorkloadNotAvailable", METRIC_OF_MEMBER, SEVERITY_WARNING, "30m",
          "sum by (job, availability_status) (increase(" MANIFESTS
          "{availability_status=~\"ManifestNotAvailableYet|Failed\"}[20m])) > 0",
          "Placed objects on this cluster do not become available: {{ $labels.availability_status }}." },
        { "ArgosyTokenNotRenewed", METRIC_OF_MEMBER, SEVERITY_WARNING, "2m",
          "time() - @argosy_hub_token_renewal_timestamp_seconds > 180",
          "The token for the hub is due since {{ $value | humanizeDuration }}, and there is no new one." },
        { "ArgosyTokenExpired", METRIC_OF_MEMBER, SEVERITY_CRITICAL, NULL,
          "time() - @argosy_hub_token_expiry_timestamp_seconds > 0",
          "The token for the hub ended {{ $value | humanizeDuration }} ago: the hub takes this member no "
          "more." },
        { "ArgosyStateFileBad", METRIC_OF_MEMBER, SEVERITY_WARNING, "5m", "@argosy_state_file_good == 0",
          "{{ $labels.instance }} keeps its state in memory only: it is lost with the process." },
        { "ArgosyPropertiesMissing", METRIC_OF_MEMBER, SEVERITY_INFO, "30m",
          "increase(@argosy_property_collections_total{result=\"missing\"}[30m]) > 0",
          "The provider {{ $labels.provider }} does not bring this cluster's properties." },
        { "ArgosyObjectSetStuck", METRIC_OF_MEMBER, SEVERITY_WARNING, "15m",
          "@argosy_object_sets{state=\"Active\",reason=~\"Blocked|ProgressDeadlineExceeded\"} > 0" OF_LEADER,
          "{{ $value }} ClusterObjectSet(s) of this cluster do not go on: {{ $labels.reason }}." },
};
const size_t n_alerts = ARRAY_LEN(alerts);
