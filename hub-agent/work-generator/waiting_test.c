/* What the work generator takes for trouble, and what for normal waiting. */
#include "hub-agent/hub_agent_test.h"

#define WEB FLEET "clusterresourceplacements/web"
#define WORKS_2 "namespaces/fleet-member-member-2/works"

struct scene {
        struct fleet fleet; /* first: the sink's ctx */
        struct line line;
        int n_warnings;
};

static void count_warning(void *ctx, const char *text, size_t n)
{
        ((struct scene *)ctx)->n_warnings++;
        write_line(ctx, text, n);
}

static void start_two(struct rig *r, struct scene *s)
{
        struct fleet *f = &s->fleet;

        s->n_warnings = 0;
        start(r, f);
        f->sink.write = count_warning;
        line_lay(f, &s->line);
        start_again(r, f);
        add_member(f, "member-1", "");
        add_member(f, "member-2", "");
        add_app(r);
}

static void place_on_two(struct rig *r, struct scene *s)
{
        start_two(r, s);
        place(r, "");
        settle(&s->fleet);
        settle(&s->fleet);
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        assert_int_equal(s->n_warnings, 0);
}

static void end(struct scene *s)
{
        stop(&s->fleet);
        http_transport_free(s->fleet.world.transport);
}

static void change(struct rig *r)
{
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        assert_int_equal(r->status, 200);
}

static void wait_ms(struct rig *r, int64_t ms)
{
        fiber_sleep(r->loop, ms);
        rig_settle(r);
}

/* The namespace goes before the binding does. */
static void goes_quietly(struct rig *r)
{
        struct scene s;

        place_on_two(r, &s);
        rig_delete(r, CLUSTERS "memberclusters/member-2");
        s.line.path = WORKS_2;
        s.line.fate = 404;
        change(r);
        wait_ms(r, 30000);
        assert_int_equal(s.n_warnings, 0);
        s.line.path = NULL;
        report_member(&s.fleet, "member-2", "False");
        for (int i = 0; i < 10; i++)
                wait_ms(r, 1000);
        assert_int_equal(rig_get(r, CLUSTERS "memberclusters/member-2"), 404);
        assert_int_equal(s.n_warnings, 0);
        end(&s);
}
static void writing_to_a_member_that_leaves_is_no_trouble(void **state)
{
        rig_run(goes_quietly);
}

static void is_told_later(struct rig *r, int64_t clock_moves_ms)
{
        struct scene s;

        place_on_two(r, &s);
        s.line.path = WORKS_2;
        s.line.fate = 404;
        change(r);
        settle(&s.fleet);
        settle(&s.fleet);
        loop_shift_wall(r->loop, clock_moves_ms);
        wait_ms(r, 3000);
        rig_get(r, WEB);
        assert_string_not_equal(condition_of(r, "ClusterResourcePlacementWorkSynchronized"), "False");
        assert_int_equal(s.n_warnings, 0);
        wait_ms(r, 60000);
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementWorkSynchronized"), "False");
        assert_true(s.n_warnings > 0);
        s.line.path = NULL;
        wait_ms(r, 90000);
        settle(&s.fleet);
        settle(&s.fleet);
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        end(&s);
}
static void by_a_steady_clock(struct rig *r)
{
        is_told_later(r, 0);
}
static void by_a_clock_set_back(struct rig *r)
{
        is_told_later(r, -3600000);
}
static void by_a_clock_set_forward(struct rig *r)
{
        is_told_later(r, 3600000);
}
static void a_namespace_or_a_work_that_is_not_there_is_trouble_only_when_that_lasts(void **state)
{
        rig_run(by_a_steady_clock);
        rig_run(by_a_clock_set_back);
        rig_run(by_a_clock_set_forward);
}

/* It was made, and neither the answer nor the watch has told of it. */
static void is_not_heard_of(struct rig *r)
{
        struct scene s;

        start_two(r, &s);
        s.line.lagging = "/works";
        s.line.path = WORKS_2;
        s.line.fate = ERR_CLOSED;
        place(r, "");
        for (int i = 0; i < 5000 && rig_get(r, FLEET WORKS_2 "/web-work") != 200; i++)
                fiber_sleep(r->loop, 1);
        s.line.path = NULL;
        for (int i = 0; i < LAG_MS / 2; i += 100) {
                fiber_sleep(r->loop, 100);
                rig_get(r, WEB);
                assert_string_not_equal(condition_of(r, "ClusterResourcePlacementWorkSynchronized"), "False");
        }
        assert_string_equal(condition_of(r, "ClusterResourcePlacementWorkSynchronized"), "True");
        assert_int_equal(s.n_warnings, 0);
        end(&s);
}
static void a_work_that_is_made_and_not_heard_of_yet_is_no_trouble(void **state)
{
        rig_run(is_not_heard_of);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(writing_to_a_member_that_leaves_is_no_trouble),
                cmocka_unit_test(a_namespace_or_a_work_that_is_not_there_is_trouble_only_when_that_lasts),
                cmocka_unit_test(a_work_that_is_made_and_not_heard_of_yet_is_no_trouble),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
