/* What the buttons of a run write, and what they refuse. */
#include "kubectl-fleet/fleet_test.h"
#include "kubectl-fleet/page/board.h"
#include "kubectl-fleet/runs_test.h"

extern const struct page_action approve_page_action, resume_page_action, retry_page_action, stop_page_action;

/* Somebody at the page: the last answer, or the error. */
struct visitor {
        struct user *user;
        struct kube_client hub;
        struct page_user page;
        json_t *done;
        struct error err;
};

static void visit(struct user *u, struct visitor *v)
{
        *v = (struct visitor){ .user = u };
        v->hub = (struct kube_client){ .world = &u->world,
                                       .endpoint = &u->rig->endpoint,
                                       .log = &u->rig->log,
                                       .field_manager = "kubectl-fleet" };
        v->page = (struct page_user){ .name = "eve", .hub = &v->hub, .world = &u->world };
}

static void leave(struct visitor *v)
{
        json_decref(v->done);
}

static int act(struct visitor *v, const struct page_action *action, const char *args)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = NULL;
        char text[512];

        snprintf(text, sizeof(text), "%s", args);
        for (char *c = text; *c; c++)
                if (*c == '\'')
                        *c = '"';
        assert_int_equal(doc_parse(slice_of(text), &doc, NULL), 0);
        json_decref(TAKE_PTR(v->done));
        error_clear(&v->err);
        v->user->requests = 0;
        return action->run(&v->page, doc, &arena, &v->done, &v->err);
}

static const char *text_of(const struct visitor *v)
{
        return or_empty(doc_get_string(v->done, "text"));
}

static bool changed(const struct visitor *v)
{
        return doc_get_bool(v->done, "changed", false);
}

static void put_request(struct user *u, const char *name, const char *status)
{
        store(u, FLEET "clusterapprovalrequests",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterApprovalRequest','metadata':"
              "{'name':'%s'},'spec':{'parentStageRollout':'run','targetStage':'canary'}%s}",
              name, status);
}

#define SHOWN(hash)                                                                                          \
        ",'status':{'planHash':'" hash "','plan':{'clusters':[{'clusterName':'edge','added':1,'changed':0,"  \
        "'removed':0}]}}"

static void put_run(struct user *u, const char *name, const char *spec, const char *status)
{
        store(u, FLEET "clusterstagedupdateruns",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterStagedUpdateRun','metadata':"
              "{'name':'%s'},'spec':{'placementName':'web','stagedRolloutStrategyName':'three',"
              "'resourceSnapshotIndex':'1'%s}%s}",
              name, spec, status);
}

#define VISIT_TEST(name, ...)                                                                                \
        static void visit_##name(struct user *u, struct visitor *v) __VA_ARGS__ USER_TEST(name, {            \
                struct visitor v;                                                                            \
                                                                                                             \
                visit(u, &v);                                                                                \
                visit_##name(u, &v);                                                                         \
                leave(&v);                                                                                   \
        })

/* ---- approve ---- */

VISIT_TEST(an_approval_names_the_plan_that_was_shown, {
        put_request(u, "a", SHOWN("abc"));
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'a','planHash':'abc'}"), 0);
        assert_string_equal(text_of(v), "ClusterApprovalRequest \"a\" is approved.");
        assert_true(changed(v));
        rig_get(u->rig, FLEET "clusterapprovalrequests/a");
        assert_string_equal(rig_string(u->rig, "status.approvedPlanHash"), "abc");
        assert_non_null(strstr(u->rig->text, "\"reason\":\"ClusterApprovalRequestApproved\""));
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "status.plan.clusters")), 1);
})

VISIT_TEST(a_second_click_finds_it_approved_and_writes_nothing, {
        put_request(u, "a", SHOWN("abc"));
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'a','planHash':'abc'}"), 0);
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'a','planHash':'abc'}"), 0);
        assert_string_equal(text_of(v), "ClusterApprovalRequest \"a\" was approved already.");
        assert_false(changed(v));
        assert_int_equal(u->requests, 1);
})

VISIT_TEST(a_plan_that_was_not_shown_is_not_approved, {
        put_request(u, "a", SHOWN("abc"));
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'a','planHash':'old'}"),
                         ERR_INVALID);
        assert_string_equal(v->err.text,
                            "failed to approve ClusterApprovalRequest \"a\": it shows another plan by "
                            "now, with hash abc");
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'a','planHash':''}"),
                         ERR_INVALID);
        assert_string_equal(v->err.text,
                            "failed to approve ClusterApprovalRequest \"a\": it shows a plan by now, "
                            "with hash abc: look at it first");
        assert_int_equal(u->requests, 1);
        put_request(u, "b", "");
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'b','planHash':'abc'}"),
                         ERR_INVALID);
        assert_string_equal(v->err.text,
                            "failed to approve ClusterApprovalRequest \"b\": it shows no plan any more");
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'b','planHash':''}"), 0);
})

