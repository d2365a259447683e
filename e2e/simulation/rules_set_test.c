/* That the rules about ClusterObjectSets can fail, and let pass what is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

#define CONFIG_MAPS "/configmaps"
#define OWNER(revision, controller)                                                                          \
        "{'apiVersion':'olm.operatorframework.io/v1','kind':'ClusterObjectSet','name':'ship-0-r" revision    \
        "','uid':'u" revision "','controller':" controller "}"
#define FOREIGN "{'apiVersion':'v1','kind':'ConfigMap','name':'master','uid':'m','controller':true}"
#define CARGO(cargo, revision, owners)                                                                       \
        "{'kind':'ConfigMap','metadata':{'name':'ship-0-" cargo "','namespace':'harbor','labels':{"          \
        "'olm.operatorframework.io/owner-name':'ship-0'},'annotations':{'olm.operatorframework.io/revision'" \
        ":'" revision "'},'ownerReferences':[" owners "]},'data':{'color':'1','ready':'yes'}}"
#define STRAY(cargo, owners)                                                                                 \
        "{'kind':'ConfigMap','metadata':{'name':'ship-0-" cargo                                              \
        "','namespace':'harbor','ownerReferences':[" owners "]},'data':{'color':'9'}}"
#define SET_OF(revision, state, conditions, more)                                                            \
        "{'kind':'ClusterObjectSet','metadata':{'name':'ship-0-r" revision "','uid':'u" revision "'" more    \
        "},'spec':{'lifecycleState':'" state "','revision':" revision                                        \
        "},'status':{'conditions':[" conditions "]}}"
#define SUCCEEDED "{'type':'Succeeded','status':'True'}"
#define LEAVING ",'deletionTimestamp':'2026-01-01T00:00:00Z'"

static void agent_puts(struct watch *w, const char *text)
{
        put(w, "member-1", "member-1", CONFIG_MAPS, text);
}

static void set_is(struct watch *w, const char *who, const char *text)
{
        put(w, who, "member-1", RES_SETS, text);
}

/* Revision 1 has a in phase 0 and b in phase 1, revision 2 both in phase 0. */
static void open_ship(struct watch *w, const struct rule *rule)
{
        struct wish_set *sets;

        open_watch(w, rule);
        sets = w->wish.members[1].ships[0].sets;
        for (unsigned i = 0; i < 2; i++) {
                sets[i] = (struct wish_set){ .made = true, .exists = true, .protection = PROTECT_PREVENT };
                sets[i].items[CARGO_ASKED] = (struct wish_item){ .wanted = true };
                sets[i].items[CARGO_PLAIN] = (struct wish_item){ .wanted = true, .phase = 1 - i };
        }
        set_is(w, "player", SET_OF("1", "Active", "", ""));
        set_is(w, "player", SET_OF("2", "Active", "", ""));
}

/* ---- phases ---- */

static void a_phase_begins_when_those_before_it_are_ready(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_order);
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        agent_puts(&w, CARGO("b", "1", OWNER("1", "true")));
        FINE(&w);
        assert_true(w.judged > 0);
        close_watch(&w);

        open_ship(&w, &rule_set_order);
        agent_puts(&w, CARGO("b", "1", OWNER("1", "true")));
        BROKEN(&w, "takes ship-0-b of phase 1, and cargo a of phase 0 was not ready");
        close_watch(&w);
}

static void what_its_probes_ask_counts(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_order);
        w.wish.members[1].ships[0].sets[0].asks = true; /* for no */
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        agent_puts(&w, CARGO("b", "1", OWNER("1", "true")));
        BROKEN(&w, "was not ready");
        close_watch(&w);
}

static void what_was_ready_a_moment_ago_or_once_in_all_is_enough(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_order);
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        take(&w, "player", "member-1", CONFIG_MAPS, "harbor", "ship-0-a");
        w.now += RULE_LAG_MS - 1000;
        agent_puts(&w, CARGO("b", "1", OWNER("1", "true")));
        FINE(&w);
        take(&w, "player", "member-1", CONFIG_MAPS, "harbor", "ship-0-b");
        w.now += 2000;
        set_is(&w, "member-1", SET_OF("1", "Active", SUCCEEDED, ""));
        agent_puts(&w, CARGO("b", "1", OWNER("1", "true")));
        FINE(&w);
        close_watch(&w);
}

