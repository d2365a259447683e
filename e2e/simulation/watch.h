/* Looks over the fleet's shoulder: every change of every cluster's store, once it is committed, is shown
 * to all rules. A rule says what must hold at each step (`changed`) and when all is quiet (`at_rest`); the
 * first one that is broken ends the run. */
#pragma once

#include "common/json/doc.h"
#include "e2e/scenarios/fleet.h"
#include "e2e/simulation/coverage.h"
#include "e2e/simulation/wish.h"

enum change_type { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };

struct change {
        int64_t at_ms;
        const char *cluster;   /* "hub", "member-2" */
        const char *resource;  /* "placement.kubernetes-fleet.io/works", "/configmaps" */
        const char *ns, *name; /* ns "" if cluster-scoped */
        enum change_type type;
        const json_t *before, *after; /* whole objects; before NULL for ADDED, after NULL for DELETED */
        /* "hub-agent", "hub-agent-2", "member-1": that agent's request; "player": a user's; "server": what
         * the API server does by itself (garbage collection, namespaces, workloads). */
        const char *who;
        int64_t asked_ms; /* when `who` sent the request; at_ms if it was the server */
        bool unheard; /* `who` is not told that it was stored: the answer is lost, or nobody waits for it */
};

/* A request of an agent that would write, in the moment in which it leaves the agent's process: whether it
 * arrives, late or twice, and is done or refused, is not known by then. */
struct sent {
        int64_t at_ms;               /* by the clock, also where a process goes on in a turn of before */
        const char *who;             /* as in struct change */
        const char *cluster;         /* to whose server */
        const char *resource;        /* as in struct change, "" of none; "status" and others are `sub` */
        const char *ns, *name, *sub; /* name "" of what is to be made; its body has it */
        struct slice body;
};

struct watch;

struct rule {
        const char *name; /* "one-leader": how a failure names it */
        size_t state_size;
        void (*changed)(struct watch *w, void *state, const struct change *c); /* may be NULL */
        void (*sent)(struct watch *w, void *state, const struct sent *s);      /* may be NULL */
        void (*at_rest)(struct watch *w, void *state);                         /* may be NULL */
        void (*end)(void *state); /* frees what it holds; may be NULL */
        bool of_tables;           /* has something to judge only where ResourceSets are played */
        bool of_charts;           /* or charts */
        bool of_garden;           /* or a Git repository */
        bool of_shards;           /* or where hub agents share placements out */
};
extern const struct rule *const watch_rules[]; /* NULL-terminated; watch_rules.c */

struct watch_options {
        struct fleet *fleet;     /* of sim_fleet_open() */
        const struct wish *wish; /* what users have asked so far */
        struct coverage *coverage;
        unsigned shards; /* that hub agents share; 0 = none */
};
struct watch *watch_new(const struct watch_options *o); /* NULL on no memory */
struct watch *watch_free(struct watch *w);
/* From the server, when the change is committed, before its answer. */
void watch_change(struct watch *w, const struct change *c);
/* From an agent's network, when the request leaves. */
void watch_sent(struct watch *w, const struct sent *s);
void watch_at_rest(struct watch *w);
/* The first broken rule, or 0. */
int watch_verdict(const struct watch *w, struct error *err);

/* ---- for rules ---- */
const struct wish *watch_wish(const struct watch *w);
unsigned watch_shards(const struct watch *w);
struct fleet *watch_fleet(const struct watch *w);
int64_t watch_now(const struct watch *w);
int64_t watch_wall(const struct watch *w); /* the time of day, which moves can shift */
/* It had something to judge. */
void watch_judged(struct watch *w, const struct rule *r);
void watch_broken(struct watch *w, const struct rule *r, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* The stores as they are now, without a request. Borrowed until the next change. NULL if absent. */
const json_t *watch_get(struct watch *w, const char *cluster, const char *resource, const char *ns,
                        const char *name);
/* The state file of a member's agent as it lies on its disk, for reading; sqlite3_close() it. NULL if the
 * agent has none that it goes by. */
struct sqlite3 *watch_state(struct watch *w, unsigned member);
/* A file on the volume of that hub agent ("hub-agent-2"); false: there is none. */
bool watch_artifact(struct watch *w, const char *agent, const char *path, uint64_t *ret_size);
/* Calls fn for each name in a folder of it. */
void watch_folder(struct watch *w, const char *agent, const char *path,
                  void (*fn)(void *ctx, const char *name), void *ctx);
/* ns NULL = all. Stops when fn says false. */
void watch_each(struct watch *w, const char *cluster, const char *resource, const char *ns,
                bool (*fn)(void *ctx, const json_t *doc), void *ctx);
