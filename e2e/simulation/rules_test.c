/* Each rule, at a store that the test makes up: what it lets pass, and that it can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

/* ---- the hub ---- */

#define LEASE(holder)                                                                                        \
        "{'metadata':{'name':'" LEASE_HUB_AGENT                                                              \
        "','namespace':'fleet-system'},'spec':{'holderIdentity':'" holder "','leaseDurationSeconds':15}}"

static void only_the_leader_writes(void **state)
{
        struct watch w;

        open_watch(&w, &rule_one_leader);
        put(&w, "hub-agent", "hub", RES_LEASES, LEASE("hub-agent"));
        put(&w, "hub-agent", "hub", RES_WORKS, "{'metadata':{'name':'w'}}");
        put(&w, "player", "hub", RES_WORKS, "{'metadata':{'name':'v'}}");
        FINE(&w);
        assert_int_equal(w.judged, 1);
        put(&w, "hub-agent-2", "hub", RES_WORKS, "{'metadata':{'name':'w'}}");
        BROKEN(&w, "hub-agent-2 wrote placement.kubernetes-fleet.io/works /w while hub-agent leads");
        close_watch(&w);
}

static void only_the_leader_sends_and_not_after_its_lease(void **state)
{
        struct watch w;

        open_watch(&w, &rule_one_leader);
        put(&w, "hub-agent", "hub", RES_LEASES, LEASE("hub-agent"));
        w.now += 15000;
        post(&w, "hub-agent", RES_WORKS, "{'metadata':{'name':'w'}}");
        w.now += 1;
        post(&w, "hub-agent-2", "/events", "{'metadata':{'name':'e'}}");
        post(&w, "member-1", RES_WORKS, "{'metadata':{'name':'w'}}");
        FINE(&w);
        post(&w, "hub-agent", RES_WORKS, "{'metadata':{'name':'w'}}");
        BROKEN(&w, "hub-agent sent " RES_WORKS " / when its lease was over");
        put(&w, "hub-agent-2", "hub", RES_LEASES, LEASE("hub-agent-2"));
        put(&w, "hub-agent-2", "hub", RES_LEASES, LEASE("hub-agent"));
        w.now++;
        post(&w, "hub-agent-2", RES_WORKS, "{'metadata':{'name':'v'}}");
        BROKEN(&w, "hub-agent-2 sent " RES_WORKS " / when its lease was another's or nobody's");
        close_watch(&w);
}

#define WORK(name, member, binding)                                                                          \
        "{'kind':'Work','metadata':{'name':'" name "','namespace':'fleet-member-" member "'," OF_APP         \
        ",'kubernetes-fleet.io/parent-resource-binding':'" binding "'}}}"

static void a_binding_goes_after_its_works(void **state)
{
        struct watch w;

        open_watch(&w, &rule_binding_after_works);
        put(&w, "player", "hub", RES_MEMBERS, "{'metadata':{'name':'member-1'}}");
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b0", "member-2", "app-0-0", "Bound"));
        put(&w, "hub-agent", "hub", RES_WORKS, WORK("app-0-work", "member-2", "b0"));
        take(&w, "hub-agent", "hub", RES_BINDINGS, "", "b0"); /* its cluster has left */
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b1", "member-1", "app-0-0", "Bound"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b2", "member-1", "app-0-0", "Bound"));
        put(&w, "hub-agent", "hub", RES_WORKS, WORK("app-0-work", "member-1", "b1"));
        take(&w, "hub-agent", "hub", RES_BINDINGS, "", "b2");
        FINE(&w);
        take(&w, "hub-agent", "hub", RES_BINDINGS, "", "b1");
        BROKEN(&w, "binding b1 of placement app-0 is gone, its Work fleet-member-member-1/app-0-work lives");
        close_watch(&w);
}

#define SNAPSHOT(name, index, latest)                                                                        \
        "{'metadata':{'name':'" name "'," OF_APP ",'kubernetes-fleet.io/resource-index':'" index             \
        "','kubernetes-fleet.io/is-latest-snapshot':'" latest "'}}}"

