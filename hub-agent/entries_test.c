/* Bounds on what members write into statuses: spec/placement.md 10.4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "hub-agent/entries.h"

static void a_text_is_cut_between_characters(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        char text[LIMIT_STATUS_TEXT_BYTES + 16];
        const char *is;
        size_t n_cut = 0, n;

        memset(text, 'x', sizeof(text));
        text[LIMIT_STATUS_TEXT_BYTES] = 0;
        assert_ptr_equal(entry_text(&arena, text, &n_cut), text);
        assert_null(entry_text(&arena, NULL, &n_cut));
        assert_int_equal(n_cut, 0);
        for (size_t i = 0; i + 2 < sizeof(text); i += 2)
                memcpy(text + i, "\xc3\xa4", 2);
        text[sizeof(text) - 2] = 0;
        is = entry_text(&arena, text, &n_cut);
        n = strlen(is);
        assert_int_equal(n_cut, 1);
        assert_in_range(n, LIMIT_STATUS_TEXT_BYTES - 4, LIMIT_STATUS_TEXT_BYTES);
        assert_true(text_is_utf8(is, n));
        assert_string_equal(is + n - 3, "...");
}

static void details_that_do_not_fit_are_counted(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct patch_detail at[1000], big = { .path = "/data" };
        struct patch_detail_list all = { at, ARRAY_LEN(at), true }, one = { &big, 1, true }, is;
        char *text = mem_zalloc(100001);
        size_t n_cut = 0;

        for (size_t i = 0; i < ARRAY_LEN(at); i++)
                at[i] = (struct patch_detail){ "/a", "1", "2" };
        assert_int_equal(entry_details(&arena, &all, &is, &n_cut), 0);
        assert_in_range(is.n, 10, LIMIT_STATUS_ENTRY_BYTES / 200);
        assert_int_equal(is.n + n_cut, ARRAY_LEN(at));
        memset(text, 'x', 100000);
        big.value_in_member = big.value_in_hub = text;
        n_cut = 0;
        assert_int_equal(entry_details(&arena, &one, &is, &n_cut), 0);
        assert_int_equal(is.n, 1);
        assert_int_equal(n_cut, 2);
        assert_int_equal(strlen(is.at[0].value_in_hub), LIMIT_STATUS_TEXT_BYTES);
        mem_free(text);
}

static void who_wants_little_gets_it_and_the_others_share_the_rest(void **state)
{
        size_t few[] = { 10, 30, 20 }, greedy[] = { 1000, 10, 1000, 20 }, all[] = { 500, 400, 300, 200 };

        assert_true(entries_fair_share(few, 3, 100) >= 30);
        assert_int_equal(entries_fair_share(greedy, 4, 130), 50);
        assert_int_equal(entries_fair_share(all, 4, 400), 100);
        assert_int_equal(entries_fair_share(NULL, 0, 100), 100);
}

static void the_last_entries_go_first(void **state)
{
        struct condition c = { .type = "Applied", .status = "False", .reason = "R", .message = "m" };
        struct failed_placement failed[10];
        struct drifted_placement drifted[10] = { 0 };
        struct failed_placement_list f = { failed, 10, true };
        struct drifted_placement_list d = { drifted, 10, true };
        const struct entry_lists lists = { &f, &d, NULL };
        size_t all;

        for (size_t i = 0; i < 10; i++)
                failed[i] = (struct failed_placement){ .id = { .kind = "ConfigMap", .name = "a" },
                                                       .condition = &c };
        all = entries_bytes(&lists);
        assert_int_equal(entries_cut(&lists, all), 0);
        assert_int_equal(entries_cut(&lists, all - 1), 1);
        assert_int_equal(d.n, 9);
        assert_int_equal(entries_cut(&lists, all / 2), 10);
        assert_true(d.n == 0 && !d.set);
        assert_int_equal(f.n, 9);
}

/* The server counts bytes of JSON, where a control character takes six and a quote two. */
static void a_text_counts_as_it_is_written(void **state)
{
        static const struct {
                const char *text;
                size_t bytes;
        } texts[] = { { "", 0 }, { "plain", 5 }, { "\x01\x1f", 12 }, { "\"\\", 4 }, { " ", 1 } };
        struct condition c = { .type = "Applied", .status = "False", .reason = "R", .message = "" };
        struct failed_placement one = { .condition = &c };
        struct failed_placement_list list = { &one, 1, true };
        const struct entry_lists lists = { &list, NULL, NULL };
        size_t empty = entries_bytes(&lists);

        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                c.message = texts[i].text;
                assert_int_equal(entries_bytes(&lists) - empty, texts[i].bytes);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_text_is_cut_between_characters),
                cmocka_unit_test(details_that_do_not_fit_are_counted),
                cmocka_unit_test(who_wants_little_gets_it_and_the_others_share_the_rest),
                cmocka_unit_test(the_last_entries_go_first),
                cmocka_unit_test(a_text_counts_as_it_is_written),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
