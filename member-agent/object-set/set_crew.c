/* Several objects of a set at a time. */
#include "member-agent/object-set/set_pass.h"

struct crew {
        struct set_pass *p;
        set_step fn;
        void *ctx;
        size_t n, next;
        int code; /* of the first step that failed */
        struct error *err;
};

static void work_off(void *ctx)
{
        struct crew *c = ctx;

        while (c->code == 0 && !c->p->throttled && c->next < c->n) {
                struct error err = { 0 };
                int r = c->fn(c->ctx, c->next++, &err);

                if (r < 0 && c->code == 0) {
                        c->code = r;
                        *c->err = err;
                }
        }
}

int set_for_each(struct set_pass *p, size_t n, set_step fn, void *ctx, struct error *err)
{
        struct crew crew = { .p = p, .fn = fn, .ctx = ctx, .n = n, .err = err };
        struct fiber_group *group;
        int r = 0;

        if (n <= 1) { /* no fiber for it */
                work_off(&crew);
                return crew.code;
        }
        if (!(group = fiber_group_new(p->agent->loop, p->agent->group, "objects of a set")))
                return error_no_memory(err);
        for (size_t i = 0; r == 0 && i < MIN(n, SET_IN_FLIGHT); i++)
                if (!fiber_spawn(group, "object", work_off, &crew))
                        r = error_no_memory(err);
        if (r == 0 && (r = fiber_group_join(group, DEADLINE_NONE)) < 0)
                error_set(err, r, "cancelled");
        fiber_group_end(group);
        return r < 0 ? r : crew.code;
}
