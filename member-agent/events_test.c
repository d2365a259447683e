/* What an operator learns without reading statuses: events and the log, once per change. */
#include "member-agent/member_agent_test.h"

#define DRIFTING "'applyStrategy':{'whenToApply':'IfNotDrifted'},"
#define HUB_EVENTS NS "/fleet-member-m1/events"
#define MEMBER_EVENTS NS "/default/events"

struct ear {
        struct rig *rig;
        struct log_sink sink;
        struct buf said;
};

static void hear(void *ctx, const char *line, size_t n)
{
        (void)buf_append(&((struct ear *)ctx)->said, line, n);
}

static int64_t wall(void *ctx)
{
        return loop_wall_ms(((struct ear *)ctx)->rig->loop);
}

/* As begin(), with an ear at the agent's log. */
static void begin_heard(struct agent *a, struct rig *r, struct ear *e)
{
        *e = (struct ear){ .rig = r };
        buf_init(&e->said, 1 << 20);
        e->sink = (struct log_sink){ hear, wall, e, LOG_TEXT, LOG_INFO };
        begin(a, r);
        a->log.sink = &e->sink;
}

static int said(const struct ear *e, const char *words)
{
        int n = 0;

        for (const char *at = e->said.data; at && (at = strstr(at, words)); at++)
                n++;
        return n;
}

/* Number of events with this reason about this kind; with `words`, of those that say them. */
static int events(struct rig *r, const char *cluster, const char *path, const char *kind, const char *reason,
                  const char *words)
{
        size_t i;
        json_t *event;
        int n = 0;

        get(r, cluster, path);
        json_array_foreach(doc_get_array(r->answer, "items"), i, event)
                n += text_equal(doc_get_string(event, "reason"), reason) &&
                     text_equal(doc_get_string(event, "involvedObject.kind"), kind) &&
                     strstr(doc_get_string(event, "message"), words) != NULL;
        return n;
}

static int64_t counted(struct rig *r, const char *reason)
{
        size_t i;
        json_t *event;
        int64_t n = 0;

        get(r, HUB, HUB_EVENTS);
        json_array_foreach(doc_get_array(r->answer, "items"), i, event)
                if (text_equal(doc_get_string(event, "reason"), reason))
                        n += doc_get_int(event, "count", 1);
        return n;
}

static void drift_body(struct rig *r)
{
        struct agent a;
        struct ear ear;

        begin_heard(&a, r, &ear);
        place(r, "w", DRIFTING, CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'changed'}}");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_int_equal(fiber_sleep(r->loop, 1800000), 0);
        assert_int_equal(events(r, HUB, HUB_EVENTS, "Work", "FoundDrifts", "ConfigMap default/c: "), 1);
        assert_int_equal(events(r, HUB, HUB_EVENTS, "Work", "FoundDrifts", "it drifted at /data/k"), 1);
        assert_int_equal(counted(r, "FoundDrifts"), 1);
        assert_int_equal(events(r, MEMBER, MEMBER_EVENTS, "AppliedWork", "FoundDrifts", "/data/k"), 1);
        assert_int_equal(said(&ear, "a manifest is in trouble"), 1);
        assert_int_equal(said(&ear, "rule=FoundDrifts"), 1);
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(said(&ear, "a manifest is out of trouble"), 1);
        assert_int_equal(said(&ear, "WARN"), 1);
        stop(&a);
        buf_free(&ear.said);
}

static void half_an_hour_of_drift_is_told_once_and_so_is_its_end(void **state)
{
        rig_run(drift_body);
}

static void refusal_body(struct rig *r)
{
        struct agent a;
        struct ear ear;

        begin_heard(&a, r, &ear);
        place(r, "w", "",
              "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'nowhere'}},"
              "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'x','namespace':'missing'}}");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(events(r, HUB, HUB_EVENTS, "Work", "DecodingErred", "ConfigMap nowhere: "), 1);
        assert_int_equal(
                events(r, MEMBER, MEMBER_EVENTS, "AppliedWork", "ManifestApplyFailed", "missing/x: "), 1);
        assert_int_equal(said(&ear, "WARN"), 2);
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'missing'}}");
        assert_int_equal(fiber_sleep(r->loop, 1000000), 0);
        assert_int_equal(events(r, HUB, HUB_EVENTS, "Work", "ManifestApplyFailed", "again"), 1);
        assert_int_equal(said(&ear, "WARN"), 2);
        stop(&a);
        buf_free(&ear.said);
}

static void refusals_and_failures_are_told_on_both_clusters(void **state)
{
        rig_run(refusal_body);
}

#define ADMISSION "/apis/admissionregistration.k8s.io/v1"

static void refuse_deletions(struct rig *r)
{
        post(r, MEMBER, ADMISSION "/validatingadmissionpolicies",
             "{'apiVersion':'admissionregistration.k8s.io/v1','kind':'ValidatingAdmissionPolicy','metadata':{"
             "'name':'keep'},'spec':{'matchConstraints':{'resourceRules':[{'apiGroups':[''],'apiVersions':['"
             "v1'],"
             "'operations':['DELETE'],'resources':['configmaps']}]},'validations':[{'expression':'false',"
             "'message':'it stays'}]}}");
        post(r, MEMBER, ADMISSION "/validatingadmissionpolicybindings",
             "{'apiVersion':'admissionregistration.k8s.io/v1','kind':'ValidatingAdmissionPolicyBinding',"
             "'metadata':{'name':'keep'},'spec':{'policyName':'keep','validationActions':['Deny']}}");
}

