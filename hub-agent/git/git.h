/* Git: remotes that are fetched from and pushed to, and repositories of our own that hold what came. The wire
 * is ours (protocol version 0 over smart HTTP and ssh), the objects are libgit2's, which no user of this
 * header sees. No hooks, no filters, no configuration of the machine. Whatever a remote can grow has a limit
 * below.
 *
 * Everything here parks, but for what is said to be pure: work on objects is offloaded, requests wait. All
 * texts and lists that are given back are in the arena. spec/helm-chart.md 12.1, 13, spec/flux-yaml.md
 * 2, 9.4.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"
#include "common/loop/world.h"
#include "common/net/address_guard.h"

#define GIT_REFS_MAX 100000
#define GIT_ADVERTISEMENT_MAX (16u << 20) /* bytes */
#define GIT_PACK_MAX (256u << 20)         /* bytes, unless somebody says otherwise */
#define GIT_UNPACKED_FACTOR 16            /* all objects of a pack inflated, against the most it may have */
#define GIT_OBJECTS_MAX 5000000           /* of a pack */
#define GIT_OBJECT_MAX (256u << 20)       /* bytes of one object */
#define GIT_WHOLE_MAX (128u << 20)        /* of what has to be in memory whole, as what is sent as a delta */
#define GIT_TREE_MAX (16u << 20)          /* bytes of one folder's list of names */
#define GIT_TREES_MAX (32u << 20)         /* of those of a folder and all it is in */
#define GIT_TEXT_MAX (4u << 20)           /* bytes of a commit or a tag */
#define GIT_PUSH_MAX (64u << 20)          /* bytes of a pack that is sent */
#define GIT_DEPTH_MAX 64                  /* folders in folders */
#define GIT_FILES_MAX 100000              /* of a tree */
#define GIT_COMMITS_MAX 1000000           /* of a log */

/* SHA-1, 40 digits in lower case; "" = none. */
struct git_hash {
        char hex[41];
};
bool git_hash_is_none(const struct git_hash *h);
bool git_hash_equal(const struct git_hash *a, const struct git_hash *b);
/* Pure. ERR_INVALID: not 40 hexadecimal digits. */
int git_hash_parse(const char *text, struct git_hash *ret, struct error *err);

/* ---- remotes ---- */

/* Where a remote is and as whom it is asked. Borrowed, as long as the remote is open. */
struct remote_access {
        struct world *world;
        const char *
                url; /* http://, https://, ssh://[user@]host[:port]/path; user info of http counts as Basic */
        const char *username, *password, *bearer_token;    /* of http; NULL = none */
        const char *ca_pem, *cert_pem, *key_pem;           /* of https; NULL = the system's, none */
        const char *proxy_url;                             /* of http; NULL = none */
        const char *identity, *key_password, *known_hosts; /* of ssh; texts of files */
        const struct address_ranges *denied;               /* no connection to these; NULL = anywhere */
        uint64_t pack_bytes;                               /* 0 = GIT_PACK_MAX */
};

struct git_ref {
        const char *name; /* "refs/heads/main" */
        struct git_hash at;
        struct git_hash peeled; /* what a tag object is of; none: `at` is no tag object */
};
struct git_refs {
        const struct git_ref *at; /* sorted by name; without HEAD */
        size_t n;
        const char *head;    /* the branch HEAD names, "refs/heads/main"; NULL = not told */
        struct git_hash tip; /* of HEAD; none: it has no commit yet */
};
const struct git_ref *git_refs_find(const struct git_refs *refs, const char *name); /* pure; NULL = none */
/* What a ref leads to: a tag's commit rather than the tag. Pure. */
struct git_hash git_ref_commit(const struct git_ref *ref);

enum remote_service { REMOTE_FETCH, REMOTE_PUSH };

struct remote;
/* Asks what refs there are: one request. Errors: ERR_UNAUTHORIZED or ERR_FORBIDDEN (not let in, a host key
 * that is not the known one, a bad certificate), ERR_NOT_FOUND (no such repository), ERR_RETRY and
 * ERR_TIMEOUT, ERR_INVALID (no URL of Git; or an answer that is no Git), ERR_LIMIT, ERR_UNSUPPORTED (it has
 * other hashes). */
int remote_open(const struct remote_access *a, enum remote_service service, struct arena *arena,
                int64_t deadline_ms, struct remote **ret, struct error *err);
const struct git_refs *remote_refs(const struct remote *r); /* as long as the arena */
struct remote *remote_close(struct remote *r);              /* NULL is fine; returns NULL */
static inline void remote_cleanup(struct remote **r)
{
        *r = remote_close(*r);
}
#define AUTO_REMOTE CLEANUP(remote_cleanup)

