/* Which addresses are asked, and that libcurl connects to no others. docs/threat-model.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/net/address_guard.h"
#include "common/net/real_server_test.h"

static const char *refusal_by(const struct address_ranges *denied, const char *text)
{
        struct sockaddr_in four = { .sin_family = AF_INET };
        struct sockaddr_in6 six = { .sin6_family = AF_INET6 };

        if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
                return address_guard_refuses(denied, (struct sockaddr *)&four);
        if (inet_pton(AF_INET6, text, &six.sin6_addr) != 1)
                fail_msg("%s: no address", text);
        return address_guard_refuses(denied, (struct sockaddr *)&six);
}

static const char *refusal(const char *text)
{
        return refusal_by(&address_guard_strict, text);
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
        assert_non_null(
                address_guard_refuses(&address_guard_strict, &(struct sockaddr){ .sa_family = AF_UNIX }));
}

/* spec/helm-chart.md checklist 94 */
static void ranges_are_what_users_write(void **state)
{
        static const struct {
                const char *list, *address;
                bool refused;
        } table[] = {
                { NULL, "127.0.0.1", false },
                { "", "169.254.169.254", false },
                { " , ", "169.254.169.254", false },
                { "169.254.0.0/16,fe80::/10", "169.254.169.254", true },
                { "169.254.0.0/16,fe80::/10", "169.255.0.1", false },
                { "169.254.0.0/16,fe80::/10", "febf::1", true },
                { "169.254.0.0/16, fe80::/10", "::ffff:169.254.1.1", true },
                { "169.254.0.0/16", "64:ff9b::a9fe:a9fe", true },
                { "10.1.2.3", "10.1.2.3", true },
                { "10.1.2.3", "10.1.2.4", false },
                { "fd00:ec2::254", "fd00:ec2::254", true },
                { "0.0.0.0/0", "8.8.8.8", true },
                { "0.0.0.0/0", "2606:4700::1111", false },
                { "::/0", "2606:4700::1111", true },
                { "::/0", "8.8.8.8", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct address_ranges denied;

                assert_int_equal(address_ranges_parse(table[i].list, &arena, &denied, NULL), 0);
                if ((refusal_by(&denied, table[i].address) != NULL) != table[i].refused)
                        fail_msg("'%s': %s", or_empty(table[i].list), table[i].address);
        }
}

static void what_is_no_range_is_told(void **state)
{
        static const char *const bad[] = {
                "x",         "10.0.0.0/33",  "fe80::/129", "10.0.0.0/-1",         "10.0.0.0/",
                "10.0.0/24", "10.0.0.0/8/8", "localhost",  "10.0.0.0/8 fe80::/10"
        };

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_FREE char *words = mem_printf("'%s' is no range of addresses", bad[i]);
                AUTO_FREE char *list = mem_printf("10.0.0.0/8, %s", bad[i]);
                struct address_ranges denied;
                struct error err = { 0 };

                assert_int_equal(address_ranges_parse(list, &arena, &denied, &err), ERR_INVALID);
                assert_string_equal(err.text, words);
        }
}

static void a_list_of_ranges_has_an_end(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf list;
        struct address_ranges denied;
        struct error err = { 0 };

        buf_init(&list, 10000);
        for (int i = 0; i <= ADDRESS_RANGES_MAX; i++)
                buf_append_str(&list, "10.0.0.1,");
        assert_int_equal(address_ranges_parse(list.data, &arena, &denied, &err), ERR_LIMIT);
        assert_string_equal(err.text, "more than 256 ranges of addresses");
}

static void answer(void *ctx, struct http_exchange *x)
{
        struct real_rig *r = ctx;

        r->served++;
        http_reply(x, 200, "text/plain", SLICE("hello"), NULL);
}

static int ask(struct real_rig *r, const char *host, const struct address_ranges *denied, struct error *err)
{
        AUTO_FREE char *url = mem_printf("http://%s:%d", host, real_rig_port(r));
        struct http_endpoint e = { .base_url = url, .denied = denied };
        struct http_request rq = {
                .endpoint = &e, .method = "GET", .path = "/", .deadline_ms = loop_now_ms(r->loop) + HANG_MS
        };
        struct http_response a;

        *err = (struct error){ 0 };
        return http_roundtrip(r->world.transport, &rq, &r->arena, &a, err);
}

static void ask_all(struct real_rig *r)
{
        struct error err;

        assert_int_equal(ask(r, "127.0.0.1", NULL, &err), 0);
        assert_int_equal(ask(r, "127.0.0.1", &address_guard_strict, &err), ERR_FORBIDDEN);
        assert_string_equal(err.reason, HTTP_REASON_ADDRESS);
        assert_non_null(strstr(err.text, "an address of this machine"));
        assert_int_equal(ask(r, "localhost", &address_guard_strict, &err), ERR_FORBIDDEN);
        assert_int_equal(ask(r, "[::ffff:127.0.0.1]", &address_guard_strict, &err), ERR_FORBIDDEN);
        assert_int_equal(ask(r, "0", &address_guard_strict, &err), ERR_FORBIDDEN);
        assert_int_equal(ask(r, "0x7f.1", &address_guard_strict, &err), ERR_FORBIDDEN);
        assert_int_equal(ask(r, "localhost", NULL, &err), 0);
        assert_int_equal(r->served, 2);
}

/* What counts is where the connection goes, not what the URL says; and none that stands is taken. */
static void no_connection_is_made_to_a_denied_address(void **state)
{
        with_real_server(answer, ask_all);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(addresses_of_hosts_are_asked_and_no_others),
                cmocka_unit_test(ranges_are_what_users_write),
                cmocka_unit_test(what_is_no_range_is_told),
                cmocka_unit_test(a_list_of_ranges_has_an_end),
                cmocka_unit_test(no_connection_is_made_to_a_denied_address),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
