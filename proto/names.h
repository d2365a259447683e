/* Every name and fixed text of the API that is not a field: labels, annotations, finalizers, object names,
 * conditions, reasons, messages and enum values (spec/api.md 9-14). Texts with %s or %zu are printf formats.
 */
#pragma once

#define FLEET_PREFIX "kubernetes-fleet.io/"

/* ---- groups and versions ---- */
#define GROUP_CLUSTER "cluster.kubernetes-fleet.io"
#define GROUP_PLACEMENT "placement.kubernetes-fleet.io"
#define GROUP_MULTICLUSTER "multicluster.x-k8s.io"
#define GROUP_NETWORKING "networking.fleet.azure.com"
#define VERSION_STORAGE "v1beta1"

/* ---- labels (9) ---- */
#define LABEL_PARENT_PLACEMENT FLEET_PREFIX "parent-CRP" /* CRP or RP */
#define LABEL_IS_LATEST_SNAPSHOT FLEET_PREFIX "is-latest-snapshot"
#define LABEL_RESOURCE_INDEX FLEET_PREFIX "resource-index"
#define LABEL_POLICY_INDEX FLEET_PREFIX "policy-index"
#define LABEL_OVERRIDE_INDEX FLEET_PREFIX "override-index"
#define LABEL_PARENT_OVERRIDE FLEET_PREFIX "parent-resource-override"
#define LABEL_PARENT_BINDING FLEET_PREFIX "parent-resource-binding"
#define LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX FLEET_PREFIX "parent-resource-snapshot-index"
#define LABEL_PARENT_PLACEMENT_NAMESPACE FLEET_PREFIX "parent-placement-namespace"
#define LABEL_ENVELOPE_TYPE FLEET_PREFIX "envelope-work"
#define LABEL_ENVELOPE_NAME FLEET_PREFIX "envelope-name"
#define LABEL_ENVELOPE_NAMESPACE FLEET_PREFIX "envelope-namespace"
#define LABEL_IS_FLEET_RESOURCE FLEET_PREFIX "is-fleet-resource"
#define LABEL_MEMBER_NAME FLEET_PREFIX "member-name"
#define LABEL_TARGET_UPDATE_RUN FLEET_PREFIX "targetUpdateRun"
#define LABEL_TARGET_UPDATING_STAGE FLEET_PREFIX "targetUpdatingStage"
#define LABEL_TASK_TYPE FLEET_PREFIX "taskType"
#define LABEL_IS_LATEST_UPDATE_RUN_APPROVAL FLEET_PREFIX "isLatestUpdateRunApproval"
#define LABEL_SHARDS FLEET_PREFIX "hub-agent-shards" /* of Leases: how many shards their layout has */
#define LABEL_CLUSTER_MANAGER "x-k8s.io/cluster-manager"
#define LABEL_ADMISSIONS_ENFORCER_DISABLED "admissions.enforcer/disabled"
#define LABEL_APP_MANAGED_BY "app.kubernetes.io/managed-by"
#define LABEL_APP_PART_OF "app.kubernetes.io/part-of"
#define LABEL_APP_COMPONENT "app.kubernetes.io/component"
#define LABEL_TRUE "true"
#define LABEL_FALSE "false"
#define TASK_TYPE_BEFORE_STAGE "beforeStage"
#define TASK_TYPE_AFTER_STAGE "afterStage"
#define APP_MANAGED_BY_HUB_AGENT "fleet-hub-agent"
#define APP_PART_OF_FLEET "fleet"
#define APP_COMPONENT_ADMISSION_POLICY "admission-policy-manager"
#define LABEL_VALUE_MAX 63 /* names recorded in labels must not be longer */

/* ---- annotations (10) ---- */
#define ANNOTATION_PLACEMENT_GENERATION FLEET_PREFIX "CRP-generation"
#define ANNOTATION_NUMBER_OF_CLUSTERS FLEET_PREFIX "number-of-clusters"
#define ANNOTATION_RESOURCE_HASH FLEET_PREFIX "resource-hash"
#define ANNOTATION_NUMBER_OF_RESOURCE_SNAPSHOTS FLEET_PREFIX "number-of-resource-snapshots"
#define ANNOTATION_NUMBER_OF_ENVELOPED_OBJECTS FLEET_PREFIX "number-of-enveloped-object"
#define ANNOTATION_RESOURCE_SUBINDEX FLEET_PREFIX "subindex-of-resource-snapshot"
#define ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME FLEET_PREFIX "next-resource-snapshot-candidate-detection-time"
#define ANNOTATION_PREVIOUS_BINDING_STATE FLEET_PREFIX "previous-binding-state"
#define ANNOTATION_PARENT_RESOURCE_SNAPSHOT FLEET_PREFIX "parent-resource-snapshot-name"
#define ANNOTATION_OVERRIDE_SNAPSHOT_HASH FLEET_PREFIX "parent-resource-override-snapshot-hash"
#define ANNOTATION_CLUSTER_OVERRIDE_SNAPSHOT_HASH                                                            \
        FLEET_PREFIX "parent-cluster-resource-override-snapshot-hash"
/* On the Works of one binding: the set that they make together, "INDEX/OVERRIDE-HASHES/N" (work_set.h of the
 * member's applier reads it). Of our own: other agents' Works have none. */
#define ANNOTATION_WORK_SET FLEET_PREFIX "work-set"
#define WORK_SET_HASH_DIGITS 16 /* of each of the two override hashes, with '.' between them */
/* On a Work: the generation that its last write by a hub-agent gave it, and a hash of its manifests as they
 * were written, "GENERATION/HASH": one of another generation was changed by somebody else. Of our own. */
#define ANNOTATION_WORK_GENERATION FLEET_PREFIX "work-generation"
/* On a Work: hash of what its overrides took from the cluster's labels, together with its snapshot and
 * overrides; absent when they took nothing. Of our own. */
#define ANNOTATION_CLUSTER_LABELS_HASH FLEET_PREFIX "cluster-labels-hash"
/* On an AppliedWork: a hash of the member's name and the hub's address, of those who made it. Of our own. */
#define ANNOTATION_OWNER FLEET_PREFIX "owner"
/* Of an AppliedWork: where it comes from, and since when it is of that snapshot. */
#define ANNOTATION_FROM_PLACEMENT FLEET_PREFIX "placement" /* NAME, or NAMESPACE/NAME */
#define ANNOTATION_FROM_SNAPSHOT FLEET_PREFIX "resource-snapshot-index"
#define ANNOTATION_SINCE FLEET_PREFIX "since"
/* On a binding that an eviction was to delete, and is not going to: its name. */
#define ANNOTATION_EVICTION_TAKEN_BACK FLEET_PREFIX "eviction-taken-back"
/* Ours, of a binding or Work that is about to go: what it placed stays on the member (DELETE_ABANDON). */
#define ANNOTATION_DELETE_POLICY FLEET_PREFIX "propagation-policy"
#define DELETE_ABANDON "Abandon"
/* On an object that is placed: paths of fields that its cluster may change (member-agent/apply/ignore.h). Of
 * our own. */
