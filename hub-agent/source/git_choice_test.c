/* What stands for a choice among commits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/source/git_choice.h"

static void the_marks_of_a_choice_are_all_its_candidates(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct git_candidate at[] = { { .label = "v1.0.0+a", .commit = { "1234" } },
                                            { .label = "v1.0.0+b", .commit = { "5678" } } };

        assert_string_equal(git_choice_marks(&(struct git_choice){ at, 2, false }, &arena),
                            "v1.0.0+a@1234 v1.0.0+b@5678 ");
        assert_string_equal(git_choice_marks(&(struct git_choice){ at, 0, false }, &arena), "");
}

/* A remote may have a hundred thousand versions that are equal but for their metadata. */
static void the_marks_of_many_candidates_take_no_more_memory_than_they_are_long(void **state)
{
        enum { MANY = 2000 };
        AUTO_FREE struct git_candidate *at = mem_calloc(MANY, sizeof(*at));
        struct git_choice c = { at, MANY, false };
        AUTO_ARENA struct arena arena = { .limit = MANY * 64 };
        char labels[MANY][16];

        for (int i = 0; i < MANY; i++) {
                snprintf(labels[i], sizeof(labels[i]), "v1.0.0+%d", i);
                at[i].label = labels[i];
                snprintf(at[i].commit.hex, sizeof(at[i].commit.hex), "%040d", i);
        }
        assert_non_null(git_choice_marks(&c, &arena));
}

static void marks_are_whole_or_none(void **state)
{
        const struct git_candidate at = { .label = "v1", .commit = { "1234" } };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *marks;

        mem_fail_at(1, false);
        marks = git_choice_marks(&(struct git_choice){ &at, 1, false }, &arena);
        mem_fail_at(0, false);
        assert_null(marks);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_marks_of_a_choice_are_all_its_candidates),
                cmocka_unit_test(the_marks_of_many_candidates_take_no_more_memory_than_they_are_long),
                cmocka_unit_test(marks_are_whole_or_none),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
