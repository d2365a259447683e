/* One request on the loopback network, seen from both of its ends. Internal to loopback*.c.
 *
 * A call has up to two holders: the client (a roundtrip or an open stream) and the server (the message on its
 * way, then the handler's fiber). Each lets go on its own; the last one frees. */
#pragma once

#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/net/http_server.h"

struct loopback {
        struct loop *loop;
        struct fiber_group *group;
        struct map servers;     /* authority -> struct loopback_server */
        struct map people;      /* client certificate PEM -> struct loopback_person */
        struct list retired;    /* servers taken away outside any fiber */
        struct list travelling; /* calls that have not arrived yet */
};

/* Not a client's turn, which may be old: loop_process_stop(). */
static inline int64_t network_now_ms(const struct loopback *lb)
{
        return loop_now_us(lb->loop) / 1000;
}

struct loopback_server {
        struct list node;  /* on loopback.retired */
        struct list calls; /* delivered and not finished */
        struct fiber_group *group;
        http_handler_fn handle;
        void *ctx;
        bool closed;
};

struct loopback_person {
        char *common_name;
        char **organizations;
};

/* One piece of an answer's body. */
struct loopback_piece {
        struct list node;
        int64_t at_ms; /* arrives at the client */
        size_t n;
        char data[];
};

struct loopback_call {
        struct http_exchange x; /* first: the handler's view */
        struct loopback *net;
        struct loopback_server *server; /* NULL until delivered */
        struct list node;               /* on net->travelling, then on server->calls */
        struct timer arrival;
        int64_t sent_ms;
        int holders;

        /* the request: deep copies in server_arena */
        struct arena server_arena;
        struct http_request rq;
        const char *authority;
        const struct loopback_faults *faults; /* NULL once the client is gone */
        void *faults_know;                    /* theirs, for rq */

        /* the answer: status line and headers in client_arena */
        struct arena client_arena;
        int status;
        struct http_headers headers;
        struct list pieces;
        size_t queued, queue_limit;
        int64_t head_at_ms, last_at_ms; /* when its head and its newest part arrive: none overtakes another */
        struct timer due;               /* wakes the client when what it waits for arrives */
        struct error broken;            /* code != 0: what the client gets behind the pieces */
        bool stream, began, ended, client_gone, answer_lost;

        struct waitq client_waits, server_waits;
        struct fiber *watcher; /* the fiber in wait() */
};

extern const struct http_exchange_ops loopback_exchange_ops;

int loopback_call_new(struct loopback *lb, const struct http_request *rq, bool stream,
                      struct loopback_call **ret, struct error *err);
void loopback_call_release(struct loopback_call *c);
/* The connection breaks: both ends notice. */
void loopback_call_cut(struct loopback_call *c, const char *why);
void loopback_call_leave(struct loopback_call *c); /* the client goes, with its hold */
/* Runs the server's handler on a call that arrived, in a fiber of the server's group. Takes the server's
 * hold. */
void loopback_call_deliver(struct loopback_call *c);
void loopback_people_init(struct loopback *lb);
/* Who a client certificate belongs to; *ret NULL if the endpoint has none. */
int loopback_person_find(struct loopback *lb, const struct http_endpoint *e,
                         const struct loopback_person **ret, struct error *err);
