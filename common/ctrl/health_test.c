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

/* ---- on a port ---- */

struct served {
        struct world world;
        bool done;
};

static void serve_and_stop(void *ctx)
{
        struct served *s = ctx;
        struct http_server *none = NULL, *any = NULL;
        struct health h = { .manager = NULL };
        struct error err;

        assert_int_equal(health_serve(&h, &s->world, "127.0.0.1", -1, &none, &err), 0);
        assert_int_equal(health_serve(&h, &s->world, NULL, 0, &none, &err), 0);
        assert_null(none);
        assert_int_equal(health_serve(&h, &s->world, "127.0.0.1", 0, &any, &err), 0);
        assert_non_null(any);
        assert_true(http_server_port(any) > 0);
        http_server_stop(any);
        s->done = true;
}

static void port_0_is_any_free_one_and_a_negative_one_is_none(void **state)
{
        struct error err;
        struct served s = { .world.loop = loop_new_real(&err) };
        struct fiber_group *group = fiber_group_new(s.world.loop, NULL, "test");

        assert_non_null(fiber_spawn(group, "test", serve_and_stop, &s));
        loop_run(s.world.loop, &err);
        assert_true(s.done);
        fiber_group_end(group);
        loop_free(s.world.loop);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_agent_is_ready_once_its_caches_are_filled),
                cmocka_unit_test(an_agent_lives_before_it_is_ready),
                cmocka_unit_test(port_0_is_any_free_one_and_a_negative_one_is_none),
                cmocka_unit_test(only_probes_and_metrics_are_served_and_only_read),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
