/* How many pods of the new and of the old template a Deployment wants next: the Deployment controller's
 * rules, for servers without one. Pure. */
#pragma once

#include "common/json/doc.h"

struct rollout {
        int64_t want;           /* spec.replicas */
        int64_t surge, reserve; /* maxSurge, maxUnavailable, as counts */
        bool recreate;          /* strategy Recreate: none of the new before the last old one is gone */
        int64_t new_size;       /* replicas the new set has now */
        int64_t new_available;  /* of these, with a ready pod */
        int64_t old_size;       /* all old sets together */
        int64_t old_available;
        int64_t old_pods; /* of old sets, ending ones included */
};

/* Fills want, surge, reserve and recreate from a Deployment. maxSurge rounds up, maxUnavailable down; both 0
 * counts as maxUnavailable 1. */
int rollout_read(const json_t *deployment, struct rollout *ret, struct error *err);
/* Sizes to set now; asked again after every change until nothing moves. */
void rollout_next(const struct rollout *r, int64_t *ret_new, int64_t *ret_old);
