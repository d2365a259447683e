/* spec/member-agent.md 1.4 (checklist 2-4). */
#include "member-agent/hub_connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"

struct pair {
        const char *name, *value;
};
struct environment {
        struct pair at[8];
};

static const char *fake_getenv(void *ctx, const char *name)
{
        const struct environment *e = ctx;

        for (size_t i = 0; i < ARRAY_LEN(e->at) && e->at[i].name; i++)
                if (text_equal(e->at[i].name, name))
                        return e->at[i].value;
        return NULL;
}

static int fake_read(void *ctx, const char *path, size_t max, char **ret_data, size_t *ret_len,
                     struct error *err)
{
        *ret_data = mem_printf("PEM of %s", path);
        *ret_len = strlen(*ret_data);
        return 0;
}

/* No file changes here. */
static uint64_t fake_stamp(void *ctx, const char *path)
{
        return 1;
}

static const struct world_files files = { .read = fake_read, .stamp = fake_stamp };
static const struct world_process process = { .getenv = fake_getenv };

static int load(struct environment *e, bool use_ca_auth, bool insecure, struct arena *arena,
                struct hub_connection *c, struct error *err)
{
        struct world w = { .files = &files, .process = &process, .ctx = e };

        return hub_connection_load(&w, use_ca_auth, insecure, arena, c, err);
}

#define URL                                                                                                  \
        {                                                                                                    \
                "HUB_SERVER_URL", "https://hub:6443/"                                                        \
        }
#define NAME                                                                                                 \
        {                                                                                                    \
                "MEMBER_CLUSTER_NAME", "m1"                                                                  \
        }
#define TOKEN                                                                                                \
        {                                                                                                    \
                "CONFIG_PATH", "/config/token"                                                               \
        }

static void url_name_and_token_file_are_enough(void **state)
{
        struct environment e = { { URL, NAME, TOKEN, { "CA_BUNDLE", "/ca" } } };
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct hub_connection c = { 0 };

        assert_int_equal(load(&e, false, false, &arena, &c, NULL), 0);
        assert_string_equal(c.endpoint.base_url, "https://hub:6443");
        assert_string_equal(c.endpoint.bearer_token_file, "/config/token");
        assert_string_equal(c.endpoint.ca_pem, "PEM of /ca");
        assert_string_equal(c.member_name, "m1");
        hub_connection_free(&c);
}

/* spec/member-agent.md checklist 3 */
static void wrong_environments_are_refused_by_name(void **state)
{
        static const struct {
                struct environment e;
                bool use_ca_auth;
                const char *said;
        } lines[] = {
                { { { NAME, TOKEN } }, false, "HUB_SERVER_URL" },
                { { { URL, TOKEN } }, false, "MEMBER_CLUSTER_NAME" },
                { { { URL, NAME } }, false, "CONFIG_PATH" },
                { { { URL, NAME, TOKEN } }, true, "IDENTITY_KEY" },
                { { { URL, NAME, TOKEN, { "CA_BUNDLE", "" } } }, false, "CA_BUNDLE" },
                { { { URL, NAME, TOKEN, { "HUB_CERTIFICATE_AUTHORITY", "" } } },
                  false,
                  "HUB_CERTIFICATE_AUTHORITY" },
                { { { URL, NAME, TOKEN, { "HUB_CERTIFICATE_AUTHORITY", "%%" } } }, false, "base64" },
                { { { URL, NAME, TOKEN, { "CA_BUNDLE", "/ca" }, { "HUB_CERTIFICATE_AUTHORITY", "YQ==" } } },
                  false,
                  "not both" },
                { { { URL, NAME, TOKEN, { "HUB_KUBE_HEADER", "no colon" } } }, false, "HUB_KUBE_HEADER" },
                { { { URL, { "MEMBER_CLUSTER_NAME", "../x" }, TOKEN } }, false, "MEMBER_CLUSTER_NAME" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct environment e = lines[i].e;
                struct arena arena AUTO_ARENA = ARENA_INIT;
                struct hub_connection c = { 0 };
                struct error err = { 0 };

                assert_int_equal(load(&e, lines[i].use_ca_auth, false, &arena, &c, &err), ERR_INVALID);
                assert_non_null(strstr(err.text, lines[i].said));
        }
}

/* spec/member-agent.md checklist 3 */
static void without_verification_no_authority_is_read(void **state)
{
        struct environment e = { { URL, NAME, TOKEN, { "CA_BUNDLE", "" } } };
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct hub_connection c = { 0 };

        assert_int_equal(load(&e, false, true, &arena, &c, NULL), 0);
        assert_true(c.endpoint.insecure_skip_verify);
        assert_null(c.endpoint.ca_pem);
        hub_connection_free(&c);
}

static void a_client_certificate_takes_the_place_of_the_token(void **state)
{
        struct environment e = { { URL, NAME, { "IDENTITY_KEY", "/k" }, { "IDENTITY_CERT", "/c" } } };
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct hub_connection c = { 0 };

        assert_int_equal(load(&e, true, false, &arena, &c, NULL), 0);
        assert_string_equal(c.endpoint.client_key_pem, "PEM of /k");
        assert_string_equal(c.endpoint.client_cert_pem, "PEM of /c");
        assert_null(c.endpoint.bearer_token_file);
        hub_connection_free(&c);
}

/* ---- extra headers ---- */

struct recorder {
        struct http_transport base;
        char seen[64];
};

static int record(struct http_transport *t, const struct http_request *rq, struct arena *arena,
                  struct http_response *ret, struct error *err)
{
        const char *value = http_header_get(&rq->headers, "X-Kube");

        snprintf(((struct recorder *)t)->seen, 64, "%s", value ? value : "");
        return 0;
}

/* spec/member-agent.md checklist 4 */
static void extra_headers_are_added_and_override_nothing(void **state)
{
        static const struct http_transport_ops ops = { .roundtrip = record };
        struct environment e = { { URL, NAME, TOKEN, { "HUB_KUBE_HEADER", "X-Kube: yes\r\nOther: 1" } } };
        struct recorder inner = { .base.ops = &ops };
        struct http_header own = { "x-kube", "mine" };
        struct http_request rq = { .method = "GET" };
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct hub_connection c = { 0 };
        struct http_response answer;
        struct http_transport *t;
        struct error err = { 0 };

        assert_int_equal(load(&e, false, false, &arena, &c, NULL), 0);
        assert_int_equal(c.headers.n, 2);
        t = header_transport_new(&inner.base, &c.headers);
        assert_int_equal(t->ops->roundtrip(t, &rq, &arena, &answer, &err), 0);
        assert_string_equal(inner.seen, "yes");
        rq.headers = (struct http_headers){ &own, 1 };
        assert_int_equal(t->ops->roundtrip(t, &rq, &arena, &answer, &err), ERR_INVALID);
        assert_non_null(strstr(err.text, "can't override other header"));
        t->ops->free(t);
        hub_connection_free(&c);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(url_name_and_token_file_are_enough),
                cmocka_unit_test(wrong_environments_are_refused_by_name),
                cmocka_unit_test(without_verification_no_authority_is_read),
                cmocka_unit_test(a_client_certificate_takes_the_place_of_the_token),
                cmocka_unit_test(extra_headers_are_added_and_override_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
