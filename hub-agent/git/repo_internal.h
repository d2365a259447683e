/* Repositories of our own, as the files that speak to libgit2 see them. Internal to hub-agent/git. */
#pragma once

#include <git2.h>

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "hub-agent/git/git.h"
#include "hub-agent/git/pack_scan.h"

struct repo {
        struct world *world;
        git_repository *git;
        bool stop; /* what is offloaded has to end: set from the loop, read by another thread */
};

/* Runs fn where it may take its time. */
int repo_offload(struct repo *r, int (*fn)(struct repo *r, void *ctx, struct error *err), void *ctx,
                 struct error *err);
/* The same, told to end at the deadline. */
int repo_offload_until(struct repo *r, int (*fn)(struct repo *r, void *ctx, struct error *err), void *ctx,
                       int64_t deadline_ms, struct error *err);
bool repo_must_stop(const struct repo *r);

/* What libgit2 says; `code` is what it returned. Returns our code. */
int repo_fails(struct error *err, int code, const char *what);
#define GIT_TRY(call, what)                                                                                  \
        do {                                                                                                 \
                int git_result_ = (call);                                                                    \
                if (git_result_ < 0)                                                                         \
                        return repo_fails(err, git_result_, what);                                           \
        } while (0)

git_oid repo_oid(const struct git_hash *h); /* of one that is there */
struct git_hash repo_hash(const git_oid *oid);
/* libgit2's global state, set up once: no configuration, no templates, small caches. */
int repo_library_begin(struct error *err);
int repo_signature(const struct git_person *p, git_signature **ret, struct error *err);
/* An object that is not larger than one of its kind may be. */
int repo_look_up(struct repo *r, const git_oid *oid, const char *what, git_object **ret, struct error *err);
/* The tree of a commit, a tag or a tree. */
int repo_tree_of(struct repo *r, const struct git_hash *of, git_tree **ret, struct error *err);
/* Whether a name may stand in a tree. */
bool repo_name_is_fine(const char *name, size_t n);

static inline void repo_object_cleanup(git_object **o)
{
        git_object_free(*o);
}
static inline void repo_tree_cleanup(git_tree **t)
{
        git_tree_free(*t);
}
static inline void repo_commit_cleanup(git_commit **c)
{
        git_commit_free(*c);
}
static inline void repo_blob_cleanup(git_blob **b)
{
        git_blob_free(*b);
}
static inline void repo_entry_cleanup(git_tree_entry **e)
{
        git_tree_entry_free(*e);
}
static inline void repo_signature_cleanup(git_signature **s)
{
        git_signature_free(*s);
}
static inline void repo_walker_cleanup(git_revwalk **w)
{
        git_revwalk_free(*w);
}
static inline void repo_odb_cleanup(git_odb **o)
{
        git_odb_free(*o);
}
static inline void repo_index_cleanup(git_index **i)
{
        git_index_free(*i);
}
static inline void repo_reference_cleanup(git_reference **i)
{
        git_reference_free(*i);
}

/* ---- packs (repo_pack.c) ---- */

/* A pack on its way into the repository. */
struct pack_intake {
        struct repo *repo;
        struct pack_limits limits;
        struct pack_scan scan;
        git_indexer *indexer;
        git_indexer_progress progress; /* libgit2 goes by it from call to call */
        struct buf waiting;
        int64_t deadline_ms;
};
int pack_intake_begin(struct pack_intake *p, struct repo *into, uint64_t pack_bytes, int64_t deadline_ms,
                      struct error *err);
/* Both park. */
int pack_intake_feed(struct pack_intake *p, const void *data, size_t n, struct error *err);
int pack_intake_end(struct pack_intake *p, struct error *err);
void pack_intake_free(struct pack_intake *p);

/* What `to` leads to and `has` does not, as a pack at the end of the buffer. Hashes of `has` that are not
 * there are passed over. */
struct pack_order {
        const struct git_hash *to;
        size_t n_to;
        const struct git_hash *has;
        size_t n_has;
        struct buf *into;
};
int repo_pack(struct repo *r, const struct pack_order *o, int64_t deadline_ms, struct error *err);
/* What a remote may be told that we have: commits that refs lead to, and some before them, at most n. */
int repo_haves(struct repo *r, struct git_hash *ret, size_t most, size_t *ret_n, struct error *err);
