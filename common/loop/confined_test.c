/* Programs within limits, with the shell as the program. That a process is gone is asked of the kernel once
 * the call has returned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/loop/confined.h"
#include "common/loop/loop.h"
#include "common/loop/world.h"

struct bench {
        struct loop *loop;
        struct world world;
        struct confined c;
        const char *program, *script;
        bool cancelled_at_once;
        struct confined_end end;
        int code;
        struct error err;
};

static void run_it(void *ctx)
{
        struct bench *b = ctx;
        const char *const argv[] = { b->program, "-c", b->script, NULL };

        b->c.argv = argv;
        if (b->cancelled_at_once)
                fiber_cancel(fiber_self(b->loop));
        b->code = b->world.process->run_confined(b->world.ctx, &b->c, &b->end, &b->err);
}

static const char *const no_variables[] = { "PATH=/usr/bin:/bin", NULL };

static void shell(struct bench *b, const char *script)
{
        struct fiber_group *group;

        b->script = script;
        b->program = b->program ? b->program : "/bin/sh";
        b->c.env = b->c.env ? b->c.env : no_variables;
        b->c.folder = b->c.folder ? b->c.folder : "/";
        b->c.max_output = b->c.max_output ? b->c.max_output : 1 << 20;
        b->c.time_limit_ms = b->c.time_limit_ms ? b->c.time_limit_ms : 60000;
        b->c.grace_ms = b->c.grace_ms ? b->c.grace_ms : 30000;
        b->loop = loop_new_real(NULL);
        world_init_real(&b->world, b->loop, NULL);
        group = fiber_group_new(b->loop, NULL, "shell");
        assert_non_null(fiber_spawn(group, "run", run_it, b));
        assert_int_equal(loop_run(b->loop, NULL), 0);
        fiber_group_end(group);
        loop_free(b->loop);
}

static void forget(struct bench *b)
{
        mem_free(b->end.output);
        mem_free(b->end.errors);
}

static size_t lines_of(const char *text)
{
        size_t n = 0;

        while ((text = strchr(text, '\n'))) {
                text++;
                n++;
        }
        return n;
}

/* Its time limit is real time: one that ran out before the script had come to its last line of output shows
 * nothing, and twice as much is tried. */
static void shell_beyond_limit(struct bench *b, const char *script, size_t n_lines)
{
        const struct confined c = b->c;

        for (int64_t limit = c.time_limit_ms;; limit *= 2) {
                *b = (struct bench){ .c = c };
                b->c.time_limit_ms = limit;
                shell(b, script);
                assert_int_equal(b->code, 0);
                if (b->end.how != CONFINED_TOO_LONG || lines_of(b->end.output) >= n_lines)
                        return;
                assert_true(limit < 600000);
                forget(b);
        }
}

static void says(const char *script, const char *wanted)
{
        struct bench b = { 0 };

        shell(&b, script);
        assert_int_equal(b.code, 0);
        assert_string_equal(b.end.errors, "");
        assert_string_equal(b.end.output, wanted);
        forget(&b);
}

/* All the numbers in the text, which are those of processes. */
static void assert_gone(const char *pids)
{
        struct slice rest = slice_of(pids), line;
        int64_t pid;
        size_t n = 0;

        while (rest.len) {
                slice_cut(&rest, '\n', &line);
                assert_true(slice_parse_i64(line, &pid));
                assert_int_equal(kill((pid_t)pid, 0), -1);
                assert_int_equal(errno, ESRCH);
                n++;
        }
        assert_true(n > 0);
}

/* spec/flux-yaml.md checklist 16 */
static void what_it_says_comes_apart_and_how_it_ends_is_told(void **state)
{
        struct bench b = { 0 };

        shell(&b, "printf out; printf err >&2; exit 7");
        assert_int_equal(b.code, 0);
        assert_int_equal(b.end.how, CONFINED_EXITED);
        assert_int_equal(b.end.number, 7);
        assert_string_equal(b.end.output, "out");
        assert_string_equal(b.end.errors, "err");
        forget(&b);
}

