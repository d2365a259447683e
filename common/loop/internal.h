/* What the files of common/loop share. Nobody else includes this. */
#pragma once

#include "common/base/arena.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/loop/loop.h"
#include "common/loop/switch.h"

/* Lies at the top of its own stack, so a fiber costs no allocation beside it. */
struct fiber {
        struct context context;
        struct loop *loop;
        struct fiber_group *group;
        struct loop_process *process; /* the group's */
        const char *name;
        fiber_fn fn;
        void *ctx;
        struct list all;       /* of the loop's fibers */
        struct list of_group;  /* of the group's own fibers */
        struct list queue;     /* of the ready queue (real), or of those that its process holds */
        struct list wait;      /* of one wait queue */
        struct timer deadline; /* of the park it is in */
        unsigned masked;       /* nesting of fiber_mask_cancel */
        int64_t turn_ms;       /* it goes on in the turn of this time, where its process was stopped; -1 */
        bool queued, cancelled, ended;
        bool woken;      /* a wake not yet seen by a park */
        bool queue_woke; /* taken off its wait queue by a wake */
        void *stack;     /* lowest usable byte */
        size_t stack_size;
        void *fake_stack; /* of ASan */
        unsigned valgrind_id;
};

struct loop_process {
        struct loop *loop;
        bool stopped;
        struct list fibers; /* ready to run, by struct fiber.queue */
        struct list timers; /* due, by struct timer.node */
        size_t n_late;      /* it goes on: fibers of the turn that it was stopped in, which come first */
};

struct fiber_group {
        struct loop *loop;
        struct fiber_group *parent;
        struct loop_process *process; /* NULL = of none */
        const char *name;
        struct list fibers, groups;
        struct list of_parent; /* of parent->groups */
        size_t live;           /* fibers here and below */
        bool cancelled;
        struct waitq waiters; /* for live to fall */
};

/* Idle stacks, the warmest last. The first n_trimmed hold only their top page. */
struct stack_pool {
        VEC(struct fiber *) idle;
        size_t n_trimmed;
        size_t mapped; /* bytes, in use and idle */
};

struct timer_key {
        int64_t at_ms;
        uint64_t order;
};

struct timer_slot {
        struct timer_key key; /* not later than the timer's */
        struct timer *timer;
};

struct far_timers;

/* A heap, and beside it what is far off. Of all n_armed are of timers that run; the others' fibers may use
 * their places again. */
struct timers {
        struct timer_slot *at;
        size_t n, cap, n_armed, n_far;
        struct far_timers *far; /* NULL: there were never many */
};

/* What differs between real and simulated. */
struct loop_backend {
        int64_t (*now_ms)(const struct loop *l); /* also within poll, whose callbacks begin after a wait */
        int64_t (*now_us)(const struct loop *l);
        int64_t (*wall_us)(const struct loop *l);
        void (*random)(struct loop *l, void *ret, size_t n);
        /* Fetches the time and what happened outside; with `wait`, sleeps until something may be due. */
        void (*poll)(struct loop *l, bool wait);
        bool (*alive)(struct loop *l); /* open handles of others */
        void (*free)(struct loop *l);
};

struct loop {
        const struct loop_backend *backend;
        int64_t now_ms;               /* of this turn; poll leaves it as it was until it returns */
        int64_t late_ms;              /* how much later it is than this turn knows: simulated */
        struct loop_process *process; /* of what runs */
        struct fiber *current;        /* NULL: the loop itself runs */
        struct context context;
        struct list fibers;                /* all, by struct fiber.all */
        struct list ready;                 /* real: first come, first served */
        VEC(struct fiber *) ready_by_draw; /* simulated: drawn at random; room for all is reserved at spawn */
        size_t n_fibers, n_ready;
        struct timers timers;
        size_t n_timers; /* running, without the fibers' deadlines */
        uint64_t timer_order;
        struct list armed_hooks;
        struct stack_pool stacks;
        bool simulated, stopping, running;
        const void *asan_stack; /* of the thread that runs the loop */
        size_t asan_stack_size;
        void *fake_stack;
        void *backend_state;
};

/* stack.c */
struct fiber *stack_take(struct stack_pool *pool); /* a zeroed fiber with its stack; NULL on no memory */
void stack_give(struct stack_pool *pool, struct fiber *f, size_t most_idle); /* that stay in the pool */
void stack_pool_trim(struct stack_pool *pool); /* gives pages of cold idle stacks back */
void stack_pool_free(struct stack_pool *pool);

/* fiber.c */
void fiber_queue(struct fiber *f); /* makes it ready; no-op if it is */
void fiber_run_ready(struct loop *l, size_t budget);

/* process.c */
bool process_holds_fiber(struct fiber *f); /* it is ready, but its process is stopped: it was put away */
bool process_holds_timer(struct timer *t); /* the same of one that is due */
void process_ran_late(struct loop_process *p);

/* group.c */
void group_enter(struct fiber *f);
void group_leave(struct fiber *f);

/* loop.c */
struct loop *loop_new(const struct loop_backend *backend, bool simulated);

/* timers.c */
void timer_arm(struct loop *l, struct timer *t, int64_t at_ms,
               void (*fn)(struct timer *)); /* room is reserved */
int timer_reserve(struct loop *l, size_t extra_timers, size_t extra_fibers);
/* As timer_stop() of a deadline that will be set again; timer_stop() before its memory goes. */
void timer_rest(struct timer *t);
void timer_hold(struct timer *t, struct list *held); /* it is put away, with its room */
void timer_put_back(struct timer *t);                /* one that was held */
void timers_fire(struct loop *l);                    /* what is due */
void timers_free(struct timers *h);
int64_t loop_next_timer_ms(struct loop *l); /* DEADLINE_NONE if none */

/* loop_simulated.c */
uint64_t simulated_draw(struct loop *l); /* the scheduler's own random numbers */
