/* All views and actions; each stands in a file of its own. */
#include "kubectl-fleet/page/view.h"

extern const struct page_view cluster_page_view;
extern const struct page_view fleet_page_view;
extern const struct page_view object_page_view;
extern const struct page_view placement_page_view;
extern const struct page_view run_page_view;

const struct page_view *const page_views[] = {
        &fleet_page_view,
        &cluster_page_view,
        &placement_page_view,
        &object_page_view,
        &run_page_view,
        NULL,
};

const struct page_action *const page_actions[] = {
        NULL,
};
