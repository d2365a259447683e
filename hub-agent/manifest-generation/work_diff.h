/* What a job changed in its working folder. spec/flux-yaml.md 9.4.1. */
#pragma once

#include "common/base/map.h"
#include "hub-agent/git/git.h"
#include "hub-agent/manifest-generation/tree.h"

#define WORK_FILES_MAX GIT_FILES_MAX
#define WORK_CHANGED_BYTES (64u << 20) /* of all files that changed */

/* How each file of a folder was; of the arena. */
struct work_snapshot {
        struct map *files; /* path -> struct volume_info */
};
int work_snapshot_take(const struct tree *t, struct arena *arena, struct work_snapshot *ret,
                       struct error *err);

struct work_diff {
        struct git_change
                *at; /* in order of paths; kinds are files or links: modes are the repository's to tell */
        size_t n;
};
/* What differs from the snapshot by now. `only_known` leaves out files that are new. ERR_LIMIT. */
int work_diff_make(const struct tree *t, const struct work_snapshot *before, bool only_known,
                   struct arena *arena, struct work_diff *ret, struct error *err);
/* Leaves out what is not below one of the paths ("" = the root). */
void work_diff_confine(struct work_diff *d, const char *const *paths, size_t n_paths);
