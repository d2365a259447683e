/* A whole fleet in one process on the simulated loop: hub-agent, member-agents and devcluster's logical
 * clusters on the loopback transport, a virtual clock, one seed. */
#pragma once

#include "e2e/devcluster/devcluster.h"
#include "e2e/scenarios/fleet.h"
#include "e2e/simulation/sim_pause.h"
#include "e2e/simulation/watch.h"

#define SIM_HEARTBEAT_GRACE_MS 30000 /* the hub agents' --cluster-unhealthy-threshold */

struct sim_fleet_options {
        struct loop *loop; /* simulated */
        const struct log_sink *log_sink;
        unsigned members, hub_agents;         /* hub_agents: 0 = 1 */
        const struct loopback_faults *faults; /* asked for every message of the agents; may be NULL */
        /* Told of every change of every store that is committed, in order; may be NULL. With it the servers'
         * state is on a simulated disk, else in memory. */
        void (*changed)(void *ctx, const struct change *c);
        /* Told of every request of an agent that would write, when it leaves; may be NULL. */
        void (*sent)(void *ctx, const struct sent *s);
        void *ctx;
        /* Whether `changed` looks into changes of a resource; NULL: of all. To parse them costs. */
        bool (*looks_into)(const char *resource);
        unsigned token_s; /* how long the agents' tokens hold; 0 = 600, which is short */
};

/* Call from a fiber. fleet->ops->close() ends all agents and servers. */
int sim_fleet_open(const struct sim_fleet_options *o, struct fleet **ret, struct error *err);
/* While it is full, the member's agent (1 ...) cannot write its state file. */
int sim_fleet_set_disk_full(struct fleet *f, unsigned member, bool full, struct error *err);
/* The member agent's state file as sim_disk_read(); NULL as well while the agent is not running. */
struct sqlite3 *sim_fleet_read_state(struct fleet *f, unsigned member);
/* While on, the network's faults happen to the servers' calls of webhooks, too. Off at first: what sets a
 * fleet up does not try again. */
void sim_fleet_trouble_webhooks(struct fleet *f, bool on);
/* While on, agents that end by themselves are started again a moment later, as by a kubelet. Off at first. */
void sim_fleet_keep_alive(struct fleet *f, bool on);

/* Stops an agent at a moment and lets it go on after `ms`. ERR_EXISTS, without words: it does not run, or is
 * stopped already. */
int sim_fleet_pause(struct fleet *f, const char *agent, enum sim_pause_at at, int64_t ms, struct error *err);
void sim_fleet_go_on(struct fleet *f); /* all that are stopped, at once */

/* Serves https://<authority>/... on the fleet's network, for agents that ask others than API servers. */
int sim_fleet_serve(struct fleet *f, const char *authority, http_handler_fn handle, void *ctx,
                    struct error *err);

/* ---- artifacts of charts: each hub agent (0 ...) has a disk of its own for them ---- */

struct volume *sim_fleet_volume(struct fleet *f, unsigned hub_agent); /* NULL = there is none yet */
int sim_fleet_set_volume_full(struct fleet *f, unsigned hub_agent, bool full, struct error *err);
/* From its file server; parks. The answer's status, or why there is none. */
int sim_fleet_get_file(struct fleet *f, unsigned hub_agent, const char *path, struct arena *arena,
                       struct http_response *ret);

/* One agent more, of any kind and with all rights on the hub: `run` is what it does until it is cancelled, or
 * ends by itself. To be started as others are. There is at most one. */
typedef void sim_guest_fn(void *ctx, const struct world *w, const struct log *log,
                          const struct http_endpoint *hub, struct error *err);
int sim_fleet_add_guest(struct fleet *f, const char *name, sim_guest_fn *run, void *ctx, struct error *err);

/* ---- the servers; with `changed` only ---- */

/* All API servers die: connections are cut, what is not committed is gone, and in a power failure what was
 * not synced, too. They are back half a virtual second later with all that was acknowledged; anything else is
 * ERR_INTERNAL. Parks. */
int sim_fleet_kill_server(struct fleet *f, bool power_failure, struct error *err);
/* Their disk. Once a commit failed for want of room the servers answer 500 to everything, until there is room
 * and they were started again, which comes with `full` false and may park. */
int sim_fleet_set_server_disk_full(struct fleet *f, bool full, struct error *err);
struct devcluster *sim_fleet_devcluster(struct fleet *f); /* NULL while the servers are down */
/* What the stores hold, without a request: as watch_get() and watch_each(). */
const json_t *sim_fleet_get(struct fleet *f, const char *cluster, const char *resource, const char *ns,
                            const char *name);
void sim_fleet_each(struct fleet *f, const char *cluster, const char *resource, const char *ns,
                    bool (*fn)(void *ctx, const json_t *doc), void *ctx);
