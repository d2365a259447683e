/* The live page of a fleet: static files and one WebSocket on one port (docs/page.md). Run by `kubectl fleet
 * page` on loopback with the rights of a kubeconfig, or in a pod of the hub, where each user brings a token.
 */
#pragma once

#include "common/net/http_server.h"
#include "kubectl-fleet/page/view.h"

struct page_options {
        struct world *world;
        const struct log *log;
        struct kube_client *hub;        /* what is read is read with its rights */
        const char *hub_name;           /* what people call the hub: the context */
        const char *bind;               /* "127.0.0.1" */
        int port;                       /* 0 = any free one */
        const struct tls_identity *tls; /* NULL = plain */
        /* NULL: each user brings a token of the hub, which a TokenReview knows and whose rights
         * SubjectAccessReviews tell. Else the page's own: who knows it has the rights of `hub`. */
        const char *token;
        /* The names under which it may be asked for beside bind:port and localhost:port (Host, and the host
         * of Origin), ending in NULL: of the Service, of an ingress. NULL = none. */
        const char *const *hosts;
};

struct page;
/* What the options point to outlives it. From a fiber. */
int page_start(const struct page_options *o, struct page **ret, struct error *err);
struct page *page_stop(struct page *p); /* closes what is open; returns NULL */
int page_port(const struct page *p);
/* Another certificate for connections to come, of a page with TLS; a bad one leaves it as it is. */
int page_set_identity(struct page *p, const struct tls_identity *tls, struct error *err);
