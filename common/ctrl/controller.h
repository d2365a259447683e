/* The controller frame. A controller is a const descriptor: which kinds it watches, how an event becomes a
 * key, and a reconcile function. The manager owns clients, informers, queues, fibers, retries, metrics,
 * events and logs. */
#pragma once

#include "common/ctrl/informer.h"
#include "common/ctrl/metrics.h"
#include "common/ctrl/queue.h"
#include "common/kube/event.h"

struct manager;
struct running;

/* What one reconcile works with. Everything allocated in `arena` dies with it. */
struct reconcile {
        const char *key; /* "ns/name", or "name" for cluster-scoped */
        const char *ns;  /* NULL if the key has none */
        const char *name;
        struct arena *arena;
        struct manager *manager;
        struct running *running; /* the frame's own; NULL outside of it */
        struct kube_client *kube;
        void *agent; /* the agent's own context, as given to manager_new */
        struct log log;
        struct error *err;
        uint64_t id;
        int64_t now_ms; /* wall time at start */
        bool *unfilled; /* the frame's: becomes true when a read failed for want of a list; NULL outside */
};

struct outcome {
        int code; /* 0 = done; negative = the error in rc->err: retried with backoff, except ERR_INVALID
                   * and ERR_FORBIDDEN, which are retried at the backoff's maximum */
        int64_t after_ms; /* > 0: again after that time */
        bool unfinished;  /* that pass is to end what this one began: it comes before new work */
};
static inline struct outcome done(void)
{
        return (struct outcome){ 0 };
}
/* A time that has come already is the next moment, not never. */
static inline struct outcome again_after(int64_t ms)
{
        return (struct outcome){ .after_ms = ms > 0 ? ms : 1 };
}
static inline struct outcome finish_after(int64_t ms)
{
        return (struct outcome){ .after_ms = ms > 0 ? ms : 1, .unfinished = true };
}
/* A failure that left no error is a bug of ours, and no success. */
static inline struct outcome failed(const struct error *err)
{
        return (struct outcome){ .code = err->code < 0 ? err->code : ERR_INTERNAL };
}

enum watch_on {
        ON_SPEC = 1,     /* created, or generation changed */
        ON_STATUS = 2,   /* anything but spec and metadata changed */
        ON_META = 4,     /* labels, annotations, finalizers, owners */
        ON_DELETION = 8, /* deletionTimestamp set, or gone */
        ON_ALL = 15,
        ON_VERSION = 16 /* a new version, also where nothing that the cache keeps is another: bulk fields */
};
/* Emits keys for an event; NULL map = key of the object itself. `emit` may be called any number of times. */
typedef void (*key_emit)(void *to, const char *key); /* NULL: there was no memory for one */
typedef void (*watch_map)(void *agent, const struct informer_event *e, key_emit emit, void *to);

/* With no `on` nothing is followed: the controller reads the cache, and begins when it is filled.
 *
 * How urgent its keys are: without a map a changed spec is a user's edit (QUEUE_HIGH), unless agents write
 * these objects; with a map the event speaks of an object that came of work already begun (QUEUE_FOLLOW_UP).
 */
struct watch {
        const struct kind *kind;
        unsigned on;
        watch_map map;
        bool by_agents; /* written by agents, not by users */
        bool unhurried; /* informer.h; in force if no other controller had the cache made before */
        bool restless;  /* mostly its times move: DECODE_OUTLINED, and in force likewise */
        /* Whether something was asked of the object that is not done yet. What a first list brings is
         * backlog, but for these: somebody waits for them, since before the agent began. NULL = for none. */
        bool (*pressing)(const struct object *o);
};

/* Work on what somebody waits for, before the caches are filled (early.c): whether a controller takes part.
 * It has a placement_of then, and what it reads of kinds that are listed in parts is of its key's placement.
 */
enum early_part {
        NOT_EARLY,
        EARLY_PLACEMENTS, /* its keys are placements, whose user edits are what is waited for */
        EARLY_OBJECTS     /* its keys are objects of placements */
};

