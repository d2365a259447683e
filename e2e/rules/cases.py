"""Series under which each alert is raised, and others under which it is not: for `promtool test rules`.

A case: the alert; the charts whose rules have it; series that raise it; how many are raised; series that do not. A
series is `name{labels}` without job, and without instance where there is one only; its values are a minute apart in
promtool's notation (`a+bxn`: n more, each greater by b); all of them hold from minute 0 on. `at` is the minute that is looked
at, by then whatever the rule waits for has passed; one minute before its `for` nothing may be raised yet.

A value: a recorded series, or "panel" and a panel's title; the chart; series; what its query's samples add up to.
"""

BOTH = ("hub-agent", "member-agent")
HUB = ("hub-agent",)
MEMBER = ("member-agent",)

LEADS = {"leader_election_master_status{name=\"l\"}": "1x400"}
FOLLOWS = {"leader_election_master_status{name=\"l\"}": "0x400"}
# Two replicas with --shards and one that lost its shards, of which the first leads.
SHARED = {'leader_election_master_status{instance="a",name="l"}': "1x400", 'argosy_shards_held{instance="a"}': "2x400",
          'leader_election_master_status{instance="b",name="l"}': "0x400", 'argosy_shards_held{instance="b"}': "2x400",
          'leader_election_master_status{instance="c",name="l"}': "0x400", 'argosy_shards_held{instance="c"}': "0x400"}
PLACEMENT = "fleet_workload_placement_status_last_timestamp_seconds"
RUN = "fleet_workload_update_run_status_last_timestamp_seconds"
MANIFESTS = "fleet_manifest_processing_requests_total"
QUEUE = "workqueue_queue_duration_seconds_bucket{name=\"q\",controller=\"c\",le=\"%s\"}"
API = "argosy_api_request_duration_seconds_bucket{verb=\"%s\",le=\"%s\"}"


def placement(condition, status="False", name="web", namespace=""):
    return {f'{PLACEMENT}{{exported_namespace="{namespace}",name="{name}",generation="1",'
            f'conditionType="{condition}",status="{status}",reason="r"}}': "100x400"}


def run(condition, reason, status="False", seen="100", name="r"):
    return {f'{RUN}{{exported_namespace="",name="{name}",state="Run",condition="{condition}",status="{status}",'
            f'reason="{reason}",failureType="none"}}': f"{seen}x400"}


def at(instance, given):
    return {name.replace("{", f'{{instance="{instance}",', 1): values for name, values in given.items()}


def manifests(apply="Applied", available="Available", drift="NotFound", grows=3):
    return {f'{MANIFESTS}{{apply_status="{apply}",availability_status="{available}",diff_reporting_status="Skipped",'
            f'drift_detection_status="{drift}",diff_detection_status="NotFound"}}': f"0+{grows}x400"}


def buckets(template, values):
    return {template % key: value for key, value in values.items()}


def api(code, grows):
    return {f'argosy_api_requests_total{{verb="get",resource="works",code="{code}"}}': f"0+{grows}x400"}