#define ANNOTATION_IGNORE_DIFFERENCES FLEET_PREFIX "ignore-differences"
#define ANNOTATION_SPEC_HASH FLEET_PREFIX "spec-hash"
#define ANNOTATION_LAST_APPLIED FLEET_PREFIX "last-applied-configuration"
#define ANNOTATION_INJECT_CA_FROM "cert-manager.io/inject-ca-from"
#define ANNOTATION_FLEET_MANAGED_PREFIX                                                                      \
        "fleet.azure.com"                  /* a MemberCluster with such a key is fleet-managed */
#define ANNOTATIONS_MAX_BYTES (256 * 1024) /* Kubernetes' limit on all annotations of an object */

/* ---- finalizers (11.1) ---- */
#define FINALIZER_MEMBER_CLUSTER FLEET_PREFIX "membercluster-finalizer"
#define FINALIZER_CLUSTER_PROFILE FLEET_PREFIX "cluster-profile-cleanup"
#define FINALIZER_PLACEMENT FLEET_PREFIX "crp-cleanup" /* CRP and RP */
#define FINALIZER_SCHEDULER FLEET_PREFIX "scheduler-cleanup"
#define FINALIZER_SCHEDULER_BINDING FLEET_PREFIX "scheduler-crb-cleanup"
#define FINALIZER_WORK FLEET_PREFIX "work-cleanup" /* bindings (work generator) and Works (work applier) */
#define FINALIZER_OVERRIDE FLEET_PREFIX "override-cleanup"
#define FINALIZER_UPDATE_RUN FLEET_PREFIX "stagedupdaterun-finalizer"

/* ---- names of objects (11.2) ---- */
#define NAME_MEMBER_NAMESPACE "fleet-member-%s" /* cluster */
#define NAME_MEMBER_ROLE "fleet-role-%s"
#define NAME_MEMBER_ROLE_BINDING "fleet-rolebinding-%s"
#define NAME_POLICY_SNAPSHOT "%s-%lld" /* placement, index */
#define SUFFIX_RESOURCE_SNAPSHOT "-snapshot"
#define NAME_RESOURCE_SNAPSHOT "%s-%lld" SUFFIX_RESOURCE_SNAPSHOT /* placement, index: first of its group */
#define NAME_RESOURCE_SNAPSHOT_SUB "%s-%lld-%lld"                 /* placement, index, sub-index */
#define NAME_OVERRIDE_SNAPSHOT "%s-%lld"                          /* override, index */
#define NAME_BINDING "%.26s-%.27s-%s"                             /* placement, cluster, 8 hex digits */
#define NAME_WORK_BASE_NAMESPACED "%s.%s"                         /* namespace, placement */
#define NAME_WORK_FIRST "%s-work"                                 /* base */
#define NAME_WORK_SUB "%s-%lld"                                   /* base, sub-index */
#define NAME_WORK_ENVELOPE "%s-envelope-%.16s"                    /* Work of the snapshot, SHA-256 hex */
#define NAME_WORK_ENVELOPE_HASHED "%s/%s/%s"                      /* type, namespace, name of the envelope */
#define NAME_APPROVAL_BEFORE "%s-before-%s"                       /* run, stage */
#define NAME_APPROVAL_AFTER "%s-after-%s"
#define NAME_DELETION_STAGE FLEET_PREFIX "deleteStage"

/* ---- namespaces (11.3) ---- */
#define NAMESPACE_RESERVED_PREFIX_FLEET "fleet-"
#define NAMESPACE_RESERVED_PREFIX_KUBE "kube-"
#define NAMESPACE_MEMBER_PREFIX "fleet-member-"
#define NAMESPACE_FLEET_SYSTEM "fleet-system"
#define NAMESPACE_DEFAULT "default"

/* ---- other fixed names (11.4) ---- */
#define WEBHOOK_CONFIGURATION_MUTATING "fleet-mutating-webhook-configuration"
#define WEBHOOK_CONFIGURATION_VALIDATING "fleet-validating-webhook-configuration"
#define WEBHOOK_CONFIGURATION_GUARD_RAIL "fleet-guard-rail-webhook-configuration"
#define WEBHOOK_CERTIFICATE "fleet-webhook-certificate"
#define LEASE_HUB_AGENT "136224848560.hub.fleet.azure.com"
#define LEASE_MEMBER_AGENT "136224848560.member.fleet.azure.com"
#define FIELD_MANAGER_MEMBER_CLUSTER "member-cluster-controller"
#define FIELD_MANAGER_OVERRIDE "override-controller"
#define FIELD_MANAGER_UPDATE_RUN "cluster-staged-update-run-controller"
#define FIELD_MANAGER_WORK_APPLIER "work-api-agent"
#define FIELD_MANAGER_MEMBER_AGENT "member-agent" /* writes that are not a manifest's */
#define CLUSTER_MANAGER_NAME                                                                                 \
        "KubeFleet" /* ClusterProfile: label, spec.clusterManager.name, access provider */

/* ---- condition statuses ---- */
#define CONDITION_TRUE "True"
#define CONDITION_FALSE "False"
#define CONDITION_UNKNOWN "Unknown"

/* ---- MemberCluster (12.1) ---- */
#define CONDITION_READY_TO_JOIN "ReadyToJoin"
#define REASON_READY_TO_JOIN "MemberClusterReadyToJoin"
#define REASON_NOT_READY_TO_JOIN "MemberClusterNotReadyToJoin"
#define CONDITION_JOINED "Joined"
#define REASON_JOINED "MemberClusterJoined"
#define REASON_LEFT "MemberClusterLeft"
#define REASON_JOIN_STATE_UNKNOWN "MemberClusterJoinStateUnknown"
#define CONDITION_HEALTHY "Healthy"
#define REASON_HEARTBEAT_LOST "MemberAgentHeartbeatLost" /* ours, in a MemberCluster's agentStatus */