static void one_group_of_snapshots_is_the_latest(void **state)
{
        struct watch w;

        open_watch(&w, &rule_latest_snapshot);
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-0-snapshot", "0", "true"));
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-0-0", "0", "true"));
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-1-snapshot", "1", "false"));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-1-snapshot", "1", "true"));
        BROKEN(&w, "placement app-0 has 2 latest clusterresourcesnapshots");
        close_watch(&w);
}

/* A message that was sent twice makes it a second time. */
static void a_snapshot_that_comes_back_behind_a_newer_one_is_no_second_latest(void **state)
{
        struct watch w;

        open_watch(&w, &rule_latest_snapshot);
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-0-snapshot", "0", "true"));
        take(&w, "player", "hub", RES_SNAPSHOTS, "", "app-0-0-snapshot");
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-1-snapshot", "1", "true"));
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-0-snapshot", "0", "true"));
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-1-1", "1", "true"));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-2-snapshot", "2", "true"));
        BROKEN(&w, "placement app-0 has 2 latest clusterresourcesnapshots");
        close_watch(&w);
}

static void a_newer_snapshot_that_was_on_its_way_when_one_came_back_is_the_only_latest(void **state)
{
        for (int64_t asked = 3; asked <= 6; asked += 3) {
                struct watch w;

                open_watch(&w, &rule_latest_snapshot);
                put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-0-snapshot", "0", "true"));
                take(&w, "player", "hub", RES_SNAPSHOTS, "", "app-0-0-snapshot");
                w.now = 5;
                put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-0-snapshot", "0", "true"));
                w.now = 8;
                w.asked_ms = asked;
                put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-1-snapshot", "1", "true"));
                if (asked < 5)
                        FINE(&w);
                else
                        BROKEN(&w, "placement app-0 has 2 latest clusterresourcesnapshots");
                close_watch(&w);
        }
}

static void a_snapshot_that_comes_back_in_front_is_a_second_latest(void **state)
{
        struct watch w;

        open_watch(&w, &rule_latest_snapshot);
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-2-snapshot", "2", "true"));
        take(&w, "player", "hub", RES_SNAPSHOTS, "", "app-0-2-snapshot");
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-1-snapshot", "1", "true"));
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-2-snapshot", "2", "true"));
        BROKEN(&w, "placement app-0 has 2 latest clusterresourcesnapshots");
        close_watch(&w);
}

/* ---- members ---- */

#define OWNER(name) "{'kind':'AppliedWork','name':'" name "','uid':'uid-" name "'}"
#define APPLIED_WORK(name, more)                                                                             \
        "{'kind':'AppliedWork','metadata':{'name':'" name "','uid':'uid-" name "'" more "}}"
#define GOING ",'deletionTimestamp':'2026-01-01T00:00:00Z'"
#define CONFIG_MAP(owners)                                                                                   \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'app-0','ownerReferences'" \
        ":[" owners "]}}"
#define HUB_WORK(strategy)                                                                                   \
        "{'kind':'Work','metadata':{'name':'w','namespace':'fleet-member-member-1','generation':1," OF_APP   \
        "}},'spec':{'applyStrategy':{" strategy "},'workload':{'manifests':[{'apiVersion':'v1','kind':"      \
        "'ConfigMap','metadata':{'name':'c','namespace':'app-0'}}]}},'status':{'conditions':[{'type':"       \
        "'Applied','status':'True','observedGeneration':1}]}}"

/* That its member has not seen. */
#define NEW_HUB_WORK(name, manifests)                                                                        \
        "{'kind':'Work','metadata':{'name':'" name                                                           \
        "','namespace':'fleet-member-member-1','generation':1," OF_APP                                       \
        "}},'spec':{'workload':{'manifests':[" manifests "]}}}"
#define MAP "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'app-0'}}"

