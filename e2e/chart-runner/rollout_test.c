/* Sizes of ReplicaSets during a rollout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/chart-runner/rollout.h"

static void the_next_sizes_keep_within_surge_and_reserve(void **state)
{
        static const struct {
                const char *what;
                struct rollout now;
                int64_t new_size, old_size;
        } cases[] = {
                { "a first install", { .want = 2, .surge = 1 }, 2, 0 },
                { "one pod: the new one comes first",
                  { .want = 1, .surge = 1, .old_size = 1, .old_available = 1, .old_pods = 1 },
                  1,
                  1 },
                { "the old one stays while the new one is not ready",
                  { .want = 1, .surge = 1, .new_size = 1, .old_size = 1, .old_available = 1, .old_pods = 1 },
                  1,
                  1 },
                { "the old one goes when the new one is ready",
                  { .want = 1,
                    .surge = 1,
                    .new_size = 1,
                    .new_available = 1,
                    .old_size = 1,
                    .old_available = 1 },
                  1,
                  0 },
                { "an old one that does not work goes at once",
                  { .want = 1, .surge = 1, .new_size = 1, .new_available = 1, .old_size = 1 },
                  1,
                  0 },
                { "two pods, one at a time",
                  { .want = 2, .surge = 1, .old_size = 2, .old_available = 2, .old_pods = 2 },
                  1,
                  2 },
                { "with a reserve instead of a surge an old one goes first",
                  { .want = 2, .reserve = 1, .old_size = 2, .old_available = 2, .old_pods = 2 },
                  0,
                  1 },
                { "Recreate waits for the last old pod",
                  { .want = 2, .recreate = true, .old_size = 0, .old_pods = 1 },
                  0,
                  0 },
                { "Recreate goes on then", { .want = 2, .recreate = true }, 2, 0 },
                { "fewer are wanted", { .want = 1, .surge = 1, .new_size = 3, .new_available = 3 }, 1, 0 },
                { "none are wanted",
                  { .want = 0, .new_size = 1, .new_available = 1, .old_size = 1, .old_available = 1 },
                  0,
                  0 },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                int64_t new_size = -1, old_size = -1;

                rollout_next(&cases[i].now, &new_size, &old_size);
                if (new_size != cases[i].new_size || old_size != cases[i].old_size)
                        fail_msg("%s: new %lld, old %lld", cases[i].what, (long long)new_size,
                                 (long long)old_size);
        }
}

static void every_rollout_ends_and_never_goes_below_its_reserve(void **state)
{
        for (int64_t want = 1; want <= 5; want++) {
                struct rollout r = { .want = want, .surge = 1, .old_size = want, .old_available = want };
                int steps = 0;

                while (r.new_available < want || r.old_size > 0) {
                        r.old_pods = r.old_size;
                        rollout_next(&r, &r.new_size, &r.old_size);
                        r.old_available = r.old_size;
                        assert_true(r.new_size + r.old_size <= want + 1);
                        assert_true(r.new_available + r.old_available >= want);
                        if (r.new_available < r.new_size)
                                r.new_available++; /* one pod becomes ready */
                        assert_true(++steps < 50);
                }
        }
}

static void the_strategy_is_read_with_its_defaults(void **state)
{
        static const struct {
                const char *spec;
                int64_t surge, reserve;
                bool recreate;
        } cases[] = {
                { "{\"replicas\":1}", 1, 0, false },
                { "{\"replicas\":4}", 1, 1, false },
                { "{\"replicas\":2,\"strategy\":{\"type\":\"Recreate\"}}", 0, 0, true },
                { "{\"replicas\":2,\"strategy\":{\"rollingUpdate\":{\"maxSurge\":0,\"maxUnavailable\":0}}}",
                  0, 1, false },
                { "{\"replicas\":10,\"strategy\":{\"rollingUpdate\":{\"maxSurge\":\"15%\",\"maxUnavailable\":"
                  "2}}}",
                  2, 2, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *doc = json_object();
                json_t *spec = NULL;
                struct rollout r = { 0 };

                assert_int_equal(doc_parse(slice_of(cases[i].spec), &spec, NULL), 0);
                assert_int_equal(doc_set(doc, "spec", spec), 0);
                assert_int_equal(rollout_read(doc, &r, NULL), 0);
                assert_int_equal(r.surge, cases[i].surge);
                assert_int_equal(r.reserve, cases[i].reserve);
                assert_int_equal(r.recreate, cases[i].recreate);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_next_sizes_keep_within_surge_and_reserve),
                cmocka_unit_test(every_rollout_ends_and_never_goes_below_its_reserve),
                cmocka_unit_test(the_strategy_is_read_with_its_defaults),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
