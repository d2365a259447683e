/* The rules about update runs, each broken by what it forbids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

#define COND(type, status) "{'type':'" type "','status':'" status "'}"
#define CLUSTER(name, ...) "{'clusterName':'" name "','conditions':[" __VA_ARGS__ "]}"
#define STARTED COND("Started", "True")
#define DONE STARTED "," COND("Succeeded", "True")
#define STAGE(name, clusters, more, ...)                                                                     \
        "{'stageName':'" name "','clusters':[" clusters "]" more ",'conditions':[" __VA_ARGS__ "]}"
#define BEGUN COND("Progressing", "True")
#define ENDED COND("Progressing", "False") "," COND("Succeeded", "True")
#define INITIALIZED COND("Initialized", "True")
#define TASKS(list, ...)                                                                                     \
        ",'" list "':[{'type':'Approval','approvalRequestName':'r-task','conditions':[" __VA_ARGS__ "]}]"
#define APPROVED COND("ApprovalRequestApproved", "True")

/* Run "r" of placement app-0 to its snapshot 4, with the strategy's stages and their status. */
#define RUN(config, stages, deletion, ...)                                                                   \
        "{'metadata':{'name':'r','uid':'u'},'spec':{'placementName':'app-0','state':'Run',"                  \
        "'resourceSnapshotIndex':'4'},'status':{'resourceSnapshotIndexUsed':'4',"                            \
        "'stagedUpdateStrategySnapshot':{'stages':[" config "]},'stagesStatus':[" stages                     \
        "],'deletionStageStatus':{'stageName':'d','clusters':[],'conditions':[" deletion                     \
        "]},'conditions':[" __VA_ARGS__ "]}}"
#define PLAIN "{'name':'one'},{'name':'two'}"
#define TWO(a, b) RUN(PLAIN, a "," b, "", INITIALIZED)
#define ONE_IDLE STAGE("one", CLUSTER("member-1", "") "," CLUSTER("member-2", ""), "", "")
#define TWO_IDLE STAGE("two", CLUSTER("member-3", ""), "", "")
#define ONE_BEGUN STAGE("one", CLUSTER("member-1", STARTED) "," CLUSTER("member-2", ""), "", BEGUN)
#define ONE_ENDED STAGE("one", CLUSTER("member-1", DONE) "," CLUSTER("member-2", DONE), "", ENDED)

static void run(struct watch *w, const char *text)
{
        put(w, "hub-agent", "hub", RES_RUNS, text);
}

/* ---- forward ---- */

