/* One run of a GitRepository: how its remote is reached, what is fetched, what becomes of it.
 * spec/helm-chart.md 12.1. */
#pragma once

#include "hub-agent/git/git.h"
#include "hub-agent/source/git_choice.h"
#include "hub-agent/source/source_pass.h"

struct git_pass {
        struct source_pass *pass;
        const struct git_repository_spec *spec;
        struct remote_access access;
        int64_t deadline_ms;
        struct repo *repo; /* what was fetched; in a folder of its own */
        const char *folder;
        uint64_t received; /* bytes, of all fetches of this run */
};

/* Reads the Secrets. Has told what fails. */
int git_access_open(struct git_pass *g);
/* Says why Git's part failed: rc->err. Returns its code. */
int git_pass_fails(struct git_pass *g);
/* The candidate's commit, at depth 1 where that is possible. */
int git_fetch_commit(struct git_pass *g, struct remote *remote, const struct git_candidate *c, bool named,
                     struct error *err);
/* All submodules of the commit, and theirs. */
int git_fetch_submodules(struct git_pass *g, const struct git_hash *commit, struct error *err);
/* Writes the commit's files as an archive. *ret_no_room: the volume does not take it. */
int git_archive_write(struct git_pass *g, const struct git_hash *commit, struct artifact_writer *into,
                      bool *ret_no_room, struct error *err);
/* Pure: what a list of folders keeps. "" and "." are all. NULL: nothing is wrong with it. */
const char *git_sparse_problem(const struct string_list *l);
bool git_sparse_keeps(const struct string_list *l, const char *path, bool is_folder);
