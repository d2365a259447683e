/* GitHub Apps: spec/resource-set.md 19.2. */
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "common/net/cert.h"
#include "hub-agent/input-provider/source_test.h"

#define HUB "https://github.com/acme/app"
#define API "api.github.com/"

static char *new_rsa_key(struct arena *arena)
{
        EVP_PKEY *key = EVP_RSA_gen(2048);
        BIO *bio = BIO_new(BIO_s_mem());
        char *text, *pem;
        long n;

        assert_int_equal(PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL), 1);
        n = BIO_get_mem_data(bio, &text);
        pem = arena_strndup(arena, text, (size_t)n);
        BIO_free(bio);
        EVP_PKEY_free(key);
        return pem;
}

static const struct route routes[] = {
        { "GET " API "orgs/acme%20inc/installation", 404, { 0 }, "{}" },
        { "GET " API "users/acme%20inc/installation", 200, { 0 }, "{\"id\":42}" },
        { "POST " API "app/installations/42/access_tokens",
          201,
          { 0 },
          "{\"token\":\"inst\",\"expires_at\":\"2026-01-01T01:00:00Z\"}" },
        { "GET " API "repos/acme/app/tags?per_page=100", 200, { 0 }, "[]" },
        { 0 },
};

static void use_app(struct rig *r)
{
        r->source.credentials = (struct source_credentials){ .app_id = "123",
                                                             .app_owner = "acme inc",
                                                             .app_key = new_rsa_key(&r->arena) };
}

/* spec/resource-set.md checklist 110 */
RIG_TEST(an_installation_is_found_by_its_owner_and_its_token_kept, {
        serve(r, "api.github.com", routes);
        use_app(r);
        collect(r, "GitHubTag", HUB);
        exports_are(r, "[]");
        assert_int_equal(r->served, 4);
        assert_true(text_ends_with(r->said.data, "tags?per_page=100 Bearer inst\n"));
        collect(r, "GitHubTag", HUB);
        assert_int_equal(r->served, 1);
        fiber_sleep(r->loop, 56 * 60000);
        collect(r, "GitHubTag", HUB);
        assert_int_equal(r->served, 4);
})

/* spec/resource-set.md checklist 110 */
RIG_TEST(an_installation_may_be_named_and_another_key_is_another_token, {
        serve(r, "api.github.com", routes);
        use_app(r);
        r->source.credentials.app_owner = NULL;
        r->source.credentials.app_installation = "42";
        collect(r, "GitHubTag", HUB);
        assert_int_equal(r->served, 2);
        r->source.credentials.app_key = new_rsa_key(&r->arena);
        collect(r, "GitHubTag", HUB);
        assert_int_equal(r->served, 2);
})

/* spec/resource-set.md checklist 110 */
RIG_TEST(the_claims_of_an_app_are_its_id_and_two_minutes, {
        AUTO_FREE char *payload = NULL;

        serve(r, "api.github.com", routes);
        use_app(r);
        collect(r, "GitHubTag", HUB);
        char *token = strstr(r->said.data, "Bearer ") + 7;

        *strchr(token, '\n') = 0;
        assert_int_equal(jwt_read(token, &payload, NULL), 0);
        assert_string_equal(payload, "{\"iat\":1767225570,\"exp\":1767225690,\"iss\":\"123\"}");
})

/* spec/resource-set.md checklist 110 */
RIG_TEST(what_an_app_lacks_is_named, {
        static const char begin[] = "failed to create Git provider: ";

        serve(r, "api.github.com", routes);
        use_app(r);
        r->source.credentials.app_installation = "42";
        collect(r, "GitHubTag", HUB);
        assert_string_equal(r->err.text + sizeof(begin) - 1,
                            "only one of app installation owner or ID must be provided to use github app "
                            "authentication");
        r->source.credentials.app_installation = r->source.credentials.app_owner = NULL;
        collect(r, "GitHubTag", HUB);
        assert_string_equal(r->err.text + sizeof(begin) - 1,
                            "app installation owner or ID must be provided to use github app authentication");
        r->source.credentials.app_id = NULL;
        collect(r, "GitHubTag", HUB);
        assert_string_equal(r->err.text + sizeof(begin) - 1,
                            "app ID must be provided to use github app authentication");
        use_app(r);
        r->source.credentials.app_key = NULL;
        collect(r, "GitHubTag", HUB);
        assert_string_equal(r->err.text + sizeof(begin) - 1,
                            "private key must be provided to use github app authentication");
        r->source.credentials.app_key = "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n";
        collect(r, "GitHubTag", HUB);
        assert_true(text_starts_with(r->err.text,
                                     "failed to create Git provider: could not parse private key: "));
        assert_null(strstr(r->err.text, "secret"));
        assert_int_equal(r->code, ERR_INVALID);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_installation_is_found_by_its_owner_and_its_token_kept),
                cmocka_unit_test(an_installation_may_be_named_and_another_key_is_another_token),
                cmocka_unit_test(the_claims_of_an_app_are_its_id_and_two_minutes),
                cmocka_unit_test(what_an_app_lacks_is_named),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
