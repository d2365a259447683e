#include "common/net/loopback_call.h"

#include "common/base/digest.h"
#include "common/net/cert.h"

/* ---- life ---- */

static void free_pieces(struct loopback_call *c)
{
        list_for_each_safe(piece, next, &c->pieces, struct loopback_piece, node) {
                list_remove(&piece->node);
                mem_free(piece);
        }
}

void loopback_call_release(struct loopback_call *c)
{
        if (--c->holders > 0)
                return;
        free_pieces(c);
        timer_stop(&c->arrival);
        timer_stop(&c->due);
        arena_free(&c->server_arena);
        arena_free(&c->client_arena);
        mem_free(c);
}

static void wake_server(struct loopback_call *c)
{
        waitq_wake_all(&c->server_waits);
        if (c->watcher)
                fiber_wake(c->watcher);
}

void loopback_call_cut(struct loopback_call *c, const char *why)
{
        if (!c->broken.code && !c->ended)
                error_set(&c->broken, ERR_RETRY, "%s %s%s: %s", c->rq.method, c->authority, c->rq.path, why);
        waitq_wake_all(&c->client_waits);
        wake_server(c);
}

void loopback_call_leave(struct loopback_call *c)
{
        c->client_gone = true;
        timer_stop(&c->due);
        c->faults = NULL;
        c->rq.endpoint = NULL;
        free_pieces(c);
        c->queued = 0;
        wake_server(c);
        loopback_call_release(c);
}

/* ---- the request as the server sees it ---- */

/* Splits https://authority/prefix. *ret_prefix lies in the URL. */
static int split_url(struct arena *arena, const char *url, const char **ret_authority,
                     const char **ret_prefix, struct error *err)
{
        const char *rest = strchr(url, ':');
        if (!rest || rest[1] != '/' || rest[2] != '/')
                return error_set(err, ERR_INVALID, "%s: not an URL", url);
        rest += 3;
        *ret_prefix = strchrnul(rest, '/');
        *ret_authority = arena_strndup(arena, rest, (size_t)(*ret_prefix - rest));
        return *ret_authority ? 0 : error_no_memory(err);
}

/* The URL's prefix and the path, without its query. */
static const char *whole_path(struct arena *arena, const char *prefix, const char *path, size_t n)
{
        size_t n_prefix = strlen(prefix);
        char *text = arena_text(arena, n_prefix + n + 1);
        if (!text)
                return NULL;
        memcpy(text, prefix, n_prefix);
        memcpy(text + n_prefix, path, n);
        text[n_prefix + n] = '\0';
        return text;
}

static void person_free(void *value)
{
        struct loopback_person *p = value;
        if (!p)
                return;
        mem_free(p->common_name);
        cert_strings_free(p->organizations);
        mem_free(p);
}

void loopback_people_init(struct loopback *lb)
{
        map_init(&lb->people, MAP_OWN_KEYS, person_free);
}

int loopback_person_find(struct loopback *lb, const struct http_endpoint *e,
                         const struct loopback_person **ret, struct error *err)
{
        *ret = NULL;
        if (!e->client_cert_pem)
                return 0;
        struct loopback_person *p = map_get(&lb->people, e->client_cert_pem);
        if (!p) {
                p = NEW(struct loopback_person);
                if (!p)
                        return error_no_memory(err);
                int r = cert_read_subject(e->client_cert_pem, &p->common_name, &p->organizations, err);
                if (r == 0 && map_put(&lb->people, e->client_cert_pem, p) < 0)
                        r = error_no_memory(err);
                if (r < 0) {
                        person_free(p);
                        return error_wrap(err, "client certificate for %s", e->base_url);
                }
        }
        *ret = p;
        return 0;
}

/* As whom a request is signed. There is nothing to be kept from anybody here, but a log of requests shall not
 * show what it would not show elsewhere. */
static int add_signature(struct arena *arena, const struct http_aws_key *key, struct http_headers *headers)
{
        char hex[SHA256_HEX_SIZE];
        struct http_header *at = ARENA_NEW_ARRAY(arena, struct http_header, headers->n + 1);
        if (!at)
                return ERR_NO_MEMORY;
        if (headers->n > 0)
                memcpy(at, headers->at, headers->n * sizeof(*at));
        sha256_hex(key->secret_key, strlen(key->secret_key), hex);
        at[headers->n].name = "Authorization";
        at[headers->n].value =
                arena_printf(arena, LOOPBACK_SIGNATURE, key->access_key, key->region, key->service, hex);
        if (!at[headers->n].value)
                return ERR_NO_MEMORY;
        *headers = (struct http_headers){ at, headers->n + 1 };
        return 0;
}

