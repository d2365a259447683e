/* The event loop and its fibers: one thread, one loop, any number of agents on it.
 *
 * A fiber is a function with its own small stack. Calls that look blocking (sleep, HTTP, queue waits) park
 * the fiber and let the loop go on; nothing else runs in parallel, so state needs no locks, but everything
 * may have changed across a parking call. Fibers are woken from the loop only, never from inside a library's
 * callback.
 *
 * Two backends: real (libuv) and simulated (virtual clock, seeded order of runnable fibers and timers). Code
 * above this layer cannot tell which one it runs on. */
#pragma once

#include "common/base/error.h"
#include "common/base/list.h"
#include "common/base/log.h"

struct loop;
struct fiber;
struct fiber_group;

#define DEADLINE_NONE INT64_MAX

/* ---- loops ---- */

struct loop *loop_new_real(struct error *err);
/* Virtual time starts at wall_start_ms; time moves only when nothing is runnable. Same seed, same order. */
struct loop *loop_new_simulated(uint64_t seed, int64_t wall_start_ms, struct error *err);
struct loop *loop_free(struct loop *l); /* asserts that no fiber is left; returns NULL */
bool loop_is_simulated(const struct loop *l);

/* Runs until every fiber has ended or loop_stop() is called (then returns 0 too). Pending timers do not keep
 * it running. Real: also until all open handles are closed. Simulated: ERR_INTERNAL naming the parked fibers
 * when fibers are left that nothing can wake any more. */
int loop_run(struct loop *l, struct error *err);
void loop_stop(struct loop *l);
/* Simulated only: runs all that is due up to and at `until_ms` of loop_now_ms() (which starts at 0), then
 * leaves the clock there. Returns early on loop_stop(). */
void loop_run_until(struct loop *l, int64_t until_ms);

int64_t loop_now_ms(const struct loop *l);  /* monotonic, of this turn */
int64_t loop_now_us(const struct loop *l);  /* monotonic, fresh on the real backend: for latency metrics */
int64_t loop_wall_ms(const struct loop *l); /* time of day */
int64_t loop_wall_us(const struct loop *l);
void loop_random(struct loop *l, void *ret,
                 size_t n); /* cryptographic on the real backend, seeded on the simulated */
uint64_t loop_random_u64(struct loop *l);
/* Simulated only: lets the wall clock jump (NTP, suspend) without touching the monotonic clock. */
void loop_shift_wall(struct loop *l, int64_t by_ms);

/* The libuv loop behind the real backend (struct uv_loop_s *), NULL on the simulated: for common/net and
 * common/loop only. */
void *loop_uv(struct loop *l);

/* Calls fn at the end of each loop turn in which loop_hook_arm() was called since its last run: group commit,
 * batch flush. Runs outside any fiber. What it wakes, and itself if it arms again, runs in the next turn. */
struct loop_hook {
        struct list node; /* of the armed hooks */
        void (*fn)(void *ctx);
        void *ctx;
        struct loop *loop; /* set by loop_hook_add */
};
void loop_hook_add(struct loop *l, struct loop_hook *hook);
void loop_hook_remove(struct loop *l, struct loop_hook *hook);
void loop_hook_arm(struct loop_hook *hook);

/* ---- fibers ---- */

typedef void (*fiber_fn)(void *ctx);

/* Every fiber belongs to a group. `name` is borrowed for the fiber's life (log and debugger). Returns NULL on
 * no memory or LIMIT_FIBERS. The fiber starts on a later turn of the queue, never inside spawn. It runs even
 * when cancelled before (so that fn can give up ctx); the pointer is good until fn returns. */
struct fiber *fiber_spawn(struct fiber_group *group, const char *name, fiber_fn fn, void *ctx) MUST_CHECK;

struct fiber *fiber_self(struct loop *l); /* NULL outside fibers */
const char *fiber_name(const struct fiber *f);

/* Parks the running fiber until woken, cancelled, or loop_now_ms() >= deadline_ms. Returns 0, ERR_TIMEOUT or
 * ERR_CANCELLED (also at once if already cancelled and not masked). Callers re-check their condition: wakes
 * may be spurious. Where several come together cancellation wins over a wake and a wake over the deadline. */
int fiber_park(struct loop *l, int64_t deadline_ms);
/* Queues it; harmless if it is queued already. A wake of the running fiber lets its next park return at once,
 * so that no wake is lost between a check and the park. */
void fiber_wake(struct fiber *f);
void fiber_cancel(struct fiber *f);          /* its current and later parks return ERR_CANCELLED */
bool fiber_cancelled(struct loop *l);        /* of the running fiber; false while masked */
int fiber_yield(struct loop *l);             /* lets others run: 0 or ERR_CANCELLED */
int fiber_sleep(struct loop *l, int64_t ms); /* 0 or ERR_CANCELLED */
/* Between mask and unmask the running fiber's parks do not see its cancellation: for clean-up that must
 * finish (bounded by a deadline of its own). Nests. */
