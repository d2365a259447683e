/* What must hold of evictions and budgets, at a store that the test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

#define CHOSEN(name, cluster, version, more)                                                                 \
        "{'metadata':{'name':'" name "','uid':'u-" name "','resourceVersion':'" version                      \
        "','generation':1," OF_APP "}" more "},'spec':{'state':'Bound','targetCluster':'" cluster            \
        "'},'status':{'conditions':[{'type':'Available','status':'True','observedGeneration':1}]}}"
#define BUDGET(spec) "{'metadata':{'name':'app-0'},'spec':{" spec "}}"
#define EVICTION_FROM(name, cluster, status)                                                                 \
        "{'metadata':{'name':'" name                                                                         \
        "','generation':1},'spec':{'placementName':'app-0','clusterName':'" cluster "'},'status':{" status   \
        "}}"
#define EVICTION(name, status) EVICTION_FROM(name, "member-1", status)
#define DECISION(name, version, message)                                                                     \
        "'decision':{'bindingName':'" name "','bindingUID':'u-" name "','bindingResourceVersion':'" version  \
        "','message':'" message "'}"
#define CONDITIONS(type, status, reason, message)                                                            \
        "'conditions':[{'type':'" type "','status':'" status "','reason':'" reason "','message':'" message   \
        "'}]"
#define EXECUTED(message) CONDITIONS("Executed", "True", "ClusterResourcePlacementEvictionExecuted", message)
#define NOT_EXECUTED(message)                                                                                \
        CONDITIONS("Executed", "False", "ClusterResourcePlacementEvictionNotExecuted", message)
#define ALLOWED "Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, "
#define BLOCKED "Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, "
#define TWO_OF_TWO "availablePlacements: 2, totalPlacements: 2"
#define ONE_OF_TWO "availablePlacements: 1, totalPlacements: 2"

/* Two clusters have app-0, and one must stay. */
static void place_evictable(struct watch *w)
{
        open_watch(w, &rule_evictions);
        put(w, "player", "hub", RES_PLACEMENTS,
            "{'metadata':{'name':'app-0'},'spec':{'policy':{'placementType':'PickN','numberOfClusters':2}}}");
        put(w, "player", "hub", RES_BUDGETS, BUDGET("'minAvailable':1"));
        put(w, "hub-agent", "hub", RES_BINDINGS, CHOSEN("b1", "member-1", "1", ""));
        put(w, "hub-agent", "hub", RES_BINDINGS, CHOSEN("b2", "member-2", "1", ""));
        put(w, "player", "hub", RES_EVICTIONS, EVICTION("e", ""));
        w->now += RULE_LAG_MS * 4;
}

static void say(struct watch *w, const char *status)
{
        char text[1024];

        snprintf(text, sizeof(text), EVICTION("e", "%s"), status);
        put(w, "hub-agent", "hub", RES_EVICTIONS, text);
}

static void an_eviction_goes_from_its_decision_to_its_end(void **state)
{
        struct watch w;

        place_evictable(&w);
        say(&w, DECISION("b1", "1", ALLOWED TWO_OF_TWO));
        take(&w, "hub-agent", "hub", RES_BINDINGS, "", "b1");
        say(&w, EXECUTED(ALLOWED TWO_OF_TWO));
        FINE(&w);
        assert_int_equal(w.judged, 1);
        say(&w, EXECUTED(ALLOWED ONE_OF_TWO));
        BROKEN(&w, "eviction e was decided, and hub-agent wrote it again");
        close_watch(&w);
}

