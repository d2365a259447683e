/* Refs, commits and where they lead. */
#include "hub-agent/git/repo_internal.h"

/* ---- refs ---- */

struct ref_job {
        const char *name;
        struct git_hash hash;
};

static int look_up_ref(struct repo *r, void *ctx, struct error *err)
{
        struct ref_job *j = ctx;
        git_oid oid;
        int code = git_reference_name_to_id(&oid, r->git, j->name);

        if (code == GIT_ENOTFOUND)
                return error_set(err, ERR_NOT_FOUND, "there is no %s", j->name);
        GIT_TRY(code, j->name);
        j->hash = repo_hash(&oid);
        return 0;
}

int repo_ref(struct repo *r, const char *name, struct git_hash *ret, struct error *err)
{
        struct ref_job j = { .name = name };

        TRY(repo_offload(r, look_up_ref, &j, err));
        *ret = j.hash;
        return 0;
}

static int set_ref(struct repo *r, void *ctx, struct error *err)
{
        const struct ref_job *j = ctx;
        CLEANUP(repo_reference_cleanup) git_reference *made = NULL;
        git_oid oid = repo_oid(&j->hash);

        GIT_TRY(git_reference_create(&made, r->git, j->name, &oid, true, NULL), j->name);
        return 0;
}

int repo_set_ref(struct repo *r, const char *name, const struct git_hash *to, struct error *err)
{
        struct ref_job j = { name, *to };

        return repo_offload(r, set_ref, &j, err);
}

static int drop_ref(struct repo *r, void *ctx, struct error *err)
{
        const struct ref_job *j = ctx;
        int code = git_reference_remove(r->git, j->name);

        if (code != GIT_ENOTFOUND)
                GIT_TRY(code, j->name);
        return 0;
}

int repo_drop_ref(struct repo *r, const char *name, struct error *err)
{
        struct ref_job j = { .name = name };

        return repo_offload(r, drop_ref, &j, err);
}

static int peel(struct repo *r, void *ctx, struct error *err)
{
        struct ref_job *j = ctx;
        CLEANUP(repo_object_cleanup) git_object *found = NULL, *commit = NULL;
        git_oid oid;
        int code = git_hash_parse(j->name, &j->hash, NULL) == 0
                           ? git_oid_fromstr(&oid, j->hash.hex)
                           : git_reference_name_to_id(&oid, r->git, j->name);

        if (code == 0)
                code = git_object_lookup(&found, r->git, &oid, GIT_OBJECT_ANY);
        if (code == 0)
                code = git_object_peel(&commit, found, GIT_OBJECT_COMMIT);
        if (code == GIT_ENOTFOUND)
                return error_set(err, ERR_NOT_FOUND, "there is no commit %s", j->name);
        GIT_TRY(code, j->name);
        j->hash = repo_hash(git_object_id(commit));
        return 0;
}

int repo_commit_of(struct repo *r, const char *name, struct git_hash *ret, struct error *err)
{
        struct ref_job j = { .name = name };

        TRY(repo_offload(r, peel, &j, err));
        *ret = j.hash;
        return 0;
}

bool repo_has(struct repo *r, const struct git_hash *h)
{
        CLEANUP(repo_odb_cleanup) git_odb *odb = NULL;
        git_oid oid = repo_oid(h);

        return git_repository_odb(&odb, r->git) == 0 &&
               git_odb_exists_ext(odb, &oid, GIT_ODB_LOOKUP_NO_REFRESH);
}

/* ---- commits ---- */

static int copy_person(struct arena *arena, const git_signature *s, struct git_person *ret)
{
        *ret = (struct git_person){ .name = arena_strdup(arena, s && s->name ? s->name : ""),
                                    .email = arena_strdup(arena, s && s->email ? s->email : ""),
                                    .when_s = s ? s->when.time : 0,
                                    .offset_min = s ? s->when.offset : 0 };
        return ret->name && ret->email ? 0 : ERR_NO_MEMORY;
}

