/* Snapshots of overrides within a whole agent: when they are made, replaced and let go. */
#include "e2e/devcluster/devcluster.h"
#include "hub-agent/hub_agent_test.h"

/* The two kinds behave alike. */
struct scope_paths {
        const char *overrides, *snapshots, *kind, *selectors;
};
static const struct scope_paths scopes[] = {
        { FLEET "clusterresourceoverrides", FLEET "clusterresourceoverridesnapshots",
          "ClusterResourceOverride",
          "\"clusterResourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":"
          "\"app\"}]" },
        { FLEET "namespaces/app/resourceoverrides", FLEET "namespaces/app/resourceoverridesnapshots",
          "ResourceOverride",
          "\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
          "\"settings\"}]" },
};

#define TIER(value)                                                                                          \
        "\"policy\":{\"overrideRules\":[{\"clusterSelector\":{\"clusterSelectorTerms\":[]},"                 \
        "\"jsonPatchOverrides\":[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"tier\":\"" value \
        "\"}}]}]}"

static void begin(struct rig *r, struct fleet *f, const struct scope_paths *p)
{
        char body[1024];

        start(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"%s\",\"metadata\":{"
                 "\"name\":\"tier\"},\"spec\":{\"placement\":{\"name\":\"web\"},%s," TIER("gold") "}}",
                 p->kind, p->selectors);
        if (rig_post(r, p->overrides, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

static uint64_t lists_of_bindings(struct rig *r)
{
        struct devcluster_request_count *c;
        uint64_t sum = 0;
        size_t n;

        assert_int_equal(devcluster_requests(r->devcluster, "hub", &r->arena, &c, &n), 0);
        for (size_t i = 0; i < n; i++)
                sum += text_equal(c[i].verb, "list") && strstr(c[i].resource, "bindings") ? c[i].n : 0;
        return sum;
}

/* "0 1*": the indexes that there are, and which are marked latest. */
static const char *indexes(struct rig *r, const struct scope_paths *p)
{
        const char *text = "";

        for (int i = 0; i < 12; i++) {
                char path[256];

                snprintf(path, sizeof(path), "%s/tier-%d", p->snapshots, i);
                if (rig_get(r, path) != 200 || strstr(r->text, "\"deletionTimestamp\""))
                        continue;
                text = arena_printf(
                        &r->arena, "%s%s%d%s", text, *text ? " " : "", i,
                        strstr(r->text, "\"kubernetes-fleet.io/is-latest-snapshot\":\"true\"") ? "*" : "");
        }
        return text;
}

static const char *path_to(struct rig *r, const char *folder, const char *name)
{
        return arena_printf(&r->arena, "%s/%s", folder, name);
}

static void follow_edits(struct rig *r, const struct scope_paths *p)
{
        struct fleet f;

        begin(r, &f, p);
        assert_string_equal(indexes(r, p), "0*");
        merge_and_settle(r, path_to(r, p->overrides, "tier"),
                         "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}");
        assert_string_equal(indexes(r, p), "0*");
        merge_and_settle(r, path_to(r, p->overrides, "tier"), "{\"spec\":{" TIER("silver") "}}");
        assert_string_equal(indexes(r, p), "0 1*");
        rig_get(r, path_to(r, p->snapshots, "tier-1"));
        assert_non_null(strstr(r->text, "silver"));
        stop(&f);
}

static void go_along(struct rig *r, const struct scope_paths *p)
{
        struct fleet f;

        begin(r, &f, p);
        merge_and_settle(r, path_to(r, p->overrides, "tier"), "{\"spec\":{" TIER("silver") "}}");
        assert_int_equal(rig_delete(r, path_to(r, p->overrides, "tier")), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, path_to(r, p->overrides, "tier")), 404);
        assert_string_equal(indexes(r, p), "");
        stop(&f);
}

/* "tier-1" as it is asked for while the override says "silver". */
static void post_late(struct rig *r, const struct scope_paths *p)
{
        const char *body = arena_printf(
                &r->arena,
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                "v1beta1\",\"kind\":\"%sSnapshot\",\"metadata\":{"
                "\"name\":\"tier-1\",\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":\"true\","
                "\"kubernetes-fleet.io/parent-resource-override\":\"tier\","
                "\"kubernetes-fleet.io/override-index\":\"1\"}},\"spec\":{\"overrideHash\":\"eA==\","
                "\"overrideSpec\":{%s," TIER("silver") "}}}",
                p->kind, p->selectors);

        if (rig_post(r, p->snapshots, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

/* What the override says comes back to what it was while nobody knows whether the next snapshot was made. */
static void come_late(struct rig *r, const struct scope_paths *p)
{
        struct line line;
        struct fleet f;

        begin(r, &f, p);
        line_lay(&f, &line);
        start_again(r, &f);
        line.path = "overridesnapshots?";
        line.fate = ERR_RETRY;
        merge_and_settle(r, path_to(r, p->overrides, "tier"), "{\"spec\":{" TIER("silver") "}}");
        assert_string_equal(indexes(r, p), "0");
        merge_and_settle(r, path_to(r, p->overrides, "tier"), "{\"spec\":{" TIER("gold") "}}");
        line.path = NULL;
        assert_string_equal(indexes(r, p), "0*");
        post_late(r, p);
        fiber_sleep(r->loop, 1000);
        rig_settle(r);
        assert_string_equal(indexes(r, p), "0 1 2*");
        stop(&f);
        http_transport_free(f.world.transport);
}

/* A name never stands for two contents: what a binding names is not given again. */
static void come_again(struct rig *r, const struct scope_paths *p)
{
        struct fleet f;

        begin(r, &f, p);
        place(r, "");
        settle(&f);
        settle(&f);
        rig_get(r, FLEET "clusterresourcebindings");
        assert_non_null(strstr(r->text, "tier-0"));
        assert_int_equal(rig_delete(r, path_to(r, p->snapshots, "tier-0")), 200);
        for (int i = 0; i < 4; i++)
                settle(&f);
        assert_string_equal(indexes(r, p), "1*");
        rig_get(r, FLEET "clusterresourcebindings");
        assert_non_null(strstr(r->text, "tier-1"));
        assert_null(strstr(r->text, "tier-0"));
        stop(&f);
}

static void are_put_right(struct rig *r, const struct scope_paths *p)
{
        struct fleet f;

        begin(r, &f, p);
        merge_and_settle(r, path_to(r, p->snapshots, "tier-0"),
                         "{\"spec\":{\"overrideSpec\":{" TIER("lead") "}}}");
        rig_settle(r);
        assert_string_equal(indexes(r, p), "0 1*"); /* what was edited is history */
        rig_get(r, path_to(r, p->snapshots, "tier-1"));
        assert_non_null(strstr(r->text, "gold"));
        stop(&f);
}

/* Which bindings there are is asked of the server only where a snapshot may have got lost. */
static void ask_nothing(struct rig *r, const struct scope_paths *p)
{
        struct fleet f;

        begin(r, &f, p);
        devcluster_reset_requests(r->devcluster);
        merge_and_settle(r, path_to(r, p->overrides, "tier"), "{\"spec\":{" TIER("silver") "}}");
        merge_and_settle(r, path_to(r, p->overrides, "tier"), "{\"spec\":{" TIER("lead") "}}");
        assert_string_equal(indexes(r, p), "0 1 2*");
        assert_int_equal(lists_of_bindings(r), 0);
        assert_int_equal(rig_delete(r, path_to(r, p->snapshots, "tier-2")), 200);
        settle(&f);
        assert_true(lists_of_bindings(r) > 0);
        stop(&f);
}

/* The history has an end, and the oldest go first. */
static void keep_ten(struct rig *r, const struct scope_paths *p)
{
        struct fleet f;

        begin(r, &f, p);
        for (int i = 1; i <= 11; i++) {
                merge(r, path_to(r, p->overrides, "tier"),
                      i % 2 ? "{\"spec\":{" TIER("silver") "}}" : "{\"spec\":{" TIER("gold") "}}");
                fiber_sleep(r->loop, 1000);
        }
        assert_string_equal(indexes(r, p), "2 3 4 5 6 7 8 9 10 11*");
        stop(&f);
}

#define FOR_BOTH(name, fn)                                                                                   \
        RIG_TEST(name##_of_the_cluster, { fn(r, &scopes[0]); })                                              \
        RIG_TEST(name##_of_a_namespace, { fn(r, &scopes[1]); })

FOR_BOTH(snapshots_follow_edits, follow_edits)
FOR_BOTH(a_snapshot_that_is_made_late_leaves_one_marked_latest, come_late)
FOR_BOTH(snapshots_go_with_their_override, go_along)
FOR_BOTH(a_snapshot_that_somebody_deletes_comes_under_another_index, come_again)
FOR_BOTH(a_snapshot_that_somebody_edits_is_put_right, are_put_right)
FOR_BOTH(ten_snapshots_are_kept, keep_ten)
FOR_BOTH(an_edit_asks_nothing_that_is_known, ask_nothing)

#define BOTH(name) cmocka_unit_test(name##_of_the_cluster), cmocka_unit_test(name##_of_a_namespace)

int main(void)
{
        const struct CMUnitTest tests[] = {
                BOTH(snapshots_follow_edits),
                BOTH(a_snapshot_that_is_made_late_leaves_one_marked_latest),
                BOTH(snapshots_go_with_their_override),
                BOTH(a_snapshot_that_somebody_deletes_comes_under_another_index),
                BOTH(a_snapshot_that_somebody_edits_is_put_right),
                BOTH(ten_snapshots_are_kept),
                BOTH(an_edit_asks_nothing_that_is_known),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
