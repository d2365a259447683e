/* That what the game believes of versions is what the agents' own rules say, and that its archives are
 * charts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/wish_chart.h"
#include "hub-agent/source/index/select.h"

static void the_newest_in_the_range_is_chosen(void **state)
{
        for (unsigned range = 0; range < WISH_RANGES; range++)
                for (wish_versions published = 0; published < 1u << (WISH_MAJORS * WISH_MINORS);
                     published++) {
                        char texts[WISH_MAJORS * WISH_MINORS][WISH_CHART_NAME];
                        struct chart_version at[WISH_MAJORS * WISH_MINORS] = { 0 };
                        const struct chart_version *chosen = NULL;
                        struct wish_shelf s = { .charts[0] = { .range = range } };
                        AUTO_JSON json_t *doc = wish_chart_doc(&s, 0);
                        int want = wish_choose(range, published);
                        size_t n = 0;

                        for (unsigned i = 0; i < WISH_MAJORS * WISH_MINORS; i++) {
                                wish_version_text(i, texts[i]);
                                if (published >> i & 1)
                                        at[n++] = (struct chart_version){ texts[i], 0, "", "" };
                        }
                        assert_int_equal(
                                select_version(at, n, doc_get_string(doc, "spec.version"), &chosen, NULL),
                                want < 0 ? ERR_NOT_FOUND : 0);
                        if (want >= 0)
                                assert_string_equal(chosen->version, texts[want]);
                }
}

static void archives_are_the_same_each_time(void **state)
{
        AUTO_BUF struct buf one, two, other;

        assert_int_equal(wish_game(3, &one), 0);
        assert_int_equal(wish_game(3, &two), 0);
        assert_int_equal(wish_game(4, &other), 0);
        assert_int_equal(one.len, two.len);
        assert_memory_equal(one.data, two.data, one.len);
        assert_true(one.len != other.len || memcmp(one.data, other.data, one.len) != 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_newest_in_the_range_is_chosen),
                cmocka_unit_test(archives_are_the_same_each_time),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
