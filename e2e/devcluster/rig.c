/* Test support: see rig.h. In the library, so that every test program of devcluster shares it. */
#include "e2e/devcluster/rig.h"

#include "common/base/limits.h"

#define CALL_MS 60000

static void body_fiber(void *ctx)
{
        struct rig *r = ctx;
        struct error err = { 0 };
        struct fiber_group *group = fiber_group_new(r->loop, NULL, "server");
        int opened = devcluster_open(&r->options, group, &r->devcluster, &err);
        if (opened == 0)
                opened = devcluster_create_cluster(r->devcluster, "hub", &err);
        if (opened < 0) {
                fprintf(stderr, "devcluster: %s\n", err.text);
                ASSERT(opened == 0);
        }
        ASSERT(loopback_listen(r->net, "dev", devcluster_handle, r->devcluster) == 0);
        r->body(r);
        loopback_listen(r->net, "dev", NULL, NULL);
        http_transport_free(r->client);
        loopback_free(r->net);
        devcluster_close(r->devcluster);
        fiber_group_end(group);
}

void rig_run_options(void (*body)(struct rig *r), const struct devcluster_options *options, void *ctx)
{
        struct error err = { 0 };
        struct rig r = { .body = body, .ctx = ctx };
        r.loop = loop_new_simulated(1, WALL, &err);
        ASSERT(r.loop);
        r.world.loop = r.loop;
        r.net = loopback_new(r.loop);
        r.client = loopback_transport(r.net, &r.world, NULL);
        r.endpoint.base_url = (char *)BASE;
        r.options = options ? *options
                            : (struct devcluster_options){ .path = ":memory:", .anonymous_admin = true };
        r.options.world = &r.world;
        r.options.webhooks = r.client;
        r.options.log = &r.log;
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");
        ASSERT(fiber_spawn(group, "body", body_fiber, &r));
        ASSERT(loop_run(r.loop, &err) == 0);
        fiber_group_end(group);
        json_decref(r.answer);
        arena_free(&r.arena);
        loop_free(r.loop);
}

void rig_run_with(void (*body)(struct rig *r), const struct devcluster_options *options)
{
        rig_run_options(body, options, NULL);
}

void rig_run_for(void (*body)(struct rig *r), void *ctx)
{
        rig_run_options(body, NULL, ctx);
}

void rig_run(void (*body)(struct rig *r))
{
        rig_run_options(body, NULL, NULL);
}

static struct http_request make_request(struct rig *r, const char *method, const char *path,
                                        struct http_header *headers, size_t n)
{
        return (struct http_request){ .endpoint = &r->endpoint,
                                      .method = method,
                                      .path = path,
                                      .headers = { headers, n },
                                      .deadline_ms = loop_now_ms(r->loop) + CALL_MS };
}

static int call(struct rig *r, const char *method, const char *path, struct http_header *headers, size_t n,
                const char *body)
{
        struct http_request rq = make_request(r, method, path, headers, n);
        struct http_response answer = { 0 };
        struct error err = { 0 };
        rq.body = slice_of(body);
        json_decref(r->answer);
        r->answer = NULL;
        r->text = "";
        if (http_roundtrip(r->client, &rq, &r->arena, &answer, &err) < 0) {
                fprintf(stderr, "%s %s: %s\n", method, path, err.text);
                return r->status = -1;
        }
        r->text = answer.body.data ? answer.body.data : "";
        r->headers = answer.headers;
        (void)doc_parse(answer.body, &r->answer, NULL);
        return r->status = answer.status;
}

int rig_call(struct rig *r, const char *method, const char *path, const char *content_type, const char *body)
{
        struct http_header header = { "Content-Type", content_type };
        return call(r, method, path, &header, content_type ? 1 : 0, body);
}

int rig_get(struct rig *r, const char *path)
{
        return rig_call(r, "GET", path, NULL, NULL);
}

int rig_get_with(struct rig *r, const char *path, const char *name, const char *value)
{
        struct http_header header = { name, value };
        return call(r, "GET", path, &header, 1, NULL);
}

int rig_get_as(struct rig *r, const char *path, const char *accept)
{
        return rig_get_with(r, path, "Accept", accept);
}

int rig_post(struct rig *r, const char *path, const char *body)
{
        return rig_call(r, "POST", path, "application/json", body);
}

int rig_put(struct rig *r, const char *path, const char *body)
{
        return rig_call(r, "PUT", path, "application/json", body);
}

int rig_merge(struct rig *r, const char *path, const char *body)
{
        return rig_call(r, "PATCH", path, "application/merge-patch+json", body);
}

int rig_merge_as(struct rig *r, const char *path, const char *accept, const char *body)
{
        struct http_header headers[] = { { "Content-Type", "application/merge-patch+json" },
                                         { "Accept", accept } };
        return call(r, "PATCH", path, headers, ARRAY_LEN(headers), body);
}

int rig_apply(struct rig *r, const char *path, const char *body)
{
        return rig_call(r, "PATCH", path, "application/apply-patch+yaml", body);
}

int rig_delete(struct rig *r, const char *path)
{
        return rig_call(r, "DELETE", path, NULL, NULL);
}

const char *rig_string(struct rig *r, const char *path)
{
        const char *s = doc_get_string(r->answer, path);
        return s ? s : "";
}

void rig_settle(struct rig *r)
{
        (void)fiber_sleep(r->loop, 1000);
}

/* ---- watches ---- */

void rig_watch_open(struct rig *r, struct rig_watch *w, const char *path)
{
        struct http_request rq = make_request(r, "GET", path, NULL, 0);
        struct error err = { 0 };
        *w = (struct rig_watch){ .rig = r };
        buf_init(&w->pending, LIMIT_WATCH_EVENT_BYTES);
        rq.priority = HTTP_WATCH;
        int opened = http_stream_open(r->client, &rq, &w->stream, &err);
        ASSERT(opened == 0);
        r->status = w->stream->status;
}

static bool take_line(struct rig_watch *w)
{
        char *end = memchr(w->pending.data, '\n', w->pending.len);
        if (!end)
                return false;
        size_t n = (size_t)(end - w->pending.data);
        json_decref(w->event);
        w->event = NULL;
        int parsed = doc_parse((struct slice){ w->pending.data, n }, &w->event, NULL);
        ASSERT(parsed == 0);
        buf_consume(&w->pending, n + 1);
        return true;
}

const char *rig_watch_next(struct rig_watch *w, int64_t ms)
{
        struct loop *loop = w->rig->loop;
        int64_t deadline = loop_now_ms(loop) + ms;
        while (!take_line(w)) {
                struct slice data = { 0 };
                struct error err = { 0 };
                int r = http_stream_read(w->stream, deadline, &data, &err);
                if (r == ERR_TIMEOUT)
                        return "timeout";
                if (r < 0)
                        return "";
                r = buf_append(&w->pending, data.data, data.len);
                ASSERT(r == 0);
        }
        const char *type = doc_get_string(w->event, "type");
        return type ? type : "";
}

const char *rig_watch_string(struct rig_watch *w, const char *path)
{
        const char *s = doc_get_string(json_object_get(w->event, "object"), path);
        return s ? s : "";
}

void rig_watch_close(struct rig_watch *w)
{
        http_stream_close(w->stream);
        buf_free(&w->pending);
        json_decref(w->event);
}
