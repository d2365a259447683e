/* Rules of rollouts, at a store that the test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

static void put_work(struct watch *w, const char *who, unsigned member, unsigned generation,
                     bool is_available)
{
        AUTO_FREE char *text = mem_printf(
                "{'kind':'Work','metadata':{'name':'app-0-work','namespace':'fleet-member-member-%u'," OF_APP
                "},'generation':%u},'spec':{'workload':{'manifests':[%u]}},'status':{'conditions':[{'type':"
                "'Available','status':'%s','observedGeneration':%u}]}}",
                member, generation, generation, is_available ? "True" : "False", generation);

        put(w, who, "hub", RES_WORKS, text);
}

/* What the rollout changes is not available until the member says so. */
static void roll_out(struct watch *w, unsigned member)
{
        AUTO_FREE char *text = mem_printf(
                "{'kind':'Work','metadata':{'name':'app-0-work','namespace':'fleet-member-member-%u'," OF_APP
                "},'generation':2},'spec':{'workload':{'manifests':[2]}},'status':{'conditions':[{'type':"
                "'Available','status':'True','observedGeneration':1}]}}",
                member);

        put(w, "hub-agent", "hub", RES_WORKS, text);
}

static void place_four(struct watch *w)
{
        open_watch(w, &rule_budget);
        w->wish.apps[0].placements[PLACE_MAIN].policy = (struct wish_policy){ .type = POLICY_PICK_ALL };
        put(w, "hub-agent", "hub", RES_BINDINGS, BINDING("b1", "member-1", "p", "Bound"));
        put(w, "hub-agent", "hub", RES_BINDINGS, BINDING("b2", "member-2", "p", "Bound"));
        put(w, "hub-agent", "hub", RES_BINDINGS, BINDING("b3", "member-3", "p", "Bound"));
        put(w, "hub-agent", "hub", RES_BINDINGS, BINDING("b4", "member-4", "p", "Bound"));
        for (unsigned i = 1; i <= 4; i++)
                put_work(w, "hub-agent", i, 1, true);
        w->now += 2 * RULE_LAG_MS;
}

static void a_rollout_takes_no_more_clusters_than_it_may(void **state)
{
        struct watch w;

        place_four(&w);
        roll_out(&w, 1);
        put_work(&w, "member-1", 1, 2, true);
        roll_out(&w, 2);
        FINE(&w);
        assert_true(w.judged > 0);
        roll_out(&w, 3);
        BROKEN(&w, "placement app-0: a rollout took 2 clusters at once, 1 allowed, 2 available of 4");
        close_watch(&w);
}

static void put_part(struct watch *w, unsigned member, const char *name, unsigned snapshot)
{
        AUTO_FREE char *text = mem_printf(
                "{'kind':'Work','metadata':{'name':'%s','namespace':'fleet-member-member-%u','labels':{"
                "'kubernetes-fleet.io/parent-CRP':'app-0',"
                "'kubernetes-fleet.io/"
                "parent-resource-snapshot-index':'%u'},'generation':1},'spec':{'workload':"
                "{'manifests':[1]}},'status':{'conditions':[{'type':'Available','status':'True',"
                "'observedGeneration':%d}]}}",
                name, member, snapshot, text_equal(name, "app-0-work") ? 1 : 0);

        put(w, "hub-agent", "hub", RES_WORKS, text);
}

/* A hub agent that ended in the middle of a rollout makes the other Works when it is back. */
static void what_completes_a_rollout_takes_nothing_away(void **state)
{
        struct watch w;

        place_four(&w);
        for (unsigned i = 1; i <= 4; i++)
                put_part(&w, i, "app-0-work", 0);
        w.now += 2 * RULE_LAG_MS;
        put_part(&w, 1, "app-0-more", 0);
        put_part(&w, 2, "app-0-more", 0);
        FINE(&w);
        put_part(&w, 3, "app-0-more", 1);
        put_part(&w, 4, "app-0-more", 1);
        BROKEN(&w, "placement app-0: a rollout took 2 clusters at once, 1 allowed, 0 available of 4");
        close_watch(&w);
}

