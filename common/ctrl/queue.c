/* The work queue. Every known key has one entry that moves between states:
 *
 *     idle (backoff or timers remembered) -> waiting (on a list) -> active
 *
 * An add during `active` sets `again`, so the key is queued once more when its reconcile ends. Beside that an
 * entry has two alarms, on one heap with all others and sharing one timer, set to the earliest: `asked`, from
 * outside, stays through all states until it fires; `own`, what its last reconcile asked for, ends when the
 * next one begins, since that one decides anew. */
#include "common/ctrl/queue.h"

#include "common/base/heap.h"
#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/ctrl/metrics.h"

#define BACKOFF_BASE_MS 5
#define BACKOFF_MAX_MS 30000
#define PRIORITIES 4

/* So many keys of better classes may come before one of this class that waits. */
static const unsigned passed_over_max[PRIORITIES] = {
        [QUEUE_HIGH] = 4, [QUEUE_NORMAL] = 8, [QUEUE_LOW] = 16
};

struct alarm {
        struct heap_node heap;
        struct entry *of;
        int64_t due_ms;
        uint64_t order; /* breaks ties between equal due times: first come, first served */
        uint8_t priority;
};

/* Small: of a first list there are as many as objects. */
struct entry {
        struct list node;          /* on waiting[priority] while waiting */
        int64_t since_us;          /* when it began to wait, or to be worked on */
        struct alarm *asked, *own; /* NULL = none is set */
        uint32_t failures;
        uint8_t priority, again_priority, share;
        bool waiting, active, again;
        char key[];
};

struct work_queue {
        struct loop *loop;
        struct queue_options options;
        struct map entries; /* key -> entry; keys point into the entries */
        struct list waiting[PRIORITIES];
        unsigned passed_over[PRIORITIES]; /* keys of better classes that came since the last of this one */
        struct heap alarms;
        struct timer timer;
        struct waitq getters;
        size_t n_waiting, n_active;
        uint64_t order;
};

static bool due_before(const struct heap_node *a, const struct heap_node *b)
{
        const struct alarm *x = container_of(a, const struct alarm, heap);
        const struct alarm *y = container_of(b, const struct alarm, heap);

        return x->due_ms != y->due_ms ? x->due_ms < y->due_ms : x->order < y->order;
}

static void entry_free(void *entry)
{
        struct entry *e = entry;

        mem_free(e->asked);
        mem_free(e->own);
        mem_free(e);
}

struct work_queue *work_queue_new(struct loop *l, const struct queue_options *o)
{
        struct work_queue *q = NEW(struct work_queue);

        if (!q)
                return NULL;
        q->loop = l;
        q->options = *o;
        if (q->options.backoff_base_ms <= 0)
                q->options.backoff_base_ms = BACKOFF_BASE_MS;
        if (q->options.backoff_max_ms <= 0)
                q->options.backoff_max_ms = BACKOFF_MAX_MS;
        map_init(&q->entries, MAP_BORROW_KEYS, entry_free);
        heap_init(&q->alarms, due_before);
        for (size_t i = 0; i < PRIORITIES; i++)
                list_init(&q->waiting[i]);
        return q;
}

struct work_queue *work_queue_free(struct work_queue *q)
{
        if (!q)
                return NULL;
        timer_stop(&q->timer);
        heap_free(&q->alarms);
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
        if (e->waiting) {
                if (p >= e->priority)
                        return;
                list_remove(&e->node); /* overtakes the backlog */
        } else {
                e->waiting = true;
                e->since_us = loop_now_us(q->loop);
                q->n_waiting++;
                series_add(q->options.adds, 1);
        }
        e->priority = (uint8_t)p;
        list_append(&q->waiting[p], &e->node);
        waitq_wake_one(&q->getters);
}

static void queue_now(struct work_queue *q, struct entry *e, enum queue_priority p)
{
        if (!e->active) {
                make_waiting(q, e, p);
                return;
        }
        if (!e->again || p < e->again_priority)
                e->again_priority = (uint8_t)p;
        e->again = true;
}

static struct alarm **place_of(const struct alarm *a)
{
        return a->of->asked == a ? &a->of->asked : &a->of->own;
}

