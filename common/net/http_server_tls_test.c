/* The agents' own server and our client: TLS, who the client is, certificates that change, bodies of all
 * sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/loop/patience_test.h"
#include "common/net/cert.h"
#include "common/net/http_server.h"

struct rig {
        struct loop *loop;
        struct world world;
        struct http_server *server;
        struct http_transport *client;
        struct http_endpoint endpoint;
        struct fiber_group *group;
        struct arena arena;
        char *ca, *ca_key;
        int done, finished, parked, served;
        void (*body)(struct rig *r);
};

static void issue(struct rig *r, const char *name, char **cert, char **key)
{
        struct error err = { 0 };
        const struct cert_subject subject = { name, (const char *[]){ "fleet", NULL }, NULL,
                                              (const char *[]){ "127.0.0.1", NULL } };
        if (cert_issue(r->ca, r->ca_key, &subject, true, loop_wall_ms(r->loop), 1, cert, key, &err) < 0)
                fail_msg("%s", err.text);
}

/* Who asked, and what for: the length and a sum of the body. */
static void tell(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        uint32_t sum = 0;
        r->served++;
        for (size_t i = 0; i < x->body.len; i++)
                sum = sum * 31 + (unsigned char)x->body.data[i];
        if (strcmp(x->path, "/park") == 0) {
                r->parked++;
                fiber_sleep(x->loop, 20);
        }
        http_reply(x, 200, "text/plain",
                   slice_of(arena_printf(x->arena, "cn=%s o=%s n=%zu sum=%u", x->peer_common_name,
                                         x->peer_organizations ? x->peer_organizations[0] : NULL, x->body.len,
                                         sum)),
                   NULL);
}

static void serve(struct rig *r, const char *name, bool asks_clients)
{
        struct error err = { 0 };
        CLEANUP(tls_identity_free) struct tls_identity identity = { 0 };
        struct http_server_options o = { .bind = "127.0.0.1", .tls = &identity, .handle = tell, .ctx = r };
        issue(r, name, &identity.cert_pem, &identity.key_pem);
        if (asks_clients)
                identity.client_ca_pem = mem_strdup(r->ca);
        if (http_server_start(&r->world, &o, &r->server, &err) < 0)
                fail_msg("%s", err.text);
        r->endpoint.base_url = mem_printf("https://127.0.0.1:%d", http_server_port(r->server));
}

static int ask(struct rig *r, const char *method, const char *path, struct slice body, const char **ret)
{
        struct http_response a = { 0 };
        struct error err = { 0 };
        struct http_request rq = { .endpoint = &r->endpoint,
                                   .method = method,
                                   .path = path,
                                   .body = body,
                                   .deadline_ms = loop_now_ms(r->loop) + HANG_MS };
        int code = http_roundtrip(r->client, &rq, &r->arena, &a, &err);
        *ret = code == 0 ? a.body.data : arena_strdup(&r->arena, err.text);
        return code < 0 ? code : a.status;
}

static void expect(struct rig *r, const char *words)
{
        const char *heard;
        if (ask(r, "GET", "/", SLICE(""), &heard) != 200 || !strstr(heard, words))
                fail_msg("expected %s, heard %s", words, heard);
}

static void body_fiber(void *ctx)
{
        struct rig *r = ctx;
        struct error err = { 0 };
        assert_int_equal(
                cert_self_signed_ca("ca", loop_wall_ms(r->loop) - 86400000, 10, &r->ca, &r->ca_key, &err), 0);
        r->endpoint.ca_pem = mem_strdup(r->ca);
        r->body(r);
        http_transport_free(r->client);
        http_server_stop(r->server);
        r->done = 1;
}

static void run(void (*body)(struct rig *r))
{
        struct error err = { 0 };
        struct rig r = { .body = body };
        size_t before = mem_live_count();
        r.loop = loop_new_real(&err);
        world_init_real(&r.world, r.loop, NULL);
        r.client = http_transport_curl(&r.world, &err);
        r.group = fiber_group_new(r.loop, NULL, "test");
        assert_non_null(fiber_spawn(r.group, "body", body_fiber, &r));
        loop_run(r.loop, &err);
        assert_int_equal(r.done, 1);
        fiber_group_end(r.group);
        http_endpoint_free(&r.endpoint);
        arena_free(&r.arena);
        mem_free(r.ca);
        mem_free(r.ca_key);
        loop_free(r.loop);
        assert_int_equal(mem_live_count(), before);
}

/* ---- who the client is ---- */

static void peer_body(struct rig *r)
{
        serve(r, "server", true);
        expect(r, "cn=(null) o=(null)");
        issue(r, "api-server", &r->endpoint.client_cert_pem, &r->endpoint.client_key_pem);
        expect(r, "cn=api-server o=fleet");
        expect(r, "cn=api-server o=fleet");
}
static void a_client_certificate_is_verified_and_told_to_the_handler(void **state)
{
        run(peer_body);
}

static void stranger_body(struct rig *r)
{
        const char *heard;
        char *ca = r->ca, *ca_key = r->ca_key;
        struct error err = { 0 };
        serve(r, "server", true);
        assert_int_equal(cert_self_signed_ca("other", loop_wall_ms(r->loop), 1, &r->ca, &r->ca_key, &err), 0);
        issue(r, "stranger", &r->endpoint.client_cert_pem, &r->endpoint.client_key_pem);
        assert_true(ask(r, "GET", "/", SLICE(""), &heard) < 0); /* an alert, or the end of the connection */
        assert_int_equal(r->served, 0);
        mem_free(r->ca);
        mem_free(r->ca_key);
        r->ca = ca;
        r->ca_key = ca_key;
}
static void a_client_certificate_of_another_authority_is_refused(void **state)
{
        run(stranger_body);
}

