/* Which events make the scheduler look at which placements, and at which it does not. spec/scheduler.md 4. */
#include "common/ctrl/metrics.h"
#include "hub-agent/agent.h"
#include "hub-agent/hub_agent_test.h"

/* ---- what watches make of an event ---- */

struct emitted {
        char keys[128];
};

static void note_key(void *to, const char *key)
{
        struct emitted *e = to;
        size_t n = strlen(e->keys);

        snprintf(e->keys + n, sizeof(e->keys) - n, "%s%s", n ? " " : "", key);
}

static const struct object *object_of(struct arena *arena, const struct kind *kind, const char *json)
{
        struct error err = { 0 };
        struct object *o;

        if (json && object_decode_arena(kind, slice_of(json), arena, &o, &err) < 0)
                fail_msg("%s: %s", json, err.text);
        return json ? o : NULL;
}

/* The keys that the first watch of the kind emits; before NULL: created, now NULL: gone. */
static void emitted_by(const struct kind *kind, const char *before, const char *now, struct emitted *ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct informer_event e = { .old = object_of(&arena, kind, before),
                                    .now = object_of(&arena, kind, now) };

        *ret = (struct emitted){ 0 };
        e.type = !before ? INFORMER_ADDED : !now ? INFORMER_DELETED : INFORMER_UPDATED;
        e.now = e.now ? e.now : e.old;
        for (size_t i = 0; i < scheduler_controller.n_watches; i++)
                if (scheduler_controller.watches[i].kind == kind) {
                        scheduler_controller.watches[i].map(NULL, &e, note_key, ret);
                        return;
                }
        fail_msg("that kind is not watched");
}

#define LABELLED(labels) "{\"metadata\":{\"name\":\"web-0\",\"labels\":{" labels "}}}"
#define OF_WEB "\"kubernetes-fleet.io/parent-CRP\":\"web\""
#define LATEST(is) "\"kubernetes-fleet.io/is-latest-snapshot\":\"" is "\""
#define ANNOTATED(annotation)                                                                                \
        "{\"metadata\":{\"name\":\"web-0\",\"labels\":{" OF_WEB                                              \
        "," LATEST("true") "},\"annotations\":{" annotation "}}}"

