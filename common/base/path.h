/* Paths with slashes, as texts. Pure. */
#pragma once

#include "common/base/buf.h"
#include "common/base/text.h"

/* Appends to an empty buffer the shortest path that means the same: without "." and empty elements, and with
 * ".." only at the beginning; "." for none. */
void path_clean(struct slice path, struct buf *out);
