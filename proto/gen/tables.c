/* Written by `make generate` from proto/kinds/; do not edit. */
#include "proto/gen/kinds.h"

static const struct field condition_fields[] = {
        { "lastTransitionTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct condition, last_transition_ms), NULL },
        { "message", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct condition, message), NULL },
        { "observedGeneration", FIELD_INT, 0, offsetof(struct condition, observed_generation), NULL },
        { "reason", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct condition, reason), NULL },
        { "status", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct condition, status), NULL },
        { "type", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct condition, type), NULL },
};
const struct type condition_type = { "Condition", condition_fields, 6, sizeof(struct condition) };

static const struct field label_selector_fields[] = {
        { "matchExpressions", FIELD_LIST, 0, offsetof(struct label_selector, match_expressions), &label_requirement_type },
        { "matchLabels", FIELD_STRING_MAP, 0, offsetof(struct label_selector, match_labels), NULL },
};
const struct type label_selector_type = { "LabelSelector", label_selector_fields, 2, sizeof(struct label_selector) };

static const struct field label_requirement_fields[] = {
        { "key", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct label_requirement, key), NULL },
        { "operator", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct label_requirement, operator), NULL },
        { "values", FIELD_LIST, 0, offsetof(struct label_requirement, values), NULL },
};
const struct type label_requirement_type = { "LabelRequirement", label_requirement_fields, 3, sizeof(struct label_requirement) };

static const struct field namespaced_name_fields[] = {
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct namespaced_name, name), NULL },
        { "namespace", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct namespaced_name, ns), NULL },
};
const struct type namespaced_name_type = { "NamespacedName", namespaced_name_fields, 2, sizeof(struct namespaced_name) };

static const struct field cluster_selector_fields[] = {
        { "clusterSelectorTerms", FIELD_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_selector, terms), &cluster_selector_term_type },
};
const struct type cluster_selector_type = { "ClusterSelector", cluster_selector_fields, 1, sizeof(struct cluster_selector) };

static const struct field cluster_selector_term_fields[] = {
        { "labelSelector", FIELD_OBJECT, 0, offsetof(struct cluster_selector_term, label_selector), &label_selector_type },
        { "propertySelector", FIELD_OBJECT, 0, offsetof(struct cluster_selector_term, property_selector), &property_selector_type },
        { "propertySorter", FIELD_OBJECT, 0, offsetof(struct cluster_selector_term, property_sorter), &property_sorter_type },
};
const struct type cluster_selector_term_type = { "ClusterSelectorTerm", cluster_selector_term_fields, 3, sizeof(struct cluster_selector_term) };

static const struct field property_selector_fields[] = {
        { "matchExpressions", FIELD_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct property_selector, match_expressions), &property_requirement_type },
};
const struct type property_selector_type = { "PropertySelector", property_selector_fields, 1, sizeof(struct property_selector) };

static const struct field property_requirement_fields[] = {
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct property_requirement, name), NULL },
        { "operator", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct property_requirement, operator), NULL },
        { "values", FIELD_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct property_requirement, values), NULL },
};
const struct type property_requirement_type = { "PropertyRequirement", property_requirement_fields, 3, sizeof(struct property_requirement) };

static const struct field property_sorter_fields[] = {
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct property_sorter, name), NULL },
        { "sortOrder", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct property_sorter, sort_order), NULL },
};
const struct type property_sorter_type = { "PropertySorter", property_sorter_fields, 2, sizeof(struct property_sorter) };

static const struct field apply_strategy_fields[] = {
        { "allowCoOwnership", FIELD_BOOL, 0, offsetof(struct apply_strategy, allow_co_ownership), NULL },
        { "comparisonOption", FIELD_INTERNED, 0, offsetof(struct apply_strategy, comparison_option), NULL },
        { "serverSideApplyConfig", FIELD_OBJECT, 0, offsetof(struct apply_strategy, server_side_apply_config), &server_side_apply_config_type },
        { "type", FIELD_INTERNED, 0, offsetof(struct apply_strategy, type), NULL },
        { "whenToApply", FIELD_INTERNED, 0, offsetof(struct apply_strategy, when_to_apply), NULL },
        { "whenToTakeOver", FIELD_INTERNED, 0, offsetof(struct apply_strategy, when_to_take_over), NULL },
};
const struct type apply_strategy_type = { "ApplyStrategy", apply_strategy_fields, 6, sizeof(struct apply_strategy) };

static const struct field server_side_apply_config_fields[] = {
        { "force", FIELD_BOOL, 0, offsetof(struct server_side_apply_config, force), NULL },
};
const struct type server_side_apply_config_type = { "ServerSideApplyConfig", server_side_apply_config_fields, 1, sizeof(struct server_side_apply_config) };

static const struct field report_back_strategy_fields[] = {
        { "destination", FIELD_INTERNED, 0, offsetof(struct report_back_strategy, destination), NULL },
        { "type", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct report_back_strategy, type), NULL },
};
const struct type report_back_strategy_type = { "ReportBackStrategy", report_back_strategy_fields, 2, sizeof(struct report_back_strategy) };

static const struct field patch_detail_fields[] = {
        { "path", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct patch_detail, path), NULL },
        { "valueInHub", FIELD_STRING, 0, offsetof(struct patch_detail, value_in_hub), NULL },
        { "valueInMember", FIELD_STRING, 0, offsetof(struct patch_detail, value_in_member), NULL },
};
const struct type patch_detail_type = { "PatchDetail", patch_detail_fields, 3, sizeof(struct patch_detail) };

static const struct field envelope_identifier_fields[] = {
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct envelope_identifier, name), NULL },
        { "namespace", FIELD_STRING, 0, offsetof(struct envelope_identifier, ns), NULL },
        { "type", FIELD_INTERNED, 0, offsetof(struct envelope_identifier, type), NULL },
};
const struct type envelope_identifier_type = { "EnvelopeIdentifier", envelope_identifier_fields, 3, sizeof(struct envelope_identifier) };

static const struct field resource_identifier_fields[] = {
        { "envelope", FIELD_OBJECT, 0, offsetof(struct resource_identifier, envelope), &envelope_identifier_type },
        { "group", FIELD_INTERNED, 0, offsetof(struct resource_identifier, group), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_identifier, kind), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_identifier, name), NULL },
        { "namespace", FIELD_INTERNED, 0, offsetof(struct resource_identifier, ns), NULL },
        { "version", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_identifier, version), NULL },
};
const struct type resource_identifier_type = { "ResourceIdentifier", resource_identifier_fields, 6, sizeof(struct resource_identifier) };

static const struct field failed_placement_fields[] = {
        { "condition", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct failed_placement, condition), &condition_type },
        { "envelope", FIELD_OBJECT, 0, offsetof(struct failed_placement, id.envelope), &envelope_identifier_type },
        { "group", FIELD_INTERNED, 0, offsetof(struct failed_placement, id.group), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct failed_placement, id.kind), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct failed_placement, id.name), NULL },
        { "namespace", FIELD_INTERNED, 0, offsetof(struct failed_placement, id.ns), NULL },
        { "version", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct failed_placement, id.version), NULL },
};
const struct type failed_placement_type = { "FailedResourcePlacement", failed_placement_fields, 7, sizeof(struct failed_placement) };

static const struct field drifted_placement_fields[] = {
        { "envelope", FIELD_OBJECT, 0, offsetof(struct drifted_placement, id.envelope), &envelope_identifier_type },
        { "firstDriftedObservedTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct drifted_placement, first_drifted_observed_time), NULL },
        { "group", FIELD_INTERNED, 0, offsetof(struct drifted_placement, id.group), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct drifted_placement, id.kind), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct drifted_placement, id.name), NULL },
        { "namespace", FIELD_INTERNED, 0, offsetof(struct drifted_placement, id.ns), NULL },
        { "observationTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct drifted_placement, observation_time), NULL },
        { "observedDrifts", FIELD_LIST, 0, offsetof(struct drifted_placement, observed_drifts), &patch_detail_type },
        { "targetClusterObservedGeneration", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct drifted_placement, target_cluster_observed_generation), NULL },
        { "version", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct drifted_placement, id.version), NULL },
};
const struct type drifted_placement_type = { "DriftedResourcePlacement", drifted_placement_fields, 10, sizeof(struct drifted_placement) };

static const struct field diffed_placement_fields[] = {
        { "envelope", FIELD_OBJECT, 0, offsetof(struct diffed_placement, id.envelope), &envelope_identifier_type },
        { "firstDiffedObservedTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct diffed_placement, first_diffed_observed_time), NULL },
        { "group", FIELD_INTERNED, 0, offsetof(struct diffed_placement, id.group), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct diffed_placement, id.kind), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct diffed_placement, id.name), NULL },
        { "namespace", FIELD_INTERNED, 0, offsetof(struct diffed_placement, id.ns), NULL },
        { "observationTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct diffed_placement, observation_time), NULL },
        { "observedDiffs", FIELD_LIST, 0, offsetof(struct diffed_placement, observed_diffs), &patch_detail_type },
        { "targetClusterObservedGeneration", FIELD_INT, 0, offsetof(struct diffed_placement, target_cluster_observed_generation), NULL },
        { "version", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct diffed_placement, id.version), NULL },
};
const struct type diffed_placement_type = { "DiffedResourcePlacement", diffed_placement_fields, 10, sizeof(struct diffed_placement) };

static const struct field cluster_decision_fields[] = {
        { "clusterName", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_decision, cluster_name), NULL },
        { "clusterScore", FIELD_OBJECT, 0 | FIELD_SHARED, offsetof(struct cluster_decision, cluster_score), &cluster_score_type },
        { "reason", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_decision, reason), NULL },
        { "selected", FIELD_BOOL, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_decision, selected), NULL },
};
const struct type cluster_decision_type = { "ClusterDecision", cluster_decision_fields, 4, sizeof(struct cluster_decision) };

static const struct field cluster_score_fields[] = {
        { "affinityScore", FIELD_INT, 0, offsetof(struct cluster_score, affinity_score), NULL },
        { "priorityScore", FIELD_INT, 0, offsetof(struct cluster_score, priority_score), NULL },
};
const struct type cluster_score_type = { "ClusterScore", cluster_score_fields, 2, sizeof(struct cluster_score) };

static const struct field work_resource_identifier_fields[] = {
        { "group", FIELD_INTERNED, 0, offsetof(struct work_resource_identifier, group), NULL },
        { "kind", FIELD_INTERNED, 0, offsetof(struct work_resource_identifier, kind), NULL },
        { "name", FIELD_STRING, 0, offsetof(struct work_resource_identifier, name), NULL },
        { "namespace", FIELD_INTERNED, 0, offsetof(struct work_resource_identifier, ns), NULL },
        { "ordinal", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct work_resource_identifier, ordinal), NULL },
        { "resource", FIELD_INTERNED, 0, offsetof(struct work_resource_identifier, resource), NULL },
        { "version", FIELD_INTERNED, 0, offsetof(struct work_resource_identifier, version), NULL },
};
const struct type work_resource_identifier_type = { "WorkResourceIdentifier", work_resource_identifier_fields, 7, sizeof(struct work_resource_identifier) };

static const struct field secret_by_name_fields[] = {
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct secret_by_name, name), NULL },
};
const struct type secret_by_name_type = { "SecretByName", secret_by_name_fields, 1, sizeof(struct secret_by_name) };

static const struct field source_status_fields[] = {
        { "artifact", FIELD_OBJECT, 0, offsetof(struct source_status, artifact), &source_artifact_type },
        { "conditions", FIELD_LIST, 0, offsetof(struct source_status, conditions), &condition_type },
        { "lastHandledReconcileAt", FIELD_STRING, 0, offsetof(struct source_status, last_handled_reconcile_at), NULL },
        { "observedChartName", FIELD_STRING, 0, offsetof(struct source_status, observed_chart_name), NULL },
        { "observedGeneration", FIELD_INT, 0, offsetof(struct source_status, observed_generation), NULL },
        { "observedIgnore", FIELD_STRING, 0, offsetof(struct source_status, observed_ignore), NULL },
        { "observedRecurseSubmodules", FIELD_BOOL, 0, offsetof(struct source_status, observed_recurse_submodules), NULL },
        { "observedSourceArtifactRevision", FIELD_STRING, 0, offsetof(struct source_status, observed_source_artifact_revision), NULL },
        { "observedSparseCheckout", FIELD_LIST, 0, offsetof(struct source_status, observed_sparse_checkout), NULL },
        { "observedValuesFiles", FIELD_LIST, 0, offsetof(struct source_status, observed_values_files), NULL },
        { "url", FIELD_STRING, 0, offsetof(struct source_status, url), NULL },
};
const struct type source_status_type = { "SourceStatus", source_status_fields, 11, sizeof(struct source_status) };

static const struct field source_artifact_fields[] = {
        { "digest", FIELD_STRING, 0, offsetof(struct source_artifact, digest), NULL },
        { "lastUpdateTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct source_artifact, last_update_time), NULL },
        { "metadata", FIELD_STRING_MAP, 0, offsetof(struct source_artifact, metadata), NULL },
        { "path", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct source_artifact, path), NULL },
        { "revision", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct source_artifact, revision), NULL },
        { "size", FIELD_INT, 0, offsetof(struct source_artifact, size), NULL },
        { "url", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct source_artifact, url), NULL },
};
const struct type source_artifact_type = { "SourceArtifact", source_artifact_fields, 7, sizeof(struct source_artifact) };

