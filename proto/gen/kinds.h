/* Written by `make generate` from proto/kinds/; do not edit. */
#pragma once

#include "proto/gen/types.h"

extern const struct kind applied_work_kind; /* struct applied_work */
extern const struct kind cluster_approval_request_kind; /* struct approval_request */
extern const struct kind approval_request_kind; /* struct approval_request */
extern const struct kind cluster_resource_binding_kind; /* struct binding */
extern const struct kind resource_binding_kind; /* struct binding */
extern const struct kind bucket_kind; /* struct bucket */
extern const struct kind cluster_profile_kind; /* struct cluster_profile */
extern const struct kind cluster_resource_placement_disruption_budget_kind; /* struct disruption_budget */
extern const struct kind cluster_resource_envelope_kind; /* struct resource_envelope */
extern const struct kind resource_envelope_kind; /* struct resource_envelope */
extern const struct kind cluster_resource_placement_eviction_kind; /* struct eviction */
extern const struct kind namespace_kind; /* struct namespace */
extern const struct kind lease_kind; /* struct lease */
extern const struct kind event_kind; /* struct event */
extern const struct kind node_kind; /* struct node */
extern const struct kind pod_kind; /* struct pod */
extern const struct kind config_map_kind; /* struct config_map */
extern const struct kind partial_object_kind; /* struct partial_object */
extern const struct kind git_repository_kind; /* struct git_repository */
extern const struct kind helm_chart_kind; /* struct helm_chart */
extern const struct kind helm_repository_kind; /* struct helm_repository */
extern const struct kind resource_set_input_provider_kind; /* struct input_provider */
extern const struct kind internal_member_cluster_kind; /* struct internal_member_cluster */
extern const struct kind member_cluster_kind; /* struct member_cluster */
extern const struct kind cluster_object_set_kind; /* struct cluster_object_set */
extern const struct kind cluster_resource_override_snapshot_kind; /* struct override_snapshot */
extern const struct kind resource_override_snapshot_kind; /* struct override_snapshot */
extern const struct kind cluster_resource_override_kind; /* struct resource_override */
extern const struct kind resource_override_kind; /* struct resource_override */
extern const struct kind cluster_resource_placement_status_kind; /* struct cluster_resource_placement_status */
extern const struct kind cluster_resource_placement_kind; /* struct placement */
extern const struct kind resource_placement_kind; /* struct placement */
extern const struct kind cluster_scheduling_policy_snapshot_kind; /* struct policy_snapshot */
extern const struct kind scheduling_policy_snapshot_kind; /* struct policy_snapshot */
extern const struct kind resource_set_kind; /* struct resource_set */
extern const struct kind cluster_resource_snapshot_kind; /* struct resource_snapshot */
extern const struct kind resource_snapshot_kind; /* struct resource_snapshot */
extern const struct kind cluster_staged_update_run_kind; /* struct update_run */
extern const struct kind staged_update_run_kind; /* struct update_run */
extern const struct kind cluster_staged_update_strategy_kind; /* struct update_strategy */
extern const struct kind staged_update_strategy_kind; /* struct update_strategy */
extern const struct kind work_kind; /* struct work */

/* All of the above, those of Kubernetes included; ends with NULL. */
extern const struct kind *const all_kinds[];

/* The definitions to install on a hub and on a member cluster, as JSON. */
struct crd_text {
        const char *name; /* "works.placement.kubernetes-fleet.io" */
        const char *json;
        bool hub, member;
};
extern const struct crd_text crd_texts[];
extern const size_t n_crd_texts;