struct controller {
        const char *name;
        const struct watch *watches;
        size_t n_watches;
        struct outcome (*reconcile)(struct reconcile *rc);
        unsigned concurrency;          /* fibers at once, 0 = 16 */
        int64_t reconcile_deadline_ms; /* 0 = 120,000: then the fiber is cancelled and the key retried */
        int64_t backoff_base_ms, backoff_max_ms;
        int64_t resync_ms;        /* 0 = never */
        const char *event_source; /* who events of it are from; NULL = the manager's component */
        bool optional; /* its kinds may go away again: nobody else waits for its caches, nor does readiness */
        /* The placement ("name" or "ns/name") that a key belongs to, by which replicas share keys out
         * (shards.h), put into *ret; nothing put there: it is not known, and nobody works on the key until an
         * event of it comes. `about`: the object whose event made the key, also when it is gone; or NULL. 0
         * or ERR_NO_MEMORY. NULL = its keys are no placement's, and whoever has shard 0 works on all of them.
         */
        int (*placement_of)(void *agent, const char *key, const struct object *about, struct key *ret);
        enum early_part early;
        const char
                *standing_key; /* is queued whenever that work begins, as no object stands for it; or NULL */
};
unsigned controller_concurrency(const struct controller *c);
enum reconcile_result outcome_result(const struct outcome *o); /* as metrics call it */

/* A kind that may have very many objects, so that those of one placement are listed alone where somebody
 * waits for them before all are there. */
struct early_kind {
        const struct kind *kind;
        informer_part_fn part_of; /* the placement of an object; NULL: it is the placement itself */
        /* What picks the objects of a placement ("name", "ns/name"), in the arena; both NULL: it has none of
         * the kind. 0 or ERR_NO_MEMORY. */
        int (*select)(const char *placement, struct arena *arena, const char **ret_ns,
                      const char **ret_label_selector);
        /* The placement all of whose objects there are, if those are that an index has under a value; nothing
         * put there: it is not known. 0 or ERR_NO_MEMORY. */
        int (*placement_of_value)(void *agent, const char *index, const char *value, struct key *ret);
};

struct manager_options {
        struct world *world;
        const struct log *log;
        struct kube_client *kube;
        void *agent;
        const char *component; /* event source: "hub-agent" */
        struct metrics *metrics;
        struct intern_table *interns;
        const char *lease_namespace, *lease_name, *identity;           /* NULL lease_name = no election */
        int64_t lease_duration_ms, renew_deadline_ms, retry_period_ms; /* 0 = 15 s, 10 s, 2 s */
        unsigned shards; /* replicas share the keys out, in so many parts; 0 = one leads. Needs an election */
        /* Of a leader that begins: controllers that take part work before these kinds are listed. None: none
         * does, and the lease is taken only once the caches are filled. */
        const struct early_kind *early;
        size_t n_early;
        /* Keys are no longer ours: what is remembered of them, which manager_owns() tells, is to go. Must not
         * park. NULL = nothing is remembered. */
        void (*forget)(void *agent);
};

struct manager *manager_new(const struct manager_options *o, struct fiber_group *group, struct error *err);
/* The cache of a kind in all namespaces and without a selector: unless there is one it is made, with
 * DECODE_PROJECTION, and awaited. That of each kind in a controller's watches is made in the same way, and
 * awaited unless the controller is optional. */
struct informer *manager_informer(struct manager *m, const struct kind *kind);
/* Another cache, which nobody waits for: it may fail for long, come late and be removed at any time. */
int manager_add_informer(struct manager *m, const struct informer_options *o, struct informer **ret);
/* The manager is ready only with this cache in sync, and gives it 30 s before it goes for the lease. */
void manager_await_informer(struct manager *m, struct informer *i);
void manager_remove_informer(struct manager *m, struct informer *i); /* stops it; from a fiber */
/* At any time, from outside of reconciles: while the manager leads the controller begins at once, else with
 * the others. ERR_NO_MEMORY: the same call again goes on where it stopped. */
int manager_add_controller(struct manager *m, const struct controller *c);
/* What whoever runs the program may want otherwise than the descriptor has it; 0 = as that. Copied. */
struct controller_pace {
        unsigned concurrency;
        int64_t backoff_base_ms, backoff_max_ms;
};
int manager_add_controller_at(struct manager *m, const struct controller *c,
                              const struct controller_pace *pace);
/* Puts a key on a controller's queue from outside (timers, other controllers, custom sources). */
void manager_enqueue(struct manager *m, const struct controller *c, const char *key, enum queue_priority p);
void manager_enqueue_after(struct manager *m, const struct controller *c, const char *key, int64_t ms);
/* Parks until cancelled or leadership is lost: starts informers, elects, runs controllers; on the way out
 * drains running reconciles (bounded) and releases the lease. ERR_CANCELLED on a clean end; ERR_TIMEOUT when
 * another has the lease: the process is to end, as what it believes of the cluster may be old. When the lease
 * could not be renewed because the API server is away, the controllers stop in time and go on once it is
 * renewed. A controller begins when the caches it watches are in sync; one that cannot be filled holds up no
 * other. */