static void both_may_come_as_one(void **state)
{
        struct bench b = { .c.merges = true };

        shell(&b, "printf a; printf b >&2; printf c");
        assert_string_equal(b.end.output, "abc");
        assert_string_equal(b.end.errors, "");
        forget(&b);
}

static void a_signal_that_ended_it_is_told(void **state)
{
        struct bench b = { 0 };

        shell(&b, "kill -9 $$");
        assert_int_equal(b.code, 0);
        assert_int_equal(b.end.how, CONFINED_SIGNALLED);
        assert_int_equal(b.end.number, SIGKILL);
        forget(&b);
}

/* spec/flux-yaml.md checklist 19 */
static void its_environment_is_what_is_said_and_nothing_else(void **state)
{
        static const char *const env[] = { "PATH=/usr/bin:/bin", "B=x y", NULL };
        struct bench b = { .c.env = env };

        setenv("CONFINED_TEST", "ours", 1);
        shell(&b, "env | grep -v '^\\(PWD\\|_\\|SHLVL\\|OLDPWD\\)=' | sort");
        assert_string_equal(b.end.output, "B=x y\nPATH=/usr/bin:/bin\n");
        forget(&b);
}

static void it_runs_in_its_folder(void **state)
{
        struct bench b = { .c.folder = "/usr/bin" };

        shell(&b, "pwd");
        assert_string_equal(b.end.output, "/usr/bin\n");
        forget(&b);
}

static void it_has_an_empty_input_and_no_other_file(void **state)
{
        int open_here =
                open("/dev/null", O_RDONLY); /* which is not closed by itself when another program runs */

        assert_true(open_here > 2);
        says("read line || echo none; for f in /proc/self/fd/*; do [ -e \"$f\" ] && echo \"${f##*/}\"; done; "
             "true",
             "none\n0\n1\n2\n");
        close(open_here);
}

static void its_umask_is_private_and_it_gets_no_new_privileges(void **state)
{
        says("umask; grep NoNewPrivs /proc/self/status | tr -d '[:blank:]'", "0077\nNoNewPrivs:1\n");
}

static void its_signals_are_as_by_default(void **state)
{
        struct bench b = { 0 };

        signal(SIGPIPE, SIG_IGN);
        shell(&b, "sed -n 's/SigBlk:/0x/p; s/SigIgn:/0x/p' /proc/self/status | tr -d '[:blank:]'");
        /* of the 31 that have a name */
        assert_int_equal(strtoull(b.end.output, NULL, 0) & 0x7fffffff, 0);
        assert_int_equal(strtoull(strchr(b.end.output, '\n') + 1, NULL, 0) & 0x7fffffff, 0);
        forget(&b);
}

static void its_limits_are_those_that_are_said(void **state)
{
        struct bench b = { .c = { .max_memory = UINT64_C(4) << 30, .max_file_bytes = 1 << 20 } };

        shell(&b, "ulimit -v; ulimit -f; ulimit -c");
        assert_string_equal(b.end.output, "4194304\n2048\n0\n");
        forget(&b);
}

static void a_file_that_grows_too_large_ends_its_writer(void **state)
{
        struct bench b = { .c.max_file_bytes = 4096 };
        char folder[] = "/tmp/confined-XXXXXX";

        assert_non_null(mkdtemp(folder));
        b.c.folder = folder;
        shell(&b, "head -c 100000 /dev/zero > big 2>/dev/null || wc -c < big; rm big");
        assert_string_equal(b.end.output, "4096\n");
        forget(&b);
        rmdir(folder);
}

/* Root may have any number, so it becomes somebody else. */
static void one_that_makes_too_many_processes_is_refused_them(void **state)
{
        static const char many[] =
                "for i in 1 2 3 4 5 6 7 8 9; do for k in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; "
                "done; echo all";
        struct bench b = { .c.max_processes = 20 };
        AUTO_FREE char *script = mem_printf(
                "%s '%s'",
                geteuid() ? "exec sh -c" : "exec setpriv --reuid 61234 --regid 61234 --clear-groups sh -c",
                many);

        shell(&b, script);
        if (!geteuid() || b.end.number) { /* users may be many already */
                assert_int_equal(b.end.how, CONFINED_EXITED);
                assert_int_not_equal(b.end.number, 0);
                assert_string_equal(b.end.output, "");
                assert_non_null(strstr(b.end.errors, "fork"));
        }
        forget(&b);
}

