/* The libcurl transport, in three files: curl_transport.c (requests as fibers see them), curl_transfer.c (one
 * easy handle: options, callbacks, errors), curl_pool.c (multi handles on libuv).
 *
 * libcurl calls back while we are inside one of its functions, where it must not be called again. So
 * callbacks only store; the fibers wake when the outer call has returned. */
#pragma once

#include <curl/curl.h>

#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/net/http.h"

struct curl_pool;

/* A multi handle with its own connections. */
struct curl_multi {
        CURLM *handle;
        struct curl_pool *pool;
        struct timer timer;
        struct list transfers;
        /* A request that needs a new connection, since there is none or those there are full, connects
         * alone; the others wait until its connection stands and says whether it takes several at once, or a
         * burst would open one each. libcurl's own waiting (CURLOPT_PIPEWAIT) loses some of many long
         * requests for ever. */
        struct curl_transfer *first;
        int64_t heard_ms;  /* when something came last, on any connection */
        uint64_t heard;    /* how often something came */
        size_t n, streams; /* transfers under way; how many one HTTP/2 connection takes */
        struct waitq connected;
        struct list touched; /* transfers whose fibers are to wake */
        int64_t rest_ms;     /* of a socket that was read often (HTTP_WATCH_UNHURRIED); 0 = it has none */
        struct curl_socket *acting; /* libcurl is told of; NULL when it had it closed */
        struct list sockets;
        struct timer look; /* for what libcurl holds back: curl_multi_look() */
        int64_t look_ms;   /* after something came */
};

/* All connections of one identity to one server. Two endpoints share a pool only if all that they are is
 * equal, so no connection ever serves a second identity. */
struct curl_pool {
        struct list node; /* on curl_transport.pools */
        struct loop *loop;
        uint64_t key[2];
        struct curl_multi multi[3]; /* by enum http_priority: a watch never starves a request */
        size_t transfers;
        /* No new requests here: libcurl gives a multi up for good when one of our callbacks fails; or
         * somebody was not answered. */
        bool dead;
        int64_t last_used_ms;
};

#define CURL_REST_MS 500  /* http.h: twice a second */
#define CURL_DEAF_MS 5000 /* a server that is busy answers somebody within that */

struct curl_transport {
        struct http_transport base;
        int64_t rest_ms;
        int64_t deaf_ms; /* who waited for less cannot tell whether a connection is dead */
        struct world *world;
        struct list pools;
};

/* One request under way. Lives in the structure of who waits for it. */
struct curl_transfer {
        struct list node; /* on multi->transfers */
        struct list touched;
        struct curl_multi *multi;
        CURL *easy;
        struct curl_slist *headers, *connect_to;
        const char *method;
        char *what; /* "GET https://host/path", for errors */
        char words[CURL_ERROR_SIZE];
        struct arena *arena; /* the answer's headers */
        VEC(struct http_header) answer_headers;
        size_t header_bytes;
        int status;
        bool connected, head_done, done;
        const struct address_ranges *denied;
        const char *refused; /* what the address is that it may not be connected to */
        int (*may_leave)(void *ctx, struct error *err); /* the request's */
        void *may_leave_ctx;
        struct error *err; /* of who started it: why it may not leave */
        int stayed;        /* it was not let go: that error */
        int failed;        /* our own reason to end it: ERR_LIMIT, ERR_NO_MEMORY */
        CURLcode result;
        struct buf body;
        bool paces, paused; /* a stream that waits for its reader; it does so now */
        struct waitq waits;
};

/* NULL and err on failure. */
struct curl_pool *curl_pool_find(struct curl_transport *t, const struct http_endpoint *e, struct error *err);
void curl_pool_free(struct curl_pool *p);
/* Made when it is first needed; NULL on no memory. */
struct curl_multi *curl_pool_multi(struct curl_transport *t, struct curl_pool *p,
                                   enum http_priority priority);
void curl_multi_connected(struct curl_multi *m);    /* the first request needs to be waited for no more */
void curl_multi_wake_touched(struct curl_multi *m); /* outside libcurl only */
/* In so long, or before, libcurl is told once more that there is something to read. It takes more
 * from an HTTP/2 connection than one transfer wants, and 7.88 forgets now and then to wake those whose part
 * it has: mostly where an answer was whole before its stream was closed, rarely where many come at once.
 * Until something else comes over the connection, which may be never, they would wait for what is here. */
void curl_multi_look(struct curl_multi *m, int64_t in_ms);
/* Somebody has waited in vain since then. If nothing came for anybody meanwhile, the connections count as
 * dead and get no new requests; what is under way goes on. A dead HTTP/2 connection would take requests and
 * answer none until the kernel gives it up: after a quarter of an hour, or never if somebody between us and
 * the server takes the bytes. */
void curl_multi_doubt(struct curl_multi *m, const struct curl_transport *t, int64_t since_ms);
/* A callback had no memory: all transfers of m end so. */
void curl_multi_die(struct curl_multi *m);

enum curl_way {
        CURL_WAY_WHOLE,       /* the answer is wanted whole */
        CURL_WAY_WHOLE_HTTP1, /* so too, over HTTP/1.1 on a connection of its own */
        CURL_WAY_STREAM,      /* the answer is read as it comes */
};
/* Starts the request. On success curl_transfer_end() must follow; `err` is to live until it is done or its
 * answer begins. */
int curl_transfer_start(struct curl_transport *t, struct curl_transfer *tr, const struct http_request *rq,
                        struct arena *arena, enum curl_way way, struct error *err);
void curl_transfer_end(struct curl_transfer *tr);
/* The reader took what was there: a paused transfer goes on. */
void curl_transfer_go_on(struct curl_transfer *tr);
/* The server answered and closed the stream before it had the whole request, so it did not act on it, and
 * libcurl, which still wanted to send, lost the answer. */
bool curl_transfer_answer_lost(const struct curl_transfer *tr);
/* After `done`: 0, or the failure in our words. */
int curl_transfer_status(const struct curl_transfer *tr, struct error *err);
