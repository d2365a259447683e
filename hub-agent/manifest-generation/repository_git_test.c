/* The repository of syncs, against a Git server of the same process. spec/flux-yaml.md 2, 8, 9.4. */
#include "e2e/sources/git_server.h"
#include "hub-agent/manifest-generation/generation_rig_test.h"
#include "hub-agent/manifest-generation/repository_git.h"

#define GIT_URL "https://git.example/team/app.git"

struct bench {
        struct rig *rig;
        struct git_server server;
        struct world world;
        struct log log;
        struct kube_client kube;
        struct repository_git_options options;
        struct repository_git *git;
        struct error err;
        char folder[96];
};

#define MUST(b, call)                                                                                        \
        do {                                                                                                 \
                if ((call) < 0)                                                                              \
                        fail_msg("%s", (b)->err.text);                                                       \
        } while (0)

static void open_bench(struct rig *r, struct bench *b)
{
        static const struct log_sink silent = { .least = LOG_ERROR };

        *b = (struct bench){ .rig = r, .log = { .sink = &silent } };
        world_init_real(&b->world, r->loop, &silent);
        b->world.transport = r->client;
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"fleet-system\"}}");
        git_server_begin(&b->server, &b->world);
        assert_int_equal(loopback_listen(r->net, "git.example", git_server_handle, &b->server), 0);
        snprintf(b->folder, sizeof(b->folder), "%s/data", b->server.folder);
        b->kube = (struct kube_client){ .world = &b->world, .endpoint = &r->endpoint, .log = &b->log };
        b->options = (struct repository_git_options){ .world = &b->world,
                                                      .log = &b->log,
                                                      .kube = &b->kube,
                                                      .ns = "fleet-system",
                                                      .secret = "flux-git-deploy",
                                                      .url = GIT_URL,
                                                      .branch = "main",
                                                      .tag = "flux-sync",
                                                      .notes = "flux",
                                                      .user = "Argosy",
                                                      .mail = "argosy@example.com",
                                                      .folder = b->folder,
                                                      .timeout_ms = 20000 };
        MUST(b, repository_git_open(&b->options, &b->git, &b->err));
}

static void close_bench(struct bench *b)
{
        b->git = repository_git_close(b->git);
        loopback_listen(b->rig->net, "git.example", NULL, NULL);
        git_server_end(&b->server);
}

static void fetch(struct bench *b)
{
        error_clear(&b->err);
        MUST(b, repository_git_ops.fetch(b->git, &b->err));
}

static const char *ref_of(struct bench *b, const char *name, struct git_hash *ret)
{
        *ret = (struct git_hash){ "" };
        (void)repo_ref(b->server.repo, name, ret, NULL);
        return ret->hex;
}

/* spec/flux-yaml.md checklist 5 */
RIG_TEST(a_missing_branch_is_named, {
        struct git_hash head;
        struct bench b;

        open_bench(r, &b);
        git_server_commit(&b.server, "other", "a", "b");
        fetch(&b);
        assert_int_equal(repository_git_ops.head(b.git, &head, &b.err), ERR_NOT_FOUND);
        assert_string_equal(b.err.text, "configured branch 'main' does not exist");
        close_bench(&b);
})

/* spec/flux-yaml.md checklist 5 */
RIG_TEST(the_tag_of_the_write_check_is_gone_afterwards, {
        struct bench b;
        struct git_hash at;

        open_bench(r, &b);
        git_server_commit(&b.server, "main", "a", "b");
        fetch(&b);
        MUST(&b, repository_git_ops.check_write(b.git, "flux-write-check-0123456789", &b.err));
        assert_int_equal(b.server.pushes, 2);
        assert_string_equal(ref_of(&b, "refs/tags/flux-write-check-0123456789", &at), "");
        b.server.fault = FAULT_REFUSES_PUSH;
        assert_int_equal(repository_git_ops.check_write(b.git, "flux-write-check-1", &b.err), ERR_FORBIDDEN);
        close_bench(&b);
})

