/* The view "run": what of a run stands in which row, and what is sent again when something moves. */
#include "kubectl-fleet/page/look_test.h"
#include "kubectl-fleet/runs_test.h"

extern const struct page_view run_page_view;

#define NOW_MS SCENE_NOW_MS

static void put_run(struct scene *s, const char *spec, const char *status)
{
        scene_put(s, &cluster_staged_update_run_kind,
                  "{'metadata':{'name':'r'},'spec':{'placementName':'web','stagedRolloutStrategyName':'"
                  "three'%s}"
                  "%s}",
                  spec, status);
}

#define REQUEST(name, type, stage, status)                                                                   \
        "{'metadata':{'name':'" name "','uid':'u-" name "','generation':1,'creationTimestamp':'2025-12-31T"  \
        "23:59:00Z','labels':{'kubernetes-fleet.io/targetUpdateRun':'r','kubernetes-fleet.io/"               \
        "taskType':'" type "'}},'spec':{'parentStageRollout':'r','targetStage':'" stage "'}" status "}"

static int look_with(struct scene *s, const char *args)
{
        scene_args(s, args);
        return scene_try(s, &run_page_view);
}

static void look(struct scene *s)
{
        scene_args(s, "{'kind':'csur','name':'r'}");
        scene_look(s, &run_page_view);
}

static const json_t *head(const struct scene *s)
{
        return scene_head(s);
}

static const json_t *row(const struct scene *s, const char *part, const char *key)
{
        return scene_row(s, part, key);
}

static const char *string(const json_t *doc, const char *path)
{
        return or_empty(doc_get_string(doc, path));
}

static const json_t *gate(const struct scene *s, const char *stage, const char *side, size_t i)
{
        return json_array_get(json_object_get(row(s, "stages", stage), side), i);
}

/* A piece of the JSON that the browser has; `want` with single quotes. */
static bool is_shown(const struct scene *s, const char *want)
{
        char text[512];

        snprintf(text, sizeof(text), "%s", want);
        for (char *c = text; *c; c++)
                if (*c == '\'')
                        *c = '"';
        return scene_shows(s, text);
}

/* ---- the board ---- */

static void a_run_is_a_head_stages_and_clusters(void **state)
{
        struct scene *s = *state;

        put_run(s, "", WAITING);
        look(s);
        assert_string_equal(string(head(s), "word"), "waiting");
        assert_string_equal(string(head(s), "tone"), "busy");
        assert_string_equal(string(head(s), "message"),
                            "The updateRun is waiting for after-stage tasks in stage canary to complete");
        assert_string_equal(string(head(s), "placement.name"), "web");
        assert_string_equal(string(head(s), "placement.kind"), "crp");
        assert_string_equal(string(head(s), "strategy"), "three");
        assert_string_equal(string(head(s), "revision"), "1");
        assert_int_equal(doc_get_int(head(s), "progress.done", -1), 3);
        assert_int_equal(doc_get_int(head(s), "progress.total", -1), 5);
        assert_int_equal(doc_get_int(head(s), "since", -1), NOW_MS);
        assert_int_equal(doc_get_int(head(s), "began", -1), NOW_MS - 600000);
        assert_int_equal(scene_rows(s, "stages"), 3);
        assert_string_equal(string(row(s, "stages", "0"), "word"), "done");
        assert_string_equal(string(row(s, "stages", "1"), "name"), "canary");
        assert_true(doc_get_bool(row(s, "stages", "1"), "current", false));
        assert_int_equal(doc_get_int(row(s, "stages", "2"), "progress.total", -1), 2);
        assert_int_equal(scene_rows(s, "clusters"), 5);
        assert_string_equal(string(row(s, "clusters", "0/a"), "state"), "done");
        assert_int_equal(doc_get_int(row(s, "clusters", "0/a"), "since", -1), NOW_MS);
        assert_string_equal(string(row(s, "clusters", "2/d"), "state"), "ahead");
}

