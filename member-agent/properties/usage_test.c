/* spec/member-agent.md 3.3 (checklist 56). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "member-agent/properties/usage.h"

static struct string_map amounts(struct string_pair at[2], const char *cpu, const char *memory)
{
        at[0] = (struct string_pair){ "cpu", cpu };
        at[1] = (struct string_pair){ "memory", memory };
        return (struct string_map){ at, 2, true };
}

static void put_node(struct usage *u, const char *name, const char *cpu, const char *memory)
{
        struct string_pair at[2];
        struct node_status status = { .capacity = amounts(at, cpu, memory),
                                      .allocatable = amounts(at, cpu, memory) };
        struct node n = { .object.meta.name = name, .status = &status };

        assert_int_equal(usage_put_node(u, &n), 0);
}

static void put_pod(struct usage *u, const char *name, const char *node, const char *phase, const char *cpu)
{
        struct string_pair at[2];
        struct container_resources resources = { .requests = amounts(at, cpu, "1Gi") };
        struct container container = { .resources = &resources };
        struct pod_spec spec = { .node_name = node, .containers = { &container, 1, true } };
        struct pod_status status = { .phase = phase };
        struct pod p = { .object.meta = { .name = name, .ns = "default" }, .spec = &spec, .status = &status };

        assert_int_equal(usage_put_pod(u, &p), 0);
}

/* Sums stay right while a large population comes, changes and goes, and its table stays small. */
static void twenty_thousand_pods_take_little_room(void **state)
{
        struct usage u CLEANUP(usage_free);
        size_t before = mem_live_bytes();
        char name[32];

        usage_init(&u);
        for (int round = 0; round < 3; round++)
                for (int i = 0; i < 20000; i++) {
                        snprintf(name, sizeof(name), "pod-%d", i + round * 1000);
                        put_pod(&u, name, "n", "Running", "100m");
                }
        assert_int_equal(u.pods.n, 22000);
        assert_int_equal(u.requested.cpu_milli, 2200000);
        assert_true(mem_live_bytes() - before < 2200000);
        for (int i = 0; i < 22000; i++) {
                snprintf(name, sizeof(name), "pod-%d", i);
                usage_remove_pod(&u, "default", name);
        }
        assert_int_equal(u.pods.n, 0);
        assert_int_equal(u.requested.cpu_milli, 0);
        assert_int_equal(u.requested.memory_bytes, 0);
}

struct report {
        struct arena arena;
        struct resource_usage *usage;
};

static struct report report(const struct usage *u)
{
        struct report r = { 0 };

        assert_int_equal(usage_report(u, true, 5, &r.arena, &r.usage, NULL), 0);
        return r;
}

static void nodes_and_pods_are_summed(void **state)
{
        struct usage u CLEANUP(usage_free);
        struct report r;

        usage_init(&u);
        put_node(&u, "a", "4", "8Gi");
        put_node(&u, "b", "1500m", "2Gi");
        put_pod(&u, "p", "a", "Running", "250m");
        r = report(&u);
        assert_string_equal(string_map_get(&r.usage->capacity, "cpu"), "5500m");
        assert_string_equal(string_map_get(&r.usage->allocatable, "memory"), "10Gi");
        assert_string_equal(string_map_get(&r.usage->available, "cpu"), "5250m");
        assert_string_equal(string_map_get(&r.usage->available, "memory"), "9Gi");
        assert_int_equal(map_count(&u.nodes), 2);
        arena_free(&r.arena);
}

/* spec/member-agent.md checklist 56 */
static void unscheduled_and_finished_pods_take_nothing(void **state)
{
        struct usage u CLEANUP(usage_free);

        usage_init(&u);
        put_pod(&u, "a", NULL, "Pending", "1");
        put_pod(&u, "b", "n", "Succeeded", "1");
        put_pod(&u, "c", "n", "Failed", "1");
        assert_int_equal(u.requested.cpu_milli, 0);
        put_pod(&u, "d", "n", "Running", "1");
        assert_int_equal(u.requested.cpu_milli, 1000);
        put_pod(&u, "d", "n", "Succeeded", "1");
        assert_int_equal(u.requested.cpu_milli, 0);
        assert_int_equal(u.pods.n, 0);
}

/* spec/member-agent.md checklist 56 */
static void available_is_never_negative(void **state)
{
        struct usage u CLEANUP(usage_free);
        struct report r;

        usage_init(&u);
        put_node(&u, "a", "1", "1Gi");
        put_pod(&u, "p", "a", "Running", "3");
        r = report(&u);
        assert_string_equal(string_map_get(&r.usage->available, "cpu"), "0");
        arena_free(&r.arena);
}

static void changes_replace_and_removals_subtract(void **state)
{
        struct usage u CLEANUP(usage_free);

        usage_init(&u);
        put_node(&u, "a", "4", "8Gi");
        put_node(&u, "a", "2", "8Gi");
        assert_int_equal(u.capacity.cpu_milli, 2000);
        usage_remove_node(&u, "a");
        usage_remove_node(&u, "a");
        assert_int_equal(u.capacity.cpu_milli, 0);
        put_pod(&u, "p", "a", "Running", "1");
        usage_remove_pod(&u, "default", "p");
        assert_int_equal(u.requested.memory_bytes, 0);
}

