/* Groups of snapshots of which only a part was made, within a whole agent. */
#include "hub-agent/common.h"
#include "hub-agent/hub_agent_test.h"

#define MAPS 27 /* of MAP_BYTES: three parts */
#define MAP_BYTES 60000

/* Of new snapshots `left` more arrive, and what comes then has that fate. */
struct cut_line {
        struct loopback_faults faults;
        int left; /* -1: all arrive */
        int fate;
};

static int cut_fate(void *ctx, const struct http_request *rq)
{
        struct cut_line *line = ctx;

        if (line->left < 0 || !text_equal(rq->method, "POST") ||
            !strstr(rq->path, "clusterresourcesnapshots"))
                return 0;
        if (line->left == 0)
                return line->fate;
        line->left--;
        return 0;
}

static void add_map(struct rig *r, int i)
{
        AUTO_BUF struct buf body;

        buf_init(&body, 2 * MAP_BYTES);
        buf_printf(&body, "{\"metadata\":{\"name\":\"part-%d\"},\"data\":{\"a\":\"v0\",\"b\":\"", i);
        for (int k = 0; k < MAP_BYTES; k++)
                buf_append_char(&body, 'x');
        buf_append_str(&body, "\"}}");
        assert_int_equal(rig_post(r, "/api/v1/namespaces/app/configmaps", body.data), 201);
}

static void add_maps(struct rig *r)
{
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"app\"}}"), 201);
        for (int i = 0; i < MAPS; i++)
                add_map(r, i);
        rig_settle(r);
}

static void change_maps(struct rig *r, int n, int value)
{
        char path[128], body[64];

        for (int i = 0; i < n; i++) {
                snprintf(path, sizeof(path), "/api/v1/namespaces/app/configmaps/part-%d", i);
                snprintf(body, sizeof(body), "{\"data\":{\"a\":\"v%d\"}}", value);
                assert_int_equal(rig_merge(r, path, body), 200);
        }
}

static int placed_on(struct rig *r, const char *works, int value)
{
        char what[32];
        int n = 0;

        snprintf(what, sizeof(what), "\"a\":\"v%d\"", value);
        rig_get(r, works);
        for (const char *at = r->text; (at = strstr(at, what)); at++)
                n++;
        return n;
}

static int placed(struct rig *r, int value)
{
        return placed_on(r, FLEET "namespaces/fleet-member-member-1/works", value);
}

static void wait_ms(struct rig *r, int64_t ms)
{
        fiber_sleep(r->loop, ms);
        rig_settle(r);
}

static void start_on(struct rig *r, struct fleet *f, struct cut_line *line)
{
        *line = (struct cut_line){ .faults = { .ctx = line, .fate = cut_fate }, .left = -1 };
        start(r, f);
        stop(f);
        f->world.transport = loopback_transport(r->net, &f->world, &line->faults);
        start_again(r, f);
        add_member(f, "member-1", "");
        add_maps(r);
        place(r, ",\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":\"100%\","
                 "\"unavailablePeriodSeconds\":0}}");
        wait_ms(r, 5000);
        settle(f);
        settle(f);
        assert_int_equal(placed(r, 0), MAPS);
}

static void close_all(struct fleet *f)
{
        stop(f);
        http_transport_free(f->world.transport);
}

/* One map changes, and of the snapshots for that `n` are made before the agent ends; then `n_changed` of the
 * maps change again before the next one begins. */
static void end_between(struct rig *r, int n, int fate, int n_changed)
{
        struct cut_line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.left = n;
        line.fate = fate;
        change_maps(r, 1, 1);
        wait_ms(r, 3000);
        stop(&f);
        line.left = -1;
        change_maps(r, n_changed, 2);
        start_again(r, &f);
        wait_ms(r, 5000);
        assert_int_equal(placed(r, 2), n_changed);
        assert_int_equal(placed(r, 1), n_changed > 0 ? 0 : 1);
        close_all(&f);
}

