/* A manifest-generator within devcluster, on the virtual clock, and a repository in memory. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/base/vec.h"
#include "e2e/devcluster/rig.h"
#include "hub-agent/app_test.h"
#include "hub-agent/manifest-generation/generation_agent.h"

#define STATUS "/api/v1/namespaces/fleet-system/configmaps/manifest-generation-status"
#define SECONDS INT64_C(1000)
#define MINUTES (60 * SECONDS)

/* ---- the repository ---- */

#define COMMITS_MOST 16

struct fake_commit {
        struct git_hash at;
        struct volume *files;
        char *message, *note, *author;
};

struct fake_repository {
        struct loop *loop;
        struct fake_commit commits[COMMITS_MOST];
        size_t n;                   /* the last is the head */
        size_t fetched;             /* of them */
        struct git_hash tag;        /* the sync tag */
        struct error fetch_failure; /* code 0: it works */
        bool refuses_writes, without_branch;
        size_t fetches, checkouts, open, pushes, tags_moved, checked;
        char checked_tag[64];
        struct volume *work[16]; /* checkouts that are open: "/work/N" */
        size_t races;            /* so often somebody else is faster */
        void (*race)(struct fake_repository *r);
};

static inline struct git_hash fake_hash(size_t i)
{
        struct git_hash h;

        snprintf(h.hex, sizeof(h.hex), "%07zx%033x", i + 0xa000000, 0);
        return h;
}

static inline void put_file(struct volume *v, const char *path, const char *text)
{
        struct volume_writer *w = NULL;

        assert_int_equal(volume_create(v, path, &w, NULL), 0);
        assert_int_equal(volume_append(w, text, strlen(text), NULL), 0);
        assert_int_equal(volume_commit(w, NULL), 0);
}

static inline char *get_file(struct volume *v, const char *path)
{
        struct volume_reader *r = NULL;
        char *text;
        size_t n = 0;

        if (volume_open_file(v, path, &r, NULL) < 0)
                return NULL;
        text = mem_zalloc(volume_reader_size(r) + 1);
        assert_int_equal(volume_read(r, 0, text, volume_reader_size(r), &n, NULL), 0);
        volume_reader_close(r);
        return text;
}

static inline void copy_files(struct volume *from, struct volume *to, const char *folder)
{
        AUTO_FREE char *names = NULL;

        assert_int_equal(volume_list(from, folder, &names, NULL), 0);
        for (const char *n = names; *n; n += strlen(n) + 1) {
                AUTO_FREE char *path = mem_printf("%s%s%s", folder, *folder ? "/" : "", n);
                struct volume_info info;

                assert_int_equal(volume_look(from, path, &info, NULL), 0);
                if (info.kind == VOLUME_FOLDER) {
                        copy_files(from, to, path);
                } else {
                        AUTO_FREE char *text = get_file(from, path);

                        put_file(to, path, text);
                }
        }
}

/* A commit that has all of the one before; its files may be changed until it is fetched. */
static inline struct volume *commit(struct fake_repository *r)
{
        struct fake_commit *c = &r->commits[r->n];

        assert_true(r->n < COMMITS_MOST);
        *c = (struct fake_commit){ .at = fake_hash(r->n), .files = volume_new_in_memory(r->loop) };
        if (r->n > 0)
                copy_files(r->commits[r->n - 1].files, c->files, "");
        r->n++;
        return c->files;
}

static inline void commit_file(struct fake_repository *r, const char *path, const char *text)
{
        put_file(commit(r), path, text);
}

static inline struct fake_commit *fake_find(struct fake_repository *r, const struct git_hash *h)
{
        for (size_t i = 0; i < r->n; i++)
                if (git_hash_equal(&r->commits[i].at, h))
                        return &r->commits[i];
        return NULL;
}

static int fake_fetch(void *ctx, struct error *err)
{
        struct fake_repository *r = ctx;

        r->fetches++;
        if (r->fetch_failure.code < 0) {
                *err = r->fetch_failure;
                return err->code;
        }
        r->fetched = r->n;
        return 0;
}

static int fake_head(void *ctx, struct git_hash *ret, struct error *err)
{
        struct fake_repository *r = ctx;

        if (r->without_branch || r->fetched == 0)
                return error_set(err, ERR_NOT_FOUND, "configured branch 'main' does not exist");
        *ret = r->commits[r->fetched - 1].at;
        return 0;
}

static int fake_check_write(void *ctx, const char *tag, struct error *err)
{
        struct fake_repository *r = ctx;

        if (r->refuses_writes)
                return error_set(err, ERR_FORBIDDEN, "the remote refuses");
        r->checked++;
        snprintf(r->checked_tag, sizeof(r->checked_tag), "%s", tag);
        return 0;
}

static int fake_synced(void *ctx, struct git_hash *ret, struct error *err)
{
        *ret = ((struct fake_repository *)ctx)->tag;
        return 0;
}

