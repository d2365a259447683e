/* Starts and collections of providers: spec/member-agent.md 3.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "member-agent/properties/properties.h"
#include "proto/names.h"

static void a_start_is_waited_for_ten_seconds_and_noticed_later_as_well(void **state)
{
        struct provider_course c = { .begun_ms = 1000 };
        bool hold;

        assert_false(provider_course_step(&c, PROPERTIES_UNKNOWN, 1000, &hold));
        assert_true(hold);
        assert_false(provider_course_step(&c, PROPERTIES_UNKNOWN, 10999, &hold));
        assert_true(hold);
        assert_int_equal(c.start, COURSE_STARTING);
        assert_false(provider_course_step(&c, PROPERTIES_UNKNOWN, 11000, &hold));
        assert_false(hold); /* the built-in ones are told without it */
        assert_int_equal(c.start, COURSE_TIMED_OUT);
        assert_true(provider_course_step(&c, PROPERTIES_KNOWN, 90000, &hold));
        assert_int_equal(c.start, COURSE_STARTED);
        assert_true(c.collected);
}

static void a_start_that_fails_holds_nothing_up(void **state)
{
        struct provider_course c = { .begun_ms = 1000 };
        bool hold;

        assert_false(provider_course_step(&c, PROPERTIES_FAILED, 1001, &hold));
        assert_false(hold);
        assert_int_equal(c.start, COURSE_FAILED);
        assert_true(provider_course_step(&c, PROPERTIES_KNOWN, 1002, &hold));
        assert_int_equal(c.start, COURSE_STARTED);
}

static void what_is_not_heard_for_ten_seconds_keeps_what_was_told(void **state)
{
        struct provider_course c = { .begun_ms = 1000 };
        bool hold;

        assert_true(provider_course_step(&c, PROPERTIES_KNOWN, 1000, &hold));
        assert_false(provider_course_step(&c, PROPERTIES_STALE, 2000, &hold));
        assert_true(hold);
        assert_true(c.collected);
        assert_false(provider_course_step(&c, PROPERTIES_STALE, 11999, &hold));
        assert_true(c.collected);
        assert_false(provider_course_step(&c, PROPERTIES_STALE, 12000, &hold));
        assert_true(hold);
        assert_false(c.collected);
        assert_true(provider_course_step(&c, PROPERTIES_KNOWN, 13000, &hold));
        assert_true(c.collected);
        assert_false(provider_course_step(&c, PROPERTIES_STALE, 14000, &hold)); /* counts anew */
        assert_true(c.collected);
}

static void what_is_told_first_of_a_name_counts(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct property_collection c = { .arena = &arena };

        assert_int_equal(property_add(&c, "b", "1", 5), 0);
        assert_int_equal(property_add(&c, "a", "2", 5), 0);
        assert_int_equal(property_add(&c, "b", "3", 5), 1);
        for (int i = 0; i < 40; i++)
                assert_int_equal(property_add(&c, arena_printf(&arena, "n%d", i), "x", 5), 0);
        assert_int_equal(c.properties.n, 42);
        assert_string_equal(c.properties.at[0].value.value, "1");
        assert_int_equal(property_add(&c, NULL, "x", 5), ERR_NO_MEMORY);
}

static bool taken_back(const struct property_settings *s, const char *type)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;

        for (const char **at = property_conditions_taken_back(s, &arena); *at; at++)
                if (text_equal(*at, type))
                        return true;
        return false;
}

static void conditions_of_what_is_not_wanted_are_taken_back(void **state)
{
        static const char *const types[] = { CONDITION_NAMESPACE_COLLECTION_SUCCEEDED,
                                             CONDITION_PROPERTY_PROVIDER_STARTED,
                                             CONDITION_PROPERTY_COLLECTION_SUCCEEDED,
                                             CONDITION_COST_PROPERTIES_COLLECTION_SUCCEEDED,
                                             CONDITION_OWN_PROPERTIES_COLLECTION_SUCCEEDED };
        const struct property_settings none = { 0 }, all = {
                .namespaces = true, .azure = true, .costs = true, .own_ns = "a", .own = "b"
        };
        const struct property_settings without_costs = { .azure = true };

        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                assert_true(taken_back(&none, types[i]));
                assert_false(taken_back(&all, types[i]));
        }
        assert_false(taken_back(&without_costs, CONDITION_PROPERTY_PROVIDER_STARTED));
        assert_true(taken_back(&without_costs, CONDITION_COST_PROPERTIES_COLLECTION_SUCCEEDED));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_start_is_waited_for_ten_seconds_and_noticed_later_as_well),
                cmocka_unit_test(a_start_that_fails_holds_nothing_up),
                cmocka_unit_test(what_is_not_heard_for_ten_seconds_keeps_what_was_told),
                cmocka_unit_test(what_is_told_first_of_a_name_counts),
                cmocka_unit_test(conditions_of_what_is_not_wanted_are_taken_back),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
