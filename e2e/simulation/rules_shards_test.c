/* Rules of hub agents that share placements out: what is committed, and what is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/ctrl/shards_plan.h"
#include "e2e/simulation/rules_test.h"

#define SHARD(k, holder)                                                                                     \
        "{'metadata':{'name':'" LEASE_HUB_AGENT "-shard-" k                                                  \
        "-of-2','namespace':'fleet-system'},'spec':{'holderIdentity':'" holder                               \
        "','leaseDurationSeconds':15}}"
#define APP_0 "{'metadata':{'name':'app-0'}}"

static void of_a_shard_only_its_holder_writes(void **state)
{
        bool second = shard_of_key("app-0", 2);
        struct watch w;

        open_watch(&w, &rule_shard_owner);
        w.shards = 2;
        put(&w, "hub-agent", "hub", RES_LEASES, second ? SHARD("1", "hub-agent") : SHARD("0", "hub-agent"));
        put(&w, "hub-agent-2", "hub", RES_LEASES,
            second ? SHARD("0", "hub-agent-2") : SHARD("1", "hub-agent-2"));
        put(&w, "hub-agent", "hub", RES_PLACEMENTS, APP_0);
        put(&w, "player", "hub", RES_PLACEMENTS, APP_0);
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b0", "member-2", "app-0-0", "Bound"));
        FINE(&w);
        assert_int_equal(w.judged, 2);
        w.now += 1000;
        put(&w, "hub-agent-3", "hub", RES_LEASES,
            second ? SHARD("1", "hub-agent-3") : SHARD("0", "hub-agent-3"));
        w.now += 1000;
        w.asked_ms = w.now - 1500; /* it was on its way */
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b0", "member-2", "app-0-1", "Bound"));
        w.asked_ms = 0;
        put(&w, "hub-agent-3", "hub", RES_PLACEMENTS, APP_0);
        rest(&w);
        FINE(&w);
        put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING("b0", "member-2", "app-0-2", "Bound"));
        BROKEN(&w, second ? "hub-agent wrote " RES_BINDINGS " b0 of shard 1, which is not its own"
                          : "hub-agent wrote " RES_BINDINGS " b0 of shard 0, which is not its own");
        put(&w, "hub-agent-2", "hub", RES_PLACEMENTS, APP_0);
        BROKEN(&w, second ? "hub-agent-2 wrote " RES_PLACEMENTS " app-0 of shard 1, which is not its own"
                          : "hub-agent-2 wrote " RES_PLACEMENTS " app-0 of shard 0, which is not its own");
        close_watch(&w);
}

static void what_belongs_to_no_placement_is_written_by_the_holder_of_the_first_shard(void **state)
{
        struct watch w;

        open_watch(&w, &rule_shard_owner);
        w.shards = 2;
        put(&w, "hub-agent", "hub", RES_LEASES, SHARD("0", "hub-agent"));
        put(&w, "hub-agent-2", "hub", RES_LEASES, SHARD("1", "hub-agent-2"));
        put(&w, "hub-agent", "hub", RES_MEMBERS, "{'metadata':{'name':'member-1'}}");
        put(&w, "hub-agent", "hub", "/namespaces", "{'metadata':{'name':'fleet-member-member-1'}}");
        put(&w, "player", "hub", "rbac.authorization.k8s.io/roles", "{'metadata':{'name':'r'}}");
        FINE(&w);
        assert_int_equal(w.judged, 2);
        put(&w, "hub-agent-2", "hub", "/events", "{'metadata':{'name':'e'}}");
        put(&w, "player", "hub", "/configmaps", "{'metadata':{'name':'c'}}");
        put(&w, "hub-agent-2", "hub", "/configmaps", "{'metadata':{'name':'c'},'status':{}}"); /* told back */
        FINE(&w);
        put(&w, "hub-agent-2", "hub", "/configmaps", "{'metadata':{'name':'c'},'data':{}}");
        BROKEN(&w, "hub-agent-2 wrote /configmaps c of shard 0, which is not its own");
        put(&w, "hub-agent-2", "hub", RES_INTERNAL_MEMBERS, "{'metadata':{'name':'member-1'}}");
        BROKEN(&w, "hub-agent-2 wrote " RES_INTERNAL_MEMBERS " member-1 of shard 0, which is not its own");
        put(&w, "hub-agent-2", "hub", "rbac.authorization.k8s.io/roles",
            "{'metadata':{'name':'r'},'rules':[]}");
        BROKEN(&w, "hub-agent-2 wrote rbac.authorization.k8s.io/roles r of shard 0, which is not its own");
        close_watch(&w);
}

#define LEAVING "{'metadata':{'name':'member-2','deletionTimestamp':'2026-01-01T00:00:00Z'}}"

