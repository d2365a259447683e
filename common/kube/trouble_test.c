/* docs/troubleshooting.md says what the programs say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/kube/trouble.h"

#define PAGE "docs/troubleshooting.md"
#define ENDS "## The agent ends at once"

static char *read_whole(const char *path)
{
        char *text = mem_calloc(1, 1 << 20);
        FILE *f = fopen(path, "r");

        assert_non_null(f);
        assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
        fclose(f);
        return text;
}

/* Cells of a table's row; false for other lines and the head. */
static bool read_row(struct slice line, struct slice cells[3])
{
        size_t n = 0;

        if (!slice_starts_with(line, "| ") || slice_starts_with(line, "| ---") ||
            slice_starts_with(line, "| message"))
                return false;
        line.data++;
        line.len--;
        memset(cells, 0, 3 * sizeof(*cells));
        while (n < 3 && slice_cut(&line, '|', &cells[n])) {
                cells[n] = slice_trim(cells[n]);
                n++;
        }
        return n >= 2;
}

static void the_page_has_every_message_with_its_mend_and_no_other(void **state)
{
        AUTO_FREE char *page = read_whole(PAGE);
        struct slice rest = slice_of(page), line, cells[3];
        size_t n = 0;

        while (slice_cut(&rest, '\n', &line) && !slice_starts_with(line, ENDS)) {
                if (!read_row(line, cells))
                        continue;
                if (n >= n_kube_troubles || !slice_is(cells[0], kube_troubles[n].words) ||
                    !slice_is(cells[2], kube_troubles[n].mend) || cells[1].len == 0)
                        fail_msg("row %zu: %.*s", n, (int)line.len, line.data);
                n++;
        }
        assert_int_equal(n, n_kube_troubles);
}

/* The programs themselves are asked by e2e/suite.d/55-bad-input; one message is of member_agent's main. */
static void what_ends_an_agent_is_tried_on_the_programs(void **state)
{
        AUTO_FREE char *page = read_whole(PAGE);
        AUTO_FREE char *tried = read_whole("e2e/suite.d/55-bad-input");
        AUTO_FREE char *source = read_whole("member-agent/main_member-agent.c");
        struct slice rest = slice_of(strstr(page, ENDS) + strlen(ENDS)), line, cells[3];
        size_t n = 0;

        while (slice_cut(&rest, '\n', &line) && !slice_starts_with(line, "## ")) {
                if (!read_row(line, cells))
                        continue;
                AUTO_FREE char *message = mem_strndup(cells[0].data, cells[0].len);

                n++;
                if (!strstr(tried, message) && !strstr(source, message))
                        fail_msg("nobody says: %s", message);
        }
        assert_int_equal(n, 5);
}

static void reasons_and_words_are_told_apart(void **state)
{
        for (size_t i = 0; i < n_kube_troubles; i++)
                for (size_t k = 0; k < i; k++) {
                        assert_string_not_equal(kube_troubles[i].reason, kube_troubles[k].reason);
                        assert_string_not_equal(kube_troubles[i].words, kube_troubles[k].words);
                }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_page_has_every_message_with_its_mend_and_no_other),
                cmocka_unit_test(what_ends_an_agent_is_tried_on_the_programs),
                cmocka_unit_test(reasons_and_words_are_told_apart),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
