/* What controllers write into the status of Deployments and ReplicaSets. Pure. */
#pragma once

#include "common/json/doc.h"

#define TEMPLATE_HASH_SIZE 11
int template_hash(const json_t *deployment, char ret[TEMPLATE_HASH_SIZE]); /* names its ReplicaSet */

struct deployment_counts {
        int64_t want, least; /* replicas; how few must be available */
        int64_t pods, updated, available;
        const char *set_name; /* of the present template */
        bool set_made;
        int64_t now_ms;
};
/* Both change doc.status in place: 0 or ERR_NO_MEMORY. */
int deployment_status(json_t *doc, const struct deployment_counts *c);
int replica_set_status(json_t *doc, int64_t pods, int64_t available);
