/* The services that providers of inputs ask: they say what the wish has them say, or fail as it tells. */
#pragma once

#include "e2e/scenarios/fleet.h"
#include "e2e/simulation/wish.h"

/* For as long as the fleet lives; the desk is borrowed. */
int sim_sources_open(struct fleet *f, const struct wish_desk *desk, struct error *err);
