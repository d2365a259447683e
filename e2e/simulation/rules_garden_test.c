/* That the rules about the garden's agent can fail, and let pass what is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

#define MAPS "/configmaps"
#define SPACES "/namespaces"
#define AGENT WISH_GARDENER
#define PLOT(more) "{'metadata':{'name':'plot-0','namespace':'bed-0'," more "},'data':{'color':'c1'}}"
#define BED(more) "{'metadata':{'name':'bed-0'" more "}}"
#define LEFT "'annotations':{'fluxcd.io/ignore':'true'}"
#define LEAVING ",'deletionTimestamp':'2026-01-01T00:00:00Z'"

/* bed-0 has plot-0, for long. */
static void open_garden(struct watch *w, const struct rule *rule)
{
        open_watch(w, rule);
        w->wish.garden.there = true;
        w->wish.garden.beds[0].plots[0].color = 1;
        wish_garden_note(&w->wish.garden, w->now);
        put(w, AGENT, "hub", SPACES, BED(""));
        put(w, AGENT, "hub", MAPS, PLOT("'labels':{}"));
        w->now += 1000000;
}

static void what_the_branch_has_is_not_deleted(void **state)
{
        struct watch w;

        open_garden(&w, &rule_garden_kept);
        take(&w, "player", "hub", MAPS, "bed-0", "plot-0");
        FINE(&w);
        put(&w, AGENT, "hub", MAPS, PLOT("'labels':{}"));
        take(&w, AGENT, "hub", MAPS, "bed-0", "plot-0");
        BROKEN(&w, "deletes /configmaps bed-0/plot-0, which has to stay");
        assert_true(w.judged > 0);
        close_watch(&w);
}

static void what_the_branch_lacked_not_long_ago_may_go(void **state)
{
        struct watch w;

        open_garden(&w, &rule_garden_kept);
        w.wish.garden.beds[0].plots[0].color = 0;
        wish_garden_note(&w.wish.garden, w.now);
        w.wish.garden.beds[0].plots[0].color = 2;
        wish_garden_note(&w.wish.garden, w.now);
        w.now += 20000;
        take(&w, AGENT, "hub", MAPS, "bed-0", "plot-0");
        FINE(&w);
        put(&w, AGENT, "hub", MAPS, PLOT("'labels':{}"));
        w.now += 200000;
        take(&w, AGENT, "hub", MAPS, "bed-0", "plot-0");
        BROKEN(&w, "which has to stay");
        close_watch(&w);
}

static void what_an_empty_bed_had_stays_until_somebody_confirms(void **state)
{
        struct watch w;

        open_garden(&w, &rule_garden_kept);
        w.wish.garden.beds[0].cleared = true;
        wish_garden_note(&w.wish.garden, w.now);
        take(&w, AGENT, "hub", MAPS, "bed-0", "plot-0");
        BROKEN(&w, "which has to stay");
        *w.broken = '\0';
        put(&w, AGENT, "hub", MAPS, PLOT("'labels':{}"));
        w.wish.garden.confirmed[0] = true;
        wish_garden_note(&w.wish.garden, w.now);
        take(&w, AGENT, "hub", MAPS, "bed-0", "plot-0");
        FINE(&w);
        close_watch(&w);
}

static void what_is_to_be_left_alone_is_not_deleted(void **state)
{
        struct watch w;

        open_garden(&w, &rule_garden_kept);
        put(&w, "player", "hub", MAPS, PLOT(LEFT));
        w.wish.garden.beds[0].plots[0].color = 0;
        wish_garden_note(&w.wish.garden, w.now);
        w.now += 60000;
        take(&w, AGENT, "hub", MAPS, "bed-0", "plot-0");
        BROKEN(&w, "which says that it is to stay");
        close_watch(&w);
}

static void nothing_is_written_that_is_not_the_agents(void **state)
{
        struct watch w;

        open_garden(&w, &rule_garden_foreign);
        put(&w, AGENT, "hub", MAPS,
            "{'metadata':{'name':'manifest-generation-status','namespace':'fleet-system'}}");
        put(&w, "player", "hub", MAPS, "{'metadata':{'name':'own-0','namespace':'bed-0'}}");
        FINE(&w);
        put(&w, AGENT, "hub", MAPS, "{'metadata':{'name':'own-0','namespace':'bed-0'},'data':{}}");
        BROKEN(&w, "writes /configmaps bed-0/own-0 on hub");
        close_watch(&w);
}

static void requests_are_answered_in_annotations_only(void **state)
{
        struct watch w;

        open_garden(&w, &rule_garden_foreign);
        put(&w, "player", "hub", MAPS,
            "{'metadata':{'name':'request-0','namespace':'fleet-system'},'data':{'type':'sync'}}");
        put(&w, AGENT, "hub", MAPS,
            "{'metadata':{'name':'request-0','namespace':'fleet-system','annotations':{'a':'b'}},'data':{'"
            "type':'sync'}}");
        FINE(&w);
        put(&w, AGENT, "hub", MAPS, "{'metadata':{'name':'request-0','namespace':'fleet-system'},'data':{}}");
        BROKEN(&w, "writes /configmaps fleet-system/request-0");
        close_watch(&w);
}

#define REQUEST(status)                                                                                      \
        "{'metadata':{'name':'request-0','namespace':'fleet-system','annotations':"                          \
        "{'fluxcd.io/request-status':'" status "'}}}"

static void a_request_has_one_answer(void **state)
{
        struct watch w;

        open_garden(&w, &rule_garden_answered);
        put(&w, AGENT, "hub", MAPS, REQUEST("queued"));
        put(&w, AGENT, "hub", MAPS, REQUEST("running"));
        put(&w, AGENT, "hub", MAPS, REQUEST("succeeded"));
        put(&w, AGENT, "hub", MAPS, REQUEST("succeeded"));
        FINE(&w);
        put(&w, AGENT, "hub", MAPS, REQUEST("queued"));
        BROKEN(&w, "says that request-0 is queued, which was succeeded");
        close_watch(&w);
}

static void placements_go_before_namespaces(void **state)
{
        struct watch w;

        open_garden(&w, &rule_garden_order);
        put(&w, AGENT, "hub", RES_PLACEMENTS, BED(""));
        put(&w, AGENT, "hub", RES_PLACEMENTS, BED(LEAVING));
        put(&w, AGENT, "hub", SPACES, BED(LEAVING));
        FINE(&w);
        put(&w, AGENT, "hub", SPACES, BED(""));
        put(&w, AGENT, "hub", RES_PLACEMENTS, BED(""));
        put(&w, AGENT, "hub", SPACES, BED(LEAVING));
        BROKEN(&w, "deletes namespace bed-0, and its placement stands");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_the_branch_has_is_not_deleted),
                cmocka_unit_test(what_the_branch_lacked_not_long_ago_may_go),
                cmocka_unit_test(what_an_empty_bed_had_stays_until_somebody_confirms),
                cmocka_unit_test(what_is_to_be_left_alone_is_not_deleted),
                cmocka_unit_test(nothing_is_written_that_is_not_the_agents),
                cmocka_unit_test(requests_are_answered_in_annotations_only),
                cmocka_unit_test(a_request_has_one_answer),
                cmocka_unit_test(placements_go_before_namespaces),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
