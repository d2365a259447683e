#include "common/ctrl/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct values {
        bool help, fast;
};
static const struct flag flags[] = {
        { "help", FLAG_BOOL, "false", offsetof(struct values, help), "Help." },
        { "fast", FLAG_BOOL, "false", offsetof(struct values, fast), "Nothing.",
          .missing = "it is as fast as it is" },
};

/* The exit code says what the process may leave behind: +1 a core file's size, +2 memory others may read. */
static int look(struct program *p, struct error *err)
{
        struct rlimit core;

        p->code = 100;
        if (getrlimit(RLIMIT_CORE, &core) == 0)
                p->code = (core.rlim_max > 0 ? 1 : 0) + (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) ? 2 : 0);
        return 0;
}

/* In a process of its own, since nothing takes back what it does: the exit code. */
static int run_with(struct program p, const char *flag)
{
        char *const argv[] = { (char *)(uintptr_t) "test", (char *)(uintptr_t)flag, NULL };
        struct values values = { 0 };
        int status = 0;
        pid_t child = fork();

        p.name = "test";
        p.flags = flags;
        p.n_flags = ARRAY_LEN(flags);
        p.values = &values;
        p.help = &values.help;
        p.log_level = LOG_WARN;
        assert_true(child >= 0);
        if (child == 0) {
                int code = program_main(&p, flag ? 2 : 1, (char **)(uintptr_t)argv);

                fflush(stdout);
                _exit(code);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static int run_in_child(bool keeps_secrets)
{
        return run_with((struct program){ .run = look, .keeps_secrets = keeps_secrets }, NULL);
}

static void a_program_that_keeps_secrets_leaves_no_core_file(void **state)
{
        assert_int_equal(run_in_child(true), 0);
}

static void another_may_be_looked_into(void **state)
{
        assert_int_equal(run_in_child(false) & 2, 2);
}

/* ---- how it ends ---- */

static int fail_of_itself(struct program *p, struct error *err)
{
        return error_set(err, ERR_INVALID, "that a program may fail is a test");
}

static void a_program_that_fails_ends_with_1(void **state)
{
        assert_int_equal(run_with((struct program){ .run = fail_of_itself }, NULL), 1);
        assert_int_equal(run_with((struct program){ .run = fail_of_itself, .tool = true }, NULL), 1);
}

static bool other_ended;

static void park(void *ctx)
{
        struct program *p = ctx;

        fiber_park(p->loop, DEADLINE_NONE);
        other_ended = true;
}

/* As after a signal: fails then, which is no failure. */
static int end_by_signal(struct program *p, struct error *err)
{
        if (!fiber_spawn(p->group, "other", park, p) || raise(SIGTERM) != 0)
                return 0;
        program_wait(p);
        p->code = p->stopping ? 0 : 50;
        return error_set(err, ERR_CANCELLED, "cancelled");
}

/* It says goodbye: for that it may wait, and what it began is there still. */
static void say_goodbye(struct program *p)
{
        if (p->code == 0)
                p->code = fiber_sleep(p->loop, 1) == 0 && !other_ended ? 7 : 51;
}

static void what_a_program_has_begun_is_closed_before_it_is_ended(void **state)
{
        assert_int_equal(run_with((struct program){ .run = end_by_signal, .close = say_goodbye }, NULL), 7);
}

/* ---- what it says ---- */

/* What a child wrote to that one of its outputs. */
static void catch_output(int output, struct program p, const char *flag, char *ret, size_t size)
{
        int ends[2], kept = dup(output);
        ssize_t n;

        assert_int_equal(pipe(ends), 0);
        fflush(stdout);
        assert_true(dup2(ends[1], output) >= 0);
        assert_int_equal(run_with(p, flag), 0);
        assert_true(dup2(kept, output) >= 0);
        n = read(ends[0], ret, size - 1);
        ret[MAX(n, (ssize_t)0)] = '\0';
        close(ends[0]);
        close(ends[1]);
        close(kept);
}

static int say_nothing(struct program *p, struct error *err)
{
        p->code = 0;
        log_warn(&p->log, "that it runs");
        return 0;
}

static void a_flag_that_asks_for_what_there_is_not_is_told_of(void **state)
{
        char text[2048];

        catch_output(STDERR_FILENO, (struct program){ .run = say_nothing }, "--fast", text, sizeof(text));
        assert_non_null(strstr(text, "flag=fast"));
        assert_non_null(strstr(text, "it is as fast as it is"));
        assert_non_null(strstr(text, "that it runs"));
}

/* ---- its help ---- */

static void help_names_the_program_and_its_flags(void **state)
{
        static const char *const words[] = { "What it is for.", "Usage of test:", "-help", "-version" };
        char text[1024];

        catch_output(STDOUT_FILENO, (struct program){ .run = look, .about = words[0] }, "--help", text,
                     sizeof(text));
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
                if (!strstr(text, words[i]))
                        fail_msg("%s is not in %s", words[i], text);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_program_that_keeps_secrets_leaves_no_core_file),
                cmocka_unit_test(another_may_be_looked_into),
                cmocka_unit_test(a_program_that_fails_ends_with_1),
                cmocka_unit_test(what_a_program_has_begun_is_closed_before_it_is_ended),
                cmocka_unit_test(a_flag_that_asks_for_what_there_is_not_is_told_of),
                cmocka_unit_test(help_names_the_program_and_its_flags),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