/* Root may have any number: only what the program sees is looked at. */
static void processes_are_limited_beyond_those_that_are_there(void **state)
{
        struct bench b = { .c.max_processes = 100 };

        shell(&b,
              "grep 'Max processes' /proc/self/limits | { read a b soft hard rest; [ $soft -gt 100 ] && echo "
              "limited; [ $soft = $hard ] && echo hard; }");
        assert_string_equal(b.end.output, "limited\nhard\n");
        forget(&b);
}

static void a_program_or_folder_that_is_not_there_is_told(void **state)
{
        struct bench b = { .program = "/bin/no-such-shell" };

        shell(&b, "");
        assert_int_equal(b.code, ERR_NOT_FOUND);
        assert_string_equal(b.err.text, "cannot run \"/bin/no-such-shell\": no such file");
        b = (struct bench){ .c.folder = "/no/folder" };
        shell(&b, "");
        assert_int_equal(b.code, ERR_INVALID);
        assert_string_equal(b.err.text, "cannot run \"/bin/sh\": there is no folder /no/folder");
        b = (struct bench){ .program = "/etc/passwd" };
        shell(&b, "");
        assert_int_equal(b.code, ERR_SYSTEM);
        assert_string_equal(b.err.text, "cannot run \"/etc/passwd\": Permission denied");
}

/* spec/flux-yaml.md checklist 23 */
static void one_that_says_too_much_is_ended(void **state)
{
        struct bench b = { .c.max_output = 100000 };

        shell(&b, "while :; do echo and so on; echo and again >&2; done");
        assert_int_equal(b.code, 0);
        assert_int_equal(b.end.how, CONFINED_TOO_MUCH);
        assert_true(b.end.output_len + b.end.errors_len <= 100000);
        assert_true(b.end.output_len > 0);
        forget(&b);
}

static void a_large_output_comes_whole(void **state)
{
        struct bench b = { .c.max_output = 4 << 20 };

        shell(&b, "head -c 4194304 /dev/zero");
        assert_int_equal(b.end.how, CONFINED_EXITED);
        assert_int_equal(b.end.output_len, 4 << 20);
        forget(&b);
}

/* spec/flux-yaml.md checklist 17 */
static void at_its_time_limit_its_group_is_asked_to_end(void **state)
{
        struct bench b = { .c.time_limit_ms = 300 };

        /* What its first process leaves behind is killed: so that one waits for the other. */
        shell_beyond_limit(&b,
                           "trap : TERM; sleep 1000 & echo $!; (trap 'echo asked >&2; exit' TERM; echo $$; "
                           "sleep 1000 & wait) & wait; wait",
                           2);
        assert_int_equal(b.end.how, CONFINED_TOO_LONG);
        assert_string_equal(b.end.errors, "asked\n");
        assert_gone(b.end.output);
        forget(&b);
}

/* spec/flux-yaml.md checklist 17 */
static void one_that_does_not_listen_is_killed(void **state)
{
        struct bench b = { .c = { .time_limit_ms = 200, .grace_ms = 100 } };

        shell_beyond_limit(&b, "trap '' TERM; sleep 1000 & echo $!; kill -STOP $!; echo $$; wait; wait", 2);
        assert_int_equal(b.end.how, CONFINED_TOO_LONG);
        assert_gone(b.end.output);
        forget(&b);
}

static void what_it_leaves_behind_is_ended_with_it(void **state)
{
        struct bench b = { 0 };

        shell(&b, "sleep 1000 >/dev/null 2>&1 & echo $!");
        assert_int_equal(b.end.how, CONFINED_EXITED);
        assert_gone(b.end.output);
        forget(&b);
}

