#include "common/loop/internal.h"

#ifdef ARGOSY_ASAN
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, bottom, size) ((void)0)
#define __sanitizer_finish_switch_fiber(saved, bottom, size) ((void)0)
#endif

#define MANY_PROGRAMS_SHARE 12 /* so many fibers wait for each that comes and goes */

static void run_fiber(void *arg)
{
        struct fiber *f = arg;
        struct loop *l = f->loop;
        __sanitizer_finish_switch_fiber(NULL, &l->asan_stack, &l->asan_stack_size);
        f->fn(f->ctx);
        f->ended = true;
        __sanitizer_start_switch_fiber(NULL, l->asan_stack, l->asan_stack_size);
        context_switch(&f->context, &l->context);
        UNREACHABLE();
}

static void switch_to_loop(struct fiber *f)
{
        struct loop *l = f->loop;
        __sanitizer_start_switch_fiber(&f->fake_stack, l->asan_stack, l->asan_stack_size);
        context_switch(&f->context, &l->context);
        __sanitizer_finish_switch_fiber(f->fake_stack, &l->asan_stack, &l->asan_stack_size);
}

/* A simulated fleet is many programs in one loop, whose bursts are as many times larger. */
static size_t most_idle_stacks(const struct loop *l)
{
        size_t of_many = MIN(l->n_fibers / MANY_PROGRAMS_SHARE, LIMIT_FIBERS - l->n_fibers);
        return l->simulated ? MAX(of_many, LIMIT_FIBER_IDLE_STACKS) : LIMIT_FIBER_IDLE_STACKS;
}

static void end_fiber(struct fiber *f)
{
        struct loop *l = f->loop;
        ASSERT(!f->queued && !f->masked);
        timer_stop(&f->deadline);
        list_remove(&f->all);
        l->n_fibers--;
        group_leave(f);
        stack_give(&l->stacks, f, most_idle_stacks(l));
}

static void resume(struct fiber *f)
{
        struct loop *l = f->loop;
        struct loop_process *p = f->process;
        int64_t now_ms = l->now_ms;
        bool late = f->turn_ms >= 0;
        if (late) {
                l->late_ms = now_ms - f->turn_ms;
                l->now_ms = f->turn_ms;
                f->turn_ms = -1;
        }
        l->current = f;
        l->process = p;
        __sanitizer_start_switch_fiber(&l->fake_stack, f->stack, f->stack_size);
        context_switch(&l->context, &f->context);
        __sanitizer_finish_switch_fiber(l->fake_stack, NULL, NULL);
        l->process = NULL;
        l->current = NULL;
        l->now_ms = now_ms;
        l->late_ms = 0;
        if (late)
                process_ran_late(p);
        if (f->ended)
                end_fiber(f);
}

void fiber_queue(struct fiber *f)
{
        struct loop *l = f->loop;
        if (f->queued)
                return;
        f->queued = true;
        if (process_holds_fiber(f))
                return;
        l->n_ready++;
        if (!l->simulated) {
                list_append(&l->ready, &f->queue);
                return;
        }
        ASSERT(l->ready_by_draw.n < l->ready_by_draw.cap);
        l->ready_by_draw.at[l->ready_by_draw.n++] = f;
}

static struct fiber *next_ready(struct loop *l)
{
        struct fiber *f;
        l->n_ready--;
        if (l->simulated) {
                size_t i = simulated_draw(l) % l->ready_by_draw.n;
                f = l->ready_by_draw.at[i];
                l->ready_by_draw.at[i] = l->ready_by_draw.at[--l->ready_by_draw.n];
        } else {
                f = list_first(&l->ready, struct fiber, queue);
                list_remove(&f->queue);
        }
        f->queued = false;
        return f;
}

void fiber_run_ready(struct loop *l, size_t budget)
{
        while (l->n_ready && budget-- && !l->stopping)
                resume(next_ready(l));
}