static int fake_set_synced(void *ctx, const struct git_hash *to, struct error *err)
{
        struct fake_repository *r = ctx;

        if (r->refuses_writes)
                return error_set(err, ERR_FORBIDDEN, "the remote refuses");
        r->tag = *to;
        r->tags_moved++;
        return 0;
}

static int fake_log(void *ctx, const struct git_hash *since, const struct git_hash *until,
                    const char *const *paths, size_t n_paths, size_t most, struct arena *arena,
                    struct sync_commit **ret, size_t *ret_n, bool *ret_more, struct error *err)
{
        struct fake_repository *r = ctx;
        struct fake_commit *first = fake_find(r, since), *last = fake_find(r, until);

        *ret = ARENA_NEW_ARRAY(arena, struct sync_commit, COMMITS_MOST);
        *ret_n = 0;
        *ret_more = false;
        for (struct fake_commit *c = last; c >= r->commits && c != first && *ret_n < most; c--)
                (*ret)[(*ret_n)++] =
                        (struct sync_commit){ .at = c->at, .subject = c->message, .note = c->note };
        return 0;
}

static bool fake_has(void *ctx, const struct git_hash *h)
{
        return fake_find(ctx, h) != NULL;
}

static int fake_checkout(void *ctx, const struct git_hash *h, struct arena *arena, struct checkout *ret,
                         struct error *err)
{
        struct fake_repository *r = ctx;
        struct volume *files = volume_new_in_memory(r->loop);
        const char *root;
        size_t i = 0;

        while (r->work[i])
                i++;
        r->work[i] = files;
        root = arena_printf(arena, "/work/%zu", i);
        copy_files(fake_find(r, h)->files, files, "");
        *ret = (struct checkout){ .tree = { files, root }, .root = root, .temporary = "/tmp", .own = files };
        r->checkouts++;
        r->open++;
        return 0;
}

static void fake_discard(void *ctx, struct checkout *c)
{
        struct fake_repository *r = ctx;

        for (size_t i = 0; c->own && i < ARRAY_LEN(r->work); i++)
                if (r->work[i] == c->own)
                        r->work[i] = NULL;
        if (!c->own)
                return;
        volume_close(c->own);
        c->own = NULL;
        r->open--;
}

static int fake_entry(void *ctx, const struct git_hash *h, const char *path, enum git_entry_kind *ret,
                      struct error *err)
{
        struct volume_info info;

        TRY(volume_look(fake_find(ctx, h)->files, path, &info, err));
        *ret = GIT_FILE;
        return 0;
}

static int fake_publish(void *ctx, const struct publication *p, struct git_hash *ret, bool *ret_same,
                        struct error *err)
{
        struct fake_repository *r = ctx;
        struct volume *files;

        *ret_same = p->n_changes == 0;
        if (*ret_same)
                return 0;
        if (r->races > 0) {
                r->races--;
                r->race(r);
        }
        if (!git_hash_equal(&r->commits[r->n - 1].at, &p->parent))
                return error_set(err, ERR_CONFLICT, "not a fast-forward");
        files = commit(r);
        for (size_t i = 0; i < p->n_changes; i++) {
                AUTO_FREE char *text = mem_strndup(p->changes[i].data.data, p->changes[i].data.len);

                if (p->changes[i].removed)
                        assert_int_equal(volume_remove_all(files, p->changes[i].path, NULL), 0);
                else
                        put_file(files, p->changes[i].path, text);
        }
        r->commits[r->n - 1].message = mem_strdup(p->message);
        r->commits[r->n - 1].note = mem_strdup(p->note);
        r->commits[r->n - 1].author = p->author ? mem_printf("%s <%s>", p->author, p->author_mail) : NULL;
        r->fetched = r->n;
        r->pushes++;
        *ret = r->commits[r->n - 1].at;
        return 0;
}

static const struct repository_ops fake_ops = {
        .fetch = fake_fetch,
        .head = fake_head,
        .check_write = fake_check_write,
        .synced = fake_synced,
        .set_synced = fake_set_synced,
        .log = fake_log,
        .has = fake_has,
        .checkout = fake_checkout,
        .discard = fake_discard,
        .entry = fake_entry,
        .publish = fake_publish,
};

/* ---- the agent ---- */

struct generator {
        struct rig *rig;
        struct fiber_group *group;
        struct world world;
        struct log_sink sink;
        struct log log;
        struct fake_repository repository;
        struct generation_options options;
        char *logged; /* warnings, one line each */
};

static inline void keep_line(void *ctx, const char *line, size_t n)
{
        struct generator *g = ctx;
        char *all = mem_printf("%s%.*s", or_empty(g->logged), (int)n, line);

        mem_free(g->logged);
        g->logged = all;
        if (getenv("HUB_TEST_LOG"))
                fwrite(line, 1, n, stderr);
        if (strstr(line, "left no error"))
                fail_msg("%.*s", (int)n, line);
}

