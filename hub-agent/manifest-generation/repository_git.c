#include "hub-agent/manifest-generation/repository_git.h"

#include <stdio.h>

#include "common/base/digest.h"
#include "common/base/memory.h"
#include "hub-agent/transfer/secret.h"

#define MIRROR "mirror-" /* and the beginning of a sum of the address */
#define MIRROR_SUM 16
#define CHECKOUTS "checkouts"
#define SYNC_MESSAGE "Sync pointer"

struct repository_git {
        const struct repository_git_options *options;
        struct volume *folder;
        struct git_work *work;
        struct repo *mirror; /* NULL until it is first needed */
        char *path;          /* of the mirror */
};

static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };

static int64_t deadline_of(const struct repository_git *g)
{
        return loop_now_ms(g->options->world->loop) + g->options->timeout_ms;
}

/* An operation that ran out of its time is told as its command would be. */
static int told(const struct repository_git *g, int code, const char *command, struct error *err)
{
        if (code != ERR_TIMEOUT)
                return code;
        return error_set(err, ERR_TIMEOUT, "running git command: git [%s]: context deadline exceeded",
                         command);
}

static struct git_person committer_of(const struct repository_git *g)
{
        return (struct git_person){ g->options->user, g->options->mail,
                                    loop_wall_ms(g->options->world->loop) / 1000, 0 };
}

/* ---- folders ---- */

static int remove_others(struct repository_git *g, const char *mirror, struct error *err)
{
        AUTO_FREE char *names = NULL;

        TRY(volume_list(g->folder, "", &names, err));
        for (const char *n = names; *n; n += strlen(n) + 1)
                if (text_starts_with(n, MIRROR) && !text_equal(n, mirror))
                        TRY(volume_remove_all(g->folder, n, err));
        return 0;
}

static int open_folders(struct repository_git *g, struct error *err)
{
        const struct repository_git_options *o = g->options;
        AUTO_FREE char *checkouts = mem_printf("%s/" CHECKOUTS, o->folder);
        char sum[SHA256_HEX_SIZE], name[sizeof(MIRROR) + MIRROR_SUM];

        sha256_hex(o->url, strlen(o->url), sum);
        snprintf(name, sizeof(name), MIRROR "%.*s", MIRROR_SUM, sum);
        g->path = mem_printf("%s/%s", o->folder, name);
        if (!checkouts || !g->path)
                return error_no_memory(err);
        TRY(o->world->files->make_directory(o->world->ctx, o->folder, err));
        TRY(volume_open(o->world, o->folder, &g->folder, err));
        TRY(remove_others(g, name, err));
        return git_work_open(o->world, checkouts, &g->work, err);
}

int repository_git_open(const struct repository_git_options *o, struct repository_git **ret,
                        struct error *err)
{
        struct repository_git *g = NEW(struct repository_git);
        int code;

        if (!g)
                return error_no_memory(err);
        g->options = o;
        code = open_folders(g, err);
        if (code < 0) {
                repository_git_close(g);
                return error_wrap(err, "work-path %s", o->folder);
        }
        *ret = g;
        return 0;
}

struct repository_git *repository_git_close(struct repository_git *g)
{
        if (!g)
                return NULL;
        repo_close(g->mirror);
        git_work_close(g->work);
        if (g->folder)
                volume_close(g->folder);
        mem_free(g->path);
        mem_free(g);
        return NULL;
}

/* One that cannot be used is made anew. */
static int need_mirror(struct repository_git *g, struct error *err)
{
        struct world *w = g->options->world;
        int code;

        if (g->mirror)
                return 0;
        code = repo_open(w, g->path, &g->mirror, err);
        if (code != ERR_NOT_FOUND && code != ERR_INVALID)
                return code;
        if (code == ERR_INVALID)
                log_warn(g->options->log, "the mirror of the repository cannot be used, it is made anew",
                         "error", err->text);
        error_clear(err);
        TRY(volume_remove_all(g->folder, strrchr(g->path, '/') + 1, err));
        return repo_create(w, g->path, &g->mirror, err);
}

