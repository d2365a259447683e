/* A manager whose process is stopped with a write decided, as SIGSTOP does, and goes on later. For tests. */
#pragma once

#include "common/ctrl/controller_test.h"

static struct loop_process *process; /* of the bench that is stopped */

static inline bool stop_at_patch(void *ctx, const struct http_request *rq)
{
        if (!text_equal(rq->method, "PATCH"))
                return false;
        loop_process_stop(process);
        return true;
}

static inline struct outcome write_when_open(struct bench *b, struct reconcile *rc)
{
        const struct object *o;
        struct member_cluster wanted;
        struct member_cluster_spec spec;

        fiber_mask_cancel(b->rig->loop); /* one that does not hear that it is to stop */
        while (!b->open)
                waitq_wait(b->rig->loop, &b->gate, DEADLINE_NONE);
        assert_int_equal(cache_get(rc, &member_cluster_kind, NULL, rc->name, &o), 0);
        wanted = *(const struct member_cluster *)o;
        spec = *wanted.spec;
        spec.heartbeat_period_seconds.value = 77;
        wanted.spec = &spec;
        b->code = rc_patch_diff(rc, o, &wanted.object, OBJECT_META_SPEC, NULL);
        fiber_unmask_cancel(b->rig->loop);
        return b->code < 0 ? failed(rc->err) : done();
}

static inline int64_t heartbeat_at(struct rig *r, const char *name)
{
        assert_int_equal(rig_get(r, arena_printf(&r->arena, GROUP "/%s", name)), 200);
        return doc_get_int(r->answer, "spec.heartbeatPeriodSeconds", -1);
}

typedef void (*open_named_fn)(struct rig *r, struct bench *b, const char *identity);

struct opening {
        open_named_fn open;
        struct bench *bench;
};

static inline void open_in_process(void *ctx)
{
        struct opening *o = ctx;

        o->open(o->bench->rig, o->bench, "a");
}

/* `a` runs in a process of its own, which stops with its write of m1 waiting for a connection; `b` is opened
 * then, and has `ms`. Returns m1's heartbeat. */
static inline int64_t stop_with_write_decided(struct rig *r, struct bench *a, struct bench *b,
                                              open_named_fn open, int64_t ms)
{
        struct opening o = { open, a };
        struct fiber_group *opening;
        int64_t before;

        *a = (struct bench){ .rig = r };
        process = loop_process_new(r->loop);
        opening = fiber_group_new(r->loop, NULL, "opening");
        loop_process_add(process, opening);
        assert_non_null(fiber_spawn(opening, "open", open_in_process, &o));
        assert_int_equal(fiber_group_join(opening, DEADLINE_NONE), 0);
        fiber_group_end(opening);
        a->open = true;
        a->reconcile = write_when_open;
        a->faults.hold_back = stop_at_patch;
        make(r, "m1");
        before = heartbeat_at(r, "m1");
        run_manager(a);
        wait_ms(a, 2000);
        assert_true(loop_process_stopped(process));
        open(r, b, "b");
        run_manager(b);
        wait_ms(b, ms);
        return before;
}

/* It goes on, and nothing was written. */
static inline void go_on_without_writing(struct rig *r, struct bench *a, int64_t before)
{
        a->faults.hold_back = NULL;
        loop_process_go_on(process);
        wait_ms(a, 100);
        assert_int_equal(a->code, ERR_RETRY);
        assert_int_equal(heartbeat_at(r, "m1"), before);
}
