/* What of a Git repository is fetched. */
#include "hub-agent/git/git.h"
#include "hub-agent/source/git_modules.h"
#include "hub-agent/source/git_source.h"
#include "hub-agent/transfer/web_url.h"

#define MODULES_BYTES (1u << 20)
#define MODULES_DEPTH 8

/* ---- a commit ---- */

/* A commit at no ref, of a remote that does not give such: it is looked for in the history of the branches.
 */
static int fetch_histories(struct git_pass *g, struct remote *remote, const struct git_candidate *c,
                           struct error *err)
{
        const struct git_refs *refs = remote_refs(remote);
        struct arena *arena = g->pass->rc->arena;
        struct git_hash *wants = ARENA_NEW_ARRAY(arena, struct git_hash, refs->n + 1);
        const char *name = *c->label ? arena_printf(arena, "refs/heads/%s", c->label) : "refs/";
        size_t n = 0;

        if (!wants || !name)
                return error_no_memory(err);
        for (size_t i = 0; i < refs->n; i++)
                if (*c->label ? text_equal(refs->at[i].name, name)
                              : text_starts_with(refs->at[i].name, "refs/heads/") ||
                                        text_starts_with(refs->at[i].name, "refs/tags/"))
                        wants[n++] = refs->at[i].at;
        if (n == 0)
                return error_set(err, ERR_NOT_FOUND, "couldn't find remote ref \"%s\"", name);
        TRY(remote_fetch(remote, g->repo, wants, n, 0, g->deadline_ms, err));
        if (!repo_has(g->repo, &c->commit))
                return error_set(err, ERR_NOT_FOUND, "couldn't find commit %s in the history of %s",
                                 c->commit.hex, *c->label ? name : "any branch");
        return 0;
}

int git_fetch_commit(struct git_pass *g, struct remote *remote, const struct git_candidate *c, bool named,
                     struct error *err)
{
        int code = named && !remote_gives_any(remote)
                           ? fetch_histories(g, remote, c, err)
                           : remote_fetch(remote, g->repo, &c->ask, 1, 1, g->deadline_ms, err);

        g->received += remote_received(remote);
        return code;
}

/* ---- submodules ---- */

struct module_list {
        struct arena *arena;
        struct git_entry *at;
        size_t n;
};

static bool wants_modules(void *ctx, const struct git_entry *e)
{
        return e->kind == GIT_FOLDER || e->kind == GIT_SUBMODULE;
}

static int take_module(void *ctx, const struct git_entry *e, struct slice data, struct error *err)
{
        struct module_list *l = ctx;

        if (e->kind != GIT_SUBMODULE)
                return 0;
        if (l->n == GIT_MODULES_MAX)
                return error_set(err, ERR_LIMIT, "more than %d submodules", GIT_MODULES_MAX);
        l->at[l->n] = *e;
        l->at[l->n].path = arena_strdup(l->arena, e->path);
        return l->at[l->n++].path ? 0 : error_no_memory(err);
}

static int list_modules(struct git_pass *g, const struct git_hash *commit, struct module_list *ret,
                        struct error *err)
{
        struct arena *arena = g->pass->rc->arena;
        const struct git_walk walk = {
                .wants = wants_modules, .take = take_module, .ctx = ret, .deadline_ms = g->deadline_ms
        };

        *ret = (struct module_list){ arena, ARENA_NEW_ARRAY(arena, struct git_entry, GIT_MODULES_MAX), 0 };
        return ret->at ? repo_walk(g->repo, commit, &walk, err) : error_no_memory(err);
}

/* Passwords stay with the host they are for. A key is shown to nobody, so it may be tried. */
static int access_of_module(struct git_pass *g, const char *url, struct remote_access *ret, struct error *err)
{
        struct arena *arena = g->pass->rc->arena;
        struct web_url home, there;
        uint64_t most = g->access.pack_bytes ? g->access.pack_bytes : GIT_PACK_MAX;

        *ret = g->access;
        ret->url = url;
        if (g->received >= most)
                return error_set(err, ERR_LIMIT,
                                 "the repository and its submodules have more than %llu bytes",
                                 (unsigned long long)most);
        ret->pack_bytes = most - g->received;
        if (web_url_parse(g->access.url, arena, &home, NULL) == 0 &&
            web_url_parse(url, arena, &there, NULL) == 0 && web_url_same_origin(&home, &there))
                return 0;
        ret->username = ret->password = ret->bearer_token = ret->cert_pem = ret->key_pem = NULL;
        return 0;
}

struct module_fetch {
        struct git_pass *git;
        unsigned depth;
        size_t n; /* so far */
};

static int fetch_modules_of(struct module_fetch *f, const struct git_hash *commit, const char *url,
                            struct error *err);

static int fetch_module(struct module_fetch *f, const struct git_entry *e, const char *url, struct error *err)
{
        struct git_pass *g = f->git;
        struct reconcile *rc = g->pass->rc;
        AUTO_REMOTE struct remote *remote = NULL;
        struct remote_access access;
        struct git_reference spec = { .commit = e->at.hex };
        struct git_choice choice;

        if (++f->n > GIT_MODULES_MAX)
                return error_set(err, ERR_LIMIT, "more than %d submodules", GIT_MODULES_MAX);
        if (!repo_has(g->repo, &e->at)) {
                TRY(access_of_module(g, url, &access, err));
                TRY(remote_open(&access, REMOTE_FETCH, rc->arena, g->deadline_ms, &remote, err));
                TRY(git_choose(&spec, remote_refs(remote), rc->arena, &choice, err));
                TRY(git_fetch_commit(g, remote, choice.at, choice.named, err));
        }
        f->depth++;
        int code = fetch_modules_of(f, &e->at, url, err);

        f->depth--;
        return code;
}

static int fetch_modules_of(struct module_fetch *f, const struct git_hash *commit, const char *url,
                            struct error *err)
{
        struct git_pass *g = f->git;
        struct arena *arena = g->pass->rc->arena;
        struct module_list list;
        struct git_modules said;
        struct slice text;

        TRY(list_modules(g, commit, &list, err));
        if (list.n == 0)
                return 0;
        if (f->depth >= MODULES_DEPTH)
                return error_set(err, ERR_LIMIT, "submodules in more than %d submodules", MODULES_DEPTH);
        TRY(repo_file(g->repo, commit, ".gitmodules", MODULES_BYTES, arena, &text, err));
        TRY(git_modules_parse(text, arena, &said, err));
        for (size_t i = 0; i < list.n; i++) {
                const char *from = git_modules_url(&said, list.at[i].path), *full;

                if (!from)
                        return error_set(err, ERR_INVALID, "submodule '%s': .gitmodules has no URL of it",
                                         list.at[i].path);
                if (remote_resolve_url(url, from, arena, &full, err) < 0 ||
                    fetch_module(f, &list.at[i], full, err) < 0)
                        return error_wrap(err, "submodule '%s'", list.at[i].path);
        }
        return 0;
}

int git_fetch_submodules(struct git_pass *g, const struct git_hash *commit, struct error *err)
{
        struct module_fetch f = { .git = g };

        return fetch_modules_of(&f, commit, g->access.url, err);
}