static const struct field applied_work_spec_fields[] = {
        { "workName", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct applied_work_spec, work_name), NULL },
        { "workNamespace", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct applied_work_spec, work_namespace), NULL },
};
const struct type applied_work_spec_type = { "AppliedWorkSpec", applied_work_spec_fields, 2, sizeof(struct applied_work_spec) };

static const struct field applied_work_status_fields[] = {
        { "appliedResources", FIELD_LIST, 0, offsetof(struct applied_work_status, applied_resources), &applied_resource_type },
};
const struct type applied_work_status_type = { "AppliedWorkStatus", applied_work_status_fields, 1, sizeof(struct applied_work_status) };

static const struct field applied_resource_fields[] = {
        { "group", FIELD_INTERNED, 0, offsetof(struct applied_resource, id.group), NULL },
        { "kind", FIELD_INTERNED, 0, offsetof(struct applied_resource, id.kind), NULL },
        { "name", FIELD_STRING, 0, offsetof(struct applied_resource, id.name), NULL },
        { "namespace", FIELD_INTERNED, 0, offsetof(struct applied_resource, id.ns), NULL },
        { "ordinal", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct applied_resource, id.ordinal), NULL },
        { "resource", FIELD_INTERNED, 0, offsetof(struct applied_resource, id.resource), NULL },
        { "uid", FIELD_STRING, 0, offsetof(struct applied_resource, uid), NULL },
        { "version", FIELD_INTERNED, 0, offsetof(struct applied_resource, id.version), NULL },
};
const struct type applied_resource_type = { "AppliedResource", applied_resource_fields, 8, sizeof(struct applied_resource) };

static const struct field applied_work_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct applied_work, spec), &applied_work_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct applied_work, status), &applied_work_status_type },
};
static const struct type applied_work_root_type = { "applied_work", applied_work_root_fields, 2, sizeof(struct applied_work) };

static const struct field approval_request_spec_fields[] = {
        { "parentStageRollout", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct approval_request_spec, parent_stage_rollout), NULL },
        { "targetStage", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct approval_request_spec, target_stage), NULL },
};
const struct type approval_request_spec_type = { "ApprovalRequestSpec", approval_request_spec_fields, 2, sizeof(struct approval_request_spec) };

static const struct field approval_request_status_fields[] = {
        { "approvedPlanHash", FIELD_STRING, 0, offsetof(struct approval_request_status, approved_plan_hash), NULL },
        { "conditions", FIELD_LIST, 0, offsetof(struct approval_request_status, conditions), &condition_type },
        { "plan", FIELD_OBJECT, 0 | FIELD_BULK, offsetof(struct approval_request_status, plan), &update_plan_type },
        { "planHash", FIELD_STRING, 0, offsetof(struct approval_request_status, plan_hash), NULL },
};
const struct type approval_request_status_type = { "ApprovalRequestStatus", approval_request_status_fields, 4, sizeof(struct approval_request_status) };

static const struct field update_plan_fields[] = {
        { "clusters", FIELD_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct update_plan, clusters), &cluster_plan_type },
        { "omittedObjects", FIELD_INT, 0, offsetof(struct update_plan, omitted_objects), NULL },
        { "resourceSnapshotIndex", FIELD_STRING, 0, offsetof(struct update_plan, resource_snapshot_index), NULL },
};
const struct type update_plan_type = { "UpdatePlan", update_plan_fields, 3, sizeof(struct update_plan) };

static const struct field cluster_plan_fields[] = {
        { "added", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_plan, added), NULL },
        { "changed", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_plan, changed), NULL },
        { "clusterName", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_plan, cluster_name), NULL },
        { "objects", FIELD_LIST, 0, offsetof(struct cluster_plan, objects), &planned_object_type },
        { "problem", FIELD_STRING, 0, offsetof(struct cluster_plan, problem), NULL },
        { "removed", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_plan, removed), NULL },
};
const struct type cluster_plan_type = { "ClusterPlan", cluster_plan_fields, 6, sizeof(struct cluster_plan) };

static const struct field planned_object_fields[] = {
        { "change", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct planned_object, change), NULL },
        { "fields", FIELD_LIST, 0, offsetof(struct planned_object, fields), &planned_field_type },
        { "group", FIELD_STRING, 0, offsetof(struct planned_object, group), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct planned_object, kind), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct planned_object, name), NULL },
        { "namespace", FIELD_STRING, 0, offsetof(struct planned_object, ns), NULL },
        { "omittedFields", FIELD_INT, 0, offsetof(struct planned_object, omitted_fields), NULL },
        { "version", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct planned_object, version), NULL },
};
const struct type planned_object_type = { "PlannedObject", planned_object_fields, 8, sizeof(struct planned_object) };

static const struct field planned_field_fields[] = {
        { "from", FIELD_STRING, 0, offsetof(struct planned_field, from), NULL },
        { "path", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct planned_field, path), NULL },
        { "to", FIELD_STRING, 0, offsetof(struct planned_field, to), NULL },
};
const struct type planned_field_type = { "PlannedField", planned_field_fields, 3, sizeof(struct planned_field) };

static const struct field approval_request_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct approval_request, spec), &approval_request_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct approval_request, status), &approval_request_status_type },
};
static const struct type approval_request_root_type = { "approval_request", approval_request_root_fields, 2, sizeof(struct approval_request) };

static const struct field binding_spec_fields[] = {
        { "applyStrategy", FIELD_OBJECT, 0 | FIELD_SHARED, offsetof(struct binding_spec, apply_strategy), &apply_strategy_type },
        { "clusterDecision", FIELD_OBJECT, FIELD_REQUIRED | FIELD_SHARED, offsetof(struct binding_spec, cluster_decision), &cluster_decision_type },
        { "clusterResourceOverrideSnapshots", FIELD_LIST, 0, offsetof(struct binding_spec, cluster_resource_override_snapshots), NULL },
        { "resourceOverrideSnapshots", FIELD_LIST, 0, offsetof(struct binding_spec, resource_override_snapshots), &namespaced_name_type },
        { "resourceSnapshotName", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct binding_spec, resource_snapshot_name), NULL },
        { "schedulingPolicySnapshotName", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct binding_spec, scheduling_policy_snapshot_name), NULL },
        { "state", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct binding_spec, state), NULL },
        { "targetCluster", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct binding_spec, target_cluster), NULL },
};
const struct type binding_spec_type = { "BindingSpec", binding_spec_fields, 8, sizeof(struct binding_spec) };

static const struct field binding_status_fields[] = {
        { "conditions", FIELD_LIST, 0, offsetof(struct binding_status, conditions), &condition_type },
        { "diffedPlacements", FIELD_LIST, 0 | FIELD_APART, offsetof(struct binding_status, diffed_placements), &diffed_placement_type },
        { "driftedPlacements", FIELD_LIST, 0 | FIELD_APART, offsetof(struct binding_status, drifted_placements), &drifted_placement_type },
        { "failedPlacements", FIELD_LIST, 0 | FIELD_APART, offsetof(struct binding_status, failed_placements), &failed_placement_type },
};
const struct type binding_status_type = { "BindingStatus", binding_status_fields, 4, sizeof(struct binding_status) };

static const struct field binding_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct binding, spec), &binding_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct binding, status), &binding_status_type },
};
static const struct type binding_root_type = { "binding", binding_root_fields, 2, sizeof(struct binding) };

static const struct field bucket_spec_fields[] = {
        { "accessFrom", FIELD_RAW, 0, offsetof(struct bucket_spec, access_from), NULL },
        { "bucketName", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct bucket_spec, bucket_name), NULL },
        { "certSecretRef", FIELD_OBJECT, 0, offsetof(struct bucket_spec, cert_secret_ref), &secret_by_name_type },
        { "endpoint", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct bucket_spec, endpoint), NULL },
        { "ignore", FIELD_STRING, 0, offsetof(struct bucket_spec, ignore), NULL },
        { "insecure", FIELD_BOOL, 0, offsetof(struct bucket_spec, insecure), NULL },
        { "interval", FIELD_STRING, FIELD_REQUIRED, offsetof(struct bucket_spec, interval), NULL },
        { "prefix", FIELD_STRING, 0, offsetof(struct bucket_spec, prefix), NULL },
        { "provider", FIELD_INTERNED, 0, offsetof(struct bucket_spec, provider), NULL },
        { "proxySecretRef", FIELD_OBJECT, 0, offsetof(struct bucket_spec, proxy_secret_ref), &secret_by_name_type },
        { "region", FIELD_STRING, 0, offsetof(struct bucket_spec, region), NULL },
        { "secretRef", FIELD_OBJECT, 0, offsetof(struct bucket_spec, secret_ref), &secret_by_name_type },
        { "serviceAccountName", FIELD_STRING, 0, offsetof(struct bucket_spec, service_account_name), NULL },
        { "sts", FIELD_RAW, 0, offsetof(struct bucket_spec, sts), NULL },
        { "suspend", FIELD_BOOL, 0, offsetof(struct bucket_spec, suspend), NULL },
        { "timeout", FIELD_STRING, 0, offsetof(struct bucket_spec, timeout), NULL },
};
const struct type bucket_spec_type = { "BucketSpec", bucket_spec_fields, 16, sizeof(struct bucket_spec) };

static const struct field bucket_root_fields[] = {
        { "spec", FIELD_OBJECT, 0, offsetof(struct bucket, spec), &bucket_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct bucket, status), &source_status_type },
};
static const struct type bucket_root_type = { "bucket", bucket_root_fields, 2, sizeof(struct bucket) };

static const struct field cluster_profile_spec_fields[] = {
        { "clusterManager", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct cluster_profile_spec, cluster_manager), &cluster_manager_type },
        { "displayName", FIELD_STRING, 0, offsetof(struct cluster_profile_spec, display_name), NULL },
};
const struct type cluster_profile_spec_type = { "ClusterProfileSpec", cluster_profile_spec_fields, 2, sizeof(struct cluster_profile_spec) };

static const struct field cluster_manager_fields[] = {
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_manager, name), NULL },
};
const struct type cluster_manager_type = { "ClusterManager", cluster_manager_fields, 1, sizeof(struct cluster_manager) };

static const struct field cluster_profile_status_fields[] = {
        { "accessProviders", FIELD_LIST, 0, offsetof(struct cluster_profile_status, access_providers), &access_provider_type },
        { "conditions", FIELD_LIST, 0, offsetof(struct cluster_profile_status, conditions), &condition_type },
        { "credentialProviders", FIELD_LIST, 0, offsetof(struct cluster_profile_status, credential_providers), &access_provider_type },
        { "properties", FIELD_LIST, 0, offsetof(struct cluster_profile_status, properties), &cluster_property_type },
        { "version", FIELD_OBJECT, 0, offsetof(struct cluster_profile_status, version), &cluster_version_type },
};
const struct type cluster_profile_status_type = { "ClusterProfileStatus", cluster_profile_status_fields, 5, sizeof(struct cluster_profile_status) };

static const struct field cluster_version_fields[] = {
        { "kubernetes", FIELD_STRING, 0, offsetof(struct cluster_version, kubernetes), NULL },
};
const struct type cluster_version_type = { "ClusterVersion", cluster_version_fields, 1, sizeof(struct cluster_version) };

static const struct field cluster_property_fields[] = {
        { "lastObservedTime", FIELD_TIME, 0, offsetof(struct cluster_property, last_observed_time), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED, offsetof(struct cluster_property, name), NULL },
        { "value", FIELD_STRING, FIELD_REQUIRED, offsetof(struct cluster_property, value), NULL },
};
const struct type cluster_property_type = { "ClusterProperty", cluster_property_fields, 3, sizeof(struct cluster_property) };

static const struct field access_provider_fields[] = {
        { "cluster", FIELD_OBJECT, 0, offsetof(struct access_provider, cluster), &cluster_access_type },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct access_provider, name), NULL },
};
const struct type access_provider_type = { "AccessProvider", access_provider_fields, 2, sizeof(struct access_provider) };

static const struct field cluster_access_fields[] = {
        { "certificate-authority", FIELD_STRING, 0, offsetof(struct cluster_access, certificate_authority), NULL },
        { "certificate-authority-data", FIELD_STRING, 0, offsetof(struct cluster_access, certificate_authority_data), NULL },
        { "disable-compression", FIELD_BOOL, 0, offsetof(struct cluster_access, disable_compression), NULL },
        { "extensions", FIELD_LIST, 0, offsetof(struct cluster_access, extensions), &named_extension_type },
        { "insecure-skip-tls-verify", FIELD_BOOL, 0, offsetof(struct cluster_access, insecure_skip_tls_verify), NULL },
        { "proxy-url", FIELD_STRING, 0, offsetof(struct cluster_access, proxy_url), NULL },
        { "server", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_access, server), NULL },
        { "tls-server-name", FIELD_STRING, 0, offsetof(struct cluster_access, tls_server_name), NULL },
};
const struct type cluster_access_type = { "ClusterAccess", cluster_access_fields, 8, sizeof(struct cluster_access) };

