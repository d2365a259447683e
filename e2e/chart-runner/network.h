/* A pod's network: a namespace with a loopback interface of its own, so that every pod may use the ports its
 * chart names. Nothing else is in it; the runner carries connections over the border by sockets it makes
 * inside: out of the pod to the API servers (on the same 127.0.0.1:PORT), and into it for probes. */
#pragma once

#include "common/base/error.h"

struct pod_network {
        int fd;      /* of the namespace; also what /proc/PID/fd/FD names for those who enter it */
        char ip[16]; /* an address on its loopback, beside 127.0.0.1 */
};

/* `number` makes the address: 198.18.x.y, the range kept for such uses. */
int pod_network_open(struct pod_network *n, unsigned number, struct error *err);
void pod_network_close(struct pod_network *n);
/* A TCP socket inside, not connected; or one that listens on 127.0.0.1:port. The caller closes it. */
int pod_network_socket(const struct pod_network *n, int *ret_fd, struct error *err);
int pod_network_listen(const struct pod_network *n, int port, int *ret_fd, struct error *err);
