/* Syncs within devcluster: spec/flux-yaml.md 7, 8. */
#include "hub-agent/manifest-generation/generation_rig_test.h"

static void begin(struct rig *r, struct generator *g, const char *text)
{
        generator_make(r, g);
        commit_file(&g->repository, "a.yaml", text);
        generator_start(g);
}

/* spec/flux-yaml.md checklist 37, 46 */
RIG_TEST(what_is_committed_is_on_the_hub_with_mark_and_checksum, {
        struct generator g;
        char mark[SYNC_MARK_SIZE];
        char set[SYNC_SET_SIZE];

        begin(r, &g, CONFIG_MAP("one", "{a: b}"));
        sync_set_name(SLICE("https://git.example/x"), "main", NULL, 0, set);
        sync_mark(set, "apps:configmap/one", mark);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "b");
        assert_string_equal(sync_label(r->answer, FLUX_SYNC_MARK), mark);
        assert_int_equal(strlen(sync_annotation(r->answer, FLUX_SYNC_CHECKSUM)), 40);
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "metadata.managedFields"), 0),
                               "manager"),
                "flux");
        assert_string_equal(g.repository.tag.hex, fake_hash(0).hex);
        assert_string_equal(status_of(r, "synced"), fake_hash(0).hex);
        assert_string_equal(status_of(r, "repository"), "ready");
        assert_string_equal(status_of(r, "objects"), "1");
        assert_int_equal(events_of(r, "fleet-system", "Synced", "Sync: a000000, no workloads changed"), 1);
        generator_end(&g);
})

