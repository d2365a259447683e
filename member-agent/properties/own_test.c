/* Properties of the operator's own: spec/api.md 14. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "member-agent/properties/own.h"

static struct own_properties read_own(struct arena *arena, struct string_pair *at, uint32_t n)
{
        struct string_map data = { at, n, true };
        struct own_properties p;

        assert_int_equal(own_properties_read(&data, arena, &p, NULL), 0);
        return p;
}

static void names_are_those_that_placements_may_ask_for(void **state)
{
        static const struct {
                const char *name;
                bool good;
        } rows[] = {
                { "gpus", true },
                { "example.com/gpus", true },
                { "Own_x.y/gpus", true }, /* the first may be a segment as the others */
                { "example.com/gpus/a100/count", true },
                { "a", true },
                { "", false },
                { "/gpus", false },
                { "gpus/", false },
                { "a//b", false },
                { "-gpus", false },
                { "gpus-", false },
                { "two words", false },
                { "example.com/gpu s", false },
                { "kubernetes-fleet.io/node-count", false },
                { "kubernetes-fleet.io/other", false },
                { "resources.kubernetes-fleet.io/total-cpu", false },
                { "k8s.io/cluster-entrypoint", true },
                { "kubernetes.azure.com/per-cpu-core-cost", true },
                { "0123456789012345678901234567890123456789012345678901234567890123", false },
                { "0123456789.0123456789.0123456789.0123456789.0123456789.0123456789/a", true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                if (!own_property_name_fault(rows[i].name) != rows[i].good)
                        fail_msg("\"%s\"", rows[i].name);
}

static void keys_are_names_and_maps_hold_names_with_slashes(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct string_pair at[] = { { "gpus", " 4\n" },
                                    { "more.yaml", "example.com/tier: gold\nexample.com/cost: 0.25\nzone: 7\n"
                                                   "big: 9007199254740993\n" },
                                    { "tier", "silver" } };
        struct own_properties p = read_own(&arena, at, ARRAY_LEN(at));

        assert_int_equal(p.n_faults, 0);
        assert_null(p.faults);
        assert_int_equal(p.n, 6);
        assert_string_equal(p.at[0].name, "big");
        assert_string_equal(p.at[0].value, "9007199254740993");
        assert_string_equal(p.at[1].name, "example.com/cost");
        assert_string_equal(p.at[1].value, "0.25");
        assert_string_equal(p.at[2].value, "gold");
        assert_string_equal(p.at[3].name, "gpus");
        assert_string_equal(p.at[3].value, "4");
        assert_string_equal(p.at[4].value, "silver");
        assert_string_equal(p.at[5].value, "7");
}

static void what_is_bad_is_named_and_the_rest_stays(void **state)
{
        static const struct {
                const char *key, *text, *fault;
        } rows[] = {
                { "-a", "1", "-a: it is not the name of a property" },
                { "a", "", "a: it has no value" },
                { "a", "  \n", "a: it has no value" },
                { "a", "one\ntwo", "a: its value is more than one line of text" },
                { "x.yaml", "a: [1]", "a: its value is neither a number nor a text" },
                { "x.yaml", "a: true", "a: its value is neither a number nor a text" },
                { "x.yaml", "a:", "a: its value is neither a number nor a text" },
                { "x.yaml", "[a]", "x.yaml: it is not a map of names to values" },
                { "x.yaml", "{", "x.yaml: " },
                { "x.yaml", "good: 2", "good: it is there twice" },
                { "x.yaml", "kubernetes-fleet.io/node-count: 9",
                  "kubernetes-fleet.io/node-count: the names of kubernetes-fleet.io are the agents'" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct arena arena AUTO_ARENA = ARENA_INIT;
                struct string_pair at[] = { { "good", "1" }, { rows[i].key, rows[i].text } };
                struct own_properties p = read_own(&arena, at, 2);

                assert_int_equal(p.n, 1);
                assert_string_equal(p.at[0].value, "1");
                assert_int_equal(p.n_faults, 1);
                if (!strstr(p.faults, rows[i].fault) || p.faults != strstr(p.faults, rows[i].fault))
                        fail_msg("%zu: %s", i, p.faults);
        }
}

static void a_value_is_as_long_as_a_profile_may_have_it(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        char value[LIMIT_PROPERTY_VALUE_BYTES + 2] = { 0 };
        struct string_pair at = { "a", value };

        memset(value, 'x', LIMIT_PROPERTY_VALUE_BYTES);
        assert_int_equal(read_own(&arena, &at, 1).n, 1);
        value[LIMIT_PROPERTY_VALUE_BYTES] = 'x';
        assert_int_equal(read_own(&arena, &at, 1).n, 0);
        assert_string_equal(read_own(&arena, &at, 1).faults, "a: its value is too long");
}

static void a_name_is_as_long_as_a_profile_may_have_it(void **state)
{
        char name[LIMIT_PROPERTY_NAME_BYTES + 2] = { 0 };

        for (size_t i = 0; i < LIMIT_PROPERTY_NAME_BYTES; i++)
                name[i] = i % 2 ? '/' : 'a';
        assert_null(own_property_name_fault(name));
        name[LIMIT_PROPERTY_NAME_BYTES - 1] = 'a';
        name[LIMIT_PROPERTY_NAME_BYTES] = 'a';
        assert_non_null(own_property_name_fault(name));
        assert_string_equal(own_property_name_fault(name), "it is too long");
}

static void only_so_many_are_told_and_only_some_faults_named(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct string_pair at[LIMIT_OWN_PROPERTIES + 7];
        struct own_properties p;

        for (size_t i = 0; i < ARRAY_LEN(at); i++)
                at[i] = (struct string_pair){ arena_printf(&arena, "p%03zu", i), "1" };
        p = read_own(&arena, at, ARRAY_LEN(at));
        assert_int_equal(p.n, LIMIT_OWN_PROPERTIES);
        assert_int_equal(p.n_faults, 7);
        assert_true(own_properties_more(&p));
        assert_string_equal(p.faults,
                            "p100: there are too many; p101: there are too many; p102: there are too "
                            "many; p103: there are too many; p104: there are too many");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_are_those_that_placements_may_ask_for),
                cmocka_unit_test(keys_are_names_and_maps_hold_names_with_slashes),
                cmocka_unit_test(what_is_bad_is_named_and_the_rest_stays),
                cmocka_unit_test(a_value_is_as_long_as_a_profile_may_have_it),
                cmocka_unit_test(a_name_is_as_long_as_a_profile_may_have_it),
                cmocka_unit_test(only_so_many_are_told_and_only_some_faults_named),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
