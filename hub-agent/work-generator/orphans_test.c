/* Works whose binding is not in the cache go only when the server has no such binding either.
 * spec/rollout-and-work.md 6.10. */
#include "hub-agent/common.h"
#include "hub-agent/hub_agent_test.h"

#define BINDINGS FLEET "clusterresourcebindings"
#define WORKS FLEET "namespaces/fleet-member-member-1/works"

static const char bound[] =
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
        "v1beta1\",\"kind\":\"ClusterResourceBinding\",\"metadata\":{\"name\":\"b\",\"labels\":{"
        "\"" LABEL_PARENT_PLACEMENT "\":\"ghost\"}},\"spec\":{"
        "\"state\":\"Bound\",\"targetCluster\":\"member-1\",\"resourceSnapshotName\":\"ghost-0-snapshot\","
        "\"schedulingPolicySnapshotName\":\"ghost-0\",\"applyStrategy\":{\"type\":\"ClientSideApply\"},"
        "\"clusterDecision\":{\"clusterName\":\"member-1\",\"selected\":true,\"reason\":\"one\"}}}";

struct orphan {
        const char *story, *labels; /* of the Work, behind that of its binding */
        bool bound;                 /* on the server, and not in the cache */
        int fate;                   /* of whoever asks for it; 0 = it is answered */
        bool goes;
};

static void orphan_body(struct rig *r)
{
        const struct orphan *o = r->ctx;
        struct line line;
        struct fleet f;
        char body[512];

        start(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        add_member(&f, "member-1", "");
        line.lagging = "clusterresourcebindings";
        line.path = o->fate ? "clusterresourcebindings/b" : NULL;
        line.fate = o->fate;
        if (o->bound)
                assert_int_equal(rig_post(r, BINDINGS, bound), 201);
        snprintf(
                body, sizeof(body),
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                "v1beta1\",\"kind\":\"Work\",\"metadata\":{\"name\":\"w\",\"labels\":{\"" LABEL_PARENT_BINDING
                "\":\"b\"%s}},\"spec\":{}}",
                o->labels);
        assert_int_equal(rig_post(r, WORKS, body), 201);
        fiber_sleep(r->loop, LAG_MS / 2);
        if ((rig_get(r, WORKS "/w") == 404) != o->goes)
                fail_msg("%s: %d", o->story, r->status);
        stop(&f);
        http_transport_free(f.world.transport);
}

static void a_work_goes_only_when_the_server_has_no_binding_of_it(void **state)
{
#define OF_GHOST ",\"" LABEL_PARENT_PLACEMENT "\":\"ghost\""
        static const struct orphan rows[] = {
                { "nobody has it", OF_GHOST, .goes = true },
                { "its binding is not in the cache yet", OF_GHOST, .bound = true },
                { "nobody says whether there is one", OF_GHOST, .fate = 503 },
                { "it is of no placement", "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                rig_run_for(orphan_body, (void *)(uintptr_t)&rows[i]);
}

/* The Work was made, nobody said so, and the cache does not have it. */
RIG_TEST(a_binding_waits_for_a_work_that_nobody_told_of, {
        struct line line;
        struct fleet f;
        const char *path;

        start(r, &f);
        line_lay(&f, &line);
        line.lagging = "v1beta1/works";
        line.path = "namespaces/fleet-member-member-1/works";
        line.fate = ERR_CLOSED;
        start_again(r, &f);
        f.members_stopped = true;
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, "");
        fiber_sleep(r->loop, 4000);
        assert_int_equal(rig_get(r, WORKS "/web-work"), 200);
        rig_get(r, BINDINGS);
        path = arena_printf(
                &r->arena, BINDINGS "/%s",
                doc_get_string(json_array_get(json_object_get(r->answer, "items"), 0), "metadata.name"));
        line.path = NULL;
        assert_int_equal(rig_delete(r, path), 200);
        fiber_sleep(r->loop, 4000);
        assert_int_equal(rig_get(r, WORKS "/web-work"), 200);
        assert_non_null(doc_get_string(r->answer, "metadata.deletionTimestamp"));
        assert_int_equal(rig_get(r, path), 200);
        rig_merge(r, WORKS "/web-work", "{\"metadata\":{\"finalizers\":null}}"); /* as the member */
        fiber_sleep(r->loop, 4000);
        assert_int_equal(rig_get(r, path), 404);
        stop(&f);
        http_transport_free(f.world.transport);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_binding_waits_for_a_work_that_nobody_told_of),
                cmocka_unit_test(a_work_goes_only_when_the_server_has_no_binding_of_it),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
