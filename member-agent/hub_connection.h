/* How to reach the hub, from the environment: spec/member-agent.md 1.4. */
#pragma once

#include "common/net/http.h"

struct hub_connection {
        struct http_endpoint endpoint;
        struct http_headers headers; /* from HUB_KUBE_HEADER; in the arena */
        char *member_name;
};
void hub_connection_free(struct hub_connection *c);

/* ERR_INVALID names the variable and the rule. Files are read here; the token file is only
 * named: it may come later. */
int hub_connection_load(struct world *w, bool use_ca_auth, bool insecure, struct arena *arena,
                        struct hub_connection *ret, struct error *err);
/* A transport that adds headers to every request; one that the request carries already makes it fail. Borrows
 * both. */
struct http_transport *header_transport_new(struct http_transport *inner, const struct http_headers *headers);
