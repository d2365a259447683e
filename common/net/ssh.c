#include "common/net/ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <libssh2.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/memory.h"
#include "common/net/http.h"
#include "common/net/known_hosts.h"

#define CONNECT_MS 10000
#define OUTPUT_BYTES (64u << 10)
#define SAID_BYTES 1024

struct ssh_channel {
        struct loop *loop;
        char *what; /* "ssh://host:port", for errors */
        int fd;
        bool polling; /* the handle is open */
        uv_poll_t poll;
        struct fiber *waiter;
        bool woken;
        struct timer deadline; /* of what is offloaded */
        bool cut;
        LIBSSH2_SESSION *session;
        LIBSSH2_CHANNEL *channel;
        size_t n_said;
        char said[SAID_BYTES];
        char output[OUTPUT_BYTES];
};

/* ---- waiting ---- */

static int give_up(const struct ssh_channel *c, int code, struct error *err)
{
        if (code != ERR_TIMEOUT)
                return error_set(err, ERR_CANCELLED, "%s: cancelled", c->what);
        error_set(err, code, "%s: no answer before the deadline", c->what);
        error_set_reason(err, HTTP_REASON_NO_ANSWER);
        return code;
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
        struct ssh_channel *c = poll->data;

        c->woken = true;
        uv_poll_stop(poll);
        if (c->waiter)
                fiber_wake(c->waiter);
}

/* Until the socket can be read (or written). */
static int await_socket(struct ssh_channel *c, int events, int64_t deadline_ms, struct error *err)
{
        int code = 0;

        c->woken = false;
        if (uv_poll_start(&c->poll, events, on_ready) < 0)
                return error_no_memory(err);
        c->waiter = fiber_self(c->loop);
        while (code == 0 && !c->woken)
                code = fiber_park(c->loop, deadline_ms);
        c->waiter = NULL;
        uv_poll_stop(&c->poll);
        return c->woken ? 0 : give_up(c, code, err);
}

/* ---- names ---- */

struct lookup {
        uv_getaddrinfo_t request;
        struct fiber *waiter; /* NULL: nobody waits any more */
        struct addrinfo *found;
        int status;
        bool done;
};

static void on_found(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
        struct lookup *l = request->data;

        l->done = true;
        l->status = status;
        l->found = found;
        if (l->waiter) {
                fiber_wake(l->waiter);
                return;
        }
        uv_freeaddrinfo(found);
        mem_free(l);
}

/* *ret: to be freed. A look-up that nobody waits for any more frees itself. */
static int look_up(struct ssh_channel *c, const struct ssh_options *o, int64_t deadline_ms,
                   struct addrinfo **ret, struct error *err)
{
        const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
        struct lookup *l = NEW(struct lookup);
        char port[16];
        int code = 0;

        if (!l)
                return error_no_memory(err);
        (void)snprintf(port, sizeof(port), "%d", o->port);
        l->request.data = l;
        l->waiter = fiber_self(c->loop);
        if (uv_getaddrinfo(loop_uv(c->loop), &l->request, on_found, o->host, port, &hints) < 0) {
                mem_free(l);
                return error_no_memory(err);
        }
        while (code == 0 && !l->done)
                code = fiber_park(c->loop, deadline_ms);
        if (!l->done) {
                l->waiter = NULL;
                (void)uv_cancel((uv_req_t *)&l->request);
                return give_up(c, code, err);
        }
        code = l->status;
        *ret = l->found;
        mem_free(l);
        if (code == 0)
                return 0;
        error_set(err, ERR_RETRY, "%s: %s", c->what, uv_strerror(code));
        error_set_reason(err, HTTP_REASON_NAME_UNKNOWN);
        return ERR_RETRY;
}

/* ---- connecting ---- */

static void poll_closed(uv_handle_t *handle)
{
        struct ssh_channel *c = handle->data;

        close(c->fd);
        mem_free(c->what);
        mem_free(c);
}

static int cannot_connect(const struct ssh_channel *c, int error_number, struct error *err)
{
        error_set(err, ERR_RETRY, "%s: %s", c->what, uv_strerror(-error_number));
        error_set_reason(err, error_number == ECONNREFUSED ? HTTP_REASON_REFUSED : HTTP_REASON_FAILED);
        return ERR_RETRY;
}

static int finish_connecting(struct ssh_channel *c, int64_t deadline_ms, struct error *err)
{
        int problem = 0;
        socklen_t n = sizeof(problem);

        TRY(await_socket(c, UV_WRITABLE, MIN(deadline_ms, loop_now_ms(c->loop) + CONNECT_MS), err));
        if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &problem, &n) < 0)
                problem = errno;
        return problem ? cannot_connect(c, problem, err) : 0;
}

