/* The view "run": what of a run stands in which row, and what is sent again when something moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/json/doc.h"
#include "kubectl-fleet/page/board.h"
#include "kubectl-fleet/page/doc.h"
#include "kubectl-fleet/runs_test.h"

extern const struct page_view run_page_view;

#define NOW_MS INT64_C(1767225600000)
#define OBJECTS_MAX 1100

/* A hub that needs are read from, and what the browser was told of the last look. */
struct scene {
        struct arena arena;
        const struct object *objects[OBJECTS_MAX];
        size_t n_objects, n_needs;
        const struct kind *refused; /* a kind that may not be read */
        const char *ns;
        struct page_doc *doc;
        json_t *sent;
        struct error err;
        const char *selector; /* of the snapshots that were asked for; "" = none */
};

static int set_up(void **state)
{
        struct scene *s = NEW(struct scene);

        s->doc = page_doc_new(7);
        *state = s;
        return 0;
}

static int tear_down(void **state)
{
        struct scene *s = *state;

        json_decref(s->sent);
        page_doc_free(s->doc);
        arena_free(&s->arena);
        mem_free(s);
        return 0;
}

/* An object of the hub; one of the same kind and name is replaced. Single quotes stand for double ones. */
static void put(struct scene *s, const struct kind *kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void put(struct scene *s, const struct kind *kind, const char *fmt, ...)
{
        struct object *o = NULL;
        char *text = mem_alloc(256u << 10);
        va_list args;
        size_t i = 0;

        va_start(args, fmt);
        vsnprintf(text, 256u << 10, fmt, args);
        va_end(args);
        for (char *c = text; *c; c++)
                if (*c == '\'')
                        *c = '"';
        if (object_decode_arena(kind, slice_of(text), &s->arena, &o, &s->err) < 0)
                fail_msg("%s in %s", s->err.text, text);
        mem_free(text);
        o->meta.resource_version = arena_printf(&s->arena, "%p", (void *)o);
        o->meta.creation_ms = NOW_MS - 60000;
        while (i < s->n_objects &&
               (s->objects[i]->kind != kind || !text_equal(s->objects[i]->meta.name, o->meta.name)))
                i++;
        assert_true(i < OBJECTS_MAX);
        s->objects[i] = o;
        s->n_objects += i == s->n_objects;
}

static void put_run(struct scene *s, const char *spec, const char *status)
{
        put(s, s->ns ? &staged_update_run_kind : &cluster_staged_update_run_kind,
            "{'metadata':{'name':'r'%s%s%s},'spec':{'placementName':'web','stagedRolloutStrategyName':'three'"
            "%s}%s}",
            s->ns ? ",'namespace':'" : "", s->ns ? s->ns : "", s->ns ? "'" : "", spec, status);
}

static void fill(struct scene *s, struct page_need *n)
{
        const struct object **found = ARENA_NEW_ARRAY(&s->arena, const struct object *, s->n_objects + 1);
        size_t k = 0;

        n->problem = n->fetch.kind == s->refused ? "you may not list them" : NULL;
        n->filled = !n->problem;
        for (size_t i = 0; n->filled && i < s->n_objects; i++)
                if (s->objects[i]->kind == n->fetch.kind &&
                    (!n->fetch.name || text_equal(n->fetch.name, s->objects[i]->meta.name)))
                        found[k++] = s->objects[i];
        n->fetch.result = (struct object_list){ .at = found, .n = k };
}

/* As a session does: needs until no new one comes, then the look. */
static int look_once(struct scene *s, struct arena *arena, const json_t *args)
{
        struct page_needs needs[2] = { 0 };
        struct page_look l = { .arena = arena, .args = args, .now_ms = NOW_MS, .needs = &needs[0] };

        s->selector = "";
        for (size_t n = SIZE_MAX; n != needs[0].n;) {
                n = needs[0].n;
                needs[1] = (struct page_needs){ 0 };
                TRY(run_page_view.need(&l, &needs[1], &s->err));
                for (size_t i = 0; i < needs[1].n; i++)
                        fill(s, &needs[1].at[i]);
                needs[0] = needs[1];
        }
        s->n_needs = needs[0].n;
        for (size_t i = 0; i < needs[0].n; i++)
                if (needs[0].at[i].fetch.kind == &cluster_resource_snapshot_kind)
                        s->selector = arena_strdup(&s->arena, needs[0].at[i].fetch.selector);
        page_doc_begin(s->doc);
        TRY(run_page_view.look(&l, s->doc, &s->err));
        return page_doc_end(s->doc);
}

static void take(struct scene *s)
{
        AUTO_BUF struct buf b;
        bool more = false;

        buf_init(&b, 8u << 20);
        buf_append_str(&b, "{\"view\":1");
        assert_int_equal(page_doc_take(s->doc, 8u << 20, &b, &more), 0);
        assert_false(more);
        buf_append_char(&b, '}');
        json_decref(s->sent);
        s->sent = NULL;
        assert_int_equal(doc_parse((struct slice){ b.data, b.len }, &s->sent, NULL), 0);
}

static int look_with(struct scene *s, const char *args)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = NULL;
        char text[256];
        int code;

        snprintf(text, sizeof(text), "%s", args);
        for (char *c = text; *c; c++)
                if (*c == '\'')
                        *c = '"';
        assert_int_equal(doc_parse(slice_of(text), &doc, NULL), 0);
        error_clear(&s->err);
        code = look_once(s, &arena, doc);
        if (code == 0)
                take(s);
        return code;
}

