/* What kubelet would say of a pod: its status from the states of its containers. Pure. */
#pragma once

#include "common/json/doc.h"

enum container_phase { CONTAINER_WAITING, CONTAINER_RUNNING, CONTAINER_ENDED };

struct container_state {
        const char *name, *image;
        bool init;       /* of initContainers */
        bool restarting; /* an init container with restartPolicy Always: a sidecar */
        enum container_phase phase;
        char reason[64]; /* of waiting and ended: "CrashLoopBackOff", "Error" */
        char message[ERROR_TEXT_MAX];
        int pid; /* running */
        int exit_code;
        int64_t started_ms, ended_ms; /* wall time */
        unsigned restarts;
        bool ready, started; /* by its probes */
        struct {
                bool known;
                int exit_code;
                int64_t started_ms, ended_ms;
        } last; /* the run before */
};

struct pod_facts {
        const char *ip;
        int64_t now_ms;     /* wall */
        bool network_ready; /* sandbox and volumes are there */
        bool ending;
};

/* The new status; conditions that others own (PodScheduled where it is set) and transition times of `pod` are
 * kept. *ret is the caller's. */
int pod_status(const json_t *pod, const struct container_state *at, size_t n, const struct pod_facts *f,
               json_t **ret);
bool pod_status_ready(const struct container_state *at, size_t n); /* all containers are */