static void an_eviction_says_what_follows_from_budget_and_bindings(void **state)
{
        static const struct {
                const char *budget, *status;
                bool fine;
        } cases[] = {
                { BUDGET("'minAvailable':1"), NOT_EXECUTED(BLOCKED TWO_OF_TWO), false },
                { BUDGET("'minAvailable':1"), DECISION("b1", "1", ALLOWED ONE_OF_TWO), false },
                { BUDGET("'minAvailable':1"),
                  DECISION("b1", "1",
                           "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified"),
                  false },
                { BUDGET("'minAvailable':2"), NOT_EXECUTED(BLOCKED TWO_OF_TWO), true },
                { BUDGET("'minAvailable':2"), DECISION("b1", "1", ALLOWED TWO_OF_TWO), false },
                { BUDGET("'maxUnavailable':'1%'"), DECISION("b1", "1", ALLOWED TWO_OF_TWO), true },
                { BUDGET("'maxUnavailable':0"), DECISION("b1", "1", ALLOWED TWO_OF_TWO), false },
                { BUDGET("'minAvailable':'51%'"), NOT_EXECUTED(BLOCKED TWO_OF_TWO), true },
                { BUDGET(""), NOT_EXECUTED(BLOCKED TWO_OF_TWO), true },
                { BUDGET("'minAvailable':1"), DECISION("b1", "1", "in other words"), false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;

                place_evictable(&w);
                put(&w, "player", "hub", RES_BUDGETS, cases[i].budget);
                w.now += RULE_LAG_MS * 4;
                say(&w, cases[i].status);
                if (cases[i].fine)
                        FINE(&w);
                else
                        BROKEN(&w, "does not follow from anything that was true");
                close_watch(&w);
        }
}

/* What changes while it is decided leaves both answers open; what another one decided before does not. */
static void an_eviction_is_decided_after_the_one_before(void **state)
{
        struct watch w;

        place_evictable(&w);
        put(&w, "player", "hub", RES_BUDGETS, BUDGET("'minAvailable':2"));
        w.now += 1000;
        say(&w, DECISION("b1", "1", ALLOWED TWO_OF_TWO)); /* it was asked for before */
        FINE(&w);
        w.now += 1000;
        put(&w, "player", "hub", RES_EVICTIONS, EVICTION("second", ""));
        put(&w, "hub-agent", "hub", RES_EVICTIONS,
            EVICTION("second", DECISION("b2", "1", ALLOWED TWO_OF_TWO)));
        BROKEN(&w, "eviction second of app-0");
        close_watch(&w);
}

/* For the second that evicts the same, its target is available until it is gone; for others it is not. */
static void of_a_target_it_does_not_matter_who_else_evicts_it(void **state)
{
        struct watch w;

        place_evictable(&w);
        say(&w, DECISION("b1", "1", ALLOWED TWO_OF_TWO));
        put(&w, "player", "hub", RES_BUDGETS, BUDGET("'minAvailable':2"));
        put(&w, "player", "hub", RES_EVICTIONS, EVICTION("same", ""));
        put(&w, "player", "hub", RES_EVICTIONS, EVICTION_FROM("other", "member-2", ""));
        w.now += RULE_LAG_MS * 4;
        put(&w, "hub-agent", "hub", RES_EVICTIONS, EVICTION("same", NOT_EXECUTED(BLOCKED TWO_OF_TWO)));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_EVICTIONS,
            EVICTION_FROM("other", "member-2", NOT_EXECUTED(BLOCKED TWO_OF_TWO)));
        BROKEN(&w, "eviction other of app-0");
        close_watch(&w);
}

/* Who did not hear that its decision was stored deletes nothing by it before it decides again: what it
 * decides of others meanwhile may count with it and without. */
static void a_decision_that_was_not_heard_of_may_be_counted_or_not(void **state)
{
        static const struct {
                bool unheard;
                const char *status;
                bool fine;
        } cases[] = {
                { true, DECISION("b2", "1", ALLOWED TWO_OF_TWO), true },
                { true, NOT_EXECUTED(BLOCKED ONE_OF_TWO), true },
                { true, DECISION("b2", "1", ALLOWED ONE_OF_TWO), false },
                { true, NOT_EXECUTED(BLOCKED TWO_OF_TWO), false },
                { true, NOT_EXECUTED(BLOCKED "availablePlacements: 0, totalPlacements: 2"), false },
                { false, DECISION("b2", "1", ALLOWED TWO_OF_TWO), false },
                { false, NOT_EXECUTED(BLOCKED ONE_OF_TWO), true },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;
                char text[1024];

                place_evictable(&w);
                w.unheard = cases[i].unheard;
                say(&w, DECISION("b1", "1", ALLOWED TWO_OF_TWO));
                w.unheard = false;
                w.now += 1000;
                put(&w, "player", "hub", RES_EVICTIONS, EVICTION_FROM("other", "member-2", ""));
                w.now += RULE_LAG_MS * 4;
                snprintf(text, sizeof(text), EVICTION_FROM("other", "member-2", "%s"), cases[i].status);
                put(&w, "hub-agent", "hub", RES_EVICTIONS, text);
                if (cases[i].fine)
                        FINE(&w);
                else
                        BROKEN(&w, "eviction other of app-0");
                close_watch(&w);
        }
}

