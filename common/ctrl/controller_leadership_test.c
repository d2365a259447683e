/* The controller frame as leadership comes and goes, and at its end. */
#include "common/ctrl/controller_stopped_test.h"
#include "common/ctrl/leader.h"

/* spec/membership-webhooks-charts.md 7.1.7 */
static void body_lost_lease(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, true);
        make(r, "a");
        run_manager(&b);
        assert_true(manager_is_leader(b.manager));
        assert_int_equal(b.visits.n, 1);
        assert_int_equal(rig_merge(r, "/apis/coordination.k8s.io/v1/namespaces/default/leases/test",
                                   "{\"spec\":{\"holderIdentity\":\"other\"}}"),
                         200);
        wait_ms(&b, 5000);
        assert_int_equal(b.run_code, ERR_TIMEOUT);
        assert_false(manager_is_leader(b.manager));
        edit(&b, "a", "{\"spec\":{\"heartbeatPeriodSeconds\":30}}");
        wait_ms(&b, 1000);
        assert_int_equal(b.visits.n, 1);
        close_bench(&b);
}

static void a_manager_that_loses_its_lease_stops_and_says_so(void **state)
{
        rig_run(body_lost_lease);
}

static int away(void *ctx, const struct http_request *rq)
{
        return ((struct bench *)ctx)->away ? ERR_RETRY : 0;
}

/* Whether the server comes back after a minute or a day makes no difference. */
static void body_server_away(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, true);
        b.faults.fate = away;
        make(r, "a");
        run_manager(&b);
        assert_int_equal(b.visits.n, 1);
        b.away = true;
        wait_ms(&b, 86400000);
        assert_false(manager_is_leader(b.manager));
        assert_int_equal(b.run_code, 1); /* it has not ended */
        edit(&b, "a", "{\"spec\":{\"heartbeatPeriodSeconds\":30}}");
        wait_ms(&b, 60000);
        assert_int_equal(b.visits.n, 1);
        b.away = false;
        wait_ms(&b, 60000);
        assert_true(manager_is_leader(b.manager));
        assert_int_equal(b.visits.n, 2);
        close_bench(&b);
}

static void a_manager_whose_server_was_away_leads_again(void **state)
{
        rig_run(body_server_away);
}

static int keeps_leases(void *ctx, const struct http_request *rq)
{
        return ((struct bench *)ctx)->away && strstr(rq->path, "/leases") ? ERR_RETRY : 0;
}

static bool shows_leader(const struct bench *b)
{
        return metric_value(b->metrics, METRIC_LEADER, (const char *const[]){ "test" }) == 1;
}

/* Whoever led meanwhile would be in its way: all else of the server can be reached. */
static void body_lapsed(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, true);
        b.faults.fate = keeps_leases;
        make(r, "a");
        run_manager(&b);
        assert_int_equal(b.visits.n, 1);
        assert_true(shows_leader(&b));
        b.away = true;
        wait_ms(&b, 20000);
        assert_false(manager_is_leader(b.manager));
        assert_false(shows_leader(&b));
        edit(&b, "a", "{\"spec\":{\"heartbeatPeriodSeconds\":30}}");
        make(r, "b");
        wait_ms(&b, 20000);
        assert_int_equal(b.visits.n, 1);
        b.away = false;
        wait_ms(&b, 60000);
        assert_true(manager_is_leader(b.manager));
        assert_true(shows_leader(&b));
        assert_int_equal(b.visits.n, 3);
        close_bench(&b);
}

static void who_cannot_renew_its_lease_does_nothing_until_it_has(void **state)
{
        rig_run(body_lapsed);
}

