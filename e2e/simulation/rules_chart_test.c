/* That the rule about artifacts can fail, and lets pass what is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

#define CHARTS RES_HELM_CHARTS
#define PATH "helmchart/shelf/chart-0/game-1.0.0.tgz"
#define CHART(status) "{'metadata':{'name':'chart-0','namespace':'shelf'},'status':{" status "}}"
#define KEPT "'artifact':{'path':'" PATH "','size':7}"

static void what_a_status_names_is_on_the_disk(void **state)
{
        struct watch w;

        open_watch(&w, &rule_chart_kept);
        put(&w, "player", "hub", CHARTS, CHART(""));
        w.artifact = (struct watched_artifact){ "hub-agent", PATH, 7 };
        put(&w, "hub-agent", "hub", CHARTS, CHART(KEPT));
        FINE(&w);
        assert_true(w.judged > 0);
        w.artifact.size = 8;
        put(&w, "hub-agent", "hub", CHARTS, CHART("'artifact':{'path':'" PATH "','size':9}"));
        BROKEN(&w, "says another size");
        close_watch(&w);
}

static void what_is_not_kept_is_not_named(void **state)
{
        struct watch w;

        open_watch(&w, &rule_chart_kept);
        w.artifact = (struct watched_artifact){ "hub-agent-2", PATH, 7 }; /* another's disk */
        put(&w, "hub-agent", "hub", CHARTS, CHART(KEPT));
        BROKEN(&w, "hub-agent says that " PATH " is kept, and it is not");
        close_watch(&w);
}

static void what_is_there_is_not_given_up(void **state)
{
        struct watch w;

        open_watch(&w, &rule_chart_kept);
        w.artifact = (struct watched_artifact){ "hub-agent", PATH, 7 };
        put(&w, "hub-agent", "hub", CHARTS, CHART(KEPT));
        w.artifact.path = "";
        w.wish.shelf.taken_ms[0][0] = w.now;
        put(&w, "hub-agent", "hub", CHARTS, CHART(""));
        FINE(&w);
        w.artifact.path = PATH;
        put(&w, "hub-agent", "hub", CHARTS, CHART(KEPT));
        put(&w, "hub-agent", "hub", CHARTS, CHART("'observedGeneration':2"));
        BROKEN(&w, "gives up " PATH);
        close_watch(&w);
}

static void what_nobody_took_does_not_go(void **state)
{
        struct watch w;

        open_watch(&w, &rule_chart_kept);
        w.artifact = (struct watched_artifact){ "hub-agent", PATH, 7 };
        put(&w, "hub-agent", "hub", CHARTS, CHART(KEPT));
        w.artifact.path = "";
        put(&w, "hub-agent-2", "hub", CHARTS, CHART("")); /* who never had it */
        FINE(&w);
        w.artifact.path = PATH;
        put(&w, "hub-agent", "hub", CHARTS, CHART(KEPT));
        w.artifact.path = "";
        w.wish.shelf.taken_ms[0][0] = w.now;
        put(&w, "hub-agent", "hub", CHARTS, CHART(""));
        FINE(&w);
        w.artifact.path = PATH;
        w.now += 2 * RULE_LAG_MS;
        put(&w, "hub-agent", "hub", CHARTS, CHART(KEPT));
        w.artifact.path = "";
        put(&w, "hub-agent", "hub", CHARTS, CHART(""));
        BROKEN(&w, "hub-agent lost " PATH ", which nobody took");
        close_watch(&w);
}

#define READY "'conditions':[{'type':'Ready','status':'True'}],"
#define ON_ITS_WAY "'conditions':[{'type':'Reconciling','status':'True'},{'type':'Ready','status':'True'}],"

