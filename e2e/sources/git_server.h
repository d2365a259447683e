/* A Git server for tests: a repository behind the loopback transport, with faults. What goes wrong with
 * itself ends the test. */
#pragma once

#include "common/net/http_server.h"
#include "hub-agent/git/git.h"

enum git_fault {
        FAULT_NONE,
        FAULT_HANGS,        /* never answers */
        FAULT_GARBAGE,      /* answers with a page */
        FAULT_CUT_PACK,     /* half of a pack */
        FAULT_BROKEN_PACK,  /* a byte of it is another */
        FAULT_LIST_CUT,     /* the list of refs has no end */
        FAULT_NO_PACK,      /* says that it knows nothing of what is wanted */
        FAULT_REFUSES_PUSH, /* as a hook does */
        FAULT_MOVES,        /* another push came first */
};

struct git_server {
        struct world *world;
        struct repo *repo;
        char folder[64], path[80];
        const char *prefix;     /* of the paths it serves: "/team/app.git" */
        const char *authorized; /* value of Authorization; NULL = anybody */
        const char *moved_to;   /* answers the first request with a redirect there */
        const char *head;       /* "refs/heads/main" */
        const char *capabilities;
        bool replays; /* what it answered once, without needing memory of its own */
        struct buf kept[2];
        enum git_fault fault;
        int lists, fetches, pushes, refused;
        char said[512]; /* Authorization of the last request */
        size_t sent;    /* bytes of the last pack */
        int64_t now_s;  /* of commits */
};

/* In a folder of its own below /tmp. */
void git_server_begin(struct git_server *s, struct world *w);
void git_server_begin_below(struct git_server *s, struct world *w, const char *folder); /* or of that one */
void git_server_end(struct git_server *s);
/* A commit on a branch (as "main") after what is there. */
struct git_hash git_server_put(struct git_server *s, const char *branch, const struct git_change *changes,
                               size_t n, const char *message);
/* The same with one file (text NULL: removed). */
struct git_hash git_server_commit(struct git_server *s, const char *branch, const char *path,
                                  const char *text);
/* A branch of that many equal folders with that many equal files. */
struct git_hash git_server_put_folders(struct git_server *s, const char *branch, unsigned folders,
                                       unsigned files);
/* An annotated tag, or a light one where the message is NULL. */
void git_server_tag(struct git_server *s, const char *name, const struct git_hash *of, const char *message);
/* On the branch main, with .gitmodules. */
void git_server_add_submodule(struct git_server *s, const char *path, const struct git_hash *at,
                              const char *url);
/* An http_handler_fn. */
void git_server_handle(void *ctx, struct http_exchange *x);
