/* The repositories of charts that users publish in: they say what the wish has them say, or fail as it tells.
 */
#pragma once

#include "e2e/scenarios/fleet.h"
#include "e2e/simulation/wish.h"

/* For as long as the fleet lives; the shelf is borrowed. */
int sim_charts_open(struct fleet *f, const struct wish_shelf *shelf, struct error *err);
