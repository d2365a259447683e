/* What the agent says about itself in the InternalMemberCluster: spec/member-agent.md 3. Pure. */
#pragma once

#include "member-agent/properties/provider.h"

#define AGENT_TYPE "MemberAgent"

enum agent_state { AGENT_JOINED, AGENT_FAILED_TO_JOIN, AGENT_LEFT, AGENT_FAILED_TO_LEAVE };

struct membership_report {
        enum agent_state state;
        const char *problem; /* of a failed join or leave */
        bool beat;           /* a heartbeat is due; what is sent with it alone: time and properties */
        /* Only looked at when joining: */
        bool healthy;
        const char *health_problem;
        const struct property_collection *told;
        const char *const *taken_back; /* types of conditions that nobody writes any more, ended by NULL */
        int64_t now_ms;
};

/* The status wanted after this report: entries of other agents and everything not reported stay as they are.
 */
int membership_status(const struct internal_member_cluster *now, const struct membership_report *r,
                      struct arena *arena, struct internal_member_cluster_status **ret, struct error *err);
/* Which events the change calls for: whether the condition is new, or changed its status (or, for Joined,
 * generation). */
bool membership_event_due(const struct internal_member_cluster_status *before,
                          const struct internal_member_cluster_status *after, const char *which,
                          bool generation_too);
const struct condition *membership_condition(const struct internal_member_cluster_status *s,
                                             const char *type);
const char *membership_event_text(const char *reason); /* "internal member cluster joined" */
/* Whether the report is still to be made to this generation of the hub's object: then it does not wait for
 * the next heartbeat. */
bool membership_report_due(const struct internal_member_cluster *now);
/* Heartbeat period with 5 % of play either side (spec 3.1), and no more than half a second: who looks at a
 * heartbeat counts on its period. `random` is any number. */
int64_t membership_next_ms(int64_t period_seconds, uint64_t random);

/* The hub grants a new member's rights while its agent starts: for so long they are asked for at short steps.
 */
#define MEMBERSHIP_RIGHTS_COME_MS (2 * 60 * 1000)
