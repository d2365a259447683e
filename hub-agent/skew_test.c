/* A hub agent of this version with members, and with definitions, of the minor version before, which have
 * none of the fields that came since: e2e/devcluster/former.h. */
#include "e2e/devcluster/former.h"
#include "hub-agent/hub_agent_test.h"

#define WEB FLEET "clusterresourceplacements/web"

struct former_fleet {
        struct fleet f;
        struct loopback_faults faults;
        size_t writes;
        struct buf said;
};

static int count_writes(void *ctx, const struct http_request *rq)
{
        struct former_fleet *s = ctx;

        if (text_equal(rq->method, "GET"))
                return 0;
        s->writes++;
        buf_printf(&s->said, "%s %s %.*s\n", rq->method, rq->path, (int)MIN(rq->body.len, (size_t)300),
                   rq->body.data ? rq->body.data : "");
        return 0;
}

static void begin_former(struct rig *r, struct former_fleet *s)
{
        size_t former = 0;

        *s = (struct former_fleet){ .writes = 0 };
        start(r, &s->f);
        stop(&s->f);
        for (size_t i = 0; hub_agent_crd(i); i++)
                former += make_former(r, hub_agent_crd(i));
        assert_true(former >= 5); /* members, their reports, placements of both scopes, Works */
        rig_settle(r);
        buf_init(&s->said, 4 << 20);
        s->faults = (struct loopback_faults){ .ctx = s, .fate = count_writes };
        s->f.world.transport = loopback_transport(r->net, &s->f.world, &s->faults);
        start_again(r, &s->f);
}

static void end_former(struct former_fleet *s)
{
        stop(&s->f);
        http_transport_free(s->f.world.transport);
        buf_free(&s->said);
}

static void expect_web(struct rig *r)
{
        assert_int_equal(rig_get(r, WEB), 200);
        if (!text_equal(condition_of(r, "ClusterResourcePlacementApplied"), "True") ||
            !text_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True"))
                fail_msg("%s", r->text);
}

/* What the server leaves out of a write would be written again and again by who wants it there. */
static void expect_silence(struct former_fleet *s)
{
        fiber_sleep(s->f.rig->loop, 5000);
        buf_truncate(&s->said, 0);
        s->writes = 0;
        fiber_sleep(s->f.rig->loop, 30000);
        if (s->writes > 0)
                fail_msg("%zu writes in half a minute: %s", s->writes, s->said.data);
}

static const char with_later_fields[] =
        ",\"strategy\":{\"type\":\"RollingUpdate\",\"deleteStrategy\":{\"propagationPolicy\":\"Abandon\"},"
        "\"reportBackStrategy\":{\"type\":\"Mirror\",\"destination\":\"OriginalResource\"}}";

/* spec/membership-webhooks-charts.md checklist 52 */
RIG_TEST(members_of_the_version_before_are_placed_on, {
        struct former_fleet s;

        begin_former(r, &s);
        add_member(&s.f, "member-1", "");
        add_member(&s.f, "member-2", "");
        add_app(r);
        place(r, with_later_fields);
        settle(&s.f);
        assert_int_equal(count(r, FLEET "works"), 2);
        expect_web(r);
        assert_null(doc_get(r->answer, "spec.strategy.reportBackStrategy")); /* nobody has it here */
        rig_get(r, CLUSTERS "memberclusters/member-1");
        assert_string_equal(condition_of(r, "Joined"), "True");
        expect_silence(&s);
        assert_int_equal(
                rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}"), 200);
        for (int i = 0; i < 4; i++) { /* one member after the other */
                fiber_sleep(r->loop, 60000);
                settle(&s.f);
        }
        expect_web(r);
        assert_int_equal(rig_delete(r, WEB), 200);
        rig_settle(r);
        rig_get(r, FLEET "works"); /* they wait for the members' finalizers */
        assert_non_null(doc_get_string(json_array_get(doc_get_array(r->answer, "items"), 0),
                                       "metadata.deletionTimestamp"));
        end_former(&s);
})

/* spec/membership-webhooks-charts.md checklist 52: definitions come with the chart, while members are still
 * of the version before. */
RIG_TEST(what_was_placed_before_an_upgrade_of_the_definitions_stays_as_it_is, {
        struct former_fleet s;
        const char *uid;

        begin_former(r, &s);
        add_member(&s.f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(&s.f);
        expect_web(r);
        rig_get(r, FLEET "works");
        uid = arena_strdup(&r->arena, doc_get_string(json_array_get(doc_get_array(r->answer, "items"), 0),
                                                     "metadata.uid"));
        for (size_t i = 0; hub_agent_crd(i); i++)
                make_present(r, hub_agent_crd(i));
        stop(&s.f);
        start_again(r, &s.f);
        fiber_sleep(r->loop, 60000);
        expect_web(r);
        rig_get(r, FLEET "works");
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "items"), 0), "metadata.uid"), uid);
        report_member(&s.f, "member-1", "True");
        expect_silence(&s);
        assert_int_equal(rig_merge(r, WEB,
                                   "{\"spec\":{\"strategy\":{\"reportBackStrategy\":{\"type\":\"Mirror\","
                                   "\"destination\":\"OriginalResource\"}}}}"),
                         200);
        settle(&s.f);
        expect_web(r);
        assert_non_null(doc_get(r->answer, "spec.strategy.reportBackStrategy"));
        end_former(&s);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(members_of_the_version_before_are_placed_on),
                cmocka_unit_test(what_was_placed_before_an_upgrade_of_the_definitions_stays_as_it_is),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
