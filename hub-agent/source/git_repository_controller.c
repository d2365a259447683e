/* Fetches what a GitRepository names, and keeps it as an archive. spec/helm-chart.md 12.1. */
#include "common/base/memory.h"
#include "hub-agent/source/git_source.h"

#define RECONCILE_MAX_MS 3600000
#define SUBJECT_CHARS 50

static const struct git_repository_spec *spec_of(const struct object *o)
{
        static const struct git_repository_spec none;
        const struct git_repository *r = (const struct git_repository *)o;

        return r->spec ? r->spec : &none;
}

/* ---- failures ---- */

static bool is_refusal(const struct error *err)
{
        return err->code == ERR_UNAUTHORIZED ||
               (err->code == ERR_FORBIDDEN && !text_equal(err->reason, HTTP_REASON_ADDRESS));
}

/* Paths of a repository are any bytes; a status holds characters. */
static void clean(char *text)
{
        for (size_t left = strlen(text); left > 0;) {
                size_t n = text_utf8_length(text, left);

                if (n == 0)
                        *text = '?';
                n = n ? n : 1;
                text += n;
                left -= n;
        }
}

int git_pass_fails(struct git_pass *g)
{
        clean(g->pass->rc->err->text);
        return source_fails(g->pass, is_refusal(g->pass->rc->err) ? &failing_git_refused : &failing_git);
}

/* The first field that is set and not acted on. */
static const char *unsupported(const struct git_repository_spec *s)
{
        if (!text_empty(s->provider) && !text_equal(s->provider, "generic"))
                return "spec.provider";
        if (!text_empty(s->service_account_name))
                return "spec.serviceAccountName";
        if (s->include.n > 0)
                return "spec.include";
        if (s->verify)
                return "spec.verify";
        if (s->proxy_secret_ref && text_starts_with(or_empty(s->url), "ssh://"))
                return "spec.proxySecretRef of an ssh URL";
        return NULL;
}

static int check_spec(struct git_pass *g)
{
        struct reconcile *rc = g->pass->rc;
        const char *field = unsupported(g->spec), *folder = git_sparse_problem(&g->spec->sparse_checkout);

        if (field) {
                error_set(rc->err, ERR_UNSUPPORTED, "%s is not supported", field);
                return source_fails(g->pass, &failing_provider);
        }
        if (folder) {
                error_set(rc->err, ERR_INVALID,
                          "spec.sparseCheckout: '%.200s' is not the path of a folder of the repository",
                          folder);
                return source_fails(g->pass, &failing_git_path);
        }
        if (remote_check_url(or_empty(g->spec->url), rc->err) < 0) {
                error_wrap(rc->err, "invalid Git repository URL");
                return source_fails(g->pass, &failing_url);
        }
        return 0;
}

/* ---- what is there already ---- */

static bool equal_lists(const struct string_list *a, const struct string_list *b)
{
        if (a->n != b->n)
                return false;
        for (size_t i = 0; i < a->n; i++)
                if (!text_equal(a->at[i], b->at[i]))
                        return false;
        return true;
}

/* The archive is made of what the spec says now. */
static bool is_of_spec(const struct git_pass *g)
{
        const struct source_status *s = g->pass->run.status;

        return text_equal(or_empty(s->observed_ignore), or_empty(g->spec->ignore)) &&
               s->observed_recurse_submodules.value == g->spec->recurse_submodules.value &&
               equal_lists(&s->observed_sparse_checkout, &g->spec->sparse_checkout);
}

static int is_unchanged(struct git_pass *g, const struct git_choice *c, bool *ret)
{
        struct source_pass *p = g->pass;
        const struct source_artifact *a = p->run.status->artifact;
        const struct source_record *m = source_record_of(p);
        const char *revision = git_revision(&c->at[0], p->rc->arena),
                   *marks = git_choice_marks(c, p->rc->arena);

        if (!revision || !marks)
                return error_no_memory(p->rc->err);
        *ret = a && is_of_spec(g) &&
               (c->n == 1 ? text_equal(a->revision, revision)
                          : m && text_equal(m->tag, marks) && text_equal(m->modified, a->revision));
        return 0;
}

static void remember(struct git_pass *g, const struct git_choice *c, const char *revision)
{
        struct source_record *m = source_record_of(g->pass);
        const char *marks = git_choice_marks(c, g->pass->rc->arena);

        if (!m || !marks)
                return;
        mem_free(m->tag);
        mem_free(m->modified);
        m->tag = mem_strdup(marks);
        m->modified = mem_strdup(revision);
}

/* ---- fetching ---- */

