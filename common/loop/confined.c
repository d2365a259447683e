/* Our side of a confined program: what it says, its limits, and the keeper that ends it. */
#include "common/loop/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/loop/confined_keeper.h"
#include "common/loop/files.h"
#include "common/loop/real.h"

#define CANCEL_GRACE_MS 1000 /* we are ending ourselves */
#define END_MS 30000         /* for what was killed to be gone */
#define REST_MS 1000         /* for what it said to be read */
#define AWAKE_MS 100         /* between two tries to have a keeper that was stopped go on */

struct run {
        const struct confined *c;
        struct loop *loop;
        struct fiber *waiter;
        pid_t keeper;
        uv_pipe_t out, err, talk;
        struct buf output, errors;
        struct keeper_word words[2], ended; /* as they come in; the first */
        size_t words_len;
        char piece[4096];
        unsigned handles; /* not closed yet */
        bool out_open, err_open, talk_open, too_much;
};

/* ---- what comes in ---- */

static void on_closed(uv_handle_t *handle)
{
        struct run *r = handle->data;

        r->handles--;
        fiber_wake(r->waiter);
}

static void close_stream(struct run *r, uv_pipe_t *pipe, bool *open)
{
        if (!*open)
                return;
        *open = false;
        uv_close((uv_handle_t *)pipe, on_closed);
}

static void give_piece(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
        struct run *r = handle->data;

        *ret = uv_buf_init(r->piece, sizeof(r->piece));
}

static void on_said(uv_stream_t *stream, ssize_t n, const uv_buf_t *piece)
{
        struct run *r = stream->data;
        bool is_out = stream == (uv_stream_t *)&r->out;
        struct buf *into = is_out ? &r->output : &r->errors;

        if (n > 0 && (size_t)n > r->c->max_output - r->output.len - r->errors.len)
                r->too_much = true;
        else if (n > 0)
                (void)buf_append(into, piece->base, (size_t)n);
        if (n < 0)
                close_stream(r, is_out ? &r->out : &r->err, is_out ? &r->out_open : &r->err_open);
        if (n > 0 && (r->too_much || into->failed)) {
                uv_read_stop(stream);
                fiber_wake(r->waiter);
        }
}

static void give_word(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
        struct run *r = handle->data;

        *ret = uv_buf_init((char *)r->words + r->words_len, (unsigned)(sizeof(r->words) - r->words_len));
}

/* What the program itself could not do comes before that it ended. */
static void on_word(uv_stream_t *stream, ssize_t n, const uv_buf_t *piece)
{
        struct run *r = stream->data;

        if (n < 0)
                close_stream(r, &r->talk, &r->talk_open);
        r->words_len += n > 0 ? (size_t)n : 0;
        for (; r->words_len >= sizeof(r->words[0]); r->words_len -= sizeof(r->words[0])) {
                if (!r->ended.kind)
                        r->ended = r->words[0];
                memmove(&r->words[0], &r->words[1], r->words_len - sizeof(r->words[0]));
                fiber_wake(r->waiter);
        }
}

/* ---- the keeper ---- */

struct ends {
        int out[2], err[2], talk[2]; /* [0] ours */
};

static void close_ends(struct ends *e)
{
        for (int i = 0; i < 2; i++) {
                close_fd(&e->out[i]);
                close_fd(&e->err[i]);
                close_fd(&e->talk[i]);
        }
}

static int open_ends(struct ends *e, struct error *err)
{
        if (pipe2(e->out, O_CLOEXEC) == 0 && pipe2(e->err, O_CLOEXEC) == 0 &&
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, e->talk) == 0)
                return 0;
        return error_errno(err, errno, "cannot make a pipe");
}

