/* Trees, as files and folders. */
#include "hub-agent/git/repo_internal.h"

#include <strings.h>

#define PATH_BYTES 16384
#define TAGS_MAX 16 /* of tags */

bool repo_name_is_fine(const char *name, size_t n)
{
        if (n == 0 || memchr(name, '/', n) || (n == 1 && name[0] == '.') ||
            (n == 2 && memcmp(name, "..", 2) == 0))
                return false;
        return n != 4 || strncasecmp(name, ".git", 4) != 0;
}

/* libgit2 reads an object whole before it says how large it is. */
int repo_look_up(struct repo *r, const git_oid *oid, const char *what, git_object **ret, struct error *err)
{
        CLEANUP(repo_odb_cleanup) git_odb *odb = NULL;
        git_object_t type;
        uint64_t most;
        size_t n;

        GIT_TRY(git_repository_odb(&odb, r->git), what);
        GIT_TRY(git_odb_read_header(&n, &type, odb, oid), what);
        most = type == GIT_OBJECT_BLOB   ? GIT_OBJECT_MAX
               : type == GIT_OBJECT_TREE ? GIT_TREE_MAX
                                         : GIT_TEXT_MAX;
        if (n > most)
                return error_set(err, ERR_LIMIT, "%s: a %s of %zu bytes: more than %llu", what,
                                 git_object_type2string(type), n, (unsigned long long)most);
        GIT_TRY(git_object_lookup(ret, r->git, oid, GIT_OBJECT_ANY), what);
        return 0;
}

/* NULL: it leads no further. */
static const git_oid *next_of(const git_object *o)
{
        switch (git_object_type(o)) {
        case GIT_OBJECT_COMMIT:
                return git_commit_tree_id((const git_commit *)o);
        case GIT_OBJECT_TAG:
                return git_tag_target_id((const git_tag *)o);
        default:
                return NULL;
        }
}

int repo_tree_of(struct repo *r, const struct git_hash *of, git_tree **ret, struct error *err)
{
        git_oid oid = repo_oid(of);

        for (int i = 0; i < TAGS_MAX; i++) {
                CLEANUP(repo_object_cleanup) git_object *object = NULL;

                TRY(repo_look_up(r, &oid, "read a tree", &object, err));
                if (git_object_type(object) == GIT_OBJECT_TREE) {
                        *ret = (git_tree *)TAKE_PTR(object);
                        return 0;
                }
                const git_oid *next = next_of(object);

                if (!next)
                        return error_set(err, ERR_INVALID, "read a tree: %s is none", of->hex);
                oid = *next;
        }
        return error_set(err, ERR_LIMIT, "read a tree: more than %d tags of tags", TAGS_MAX);
}

/* ---- one entry ---- */

static int kind_of(const git_tree_entry *e, enum git_entry_kind *ret)
{
        switch (git_tree_entry_filemode(e)) {
        case GIT_FILEMODE_BLOB:
                *ret = GIT_FILE;
                return 0;
        case GIT_FILEMODE_BLOB_EXECUTABLE:
                *ret = GIT_EXECUTABLE;
                return 0;
        case GIT_FILEMODE_LINK:
                *ret = GIT_LINK;
                return 0;
        case GIT_FILEMODE_TREE:
                *ret = GIT_FOLDER;
                return 0;
        case GIT_FILEMODE_COMMIT:
                *ret = GIT_SUBMODULE;
                return 0;
        default:
                return ERR_INVALID;
        }
}

static bool has_data(enum git_entry_kind kind)
{
        return kind == GIT_FILE || kind == GIT_EXECUTABLE || kind == GIT_LINK;
}

static int size_of(git_odb *odb, const git_tree_entry *e, const char *path, uint64_t *ret, struct error *err)
{
        git_object_t type;
        size_t n;

        GIT_TRY(git_odb_read_header(&n, &type, odb, git_tree_entry_id(e)), path);
        if (type != GIT_OBJECT_BLOB)
                return error_set(err, ERR_INVALID, "%s: it is no file, though its tree says so", path);
        *ret = n;
        return 0;
}

static int describe(git_odb *odb, const git_tree_entry *e, const char *path, struct git_entry *ret,
                    struct error *err)
{
        *ret = (struct git_entry){ .path = path, .at = repo_hash(git_tree_entry_id(e)) };
        if (kind_of(e, &ret->kind) < 0)
                return error_set(err, ERR_INVALID, "%s: a kind of file that Git does not have", path);
        return has_data(ret->kind) ? size_of(odb, e, path, &ret->size, err) : 0;
}

/* ---- walks ---- */

struct walk_job {
        const struct git_hash *of;
        const struct git_walk *walk;
        git_odb *odb;
        struct buf path;
        unsigned depth;
        size_t n;
        uint64_t bytes;
        uint64_t tree_bytes; /* of the folders on the way */
};