static void gates_stand_on_their_side_with_what_they_wait_for(void **state)
{
        struct scene *s = *state;

        put_run(s, "", WAITING);
        scene_put(s, &cluster_approval_request_kind, REQUEST("r-after-canary", "afterStage", "canary", ""));
        look(s);
        assert_string_equal(string(gate(s, "0", "before", 0), "word"), "approved");
        assert_string_equal(string(gate(s, "0", "after", 0), "word"), "wait is over");
        assert_string_equal(string(gate(s, "1", "after", 0), "type"), "TimedWait");
        assert_string_equal(string(gate(s, "1", "after", 0), "wait"), "1h0m0s");
        assert_int_equal(doc_get_int(gate(s, "1", "after", 0), "until", -1), NOW_MS - 120000 + 3600000);
        assert_string_equal(string(gate(s, "1", "after", 1), "word"), "waits for approval");
        assert_string_equal(string(gate(s, "1", "after", 1), "request"), "r-after-canary");
        assert_int_equal(doc_get_int(gate(s, "1", "after", 1), "asked", -1), NOW_MS - 60000);
        assert_true(doc_get_bool(gate(s, "1", "after", 1), "can", false));
        assert_string_equal(string(gate(s, "2", "before", 0), "word"), "asked for later");
        assert_false(doc_get_bool(gate(s, "2", "before", 0), "can", true));
        assert_string_equal(string(gate(s, "2", "before", 0), "why"), "the run has not come to it");
        assert_true(doc_get_bool(head(s), "can.approve.can", false));
}

static void a_gate_that_cannot_be_approved_says_why(void **state)
{
        struct scene *s = *state;

        put_run(s, "", WAITING);
        look(s);
        assert_string_equal(string(gate(s, "1", "after", 1), "why"),
                            "ClusterApprovalRequest \"r-after-canary\" is not there");
        assert_string_equal(string(head(s), "can.approve.why"), "nothing waits for an approval");
        s->unreadable = &cluster_approval_request_kind;
        look(s);
        assert_string_equal(string(gate(s, "1", "after", 1), "why"),
                            "ClusterApprovalRequest \"r-after-canary\" cannot be read: may not be listed");
        s->unreadable = NULL;
        scene_put(s, &cluster_approval_request_kind,
                  REQUEST("r-after-canary", "afterStage", "canary",
                          ",'status':{'conditions':[" NOW("Approved", "True", "R", "") "]}"));
        look(s);
        assert_string_equal(string(gate(s, "1", "after", 1), "word"), "approved, and not taken up yet");
        assert_string_equal(string(gate(s, "1", "after", 1), "why"),
                            "it is approved, and the run has not taken it up yet");
        scene_put(s, &cluster_approval_request_kind,
                  REQUEST("r-after-canary", "afterStage", "canary",
                          ",'status':{'conditions':[" NOW("Approved", "False", "R", "") "," NOW(
                                  "ApprovalAccepted", "False", "ApprovalOfAnotherPlan", "look again") "]}"));
        look(s);
        assert_string_equal(string(gate(s, "1", "after", 1), "refusal"), "look again");
        assert_true(doc_get_bool(gate(s, "1", "after", 1), "can", false));
        put_run(s, "",
                ",'status':{" STAGES ",'conditions':[" INITIALIZED ENDED("False", "UpdateRunFailed") "]}");
        look(s);
        assert_string_equal(string(gate(s, "1", "after", 1), "why"), "the run came to its end without it");
        assert_string_equal(string(gate(s, "2", "before", 0), "word"), "not asked for");
}

