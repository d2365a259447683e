/* Remotes and repositories, against a server of the same process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/sources/git_server.h"

#define WALL INT64_C(1767225600000)
#define URL "https://git.example/team/app.git"

struct rig {
        struct loop *loop;
        struct loopback *net;
        struct world world;
        struct arena arena, kept; /* of what a story frees, and of what stays to the end */
        struct git_server server;
        struct git_work *work;
        struct remote_access access;
        struct repo *repo;
        const char *path;
        struct error err;
        void (*play)(struct rig *r);
};

static void play_in_fiber(void *ctx)
{
        struct rig *r = ctx;

        git_server_begin(&r->server, &r->world);
        assert_int_equal(loopback_listen(r->net, "git.example", git_server_handle, &r->server), 0);
        AUTO_FREE char *folder = mem_printf("%s/work", r->server.folder);

        assert_int_equal(mkdir(folder, 0700), 0);
        assert_int_equal(git_work_open(&r->world, folder, &r->work, &r->err), 0);
        assert_int_equal(git_work_name(r->work, "test", &r->kept, &r->path, &r->err), 0);
        if (repo_create(&r->world, r->path, &r->repo, &r->err) < 0)
                fail_msg("%s", r->err.text);
        r->play(r);
        repo_close(r->repo);
        git_work_remove(r->work, r->path);
        git_work_close(r->work);
        http_transport_free(r->world.transport);
        r->net = loopback_free(r->net);
        git_server_end(&r->server);
}

static void with_server(void (*play)(struct rig *r))
{
        struct rig r = { .play = play };
        size_t before = mem_live_count();

        r.loop = loop_new_simulated(1, WALL, &r.err);
        r.world.loop = r.loop;
        r.net = loopback_new(r.loop);
        r.world.transport = loopback_transport(r.net, &r.world, NULL);
        r.access = (struct remote_access){ .world = &r.world, .url = URL };
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");

        assert_non_null(fiber_spawn(group, "play", play_in_fiber, &r));
        assert_int_equal(loop_run(r.loop, &r.err), 0);
        fiber_group_end(group);
        loop_free(r.loop);
        arena_free(&r.arena);
        arena_free(&r.kept);
        assert_int_equal(mem_live_count(), before);
}

static int64_t soon(struct rig *r)
{
        return loop_now_ms(r->loop) + 60000;
}

static int open_remote(struct rig *r, enum remote_service service, struct remote **ret)
{
        error_clear(&r->err);
        return remote_open(&r->access, service, &r->arena, soon(r), ret, &r->err);
}

#define MUST(call)                                                                                           \
        do {                                                                                                 \
                if ((call) < 0)                                                                              \
                        fail_msg("%s", r->err.text);                                                         \
        } while (0)

static void fetch(struct rig *r, const struct git_hash *want, unsigned depth)
{
        AUTO_REMOTE struct remote *remote = NULL;

        MUST(open_remote(r, REMOTE_FETCH, &remote));
        MUST(remote_fetch(remote, r->repo, want, 1, depth, soon(r), &r->err));
}

/* ---- refs ---- */

static void list_refs(struct rig *r)
{
        AUTO_REMOTE struct remote *remote = NULL;
        struct git_hash first = git_server_commit(&r->server, "main", "a.txt", "one"),
                        second = git_server_commit(&r->server, "side", "b.txt", "two");

        git_server_tag(&r->server, "v1", &first, "the first");
        git_server_tag(&r->server, "light", &second, NULL);
        MUST(open_remote(r, REMOTE_FETCH, &remote));
        const struct git_refs *refs = remote_refs(remote);

        assert_int_equal(refs->n, 4);
        assert_string_equal(refs->head, "refs/heads/main");
        assert_string_equal(refs->tip.hex, first.hex);
        assert_string_equal(git_refs_find(refs, "refs/heads/side")->at.hex, second.hex);
        const struct git_ref *tag = git_refs_find(refs, "refs/tags/v1");

        assert_string_equal(tag->peeled.hex, first.hex);
        assert_string_equal(git_ref_commit(tag).hex, first.hex);
        assert_string_not_equal(tag->at.hex, first.hex);
        tag = git_refs_find(refs, "refs/tags/light");
        assert_true(git_hash_is_none(&tag->peeled));
        assert_string_equal(git_ref_commit(tag).hex, second.hex);
        assert_null(git_refs_find(refs, "refs/heads/none"));
        assert_int_equal(r->server.lists, 1);
        assert_int_equal(r->server.fetches, 0);
}

