/* .flux.yaml: where it is found, and what it says. spec/flux-yaml.md 3. Pure but for the tree. */
#pragma once

#include "hub-agent/manifest-generation/tree.h"

enum flux_variant {
        FLUX_SCAN_FOR_FILES, /* as if there were no file */
        FLUX_COMMAND_UPDATED,
        FLUX_PATCH_UPDATED,
};

struct flux_command {
        const char *line;   /* for the shell; NULL: there is none */
        int64_t timeout_ms; /* 0: the default */
};

struct flux_updater {
        struct flux_command image, policy; /* containerImage and policy */
};

struct flux_config {
        enum flux_variant variant;
        struct flux_command *generators;
        size_t n_generators;
        struct flux_updater *updaters;
        size_t n_updaters;
        const char *patch_file; /* as it is written; NULL */
        /* Set by flux_target_find(). */
        const char *file;       /* from the root of the tree: "staging/.flux.yaml" */
        const char *relative;   /* from the working folder: "../.flux.yaml" */
        const char *patch_path; /* from the root; NULL */
};

/* Everything is copied to the arena. ERR_INVALID: `cannot parse: ...`, or `config file is not valid: ` and a
 * line for each broken rule, all with line and column. */
int flux_config_parse(struct arena *arena, struct slice text, struct flux_config *ret, struct error *err);

struct flux_target {
        const char *path;           /* as --git-path has it, cleaned; "" = the root */
        const char *folder;         /* the working folder: the path, or the folder of the file it names */
        struct flux_config *config; /* NULL: raw */
};

/* The target path and what decides about it. `generation`: --manifest-generation; without it no file is
 * looked for. ERR_NOT_FOUND: `unable to read root path "x"`. ERR_INVALID: it or the patch file leads out of
 * the tree, `error finding a config file starting at path "x": ...`, `cannot parse config file: ...`. */
int flux_target_find(struct arena *arena, const struct tree *t, const char *path, bool generation,
                     struct flux_target *ret, struct error *err);

#define FLUX_CONFIG_BYTES (1u << 20)
#define FLUX_COMMANDS_MAX 100    /* of one list */
#define FLUX_COMMAND_BYTES 65536 /* of one command */
