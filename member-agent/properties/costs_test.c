/* spec/member-agent.md 4: what a core and a GiB cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "member-agent/properties/costs.h"

#define HOUR_MS (INT64_C(3600) * 1000)
#define NOON (INT64_C(1790000000) * 1000)

static void put_node(struct usage *u, const char *name, const char *machine, const char *cpu,
                     const char *memory)
{
        struct string_pair at[] = { { "cpu", cpu }, { "memory", memory } };
        struct string_pair label = { "beta.kubernetes.io/instance-type", machine };
        struct node_status status = { .capacity = { at, 2, true } };
        struct node n = { .object.meta = { .name = name }, .status = &status };

        if (machine)
                n.object.meta.labels = (struct string_map){ &label, 1, true };
        assert_int_equal(usage_put_node(u, &n), 0);
}

static struct price_table table(const char *text)
{
        struct price_table t;
        struct error err = { 0 };

        if (price_table_parse(slice_of(text), &t, &err) < 0)
                fail_msg("%s", err.text);
        return t;
}

struct case_ {
        struct arena arena;
        struct usage usage;
        struct costs costs;
};

static void calculate(struct case_ *c, const char *text, const char *region)
{
        struct price_table t CLEANUP(price_table_free) = table(text);

        assert_int_equal(costs_of(&c->usage, &t, NULL, region, NOON, 24 * HOUR_MS, &c->arena, &c->costs), 0);
}

static void end(struct case_ *c)
{
        usage_free(&c->usage);
        arena_free(&c->arena);
}

#define PRICES "regions: { west: { small: 0.1, large: '400m' }, '*': { large: 9, own: 1 } }\n"

static void the_sum_of_all_machines_is_shared_by_cores_and_memory(void **state)
{
        struct case_ c = { 0 };

        usage_init(&c.usage);
        put_node(&c.usage, "a", "small", "2", "4Gi");
        put_node(&c.usage, "b", "small", "2", "4Gi");
        put_node(&c.usage, "c", "large", "8", "32Gi");
        calculate(&c, PRICES, "west");
        assert_true(c.costs.succeeded);
        assert_string_equal(c.costs.reason, "CostsCalculated");
        assert_string_equal(c.costs.per_core, "0.050"); /* 0.6 / 12 */
        assert_string_equal(c.costs.per_gib, "0.015");  /* 0.6 / 40 */
        usage_remove_node(&c.usage, "c");
        calculate(&c, PRICES, "west");
        assert_string_equal(c.costs.per_core, "0.050"); /* 0.2 / 4 */
        assert_string_equal(c.costs.per_gib, "0.025");  /* 0.2 / 8 */
        put_node(&c.usage, "b", "own", "2", "4Gi");     /* another machine under the name */
        calculate(&c, PRICES, "west");
        assert_string_equal(c.costs.per_core, "0.275"); /* 1.1 / 4 */
        end(&c);
}

static void what_the_region_does_not_name_may_be_of_any(void **state)
{
        struct case_ c = { 0 };

        usage_init(&c.usage);
        put_node(&c.usage, "a", "large", "9", "9Gi");
        calculate(&c, PRICES, "west");
        assert_string_equal(c.costs.per_core, "0.044");
        calculate(&c, PRICES, "east");
        assert_string_equal(c.costs.per_core, "1.000");
        end(&c);
}

static void a_machine_without_a_price_fails_the_whole_and_is_named(void **state)
{
        struct case_ c = { 0 };

        usage_init(&c.usage);
        put_node(&c.usage, "a", "large", "1", "1Gi");
        put_node(&c.usage, "b", NULL, "1", "1Gi");
        put_node(&c.usage, "c", "huge", "1", "1Gi");
        calculate(&c, PRICES, "west");
        assert_false(c.costs.succeeded);
        assert_null(c.costs.per_core);
        assert_null(c.costs.per_gib);
        assert_string_equal(c.costs.reason, "CostsCalculationFailed");
        assert_string_equal(c.costs.message, "There is no price in region west for: huge, undefined");
        for (char i = 'd'; i < 'h'; i++)
                put_node(&c.usage, (char[]){ i, 0 }, (char[]){ i, 0 }, "1", "1Gi");
        calculate(&c, PRICES, "west");
        assert_string_equal(c.costs.message,
                            "There is no price in region west for: d, e, f, g, huge and 1 more");
        end(&c);
}

static void prices_grow_old_by_the_time_they_say(void **state)
{
        static const struct {
                int64_t age_ms;
                const char *reason;
        } rows[] = { { 24 * HOUR_MS, "CostsCalculated" },
                     { 24 * HOUR_MS + 1000, "CostsCalculationDegraded" },
                     { -HOUR_MS, "CostsCalculated" } };
        struct case_ c = { 0 };
        char text[200], when[RFC3339_SIZE];

        usage_init(&c.usage);
        put_node(&c.usage, "a", "small", "1", "1Gi");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                time_format_rfc3339(NOON - rows[i].age_ms, when);
                snprintf(text, sizeof(text), "updated: \"%s\"\n" PRICES, when);
                calculate(&c, text, "west");
                assert_true(c.costs.succeeded);
                assert_string_equal(c.costs.reason, rows[i].reason);
                assert_string_equal(c.costs.per_core, "0.100");
        }
        end(&c);
}