/* ---- InternalMemberCluster (12.2) ---- */
#define REASON_AGENT_JOINED "InternalMemberClusterJoined"
#define REASON_AGENT_LEFT "InternalMemberClusterLeft"
#define REASON_AGENT_FAILED_TO_JOIN "InternalMemberClusterFailedToJoin"
#define REASON_AGENT_FAILED_TO_LEAVE "InternalMemberClusterFailedToLeave"
#define REASON_AGENT_HEALTHY "InternalMemberClusterHealthy"
#define REASON_AGENT_UNHEALTHY "InternalMemberClusterUnhealthy"
#define CONDITION_PROPERTY_PROVIDER_STARTED "ClusterPropertyProviderStarted"
#define REASON_PROVIDER_STARTED "Started"
#define REASON_PROVIDER_TIMED_OUT "TimedOut"
#define REASON_PROVIDER_FAILED_TO_START "FailedToStart"
#define CONDITION_PROPERTY_COLLECTION_SUCCEEDED "ClusterPropertyCollectionSucceeded"
#define REASON_PROPERTIES_COLLECTED "PropertiesCollected"
#define REASON_PROPERTIES_TOO_MANY_CALLS "TooManyCalls"
#define REASON_PROPERTIES_TIMED_OUT "TimedOut"
#define CONDITION_NAMESPACE_COLLECTION_SUCCEEDED "NamespaceCollectionSucceeded"
#define REASON_NAMESPACES_SUCCEEDED "Succeeded"
#define REASON_NAMESPACES_DEGRADED "Degraded"
#define CONDITION_COST_PROPERTIES_COLLECTION_SUCCEEDED "AKSClusterCostPropertiesCollectionSucceeded"
#define REASON_COSTS_CALCULATED "CostsCalculated"
#define REASON_COSTS_CALCULATION_DEGRADED "CostsCalculationDegraded"
#define REASON_COSTS_CALCULATION_FAILED "CostsCalculationFailed"
/* Ours: the properties of the ConfigMap that --property-config-map names. */
#define CONDITION_OWN_PROPERTIES_COLLECTION_SUCCEEDED "OwnPropertiesCollectionSucceeded"
#define REASON_OWN_PROPERTIES_REFUSED "PropertiesRefused"
#define REASON_OWN_PROPERTIES_NOT_FOUND "ConfigMapNotFound"

/* ---- placements (12.3): a condition's type is a prefix and one of the suffixes ---- */
#define CONDITION_PREFIX_CRP "ClusterResourcePlacement"
#define CONDITION_PREFIX_RP "ResourcePlacement"
#define CONDITION_SCHEDULED "Scheduled"
#define CONDITION_ROLLOUT_STARTED "RolloutStarted"
#define CONDITION_OVERRIDDEN "Overridden"
#define CONDITION_WORK_SYNCHRONIZED "WorkSynchronized"
#define CONDITION_APPLIED "Applied"
#define CONDITION_AVAILABLE "Available"
#define CONDITION_DIFF_REPORTED "DiffReported"
#define CONDITION_STATUS_SYNCED "StatusSynced"
#define CONDITION_CRP_STATUS_SYNCED CONDITION_PREFIX_CRP CONDITION_STATUS_SYNCED

#define MESSAGE_STILL_IN_PROCESS                                                                             \
        "There are still %zu cluster(s) in the process of " /* put before the Unknown ones */
#define REASON_SCHEDULING_FULFILLED "SchedulingPolicyFulfilled"
#define REASON_SCHEDULING_UNFULFILLED "SchedulingPolicyUnfulfilled"
#define REASON_SCHEDULING_POLICY_INVALID                                                                     \
        "SchedulingPolicyInvalid" /* not in the reference: it stays silent                                   \
                                   */
#define REASON_SCHEDULE_PENDING "SchedulePending"
#define MESSAGE_SCHEDULE_PENDING "Scheduling has not completed"
#define REASON_INVALID_PLACEMENT_NAME "InvalidPlacementName" /* not in the reference: it stays silent */
#define REASON_INVALID_RESOURCE_SELECTORS "InvalidResourceSelectors"
#define MESSAGE_INVALID_RESOURCE_SELECTORS "The resource selectors are invalid: %s"
#define REASON_ROLLOUT_STARTED_UNKNOWN "RolloutStartedUnknown"
#define MESSAGE_ROLLOUT_STARTED_UNKNOWN                                                                      \
        MESSAGE_STILL_IN_PROCESS "deciding whether to roll out the latest resources or not"
#define REASON_ROLLOUT_CONTROLLED_EXTERNALLY "RolloutControlledByExternalController"
#define REASON_ROLLOUT_NOT_STARTED_YET "RolloutNotStartedYet"
#define MESSAGE_ROLLOUT_NOT_STARTED_YET                                                                      \
        "The rollout is being blocked by the rollout strategy in %zu cluster(s)"
#define REASON_ROLLOUT_STARTED "RolloutStarted"
#define MESSAGE_ROLLOUT_STARTED "All %zu cluster(s) start rolling out the latest resource"
#define REASON_OVERRIDDEN_PENDING "OverriddenPending"
#define MESSAGE_OVERRIDDEN_PENDING                                                                           \
        MESSAGE_STILL_IN_PROCESS "overriding the selected resources if there is any override defined"
#define REASON_OVERRIDDEN_FAILED "OverriddenFailed"
#define MESSAGE_OVERRIDDEN_FAILED "Failed to override resources in %zu cluster(s)"
#define REASON_OVERRIDDEN_SUCCEEDED "OverriddenSucceeded"
#define MESSAGE_OVERRIDDEN_SUCCEEDED "The selected resources are successfully overridden in %zu cluster(s)"
#define REASON_NO_OVERRIDE_SPECIFIED "NoOverrideSpecified"
#define MESSAGE_NO_OVERRIDE_SPECIFIED "No override rules are configured for the selected resources"
#define REASON_WORK_SYNCHRONIZED_UNKNOWN "WorkSynchronizedUnknown"
#define MESSAGE_WORK_SYNCHRONIZED_UNKNOWN                                                                    \
        MESSAGE_STILL_IN_PROCESS "creating or updating the work object(s) in the hub cluster"
#define REASON_WORK_NOT_SYNCHRONIZED_YET "WorkNotSynchronizedYet"
#define MESSAGE_WORK_NOT_SYNCHRONIZED_YET                                                                    \
        "There are %zu cluster(s) which have not finished creating or updating work(s) yet"
#define REASON_WORK_SYNCHRONIZED "WorkSynchronized"
#define MESSAGE_WORK_SYNCHRONIZED                                                                            \
        "Work(s) are successfully created or updated in %zu target cluster(s)' namespaces"
#define REASON_APPLY_PENDING "ApplyPending"
#define MESSAGE_APPLY_PENDING MESSAGE_STILL_IN_PROCESS "applying the resources on the member cluster"
#define REASON_APPLY_FAILED "ApplyFailed"
#define MESSAGE_APPLY_FAILED                                                                                 \
        "Failed to apply resources to %zu cluster(s), please check the `failedPlacements` status"
#define REASON_APPLY_SUCCEEDED "ApplySucceeded"
#define MESSAGE_APPLY_SUCCEEDED "The selected resources are successfully applied to %zu cluster(s)"
#define REASON_RESOURCE_AVAILABLE_UNKNOWN "ResourceAvailableUnknown"
#define MESSAGE_RESOURCE_AVAILABLE_UNKNOWN                                                                   \
        MESSAGE_STILL_IN_PROCESS "checking the availability of the selected resources"
#define REASON_RESOURCE_NOT_AVAILABLE_YET "ResourceNotAvailableYet"
#define MESSAGE_RESOURCE_NOT_AVAILABLE_YET                                                                   \
        "The selected resources in %zu cluster(s) are still not available yet"