static void what_can_be_done_now_is_told_with_why_not(void **state)
{
        struct scene *s = *state;

        put_run(s, "", WAITING);
        look(s);
        assert_true(doc_get_bool(head(s), "can.stop.can", false));
        assert_string_equal(string(head(s), "can.resume.why"), "ClusterStagedUpdateRun \"r\" runs already");
        assert_string_equal(
                string(head(s), "can.retry.why"),
                "ClusterStagedUpdateRun \"r\" is not over (waiting): resume it, or wait for its end");
        put_run(s, ",'state':'Stop'", WAITING);
        look(s);
        assert_string_equal(string(head(s), "can.stop.why"),
                            "ClusterStagedUpdateRun \"r\" is stopped already");
        assert_true(doc_get_bool(head(s), "can.resume.can", false));
        put_run(s, "", UPDATING(ENDED("False", "UpdateRunFailed")));
        look(s);
        assert_string_equal(string(head(s), "can.stop.why"),
                            "ClusterStagedUpdateRun \"r\" is over (failed): it cannot be stopped; a retry "
                            "begins a new one");
        assert_true(doc_get_bool(head(s), "can.retry.can", false));
        assert_false(is_shown(s, "kubectl"));
}

static void clusters_that_move_are_sent_again_and_no_others(void **state)
{
        struct scene *s = *state;

        put_run(s, "", UPDATING("," NOW("Progressing", "True", "UpdateRunProgressing", "")));
        look(s);
        assert_string_equal(string(row(s, "clusters", "0/b"), "state"), "updating");
        assert_int_equal(doc_get_int(row(s, "clusters", "0/b"), "since", -1), NOW_MS - 60000);
        assert_string_equal(string(row(s, "clusters", "0/c"), "state"), "failed");
        assert_string_equal(string(row(s, "clusters", "0/c"), "message"), "the binding is not up-to-date");
        assert_string_equal(string(row(s, "clusters", "0/d"), "state"), "skipped");
        assert_string_equal(string(row(s, "stages", "1"), "name"), "cleanup");
        assert_string_equal(string(row(s, "clusters", "1/x"), "state"), "ahead");
        assert_true(is_shown(s, "{'cluster':'g','why':'no stage selects it'}"));
        put_run(s, "",
                ",'status':{'resourceSnapshotIndexUsed':'1','stagesStatus':[{'stageName':'all','startTime':"
                "'2025-12-31T23:58:00Z','conditions':[" STAGE_RUNS "],'clusters':[" A_IS_DONE "," B_IS_DONE
                ",{'clusterName':'c','conditions':[" C_STARTED "," C_FAILED "]}," D_LEFT
                ",{'clusterName':'e'}]}],'conditions':[" INITIALIZED "]}");
        look(s);
        assert_int_equal(s->rows_sent, 2); /* the cluster, and its stage */
        assert_string_equal(string(row(s, "clusters", "0/b"), "state"), "done");
        assert_null(row(s, "clusters", "1/x"));
        look(s);
        assert_int_equal(s->rows_sent, 0);
        assert_int_equal(s->bytes_sent, 0);
}

static void a_cluster_that_is_listed_twice_has_two_rows(void **state)
{
        struct scene *s = *state;

        put_run(s, "",
                ",'status':{'stagesStatus':[{'stageName':'all','clusters':[{'clusterName':'a'},{'clusterName'"
                ":"
                "'a'}]}]}");
        look(s);
        assert_int_equal(scene_rows(s, "clusters"), 2);
        assert_non_null(row(s, "clusters", "0/a#1"));
}

/* What stands in objects is text: nothing of it becomes anything else here, and what is long is cut. */
static void markup_and_long_messages_are_text(void **state)
{
        struct scene *s = *state;
        AUTO_BUF struct buf b;

        buf_init(&b, 200000);
        buf_append_str(&b, ",'status':{'stagesStatus':[{'stageName':'<img src=x>','clusters':[{'clusterName':"
                           "'<b>&amp;</b>','conditions':[{'type':'Succeeded','status':'False','reason':'R',"
                           "'lastTransitionTime':'2026-01-01T00:00:00Z','message':'");
        for (int i = 0; i < 100000; i++)
                buf_append_char(&b, 'm');
        buf_append_str(&b, "'}]}]}],'conditions':[]}");
        put_run(s, "", b.data);
        look(s);
        assert_string_equal(string(row(s, "stages", "0"), "name"), "<img src=x>");
        assert_string_equal(string(row(s, "clusters", "0/<b>&amp;</b>"), "cluster"), "<b>&amp;</b>");
        assert_true(strlen(string(row(s, "clusters", "0/<b>&amp;</b>"), "message")) <= 2048);
        assert_int_equal(doc_get_int(row(s, "clusters", "0/<b>&amp;</b>"), "messageBytes", -1), 100000);
}

