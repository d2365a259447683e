#include "e2e/scenarios/process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/memory.h"
#include "common/base/vec.h"

extern char **environ;

int process_reserve_port(int *ret_port, int *ret_fd, struct error *err)
{
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t n = sizeof(at);
        int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
            bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
            getsockname(fd, (struct sockaddr *)&at, &n) < 0) {
                if (fd >= 0)
                        close(fd);
                return error_set(err, ERR_SYSTEM, "no port on loopback");
        }
        *ret_port = ntohs(at.sin_port);
        *ret_fd = fd;
        return 0;
}

struct process {
        uv_process_t handle;
        struct loop *loop;
        struct waitq ended;
        bool exited, closed;
        int result;
};

static void on_closed(uv_handle_t *h)
{
        struct process *p = h->data;

        p->closed = true;
        waitq_wake_all(&p->ended);
}

static void on_exit_(uv_process_t *h, int64_t status, int signal)
{
        struct process *p = h->data;

        p->exited = true;
        p->result = signal ? 128 + signal : (int)status;
        uv_close((uv_handle_t *)h, on_closed);
}

/* Our environment with additions behind it; the array is the caller's to free, the strings are not. */
static char **merged_environment(const char *const *more)
{
        size_t n = 0, k = 0;
        char **all;

        while (environ[n])
                n++;
        while (more && more[k])
                k++;
        all = mem_calloc(n + k + 1, sizeof(*all));
        if (!all)
                return NULL;
        memcpy(all, environ, n * sizeof(*all));
        for (size_t i = 0; i < k; i++)
                all[n + i] = (char *)more[i];
        return all;
}

int process_start(struct loop *l, const char *const *argv, const char *const *environment,
                  const char *log_path, struct process **ret, struct error *err)
{
        struct process *p = NEW(struct process);
        AUTO_FREE char **env = merged_environment(environment);
        uv_stdio_container_t stdio[3] = { { .flags = UV_IGNORE } };
        uv_process_options_t o = { .exit_cb = on_exit_,
                                   .file = argv[0],
                                   .args = (char **)argv,
                                   .env = env,
                                   .stdio = stdio,
                                   .stdio_count = 3 };
        uv_fs_t open_log, close_log;
        int log = uv_fs_open(NULL, &open_log, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600,
                             NULL),
            code;

        if (!p || !env || log < 0) {
                mem_free(p);
                return log < 0 ? error_set(err, ERR_SYSTEM, "%s: cannot be written", log_path)
                               : error_no_memory(err);
        }
        stdio[1] = stdio[2] = (uv_stdio_container_t){ .flags = UV_INHERIT_FD, .data.fd = log };
        p->loop = l;
        p->handle.data = p;
        code = uv_spawn(loop_uv(l), &p->handle, &o);
        uv_fs_close(NULL, &close_log, log, NULL);
        if (code < 0) {
                /* The handle is registered even when the program could not be started. */
                p->exited = true;
                uv_close((uv_handle_t *)&p->handle, on_closed);
                process_stop(p, 0, 0);
                return error_set(err, ERR_SYSTEM, "%s: %s", argv[0], uv_strerror(code));
        }
        *ret = p;
        return 0;
}

bool process_running(const struct process *p)
{
        return p && !p->exited;
}

int process_exit_code(const struct process *p)
{
        return p->exited ? p->result : -1;
}

int process_pid(const struct process *p)
{
        return process_running(p) ? p->handle.pid : 0;
}

int process_signal(struct process *p, int signal)
{
        return p && process_running(p) && uv_process_kill(&p->handle, signal) == 0 ? 0 : -1;
}

int process_wait(struct process *p, int64_t deadline_ms)
{
        while (!p->closed)
                TRY(waitq_wait(p->loop, &p->ended, deadline_ms));
        return 0;
}

int process_stop(struct process *p, int signal, int64_t patience_ms)
{
        int64_t deadline, result;

        if (!p)
                return 0;
        deadline = loop_now_ms(p->loop) + patience_ms;
        fiber_mask_cancel(p->loop);
        if (!p->exited)
                uv_process_kill(&p->handle, signal);
        while (!p->closed) {
                if (waitq_wait(p->loop, &p->ended, deadline) == ERR_TIMEOUT && !p->exited) {
                        uv_process_kill(&p->handle, SIGKILL);
                        deadline = DEADLINE_NONE;
                }
        }
        fiber_unmask_cancel(p->loop);
        result = p->result;
        mem_free(p);
        return (int)result;
}

/* ---- relay ---- */

#define PIECE 65536

struct pair;

struct end {
        uv_tcp_t tcp;
        struct pair *pair;
        struct end *other;
        char data[PIECE];
        bool closing;
};

struct pair {
        struct list node;
        struct relay *relay;
        struct end near, far;
        uv_connect_t connect;
        unsigned open; /* ends not yet closed */
};

struct relay {
        uv_tcp_t listener;
        struct loop *loop;
        struct list pairs;
        struct waitq changed;
        int port, target_port;
        bool down, closed;
};

struct piece {
        uv_write_t request;
        char data[];
};

static void end_closed(uv_handle_t *h)
{
        struct end *e = h->data;
        struct pair *p = e->pair;

        if (--p->open > 0)
                return;
        list_remove(&p->node);
        waitq_wake_all(&p->relay->changed);
        mem_free(p);
}

