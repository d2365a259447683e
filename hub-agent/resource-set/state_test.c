#include "hub-agent/resource-set/state.h"

#include "common/base/memory.h"
#include "hub-agent/resource-set/testing.h"

static const char *shown(struct arena *arena, const struct resource_set *set)
{
        const char *all = "";

        for (uint32_t i = 0; i < set->status->conditions.n; i++) {
                const struct condition *c = &set->status->conditions.at[i];

                all = arena_printf(arena, "%s%s%s=%s/%s", all, i ? " " : "", c->type, c->status, c->reason);
        }
        return all;
}

/* spec/resource-set.md checklist 101 */
static void each_state_has_its_conditions(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_set *set = set_of(&arena, "{spec: {}}");
        static const struct {
                enum state state;
                const char *reason, *wanted;
        } steps[] = {
                { STATE_SUSPENDED, REASON_FLUX_DISABLED, "Ready=True/ReconciliationDisabled" },
                { STATE_RUNNING, NULL, "Reconciling=True/Progressing Ready=Unknown/Progressing" },
                { STATE_WAITING, REASON_FLUX_DEPENDENCY,
                  "Reconciling=True/ProgressingWithRetry Ready=False/DependencyNotReady" },
                { STATE_RUNNING, NULL, "Reconciling=True/Progressing Ready=Unknown/Progressing" },
                { STATE_READY, REASON_FLUX_SUCCEEDED, "Ready=True/ReconciliationSucceeded" },
                { STATE_WAITING, REASON_FLUX_DEPENDENCY, "Ready=False/DependencyNotReady" },
                { STATE_FAILED, REASON_FLUX_FAILED,
                  "Reconciling=True/ProgressingWithRetry Ready=False/ReconciliationFailed" },
                { STATE_FAILED, REASON_FLUX_HEALTH_FAILED,
                  "Reconciling=True/ProgressingWithRetry Ready=False/HealthCheckFailed" },
                { STATE_STALLED, REASON_FLUX_BUILD_FAILED,
                  "Stalled=True/BuildFailed Ready=False/BuildFailed" },
                { STATE_STALLED, REASON_FLUX_INVALID_CEL,
                  "Stalled=True/InvalidCELExpression Ready=False/InvalidCELExpression" },
                { STATE_WAITING, REASON_FLUX_DEPENDENCY, "Ready=False/DependencyNotReady" },
                { STATE_RUNNING, NULL, "Reconciling=True/Progressing Ready=Unknown/Progressing" },
        };

        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
                assert_int_equal(state_set(set, steps[i].state, steps[i].reason, "words", 1000, &arena), 0);
                assert_string_equal(shown(&arena, set), steps[i].wanted);
                assert_int_equal(set->status->conditions.at[0].observed_generation.value, 1);
        }
}

/* spec/resource-set.md checklist 101 */
static void a_condition_moves_with_its_words_and_is_cut(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_set *set = set_of(&arena, "{spec: {}}");
        char *many = arena_alloc(&arena, 40001);
        const struct condition *c;

        memset(many, 'x', 40000);
        many[40000] = '\0';
        state_set(set, STATE_READY, REASON_FLUX_SUCCEEDED, "a", 1000, &arena);
        state_set(set, STATE_READY, REASON_FLUX_SUCCEEDED, "a", 2000, &arena);
        assert_int_equal(set->status->conditions.at[0].last_transition_ms, 1000);
        state_set(set, STATE_READY, REASON_FLUX_SUCCEEDED, "b", 3000, &arena);
        assert_int_equal(set->status->conditions.at[0].last_transition_ms, 3000);
        state_set(set, STATE_FAILED, REASON_FLUX_FAILED, many, 4000, &arena);
        c = condition_find(&set->status->conditions, CONDITION_FLUX_READY);
        assert_int_equal(strlen(c->message), STATE_MESSAGE_MAX);
        assert_true(text_ends_with(c->message, "x..."));
}

