/* The live page in the fleet: the page without its HTTP side as one agent more, whose requests meet the same
 * faults as everybody's, and browsers that look at it, leave and come again, read slowly or not at all, and
 * do what users of the page do to runs. */
#pragma once

#include "e2e/scenarios/fleet.h"
#include "e2e/simulation/watch.h"

struct sim_page;
struct sim_page_options {
        struct fleet *fleet; /* of sim_fleet_open() */
        struct wish *wish;   /* notes what the page did to runs */
        struct coverage *coverage;
        const struct log *log;
        uint64_t seed;
};

bool sim_page_is_played(uint64_t seed);
void sim_page_expect(struct coverage *c); /* that all is played is expected of COVERAGE_SEEDS seeds */
/* From a fiber. *ret may be set also after an error. */
int sim_page_open(const struct sim_page_options *o, struct sim_page **ret, struct error *err);
/* All below take NULL, too: nothing is played. */
struct sim_page *sim_page_close(struct sim_page *p); /* from a fiber, before the fleet is; returns NULL */
int sim_page_begin(struct sim_page *p, struct error *err); /* the fleet is set up: users come */
int sim_page_calm(struct sim_page *p, struct error *err);  /* from now on they only look */
/* Told of each change of the stores. */
void sim_page_changed(struct sim_page *p, const struct change *c);
/* What the page must never do, and did. */
int sim_page_verdict(const struct sim_page *p, struct error *err);
/* When all is quiet: all that is open shows what a page that has just begun would, what it says of the fleet
 * is what the hub's objects say, and every call has its answer. Parks. */
int sim_page_compare(struct sim_page *p, struct error *err);
/* At last: all leave, and what was read for them is let go. Parks for half a minute. */
int sim_page_leave(struct sim_page *p, struct error *err);
