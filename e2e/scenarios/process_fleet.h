/* A fleet of real programs: API servers, hub-agents and member-agents as child processes. */
#pragma once

#include "e2e/scenarios/fleet.h"
#include "e2e/scenarios/server_program.h"

struct process_fleet_options {
        struct loop *loop; /* real */
        const struct log_sink *log_sink;
        const char *programs;         /* folder with devcluster, hub-agent and member-agent */
        const char *scratch;          /* an empty folder for files; borrowed while the fleet lives */
        unsigned members, hub_agents; /* hub_agents: 0 = 1 */
        bool as_installed;            /* heartbeats and leases as the charts set them, not short for tests */
        bool direct;                  /* agents speak to the hub without a relay: set_link is refused */
        bool metrics;                 /* the first hub-agent serves its metrics, without credentials */
        unsigned patience_s;          /* of it: until it is ready; 0 = its default */
        unsigned watch_history; /* of a devcluster of its own: events kept for watches; 0 = its default */
        const char *assets;     /* for API servers of its own: real Kubernetes (server_program.h); NULL =
                                   devcluster */
        struct server_program *server; /* borrowed, with at least so many members; NULL = a devcluster of its
                                          own */
        bool prepared;                 /* that server's clusters are (fleet_prepare) */
};

/* The agents are started by fleet_set_up(). End with ops->close. From a fiber. */
int process_fleet_open(const struct process_fleet_options *o, struct fleet **ret, struct error *err);
/* Of what serves the API servers: devcluster or real Kubernetes. */
struct server_program *process_fleet_server(const struct fleet *f);
/* Of the server program, "hub-agent" or "member-N"; 0 if it does not run. */
int process_fleet_pid(struct fleet *f, const char *program);
/* Where the first hub-agent serves its webhooks, on 127.0.0.1; not with real Kubernetes. */
int process_fleet_webhook_port(const struct fleet *f);
/* Where it serves its metrics, on 127.0.0.1; 0 if it does not. */
int process_fleet_metrics_port(const struct fleet *f);
