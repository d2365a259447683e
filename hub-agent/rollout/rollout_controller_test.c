/* The rollout controller within a whole agent: what another controller does while its writes are under way.
 */
#include "hub-agent/hub_agent_test.h"

static int64_t deletes_take_2_s(void *ctx, const struct http_request *rq, bool answer)
{
        return !answer && text_equal(rq->method, "DELETE") ? 2000 : 0;
}

/* Bindings that are not being deleted. */
static size_t bindings_kept(struct rig *r)
{
        json_t *item;
        size_t i, n = 0;

        rig_get(r, FLEET "clusterresourcebindings");
        json_array_foreach(json_object_get(r->answer, "items"), i, item)
                n += !doc_get_string(item, "metadata.deletionTimestamp");
        return n;
}

static void set_number(struct rig *r, int n)
{
        char patch[64];

        snprintf(patch, sizeof(patch), "{\"spec\":{\"policy\":{\"numberOfClusters\":%d}}}", n);
        assert_int_equal(rig_merge(r, FLEET "clusterresourceplacements/web", patch), 200);
}

static void takes_back(struct rig *r)
{
        static const struct loopback_faults slow = { .delay = deletes_take_2_s };
        struct http_transport *direct = r->client;
        struct fleet f;

        r->client = loopback_transport(r->net, &r->world, &slow);
        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        place(r, ",\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":2}");
        settle(&f);
        settle(&f);
        assert_int_equal(bindings_kept(r), 2);
        set_number(r, 1);
        fiber_sleep(r->loop, 500); /* the DELETE is on its way */
        set_number(r, 2);
        for (int i = 0; i < 10; i++) {
                fiber_sleep(r->loop, 500);
                assert_int_equal(bindings_kept(r), 2);
        }
        set_number(r, 1); /* and what is to go still goes */
        fiber_sleep(r->loop, 5000);
        assert_int_equal(bindings_kept(r), 1);
        stop(&f);
        http_transport_free(r->client);
        r->client = direct;
}
static void a_binding_that_is_taken_back_while_its_deletion_is_under_way_stays(void **state)
{
        rig_run(takes_back);
}

static int64_t new_override_snapshots_take_2_s(void *ctx, const struct http_request *rq, bool answer)
{
        return !answer && text_equal(rq->method, "POST") && strstr(rq->path, "overridesnapshots") ? 2000 : 0;
}

/* The override snapshots that the only binding names, in one text. */
static const char *overrides_of_the_binding(struct rig *r, char ret[256])
{
        const json_t *names;
        json_t *name;
        size_t i;

        ret[0] = '\0';
        rig_get(r, FLEET "clusterresourcebindings");
        names = doc_get_array(json_array_get(json_object_get(r->answer, "items"), 0),
                              "spec.clusterResourceOverrideSnapshots");
        json_array_foreach(names, i, name)
                snprintf(ret + strlen(ret), 256 - strlen(ret), "%s%s", i ? " " : "", json_string_value(name));
        return ret;
}

#define TIER(value)                                                                                          \
        "\"policy\":{\"overrideRules\":[{\"clusterSelector\":{\"clusterSelectorTerms\":[]},"                 \
        "\"overrideType\":"                                                                                  \
        "\"JSONPatch\",\"jsonPatchOverrides\":[{\"op\":\"add\",\"path\":\"/metadata/labels/"                 \
        "tier\",\"value\":\"" value "\"}]}]}"

static void change_an_override(struct rig *r, struct fleet *f)
{
        char names[256];

        place(r, "");
        settle(f);
        settle(f);
        assert_string_equal(overrides_of_the_binding(r, names), "tier-0");
        assert_int_equal(
                rig_merge(r, FLEET "clusterresourceoverrides/tier", "{\"spec\":{" TIER("silver") "}}"), 200);
        for (int i = 0; i < 5; i++) {
                char patch[128];

                fiber_sleep(r->loop, 300);
                assert_string_equal(overrides_of_the_binding(r, names), "tier-0");
                snprintf(patch, sizeof(patch),
                         "{\"spec\":{\"strategy\":{\"rollingUpdate\":{\"maxSurge\":%d}}}}", i);
                assert_int_equal(rig_merge(r, FLEET "clusterresourceplacements/web", patch), 200);
        }
        fiber_sleep(r->loop, 3000);
        settle(f);
        assert_string_equal(overrides_of_the_binding(r, names), "tier-1");
        assert_int_equal(rig_delete(r, FLEET "clusterresourceoverrides/tier"), 200);
        fiber_sleep(r->loop, 3000);
        settle(f);
        assert_string_equal(overrides_of_the_binding(r, names), "");
}

