#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "kubectl-fleet/page/tries.h"

static void an_address_has_so_many_tries_a_minute(void **state)
{
        struct page_tries t = { 0 };

        for (int i = 0; i < PAGE_TRIES_EACH; i++)
                assert_true(page_try_begin(&t, "192.0.2.1", 1000 + i) >= 0);
        assert_int_equal(page_try_begin(&t, "192.0.2.1", 2000), -1);
        assert_true(page_try_begin(&t, "192.0.2.2", 2000) >= 0);
        assert_int_equal(page_try_begin(&t, "192.0.2.1", 1000 + PAGE_TRY_MS - 1), -1);
        assert_true(page_try_begin(&t, "192.0.2.1", 1000 + PAGE_TRY_MS) >= 0);
        assert_int_equal(page_try_begin(&t, "192.0.2.1", 1000 + PAGE_TRY_MS), -1);
}

static void good_tokens_do_not_count(void **state)
{
        struct page_tries t = { 0 };

        for (int i = 0; i < 1000; i++) {
                int n = page_try_begin(&t, "192.0.2.1", 1000);

                assert_true(n >= 0);
                page_try_was_good(&t, n);
        }
}

static void all_addresses_together_have_a_bound(void **state)
{
        struct page_tries t = { 0 };
        char address[64];
        int tried = 0;

        for (int i = 0; i < 10 * PAGE_TRIES_MAX; i++) {
                snprintf(address, sizeof(address), "2001:db8::%x", (unsigned)i);
                tried += page_try_begin(&t, address, 1000) >= 0;
        }
        assert_int_equal(tried, PAGE_TRIES_MAX);
        assert_true(page_try_begin(&t, "192.0.2.1", 1000 + PAGE_TRY_MS) >= 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_address_has_so_many_tries_a_minute),
                cmocka_unit_test(good_tokens_do_not_count),
                cmocka_unit_test(all_addresses_together_have_a_bound),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