/* Packs are never put together, so one day there are too many; and a mirror may have been removed from
 * outside. */
static int check_mirror(struct repository_git *g, struct error *err)
{
        size_t most = g->options->most_packs ? g->options->most_packs : MIRROR_PACKS_MAX, n = 0;
        AUTO_FREE char *packs = mem_printf("%s/objects/pack", strrchr(g->path, '/') + 1);
        AUTO_FREE char *names = NULL;
        int code = packs ? volume_list(g->folder, packs, &names, err) : error_no_memory(err);

        if (code < 0 && code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        for (const char *name = names; name && *name; name += strlen(name) + 1)
                n += text_ends_with(name, ".pack");
        if (code == 0 && n < most)
                return 0;
        g->mirror = repo_close(g->mirror);
        TRY(volume_remove_all(g->folder, strrchr(g->path, '/') + 1, err));
        return need_mirror(g, err);
}

/* ---- the remote ---- */

/* A user in the address counts before the Secret's. */
static int read_secret(struct repository_git *g, struct arena *arena, struct remote_access *a,
                       struct error *err)
{
        const struct repository_git_options *o = g->options;
        AUTO_JSON json_t *doc = NULL;
        struct secret s = { .name = arena_printf(arena, "%s/%s", o->ns, o->secret) };
        int code = kube_doc_get(o->kube, &secrets, o->ns, o->secret, &doc, err);

        if (code == ERR_NOT_FOUND) {
                error_clear(err);
                return 0;
        }
        TRY(code < 0 ? error_wrap(err, "secret %s/%s", o->ns, o->secret) : 0);
        if (!s.name)
                return error_no_memory(err);
        s.doc = doc;
        TRY(secret_take(&s, "identity", arena, &a->identity, err));
        TRY(secret_take(&s, "known_hosts", arena, &a->known_hosts, err));
        TRY(secret_take(&s, "username", arena, &a->username, err));
        return secret_take(&s, "password", arena, &a->password, err);
}

static int open_remote(struct repository_git *g, enum remote_service service, struct arena *arena,
                       struct remote_access *access, struct remote **ret, struct error *err)
{
        const struct repository_git_options *o = g->options;

        *access = (struct remote_access){ .world = o->world, .url = o->url };
        TRY(read_secret(g, arena, access, err));
        return remote_open(access, service, arena, deadline_of(g), ret, err);
}

static int mirror(struct repository_git *g, struct error *err)
{
        static const char *const prefixes[] = { "refs/heads/", "refs/tags/", "refs/notes/" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_REMOTE struct remote *r = NULL;
        struct remote_access access;

        TRY(open_remote(g, REMOTE_FETCH, &arena, &access, &r, err));
        TRY(check_mirror(g, err)); /* now that the remote answers */
        return remote_mirror(r, g->mirror, prefixes, ARRAY_LEN(prefixes), deadline_of(g), NULL, err);
}

static int git_fetch(void *ctx, struct error *err)
{
        struct repository_git *g = ctx;

        TRY(need_mirror(g, err));
        return told(g, mirror(g, err), "fetch --tags origin", err);
}

static int push(struct repository_git *g, struct remote_update *updates, size_t n, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_REMOTE struct remote *r = NULL;
        struct remote_access access;
        int code = open_remote(g, REMOTE_PUSH, &arena, &access, &r, err);

        if (code == 0)
                code = remote_push(r, g->mirror, updates, n, n > 1, &arena, deadline_of(g), err);
        return told(g, code, "push origin", err);
}

/* ---- refs ---- */

static int ref_name(struct arena *arena, const char *prefix, const char *name, const char **ret,
                    struct error *err)
{
        *ret = arena_printf(arena, "%s%s", prefix, name);
        return *ret ? 0 : error_no_memory(err);
}

static int git_head(void *ctx, struct git_hash *ret, struct error *err)
{
        struct repository_git *g = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *ref;
        int code;

        TRY(need_mirror(g, err));
        TRY(ref_name(&arena, "refs/heads/", g->options->branch, &ref, err));
        code = repo_commit_of(g->mirror, ref, ret, err);
        if (code == ERR_NOT_FOUND)
                return error_set(err, code, "configured branch '%s' does not exist", g->options->branch);
        return code;
}

static int git_check_write(void *ctx, const char *tag, struct error *err)
{
        struct repository_git *g = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct remote_update update = { .force = true };

        TRY(ref_name(&arena, "refs/tags/", tag, &update.ref, err));
        TRY(git_head(g, &update.to, err));
        TRY(push(g, &update, 1, err));
        update = (struct remote_update){ .ref = update.ref, .force = true };
        return push(g, &update, 1, err);
}

static int git_synced(void *ctx, struct git_hash *ret, struct error *err)
{
        struct repository_git *g = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *ref;
        int code;

        TRY(ref_name(&arena, "refs/tags/", g->options->tag, &ref, err));
        code = repo_commit_of(g->mirror, ref, ret, err);
        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        *ret = (struct git_hash){ "" };
        return 0;
}

static int git_set_synced(void *ctx, const struct git_hash *commit, struct error *err)
{
        struct repository_git *g = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct git_new_tag tag = {
                .name = g->options->tag, .of = *commit, .tagger = committer_of(g), .message = SYNC_MESSAGE
        };
        struct remote_update update = { .force = true };

        TRY(ref_name(&arena, "refs/tags/", g->options->tag, &update.ref, err));
        TRY(repo_make_tag(g->mirror, &tag, &update.to, err));
        TRY(push(g, &update, 1, err));
        return repo_set_ref(g->mirror, update.ref, &update.to, err);
}

/* ---- commits ---- */

static int notes_of(struct repository_git *g, struct arena *arena, const char **ret_ref, struct git_hash *ret,
                    struct error *err)
{
        int code;

        *ret = (struct git_hash){ "" };
        TRY(ref_name(arena, "refs/notes/", g->options->notes, ret_ref, err));
        code = repo_ref(g->mirror, *ret_ref, ret, err);
        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        return 0;
}

static int read_note(struct repository_git *g, const struct git_hash *notes, struct arena *arena,
                     struct sync_commit *c, struct error *err)
{
        int code;

        if (git_hash_is_none(notes))
                return 0;
        code = repo_note(g->mirror, notes, &c->at, arena, &c->note, err);
        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        return 0;
}

static int git_log(void *ctx, const struct git_hash *since, const struct git_hash *until,
                   const char *const *paths, size_t n_paths, size_t most, struct arena *arena,
                   struct sync_commit **ret, size_t *ret_n, bool *ret_more, struct error *err)
{
        struct repository_git *g = ctx;
        const struct git_commit_info *commits;
        struct git_log log = { .since = git_hash_is_none(since) ? NULL : since,
                               .until = until,
                               .most = most };
        struct git_hash notes;
        const char *ref;

        for (size_t i = 0; i < n_paths; i++)
                if (!*paths[i])
                        n_paths = 0; /* the root: all of them */
        log.paths = paths;
        log.n_paths = n_paths;
        TRY(repo_log(g->mirror, &log, arena, &commits, ret_n, ret_more, err));
        TRY(notes_of(g, arena, &ref, &notes, err));
        *ret = ARENA_NEW_ARRAY(arena, struct sync_commit, *ret_n + 1);
        if (!*ret)
                return error_no_memory(err);
        for (size_t i = 0; i < *ret_n; i++) {
                (*ret)[i] = (struct sync_commit){ .at = commits[i].at, .subject = commits[i].subject };
                TRY(read_note(g, &notes, arena, &(*ret)[i], err));
        }
        return 0;
}

static bool git_has(void *ctx, const struct git_hash *commit)
{
        return repo_has(((struct repository_git *)ctx)->mirror, commit);
}

static int git_entry_of(void *ctx, const struct git_hash *commit, const char *path, enum git_entry_kind *ret,
                        struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct git_entry entry;

        TRY(repo_entry(((struct repository_git *)ctx)->mirror, commit, path, &arena, &entry, err));
        *ret = entry.kind;
        return 0;
}

/* ---- checkouts ---- */

struct own_checkout {
        struct volume *volume;
        char *root, *temporary;
};

static void git_discard(void *ctx, struct checkout *c)
{
        struct repository_git *g = ctx;
        struct own_checkout *own = c->own;

        if (!own)
                return;
        c->own = NULL;
        if (own->volume)
                volume_close(own->volume);
        if (own->root)
                git_work_remove(g->work, own->root);
        if (own->temporary)
                git_work_remove(g->work, own->temporary);
        mem_free(own->root);
        mem_free(own->temporary);
        mem_free(own);
}

static int name_folders(struct repository_git *g, struct own_checkout *own, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *root, *temporary;

        TRY(git_work_name(g->work, "tree", &arena, &root, err));
        TRY(git_work_name(g->work, "tmp", &arena, &temporary, err));
        own->root = mem_strdup(root);
        own->temporary = mem_strdup(temporary);
        return own->root && own->temporary ? 0 : error_no_memory(err);
}

static int fill(struct repository_git *g, const struct git_hash *commit, struct own_checkout *own,
                struct error *err)
{
        struct world *w = g->options->world;

        TRY(name_folders(g, own, err));
        TRY(repo_checkout(g->mirror, commit, own->root, err));
        TRY(w->files->make_directory(w->ctx, own->temporary, err));
        return volume_open(w, own->root, &own->volume, err);
}

static int git_checkout_of(void *ctx, const struct git_hash *commit, struct arena *arena,
                           struct checkout *ret, struct error *err)
{
        struct repository_git *g = ctx;
        struct own_checkout *own = NEW(struct own_checkout);
        struct checkout c = { .own = own };

        if (!own)
                return error_no_memory(err);
        if (fill(g, commit, own, err) < 0) {
                git_discard(g, &c);
                return err->code;
        }
        c.root = own->root;
        c.temporary = own->temporary;
        c.tree = (struct tree){ own->volume, own->root };
        *ret = c;
        return 0;
}

/* ---- publishing ---- */

/* Both or none; what was made stays here unseen when it is refused. */
static int push_commit(struct repository_git *g, const struct publication *p, const struct git_hash *commit,
                       const struct git_person *author, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct remote_update updates[2] = { 0 };
        struct git_new_note note = { .of = *commit, .author = *author, .text = p->note };

        TRY(ref_name(&arena, "refs/heads/", g->options->branch, &updates[0].ref, err));
        TRY(notes_of(g, &arena, &updates[1].ref, &note.parent, err));
        TRY(repo_make_note(g->mirror, &note, &updates[1].to, err));
        updates[0].to = *commit;
        TRY(push(g, updates, ARRAY_LEN(updates), err));
        for (size_t i = 0; i < ARRAY_LEN(updates); i++)
                TRY(repo_set_ref(g->mirror, updates[i].ref, &updates[i].to, err));
        return 0;
}

static int git_publish(void *ctx, const struct publication *p, struct git_hash *ret, bool *ret_same,
                       struct error *err)
{
        struct repository_git *g = ctx;
        const struct git_person committer = committer_of(g);
        struct git_new_commit c = { .parent = p->parent,
                                    .changes = p->changes,
                                    .n_changes = p->n_changes,
                                    .author = committer,
                                    .committer = committer,
                                    .message = p->message };
        struct git_hash commit;

        if (p->author) {
                c.author.name = p->author;
                c.author.email = p->author_mail;
        }
        TRY(repo_make_commit(g->mirror, &c, &commit, ret_same, err));
        if (*ret_same)
                return 0;
        TRY(push_commit(g, p, &commit, &committer, err));
        *ret = commit;
        return 0;
}

const struct repository_ops repository_git_ops = {
        .fetch = git_fetch,
        .head = git_head,
        .check_write = git_check_write,
        .synced = git_synced,
        .set_synced = git_set_synced,
        .log = git_log,
        .has = git_has,
        .checkout = git_checkout_of,
        .discard = git_discard,
        .entry = git_entry_of,
        .publish = git_publish,
};
