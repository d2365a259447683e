#include "e2e/simulation/sim_git.h"

#include <stdio.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/loop/volume.h"
#include "e2e/simulation/sim_files.h"
#include "e2e/simulation/sim_fleet.h"
#include "e2e/sources/git_server.h"
#include "hub-agent/git/repo_internal.h"
#include "hub-agent/manifest-generation/manifest_generator.h"
#include "hub-agent/manifest-generation/repository_git.h"

#define AUTHORITY "git.test"
#define URL "https://" AUTHORITY "/team/app.git"
#define BRANCH "refs/heads/main"
#define TAG "flux-sync"
#define NOTES "flux"
#define FAST "/dev/shm" /* where it exists */
#define HANG_MS 60000   /* longer than anybody waits */
#define SLOW_MS 4000
#define GIT_TIMEOUT_MS 20000
#define POLL_MS 15000
#define SYNC_MS 60000

struct sim_git {
        struct fleet *fleet;
        struct wish_garden *garden;
        struct world files; /* the machine's files on the simulated loop */
        struct git_server server;
        char work[96]; /* the agent's folder */
        struct git_hash first;
};

/* ---- commits ---- */

struct commit {
        struct git_change changes[WISH_BEDS * WISH_BED_FILES + 1];
        char paths[WISH_BEDS * WISH_BED_FILES][64];
        size_t n;
        struct arena arena;
};

static int add_change(struct commit *c, const char *path, const struct buf *text)
{
        char *kept = arena_strndup(&c->arena, text->data ? text->data : "", text->len);
        char *name = arena_strndup(&c->arena, path, strlen(path));

        if (!kept || !name)
                return ERR_NO_MEMORY;
        c->changes[c->n++] = (struct git_change){
                .path = name, .removed = text->len == 0, .kind = GIT_FILE, .data = { kept, text->len }
        };
        return 0;
}

/* Removals first: a folder may take the place of a file. */
static int add_file(struct commit *c, const struct wish_bed *from, const struct wish_bed *to, unsigned bed,
                    unsigned file, bool removes)
{
        AUTO_BUF struct buf was, is;
        char was_path[64] = "", is_path[64] = "";
        bool had, has;

        buf_init(&was, 1u << 16);
        buf_init(&is, 1u << 16);
        had = from && wish_bed_file(from, bed, file, was_path, &was);
        has = wish_bed_file(to, bed, file, is_path, &is);
        if (removes)
                return had && !has ? add_change(c, was_path, &is) : 0;
        if (!has || (had && was.len == is.len && memcmp(was.data, is.data, is.len) == 0))
                return 0;
        return add_change(c, is_path, &is);
}

static int compare(struct commit *c, const struct wish_bed *from, const struct wish_bed *to)
{
        for (unsigned pass = 0; pass < 2; pass++)
                for (unsigned bed = 0; bed < WISH_BEDS; bed++)
                        for (unsigned file = 0; file < WISH_BED_FILES; file++)
                                TRY(add_file(c, from ? &from[bed] : NULL, &to[bed], bed, file, pass == 0));
        return 0;
}

static int put(struct sim_git *s, struct commit *c, bool forced, struct error *err)
{
        const struct git_person who = { "Ada", "ada@example.com", loop_wall_ms(s->fleet->world->loop) / 1000,
                                        60 };
        struct git_new_commit new = {
                .changes = c->changes, .n_changes = c->n, .author = who, .committer = who
        };
        char message[64];
        struct git_hash made;
        bool same;

        snprintf(message, sizeof(message), "change %u\n\nmore of it\n", s->garden->commits + 1);
        new.message = message;
        if (!forced)
                TRY(repo_ref(s->server.repo, BRANCH, &new.parent, err));
        TRY(repo_make_commit(s->server.repo, &new, &made, &same, err));
        TRY(repo_set_ref(s->server.repo, BRANCH, &made, err));
        if (forced)
                s->garden->forced = s->garden->requests;
        if (git_hash_is_none(&s->first) || forced)
                s->first = made;
        s->garden->commits++;
        snprintf(s->garden->head, sizeof(s->garden->head), "%s", made.hex);
        return 0;
}

int sim_git_commit(struct sim_git *s, const struct wish_bed beds[WISH_BEDS], bool forced, struct error *err)
{
        struct commit c = { .n = 0 };
        int code = 0;

        if (forced) { /* a tree is never empty */
                AUTO_BUF struct buf text;

                buf_init(&text, 64);
                buf_append_str(&text, "A garden.\n");
                code = add_change(&c, "README.md", &text);
        }
        if (code == 0)
                code = compare(&c, forced ? NULL : s->garden->beds, beds);
        code = code < 0 ? error_no_memory(err) : put(s, &c, forced, err);
        arena_free(&c.arena);
        if (code == 0)
                memcpy(s->garden->beds, beds, sizeof(s->garden->beds));
        return code;
}

