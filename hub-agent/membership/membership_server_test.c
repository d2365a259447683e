/* Joining and leaving as the hub sees them: what is said once, what is mended, what is emptied. */
#include "common/base/limits.h"
#include "hub-agent/common.h"
#include "hub-agent/hub_agent_test.h"

#define NS "/api/v1/namespaces/fleet-member-member-1"
#define MEMBER CLUSTERS "memberclusters/member-1"
#define REPORT CLUSTERS "namespaces/fleet-member-member-1/internalmemberclusters/member-1"
#define ROLE "/apis/rbac.authorization.k8s.io/v1/namespaces/fleet-member-member-1/roles/fleet-role-member-1"
#define WORKS FLEET "namespaces/fleet-member-member-1/works"

/* How often it was said of a member; an event that is repeated counts as often. */
static int said(struct rig *r, const char *reason, const char *words)
{
        const json_t *e;
        size_t i;
        int n = 0;

        rig_get(r, "/api/v1/namespaces/default/events");
        json_array_foreach(doc_get_array(r->answer, "items"), i, e)
                if (text_equal(doc_get_string(e, "reason"), reason) &&
                    strstr(or_empty(doc_get_string(e, "message")), words))
                        n += (int)doc_get_int(e, "count", 1);
        return n;
}

static void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        add_member(f, "member-1", "");
}

/* ---- what is said ---- */

static void report_much(struct rig *r, int n_conditions)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        buf_append_str(&b, "{\"status\":{\"agentStatus\":[{\"type\":\"MemberAgent\",\"conditions\":[");
        for (int i = 0; i < n_conditions; i++)
                buf_printf(&b,
                           "%s{\"type\":\"C%d\",\"status\":\"True\",\"reason\":\"X\",\"message\":\"\","
                           "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}",
                           i ? "," : "", i);
        buf_append_str(&b, "]}]}}");
        assert_int_equal(rig_merge(r, REPORT "/status", b.data), 200);
        rig_settle(r);
}

static void of_much(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        report_much(r, LIMIT_MEMBER_CONDITIONS);
        assert_int_equal(said(r, "MemberReportCut", "more than is taken over"), 0);
        report_much(r, LIMIT_MEMBER_CONDITIONS + 1);
        assert_int_equal(said(r, "MemberReportCut", "more than is taken over"), 1);
        report_much(r, LIMIT_MEMBER_CONDITIONS + 2);
        assert_int_equal(said(r, "MemberReportCut", "more than is taken over"), 1);
        assert_int_equal(rig_delete(r, ROLE), 200); /* what is made anew is no news of the report */
        rig_settle(r);
        assert_int_equal(rig_get(r, ROLE), 200);
        assert_int_equal(said(r, "MemberReportCut", "more than is taken over"), 1);
        report_much(r, 1);
        report_much(r, LIMIT_MEMBER_CONDITIONS + 1);
        assert_int_equal(said(r, "MemberReportCut", "more than is taken over"), 2);
        stop(&f);
}
static void that_a_report_is_cut_is_told_once_until_it_is_whole_again(void **state)
{
        rig_run(of_much);
}

/* ---- the namespace ---- */

static void is_patched(struct rig *r)
{
        static const struct {
                const char *patch;
        } rows[] = {
                { "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-fleet-resource\":null}}}" },
                { "{\"metadata\":{\"ownerReferences\":null}}" },
        };
        struct fleet f;

        begin(r, &f);
        assert_int_equal(said(r, "NamespacePatched", "fleet-member-member-1"), 0);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                assert_int_equal(rig_merge(r, NS, rows[i].patch), 200);
                rig_settle(r);
                rig_get(r, NS);
                assert_string_equal(
                        json_string_value(json_object_get(doc_get_object(r->answer, "metadata.labels"),
                                                          "kubernetes-fleet.io/is-fleet-resource")),
                        "true");
                assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")), 1);
                assert_int_equal(said(r, "NamespacePatched", "fleet-member-member-1"), i + 1);
        }
        stop(&f);
}
static void a_members_namespace_keeps_its_label_and_its_owner(void **state)
{
        rig_run(is_patched);
}

