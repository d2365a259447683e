/* Where transfers do not go, by real connections of this machine. spec/helm-chart.md 13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/devcluster/serving/http1_server_test.h"
#include "hub-agent/transfer/transfer.h"

struct rig {
        struct loop *loop;
        struct world world;
        struct http1_server *server;
        struct arena arena;
        int served;
        bool done;
};

static void answer(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        AUTO_FREE char *away = mem_printf("http://127.0.0.2:%d/", http1_server_port(r->server));
        struct http_header location = { "Location", away };
        const struct http_headers headers = { &location, 1 };
        bool moved = text_equal(x->path, "/away");

        r->served++;
        http_reply(x, moved ? 302 : 200, "text/plain", SLICE("hello"), moved ? &headers : NULL);
}

static int ask(struct rig *r, const char *list, const char *host, const char *path, struct error *err)
{
        struct address_ranges denied;
        struct http_response a;
        const struct transfer_call c = { .url = arena_printf(&r->arena, "http://%s:%d%s", host,
                                                             http1_server_port(r->server), path) };
        struct transfer t = { .world = &r->world,
                              .arena = &r->arena,
                              .denied = &denied,
                              .deadline_ms = loop_now_ms(r->loop) + 20000 };

        *err = (struct error){ 0 };
        assert_int_equal(address_ranges_parse(list, &r->arena, &denied, NULL), 0);
        return transfer_ask(&t, &c, &a, err);
}

static void ask_all(void *ctx)
{
        struct http_server_options o = { .bind = "127.0.0.1", .handle = answer, .ctx = ctx };
        struct rig *r = ctx;
        struct error err;

        assert_int_equal(http1_server_start(&r->world, &o, &r->server, &err), 0);
        assert_int_equal(ask(r, "", "127.0.0.1", "/", &err), 0);
        assert_int_equal(ask(r, "169.254.0.0/16", "localhost", "/", &err), 0);
        assert_int_equal(r->served, 2);
        assert_int_equal(ask(r, "127.0.0.0/8,::1", "127.0.0.1", "/", &err), ERR_FORBIDDEN);
        assert_non_null(strstr(err.text, "this leads to a denied address (127.0.0.0/8), which is not asked"));
        assert_int_equal(ask(r, "127.0.0.0/8,::1", "localhost", "/", &err), ERR_FORBIDDEN);
        assert_int_equal(r->served, 2);
        assert_int_equal(ask(r, "127.0.0.2/32", "127.0.0.1", "/away", &err), ERR_FORBIDDEN);
        assert_non_null(strstr(err.text, "a denied address (127.0.0.2/32)"));
        assert_int_equal(r->served, 3);
        http_transport_free(r->world.transport);
        http1_server_stop(r->server);
        r->done = true;
}

/* spec/helm-chart.md checklist 94 */
static void no_name_and_no_redirect_leads_to_a_denied_address(void **state)
{
        struct error err = { 0 };
        struct rig r = { .loop = loop_new_real(&err) };
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");

        r.world = (struct world){ .loop = r.loop };
        r.world.transport = http_transport_curl(&r.world, &err);
        assert_non_null(r.world.transport);
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
                cmocka_unit_test(no_name_and_no_redirect_leads_to_a_denied_address),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
