/* Statuses that are held back: who waits, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/agent.h"

#define SETTLE_MS 100
#define PER_WAITING_MS 80

struct fixture {
        struct loop *loop;
        struct world world;
        struct hub_agent agent;
        struct binding binding[400];
        char names[400][8];
};

static struct memory *memory(struct fixture *f, size_t i)
{
        struct binding *b = &f->binding[i];

        snprintf(f->names[i], sizeof(f->names[i]), "b-%zu", i);
        b->object.meta.name = b->object.meta.uid = f->names[i];
        return memory_of(&f->agent, "binding", &b->object);
}

static struct fixture *open_fixture(void)
{
        struct fixture *f = mem_zalloc(sizeof(*f));

        f->loop = loop_new_simulated(1, 1000000, NULL);
        f->world.loop = f->loop;
        f->agent.world = &f->world;
        f->agent.settle_ms = SETTLE_MS;
        map_init(&f->agent.memories, MAP_OWN_KEYS, memory_free);
        return f;
}

static void close_fixture(struct fixture *f)
{
        map_free(&f->agent.memories);
        assert_int_equal(f->agent.held.n, 0);
        loop_free(f->loop);
        mem_free(f);
}

static int64_t hold(struct fixture *f, size_t i)
{
        return memory_hold(&f->agent, memory(f, i), false);
}

static void the_more_wait_the_longer_each_up_to_twenty_seconds(void **state)
{
        struct fixture *f = open_fixture();

        assert_int_equal(hold(f, 0), SETTLE_MS + PER_WAITING_MS);
        assert_int_equal(hold(f, 0), SETTLE_MS + PER_WAITING_MS);
        assert_int_equal(hold(f, 1), SETTLE_MS + 2 * PER_WAITING_MS);
        assert_int_equal(memory_hold(&f->agent, memory(f, 2), true), 0);
        for (size_t i = 2; i < 400; i++)
                assert_in_range(hold(f, i), 1, HOLD_MAX_MS);
        assert_int_equal(hold(f, 399), 20000);
        close_fixture(f);
}

/* Whatever way a pass ends without holding: nothing to write, written, given up, failed. */
static void a_pass_that_does_not_hold_leaves_nobody_waiting_for_it(void **state)
{
        static const struct outcome ends[] = { { 0 }, { .after_ms = 1800000 }, { .code = ERR_INVALID } };
        struct fixture *f = open_fixture();

        for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
                for (size_t k = 0; k < 10; k++)
                        memory_pass_ended(memory(f, k), finish_after(hold(f, k)));
                assert_int_equal(f->agent.held.n, 10);
                for (size_t k = 0; k < 10; k++)
                        memory_pass_ended(memory(f, k), ends[i]);
                assert_int_equal(f->agent.held.n, 0);
                assert_int_equal(hold(f, 20), SETTLE_MS + PER_WAITING_MS);
                memory_pass_ended(memory(f, 20), done());
        }
        close_fixture(f);
}

static void what_was_due_when_a_write_failed_stays_due(void **state)
{
        struct fixture *f = open_fixture();

        memory_pass_ended(memory(f, 0), finish_after(hold(f, 0)));
        loop_run_until(f->loop, SETTLE_MS + PER_WAITING_MS);
        assert_int_equal(hold(f, 0), 0);
        memory_pass_ended(memory(f, 0), (struct outcome){ .code = ERR_CONFLICT });
        assert_int_equal(hold(f, 0), 0);
        memory_pass_ended(memory(f, 0), done());
        assert_int_equal(hold(f, 0), SETTLE_MS + PER_WAITING_MS);
        close_fixture(f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_more_wait_the_longer_each_up_to_twenty_seconds),
                cmocka_unit_test(a_pass_that_does_not_hold_leaves_nobody_waiting_for_it),
                cmocka_unit_test(what_was_due_when_a_write_failed_stays_due),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