/* Tables of types that code uses without a kind. */
extern const struct type condition_type;
extern const struct type label_selector_type;
extern const struct type label_requirement_type;
extern const struct type namespaced_name_type;
extern const struct type cluster_selector_type;
extern const struct type cluster_selector_term_type;
extern const struct type property_selector_type;
extern const struct type property_requirement_type;
extern const struct type property_sorter_type;
extern const struct type apply_strategy_type;
extern const struct type server_side_apply_config_type;
extern const struct type report_back_strategy_type;
extern const struct type patch_detail_type;
extern const struct type envelope_identifier_type;
extern const struct type resource_identifier_type;
extern const struct type failed_placement_type;
extern const struct type drifted_placement_type;
extern const struct type diffed_placement_type;
extern const struct type cluster_decision_type;
extern const struct type cluster_score_type;
extern const struct type work_resource_identifier_type;
extern const struct type secret_by_name_type;
extern const struct type source_status_type;
extern const struct type source_artifact_type;
extern const struct type applied_work_spec_type;
extern const struct type applied_work_status_type;
extern const struct type applied_resource_type;
extern const struct type approval_request_spec_type;
extern const struct type approval_request_status_type;
extern const struct type update_plan_type;
extern const struct type cluster_plan_type;
extern const struct type planned_object_type;
extern const struct type planned_field_type;
extern const struct type binding_spec_type;
extern const struct type binding_status_type;
extern const struct type bucket_spec_type;
extern const struct type cluster_profile_spec_type;
extern const struct type cluster_manager_type;
extern const struct type cluster_profile_status_type;
extern const struct type cluster_version_type;
extern const struct type cluster_property_type;
extern const struct type access_provider_type;
extern const struct type cluster_access_type;
extern const struct type named_extension_type;
extern const struct type disruption_budget_spec_type;
extern const struct type eviction_spec_type;
extern const struct type eviction_status_type;
extern const struct type eviction_decision_type;
extern const struct type namespace_status_type;
extern const struct type lease_spec_type;
extern const struct type object_reference_type;
extern const struct type event_source_type;
extern const struct type node_spec_type;
extern const struct type node_status_type;
extern const struct type pod_spec_type;
extern const struct type container_type;
extern const struct type container_resources_type;
extern const struct type pod_status_type;
extern const struct type git_repository_spec_type;
extern const struct type git_reference_type;
extern const struct type git_include_type;
extern const struct type git_verification_type;
extern const struct type helm_chart_spec_type;
extern const struct type chart_source_type;
extern const struct type chart_verification_type;
extern const struct type signer_identity_type;
extern const struct type helm_repository_spec_type;
extern const struct type input_provider_spec_type;
extern const struct type input_filter_type;
extern const struct type input_skip_type;
extern const struct type input_schedule_type;
extern const struct type artifact_selector_type;
extern const struct type input_provider_status_type;
extern const struct type input_next_schedule_type;
extern const struct type internal_member_cluster_spec_type;
extern const struct type internal_member_cluster_status_type;
extern const struct type member_cluster_spec_type;
extern const struct type subject_type;
extern const struct type taint_type;
extern const struct type delete_options_type;
extern const struct type member_cluster_status_type;
extern const struct type property_value_type;
extern const struct type resource_usage_type;
extern const struct type agent_status_type;
extern const struct type cluster_object_set_spec_type;
extern const struct type object_set_phase_type;
extern const struct type object_set_entry_type;
extern const struct type object_set_ref_type;
extern const struct type progression_probe_type;
extern const struct type probe_selector_type;
extern const struct type probe_group_kind_type;
extern const struct type probe_assertion_type;
extern const struct type condition_equal_probe_type;
extern const struct type fields_equal_probe_type;
extern const struct type field_value_probe_type;
extern const struct type cluster_object_set_status_type;
extern const struct type observed_phase_type;
extern const struct type override_snapshot_spec_type;
extern const struct type override_spec_type;
extern const struct type override_target_type;
extern const struct type placement_reference_type;
extern const struct type override_policy_type;
extern const struct type override_rule_type;
extern const struct type json_patch_override_type;
extern const struct type placement_spec_type;
extern const struct type resource_selector_type;
extern const struct type placement_policy_type;
extern const struct type affinity_type;
extern const struct type cluster_affinity_type;
extern const struct type preferred_cluster_selector_type;
extern const struct type topology_spread_constraint_type;
extern const struct type toleration_type;
extern const struct type rollout_strategy_type;
extern const struct type rolling_update_type;
extern const struct type delete_strategy_type;
extern const struct type placement_status_type;
extern const struct type per_cluster_status_type;
extern const struct type policy_snapshot_spec_type;
extern const struct type policy_snapshot_status_type;
extern const struct type resource_set_spec_type;
extern const struct type resource_set_common_metadata_type;
extern const struct type resource_set_input_strategy_type;
extern const struct type input_provider_reference_type;
extern const struct type resource_set_step_type;
extern const struct type resource_set_dependency_type;
extern const struct type resource_set_status_type;
extern const struct type resource_set_inventory_type;
extern const struct type resource_set_inventory_entry_type;
extern const struct type resource_set_snapshot_type;
extern const struct type resource_snapshot_spec_type;
extern const struct type resource_snapshot_status_type;
extern const struct type update_run_spec_type;
extern const struct type update_run_status_type;
extern const struct type left_out_cluster_type;
extern const struct type stage_status_type;
extern const struct type cluster_updating_status_type;
extern const struct type stage_task_status_type;
extern const struct type strategy_spec_type;
extern const struct type stage_config_type;
extern const struct type stage_task_type;
extern const struct type work_spec_type;
extern const struct type workload_type;
extern const struct type work_status_type;
extern const struct type manifest_condition_type;
extern const struct type drift_details_type;
extern const struct type diff_details_type;
extern const struct type back_reported_status_type;