static void what_was_ready_by_the_probes_it_has_now_is_enough(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_order);
        w.wish.members[1].ships[0].sets[0].asks = true; /* for no */
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        w.wish.members[1].ships[0].sets[0].asks = false;
        take(&w, "player", "member-1", CONFIG_MAPS, "harbor", "ship-0-a");
        w.now += 1000;
        agent_puts(&w, CARGO("b", "1", OWNER("1", "true")));
        FINE(&w);
        close_watch(&w);
}

static void a_later_phase_goes_first(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_order);
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        agent_puts(&w, CARGO("b", "1", OWNER("1", "true")));
        take(&w, "member-1", "member-1", CONFIG_MAPS, "harbor", "ship-0-b");
        take(&w, "member-1", "member-1", CONFIG_MAPS, "harbor", "ship-0-a");
        FINE(&w);
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        agent_puts(&w, CARGO("b", "1", OWNER("1", "true")));
        take(&w, "member-1", "member-1", CONFIG_MAPS, "harbor", "ship-0-a");
        BROKEN(&w, "deletes ship-0-a, and cargo b of a later phase is there");
        close_watch(&w);
}

static void only_who_is_complete_archives(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_order);
        agent_puts(&w, CARGO("a", "2", OWNER("2", "true")));
        set_is(&w, "member-1", SET_OF("1", "Archived", "", ""));
        BROKEN(&w, "ship-0-r1 is archived by member-1, and no later revision is complete");
        close_watch(&w);

        open_ship(&w, &rule_set_order);
        agent_puts(&w, CARGO("a", "2", OWNER("2", "true")));
        agent_puts(&w, CARGO("b", "2", OWNER("2", "true")));
        set_is(&w, "member-1", SET_OF("1", "Archived", "", ""));
        FINE(&w);
        close_watch(&w);
}

/* ---- controllers ---- */

static void there_is_one_controller_and_it_passes_upwards(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_controller);
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        agent_puts(&w, CARGO("a", "2", OWNER("2", "true") "," OWNER("1", "false")));
        FINE(&w);
        assert_true(w.judged > 0);
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true") "," OWNER("2", "false")));
        BROKEN(&w, "passes from revision 2 down to 1");
        close_watch(&w);

        open_ship(&w, &rule_set_controller);
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        agent_puts(&w, CARGO("a", "2", OWNER("2", "true")));
        BROKEN(&w, "revision 1, which stands, loses ship-0-a");
        close_watch(&w);

        open_ship(&w, &rule_set_controller);
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true") "," OWNER("2", "true")));
        BROKEN(&w, "has two controllers");
        close_watch(&w);

        open_ship(&w, &rule_set_controller);
        agent_puts(&w, CARGO("a", "1", OWNER("2", "true")));
        BROKEN(&w, "is of revision 2 and marked \"1\"");
        close_watch(&w);
}

static void who_goes_may_lose_an_object_to_an_earlier_one(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_controller);
        agent_puts(&w, CARGO("a", "2", OWNER("2", "true")));
        set_is(&w, "player", SET_OF("2", "Archived", "", ""));
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        FINE(&w);
        close_watch(&w);
}

static void who_stands_deletes_nothing(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_controller);
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        take(&w, "player", "member-1", CONFIG_MAPS, "harbor", "ship-0-a");
        FINE(&w);
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        take(&w, "member-1", "member-1", CONFIG_MAPS, "harbor", "ship-0-a");
        BROKEN(&w, "deletes ship-0-a of ship-0-r1, which stands");
        close_watch(&w);
}

