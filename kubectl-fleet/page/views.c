/* All views and actions; each stands in a file of its own. */
#include "kubectl-fleet/page/view.h"
#include "proto/gen/kinds.h"

extern const struct page_view cluster_page_view;
extern const struct page_view fleet_page_view;
extern const struct page_view object_page_view;
extern const struct page_view overrides_page_view;
extern const struct page_view placement_page_view;
extern const struct page_view run_page_view;
extern const struct page_view scheduling_page_view;
extern const struct page_view timeline_page_view;

extern const struct page_action approve_page_action;
extern const struct page_action resume_page_action;
extern const struct page_action retry_page_action;
extern const struct page_action stop_page_action;

const struct page_view *const page_views[] = {
        &fleet_page_view,      &cluster_page_view,   &placement_page_view,
        &object_page_view,     &overrides_page_view, &run_page_view,
        &scheduling_page_view, &timeline_page_view,  NULL,
};

const struct page_action *const page_actions[] = {
        &approve_page_action, &stop_page_action, &resume_page_action, &retry_page_action, NULL,
};

const struct kind *const page_kinds[] = {
        &member_cluster_kind,
        &cluster_resource_placement_kind,
        &resource_placement_kind,
        &cluster_resource_binding_kind,
        &resource_binding_kind,
        &cluster_resource_snapshot_kind,
        &resource_snapshot_kind,
        &cluster_scheduling_policy_snapshot_kind,
        &scheduling_policy_snapshot_kind,
        &cluster_staged_update_run_kind,
        &staged_update_run_kind,
        &cluster_approval_request_kind,
        &approval_request_kind,
        &cluster_resource_override_snapshot_kind,
        &resource_override_snapshot_kind,
        &work_kind,
        NULL,
};
