/* Applies what was built, step by step: spec/resource-set.md 9.1, 9.6. */
#include "hub-agent/resource-set/pass.h"

static int by_stage(const void *a, const void *b)
{
        const struct set_item *x = a, *y = b;

        return built_compare(x->object, y->object);
}

static enum apply_stage stage_of(const struct set_item *item)
{
        struct object_place place = place_of_doc(item->object->doc);

        return apply_stage_of(&place);
}

/* [from, *to): those of one step and stage. */
static size_t end_of_stage(const struct set_pass *p, size_t from)
{
        size_t to = from;

        while (to < p->build.n && p->items[to].object->step == p->items[from].object->step &&
               stage_of(&p->items[to]) == stage_of(&p->items[from]))
                to++;
        return to;
}

static int64_t timeout_of_step(const struct set_pass *p, unsigned step)
{
        const struct resource_set_step_list *l = &p->set->spec->steps;
        int64_t ns;

        if (step < l->n && l->at[step].timeout && duration_parse_go(slice_of(l->at[step].timeout), &ns) == 0)
                return ns / 1000000;
        return p->timeout_ms;
}

static const char *name_of_step(const struct set_pass *p, unsigned step)
{
        return step < p->set->spec->steps.n ? p->set->spec->steps.at[step].name : NULL;
}

/* Only what comes after it waits for a step; the last is waited for at the end of the run. */
static int end_step(struct set_pass *p, size_t first, size_t end, struct error *err)
{
        unsigned step = p->items[first].object->step;
        const char *name = name_of_step(p, step);

        if (end == p->build.n)
                return 0;
        TRY(pass_say_running(p, arena_printf(p->rc->arena, "Applying step %u/%u \"%s\"", step + 1,
                                             p->set->spec->steps.n, or_empty(name))));
        pass_flush(p, name);
        if (pass_await_health(p, p->items + first, end - first, timeout_of_step(p, step), err) == 0)
                return 0;
        if (err->code == ERR_CLOSED)
                return err->code; /* no failure: another run begins */
        return error_wrap(err, "step \"%s\" health check failed", or_empty(name));
}

static int wrap_step(const struct set_pass *p, unsigned step, const char *what, struct error *err)
{
        const char *name = name_of_step(p, step);

        return name ? error_wrap(err, "step \"%s\" %s failed", name, what) : err->code;
}

/* All stages of [first, end). */
static int apply_step(struct set_pass *p, size_t first, size_t end, struct error *err)
{
        unsigned step = p->items[first].object->step;

        if (pass_replace_failed_jobs(p, p->items + first, end - first, err) < 0)
                return wrap_step(p, step, "job recreation", err);
        for (size_t from = first, to; from < end; from = to) {
                to = end_of_stage(p, from);
                if (pass_apply_stage(p, p->items + from, to - from, stage_of(&p->items[from]), err) < 0)
                        return wrap_step(p, step, "apply", err);
        }
        return end_step(p, first, end, err);
}

int pass_apply(struct set_pass *p, struct error *err)
{
        size_t first = 0;

        p->items = ARENA_NEW_ARRAY(p->rc->arena, struct set_item, p->build.n + 1);
        if (!p->items)
                return error_no_memory(err);
        for (size_t i = 0; i < p->build.n; i++)
                p->items[i].object = &p->build.at[i];
        qsort(p->items, p->build.n, sizeof(*p->items), by_stage);
        for (size_t end; first < p->build.n; first = end) {
                for (end = first; end < p->build.n; end++)
                        if (p->items[end].object->step != p->items[first].object->step)
                                break;
                TRY(apply_step(p, first, end, err));
        }
        return 0;
}
