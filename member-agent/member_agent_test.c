/* A whole member agent between two logical clusters: what it does with Works, and what it costs. */
#include "member-agent/member_agent_test.h"

/* ---- membership ---- */

static const char *agent_condition(struct rig *r, const char *type, const char *field)
{
        size_t i;
        json_t *c;
        const json_t *own = json_array_get(doc_get_array(r->answer, "status.agentStatus"), 0);

        json_array_foreach(doc_get_array(own, "conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return doc_get_string(c, field);
        return "";
}

static void joins_body(struct rig *r)
{
        struct agent a;
        const char *first;

        prepare_clusters(r);
        post(r, MEMBER, "/api/v1/nodes", "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'}}");
        merge(r, MEMBER, "/api/v1/nodes/n1/status",
              "{'status':{'capacity':{'cpu':'4','memory':'8Gi'},'allocatable':{'cpu':'4','memory':'8Gi'}}}");
        invite(r);
        start(&a, r, ":memory:");
        for (int i = 0; i < 500 && !text_equal(agent_condition(r, "Joined", "status"), "True"); i++) {
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
                get(r, HUB, IMCS "/m1");
        }
        assert_string_equal(agent_condition(r, "Joined", "reason"), "InternalMemberClusterJoined");
        assert_string_equal(agent_condition(r, "Healthy", "status"), "True");
        wait_for(r, HUB, IMCS "/m1", "status.resourceUsage.capacity.cpu", "4");
        first = arena_strdup(&r->arena,
                             doc_get_string(json_array_get(doc_get_array(r->answer, "status.agentStatus"), 0),
                                            "lastReceivedHeartbeat"));
        assert_int_equal(fiber_sleep(r->loop, 70000), 0);
        get(r, HUB, IMCS "/m1");
        assert_string_not_equal(
                first, doc_get_string(json_array_get(doc_get_array(r->answer, "status.agentStatus"), 0),
                                      "lastReceivedHeartbeat"));
        stop(&a);
}

static void a_member_joins_and_sends_heartbeats(void **state)
{
        rig_run(joins_body);
}

/* ---- applying ---- */

static void applies_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1") "," DEPLOYMENT);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        merge(r, MEMBER, "/apis/apps/v1/namespaces/default/deployments/site/status",
              "{'status':{'observedGeneration':1,'replicas':1,'availableReplicas':1,'readyReplicas':1,'"
              "updatedReplicas':1}}");
        assert_true(wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable") < 1000);
        assert_string_equal(read_field(r, "type=Applied"), "AllManifestsApplied");
        assert_string_equal(
                json_string_value(json_array_get(doc_get_array(r->answer, "metadata.finalizers"), 0)),
                "kubernetes-fleet.io/work-cleanup");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        assert_string_equal(rig_string(r, "data.k"), "1");
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0),
                               "name"),
                "w");
        wait_for(r, MEMBER, APPLIED_WORKS "/w", "spec.workNamespace", "fleet-member-m1");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.appliedResources")), 2);
        stop(&a);
}

static void a_work_is_applied_and_its_availability_reported(void **state)
{
        rig_run(applies_body);
}

static void cheap_body(struct rig *r)
{
        struct agent a;
        uint64_t before;

        begin(&a, r);
        wait_for(r, HUB, IMCS "/m1", "status.properties.kubernetes-fleet", "");
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        before = requests(r, "hub", "patch", "works") + requests(r, "hub", "patch", "works/status") +
                 requests(r, "hub", "get", "works") + requests(r, "hub", "update", "works");
        place(r, "w", "", CONFIG_MAP("c", "1"));
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(requests(r, "hub", "patch", "works") + requests(r, "hub", "patch", "works/status") +
                                 requests(r, "hub", "get", "works") + requests(r, "hub", "update", "works") -
                                 before,
                         2);
        get(r, HUB, WORKS "/w");
        assert_string_equal(read_field(r, "type=Available"), "AllManifestsAvailable");
        stop(&a);
}

