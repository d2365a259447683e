/* What an intake found: about which placement it speaks, and how long it lasts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/agent.h"
#include "hub-agent/placement/finding.h"

static const char hash[] = "abc";

static struct placement placement_of(int64_t generation)
{
        return (struct placement){ .object.meta = { .name = "web", .uid = "1", .generation = generation } };
}

struct bench {
        struct memories all;
        struct arena arena;
        struct intake_memory *memory;
};

static struct bench bench_open(void)
{
        struct placement p = placement_of(1);
        struct bench b = { .arena = ARENA_INIT };

        memories_init(&b.all, &intake_memory_kind);
        b.memory = memory_of(&b.all, &p.object, &b.arena);
        assert_non_null(b.memory);
        return b;
}

static void bench_close(struct bench *b)
{
        arena_free(&b->arena);
        memories_free(&b->all);
}

static const struct finding *get(struct bench *b, int64_t generation)
{
        struct placement p = placement_of(generation);
        const struct finding *f;

        assert_int_equal(finding_get(b->memory, &p.object, &b->arena, &f), 0);
        return f;
}

static void refuse(struct bench *b, int64_t generation, const char *message)
{
        struct finding f = {
                .kind = FINDING_REFUSED, .generation = generation, .reason = "R", .message = message
        };

        assert_int_equal(finding_put(b->memory, &f), 0);
}

static void before_the_first_pass_and_for_another_generation_nothing_is_found(void **state)
{
        struct bench b = bench_open();

        assert_null(get(&b, 1));
        refuse(&b, 1, "first");
        assert_string_equal(get(&b, 1)->message, "first");
        assert_null(get(&b, 2));
        refuse(&b, 2, "second");
        assert_null(get(&b, 1));
        bench_close(&b);
}

static void what_was_found_stays_with_words_while_the_present_cannot_be_read(void **state)
{
        struct selected *selected = selected_new(&(struct resource_identifier_list){ 0 }, hash);
        struct finding f = { .kind = FINDING_SELECTED, .generation = 1, .head = "uid", .selected = selected };
        struct bench b = bench_open();

        assert_int_equal(finding_put(b.memory, &f), 0);
        selected_unref(selected);
        assert_int_equal(finding_put_passing(b.memory, 1, "R", "server away"), 0);
        assert_int_equal(get(&b, 1)->kind, FINDING_SELECTED);
        assert_string_equal(get(&b, 1)->head, "uid");
        assert_string_equal(get(&b, 1)->selected->hash, hash);
        assert_string_equal(get(&b, 1)->message, "server away");
        assert_int_equal(finding_put_passing(b.memory, 2, "R", "server away"), 0);
        assert_int_equal(get(&b, 2)->kind, FINDING_REFUSED);
        assert_null(get(&b, 2)->selected);
        bench_close(&b);
}

/* A status pass parks while the intake passes again. */
static void a_finding_stays_valid_for_who_reads_it(void **state)
{
        struct resource_identifier ids[] = { { "", "v1", "Namespace", "app", NULL, NULL },
                                             { "", "v1", "ConfigMap", "a", "app", NULL },
                                             { "", "v1", "ConfigMap", "b", "app", NULL } };
        struct resource_identifier_list list = { ids, ARRAY_LEN(ids), true };
        struct selected *selected = selected_new(&list, hash);
        struct finding f = { .kind = FINDING_SELECTED, .generation = 1, .head = "uid", .selected = selected };
        struct bench b = bench_open();
        const struct finding *before;

        memset(ids, 0, sizeof(ids));
        assert_int_equal(finding_put(b.memory, &f), 0);
        selected_unref(selected);
        before = get(&b, 1);
        refuse(&b, 2, "second");
        memory_drop(&b.all, "web");
        assert_string_equal(before->head, "uid");
        assert_int_equal(before->selected->ids.n, 3);
        assert_string_equal(before->selected->ids.at[1].kind, "ConfigMap");
        assert_string_equal(before->selected->ids.at[2].name, "b");
        assert_string_equal(before->selected->ids.at[2].ns, "app");
        assert_null(before->selected->ids.at[0].ns);
        assert_string_equal(before->selected->hash, hash);
        bench_close(&b);
}

static void without_memory_the_finding_before_stays(void **state)
{
        struct finding f = {
                .kind = FINDING_REFUSED, .generation = 1, .reason = "R", .message = "second", .head = "uid"
        };
        struct bench b = bench_open();
        int code = ERR_NO_MEMORY;

        refuse(&b, 1, "first");
        for (uint64_t n = 1; code < 0; n++) {
                assert_string_equal(get(&b, 1)->message, "first");
                mem_fail_at(n, false);
                code = finding_put(b.memory, &f);
                mem_fail_at(0, false);
                assert_true(code == 0 || code == ERR_NO_MEMORY);
        }
        assert_string_equal(get(&b, 1)->message, "second");
        bench_close(&b);
}

static void without_memory_nothing_is_selected(void **state)
{
        struct resource_identifier id = { "g", "v1", "Kind", "a", "app", NULL };
        struct resource_identifier_list list = { &id, 1, true };
        struct selected *s = NULL;

        for (uint64_t n = 1; !s; n++) {
                mem_fail_at(n, false);
                s = selected_new(&list, hash);
                assert_true(s || mem_fault_fired());
                mem_fail_at(0, false);
        }
        assert_string_equal(s->ids.at[0].group, "g");
        selected_unref(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(before_the_first_pass_and_for_another_generation_nothing_is_found),
                cmocka_unit_test(what_was_found_stays_with_words_while_the_present_cannot_be_read),
                cmocka_unit_test(a_finding_stays_valid_for_who_reads_it),
                cmocka_unit_test(without_memory_the_finding_before_stays),
                cmocka_unit_test(without_memory_nothing_is_selected),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