struct fiber *fiber_spawn(struct fiber_group *group, const char *name, fiber_fn fn, void *ctx)
{
        struct loop *l = group->loop;
        if (l->n_fibers >= LIMIT_FIBERS)
                return NULL;
        /* Room for its deadline and its place in the queue, so that neither park nor wake can fail. */
        if (timer_reserve(l, 0, 1) < 0)
                return NULL;
        if (l->simulated && vec_reserve(&l->ready_by_draw, l->n_fibers + 1) < 0)
                return NULL;
        struct fiber *f = stack_take(&l->stacks);
        if (!f)
                return NULL;
        f->loop = l;
        f->deadline.is_deadline = true;
        f->turn_ms = -1;
        f->group = group;
        f->process = group->process;
        f->name = name;
        f->fn = fn;
        f->ctx = ctx;
        context_make(&f->context, f->stack, f->stack_size, run_fiber, f);
        group_enter(f);
        list_append(&l->fibers, &f->all);
        l->n_fibers++;
        fiber_queue(f);
        return f;
}

struct fiber *fiber_self(struct loop *l)
{
        return l->current;
}

const char *fiber_name(const struct fiber *f)
{
        return f->name;
}

static bool sees_cancel(const struct fiber *f)
{
        return f->cancelled && !f->masked;
}

static void deadline_passed(struct timer *t)
{
        fiber_queue(container_of(t, struct fiber, deadline));
}

/* Parks without looking at cancellation first or last: true if woken. */
static bool park(struct fiber *f, int64_t deadline_ms)
{
        if (deadline_ms != DEADLINE_NONE)
                timer_arm(f->loop, &f->deadline, deadline_ms, deadline_passed);
        switch_to_loop(f);
        timer_rest(&f->deadline);
        bool woken = f->woken;
        f->woken = false;
        return woken;
}

int fiber_park(struct loop *l, int64_t deadline_ms)
{
        struct fiber *f = l->current;
        ASSERT(f);
        if (sees_cancel(f))
                return ERR_CANCELLED;
        if (f->woken) {
                f->woken = false;
                return 0;
        }
        if (deadline_ms <= l->now_ms)
                return ERR_TIMEOUT;
        bool woken = park(f, deadline_ms);
        if (sees_cancel(f))
                return ERR_CANCELLED;
        return woken ? 0 : ERR_TIMEOUT;
}

void fiber_wake(struct fiber *f)
{
        f->woken = true;
        if (f != f->loop->current)
                fiber_queue(f);
}

void fiber_cancel(struct fiber *f)
{
        f->cancelled = true;
        if (!f->masked && f != f->loop->current)
                fiber_queue(f);
}

bool fiber_cancelled(struct loop *l)
{
        ASSERT(l->current);
        return sees_cancel(l->current);
}

int fiber_yield(struct loop *l)
{
        struct fiber *f = l->current;
        ASSERT(f);
        if (sees_cancel(f))
                return ERR_CANCELLED;
        fiber_queue(f);
        switch_to_loop(f);
        return sees_cancel(f) ? ERR_CANCELLED : 0;
}

int fiber_sleep(struct loop *l, int64_t ms)
{
        int64_t until;
        if (ms <= 0)
                return fiber_yield(l);
        if (__builtin_add_overflow(l->now_ms, ms, &until))
                until = DEADLINE_NONE;
        for (;;) {
                int code = fiber_park(l, until);
                if (code < 0)
                        return code == ERR_TIMEOUT ? 0 : code;
        }
}

void fiber_mask_cancel(struct loop *l)
{
        ASSERT(l->current);
        l->current->masked++;
}

void fiber_unmask_cancel(struct loop *l)
{
        ASSERT(l->current && l->current->masked);
        l->current->masked--;
}

int waitq_wait(struct loop *l, struct waitq *q, int64_t deadline_ms)
{
        struct fiber *f = l->current;
        ASSERT(f);
        if (sees_cancel(f))
                return ERR_CANCELLED;
        if (!q->waiters.next)
                list_init(&q->waiters);
        f->queue_woke = false;
        list_append(&q->waiters, &f->wait);
        int code = fiber_park(l, deadline_ms);
        if (f->queue_woke)
                return 0;
        list_remove(&f->wait);
        return code;
}

void waitq_wake_one(struct waitq *q)
{
        if (list_empty(&q->waiters))
                return;
        struct fiber *f = list_first(&q->waiters, struct fiber, wait);
        list_remove(&f->wait);
        f->queue_woke = true;
        fiber_wake(f);
}

void waitq_wake_all(struct waitq *q)
{
        while (!list_empty(&q->waiters))
                waitq_wake_one(q);
}
