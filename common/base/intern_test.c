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

static void no_memory_gives_nothing(void **state)
{
        struct intern_table *t = intern_table_new();
        mem_fail_at(1, true);
        assert_null(intern(t, "x", 1));
        assert_null(intern_bytes(t, "x", 1));
        mem_fail_at(0, false);
        intern_table_free(t);
        assert_int_equal(mem_live_count(), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(equal_strings_have_one_copy),
                cmocka_unit_test(bytes_have_one_aligned_copy_apart_from_strings),
                cmocka_unit_test(no_memory_gives_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
