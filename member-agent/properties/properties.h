/* All providers of properties together: starts those that are wanted, asks them, and says how that went:
 * spec/member-agent.md 3.3. */
#pragma once

#include "common/ctrl/metrics.h"
#include "member-agent/properties/provider.h"

#define PROPERTY_PATIENCE_MS 10000 /* for the start of a provider, and for a collection */

struct property_set;
struct property_set *property_set_new(struct kube_client *kube, struct fiber_group *group,
                                      const struct property_settings *settings, struct metrics *metrics,
                                      struct error *err);
struct property_set *property_set_free(struct property_set *s);
/* Fills the collection, of which arena, now_ms and version are set. ERR_NO_MEMORY. */
int property_set_collect(struct property_set *s, const struct log *log, struct property_collection *c,
                         struct error *err);
/* Types of conditions that nobody writes with these settings: an array in the arena, ended by NULL. NULL on
 * no memory. */
const char **property_conditions_taken_back(const struct property_settings *settings, struct arena *arena);

/* How a provider with conditions of its own gets on. Pure. Zeroed at first, but for begun_ms. */
struct provider_course {
        int64_t begun_ms; /* loop */
        int64_t silent_since_ms;
        enum { COURSE_STARTING, COURSE_STARTED, COURSE_FAILED, COURSE_TIMED_OUT } start;
        bool collected; /* else the last collection timed out */
};
/* Whether its collection is to be asked for; if not, *ret_hold: what was told of all stays as it is. */
bool provider_course_step(struct provider_course *c, enum property_state state, int64_t now_ms,
                          bool *ret_hold);
