/* Programs run to their end, with the shell as the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>

#include "common/base/memory.h"
#include "common/loop/loop.h"
#include "common/loop/world.h"

struct bench {
        struct loop *loop;
        struct world world;
        const char *program, *script;
        const char *const *env;
        size_t max;
        char *said;
        size_t len;
        int exit_code, code;
        struct error err;
};

static void run_it(void *ctx)
{
        struct bench *b = ctx;
        const char *const argv[] = { b->program, "-c", b->script, NULL };
        const struct world_command c = { .argv = argv, .env = b->env, .max_output = b->max };

        b->code = b->world.process->run(b->world.ctx, &c, &b->said, &b->len, &b->exit_code, &b->err);
}

/* A fiber of that function, to its end. */
static void run(struct bench *b, fiber_fn fn)
{
        struct fiber_group *group;

        if (!b->program)
                b->program = "sh";
        if (!b->max)
                b->max = 1000;
        b->loop = loop_new_real(NULL);
        world_init_real(&b->world, b->loop, NULL);
        group = fiber_group_new(b->loop, NULL, "shell");
        assert_non_null(fiber_spawn(group, "run", fn, b));
        assert_int_equal(loop_run(b->loop, NULL), 0);
        fiber_group_end(group);
        loop_free(b->loop);
}

static void shell(struct bench *b, const char *script)
{
        b->script = script;
        run(b, run_it);
}

static void what_it_says_and_how_it_ends_is_told(void **state)
{
        struct bench b = { 0 };

        shell(&b, "printf 'a\\nb'; exit 7");
        assert_int_equal(b.code, 0);
        assert_int_equal(b.exit_code, 7);
        assert_string_equal(b.said, "a\nb");
        assert_int_equal(b.len, 3);
        mem_free(b.said);
}

static void a_signal_that_ended_it_is_told_as_shells_do(void **state)
{
        struct bench b = { 0 };

        shell(&b, "kill -9 $$");
        assert_int_equal(b.code, 0);
        assert_int_equal(b.exit_code, 128 + SIGKILL);
        mem_free(b.said);
}

static void its_environment_is_ours_with_what_is_said(void **state)
{
        static const char *const env[] = { "COMMAND_TEST=theirs", "MORE=x", NULL };
        struct bench b = { .env = env };

        setenv("COMMAND_TEST", "ours", 1);
        setenv("COMMAND_TEST_2", "kept", 1);
        shell(&b, "printf %s/%s/%s \"$COMMAND_TEST\" \"$COMMAND_TEST_2\" \"$MORE\"");
        assert_string_equal(b.said, "theirs/kept/x");
        mem_free(b.said);
}

static void it_has_no_input_unless_it_gets_ours(void **state)
{
        struct bench b = { 0 };

        shell(&b, "read line || echo none");
        assert_string_equal(b.said, "none\n");
        mem_free(b.said);
}

static void a_program_that_is_not_there_is_told(void **state)
{
        struct bench b = { .program = "no-program-of-this-name" };

        shell(&b, "");
        assert_int_equal(b.code, ERR_NOT_FOUND);
        assert_string_equal(b.err.text, "no-program-of-this-name: no such program");
        assert_null(b.said);
}

static void one_that_says_too_much_is_ended(void **state)
{
        struct bench b = { .max = 100 };

        shell(&b, "while :; do echo and so on; done");
        assert_int_equal(b.code, ERR_LIMIT);
        assert_null(b.said);
}

static void run_cancelled(void *ctx)
{
        struct bench *b = ctx;

        fiber_cancel(fiber_self(b->loop));
        run_it(ctx);
}

static void a_cancelled_fiber_leaves_no_program_behind(void **state)
{
        struct bench b = { .script = "exec sleep 1000" };

        run(&b, run_cancelled);
        assert_int_equal(b.code, ERR_CANCELLED);
        assert_null(b.said);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_it_says_and_how_it_ends_is_told),
                cmocka_unit_test(a_signal_that_ended_it_is_told_as_shells_do),
                cmocka_unit_test(its_environment_is_ours_with_what_is_said),
                cmocka_unit_test(it_has_no_input_unless_it_gets_ours),
                cmocka_unit_test(a_program_that_is_not_there_is_told),
                cmocka_unit_test(one_that_says_too_much_is_ended),
                cmocka_unit_test(a_cancelled_fiber_leaves_no_program_behind),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