void fiber_mask_cancel(struct loop *l);
void fiber_unmask_cancel(struct loop *l);

/* ---- groups ---- */

/* A group owns fibers and sub-groups. Ending it cancels and joins all of them: shutdown is "end the root
 * group". `parent` NULL makes a root group of the loop. */
struct fiber_group *fiber_group_new(struct loop *l, struct fiber_group *parent, const char *name);
struct loop *fiber_group_loop(struct fiber_group *g);
size_t fiber_group_count(const struct fiber_group *g); /* live fibers, sub-groups included */
void fiber_group_cancel(struct fiber_group *g); /* cancels all, also those still to come; does not wait */
/* Waits until no fiber is left: 0, ERR_TIMEOUT, ERR_CANCELLED. Must run in a fiber outside the group. */
int fiber_group_join(struct fiber_group *g, int64_t deadline_ms);
/* Cancels, joins (cancellation of the caller masked), frees it and the sub-groups still there. In a fiber:
 * waits. Outside any fiber: the group must be empty already. NULL is fine. Returns NULL. */
struct fiber_group *fiber_group_end(struct fiber_group *g);
/* Bounded fan-out: parks until fewer than `limit` fibers are live in g. 0 or ERR_CANCELLED. */
int fiber_group_wait_below(struct fiber_group *g, size_t limit);

/* ---- wait queues ---- */

/* Fibers that wait for something; zero-initialise. */
struct waitq {
        struct list waiters;
};
/* As fiber_park, but a wake from the queue wins over cancellation too (the next park reports that), so that
 * no wake_one is lost. The queue is not touched after a wake from it, so the waker may free it. */
int waitq_wait(struct loop *l, struct waitq *q, int64_t deadline_ms);
void waitq_wake_one(struct waitq *q);
void waitq_wake_all(struct waitq *q);

/* ---- timers (callbacks outside fibers; prefer fiber_sleep) ---- */

struct timer {
        uint64_t place; /* among the loop's timers: common/loop/timers.c; 0 = it has none */
        int64_t at_ms;
        uint64_t order; /* among timers of one millisecond: start order, or drawn in the simulation */
        bool is_deadline, armed;
        void (*fn)(struct timer *t);
        struct loop *loop;
        struct loop_process *process; /* of who started it; NULL = of none */
        struct list node;             /* of those that are far off, or came due while it was stopped */
};
/* fn is called from the loop once loop_now_ms() >= at_ms; it may start timers and wake or spawn fibers. */
/* 0 or ERR_NO_MEMORY; restarts if running. A zeroed timer is not running. */
int timer_start(struct loop *l, struct timer *t, int64_t at_ms, void (*fn)(struct timer *));
void timer_stop(struct timer *t); /* no-op if not running */
bool timer_running(const struct timer *t);

/* ---- processes (simulated only) ---- */

/* What is stopped and goes on as a whole, as by SIGSTOP and SIGCONT or with its virtual machine. To it belong
 * the groups given to it and those below them, and whatever is begun from there: fibers, root groups, timers.
 * While it is stopped nothing of it runs; time goes on, its deadlines pass, what others wake waits. Hooks are
 * nobody's: no agent has any.
 *
 * What was ready to run when it was stopped goes on in the turn that it was in, as on the real backend:
 * loop_now_ms() says what it did then, and only loop_now_us() and the wall clock tell how late it is. */
struct loop_process *loop_process_new(struct loop *l);                /* NULL: no memory */
struct loop_process *loop_process_free(struct loop_process *p);       /* goes on; nothing of it may be left */
void loop_process_add(struct loop_process *p, struct fiber_group *g); /* that has no fibers yet */
void loop_process_stop(
        struct loop_process *p); /* the running fiber, if it is one of it, runs until it parks */
void loop_process_go_on(struct loop_process *p);
bool loop_process_stopped(const struct loop_process *p);
struct loop_process *loop_process_running(const struct loop *l); /* of who runs now; NULL = of none */
/* It is not the process's, though that started it: a message under way arrives all the same. */
void timer_disown(struct timer *t);

/* ---- offload ---- */

/* Runs fn(ctx) on a small thread pool and parks the calling fiber until done (not cancellable: fn owns ctx).
 * Inline on the simulated loop. fn must be pure: only its own data, no logging, no loop calls. */
int offload(struct loop *l, void (*fn)(void *ctx), void *ctx, struct error *err);

/* ---- stack accounting, debugging ---- */
size_t loop_fiber_count(const struct loop *l);
size_t loop_fiber_stack_bytes(const struct loop *l); /* mapped */
