#include <uv.h>

#include "common/net/address_guard.h"
#include "common/net/curl_internal.h"

#define REQUEST_CONNECTIONS 16 /* HTTP/1.1: at most so many at once, the rest waits its turn */
#define REQUEST_STREAMS 100    /* on one HTTP/2 connection */
#define WATCH_STREAMS 50       /* far below what servers allow: a stream too many would wait for ever */
#define IDLE_CONNECTIONS 8     /* kept by each multi */
#define POOL_IDLE_MS 60000     /* an identity not used for this long loses its connections */
#define READS_IN_A_ROW 8       /* that an unhurried watch has before it rests */
#define LOOK_MS 20             /* after something came, whether libcurl has more of it */
#define WATCH_LOOK_MS 250      /* so too; a look wakes all transfers of a connection, and watches are many */

/* ---- sockets ---- */

struct curl_socket {
        struct list node; /* on multi->sockets */
        uv_poll_t poll;
        struct curl_multi *multi;
        curl_socket_t fd;
        int wanted;        /* what libcurl waits for: UV_READABLE, UV_WRITABLE */
        int64_t rested_ms; /* each read puts it off by one rest: so far ahead, it was read too often */
        bool rests;        /* nothing is read now */
        struct timer rest;
};

void curl_multi_connected(struct curl_multi *m)
{
        m->first = NULL;
        waitq_wake_all(&m->connected);
}

/* Wakes who waits for a transfer that got bytes or came to its end. Called outside libcurl only. */
void curl_multi_wake_touched(struct curl_multi *m)
{
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(m->handle, &left))) {
                struct curl_transfer *tr = NULL;
                curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&tr);
                tr->done = true;
                tr->result = message->data.result;
                waitq_wake_all(&tr->waits);
        }
        list_for_each_safe(tr, next, &m->touched, struct curl_transfer, touched) {
                list_remove(&tr->touched);
                if (tr == m->first && tr->connected)
                        curl_multi_connected(m);
                waitq_wake_all(&tr->waits);
        }
}

void curl_multi_die(struct curl_multi *m)
{
        m->pool->dead = true;
        list_for_each(tr, &m->transfers, struct curl_transfer, node) {
                if (!tr->done) {
                        tr->done = true;
                        tr->failed = ERR_NO_MEMORY;
                        tr->result = CURLE_OUT_OF_MEMORY;
                }
                waitq_wake_all(&tr->waits);
        }
}

void curl_multi_doubt(struct curl_multi *m, const struct curl_transport *t, int64_t since_ms)
{
        if (m->heard_ms <= since_ms && loop_now_ms(m->pool->loop) - since_ms >= t->deaf_ms)
                m->pool->dead = true;
}

static void act(struct curl_multi *m, curl_socket_t fd, int events)
{
        int running;
        CURLMcode r = curl_multi_socket_action(m->handle, fd, events, &running);
        curl_multi_wake_touched(m);
        if (r != CURLM_OK)
                curl_multi_die(m);
}

static void on_poll(uv_poll_t *poll, int status, int events);

static int poll_again(struct curl_socket *s)
{
        int events = s->rests ? s->wanted & ~UV_READABLE : s->wanted;
        if (events)
                return uv_poll_start(&s->poll, events, on_poll);
        return uv_poll_stop(&s->poll);
}

/* A single transfer takes all there is. */
static void look_later(struct curl_multi *m)
{
        if (m->n > 1)
                curl_multi_look(m, m->look_ms);
}

static void on_rested(struct timer *t)
{
        struct curl_socket *s = container_of(t, struct curl_socket, rest);
        s->rests = false;
        (void)poll_again(s); /* it did poll before */
        look_later(s->multi);
}

/* What comes while it rests is read in one go, as each wake-up costs more than what it is for. libcurl has
 * read all that was there, or comes back for the rest of it by its timer. */
static void rest_after_reading(struct curl_socket *s)
{
        struct loop *l = s->multi->pool->loop;
        int64_t now_ms = loop_now_ms(l), rest_ms = s->multi->rest_ms, ahead = READS_IN_A_ROW * rest_ms;
        s->rested_ms = MIN(MAX(s->rested_ms, now_ms), now_ms + ahead) + rest_ms;
        if (s->rested_ms - now_ms <= ahead || timer_start(l, &s->rest, s->rested_ms - ahead, on_rested) < 0)
                return;
        s->rests = true;
        (void)poll_again(s);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
        struct curl_socket *s = poll->data;
        struct curl_multi *m = s->multi;
        int flags = status < 0 ? CURL_CSELECT_ERR : 0;
        if (events & UV_READABLE)
                flags |= CURL_CSELECT_IN;
        if (events & UV_WRITABLE)
                flags |= CURL_CSELECT_OUT;
        m->acting = s;
        act(m, s->fd, flags); /* s may be gone behind this */
        if (m->acting && m->rest_ms && (events & UV_READABLE))
                rest_after_reading(s);
        if ((events & UV_READABLE) && !(m->acting && s->rests))
                look_later(m);
        m->acting = NULL;
}

