/* From words to an exit code: spec/staged-update-and-eviction.md 17, in the order it gives (number of
 * arguments, required flags, rules of the command, the hub, the action). */
#include "common/base/memory.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/fetch.h"

#define OUTPUT_MAX (256u << 20)
#define REQUIRED_MAX 8
#define COMMAND_NAME_MAX 32

struct invocation {
        struct session *s;
        const struct command *path[COMMAND_DEPTH];
        size_t depth;
        const char *unknown_command;
        bool began; /* what was asked for was understood */
};

/* Published commands count; ours name what is missing and what is too much. */
static int check_count(const struct invocation *v, struct error *err)
{
        const struct command *c = v->s->command;
        size_t n = v->s->line.n_words;

        if (n >= c->least && n <= c->most)
                return 0;
        if (!c->published && n < c->n_arguments)
                return error_set(err, ERR_INVALID, "the %s is missing: %s %s", c->arguments[n].name, c->name,
                                 c->usage);
        if (!c->published && n > 0)
                return error_set(err, ERR_INVALID, "\"%s\" is one word too many",
                                 session_argument(v->s, c->most));
        if (c->least == c->most)
                return error_set(err, ERR_INVALID, "accepts %u arg(s), received %zu", c->least, n);
        if (c->most == WORDS_ANY)
                return error_set(err, ERR_INVALID, "requires at least %u arg(s), only received %zu", c->least,
                                 n);
        if (c->least == 0)
                return error_set(err, ERR_INVALID, "accepts at most %u arg(s), received %zu", c->most, n);
        return error_set(err, ERR_INVALID, "accepts between %u and %u arg(s), received %zu", c->least,
                         c->most, n);
}