static const struct field named_extension_fields[] = {
        { "extension", FIELD_RAW, FIELD_REQUIRED, offsetof(struct named_extension, extension), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct named_extension, name), NULL },
};
const struct type named_extension_type = { "NamedExtension", named_extension_fields, 2, sizeof(struct named_extension) };

static const struct field cluster_profile_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct cluster_profile, spec), &cluster_profile_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct cluster_profile, status), &cluster_profile_status_type },
};
static const struct type cluster_profile_root_type = { "cluster_profile", cluster_profile_root_fields, 2, sizeof(struct cluster_profile) };

static const struct field disruption_budget_spec_fields[] = {
        { "maxUnavailable", FIELD_INT_OR_STRING, 0, offsetof(struct disruption_budget_spec, max_unavailable), NULL },
        { "minAvailable", FIELD_INT_OR_STRING, 0, offsetof(struct disruption_budget_spec, min_available), NULL },
};
const struct type disruption_budget_spec_type = { "DisruptionBudgetSpec", disruption_budget_spec_fields, 2, sizeof(struct disruption_budget_spec) };

static const struct field disruption_budget_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct disruption_budget, spec), &disruption_budget_spec_type },
};
static const struct type disruption_budget_root_type = { "disruption_budget", disruption_budget_root_fields, 1, sizeof(struct disruption_budget) };

static const struct field resource_envelope_root_fields[] = {
        { "data", FIELD_RAW_MAP, FIELD_REQUIRED | FIELD_BULK, offsetof(struct resource_envelope, data), NULL },
};
static const struct type resource_envelope_root_type = { "resource_envelope", resource_envelope_root_fields, 1, sizeof(struct resource_envelope) };

static const struct field eviction_spec_fields[] = {
        { "clusterName", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct eviction_spec, cluster_name), NULL },
        { "placementName", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct eviction_spec, placement_name), NULL },
};
const struct type eviction_spec_type = { "EvictionSpec", eviction_spec_fields, 2, sizeof(struct eviction_spec) };

static const struct field eviction_status_fields[] = {
        { "conditions", FIELD_LIST, 0, offsetof(struct eviction_status, conditions), &condition_type },
        { "decision", FIELD_OBJECT, 0, offsetof(struct eviction_status, decision), &eviction_decision_type },
};
const struct type eviction_status_type = { "EvictionStatus", eviction_status_fields, 2, sizeof(struct eviction_status) };

static const struct field eviction_decision_fields[] = {
        { "bindingName", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct eviction_decision, binding_name), NULL },
        { "bindingResourceVersion", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct eviction_decision, binding_resource_version), NULL },
        { "bindingUID", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct eviction_decision, binding_uid), NULL },
        { "message", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct eviction_decision, message), NULL },
};
const struct type eviction_decision_type = { "EvictionDecision", eviction_decision_fields, 4, sizeof(struct eviction_decision) };

static const struct field eviction_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct eviction, spec), &eviction_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct eviction, status), &eviction_status_type },
};
static const struct type eviction_root_type = { "eviction", eviction_root_fields, 2, sizeof(struct eviction) };

static const struct field namespace_status_fields[] = {
        { "phase", FIELD_INTERNED, 0, offsetof(struct namespace_status, phase), NULL },
};
const struct type namespace_status_type = { "NamespaceStatus", namespace_status_fields, 1, sizeof(struct namespace_status) };

static const struct field lease_spec_fields[] = {
        { "acquireTime", FIELD_TIME, 0 | FIELD_MICRO, offsetof(struct lease_spec, acquire_time), NULL },
        { "holderIdentity", FIELD_STRING, 0, offsetof(struct lease_spec, holder_identity), NULL },
        { "leaseDurationSeconds", FIELD_INT, 0, offsetof(struct lease_spec, lease_duration_seconds), NULL },
        { "leaseTransitions", FIELD_INT, 0, offsetof(struct lease_spec, lease_transitions), NULL },
        { "renewTime", FIELD_TIME, 0 | FIELD_MICRO, offsetof(struct lease_spec, renew_time), NULL },
};
const struct type lease_spec_type = { "LeaseSpec", lease_spec_fields, 5, sizeof(struct lease_spec) };

static const struct field object_reference_fields[] = {
        { "apiVersion", FIELD_INTERNED, 0, offsetof(struct object_reference, api_version), NULL },
        { "fieldPath", FIELD_STRING, 0, offsetof(struct object_reference, field_path), NULL },
        { "kind", FIELD_INTERNED, 0, offsetof(struct object_reference, kind), NULL },
        { "name", FIELD_STRING, 0, offsetof(struct object_reference, name), NULL },
        { "namespace", FIELD_INTERNED, 0, offsetof(struct object_reference, ns), NULL },
        { "resourceVersion", FIELD_STRING, 0, offsetof(struct object_reference, resource_version), NULL },
        { "uid", FIELD_STRING, 0, offsetof(struct object_reference, uid), NULL },
};
const struct type object_reference_type = { "ObjectReference", object_reference_fields, 7, sizeof(struct object_reference) };

static const struct field event_source_fields[] = {
        { "component", FIELD_INTERNED, 0, offsetof(struct event_source, component), NULL },
        { "host", FIELD_INTERNED, 0, offsetof(struct event_source, host), NULL },
};
const struct type event_source_type = { "EventSource", event_source_fields, 2, sizeof(struct event_source) };

static const struct field node_spec_fields[] = {
        { "providerID", FIELD_STRING, 0, offsetof(struct node_spec, provider_id), NULL },
        { "unschedulable", FIELD_BOOL, 0, offsetof(struct node_spec, unschedulable), NULL },
};
const struct type node_spec_type = { "NodeSpec", node_spec_fields, 2, sizeof(struct node_spec) };

static const struct field node_status_fields[] = {
        { "allocatable", FIELD_STRING_MAP, 0 | FIELD_QUANTITY, offsetof(struct node_status, allocatable), NULL },
        { "capacity", FIELD_STRING_MAP, 0 | FIELD_QUANTITY, offsetof(struct node_status, capacity), NULL },
        { "conditions", FIELD_LIST, 0, offsetof(struct node_status, conditions), &condition_type },
};
const struct type node_status_type = { "NodeStatus", node_status_fields, 3, sizeof(struct node_status) };

static const struct field pod_spec_fields[] = {
        { "containers", FIELD_LIST, 0, offsetof(struct pod_spec, containers), &container_type },
        { "initContainers", FIELD_LIST, 0, offsetof(struct pod_spec, init_containers), &container_type },
        { "nodeName", FIELD_INTERNED, 0, offsetof(struct pod_spec, node_name), NULL },
        { "overhead", FIELD_STRING_MAP, 0 | FIELD_QUANTITY, offsetof(struct pod_spec, overhead), NULL },
};
const struct type pod_spec_type = { "PodSpec", pod_spec_fields, 4, sizeof(struct pod_spec) };

static const struct field container_fields[] = {
        { "resources", FIELD_OBJECT, 0, offsetof(struct container, resources), &container_resources_type },
        { "restartPolicy", FIELD_INTERNED, 0, offsetof(struct container, restart_policy), NULL },
};
const struct type container_type = { "Container", container_fields, 2, sizeof(struct container) };

static const struct field container_resources_fields[] = {
        { "limits", FIELD_STRING_MAP, 0 | FIELD_QUANTITY, offsetof(struct container_resources, limits), NULL },
        { "requests", FIELD_STRING_MAP, 0 | FIELD_QUANTITY, offsetof(struct container_resources, requests), NULL },
};
const struct type container_resources_type = { "ContainerResources", container_resources_fields, 2, sizeof(struct container_resources) };

static const struct field pod_status_fields[] = {
        { "phase", FIELD_INTERNED, 0, offsetof(struct pod_status, phase), NULL },
};
const struct type pod_status_type = { "PodStatus", pod_status_fields, 1, sizeof(struct pod_status) };

static const struct field namespace_root_fields[] = {
        { "status", FIELD_OBJECT, 0, offsetof(struct namespace, status), &namespace_status_type },
};
static const struct type namespace_root_type = { "namespace", namespace_root_fields, 1, sizeof(struct namespace) };

static const struct field lease_root_fields[] = {
        { "spec", FIELD_OBJECT, 0, offsetof(struct lease, spec), &lease_spec_type },
};
static const struct type lease_root_type = { "lease", lease_root_fields, 1, sizeof(struct lease) };

static const struct field event_root_fields[] = {
        { "action", FIELD_INTERNED, 0, offsetof(struct event, action), NULL },
        { "count", FIELD_INT, 0, offsetof(struct event, count), NULL },
        { "eventTime", FIELD_TIME, 0 | FIELD_MICRO, offsetof(struct event, event_time), NULL },
        { "firstTimestamp", FIELD_TIME, 0, offsetof(struct event, first_timestamp), NULL },
        { "involvedObject", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct event, involved_object), &object_reference_type },
        { "lastTimestamp", FIELD_TIME, 0, offsetof(struct event, last_timestamp), NULL },
        { "message", FIELD_STRING, 0, offsetof(struct event, message), NULL },
        { "reason", FIELD_INTERNED, 0, offsetof(struct event, reason), NULL },
        { "reportingComponent", FIELD_INTERNED, 0, offsetof(struct event, reporting_component), NULL },
        { "reportingInstance", FIELD_INTERNED, 0, offsetof(struct event, reporting_instance), NULL },
        { "source", FIELD_OBJECT, 0, offsetof(struct event, source), &event_source_type },
        { "type", FIELD_INTERNED, 0, offsetof(struct event, type), NULL },
};
static const struct type event_root_type = { "event", event_root_fields, 12, sizeof(struct event) };

static const struct field node_root_fields[] = {
        { "spec", FIELD_OBJECT, 0, offsetof(struct node, spec), &node_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct node, status), &node_status_type },
};
static const struct type node_root_type = { "node", node_root_fields, 2, sizeof(struct node) };

static const struct field pod_root_fields[] = {
        { "spec", FIELD_OBJECT, 0, offsetof(struct pod, spec), &pod_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct pod, status), &pod_status_type },
};
static const struct type pod_root_type = { "pod", pod_root_fields, 2, sizeof(struct pod) };

static const struct field config_map_root_fields[] = {
        { "data", FIELD_STRING_MAP, 0, offsetof(struct config_map, data), NULL },
};
static const struct type config_map_root_type = { "config_map", config_map_root_fields, 1, sizeof(struct config_map) };

static const struct field partial_object_root_fields[] = {
        { "apiVersion", FIELD_INTERNED, 0, offsetof(struct partial_object, api_version), NULL },
        { "kind", FIELD_INTERNED, 0, offsetof(struct partial_object, kind), NULL },
};
static const struct type partial_object_root_type = { "partial_object", partial_object_root_fields, 2, sizeof(struct partial_object) };

static const struct field git_repository_spec_fields[] = {
        { "accessFrom", FIELD_RAW, 0, offsetof(struct git_repository_spec, access_from), NULL },
        { "ignore", FIELD_STRING, 0, offsetof(struct git_repository_spec, ignore), NULL },
        { "include", FIELD_LIST, 0, offsetof(struct git_repository_spec, include), &git_include_type },
        { "interval", FIELD_STRING, FIELD_REQUIRED, offsetof(struct git_repository_spec, interval), NULL },
        { "provider", FIELD_INTERNED, 0, offsetof(struct git_repository_spec, provider), NULL },
        { "proxySecretRef", FIELD_OBJECT, 0, offsetof(struct git_repository_spec, proxy_secret_ref), &secret_by_name_type },
        { "recurseSubmodules", FIELD_BOOL, 0, offsetof(struct git_repository_spec, recurse_submodules), NULL },
        { "ref", FIELD_OBJECT, 0, offsetof(struct git_repository_spec, ref), &git_reference_type },
        { "secretRef", FIELD_OBJECT, 0, offsetof(struct git_repository_spec, secret_ref), &secret_by_name_type },
        { "serviceAccountName", FIELD_STRING, 0, offsetof(struct git_repository_spec, service_account_name), NULL },
        { "sparseCheckout", FIELD_LIST, 0, offsetof(struct git_repository_spec, sparse_checkout), NULL },
        { "suspend", FIELD_BOOL, 0, offsetof(struct git_repository_spec, suspend), NULL },
        { "timeout", FIELD_STRING, 0, offsetof(struct git_repository_spec, timeout), NULL },
        { "url", FIELD_STRING, FIELD_REQUIRED, offsetof(struct git_repository_spec, url), NULL },
        { "verify", FIELD_OBJECT, 0, offsetof(struct git_repository_spec, verify), &git_verification_type },
};
const struct type git_repository_spec_type = { "GitRepositorySpec", git_repository_spec_fields, 15, sizeof(struct git_repository_spec) };

static const struct field git_reference_fields[] = {
        { "branch", FIELD_STRING, 0, offsetof(struct git_reference, branch), NULL },
        { "commit", FIELD_STRING, 0, offsetof(struct git_reference, commit), NULL },
        { "name", FIELD_STRING, 0, offsetof(struct git_reference, name), NULL },
        { "semver", FIELD_STRING, 0, offsetof(struct git_reference, semver), NULL },
        { "tag", FIELD_STRING, 0, offsetof(struct git_reference, tag), NULL },
};
const struct type git_reference_type = { "GitReference", git_reference_fields, 5, sizeof(struct git_reference) };

