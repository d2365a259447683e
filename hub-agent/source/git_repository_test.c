/* Git repositories within a whole agent: spec/helm-chart.md 12.1. */
#include <sys/stat.h>

#include "e2e/sources/git_server.h"
#include "hub-agent/source/source_test.h"

#include "common/base/gzip.h"

#define REPO SOURCES "gitrepositories/app"
#define SPEC "\"url\":\"https://git.example/team/app.git\",\"interval\":\"5m\""
#define MAIN ",\"ref\":{\"branch\":\"main\"}"

struct place {
        struct fleet fleet;
        struct web web;
        struct git_server git;
        char work[100];
};

static void begin(struct rig *r, struct place *p)
{
        static struct world world;

        world = (struct world){ .loop = r->loop };
        git_server_begin(&p->git, &world);
        snprintf(p->work, sizeof(p->work), "%s/work", p->git.folder);
        assert_int_equal(mkdir(p->work, 0700), 0);
        begin_sources_in(r, &p->fleet, &p->web, p->work);
        assert_int_equal(loopback_listen(r->net, "git.example", git_server_handle, &p->git), 0);
}

static void assert_nothing_left(struct place *p)
{
        AUTO_FREE char *command = mem_printf("test -z \"$(ls -A %s)\"", p->work);

        assert_int_equal(system(command), 0);
}

static void end(struct rig *r, struct place *p)
{
        end_sources(r, &p->fleet, &p->web);
        loopback_listen(r->net, "git.example", NULL, NULL);
        assert_nothing_left(p); /* spec 13: work folders go with their run */
        git_server_end(&p->git);
}

