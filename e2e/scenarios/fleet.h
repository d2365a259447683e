/* A fleet under test: one hub, some members, their agents. The scenario runner and the simulation drive it
 * through this table; behind it stand the simulated world or real processes. All calls are made from a fiber.
 */
#pragma once

#include "common/kube/client.h"

struct fleet;

struct fleet_ops {
        /* Client with all rights on "hub" or "member-N"; borrowed, lives as long as the fleet. */
        int (*client)(struct fleet *f, const char *cluster, struct kube_client **ret, struct error *err);
        /* Agents are called "hub-agent" ("hub-agent-2" and so on if there are more) and, by their member,
         * "member-N". Starting a running agent and stopping a stopped one are errors. A hard stop is a kill:
         * nothing is flushed or released. */
        int (*start_agent)(struct fleet *f, const char *agent, struct error *err);
        int (*stop_agent)(struct fleet *f, const char *agent, bool hard, struct error *err);
        /* How it ended by itself: its exit code, or 128 + signal; -1 while it runs. An error if it was not
         * started, or was stopped. */
        int (*exit_code)(struct fleet *f, const char *agent, int *ret, struct error *err);
        /* Cuts or heals the network between an agent and the hub's API server. */
        int (*set_link)(struct fleet *f, const char *agent, bool up, struct error *err);
        /* Stops the program in the middle of whatever it does, and lets it go on. Where agents are no
         * programs of their own nothing gets through to them or from them meanwhile. */
        int (*set_frozen)(struct fleet *f, const char *agent, bool frozen, struct error *err);
        /* Workloads that match stay unavailable until ready again; NULL = any. */
        int (*set_ready)(struct fleet *f, const char *cluster, const char *kind, const char *ns,
                         const char *name, bool ready, struct error *err);
        int (*restart_server)(struct fleet *f, struct error *err); /* all API servers, state kept */
        struct fleet *(*close)(struct fleet *f);
};

struct fleet {
        const struct fleet_ops *ops;
        struct world *world;
        const struct log *log;
        unsigned n_members;            /* member-1 ... member-n */
        unsigned n_hub_agents;         /* at least 1 */
        const char *namespace_account; /* the member-agents' --namespace-service-account; NULL = none */
        bool admission_policies;       /* the hub agents keep admission policies, and have the rights */
        bool guard_policies;           /* the hub has the chart's policies of the guard rail */
        bool rule_policies;            /* and those that say what the other webhooks say of one object */
        unsigned list_page; /* objects that the hub agents ask for at a time, simulated; 0 = as usual */
        unsigned shards;    /* the hub agents share the placements in so many parts, and have the rights */
        bool webhooks;      /* the hub agents serve webhooks, and have the rights */
        bool resource_sets; /* the hub agents work on ResourceSets, and have the rights */
        bool sources;       /* charts and their sources, too: files are kept below the scratch folder */
        bool networking_agents;  /* the hub agents expect two agents more of each member: a test plays them */
        bool collect_namespaces; /* theirs, too: --enable-namespace-collection-in-property-provider */
        const char *const *member_flags; /* more of theirs, about properties; ended by NULL; NULL = none */
        unsigned heartbeat_s;            /* of the members that join; 0 = short, for tests */
        unsigned patience;               /* factor on how long a scenario waits for something; 0 = 1 */
        bool prepared;                   /* fleet_prepare() was done on these clusters and holds */
        uint64_t out;                    /* bit i: member-i does not join when the fleet is set up */
};

/* As whom ResourceSets act that name no account. */
#define FLEET_SETS_ACCOUNT "fleet-system/hub-agent-resource-sets"
#define FLEET_AGENT_NAME 32
#define FLEET_FLAGS_MAX 10
void fleet_hub_agent_name(unsigned index,
                          char ret[FLEET_AGENT_NAME]); /* from 0: "hub-agent", "hub-agent-2" */
/* Which hub-agent the lease names as its holder. ERR_NOT_FOUND if nobody holds it. */
int fleet_leader(struct fleet *f, char ret[FLEET_AGENT_NAME], struct error *err);
/* Installs the CRDs on hub and members, makes fleet-system and the agents' accounts. */
int fleet_prepare(struct fleet *f, int64_t deadline_ms, struct error *err);
/* The same unless it is done, then starts the hub agents, joins every member that is not `out` and waits
 * until they are Joined. */
int fleet_set_up(struct fleet *f, int64_t deadline_ms, struct error *err);
/* The member's service account and its MemberCluster on the hub; its agent is another matter. */
int fleet_make_member(struct fleet *f, const char *member, struct error *err);
/* The same, then its agent, without waiting. The cluster is prepared, its agent
 * does not run, and of an earlier time nothing is left on the hub. */
int fleet_join_member(struct fleet *f, const char *member, struct error *err);
/* Deletes the MemberCluster (absent is fine), without waiting. Its agent is needed until that is gone. */
int fleet_leave_member(struct fleet *f, const char *member, struct error *err);
/* Whether its MemberCluster is gone. */
int fleet_has_left(struct fleet *f, const char *member, bool *ret, struct error *err);
int fleet_wait_joined(struct fleet *f, const char *member, int64_t deadline_ms, struct error *err);
/* A token for the member's service account on the hub, good for `seconds` (600 or more); mem_free it. */
int fleet_member_token(struct fleet *f, const char *member, int seconds, char **ret_token, struct error *err);
/* Makes the account an agent has on its own cluster ("hub" or "member-N"): a service account in fleet-system
 * with exactly the rules of the agent's chart. */
int fleet_make_account(struct fleet *f, const char *cluster, struct error *err);
/* A token for that account, good for `seconds`; mem_free it. */
int fleet_account_token(struct fleet *f, const char *cluster, int seconds, char **ret_token,
                        struct error *err);
/* A token for any account of fleet-system on a cluster; mem_free it. */
int fleet_token(struct fleet *f, const char *cluster, const char *account, int seconds, char **ret_token,
                struct error *err);