static const struct field git_include_fields[] = {
        { "fromPath", FIELD_STRING, 0, offsetof(struct git_include, from_path), NULL },
        { "repository", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct git_include, repository), &secret_by_name_type },
        { "toPath", FIELD_STRING, 0, offsetof(struct git_include, to_path), NULL },
};
const struct type git_include_type = { "GitInclude", git_include_fields, 3, sizeof(struct git_include) };

static const struct field git_verification_fields[] = {
        { "mode", FIELD_INTERNED, 0, offsetof(struct git_verification, mode), NULL },
        { "secretRef", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct git_verification, secret_ref), &secret_by_name_type },
};
const struct type git_verification_type = { "GitVerification", git_verification_fields, 2, sizeof(struct git_verification) };

static const struct field git_repository_root_fields[] = {
        { "spec", FIELD_OBJECT, 0, offsetof(struct git_repository, spec), &git_repository_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct git_repository, status), &source_status_type },
};
static const struct type git_repository_root_type = { "git_repository", git_repository_root_fields, 2, sizeof(struct git_repository) };

static const struct field helm_chart_spec_fields[] = {
        { "accessFrom", FIELD_RAW, 0, offsetof(struct helm_chart_spec, access_from), NULL },
        { "chart", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct helm_chart_spec, chart), NULL },
        { "ignoreMissingValuesFiles", FIELD_BOOL, 0, offsetof(struct helm_chart_spec, ignore_missing_values_files), NULL },
        { "interval", FIELD_STRING, FIELD_REQUIRED, offsetof(struct helm_chart_spec, interval), NULL },
        { "reconcileStrategy", FIELD_INTERNED, 0, offsetof(struct helm_chart_spec, reconcile_strategy), NULL },
        { "sourceRef", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct helm_chart_spec, source_ref), &chart_source_type },
        { "suspend", FIELD_BOOL, 0, offsetof(struct helm_chart_spec, suspend), NULL },
        { "valuesFile", FIELD_STRING, 0, offsetof(struct helm_chart_spec, values_file), NULL },
        { "valuesFiles", FIELD_LIST, 0, offsetof(struct helm_chart_spec, values_files), NULL },
        { "verify", FIELD_OBJECT, 0, offsetof(struct helm_chart_spec, verify), &chart_verification_type },
        { "version", FIELD_STRING, 0, offsetof(struct helm_chart_spec, version), NULL },
};
const struct type helm_chart_spec_type = { "HelmChartSpec", helm_chart_spec_fields, 11, sizeof(struct helm_chart_spec) };

static const struct field chart_source_fields[] = {
        { "apiVersion", FIELD_INTERNED, 0, offsetof(struct chart_source, api_version), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct chart_source, kind), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct chart_source, name), NULL },
};
const struct type chart_source_type = { "ChartSource", chart_source_fields, 3, sizeof(struct chart_source) };

static const struct field chart_verification_fields[] = {
        { "matchOIDCIdentity", FIELD_LIST, 0, offsetof(struct chart_verification, match_oidc_identity), &signer_identity_type },
        { "provider", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct chart_verification, provider), NULL },
        { "secretRef", FIELD_OBJECT, 0, offsetof(struct chart_verification, secret_ref), &secret_by_name_type },
};
const struct type chart_verification_type = { "ChartVerification", chart_verification_fields, 3, sizeof(struct chart_verification) };

static const struct field signer_identity_fields[] = {
        { "issuer", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct signer_identity, issuer), NULL },
        { "subject", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct signer_identity, subject), NULL },
};
const struct type signer_identity_type = { "SignerIdentity", signer_identity_fields, 2, sizeof(struct signer_identity) };

static const struct field helm_chart_root_fields[] = {
        { "spec", FIELD_OBJECT, 0, offsetof(struct helm_chart, spec), &helm_chart_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct helm_chart, status), &source_status_type },
};
static const struct type helm_chart_root_type = { "helm_chart", helm_chart_root_fields, 2, sizeof(struct helm_chart) };

static const struct field helm_repository_spec_fields[] = {
        { "accessFrom", FIELD_RAW, 0, offsetof(struct helm_repository_spec, access_from), NULL },
        { "certSecretRef", FIELD_OBJECT, 0, offsetof(struct helm_repository_spec, cert_secret_ref), &secret_by_name_type },
        { "insecure", FIELD_BOOL, 0, offsetof(struct helm_repository_spec, insecure), NULL },
        { "interval", FIELD_STRING, 0, offsetof(struct helm_repository_spec, interval), NULL },
        { "passCredentials", FIELD_BOOL, 0, offsetof(struct helm_repository_spec, pass_credentials), NULL },
        { "provider", FIELD_INTERNED, 0, offsetof(struct helm_repository_spec, provider), NULL },
        { "secretRef", FIELD_OBJECT, 0, offsetof(struct helm_repository_spec, secret_ref), &secret_by_name_type },
        { "suspend", FIELD_BOOL, 0, offsetof(struct helm_repository_spec, suspend), NULL },
        { "timeout", FIELD_STRING, 0, offsetof(struct helm_repository_spec, timeout), NULL },
        { "type", FIELD_INTERNED, 0, offsetof(struct helm_repository_spec, type), NULL },
        { "url", FIELD_STRING, FIELD_REQUIRED, offsetof(struct helm_repository_spec, url), NULL },
};
const struct type helm_repository_spec_type = { "HelmRepositorySpec", helm_repository_spec_fields, 11, sizeof(struct helm_repository_spec) };

static const struct field helm_repository_root_fields[] = {
        { "spec", FIELD_OBJECT, 0, offsetof(struct helm_repository, spec), &helm_repository_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct helm_repository, status), &source_status_type },
};
static const struct type helm_repository_root_type = { "helm_repository", helm_repository_root_fields, 2, sizeof(struct helm_repository) };

static const struct field input_provider_spec_fields[] = {
        { "certSecretRef", FIELD_OBJECT, 0, offsetof(struct input_provider_spec, cert_secret_ref), &secret_by_name_type },
        { "defaultValues", FIELD_RAW, 0, offsetof(struct input_provider_spec, default_values), NULL },
        { "filter", FIELD_OBJECT, 0, offsetof(struct input_provider_spec, filter), &input_filter_type },
        { "insecure", FIELD_BOOL, 0, offsetof(struct input_provider_spec, insecure), NULL },
        { "schedule", FIELD_LIST, 0, offsetof(struct input_provider_spec, schedule), &input_schedule_type },
        { "secretRef", FIELD_OBJECT, 0, offsetof(struct input_provider_spec, secret_ref), &secret_by_name_type },
        { "selectors", FIELD_LIST, 0, offsetof(struct input_provider_spec, selectors), &artifact_selector_type },
        { "serviceAccountName", FIELD_STRING, 0, offsetof(struct input_provider_spec, service_account_name), NULL },
        { "skip", FIELD_OBJECT, 0, offsetof(struct input_provider_spec, skip), &input_skip_type },
        { "type", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct input_provider_spec, type), NULL },
        { "url", FIELD_STRING, 0, offsetof(struct input_provider_spec, url), NULL },
};
const struct type input_provider_spec_type = { "InputProviderSpec", input_provider_spec_fields, 11, sizeof(struct input_provider_spec) };

static const struct field input_filter_fields[] = {
        { "excludeBranch", FIELD_STRING, 0, offsetof(struct input_filter, exclude_branch), NULL },
        { "excludeEnvironment", FIELD_STRING, 0, offsetof(struct input_filter, exclude_environment), NULL },
        { "excludeTag", FIELD_STRING, 0, offsetof(struct input_filter, exclude_tag), NULL },
        { "includeBranch", FIELD_STRING, 0, offsetof(struct input_filter, include_branch), NULL },
        { "includeEnvironment", FIELD_STRING, 0, offsetof(struct input_filter, include_environment), NULL },
        { "includeTag", FIELD_STRING, 0, offsetof(struct input_filter, include_tag), NULL },
        { "labels", FIELD_LIST, 0, offsetof(struct input_filter, labels), NULL },
        { "limit", FIELD_INT, 0, offsetof(struct input_filter, limit), NULL },
        { "semver", FIELD_STRING, 0, offsetof(struct input_filter, semver), NULL },
};
const struct type input_filter_type = { "InputFilter", input_filter_fields, 9, sizeof(struct input_filter) };

static const struct field input_skip_fields[] = {
        { "labels", FIELD_LIST, 0, offsetof(struct input_skip, labels), NULL },
};
const struct type input_skip_type = { "InputSkip", input_skip_fields, 1, sizeof(struct input_skip) };

static const struct field input_schedule_fields[] = {
        { "cron", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct input_schedule, cron), NULL },
        { "timeZone", FIELD_STRING, 0, offsetof(struct input_schedule, time_zone), NULL },
        { "window", FIELD_STRING, 0, offsetof(struct input_schedule, window), NULL },
};
const struct type input_schedule_type = { "InputSchedule", input_schedule_fields, 3, sizeof(struct input_schedule) };

static const struct field artifact_selector_fields[] = {
        { "matchExpressions", FIELD_LIST, 0, offsetof(struct artifact_selector, match_expressions), &label_requirement_type },
        { "matchLabels", FIELD_STRING_MAP, 0, offsetof(struct artifact_selector, match_labels), NULL },
        { "name", FIELD_STRING, 0, offsetof(struct artifact_selector, name), NULL },
        { "namespace", FIELD_STRING, 0, offsetof(struct artifact_selector, ns), NULL },
};
const struct type artifact_selector_type = { "ArtifactSelector", artifact_selector_fields, 4, sizeof(struct artifact_selector) };

static const struct field input_provider_status_fields[] = {
        { "conditions", FIELD_LIST, 0, offsetof(struct input_provider_status, conditions), &condition_type },
        { "exportedInputs", FIELD_RAW_LIST, 0, offsetof(struct input_provider_status, exported_inputs), NULL },
        { "lastExportedRevision", FIELD_STRING, 0, offsetof(struct input_provider_status, last_exported_revision), NULL },
        { "lastHandledForceAt", FIELD_STRING, 0, offsetof(struct input_provider_status, last_handled_force_at), NULL },
        { "lastHandledReconcileAt", FIELD_STRING, 0, offsetof(struct input_provider_status, last_handled_reconcile_at), NULL },
        { "nextSchedule", FIELD_OBJECT, 0, offsetof(struct input_provider_status, next_schedule), &input_next_schedule_type },
};
const struct type input_provider_status_type = { "InputProviderStatus", input_provider_status_fields, 6, sizeof(struct input_provider_status) };

static const struct field input_next_schedule_fields[] = {
        { "cron", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct input_next_schedule, cron), NULL },
        { "timeZone", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct input_next_schedule, time_zone), NULL },
        { "when", FIELD_TIME, FIELD_REQUIRED, offsetof(struct input_next_schedule, when_ms), NULL },
        { "window", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct input_next_schedule, window), NULL },
};
const struct type input_next_schedule_type = { "InputNextSchedule", input_next_schedule_fields, 4, sizeof(struct input_next_schedule) };

static const struct field input_provider_root_fields[] = {
        { "spec", FIELD_OBJECT, 0, offsetof(struct input_provider, spec), &input_provider_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct input_provider, status), &input_provider_status_type },
};
static const struct type input_provider_root_type = { "input_provider", input_provider_root_fields, 2, sizeof(struct input_provider) };

static const struct field internal_member_cluster_spec_fields[] = {
        { "heartbeatPeriodSeconds", FIELD_INT, 0, offsetof(struct internal_member_cluster_spec, heartbeat_period_seconds), NULL },
        { "state", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct internal_member_cluster_spec, state), NULL },
};
const struct type internal_member_cluster_spec_type = { "InternalMemberClusterSpec", internal_member_cluster_spec_fields, 2, sizeof(struct internal_member_cluster_spec) };

static const struct field internal_member_cluster_status_fields[] = {
        { "agentStatus", FIELD_LIST, 0, offsetof(struct internal_member_cluster_status, agent_status), &agent_status_type },
        { "conditions", FIELD_LIST, 0, offsetof(struct internal_member_cluster_status, conditions), &condition_type },
        { "namespaces", FIELD_STRING_MAP, 0, offsetof(struct internal_member_cluster_status, namespaces), NULL },
        { "properties", FIELD_MAP, 0, offsetof(struct internal_member_cluster_status, properties), &property_value_type },
        { "resourceUsage", FIELD_OBJECT, 0, offsetof(struct internal_member_cluster_status, resource_usage), &resource_usage_type },
};
const struct type internal_member_cluster_status_type = { "InternalMemberClusterStatus", internal_member_cluster_status_fields, 5, sizeof(struct internal_member_cluster_status) };

static const struct field internal_member_cluster_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct internal_member_cluster, spec), &internal_member_cluster_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct internal_member_cluster, status), &internal_member_cluster_status_type },
};
static const struct type internal_member_cluster_root_type = { "internal_member_cluster", internal_member_cluster_root_fields, 2, sizeof(struct internal_member_cluster) };

