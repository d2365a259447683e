/* The work queue. Every known key has one entry that moves between states:
 *
 *     idle (backoff remembered) -> delayed (on the heap) -> waiting (on a list) -> active
 *
 * An add during `active` sets `again`, so the key is queued once more when its reconcile ends. Delayed keys
 * share one timer, set to the earliest. */
#include "common/ctrl/queue.h"

#include "common/base/heap.h"
#include "common/base/map.h"
#include "common/base/memory.h"

#define BACKOFF_BASE_MS 5
#define BACKOFF_MAX_MS 60000
#define PRIORITIES 3

struct entry {
        struct heap_node heap; /* must stay first: heap order reads due_ms through it */
        struct list node;      /* on waiting[priority] while waiting */
        int64_t due_ms;        /* while delayed; also while active, for what follows (delayed_again) */
        int64_t queued_ms;     /* when it began to wait */
        uint64_t order;        /* breaks ties between equal due times: first come, first served */
        uint32_t failures;
        uint8_t priority, again_priority;
        bool waiting, active, again, delayed_again;
        char key[];
};

struct work_queue {
        struct loop *loop;
        struct queue_options options;
        struct map entries; /* key -> entry; keys point into the entries */
        struct list waiting[PRIORITIES];
        struct heap delayed;
        struct timer timer;
        struct waitq getters;
        size_t n_waiting, n_active;
        uint64_t order;
};

static bool due_before(const struct heap_node *a, const struct heap_node *b)
{
        const struct entry *x = container_of(a, const struct entry, heap);
        const struct entry *y = container_of(b, const struct entry, heap);

        return x->due_ms != y->due_ms ? x->due_ms < y->due_ms : x->order < y->order;
}

struct work_queue *work_queue_new(struct loop *l, const struct queue_options *o)
{
        struct work_queue *q = NEW(struct work_queue);

        if (!q)
                return NULL;
        q->loop = l;
        if (o)
                q->options = *o;
        if (q->options.backoff_base_ms <= 0)
                q->options.backoff_base_ms = BACKOFF_BASE_MS;
        if (q->options.backoff_max_ms <= 0)
                q->options.backoff_max_ms = BACKOFF_MAX_MS;
        map_init(&q->entries, MAP_BORROW_KEYS, mem_free);
        heap_init(&q->delayed, due_before);
        for (size_t i = 0; i < PRIORITIES; i++)
                list_init(&q->waiting[i]);
        return q;
}

struct work_queue *work_queue_free(struct work_queue *q)
{
        if (!q)
                return NULL;
        timer_stop(&q->timer);
        heap_free(&q->delayed);
        map_free(&q->entries);
        mem_free(q);
        return NULL;
}

static struct entry *entry_at(struct work_queue *q, const char *key)
{
        struct entry *e = map_get(&q->entries, key);
        size_t n;

        if (e)
                return e;
        n = strlen(key) + 1;
        e = mem_zalloc(sizeof(*e) + n);
        if (!e)
                return NULL;
        memcpy(e->key, key, n);
        list_init(&e->node);
        if (map_put(&q->entries, e->key, e) < 0) {
                mem_free(e);
                return NULL;
        }
        return e;
}

static void make_waiting(struct work_queue *q, struct entry *e, enum queue_priority p)
{
        heap_remove(&q->delayed, &e->heap);
        if (e->waiting) {
                if (p >= e->priority)
                        return;
                list_remove(&e->node); /* a user's edit overtakes the backlog */
        } else {
                e->waiting = true;
                e->queued_ms = loop_now_ms(q->loop);
                q->n_waiting++;
        }
        e->priority = (uint8_t)p;
        list_append(&q->waiting[p], &e->node);
        waitq_wake_one(&q->getters);
}

static void arm_timer(struct work_queue *q);

static void timer_fired(struct timer *t)
{
        struct work_queue *q = container_of(t, struct work_queue, timer);
        struct heap_node *top;

        while ((top = heap_top(&q->delayed))) {
                struct entry *e = container_of(top, struct entry, heap);

                if (e->due_ms > loop_now_ms(q->loop))
                        break;
                make_waiting(q, e, e->priority);
        }
        arm_timer(q);
}

static void arm_timer(struct work_queue *q)
{
        struct heap_node *top = heap_top(&q->delayed);

        if (!top) {
                timer_stop(&q->timer);
                return;
        }
        struct entry *e = container_of(top, struct entry, heap);
        /* Without memory for the timer the key is not lost: it is tried at once. */
        if (timer_start(q->loop, &q->timer, e->due_ms, timer_fired) < 0)
                make_waiting(q, e, e->priority);
}

