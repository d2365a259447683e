#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "kubectl-fleet/page/doc.h"

struct drawing {
        struct page_doc *d;
        struct buf out; /* messages, each on a line */
        size_t messages;
};

static int set_up(void **state)
{
        struct drawing *g = NEW(struct drawing);

        g->d = page_doc_new(7);
        buf_init(&g->out, 8u << 20);
        buf_append_char(&g->out, ' ');
        *state = g;
        return 0;
}

static int tear_down(void **state)
{
        struct drawing *g = *state;

        page_doc_free(g->d);
        buf_free(&g->out);
        mem_free(g);
        return 0;
}

static json_t *number(int n)
{
        return json_pack("{s:i}", "n", n);
}

static void send(struct drawing *g, size_t size)
{
        bool more = true;

        buf_clear(&g->out);
        g->out.data[0] = '\0';
        for (g->messages = 0; more; g->messages++) {
                size_t before = g->out.len;

                assert_int_equal(page_doc_take(g->d, size, &g->out, &more), 0);
                if (g->out.len == before)
                        break;
                buf_append_char(&g->out, '\n');
        }
}

/* A look that draws what `keys` names, each with the digit behind it: "a1 b2". */
static void look(struct drawing *g, const char *keys)
{
        page_doc_begin(g->d);
        assert_int_equal(page_head(g->d, json_pack("{s:s}", "title", "x")), 0);
        for (const char *c = keys; *c; c += c[2] ? 3 : 2)
                assert_int_equal(page_row(g->d, "rows", (char[]){ c[0], '\0' }, number(c[1] - '0')), 0);
        assert_int_equal(page_doc_end(g->d), 0);
}

static void the_first_look_is_sent_whole(void **state)
{
        struct drawing *g = *state;

        look(g, "a1 b2");
        send(g, 65536);
        assert_string_equal(
                g->out.data,
                ",\"head\":{\"title\":\"x\"},\"rows\":{\"rows\":{\"a\":{\"n\":1},\"b\":{\"n\":2}}}\n");
        assert_int_equal(page_doc_rows(g->d), 2);
}

static void only_what_differs_follows(void **state)
{
        struct drawing *g = *state;

        look(g, "a1 b2");
        send(g, 65536);
        look(g, "a1 b3 c4");
        send(g, 65536);
        assert_string_equal(g->out.data, ",\"rows\":{\"rows\":{\"b\":{\"n\":3},\"c\":{\"n\":4}}}\n");
        look(g, "a1 b3 c4");
        send(g, 65536);
        assert_string_equal(g->out.data, "");
}

static void what_is_not_drawn_any_more_is_gone(void **state)
{
        struct drawing *g = *state;

        look(g, "a1 b2 c3");
        send(g, 65536);
        look(g, "b2");
        send(g, 65536);
        assert_string_equal(g->out.data, ",\"gone\":{\"rows\":[\"a\",\"c\"]}\n");
        look(g, "a1 b2");
        send(g, 65536);
        assert_string_equal(g->out.data, ",\"rows\":{\"rows\":{\"a\":{\"n\":1}}}\n");
}

static void a_look_of_many_rows_comes_in_pieces(void **state)
{
        struct drawing *g = *state;
        char key[16];

        page_doc_begin(g->d);
        for (int i = 0; i < 100; i++) {
                snprintf(key, sizeof(key), "%d", i);
                assert_int_equal(page_row(g->d, i % 2 ? "odd" : "even", key, number(i)), 0);
        }
        assert_int_equal(page_doc_end(g->d), 0);
        send(g, 200);
        assert_true(g->messages > 5);
        assert_int_equal(page_doc_rows(g->d), 100);
        page_doc_begin(g->d);
        assert_int_equal(page_doc_end(g->d), 0);
        send(g, 200);
        assert_true(g->messages > 2);
        assert_int_equal(page_doc_rows(g->d), 0);
}

static void a_row_that_stays_is_not_built_again(void **state)
{
        struct drawing *g = *state;

        page_doc_begin(g->d);
        assert_false(page_row_stays(g->d, "rows", "a", 5));
        assert_int_equal(page_row_stamped(g->d, "rows", "a", 5, number(1)), 0);
        assert_int_equal(page_doc_end(g->d), 0);
        send(g, 65536);
        page_doc_begin(g->d);
        assert_true(page_row_stays(g->d, "rows", "a", 5));
        assert_int_equal(page_doc_end(g->d), 0);
        send(g, 65536);
        assert_string_equal(g->out.data, "");
        page_doc_begin(g->d);
        assert_false(page_row_stays(g->d, "rows", "a", 6));
        assert_int_equal(page_row_stamped(g->d, "rows", "a", 6, number(1)), 0);
        assert_int_equal(page_doc_end(g->d), 0);
        send(g, 65536);
        assert_string_equal(g->out.data, ""); /* another stamp, the same text */
        page_doc_begin(g->d);
        assert_true(page_row_stays(g->d, "rows", "a", 6));
        assert_false(page_row_stays(g->d, "rows", "a", 6)); /* drawn already */
}

