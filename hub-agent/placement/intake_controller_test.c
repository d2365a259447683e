/* Indexes of snapshots within a whole agent whose caches are behind, whose reads fail, or beside which
 * another agent was at work. */
#include "hub-agent/hub_agent_test.h"

#define SNAPSHOTS FLEET "clusterresourcesnapshots"
#define BINDINGS FLEET "clusterresourcebindings"

static void start_on(struct rig *r, struct fleet *f, struct line *line)
{
        start(r, f);
        line_lay(f, line);
        start_again(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(f);
        settle(f);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
}

static void close_all(struct fleet *f)
{
        stop(f);
        http_transport_free(f->world.transport);
}

/* As another agent did that led before. */
static void bind_to(struct rig *r, const char *snapshot)
{
        char path[256], patch[256];

        rig_get(r, BINDINGS);
        snprintf(path, sizeof(path), BINDINGS "/%s",
                 doc_get_string(json_array_get(json_object_get(r->answer, "items"), 0), "metadata.name"));
        snprintf(patch, sizeof(patch), "{\"spec\":{\"resourceSnapshotName\":\"%s\"}}", snapshot);
        assert_int_equal(rig_merge(r, path, patch), 200);
}

static bool is_there(struct rig *r, const char *snapshot)
{
        char path[256];

        snprintf(path, sizeof(path), SNAPSHOTS "/%s", snapshot);
        return rig_get(r, path) == 200;
}

static void change_content(struct rig *r)
{
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        assert_int_equal(r->status, 200);
}

static void wait_ms(struct rig *r, int64_t ms)
{
        fiber_sleep(r->loop, ms);
        rig_settle(r);
}

RIG_TEST(an_index_that_a_binding_names_is_not_given_again_though_the_cache_of_bindings_is_behind, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.lagging = "clusterresourcebindings";
        bind_to(r, "web-7-snapshot");
        rig_delete(r, SNAPSHOTS "/web-0-snapshot");
        wait_ms(r, 2000);
        assert_true(is_there(r, "web-8-snapshot"));
        assert_false(is_there(r, "web-1-snapshot"));
        close_all(&f);
})

RIG_TEST(nothing_is_made_while_it_cannot_be_told_which_indexes_were_given, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.path = "clusterresourcebindings?labelSelector=";
        line.fate = 503;
        rig_delete(r, SNAPSHOTS "/web-0-snapshot");
        wait_ms(r, 5000);
        assert_int_equal(count(r, SNAPSHOTS), 0);
        line.path = NULL;
        wait_ms(r, 90000);
        assert_int_equal(count(r, SNAPSHOTS), 1);
        assert_true(is_there(r, "web-1-snapshot"));
        close_all(&f);
})

/* The other agent made a group that the cache does not show yet. Another one above it would be a second one
 * marked as the latest. */
RIG_TEST(a_snapshot_that_a_binding_names_and_the_cache_lacks_is_waited_for, {
        static const char made[] =
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                "\"ClusterResourceSnapshot\",\"metadata\":{\"name\":\"web-1-snapshot\",\"labels\":{"
                "\"kubernetes-fleet.io/parent-CRP\":\"web\",\"kubernetes-fleet.io/resource-index\":\"1\","
                "\"kubernetes-fleet.io/is-latest-snapshot\":\"true\"},\"annotations\":{"
                "\"kubernetes-fleet.io/resource-hash\":\"x\","
                "\"kubernetes-fleet.io/number-of-resource-snapshots\":\"1\","
                "\"kubernetes-fleet.io/number-of-enveloped-object\":\"0\"}},"
                "\"spec\":{\"selectedResources\":[]}}";
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        rig_merge(r, SNAPSHOTS "/web-0-snapshot",
                  "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":\"false\"}}}");
        rig_settle(r);
        line.lagging = "clusterresourcesnapshots";
        assert_int_equal(rig_post(r, SNAPSHOTS, made), 201);
        bind_to(r, "web-1-snapshot");
        rig_settle(r);
        change_content(r);
        wait_ms(r, 5000);
        assert_false(is_there(r, "web-2-snapshot"));
        line.lagging = NULL;
        wait_ms(r, 90000);
        assert_true(is_there(r, "web-2-snapshot"));
        assert_int_equal(count(r, SNAPSHOTS "?labelSelector=kubernetes-fleet.io%2Fis-latest-snapshot%3Dtrue"),
                         1);
        assert_int_equal(count(r, SNAPSHOTS), 3);
        close_all(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(
                        an_index_that_a_binding_names_is_not_given_again_though_the_cache_of_bindings_is_behind),
                cmocka_unit_test(nothing_is_made_while_it_cannot_be_told_which_indexes_were_given),
                cmocka_unit_test(a_snapshot_that_a_binding_names_and_the_cache_lacks_is_waited_for),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