/* ---- certificates that change ---- */

static void change_body(struct rig *r)
{
        struct error err = { 0 };
        struct tls_identity next = { 0 };
        const char *heard;
        char *ca = r->ca;
        serve(r, "server", false);
        expect(r, "n=0");
        next.cert_pem = next.key_pem = ca;
        assert_int_equal(http_server_set_identity(r->server, &next, &err), ERR_INVALID);
        r->endpoint.generation++; /* connections of their own from here on */
        expect(r, "n=0");         /* the old ones stand */
        next = (struct tls_identity){ 0 };
        mem_free(r->ca_key);
        assert_int_equal(cert_self_signed_ca("next", loop_wall_ms(r->loop), 1, &r->ca, &r->ca_key, &err), 0);
        issue(r, "server", &next.cert_pem, &next.key_pem);
        assert_int_equal(http_server_set_identity(r->server, &next, &err), 0);
        expect(r, "n=0"); /* a connection that stands goes on */
        r->endpoint.generation++;
        assert_int_equal(ask(r, "GET", "/", SLICE(""), &heard), ERR_UNAUTHORIZED);
        mem_free(r->endpoint.ca_pem);
        r->endpoint.ca_pem = mem_strdup(r->ca);
        r->endpoint.generation++;
        expect(r, "n=0");
        tls_identity_free(&next);
        mem_free(ca);
}
static void new_certificates_hold_for_connections_to_come_and_bad_ones_change_nothing(void **state)
{
        run(change_body);
}

static void bad_certificate_body(struct rig *r)
{
        struct error err = { 0 };
        struct tls_identity identity = { .cert_pem = "none", .key_pem = r->ca_key };
        struct http_server_options o = { .bind = "127.0.0.1", .tls = &identity, .handle = tell, .ctx = r };
        assert_int_equal(http_server_start(&r->world, &o, &r->server, &err), ERR_INVALID);
        assert_non_null(strstr(err.text, "server certificate and key"));
        assert_null(r->server);
}
static void a_server_with_a_bad_certificate_does_not_start(void **state)
{
        run(bad_certificate_body);
}

/* ---- bodies ---- */

static void sizes_body(struct rig *r)
{
        AUTO_FREE char *body = mem_alloc(LIMIT_REQUEST_BODY_BYTES + 1);
        serve(r, "server", false);
        for (size_t i = 0; i <= LIMIT_REQUEST_BODY_BYTES; i++)
                body[i] = (char)(i * 7 + i / 251);
        for (size_t n = 0; n <= LIMIT_REQUEST_BODY_BYTES; n = n < 9000 ? n + 37 : n * 2 - n / 3) {
                char wanted[64];
                const char *heard;
                uint32_t sum = 0;
                for (size_t i = 0; i < n; i++)
                        sum = sum * 31 + (unsigned char)body[i];
                snprintf(wanted, sizeof(wanted), "n=%zu sum=%u", n, sum);
                if (ask(r, "POST", n % 2 ? "/" : "/park", (struct slice){ body, n }, &heard) != 200 ||
                    !strstr(heard, wanted))
                        fail_msg("a body of %zu bytes: %s", n, heard);
                arena_reset(&r->arena);
        }
        const char *heard;
        assert_int_equal(ask(r, "POST", "/", (struct slice){ body, LIMIT_REQUEST_BODY_BYTES + 1 }, &heard),
                         413);
}
static void bodies_of_all_sizes_arrive_whole_one_after_the_other(void **state)
{
        run(sizes_body);
}

static void ask_parked(void *ctx)
{
        struct rig *r = ctx;
        const char *heard;
        char body[3000];
        memset(body, 'b', sizeof(body));
        for (int i = 0; i < 5; i++)
                if (ask(r, "POST", "/park", (struct slice){ body, sizeof(body) }, &heard) != 200)
                        fail_msg("%s", heard);
        r->finished++;
}
static void many_body(struct rig *r)
{
        serve(r, "server", false);
        struct fiber_group *g = fiber_group_new(r->loop, NULL, "many");
        for (int i = 0; i < 50; i++)
                assert_non_null(fiber_spawn(g, "ask", ask_parked, r));
        fiber_group_join(g, DEADLINE_NONE);
        fiber_group_end(g);
        assert_int_equal(r->finished, 50);
        assert_int_equal(r->parked, 250);
}
static void fifty_clients_whose_handlers_park_are_all_answered(void **state)
{
        run(many_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_client_certificate_is_verified_and_told_to_the_handler),
                cmocka_unit_test(a_client_certificate_of_another_authority_is_refused),
                cmocka_unit_test(new_certificates_hold_for_connections_to_come_and_bad_ones_change_nothing),
                cmocka_unit_test(a_server_with_a_bad_certificate_does_not_start),
                cmocka_unit_test(bodies_of_all_sizes_arrive_whole_one_after_the_other),
                cmocka_unit_test(fifty_clients_whose_handlers_park_are_all_answered),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
