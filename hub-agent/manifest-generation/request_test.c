/* Requests within devcluster: spec/flux-yaml.md 9. */
#include "hub-agent/manifest-generation/generation_rig_test.h"
#include "hub-agent/manifest-generation/request.h"
#include "hub-agent/manifest-generation/update/automation.h"

#define REQUESTS "/api/v1/namespaces/fleet-system/configmaps"

#define DEPLOYMENT(name, image, annotations)                                                                 \
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " name                                    \
        "   # the name\n  namespace: apps\n"                                                                 \
        "  annotations: {x: y" annotations "}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n"      \
        "    metadata: {labels: {a: b}}\n    spec:\n      containers:\n      - name: c\n        "            \
        "image: " image "\n"

static void begin(struct rig *r, struct generator *g, const char *text)
{
        generator_make(r, g);
        commit_file(&g->repository, "a.yaml", text);
        generator_start(g);
}

static void ask(struct rig *r, const char *name, const char *data)
{
        AUTO_FREE char *body =
                mem_printf("{\"metadata\":{\"name\":\"%s\",\"labels\":{\"fluxcd.io/request\":\"true\"}},"
                           "\"data\":{%s}}",
                           name, data);

        if (rig_post(r, REQUESTS, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

static const char *answer_of(struct rig *r, const char *name, const char *annotation)
{
        AUTO_FREE char *path = mem_printf(REQUESTS "/%s", name);

        assert_int_equal(rig_get(r, path), 200);
        return or_empty(sync_annotation(r->answer, annotation));
}

static void expect_answer(struct rig *r, const char *name, const char *status, const char *commit,
                          const char *result)
{
        if (!text_equal(answer_of(r, name, REQUEST_STATUS), status))
                fail_msg("%s is %s: %s", name, answer_of(r, name, REQUEST_STATUS),
                         answer_of(r, name, REQUEST_RESULT));
        assert_string_equal(answer_of(r, name, REQUEST_COMMIT), commit);
        if (!strstr(answer_of(r, name, REQUEST_RESULT), result))
                fail_msg("%s says: %s", name, answer_of(r, name, REQUEST_RESULT));
}

/* spec/flux-yaml.md checklist 50 */
RIG_TEST(a_request_to_sync_fetches_at_once, {
        struct generator g;

        begin(r, &g, CONFIG_MAP("one", "{a: b}"));
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: c}"));
        ask(r, "now", "\"type\":\"sync\"");
        expect_answer(r, "now", "succeeded", fake_hash(1).hex, "1 objects, 1 changed, 0 failed, 0 deleted");
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "c");
        generator_end(&g);
})

RIG_TEST(a_request_to_sync_that_fails_says_why, {
        struct generator g;

        begin(r, &g, "a: [\n");
        ask(r, "now", "\"type\":\"sync\"");
        expect_answer(r, "now", "failed", "", "loading resources from repo: 1 of 1 target paths: ");
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 50, 52 */
RIG_TEST(a_policy_is_committed_and_synced, {
        struct generator g;
        AUTO_FREE char *text = NULL;

        begin(r, &g, "# a comment\n" DEPLOYMENT("web", "nginx:1.25", ""));
        ask(r, "lock",
            "\"type\":\"policy\",\"workloads\":\"apps:deployment/web\",\"add\":\"automated=true\"");
        expect_answer(r, "lock", "succeeded", fake_hash(1).hex, "apps:deployment/web");
        text = get_file(g.repository.commits[1].files, "a.yaml");
        assert_string_equal(
                text, "# a comment\n" DEPLOYMENT("web", "nginx:1.25", ", fluxcd.io/automated: \"true\""));
        assert_string_equal(g.repository.commits[1].message, "Automated: apps:deployment/web");
        assert_non_null(strstr(g.repository.commits[1].note, "\"type\":\"policy\""));
        assert_int_equal(rig_get(r, "/apis/apps/v1/namespaces/apps/deployments/web"), 200);
        assert_string_equal(sync_annotation(r->answer, "fluxcd.io/automated"), "true");
        assert_int_equal(events_of(r, "fleet-system", "Committed", "Automated: apps:deployment/web"), 1);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 50, 51 */
RIG_TEST(an_image_is_one_scalar_that_changes, {
        struct generator g;
        AUTO_FREE char *text = NULL;

        begin(r, &g, DEPLOYMENT("web", "nginx:1.25 # keep", "") "---\n" CONFIG_MAP("one", "{}"));
        ask(r, "release",
            "\"type\":\"image\",\"workloads\":\"apps:deployment/"
            "web\",\"image\":\"nginx:1.26\",\"user\":\"ada\"");
        expect_answer(r, "release", "succeeded", fake_hash(1).hex, "nginx:1.26");
        text = get_file(g.repository.commits[1].files, "a.yaml");
        assert_string_equal(text, DEPLOYMENT("web", "nginx:1.26 # keep", "") "---\n" CONFIG_MAP("one", "{}"));
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 58 */
RIG_TEST(what_is_so_already_gives_no_commit, {
        struct generator g;

        begin(r, &g, DEPLOYMENT("web", "nginx:1.25", ""));
        ask(r, "again", "\"type\":\"image\",\"workloads\":\"apps:deployment/web\",\"image\":\"nginx:1.25\"");
        expect_answer(r, "again", "succeeded", "", "skipped");
        assert_int_equal(g.repository.n, 1);
        generator_end(&g);
})

RIG_TEST(a_dry_run_answers_with_the_difference_and_commits_nothing, {
        struct generator g;

        begin(r, &g, DEPLOYMENT("web", "nginx:1.25", ""));
        ask(r, "look", "\"type\":\"image\",\"workloads\":\"*\",\"image\":\"nginx:1.26\",\"dryRun\":\"true\"");
        expect_answer(r, "look", "succeeded", "", "nginx:1.25 -> nginx:1.26");
        expect_answer(r, "look", "succeeded", "", "--- a.yaml\n+++ a.yaml\n");
        expect_answer(r, "look", "succeeded", "",
                      "\n-        image: nginx:1.25\n+        image: nginx:1.26\n");
        assert_int_equal(g.repository.n, 1);
        generator_end(&g);
})

static void someone_is_faster(struct fake_repository *r)
{
        AUTO_FREE char *name = mem_printf("theirs-%zu", r->n);

        commit_file(r, name, "x");
}

/* spec/flux-yaml.md checklist 59 */
RIG_TEST(a_job_runs_again_on_the_new_head_up_to_three_times, {
        struct generator g;

        begin(r, &g, DEPLOYMENT("web", "nginx:1.25", ""));
        g.repository.race = someone_is_faster;
        g.repository.races = 2;
        ask(r, "release", "\"type\":\"image\",\"workloads\":\"*\",\"image\":\"nginx:1.26\"");
        expect_answer(r, "release", "succeeded", fake_hash(3).hex, "nginx:1.26");
        assert_int_equal(g.repository.pushes, 1);
        g.repository.races = 3;
        ask(r, "more", "\"type\":\"image\",\"workloads\":\"*\",\"image\":\"nginx:1.27\"");
        expect_answer(r, "more", "failed", "", "Problem committing and pushing to git repository.");
        assert_int_equal(g.repository.pushes, 1);
        assert_int_equal(events_of(r, "fleet-system", "PushFailed", ""), 1);
        generator_end(&g);
})

RIG_TEST(what_is_no_request_is_refused_by_field, {
        struct generator g;

        begin(r, &g, CONFIG_MAP("one", "{}"));
        ask(r, "strange", "\"type\":\"dance\"");
        expect_answer(r, "strange", "failed", "", "data.type: must be one of sync, policy, image, collect");
        generator_end(&g);
})

RIG_TEST(a_read_only_repository_takes_no_changes, {
        struct generator g;

        generator_make(r, &g);
        g.options.readonly = true;
        g.options.state_secret = "state";
        commit_file(&g.repository, "a.yaml", DEPLOYMENT("web", "nginx:1.25", ""));
        generator_start(&g);
        ask(r, "release", "\"type\":\"image\",\"workloads\":\"*\",\"image\":\"nginx:1.26\"");
        expect_answer(r, "release", "failed", "", "cannot make a working clone of a read-only git repo");
        assert_int_equal(g.repository.pushes, 0);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 44 */
RIG_TEST(a_request_confirms_a_collection_that_is_held, {
        struct generator g;

        generator_make(r, &g);
        g.options.collect = true;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        commit_file(&g.repository, "a.yaml", "# nothing\n");
        pass(&g, 6 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        ask(r, "yes", "\"type\":\"collect\"");
        expect_answer(r, "yes", "succeeded", fake_hash(1).hex, "1 deleted");
        assert_int_equal(rig_get(r, CONFIGS "one"), 404);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 44: it waits for a process, and meanwhile another commit empties the path. */
RIG_TEST(a_request_confirms_nothing_that_came_after_it, {
        struct generator g;

        generator_make(r, &g);
        g.options.collect = true;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        generator_stop(&g);
        ask(r, "old", "\"type\":\"collect\"");
        pass(&g, 2 * SECONDS);
        commit_file(&g.repository, "a.yaml", "# nothing\n");
        generator_start(&g);
        pass(&g, SECONDS);
        expect_answer(r, "old", "failed", "", "target path \".\" gives 0 objects only since 20");
        expect_answer(r, "old", "failed", "", "another one confirms it");
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        ask(r, "new", "\"type\":\"collect\"");
        expect_answer(r, "new", "succeeded", fake_hash(1).hex, "1 deleted");
        assert_int_equal(rig_get(r, CONFIGS "one"), 404);
        generator_end(&g);
})

RIG_TEST(requests_are_worked_on_one_by_one_in_the_order_they_came, {
        struct generator g;

        begin(r, &g, DEPLOYMENT("web", "nginx:1.25", ""));
        rig_post(r, REQUESTS,
                 "{\"metadata\":{\"name\":\"b\",\"labels\":{\"fluxcd.io/request\":\"true\"}},\"data\":{"
                 "\"type\":\"image\",\"workloads\":\"*\",\"image\":\"nginx:1.26\"}}");
        rig_post(r, REQUESTS,
                 "{\"metadata\":{\"name\":\"c\",\"labels\":{\"fluxcd.io/request\":\"true\"}},\"data\":{"
                 "\"type\":\"image\",\"workloads\":\"*\",\"image\":\"nginx:1.27\"}}");
        rig_settle(r);
        expect_answer(r, "b", "succeeded", fake_hash(1).hex, "");
        expect_answer(r, "c", "succeeded", fake_hash(2).hex, "");
        assert_int_equal(metric_value(g.options.metrics, METRIC_JOBS_WAITING, NULL), 0);
        generator_end(&g);
})

RIG_TEST(a_job_that_was_pushed_before_a_crash_is_not_done_again, {
        struct generator g;

        begin(r, &g, DEPLOYMENT("web", "nginx:1.25", ""));
        ask(r, "release", "\"type\":\"image\",\"workloads\":\"*\",\"image\":\"nginx:1.26\"");
        generator_stop(&g);
        assert_int_equal(rig_merge(r, REQUESTS "/release",
                                   "{\"metadata\":{\"annotations\":{\"fluxcd.io/request-status\":\"running\","
                                   "\"fluxcd.io/request-commit\":null}}}"),
                         200);
        generator_start(&g);
        expect_answer(r, "release", "succeeded", fake_hash(1).hex, "");
        assert_int_equal(g.repository.pushes, 1);
        generator_end(&g);
})

/* ---- polls ---- */

struct fake_registry {
        struct image_tag tags[3];
        const char *problem;
        size_t reads;
};

static int read_registry(void *ctx, const struct update_objects *objects,
                         const struct image_candidates *candidates, struct arena *arena,
                         struct image_catalog *ret, struct error *err)
{
        struct fake_registry *f = ctx;
        struct image_repository *at = ARENA_NEW(arena, struct image_repository);

        f->reads++;
        *at = (struct image_repository){
                .name = "index.docker.io/library/nginx", .tags = f->tags, .n = 3, .problem = f->problem
        };
        if (f->problem)
                at->n = 0;
        *ret = (struct image_catalog){ at, candidates->n > 0 };
        return 0;
}

static const struct images_ops fake_images = { read_registry };

static void begin_automated(struct rig *r, struct generator *g, struct fake_registry *f)
{
        *f = (struct fake_registry){ .tags = { { "1.25", true, 1000, "sha256:a" },
                                               { "1.26", true, 2000, "sha256:b" },
                                               { "1.27-rc", true, 3000, "sha256:c" } } };
        generator_make(r, g);
        g->options.images = (struct images){ .ops = &fake_images, .ctx = f };
        g->options.images_ms = 5 * MINUTES;
        commit_file(
                &g->repository, "a.yaml",
                DEPLOYMENT(
                        "web", "nginx:1.25",
                        ", fluxcd.io/automated: 'true', fluxcd.io/tag.c: 'semver:~1'") "---\n" DEPLOYMENT("ap"
                                                                                                          "i",
                                                                                                          "ng"
                                                                                                          "in"
                                                                                                          "x:"
                                                                                                          "1."
                                                                                                          "2"
                                                                                                          "5",
                                                                                                          ""));
        generator_start(g);
        pass(g, SECONDS);
}

/* spec/flux-yaml.md checklist 60, 61, 65 */
RIG_TEST(what_is_automated_is_released_by_a_poll_and_synced, {
        struct fake_registry f;
        struct generator g;

        begin_automated(r, &g, &f);
        assert_int_equal(g.repository.n, 2);
        assert_string_equal(g.repository.commits[1].message, "Auto-release nginx:1.26");
        assert_non_null(strstr(g.repository.commits[1].note, "\"type\":\"auto\""));
        assert_int_equal(rig_get(r, "/apis/apps/v1/namespaces/apps/deployments/web"), 200);
        assert_non_null(strstr(r->text, "nginx:1.26"));
        assert_int_equal(rig_get(r, "/apis/apps/v1/namespaces/apps/deployments/api"), 200);
        assert_null(strstr(r->text, "nginx:1.26"));
        pass(&g, 11 * MINUTES);
        assert_int_equal(g.repository.n, 2);
        assert_int_equal(f.reads, 3);
        generator_end(&g);
})

RIG_TEST(why_a_registry_cannot_be_read_stands_in_the_status, {
        struct fake_registry f;
        struct generator g;

        begin_automated(r, &g, &f);
        f.problem = "not let in";
        pass(&g, 6 * MINUTES);
        assert_string_equal(status_of(r, "images"), "index.docker.io/library/nginx: not let in\n");
        f.problem = NULL;
        pass(&g, 6 * MINUTES);
        assert_string_equal(status_of(r, "images"), "");
        generator_end(&g);
})

RIG_TEST(a_policy_that_automates_asks_for_a_poll_at_once, {
        struct fake_registry f;
        struct generator g;

        begin_automated(r, &g, &f);
        ask(r, "job",
            "\"type\":\"policy\",\"workloads\":\"apps:deployment/"
            "api\",\"add\":\"automated=true\\ntag.c=semver:~1\"");
        expect_answer(r, "job", "succeeded", fake_hash(2).hex, "apps:deployment/api");
        pass(&g, SECONDS);
        assert_int_equal(g.repository.n, 4);
        assert_string_equal(g.repository.commits[3].message, "Auto-release nginx:1.26");
        generator_end(&g);
})

/* ---- leaders and outages ---- */

RIG_TEST(only_the_leader_works, {
        struct generator g;
        struct generator other;

        generator_make(r, &g);
        g.options.leader_election = true;
        g.options.identity = "one";
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        generator_make(r, &other);
        other.options.leader_election = true;
        other.options.identity = "two";
        commit_file(&other.repository, "a.yaml", CONFIG_MAP("two", "{}"));
        generator_start(&other);
        pass(&g, 2 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_int_equal(other.repository.fetches, 0);
        assert_int_equal(rig_get(r, CONFIGS "two"), 404);
        generator_stop(&g);
        pass(&other, 2 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "two"), 200);
        generator_end(&other);
        generator_end(&g);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_request_to_sync_fetches_at_once),
                cmocka_unit_test(a_request_to_sync_that_fails_says_why),
                cmocka_unit_test(a_policy_is_committed_and_synced),
                cmocka_unit_test(an_image_is_one_scalar_that_changes),
                cmocka_unit_test(what_is_so_already_gives_no_commit),
                cmocka_unit_test(a_dry_run_answers_with_the_difference_and_commits_nothing),
                cmocka_unit_test(a_job_runs_again_on_the_new_head_up_to_three_times),
                cmocka_unit_test(what_is_no_request_is_refused_by_field),
                cmocka_unit_test(a_read_only_repository_takes_no_changes),
                cmocka_unit_test(a_request_confirms_a_collection_that_is_held),
                cmocka_unit_test(a_request_confirms_nothing_that_came_after_it),
                cmocka_unit_test(requests_are_worked_on_one_by_one_in_the_order_they_came),
                cmocka_unit_test(a_job_that_was_pushed_before_a_crash_is_not_done_again),
                cmocka_unit_test(what_is_automated_is_released_by_a_poll_and_synced),
                cmocka_unit_test(why_a_registry_cannot_be_read_stands_in_the_status),
                cmocka_unit_test(a_policy_that_automates_asks_for_a_poll_at_once),
                cmocka_unit_test(only_the_leader_works),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
