#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "e2e/kube/held_port.h"

/* 0 = bound, else -1; the socket is closed again. */
static int try_bind(int port, bool share)
{
        struct sockaddr_in a = { .sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                 .sin_port = htons((uint16_t)port) };
        int fd = socket(AF_INET, SOCK_STREAM, 0), on = share, code;

        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
        code = bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 ? listen(fd, 1) : -1;
        close(fd);
        return code;
}

struct held {
        struct loop *loop;
        struct held_port *at[2];
};

static int take_two(void **state)
{
        static struct held h;
        struct error err = { 0 };

        h.loop = loop_new_real(&err);
        assert_non_null(h.loop);
        for (size_t i = 0; i < 2; i++)
                assert_int_equal(held_port_take(h.loop, &h.at[i], &err), 0);
        *state = &h;
        return 0;
}

static int release_two(void **state)
{
        struct held *h = *state;
        struct error err = { 0 };

        for (size_t i = 0; i < 2; i++)
                held_port_release(h->at[i]);
        loop_run(h->loop, &err);
        loop_free(h->loop);
        return 0;
}

static void two_ports_are_different(void **state)
{
        struct held *h = *state;

        assert_int_not_equal(held_port_number(h->at[0]), held_port_number(h->at[1]));
}

static void a_server_that_shares_listens_on_a_held_port(void **state)
{
        struct held *h = *state;

        assert_int_equal(try_bind(held_port_number(h->at[0]), true), 0);
}

static void nobody_else_gets_a_held_port(void **state)
{
        struct held *h = *state;

        assert_int_equal(try_bind(held_port_number(h->at[0]), false), -1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(two_ports_are_different, take_two, release_two),
                cmocka_unit_test_setup_teardown(a_server_that_shares_listens_on_a_held_port, take_two,
                                                release_two),
                cmocka_unit_test_setup_teardown(nobody_else_gets_a_held_port, take_two, release_two),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