static void a_work_goes_after_its_objects(void **state)
{
        struct watch w;

        open_watch(&w, &rule_work_after_objects);
        put(&w, "hub-agent", "hub", RES_WORKS, HUB_WORK(""));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w")));
        take(&w, "member-1", "hub", RES_WORKS, "fleet-member-member-1", "w"); /* it leaves the fleet */
        put(&w, "player", "hub", RES_MEMBERS, "{'metadata':{'name':'member-1'}}");
        put(&w, "hub-agent", "hub", RES_WORKS, HUB_WORK(""));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w")));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(""));
        take(&w, "member-1", "hub", RES_WORKS, "fleet-member-member-1", "w");
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_WORKS, HUB_WORK(""));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w")));
        take(&w, "member-1", "hub", RES_WORKS, "fleet-member-member-1", "w");
        BROKEN(&w, "Work fleet-member-member-1/w is gone, 1 objects of it are on member-1");
        close_watch(&w);
}

static void place_a_map(struct watch *w)
{
        open_watch(w, &rule_wanted_stays);
        put(w, "member-1", "member-1", "/namespaces", "{'kind':'Namespace','metadata':{'name':'app-0'}}");
        put(w, "hub-agent", "hub", RES_WORKS, HUB_WORK(""));
        put(w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w")));
        FINE(w);
}

static void what_is_wanted_is_not_taken_away(void **state)
{
        struct watch w;

        place_a_map(&w);
        take(&w, "member-1", "member-1", "/configmaps", "app-0", "c");
        BROKEN(&w, "member-1 v1 ConfigMap app-0/c was deleted by member-1 while a Work wants it");
        close_watch(&w);
}

/* It is in the way of nobody when it is asked for; the owner of the object goes only `late_ms` later, when
 * the member has seen the Work of another placement that wants the object. */
static void collect_late(struct watch *w, int64_t late_ms)
{
        open_watch(w, &rule_wanted_stays);
        put(w, "member-1", "member-1", "/namespaces", "{'kind':'Namespace','metadata':{'name':'app-0'}}");
        put(w, "member-1", "member-1", RES_APPLIED_WORKS, APPLIED_WORK("old", ""));
        put(w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("old")));
        w->now += 5000;
        put(w, "hub-agent", "hub", RES_WORKS, HUB_WORK(""));
        w->now += 5000;
        w->asked_ms = w->now - late_ms;
        put(w, "member-1", "member-1", RES_APPLIED_WORKS, APPLIED_WORK("old", GOING));
        w->asked_ms = 0;
        w->now += 1000;
        take(w, "server", "member-1", "/configmaps", "app-0", "c");
}

static void a_deletion_that_came_late_was_decided_when_it_was_asked_for(void **state)
{
        struct watch w;

        collect_late(&w, 9000);
        FINE(&w);
        assert_true(w.judged > 0);
        close_watch(&w);
        collect_late(&w, 1000);
        BROKEN(&w, "member-1 v1 ConfigMap app-0/c was deleted by server while a Work wants it");
        close_watch(&w);
}

static void users_and_works_that_go_may_take_it_away(void **state)
{
        struct watch w;

        place_a_map(&w);
        take(&w, "player", "member-1", "/configmaps", "app-0", "c");
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w")));
        take(&w, "player", "hub", RES_WORKS, "fleet-member-member-1", "w");
        take(&w, "member-1", "member-1", "/configmaps", "app-0", "c");
        FINE(&w);
        close_watch(&w);
}

/* The object is another placement's, which goes, too; its Work is asked to go before the new one is seen. */
static void a_placement_that_comes_back_to_a_cluster_is_known_anew(void **state)
{
        struct watch w;

        place_a_map(&w);
        put(&w, "member-1", "member-1", RES_APPLIED_WORKS, APPLIED_WORK("old", ""));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("old")));
        w.now += 5000;
        take(&w, "member-1", "hub", RES_WORKS, "fleet-member-member-1", "w");
        w.now += 500;
        put(&w, "hub-agent", "hub", RES_WORKS, NEW_HUB_WORK("w", MAP));
        put(&w, "member-1", "member-1", RES_APPLIED_WORKS, APPLIED_WORK("old", GOING));
        take(&w, "server", "member-1", "/configmaps", "app-0", "c");
        FINE(&w);
        close_watch(&w);
}