static void nothing_is_ready_without_an_artifact(void **state)
{
        struct watch w;

        open_watch(&w, &rule_chart_ready);
        w.artifact = (struct watched_artifact){ "hub-agent", PATH, 7 };
        put(&w, "hub-agent", "hub", CHARTS, CHART(READY KEPT));
        FINE(&w);
        assert_true(w.judged > 0);
        put(&w, "hub-agent", "hub", CHARTS, CHART(ON_ITS_WAY "'observedGeneration':2"));
        BROKEN(&w, "hub-agent says Ready of " CHARTS " chart-0, which has no artifact");
        close_watch(&w);
}

static void nothing_is_ready_whose_file_is_gone_for_long(void **state)
{
        struct watch w;

        open_watch(&w, &rule_chart_ready);
        w.wish.shelf.taken_ms[0][0] = w.now;
        put(&w, "hub-agent", "hub", CHARTS, CHART(READY KEPT)); /* it went in this moment */
        FINE(&w);
        w.now += RULE_LAG_MS + 1;
        put(&w, "hub-agent", "hub", CHARTS, CHART(ON_ITS_WAY KEPT)); /* before it is looked for */
        FINE(&w);
        put(&w, "hub-agent", "hub", CHARTS, CHART(READY KEPT ",'observedGeneration':2"));
        BROKEN(&w, "hub-agent says Ready of " CHARTS " chart-0, and has no " PATH);
        close_watch(&w);
}

#define LEASE                                                                                                \
        "{'metadata':{'name':'" LEASE_HUB_AGENT "','namespace':'" NAMESPACE_FLEET_SYSTEM                     \
        "'},'spec':{'holderIdentity':'hub-agent'}}"

#define SELDOM                                                                                               \
        "{'metadata':{'name':'chart-0','namespace':'shelf'},'spec':{'interval':'1h'},'status':{" READY KEPT  \
        "}}"

static void what_is_of_no_use_is_gone_at_rest(void **state)
{
        struct watch w;

        open_watch(&w, &rule_chart_tidy);
        put(&w, "hub-agent", "hub", RES_LEASES, LEASE);
        w.artifact = (struct watched_artifact){ "hub-agent", PATH, 7 };
        put(&w, "hub-agent", "hub", CHARTS, CHART(READY KEPT));
        w.rule->at_rest(&w, w.state);
        FINE(&w);
        assert_true(w.judged > 0);
        w.artifact.path = "helmchart/shelf/chart-0/latest.tar.gz";
        w.rule->at_rest(&w, w.state);
        FINE(&w);
        w.artifact.path = "helmchart/shelf/chart-0/game-0.9.0.tgz";
        put(&w, "player", "hub", CHARTS, SELDOM); /* what is looked at once an hour may have it for so long */
        w.rule->at_rest(&w, w.state);
        FINE(&w);
        put(&w, "hub-agent", "hub", CHARTS, CHART(READY KEPT));
        w.rule->at_rest(&w, w.state);
        BROKEN(&w, "hub-agent keeps game-0.9.0.tgz of helmchart chart-0");
        close_watch(&w);
}

static void folders_go_with_their_objects(void **state)
{
        struct watch w;

        open_watch(&w, &rule_chart_tidy);
        put(&w, "hub-agent", "hub", RES_LEASES, LEASE);
        w.artifact = (struct watched_artifact){ "hub-agent-2", PATH, 7 }; /* who does not lead */
        w.rule->at_rest(&w, w.state);
        FINE(&w);
        w.artifact.agent = "hub-agent";
        w.rule->at_rest(&w, w.state);
        BROKEN(&w, "keeps a folder of helmchart chart-0, which is gone");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_a_status_names_is_on_the_disk),
                cmocka_unit_test(what_is_not_kept_is_not_named),
                cmocka_unit_test(what_is_there_is_not_given_up),
                cmocka_unit_test(what_nobody_took_does_not_go),
                cmocka_unit_test(nothing_is_ready_without_an_artifact),
                cmocka_unit_test(nothing_is_ready_whose_file_is_gone_for_long),
                cmocka_unit_test(what_is_of_no_use_is_gone_at_rest),
                cmocka_unit_test(folders_go_with_their_objects),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
