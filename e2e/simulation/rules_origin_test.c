/* The rule of what AppliedWorks say of where they are from can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

#define APPLIED(placement, index, since)                                                                     \
        "{'kind':'AppliedWork','metadata':{'name':'w','annotations':{'kubernetes-fleet.io/"                  \
        "placement':'" placement "','kubernetes-fleet.io/resource-snapshot-index':'" index                   \
        "','kubernetes-fleet.io/since':'" since                                                              \
        "'}},'spec':{'workName':'w','workNamespace':'fleet-member-member-1'}}"
#define WORK_OF(labels)                                                                                      \
        "{'kind':'Work','metadata':{'name':'w','namespace':'fleet-member-member-1'," OF_APP                  \
        ",'kubernetes-fleet.io/parent-resource-snapshot-index':'2'" labels "}}}"

static void an_applied_work_says_at_rest_what_its_work_is_of(void **state)
{
        static const struct {
                const char *work, *applied, *words;
        } rows[] = {
                { WORK_OF(""), APPLIED("app-0", "2", "t"), "" },
                { WORK_OF(",'kubernetes-fleet.io/parent-placement-namespace':'n'"),
                  APPLIED("n/app-0", "2", "t"), "" },
                { WORK_OF(""), APPLIED("app-0", "1", "t"),
                  "member-1: AppliedWork w says that it is of \"app-0\", snapshot \"1\"" },
                { WORK_OF(""), APPLIED("app-1", "2", "t"), "its Work is of \"app-0\", snapshot \"2\"" },
                { WORK_OF(""), APPLIED("app-0", "2", ""), "since \"\"" },
                { "{'kind':'Work','metadata':{'name':'w','namespace':'fleet-member-member-1'}}",
                  APPLIED("", "", ""), "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct watch w;

                open_watch(&w, &rule_origin);
                put(&w, "hub-agent", "hub", RES_WORKS, rows[i].work);
                put(&w, "member-1", "member-1", RES_APPLIED_WORKS, rows[i].applied);
                rest(&w);
                BROKEN(&w, rows[i].words);
                if (!*rows[i].words)
                        FINE(&w);
                close_watch(&w);
        }
}

static void since_when_stays_while_the_snapshot_does(void **state)
{
        struct watch w;

        open_watch(&w, &rule_origin);
        put(&w, "member-1", "member-1", RES_APPLIED_WORKS, APPLIED("app-0", "1", "t1"));
        put(&w, "member-1", "member-1", RES_APPLIED_WORKS, APPLIED("app-0", "2", "t2"));
        put(&w, "member-1", "member-1", RES_APPLIED_WORKS, APPLIED("app-0", "2", "t2"));
        FINE(&w);
        assert_int_equal(w.judged, 1);
        put(&w, "member-1", "member-1", RES_APPLIED_WORKS, APPLIED("app-0", "2", "t3"));
        BROKEN(&w, "member-1: AppliedWork w is of the same snapshot since t3, and was since t2");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_applied_work_says_at_rest_what_its_work_is_of),
                cmocka_unit_test(since_when_stays_while_the_snapshot_does),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