static void a_look_that_was_not_sent_is_found_again(void **state)
{
        struct drawing *g = *state;

        look(g, "a1 b2");
        send(g, 65536);
        look(g, "a3");
        page_doc_begin(g->d); /* an error came instead */
        look(g, "a3");
        send(g, 65536);
        assert_string_equal(g->out.data,
                            ",\"gone\":{\"rows\":[\"b\"]},\"rows\":{\"rows\":{\"a\":{\"n\":3}}}\n");
}

static void the_head_comes_again_after_an_error(void **state)
{
        struct drawing *g = *state;

        look(g, "a1");
        send(g, 65536);
        page_doc_hidden_by_error(g->d);
        look(g, "a1");
        send(g, 65536);
        assert_string_equal(g->out.data, ",\"head\":{\"title\":\"x\"}\n");
}

static void a_look_without_a_head_has_an_empty_one(void **state)
{
        struct drawing *g = *state;

        page_doc_begin(g->d);
        assert_int_equal(page_doc_end(g->d), 0);
        send(g, 65536);
        assert_string_equal(g->out.data, ",\"head\":{}\n");
}

static void a_row_is_drawn_once(void **state)
{
        struct drawing *g = *state;

        page_doc_begin(g->d);
        assert_int_equal(page_row(g->d, "rows", "a", number(1)), 0);
        assert_int_equal(page_row(g->d, "rows", "a", number(2)), ERR_INTERNAL);
}

static void markup_goes_through_as_it_is(void **state)
{
        struct drawing *g = *state;

        page_doc_begin(g->d);
        assert_int_equal(page_row(g->d, "rows", "</script>\"", json_pack("{s:s}", "m", "<img src=x>\"\n")),
                         0);
        assert_int_equal(page_doc_end(g->d), 0);
        send(g, 65536);
        assert_non_null(strstr(g->out.data, "\"</script>\\\"\":{\"m\":\"<img src=x>\\\"\\n\"}"));
}

static void a_long_text_is_cut_and_says_so(void **state)
{
        struct drawing *g = *state;
        AUTO_FREE char *text = mem_alloc(100001);

        memset(text, 'x', 100000);
        text[100000] = '\0';
        page_doc_begin(g->d);
        assert_int_equal(page_row(g->d, "rows", "a", json_pack("{s:[{s:s}]}", "l", "m", text)), 0);
        assert_int_equal(page_doc_end(g->d), 0);
        send(g, 65536);
        assert_true(g->out.len < 17000);
        assert_non_null(strstr(g->out.data, "x ... [cut here: 16384 of 100000 bytes are shown]\"}]"));
}

static void too_many_rows_are_refused(void **state)
{
        struct drawing *g = *state;
        char key[16];
        int code = 0;

        page_doc_begin(g->d);
        for (unsigned i = 0; code == 0 && i <= PAGE_ROWS_MAX; i++) {
                snprintf(key, sizeof(key), "%u", i);
                code = page_row(g->d, "rows", key, json_object());
        }
        assert_int_equal(code, ERR_LIMIT);
}

/* Two looks; whatever fails, the next ones give all that the browser must have. */
static int draw_twice(struct page_doc *d, struct buf *b, int from)
{
        bool more = true;

        page_doc_begin(d);
        TRY(page_head(d, number(from)));
        for (int i = from; i < from + 3; i++)
                TRY(page_row(d, "rows", (char[]){ (char)('a' + i), '\0' }, number(i + from)));
        TRY(page_doc_end(d));
        while (more)
                TRY(page_doc_take(d, 40, b, &more));
        return 0;
}

static void any_allocation_may_fail(void **state)
{
        bool fired = true;

        for (uint64_t n = 1; fired; n++) {
                struct page_doc *d;
                AUTO_BUF struct buf b;

                buf_init(&b, 1u << 20);
                mem_fail_at(n, false);
                d = page_doc_new(7);
                if (d && draw_twice(d, &b, 0) == 0)
                        (void)draw_twice(d, &b, 2);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                buf_clear(&b);
                if (d) {
                        assert_int_equal(draw_twice(d, &b, 2), 0);
                        assert_int_equal(page_doc_rows(d), 3);
                        buf_clear(&b);
                        assert_int_equal(draw_twice(d, &b, 2), 0);
                        assert_int_equal(b.len, 0);
                }
                page_doc_free(d);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(the_first_look_is_sent_whole, set_up, tear_down),
                cmocka_unit_test_setup_teardown(only_what_differs_follows, set_up, tear_down),
                cmocka_unit_test_setup_teardown(what_is_not_drawn_any_more_is_gone, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_look_of_many_rows_comes_in_pieces, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_row_that_stays_is_not_built_again, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_look_that_was_not_sent_is_found_again, set_up, tear_down),
                cmocka_unit_test_setup_teardown(the_head_comes_again_after_an_error, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_look_without_a_head_has_an_empty_one, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_row_is_drawn_once, set_up, tear_down),
                cmocka_unit_test_setup_teardown(markup_goes_through_as_it_is, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_long_text_is_cut_and_says_so, set_up, tear_down),
                cmocka_unit_test_setup_teardown(too_many_rows_are_refused, set_up, tear_down),
                cmocka_unit_test(any_allocation_may_fail),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