static int walk_tree(struct repo *r, struct walk_job *j, git_tree *tree, struct error *err);

static int take_data(struct repo *r, struct walk_job *j, const struct git_entry *e, struct error *err)
{
        CLEANUP(repo_blob_cleanup) git_blob *blob = NULL;
        uint64_t most = j->walk->file_bytes ? j->walk->file_bytes : GIT_OBJECT_MAX;
        git_oid oid = repo_oid(&e->at);

        if (e->size > most)
                return error_set(err, ERR_LIMIT, "%s: a file of %llu bytes: more than %llu", e->path,
                                 (unsigned long long)e->size, (unsigned long long)most);
        j->bytes += e->size;
        if (j->walk->all_bytes && j->bytes > j->walk->all_bytes)
                return error_set(err, ERR_LIMIT, "%s: all files together exceed %llu bytes", e->path,
                                 (unsigned long long)j->walk->all_bytes);
        GIT_TRY(git_blob_lookup(&blob, r->git, &oid), e->path);
        const struct slice data = { git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob) };

        return j->walk->take(j->walk->ctx, e, data, err);
}

static int walk_folder(struct repo *r, struct walk_job *j, const git_tree_entry *e, struct error *err)
{
        CLEANUP(repo_tree_cleanup) git_tree *tree = NULL;

        if (j->depth >= GIT_DEPTH_MAX)
                return error_set(err, ERR_LIMIT, "%s: more than %d folders in each other", j->path.data,
                                 GIT_DEPTH_MAX);
        const struct git_hash of = repo_hash(git_tree_entry_id(e));

        TRY(repo_tree_of(r, &of, &tree, err));
        j->depth++;
        int code = walk_tree(r, j, tree, err);

        j->depth--;
        return code;
}

static int walk_entry(struct repo *r, struct walk_job *j, const git_tree_entry *e, struct error *err)
{
        const struct git_walk *w = j->walk;
        struct git_entry entry;

        TRY(describe(j->odb, e, j->path.data, &entry, err));
        if (w->wants && !w->wants(w->ctx, &entry))
                return 0;
        if (has_data(entry.kind))
                return take_data(r, j, &entry, err);
        TRY(w->take(w->ctx, &entry, (struct slice){ 0 }, err));
        bool enters = entry.kind == GIT_FOLDER || (w->into_submodules && repo_has(r, &entry.at));

        return enters ? walk_folder(r, j, e, err) : 0;
}

/* One of two would hide the other from whoever looks. */
static int check_name(const struct walk_job *j, const git_tree *tree, const git_tree_entry *e,
                      struct error *err)
{
        const char *name = git_tree_entry_name(e);

        if (!repo_name_is_fine(name, strlen(name)))
                return error_set(err, ERR_INVALID, "'%.100s' below '%.200s' is a name that no file may have",
                                 name, or_empty(j->path.data));
        if (git_tree_entry_byname(tree, name) != e)
                return error_set(err, ERR_INVALID, "two entries below '%.200s' have one name, '%.100s'",
                                 or_empty(j->path.data), name);
        return 0;
}

static int walk_entries(struct repo *r, struct walk_job *j, git_tree *tree, struct error *err)
{
        size_t before = j->path.len, n = git_tree_entrycount(tree);

        j->n += n;
        if (j->n > GIT_FILES_MAX)
                return error_set(err, ERR_LIMIT, "more than %d files and folders", GIT_FILES_MAX);
        for (size_t i = 0; i < n; i++) {
                const git_tree_entry *e = git_tree_entry_byindex(tree, i);

                if (repo_must_stop(r))
                        return error_set(err, ERR_TIMEOUT, "reading its files takes too long");
                TRY(check_name(j, tree, e, err));
                if (before)
                        (void)buf_append_char(&j->path, '/');
                (void)buf_append_str(&j->path, git_tree_entry_name(e));
                TRY(buf_status(&j->path, err, "a path in the repository"));
                TRY(walk_entry(r, j, e, err));
                buf_truncate(&j->path, before);
        }
        return 0;
}

/* Those on the way are all in memory. */
static int walk_tree(struct repo *r, struct walk_job *j, git_tree *tree, struct error *err)
{
        git_object_t type;
        size_t n;

        GIT_TRY(git_odb_read_header(&n, &type, j->odb, git_tree_id(tree)), "read a tree");
        j->tree_bytes += n;
        if (j->tree_bytes > GIT_TREES_MAX)
                return error_set(err, ERR_LIMIT, "%.200s: names of folders in each other exceed %u bytes",
                                 or_empty(j->path.data), GIT_TREES_MAX);
        int code = walk_entries(r, j, tree, err);

        j->tree_bytes -= n;
        return code;
}