static void one_request_tells_all_refs(void **state)
{
        with_server(list_refs);
}

static void list_nothing(struct rig *r)
{
        AUTO_REMOTE struct remote *remote = NULL;

        MUST(open_remote(r, REMOTE_FETCH, &remote));
        assert_int_equal(remote_refs(remote)->n, 0);
        assert_true(git_hash_is_none(&remote_refs(remote)->tip));
}

static void an_empty_repository_has_no_refs(void **state)
{
        with_server(list_nothing);
}

/* ---- fetching ---- */

static void fetch_some(struct rig *r)
{
        struct git_hash first = git_server_commit(&r->server, "main", "a.txt", "one"),
                        second = git_server_commit(&r->server, "main", "folder/b.txt", "two");
        struct git_commit_info info;
        struct slice text;
        bool is;

        fetch(r, &second, 1);
        assert_false(repo_has(r->repo, &first));
        MUST(repo_commit(r->repo, &second, &r->arena, &info, &r->err));
        assert_string_equal(info.subject, "change folder/b.txt");
        assert_string_equal(info.author.name, "Ada");
        assert_string_equal(info.author.email, "ada@example.com");
        assert_int_equal(info.author.when_s, 1700000001);
        assert_int_equal(info.author.offset_min, 60);
        assert_int_equal(info.n_parents, 1);
        assert_string_equal(info.parents[0].hex, first.hex);
        MUST(repo_file(r->repo, &second, "folder/b.txt", 100, &r->arena, &text, &r->err));
        assert_string_equal(text.data, "two");
        assert_int_equal(repo_file(r->repo, &second, "folder/b.txt", 2, &r->arena, &text, &r->err),
                         ERR_LIMIT);
        assert_int_equal(repo_file(r->repo, &second, "folder", 100, &r->arena, &text, &r->err), ERR_INVALID);
        assert_int_equal(repo_file(r->repo, &second, "none", 100, &r->arena, &text, &r->err), ERR_NOT_FOUND);
        fetch(r, &second, 0);
        assert_true(repo_has(r->repo, &second)); /* what is there was not asked for again */
        MUST(repo_is_ancestor(r->repo, &second, &second, &is, &r->err));
        assert_true(is);
}

static void a_commit_is_fetched_without_its_history(void **state)
{
        with_server(fetch_some);
}

static void mirror_twice(struct rig *r)
{
        static const char *const prefixes[] = { "refs/heads/", "refs/tags/", "refs/notes/" };
        struct git_hash first = git_server_commit(&r->server, "main", "a.txt", "one"), tip, found;
        size_t sent;
        bool changed, is;

        git_server_commit(&r->server, "side", "b.txt", "two");
        for (int i = 0; i < 50; i++) {
                char text[2000];

                memset(text, 'a' + i % 26, sizeof(text) - 1);
                text[sizeof(text) - 1] = '\0';
                snprintf(text, 20, "%d", i);
                tip = git_server_commit(&r->server, "main", "a.txt", text);
        }
        {
                AUTO_REMOTE struct remote *remote = NULL;

                MUST(open_remote(r, REMOTE_FETCH, &remote));
                MUST(remote_mirror(remote, r->repo, prefixes, 3, soon(r), &changed, &r->err));
        }
        assert_true(changed);
        sent = r->server.sent;
        MUST(repo_ref(r->repo, "refs/heads/main", &found, &r->err));
        assert_string_equal(found.hex, tip.hex);
        MUST(repo_is_ancestor(r->repo, &first, &tip, &is, &r->err));
        assert_true(is);
        MUST(repo_is_ancestor(r->repo, &tip, &first, &is, &r->err));
        assert_false(is);
        { /* nothing new: one request */
                AUTO_REMOTE struct remote *remote = NULL;

                MUST(open_remote(r, REMOTE_FETCH, &remote));
                MUST(remote_mirror(remote, r->repo, prefixes, 3, soon(r), &changed, &r->err));
                assert_false(changed);
                assert_int_equal(r->server.fetches, 1);
        }
        tip = git_server_commit(&r->server, "main", "c.txt", "three");
        git_server_tag(&r->server, "v1", &tip, "tagged");
        MUST(repo_drop_ref(r->server.repo, "refs/heads/side", &r->err));
        {
                AUTO_REMOTE struct remote *remote = NULL;

                MUST(open_remote(r, REMOTE_FETCH, &remote));
                MUST(remote_mirror(remote, r->repo, prefixes, 3, soon(r), &changed, &r->err));
                assert_true(changed);
        }
        assert_true(r->server.sent * 4 < sent); /* only what is new */
        MUST(repo_commit_of(r->repo, "refs/tags/v1", &found, &r->err));
        assert_string_equal(found.hex, tip.hex);
        assert_int_equal(repo_ref(r->repo, "refs/heads/side", &found, &r->err), ERR_NOT_FOUND);
}