static void what_a_run_said_it_does_not_take_back(void **state)
{
        static const struct {
                const char *after, *words;
        } cases[] = {
                { TWO(ONE_IDLE, TWO_IDLE), "r takes back what it said: Started" },
                { TWO(STAGE("one", CLUSTER("member-1", STARTED), "", BEGUN), TWO_IDLE), "clusters" },
                { TWO(STAGE("one", CLUSTER("member-1", STARTED) "," CLUSTER("member-4", ""), "", BEGUN),
                      TWO_IDLE),
                  "clusterName" },
                { RUN("{'name':'one'}", ONE_BEGUN "," TWO_IDLE, "", INITIALIZED),
                  "stagedUpdateStrategySnapshot" },
                { TWO(ONE_ENDED, TWO_IDLE), "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;

                open_watch(&w, &rule_run_forward);
                run(&w, TWO(ONE_BEGUN, TWO_IDLE));
                run(&w, cases[i].after);
                BROKEN(&w, cases[i].words);
                if (!*cases[i].words)
                        FINE(&w);
                close_watch(&w);
        }
}

static void a_run_that_ended_says_nothing_more(void **state)
{
        struct watch w;

        open_watch(&w, &rule_run_forward);
        run(&w, RUN(PLAIN, ONE_ENDED, ENDED, INITIALIZED "," COND("Succeeded", "False")));
        run(&w, RUN(PLAIN, ONE_ENDED, ENDED, INITIALIZED "," COND("Succeeded", "True")));
        BROKEN(&w, "run r had ended, and hub-agent wrote its status");
        close_watch(&w);
}

/* ---- stages ---- */

static void a_stage_begins_when_the_one_before_has_ended(void **state)
{
        struct watch w;

        open_watch(&w, &rule_run_stages_in_order);
        run(&w, TWO(ONE_IDLE, TWO_IDLE));
        run(&w, TWO(ONE_BEGUN, TWO_IDLE));
        run(&w, TWO(ONE_ENDED, TWO_IDLE));
        FINE(&w);
        run(&w, TWO(ONE_BEGUN, STAGE("two", CLUSTER("member-3", STARTED), "", BEGUN)));
        BROKEN(&w, "run r has begun 2 stages of 3, done are 0");
        close_watch(&w);
}

static void a_stage_ends_with_its_clusters(void **state)
{
        struct watch w;

        open_watch(&w, &rule_run_stages_in_order);
        run(&w, TWO(ONE_BEGUN, TWO_IDLE));
        run(&w, TWO(STAGE("one", CLUSTER("member-1", DONE) "," CLUSTER("member-2", STARTED), "", ENDED),
                    TWO_IDLE));
        BROKEN(&w, "run r ended stage 0 before cluster member-2");
        close_watch(&w);
}

static void nothing_is_done_without_approval(void **state)
{
#define BEFORE(clusters, ...)                                                                                \
        RUN(PLAIN, STAGE("one", clusters, TASKS("beforeStageTaskStatus", __VA_ARGS__), ""), "", INITIALIZED)
#define REQUEST(...) "{'metadata':{'name':'r-task','generation':1},'status':{'conditions':[" __VA_ARGS__ "]}}"
#define AT_1(type) "{'type':'" type "','status':'True','observedGeneration':1}"
        struct watch w;

        open_watch(&w, &rule_run_stages_in_order);
        run(&w, BEFORE(CLUSTER("member-1", ""), ""));
        put(&w, "hub-agent", "hub", RES_APPROVALS, REQUEST(""));
        put(&w, "player", "hub", RES_APPROVALS, REQUEST(AT_1("Approved")));
        put(&w, "hub-agent", "hub", RES_APPROVALS, REQUEST(AT_1("Approved") "," AT_1("ApprovalAccepted")));
        run(&w, BEFORE(CLUSTER("member-1", STARTED), APPROVED));
        FINE(&w);
        run(&w, BEFORE(CLUSTER("member-1", STARTED), ""));
        BROKEN(&w, "run r began stage 0 before its Approval");
        close_watch(&w);

        open_watch(&w, &rule_run_stages_in_order);
        run(&w, BEFORE(CLUSTER("member-1", ""), ""));
        run(&w, BEFORE(CLUSTER("member-1", ""), APPROVED));
        BROKEN(&w, "run r takes /r-task for approved, it was not");
        close_watch(&w);

        open_watch(&w, &rule_run_stages_in_order);
        put(&w, "hub-agent", "hub", RES_APPROVALS, REQUEST(AT_1("ApprovalAccepted")));
        BROKEN(&w, "hub-agent accepted r-task, which nobody approved");
        close_watch(&w);
}

/* A second and a half after 1970 is when it began to stand still. */
static void a_wait_is_as_long_as_it_should_be(void **state)
{
#define WAITS "{'name':'one','afterStageTasks':[{'type':'TimedWait','waitTime':'10s'}]}"
#define STILL "{'type':'Progressing','status':'False','lastTransitionTime':'1970-01-01T00:16:40Z'}"
#define WAITING(task)                                                                                        \
        RUN(WAITS,                                                                                           \
            STAGE("one", CLUSTER("member-1", DONE),                                                          \
                  ",'afterStageTaskStatus':[{'type':'TimedWait','conditions':[" task "]}]", STILL),          \
            "", INITIALIZED)
        static const struct {
                int64_t later_ms, shift_ms;
                bool fine;
        } cases[] = {
                { 10000, 0, true },       { 5000, 0, false },
                { 5000, 5000, true },     /* the time of day was set on */
                { 9000, -100000, false }, /* back */
                { 10000, -100000, true },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;

                open_watch(&w, &rule_run_stages_in_order);
                run(&w, RUN(WAITS, STAGE("one", CLUSTER("member-1", STARTED), "", BEGUN), "", INITIALIZED));
                run(&w, WAITING(""));
                w.now += cases[i].later_ms;
                w.shift_ms = cases[i].shift_ms;
                run(&w, WAITING(COND("WaitTimeElapsed", "True")));
                if (cases[i].fine)
                        FINE(&w);
                else
                        BROKEN(&w, "run r did not wait as long after stage 0 as it should");
                close_watch(&w);
        }
}

static void a_run_is_of_no_policy_that_was_given_up_before_it_was_made(void **state)
{
#define FIXES(name)                                                                                          \
        "{'metadata':{'name':'app-0'},'spec':{'policy':{'placementType':'PickFixed','clusterNames':['" name  \
        "']}}}"
#define POLICY_OF(index, name)                                                                               \
        "{'metadata':{'name':'app-0-" index                                                                  \
        "'},'spec':{'policy':{'placementType':'PickFixed','clusterNames':['" name "']}}}"
#define OF_POLICY(index)                                                                                     \
        "{'metadata':{'name':'r','uid':'u'},'spec':{'placementName':'app-0'},'status':{"                     \
        "'policySnapshotIndexUsed':'" index "','conditions':[" INITIALIZED "]}}"
        static const struct {
                const char *begun;
                int64_t changed_after_ms; /* the run was made; < 0: before */
                int64_t waited_ms;
                bool fine;
        } cases[] = {
                { OF_POLICY("0"), -1, 10, false },   { OF_POLICY("1"), -1, 10, true },
                { OF_POLICY("0"), 0, 10, true },     { OF_POLICY("0"), 5, 10, true },
                { OF_POLICY("0"), -1, 20000, true }, /* it cannot be taken in */
                { OF_POLICY("7"), -1, 10, true },    /* somebody deleted it */
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;

                open_watch(&w, &rule_run_policy);
                put(&w, "hub-agent", "hub", RES_POLICIES, POLICY_OF("0", "member-1"));
                put(&w, "hub-agent", "hub", RES_POLICIES, POLICY_OF("1", "member-2"));
                put(&w, "player", "hub", RES_PLACEMENTS, FIXES("member-1"));
                if (cases[i].changed_after_ms >= 0)
                        put(&w, "player", "hub", RES_RUNS,
                            "{'metadata':{'name':'r','uid':'u'},'spec':{'placementName':'app-0'}}");
                w.now += cases[i].changed_after_ms < 0 ? 1000 : cases[i].changed_after_ms;
                put(&w, "player", "hub", RES_PLACEMENTS, FIXES("member-2"));
                w.now++;
                if (cases[i].changed_after_ms < 0)
                        put(&w, "player", "hub", RES_RUNS,
                            "{'metadata':{'name':'r','uid':'u'},'spec':{'placementName':'app-0'}}");
                w.now += cases[i].waited_ms;
                run(&w, cases[i].begun);
                if (cases[i].fine)
                        FINE(&w);
                else
                        BROKEN(&w, "run r is of policy app-0-0, which its placement had no more");
                close_watch(&w);
        }
}

static void a_run_takes_the_snapshot_it_was_asked_for(void **state)
{
#define SNAPSHOT_AT(index)                                                                                   \
        "{'metadata':{'name':'app-0-" index "-snapshot','labels':{'kubernetes-fleet.io/parent-CRP':"         \
        "'app-0','kubernetes-fleet.io/resource-index':'" index "'}}}"
#define TAKES(asked, took)                                                                                   \
        "{'metadata':{'name':'r','uid':'u'},'spec':{'placementName':'app-0','resourceSnapshotIndex':'" asked \
        "'},'status':{'resourceSnapshotIndexUsed':'" took "','conditions':[" INITIALIZED "]}}"
#define ASKS(asked)                                                                                          \
        "{'metadata':{'name':'r','uid':'u'},'spec':{'placementName':'app-0','resourceSnapshotIndex':'" asked \
        "'}}"
        static const struct {
                const char *made, *begun, *words;
        } cases[] = {
                { ASKS("4"), TAKES("4", "4"), "" },
                { ASKS("4"), TAKES("4", "5"), "run r took snapshot 5, asked for 4" },
                { ASKS(""), TAKES("", "5"), "" },
                { ASKS(""), TAKES("", "7"), "" },
                { ASKS(""), TAKES("", "4"), "run r took snapshot 4, asked for the newest of 5" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;

                open_watch(&w, &rule_run_stages_in_order);
                put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT_AT("4"));
                put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT_AT("5"));
                put(&w, "player", "hub", RES_RUNS, cases[i].made);
                run(&w, cases[i].begun);
                BROKEN(&w, cases[i].words);
                if (!*cases[i].words)
                        FINE(&w);
                close_watch(&w);
        }
}

