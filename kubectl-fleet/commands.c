#include "kubectl-fleet/command.h"

extern const struct command status_command, runs_command, where_command, why_command, diff_command,
        page_command, plan_command, template_command, pack_command, bundle_command, approve_command,
        draincluster_command, uncordoncluster_command, completion_command, man_command, version_command,
        help_command;

static const struct command *const commands[] = {
        &status_command,
        &runs_command,
        &where_command,
        &why_command,
        &diff_command,
        &page_command,
        &plan_command,
        &template_command,
        &pack_command,
        &bundle_command,
        &approve_command,
        &draincluster_command,
        &uncordoncluster_command,
        &completion_command,
        &man_command,
        &version_command,
        &help_command,
        NULL,
};

const struct command root_command = {
        .name = PROGRAM_NAME,
        .summary = "See and steer a fleet of clusters from its hub",
        .about = "See and steer a fleet of clusters from its hub.\n\n"
                 "Works as `kubectl fleet` once it is on the PATH. It speaks to the hub, for the plan of a "
                 "Work to a member,\n"
                 "too, with the rights of your kubeconfig.",
        .commands = commands,
        .most = 0,
        .shared = SHARED_HELP,
        .published = true,
};

size_t command_tables(const struct command *c, struct flag_table ret[COMMAND_TABLES_MAX])
{
        size_t n = shared_flag_tables(c->shared | SHARED_HELP, ret);

        if (c->flags.n)
                ret[n++] = c->flags;
        return n;
}

const struct command *command_below(const struct command *c, const char *name)
{
        for (size_t i = 0; c->commands && c->commands[i]; i++)
                if (text_equal(c->commands[i]->name, name))
                        return c->commands[i];
        return NULL;
}

/* Whether the value of a flag in front of a command's name is the next word: asked of all commands, since
 * which one it is is not known yet. */
static bool takes_next(const struct command *c, const char *word)
{
        struct flag_table tables[COMMAND_TABLES_MAX];
        bool wants;

        if (posix_flag_of_word(tables, command_tables(c, tables), word, &wants) && wants)
                return true;
        for (size_t i = 0; c->commands && c->commands[i]; i++)
                if (takes_next(c->commands[i], word))
                        return true;
        return false;
}

const char *command_other_word(const struct command *c, int n, const char *const *rest)
{
        for (int i = 0; i < n; i++) {
                if (rest[i][0] != '-')
                        return rest[i];
                if (takes_next(c, rest[i]))
                        i++;
        }
        return NULL;
}

size_t command_find(int argc, const char *const *argv, const struct command *path[COMMAND_DEPTH],
                    const char **ret_rest, int *ret_n)
{
        size_t depth = 1;
        bool closed = false; /* a word that names no command ended the search */

        path[0] = &root_command;
        *ret_n = 0;
        for (int i = 0; i < argc; i++) {
                const struct command *below =
                        closed || argv[i][0] == '-' ? NULL : command_below(path[depth - 1], argv[i]);

                if (below && depth < COMMAND_DEPTH) {
                        path[depth++] = below;
                        continue;
                }
                ret_rest[(*ret_n)++] = argv[i];
                closed = closed || argv[i][0] != '-' || text_equal(argv[i], "--");
                if (!closed && takes_next(path[depth - 1], argv[i]) && i + 1 < argc)
                        ret_rest[(*ret_n)++] = argv[++i];
        }
        return depth;
}
