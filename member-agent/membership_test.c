/* How an agent begins, how its cluster leaves, and what comes back of what was placed. */
#include "member-agent/member_agent_test.h"

/* ---- beginning ---- */

static int refuse_to_begin(void *ctx, struct error *err)
{
        fiber_sleep(((struct rig *)ctx)->loop, 1000); /* it asks this cluster, which takes its time */
        return error_set(err, ERR_INVALID, "a definition cannot be brought up to date");
}

static void cannot_begin_body(struct rig *r)
{
        struct agent a;

        prepare_clusters(r);
        invite(r);
        start(&a, r, ":memory:");
        a.options.begin = refuse_to_begin;
        a.options.begin_ctx = r;
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(a.result, ERR_INVALID);
        assert_int_equal(requests(r, "hub", "list", "works") + requests(r, "hub", "watch", "works"), 0);
        fiber_group_end(a.group);
        http_transport_free(a.world.transport);
}

/* member_agent_options.begin */
static void a_member_that_cannot_be_prepared_ends_the_agent_before_it_follows_the_hub(void **state)
{
        rig_run(cannot_begin_body);
}

/* ---- leaving ---- */

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

static int refuse_patches_of_works(void *ctx, const struct http_request *rq)
{
        return *(const bool *)ctx && text_equal(rq->method, "PATCH") && strstr(rq->path, "/works/") ? 500 : 0;
}

static void leaves_late_body(struct rig *r)
{
        bool refuses = false;
        const struct loopback_faults faults = { .ctx = &refuses, .fate = refuse_patches_of_works };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        refuses = true;
        merge(r, HUB, IMCS "/m1", "{'spec':{'state':'Leave'}}");
        assert_int_equal(fiber_sleep(r->loop, 20000), 0);
        get(r, HUB, IMCS "/m1");
        assert_string_equal(agent_condition(r, "Joined", "status"), "Unknown");
        refuses = false;
        assert_int_equal(fiber_sleep(r->loop, 120000), 0);
        get(r, HUB, IMCS "/m1");
        assert_string_equal(agent_condition(r, "Joined", "status"), "False");
        get(r, HUB, WORKS "/w");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 0);
        stop(&a);
}

static void who_leaves_has_not_left_before_each_work_is_released(void **state)
{
        rig_run(leaves_late_body);
}

/* ---- statuses that come back ---- */

static const json_t *reported(struct rig *r, size_t i)
{
        get(r, HUB, WORKS "/w");
        return doc_get_object(json_array_get(doc_get_array(r->answer, "status.manifestConditions"), i),
                              "backReportedStatus.observedStatus");
}

static void mirror_body(struct rig *r)
{
        const json_t *status;
        struct agent a;

        begin(&a, r);
        place(r, "w", "'reportBackStrategy':{'type':'Mirror','destination':'OriginalResource'},",
              DEPLOYMENT "," CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 10000), 0);
        status = reported(r, 0);
        assert_int_equal(json_object_size(status), 3);
        assert_string_equal(doc_get_string(status, "apiVersion"), "apps/v1");
        assert_string_equal(doc_get_string(status, "kind"), "Deployment");
        assert_int_equal(doc_get_int(status, "status.availableReplicas", 0), 1);
        assert_null(reported(r, 1)); /* it has none */
        merge(r, MEMBER, "/apis/apps/v1/namespaces/default/deployments/site/status",
              "{'status':{'collisionCount':7}}");
        assert_int_equal(fiber_sleep(r->loop, 10000), 0);
        assert_int_equal(doc_get_int(reported(r, 0), "status.collisionCount", 0), 7);
        merge(r, HUB, WORKS "/w", "{'spec':{'reportBackStrategy':{'type':'Disabled','destination':null}}}");
        assert_int_equal(fiber_sleep(r->loop, 10000), 0);
        assert_null(reported(r, 0));
        stop(&a);
}

/* spec/member-agent.md 2.13 */
static void a_mirrored_status_follows_the_object_until_mirroring_ends(void **state)
{
        rig_run(mirror_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_member_that_cannot_be_prepared_ends_the_agent_before_it_follows_the_hub),
                cmocka_unit_test(who_leaves_has_not_left_before_each_work_is_released),
                cmocka_unit_test(a_mirrored_status_follows_the_object_until_mirroring_ends),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
