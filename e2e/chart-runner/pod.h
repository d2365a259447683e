/* One pod on this machine: its network, volumes, containers and what is said of them. */
#pragma once

#include "e2e/chart-runner/network.h"
#include "e2e/chart-runner/pod_status.h"
#include "e2e/chart-runner/runner.h"

struct running_pod;
struct running_container;

/* Starts it; the document is shared. NULL on no memory. */
struct running_pod *pod_new(struct runner *r, json_t *doc);
void pod_update(struct running_pod *p, json_t *doc); /* a newer version; a deletion begins to end it */
void pod_refresh(struct running_pod *p);             /* a Secret or ConfigMap of the namespace changed */
void pod_end(struct running_pod *p);                 /* it is gone from the API server */
bool pod_is_done(const struct running_pod *p);       /* all processes ended, object removed: may be freed */
struct running_pod *pod_free(struct running_pod *p); /* from a fiber; ends what runs */

/* ---- shared by pod.c, pod_container.c and pod_token.c ---- */

struct pod_token {
        char *audience, *text;
        int64_t seconds, renew_ms;
};

struct running_pod {
        struct runner *runner;
        json_t *doc;
        char *uid, *name, *folder;
        struct fiber_group *keepers, *workers; /* the fiber that reports; those that start, run and probe */
        struct pod_network network;
        struct relay **relays;
        size_t n_relays;
        struct running_container *containers;
        struct container_state *states; /* one per container, init containers first */
        size_t n;
        struct pod_token tokens[8];
        size_t n_tokens;
        int64_t renew_ms; /* wall time when a volume's token is due */
        int64_t grace_ms;
        struct waitq changed;
        bool prepared, dirty, stale, ending, vanished, done;
};

struct running_container {
        struct running_pod *pod;
        struct container_state *state;
        json_t *spec;
        struct fiber_group *run; /* probes of this run */
        struct process *process;
        int64_t backoff_ms;
};

void pod_changed(struct running_pod *p); /* its status is to be written */
struct volume_source;
/* The pod's volume source with a lookup of its own; the lookup is to be freed. */
void pod_volume_source(struct running_pod *p, struct runner_lookup *lookup, struct pod_lookup *get,
                       struct volume_source *ret);
/* pod_container.c: runs one container for as long as its pod says (an init container until it succeeded); a
 * fiber of `workers`.
 */
void container_fiber(void *container);
/* pod_token.c */
int pod_token_get(void *pod, const char *audience, int64_t seconds, struct arena *arena, const char **ret,
                  int64_t *ret_renew_ms, struct error *err);
void pod_tokens_free(struct running_pod *p);
