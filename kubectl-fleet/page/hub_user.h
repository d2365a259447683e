/* Users of the hub: whose token it is and what they may do, as the hub's API server says. */
#pragma once

#include "kubectl-fleet/page/user.h"

/* Parks. Asks once, whoever tries; errors as user_of_token()'s. */
int hub_user_new(struct page_gate *g, const char *token, struct page_visitor **ret, struct error *err);
void hub_user_free(struct page_visitor *v); /* what hub_user_new() gave it beside what all have */
/* user_may_list() of such a user. */
int hub_user_may_list(struct page_visitor *v, const struct kind *kind, const char *ns, int64_t *ret_until_ms,
                      struct error *err);
