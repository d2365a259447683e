/* Generated manifests in whole syncs and jobs: spec/flux-yaml.md 4, 6, 9. */
#include "hub-agent/manifest-generation/generate_rig_test.h"
#include "hub-agent/manifest-generation/request.h"

#define REQUESTS "/api/v1/namespaces/fleet-system/configmaps"
#define COMMANDS(image, policy)                                                                              \
        "version: 1\ncommandUpdated:\n  generators:\n  - command: print base.yaml\n  updaters:\n"            \
        "  - containerImage: {command: " image "}\n    policy: {command: " policy "}\n"

static void begin(struct rig *r, struct generator *g, const char *config)
{
        struct volume *files;

        generating(r, g);
        files = commit(&g->repository);
        put_file(files, ".flux.yaml", config);
        put_file(files, "base.yaml", WEB);
        put_file(files, "image.txt", "nginx:1.25");
        put_file(files, "other.yaml", CONFIG_MAP("not-looked-at", "{}"));
        generator_start(g);
}

static void ask(struct rig *r, const char *data)
{
        AUTO_FREE char *body =
                mem_printf("{\"metadata\":{\"name\":\"job\",\"labels\":{\"fluxcd.io/request\":\"true\"}},"
                           "\"data\":{%s}}",
                           data);

        if (rig_post(r, REQUESTS, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
        assert_int_equal(rig_get(r, REQUESTS "/job"), 200);
}

static void expect_answer(struct rig *r, const char *status, const char *result)
{
        if (!text_equal(sync_annotation(r->answer, REQUEST_STATUS), status) ||
            !strstr(or_empty(sync_annotation(r->answer, REQUEST_RESULT)), result))
                fail_msg("%s: %s", or_empty(sync_annotation(r->answer, REQUEST_STATUS)),
                         or_empty(sync_annotation(r->answer, REQUEST_RESULT)));
}

static const char *image_of(struct rig *r)
{
        assert_int_equal(rig_get(r, DEPLOYMENTS "web"), 200);
        return or_empty(doc_get_string(
                json_array_get(doc_get_array(r->answer, "spec.template.spec.containers"), 0), "image"));
}

/* spec/flux-yaml.md checklist 11, 24 */
RIG_TEST(what_is_generated_is_synced_and_generated_once_for_each_commit, {
        struct generator g;

        begin(r, &g, COMMANDS("set-image", "note"));
        assert_string_equal(image_of(r), "nginx:1.25");
        assert_int_equal(rig_get(r, CONFIGS "not-looked-at"), 404);
        pass(&g, 12 * MINUTES);
        assert_int_equal(g.repository.checkouts, 3);
        assert_int_equal(shell.generators, 1);
        commit_file(&g.repository, "image.txt", "nginx:1.26");
        pass(&g, 6 * MINUTES);
        assert_string_equal(image_of(r), "nginx:1.26");
        assert_int_equal(shell.generators, 2);
        end_generating(&g);
})

/* spec/flux-yaml.md checklist 16 */
RIG_TEST(a_generator_that_fails_applies_and_collects_nothing, {
        struct generator g;

        generating(r, &g);
        g.options.collect = true;
        commit_file(&g.repository, ".flux.yaml", COMMANDS("a", "b"));
        put_file(g.repository.commits[0].files, "base.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        commit_file(&g.repository, ".flux.yaml",
                    "version: 1\ncommandUpdated: {generators: [{command: fail}]}\n");
        pass(&g, 6 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_non_null(strstr(
                status_of(r, "errors"),
                "    error executing generator command \"fail\" from file \".flux.yaml\": exit status 1\n"
                "    error output:\n    something is wrong\n\n    generated output:\n  source: ."));
        assert_true(events_of(r, "fleet-system", "GenerateFailed", "exit status 1") > 0);
        assert_string_equal(g.repository.tag.hex, fake_hash(0).hex);
        end_generating(&g);
})

/* It may have asked somebody who was not there yet. */
RIG_TEST(a_generator_that_fails_is_tried_at_growing_intervals, {
        struct generator g;

        generating(r, &g);
        commit_file(&g.repository, ".flux.yaml",
                    "version: 1\ncommandUpdated: {generators: [{command: fail}]}\n");
        generator_start(&g);
        assert_int_equal(g.repository.checkouts, 1);
        pass(&g, 60 * SECONDS); /* after 5, 15 and 35 s */
        assert_int_equal(g.repository.checkouts, 4);
        commit_file(&g.repository, ".flux.yaml", "version: 7\n");
        pass(&g, 5 * MINUTES); /* what is wrong in a file stays so */
        assert_non_null(strstr(status_of(r, "errors"), "version"));
        g.repository.checkouts = 0;
        pass(&g, 4 * MINUTES);
        assert_in_range(g.repository.checkouts, 0, 1);
        end_generating(&g);
})

/* spec/flux-yaml.md checklist 4, 13 */
RIG_TEST(without_a_shell_raw_paths_still_work, {
        static const char *const paths[] = { "generated", "raw" };
        struct generator g;

        generating(r, &g);
        shell.missing = true;
        g.options.paths = paths;
        g.options.n_paths = 2;
        commit_file(&g.repository, "generated/.flux.yaml", COMMANDS("a", "b"));
        put_file(g.repository.commits[0].files, "raw/a.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_non_null(strstr(status_of(r, "errors"),
                               "cannot run \"/bin/sh\": no such file; use an image with a shell"));
        end_generating(&g);
})

/* spec/flux-yaml.md checklist 52 */
RIG_TEST(an_image_is_updated_by_the_updater_and_verified, {
        struct generator g;
        AUTO_FREE char *image = NULL;

        begin(r, &g, COMMANDS("set-image", "note"));
        ask(r, "\"type\":\"image\",\"workloads\":\"apps:deployment/web\",\"image\":\"nginx:1.26\"");
        expect_answer(r, "succeeded", "nginx:1.26");
        assert_string_equal(shell.calls, "set-image apps:deployment/web 1.26 -\n");
        image = get_file(g.repository.commits[1].files, "image.txt");
        assert_string_equal(image, "nginx:1.26");
        assert_string_equal(image_of(r), "nginx:1.26");
        end_generating(&g);
})

/* spec/flux-yaml.md checklist 20, 52, 57 */
RIG_TEST(policies_are_updated_one_by_one_and_new_files_are_committed, {
        struct generator g;
        AUTO_FREE char *touched = NULL;

        begin(r, &g, COMMANDS("set-image", "note"));
        ask(r, "\"type\":\"policy\",\"workloads\":\"apps:deployment/"
               "web\",\"add\":\"automated=true\\ntag.c=glob:1.*\"");
        expect_answer(r, "succeeded", "apps:deployment/web");
        assert_string_equal(shell.calls, "note apps:deployment/web automated true\n"
                                         "note apps:deployment/web tag.c glob:1.*\n");
        touched = get_file(g.repository.commits[1].files, "touched.txt");
        assert_string_equal(touched, "note");
        end_generating(&g);
})

/* spec/flux-yaml.md checklist 53 */
RIG_TEST(an_update_that_does_not_do_it_commits_nothing, {
        struct generator g;

        begin(r, &g, COMMANDS("other", "note"));
        ask(r, "\"type\":\"image\",\"workloads\":\"apps:deployment/web\",\"image\":\"nginx:1.26\"");
        expect_answer(
                r, "failed",
                "verifying changes: failed to verify changes: the image for container \"c\" in resource "
                "\"apps:deployment/web\" should be \"nginx:1.26\", but is \"nginx:1.25\"");
        assert_int_equal(g.repository.n, 1);
        assert_int_equal(events_of(r, "fleet-system", "UpdateFailed", "verifying changes"), 1);
        end_generating(&g);
})

/* spec/flux-yaml.md checklist 21 */
RIG_TEST(an_updater_that_fails_ends_the_job_with_its_output, {
        struct generator g;

        begin(r, &g, COMMANDS("fail", "note"));
        ask(r, "\"type\":\"image\",\"workloads\":\"apps:deployment/web\",\"image\":\"nginx:1.26\"");
        expect_answer(r, "failed",
                      "error executing image updater command \"fail\" from file \".flux.yaml\": exit "
                      "status 1\noutput:\nsomething is wrong");
        assert_int_equal(g.repository.n, 1);
        end_generating(&g);
})

/* spec/flux-yaml.md checklist 22 */
RIG_TEST(without_updaters_the_job_says_so, {
        struct generator g;

        begin(r, &g, "version: 1\ncommandUpdated: {generators: [{command: print base.yaml}]}\n");
        ask(r, "\"type\":\"image\",\"workloads\":\"apps:deployment/web\",\"image\":\"nginx:1.26\"");
        expect_answer(r, "failed", "no update.containerImage commands to run in .flux.yaml");
        end_generating(&g);
})

#define PATCHED                                                                                              \
        "version: 1\npatchUpdated:\n  generators:\n  - command: print base.yaml\n  patchFile: "              \
        "flux-patch.yaml\n"

/* spec/flux-yaml.md checklist 30 */
RIG_TEST(an_image_of_a_patched_target_goes_into_the_patch_file, {
        struct generator g;
        AUTO_FREE char *patch = NULL;

        begin(r, &g, PATCHED);
        ask(r, "\"type\":\"image\",\"workloads\":\"apps:deployment/web\",\"image\":\"nginx:1.26\"");
        expect_answer(r, "succeeded", "nginx:1.26");
        patch = get_file(g.repository.commits[1].files, "flux-patch.yaml");
        assert_non_null(patch);
        assert_non_null(strstr(patch, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  "
                                      "namespace: apps\n"));
        assert_non_null(strstr(patch, "image: nginx:1.26"));
        assert_string_equal(image_of(r), "nginx:1.26");
        end_generating(&g);
})

/* spec/flux-yaml.md checklist 7 */
RIG_TEST(commands_run_in_the_target_path_below_their_file, {
        static const char *const paths[] = { "staging" };
        struct generator g;

        generating(r, &g);
        g.options.paths = paths;
        g.options.n_paths = 1;
        commit_file(&g.repository, ".flux.yaml", COMMANDS("set-image", "note"));
        put_file(g.repository.commits[0].files, "staging/base.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        end_generating(&g);
})

/* spec/flux-yaml.md checklist 1 */
RIG_TEST(without_the_flag_the_file_is_not_read, {
        struct generator g;

        generating(r, &g);
        g.options.generation = false;
        commit_file(&g.repository, ".flux.yaml", "version: 7\nno: such: file\n");
        put_file(g.repository.commits[0].files, "a.json", "{}");
        assert_int_equal(volume_remove(g.repository.commits[0].files, ".flux.yaml", NULL), 0);
        put_file(g.repository.commits[0].files, ".flux.yaml", COMMANDS("a", "b"));
        put_file(g.repository.commits[0].files, "b.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        assert_int_equal(shell.generators, 0);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        end_generating(&g);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_generated_is_synced_and_generated_once_for_each_commit),
                cmocka_unit_test(a_generator_that_fails_applies_and_collects_nothing),
                cmocka_unit_test(a_generator_that_fails_is_tried_at_growing_intervals),
                cmocka_unit_test(without_a_shell_raw_paths_still_work),
                cmocka_unit_test(an_image_is_updated_by_the_updater_and_verified),
                cmocka_unit_test(policies_are_updated_one_by_one_and_new_files_are_committed),
                cmocka_unit_test(an_update_that_does_not_do_it_commits_nothing),
                cmocka_unit_test(an_updater_that_fails_ends_the_job_with_its_output),
                cmocka_unit_test(without_updaters_the_job_says_so),
                cmocka_unit_test(an_image_of_a_patched_target_goes_into_the_patch_file),
                cmocka_unit_test(commands_run_in_the_target_path_below_their_file),
                cmocka_unit_test(without_the_flag_the_file_is_not_read),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