static void add_git(struct rig *r, const char *spec)
{
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"GitRepository\","
                           "\"metadata\":{\"name\":\"app\"},\"spec\":{%s}}",
                           spec);

        if (rig_post(r, SOURCES "gitrepositories", body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

static void add_secret(struct rig *r, const char *data)
{
        AUTO_FREE char *body = mem_printf("{\"metadata\":{\"name\":\"git\"},\"stringData\":{%s}}", data);

        assert_int_equal(rig_post(r, "/api/v1/namespaces/apps/secrets", body), 201);
        rig_settle(r);
}

static void change(struct rig *r, const char *patch)
{
        if (rig_merge(r, REPO, patch) != 200)
                fail_msg("%s", r->text);
        rig_settle(r);
}

/* Names and modes in the archive of the status, "0644 a.txt 3\n" each; the text lives in the rig's arena. */
static const char *archive(struct rig *r, struct place *p)
{
        AUTO_BUF struct buf tar;
        AUTO_BUF struct buf list;
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        static char packed[1 << 20];
        size_t n;

        buf_init(&tar, 8 << 20);
        buf_init(&list, 1 << 20);
        assert_int_equal(rig_get(r, REPO), 200);
        const char *path = rig_string(r, "status.artifact.path");

        if (!path || volume_open_file(p->web.options.volume, path, &file, NULL) < 0)
                fail_msg("no artifact: %s", r->text);
        assert_int_equal(volume_read(file, 0, packed, sizeof(packed), &n, NULL), 0);
        assert_int_equal(gzip_unpack((struct slice){ packed, n }, &tar, NULL), 0);
        for (size_t at = 0; at + 512 <= tar.len && tar.data[at];) {
                size_t size = strtoul(tar.data + at + 124, NULL, 8);

                buf_printf(&list, "%s %s", tar.data + at + 103, tar.data + at);
                if (tar.data[at + 156] != '5')
                        buf_printf(&list, " %zu", size);
                buf_append_char(&list, '\n');
                at += 512 + (size + 511) / 512 * 512;
        }
        return arena_strdup(&r->arena, list.data);
}

static void assert_revision(struct rig *r, const char *label, const struct git_hash *commit)
{
        AUTO_FREE char *want = mem_printf("%s%ssha1:%s", label, *label ? "@" : "", commit->hex);

        assert_condition(r, REPO, "Ready", "True", "Succeeded", NULL);
        assert_string_equal(rig_string(r, "status.artifact.revision"), want);
}

/* ---- what is kept ---- */

/* spec/helm-chart.md checklist 88, 95 */
RIG_TEST(a_branch_is_fetched_and_kept, {
        static struct place p;

        begin(r, &p);
        struct git_hash at = git_server_commit(&p.git, "master", "a.txt", "one");

        add_git(r, SPEC); /* without a ref: master */
        AUTO_FREE char *text = mem_printf("stored artifact for revision 'master@sha1:%s'", at.hex);

        assert_condition(r, REPO, "Ready", "True", "Succeeded", text);
        assert_condition(r, REPO, "ArtifactInStorage", "True", "Succeeded", text);
        assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 1);
        AUTO_FREE char *path = mem_printf("gitrepository/apps/app/%s.tar.gz", at.hex);

        assert_string_equal(rig_string(r, "status.artifact.path"), path);
        assert_string_equal(rig_string(r, "status.url"), "");
        assert_true(is_kept(&p.web, path));
        assert_string_equal(archive(r, &p), "0600 a.txt 3\n");
        assert_true(has_event(r, "Normal", "NewArtifact", "stored artifact for commit 'change a.txt'"));
        assert_int_equal(p.git.lists, 1);
        assert_int_equal(p.git.fetches, 1);
        rig_delete(r, REPO);
        rig_settle(r);
        assert_int_equal(rig_get(r, REPO), 404);
        assert_false(is_kept(&p.web, path));
        end(r, &p);
})

/* spec/helm-chart.md checklist 88 */
RIG_TEST(what_did_not_change_costs_one_request, {
        static struct place p;

        begin(r, &p);
        git_server_commit(&p.git, "main", "a.txt", "one");
        add_git(r, SPEC MAIN);
        pass_time(r, 5 * MINUTE_MS);
        assert_int_equal(p.git.lists, 2);
        assert_int_equal(p.git.fetches, 1);
        assert_true(has_event(r, "Normal", "ArtifactUpToDate",
                              "artifact up-to-date with remote revision: 'main@sha1:"));
        struct git_hash next = git_server_commit(&p.git, "main", "a.txt", "two");

        pass_time(r, 5 * MINUTE_MS);
        assert_revision(r, "main", &next);
        assert_int_equal(p.git.fetches, 2);
        assert_string_equal(part_of_condition(r, "ArtifactOutdated", "status"), "absent");
        end(r, &p);
})

/* spec/helm-chart.md checklist 88 */
RIG_TEST(the_spec_says_which_commit_counts, {
        static struct place p;

        begin(r, &p);
        struct git_hash first = git_server_commit(&p.git, "main", "a.txt", "1");
        struct git_hash second = git_server_commit(&p.git, "main", "a.txt", "2");
        struct git_hash third = git_server_commit(&p.git, "side", "a.txt", "3");

        git_server_tag(&p.git, "v1.0.0", &first, "annotated");
        git_server_tag(&p.git, "1.2.0", &second, NULL);
        git_server_tag(&p.git, "v2.0.0-rc.1", &third, NULL);
        git_server_tag(&p.git, "v3", &third, NULL); /* not three parts */
        add_git(r, SPEC ",\"ref\":{\"branch\":\"side\"}");
        assert_revision(r, "side", &third);
        change(r, "{\"spec\":{\"ref\":{\"tag\":\"v1.0.0\"}}}"); /* before the branch */
        assert_revision(r, "v1.0.0", &first);
        change(r, "{\"spec\":{\"ref\":{\"semver\":\">=1.0.0\"}}}");
        assert_revision(r, "1.2.0", &second);
        change(r, "{\"spec\":{\"ref\":{\"semver\":\">=1.0.0-0\"}}}");
        assert_revision(r, "v2.0.0-rc.1", &third);
        change(r, "{\"spec\":{\"ref\":{\"name\":\"refs/heads/main\"}}}");
        assert_revision(r, "refs/heads/main", &second);
        change(r, "{\"spec\":{\"ref\":{\"name\":\"HEAD\"}}}");
        assert_revision(r, "HEAD", &second);
        AUTO_FREE char *commit =
                mem_printf("{\"spec\":{\"ref\":{\"commit\":\"%s\",\"branch\":\"main\"}}}", first.hex);

        change(r, commit);
        assert_revision(r, "main", &first);
        change(r, "{\"spec\":{\"ref\":{\"branch\":null}}}");
        assert_revision(r, "", &first);
        change(r, "{\"spec\":{\"ref\":{\"commit\":null,\"name\":null,\"semver\":\"9.*\"}}}");
        assert_condition(r, REPO, "FetchFailed", "True", "GitOperationFailed",
                         "failed to checkout and determine revision: no match found for semver: 9.*");
        change(r, "{\"spec\":{\"ref\":{\"semver\":null,\"tag\":\"none\"}}}");
        assert_condition(r, REPO, "FetchFailed", "True", "GitOperationFailed",
                         "failed to checkout and determine revision: couldn't find remote ref "
                         "\"refs/tags/none\"");
        assert_int_equal(*rig_string(r, "status.artifact.revision") != 0, 1); /* the old one stays */
        end(r, &p);
})

/* spec/helm-chart.md checklist 88 */
RIG_TEST(of_versions_equal_up_to_metadata_the_later_commit_counts, {
        static struct place p;

        begin(r, &p);
        struct git_hash first = git_server_commit(&p.git, "main", "a.txt", "1");
        struct git_hash second = git_server_commit(&p.git, "main", "a.txt", "2");

        git_server_tag(&p.git, "1.0.0+a", &second, NULL);
        git_server_tag(&p.git, "1.0.0+b", &first, NULL);
        add_git(r, SPEC ",\"ref\":{\"semver\":\"1.x\"}");
        assert_revision(r, "1.0.0+a", &second);
        pass_time(r, 5 * MINUTE_MS);
        assert_int_equal(p.git.lists, 2);
        assert_int_equal(p.git.fetches, 1);
        end(r, &p);
})

/* spec/helm-chart.md checklist 88 */
RIG_TEST(a_commit_at_no_ref_is_found_in_the_history, {
        static struct place p;

        begin(r, &p);
        struct git_hash first = git_server_commit(&p.git, "main", "a.txt", "1");

        git_server_commit(&p.git, "main", "a.txt", "2");
        AUTO_FREE char *spec = mem_printf(SPEC ",\"ref\":{\"commit\":\"%s\"}", first.hex);

        add_git(r, spec);
        assert_revision(r, "", &first);
        change(r, "{\"spec\":{\"ref\":{\"commit\":\"1111111111111111111111111111111111111111\"}}}");
        assert_condition(r, REPO, "FetchFailed", "True", "GitOperationFailed",
                         "failed to checkout and determine revision: couldn't find commit "
                         "1111111111111111111111111111111111111111 in the history of any branch");
        change(r, "{\"spec\":{\"ref\":{\"commit\":\"main\"}}}");
        assert_condition(r, REPO, "FetchFailed", "True", "GitOperationFailed",
                         "failed to checkout and determine revision: 'main' is no hash of a commit: 40 "
                         "hexadecimal digits");
        end(r, &p);
})

RIG_TEST(a_branch_that_was_replaced_is_followed, {
        static struct place p;

        begin(r, &p);
        git_server_commit(&p.git, "main", "a.txt", "1");
        add_git(r, SPEC MAIN);
        assert_int_equal(repo_drop_ref(p.git.repo, "refs/heads/main", NULL), 0);
        struct git_hash other = git_server_commit(&p.git, "main", "b.txt", "2");

        pass_time(r, 5 * MINUTE_MS);
        assert_revision(r, "main", &other);
        assert_string_equal(archive(r, &p), "0600 b.txt 1\n");
        end(r, &p);
})

/* ---- what is in it ---- */

/* spec/helm-chart.md checklist 90 */
RIG_TEST(files_are_left_out_by_rule, {
        static struct place p;
        static const struct git_change changes[] = {
                { "app/.gitignore", false, GIT_FILE, SLICE("x") },
                { "app/deploy.yaml", false, GIT_FILE, SLICE("a") },
                { "app/logo.png", false, GIT_FILE, SLICE("x") },
                { "app/run.sh", false, GIT_EXECUTABLE, SLICE("b") },
                { "app/secret", false, GIT_LINK, SLICE("/etc/passwd") },
                { ".github/ci.yml", false, GIT_FILE, SLICE("x") },
                { "docs/a.md", false, GIT_FILE, SLICE("c") },
                { "docs/b.md", false, GIT_FILE, SLICE("d") },
        };

        begin(r, &p);
        git_server_put(&p.git, "main", changes, ARRAY_LEN(changes), "all\n");
        add_git(r, SPEC MAIN);
        assert_string_equal(archive(r, &p), "0750 app/\n0600 app/deploy.yaml 1\n0700 app/run.sh 1\n"
                                            "0750 docs/\n0600 docs/a.md 1\n0600 docs/b.md 1\n");
        AUTO_FREE char *digest = mem_strdup(rig_string(r, "status.artifact.digest"));

        change(r, "{\"spec\":{\"ignore\":\"/docs/*\\n!/docs/b.md\"}}"); /* in place of the defaults */
        assert_string_equal(archive(r, &p), "0750 .github/\n0600 .github/ci.yml 1\n0750 app/\n"
                                            "0600 app/deploy.yaml 1\n0600 app/logo.png 1\n"
                                            "0700 app/run.sh 1\n0750 docs/\n0600 docs/b.md 1\n");
        assert_string_equal(rig_string(r, "status.observedIgnore"), "/docs/*\n!/docs/b.md");
        change(r, "{\"spec\":{\"ignore\":null}}");
        assert_string_not_equal(rig_string(r, "status.artifact.path"), "");
        rig_get(r, REPO);
        assert_string_equal(rig_string(r, "status.artifact.digest"), digest); /* equal trees, equal bytes */
        git_server_commit(&p.git, "main", "app/.sourceignore", "*.yaml\n");
        pass_time(r, 5 * MINUTE_MS);
        assert_string_equal(archive(r, &p), "0750 .github/\n0600 .github/ci.yml 1\n0750 app/\n"
                                            "0600 app/.sourceignore 7\n0600 app/logo.png 1\n"
                                            "0700 app/run.sh 1\n0750 docs/\n0600 docs/a.md 1\n"
                                            "0600 docs/b.md 1\n");
        end(r, &p);
})

/* spec/helm-chart.md checklist 90 */
RIG_TEST(a_sparse_checkout_keeps_its_folders, {
        static struct place p;
        static const struct git_change changes[] = {
                { "a.txt", false, GIT_FILE, SLICE("1") },
                { "apps/one/x", false, GIT_FILE, SLICE("1") },
                { "apps/two/x", false, GIT_FILE, SLICE("1") },
                { "apps2/x", false, GIT_FILE, SLICE("1") },
        };

        begin(r, &p);
        git_server_put(&p.git, "main", changes, ARRAY_LEN(changes), "all\n");
        add_git(r, SPEC MAIN ",\"sparseCheckout\":[\"./apps/one/\"]");
        assert_string_equal(archive(r, &p), "0750 apps/\n0750 apps/one/\n0600 apps/one/x 1\n");
        change(r, "{\"spec\":{\"sparseCheckout\":[\"apps\"]}}");
        assert_string_equal(archive(r, &p), "0750 apps/\n0750 apps/one/\n0600 apps/one/x 1\n"
                                            "0750 apps/two/\n0600 apps/two/x 1\n");
        change(r, "{\"spec\":{\"sparseCheckout\":[\"none\"]}}");
        assert_condition(
                r, REPO, "FetchFailed", "True", "GitOperationFailed",
                "failed to checkout and determine revision: sparse checkout directory 'none' does not "
                "exist in repository");
        change(r, "{\"spec\":{\"sparseCheckout\":[\"../x\"]}}");
        assert_condition(r, REPO, "Stalled", "True", "IllegalPath",
                         "spec.sparseCheckout: '../x' is not the path of a folder of the repository");
        end(r, &p);
})

/* ---- submodules ---- */

RIG_TEST(submodules_are_fetched_where_the_spec_wants_them, {
        static struct place p;
        static struct git_server other;

        begin(r, &p);
        git_server_begin(&other, p.git.world);
        other.prefix = "/team/lib.git";
        assert_int_equal(loopback_listen(r->net, "lib.example", git_server_handle, &other), 0);
        struct git_hash lib = git_server_commit(&other, "main", "inner/l.txt", "lib");

        p.git.authorized = "Basic YWRhOnB3";
        add_secret(r, "\"username\":\"ada\",\"password\":\"pw\"");
        git_server_commit(&p.git, "main", "z.txt", "1");
        git_server_add_submodule(&p.git, "lib", &lib, "https://lib.example/team/lib.git");
        add_git(r, SPEC MAIN ",\"secretRef\":{\"name\":\"git\"}");
        assert_string_equal(archive(r, &p), "0600 z.txt 1\n");
        assert_int_equal(other.lists, 0);
        change(r, "{\"spec\":{\"recurseSubmodules\":true}}");
        assert_string_equal(archive(r, &p),
                            "0750 lib/\n0750 lib/inner/\n0600 lib/inner/l.txt 3\n0600 z.txt 1\n");
        assert_string_equal(other.said, ""); /* another origin */
        pass_time(r, 5 * MINUTE_MS);
        assert_int_equal(other.lists, 1);
        git_server_add_submodule(&p.git, "lib", &lib, "file:///etc");
        pass_time(r, 5 * MINUTE_MS);
        assert_condition(r, REPO, "FetchFailed", "True", "GitOperationFailed",
                         "failed to checkout and determine revision: submodule 'lib': not an URL of http, "
                         "https or ssh");
        loopback_listen(r->net, "lib.example", NULL, NULL);
        git_server_end(&other);
        end(r, &p);
})

/* ---- failures ---- */

/* spec/helm-chart.md checklist 92 */
RIG_TEST(fields_that_are_not_acted_on_stall_and_are_named, {
        static const char *const cases[][2] = {
                { ",\"provider\":\"azure\"", "spec.provider is not supported" },
                { ",\"include\":[{\"repository\":{\"name\":\"x\"}}]", "spec.include is not supported" },
                { ",\"verify\":{\"mode\":\"HEAD\",\"secretRef\":{\"name\":\"x\"}}",
                  "spec.verify is not supported" },
                { ",\"serviceAccountName\":\"x\"", "spec.serviceAccountName is not supported" },
        };
        static struct place p;

        begin(r, &p);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_FREE char *spec = mem_printf(SPEC "%s", cases[i][0]);

                add_git(r, spec);
                assert_condition(r, REPO, "FetchFailed", "True", "InvalidProviderConfiguration", cases[i][1]);
                assert_condition(r, REPO, "Stalled", "True", "InvalidProviderConfiguration", cases[i][1]);
                rig_delete(r, REPO);
                rig_settle(r);
        }
        assert_int_equal(p.git.lists, 0);
        end(r, &p);
})

