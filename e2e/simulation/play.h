/* A seeded run: users and accidents for some virtual minutes, then quiet, then the invariants of the
 * architecture document must come to hold within a bounded virtual time. */
#pragma once

#include "e2e/scenarios/fleet.h"
#include "e2e/simulation/budget.h"
#include "e2e/simulation/faults.h"

/* namespaces app-0 ... app-3, each with its own placement of the same name */
#define PLAY_APPS BUDGET_APPS
#define PLAY_MEMBERS 60
#define PLAY_AGENTS (PLAY_MEMBERS + 4)

struct play_app {
        bool exists, placed;
        bool leaving;   /* the deleted placement may still be there: a new one of its name waits */
        unsigned color; /* what its ConfigMap says now */
        int clusters;   /* 0 = PickAll, n = PickN */
};

struct play {
        struct fleet *fleet;
        struct faults *faults;
        struct dice dice;
        struct play_app apps[PLAY_APPS];
        /* [0] = hub-agent, [i] = member-i, then further hub-agents */
        bool agent_down[PLAY_AGENTS], link_down[PLAY_AGENTS], disk_full[PLAY_AGENTS];
        unsigned actions;
        struct budget *budget;               /* told what is wanted; may be NULL */
        char *sentinel_version[PLAY_AGENTS]; /* resourceVersion of what is not ours on each member */
};

/* Plays for `ms` of virtual time. Errors of the play itself only; what users are refused is part of the game.
 */
int play_run(struct play *p, int64_t ms, struct error *err);
/* Ends all accidents and waits until everything is as it should be; the error says what is not. */
int play_settle(struct play *p, int64_t within_ms, struct error *err);
int play_prepare(struct play *p, struct error *err); /* sentinels */
void play_clear(struct play *p);