static void what_a_list_does_not_name_is_gone(void **state)
{
        struct usage u CLEANUP(usage_free);

        usage_init(&u);
        put_node(&u, "a", "4", "8Gi");
        put_node(&u, "b", "1", "1Gi");
        put_pod(&u, "p", "a", "Running", "1");
        usage_begin_nodes(&u);
        put_node(&u, "b", "1", "1Gi");
        usage_end_nodes(&u);
        usage_begin_pods(&u);
        usage_end_pods(&u);
        assert_int_equal(u.capacity.cpu_milli, 1000);
        assert_int_equal(map_count(&u.nodes), 1);
        assert_int_equal(u.requested.cpu_milli, 0);
}

static struct container container_of_cpu(struct container_resources *r, struct string_pair at[2],
                                         const char *cpu, const char *restart)
{
        r->requests = amounts(at, cpu, "0");
        return (struct container){ .resources = r, .restart_policy = restart };
}

/* The scheduler's rule: init containers run before, restartable ones beside. */
static void a_pod_requests_what_it_needs_at_its_peak(void **state)
{
        struct string_pair at[4][2];
        struct container_resources r[4];
        struct container inits[] = { container_of_cpu(&r[0], at[0], "100m", "Always"),
                                     container_of_cpu(&r[1], at[1], "2", NULL) };
        struct container mains[] = { container_of_cpu(&r[2], at[2], "500m", NULL),
                                     container_of_cpu(&r[3], at[3], "500m", NULL) };
        struct string_pair over[2];
        struct pod_spec spec = { .containers = { mains, 2, true },
                                 .init_containers = { inits, 2, true },
                                 .overhead = amounts(over, "10m", "0") };

        assert_int_equal(usage_of_pod(&spec).cpu_milli, 2110);
        inits[1] = container_of_cpu(&r[1], at[1], "200m", NULL);
        assert_int_equal(usage_of_pod(&spec).cpu_milli, 1110);
}

/* Of each kind by itself, and whether it was there before or came with the list. */
static void what_a_list_lacks_is_gone(void **state)
{
        struct usage u CLEANUP(usage_free);

        usage_init(&u);
        put_node(&u, "a", "4", "8Gi");
        put_pod(&u, "p", "a", "Running", "1");
        put_pod(&u, "q", "a", "Running", "2");
        for (int i = 0; i < 2; i++) {
                usage_begin_nodes(&u);
                put_node(&u, "b", "3", "1Gi");
                usage_end_nodes(&u);
                assert_int_equal(u.capacity.cpu_milli, 3000);
                assert_int_equal(u.allocatable.cpu_milli, 3000);
                assert_int_equal(u.allocatable.memory_bytes, INT64_C(1) << 30);
                usage_begin_pods(&u);
                put_pod(&u, "q", "a", "Running", "2");
                put_pod(&u, "r", "a", "Running", "4");
                usage_end_pods(&u);
                assert_int_equal(u.requested.cpu_milli, 6000);
                assert_int_equal(u.pods.n, 2);
        }
        usage_remove_node(&u, "never");
        usage_remove_pod(&u, "default", "never");
        usage_remove_pod(&u, "elsewhere", "q");
        assert_int_equal(u.capacity.cpu_milli, 3000);
        assert_int_equal(u.requested.cpu_milli, 6000);
        usage_remove_node(&u, "b");
        assert_int_equal(u.capacity.cpu_milli, 0);
        assert_int_equal(u.allocatable.memory_bytes, 0);
}

static void a_pod_requests_what_its_containers_do_at_their_most(void **state)
{
        static const struct {
                const char *containers, *init, *overhead;
                int64_t milli;
        } rows[] = {
                { "1", "", NULL, 1000 },  { "1,2", "", NULL, 3000 },  { "1", "3", NULL, 3000 },
                { "4", "3", NULL, 4000 }, { "1", "3", "500m", 3500 }, { "1", "3,2", NULL, 3000 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct string_pair pairs[8][2], over = { "cpu", rows[i].overhead };
                struct container_resources resources[8] = { 0 };
                struct container all[8] = { 0 };
                struct pod_spec spec = { .containers = { all, 0, true },
                                         .init_containers = { all + 4, 0, true } };
                struct amounts is;
                char text[2][16];

                snprintf(text[0], sizeof(text[0]), "%s", rows[i].containers);
                snprintf(text[1], sizeof(text[1]), "%s", rows[i].init);
                for (int list = 0; list < 2; list++)
                        for (char *at = text[list], *end; *at; at = end) {
                                size_t k = list ? 4 + spec.init_containers.n++ : spec.containers.n++;

                                end = at + strcspn(at, ",");
                                if (*end)
                                        *end++ = '\0';
                                resources[k].requests = amounts(pairs[k], at, "1Gi");
                                all[k].resources = &resources[k];
                        }
                if (rows[i].overhead)
                        spec.overhead = (struct string_map){ &over, 1, true };
                is = usage_of_pod(&spec);
                if (is.cpu_milli != rows[i].milli)
                        fail_msg("row %zu: %lld", i, (long long)is.cpu_milli);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(nodes_and_pods_are_summed),
                cmocka_unit_test(unscheduled_and_finished_pods_take_nothing),
                cmocka_unit_test(available_is_never_negative),
                cmocka_unit_test(changes_replace_and_removals_subtract),
                cmocka_unit_test(what_a_list_does_not_name_is_gone),
                cmocka_unit_test(a_pod_requests_what_it_needs_at_its_peak),
                cmocka_unit_test(twenty_thousand_pods_take_little_room),
                cmocka_unit_test(what_a_list_lacks_is_gone),
                cmocka_unit_test(a_pod_requests_what_its_containers_do_at_their_most),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