static void what_a_complete_later_revision_wants_stays(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_controller);
        set_is(&w, "player", SET_OF("1", "Archived", "", ""));
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        take(&w, "member-1", "member-1", CONFIG_MAPS, "harbor", "ship-0-a");
        FINE(&w);
        set_is(&w, "member-1", SET_OF("2", "Active", SUCCEEDED, ""));
        agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
        take(&w, "server", "member-1", CONFIG_MAPS, "harbor", "ship-0-a");
        BROKEN(&w, "goes with ship-0-r1, and revision 2 wants it");
        close_watch(&w);
}

/* ---- what is foreign ---- */

static void only_what_protection_allows_is_taken(void **state)
{
        static const struct {
                enum wish_protection protection;
                const char *before;
                bool fine;
        } cases[] = {
                { PROTECT_PREVENT, STRAY("a", ""), false },
                { PROTECT_IF_NO_CONTROLLER, STRAY("a", ""), true },
                { PROTECT_IF_NO_CONTROLLER, STRAY("a", FOREIGN), false },
                { PROTECT_NONE, STRAY("a", FOREIGN), true },
                { PROTECT_PREVENT, CARGO("a", "2", OWNER("2", "true")), true }, /* another rule's */
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;

                open_ship(&w, &rule_set_foreign);
                w.wish.members[1].ships[0].sets[0].protection = cases[i].protection;
                put(&w, "player", "member-1", CONFIG_MAPS, cases[i].before);
                agent_puts(&w, CARGO("a", "1", OWNER("1", "true")));
                if (cases[i].fine)
                        FINE(&w);
                else
                        BROKEN(&w, "ship-0-r1 takes ship-0-a, which it may not");
                close_watch(&w);
        }
}

static void what_is_no_sets_is_neither_written_nor_deleted(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_foreign);
        put(&w, "player", "member-1", CONFIG_MAPS, STRAY("a", ""));
        agent_puts(&w, STRAY("a", FOREIGN));
        BROKEN(&w, "writes ship-0-a, which is no set's");
        w.broken[0] = '\0';
        take(&w, "member-1", "member-1", CONFIG_MAPS, "harbor", "ship-0-a");
        BROKEN(&w, "deletes ship-0-a, which is no set's");
        close_watch(&w);
}

static void a_set_itself_stays_what_its_user_wrote(void **state)
{
        struct watch w;

        open_ship(&w, &rule_set_foreign);
        set_is(&w, "member-1", SET_OF("1", "Active", SUCCEEDED, ""));
        set_is(&w, "member-1", SET_OF("1", "Archived", SUCCEEDED, ""));
        take(&w, "member-1", "member-1", RES_SETS, "", "ship-0-r1");
        FINE(&w);
        set_is(&w, "player", SET_OF("2", "Active", "", LEAVING));
        take(&w, "member-1", "member-1", RES_SETS, "", "ship-0-r2");
        FINE(&w);
        set_is(&w, "player", SET_OF("1", "Active", "", ""));
        set_is(&w, "member-1",
               "{'metadata':{'name':'ship-0-r1'},'spec':{'lifecycleState':'Active','revision':7}}");
        BROKEN(&w, "changes what set ship-0-r1 is");
        w.broken[0] = '\0';
        take(&w, "member-1", "member-1", RES_SETS, "", "ship-0-r1");
        BROKEN(&w, "deletes set ship-0-r1");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_phase_begins_when_those_before_it_are_ready),
                cmocka_unit_test(what_its_probes_ask_counts),
                cmocka_unit_test(what_was_ready_a_moment_ago_or_once_in_all_is_enough),
                cmocka_unit_test(what_was_ready_by_the_probes_it_has_now_is_enough),
                cmocka_unit_test(a_later_phase_goes_first),
                cmocka_unit_test(only_who_is_complete_archives),
                cmocka_unit_test(there_is_one_controller_and_it_passes_upwards),
                cmocka_unit_test(who_goes_may_lose_an_object_to_an_earlier_one),
                cmocka_unit_test(who_stands_deletes_nothing),
                cmocka_unit_test(what_a_complete_later_revision_wants_stays),
                cmocka_unit_test(only_what_protection_allows_is_taken),
                cmocka_unit_test(what_is_no_sets_is_neither_written_nor_deleted),
                cmocka_unit_test(a_set_itself_stays_what_its_user_wrote),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
