/* A pod's volumes as folders of this machine: emptyDir, Secret, ConfigMap, projected (tokens, ConfigMaps,
 * Secrets, downward API), downwardAPI and claims. What comes from the API server is written as kubelet does
 * it: files behind a link "..data" that is exchanged at once, so that who reads sees all old or all new. */
#pragma once

#include "e2e/chart-runner/pod_env.h"

struct volume_source {
        const struct pod_lookup *lookup;
        /* A token of the pod's service account for an audience ("" = the server's own), new or kept; text in
         * the arena. *ret_renew_ms: wall time when to ask again. */
        int (*token)(void *ctx, const char *audience, int64_t seconds, struct arena *arena, const char **ret,
                     int64_t *ret_renew_ms, struct error *err);
        void *ctx;
        const char *folder; /* of the pod: NAME below it for each volume */
        const char *claims; /* folder of persistent claims, which outlive pods */
        int64_t uid, gid; /* owner of what is written: runAsUser if all containers share one, and fsGroup; -1
                             = ours */
};

/* Brings all volumes of the pod up to date; unchanged ones are not touched. *ret_renew_ms: wall time of the
 * earliest token to renew, INT64_MAX if there is none. Errors name the volume: a Secret that is not there yet
 * is ERR_NOT_FOUND, to be tried again. */
int pod_volumes(const json_t *pod, const struct volume_source *s, int64_t *ret_renew_ms, struct error *err);

/* The folder (or with a subPath the place in it) of a container's mount, for the container's plan. */
int pod_mount_source(const json_t *pod, const json_t *mount, const struct volume_source *s,
                     struct arena *arena, const char **ret, struct error *err);
