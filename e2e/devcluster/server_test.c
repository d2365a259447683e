/* The real server over TLS and HTTP/2 on loopback, spoken to by the agents' own client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/loop/patience_test.h"
#include "common/net/cert.h"
#include "common/net/curl_internal.h"
#include "e2e/devcluster/internal.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define CALL_MS HANG_MS
#define LONG_BODY (32u << 20)

struct wire {
        struct loop *loop;
        struct world world;
        struct log log;
        struct devcluster *devcluster;
        struct devcluster_server *server;
        struct http_endpoint admin, stranger;
        struct arena arena;
        int ran;
};

static struct http_response call(struct wire *w, const struct http_endpoint *as, const char *method,
                                 const char *path, const char *body)
{
        struct http_header type = { "Content-Type", "application/json" };
        const struct http_request rq = { .endpoint = as,
                                         .method = method,
                                         .path = path,
                                         .headers = { &type, body ? 1 : 0 },
                                         .body = slice_of(body),
                                         .deadline_ms = loop_now_ms(w->loop) + CALL_MS };
        struct http_response answer = { 0 };
        struct error err = { 0 };
        if (http_roundtrip(w->world.transport, &rq, &w->arena, &answer, &err) < 0)
                fail_msg("%s %s: %s", method, path, err.text);
        return answer;
}

static void watch_over_the_wire(struct wire *w)
{
        const struct http_request rq = { .endpoint = &w->admin,
                                         .method = "GET",
                                         .path = CM "?watch=true&fieldSelector=metadata.name%3Da",
                                         .deadline_ms = loop_now_ms(w->loop) + CALL_MS,
                                         .priority = HTTP_WATCH };
        struct http_stream *s;
        struct error err = { 0 };
        struct slice data;
        assert_int_equal(http_stream_open(w->world.transport, &rq, &s, &err), 0);
        assert_int_equal(s->status, 200);
        assert_int_equal(call(w, &w->admin, "POST", CM, "{\"metadata\":{\"name\":\"a\"}}").status, 201);
        assert_int_equal(http_stream_read(s, loop_now_ms(w->loop) + CALL_MS, &data, &err), 0);
        assert_true(slice_starts_with(data, "{\"type\":\"ADDED\""));
        http_stream_close(s);
}

/* Reads until a whole line is there: the rest of an event must not wait for the next one. */
static void read_line(struct wire *w, struct http_stream *s, size_t size)
{
        struct error err = { 0 };
        struct slice data = { 0 };
        do
                if (http_stream_read(s, loop_now_ms(w->loop) + CALL_MS, &data, &err) < 0)
                        fail_msg("event of %zu bytes: %s", size, err.text);
        while (data.data[data.len - 1] != '\n');
}

static void watch_events_of_many_sizes(struct wire *w, enum http_priority priority)
{
        static const size_t sizes[] = { 3500,  4000,  7500,  8000,  12000,  16000,  20000,
                                        33000, 40000, 66000, 99000, 131000, 300000, 900000 };
        const struct http_request rq = {
                .endpoint = &w->admin,
                .method = "GET",
                .path = arena_printf(&w->arena, CM "?watch=true&labelSelector=big%%3D%d", priority),
                .deadline_ms = loop_now_ms(w->loop) + CALL_MS,
                .priority = priority
        };
        struct http_stream *s;
        struct error err = { 0 };
        assert_int_equal(http_stream_open(w->world.transport, &rq, &s, &err), 0);
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
                char *text = arena_alloc(&w->arena, sizes[i] + 1);
                assert_non_null(text);
                memset(text, 'x', sizes[i]);
                text[sizes[i]] = '\0';
                const char *doc =
                        arena_printf(&w->arena,
                                     "{\"metadata\":{\"name\":\"big-%d-%zu\",\"labels\":{\"big\":\"%d\"}},"
                                     "\"data\":{\"text\":\"%s\"}}",
                                     priority, i, priority, text);
                assert_int_equal(call(w, &w->admin, "POST", CM, doc).status, 201);
                read_line(w, s, sizes[i]);
        }
        http_stream_close(s);
}

enum { WATCHES = 300 };
struct burst {
        struct wire *wire;
        struct http_stream *open[WATCHES];
        size_t n;
};

static void open_one(void *ctx)
{
        struct burst *b = ctx;
        const struct http_request rq = { .endpoint = &b->wire->admin,
                                         .method = "GET",
                                         .path = CM "?watch=true&fieldSelector=metadata.name%3Dnone",
                                         .deadline_ms = loop_now_ms(b->wire->loop) + CALL_MS,
                                         .priority = HTTP_WATCH };
        struct error err = { 0 };
        if (http_stream_open(b->wire->world.transport, &rq, &b->open[b->n++], &err) < 0)
                fail_msg("watch: %s", err.text);
}

/* Fifty on each connection, and two connections for the others. */
static void open_many_watches_on_few_connections(struct wire *w)
{
        struct burst b = { .wire = w };
        struct fiber_group *group = fiber_group_new(w->loop, NULL, "burst");
        for (size_t i = 0; i < WATCHES; i++)
                assert_non_null(fiber_spawn(group, "watch", open_one, &b));
        assert_int_equal(fiber_group_join(group, loop_now_ms(w->loop) + CALL_MS), 0);
        fiber_group_end(group);
        assert_int_equal(b.n, WATCHES);
        assert_in_range(devcluster_server_connections(w->server), 1, WATCHES / 50 + 4);
        for (size_t i = 0; i < WATCHES; i++)
                http_stream_close(b.open[i]);
}

