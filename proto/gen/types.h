/* Written by `make generate` from proto/kinds/; do not edit. */
#pragma once

#include "proto/object.h"

struct condition;
struct label_selector;
struct label_requirement;
struct namespaced_name;
struct cluster_selector;
struct cluster_selector_term;
struct property_selector;
struct property_requirement;
struct property_sorter;
struct apply_strategy;
struct server_side_apply_config;
struct report_back_strategy;
struct patch_detail;
struct envelope_identifier;
struct resource_identifier;
struct failed_placement;
struct drifted_placement;
struct diffed_placement;
struct cluster_decision;
struct cluster_score;
struct work_resource_identifier;
struct secret_by_name;
struct source_status;
struct source_artifact;
struct applied_work_spec;
struct applied_work_status;
struct applied_resource;
struct approval_request_spec;
struct approval_request_status;
struct update_plan;
struct cluster_plan;
struct planned_object;
struct planned_field;
struct binding_spec;
struct binding_status;
struct bucket_spec;
struct cluster_profile_spec;
struct cluster_manager;
struct cluster_profile_status;
struct cluster_version;
struct cluster_property;
struct access_provider;
struct cluster_access;
struct named_extension;
struct disruption_budget_spec;
struct eviction_spec;
struct eviction_status;
struct eviction_decision;
struct namespace_status;
struct lease_spec;
struct object_reference;
struct event_source;
struct node_spec;
struct node_status;
struct pod_spec;
struct container;
struct container_resources;
struct pod_status;
struct git_repository_spec;
struct git_reference;
struct git_include;
struct git_verification;
struct helm_chart_spec;
struct chart_source;
struct chart_verification;
struct signer_identity;
struct helm_repository_spec;
struct input_provider_spec;
struct input_filter;
struct input_skip;
struct input_schedule;
struct artifact_selector;
struct input_provider_status;
struct input_next_schedule;
struct internal_member_cluster_spec;
struct internal_member_cluster_status;
struct member_cluster_spec;
struct subject;
struct taint;
struct delete_options;
struct member_cluster_status;
struct property_value;
struct resource_usage;
struct agent_status;
struct cluster_object_set_spec;
struct object_set_phase;
struct object_set_entry;
struct object_set_ref;
struct progression_probe;
struct probe_selector;
struct probe_group_kind;
struct probe_assertion;
struct condition_equal_probe;
struct fields_equal_probe;
struct field_value_probe;
struct cluster_object_set_status;
struct observed_phase;
struct override_snapshot_spec;
struct override_spec;
struct override_target;
struct placement_reference;
struct override_policy;
struct override_rule;
struct json_patch_override;
struct placement_spec;
struct resource_selector;
struct placement_policy;
struct affinity;
struct cluster_affinity;
struct preferred_cluster_selector;
struct topology_spread_constraint;
struct toleration;
struct rollout_strategy;
struct rolling_update;
struct delete_strategy;
struct placement_status;
struct per_cluster_status;
struct policy_snapshot_spec;
struct policy_snapshot_status;
struct resource_set_spec;
struct resource_set_common_metadata;
struct resource_set_input_strategy;
struct input_provider_reference;
struct resource_set_step;
struct resource_set_dependency;
struct resource_set_status;
struct resource_set_inventory;
struct resource_set_inventory_entry;
struct resource_set_snapshot;
struct resource_snapshot_spec;
struct resource_snapshot_status;
struct update_run_spec;
struct update_run_status;
struct left_out_cluster;
struct stage_status;
struct cluster_updating_status;
struct stage_task_status;
struct strategy_spec;
struct stage_config;
struct stage_task;
struct work_spec;
struct workload;
struct work_status;
struct manifest_condition;
struct drift_details;
struct diff_details;
struct back_reported_status;

struct label_requirement_list {
        struct label_requirement *at;
        uint32_t n;
        bool set;
};
struct namespaced_name_list {
        struct namespaced_name *at;
        uint32_t n;
        bool set;
};
struct cluster_selector_term_list {
        struct cluster_selector_term *at;
        uint32_t n;
        bool set;
};
struct property_requirement_list {
        struct property_requirement *at;
        uint32_t n;
        bool set;
};
struct patch_detail_list {
        struct patch_detail *at;
        uint32_t n;
        bool set;
};
struct resource_identifier_list {
        struct resource_identifier *at;
        uint32_t n;
        bool set;
};
struct failed_placement_list {
        struct failed_placement *at;
        uint32_t n;
        bool set;
};
struct drifted_placement_list {
        struct drifted_placement *at;
        uint32_t n;
        bool set;
};
struct diffed_placement_list {
        struct diffed_placement *at;
        uint32_t n;
        bool set;
};
struct cluster_decision_list {
        struct cluster_decision *at;
        uint32_t n;
        bool set;
};
struct applied_resource_list {
        struct applied_resource *at;
        uint32_t n;
        bool set;
};
struct cluster_plan_list {
        struct cluster_plan *at;
        uint32_t n;
        bool set;
};
struct planned_object_list {
        struct planned_object *at;
        uint32_t n;
        bool set;
};
struct planned_field_list {
        struct planned_field *at;
        uint32_t n;
        bool set;
};
struct cluster_property_list {
        struct cluster_property *at;
        uint32_t n;
        bool set;
};
struct access_provider_list {
        struct access_provider *at;
        uint32_t n;
        bool set;
};
struct named_extension_list {
        struct named_extension *at;
        uint32_t n;
        bool set;
};
struct container_list {
        struct container *at;
        uint32_t n;
        bool set;
};
struct git_include_list {
        struct git_include *at;
        uint32_t n;
        bool set;
};
struct signer_identity_list {
        struct signer_identity *at;
        uint32_t n;
        bool set;
};
struct input_schedule_list {
        struct input_schedule *at;
        uint32_t n;
        bool set;
};
struct artifact_selector_list {
        struct artifact_selector *at;
        uint32_t n;
        bool set;
};
struct taint_list {
        struct taint *at;
        uint32_t n;
        bool set;
};
struct property_value_map { /* sorted by key */
        struct property_value_entry *at;
        uint32_t n;
        bool set;
};
struct agent_status_list {
        struct agent_status *at;
        uint32_t n;
        bool set;
};
struct object_set_phase_list {
        struct object_set_phase *at;
        uint32_t n;
        bool set;
};
struct object_set_entry_list {
        struct object_set_entry *at;
        uint32_t n;
        bool set;
};
struct progression_probe_list {
        struct progression_probe *at;
        uint32_t n;
        bool set;
};
struct probe_assertion_list {
        struct probe_assertion *at;
        uint32_t n;
        bool set;
};
struct observed_phase_list {
        struct observed_phase *at;
        uint32_t n;
        bool set;
};
struct override_target_list {
        struct override_target *at;
        uint32_t n;
        bool set;
};
struct override_rule_list {
        struct override_rule *at;
        uint32_t n;
        bool set;
};
struct json_patch_override_list {
        struct json_patch_override *at;
        uint32_t n;
        bool set;
};
struct resource_selector_list {
        struct resource_selector *at;
        uint32_t n;
        bool set;
};
struct preferred_cluster_selector_list {
        struct preferred_cluster_selector *at;
        uint32_t n;
        bool set;
};
struct topology_spread_constraint_list {
        struct topology_spread_constraint *at;
        uint32_t n;
        bool set;
};
struct toleration_list {
        struct toleration *at;
        uint32_t n;
        bool set;
};
struct per_cluster_status_list {
        struct per_cluster_status *at;
        uint32_t n;
        bool set;
};
struct input_provider_reference_list {
        struct input_provider_reference *at;
        uint32_t n;
        bool set;
};
struct resource_set_step_list {
        struct resource_set_step *at;
        uint32_t n;
        bool set;
};
struct resource_set_dependency_list {
        struct resource_set_dependency *at;
        uint32_t n;
        bool set;
};
struct resource_set_inventory_entry_list {
        struct resource_set_inventory_entry *at;
        uint32_t n;
        bool set;
};
struct resource_set_snapshot_list {
        struct resource_set_snapshot *at;
        uint32_t n;
        bool set;
};
struct left_out_cluster_list {
        struct left_out_cluster *at;
        uint32_t n;
        bool set;
};
struct stage_status_list {
        struct stage_status *at;
        uint32_t n;
        bool set;
};
struct cluster_updating_status_list {
        struct cluster_updating_status *at;
        uint32_t n;
        bool set;
};
struct stage_task_status_list {
        struct stage_task_status *at;
        uint32_t n;
        bool set;
};
struct stage_config_list {
        struct stage_config *at;
        uint32_t n;
        bool set;
};
struct stage_task_list {
        struct stage_task *at;
        uint32_t n;
        bool set;
};
struct manifest_condition_list {
        struct manifest_condition *at;
        uint32_t n;
        bool set;
};