static void a_placement_that_was_made_again_has_snapshots_of_its_own(void **state)
{
        struct watch w;

        open_watch(&w, &rule_run_stages_in_order);
        put(&w, "player", "hub", RES_PLACEMENTS, "{'metadata':{'name':'app-0'}}");
        put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT_AT("5"));
        put(&w, "player", "hub", RES_RUNS, ASKS(""));
        take(&w, "player", "hub", RES_PLACEMENTS, "", "app-0");
        run(&w, TAKES("", "0"));
        FINE(&w);
        close_watch(&w);
}

static void a_snapshot_that_a_user_deleted_is_not_counted_on_from(void **state)
{
        static const struct {
                const char *who, *gone, *took, *words;
        } cases[] = {
                { "player", "app-0-5-snapshot", "4", "" },
                { "player", "app-0-5-snapshot", "3", "took snapshot 3, asked for the newest of 4" },
                { "player", "app-0-4-snapshot", "4", "took snapshot 4, asked for the newest of 5" },
                { "hub-agent", "app-0-5-snapshot", "4", "took snapshot 4, asked for the newest of 5" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;
                char text[512];

                open_watch(&w, &rule_run_stages_in_order);
                put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT_AT("4"));
                put(&w, "hub-agent", "hub", RES_SNAPSHOTS, SNAPSHOT_AT("5"));
                put(&w, "player", "hub", RES_RUNS, ASKS(""));
                take(&w, cases[i].who, "hub", RES_SNAPSHOTS, "", cases[i].gone);
                snprintf(text, sizeof(text),
                         "{'metadata':{'name':'r','uid':'u'},'spec':{'placementName':'app-0'},'status':{"
                         "'resourceSnapshotIndexUsed':'%s','conditions':[" INITIALIZED "]}}",
                         cases[i].took);
                run(&w, text);
                BROKEN(&w, cases[i].words);
                if (!*cases[i].words)
                        FINE(&w);
                close_watch(&w);
        }
}

