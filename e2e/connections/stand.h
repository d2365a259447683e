/* What stands at an API server's address: the API server, or something that is not what it should be. One
 * port for its whole life; each change cuts what is open, as the change of a real server would. */
#pragma once

#include "common/net/cert.h"
#include "e2e/devcluster/devcluster.h"

enum stand_mode {
        STAND_UP,      /* devcluster, one cluster of it */
        STAND_REFUSES, /* nobody listens */
        STAND_HANGS,   /* connections are taken, and nothing comes */
        STAND_HTML,    /* a page for every question */
        STAND_OLD,     /* a Kubernetes of long ago */
};

struct stand;
/* `identity` is borrowed until another is set. From a fiber, as all of these. */
int stand_open(struct devcluster *d, struct loop *l, const char *cluster, const struct tls_identity *identity,
               struct stand **ret, struct error *err);
struct stand *stand_close(struct stand *s); /* NULL is fine */
int stand_port(const struct stand *s);
int stand_set(struct stand *s, enum stand_mode mode, const struct tls_identity *identity, struct error *err);