static void a_mirror_follows_its_remote(void **state)
{
        with_server(mirror_twice);
}

/* ---- failures ---- */

static int try_fetch(struct rig *r)
{
        AUTO_REMOTE struct remote *remote = NULL;

        TRY(open_remote(r, REMOTE_FETCH, &remote));
        return remote_fetch(remote, r->repo, &remote_refs(remote)->tip, 1, 1, soon(r), &r->err);
}

static void fetch_from_bad(struct rig *r)
{
        static const struct {
                enum git_fault fault;
                int code;
                const char *words;
        } cases[] = {
                { FAULT_HANGS, ERR_TIMEOUT, "no answer before the deadline" },
                { FAULT_GARBAGE, ERR_INVALID, URL ": the answer is not what Git's protocol has" },
                { FAULT_LIST_CUT, ERR_RETRY, URL ": the answer ended before the list of refs did" },
                { FAULT_CUT_PACK, ERR_RETRY, URL ": the pack of objects is not whole" },
                { FAULT_BROKEN_PACK, ERR_INVALID, URL ": " },
                { FAULT_NO_PACK, ERR_NOT_FOUND, URL ": remote error: upload-pack: not our ref " },
        };

        git_server_commit(&r->server, "main", "a.txt", "one");
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                r->server.fault = cases[i].fault;
                int code = try_fetch(r);

                if (code != cases[i].code || !strstr(r->err.text, cases[i].words))
                        fail_msg("%zu: %d %s", i, code, r->err.text);
        }
        r->server.fault = FAULT_NONE;
        MUST(try_fetch(r));
}

static void a_broken_server_is_told(void **state)
{
        with_server(fetch_from_bad);
}

static void log_in(struct rig *r)
{
        git_server_commit(&r->server, "main", "a.txt", "one");
        r->server.authorized = "Basic YWRhOnB3";
        assert_int_equal(try_fetch(r), ERR_UNAUTHORIZED);
        assert_string_equal(r->err.text, URL ": 401 Unauthorized");
        r->access.username = "ada";
        r->access.password = "pw";
        MUST(try_fetch(r));
        r->access.username = NULL;
        r->access.url = "https://ada:pw@git.example/team/app.git/";
        MUST(try_fetch(r));
        r->access.url = URL;
        r->access.bearer_token = "token";
        r->server.authorized = "Bearer token";
        MUST(try_fetch(r));
        r->access.url = "https://git.example/other";
        assert_int_equal(try_fetch(r), ERR_NOT_FOUND);
        assert_string_equal(r->err.text, "https://git.example/other: 404 Not Found");
        r->access.url = "file:///etc";
        assert_int_equal(try_fetch(r), ERR_INVALID);
}

static void credentials_open_the_repository(void **state)
{
        with_server(log_in);
}

static void follow_moves(struct rig *r)
{
        struct git_server other = r->server;

        git_server_commit(&r->server, "main", "a.txt", "one");
        r->server.moved_to = "https://new.example/here/app/info/refs";
        other.prefix = "/here/app";
        assert_int_equal(loopback_listen(r->net, "new.example", git_server_handle, &other), 0);
        r->access.username = "ada";
        r->access.password = "pw";
        MUST(try_fetch(r));
        assert_int_equal(other.lists, 1);
        assert_int_equal(other.fetches, 1);
        assert_string_equal(other.said, ""); /* it is another origin */
        assert_int_equal(r->server.fetches, 0);
        r->server.moved_to = "https://new.example/here/app/sign-in";
        assert_int_equal(try_fetch(r), ERR_NOT_FOUND);
}