RIG_TEST(what_one_agent_left_out_of_a_group_the_next_one_makes, { end_between(r, 1, ERR_TIMEOUT, 0); })
RIG_TEST(the_last_part_of_a_group_is_made_by_the_next_agent, { end_between(r, 2, ERR_TIMEOUT, 0); })
RIG_TEST(a_group_whose_last_answer_was_lost_is_taken_as_it_is, { end_between(r, 2, ERR_CLOSED, 0); })

/* What selects something else by now is never completed; its binding must not wait for it. */
RIG_TEST(a_binding_to_the_head_of_a_group_moves_on_to_the_next_group, { end_between(r, 1, ERR_TIMEOUT, 5); })
RIG_TEST(a_binding_to_a_part_of_a_group_moves_on_to_the_next_group, { end_between(r, 2, ERR_TIMEOUT, 5); })

/* The group before it is whole and of one part. It took the only slot; what cannot be completed gives it
 * back. */
RIG_TEST(a_group_that_stays_a_part_keeps_no_slot, {
        struct cut_line line;
        struct fleet f;

        line = (struct cut_line){ .faults = { .ctx = &line, .fate = cut_fate }, .left = -1 };
        start(r, &f);
        stop(&f);
        f.world.transport = loopback_transport(r->net, &f.world, &line.faults);
        start_again(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"app\"}}"), 201);
        add_map(r, 0);
        place(r, ",\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":1,"
                 "\"maxSurge\":0,\"unavailablePeriodSeconds\":0}}");
        wait_ms(r, 5000);
        settle(&f);
        settle(&f);
        assert_int_equal(placed_on(r, FLEET "works", 0), 2);
        stop(&f); /* what follows is one change to it */
        for (int i = 1; i < MAPS; i++)
                add_map(r, i);
        line.left = 1;
        line.fate = ERR_TIMEOUT;
        start_again(r, &f);
        wait_ms(r, 5000);
        stop(&f);
        line.left = -1;
        change_maps(r, MAPS, 2);
        start_again(r, &f);
        for (int i = 0; i < 6; i++) {
                wait_ms(r, 5000);
                settle(&f);
        }
        assert_int_equal(placed_on(r, FLEET "works", 2), 2 * MAPS);
        close_all(&f);
})

/* Nobody ended: the server refuses for a while, and what is selected changes meanwhile. */
RIG_TEST(a_group_that_was_given_up_for_the_next_one_holds_no_binding, {
        struct cut_line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.left = 1;
        line.fate = 503;
        change_maps(r, 1, 1);
        wait_ms(r, 3000);
        change_maps(r, 5, 2);
        wait_ms(r, 3000);
        line.left = -1;
        wait_ms(r, 30000);
        assert_int_equal(placed(r, 2), 5);
        close_all(&f);
})

/* Whoever waits for the rest has been trying ever more seldom by then. */
RIG_TEST(the_rest_of_a_group_is_placed_as_soon_as_it_is_there, {
        struct cut_line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.left = 1;
        line.fate = 503;
        change_maps(r, 1, 1);
        wait_ms(r, 100000);
        line.left = -1;
        while (count(r, FLEET "clusterresourcesnapshots?labelSelector="
                              "kubernetes-fleet.io%2Fresource-index%3D1") < 3)
                fiber_sleep(r->loop, 100);
        fiber_sleep(r->loop, 500);
        assert_int_equal(placed(r, 1), 1);
        close_all(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_one_agent_left_out_of_a_group_the_next_one_makes),
                cmocka_unit_test(the_last_part_of_a_group_is_made_by_the_next_agent),
                cmocka_unit_test(a_group_whose_last_answer_was_lost_is_taken_as_it_is),
                cmocka_unit_test(a_binding_to_the_head_of_a_group_moves_on_to_the_next_group),
                cmocka_unit_test(a_binding_to_a_part_of_a_group_moves_on_to_the_next_group),
                cmocka_unit_test(a_group_that_stays_a_part_keeps_no_slot),
                cmocka_unit_test(a_group_that_was_given_up_for_the_next_one_holds_no_binding),
                cmocka_unit_test(the_rest_of_a_group_is_placed_as_soon_as_it_is_there),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
