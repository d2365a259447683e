/* The agents' Git against a real server, for e2e/sources/git-test. Usage:
 *     git-remote list URL         names the refs; an error is one line and exit code 1
 *     git-remote mirror URL FOLDER   makes or renews a mirror, and says how many bytes came
 *     git-remote try URL FOLDER   mirrors, commits and pushes to it; ends in `N passed, N failed`
 * GIT_USER, GIT_PASSWORD: of the web; GIT_IDENTITY, GIT_KEY_PASSWORD, GIT_KNOWN_HOSTS, GIT_CA: files, and the
 * key's password; GIT_SECONDS: until it is given up. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/net/http.h"
#include "hub-agent/git/git.h"

struct
try {
        struct loop *loop;
        struct world world;
        struct remote_access access;
        struct arena arena;
        const char *command, *folder;
        struct repo *repo;
        struct error err;
        int passed, failed, code;
};

static int64_t deadline(const struct try *t)
{
        const char *seconds = getenv("GIT_SECONDS");

        return loop_now_ms(t->loop) + (seconds ? strtol(seconds, NULL, 10) : 60) * 1000;
}

static char *text_of_file(struct try *t, const char *variable)
{
        const char *path = getenv(variable);
        char *text = NULL;
        size_t n;

        if (!path)
                return NULL;
        if (t->world.files->read(t->world.ctx, path, 1 << 20, &text, &n, &t->err) < 0 ||
            arena_defer(&t->arena, mem_free, text) < 0) {
                (void)fprintf(stderr, "%s\n", t->err.text);
                exit(2);
        }
        return text;
}

/* ---- list ---- */

static int list(struct try *t)
{
        AUTO_REMOTE struct remote *remote = NULL;

        TRY(remote_open(&t->access, REMOTE_FETCH, &t->arena, deadline(t), &remote, &t->err));
        const struct git_refs *refs = remote_refs(remote);

        for (size_t i = 0; i < refs->n; i++)
                (void)printf("%s %s\n", git_ref_commit(&refs->at[i]).hex, refs->at[i].name);
        return 0;
}

/* ---- try ---- */

static void check(struct try *t, const char *what, bool good)
{
        if (good)
                t->passed++;
        else
                (void)printf("FAILED %s: %s\n", what, t->err.text);
        t->failed += !good;
        error_clear(&t->err);
}

static int mirror_bytes(struct try *t, bool *ret_changed, uint64_t *ret_bytes)
{
        static const char *const prefixes[] = { "refs/heads/", "refs/tags/", "refs/notes/" };
        AUTO_REMOTE struct remote *remote = NULL;

        TRY(remote_open(&t->access, REMOTE_FETCH, &t->arena, deadline(t), &remote, &t->err));
        int code = remote_mirror(remote, t->repo, prefixes, ARRAY_LEN(prefixes), deadline(t), ret_changed,
                                 &t->err);

        *ret_bytes = remote_received(remote);
        return code;
}

static int mirror(struct try *t, bool *ret_changed)
{
        uint64_t bytes;

        return mirror_bytes(t, ret_changed, &bytes);
}

static int renew(struct try *t)
{
        uint64_t bytes = 0;
        int code = repo_open(&t->world, t->folder, &t->repo, &t->err);

        if (code < 0) {
                error_clear(&t->err);
                code = repo_create(&t->world, t->folder, &t->repo, &t->err);
        }
        if (code == 0)
                code = mirror_bytes(t, NULL, &bytes);
        (void)printf("%llu bytes\n", (unsigned long long)bytes);
        repo_close(t->repo);
        return code;
}

static int push(struct try *t, struct remote_update *updates, size_t n)
{
        AUTO_REMOTE struct remote *remote = NULL;

        TRY(remote_open(&t->access, REMOTE_PUSH, &t->arena, deadline(t), &remote, &t->err));
        return remote_push(remote, t->repo, updates, n, true, &t->arena, deadline(t), &t->err);
}

static int commit(struct try *t, const struct git_hash *parent, const char *path, struct git_hash *ret)
{
        const struct git_person who = { "Tester", "tester@example.com", 1700000000, 0 };
        const struct git_change change = { path, false, GIT_FILE, slice_of(parent->hex) };
        const struct git_new_commit c = { *parent, &change, 1, who, who, "a change\n" };

        return repo_make_commit(t->repo, &c, ret, NULL, &t->err);
}