static void a_repository_that_moved_is_followed_without_credentials(void **state)
{
        with_server(follow_moves);
}

static void fetch_much(struct rig *r)
{
        static char text[1 << 20];

        for (size_t i = 0; i < sizeof(text) - 1; i++)
                text[i] = (char)('a' + (i * i * 7 + i / 13 + (i * 31) % 17) % 26);
        git_server_commit(&r->server, "main", "a.txt", text);
        r->access.pack_bytes = 2000;
        assert_int_equal(try_fetch(r), ERR_LIMIT);
        assert_non_null(strstr(r->err.text, "the repository sends more than 2000 bytes"));
        memset(text, 'x', sizeof(text) - 1);
        git_server_commit(&r->server, "main", "a.txt", text);
        r->access.pack_bytes = 20000; /* sixteen times that, inflated */
        assert_int_equal(try_fetch(r), ERR_LIMIT);
        assert_non_null(strstr(r->err.text, "the objects of the repository exceed 320000 bytes"));
}

/* spec/helm-chart.md checklist 93 */
static void what_is_too_large_is_not_taken(void **state)
{
        with_server(fetch_much);
}

/* ---- pushing ---- */

static int push(struct rig *r, struct remote_update *updates, size_t n, bool atomic)
{
        AUTO_REMOTE struct remote *remote = NULL;

        TRY(open_remote(r, REMOTE_PUSH, &remote));
        return remote_push(remote, r->repo, updates, n, atomic, &r->arena, soon(r), &r->err);
}

static struct git_hash commit_here(struct rig *r, const struct git_hash *parent, const char *path,
                                   const char *text)
{
        const struct git_person who = { "Bot", "bot@example.com", 1700001000, 0 };
        const struct git_change change = { path, !text, GIT_EXECUTABLE, slice_of(text) };
        const struct git_new_commit c = { *parent, &change, 1, who, who, "a change\n" };
        struct git_hash made;
        bool same;

        MUST(repo_make_commit(r->repo, &c, &made, &same, &r->err));
        return made;
}

static void push_some(struct rig *r)
{
        struct git_hash first = git_server_commit(&r->server, "main", "a.txt", "one"), next, note, text_of,
                        there;
        const char *text;

        fetch(r, &first, 0);
        next = commit_here(r, &first, "folder/run.sh", "#!/bin/sh\n");
        const struct git_new_note n = { .of = next,
                                        .author = { "Bot", "bot@example.com", 1700001000, 0 },
                                        .text = "{}" };

        MUST(repo_make_note(r->repo, &n, &note, &r->err));
        MUST(repo_note(r->repo, &note, &next, &r->arena, &text, &r->err));
        assert_string_equal(text, "{}");
        const struct git_new_tag t = {
                "sync", next, { "Bot", "bot@example.com", 1700001000, 0 }, "Sync pointer"
        };

        MUST(repo_make_tag(r->repo, &t, &text_of, &r->err));
        struct remote_update updates[] = { { .ref = "refs/heads/main", .to = next },
                                           { .ref = "refs/notes/flux", .to = note },
                                           { .ref = "refs/tags/sync", .to = text_of } };

        MUST(push(r, updates, 3, true));
        MUST(repo_ref(r->server.repo, "refs/heads/main", &there, &r->err));
        assert_string_equal(there.hex, next.hex);
        MUST(repo_commit_of(r->server.repo, "refs/tags/sync", &there, &r->err));
        assert_string_equal(there.hex, next.hex);
        MUST(repo_ref(r->server.repo, "refs/notes/flux", &there, &r->err));
        assert_string_equal(there.hex, note.hex);
        assert_int_equal(r->server.pushes, 1);

        /* Equal ones send nothing, a tag does not move by itself, and goes when it is told to. */
        MUST(push(r, updates, 3, true));
        assert_int_equal(r->server.pushes, 1);
        updates[2].to = first;
        assert_int_equal(push(r, &updates[2], 1, false), ERR_CONFLICT);
        updates[2].force = true;
        MUST(push(r, &updates[2], 1, false));
        updates[2].to = (struct git_hash){ "" };
        MUST(push(r, &updates[2], 1, false));
        assert_int_equal(repo_ref(r->server.repo, "refs/tags/sync", &there, &r->err), ERR_NOT_FOUND);
}

