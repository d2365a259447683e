/* As whom a registry is asked: spec/helm-chart.md 9.2 step 1. */
#include "hub-agent/registry/client_test.h"

#define MANIFEST "GET " V2 "manifests/1.0.0"
#define TOKEN "GET auth.example/token?service=sim&scope=repository%3Ateam%2Fapp%3Apull"

static int ask(struct client *c)
{
        struct registry_manifest m;

        return registry_manifest(&c->registry, "1.0.0", REGISTRY_AS_IT_IS, &m, &c->err);
}

static void begin(struct client *c, enum sim_login login)
{
        sim_chart(&c->sim, REPOSITORY, "1.0.0", NULL, SLICE("chart"));
        c->sim.login = login;
}

static void said(struct client *c, const char *wanted)
{
        assert_string_equal(c->sim.said.data, wanted);
        buf_clear(&c->sim.said);
}

/* spec/helm-chart.md checklist 75 */
CLIENT_TEST(a_token_is_got_for_anybody, {
        begin(c, SIM_BEARER);
        works(c, ask(c));
        said(c, MANIFEST "\n" TOKEN "\n" MANIFEST " Bearer t1\n");
        works(c, ask(c));
        said(c, MANIFEST " Bearer t1\n");
})

/* spec/helm-chart.md checklist 75 */
CLIENT_TEST(a_token_is_got_with_credentials, {
        begin(c, SIM_BEARER);
        c->sim.basic = "Basic YW5uOnB3";
        c->registry.login = (struct docker_login){ "ann", "pw" };
        works(c, ask(c));
        said(c, MANIFEST "\n" TOKEN " Basic YW5uOnB3\n" MANIFEST " Bearer t1\n");
        c->registry.login = (struct docker_login){ "ann", "wrong" };
        open_client(c);
        fails(c, ask(c), ERR_UNAUTHORIZED,
              "GET \"https://auth.example/token\": response status code 401: unauthorized: incorrect "
              "username "
              "or password");
})

/* spec/helm-chart.md checklist 75 */
CLIENT_TEST(a_registry_may_want_credentials_themselves, {
        begin(c, SIM_BASIC);
        c->sim.basic = "Basic YW5uOnB3";
        c->registry.login = (struct docker_login){ "ann", "pw" };
        works(c, ask(c));
        said(c, MANIFEST "\n" MANIFEST " Basic YW5uOnB3\n");
        c->registry.login = (struct docker_login){ "ann", "wrong" };
        open_client(c);
        fails(c, ask(c), ERR_UNAUTHORIZED,
              "GET \"https://reg.example/v2/team/app/manifests/1.0.0\": response status code 401: "
              "unauthorized: authentication required");
        c->registry.login = (struct docker_login){ 0 };
        open_client(c);
        buf_clear(&c->sim.said);
        assert_int_equal(ask(c), ERR_UNAUTHORIZED);
        said(c, MANIFEST "\n"); /* who has none need not ask again */
})

static int resolve(struct client *c)
{
        const char *digest;

        return registry_resolve(&c->registry, "1.0.0", &digest, &c->err);
}

/* Each time counts where accounts are locked. */
CLIENT_TEST(a_wrong_password_is_tried_once_for_a_tag, {
        begin(c, SIM_BEARER);
        c->sim.basic = "Basic YW5uOnB3";
        c->registry.login = (struct docker_login){ "ann", "wrong" };
        open_client(c);
        fails(c, resolve(c), ERR_UNAUTHORIZED,
              "GET \"https://auth.example/token\": response status code 401: unauthorized: incorrect "
              "username "
              "or password");
        assert_int_equal(sim_times(&c->sim, "Basic"), 1);
        buf_clear(&c->sim.said);
        c->sim.login = SIM_BASIC;
        open_client(c);
        fails(c, resolve(c), ERR_UNAUTHORIZED,
              "HEAD \"https://reg.example/v2/team/app/manifests/1.0.0\": response status code 401: "
              "Unauthorized");
        assert_int_equal(sim_times(&c->sim, "Basic"), 1);
})

/* spec/helm-chart.md checklist 75 */
CLIENT_TEST(a_token_that_is_refused_is_renewed_once, {
        begin(c, SIM_BEARER);
        works(c, ask(c));
        c->sim.tokens++; /* the one that was given is old now */
        buf_clear(&c->sim.said);
        works(c, ask(c));
        said(c, MANIFEST " Bearer t1\n" TOKEN "\n" MANIFEST " Bearer t3\n");
        c->sim.forgets_tokens = true;
        fails(c, ask(c), ERR_UNAUTHORIZED,
              "GET \"https://reg.example/v2/team/app/manifests/1.0.0\": response status code 401: "
              "unauthorized: authentication required");
        said(c, MANIFEST " Bearer t3\n" TOKEN "\n" MANIFEST " Bearer t4\n");
})