/* spec/flux-yaml.md checklist 46 */
RIG_TEST(the_sync_tag_is_annotated_moved_and_pushed, {
        struct bench b;
        struct git_hash first;
        struct git_hash second;
        struct git_hash at;

        open_bench(r, &b);
        first = git_server_commit(&b.server, "main", "a", "b");
        fetch(&b);
        MUST(&b, repository_git_ops.synced(b.git, &at, &b.err));
        assert_true(git_hash_is_none(&at));
        MUST(&b, repository_git_ops.set_synced(b.git, &first, &b.err));
        second = git_server_commit(&b.server, "main", "a", "c");
        fetch(&b);
        MUST(&b, repository_git_ops.set_synced(b.git, &second, &b.err));
        MUST(&b, repository_git_ops.synced(b.git, &at, &b.err));
        assert_string_equal(at.hex, second.hex);
        MUST(&b, repo_commit_of(b.server.repo, "refs/tags/flux-sync", &at, &b.err));
        assert_string_equal(at.hex, second.hex);
        assert_string_not_equal(ref_of(&b, "refs/tags/flux-sync", &at), second.hex); /* a tag of its own */
        close_bench(&b);
})

static void look_at_checkout(struct bench *b, const struct git_hash *commit, struct arena *arena)
{
        struct checkout c = { 0 };
        struct slice text;
        AUTO_FREE char *below = NULL;
        struct volume_info info;
        struct volume *work;

        MUST(b, repository_git_ops.checkout(b->git, commit, arena, &c, &b->err));
        MUST(b, tree_read(&c.tree, arena, "staging/a.yaml", &text, &b->err));
        assert_true(slice_is(text, "a: b\n"));
        assert_true(text_starts_with(c.root, b->folder));
        MUST(b, volume_open(&b->world, b->folder, &work, &b->err));
        below = mem_strdup(c.root + strlen(b->folder) + 1);
        MUST(b, volume_look(work, below, &info, &b->err));
        repository_git_ops.discard(b->git, &c);
        assert_int_equal(volume_look(work, below, &info, NULL), ERR_NOT_FOUND);
        repository_git_ops.discard(b->git, &c); /* once more is nothing */
        volume_close(work);
}

/* spec/flux-yaml.md checklist 66 */
RIG_TEST(a_checkout_is_a_folder_of_its_own_that_goes, {
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct bench b;
        struct git_hash head;

        open_bench(r, &b);
        head = git_server_commit(&b.server, "main", "staging/a.yaml", "a: b\n");
        fetch(&b);
        look_at_checkout(&b, &head, &arena);
        close_bench(&b);
})

/* spec/flux-yaml.md checklist 66 */
RIG_TEST(what_an_earlier_process_left_is_gone_but_for_the_mirror, {
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_FREE char *left = NULL;
        struct checkout c = { 0 };
        struct git_hash head;
        struct git_hash found;
        struct bench b;
        struct error err = { 0 };

        open_bench(r, &b);
        head = git_server_commit(&b.server, "main", "a", "b");
        fetch(&b);
        MUST(&b, repository_git_ops.checkout(b.git, &head, &arena, &c, &b.err));
        left = mem_strdup(c.root);
        b.git = repository_git_close(b.git); /* as if it were killed: the folder is not removed */
        MUST(&b, repository_git_open(&b.options, &b.git, &b.err));
        {
                struct volume *v = NULL;

                assert_int_equal(volume_open(&b.world, left, &v, &err), ERR_NOT_FOUND);
        }
        MUST(&b, repository_git_ops.head(b.git, &found, &b.err));
        assert_string_equal(found.hex, head.hex);
        {
                struct repository_git *now = b.git;

                b.git = NULL;
                repository_git_ops.discard(now, &c);
                b.git = now;
        }
        close_bench(&b);
})

static struct publication one_change(const struct git_hash *parent)
{
        static const struct git_change change = { .path = "a.yaml", .data = { "new\n", 4 } };