static void works_of_a_member_that_leaves_are_also_the_first_shards(void **state)
{
        bool second = shard_of_key("app-0", 2);
        struct watch w;

        open_watch(&w, &rule_shard_owner);
        w.shards = 2;
        put(&w, "hub-agent", "hub", RES_LEASES, SHARD("0", "hub-agent"));
        put(&w, "hub-agent-2", "hub", RES_LEASES, SHARD("1", "hub-agent-2"));
        put(&w, "player", "hub", RES_MEMBERS, LEAVING);
        put(&w, "player", "hub", RES_MEMBERS, "{'metadata':{'name':'member-1'}}");
        put(&w, "hub-agent", "hub", RES_WORKS,
            "{'kind':'Work','metadata':{'name':'w','namespace':'fleet-member-member-2'," OF_APP "}}}");
        FINE(&w);
        put(&w, second ? "hub-agent" : "hub-agent-2", "hub", RES_WORKS,
            "{'kind':'Work','metadata':{'name':'w','namespace':'fleet-member-member-1'," OF_APP "}}}");
        BROKEN(&w, "fleet-member-member-1/w of shard");
        close_watch(&w);
}

static void an_approval_is_of_its_runs_placement(void **state)
{
        bool second = shard_of_key("app-0", 2);
        const char *owner = second ? "hub-agent-2" : "hub-agent",
                   *other = second ? "hub-agent" : "hub-agent-2";
        struct watch w;

        open_watch(&w, &rule_shard_owner);
        w.shards = 2;
        put(&w, "hub-agent", "hub", RES_LEASES, SHARD("0", "hub-agent"));
        put(&w, "hub-agent-2", "hub", RES_LEASES, SHARD("1", "hub-agent-2"));
        put(&w, "player", "hub", RES_RUNS, "{'metadata':{'name':'run'},'spec':{'placementName':'app-0'}}");
        put(&w, owner, "hub", RES_APPROVALS,
            "{'metadata':{'name':'a','labels':{'kubernetes-fleet.io/targetUpdateRun':'run'}}}");
        FINE(&w);
        put(&w, other, "hub", RES_APPROVALS,
            "{'metadata':{'name':'a','labels':{'kubernetes-fleet.io/targetUpdateRun':'run'}}}");
        BROKEN(&w, "a of shard");
        close_watch(&w);
}

static void when_all_rests_each_shard_has_an_owner(void **state)
{
        struct watch w;

        open_watch(&w, &rule_shard_owner);
        w.shards = 2;
        put(&w, "hub-agent", "hub", RES_LEASES, SHARD("0", "hub-agent"));
        put(&w, "hub-agent", "hub", RES_LEASES, SHARD("1", ""));
        rest(&w);
        BROKEN(&w, "1 of 2 shards have an owner");
        close_watch(&w);
}

/* ---- what is sent, whatever becomes of it ---- */

#define WORK_OF(name, member)                                                                                \
        "{'kind':'Work','metadata':{'name':'" name "','namespace':'fleet-member-" member "'," OF_APP "}}}"

/* Two shards, each with its holder: app-0's is *ret_owner. */
static void share_out(struct watch *w, const char **ret_owner, const char **ret_other)
{
        bool second = shard_of_key("app-0", 2);

        open_watch(w, &rule_shard_owner);
        w->shards = 2;
        put(w, "hub-agent", "hub", RES_LEASES, SHARD("0", "hub-agent"));
        put(w, "hub-agent-2", "hub", RES_LEASES, SHARD("1", "hub-agent-2"));
        *ret_owner = second ? "hub-agent-2" : "hub-agent";
        *ret_other = second ? "hub-agent" : "hub-agent-2";
}

static void renew(struct watch *w)
{
        put(w, "hub-agent", "hub", RES_LEASES, SHARD("0", "hub-agent"));
        put(w, "hub-agent-2", "hub", RES_LEASES, SHARD("1", "hub-agent-2"));
}

static void what_leaves_for_a_shard_counts_though_it_changes_nothing(void **state)
{
        const char *owner, *other;
        struct watch w;

        share_out(&w, &owner, &other);
        put(&w, owner, "hub", RES_BINDINGS, BINDING("b0", "member-2", "app-0-0", "Bound"));
        patch(&w, owner, RES_BINDINGS, "b0", "status", "{'status':{}}");
        post(&w, owner, RES_BINDINGS, BINDING("b1", "member-1", "app-0-0", "Bound"));
        patch(&w, owner, RES_PLACEMENTS, "app-0", "status", "{'status':{}}");
        patch(&w, "member-1", RES_BINDINGS, "b0", "", "{'spec':{}}");
        FINE(&w);
        patch(&w, other, RES_BINDINGS, "b0", "status", "{'status':{}}");
        BROKEN(&w, "sent " RES_BINDINGS " b0 of shard");
        w.broken[0] = 0;
        post(&w, other, RES_BINDINGS, BINDING("b1", "member-1", "app-0-0", "Bound"));
        BROKEN(&w, "sent " RES_BINDINGS " b1 of shard");
        w.broken[0] = 0;
        patch(&w, other, RES_PLACEMENTS, "app-0", "status", "{'status':{}}");
        BROKEN(&w, "sent " RES_PLACEMENTS " app-0 of shard");
        close_watch(&w);
}

