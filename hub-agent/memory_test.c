/* Records about objects, and statuses that are held back: who waits, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/memory.h"

/* ---- records ---- */

struct record {
        struct memory memory;
        int *cleared;
};

static void clear_record(void *record)
{
        struct record *r = record;

        if (r->cleared)
                ++*r->cleared;
}
static const struct memory_kind record_kind = { sizeof(struct record), clear_record };

static struct object object_of(const char *ns, const char *name, const char *uid)
{
        return (struct object){ .meta = { .ns = ns, .name = name, .uid = uid } };
}

static void a_record_belongs_to_one_object_not_to_its_name(void **state)
{
        struct object first = object_of("ns", "a", "1"), other = object_of(NULL, "a", "2"),
                      second = object_of("ns", "a", "3");
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct memories all;
        struct record *r;

        memories_init(&all, &record_kind);
        assert_null(memory_known(&all, "ns/a"));
        r = memory_of(&all, &first, &arena);
        assert_ptr_equal(memory_of(&all, &first, &arena), r);
        assert_ptr_equal(memory_known(&all, "ns/a"), r);
        assert_ptr_not_equal(memory_of(&all, &other, &arena), r);
        assert_ptr_not_equal(memory_of(&all, &second, &arena), r);
        memories_free(&all);
}

/* A pass parks; meanwhile the object goes, or is made again and another pass asks for its record. */
static void a_record_lives_as_long_as_a_pass_uses_it(void **state)
{
        struct object first = object_of("ns", "a", "1"), second = object_of("ns", "a", "2");
        struct arena pass = ARENA_INIT, later = ARENA_INIT;
        struct memories all;
        struct record *r;
        int cleared = 0;

        memories_init(&all, &record_kind);
        r = memory_of(&all, &first, &pass);
        r->cleared = &cleared;
        memory_drop(&all, "ns/a");
        assert_non_null(memory_of(&all, &second, &later));
        arena_free(&later);
        assert_int_equal(cleared, 0);
        assert_int_equal(r->memory.uid, hash_bytes("1", 1, 0));
        arena_free(&pass);
        assert_int_equal(cleared, 1);
        memories_free(&all);
}

struct sleeper {
        struct memory memory;
        bool met;
        int more;
};

static bool is_at_rest(const void *record)
{
        const struct sleeper *s = record;

        return s->met && s->more == 0;
}

static void wake(void *record)
{
        ((struct sleeper *)record)->met = true;
}
static const struct memory_kind sleeper_kind = { sizeof(struct sleeper), NULL, is_at_rest, wake };

/* One pass: `more` is what the object gives to remember. Whether it was met before. */
static bool pass(struct memories *all, const struct object *o, int more)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct sleeper *s = memory_of(all, o, &arena);
        bool met = s->met;

        s->met = true;
        s->more = more;
        memory_rest(all, o->meta.name, s);
        return met;
}

static void a_record_at_rest_takes_no_memory_and_is_the_same_when_it_is_asked_for(void **state)
{
        struct object first = object_of(NULL, "a", "1"), second = object_of(NULL, "a", "2");
        struct memories all;
        size_t before;

        memories_init(&all, &sleeper_kind);
        assert_false(pass(&all, &first, 7));
        before = mem_live_count();
        assert_true(pass(&all, &first, 0));
        assert_int_equal(mem_live_count(), before - 1);
        assert_true(pass(&all, &first, 0));
        assert_int_equal(mem_live_count(), before - 1);
        assert_true(pass(&all, &first, 7));
        assert_int_equal(mem_live_count(), before);
        assert_true(pass(&all, &first, 0));
        assert_false(pass(&all, &second, 0));
        assert_false(pass(&all, &first, 0));
        memories_free(&all);
}