        return (struct publication){ .parent = *parent,
                                     .changes = &change,
                                     .n_changes = 1,
                                     .author = "Ada",
                                     .author_mail = "ada@example.com",
                                     .message = "Automated: apps:deployment/web",
                                     .note = "{\"jobID\":\"1\"}" };
}

/* spec/flux-yaml.md checklist 58 */
RIG_TEST(a_commit_is_pushed_with_its_note, {
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct publication p;
        struct git_commit_info info;
        struct git_hash head;
        struct git_hash at;
        struct sync_commit *log;
        struct bench b;
        const char *note;
        size_t n;
        bool same;
        bool more;

        open_bench(r, &b);
        head = git_server_commit(&b.server, "main", "a.yaml", "old\n");
        fetch(&b);
        p = one_change(&head);
        MUST(&b, repository_git_ops.publish(b.git, &p, &at, &same, &b.err));
        assert_false(same);
        assert_string_equal(ref_of(&b, "refs/heads/main", &head), at.hex);
        MUST(&b, repo_commit(b.server.repo, &at, &arena, &info, &b.err));
        assert_string_equal(info.author.name, "Ada");
        assert_string_equal(info.committer.name, "Argosy");
        assert_string_equal(info.subject, "Automated: apps:deployment/web");
        ref_of(&b, "refs/notes/flux", &head);
        MUST(&b, repo_note(b.server.repo, &head, &at, &arena, &note, &b.err));
        assert_memory_equal(note, "{\"jobID\":\"1\"}", 13);
        MUST(&b, repository_git_ops.log(b.git, &(struct git_hash){ "" }, &at, NULL, 0, 10, &arena, &log, &n,
                                        &more, &b.err));
        assert_int_equal(n, 2);
        assert_memory_equal(log[0].note, "{\"jobID\":\"1\"}", 13);
        assert_null(log[1].note);
        close_bench(&b);
})

/* spec/flux-yaml.md checklist 58 */
RIG_TEST(no_change_gives_no_commit, {
        struct publication p;
        struct git_hash head;
        struct git_hash at;
        struct bench b;
        bool same;

        open_bench(r, &b);
        head = git_server_commit(&b.server, "main", "a.yaml", "new\n");
        fetch(&b);
        p = one_change(&head);
        MUST(&b, repository_git_ops.publish(b.git, &p, &at, &same, &b.err));
        assert_true(same);
        assert_int_equal(b.server.pushes, 0);
        close_bench(&b);
})

/* spec/flux-yaml.md checklist 59 */
RIG_TEST(who_was_faster_is_not_overwritten, {
        struct publication p;
        struct git_hash head;
        struct git_hash theirs;
        struct git_hash at;
        struct bench b;
        bool same;

        open_bench(r, &b);
        head = git_server_commit(&b.server, "main", "a.yaml", "old\n");
        fetch(&b);
        theirs = git_server_commit(&b.server, "main", "b.yaml", "theirs\n");
        p = one_change(&head);
        assert_int_equal(repository_git_ops.publish(b.git, &p, &at, &same, &b.err), ERR_CONFLICT);
        assert_string_equal(ref_of(&b, "refs/heads/main", &at), theirs.hex);
        assert_string_equal(ref_of(&b, "refs/notes/flux", &at), "");
        close_bench(&b);
})

/* spec/flux-yaml.md checklist 67 */
RIG_TEST(the_secret_opens_the_repository_and_is_not_told, {
        struct bench b;

        open_bench(r, &b);
        git_server_commit(&b.server, "main", "a", "b");
        b.server.authorized = "Basic YWRhOnMzY3JldA==";
        assert_int_equal(repository_git_ops.fetch(b.git, &b.err), ERR_UNAUTHORIZED);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/fleet-system/secrets",
                                  "{\"metadata\":{\"name\":\"flux-git-deploy\"},\"data\":{\"username\":"
                                  "\"YWRh\",\"password\":\"czNjcmV0\"}}"),
                         201);
        fetch(&b);
        b.server.authorized = "another";
        assert_int_equal(repository_git_ops.fetch(b.git, &b.err), ERR_UNAUTHORIZED);
        assert_null(strstr(b.err.text, "s3cret"));
        close_bench(&b);
})