static void end_alarm(struct work_queue *q, struct alarm *a)
{
        heap_remove(&q->alarms, &a->heap);
        *place_of(a) = NULL;
        mem_free(a);
}

static void fire(struct work_queue *q, struct alarm *a)
{
        struct entry *e = a->of;
        enum queue_priority p = a->priority;

        end_alarm(q, a);
        queue_now(q, e, p);
}

static void arm_timer(struct work_queue *q);

static void timer_fired(struct timer *t)
{
        struct work_queue *q = container_of(t, struct work_queue, timer);
        struct heap_node *top;

        while ((top = heap_top(&q->alarms))) {
                struct alarm *a = container_of(top, struct alarm, heap);

                if (a->due_ms > loop_now_ms(q->loop))
                        break;
                fire(q, a);
        }
        arm_timer(q);
}

static void arm_timer(struct work_queue *q)
{
        struct heap_node *top = heap_top(&q->alarms);

        if (!top) {
                timer_stop(&q->timer);
                return;
        }
        struct alarm *a = container_of(top, struct alarm, heap);
        /* Without memory for the timer the key is not lost: it is tried at once. */
        if (timer_start(q->loop, &q->timer, a->due_ms, timer_fired) < 0)
                fire(q, a);
}

/* Replaces the alarm's former time. Without memory for it the key is tried at once. */
static void set_alarm(struct work_queue *q, struct entry *e, struct alarm **place, int64_t due_ms,
                      enum queue_priority p)
{
        struct alarm *a = *place ? *place : NEW(struct alarm);

        series_add(q->options.retries, 1);
        if (!a) {
                queue_now(q, e, p);
                return;
        }
        heap_remove(&q->alarms, &a->heap);
        *a = (struct alarm){ .of = e, .due_ms = due_ms, .order = q->order++, .priority = (uint8_t)p };
        *place = a;
        if (heap_push(&q->alarms, &a->heap) < 0)
                fire(q, a);
        arm_timer(q);
}

static void drop_alarm(struct work_queue *q, struct alarm *a)
{
        if (!a)
                return;
        end_alarm(q, a);
        arm_timer(q);
}

int work_queue_add(struct work_queue *q, const char *key, enum queue_priority p)
{
        struct entry *e = entry_at(q, key);

        if (!e)
                return ERR_NO_MEMORY;
        queue_now(q, e, p);
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
        if (!e->asked || due < e->asked->due_ms)
                set_alarm(q, e, &e->asked, due, p);
        return 0;
}

int work_queue_again_after(struct work_queue *q, const char *key, int64_t delay_ms, enum queue_priority p)
{
        struct entry *e = entry_at(q, key);

        if (!e)
                return ERR_NO_MEMORY;
        set_alarm(q, e, &e->own, loop_now_ms(q->loop) + MAX(delay_ms, 1), p);
        return 0;
}

static int64_t backoff_ms(const struct work_queue *q, const struct entry *e)
{
        uint32_t doublings = MIN(e->failures, 30u);
        int64_t ms = q->options.backoff_base_ms << doublings;

        return MIN(ms, q->options.backoff_max_ms);
}

int work_queue_add_backoff(struct work_queue *q, const char *key, int64_t longest_ms)
{
        struct entry *e = entry_at(q, key);
        int64_t ms;

        if (!e)
                return ERR_NO_MEMORY;
        ms = backoff_ms(q, e);
        e->failures++;
        return work_queue_again_after(q, key, MIN(ms, longest_ms), QUEUE_NORMAL);
}

