/* How long tests on the real clock wait. A busy machine may keep a process from running for many seconds, so
 * no verdict may hang on how fast it is. For tests. */
#pragma once

#include <stdint.h>

/* For what has to come: only what hangs meets it. */
#define HANG_MS INT64_C(600000)

/* For what has to come soon, and would come later by itself: how often it is looked for, a millisecond apart.
 * Looks are counted and not time, since a process that is not let run does not look either. */
#define SOON_LOOKS 20000
