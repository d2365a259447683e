/* What a request of an agent is: who asks whom for what. Faults are aimed and counted by it. */
#pragma once

#include "common/net/http.h"

#define TRAFFIC_TEXT 160

struct traffic {
        char agent[32];         /* "hub-agent-2", "member-1"; "" if nobody of the fleet */
        bool is_hub_agent;      /* the role of `agent` */
        bool is_generator;      /* manifest-generator: the same */
        bool is_page;           /* the live page: the same */
        bool to_hub;            /* else to a member's own cluster */
        bool is_write;          /* create, update, patch, apply, delete, deletecollection; never a review */
        const char *verb;       /* as Kubernetes says it, and "apply"; "other" for discovery and the like,
                                 "review" for what an API server asks a webhook, "ask" for
                                 inputs of a service */
        char resource[96];      /* "works/status.placement.kubernetes-fleet.io", "configmaps", "leases..." */
        char ns[64], name[128]; /* "" if none */
};

/* The parts of a Kubernetes URL path, with or without a /clusters/NAME in front. Parts are slices of `path`,
 * empty if there are none. False if it is not the path of a resource (discovery, health, openapi). */
struct traffic_target {
        struct slice cluster, group, resource, sub, ns, name;
};
bool traffic_target_of(const char *path, struct traffic_target *ret);

/* The agent's name is what follows the slash in its endpoint's user agent: "simulation/member-1". Others have
 * none. */
const char *traffic_agent(const char *user_agent); /* borrowed; "" if nobody */
/* Never fails: what it cannot read is verb "other". */
void traffic_of(const struct http_request *rq, struct traffic *ret);
/* "hub-agent>hub patch works/status.placement...": the kind of a request, equal for all agents of a role. */
void traffic_kind(const struct traffic *t, char ret[TRAFFIC_TEXT]);