static inline int64_t generator_wall(void *ctx)
{
        return loop_wall_ms(((struct generator *)ctx)->rig->loop);
}

static inline size_t times_logged(const struct generator *g, const char *words)
{
        size_t n = 0;

        for (const char *at = or_empty(g->logged); (at = strstr(at, words)); at++)
                n++;
        return n;
}

static inline void generator_fiber(void *ctx)
{
        struct generator *g = ctx;
        struct error err = { 0 };

        assert_int_equal(manifest_generator_run(&g->options, &err), ERR_CANCELLED);
}

static inline void generator_start(struct generator *g)
{
        g->group = fiber_group_new(g->rig->loop, NULL, "agents");
        assert_non_null(fiber_spawn(g->group, "manifest-generator", generator_fiber, g));
        rig_settle(g->rig);
}

static inline void generator_stop(struct generator *g)
{
        g->group = fiber_group_end(g->group);
}

/* Everything but started. */
static inline void generator_make(struct rig *r, struct generator *g)
{
        static const char *const environment[] = { "PATH=/bin", NULL };

        *g = (struct generator){ .rig = r, .world = r->world, .repository = { .loop = r->loop } };
        g->sink = (struct log_sink){ keep_line, generator_wall, g, LOG_TEXT, LOG_INFO };
        g->log = (struct log){ .sink = &g->sink };
        g->world.transport = r->client;
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"fleet-system\"}}");
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"apps\"}}");
        g->options = (struct generation_options){ .world = &g->world,
                                                  .log = &g->log,
                                                  .hub = &r->endpoint,
                                                  .metrics_port = -1,
                                                  .health_port = -1,
                                                  .agent_namespace = "fleet-system",
                                                  .deployment = "manifest-generator",
                                                  .repository = { &fake_ops, &g->repository },
                                                  .url = "https://git.example/x",
                                                  .public_url = "https://git.example/x",
                                                  .branch = "main",
                                                  .git_poll_ms = 5 * MINUTES,
                                                  .skip_text = "",
                                                  .git_user = "Argosy",
                                                  .git_mail = "argosy@example.com",
                                                  .environment = environment,
                                                  .sync_interval_ms = 5 * MINUTES,
                                                  .sync_timeout_ms = MINUTES,
                                                  .drift = true,
                                                  .default_namespace = "apps",
                                                  .metrics = metrics_new(METRIC_OF_GENERATOR) };
}

static inline void generator_end(struct generator *g)
{
        struct fake_repository *r = &g->repository;

        if (g->group)
                generator_stop(g);
        assert_int_equal(r->open, 0); /* no checkout is left */
        for (size_t i = 0; i < r->n; i++) {
                volume_close(r->commits[i].files);
                mem_free(r->commits[i].message);
                mem_free(r->commits[i].note);
                mem_free(r->commits[i].author);
        }
        metrics_free(g->options.metrics);
        mem_free(g->logged);
}

static inline void pass(struct generator *g, int64_t ms)
{
        fiber_sleep(g->rig->loop, ms);
        rig_settle(g->rig);
}

/* ---- looking ---- */

static inline const char *status_of(struct rig *r, const char *key)
{
        assert_int_equal(rig_get(r, STATUS), 200);
        return or_empty(json_string_value(json_object_get(json_object_get(r->answer, "data"), key)));
}

static inline size_t events_of(struct rig *r, const char *ns, const char *reason, const char *words)
{
        char path[128];
        size_t i, n = 0;
        json_t *e;

        rig_settle(r);
        snprintf(path, sizeof(path), "/api/v1/namespaces/%s/events", ns);
        assert_int_equal(rig_get(r, path), 200);
        json_array_foreach(doc_get_array(r->answer, "items"), i, e)
                if (text_equal(doc_get_string(e, "reason"), reason) &&
                    strstr(or_empty(doc_get_string(e, "message")), words) &&
                    text_equal(doc_get_string(e, "source.component"), "manifest-generation"))
                        n += (size_t)doc_get_int(e, "count", 1);
        return n;
}

#define CONFIGS "/api/v1/namespaces/apps/configmaps/"
#define CONFIG_MAP(name, data)                                                                               \
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " name "\n  namespace: apps\ndata: " data "\n"

static inline uint64_t writes_of(struct rig *r)
{
        static const char *const verbs[] = { "create", "update", "patch", "delete" };
        static const char *const resources[] = { "configmaps", "secrets", "deployments",
                                                 "namespaces", "events",  "services" };
        uint64_t n = 0;

        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
                for (size_t k = 0; k < ARRAY_LEN(resources); k++)
                        n += count_of(r, "hub", verbs[i], resources[k]);
        return n;
}
