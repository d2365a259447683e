/* WebSockets on a server that stops, and over TLS. */
#include "common/net/cert.h"
#include "common/net/websocket_rig_test.h"

/* ---- the server stops ---- */

/* Counts a client's patience: it ends before the pings of half a minute would cut those that stay. */
struct looks {
        struct rig *r;
        int n;
        bool enough;
};
static void count_looks(void *ctx)
{
        struct looks *looks = ctx;
        for (; !looks->enough && looks->n < SOON_LOOKS; looks->n++)
                fiber_sleep(looks->r->loop, 1);
}

static void stop_body(struct rig *r)
{
        struct raw_socket polite, stubborn, deaf;
        struct looks looks = { .r = r };
        raw_socket_open(&polite, r->loop, r->port);
        raw_socket_open(&stubborn, r->loop, r->port);
        raw_socket_open(&deaf, r->loop, r->port);
        uv_read_stop((uv_stream_t *)&deaf.raw.tcp);
        raw_socket_text(&polite, "hello");
        raw_socket_expect(&polite, "hello");
        struct fiber_group *g = fiber_group_new(r->loop, NULL, "looks");
        assert_non_null(fiber_spawn(g, "looks", count_looks, &looks));
        rig_stop(r);
        looks.enough = true;
        fiber_group_end(g);
        assert_in_range(looks.n, 0, SOON_LOOKS - 1);
        assert_int_equal(r->code, ERR_CANCELLED);
        raw_socket_expect_close(&polite, 1001);
        raw_socket_expect_close(&stubborn, 1001);
        raw_socket_close(&polite);
        raw_socket_close(&stubborn);
        raw_socket_close(&deaf);
}
static void a_server_that_stops_closes_with_1001_and_awaits_nobody(void **state)
{
        serve(echo, stop_body);
}

static void stop_big_body(struct rig *r)
{
        struct raw_socket k;
        raw_socket_open(&k, r->loop, r->port);
        uv_read_stop((uv_stream_t *)&k.raw.tcp);
        while (r->served == 0)
                fiber_yield(r->loop);
        rig_stop(r);
        assert_int_equal(r->code, ERR_CANCELLED);
        raw_socket_close(&k);
}
static void a_server_stops_in_the_middle_of_a_message(void **state)
{
        run_with(&(struct http_server_options){ .handle = say_path,
                                                .websocket_serve = send_big,
                                                .closing_ms = 100 },
                 stop_big_body);
}

/* ---- over TLS ---- */

static void tls_body(struct rig *r)
{
        struct raw_socket k;
        raw_socket_connect(&k, r->loop, r->port);
        raw_socket_encrypt(&k);
        raw_socket_greet(&k, "/");
        expect_big(r, &k);
        raw_socket_close(&k);
}
static void echo_tls_body(struct rig *r)
{
        struct raw_socket k;
        char text[50000];
        memset(text, 't', sizeof(text));
        raw_socket_connect(&k, r->loop, r->port);
        raw_socket_encrypt(&k);
        raw_socket_greet(&k, "/");
        for (int i = 0; i < 10; i++) {
                raw_socket_frame(&k, FRAME_TEXT, text, sizeof(text));
                raw_socket_message(&k);
                assert_int_equal(k.message.len, sizeof(text));
        }
        raw_socket_frame(&k, FRAME_CLOSE, "\x03\xe8", 2);
        raw_socket_expect_close(&k, 1000);
        raw_socket_close(&k);
}
static void run_tls(void (*function)(void *, struct websocket *), void (*body)(struct rig *))
{
        struct error err = { 0 };
        CLEANUP(tls_identity_free) struct tls_identity identity = { 0 };
        AUTO_FREE char *ca = NULL, *ca_key = NULL;
        const struct cert_subject subject = { "server", NULL, NULL, (const char *[]){ "127.0.0.1", NULL } };
        assert_int_equal(cert_self_signed_ca("ca", 0, 100000, &ca, &ca_key, &err), 0);
        if (cert_issue(ca, ca_key, &subject, true, 0, 100000, &identity.cert_pem, &identity.key_pem, &err) <
            0)
                fail_msg("%s", err.text);
        run_with(&(struct http_server_options){ .handle = say_path,
                                                .tls = &identity,
                                                .websocket_serve = function },
                 body);
}
static void messages_go_over_tls(void **state)
{
        run_tls(echo, echo_tls_body);
        run_tls(send_big, tls_body);
        run_tls(receive_late, late_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_server_that_stops_closes_with_1001_and_awaits_nobody),
                cmocka_unit_test(a_server_stops_in_the_middle_of_a_message),
                cmocka_unit_test(messages_go_over_tls),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