/* Pure: whether it is a URL that remote_open() takes; and without its secrets, for people. */
int remote_check_url(const char *url, struct error *err);            /* ERR_INVALID */
const char *remote_public_url(const char *url, struct arena *arena); /* NULL on no memory */
/* Where a submodule's URL ("../other", "https://...") leads, seen from its repository's. Pure. ERR_INVALID:
 * to no URL that may be fetched. */
int remote_resolve_url(const char *base, const char *url, struct arena *arena, const char **ret,
                       struct error *err);

struct repo;
/* Brings what `wants` lead to into the repository: at that depth, 0 = all of their history (against what the
 * repository has by its refs, so that only what is new is sent). Wants that no ref leads to need a remote
 * that allows that, see remote_gives_any(). No ref of the repository is changed. Once for a remote. Errors as
 * of remote_open(); ERR_NOT_FOUND: "remote error: upload-pack: not our ref ...". */
int remote_fetch(struct remote *r, struct repo *into, const struct git_hash *wants, size_t n, unsigned depth,
                 int64_t deadline_ms, struct error *err);
/* Bytes of the pack that came. */
uint64_t remote_received(const struct remote *r);
/* Whether commits that no ref leads to may be asked for. */
bool remote_gives_any(const struct remote *r);
/* Fetches all refs that begin with one of the prefixes ("refs/heads/"), with all history, makes them the
 * repository's under the same names, and drops those of the prefixes that the remote does not have. Nothing
 * is asked for when nothing is new. *ret_changed may be NULL. */
int remote_mirror(struct remote *r, struct repo *into, const char *const *prefixes, size_t n,
                  int64_t deadline_ms, bool *ret_changed, struct error *err);

struct remote_update {
        const char *ref;    /* full name */
        struct git_hash to; /* none = remove it */
        bool force;         /* also where what is there is not an ancestor, or is a tag */
        int outcome;     /* set: 0; ERR_CONFLICT: not fast-forward, or somebody was faster; ERR_FORBIDDEN: the
                          * remote refuses; ERR_CANCELLED: not tried, since another was refused */
        const char *why; /* set: in words, NULL = done */
};
/* Each from what the remote said it has when it was opened for REMOTE_PUSH. `atomic`: all or none, where the
 * remote can; where it cannot, none is sent when one is known to be refused. 0: all were told; else what is
 * said of remote_open(). Returns ERR_CONFLICT or ERR_FORBIDDEN, the first that was refused, when any was. */
int remote_push(struct remote *r, struct repo *from, struct remote_update *updates, size_t n, bool atomic,
                struct arena *arena, int64_t deadline_ms, struct error *err);

/* ---- repositories of our own ---- */

/* A bare one in a folder of its own, 0700. ERR_EXISTS: there is something. */
int repo_create(struct world *w, const char *folder, struct repo **ret, struct error *err);
/* ERR_NOT_FOUND; ERR_INVALID: what is there cannot be used (remove it and begin anew). */
int repo_open(struct world *w, const char *folder, struct repo **ret, struct error *err);
struct repo *repo_close(struct repo *r); /* the folder stays; NULL is fine; returns NULL */
static inline void repo_cleanup(struct repo **r)
{
        *r = repo_close(*r);
}
#define AUTO_REPO CLEANUP(repo_cleanup)

/* Folders for repositories and checkouts, below one that is this agent's alone. They have names of their own
 * and go with all in them. */
struct git_work;
/* Makes the folder if need be, 0700, and removes what an earlier process left in it. */
int git_work_open(struct world *w, const char *folder, struct git_work **ret, struct error *err);
struct git_work *git_work_close(struct git_work *g); /* NULL is fine; returns NULL */
/* The path of a folder that is not there yet, in the arena. */
int git_work_name(struct git_work *g, const char *what, struct arena *arena, const char **ret,
                  struct error *err);
/* Removes it with all in it; fine if it is not there. What cannot be removed now is tried again with the
 * next. */
void git_work_remove(struct git_work *g, const char *path);

/* The ref's id as it stands; a full name. ERR_NOT_FOUND. */
int repo_ref(struct repo *r, const char *name, struct git_hash *ret, struct error *err);
int repo_set_ref(struct repo *r, const char *name, const struct git_hash *to, struct error *err);
int repo_drop_ref(struct repo *r, const char *name, struct error *err); /* fine if it is not there */
/* A full name, or a hash: the commit it leads to, through tags. ERR_NOT_FOUND. */
int repo_commit_of(struct repo *r, const char *name, struct git_hash *ret, struct error *err);
bool repo_has(struct repo *r, const struct git_hash *h);

struct git_person {
        const char *name, *email;
        int64_t when_s; /* since 1970 */
        int offset_min; /* of its time zone */
};
struct git_commit_info {
        struct git_hash at, tree;
        struct git_person author, committer;
        const char *subject; /* the first line */
        const char *message;
        const struct git_hash *parents;
        size_t n_parents;
};
int repo_commit(struct repo *r, const struct git_hash *commit, struct arena *arena,
                struct git_commit_info *ret, struct error *err);
