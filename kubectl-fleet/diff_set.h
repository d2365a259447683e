/* kubectl fleet diff of ResourceSets. */
#pragma once

#include "kubectl-fleet/session.h"

bool diff_is_of_set(const struct session *s);
int diff_set_check(const struct session *s, struct error *err);
int diff_set_run(struct session *s, struct error *err);
