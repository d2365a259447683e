/* External services: spec/resource-set.md 19.8. */
#include "hub-agent/input-provider/source_test.h"

#define URL "https://svc.example/inputs?team=a"
#define ASKS "GET svc.example/inputs?team=a"

static void serves(struct rig *r, struct route *routes, int status, const char *body)
{
        routes[0] = (struct route){ ASKS, status, { 0 }, body };
        routes[1] = (struct route){ 0 };
        serve(r, "svc.example", routes);
        collect(r, "ExternalService", URL);
}

/* spec/resource-set.md checklist 116 */
RIG_TEST(sets_are_taken_as_they_are, {
        struct route routes[2];

        r->source.filter.limit = 2;
        serves(r, routes, 200,
               "{\"inputs\":[{\"id\":\"b\",\"n\":9007199254740993},{\"id\":\"a\",\"x\":[null,1.5]},{\"id\":"
               "\"c\"}],"
               "\"more\":1}");
        exports_are(r, "[{\"id\":\"b\",\"n\":9007199254740993},{\"id\":\"a\",\"x\":[null,1.5]}]");
        serves(r, routes, 200, "{\"inputs\":[]}");
        exports_are(r, "[]");
})

/* spec/resource-set.md checklist 116 */
RIG_TEST(credentials_are_a_token_or_a_user, {
        struct route routes[2];

        r->source.credentials.username = "ann";
        r->source.credentials.password = "pw";
        serves(r, routes, 200, "{\"inputs\":[]}");
        assert_string_equal(r->said.data, ASKS " Basic YW5uOnB3\n");
        r->source.credentials.token = "t0";
        serves(r, routes, 200, "{\"inputs\":[]}");
        assert_string_equal(r->said.data, ASKS " Bearer t0\n");
})

/* spec/resource-set.md checklist 116 */
RIG_TEST(what_is_wrong_with_an_answer_is_told, {
        static const struct {
                int status;
                const char *body, *words;
        } table[] = {
                { 500, "", "external service 'https://svc.example/inputs' returned HTTP 500" },
                { 404, "", "external service 'https://svc.example/inputs' returned HTTP 404" },
                { 200, "{\"x\":1}",
                  "external service 'https://svc.example/inputs' response does not contain an 'inputs' "
                  "field" },
                { 200, "{\"inputs\":null}",
                  "external service 'https://svc.example/inputs' response does not contain an 'inputs' "
                  "field" },
                { 200, "{\"inputs\":[{\"id\":\"a\"},{\"x\":1}]}",
                  "external service 'https://svc.example/inputs' input at index 1 is missing the required "
                  "'id' field" },
                { 200, "{\"inputs\":[{\"id\":7}]}",
                  "external service 'https://svc.example/inputs' input at index 0 has a non-string 'id' "
                  "field" },
                { 200, "{\"inputs\":[{\"id\":\"a\"},{\"id\":\"a\"}]}",
                  "external service 'https://svc.example/inputs' input at index 1 has a duplicate 'id' value "
                  "'a'" },
                { 200, "{\"inputs\":[5]}",
                  "external service 'https://svc.example/inputs' input at index 0 is no object" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct route routes[2];
                AUTO_FREE char *words =
                        mem_printf("failed to call ExternalService provider: %s", table[i].words);

                serves(r, routes, table[i].status, table[i].body);
                fails_with(r, words);
        }
        struct route routes[2];

        serves(r, routes, 200, "<html>");
        assert_true(text_starts_with(r->err.text,
                                     "failed to call ExternalService provider: failed to parse JSON "
                                     "response from external service 'https://svc.example/inputs': "));
})

/* spec/resource-set.md checklist 116 */
RIG_TEST(an_answer_has_a_most_of_bytes, {
        AUTO_FREE char *big = mem_alloc(LIMIT_INPUT_SERVICE_BYTES + 2);
        struct route routes[2];

        memset(big, ' ', LIMIT_INPUT_SERVICE_BYTES + 1);
        memcpy(big, "{\"inputs\":[]}", 13);
        big[LIMIT_INPUT_SERVICE_BYTES] = 0;
        serves(r, routes, 200, big);
        exports_are(r, "[]");
        big[LIMIT_INPUT_SERVICE_BYTES] = ' ';
        big[LIMIT_INPUT_SERVICE_BYTES + 1] = 0;
        serves(r, routes, 200, big);
        fails_with(r,
                   "failed to call ExternalService provider: external service 'https://svc.example/inputs': "
                   "response body exceeds the maximum allowed size of 921600 bytes");
})

/* spec/resource-set.md checklist 116 */
RIG_TEST(a_service_that_is_away_is_asked_five_times, {
        int64_t begin = loop_now_ms(r->loop);

        collect(r, "ExternalService", URL);
        assert_int_equal(r->code, ERR_RETRY);
        assert_int_equal(loop_now_ms(r->loop) - begin, 1000 + 2000 + 4000 + 8000);
        assert_true(text_starts_with(r->err.text,
                                     "failed to call ExternalService provider: failed to call external "
                                     "service 'https://svc.example/inputs': "));
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sets_are_taken_as_they_are),
                cmocka_unit_test(credentials_are_a_token_or_a_user),
                cmocka_unit_test(what_is_wrong_with_an_answer_is_told),
                cmocka_unit_test(an_answer_has_a_most_of_bytes),
                cmocka_unit_test(a_service_that_is_away_is_asked_five_times),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