/* spec/scheduler.md checklist 4, 5 */
static void a_latest_snapshot_brings_its_owner(void **state)
{
        static const struct {
                const char *before, *now, *keys;
        } rows[] = {
                { NULL, LABELLED(OF_WEB "," LATEST("true")), "web" },
                { NULL, LABELLED(OF_WEB "," LATEST("false")), "" },
                { NULL, LABELLED(OF_WEB "," LATEST("perhaps")), "" },
                { NULL, LABELLED(OF_WEB), "" },
                { NULL, LABELLED(LATEST("true")), "" },
                { LABELLED(OF_WEB "," LATEST("false")), NULL, "" },
                { LABELLED(OF_WEB "," LATEST("false")), LABELLED(OF_WEB "," LATEST("true")), "web" },
                { LABELLED(OF_WEB), LABELLED(OF_WEB "," LATEST("true")), "web" },
                { ANNOTATED("\"kubernetes-fleet.io/number-of-clusters\":\"1\""),
                  ANNOTATED("\"kubernetes-fleet.io/number-of-clusters\":\"2\""), "web" },
                { ANNOTATED(""), ANNOTATED("\"kubernetes-fleet.io/number-of-clusters\":\"2\""), "web" },
                { ANNOTATED("\"kubernetes-fleet.io/CRP-generation\":\"1\""),
                  ANNOTATED("\"kubernetes-fleet.io/CRP-generation\":\"2\""), "web" },
                { NULL,
                  "{\"metadata\":{\"name\":\"web-0\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\","
                  "\"labels\":{" OF_WEB "," LATEST("true") "}}}",
                  "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct emitted e;

                emitted_by(&cluster_scheduling_policy_snapshot_kind, rows[i].before, rows[i].now, &e);
                if (!text_equal(e.keys, rows[i].keys))
                        fail_msg("row %zu: \"%s\"", i, e.keys);
        }
}

static unsigned reasons_to_watch(const struct kind *kind, watch_map map)
{
        unsigned on = 0;

        for (size_t i = 0; i < scheduler_controller.n_watches; i++)
                if (scheduler_controller.watches[i].kind == kind &&
                    scheduler_controller.watches[i].map == map)
                        on |= scheduler_controller.watches[i].on;
        return on;
}

/* spec/scheduler.md checklist 4, 5, 6: common/ctrl/controller_watch_test.c has what each of these lets pass.
 */
static void metadata_of_snapshots_and_the_end_of_placements_are_watched(void **state)
{
        assert_int_equal(scheduler_controller.watches[0].on, ON_SPEC | ON_META | ON_DELETION);
        assert_ptr_equal(scheduler_controller.watches[0].kind, &cluster_scheduling_policy_snapshot_kind);
        assert_int_equal(reasons_to_watch(&cluster_resource_placement_kind, NULL), ON_DELETION);
        assert_int_equal(reasons_to_watch(&resource_placement_kind, NULL), ON_DELETION);
}

#define BINDING(meta, labels)                                                                                \
        "{\"metadata\":{" meta                                                                               \
        "\"name\":\"b\",\"finalizers\":[\"kubernetes-fleet.io/scheduler-crb-cleanup\"],"                     \
        "\"labels\":{" labels "}},\"spec\":{\"state\":\"Bound\",\"targetCluster\":\"c\"}}"
#define GOING "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\","

/* spec/scheduler.md checklist 7 */
static void a_binding_that_begins_to_go_brings_its_owner(void **state)
{
        static const struct {
                const struct kind *kind;
                const char *before, *now, *keys;
        } rows[] = {
                { &cluster_resource_binding_kind, BINDING("", OF_WEB), BINDING(GOING, OF_WEB), "web" },
                { &cluster_resource_binding_kind, BINDING("", OF_WEB), BINDING("", OF_WEB), "" },
                { &cluster_resource_binding_kind, BINDING(GOING, OF_WEB), BINDING(GOING, OF_WEB), "" },
                { &cluster_resource_binding_kind, BINDING("", ""), BINDING(GOING, ""), "" },
                { &resource_binding_kind, BINDING("\"namespace\":\"ns\",", OF_WEB),
                  BINDING("\"namespace\":\"ns\"," GOING, OF_WEB), "ns/web" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct emitted e;

                emitted_by(rows[i].kind, rows[i].before, rows[i].now, &e);
                if (!text_equal(e.keys, rows[i].keys))
                        fail_msg("row %zu: \"%s\"", i, e.keys);
        }
}

/* ---- a fleet at rest, one event, and how many placements are looked at ---- */

static int passes(struct fleet *f)
{
        return passes_of(f, "scheduler");
}

static void rest(struct fleet *f)
{
        settle(f);
        settle(f);
        fiber_sleep(f->rig->loop, 2000);
}

static void place_as(struct rig *r, const char *name, const char *policy)
{
        char body[1024];

        snprintf(
                body, sizeof(body),
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"%s\"},\"spec\":{\"resourceSelectors\":"
                "[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"app\"}]%s}}",
                name, policy);
        assert_int_equal(rig_post(r, FLEET "clusterresourceplacements", body), 201);
}

#define PROD_TERM "\"labelSelector\":{\"matchLabels\":{\"env\":\"prod\"}}"
#define NODES_TERM                                                                                           \
        "\"propertySelector\":{\"matchExpressions\":[{\"name\":\"kubernetes-fleet.io/node-count\","          \
        "\"operator\":\"Ge\",\"values\":[\"1000\"]}]}"
#define REQUIRED(term)                                                                                       \
        "\"affinity\":{\"clusterAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"            \
        "\"clusterSelectorTerms\":[{" term "}]}}}"

/* Two of PickAll, one of which reads properties; a PickN and a PickFixed that have all, and a PickN that has
 * not. Nobody selects member-2. */
#define ALL 5
#define MAY_GAIN 3
static void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        stop(f);
        f->metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, f);
        add_member(f, "member-1", "\"env\":\"prod\"");
        add_member(f, "member-2", "\"env\":\"test\"");
        add_app(r);
        place_as(r, "all", ",\"policy\":{\"placementType\":\"PickAll\"," REQUIRED(PROD_TERM) "}");
        place_as(r, "read", ",\"policy\":{\"placementType\":\"PickAll\"," REQUIRED(NODES_TERM) "}");
        place_as(r, "lack",
                 ",\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":2," REQUIRED(PROD_TERM) "}");
        place_as(r, "have",
                 ",\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":1," REQUIRED(PROD_TERM) "}");
        place_as(r, "fixed", ",\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"member-1\"]}");
        rest(f);
        rest(f);
}

static void end(struct fleet *f)
{
        stop(f);
        metrics_free(f->metrics);
}

