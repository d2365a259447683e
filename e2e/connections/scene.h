/* One agent, its API servers and what is wrong with one of them. Each scene has logical clusters, files and
 * processes of its own, so that many run side by side. */
#pragma once

#include "common/kube/client.h"
#include "common/kube/trouble.h"
#include "e2e/connections/stand.h"
#include "e2e/scenarios/process.h"

enum agent_side {
        HUB_AGENT = 1,  /* and the hub's API server */
        MEMBER_HUB = 2, /* a member-agent and the hub's */
        MEMBER_OWN = 4  /* a member-agent and its own cluster's */
};

struct scene;
typedef void (*scene_act)(struct scene *s);

struct connection_case {
        const char *name;
        const char *reason; /* of the trouble that has to be told */
        scene_act spoil, mend;
        bool at_start_only;      /* cannot begin while the agent runs, or is the same then */
        bool client_certificate; /* the agent has one in a token's place */
};
extern const struct connection_case connection_cases[];
extern const size_t n_connection_cases;

/* What all scenes share. */
struct bench {
        struct loop *loop;
        struct world world; /* transport: libcurl */
        struct loopback *net;
        struct world admin_world; /* straight to devcluster, past all stands */
        struct devcluster *devcluster;
        const char *programs, *scratch;
        char *ca, *ca_key, *other_ca, *other_ca_key; /* of the API servers' certificates */
        struct tls_identity good, other_authority, other_name, expired, not_yet;
        unsigned passed, failed, n_ports;
};

struct scene {
        struct bench *b;
        const struct connection_case *c;
        enum agent_side side;
        struct arena arena;
        const char *name, *folder, *log_path;
        struct stand *hub_stand, *member_stand; /* member: NULL for a hub-agent */
        struct http_endpoint hub_endpoint, member_endpoint;
        struct kube_client hub, member; /* the administrator's */
        struct process *agent;
        int health_port;
        unsigned round; /* 1: from the start; 2: while it runs */
        bool failed;
};

void scene_fail(struct scene *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Runs one case on one side from beginning to end; counts in the bench. From a fiber. */
void scene_run(struct bench *b, const struct connection_case *c, enum agent_side side);

/* ---- for the cases: the side that is spoiled ---- */
struct stand *scene_stand(struct scene *s);
struct kube_client *scene_admin(struct scene *s);
const char *scene_file(struct scene *s, const char *what); /* path of "ca", "token", "cert", "key" */
void scene_write(struct scene *s, const char *what, const char *text);
void scene_stand_as(struct scene *s, enum stand_mode mode, const struct tls_identity *identity);
/* A token of the agent's account; audience NULL = the API server's. In the arena. */
const char *scene_token(struct scene *s, const char *audience, int64_t seconds);
void scene_make_account(struct scene *s);
void scene_allow(struct scene *s, bool allowed);
/* A client certificate for the agent into its files: signed by devcluster or another, `days` from now on. */
void scene_certificate(struct scene *s, bool other_authority, int64_t from_days);
