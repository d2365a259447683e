#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/intern.h"
#include "common/base/memory.h"

static void equal_strings_have_one_copy(void **state)
{
        struct intern_table *t = intern_table_new();
        const char *a = intern(t, "abc", 2);
        assert_string_equal(a, "ab");
        assert_ptr_equal(a, intern(t, "ab", 2));
        assert_ptr_not_equal(a, intern(t, "abc", 3));
        intern_table_free(t);
        assert_int_equal(mem_live_count(), 0);
}

static void bytes_have_one_aligned_copy_apart_from_strings(void **state)
{
        struct intern_table *t = intern_table_new();
        const char bytes[] = { 'a', 0, 'b' };
        assert_non_null(intern(t, bytes, 1));
        const void *copy = intern_bytes(t, bytes, sizeof(bytes));
        assert_ptr_equal(copy, intern_bytes(t, bytes, sizeof(bytes)));
        assert_int_equal((uintptr_t)copy % 16, 0);
        assert_true(intern_has_bytes(t, copy, sizeof(bytes)));
        assert_false(intern_has_bytes(t, bytes, sizeof(bytes)));
        assert_false(intern_has_bytes(t, copy, 1));
        intern_table_free(t);
        assert_int_equal(mem_live_count(), 0);
}

static void a_copy_is_found_by_its_number(void **state)
{
        enum { MANY = 300 };
        struct intern_table *t = intern_table_new();
        const void *copies[MANY];
        for (uint32_t i = 0; i < MANY; i++) {
                copies[i] = i % 2 ? intern_bytes(t, &i, sizeof(i)) : intern(t, (const char *)&i, 3);
                assert_int_equal(intern_number(t, copies[i]), i);
        }
        assert_non_null(intern(t, "", 0));
        for (uint32_t i = 0; i < MANY; i++)
                assert_ptr_equal(intern_at(t, i), copies[i]);
        assert_int_equal(intern_number(t, intern(t, "", 0)), MANY);
        intern_table_free(t);
        assert_int_equal(mem_live_count(), 0);
}

static void no_memory_gives_nothing(void **state)
{
        struct intern_table *t = intern_table_new();
        mem_fail_at(1, true);
        assert_null(intern(t, "x", 1));
        assert_null(intern_bytes(t, "x", 1));
        mem_fail_at(0, false);
        intern_table_free(t);
        bool failed = true;
        for (uint64_t nth = 1; failed; nth++) { /* each allocation of the first copies in turn */
                t = intern_table_new();
                mem_fail_at(nth, false);
                bool both = intern(t, "y", 1) && intern_bytes(t, "y", 1);
                failed = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(both, !failed);
                assert_string_equal(intern(t, "y", 1), "y");
                assert_int_equal(*(const char *)intern_bytes(t, "y", 1), 'y');
                intern_table_free(t);
        }
        assert_int_equal(mem_live_count(), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(equal_strings_have_one_copy),
                cmocka_unit_test(bytes_have_one_aligned_copy_apart_from_strings),
                cmocka_unit_test(a_copy_is_found_by_its_number),
                cmocka_unit_test(no_memory_gives_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
