/* Watches at every write of a Work what must hold at any time: no placement has two Works on one member, and
 * the rollout budget: of what was available, a rollout may make no more than maxUnavailable unavailable at a
 * time. Placements app-0 ... app-3 with the default strategy (25 %). */
#pragma once

#include "e2e/scenarios/fleet.h"

#define BUDGET_APPS 4

struct budget;

/* A fiber of `group` looks each time budget_look() was called. NULL on no memory. */
struct budget *budget_new(struct fleet *f, struct fiber_group *group);
struct budget *budget_free(struct budget *b); /* after its group has ended */
void budget_look(void *budget);               /* sim_fleet_options.work_written */
/* The user asked for so many clusters. */
void budget_wants(struct budget *b, unsigned app, unsigned clusters);
/* ERR_INTERNAL with what was seen, once the budget was exceeded; NULL is fine. */
int budget_verdict(const struct budget *b, struct error *err);
uint64_t budget_looks(const struct budget *b);
