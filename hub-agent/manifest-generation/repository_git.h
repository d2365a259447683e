/* The repository of syncs and jobs, over Git: a mirror in a folder that outlives the process, and folders for
 * checkouts that do not. spec/flux-yaml.md 2, 8, 9.4. */
#pragma once

#include "common/kube/client.h"
#include "hub-agent/manifest-generation/repository.h"

struct repository_git_options {
        struct world *world;
        const struct log *log;
        struct kube_client *kube; /* reads the Secret */
        const char *ns, *secret;  /* of the credentials; it need not be there */
        const char *url;          /* with what it has of credentials */
        const char *branch, *tag, *notes;
        const char *user, *mail; /* committer */
        const char *folder;      /* this agent's alone */
        int64_t timeout_ms;      /* of each operation */
        size_t most_packs;       /* of the mirror, before it is made anew; 0 = MIRROR_PACKS_MAX */
};

#define MIRROR_PACKS_MAX 200 /* each fetch with news brings one, and each is an open file */

struct repository_git;
/* Borrows the options. Removes checkouts that an earlier process left. ERR_SYSTEM. */
int repository_git_open(const struct repository_git_options *o, struct repository_git **ret,
                        struct error *err);
struct repository_git *repository_git_close(struct repository_git *g); /* NULL is fine */
extern const struct repository_ops repository_git_ops;
