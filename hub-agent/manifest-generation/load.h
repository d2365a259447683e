/* All target paths of a checkout to the objects of one sync: spec/flux-yaml.md 5. Reads files and runs
 * generators. */
#pragma once

#include "hub-agent/manifest-generation/generate.h"
#include "hub-agent/manifest-generation/patch_file.h"

struct load {
        const struct tree *tree;
        struct generation *generation; /* NULL: --manifest-generation is off */
        const char *const *paths;      /* --git-path; none: the root */
        size_t n_paths;
        const struct resource_rules *rules;
        struct loop
                *loop; /* of the fiber that loads: what is large is parsed beside it; NULL: nobody waits */
        size_t used;   /* of LOAD_BYTES, by targets before */
};

#define LOAD_BYTES (128u << 20) /* texts of all target paths: they stay as long as the objects */

struct loaded_target {
        struct flux_target target;
        size_t bytes;        /* of its texts */
        size_t n;            /* of its resources, those of unknown scope too */
        const char *error;   /* whole text of why it gave none; NULL: it did */
        bool command_failed; /* which it may not do another time */
        const char *const *warnings;
        size_t n_warnings;
};

struct loaded {
        struct resource_list resources; /* settled, of all targets that are not broken */
        struct loaded_target *targets;
        size_t n_targets;
        struct resource_unknown *unknown;
        size_t n_unknown;
};

/* A broken target leaves the others working: its error is with it, and the sync has to hold what it had. Only
 * what is about no target (no memory, cancelled, nobody knows where to run) is returned. Parks. */
int load_all(struct arena *arena, const struct load *l, struct loaded *ret, struct error *err);
/* One target: what its generators print or its files hold, patched, not settled. *ret_generated (may be
 * NULL): the same before the patch, for patch_file_create(). */
int load_target(struct arena *arena, const struct load *l, struct flux_target *target,
                struct resource_list *ret, struct resource_list *ret_generated, struct loaded_target *report,
                struct error *err);
