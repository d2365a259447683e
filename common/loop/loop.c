/* The turn of a loop: due timers, ready fibers, armed hooks, then the world outside. */
#include "common/base/buf.h"
#include "common/loop/internal.h"

#define LEAST_BUDGET 64 /* resumed fibers between two looks at the outside */

struct loop *loop_new(const struct loop_backend *backend, bool simulated)
{
        struct loop *l = NEW(struct loop);
        if (!l)
                return NULL;
        l->backend = backend;
        l->simulated = simulated;
        list_init(&l->fibers);
        list_init(&l->ready);
        list_init(&l->armed_hooks);
        return l;
}

struct loop *loop_free(struct loop *l)
{
        if (!l)
                return NULL;
        ASSERT(l->n_fibers == 0 && !l->running);
        l->backend->free(l);
        stack_pool_free(&l->stacks);
        vec_free(&l->ready_by_draw);
        timers_free(&l->timers);
        mem_free(l);
        return NULL;
}

bool loop_is_simulated(const struct loop *l)
{
        return l->simulated;
}

int64_t loop_now_ms(const struct loop *l)
{
        return l->backend->now_ms(l);
}

int64_t loop_now_us(const struct loop *l)
{
        return l->backend->now_us(l);
}

int64_t loop_wall_us(const struct loop *l)
{
        return l->backend->wall_us(l);
}

int64_t loop_wall_ms(const struct loop *l)
{
        return loop_wall_us(l) / 1000;
}

void loop_random(struct loop *l, void *ret, size_t n)
{
        l->backend->random(l, ret, n);
}

uint64_t loop_random_u64(struct loop *l)
{
        uint64_t v;
        loop_random(l, &v, sizeof(v));
        return v;
}

size_t loop_fiber_count(const struct loop *l)
{
        return l->n_fibers;
}

size_t loop_fiber_stack_bytes(const struct loop *l)
{
        return l->stacks.mapped;
}

/* ---- hooks ---- */

void loop_hook_add(struct loop *l, struct loop_hook *hook)
{
        hook->loop = l;
        list_init(&hook->node);
}

void loop_hook_remove(struct loop *l, struct loop_hook *hook)
{
        list_remove(&hook->node);
        hook->loop = NULL;
}

void loop_hook_arm(struct loop_hook *hook)
{
        if (list_empty(&hook->node))
                list_append(&hook->loop->armed_hooks, &hook->node);
}

static void run_hooks(struct loop *l)
{
        struct list last; /* marks the end of this turn's hooks; those armed meanwhile come behind it */
        if (list_empty(&l->armed_hooks))
                return;
        list_append(&l->armed_hooks, &last);
        while (l->armed_hooks.next != &last) {
                struct loop_hook *hook = list_first(&l->armed_hooks, struct loop_hook, node);
                list_remove(&hook->node);
                hook->fn(hook->ctx);
        }
        list_remove(&last);
}

/* ---- running ---- */

/* True if there is more to do without looking outside. The simulation draws how many fibers share a turn, so
 * that seeds differ in what a hook finds done. */
static bool run_turn(struct loop *l)
{
        size_t budget =
                l->simulated ? 1 + simulated_draw(l) % LEAST_BUDGET : MAX(l->n_ready, (size_t)LEAST_BUDGET);
        timers_fire(l);
        fiber_run_ready(l, budget);
        run_hooks(l);
        return l->n_ready || !list_empty(&l->armed_hooks);
}

static int nothing_can_happen(struct loop *l, struct error *err)
{
        AUTO_BUF struct buf names;
        size_t n = 0;
        buf_init(&names, 800);
        list_for_each(f, &l->fibers, struct fiber, all) {
                if (buf_printf(&names, "%s%s", n++ ? ", " : "", f->name) < 0)
                        break;
        }
        return error_set(err, ERR_INTERNAL, "%zu fibers wait for what nothing can wake: %s%s", l->n_fibers,
                         names.data, names.failed ? ", ..." : "");
}

static int run(struct loop *l, struct error *err)
{
        l->backend->poll(l, false);
        for (;;) {
                bool more = run_turn(l);
                if (l->stopping || (!more && !l->n_fibers && !l->backend->alive(l)))
                        return 0;
                if (!more && l->simulated && loop_next_timer_ms(l) == DEADLINE_NONE)
                        return nothing_can_happen(l, err);
                l->backend->poll(l, !more);
                if (l->stopping)
                        return 0;
        }
}

int loop_run(struct loop *l, struct error *err)
{
        ASSERT(!l->running);
        l->running = true;
        l->stopping = false;
        int code = run(l, err);
        l->running = false;
        return code;
}

void loop_run_until(struct loop *l, int64_t until_ms)
{
        ASSERT(l->simulated && !l->running);
        l->running = true;
        l->stopping = false;
        for (;;) {
                bool more = run_turn(l);
                if (l->stopping)
                        break;
                if (more)
                        continue;
                int64_t next = loop_next_timer_ms(l);
                l->now_ms = MAX(l->now_ms, MIN(next, until_ms));
                if (next > until_ms)
                        break;
        }
        l->running = false;
}

void loop_stop(struct loop *l)
{
        l->stopping = true;
}
