/* What syncs and jobs ask of the repository. One half is of Git (repository_git.h), the other of tests.
 * Everything parks, has its own time limit (--git-timeout), and gives texts in the arena.
 * spec/flux-yaml.md 2, 8, 9.4. */
#pragma once

#include "hub-agent/git/git.h"
#include "hub-agent/manifest-generation/tree.h"

/* A commit's files in a folder of their own, which goes with it. */
struct checkout {
        struct tree tree;
        const char *root;      /* the folder, absolute, for commands */
        const char *temporary; /* another one, empty, outside of it: their TMPDIR */
        void *own;             /* the implementation's */
};

struct sync_commit {
        struct git_hash at;
        const char *subject;
        const char *note; /* NULL = none */
};

struct publication {
        struct git_hash parent; /* what the branch has to be still */
        const struct git_change *changes;
        size_t n_changes;
        const char *author, *author_mail; /* NULL = the committer's */
        const char *message, *note;
};

struct repository_ops {
        /* Brings branches, tags and notes. */
        int (*fetch)(void *ctx, struct error *err);
        /* ERR_NOT_FOUND: `configured branch '%s' does not exist`. */
        int (*head)(void *ctx, struct git_hash *ret, struct error *err);
        int (*check_write)(void *ctx, const char *tag, struct error *err);
        /* The commit that the sync tag is of; none: there is no such tag. */
        int (*synced)(void *ctx, struct git_hash *ret, struct error *err);
        int (*set_synced)(void *ctx, const struct git_hash *commit, struct error *err); /* and pushes */
        /* Newest first; `since` none = from the beginning. At most `most`; *ret_more: there are others.
         * `paths`: only those that touch one; none = all. With their notes. */
        int (*log)(void *ctx, const struct git_hash *since, const struct git_hash *until,
                   const char *const *paths, size_t n_paths, size_t most, struct arena *arena,
                   struct sync_commit **ret, size_t *ret_n, bool *ret_more, struct error *err);
        bool (*has)(void *ctx, const struct git_hash *commit);
        int (*checkout)(void *ctx, const struct git_hash *commit, struct arena *arena, struct checkout *ret,
                        struct error *err);
        void (*discard)(void *ctx, struct checkout *c); /* of a zeroed one: nothing */
        /* One file of a commit, as Git has it. ERR_NOT_FOUND. */
        int (*entry)(void *ctx, const struct git_hash *commit, const char *path, enum git_entry_kind *ret,
                     struct error *err);
        /* Commits and pushes branch and note, all or nothing. ERR_CONFLICT: the branch is another by now.
         * Nothing changed: *ret_same, and nothing was made. */
        int (*publish)(void *ctx, const struct publication *p, struct git_hash *ret, bool *ret_same,
                       struct error *err);
};
struct repository {
        const struct repository_ops *ops;
        void *ctx;
};
