/* Requests about many objects, a few at a time. */
#pragma once

#include "kubectl-fleet/session.h"

/* fn for 0 .. n-1, each in a fiber of its own; the first error in that order is told. */
int side_by_side(struct session *s, size_t n, int (*fn)(void *ctx, size_t i, struct error *err), void *ctx,
                 struct error *err);
