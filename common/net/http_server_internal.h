/* One connection of libwebsockets and the exchange on it. Internal to http_server*.c.
 *
 * libwebsockets runs on our loop, so its callbacks, our timers and our fibers never meet. The callbacks only
 * note and spawn; fibers only append to `out` and ask to be called back for writing. */
#pragma once

#include <libwebsockets.h>

#include "common/base/buf.h"
#include "common/net/http_server.h"
#include "common/net/tls_context.h"
#include "common/net/websocket.h"

struct http_server {
        struct loop *loop;
        struct lws_context *context; /* set to NULL by libwebsockets when it is gone */
        struct lws_vhost *vhost;
        struct lws_protocols protocols[2];
        void *foreign_loops[1];
        SSL_CTX *tls;                        /* of the vhost; NULL = plain */
        const struct tls_identity *identity; /* while starting */
        struct error tls_error;              /* why starting failed */
        struct fiber_group *handlers;
        http_handler_fn handle;
        void *ctx;
        struct http_limits limits;
        int64_t request_ms, closing_ms;
        int (*websocket_accept)(void *ctx, struct http_exchange *x, const char **ret_why);
        void (*websocket_serve)(void *ctx, struct websocket *s);
        struct websocket_limits websockets;
        size_t max_connections, n_connections, n_sockets;
        bool oldest_gives_way, stopping;
        int port;
        struct list connections; /* oldest first */
};

struct server_socket; /* http_server_websocket.c */

struct connection {
        struct http_exchange x;       /* first: the request being answered */
        struct server_socket *socket; /* once it is to be a WebSocket; x is its handshake then */
        struct http_server *server;
        struct list node;
        struct lws *wsi;       /* NULL once gone */
        struct timer patience; /* until a request is complete, or an answer taken; then it is cut */
        struct timer presence; /* while a handler runs: is the client still there? */
        struct arena arena;    /* of the exchange */
        struct buf body;
        struct buf out; /* of the answer, not yet with libwebsockets */
        size_t body_length;
        bool has_body; /* libwebsockets will tell of it: of an empty one with POST only */
        struct waitq drained;
        struct fiber *watcher; /* the fiber in wait() */
        struct tls_peer peer;
        bool peer_known;
        bool taken;   /* the request is complete */
        bool running; /* a handler's fiber is on x */
        bool began, ended, chunked, has_length, no_body, http_1_0, close_after;
        bool leaving; /* libwebsockets was told to close it */
        bool cut;     /* and without waiting for the client */
        uint64_t length_left;
};

extern const struct http_exchange_ops http_server_exchange_ops; /* http_server_exchange.c */
void http_server_wake(struct connection *c);                    /* whoever waits for the client or for room */
/* Has libwebsockets call back when the socket takes bytes. */
void http_server_want_write(struct connection *c);
/* libwebsockets may write: 0, or -1 when the connection is to end. */
int http_server_write(struct connection *c);

/* http_server_request.c: fills c->x from a head that is complete. 0, or the HTTP status to refuse it with
 * and why. */
int http_server_read_head(struct connection *c, const char **ret_why);

/* http_server.c */
int http_server_refuse(struct connection *c, int status, const char *why);
int http_server_be_patient(struct connection *c, int64_t ms);
int http_server_leave(struct connection *c);
void http_server_cut(struct connection *c);
bool http_server_client_is_there(struct connection *c);
int http_server_describe_peer(struct connection *c);
void http_server_fiber_ended(struct connection *c);

/* http_server_websocket.c: the connection that asks for one, or is one. */
int http_server_upgrade(struct connection *c, const char *protocol);
/* What libwebsockets tells of it; as its callback. */
int http_server_websocket_event(struct connection *c, enum lws_callback_reasons reason, void *in, size_t len);
void http_server_websocket_gone(struct connection *c); /* the connection is */
void http_server_websocket_free(struct connection *c);