static int by_text(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_required(const struct invocation *v, struct error *err)
{
        const struct session *s = v->s;
        const struct command *c = s->command;
        const char *missing[REQUIRED_MAX];
        size_t n = 0;
        char list[256];
        size_t len = 0;

        if (c->hub_required && !posix_flag_given(&s->line, "hub-cluster-context") &&
            !posix_flag_given(&s->line, "context"))
                missing[n++] = "hub-cluster-context";
        for (size_t i = 0; i < c->flags.n && n < REQUIRED_MAX; i++)
                if (c->flags.flags[i].required && !posix_flag_given(&s->line, c->flags.flags[i].name))
                        missing[n++] = c->flags.flags[i].name;
        if (n == 0)
                return 0;
        qsort(missing, n, sizeof(*missing), by_text);
        for (size_t i = 0; i < n; i++)
                len += (size_t)snprintf(list + len, sizeof(list) - len, "%s\"%s\"", i ? ", " : "",
                                        missing[i]);
        return error_set(err, ERR_INVALID, "required flag(s) %s not set", list);
}

static int parse(struct invocation *v, int argc, const char *const *argv, struct error *err)
{
        struct session *s = v->s;
        struct flag_table tables[COMMAND_TABLES_MAX];
        AUTO_FREE const char **rest = mem_calloc((size_t)argc + 1, sizeof(*rest));
        const char *other;
        int n = 0;

        if (!rest)
                return error_no_memory(err);
        v->depth = command_find(argc, argv, v->path, rest, &n);
        s->command = v->path[v->depth - 1];
        if (!s->command->run && (other = command_other_word(s->command, n, rest))) {
                v->unknown_command = other;
                return error_set(err, ERR_INVALID, "unknown command \"%s\" for \"%s\"", other,
                                 s->command->name);
        }
        return posix_flags_parse(tables, command_tables(s->command, tables), n, rest, &s->options, &s->line,
                                 err);
}

static int check(struct invocation *v, struct error *err)
{
        struct session *s = v->s;
        const struct command *c = s->command;

        TRY(check_count(v, err));
        TRY(check_required(v, err));
        TRY(shared_flags_check(c->shared, &s->options, err));
        return c->check ? c->check(s, err) : 0;
}

static int carry_out(struct invocation *v, int argc, const char *const *argv, struct error *err)
{
        struct session *s = v->s;

        TRY(parse(v, argc, argv, err));
        if (s->options.help || !s->command->run) {
                command_help(v->path, v->depth, &s->out);
                return 0;
        }
        TRY(check(v, err));
        v->began = true;
        if ((s->command->shared & SHARED_HUB) && !s->command->connects_itself)
                TRY(session_connect(s, err));
        return s->command->run(s, err);
}

static void tell_usage(const struct invocation *v)
{
        struct session *s = v->s;
        AUTO_BUF struct buf usage;

        buf_init(&usage, 1u << 20);
        command_usage(v->path, v->depth, &usage);
        buf_append_char(&usage, '\n');
        s->terminal->write(s->terminal->ctx, true, usage.data, usage.len);
}

static size_t distance(const char *a, const char *b)
{
        size_t n = strlen(a), m = strlen(b), row[COMMAND_NAME_MAX + 1];

        if (n > COMMAND_NAME_MAX || m > COMMAND_NAME_MAX)
                return SIZE_MAX;
        for (size_t k = 0; k <= m; k++)
                row[k] = k;
        for (size_t i = 1; i <= n; i++) {
                size_t corner = row[0];

                row[0] = i;
                for (size_t k = 1; k <= m; k++) {
                        size_t above = row[k];

                        row[k] = MIN(MIN(above, row[k - 1]) + 1, corner + (a[i - 1] != b[k - 1]));
                        corner = above;
                }
        }
        return row[m];
}

/* Commands at most two letters away from what was written, or which it begins. */
static void suggest(const struct invocation *v)
{
        const struct command *const *below = v->s->command->commands;
        bool any = false;

        for (size_t i = 0; v->unknown_command && below && below[i]; i++) {
                if (below[i]->hidden || (distance(v->unknown_command, below[i]->name) > 2 &&
                                         !text_starts_with(below[i]->name, v->unknown_command)))
                        continue;
                session_note(v->s, "%s\t%s", any ? "" : "\nDid you mean this?\n", below[i]->name);
                any = true;
        }
        if (any)
                session_note(v->s, "%s", "");
}

static void point_at_help(const struct invocation *v)
{
        char path[128];
        size_t len = 0;

        for (size_t i = 0; i < v->depth; i++)
                len += (size_t)snprintf(path + len, sizeof(path) - len, "%s ", v->path[i]->name);
        session_note(v->s, "Run '%s--help' for usage.", path);
}

/* Published commands tell the text twice: for who reads, and with a time for who keeps logs. */
static void tell(const struct invocation *v, const struct error *err)
{
        struct session *s = v->s;

        session_note(s, "Error: %s", err->text);
        if (err->code == ERR_NOT_FOUND && (s->lacks_kind || fetch_lacks_kind(err)))
                session_note(s, "The API server %s\"%s\" does not serve what was asked for: is it a hub's?",
                             s->config.context ? "of context " : "",
                             s->config.context ? s->config.context : s->config.endpoint.base_url);
        suggest(v);
        if (v->unknown_command)
                point_at_help(v);
        else if (s->command->published)
                tell_usage(v);
        else if (!v->began)
                point_at_help(v);
        if (s->command->published)
                session_say(s, "Error executing command: %s", err->text);
}

int fleet_run(struct world *w, struct fiber_group *group, const struct terminal *t, int argc,
              const char *const *argv)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct session s = { .world = w, .group = group, .terminal = t, .arena = &arena };
        struct invocation v = { .s = &s };
        struct error err = { 0 };
        int code;

        s.deadline_ms = DEADLINE_NONE;
        s.log = (struct log){ .sink = w->log_sink };
        buf_init(&s.out, OUTPUT_MAX);
        if (argc > 0 && text_equal(argv[0], COMPLETE_COMMAND))
                code = command_complete(&s, argc - 1, argv + 1);
        else
                code = carry_out(&v, argc, argv, &err);
        if (code >= 0)
                code = buf_status(&s.out, &err, "the output");
        session_flush(&s);
        if (code < 0 && code != ERR_CANCELLED)
                tell(&v, &err);
        session_disconnect(&s);
        buf_free(&s.out);
        return code < 0 ? 1 : 0;
}