#define REASON_RESOURCE_AVAILABLE "ResourceAvailable"
#define MESSAGE_RESOURCE_AVAILABLE "The selected resources in %zu cluster(s) are available now"
#define REASON_DIFF_REPORTING_PENDING "DiffReportingPending"
#define MESSAGE_DIFF_REPORTING_PENDING MESSAGE_STILL_IN_PROCESS "checking for configuration differences"
#define REASON_DIFF_REPORTING_INCOMPLETE_OR_FAILED "DiffReportingIncompleteOrFailed"
#define MESSAGE_DIFF_REPORTING_INCOMPLETE_OR_FAILED                                                          \
        "Diff reporting in %zu clusters is still in progress or has failed"
#define REASON_DIFF_REPORTING_COMPLETED "DiffReportingCompleted"
#define MESSAGE_DIFF_REPORTING_COMPLETED "Diff reporting in %zu cluster(s) has been completed"
#define REASON_STATUS_SYNC_SUCCEEDED "StatusSyncSucceeded"
#define MESSAGE_STATUS_SYNC_SUCCEEDED                                                                        \
        "Successfully created or updated ClusterResourcePlacementStatus in namespace '%s'"
#define REASON_STATUS_SYNC_FAILED "StatusSyncFailed"
#define MESSAGE_STATUS_SYNC_FAILED "Failed to create or update ClusterResourcePlacementStatus: %s"

#define EVENT_PLACEMENT_ROLLOUT_STARTED "PlacementRolloutStarted"
#define EVENT_PLACEMENT_OVERRIDDEN_SUCCEEDED "PlacementOverriddenSucceeded"
#define EVENT_PLACEMENT_WORK_SYNCHRONIZED "PlacementWorkSynchronized"
#define EVENT_PLACEMENT_APPLIED "PlacementApplied"
#define EVENT_PLACEMENT_AVAILABLE "PlacementAvailable"
#define EVENT_PLACEMENT_DIFF_REPORTED "PlacementDiffReported"
#define EVENT_PLACEMENT_ROLLOUT_COMPLETED "PlacementRolloutCompleted"
/* Warnings, which the reference does not give. */
#define EVENT_PLACEMENT_NOT_SCHEDULED "PlacementNotScheduled"
#define EVENT_PLACEMENT_OVERRIDE_FAILED "PlacementOverrideFailed"
#define EVENT_PLACEMENT_WORK_FAILED "PlacementWorkFailed"
#define EVENT_PLACEMENT_APPLY_FAILED "PlacementApplyFailed"
#define EVENT_PLACEMENT_DIFF_NOT_REPORTED "PlacementDiffNotReported"
#define EVENT_PLACEMENT_DRIFTED "PlacementDrifted"
#define EVENT_PLACEMENT_NOT_AVAILABLE "PlacementNotAvailable"
#define EVENT_PLACEMENT_NOT_ROLLED_OUT "PlacementNotRolledOut"
#define EVENT_PLACEMENT_SECOND_BINDING "PlacementSecondBinding"
#define EVENT_WORK_RESTORED "WorkRestored"
#define EVENT_PLACEMENT_RESOURCE_NOT_FOUND "PlacementResourceNotFound"
#define EVENT_PLACEMENT_CLEANUP_FINALIZER_REMOVED "PlacementCleanupFinalizerRemoved"

/* ---- placementStatuses[].conditions (12.4); the other types are those of placements and bindings ---- */
#define REASON_CLUSTER_SCHEDULED "Scheduled"
#define REASON_CLUSTER_SCHEDULE_FAILED "ScheduleFailed"
#define MESSAGE_CLUSTER_ROLLOUT_NOT_STARTED_YET "The rollout is being blocked by the rollout strategy"

/* ---- policy snapshots (12.5) ---- */
#define MESSAGE_SCHEDULING_FULFILLED                                                                         \
        "found all cluster needed as specified by the scheduling policy, found %zu cluster(s)"
#define MESSAGE_SCHEDULING_UNFULFILLED                                                                       \
        "could not find all clusters needed as specified by the scheduling policy, found %zu cluster(s) "    \
        "instead"

/* ---- bindings (12.6) ---- */
#define REASON_BINDING_ALL_WORK_SYNCED "AllWorkSynced"
#define REASON_BINDING_SYNC_WORK_FAILED "SyncWorkFailed"
#define REASON_BINDING_ALL_APPLIED "AllWorkHaveBeenApplied"
#define REASON_BINDING_APPLY_IN_PROGRESS "ApplyInProgress"
#define REASON_BINDING_NOT_ALL_APPLIED "NotAllWorkHaveBeenApplied"
#define REASON_BINDING_ALL_AVAILABLE "AllWorkAreAvailable"
#define REASON_BINDING_NOT_TRACKABLE "NotAllWorkAreAvailabilityTrackable"
#define REASON_BINDING_NOT_ALL_AVAILABLE "NotAllWorkAreAvailable"
#define REASON_BINDING_ALL_DIFF_REPORTED "AllWorkHaveDiffReported"
#define REASON_BINDING_DIFF_REPORT_IN_PROGRESS "DiffReportInProgress"
#define REASON_BINDING_NOT_ALL_DIFF_REPORTED "NotAllWorkHaveDiffReported"
#define EVENT_DUPLICATE_ENVELOPE_WORKS "DuplicateEnvelopeWorks"

/* ---- Works (12.7) ---- */
#define CONDITION_STATUS_TRIMMED "StatusTrimmed"
#define REASON_STATUS_TRIMMED_OVERSIZED "Oversized"
#define REASON_WORK_ALL_APPLIED "AllManifestsApplied"
#define MESSAGE_WORK_ALL_APPLIED "All the specified manifests have been applied"
#define REASON_WORK_SOME_NOT_APPLIED "SomeManifestsAreNotApplied"
#define MESSAGE_WORK_SOME_NOT_APPLIED "Failed to apply all manifests (%zu of %zu manifests are applied)"
#define REASON_WORK_ALL_AVAILABLE "AllManifestsAvailable"
#define MESSAGE_WORK_ALL_AVAILABLE "All of the applied manifests are available"
#define REASON_WORK_NOT_TRACKABLE "WorkNotTrackable"
#define MESSAGE_WORK_NOT_TRACKABLE "Some of the applied manifests cannot be tracked for availability"
#define REASON_WORK_SOME_NOT_TRACKABLE                                                                       \
        "SomeManifestsAreNotAvailabilityTrackable" /* read as WorkNotTrackable */
#define REASON_WORK_SOME_NOT_AVAILABLE "SomeManifestsAreNotAvailable"
#define MESSAGE_WORK_SOME_NOT_AVAILABLE                                                                      \
        "Some manifests are not available (%zu of %zu manifests are available)"
#define REASON_WORK_ALL_DIFF_REPORTED "AllManifestsDiffReported"
#define MESSAGE_WORK_ALL_DIFF_REPORTED "All the specified manifests have reported diff"
#define REASON_WORK_SOME_NOT_DIFF_REPORTED "SomeManifestsHaveNotReportedDiff"
#define MESSAGE_WORK_SOME_NOT_DIFF_REPORTED                                                                  \
        "Failed to report diff on all manifests (%zu of %zu manifests have reported diff)"

