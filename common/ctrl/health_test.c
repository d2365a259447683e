/* What a probe is answered: common/ctrl/health.h. */
#include "common/ctrl/controller_test.h"
#include "common/ctrl/health.h"

struct scene {
        struct bench bench;       /* first: the frame's context */
        struct http_endpoint hub; /* of the frame: the rig's own asks the agent */
        struct health health;
};

static void open_scene(struct rig *r, struct scene *s)
{
        open_bench(r, &s->bench, false);
        s->health = (struct health){ .manager = s->bench.manager, .metrics = s->bench.metrics };
        s->hub = r->endpoint;
        s->bench.kube.endpoint = &s->hub;
        r->endpoint.base_url = (char *)(uintptr_t) "https://agent";
        assert_int_equal(loopback_listen(r->net, "agent", health_handle, &s->health), 0);
}

static void close_scene(struct rig *r, struct scene *s)
{
        r->endpoint = s->hub;
        loopback_listen(r->net, "agent", NULL, NULL);
        close_bench(&s->bench);
}

RIG_TEST(an_agent_is_ready_once_its_caches_are_filled, {
        struct scene s;

        open_scene(r, &s);
        assert_int_equal(rig_get(r, "/readyz"), 503);
        assert_non_null(strstr(r->text, "memberclusters"));
        run_manager(&s.bench);
        if (rig_get(r, "/readyz") != 200)
                fail_msg("%s", r->text);
        assert_string_equal(r->text, "ok\n");
        close_scene(r, &s);
})

RIG_TEST(an_agent_lives_before_it_is_ready, {
        struct scene s;

        open_scene(r, &s);
        assert_int_equal(rig_get(r, "/healthz"), 200);
        assert_int_equal(rig_get(r, "/livez"), 200);
        close_scene(r, &s);
})

RIG_TEST(only_probes_and_metrics_are_served_and_only_read, {
        struct scene s;

        open_scene(r, &s);
        assert_int_equal(rig_get(r, "/metrics"), 200);
        assert_non_null(strstr(r->text, "# TYPE "));
        assert_int_equal(rig_call(r, "HEAD", "/healthz", NULL, NULL), 200);
        assert_int_equal(rig_post(r, "/healthz", "{}"), 405);
        assert_int_equal(rig_get(r, "/debug"), 404);
        close_scene(r, &s);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_agent_is_ready_once_its_caches_are_filled),
                cmocka_unit_test(an_agent_lives_before_it_is_ready),
                cmocka_unit_test(only_probes_and_metrics_are_served_and_only_read),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