static void a_new_work_costs_two_hub_requests_and_steady_state_none(void **state)
{
        rig_run(cheap_body);
}

static void drift_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 2000), 0);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'changed','mine':'x'}}");
        assert_true(wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1") < 1000);
        assert_string_equal(rig_string(r, "data.mine"), "x");
        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_true(wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1") < 1000);
        stop(&a);
}

/* spec/member-agent.md checklist 34 */
static void changed_and_deleted_objects_are_restored_at_once(void **state)
{
        rig_run(drift_body);
}

static void leftover_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        replace_manifests(r, "w", CONFIG_MAP("d", "2"));
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("d"), "data.k", "2");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        stop(&a);
}

static void an_object_that_leaves_the_work_is_removed(void **state)
{
        rig_run(leftover_body);
}

static void deletion_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 404);
        stop(&a);
}

static void a_deleted_work_takes_its_objects_along(void **state)
{
        rig_run(deletion_body);
}

static void if_not_drifted_body(struct rig *r)
{
        struct agent a;
        const json_t *entry;

        begin(&a, r);
        place(r, "w", "'applyStrategy':{'whenToApply':'IfNotDrifted'},", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'changed'}}");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        entry = json_array_get(doc_get_array(r->answer, "status.manifestConditions"), 0);
        entry = json_array_get(doc_get_array(entry, "driftDetails.observedDrifts"), 0);
        assert_string_equal(doc_get_string(entry, "path"), "/data/k");
        assert_string_equal(doc_get_string(entry, "valueInHub"), "1");
        assert_string_equal(doc_get_string(entry, "valueInMember"), "changed");
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "changed");
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        stop(&a);
}

/* spec/member-agent.md checklist 33 */
static void if_not_drifted_reports_and_leaves_alone_until_the_manifest_changes(void **state)
{
        rig_run(if_not_drifted_body);
}

static void takeover_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, "/api/v1/namespaces/default/configmaps", CONFIG_MAP("c", "theirs"));
        place(r, "never", "'applyStrategy':{'whenToTakeOver':'Never'},", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/never", "type=Applied", "SomeManifestsAreNotApplied");
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "theirs");
        place(r, "same", "'applyStrategy':{'whenToTakeOver':'IfNoDiff'},", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/same", "type=Applied", "SomeManifestsAreNotApplied");
        assert_non_null(doc_get(json_array_get(doc_get_array(r->answer, "status.manifestConditions"), 0),
                                "diffDetails"));
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_null(doc_get(r->answer, "metadata.ownerReferences"));
        place(r, "always", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/always", "type=Applied", "AllManifestsApplied");
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "1");
        stop(&a);
}

static void existing_objects_are_taken_over_as_the_strategy_says(void **state)
{
        rig_run(takeover_body);
}

static void report_diff_body(struct rig *r)
{
        struct agent a;
        const json_t *details;

        begin(&a, r);
        place(r, "w", "'applyStrategy':{'type':'ReportDiff','whenToTakeOver':'Never'},",
              CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=DiffReported", "AllManifestsDiffReported");
        details = doc_get(json_array_get(doc_get_array(r->answer, "status.manifestConditions"), 0),
                          "diffDetails");
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(details, "observedDiffs"), 0), "path"), "/");
        assert_null(doc_get(details, "observedInMemberClusterGeneration"));
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'type':'ClientSideApply'}}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        assert_string_equal(read_field(r, "type=DiffReported"), "");
        stop(&a);
}

static void report_diff_writes_nothing_and_may_be_switched_to_applying(void **state)
{
        rig_run(report_diff_body);
}

static void server_side_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "'applyStrategy':{'type':'ServerSideApply'},", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        stop(&a);
}

static void server_side_apply_follows_the_manifest(void **state)
{
        rig_run(server_side_body);
}