/* ---- manifests (12.7) ---- */
#define REASON_MANIFEST_APPLIED "Applied"
#define REASON_MANIFEST_APPLIED_DRIFT_DETECTION_FAILED "AppliedWithFailedDriftDetection"
#define REASON_MANIFEST_DECODING_ERRED "DecodingErred"
#define REASON_MANIFEST_FOUND_GENERATE_NAME "FoundGenerateName"
#define REASON_MANIFEST_DUPLICATED "Duplicated"
#define REASON_MANIFEST_FAILED_TO_FIND_OBJECT "FailedToFindObjInMemberCluster"
#define REASON_MANIFEST_FAILED_TO_TAKE_OVER "FailedToTakeOver"
#define REASON_MANIFEST_NOT_TAKEN_OVER "NotTakenOver"
#define REASON_MANIFEST_FAILED_DRIFT_DETECTION "FailedToRunDriftDetection"
#define REASON_MANIFEST_FOUND_DRIFTS "FoundDrifts"
#define REASON_MANIFEST_FOUND_DRIFTS_DEGRADED "FoundDriftsInDegradedMode"
#define REASON_MANIFEST_APPLY_FAILED "ManifestApplyFailed"
#define REASON_MANIFEST_PREPARING "PreparingToProcess"
#define REASON_MANIFEST_AVAILABLE "Available"
#define REASON_MANIFEST_NOT_TRACKABLE "NotTrackable"
#define REASON_MANIFEST_AVAILABILITY_FAILED "Failed"
#define REASON_MANIFEST_NOT_AVAILABLE_YET "ManifestNotAvailableYet"
#define REASON_MANIFEST_NO_DIFF "NoDiffFound"
#define REASON_MANIFEST_FOUND_DIFF "FoundDiff"
#define REASON_MANIFEST_FOUND_DIFF_DEGRADED "FoundDiffInDegradedMode"
#define REASON_MANIFEST_FAILED_TO_REPORT_DIFF "FailedToReportDiff"

/* ---- update runs (12.8) ---- */
#define CONDITION_INITIALIZED "Initialized"
#define CONDITION_PROGRESSING "Progressing"
#define CONDITION_SUCCEEDED "Succeeded"
#define CONDITION_STARTED "Started"
#define CONDITION_SKIPPED "Skipped" /* of a cluster: of our own */
#define REASON_RUN_INITIALIZED "UpdateRunInitializedSuccessfully"
#define MESSAGE_RUN_INITIALIZED "The UpdateRun initialized successfully"
#define REASON_RUN_INITIALIZE_FAILED "UpdateRunInitializedFailed"
#define REASON_RUN_PROGRESSING "UpdateRunProgressing"
#define MESSAGE_RUN_PROGRESSING "The update run is making progress"
#define REASON_RUN_STUCK "UpdateRunStuck"
#define REASON_RUN_WAITING "UpdateRunWaiting"
#define REASON_RUN_STOPPED "UpdateRunStopped"
#define MESSAGE_RUN_STOPPED "The update run has been stopped"
#define REASON_RUN_STOPPING "UpdateRunStopping"
#define MESSAGE_RUN_STOPPING                                                                                 \
        "The update run is the process of stopping, waiting for all the updating/deleting clusters to "      \
        "finish updating before completing the stop process"
#define REASON_RUN_FAILED "UpdateRunFailed"
#define MESSAGE_RUN_ABORTED "The stages are aborted due to a non-recoverable error"
#define REASON_RUN_SUCCEEDED "UpdateRunSucceeded"
#define MESSAGE_RUN_COMPLETED "All stages are completed"
#define MESSAGE_RUN_SUCCEEDED "All stages are completed successfully"
#define REASON_STAGE_STARTED "StageUpdatingStarted"
#define MESSAGE_STAGE_STARTED "Clusters in the stage started updating"
#define REASON_STAGE_WAITING "StageUpdatingWaiting"
#define MESSAGE_STAGE_WAITING_BEFORE "Not all before-stage tasks are completed, waiting for approval"
#define MESSAGE_STAGE_WAITING_AFTER                                                                          \
        "All clusters in the stage are updated, waiting for after-stage tasks to complete"
#define REASON_STAGE_STOPPED "StageUpdatingStopped"
#define MESSAGE_STAGE_STOPPED                                                                                \
        "All the updating clusters have finished updating, the stage is now stopped, waiting to be resumed"
#define REASON_STAGE_STOPPING "StageUpdatingStopping"
#define MESSAGE_STAGE_STOPPING                                                                               \
        "Waiting for all the updating clusters to finish updating before completing the stop process"
#define REASON_STAGE_FAILED "StageUpdatingFailed"
#define MESSAGE_STAGE_ABORTED "Stage update aborted due to a non-recoverable error"
#define REASON_STAGE_SUCCEEDED "StageUpdatingSucceeded"
#define MESSAGE_STAGE_COMPLETED "All clusters in the stage are updated and after-stage tasks are completed"
#define MESSAGE_STAGE_SUCCEEDED "Stage update completed successfully"
#define REASON_STAGE_SKIPPED_NO_CLUSTERS "StageUpdatingSkippedNoClusters"
#define MESSAGE_STAGE_SKIPPED "Stage skipped because it has no clusters"
#define REASON_CLUSTER_UPDATING_STARTED "ClusterUpdatingStarted"
#define MESSAGE_CLUSTER_UPDATING_STARTED "Cluster update started"
#define REASON_CLUSTER_UPDATING_SUCCEEDED "ClusterUpdatingSucceeded"
#define MESSAGE_CLUSTER_UPDATING_SUCCEEDED "Cluster update completed successfully"
#define REASON_CLUSTER_UPDATING_FAILED "ClusterUpdatingFailed"
#define REASON_CLUSTER_LEFT "ClusterLeft"
#define CONDITION_APPROVAL_REQUEST_CREATED "ApprovalRequestCreated"
#define REASON_APPROVAL_REQUEST_CREATED "StageTaskApprovalRequestCreated"
#define MESSAGE_APPROVAL_REQUEST_CREATED "ApprovalRequest object is created"
#define CONDITION_APPROVAL_REQUEST_APPROVED "ApprovalRequestApproved"
#define REASON_APPROVAL_REQUEST_APPROVED "StageTaskApprovalRequestApproved"
#define MESSAGE_APPROVAL_REQUEST_APPROVED "ApprovalRequest object is approved"
#define CONDITION_WAIT_TIME_ELAPSED "WaitTimeElapsed"
#define REASON_WAIT_TIME_ELAPSED "AfterStageTaskWaitTimeElapsed"
#define MESSAGE_WAIT_TIME_ELAPSED "Wait time elapsed"
#define MESSAGE_ROLLOUT_STARTED_BY_RUN                                                                       \
        "Detected the new changes on the resources and started the rollout process, "                        \
        "resourceSnapshotIndex: %s, updateRun: %s" /* index, run */
