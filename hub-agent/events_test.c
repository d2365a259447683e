/* What the hub agent tells in Events: whom of, in which words, and as who. Warnings of placements:
 * hub-agent/placement/warnings_test.c. */
#include "hub-agent/hub_agent_test.h"

#define MEMBER CLUSTERS "memberclusters/member-1"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/namespaces/fleet-member-member-1/"
#define WEB FLEET "clusterresourceplacements/web"
#define OF_MEMBERS "MemberCluster", "mcv1beta1"
#define OF_PLACEMENTS "ClusterResourcePlacement", "placement-controller"

static bool is(const json_t *event, const char *path, const char *wanted)
{
        return text_equal(doc_get_string(event, path), wanted);
}

/* Of cluster-scoped objects events are in "default". */
static void expect(struct rig *r, const char *kind, const char *source, const char *type, const char *reason,
                   const char *message)
{
        json_t *event;
        size_t i;

        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/default/events"), 200);
        json_array_foreach(doc_get_array(r->answer, "items"), i, event)
                if (is(event, "reason", reason) && is(event, "involvedObject.kind", kind) &&
                    is(event, "type", type) && is(event, "message", message) &&
                    is(event, "source.component", source) && is(event, "reportingComponent", source))
                        return;
        fail_msg("there is no %s %s \"%s\" about a %s by %s in %s", type, reason, message, kind, source,
                 r->text);
}

static size_t events_of(struct rig *r, const char *reason)
{
        json_t *event;
        size_t i, n = 0;

        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/default/events"), 200);
        json_array_foreach(doc_get_array(r->answer, "items"), i, event)
                n += is(event, "reason", reason);
        return n;
}

/* spec/membership-webhooks-charts.md 2.3, 2.4 */
RIG_TEST(a_member_that_joins_is_told_of_step_by_step, {
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        expect(r, OF_MEMBERS, "Normal", "NamespaceCreated", "fleet-member-member-1");
        expect(r, OF_MEMBERS, "Normal", "RoleCreated", "fleet-role-member-1");
        expect(r, OF_MEMBERS, "Normal", "RoleBindingCreated", "fleet-rolebinding-member-1");
        expect(r, OF_MEMBERS, "Normal", "InternalMemberClusterCreated", "member-1");
        expect(r, OF_MEMBERS, "Normal", "MemberClusterReadyToJoin",
               "Member cluster is ready to join the fleet");
        expect(r, OF_MEMBERS, "Normal", "MemberClusterJoined", "member cluster joined");
        stop(&f);
})

RIG_TEST(what_is_put_right_for_a_member_is_told, {
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        merge_and_settle(r, MEMBER, "{\"spec\":{\"heartbeatPeriodSeconds\":30}}");
        expect(r, OF_MEMBERS, "Normal", "InternalMemberClusterSpecUpdated", "member-1");
        merge_and_settle(r, "/api/v1/namespaces/fleet-member-member-1", "{\"metadata\":{\"labels\":null}}");
        expect(r, OF_MEMBERS, "Normal", "NamespacePatched", "fleet-member-member-1");
        merge_and_settle(r, RBAC "roles/fleet-role-member-1", "{\"rules\":[]}");
        expect(r, OF_MEMBERS, "Normal", "RoleUpdated", "fleet-role-member-1");
        merge_and_settle(r, RBAC "rolebindings/fleet-rolebinding-member-1", "{\"subjects\":[]}");
        expect(r, OF_MEMBERS, "Normal", "RoleBindingUpdated", "fleet-rolebinding-member-1");
        stop(&f);
})

RIG_TEST(a_member_that_leaves_is_told_of_once, {
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        report_member(&f, "member-1", "Unknown");
        expect(r, OF_MEMBERS, "Warning", "MemberClusterJoinStateUnknown",
               "member cluster join state unknown");
        report_member(&f, "member-1", "True");
        rig_settle(r);
        assert_int_equal(events_of(r, "MemberClusterReadyToJoin"), 1); /* it was so all the time */
        assert_int_equal(rig_delete(r, MEMBER), 200);
        rig_settle(r);
        report_member(&f, "member-1", "False");
        expect(r, OF_MEMBERS, "Normal", "MemberClusterLeft", "member cluster left");
        stop(&f);
})

/* spec/placement.md 13: what becomes true at once is told by its last event. */
RIG_TEST(a_placement_that_rolls_out_and_goes_is_told_of, {
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, "");
        rig_settle(r);
        fiber_sleep(r->loop, 2000);
        expect(r, OF_PLACEMENTS, "Normal", "PlacementWorkSynchronized",
               "Work(s) have been created or updated successfully for the selected cluster(s)");
        report_works(&f, "True", "False");
        fiber_sleep(r->loop, 2000);
        expect(r, OF_PLACEMENTS, "Normal", "PlacementApplied",
               "Resources have been applied to the selected cluster(s)");
        settle(&f);
        fiber_sleep(r->loop, 2000);
        expect(r, OF_PLACEMENTS, "Normal", "PlacementRolloutCompleted",
               "Placement has finished the rollout process and reached the desired status");
        assert_int_equal(rig_delete(r, WEB), 200);
        expect(r, OF_PLACEMENTS, "Normal", "PlacementCleanupFinalizerRemoved",
               "Deleted the snapshots and removed the placement cleanup finalizer");
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_member_that_joins_is_told_of_step_by_step),
                cmocka_unit_test(what_is_put_right_for_a_member_is_told),
                cmocka_unit_test(a_member_that_leaves_is_told_of_once),
                cmocka_unit_test(a_placement_that_rolls_out_and_goes_is_told_of),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