/* One address. The handle for waiting is the first socket's for good: the others are put in its place. */
static int connect_to(struct ssh_channel *c, const struct addrinfo *a, int64_t deadline_ms, struct error *err)
{
        const int yes = 1;
        int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);

        if (fd < 0)
                return cannot_connect(c, errno, err);
        if (c->polling && dup3(fd, c->fd, O_CLOEXEC) < 0) {
                close(fd);
                return cannot_connect(c, errno, err);
        }
        if (c->polling)
                close(fd);
        else
                c->fd = fd;
        if (!c->polling && uv_poll_init(loop_uv(c->loop), &c->poll, fd) < 0)
                return error_no_memory(err);
        c->polling = true;
        c->poll.data = c;
        (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        if (connect(c->fd, a->ai_addr, a->ai_addrlen) < 0 && errno != EINPROGRESS)
                return cannot_connect(c, errno, err);
        return finish_connecting(c, deadline_ms, err);
}

static int refuse_address(const struct ssh_channel *c, const char *what, struct error *err)
{
        error_set(err, ERR_FORBIDDEN, "%s: this leads to %s, which is not asked", c->what, what);
        error_set_reason(err, HTTP_REASON_ADDRESS);
        return ERR_FORBIDDEN;
}

static int connect_to_one(struct ssh_channel *c, const struct ssh_options *o, const struct addrinfo *all,
                          int64_t deadline_ms, struct error *err)
{
        int code = ERR_RETRY;

        for (const struct addrinfo *a = all; a; a = a->ai_next) {
                const char *what = o->denied ? address_guard_refuses(o->denied, a->ai_addr) : NULL;

                error_clear(err);
                if (what)
                        return refuse_address(c, what, err);
                code = connect_to(c, a, deadline_ms, err);
                if (code != ERR_RETRY && !(code == ERR_TIMEOUT && loop_now_ms(c->loop) < deadline_ms))
                        return code;
        }
        return code;
}

static int connect_socket(struct ssh_channel *c, const struct ssh_options *o, int64_t deadline_ms,
                          struct error *err)
{
        struct addrinfo *all = NULL;

        TRY(look_up(c, o, deadline_ms, &all, err));
        int code = connect_to_one(c, o, all, deadline_ms, err);

        uv_freeaddrinfo(all);
        return code;
}

/* ---- libssh2 ---- */

static void *take(size_t n, void **ctx)
{
        return mem_alloc(n);
}

static void *resize(void *p, size_t n, void **ctx)
{
        return mem_realloc(p, n);
}

static void release(void *p, void **ctx)
{
        mem_free(p);
}

struct step {
        struct ssh_channel *channel;
        ssize_t (*fn)(struct step *s); /* LIBSSH2_ERROR_EAGAIN: it wants to wait */
        const struct ssh_options *options;
        const char *text;
        struct slice data;
        ssize_t result;
};

static void take_step(void *ctx)
{
        struct step *s = ctx;

        s->result = s->fn(s);
}

/* libssh2 reads for as long as something comes, so a server that never ends would keep it for ever. */
static void cut(struct timer *t)
{
        struct ssh_channel *c = container_of(t, struct ssh_channel, deadline);

        c->cut = true;
        (void)shutdown(c->fd, SHUT_RDWR);
}

static int run_offloaded(struct step *s, int64_t deadline_ms, struct error *err)
{
        struct ssh_channel *c = s->channel;

        if (timer_start(c->loop, &c->deadline, deadline_ms, cut) < 0)
                return error_no_memory(err);
        int code = offload(c->loop, take_step, s, err);

        timer_stop(&c->deadline);
        TRY(code);
        return c->cut ? give_up(c, ERR_TIMEOUT, err) : 0;
}

/* Runs it, on another thread, until it need not wait any more. */
static int go_through(struct step *s, int64_t deadline_ms, struct error *err)
{
        struct ssh_channel *c = s->channel;

        for (;;) {
                TRY(run_offloaded(s, deadline_ms, err));
                if (s->result != LIBSSH2_ERROR_EAGAIN)
                        return 0;
                int way = libssh2_session_block_directions(c->session);
                int events = (way & LIBSSH2_SESSION_BLOCK_OUTBOUND ? UV_WRITABLE : 0) |
                             (way & LIBSSH2_SESSION_BLOCK_INBOUND || !way ? UV_READABLE : 0);

                TRY(await_socket(c, events, deadline_ms, err));
        }
}

static int ssh_fails(const struct ssh_channel *c, enum error_code code, const char *what, struct error *err)
{
        char *words = NULL;
        int number = libssh2_session_last_error(c->session, &words, NULL, 0);

        if (number == LIBSSH2_ERROR_ALLOC)
                return error_no_memory(err);
        return error_set(err, code, "%s: %s: %s", c->what, what, words && *words ? words : "it fails");
}

