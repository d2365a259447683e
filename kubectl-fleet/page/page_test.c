/* The page as a browser reaches it: files, the handshake, one session, with a hub that is away. */
#include "common/base/memory.h"
#include "common/net/raw_websocket_test.h"
#include "kubectl-fleet/page/page.h"

/* ---- a hub that is away ---- */

static int no_roundtrip(struct http_transport *t, const struct http_request *rq, struct arena *arena,
                        struct http_response *ret, struct error *err)
{
        return error_set(err, ERR_RETRY, "%s hub%s: connection refused", rq->method, rq->path);
}

static int no_stream(struct http_transport *t, const struct http_request *rq, struct http_stream **ret,
                     struct error *err)
{
        return error_set(err, ERR_RETRY, "%s hub%s: connection refused", rq->method, rq->path);
}

static const struct http_transport_ops away = { .roundtrip = no_roundtrip, .open = no_stream };

/* ---- the page ---- */

struct scene {
        struct loop *loop;
        struct world world;
        struct http_transport transport;
        struct http_endpoint endpoint;
        struct kube_client hub;
        struct log log;
        struct page *page;
        int port;
        bool done;
        void (*body)(struct scene *s);
};

static void run_body(void *ctx)
{
        static const char *const hosts[] = { "a", NULL };
        struct scene *s = ctx;
        const struct page_options o = { .world = &s->world,
                                        .log = &s->log,
                                        .hub = &s->hub,
                                        .hub_name = "east",
                                        .bind = "127.0.0.1",
                                        .token = "secret",
                                        .hosts = hosts };
        struct error err;

        if (page_start(&o, &s->page, &err) < 0)
                fail_msg("%s", err.text);
        s->port = page_port(s->page);
        s->body(s);
        s->page = page_stop(s->page);
        s->done = true;
}

static void run(void (*body)(struct scene *s))
{
        struct scene s = { .body = body,
                           .transport = { .ops = &away },
                           .endpoint = { .base_url = (char *)"https://hub" } };
        size_t before = mem_live_count();
        struct fiber_group *group;

        s.loop = loop_new_real(NULL);
        world_init_real(&s.world, s.loop, NULL);
        s.world.transport = &s.transport;
        s.hub = (struct kube_client){ .world = &s.world, .endpoint = &s.endpoint, .log = &s.log };
        group = fiber_group_new(s.loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "test", run_body, &s));
        loop_run(s.loop, NULL);
        assert_true(s.done);
        fiber_group_end(group);
        loop_free(s.loop);
        assert_int_equal(mem_live_count(), before);
}

/* ---- files ---- */

static void expect(struct scene *s, const char *request, const char *answer, const char *within)
{
        char text[512];
        struct raw k;

        snprintf(text, sizeof(text), "%s\r\nConnection: close\r\n\r\n", request);
        raw_open(&k, s->loop, s->port);
        raw_say(&k, text, strlen(text));
        raw_await_end(&k);
        if (!text_starts_with(k.heard.data, answer) || !strstr(k.heard.data, within))
                fail_msg("asked: %s\nheard: %.600s", text, k.heard.data);
        raw_close(&k);
}

static void files_body(struct scene *s)
{
        char own[64];

        snprintf(own, sizeof(own), "GET / HTTP/1.1\r\nHost: localhost:%d", s->port);
        expect(s, own, "HTTP/1.1 200 ", "<!doctype html>");
        expect(s, own, "HTTP/1.1 200 ", "Content-Security-Policy: default-src 'none'; script-src 'self';");
        expect(s, "GET /app.js HTTP/1.1\r\nHost: a", "HTTP/1.1 200 ", "Content-Type: text/javascript");
        expect(s, "GET /app.js HTTP/1.1\r\nHost: a\r\nOrigin: http://a", "HTTP/1.1 200 ", "nosniff");
        expect(s, "GET /none HTTP/1.1\r\nHost: a", "HTTP/1.1 404 ", "Content-Security-Policy");
        expect(s, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0", "HTTP/1.1 405 ", "");
        expect(s, "GET /live HTTP/1.1\r\nHost: a", "HTTP/1.1 404 ", "");
}

static void files_are_served_with_a_strict_policy(void **state)
{
        run(files_body);
}

static void strangers_body(struct scene *s)
{
        expect(s, "GET / HTTP/1.1\r\nHost: evil.test", "HTTP/1.1 403 ", "does not answer under that name");
        expect(s, "GET /app.js HTTP/1.1\r\nHost: a\r\nOrigin: http://evil.test", "HTTP/1.1 403 ",
               "no other page's");
        expect(s, "GET /healthz HTTP/1.1\r\nHost: 10.1.2.3:80", "HTTP/1.1 200 ", "ok\n");
}

static void strangers_are_refused_and_probes_are_not(void **state)
{
        run(strangers_body);
}

/* ---- the socket ---- */

static void refuse(struct scene *s, const char *target, const char *more, const char *answer)
{
        struct raw_socket k;
        const char *head;

        raw_socket_connect(&k, s->loop, s->port);
        raw_socket_ask(&k, target, more);
        head = raw_socket_head(&k);
        if (!text_starts_with(head, answer))
                fail_msg("heard: %s", head);
        raw_socket_close(&k);
}

static void handshake_body(struct scene *s)
{
        refuse(s, "/live", "", "HTTP/1.1 403 ");
        refuse(s, "/live", "Origin: http://evil.test\r\n", "HTTP/1.1 403 ");
        refuse(s, "/live", "Origin: null\r\n", "HTTP/1.1 403 ");
        refuse(s, "/", "Origin: http://a\r\n", "HTTP/1.1 404 ");
}

static void only_the_pages_own_scripts_get_a_socket(void **state)
{
        run(handshake_body);
}

static void await_text(struct raw_socket *k, const char *text)
{
        do
                raw_socket_message(k);
        while (!strstr(k->message.data, text));
}

static void session_body(struct scene *s)
{
        struct raw_socket k;

        raw_socket_connect(&k, s->loop, s->port);
        raw_socket_ask(&k, "/live", "Origin: http://a\r\n");
        assert_true(text_starts_with(raw_socket_head(&k), "HTTP/1.1 101 "));
        raw_socket_text(&k, "{\"token\": \"secret\"}");
        await_text(&k, "\"hub\":\"east\"");
        raw_socket_text(&k, "{\"open\": 1, \"view\": \"fleet\"}");
        await_text(&k, "\"kind\":\"MemberCluster\",\"why\":\"the hub cannot be read: connection refused\"");
        s->page = page_stop(s->page);
        raw_socket_expect_close(&k, 1001);
        raw_socket_close(&k);
}

static void a_session_is_told_that_the_hub_is_away_and_ends_with_the_page(void **state)
{
        run(session_body);
}

static void token_body(struct scene *s)
{
        struct raw_socket k;

        raw_socket_connect(&k, s->loop, s->port);
        raw_socket_ask(&k, "/live", "Origin: http://a\r\n");
        raw_socket_head(&k);
        raw_socket_text(&k, "{\"token\": \"guessed\"}");
        raw_socket_expect_close(&k, 4001);
        raw_socket_close(&k);
}

static void a_bad_token_closes_the_socket_with_its_code(void **state)
{
        run(token_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(files_are_served_with_a_strict_policy),
                cmocka_unit_test(strangers_are_refused_and_probes_are_not),
                cmocka_unit_test(only_the_pages_own_scripts_get_a_socket),
                cmocka_unit_test(a_session_is_told_that_the_hub_is_away_and_ends_with_the_page),
                cmocka_unit_test(a_bad_token_closes_the_socket_with_its_code),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