/* A commit is its own ancestor. ERR_NOT_FOUND: history is missing, as in what was fetched at a depth. */
int repo_is_ancestor(struct repo *r, const struct git_hash *ancestor, const struct git_hash *of, bool *ret,
                     struct error *err);
struct git_log {
        const struct git_hash *since; /* NULL = from the beginning; it and its ancestors are left out */
        const struct git_hash *until;
        const char *const
                *paths; /* files or folders: only commits that changed something there; none = all */
        size_t n_paths;
        size_t most; /* 0 = GIT_COMMITS_MAX; more are left out, *ret_more tells */
};
/* Newest first. */
int repo_log(struct repo *r, const struct git_log *log, struct arena *arena,
             const struct git_commit_info **ret, size_t *ret_n, bool *ret_more, struct error *err);

/* ---- trees ---- */

enum git_entry_kind { GIT_FILE, GIT_EXECUTABLE, GIT_LINK, GIT_FOLDER, GIT_SUBMODULE };

struct git_entry {
        const char *path; /* from the topmost folder, without a slash at its end */
        enum git_entry_kind kind;
        uint64_t size;      /* of files, and of a link's target */
        struct git_hash at; /* of a submodule: the commit */
};
struct git_walk {
        const char *below; /* a folder, whose path stays part of the entries'; NULL or "" = the topmost */
        /* Both run offloaded, in byte order of the paths, a folder before what is in it. */
        bool (*wants)(void *ctx, const struct git_entry *e); /* NULL = all; a folder refused is not entered */
        int (*take)(void *ctx, const struct git_entry *e, struct slice data,
                    struct error *err); /* data: of files
                                         * and links */
        void *ctx;
        bool into_submodules; /* those whose commits are here are folders with what is in them */
        int64_t deadline_ms;  /* 0 = none */
        uint64_t file_bytes;  /* of one file; 0 = GIT_OBJECT_MAX */
        uint64_t all_bytes;   /* of all that are taken; 0 = no bound */
};
/* `of`: a commit or a tree. ERR_NOT_FOUND: no such folder; ERR_LIMIT names the path; ERR_INVALID: a name that
 * may not be (".git", "..", with a slash). */
int repo_walk(struct repo *r, const struct git_hash *of, const struct git_walk *walk, struct error *err);
/* One entry by its path. ERR_NOT_FOUND. */
int repo_entry(struct repo *r, const struct git_hash *of, const char *path, struct arena *arena,
               struct git_entry *ret, struct error *err);
/* One file. ERR_NOT_FOUND; ERR_INVALID: it is no file; ERR_LIMIT. */
int repo_file(struct repo *r, const struct git_hash *of, const char *path, size_t max, struct arena *arena,
              struct slice *ret, struct error *err);
/* All of a tree as files in a folder that is not there yet, below one that is the agent's alone
 * (git_work_name). Links are as they are: who follows them may get anywhere. Submodules are empty folders. */
int repo_checkout(struct repo *r, const struct git_hash *of, const char *folder, struct error *err);

/* ---- writing ---- */

struct git_change {
        const char *path;
        bool removed;             /* a folder with all in it */
        enum git_entry_kind kind; /* GIT_FILE, GIT_EXECUTABLE, GIT_LINK */
        struct slice data;
};
struct git_new_commit {
        struct git_hash parent; /* none = the first; the changes are to its tree */
        const struct git_change *changes;
        size_t n_changes;
        struct git_person author, committer;
        const char *message;
};
/* No ref is moved. *ret_same: the tree is the parent's; nothing was made and *ret is the parent. ERR_INVALID:
 * a path that may not be, or that leads through a file. */
int repo_make_commit(struct repo *r, const struct git_new_commit *c, struct git_hash *ret, bool *ret_same,
                     struct error *err);
struct git_new_tag {
        const char *name; /* "flux-sync" */
        struct git_hash of;
        struct git_person tagger;
        const char *message;
};
int repo_make_tag(struct repo *r, const struct git_new_tag *t, struct git_hash *ret, struct error *err);
/* The commit of notes that has this one too, or in place of the one there: for refs/notes/NAME, after
 * `parent` (none = the first). No ref is moved. */
struct git_new_note {
        struct git_hash parent, of;
        struct git_person author;
        const char *text;
};
int repo_make_note(struct repo *r, const struct git_new_note *n, struct git_hash *ret, struct error *err);
/* The note that `notes`, a commit of notes, has of a commit. ERR_NOT_FOUND. */
int repo_note(struct repo *r, const struct git_hash *notes, const struct git_hash *of, struct arena *arena,
              const char **ret, struct error *err);
