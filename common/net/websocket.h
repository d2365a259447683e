/* One WebSocket (RFC 6455) as a server sees it. Its function runs in a fiber of its own and returns to close
 * it. Whole messages; a client may send text only. Served by common/net/http_server.h beside HTTP, on the
 * same port; tests bring their own ops.
 *
 * One fiber may receive while another sends: only receive() is for one fiber at a time. A fiber that the
 * function spawns on the socket ends before the function returns. */
#pragma once

#include "common/net/http.h"

struct websocket {
        const struct websocket_ops *ops;
        struct loop *loop;
        struct arena *arena;         /* dies with the socket */
        const char *path, *query;    /* as http_exchange's */
        struct http_headers headers; /* of the handshake: Host, Origin, Cookie, Authorization ... */
        const char *remote_address;
};

struct websocket_ops {
        /* Parks until a whole message is there; *ret is valid until the next receive, NUL-terminated behind
         * its length. ERR_CLOSED: the client left, or broke the protocol; ERR_TIMEOUT, ERR_CANCELLED;
         * ERR_LIMIT: longer than what is taken, ERR_INVALID: binary or no UTF-8: the socket is closed for it
         * (1009, 1003, 1007), and further calls say ERR_CLOSED. ERR_NO_MEMORY: likewise, with 1011. */
        int (*receive)(struct websocket *s, struct slice *ret, int64_t deadline_ms);
        /* Queues a text message (copied), which must be UTF-8 (ERR_INVALID). Does not park. ERR_CLOSED;
         * ERR_LIMIT when it does not fit into the queue, ERR_NO_MEMORY: nothing is queued of it then, and the
         * socket goes on. */
        int (*send)(struct websocket *s, struct slice text);
        /* The same for a binary message, which may be anything. */
        int (*send_binary)(struct websocket *s, struct slice data);
        size_t (*queued)(const struct websocket *s); /* bytes the client's connection has not taken yet */
        /* Parks until queued() <= level or the client is gone (ERR_CLOSED), deadline, cancel. */
        int (*drain)(struct websocket *s, size_t level, int64_t deadline_ms);
        bool (*gone)(const struct websocket *s); /* or is being closed: nothing more is sent or received */
        /* Says why it will be closed when the function returns: a code of RFC 6455 7.4 that may be sent, and
         * a reason (copied, at most 123 bytes, the rest is cut; may be NULL). Without it: 1000, or 1001 when
         * the fiber was cancelled. */
        void (*close_with)(struct websocket *s, unsigned code, const char *reason);
};

static inline int websocket_receive(struct websocket *s, struct slice *ret, int64_t deadline_ms)
{
        return s->ops->receive(s, ret, deadline_ms);
}
static inline int websocket_send(struct websocket *s, struct slice text)
{
        return s->ops->send(s, text);
}
static inline int websocket_send_binary(struct websocket *s, struct slice data)
{
        return s->ops->send_binary(s, data);
}
static inline size_t websocket_queued(const struct websocket *s)
{
        return s->ops->queued(s);
}
static inline int websocket_drain(struct websocket *s, size_t level, int64_t deadline_ms)
{
        return s->ops->drain(s, level, deadline_ms);
}
static inline bool websocket_gone(const struct websocket *s)
{
        return s->ops->gone(s);
}
static inline void websocket_close_with(struct websocket *s, unsigned code, const char *reason)
{
        s->ops->close_with(s, code, reason);
}
