/* Pages of the manual, made from the command table. */
#include <ctype.h>

#include "common/base/version.h"
#include "kubectl-fleet/command.h"

/* Text as troff takes it: no line begins with a request, no backslash and no dash is its own. */
static void print_text(const char *text, struct buf *b)
{
        bool begins = true;

        for (const char *c = text; *c; c++) {
                if (begins && (*c == '.' || *c == '\''))
                        buf_append_str(b, "\\&");
                if (*c == '\\')
                        buf_append_str(b, "\\e");
                else if (*c == '-')
                        buf_append_str(b, "\\-");
                else
                        buf_append_char(b, *c);
                begins = *c == '\n';
        }
}

static void print_paragraphs(const char *text, struct buf *b)
{
        struct slice rest = slice_of(text), line;

        while (rest.len) {
                char copy[1024];

                slice_cut(&rest, '\n', &line);
                snprintf(copy, sizeof(copy), "%.*s", (int)line.len, line.data);
                if (line.len == 0) {
                        buf_append_str(b, ".PP\n");
                        continue;
                }
                print_text(copy, b);
                buf_append_char(b, '\n');
        }
}

static void print_name(const struct command *const *path, size_t depth, const char *between, struct buf *b)
{
        for (size_t i = 0; i < depth; i++) {
                buf_append_str(b, i ? between : "");
                print_text(path[i]->name, b);
        }
}

static void print_title(const struct command *const *path, size_t depth, struct buf *b)
{
        size_t start;

        buf_append_str(b, ".TH \"");
        start = b->len;
        print_name(path, depth, "\\-", b);
        for (size_t i = start; !b->failed && i < b->len; i++)
                if (b->data[i] != '\\')
                        b->data[i] = (char)toupper((unsigned char)b->data[i]);
        buf_append_str(b, "\" 1 \"\" \"Argosy " ARGOSY_VERSION "\"\n.SH NAME\n");
        print_name(path, depth, "\\-", b);
        buf_append_str(b, " \\- ");
        print_text(path[depth - 1]->summary, b);
        buf_append_char(b, '\n');
}

static void print_synopsis(const struct command *const *path, size_t depth, struct buf *b)
{
        const struct command *c = path[depth - 1];

        buf_append_str(b, ".SH SYNOPSIS\n");
        if (c->run || !c->commands) {
                buf_append_str(b, ".B ");
                print_name(path, depth, " ", b);
                buf_append_str(b, "\n");
                if (c->usage)
                        print_text(c->usage, b);
                buf_append_str(b, " [flags]\n");
        }
        if (c->run && c->commands)
                buf_append_str(b, ".br\n");
        if (c->commands) {
                buf_append_str(b, ".B ");
                print_name(path, depth, " ", b);
                buf_append_str(b, "\n[command]\n");
        }
}

static void print_flag(const struct flag *f, struct buf *b)
{
        buf_append_str(b, ".TP\n");
        if (f->letter)
                buf_printf(b, "\\fB\\-%c\\fR, ", f->letter);
        buf_append_str(b, "\\fB\\-\\-");
        print_text(f->name, b);
        buf_append_str(b, f->type == FLAG_BOOL ? "\\fR\n" : "\\fR \\fIvalue\\fR\n");
        print_text(f->help, b);
        if (!text_empty(f->fallback) && !(f->type == FLAG_BOOL && text_equal(f->fallback, "false"))) {
                buf_append_str(b, "\n(default ");
                print_text(f->fallback, b);
                buf_append_char(b, ')');
        }
        buf_append_char(b, '\n');
}

static void print_flags(const struct command *c, struct buf *b)
{
        struct flag_table tables[COMMAND_TABLES_MAX];
        size_t n = command_tables(c, tables);

        buf_append_str(b, ".SH OPTIONS\n");
        while (n-- > 0) /* the command's own stand last in the list */
                for (size_t i = 0; i < tables[n].n; i++)
                        print_flag(&tables[n].flags[i], b);
}

static void print_below(const struct command *const *path, size_t depth, struct buf *b)
{
        const struct command *const *below = path[depth - 1]->commands;

        buf_append_str(b, ".SH COMMANDS\n");
        for (size_t i = 0; below[i]; i++) {
                if (below[i]->hidden)
                        continue;
                buf_append_str(b, ".TP\n.B ");
                print_text(below[i]->name, b);
                buf_append_char(b, '\n');
                print_text(below[i]->summary, b);
                buf_append_char(b, '\n');
        }
}

void command_man(const struct command *const *path, size_t depth, struct buf *b)
{
        const struct command *c = path[depth - 1];

        print_title(path, depth, b);
        print_synopsis(path, depth, b);
        buf_append_str(b, ".SH DESCRIPTION\n");
        print_paragraphs(c->about ? c->about : c->summary, b);
        if (c->commands)
                print_below(path, depth, b);
        print_flags(c, b);
        if (c->examples) {
                buf_append_str(b, ".SH EXAMPLES\n.nf\n");
                print_text(c->examples, b);
                buf_append_str(b, "\n.fi\n");
        }
        if (depth == 1)
                return;
        buf_append_str(b, ".SH SEE ALSO\n.BR ");
        print_name(path, depth - 1, "\\-", b);
        buf_append_str(b, " (1)\n");
}

/* ---- the command ---- */

/* Names of all pages below, as "status" or "runs stop", a line each. */
static void print_pages(const struct command *const *path, size_t depth, struct buf *b)
{
        const struct command *below[COMMAND_DEPTH];

        memcpy(below, path, depth * sizeof(*below));
        for (size_t i = 0; path[depth - 1]->commands && path[depth - 1]->commands[i]; i++) {
                below[depth] = path[depth - 1]->commands[i];
                if (below[depth]->hidden)
                        continue;
                for (size_t k = 1; k <= depth; k++)
                        buf_printf(b, "%s%s", k > 1 ? " " : "", below[k]->name);
                buf_append_char(b, '\n');
                if (depth + 1 < COMMAND_DEPTH)
                        print_pages(below, depth + 1, b);
        }
}

static int run_man(struct session *s, struct error *err)
{
        const struct command *path[COMMAND_DEPTH] = { &root_command };
        size_t depth = 1;

        if (s->options.all) {
                print_pages(path, 1, &s->out);
                return 0;
        }
        for (size_t i = 0; i < s->line.n_words && depth < COMMAND_DEPTH; i++) {
                path[depth] = command_below(path[depth - 1], s->line.words[i]);
                if (!path[depth])
                        return error_set(err, ERR_INVALID, "there is no page about \"%s\"", s->line.words[i]);
                depth++;
        }
        command_man(path, depth, &s->out);
        return 0;
}

static const struct flag flags[] = {
        { "all", FLAG_BOOL, "false", OPTION(all), "Prints what there are pages about.", .letter = 'a' },
};

const struct command man_command = {
        .name = "man",
        .usage = "[command]",
        .summary = "Print a page of the manual",
        .examples = "kubectl-fleet man runs stop | man -l -",
        .most = WORDS_ANY,
        .flags = { flags, ARRAY_LEN(flags) },
        .hidden = true,
        .run = run_man,
};