/* Picks objects by their labels; all requirements must hold, and an empty selector picks everything. */
struct label_selector {
        struct string_map match_labels; /* Labels that must be present with exactly these values. */
        struct label_requirement_list match_expressions; /* Further requirements on labels. */
};

/* One requirement on a label. */
struct label_requirement {
        const char *key; /* Required. The label's key. */
        const char *operator; /* Required. How the label is tested: In, NotIn, Exists or DoesNotExist. */
        struct string_list values; /* The values for In and NotIn; must be empty for the other operators. */
};

/* The name of a namespaced object. */
struct namespaced_name {
        const char *name; /* Required. The object's name. */
        const char *ns; /* Required. The object's namespace. */
};

/* Picks member clusters: those that satisfy at least one term. */
struct cluster_selector {
        struct cluster_selector_term_list terms; /* Required. The terms, of which one must hold. */
};

/* Picks member clusters that satisfy every part that is present. */
struct cluster_selector_term {
        struct label_selector *label_selector; /* Requirements on the MemberCluster's labels. */
        struct property_selector *property_selector; /* Requirements on the properties the member cluster reports. */
        struct property_sorter *property_sorter; /* Ranks the clusters by a property, for preferences. */
};

/* Requirements on reported properties; all must hold. */
struct property_selector {
        struct property_requirement_list match_expressions; /* Required. The requirements, all of which must hold. */
};

/* Compares a reported property with a value. */
struct property_requirement {
        const char *name; /* Required. The property's name. */
        const char *operator; /* Required. The comparison: Gt, Ge, Eq, Ne, Lt or Le. */
        struct string_list values; /* Required. The quantity to compare with, as a list of one. */
};

/* An order of clusters by one property. */
struct property_sorter {
        const char *name; /* Required. The property's name. */
        const char *sort_order; /* Required. Ascending prefers low values, Descending high ones. */
};

/* How manifests are written to a member cluster and what happens to objects that differ. */
struct apply_strategy {
        const char *type; /* How objects are written: by a three-way merge on the client, by server-side apply, or not at all (ReportDiff only reports differences). Default ClientSideApply. */
        const char *comparison_option; /* Which fields count as a difference: those the manifest sets (PartialComparison) or all (FullComparison). The spellings with a small first letter mean the same. Default PartialComparison. */
        const char *when_to_apply; /* Always writes each time; IfNotDrifted stops writing to an object that was changed on the member cluster. Default Always. */
        const char *when_to_take_over; /* What happens to an object that existed before: overwrite it (Always), take it over when it is equal (IfNoDiff), or leave it alone (Never). Default Always. */
        struct opt_bool allow_co_ownership; /* Whether an object that others own may be managed as well; no if absent. */
        struct server_side_apply_config *server_side_apply_config; /* Settings for ServerSideApply. */
};

/* Settings of server-side apply. */
struct server_side_apply_config {
        struct opt_bool force; /* Whether to take over fields that another manager owns instead of failing with a conflict. */
};

/* Whether and where the status of placed objects is copied back to the hub. */
struct report_back_strategy {
        const char *type; /* Required. Disabled copies nothing; Mirror copies the status as it is. Default Disabled. */
        const char *destination; /* Where the status goes: to the original object on the hub or into the Work. */
};

/* One field that differs between the hub's manifest and the object on the member cluster. */
struct patch_detail {
        const char *path; /* Required. JSON pointer to the field. */
        const char *value_in_member; /* The value on the member cluster; empty if the field is missing there. */
        const char *value_in_hub; /* The value the hub wants; empty if the field is missing there. */
};

/* The envelope an object was wrapped in. */
struct envelope_identifier {
        const char *name; /* Required. The envelope's name. */
        const char *ns; /* The envelope's namespace; empty if it is cluster-scoped. */
        const char *type; /* The kind of envelope. Default ConfigMap. */
};

/* Which object of the hub is meant. */
struct resource_identifier {
        const char *group; /* The object's API group; empty for the core group. */
        const char *version; /* Required. The object's API version. */
        const char *kind; /* Required. The object's kind. */
        const char *name; /* Required. The object's name. */
        const char *ns; /* The object's namespace; empty if it is cluster-scoped. */
        struct envelope_identifier *envelope; /* The envelope the object came in, if any. */
};

/* An object that could not be applied or is not available. */
struct failed_placement {
        struct resource_identifier id;
        struct condition *condition; /* Required. The condition that says what failed. */
};

/* An object that was changed on the member cluster after it had been applied. */
struct drifted_placement {
        struct resource_identifier id;
        int64_t observation_time; /* Required. When the drift was last seen. Wall ms. */
        int64_t first_drifted_observed_time; /* Required. When the drift was first seen. Wall ms. */
        struct opt_int target_cluster_observed_generation; /* Required. Generation of the object on the member cluster when the drift was seen. */
        struct patch_detail_list observed_drifts; /* The fields that drifted. */
};

/* An object that differs from what the hub wants and is not managed. */
struct diffed_placement {
        struct resource_identifier id;
        int64_t observation_time; /* Required. When the difference was last seen. Wall ms. */
        int64_t first_diffed_observed_time; /* Required. When the difference was first seen. Wall ms. */
        struct opt_int target_cluster_observed_generation; /* Generation of the object on the member cluster; absent if there is no such object. */
        struct patch_detail_list observed_diffs; /* The fields that differ. */
};

/* What the scheduler decided about one cluster, and why. */
struct cluster_decision {
        const char *cluster_name; /* Required. The member cluster. */
        struct opt_bool selected; /* Required. Whether the cluster was picked. */
        struct cluster_score *cluster_score; /* How well the cluster fits; absent where no scores were computed. */
        const char *reason; /* Required. A sentence that explains the decision. */
};

/* The parts of a cluster's score. */
struct cluster_score {
        struct opt_int affinity_score; /* Points from preferred cluster affinity. */
        struct opt_int priority_score; /* Points from topology spread. */
};

/* Which manifest, and which object on the member cluster, is meant. */
struct work_resource_identifier {
        struct opt_int ordinal; /* Required. Index in spec.workload.manifests. */
        const char *group; /* The object's API group; empty for the core group. */
        const char *version; /* The object's API version. */
        const char *kind; /* The object's kind. */
        const char *resource; /* The object's resource name in the API (plural). */
        const char *ns; /* The object's namespace; empty if it is cluster-scoped. */
        const char *name; /* The object's name. */
};

/* A Secret, or another object that is meant by its name, of the same namespace. */
struct secret_by_name {
        const char *name; /* Required. The name. */
};

/* What came of a source or a chart. */
struct source_status {
        struct opt_int observed_generation; /* Generation of the last run that ended. */
        struct condition_list conditions; /* Ready, and what the last run met. */
        struct source_artifact *artifact; /* The file that is kept. */
        const char *url; /* Address of the newest file, whatever its revision. */
        const char *last_handled_reconcile_at; /* The annotation reconcile.fluxcd.io/requestedAt that was acted on last. */
        const char *observed_source_artifact_revision; /* Revision of the source that the chart was made of. */
        const char *observed_chart_name; /* The chart's name. */
        struct string_list observed_values_files; /* The values files that were there. */
        const char *observed_ignore; /* spec.ignore of the archive. */
        struct opt_bool observed_recurse_submodules; /* spec.recurseSubmodules of the archive. */
        struct string_list observed_sparse_checkout; /* spec.sparseCheckout of the archive. */
};

/* A file that is kept for whoever asks for it. */
struct source_artifact {
        const char *digest; /* Digest of the file, as sha256:HEX. */
        const char *path; /* Required. The file, below the folder of all of them. */
        const char *url; /* Required. Address of the file. */
        const char *revision; /* Required. What the file is made of. */
        int64_t last_update_time; /* Required. When the file was written. Wall ms. */
        struct opt_int size; /* Its bytes. */
        struct string_map metadata; /* What else is known of it. */
};

/* Which Work an AppliedWork stands for. */
struct applied_work_spec {
        const char *work_name; /* Required. The Work's name. */
        const char *work_namespace; /* Required. The Work's namespace on the hub. */
};

/* The objects an AppliedWork owns. */
struct applied_work_status {
        struct applied_resource_list applied_resources; /* The objects. */
};