/* spec/flux-yaml.md checklist 17 */
static void those_that_leave_the_group_are_ended_too(void **state)
{
        struct bench b = { 0 };

        shell(&b, "(setsid sh -c 'echo $$; (setsid sh -c \"echo \\$\\$; exec sleep 1000 >/dev/null 2>&1\" "
                  "&); exec sleep "
                  "1000 >/dev/null 2>&1' &)");
        assert_int_equal(b.end.how, CONFINED_EXITED);
        assert_gone(b.end.output);
        forget(&b);
}

static void one_that_stops_its_keeper_is_ended_all_the_same(void **state)
{
        struct bench b = { .c = { .time_limit_ms = 200, .grace_ms = 100 } };

        shell_beyond_limit(&b, "setsid sleep 1000 & echo $!; kill -STOP $PPID; echo $$; sleep 1000", 2);
        assert_int_equal(b.end.how, CONFINED_TOO_LONG);
        assert_gone(b.end.output);
        forget(&b);
}

/* As mains with secrets do; the last test, since it cannot be taken back. */
static void a_process_that_cannot_be_looked_into_ends_them_all_the_same(void **state)
{
        assert_int_equal(world_forbid_core_files(NULL), 0);
        those_that_leave_the_group_are_ended_too(state);
}

static void those_that_still_write_are_waited_for(void **state)
{
        struct bench b = { 0 };

        shell(&b, "(while kill -0 $$ 2>/dev/null; do :; done; echo last) & echo first");
        assert_int_equal(b.end.how, CONFINED_EXITED);
        assert_string_equal(b.end.output, "first\nlast\n");
        forget(&b);
}

static void those_of_one_that_failed_are_not(void **state)
{
        struct bench b = { 0 };

        shell(&b, "sleep 1000 & echo $!; echo why >&2; exit 3");
        assert_int_equal(b.end.how, CONFINED_EXITED);
        assert_int_equal(b.end.number, 3);
        assert_string_equal(b.end.errors, "why\n");
        assert_gone(b.end.output);
        forget(&b);
}

static void a_cancelled_fiber_leaves_nothing_behind(void **state)
{
        struct bench b = { .cancelled_at_once = true };
        size_t live = mem_live_count();

        shell(&b, "exec sleep 1000");
        assert_int_equal(b.code, ERR_CANCELLED);
        assert_null(b.end.output);
        assert_int_equal(mem_live_count(), live);
}

/* We are killed: nobody tells the keeper but the end of its socket. They hold a pipe, whose end is seen when
 * all are gone. */
static void with_us_all_of_it_ends(void **state)
{
        char folder[] = "/tmp/confined-XXXXXX", word = 0;
        struct pollfd held = { .events = POLLIN };
        AUTO_FREE char *path = NULL;
        pid_t us;

        assert_non_null(mkdtemp(folder));
        path = mem_printf("%s/pipe", folder);
        assert_int_equal(mkfifo(path, 0600), 0);
        us = fork();
        if (us == 0) {
                struct bench b = { .c.folder = folder };

                shell(&b, "exec > pipe; setsid sleep 1000 & printf x; wait");
                _exit(0);
        }
        held.fd = open(path, O_RDONLY); /* waits for who writes */
        assert_int_equal(read(held.fd, &word, 1), 1);
        kill(us, SIGKILL);
        assert_int_equal(waitpid(us, NULL, 0), us);
        assert_int_equal(poll(&held, 1, 60000), 1);
        assert_int_equal(read(held.fd, &word, 1), 0);
        close(held.fd);
        unlink(path);
        rmdir(folder);
}

