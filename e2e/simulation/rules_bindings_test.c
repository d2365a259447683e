/* Who may be picked: never more than asked for, never twice, never by what is asked for no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

#define PICKS(n)                                                                                             \
        "{'metadata':{'name':'app-0'},'spec':{'policy':{'placementType':'PickN','numberOfClusters':" n "}}}"

static void place_bindings(struct watch *w)
{
        open_watch(w, &rule_live_bindings);
        put(w, "player", "hub", RES_PLACEMENTS, PICKS("1"));
        put(w, "hub-agent", "hub", RES_BINDINGS, BINDING("b1", "member-1", "app-0-0", "Bound"));
        put(w, "hub-agent", "hub", RES_BINDINGS, BINDING("b2", "member-2", "app-0-0", "Unscheduled"));
        FINE(w);
}

static void no_more_bindings_live_than_are_asked_for(void **state)
{
        struct watch w;

        place_bindings(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b3", "member-3", "app-0-0", "Scheduled"));
        BROKEN(&w, "placement app-0 has 2 live bindings of policy app-0-0, N is 1");
        close_watch(&w);
}

static void no_cluster_has_two_bindings(void **state)
{
        struct watch w;

        place_bindings(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b3", "member-1", "app-0-1", "Scheduled"));
        BROKEN(&w, "placement app-0 has 2 live bindings on member-1");
        close_watch(&w);
}

/* Its agent died; what it had asked for came when another had asked already. */
static void a_binding_that_was_on_its_way_for_long_is_one_too_many_for_a_while(void **state)
{
        struct watch w;

        place_bindings(&w);
        w.asked_ms = w.now - 9000;
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b3", "member-1", "app-0-0", "Scheduled"));
        w.asked_ms = 0;
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b1", "member-1", "app-0-0", "Bound"));
        FINE(&w);
        w.now += RULE_LAG_MS + 1000;
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b1", "member-1", "app-0-0", "Bound"));
        BROKEN(&w, "placement app-0 has 2 live bindings on member-1");
        close_watch(&w);
}

static void news_that_fewer_are_wanted_may_be_late(void **state)
{
        struct watch w;

        open_watch(&w, &rule_live_bindings);
        put(&w, "player", "hub", RES_PLACEMENTS, PICKS("2"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b1", "member-1", "app-0-0", "Bound"));
        w.now += 1000;
        put(&w, "player", "hub", RES_PLACEMENTS, PICKS("1"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b2", "member-2", "app-0-0", "Bound"));
        FINE(&w);
        w.now += RULE_LAG_MS + 1000;
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b2", "member-2", "app-0-0", "Bound"));
        FINE(&w); /* it stays */
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b3", "member-3", "app-0-0", "Scheduled"));
        BROKEN(&w, "has 3 live bindings");
        close_watch(&w);
}

#define FIXES(names)                                                                                         \
        "{'metadata':{'name':'app-0'},'spec':{'policy':{'placementType':'PickFixed','clusterNames':[" names  \
        "]}}}"
#define POLICY_OF(names)                                                                                     \
        "{'metadata':{'name':'app-0-0'},'spec':{'policy':{'placementType':'PickFixed','clusterNames':"       \
        "[" names "]}}}"

static void nobody_is_picked_by_a_policy_of_long_ago(void **state)
{
        struct watch w;

        open_watch(&w, &rule_live_bindings);
        put(&w, "player", "hub", RES_PLACEMENTS, FIXES("'member-1','member-2'"));
        put(&w, "hub-agent", "hub", RES_POLICIES, POLICY_OF("'member-1','member-2'"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b1", "member-1", "app-0-0", "Scheduled"));
        put(&w, "player", "hub", RES_PLACEMENTS, FIXES("'member-1','member-3'"));
        w.now += 1000;
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b2", "member-2", "app-0-0", "Scheduled"));
        FINE(&w); /* it may not have been heard of */
        w.now += RULE_LAG_MS + 1000;
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b1", "member-1", "app-0-0", "Bound"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b2", "member-2", "app-0-0", "Unscheduled"));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b4", "member-4", "app-0-0", "Scheduled"));
        BROKEN(&w,
               "placement app-0 has a new binding on member-4 of policy app-0-0, which is asked for no more");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(no_more_bindings_live_than_are_asked_for),
                cmocka_unit_test(no_cluster_has_two_bindings),
                cmocka_unit_test(a_binding_that_was_on_its_way_for_long_is_one_too_many_for_a_while),
                cmocka_unit_test(news_that_fewer_are_wanted_may_be_late),
                cmocka_unit_test(nobody_is_picked_by_a_policy_of_long_ago),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