/* One object made from a Work. */
struct applied_resource {
        struct work_resource_identifier id;
        const char *uid; /* The object's UID on the member cluster. */
};

/* A family of kinds. */
struct applied_work {
        struct object object;
        struct applied_work_spec *spec; /* Required. Which Work it stands for. */
        struct applied_work_status *status; /* The objects it owns. */
};

/* What is to be approved. */
struct approval_request_spec {
        const char *parent_stage_rollout; /* Required. The update run. */
        const char *target_stage; /* Required. The stage. */
};

/* Whether a request was approved. */
struct approval_request_status {
        struct condition_list conditions; /* Approved is set by a person; ApprovalAccepted is the controller's answer. */
        const char *plan_hash; /* Names the plan: another plan has another hash. */
        const char *approved_plan_hash; /* Set together with Approved: the plan that was approved. If absent, the one shown at that time. */
        struct update_plan *plan; /* What will change once the request is approved, if the task asks for a plan. Not in projections. */
};

/* What an update changes, cluster by cluster. */
struct update_plan {
        const char *resource_snapshot_index; /* Index of the revision that the clusters get. */
        struct cluster_plan_list clusters; /* Required. The clusters, in the order they are updated. */
        struct opt_int omitted_objects; /* How many changed objects are not listed for want of room; the hash covers them. */
};

/* What an update changes on one cluster. */
struct cluster_plan {
        const char *cluster_name; /* Required. The cluster. */
        struct opt_int added; /* Required. How many objects are added. */
        struct opt_int changed; /* Required. How many objects are changed. */
        struct opt_int removed; /* Required. How many objects are removed. */
        const char *problem; /* Why it cannot be told what changes there. */
        struct planned_object_list objects; /* Those objects. */
};

/* An object that an update adds, changes or removes. */
struct planned_object {
        const char *group; /* API group; empty for the core group. */
        const char *version; /* Required. API version. */
        const char *kind; /* Required. Kind. */
        const char *ns; /* Namespace, if it has one. */
        const char *name; /* Required. Name. */
        const char *change; /* Required. Added, Changed or Removed. */
        struct planned_field_list fields; /* Which fields change; of Secrets without values. */
        struct opt_int omitted_fields; /* How many changed fields are not listed for want of room. */
};

/* A field that an update changes. */
struct planned_field {
        const char *path; /* Required. The field, such as /spec/replicas. */
        const char *from; /* Its value as JSON, cut if long; absent if it had none or it is hidden. */
        const char *to; /* What it becomes; absent if it goes or is hidden. */
};

/* A family of kinds. */
struct approval_request {
        struct object object;
        struct approval_request_spec *spec; /* Required. What is to be approved. */
        struct approval_request_status *status; /* Whether it was approved. */
};

/* What goes to one cluster. */
struct binding_spec {
        const char *state; /* Required. Scheduled (picked, not rolled out), Bound (rolled out) or Unscheduled (to be removed). */
        const char *resource_snapshot_name; /* Required. First snapshot of the revision to place; empty until the rollout sets it. */
        struct namespaced_name_list resource_override_snapshots; /* The ResourceOverrideSnapshots to use. */
        struct string_list cluster_resource_override_snapshots; /* The ClusterResourceOverrideSnapshots to use. */
        const char *scheduling_policy_snapshot_name; /* Required. Policy snapshot the decision was made for. */
        const char *target_cluster; /* Required. The member cluster. */
        struct cluster_decision *cluster_decision; /* Required. The scheduler's decision. */
        struct apply_strategy *apply_strategy; /* How the resources are applied. */
};

/* How far a binding has come. */
struct binding_status {
        struct failed_placement_list *failed_placements; /* Resources that failed; cut after 100. NULL = absent. */
        struct drifted_placement_list *drifted_placements; /* Resources that drifted; cut after 100. NULL = absent. */
        struct diffed_placement_list *diffed_placements; /* Resources that differ; cut after 100. NULL = absent. */
        struct condition_list conditions; /* The binding's conditions. */
};

/* A family of kinds. */
struct binding {
        struct object object;
        struct binding_spec *spec; /* Required. What goes to the cluster. */
        struct binding_status *status; /* How far it has come. */
};

/* Where a bucket is, and what of it is kept. */
struct bucket_spec {
        const char *provider; /* Whose object store it is. Default generic. */
        const char *bucket_name; /* Required. The bucket's name. */
        const char *endpoint; /* Required. The object store's host, with a port if it needs one. */
        const char *region; /* The bucket's region. */
        const char *prefix; /* What the keys of objects begin with that are kept. */
        struct opt_bool insecure; /* Whether the object store is reached without TLS. */
        const char *interval; /* Required. How often the bucket is looked at. */
        const char *timeout; /* How long a look at the bucket may take. Default 60s. */
        struct secret_by_name *secret_ref; /* The Secret with accesskey and secretkey; nobody's credentials if absent. */
        struct secret_by_name *cert_secret_ref; /* The Secret with an authority (ca.crt) and a client's certificate (tls.crt, tls.key). */
        struct secret_by_name *proxy_secret_ref; /* The Secret with a proxy's address and credentials. */
        struct slice sts; /* How credentials are made for the moment. */
        const char *service_account_name; /* The service account whose identity is used. */
        const char *ignore; /* What is left out, in the form of .gitignore. */
        struct opt_bool suspend; /* Whether nothing is done about this bucket. */
        struct slice access_from; /* Taken and not looked at. */
};

/* A family of kinds. */
struct bucket {
        struct object object;
        struct bucket_spec *spec; /* Where the bucket is, and what of it is kept. */
        struct source_status *status; /* The bucket's archive. Default {"observedGeneration":-1}. */
};

/* Who manages a cluster of the inventory. */
struct cluster_profile_spec {
        const char *display_name; /* A name for people. */
        struct cluster_manager *cluster_manager; /* Required. The manager of the cluster; cannot change. */
};

/* A manager of clusters. */
struct cluster_manager {
        const char *name; /* Required. The manager's name. */
};

/* What is known about a cluster of the inventory. */
struct cluster_profile_status {
        struct cluster_version *version; /* The versions the cluster runs. */
        struct condition_list conditions; /* The cluster's conditions. */
        struct cluster_property_list properties; /* Named properties of the cluster. */
        struct access_provider_list access_providers; /* Ways to reach the cluster. */
        struct access_provider_list credential_providers; /* Ways to reach the cluster (the older name of accessProviders). */
};

/* Versions a cluster runs. */
struct cluster_version {
        const char *kubernetes; /* The Kubernetes version. */
};

/* A named property of a cluster. */
struct cluster_property {
        const char *name; /* Required. The property's name. */
        const char *value; /* Required. The property's value. */
        int64_t last_observed_time; /* When the value was read. Wall ms. */
};

/* A way to reach a cluster. */
struct access_provider {
        const char *name; /* Required. The provider's name. */
        struct cluster_access *cluster; /* Where the cluster's API server is. */
};

/* Where an API server is, in the form of a kubeconfig's cluster entry. */
struct cluster_access {
        const char *server; /* Required. The API server's URL. */
        const char *tls_server_name; /* The name to check the server's certificate against. */
        struct opt_bool insecure_skip_tls_verify; /* Whether the server's certificate is not checked. */
        const char *certificate_authority; /* A file with certificates of the authority. */
        const char *certificate_authority_data; /* Certificates of the authority. Base64 text. */
        const char *proxy_url; /* A proxy to go through. */
        struct opt_bool disable_compression; /* Whether answers are sent uncompressed. */
        struct named_extension_list extensions; /* Further data for clients. */
};

/* Further data under a name. */
struct named_extension {
        const char *name; /* Required. The data's name. */
        struct slice extension; /* Required. The data. */
};

/* A family of kinds. */
struct cluster_profile {
        struct object object;
        struct cluster_profile_spec *spec; /* Required. Who manages the cluster. */
        struct cluster_profile_status *status; /* What is known about the cluster. */
};

/* A limit on evictions; at most one of the two fields. */
struct disruption_budget_spec {
        struct int_or_string max_unavailable; /* How many clusters, as a number or percentage, may be without available resources. */
        struct int_or_string min_available; /* How many clusters, as a number or percentage, must keep available resources. */
};

/* A family of kinds. */
struct disruption_budget {
        struct object object;
        struct disruption_budget_spec *spec; /* Required. The limit. */
};

