/* Inside of the controller frame: one running controller with its queue. Used by manager.c and frame.c only.
 */
#pragma once

#include "common/base/map.h"
#include "common/base/vec.h"
#include "common/ctrl/controller.h"
#include "common/ctrl/leader.h"

struct running;
struct running_watch {
        struct running *running;
        const struct watch *watch;
};

struct running {
        struct running_watch *watches; /* one per watch of the controller */
        struct manager *manager;
        const struct controller *controller;
        struct work_queue *queue;
        struct map troubles;       /* key -> struct trouble, of keys that fail */
        struct fiber_group *group; /* dispatcher and reconciles; NULL while stopped */
        bool stopping;             /* no new reconcile starts */
};

struct frame_metrics {
        struct metric *reconciles, *errors, *seconds, *requests, *request_seconds, *leader, *undecodable;
};

struct cache {
        struct informer *informer;
        bool awaited; /* see manager_await_informer() */
};

struct manager {
        struct manager_options options;
        struct fiber_group *group;
        struct log log;
        VEC(struct running *) running;
        VEC(struct cache) caches;
        struct event_recorder *events;
        struct frame_metrics metrics;
        struct leader leader;
        char identity[LEADER_IDENTITY_SIZE]; /* made up when none was given */
        bool leading;
        uint64_t next_id;
};

struct informer *manager_find_informer(struct manager *m,
                                       const struct kind *kind); /* NULL if there is none */
void frame_handle_event(void *running_watch, const struct informer_event *e);
int running_await_caches(struct running *r); /* those it watches; 0 or ERR_CANCELLED */
int running_start(struct running *r);
void running_drain(struct running *r, int64_t deadline_ms); /* no new ones; waits for those that run */
void running_stop(struct running *r);                       /* cancels and joins */
void running_requeue_all(struct running *r);