static const struct field member_cluster_spec_fields[] = {
        { "deleteOptions", FIELD_OBJECT, 0, offsetof(struct member_cluster_spec, delete_options), &delete_options_type },
        { "heartbeatPeriodSeconds", FIELD_INT, 0, offsetof(struct member_cluster_spec, heartbeat_period_seconds), NULL },
        { "identity", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct member_cluster_spec, identity), &subject_type },
        { "taints", FIELD_LIST, 0, offsetof(struct member_cluster_spec, taints), &taint_type },
};
const struct type member_cluster_spec_type = { "MemberClusterSpec", member_cluster_spec_fields, 4, sizeof(struct member_cluster_spec) };

static const struct field subject_fields[] = {
        { "apiGroup", FIELD_STRING, 0, offsetof(struct subject, api_group), NULL },
        { "kind", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct subject, kind), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct subject, name), NULL },
        { "namespace", FIELD_STRING, 0, offsetof(struct subject, ns), NULL },
};
const struct type subject_type = { "Subject", subject_fields, 4, sizeof(struct subject) };

static const struct field taint_fields[] = {
        { "effect", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct taint, effect), NULL },
        { "key", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct taint, key), NULL },
        { "value", FIELD_INTERNED, 0, offsetof(struct taint, value), NULL },
};
const struct type taint_type = { "Taint", taint_fields, 3, sizeof(struct taint) };

static const struct field delete_options_fields[] = {
        { "validationMode", FIELD_INTERNED, 0, offsetof(struct delete_options, validation_mode), NULL },
};
const struct type delete_options_type = { "DeleteOptions", delete_options_fields, 1, sizeof(struct delete_options) };

static const struct field member_cluster_status_fields[] = {
        { "agentStatus", FIELD_LIST, 0, offsetof(struct member_cluster_status, agent_status), &agent_status_type },
        { "conditions", FIELD_LIST, 0, offsetof(struct member_cluster_status, conditions), &condition_type },
        { "namespaces", FIELD_STRING_MAP, 0, offsetof(struct member_cluster_status, namespaces), NULL },
        { "properties", FIELD_MAP, 0, offsetof(struct member_cluster_status, properties), &property_value_type },
        { "resourceUsage", FIELD_OBJECT, 0, offsetof(struct member_cluster_status, resource_usage), &resource_usage_type },
};
const struct type member_cluster_status_type = { "MemberClusterStatus", member_cluster_status_fields, 5, sizeof(struct member_cluster_status) };

static const struct field property_value_fields[] = {
        { "observationTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct property_value, observation_time), NULL },
        { "value", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct property_value, value), NULL },
};
const struct type property_value_type = { "PropertyValue", property_value_fields, 2, sizeof(struct property_value) };

static const struct field resource_usage_fields[] = {
        { "allocatable", FIELD_STRING_MAP, 0 | FIELD_QUANTITY, offsetof(struct resource_usage, allocatable), NULL },
        { "available", FIELD_STRING_MAP, 0 | FIELD_QUANTITY, offsetof(struct resource_usage, available), NULL },
        { "capacity", FIELD_STRING_MAP, 0 | FIELD_QUANTITY, offsetof(struct resource_usage, capacity), NULL },
        { "observationTime", FIELD_TIME, 0, offsetof(struct resource_usage, observation_time), NULL },
};
const struct type resource_usage_type = { "ResourceUsage", resource_usage_fields, 4, sizeof(struct resource_usage) };

static const struct field agent_status_fields[] = {
        { "conditions", FIELD_LIST, 0, offsetof(struct agent_status, conditions), &condition_type },
        { "lastReceivedHeartbeat", FIELD_TIME, 0, offsetof(struct agent_status, last_received_heartbeat), NULL },
        { "type", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct agent_status, type), NULL },
};
const struct type agent_status_type = { "AgentStatus", agent_status_fields, 3, sizeof(struct agent_status) };

static const struct field member_cluster_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct member_cluster, spec), &member_cluster_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct member_cluster, status), &member_cluster_status_type },
};
static const struct type member_cluster_root_type = { "member_cluster", member_cluster_root_fields, 2, sizeof(struct member_cluster) };

static const struct field cluster_object_set_spec_fields[] = {
        { "collisionProtection", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct cluster_object_set_spec, collision_protection), NULL },
        { "lifecycleState", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct cluster_object_set_spec, lifecycle_state), NULL },
        { "phases", FIELD_LIST, 0, offsetof(struct cluster_object_set_spec, phases), &object_set_phase_type },
        { "progressDeadlineMinutes", FIELD_INT, 0, offsetof(struct cluster_object_set_spec, progress_deadline_minutes), NULL },
        { "progressionProbes", FIELD_LIST, 0, offsetof(struct cluster_object_set_spec, progression_probes), &progression_probe_type },
        { "revision", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_object_set_spec, revision), NULL },
};
const struct type cluster_object_set_spec_type = { "ClusterObjectSetSpec", cluster_object_set_spec_fields, 6, sizeof(struct cluster_object_set_spec) };

static const struct field object_set_phase_fields[] = {
        { "collisionProtection", FIELD_INTERNED, 0, offsetof(struct object_set_phase, collision_protection), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED, offsetof(struct object_set_phase, name), NULL },
        { "objects", FIELD_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct object_set_phase, objects), &object_set_entry_type },
};
const struct type object_set_phase_type = { "ObjectSetPhase", object_set_phase_fields, 3, sizeof(struct object_set_phase) };

static const struct field object_set_entry_fields[] = {
        { "collisionProtection", FIELD_INTERNED, 0, offsetof(struct object_set_entry, collision_protection), NULL },
        { "object", FIELD_RAW, 0 | FIELD_BULK, offsetof(struct object_set_entry, object), NULL },
        { "ref", FIELD_OBJECT, 0, offsetof(struct object_set_entry, ref), &object_set_ref_type },
};
const struct type object_set_entry_type = { "ObjectSetEntry", object_set_entry_fields, 3, sizeof(struct object_set_entry) };

static const struct field object_set_ref_fields[] = {
        { "key", FIELD_STRING, FIELD_REQUIRED, offsetof(struct object_set_ref, key), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED, offsetof(struct object_set_ref, name), NULL },
        { "namespace", FIELD_STRING, 0, offsetof(struct object_set_ref, ns), NULL },
};
const struct type object_set_ref_type = { "ObjectSetRef", object_set_ref_fields, 3, sizeof(struct object_set_ref) };

static const struct field progression_probe_fields[] = {
        { "assertions", FIELD_LIST, FIELD_REQUIRED, offsetof(struct progression_probe, assertions), &probe_assertion_type },
        { "selector", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct progression_probe, selector), &probe_selector_type },
};
const struct type progression_probe_type = { "ProgressionProbe", progression_probe_fields, 2, sizeof(struct progression_probe) };

static const struct field probe_selector_fields[] = {
        { "groupKind", FIELD_OBJECT, 0, offsetof(struct probe_selector, group_kind), &probe_group_kind_type },
        { "label", FIELD_OBJECT, 0, offsetof(struct probe_selector, label), &label_selector_type },
        { "type", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct probe_selector, type), NULL },
};
const struct type probe_selector_type = { "ProbeSelector", probe_selector_fields, 3, sizeof(struct probe_selector) };

static const struct field probe_group_kind_fields[] = {
        { "group", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct probe_group_kind, group), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct probe_group_kind, kind), NULL },
};
const struct type probe_group_kind_type = { "ProbeGroupKind", probe_group_kind_fields, 2, sizeof(struct probe_group_kind) };

static const struct field probe_assertion_fields[] = {
        { "conditionEqual", FIELD_OBJECT, 0, offsetof(struct probe_assertion, condition_equal), &condition_equal_probe_type },
        { "fieldValue", FIELD_OBJECT, 0, offsetof(struct probe_assertion, field_value), &field_value_probe_type },
        { "fieldsEqual", FIELD_OBJECT, 0, offsetof(struct probe_assertion, fields_equal), &fields_equal_probe_type },
        { "type", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct probe_assertion, type), NULL },
};
const struct type probe_assertion_type = { "ProbeAssertion", probe_assertion_fields, 4, sizeof(struct probe_assertion) };

static const struct field condition_equal_probe_fields[] = {
        { "status", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct condition_equal_probe, status), NULL },
        { "type", FIELD_STRING, FIELD_REQUIRED, offsetof(struct condition_equal_probe, type), NULL },
};
const struct type condition_equal_probe_type = { "ConditionEqualProbe", condition_equal_probe_fields, 2, sizeof(struct condition_equal_probe) };

static const struct field fields_equal_probe_fields[] = {
        { "fieldA", FIELD_STRING, FIELD_REQUIRED, offsetof(struct fields_equal_probe, field_a), NULL },
        { "fieldB", FIELD_STRING, FIELD_REQUIRED, offsetof(struct fields_equal_probe, field_b), NULL },
};
const struct type fields_equal_probe_type = { "FieldsEqualProbe", fields_equal_probe_fields, 2, sizeof(struct fields_equal_probe) };

static const struct field field_value_probe_fields[] = {
        { "fieldPath", FIELD_STRING, FIELD_REQUIRED, offsetof(struct field_value_probe, field_path), NULL },
        { "value", FIELD_STRING, FIELD_REQUIRED, offsetof(struct field_value_probe, value), NULL },
};
const struct type field_value_probe_type = { "FieldValueProbe", field_value_probe_fields, 2, sizeof(struct field_value_probe) };

static const struct field cluster_object_set_status_fields[] = {
        { "conditions", FIELD_LIST, 0, offsetof(struct cluster_object_set_status, conditions), &condition_type },
        { "observedPhases", FIELD_LIST, 0, offsetof(struct cluster_object_set_status, observed_phases), &observed_phase_type },
};
const struct type cluster_object_set_status_type = { "ClusterObjectSetStatus", cluster_object_set_status_fields, 2, sizeof(struct cluster_object_set_status) };

static const struct field observed_phase_fields[] = {
        { "digest", FIELD_STRING, FIELD_REQUIRED, offsetof(struct observed_phase, digest), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED, offsetof(struct observed_phase, name), NULL },
};
const struct type observed_phase_type = { "ObservedPhase", observed_phase_fields, 2, sizeof(struct observed_phase) };

static const struct field cluster_object_set_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct cluster_object_set, spec), &cluster_object_set_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct cluster_object_set, status), &cluster_object_set_status_type },
};
static const struct type cluster_object_set_root_type = { "cluster_object_set", cluster_object_set_root_fields, 2, sizeof(struct cluster_object_set) };

static const struct field override_snapshot_spec_fields[] = {
        { "overrideHash", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct override_snapshot_spec, override_hash), NULL },
        { "overrideSpec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct override_snapshot_spec, override_spec), &override_spec_type },
};
const struct type override_snapshot_spec_type = { "OverrideSnapshotSpec", override_snapshot_spec_fields, 2, sizeof(struct override_snapshot_spec) };

static const struct field override_snapshot_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct override_snapshot, spec), &override_snapshot_spec_type },
};
static const struct type override_snapshot_root_type = { "override_snapshot", override_snapshot_root_fields, 1, sizeof(struct override_snapshot) };

static const struct field override_spec_fields[] = {
        { "clusterResourceSelectors", FIELD_LIST, FIELD_REQUIRED, offsetof(struct override_spec, cluster_resource_selectors), &resource_selector_type },
        { "placement", FIELD_OBJECT, 0, offsetof(struct override_spec, placement), &placement_reference_type },
        { "policy", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct override_spec, policy), &override_policy_type },
        { "resourceSelectors", FIELD_LIST, FIELD_REQUIRED, offsetof(struct override_spec, resource_selectors), &override_target_type },
};
const struct type override_spec_type = { "OverrideSpec", override_spec_fields, 4, sizeof(struct override_spec) };

static const struct field override_target_fields[] = {
        { "group", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct override_target, group), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct override_target, kind), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct override_target, name), NULL },
        { "version", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct override_target, version), NULL },
};
const struct type override_target_type = { "OverrideTarget", override_target_fields, 4, sizeof(struct override_target) };

static const struct field placement_reference_fields[] = {
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct placement_reference, name), NULL },
        { "scope", FIELD_INTERNED, 0, offsetof(struct placement_reference, scope), NULL },
};
const struct type placement_reference_type = { "PlacementReference", placement_reference_fields, 2, sizeof(struct placement_reference) };

static const struct field override_policy_fields[] = {
        { "overrideRules", FIELD_LIST, FIELD_REQUIRED, offsetof(struct override_policy, rules), &override_rule_type },
};
const struct type override_policy_type = { "OverridePolicy", override_policy_fields, 1, sizeof(struct override_policy) };

static const struct field override_rule_fields[] = {
        { "clusterSelector", FIELD_OBJECT, 0, offsetof(struct override_rule, cluster_selector), &cluster_selector_type },
        { "jsonPatchOverrides", FIELD_LIST, 0, offsetof(struct override_rule, json_patch_overrides), &json_patch_override_type },
        { "overrideType", FIELD_INTERNED, 0, offsetof(struct override_rule, override_type), NULL },
};
const struct type override_rule_type = { "OverrideRule", override_rule_fields, 3, sizeof(struct override_rule) };

