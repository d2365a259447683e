/* All views and actions; each stands in a file of its own. */
#include "kubectl-fleet/page/view.h"

const struct page_view *const page_views[] = {
        NULL,
};

const struct page_action *const page_actions[] = {
        NULL,
};
