/* Commands of a .flux.yaml, run by /bin/sh within limits: spec/flux-yaml.md 4. */
#pragma once

#include "common/loop/confined.h"
#include "hub-agent/manifest-generation/flux_config.h"

#define COMMAND_OUTPUT_BYTES (32u << 20)
#define COMMAND_MESSAGE_BYTES (64u << 10) /* of each stream, in messages */
#define COMMANDS_AT_ONCE 4
#define COMMAND_GRACE_MS 5000
#define COMMAND_MEMORY_BYTES                                                                                 \
        (UINT64_C(16) << 30) /* of addresses: runtimes reserve far more than they use                        \
                              */
#define COMMAND_FILE_BYTES (UINT64_C(1) << 30)
#define COMMAND_PROCESSES 1024

/* What all commands share. */
struct commands {
        struct world *world;
        const char *shell;        /* NULL: /bin/sh */
        int64_t timeout_ms;       /* --sync-timeout */
        const char *const *shown; /* --generator-env: names that generators see all the same */
        size_t n_shown;
        size_t n_running;
        struct waitq waiting;
};

/* One run. All of it is in the arena. */
struct command_run {
        const struct flux_command *command;
        const char *folder;     /* absolute */
        const char *const *env; /* exactly these, NULL-terminated */
        bool merges;            /* both streams into output */
        /* Set by the run, also when it fails: */
        struct slice output, errors;
        const char *failure; /* "exit status 1", "signal: killed", "context deadline exceeded", ...; NULL */
};

/* Waits until fewer than COMMANDS_AT_ONCE run. 0: it ran and ended well. ERR_INVALID: it failed, as `failure`
 * says (the error's text is the same). Else it could not be run, or was cancelled (ERR_CANCELLED):
 * `cannot run "/bin/sh": no such file; use an image with a shell` (ERR_NOT_FOUND). */
int command_run(struct commands *c, struct arena *arena, struct command_run *r, struct error *err);

/* The environment of generators: what is in `ours` but names that end in TOKEN, PASSWORD, SECRET or KEY (any
 * case) and are not in c->shown, with TMPDIR. ERR_NO_MEMORY. */
int generator_environment(const struct commands *c, struct arena *arena, const char *const *ours,
                          const char *temporary, const char *const **ret, struct error *err);

/* Of updaters: PATH, which is that of `ours`, and the FLUX_ variables. */
struct update_change {
        const char *namespace, *kind, *name; /* of the workload; kind in any case */
        /* an image: */
        const char *container, *image, *tag; /* image: without the tag; container NULL: it is a policy */
        /* a policy: */
        const char *policy, *value; /* value NULL: it is removed */
};
int updater_environment(struct arena *arena, const char *const *ours, const struct update_change *change,
                        const char *const **ret, struct error *err);

/* Where the target's commands run. `root`: the checkout, absolute. NULL on no memory, as the next two. */
const char *command_folder(struct arena *arena, const char *root, const struct flux_target *target);
const char *command_quote(struct arena *arena, const char *text); /* as Go's %q */
/* A text as a message has it: beyond COMMAND_MESSAGE_BYTES its end is replaced by how much that is. NULL on
 * no memory. */
const char *command_excerpt(struct arena *arena, struct slice said);

/* Runs all updaters for one change, top down; the first that fails ends it. *ret_message is the whole text of
 * the failure (spec/flux-yaml.md 4.6), which has no room in err; NULL when all went well. ERR_INVALID: `no
 * update.containerImage commands to run in .flux.yaml (from path x)`, or a command failed. `root`: the
 * checkout, absolute. */
int run_updaters(struct commands *c, struct arena *arena, const char *root, const struct flux_target *target,
                 const char *const *ours, const struct update_change *change, const char **ret_message,
                 struct error *err);