#define DEFINITION                                                                                           \
        "{'apiVersion':'apiextensions.k8s.io/"                                                               \
        "v1','kind':'CustomResourceDefinition','metadata':{'name':'widgets.example.com'},"                   \
        "'spec':{'group':'example.com','scope':'Namespaced','names':{'plural':'widgets','singular':'widget'" \
        ",'kind':'Widget',"                                                                                  \
        "'listKind':'WidgetList'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{'"         \
        "openAPIV3Schema':{'type':"                                                                          \
        "'object','x-kubernetes-preserve-unknown-fields':true}}}]}}"

static void definition_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "",
              "{'apiVersion':'example.com/"
              "v1','kind':'Widget','metadata':{'name':'x','namespace':'default'},'spec':{}}," DEFINITION
              ",{'apiVersion':'none.example.com/v1','kind':'Nothing','metadata':{'name':'y'}}");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_int_equal(get(r, MEMBER, "/apis/example.com/v1/namespaces/default/widgets/x"), 200);
        get(r, HUB, WORKS "/w");
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "status.manifestConditions"), 2),
                               "identifier.kind"),
                "Nothing");
        assert_null(doc_get(json_array_get(doc_get_array(r->answer, "status.manifestConditions"), 2),
                            "identifier.resource"));
        stop(&a);
}

/* spec/member-agent.md checklist 12 */
static void a_custom_resource_may_come_with_its_definition(void **state)
{
        rig_run(definition_body);
}

/* ---- leaving ---- */

static void leaves_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        merge(r, HUB, IMCS "/m1", "{'spec':{'state':'Leave'}}");
        for (int i = 0; i < 500 && !text_equal(agent_condition(r, "Joined", "status"), "False"); i++) {
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
                get(r, HUB, IMCS "/m1");
        }
        assert_string_equal(agent_condition(r, "Joined", "reason"), "InternalMemberClusterLeft");
        get(r, HUB, WORKS "/w");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        stop(&a);
}

/* spec/member-agent.md checklist 53 */
static void leaving_releases_works_and_keeps_objects(void **state)
{
        rig_run(leaves_body);
}

static void not_joined_body(struct rig *r)
{
        struct agent a;

        prepare_clusters(r);
        start(&a, r, ":memory:");
        place(r, "w", "", CONFIG_MAP("c", "1"));
        assert_int_equal(fiber_sleep(r->loop, 30000), 0);
        get(r, HUB, WORKS "/w");
        assert_null(doc_get(r->answer, "metadata.finalizers"));
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        invite(r);
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
}

/* spec/member-agent.md checklist 8 */
static void nothing_is_touched_before_joining(void **state)
{
        rig_run(not_joined_body);
}

/* ---- without the hub ---- */

struct cut {
        bool active;
};

static int lose_hub(void *ctx, const struct http_request *rq)
{
        return ((struct cut *)ctx)->active && text_equal(rq->endpoint->base_url, HUB) ? ERR_RETRY : 0;
}

static void offline_body(struct rig *r)
{
        char directory[] = "/tmp/member-agent-test-XXXXXX";
        struct cut cut = { true };
        struct loopback_faults faults = { .ctx = &cut, .fate = lose_hub };
        struct world disk;
        struct agent a;
        char path[128];

        assert_non_null(mkdtemp(directory));
        world_init_real(&disk, r->loop, NULL);
        r->world.files = disk.files;
        r->world.ctx = disk.ctx;
        snprintf(path, sizeof(path), "%s/state.db", directory);
        prepare_clusters(r);
        invite(r);
        start(&a, r, path);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);

        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        start(&a, r, path);
        meet(&a, &faults);
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'changed'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");

        place(r, "x", "", CONFIG_MAP("d", "1"));
        cut.active = false;
        wait_for(r, HUB, WORKS "/x", "type=Available", "AllManifestsAvailable");
        stop(&a);

        /* Taken out of the fleet meanwhile: no event tells of that. */
        delete (r, HUB, IMCS "/m1");
        start(&a, r, path);
        assert_int_equal(fiber_sleep(r->loop, 30000), 0);
        place(r, "y", "", CONFIG_MAP("e", "1"));
        assert_int_equal(fiber_sleep(r->loop, 30000), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("e")), 404);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("d")), 200);
        invite(r);
        wait_for(r, HUB, WORKS "/y", "type=Available", "AllManifestsAvailable");
        stop(&a);
        for (size_t i = 0; i < 4; i++) {
                static const char *const suffixes[] = { "", "-wal", "-shm", ".key" };

                snprintf(path, sizeof(path), "%s/state.db%s", directory, suffixes[i]);
                remove(path);
        }
        remove(directory);
}

