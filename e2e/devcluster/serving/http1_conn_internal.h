/* One HTTP/1.1 connection and the exchange on it. Internal to http1_*.c and websocket.c. */
#pragma once

#include "e2e/devcluster/serving/http1_conn.h"
#include "e2e/devcluster/serving/http1_parse.h"

struct websocket;

struct http1_conn {
        struct http_exchange x; /* first: the request being answered; memory in parser.arena */
        struct http1_conn_options o;
        struct loop *loop;
        struct tls_stream *stream; /* NULL once closed */
        struct http1_parser parser;
        struct buf input; /* came while a handler ran: the next requests */
        struct timer idle;
        struct waitq drained;
        struct fiber *watcher;       /* the fiber in wait() */
        struct websocket *websocket; /* takes all input when set */
        bool running;                /* a handler's fiber is on x */
        bool continued;              /* 100 Continue was sent for this request */
        bool began, ended, chunked, has_length, no_body, close_after;
        uint64_t length_left; /* of the answer, when it has a length */
};

extern const struct http_exchange_ops http1_exchange_ops; /* http1_exchange.c */
/* The client went: whoever waits for it wakes. */
void http1_exchange_wake(struct http1_conn *c);
void websocket_input(struct websocket *ws, const char *data, size_t n); /* websocket.c */
