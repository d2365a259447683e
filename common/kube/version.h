/* Which Kubernetes a server is, and whether it is one we know. */
#pragma once

#include "common/kube/client.h"

#define KUBE_OLDEST_MINOR 25 /* of major 1: the first with CEL rules in custom resource definitions */

/* Asks /version. ERR_UNSUPPORTED (reason KUBE_REASON_VERSION), naming both versions, if the server is too
 * old; other errors if it cannot be asked. A server that does not say which version it is passes. */
int kube_version_check(struct kube_client *k, struct error *err);
