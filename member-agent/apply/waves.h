/* The order in which the kinds of one Work are applied: spec/member-agent.md 2.5. */
#pragma once

#define WAVE_LAST 999

/* The wave of a resource by group ("" = core) and plural name. Lower waves go first; all of one wave in
 * parallel. */
int wave_of(const char *group, const char *plural);
