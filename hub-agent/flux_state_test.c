/* Conditions of ResourceSets and their providers: spec/resource-set.md 1, 15.1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/flux_state.h"

static const char *said(const struct condition_list *l, struct arena *arena)
{
        char *all = arena_strdup(arena, "");

        for (uint32_t i = 0; i < l->n; i++)
                all = arena_printf(arena, "%s%s %s/%s ", all, l->at[i].type, l->at[i].status,
                                   l->at[i].reason);
        return all;
}

/* spec/resource-set.md checklist 101 */
static void each_state_has_its_row(void **state)
{
        static const struct {
                enum flux_state before, now;
                const char *reason, *wanted;
        } table[] = {
                { FLUX_DONE, FLUX_RUNNING, NULL, "Reconciling True/Progressing Ready Unknown/Progressing " },
                { FLUX_RUNNING, FLUX_DONE, "R", "Ready True/R " },
                { FLUX_RUNNING, FLUX_SUSPENDED, "R", "Ready True/R " },
                { FLUX_RUNNING, FLUX_WAITING, "R", "Reconciling True/ProgressingWithRetry Ready False/R " },
                { FLUX_DONE, FLUX_WAITING, "R", "Ready False/R " },
                { FLUX_RUNNING, FLUX_FAILED, "R", "Reconciling True/ProgressingWithRetry Ready False/R " },
                { FLUX_RUNNING, FLUX_STALLED, "R", "Stalled True/R Ready False/R " },
                { FLUX_STALLED, FLUX_WAITING, "R", "Ready False/R " },
                { FLUX_STALLED, FLUX_RUNNING, NULL,
                  "Reconciling True/Progressing Ready Unknown/Progressing " },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct condition_list l = { 0 };

                assert_int_equal(flux_state_set(&l, 3, table[i].before, "B", "b", 1000, &arena), 0);
                assert_int_equal(flux_state_set(&l, 3, table[i].now, table[i].reason,
                                                table[i].reason ? "m" : NULL, 2000, &arena),
                                 0);
                assert_string_equal(said(&l, &arena), table[i].wanted);
                assert_int_equal(condition_find(&l, "Ready")->observed_generation.value, 3);
        }
}

/* spec/resource-set.md checklist 101 */
static void a_new_message_moves_the_time_and_a_long_one_is_cut(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_FREE char *big = mem_zalloc(FLUX_MESSAGE_MAX + 2);
        struct condition_list l = { 0 };

        assert_int_equal(flux_state_set(&l, 1, FLUX_DONE, "R", "a", 1000, &arena), 0);
        assert_int_equal(flux_state_set(&l, 1, FLUX_DONE, "R", "a", 2000, &arena), 0);
        assert_int_equal(condition_find(&l, "Ready")->last_transition_ms, 1000);
        assert_int_equal(flux_state_set(&l, 1, FLUX_DONE, "R", "b", 3000, &arena), 0);
        assert_int_equal(condition_find(&l, "Ready")->last_transition_ms, 3000);
        memset(big, 'x', FLUX_MESSAGE_MAX + 1);
        assert_int_equal(flux_state_set(&l, 1, FLUX_DONE, "R", big, 3000, &arena), 0);
        assert_int_equal(strlen(condition_find(&l, "Ready")->message), FLUX_MESSAGE_MAX);
        assert_true(text_ends_with(condition_find(&l, "Ready")->message, "xxx..."));
}

/* spec/resource-set.md checklist 48, 66 and 97 */
static void durations_are_read_and_told(void **state)
{
        static const struct {
                int64_t ms;
                const char *text;
        } table[] = { { 52, "52ms" },   { 999, "999ms" },  { 1499, "1s" }, { 1500, "2s" },
                      { 52499, "52s" }, { 65400, "1m5s" }, { 0, "0s" } };
        static const struct {
                const char *text;
                int64_t ms;
        } given[] = { { "1h", 3600000 }, { "1.5s", 1500 }, { "1us", 1 },
                      { "0s", 0 },       { "-1s", -1000 }, { "soon", 7 } };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o = object_new(&resource_set_input_provider_kind, "a", "b", &arena);
        char text[FLUX_TOOK_SIZE];

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                flux_took_text(table[i].ms, text);
                assert_string_equal(text, table[i].text);
        }
        assert_int_equal(flux_annotated_ms(o, "k", 7), 7);
        for (size_t i = 0; i < ARRAY_LEN(given); i++) {
                set_annotation(o, "k", given[i].text, &arena);
                assert_int_equal(flux_annotated_ms(o, "k", 7), given[i].ms);
        }
        assert_false(flux_is_suspended(o));
        set_annotation(o, ANNOTATION_FLUX_RECONCILE, "Disabled", &arena);
        assert_true(flux_is_suspended(o));
        set_annotation(o, ANNOTATION_FLUX_RECONCILE, "no", &arena);
        assert_false(flux_is_suspended(o));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_state_has_its_row),
                cmocka_unit_test(a_new_message_moves_the_time_and_a_long_one_is_cut),
                cmocka_unit_test(durations_are_read_and_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
