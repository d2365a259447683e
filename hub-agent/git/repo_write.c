/* New commits, tags and notes. */
#include "hub-agent/git/repo_internal.h"

/* ---- trees ---- */

static int check_path(const char *path, struct error *err)
{
        struct slice rest = slice_of(path), part;
        bool more = true;

        while (more) {
                more = slice_cut(&rest, '/', &part);
                if (!repo_name_is_fine(part.data, part.len))
                        return error_set(err, ERR_INVALID, "'%.200s' is no path that a file may have", path);
        }
        return 0;
}

static int remove_path(git_index *index, const char *path, struct error *err)
{
        int code = git_index_remove(index, path, 0);

        if (code < 0 && code != GIT_ENOTFOUND)
                return repo_fails(err, code, path);
        GIT_TRY(git_index_remove_directory(index, path, 0), path);
        return 0;
}

static int put_file(struct repo *r, git_index *index, const struct git_change *c, struct error *err)
{
        git_index_entry e = { .path = c->path,
                              .mode = c->kind == GIT_EXECUTABLE ? GIT_FILEMODE_BLOB_EXECUTABLE
                                      : c->kind == GIT_LINK     ? GIT_FILEMODE_LINK
                                                                : GIT_FILEMODE_BLOB };

        GIT_TRY(git_blob_create_from_buffer(&e.id, r->git, c->data.data, c->data.len), c->path);
        GIT_TRY(git_index_add(index, &e), c->path);
        return 0;
}

static int make_tree(struct repo *r, git_tree *base, const struct git_new_commit *n, git_oid *ret,
                     struct error *err)
{
        CLEANUP(repo_index_cleanup) git_index *index = NULL;

        GIT_TRY(git_index_new(&index), "make a commit");
        if (base)
                GIT_TRY(git_index_read_tree(index, base), "make a commit");
        for (size_t i = 0; i < n->n_changes; i++) {
                const struct git_change *c = &n->changes[i];

                TRY(check_path(c->path, err));
                TRY(c->removed ? remove_path(index, c->path, err) : put_file(r, index, c, err));
        }
        GIT_TRY(git_index_write_tree_to(ret, index, r->git), "make a commit");
        return 0;
}

/* ---- commits ---- */

struct commit_job {
        const struct git_new_commit *commit;
        struct git_hash made;
        bool same;
};

static int write_commit(struct repo *r, struct commit_job *j, git_commit *parent, const git_oid *tree_id,
                        struct error *err)
{
        CLEANUP(repo_signature_cleanup) git_signature *author = NULL, *committer = NULL;
        CLEANUP(repo_tree_cleanup) git_tree *tree = NULL;
        const git_commit *parents[] = { parent };
        git_oid made;

        TRY(repo_signature(&j->commit->author, &author, err));
        TRY(repo_signature(&j->commit->committer, &committer, err));
        GIT_TRY(git_tree_lookup(&tree, r->git, tree_id), "make a commit");
        GIT_TRY(git_commit_create(&made, r->git, NULL, author, committer, NULL, j->commit->message, tree,
                                  parent ? 1 : 0, parents),
                "make a commit");
        j->made = repo_hash(&made);
        return 0;
}

static int make_commit(struct repo *r, void *ctx, struct error *err)
{
        struct commit_job *j = ctx;
        CLEANUP(repo_commit_cleanup) git_commit *parent = NULL;
        CLEANUP(repo_tree_cleanup) git_tree *base = NULL;
        git_oid tree, oid;

        if (!git_hash_is_none(&j->commit->parent)) {
                oid = repo_oid(&j->commit->parent);
                GIT_TRY(git_commit_lookup(&parent, r->git, &oid), "make a commit");
                GIT_TRY(git_commit_tree(&base, parent), "make a commit");
        }
        TRY(make_tree(r, base, j->commit, &tree, err));
        j->same = base && git_oid_equal(git_tree_id(base), &tree);
        if (j->same) {
                j->made = j->commit->parent;
                return 0;
        }
        return write_commit(r, j, parent, &tree, err);
}

