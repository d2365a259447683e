#include "hub-agent/rollout/rollout_test.h"
#include "hub-agent/starve_test.h"

/* spec/rollout-and-work.md checklist 11, 12, 13, 15, 17, 18
 * spec/rollout-and-work.md 2.13: picked as +n (made Bound) and -n (deleted), in order of the plan; blocked as
 * !n. */
static void rolls_as_in_the_worked_cases(void **state)
{
        static const struct {
                int n;
                const char *unavailable, *surge, *bindings[7], *expected;
                int64_t wait_s;
        } rows[] = {
                { 5, "\"20%\"", "0", { "Bof", "Bo-", "Bo-", "Bo-", "Bo-" }, "+0 !1 !2 !3 !4", 60 },
                { 5, "\"20%\"", "0", { "Bof", "Bof", "Bof", "Bor", "Bor" }, "+0 +1 +2 !3 !4", 60 },
                { 5, "0", "3", { "Bor", "Bor", "Bor", "Bor", "Bor" }, "!0 !1 !2 !3 !4", 0 },
                { 3, "\"20%\"", "3", { "Boa", "So-" }, "+1 !0", 60 },
                { 2, "\"20%\"", "0", { "Uor", "Uor" }, "-0", 0 },
                { 2, "0", "1", { "Uo-d", "Uo-", "So-", "So-" }, "+2 !3", 60 },
                { 2, "2", "0", { "Uord", "Uor", "So-", "So-" }, "-1 !2 !3", 0 },
                { 4, "0", "0", { "Bord", "Bnr", "So-", "So-" }, "+2 +3", 0 },
                { 4, "4", "0", { "Bord", "Bor", "So-", "So-" }, "+1 +2 +3", 0 },
                { 2, "0", "0", { "Bnr", "Bnr", "Uord", "Uor" }, "-3", 0 },
                { 2, "1", "0", { "Bord", "Bnr", "Uor", "Uor" }, "-2 -3", 0 },
                { 2, "0", "0", { "Uord", "Uor", "Uor", "Uor", "So-", "So-" }, "-1 !4 !5", 0 },
                { 2, "1", "0", { "Bor", "Bor", "Uord", "Uor" }, "+0 -3 !1", 0 },
                { 2, "0", "0", { "Bord", "Bof" }, "+1", 60 },
                { 1, "0", "0", { "Bot" }, "!0", 25 },
                /* What has not reported yet may be available: it waits for its turn, and counts as surge. */
                { 3, "\"25%\"", "0", { "Bop", "Bop", "Bop" }, "!0 !1 !2", 60 },
                { 3, "\"25%\"", "0", { "Bop", "Bor", "Bor" }, "!0 !1 !2", 60 },
                { 3, "2", "0", { "Bop", "Bor", "Bor" }, "+0 !1 !2", 60 },
                { 3, "\"20%\"", "0", { "Bnp", "Bnr", "Bnr", "So-" }, "!3", 60 },
                /* What failed is of use to nobody: its place may be filled. */
                { 2, "0", "0", { "Bnf", "Bnr", "So-" }, "+2", 60 },
                { 2, "0", "0", { "Bnr", "Bnr", "So-" }, "!2", 0 },
                /* Unscheduled, it may go. */
                { 2, "0", "0", { "Bnr", "Uop", "So-" }, "-1 !2", 60 },
                { 0, "\"100%\"", "\"100%\"", { "Uox" }, "-0", 60 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char picked[64];
                struct round r;

                begin(&r, rows[i].n, rows[i].unavailable, rows[i].surge);
                for (size_t k = 0; k < 7 && rows[i].bindings[k]; k++)
                        add(&r, rows[i].bindings[k]);
                run(&r);
                if (!text_equal(picks(&r, picked), rows[i].expected) ||
                    r.plan.after_ms != rows[i].wait_s * 1000)
                        fail_msg("row %zu: %s after %lld ms, expected %s after %lld s", i, picked,
                                 (long long)r.plan.after_ms, rows[i].expected, (long long)rows[i].wait_s);
                arena_free(&r.arena);
        }
}

/* spec/rollout-and-work.md 2.5, 6.8: reasons and lists tell, never the words of a message. */
static void what_failed_is_told_from_what_is_under_way(void **state)
{
        static const struct {
                const char *type, *reason, *message;
                bool listed, failed, works;
        } rows[] = {
                { "Applied", "NotAllWorkHaveBeenApplied", "Work object w has failed to apply", true, true },
                { "Applied", "NotAllWorkHaveBeenApplied", "w has not yet completed the apply op", true,
                  true },
                { "Applied", "NotAllWorkHaveBeenApplied", "Work object w has failed to apply", false, false },
                { "Applied", "NotAllWorkHaveBeenApplied", "", false, true, true },
                { "Available", "NotAllWorkAreAvailable", "", false, true, true },
                { "Applied", "ApplyInProgress", "", false, false, true },
                { "Applied", "ApplyInProgress", "", false, false },
                { "Available", "NotAllWorkAreAvailable", "Work object w is not yet available", true, true },
                { "Available", "NotAllWorkAreAvailable", "w has not yet completed availability check", true,
                  true },
                { "Available", "NotAllWorkAreAvailable", "Work object w is not yet available", false, false },
                { "Overridden", "OverriddenFailed", "has not yet completed the apply op", false, true },
                { "WorkSynchronized", "SyncWorkFailed", "", false, true },
                { "Applied", "", "has not yet completed the apply op", false, true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char json[1024];
                struct round r = { .in.now_ms = NOW };

                snprintf(json, sizeof(json),
                         "{\"metadata\":{\"name\":\"b\",\"generation\":1},\"spec\":{\"state\":\"Bound\"},"
                         "\"status\":"
                         "{%s\"conditions\":[{\"type\":\"%s\",\"status\":\"False\",\"reason\":\"%s\","
                         "\"message\":"
                         "\"%s\",\"observedGeneration\":1}]}}",
                         rows[i].listed ? LISTED : "", rows[i].type, rows[i].reason, rows[i].message);
                if (binding_failed(parse(&r, &cluster_resource_binding_kind, json), rows[i].works) !=
                    rows[i].failed)
                        fail_msg("row %zu", i);
                arena_free(&r.arena);
        }
}

/* spec/rollout-and-work.md 2.5; checklist 17. What cannot be tracked is ready once it has been available for
 * the period, to the millisecond: a timer set for the wait finds it ready. */
static void who_cannot_be_tracked_is_ready_after_the_period(void **state)
{
        static const struct {
                const char *condition; /* "t" untrackable, "r" trackable, "p" under way, "-" none */
                int64_t age_ms, period_ms;
                bool ready;
                int64_t wait_ms;
        } rows[] = {
                { "t", 0, 60000, false, 60000 },     { "t", 35000, 60000, false, 25000 },
                { "t", 59999, 60000, false, 1 },     { "t", 60000, 60000, true, 0 },
                { "t", 60001, 60000, true, 0 },      { "t", 0, 0, true, 0 },
                { "t", -5000, 60000, false, 60000 }, /* another clock is ahead: never longer than the period
                                                      */
                { "t", -5000, 0, true, 0 },          /* and nothing is no wait by any clock */
                { "r", 0, 60000, true, 0 },          { "p", 0, 60000, false, -1 },
                { "-", 0, 60000, false, -1 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char letters[] = { 'B', 'o', rows[i].condition[0], '\0' };
                struct binding *b;
                struct round r;
                int64_t wait;
                bool ready;

                begin(&r, 1, "1", "0");
                add(&r, letters);
                b = (struct binding *)r.bindings[0];
                if (b->status->conditions.n)
                        b->status->conditions.at[0].last_transition_ms = NOW - rows[i].age_ms;
                ready = binding_ready(b, rows[i].period_ms, NOW, &wait);
                if (ready != rows[i].ready || wait != rows[i].wait_ms)
                        fail_msg("row %zu: %d after %lld ms", i, ready, (long long)wait);
                arena_free(&r.arena);
        }
}

/* Its Available lies ten minutes ahead: the clock was set back. */
static void a_clock_that_was_set_back_delays_nobody_longer_than_the_period(void **state)
{
        static const struct {
                int64_t ahead_ms;
                const char *expected;
                int64_t wait_ms;
        } rows[] = { { 0, "!0", 60000 }, { 20000, "!0", 40000 }, { 60000, "+0", 0 }, { 90000, "+0", 0 } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char picked[64];
                struct round r;

                begin(&r, 1, "1", "0");
                add(&r, "Bot");
                ((struct binding *)r.bindings[0])->status->conditions.at[0].last_transition_ms = NOW + 600000;
                r.in.ahead_ms = &rows[i].ahead_ms;
                run(&r);
                if (!text_equal(picks(&r, picked), rows[i].expected) || r.plan.after_ms != rows[i].wait_ms)
                        fail_msg("row %zu: %s after %lld ms", i, picked, (long long)r.plan.after_ms);
                arena_free(&r.arena);
        }
}

/* spec/rollout-and-work.md checklist 16 */
static void who_reports_differences_is_ready_and_no_surge(void **state)
{
        static const struct {
                const char *unavailable, *bindings[3], *expected;
        } rows[] = {
                { "0", { "Bnr", "So-" }, "!1" }, /* one is there: no room for another */
                { "0", { "BnD", "So-" }, "+1" }, /* what only reports does not count */
                { "0", { "Bnx", "So-" }, "+1" },
                { "1", { "BoD" }, "+0" }, /* ready at once, so it may be updated */
                { "1", { "Box" }, "!0" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char picked[64];
                struct round r;

                begin(&r, 1, rows[i].unavailable, "0");
                for (size_t k = 0; k < 3 && rows[i].bindings[k]; k++)
                        add(&r, rows[i].bindings[k]);
                run(&r);
                if (!text_equal(picks(&r, picked), rows[i].expected))
                        fail_msg("row %zu: %s", i, picked);
                arena_free(&r.arena);
        }
}

static size_t updated_of(size_t n, const char *unavailable, const char *policy)
{
        struct round r;
        AUTO_BUF struct buf b;
        size_t updated;

        begin(&r, (int)n, unavailable, "0");
        if (policy) {
                buf_init(&b, 4096);
                buf_printf(&b,
                           "{\"metadata\":{\"name\":\"web\"},\"spec\":{%s\"strategy\":{\"rollingUpdate\":{"
                           "\"maxUnavailable\":%s,\"maxSurge\":0},\"applyStrategy\":" STRATEGY "}}}",
                           policy, unavailable);
                r.in.placement = parse(&r, &cluster_resource_placement_kind, b.data);
        } else {
                buf_init(&b, 1);
        }
        for (size_t i = 0; i < n; i++)
                add(&r, "Bor");
        run(&r);
        updated = r.plan.n_update;
        arena_free(&r.arena);
        return updated;
}

/* spec/rollout-and-work.md checklist 8 */
static void percentages_are_rounded_up(void **state)
{
        assert_int_equal(updated_of(3, "\"25%\"", NULL), 1);
        assert_int_equal(updated_of(10, "\"25%\"", NULL), 3);
        assert_int_equal(updated_of(5, "\"20%\"", NULL), 1);
        assert_int_equal(updated_of(5, "2", NULL), 2);
        assert_int_equal(updated_of(5, "\"3\"", NULL), 3); /* a number as text */
        assert_int_equal(updated_of(5, "\"much\"", NULL), 0);
        assert_int_equal(updated_of(5, "\"much%\"", NULL), 0);
        assert_int_equal(updated_of(5, "\"%\"", NULL), 0);
        assert_int_equal(updated_of(5, "\"00000040%\"", NULL), 0);
}

/* spec/rollout-and-work.md checklist 9 */
static void the_target_number_is_that_of_the_policy(void **state)
{
        static const char fixed[] =
                "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\",\"b\",\"c\"]},";
        static const char four[] = "\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":4},";

        /* Two ready ones, two may be unavailable: of N, all but two have to stay. */
        assert_int_equal(updated_of(2, "2", ""), 2);
        assert_int_equal(updated_of(2, "0", "\"policy\":{},"), 0);
        assert_int_equal(updated_of(2, "0", "\"policy\":{\"placementType\":\"PickAll\"},"), 0);
        assert_int_equal(updated_of(2, "2", fixed), 1);
        assert_int_equal(updated_of(2, "2", four), 0);
}

/* spec/rollout-and-work.md checklist 10 */
static void the_first_round_of_a_pick_all_binds_all(void **state)
{
        struct round r;

        begin(&r, 0, "0", "0");
        r.in.placement = parse(
                &r, &cluster_resource_placement_kind,
                "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"policy\":{\"placementType\":\"PickAll\"}}}");
        for (int i = 0; i < 9; i++)
                add(&r, "So-");
        run(&r);
        assert_int_equal(r.plan.n_update, 9);
        arena_free(&r.arena);
}

/* Its cost is to grow with the bindings, not with their square: `valgrind --tool=callgrind
 * --toggle-collect=plan_rollout` with other numbers tells. */
static void a_round_of_many_bindings_is_planned(void **state)
{
        struct round r;

        begin(&r, BINDINGS_MAX, "\"25%\"", "0");
        for (size_t i = 0; i < BINDINGS_MAX; i++)
                add(&r, i % 2 ? "Bor" : "Bnr");
        run(&r);
        assert_int_equal(r.plan.n_update, BINDINGS_MAX / 4);
        arena_free(&r.arena);
}

/* spec/rollout-and-work.md checklist 14 */
static void an_unscheduled_binding_that_has_to_stay_is_not_told_that_it_is_blocked(void **state)
{
        char picked[64];
        struct round r;

        begin(&r, 2, "0", "0");
        add(&r, "Bor");
        add(&r, "Uor");
        run(&r);
        assert_string_equal(picks(&r, picked), "!0");
        arena_free(&r.arena);
}

static void a_scheduled_binding_gets_state_snapshot_finalizer_and_strategy(void **state)
{
        const struct binding *w;
        struct round r;

        begin(&r, 1, "1", "1");
        add(&r, "So-");
        run(&r);
        assert_int_equal(r.plan.n_update, 1);
        w = r.plan.update[0].wanted;
        assert_string_equal(w->spec->state, "Bound");
        assert_string_equal(w->spec->resource_snapshot_name, "web-1-snapshot");
        assert_true(object_has_finalizer(&w->object, FINALIZER_WORK));
        assert_string_equal(w->spec->apply_strategy->type, "ClientSideApply");
        arena_free(&r.arena);
}

/* spec/rollout-and-work.md checklist 3, 4 */
static void a_changed_apply_strategy_goes_to_all_bindings_and_nothing_else_happens(void **state)
{
        struct round r;

        begin(&r, 2, "1", "1");
        add(&r, "Bor");
        add(&r, "Uor");
        add(&r, "Bord");
        ((struct placement *)r.in.placement)->spec->strategy->apply_strategy->type = "ServerSideApply";
        run(&r);
        assert_int_equal(r.plan.n_strategy, 2);
        assert_int_equal(r.plan.n_update, 0);
        assert_string_equal(r.plan.strategy[0].wanted->spec->apply_strategy->type, "ServerSideApply");
        assert_false(r.plan.strategy[0].wanted->spec->apply_strategy->server_side_apply_config->force.value);
        arena_free(&r.arena);
}

/* spec/rollout-and-work.md checklist 19 */
static void up_to_date_bindings_are_announced_until_they_say_so(void **state)
{
        struct round r;

        begin(&r, 1, "1", "1");
        add(&r, "Bnr");
        run(&r);
        assert_int_equal(r.plan.started.n, 1);
        assert_int_equal(r.plan.after_ms, 0);
        arena_free(&r.arena);
}

/* spec/rollout-and-work.md checklist 7 */
static void without_a_snapshot_nothing_is_rolled(void **state)
{
        struct round r;

        begin(&r, 1, "1", "1");
        add(&r, "So-");
        r.in.master = NULL;
        run(&r);
        assert_int_equal(r.plan.n_update + r.plan.blocked.n, 0);
        assert_int_equal(r.plan.after_ms, 0);
        arena_free(&r.arena);
}

/* Who is wanted no more, and is of no use to anyone, need not wait for the next snapshot. */
static void without_a_snapshot_goes_what_is_no_loss(void **state)
{
        static const bool departed[] = { true, true, false, false, true };
        char picked[64];
        struct round r;

        begin(&r, 1, "0", "0");
        add(&r, "Bnr");
        add(&r, "Unr");
        add(&r, "Unf");
        add(&r, "Unr");
        add(&r, "Unrd");
        r.in.master = NULL;
        r.in.departed = departed;
        run(&r);
        assert_string_equal(picks(&r, picked), "-1 -2");
        arena_free(&r.arena);
}

/* Works are of the binding that ctx points to. */
static int works_of_one(void *ctx, const struct binding *b, bool *ret)
{
        *ret = (const void *)b == ctx;
        return 0;
}

/* Instead of the error of spec/rollout-and-work.md 2.4, for which the placement stood still for good. */
static void of_two_bindings_on_a_cluster_one_goes(void **state)
{
        static const struct {
                const char *a, *b;
                int works;     /* which has Works: 0, 1, or neither */
                int64_t at[2]; /* when they were made */
                size_t goes;
        } rows[] = {
                { "Bnr", "So-", -1, { 0, 0 }, 1 }, { "So-", "Bnr", -1, { 0, 0 }, 0 },
                { "Bnr", "Bnr", -1, { 0, 0 }, 1 }, { "Bnr", "Bnr", -1, { 9, 3 }, 0 },
                { "Bnr", "Bnr", 0, { 9, 3 }, 1 },  { "Bnr", "So-", 1, { 0, 0 }, 0 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct round r;

                begin(&r, 2, "1", "1");
                add(&r, rows[i].a);
                add(&r, rows[i].b);
                add(&r, "So-");
                ((struct binding *)r.bindings[1])->spec->target_cluster = "c0";
                for (size_t k = 0; k < 2; k++)
                        ((struct object *)r.bindings[k])->meta.creation_ms = rows[i].at[k];
                r.in.has_works = works_of_one;
                r.in.ctx = rows[i].works < 0 ? NULL : (void *)(uintptr_t)r.bindings[rows[i].works];
                for (int external = 0; external < 2; external++) {
                        r.in.external = external;
                        run(&r);
                        if (r.plan.n_surplus != 1 ||
                            &r.plan.surplus[0].b->object != r.bindings[rows[i].goes] ||
                            &r.plan.surplus[0].stays->object != r.bindings[1 - rows[i].goes])
                                fail_msg("row %zu", i);
                        assert_int_equal(r.plan.n_update + r.plan.remove.n + r.plan.blocked.n, 0);
                }
                arena_free(&r.arena);
        }
}

static void what_is_left_of_two_bindings_goes_on_while_the_other_goes(void **state)
{
        char picked[64];
        struct round r;

        begin(&r, 1, "1", "1");
        add(&r, "Bor");
        add(&r, "Bord");
        ((struct binding *)r.bindings[1])->spec->target_cluster = "c0";
        run(&r);
        assert_false(r.plan.wait_for_cleanup);
        assert_string_equal(picks(&r, picked), "+0");
        arena_free(&r.arena);
}

/* spec/rollout-and-work.md checklist 5 */
static void a_new_binding_waits_for_the_one_that_goes(void **state)
{
        struct round r;

        begin(&r, 1, "1", "1");
        add(&r, "Bnr");
        add(&r, "So-");
        ((struct binding *)r.bindings[1])->spec->target_cluster = "c0";
        ((struct object *)(uintptr_t)r.bindings[0])->meta.deletion_ms = NOW;
        run(&r);
        assert_true(r.plan.wait_for_cleanup);
        assert_int_equal(r.plan.n_update, 0);
        arena_free(&r.arena);
}

/* One cluster that does not let go of what it had, such as one that is away, holds up no other. */
static void a_cluster_that_is_still_cleaned_up_waits_alone(void **state)
{
        char picked[64];
        struct round r;

        begin(&r, 3, "1", "1");
        add(&r, "Bord");
        add(&r, "So-");
        add(&r, "So-");
        add(&r, "Bor");
        ((struct binding *)r.bindings[1])->spec->target_cluster = "c0";
        run(&r);
        assert_true(r.plan.wait_for_cleanup);
        assert_string_equal(picks(&r, picked), "+2 !3");
        arena_free(&r.arena);
}

static void what_a_departed_cluster_held_needs_no_slot(void **state)
{
        static const bool departed[] = { false, true };
        struct round r;

        begin(&r, 2, "0", "0");
        add(&r, "Bnr");
        add(&r, "Uo-");
        r.in.departed = departed;
        run(&r);
        assert_int_equal(r.plan.remove.n, 1);
        arena_free(&r.arena);
}

/* Nothing is available there any more, whatever its binding still says. */
static void a_departed_cluster_makes_no_room_for_others(void **state)
{
        static const bool departed[] = { false, false, true };
        char picked[64];
        struct round r;

        begin(&r, 2, "1", "0");
        add(&r, "Bor");
        add(&r, "Bor");
        add(&r, "Uor");
        r.in.departed = departed;
        run(&r);
        assert_string_equal(picks(&r, picked), "+0 -2 !1");
        arena_free(&r.arena);
}

/* A cache that is behind still has the snapshots of a deleted placement, under the names of the new one's. */
static void snapshots_of_a_former_placement_of_the_name_do_not_count(void **state)
{
        static const char *const uids[] = { "former", "now", NULL };
        const struct object *all[ARRAY_LEN(uids)];
        struct object_list l = { all, ARRAY_LEN(uids) };
        struct object *p;
        struct round r = { 0 };

        p = parse(&r, &cluster_resource_placement_kind, "{\"metadata\":{\"name\":\"web\",\"uid\":\"now\"}}");
        for (size_t i = 0; i < ARRAY_LEN(uids); i++) {
                char json[512], owner[256] = "";

                if (uids[i])
                        snprintf(owner, sizeof(owner),
                                 ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
                                 "\"ClusterResourcePlacement\","
                                 "\"name\":\"web\",\"uid\":\"%s\",\"controller\":true}]",
                                 uids[i]);
                snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"web-%zu-snapshot\"%s}}", i, owner);
                all[i] = parse(&r, &cluster_resource_snapshot_kind, json);
        }
        drop_of_predecessors(&l, p);
        assert_int_equal(l.n, 2);
        assert_string_equal(l.at[0]->meta.name, "web-1-snapshot");
        assert_string_equal(l.at[1]->meta.name, "web-2-snapshot");
        arena_free(&r.arena);
}

/* It took a slot when it was given what it cannot get, and nothing it has counts as available. */
static void who_was_given_a_part_of_a_group_moves_on_without_a_slot(void **state)
{
        static const bool stranded[] = { true, false, false };
        struct round r;
        char out[64];

        begin(&r, 3, "1", "0");
        add(&r, "Bo-");
        add(&r, "Bor");
        add(&r, "Bor");
        run(&r);
        assert_string_equal(picks(&r, out), "!0 !1 !2");
        r.in.stranded = stranded;
        run(&r);
        assert_string_equal(picks(&r, out), "+0 !1 !2");
        arena_free(&r.arena);
}

static void both_spellings_of_a_comparison_are_one_strategy(void **state)
{
        static const char *const words[][2] = { { "fullComparison", "FullComparison" },
                                                { "FullComparison", "FullComparison" },
                                                { "partialComparison", "PartialComparison" },
                                                { "", "PartialComparison" } };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct round r;
                AUTO_BUF struct buf b;
                const struct apply_strategy *s;

                begin(&r, 1, "1", "0");
                buf_init(&b, 4096);
                buf_printf(&b,
                           "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"strategy\":{\"applyStrategy\":{"
                           "\"comparisonOption\":\"%s\"}}}}",
                           words[i][0]);
                r.in.placement = parse(&r, &cluster_resource_placement_kind, b.data);
                struct placement p = { .spec = r.in.placement->spec };
                s = defaulted_apply_strategy(&p, &r.arena);
                assert_non_null(s);
                assert_string_equal(s->comparison_option, words[i][1]);
                arena_free(&r.arena);
        }
}

static void overrides_of_one_name_in_two_namespaces_are_two(void **state)
{
        struct namespaced_name had = { .name = "o", .ns = "a" }, wanted = { .name = "o", .ns = "b" };
        struct cluster_overrides overrides = { .own = { &wanted, 1, true } };
        char out[64];
        struct round r;

        begin(&r, 1, "1", "0");
        add(&r, "Bnr");
        ((struct binding *)(uintptr_t)r.bindings[0])->spec->resource_override_snapshots.at = &had;
        ((struct binding *)(uintptr_t)r.bindings[0])->spec->resource_override_snapshots.n = 1;
        r.in.overrides = &overrides;
        run(&r);
        assert_string_equal(picks(&r, out), "+0");
        had.ns = "b";
        run(&r);
        assert_string_equal(picks(&r, out), "");
        arena_free(&r.arena);
}

/* It will not be ready where it is, and takes the place of none. */
static void what_failed_and_is_to_go_holds_no_place(void **state)
{
        char out[64];
        struct round r;

        begin(&r, 2, "1", "0");
        add(&r, "Bnr");
        add(&r, "Uof");
        add(&r, "So-");
        run(&r);
        assert_string_equal(picks(&r, out), "+2 -1");
        arena_free(&r.arena);
}

static void what_was_bound_is_in_use_until_it_is_gone(void **state)
{
        struct round r;

        begin(&r, 2, "1", "0");
        add(&r, "Bnr");
        add(&r, "Unr");
        add(&r, "Sn-");
        assert_true(binding_is_in_use((const struct binding *)r.bindings[0]));
        assert_true(binding_is_in_use((const struct binding *)r.bindings[1]));
        assert_false(binding_is_in_use((const struct binding *)r.bindings[2]));
        arena_free(&r.arena);
}

static int decide_without_memory(void *ctx, struct arena *arena)
{
        struct round *r = ctx;
        struct rollout_plan plan;

        return plan_rollout(arena, &r->in, &plan, &r->err);
}

static void without_memory_nothing_is_rolled_out(void **state)
{
        static const char *const bindings[] = {
                "Bor", "Bof", "Bnr", "Bna", "Sn-", "So-", "Uor", "Unr", "Bo-d"
        };
        struct round r;

        begin(&r, 4, "1", "1");
        for (size_t i = 0; i < ARRAY_LEN(bindings); i++)
                add(&r, bindings[i]);
        each_allocation_fails(decide_without_memory, &r);
        arena_free(&r.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rolls_as_in_the_worked_cases),
                cmocka_unit_test(what_failed_is_told_from_what_is_under_way),
                cmocka_unit_test(a_clock_that_was_set_back_delays_nobody_longer_than_the_period),
                cmocka_unit_test(who_cannot_be_tracked_is_ready_after_the_period),
                cmocka_unit_test(who_reports_differences_is_ready_and_no_surge),
                cmocka_unit_test(percentages_are_rounded_up),
                cmocka_unit_test(the_target_number_is_that_of_the_policy),
                cmocka_unit_test(the_first_round_of_a_pick_all_binds_all),
                cmocka_unit_test(a_round_of_many_bindings_is_planned),
                cmocka_unit_test(an_unscheduled_binding_that_has_to_stay_is_not_told_that_it_is_blocked),
                cmocka_unit_test(a_scheduled_binding_gets_state_snapshot_finalizer_and_strategy),
                cmocka_unit_test(a_changed_apply_strategy_goes_to_all_bindings_and_nothing_else_happens),
                cmocka_unit_test(up_to_date_bindings_are_announced_until_they_say_so),
                cmocka_unit_test(without_a_snapshot_nothing_is_rolled),
                cmocka_unit_test(without_a_snapshot_goes_what_is_no_loss),
                cmocka_unit_test(of_two_bindings_on_a_cluster_one_goes),
                cmocka_unit_test(what_is_left_of_two_bindings_goes_on_while_the_other_goes),
                cmocka_unit_test(a_new_binding_waits_for_the_one_that_goes),
                cmocka_unit_test(a_cluster_that_is_still_cleaned_up_waits_alone),
                cmocka_unit_test(what_a_departed_cluster_held_needs_no_slot),
                cmocka_unit_test(a_departed_cluster_makes_no_room_for_others),
                cmocka_unit_test(snapshots_of_a_former_placement_of_the_name_do_not_count),
                cmocka_unit_test(who_was_given_a_part_of_a_group_moves_on_without_a_slot),
                cmocka_unit_test(both_spellings_of_a_comparison_are_one_strategy),
                cmocka_unit_test(without_memory_nothing_is_rolled_out),
                cmocka_unit_test(overrides_of_one_name_in_two_namespaces_are_two),
                cmocka_unit_test(what_failed_and_is_to_go_holds_no_place),
                cmocka_unit_test(what_was_bound_is_in_use_until_it_is_gone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
