/* HTTP as a server sees it. A handler runs in a fiber of its own per request, so it may park; it answers with
 * http_reply() or by begin/write/end. The same handler serves libwebsockets (the agents' endpoints), HTTP/1.1
 * and nghttp2 (devcluster) and the loopback transport (simulation): it sees only this interface. */
#pragma once

#include "common/net/http.h"

struct http_exchange {
        const struct http_exchange_ops *ops;
        struct loop *loop;
        struct arena *arena; /* dies with the exchange */
        const char *method;
        const char *path;  /* escaped path, without query */
        const char *query; /* escaped, without '?'; "" if none */
        struct http_headers headers;
        struct slice body;            /* complete, capped */
        const char *peer_common_name; /* verified client certificate: CN and O values; NULL if none */
        const char *const *peer_organizations; /* NULL-terminated; NULL if none */
        const char *peer_fingerprint;          /* SHA-256 of that certificate in hex; NULL if not known */
        const char *remote_address;
};

struct http_exchange_ops {
        int (*begin)(struct http_exchange *x, int status,
                     const struct http_headers *headers); /* headers without length: a stream */
        /* Queues bytes (copied). ERR_CLOSED once the client is gone. Does not wait; see queued(). */
        int (*write)(struct http_exchange *x, const void *data, size_t n);
        size_t (*queued)(const struct http_exchange *x); /* bytes the client has not taken yet */
        /* Parks until queued() <= level or the client is gone (ERR_CLOSED), deadline, cancel. */
        int (*drain)(struct http_exchange *x, size_t level, int64_t deadline_ms);
        bool (*gone)(const struct http_exchange *x);
        /* Parks until the client is gone or q is woken: 0 when woken (or spuriously: re-check), ERR_CLOSED
         * when the client left, ERR_TIMEOUT, ERR_CANCELLED. For watch loops. */
        int (*wait)(struct http_exchange *x, struct waitq *q, int64_t deadline_ms);
        int (*end)(struct http_exchange *x);
};

/* write() and end() answer ERR_INVALID out of turn: before a begin() that succeeded, or behind end().
 * A handler that returns without end(): before begin() the client gets 500, behind it a cut connection. */

int http_reply(struct http_exchange *x, int status, const char *content_type, struct slice body,
               const struct http_headers *extra);
static inline int http_begin(struct http_exchange *x, int status, const struct http_headers *h)
{
        return x->ops->begin(x, status, h);
}
static inline int http_write(struct http_exchange *x, const void *data, size_t n)
{
        return x->ops->write(x, data, n);
}
static inline int http_end(struct http_exchange *x)
{
        return x->ops->end(x);
}

/* Query parameter, unescaped into the exchange's arena; NULL if absent, "" if empty. */
const char *http_query_get(struct http_exchange *x, const char *name);

typedef void (*http_handler_fn)(void *ctx, struct http_exchange *x);

/* ---- the agents' own endpoints: HTTP/1.1, on libwebsockets ---- */

struct tls_identity; /* common/net/cert.h */

/* What a handler sees here beside what is said above:
 * - Path and query were decoded and are escaped again; the path has no "." and ".." segments left, and a
 *   plus in it has become a space.
 * - Headers are those that libwebsockets knows, in lower case (Host, Content-Type, Authorization, Accept
 * ...); others are taken and dropped.
 * - gone() and wait() learn of a client that left within a quarter of a second.
 * What it never sees: a body in chunks (411; without Content-Length there is none), or with a length that is
 * too large (413) or no number; one on a method that has none; HTTP/1.1 without Host (400). What is no HTTP,
 * and a target that is no path, get 403; a head that is too large, an upgrade to anything but a WebSocket,
 * CONNECT, and a body in a row
 * of requests that do not await their answers end the connection. */
#define HTTP_NO_BODY SIZE_MAX /* of http_limits: a request with a body is refused */
struct http_limits {          /* of one request */
        size_t header_bytes;  /* request line and headers; 0 = LIMIT_HEADER_BYTES */
        size_t body_bytes;    /* 0 = LIMIT_REQUEST_BODY_BYTES */
};

struct websocket;             /* common/net/websocket.h */
struct websocket_limits {     /* 0 = LIMIT_WEBSOCKET_..., and 30,000 for ping_ms */
        size_t message_bytes; /* a message of the client */
        size_t queue_bytes;   /* to one client, not taken yet */
        size_t sockets;       /* at once, beside the server's connections; one more is refused with 503 */
        int64_t ping_ms;      /* a client that is silent so long is pinged, and cut after as long again */
};