static int fill_exchange(struct loopback_call *c, const struct http_request *rq, struct error *err)
{
        struct arena *arena = &c->server_arena;
        struct http_exchange *x = &c->x;
        const char *prefix = "";
        TRY(split_url(arena, rq->endpoint->base_url, &c->authority, &prefix, err));
        const char *path = arena_strdup(arena, rq->path);
        size_t path_len = (size_t)(strchrnul(rq->path, '?') - rq->path);
        x->ops = &loopback_exchange_ops;
        x->loop = c->net->loop;
        x->arena = arena;
        x->method = arena_strdup(arena, rq->method);
        x->path = whole_path(arena, prefix, rq->path, path_len);
        char *body = arena_text(arena, rq->body.len + 1);
        if (!path || !x->method || !x->path || !body ||
            http_headers_copy(arena, &rq->headers, &x->headers) < 0 ||
            (rq->endpoint->aws_key && add_signature(arena, rq->endpoint->aws_key, &x->headers) < 0))
                return error_no_memory(err);
        if (rq->body.len > 0)
                memcpy(body, rq->body.data, rq->body.len);
        body[rq->body.len] = 0;
        x->query = path + path_len + (path[path_len] == '?');
        x->body = (struct slice){ body, rq->body.len };
        x->remote_address = "loopback";
        const struct loopback_person *person = NULL;
        TRY(loopback_person_find(c->net, rq->endpoint, &person, err));
        x->peer_common_name = person ? person->common_name : NULL;
        x->peer_organizations = person ? (const char *const *)person->organizations : NULL;
        /* The faults see the request as the server does: rq's strings may die before the call does. */
        c->rq = *rq;
        c->rq.method = x->method;
        c->rq.path = path;
        c->rq.headers = x->headers;
        c->rq.body = x->body;
        c->rq.faults_know = &c->faults_know;
        return 0;
}

int loopback_call_new(struct loopback *lb, const struct http_request *rq, bool stream,
                      struct loopback_call **ret, struct error *err)
{
        struct loopback_call *c = NEW(struct loopback_call);
        if (!c)
                return error_no_memory(err);
        c->net = lb;
        c->sent_ms = network_now_ms(lb);
        c->holders = 1;
        c->stream = stream;
        c->queue_limit = stream         ? LIMIT_STREAM_QUEUE_BYTES
                         : rq->max_body ? rq->max_body
                                        : LIMIT_RESPONSE_BYTES;
        list_init(&c->pieces);
        list_init(&c->node);
        list_init(&c->client_waits.waiters);
        list_init(&c->server_waits.waiters);
        int r = fill_exchange(c, rq, err);
        if (r < 0)
                loopback_call_release(c);
        else
                *ret = c;
        return r;
}

/* ---- the handler's side ---- */

static bool is_gone(const struct loopback_call *c)
{
        return c->client_gone || c->broken.code || (c->server && c->server->closed);
}

/* When the next part of the answer arrives. */
static int64_t arrival_time(struct loopback_call *c)
{
        int64_t delay = 0;
        if (c->faults && c->faults->delay && (c->stream || !c->began))
                delay = c->faults->delay(c->faults->ctx, &c->rq, true);
        c->last_at_ms = MAX(c->last_at_ms, network_now_ms(c->net) + delay);
        return c->last_at_ms;
}

static void is_there(struct timer *t)
{
        waitq_wake_all(&container_of(t, struct loopback_call, due)->client_waits);
}

/* Something for the client is on its way: it is woken once, when that arrives, and not to learn when that
 * will be. */
static void wake_client(struct loopback_call *c, int64_t at_ms)
{
        if (list_empty(&c->client_waits.waiters)) /* it will look before it waits */
                return;
        if (timer_running(&c->due) && c->due.at_ms <= at_ms)
                return;
        if (at_ms <= network_now_ms(c->net) || timer_start(c->net->loop, &c->due, at_ms, is_there) < 0)
                waitq_wake_all(&c->client_waits);
        else
                timer_disown(&c->due);
}

static int call_begin(struct http_exchange *x, int status, const struct http_headers *headers)
{
        struct loopback_call *c = (struct loopback_call *)x;
        ASSERT(!c->began);
        if (headers && http_headers_copy(&c->client_arena, headers, &c->headers) < 0)
                return ERR_NO_MEMORY;
        c->status = status;
        c->head_at_ms = arrival_time(c);
        c->began = true;
        if (c->stream) /* else the whole is waited for */
                wake_client(c, c->head_at_ms);
        return is_gone(c) ? ERR_CLOSED : 0;
}

