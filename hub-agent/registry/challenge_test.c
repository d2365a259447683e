/* What registries want to see: spec/helm-chart.md 9.2 step 1. */
#include "common/json/doc_test.h"
#include "hub-agent/registry/challenge.h"

/* spec/helm-chart.md checklist 75 */
static void a_challenge_is_found_among_others(void **state)
{
        static const struct {
                const char *text, *realm, *service, *scope;
                bool found;
        } cases[] = {
                { "Bearer realm=\"https://a/t\",service=\"s\",scope=\"repository:a/b:pull\"", "https://a/t",
                  "s", "repository:a/b:pull", true },
                { "bearer Realm=\"x\" , SERVICE=y", "x", "y", NULL, true },
                { "Basic realm=\"no\", Bearer realm=\"yes\"", "yes", NULL, NULL, true },
                { "Bearer realm=\"yes\", Basic realm=\"no\"", "yes", NULL, NULL, true },
                { "Bearer scope=\"a, service=b\",realm=\"x\"", "x", NULL, "a, service=b", true },
                { "Bearer realm=\"a\\\"b\\\\\"", "a\"b\\", NULL, NULL, true },
                { "Bearer realm=https://a/t?x=1,service=s", "https://a/t?x=1", "s", NULL, true },
                { "Bearer xrealm=\"no\"", NULL, NULL, NULL, true },
                { "Bearer", NULL, NULL, NULL, true },
                { "Bearer realm=\"no end", NULL, NULL, NULL, true },
                { "Negotiate YWJj==, Bearer realm=\"x\"", "x", NULL, NULL, true },
                { "Bearers realm=\"x\"", NULL, NULL, NULL, false },
                { "realm=\"x\"", NULL, NULL, NULL, false },
                { "\"Bearer\" realm=\"x\"", NULL, NULL, NULL, false },
                { "", NULL, NULL, NULL, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct http_header at[] = { { "Content-Type", "Bearer realm=\"no\"" },
                                            { "www-authenticate", cases[i].text } };
                const struct http_headers h = { at, ARRAY_LEN(at) };
                struct challenge c;
                bool found;

                assert_int_equal(challenge_find(&h, "Bearer", &arena, &c, &found, NULL), 0);
                if (found != cases[i].found || !text_equal(c.realm, cases[i].realm) ||
                    !text_equal(c.service, cases[i].service) || !text_equal(c.scope, cases[i].scope))
                        fail_msg("%s: %d %s %s %s", cases[i].text, found, or_empty(c.realm),
                                 or_empty(c.service), or_empty(c.scope));
        }
}

static void the_first_header_that_has_it_counts(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_header at[] = { { "WWW-Authenticate", "Basic realm=\"no\"" },
                                    { "WWW-Authenticate", "Bearer realm=\"first\"" },
                                    { "WWW-Authenticate", "Bearer realm=\"second\"" } };
        const struct http_headers h = { at, ARRAY_LEN(at) };
        struct challenge c;
        bool found;

        assert_int_equal(challenge_find(&h, "Bearer", &arena, &c, &found, NULL), 0);
        assert_true(found);
        assert_string_equal(c.realm, "first");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_challenge_is_found_among_others),
                cmocka_unit_test(the_first_header_that_has_it_counts),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