static int run(struct ssh_channel *c, struct step s, int64_t deadline_ms, enum error_code code,
               const char *what, struct error *err)
{
        s.channel = c;
        TRY(go_through(&s, deadline_ms, err));
        return s.result < 0 ? ssh_fails(c, code, what, err) : 0;
}

/* ---- greeting ---- */

static ssize_t shake_hands(struct step *s)
{
        return libssh2_session_handshake(s->channel->session, s->channel->fd);
}

static int begin_session(struct ssh_channel *c, const struct ssh_options *o, struct error *err)
{
        char kinds[KNOWN_HOSTS_KINDS_SIZE];

        c->session = libssh2_session_init_ex(take, release, resize, c);
        if (!c->session)
                return error_no_memory(err);
        libssh2_session_set_blocking(c->session, 0);
        /* A host has keys of several kinds: one that is known has to be shown. */
        known_hosts_kinds(slice_of(o->known_hosts), o->host, o->port, kinds);
        if (!*kinds)
                return error_set(err, ERR_UNAUTHORIZED, "%s: the host is not in known_hosts", c->what);
        if (libssh2_session_method_pref(c->session, LIBSSH2_METHOD_HOSTKEY, kinds) < 0)
                return error_set(err, ERR_UNAUTHORIZED,
                                 "%s: known_hosts has no key of a kind that is supported (%s)", c->what,
                                 kinds);
        return 0;
}

static int check_host_key(struct ssh_channel *c, const struct ssh_options *o, struct error *err)
{
        static const char *const words[] = {
                [KNOWN_HOST_NONE] = "the host is not in known_hosts",
                [KNOWN_HOST_OTHER_KEY] = "the host key is not the one in known_hosts",
                [KNOWN_HOST_REVOKED] = "the host key is revoked in known_hosts",
        };
        int kind;
        struct slice key;

        key.data = libssh2_session_hostkey(c->session, &key.len, &kind);
        enum known_host known = key.data ? known_hosts_check(slice_of(o->known_hosts), o->host, o->port, key)
                                         : KNOWN_HOST_OTHER_KEY;

        return known == KNOWN_HOST_GOOD ? 0
                                        : error_set(err, ERR_UNAUTHORIZED, "%s: %s", c->what, words[known]);
}

static ssize_t show_key(struct step *s)
{
        const struct ssh_options *o = s->options;

        return libssh2_userauth_publickey_frommemory(s->channel->session, o->user, strlen(o->user), NULL, 0,
                                                     o->identity, strlen(o->identity), o->key_password);
}

/* In base64 at each of the places where it may begin. */
static bool is_rsa(const char *identity)
{
        return strstr(identity, "RSA PRIVATE KEY") || strstr(identity, "c3NoLXJzY") ||
               strstr(identity, "NzaC1yc2") || strstr(identity, "zc2gtcnNh");
}

static int log_in(struct ssh_channel *c, const struct ssh_options *o, int64_t deadline_ms, struct error *err)
{
        struct step s = { .channel = c, .fn = show_key, .options = o };

        TRY(go_through(&s, deadline_ms, err));
        switch (s.result) {
        case 0:
                return 0;
        case LIBSSH2_ERROR_ALLOC:
                return error_no_memory(err);
        case LIBSSH2_ERROR_SOCKET_SEND:
        case LIBSSH2_ERROR_SOCKET_RECV:
        case LIBSSH2_ERROR_SOCKET_DISCONNECT:
                return ssh_fails(c, ERR_RETRY, "log in", err);
        case LIBSSH2_ERROR_AUTHENTICATION_FAILED:
        case LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED:
                return error_set(err, ERR_UNAUTHORIZED, "%s: the server does not take the key of user '%s'%s",
                                 c->what, o->user,
                                 is_rsa(o->identity)
                                         ? "; RSA keys are shown with SHA-1, which servers of today "
                                           "refuse: use one of ed25519 or ECDSA"
                                         : "");
        default:
                return error_set(err, ERR_UNAUTHORIZED,
                                 "%s: the private key cannot be read, or its password is another", c->what);
        }
}

/* ---- the command ---- */

static ssize_t open_channel(struct step *s)
{
        struct ssh_channel *c = s->channel;

        c->channel = libssh2_channel_open_session(c->session);
        return c->channel ? 0 : libssh2_session_last_errno(c->session);
}

static ssize_t start_command(struct step *s)
{
        return libssh2_channel_exec(s->channel->channel, s->text);
}