struct http_server_options {
        const char *bind;               /* "127.0.0.1" */
        int port;                       /* 0 = any free one: ask http_server_port() */
        const struct tls_identity *tls; /* NULL = plain; read at once, not kept */
        http_handler_fn handle;
        void *ctx;
        struct http_limits limits;
        /* At once; one more takes the place of the oldest, so that who holds them all keeps nobody out.
         * 0 = LIMIT_SERVER_CONNECTIONS, and no more than these are accepted. */
        size_t connections;
        /* From a connection's begin, or its last answer, until its next request is complete, and for taking
         * the answer: who needs longer is cut. 0 = 75,000. */
        int64_t request_ms;
        /* A client that was told the last may take so long to close; then, and when the server stops, it is
         * cut. 0 = 1,000. */
        int64_t closing_ms;
        /* A request for a WebSocket: decides on the handshake, a request as handlers see it, before it is
         * answered. 0 = yes, else the HTTP status it is refused with and a sentence of at most 300 bytes.
         * Does not park and does not answer. A page of any origin may ask: it is this that looks at Origin
         * and Host. NULL = there are none. */
        int (*websocket_accept)(void *ctx, struct http_exchange *x, const char **ret_why);
        void (*websocket_serve)(void *ctx, struct websocket *s); /* in a fiber per socket */
        struct websocket_limits websockets;
};
struct http_server;
/* Both from a fiber. ERR_UNSUPPORTED on a simulated loop; ERR_INVALID: no address to listen on, or
 * certificates that do not fit; ERR_SYSTEM: the port is taken, or libwebsockets cannot be used. */
int http_server_start(struct world *w, const struct http_server_options *o, struct http_server **ret,
                      struct error *err);
struct http_server *http_server_stop(struct http_server *s); /* ends open exchanges, joins them */
int http_server_port(const struct http_server *s);
/* New certificates, for connections to come; the old ones stay when they are bad. Of a server with TLS. */
int http_server_set_identity(struct http_server *s, const struct tls_identity *tls, struct error *err);

/* ---- loopback: the simulation's network ---- */

/* What may happen to one message. All NULL = nothing. Asked while the client is there, so rq and its endpoint
 * live. */
struct loopback_faults {
        void *ctx;
        /* Delay in ms before the request arrives / before the answer (or next stream piece) arrives. A client
         * that gives up meanwhile does not stop a request that is on its way. */
        int64_t (*delay)(void *ctx, const struct http_request *rq, bool answer);
        /* Fate of the request: 0 = deliver; ERR_RETRY = lost before arrival (server never sees it);
         * ERR_CLOSED = server sees it, the answer is lost; ERR_TIMEOUT = never arrives and nobody says so;
         * positive = this HTTP status instead of delivery. */
        int (*fate)(void *ctx, const struct http_request *rq);
        bool (*duplicate)(void *ctx, const struct http_request *rq);  /* deliver twice, answer once */
        bool (*cut_stream)(void *ctx, const struct http_request *rq); /* asked per piece */
        /* Asked before all else, in the client's fiber: whether the request waits a moment before it leaves,
         * as one does that finds no connection. Who asks may stop the client's process in it. */
        bool (*hold_back)(void *ctx, const struct http_request *rq);
};

struct loopback; /* a name -> handler table shared by all worlds of one simulation */
struct loopback *loopback_new(struct loop *l); /* NULL on no memory */
struct loopback *
loopback_free(struct loopback *lb); /* in a fiber: ends open exchanges; outside: none may be left */
/* Serves https://<authority>/... ; handler NULL takes it away (connection refused, open streams cut, handlers
 * cancelled). In a fiber this waits until the last handler returned; outside, handlers may still be unwinding
 * on `ctx`. Never call it from a handler of that server. ERR_NO_MEMORY. */
int loopback_listen(struct loopback *lb, const char *authority, http_handler_fn handle, void *ctx);
/* The Authorization of a request that its endpoint's aws_key signs, as a handler sees it: access key, region,
 * service, and in place of a signature the hash (sha256_hex) of the secret key. */
#define LOOPBACK_SIGNATURE "AWS4-HMAC-SHA256 Credential=%s/%s/%s, Signature=%s"

/* For handlers: when the client sent it (as loop_now_ms, but by the clock where that client is late). */
int64_t loopback_sent_ms(const struct http_exchange *x);
/* For handlers: whether the client will hear their answer, as far as it is known by now: no fault takes it,
 * and the client still waits. */
bool loopback_is_heard(const struct http_exchange *x);
/* A transport for one client; client certificates and bearer tokens travel as on the wire (a client
 * certificate arrives as peer_common_name and peer_organizations). `w` gives the token files; `faults`
 * (borrowed) may be NULL. NULL on no memory. */
struct http_transport *loopback_transport(struct loopback *lb, struct world *w,
                                          const struct loopback_faults *faults);
