/* Packs: into a repository, and out of it. */
#include "hub-agent/git/repo_internal.h"

#define PIECE (256u << 10)

/* ---- into it ---- */

static int on_progress(const git_indexer_progress *stats, void *ctx)
{
        return repo_must_stop(ctx) ? GIT_EUSER : 0;
}

static int begin_indexer(struct repo *r, void *ctx, struct error *err)
{
        struct pack_intake *p = ctx;
        CLEANUP(repo_odb_cleanup) git_odb *odb = NULL;
        git_indexer_options o;
        AUTO_FREE char *folder = mem_printf("%sobjects/pack", git_repository_path(r->git));

        if (!folder)
                return error_no_memory(err);
        GIT_TRY(git_indexer_options_init(&o, GIT_INDEXER_OPTIONS_VERSION), "take a pack");
        o.progress_cb = on_progress;
        o.progress_cb_payload = r;
        GIT_TRY(git_repository_odb(&odb, r->git), "take a pack");
        GIT_TRY(git_indexer_new(&p->indexer, folder, 0600, odb, &o), "take a pack");
        return 0;
}

int pack_intake_begin(struct pack_intake *p, struct repo *into, uint64_t pack_bytes, int64_t deadline_ms,
                      struct error *err)
{
        *p = (struct pack_intake){ .repo = into,
                                   .deadline_ms = deadline_ms,
                                   .limits = { .pack_bytes = pack_bytes,
                                               .object_bytes = GIT_OBJECT_MAX,
                                               .whole_bytes = GIT_WHOLE_MAX,
                                               .all_bytes = pack_bytes * GIT_UNPACKED_FACTOR,
                                               .objects = GIT_OBJECTS_MAX } };
        buf_init(&p->waiting, 2 * PIECE);
        pack_scan_begin(&p->scan, &p->limits);
        return repo_offload(into, begin_indexer, p, err);
}

static int take_piece(struct repo *r, void *ctx, struct error *err)
{
        struct pack_intake *p = ctx;

        TRY(pack_scan_feed(&p->scan, p->waiting.data, p->waiting.len, err));
        GIT_TRY(git_indexer_append(p->indexer, p->waiting.data, p->waiting.len, &p->progress), "take a pack");
        buf_clear(&p->waiting);
        return 0;
}

static int flush(struct pack_intake *p, struct error *err)
{
        return p->waiting.len == 0 ? 0 : repo_offload_until(p->repo, take_piece, p, p->deadline_ms, err);
}

int pack_intake_feed(struct pack_intake *p, const void *data, size_t n, struct error *err)
{
        while (n > 0) {
                size_t take = MIN(n, (size_t)PIECE - p->waiting.len);

                if (buf_append(&p->waiting, data, take) < 0)
                        return error_no_memory(err);
                data = (const char *)data + take;
                n -= take;
                if (p->waiting.len == PIECE)
                        TRY(flush(p, err));
        }
        return 0;
}

static int commit_pack(struct repo *r, void *ctx, struct error *err)
{
        struct pack_intake *p = ctx;
        CLEANUP(repo_odb_cleanup) git_odb *odb = NULL;

        GIT_TRY(git_indexer_commit(p->indexer, &p->progress), "take a pack");
        GIT_TRY(git_repository_odb(&odb, r->git), "take a pack");
        GIT_TRY(git_odb_refresh(odb), "take a pack");
        return 0;
}

int pack_intake_end(struct pack_intake *p, struct error *err)
{
        TRY(flush(p, err));
        TRY(pack_scan_end(&p->scan, err));
        if (p->scan.objects == 0)
                return 0; /* which libgit2 does not take for a pack */
        return repo_offload_until(p->repo, commit_pack, p, p->deadline_ms, err);
}

void pack_intake_free(struct pack_intake *p)
{
        git_indexer_free(p->indexer);
        pack_scan_free(&p->scan);
        buf_free(&p->waiting);
}

/* ---- out of it ---- */

static int append_piece(void *data, size_t n, void *ctx)
{
        return buf_append(ctx, data, n);
}

/* A tag is an object too, and so is what it is of. */
static int add_object(struct repo *r, git_packbuilder *builder, git_revwalk *walker, const struct git_hash *h,
                      struct error *err)
{
        CLEANUP(repo_object_cleanup) git_object *object = NULL, *commit = NULL;
        git_oid oid = repo_oid(h);