static void try_pushes(struct try *t)
{
        const struct git_person who = { "Tester", "tester@example.com", 1700000000, 0 };
        struct git_hash base = { "" }, next = base, late = base, note = base, tag = base, now = base;

        check(t, "the branch main is there", repo_ref(t->repo, "refs/heads/main", &base, &t->err) == 0);
        check(t, "commits are made",
              commit(t, &base, "next", &next) == 0 && commit(t, &base, "late", &late) == 0);
        struct git_new_note n = { .of = next, .author = who, .text = "{}" };

        (void)repo_ref(t->repo, "refs/notes/try", &n.parent, NULL);
        const struct git_new_tag g = { "pointer", next, who, "Sync pointer" };

        check(t, "notes and tags are made",
              repo_make_note(t->repo, &n, &note, &t->err) == 0 &&
                      repo_make_tag(t->repo, &g, &tag, &t->err) == 0);
        struct remote_update all[] = { { .ref = "refs/heads/main", .to = next },
                                       { .ref = "refs/notes/try", .to = note },
                                       { .ref = "refs/tags/pointer", .to = tag } };

        check(t, "branch, notes and tag are pushed together", push(t, all, 3) == 0);
        check(t, "what is pushed is mirrored",
              mirror(t, NULL) == 0 && repo_ref(t->repo, "refs/heads/main", &now, &t->err) == 0 &&
                      git_hash_equal(&now, &next));
        struct remote_update other = { .ref = "refs/heads/main", .to = late };

        check(t, "what is not fast-forward is not pushed", push(t, &other, 1) == ERR_CONFLICT);
        struct remote_update moved = { .ref = "refs/tags/pointer", .to = base, .force = true };

        check(t, "a tag is moved by force", push(t, &moved, 1) == 0);
        moved.to = (struct git_hash){ "" };
        check(t, "a tag is removed", push(t, &moved, 1) == 0);
        check(t, "what was removed goes from the mirror",
              mirror(t, NULL) == 0 && repo_ref(t->repo, "refs/tags/pointer", &now, &t->err) == ERR_NOT_FOUND);
}

static int try_all(struct try *t)
{
        bool changed = true;

        TRY(repo_create(&t->world, t->folder, &t->repo, &t->err));
        check(t, "it is mirrored", mirror(t, &changed) == 0 && changed);
        check(t, "nothing new is nothing", mirror(t, &changed) == 0 && !changed);
        try_pushes(t);
        t->repo = repo_close(t->repo);
        (void)printf("%d passed, %d failed\n", t->passed, t->failed);
        return t->failed ? ERR_INVALID : 0;
}

static void body(void *ctx)
{
        struct try *t = ctx;

        t->world.transport = http_transport_curl(&t->world, &t->err);
        if (t->world.transport)
                t->code = text_equal(t->command, "try")      ? try_all(t)
                          : text_equal(t->command, "mirror") ? renew(t)
                                                             : list(t);
        if (t->code < 0 && t->err.code < 0)
                (void)printf("%s: %s\n", error_code_name(t->err.code), t->err.text);
        http_transport_free(t->world.transport);
}

int main(int argc, char **argv)
{
        struct try t = { .command = argc > 1 ? argv[1] : "" };

        if (argc < 3 || (!text_equal(t.command, "list") && argc < 4)) {
                (void)fprintf(stderr, "usage: git-remote list URL | mirror URL FOLDER | try URL FOLDER\n");
                return 2;
        }
        t.folder = argc > 3 ? argv[3] : NULL;
        t.loop = mem_must(loop_new_real(&t.err));
        world_init_real(&t.world, t.loop, NULL);
        t.access = (struct remote_access){ .world = &t.world,
                                           .url = argv[2],
                                           .username = getenv("GIT_USER"),
                                           .password = getenv("GIT_PASSWORD"),
                                           .ca_pem = text_of_file(&t, "GIT_CA"),
                                           .identity = text_of_file(&t, "GIT_IDENTITY"),
                                           .key_password = getenv("GIT_KEY_PASSWORD"),
                                           .known_hosts = text_of_file(&t, "GIT_KNOWN_HOSTS") };
        struct fiber_group *group = mem_must(fiber_group_new(t.loop, NULL, "git"));

        if (!fiber_spawn(group, "git", body, &t))
                return 2;
        (void)loop_run(t.loop, &t.err);
        fiber_group_end(group);
        arena_free(&t.arena);
        loop_free(t.loop);
        return t.code < 0 ? 1 : 0;
}
