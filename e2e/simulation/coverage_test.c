#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/simulation/coverage.h"
#include "e2e/simulation/faults.h"

#define KIND "hub-agent>hub patch works.placement.kubernetes-fleet.io"

/* The report as a text; mem_free it. */
static char *report(const struct coverage *c, unsigned seeds, unsigned *ret_holes)
{
        char *text = mem_zalloc(1 << 16);
        FILE *f = text ? fmemopen(text, 1 << 16, "w") : NULL;

        assert_non_null(f);
        *ret_holes = coverage_report(c, seeds, f);
        fclose(f);
        return text;
}

static void what_was_expected_and_never_came_is_a_hole(void **state)
{
        struct coverage *c = coverage_new();
        AUTO_FREE char *text = NULL;
        unsigned holes;

        coverage_expect_move(c, "place");
        coverage_expect_move(c, "unplace");
        coverage_expect_rule(c, "one-leader");
        coverage_move(c, "place");
        coverage_move(c, "place");
        text = report(c, 3, &holes);
        assert_int_equal(holes, 2);
        assert_non_null(strstr(text, "         2  place\n"));
        assert_non_null(strstr(text, "HOLE  unplace was never played\n"));
        assert_non_null(strstr(text, "HOLE  one-leader never judged anything\n"));
        coverage_free(c);
}

static void play_seeds(struct coverage *c, unsigned n, const char *kind)
{
        for (unsigned i = 0; i < n; i++) {
                coverage_begin(c);
                coverage_request(c, kind, true);
                coverage_request(c, kind, true);
        }
}

static void a_kind_of_write_seen_in_a_hundred_seeds_must_have_met_every_fault(void **state)
{
        struct coverage *c = coverage_new();
        AUTO_FREE char *few = NULL, *many = NULL, *all = NULL;
        unsigned holes;

        play_seeds(c, 99, KIND);
        coverage_hit(c, KIND, "lost");
        few = report(c, 120, &holes);
        assert_int_equal(holes, 0);
        play_seeds(c, 1, KIND);
        many = report(c, 120, &holes);
        assert_int_equal(holes, FAULT_WRITES - 1);
        assert_non_null(strstr(many, "HOLE  \"silent\" never hit \"" KIND "\"\n"));
        for (unsigned k = 0; k < FAULT_WRITES; k++)
                coverage_hit(c, KIND, fault_name(k));
        all = report(c, 120, &holes);
        assert_int_equal(holes, 0);
        assert_non_null(strstr(all, "       200    100           2           1"));
        coverage_free(c);
}

static void counts_of_several_processes_are_added_up(void **state)
{
        struct coverage *a = coverage_new(), *b = coverage_new();
        char path[] = "/tmp/coverage-test-XXXXXX";
        AUTO_FREE char *text = NULL;
        unsigned holes;
        struct error err;
        int fd = mkstemp(path);

        assert_true(fd >= 0);
        close(fd);
        play_seeds(a, 60, KIND);
        coverage_hit(a, KIND, "busy");
        coverage_expect_move(a, "never");
        coverage_move(a, "place");
        assert_int_equal(coverage_write(a, path, &err), 0);
        play_seeds(b, 50, KIND);
        coverage_move(b, "place");
        assert_int_equal(coverage_merge(b, path, &err), 0);
        assert_int_equal(coverage_hits(b, KIND, "busy"), 1);
        assert_int_equal(coverage_hits(b, KIND, "lost"), 0);
        text = report(b, 110, &holes);
        assert_int_equal(holes, 1 + FAULT_WRITES - 1);
        assert_non_null(strstr(text, "         2  place\n"));
        assert_non_null(strstr(text, "       220    110"));
        unlink(path);
        assert_int_not_equal(coverage_merge(b, path, &err), 0);
        coverage_free(a);
        coverage_free(b);
}

static void it_knows_how_much_memory_it_holds(void **state)
{
        size_t live = mem_live_count();
        struct coverage *c = coverage_new();
        char name[16];

        for (unsigned i = 0; i < 100; i++) {
                snprintf(name, sizeof(name), "move-%u", i);
                coverage_move(c, name);
                assert_int_equal(mem_live_count() - live, coverage_allocations(c));
        }
        coverage_free(c);
        assert_int_equal(mem_live_count(), live);
        assert_int_equal(coverage_allocations(NULL), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_expected_and_never_came_is_a_hole),
                cmocka_unit_test(a_kind_of_write_seen_in_a_hundred_seeds_must_have_met_every_fault),
                cmocka_unit_test(counts_of_several_processes_are_added_up),
                cmocka_unit_test(it_knows_how_much_memory_it_holds),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