        GIT_TRY(git_object_lookup(&object, r->git, &oid, GIT_OBJECT_ANY), "make a pack");
        GIT_TRY(git_object_peel(&commit, object, GIT_OBJECT_COMMIT), "make a pack");
        if (git_object_type(object) == GIT_OBJECT_TAG)
                GIT_TRY(git_packbuilder_insert(builder, &oid, NULL), "make a pack");
        GIT_TRY(git_revwalk_push(walker, git_object_id(commit)), "make a pack");
        return 0;
}

static int hide(struct repo *r, git_revwalk *walker, const struct git_hash *h, struct error *err)
{
        CLEANUP(repo_object_cleanup) git_object *object = NULL, *commit = NULL;
        git_oid oid = repo_oid(h);

        if (git_object_lookup(&object, r->git, &oid, GIT_OBJECT_ANY) < 0 ||
            git_object_peel(&commit, object, GIT_OBJECT_COMMIT) < 0)
                return 0; /* we do not have it, or it is no commit */
        GIT_TRY(git_revwalk_hide(walker, git_object_id(commit)), "make a pack");
        return 0;
}

static int fill_pack(struct repo *r, git_packbuilder *builder, const struct pack_order *o, struct error *err)
{
        CLEANUP(repo_walker_cleanup) git_revwalk *walker = NULL;

        GIT_TRY(git_revwalk_new(&walker, r->git), "make a pack");
        for (size_t i = 0; i < o->n_to; i++)
                TRY(add_object(r, builder, walker, &o->to[i], err));
        for (size_t i = 0; i < o->n_has; i++)
                TRY(hide(r, walker, &o->has[i], err));
        GIT_TRY(git_packbuilder_insert_walk(builder, walker), "make a pack");
        int code = git_packbuilder_foreach(builder, append_piece, o->into);

        TRY(buf_status(o->into, err, "what is to be pushed"));
        GIT_TRY(code, "make a pack");
        return 0;
}

static int make_pack(struct repo *r, void *ctx, struct error *err)
{
        git_packbuilder *builder = NULL;
        int code = git_packbuilder_new(&builder, r->git);

        if (code < 0)
                return repo_fails(err, code, "make a pack");
        git_packbuilder_set_threads(builder, 1);
        code = fill_pack(r, builder, ctx, err);
        git_packbuilder_free(builder);
        return code;
}

int repo_pack(struct repo *r, const struct pack_order *o, int64_t deadline_ms, struct error *err)
{
        return repo_offload_until(r, make_pack, (void *)(uintptr_t)o, deadline_ms, err);
}

/* ---- what we have ---- */

struct haves {
        struct git_hash *at;
        size_t n, most;
};

static int push_tip(const char *name, void *ctx)
{
        (void)git_revwalk_push_ref(ctx, name); /* of a tag that is of no commit: no matter */
        return 0;
}

static int find_haves(struct repo *r, void *ctx, struct error *err)
{
        struct haves *h = ctx;
        CLEANUP(repo_walker_cleanup) git_revwalk *walker = NULL;
        git_reference_iterator *refs = NULL;
        const char *name;
        git_oid oid;

        GIT_TRY(git_revwalk_new(&walker, r->git), "look through commits");
        GIT_TRY(git_revwalk_sorting(walker, GIT_SORT_TIME), "look through commits");
        GIT_TRY(git_reference_iterator_new(&refs, r->git), "look through refs");
        while (git_reference_next_name(&name, refs) == 0) {
                if (h->n < h->most / 2 && git_reference_name_to_id(&oid, r->git, name) == 0)
                        h->at[h->n++] = repo_hash(&oid);
                push_tip(name, walker);
        }
        git_reference_iterator_free(refs);
        while (h->n < h->most && git_revwalk_next(&oid, walker) == 0)
                h->at[h->n++] = repo_hash(&oid);
        return 0;
}

int repo_haves(struct repo *r, struct git_hash *ret, size_t most, size_t *ret_n, struct error *err)
{
        struct haves h = { ret, 0, most };

        TRY(repo_offload(r, find_haves, &h, err));
        *ret_n = h.n;
        return 0;
}
