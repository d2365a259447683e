/* Garbage collection within devcluster: spec/flux-yaml.md 7.3. */
#include "hub-agent/manifest-generation/generation_rig_test.h"

#define TWO CONFIG_MAP("one", "{a: b}") "---\n" CONFIG_MAP("two", "{a: b}")

static void begin(struct rig *r, struct generator *g, bool collect, bool dry)
{
        generator_make(r, g);
        g->options.collect = collect;
        g->options.collect_dry = dry;
        commit_file(&g->repository, "a.yaml", TWO);
        generator_start(g);
}

static void commit_and_sync(struct generator *g, const char *text)
{
        commit_file(&g->repository, "a.yaml", text);
        pass(g, 6 * MINUTES);
}

static int get(struct rig *r, const char *path)
{
        return rig_get(r, path);
}

/* spec/flux-yaml.md checklist 42 */
RIG_TEST(what_git_has_no_more_stays_unless_it_is_collected, {
        struct generator g;

        begin(r, &g, false, false);
        commit_and_sync(&g, CONFIG_MAP("one", "{a: b}"));
        assert_int_equal(get(r, CONFIGS "two"), 200);
        generator_stop(&g);
        g.options.collect = true;
        generator_start(&g);
        assert_int_equal(get(r, CONFIGS "two"), 404);
        assert_int_equal(get(r, CONFIGS "one"), 200);
        assert_string_equal(status_of(r, "deleted"), "1");
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 42 */
RIG_TEST(a_dry_collection_only_says_what_it_would_delete, {
        struct generator g;

        begin(r, &g, true, true);
        commit_and_sync(&g, CONFIG_MAP("one", "{a: b}"));
        assert_int_equal(get(r, CONFIGS "two"), 200);
        assert_true(times_logged(&g, "cluster resource not in resources to be synced; deleting") > 0);
        assert_true(times_logged(&g, "dry-run=true") > 0);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 43 */
RIG_TEST(what_is_others_owned_or_says_so_is_not_deleted, {
        AUTO_FREE char *copied = NULL;
        struct generator g;

        generator_make(r, &g);
        g.options.collect = true;
        commit_file(&g.repository, "a.yaml",
                    TWO "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: synced, namespace: apps, "
                        "annotations: {fluxcd.io/ignore: sync_only}}\n---\n" CONFIG_MAP("owned", "{}"));
        generator_start(&g);
        assert_int_equal(get(r, CONFIGS "synced"), 200);
        assert_int_equal(get(r, CONFIGS "two"), 200);
        copied = mem_printf(
                "{\"metadata\":{\"name\":\"copy\",\"labels\":{\"fluxcd.io/sync-gc-mark\":\"%s\"}}}",
                sync_label(r->answer, FLUX_SYNC_MARK));
        assert_int_equal(rig_post(r, "/api/v1/namespaces/apps/configmaps", copied), 201);
        assert_int_equal(get(r, "/api/v1/namespaces/apps"), 200);
        mem_free(copied);
        copied = mem_printf(
                "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
                "\"name\":\"apps\",\"uid\":\"%s\"}]}}",
                rig_string(r, "metadata.uid"));
        assert_int_equal(rig_merge(r, CONFIGS "owned", copied), 200);
        assert_int_equal(rig_merge(r, CONFIGS "two",
                                   "{\"metadata\":{\"annotations\":{\"fluxcd.io/ignore\":\"true\"}}}"),
                         200);
        commit_and_sync(&g, CONFIG_MAP("one", "{a: b}"));
        assert_int_equal(get(r, CONFIGS "synced"), 200);
        assert_int_equal(get(r, CONFIGS "two"), 200);
        assert_int_equal(get(r, CONFIGS "owned"), 200);
        assert_int_equal(get(r, CONFIGS "copy"), 200);
        generator_end(&g);
})

RIG_TEST(what_is_ignored_in_git_counts_as_there, {
        struct generator g;

        begin(r, &g, true, false);
        commit_and_sync(&g,
                        CONFIG_MAP("one", "{a: b}") "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: "
                                                    "two, namespace: apps, annotations: "
                                                    "{fluxcd.io/ignore: 'true'}}\n");
        assert_int_equal(get(r, CONFIGS "two"), 200);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 44 */
RIG_TEST(when_all_of_a_sudden_there_is_nothing_nothing_is_deleted, {
        struct generator g;

        begin(r, &g, true, false);
        commit_and_sync(&g, "# nothing\n");
        pass(&g, 6 * MINUTES);
        assert_int_equal(get(r, CONFIGS "one"), 200);
        assert_int_equal(get(r, CONFIGS "two"), 200);
        assert_int_equal(events_of(r, "fleet-system", "CollectionHeld", "gives 0 objects, 2 before"), 1);
        assert_string_equal(status_of(r, "collectionHeld"), ".: 0 objects, 2 before\n");
        generator_stop(&g);
        generator_start(&g); /* it is known after a restart, too */
        assert_int_equal(get(r, CONFIGS "one"), 200);
        commit_and_sync(&g, CONFIG_MAP("one", "{a: b}") "---\n" CONFIG_MAP("three", "{}"));
        assert_int_equal(get(r, CONFIGS "two"), 404);
        assert_string_equal(status_of(r, "collectionHeld"), "");
        generator_end(&g);
})

static int no_status(void *ctx, const struct http_request *rq)
{
        bool *fails = ctx;

        return *fails && text_equal(rq->method, "PATCH") && strstr(rq->path, "/manifest-generation-status")
                       ? 503
                       : 0;
}

/* The process ends before it could tell what it applied. */
RIG_TEST(what_no_record_knows_is_not_applied, {
        struct generator g;
        bool fails = false;
        struct loopback_faults faults = { .ctx = &fails, .fate = no_status };

        generator_make(r, &g);
        g.options.collect = true;
        g.world.transport = loopback_transport(r->net, &g.world, &faults);
        commit_file(&g.repository, "a.yaml", "# nothing yet\n");
        generator_start(&g);
        fails = true;
        commit_and_sync(&g, CONFIG_MAP("one", "{a: b}"));
        generator_stop(&g);
        fails = false;
        commit_file(&g.repository, "a.yaml", "# nothing\n");
        generator_start(&g);
        pass(&g, MINUTES);
        assert_int_equal(get(r, CONFIGS "one"), 404);
        commit_and_sync(&g, CONFIG_MAP("one", "{a: b}"));
        assert_int_equal(get(r, CONFIGS "one"), 200);
        fails = true; /* nor does it help that nothing can be told now */
        generator_stop(&g);
        commit_file(&g.repository, "a.yaml", "# nothing\n");
        generator_start(&g);
        pass(&g, 6 * MINUTES);
        assert_int_equal(get(r, CONFIGS "one"), 200);
        generator_stop(&g);
        http_transport_free(g.world.transport);
        generator_end(&g);
})

/* spec/flux-yaml.md checklist 45 */
RIG_TEST(another_branch_or_address_deletes_nothing_of_the_old_set, {
        struct generator g;

        begin(r, &g, true, false);
        generator_stop(&g);
        g.options.branch = "other";
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: b}"));
        generator_start(&g);
        pass(&g, 6 * MINUTES);
        assert_int_equal(get(r, CONFIGS "two"), 200);
        assert_int_equal(get(r, CONFIGS "one"), 200);
        generator_end(&g);
})

RIG_TEST(what_hangs_on_others_goes_first, {
        struct generator g;

        generator_make(r, &g);
        g.options.collect = true;
        commit_file(
                &g.repository, "a.yaml",
                "apiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n---\n"
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: in, namespace: fresh}\n---\n" CONFIG_MAP(
                        "one", "{a: b}"));
        generator_start(&g);
        assert_int_equal(get(r, "/api/v1/namespaces/fresh/configmaps/in"), 200);
        commit_and_sync(&g, CONFIG_MAP("one", "{a: b}"));
        assert_int_equal(get(r, "/api/v1/namespaces/fresh/configmaps/in"), 404);
        assert_string_equal(status_of(r, "deleted"), "2");
        assert_true(strstr(g.logged, "deleting  dry-run=false resource=fresh:configmap/in") <
                    strstr(g.logged, "deleting  dry-run=false resource=<cluster>:namespace/fresh"));
        generator_end(&g);
})

/* The cache of its objects ends before it goes. */
RIG_TEST(a_kind_that_is_collected_leaves_nothing_that_complains, {
        struct generator g;

        generator_make(r, &g);
        g.options.collect = true;
        commit_file(
                &g.repository, "a.yaml",
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
                "things.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: "
                "Thing, "
                "plural: things, singular: thing, listKind: ThingList}\n  versions:\n  - name: v1\n    "
                "served: "
                "true\n    storage: true\n    schema: {openAPIV3Schema: {type: object, "
                "x-kubernetes-preserve-unknown-fields: true}}\n---\napiVersion: example.com/v1\nkind: Thing\n"
                "metadata: {name: t, namespace: apps}\n---\n" CONFIG_MAP("one", "{}"));
        generator_start(&g);
        assert_int_equal(get(r, "/apis/example.com/v1/namespaces/apps/things/t"), 200);
        commit_and_sync(&g, CONFIG_MAP("one", "{}"));
        pass(&g, 6 * MINUTES);
        assert_int_equal(get(r, "/apis/example.com/v1/namespaces/apps/things/t"), 404);
        assert_int_equal(times_logged(&g, "list or watch fails"), 0);
        generator_end(&g);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_git_has_no_more_stays_unless_it_is_collected),
                cmocka_unit_test(a_dry_collection_only_says_what_it_would_delete),
                cmocka_unit_test(what_is_others_owned_or_says_so_is_not_deleted),
                cmocka_unit_test(what_is_ignored_in_git_counts_as_there),
                cmocka_unit_test(when_all_of_a_sudden_there_is_nothing_nothing_is_deleted),
                cmocka_unit_test(what_no_record_knows_is_not_applied),
                cmocka_unit_test(another_branch_or_address_deletes_nothing_of_the_old_set),
                cmocka_unit_test(what_hangs_on_others_goes_first),
                cmocka_unit_test(a_kind_that_is_collected_leaves_nothing_that_complains),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
