/* A devcluster in a simulated loop, spoken to through the loopback transport: no sockets, no files, no
 * waiting. */
#pragma once

#include "common/base/memory.h"
#include "common/json/doc.h"
#include "common/net/http_server.h"
#include "e2e/devcluster/devcluster.h"

#define WALL INT64_C(1767225600000)
#define BASE "https://dev/clusters/hub"

struct rig {
        struct loop *loop;
        struct loopback *net;
        struct world world;
        struct log log;
        struct http_transport *client;
        struct http_endpoint endpoint;
        struct devcluster *devcluster;
        struct devcluster_options options;
        struct arena arena;
        void (*body)(struct rig *r);
        void *ctx;        /* what rig_run_for was given */
        int status;       /* of the last answer */
        json_t *answer;   /* its body, NULL if not JSON */
        const char *text; /* its body */
        struct http_headers headers;
};

/* Runs body in a fiber against a fresh devcluster with the cluster "hub". */
void rig_run(void (*body)(struct rig *r));
void rig_run_with(void (*body)(struct rig *r), const struct devcluster_options *options);
void rig_run_for(void (*body)(struct rig *r), void *ctx);
void rig_run_options(void (*body)(struct rig *r), const struct devcluster_options *options, void *ctx);

/* One request; body may be NULL. Fills status, answer. Path is behind /clusters/hub. */
int rig_call(struct rig *r, const char *method, const char *path, const char *content_type, const char *body);
int rig_get(struct rig *r, const char *path);
int rig_get_with(struct rig *r, const char *path, const char *header, const char *value);
int rig_get_as(struct rig *r, const char *path, const char *accept);
int rig_post(struct rig *r, const char *path, const char *body);
int rig_put(struct rig *r, const char *path, const char *body);
int rig_merge(struct rig *r, const char *path, const char *body);
int rig_merge_as(struct rig *r, const char *path, const char *accept, const char *body);
int rig_apply(struct rig *r, const char *path, const char *body);
int rig_delete(struct rig *r, const char *path);
const char *rig_string(struct rig *r, const char *path); /* of the answer; "" if absent */
void rig_settle(struct rig *r);                          /* lets controllers work for a virtual second */

/* RIG_TEST(what_holds, { ... }): a cmocka test whose body runs in a fiber, with `struct rig *r`. */
#define RIG_TEST(name, ...)                                                                                  \
        static void body_##name(struct rig *r) __VA_ARGS__ static void name(void **state)                    \
        {                                                                                                    \
                rig_run(body_##name);                                                                        \
        }

/* An open watch; lines come one by one. */
struct rig_watch {
        struct rig *rig;
        struct http_stream *stream;
        struct buf pending;
        json_t *event; /* of the last rig_watch_next */
};
void rig_watch_open(struct rig *r, struct rig_watch *w, const char *path);
/* Next event's type, "" at the end of the stream, "timeout" when nothing comes for ms. */
const char *rig_watch_next(struct rig_watch *w, int64_t ms);
const char *rig_watch_string(struct rig_watch *w, const char *path); /* of the event's object */
void rig_watch_close(struct rig_watch *w);
