/* The work queue: keys, de-duplicated, never two fibers on one key, priorities, delays, exponential backoff
 * per key. */
#pragma once

#include "common/loop/loop.h"

/* What is under way is finished before something new is begun. A lower class is never starved: it keeps a
 * share of the turns (queue.c). */
enum queue_priority {
        QUEUE_FOLLOW_UP, /* what came of work already begun: events of derived objects, second passes */
        QUEUE_HIGH,      /* user edits */
        QUEUE_NORMAL,    /* retries, echoes of our own writes */
        QUEUE_LOW        /* initial list, resync */
};

struct metric_series;
struct work_queue;
struct queue_options {
        int64_t backoff_base_ms, backoff_max_ms; /* 0 = 5 ms, 30 s */
        const char *name;
        /* Told of as it happens: keys queued, keys put off, seconds that a key waited and was worked on. NULL
         * = not told. */
        struct metric_series *adds, *retries, *waited, *worked;
};
struct work_queue *work_queue_new(struct loop *l, const struct queue_options *o);
struct work_queue *work_queue_free(struct work_queue *q);
/* A key that waits already moves up to a better class, never down. */
int work_queue_add(struct work_queue *q, const char *key, enum queue_priority p);
/* A timer from outside. Whatever else becomes of the key, it comes no later than that: an earlier one asked
 * for so stays, and neither an add meanwhile nor what a reconcile asks for itself takes it away. Fires once.
 */
int work_queue_add_after(struct work_queue *q, const char *key, int64_t delay_ms, enum queue_priority p);
/* What the running reconcile of the key asks for itself: earlier or later, it replaces what its predecessor
 * asked for, which saw less. Gone as soon as the key comes for another reason. */
int work_queue_again_after(struct work_queue *q, const char *key, int64_t delay_ms, enum queue_priority p);
/* Again after the key's next backoff, or after longest_ms if that is less. */
int work_queue_add_backoff(struct work_queue *q, const char *key, int64_t longest_ms);
void work_queue_forget(struct work_queue *q, const char *key); /* resets its backoff */
/* Parks for the next key; *ret_key is valid until work_queue_done. 0, ERR_CANCELLED, ERR_TIMEOUT, ERR_CLOSED.
 */
int work_queue_get(struct work_queue *q, int64_t deadline_ms, const char **ret_key);
/* The first key that fits, of any class but QUEUE_LOW. 0, or ERR_NOT_FOUND: none does now. Does not park. */
int work_queue_get_fitting(struct work_queue *q, bool (*fits)(void *ctx, const char *key), void *ctx,
                           const char **ret_key);
/* Parks until another key waits, or work_queue_wake(). 0 or ERR_CANCELLED. */
int work_queue_wait(struct work_queue *q);
void work_queue_wake(struct work_queue *q);
void work_queue_done(struct work_queue *q, const char *key); /* re-queues if it was added meanwhile */
/* A number that goes with a key as long as the queue knows it: which share of all keys it is of. 0 at first,
 * below 64. */
void work_queue_set_share(struct work_queue *q, const char *key, unsigned share);
int work_queue_share(const struct work_queue *q, const char *key); /* -1: the key is not known */
/* Forgets a key, its timers and its backoff; nothing comes after it if it is worked on. */
void work_queue_drop(struct work_queue *q, const char *key);
void work_queue_drop_shares(struct work_queue *q, uint64_t shares); /* a bit for each */
size_t work_queue_depth(const struct work_queue *q);                /* waiting now, delayed ones excluded */
size_t work_queue_delayed(const struct work_queue *q);              /* timers that have not fired */
size_t work_queue_active(const struct work_queue *q);
/* How long what is worked on now has taken so far: all of it added up, and the oldest. Looks at every key. */
struct queue_under_way {
        double seconds, longest;
};
struct queue_under_way work_queue_under_way(const struct work_queue *q);
