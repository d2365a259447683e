#include "hub-agent/git/repo_internal.h"

#define CACHE_BYTES (16 << 20)
#define WINDOW_BYTES (8u << 20)
#define MAPPED_BYTES (64u << 20)

/* ---- libgit2 ---- */

/* It counts how often it was begun, and is never ended: its threads' state lives as long as they do. */
int repo_library_begin(struct error *err)
{
        static const int levels[] = { GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL,
                                      GIT_CONFIG_LEVEL_PROGRAMDATA };
        int count = git_libgit2_init();

        if (count < 0)
                return repo_fails(err, count, "begin with Git");
        if (count > 1)
                return 0;
        for (size_t i = 0; i < ARRAY_LEN(levels); i++)
                GIT_TRY(git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], ""),
                        "forget the machine's settings");
        GIT_TRY(git_libgit2_opts(GIT_OPT_SET_TEMPLATE_PATH, ""), "forget the machine's templates");
        git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0); /* the folders are our own */
        git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, (ssize_t)CACHE_BYTES);
        git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, (size_t)WINDOW_BYTES);
        git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, (size_t)MAPPED_BYTES);
        return 0;
}

static enum error_code code_of(int code, const git_error *e)
{
        if (code == GIT_ENOTFOUND)
                return ERR_NOT_FOUND;
        if (code == GIT_EEXISTS)
                return ERR_EXISTS;
        if (code == GIT_EUSER)
                return ERR_TIMEOUT;
        switch (e ? e->klass : GIT_ERROR_NONE) {
        case GIT_ERROR_NOMEMORY:
                return ERR_NO_MEMORY;
        case GIT_ERROR_OS:
        case GIT_ERROR_FILESYSTEM:
                return ERR_SYSTEM;
        default:
                return ERR_INVALID;
        }
}

int repo_fails(struct error *err, int code, const char *what)
{
        const git_error *e = git_error_last();
        enum error_code ours = code_of(code, e);

        if (ours == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (ours == ERR_TIMEOUT)
                return error_set(err, ours, "%s: it takes too long", what);
        return error_set(err, ours, "%s: %s", what, e && e->message ? e->message : "it cannot be done");
}

git_oid repo_oid(const struct git_hash *h)
{
        git_oid oid = { { 0 } };

        (void)git_oid_fromstr(&oid, h->hex);
        return oid;
}

struct git_hash repo_hash(const git_oid *oid)
{
        struct git_hash h;

        git_oid_tostr(h.hex, sizeof(h.hex), oid);
        return h;
}

int repo_signature(const struct git_person *p, git_signature **ret, struct error *err)
{
        GIT_TRY(git_signature_new(ret, p->name, p->email, p->when_s, p->offset_min), "an author's name");
        return 0;
}

/* ---- other threads ---- */

struct job {
        struct repo *repo;
        int (*fn)(struct repo *r, void *ctx, struct error *err);
        void *ctx;
        struct error err;
        int code;
        struct timer timer;
};

static void run(void *ctx)
{
        struct job *j = ctx;

        j->code = j->fn(j->repo, j->ctx, &j->err);
}

int repo_offload(struct repo *r, int (*fn)(struct repo *r, void *ctx, struct error *err), void *ctx,
                 struct error *err)
{
        struct job j = { .repo = r, .fn = fn, .ctx = ctx };

        TRY(offload(r->world->loop, run, &j, err));
        if (j.code < 0 && err)
                *err = j.err;
        return j.code;
}

static void stop(struct timer *t)
{
        struct job *j = container_of(t, struct job, timer);

        __atomic_store_n(&j->repo->stop, true, __ATOMIC_RELAXED);
}

bool repo_must_stop(const struct repo *r)
{
        return __atomic_load_n(&r->stop, __ATOMIC_RELAXED);
}

int repo_offload_until(struct repo *r, int (*fn)(struct repo *r, void *ctx, struct error *err), void *ctx,
                       int64_t deadline_ms, struct error *err)
{
        struct job j = { .repo = r, .fn = fn, .ctx = ctx };

        if (timer_start(r->world->loop, &j.timer, deadline_ms, stop) < 0)
                return error_no_memory(err);
        int code = offload(r->world->loop, run, &j, err);

        timer_stop(&j.timer);
        r->stop = false;
        TRY(code);
        if (j.code < 0 && err)
                *err = j.err;
        return j.code;
}

/* ---- life ---- */

struct opening {
        const char *folder;
        bool create;
};

static int create(struct repo *r, const char *folder, struct error *err)
{
        git_repository_init_options o;

        GIT_TRY(git_repository_init_options_init(&o, GIT_REPOSITORY_INIT_OPTIONS_VERSION),
                "make a repository");
        o.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_NO_REINIT | GIT_REPOSITORY_INIT_MKDIR |
                  GIT_REPOSITORY_INIT_MKPATH;
        o.mode = 0700;
        o.initial_head = "main";
        GIT_TRY(git_repository_init_ext(&r->git, folder, &o), "make a repository");
        return 0;
}

static int open_or_create(struct repo *r, void *ctx, struct error *err)
{
        const struct opening *o = ctx;

        TRY(repo_library_begin(err));
        if (o->create)
                return create(r, o->folder, err);
        GIT_TRY(git_repository_open_ext(&r->git, o->folder,
                                        GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_BARE, NULL),
                "open a repository");
        return 0;
}

static int begin(struct world *w, struct opening o, struct repo **ret, struct error *err)
{
        struct repo *r = NEW(struct repo);

        if (!r)
                return error_no_memory(err);
        r->world = w;
        int code = repo_offload(r, open_or_create, &o, err);

        if (code < 0)
                mem_free(r);
        else
                *ret = r;
        return code;
}

int repo_create(struct world *w, const char *folder, struct repo **ret, struct error *err)
{
        return begin(w, (struct opening){ folder, true }, ret, err);
}

int repo_open(struct world *w, const char *folder, struct repo **ret, struct error *err)
{
        return begin(w, (struct opening){ folder, false }, ret, err);
}

struct repo *repo_close(struct repo *r)
{
        if (!r)
                return NULL;
        git_repository_free(r->git);
        mem_free(r);
        return NULL;
}
