/* Help and usage, made from the command table in the manner of kubectl's plugins. */
#include "kubectl-fleet/command.h"

static void print_path(const struct command *const *path, size_t depth, struct buf *b)
{
        for (size_t i = 0; i < depth; i++)
                buf_printf(b, "%s%s", i ? " " : "", path[i]->name);
}

static void print_examples(const char *examples, struct buf *b)
{
        struct slice rest = slice_of(examples), line;

        buf_append_str(b, "\nExamples:\n");
        while (rest.len) {
                slice_cut(&rest, '\n', &line);
                buf_printf(b, "  %.*s\n", (int)line.len, line.data);
        }
}

static void print_commands(const struct command *const *commands, struct buf *b)
{
        size_t width = 0;

        for (size_t i = 0; commands[i]; i++)
                if (!commands[i]->hidden)
                        width = MAX(width, strlen(commands[i]->name));
        buf_append_str(b, "\nAvailable Commands:\n");
        for (size_t i = 0; commands[i]; i++)
                if (!commands[i]->hidden)
                        buf_printf(b, "  %-*s   %s\n", (int)width, commands[i]->name, commands[i]->summary);
}

static void print_flags(const char *heading, const struct flag_table *t, size_t n, struct buf *b)
{
        struct flag all[64];
        struct flag_table merged = { all, 0 };

        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < t[i].n && merged.n < ARRAY_LEN(all); k++)
                        all[merged.n++] = t[i].flags[k];
        if (merged.n == 0)
                return;
        buf_printf(b, "\n%s:\n", heading);
        (void)posix_flags_help(&merged, b);
}

void command_usage(const struct command *const *path, size_t depth, struct buf *b)
{
        const struct command *c = path[depth - 1];
        struct flag_table tables[COMMAND_TABLES_MAX], hub[SHARED_TABLES_MAX] = { { 0 } };
        size_t n = 0, n_hub;

        buf_append_str(b, "Usage:\n");
        if (c->run || !c->commands) {
                buf_append_str(b, "  ");
                print_path(path, depth, b);
                if (c->usage)
                        buf_printf(b, " %s", c->usage);
                buf_append_str(b, " [flags]\n");
        }
        if (c->commands) {
                buf_append_str(b, "  ");
                print_path(path, depth, b);
                buf_append_str(b, " [command]\n");
        }
        if (c->examples)
                print_examples(c->examples, b);
        if (c->commands)
                print_commands(c->commands, b);
        if (c->flags.n)
                tables[n++] = c->flags;
        n += shared_flag_tables((c->shared | SHARED_HELP) & ~(unsigned)SHARED_HUB, tables + n);
        print_flags("Flags", tables, n, b);
        n_hub = shared_flag_tables(c->shared & SHARED_HUB, hub);
        print_flags("Flags of the hub", hub, n_hub, b);
        if (!c->commands)
                return;
        buf_append_str(b, "\nUse \"");
        print_path(path, depth, b);
        buf_append_str(b, " [command] --help\" for more information about a command.\n");
}

void command_help(const struct command *const *path, size_t depth, struct buf *b)
{
        const struct command *c = path[depth - 1];

        buf_printf(b, "%s\n\n", c->about ? c->about : c->summary);
        command_usage(path, depth, b);
}

/* ---- the command help ---- */

static int run_help(struct session *s, struct error *err)
{
        const struct command *path[COMMAND_DEPTH] = { &root_command };
        size_t depth = 1;

        for (size_t i = 0; i < s->line.n_words && depth < COMMAND_DEPTH; i++) {
                path[depth] = command_below(path[depth - 1], s->line.words[i]);
                if (!path[depth])
                        return error_set(err, ERR_INVALID, "unknown help topic \"%s\"", s->line.words[i]);
                depth++;
        }
        command_help(path, depth, &s->out);
        return 0;
}

static const struct command_argument help_arguments[] = { { "command", COMPLETES_COMMAND },
                                                          { "command", COMPLETES_COMMAND } };
const struct command help_command = {
        .name = "help",
        .usage = "[command]",
        .summary = "Help about any command",
        .arguments = help_arguments,
        .n_arguments = ARRAY_LEN(help_arguments),
        .most = WORDS_ANY,
        .run = run_help,
};