/* By the one agent that leads: what an earlier one left there goes. */
static int open_work(struct git_pass *g)
{
        struct sources *s = g->pass->sources;
        struct reconcile *rc = g->pass->rc;

        if (s->work)
                return 0;
        if (!s->options->work_folder)
                return error_set(rc->err, ERR_SYSTEM, "there is no folder for what is fetched");
        return git_work_open(rc->kube->world, s->options->work_folder, &s->work, rc->err);
}

static int open_folder(struct git_pass *g)
{
        struct reconcile *rc = g->pass->rc;
        int code = open_work(g);

        if (code == 0)
                code = git_work_name(g->pass->sources->work, "source", rc->arena, &g->folder, rc->err);
        if (code == 0)
                code = repo_create(rc->kube->world, g->folder, &g->repo, rc->err);
        return code < 0 ? source_fails(g->pass, &failing_folder) : 0;
}

/* Of several, the one whose commit is the latest. */
static int pick(struct git_pass *g, const struct git_choice *c, const struct git_candidate **ret)
{
        struct reconcile *rc = g->pass->rc;
        int64_t latest = INT64_MIN;

        *ret = &c->at[0];
        for (size_t i = 0; c->n > 1 && i < c->n; i++) {
                struct git_commit_info info = { 0 };

                TRY(repo_commit(g->repo, &c->at[i].commit, rc->arena, &info, rc->err));
                if (info.committer.when_s <= latest)
                        continue;
                latest = info.committer.when_s;
                *ret = &c->at[i];
        }
        return 0;
}

static int fetch_choice(struct git_pass *g, struct remote *remote, const struct git_choice *c)
{
        struct reconcile *rc = g->pass->rc;
        struct git_hash *wants;

        if (c->n == 1)
                return git_fetch_commit(g, remote, c->at, c->named, rc->err);
        wants = ARENA_NEW_ARRAY(rc->arena, struct git_hash, c->n);
        if (!wants)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < c->n; i++)
                wants[i] = c->at[i].ask;
        int code = remote_fetch(remote, g->repo, wants, c->n, 1, g->deadline_ms, rc->err);

        g->received += remote_received(remote);
        return code;
}

static int fetch(struct git_pass *g, struct remote *remote, const struct git_choice *c,
                 const struct git_candidate **ret)
{
        TRY(open_folder(g));
        if (fetch_choice(g, remote, c) < 0 || pick(g, c, ret) < 0 ||
            (g->spec->recurse_submodules.value &&
             git_fetch_submodules(g, &(*ret)->commit, g->pass->rc->err) < 0))
                return git_pass_fails(g);
        return 0;
}

/* ---- storing ---- */

static int announce(struct git_pass *g, const char *revision)
{
        struct source_pass *p = g->pass;
        struct arena *arena = p->rc->arena;
        const char *text = arena_printf(arena, "new upstream revision '%s'", revision);
        const char *building = arena_printf(arena, "building artifact: %s", or_empty(text));

        if (!text || !building ||
            (p->run.status->artifact && source_outdated(&p->run, "NewRevision", text) < 0) ||
            source_progress(&p->run, building) < 0)
                return error_no_memory(p->rc->err);
        return source_write(p);
}

static int write_file(struct git_pass *g, const struct git_candidate *c, struct source_artifact *ret)
{
        struct source_pass *p = g->pass;
        struct reconcile *rc = p->rc;
        AUTO_ARTIFACT struct artifact_writer w = { 0 };
        const char *file = arena_printf(rc->arena, "%s.tar.gz", c->commit.hex);
        const char *path = file ? artifact_path(rc->arena, p->now, file) : NULL;
        bool no_room;

        if (!path)
                return error_no_memory(rc->err);
        if (artifact_begin(&p->sources->store, path, &w, rc->err) < 0)
                return source_fails(p, &failing_folder);
        if (git_archive_write(g, &c->commit, &w, &no_room, rc->err) < 0)
                return no_room ? source_fails(p, &failing_storage) : git_pass_fails(g);
        if (artifact_finish(&w, rc->arena, ret, rc->err) < 0)
                return source_fails(p, &failing_storage);
        return 0;
}

static int tell_stored(struct git_pass *g, const struct git_candidate *c, const char *revision, bool is_new)
{
        struct source_pass *p = g->pass;
        struct reconcile *rc = p->rc;
        const char *text = arena_printf(rc->arena, "stored artifact for revision '%s'", revision);
        struct git_commit_info info = { 0 };
        size_t n;

        if (!text || source_stored(&p->run, "Succeeded", text) < 0)
                return error_no_memory(rc->err);
        if (!is_new && !p->recovers)
                return 0;
        if (repo_commit(g->repo, &c->commit, rc->arena, &info, rc->err) < 0)
                return git_pass_fails(g);
        if (!text_is_utf8(info.subject, strlen(info.subject)))
                info.subject = c->commit.hex;
        n = text_utf8_cut(info.subject, SUBJECT_CHARS);
        const char *event = arena_printf(rc->arena, "stored artifact for commit '%.*s%s'", (int)n,
                                         info.subject, info.subject[n] ? "..." : "");

        if (!event)
                return error_no_memory(rc->err);
        source_tell_artifact(p, p->recovers ? "Succeeded" : "NewArtifact", event);
        return 0;
}

