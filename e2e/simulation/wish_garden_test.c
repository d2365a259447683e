/* That what users have of a garden becomes the files that say it, and what follows of commits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/simulation/wish_garden.h"

static unsigned count_files(const struct wish_bed *b, const char *words)
{
        AUTO_BUF struct buf text;
        char path[64];
        unsigned n = 0;

        buf_init(&text, 1u << 16);
        for (unsigned file = 0; file < WISH_BED_FILES; file++)
                n += wish_bed_file(b, 1, file, path, &text) && strstr(text.data, words);
        return n;
}

static void a_bed_has_the_files_of_its_objects(void **state)
{
        struct wish_bed b = { .placed = true, .plots = { [2] = { .color = 7 } } };

        assert_int_equal(count_files(&b, ""), 3);
        assert_int_equal(count_files(&b, "kind: ClusterResourcePlacement"), 1);
        assert_int_equal(count_files(&b, "color: c7"), 1);
        b.placed = false;
        assert_int_equal(count_files(&b, "kind: ClusterResourcePlacement"), 0);
        b.torn = true;
        assert_int_equal(count_files(&b, "kind: [oh"), 1);
        b.image = 3;
        assert_int_equal(count_files(&b, "image: app:v3"), 1);
        b.cleared = true;
        assert_int_equal(count_files(&b, "kind: CronJob"), 0);
        assert_int_equal(count_files(&b, "kind: ConfigMap"), 0);
        assert_int_equal(count_files(&b, "A bed."), 1);
        b.gone = true;
        assert_int_equal(count_files(&b, ""), 0);
}

static void a_file_that_moves_says_the_same(void **state)
{
        struct wish_bed b = { .plots = { { .color = 7 } } };
        AUTO_BUF struct buf text;
        char path[64];

        buf_init(&text, 1u << 16);
        assert_true(wish_bed_file(&b, 0, 3, path, &text));
        assert_string_equal(path, "north/plot-0.yaml");
        b.plots[0].moved = true;
        assert_false(wish_bed_file(&b, 0, 3, path, &text));
        assert_true(wish_bed_file(&b, 0, 4, path, &text));
        assert_string_equal(path, "north/moved/deep/plot-0.yml");
        assert_non_null(strstr(text.data, "color: c7"));
}

static void what_a_broken_bed_had_stays_wanted(void **state)
{
        struct wish_garden g = { .beds = { { .plots = { { .color = 1 }, { .color = 2 } } } } };

        wish_garden_note(&g, 1000);
        assert_int_equal(g.unwanted_ms[0][0], 0);
        assert_int_equal(g.unwanted_ms[0][2], 1000);
        g.beds[0].torn = true;
        g.beds[0].plots[0].color = 0;
        wish_garden_note(&g, 2000);
        assert_true(wish_bed_has(&g.good[0], 0));
        assert_false(wish_garden_collects(&g));
        assert_int_equal(g.unwanted_ms[0][0], 0);
        assert_int_equal(g.unwanted_ms[0][2], 1000);
        g.beds[0].torn = false;
        wish_garden_note(&g, 3000);
        assert_false(wish_bed_has(&g.good[0], 0));
        assert_int_equal(g.unwanted_ms[0][0], 3000);
}

static void that_a_bed_is_empty_has_to_be_confirmed(void **state)
{
        struct wish_garden g = { .beds = { { .plots = { { .color = 1 } } } } };

        wish_garden_note(&g, 1000);
        g.beds[0].cleared = true;
        wish_garden_note(&g, 2000);
        assert_true(wish_bed_is_held(&g, 0));
        assert_true(wish_bed_has(&g.good[0], PIECE_NAMESPACE));
        assert_false(wish_garden_collects(&g));
        g.confirmed[0] = true;
        wish_garden_note(&g, 3000);
        assert_false(wish_bed_has(&g.good[0], PIECE_NAMESPACE));
        assert_int_equal(g.unwanted_ms[0][PIECE_NAMESPACE], 3000);
        g.beds[0].cleared = false;
        wish_garden_note(&g, 4000);
        assert_false(g.confirmed[0]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_bed_has_the_files_of_its_objects),
                cmocka_unit_test(a_file_that_moves_says_the_same),
                cmocka_unit_test(what_a_broken_bed_had_stays_wanted),
                cmocka_unit_test(that_a_bed_is_empty_has_to_be_confirmed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