/* spec/helm-chart.md checklist 70, 73, 89 */
RIG_TEST(credentials_come_from_the_secret, {
        static struct place p;

        begin(r, &p);
        git_server_commit(&p.git, "main", "a.txt", "1");
        p.git.authorized = "Basic YWRhOnNlc2FtZQ==";
        add_git(r, SPEC MAIN ",\"secretRef\":{\"name\":\"git\"}");
        assert_condition(r, REPO, "FetchFailed", "True", "AuthenticationFailed",
                         "failed to get authentication secret 'apps/git': secrets \"git\" not found");
        add_secret(r, "\"username\":\"ada\",\"password\":\"wrong\"");
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, REPO, "FetchFailed", "True", "AuthenticationFailed",
                         "failed to checkout and determine revision: https://git.example/team/app.git: 401 "
                         "Unauthorized");
        rig_merge(r, "/api/v1/namespaces/apps/secrets/git", "{\"stringData\":{\"password\":\"sesame\"}}");
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, REPO, "Ready", "True", "Succeeded", NULL);
        assert_null(strstr(r->text, "sesame"));
        p.git.authorized = "Bearer sesame";
        rig_merge(r, "/api/v1/namespaces/apps/secrets/git",
                  "{\"data\":{\"password\":null,\"username\":null},\"stringData\":{\"bearerToken\":"
                  "\"sesame\"}}");
        git_server_commit(&p.git, "main", "a.txt", "2");
        pass_time(r, 5 * MINUTE_MS);
        assert_condition(r, REPO, "Ready", "True", "Succeeded", NULL);
        assert_int_equal(p.git.fetches, 2);
        end(r, &p);
})