/* Beginnings of errors; they appear in conditions, and tell whose an error is. */
#define ERROR_RUN_ABORT "cannot continue the updateRun"
#define ERROR_RUN_VALID ERROR_RUN_ABORT ": failed to validate the updateRun"
#define ERROR_CLASS_USER "failed to process the request due to a client error"
#define ERROR_CLASS_UNEXPECTED "unexpected behavior which cannot be handled by the controller"
#define MESSAGE_RUN_WAITING                                                                                  \
        "The updateRun is waiting for %s tasks in stage %s to complete" /* task kind, stage */
#define RUN_WAITING_BEFORE_STAGE "before-stage"
#define RUN_WAITING_AFTER_STAGE "after-stage"
#define MESSAGE_RUN_STUCK                                                                                    \
        "The updateRun is stuck waiting for %s cluster(s) in stage %s to finish updating, please check "     \
        "placement status for potential errors"
#define CONDITION_APPROVED "Approved"
#define CONDITION_APPROVAL_ACCEPTED "ApprovalAccepted"
#define REASON_APPROVAL_ACCEPTED "ApprovalRequestApprovalAccepted"
#define REASON_APPROVAL_OF_ANOTHER_PLAN                                                                      \
        "ApprovalOfAnotherPlan" /* of Approved and ApprovalAccepted: of our own */
#define MESSAGE_APPROVAL_ACCEPTED "The approval request has been approved and cannot be reverted"

/* ---- evictions (12.9) ---- */
#define CONDITION_VALID "Valid"
#define CONDITION_EXECUTED "Executed"
#define REASON_EVICTION_VALID "ClusterResourcePlacementEvictionValid"
#define MESSAGE_EVICTION_VALID "Eviction is valid"
#define REASON_EVICTION_INVALID "ClusterResourcePlacementEvictionInvalid"
#define MESSAGE_EVICTION_NO_PLACEMENT "Failed to find ClusterResourcePlacement targeted by eviction"
#define MESSAGE_EVICTION_PLACEMENT_DELETING "Found deleting ClusterResourcePlacement targeted by eviction"
#define MESSAGE_EVICTION_PICK_FIXED                                                                          \
        "Found ClusterResourcePlacement with PickFixed placement type targeted by eviction"
#define MESSAGE_EVICTION_NO_DECISION                                                                         \
        "Failed to find scheduler decision for placement in cluster targeted by eviction"
#define MESSAGE_EVICTION_MANY_DECISIONS                                                                      \
        "Found more than one scheduler decision for placement in cluster targeted by eviction"
#define REASON_EVICTION_EXECUTED "ClusterResourcePlacementEvictionExecuted"
#define MESSAGE_EVICTION_ALLOWED_NO_BUDGET                                                                   \
        "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified"
#define MESSAGE_EVICTION_ALLOWED_BEING_REMOVED                                                               \
        "Eviction is allowed, resources propagated by placement is currently being removed from cluster "    \
        "targeted by eviction"
#define MESSAGE_EVICTION_ALLOWED_FAILED "Eviction is allowed, placement has failed"
#define MESSAGE_EVICTION_ALLOWED_BY_BUDGET                                                                   \
        "Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: "   \
        "%zu, totalPlacements: %zu"
#define REASON_EVICTION_NOT_EXECUTED "ClusterResourcePlacementEvictionNotExecuted"
#define MESSAGE_EVICTION_MISCONFIGURED_BUDGET                                                                \
        "Eviction is blocked by misconfigured ClusterResourcePlacementDisruptionBudget, either "             \
        "MaxUnavailable is specified or MinAvailable is specified as a percentage for PickAll "              \
        "ClusterResourcePlacement"
#define MESSAGE_EVICTION_BLOCKED_NOT_PROPAGATED                                                              \
        "Eviction is blocked, placement has not propagated resources to target cluster yet"
#define MESSAGE_EVICTION_BLOCKED_BY_BUDGET                                                                   \
        "Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: "   \
        "%zu, totalPlacements: %zu"

/* ---- ClusterProfile (12.10) ---- */
#define CONDITION_CONTROL_PLANE_HEALTHY "ControlPlaneHealthy"
#define REASON_PROFILE_NO_STATUS "MemberAgentReportedNoStatus"
#define REASON_PROFILE_NO_HEALTH_INFO "MemberAgentReportedNoHealthInfo"
#define REASON_PROFILE_HEARTBEAT_LOST REASON_HEARTBEAT_LOST
#define REASON_PROFILE_UNHEALTHY "MemberClusterAPIServerUnhealthy"
#define REASON_PROFILE_HEALTHY "MemberClusterAPIServerHealthy"

/* ---- events of membership (12.11); the reasons of 12.1 and 12.2 are events too ---- */
/* Ours: of a member-agent about the ways to its API servers. */
#define EVENT_CONNECTION_FAILED "ConnectionFailed"
#define EVENT_CONNECTION_RESTORED "ConnectionRestored"
#define EVENT_RIGHT_MISSING "RightMissing"
#define EVENT_RIGHT_RESTORED "RightRestored"
#define EVENT_RIGHT_NOT_USED "RightNotUsed"
#define EVENT_NAMESPACE_CREATED "NamespaceCreated"
#define EVENT_NAMESPACE_PATCHED "NamespacePatched"
#define EVENT_ROLE_CREATED "RoleCreated"
#define EVENT_ROLE_UPDATED "RoleUpdated"
#define EVENT_ROLE_BINDING_CREATED "RoleBindingCreated"
#define EVENT_ROLE_BINDING_UPDATED "RoleBindingUpdated"
#define EVENT_IMC_CREATED "InternalMemberClusterCreated"
#define EVENT_IMC_SPEC_UPDATED "InternalMemberClusterSpecUpdated"
/* On Works and AppliedWorks; the other reasons there are those of conditions. */
#define EVENT_MORE_MANIFESTS "MoreManifestsChanged"
#define EVENT_REMOVAL_FAILED "RemovalFailed"
#define EVENT_TYPE_NORMAL "Normal"
#define EVENT_TYPE_WARNING "Warning"

