/* Requests that libcurl signs for AWS, judged as a service would: the signature is made anew from what
 * arrived. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/hmac.h>

#include "common/base/digest.h"
#include "common/base/memory.h"
#include "common/loop/patience_test.h"
#include "e2e/devcluster/serving/http1_server_test.h"

#define TARGET "/prefix/a%20b/c.txt"
#define QUERY "list-type=2&prefix=x%2Fy"
#define EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct rig {
        struct loop *loop;
        struct world world;
        struct http1_server *server;
        struct http_transport *client;
        struct arena arena;
        struct http_aws_key key;
        int served, done;
        char said[256];
};

static size_t mac(const void *key, size_t n, const char *text, uint8_t ret[32])
{
        unsigned len = 0;

        assert_non_null(HMAC(EVP_sha256(), key, (int)n, (const uint8_t *)text, strlen(text), ret, &len));
        return len;
}

/* The signature of one day, region and service with the key of `r`. */
static void sign(struct rig *r, const char *text, const char *day, char ret[65])
{
        AUTO_FREE char *secret = mem_printf("AWS4%s", r->key.secret_key);
        uint8_t a[32], b[32];
        size_t n = mac(secret, strlen(secret), day, a);

        n = mac(a, n, r->key.region, b);
        n = mac(b, n, r->key.service, a);
        n = mac(a, n, "aws4_request", b);
        n = mac(b, n, text, a);
        for (size_t i = 0; i < n; i++)
                snprintf(ret + 2 * i, 3, "%02x", a[i]);
}

/* Lines "name:value" of the headers that "a;b;c" names. */
static char *lines_of(struct http_exchange *x, const char *names)
{
        struct slice rest = slice_of(names), name;
        char *all = arena_strdup(x->arena, "");

        while (rest.len > 0) {
                (void)slice_cut(&rest, ';', &name);
                const char *n = arena_strndup(x->arena, name.data, name.len);

                all = arena_printf(x->arena, "%s%s:%s\n", all, n, or_empty(http_header_get(&x->headers, n)));
        }
        return all;
}

static void judge(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        const char *said = or_empty(http_header_get(&x->headers, "Authorization")),
                   *date = or_empty(http_header_get(&x->headers, "X-Amz-Date")),
                   *names = strstr(said, "SignedHeaders="), *signature = strstr(said, "Signature=");
        char hex[65];

        r->served++;
        snprintf(r->said, sizeof(r->said), "%s", said);
        if (!names || !signature) {
                http_reply(x, 403, "text/plain", SLICE("not signed"), NULL);
                return;
        }
        names += strlen("SignedHeaders=");
        names = arena_strndup(x->arena, names, strcspn(names, ","));
        const char *request = arena_printf(x->arena, "%s\n%s\n%s\n%s\n%s\n%s", x->method, TARGET, x->query,
                                           lines_of(x, names), names, EMPTY_HASH);
        sha256_hex(request, strlen(request), hex);
        const char *day = arena_strndup(x->arena, date, 8);
        const char *text = arena_printf(x->arena, "AWS4-HMAC-SHA256\n%s\n%s/%s/%s/aws4_request\n%s", date,
                                        day, r->key.region, r->key.service, hex);
        sign(r, text, day, hex);
        http_reply(x, text_equal(hex, signature + strlen("Signature=")) ? 200 : 403, "text/plain", SLICE(""),
                   NULL);
}

static int ask(struct rig *r, const struct http_aws_key *key, const char *method)
{
        AUTO_FREE char *url = mem_printf("http://127.0.0.1:%d", http1_server_port(r->server));
        struct http_header headers[] = { { "x-amz-content-sha256", EMPTY_HASH }, { "If-Match", "\"x\"" } };
        struct http_endpoint e = { .base_url = url, .aws_key = key };
        const struct http_request rq = { .endpoint = &e,
                                         .method = method,
                                         .path = TARGET "?" QUERY,
                                         .headers = { headers, ARRAY_LEN(headers) },
                                         .deadline_ms = loop_now_ms(r->loop) + HANG_MS };
        struct http_response a;
        struct error err = { 0 };

        return http_roundtrip(r->client, &rq, &r->arena, &a, &err) < 0 ? err.code : a.status;
}

static void body(void *ctx)
{
        struct rig *r = ctx;
        const struct http_server_options o = { .bind = "127.0.0.1", .handle = judge, .ctx = r };
        struct http_aws_key other = r->key;

        assert_int_equal(http1_server_start(&r->world, &o, &r->server, NULL), 0);
        assert_int_equal(ask(r, &r->key, "GET"), 200);
        assert_true(text_starts_with(r->said, "AWS4-HMAC-SHA256 Credential=AKTEST/"));
        assert_non_null(strstr(r->said, "/eu-west-1/s3/aws4_request"));
        assert_non_null(strstr(r->said, "SignedHeaders=host;if-match;x-amz-content-sha256;x-amz-date,"));
        assert_null(strstr(r->said, r->key.secret_key));
        assert_int_equal(ask(r, &r->key, "HEAD"), 200);
        other.secret_key = "another";
        assert_int_equal(ask(r, &other, "GET"), 403);
        other = r->key;
        other.region = "us-east-1";
        assert_int_equal(ask(r, &other, "GET"), 403);
        assert_int_equal(ask(r, NULL, "GET"), 403);
        assert_string_equal(r->said, "");
        assert_int_equal(r->served, 5);
        http_transport_free(r->client);
        http1_server_stop(r->server);
        r->done = 1;
}

/* spec/helm-chart.md checklist 91 */
static void a_request_is_signed_as_a_service_of_aws_judges_it(void **state)
{
        struct rig r = { .key = { "AKTEST", "se/cr+et", "eu-west-1", "s3" } };
        struct error err = { 0 };

        r.loop = loop_new_real(&err);
        assert_non_null(r.loop);
        r.world.loop = r.loop;
        r.client = http_transport_curl(&r.world, &err);
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");

        assert_non_null(fiber_spawn(group, "body", body, &r));
        loop_run(r.loop, &err);
        assert_int_equal(r.done, 1);
        fiber_group_end(group);
        loop_free(r.loop);
        arena_free(&r.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_request_is_signed_as_a_service_of_aws_judges_it),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
