/* A large fleet to measure a hub with: devcluster, or a real API server with its etcd (KUBE_ASSETS in the
 * environment, what e2e/kube/build prints), and the hub-agent as programs, members that answer (answering.h)
 * in place of agents. Members, placements and groups are numbered from 0: a placement is on all
 * members of one group. */
#pragma once

#include "e2e/bench/answering.h"
#include "e2e/bench/bench.h"

#define SCALE_FLEET "/apis/placement.kubernetes-fleet.io/v1beta1/"
#define SCALE_HEARTBEAT_S 60
#define SCALE_EVERYWHERE SIZE_MAX /* in place of a group */

struct scale {
        struct bench *bench;
        struct fleet *fleet;
        struct kube_client *hub;
        struct fiber_group *group;
        struct answering members;
        struct informer *placements;
        struct http_endpoint metrics; /* of the hub-agent */
        bool kubernetes;
        json_t *requests;                        /* of a real API server until scale_reset_requests() */
        size_t n_members, n_placements, n_share; /* clusters of a placement */
        struct waitq changed;
        int code; /* the first failure's */
        struct error err;
};

/* Starts the API server on what is in the bench's scratch folder, and makes what every hub has. No agent
 * runs, no member answers. From a fiber; scale_close() also after a failure. */
int scale_open(struct scale *s, struct bench *b, struct error *err);
void scale_close(struct scale *s);
/* Members begin to send heartbeats; parks until each of those that are there has sent one. */
int scale_beat(struct scale *s, struct error *err);
/* They answer Works, too, and placements are followed, for who makes or changes some. */
int scale_answer(struct scale *s, struct error *err);

size_t scale_groups(const struct scale *s);

/* Does `one` for first to first + n - 1, several at a time. */
int scale_many(struct scale *s, size_t first, size_t n,
               int (*one)(struct scale *s, size_t i, struct arena *arena, struct error *err),
               struct error *err);

/* What is placed: a namespace with a ConfigMap of 1 KiB and a Deployment without replicas. */
int scale_make_content(struct scale *s, const char *name, struct arena *arena, struct error *err);
int scale_make_placement(struct scale *s, const char *name, size_t group, struct arena *arena,
                         struct error *err);
/* Puts a placement onto another group. */
int scale_move_placement(struct scale *s, const char *name, size_t group, struct arena *arena,
                         struct error *err);
/* Available for its latest generation, which is at least `generation`. */
bool scale_is_available(struct scale *s, const char *name, int64_t generation);
int scale_await(struct scale *s, const char *name, int64_t generation, int64_t patience_ms,
                struct error *err);

/* ---- the hub-agent ---- */
struct scale_hub {
        bool leads;
        double waiting, active; /* keys in queues, reconciles that run */
        double reconciles, retries;
};
/* As its metrics say; ERR_RETRY = it serves none yet. */
int scale_hub_state(struct scale *s, struct scale_hub *ret, struct error *err);
/* Until it leads, has reconciled so often, and has nothing to do. */
int scale_await_rest(struct scale *s, double reconciles, int64_t patience_ms, struct error *err);

struct scale_usage {
        struct bench_usage hub_agent, members;
        struct bench_usage server; /* devcluster; with Kubernetes its programs together, and no peak */
};
/* "devcluster" or "kubernetes", for names of figures. */
const char *scale_server(const struct scale *s);
int scale_usage(struct scale *s, struct scale_usage *ret, struct error *err);
/* CPU seconds since `before`, of each program: PREFIX_hub_agent_cpu_s and so on. */
int scale_report_cpu(struct scale *s, const struct scale_usage *before, const char *prefix,
                     struct error *err);
/* bench_requests() since the last reset, of either kind of server. */
int scale_reset_requests(struct scale *s, struct error *err);
int scale_requests(struct scale *s, json_t **ret_items, struct error *err);