static int start(struct ssh_channel *c, const struct ssh_options *o, const char *command, int64_t deadline_ms,
                 struct error *err)
{
        TRY(connect_socket(c, o, deadline_ms, err));
        TRY(begin_session(c, o, err));
        TRY(run(c, (struct step){ .fn = shake_hands }, deadline_ms, ERR_RETRY, "agree on how to speak", err));
        TRY(check_host_key(c, o, err));
        TRY(log_in(c, o, deadline_ms, err));
        TRY(run(c, (struct step){ .fn = open_channel }, deadline_ms, ERR_RETRY, "open a channel", err));
        return run(c, (struct step){ .fn = start_command, .text = command }, deadline_ms, ERR_RETRY,
                   "start a command", err);
}

int ssh_open(struct world *w, const struct ssh_options *o, const char *command, int64_t deadline_ms,
             struct ssh_channel **ret, struct error *err)
{
        struct ssh_channel *c;

        if (!loop_uv(w->loop))
                return error_set(err, ERR_UNSUPPORTED, "ssh: a simulated loop has no sockets");
        if (libssh2_init(0) != 0) /* which it counts */
                return error_no_memory(err);
        c = NEW(struct ssh_channel);
        if (!c) {
                libssh2_exit();
                return error_no_memory(err);
        }
        c->loop = w->loop;
        c->fd = -1;
        c->what = mem_printf("ssh://%s:%d", o->host, o->port);
        int code = c->what ? start(c, o, command, deadline_ms, err) : error_no_memory(err);

        if (code < 0)
                ssh_close(c);
        else
                *ret = c;
        return code;
}

/* Whoever is at the other end learns of it from the socket: nobody waits for its farewell. */
struct ssh_channel *ssh_close(struct ssh_channel *c)
{
        if (!c)
                return NULL;
        if (c->session) {
                (void)shutdown(c->fd, SHUT_RDWR); /* or libssh2 would wait, and free nothing */
                (void)libssh2_channel_free(c->channel);
                (void)libssh2_session_free(c->session);
        }
        libssh2_exit();
        if (c->polling) {
                uv_close((uv_handle_t *)&c->poll, poll_closed);
                return NULL;
        }
        if (c->fd >= 0)
                close(c->fd);
        mem_free(c->what);
        mem_free(c);
        return NULL;
}

/* ---- input and output ---- */

static ssize_t write_some(struct step *s)
{
        return libssh2_channel_write(s->channel->channel, s->data.data, s->data.len);
}

int ssh_write(struct ssh_channel *c, struct slice data, int64_t deadline_ms, struct error *err)
{
        while (data.len > 0) {
                struct step s = { .channel = c, .fn = write_some, .data = data };

                TRY(go_through(&s, deadline_ms, err));
                if (s.result < 0)
                        return ssh_fails(c, ERR_RETRY, "write", err);
                data = (struct slice){ data.data + s.result, data.len - (size_t)s.result };
        }
        return 0;
}

static ssize_t end_writing(struct step *s)
{
        return libssh2_channel_send_eof(s->channel->channel);
}

int ssh_end_writing(struct ssh_channel *c, int64_t deadline_ms, struct error *err)
{
        return run(c, (struct step){ .fn = end_writing }, deadline_ms, ERR_RETRY, "end what is written", err);
}

/* What is too much of it is read all the same, or it would stop up the rest. */
static void read_said(struct ssh_channel *c)
{
        char piece[1024];
        ssize_t n;

        while ((n = libssh2_channel_read_stderr(c->channel, piece, sizeof(piece))) > 0) {
                size_t keep = MIN((size_t)n, SAID_BYTES - 1 - c->n_said);

                memcpy(c->said + c->n_said, piece, keep);
                c->n_said += keep;
        }
}

static ssize_t read_some(struct step *s)
{
        struct ssh_channel *c = s->channel;
        ssize_t n = libssh2_channel_read(c->channel, c->output, sizeof(c->output));

        read_said(c);
        if (n == 0 && !libssh2_channel_eof(c->channel))
                return LIBSSH2_ERROR_EAGAIN;
        return n;
}

int ssh_read(struct ssh_channel *c, int64_t deadline_ms, struct slice *ret, struct error *err)
{
        struct step s = { .channel = c, .fn = read_some };

        TRY(go_through(&s, deadline_ms, err));
        if (s.result == 0)
                return error_set(err, ERR_CLOSED, "%s: the command ended", c->what);
        if (s.result < 0)
                return ssh_fails(c, ERR_RETRY, "read", err);
        *ret = (struct slice){ c->output, (size_t)s.result };
        return 0;
}

const char *ssh_said(const struct ssh_channel *c)
{
        return c->said;
}