RIG_TEST(what_goes_wrong_is_told_and_mended, {
        static const struct {
                enum git_fault fault;
                const char *words;
        } cases[] = {
                { FAULT_HANGS, "no answer before the deadline" },
                { FAULT_GARBAGE, "the answer is not what Git's protocol has" },
                { FAULT_CUT_PACK, "the pack of objects is not whole" },
        };
        static struct place p;

        begin(r, &p);
        add_git(r, SPEC MAIN ",\"timeout\":\"20s\"");
        assert_condition(r, REPO, "FetchFailed", "True", "EmptyGitRepository", "git repository is empty");
        git_server_commit(&p.git, "main", "a.txt", "1");
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                p.git.fault = cases[i].fault;
                change(r, i % 2 ? "{\"spec\":{\"timeout\":\"20s\"}}" : "{\"spec\":{\"timeout\":\"21s\"}}");
                pass_time(r, MINUTE_MS);
                assert_condition(r, REPO, "FetchFailed", "True", "GitOperationFailed", NULL);
                if (!strstr(part_of_condition(r, "FetchFailed", "message"), cases[i].words))
                        fail_msg("%s", part_of_condition(r, "FetchFailed", "message"));
        }
        p.git.fault = FAULT_NONE;
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, REPO, "Ready", "True", "Succeeded", NULL);
        assert_true(has_event(r, "Normal", "Succeeded", "stored artifact for commit 'change a.txt'"));
        end(r, &p);
})