static void look(struct scene *s)
{
        int code = look_with(s, "{'kind':'csur','name':'r'}");

        if (code < 0)
                fail_msg("%s", s->err.text);
}

static const json_t *head(const struct scene *s)
{
        return json_object_get(s->sent, "head");
}

static const json_t *row(const struct scene *s, const char *part, const char *key)
{
        return json_object_get(json_object_get(json_object_get(s->sent, "rows"), part), key);
}

static size_t n_rows(const struct scene *s, const char *part)
{
        return json_object_size(json_object_get(json_object_get(s->sent, "rows"), part));
}

static const char *string(const json_t *doc, const char *path)
{
        return or_empty(doc_get_string(doc, path));
}

static const json_t *gate(const struct scene *s, const char *stage, const char *side, size_t i)
{
        return json_array_get(json_object_get(row(s, "stages", stage), side), i);
}

/* Texts of the JSON that was sent; `want` with single quotes. */
static bool was_sent(const struct scene *s, const char *want)
{
        AUTO_BUF struct buf b;
        char text[512];

        snprintf(text, sizeof(text), "%s", want);
        for (char *c = text; *c; c++)
                if (*c == '\'')
                        *c = '"';
        buf_init(&b, 8u << 20);
        doc_write(s->sent, &b);
        return strstr(b.data, text) != NULL;
}

#define REQUEST(name, type, stage, status)                                                                   \
        "{'metadata':{'name':'" name "','uid':'u-" name "','generation':1,'labels':{'kubernetes-fleet.io/"   \
        "targetUpdateRun':'r','kubernetes-fleet.io/taskType':'" type "'}},'spec':{'parentStageRollout':'r'," \
        "'targetStage':'" stage "'}" status "}"

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
        assert_int_equal(n_rows(s, "stages"), 3);
        assert_string_equal(string(row(s, "stages", "0"), "word"), "done");
        assert_string_equal(string(row(s, "stages", "1"), "name"), "canary");
        assert_true(doc_get_bool(row(s, "stages", "1"), "current", false));
        assert_int_equal(doc_get_int(row(s, "stages", "2"), "progress.total", -1), 2);
        assert_int_equal(n_rows(s, "clusters"), 5);
        assert_string_equal(string(row(s, "clusters", "0/a"), "state"), "done");
        assert_int_equal(doc_get_int(row(s, "clusters", "0/a"), "since", -1), NOW_MS);
        assert_string_equal(string(row(s, "clusters", "2/d"), "state"), "ahead");
}