/* ---- clusters ---- */

static void bind(struct watch *w, const char *member, const char *snapshot, bool ready)
{
        char text[640];

        snprintf(text, sizeof(text),
                 "{'metadata':{'name':'b-%s','generation':1,'labels':{'kubernetes-fleet.io/"
                 "parent-CRP':'app-0'}},"
                 "'spec':{'state':'Bound','targetCluster':'%s','resourceSnapshotName':'%s'},'status':{"
                 "'conditions':[{'type':'Available','status':'%s','observedGeneration':1}]}}",
                 member, member, snapshot, ready ? "True" : "False");
        put(w, "hub-agent", "hub", RES_BINDINGS, text);
}

/* Whose it was. */
static void started(struct watch *w, const char *member)
{
        char text[768];

        snprintf(text, sizeof(text),
                 "{'metadata':{'name':'b-%s','generation':1," OF_APP "}},"
                 "'spec':{'state':'Bound','targetCluster':'%s','resourceSnapshotName':'app-0-4-snapshot'},"
                 "'status':{'conditions':[{'type':'RolloutStarted','status':'True','observedGeneration':1,"
                 "'message':'index: 4, updateRun: r'}]}}",
                 member, member);
        put(w, "hub-agent", "hub", RES_BINDINGS, text);
}

static void so_many_clusters_are_under_way_as_may_be(void **state)
{
        struct watch w;

        open_watch(&w, &rule_run_clusters);
        run(&w, TWO(ONE_BEGUN, TWO_IDLE));
        bind(&w, "member-1", "app-0-4-snapshot", false);
        bind(&w, "member-1", "app-0-4-snapshot", true);
        bind(&w, "member-1", "app-0-4-snapshot", false); /* by itself */
        bind(&w, "member-2", "app-0-4-snapshot", false);
        FINE(&w);
        close_watch(&w);

        open_watch(&w, &rule_run_clusters);
        run(&w, TWO(ONE_BEGUN, TWO_IDLE));
        bind(&w, "member-1", "app-0-4-snapshot", false);
        bind(&w, "member-2", "app-0-4-snapshot", false);
        started(&w, "member-1");
        FINE(&w);
        started(&w, "member-2");
        BROKEN(&w, "run r has 2 clusters of stage 0 under way, 1 may be");
        close_watch(&w);
}

