/* Tags of OCI repositories: spec/resource-set.md 19.7. */
#include "hub-agent/input-provider/source_test.h"

#define REPOSITORY "oci://reg.example/team/app"
#define GET "GET reg.example/v2/team/app/"
#define HEAD "HEAD reg.example/v2/team/app/"

static json_t *config(const char *text)
{
        json_t *doc = json_loads(text, 0, NULL);

        assert_non_null(doc);
        return doc;
}

/* spec/resource-set.md checklist 115 */
RIG_TEST(the_digests_of_the_best_tags_are_exported, {
        static const struct route routes[] = {
                { GET "tags/list?n=1000",
                  200,
                  { "Link", "</v2/team/app/tags/list?last=b&n=1000>; rel=\"next\"" },
                  "{\"name\":\"team/app\",\"tags\":[\"1.0.0\",\"latest\"]}" },
                { GET "tags/list?last=b&n=1000", 200, { 0 }, "{\"tags\":[\"1.2.0\",\"2.0.0\"]}" },
                { HEAD "manifests/2.0.0", 200, { "Docker-Content-Digest", "sha256:aa" }, "" },
                { HEAD "manifests/1.2.0", 200, { 0 }, "" },
                { GET "manifests/1.2.0", 200, { 0 }, "abc" },
                { 0 },
        };

        serve(r, "reg.example", routes);
        filter_by(r, &(struct filter_texts){ .semver = "*", .limit = 2 });
        collect(r, "OCIArtifactTag", REPOSITORY);
        exports_are(r,
                    "[{\"digest\":\"sha256:aa\",\"id\":\"47382767\",\"tag\":\"2.0.0\"},{\"digest\":\"sha256:"
                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"id\":\"47448304\","
                    "\"tag\":\"1.2.0\"}]");
})

static const struct route with_token[] = {
        { GET "tags/list?n=1000",
          401,
          { "WWW-Authenticate", "Bearer realm=\"https://auth.example/token\",service=\"reg\","
                                "scope=\"repository:team/app:pull\"" },
          "" },
        { "GET auth.example/token?service=reg&scope=repository%3Ateam%2Fapp%3Apull",
          200,
          { 0 },
          "{\"token\":\"t\"}" },
        { 0 },
};

/* spec/resource-set.md checklist 115 */
RIG_TEST(a_token_is_got_where_the_registry_says, {
        AUTO_JSON json_t *c = config("{\"https://reg.example/v2/\":{\"auth\":\"YWxsOng=\"},"
                                     "\"reg.example/team\":{\"username\":\"ann\",\"password\":\"pw\"},"
                                     "\"reg.example/te\":{\"username\":\"no\"}}");
        const json_t *configs[] = { c };

        serve(r, "auth.example", with_token);
        serve(r, "reg.example", with_token);
        collect(r, "OCIArtifactTag", REPOSITORY);
        assert_string_equal(r->said.data, GET
                            "tags/list?n=1000\n"
                            "GET auth.example/token?service=reg&scope=repository%3Ateam%2Fapp%3Apull\n" GET
                            "tags/list?n=1000 Bearer t\n");
        fails_with(r, "failed to call OCI provider: failed to list OCI tags for 'reg.example/team/app': GET "
                      "https://reg.example/v2/team/app/tags/list: HTTP 401: expected is a repository such as "
                      "oci://host/path that its credentials may read");
        r->source.credentials.docker_configs = configs;
        r->source.credentials.n_docker_configs = 1;
        collect(r, "OCIArtifactTag", REPOSITORY);
        assert_non_null(strstr(r->said.data, "pull Basic YW5uOnB3\n"));
        json_object_del(c, "reg.example/team");
        collect(r, "OCIArtifactTag", REPOSITORY);
        assert_non_null(strstr(r->said.data, "pull Basic YWxsOng=\n"));
})

RIG_TEST(a_registry_may_want_basic_credentials, {
        static const struct route routes[] = {
                { GET "tags/list?n=1000", 401, { "WWW-Authenticate", "Basic realm=\"x\"" }, "" }, { 0 }
        };
        AUTO_JSON json_t *c = config("{\"reg.example\":{\"auth\":\"YWxsOng=\"}}");
        const json_t *configs[] = { c };

        serve(r, "reg.example", routes);
        r->source.credentials.docker_configs = configs;
        r->source.credentials.n_docker_configs = 1;
        collect(r, "OCIArtifactTag", REPOSITORY);
        assert_string_equal(r->said.data, GET "tags/list?n=1000\n" GET "tags/list?n=1000 Basic YWxsOng=\n");
        json_object_set_new(json_object_get(c, "reg.example"), "auth", json_string("!"));
        collect(r, "OCIArtifactTag", REPOSITORY);
        assert_int_equal(r->code, ERR_INVALID);
})