static void note(struct arena *arena, struct resource_set *set, const char *digest, const char *status,
                 int64_t now_ms)
{
        struct history_note n = { .digest = digest,
                                  .status = status,
                                  .now_ms = now_ms,
                                  .took_ms = 2818,
                                  .counted = !text_equal(status, REASON_FLUX_BUILD_FAILED),
                                  .n_inputs = 2,
                                  .n_resources = 4 };

        assert_int_equal(history_note(set, &n, arena), 0);
}

/* spec/resource-set.md checklist 102 */
static void runs_alike_are_counted_and_five_kinds_are_kept(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_set *set = set_of(&arena, "{spec: {}}");
        const struct resource_set_snapshot_list *l;

        note(&arena, set, "a", REASON_FLUX_SUCCEEDED, 1000);
        note(&arena, set, "a", REASON_FLUX_FAILED, 2000);
        note(&arena, set, "a", REASON_FLUX_SUCCEEDED, 3000);
        l = &set->status->history;
        assert_int_equal(l->n, 2);
        assert_string_equal(l->at[0].last_reconciled_status, REASON_FLUX_SUCCEEDED);
        assert_int_equal(l->at[0].total_reconciliations.value, 2);
        assert_int_equal(l->at[0].first_reconciled, 1000);
        assert_int_equal(l->at[0].last_reconciled, 3000);
        assert_string_equal(l->at[0].last_reconciled_duration, "2.818s");
        assert_string_equal(string_map_get(&l->at[0].metadata, "inputs"), "2");
        assert_string_equal(string_map_get(&l->at[0].metadata, "resources"), "4");
        for (int i = 0; i < 5; i++)
                note(&arena, set, arena_printf(&arena, "d%d", i), REASON_FLUX_BUILD_FAILED, 4000 + i);
        assert_int_equal(l->n, 5);
        assert_string_equal(l->at[0].digest, "d4");
        assert_int_equal(l->at[0].metadata.n, 0);
        assert_string_equal(l->at[4].digest, "d0");
}

/* spec/resource-set.md checklist 66, 97 */
static void durations_are_written_and_read(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const struct {
                int64_t ms;
                const char *text;
        } rows[] = { { 52, "52ms" }, { 999, "999ms" }, { 52499, "52s" }, { 1500, "2s" }, { 65000, "1m5s" } };
        static const struct {
                const char *text;
                int64_t ms;
        } given[] = { { "30m", 1800000 }, { "x", 7 }, { "0s", 0 }, { "-1s", -1000 }, { "1.5s", 1500 } };
        char text[TOOK_SIZE];

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                took_text(rows[i].ms, text);
                assert_string_equal(text, rows[i].text);
        }
        for (size_t i = 0; i < ARRAY_LEN(given); i++) {
                struct resource_set *set = set_of(&arena, "{spec: {}}");

                assert_int_equal(string_map_put(&set->object.meta.annotations, ANNOTATION_FLUX_EVERY,
                                                given[i].text, &arena),
                                 0);
                assert_int_equal(annotated_ms(&set->object, ANNOTATION_FLUX_EVERY, 7), given[i].ms);
        }
        assert_int_equal(annotated_ms(&set_of(&arena, "{spec: {}}")->object, ANNOTATION_FLUX_EVERY, 7), 7);
}

/* spec/resource-set.md checklist 48 */
static void a_set_is_suspended_in_any_letters(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_set *set = set_of(&arena, "{spec: {}}");

        assert_false(is_suspended(&set->object));
        string_map_put(&set->object.meta.annotations, ANNOTATION_FLUX_RECONCILE, "Disabled", &arena);
        assert_true(is_suspended(&set->object));
        string_map_put(&set->object.meta.annotations, ANNOTATION_FLUX_RECONCILE, "no", &arena);
        assert_false(is_suspended(&set->object));
        string_map_put(&set->object.meta.annotations, ANNOTATION_FLUX_FORCE, "Enabled", &arena);
        assert_true(is_forced(&set->object));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_state_has_its_conditions),
                cmocka_unit_test(a_condition_moves_with_its_words_and_is_cut),
                cmocka_unit_test(runs_alike_are_counted_and_five_kinds_are_kept),
                cmocka_unit_test(durations_are_written_and_read),
                cmocka_unit_test(a_set_is_suspended_in_any_letters),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