static void body_standby(struct rig *r)
{
        struct bench b;

        assert_int_equal(rig_post(r, "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                                  "{\"metadata\":{\"name\":\"test\"},\"spec\":{\"holderIdentity\":\"other\","
                                  "\"leaseDurationSeconds\":15}}"),
                         201);
        open_bench(r, &b, true);
        make(r, "a");
        run_manager(&b);
        wait_ms(&b, 5000);
        assert_int_equal(b.visits.n, 0);
        assert_true(informer_synced(manager_informer(b.manager, &member_cluster_kind)));
        make(r, "b");
        wait_ms(&b, 20000); /* the lease has run out */
        assert_true(manager_is_leader(b.manager));
        assert_int_equal(b.visits.n, 2);
        close_bench(&b);
}

static void a_standby_keeps_its_caches_and_reconciles_all_once_it_leads(void **state)
{
        rig_run(body_standby);
}

/* What its watch did not bring yet is known at the first visit: the one who led before wrote it. */
static void body_lagging_standby(struct rig *r)
{
        struct bench b;

        assert_int_equal(rig_post(r, "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                                  "{\"metadata\":{\"name\":\"test\"},\"spec\":{\"holderIdentity\":\"other\","
                                  "\"leaseDurationSeconds\":15}}"),
                         201);
        open_bench(r, &b, true);
        make(r, "a");
        make(r, "gone");
        run_manager(&b);
        b.stalled = true;
        wait_ms(&b, 1000);
        edit(&b, "a", "{\"spec\":{\"heartbeatPeriodSeconds\":77}}");
        make(r, "b");
        assert_int_equal(rig_delete(r, GROUP "/gone"), 200);
        wait_ms(&b, 20000); /* the lease has run out */
        assert_true(manager_is_leader(b.manager));
        assert_true(b.visits.n >= 2);
        vec_for_each(&b.visits, v) {
                if (text_equal(v->key, "a"))
                        assert_int_equal(v->heartbeat, 77);
                else if (text_equal(v->key, "gone"))
                        assert_int_equal(v->heartbeat, -1);
                else
                        assert_true(text_equal(v->key, "b") && v->heartbeat >= 0);
        }
        close_bench(&b);
}

static void a_new_leader_lists_its_caches_anew_before_it_decides(void **state)
{
        rig_run(body_lagging_standby);
}

#define LEASE "/apis/coordination.k8s.io/v1/namespaces/default/leases/test"

static int64_t lists_take_10_s(void *ctx, const struct http_request *rq, bool answer)
{
        bool lists = strstr(rq->path, "memberclusters") && !strstr(rq->path, "watch=true");

        return ((struct bench *)ctx)->slow && answer && lists ? 10000 : 0;
}

/* The lists of who takes over last so long that another takes the lease. */
static void body_overtaken(struct rig *r)
{
        struct bench b;

        assert_int_equal(rig_post(r, "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                                  "{\"metadata\":{\"name\":\"test\"},\"spec\":{\"holderIdentity\":\"other\","
                                  "\"leaseDurationSeconds\":15}}"),
                         201);
        open_bench(r, &b, true);
        b.faults.delay = lists_take_10_s;
        make(r, "a");
        run_manager(&b);
        b.slow = true;
        for (int i = 0; i < 30; i++) {
                wait_ms(&b, 1000);
                assert_int_equal(rig_get(r, LEASE), 200);
                if (!text_equal(rig_string(r, "spec.holderIdentity"), "other"))
                        break;
        }
        assert_string_not_equal(rig_string(r, "spec.holderIdentity"), "other");
        assert_false(manager_is_leader(b.manager));
        assert_int_equal(rig_merge(r, LEASE, "{\"spec\":{\"holderIdentity\":\"third\"}}"), 200);
        wait_ms(&b, 60000);
        assert_int_equal(b.visits.n, 0);
        assert_int_equal(b.run_code, ERR_TIMEOUT);
        close_bench(&b);
}

static void who_lost_its_lease_while_it_listed_does_not_begin(void **state)
{
        rig_run(body_overtaken);
}

static struct outcome takes_200_ms(struct bench *b, struct reconcile *rc)
{
        if (fiber_sleep(b->rig->loop, 200) < 0)
                return failed(rc->err);
        b->open = true;
        return done();
}

static void body_drain(struct rig *r)
{
        struct fiber *manager;
        struct bench b;

        open_bench(r, &b, true);
        manager = run_manager(&b);
        b.reconcile = takes_200_ms;
        make(r, "a");
        wait_ms(&b, 100);
        assert_int_equal(b.running, 1);
        fiber_cancel(manager);
        wait_ms(&b, 1000);
        assert_true(b.open); /* it was let finish */
        assert_int_equal(b.run_code, ERR_CANCELLED);
        assert_int_equal(rig_get(r, "/apis/coordination.k8s.io/v1/namespaces/default/leases/test"), 200);
        assert_string_equal(rig_string(r, "spec.holderIdentity"), "");
        close_bench(&b);
}

static void on_the_way_out_what_runs_may_finish_and_the_lease_is_released(void **state)
{
        rig_run(body_drain);
}

/* Two at a time: the others wait. */
static void body_no_new(struct rig *r)
{
        struct fiber *manager;
        struct bench b;

        open_bench(r, &b, true);
        manager = run_manager(&b);
        b.reconcile = takes_200_ms;
        make(r, "a");
        make(r, "b");
        make(r, "c");
        wait_ms(&b, 100);
        assert_int_equal(b.visits.n, 2);
        fiber_cancel(manager);
        wait_ms(&b, 1000);
        assert_int_equal(b.visits.n, 2);
        assert_int_equal(b.running, 0);
        close_bench(&b);
}

static void on_the_way_out_nothing_new_begins(void **state)
{
        rig_run(body_no_new);
}

static const struct kube_resource members = { "cluster.kubernetes-fleet.io", "v1beta1", "memberclusters",
                                              "MemberCluster", false };

static struct outcome patches_labels(struct bench *b, struct reconcile *rc)
{
        AUTO_JSON json_t *patch = json_pack("{s:{s:{s:s}}}", "metadata", "labels", "written", "late");

        if (kube_doc_patch(&b->kube, &members, NULL, rc->name, KUBE_PATCH_MERGE, patch, NULL, NULL, rc->err) <
            0)
                return failed(rc->err);
        return done();
}

static void body_late_write(struct rig *r)
{
        struct fiber *manager;
        struct bench b;

        open_bench(r, &b, true);
        manager = run_manager(&b);
        b.reconcile = patches_labels;
        b.slow = true;
        make(r, "a");
        wait_ms(&b, 100);
        assert_int_equal(b.running, 1);
        fiber_cancel(manager);
        wait_ms(&b, 1000);
        assert_int_equal(b.run_code, ERR_CANCELLED);
        assert_int_equal(rig_get(r, GROUP "/a"), 200);
        assert_string_equal(rig_string(r, "metadata.labels.written"), "");
        assert_int_equal(rig_get(r, "/apis/coordination.k8s.io/v1/namespaces/default/leases/test"), 200);
        assert_string_not_equal(rig_string(r, "spec.holderIdentity"), "");
        wait_ms(&b, 2000);
        assert_int_equal(rig_get(r, GROUP "/a"), 200);
        assert_string_equal(rig_string(r, "metadata.labels.written"), "late");
        close_bench(&b);
}

static void while_a_write_may_still_arrive_nobody_else_can_lead(void **state)
{
        rig_run(body_late_write);
}

static int64_t very_slow(void *ctx, const struct http_request *rq, bool answer)
{
        return !answer && text_equal(rq->method, "PATCH") ? 5000 : 0;
}

/* Sent when its end was a second away, it arrives four seconds after that. */
static void body_own_late_write(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, true);
        b.faults.fate = keeps_leases;
        b.faults.delay = very_slow;
        b.reconcile = patches_labels;
        run_manager(&b);
        assert_true(manager_is_leader(b.manager));
        b.away = true;
        wait_ms(&b, 9000);
        make(r, "a");
        while (manager_is_leader(b.manager))
                wait_ms(&b, 10);
        assert_int_equal(b.visits.n, 1);
        b.away = false;
        for (;;) {
                assert_int_equal(rig_get(r, GROUP "/a"), 200);
                if (text_equal(rig_string(r, "metadata.labels.written"), "late"))
                        break;
                assert_int_equal(b.visits.n, 1);
                wait_ms(&b, 10);
        }
        assert_int_equal(rig_get(r, LEASE), 200);
        assert_string_not_equal(rig_string(r, "spec.holderIdentity"), "");
        wait_ms(&b, 20000);
        assert_true(manager_is_leader(b.manager));
        assert_true(b.visits.n > 1);
        close_bench(&b);
}

static void while_a_write_may_still_arrive_who_sent_it_does_not_go_on(void **state)
{
        rig_run(body_own_late_write);
}

struct rival {
        struct bench *b;
        bool leads;
};

static void rival_fiber(void *rival)
{
        struct rival *rv = rival;
        const struct leader_options o = { "default", "test", "rival", 4000, 3000, 1000 };
        struct kube_client kube = rv->b->kube;
        struct leader leader;
        struct error err;

        kube.count = NULL;
        leader_init(&leader, &kube, &o);
        rv->leads = leader_acquire(&leader, &err) == 0;
        leader_clear(&leader);
}

/* Who would take a lease that is not renewed while that is waited for. */
static void body_short_lease(struct rig *r)
{
        const struct manager_options o = { .lease_namespace = "default",
                                           .lease_name = "test",
                                           .lease_duration_ms = 4000,
                                           .renew_deadline_ms = 3000,
                                           .retry_period_ms = 1000 };
        struct rival rival;
        struct bench b;

        open_bench_led(r, &b, o, &two_at_a_time, NULL);
        rival = (struct rival){ .b = &b };
        b.faults.fate = keeps_leases;
        b.faults.delay = very_slow;
        b.reconcile = patches_labels;
        run_manager(&b);
        b.away = true;
        wait_ms(&b, 1000);
        make(r, "a");
        while (manager_is_leader(b.manager))
                wait_ms(&b, 10);
        b.away = false;
        assert_non_null(fiber_spawn(b.group, "rival", rival_fiber, &rival));
        wait_ms(&b, 20000);
        assert_false(rival.leads);
        assert_int_equal(b.run_code, 1); /* it has not ended */
        assert_true(manager_is_leader(b.manager));
        close_bench(&b);
}

static void who_waits_for_what_it_sent_keeps_its_lease_meanwhile(void **state)
{
        rig_run(body_short_lease);
}

static int loses_patches(void *ctx, const struct http_request *rq)
{
        return ((struct bench *)ctx)->away && text_equal(rq->method, "PATCH") ? ERR_TIMEOUT : 0;
}

static void body_old_write(struct rig *r)
{
        struct fiber *manager;
        struct bench b;

        open_bench(r, &b, true);
        manager = run_manager(&b);
        b.faults.fate = loses_patches;
        b.reconcile = patches_labels;
        b.away = true;
        make(r, "a");
        wait_ms(&b, 1000);
        assert_true(b.visits.n > 0);
        b.away = false;
        wait_ms(&b, 60000);
        fiber_cancel(manager);
        wait_ms(&b, 1000);
        assert_int_equal(rig_get(r, LEASE), 200);
        assert_string_equal(rig_string(r, "spec.holderIdentity"), "");
        close_bench(&b);
}

static void what_cannot_arrive_any_more_keeps_no_lease(void **state)
{
        rig_run(body_old_write);
}

#define LEASE "/apis/coordination.k8s.io/v1/namespaces/default/leases/test"

static void open_named(struct rig *r, struct bench *b, const char *identity)
{
        const struct manager_options o = { .lease_namespace = "default",
                                           .lease_name = "test",
                                           .identity = identity };

        open_bench_led(r, b, o, &two_at_a_time, NULL);
}

static void body_stopped(struct rig *r)
{
        struct bench a, b;
        int64_t before = stop_with_write_decided(r, &a, &b, open_named, 120000);

        assert_true(manager_is_leader(b.manager));
        go_on_without_writing(r, &a, before);
        close_bench(&b);
        close_bench(&a);
        process = loop_process_free(process);
}

static void a_leader_that_was_stopped_with_a_write_decided_does_not_send_it_after_its_lease(void **state)
{
        rig_run(body_stopped);
}

/* A container that was started again goes on under its own lease, and knows not what its former life sent. */
static void body_former_life(struct rig *r)
{
        static const int64_t lived_ms[] = { 1000, 60000 };

        for (size_t i = 0; i < ARRAY_LEN(lived_ms); i++) {
                struct fiber *manager;
                struct bench b;

                open_named(r, &b, "a");
                manager = run_manager(&b);
                if (i ==
                    0) { /* the first life of all gives it back, and is followed by one that finds it held */
                        assert_int_equal(rig_get(r, LEASE), 200);
                        fiber_group_cancel(b.group);
                        wait_ms(&b, 1000);
                        assert_int_equal(rig_merge(r, LEASE, "{\"spec\":{\"holderIdentity\":\"a\"}}"), 200);
                        close_bench(&b);
                        open_named(r, &b, "a");
                        manager = run_manager(&b);
                }
                wait_ms(&b, lived_ms[i]);
                fiber_cancel(manager);
                wait_ms(&b, 1000);
                assert_int_equal(rig_get(r, LEASE), 200);
                assert_string_equal(rig_string(r, "spec.holderIdentity"), i == 0 ? "a" : "");
                close_bench(&b);
        }
}

static void who_goes_on_under_a_former_lifes_lease_does_not_release_it_soon(void **state)
{
        rig_run(body_former_life);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_manager_that_loses_its_lease_stops_and_says_so),
                cmocka_unit_test(a_manager_whose_server_was_away_leads_again),
                cmocka_unit_test(a_standby_keeps_its_caches_and_reconciles_all_once_it_leads),
                cmocka_unit_test(a_new_leader_lists_its_caches_anew_before_it_decides),
                cmocka_unit_test(on_the_way_out_what_runs_may_finish_and_the_lease_is_released),
                cmocka_unit_test(on_the_way_out_nothing_new_begins),
                cmocka_unit_test(while_a_write_may_still_arrive_nobody_else_can_lead),
                cmocka_unit_test(while_a_write_may_still_arrive_who_sent_it_does_not_go_on),
                cmocka_unit_test(who_waits_for_what_it_sent_keeps_its_lease_meanwhile),
                cmocka_unit_test(what_cannot_arrive_any_more_keeps_no_lease),
                cmocka_unit_test(who_cannot_renew_its_lease_does_nothing_until_it_has),
                cmocka_unit_test(who_lost_its_lease_while_it_listed_does_not_begin),
                cmocka_unit_test(who_goes_on_under_a_former_lifes_lease_does_not_release_it_soon),
                cmocka_unit_test(
                        a_leader_that_was_stopped_with_a_write_decided_does_not_send_it_after_its_lease),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
