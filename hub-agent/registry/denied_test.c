/* Where a registry cannot send its client, by real connections of this machine. spec/helm-chart.md 13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/devcluster/serving/http1_server_test.h"
#include "hub-agent/registry/registry.h"

struct rig {
        struct loop *loop;
        struct world world;
        struct http1_server *server;
        struct arena arena;
        int manifests;
        bool done;
};

/* Its tokens are to be got at another address of this machine. */
static void answer(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        AUTO_FREE char *wanted =
                mem_printf("Bearer realm=\"http://127.0.0.2:%d/token\"", http1_server_port(r->server));
        struct http_header challenge = { "WWW-Authenticate", wanted };
        const struct http_headers headers = { &challenge, 1 };

        r->manifests++;
        http_reply(x, 401, "application/json", SLICE("{}"), &headers);
}

static int ask(struct rig *r, const char *list, struct error *err)
{
        struct address_ranges denied;
        struct transfer t = { .world = &r->world,
                              .arena = &r->arena,
                              .denied = &denied,
                              .deadline_ms = loop_now_ms(r->loop) + 20000 };
        struct registry registry = {
                .transfer = &t,
                .place = { arena_printf(&r->arena, "127.0.0.1:%d", http1_server_port(r->server)), "app" },
                .login = { "ann", "pw" },
                .scheme = REGISTRY_HTTP
        };
        const char *digest;

        *err = (struct error){ 0 };
        assert_int_equal(address_ranges_parse(list, &r->arena, &denied, NULL), 0);
        assert_int_equal(registry_open(&registry, err), 0);
        return registry_resolve(&registry, "1.0.0", &digest, err);
}

static void ask_all(void *ctx)
{
        struct http_server_options o = { .bind = "127.0.0.1", .handle = answer, .ctx = ctx };
        struct rig *r = ctx;
        struct error err;

        assert_int_equal(http1_server_start(&r->world, &o, &r->server, &err), 0);
        assert_int_equal(ask(r, "127.0.0.2/32", &err), ERR_FORBIDDEN);
        assert_non_null(strstr(err.text, "a denied address (127.0.0.2/32)"));
        assert_int_equal(r->manifests, 1);
        assert_int_equal(ask(r, "", &err), ERR_RETRY); /* nobody listens there */
        http_transport_free(r->world.transport);
        http1_server_stop(r->server);
        r->done = true;
}

/* spec/helm-chart.md checklist 94 */
static void no_realm_leads_to_a_denied_address(void **state)
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
                cmocka_unit_test(no_realm_leads_to_a_denied_address),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