/* ---- refs ---- */

int sim_git_tag(struct sim_git *s, struct git_hash *ret, struct error *err)
{
        return repo_commit_of(s->server.repo, "refs/tags/" TAG, ret, err);
}

bool sim_git_move_tag(struct sim_git *s, bool away)
{
        struct git_hash now;

        if (repo_ref(s->server.repo, "refs/tags/" TAG, &now, NULL) < 0)
                return false;
        if (away)
                return repo_drop_ref(s->server.repo, "refs/tags/" TAG, NULL) == 0;
        return repo_set_ref(s->server.repo, "refs/tags/" TAG, &s->first, NULL) == 0;
}

int sim_git_head(struct sim_git *s, struct git_hash *ret, struct error *err)
{
        return repo_ref(s->server.repo, BRANCH, ret, err);
}

int sim_git_other_tags(struct sim_git *s, unsigned *ret, struct error *err)
{
        git_strarray names = { 0 };

        *ret = 0;
        if (git_reference_list(&names, s->server.repo->git) < 0)
                return error_set(err, ERR_SYSTEM, "the repository's refs cannot be listed");
        for (size_t i = 0; i < names.count; i++)
                *ret += text_starts_with(names.strings[i], "refs/tags/") &&
                        !text_equal(names.strings[i], "refs/tags/" TAG);
        git_strarray_dispose(&names);
        return 0;
}

int sim_git_has(struct sim_git *s, const char *commit, bool *ret, struct error *err)
{
        struct git_hash of, head;

        TRY(git_hash_parse(commit, &of, err));
        TRY(sim_git_head(s, &head, err));
        *ret = false;
        return repo_has(s->server.repo, &of) ? repo_is_ancestor(s->server.repo, &of, &head, ret, err) : 0;
}

static int count_job(struct sim_git *s, const char *id, struct arena *arena, unsigned *ret, struct error *err)
{
        const struct git_commit_info *commits;
        struct git_hash head, notes;
        struct git_log log = { .until = &head };
        const char *note;
        size_t n = 0;
        bool more;

        TRY(sim_git_head(s, &head, err));
        TRY(repo_log(s->server.repo, &log, arena, &commits, &n, &more, err));
        if (repo_ref(s->server.repo, "refs/notes/" NOTES, &notes, NULL) < 0)
                return 0;
        for (size_t i = 0; i < n; i++)
                if (repo_note(s->server.repo, &notes, &commits[i].at, arena, &note, NULL) == 0)
                        *ret += strstr(note, id) != NULL;
        return 0;
}

int sim_git_count_job(struct sim_git *s, const char *id, unsigned *ret, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        *ret = 0;
        return count_job(s, id, &arena, ret, err);
}

int sim_git_job(struct sim_git *s, unsigned bed, char ret_image[32], bool *ret_locked, struct error *err)
{
        static const char key[] = "image: ";
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_FREE char *path = mem_printf("%s/job.yaml", wish_bed_paths[bed]);
        AUTO_FREE char *text = NULL;
        struct git_hash head;
        struct slice file;
        const char *at;

        *ret_image = '\0';
        *ret_locked = false;
        if (!path)
                return error_no_memory(err);
        TRY(sim_git_head(s, &head, err));
        if (repo_file(s->server.repo, &head, path, 1u << 16, &arena, &file, NULL) < 0)
                return 0;
        text = mem_strndup(file.data, file.len);
        if (!text)
                return error_no_memory(err);
        at = strstr(text, key);
        if (at)
                snprintf(ret_image, 32, "%.*s", (int)strcspn(at + sizeof(key) - 1, " \n"),
                         at + sizeof(key) - 1);
        *ret_locked = strstr(text, "fluxcd.io/locked") != NULL;
        return 0;
}

/* ---- the server ---- */

static void serve(void *ctx, struct http_exchange *x)
{
        struct sim_git *s = ctx;

        s->server.fault = FAULT_NONE;
        switch (s->garden->remote) {
        case REMOTE_ANSWERS:
                break;
        case REMOTE_SLOW:
                if (fiber_sleep(x->loop, SLOW_MS) < 0)
                        return;
                break;
        case REMOTE_FAILS:
                (void)http_reply(x, 500, "text/plain", SLICE("no"), NULL);
                return;
        case REMOTE_HANGS:
                (void)fiber_sleep(x->loop, HANG_MS);
                return;
        case REMOTE_BABBLES: /* in a way of its own at each commit */
                s->server.fault = s->garden->commits % 3 == 0   ? FAULT_GARBAGE
                                  : s->garden->commits % 3 == 1 ? FAULT_CUT_PACK
                                                                : FAULT_LIST_CUT;
                break;
        case REMOTE_REFUSES:
                s->server.fault = FAULT_REFUSES_PUSH;
                break;
        }
        git_server_handle(&s->server, x);
}

