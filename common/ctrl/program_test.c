#include "common/ctrl/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct values {
        bool help;
};
static const struct flag flags[] = { { "help", FLAG_BOOL, "false", offsetof(struct values, help), "Help." } };

/* The exit code says what the process may leave behind: +1 a core file's size, +2 memory others may read. */
static int look(struct program *p, struct error *err)
{
        struct rlimit core;

        p->code = 100;
        if (getrlimit(RLIMIT_CORE, &core) == 0)
                p->code = (core.rlim_max > 0 ? 1 : 0) + (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) ? 2 : 0);
        return 0;
}

/* In a process of its own, since nothing takes it back. */
static int run_in_child(bool keeps_secrets)
{
        static char *const argv[] = { (char *)(uintptr_t) "test", NULL };
        struct values values = { 0 };
        struct program p = { .name = "test",
                             .flags = flags,
                             .n_flags = 1,
                             .values = &values,
                             .help = &values.help,
                             .run = look,
                             .keeps_secrets = keeps_secrets };
        int status = 0;
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0)
                _exit(program_main(&p, 1, (char **)(uintptr_t)argv));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static void a_program_that_keeps_secrets_leaves_no_core_file(void **state)
{
        assert_int_equal(run_in_child(true), 0);
}

static void another_may_be_looked_into(void **state)
{
        assert_int_equal(run_in_child(false) & 2, 2);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_program_that_keeps_secrets_leaves_no_core_file),
                cmocka_unit_test(another_may_be_looked_into),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