static void a_run_of_a_namespace_is_read_there(void **state)
{
        struct scene *s = *state;

        scene_put(s, &staged_update_run_kind,
                  "{'metadata':{'name':'r','namespace':'team'},'spec':{'placementName':'web',"
                  "'stagedRolloutStrategyName':'three'}" WAITING "}");
        assert_int_equal(look_with(s, "{'kind':'sur','ns':'team','name':'r'}"), 0);
        assert_string_equal(string(head(s), "kindName"), "StagedUpdateRun");
        assert_string_equal(string(head(s), "placement.kind"), "rp");
        assert_string_equal(string(head(s), "placement.ns"), "team");
        assert_int_equal(look_with(s, "{'kind':'sur','ns':'team','name':'other'}"), ERR_NOT_FOUND);
        assert_string_equal(s->err.text, "StagedUpdateRun \"other\" not found in namespace \"team\"");
}

static void arguments_that_name_no_run_are_refused(void **state)
{
        static const struct {
                const char *args, *text;
        } cases[] = {
                { "{}", "kind: is needed" },
                { "{'kind':'csur'}", "name: is needed" },
                { "{'kind':'csur','name':7}", "name: must be a string" },
                { "{'kind':'crp','name':'r'}", "kind: must be csur or sur" },
                { "{'kind':'csur','name':'r','ns':'x'}", "ns: a ClusterStagedUpdateRun has no namespace" },
                { "{'kind':'sur','name':'r'}", "ns: is needed" },
                { "{'kind':'sur','name':'r','ns':'../x'}", "ns: must be the name of a namespace" },
                { "{'kind':'csur','name':'r,x=y'}", "name: must be the name of an update run" },
        };
        struct scene *s = *state;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                assert_int_equal(look_with(s, cases[i].args), ERR_INVALID);
                assert_string_equal(s->err.text, cases[i].text);
        }
}

static void a_run_that_goes_and_one_that_may_not_be_read_are_told_apart(void **state)
{
        struct scene *s = *state;

        put_run(s, "", WAITING);
        look(s);
        scene_remove(s, &cluster_staged_update_run_kind, NULL, "r");
        assert_int_equal(look_with(s, "{'kind':'csur','name':'r'}"), ERR_NOT_FOUND);
        assert_string_equal(s->err.text, "ClusterStagedUpdateRun \"r\" not found");
        s->unreadable = &cluster_staged_update_run_kind;
        assert_int_equal(look_with(s, "{'kind':'csur','name':'r'}"), ERR_NOT_FOUND);
        assert_string_equal(s->err.text, "ClusterStagedUpdateRun \"r\" cannot be read: may not be listed");
}

/* ---- plans ---- */

#define PLANNED(cluster)                                                                                     \
        "{'clusterName':'" cluster "','added':1,'changed':1,'removed':0,'objects':[{'version':'v1','kind':"  \
        "'ConfigMap','namespace':'web','name':'new','change':'Added'},{'version':'v1','kind':'Secret',"      \
        "'namespace':'web','name':'s','change':'Changed','fields':[{'path':'/data/key','from':'hush','to':"  \
        "'hush'}]},{'version':'v1','kind':'ConfigMap','namespace':'web','name':'m','change':'Changed','"     \
        "fields':"                                                                                           \
        "[{'path':'/data/motto','from':'\\'\\\\u003cb\\\\u003e\\'','to':'\\'a \\\\u0026 b\\''}]}]}"
