/* The command lines and environments of a rendering, judged by the programs' own tables. */
#include "common/base/memory.h"
#include "e2e/charts/chart_cases.h"
#include "hub-agent/flags.h"
#include "hub-agent/manifest-generation/generation_flags.h"
#include "kubectl-fleet/command.h"
#include "member-agent/flags.h"
#include "member-agent/hub_connection.h"
#include "member-agent/refresh-token/options.h"

#define MOST_WORDS 128

/* A container as a process would see it. */
struct line {
        const char *name;
        int argc;
        const char *argv[MOST_WORDS + 1];
        const json_t *env;
        struct buf *problems;
        json_t *warned; /* names of flags */
};

static const char *fake_getenv(void *ctx, const char *name)
{
        const struct line *l = ctx;
        const json_t *variable;
        size_t i;

        json_array_foreach((json_t *)l->env, i, variable)
                if (text_equal(doc_get_string(variable, "name"), name))
                        return doc_get_string(variable, "value");
        return NULL;
}

static int fake_read(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len, struct error *err)
{
        *ret = mem_strdup("PEM");
        *ret_len = 3;
        return *ret ? 0 : error_no_memory(err);
}

static uint64_t fake_stamp(void *ctx, const char *path)
{
        return 1;
}

static void hear(void *ctx, const char *line, size_t n)
{
        struct line *l = ctx;
        const char *flag = strstr(line, "flag=");

        if (!flag)
                return;
        flag += strlen("flag=");
        (void)json_array_append_new(l->warned, json_stringn(flag, strcspn(flag, " \n")));
}

static int64_t no_time(void *ctx)
{
        return 0;
}

static void note_missing(struct line *l, const struct flag *flags, size_t n, const void *values)
{
        const struct log_sink sink = { .write = hear, .wall_ms = no_time, .ctx = l, .least = LOG_WARN };
        const struct log log = { .sink = &sink };

        flags_log_missing(flags, n, values, &log);
}

static int check_hub(struct line *l, struct error *err)
{
        struct hub_flags f;

        TRY(flags_parse(hub_flag_table, n_hub_flags, l->argc, l->argv, &f, err));
        note_missing(l, hub_flag_table, n_hub_flags, &f);
        return hub_flags_check(&f, err);
}

static int check_generator(struct line *l, struct error *err)
{
        struct generation_flags f;

        TRY(flags_parse(generation_flag_table, n_generation_flags, l->argc, l->argv, &f, err));
        note_missing(l, generation_flag_table, n_generation_flags, &f);
        return generation_flags_check(&f, err);
}

static int check_page(struct line *l, struct error *err)
{
        const struct command *page = command_below(&root_command, l->argc > 1 ? l->argv[1] : "");
        struct flag_table tables[COMMAND_TABLES_MAX];
        struct session s = { .command = page };

        if (!page)
                return error_set(err, ERR_INVALID, "kubectl-fleet has no such command");
        TRY(posix_flags_parse(tables, command_tables(page, tables), l->argc - 2, l->argv + 2, &s.options,
                              &s.line, err));
        return page->check(&s, err);
}

static int check_member(struct line *l, struct error *err)
{
        static const struct world_files files = { .read = fake_read, .stamp = fake_stamp };
        static const struct world_process process = { .getenv = fake_getenv };
        struct world w = { .files = &files, .process = &process, .ctx = l };
        struct arena arena AUTO_ARENA = ARENA_INIT;
        CLEANUP(hub_connection_free) struct hub_connection connection = { 0 };
        struct member_flags f;

        TRY(flags_parse(member_flag_table, n_member_flags, l->argc, l->argv, &f, err));
        note_missing(l, member_flag_table, n_member_flags, &f);
        TRY(member_flags_check(&f, err));
        return hub_connection_load(&w, f.use_ca_auth, f.tls_insecure, &arena, &connection, err);
}

static int check_sidecar(struct line *l, struct error *err)
{
        const struct refresh_command *command = NULL;
        struct refresh_options o = { 0 };

        TRY(refresh_command_take(&l->argc, l->argv, &command, err));
        TRY(flags_parse(command->flags, command->n_flags, l->argc, l->argv, &o, err));
        return refresh_options_check(&o, command->provider, err);
}

static void check_container(const json_t *container, json_t *warned, struct buf *problems)
{
        struct line l = { .name = doc_get_string(container, "name"),
                          .argc = 1,
                          .env = doc_get_array(container, "env"),
                          .problems = problems,
                          .warned = warned };
        struct error err = { 0 };
        const json_t *word;
        size_t i;
        int r;

        l.argv[0] = l.name;
        json_array_foreach(doc_get_array(container, "args"), i, word)
                if (l.argc < MOST_WORDS)
                        l.argv[l.argc++] = json_string_value(word);
        if (text_equal(l.name, "hub-agent"))
                r = check_hub(&l, &err);
        else if (text_equal(l.name, "manifest-generator"))
                r = check_generator(&l, &err);
        else if (text_equal(l.name, "fleet-page"))
                r = check_page(&l, &err);
        else if (text_equal(l.name, "member-agent"))
                r = check_member(&l, &err);
        else
                r = check_sidecar(&l, &err);
        if (r < 0)
                buf_printf(problems, "container %s would not start: %s\n", l.name, err.text);
}

static bool has_word(const json_t *list, const json_t *word)
{
        const json_t *element;
        size_t i;

        json_array_foreach((json_t *)list, i, element)
                if (doc_equal(element, word))
                        return true;
        return false;
}

static void compare(const json_t *a, const json_t *b, const char *what, struct buf *problems)
{
        const json_t *word;
        size_t i;

        json_array_foreach((json_t *)a, i, word)
                if (!has_word(b, word))
                        buf_printf(problems, "%s: %s\n", what, json_string_value(word));
}

void command_lines(const json_t *objects, const json_t *warns, struct buf *problems)
{
        AUTO_JSON json_t *warned = json_array();
        const json_t *o, *container;
        size_t i, j;

        json_array_foreach((json_t *)objects, i, o)
                if (doc_get_array(o, "spec.template.spec.containers"))
                        json_array_foreach(doc_get_array(o, "spec.template.spec.containers"), j, container)
                                check_container(container, warned, problems);
        compare(warned, warns, "the agent warns of a flag", problems);
        compare(warns, warned, "the agent does not warn of a flag", problems);
}