/* From one Work of a placement to the next. */
static void what_moves_between_works_is_wanted_all_the_time(void **state)
{
        struct watch w;

        place_a_map(&w);
        put(&w, "hub-agent", "hub", RES_WORKS, NEW_HUB_WORK("v", ""));
        w.now += 5000;
        take(&w, "member-1", "hub", RES_WORKS, "fleet-member-member-1", "w");
        w.now += 500;
        put(&w, "hub-agent", "hub", RES_WORKS, NEW_HUB_WORK("v", MAP));
        take(&w, "member-1", "member-1", "/configmaps", "app-0", "c");
        BROKEN(&w, "member-1 v1 ConfigMap app-0/c was deleted by member-1 while a Work wants it");
        close_watch(&w);
}

/* A Work that lets go of an object and takes it up again has not moved it. */
static void what_a_work_dropped_may_go_though_it_comes_back(void **state)
{
        struct watch w;

        place_a_map(&w);
        w.now += 5000;
        put(&w, "hub-agent", "hub", RES_WORKS, NEW_HUB_WORK("w", ""));
        w.now += 500;
        put(&w, "hub-agent", "hub", RES_WORKS, NEW_HUB_WORK("w", MAP));
        take(&w, "member-1", "member-1", "/configmaps", "app-0", "c");
        FINE(&w);
        close_watch(&w);
}

static void several_own_only_what_they_share(void **state)
{
        struct watch w;

        open_watch(&w, &rule_one_owner);
        put(&w, "hub-agent", "hub", RES_WORKS, HUB_WORK("'allowCoOwnership':true"));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w")));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w") "," OWNER("other")));
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_WORKS, HUB_WORK(""));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w")));
        FINE(&w);
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w") "," OWNER("other")));
        BROKEN(&w, "/configmaps on member-1: app-0/c has 2 owners, 1 of them do not share");
        close_watch(&w);
}

static void what_is_not_ours_is_not_written(void **state)
{
        struct watch w;

        open_watch(&w, &rule_not_ours);
        put(&w, "player", "member-1", "/configmaps", CONFIG_MAP(""));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w")));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(""));
        put(&w, "player", "member-1", "/configmaps", CONFIG_MAP(""));
        FINE(&w);
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(""));
        BROKEN(&w, "member-1 wrote /configmaps app-0/c, which is not ours");
        close_watch(&w);
}

static void what_is_not_ours_is_not_taken_by_one_that_never_may(void **state)
{
        struct watch w;

        open_watch(&w, &rule_not_ours);
        put(&w, "hub-agent", "hub", RES_WORKS, HUB_WORK("'whenToTakeOver':'Never'"));
        put(&w, "player", "member-1", "/configmaps", CONFIG_MAP(OWNER("other")));
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w")));
        put(&w, "player", "member-1", "/configmaps", CONFIG_MAP(""));
        FINE(&w);
        put(&w, "member-1", "member-1", "/configmaps", CONFIG_MAP(OWNER("w")));
        BROKEN(&w, "Work w took over /configmaps app-0/c on member-1, which it never may");
        close_watch(&w);
}

/* ---- at rest ---- */

#define PLACEMENT(limit) "{'metadata':{'name':'app-0'},'spec':{'revisionHistoryLimit':" limit "}}"
#define POLICY                                                                                               \
        "{'metadata':{'name':'app-0-0'," OF_APP                                                              \
        ",'kubernetes-fleet.io/policy-index':'0','kubernetes-fleet.io/is-latest-snapshot':'true'}}}"