/* spec/flux-yaml.md checklist 59 */
static void commits_tags_and_notes_are_pushed(void **state)
{
        with_server(push_some);
}

static void push_late(struct rig *r)
{
        struct git_hash first = git_server_commit(&r->server, "main", "a.txt", "one"), ours, theirs, there;

        fetch(r, &first, 0);
        ours = commit_here(r, &first, "b.txt", "ours");
        theirs = git_server_commit(&r->server, "main", "c.txt", "theirs");
        struct remote_update updates[] = { { .ref = "refs/heads/main", .to = ours },
                                           { .ref = "refs/heads/new", .to = ours } };

        assert_int_equal(push(r, updates, 2, true), ERR_CONFLICT);
        assert_int_equal(r->server.pushes, 0);
        assert_int_equal(updates[0].outcome, ERR_CONFLICT);
        assert_int_equal(updates[1].outcome, ERR_CANCELLED);
        assert_string_equal(r->err.text,
                            URL ": refs/heads/main: not fast-forward: the remote has commits that "
                                "are not here");
        MUST(repo_ref(r->server.repo, "refs/heads/main", &there, &r->err));
        assert_string_equal(there.hex, theirs.hex);
        assert_int_equal(push(r, updates, 2, false), ERR_CONFLICT); /* each by itself */
        assert_int_equal(updates[1].outcome, 0);
        MUST(repo_ref(r->server.repo, "refs/heads/new", &there, &r->err));
        updates[0].force = true;
        MUST(push(r, updates, 1, true));
        r->server.fault = FAULT_REFUSES_PUSH;
        updates[0].to = first;
        assert_int_equal(push(r, updates, 1, true), ERR_FORBIDDEN);
        assert_string_equal(updates[0].why, "pre-receive hook declined");
}

/* spec/flux-yaml.md checklist 59 */
static void what_is_not_fast_forward_is_not_pushed(void **state)
{
        with_server(push_late);
}

static void push_into_a_race(struct rig *r)
{
        struct git_hash first = git_server_commit(&r->server, "main", "a.txt", "one"), ours;

        fetch(r, &first, 0);
        ours = commit_here(r, &first, "b.txt", "ours");
        struct remote_update updates[] = { { .ref = "refs/heads/main", .to = ours },
                                           { .ref = "refs/heads/new", .to = ours } };

        r->server.fault = FAULT_MOVES;
        assert_int_equal(push(r, updates, 2, true), ERR_CONFLICT);
        assert_string_equal(r->err.text, URL ": refs/heads/main: atomic transaction failed");
        assert_int_equal(push(r, updates, 1, false), ERR_CONFLICT);
        assert_string_equal(r->err.text, URL ": refs/heads/main: failed to update ref");
}

/* spec/flux-yaml.md checklist 59 */
static void another_push_that_the_server_took_first_is_a_conflict(void **state)
{
        with_server(push_into_a_race);
}

/* ---- repositories ---- */

static int note_entry(void *ctx, const struct git_entry *e, struct slice data, struct error *err)
{
        static const char *const kinds[] = { "file", "executable", "link", "folder", "submodule" };

        return buf_printf(ctx, "%s %s %.*s\n", kinds[e->kind], e->path, (int)data.len, or_empty(data.data));
}

static bool not_docs(void *ctx, const struct git_entry *e)
{
        return !text_equal(e->path, "docs");
}

