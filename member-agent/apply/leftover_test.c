/* What becomes of an object that its Work no longer lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/base.h"
#include "member-agent/apply/leftover.h"
#include "member-agent/apply/testing.h"

#define OURS                                                                                                 \
        "{'apiVersion':'" APPLIED_WORK_API_VERSION "','kind':'AppliedWork','name':'w','uid':'1',"            \
        "'blockOwnerDeletion':true}"
#define FOREIGN "{'apiVersion':'v1','kind':'ConfigMap','name':'f','uid':'9'}"
#define OWNED(rest, references) "{'metadata':{" rest "'ownerReferences':[" references "]}}"
#define MARKED "'annotations':{'kubernetes-fleet.io/spec-hash':'h'},"

static void who_owns_it_and_whether_it_was_applied_decide(void **state)
{
        static const struct owner us = { "w", "1" };
        static const struct {
                const char *live;
                bool applied;
                enum apply_type type;
                enum leftover what;
        } lines[] = {
                { OWNED(MARKED, OURS), false, STRATEGY_CLIENT_SIDE, LEFTOVER_REMOVED },
                { OWNED("", OURS), true, STRATEGY_SERVER_SIDE, LEFTOVER_REMOVED },
                { OWNED("", OURS), false, STRATEGY_CLIENT_SIDE, LEFTOVER_RELEASED },
                { OWNED(MARKED, OURS "," FOREIGN), true, STRATEGY_CLIENT_SIDE, LEFTOVER_RELEASED },
                { OWNED(MARKED, OURS), true, STRATEGY_REPORT_DIFF, LEFTOVER_STAYS },
                { OWNED("", OURS), false, STRATEGY_REPORT_DIFF, LEFTOVER_RELEASED },
                { OWNED(MARKED, FOREIGN), true, STRATEGY_CLIENT_SIDE, LEFTOVER_GONE },
                { OWNED(MARKED "'deletionTimestamp':'x',", OURS), true, STRATEGY_CLIENT_SIDE, LEFTOVER_GONE },
                { NULL, true, STRATEGY_CLIENT_SIDE, LEFTOVER_GONE },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *live = lines[i].live ? quoted(lines[i].live) : NULL;

                assert_int_equal(leftover_decide(live, &us, lines[i].applied, lines[i].type), lines[i].what);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_owns_it_and_whether_it_was_applied_decide),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
