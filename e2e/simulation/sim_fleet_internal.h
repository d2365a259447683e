/* What the files of sim_fleet share. Nobody else includes this. */
#pragma once

#include "e2e/simulation/sim_files.h"
#include "e2e/simulation/sim_fleet.h"
#include "e2e/simulation/sim_pause.h"
#include "e2e/simulation/sim_server.h"
#include "hub-agent/source/options.h"

struct sim_fleet;

/* One agent: its own world, its own view of the network, its own fibers. */
struct sim_agent {
        struct sim_fleet *sim;
        char name[FLEET_AGENT_NAME];
        bool hub_agent;
        struct world world;
        struct log log;
        struct loopback_faults faults;
        struct http_endpoint hub, member;        /* member: not of the hub-agent */
        struct sim_pause pause;                  /* of its process, which outlives its runs */
        struct fiber_group *group;               /* NULL while stopped */
        bool link_down, killed, ended;           /* ended: by itself */
        char webhooks_at[FLEET_AGENT_NAME + 16]; /* authority */
        bool serves_webhooks;
        int64_t token_ms;              /* wall time of the tokens in their files; 0 = none yet */
        struct sim_disk *disk;         /* member: holds its state file */
        struct source_options sources; /* hub agent: as it was started last */
        struct volume *volume;         /* hub agent: of artifacts; outlives its runs. NULL = none yet */
        bool volume_full;
        struct error err;  /* how its last run ended */
        sim_guest_fn *run; /* of a guest; NULL */
        void *run_ctx;
};

struct sim_client {
        struct http_endpoint endpoint;
        struct kube_client kube;
};

struct sim_fleet {
        struct fleet fleet;
        struct sim_fleet_options options;
        struct world world; /* of servers and of the test itself: no faults */
        struct log log;
        struct fiber_group *group;
        struct loopback *loopback;
        struct sim_server *server;
        struct loopback_faults webhook_faults;
        struct http_transport *webhook_calls; /* of the servers */
        bool keep_alive, troubles_webhooks;
        unsigned n_ended;            /* agents that ended by themselves: of a thousand mostly none */
        struct sim_files files;      /* outlive every agent */
        struct sim_agent **agents;   /* [0] = hub-agent, [i] = member-i, then further hub-agents */
        struct sim_client **clients; /* [0] = hub, [i] = member-i */
        struct sim_agent *guest;     /* NULL = there is none */
};

/* ---- sim_network.c ---- */
void sim_agent_faults(struct sim_agent *a); /* fills in a->faults */
void sim_webhook_faults(struct sim_fleet *sim);
/* For sim_webhooks_run(). The Service goes to the first agent that serves, and stays with the last one that
 * did. */
void sim_webhooks_started(void *agent, http_handler_fn handle, void *ctx);

unsigned sim_fleet_agents(const struct sim_fleet *sim);
