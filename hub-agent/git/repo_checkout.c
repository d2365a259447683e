/* A commit's files in a folder. */
#include "hub-agent/git/repo_internal.h"

#define CHECKOUT_BYTES (1u << 30)

struct checkout {
        const struct git_hash *of;
        const char *folder;
};

static int pass(void *ctx, const struct git_entry *e, struct slice data, struct error *err)
{
        return 0;
}

static int check_out(struct repo *r, void *ctx, struct error *err)
{
        const struct checkout *c = ctx;
        CLEANUP(repo_tree_cleanup) git_tree *tree = NULL;
        git_checkout_options o;

        TRY(repo_tree_of(r, c->of, &tree, err));
        GIT_TRY(git_checkout_options_init(&o, GIT_CHECKOUT_OPTIONS_VERSION), "check out");
        o.checkout_strategy = GIT_CHECKOUT_FORCE | GIT_CHECKOUT_DONT_UPDATE_INDEX |
                              GIT_CHECKOUT_DONT_WRITE_INDEX | GIT_CHECKOUT_NO_REFRESH;
        o.disable_filters = true;
        o.dir_mode = 0700;
        o.target_directory = c->folder;
        GIT_TRY(git_checkout_tree(r->git, (git_object *)tree, &o), "check out");
        return 0;
}

int repo_checkout(struct repo *r, const struct git_hash *of, const char *folder, struct error *err)
{
        const struct git_walk look = { .take = pass, .all_bytes = CHECKOUT_BYTES };
        struct checkout c = { of, folder };

        TRY(repo_walk(r, of, &look, err)); /* its limits, before anything is on the disk */
        return repo_offload(r, check_out, &c, err);
}
