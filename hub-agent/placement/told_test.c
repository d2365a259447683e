/* Troubles that were told, as a sorted list. */
#include "hub-agent/placement/told.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PLACES = 7, TROUBLES = 5 };

/* `n` troubles at each of the places 1, 2, ..., told in another order than they are kept in. */
static struct told_list listed(size_t n)
{
        struct told_list now = { 0 }, next = { 0 };

        for (uint64_t what = n; what > 0; what--)
                for (uint64_t where = 1; where <= PLACES; where++)
                        assert_int_equal(told_add(&next, where * 3 % PLACES + 1, what * 10), 0);
        told_replace(&now, &next);
        assert_int_equal(next.all.n, 0);
        return now;
}

static void what_was_told_is_found_whatever_its_neighbours(void **state)
{
        for (size_t n = 0; n <= TROUBLES; n++) {
                struct told_list l = listed(n);

                for (uint64_t where = 0; where <= PLACES + 1; where++)
                        for (uint64_t what = 0; what <= 10 * TROUBLES + 10; what += 5)
                                assert_int_equal(told_has(&l, where, what),
                                                 where >= 1 && where <= PLACES && what > 0 &&
                                                         what % 10 == 0 && what <= 10 * n);
                told_free(&l);
        }
}

static void all_that_was_told_of_one_place_is_kept_and_nothing_else(void **state)
{
        for (size_t n = 0; n <= TROUBLES; n++) {
                struct told_list l = listed(n);

                for (uint64_t where = 0; where <= PLACES + 1; where++) {
                        bool known = where >= 1 && where <= PLACES;
                        struct told_list next = { 0 };

                        assert_int_equal(told_keep(&next, &l, where), 0);
                        assert_int_equal(next.all.n, known ? n : 0);
                        for (size_t i = 0; i < next.all.n; i++) {
                                assert_int_equal(next.all.at[i].where, where);
                                assert_int_equal(next.all.at[i].what, 10 * (i + 1));
                        }
                        told_free(&next);
                }
                told_free(&l);
        }
}

static void the_kind_of_trouble_is_part_of_the_place(void **state)
{
        assert_true(told_where('a', "c1") == told_where('a', "c1"));
        assert_true(told_where('a', "c1") != told_where('b', "c1"));
        assert_true(told_where('a', "c1") != told_where('a', "c2"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_told_is_found_whatever_its_neighbours),
                cmocka_unit_test(all_that_was_told_of_one_place_is_kept_and_nothing_else),
                cmocka_unit_test(the_kind_of_trouble_is_part_of_the_place),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
