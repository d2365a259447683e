#include "common/loop/internal.h"

struct fiber_group *fiber_group_new(struct loop *l, struct fiber_group *parent, const char *name)
{
        struct fiber_group *g = NEW(struct fiber_group);
        if (!g)
                return NULL;
        ASSERT(!parent || parent->loop == l);
        g->loop = l;
        g->parent = parent;
        g->process = parent ? parent->process : l->process;
        g->name = name;
        g->cancelled = parent && parent->cancelled;
        list_init(&g->fibers);
        list_init(&g->groups);
        if (parent)
                list_append(&parent->groups, &g->of_parent);
        return g;
}

struct loop *fiber_group_loop(struct fiber_group *g)
{
        return g->loop;
}

size_t fiber_group_count(const struct fiber_group *g)
{
        return g->live;
}

void group_enter(struct fiber *f)
{
        list_append(&f->group->fibers, &f->of_group);
        f->cancelled = f->group->cancelled;
        for (struct fiber_group *g = f->group; g; g = g->parent)
                g->live++;
}

void group_leave(struct fiber *f)
{
        list_remove(&f->of_group);
        for (struct fiber_group *g = f->group; g; g = g->parent) {
                g->live--;
                waitq_wake_all(&g->waiters);
        }
}

void fiber_group_cancel(struct fiber_group *g)
{
        g->cancelled = true;
        list_for_each(f, &g->fibers, struct fiber, of_group)
                fiber_cancel(f);
        list_for_each(below, &g->groups, struct fiber_group, of_parent)
                fiber_group_cancel(below);
}

static bool is_inside(const struct fiber *f, const struct fiber_group *group)
{
        for (const struct fiber_group *g = f->group; g; g = g->parent) {
                if (g == group)
                        return true;
        }
        return false;
}

int fiber_group_join(struct fiber_group *g, int64_t deadline_ms)
{
        /* Waiting for oneself would never end. */
        ASSERT(g->loop->current && !is_inside(g->loop->current, g));
        while (g->live)
                TRY(waitq_wait(g->loop, &g->waiters, deadline_ms));
        return 0;
}

int fiber_group_wait_below(struct fiber_group *g, size_t limit)
{
        while (g->live >= limit)
                TRY(waitq_wait(g->loop, &g->waiters, DEADLINE_NONE));
        return fiber_cancelled(g->loop) ? ERR_CANCELLED : 0;
}

static void free_group(struct fiber_group *g)
{
        list_for_each_safe(below, next, &g->groups, struct fiber_group, of_parent)
                free_group(below);
        ASSERT(!g->live && list_empty(&g->waiters.waiters));
        list_remove(&g->of_parent);
        mem_free(g);
}

struct fiber_group *fiber_group_end(struct fiber_group *g)
{
        if (!g)
                return NULL;
        struct loop *l = g->loop;
        fiber_group_cancel(g);
        if (g->live) {
                fiber_mask_cancel(l);
                int code = fiber_group_join(g, DEADLINE_NONE);
                fiber_unmask_cancel(l);
                ASSERT(code == 0);
        }
        free_group(g);
        return NULL;
}