RIG_TEST(what_takes_too_long_is_told_as_its_command, {
        struct bench b;

        open_bench(r, &b);
        b.server.fault = FAULT_HANGS;
        assert_int_equal(repository_git_ops.fetch(b.git, &b.err), ERR_TIMEOUT);
        assert_string_equal(b.err.text,
                            "running git command: git [fetch --tags origin]: context deadline exceeded");
        close_bench(&b);
})

static size_t count_packs(struct bench *b)
{
        AUTO_FREE char *names = NULL;
        AUTO_FREE char *folder = NULL;
        struct volume *v;
        size_t n = 0;

        MUST(b, volume_open(&b->world, b->folder, &v, &b->err));
        MUST(b, volume_list(v, "", &names, &b->err));
        for (const char *name = names; *name; name += strlen(name) + 1)
                if (text_starts_with(name, "mirror-"))
                        folder = mem_printf("%s/objects/pack", name);
        mem_free(TAKE_PTR(names));
        MUST(b, volume_list(v, folder, &names, &b->err));
        for (const char *name = names; *name; name += strlen(name) + 1)
                n += text_ends_with(name, ".pack");
        volume_close(v);
        return n;
}

RIG_TEST(a_mirror_of_many_packs_is_made_anew, {
        struct git_hash head;
        struct git_hash at;
        struct bench b;
        char text[2] = "a";

        open_bench(r, &b);
        b.options.most_packs = 3;
        for (int i = 0; i < 8; i++) {
                text[0]++;
                head = git_server_commit(&b.server, "main", "a", text);
                fetch(&b);
                MUST(&b, repository_git_ops.head(b.git, &at, &b.err));
                assert_string_equal(at.hex, head.hex);
                assert_true(count_packs(&b) <= 3);
        }
        head = git_server_commit(&b.server, "main", "a", "z");
        b.server.fault = FAULT_HANGS; /* who does not answer takes nothing away */
        assert_int_equal(repository_git_ops.fetch(b.git, &b.err), ERR_TIMEOUT);
        assert_true(count_packs(&b) > 0);
        close_bench(&b);
})

RIG_TEST(a_mirror_that_somebody_removed_is_made_anew, {
        AUTO_FREE char *command = NULL;
        struct git_hash head;
        struct git_hash at;
        struct bench b;

        open_bench(r, &b);
        head = git_server_commit(&b.server, "main", "a", "b");
        fetch(&b);
        command = mem_printf("rm -rf %s/mirror-*", b.folder);
        assert_int_equal(system(command), 0);
        fetch(&b);
        MUST(&b, repository_git_ops.head(b.git, &at, &b.err));
        assert_string_equal(at.hex, head.hex);
        close_bench(&b);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_missing_branch_is_named),
                cmocka_unit_test(the_tag_of_the_write_check_is_gone_afterwards),
                cmocka_unit_test(the_sync_tag_is_annotated_moved_and_pushed),
                cmocka_unit_test(a_checkout_is_a_folder_of_its_own_that_goes),
                cmocka_unit_test(what_an_earlier_process_left_is_gone_but_for_the_mirror),
                cmocka_unit_test(a_commit_is_pushed_with_its_note),
                cmocka_unit_test(no_change_gives_no_commit),
                cmocka_unit_test(who_was_faster_is_not_overwritten),
                cmocka_unit_test(the_secret_opens_the_repository_and_is_not_told),
                cmocka_unit_test(what_takes_too_long_is_told_as_its_command),
                cmocka_unit_test(a_mirror_of_many_packs_is_made_anew),
                cmocka_unit_test(a_mirror_that_somebody_removed_is_made_anew),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