static void walk(struct rig *r)
{
        const struct git_change changes[] = {
                { "b/c", false, GIT_FILE, SLICE("2") },   { "b.txt", false, GIT_EXECUTABLE, SLICE("1") },
                { "b0", false, GIT_LINK, SLICE("b/c") },  { "docs/x", false, GIT_FILE, SLICE("3") },
                { "b/d/e", false, GIT_FILE, SLICE("4") },
        };
        struct git_hash at = git_server_put(&r->server, "main", changes, ARRAY_LEN(changes), "all\n");
        AUTO_BUF struct buf b;
        struct git_walk w = { .take = note_entry, .ctx = &b, .wants = not_docs };
        struct git_entry e;

        buf_init(&b, 4096);
        fetch(r, &at, 1);
        MUST(repo_walk(r->repo, &at, &w, &r->err));
        assert_string_equal(
                b.data,
                "executable b.txt 1\nfolder b \nfile b/c 2\nfolder b/d \nfile b/d/e 4\nlink b0 b/c\n");
        buf_clear(&b);
        w.below = "b/d";
        MUST(repo_walk(r->repo, &at, &w, &r->err));
        assert_string_equal(b.data, "file b/d/e 4\n");
        w.below = "b/c";
        assert_int_equal(repo_walk(r->repo, &at, &w, &r->err), ERR_NOT_FOUND);
        w.below = NULL;
        w.all_bytes = 2;
        assert_int_equal(repo_walk(r->repo, &at, &w, &r->err), ERR_LIMIT);
        MUST(repo_entry(r->repo, &at, "b/c", &r->arena, &e, &r->err));
        assert_int_equal(e.kind, GIT_FILE);
        assert_int_equal(e.size, 1);
        assert_int_equal(repo_entry(r->repo, &at, "b/x", &r->arena, &e, &r->err), ERR_NOT_FOUND);
        const char *folder;

        MUST(git_work_name(r->work, "checkout", &r->arena, &folder, &r->err));
        MUST(repo_checkout(r->repo, &at, folder, &r->err));
        AUTO_FREE char *command =
                mem_printf("cd %s && test \"$(cat b/d/e)\" = 4 && test -x b.txt && test -L b0", folder);
        assert_int_equal(system(command), 0);
        git_work_remove(r->work, folder);
}

static void a_tree_is_walked_in_the_order_of_its_paths(void **state)
{
        with_server(walk);
}

static int pass(void *ctx, const struct git_entry *e, struct slice data, struct error *err)
{
        return 0;
}

static void walk_too_far(struct rig *r)
{
        char deep[2 * GIT_DEPTH_MAX + 4] = "";
        struct git_walk w = { .take = pass };
        struct git_change one = { deep, false, GIT_FILE, SLICE("1") };

        for (size_t i = 0; i < GIT_DEPTH_MAX; i++)
                memcpy(deep + 2 * i, "a/", 3);
        memcpy(deep + strlen(deep), "f", 2);
        struct git_hash at = git_server_put(&r->server, "main", &one, 1, "deep\n");

        MUST(repo_walk(r->server.repo, &at, &w, &r->err));
        memmove(deep + 2, deep, strlen(deep) + 1);
        at = git_server_put(&r->server, "deeper", &one, 1, "deeper\n");
        assert_int_equal(repo_walk(r->server.repo, &at, &w, &r->err), ERR_LIMIT);
        assert_non_null(strstr(r->err.text, "more than 64 folders in each other"));
        at = git_server_put_folders(&r->server, "more", 100, 1000);
        fetch(r, &at, 1); /* packed, it is read faster */
        assert_int_equal(repo_walk(r->repo, &at, &w, &r->err), ERR_LIMIT);
        assert_string_equal(r->err.text, "more than 100000 files and folders");
}

/* spec/helm-chart.md checklist 93 */
static void a_tree_has_its_bounds(void **state)
{
        with_server(walk_too_far);
}

