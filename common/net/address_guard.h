/* Addresses that users may not have the agents ask, whatever name leads there: this machine, its link, the
 * metadata services of clouds, what is no address of one host. Pure. spec/resource-set.md,
 * docs/threat-model.md.
 */
#pragma once

#include <sys/socket.h>

/* NULL: it may be connected to; else what it is, such as "an address of this machine". */
const char *address_guard_refuses(const struct sockaddr *a);