RIG_TEST(names_and_subjects_that_are_no_text_break_nothing, {
        static struct place p;
        static char large[70 << 20];
        const struct git_change odd = { "caf\xe9.txt", false, GIT_FILE, SLICE("1") };
        struct git_change big = { "b\xe9.bin", false, GIT_FILE, { large, sizeof(large) } };

        begin(r, &p);
        git_server_put(&p.git, "main", &odd, 1, "caf\xe9\n");
        add_git(r, SPEC MAIN);
        assert_condition(r, REPO, "Ready", "True", "Succeeded", NULL);
        assert_string_equal(archive(r, &p), "0600 caf\xe9.txt 1\n");
        git_server_put(&p.git, "main", &big, 1, "big\n");
        pass_time(r, 5 * MINUTE_MS);
        assert_condition(
                r, REPO, "FetchFailed", "True", "GitOperationFailed",
                "failed to checkout and determine revision: b?.bin: a file of 73400320 bytes: more than "
                "67108864");
        end(r, &p);
})

/* spec/helm-chart.md checklist 93 */
RIG_TEST(a_repository_that_sends_too_much_fails_alone, {
        static struct place p;
        static char text[1 << 20];

        begin(r, &p);
        p.web.options.git_bytes = 5000;
        memset(text, 'x', sizeof(text) - 1);
        git_server_commit(&p.git, "main", "bomb", text);
        add_git(r, SPEC MAIN);
        assert_condition(
                r, REPO, "FetchFailed", "True", "GitOperationFailed",
                "failed to checkout and determine revision: https://git.example/team/app.git: the objects "
                "of the repository exceed 80000 bytes");
        end(r, &p);
})

