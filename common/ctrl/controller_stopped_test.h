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
