/* Tags of a repository, and the requests they take: spec/helm-chart.md 9.2. */
#include "hub-agent/registry/client_test.h"

struct told {
        struct buf text;
        size_t n;
};

static int take(void *ctx, const char *tag, struct error *err)
{
        struct told *t = ctx;

        t->n++;
        return buf_printf(&t->text, "%s ", tag);
}

static int list(struct client *c, size_t most, struct told *t)
{
        const struct registry_tag_sink sink = { take, t };

        t->n = 0;
        buf_clear(&t->text);
        return registry_tags(&c->registry, most, &sink, &c->err);
}

#define AUTO_TOLD CLEANUP(told_free)
static void told_free(struct told *t)
{
        buf_free(&t->text);
}

static void tag(struct client *c, const char *name)
{
        sim_tag(&c->sim, REPOSITORY, name, "sha256:0");
}

/* spec/helm-chart.md checklist 76 */
CLIENT_TEST(tags_come_page_by_page, {
        AUTO_TOLD struct told t = { 0 };

        buf_init(&t.text, 1 << 20);
        tag(c, "1.0.0");
        tag(c, "1.1.0_b1");
        tag(c, "latest");
        c->sim.page = 2;
        works(c, list(c, 0, &t));
        assert_string_equal(t.text.data, "1.0.0 1.1.0_b1 latest ");
        assert_string_equal(c->sim.said.data,
                            "GET " V2 "tags/list?n=1000\nGET " V2 "tags/list?n=1000&last=2\n");
        fails(c, list(c, 2, &t), ERR_LIMIT, "there are more than 2 tags");
})

CLIENT_TEST(pages_that_do_not_end_are_given_up, {
        AUTO_TOLD struct told t = { 0 };

        buf_init(&t.text, 1 << 20);
        c->sim.endless_tags = true;
        fails(c, list(c, 0, &t), ERR_LIMIT, "OCI tags pagination exceeds maximum of 1000 pages");
        c->sim.endless_tags = false;
        tag(c, "1.0.0");
        c->sim.next_link = "</v2/team/app/tags/list?n=1000>; rel=\"next\"";
        fails(c, list(c, 0, &t), ERR_INVALID, "OCI tags pagination returned a repeated page");
        c->sim.next_link = "<https://other.example/v2/team/app/tags/list>; rel=\"next\"";
        fails(c, list(c, 0, &t), ERR_INVALID,
              "https://reg.example/v2/team/app/tags/list: its next page is on another host");
})

CLIENT_TEST(ten_thousand_tags_are_the_most, {
        AUTO_TOLD struct told t = { 0 };

        buf_init(&t.text, 1 << 20);
        for (int i = 0; i < REGISTRY_TAGS_MAX; i++) {
                const struct sim_tag one = { REPOSITORY, "t", "sha256:0" };

                assert_int_equal(vec_push(&c->sim.tags, one), 0);
        }
        works(c, list(c, 0, &t));
        assert_int_equal(t.n, REGISTRY_TAGS_MAX);
        tag(c, "one-more");
        fails(c, list(c, 0, &t), ERR_LIMIT, "there are more than 10000 tags");
})

/* spec/helm-chart.md checklist 81 */
CLIENT_TEST(who_is_busy_is_asked_again_as_it_says, {
        static const int statuses[] = { 408, 429, 500, 503 };
        AUTO_TOLD struct told t = { 0 };

        buf_init(&t.text, 1 << 20);
        tag(c, "1.0.0");
        for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
                int64_t before = loop_now_ms(c->loop);

                c->sim.failures = 4;
                c->sim.failure_status = statuses[i];
                open_client(c);
                works(c, list(c, 0, &t));
                assert_int_equal(loop_now_ms(c->loop) - before, 250 + 500 + 1000 + 2000);
        }
        int64_t before = loop_now_ms(c->loop);

        c->sim.failures = 1;
        c->sim.retry_after = "7";
        open_client(c);
        works(c, list(c, 0, &t));
        assert_int_equal(loop_now_ms(c->loop) - before, 7000);
})