/* A family of kinds. */
struct resource_envelope {
        struct object object;
        struct raw_map data; /* Required. The manifests, each under a freely chosen name. Not in projections. */
};

/* What is evicted, and from where. */
struct eviction_spec {
        const char *placement_name; /* Required. The ClusterResourcePlacement. */
        const char *cluster_name; /* Required. The member cluster. */
};

/* What came of an eviction. */
struct eviction_status {
        struct condition_list conditions; /* Valid and Executed. */
        struct eviction_decision *decision; /* That the resources are taken off, written before they are; gone as soon as Executed says so. */
};

/* What an eviction is about to do: which binding is deleted, as it was read, and what Executed will say then. */
struct eviction_decision {
        const char *binding_name; /* Required. The binding that is deleted. */
        const char *binding_uid; /* Required. Its uid: one of the same name that comes after it is another. */
        const char *binding_resource_version; /* Required. Its version when this was decided; of any other version nothing is deleted. */
        const char *message; /* Required. What Executed will say. */
};

/* A family of kinds. */
struct eviction {
        struct object object;
        struct eviction_spec *spec; /* Required. What is evicted, and from where. */
        struct eviction_status *status; /* What came of it. */
};

/* State of a namespace. */
struct namespace_status {
        const char *phase; /* Active or Terminating. */
};

/* Who holds a lease. */
struct lease_spec {
        const char *holder_identity; /* The holder. */
        struct opt_int lease_duration_seconds; /* How long the lease is valid after it was renewed. */
        int64_t acquire_time; /* When the holder got the lease. Wall ms. */
        int64_t renew_time; /* When the holder last renewed it. Wall ms. */
        struct opt_int lease_transitions; /* How often the holder changed. */
};

/* A reference to any object. */
struct object_reference {
        const char *api_version; /* The object's API group and version. */
        const char *kind; /* The object's kind. */
        const char *name; /* The object's name. */
        const char *ns; /* The object's namespace. */
        const char *uid; /* The object's UID. */
        const char *resource_version; /* The object's resourceVersion. */
        const char *field_path; /* The part of the object that is meant. */
};

/* Who reports an event. */
struct event_source {
        const char *component; /* The reporting program. */
        const char *host; /* The node it runs on. */
};

/* Settings of a node. */
struct node_spec {
        struct opt_bool unschedulable; /* Whether the node takes no new pods. */
        const char *provider_id; /* The node's name at its cloud. */
};

/* State of a node. */
struct node_status {
        struct string_map capacity; /* What the node has. */
        struct string_map allocatable; /* What of it pods may use. */
        struct condition_list conditions; /* The node's conditions. */
};

/* What a pod asks for. */
struct pod_spec {
        const char *node_name; /* The node the pod is on. */
        struct container_list containers; /* The pod's containers. */
        struct container_list init_containers; /* The pod's containers that run first. */
        struct string_map overhead; /* What the pod needs beyond its containers. */
};

/* One container's needs. */
struct container {
        const char *restart_policy; /* Always for an init container that keeps running. */
        struct container_resources *resources; /* Requests and limits. */
};

/* Requests of a container. */
struct container_resources {
        struct string_map requests; /* What is set aside for the container. */
        struct string_map limits; /* What the container may use at most. */
};

/* State of a pod. */
struct pod_status {
        const char *phase; /* Pending, Running, Succeeded, Failed or Unknown. */
};

/* A namespace. */
struct namespace {
        struct object object;
        struct namespace_status *status; /* State of the namespace. */
};

/* A lease. */
struct lease {
        struct object object;
        struct lease_spec *spec; /* Who holds it. */
};

/* Something that happened to an object. */
struct event {
        struct object object;
        struct object_reference *involved_object; /* Required. The object it happened to. */
        const char *reason; /* One CamelCase word for programs. */
        const char *message; /* A sentence for people. */
        const char *type; /* Normal or Warning. */
        struct event_source *source; /* Who reports it. */
        int64_t first_timestamp; /* When it first happened. Wall ms. */
        int64_t last_timestamp; /* When it last happened. Wall ms. */
        struct opt_int count; /* How often it happened. */
        int64_t event_time; /* When it happened, for reporters that do not count. Wall ms. */
        const char *action; /* What was done. */
        const char *reporting_component; /* The reporting controller. */
        const char *reporting_instance; /* The reporting controller's instance. */
};

/* A node. */
struct node {
        struct object object;
        struct node_spec *spec; /* The node's settings. */
        struct node_status *status; /* State of the node. */
};

/* A pod. */
struct pod {
        struct object object;
        struct pod_spec *spec; /* What the pod asks for. */
        struct pod_status *status; /* State of the pod. */
};

/* Texts under keys. */
struct config_map {
        struct object object;
        struct string_map data; /* The texts. */
};

/* Any object's metadata, with its own kind; for informers on users' resources. */
struct partial_object {
        struct object object;
        const char *api_version; /* The object's API group and version. */
        const char *kind; /* The object's kind. */
};

/* Where a Git repository is, and what of it is kept. */
struct git_repository_spec {
        const char *url; /* Required. The repository's address. */
        const char *interval; /* Required. How often the repository is looked at. */
        const char *timeout; /* How long an operation on the repository may take. Default 60s. */
        struct git_reference *ref; /* What is checked out; the branch master if absent. */
        struct secret_by_name *secret_ref; /* The Secret with credentials and authorities. */
        struct secret_by_name *proxy_secret_ref; /* The Secret with a proxy's address and credentials. */
        const char *ignore; /* What is left out, in the form of .gitignore. */
        struct opt_bool suspend; /* Whether nothing is done about this repository. */
        struct opt_bool recurse_submodules; /* Whether submodules are fetched too. */
        struct string_list sparse_checkout; /* Folders that are kept; all if absent. */
        struct git_include_list include; /* Other repositories whose files are put in. */
        struct git_verification *verify; /* Whose signature commits have to have. */
        const char *provider; /* Whose credentials the server takes. */
        const char *service_account_name; /* The service account whose identity is used. */
        struct slice access_from; /* Taken and not looked at. */
};

/* What is checked out. A commit counts before a name, that before a range of versions, a tag, a branch. */
struct git_reference {
        const char *branch; /* A branch. */
        const char *tag; /* A tag. */
        const char *semver; /* A range of versions: the highest tag in it. */
        const char *name; /* A full reference, as refs/heads/main. */
        const char *commit; /* A commit. */
};

/* Another repository whose files are put in. */
struct git_include {
        struct secret_by_name *repository; /* Required. The GitRepository, in the same namespace. */
        const char *from_path; /* The folder that is taken; all if absent. */
        const char *to_path; /* Where it is put; under the repository's name if absent. */
};

/* Whose signature has to be there. */
struct git_verification {
        const char *mode; /* Of the commit, of the tag, or of both. Default HEAD. */
        struct secret_by_name *secret_ref; /* Required. The Secret with the public keys. */
};

/* A family of kinds. */
struct git_repository {
        struct object object;
        struct git_repository_spec *spec; /* Where the repository is, and what of it is kept. */
        struct source_status *status; /* The repository's archive. Default {"observedGeneration":-1}. */
};

/* Where a chart comes from, and in which version. */
struct helm_chart_spec {
        const char *chart; /* Required. The chart's name in the HelmRepository, or its path in the GitRepository or Bucket. */
        const char *version; /* A version or a range of them, of HelmRepositories only. Default *. */
        struct chart_source *source_ref; /* Required. Where the chart is. */
        const char *interval; /* Required. How often the source is looked at. */
        const char *reconcile_strategy; /* What makes a new artifact: another version of the chart, or another revision of its source. Default ChartVersion. */
        const char *values_file; /* A file of values that goes before valuesFiles. */
        struct string_list values_files; /* Files whose values become the chart's, the last wins. */
        struct opt_bool ignore_missing_values_files; /* Whether values files may be missing. */
        struct opt_bool suspend; /* Whether nothing is done about this chart. */
        struct chart_verification *verify; /* Whose signature the chart has to have. */
        struct slice access_from; /* Taken and not looked at. */
};

/* The source of a chart, in the same namespace. */
struct chart_source {
        const char *api_version; /* The source's API group and version. */
        const char *kind; /* Required. The source's kind. */
        const char *name; /* Required. The source's name. */
};

/* Whose signature a chart has to have. */
struct chart_verification {
        const char *provider; /* Required. What the signatures are made with. Default cosign. */
        struct secret_by_name *secret_ref; /* The Secret with the public keys, under names that end in .pub. */
        struct signer_identity_list match_oidc_identity; /* Who may have signed without a key; anybody if absent. */
};