static const struct field json_patch_override_fields[] = {
        { "op", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct json_patch_override, op), NULL },
        { "path", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct json_patch_override, path), NULL },
        { "value", FIELD_RAW, 0, offsetof(struct json_patch_override, value), NULL },
};
const struct type json_patch_override_type = { "JSONPatchOverride", json_patch_override_fields, 3, sizeof(struct json_patch_override) };

static const struct field resource_override_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct resource_override, spec), &override_spec_type },
};
static const struct type resource_override_root_type = { "resource_override", resource_override_root_fields, 1, sizeof(struct resource_override) };

static const struct field cluster_resource_placement_status_root_fields[] = {
        { "lastUpdatedTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct cluster_resource_placement_status, last_updated_time), NULL },
        { "sourceStatus", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct cluster_resource_placement_status, source_status), &placement_status_type },
};
static const struct type cluster_resource_placement_status_root_type = { "cluster_resource_placement_status", cluster_resource_placement_status_root_fields, 2, sizeof(struct cluster_resource_placement_status) };

static const struct field placement_spec_fields[] = {
        { "policy", FIELD_OBJECT, 0, offsetof(struct placement_spec, policy), &placement_policy_type },
        { "resourceSelectors", FIELD_LIST, FIELD_REQUIRED, offsetof(struct placement_spec, resource_selectors), &resource_selector_type },
        { "revisionHistoryLimit", FIELD_INT, 0, offsetof(struct placement_spec, revision_history_limit), NULL },
        { "statusReportingScope", FIELD_INTERNED, 0, offsetof(struct placement_spec, status_reporting_scope), NULL },
        { "strategy", FIELD_OBJECT, 0, offsetof(struct placement_spec, strategy), &rollout_strategy_type },
};
const struct type placement_spec_type = { "PlacementSpec", placement_spec_fields, 5, sizeof(struct placement_spec) };

static const struct field resource_selector_fields[] = {
        { "group", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_selector, group), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_selector, kind), NULL },
        { "labelSelector", FIELD_OBJECT, 0, offsetof(struct resource_selector, label_selector), &label_selector_type },
        { "name", FIELD_STRING, 0, offsetof(struct resource_selector, name), NULL },
        { "selectionScope", FIELD_INTERNED, 0, offsetof(struct resource_selector, selection_scope), NULL },
        { "version", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_selector, version), NULL },
};
const struct type resource_selector_type = { "ResourceSelectorTerm", resource_selector_fields, 6, sizeof(struct resource_selector) };

static const struct field placement_policy_fields[] = {
        { "affinity", FIELD_OBJECT, 0, offsetof(struct placement_policy, affinity), &affinity_type },
        { "clusterNames", FIELD_LIST, 0 | FIELD_INTERNED_ITEMS, offsetof(struct placement_policy, cluster_names), NULL },
        { "numberOfClusters", FIELD_INT, 0, offsetof(struct placement_policy, number_of_clusters), NULL },
        { "placementType", FIELD_INTERNED, 0, offsetof(struct placement_policy, placement_type), NULL },
        { "tolerations", FIELD_LIST, 0, offsetof(struct placement_policy, tolerations), &toleration_type },
        { "topologySpreadConstraints", FIELD_LIST, 0, offsetof(struct placement_policy, topology_spread_constraints), &topology_spread_constraint_type },
};
const struct type placement_policy_type = { "PlacementPolicy", placement_policy_fields, 6, sizeof(struct placement_policy) };

static const struct field affinity_fields[] = {
        { "clusterAffinity", FIELD_OBJECT, 0, offsetof(struct affinity, cluster_affinity), &cluster_affinity_type },
};
const struct type affinity_type = { "Affinity", affinity_fields, 1, sizeof(struct affinity) };

static const struct field cluster_affinity_fields[] = {
        { "preferredDuringSchedulingIgnoredDuringExecution", FIELD_LIST, 0, offsetof(struct cluster_affinity, preferred), &preferred_cluster_selector_type },
        { "requiredDuringSchedulingIgnoredDuringExecution", FIELD_OBJECT, 0, offsetof(struct cluster_affinity, required), &cluster_selector_type },
};
const struct type cluster_affinity_type = { "ClusterAffinity", cluster_affinity_fields, 2, sizeof(struct cluster_affinity) };

static const struct field preferred_cluster_selector_fields[] = {
        { "preference", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct preferred_cluster_selector, preference), &cluster_selector_term_type },
        { "weight", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct preferred_cluster_selector, weight), NULL },
};
const struct type preferred_cluster_selector_type = { "PreferredClusterSelector", preferred_cluster_selector_fields, 2, sizeof(struct preferred_cluster_selector) };

static const struct field topology_spread_constraint_fields[] = {
        { "maxSkew", FIELD_INT, 0, offsetof(struct topology_spread_constraint, max_skew), NULL },
        { "topologyKey", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct topology_spread_constraint, topology_key), NULL },
        { "whenUnsatisfiable", FIELD_INTERNED, 0, offsetof(struct topology_spread_constraint, when_unsatisfiable), NULL },
};
const struct type topology_spread_constraint_type = { "TopologySpreadConstraint", topology_spread_constraint_fields, 3, sizeof(struct topology_spread_constraint) };

static const struct field toleration_fields[] = {
        { "effect", FIELD_INTERNED, 0, offsetof(struct toleration, effect), NULL },
        { "key", FIELD_INTERNED, 0, offsetof(struct toleration, key), NULL },
        { "operator", FIELD_INTERNED, 0, offsetof(struct toleration, operator), NULL },
        { "value", FIELD_INTERNED, 0, offsetof(struct toleration, value), NULL },
};
const struct type toleration_type = { "Toleration", toleration_fields, 4, sizeof(struct toleration) };

static const struct field rollout_strategy_fields[] = {
        { "applyStrategy", FIELD_OBJECT, 0, offsetof(struct rollout_strategy, apply_strategy), &apply_strategy_type },
        { "deleteStrategy", FIELD_OBJECT, 0, offsetof(struct rollout_strategy, delete_strategy), &delete_strategy_type },
        { "reportBackStrategy", FIELD_OBJECT, 0, offsetof(struct rollout_strategy, report_back_strategy), &report_back_strategy_type },
        { "rollingUpdate", FIELD_OBJECT, 0, offsetof(struct rollout_strategy, rolling_update), &rolling_update_type },
        { "type", FIELD_INTERNED, 0, offsetof(struct rollout_strategy, type), NULL },
};
const struct type rollout_strategy_type = { "RolloutStrategy", rollout_strategy_fields, 5, sizeof(struct rollout_strategy) };

static const struct field rolling_update_fields[] = {
        { "maxSurge", FIELD_INT_OR_STRING, 0, offsetof(struct rolling_update, max_surge), NULL },
        { "maxUnavailable", FIELD_INT_OR_STRING, 0, offsetof(struct rolling_update, max_unavailable), NULL },
        { "unavailablePeriodSeconds", FIELD_INT, 0, offsetof(struct rolling_update, unavailable_period_seconds), NULL },
};
const struct type rolling_update_type = { "RollingUpdateConfig", rolling_update_fields, 3, sizeof(struct rolling_update) };

static const struct field delete_strategy_fields[] = {
        { "propagationPolicy", FIELD_INTERNED, 0, offsetof(struct delete_strategy, propagation_policy), NULL },
};
const struct type delete_strategy_type = { "DeleteStrategy", delete_strategy_fields, 1, sizeof(struct delete_strategy) };

static const struct field placement_status_fields[] = {
        { "conditions", FIELD_LIST, 0, offsetof(struct placement_status, conditions), &condition_type },
        { "observedResourceIndex", FIELD_STRING, 0, offsetof(struct placement_status, observed_resource_index), NULL },
        { "placementStatuses", FIELD_LIST, 0 | FIELD_DETAIL, offsetof(struct placement_status, placement_statuses), &per_cluster_status_type },
        { "selectedResources", FIELD_LIST, 0, offsetof(struct placement_status, selected_resources), &resource_identifier_type },
};
const struct type placement_status_type = { "PlacementStatus", placement_status_fields, 4, sizeof(struct placement_status) };

static const struct field per_cluster_status_fields[] = {
        { "applicableClusterResourceOverrides", FIELD_LIST, 0, offsetof(struct per_cluster_status, applicable_cluster_resource_overrides), NULL },
        { "applicableResourceOverrides", FIELD_LIST, 0, offsetof(struct per_cluster_status, applicable_resource_overrides), &namespaced_name_type },
        { "clusterName", FIELD_INTERNED, 0, offsetof(struct per_cluster_status, cluster_name), NULL },
        { "conditions", FIELD_LIST, 0, offsetof(struct per_cluster_status, conditions), &condition_type },
        { "diffedPlacements", FIELD_LIST, 0, offsetof(struct per_cluster_status, diffed_placements), &diffed_placement_type },
        { "driftedPlacements", FIELD_LIST, 0, offsetof(struct per_cluster_status, drifted_placements), &drifted_placement_type },
        { "failedPlacements", FIELD_LIST, 0, offsetof(struct per_cluster_status, failed_placements), &failed_placement_type },
        { "observedResourceIndex", FIELD_INTERNED, 0, offsetof(struct per_cluster_status, observed_resource_index), NULL },
};
const struct type per_cluster_status_type = { "PerClusterStatus", per_cluster_status_fields, 8, sizeof(struct per_cluster_status) };

static const struct field placement_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct placement, spec), &placement_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct placement, status), &placement_status_type },
};
static const struct type placement_root_type = { "placement", placement_root_fields, 2, sizeof(struct placement) };

static const struct field policy_snapshot_spec_fields[] = {
        { "policy", FIELD_OBJECT, 0, offsetof(struct policy_snapshot_spec, policy), &placement_policy_type },
        { "policyHash", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct policy_snapshot_spec, policy_hash), NULL },
};
const struct type policy_snapshot_spec_type = { "PolicySnapshotSpec", policy_snapshot_spec_fields, 2, sizeof(struct policy_snapshot_spec) };

static const struct field policy_snapshot_status_fields[] = {
        { "conditions", FIELD_LIST, 0, offsetof(struct policy_snapshot_status, conditions), &condition_type },
        { "observedCRPGeneration", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct policy_snapshot_status, observed_crp_generation), NULL },
        { "targetClusters", FIELD_LIST, 0, offsetof(struct policy_snapshot_status, target_clusters), &cluster_decision_type },
};
const struct type policy_snapshot_status_type = { "PolicySnapshotStatus", policy_snapshot_status_fields, 3, sizeof(struct policy_snapshot_status) };

static const struct field policy_snapshot_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct policy_snapshot, spec), &policy_snapshot_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct policy_snapshot, status), &policy_snapshot_status_type },
};
static const struct type policy_snapshot_root_type = { "policy_snapshot", policy_snapshot_root_fields, 2, sizeof(struct policy_snapshot) };

static const struct field resource_set_spec_fields[] = {
        { "commonMetadata", FIELD_OBJECT, 0, offsetof(struct resource_set_spec, common_metadata), &resource_set_common_metadata_type },
        { "dependsOn", FIELD_LIST, 0, offsetof(struct resource_set_spec, depends_on), &resource_set_dependency_type },
        { "inputStrategy", FIELD_OBJECT, 0, offsetof(struct resource_set_spec, input_strategy), &resource_set_input_strategy_type },
        { "inputs", FIELD_RAW_LIST, 0, offsetof(struct resource_set_spec, inputs), NULL },
        { "inputsFrom", FIELD_LIST, 0, offsetof(struct resource_set_spec, inputs_from), &input_provider_reference_type },
        { "resources", FIELD_RAW_LIST, 0, offsetof(struct resource_set_spec, resources), NULL },
        { "resourcesTemplate", FIELD_STRING, 0, offsetof(struct resource_set_spec, resources_template), NULL },
        { "serviceAccountName", FIELD_STRING, 0, offsetof(struct resource_set_spec, service_account_name), NULL },
        { "steps", FIELD_LIST, 0, offsetof(struct resource_set_spec, steps), &resource_set_step_type },
        { "wait", FIELD_BOOL, 0, offsetof(struct resource_set_spec, wait), NULL },
};
const struct type resource_set_spec_type = { "ResourceSetSpec", resource_set_spec_fields, 10, sizeof(struct resource_set_spec) };

static const struct field resource_set_common_metadata_fields[] = {
        { "annotations", FIELD_STRING_MAP, 0, offsetof(struct resource_set_common_metadata, annotations), NULL },
        { "labels", FIELD_STRING_MAP, 0, offsetof(struct resource_set_common_metadata, labels), NULL },
};
const struct type resource_set_common_metadata_type = { "ResourceSetCommonMetadata", resource_set_common_metadata_fields, 2, sizeof(struct resource_set_common_metadata) };

static const struct field resource_set_input_strategy_fields[] = {
        { "includeEmptyProviders", FIELD_BOOL, 0, offsetof(struct resource_set_input_strategy, include_empty_providers), NULL },
        { "name", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct resource_set_input_strategy, name), NULL },
};
const struct type resource_set_input_strategy_type = { "ResourceSetInputStrategy", resource_set_input_strategy_fields, 2, sizeof(struct resource_set_input_strategy) };