/* It changes between the read and the write: what is there then is looked at, not what was there before. */
static int change_the_plan(struct user *u, const struct http_request *rq)
{
        if (!text_equal(rq->method, "PATCH"))
                return 0;
        u->fate = NULL;
        rig_merge(u->rig, FLEET "clusterapprovalrequests/a/status", "{\"status\":{\"planHash\":\"new\"}}");
        return 0;
}

VISIT_TEST(a_plan_that_changes_under_the_click_is_not_approved, {
        put_request(u, "a", SHOWN("abc"));
        u->fate = change_the_plan;
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'a','planHash':'abc'}"),
                         ERR_INVALID);
        assert_string_equal(v->err.text,
                            "failed to approve ClusterApprovalRequest \"a\": it shows another plan by "
                            "now, with hash new");
        rig_get(u->rig, FLEET "clusterapprovalrequests/a");
        assert_string_equal(rig_string(u->rig, "status.approvedPlanHash"), "");
})

static int conflict_on_write(struct user *u, const struct http_request *rq)
{
        return text_equal(rq->method, "PATCH") ? 409 : 0;
}

static int conflict_once(struct user *u, const struct http_request *rq)
{
        return text_equal(rq->method, "PATCH") && u->requests <= 2 ? 409 : 0;
}

VISIT_TEST(who_is_overtaken_tries_again_five_times_in_all, {
        put_request(u, "a", "");
        u->fate = conflict_once;
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'a','planHash':''}"), 0);
        assert_int_equal(u->requests, 4);
        put_request(u, "b", "");
        u->fate = conflict_on_write;
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'b','planHash':''}"),
                         ERR_CONFLICT);
        assert_int_equal(u->requests, 10);
})

static int forbid_writes(struct user *u, const struct http_request *rq)
{
        return text_equal(rq->method, "GET") ? 0 : 403;
}

VISIT_TEST(without_rights_the_server_says_no_and_nothing_else_is_tried, {
        put_request(u, "a", "");
        put_run(u, "r", "", WAITING);
        put_run(u, "over", "", UPDATING(ENDED("False", "UpdateRunFailed")));
        u->fate = forbid_writes;
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'a','planHash':''}"),
                         ERR_FORBIDDEN);
        assert_int_equal(v->err.http_status, 403);
        assert_non_null(strstr(v->err.text, "failed to approve ClusterApprovalRequest \"a\": "));
        assert_int_equal(u->requests, 2);
        assert_int_equal(act(v, &stop_page_action, "{'kind':'csur','name':'r'}"), ERR_FORBIDDEN);
        assert_int_equal(v->err.http_status, 403);
        assert_int_equal(u->requests, 2);
        assert_int_equal(act(v, &retry_page_action, "{'kind':'csur','name':'over'}"), ERR_FORBIDDEN);
        assert_int_equal(u->requests, 2);
        u->fate = NULL;
        rig_get(u->rig, FLEET "clusterapprovalrequests/a");
        assert_null(doc_get(u->rig->answer, "status.conditions"));
})

VISIT_TEST(a_request_in_a_namespace_is_approved_there, {
        assert_int_equal(rig_post(u->rig, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"web\"}}"), 201);
        store(u, FLEET "namespaces/web/approvalrequests",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ApprovalRequest','metadata':{'name':"
              "'a'},'spec':{'parentStageRollout':'run','targetStage':'canary'}}");
        assert_int_equal(act(v, &approve_page_action, "{'kind':'areq','ns':'web','name':'a','planHash':''}"),
                         0);
        assert_string_equal(text_of(v), "ApprovalRequest \"a\" in namespace \"web\" is approved.");
        rig_get(u->rig, FLEET "namespaces/web/approvalrequests/a");
        assert_non_null(strstr(u->rig->text, "\"message\":\"ApprovalRequest has been approved\""));
})

