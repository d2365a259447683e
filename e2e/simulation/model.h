/* The reference model: from what users asked (wish.h) alone, what must be where and what every status must
 * say when all is quiet. Compared with the fleet over the API, as a user would look. */
#pragma once

#include "e2e/scenarios/fleet.h"
#include "e2e/simulation/sim_git.h"
#include "e2e/simulation/wish.h"

enum model_choice { CHOICE_NEVER, CHOICE_MAY, CHOICE_MUST };

/* Whether a placement has to be on a cluster. Decisions stick: a cluster that fitted at some time since the
 * policy is what it is may have been chosen and stays so. `slack_ms`: how late the hub may hear of anything.
 */
enum model_choice model_choice(const struct wish *w, unsigned app, enum wish_place place, unsigned member,
                               int64_t slack_ms);
/* How many clusters it is on, at least and at most, given who fits now and who is chosen. */
void model_count(const struct wish *w, unsigned app, enum wish_place place, uint32_t chosen,
                 unsigned *ret_least, unsigned *ret_most);
/* What the slot is on a member after overrides; NULL with *ret_absent if an override leaves it out. */
json_t *model_rendered(const struct wish *w, unsigned app, enum wish_place place, unsigned slot,
                       unsigned member, bool *ret_absent);

/* Reads hub and members, 0 if they are as the model says, else ERR_INVALID with the first difference: object,
 * cluster, what is and what should be. `git`: NULL where no repository is played. */
int model_compare(struct fleet *f, const struct wish *w, struct sim_git *git, struct error *err);
