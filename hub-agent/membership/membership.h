/* Member clusters: what joining needs on the hub, and the member's status from its agents' reports. Pure.
 * spec/membership-webhooks-charts.md 2. */
#pragma once

#include "hub-agent/common.h"

struct hub_agent;
/* Somebody changed or removed something of a member's namespace: the steps of joining are due again. `ns` is
 * any namespace; those of no member are passed over. */
void membership_check_again(struct hub_agent *a, const char *ns);

/* Objects in the member's namespace, as documents: new references, NULL on no memory. */
json_t *member_namespace_doc(const struct member_cluster *c);
json_t *member_role_doc(const struct member_cluster *c, bool networking_agents);
json_t *member_role_binding_doc(const struct member_cluster *c);
/* Whether a Role or RoleBinding that is there has another `part` (rules, subjects) or is not owned by its
 * member. Rules are compared in order: one that was wide in an older version is narrowed. */
bool member_object_differs(const json_t *now, const json_t *wanted, const char *part);
/* Gives `now` the wanted part and owner; owners that do not control it stay. ERR_NO_MEMORY. */
int member_object_mend(json_t *now, const json_t *wanted, const char *part);
bool member_role_ref_differs(const json_t *now, const json_t *wanted); /* immutable: delete and make anew */
bool member_owns(const struct member_cluster *c, const struct object *o);

struct internal_member_cluster *member_report_object(struct arena *arena, const struct member_cluster *c,
                                                     const char *state);

enum joined { JOINED_UNCHANGED, JOINED_NOW, LEFT_NOW, JOINED_UNKNOWN_NOW };
/* The member with the status that follows from its report (spec 2.4). `report` NULL: nothing is copied.
 * `ready`: set ReadyToJoin=True. A heartbeat alone is copied when the one shown is older than
 * heartbeat_every_ms, so that fast heartbeats do not double as writes. NULL on no memory. */
struct member_status_input {
        const struct member_cluster *member;
        const struct internal_member_cluster *report;
        bool ready;
        bool networking_agents; /* beside the member agent two more have to join (spec 2.1) */
        const char *refusal;    /* why it cannot join: ReadyToJoin=False; NULL = nothing is wrong */
        int64_t heartbeat_every_ms, now_ms;
        int64_t silence_ms; /* with an older heartbeat an agent's Healthy is Unknown; 0 = whatever its age */
        bool *cut; /* set if the report was longer than the limits of a member (limits.h); may be NULL */
};
struct member_cluster *member_with_status(struct arena *arena, const struct member_status_input *in,
                                          enum joined *ret);
/* An agent's Healthy says that nothing is heard of it any more; NULL: it says nothing. */
bool condition_tells_silence(const struct condition *healthy);
bool member_is_silent(const struct member_cluster *c); /* the status says so of one of its agents */
/* Milliseconds until the first agent has been silent for so long; -1 if none will. */
int64_t member_silent_in_ms(const struct member_cluster *c, int64_t silence_ms, int64_t now_ms);
int64_t member_period_ms(const struct member_cluster *c); /* of its heartbeats */
/* Heartbeats come with a play of a twentieth; those that are further apart leave the member out of reach of
 * the scheduler, which looks for one within five minutes (spec/scheduler.md 11.2), in between. */
#define MEMBER_PERIOD_MOST_S 285
/* Puts into *ret what is wrong with the member's period, NULL if nothing is. 0 or ERR_NO_MEMORY. */
int member_period_fault(struct arena *arena, const struct member_cluster *c, const char **ret);
/* How old a heartbeat may be until the member is taken for lost: two are missed, and the operator's patience
 * (--cluster-unhealthy-threshold; 0 = its default) is over. */
int64_t member_silence_ms(const struct member_cluster *c, int64_t grace_ms);
/* No agent of it ever said a word, here or in its report: there is nobody to wait for when it leaves. */
bool nobody_came(const struct member_cluster *c, const struct internal_member_cluster *report);
bool member_has_left(const struct member_cluster *c); /* Joined=False for this generation */