VISIT_TEST(arguments_are_checked_before_anything_is_asked, {
        static const struct {
                const struct page_action *action;
                const char *args;
                const char *text;
        } cases[] = {
                { &approve_page_action, "{}", "kind: is needed" },
                { &approve_page_action, "{'kind':'careq','name':'a'}",
                  "planHash: must be a string: the hash that was shown, empty if none was" },
                { &approve_page_action, "{'kind':'careq','name':'a','planHash':null}",
                  "planHash: must be a string: the hash that was shown, empty if none was" },
                { &approve_page_action, "{'kind':'csur','name':'a','planHash':''}",
                  "kind: must be careq or areq" },
                { &approve_page_action, "{'kind':'careq','ns':'x','name':'a','planHash':''}",
                  "ns: a ClusterApprovalRequest has no namespace" },
                { &approve_page_action, "{'kind':'areq','name':'a','planHash':''}",
                  "ns: must be the namespace of the ApprovalRequest" },
                { &approve_page_action, "{'kind':'areq','ns':'../../x','name':'a','planHash':''}",
                  "ns: must be the namespace of the ApprovalRequest" },
                { &stop_page_action, "{'kind':'careq','name':'a'}", "kind: must be csur or sur" },
                { &stop_page_action, "{'kind':'csur','name':'<b>'}",
                  "name: must be the name of a ClusterStagedUpdateRun" },
                { &resume_page_action, "{'kind':'csur','name':['a']}", "name: must be a string" },
                { &retry_page_action, "{'kind':'csur','name':'a/status'}",
                  "name: must be the name of a ClusterStagedUpdateRun" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                assert_int_equal(act(v, cases[i].action, cases[i].args), ERR_INVALID);
                assert_string_equal(v->err.text, cases[i].text);
                assert_int_equal(u->requests, 0);
        }
})

/* ---- stop, resume, retry ---- */

static const char *state_of(struct user *u, const char *name)
{
        char path[256];

        snprintf(path, sizeof(path), FLEET "clusterstagedupdateruns/%s", name);
        rig_get(u->rig, path);
        return rig_string(u->rig, "spec.state");
}

VISIT_TEST(a_run_is_stopped_and_resumed_once_however_often_it_is_clicked, {
        put_run(u, "r", "", WAITING);
        assert_int_equal(act(v, &stop_page_action, "{'kind':'csur','name':'r'}"), 0);
        assert_string_equal(text_of(v), "ClusterStagedUpdateRun \"r\" stops.");
        assert_string_equal(state_of(u, "r"), "Stop");
        assert_int_equal(act(v, &stop_page_action, "{'kind':'csur','name':'r'}"), 0);
        assert_string_equal(text_of(v), "ClusterStagedUpdateRun \"r\" is stopped already.");
        assert_false(changed(v));
        assert_int_equal(u->requests, 1);
        assert_int_equal(act(v, &resume_page_action, "{'kind':'csur','name':'r'}"), 0);
        assert_string_equal(text_of(v), "ClusterStagedUpdateRun \"r\" goes on.");
        assert_string_equal(state_of(u, "r"), "Run");
})

VISIT_TEST(what_cannot_be_done_is_refused_in_words_of_the_page, {
        put_run(u, "over", "", UPDATING(ENDED("False", "UpdateRunFailed")));
        assert_int_equal(act(v, &resume_page_action, "{'kind':'csur','name':'over'}"), ERR_INVALID);
        assert_string_equal(v->err.text,
                            "ClusterStagedUpdateRun \"over\" is over (failed): it cannot be resumed; a "
                            "retry begins a new one");
        put_run(u, "r", "", WAITING);
        assert_int_equal(act(v, &retry_page_action, "{'kind':'csur','name':'r'}"), ERR_INVALID);
        assert_string_equal(v->err.text,
                            "ClusterStagedUpdateRun \"r\" is not over (waiting): resume it, or wait "
                            "for its end");
})

VISIT_TEST(a_run_that_was_deleted_meanwhile_is_not_there_any_more, {
        assert_int_equal(act(v, &stop_page_action, "{'kind':'csur','name':'r'}"), ERR_NOT_FOUND);
        assert_string_equal(v->err.text, "ClusterStagedUpdateRun \"r\" is not there any more");
        assert_int_equal(act(v, &retry_page_action, "{'kind':'csur','name':'r'}"), ERR_NOT_FOUND);
        assert_string_equal(v->err.text, "ClusterStagedUpdateRun \"r\" is not there any more");
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'a','planHash':''}"),
                         ERR_NOT_FOUND);
        assert_non_null(strstr(v->err.text, "failed to approve ClusterApprovalRequest \"a\": failed to get "
                                            "ClusterApprovalRequest \"a\": "));
})