static void tidy_fleet(struct watch *w)
{
        open_watch(w, &rule_tidy);
        put(w, "player", "hub", RES_PLACEMENTS, PLACEMENT("1"));
        put(w, "hub-agent", "hub", RES_POLICIES, POLICY);
        put(w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-1-snapshot", "1", "true"));
        put(w, "hub-agent", "hub", RES_BINDINGS, BINDING("b1", "member-1", "app-0-0", "Bound"));
        put(w, "hub-agent", "hub", RES_WORKS, WORK("app-0-work", "member-1", "b1"));
        put(w, "member-1", "member-1", RES_APPLIED_WORKS,
            "{'metadata':{'name':'app-0-work'},'spec':{'workName':'app-0-work','workNamespace':"
            "'fleet-member-member-1'}}");
        rest(w);
        FINE(w);
        assert_true(w->judged > 0);
}

static void nothing_stale_is_left(void **state)
{
        static const struct {
                const char *cluster, *resource, *doc, *words;
        } cases[] = {
                { "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-0-snapshot", "0", "false"), "keeps 2" },
                { "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-1-snapshot", "1", "false"), "has 0 latest" },
                { "hub", RES_BINDINGS, BINDING("b2", "member-2", "app-0-0", "Unscheduled"),
                  "b2 stands for no choice" },
                { "hub", RES_BINDINGS,
                  "{'metadata':{'name':'b2','deletionTimestamp':'now'," OF_APP "}},'spec':{}}",
                  "b2 is still being deleted" },
                { "hub", RES_BINDINGS,
                  "{'metadata':{'name':'b2','labels':{'kubernetes-fleet.io/parent-CRP':'gone'}},'spec':{}}",
                  "b2 belongs to no placement" },
                { "hub", RES_WORKS, WORK("stray", "member-1", "none"), "stray belongs to no binding" },
                { "member-2", RES_APPLIED_WORKS,
                  "{'metadata':{'name':'x'},'spec':{'workName':'x','workNamespace':'fleet-member-member-2'}}",
                  "x belongs to no Work" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;

                tidy_fleet(&w);
                put(&w, "hub-agent", cases[i].cluster, cases[i].resource, cases[i].doc);
                rest(&w);
                BROKEN(&w, cases[i].words);
                close_watch(&w);
        }
}

#define BOUND_TO(snapshot)                                                                                   \
        "{'metadata':{'name':'b2'," OF_APP "}},'spec':{'state':'Bound','resourceSnapshotName':'" snapshot    \
        "'}}"

static void a_snapshot_that_a_binding_names_is_kept_beside_the_history(void **state)
{
        struct watch w;

        tidy_fleet(&w);
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT("app-0-0-snapshot", "0", "false"));
        put(&w, "hub-agent", "hub", RES_BINDINGS, BOUND_TO("app-0-0-snapshot"));
        rest(&w);
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, BOUND_TO("app-0-1-snapshot"));
        rest(&w);
        BROKEN(&w, "keeps 2");
        close_watch(&w);
}

static void what_a_member_misses_of_its_works_is_told(void **state)
{
        struct watch w;

        tidy_fleet(&w);
        assert_false(rules_miss_works(&w));
        take(&w, "hub-agent", "hub", RES_WORKS, "fleet-member-member-1", "app-0-work");
        assert_true(rules_miss_works(&w));
        w.wish.members[1].membership = MEMBER_LEAVING;
        assert_false(rules_miss_works(&w));
        close_watch(&w);
}

#define SNAPSHOT_OF(index, api)                                                                              \
        "{'metadata':{'name':'app-1-" index "-snapshot','labels':{'kubernetes-fleet.io/parent-CRP':"         \
        "'app-1','kubernetes-fleet.io/resource-index':'" index                                               \
        "'}},'spec':{'selectedResources':[{'apiVersion':'v1'},{'apiVersion':'" api "'}]}}"

static void a_kind_that_a_placement_still_holds_is_missed_until_it_is_defined(void **state)
{
        struct watch w;

        open_watch(&w, &rule_tidy);
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT_OF("9", "apps/v1"));
        assert_false(rules_miss_kinds(&w));
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT_OF("10", "app-1.play.test/v1"));
        assert_true(rules_miss_kinds(&w));
        put(&w, "player", "hub", RES_DEFINITIONS, "{'metadata':{'name':'widgets.app-1.play.test'}}");
        assert_false(rules_miss_kinds(&w));
        take(&w, "player", "hub", RES_DEFINITIONS, "", "widgets.app-1.play.test");
        assert_true(rules_miss_kinds(&w));
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT_OF("11", "apps/v1"));
        assert_false(rules_miss_kinds(&w));
        close_watch(&w);
}