static int note_spec(struct git_pass *g)
{
        struct source_status *s = g->pass->run.status;
        const struct git_repository_spec *spec = g->spec;

        s->observed_ignore = spec->ignore;
        s->observed_recurse_submodules = spec->recurse_submodules;
        s->observed_sparse_checkout = spec->sparse_checkout;
        return 0;
}

static int store(struct git_pass *g, const struct git_candidate *c, const char *revision)
{
        struct source_pass *p = g->pass;
        const struct source_artifact *before = p->run.status->artifact;
        const char *digest = before ? before->digest : NULL;
        struct source_artifact kept;

        if (!before || !text_equal(before->revision, revision))
                TRY(announce(g, revision));
        TRY(write_file(g, c, &kept));
        TRY(source_keep(p, &kept, revision));
        note_spec(g);
        return tell_stored(g, c, revision, !text_equal(digest, kept.digest));
}

/* ---- a run ---- */

struct choosing {
        struct git_pass *git;
        const struct git_refs *refs;
        struct git_choice *ret;
        int code;
};

static void choose(void *ctx)
{
        struct choosing *c = ctx;
        struct reconcile *rc = c->git->pass->rc;

        c->code = git_choose(c->git->spec->ref, c->refs, rc->arena, c->ret, rc->err);
}

/* Of up to 100,000 names. */
static int choose_beside(struct git_pass *g, const struct git_refs *refs, struct git_choice *ret)
{
        struct choosing c = { g, refs, ret, 0 };
        struct reconcile *rc = g->pass->rc;

        TRY(offload(rc->kube->world->loop, choose, &c, rc->err));
        return c.code;
}

static int look(struct git_pass *g, struct remote *remote)
{
        struct source_pass *p = g->pass;
        struct reconcile *rc = p->rc;
        const struct git_refs *refs = remote_refs(remote);
        const struct git_candidate *found = NULL;
        struct git_choice choice = { 0 };
        const char *revision;
        bool same = false;

        if (refs->n == 0) {
                error_set(rc->err, ERR_NOT_FOUND, "git repository is empty");
                return source_fails(p, &failing_git_empty);
        }
        if (choose_beside(g, refs, &choice) < 0)
                return git_pass_fails(g);
        TRY(is_unchanged(g, &choice, &same));
        if (same) {
                source_tell_unchanged(p, p->run.status->artifact->revision);
                return 0;
        }
        TRY(fetch(g, remote, &choice, &found));
        revision = git_revision(found, rc->arena);
        if (!revision)
                return error_no_memory(rc->err);
        TRY(store(g, found, revision));
        remember(g, &choice, revision);
        return 0;
}

static void put_away(struct git_pass *g)
{
        g->repo = repo_close(g->repo);
        if (g->folder)
                git_work_remove(g->pass->sources->work, g->folder);
}

static int make(struct source_pass *p)
{
        struct git_pass g = { .pass = p, .spec = spec_of(p->now) };
        AUTO_REMOTE struct remote *remote = NULL;
        struct reconcile *rc = p->rc;

        TRY(check_spec(&g));
        TRY(git_access_open(&g));
        if (remote_open(&g.access, REMOTE_FETCH, rc->arena, g.deadline_ms, &remote, rc->err) < 0)
                return git_pass_fails(&g);
        int code = look(&g, remote);

        put_away(&g);
        return code;
}

static bool is_suspended(const struct object *o)
{
        return spec_of(o)->suspend.value;
}

static const char *interval(const struct object *o)
{
        return spec_of(o)->interval;
}

static const struct source_kind git_repository = { .kind = &git_repository_kind,
                                                   .which = SOURCE_GIT,
                                                   .is_suspended = is_suspended,
                                                   .interval = interval,
                                                   .make = make };

static struct outcome reconcile(struct reconcile *rc)
{
        return source_reconcile(rc, &git_repository);
}

static const struct watch watches[] = {
        { &git_repository_kind, ON_SPEC | ON_META | ON_DELETION, map_source_itself },
};

const struct controller git_repository_controller = {
        .name = "gitrepository",
        .watches = watches,
        .standing_key = SOURCE_KEY_OF_NONE,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .concurrency = 2,
        .reconcile_deadline_ms = RECONCILE_MAX_MS,
        .backoff_base_ms = 750,
        .backoff_max_ms = 900000,
        .event_source = SOURCE_MANAGER,
        .optional = true,
};
