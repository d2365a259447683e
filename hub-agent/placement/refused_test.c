/* Selectors that make no sense are refused in words that name them, and the others select what they say:
 * spec/placement.md 6. */
#include "hub-agent/common.h"
#include "hub-agent/hub_agent_test.h"

#define PLACEMENT FLEET "clusterresourceplacements/web"
#define OWN FLEET "namespaces/app/resourceplacements/own"

static void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        add_member(f, "member-1", "");
        add_app(r);
}

/* `more`: members of the selector, begun by a comma. */
#define SELECT(group, version, kind, more)                                                                   \
        "{\"group\":\"" group "\",\"version\":\"" version "\",\"kind\":\"" kind "\"" more "}"
#define NAMED(name) ",\"name\":\"" name "\""
#define SCOPE(scope) ",\"selectionScope\":\"" scope "\""

static void put(struct rig *r, const char *collection, const char *kind, const char *name,
                const char *selectors)
{
        char body[2048], path[256];

        snprintf(path, sizeof(path), "%s/%s", collection, name);
        rig_delete(r, path);
        rig_settle(r);
        fiber_sleep(r->loop, 5000);
        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"%s\",\"metadata\":{"
                 "\"name\":\"%s\"},\"spec\":{\"resourceSelectors\":[%s]}}",
                 kind, name, selectors);
        if (rig_post(r, collection, body) != 201)
                fail_msg("%s: %s", selectors, r->text);
        rig_settle(r);
        fiber_sleep(r->loop, 5000);
}

static void assert_refused(struct rig *r, const char *path, const char *type, const char *words)
{
        assert_int_equal(rig_get(r, path), 200);
        if (!text_equal(condition_of(r, type), "False") || !strstr(r->text, words))
                fail_msg("wanted \"%s\" in %s", words, r->text);
}

static void of_the_cluster(struct rig *r)
{
        static const struct {
                const char *selectors, *words;
        } rows[] = {
                { SELECT("", "v1", "ConfigMap", NAMED("settings")),
                  "cannot select namespace-scoped resource /v1, Resource=configmaps in a "
                  "clusterResourcePlacement" },
                { SELECT("", "v1", "Namespace", NAMED("fleet-system")),
                  "namespace fleet-system is not allowed to propagate" },
                { SELECT("", "v1", "Namespace", NAMED("fleet-system") SCOPE("NamespaceOnly")),
                  "namespace fleet-system is not allowed to propagate" },
                { SELECT("", "v1", "Namespace", NAMED("nowhere") SCOPE("NamespaceWithResourceSelectors")),
                  "NamespaceWithResourceSelectors mode requires exactly one namespace, but no namespaces "
                  "were "
                  "selected" },
                { SELECT("", "v1", "Namespace",
                         NAMED("fleet-system") SCOPE("NamespaceWithResourceSelectors")),
                  "NamespaceWithResourceSelectors mode requires exactly one namespace, but no namespaces "
                  "were "
                  "selected" },
        };
        struct fleet f;

        begin(r, &f);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                put(r, FLEET "clusterresourceplacements", "ClusterResourcePlacement", "web",
                    rows[i].selectors);
                assert_refused(r, PLACEMENT, "ClusterResourcePlacementScheduled", rows[i].words);
        }
        stop(&f);
}
static void selectors_of_the_cluster_that_make_no_sense_are_refused(void **state)
{
        rig_run(of_the_cluster);
}

static void of_a_namespace(struct rig *r)
{
        static const struct {
                const char *selectors, *words;
        } rows[] = {
                { SELECT("", "v1", "Namespace", NAMED("app")),
                  "cannot select cluster-scoped resource Namespace in a resourcePlacement" },
                { SELECT("rbac.authorization.k8s.io", "v1", "ClusterRole", NAMED("reader")),
                  "cannot select cluster-scoped resource rbac.authorization.k8s.io/v1, Resource=clusterroles "
                  "in a resourcePlacement" },
        };
        struct fleet f;

        begin(r, &f);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                put(r, FLEET "namespaces/app/resourceplacements", "ResourcePlacement", "own",
                    rows[i].selectors);
                assert_refused(r, OWN, "ResourcePlacementScheduled", rows[i].words);
        }
        stop(&f);
}
static void selectors_of_a_namespace_that_reach_out_of_it_are_refused(void **state)
{
        rig_run(of_a_namespace);
}