/* Who may have signed, by regular expressions. */
struct signer_identity {
        const char *issuer; /* Required. Who vouches for the signer. */
        const char *subject; /* Required. The signer. */
};

/* A family of kinds. */
struct helm_chart {
        struct object object;
        struct helm_chart_spec *spec; /* Where the chart comes from, and in which version. */
        struct source_status *status; /* The chart's artifact. Default {"observedGeneration":-1}. */
};

/* Where a repository of charts is, and how it is reached. */
struct helm_repository_spec {
        const char *url; /* Required. The repository's address. */
        const char *type; /* An index behind the address, or a registry. */
        const char *interval; /* How often the index is fetched; a minute if absent. */
        const char *timeout; /* How long the index, a chart, a question to the registry may take. Default 60s. */
        struct secret_by_name *secret_ref; /* The Secret with a username and a password, or with credentials of registries. */
        struct secret_by_name *cert_secret_ref; /* The Secret with an authority (ca.crt) and a client's certificate (tls.crt, tls.key). */
        struct opt_bool pass_credentials; /* Whether charts that are elsewhere are fetched with the repository's credentials too. */
        struct opt_bool suspend; /* Whether nothing is done about this repository. */
        struct opt_bool insecure; /* Whether a registry without TLS is taken. */
        const char *provider; /* Whose credentials a registry takes. Default generic. */
        struct slice access_from; /* Taken and not looked at. */
};

/* A family of kinds. */
struct helm_repository {
        struct object object;
        struct helm_repository_spec *spec; /* Where the repository is. */
        struct source_status *status; /* The repository's index. Default {"observedGeneration":-1}. */
};

/* Where the sets come from, and which of them are taken. */
struct input_provider_spec {
        const char *type; /* Required. What kind of source it is. */
        const char *url; /* The source's address. */
        struct secret_by_name *secret_ref; /* The Secret with what the source asks for. */
        struct secret_by_name *cert_secret_ref; /* The Secret with authorities (ca.crt) and a client's certificate (tls.crt, tls.key). */
        const char *service_account_name; /* The service account of this namespace whose pull secrets, rights or identity are used. */
        struct opt_bool insecure; /* Whether a source without TLS is taken. */
        struct slice default_values; /* Values for keys that a set does not have. */
        struct input_filter *filter; /* Which sets are taken. */
        struct input_skip *skip; /* Which requests are left as they were exported last. */
        struct input_schedule_list schedule; /* When the source is asked; by the interval alone if absent. */
        struct artifact_selector_list selectors; /* Which ExternalArtifacts are taken. */
};

/* Which sets are taken. */
struct input_filter {
        const char *include_branch; /* Regular expression that a branch's name has to match. */
        const char *exclude_branch; /* Regular expression that a branch's name may not match. */
        const char *include_tag; /* Regular expression that a tag has to match. */
        const char *exclude_tag; /* Regular expression that a tag may not match. */
        const char *include_environment; /* Regular expression that an environment's name has to match. */
        const char *exclude_environment; /* Regular expression that an environment's name may not match. */
        struct string_list labels; /* Labels that a request has to have, all of them. */
        struct opt_int limit; /* How many sets there may be. Default 100. */
        const char *semver; /* Range of versions that a tag has to be in; the highest come first. */
};

/* Which requests are left as they were exported last. */
struct input_skip {
        struct string_list labels; /* Labels of such requests; with ! before it, one that they do not have. */
};

/* When the source is asked. */
struct input_schedule {
        const char *cron; /* Required. Minute, hour, day of month, month and day of week, or @daily and its like. */
        const char *time_zone; /* The time zone. Default UTC. */
        const char *window; /* How long after each time the interval holds; 0s for ever. Default 0s. */
};

/* ExternalArtifacts, by name or by labels. */
struct artifact_selector {
        const char *name; /* The artifact's name. */
        const char *ns; /* The artifacts' namespace: the provider's if absent, all if *. */
        struct string_map match_labels; /* Labels that they have. */
        struct label_requirement_list match_expressions; /* Further requirements on their labels. */
};

/* The sets. */
struct input_provider_status {
        struct condition_list conditions; /* Ready; Reconciling while the source is asked or retried; Stalled when only a change of the provider helps. */
        struct raw_list exported_inputs; /* The sets, each with its id. */
        const char *last_exported_revision; /* SHA-256 over the sets, as sha256:HEX. */
        struct input_next_schedule *next_schedule; /* When the source is asked next. */
        const char *last_handled_reconcile_at; /* The annotation reconcile.fluxcd.io/requestedAt that was acted on last. */
        const char *last_handled_force_at; /* The annotation reconcile.fluxcd.io/forceAt that was acted on last. */
};

/* When the source is asked next. */
struct input_next_schedule {
        const char *cron; /* Required. The schedule. */
        const char *time_zone; /* Required. Its time zone. */
        const char *window; /* Required. Its window. */
        int64_t when_ms; /* Required. The time. Wall ms. */
};

/* A family of kinds. */
struct input_provider {
        struct object object;
        struct input_provider_spec *spec; /* Where the sets come from, and which of them are taken. */
        struct input_provider_status *status; /* The sets. */
};

/* What the agents of a member cluster are asked to do. */
struct internal_member_cluster_spec {
        const char *state; /* Required. Join or Leave. */
        struct opt_int heartbeat_period_seconds; /* How often the agents report, in seconds. Default 60. */
};

/* What the agents of a member cluster report. */
struct internal_member_cluster_status {
        struct condition_list conditions; /* Conditions about collecting the report. */
        struct property_value_map properties; /* Properties of the cluster, by name. */
        struct resource_usage *resource_usage; /* The cluster's resources. */
        struct string_map namespaces; /* Namespaces of the cluster, each with the name of the AppliedWork that owns it, or empty. */
        struct agent_status_list agent_status; /* What each agent reported. */
};

/* A family of kinds. */
struct internal_member_cluster {
        struct object object;
        struct internal_member_cluster_spec *spec; /* Required. What the agents are asked to do. */
        struct internal_member_cluster_status *status; /* What the agents report. */
};

/* What is wanted of a member cluster. */
struct member_cluster_spec {
        struct subject *identity; /* Required. The user, group or service account of the member agent; it gets access to the member's namespace on the hub. */
        struct opt_int heartbeat_period_seconds; /* How often the member agent reports, in seconds. Default 60. */
        struct taint_list taints; /* Marks that keep placements away unless they tolerate them. */
        struct delete_options *delete_options; /* What is checked before the member cluster may be deleted. */
};

/* An RBAC subject. */
struct subject {
        const char *kind; /* Required. The subject's kind: User, Group or ServiceAccount. */
        const char *name; /* Required. The subject's name. */
        const char *api_group; /* The subject's API group; empty for service accounts. */
        const char *ns; /* The namespace of a service account. */
};

/* A mark on a member cluster. */
struct taint {
        const char *key; /* Required. The taint's key. */
        const char *value; /* The taint's value. */
        const char *effect; /* Required. What the taint does to placements that do not tolerate it. */
};

/* Checks on deletion. */
struct delete_options {
        const char *validation_mode; /* Strict refuses a deletion that would strand resources; Skip does not look. Default Strict. */
};

/* What is known about a member cluster. */
struct member_cluster_status {
        struct condition_list conditions; /* The member cluster's conditions. */
        struct property_value_map properties; /* Properties the member cluster reports, by name. */
        struct resource_usage *resource_usage; /* The member cluster's resources. */
        struct string_map namespaces; /* Namespaces of the member cluster, each with the name of the AppliedWork that owns it, or empty. */
        struct agent_status_list agent_status; /* What each agent on the member cluster reported. */
};

/* One reported property. */
struct property_value {
        const char *value; /* Required. The property's value. */
        int64_t observation_time; /* Required. When the value was read. Wall ms. */
};
struct property_value_entry {
        const char *key;
        struct property_value value;
};

/* Amounts of resources of a whole cluster. */
struct resource_usage {
        struct string_map capacity; /* What all nodes have together. */
        struct string_map allocatable; /* What of it pods may use. */
        struct string_map available; /* What is not yet requested by pods. */
        int64_t observation_time; /* When the amounts were added up. Wall ms. */
};

/* The last report of one agent. */
struct agent_status {
        const char *type; /* Required. The agent: MemberAgent, MultiClusterServiceAgent or ServiceExportImportAgent. */
        struct condition_list conditions; /* The agent's conditions. */
        int64_t last_received_heartbeat; /* When the agent last reported. Wall ms. */
};