/* ---- the agent ---- */

static struct generation_options options_of(const struct sim_git *s, struct world *w, const struct log *log,
                                            const struct http_endpoint *hub)
{
        static const char *const environment[] = { "PATH=/bin", NULL };

        return (struct generation_options){ .world = w,
                                            .log = log,
                                            .hub = hub,
                                            .identity = WISH_GARDENER,
                                            .leader_election = true,
                                            .metrics_port = -1,
                                            .health_port = -1,
                                            .agent_namespace = "fleet-system",
                                            .deployment = WISH_GARDENER,
                                            .url = URL,
                                            .public_url = URL,
                                            .branch = "main",
                                            .paths = wish_bed_paths,
                                            .n_paths = WISH_BEDS,
                                            .git_poll_ms = POLL_MS,
                                            .skip_text = "",
                                            .git_user = "Argosy",
                                            .git_mail = "argosy@example.com",
                                            .environment = environment,
                                            .sync_interval_ms = SYNC_MS,
                                            .sync_timeout_ms = SYNC_MS,
                                            .collect = true,
                                            .drift = true,
                                            .default_namespace = "default" };
}

static void run_agent(void *ctx, const struct world *of_agent, const struct log *log,
                      const struct http_endpoint *hub, struct error *err)
{
        struct sim_git *s = ctx;
        struct world w = s->files;
        struct kube_client kube = { .world = &w, .endpoint = hub, .log = log };
        const struct repository_git_options git = { .world = &w,
                                                    .log = log,
                                                    .kube = &kube,
                                                    .ns = "fleet-system",
                                                    .secret = "flux-git-deploy",
                                                    .url = URL,
                                                    .branch = "main",
                                                    .tag = TAG,
                                                    .notes = NOTES,
                                                    .user = "Argosy",
                                                    .mail = "argosy@example.com",
                                                    .folder = s->work,
                                                    .timeout_ms = GIT_TIMEOUT_MS };
        struct generation_options o = options_of(s, &w, log, hub);
        struct repository_git *repository = NULL;

        w.transport = of_agent->transport;
        w.log_sink = of_agent->log_sink;
        if (repository_git_open(&git, &repository, err) < 0)
                return;
        o.repository = (struct repository){ &repository_git_ops, repository };
        (void)manifest_generator_run(&o, err);
        repository_git_close(repository);
}

void sim_git_lose_work(struct sim_git *s, enum sim_git_loss loss)
{
        AUTO_FREE char *names = NULL;
        struct volume *v = NULL;

        if (loss == LOSS_NONE || volume_open(&s->files, s->work, &v, NULL) < 0)
                return;
        if (volume_list(v, "", &names, NULL) == 0)
                for (const char *n = names; *n; n += strlen(n) + 1) {
                        AUTO_FREE char *head = mem_printf("%s/HEAD", n);

                        if (loss == LOSS_ALL)
                                (void)volume_remove_all(v, n, NULL);
                        else if (head && text_starts_with(n, "mirror-"))
                                (void)volume_remove(v, head, NULL);
                }
        volume_close(v);
}

/* ---- life ---- */

static void begin_beds(struct wish_bed ret[WISH_BEDS])
{
        memset(ret, 0, sizeof(*ret) * WISH_BEDS);
        for (unsigned i = 0; i < WISH_BEDS; i++) {
                ret[i].placed = i == 0;
                ret[i].plots[i].color = 1 + i;
                ret[i].image = 1 + i;
        }
}

int sim_git_open(struct fleet *f, struct wish_garden *g, struct sim_git **ret, struct error *err)
{
        struct sim_git *s = NEW(struct sim_git);
        struct wish_bed beds[WISH_BEDS];

        if (!s)
                return error_no_memory(err);
        *ret = s;
        s->fleet = f;
        s->garden = g;
        world_init_real(&s->files, f->world->loop, f->world->log_sink);
        s->files.process = &sim_no_process;
        git_server_begin_below(&s->server, &s->files, access(FAST, W_OK) == 0 ? FAST : "/tmp");
        snprintf(s->work, sizeof(s->work), "%s/work", s->server.folder);
        TRY(sim_fleet_serve(f, AUTHORITY, serve, s, err));
        TRY(sim_fleet_add_guest(f, WISH_GARDENER, run_agent, s, err));
        begin_beds(beds);
        TRY(sim_git_commit(s, beds, true, err));
        g->there = true;
        wish_garden_note(g, loop_now_ms(f->world->loop));
        return 0;
}

struct sim_git *sim_git_close(struct sim_git *s)
{
        if (!s)
                return NULL;
        git_server_end(&s->server);
        mem_free(s);
        return NULL;
}
