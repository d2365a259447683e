/* Bindings that say nothing of this generation, name no cluster, or go. */
#include "hub-agent/rollout/rollout_test.h"

/* What was said of an earlier generation, or that it has not begun, says nothing now. */
static void the_beginning_is_announced_until_it_is_told_of_this_generation(void **state)
{
        static const struct {
                const char *type, *status;
                int64_t generation;
                size_t announced;
        } rows[] = {
                { "RolloutStarted", "True", 1, 0 },
                { "RolloutStarted", "True", 0, 1 },
                { "RolloutStarted", "False", 1, 1 },
                { "Overridden", "True", 1, 1 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct condition *c;
                struct round r;

                begin(&r, 1, "1", "1");
                add(&r, "Bnr");
                c = &((struct binding *)r.bindings[0])->status->conditions.at[0];
                c->type = rows[i].type;
                c->status = rows[i].status;
                c->observed_generation = OPT_INT(rows[i].generation);
                run(&r);
                if (r.plan.started.n != rows[i].announced)
                        fail_msg("row %zu: %zu", i, r.plan.started.n);
                arena_free(&r.arena);
        }
}

/* Of several that name none, the scheduler lets go. */
static void bindings_without_a_cluster_are_on_none(void **state)
{
        struct round r;

        begin(&r, 2, "1", "1");
        for (size_t i = 0; i < 2; i++) {
                add(&r, "Bnr");
                ((struct binding *)r.bindings[i])->spec->target_cluster = i ? "" : NULL;
        }
        run(&r);
        assert_int_equal(r.plan.n_surplus, 0);
        assert_false(r.plan.wait_for_cleanup);
        arena_free(&r.arena);
}

/* Bound and as wished, Works or differences reported: what goes is not told anything any more. */
static void what_is_being_deleted_is_told_nothing(void **state)
{
        static const char *const letters[] = { "Bnrd", "Bord", "Uord", "Uofd", "So-d" };

        for (size_t i = 0; i < ARRAY_LEN(letters); i++) {
                char picked[64];
                struct round r;

                begin(&r, 1, "1", "1");
                add(&r, letters[i]);
                run(&r);
                if (*picks(&r, picked) || r.plan.started.n)
                        fail_msg("%s: %s", letters[i], picked);
                arena_free(&r.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_beginning_is_announced_until_it_is_told_of_this_generation),
                cmocka_unit_test(bindings_without_a_cluster_are_on_none),
                cmocka_unit_test(what_is_being_deleted_is_told_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