int repo_make_commit(struct repo *r, const struct git_new_commit *c, struct git_hash *ret, bool *ret_same,
                     struct error *err)
{
        struct commit_job j = { .commit = c };

        TRY(repo_offload(r, make_commit, &j, err));
        *ret = j.made;
        if (ret_same)
                *ret_same = j.same;
        return 0;
}

/* ---- tags ---- */

struct tag_job {
        const struct git_new_tag *tag;
        struct git_hash made;
};

static int make_tag(struct repo *r, void *ctx, struct error *err)
{
        struct tag_job *j = ctx;
        CLEANUP(repo_signature_cleanup) git_signature *tagger = NULL;
        CLEANUP(repo_object_cleanup) git_object *of = NULL;
        git_oid oid = repo_oid(&j->tag->of), made;

        TRY(repo_signature(&j->tag->tagger, &tagger, err));
        GIT_TRY(git_object_lookup(&of, r->git, &oid, GIT_OBJECT_ANY), "make a tag");
        GIT_TRY(git_tag_annotation_create(&made, r->git, j->tag->name, of, tagger, j->tag->message),
                "make a tag");
        j->made = repo_hash(&made);
        return 0;
}

int repo_make_tag(struct repo *r, const struct git_new_tag *t, struct git_hash *ret, struct error *err)
{
        struct tag_job j = { .tag = t };

        TRY(repo_offload(r, make_tag, &j, err));
        *ret = j.made;
        return 0;
}

/* ---- notes ---- */

struct note_job {
        const struct git_new_note *note;
        struct git_hash made;
};

static int make_note(struct repo *r, void *ctx, struct error *err)
{
        struct note_job *j = ctx;
        CLEANUP(repo_signature_cleanup) git_signature *author = NULL;
        CLEANUP(repo_commit_cleanup) git_commit *parent = NULL;
        git_oid of = repo_oid(&j->note->of), oid, made;

        TRY(repo_signature(&j->note->author, &author, err));
        if (!git_hash_is_none(&j->note->parent)) {
                oid = repo_oid(&j->note->parent);
                GIT_TRY(git_commit_lookup(&parent, r->git, &oid), "make a note");
        }
        GIT_TRY(git_note_commit_create(&made, NULL, r->git, parent, author, author, &of, j->note->text, true),
                "make a note");
        j->made = repo_hash(&made);
        return 0;
}

int repo_make_note(struct repo *r, const struct git_new_note *n, struct git_hash *ret, struct error *err)
{
        struct note_job j = { .note = n };

        TRY(repo_offload(r, make_note, &j, err));
        *ret = j.made;
        return 0;
}

struct note_look {
        const struct git_hash *notes, *of;
        struct arena *arena;
        const char *text;
};

static int read_note(struct repo *r, void *ctx, struct error *err)
{
        struct note_look *j = ctx;
        CLEANUP(repo_commit_cleanup) git_commit *notes = NULL;
        git_oid at = repo_oid(j->notes), of = repo_oid(j->of);
        git_note *note = NULL;

        GIT_TRY(git_commit_lookup(&notes, r->git, &at), "read notes");
        int code = git_note_commit_read(&note, r->git, notes, &of);

        if (code == GIT_ENOTFOUND)
                return error_set(err, ERR_NOT_FOUND, "commit %s has no note", j->of->hex);
        GIT_TRY(code, "read notes");
        j->text = arena_strdup(j->arena, git_note_message(note));
        git_note_free(note);
        return j->text ? 0 : error_no_memory(err);
}

int repo_note(struct repo *r, const struct git_hash *notes, const struct git_hash *of, struct arena *arena,
              const char **ret, struct error *err)
{
        struct note_look j = { notes, of, arena, NULL };

        TRY(repo_offload(r, read_note, &j, err));
        *ret = j.text;
        return 0;
}