/* Sums by sha1sum. */
/* spec/flux-yaml.md checklist 37 */
RIG_TEST(the_checksum_is_of_the_document_as_it_stands_in_the_file, {
        struct generator g;

        begin(r, &g, CONFIG_MAP("one", "{a: b}") "---\n" CONFIG_MAP("two", "{c: d}"));
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(sync_annotation(r->answer, FLUX_SYNC_CHECKSUM),
                            "66fa99e7a3e8175dee77d4a03ed9e5f443c86b40");
        assert_int_equal(rig_get(r, CONFIGS "two"), 200);
        assert_string_equal(sync_annotation(r->answer, FLUX_SYNC_CHECKSUM),
                            "5ee1e4a6704142547732b10b3ab172eec4975816");
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 39 */
RIG_TEST(what_is_equal_is_not_written_and_what_is_gone_in_git_is_gone, {
        struct generator g;

        begin(r, &g, CONFIG_MAP("one", "{a: b, c: d}"));
        devcluster_reset_requests(r->devcluster);
        pass(&g, 6 * MINUTES);
        assert_int_equal(g.repository.checkouts, 2);
        assert_int_equal(count_of(r, "hub", "patch", "configmaps"), 1); /* the status: when it was */
        assert_int_equal(count_of(r, "hub", "get", "configmaps"), 0);
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: b}"));
        pass(&g, 6 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_int_equal(json_object_size(doc_get(r->answer, "data")), 1);
        assert_string_equal(g.repository.tag.hex, fake_hash(1).hex);
        generator_end(&g);
})

RIG_TEST(after_a_restart_nothing_is_written, {
        struct generator g;

        begin(r, &g, CONFIG_MAP("one", "{a: b}") "---\n" CONFIG_MAP("two", "{c: d}"));
        generator_stop(&g);
        devcluster_reset_requests(r->devcluster);
        generator_start(&g);
        assert_int_equal(g.repository.checkouts, 2);
        assert_int_equal(count_of(r, "hub", "patch", "configmaps"), 1); /* the status */
        assert_int_equal(g.repository.tags_moved, 1);
        assert_int_equal(events_of(r, "fleet-system", "Synced", ""), 1);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 40 */
RIG_TEST(an_object_that_is_refused_stops_no_other_and_is_tried_again, {
        struct generator g;

        begin(r, &g,
              "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lost, namespace: later}\n---\n" CONFIG_MAP(
                      "one", "{}"));
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(status_of(r, "failed"), "1");
        assert_non_null(strstr(status_of(r, "errors"), "object: later:configmap/lost\n  source: a.yaml\n"));
        assert_non_null(strstr(status_of(r, "errors"), "namespaces \"later\" not found"));
        assert_true(events_of(r, "fleet-system", "ApplyFailed", "later:configmap/lost (a.yaml): ") > 0);
        assert_string_equal(g.repository.tag.hex, fake_hash(0).hex);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"later\"}}");
        pass(&g, 6 * SECONDS);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/later/configmaps/lost"), 200);
        assert_int_equal(g.repository.checkouts, 1);
        assert_string_equal(status_of(r, "failed"), "0");
        assert_string_equal(status_of(r, "errors"), "");
        generator_end(&g);
})

RIG_TEST(what_fails_is_tried_at_growing_intervals, {
        struct generator g;

        begin(r, &g, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lost, namespace: never}\n");
        devcluster_reset_requests(r->devcluster);
        pass(&g, 60 * SECONDS); /* after 5, 15 and 35 s */
        assert_int_equal(count_of(r, "hub", "get", "configmaps"), 3);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 68 */
RIG_TEST(kinds_of_the_fleet_are_refused_by_name, {
        struct generator g;

        generator_make(r, &g);
        install_kinds(r);
        commit_file(&g.repository, "a.yaml",
                    "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: Work\n"
                    "metadata: {name: w, namespace: apps}\n---\n"
                    "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: fleet-system}\n");
        generator_start(&g);
        assert_non_null(strstr(status_of(r, "errors"), "error: 'not allowed: apps:work/w'"));
        assert_non_null(strstr(status_of(r, "errors"), "error: 'not allowed: fleet-system:secret/s'"));
        assert_int_equal(rig_get(r, FLEET "namespaces/apps/works/w"), 404);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/fleet-system/secrets/s"), 404);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 38 */
RIG_TEST(what_says_ignore_is_left_alone_in_git_and_on_the_hub, {
        struct generator g;

        begin(r, &g,
              "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nope, namespace: apps, annotations: "
              "{fluxcd.io/ignore: 'true'}}\n---\n" CONFIG_MAP("one", "{a: b}"));
        assert_int_equal(rig_get(r, CONFIGS "nope"), 404);
        assert_int_equal(times_logged(&g, "not applying resource; ignore annotation in file"), 1);
        assert_int_equal(rig_merge(r, CONFIGS "one",
                                   "{\"metadata\":{\"annotations\":{\"fluxcd.io/ignore\":\"true\"}}}"),
                         200);
        assert_int_equal(rig_merge(r, CONFIGS "one", "{\"data\":{\"a\":\"mine\"}}"), 200);
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: c}"));
        pass(&g, 6 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "mine");
        assert_int_equal(times_logged(&g, "not applying resource; ignore annotation in cluster resource"), 1);
        assert_string_equal(status_of(r, "ignored"), "1");
        generator_end(&g);
})

/* How much happens is measured by what is allocated. */
static uint64_t allocations_within(struct generator *g, int64_t ms)
{
        uint64_t before = mem_alloc_count();

        pass(g, ms);
        return mem_alloc_count() - before;
}

RIG_TEST(what_is_changed_and_left_alone_is_not_looked_at_again_and_again, {
        struct generator g;
        uint64_t quiet;

        begin(r, &g, CONFIG_MAP("one", "{a: b}"));
        pass(&g, 11 * MINUTES);
        quiet = allocations_within(&g, 15 * MINUTES);
        assert_int_equal(rig_merge(r, CONFIGS "one",
                                   "{\"metadata\":{\"annotations\":{\"fluxcd.io/ignore\":\"true\"}}}"),
                         200);
        assert_in_range(allocations_within(&g, 15 * MINUTES), 0, 2 * quiet);
        commit_file(&g.repository, "a.yaml",
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: apps, annotations: "
                    "{fluxcd.io/ignore: 'true'}}\n");
        assert_int_equal(
                rig_merge(r, CONFIGS "one", "{\"metadata\":{\"annotations\":{\"fluxcd.io/ignore\":null}}}"),
                200);
        pass(&g, 6 * MINUTES);
        assert_in_range(allocations_within(&g, 15 * MINUTES), 0, 2 * quiet);
        generator_end(&g);
})

RIG_TEST(what_failed_and_is_in_a_path_that_broke_is_not_tried_without_end, {
        static const char *const paths[] = { "good", "bad" };
        struct generator g;
        uint64_t quiet;

        generator_make(r, &g);
        g.options.paths = paths;
        g.options.n_paths = 2;
        commit_file(&g.repository, "good/a.yaml", CONFIG_MAP("one", "{a: b}"));
        put_file(g.repository.commits[0].files, "bad/a.yaml", "a: [");
        generator_start(&g);
        pass(&g, 11 * MINUTES);
        quiet = allocations_within(&g, 4 * MINUTES);
        commit_file(&g.repository, "bad/a.yaml",
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lost, namespace: never}\n");
        pass(&g, 6 * MINUTES);
        commit_file(&g.repository, "bad/a.yaml", "a: [");
        pass(&g, 6 * MINUTES);
        assert_in_range(allocations_within(&g, 4 * MINUTES), 0, 100 * (quiet + 100));
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 41 */
RIG_TEST(other_namespaces_are_neither_read_nor_written, {
        static const char *const allowed[] = { "apps" };
        struct generator g;

        generator_make(r, &g);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"other\"}}");
        g.options.namespaces = allowed;
        g.options.n_namespaces = 1;
        commit_file(&g.repository, "a.yaml",
                    "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: other}\n---\n"
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: apps}\n");
        devcluster_reset_requests(r->devcluster);
        generator_start(&g);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_int_equal(count_of(r, "hub", "list", "secrets") + count_of(r, "hub", "get", "secrets"), 0);
        assert_int_equal(count_of(r, "hub", "watch", "secrets"), 0);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/other/secrets/x"), 404);
        assert_int_equal(times_logged(&g, "its namespace is not allowed"), 1);
        generator_end(&g);
})

RIG_TEST(what_somebody_changes_on_the_hub_is_mended_within_seconds, {
        struct generator g;

        begin(r, &g, CONFIG_MAP("one", "{a: b}"));
        assert_int_equal(rig_merge(r, CONFIGS "one", "{\"data\":{\"a\":\"mine\",\"z\":\"z\"}}"), 200);
        pass(&g, 2 * SECONDS);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "b");
        assert_string_equal(rig_string(r, "data.z"), "z"); /* not ours to say */
        assert_int_equal(rig_delete(r, CONFIGS "one"), 200);
        pass(&g, 20 * SECONDS);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_int_equal(g.repository.checkouts, 1);
        generator_end(&g);
})

RIG_TEST(without_drift_it_is_mended_by_the_next_sync, {
        struct generator g;

        generator_make(r, &g);
        g.options.drift = false;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: b}"));
        generator_start(&g);
        assert_int_equal(rig_merge(r, CONFIGS "one", "{\"data\":{\"a\":\"mine\"}}"), 200);
        pass(&g, MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "mine");
        pass(&g, 5 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "b");
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 69 */
RIG_TEST(two_thousand_objects_that_are_as_they_were_cost_no_request, {
        AUTO_BUF struct buf all;
        struct generator g;
        int64_t began_ms;

        buf_init(&all, 8u << 20);
        for (int i = 0; i < 2000; i++)
                buf_printf(&all,
                           "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%04d, namespace: apps}\n"
                           "data: {a: '%d'}\n",
                           i, i);
        begin(r, &g, all.data);
        pass(&g, MINUTES);
        assert_string_equal(status_of(r, "objects"), "2000");
        assert_string_equal(status_of(r, "failed"), "0");
        devcluster_reset_requests(r->devcluster);
        commit_file(&g.repository, "README", "another commit");
        began_ms = g.world.process ? loop_wall_ms(r->loop) : 0;
        pass(&g, 6 * MINUTES);
        assert_string_equal(g.repository.tag.hex, fake_hash(1).hex);
        assert_int_equal(count_of(r, "hub", "patch", "configmaps"), 1); /* the status */
        assert_int_equal(count_of(r, "hub", "get", "configmaps"), 0);
        assert_int_equal(count_of(r, "hub", "list", "configmaps"), 0);
        (void)began_ms;
        generator_stop(&g);
        devcluster_reset_requests(r->devcluster);
        generator_start(&g);
        assert_int_equal(count_of(r, "hub", "patch", "configmaps"), 1);
        assert_true(count_of(r, "hub", "list", "configmaps") < 20);
        generator_end(&g);
})

#define DEFINITION                                                                                           \
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "             \
        "things.example.com}\n"                                                                              \
        "spec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Thing, plural: things, "          \
        "singular: thing, "                                                                                  \
        "listKind: ThingList}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n"             \
        "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n"

/* spec/flux-yaml.md checklist 27, 36 */
RIG_TEST(an_object_of_a_kind_that_comes_with_it_is_applied_in_the_same_sync, {
        struct generator g;

        begin(r, &g,
              "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: "
              "fresh}\n---\n" DEFINITION "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n");
        assert_int_equal(rig_get(r, "/apis/example.com/v1/namespaces/fresh/things/t"), 200);
        assert_int_equal(g.repository.checkouts, 1);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 27 */
RIG_TEST(a_kind_that_nobody_serves_waits_with_one_warning, {
        struct generator g;

        begin(r, &g, "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: apps}\n");
        assert_string_equal(status_of(r, "failed"), "0");
        pass(&g, 6 * MINUTES);
        assert_int_equal(times_logged(&g, "cannot find scope of resource apps:thing/t: "), 1);
        assert_int_equal(
                times_logged(&g, "resource apps:thing/t will be excluded until its scope is available"), 1);
        commit_file(&g.repository, "b.yaml", DEFINITION);
        pass(&g, 6 * MINUTES);
        assert_int_equal(rig_get(r, "/apis/example.com/v1/namespaces/apps/things/t"), 200);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 29 */
RIG_TEST(a_target_path_that_is_broken_leaves_the_others_working, {
        static const char *const paths[] = { "good", "bad" };
        struct generator g;

        generator_make(r, &g);
        g.options.paths = paths;
        g.options.n_paths = 2;
        g.options.collect = true;
        commit_file(&g.repository, "good/a.yaml", CONFIG_MAP("one", "{a: b}"));
        put_file(g.repository.commits[0].files, "bad/a.yaml", CONFIG_MAP("two", "{a: b}"));
        generator_start(&g);
        commit_file(&g.repository, "bad/a.yaml", "a: [");
        put_file(g.repository.commits[1].files, "good/a.yaml", CONFIG_MAP("other", "{}"));
        pass(&g, 6 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "other"), 200);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200); /* nothing is collected */
        assert_int_equal(rig_get(r, CONFIGS "two"), 200);
        assert_string_equal(g.repository.tag.hex, fake_hash(0).hex);
        assert_string_equal(status_of(r, "synced"), fake_hash(0).hex);
        assert_non_null(strstr(status_of(r, "errors"), "source: bad\n"));
        assert_true(events_of(r, "fleet-system", "SyncFailed", "") > 0);
        commit_file(&g.repository, "bad/a.yaml", CONFIG_MAP("two", "{a: b}"));
        pass(&g, 6 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "one"), 404);
        assert_int_equal(rig_get(r, CONFIGS "two"), 200);
        assert_string_equal(g.repository.tag.hex, fake_hash(2).hex);
        generator_end(&g);
})

/* ---- what is told ---- */

#define DEPLOYMENT(name, image)                                                                              \
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " name ", namespace: apps}\nspec:\n"        \
        "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n"                   \
        "    spec: {containers: [{name: c, image: '" image "'}]}\n"

/* spec/flux-yaml.md checklist 48 */
RIG_TEST(a_sync_is_told_with_its_commits_and_workloads, {
        struct generator g;

        begin(r, &g, DEPLOYMENT("web", "x:1") "---\n" DEPLOYMENT("api", "x:1"));
        assert_int_equal(events_of(r, "fleet-system", "Synced",
                                   "Sync: a000000, apps:deployment/api, apps:deployment/web"),
                         1);
        commit_file(&g.repository, "a.yaml", DEPLOYMENT("web", "x:2") "---\n" DEPLOYMENT("api", "x:1"));
        commit_file(&g.repository, "README", "x");
        commit_file(&g.repository, "README", "y");
        pass(&g, 6 * MINUTES);
        assert_int_equal(
                events_of(r, "fleet-system", "Synced", "Sync: a000000..a000003, apps:deployment/web"), 1);
        commit_file(&g.repository, "README", "z");
        pass(&g, 6 * MINUTES);
        assert_int_equal(events_of(r, "fleet-system", "Synced", "Sync: a000004, no workloads changed"), 1);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 49 */
RIG_TEST(syncs_are_measured, {
        static const char *const yes[] = { "true" };
        static const char *const no[] = { "false" };
        struct generator g;

        begin(r, &g,
              CONFIG_MAP(
                      "one",
                      "{}") "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: never}\n");
        assert_int_equal(metric_value(g.options.metrics, METRIC_SYNC_MANIFESTS, yes), 1);
        assert_int_equal(metric_value(g.options.metrics, METRIC_SYNC_MANIFESTS, no), 1);
        assert_int_equal(metric_value(g.options.metrics, METRIC_GIT_READY, NULL), 1);
        assert_non_null(metric_series(g.options.metrics, METRIC_SYNC_SECONDS, yes));
        g.repository.fetch_failure = (struct error){ .code = ERR_RETRY, .text = "away" };
        pass(&g, 6 * MINUTES);
        assert_int_equal(metric_value(g.options.metrics, METRIC_GIT_READY, NULL), 0);
        generator_end(&g);
})

/* ---- the repository ---- */

/* spec/flux-yaml.md checklist 5 */
RIG_TEST(a_branch_that_is_missing_is_looked_for_every_ten_seconds, {
        struct generator g;

        generator_make(r, &g);
        g.repository.without_branch = true;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        assert_string_equal(status_of(r, "repository"), "new");
        assert_string_equal(status_of(r, "repositoryProblem"), "configured branch 'main' does not exist");
        assert_non_null(strstr(status_of(r, "errors"),
                               "git repo not ready: configured branch ''main'' does not exist"));
        assert_int_equal(events_of(r, "fleet-system", "SyncFailed", "git repo not ready: configured branch"),
                         1);
        pass(&g, 30 * SECONDS);
        assert_int_equal(g.repository.fetches, 4);
        g.repository.without_branch = false;
        pass(&g, 10 * SECONDS);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_int_equal(g.repository.checked, 1);
        assert_memory_equal(g.repository.checked_tag, "flux-write-check-", 17);
        assert_int_equal(strlen(g.repository.checked_tag), 27);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 5: what an earlier check left is taken away by the next */
RIG_TEST(the_tag_of_the_write_check_is_the_same_each_time, {
        struct generator g;
        char tag[64];

        generator_make(r, &g);
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: b}"));
        generator_start(&g);
        snprintf(tag, sizeof(tag), "%s", g.repository.checked_tag);
        generator_stop(&g);
        generator_start(&g);
        assert_int_equal(g.repository.checked, 2);
        assert_string_equal(g.repository.checked_tag, tag);
        generator_end(&g);
})

RIG_TEST(a_repository_that_cannot_be_written_is_not_ready, {
        struct generator g;

        generator_make(r, &g);
        g.repository.refuses_writes = true;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        assert_string_equal(status_of(r, "repository"), "cloned");
        assert_string_equal(status_of(r, "repositoryProblem"), "the remote refuses");
        assert_int_equal(rig_get(r, CONFIGS "one"), 404);
        generator_end(&g);
})

RIG_TEST(a_host_that_nobody_knows_is_unreachable, {
        struct generator g;

        generator_make(r, &g);
        g.repository.fetch_failure = (struct error){ .code = ERR_RETRY,
                                                     .reason = HTTP_REASON_NAME_UNKNOWN,
                                                     .text = "no such host" };
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        assert_string_equal(status_of(r, "repository"), "unreachable");
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 6 */
RIG_TEST(a_read_only_repository_is_never_written_and_the_secret_keeps_the_state, {
        struct generator g;

        generator_make(r, &g);
        g.options.readonly = true;
        g.options.state_secret = "flux-git-deploy";
        g.repository.refuses_writes = true;
        rig_post(r, "/api/v1/namespaces/fleet-system/secrets",
                 "{\"metadata\":{\"name\":\"flux-git-deploy\"}}");
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{}"));
        generator_start(&g);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/fleet-system/secrets/flux-git-deploy"), 200);
        assert_string_equal(sync_annotation(r->answer, "flux.weave.works/sync-hwm"), fake_hash(0).hex);
        assert_int_equal(g.repository.tags_moved + g.repository.checked, 0);
        commit_file(&g.repository, "b.yaml", CONFIG_MAP("two", "{}"));
        pass(&g, 5 * MINUTES + 5 * SECONDS);
        assert_int_equal(rig_get(r, CONFIGS "two"), 200);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 46 */
RIG_TEST(a_record_that_somebody_moved_is_warned_of_once, {
        struct generator g;

        begin(r, &g, CONFIG_MAP("one", "{}"));
        g.repository.tag = fake_hash(9);
        pass(&g, 6 * MINUTES);
        g.repository.tag = fake_hash(8);
        pass(&g, 6 * MINUTES);
        assert_int_equal(times_logged(&g, "detected external change in sync state"), 1);
        assert_string_equal(g.repository.tag.hex, fake_hash(0).hex);
        generator_end(&g);
})

RIG_TEST(without_an_address_nothing_is_done_and_requests_say_so, {
        struct generator g;

        generator_make(r, &g);
        g.options.repository = (struct repository){ 0 };
        g.options.url = NULL;
        g.options.public_url = NULL;
        generator_start(&g);
        pass(&g, 60 * MINUTES);
        assert_string_equal(status_of(r, "repository"), "unconfigured");
        assert_string_equal(status_of(r, "errors"), "");
        assert_int_equal(events_of(r, "fleet-system", "SyncFailed", ""), 0);
        assert_int_equal(
                rig_post(r, "/api/v1/namespaces/fleet-system/configmaps",
                         "{\"metadata\":{\"name\":\"job\",\"labels\":{\"fluxcd.io/request\":\"true\"}},"
                         "\"data\":{\"type\":\"sync\"}}"),
                201);
        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/fleet-system/configmaps/job"), 200);
        assert_string_equal(sync_annotation(r->answer, "fluxcd.io/request-result"),
                            "git repo not ready: git repo does not have valid config");
        generator_end(&g);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_committed_is_on_the_hub_with_mark_and_checksum),
                cmocka_unit_test(the_checksum_is_of_the_document_as_it_stands_in_the_file),
                cmocka_unit_test(what_is_equal_is_not_written_and_what_is_gone_in_git_is_gone),
                cmocka_unit_test(after_a_restart_nothing_is_written),
                cmocka_unit_test(an_object_that_is_refused_stops_no_other_and_is_tried_again),
                cmocka_unit_test(what_fails_is_tried_at_growing_intervals),
                cmocka_unit_test(kinds_of_the_fleet_are_refused_by_name),
                cmocka_unit_test(what_says_ignore_is_left_alone_in_git_and_on_the_hub),
                cmocka_unit_test(what_is_changed_and_left_alone_is_not_looked_at_again_and_again),
                cmocka_unit_test(what_failed_and_is_in_a_path_that_broke_is_not_tried_without_end),
                cmocka_unit_test(other_namespaces_are_neither_read_nor_written),
                cmocka_unit_test(what_somebody_changes_on_the_hub_is_mended_within_seconds),
                cmocka_unit_test(without_drift_it_is_mended_by_the_next_sync),
                cmocka_unit_test(two_thousand_objects_that_are_as_they_were_cost_no_request),
                cmocka_unit_test(an_object_of_a_kind_that_comes_with_it_is_applied_in_the_same_sync),
                cmocka_unit_test(a_kind_that_nobody_serves_waits_with_one_warning),
                cmocka_unit_test(a_target_path_that_is_broken_leaves_the_others_working),
                cmocka_unit_test(a_sync_is_told_with_its_commits_and_workloads),
                cmocka_unit_test(syncs_are_measured),
                cmocka_unit_test(a_branch_that_is_missing_is_looked_for_every_ten_seconds),
                cmocka_unit_test(the_tag_of_the_write_check_is_the_same_each_time),
                cmocka_unit_test(a_repository_that_cannot_be_written_is_not_ready),
                cmocka_unit_test(a_host_that_nobody_knows_is_unreachable),
                cmocka_unit_test(a_read_only_repository_is_never_written_and_the_secret_keeps_the_state),
                cmocka_unit_test(a_record_that_somebody_moved_is_warned_of_once),
                cmocka_unit_test(without_an_address_nothing_is_done_and_requests_say_so),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