/* A family of kinds. */
struct member_cluster {
        struct object object;
        struct member_cluster_spec *spec; /* Required. What is wanted of the member cluster. */
        struct member_cluster_status *status; /* What is known about the member cluster. */
};

/* One revision: what it holds cannot change, whether it is wanted can. */
struct cluster_object_set_spec {
        const char *lifecycle_state; /* Required. Active: rolled out and kept so. Archived: taken away again, and kept as a record; there is no way back. */
        struct opt_int revision; /* Required. Number of the revision: of two sets of one owner the higher takes objects over from the lower. */
        const char *collision_protection; /* Required. What happens to an object that exists already. Prevent: it is left alone. IfNoController: it is taken over if nothing controls it. None: it is taken over. */
        struct object_set_phase_list phases; /* The objects, in groups: one begins when all objects of those before it are ready. May be given once later where it is absent or empty. */
        struct opt_int progress_deadline_minutes; /* After so many minutes a set that is not rolled out says so; the work goes on. No deadline if absent. */
        struct progression_probe_list progression_probes; /* When objects are ready, beyond what is built in for their kinds. */
};

/* Objects that are applied together. */
struct object_set_phase {
        const char *name; /* Required. The phase's name. */
        struct object_set_entry_list objects; /* Required. The objects; may be empty. */
        const char *collision_protection; /* In place of the set's. */
};

/* One object: its manifest, or where that is. */
struct object_set_entry {
        struct slice object; /* The manifest. Not in projections. */
        struct object_set_ref *ref; /* The Secret that holds the manifest. */
        const char *collision_protection; /* In place of the phase's and the set's. */
};

/* One key of an immutable Secret: a manifest as JSON, or gzip of that. */
struct object_set_ref {
        const char *name; /* Required. The Secret's name. */
        const char *ns; /* The Secret's namespace; if absent or empty, the one the member-agent runs in. */
        const char *key; /* Required. The key in its data. */
};

/* When the objects that a selector picks are ready; one that picks none holds nothing back. */
struct progression_probe {
        struct probe_selector *selector; /* Required. The objects. */
        struct probe_assertion_list assertions; /* Required. What must hold of each, all of it. */
};

/* Picks objects of a set. */
struct probe_selector {
        const char *type; /* Required. Which of the other fields is used. */
        struct probe_group_kind *group_kind; /* Objects of a kind, in any version. */
        struct label_selector *label; /* Objects with labels, as they are on the cluster. */
};

/* A kind in any version. */
struct probe_group_kind {
        const char *group; /* Required. The API group; empty for the core group. */
        const char *kind; /* Required. The kind. */
};

/* Something that must hold of an object. */
struct probe_assertion {
        const char *type; /* Required. Which of the other fields is used. */
        struct condition_equal_probe *condition_equal; /* A condition has a status. */
        struct fields_equal_probe *fields_equal; /* Two fields are equal. */
        struct field_value_probe *field_value; /* A field has a value. */
};

/* A condition, and the status it must have. */
struct condition_equal_probe {
        const char *type; /* Required. The condition's type. */
        const char *status; /* Required. Its status. */
};

/* Two fields that must be equal. Two that are both missing are not. */
struct fields_equal_probe {
        const char *field_a; /* Required. Path of one field, as in spec.replicas. */
        const char *field_b; /* Required. Path of the other. */
};

/* A field, and the value it must have. */
struct field_value_probe {
        const char *field_path; /* Required. Path of the field, as in status.phase. */
        const char *value; /* Required. Its value; a number or boolean is compared by its JSON text. */
};

/* What became of a set. */
struct cluster_object_set_status {
        struct condition_list conditions; /* Progressing, Available and Succeeded; the latter stays once it is True. */
        struct observed_phase_list observed_phases; /* What the phases held when all of it was first read. A Secret that holds something else later blocks the set. */
};

/* What a phase held. */
struct observed_phase {
        const char *name; /* Required. The phase's name. */
        const char *digest; /* Required. SHA-256 over its objects, as sha256:HEX. */
};

/* A family of kinds. */
struct cluster_object_set {
        struct object object;
        struct cluster_object_set_spec *spec; /* Required. What is rolled out. */
        struct cluster_object_set_status *status; /* What became of it. */
};

/* A frozen override. */
struct override_snapshot_spec {
        struct override_spec *override_spec; /* Required. The override's spec. */
        const char *override_hash; /* Required. SHA-256 of the override's spec, as base64 of its hexadecimal text. Base64 text. */
};

/* A family of kinds. */
struct override_snapshot {
        struct object object;
        struct override_snapshot_spec *spec; /* Required. The override. */
};

/* What is changed, and where. */
struct override_spec {
        struct placement_reference *placement; /* The placement the override is for; all placements if absent. */
        struct resource_selector_list cluster_resource_selectors; /* Required. The cluster-scoped resources to change. */
        struct override_target_list resource_selectors; /* Required. The resources to change. */
        struct override_policy *policy; /* Required. The changes. */
};

/* Picks one resource of the override's namespace. */
struct override_target {
        const char *group; /* Required. API group of the resource; empty for the core group. */
        const char *version; /* Required. API version of the resource. */
        const char *kind; /* Required. Kind of the resource. */
        const char *name; /* Required. Name of the resource. */
};

/* Which placement is meant. */
struct placement_reference {
        const char *name; /* Required. The placement's name. */
        const char *scope; /* Cluster means a ClusterResourcePlacement, Namespaced a ResourcePlacement. Default Cluster. */
};

/* The changes of an override. */
struct override_policy {
        struct override_rule_list rules; /* Required. The rules, in order; a later one wins. */
};

/* A change on some clusters. */
struct override_rule {
        struct cluster_selector *cluster_selector; /* The clusters; none if absent, all if it has no terms. */
        const char *override_type; /* JSONPatch edits the resource; Delete leaves it out on these clusters. Default JSONPatch. */
        struct json_patch_override_list json_patch_overrides; /* The edits, in order. */
};

/* One edit in the manner of JSON Patch. */
struct json_patch_override {
        const char *op; /* Required. What to do at the path. */
        const char *path; /* Required. JSON pointer to the field. */
        struct slice value; /* The new value; may hold variables for the cluster's name and labels. */
};

/* A family of kinds. */
struct resource_override {
        struct object object;
        struct override_spec *spec; /* Required. What is changed, and where. */
};

/* A family of kinds. */
struct cluster_resource_placement_status {
        struct object object;
        struct placement_status *source_status; /* Required. The placement's status. */
        int64_t last_updated_time; /* Required. When the copy was made. Wall ms. */
};

/* What is placed, where, and how it is rolled out. */
struct placement_spec {
        struct resource_selector_list resource_selectors; /* Required. The resources to place: those that at least one selector picks. */
        struct placement_policy *policy; /* Which clusters to place them on; all member clusters if absent. */
        struct rollout_strategy *strategy; /* How a change is rolled out to the clusters. */
        struct opt_int revision_history_limit; /* How many old snapshots of policy and resources are kept. Default 10. */
        const char *status_reporting_scope; /* NamespaceAccessible also publishes the status inside the selected namespace; a ResourcePlacement ignores it. Default ClusterScopeOnly. */
};

/* Picks resources of one kind by name or by labels; neither picks all of the kind. */
struct resource_selector {
        const char *group; /* Required. API group of the resources; empty for the core group. */
        const char *version; /* Required. API version of the resources. */
        const char *kind; /* Required. Kind of the resources. */
        const char *name; /* Name of the one resource to pick. */
        struct label_selector *label_selector; /* Labels of the resources to pick. */
        const char *selection_scope; /* For namespaces only: pick the namespace alone, with all its resources, or with those that other selectors name. Default NamespaceWithResources. */
};

/* Which clusters are picked. */
struct placement_policy {
        const char *placement_type; /* PickAll takes every cluster that matches, PickN the best N, PickFixed those named. Default PickAll. */
        struct string_list cluster_names; /* The clusters of a PickFixed policy. */
        struct opt_int number_of_clusters; /* How many clusters a PickN policy wants. */
        struct affinity *affinity; /* Which clusters are required or preferred. */
        struct topology_spread_constraint_list topology_spread_constraints; /* How a PickN policy spreads its clusters; all constraints count. */
        struct toleration_list tolerations; /* Taints the placement puts up with; in a ClusterResourcePlacement they can be added, not changed or removed. */
};

