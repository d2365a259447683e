/* The command line of the page. What it serves: page_test.c. */
#include "kubectl-fleet/fleet_test.h"

USER_TEST(only_loopback_is_listened_on, {
        static const char *const bad[] = { "0.0.0.0", "::", "192.168.1.5", "example.com", "" };

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                assert_int_equal(FLEET_RUN(u, "page", "--bind", bad[i]), 1);
                assert_lines(u->err.data, "Error: --bind: must be an address of loopback");
        }
})

USER_TEST(a_port_is_a_port, {
        assert_int_equal(FLEET_RUN(u, "page", "--port", "65536"), 1);
        assert_non_null(strstr(u->err.data, "port"));
        assert_int_equal(FLEET_RUN(u, "page", "--port", "-1"), 1);
})

USER_TEST(a_page_that_cannot_be_served_prints_no_link, {
        /* A simulated loop has no sockets. */
        assert_int_equal(FLEET_RUN(u, "page"), 1);
        assert_int_equal(u->out.len, 0);
        assert_true(u->err.len > 0);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_loopback_is_listened_on),
                cmocka_unit_test(a_port_is_a_port),
                cmocka_unit_test(a_page_that_cannot_be_served_prints_no_link),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