static void unremoved_body(struct rig *r)
{
        struct agent a;
        struct ear ear;

        begin_heard(&a, r, &ear);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        refuse_deletions(r);
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        replace_manifests(r, "w", CONFIG_MAP("d", "1"));
        assert_int_equal(fiber_sleep(r->loop, 300000), 0);
        assert_int_equal(events(r, HUB, HUB_EVENTS, "Work", "RemovalFailed", "ConfigMap default/c: "), 1);
        assert_int_equal(events(r, HUB, HUB_EVENTS, "Work", "RemovalFailed", "it stays"), 1);
        assert_int_equal(events(r, MEMBER, MEMBER_EVENTS, "AppliedWork", "RemovalFailed", "default/c"), 1);
        assert_int_equal(counted(r, "RemovalFailed"), 1);
        assert_int_equal(said(&ear, "WARN"), 1);
        delete (r, MEMBER, ADMISSION "/validatingadmissionpolicybindings/keep");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(said(&ear, "all that left the Work is removed"), 1);
        stop(&a);
        buf_free(&ear.said);
}

static void what_cannot_be_removed_is_told_once_and_so_is_its_end(void **state)
{
        rig_run(unremoved_body);
}

static void held_body(struct rig *r)
{
        struct agent a;
        struct ear ear;

        begin_heard(&a, r, &ear);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'metadata':{'finalizers':['example.com/hold']}}");
        delete (r, HUB, WORKS "/w");
        assert_int_equal(fiber_sleep(r->loop, 240000), 0);
        assert_int_equal(counted(r, "RemovalFailed"), 0);
        assert_int_equal(fiber_sleep(r->loop, 600000), 0);
        assert_int_equal(events(r, HUB, HUB_EVENTS, "Work", "RemovalFailed",
                                "ConfigMap default/c (finalizer example.com/hold)"),
                         1);
        assert_int_equal(events(r, HUB, HUB_EVENTS, "Work", "RemovalFailed", "default/d"), 0);
        assert_int_equal(events(r, MEMBER, MEMBER_EVENTS, "AppliedWork", "RemovalFailed", "default/c"), 1);
        assert_int_equal(counted(r, "RemovalFailed"), 1);
        assert_int_equal(said(&ear, "WARN"), 1);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'metadata':{'finalizers':null}}");
        wait_until_gone(r, HUB, WORKS "/w");
        stop(&a);
        buf_free(&ear.said);
}

static void what_holds_up_the_end_of_a_work_is_told_once(void **state)
{
        rig_run(held_body);
}

static void secret_body(struct rig *r)
{
        struct agent a;
        struct ear ear;

        begin_heard(&a, r, &ear);
        place(r, "w", DRIFTING,
              "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'default'},'data':{'k':"
              "'b3Vycw=='}}");
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        merge(r, MEMBER, NS "/default/secrets/s", "{'data':{'k':'dGhlaXJz'}}");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_int_equal(fiber_sleep(r->loop, 10000), 0);
        assert_int_equal(events(r, HUB, HUB_EVENTS, "Work", "FoundDrifts", "it drifted at /data/k"), 1);
        assert_null(strstr(r->text, "b3Vycw"));
        assert_null(strstr(r->text, "dGhlaXJz"));
        assert_int_equal(said(&ear, "b3Vycw") + said(&ear, "dGhlaXJz"), 0);
        stop(&a);
        buf_free(&ear.said);
}

static void of_secrets_only_paths_are_told(void **state)
{
        rig_run(secret_body);
}

static void many_body(struct rig *r)
{
        struct agent a;
        struct ear ear;
        AUTO_BUF struct buf manifests;

        buf_init(&manifests, 1 << 16);
        for (int i = 0; i < 60; i++)
                buf_printf(&manifests, "%s{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'n%c%c'}}",
                           i ? "," : "", 'a' + i / 26, 'a' + i % 26);
        begin_heard(&a, r, &ear);
        place(r, "w", "", manifests.data);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_int_equal(fiber_sleep(r->loop, 10000), 0);
        assert_int_equal(counted(r, "DecodingErred"), 20);
        assert_int_equal(events(r, HUB, HUB_EVENTS, "Work", "MoreManifestsChanged",
                                "40 more manifests are in trouble"),
                         1);
        stop(&a);
        buf_free(&ear.said);
}

static void a_great_many_are_told_as_a_number(void **state)
{
        rig_run(many_body);
}

/* ---- no answers ---- */

struct deaf {
        bool now;
};

static int lose_requests_for_objects(void *ctx, const struct http_request *rq)
{
        return ((struct deaf *)ctx)->now && strstr(rq->path, "/configmaps") ? ERR_RETRY : 0;
}

