#include "common/loop/internal.h"

struct loop_process *loop_process_new(struct loop *l)
{
        struct loop_process *p = NEW(struct loop_process);
        ASSERT(l->simulated);
        if (!p)
                return NULL;
        p->loop = l;
        list_init(&p->fibers);
        list_init(&p->timers);
        return p;
}

struct loop_process *loop_process_free(struct loop_process *p)
{
        if (p)
                loop_process_go_on(p);
        mem_free(p);
        return NULL;
}

void loop_process_add(struct loop_process *p, struct fiber_group *g)
{
        ASSERT(p->loop == g->loop && !g->live);
        g->process = p;
}

bool loop_process_stopped(const struct loop_process *p)
{
        return p->stopped;
}

struct loop_process *loop_process_running(const struct loop *l)
{
        return l->process;
}

static void hold_fiber(struct loop_process *p, struct fiber *f, int64_t turn_ms)
{
        if (f->turn_ms < 0)
                f->turn_ms = turn_ms;
        list_append(&p->fibers, &f->queue);
}

bool process_holds_fiber(struct fiber *f)
{
        struct loop_process *p = f->process;
        if (!p || !p->stopped)
                return false;
        /* What it wakes itself, as it is being stopped, belongs to that turn. */
        hold_fiber(p, f, p->loop->process == p ? p->loop->now_ms : -1);
        return true;
}

bool process_holds_timer(struct timer *t)
{
        struct loop_process *p = t->process;
        if (!p || (!p->stopped && p->n_late == 0))
                return false;
        timer_hold(t, &p->timers);
        return true;
}

/* They were about to run, in this turn. */
static void hold_ready(struct loop_process *p)
{
        struct loop *l = p->loop;
        int64_t turn_ms = l->process == p ? l->now_ms : l->now_ms + l->late_ms;
        size_t kept = 0;
        for (size_t i = 0; i < l->ready_by_draw.n; i++) {
                struct fiber *f = l->ready_by_draw.at[i];
                if (f->process == p)
                        hold_fiber(p, f, turn_ms);
                else
                        l->ready_by_draw.at[kept++] = f;
        }
        l->n_ready -= l->ready_by_draw.n - kept;
        l->ready_by_draw.n = kept;
}

void loop_process_stop(struct loop_process *p)
{
        if (p->stopped)
                return;
        p->stopped = true;
        p->n_late = 0;
        hold_ready(p);
}

/* To the loop; `late`: those of the turn that was interrupted, else the rest. */
static size_t release_fibers(struct loop_process *p, bool late)
{
        size_t n = 0;
        list_for_each_safe(f, next, &p->fibers, struct fiber, queue) {
                if (late && f->turn_ms < 0)
                        continue;
                list_remove(&f->queue);
                f->queued = false;
                fiber_queue(f);
                n++;
        }
        return n;
}

/* What came while it was stopped. */
static void release_rest(struct loop_process *p)
{
        release_fibers(p, false);
        while (!list_empty(&p->timers))
                timer_put_back(list_first(&p->timers, struct timer, node));
}

void process_ran_late(struct loop_process *p)
{
        if (p->n_late > 0 && --p->n_late == 0)
                release_rest(p);
}

/* The interrupted turn ends before the loop looks at timers and at what came in. */
void loop_process_go_on(struct loop_process *p)
{
        if (!p->stopped)
                return;
        p->stopped = false;
        p->n_late = release_fibers(p, true);
        if (p->n_late == 0)
                release_rest(p);
}