/* spec/helm-chart.md checklist 81 */
CLIENT_TEST(five_tries_and_the_time_are_the_most, {
        AUTO_TOLD struct told t = { 0 };

        buf_init(&t.text, 1 << 20);
        tag(c, "1.0.0");
        c->sim.failures = 5;
        c->sim.failure_status = 503;
        fails(c, list(c, 0, &t), ERR_RETRY,
              "GET \"https://reg.example/v2/team/app/tags/list\": response status code 503: toomanyrequests: "
              "later");
        assert_int_equal(c->sim.failures, 0);
        c->sim.failures = 5;
        c->sim.failure_status = 501;
        assert_int_equal(list(c, 0, &t), ERR_RETRY);
        assert_int_equal(c->sim.failures, 4);
        c->sim.failure_status = 429;
        c->sim.retry_after = "61"; /* behind the deadline */
        error_clear(&c->err);
        assert_int_equal(list(c, 0, &t), ERR_TOO_MANY);
        assert_int_equal(c->sim.failures, 3);
        assert_int_equal(c->err.retry_after_ms, 61000);
        assert_int_equal(c->err.http_status, 429);
})

/* spec/helm-chart.md checklist 80 */
CLIENT_TEST(tls_is_left_out_only_where_that_is_said, {
        AUTO_TOLD struct told t = { 0 };

        buf_init(&t.text, 1 << 20);
        tag(c, "1.0.0");
        works(c, list(c, 0, &t));
        assert_int_equal(c->plain, 0);
        c->registry.scheme = REGISTRY_HTTP;
        open_client(c);
        works(c, list(c, 0, &t));
        assert_int_equal(c->plain, 1);
})

static void a_repository_is_a_host_and_a_path(void **state)
{
        static const struct {
                const char *url, *host, *path;
        } cases[] = {
                { "oci://reg.example/a", "reg.example", "a" },
                { "oci://reg.example:5000/team/app", "reg.example:5000", "team/app" },
                { "oci://[::1]:5000/a", "[::1]:5000", "a" },
                { "oci://docker.io/nginx", "docker.io", "library/nginx" },
                { "oci://docker.io/bitnami/nginx", "docker.io", "bitnami/nginx" },
                { "https://reg.example/a", NULL, NULL },
                { "oci://reg.example", NULL, NULL },
                { "oci://reg.example/", NULL, NULL },
                { "oci://reg.example/a/", NULL, NULL },
                { "oci://reg.example//a", NULL, NULL },
                { "oci://reg.example/a/../b", NULL, NULL },
                { "oci://reg.example/a?b", NULL, NULL },
                { "oci://reg.example/a%2fb", NULL, NULL },
                { "oci://user@reg.example/a", NULL, NULL },
                { "oci:///a", NULL, NULL },
                { "oci", NULL, NULL },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct registry_place p = { 0 };
                int code = registry_place_parse(cases[i].url, &arena, &p, NULL);

                if (code != (cases[i].host ? 0 : ERR_INVALID) || !text_equal(p.host, cases[i].host) ||
                    !text_equal(p.path, cases[i].path))
                        fail_msg("%s: %d %s %s", cases[i].url, code, or_empty(p.host), or_empty(p.path));
        }
}

CLIENT_TEST(the_hub_of_docker_has_a_registry_of_another_name, {
        c->registry.place = (struct registry_place){ "docker.io", "library/nginx" };
        works(c, registry_open(&c->registry, &c->err));
        assert_string_equal(c->registry.origin, "https://registry-1.docker.io");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tags_come_page_by_page),
                cmocka_unit_test(pages_that_do_not_end_are_given_up),
                cmocka_unit_test(ten_thousand_tags_are_the_most),
                cmocka_unit_test(who_is_busy_is_asked_again_as_it_says),
                cmocka_unit_test(five_tries_and_the_time_are_the_most),
                cmocka_unit_test(tls_is_left_out_only_where_that_is_said),
                cmocka_unit_test(a_repository_is_a_host_and_a_path),
                cmocka_unit_test(the_hub_of_docker_has_a_registry_of_another_name),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
