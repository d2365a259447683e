/* The order in which the kinds of one Work are applied: spec/member-agent.md 2.5. */
#pragma once

#include "member-agent/apply/strategy.h"

#define WAVE_LAST 999

/* The wave of a resource by group ("" = core) and plural name. Lower waves go first; all of one wave in
 * parallel. */
int wave_of(const char *group, const char *plural);
/* Of a Work that is treated so: what only reports differences has one wave. */
static inline int wave_under(const struct strategy *s, const char *group, const char *plural)
{
        return s->type == STRATEGY_REPORT_DIFF ? 0 : wave_of(group, plural);
}
