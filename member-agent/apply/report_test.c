/* What a pass keeps of the Work's status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "member-agent/apply/report.h"

static void counting_random(void *ctx, void *ret, size_t n)
{
        memset(ret, (*(int *)ctx)++, n);
}

/* The state file's status after a pass that found nothing new, where it held `held` before. */
static void expect_kept(bool before_kept, const char *held, bool same)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        int seed = 1;
        struct store_options options = {
                .path = ":memory:", .key = { 1, 2, 3 }, .random = counting_random, .random_ctx = &seed
        };
        struct member_agent agent = { .store = NULL };
        struct object *work = object_new(&work_kind, "fleet-member-m", "w", &arena);
        struct work_status status = { 0 };
        struct pass p = {
                .agent = &agent, .arena = &arena, .name = "w", .work = (const struct work *)(const void *)work
        };
        const struct source s = {
                .before = &status, .before_on_hub = true, .before_kept = before_kept, .at = work
        };
        struct stored_work stored;
        struct error err = { 0 };

        work->meta.generation = 3;
        assert_int_equal(store_open(&options, &agent.store, &err), 0);
        assert_int_equal(store_work_put(agent.store, "w", "u", 3, SLICE("{}"), NULL, 0, &err), 0);
        assert_int_equal(store_status_put(agent.store, "w", 3, slice_of(held), true, &err), 0);
        assert_int_equal(report_write(&p, &s, &status, &err), 0);
        assert_int_equal(store_work_get(agent.store, "w", &arena, &stored, &err), 0);
        assert_int_equal(slice_is(stored.status, held), same);
        store_close(agent.store);
}

static void a_status_that_the_state_file_has_as_delivered_is_not_kept_again(void **state)
{
        expect_kept(true, "{\"held\":1}", true);
        expect_kept(false, "{\"held\":1}", false);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_status_that_the_state_file_has_as_delivered_is_not_kept_again),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
