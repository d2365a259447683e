/* The taint that keeps placements from being put on a cluster while it is drained. */
#pragma once

#include "kubectl-fleet/session.h"

int cordon(struct session *s, const char *cluster, struct error *err);   /* adds the taint once */
int uncordon(struct session *s, const char *cluster, struct error *err); /* leaves all other taints */