static void a_restarted_agent_keeps_the_desired_state_without_the_hub(void **state)
{
        rig_run(offline_body);
}

/* ---- losses ---- */

static void lost_state_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
        replace_manifests(r, "w", CONFIG_MAP("d", "1"));
        post(r, MEMBER, "/api/v1/namespaces/default/configmaps", CONFIG_MAP("mine", "1"));
        start(&a, r, ":memory:"); /* nothing is remembered: the AppliedWork tells what was applied */
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("d"), "data.k", "1");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("mine")), 200);
        stop(&a);
}

/* What drifted is not applied, so that no AppliedWork lists it. */
static void lost_drift_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "'applyStrategy':{'whenToApply':'IfNotDrifted'},",
              CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'theirs'}}");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        stop(&a);
        replace_manifests(r, "w", CONFIG_MAP("d", "1"));
        start(&a, r, ":memory:");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        stop(&a);
}

static void what_had_drifted_goes_though_the_state_file_was_lost(void **state)
{
        rig_run(lost_drift_body);
}

/* spec/member-agent.md checklist 60 */
static void a_lost_state_file_leaks_no_object_and_deletes_none_wrongly(void **state)
{
        rig_run(lost_state_body);
}

static void leftover_owner_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        post(r, MEMBER, "/api/v1/namespaces/default/configmaps", CONFIG_MAP("c", "by hand"));
        replace_manifests(r, "w", CONFIG_MAP("d", "2"));
        start(&a, r, ":memory:");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("d"), "data.k", "2");
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "by hand");
        stop(&a);
}

/* spec/member-agent.md checklist 17 */
static void an_object_made_again_by_hand_is_no_leftover(void **state)
{
        rig_run(leftover_owner_body);
}

static void cut_watches_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 2000), 0);
        devcluster_cut_watches(r->devcluster, NULL, true);
        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        stop(&a);
}

static void cut_watches_are_opened_again_and_nothing_is_missed(void **state)
{
        rig_run(cut_watches_body);
}

static void duplicates_body(struct rig *r)
{
        struct agent a;
        const json_t *second;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("c", "2"));
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        second = json_array_get(doc_get_array(r->answer, "status.manifestConditions"), 1);
        assert_string_equal(doc_get_string(json_array_get(doc_get_array(second, "conditions"), 0), "reason"),
                            "Duplicated");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        place(r, "empty", "", "");
        wait_for(r, HUB, WORKS "/empty", "type=Available", "AllManifestsAvailable");
        stop(&a);
}

/* spec/member-agent.md checklist 14, 46 */
static void a_duplicate_is_told_and_an_empty_work_is_available(void **state)
{
        rig_run(duplicates_body);
}

/* Applying is one thing; that it is told without delay another. */
static void latency_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        assert_int_equal(fiber_sleep(r->loop, 2000), 0);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        assert_true(wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable") <= 20);
        stop(&a);
}

static void nothing_waits_for_a_timer_on_the_way_to_available(void **state)
{
        rig_run(latency_body);
}

/* The watch brings the manifests, and what becomes available at once is told with the first report. */
static void changed_body(struct rig *r)
{
        struct agent a;
        uint64_t reads, reports, owners;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 2000), 0);
        reads = requests(r, "hub", "get", "works");
        reports = requests(r, "hub", "patch", "works/status");
        owners = requests(r, "m1", "get", "appliedworks");
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        assert_int_equal(fiber_sleep(r->loop, 2000), 0);
        assert_int_equal(requests(r, "hub", "get", "works") - reads, 0);
        assert_int_equal(requests(r, "hub", "patch", "works/status") - reports, 1);
        assert_int_equal(requests(r, "m1", "get", "appliedworks") - owners, 0);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "2");
        stop(&a);
}