static int copy_parents(struct arena *arena, git_commit *c, struct git_commit_info *ret)
{
        size_t n = git_commit_parentcount(c);
        struct git_hash *parents = ARENA_NEW_ARRAY(arena, struct git_hash, n + 1);

        if (!parents)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++)
                parents[i] = repo_hash(git_commit_parent_id(c, (unsigned)i));
        ret->parents = parents;
        ret->n_parents = n;
        return 0;
}

static int copy_commit(struct arena *arena, git_commit *c, struct git_commit_info *ret, struct error *err)
{
        const char *message = git_commit_message(c);
        size_t line = strcspn(or_empty(message), "\n");

        ret->at = repo_hash(git_commit_id(c));
        ret->tree = repo_hash(git_commit_tree_id(c));
        ret->message = arena_strdup(arena, or_empty(message));
        ret->subject = arena_strndup(arena, or_empty(message), line);
        if (!ret->message || !ret->subject || copy_person(arena, git_commit_author(c), &ret->author) < 0 ||
            copy_person(arena, git_commit_committer(c), &ret->committer) < 0 ||
            copy_parents(arena, c, ret) < 0)
                return error_no_memory(err);
        return 0;
}

struct commit_job {
        const struct git_hash *commit;
        struct arena *arena;
        struct git_commit_info *ret;
};

static int read_commit(struct repo *r, void *ctx, struct error *err)
{
        const struct commit_job *j = ctx;
        CLEANUP(repo_object_cleanup) git_object *c = NULL;
        git_oid oid = repo_oid(j->commit);

        TRY(repo_look_up(r, &oid, "read a commit", &c, err));
        if (git_object_type(c) != GIT_OBJECT_COMMIT)
                return error_set(err, ERR_NOT_FOUND, "read a commit: %s is none", j->commit->hex);
        return copy_commit(j->arena, (git_commit *)c, j->ret, err);
}

int repo_commit(struct repo *r, const struct git_hash *commit, struct arena *arena,
                struct git_commit_info *ret, struct error *err)
{
        struct commit_job j = { commit, arena, ret };

        return repo_offload(r, read_commit, &j, err);
}

struct kinship {
        const struct git_hash *ancestor, *of;
        bool is;
};

static int find_ancestor(struct repo *r, void *ctx, struct error *err)
{
        struct kinship *k = ctx;
        git_oid ancestor = repo_oid(k->ancestor), of = repo_oid(k->of);

        k->is = git_oid_equal(&ancestor, &of);
        if (k->is || !repo_has(r, k->ancestor))
                return 0;
        int code = git_graph_descendant_of(r->git, &of, &ancestor);

        GIT_TRY(code, "look for an ancestor");
        k->is = code == 1;
        return 0;
}

int repo_is_ancestor(struct repo *r, const struct git_hash *ancestor, const struct git_hash *of, bool *ret,
                     struct error *err)
{
        struct kinship k = { ancestor, of, false };

        TRY(repo_offload(r, find_ancestor, &k, err));
        *ret = k.is;
        return 0;
}

/* ---- logs ---- */

struct log_job {
        const struct git_log *log;
        struct arena *arena;
        struct git_commit_info *at;
        size_t n, room;
        bool more;
};

/* The hash of what is at the path; none: nothing is. */
static int hash_at(git_tree *tree, const char *path, git_oid *ret, struct error *err)
{
        CLEANUP(repo_entry_cleanup) git_tree_entry *e = NULL;
        int code = tree ? git_tree_entry_bypath(&e, tree, path) : GIT_ENOTFOUND;

        *ret = (git_oid){ { 0 } };
        if (code == GIT_ENOTFOUND)
                return 0;
        GIT_TRY(code, path);
        *ret = *git_tree_entry_id(e);
        return 0;
}

