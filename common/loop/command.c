/* Programs run to their end: libuv starts them, a fiber waits. */
#include <signal.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/loop/real.h"
#include "common/loop/world.h"

#define GRACE_MS 1000 /* between being asked to end and being killed */

extern char **environ;

struct child {
        struct loop *loop;
        uv_process_t process;
        uv_pipe_t output;
        struct buf said;
        char piece[4096];
        struct fiber *waiter;
        unsigned handles; /* that are not closed yet */
        int code;
};

static void on_closed(uv_handle_t *handle)
{
        struct child *c = handle->data;

        c->handles--;
        fiber_wake(c->waiter);
}

static void on_end(uv_process_t *process, int64_t status, int number)
{
        struct child *c = process->data;

        c->code = number ? 128 + number : (int)status;
        uv_close((uv_handle_t *)process, on_closed);
}

static void give_piece(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
        struct child *c = handle->data;

        *ret = uv_buf_init(c->piece, sizeof(c->piece));
}

static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *piece)
{
        struct child *c = stream->data;

        if (n > 0 && buf_append(&c->said, piece->base, (size_t)n) < 0)
                fiber_wake(c->waiter);
        explicit_bzero(c->piece, sizeof(c->piece));
        if (n < 0)
                uv_close((uv_handle_t *)stream, on_closed);
}

/* ---- the environment ---- */

static bool is_replaced(const char *ours, const char *const *by)
{
        const char *equals = strchr(ours, '=');
        size_t n = equals ? (size_t)(equals - ours) + 1 : 0;

        for (size_t i = 0; n && by && by[i]; i++)
                if (strncmp(ours, by[i], n) == 0)
                        return true;
        return false;
}

static char **environment_with(const char *const *more)
{
        size_t n = 0, m = 0, at = 0;
        char **all;

        while (environ && environ[n])
                n++;
        while (more && more[m])
                m++;
        all = mem_calloc(n + m + 1, sizeof(*all));
        if (!all)
                return NULL;
        for (size_t i = 0; i < n; i++)
                if (!is_replaced(environ[i], more))
                        all[at++] = environ[i];
        for (size_t i = 0; i < m; i++)
                all[at++] = (char *)more[i];
        return all;
}

/* ---- starting and waiting ---- */

static int start(struct child *c, const struct world_command *w, struct error *err)
{
        uv_loop_t *uv = loop_uv(c->loop);
        AUTO_FREE char **env = environment_with(w->env);
        uv_stdio_container_t stdio[3] = {
                { .flags = w->reads_input ? UV_INHERIT_FD : UV_IGNORE, .data.fd = STDIN_FILENO },
                { .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&c->output },
                { .flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO },
        };
        uv_process_options_t o = { .file = w->argv[0],
                                   .args = (char **)w->argv,
                                   .env = env,
                                   .stdio = stdio,
                                   .stdio_count = ARRAY_LEN(stdio),
                                   .exit_cb = on_end };
        int code;

        if (!env)
                return error_no_memory(err);
        uv_pipe_init(uv, &c->output, 0);
        c->output.data = c->process.data = c;
        c->handles = 2;
        code = uv_spawn(uv, &c->process, &o);
        if (code == 0)
                code = uv_read_start((uv_stream_t *)&c->output, give_piece, on_output);
        if (code == 0)
                return 0;
        /* a handle that was not started is closed all the same */
        if (!uv_is_closing((uv_handle_t *)&c->process))
                uv_close((uv_handle_t *)&c->process, on_closed);
        uv_close((uv_handle_t *)&c->output, on_closed);
        if (code == UV_ENOENT)
                return error_set(err, ERR_NOT_FOUND, "%s: no such program", w->argv[0]);
        return error_set(err, ERR_SYSTEM, "%s: %s", w->argv[0], uv_strerror(code));
}

static void stop(struct child *c, int number)
{
        if (uv_is_active((uv_handle_t *)&c->process))
                uv_process_kill(&c->process, number);
        /* those it started may hold the other end for longer */
        if (number == SIGKILL && !uv_is_closing((uv_handle_t *)&c->output))
                uv_close((uv_handle_t *)&c->output, on_closed);
}

/* Whatever happens, nothing is left of it afterwards. */
static int wait_for(struct child *c)
{
        int code = 0;

        while (c->handles && code != ERR_CANCELLED && !c->said.failed)
                code = fiber_park(c->loop, DEADLINE_NONE);
        fiber_mask_cancel(c->loop);
        if (c->handles)
                stop(c, SIGTERM);
        for (int64_t deadline = loop_now_ms(c->loop) + GRACE_MS; c->handles;)
                if (fiber_park(c->loop, deadline) == ERR_TIMEOUT) {
                        stop(c, SIGKILL);
                        deadline = DEADLINE_NONE;
                }
        fiber_unmask_cancel(c->loop);
        return code == ERR_CANCELLED ? code : 0;
}

int real_run(void *ctx, const struct world_command *w, char **ret_output, size_t *ret_len, int *ret_code,
             struct error *err)
{
        struct loop *l = ctx;
        struct child c = { .loop = l, .waiter = fiber_self(l) };
        int code;

        buf_init(&c.said, w->max_output);
        code = start(&c, w, err);
        if (wait_for(&c) < 0 && code == 0)
                code = error_set(err, ERR_CANCELLED, "%s: it was ended", w->argv[0]);
        if (code == 0)
                code = buf_status(&c.said, err, w->argv[0]);
        if (code < 0) {
                explicit_bzero(c.said.data, c.said.len);
                buf_free(&c.said);
                return code;
        }
        *ret_code = c.code;
        *ret_output = buf_take(&c.said, ret_len);
        return *ret_output ? 0 : error_no_memory(err);
}