static void pair_close(struct pair *p)
{
        struct end *ends[] = { &p->near, &p->far };

        for (size_t i = 0; i < 2; i++) {
                if (ends[i]->closing)
                        continue;
                ends[i]->closing = true;
                uv_close((uv_handle_t *)&ends[i]->tcp, end_closed);
        }
}

static void give_buffer(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
        struct end *e = h->data;

        *ret = uv_buf_init(e->data, sizeof(e->data));
}

static void written(uv_write_t *w, int status)
{
        struct end *e = w->handle->data;

        if (status < 0)
                pair_close(e->pair);
        mem_free(container_of(w, struct piece, request));
}

static void carry(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
        struct end *e = s->data;
        struct piece *piece;
        uv_buf_t out;

        if (n == 0 || e->closing)
                return;
        piece = n > 0 ? mem_alloc(sizeof(*piece) + (size_t)n) : NULL;
        if (!piece) {
                pair_close(e->pair);
                return;
        }
        memcpy(piece->data, b->base, (size_t)n);
        out = uv_buf_init(piece->data, (unsigned)n);
        if (uv_write(&piece->request, (uv_stream_t *)&e->other->tcp, &out, 1, written) < 0) {
                mem_free(piece);
                pair_close(e->pair);
        }
}

static void connected(uv_connect_t *c, int status)
{
        struct pair *p = container_of(c, struct pair, connect);

        if (p->near.closing)
                return;
        if (status < 0 || uv_read_start((uv_stream_t *)&p->near.tcp, give_buffer, carry) < 0 ||
            uv_read_start((uv_stream_t *)&p->far.tcp, give_buffer, carry) < 0)
                pair_close(p);
}

static void init_end(struct pair *p, struct end *e, struct end *other)
{
        uv_tcp_init(loop_uv(p->relay->loop), &e->tcp);
        uv_tcp_nodelay(&e->tcp, 1);
        e->tcp.data = e;
        e->pair = p;
        e->other = other;
        p->open++;
}

static void accepted(uv_stream_t *listener, int status)
{
        struct relay *r = listener->data;
        struct pair *p = status < 0 ? NULL : NEW(struct pair);
        struct sockaddr_in to;

        if (!p)
                return;
        p->relay = r;
        init_end(p, &p->near, &p->far);
        init_end(p, &p->far, &p->near);
        list_append(&r->pairs, &p->node);
        uv_ip4_addr("127.0.0.1", r->target_port, &to);
        if (uv_accept(listener, (uv_stream_t *)&p->near.tcp) < 0 || r->down ||
            uv_tcp_connect(&p->connect, &p->far.tcp, (struct sockaddr *)&to, connected) < 0)
                pair_close(p);
}

static int open_any(struct relay *r)
{
        struct sockaddr_in at;

        uv_ip4_addr("127.0.0.1", 0, &at);
        return uv_tcp_bind(&r->listener, (struct sockaddr *)&at, 0);
}

/* fd < 0: any free port. */
static int start_relay(struct loop *l, int fd, int target_port, struct relay **ret, struct error *err)
{
        struct relay *r = NEW(struct relay);
        struct sockaddr_in at;
        int size = sizeof(at), code;

        if (!r)
                return error_no_memory(err);
        r->loop = l;
        r->target_port = target_port;
        list_init(&r->pairs);
        uv_tcp_init(loop_uv(l), &r->listener);
        r->listener.data = r;
        code = fd < 0 ? open_any(r) : uv_tcp_open(&r->listener, fd);
        if (code == 0)
                code = uv_listen((uv_stream_t *)&r->listener, 64, accepted);
        if (code == 0)
                code = uv_tcp_getsockname(&r->listener, (struct sockaddr *)&at, &size);
        if (code < 0) {
                relay_stop(r);
                return error_set(err, ERR_SYSTEM, "relay: %s", uv_strerror(code));
        }
        r->port = ntohs(at.sin_port);
        *ret = r;
        return 0;
}

int relay_start(struct loop *l, int target_port, struct relay **ret, struct error *err)
{
        return start_relay(l, -1, target_port, ret, err);
}

int relay_start_on(struct loop *l, int listening_fd, int target_port, struct relay **ret, struct error *err)
{
        return start_relay(l, listening_fd, target_port, ret, err);
}

int relay_port(const struct relay *r)
{
        return r->port;
}

static void close_pairs(struct relay *r)
{
        list_for_each_safe(p, next, &r->pairs, struct pair, node)
                pair_close(p);
}

void relay_set(struct relay *r, bool up)
{
        r->down = !up;
        if (!up)
                close_pairs(r);
}

static void listener_closed(uv_handle_t *h)
{
        struct relay *r = h->data;

        r->closed = true;
        waitq_wake_all(&r->changed);
}

struct relay *relay_stop(struct relay *r)
{
        if (!r)
                return NULL;
        r->down = true;
        close_pairs(r);
        uv_close((uv_handle_t *)&r->listener, listener_closed);
        fiber_mask_cancel(r->loop);
        while (!r->closed || !list_empty(&r->pairs))
                waitq_wait(r->loop, &r->changed, DEADLINE_NONE);
        fiber_unmask_cancel(r->loop);
        mem_free(r);
        return NULL;
}
