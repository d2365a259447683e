/* What would change in a file, for people. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/text.h"

/* Appends "--- path", "+++ path" and the lines that differ, in hunks without lines around: what stands beside
 * a change is nobody's business, and may be a secret. A file that comes or goes has data NULL on that side.
 * Nothing where both are equal. ERR_NO_MEMORY, ERR_LIMIT (the buffer is full). */
int text_diff(struct arena *arena, const char *path, struct slice before, struct slice after, struct buf *b);
