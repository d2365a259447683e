/* Where transfers do not go, by real connections of this machine. spec/helm-chart.md 13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/net/real_server_test.h"
#include "hub-agent/transfer/transfer.h"

static void answer(void *ctx, struct http_exchange *x)
{
        struct real_rig *r = ctx;
        AUTO_FREE char *away = mem_printf("http://127.0.0.2:%d/", real_rig_port(r));
        struct http_header location = { "Location", away };
        const struct http_headers headers = { &location, 1 };
        bool moved = text_equal(x->path, "/away");

        r->served++;
        http_reply(x, moved ? 302 : 200, "text/plain", SLICE("hello"), moved ? &headers : NULL);
}

static int ask(struct real_rig *r, const char *list, const char *host, const char *path, struct error *err)
{
        struct address_ranges denied;
        struct http_response a;
        const struct transfer_call c = { .url = arena_printf(&r->arena, "http://%s:%d%s", host,
                                                             real_rig_port(r), path) };
        struct transfer t = { .world = &r->world,
                              .arena = &r->arena,
                              .denied = &denied,
                              .deadline_ms = loop_now_ms(r->loop) + HANG_MS };

        *err = (struct error){ 0 };
        assert_int_equal(address_ranges_parse(list, &r->arena, &denied, NULL), 0);
        return transfer_ask(&t, &c, &a, err);
}

static void ask_all(struct real_rig *r)
{
        struct error err;

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
}

/* spec/helm-chart.md checklist 94 */
static void no_name_and_no_redirect_leads_to_a_denied_address(void **state)
{
        with_real_server(answer, ask_all);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(no_name_and_no_redirect_leads_to_a_denied_address),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