static void socket_closed(uv_handle_t *handle)
{
        mem_free(handle->data);
}

static struct curl_socket *socket_new(struct curl_multi *m, curl_socket_t fd)
{
        struct curl_socket *s = NEW(struct curl_socket);
        if (!s)
                return NULL;
        s->multi = m;
        s->fd = fd;
        if (uv_poll_init_socket(loop_uv(m->pool->loop), &s->poll, fd) < 0) {
                mem_free(s);
                return NULL;
        }
        s->poll.data = s;
        list_append(&m->sockets, &s->node);
        curl_multi_assign(m->handle, fd, s);
        return s;
}

/* libcurl: watch this socket from now on, or no more. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
        struct curl_multi *m = ctx;
        struct curl_socket *s = socket_ctx;
        if (what == CURL_POLL_REMOVE) {
                if (s) {
                        if (m->acting == s)
                                m->acting = NULL;
                        list_remove(&s->node);
                        timer_stop(&s->rest);
                        curl_multi_assign(m->handle, fd, NULL);
                        uv_poll_stop(&s->poll);
                        uv_close((uv_handle_t *)&s->poll, socket_closed);
                }
                return 0;
        }
        if (!s && !(s = socket_new(m, fd)))
                return -1;
        s->wanted = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
        return poll_again(s) < 0 ? -1 : 0;
}

/* Each socket once; libcurl may close some of them meanwhile. One that rests is looked at afterwards. */
static void look_at_sockets(struct curl_multi *m)
{
        struct list seen;

        list_init(&seen);
        while (!list_empty(&m->sockets)) {
                struct curl_socket *s = list_first(&m->sockets, struct curl_socket, node);
                list_remove(&s->node);
                list_append(&seen, &s->node);
                if (!s->rests)
                        act(m, s->fd, CURL_CSELECT_IN);
        }
        while (!list_empty(&seen)) {
                struct curl_socket *s = list_first(&seen, struct curl_socket, node);
                list_remove(&s->node);
                list_append(&m->sockets, &s->node);
        }
}

static void on_look(struct timer *t)
{
        struct curl_multi *m = container_of(t, struct curl_multi, look);
        uint64_t heard = m->heard;

        look_at_sockets(m);
        if (m->heard != heard)
                look_later(m);
}

void curl_multi_look(struct curl_multi *m, int64_t in_ms)
{
        int64_t at_ms = loop_now_ms(m->pool->loop) + in_ms;

        if (m->n == 0 || (timer_running(&m->look) && m->look.at_ms <= at_ms))
                return;
        /* No memory: the next look may have some. */
        (void)timer_start(m->pool->loop, &m->look, at_ms, on_look);
}

/* ---- timers ---- */

static void on_timer(struct timer *t)
{
        act(container_of(t, struct curl_multi, timer), CURL_SOCKET_TIMEOUT, 0);
}

static int on_timeout_wanted(CURLM *handle, long ms, void *ctx)
{
        struct curl_multi *m = ctx;
        timer_stop(&m->timer);
        if (ms < 0)
                return 0;
        return timer_start(m->pool->loop, &m->timer, loop_now_ms(m->pool->loop) + ms, on_timer) < 0 ? -1 : 0;
}

/* ---- pools ---- */

static int multi_init(struct curl_multi *m, struct curl_pool *p, enum http_priority priority)
{
        bool watch = priority != HTTP_NORMAL;
        m->pool = p;
        list_init(&m->transfers);
        list_init(&m->connected.waiters);
        list_init(&m->touched);
        list_init(&m->sockets);
        m->handle = curl_multi_init();
        if (!m->handle)
                return ERR_NO_MEMORY;
        curl_multi_setopt(m->handle, CURLMOPT_SOCKETFUNCTION, on_socket);
        curl_multi_setopt(m->handle, CURLMOPT_SOCKETDATA, m);
        curl_multi_setopt(m->handle, CURLMOPT_TIMERFUNCTION, on_timeout_wanted);
        curl_multi_setopt(m->handle, CURLMOPT_TIMERDATA, m);
        curl_multi_setopt(m->handle, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
        curl_multi_setopt(m->handle, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS);
        m->look_ms = watch ? WATCH_LOOK_MS : LOOK_MS;
        m->streams = watch ? WATCH_STREAMS : REQUEST_STREAMS;
        curl_multi_setopt(m->handle, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)m->streams);
        if (!watch) {
                curl_multi_setopt(m->handle, CURLMOPT_MAX_HOST_CONNECTIONS, (long)REQUEST_CONNECTIONS);
                curl_multi_setopt(m->handle, CURLMOPT_MAXCONNECTS, (long)REQUEST_CONNECTIONS);
        }
        return 0;
}

