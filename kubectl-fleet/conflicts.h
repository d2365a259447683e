/* Writes that others may overtake. */
#pragma once

#include "common/loop/loop.h"

/* Runs `once`, which reads anew each time, until it does not end in a conflict: at most five times, 10 ms
 * apart. Parks. */
int retry_conflicts(struct loop *loop, int (*once)(void *ctx, struct error *err), void *ctx,
                    struct error *err);
