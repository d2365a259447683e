/* That the rules about ResourceSets can fail, and let pass what is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

#define TABLES "fluxcd.controlplane.io/resourcesets"
#define SOURCES "fluxcd.controlplane.io/resourcesetinputproviders"
#define MAPS "/configmaps"
#define OURS                                                                                                 \
        "'labels':{'resourceset.fluxcd.controlplane.io/name':'table-0',"                                     \
        "'resourceset.fluxcd.controlplane.io/namespace':'desk'}"
#define THEIRS                                                                                               \
        "'labels':{'resourceset.fluxcd.controlplane.io/name':'table-2',"                                     \
        "'resourceset.fluxcd.controlplane.io/namespace':'desk'}"
#define PROTECTED ",'annotations':{'fluxcd.controlplane.io/prune':'disabled'}"
#define LEAVING ",'deletionTimestamp':'2026-01-01T00:00:00Z'"
#define TABLE(number, entries)                                                                               \
        "{'metadata':{'name':'table-" number                                                                 \
        "','namespace':'desk'},'status':{'inventory':{'entries':[" entries "]}}}"
#define ENTRY(id) "{'id':'" id "','v':'v1'}"
#define MAP(more) "{'metadata':{'name':'t2-a','namespace':'desk'," more "},'data':{'color':'c1'}}"
#define HOME(more) "{'metadata':{'name':'t0-a'," more "}}"
#define NEVER_OURS "'labels':{}"

/* table-0 and table-2 want their tenant a, for long. */
static void open_desk(struct watch *w, const struct rule *rule)
{
        open_watch(w, rule);
        w->wish.desk.there = true;
        for (unsigned i = 0; i < WISH_TABLES; i += 2)
                w->wish.desk.tables[i] = (struct wish_table){ .exists = true, .own = { { 1 } } };
        put(w, "player", "hub", TABLES, TABLE("0", ""));
        put(w, "player", "hub", TABLES, TABLE("2", ""));
        w->now += 100000;
}

static void put_map(struct watch *w, const char *who, const char *text)
{
        put(w, who, "hub", MAPS, text);
}

/* ---- kept ---- */

static void what_is_wanted_is_not_deleted(void **state)
{
        struct watch w;

        open_desk(&w, &rule_table_kept);
        put_map(&w, "hub-agent", MAP(THEIRS));
        take(&w, "player", "hub", MAPS, "desk", "t2-a");
        FINE(&w);
        put_map(&w, "hub-agent", MAP(THEIRS));
        take(&w, "hub-agent", "hub", MAPS, "desk", "t2-a");
        BROKEN(&w, "hub-agent deletes desk_t2-a__ConfigMap, which table-2 wants");
        assert_true(w.judged > 0);
        close_watch(&w);
}

static void what_was_not_wanted_a_moment_ago_may_go(void **state)
{
        struct watch w;

        open_desk(&w, &rule_table_kept);
        put_map(&w, "hub-agent", MAP(THEIRS));
        w.wish.desk.tables[2].own.color[0] = 0;
        w.wish.desk.tables[2].own.color[1] = 1;
        put(&w, "player", "hub", TABLES, TABLE("2", ""));
        w.now += 5000;
        w.wish.desk.tables[2].own.color[0] = 1;
        put(&w, "player", "hub", TABLES, TABLE("2", ""));
        w.now += 5000;
        take(&w, "hub-agent", "hub", MAPS, "desk", "t2-a");
        FINE(&w);
        close_watch(&w);
}

static void a_set_that_cannot_be_built_deletes_nothing(void **state)
{
        struct watch w;

        open_desk(&w, &rule_table_kept);
        put_map(&w, "hub-agent", MAP(THEIRS));
        w.wish.desk.tables[2].spoiled = true;
        w.wish.desk.tables[2].own.color[0] = 0;
        w.wish.desk.tables[2].own.color[1] = 1;
        put(&w, "player", "hub", TABLES, TABLE("2", ""));
        take(&w, "hub-agent", "hub", MAPS, "desk", "t2-a");
        BROKEN(&w, "which table-2 wants");
        close_watch(&w);
}