VISIT_TEST(a_retry_is_made_once_until_it_is_over, {
        put_run(u, "r", "", UPDATING(ENDED("False", "UpdateRunFailed")));
        assert_int_equal(act(v, &retry_page_action, "{'kind':'csur','name':'r'}"), 0);
        assert_string_equal(text_of(v), "ClusterStagedUpdateRun \"r-retry-1\" retries it.");
        assert_string_equal(doc_get_string(v->done, "name"), "r-retry-1");
        assert_string_equal(state_of(u, "r-retry-1"), "Run");
        assert_string_equal(rig_string(u->rig, "spec.retryOf"), "r");
        assert_int_equal(act(v, &retry_page_action, "{'kind':'csur','name':'r'}"), 0);
        assert_string_equal(text_of(v), "ClusterStagedUpdateRun \"r-retry-1\" retries it already.");
        assert_false(changed(v));
        rig_get(u->rig, FLEET "clusterstagedupdateruns");
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "items")), 2);
        rig_merge(
                u->rig, FLEET "clusterstagedupdateruns/r-retry-1/status",
                "{\"status\":{\"conditions\":[{\"type\":\"Succeeded\",\"status\":\"False\",\"reason\":\"R\","
                "\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
        assert_int_equal(u->rig->status, 200);
        assert_int_equal(act(v, &retry_page_action, "{'kind':'csur','name':'r'}"), 0);
        assert_string_equal(text_of(v), "ClusterStagedUpdateRun \"r-retry-2\" retries it.");
})

/* One of that name that retries something else is none. */
VISIT_TEST(a_retry_of_another_run_is_not_taken_for_one, {
        put_run(u, "r", "", UPDATING(ENDED("False", "UpdateRunFailed")));
        put_run(u, "r-retry-1", "", "");
        assert_int_equal(act(v, &retry_page_action, "{'kind':'csur','name':'r'}"), 0);
        assert_string_equal(text_of(v), "ClusterStagedUpdateRun \"r-retry-2\" retries it.");
})

/* Of ours or of the hub's, which are in one process here: an error, or it is done; never half. */
VISIT_TEST(an_action_survives_every_failing_allocation, {
        AUTO_JSON json_t *args =
                json_pack("{s:s, s:s, s:s}", "kind", "careq", "name", "a", "planHash", "abc");
        uint64_t most = 1;
        int code = 0;
        int failed = 0;

        put_request(u, "a", SHOWN("abc"));
        for (uint64_t n = 0; n <= most; n++) { /* the first one goes well, and tells how many there are */
                AUTO_ARENA struct arena arena = ARENA_INIT;

                rig_merge(u->rig, FLEET "clusterapprovalrequests/a/status",
                          "{\"status\":{\"approvedPlanHash\":null,\"conditions\":null}}");
                json_decref(TAKE_PTR(v->done));
                mem_fail_at(n, false);
                code = approve_page_action.run(&v->page, args, &arena, &v->done, &v->err);
                most = MAX(most, n ? 0 : mem_alloc_count());
                mem_fail_at(0, false);
                failed += code < 0;
                assert_true((code == 0) == (v->done != NULL));
        }
        assert_true(failed > 20);
        assert_int_equal(act(v, &approve_page_action, "{'kind':'careq','name':'a','planHash':'abc'}"), 0);
        rig_get(u->rig, FLEET "clusterapprovalrequests/a");
        assert_string_equal(rig_string(u->rig, "status.approvedPlanHash"), "abc");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_approval_names_the_plan_that_was_shown),
                cmocka_unit_test(a_second_click_finds_it_approved_and_writes_nothing),
                cmocka_unit_test(a_plan_that_was_not_shown_is_not_approved),
                cmocka_unit_test(a_plan_that_changes_under_the_click_is_not_approved),
                cmocka_unit_test(who_is_overtaken_tries_again_five_times_in_all),
                cmocka_unit_test(without_rights_the_server_says_no_and_nothing_else_is_tried),
                cmocka_unit_test(a_request_in_a_namespace_is_approved_there),
                cmocka_unit_test(arguments_are_checked_before_anything_is_asked),
                cmocka_unit_test(a_run_is_stopped_and_resumed_once_however_often_it_is_clicked),
                cmocka_unit_test(what_cannot_be_done_is_refused_in_words_of_the_page),
                cmocka_unit_test(a_run_that_was_deleted_meanwhile_is_not_there_any_more),
                cmocka_unit_test(a_retry_is_made_once_until_it_is_over),
                cmocka_unit_test(a_retry_of_another_run_is_not_taken_for_one),
                cmocka_unit_test(an_action_survives_every_failing_allocation),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