/* A registry with TLS must not have its credentials carried to a place without. */
RIG_TEST(a_token_is_got_with_tls_only, {
        static const struct route routes[] = {
                { GET "tags/list?n=1000",
                  401,
                  { "WWW-Authenticate", "Bearer realm=\"http://auth.example/t\"" },
                  "" },
                { 0 },
        };

        serve(r, "reg.example", routes);
        collect(r, "OCIArtifactTag", REPOSITORY);
        assert_int_equal(r->code, ERR_INVALID);
        assert_int_equal(r->served, 1);
})

RIG_TEST(what_is_no_repository_is_refused, {
        static const char *const bad[] = { "https://reg.example/a", "oci://reg.example", "oci://reg.example/",
                                           "oci:///a", "oci://u@reg.example/a" };

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                collect(r, "OCIArtifactTag", bad[i]);
                assert_int_equal(r->code, ERR_INVALID);
        }
})

RIG_TEST(the_hub_of_docker_has_a_library, {
        static const struct route routes[] = {
                { "GET index.docker.io/v2/library/nginx/tags/list?n=1000", 200, { 0 }, "{\"tags\":null}" },
                { 0 }
        };

        serve(r, "index.docker.io", routes);
        collect(r, "OCIArtifactTag", "oci://docker.io/nginx");
        exports_are(r, "[]");
})

/* A registry that speaks no TLS. */
struct plain_only {
        struct http_transport transport, *inner;
        const char *reason;
        int with_tls;
};

static int roundtrip_plainly(struct http_transport *t, const struct http_request *rq, struct arena *arena,
                             struct http_response *ret, struct error *err)
{
        struct plain_only *p = container_of(t, struct plain_only, transport);

        if (!text_starts_with(rq->endpoint->base_url, "https://"))
                return p->inner->ops->roundtrip(p->inner, rq, arena, ret, err);
        p->with_tls++;
        error_set(err, ERR_RETRY, "no TLS here");
        error_set_reason(err, p->reason);
        return ERR_RETRY;
}

/* spec/resource-set.md checklist 115 */
RIG_TEST(a_registry_without_tls_is_asked_where_that_is_allowed, {
        static const struct route routes[] = {
                { GET "tags/list?n=1000", 200, { 0 }, "{\"tags\":[\"1.0.0\"]}" },
                { HEAD "manifests/1.0.0", 200, { "Docker-Content-Digest", "sha256:aa" }, "" },
                { 0 },
        };
        static const struct http_transport_ops ops = { .roundtrip = roundtrip_plainly };
        struct plain_only plain = { .transport = { .ops = &ops },
                                    .inner = r->world.transport,
                                    .reason = HTTP_REASON_NOT_TLS };

        serve(r, "reg.example", routes);
        r->world.transport = &plain.transport;
        collect(r, "OCIArtifactTag", REPOSITORY);
        assert_int_equal(r->code, ERR_RETRY);
        assert_int_equal(r->served, 0);
        r->source.insecure = true;
        plain.with_tls = 0;
        collect(r, "OCIArtifactTag", REPOSITORY);
        exports_are(r, "[{\"digest\":\"sha256:aa\",\"id\":\"47055086\",\"tag\":\"1.0.0\"}]");
        assert_int_equal(plain.with_tls, 1);
        plain.reason = HTTP_REASON_CERT_AUTHORITY; /* it speaks TLS, and is somebody else */
        collect(r, "OCIArtifactTag", REPOSITORY);
        assert_int_equal(r->served, 0);
        plain.reason = HTTP_REASON_NOT_TLS;
        r->source.credentials.ca_pem = "of a certificate Secret";
        collect(r, "OCIArtifactTag", REPOSITORY);
        assert_int_equal(r->code, ERR_RETRY);
        assert_int_equal(r->served, 0);
        r->world.transport = plain.inner;
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_digests_of_the_best_tags_are_exported),
                cmocka_unit_test(a_token_is_got_where_the_registry_says),
                cmocka_unit_test(a_registry_may_want_basic_credentials),
                cmocka_unit_test(a_token_is_got_with_tls_only),
                cmocka_unit_test(a_registry_without_tls_is_asked_where_that_is_allowed),
                cmocka_unit_test(what_is_no_repository_is_refused),
                cmocka_unit_test(the_hub_of_docker_has_a_library),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