/* spec/helm-chart.md checklist 75 */
CLIENT_TEST(tokens_are_kept_as_long_as_they_last, {
        begin(c, SIM_BEARER);
        works(c, ask(c));
        open_client(c);
        buf_clear(&c->sim.said);
        works(c, ask(c));
        said(c, MANIFEST " Bearer t1\n");
        assert_int_equal(fiber_sleep(c->loop, 55000), 0); /* a minute, less what a request may take */
        open_client(c);
        works(c, ask(c));
        said(c, MANIFEST "\n" TOKEN "\n" MANIFEST " Bearer t2\n");
        c->sim.expires_in = 3600;
        assert_int_equal(fiber_sleep(c->loop, 60000), 0);
        open_client(c);
        works(c, ask(c));
        assert_int_equal(fiber_sleep(c->loop, 3000000), 0);
        open_client(c);
        buf_clear(&c->sim.said);
        works(c, ask(c));
        said(c, MANIFEST " Bearer t3\n");
})

/* spec/helm-chart.md checklist 75 */
CLIENT_TEST(tokens_are_not_shared_by_credentials_and_repositories, {
        begin(c, SIM_BEARER);
        works(c, ask(c));
        c->registry.login = (struct docker_login){ "ann", "pw" };
        open_client(c);
        works(c, ask(c));
        assert_int_equal(c->sim.tokens, 2);
        sim_chart(&c->sim, "team/other", "1.0.0", NULL, SLICE("chart"));
        open_client(c);
        c->registry.place.path = "team/other";
        works(c, ask(c));
        assert_int_equal(c->sim.tokens, 3);
        assert_non_null(strstr(c->sim.said.data, "scope=repository%3Ateam%2Fother%3Apull Basic"));
})

CLIENT_TEST(what_is_kept_of_tokens_has_a_bound, {
        begin(c, SIM_BEARER);
        for (int i = 0; i < 1100; i++) {
                c->registry.login = (struct docker_login){ arena_printf(&c->arena, "user-%d", i), "pw" };
                open_client(c);
                works(c, ask(c));
        }
        assert_int_equal(map_count(&c->tokens.by_use), 1000);
})

/* A registry with TLS must not have its credentials carried to a place without. */
CLIENT_TEST(tokens_are_got_where_that_is_safe, {
        begin(c, SIM_BEARER);
        c->registry.login = (struct docker_login){ "ann", "pw" };
        c->sim.realm = "http://auth.example/token";
        fails(c, ask(c), ERR_INVALID, "https://reg.example: the registry names no place to get a token from");
        c->sim.realm = "file:///etc/passwd";
        fails(c, ask(c), ERR_INVALID, "https://reg.example: the registry names no place to get a token from");
        said(c, MANIFEST "\n" MANIFEST "\n");
        c->sim.realm = "http://auth.example/token";
        c->registry.scheme = REGISTRY_HTTP;
        open_client(c);
        works(c, ask(c));
})

static void answer_strangely(void *ctx, struct http_exchange *x)
{
        http_reply(x, 200, "application/json", slice_of(ctx), NULL);
}

CLIENT_TEST(what_is_no_token_is_not_sent, {
        static const struct {
                const char *answer, *words;
        } cases[] = {
                { "{}", "https://strange.example/t: the answer has no token" },
                { "[1]", "https://strange.example/t: the answer has no token" },
                { "{\"token\":\"a\\nHost: b\"}", "https://strange.example/t: the token cannot be sent" },
        };

        begin(c, SIM_BEARER);
        c->sim.realm = "https://strange.example/t";
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                assert_int_equal(loopback_listen(c->net, "strange.example", answer_strangely,
                                                 (void *)(uintptr_t)cases[i].answer),
                                 0);
                fails(c, ask(c), ERR_INVALID, cases[i].words);
                assert_int_equal(loopback_listen(c->net, "strange.example", NULL, NULL), 0);
        }
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_token_is_got_for_anybody),
                cmocka_unit_test(a_token_is_got_with_credentials),
                cmocka_unit_test(a_registry_may_want_credentials_themselves),
                cmocka_unit_test(a_wrong_password_is_tried_once_for_a_tag),
                cmocka_unit_test(a_token_that_is_refused_is_renewed_once),
                cmocka_unit_test(tokens_are_kept_as_long_as_they_last),
                cmocka_unit_test(tokens_are_not_shared_by_credentials_and_repositories),
                cmocka_unit_test(what_is_kept_of_tokens_has_a_bound),
                cmocka_unit_test(tokens_are_got_where_that_is_safe),
                cmocka_unit_test(what_is_no_token_is_not_sent),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