/* More than the client may hold: its read fails, and so do our writes. */
static int overrun(struct loopback_call *c)
{
        error_set(&c->broken, ERR_LIMIT, "%s %s%s: %s %zu bytes", c->rq.method, c->authority, c->rq.path,
                  c->stream ? "the reader is too slow, queued are" : "the answer is longer than",
                  c->queue_limit);
        loopback_call_cut(c, "");
        return c->stream ? ERR_LIMIT : ERR_CLOSED;
}

static int call_write(struct http_exchange *x, const void *data, size_t n)
{
        struct loopback_call *c = (struct loopback_call *)x;
        if (!c->began || c->ended)
                return ERR_INVALID;
        if (is_gone(c))
                return ERR_CLOSED;
        if (n == 0)
                return 0;
        if (c->queued + n > c->queue_limit)
                return overrun(c);
        if (c->stream && c->faults && c->faults->cut_stream &&
            c->faults->cut_stream(c->faults->ctx, &c->rq)) {
                loopback_call_cut(c, "the connection was cut");
                return ERR_CLOSED;
        }
        struct loopback_piece *piece = mem_alloc(sizeof(*piece) + n);
        if (!piece)
                return ERR_NO_MEMORY;
        piece->at_ms = arrival_time(c);
        piece->n = n;
        memcpy(piece->data, data, n);
        list_append(&c->pieces, &piece->node);
        c->queued += n;
        if (c->stream)
                wake_client(c, piece->at_ms);
        return 0;
}

static size_t call_queued(const struct http_exchange *x)
{
        return ((const struct loopback_call *)x)->queued;
}

static bool call_gone(const struct http_exchange *x)
{
        return is_gone((const struct loopback_call *)x);
}

static int call_drain(struct http_exchange *x, size_t level, int64_t deadline_ms)
{
        struct loopback_call *c = (struct loopback_call *)x;
        while (!is_gone(c) && c->stream && c->queued > level)
                TRY(waitq_wait(x->loop, &c->server_waits, deadline_ms));
        return is_gone(c) ? ERR_CLOSED : 0;
}

static int call_wait(struct http_exchange *x, struct waitq *q, int64_t deadline_ms)
{
        struct loopback_call *c = (struct loopback_call *)x;
        if (is_gone(c))
                return ERR_CLOSED;
        c->watcher = fiber_self(x->loop);
        int r = waitq_wait(x->loop, q, deadline_ms);
        c->watcher = NULL;
        return is_gone(c) ? ERR_CLOSED : r;
}

static int call_end(struct http_exchange *x)
{
        struct loopback_call *c = (struct loopback_call *)x;
        if (!c->began || c->ended)
                return ERR_INVALID;
        c->ended = true;
        wake_client(c, c->last_at_ms);
        return is_gone(c) ? ERR_CLOSED : 0;
}

const struct http_exchange_ops loopback_exchange_ops = {
        .begin = call_begin,
        .write = call_write,
        .queued = call_queued,
        .drain = call_drain,
        .gone = call_gone,
        .wait = call_wait,
        .end = call_end,
};

/* ---- delivery ---- */

/* What a handler left open: an answer never begun is a 500, one never ended is a cut. */
static void finish(struct loopback_call *c)
{
        bool killed = c->server->closed || fiber_cancelled(c->net->loop);
        if (!c->began && !killed)
                http_reply(&c->x, 500, "text/plain", SLICE("the handler gave no answer\n"), NULL);
        if (!c->ended)
                loopback_call_cut(c, "the server closed the connection");
        list_remove(&c->node);
        loopback_call_release(c);
}

static void run_handler(void *ctx)
{
        struct loopback_call *c = ctx;
        if (c->x.body.len > LIMIT_REQUEST_BODY_BYTES)
                http_reply(&c->x, 413, "text/plain",
                           slice_of(arena_printf(c->x.arena, "the request body is longer than %u bytes\n",
                                                 LIMIT_REQUEST_BODY_BYTES)),
                           NULL);
        else if (!c->server->closed)
                c->server->handle(c->server->ctx, &c->x);
        finish(c);
}

void loopback_call_deliver(struct loopback_call *c)
{
        struct loopback_server *server = map_get(&c->net->servers, c->authority);
        if (!server) {
                loopback_call_cut(c, "connection refused");
                error_set_reason(&c->broken, HTTP_REASON_REFUSED);
                loopback_call_release(c);
                return;
        }
        c->server = server;
        list_append(&server->calls, &c->node);
        if (fiber_spawn(server->group, "loopback handler", run_handler, c))
                return;
        loopback_call_cut(c, "the server has no memory for another request");
        list_remove(&c->node);
        loopback_call_release(c);
}