static void a_record_that_another_pass_has_is_kept(void **state)
{
        struct object o = object_of(NULL, "a", "1");
        struct arena other = ARENA_INIT;
        struct memories all;
        struct sleeper *s;

        memories_init(&all, &sleeper_kind);
        s = memory_of(&all, &o, &other);
        assert_false(pass(&all, &o, 0));
        s->more = 7;
        arena_free(&other);
        s = memory_of(&all, &o, &other);
        assert_int_equal(s->more, 7);
        memory_drop(&all, "a");
        memory_rest(&all, "a", s); /* it is nobody's any more */
        assert_int_equal(map_count(&all.by_key), 0);
        arena_free(&other);
        memories_free(&all);
}

/* ---- holding ---- */

#define SETTLE_MS 100
#define PER_WAITING_MS 80

static int64_t hold_at(struct hold *h, struct held *all, int64_t now_ms)
{
        return hold_status(h, all, SETTLE_MS, now_ms);
}

static void the_more_wait_the_longer_each_up_to_twenty_seconds(void **state)
{
        struct hold h[400] = { 0 };
        struct held all = { 0 };

        assert_int_equal(hold_at(&h[0], &all, 0), SETTLE_MS + PER_WAITING_MS);
        assert_int_equal(hold_at(&h[0], &all, 0), SETTLE_MS + PER_WAITING_MS);
        assert_int_equal(hold_at(&h[1], &all, 0), SETTLE_MS + 2 * PER_WAITING_MS);
        for (size_t i = 2; i < 400; i++)
                assert_in_range(hold_at(&h[i], &all, 0), 1, HOLD_MAX_MS);
        assert_int_equal(hold_at(&h[399], &all, 0), 20000);
        assert_int_equal(hold_status(&h[0], &all, 0, 0), 0);
}

/* Whatever way a pass ends without holding: nothing to write, written, given up, failed, its object gone. */
static void a_pass_that_does_not_hold_leaves_nobody_waiting_for_it(void **state)
{
        static const struct outcome ends[] = { { 0 }, { .after_ms = 1800000 }, { .code = ERR_INVALID } };
        struct held all = { 0 };

        for (size_t i = 0; i <= ARRAY_LEN(ends); i++) {
                struct hold h[10] = { 0 }, later = { 0 };

                for (size_t k = 0; k < 10; k++)
                        hold_pass_ended(&h[k], finish_after(hold_at(&h[k], &all, 0)));
                assert_int_equal(all.n, 10);
                for (size_t k = 0; k < 10; k++)
                        i < ARRAY_LEN(ends) ? (void)hold_pass_ended(&h[k], ends[i]) : hold_let_go(&h[k]);
                assert_int_equal(all.n, 0);
                assert_int_equal(hold_at(&later, &all, 0), SETTLE_MS + PER_WAITING_MS);
                hold_let_go(&later);
        }
}

static void what_was_due_when_a_write_failed_stays_due(void **state)
{
        const int64_t due = SETTLE_MS + PER_WAITING_MS;
        struct held all = { 0 };
        struct hold h = { 0 };

        hold_pass_ended(&h, finish_after(hold_at(&h, &all, 0)));
        assert_int_equal(hold_at(&h, &all, due), 0);
        hold_pass_ended(&h, (struct outcome){ .code = ERR_CONFLICT });
        assert_int_equal(hold_at(&h, &all, due), 0);
        hold_pass_ended(&h, done());
        assert_int_equal(hold_at(&h, &all, due), due);
        hold_let_go(&h);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_record_belongs_to_one_object_not_to_its_name),
                cmocka_unit_test(a_record_lives_as_long_as_a_pass_uses_it),
                cmocka_unit_test(a_record_at_rest_takes_no_memory_and_is_the_same_when_it_is_asked_for),
                cmocka_unit_test(a_record_that_another_pass_has_is_kept),
                cmocka_unit_test(the_more_wait_the_longer_each_up_to_twenty_seconds),
                cmocka_unit_test(a_pass_that_does_not_hold_leaves_nobody_waiting_for_it),
                cmocka_unit_test(what_was_due_when_a_write_failed_stays_due),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