static void gates_stand_on_their_side_with_what_they_wait_for(void **state)
{
        struct scene *s = *state;

        put_run(s, "", WAITING);
        put(s, &cluster_approval_request_kind, REQUEST("r-after-canary", "afterStage", "canary", ""));
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
        s->refused = &cluster_approval_request_kind;
        look(s);
        assert_string_equal(
                string(gate(s, "1", "after", 1), "why"),
                "ClusterApprovalRequest \"r-after-canary\" cannot be read: you may not list them");
        s->refused = NULL;
        put(s, &cluster_approval_request_kind,
            REQUEST("r-after-canary", "afterStage", "canary",
                    ",'status':{'conditions':[" NOW("Approved", "True", "R", "") "]}"));
        look(s);
        assert_string_equal(string(gate(s, "1", "after", 1), "word"), "approved, and not taken up yet");
        assert_string_equal(string(gate(s, "1", "after", 1), "why"),
                            "it is approved, and the run has not taken it up yet");
        put(s, &cluster_approval_request_kind,
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
        assert_false(was_sent(s, "kubectl"));
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
        assert_true(was_sent(s, "{'cluster':'g','why':'no stage selects it'}"));
        put_run(s, "",
                ",'status':{'resourceSnapshotIndexUsed':'1','stagesStatus':[{'stageName':'all','startTime':"
                "'2025-12-31T23:58:00Z','conditions':[" STAGE_RUNS "],'clusters':[" A_IS_DONE "," B_IS_DONE
                ",{'clusterName':'c','conditions':[" C_STARTED "," C_FAILED "]}," D_LEFT
                ",{'clusterName':'e'}]}],'conditions':[" INITIALIZED "]}");
        look(s);
        assert_int_equal(n_rows(s, "clusters"), 1);
        assert_string_equal(string(row(s, "clusters", "0/b"), "state"), "done");
        assert_true(was_sent(s, "'gone':{'clusters':['1/x']") || was_sent(s, "'clusters':['1/x']"));
        look(s);
        assert_null(json_object_get(s->sent, "rows"));
        assert_null(head(s));
}

static void a_cluster_that_is_listed_twice_has_two_rows(void **state)
{
        struct scene *s = *state;

        put_run(s, "",
                ",'status':{'stagesStatus':[{'stageName':'all','clusters':[{'clusterName':'a'},{'clusterName'"
                ":"
                "'a'}]}]}");
        look(s);
        assert_int_equal(n_rows(s, "clusters"), 2);
        assert_non_null(row(s, "clusters", "0/a#1"));
}

/* What stands in objects is text: nothing of it becomes anything else here, and what is long is cut. */
static void markup_and_long_messages_are_text(void **state)
{
        struct scene *s = *state;
        char *message = mem_alloc(100001), *status;

        memset(message, 'm', 100000);
        message[100000] = '\0';
        status = arena_printf(
                &s->arena,
                ",'status':{'stagesStatus':[{'stageName':'<img src=x>','clusters':[{'clusterName':"
                "'<b>&amp;</b>','conditions':[{'type':'Succeeded','status':'False','reason':'R',"
                "'message':'%s','lastTransitionTime':'2026-01-01T00:00:00Z'}]}]}],'conditions':[]}",
                message);
        put_run(s, "", status);
        look(s);
        assert_string_equal(string(row(s, "stages", "0"), "name"), "<img src=x>");
        assert_string_equal(string(row(s, "clusters", "0/<b>&amp;</b>"), "cluster"), "<b>&amp;</b>");
        assert_true(strlen(string(row(s, "clusters", "0/<b>&amp;</b>"), "message")) <= 2048);
        assert_int_equal(doc_get_int(row(s, "clusters", "0/<b>&amp;</b>"), "messageBytes", -1), 100000);
        mem_free(message);
}

static void a_run_of_a_namespace_is_read_there(void **state)
{
        struct scene *s = *state;

        s->ns = "team";
        put_run(s, "", WAITING);
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
        s->n_objects = 0;
        assert_int_equal(look_with(s, "{'kind':'csur','name':'r'}"), ERR_NOT_FOUND);
        assert_string_equal(s->err.text, "ClusterStagedUpdateRun \"r\" not found");
        s->refused = &cluster_staged_update_run_kind;
        assert_int_equal(look_with(s, "{'kind':'csur','name':'r'}"), ERR_NOT_FOUND);
        assert_string_equal(s->err.text,
                            "ClusterStagedUpdateRun \"r\" cannot be read: you may not list them");
}

/* ---- plans ---- */

#define PLANNED(cluster)                                                                                     \
        "{'clusterName':'" cluster "','added':1,'changed':1,'removed':0,'objects':[{'version':'v1','kind':"  \
        "'ConfigMap','namespace':'web','name':'new','change':'Added'},{'version':'v1','kind':'Secret',"      \
        "'namespace':'web','name':'s','change':'Changed','fields':[{'path':'/data/key','from':'hush','to':"  \
        "'hush'}]}]}"
#define PLAN                                                                                                 \
        ",'status':{'planHash':'abc','plan':{'resourceSnapshotIndex':'1','omittedObjects':2,'clusters':"     \
        "[" PLANNED("d") "," PLANNED("e") "]}}"

static void the_plan_of_a_request_is_a_row_with_its_hash(void **state)
{
        struct scene *s = *state;
        const json_t *plan;

        put_run(s, "", WAITING);
        put(s, &cluster_approval_request_kind, REQUEST("r-after-canary", "afterStage", "canary", PLAN));
        look(s);
        plan = row(s, "plans", "r-after-canary");
        assert_string_equal(string(plan, "hash"), "abc");
        assert_string_equal(string(plan, "when"), "after");
        assert_int_equal(doc_get_int(plan, "clusters", -1), 2);
        assert_int_equal(doc_get_int(plan, "omitted", -1), 2);
        assert_int_equal(json_array_size(json_object_get(plan, "groups")), 1);
        assert_true(was_sent(s, "'clusters':['d','e']"));
        assert_true(was_sent(s, "'change':'Added'"));
        assert_string_equal(string(gate(s, "1", "after", 1), "plan"), "r-after-canary");
        assert_string_equal(string(gate(s, "1", "after", 1), "hash"), "abc");
        /* nothing is compared then: neither bindings nor snapshots are read */
        assert_int_equal(s->n_needs, 2);
        look(s);
        assert_null(json_object_get(s->sent, "rows"));
}

static void of_secrets_no_value_is_sent_even_where_a_plan_has_one(void **state)
{
        struct scene *s = *state;

        put_run(s, "", WAITING);
        put(s, &cluster_approval_request_kind, REQUEST("r-after-canary", "afterStage", "canary", PLAN));
        look(s);
        assert_false(was_sent(s, "hush"));
        assert_true(was_sent(s, "{'path':'/data/key','hidden':true}"));
}

static void put_binding(struct scene *s, const char *cluster, const char *snapshot)
{
        put(s, &cluster_resource_binding_kind,
            "{'metadata':{'name':'web-%s','uid':'u-%s'},'spec':{'state':'Bound','resourceSnapshotName':'%s',"
            "'targetCluster':'%s'}}",
            cluster, cluster, snapshot, cluster);
}

static void put_snapshot(struct scene *s, const char *index, const char *value, const char *secret)
{
        put(s, &cluster_resource_snapshot_kind,
            "{'metadata':{'name':'web-%s-snapshot','uid':'s-%s','labels':{'kubernetes-fleet.io/"
            "parent-CRP':'web',"
            "'kubernetes-fleet.io/"
            "resource-index':'%s'}},'spec':{'selectedResources':[{'apiVersion':'v1','kind':"
            "'ConfigMap','metadata':{'name':'c','namespace':'web'},'data':{'a':'%s'}},{'apiVersion':'v1','"
            "kind':"
            "'Secret','metadata':{'name':'s','namespace':'web'},'data':{'key':'%s'}}]}}",
            index, index, index, value, secret);
}

static void set_comparison(struct scene *s)
{
        put_run(s, "", WAITING);
        put(s, &cluster_approval_request_kind, REQUEST("r-after-canary", "afterStage", "canary", ""));
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
        assert_string_equal(s->selector,
                            "kubernetes-fleet.io/parent-CRP=web,kubernetes-fleet.io/resource-index in (0,1)");
        plan = row(s, "plans", "stage/2");
        assert_true(doc_get_bool(plan, "compared", false));
        assert_string_equal(string(plan, "stage"), "production");
        assert_string_equal(string(plan, "request"), "r-after-canary");
        assert_string_equal(string(plan, "hash"), "");
        assert_true(was_sent(s, "'clusters':['d','e']"));
        assert_true(was_sent(s, "'path':'/data/a','from':'\\'one\\'','to':'\\'two\\''") ||
                    was_sent(s, "/data/a"));
        assert_false(was_sent(s, "aHVz"));
        assert_string_equal(string(gate(s, "1", "after", 1), "plan"), "stage/2");
        assert_string_equal(string(gate(s, "1", "after", 1), "hash"), "");
        assert_string_equal(string(row(s, "stages", "2"), "plan"), "stage/2");
        assert_int_equal(n_rows(s, "plans"), 1);
        put_binding(s, "a", "web-1-snapshot"); /* it is of no concern to what lies ahead */
        look(s);
        assert_int_equal(n_rows(s, "plans"), 0);
        put_binding(s, "e", "web-1-snapshot");
        look(s);
        assert_int_equal(n_rows(s, "plans"), 1);
        assert_int_equal(json_array_size(json_object_get(row(s, "plans", "stage/2"), "groups")), 2);
}

static void what_cannot_be_compared_is_said_beside_the_board(void **state)
{
        struct scene *s = *state;

        set_comparison(s);
        s->refused = &cluster_resource_snapshot_kind;
        look(s);
        assert_string_equal(
                string(head(s), "planNote"),
                "clusterresourcesnapshots of the placement cannot be read: you may not list them");
        assert_int_equal(n_rows(s, "plans"), 0);
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
        assert_int_equal(n_rows(s, "plans"), 0);
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
        assert_int_equal(n_rows(s, "clusters"), 1000);
        assert_int_equal(json_array_size(json_object_get(row(s, "plans", "stage/0"), "groups")), 1);
        look(s);
        assert_null(json_object_get(s->sent, "rows"));
}

static void a_look_survives_every_failing_allocation(void **state)
{
        struct scene *s = *state;
        int code = ERR_NO_MEMORY;

        set_comparison(s);
        put(s, &cluster_approval_request_kind, REQUEST("r-before-staging", "beforeStage", "staging", PLAN));
        for (uint64_t n = 1; code < 0 && n < 20000; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_JSON json_t *args = json_pack("{s:s, s:s}", "kind", "csur", "name", "r");
                struct page_needs needs = { 0 };
                struct page_look l = { .arena = &arena, .args = args, .now_ms = NOW_MS, .needs = &needs };

                for (int pass = 0; pass < 4; pass++) {
                        struct page_needs next = { 0 };

                        assert_int_equal(run_page_view.need(&l, &next, NULL), 0);
                        for (size_t i = 0; i < next.n; i++)
                                fill(s, &next.at[i]);
                        needs = next;
                }
                page_doc_begin(s->doc);
                mem_fail_at(n, false);
                code = run_page_view.look(&l, s->doc, &s->err);
                mem_fail_at(0, false);
                assert_true(code == 0 || code == ERR_NO_MEMORY);
        }
        assert_int_equal(code, 0);
        assert_int_equal(page_doc_end(s->doc), 0);
        take(s);
        assert_int_equal(n_rows(s, "clusters"), 5);
        assert_int_equal(n_rows(s, "plans"), 2);
        assert_int_equal(n_rows(s, "stages"), 3);
}

static void what_to_read_survives_every_failing_allocation(void **state)
{
        struct scene *s = *state;
        int code = ERR_NO_MEMORY;

        set_comparison(s);
        for (uint64_t n = 1; code < 0 && n < 2000; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_JSON json_t *args = json_pack("{s:s, s:s}", "kind", "csur", "name", "r");
                struct page_needs needs = { 0 }, next = { 0 };
                struct page_look l = { .arena = &arena, .args = args, .now_ms = NOW_MS, .needs = &needs };

                page_needs_add(&needs,
                               (struct fetch){ .kind = &cluster_staged_update_run_kind, .name = "r" });
                page_needs_add(&needs, (struct fetch){ .kind = &cluster_approval_request_kind });
                page_needs_add(&needs, (struct fetch){ .kind = &cluster_resource_binding_kind });
                for (size_t i = 0; i < needs.n; i++)
                        fill(s, &needs.at[i]);
                mem_fail_at(n, false);
                code = run_page_view.need(&l, &next, &s->err);
                mem_fail_at(0, false);
                assert_true(code == 0 || code == ERR_NO_MEMORY);
                if (code == 0)
                        assert_int_equal(next.n, 4);
        }
        assert_int_equal(code, 0);
}

#define VIEW_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
        const struct CMUnitTest tests[] = {
                VIEW_TEST(a_run_is_a_head_stages_and_clusters),
                VIEW_TEST(gates_stand_on_their_side_with_what_they_wait_for),
                VIEW_TEST(a_gate_that_cannot_be_approved_says_why),
                VIEW_TEST(what_can_be_done_now_is_told_with_why_not),
                VIEW_TEST(clusters_that_move_are_sent_again_and_no_others),
                VIEW_TEST(a_cluster_that_is_listed_twice_has_two_rows),
                VIEW_TEST(markup_and_long_messages_are_text),
                VIEW_TEST(a_run_of_a_namespace_is_read_there),
                VIEW_TEST(arguments_that_name_no_run_are_refused),
                VIEW_TEST(a_run_that_goes_and_one_that_may_not_be_read_are_told_apart),
                VIEW_TEST(the_plan_of_a_request_is_a_row_with_its_hash),
                VIEW_TEST(of_secrets_no_value_is_sent_even_where_a_plan_has_one),
                VIEW_TEST(where_no_request_shows_a_plan_what_lies_ahead_is_compared),
                VIEW_TEST(what_cannot_be_compared_is_said_beside_the_board),
                VIEW_TEST(a_plan_that_the_strategy_asks_for_is_waited_for),
                VIEW_TEST(what_is_under_way_is_not_compared),
                VIEW_TEST(a_thousand_clusters_are_sent_once),
                VIEW_TEST(a_look_survives_every_failing_allocation),
                VIEW_TEST(what_to_read_survives_every_failing_allocation),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