static void without_nodes_nothing_costs_anything(void **state)
{
        struct case_ c = { 0 };

        usage_init(&c.usage);
        calculate(&c, PRICES, "west");
        assert_true(c.costs.succeeded);
        assert_string_equal(c.costs.per_core, "0.000");
        assert_string_equal(c.costs.per_gib, "0.000");
        put_node(&c.usage, "a", "small", "1m", "4Gi"); /* no more than a thousandth of a core */
        calculate(&c, PRICES, "west");
        assert_false(c.costs.succeeded);
        put_node(&c.usage, "a", "small", "2m", "1");
        calculate(&c, PRICES, "west");
        assert_false(c.costs.succeeded);
        put_node(&c.usage, "a", "small", "2m", "2");
        calculate(&c, PRICES, "west");
        assert_true(c.costs.succeeded);
        end(&c);
}

static void without_table_or_region_the_condition_says_so(void **state)
{
        struct case_ c = { 0 };

        usage_init(&c.usage);
        put_node(&c.usage, "a", "small", "1", "1Gi");
        assert_int_equal(
                costs_of(&c.usage, NULL, "nobody named them", "west", NOON, HOUR_MS, &c.arena, &c.costs), 0);
        assert_false(c.costs.succeeded);
        assert_string_equal(c.costs.message, "There are no prices: nobody named them");
        calculate(&c, PRICES, NULL);
        assert_false(c.costs.succeeded);
        assert_non_null(strstr(c.costs.message, "--region is not set"));
        end(&c);
}

static void a_table_that_is_none_says_where(void **state)
{
        static const char *const rows[][2] = {
                { "[]", "must be an object" },
                { "", "" },
                { "regions: 3", "regions: must be an object" },
                { "updated: '2026-11-01T00:00:00Z'", "regions: is required" },
                { "updated: yesterday\nregions: {}", "updated: \"yesterday\" is no time" },
                { "region: {}", "region: is no field of a table of prices" },
                { "regions: { west: 3 }", "regions.west: must be an object" },
                { "regions: { west: { small: -1 } }", "regions.west.small: must be a price" },
                { "regions: { west: { small: cheap } }", "regions.west.small: must be a price" },
                { "regions: { west: { small: 1e308 } }", "regions.west.small: must be a price" },
                { "regions: { west: { small: 2E } }", "regions.west.small: must be a price" },
                { "regions: { west: { small: .inf } }", "infinite or not a number" },
                { "regions: { west: { small: 1 }, west: { small: 2 } }", "" },
                { "regions: { west: { small: 0.1, large: true } }", "regions.west.large: must be a price" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct price_table t;
                struct error err = { 0 };

                assert_true(price_table_parse(slice_of(rows[i][0]), &t, &err) < 0);
                if (!strstr(err.text, rows[i][1]))
                        fail_msg("%s: \"%s\"", rows[i][0], err.text);
        }
}

static void regions_and_machines_are_counted_as_nodes_come_and_go(void **state)
{
        struct usage u CLEANUP(usage_free);
        struct string_pair labels[] = { { "node.kubernetes.io/instance-type", "new" },
                                        { "topology.kubernetes.io/region", "north" } };
        struct node n = { .object.meta = { .name = "n", .labels = { labels, 2, true } } };

        usage_init(&u);
        assert_null(usage_region(&u));
        assert_int_equal(usage_put_node(&u, &n), 0);
        assert_int_equal(usage_put_node(&u, &n), 0);
        assert_string_equal(usage_region(&u), "north");
        assert_int_equal(((struct tally *)map_get(&u.machines, "new"))->n, 1);
        n.object.meta.labels.n = 0;
        assert_int_equal(usage_put_node(&u, &n), 0);
        assert_null(usage_region(&u));
        assert_null(map_get(&u.machines, "new"));
        assert_int_equal(((struct tally *)map_get(&u.machines, "undefined"))->n, 1);
        usage_begin_nodes(&u);
        usage_end_nodes(&u);
        assert_int_equal(map_count(&u.machines), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_sum_of_all_machines_is_shared_by_cores_and_memory),
                cmocka_unit_test(what_the_region_does_not_name_may_be_of_any),
                cmocka_unit_test(a_machine_without_a_price_fails_the_whole_and_is_named),
                cmocka_unit_test(prices_grow_old_by_the_time_they_say),
                cmocka_unit_test(without_nodes_nothing_costs_anything),
                cmocka_unit_test(without_table_or_region_the_condition_says_so),
                cmocka_unit_test(a_table_that_is_none_says_where),
                cmocka_unit_test(regions_and_machines_are_counted_as_nodes_come_and_go),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
