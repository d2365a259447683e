/* What a scheduling cycle reports in the policy snapshot's status. spec/scheduler.md 14. */
#pragma once

#include "hub-agent/scheduler/framework.h"

#define DECISIONS_MAX 1000
#define UNSELECTED_MAX 20

struct report_input {
        struct cycle *c;
        struct schedule_plan *plan;
        int64_t wanted;
        struct binding_refs kept[2];         /* existing bindings that stay, in this order */
        struct candidate *const *not_picked; /* in rank order */
        size_t n_not_picked;
        bool keep_unselected; /* nothing was evaluated: earlier words about unselected clusters stay */
};
int report_picks(const struct report_input *r);
/* In place of the condition that was made for picks: Scheduled=False. */
void report_unfulfilled(struct cycle *c, const char *reason, const char *message, struct schedule_plan *plan);

struct fixed_report {
        const char *name, *reason;
        bool found, valid, repeated;
};
int report_fixed(struct cycle *c, const struct fixed_report *lines, size_t n, struct schedule_plan *plan);
