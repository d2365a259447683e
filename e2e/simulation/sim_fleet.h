/* A whole fleet in one process on the simulated loop: hub-agent, member-agents and devcluster's logical
 * clusters on the loopback transport, a virtual clock, one seed. */
#pragma once

#include "e2e/devcluster/devcluster.h"
#include "e2e/scenarios/fleet.h"

struct sim_fleet_options {
        struct loop *loop; /* simulated */
        const struct log_sink *log_sink;
        unsigned members, hub_agents;         /* hub_agents: 0 = 1 */
        const struct loopback_faults *faults; /* asked for every message of the agents; may be NULL */
        void (*work_written)(
                void *ctx); /* after each write of a Work on the hub, in the server's fiber; may be NULL */
        void *ctx;
};

/* Call from a fiber. fleet->ops->close() ends all agents and servers. */
int sim_fleet_open(const struct sim_fleet_options *o, struct fleet **ret, struct error *err);
/* While it is full, the member's agent (1 ...) cannot write its state file. */
int sim_fleet_set_disk_full(struct fleet *f, unsigned member, bool full, struct error *err);
struct devcluster *sim_fleet_devcluster(struct fleet *f);