/* Attraction of a placement to clusters. */
struct affinity {
        struct cluster_affinity *cluster_affinity; /* Attraction by labels and properties. */
};

/* Requirements on and preferences for clusters. */
struct cluster_affinity {
        struct cluster_selector *required; /* Only these clusters are picked; clusters picked before stay. */
        struct preferred_cluster_selector_list preferred; /* Clusters that match these are picked first. */
};

/* A preference and its weight. */
struct preferred_cluster_selector {
        struct opt_int weight; /* Required. Points a matching cluster gets; negative points push away. */
        struct cluster_selector_term *preference; /* Required. The clusters preferred. */
};

/* Spreads the picked clusters over the values of a label. */
struct topology_spread_constraint {
        struct opt_int max_skew; /* How many clusters the fullest value may be ahead of the emptiest. Default 1. */
        const char *topology_key; /* Required. The label whose values are the domains. */
        const char *when_unsatisfiable; /* What to do when the skew cannot be kept: pick no cluster or pick anyway. Default DoNotSchedule. */
};

/* Puts up with matching taints. */
struct toleration {
        const char *key; /* The taint's key; empty with operator Exists tolerates every taint. */
        const char *operator; /* Equal compares the value; Exists takes any value. Default Equal. */
        const char *value; /* The taint's value, for Equal. */
        const char *effect; /* The taint's effect; any if absent. */
};

/* How a change reaches the clusters. */
struct rollout_strategy {
        const char *type; /* RollingUpdate proceeds by itself; External waits for update runs. Default RollingUpdate. */
        struct rolling_update *rolling_update; /* Pace of a RollingUpdate. */
        struct apply_strategy *apply_strategy; /* How the resources are applied. */
        struct delete_strategy *delete_strategy; /* What becomes of placed resources when the placement is deleted. */
        struct report_back_strategy *report_back_strategy; /* Whether the status of placed resources comes back to the hub. */
};

/* Pace of a rolling update. */
struct rolling_update {
        struct int_or_string max_unavailable; /* How many clusters, as a number or percentage, may be without available resources during the rollout. Default 25%. */
        struct int_or_string max_surge; /* How many clusters, as a number or percentage, may be added above the wanted number during the rollout. Default 25%. */
        struct opt_int unavailable_period_seconds; /* How long to wait before resources whose availability cannot be seen count as available. Default 60. */
};

/* What becomes of placed resources when the placement is deleted. */
struct delete_strategy {
        const char *propagation_policy; /* Delete removes them from the clusters; Abandon leaves them there. Default Delete. */
};

/* How far a placement has come. */
struct placement_status {
        struct resource_identifier_list selected_resources; /* The resources in the snapshot named by observedResourceIndex. */
        const char *observed_resource_index; /* Index of the resource snapshot this status speaks about. */
        struct per_cluster_status_list placement_statuses; /* How far each cluster has come. */
        struct condition_list conditions; /* The placement's conditions. */
};

/* How far a placement has come on one cluster. */
struct per_cluster_status {
        const char *cluster_name; /* The cluster; absent for a place that no cluster could be found for. */
        const char *observed_resource_index; /* Index of the resource snapshot the cluster is on or moving to. */
        struct namespaced_name_list applicable_resource_overrides; /* The ResourceOverrideSnapshots that apply to the cluster. */
        struct string_list applicable_cluster_resource_overrides; /* The ClusterResourceOverrideSnapshots that apply to the cluster. */
        struct failed_placement_list failed_placements; /* Resources that failed; cut after 100. */
        struct drifted_placement_list drifted_placements; /* Resources that drifted; cut after 100. */
        struct diffed_placement_list diffed_placements; /* Resources that differ; cut after 100. */
        struct condition_list conditions; /* The cluster's conditions. */
};

/* A family of kinds. */
struct placement {
        struct object object;
        struct placement_spec *spec; /* Required. What is placed, where, and how it is rolled out. */
        struct placement_status *status; /* How far the placement has come. */
};

/* A frozen scheduling policy. */
struct policy_snapshot_spec {
        struct placement_policy *policy; /* The policy; absent means all clusters. */
        const char *policy_hash; /* Required. SHA-256 of the policy without numberOfClusters, as base64 of its hexadecimal text. Base64 text. */
};

/* The scheduler's decisions on a policy. */
struct policy_snapshot_status {
        struct opt_int observed_crp_generation; /* Required. Generation of the placement the scheduler acted on. */
        struct condition_list conditions; /* The snapshot's conditions. */
        struct cluster_decision_list target_clusters; /* Clusters picked, and some of those not picked with the reason. */
};

/* A family of kinds. */
struct policy_snapshot {
        struct object object;
        struct policy_snapshot_spec *spec; /* Required. The policy. */
        struct policy_snapshot_status *status; /* The scheduler's decisions. */
};

/* What is made, and from what. */
struct resource_set_spec {
        struct resource_set_common_metadata *common_metadata; /* Labels and annotations of every object. */
        struct resource_set_input_strategy *input_strategy; /* How the sets of several providers come together; Flatten if absent. */
        struct raw_list inputs; /* Sets of inputs, each an object with freely chosen keys. The templates are rendered once for each. */
        struct input_provider_reference_list inputs_from; /* ResourceSetInputProviders of the same namespace, whose sets are used, too. */
        struct raw_list resources; /* Objects, whose YAML text is a template. */
        const char *resources_template; /* A template of YAML documents, each an object. */
        struct resource_set_step_list steps; /* Groups of objects: one begins when those before it are ready. In place of resources and resourcesTemplate. */
        struct resource_set_dependency_list depends_on; /* Objects that have to be there, or ready, before anything is applied. */
        const char *service_account_name; /* The service account of this namespace whose rights the objects are applied with. */
        struct opt_bool wait; /* Whether the set is Ready only once all its objects are. */
};

/* Labels and annotations of every object; they win over those of the templates. */
struct resource_set_common_metadata {
        struct string_map labels; /* The labels. */
        struct string_map annotations; /* The annotations. */
};

/* How the sets of several providers come together. */
struct resource_set_input_strategy {
        const char *name; /* Required. Flatten: one after the other. Permute: every combination of one set of each provider. */
        struct opt_bool include_empty_providers; /* Whether a provider without sets counts, so that there are no combinations at all; otherwise it is passed over. */
};

/* ResourceSetInputProviders, by name or by labels. */
struct input_provider_reference {
        const char *api_version; /* The providers' API version. */
        const char *kind; /* The providers' kind. */
        const char *name; /* The provider's name. */
        struct label_selector *selector; /* Labels that the providers have. */
};

/* Objects that are applied together. */
struct resource_set_step {
        const char *name; /* Required. The step's name. */
        struct raw_list resources; /* Objects, whose YAML text is a template. */
        const char *resources_template; /* A template of YAML documents, each an object. */
        const char *timeout; /* How long the step's objects may take to become ready, as in 2m30s. */
};

/* An object that has to be there, or ready, before anything is applied. */
struct resource_set_dependency {
        const char *api_version; /* Required. The object's API version. */
        const char *kind; /* Required. The object's kind. */
        const char *name; /* Required. The object's name. */
        const char *ns; /* The object's namespace; that of the set, if the kind has namespaces and none is given. */
        struct opt_bool ready; /* Whether it has to be ready, and not only there. */
        const char *ready_expr; /* A CEL expression over the object's fields that says whether it is ready; needs ready. */
};

/* What became of a set. */
struct resource_set_status {
        struct condition_list conditions; /* Ready; Reconciling while the set is worked on or retried; Stalled when only a change of it helps. */
        struct resource_set_inventory *inventory; /* The objects that the set made. */
        const char *last_applied_revision; /* SHA-256 over the objects that were applied last, as sha256:HEX. */
        struct string_list external_checksum_refs; /* ConfigMaps and Secrets whose checksums are in the objects, as KIND/NAMESPACE/NAME. */
        const char *last_handled_reconcile_at; /* The annotation reconcile.fluxcd.io/requestedAt that was acted on last. */
        struct resource_set_snapshot_list history; /* What came of the last runs, newest first; at most five. */
};

/* The objects that a set made. */
struct resource_set_inventory {
        struct resource_set_inventory_entry_list entries; /* Required. The objects. */
};

/* One object that a set made. */
struct resource_set_inventory_entry {
        const char *id; /* Required. NAMESPACE_NAME_GROUP_KIND. */
        const char *v; /* Required. The version of its API. */
};

