/* Where a registry cannot send its client, by real connections of this machine. spec/helm-chart.md 13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/net/real_server_test.h"
#include "hub-agent/registry/registry.h"

/* Its tokens are to be got at another address of this machine. */
static void answer(void *ctx, struct http_exchange *x)
{
        struct real_rig *r = ctx;
        AUTO_FREE char *wanted = mem_printf("Bearer realm=\"http://127.0.0.2:%d/token\"", real_rig_port(r));
        struct http_header challenge = { "WWW-Authenticate", wanted };
        const struct http_headers headers = { &challenge, 1 };

        r->served++;
        http_reply(x, 401, "application/json", SLICE("{}"), &headers);
}

static int ask(struct real_rig *r, const char *list, struct error *err)
{
        struct address_ranges denied;
        struct transfer t = { .world = &r->world,
                              .arena = &r->arena,
                              .denied = &denied,
                              .deadline_ms = loop_now_ms(r->loop) + HANG_MS };
        struct registry registry = { .transfer = &t,
                                     .place = { arena_printf(&r->arena, "127.0.0.1:%d", real_rig_port(r)),
                                                "app" },
                                     .login = { "ann", "pw" },
                                     .scheme = REGISTRY_HTTP };
        const char *digest;

        *err = (struct error){ 0 };
        assert_int_equal(address_ranges_parse(list, &r->arena, &denied, NULL), 0);
        assert_int_equal(registry_open(&registry, err), 0);
        return registry_resolve(&registry, "1.0.0", &digest, err);
}

static void ask_all(struct real_rig *r)
{
        struct error err;

        assert_int_equal(ask(r, "127.0.0.2/32", &err), ERR_FORBIDDEN);
        assert_non_null(strstr(err.text, "a denied address (127.0.0.2/32)"));
        assert_int_equal(r->served, 1);
        assert_int_equal(ask(r, "", &err), ERR_RETRY); /* nobody listens there */
}

/* spec/helm-chart.md checklist 94 */
static void no_realm_leads_to_a_denied_address(void **state)
{
        with_real_server(answer, ask_all);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(no_realm_leads_to_a_denied_address),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