/* ---- no memory ---- */

#define STEP 7

/* spec/helm-chart.md checklist 97 */
RIG_TEST(a_run_survives_each_allocation_that_fails, {
        static struct place p;
        bool fired = true;

        begin(r, &p);
        struct git_hash at = git_server_commit(&p.git, "main", "a.txt", "1");

        p.git.replays = true;
        add_git(r, SPEC MAIN);
        for (uint64_t n = 1; fired; n += STEP) {
                AUTO_FREE char *patch = mem_printf(
                        "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"%llu\"}}}",
                        (unsigned long long)n);

                assert_int_equal(volume_remove_all(p.web.options.volume, "gitrepository", NULL), 0);
                if (rig_merge(r, REPO, patch) != 200)
                        fail_msg("%s", r->text);
                mem_fail_at(n, false);
                fiber_sleep(r->loop, 100);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                fiber_sleep(r->loop, 20 * MINUTE_MS); /* the longest pause before another try */
                rig_settle(r);
                assert_revision(r, "main", &at);
                AUTO_FREE char *path = mem_strdup(rig_string(r, "status.artifact.path"));

                assert_true(is_kept(&p.web, path));
        }
        p.git.replays = false;
        git_server_commit(&p.git, "main", "a.txt",
                          "2"); /* a folder that could not be removed goes with the next */
        pass_time(r, 5 * MINUTE_MS);
        end(r, &p);
})

/* ---- charts ---- */

#define CHART SOURCES "helmcharts/app"