/* Who has not heard of the source knows that a is wanted no more, who has cannot tell. */
static void with_a_source_that_is_new_nobody_can_tell(void **state)
{
        struct watch w;

        open_desk(&w, &rule_table_kept);
        put_map(&w, "hub-agent", MAP(THEIRS));
        w.wish.desk.tables[2].pool = true;
        w.wish.desk.sources[1] = (struct wish_source){ .exists = true, .pooled = true };
        put(&w, "player", "hub", SOURCES, "{'metadata':{'name':'source-1','namespace':'desk'}}");
        w.wish.desk.tables[2].own.color[0] = 0;
        w.wish.desk.tables[2].own.color[1] = 1;
        put(&w, "player", "hub", TABLES, TABLE("2", ""));
        w.now += 5000;
        take(&w, "hub-agent", "hub", MAPS, "desk", "t2-a");
        FINE(&w);
        close_watch(&w);
}

/* ---- listed ---- */

static void nothing_is_made_that_is_not_listed(void **state)
{
        struct watch w;

        open_desk(&w, &rule_table_listed);
        put(&w, "hub-agent", "hub", TABLES, TABLE("2", ENTRY("desk_t2-a__ConfigMap")));
        put_map(&w, "hub-agent", MAP(THEIRS));
        FINE(&w);
        take(&w, "player", "hub", MAPS, "desk", "t2-a");
        put(&w, "hub-agent", "hub", TABLES, TABLE("2", ""));
        w.asked_ms = w.now - 1000; /* it was on its way since */
        put_map(&w, "hub-agent", MAP(THEIRS));
        FINE(&w);
        w.asked_ms = 0;
        put(&w, "hub-agent", "hub", "/namespaces", HOME(OURS));
        BROKEN(&w, "hub-agent makes _t0-a__Namespace, and no inventory lists it");
        close_watch(&w);
}

/* ---- order ---- */

static void a_placement_goes_before_its_namespace(void **state)
{
        struct watch w;

        open_desk(&w, &rule_table_order);
        put(&w, "hub-agent", "hub", "/namespaces", HOME(OURS));
        put(&w, "hub-agent", "hub", RES_PLACEMENTS, HOME(OURS));
        put(&w, "hub-agent", "hub", RES_PLACEMENTS, HOME(OURS LEAVING));
        w.now += 60000; /* it has had its time */
        put(&w, "hub-agent", "hub", "/namespaces", HOME(OURS LEAVING));
        FINE(&w);
        close_watch(&w);

        open_desk(&w, &rule_table_order);
        put(&w, "hub-agent", "hub", "/namespaces", HOME(OURS));
        put(&w, "hub-agent", "hub", RES_PLACEMENTS, HOME(OURS));
        put(&w, "hub-agent", "hub", "/namespaces", HOME(OURS LEAVING));
        BROKEN(&w, "hub-agent deletes namespace t0-a, and its placement stands");
        close_watch(&w);

        open_desk(&w, &rule_table_order);
        put(&w, "hub-agent", "hub", "/namespaces", HOME(OURS));
        put(&w, "hub-agent", "hub", RES_PLACEMENTS, HOME(OURS));
        put(&w, "hub-agent", "hub", RES_PLACEMENTS, HOME(OURS LEAVING));
        w.now += 20000;
        put(&w, "hub-agent", "hub", "/namespaces", HOME(OURS LEAVING));
        BROKEN(&w, "hub-agent deletes namespace t0-a before its placement is gone");
        close_watch(&w);
}

/* ---- foreign ---- */

static void what_is_not_its_own_is_not_deleted(void **state)
{
        struct watch w;

        open_desk(&w, &rule_table_foreign);
        put_map(&w, "player", MAP(NEVER_OURS));
        w.now += 100000;
        take(&w, "hub-agent", "hub", MAPS, "desk", "t2-a");
        BROKEN(&w, "hub-agent deletes desk_t2-a__ConfigMap, which is not its own, or protected");
        close_watch(&w);

        open_desk(&w, &rule_table_foreign);
        put_map(&w, "player", MAP(THEIRS PROTECTED));
        w.now += 1000; /* the agent may have read it before */
        take(&w, "hub-agent", "hub", MAPS, "desk", "t2-a");
        FINE(&w);
        close_watch(&w);
}