static void a_decision_that_is_taken_again_and_heard_of_counts(void **state)
{
        struct watch w;

        place_evictable(&w);
        w.unheard = true;
        say(&w, DECISION("b1", "1", ALLOWED TWO_OF_TWO));
        w.unheard = false;
        put(&w, "player", "hub", RES_BINDINGS, CHOSEN("b1", "member-1", "2", ""));
        say(&w, DECISION("b1", "2", ALLOWED TWO_OF_TWO));
        put(&w, "player", "hub", RES_EVICTIONS, EVICTION_FROM("other", "member-2", ""));
        w.now += RULE_LAG_MS * 4;
        put(&w, "hub-agent", "hub", RES_EVICTIONS,
            EVICTION_FROM("other", "member-2", DECISION("b2", "1", ALLOWED TWO_OF_TWO)));
        BROKEN(&w, "eviction other of app-0");
        close_watch(&w);
}

static void nothing_is_evicted_without_an_eviction(void **state)
{
        struct watch w;

        place_evictable(&w);
        take(&w, "player", "hub", RES_BINDINGS, "", "b2");
        FINE(&w);
        take(&w, "hub-agent", "hub", RES_BINDINGS, "", "b1");
        BROKEN(&w, "hub-agent deleted binding b1 of app-0, and no eviction said so");
        close_watch(&w);
}

static void an_eviction_is_executed_when_the_binding_goes(void **state)
{
        struct watch w;

        place_evictable(&w);
        say(&w, DECISION("b1", "1", ALLOWED TWO_OF_TWO));
        put(&w, "player", "hub", RES_BINDINGS, CHOSEN("b1", "member-1", "2", ""));
        say(&w, EXECUTED(ALLOWED TWO_OF_TWO));
        BROKEN(&w, "eviction e says it is executed, binding b1 is there");
        close_watch(&w);
        place_evictable(&w);
        say(&w, DECISION("b1", "1", ALLOWED TWO_OF_TWO));
        take(&w, "hub-agent", "hub", RES_BINDINGS, "", "b1");
        say(&w, EXECUTED("Eviction is allowed, placement has failed"));
        BROKEN(&w, "eviction e says other words than it decided");
        close_watch(&w);
        place_evictable(&w);
        say(&w, DECISION("b1", "1", ALLOWED TWO_OF_TWO));
        take(&w, "hub-agent", "hub", RES_BINDINGS, "", "b1");
        say(&w, NOT_EXECUTED(BLOCKED ONE_OF_TWO));
        BROKEN(&w, "eviction e says it is not executed, binding b1 is gone");
        close_watch(&w);
        place_evictable(&w);
        say(&w, DECISION("b1", "1", ALLOWED TWO_OF_TWO));
        put(&w, "player", "hub", RES_BINDINGS, CHOSEN("b1", "member-1", "2", ""));
        take(&w, "hub-agent", "hub", RES_BINDINGS, "", "b1"); /* of another version */
        BROKEN(&w, "no eviction said so");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_eviction_goes_from_its_decision_to_its_end),
                cmocka_unit_test(an_eviction_says_what_follows_from_budget_and_bindings),
                cmocka_unit_test(an_eviction_is_decided_after_the_one_before),
                cmocka_unit_test(of_a_target_it_does_not_matter_who_else_evicts_it),
                cmocka_unit_test(a_decision_that_was_not_heard_of_may_be_counted_or_not),
                cmocka_unit_test(a_decision_that_is_taken_again_and_heard_of_counts),
                cmocka_unit_test(nothing_is_evicted_without_an_eviction),
                cmocka_unit_test(an_eviction_is_executed_when_the_binding_goes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
