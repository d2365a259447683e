/* Inside of the controller frame: one running controller with its queue. Used by manager.c and frame.c only.
 */
#pragma once

#include "common/base/map.h"
#include "common/base/vec.h"
#include "common/ctrl/controller.h"
#include "common/ctrl/shards.h"

struct running;
struct running_watch {
        struct running *running;
        const struct watch *watch;
};

#define LOST_DELETIONS_MAX 32
struct lost_deletion {
        const struct watch *watch;
        const struct object *object; /* a reference */
};

/* What a reconcile counts: made once, so that counting looks nothing up. */
struct running_metrics {
        struct metric_series *results[N_RESULTS], *errors, *seconds;
        struct metric_series *active, *depth, *unfinished, *longest;
};

struct running {
        struct running_watch *watches; /* one per watch of the controller */
        size_t n_watched;              /* so many of them are followed by now */
        struct manager *manager;
        const struct controller *controller;
        struct controller_pace pace; /* what holds */
        struct work_queue *queue;
        struct map troubles; /* key -> struct trouble, of keys that fail */
        struct map doubts;   /* doubts.c */
        struct running_metrics metrics;
        struct fiber_group *group;   /* dispatcher and reconciles; NULL while stopped */
        struct fiber_group *opening; /* waits for the caches, while keys may be taken early; or NULL */
        bool open;                   /* all keys are taken */
        struct list attempts;        /* reconciles under way */
        bool stopping;               /* no new reconcile starts */
        bool lost;                   /* some key could not be queued: lost_keys.c */
        struct lost_deletion lost_deletions[LOST_DELETIONS_MAX];
        size_t n_lost_deletions;
};

/* One reconcile under way. */
struct attempt {
        struct list node; /* of its controller's attempts */
        struct running *running;
        char *key;
        struct timer deadline;
        struct fiber *fiber; /* NULL until it runs */
        bool timed_out, unfilled;
        unsigned shard;
        uint32_t term;           /* of the shard */
        struct kube_client kube; /* of its own where a shard may be lost meanwhile */
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
        struct waitq lost; /* wakes lost_keys_run() */
        struct event_recorder *events;
        struct metrics_source metrics; /* what is read off when somebody asks */
        struct leader leader;
        struct shards *shards; /* NULL = one leads */
        struct early *early;   /* NULL = nothing begins before the caches are filled */
        bool caches_awaited;   /* they are filled, or were waited for as long as they are */
        struct waitq awaited;
        shard_set requeued; /* of what is handled now only their keys are queued; 0 = all of ours */
        char identity[LEADER_IDENTITY_SIZE]; /* made up when none was given */
        bool leading;
        bool governing;        /* controllers run: one that is added begins at once */
        int64_t former_ms;     /* when we took over from a former life under our name, as unanswered_ms */
        int64_t unanswered_ms; /* when a write was last given up without an answer; INT64_MIN = never */
        int64_t unanswered_of[SHARDS_MAX]; /* so for the keys of a shard, which the other leaves out */
        uint64_t next_id;
};

/* The cache that holds every object of the kind in the namespace (NULL = in all of them); NULL if there is
 * none. */
struct informer *manager_find_informer(struct manager *m, const struct kind *kind, const char *ns);
void frame_handle_event(void *running_watch, const struct informer_event *e);
/* Queue a key, or leave it to whoever it belongs to. `about`: see controller.placement_of. */
int running_add(struct running *r, const char *key, const struct object *about, enum queue_priority p);
int running_add_after(struct running *r, const char *key, int64_t ms, enum queue_priority p);
int running_await_caches(struct running *r); /* those it watches; 0 or ERR_CANCELLED */
int running_start(struct running *r);
void running_drain(struct running *r, int64_t deadline_ms); /* once it is stopping: waits for what runs */
void running_stop(struct running *r);                       /* cancels and joins */
void running_requeue_all(struct running *r);
/* Of these shards alone, piece by piece: others run in between. 0 or ERR_CANCELLED. */
int running_requeue(struct running *r, shard_set shards);
/* No memory for a key, which an event (NULL = something else) asked for through a watch. */
void running_lose_key(struct running *r, const struct running_watch *w, const struct informer_event *e);
void running_forget_lost(struct running *r);
void doubts_init(struct map *doubts);
/* The key's write of the object may have arrived: the next event of the object makes the key again. */
void running_doubt(struct running *r, const char *key, const struct object *o);
void doubts_keep_if(struct map *doubts, bool (*keep)(void *ctx, const char *key), void *ctx);
void running_settle_doubt(struct running *r, const struct object *o); /* that event has come */
/* ---- frame_shards.c: nothing of it does anything without shards ---- */
struct shards *frame_shards_new(struct manager *m);
void attempt_bind_shard(struct attempt *a);            /* as it is made */
bool attempt_is_ours(const struct attempt *a);         /* its shard is worked on, and was all the time */
struct kube_client *attempt_client(struct attempt *a); /* one that writes only as long as the shard is ours */
bool running_drops(struct running *r, const char *key); /* the key is not ours (any more) */
int64_t manager_arriving_ms(const struct manager *m); /* of what was sent and not answered; 0 = nothing is */
int64_t manager_arriving_of(const struct manager *m, shard_set of); /* for keys of them, or of no key */
/* `unanswered_ms`: where it is noted when there was no answer. */
void manager_count_request(struct manager *m, const struct kube_counted *c, int64_t *unanswered_ms);
int manager_relist(struct manager *m, struct error *err); /* every cache, while it stays in use */
/* ---- early.c: NULL options.early, and nothing of it does anything ---- */
struct early *early_new(struct manager *m);
struct early *early_free(struct early *e);
void early_options(struct manager *m, struct informer_options *o); /* of a cache that is made */
int early_start(struct manager *m);                                /* the leader begins; ERR_NO_MEMORY */
void early_stop(struct manager *m);                                /* and ends */
/* Somebody waits for what comes of a placement. */
void early_want(struct manager *m, const char *placement);
bool early_may_begin(struct running *r, const char *key);
/* Whether what an index has under a value is all there is, though the cache is not filled. */
int early_holds(struct manager *m, struct informer *i, const char *index, const char *value, bool *ret,
                struct error *err);
/* ---- frame_metrics.c ---- */
void frame_metrics_begin(struct manager *m);
void frame_queue_metrics(struct metrics *m, const char *controller, struct queue_options *ret);
void frame_count_request(struct metrics *m, const struct kube_counted *c);
void running_metrics_init(struct running *r);
void running_count(struct running *r, const struct outcome *o, int64_t took_us);

void lost_keys_run(void *manager); /* the fiber that queues them once there is memory */