/* What cannot be done is not said to be done. */
static void is_not_patched(struct rig *r)
{
        struct line line;
        struct fleet f;

        begin(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        line.path = NS;
        line.fate = 503;
        assert_int_equal(rig_merge(r, NS, "{\"metadata\":{\"ownerReferences\":null}}"), 200);
        fiber_sleep(r->loop, 3000);
        assert_int_equal(said(r, "NamespacePatched", "fleet-member-member-1"), 0);
        line.path = NULL;
        fiber_sleep(r->loop, 60000);
        assert_int_equal(said(r, "NamespacePatched", "fleet-member-member-1"), 1);
        stop(&f);
        http_transport_free(f.world.transport);
}
static void a_patch_that_fails_is_not_told_as_done(void **state)
{
        rig_run(is_not_patched);
}

/* ---- refusals ---- */

static const char *ready_to_join(struct rig *r, const char *path)
{
        rig_get(r, path);
        return condition_of(r, "ReadyToJoin");
}

/* Its namespace's name would be longer than a name of one may be. */
static void has_long_name(struct rig *r)
{
#define LONG "a23456789-123456789-123456789-123456789-123456789-1"
        static const char path[] = CLUSTERS "memberclusters/" LONG;
        struct fleet f;

        start(r, &f);
        assert_int_equal(rig_post(r, CLUSTERS "memberclusters",
                                  "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":"
                                  "\"MemberCluster\",\"metadata\":{\"name\":\"" LONG "\"},\"spec\":{"
                                  "\"identity\":{\"kind\":\"User\",\"name\":\"x\",\"apiGroup\":"
                                  "\"rbac.authorization.k8s.io\"}}}"),
                         201);
        rig_settle(r);
        assert_string_equal(ready_to_join(r, path), "False");
        fiber_sleep(r->loop, 600000);
        assert_string_equal(ready_to_join(r, path), "False");
        assert_int_equal(said(r, "MemberClusterNotReadyToJoin", ""), 1);
        stop(&f);
}
static void what_no_retry_mends_is_said_on_the_member_once(void **state)
{
        rig_run(has_long_name);
}

static void has_no_answer(struct rig *r)
{
        struct line line;
        struct fleet f;

        start(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        line.path = "/api/v1/namespaces";
        line.fate = 503;
        assert_int_equal(rig_post(r, CLUSTERS "memberclusters",
                                  "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":"
                                  "\"MemberCluster\",\"metadata\":{\"name\":\"member-1\"},\"spec\":{"
                                  "\"identity\":{\"kind\":\"User\",\"name\":\"x\",\"apiGroup\":"
                                  "\"rbac.authorization.k8s.io\"}}}"),
                         201);
        fiber_sleep(r->loop, 5000);
        assert_string_equal(ready_to_join(r, MEMBER), "absent");
        line.path = NULL;
        fiber_sleep(r->loop, 60000);
        assert_string_equal(ready_to_join(r, MEMBER), "True");
        stop(&f);
        http_transport_free(f.world.transport);
}
static void what_a_retry_mends_is_no_refusal(void **state)
{
        rig_run(has_no_answer);
}

/* ---- leaving ---- */

static void post_named_work(struct rig *r, const char *ns, const char *name, const char *finalizers)
{
        char path[256], body[512];

        snprintf(path, sizeof(path), FLEET "namespaces/%s/works", ns);
        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"Work\",\"metadata\":{"
                 "\"name\":\"%s\",\"finalizers\":[%s]},\"spec\":{}}",
                 name, finalizers);
        assert_int_equal(rig_post(r, path, body), 201);
        rig_settle(r);
}

static void post_work(struct rig *r, const char *ns, const char *finalizers)
{
        post_named_work(r, ns, "stays", finalizers);
}

static size_t finalizers_of(struct rig *r, const char *path)
{
        return rig_get(r, path) == 200 ? json_array_size(doc_get_array(r->answer, "metadata.finalizers"))
                                       : 99;
}

/* Taken away by force: its finalizer is gone, and no agent will take those off its Works. */
static void is_forced(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-2", "");
        post_work(r, "fleet-member-member-1", "\"example.com/stay\"");
        post_work(r, "fleet-member-member-2", "\"example.com/stay\"");
        stop(&f);
        assert_int_equal(rig_merge(r, MEMBER, "{\"metadata\":{\"finalizers\":null}}"), 200);
        assert_int_equal(rig_delete(r, MEMBER), 200);
        assert_int_equal(rig_delete(r, NS), 200);
        rig_settle(r);
        assert_int_equal(finalizers_of(r, WORKS "/stays"), 1);
        start_again(r, &f);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(rig_get(r, NS), 404);
        assert_int_equal(finalizers_of(r, FLEET "namespaces/fleet-member-member-2/works/stays"), 1);
        stop(&f);
}
static void what_a_member_left_behind_goes_with_its_namespace(void **state)
{
        rig_run(is_forced);
}

/* One of its Works goes by itself while they are let go of: the others are not kept by that. */
static void goes_by_itself(struct rig *r)
{
        struct line line;
        struct fleet f;

        begin(r, &f);
        post_named_work(r, "fleet-member-member-1", "goes", "\"example.com/stay\"");
        post_work(r, "fleet-member-member-1", "\"example.com/stay\"");
        line_lay(&f, &line);
        assert_int_equal(rig_merge(r, MEMBER, "{\"metadata\":{\"finalizers\":null}}"), 200);
        assert_int_equal(rig_delete(r, MEMBER), 200);
        assert_int_equal(rig_delete(r, NS), 200);
        rig_settle(r);
        line.path = WORKS "/goes?";
        line.fate = 404;
        start_again(r, &f);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(finalizers_of(r, WORKS "/goes"), 1);
        assert_int_equal(rig_get(r, WORKS "/stays"), 404);
        stop(&f);
        http_transport_free(f.world.transport);
}
static void a_work_that_goes_by_itself_keeps_no_other(void **state)
{
        rig_run(goes_by_itself);
}

/* Whose namespace goes while it stays keeps its agent, which is who lets go of Works. */
static void is_there(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        post_work(r, "fleet-member-member-1", "\"example.com/stay\"");
        assert_int_equal(rig_delete(r, NS), 200);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(finalizers_of(r, WORKS "/stays"), 1);
        assert_int_equal(rig_merge(r, WORKS "/stays", "{\"metadata\":{\"finalizers\":null}}"), 200);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(rig_get(r, NS), 200);
        assert_int_equal(rig_get(r, REPORT), 200);
        stop(&f);
}
static void the_works_of_a_member_that_is_there_are_its_own(void **state)
{
        rig_run(is_there);
}

/* Of an object that lies elsewhere no member's name can be told. */
static void is_elsewhere(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"x\"}}"), 201);
        assert_int_equal(rig_post(r, CLUSTERS "namespaces/x/internalmemberclusters",
                                  "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":"
                                  "\"InternalMemberCluster\",\"metadata\":{\"name\":\"member-1\"},\"spec\":{"
                                  "\"state\":\"Join\"}}"),
                         201);
        rig_settle(r);
        rig_merge(r, "/api/v1/namespaces/x", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
        rig_settle(r);
        assert_int_equal(rig_get(r, MEMBER), 200);
        assert_string_equal(condition_of(r, "Joined"), "True");
        stop(&f);
}
static void reports_outside_of_members_namespaces_concern_nobody(void **state)
{
        rig_run(is_elsewhere);
}

