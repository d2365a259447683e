/* kubectl-fleet: found on the PATH it is `kubectl fleet`. 0 = done; 1 = failed, told on standard error. */
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/ctrl/program.h"
#include "kubectl-fleet/command.h"

struct tool {
        struct program program;
        struct terminal terminal;
        int argc;
        const char *const *argv;
};

static bool write_out(void *ctx, bool to_stderr, const char *text, size_t n)
{
        FILE *to = to_stderr ? stderr : stdout;

        return fwrite(text, 1, n, to) == n && fflush(to) == 0;
}

static int read_all(FILE *from, char **ret, size_t *ret_len, struct error *err)
{
        AUTO_BUF struct buf b;
        char piece[16384];
        size_t n;

        buf_init(&b, LIMIT_YAML_BYTES);
        while (buf_status(&b, NULL, "") == 0 && (n = fread(piece, 1, sizeof(piece), from)) > 0)
                buf_append(&b, piece, n);
        if (ferror(from))
                return error_errno(err, errno, "read");
        TRY(buf_status(&b, err, "read"));
        *ret = buf_take(&b, ret_len);
        return *ret ? 0 : error_no_memory(err);
}

static int read_input(void *ctx, int descriptor, char **ret, size_t *ret_len, struct error *err)
{
        FILE *from = descriptor == STDIN_FILENO ? stdin : fdopen(descriptor, "r");
        int code;

        if (!from)
                return error_errno(err, errno, "descriptor %d", descriptor);
        code = read_all(from, ret, ret_len, err);
        if (from != stdin)
                fclose(from);
        return code;
}

static int64_t local_offset_ms(void *ctx, int64_t wall_ms)
{
        time_t seconds = (time_t)(wall_ms / 1000);
        struct tm local;

        return localtime_r(&seconds, &local) ? (int64_t)local.tm_gmtoff * 1000 : 0;
}

static void size_of_terminal(void *ctx, unsigned *ret_columns, unsigned *ret_rows)
{
        struct winsize size = { 0 };

        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
        *ret_columns = size.ws_col ? size.ws_col : 80;
        *ret_rows = size.ws_row ? size.ws_row : 24;
}

static struct terminal look_at_terminal(void)
{
        struct terminal t = { .write = write_out,
                              .read_input = read_input,
                              .interactive = isatty(STDIN_FILENO),
                              .local_offset_ms = local_offset_ms };
        const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");

        if (!isatty(STDOUT_FILENO))
                return t;
        t.size = size_of_terminal;
        t.colours = text_empty(no_colour) && !text_empty(term) && !text_equal(term, "dumb");
        return t;
}

static int run(struct program *p, struct error *err)
{
        struct tool *t = container_of(p, struct tool, program);

        p->code = fleet_run(&p->world, p->group, &t->terminal, t->argc, t->argv);
        return 0;
}

int main(int argc, char **argv)
{
        struct tool t = {
                .program = { .name = PROGRAM_NAME,
                             .run = run,
                             .tool = true,
                             .keeps_secrets = true,
                             .log_level = LOG_ERROR },
                .terminal = look_at_terminal(),
                .argc = argc - 1,
                .argv = (const char *const *)argv + 1,
        };

        return program_run(&t.program);
}