static int differ(git_tree *a, git_tree *b, const struct git_log *log, bool *ret, struct error *err)
{
        *ret = false;
        for (size_t i = 0; i < log->n_paths && !*ret; i++) {
                git_oid x, y;

                TRY(hash_at(a, log->paths[i], &x, err));
                TRY(hash_at(b, log->paths[i], &y, err));
                *ret = !git_oid_equal(&x, &y);
        }
        return 0;
}

/* It is about the paths when it is like none of its parents there. */
static int is_about(git_commit *c, const struct git_log *log, bool *ret, struct error *err)
{
        CLEANUP(repo_tree_cleanup) git_tree *tree = NULL;
        unsigned n = git_commit_parentcount(c);

        *ret = true;
        if (log->n_paths == 0)
                return 0;
        GIT_TRY(git_commit_tree(&tree, c), "read a commit");
        if (n == 0)
                return differ(tree, NULL, log, ret, err);
        for (unsigned i = 0; i < n && *ret; i++) {
                CLEANUP(repo_commit_cleanup) git_commit *parent = NULL;
                CLEANUP(repo_tree_cleanup) git_tree *before = NULL;

                GIT_TRY(git_commit_parent(&parent, c, i), "read a commit");
                GIT_TRY(git_commit_tree(&before, parent), "read a commit");
                TRY(differ(tree, before, log, ret, err));
        }
        return 0;
}

static int add(struct log_job *j, git_commit *c, struct error *err)
{
        if (j->n == j->room) {
                size_t room = j->room ? j->room * 2 : 16;
                struct git_commit_info *wider = ARENA_NEW_ARRAY(j->arena, struct git_commit_info, room);

                if (!wider)
                        return error_no_memory(err);
                if (j->n)
                        memcpy(wider, j->at, j->n * sizeof(*wider));
                j->at = wider;
                j->room = room;
        }
        return copy_commit(j->arena, c, &j->at[j->n++], err);
}

static int begin_walk(struct repo *r, const struct git_log *log, git_revwalk **ret, struct error *err)
{
        git_oid until = repo_oid(log->until);

        GIT_TRY(git_revwalk_new(ret, r->git), "look through commits");
        GIT_TRY(git_revwalk_sorting(*ret, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME), "look through commits");
        GIT_TRY(git_revwalk_push(*ret, &until), "look through commits");
        if (log->since && repo_has(r, log->since)) {
                git_oid since = repo_oid(log->since);

                GIT_TRY(git_revwalk_hide(*ret, &since), "look through commits");
        }
        return 0;
}

static int walk_log(struct repo *r, void *ctx, struct error *err)
{
        struct log_job *j = ctx;
        CLEANUP(repo_walker_cleanup) git_revwalk *walker = NULL;
        size_t most = j->log->most ? MIN(j->log->most, (size_t)GIT_COMMITS_MAX) : GIT_COMMITS_MAX;
        git_oid oid;
        int code;

        TRY(begin_walk(r, j->log, &walker, err));
        while ((code = git_revwalk_next(&oid, walker)) == 0) {
                CLEANUP(repo_commit_cleanup) git_commit *c = NULL;
                bool counts;

                GIT_TRY(git_commit_lookup(&c, r->git, &oid), "read a commit");
                TRY(is_about(c, j->log, &counts, err));
                j->more = counts && j->n == most;
                if (j->more)
                        return 0;
                if (counts)
                        TRY(add(j, c, err));
        }
        return code == GIT_ITEROVER ? 0 : repo_fails(err, code, "look through commits");
}

int repo_log(struct repo *r, const struct git_log *log, struct arena *arena,
             const struct git_commit_info **ret, size_t *ret_n, bool *ret_more, struct error *err)
{
        struct log_job j = { .log = log, .arena = arena };

        TRY(repo_offload(r, walk_log, &j, err));
        *ret = j.at;
        *ret_n = j.n;
        if (ret_more)
                *ret_more = j.more;
        return 0;
}