#define PLAN                                                                                                 \
        ",'status':{'planHash':'abc','plan':{'resourceSnapshotIndex':'1','omittedObjects':2,'clusters':"     \
        "[" PLANNED("d") "," PLANNED("e") "]}}"

static void the_plan_of_a_request_is_a_row_with_its_hash(void **state)
{
        struct scene *s = *state;
        const json_t *plan;

        put_run(s, "", WAITING);
        scene_put(s, &cluster_approval_request_kind, REQUEST("r-after-canary", "afterStage", "canary", PLAN));
        look(s);
        plan = row(s, "plans", "r-after-canary");
        assert_string_equal(string(plan, "hash"), "abc");
        assert_string_equal(string(plan, "when"), "after");
        assert_int_equal(doc_get_int(plan, "clusters", -1), 2);
        assert_int_equal(doc_get_int(plan, "omitted", -1), 2);
        assert_int_equal(json_array_size(json_object_get(plan, "groups")), 1);
        assert_true(is_shown(s, "'clusters':['d','e']"));
        assert_true(is_shown(s, "'change':'Added'"));
        assert_string_equal(string(gate(s, "1", "after", 1), "plan"), "r-after-canary");
        assert_string_equal(string(gate(s, "1", "after", 1), "hash"), "abc");
        assert_true(is_shown(s, "'from':'\\'<b>\\''"));
        assert_true(is_shown(s, "'to':'\\'a & b\\''"));
        /* nothing is compared then: neither bindings nor snapshots are read */
        assert_int_equal(s->n_needs, 2);
        look(s);
        assert_int_equal(s->rows_sent, 0);
}

static void of_secrets_no_value_is_sent_even_where_a_plan_has_one(void **state)
{
        struct scene *s = *state;

        put_run(s, "", WAITING);
        scene_put(s, &cluster_approval_request_kind, REQUEST("r-after-canary", "afterStage", "canary", PLAN));
        look(s);
        assert_false(is_shown(s, "hush"));
        assert_true(is_shown(s, "{'path':'/data/key','hidden':true}"));
}

static void put_binding(struct scene *s, const char *cluster, const char *snapshot)
{
        scene_put(s, &cluster_resource_binding_kind,
                  "{'metadata':{'name':'web-%s','uid':'u-%s','labels':{'kubernetes-fleet.io/"
                  "parent-CRP':'web'}},'spec':{'state':'Bound','resourceSnapshotName':'%s',"
                  "'targetCluster':'%s'}}",
                  cluster, cluster, snapshot, cluster);
}

static void put_snapshot(struct scene *s, const char *index, const char *value, const char *secret)
{
        scene_put(s, &cluster_resource_snapshot_kind,
                  "{'metadata':{'name':'web-%s-snapshot','uid':'s-%s','labels':{'kubernetes-fleet.io/"
                  "parent-CRP':'web',"
                  "'kubernetes-fleet.io/"
                  "resource-index':'%s'}},'spec':{'selectedResources':[{'apiVersion':'v1','kind':"
                  "'ConfigMap','metadata':{'name':'c','namespace':'web'},'data':{'a':'%s'}},{'apiVersion':'"
                  "v1','"
                  "kind':"
                  "'Secret','metadata':{'name':'s','namespace':'web'},'data':{'key':'%s'}}]}}",
                  index, index, index, value, secret);
}

static void set_comparison(struct scene *s)
{
        put_run(s, "", WAITING);
        scene_put(s, &cluster_approval_request_kind, REQUEST("r-after-canary", "afterStage", "canary", ""));
        put_binding(s, "c", "web-1-snapshot");
        put_binding(s, "d", "web-0-snapshot");
        put_binding(s, "e", "web-0-snapshot");
        put_snapshot(s, "0", "one", "aHVzaA==");
        put_snapshot(s, "1", "two", "aHVzaDI=");
}