static void read_logs(struct rig *r)
{
        struct git_hash first = git_server_commit(&r->server, "main", "a/x", "1"),
                        second = git_server_commit(&r->server, "main", "b/x", "1"),
                        third = git_server_commit(&r->server, "main", "a/y", "1");
        static const char *const paths[] = { "a" };
        const struct git_commit_info *found;
        size_t n;
        bool more;

        fetch(r, &third, 0);
        struct git_log log = { .until = &third };

        MUST(repo_log(r->repo, &log, &r->arena, &found, &n, &more, &r->err));
        assert_int_equal(n, 3);
        assert_string_equal(found[0].at.hex, third.hex);
        assert_string_equal(found[2].at.hex, first.hex);
        assert_false(more);
        log.paths = paths;
        log.n_paths = 1;
        MUST(repo_log(r->repo, &log, &r->arena, &found, &n, NULL, &r->err));
        assert_int_equal(n, 2);
        assert_string_equal(found[1].at.hex, first.hex);
        log.since = &second;
        MUST(repo_log(r->repo, &log, &r->arena, &found, &n, NULL, &r->err));
        assert_int_equal(n, 1);
        log = (struct git_log){ .until = &third, .most = 2 };
        MUST(repo_log(r->repo, &log, &r->arena, &found, &n, &more, &r->err));
        assert_int_equal(n, 2);
        assert_true(more);
}

static void logs_tell_what_changed_where(void **state)
{
        with_server(read_logs);
}

static void write_commits(struct rig *r)
{
        static const char *const bad[] = { "../x", "a//b", ".git/config", "a/.GIT/x", "", "/x", "." };
        struct git_hash first = git_server_commit(&r->server, "main", "a/b/x", "1"), made;
        const struct git_person who = { "Bot", "bot@example.com", 1700001000, 0 };
        struct git_change change = { "a", true, GIT_FILE, SLICE("") };
        struct git_new_commit c = { first, &change, 1, who, who, "a change\n" };
        struct git_commit_info info;
        struct git_entry e;
        bool same;

        fetch(r, &first, 0);
        MUST(repo_make_commit(r->repo, &c, &made, &same, &r->err));
        assert_false(same);
        assert_int_equal(repo_entry(r->repo, &made, "a", &r->arena, &e, &r->err), ERR_NOT_FOUND);
        MUST(repo_commit(r->repo, &made, &r->arena, &info, &r->err));
        assert_string_equal(info.committer.name, "Bot");
        assert_string_equal(info.parents[0].hex, first.hex);
        change = (struct git_change){ "a/b/x", false, GIT_FILE, SLICE("1") };
        MUST(repo_make_commit(r->repo, &c, &made, &same, &r->err));
        assert_true(same);
        assert_string_equal(made.hex, first.hex);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                change.path = bad[i];
                assert_int_equal(repo_make_commit(r->repo, &c, &made, &same, &r->err), ERR_INVALID);
        }
}

static void commits_are_made_of_changes(void **state)
{
        with_server(write_commits);
}

static void reopen(struct rig *r)
{
        struct git_hash first = git_server_commit(&r->server, "main", "a.txt", "1"), found;

        fetch(r, &first, 0);
        MUST(repo_set_ref(r->repo, "refs/heads/main", &first, &r->err));
        r->repo = repo_close(r->repo);
        assert_int_equal(repo_create(&r->world, r->path, &r->repo, &r->err), ERR_EXISTS);
        MUST(repo_open(&r->world, r->path, &r->repo, &r->err));
        MUST(repo_ref(r->repo, "refs/heads/main", &found, &r->err));
        assert_string_equal(found.hex, first.hex);
        struct repo *none;

        assert_int_equal(repo_open(&r->world, "/nowhere", &none, &r->err), ERR_NOT_FOUND);
        struct git_work *again;
        AUTO_FREE char *folder = mem_printf("%s/work", r->server.folder);

        MUST(git_work_open(&r->world, folder, &again, &r->err)); /* which sweeps */
        git_work_close(again);
        assert_int_equal(repo_open(&r->world, r->path, &none, &r->err), ERR_NOT_FOUND);
}

/* spec/flux-yaml.md checklist 66 */
static void repositories_outlive_their_use_and_are_swept_at_the_next_start(void **state)
{
        with_server(reopen);
}

/* ---- no memory ---- */