/* None of them has anything to lose, so none waits for its turn: only the Works tell that they failed. */
static void mends(struct rig *r)
{
        struct fleet f;
        json_t *work;
        size_t i;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        place(r, ",\"strategy\":{\"rollingUpdate\":{\"maxUnavailable\":1,\"maxSurge\":0}}");
        settle(&f);
        settle(&f);
        report_works(&f, "False", "False");
        fiber_sleep(r->loop, 5000);
        rig_get(r, FLEET "clusterresourcebindings");
        assert_null(strstr(r->text, "failedPlacements"));
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        fiber_sleep(r->loop, 10000);
        rig_get(r, FLEET "works");
        assert_int_equal(json_array_size(json_object_get(r->answer, "items")), 2);
        json_array_foreach(json_object_get(r->answer, "items"), i, work)
                assert_string_equal(json_string_value(json_object_get(
                                            json_object_get(json_object_get(work, "metadata"), "labels"),
                                            "kubernetes-fleet.io/parent-resource-snapshot-index")),
                                    "1");
        stop(&f);
}
static void works_that_failed_without_naming_what_are_mended_by_the_next_rollout(void **state)
{
        rig_run(mends);
}

/* As a member says whose objects have nothing to be watched by: they count as available after a while. */
static void say_untrackable(struct fleet *f)
{
        AUTO_JSON json_t *list = NULL;
        json_t *item;
        size_t i;

        rig_get(f->rig, FLEET "works");
        list = json_incref(f->rig->answer);
        json_array_foreach(json_object_get(list, "items"), i, item) {
                char path[512], body[1024], now[RFC3339_SIZE];
                long long generation = doc_get_int(item, "metadata.generation", 0);

                stamp_now(f, now);
                snprintf(path, sizeof(path), FLEET "namespaces/%s/works/%s/status",
                         doc_get_string(item, "metadata.namespace"), doc_get_string(item, "metadata.name"));
                snprintf(body, sizeof(body),
                         "{\"status\":{\"conditions\":[{\"type\":\"Applied\",\"status\":\"True\",\"reason\":"
                         "\"A\","
                         "\"message\":\"\",\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld},"
                         "{\"type\":\"Available\",\"status\":\"True\",\"reason\":\"WorkNotTrackable\","
                         "\"message\":\"\",\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld}]}}",
                         now, generation, now, generation);
                assert_int_equal(rig_merge(f->rig, path, body), 200);
        }
}

static size_t works_of_index(struct rig *r, const char *index)
{
        char path[256];

        snprintf(path, sizeof(path),
                 FLEET "works?labelSelector=kubernetes-fleet.io%%2Fparent-resource-snapshot-index%%3D%s",
                 index);
        return count(r, path);
}

static void clock_is_set_back(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        place(r, ",\"strategy\":{\"rollingUpdate\":{\"maxUnavailable\":1,\"maxSurge\":0,"
                 "\"unavailablePeriodSeconds\":60}}");
        rig_settle(r);
        say_untrackable(&f);
        fiber_sleep(r->loop, 61000);
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        fiber_sleep(r->loop, 5000);
        assert_int_equal(works_of_index(r, "1"), 1);
        say_untrackable(&f); /* available now, and ready in a minute */
        fiber_sleep(r->loop, 1000);
        loop_shift_wall(r->loop, -600000);
        for (int i = 0; i < 3; i++) { /* however often it is looked at */
                rig_merge(r, FLEET "clusterresourceplacements/web",
                          i % 2 ? "{\"spec\":{\"revisionHistoryLimit\":7}}"
                                : "{\"spec\":{\"revisionHistoryLimit\":8}}");
                fiber_sleep(r->loop, 10000);
                assert_int_equal(works_of_index(r, "1"), 1);
        }
        for (int i = 0; i < 12; i++) { /* members are alive by their own clocks, which are right */
                report_member(&f, "member-1", "True");
                report_member(&f, "member-2", "True");
                fiber_sleep(r->loop, 10000);
        }
        assert_int_equal(works_of_index(r, "1"), 2);
        stop(&f);
}

static void a_clock_that_is_set_back_holds_up_a_rollout_no_longer_than_the_period(void **state)
{
        rig_run(clock_is_set_back);
}