static void where_no_request_shows_a_plan_what_lies_ahead_is_compared(void **state)
{
        struct scene *s = *state;
        const json_t *plan;

        set_comparison(s);
        look(s);
        plan = row(s, "plans", "stage/2");
        assert_true(doc_get_bool(plan, "compared", false));
        assert_string_equal(string(plan, "stage"), "production");
        assert_string_equal(string(plan, "request"), "r-after-canary");
        assert_string_equal(string(plan, "hash"), "");
        assert_true(is_shown(s, "'clusters':['d','e']"));
        assert_true(is_shown(s, "'from':'\\'one\\'','to':'\\'two\\''"));
        assert_true(is_shown(s, "'path':'/data/a'"));
        assert_false(is_shown(s, "aHVz"));
        assert_string_equal(string(gate(s, "1", "after", 1), "plan"), "stage/2");
        assert_string_equal(string(gate(s, "1", "after", 1), "hash"), "");
        assert_string_equal(string(row(s, "stages", "2"), "plan"), "stage/2");
        assert_int_equal(scene_rows(s, "plans"), 1);
        put_binding(s, "a", "web-1-snapshot"); /* it is of no concern to what lies ahead */
        look(s);
        assert_int_equal(s->rows_sent, 0);
        put_binding(s, "e", "web-1-snapshot");
        look(s);
        assert_int_equal(s->rows_sent, 1);
        assert_int_equal(json_array_size(json_object_get(row(s, "plans", "stage/2"), "groups")), 2);
}

/* Revision 1 was rolled out, and is taken back. */
static void a_run_back_to_the_first_revision_says_what_it_brings_back(void **state)
{
        struct scene *s = *state;
        const json_t *plan;

        set_comparison(s);
        put_run(s, ",'resourceSnapshotIndex':'0'",
                ",'status':{'resourceSnapshotIndexUsed':'0','stagedUpdateStrategySnapshot':{'stages':[{'name'"
                ":'canary','afterStageTasks':[{'type':'TimedWait'},{'type':'Approval'}]},{'name':'production'"
                "}]},'stagesStatus':[" CANARY "," PRODUCTION "],'conditions':[" INITIALIZED "]}");
        put_binding(s, "c", "web-0-snapshot");
        put_binding(s, "d", "web-1-snapshot");
        put_binding(s, "e", "web-1-snapshot");
        look(s);
        assert_string_equal(string(head(s), "revision"), "0");
        plan = row(s, "plans", "stage/1");
        assert_string_equal(string(plan, "revision"), "0");
        assert_string_equal(string(gate(s, "0", "after", 1), "plan"), "stage/1");
        assert_true(is_shown(s, "'clusters':['d','e']"));
        assert_true(is_shown(s, "'from':'\\'two\\'','to':'\\'one\\''"));
}

static void what_cannot_be_compared_is_said_beside_the_board(void **state)
{
        struct scene *s = *state;

        set_comparison(s);
        s->unreadable = &cluster_resource_snapshot_kind;
        look(s);
        assert_string_equal(string(head(s), "planNote"),
                            "clusterresourcesnapshots of the placement cannot be read: may not be listed");
        assert_int_equal(scene_rows(s, "plans"), 0);
        assert_true(doc_get_bool(gate(s, "1", "after", 1), "can", false));
        put_run(s, "", "");
        look(s);
        assert_string_equal(
                string(head(s), "planNote"),
                "ClusterStagedUpdateRun \"r\" is not initialized: nobody knows yet what it brings");
}

/* The agent would refuse an approval before that. */
static void a_plan_that_the_strategy_asks_for_is_waited_for(void **state)
{
        struct scene *s = *state;

        set_comparison(s);
        put_run(s, "",
                ",'status':{'resourceSnapshotIndexUsed':'1','stagedUpdateStrategySnapshot':{'stages':[{'name'"
                ":"
                "'canary','afterStageTasks':[{'type':'Approval','plan':true}]},{'name':'production'}]},"
                "'stagesStatus':[" CANARY "," PRODUCTION "],'conditions':[" INITIALIZED "]}");
        look(s);
        assert_string_equal(string(gate(s, "0", "after", 1), "why"), "its plan is not made yet");
        assert_int_equal(scene_rows(s, "plans"), 0);
}