int work_queue_add(struct work_queue *q, const char *key, enum queue_priority p)
{
        struct entry *e = entry_at(q, key);

        if (!e)
                return ERR_NO_MEMORY;
        if (!e->active) {
                make_waiting(q, e, p);
                return 0;
        }
        if (!e->again || p < e->again_priority)
                e->again_priority = (uint8_t)p;
        e->again = true;
        return 0;
}

int work_queue_add_after(struct work_queue *q, const char *key, int64_t delay_ms, enum queue_priority p)
{
        struct entry *e;
        int64_t due = loop_now_ms(q->loop) + delay_ms;

        if (delay_ms <= 0)
                return work_queue_add(q, key, p);
        e = entry_at(q, key);
        if (!e)
                return ERR_NO_MEMORY;
        if (e->waiting)
                return 0;
        if (e->active) {
                if (!e->delayed_again || due < e->due_ms)
                        e->due_ms = due;
                e->delayed_again = true;
                return 0;
        }
        if (e->heap.place && e->due_ms <= due)
                return 0;
        heap_remove(&q->delayed, &e->heap);
        e->due_ms = due;
        e->order = q->order++;
        e->priority = (uint8_t)p;
        if (heap_push(&q->delayed, &e->heap) < 0)
                make_waiting(q, e, p);
        arm_timer(q);
        return 0;
}

static int64_t backoff_ms(const struct work_queue *q, const struct entry *e)
{
        uint32_t doublings = MIN(e->failures, 30u);
        int64_t ms = q->options.backoff_base_ms << doublings;

        return MIN(ms, q->options.backoff_max_ms);
}

int work_queue_add_backoff(struct work_queue *q, const char *key)
{
        struct entry *e = entry_at(q, key);
        int64_t ms;

        if (!e)
                return ERR_NO_MEMORY;
        ms = backoff_ms(q, e);
        e->failures++;
        return work_queue_add_after(q, key, ms, QUEUE_NORMAL);
}

static void drop_if_idle(struct work_queue *q, struct entry *e)
{
        if (!e->waiting && !e->active && !e->heap.place && e->failures == 0)
                map_remove(&q->entries, e->key);
}

void work_queue_forget(struct work_queue *q, const char *key)
{
        struct entry *e = map_get(&q->entries, key);

        if (!e)
                return;
        e->failures = 0;
        drop_if_idle(q, e);
}

static struct entry *first_waiting(struct work_queue *q)
{
        for (size_t i = 0; i < PRIORITIES; i++)
                if (!list_empty(&q->waiting[i]))
                        return list_first(&q->waiting[i], struct entry, node);
        return NULL;
}

int work_queue_get(struct work_queue *q, int64_t deadline_ms, const char **ret_key)
{
        struct entry *e;

        while (!(e = first_waiting(q)))
                TRY(waitq_wait(q->loop, &q->getters, deadline_ms));
        list_remove(&e->node);
        e->waiting = false;
        e->active = true;
        q->n_waiting--;
        q->n_active++;
        *ret_key = e->key;
        return 0;
}

void work_queue_done(struct work_queue *q, const char *key)
{
        struct entry *e = map_get(&q->entries, key);

        ASSERT(e && e->active);
        e->active = false;
        q->n_active--;
        if (e->again) {
                e->again = e->delayed_again = false;
                make_waiting(q, e, e->again_priority);
                return;
        }
        if (e->delayed_again) {
                e->delayed_again = false;
                work_queue_add_after(q, e->key, e->due_ms - loop_now_ms(q->loop), QUEUE_NORMAL);
                return;
        }
        drop_if_idle(q, e);
}

size_t work_queue_depth(const struct work_queue *q)
{
        return q->n_waiting;
}

size_t work_queue_delayed(const struct work_queue *q)
{
        return q->delayed.n;
}

size_t work_queue_active(const struct work_queue *q)
{
        return q->n_active;
}

int64_t work_queue_oldest_ms(const struct work_queue *q)
{
        int64_t oldest = INT64_MAX;

        for (size_t i = 0; i < PRIORITIES; i++) {
                if (list_empty(&q->waiting[i]))
                        continue;
                const struct entry *e = list_first(&q->waiting[i], const struct entry, node);
                oldest = MIN(oldest, e->queued_ms);
        }
        return oldest == INT64_MAX ? 0 : loop_now_ms(q->loop) - oldest;
}