static void add_chart(struct rig *r, const char *rest)
{
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"HelmChart\","
                           "\"metadata\":{\"name\":\"app\"},\"spec\":{\"chart\":\"charts/app\","
                           "\"interval\":\"5m\",\"sourceRef\":{\"kind\":\"GitRepository\",\"name\":"
                           "\"app\"}%s}}",
                           rest);

        if (rig_post(r, SOURCES "helmcharts", body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

#define CHART_YAML(version) "apiVersion: v2\nname: app\nversion: " version "\n"

/* spec/helm-chart.md checklist 43, 44, 46 */
RIG_TEST(a_chart_of_git_is_packaged_when_its_version_changes, {
        static struct place p;
        static const struct git_change changes[] = {
                { "charts/app/Chart.yaml", false, GIT_FILE, SLICE(CHART_YAML("1.0.0")) },
                { "charts/app/values.yaml", false, GIT_FILE, SLICE("a: 1\n") },
                { "charts/app/templates/x.yaml", false, GIT_FILE, SLICE("kind: ConfigMap\n") },
        };

        begin(r, &p);
        git_server_put(&p.git, "main", changes, ARRAY_LEN(changes), "all\n");
        add_git(r, SPEC MAIN);
        add_chart(r, ",\"version\":\"9.9.9\"");
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded",
                         "packaged 'app' chart with version '1.0.0'");
        assert_string_equal(rig_string(r, "status.artifact.path"), "helmchart/apps/app/app-1.0.0.tgz");
        AUTO_FREE char *written = mem_strdup(rig_string(r, "status.artifact.lastUpdateTime"));

        git_server_commit(&p.git, "main", "charts/app/templates/x.yaml", "kind: Secret\n");
        pass_time(r, 6 * MINUTE_MS);
        rig_get(r, CHART);
        assert_string_equal(rig_string(r, "status.artifact.lastUpdateTime"), written);
        git_server_commit(&p.git, "main", "charts/app/Chart.yaml", CHART_YAML("1.1.0"));
        pass_time(r, 6 * MINUTE_MS);
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded",
                         "packaged 'app' chart with version '1.1.0'");
        end(r, &p);
})

/* spec/helm-chart.md checklist 43, 45 */
RIG_TEST(a_chart_of_git_may_carry_the_commit_in_its_version, {
        static struct place p;
        static const struct git_change changes[] = {
                { "charts/app/Chart.yaml", false, GIT_FILE, SLICE(CHART_YAML("1.0.0")) },
                { "charts/app/values.yaml", false, GIT_FILE, SLICE("a: 1\n") },
                { "values/prod.yaml", false, GIT_FILE, SLICE("a: 2\n") },
        };

        begin(r, &p);
        struct git_hash at = git_server_put(&p.git, "main", changes, ARRAY_LEN(changes), "all\n");

        add_git(r, SPEC MAIN);
        add_chart(r, ",\"reconcileStrategy\":\"Revision\"");
        AUTO_FREE char *text = mem_printf("packaged 'app' chart with version '1.0.0+%.12s'", at.hex);

        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded", text);
        rig_merge(r, CHART, "{\"spec\":{\"valuesFiles\":[\"values/prod.yaml\"]}}");
        rig_settle(r);
        AUTO_FREE char *merged =
                mem_printf("packaged 'app' chart with version '1.0.0+%.12s.2' and merged values "
                           "files [values/prod.yaml]",
                           at.hex);

        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded", merged);
        end(r, &p);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_branch_is_fetched_and_kept),
                cmocka_unit_test(what_did_not_change_costs_one_request),
                cmocka_unit_test(the_spec_says_which_commit_counts),
                cmocka_unit_test(of_versions_equal_up_to_metadata_the_later_commit_counts),
                cmocka_unit_test(a_commit_at_no_ref_is_found_in_the_history),
                cmocka_unit_test(a_branch_that_was_replaced_is_followed),
                cmocka_unit_test(files_are_left_out_by_rule),
                cmocka_unit_test(a_sparse_checkout_keeps_its_folders),
                cmocka_unit_test(submodules_are_fetched_where_the_spec_wants_them),
                cmocka_unit_test(fields_that_are_not_acted_on_stall_and_are_named),
                cmocka_unit_test(credentials_come_from_the_secret),
                cmocka_unit_test(what_goes_wrong_is_told_and_mended),
                cmocka_unit_test(names_and_subjects_that_are_no_text_break_nothing),
                cmocka_unit_test(a_repository_that_sends_too_much_fails_alone),
                cmocka_unit_test(a_run_survives_each_allocation_that_fails),
                cmocka_unit_test(a_chart_of_git_is_packaged_when_its_version_changes),
                cmocka_unit_test(a_chart_of_git_may_carry_the_commit_in_its_version),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