static const struct field input_provider_reference_fields[] = {
        { "apiVersion", FIELD_INTERNED, 0, offsetof(struct input_provider_reference, api_version), NULL },
        { "kind", FIELD_INTERNED, 0, offsetof(struct input_provider_reference, kind), NULL },
        { "name", FIELD_STRING, 0, offsetof(struct input_provider_reference, name), NULL },
        { "selector", FIELD_OBJECT, 0, offsetof(struct input_provider_reference, selector), &label_selector_type },
};
const struct type input_provider_reference_type = { "InputProviderReference", input_provider_reference_fields, 4, sizeof(struct input_provider_reference) };

static const struct field resource_set_step_fields[] = {
        { "name", FIELD_STRING, FIELD_REQUIRED, offsetof(struct resource_set_step, name), NULL },
        { "resources", FIELD_RAW_LIST, 0, offsetof(struct resource_set_step, resources), NULL },
        { "resourcesTemplate", FIELD_STRING, 0, offsetof(struct resource_set_step, resources_template), NULL },
        { "timeout", FIELD_STRING, 0, offsetof(struct resource_set_step, timeout), NULL },
};
const struct type resource_set_step_type = { "ResourceSetStep", resource_set_step_fields, 4, sizeof(struct resource_set_step) };

static const struct field resource_set_dependency_fields[] = {
        { "apiVersion", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_set_dependency, api_version), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_set_dependency, kind), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_set_dependency, name), NULL },
        { "namespace", FIELD_STRING, 0, offsetof(struct resource_set_dependency, ns), NULL },
        { "ready", FIELD_BOOL, 0, offsetof(struct resource_set_dependency, ready), NULL },
        { "readyExpr", FIELD_STRING, 0, offsetof(struct resource_set_dependency, ready_expr), NULL },
};
const struct type resource_set_dependency_type = { "ResourceSetDependency", resource_set_dependency_fields, 6, sizeof(struct resource_set_dependency) };

static const struct field resource_set_status_fields[] = {
        { "conditions", FIELD_LIST, 0, offsetof(struct resource_set_status, conditions), &condition_type },
        { "externalChecksumRefs", FIELD_LIST, 0, offsetof(struct resource_set_status, external_checksum_refs), NULL },
        { "history", FIELD_LIST, 0, offsetof(struct resource_set_status, history), &resource_set_snapshot_type },
        { "inventory", FIELD_OBJECT, 0, offsetof(struct resource_set_status, inventory), &resource_set_inventory_type },
        { "lastAppliedRevision", FIELD_STRING, 0, offsetof(struct resource_set_status, last_applied_revision), NULL },
        { "lastHandledReconcileAt", FIELD_STRING, 0, offsetof(struct resource_set_status, last_handled_reconcile_at), NULL },
};
const struct type resource_set_status_type = { "ResourceSetStatus", resource_set_status_fields, 6, sizeof(struct resource_set_status) };

static const struct field resource_set_inventory_fields[] = {
        { "entries", FIELD_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_set_inventory, entries), &resource_set_inventory_entry_type },
};
const struct type resource_set_inventory_type = { "ResourceSetInventory", resource_set_inventory_fields, 1, sizeof(struct resource_set_inventory) };

static const struct field resource_set_inventory_entry_fields[] = {
        { "id", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_set_inventory_entry, id), NULL },
        { "v", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_set_inventory_entry, v), NULL },
};
const struct type resource_set_inventory_entry_type = { "ResourceSetInventoryEntry", resource_set_inventory_entry_fields, 2, sizeof(struct resource_set_inventory_entry) };

static const struct field resource_set_snapshot_fields[] = {
        { "digest", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_set_snapshot, digest), NULL },
        { "firstReconciled", FIELD_TIME, FIELD_REQUIRED, offsetof(struct resource_set_snapshot, first_reconciled), NULL },
        { "lastReconciled", FIELD_TIME, FIELD_REQUIRED, offsetof(struct resource_set_snapshot, last_reconciled), NULL },
        { "lastReconciledDuration", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_set_snapshot, last_reconciled_duration), NULL },
        { "lastReconciledStatus", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_set_snapshot, last_reconciled_status), NULL },
        { "metadata", FIELD_STRING_MAP, 0, offsetof(struct resource_set_snapshot, metadata), NULL },
        { "totalReconciliations", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct resource_set_snapshot, total_reconciliations), NULL },
};
const struct type resource_set_snapshot_type = { "ResourceSetSnapshot", resource_set_snapshot_fields, 7, sizeof(struct resource_set_snapshot) };

static const struct field resource_set_root_fields[] = {
        { "spec", FIELD_OBJECT, 0, offsetof(struct resource_set, spec), &resource_set_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct resource_set, status), &resource_set_status_type },
};
static const struct type resource_set_root_type = { "resource_set", resource_set_root_fields, 2, sizeof(struct resource_set) };

static const struct field resource_snapshot_spec_fields[] = {
        { "selectedResources", FIELD_RAW_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY | FIELD_BULK, offsetof(struct resource_snapshot_spec, selected_resources), NULL },
};
const struct type resource_snapshot_spec_type = { "ResourceSnapshotSpec", resource_snapshot_spec_fields, 1, sizeof(struct resource_snapshot_spec) };

static const struct field resource_snapshot_status_fields[] = {
        { "conditions", FIELD_LIST, 0, offsetof(struct resource_snapshot_status, conditions), &condition_type },
};
const struct type resource_snapshot_status_type = { "ResourceSnapshotStatus", resource_snapshot_status_fields, 1, sizeof(struct resource_snapshot_status) };

static const struct field resource_snapshot_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct resource_snapshot, spec), &resource_snapshot_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct resource_snapshot, status), &resource_snapshot_status_type },
};
static const struct type resource_snapshot_root_type = { "resource_snapshot", resource_snapshot_root_fields, 2, sizeof(struct resource_snapshot) };

static const struct field update_run_spec_fields[] = {
        { "placementName", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct update_run_spec, placement_name), NULL },
        { "resourceSnapshotIndex", FIELD_STRING, 0, offsetof(struct update_run_spec, resource_snapshot_index), NULL },
        { "retryOf", FIELD_STRING, 0, offsetof(struct update_run_spec, retry_of), NULL },
        { "stagedRolloutStrategyName", FIELD_STRING, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct update_run_spec, staged_rollout_strategy_name), NULL },
        { "state", FIELD_INTERNED, 0, offsetof(struct update_run_spec, state), NULL },
};
const struct type update_run_spec_type = { "UpdateRunSpec", update_run_spec_fields, 5, sizeof(struct update_run_spec) };

static const struct field update_run_status_fields[] = {
        { "appliedStrategy", FIELD_OBJECT, 0, offsetof(struct update_run_status, applied_strategy), &apply_strategy_type },
        { "conditions", FIELD_LIST, 0, offsetof(struct update_run_status, conditions), &condition_type },
        { "deletionStageStatus", FIELD_OBJECT, 0, offsetof(struct update_run_status, deletion_stage_status), &stage_status_type },
        { "leftOutClusters", FIELD_LIST, 0, offsetof(struct update_run_status, left_out_clusters), &left_out_cluster_type },
        { "policyObservedClusterCount", FIELD_INT, 0, offsetof(struct update_run_status, policy_observed_cluster_count), NULL },
        { "policySnapshotIndexUsed", FIELD_STRING, 0, offsetof(struct update_run_status, policy_snapshot_index_used), NULL },
        { "resourceSnapshotIndexUsed", FIELD_STRING, 0, offsetof(struct update_run_status, resource_snapshot_index_used), NULL },
        { "stagedUpdateStrategySnapshot", FIELD_OBJECT, 0, offsetof(struct update_run_status, strategy_snapshot), &strategy_spec_type },
        { "stagesStatus", FIELD_LIST, 0, offsetof(struct update_run_status, stages_status), &stage_status_type },
};
const struct type update_run_status_type = { "UpdateRunStatus", update_run_status_fields, 9, sizeof(struct update_run_status) };

static const struct field left_out_cluster_fields[] = {
        { "clusterName", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct left_out_cluster, cluster_name), NULL },
        { "reason", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct left_out_cluster, reason), NULL },
};
const struct type left_out_cluster_type = { "LeftOutCluster", left_out_cluster_fields, 2, sizeof(struct left_out_cluster) };

static const struct field stage_status_fields[] = {
        { "afterStageTaskStatus", FIELD_LIST, 0, offsetof(struct stage_status, after_stage_task_status), &stage_task_status_type },
        { "beforeStageTaskStatus", FIELD_LIST, 0, offsetof(struct stage_status, before_stage_task_status), &stage_task_status_type },
        { "clusters", FIELD_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct stage_status, clusters), &cluster_updating_status_type },
        { "conditions", FIELD_LIST, 0, offsetof(struct stage_status, conditions), &condition_type },
        { "endTime", FIELD_TIME, 0, offsetof(struct stage_status, end_time), NULL },
        { "stageName", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct stage_status, stage_name), NULL },
        { "startTime", FIELD_TIME, 0, offsetof(struct stage_status, start_time), NULL },
};
const struct type stage_status_type = { "StageStatus", stage_status_fields, 7, sizeof(struct stage_status) };

static const struct field cluster_updating_status_fields[] = {
        { "clusterName", FIELD_INTERNED, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct cluster_updating_status, cluster_name), NULL },
        { "clusterResourceOverrideSnapshots", FIELD_LIST, 0, offsetof(struct cluster_updating_status, cluster_resource_override_snapshots), NULL },
        { "conditions", FIELD_LIST, 0, offsetof(struct cluster_updating_status, conditions), &condition_type },
        { "resourceOverrideSnapshots", FIELD_LIST, 0, offsetof(struct cluster_updating_status, resource_override_snapshots), &namespaced_name_type },
};
const struct type cluster_updating_status_type = { "ClusterUpdatingStatus", cluster_updating_status_fields, 4, sizeof(struct cluster_updating_status) };

static const struct field stage_task_status_fields[] = {
        { "approvalRequestName", FIELD_STRING, 0, offsetof(struct stage_task_status, approval_request_name), NULL },
        { "conditions", FIELD_LIST, 0, offsetof(struct stage_task_status, conditions), &condition_type },
        { "type", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct stage_task_status, type), NULL },
};
const struct type stage_task_status_type = { "StageTaskStatus", stage_task_status_fields, 3, sizeof(struct stage_task_status) };

static const struct field update_run_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct update_run, spec), &update_run_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct update_run, status), &update_run_status_type },
};
static const struct type update_run_root_type = { "update_run", update_run_root_fields, 2, sizeof(struct update_run) };

static const struct field strategy_spec_fields[] = {
        { "onClusterChange", FIELD_INTERNED, 0, offsetof(struct strategy_spec, on_cluster_change), NULL },
        { "stages", FIELD_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct strategy_spec, stages), &stage_config_type },
};
const struct type strategy_spec_type = { "StrategySpec", strategy_spec_fields, 2, sizeof(struct strategy_spec) };

static const struct field stage_config_fields[] = {
        { "afterStageTasks", FIELD_LIST, 0, offsetof(struct stage_config, after_stage_tasks), &stage_task_type },
        { "beforeStageTasks", FIELD_LIST, 0, offsetof(struct stage_config, before_stage_tasks), &stage_task_type },
        { "clusterTimeout", FIELD_STRING, 0, offsetof(struct stage_config, cluster_timeout), NULL },
        { "labelSelector", FIELD_OBJECT, 0, offsetof(struct stage_config, label_selector), &label_selector_type },
        { "maxConcurrency", FIELD_INT_OR_STRING, 0, offsetof(struct stage_config, max_concurrency), NULL },
        { "maxFailedClusters", FIELD_INT_OR_STRING, 0, offsetof(struct stage_config, max_failed_clusters), NULL },
        { "name", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct stage_config, name), NULL },
        { "sortingLabelKey", FIELD_STRING, 0, offsetof(struct stage_config, sorting_label_key), NULL },
};
const struct type stage_config_type = { "StageConfig", stage_config_fields, 8, sizeof(struct stage_config) };

static const struct field stage_task_fields[] = {
        { "plan", FIELD_BOOL, 0, offsetof(struct stage_task, plan), NULL },
        { "type", FIELD_INTERNED, FIELD_REQUIRED, offsetof(struct stage_task, type), NULL },
        { "waitTime", FIELD_STRING, 0, offsetof(struct stage_task, wait_time), NULL },
};
const struct type stage_task_type = { "StageTask", stage_task_fields, 3, sizeof(struct stage_task) };

static const struct field update_strategy_root_fields[] = {
        { "spec", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct update_strategy, spec), &strategy_spec_type },
};
static const struct type update_strategy_root_type = { "update_strategy", update_strategy_root_fields, 1, sizeof(struct update_strategy) };

static const struct field work_spec_fields[] = {
        { "applyStrategy", FIELD_OBJECT, 0 | FIELD_SHARED, offsetof(struct work_spec, apply_strategy), &apply_strategy_type },
        { "reportBackStrategy", FIELD_OBJECT, 0, offsetof(struct work_spec, report_back_strategy), &report_back_strategy_type },
        { "workload", FIELD_OBJECT, 0, offsetof(struct work_spec, workload), &workload_type },
};
const struct type work_spec_type = { "WorkSpec", work_spec_fields, 3, sizeof(struct work_spec) };