int manager_run(struct manager *m, struct error *err);
struct manager *manager_free(struct manager *m);

/* Of replicas that share shards one leads: who has shard 0. */
bool manager_is_leader(const struct manager *m);
/* A key of the controller is ours to work on. Without shards all are. */
bool manager_owns(struct manager *m, const struct controller *c, const char *key);
bool manager_ready(const struct manager *m, struct buf *why_not);
struct event_recorder *manager_events(struct manager *m);
struct metrics *manager_metrics(struct manager *m);
size_t manager_queued(
        const struct manager *m); /* waiting and active keys of all controllers: 0 = settled, timers aside */

/* Reads through the caches, inside a reconcile; what they give is referenced until the reconcile ends. A
 * failure proves nothing about the object: ERR_NO_MEMORY, or ERR_RETRY while the cache is not filled. Before
 * that cache_get() and cache_has() may find what is there, and cache_by_index() all of a placement
 * (early_kind). */
int cache_get(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name,
              const struct object **ret); /* NULL if absent */
/* With its details too: see informer_options.stowed. */
int cache_get_whole(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name,
                    const struct object **ret);
int cache_has(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name, bool *ret);
/* Of all namespaces. */
int cache_by_index(struct reconcile *rc, const struct kind *kind, const char *index, const char *value,
                   struct object_list *ret);
/* So too, for who reads no status: informer_by_index_without_status(). */
int cache_by_index_without_status(struct reconcile *rc, const struct kind *kind, const char *index,
                                  const char *value, struct object_list *ret);
int cache_list(struct reconcile *rc, const struct kind *kind, struct object_list *ret);
/* informer_for_each(): for kinds of which there may be very many. */
int cache_for_each(struct reconcile *rc, const struct kind *kind,
                   int (*fn)(void *ctx, const struct object *o), void *ctx);
/* Absent, or not known yet: NULL. 0 or ERR_NO_MEMORY. */
int cache_find(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name,
               const struct object **ret);
/* What the server has by now, which the cache is told of too: for who would conclude something from what the
 * cache does not tell, as it may be late. As kube_get(). */
int rc_get_newest(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name,
                  const struct object **ret);
int cache_await_filled(struct reconcile *rc, const struct kind *kind); /* ERR_RETRY: it is not */
bool cache_is_filled(struct reconcile *rc, const struct kind *kind);

/* Writes, with the caches told of the answer. *ret is what the cache holds too, so nobody may change it; ret
 * may be NULL. ERR_CONFLICT: what the server has now is in the cache, so that the retry decides from it. No
 * answer: the key comes again when an event of the object tells whether the write arrived. */
int rc_create(struct reconcile *rc, const struct object *o, const struct object **ret);
int rc_patch_diff(struct reconcile *rc, const struct object *now, const struct object *wanted,
                  enum object_part part, const struct object **ret);
/* Bound to uid and resourceVersion: what the decision to delete was made from. Gone already counts as done.
 */
int rc_delete(struct reconcile *rc, const struct object *o);
/* Bound to the uid alone: for what is to go whatever became of it, because its parent goes. */
int rc_delete_any_version(struct reconcile *rc, const struct object *o);

/* An event by the controller: common/kube/event.h. */
void rc_event(struct reconcile *rc, const struct object *about, const char *type, const char *reason,
              const char *fmt, ...) PRINTF_LIKE(5, 6);
void rc_event_annotated(struct reconcile *rc, const struct object *about,
                        const struct string_map *annotations, const char *type, const char *reason,
                        const char *message);

/* Calls fn for 0 to n-1, several at a time on fibers of their own, each with a reconcile whose `err` is its
 * own and whose `arena` dies with the step (the rest is shared), and parks until all are through. After a
 * failure no further one is begun; the first one's code and error are returned. */
typedef int (*rc_step)(struct reconcile *one, void *ctx, size_t i);
int rc_for_each(struct reconcile *rc, size_t n, rc_step fn, void *ctx);
/* The same with at most so many at a time. Steps begin in order. */
int rc_for_each_of(struct reconcile *rc, size_t in_flight, size_t n, rc_step fn, void *ctx);