static int start_keeper(struct run *r, struct ends *e, struct error *err)
{
        sigset_t all, before;
        int saved;

        /* a handler of ours must not run in it */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        r->keeper = _Fork();
        saved = errno;
        if (r->keeper == 0)
                keeper_run(r->c, e->out[1], r->c->merges ? e->out[1] : e->err[1], e->talk[1]);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r->keeper < 0)
                return error_errno(err, saved, "cannot run \"%s\"", r->c->argv[0]);
        close_fd(&e->out[1]);
        close_fd(&e->err[1]);
        close_fd(&e->talk[1]);
        return 0;
}

static int take_end(uv_pipe_t *pipe, int *fd)
{
        int code = uv_pipe_open(pipe, *fd);

        if (code == 0)
                *fd = -1;
        return code;
}

static void init_pipe(struct run *r, uv_pipe_t *pipe, bool *open)
{
        uv_pipe_init(loop_uv(r->loop), pipe, 0);
        pipe->data = r;
        r->handles++;
        *open = true;
}

static int listen_to(struct run *r, struct ends *e)
{
        int code;

        init_pipe(r, &r->out, &r->out_open);
        init_pipe(r, &r->err, &r->err_open);
        init_pipe(r, &r->talk, &r->talk_open);
        if ((code = take_end(&r->out, &e->out[0])) < 0 || (code = take_end(&r->err, &e->err[0])) < 0 ||
            (code = take_end(&r->talk, &e->talk[0])) < 0)
                return code;
        uv_read_start((uv_stream_t *)&r->out, give_piece, on_said);
        uv_read_start((uv_stream_t *)&r->err, give_piece, on_said);
        uv_read_start((uv_stream_t *)&r->talk, give_word, on_word);
        return 0;
}