static void unanswered_body(struct rig *r)
{
        struct deaf deaf = { 0 };
        const struct loopback_faults faults = { .ctx = &deaf, .fate = lose_requests_for_objects };
        struct http_transport *direct;
        struct agent a;
        struct ear ear;

        begin_heard(&a, r, &ear);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        direct = a.world.transport;
        a.world.transport = loopback_transport(r->net, &a.world, &faults);
        deaf.now = true;
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        fiber_sleep(r->loop, 5000); /* a cut, soon over: nobody is alarmed */
        deaf.now = false;
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        fiber_sleep(r->loop, 20000);
        assert_int_equal(said(&ear, "a manifest is"), 0);
        deaf.now = true; /* one kind is without answers for long: that is told, once */
        replace_manifests(r, "w", CONFIG_MAP("c", "3"));
        fiber_sleep(r->loop, 120000);
        assert_int_equal(said(&ear, "a manifest is in trouble"), 1);
        deaf.now = false;
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "3");
        fiber_sleep(r->loop, 5000);
        assert_int_equal(said(&ear, "a manifest is out of trouble"), 1);
        http_transport_free(a.world.transport);
        a.world.transport = direct;
        stop(&a);
        buf_free(&ear.said);
}

static void a_request_without_an_answer_is_no_verdict_on_an_object(void **state)
{
        rig_run(unanswered_body);
}

static int warnings(struct rig *r)
{
        size_t i;
        json_t *event;
        int n = 0;

        get(r, HUB, HUB_EVENTS);
        json_array_foreach(doc_get_array(r->answer, "items"), i, event)
                n += text_equal(doc_get_string(event, "type"), "Warning");
        return n;
}

static int fail_probes(void *ctx, const struct http_request *rq)
{
        return *(const bool *)ctx && strstr(rq->path, "/readyz") ? 500 : 0;
}

/* spec/member-agent.md 3.2: about the InternalMemberCluster, by the controller that is named there. */
static void expect_membership(struct rig *r, const char *type, const char *reason, const char *message)
{
        size_t i;
        json_t *event;

        get(r, HUB, HUB_EVENTS);
        json_array_foreach(doc_get_array(r->answer, "items"), i, event)
                if (text_equal(doc_get_string(event, "reason"), reason) &&
                    text_equal(doc_get_string(event, "type"), type) &&
                    text_equal(doc_get_string(event, "message"), message) &&
                    text_equal(doc_get_string(event, "involvedObject.kind"), "InternalMemberCluster") &&
                    text_equal(doc_get_string(event, "source.component"),
                               "v1beta1InternalMemberClusterController"))
                        return;
        fail_msg("there is no %s %s in %s", type, reason, r->text);
}

static void health_body(struct rig *r)
{
        bool sick = false;
        const struct loopback_faults faults = { .ctx = &sick, .fate = fail_probes };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        fiber_sleep(r->loop, 150000);
        assert_int_equal(counted(r, "InternalMemberClusterJoined"), 1);
        assert_int_equal(counted(r, "InternalMemberClusterHealthy"), 1);
        assert_int_equal(warnings(r), 0);
        expect_membership(r, "Normal", "InternalMemberClusterJoined", "internal member cluster joined");
        expect_membership(r, "Normal", "InternalMemberClusterHealthy", "internal member cluster healthy");
        sick = true;
        fiber_sleep(r->loop, 150000);
        assert_int_equal(counted(r, "InternalMemberClusterUnhealthy"), 1);
        assert_int_equal(warnings(r), 1);
        expect_membership(r, "Warning", "InternalMemberClusterUnhealthy",
                          "internal member cluster unhealthy");
        sick = false;
        fiber_sleep(r->loop, 150000);
        assert_int_equal(counted(r, "InternalMemberClusterHealthy"), 2);
        merge(r, HUB, IMCS "/m1", "{'spec':{'state':'Leave'}}");
        fiber_sleep(r->loop, 150000);
        assert_int_equal(counted(r, "InternalMemberClusterLeft"), 1);
        expect_membership(r, "Normal", "InternalMemberClusterLeft", "internal member cluster left");
        assert_int_equal(counted(r, "InternalMemberClusterHealthy"), 2);
        assert_int_equal(counted(r, "InternalMemberClusterUnhealthy"), 1);
        assert_int_equal(warnings(r), 1);
        stop(&a);
}

static void each_change_of_membership_and_health_is_told_once(void **state)
{
        rig_run(health_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(half_an_hour_of_drift_is_told_once_and_so_is_its_end),
                cmocka_unit_test(refusals_and_failures_are_told_on_both_clusters),
                cmocka_unit_test(what_cannot_be_removed_is_told_once_and_so_is_its_end),
                cmocka_unit_test(what_holds_up_the_end_of_a_work_is_told_once),
                cmocka_unit_test(of_secrets_only_paths_are_told),
                cmocka_unit_test(a_great_many_are_told_as_a_number),
                cmocka_unit_test(a_request_without_an_answer_is_no_verdict_on_an_object),
                cmocka_unit_test(each_change_of_membership_and_health_is_told_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
