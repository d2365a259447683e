/* The status of a placement, from its policy snapshot and its bindings. Pure. spec/placement.md 10. */
#pragma once

#include "hub-agent/common.h"

/* Per-cluster condition types, in the order they are walked. */
enum progress {
        ROLLOUT_STARTED,
        OVERRIDDEN,
        WORK_SYNCHRONIZED,
        APPLIED,
        AVAILABLE,
        DIFF_REPORTED,
        N_PROGRESS
};
extern const char *const progress_names[N_PROGRESS];
/* Which of them a placement goes through: spec 10.2. */
size_t expected_progress(const struct placement *p, enum progress ret[N_PROGRESS]);

bool is_external(const struct placement *p); /* others roll it out: spec 10.6 */

struct status_input {
        const struct placement *placement;
        const struct policy_snapshot *policy;   /* the latest */
        struct object_list bindings;            /* of the placement */
        struct object_list snapshots;           /* its resource snapshots */
        const struct resource_snapshot *latest; /* head; NULL with strategy External */
        struct resource_identifier_list selected;
        /* Scheduled=False with these, whatever the scheduler says; NULL: what is selected is what is placed.
         */
        const char *unread_reason, *unread_message;
        /* External: what the group all clusters are on holds; asked for by index, may return an empty list.
         */
        int (*identifiers_of_group)(void *ctx, const char *index, struct resource_identifier_list *ret,
                                    struct error *err);
        void *ctx;
        int64_t now_ms;
};

struct status_event {
        const char *reason, *message;
};
struct status_plan {
        struct placement *wanted; /* copy of the placement with the new status */
        bool changed;             /* differs from what the placement says */
        bool complete;            /* rollout completed (spec 7 step 11) */
        bool settled;             /* complete, or stopped at something that stays False until somebody acts */
        struct status_event events[N_PROGRESS + 1];
        size_t n_events;
};
/* ERR_INVALID: more clusters selected than requested. */
int plan_placement_status(struct arena *arena, const struct status_input *in, struct status_plan *ret,
                          struct error *err);

/* Scheduled=False with this reason; nothing else of the status changes. NULL on no memory. */
struct placement *status_unschedulable(struct arena *arena, const struct placement *p, const char *reason,
                                       const char *message, int64_t now_ms);
