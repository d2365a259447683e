/* What the tests of caches share that somebody looks at: what he is told. */
#pragma once

#include "common/ctrl/informer_test.h"

struct told {
        struct fixture *f;
        struct informer *i;
        struct buf text;
};

static inline void tell_state(void *ctx)
{
        struct told *t = ctx;

        if (t->i)
                buf_printf(&t->text, "%s%s; ", informer_synced(t->i) ? "read" : "not read",
                           informer_problem_code(t->i) ? ", a problem" : "");
}

static inline void open_told(struct told *t, struct informer_options o)
{
        o.kind = &member_cluster_kind;
        o.flags |= DECODE_PROJECTION;
        o.state_changed = tell_state;
        o.state_changed_ctx = t;
        buf_init(&t->text, 65536);
        t->i = informer_new(&t->f->kube, t->f->group, &o);
        assert_non_null(t->i);
        fiber_sleep(t->f->loop, 1000);
}

static inline void expect_told(struct told *t, const char *what)
{
        assert_string_equal(t->text.len ? t->text.data : "", what);
        buf_clear(&t->text);
}
