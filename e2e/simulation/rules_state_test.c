/* What a member's agent keeps in its file, and that the rule about it can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "e2e/simulation/rules_test.h"

/* As far as the rule reads it; that it is the store's own is shown by fleet-sim, where the rule would fail on
 * any other. */
#define SCHEMA                                                                                               \
        "CREATE TABLE works (name, uid, generation);"                                                        \
        "CREATE TABLE inventory (work, grp, kind, ns, name, plural);"                                        \
        "CREATE TABLE wants (work, grp, kind, ns, name);"

#define WORK(name, generation, strategy)                                                                     \
        "{'kind':'Work','metadata':{'name':'" name "','namespace':'fleet-member-member-1','uid':'u-" name    \
        "','generation':" generation "},'spec':{'applyStrategy':{'type':'" strategy                          \
        "'},'workload':{'manifests':[{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web',"  \
        "'namespace':'app-0'}},{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'app-0'}}]}}}"

#define GOOD                                                                                                 \
        "INSERT INTO works VALUES ('w', 'u-w', 2);"                                                          \
        "INSERT INTO inventory VALUES ('w', 'apps', 'Deployment', 'app-0', 'web', 'deployments');"           \
        "INSERT INTO inventory VALUES ('w', '', 'Namespace', '', 'app-0', 'namespaces');"                    \
        "INSERT INTO wants VALUES ('w', 'apps', 'Deployment', 'app-0', 'web');"

/* At rest with these rows in the file of member-1. */
static void look_at(struct watch *w, const char *rows)
{
        sqlite3 *db;

        assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, rows, NULL, NULL, NULL), SQLITE_OK);
        w->state_file = db;
        w->broken[0] = '\0';
        rest(w);
        assert_null(w->state_file);
}

static void open_case(struct watch *w)
{
        open_watch(w, &rule_state);
        put(w, "hub-agent", "hub", RES_WORKS, WORK("w", "2", "ClientSideApply"));
        put(w, "hub-agent", "hub", RES_WORKS, WORK("r", "1", "ReportDiff"));
}

static void a_file_is_about_the_works_there_are_and_what_they_want(void **state)
{
        struct watch w;

        open_case(&w);
        look_at(&w, SCHEMA GOOD);
        FINE(&w);
        assert_int_equal(w.judged, 1);
        look_at(&w,
                SCHEMA "INSERT INTO inventory VALUES ('r', '', 'ConfigMap', 'app-0', 'kept', 'configmaps')");
        FINE(&w);
        put(&w, "member-1", "member-1", "/configmaps",
            "{'metadata':{'name':'kept','namespace':'app-0','ownerReferences':[{'name':'w'}]}}");
        look_at(&w, SCHEMA GOOD
                "INSERT INTO inventory VALUES ('w', '', 'ConfigMap', 'app-0', 'kept', 'configmaps')");
        FINE(&w);
        close_watch(&w);
}

static void stale_rows_of_each_table_break_the_rule(void **state)
{
        static const struct {
                const char *rows, *says;
        } cases[] = {
                { "INSERT INTO works VALUES ('gone', 'u', 1)", "gone in works that is no longer" },
                { "INSERT INTO works VALUES ('w', 'u-old', 2)", "w in works that is another" },
                { "INSERT INTO works VALUES ('w', 'u-w', 1)", "w in works that is of an old" },
                { "INSERT INTO inventory VALUES ('gone', 'apps', 'Deployment', 'app-0', 'web', "
                  "'deployments')",
                  "gone in inventory that is no longer" },
                { "INSERT INTO inventory VALUES ('w', '', 'ConfigMap', 'app-0', 'old', 'configmaps')",
                  "inventory that it does not want: ConfigMap app-0/old" },
                { "INSERT INTO inventory VALUES ('w', '', 'Deployment', 'app-0', 'web', 'deployments')",
                  "inventory that it does not want: Deployment app-0/web" },
                { "INSERT INTO wants VALUES ('w', 'apps', 'Deployment', 'app-1', 'web')",
                  "wants that it does not want: Deployment app-1/web" },
        };
        struct watch w;
        char rows[1024];

        open_case(&w);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                snprintf(rows, sizeof(rows), "%s%s%s", SCHEMA, GOOD, cases[i].rows);
                look_at(&w, rows);
                BROKEN(&w, cases[i].says);
        }
        close_watch(&w);
}

#define SET_IS(state)                                                                                        \
        "{'kind':'ClusterObjectSet','metadata':{'name':'ship-0-r1'},'spec':{'lifecycleState':'" state "'}}"
#define SET_ROW(cargo)                                                                                       \
        "INSERT INTO inventory VALUES ('clusterobjectset/ship-0-r1', '', 'ConfigMap', 'harbor', "            \
        "'ship-0-" cargo "', 'configmaps')"

static void rows_of_a_set_are_what_it_names_until_it_is_archived(void **state)
{
        struct watch w;

        open_case(&w);
        w.wish.members[1].ships[0].sets[0].items[CARGO_ASKED].wanted = true;
        put(&w, "player", "member-1", RES_SETS, SET_IS("Active"));
        look_at(&w, SCHEMA SET_ROW("a"));
        FINE(&w);
        look_at(&w, SCHEMA SET_ROW("b"));
        BROKEN(&w, "does not name ConfigMap harbor/ship-0-b");
        put(&w, "player", "member-1", RES_SETS, SET_IS("Archived"));
        look_at(&w, SCHEMA SET_ROW("a"));
        BROKEN(&w, "clusterobjectset/ship-0-r1 in inventory that is archived");
        close_watch(&w);
}

static void a_file_of_another_kind_breaks_the_rule(void **state)
{
        struct watch w;

        open_case(&w);
        look_at(&w, "CREATE TABLE works (name, uid)");
        BROKEN(&w, "cannot be read");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_file_is_about_the_works_there_are_and_what_they_want),
                cmocka_unit_test(stale_rows_of_each_table_break_the_rule),
                cmocka_unit_test(rows_of_a_set_are_what_it_names_until_it_is_archived),
                cmocka_unit_test(a_file_of_another_kind_breaks_the_rule),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
