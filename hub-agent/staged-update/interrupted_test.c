/* What may happen to an update run while it lasts: crashes, other runs, caches that lag, what it needs goes.
 */
#include "hub-agent/staged-update/update_run_agent_test.h"

struct loss {
        const char *resource; /* of which a status cannot be written; NULL = none */
        int after;            /* so many that can */
};

static int lose_status(void *ctx, const struct http_request *rq)
{
        struct loss *l = ctx;

        if (!l->resource || !text_equal(rq->method, "PATCH") || !strstr(rq->path, l->resource) ||
            !strstr(rq->path, "/status"))
                return 0;
        return l->after-- > 0 ? 0 : ERR_RETRY;
}

/* A run under way, of an agent whose requests have these faults; the transport is the caller's to free. */
static void begin_with_loss(struct rig *r, struct fleet *f, const struct loopback_faults *faults)
{
        begin(r, f);
        stop(f);
        f->world.transport = loopback_transport(r->net, &f->world, faults);
        start_again(r, f);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        rig_settle(r);
}

/* The agent ends after it wrote bindings and before it wrote down that it had begun. */
static void crashes(struct rig *r)
{
        struct loss lost = { "updateruns", .after = 1 };
        struct loopback_faults faults = { .ctx = &lost, .delay = at_once, .fate = lose_status };
        struct fleet f;

        begin_with_loss(r, &f, &faults);
        assert_run(r, "first", "Progressing", "absent");
        assert_string_equal(doc_get_string(binding_on(r, "member-1"), "spec.state"), "Bound");
        stop(&f);
        lost.resource = NULL;
        start_again(r, &f);
        settle_often(&f, 8);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_int_equal(doc_get_int(binding_on(r, "member-1"), "metadata.generation", 0), 2);
        stop(&f);
        http_transport_free(f.world.transport);
}
static void who_ended_between_its_writes_finds_what_it_did(void **state)
{
        rig_run(crashes);
}

/* Whoever leads after a crash could not tell what it had begun, and the run may be deleted by then. */
static void is_not_heard(struct rig *r)
{
        struct loss lost = { "updateruns" };
        struct loopback_faults faults = { .ctx = &lost, .delay = at_once, .fate = lose_status };
        struct fleet f;

        begin_with_loss(r, &f, &faults);
        assert_run(r, "first", "Initialized", "absent");
        assert_string_equal(doc_get_string(binding_on(r, "member-1"), "spec.state"), "Scheduled");
        stop(&f);
        http_transport_free(f.world.transport);
}
static void a_run_that_cannot_say_what_it_will_do_begins_nothing(void **state)
{
        rig_run(is_not_heard);
}

/* The agent ends after it wrote a binding and before it wrote RolloutStarted; meanwhile the run comes to its
 * end. */
static void crashes_before(struct rig *r, struct fleet *f, void (*then)(struct rig *r))
{
        struct loss lost = { "resourcebindings" };
        struct loopback_faults faults = { .ctx = &lost, .delay = at_once, .fate = lose_status };

        begin(r, f);
        stop(f);
        f->world.transport = loopback_transport(r->net, &f->world, &faults);
        start_again(r, f);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        rig_settle(r);
        assert_string_equal(doc_get_string(binding_on(r, "member-1"), "spec.state"), "Bound");
        assert_null(condition_at(binding_on(r, "member-1"), "RolloutStarted"));
        stop(f);
        then(r);
        lost.resource = NULL;
        start_again(r, f);
        assert_string_equal(
                doc_get_string(condition_at(binding_on(r, "member-1"), "RolloutStarted"), "message"),
                "Detected the new changes on the resources and started the rollout process, "
                "resourceSnapshotIndex: 0, updateRun: first");
        stop(f);
        http_transport_free(f->world.transport);
        assert_int_equal(count(r, FLEET "works"), 1);
}
static void delete_run(struct rig *r)
{
        assert_int_equal(rig_delete(r, RUNS "/first"), 200);
}
static void relabel_member(struct rig *r)
{
        assert_int_equal(rig_merge(r, CLUSTERS "memberclusters/member-1",
                                   "{\"metadata\":{\"labels\":{\"stage\":\"prod\"}}}"),
                         200);
}
static void crashes_and_goes(struct rig *r)
{
        struct fleet f;

        crashes_before(r, &f, delete_run);
        assert_int_equal(rig_get(r, RUNS "/first"), 404);
}
static void crashes_and_fails(struct rig *r)
{
        struct fleet f;

        crashes_before(r, &f, relabel_member);
        assert_run(r, "first", "Succeeded", "False UpdateRunFailed");
}
static void what_a_run_began_is_announced_before_it_is_deleted(void **state)
{
        rig_run(crashes_and_goes);
}
static void what_a_run_began_is_announced_before_it_fails(void **state)
{
        rig_run(crashes_and_fails);
}