CASES = [
    ("ArgosyAgentAbsent", BOTH, {"process_open_fds": "1x400"}, 1, LEADS),
    ("ArgosyNoLeader", BOTH, FOLLOWS, 1, LEADS),
    ("ArgosyAgentRestarts", BOTH, {"process_start_time_seconds": "1 1 2 2 3 3 4x400"}, 1,
     {"process_start_time_seconds": "1 1 2x400"}, 20),
    ("ArgosyOpenFiles", BOTH, {"process_open_fds": "900x400", "process_max_fds": "1000x400"}, 1,
     {"process_open_fds": "700x400", "process_max_fds": "1000x400"}),
    ("ArgosySeriesDropped", BOTH, {"argosy_metric_series_dropped_total": "0+1x400"}, 1,
     {"argosy_metric_series_dropped_total": "7x400"}),
    ("ArgosyConnectionBad", BOTH, {'argosy_connection_good{server="hub"}': "0x400"}, 1,
     {'argosy_connection_good{server="hub"}': "1x400"}),
    ("ArgosyRightMissing", BOTH, {'argosy_connection_trouble{server="hub",reason="RightMissing"}': "2x400"}, 1,
     {'argosy_connection_trouble{server="hub",reason="Refused"}': "1x400"}),
    ("ArgosyApiThrottled", BOTH, {**api(429, 60), **api(200, 60)}, 1, {**api(429, 2), **api(200, 60)}),
    ("ArgosyApiErrors", BOTH, {**api(200, 90), **api(503, 5), **api(0, 5)}, 1, {**api(200, 96), **api(503, 4)}),
    ("ArgosyApiSlow", BOTH, buckets(API, {("get", "1"): "0+50x400", ("get", "5"): "0+60x400", ("get", "+Inf"): "0+60x400"}),
     1, {**buckets(API, {("get", "1"): "0+60x400", ("get", "+Inf"): "0+60x400"}),
         **buckets(API, {("list", "1"): "0x400", ("list", "5"): "0+60x400", ("list", "+Inf"): "0+60x400"})}),
    ("ArgosyQueueWaits", BOTH, buckets(QUEUE, {"10": "0+50x400", "100": "0+60x400", "+Inf": "0+60x400"}), 1,
     buckets(QUEUE, {"1": "0+60x400", "10": "0+60x400", "+Inf": "0+60x400"})),
    ("ArgosyReconcileStuck", BOTH,
     {'workqueue_longest_running_processor_seconds{name="q",controller="c"}': "601+60x400"}, 1,
     {'workqueue_longest_running_processor_seconds{name="q",controller="c"}': "599x400"}),
    ("ArgosyReconcileErrors", BOTH,
     {'controller_runtime_reconcile_errors_total{controller="c"}': "0+3x400",
      'controller_runtime_reconcile_total{controller="c",result="error"}': "0+3x400",
      'controller_runtime_reconcile_total{controller="c",result="success"}': "0+7x400"}, 1,
     {'controller_runtime_reconcile_errors_total{controller="c"}': "0+1x400",
      'controller_runtime_reconcile_total{controller="c",result="error"}': "0+1x400",
      'controller_runtime_reconcile_total{controller="c",result="success"}': "0+9x400"}),
    ("ArgosyUndecodableObject", BOTH, {'argosy_undecodable_objects_total{resource="works"}': "_x5 1x400"}, 1,
     {'argosy_undecodable_objects_total{resource="works"}': "3x400"}, 18),
    ("ArgosyMemberNotHeard", HUB,
     {**LEADS, 'argosy_member_heard{name="a"}': "0x400", 'argosy_member_heard{name="b"}': "1x400"}, 1,
     {**FOLLOWS, 'argosy_member_heard{name="a"}': "0x400"}),
    ("ArgosyManyMembersNotHeard", HUB,
     {**LEADS, 'argosy_member_heard{name="a"}': "0x400", 'argosy_member_heard{name="b"}': "1x400",
      'argosy_member_heard{name="c"}': "1x400"}, 1,
     {**LEADS, **{f'argosy_member_heard{{name="{n}"}}': f"{int(n != 'a')}x400" for n in "abcdef"}}),
    ("ArgosyMembersHeardLate", HUB, {"argosy_members_heard_late_total": "_x5 1x400"}, 1,
     {"argosy_members_heard_late_total": "3x400"}, 18),
    ("ArgosyPlacementNotScheduled", HUB,
     {**LEADS, **placement("ClusterResourcePlacementScheduled"), **placement("ResourcePlacementScheduled", namespace="n")},
     2, {**LEADS, **placement("ClusterResourcePlacementScheduled", status="Unknown"),
         **placement("ClusterResourcePlacementApplied", name="other")}),
    ("ArgosyPlacementNotAvailable", HUB,
     {**LEADS, **placement("ClusterResourcePlacementAvailable"), **placement("ResourcePlacementApplied", "nil", namespace="n")},
     2, {**LEADS, **placement("Completed", "True"), **placement("ClusterResourcePlacementScheduled", name="other")}),
    ("ArgosyUpdateRunWaits", HUB,
     {**LEADS, **run("Progressing", "UpdateRunProgressing", "True", "50"), **run("Progressing", "UpdateRunWaiting")}, 1,
     {**LEADS, **run("Progressing", "UpdateRunProgressing", "True", "200"), **run("Progressing", "UpdateRunWaiting")}, 300),
    ("ArgosyUpdateRunStuck", HUB, {**LEADS, **run("Progressing", "UpdateRunStuck")}, 1,
     {**LEADS, **run("Progressing", "UpdateRunStuck"), **run("Progressing", "UpdateRunProgressing", "True", "101")}),
    ("ArgosyUpdateRunFailed", HUB,
     {**LEADS, **run("Succeeded", "UpdateRunFailed"), **run("Initialized", "UpdateRunInitializedFailed", name="s")}, 2,
     {**LEADS, **run("Succeeded", "UpdateRunSucceeded", "True", "101")}),
    # A placement, or a run, is shown by who holds its shard, which need not be the one that leads.
    ("ArgosyPlacementNotScheduled", HUB,
     {**SHARED, **at("a", placement("ClusterResourcePlacementScheduled")),
      **at("b", placement("ClusterResourcePlacementScheduled", name="other"))},
     2, {**SHARED, **at("c", placement("ClusterResourcePlacementScheduled"))}),
    ("ArgosyPlacementNotAvailable", HUB,
     {**SHARED, **at("a", placement("ClusterResourcePlacementApplied")),
      **at("b", placement("ClusterResourcePlacementApplied", name="other"))},
     2, {**SHARED, **at("c", placement("ClusterResourcePlacementApplied"))}),
    ("ArgosyUpdateRunWaits", HUB, {**SHARED, **at("b", run("Progressing", "UpdateRunWaiting"))}, 1,
     {**SHARED, **at("c", run("Progressing", "UpdateRunWaiting"))}),
    ("ArgosyUpdateRunStuck", HUB, {**SHARED, **at("b", run("Progressing", "UpdateRunStuck"))}, 1,
     {**SHARED, **at("c", run("Progressing", "UpdateRunStuck"))}),
    ("ArgosyUpdateRunFailed", HUB, {**SHARED, **at("b", run("Succeeded", "UpdateRunFailed"))}, 1,
     {**SHARED, **at("c", run("Succeeded", "UpdateRunFailed"))}),
    # What is not shared out is shown by the leader alone.
    ("ArgosyMemberNotHeard", HUB, {**SHARED, **at("a", {'argosy_member_heard{name="m"}': "0x400"})}, 1,
     {**SHARED, **at("b", {'argosy_member_heard{name="m"}': "0x400"})}),
    ("ArgosyWebhookErrors", HUB, {'controller_runtime_webhook_requests_total{webhook="/v",code="500"}': "0+1x400"}, 1,
     {'controller_runtime_webhook_requests_total{webhook="/v",code="200"}': "0+1x400"}),
    ("ArgosyWebhookCertificate", HUB, {"certwatcher_read_certificate_errors_total": "0+1x400"}, 1,
     {"certwatcher_read_certificate_errors_total": "5x400"}),
    ("ArgosyResourceSetNotReady", HUB,
     {**LEADS, 'flux_resourceset_info{name="s",ready="False",suspended="False",reason="BuildFailed"}': "1x400"}, 1,
     {**LEADS, 'flux_resourceset_info{name="s",ready="False",suspended="True",reason="BuildFailed"}': "1x400",
      'flux_resourceset_info{name="t",ready="True",suspended="False",reason="Ready"}': "1x400"}),
    ("ArgosyApplyFailures", MEMBER, {**manifests(), **manifests("ManifestApplyFailed")}, 1,
     {**manifests(), **manifests("ManifestApplyFailed", grows=0), **manifests("Unknown")}),
    ("ArgosyDriftFound", MEMBER, manifests(drift="Found"), 1, {**manifests(), **manifests(drift="Found", grows=0)}),
    ("ArgosyWorkloadNotAvailable", MEMBER, manifests(available="ManifestNotAvailableYet"), 1,
     {**manifests(), **manifests(available="NotTrackable")}, 60),
    # Time begins at 0 in these tests.
    ("ArgosyTokenNotRenewed", MEMBER, {"argosy_hub_token_renewal_timestamp_seconds": "60x400"}, 1,
     {"argosy_hub_token_renewal_timestamp_seconds": "60000x400"}),
    ("ArgosyTokenExpired", MEMBER, {"argosy_hub_token_expiry_timestamp_seconds": "60x400"}, 1,
     {"argosy_hub_token_expiry_timestamp_seconds": "60000x400"}),
    ("ArgosyStateFileBad", MEMBER, {"argosy_state_file_good": "0x400"}, 1, {"argosy_state_file_good": "1x400"}),
    ("ArgosyPropertiesMissing", MEMBER,
     {'argosy_property_collections_total{provider="azure",result="missing"}': "0+1x400"}, 1,
     {'argosy_property_collections_total{provider="azure",result="collected"}': "0+1x400"}, 60),
    ("ArgosyObjectSetStuck", MEMBER, {**LEADS, 'argosy_object_sets{state="Active",reason="Blocked"}': "1x400"}, 1,
     {**LEADS, 'argosy_object_sets{state="Archived",reason="Blocked"}': "1x400",
      'argosy_object_sets{state="Active",reason="RollingOut"}': "3x400"}),
]

THREE = {**at("a", placement("ClusterResourcePlacementApplied")), **at("b", placement("ClusterResourcePlacementApplied", name="b")),
         **at("c", placement("ClusterResourcePlacementApplied", name="c"))}
VALUES = [
    ("argosy:placements:count", "hub-agent", {**LEADS, **placement("ClusterResourcePlacementApplied")}, 1),
    ("argosy:placements:count", "hub-agent", {**FOLLOWS, **placement("ClusterResourcePlacementApplied")}, None),
    ("argosy:placements:count", "hub-agent", {**SHARED, **THREE}, 2),
    ("panel Placements under way", "hub-agent", {**SHARED, **THREE}, 2),
    ("panel Placements by how far they are", "hub-agent", {**SHARED, **THREE}, 2),
]
