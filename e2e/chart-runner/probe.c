#include "e2e/chart-runner/probe.h"

#include <stdio.h>
#include <uv.h>

#include "common/base/memory.h"

#define ANSWER_MAX 512

/* ---- reading ---- */

static int named_port(const json_t *container, const char *name, int *ret)
{
        json_t *port;
        size_t i;

        json_array_foreach(doc_get_array(container, "ports"), i, port) {
                if (!text_equal(doc_get_string(port, "name"), name))
                        continue;
                *ret = (int)doc_get_int(port, "containerPort", 0);
                return 0;
        }
        return ERR_NOT_FOUND;
}

static int read_port(const json_t *container, const json_t *value, int *ret, struct error *err)
{
        if (json_is_integer(value)) {
                *ret = (int)json_integer_value(value);
                return 0;
        }
        if (json_is_string(value) && named_port(container, json_string_value(value), ret) == 0)
                return 0;
        return error_set(err, ERR_INVALID, "httpGet.port: no containerPort has this name");
}

int probe_read(const json_t *container, const char *kind, struct probe *ret, bool *ret_there,
               struct error *err)
{
        const json_t *doc = doc_get_object(container, kind), *get = doc_get_object(doc, "httpGet");
        const char *path = doc_get_string(get, "path"), *scheme = doc_get_string(get, "scheme");

        *ret_there = doc != NULL;
        if (!doc)
                return 0;
        if (!get || (scheme && strcmp(scheme, "HTTP") != 0))
                return error_set(err, ERR_UNSUPPORTED, "%s: only httpGet over HTTP is supported", kind);
        *ret = (struct probe){ .delay_ms = doc_get_int(doc, "initialDelaySeconds", 0) * 1000,
                               .period_ms = doc_get_int(doc, "periodSeconds", 10) * 1000,
                               .timeout_ms = doc_get_int(doc, "timeoutSeconds", 1) * 1000,
                               .needed_good = doc_get_int(doc, "successThreshold", 1),
                               .needed_bad = doc_get_int(doc, "failureThreshold", 3) };
        snprintf(ret->path, sizeof(ret->path), "%s%s", path && *path == '/' ? "" : "/", path ? path : "");
        if (read_port(container, json_object_get(get, "port"), &ret->port, err) < 0)
                return error_wrap(err, "%s", kind);
        return 0;
}

bool probe_count(const struct probe *p, struct probe_count *c, bool answer, bool *verdict)
{
        bool before = *verdict;

        c->good = answer ? c->good + 1 : 0;
        c->bad = answer ? 0 : c->bad + 1;
        if (c->good >= p->needed_good)
                *verdict = true;
        if (c->bad >= p->needed_bad)
                *verdict = false;
        return *verdict != before;
}

/* ---- asking ---- */

struct question {
        uv_tcp_t tcp;
        uv_connect_t connect;
        uv_write_t write;
        struct loop *loop;
        struct waitq changed;
        char request[768], answer[ANSWER_MAX + 1];
        size_t n;
        bool done, closed;
        int code; /* 0 or a libuv error */
};

static void finish(struct question *q, int code)
{
        q->done = true;
        q->code = code;
        waitq_wake_all(&q->changed);
}

static void give_buffer(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
        struct question *q = h->data;

        *ret = uv_buf_init(q->answer + q->n, (unsigned)(ANSWER_MAX - q->n));
}

/* The first line is all that counts. */
static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
        struct question *q = s->data;

        q->n += n > 0 ? (size_t)n : 0;
        q->answer[q->n] = '\0';
        if (strchr(q->answer, '\n') || q->n == ANSWER_MAX)
                finish(q, 0);
        else if (n < 0)
                finish(q, (int)n);
        if (q->done)
                uv_read_stop(s);
}

static void on_written(uv_write_t *w, int status)
{
        struct question *q = w->handle->data;

        if (status < 0 && !q->done)
                finish(q, status);
}

static void on_connected(uv_connect_t *c, int status)
{
        struct question *q = c->handle->data;
        uv_buf_t out = uv_buf_init(q->request, (unsigned)strlen(q->request));

        if (q->done)
                return;
        if (status == 0)
                status = uv_read_start(c->handle, give_buffer, on_read);
        if (status == 0)
                status = uv_write(&q->write, c->handle, &out, 1, on_written);
        if (status < 0)
                finish(q, status);
}

static void on_closed(uv_handle_t *h)
{
        struct question *q = h->data;

        q->closed = true;
        waitq_wake_all(&q->changed);
}

static int judge(const struct question *q, struct error *err)
{
        int status = 0;

        if (!q->done)
                return error_set(err, ERR_TIMEOUT, "context deadline exceeded (no answer in time)");
        if (q->code < 0)
                return error_set(err, ERR_RETRY, "connect: %s", uv_strerror(q->code));
        if (sscanf(q->answer, "HTTP/%*s %d", &status) != 1)
                return error_set(err, ERR_INVALID, "the answer is not HTTP");
        if (status < 200 || status > 399)
                return error_set(err, ERR_RETRY, "HTTP probe failed with statuscode: %d", status);
        return 0;
}

static void ask(struct question *q, const struct probe *p, int fd)
{
        struct sockaddr_in to;
        int64_t deadline = loop_now_ms(q->loop) + p->timeout_ms;
        int code;

        uv_ip4_addr("127.0.0.1", p->port, &to);
        code = uv_tcp_open(&q->tcp, fd);
        if (code == 0)
                code = uv_tcp_connect(&q->connect, &q->tcp, (struct sockaddr *)&to, on_connected);
        if (code < 0)
                finish(q, code);
        while (!q->done && waitq_wait(q->loop, &q->changed, deadline) == 0)
                ;
        fiber_mask_cancel(q->loop);
        uv_close((uv_handle_t *)&q->tcp, on_closed);
        while (!q->closed)
                (void)waitq_wait(q->loop, &q->changed, DEADLINE_NONE);
        fiber_unmask_cancel(q->loop);
}

int probe_ask(struct loop *l, const struct pod_network *n, const struct probe *p, struct error *err)
{
        AUTO_FREE struct question *q = NEW(struct question);
        int fd = -1;

        if (!q)
                return error_no_memory(err);
        q->loop = l;
        snprintf(q->request, sizeof(q->request),
                 "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: kube-probe/1.0\r\nAccept: */*\r\n"
                 "Connection: close\r\n\r\n",
                 p->path, p->port);
        TRY(pod_network_socket(n, &fd, err));
        uv_tcp_init(loop_uv(l), &q->tcp);
        q->tcp.data = q;
        ask(q, p, fd);
        return judge(q, err);
}