static void several_run_beside_each_other(void **state)
{
        struct bench many[6] = { 0 };
        struct loop *loop = loop_new_real(NULL);
        struct fiber_group *group = fiber_group_new(loop, NULL, "shells");

        for (size_t i = 0; i < ARRAY_LEN(many); i++) {
                many[i] = (struct bench){ .loop = loop,
                                          .program = "/bin/sh",
                                          .script = "head -c 200000 /dev/zero" };
                many[i].c = (struct confined){ .env = no_variables,
                                               .folder = "/",
                                               .max_output = 1 << 20,
                                               .time_limit_ms = 60000,
                                               .grace_ms = 30000 };
                world_init_real(&many[i].world, loop, NULL);
                assert_non_null(fiber_spawn(group, "run", run_it, &many[i]));
        }
        assert_int_equal(loop_run(loop, NULL), 0);
        for (size_t i = 0; i < ARRAY_LEN(many); i++) {
                assert_string_equal(many[i].err.text, "");
                assert_int_equal(many[i].end.output_len, 200000);
                forget(&many[i]);
        }
        fiber_group_end(group);
        loop_free(loop);
}

static void run_without_memory(void *ctx)
{
        struct bench *b = ctx;

        for (uint64_t n = 1; n < 100; n++) {
                size_t live = mem_live_count();
                bool fired;

                mem_fail_at(n, false);
                run_it(b);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                if (!fired)
                        break;
                assert_int_equal(b->code, ERR_NO_MEMORY);
                assert_int_equal(mem_live_count(), live);
        }
        assert_int_equal(b->code, 0);
}

static void each_allocation_that_fails_is_told(void **state)
{
        struct bench b = { .program = "/bin/sh", .script = "echo a; echo b >&2" };
        struct fiber_group *group;

        b.c = (struct confined){ .env = no_variables,
                                 .folder = "/",
                                 .max_output = 100,
                                 .time_limit_ms = 60000,
                                 .grace_ms = 30000 };
        b.loop = loop_new_real(NULL);
        world_init_real(&b.world, b.loop, NULL);
        group = fiber_group_new(b.loop, NULL, "shell");
        assert_non_null(fiber_spawn(group, "run", run_without_memory, &b));
        assert_int_equal(loop_run(b.loop, NULL), 0);
        fiber_group_end(group);
        loop_free(b.loop);
        forget(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_it_says_comes_apart_and_how_it_ends_is_told),
                cmocka_unit_test(both_may_come_as_one),
                cmocka_unit_test(a_signal_that_ended_it_is_told),
                cmocka_unit_test(its_environment_is_what_is_said_and_nothing_else),
                cmocka_unit_test(it_runs_in_its_folder),
                cmocka_unit_test(it_has_an_empty_input_and_no_other_file),
                cmocka_unit_test(its_umask_is_private_and_it_gets_no_new_privileges),
                cmocka_unit_test(its_signals_are_as_by_default),
                cmocka_unit_test(its_limits_are_those_that_are_said),
                cmocka_unit_test(a_file_that_grows_too_large_ends_its_writer),
                cmocka_unit_test(processes_are_limited_beyond_those_that_are_there),
                cmocka_unit_test(one_that_makes_too_many_processes_is_refused_them),
                cmocka_unit_test(a_program_or_folder_that_is_not_there_is_told),
                cmocka_unit_test(one_that_says_too_much_is_ended),
                cmocka_unit_test(a_large_output_comes_whole),
                cmocka_unit_test(at_its_time_limit_its_group_is_asked_to_end),
                cmocka_unit_test(one_that_does_not_listen_is_killed),
                cmocka_unit_test(what_it_leaves_behind_is_ended_with_it),
                cmocka_unit_test(those_that_leave_the_group_are_ended_too),
                cmocka_unit_test(one_that_stops_its_keeper_is_ended_all_the_same),
                cmocka_unit_test(those_that_still_write_are_waited_for),
                cmocka_unit_test(those_of_one_that_failed_are_not),
                cmocka_unit_test(a_cancelled_fiber_leaves_nothing_behind),
                cmocka_unit_test(with_us_all_of_it_ends),
                cmocka_unit_test(several_run_beside_each_other),
                cmocka_unit_test(each_allocation_that_fails_is_told),
                cmocka_unit_test(a_process_that_cannot_be_looked_into_ends_them_all_the_same),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
