/* What polls of images ask of registries. spec/flux-yaml.md 10. */
#pragma once

#include "common/base/arena.h"

struct update_objects; /* update/job.h */
struct image_candidates;
struct image_catalog; /* update/automation.h */

struct images_ops {
        /* The tags of the repositories of these candidates, with what is known of each; a repository that
         * cannot be read has its problem, and is no error. Parks; in the arena. */
        int (*read)(void *ctx, const struct update_objects *objects,
                    const struct image_candidates *candidates, struct arena *arena, struct image_catalog *ret,
                    struct error *err);
};
struct images {
        const struct images_ops *ops;
        void *ctx;
        const char *const *exclude, *const *include; /* globs over canonical names */
        size_t n_exclude, n_include;
};