/* What was let go while a cluster more was wanted is not called back when that one leaves, as by an eviction,
 * and what was decided then may be written a moment later. */
static void a_rollout_may_take_as_many_as_when_it_was_decided(void **state)
{
        struct watch w;

        place_four(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b5", "member-5", "p", "Bound"));
        put_work(&w, "hub-agent", 5, 1, true);
        w.now += 2 * RULE_LAG_MS;
        roll_out(&w, 1);
        take(&w, "hub-agent", "hub", RES_BINDINGS, "", "b5");
        take(&w, "member-5", "hub", RES_WORKS, "fleet-member-member-5", "app-0-work");
        roll_out(&w, 2);
        FINE(&w);
        put_work(&w, "member-1", 1, 2, true);
        put_work(&w, "member-2", 2, 2, true);
        w.now += 2 * RULE_LAG_MS;
        put_work(&w, "member-2", 2, 2, true);
        roll_out(&w, 3);
        FINE(&w);
        roll_out(&w, 4);
        BROKEN(&w, "placement app-0: a rollout took 2 clusters at once, 1 allowed, 2 available of 4");
        close_watch(&w);
}

static void a_list_of_clusters_is_what_a_rollout_is_measured_by(void **state)
{
        static const struct {
                uint32_t fixed;
                const char *words;
        } cases[] = {
                { 1 << 1, "" }, /* the others are to leave yet */
                { 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, "a rollout took 2 clusters at once, 1 allowed" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;

                place_four(&w);
                w.wish.apps[0].placements[PLACE_MAIN].policy =
                        (struct wish_policy){ .type = POLICY_PICK_FIXED, .fixed = cases[i].fixed };
                roll_out(&w, 1);
                roll_out(&w, 2);
                BROKEN(&w, cases[i].words);
                if (!*cases[i].words)
                        FINE(&w);
                close_watch(&w);
        }
}

static void what_failed_by_itself_is_updated_without_a_budget(void **state)
{
        struct watch w;

        place_four(&w);
        put_work(&w, "member-2", 2, 1, false);
        put_work(&w, "member-3", 3, 1, false);
        roll_out(&w, 2);
        roll_out(&w, 3);
        FINE(&w);
        close_watch(&w);
}

#define PART(more, available)                                                                                \
        "{'kind':'Work','metadata':{'name':'app-0-work-envelope','namespace':'fleet-member-member-2'," more  \
        "'generation':1," OF_APP "}},'spec':{'workload':{'manifests':[1]}},'status':{'conditions':[{'type':" \
        "'Available','status':'" available "','observedGeneration':1}]}}"

/* No rollout takes anything away when a Work is made again that somebody deleted. */
static void a_work_that_was_deleted_is_made_again_without_a_budget(void **state)
{
        static const struct {
                const char *deleted_by, *words;
        } cases[] = {
                { "player", "" },
                { "hub-agent", "a rollout took 1 clusters at once, 0 allowed" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;

                place_four(&w);
                w.wish.apps[0].placements[PLACE_MAIN].strategy.max_unavailable = 0;
                put(&w, "player", "hub", RES_WORKS, PART("", "True"));
                put(&w, cases[i].deleted_by, "hub", RES_WORKS, PART("'deletionTimestamp':'t',", "True"));
                w.now += 2 * RULE_LAG_MS;
                take(&w, "member-2", "hub", RES_WORKS, "fleet-member-member-2", "app-0-work-envelope");
                put(&w, "hub-agent", "hub", RES_WORKS, PART("", "False"));
                BROKEN(&w, cases[i].words);
                if (!*cases[i].words)
                        FINE(&w);
                close_watch(&w);
        }
}

#define TOLD_WORK(generation)                                                                                \
        "{'kind':'Work','metadata':{'name':'w','namespace':'fleet-member-member-1','generation':" generation \
        "," OF_APP ",'kubernetes-fleet.io/parent-resource-binding':'b'}},'status':{'conditions':[{'type':"   \
        "'Applied','status':'True','observedGeneration':1}]}}"
#define BINDING_THAT_IS(type, observed)                                                                      \
        "{'metadata':{'name':'b','generation':2," OF_APP                                                     \
        "}},'spec':{'targetCluster':'member-1'},'status':{'conditions':[{'type':'" type                      \
        "','status':'True','observedGeneration':" observed "}]}}"
#define TOLD_BINDING(observed) BINDING_THAT_IS("Applied", observed)
#define IS_AVAILABLE(observed) BINDING_THAT_IS("Available", observed)

static void a_binding_tells_only_what_its_works_told_of_their_newest_generation(void **state)
{
        struct watch w;

        open_watch(&w, &rule_fresh_news);
        put(&w, "hub-agent", "hub", RES_WORKS, TOLD_WORK("1"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, TOLD_BINDING("1"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, TOLD_BINDING("2"));
        FINE(&w);
        assert_int_equal(w.judged, 1);
        put(&w, "hub-agent", "hub", RES_BINDINGS, TOLD_BINDING("1"));
        put(&w, "hub-agent", "hub", RES_WORKS, TOLD_WORK("2"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, TOLD_BINDING("2"));
        BROKEN(&w, "binding b of placement app-0 is Applied, its Work w has yet to say so");
        close_watch(&w);
}

static void what_a_work_took_back_meanwhile_is_not_old(void **state)
{
        struct watch w;

        open_watch(&w, &rule_fresh_news);
        put(&w, "hub-agent", "hub", RES_BINDINGS, IS_AVAILABLE("1"));
        put(&w, "hub-agent", "hub", RES_WORKS, TOLD_WORK("1"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, IS_AVAILABLE("2"));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, IS_AVAILABLE("1"));
        put(&w, "hub-agent", "hub", RES_WORKS, TOLD_WORK("2"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, IS_AVAILABLE("2"));
        BROKEN(&w, "binding b of placement app-0 is Available, its Work w has yet to say so");
        close_watch(&w);
}

#define HOLDING(hash)                                                                                        \
        "{'metadata':{'name':'s'," OF_APP "},'annotations':{'kubernetes-fleet.io/resource-hash':'" hash "'}" \
        "}}"

static void a_snapshot_that_is_named_does_not_come_back_with_another_content(void **state)
{
        struct watch w;

        open_watch(&w, &rule_index_once);
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, HOLDING("one"));
        take(&w, "player", "hub", RES_SNAPSHOTS, "", "s");
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, HOLDING("two"));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS,
            "{'metadata':{'name':'b'," OF_APP "}},'spec':{'resourceSnapshotName':'s'}}");
        take(&w, "player", "hub", RES_SNAPSHOTS, "", "s");
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, HOLDING("two"));
        FINE(&w);
        take(&w, "player", "hub", RES_SNAPSHOTS, "", "s");
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, HOLDING("three"));
        BROKEN(&w, "clusterresourcesnapshots s holds another content");
        close_watch(&w);
}

#define EXTERNAL(observed)                                                                                   \
        "{'metadata':{'name':'app-0','generation':2},'spec':{'strategy':{'type':'External'}},'status':{"     \
        "'conditions':[{'type':'ClusterResourcePlacementScheduled','observedGeneration':" observed "}]}}"
#define ON_SNAPSHOT(snapshot)                                                                                \
        "{'metadata':{'name':'b'," OF_APP "}},'spec':{'resourceSnapshotName':'" snapshot "'}}"

static void what_others_roll_out_is_left_alone_once_that_is_known(void **state)
{
        struct watch w;

        open_watch(&w, &rule_external);
        put(&w, "hub-agent", "hub", RES_BINDINGS, ON_SNAPSHOT("one"));
        put(&w, "player", "hub", RES_PLACEMENTS, EXTERNAL("1"));
        w.now += RULE_LAG_MS;
        put(&w, "hub-agent", "hub", RES_BINDINGS, ON_SNAPSHOT("two"));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_PLACEMENTS, EXTERNAL("2"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, ON_SNAPSHOT("three"));
        w.now += RULE_LAG_MS;
        put(&w, "player", "hub", RES_BINDINGS, ON_SNAPSHOT("four"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, ON_SNAPSHOT("four"));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, ON_SNAPSHOT("five"));
        BROKEN(&w, "placement app-0 is External, and hub-agent wrote " RES_BINDINGS " b");
        close_watch(&w);
}

#define TARGET(name, snapshot, generation)                                                                   \
        "{'metadata':{'name':'" name "','generation':" generation "," OF_APP                                 \
        "}},'spec':{'resourceSnapshotName':'" snapshot                                                       \
        "'},'status':{'conditions':[{'type':'Available','status':'True','observedGeneration':1}]}}"

#define PLACES(policy, may)                                                                                  \
        "{'metadata':{'name':'app-0'},'spec':{'policy':{" policy                                             \
        "},'strategy':{'rollingUpdate':{'maxUnavailable':'" may "'}}}}"
#define PLACES_ALL PLACES("'placementType':'PickAll'", "25%")

static void place_three(struct watch *w)
{
        open_watch(w, &rule_picks);
        put(w, "player", "hub", RES_PLACEMENTS, PLACES_ALL);
        put(w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "one", "1"));
        put(w, "hub-agent", "hub", RES_BINDINGS, TARGET("b", "one", "1"));
        put(w, "hub-agent", "hub", RES_BINDINGS, TARGET("c", "one", "1"));
        w->now += 70000;
}

static void a_ready_binding_is_taken_away_only_while_enough_others_are(void **state)
{
        struct watch w;

        place_three(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "two", "2"));
        FINE(&w);
        assert_int_equal(w.judged, 1);
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "two", "1")); /* it is ready again */
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("b", "one", "2")); /* by no pick */
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("c", "two", "2"));
        FINE(&w);
        w.now += 70000;
        put(&w, "player", "hub", RES_PLACEMENTS,
            PLACES("'placementType':'PickFixed','clusterNames':['member-1']", "25%"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "three", "2"));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "three", "1"));
        put(&w, "player", "hub", RES_PLACEMENTS, PLACES_ALL);
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "four", "2"));
        FINE(&w); /* it was decided while one was asked for */
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "four", "1"));
        w.now += 70000;
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "five", "2"));
        BROKEN(&w, "placement app-0: a was taken to another content, 0 of 3 are ready");
        close_watch(&w);
}