static void expect_passes(struct fleet *f, int before, int wanted, const char *what)
{
        rest(f);
        if (passes(f) - before != wanted)
                fail_msg("%s: %d placements were looked at, not %d", what, passes(f) - before, wanted);
}

static void merged(struct fleet *f, const char *path, const char *patch, int wanted)
{
        int before = passes(f);

        if (rig_merge(f->rig, path, patch) != 200)
                fail_msg("%s: %s", path, f->rig->text);
        expect_passes(f, before, wanted, patch);
}

#define MEMBER_2 CLUSTERS "memberclusters/member-2"
#define REPORT_2 CLUSTERS "namespaces/fleet-member-member-2/internalmemberclusters/member-2/status"
#define TAINTS(list) "{\"spec\":{\"taints\":" list "}}"
#define TAINT(value) "[{\"key\":\"k\",\"value\":\"" value "\",\"effect\":\"NoSchedule\"}]"

#define SNAPSHOT(name) FLEET "clusterschedulingpolicysnapshots/" name
#define IS_LATEST(is) "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":\"" is "\"}}}"

/* spec/scheduler.md checklist 5: only where it leaves the one that counts. */
RIG_TEST(a_snapshot_that_is_latest_no_more_brings_nobody, {
        struct line line;
        struct fleet f;

        begin(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        rest(&f);
        assert_int_equal(rig_merge(r, FLEET "clusterresourceplacements/all",
                                   "{\"spec\":{\"policy\":{\"tolerations\":[{\"operator\":\"Exists\"}]}}}"),
                         200);
        rest(&f);
        line.fate = 503;
        line.path = "s/all"; /* nobody puts them right, nor says what they do to the placement */
        merged(&f, SNAPSHOT("all-0"), IS_LATEST("true"), 1);
        merged(&f, SNAPSHOT("all-0"), IS_LATEST("false"), 1);
        line.path = "s/have";
        merged(&f, SNAPSHOT("have-0"), IS_LATEST("false"), 0);
        end(&f);
        http_transport_free(f.world.transport);
})

/* spec/scheduler.md checklist 8, 11 */
RIG_TEST(taints_and_labels_bring_who_may_gain, {
        struct fleet f;

        begin(r, &f);
        merged(&f, MEMBER_2, TAINTS(TAINT("a")), 0);
        merged(&f, MEMBER_2, TAINTS(TAINT("b")), MAY_GAIN);
        merged(&f, MEMBER_2, TAINTS("null"), MAY_GAIN);
        merged(&f, MEMBER_2, "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}", MAY_GAIN);
        merged(&f, MEMBER_2, "{\"metadata\":{\"annotations\":{\"x\":\"y\"}}}", 0);
        end(&f);
})

#define NODES(value, second)                                                                                 \
        "{\"status\":{\"properties\":{\"kubernetes-fleet.io/node-count\":{\"value\":\"" value                \
        "\",\"observationTime\":\"2026-01-01T00:00:0" second "Z\"}}}}"

/* spec/scheduler.md checklist 9: it brings those that read properties. */
RIG_TEST(a_property_counts_by_its_value, {
        struct fleet f;

        begin(r, &f);
        merged(&f, REPORT_2, NODES("3", "0"), 1);
        merged(&f, REPORT_2, NODES("3", "1"), 0);
        merged(&f, REPORT_2, NODES("4", "1"), 1);
        end(&f);
})

static void report_health(struct fleet *f, const char *healthy, int wanted)
{
        char patch[1024], now[RFC3339_SIZE];

        stamp_now(f, now);
        snprintf(patch, sizeof(patch),
                 "{\"status\":{\"agentStatus\":[{\"type\":\"MemberAgent\",\"lastReceivedHeartbeat\":\"%s\","
                 "\"conditions\":[{\"type\":\"Joined\",\"status\":\"True\",\"reason\":\"X\",\"message\":\"\","
                 "\"lastTransitionTime\":\"%s\",\"observedGeneration\":1},{\"type\":\"Healthy\",\"status\":"
                 "\"%s\",\"reason\":\"X\",\"message\":\"\",\"lastTransitionTime\":\"2025-12-31T00:00:00Z\","
                 "\"observedGeneration\":1}]}]}}",
                 now, now, healthy);
        merged(f, REPORT_2, patch, wanted);
}

/* spec/scheduler.md checklist 10 */
RIG_TEST(who_becomes_eligible_brings_who_may_gain_and_who_is_gone_everyone, {
        struct fleet f;
        int before;

        begin(r, &f);
        report_health(&f, "True", 0);
        report_health(&f, "False", 0);
        report_health(&f, "False", 0);
        report_health(&f, "True", MAY_GAIN);
        before = passes(&f);
        assert_int_equal(rig_delete(r, MEMBER_2), 200);
        expect_passes(&f, before, 0, "it begins to leave");
        merged(&f, MEMBER_2, "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}", 0);
        assert_int_equal(rig_get(r, MEMBER_2), 200);
        report_member(&f, "member-2", "False");
        expect_passes(&f, before, ALL, "it is gone");
        assert_int_equal(rig_get(r, MEMBER_2), 404);
        end(&f);
})

/* spec/scheduler.md checklist 11: nobody knows yet whether it has all that its new spec asks for. */
RIG_TEST(a_condition_of_an_earlier_generation_does_not_count, {
        struct line line;
        struct fleet f;

        begin(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        rest(&f);
        line.path = "clusterresourceplacements/have/status";
        line.fate = 503;
        assert_int_equal(rig_merge(r, FLEET "clusterresourceplacements/have",
                                   "{\"spec\":{\"revisionHistoryLimit\":7}}"),
                         200);
        rest(&f);
        merged(&f, MEMBER_2, "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}", MAY_GAIN + 1);
        line.path = NULL;
        fiber_sleep(r->loop, 120000);
        rest(&f);
        merged(&f, MEMBER_2, "{\"metadata\":{\"labels\":{\"x\":\"z\"}}}", MAY_GAIN);
        end(&f);
        http_transport_free(f.world.transport);
})

static bool holds(struct rig *r, const char *finalizer)
{
        json_t *f;
        size_t i;

        json_array_foreach(doc_get_array(r->answer, "metadata.finalizers"), i, f)
                if (text_equal(json_string_value(f), finalizer))
                        return true;
        return false;
}

/* spec/scheduler.md checklist 6 */
RIG_TEST(of_a_placement_itself_only_its_end_brings_it, {
        struct fleet f;
        int before;

        begin(r, &f);
        merged(&f, FLEET "clusterresourceplacements/have", "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}", 0);
        merged(&f, FLEET "clusterresourceplacements/have",
               "{\"metadata\":{\"finalizers\":[\"kubernetes-fleet.io/crp-cleanup\","
               "\"kubernetes-fleet.io/scheduler-cleanup\",\"example.com/mine\"]}}",
               0);
        before = passes(&f);
        place_as(r, "refused",
                 ",\"policy\":{\"placementType\":\"PickAll\"},\"resourceSelectors\":[{\"group\":\"\","
                 "\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"kube-system\"}]");
        expect_passes(&f, before, 0, "one without a snapshot is created");
        merged(&f, FLEET "clusterresourceplacements/refused",
               "{\"metadata\":{\"finalizers\":[\"example.com/mine\"]}}", 0);
        assert_int_equal(rig_delete(r, FLEET "clusterresourceplacements/refused"), 200);
        rest(&f);
        assert_int_equal(rig_get(r, FLEET "clusterresourceplacements/refused"), 200);
        before = (int)doc_get_int(r->answer, "metadata.generation", 0);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(rig_get(r, FLEET "clusterresourceplacements/refused"), 200);
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0),
                         before); /* nobody has a part in it */
        before = passes(&f);
        assert_int_equal(rig_delete(r, FLEET "clusterresourceplacements/have"), 200);
        rest(&f);
        assert_true(passes(&f) > before);
        assert_int_equal(rig_get(r, FLEET "clusterresourceplacements/have"), 200);
        assert_false(holds(r, "kubernetes-fleet.io/scheduler-cleanup"));
        assert_true(holds(r, "example.com/mine"));
        end(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_latest_snapshot_brings_its_owner),
                cmocka_unit_test(metadata_of_snapshots_and_the_end_of_placements_are_watched),
                cmocka_unit_test(a_binding_that_begins_to_go_brings_its_owner),
                cmocka_unit_test(a_snapshot_that_is_latest_no_more_brings_nobody),
                cmocka_unit_test(taints_and_labels_bring_who_may_gain),
                cmocka_unit_test(a_property_counts_by_its_value),
                cmocka_unit_test(who_becomes_eligible_brings_who_may_gain_and_who_is_gone_everyone),
                cmocka_unit_test(a_condition_of_an_earlier_generation_does_not_count),
                cmocka_unit_test(of_a_placement_itself_only_its_end_brings_it),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