static void tell_keeper(struct run *r, char word)
{
        uv_os_fd_t fd;

        if (r->talk_open && uv_fileno((uv_handle_t *)&r->talk, &fd) == 0)
                (void)!send(fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- waiting ---- */

static bool broke(const struct run *r)
{
        return r->too_much || r->output.failed || r->errors.failed;
}

static bool says_nothing_more(const struct run *r)
{
        return broke(r) || (!r->out_open && !r->err_open);
}

/* It failed, or it ended and so did all that could still say something. */
static bool is_over(const struct run *r)
{
        return !r->talk_open || (r->ended.kind && (r->ended.kind != KEEPER_ENDED || r->ended.value != 0 ||
                                                   says_nothing_more(r)));
}

static int wait_for_end(struct run *r, int64_t deadline)
{
        int code = 0;

        while (!is_over(r) && !broke(r) && code == 0)
                code = fiber_park(r->loop, deadline);
        return code;
}

/* The program runs as our user, so it can stop its keeper: that one is told to go on, as often as it takes.
 */
static void await_keeper(struct run *r, bool (*done)(const struct run *r), int64_t ms)
{
        int64_t deadline = loop_now_ms(r->loop) + ms;

        while (!done(r) && loop_now_ms(r->loop) < deadline) {
                kill(r->keeper, SIGCONT);
                (void)fiber_park(r->loop, MIN(deadline, loop_now_ms(r->loop) + AWAKE_MS));
        }
}

static bool has_ended(const struct run *r)
{
        return !r->talk_open;
}

static void end_it(struct run *r, int64_t grace_ms)
{
        int64_t deadline;

        if (!is_over(r))
                tell_keeper(r, KEEPER_TERM);
        await_keeper(r, is_over, grace_ms);
        tell_keeper(r, KEEPER_KILL);
        await_keeper(r, has_ended, END_MS);
        if (r->talk_open)
                kill(r->keeper, SIGKILL); /* it waits for what the kernel does not let go */
        /* what they said before; unless somebody else was handed the other end */
        deadline = loop_now_ms(r->loop) + REST_MS;
        while (!says_nothing_more(r) && fiber_park(r->loop, deadline) == 0)
                ;
}

static void close_all(struct run *r)
{
        close_stream(r, &r->out, &r->out_open);
        close_stream(r, &r->err, &r->err_open);
        close_stream(r, &r->talk, &r->talk_open);
        while (r->handles)
                (void)fiber_park(r->loop, DEADLINE_NONE);
        while (r->keeper > 0 && waitpid(r->keeper, NULL, 0) < 0 && errno == EINTR)
                ;
}

/* Whatever happens, nothing is left of it afterwards. */
static int run(struct run *r, struct ends *e, struct error *err)
{
        int code = start_keeper(r, e, err), waited = 0;

        if (code == 0 && (waited = listen_to(r, e)) < 0)
                code = error_set(err, ERR_SYSTEM, "cannot run \"%s\": %s", r->c->argv[0],
                                 uv_strerror(waited));
        if (code == 0)
                waited = wait_for_end(r, loop_now_ms(r->loop) + r->c->time_limit_ms);
        fiber_mask_cancel(r->loop);
        if (code == 0)
                end_it(r, waited == ERR_CANCELLED ? MIN(CANCEL_GRACE_MS, r->c->grace_ms) : r->c->grace_ms);
        close_ends(e);
        close_all(r);
        fiber_unmask_cancel(r->loop);
        return code < 0 ? code : waited;
}

/* ---- what came of it ---- */

static int judge(struct run *r, int waited, struct confined_end *ret, struct error *err)
{
        const char *program = r->c->argv[0];

        if (waited == ERR_CANCELLED)
                return error_set(err, ERR_CANCELLED, "%s: it was ended", program);
        if (r->ended.kind == KEEPER_NO_PROGRAM && (r->ended.value == ENOENT || r->ended.value == ENOTDIR))
                return error_set(err, ERR_NOT_FOUND, "cannot run \"%s\": no such file", program);
        if (r->ended.kind == KEEPER_NO_FOLDER)
                return error_set(err, ERR_INVALID, "cannot run \"%s\": there is no folder %s", program,
                                 r->c->folder);
        if (r->ended.kind > KEEPER_ENDED)
                return error_errno(err, r->ended.value, "cannot run \"%s\"", program);
        ret->how = r->too_much             ? CONFINED_TOO_MUCH
                   : waited == ERR_TIMEOUT ? CONFINED_TOO_LONG
                                           : CONFINED_EXITED;
        if (ret->how != CONFINED_EXITED)
                return 0;
        if (!r->ended.kind)
                return error_set(err, ERR_SYSTEM, "%s: it was ended with its keeper", program);
        ret->how = WIFSIGNALED(r->ended.value) ? CONFINED_SIGNALLED : CONFINED_EXITED;
        ret->number = WIFSIGNALED(r->ended.value) ? WTERMSIG(r->ended.value) : WEXITSTATUS(r->ended.value);
        return 0;
}

static int take_said(struct run *r, struct confined_end *end, struct confined_end *ret, struct error *err)
{
        TRY(buf_status(&r->output, err, r->c->argv[0]));
        TRY(buf_status(&r->errors, err, r->c->argv[0]));
        end->output = buf_take(&r->output, &end->output_len);
        end->errors = buf_take(&r->errors, &end->errors_len);
        if (end->output && end->errors) {
                *ret = *end;
                return 0;
        }
        mem_free(end->output);
        mem_free(end->errors);
        return error_no_memory(err);
}

int real_run_confined(void *ctx, const struct confined *c, struct confined_end *ret, struct error *err)
{
        struct run r = { .c = c, .loop = ctx, .waiter = fiber_self(ctx) };
        struct ends e = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
        struct confined_end end = { 0 };
        int code;

        buf_init(&r.output, c->max_output);
        buf_init(&r.errors, c->max_output);
        code = open_ends(&e, err);
        if (code == 0) {
                code = run(&r, &e, err);
                if (code == 0 || code == ERR_TIMEOUT || code == ERR_CANCELLED)
                        code = judge(&r, code, &end, err);
        }
        close_ends(&e);
        if (code == 0)
                code = take_said(&r, &end, ret, err);
        buf_free(&r.output);
        buf_free(&r.errors);
        return code;
}