static void replaces(struct rig *r)
{
        static const struct loopback_faults slow = { .delay = new_override_snapshots_take_2_s };
        struct http_transport *direct = r->client;
        struct fleet f;

        r->client = loopback_transport(r->net, &r->world, &slow);
        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        assert_int_equal(
                rig_post(r, FLEET "clusterresourceoverrides",
                         "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                         "\"ClusterResourceOverride\",\"metadata\":{\"name\":\"tier\"},\"spec\":{"
                         "\"placement\":{\"name\":\"web\"},\"clusterResourceSelectors\":[{\"group\":\"\","
                         "\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"app\"}]," TIER("gold") "}}"),
                201);
        rig_settle(r);
        fiber_sleep(r->loop, 3000);
        change_an_override(r, &f);
        stop(&f);
        http_transport_free(r->client);
        r->client = direct;
}
static void an_override_stays_in_force_until_its_successor_is_there(void **state)
{
        rig_run(replaces);
}

/* A cycle of the scheduler gives the binding up while its cluster is still leaving. */
static void is_gone_later(struct rig *r)
{
        char path[160];
        struct line line;
        struct fleet f;
        json_t *binding;

        start(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, ",\"strategy\":{\"rollingUpdate\":{\"unavailablePeriodSeconds\":0}}");
        settle(&f);
        settle(&f);
        rig_get(r, FLEET "clusterresourcebindings");
        binding = json_array_get(json_object_get(r->answer, "items"), 0);
        snprintf(path, sizeof(path), "%s/status", doc_get_string(binding, "metadata.name"));
        line.path = path; /* its conditions are of the former generation, then */
        line.fate = 503;
        rig_delete(r, CLUSTERS "memberclusters/member-1");
        rig_merge(r, FLEET "clusterschedulingpolicysnapshots/web-0",
                  "{\"metadata\":{\"labels\":{\"look\":\"again\"}}}");
        fiber_sleep(r->loop, 1000);
        rig_get(r, FLEET "clusterresourcebindings");
        assert_non_null(strstr(r->text, "\"state\":\"Unscheduled\""));
        assert_int_equal(bindings_kept(r), 1);
        report_member(&f, "member-1", "False");
        fiber_sleep(r->loop, 5000);
        assert_int_equal(rig_get(r, CLUSTERS "memberclusters/member-1"), 404);
        assert_int_equal(bindings_kept(r), 0);
        stop(&f);
        http_transport_free(f.world.transport);
}

static void a_binding_that_was_given_up_goes_when_its_cluster_is_gone(void **state)
{
        rig_run(is_gone_later);
}

/* Whose the Works are stays, or they would go with it; even if the other looks as if it were in use. */
static void has_two(struct rig *r)
{
        AUTO_FREE char *second = NULL;
        char path[256], name[128];
        struct fleet f;
        json_t *b;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(&f);
        settle(&f);
        rig_get(r, FLEET "clusterresourcebindings");
        b = json_array_get(json_object_get(r->answer, "items"), 0);
        snprintf(name, sizeof(name), "%s", doc_get_string(b, "metadata.name"));
        snprintf(path, sizeof(path), FLEET "clusterresourcebindings/%s", name);
        json_object_del(b, "status");
        json_object_del(json_object_get(b, "metadata"), "resourceVersion");
        json_object_del(json_object_get(b, "metadata"), "uid");
        json_object_set_new(json_object_get(b, "metadata"), "name", json_string("web-second"));
        second = json_dumps(b, 0);
        stop(&f);
        assert_int_equal(rig_merge(r, path, "{\"spec\":{\"state\":\"Scheduled\"}}"), 200);
        assert_int_equal(rig_post(r, FLEET "clusterresourcebindings", second), 201);
        start_again(r, &f);
        settle(&f);
        settle(&f);
        assert_int_equal(bindings_kept(r), 1);
        assert_int_equal(rig_get(r, path), 200);
        assert_int_equal(count(r, FLEET "works"), 1);
        rig_get(r, "/api/v1/namespaces/default/events");
        assert_non_null(
                strstr(r->text, "cluster member-1 had a second binding: \\\"web-second\\\" is deleted"));
        stop(&f);
}

static void of_two_bindings_on_a_cluster_that_of_the_works_stays(void **state)
{
        rig_run(has_two);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(works_that_failed_without_naming_what_are_mended_by_the_next_rollout),
                cmocka_unit_test(a_binding_that_is_taken_back_while_its_deletion_is_under_way_stays),
                cmocka_unit_test(an_override_stays_in_force_until_its_successor_is_there),
                cmocka_unit_test(a_binding_that_was_given_up_goes_when_its_cluster_is_gone),
                cmocka_unit_test(of_two_bindings_on_a_cluster_that_of_the_works_stays),
                cmocka_unit_test(a_clock_that_is_set_back_holds_up_a_rollout_no_longer_than_the_period),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
