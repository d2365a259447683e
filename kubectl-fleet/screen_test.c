#include "kubectl-fleet/screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct page {
        struct buf out;
        struct screen screen;
};

static int open_page(void **state)
{
        static struct page p;

        buf_init(&p.out, 1u << 16);
        p.screen = (struct screen){ .out = &p.out };
        *state = &p;
        return 0;
}

static int close_page(void **state)
{
        buf_free(&((struct page *)*state)->out);
        return 0;
}

static void colours_stand_around_words_and_nothing_else(void **state)
{
        struct page *p = *state;

        screen_text(&p->screen, TONE_BAD, "failed");
        p->screen.colours = true;
        screen_text(&p->screen, TONE_BAD, "failed");
        screen_text(&p->screen, TONE_PLAIN, "so");
        assert_string_equal(p->out.data, "failed\033[31mfailed\033[0mso");
}

static void what_others_wrote_does_not_steer_the_terminal(void **state)
{
        struct page *p = *state;

        screen_text(&p->screen, TONE_PLAIN, "a\033[2Jb\nc\x7f");
        assert_string_equal(p->out.data, "a [2Jb c ");
}

static void a_bar_shows_each_part_that_is_there(void **state)
{
        static const struct {
                struct progress progress;
                const char *text;
        } cases[] = {
                { { 0, 0, 0, 10 }, "░░░░░░░░░░ 0/10" },
                { { 10, 0, 0, 10 }, "██████████ 10/10" },
                { { 999, 1, 0, 1000 }, "█████████▒ 999/1000" },
                { { 999, 0, 0, 1000 }, "█████████░ 999/1000" },
                { { 1, 0, 0, 1000 }, "█░░░░░░░░░ 1/1000" },
                { { 5, 2, 1, 10 }, "██████▒▒░░ 5/10" },
                { { 998, 1, 1, 1000 }, "█████████▒ 998/1000" },
                { { 0, 1, 0, 1 }, "▒▒▒▒▒▒▒▒▒▒ 0/1" },
                { { 0, 0, 0, 0 }, "░░░░░░░░░░ 0/0" },
        };
        struct page *p = *state;

        p->screen.drawn = true;
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                buf_clear(&p->out);
                screen_bar(&p->screen, &cases[i].progress);
                assert_string_equal(p->out.data, cases[i].text);
        }
        p->screen.drawn = false;
        buf_clear(&p->out);
        screen_bar(&p->screen, &cases[5].progress);
        assert_string_equal(p->out.data, "5/10");
}

static void the_failed_part_of_a_bar_is_seen_among_a_thousand(void **state)
{
        const struct progress progress = { 998, 1, 1, 1000 };
        struct page *p = *state;

        p->screen.drawn = p->screen.colours = true;
        screen_bar(&p->screen, &progress);
        assert_string_equal(p->out.data, "\033[32m████████\033[0m\033[31m█\033[0m\033[33m▒\033[0m 998/1000");
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
        static const char *const headers[] = { "NAME", "BAR", "NOTE" };
        struct page *p = *state;
        struct table t;

        p->screen.drawn = p->screen.colours = true;
        table_open(&t, &p->screen, headers, 3, false);
        table_cell(&t, TONE_GOOD, "web");
        table_bar(&t, &(struct progress){ 1, 0, 0, 1 });
        table_cell(&t, TONE_PLAIN, "fine");
        table_end_row(&t);
        table_cell(&t, TONE_PLAIN, "database");
        table_end_row(&t);
        table_print(&t);
        assert_string_equal(p->out.data, "NAME       BAR              NOTE\n"
                                         "\033[32mweb\033[0m        \033[32m██████████\033[0m 1/1   fine\n"
                                         "database\n");
        buf_clear(&p->out);
        table_cell(&t, TONE_PLAIN, "a");
        table_cell(&t, TONE_PLAIN, "b");
        table_end_row(&t);
        table_print(&t); /* columns stay where they were, the headers were printed */
        assert_string_equal(p->out.data, "a          b\n");
        table_close(&t);
}

static void a_tree_has_lines_on_a_terminal_and_indents_elsewhere(void **state)
{
        struct page *p = *state;
        struct tree t = { .screen = &p->screen };

        for (int drawn = 1; drawn >= 0; drawn--) {
                p->screen.drawn = drawn;
                tree_branch(&t, 0, true);
                screen_text(&p->screen, TONE_PLAIN, "root");
                tree_end_line(&t);
                tree_branch(&t, 1, false);
                screen_text(&p->screen, TONE_PLAIN, "one");
                tree_end_line(&t);
                tree_branch(&t, 2, true);
                screen_text(&p->screen, TONE_PLAIN, "leaf");
                tree_end_line(&t);
                tree_branch(&t, 1, true);
                screen_text(&p->screen, TONE_PLAIN, "two");
                tree_end_line(&t);
                tree_branch(&t, 2, true);
                screen_text(&p->screen, TONE_PLAIN, "leaf");
                tree_end_line(&t);
        }
        assert_string_equal(p->out.data, "root\n├─ one\n│  └─ leaf\n└─ two\n   └─ leaf\n"
                                         "root\n  one\n    leaf\n  two\n    leaf\n");
}

static void a_line_is_cut_at_the_edge_of_the_terminal(void **state)
{
        struct page *p = *state;

        p->screen.columns = 6;
        screen_text(&p->screen, TONE_PLAIN, "sixsix");
        screen_end_line(&p->screen, 0);
        assert_string_equal(p->out.data, "sixsix\n");
        buf_clear(&p->out);
        screen_text(&p->screen, TONE_PLAIN, "seven!!");
        screen_end_line(&p->screen, 0);
        assert_string_equal(p->out.data, "seven…\n");
        buf_clear(&p->out);
        p->screen.colours = true;
        screen_text(&p->screen, TONE_BAD, "██████████");
        screen_end_line(&p->screen, 0);
        assert_string_equal(p->out.data, "\033[31m█████…\033[0m\n");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(colours_stand_around_words_and_nothing_else, open_page,
                                                close_page),
                cmocka_unit_test_setup_teardown(what_others_wrote_does_not_steer_the_terminal, open_page,
                                                close_page),
                cmocka_unit_test_setup_teardown(a_bar_shows_each_part_that_is_there, open_page, close_page),
                cmocka_unit_test_setup_teardown(the_failed_part_of_a_bar_is_seen_among_a_thousand, open_page,
                                                close_page),
                cmocka_unit_test_setup_teardown(columns_are_as_wide_as_their_widest_cell, open_page,
                                                close_page),
                cmocka_unit_test_setup_teardown(a_tree_has_lines_on_a_terminal_and_indents_elsewhere,
                                                open_page, close_page),
                cmocka_unit_test_setup_teardown(a_line_is_cut_at_the_edge_of_the_terminal, open_page,
                                                close_page),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
