/* Which Kubernetes a server is, and whether it is one we know. */
#pragma once

#include "common/kube/client.h"

#define KUBE_OLDEST_MINOR 25 /* of major 1: the first with CEL rules in custom resource definitions */

/* Asks /version. ERR_UNSUPPORTED, naming both versions, if the server is too old; other errors if it cannot
 * be asked. A server that does not say which version it is passes. */
int kube_version_check(struct kube_client *k, struct error *err);

/* Says what is wrong with a connection in one line when it begins, when it becomes something else, and when
 * it is over; not with every try. Zero it to begin. */
struct kube_trouble {
        char text[ERROR_TEXT_MAX];
};
void kube_trouble_tell(struct kube_trouble *t, const struct log *log, const char *what,
                       const struct error *err);
void kube_trouble_over(struct kube_trouble *t, const struct log *log, const char *what);