static void a_changed_work_is_not_read_again(void **state)
{
        rig_run(changed_body);
}

static void not_yet_available_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        assert_int_equal(devcluster_set_readiness(r->devcluster, "m1", "Deployment", NULL, NULL, false), 0);
        assert_int_equal(fiber_sleep(r->loop, 2000), 0);
        place(r, "w", "", DEPLOYMENT);
        assert_in_range(wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied"), 0, 100);
        assert_string_equal(read_field(r, "type=Available"), "SomeManifestsAreNotAvailable");
        stop(&a);
}

static void applied_is_told_soon_when_a_workload_is_not_available(void **state)
{
        rig_run(not_yet_available_body);
}

/* Lost requests, lost answers, server errors and cut streams, one in four, for ten minutes; then all must be
 * well. */
struct storm {
        struct loop *loop;
        bool over;
};

static int storm_fate(void *ctx, const struct http_request *rq)
{
        static const int fates[] = { ERR_RETRY, ERR_CLOSED, 500, 429, 409 };
        struct storm *s = ctx;
        uint64_t die = loop_random_u64(s->loop);

        return s->over || die % 4 != 0 ? 0 : fates[(die / 4) % ARRAY_LEN(fates)];
}

static bool storm_cut(void *ctx, const struct http_request *rq)
{
        struct storm *s = ctx;

        return !s->over && loop_random_u64(s->loop) % 8 == 0;
}

static void assert_only(struct rig *r, const char *path, size_t n)
{
        get(r, MEMBER, path);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "items")), n);
}

static void storm_body(struct rig *r)
{
        struct storm storm = { .loop = r->loop };
        struct loopback_faults faults = { .ctx = &storm, .fate = storm_fate, .cut_stream = storm_cut };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        for (int i = 0; i < 20; i++) {
                const char *name = arena_printf(&r->arena, "w%d", i);
                const char *manifest =
                        arena_printf(&r->arena,
                                     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c%d',"
                                     "'namespace':'default','labels':{'mine':'yes'}},'data':{'k':'1'}}",
                                     i);

                place(r, name, "", manifest);
                assert_int_equal(fiber_sleep(r->loop, 10000), 0);
                if (i % 3 == 0)
                        delete (r, HUB, arena_printf(&r->arena, WORKS "/%s", name));
                if (i % 3 == 1)
                        replace_manifests(r, name, CONFIG_MAP("kept", "1"));
        }
        assert_int_equal(fiber_sleep(r->loop, 400000), 0);
        storm.over = true;
        for (int i = 0; i < 20; i++) {
                const char *path = arena_printf(&r->arena, WORKS "/w%d", i);

                if (i % 3 == 0)
                        wait_until_gone(r, HUB, path);
                if (i % 3 == 2)
                        wait_for(r, HUB, path, "type=Available", "AllManifestsAvailable");
        }
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_only(r, "/api/v1/namespaces/default/configmaps?labelSelector=mine=yes", 6);
        assert_only(r, APPLIED_WORKS, 13);
        stop(&a);
}

static void a_storm_of_faults_leaves_everything_as_wished(void **state)
{
        rig_run(storm_body);
}

/* The API allows a Work that asks for nothing. */
static void empty_work_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "whole", "", CONFIG_MAP("x", "1"));
        post(r, HUB, WORKS,
             "{'apiVersion':'placement.kubernetes-fleet.io/"
             "v1beta1','kind':'Work','metadata':{'name':'bare'}}");
        wait_for(r, HUB, WORKS "/whole", "type=Available", "AllManifestsAvailable");
        merge(r, HUB, WORKS "/whole", "{'spec':{'workload':{'manifests':[" CONFIG_MAP("y", "1") "]}}}");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("x"));
        delete (r, HUB, WORKS "/bare");
        wait_until_gone(r, HUB, WORKS "/bare");
        stop(&a);
}

static void a_work_without_a_spec_is_one_of_no_objects(void **state)
{
        rig_run(empty_work_body);
}

