/* One command on another machine, over SSH: its input and output, with deadlines. The host key has to be a
 * known one, the user shows a private key. libssh2 on a socket of ours; what it computes is offloaded. */
#pragma once

#include "common/base/text.h"
#include "common/loop/world.h"
#include "common/net/address_guard.h"

struct ssh_options {
        const char *host;
        int port;
        const char *user;
        const char *identity, *key_password; /* PEM, also OpenSSH's own form; NULL = it has none */
        const char *known_hosts;             /* text of such a file */
        const struct address_ranges *denied; /* no connection to these; NULL = anywhere */
};

struct ssh_channel;
/* Connects and starts the command. ERR_RETRY: the network; ERR_TIMEOUT; ERR_FORBIDDEN: an address that is
 * denied (reason HTTP_REASON_ADDRESS); ERR_UNAUTHORIZED: the host key is none of the known ones, or the
 * server does not take the user's key, or that cannot be read; ERR_UNSUPPORTED: a simulated loop has no
 * sockets. */
int ssh_open(struct world *w, const struct ssh_options *o, const char *command, int64_t deadline_ms,
             struct ssh_channel **ret, struct error *err);
int ssh_write(struct ssh_channel *c, struct slice data, int64_t deadline_ms, struct error *err);
int ssh_end_writing(struct ssh_channel *c, int64_t deadline_ms, struct error *err);
/* Parks until there is output; *ret is valid until the next call. ERR_CLOSED: the command has no more. */
int ssh_read(struct ssh_channel *c, int64_t deadline_ms, struct slice *ret, struct error *err);
const char *ssh_said(const struct ssh_channel *c);    /* the beginning of its standard error; never NULL */
struct ssh_channel *ssh_close(struct ssh_channel *c); /* does not park; NULL is fine; returns NULL */