/* The listener of one cluster: paths as a client inside that cluster writes them. */
static void speak_to_its_own_listener(struct wire *w)
{
        const struct devcluster_server_options so = { .devcluster = w->devcluster, .cluster = "hub" };
        struct devcluster_server *own = NULL;
        struct error err = { 0 };
        struct http_endpoint as = w->admin;
        assert_int_equal(devcluster_serve(&so, &own, &err), 0);
        AUTO_FREE char *url = mem_printf("https://127.0.0.1:%d", devcluster_server_port(own));
        AUTO_FREE char *config = NULL;
        as.base_url = url;
        assert_int_equal(call(w, &as, "GET", "/api/v1/namespaces/kube-system", NULL).status, 200);
        assert_int_equal(call(w, &as, "GET", "/clusters/hub/api/v1/namespaces", NULL).status, 404);
        assert_int_equal(devcluster_set_cluster_url(w->devcluster, "hub", url), 0);
        assert_int_equal(devcluster_kubeconfig(w->devcluster, (const char *[]){ "hub" }, 1, &config, &err),
                         0);
        assert_non_null(strstr(config, arena_printf(&w->arena, "server: %s\n", url)));
        devcluster_server_stop(own);
}

/* The answer comes while most of the body is still to be sent. */
static void refuse_a_long_body_before_its_end(struct wire *w)
{
        char *text = arena_alloc(&w->arena, LONG_BODY + 1);
        assert_non_null(text);
        memset(text, ' ', LONG_BODY);
        text[LONG_BODY] = '\0';
        for (int i = 0; i < 3; i++) {
                struct http_response answer = call(w, &w->admin, "POST", CM, text);
                assert_int_equal(answer.status, 413);
                assert_non_null(strstr(answer.body.data, "3145728"));
        }
        assert_int_equal(call(w, &w->admin, "GET", CM, NULL).status, 200);
}

static void speak(struct wire *w)
{
        struct http_response answer = call(w, &w->admin, "GET", "/api/v1/namespaces", NULL);
        assert_int_equal(answer.status, 200);
        assert_non_null(strstr(answer.body.data, "\"kube-system\""));
        answer = call(w, &w->stranger, "GET", "/api/v1/namespaces", NULL);
        assert_int_equal(answer.status, 403);
        assert_non_null(strstr(answer.body.data,
                               "User \\\"system:anonymous\\\" cannot list resource \\\"namespaces\\\""));
        watch_over_the_wire(w);
        watch_events_of_many_sizes(w, HTTP_WATCH);
        ((struct curl_transport *)w->world.transport)->rest_ms = 20;
        watch_events_of_many_sizes(w, HTTP_WATCH_UNHURRIED);
        open_many_watches_on_few_connections(w);
        speak_to_its_own_listener(w);
        refuse_a_long_body_before_its_end(w);
}

static void start(struct wire *w, struct fiber_group *group)
{
        static const char *const masters[] = { "system:masters", NULL };
        const struct cert_subject admin = { .common_name = "admin", .organizations = masters };
        const struct devcluster_options o = { .world = &w->world, .log = &w->log, .path = ":memory:" };
        struct error err = { 0 };
        assert_int_equal(devcluster_open(&o, group, &w->devcluster, &err), 0);
        assert_int_equal(devcluster_create_cluster(w->devcluster, "hub", &err), 0);
        const struct devcluster_server_options so = { .devcluster = w->devcluster, .bind = "127.0.0.1" };
        assert_int_equal(devcluster_serve(&so, &w->server, &err), 0);
        w->admin.base_url =
                mem_printf("https://127.0.0.1:%d/clusters/hub", devcluster_server_port(w->server));
        w->admin.ca_pem = mem_strdup(devcluster_ca_pem(w->devcluster));
        w->stranger.base_url = mem_strdup(w->admin.base_url);
        w->stranger.ca_pem = mem_strdup(w->admin.ca_pem);
        assert_int_equal(cert_issue(w->devcluster->ca_cert, w->devcluster->ca_key, &admin, false,
                                    loop_wall_ms(w->loop), 1, &w->admin.client_cert_pem,
                                    &w->admin.client_key_pem, &err),
                         0);
        w->world.transport = http_transport_curl(&w->world, &err);
        assert_non_null(w->world.transport);
}

static void body(void *ctx)
{
        struct wire *w = ctx;
        struct fiber_group *group = fiber_group_new(w->loop, NULL, "server");
        start(w, group);
        speak(w);
        w->world.transport = http_transport_free(w->world.transport);
        w->server = devcluster_server_stop(w->server);
        w->devcluster = devcluster_close(w->devcluster);
        fiber_group_end(group);
        w->ran = 1;
        loop_stop(w->loop);
}

static void clients_read_write_and_watch_events_of_any_size_over_tls(void **state)
{
        struct wire w = { 0 };
        struct error err = { 0 };
        w.loop = loop_new_real(&err);
        assert_non_null(w.loop);
        world_init_real(&w.world, w.loop, NULL);
        struct fiber_group *group = fiber_group_new(w.loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "body", body, &w));
        assert_int_equal(loop_run(w.loop, &err), 0);
        assert_int_equal(w.ran, 1);
        fiber_group_end(group);
        loop_free(w.loop);
        http_endpoint_free(&w.admin);
        http_endpoint_free(&w.stranger);
        arena_free(&w.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(
                clients_read_write_and_watch_events_of_any_size_over_tls) };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
