/* The agent's own view of its members may be late: a watch that is cut, or alive and behind. Who speaks
 * meanwhile is not called silent, and who dies is. */
#include "hub-agent/membership/membership_agent_test.h"

#define MEMBER_2 CLUSTERS "memberclusters/member-2"
#define WATCH "/internalmemberclusters?watch=true"
#define REPORTS "/internalmemberclusters"
#define PERIOD_MS 60000
#define BEHIND_MS 400000

/* Two members with a placement on both; what becomes of the agent's requests is the test's. */
struct late {
        struct fleet f;
        struct line line;
        bool behind; /* what a watch of reports tells takes BEHIND_MS to arrive */
};

static int64_t delay_pieces(void *ctx, const struct http_request *rq, bool answer)
{
        const struct late *s = ctx;

        return s->behind && answer && strstr(rq->path, WATCH) ? BEHIND_MS : 0;
}

static int fate(void *ctx, const struct http_request *rq)
{
        return fate_of(&((struct late *)ctx)->line, rq);
}

static void lay(struct rig *r, struct late *s)
{
        begin(r, &s->f);
        line_lay(&s->f, &s->line);
        http_transport_free(s->f.world.transport);
        s->line.faults = (struct loopback_faults){ .ctx = s, .delay = delay_pieces, .fate = fate };
        s->f.world.transport = loopback_transport(r->net, &s->f.world, &s->line.faults);
        assert_non_null(s->f.world.transport);
        start_again(r, &s->f);
        add_member(&s->f, "member-1", "");
        add_member(&s->f, "member-2", "");
        add_app(r);
        place(r, "");
        settle(&s->f);
        fiber_sleep(r->loop, 5000);
}

/* Every answer to the agent's requests with `text` in their path is an error, and no watch is open. */
static void let_fail(struct rig *r, struct late *s, const char *text)
{
        stop(&s->f);
        s->line.path = text;
        s->line.fate = 503;
        start_again(r, &s->f);
}

static void end_late(struct late *s)
{
        end(&s->f);
        http_transport_free(s->f.world.transport);
}

/* Both go on for so many minutes, or the first alone. */
static void speak(struct rig *r, struct late *s, int minutes, bool both)
{
        for (int i = 0; i < minutes; i++) {
                fiber_sleep(r->loop, PERIOD_MS);
                report_member(&s->f, "member-1", "True");
                if (both)
                        report_member(&s->f, "member-2", "True");
        }
}

static int cycles(struct late *s)
{
        return passes_of(&s->f, "scheduler");
}

static bool is_told_lost(struct rig *r, const char *path)
{
        assert_int_equal(rig_get(r, path), 200);
        return strstr(r->text, "MemberAgentHeartbeatLost") != NULL;
}

static void expect_nobody_lost(struct rig *r)
{
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 0);
        assert_false(is_told_lost(r, MEMBER));
        assert_false(is_told_lost(r, MEMBER_2));
}

/* ---- cut ---- */

RIG_TEST(a_watch_that_is_cut_makes_no_member_silent, {
        struct late s = { .behind = false };
        int before;

        lay(r, &s);
        let_fail(r, &s, WATCH);
        fiber_sleep(r->loop, 2000);
        before = cycles(&s);
        speak(r, &s, 7, true);
        expect_nobody_lost(r);
        s.line.path = NULL;
        speak(r, &s, 3, true);
        expect_nobody_lost(r);
        assert_int_equal(told(r, "MemberAgentHeartbeatBack"), 0);
        assert_int_equal(cycles(&s), before);
        assert_true(metric_value(s.f.metrics, METRIC_MEMBERS_HEARD_LATE, NULL) > 1);
        end_late(&s);
})

RIG_TEST(a_member_that_dies_while_the_watch_is_cut_is_told_in_time, {
        struct late s = { .behind = false };

        lay(r, &s);
        let_fail(r, &s, WATCH);
        speak(r, &s, 4, false);
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 1);
        assert_true(is_told_lost(r, MEMBER_2));
        assert_false(is_told_lost(r, MEMBER));
        end_late(&s);
})

/* ---- alive, and behind ---- */

RIG_TEST(a_watch_that_is_behind_makes_no_member_silent, {
        struct late s = { .behind = false };
        int before;

        lay(r, &s);
        s.behind = true;
        before = cycles(&s);
        speak(r, &s, 7, true);
        expect_nobody_lost(r);
        assert_int_equal(cycles(&s), before);
        s.behind = false;
        speak(r, &s, 8, true);
        expect_nobody_lost(r);
        assert_int_equal(cycles(&s), before);
        end_late(&s);
})

RIG_TEST(a_member_that_dies_while_the_watch_is_behind_is_told_in_time, {
        struct late s = { .behind = false };

        lay(r, &s);
        s.behind = true;
        speak(r, &s, 4, false);
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 1);
        assert_true(is_told_lost(r, MEMBER_2));
        end_late(&s);
})

/* ---- nothing of the reports can be read ---- */

/* For longer than the scheduler's five minutes: what is placed anew meanwhile goes to all, as nobody knows
 * better. */
RIG_TEST(an_agent_that_hears_nothing_calls_nobody_silent, {
        struct late s = { .behind = false };
        int before;

        lay(r, &s);
        s.behind = true;
        s.line.path = REPORTS;
        s.line.fate = 503;
        before = cycles(&s);
        speak(r, &s, 8, true);
        expect_nobody_lost(r);
        assert_int_equal(cycles(&s), before);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 2);
        rig_post(r, FLEET "clusterresourceplacements",
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                 "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"later\"},\"spec\":{" SELECT_APP "}}");
        fiber_sleep(r->loop, 30000);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 4);
        s.line.path = NULL;
        s.behind = false;
        speak(r, &s, 3, true);
        expect_nobody_lost(r);
        end_late(&s);
})

/* Told once somebody can know: the pauses between tries are of half a minute by then. */
RIG_TEST(who_died_while_nothing_was_heard_is_told_when_the_view_is_back, {
        struct late s = { .behind = false };

        lay(r, &s);
        s.behind = true;
        s.line.path = REPORTS;
        s.line.fate = 503;
        speak(r, &s, 8, false);
        expect_nobody_lost(r);
        s.line.path = NULL;
        s.behind = false;
        speak(r, &s, 2, false);
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 1);
        assert_true(is_told_lost(r, MEMBER_2));
        end_late(&s);
})

/* A word is heard though the watch does not tell it, also of who was rightly called silent. */
RIG_TEST(a_silent_member_that_speaks_again_is_heard_while_the_watch_is_cut, {
        struct late s = { .behind = false };

        lay(r, &s);
        let_fail(r, &s, WATCH);
        speak(r, &s, 4, false);
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 1);
        speak(r, &s, 4, true);
        assert_int_equal(told(r, "MemberAgentHeartbeatBack"), 1);
        assert_false(is_told_lost(r, MEMBER_2));
        end_late(&s);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_watch_that_is_cut_makes_no_member_silent),
                cmocka_unit_test(a_member_that_dies_while_the_watch_is_cut_is_told_in_time),
                cmocka_unit_test(a_watch_that_is_behind_makes_no_member_silent),
                cmocka_unit_test(a_member_that_dies_while_the_watch_is_behind_is_told_in_time),
                cmocka_unit_test(an_agent_that_hears_nothing_calls_nobody_silent),
                cmocka_unit_test(who_died_while_nothing_was_heard_is_told_when_the_view_is_back),
                cmocka_unit_test(a_silent_member_that_speaks_again_is_heard_while_the_watch_is_cut),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
