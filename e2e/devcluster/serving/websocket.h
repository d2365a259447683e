/* WebSocket (RFC 6455) on a server's connection, for dashboards: text and binary messages, ping answered
 * here. All calls are made from the handler's fiber. */
#pragma once

#include "common/net/http_server.h"

struct websocket;

/* Whether the request asks for a WebSocket. */
bool websocket_is_wanted(const struct http_exchange *x);
/* Turns the exchange into a WebSocket. Refuses with ERR_FORBIDDEN a browser's Origin of another host,
 * ERR_INVALID a malformed handshake, ERR_UNSUPPORTED a transport that has none; nothing is answered then. The
 * socket lives until websocket_close(); the exchange takes no other calls. */
int websocket_accept(struct http_exchange *x, struct websocket **ret, struct error *err);
/* Queues one message; ERR_CLOSED, ERR_LIMIT once LIMIT_STREAM_QUEUE_BYTES are queued. */
int websocket_send(struct websocket *ws, struct slice message, bool binary);
/* Parks for the next whole message (valid until the next call), at most LIMIT_REQUEST_BODY_BYTES. ERR_CLOSED
 * at a clean end, ERR_RETRY on a broken connection or protocol, ERR_TIMEOUT, ERR_CANCELLED. */
int websocket_receive(struct websocket *ws, int64_t deadline_ms, struct slice *ret, bool *ret_binary,
                      struct error *err);
/* Parks for a message, or until q is woken: 1 when one is waiting, 0 when woken, else as receive. For
 * pushers. */
int websocket_wait(struct websocket *ws, struct waitq *q, int64_t deadline_ms);
void websocket_close(struct websocket *ws, int code); /* 1000 = done; NULL is fine */