static const struct field workload_fields[] = {
        { "manifests", FIELD_RAW_LIST, 0 | FIELD_BULK, offsetof(struct workload, manifests), NULL },
};
const struct type workload_type = { "WorkloadTemplate", workload_fields, 1, sizeof(struct workload) };

static const struct field work_status_fields[] = {
        { "conditions", FIELD_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct work_status, conditions), &condition_type },
        { "manifestConditions", FIELD_LIST, 0 | FIELD_TROUBLED, offsetof(struct work_status, manifest_conditions), &manifest_condition_type },
};
const struct type work_status_type = { "WorkStatus", work_status_fields, 2, sizeof(struct work_status) };

static const struct field manifest_condition_fields[] = {
        { "backReportedStatus", FIELD_OBJECT, 0 | FIELD_BULK, offsetof(struct manifest_condition, back_reported_status), &back_reported_status_type },
        { "conditions", FIELD_LIST, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct manifest_condition, conditions), &condition_type },
        { "diffDetails", FIELD_OBJECT, 0 | FIELD_TROUBLE, offsetof(struct manifest_condition, diff_details), &diff_details_type },
        { "driftDetails", FIELD_OBJECT, 0 | FIELD_TROUBLE, offsetof(struct manifest_condition, drift_details), &drift_details_type },
        { "identifier", FIELD_OBJECT, FIELD_REQUIRED, offsetof(struct manifest_condition, identifier), &work_resource_identifier_type },
};
const struct type manifest_condition_type = { "ManifestCondition", manifest_condition_fields, 5, sizeof(struct manifest_condition) };

static const struct field drift_details_fields[] = {
        { "firstDriftedObservedTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct drift_details, first_drifted_observed_time), NULL },
        { "observationTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct drift_details, observation_time), NULL },
        { "observedDrifts", FIELD_LIST, 0, offsetof(struct drift_details, observed_drifts), &patch_detail_type },
        { "observedInMemberClusterGeneration", FIELD_INT, FIELD_REQUIRED | FIELD_EMIT_EMPTY, offsetof(struct drift_details, observed_in_member_cluster_generation), NULL },
};
const struct type drift_details_type = { "DriftDetails", drift_details_fields, 4, sizeof(struct drift_details) };

static const struct field diff_details_fields[] = {
        { "firstDiffedObservedTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct diff_details, first_diffed_observed_time), NULL },
        { "observationTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct diff_details, observation_time), NULL },
        { "observedDiffs", FIELD_LIST, 0, offsetof(struct diff_details, observed_diffs), &patch_detail_type },
        { "observedInMemberClusterGeneration", FIELD_INT, 0, offsetof(struct diff_details, observed_in_member_cluster_generation), NULL },
};
const struct type diff_details_type = { "DiffDetails", diff_details_fields, 4, sizeof(struct diff_details) };

static const struct field back_reported_status_fields[] = {
        { "observationTime", FIELD_TIME, FIELD_REQUIRED, offsetof(struct back_reported_status, observation_time), NULL },
        { "observedStatus", FIELD_RAW, 0, offsetof(struct back_reported_status, observed_status), NULL },
};
const struct type back_reported_status_type = { "BackReportedStatus", back_reported_status_fields, 2, sizeof(struct back_reported_status) };

static const struct field work_root_fields[] = {
        { "spec", FIELD_OBJECT, 0, offsetof(struct work, spec), &work_spec_type },
        { "status", FIELD_OBJECT, 0, offsetof(struct work, status), &work_status_type },
};
static const struct type work_root_type = { "work", work_root_fields, 2, sizeof(struct work) };

const struct kind applied_work_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "AppliedWork", "appliedworks", "AppliedWorkList", false, true, &applied_work_root_type,
};

const struct kind cluster_approval_request_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterApprovalRequest", "clusterapprovalrequests", "ClusterApprovalRequestList", false, true, &approval_request_root_type,
};

const struct kind approval_request_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ApprovalRequest", "approvalrequests", "ApprovalRequestList", true, true, &approval_request_root_type,
};

const struct kind cluster_resource_binding_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterResourceBinding", "clusterresourcebindings", "ClusterResourceBindingList", false, true, &binding_root_type,
};

const struct kind resource_binding_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ResourceBinding", "resourcebindings", "ResourceBindingList", true, true, &binding_root_type,
};

const struct kind bucket_kind = {
        "source.toolkit.fluxcd.io", "v1", "source.toolkit.fluxcd.io/v1",
        "Bucket", "buckets", "BucketList", true, true, &bucket_root_type,
};

const struct kind cluster_profile_kind = {
        "multicluster.x-k8s.io", "v1alpha1", "multicluster.x-k8s.io/v1alpha1",
        "ClusterProfile", "clusterprofiles", "ClusterProfileList", true, true, &cluster_profile_root_type,
};

const struct kind cluster_resource_placement_disruption_budget_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterResourcePlacementDisruptionBudget", "clusterresourceplacementdisruptionbudgets", "ClusterResourcePlacementDisruptionBudgetList", false, false, &disruption_budget_root_type,
};

const struct kind cluster_resource_envelope_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterResourceEnvelope", "clusterresourceenvelopes", "ClusterResourceEnvelopeList", false, false, &resource_envelope_root_type,
};

const struct kind resource_envelope_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ResourceEnvelope", "resourceenvelopes", "ResourceEnvelopeList", true, false, &resource_envelope_root_type,
};

const struct kind cluster_resource_placement_eviction_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterResourcePlacementEviction", "clusterresourceplacementevictions", "ClusterResourcePlacementEvictionList", false, true, &eviction_root_type,
};

const struct kind namespace_kind = {
        "", "v1", "v1",
        "Namespace", "namespaces", "NamespaceList", false, true, &namespace_root_type,
};

const struct kind lease_kind = {
        "coordination.k8s.io", "v1", "coordination.k8s.io/v1",
        "Lease", "leases", "LeaseList", true, false, &lease_root_type,
};

const struct kind event_kind = {
        "", "v1", "v1",
        "Event", "events", "EventList", true, false, &event_root_type,
};

const struct kind node_kind = {
        "", "v1", "v1",
        "Node", "nodes", "NodeList", false, true, &node_root_type,
};

const struct kind pod_kind = {
        "", "v1", "v1",
        "Pod", "pods", "PodList", true, true, &pod_root_type,
};

const struct kind config_map_kind = {
        "", "v1", "v1",
        "ConfigMap", "configmaps", "ConfigMapList", true, false, &config_map_root_type,
};

const struct kind partial_object_kind = {
        "", "", "",
        "PartialObject", "partialobjects", "PartialObjectList", true, false, &partial_object_root_type,
};

const struct kind git_repository_kind = {
        "source.toolkit.fluxcd.io", "v1", "source.toolkit.fluxcd.io/v1",
        "GitRepository", "gitrepositories", "GitRepositoryList", true, true, &git_repository_root_type,
};

const struct kind helm_chart_kind = {
        "source.toolkit.fluxcd.io", "v1", "source.toolkit.fluxcd.io/v1",
        "HelmChart", "helmcharts", "HelmChartList", true, true, &helm_chart_root_type,
};

const struct kind helm_repository_kind = {
        "source.toolkit.fluxcd.io", "v1", "source.toolkit.fluxcd.io/v1",
        "HelmRepository", "helmrepositories", "HelmRepositoryList", true, true, &helm_repository_root_type,
};

const struct kind resource_set_input_provider_kind = {
        "fluxcd.controlplane.io", "v1", "fluxcd.controlplane.io/v1",
        "ResourceSetInputProvider", "resourcesetinputproviders", "ResourceSetInputProviderList", true, true, &input_provider_root_type,
};

const struct kind internal_member_cluster_kind = {
        "cluster.kubernetes-fleet.io", "v1beta1", "cluster.kubernetes-fleet.io/v1beta1",
        "InternalMemberCluster", "internalmemberclusters", "InternalMemberClusterList", true, true, &internal_member_cluster_root_type,
};

const struct kind member_cluster_kind = {
        "cluster.kubernetes-fleet.io", "v1beta1", "cluster.kubernetes-fleet.io/v1beta1",
        "MemberCluster", "memberclusters", "MemberClusterList", false, true, &member_cluster_root_type,
};

const struct kind cluster_object_set_kind = {
        "olm.operatorframework.io", "v1", "olm.operatorframework.io/v1",
        "ClusterObjectSet", "clusterobjectsets", "ClusterObjectSetList", false, true, &cluster_object_set_root_type,
};

const struct kind cluster_resource_override_snapshot_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterResourceOverrideSnapshot", "clusterresourceoverridesnapshots", "ClusterResourceOverrideSnapshotList", false, false, &override_snapshot_root_type,
};

const struct kind resource_override_snapshot_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ResourceOverrideSnapshot", "resourceoverridesnapshots", "ResourceOverrideSnapshotList", true, false, &override_snapshot_root_type,
};

const struct kind cluster_resource_override_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterResourceOverride", "clusterresourceoverrides", "ClusterResourceOverrideList", false, false, &resource_override_root_type,
};

const struct kind resource_override_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ResourceOverride", "resourceoverrides", "ResourceOverrideList", true, false, &resource_override_root_type,
};

const struct kind cluster_resource_placement_status_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterResourcePlacementStatus", "clusterresourceplacementstatuses", "ClusterResourcePlacementStatusList", true, false, &cluster_resource_placement_status_root_type,
};

const struct kind cluster_resource_placement_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterResourcePlacement", "clusterresourceplacements", "ClusterResourcePlacementList", false, true, &placement_root_type,
};

const struct kind resource_placement_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ResourcePlacement", "resourceplacements", "ResourcePlacementList", true, true, &placement_root_type,
};

const struct kind cluster_scheduling_policy_snapshot_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterSchedulingPolicySnapshot", "clusterschedulingpolicysnapshots", "ClusterSchedulingPolicySnapshotList", false, true, &policy_snapshot_root_type,
};

const struct kind scheduling_policy_snapshot_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "SchedulingPolicySnapshot", "schedulingpolicysnapshots", "SchedulingPolicySnapshotList", true, true, &policy_snapshot_root_type,
};

const struct kind resource_set_kind = {
        "fluxcd.controlplane.io", "v1", "fluxcd.controlplane.io/v1",
        "ResourceSet", "resourcesets", "ResourceSetList", true, true, &resource_set_root_type,
};

const struct kind cluster_resource_snapshot_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterResourceSnapshot", "clusterresourcesnapshots", "ClusterResourceSnapshotList", false, true, &resource_snapshot_root_type,
};

const struct kind resource_snapshot_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ResourceSnapshot", "resourcesnapshots", "ResourceSnapshotList", true, true, &resource_snapshot_root_type,
};

const struct kind cluster_staged_update_run_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterStagedUpdateRun", "clusterstagedupdateruns", "ClusterStagedUpdateRunList", false, true, &update_run_root_type,
};

const struct kind staged_update_run_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "StagedUpdateRun", "stagedupdateruns", "StagedUpdateRunList", true, true, &update_run_root_type,
};

const struct kind cluster_staged_update_strategy_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "ClusterStagedUpdateStrategy", "clusterstagedupdatestrategies", "ClusterStagedUpdateStrategyList", false, true, &update_strategy_root_type,
};

const struct kind staged_update_strategy_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "StagedUpdateStrategy", "stagedupdatestrategies", "StagedUpdateStrategyList", true, false, &update_strategy_root_type,
};

const struct kind work_kind = {
        "placement.kubernetes-fleet.io", "v1beta1", "placement.kubernetes-fleet.io/v1beta1",
        "Work", "works", "WorkList", true, true, &work_root_type,
};

const struct kind *const all_kinds[] = {
        &applied_work_kind,
        &cluster_approval_request_kind,
        &approval_request_kind,
        &cluster_resource_binding_kind,
        &resource_binding_kind,
        &bucket_kind,
        &cluster_profile_kind,
        &cluster_resource_placement_disruption_budget_kind,
        &cluster_resource_envelope_kind,
        &resource_envelope_kind,
        &cluster_resource_placement_eviction_kind,
        &namespace_kind,
        &lease_kind,
        &event_kind,
        &node_kind,
        &pod_kind,
        &config_map_kind,
        &partial_object_kind,
        &git_repository_kind,
        &helm_chart_kind,
        &helm_repository_kind,
        &resource_set_input_provider_kind,
        &internal_member_cluster_kind,
        &member_cluster_kind,
        &cluster_object_set_kind,
        &cluster_resource_override_snapshot_kind,
        &resource_override_snapshot_kind,
        &cluster_resource_override_kind,
        &resource_override_kind,
        &cluster_resource_placement_status_kind,
        &cluster_resource_placement_kind,
        &resource_placement_kind,
        &cluster_scheduling_policy_snapshot_kind,
        &scheduling_policy_snapshot_kind,
        &resource_set_kind,
        &cluster_resource_snapshot_kind,
        &resource_snapshot_kind,
        &cluster_staged_update_run_kind,
        &staged_update_run_kind,
        &cluster_staged_update_strategy_kind,
        &staged_update_strategy_kind,
        &work_kind,
        NULL,
};
