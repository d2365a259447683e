/* Names by pattern: * (none or more), ? (one), [a-z] and [^a-z] or [!a-z], and \ before what stands for
 * itself. Pure. */
#pragma once

#include "common/base/text.h"

/* Whether the whole name is so. A slash is nothing special: patterns of paths are cut before. What is no
 * pattern (a bracket without end, a backslash at the end) matches nothing. */
bool glob_matches(struct slice pattern, struct slice name);
