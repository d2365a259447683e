/* Independent steps of one reconcile, such as writes, several in flight: what one after the other would cost
 * a round trip each. */
#include "common/ctrl/controller.h"

#define IN_FLIGHT 16

struct fan_out {
        struct reconcile *rc;
        rc_step fn;
        void *ctx;
        size_t n, next;
        int code; /* of the first step that failed */
};

static void work_off(void *ctx)
{
        struct fan_out *f = ctx;

        while (f->code == 0 && f->next < f->n) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                struct reconcile one = *f->rc;
                int code;

                one.arena = &arena;
                one.err = &err;
                code = f->fn(&one, f->ctx, f->next++);
                if (code < 0 && f->code == 0) {
                        f->code = code;
                        *f->rc->err = err;
                }
        }
}

int rc_for_each(struct reconcile *rc, size_t n, rc_step fn, void *ctx)
{
        return rc_for_each_of(rc, IN_FLIGHT, n, fn, ctx);
}

int rc_for_each_of(struct reconcile *rc, size_t in_flight, size_t n, rc_step fn, void *ctx)
{
        struct fan_out f = { .rc = rc, .fn = fn, .ctx = ctx, .n = n };
        struct fiber_group *group;
        int code = 0;

        if (n <= 1) { /* no fiber for it */
                work_off(&f);
                return f.code;
        }
        group = fiber_group_new(rc->kube->world->loop, NULL, "writes");
        if (!group)
                return error_no_memory(rc->err);
        for (size_t i = 0; code == 0 && i < MIN(n, in_flight); i++)
                if (!fiber_spawn(group, "write", work_off, &f))
                        code = i > 0 ? 1 : error_no_memory(rc->err); /* those that run do all the work */
        if (code >= 0 && (code = fiber_group_join(group, DEADLINE_NONE)) < 0)
                error_set(rc->err, code, "cancelled");
        fiber_group_end(group);
        return code < 0 ? code : f.code;
}