static int lose_both(void *ctx, const struct http_request *rq)
{
        struct loss *l = ctx;

        return l->resource && strstr(rq->path, "resourcebindings/") && strstr(rq->path, "/status")
                       ? ERR_RETRY
                       : lose_status(ctx, rq);
}

/* Neither the run nor the binding says that the cluster was begun, and the user stops the run. */
static void crashes_unheard(struct rig *r)
{
        struct loss lost = { "updateruns", .after = 1 };
        struct loopback_faults faults = { .ctx = &lost, .delay = at_once, .fate = lose_both };
        struct fleet f;

        begin_with_loss(r, &f, &faults);
        assert_string_equal(doc_get_string(binding_on(r, "member-1"), "spec.state"), "Bound");
        assert_null(condition_at(binding_on(r, "member-1"), "RolloutStarted"));
        stop(&f);
        lost.resource = NULL;
        assert_int_equal(rig_merge(r, RUNS "/first", "{\"spec\":{\"state\":\"Stop\"}}"), 200);
        start_again(r, &f);
        rig_settle(r);
        assert_string_equal(
                doc_get_string(condition_at(binding_on(r, "member-1"), "RolloutStarted"), "status"), "True");
        assert_run(r, "first", "Progressing", "Unknown UpdateRunStopping");
        settle_often(&f, 8);
        assert_run(r, "first", "Progressing", "False UpdateRunStopped");
        assert_string_equal(doc_get_string(binding_on(r, "member-2"), "spec.state"), "Scheduled");
        stop(&f);
        http_transport_free(f.world.transport);
}
static void what_a_run_began_is_announced_before_it_has_stopped(void **state)
{
        rig_run(crashes_unheard);
}

/* Of two runs with one snapshot one is stopped, and the other one's binding waits to be announced. */
static void stands_beside(struct rig *r)
{
        struct loss lost = { "resourcebindings" };
        struct loopback_faults faults = { .ctx = &lost, .delay = at_once, .fate = lose_status };
        struct fleet f;

        begin(r, &f);
        stop(&f);
        f.world.transport = loopback_transport(r->net, &f.world, &faults);
        start_again(r, &f);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", ",\"state\":\"Stop\"");
        rig_settle(r);
        assert_run(r, "first", "Progressing", "False UpdateRunStopped");
        post_run(r, "second", "0", "");
        rig_settle(r);
        assert_string_equal(doc_get_string(binding_on(r, "member-1"), "spec.state"), "Bound");
        assert_null(condition_at(binding_on(r, "member-1"), "RolloutStarted"));
        assert_run(r, "second", "Progressing", "True UpdateRunProgressing");
        assert_run(r, "first", "Progressing", "False UpdateRunStopped");
        lost.resource = NULL;
        settle_often(&f, 8);
        assert_run(r, "second", "Succeeded", "True UpdateRunSucceeded");
        assert_run(r, "first", "Progressing", "False UpdateRunStopped");
        assert_null(strstr(r->text, "ClusterUpdatingStarted"));
        stop(&f);
        http_transport_free(f.world.transport);
}
static void a_run_that_is_stopped_says_so_while_another_one_begins(void **state)
{
        rig_run(stands_beside);
}

/* spec/staged-update-and-eviction.md checklist 60 */
static void overtakes(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        change_app(r, "c");
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        rig_settle(r);
        rig_settle(r); /* member-1 is under way, and does not answer */
        post_run(r, "second", "1", "");
        settle_often(&f, 8);
        assert_run(r, "first", "Succeeded", "False UpdateRunFailed");
        assert_non_null(strstr(r->text, "see if there is a concurrent updateRun"));
        assert_run(r, "second", "Succeeded", "True UpdateRunSucceeded");
        assert_string_equal(doc_get_string(binding_on(r, "member-1"), "spec.resourceSnapshotName"),
                            "web-1-snapshot");
        stop(&f);
}
static void the_later_of_two_runs_wins_and_the_other_says_so(void **state)
{
        rig_run(overtakes);
}

/* Somebody takes the placement off a cluster that the run is updating, and the scheduler picks it again. */
static void evicts(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        post(r, STRATEGIES, "ClusterStagedUpdateStrategy", "slow",
             "\"onClusterChange\":\"Continue\",\"stages\":[" STAGE("canary", "") "," STAGE("prod", "") "]");
        post_run(r, "first", "0", "");
        rig_settle(r);
        rig_settle(r); /* member-1 is under way, and does not answer */
        post(r, FLEET "clusterresourceplacementevictions", "ClusterResourcePlacementEviction", "off",
             "\"placementName\":\"web\",\"clusterName\":\"member-1\"");
        rig_settle(r);
        let_go(r, "member-1");
        settle_often(&f, 8);
        assert_string_equal(doc_get_string(binding_on(r, "member-1"), "spec.state"), "Scheduled");
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_non_null(strstr(r->text, "cluster `member-1` lost what was placed on it"));
        assert_string_equal(doc_get_string(binding_on(r, "member-2"), "spec.resourceSnapshotName"),
                            "web-0-snapshot");
        stop(&f);
}
static void an_eviction_does_not_end_a_run_that_keeps_its_clusters(void **state)
{
        rig_run(evicts);
}