static void fetch_starving(struct rig *r)
{
        struct git_hash at = git_server_commit(&r->server, "main", "a.txt", "one");
        bool fired = true;
        int good = 0;

        r->server.replays = true;
        fetch(r, &at, 1);
        arena_free(&r->arena);
        size_t live = mem_live_count();

        for (uint64_t n = 1; fired; n++) {
                struct error e = { 0 };

                mem_fail_at(n, false);
                int code = try_fetch(r);

                fired = mem_fault_fired();
                mem_fail_at(0, false);
                e = r->err;
                arena_free(&r->arena);
                (void)fiber_sleep(r->loop, 100000); /* the server's side ends */
                if (code != 0 &&
                    (!fired || (code != ERR_NO_MEMORY && code != ERR_RETRY && code != ERR_TIMEOUT)))
                        fail_msg("allocation %llu: %s", (unsigned long long)n, e.text);
                good += code == 0;
                assert_int_equal(mem_live_count(), live);
        }
        assert_true(good > 0);
}

static void each_allocation_of_a_fetch_that_fails_is_told(void **state)
{
        with_server(fetch_starving);
}

static void work_starving(struct rig *r)
{
        const struct git_person who = { "Bot", "bot@example.com", 1700001000, 0 };
        const struct git_change change = { "b/c", false, GIT_FILE, SLICE("2") };
        struct git_hash at = git_server_commit(&r->server, "main", "a.txt", "one");
        const struct git_new_commit c = { at, &change, 1, who, who, "a change\n" };
        const struct git_new_note note = { .of = at, .author = who, .text = "{}" };
        const struct git_log log = { .until = &at };
        AUTO_BUF struct buf list;
        const struct git_walk w = { .take = note_entry, .ctx = &list };
        bool fired = true;

        buf_init(&list, 4096);
        fetch(r, &at, 0);
        arena_free(&r->arena);
        size_t live = mem_live_count();

        for (uint64_t n = 1; fired; n++) {
                const struct git_commit_info *found;
                struct git_commit_info info;
                struct git_hash made;
                struct git_entry e;
                struct slice text;
                size_t many;
                int code = 0;

                error_clear(&r->err);
                mem_fail_at(n, false);
                if ((code = repo_make_commit(r->repo, &c, &made, NULL, &r->err)) == 0 &&
                    (code = repo_make_note(r->repo, &note, &made, &r->err)) == 0 &&
                    (code = repo_commit(r->repo, &at, &r->arena, &info, &r->err)) == 0 &&
                    (code = repo_log(r->repo, &log, &r->arena, &found, &many, NULL, &r->err)) == 0 &&
                    (code = repo_entry(r->repo, &at, "a.txt", &r->arena, &e, &r->err)) == 0 &&
                    (code = repo_file(r->repo, &at, "a.txt", 100, &r->arena, &text, &r->err)) == 0)
                        code = repo_walk(r->repo, &at, &w, &r->err);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                arena_free(&r->arena);
                buf_free(&list);
                buf_init(&list, 4096);
                if (code != (fired ? ERR_NO_MEMORY : 0))
                        fail_msg("allocation %llu: %d %s", (unsigned long long)n, code, r->err.text);
                assert_int_equal(mem_live_count(), live);
        }
}

static void each_allocation_of_work_on_objects_that_fails_is_told(void **state)
{
        with_server(work_starving);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_request_tells_all_refs),
                cmocka_unit_test(an_empty_repository_has_no_refs),
                cmocka_unit_test(a_commit_is_fetched_without_its_history),
                cmocka_unit_test(a_mirror_follows_its_remote),
                cmocka_unit_test(a_broken_server_is_told),
                cmocka_unit_test(credentials_open_the_repository),
                cmocka_unit_test(a_repository_that_moved_is_followed_without_credentials),
                cmocka_unit_test(what_is_too_large_is_not_taken),
                cmocka_unit_test(commits_tags_and_notes_are_pushed),
                cmocka_unit_test(what_is_not_fast_forward_is_not_pushed),
                cmocka_unit_test(another_push_that_the_server_took_first_is_a_conflict),
                cmocka_unit_test(a_tree_is_walked_in_the_order_of_its_paths),
                cmocka_unit_test(a_tree_has_its_bounds),
                cmocka_unit_test(logs_tell_what_changed_where),
                cmocka_unit_test(commits_are_made_of_changes),
                cmocka_unit_test(each_allocation_of_a_fetch_that_fails_is_told),
                cmocka_unit_test(each_allocation_of_work_on_objects_that_fails_is_told),
                cmocka_unit_test(repositories_outlive_their_use_and_are_swept_at_the_next_start),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