static void what_nothing_wants_is_not_written(void **state)
{
        struct watch w;

        open_desk(&w, &rule_table_foreign);
        put_map(&w, "player", MAP(NEVER_OURS));
        put_map(&w, "hub-agent", MAP(THEIRS));
        FINE(&w);
        w.wish.desk.tables[2].own = (struct wish_inputs){ { 0, 1 } };
        put(&w, "player", "hub", TABLES, TABLE("2", ""));
        w.now += 100000;
        put_map(&w, "hub-agent", MAP(THEIRS PROTECTED));
        BROKEN(&w, "hub-agent writes desk_t2-a__ConfigMap, which nothing wants");
        close_watch(&w);

        open_desk(&w, &rule_table_foreign);
        put_map(&w, "hub-agent", MAP(NEVER_OURS));
        BROKEN(&w, "without saying whose it is");
        close_watch(&w);

        open_desk(&w, &rule_table_foreign);
        put_map(&w, "hub-agent", "{'metadata':{'name':'t2-x','namespace':'desk'}}");
        BROKEN(&w, "hub-agent writes desk/t2-x, which is nobody's");
        close_watch(&w);
}

/* Who has not heard that a source left the pool takes it for one that is in it. */
static void what_a_source_gave_that_just_left_the_pool_may_be_written(void **state)
{
        for (int late = 0; late < 2; late++) {
                struct watch w;

                open_desk(&w, &rule_table_foreign);
                w.wish.desk.tables[2].own = (struct wish_inputs){ { 0, 1 } };
                w.wish.desk.sources[1] = (struct wish_source){ .exists = true, .pooled = true };
                put(&w, "player", "hub", TABLES, TABLE("2", ""));
                w.now += 100000;
                w.wish.desk.sources[1].pooled = false;
                put(&w, "player", "hub", SOURCES, "{'metadata':{'name':'source-1','namespace':'desk'}}");
                w.now += late ? 100000 : 1000;
                w.wish.desk.tables[2].pool = true;
                put(&w, "player", "hub", TABLES, TABLE("2", ""));
                w.now += 1000;
                put_map(&w, "hub-agent", MAP(THEIRS));
                if (late)
                        BROKEN(&w, "hub-agent writes desk_t2-a__ConfigMap, which nothing wants");
                else
                        FINE(&w);
                close_watch(&w);
        }
}

/* ---- retries ---- */

#define SAYS(name, reason)                                                                                   \
        "{'metadata':{'name':'" name "','namespace':'desk'},'spec':{'type':'ExternalService'},'status':{"    \
        "'conditions':[{'type':'Ready','reason':'" reason "'}],'exportedInputs':[{'id':'" reason "'}]}}"

static void what_fails_is_known_to_be_tried_again(void **state)
{
        AUTO_JSON json_t *failed = parse(SAYS("table-0", "ReconciliationFailed")),
                         *runs = parse(SAYS("table-0", "Progressing"));
        struct change c = { .resource = TABLES, .name = "table-0", .before = failed, .after = runs };
        struct watch w;

        assert_true(rules_table_is_tried_again(&c));
        c.before = runs;
        assert_false(rules_table_is_tried_again(&c));
        c.resource = SOURCES;
        assert_true(rules_table_is_tried_again(&c));
        c.before = failed;
        assert_false(rules_table_is_tried_again(&c)); /* it exports something else */
        open_watch(&w, &rule_table_kept);
        assert_false(rules_tables_try_again(&w));
        put(&w, "hub-agent", "hub", SOURCES, SAYS("source-2", "ReconciliationFailed"));
        assert_true(rules_tables_try_again(&w));
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_wanted_is_not_deleted),
                cmocka_unit_test(what_was_not_wanted_a_moment_ago_may_go),
                cmocka_unit_test(a_set_that_cannot_be_built_deletes_nothing),
                cmocka_unit_test(with_a_source_that_is_new_nobody_can_tell),
                cmocka_unit_test(nothing_is_made_that_is_not_listed),
                cmocka_unit_test(a_placement_goes_before_its_namespace),
                cmocka_unit_test(what_is_not_its_own_is_not_deleted),
                cmocka_unit_test(what_nothing_wants_is_not_written),
                cmocka_unit_test(what_a_source_gave_that_just_left_the_pool_may_be_written),
                cmocka_unit_test(what_fails_is_known_to_be_tried_again),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
