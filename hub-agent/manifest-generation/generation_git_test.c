/* A whole agent over Git: a server of the same process, and files of the machine. */
#include "e2e/sources/git_server.h"
#include "hub-agent/manifest-generation/generation_rig_test.h"
#include "hub-agent/manifest-generation/repository_git.h"
#include "hub-agent/manifest-generation/request.h"

#define GIT_URL "https://ada:s3cret@git.example/team/app.git"
#define AUTHORIZED "Basic YWRhOnMzY3JldA=="
#define DEPLOYMENT(image)                                                                                    \
        "# kept\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: apps}\nspec:\n"     \
        "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n"                   \
        "    spec: {containers: [{name: c, image: '" image "'}]} # kept, too\n"

struct whole {
        struct generator g;
        struct git_server server;
        struct kube_client kube;
        struct repository_git_options options;
        struct repository_git *git;
        struct error err;
        char folder[96];
};

static void begin(struct rig *r, struct whole *w)
{
        static const char *const paths[] = { "staging" };
        const struct world *real = &w->g.world;

        *w = (struct whole){ 0 };
        generator_make(r, &w->g);
        world_init_real(&w->g.world, r->loop, &w->g.sink);
        w->g.world.transport = r->client;
        git_server_begin(&w->server, &w->g.world);
        w->server.authorized = AUTHORIZED;
        assert_int_equal(loopback_listen(r->net, "git.example", git_server_handle, &w->server), 0);
        snprintf(w->folder, sizeof(w->folder), "%s/data", w->server.folder);
        w->kube = (struct kube_client){ .world = (struct world *)(uintptr_t)real,
                                        .endpoint = &r->endpoint,
                                        .log = &w->g.log };
        w->options = (struct repository_git_options){ .world = &w->g.world,
                                                      .log = &w->g.log,
                                                      .kube = &w->kube,
                                                      .ns = "fleet-system",
                                                      .secret = "flux-git-deploy",
                                                      .url = GIT_URL,
                                                      .branch = "main",
                                                      .tag = "flux-sync",
                                                      .notes = "flux",
                                                      .user = "Argosy",
                                                      .mail = "argosy@example.com",
                                                      .folder = w->folder,
                                                      .timeout_ms = 20000 };
        if (repository_git_open(&w->options, &w->git, &w->err) < 0)
                fail_msg("%s", w->err.text);
        w->g.options.repository = (struct repository){ &repository_git_ops, w->git };
        w->g.options.url = "https://ada@git.example/team/app.git";
        w->g.options.public_url = "https://git.example/team/app.git";
        w->g.options.paths = paths;
        w->g.options.n_paths = 1;
}

static void end(struct rig *r, struct whole *w)
{
        generator_end(&w->g);
        repository_git_close(w->git);
        loopback_listen(r->net, "git.example", NULL, NULL);
        git_server_end(&w->server);
}

static void assert_clean(struct whole *w, struct rig *r, const char *where)
{
        assert_int_equal(rig_get(r, where), 200);
        assert_null(strstr(r->text, "s3cret"));
        assert_null(strstr(or_empty(w->g.logged), "s3cret"));
}

/* spec/flux-yaml.md checklist 3, 6, 46 */
RIG_TEST(what_is_pushed_to_the_branch_is_synced_and_recorded_there, {
        struct git_hash first;
        struct git_hash second;
        struct git_hash tag;
        struct whole w;

        begin(r, &w);
        git_server_commit(&w.server, "main", "production/a.yaml", CONFIG_MAP("elsewhere", "{}"));
        first = git_server_commit(&w.server, "main", "staging/a.yaml", CONFIG_MAP("one", "{a: b}"));
        git_server_commit(&w.server, "other", "staging/b.yaml", CONFIG_MAP("two", "{}"));
        generator_start(&w.g);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_int_equal(rig_get(r, CONFIGS "elsewhere"), 404);
        assert_int_equal(rig_get(r, CONFIGS "two"), 404);
        assert_int_equal(repo_commit_of(w.server.repo, "refs/tags/flux-sync", &tag, NULL), 0);
        assert_string_equal(tag.hex, first.hex);
        second = git_server_commit(&w.server, "main", "staging/a.yaml", CONFIG_MAP("one", "{a: c}"));
        pass(&w.g, 5 * MINUTES + 5 * SECONDS);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "c");
        assert_int_equal(repo_commit_of(w.server.repo, "refs/tags/flux-sync", &tag, NULL), 0);
        assert_string_equal(tag.hex, second.hex);
        end(r, &w);
})

/* spec/flux-yaml.md checklist 56, 58 */
RIG_TEST(a_release_is_a_commit_of_the_branch_with_its_note, {
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct git_commit_info info;
        struct git_hash head;
        struct git_hash notes;
        struct slice text;
        struct whole w;
        const char *note;

        begin(r, &w);
        git_server_commit(&w.server, "main", "staging/a.yaml", DEPLOYMENT("nginx:1.25"));
        w.g.options.set_author = true;
        w.g.options.skip_text = "\n\n[ci skip]";
        generator_start(&w.g);
        assert_int_equal(
                rig_post(r, "/api/v1/namespaces/fleet-system/configmaps",
                         "{\"metadata\":{\"name\":\"job\",\"labels\":{\"fluxcd.io/request\":\"true\"}},"
                         "\"data\":{\"type\":\"image\",\"workloads\":\"*\",\"image\":\"nginx:1.26\","
                         "\"user\":\"Bob <bob@example.com>\",\"message\":\"release it\"}}"),
                201);
        rig_settle(r);
        assert_int_equal(repo_ref(w.server.repo, "refs/heads/main", &head, NULL), 0);
        assert_int_equal(repo_commit(w.server.repo, &head, &arena, &info, NULL), 0);
        assert_string_equal(info.subject, "release it");
        assert_non_null(strstr(info.message, "[ci skip]"));
        assert_string_equal(info.author.name, "Bob");
        assert_string_equal(info.author.email, "bob@example.com");
        assert_string_equal(info.committer.name, "Argosy");
        assert_int_equal(repo_file(w.server.repo, &head, "staging/a.yaml", 10000, &arena, &text, NULL), 0);
        assert_true(slice_is(text, DEPLOYMENT("nginx:1.26")));
        assert_int_equal(repo_ref(w.server.repo, "refs/notes/flux", &notes, NULL), 0);
        assert_int_equal(repo_note(w.server.repo, &notes, &head, &arena, &note, NULL), 0);
        assert_non_null(strstr(note, "\"type\":\"image\""));
        assert_int_equal(rig_get(r, "/apis/apps/v1/namespaces/apps/deployments/web"), 200);
        assert_non_null(strstr(r->text, "nginx:1.26"));
        end(r, &w);
})

/* spec/flux-yaml.md checklist 67 */
RIG_TEST(no_credential_is_told_anywhere, {
        struct whole w;

        begin(r, &w);
        git_server_commit(&w.server, "main", "staging/a.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&w.g);
        w.server.authorized = "another";
        pass(&w.g, 6 * MINUTES);
        assert_string_equal(status_of(r, "repository"), "new");
        assert_true(times_logged(&w.g, "the repository is not ready") > 0);
        assert_clean(&w, r, STATUS);
        assert_clean(&w, r, "/api/v1/namespaces/fleet-system/events");
        end(r, &w);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_pushed_to_the_branch_is_synced_and_recorded_there),
                cmocka_unit_test(a_release_is_a_commit_of_the_branch_with_its_note),
                cmocka_unit_test(no_credential_is_told_anywhere),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