/* The tree to begin with; its path is put in front of all. */
static int find_top(struct repo *r, struct walk_job *j, git_tree **ret, struct error *err)
{
        CLEANUP(repo_tree_cleanup) git_tree *top = NULL;
        CLEANUP(repo_entry_cleanup) git_tree_entry *e = NULL;
        const char *below = or_empty(j->walk->below);

        TRY(repo_tree_of(r, j->of, &top, err));
        if (!*below) {
                *ret = TAKE_PTR(top);
                return 0;
        }
        int code = git_tree_entry_bypath(&e, top, below);

        if (code == GIT_ENOTFOUND || (code == 0 && git_tree_entry_type(e) != GIT_OBJECT_TREE))
                return error_set(err, ERR_NOT_FOUND, "%s: no such folder", below);
        GIT_TRY(code, below);
        GIT_TRY(git_tree_lookup(ret, r->git, git_tree_entry_id(e)), below);
        return buf_append_str(&j->path, below) < 0 ? buf_status(&j->path, err, "a path in the repository")
                                                   : 0;
}

static int walk(struct repo *r, void *ctx, struct error *err)
{
        struct walk_job *j = ctx;
        CLEANUP(repo_tree_cleanup) git_tree *top = NULL;

        GIT_TRY(git_repository_odb(&j->odb, r->git), "read a tree");
        TRY(find_top(r, j, &top, err));
        return walk_tree(r, j, top, err);
}

int repo_walk(struct repo *r, const struct git_hash *of, const struct git_walk *w, struct error *err)
{
        struct walk_job j = { .of = of, .walk = w };

        buf_init(&j.path, PATH_BYTES);
        int code = repo_offload_until(r, walk, &j, w->deadline_ms ? w->deadline_ms : DEADLINE_NONE, err);

        git_odb_free(j.odb);
        buf_free(&j.path);
        return code;
}

/* ---- by path ---- */

struct entry_job {
        const struct git_hash *of;
        const char *path;
        struct arena *arena;
        struct git_entry entry;
        bool read;
        size_t max;
        struct slice data;
};

static int read_data(struct repo *r, struct entry_job *j, struct error *err)
{
        CLEANUP(repo_blob_cleanup) git_blob *blob = NULL;
        git_oid oid = repo_oid(&j->entry.at);

        if (j->entry.kind != GIT_FILE && j->entry.kind != GIT_EXECUTABLE)
                return error_set(err, ERR_INVALID, "%s: not a file", j->path);
        if (j->entry.size > j->max)
                return error_set(err, ERR_LIMIT, "%s: a file of %llu bytes: more than %zu", j->path,
                                 (unsigned long long)j->entry.size, j->max);
        GIT_TRY(git_blob_lookup(&blob, r->git, &oid), j->path);
        j->data.len = (size_t)git_blob_rawsize(blob);
        j->data.data = arena_strndup(j->arena, git_blob_rawcontent(blob), j->data.len);
        return j->data.data ? 0 : error_no_memory(err);
}

static int find_entry(struct repo *r, void *ctx, struct error *err)
{
        struct entry_job *j = ctx;
        CLEANUP(repo_tree_cleanup) git_tree *top = NULL;
        CLEANUP(repo_entry_cleanup) git_tree_entry *e = NULL;
        CLEANUP(repo_odb_cleanup) git_odb *odb = NULL;

        TRY(repo_tree_of(r, j->of, &top, err));
        int code = git_tree_entry_bypath(&e, top, j->path);

        if (code == GIT_ENOTFOUND)
                return error_set(err, ERR_NOT_FOUND, "%s: no such file", j->path);
        GIT_TRY(code, j->path);
        GIT_TRY(git_repository_odb(&odb, r->git), "read a tree");
        TRY(describe(odb, e, j->path, &j->entry, err));
        return j->read ? read_data(r, j, err) : 0;
}

int repo_entry(struct repo *r, const struct git_hash *of, const char *path, struct arena *arena,
               struct git_entry *ret, struct error *err)
{
        struct entry_job j = { .of = of, .path = path, .arena = arena };

        TRY(repo_offload(r, find_entry, &j, err));
        j.entry.path = arena_strdup(arena, path);
        *ret = j.entry;
        return ret->path ? 0 : error_no_memory(err);
}

int repo_file(struct repo *r, const struct git_hash *of, const char *path, size_t max, struct arena *arena,
              struct slice *ret, struct error *err)
{
        struct entry_job j = { .of = of, .path = path, .arena = arena, .read = true, .max = max };

        TRY(repo_offload(r, find_entry, &j, err));
        *ret = j.data;
        return 0;
}
