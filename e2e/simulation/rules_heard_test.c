/* Who is called silent, and what the store had heard of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

#define WALL_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */
#define REPORT(stamp)                                                                                        \
        "{'metadata':{'name':'member-1','namespace':'fleet-member-member-1'},'status':{'agentStatus':[{"     \
        "'type':'MemberAgent','lastReceivedHeartbeat':'2026-01-01T00:" stamp "Z'}]}}"
#define MEMBER(reason)                                                                                       \
        "{'metadata':{'name':'member-1'},'spec':{'heartbeatPeriodSeconds':20},'status':{'agentStatus':[{"    \
        "'type':'MemberAgent','conditions':[{'type':'Healthy','reason':'" reason "'}]}]}}"

static void begin(struct watch *w)
{
        open_watch(w, &rule_heard);
        w->shift_ms = WALL_MS;
        w->now = 60000;
        put(w, "hub-agent", "hub", RES_MEMBERS, MEMBER("X"));
        put(w, "member-1", "hub", RES_INTERNAL_MEMBERS, REPORT("01:00"));
}

static void call_silent(struct watch *w)
{
        put(w, "hub-agent", "hub", RES_MEMBERS, MEMBER("MemberAgentHeartbeatLost"));
}

/* Its limit is two periods and five seconds. */
static void who_spoke_within_its_limit_is_not_called_silent(void **state)
{
        struct watch w;

        begin(&w);
        w.now += 45000;
        call_silent(&w);
        BROKEN(&w, "hub-agent called member-1 silent, which had spoken 45000 ms before");
        close_watch(&w);
        begin(&w);
        w.now += 45001;
        call_silent(&w);
        FINE(&w);
        assert_int_equal(w.judged, 1);
        close_watch(&w);
}

static void what_came_while_the_word_was_on_its_way_was_not_known(void **state)
{
        struct watch w;

        begin(&w);
        w.now += 40000;
        put(&w, "member-1", "hub", RES_INTERNAL_MEMBERS, REPORT("01:40"));
        w.now += 19999;
        call_silent(&w);
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_MEMBERS, MEMBER("X"));
        w.now += 1;
        call_silent(&w);
        BROKEN(&w, "hub-agent called member-1 silent, which had spoken 20000 ms before");
        close_watch(&w);
}

/* An agent's word is judged by when it was sent. */
static void a_word_that_comes_late_is_of_the_time_of_its_asking(void **state)
{
        struct watch w;

        begin(&w);
        w.now += 50000;
        w.asked_ms = w.now - 9000;
        call_silent(&w);
        BROKEN(&w, "hub-agent called member-1 silent, which had spoken 41000 ms before");
        close_watch(&w);
}

static void who_is_called_silent_already_is_not_judged_again(void **state)
{
        struct watch w;

        begin(&w);
        w.now += 50000;
        call_silent(&w);
        w.now += 10000;
        put(&w, "member-1", "hub", RES_INTERNAL_MEMBERS, REPORT("02:00"));
        w.now += 30000;
        call_silent(&w);
        FINE(&w);
        assert_int_equal(w.judged, 1);
        put(&w, "player", "hub", RES_MEMBERS, MEMBER("X"));
        put(&w, "player", "hub", RES_MEMBERS, MEMBER("MemberAgentHeartbeatLost"));
        FINE(&w);
        close_watch(&w);
}

static void around_a_moved_clock_nobody_knows(void **state)
{
        struct watch w;

        begin(&w);
        w.now += 30000;
        w.shift_ms += 5000;
        w.wish.clock_ms = w.now;
        w.now += 10000;
        call_silent(&w);
        FINE(&w);
        assert_int_equal(w.judged, 0);
        close_watch(&w);
}

/* It was told before it was stopped, and its word leaves when it goes on. */
static void who_was_stopped_may_say_what_it_had_decided_before(void **state)
{
        struct watch w;

        begin(&w);
        w.wish.stops[0] = (struct wish_stop){ 106000, 156000 };
        w.now = 116000;
        put(&w, "member-1", "hub", RES_INTERNAL_MEMBERS, REPORT("01:56"));
        w.now = 150000;
        call_silent(&w);
        FINE(&w);
        assert_int_equal(w.judged, 1);
        put(&w, "hub-agent", "hub", RES_MEMBERS, MEMBER("X"));
        put(&w, "member-1", "hub", RES_INTERNAL_MEMBERS, REPORT("02:30"));
        w.now = 176001;
        w.wish.stops[1] = (struct wish_stop){ 106000, 176000 }; /* another agent's */
        call_silent(&w);
        BROKEN(&w, "hub-agent called member-1 silent, which had spoken 26001 ms before");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_spoke_within_its_limit_is_not_called_silent),
                cmocka_unit_test(what_came_while_the_word_was_on_its_way_was_not_known),
                cmocka_unit_test(a_word_that_comes_late_is_of_the_time_of_its_asking),
                cmocka_unit_test(who_is_called_silent_already_is_not_judged_again),
                cmocka_unit_test(around_a_moved_clock_nobody_knows),
                cmocka_unit_test(who_was_stopped_may_say_what_it_had_decided_before),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