/* A stage that has begun is not what an approval would let happen. */
static void what_is_under_way_is_not_compared(void **state)
{
        struct scene *s = *state;

        set_comparison(s);
        put_run(s, "", UPDATING(""));
        look(s);
        assert_null(row(s, "plans", "stage/0"));
}

/* ---- limits ---- */

static void a_thousand_clusters_are_sent_once(void **state)
{
        struct scene *s = *state;
        AUTO_BUF struct buf b;

        buf_init(&b, 64u << 10);
        buf_append_str(
                &b,
                ",'status':{'resourceSnapshotIndexUsed':'1','stagesStatus':[{'stageName':'all','clusters':[");
        for (int i = 0; i < 1000; i++)
                buf_printf(&b, "%s{'clusterName':'member-%d'}", i ? "," : "", i);
        buf_append_str(&b, "]}],'conditions':[" INITIALIZED "]}");
        put_run(s, "", b.data);
        put_snapshot(s, "1", "two", "aHVzaDI=");
        for (int i = 0; i < 1000; i++) {
                char name[32];

                snprintf(name, sizeof(name), "member-%d", i);
                put_binding(s, name, "web-1-snapshot");
        }
        look(s);
        assert_int_equal(scene_rows(s, "clusters"), 1000);
        assert_int_equal(json_array_size(json_object_get(row(s, "plans", "stage/0"), "groups")), 1);
        look(s);
        assert_int_equal(s->rows_sent, 0);
}

static void every_allocation_may_fail(void **state)
{
        struct scene *s = *state;
        bool fired = true;
        int code = 0;

        set_comparison(s);
        scene_put(s, &cluster_approval_request_kind,
                  REQUEST("r-before-staging", "beforeStage", "staging", PLAN));
        scene_args(s, "{'kind':'csur','name':'r'}");
        for (uint64_t n = 1; fired && n < 20000; n++) {
                page_doc_free(s->doc);
                s->doc = page_doc_new(7);
                code = scene_look_failing(s, &run_page_view, n, &fired);
                assert_true(code == 0 || code == ERR_NO_MEMORY);
        }
        assert_false(fired);
        assert_int_equal(code, 0);
        assert_int_equal(scene_rows(s, "clusters"), 5);
        assert_int_equal(scene_rows(s, "plans"), 2);
        assert_int_equal(scene_rows(s, "stages"), 3);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCENE_TEST(a_run_is_a_head_stages_and_clusters),
                SCENE_TEST(gates_stand_on_their_side_with_what_they_wait_for),
                SCENE_TEST(a_gate_that_cannot_be_approved_says_why),
                SCENE_TEST(what_can_be_done_now_is_told_with_why_not),
                SCENE_TEST(clusters_that_move_are_sent_again_and_no_others),
                SCENE_TEST(a_cluster_that_is_listed_twice_has_two_rows),
                SCENE_TEST(markup_and_long_messages_are_text),
                SCENE_TEST(a_run_of_a_namespace_is_read_there),
                SCENE_TEST(arguments_that_name_no_run_are_refused),
                SCENE_TEST(a_run_that_goes_and_one_that_may_not_be_read_are_told_apart),
                SCENE_TEST(the_plan_of_a_request_is_a_row_with_its_hash),
                SCENE_TEST(of_secrets_no_value_is_sent_even_where_a_plan_has_one),
                SCENE_TEST(where_no_request_shows_a_plan_what_lies_ahead_is_compared),
                SCENE_TEST(a_run_back_to_the_first_revision_says_what_it_brings_back),
                SCENE_TEST(what_cannot_be_compared_is_said_beside_the_board),
                SCENE_TEST(a_plan_that_the_strategy_asks_for_is_waited_for),
                SCENE_TEST(what_is_under_way_is_not_compared),
                SCENE_TEST(a_thousand_clusters_are_sent_once),
                SCENE_TEST(every_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