/* Who decided before one of them went had one more to count on. */
static void a_ready_binding_may_be_taken_away_while_another_goes(void **state)
{
        struct watch w;

        place_three(&w);
        put(&w, "player", "hub", RES_BINDINGS, TARGET("b", "one", "2"));
        take(&w, "hub-agent", "hub", RES_BINDINGS, "", "c");
        w.now += 30000;
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "two", "2"));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "two", "1"));
        w.now += 70000;
        put(&w, "hub-agent", "hub", RES_BINDINGS, TARGET("a", "three", "2"));
        BROKEN(&w, "placement app-0: a was taken to another content, 0 of 2 are ready");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_rollout_takes_no_more_clusters_than_it_may),
                cmocka_unit_test(a_rollout_may_take_as_many_as_when_it_was_decided),
                cmocka_unit_test(what_completes_a_rollout_takes_nothing_away),
                cmocka_unit_test(a_list_of_clusters_is_what_a_rollout_is_measured_by),
                cmocka_unit_test(what_failed_by_itself_is_updated_without_a_budget),
                cmocka_unit_test(a_work_that_was_deleted_is_made_again_without_a_budget),
                cmocka_unit_test(a_snapshot_that_is_named_does_not_come_back_with_another_content),
                cmocka_unit_test(what_others_roll_out_is_left_alone_once_that_is_known),
                cmocka_unit_test(a_ready_binding_is_taken_away_only_while_enough_others_are),
                cmocka_unit_test(a_ready_binding_may_be_taken_away_while_another_goes),
                cmocka_unit_test(a_binding_tells_only_what_its_works_told_of_their_newest_generation),
                cmocka_unit_test(what_a_work_took_back_meanwhile_is_not_old),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