/* spec/member-agent.md 3.3: what is available is what the pods on the nodes leave. */
static void usage_body(struct rig *r)
{
        static const char pods[] = NS "/default/pods";
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, "/api/v1/nodes",
             "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'},'status':{'capacity':{'cpu':'8'},"
             "'allocatable':{'cpu':'6'}}}");
        for (int i = 1; i <= 2; i++)
                post(r, MEMBER, pods,
                     arena_printf(&r->arena,
                                  "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p%d'},'spec':{"
                                  "'nodeName':'n1','containers':[{'name':'c','image':'i','resources':{"
                                  "'requests':{'cpu':'%d'}}}]}}",
                                  i, i));
        assert_int_equal(fiber_sleep(r->loop, 130000), 0);
        get(r, HUB, IMCS "/m1");
        assert_string_equal(rig_string(r, "status.resourceUsage.capacity.cpu"), "8");
        assert_string_equal(rig_string(r, "status.resourceUsage.allocatable.cpu"), "6");
        assert_string_equal(rig_string(r, "status.resourceUsage.available.cpu"), "3");
        on(r, MEMBER);
        rig_delete(r, NS "/default/pods/p2?gracePeriodSeconds=0");
        assert_int_equal(fiber_sleep(r->loop, 130000), 0);
        get(r, HUB, IMCS "/m1");
        assert_string_equal(rig_string(r, "status.resourceUsage.available.cpu"), "5");
        delete (r, MEMBER, "/api/v1/nodes/n1");
        assert_int_equal(fiber_sleep(r->loop, 130000), 0);
        get(r, HUB, IMCS "/m1");
        assert_string_not_equal(rig_string(r, "status.resourceUsage.capacity.cpu"), "8");
        stop(&a);
}

static void heartbeats_tell_what_pods_leave_of_the_nodes(void **state)
{
        rig_run(usage_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_member_joins_and_sends_heartbeats),
                cmocka_unit_test(a_work_is_applied_and_its_availability_reported),
                cmocka_unit_test(a_new_work_costs_two_hub_requests_and_steady_state_none),
                cmocka_unit_test(changed_and_deleted_objects_are_restored_at_once),
                cmocka_unit_test(an_object_that_leaves_the_work_is_removed),
                cmocka_unit_test(a_deleted_work_takes_its_objects_along),
                cmocka_unit_test(if_not_drifted_reports_and_leaves_alone_until_the_manifest_changes),
                cmocka_unit_test(existing_objects_are_taken_over_as_the_strategy_says),
                cmocka_unit_test(report_diff_writes_nothing_and_may_be_switched_to_applying),
                cmocka_unit_test(server_side_apply_follows_the_manifest),
                cmocka_unit_test(a_custom_resource_may_come_with_its_definition),
                cmocka_unit_test(leaving_releases_works_and_keeps_objects),
                cmocka_unit_test(nothing_is_touched_before_joining),
                cmocka_unit_test(a_restarted_agent_keeps_the_desired_state_without_the_hub),
                cmocka_unit_test(a_lost_state_file_leaks_no_object_and_deletes_none_wrongly),
                cmocka_unit_test(what_had_drifted_goes_though_the_state_file_was_lost),
                cmocka_unit_test(an_object_made_again_by_hand_is_no_leftover),
                cmocka_unit_test(cut_watches_are_opened_again_and_nothing_is_missed),
                cmocka_unit_test(a_duplicate_is_told_and_an_empty_work_is_available),
                cmocka_unit_test(nothing_waits_for_a_timer_on_the_way_to_available),
                cmocka_unit_test(a_changed_work_is_not_read_again),
                cmocka_unit_test(applied_is_told_soon_when_a_workload_is_not_available),
                cmocka_unit_test(a_storm_of_faults_leaves_everything_as_wished),
                cmocka_unit_test(a_work_without_a_spec_is_one_of_no_objects),
                cmocka_unit_test(heartbeats_tell_what_pods_leave_of_the_nodes),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
