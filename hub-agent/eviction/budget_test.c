#include "hub-agent/eviction/eviction_test.h"

static bool allows(const char *budget, int64_t n_wanted, size_t available, size_t total)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        return budget_allows(budget_of(&arena, budget), n_wanted, available, total) > 0;
}

/* The examples of spec/staged-update-and-eviction.md 15; spec/staged-update-and-eviction.md checklist 49 */
static void a_budget_allows_what_the_examples_say(void **state)
{
        static const struct {
                const char *budget;
                int64_t n_wanted;
                size_t available, total;
                bool allowed;
        } cases[] = {
                { "max 0", 1, 1, 1, false },          { "max 1", 2, 1, 1, true },
                { "max 1", 2, 1, 2, false },          { "max 1", 2, 2, 2, true },
                { "max 1", 1, 0, 1, false },          { "max 2", 4, 2, 4, false },
                { "max 2", 4, 2, 3, true },           { "max 10%", 1, 0, 1, false },
                { "max 10%", 1, 1, 1, true },         { "max 40%", 4, 2, 4, false },
                { "max 50%", 3, 2, 3, true },         { "max 100%", 2, 0, 2, false },
                { "max 100%", 4, 2, 4, true },        { "max 0%", 9, 9, 9, false },
                { "min 0", 1, 0, 1, false },          { "min 0", 1, 1, 1, true },
                { "min 1", 1, 1, 1, false },          { "min 1", 2, 2, 2, true },
                { "min 3", 3, 3, 3, false },          { "min 40%", 5, 2, 3, false },
                { "min 40%", 3, 3, 3, true },         { "min 100%", 3, 3, 3, false },
                { "min 100%", 2, 3, 3, true },        { "min 0%", 3, 1, 3, true },
                { "min 2", 0, 3, 3, true },           { "", 3, 3, 3, false },
                { "min 2147483647", 3, 3, 3, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                if (allows(cases[i].budget, cases[i].n_wanted, cases[i].available, cases[i].total) !=
                    cases[i].allowed)
                        fail_msg("%s of %lld, %zu of %zu available: must be %s", cases[i].budget,
                                 (long long)cases[i].n_wanted, cases[i].available, cases[i].total,
                                 cases[i].allowed ? "allowed" : "blocked");
}

/* Counted out, as a person would: one cluster after the other is taken until the rule is broken. */
static int64_t counted_out(bool max, int64_t limit, size_t available, size_t total)
{
        int64_t taken = 0;

        for (;; taken++) {
                int64_t left = (int64_t)available - taken - 1;
                int64_t without = (int64_t)total - left;

                if (max ? without > limit : left < limit)
                        return taken;
                if (taken > 400) /* no number of clusters breaks it */
                        return taken;
        }
}

static int64_t rounded_up(int64_t percent, int64_t of)
{
        int64_t n = 0;

        while (n * 100 < percent * of)
                n++;
        return n;
}

static void check_one(struct arena *arena, bool max, int64_t percent, int64_t number, int64_t n_wanted)
{
        char text[32];
        const struct disruption_budget *b;
        int64_t limit = percent >= 0 ? rounded_up(percent, n_wanted) : number;

        if (percent >= 0)
                snprintf(text, sizeof(text), "%s %lld%%", max ? "max" : "min", (long long)percent);
        else
                snprintf(text, sizeof(text), "%s %lld", max ? "max" : "min", (long long)number);
        b = budget_of(arena, text);
        for (size_t total = 0; total <= 7; total++)
                for (size_t available = 0; available <= total; available++) {
                        int64_t allowed = budget_allows(b, n_wanted, available, total);

                        if (allowed != counted_out(max, limit, available, total))
                                fail_msg("%s of %lld, %zu of %zu: %lld allowed", text, (long long)n_wanted,
                                         available, total, (long long)allowed);
                }
}

static void a_budget_allows_what_can_be_counted_out(void **state)
{
        for (int64_t n_wanted = 0; n_wanted <= 7; n_wanted++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;

                for (int max = 0; max <= 1; max++) {
                        for (int64_t percent = 0; percent <= 100; percent++)
                                check_one(&arena, max, percent, 0, n_wanted);
                        for (int64_t number = 0; number <= 9; number++)
                                check_one(&arena, max, -1, number, n_wanted);
                }
        }
}

/* The definition refuses them; what was stored before it did counts as nothing. */
static void what_is_no_percentage_counts_as_none(void **state)
{
        static const char *const words[] = { "50", "%", "x%", "5%%", "", "99999999999999999999%", "-5%" };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct disruption_budget_spec spec = { .max_unavailable = { .text = words[i], .set = true } };
                struct disruption_budget b = { .spec = &spec };

                assert_int_equal(budget_allows(&b, 10, 10, 10), 0);
                spec = (struct disruption_budget_spec){ .min_available = { .text = words[i], .set = true } };
                assert_int_equal(budget_allows(&b, 10, 10, 10), 10);
        }
}

static void numbers_beyond_all_bounds_do_not_overflow(void **state)
{
        struct disruption_budget_spec spec = { .min_available = { .value = INT64_MIN, .set = true } };
        struct disruption_budget b = { .spec = &spec };

        assert_true(budget_allows(&b, 3, 3, 3) > 0);
        spec.min_available.value = INT64_MAX;
        assert_int_equal(budget_allows(&b, 3, 3, 3), 0);
        spec = (struct disruption_budget_spec){ .max_unavailable = { .text = "5000000000%", .set = true } };
        assert_true(budget_allows(&b, INT32_MAX, 3, 3) > 0);
}

static void a_policy_that_names_no_type_picks_all(void **state)
{
        struct placement_policy policy = { .cluster_names.n = 0 };
        struct placement_spec spec = { .policy = &policy };
        struct placement placement = { .spec = &spec };
        struct disruption_budget_spec limits = { .max_unavailable = { .value = 1, .set = true } };
        struct disruption_budget budget = { .spec = &limits };

        assert_string_equal(placement_type_of(&placement), "PickAll");
        assert_true(budget_is_misconfigured(&budget, &placement));
        policy.placement_type = "";
        assert_string_equal(placement_type_of(&placement), "PickAll");
        policy.placement_type = "PickN";
        assert_string_equal(placement_type_of(&placement), "PickN");
        assert_false(budget_is_misconfigured(&budget, &placement));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_budget_allows_what_the_examples_say),
                cmocka_unit_test(a_budget_allows_what_can_be_counted_out),
                cmocka_unit_test(what_is_no_percentage_counts_as_none),
                cmocka_unit_test(numbers_beyond_all_bounds_do_not_overflow),
                cmocka_unit_test(a_policy_that_names_no_type_picks_all),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