static void after_its_lease_nothing_leaves_though_nobody_took_it(void **state)
{
        const char *owner, *other;
        struct watch w;

        share_out(&w, &owner, &other);
        w.now += 10000;
        w.asked_ms = w.now - 4000; /* on its way for so long */
        renew(&w);
        w.asked_ms = 0;
        w.now += 11000;
        patch(&w, owner, RES_PLACEMENTS, "app-0", "status", "{'status':{}}");
        FINE(&w);
        w.now++;
        patch(&w, owner, RES_PLACEMENTS, "app-0", "status", "{'status':{}}");
        BROKEN(&w, "sent " RES_PLACEMENTS " app-0 of shard");
        w.broken[0] = 0;
        put(&w, owner, "hub", RES_PLACEMENTS, APP_0);
        BROKEN(&w, "wrote " RES_PLACEMENTS " app-0 of shard");
        w.broken[0] = 0;
        renew(&w);
        patch(&w, owner, RES_PLACEMENTS, "app-0", "status", "{'status':{}}");
        FINE(&w);
        close_watch(&w);
}

static void what_has_gone_or_lost_its_label_is_still_known(void **state)
{
        const char *owner, *other;
        struct watch w;

        share_out(&w, &owner, &other);
        patch(&w, other, RES_BINDINGS, "b0", "", "{'spec':{}}"); /* nothing tells whose it is */
        put(&w, owner, "hub", RES_BINDINGS, BINDING("b0", "member-2", "app-0-0", "Bound"));
        put(&w, "player", "hub", RES_BINDINGS, "{'metadata':{'name':'b0'}}");
        patch(&w, owner, RES_BINDINGS, "b0", "", "{'spec':{}}");
        FINE(&w);
        put(&w, "player", "hub", RES_BINDINGS, BINDING("b0", "member-2", "app-0-0", "Bound"));
        take(&w, "player", "hub", RES_BINDINGS, "", "b0");
        patch(&w, owner, RES_BINDINGS, "b0", "", "{'spec':{}}");
        FINE(&w);
        if (shard_of_key("", 2) == shard_of_key("app-0", 2)) {
                patch(&w, other, RES_BINDINGS, "b0", "", "{'spec':{}}");
                BROKEN(&w, "sent " RES_BINDINGS " b0 of shard");
        }
        close_watch(&w);
}

static void what_is_nobodys_is_sent_for_the_first_shard(void **state)
{
        const char *owner, *other;
        struct watch w;

        share_out(&w, &owner, &other);
        put(&w, "player", "hub", "/configmaps", "{'metadata':{'name':'c'}}");
        patch(&w, "hub-agent", "cluster.kubernetes-fleet.io/memberclusters", "member-1", "status", "{}");
        patch(&w, "hub-agent-2", "/configmaps", "c", "status", "{'status':{}}"); /* reported back */
        post(&w, "hub-agent-2", RES_LEASES, "{'metadata':{'name':'l'}}");
        FINE(&w);
        patch(&w, "hub-agent-2", "/configmaps", "c", "", "{'data':{}}");
        BROKEN(&w, "hub-agent-2 sent /configmaps c of shard 0, which is not its own");
        w.broken[0] = 0;
        patch(&w, "hub-agent-2", RES_MEMBERS, "member-1", "status", "{}");
        BROKEN(&w, "hub-agent-2 sent " RES_MEMBERS " member-1 of shard 0, which is not its own");
        close_watch(&w);
}

static void works_of_a_member_that_had_left_are_also_the_first_shards(void **state)
{
        bool second = shard_of_key("app-0", 2);
        const char *owner, *other;
        struct watch w;

        share_out(&w, &owner, &other);
        put(&w, "player", "hub", RES_MEMBERS, "{'metadata':{'name':'member-2'}}");
        put(&w, owner, "hub", RES_WORKS, WORK_OF("w", "member-2"));
        post(&w, second ? "hub-agent" : "hub-agent-2", RES_WORKS, WORK_OF("w", "member-2"));
        BROKEN(&w, "fleet-member-member-2/w of shard");
        w.broken[0] = 0;
        put(&w, "player", "hub", RES_MEMBERS, LEAVING);
        put(&w, "player", "hub", RES_MEMBERS, "{'metadata':{'name':'member-2'}}"); /* not heard of yet */
        post(&w, "hub-agent", RES_WORKS, WORK_OF("w", "member-2"));
        FINE(&w);
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(of_a_shard_only_its_holder_writes),
                cmocka_unit_test(what_belongs_to_no_placement_is_written_by_the_holder_of_the_first_shard),
                cmocka_unit_test(works_of_a_member_that_leaves_are_also_the_first_shards),
                cmocka_unit_test(an_approval_is_of_its_runs_placement),
                cmocka_unit_test(when_all_rests_each_shard_has_an_owner),
                cmocka_unit_test(what_leaves_for_a_shard_counts_though_it_changes_nothing),
                cmocka_unit_test(after_its_lease_nothing_leaves_though_nobody_took_it),
                cmocka_unit_test(what_has_gone_or_lost_its_label_is_still_known),
                cmocka_unit_test(what_is_nobodys_is_sent_for_the_first_shard),
                cmocka_unit_test(works_of_a_member_that_had_left_are_also_the_first_shards),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