/* What the server has known is not served any more, or never was, is not told before it is certain. */
static void is_not_served(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        put(r, FLEET "clusterresourceplacements", "ClusterResourcePlacement", "web",
            SELECT("example.org", "v1", "Nothing", NAMED("a")));
        fiber_sleep(r->loop, 1800000);
        assert_refused(r, PLACEMENT, "ClusterResourcePlacementScheduled",
                       "failed to get GVR of the selector: no matches for kind \\\"Nothing\\\" in version "
                       "\\\"example.org/v1\\\"");
        stop(&f);
}
static void a_kind_that_is_not_served_is_named(void **state)
{
        rig_run(is_not_served);
}

/* "Namespace app; ConfigMap settings; " of what the placement has selected. */
static const char *selected(struct rig *r, char ret[512])
{
        const json_t *s;
        size_t i;

        ret[0] = 0;
        rig_get(r, PLACEMENT);
        json_array_foreach(doc_get_array(r->answer, "status.selectedResources"), i, s)
                snprintf(ret + strlen(ret), 512 - strlen(ret), "%s %s; ", doc_get_string(s, "kind"),
                         doc_get_string(s, "name"));
        return ret;
}

static void by_scope(struct rig *r)
{
        static const struct {
                const char *selectors, *selected;
        } rows[] = {
                { SELECT("", "v1", "Namespace", NAMED("app") SCOPE("NamespaceOnly")), "Namespace app; " },
                { SELECT("", "v1", "Namespace", NAMED("app") SCOPE("NamespaceWithResources")),
                  "Namespace app; ConfigMap other; ConfigMap settings; " },
                { SELECT("", "v1", "Namespace", NAMED("app")),
                  "Namespace app; ConfigMap other; ConfigMap settings; " },
                { SELECT("", "v1", "Namespace",
                         NAMED("app") SCOPE("NamespaceWithResourceSelectors")) "," SELECT("", "v1",
                                                                                          "ConfigMap",
                                                                                          NAMED("settings")),
                  "Namespace app; ConfigMap settings; " },
                { SELECT("", "v1", "ConfigMap", NAMED("settings")) "," SELECT(
                          "", "v1", "Namespace", NAMED("app") SCOPE("NamespaceWithResourceSelectors")),
                  "Namespace app; ConfigMap settings; " },
                { SELECT("", "v1", "Namespace", NAMED("nowhere")), "" },
                { SELECT("", "v1", "Namespace", ",\"labelSelector\":{\"matchLabels\":{\"no\":\"such\"}}"),
                  "" },
        };
        struct fleet f;

        begin(r, &f);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/app/configmaps",
                                  "{\"metadata\":{\"name\":\"other\"},\"data\":{\"a\":\"b\"}}"),
                         201);
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"shop\"}}"), 201);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/shop/configmaps",
                                  "{\"metadata\":{\"name\":\"settings\"},\"data\":{\"a\":\"b\"}}"),
                         201);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char is[512];

                put(r, FLEET "clusterresourceplacements", "ClusterResourcePlacement", "web",
                    rows[i].selectors);
                if (!text_equal(selected(r, is), rows[i].selected))
                        fail_msg("row %zu: %s", i, is);
        }
        stop(&f);
}
static void a_scope_says_what_of_a_namespace_is_selected(void **state)
{
        rig_run(by_scope);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(selectors_of_the_cluster_that_make_no_sense_are_refused),
                cmocka_unit_test(selectors_of_a_namespace_that_reach_out_of_it_are_refused),
                cmocka_unit_test(a_kind_that_is_not_served_is_named),
                cmocka_unit_test(a_scope_says_what_of_a_namespace_is_selected),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
