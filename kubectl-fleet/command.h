/* The command table: from it come parsing, help, errors of usage, completion and the man pages. Each
 * command's description stands in the file that carries it out; commands.c lists them. */
#pragma once

#include "kubectl-fleet/session.h"

#define PROGRAM_NAME "kubectl-fleet"
#define WORDS_ANY UINT32_MAX

struct command_argument {
        const char *name; /* as in "<name>" or "[name]" */
        enum completes completes;
};

struct command {
        const char *name;
        const char *usage;    /* behind the name: "<kind>"; NULL = nothing */
        const char *summary;  /* one line, without a full stop */
        const char *about;    /* paragraphs; NULL = the summary */
        const char *examples; /* lines; NULL = none */
        const struct command_argument *arguments;
        size_t n_arguments;
        uint32_t least, most;                  /* how many words it takes */
        const struct command *const *commands; /* below it, ending in NULL; NULL = none */
        struct flag_table flags;               /* its own */
        unsigned shared;                       /* enum shared_flags */
        bool hub_required;                     /* the hub's context must be named */
        bool connects_itself;                  /* it may do without the hub: session_connect() is its own */
        bool hidden;
        bool published; /* errors are told as its document says: with the usage, and once more with the time
                         */
        /* Rules of its own, before anything is read. May be NULL. */
        int (*check)(const struct session *s, struct error *err);
        /* NULL: prints its help. */
        int (*run)(struct session *s, struct error *err);
};

extern const struct command root_command;
extern const char fleet_version[]; /* "v1.2.3 (commit)" */

/* ---- the table's uses ---- */
#define COMMAND_TABLES_MAX (SHARED_TABLES_MAX + 1)
size_t command_tables(const struct command *c, struct flag_table ret[COMMAND_TABLES_MAX]);

/* Finds the command that words name, flags among them passed over. `path` is the way there, root first;
 * returns its length; *ret_rest: argv without the names, `argc` places. */
#define COMMAND_DEPTH 4
size_t command_find(int argc, const char *const *argv, const struct command *path[COMMAND_DEPTH],
                    const char **ret_rest, int *ret_n);
/* The first word in what command_find() left that is neither a flag nor its value; NULL = none. */
const char *command_other_word(const struct command *c, int n, const char *const *rest);
const struct command *command_below(const struct command *c, const char *name); /* NULL = none */

/* "Usage:" and what follows, and the whole help. */
void command_usage(const struct command *const *path, size_t depth, struct buf *b);
void command_help(const struct command *const *path, size_t depth, struct buf *b);
/* A page of the manual, in man(7)'s macros. */
void command_man(const struct command *const *path, size_t depth, struct buf *b);

/* What could stand in place of the last word: the lines that kubectl and the shells' scripts read,
 * "value\tabout it", then ":4", or ":0" where names of files go on. The hub is asked where its objects are
 * wanted. */
#define COMPLETE_COMMAND "__complete"
int command_complete(struct session *s, int argc, const char *const *argv);

/* Parses, checks, runs. Returns the exit code: 0, or 1 after telling why. In a fiber. */
int fleet_run(struct world *w, struct fiber_group *group, const struct terminal *t, int argc,
              const char *const *argv);
