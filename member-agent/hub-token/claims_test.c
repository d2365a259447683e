/* What a token says about itself, and what follows for its renewal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/json/doc.h"
#include "member-agent/hub-token/claims.h"

/* An unsigned token with these claims. */
static const char *token_of(const char *claims, char ret[4096])
{
        size_t n;

        memcpy(ret, "e30.", 4);
        text_base64_encode(claims, strlen(claims), ret + 4);
        n = strcspn(ret, "=");
        for (size_t i = 0; i < n; i++)
                ret[i] = ret[i] == '+' ? '-' : ret[i] == '/' ? '_' : ret[i];
        memcpy(ret + n, ".c2ln", 6);
        return ret;
}

#define ACCOUNT "\"sub\":\"system:serviceaccount:fleet-system:m1-access\""

static void the_account_and_the_times_are_read(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        CLEANUP(token_claims_free) struct token_claims c = { 0 };
        struct error err;
        char text[4096];

        assert_int_equal(token_claims_read(token_of("{" ACCOUNT ",\"iat\":1000,\"exp\":4600}", text), &arena,
                                           &c, &err),
                         0);
        assert_string_equal(c.ns, "fleet-system");
        assert_string_equal(c.account, "m1-access");
        assert_int_equal(c.issued_ms, 1000000);
        assert_int_equal(c.expires_ms, 4600000);
}

static void what_is_no_token_of_a_service_account_is_refused(void **state)
{
        static const char *const claims[] = {
                "{}",
                "[]",
                "7",
                "not json",
                "{\"sub\":7}",
                "{\"sub\":\"jane\"}",
                "{\"sub\":\"system:serviceaccount:\"}",
                "{\"sub\":\"system:serviceaccount:a\"}",
                "{\"sub\":\"system:serviceaccount::b\"}",
                "{\"sub\":\"system:serviceaccount:a:b/../../pods\"}",
                "{\"sub\":\"system:serviceaccount:a/b:c\"}",
        };

        for (size_t i = 0; i < ARRAY_LEN(claims); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct token_claims c;
                struct error err;
                char text[4096];

                assert_int_equal(token_claims_read(token_of(claims[i], text), &arena, &c, &err), ERR_INVALID);
        }
}

static void times_that_are_none_are_none(void **state)
{
        static const char *const times[] = {
                "", ",\"exp\":\"soon\"", ",\"exp\":-1", ",\"exp\":1e300", ",\"exp\":null", ",\"exp\":[]"
        };

        for (size_t i = 0; i < ARRAY_LEN(times); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                CLEANUP(token_claims_free) struct token_claims c = { 0 };
                char claims[256], text[4096];

                snprintf(claims, sizeof(claims), "{" ACCOUNT "%s}", times[i]);
                assert_int_equal(token_claims_read(token_of(claims, text), &arena, &c, NULL), 0);
                assert_true(c.expires_ms == TIME_NONE);
                assert_true(token_renew_at_ms(&c, 7) == TIME_NONE);
        }
}

static void renewal_is_due_at_four_fifths_of_the_life_more_or_less(void **state)
{
        const struct token_claims c = { .issued_ms = 1000000, .expires_ms = 1000000 + 1000000 };
        const struct token_claims unknown = { .issued_ms = TIME_NONE, .expires_ms = 5000 };
        int64_t least = INT64_MAX, most = 0;

        for (uint64_t random = 0; random < 1000000; random += 997) {
                int64_t at = token_renew_at_ms(&c, random);

                least = MIN(least, at);
                most = MAX(most, at);
        }
        assert_in_range(least, 1750000, 1760000);
        assert_in_range(most, 1840000, 1850000);
        assert_int_equal(token_renew_at_ms(&unknown, 1), 0);
}

static void the_successor_is_asked_for_with_the_same_audience_length_and_binding(void **state)
{
        static const struct {
                const char *claims, *spec;
        } rows[] = {
                { "{" ACCOUNT ",\"iat\":1000,\"exp\":4600,\"aud\":[\"a\",\"b\"]}",
                  "{\"audiences\":[\"a\",\"b\"],\"expirationSeconds\":3600}" },
                { "{" ACCOUNT ",\"iat\":1000,\"exp\":4600,\"aud\":\"a\"}",
                  "{\"audiences\":[\"a\"],\"expirationSeconds\":3600}" },
                { "{" ACCOUNT ",\"exp\":4600}", "{}" },
                { "{" ACCOUNT ",\"iat\":1000,\"exp\":4600,\"aud\":7,\"kubernetes.io\":{\"secret\":{\"name\":"
                  "\"s\",\"uid\":\"u\"}}}",
                  "{\"boundObjectRef\":{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"name\":\"s\",\"uid\":"
                  "\"u\"},"
                  "\"expirationSeconds\":3600}" },
                { "{" ACCOUNT ",\"iat\":1000,\"exp\":4600,\"kubernetes.io\":{\"pod\":{\"name\":\"s\",\"uid\":"
                  "\"u\"},\"secret\":7}}",
                  "{\"expirationSeconds\":3600}" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                CLEANUP(token_claims_free) struct token_claims c = { 0 };
                char text[4096];

                assert_int_equal(token_claims_read(token_of(rows[i].claims, text), &arena, &c, NULL), 0);
                AUTO_JSON json_t *request = token_request_new(&c);
                AUTO_JSON json_t *spec = json_loads(rows[i].spec, 0, NULL);
                assert_true(doc_equal(json_object_get(request, "spec"), spec));
        }
}

static void the_next_token_is_of_the_same_account_and_ends_later(void **state)
{
        const struct token_claims now = { .ns = "n", .account = "a", .expires_ms = 5000 };
        static const struct {
                const char *ns, *account;
                int64_t expires_ms;
                bool goes_on;
        } rows[] = {
                { "n", "a", 5001, true },       { "n", "a", 5000, false }, { "n", "a", 4999, false },
                { "n", "b", 9000, false },      { "m", "a", 9000, false }, { "n", "a", TIME_NONE, true },
                { "n", "b", TIME_NONE, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct token_claims next = { .ns = rows[i].ns,
                                                   .account = rows[i].account,
                                                   .expires_ms = rows[i].expires_ms };

                assert_int_equal(token_goes_on(&now, &next), rows[i].goes_on);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_account_and_the_times_are_read),
                cmocka_unit_test(what_is_no_token_of_a_service_account_is_refused),
                cmocka_unit_test(times_that_are_none_are_none),
                cmocka_unit_test(renewal_is_due_at_four_fifths_of_the_life_more_or_less),
                cmocka_unit_test(the_successor_is_asked_for_with_the_same_audience_length_and_binding),
                cmocka_unit_test(the_next_token_is_of_the_same_account_and_ends_later),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