/* ---- enum values (13) ---- */
#define PLACEMENT_PICK_ALL "PickAll"
#define PLACEMENT_PICK_N "PickN"
#define PLACEMENT_PICK_FIXED "PickFixed"
#define SELECTION_NAMESPACE_ONLY "NamespaceOnly"
#define SELECTION_NAMESPACE_WITH_RESOURCES "NamespaceWithResources"
#define SELECTION_NAMESPACE_WITH_RESOURCE_SELECTORS "NamespaceWithResourceSelectors"
#define REPORTING_CLUSTER_SCOPE_ONLY "ClusterScopeOnly"
#define REPORTING_NAMESPACE_ACCESSIBLE "NamespaceAccessible"
#define ROLLOUT_ROLLING_UPDATE "RollingUpdate"
#define ROLLOUT_EXTERNAL "External"
#define APPLY_CLIENT_SIDE "ClientSideApply"
#define APPLY_SERVER_SIDE "ServerSideApply"
#define APPLY_REPORT_DIFF "ReportDiff"
#define COMPARISON_PARTIAL "PartialComparison"
#define COMPARISON_FULL "FullComparison"
#define WHEN_TO_APPLY_ALWAYS "Always"
#define WHEN_TO_APPLY_IF_NOT_DRIFTED "IfNotDrifted"
#define TAKE_OVER_ALWAYS "Always"
#define TAKE_OVER_IF_NO_DIFF "IfNoDiff"
#define TAKE_OVER_NEVER "Never"
#define PROPAGATION_DELETE "Delete"
#define PROPAGATION_ABANDON "Abandon"
#define REPORT_BACK_DISABLED "Disabled"
#define REPORT_BACK_MIRROR "Mirror"
#define REPORT_BACK_TO_ORIGINAL_RESOURCE "OriginalResource"
#define REPORT_BACK_TO_WORK_API "WorkAPI"
#define SORT_ASCENDING "Ascending"
#define SORT_DESCENDING "Descending"
#define WHEN_UNSATISFIABLE_DO_NOT_SCHEDULE "DoNotSchedule"
#define WHEN_UNSATISFIABLE_SCHEDULE_ANYWAY "ScheduleAnyway"
#define TOLERATION_EQUAL "Equal"
#define TOLERATION_EXISTS "Exists"
#define TAINT_NO_SCHEDULE "NoSchedule"
#define ENVELOPE_CONFIG_MAP "ConfigMap" /* v1beta1 only; no longer expanded */
#define ENVELOPE_CLUSTER_RESOURCE "ClusterResourceEnvelope"
#define ENVELOPE_RESOURCE "ResourceEnvelope"
#define DELETE_VALIDATION_STRICT "Strict"
#define DELETE_VALIDATION_SKIP "Skip"
#define PLACEMENT_SCOPE_CLUSTER "Cluster"
#define PLACEMENT_SCOPE_NAMESPACED "Namespaced"
#define OVERRIDE_JSON_PATCH "JSONPatch"
#define OVERRIDE_DELETE "Delete"
#define PATCH_ADD "add"
#define PATCH_REMOVE "remove"
#define PATCH_REPLACE "replace"
#define RUN_STATE_INITIALIZE "Initialize"
#define RUN_STATE_RUN "Run"
#define RUN_STATE_STOP "Stop"
#define CLUSTER_CHANGE_FAIL "Fail"
#define CLUSTER_CHANGE_CONTINUE "Continue"
#define LEFT_OUT_IN_NO_STAGE "InNoStage"
#define LEFT_OUT_JOINED "Joined"
#define PLANNED_ADDED "Added"
#define PLANNED_CHANGED "Changed"
#define PLANNED_REMOVED "Removed"
#define STAGE_TASK_TIMED_WAIT "TimedWait"
#define STAGE_TASK_APPROVAL "Approval"
#define PROPERTY_GT "Gt"
#define PROPERTY_GE "Ge"
#define PROPERTY_EQ "Eq"
#define PROPERTY_NE "Ne"
#define PROPERTY_LT "Lt"
#define PROPERTY_LE "Le"
#define SELECTOR_IN "In"
#define SELECTOR_NOT_IN "NotIn"
#define SELECTOR_EXISTS "Exists"
#define SELECTOR_DOES_NOT_EXIST "DoesNotExist"
#define BINDING_SCHEDULED "Scheduled"
#define BINDING_BOUND "Bound"
#define BINDING_UNSCHEDULED "Unscheduled"
#define CLUSTER_STATE_JOIN "Join"
#define CLUSTER_STATE_LEAVE "Leave"
#define AGENT_MEMBER "MemberAgent"
#define AGENT_MULTI_CLUSTER_SERVICE "MultiClusterServiceAgent"
#define AGENT_SERVICE_EXPORT_IMPORT "ServiceExportImportAgent"

/* ---- ClusterObjectSets (spec/cluster-object-set.md) ---- */
#define GROUP_OLM "olm.operatorframework.io"
#define OLM_PREFIX GROUP_OLM "/"
#define KIND_CLUSTER_OBJECT_SET "ClusterObjectSet"
#define API_VERSION_OLM OLM_PREFIX "v1"
#define LABEL_SET_OWNER_NAME OLM_PREFIX "owner-name" /* of sets, their Secrets and their objects */
#define LABEL_SET_OWNER_KIND OLM_PREFIX "owner-kind"
#define LABEL_SET_REVISION_NAME OLM_PREFIX "revision-name" /* of a Secret: its set */
#define KEY_SET_BUNDLE_VERSION OLM_PREFIX "bundle-version" /* annotation, or label */
#define ANNOTATION_SET_REVISION OLM_PREFIX "revision"      /* of an object: number of who applied it last */
#define APP_MANAGED_BY_OBJECT_SET GROUP_OLM
#define FINALIZER_OBJECT_SET OLM_PREFIX "teardown"
#define FIELD_MANAGER_OBJECT_SET GROUP_OLM
#define FIELD_MANAGER_OBJECT_SET_TRIAL "dummy" /* of dry runs */
#define SECRET_TYPE_OBJECT_DATA OLM_PREFIX "object-data"
#define SET_ACTIVE "Active"
#define SET_ARCHIVED "Archived"
#define PROTECTION_WORD_PREVENT "Prevent"
#define PROTECTION_WORD_IF_NO_CONTROLLER "IfNoController"
#define PROTECTION_WORD_NONE "None"
#define PROBE_GROUP_KIND "GroupKind"
#define PROBE_LABEL "Label"
#define PROBE_CONDITION_EQUAL "ConditionEqual"
#define PROBE_FIELDS_EQUAL "FieldsEqual"
#define PROBE_FIELD_VALUE "FieldValue"
#define REASON_SET_ROLLING_OUT "RollingOut"
#define MESSAGE_SET_ROLLING_OUT "Revision %s is rolling out. Phase \"%s\" (%zu/%zu)." /* version, phase */
#define REASON_SET_RETRYING "Retrying"
#define REASON_SET_BLOCKED "Blocked"
#define REASON_SET_SUCCEEDED "Succeeded"
#define MESSAGE_SET_ROLLED_OUT "Revision %s has rolled out."    /* of Progressing; version */
#define MESSAGE_SET_SUCCEEDED "Revision succeeded rolling out." /* of Succeeded */
#define MESSAGE_SET_AVAILABLE "Objects are available and pass all probes."
#define REASON_SET_PROBES_SUCCEEDED "ProbesSucceeded"
#define REASON_SET_PROBE_FAILURE "ProbeFailure"
#define REASON_SET_RECONCILING "Reconciling"
#define REASON_SET_DEADLINE_EXCEEDED "ProgressDeadlineExceeded"
#define MESSAGE_SET_DEADLINE_EXCEEDED                                                                        \
        "Revision has not rolled out for %lld minute(s). Last status: %s" /* minutes, message replaced */