/* Runs that applied the same objects with the same result. */
struct resource_set_snapshot {
        const char *digest; /* Required. SHA-256 over the objects, or over the spec when none could be built, as sha256:HEX. */
        int64_t first_reconciled; /* Required. When the first of the runs ended. Wall ms. */
        int64_t last_reconciled; /* Required. When the last of the runs ended. Wall ms. */
        const char *last_reconciled_duration; /* Required. How long the last of the runs took, as in 2.818583s. */
        const char *last_reconciled_status; /* Required. What came of the runs: the reason of Ready. */
        struct opt_int total_reconciliations; /* Required. How many runs it were. */
        struct string_map metadata; /* How many sets of inputs and objects there were. */
};

/* A family of kinds. */
struct resource_set {
        struct object object;
        struct resource_set_spec *spec; /* What is made, and from what. */
        struct resource_set_status *status; /* What became of it. */
};

/* Frozen resources. */
struct resource_snapshot_spec {
        struct raw_list selected_resources; /* Required. The resources, as whole objects. Not in projections. */
};

/* State of a resource snapshot. */
struct resource_snapshot_status {
        struct condition_list conditions; /* The snapshot's conditions. */
};

/* A family of kinds. */
struct resource_snapshot {
        struct object object;
        struct resource_snapshot_spec *spec; /* Required. The resources. */
        struct resource_snapshot_status *status; /* State of the snapshot. */
};

/* What an update run rolls out, and how. */
struct update_run_spec {
        const char *placement_name; /* Required. The placement to roll out. */
        const char *resource_snapshot_index; /* Index of the revision to roll out; the latest if absent or empty. */
        const char *staged_rollout_strategy_name; /* Required. The strategy with the stages. */
        const char *state; /* Initialize only prepares, Run proceeds, Stop pauses. Default Run. */
        const char *retry_of; /* A run of the same placement that ended: its clusters that failed, were skipped or were not reached are updated, to the same revision and by the same stages. */
};

/* How far an update run has come. */
struct update_run_status {
        const char *policy_snapshot_index_used; /* Index of the policy snapshot whose clusters are updated. */
        struct opt_int policy_observed_cluster_count; /* How many clusters the policy had picked when the run began. */
        const char *resource_snapshot_index_used; /* Index of the revision being rolled out. */
        struct apply_strategy *applied_strategy; /* How the resources are applied in this run. */
        struct strategy_spec *strategy_snapshot; /* The strategy as it was when the run began. */
        struct stage_status_list stages_status; /* How far each stage has come. */
        struct stage_status *deletion_stage_status; /* How far the last stage has come, which removes resources from clusters no longer picked. */
        struct left_out_cluster_list left_out_clusters; /* Clusters of the placement that this run does not update; only with onClusterChange Continue. */
        struct condition_list conditions; /* The run's conditions. */
};

/* A cluster of the placement that the run does not update. */
struct left_out_cluster {
        const char *cluster_name; /* Required. The cluster. */
        const char *reason; /* Required. InNoStage: no stage selects it; Joined: it was picked after the run began. */
};

/* How far a stage has come. */
struct stage_status {
        const char *stage_name; /* Required. The stage. */
        struct cluster_updating_status_list clusters; /* Required. The stage's clusters, in the order they are updated. */
        struct stage_task_status_list after_stage_task_status; /* State of the tasks after the stage. */
        struct stage_task_status_list before_stage_task_status; /* State of the tasks before the stage. */
        int64_t start_time; /* When the first cluster of the stage was updated. Wall ms. */
        int64_t end_time; /* When the stage ended. Wall ms. */
        struct condition_list conditions; /* The stage's conditions. */
};

/* How far one cluster of a stage has come. */
struct cluster_updating_status {
        const char *cluster_name; /* Required. The cluster. */
        struct namespaced_name_list resource_override_snapshots; /* The ResourceOverrideSnapshots used on the cluster. */
        struct string_list cluster_resource_override_snapshots; /* The ClusterResourceOverrideSnapshots used on the cluster. */
        struct condition_list conditions; /* The cluster's conditions: Started, Succeeded, and Skipped if it left. */
};

/* State of a task. */
struct stage_task_status {
        const char *type; /* Required. TimedWait or Approval. */
        const char *approval_request_name; /* The approval request of an Approval task. */
        struct condition_list conditions; /* The task's conditions. */
};

/* A family of kinds. */
struct update_run {
        struct object object;
        struct update_run_spec *spec; /* Required. What is rolled out, and how. */
        struct update_run_status *status; /* How far the run has come. */
};

/* The stages of an update. */
struct strategy_spec {
        struct stage_config_list stages; /* Required. The stages, in order. */
        const char *on_cluster_change; /* What becomes of a run when the clusters of its placement are not those of its stages any more. Fail (if absent): it ends. Continue: it keeps the clusters it began with, skips those that left, and lists those it leaves out. */
};

/* One stage of an update. */
struct stage_config {
        const char *name; /* Required. The stage's name, unique in the strategy. */
        struct label_selector *label_selector; /* The clusters of the stage, among those scheduled; none if absent, all if empty. */
        const char *sorting_label_key; /* A label with integer values that orders the clusters; equal ones go by name. */
        struct int_or_string max_concurrency; /* How many clusters, as a number or percentage, are updated at the same time. Default 1. */
        struct int_or_string max_failed_clusters; /* How many clusters of the stage, as a number or percentage rounded down, may fail; one more ends the run. If absent, a cluster that does not become available is waited for without end. */
        const char *cluster_timeout; /* How long a cluster may take, such as 10m; 5m if absent. After that the run says that it is stuck, or, with maxFailedClusters, the cluster has failed. */
        struct stage_task_list after_stage_tasks; /* What must be done before the next stage begins. */
        struct stage_task_list before_stage_tasks; /* What must be done before the stage begins. */
};

/* A task between stages. */
struct stage_task {
        const char *type; /* Required. TimedWait waits for a time, Approval for a person. */
        const char *wait_time; /* How long a TimedWait waits, such as 1h30m. */
        struct opt_bool plan; /* Approval only: the request shows what will change on which cluster once it is approved, and is approved for exactly that. */
};

/* A family of kinds. */
struct update_strategy {
        struct object object;
        struct strategy_spec *spec; /* Required. The stages. */
};

/* What to apply on a member cluster. */
struct work_spec {
        struct workload *workload; /* The manifests. */
        struct apply_strategy *apply_strategy; /* How they are applied. */
        struct report_back_strategy *report_back_strategy; /* Whether their status comes back to the hub. */
};

/* A list of manifests. */
struct workload {
        struct raw_list manifests; /* The manifests, as whole objects, in the order they are counted by ordinals. Not in projections. */
};

/* What became of a Work's manifests. */
struct work_status {
        struct condition_list conditions; /* Required. Conditions of the Work as a whole. */
        struct manifest_condition_list manifest_conditions; /* What became of each manifest. Projections keep those with a condition that is not True, a drift or a difference. */
};

/* What became of one manifest. */
struct manifest_condition {
        struct work_resource_identifier *identifier; /* Required. The manifest and the object. */
        struct condition_list conditions; /* Required. The manifest's conditions. */
        struct drift_details *drift_details; /* How the object drifted, if it did. */
        struct diff_details *diff_details; /* How the object differs, if it does. */
        struct back_reported_status *back_reported_status; /* The object's status, where it is to come back to the hub. Not in projections. */
};

/* A drift of an object on the member cluster. */
struct drift_details {
        int64_t observation_time; /* Required. When the drift was last seen. Wall ms. */
        int64_t first_drifted_observed_time; /* Required. When the drift was first seen. Wall ms. */
        struct opt_int observed_in_member_cluster_generation; /* Required. Generation of the object when the drift was seen. */
        struct patch_detail_list observed_drifts; /* The fields that drifted. */
};

/* A difference between the manifest and an object on the member cluster. */
struct diff_details {
        int64_t observation_time; /* Required. When the difference was last seen. Wall ms. */
        int64_t first_diffed_observed_time; /* Required. When the difference was first seen. Wall ms. */
        struct opt_int observed_in_member_cluster_generation; /* Generation of the object; absent if there is no such object. */
        struct patch_detail_list observed_diffs; /* The fields that differ. */
};

/* The status of an object on the member cluster. */
struct back_reported_status {
        int64_t observation_time; /* Required. When the status was read. Wall ms. */
        struct slice observed_status; /* An object with exactly apiVersion, kind and status. */
};

/* A family of kinds. */
struct work {
        struct object object;
        struct work_spec *spec; /* What to apply. */
        struct work_status *status; /* What became of it. */
};