#define DIFFERENCE(at, field)                                                                                \
        "{'metadata':{'name':'w','resourceVersion':'" at                                                     \
        "'},'status':{'manifestConditions':[{'driftDetails':{'observationTime':'" at "','path':'" field      \
        "'}}]}}"

static void at_rest_nothing_is_written(void **state)
{
        struct watch w;

        open_watch(&w, &rule_quiet);
        put(&w, "member-1", "hub", RES_WORKS, DIFFERENCE("1", "/a"));
        rest(&w);
        put(&w, "player", "hub", "/configmaps", "{'metadata':{'name':'c'}}");
        put(&w, "hub-agent", "hub", RES_LEASES, LEASE("hub-agent"));
        put(&w, "member-1", "hub", RES_WORKS, DIFFERENCE("2", "/a")); /* looked at once more */
        FINE(&w);
        put(&w, "member-1", "hub", RES_WORKS, DIFFERENCE("3", "/b"));
        BROKEN(&w, "member-1 wrote placement.kubernetes-fleet.io/works /w on hub");
        close_watch(&w);
}

#define EVENT(count) "{'metadata':{'name':'e','namespace':'default'},'count':" count "}"

static void that_trouble_lasts_may_be_told_now_and_then(void **state)
{
        struct watch w;

        open_watch(&w, &rule_quiet);
        put(&w, "hub-agent", "hub", "/events", EVENT("1"));
        rest(&w);
        put(&w, "hub-agent", "hub", "/events", EVENT("2"));
        w.now += 60000;
        put(&w, "hub-agent", "hub", "/events", EVENT("3"));
        FINE(&w);
        w.now += 5000;
        put(&w, "hub-agent", "hub", "/events", EVENT("4"));
        BROKEN(&w, "hub-agent wrote /events default/e on hub");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_the_leader_writes),
                cmocka_unit_test(only_the_leader_sends_and_not_after_its_lease),
                cmocka_unit_test(a_binding_goes_after_its_works),
                cmocka_unit_test(one_group_of_snapshots_is_the_latest),
                cmocka_unit_test(a_snapshot_that_comes_back_behind_a_newer_one_is_no_second_latest),
                cmocka_unit_test(a_newer_snapshot_that_was_on_its_way_when_one_came_back_is_the_only_latest),
                cmocka_unit_test(a_snapshot_that_comes_back_in_front_is_a_second_latest),
                cmocka_unit_test(a_work_goes_after_its_objects),
                cmocka_unit_test(what_is_wanted_is_not_taken_away),
                cmocka_unit_test(a_deletion_that_came_late_was_decided_when_it_was_asked_for),
                cmocka_unit_test(users_and_works_that_go_may_take_it_away),
                cmocka_unit_test(a_placement_that_comes_back_to_a_cluster_is_known_anew),
                cmocka_unit_test(what_moves_between_works_is_wanted_all_the_time),
                cmocka_unit_test(what_a_work_dropped_may_go_though_it_comes_back),
                cmocka_unit_test(several_own_only_what_they_share),
                cmocka_unit_test(what_is_not_ours_is_not_written),
                cmocka_unit_test(what_is_not_ours_is_not_taken_by_one_that_never_may),
                cmocka_unit_test(nothing_stale_is_left),
                cmocka_unit_test(a_snapshot_that_a_binding_names_is_kept_beside_the_history),
                cmocka_unit_test(what_a_member_misses_of_its_works_is_told),
                cmocka_unit_test(a_kind_that_a_placement_still_holds_is_missed_until_it_is_defined),
                cmocka_unit_test(at_rest_nothing_is_written),
                cmocka_unit_test(that_trouble_lasts_may_be_told_now_and_then),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
