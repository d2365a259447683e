/* Which addresses are asked, and that libcurl connects to no others. docs/threat-model.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/net/address_guard.h"
#include "e2e/devcluster/serving/http1_server_test.h"

static const char *refusal(const char *text)
{
        struct sockaddr_in four = { .sin_family = AF_INET };
        struct sockaddr_in6 six = { .sin6_family = AF_INET6 };

        if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
                return address_guard_refuses((struct sockaddr *)&four);
        if (inet_pton(AF_INET6, text, &six.sin6_addr) != 1)
                fail_msg("%s: no address", text);
        return address_guard_refuses((struct sockaddr *)&six);
}

static void addresses_of_hosts_are_asked_and_no_others(void **state)
{
        static const char *const good[] = { "10.0.0.1",     "192.168.1.1",     "172.16.0.1",
                                            "140.82.112.3", "100.100.100.201", "126.255.255.255",
                                            "128.0.0.1",    "223.255.255.255", "2606:4700::1111",
                                            "fd12::1",      "::ffff:10.0.0.1", "64:ff9b::a00:1",
                                            "2002:a00:1::1" };
        static const char *const bad[] = { "0.0.0.0",
                                           "0.1.2.3",
                                           "127.0.0.1",
                                           "127.255.255.254",
                                           "169.254.169.254",
                                           "169.254.0.1",
                                           "100.100.100.200",
                                           "168.63.129.16",
                                           "192.0.0.192",
                                           "224.0.0.1",
                                           "240.0.0.1",
                                           "255.255.255.255",
                                           "::",
                                           "::1",
                                           "fe80::1",
                                           "febf::1",
                                           "ff02::1",
                                           "fd00:ec2::254",
                                           "fd20:ce::254",
                                           "::ffff:127.0.0.1",
                                           "::ffff:169.254.169.254",
                                           "::127.0.0.1",
                                           "::ffff:0:127.0.0.1",
                                           "64:ff9b::7f00:1",
                                           "64:ff9b:1::a9fe:a9fe",
                                           "2002:7f00:1::",
                                           "2002:a9fe:a9fe::1" };

        for (size_t i = 0; i < ARRAY_LEN(good); i++)
                if (refusal(good[i]))
                        fail_msg("%s: %s", good[i], refusal(good[i]));
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                if (!refusal(bad[i]))
                        fail_msg("%s: is asked", bad[i]);
        assert_non_null(address_guard_refuses(&(struct sockaddr){ .sa_family = AF_UNIX }));
}

struct rig {
        struct loop *loop;
        struct world world;
        struct http1_server *server;
        struct http_transport *client;
        struct arena arena;
        int served;
        bool done;
};

static void answer(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;

        r->served++;
        http_reply(x, 200, "text/plain", SLICE("hello"), NULL);
}

static int ask(struct rig *r, const char *host, bool guarded, struct error *err)
{
        AUTO_FREE char *url = mem_printf("http://%s:%d", host, http1_server_port(r->server));
        struct http_endpoint e = { .base_url = url, .guarded = guarded };
        struct http_request rq = {
                .endpoint = &e, .method = "GET", .path = "/", .deadline_ms = loop_now_ms(r->loop) + 20000
        };
        struct http_response a;

        *err = (struct error){ 0 };
        return http_roundtrip(r->client, &rq, &r->arena, &a, err);
}

static void ask_all(void *ctx)
{
        struct http_server_options o = { .bind = "127.0.0.1", .handle = answer, .ctx = ctx };
        struct rig *r = ctx;
        struct error err;

        assert_int_equal(http1_server_start(&r->world, &o, &r->server, &err), 0);
        assert_int_equal(ask(r, "127.0.0.1", false, &err), 0);
        assert_int_equal(ask(r, "127.0.0.1", true, &err), ERR_FORBIDDEN);
        assert_string_equal(err.reason, HTTP_REASON_ADDRESS);
        assert_non_null(strstr(err.text, "an address of this machine"));
        assert_int_equal(ask(r, "localhost", true, &err), ERR_FORBIDDEN);
        assert_int_equal(ask(r, "[::ffff:127.0.0.1]", true, &err), ERR_FORBIDDEN);
        assert_int_equal(ask(r, "0", true, &err), ERR_FORBIDDEN);
        assert_int_equal(ask(r, "0x7f.1", true, &err), ERR_FORBIDDEN);
        assert_int_equal(ask(r, "localhost", false, &err), 0);
        assert_int_equal(r->served, 2);
        http_transport_free(r->client);
        http1_server_stop(r->server);
        r->done = true;
}

/* What counts is where the connection goes, not what the URL says; and none that stands is taken. */
static void a_guarded_endpoint_connects_to_no_refused_address(void **state)
{
        struct error err = { 0 };
        struct rig r = { .loop = loop_new_real(&err) };
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");

        r.world = (struct world){ .loop = r.loop };
        r.client = http_transport_curl(&r.world, &err);
        assert_non_null(r.client);
        assert_non_null(fiber_spawn(group, "ask", ask_all, &r));
        loop_run(r.loop, &err);
        assert_true(r.done);
        fiber_group_end(group);
        loop_free(r.loop);
        arena_free(&r.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(addresses_of_hosts_are_asked_and_no_others),
                cmocka_unit_test(a_guarded_endpoint_connects_to_no_refused_address),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