struct seen {
        struct loopback_faults faults;
        size_t reports, others; /* watches of InternalMemberClusters, and those of anything else */
};

static int note_priority(void *ctx, const struct http_request *rq)
{
        struct seen *seen = ctx;
        bool of_reports = strstr(rq->path, "/internalmemberclusters?") != NULL;

        if (!strstr(rq->path, "watch=true"))
                return 0;
        assert_int_equal(rq->priority, of_reports ? HTTP_WATCH_UNHURRIED : HTTP_WATCH);
        *(of_reports ? &seen->reports : &seen->others) += 1;
        return 0;
}

static void beats(struct rig *r)
{
        struct seen seen = { .faults = { .ctx = &seen, .fate = note_priority } };
        struct fleet f;

        begin(r, &f);
        stop(&f);
        f.world.transport = loopback_transport(r->net, &f.world, &seen.faults);
        assert_non_null(f.world.transport);
        start_again(r, &f);
        assert_int_equal(seen.reports, 1);
        assert_true(seen.others > 0);
        stop(&f);
        http_transport_free(f.world.transport);
}
static void heartbeats_alone_are_watched_without_hurry(void **state)
{
        rig_run(beats);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(that_a_report_is_cut_is_told_once_until_it_is_whole_again),
                cmocka_unit_test(a_members_namespace_keeps_its_label_and_its_owner),
                cmocka_unit_test(a_patch_that_fails_is_not_told_as_done),
                cmocka_unit_test(what_no_retry_mends_is_said_on_the_member_once),
                cmocka_unit_test(what_a_retry_mends_is_no_refusal),
                cmocka_unit_test(what_a_member_left_behind_goes_with_its_namespace),
                cmocka_unit_test(a_work_that_goes_by_itself_keeps_no_other),
                cmocka_unit_test(the_works_of_a_member_that_is_there_are_its_own),
                cmocka_unit_test(reports_outside_of_members_namespaces_concern_nobody),
                cmocka_unit_test(heartbeats_alone_are_watched_without_hurry),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