static void who_is_picked_no_more_gives_its_place_where_the_run_keeps_its_clusters(void **state)
{
#define KEEPING(on_change)                                                                                   \
        "{'metadata':{'name':'r','uid':'u'},'spec':{'placementName':'app-0','state':'Run',"                  \
        "'resourceSnapshotIndex':'4'},'status':{'resourceSnapshotIndexUsed':'4',"                            \
        "'stagedUpdateStrategySnapshot':{" on_change "'stages':[{'name':'one'}]},'stagesStatus':[" ONE_BEGUN \
        "],'conditions':[" INITIALIZED "]}}"
        static const struct {
                const char *run, *words;
        } cases[] = {
                { KEEPING("'onClusterChange':'Continue',"), "" },
                { KEEPING("'onClusterChange':'Abort',"), "run r has 2 clusters of stage 0 under way" },
                { KEEPING(""), "run r has 2 clusters of stage 0 under way" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct watch w;

                open_watch(&w, &rule_run_clusters);
                run(&w, cases[i].run);
                bind(&w, "member-1", "app-0-4-snapshot", false);
                started(&w, "member-1");
                put(&w, "hub-agent", "hub", RES_BINDINGS,
                    "{'metadata':{'name':'b-member-1','generation':2," OF_APP "}},'spec':{'state':"
                    "'Unscheduled','targetCluster':'member-1','resourceSnapshotName':'app-0-4-snapshot'}}");
                bind(&w, "member-2", "app-0-4-snapshot", false);
                started(&w, "member-2");
                BROKEN(&w, cases[i].words);
                if (!*cases[i].words)
                        FINE(&w);
                close_watch(&w);
        }
}

static void a_cluster_is_sent_when_its_stage_is_on(void **state)
{
        struct watch w;

        open_watch(&w, &rule_run_clusters);
        run(&w, TWO(ONE_ENDED, TWO_IDLE));
        bind(&w, "member-3", "app-0-4-snapshot", false);
        FINE(&w);
        close_watch(&w);

        open_watch(&w, &rule_run_clusters);
        run(&w, TWO(ONE_BEGUN, TWO_IDLE));
        bind(&w, "member-3", "app-0-4-snapshot", false);
        FINE(&w); /* it may have been somebody else */
        started(&w, "member-3");
        BROKEN(&w, "run r set member-3 going of stage 1, stage 0 is on");
        close_watch(&w);

        open_watch(&w, &rule_run_clusters);
        run(&w, BEFORE(CLUSTER("member-1", ""), ""));
        put(&w, "hub-agent", "hub", RES_APPROVALS, REQUEST(AT_1("Approved")));
        bind(&w, "member-1", "app-0-4-snapshot", false);
        started(&w, "member-1");
        BROKEN(&w, "run r set member-1 going, and stage 0 is not approved");
        close_watch(&w);
}

static void open_external(struct watch *w)
{
        open_watch(w, &rule_external);
        put(w, "player", "hub", RES_PLACEMENTS,
            "{'metadata':{'name':'app-0','generation':1},'spec':{'strategy':{'type':'External'}},'status':{"
            "'conditions':[{'type':'ClusterResourcePlacementScheduled','observedGeneration':1}]}}");
        w->now += RULE_LAG_MS;
}

static void who_brings_a_binding_to_a_snapshot_is_a_run_of_it(void **state)
{
        struct watch w;

        open_external(&w);
        run(&w, TWO(ONE_BEGUN, TWO_IDLE));
        bind(&w, "member-1", "app-0-4-snapshot", false);
        FINE(&w);
        bind(&w, "member-2", "app-0-3-snapshot", false);
        BROKEN(&w, "placement app-0 is External, and hub-agent wrote");
        close_watch(&w);

        open_external(&w);
        run(&w, TWO(ONE_BEGUN, TWO_IDLE));
        bind(&w, "member-4", "app-0-4-snapshot", false); /* in none of its stages */
        BROKEN(&w, "placement app-0 is External, and hub-agent wrote");
        close_watch(&w);

        open_external(&w);
        run(&w, "{'metadata':{'name':'r','uid':'u'},'spec':{'placementName':'app-0','state':'Run'}}");
        bind(&w, "member-1", "app-0-4-snapshot", false); /* it does not say yet what it will do */
        BROKEN(&w, "placement app-0 is External, and hub-agent wrote");
        close_watch(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_a_run_said_it_does_not_take_back),
                cmocka_unit_test(a_run_that_ended_says_nothing_more),
                cmocka_unit_test(a_stage_begins_when_the_one_before_has_ended),
                cmocka_unit_test(a_stage_ends_with_its_clusters),
                cmocka_unit_test(nothing_is_done_without_approval),
                cmocka_unit_test(a_wait_is_as_long_as_it_should_be),
                cmocka_unit_test(a_run_takes_the_snapshot_it_was_asked_for),
                cmocka_unit_test(a_run_is_of_no_policy_that_was_given_up_before_it_was_made),
                cmocka_unit_test(a_placement_that_was_made_again_has_snapshots_of_its_own),
                cmocka_unit_test(a_snapshot_that_a_user_deleted_is_not_counted_on_from),
                cmocka_unit_test(so_many_clusters_are_under_way_as_may_be),
                cmocka_unit_test(who_is_picked_no_more_gives_its_place_where_the_run_keeps_its_clusters),
                cmocka_unit_test(a_cluster_is_sent_when_its_stage_is_on),
                cmocka_unit_test(who_brings_a_binding_to_a_snapshot_is_a_run_of_it),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