static void drop_if_idle(struct work_queue *q, struct entry *e)
{
        if (!e->waiting && !e->active && !e->asked && !e->own && e->failures == 0)
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

/* The class whose turn it is; PRIORITIES if nothing waits. */
static unsigned next_class(const struct work_queue *q)
{
        for (unsigned i = PRIORITIES - 1; i > 0; i--)
                if (!list_empty(&q->waiting[i]) && q->passed_over[i] >= passed_over_max[i])
                        return i;
        for (unsigned i = 0; i < PRIORITIES; i++)
                if (!list_empty(&q->waiting[i]))
                        return i;
        return PRIORITIES;
}

static struct entry *take_waiting(struct work_queue *q)
{
        unsigned from = next_class(q);
        struct entry *e;

        if (from == PRIORITIES)
                return NULL;
        for (unsigned i = from + 1; i < PRIORITIES; i++)
                if (!list_empty(&q->waiting[i]))
                        q->passed_over[i]++;
        q->passed_over[from] = 0;
        e = list_first(&q->waiting[from], struct entry, node);
        list_remove(&e->node);
        return e;
}

/* Seconds that its present state has lasted; the next one begins. */
static double lasted(const struct work_queue *q, struct entry *e)
{
        int64_t now = loop_now_us(q->loop), took = now - e->since_us;

        e->since_us = now;
        return (double)took / 1e6;
}

static void begin(struct work_queue *q, struct entry *e, const char **ret_key)
{
        e->waiting = false;
        e->active = true;
        q->n_waiting--;
        q->n_active++;
        series_observe(q->options.waited, lasted(q, e));
        drop_alarm(q, e->own);
        *ret_key = e->key;
}

int work_queue_get(struct work_queue *q, int64_t deadline_ms, const char **ret_key)
{
        struct entry *e;

        while (!(e = take_waiting(q)))
                TRY(waitq_wait(q->loop, &q->getters, deadline_ms));
        begin(q, e, ret_key);
        return 0;
}

int work_queue_get_fitting(struct work_queue *q, bool (*fits)(void *ctx, const char *key), void *ctx,
                           const char **ret_key)
{
        for (unsigned p = 0; p < QUEUE_LOW; p++)
                list_for_each(e, &q->waiting[p], struct entry, node) {
                        if (!fits(ctx, e->key))
                                continue;
                        list_remove(&e->node);
                        begin(q, e, ret_key);
                        return 0;
                }
        return ERR_NOT_FOUND;
}

int work_queue_wait(struct work_queue *q)
{
        return waitq_wait(q->loop, &q->getters, DEADLINE_NONE);
}

void work_queue_wake(struct work_queue *q)
{
        waitq_wake_all(&q->getters);
}

void work_queue_done(struct work_queue *q, const char *key)
{
        struct entry *e = map_get(&q->entries, key);

        ASSERT(e && e->active);
        e->active = false;
        q->n_active--;
        series_observe(q->options.worked, lasted(q, e));
        if (e->again) {
                e->again = false;
                make_waiting(q, e, e->again_priority);
                return;
        }
        drop_if_idle(q, e);
}

/* ---- shares ---- */

void work_queue_set_share(struct work_queue *q, const char *key, unsigned share)
{
        struct entry *e = map_get(&q->entries, key);

        ASSERT(share < 64);
        if (e)
                e->share = (uint8_t)share;
}

int work_queue_share(const struct work_queue *q, const char *key)
{
        const struct entry *e = map_get(&q->entries, key);

        return e ? e->share : -1;
}

static void drop(struct work_queue *q, struct entry *e)
{
        if (e->waiting) {
                list_remove(&e->node);
                e->waiting = false;
                q->n_waiting--;
        }
        drop_alarm(q, e->asked);
        drop_alarm(q, e->own);
        e->again = false;
        e->failures = 0;
        drop_if_idle(q, e);
}

void work_queue_drop(struct work_queue *q, const char *key)
{
        struct entry *e = map_get(&q->entries, key);

        if (e)
                drop(q, e);
}

void work_queue_drop_shares(struct work_queue *q, uint64_t shares)
{
        map_for_each(&q->entries, it) {
                struct entry *e = it->value;

                if (shares >> e->share & 1)
                        drop(q, e);
        }
}

size_t work_queue_depth(const struct work_queue *q)
{
        return q->n_waiting;
}

size_t work_queue_delayed(const struct work_queue *q)
{
        return q->alarms.n;
}

size_t work_queue_active(const struct work_queue *q)
{
        return q->n_active;
}

struct queue_under_way work_queue_under_way(const struct work_queue *q)
{
        struct queue_under_way r = { 0 };
        int64_t now = loop_now_us(q->loop);

        map_for_each(&q->entries, it) {
                const struct entry *e = it->value;
                double seconds = e->active ? (double)(now - e->since_us) / 1e6 : 0;

                r.seconds += seconds;
                r.longest = MAX(r.longest, seconds);
        }
        return r;
}