void curl_pool_free(struct curl_pool *p)
{
        if (!p)
                return;
        ASSERT(p->transfers == 0);
        for (size_t i = 0; i < ARRAY_LEN(p->multi); i++) {
                struct curl_multi *m = &p->multi[i];
                if (!m->handle)
                        continue;
                curl_multi_cleanup(m->handle);
                timer_stop(&m->timer);
                timer_stop(&m->look);
        }
        list_remove(&p->node);
        mem_free(p);
}

static uint64_t mix(uint64_t h, const char *s)
{
        return hash_bytes(s ? s : "", s ? strlen(s) + 1 : 0, h);
}

static uint64_t mix_ranges(uint64_t h, const struct address_ranges *denied)
{
        for (size_t i = 0; denied && i < denied->n; i++) {
                const struct address_range *r = &denied->at[i];
                unsigned char bytes[] = { r->six, (unsigned char)r->bits };

                h = hash_bytes(r->first, sizeof(r->first), hash_bytes(bytes, sizeof(bytes), h));
        }
        return h;
}

/* Everything that makes two endpoints different. Not secret and not for attackers: 128 bits of a fast hash
 * do. */
static void endpoint_key(const struct http_endpoint *e, uint64_t key[2])
{
        const char *parts[] = { e->base_url,
                                e->ca_pem,
                                e->client_cert_pem,
                                e->client_key_pem,
                                e->tls_server_name,
                                e->proxy_url,
                                e->bearer_token,
                                e->bearer_token_file,
                                e->username,
                                e->password,
                                e->aws_key ? e->aws_key->access_key : NULL,
                                e->aws_key ? e->aws_key->secret_key : NULL,
                                e->insecure_skip_verify ? "insecure" : "" };
        for (uint64_t k = 0; k < 2; k++) {
                key[k] = hash_bytes(&e->generation, sizeof(e->generation), k);
                for (size_t i = 0; i < ARRAY_LEN(parts); i++)
                        key[k] = mix(key[k] + i, parts[i]);
                key[k] = mix_ranges(key[k], e->denied);
        }
}

static void drop_idle_pools(struct curl_transport *t, int64_t now_ms)
{
        list_for_each_safe(p, next, &t->pools, struct curl_pool, node)
                if (p->transfers == 0 && (p->dead || now_ms - p->last_used_ms > POOL_IDLE_MS))
                        curl_pool_free(p);
}

static struct curl_pool *pool_new(struct curl_transport *t, struct error *err)
{
        struct curl_pool *p = NEW(struct curl_pool);
        if (!p) {
                error_no_memory(err);
                return NULL;
        }
        p->loop = t->world->loop;
        list_init(&p->node);
        list_append(&t->pools, &p->node);
        return p;
}

struct curl_multi *curl_pool_multi(struct curl_transport *t, struct curl_pool *p, enum http_priority priority)
{
        struct curl_multi *m = &p->multi[priority];
        if (m->handle)
                return m;
        if (multi_init(m, p, priority) < 0)
                return NULL;
        m->rest_ms = priority == HTTP_WATCH_UNHURRIED ? t->rest_ms : 0;
        return m;
}

struct curl_pool *curl_pool_find(struct curl_transport *t, const struct http_endpoint *e, struct error *err)
{
        uint64_t key[2];
        endpoint_key(e, key);
        int64_t now_ms = loop_now_ms(t->world->loop);
        list_for_each(p, &t->pools, struct curl_pool, node)
                if (!p->dead && p->key[0] == key[0] && p->key[1] == key[1]) {
                        p->last_used_ms = now_ms;
                        return p;
                }
        drop_idle_pools(t, now_ms);
        struct curl_pool *p = pool_new(t, err);
        if (!p)
                return NULL;
        p->key[0] = key[0];
        p->key[1] = key[1];
        p->last_used_ms = now_ms;
        if (e->insecure_skip_verify) {
                struct log log = { .sink = t->world->log_sink };
                log_warn(&log, "TLS certificates are not verified", "server", e->base_url);
        }
        return p;
}
