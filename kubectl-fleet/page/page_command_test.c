/* The command line of the page: where tokens would travel unprotected, and who may be asked for. What it
 * serves: page_test.c. */
#include "kubectl-fleet/fleet_test.h"

#define REFUSED(u, words, ...)                                                                               \
        do {                                                                                                 \
                assert_int_equal(FLEET_RUN(u, "page", __VA_ARGS__), 1);                                      \
                if (!strstr((u)->err.data, words))                                                           \
                        fprintf(stderr, "%s\n", (u)->err.data);                                              \
                assert_non_null(strstr((u)->err.data, words));                                               \
                assert_int_equal((u)->requests, 0);                                                          \
        } while (0)

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

USER_TEST(a_page_with_a_link_stays_on_loopback, {
        REFUSED(u, "--bind: must be an address of loopback", "--bind", "0.0.0.0");
        REFUSED(u, "--bind: must be an address of loopback", "--bind", "::");
        REFUSED(u, "are beside --sign-in or --in-cluster", "--bind", "0.0.0.0", "--insecure-http");
        REFUSED(u, "are beside --sign-in or --in-cluster", "--allowed-host", "fleet.example.com");
        REFUSED(u, "are beside --sign-in or --in-cluster", "--tls-cert-file", "c", "--tls-key-file", "k");
})

USER_TEST(tokens_do_not_travel_unprotected_by_mistake, {
        REFUSED(u, "tokens of the hub would be sent there unprotected", "--sign-in", "--bind", "0.0.0.0");
        REFUSED(u, "tokens of the hub would be sent there unprotected", "--in-cluster", "--bind", "10.0.0.1");
        REFUSED(u, "--tls-cert-file and --tls-key-file need each other", "--sign-in", "--tls-cert-file", "c");
        REFUSED(u, "--tls-cert-file and --tls-key-file need each other", "--sign-in", "--tls-key-file", "k");
})

USER_TEST(names_that_are_none_are_refused, {
        REFUSED(u, "--allowed-host: must be a name", "--sign-in", "--allowed-host",
                "http://fleet.example.com");
        REFUSED(u, "--allowed-host: must be a name", "--sign-in", "--allowed-host", "a b");
        REFUSED(u, "--allowed-host: must be a name", "--sign-in", "--allowed-host", "*");
})

USER_TEST(a_pod_takes_nobodys_kubeconfig, {
        REFUSED(u, "--in-cluster excludes", "--in-cluster", "--context", "hub");
        REFUSED(u, "--in-cluster excludes", "--in-cluster", "--kubeconfig", "x");
        REFUSED(u, "--in-cluster excludes", "--in-cluster", "--as", "admin");
        REFUSED(u, "not inside a cluster: KUBERNETES_SERVICE_HOST is not set", "--in-cluster");
})

USER_TEST(a_certificate_that_cannot_be_read_is_named, {
        REFUSED(u, "/tls/tls.crt: no such file", "--sign-in", "--tls-cert-file", "/tls/tls.crt",
                "--tls-key-file", "/tls/tls.key");
        u->file = "no PEM";
        REFUSED(u, "/tls/tls.key is not the key of the certificate in /tls/tls.crt", "--sign-in",
                "--tls-cert-file", "/tls/tls.crt", "--tls-key-file", "/tls/tls.key");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_loopback_is_listened_on),
                cmocka_unit_test(a_port_is_a_port),
                cmocka_unit_test(a_page_that_cannot_be_served_prints_no_link),
                cmocka_unit_test(a_page_with_a_link_stays_on_loopback),
                cmocka_unit_test(tokens_do_not_travel_unprotected_by_mistake),
                cmocka_unit_test(names_that_are_none_are_refused),
                cmocka_unit_test(a_pod_takes_nobodys_kubeconfig),
                cmocka_unit_test(a_certificate_that_cannot_be_read_is_named),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
