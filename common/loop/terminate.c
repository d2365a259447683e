#include <signal.h>

#include "common/loop/real.h"
#include "common/loop/world.h"

/* Once: after the first signal the default action is back, so a second one ends a process that hangs. */
static void on_signal(uv_signal_t *handle, int number)
{
        struct terminate *t = handle->data;
        for (size_t i = 0; i < ARRAY_LEN(t->signals); i++)
                uv_signal_stop(&t->signals[i]);
        if (t->fn)
                t->fn(t->ctx);
}

void terminate_close(struct terminate *t)
{
        if (!t->open)
                return;
        for (size_t i = 0; i < ARRAY_LEN(t->signals); i++)
                uv_close((uv_handle_t *)&t->signals[i], NULL);
        t->open = false;
}

static int open_signals(struct terminate *t, uv_loop_t *uv)
{
        for (size_t i = 0; i < ARRAY_LEN(t->signals); i++) {
                uv_signal_init(uv, &t->signals[i]);
                t->signals[i].data = t;
                uv_unref((uv_handle_t *)&t->signals[i]);
        }
        t->open = true;
        int code = uv_signal_start(&t->signals[0], on_signal, SIGTERM);
        return code < 0 ? code : uv_signal_start(&t->signals[1], on_signal, SIGINT);
}

int world_on_terminate(struct world *w, void (*fn)(void *ctx), void *ctx, struct error *err)
{
        uv_loop_t *uv = loop_uv(w->loop);
        if (!uv)
                return error_set(err, ERR_UNSUPPORTED, "the simulation has no signals");
        struct terminate *t = real_terminate(w->loop);
        t->fn = fn;
        t->ctx = ctx;
        if (t->open)
                return 0;
        int code = open_signals(t, uv);
        if (code < 0)
                return error_set(err, ERR_SYSTEM, "cannot watch for signals: %s", uv_strerror(code));
        return 0;
}