static void asks_first(struct rig *r)
{
        struct line line;
        char path[256];
        struct fleet f;

        begin(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        rig_settle(r);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        rig_settle(r);
        snprintf(path, sizeof(path), BINDINGS "/%s",
                 doc_get_string(binding_on(r, "member-1"), "metadata.name"));
        line.path = path;
        line.fate = 503;
        assert_int_equal(rig_merge(r, path, "{\"spec\":{\"resourceSnapshotName\":\"web-9-snapshot\"}}"), 200);
        rig_settle(r);
        assert_run(r, "first", "Succeeded", "absent");
        line.path = NULL;
        fiber_sleep(r->loop, 30000);
        assert_run(r, "first", "Succeeded", "False UpdateRunFailed");
        stop(&f);
        http_transport_free(f.world.transport);
}
static void no_run_ends_on_the_word_of_a_cache_alone(void **state)
{
        rig_run(asks_first);
}

/* One file has both, and the caches hear of them in any order. */
static void comes_together(struct rig *r)
{
        struct line line;
        struct fleet f;

        begin(r, &f);
        line_lay(&f, &line);
        line.lagging = "clusterstagedupdatestrategies";
        start_again(r, &f);
        rig_settle(r);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        rig_settle(r);
        assert_run(r, "first", "Initialized", "True UpdateRunInitializedSuccessfully");
        stop(&f);
        http_transport_free(f.world.transport);
}
static void a_strategy_that_the_cache_lacks_is_asked_for(void **state)
{
        rig_run(comes_together);
}

static void leaves_hand(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        rig_settle(r);
        fiber_sleep(r->loop, 301000);
        assert_run(r, "first", "Progressing", "False UpdateRunStuck");
        settle_often(&f, 6);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        stop(&f);
}
/* spec/staged-update-and-eviction.md checklist 29 */
static void a_cluster_that_does_not_answer_makes_a_run_stuck_until_it_does(void **state)
{
        rig_run(leaves_hand);
}

static void loses_placement(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        rig_settle(r);
        assert_int_equal(rig_delete(r, FLEET "clusterresourceplacements/web"), 200);
        rig_settle(r);
        assert_run(r, "first", "Succeeded", "False UpdateRunFailed");
        assert_non_null(strstr(r->text,
                               "failed to process the request due to a client error: parent placement "
                               "not found"));
        stop(&f);
}
static void a_run_ends_with_its_placement(void **state)
{
        rig_run(loses_placement);
}

#define SLOWLY 6 /* clusters */

static int64_t differently_slow(void *ctx, const struct http_request *rq, bool answer)
{
        int *n = ctx;

        return !answer && strstr(rq->path, "resourcebindings/") ? ++*n % 4 * 700 : 0;
}

/* A pass takes its time for writing, and what it saw before is old when it is done. */
static void is_slow(struct rig *r)
{
        int n = 0;
        struct loopback_faults faults = { .ctx = &n, .delay = differently_slow };
        struct fleet f;

        start(r, &f);
        stop(&f);
        f.world.transport = loopback_transport(r->net, &f.world, &faults);
        start_again(r, &f);
        for (int i = 0; i < SLOWLY; i++)
                add_member(&f, (char[]){ 'm', '0' + (char)i, '\0' }, "\"stage\":\"canary\"");
        add_app(r);
        place(r, ",\"strategy\":{\"type\":\"External\"}");
        rig_settle(r);
        post_strategy(r, STAGE("canary", ",\"maxConcurrency\":3"));
        post_run(r, "first", "0", "");
        for (int i = 0; i < 60; i++) {
                fiber_sleep(r->loop, 500);
                answer_works(&f);
        }
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        for (int i = 0; i < SLOWLY; i++) {
                const json_t *b = binding_on(r, (char[]){ 'm', '0' + (char)i, '\0' });

                assert_true(strcmp(doc_get_string(condition_at(b, "RolloutStarted"), "lastTransitionTime"),
                                   doc_get_string(condition_at(b, "Available"), "lastTransitionTime")) <= 0);
        }
        stop(&f);
        http_transport_free(f.world.transport);
}
static void what_was_announced_is_not_announced_again(void **state)
{
        rig_run(is_slow);
}

static void loses_snapshot(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        rig_settle(r);
        assert_int_equal(rig_delete(r, FLEET "clusterresourcesnapshots/web-0-snapshot"), 200);
        settle_often(&f, 4);
        assert_run(r, "first", "Succeeded", "False UpdateRunFailed");
        assert_non_null(strstr(r->text, "no resourceSnapshots with index `0` found for placement `/web`"));
        assert_string_equal(doc_get_string(binding_on(r, "member-2"), "spec.state"), "Scheduled");
        stop(&f);
}
static void a_run_ends_with_its_snapshot(void **state)
{
        rig_run(loses_snapshot);
}

/* That it cannot be read is no proof of its absence, and a run fails for good. */
static void is_not_answered(struct rig *r, const char *resource)
{
        struct line line;
        struct fleet f;

        begin(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        rig_settle(r);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        line.path = resource;
        line.fate = 503;
        post_run(r, "first", "0", "");
        rig_settle(r);
        assert_run(r, "first", "Initialized", "absent");
        line.path = NULL;
        fiber_sleep(r->loop, 30000);
        assert_run(r, "first", "Initialized", "True UpdateRunInitializedSuccessfully");
        stop(&f);
        http_transport_free(f.world.transport);
}
static void hides_strategy(struct rig *r)
{
        is_not_answered(r, "clusterstagedupdatestrategies/slow");
}
static void hides_placement(struct rig *r)
{
        is_not_answered(r, "clusterresourceplacements/web");
}
static void what_cannot_be_read_is_not_taken_for_absent(void **state)
{
        rig_run(hides_strategy);
        rig_run(hides_placement);
}

/* Its beginning lies ahead of our clock, as after that was set back, or by somebody's hand. */
static void is_ahead(struct rig *r)
{
        struct fleet f;
        json_t *stages, *patch;
        char *text;

        begin(r, &f);
        post_strategy(r,
                      STAGE("canary", ",\"afterStageTasks\":[{\"type\":\"TimedWait\",\"waitTime\":\"2m\"}]"));
        merge(r, CLUSTERS "memberclusters/member-2", "{\"metadata\":{\"labels\":{\"stage\":\"canary\"}}}");
        merge(r, CLUSTERS "memberclusters/member-3", "{\"metadata\":{\"labels\":{\"stage\":\"canary\"}}}");
        rig_settle(r);
        post_run(r, "first", "0", "");
        settle_often(&f, 8);
        assert_run(r, "first", "Progressing", "False UpdateRunWaiting");
        stages = json_incref(doc_get_array(r->answer, "status.stagesStatus"));
        for (size_t i = 0; i < json_array_size(doc_get_array(json_array_get(stages, 0), "conditions")); i++) {
                json_t *c = json_array_get(doc_get_array(json_array_get(stages, 0), "conditions"), i);

                if (text_equal(doc_get_string(c, "type"), "Progressing"))
                        doc_set_string(c, "lastTransitionTime", "2100-01-01T00:00:00Z");
        }
        patch = json_pack("{s:{s:o}}", "status", "stagesStatus", stages);
        text = json_dumps(patch, JSON_COMPACT);
        merge(r, RUNS "/first/status", text);
        free(text);
        json_decref(patch);
        fiber_sleep(r->loop, 90000);
        assert_run(r, "first", "Succeeded", "absent");
        fiber_sleep(r->loop, 180000); /* it is seen when the wait was to be over, and counts from then */
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        stop(&f);
}
static void a_wait_that_begins_in_the_future_is_timed_by_our_own_clock(void **state)
{
        rig_run(is_ahead);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_ended_between_its_writes_finds_what_it_did),
                cmocka_unit_test(a_run_that_cannot_say_what_it_will_do_begins_nothing),
                cmocka_unit_test(what_a_run_began_is_announced_before_it_is_deleted),
                cmocka_unit_test(what_a_run_began_is_announced_before_it_fails),
                cmocka_unit_test(what_a_run_began_is_announced_before_it_has_stopped),
                cmocka_unit_test(a_run_that_is_stopped_says_so_while_another_one_begins),
                cmocka_unit_test(the_later_of_two_runs_wins_and_the_other_says_so),
                cmocka_unit_test(an_eviction_does_not_end_a_run_that_keeps_its_clusters),
                cmocka_unit_test(no_run_ends_on_the_word_of_a_cache_alone),
                cmocka_unit_test(a_strategy_that_the_cache_lacks_is_asked_for),
                cmocka_unit_test(a_cluster_that_does_not_answer_makes_a_run_stuck_until_it_does),
                cmocka_unit_test(a_run_ends_with_its_placement),
                cmocka_unit_test(a_run_ends_with_its_snapshot),
                cmocka_unit_test(what_was_announced_is_not_announced_again),
                cmocka_unit_test(what_cannot_be_read_is_not_taken_for_absent),
                cmocka_unit_test(a_wait_that_begins_in_the_future_is_timed_by_our_own_clock),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