#define REASON_SET_ARCHIVED "Archived"
#define MESSAGE_SET_ARCHIVED "revision is archived"
#define MESSAGE_SET_REMOVING "removing revision resources that are not owned by another revision"
#define EVENT_SET_PHASE_COMPLETED "PhaseCompleted"
#define EVENT_SET_ROLLED_OUT "RolledOut"
#define EVENT_SET_ARCHIVED "Archived"
#define EVENT_SET_ADOPTED_OBJECT "AdoptedObject"
#define EVENT_SET_COLLISION "Collision"
#define EVENT_SET_BLOCKED "Blocked"
#define EVENT_SET_DEADLINE_EXCEEDED "ProgressDeadlineExceeded"
#define EVENT_SET_PREFLIGHT_FAILED "PreflightFailed"
#define SET_PHASES_MAX 20
#define SET_PHASE_OBJECTS_MAX 50
#define SET_MANIFEST_MAX_BYTES 10485760 /* of one object, unpacked */
#define CONDITION_MESSAGE_MAX 32768     /* bytes here, characters in Kubernetes */

/* ---- defaults outside the CRDs (8) and limits of objects (7) ---- */
#define DEFAULT_MAX_UNAVAILABLE "25%"
#define DEFAULT_MAX_SURGE "25%"
#define DEFAULT_UNAVAILABLE_PERIOD_SECONDS 60
#define DEFAULT_REVISION_HISTORY_LIMIT 10
#define DEFAULT_MAX_SKEW 1
#define DEFAULT_HEARTBEAT_PERIOD_SECONDS 60
#define RESOURCE_SNAPSHOT_MAX_BYTES                                                                          \
        819200                    /* serialized resources of one snapshot, unless a single one is larger */
#define WORK_MAX_BYTES 1415578    /* a Work's JSON beyond this gets its status trimmed */
#define PLACEMENT_DETAILS_MAX 100 /* entries of failed, drifted and diffed placements */
#define POLICY_DECISIONS_MAX 1000 /* entries of targetClusters */

/* ---- properties and override variables (14) ---- */
#define PROPERTY_NODE_COUNT FLEET_PREFIX "node-count"
#define PROPERTY_KUBERNETES_VERSION "k8s.io/k8s-version"
#define PROPERTY_CERTIFICATE_AUTHORITY "k8s.io/cluster-certificate-authority-data"
#define PROPERTY_ENTRYPOINT "k8s.io/cluster-entrypoint"
#define PROPERTY_PER_CPU_CORE_COST "kubernetes.azure.com/per-cpu-core-cost"
#define PROPERTY_PER_GB_MEMORY_COST "kubernetes.azure.com/per-gb-memory-cost"
#define PROPERTY_VM_SIZE_COUNT "kubernetes.azure.com/vm-sizes/%s/count" /* size */
#define PROPERTY_RESOURCES_PREFIX                                                                            \
        "resources.kubernetes-fleet.io/" /* then total-, allocatable- or available- */
#define PROPERTY_TOTAL_PREFIX "total-"
#define PROPERTY_ALLOCATABLE_PREFIX "allocatable-"
#define PROPERTY_AVAILABLE_PREFIX "available-"
#define OVERRIDE_VARIABLE_CLUSTER_NAME "${MEMBER-CLUSTER-NAME}"
#define OVERRIDE_VARIABLE_CLUSTER_LABEL_PREFIX "${MEMBER-CLUSTER-LABEL-KEY-" /* then key and } */

/* ---- ResourceSets (spec/resource-set.md 1) ---- */
#define GROUP_FLUX "fluxcd.controlplane.io"
#define FLUX_PREFIX GROUP_FLUX "/"
#define FLUX_MANAGER "flux-operator" /* field manager and source of events */
#define FLUX_FINALIZER FLUX_PREFIX "finalizer"
#define LABEL_SET_NAME "resourceset." GROUP_FLUX "/name"
#define LABEL_SET_NAMESPACE "resourceset." GROUP_FLUX "/namespace"
#define ANNOTATION_FLUX_RECONCILE FLUX_PREFIX "reconcile"
#define ANNOTATION_FLUX_EVERY FLUX_PREFIX "reconcileEvery"
#define ANNOTATION_FLUX_TIMEOUT FLUX_PREFIX "reconcileTimeout"
#define ANNOTATION_FLUX_FORCE FLUX_PREFIX "force"
#define ANNOTATION_FLUX_PRUNE FLUX_PREFIX "prune"
#define ANNOTATION_FLUX_COPY_FROM FLUX_PREFIX "copyFrom"
#define ANNOTATION_FLUX_CONVERT FLUX_PREFIX "convertKubeConfigFrom"
#define ANNOTATION_FLUX_CHECKSUM_FROM FLUX_PREFIX "checksumFrom"
#define ANNOTATION_FLUX_CHECKSUM FLUX_PREFIX "checksum"
#define ANNOTATION_FLUX_RECREATE FLUX_PREFIX "recreateOnFailure"
#define ANNOTATION_FLUX_REQUESTED "reconcile.fluxcd.io/requestedAt"
#define FLUX_ENABLED "enabled"
#define FLUX_DISABLED "disabled"
#define KIND_RESOURCE_SET "ResourceSet"
#define KIND_INPUT_PROVIDER "ResourceSetInputProvider"
#define STRATEGY_PERMUTE "Permute"
#define CONDITION_FLUX_READY "Ready"
#define CONDITION_FLUX_RECONCILING "Reconciling"
#define CONDITION_FLUX_STALLED "Stalled"
#define CONDITION_SOURCE_STORED "ArtifactInStorage"
#define CONDITION_SOURCE_OUTDATED "ArtifactOutdated"
#define CONDITION_SOURCE_FETCH_FAILED "FetchFailed"
#define CONDITION_SOURCE_BUILD_FAILED "BuildFailed"
#define CONDITION_SOURCE_STORAGE_FAILED "StorageOperationFailed"
#define CONDITION_SOURCE_VERIFIED "SourceVerified"
#define REASON_FLUX_SUCCEEDED "ReconciliationSucceeded"
#define REASON_FLUX_FAILED "ReconciliationFailed"
#define REASON_FLUX_BUILD_FAILED "BuildFailed"
#define REASON_FLUX_HEALTH_FAILED "HealthCheckFailed"
#define REASON_FLUX_HEALTH_CANCELED "HealthCheckCanceled"
#define REASON_FLUX_DEPENDENCY "DependencyNotReady"
#define REASON_FLUX_INVALID_CEL "InvalidCELExpression"
#define REASON_FLUX_PROGRESSING "Progressing"
#define REASON_FLUX_RETRYING "ProgressingWithRetry"
#define REASON_FLUX_DISABLED "ReconciliationDisabled"
