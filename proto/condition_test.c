#include "proto/test_documents.h"

#include "common/base/memory.h"

static struct condition ready(const char *status, const char *message)
{
        return (struct condition){ .type = "Ready",
                                   .status = status,
                                   .reason = "R",
                                   .message = message,
                                   .observed_generation = OPT_INT(2) };
}

static void the_time_moves_only_when_the_status_does(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition_list l = { 0 };
        struct condition c = ready("True", "");
        assert_int_equal(condition_set(&l, &c, 1000, &arena), 1);
        assert_int_equal(condition_set(&l, &c, 2000, &arena), 0);
        c = ready("True", "other words");
        assert_int_equal(condition_set(&l, &c, 3000, &arena), 1);
        assert_int_equal(condition_find(&l, "Ready")->last_transition_ms, 1000);
        assert_string_equal(condition_find(&l, "Ready")->message, "other words");
        c = ready("False", "other words");
        assert_int_equal(condition_set(&l, &c, 4000, &arena), 1);
        assert_int_equal(condition_find(&l, "Ready")->last_transition_ms, 4000);
        assert_int_equal(l.n, 1);
}

static void no_message_is_the_empty_message(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition_list l = { 0 };
        struct condition c = ready("True", NULL);
        assert_int_equal(condition_set(&l, &c, 1000, &arena), 1);
        c = ready("True", "");
        assert_int_equal(condition_set(&l, &c, 1000, &arena), 0);
}

static void only_a_current_condition_counts(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition_list l = { 0 };
        struct condition c = ready("True", "");
        assert_int_equal(condition_set(&l, &c, 1000, &arena), 1);
        assert_true(condition_is_true(&l, "Ready", 2));
        assert_false(condition_is_true(&l, "Ready", 3));
        assert_false(condition_is_false(&l, "Ready", 2));
        assert_false(condition_is_true(&l, "Other", 2));
}

static void a_removed_condition_is_gone_and_the_others_stay(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition_list l = { 0 };
        static const char *const types[] = { "A", "B", "C" };
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
                assert_int_equal(condition_set(&l, &(struct condition){ .type = types[i], .status = "True" },
                                               1, &arena),
                                 1);
        condition_remove(&l, "B");
        condition_remove(&l, "B");
        assert_int_equal(l.n, 2);
        assert_string_equal(l.at[0].type, "A");
        assert_string_equal(l.at[1].type, "C");
}

static void a_map_stays_sorted(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct string_map m = { 0 };
        static const char *const keys[] = { "m", "a", "z", "k", "a" };
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
                assert_int_equal(string_map_put(&m, keys[i], i == 4 ? "new" : "old", &arena), 0);
        assert_int_equal(m.n, 4);
        for (uint32_t i = 1; i < m.n; i++)
                assert_true(strcmp(m.at[i - 1].key, m.at[i].key) < 0);
        assert_string_equal(string_map_get(&m, "a"), "new");
        string_map_remove(&m, "k");
        string_map_remove(&m, "none");
        assert_true(string_map_equal(&m, &m));
        assert_false(string_map_equal(&m, &(struct string_map){ 0 }));
        assert_null(string_map_get(&m, "k"));
        assert_int_equal(m.n, 3);
}

static void no_memory_changes_nothing(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition_list l = { 0 };
        struct string_map m = { 0 };
        struct condition c = ready("True", "");
        mem_fail_at(1, true);
        assert_int_equal(condition_set(&l, &c, 1, &arena), ERR_NO_MEMORY);
        assert_int_equal(string_map_put(&m, "a", "b", &arena), ERR_NO_MEMORY);
        mem_fail_at(0, false);
        assert_int_equal(l.n + m.n, 0);
}

/* Objects without generations: no field is written, and one that was written as 0 is not written anew. */
static void generation_zero_is_no_generation(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition c = { .type = "Ready", .status = "True", .observed_generation = OPT_INT(0) };
        struct condition_list l = { 0 };

        assert_int_equal(condition_set(&l, &c, 1000, &arena), 1);
        assert_false(l.at[0].observed_generation.set);
        l.at[0].observed_generation = OPT_INT(0);
        assert_int_equal(condition_set(&l, &c, 2000, &arena), 0);
        assert_true(condition_is_true(&l, "Ready", 0));
        assert_false(condition_is_true(&l, "Ready", 1));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(generation_zero_is_no_generation),
                cmocka_unit_test(the_time_moves_only_when_the_status_does),
                cmocka_unit_test(no_message_is_the_empty_message),
                cmocka_unit_test(only_a_current_condition_counts),
                cmocka_unit_test(a_removed_condition_is_gone_and_the_others_stay),
                cmocka_unit_test(a_map_stays_sorted),
                cmocka_unit_test(no_memory_changes_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
