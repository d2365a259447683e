/* Leader election against devcluster on a virtual clock: each candidate has a network of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/ctrl/leader.h"
#include "e2e/devcluster/rig.h"

#define LEASE_MS 15000
#define RENEW_MS 10000
#define RETRY_MS 2000
#define PATH "/apis/coordination.k8s.io/v1/namespaces/default/leases/boss"

struct candidate {
        struct rig *rig;
        struct world world;
        struct loopback_faults faults;
        struct kube_client kube;
        struct log log;
        struct leader leader;
        struct fiber_group *group;
        int fate;                       /* of every request */
        int64_t answer_ms;              /* delay of every answer */
        int64_t led_from_ms, led_to_ms; /* -1 = not yet */
        struct error err;
        int code;
};

static int fate(void *ctx, const struct http_request *rq)
{
        return ((struct candidate *)ctx)->fate;
}

static int64_t delay(void *ctx, const struct http_request *rq, bool answer)
{
        return answer ? ((struct candidate *)ctx)->answer_ms : 0;
}

static void open_candidate(struct rig *r, struct candidate *c, const char *identity)
{
        const struct leader_options o = { "default", "boss", identity, LEASE_MS, RENEW_MS, RETRY_MS };

        *c = (struct candidate){ .rig = r, .world = r->world, .led_from_ms = -1, .led_to_ms = -1, .code = 1 };
        c->faults = (struct loopback_faults){ .ctx = c, .fate = fate, .delay = delay };
        c->world.transport = loopback_transport(r->net, &c->world, &c->faults);
        c->kube = (struct kube_client){
                .world = &c->world, .endpoint = &r->endpoint, .log = &c->log, .field_manager = identity
        };
        leader_init(&c->leader, &c->kube, &o);
        c->group = fiber_group_new(r->loop, NULL, identity);
}

static void candidate_fiber(void *ctx)
{
        struct candidate *c = ctx;

        c->code = leader_acquire(&c->leader, &c->err);
        if (c->code < 0)
                return;
        c->led_from_ms = loop_now_ms(c->rig->loop);
        c->code = leader_hold(&c->leader, &c->err);
        c->led_to_ms = loop_now_ms(c->rig->loop);
        leader_release(&c->leader);
}

static void start(struct candidate *c)
{
        assert_non_null(fiber_spawn(c->group, "candidate", candidate_fiber, c));
}

static void close_candidate(struct candidate *c)
{
        if (c->group)
                fiber_group_end(c->group);
        leader_clear(&c->leader);
        http_transport_free(c->world.transport);
}

static void wait_ms(struct rig *r, int64_t ms)
{
        assert_int_equal(fiber_sleep(r->loop, ms), 0);
}

static void holder_is(struct rig *r, const char *identity, int transitions)
{
        assert_int_equal(rig_get(r, PATH), 200);
        assert_string_equal(rig_string(r, "spec.holderIdentity"), identity);
        assert_int_equal(doc_get_int(r->answer, "spec.leaseTransitions", 0), transitions);
}

/* a leads and b waits; both run for a while. */
static void open_both(struct rig *r, struct candidate *a, struct candidate *b)
{
        open_candidate(r, a, "a");
        open_candidate(r, b, "b");
        start(a);
        wait_ms(r, 1000);
        start(b);
        wait_ms(r, 60000);
        assert_true(a->leader.leading);
        assert_false(b->leader.leading);
        holder_is(r, "a", 0);
}

static void body_one_leads(struct rig *r)
{
        struct candidate a, b;

        open_both(r, &a, &b);
        assert_string_equal(rig_string(r, "spec.acquireTime"), "2026-01-01T00:00:00.000000Z");
        assert_int_equal(doc_get_int(r->answer, "spec.leaseDurationSeconds", 0), LEASE_MS / 1000);
        close_candidate(&a);
        close_candidate(&b);
}

static void one_candidate_leads_and_the_other_waits(void **state)
{
        rig_run(body_one_leads);
}

static void body_takeover(struct rig *r)
{
        struct candidate a, b;
        const char *taken;
        int64_t died;

        open_both(r, &a, &b);
        a.fate = ERR_RETRY; /* killed: nothing it still says arrives */
        died = loop_now_ms(r->loop);
        a.group = fiber_group_end(a.group);
        wait_ms(r, 2 * LEASE_MS);
        holder_is(r, "b", 1);
        assert_in_range(b.led_from_ms - died, LEASE_MS - RETRY_MS, LEASE_MS + RETRY_MS + RETRY_MS / 5);
        taken = arena_strdup(&r->arena, rig_string(r, "spec.acquireTime"));
        assert_string_not_equal(taken, "2026-01-01T00:00:00.000000Z"); /* when a took it */
        wait_ms(r, LEASE_MS);
        holder_is(r, "b", 1);
        assert_string_equal(rig_string(r, "spec.acquireTime"), taken);
        assert_string_not_equal(rig_string(r, "spec.renewTime"), taken);
        close_candidate(&a);
        close_candidate(&b);
}

static void a_killed_leader_is_replaced_when_its_lease_has_run_out(void **state)
{
        rig_run(body_takeover);
}

static void body_release(struct rig *r)
{
        struct candidate a, b;
        int64_t left;

        open_both(r, &a, &b);
        left = loop_now_ms(r->loop);
        a.group = fiber_group_end(a.group);
        assert_int_equal(a.code, ERR_CANCELLED);
        holder_is(r, "", 0);
        wait_ms(r, 2 * RETRY_MS);
        holder_is(r, "b", 0);
        assert_true(b.led_from_ms - left <= RETRY_MS + RETRY_MS / 5 + 10);
        close_candidate(&a);
        close_candidate(&b);
}

static void a_leader_that_is_stopped_gives_the_lease_back_at_once(void **state)
{
        rig_run(body_release);
}

static void body_slow_release(struct rig *r)
{
        struct candidate a;

        open_candidate(r, &a, "a");
        start(&a);
        wait_ms(r, 1000);
        a.answer_ms = 1500; /* as of an API server under load */
        a.group = fiber_group_end(a.group);
        holder_is(r, "", 0);
        close_candidate(&a);
}

static void body_silent_release(struct rig *r)
{
        struct candidate a;
        int64_t left;

        open_candidate(r, &a, "a");
        start(&a);
        wait_ms(r, 1000);
        a.fate = ERR_TIMEOUT;
        left = loop_now_ms(r->loop);
        a.group = fiber_group_end(a.group);
        assert_int_equal(loop_now_ms(r->loop) - left, RELEASE_DEADLINE_MS);
        close_candidate(&a);
}

static void a_lease_is_given_back_to_a_slow_server_and_one_that_is_silent_is_not_waited_for(void **state)
{
        rig_run(body_slow_release);
        rig_run(body_silent_release);
}

/* Whatever keeps a leader from renewing: it has stopped before another one can start. */
static void expect_no_overlap(struct rig *r, int with_fate, int64_t with_answer_ms)
{
        struct candidate a, b;
        int64_t since;

        open_both(r, &a, &b);
        since = loop_now_ms(r->loop);
        a.fate = with_fate;
        a.answer_ms = with_answer_ms;
        wait_ms(r, 3 * LEASE_MS);
        assert_int_equal(a.code, ERR_TIMEOUT);
        assert_true(a.led_to_ms - since <= RENEW_MS);
        assert_true(b.led_from_ms > a.led_to_ms);
        assert_true(b.leader.leading);
        assert_false(a.leader.leading);
        close_candidate(&a);
        close_candidate(&b);
}

static void body_cut_off(struct rig *r)
{
        expect_no_overlap(r, ERR_RETRY, 0);
}

static void body_silence(struct rig *r)
{
        expect_no_overlap(r, ERR_TIMEOUT, 0);
}

static void body_errors(struct rig *r)
{
        expect_no_overlap(r, 500, 0);
}

static void a_leader_that_cannot_renew_stops_before_another_starts(void **state)
{
        rig_run(body_cut_off);
        rig_run(body_silence);
        rig_run(body_errors);
}

static void await_renewal(struct rig *r)
{
        char before[64];

        assert_int_equal(rig_get(r, PATH), 200);
        snprintf(before, sizeof(before), "%s", rig_string(r, "spec.renewTime"));
        for (int i = 0; i < 1000 && text_equal(rig_string(r, "spec.renewTime"), before); i++) {
                wait_ms(r, 10);
                assert_int_equal(rig_get(r, PATH), 200);
        }
}

static void body_regain(struct rig *r)
{
        struct candidate a;

        open_candidate(r, &a, "a");
        start(&a);
        wait_ms(r, 60000);
        a.fate = ERR_RETRY;
        wait_ms(r, 3 * LEASE_MS);
        assert_int_equal(a.code, ERR_TIMEOUT);
        assert_true(a.leader.lapsed);
        a.fate = 0;
        assert_int_equal(leader_regain(&a.leader, &a.err), 0);
        assert_true(a.leader.leading);
        holder_is(r, "a", 0); /* nobody was in between */
        close_candidate(&a);
}

static void body_regain_too_late(struct rig *r)
{
        struct candidate a, b;

        open_both(r, &a, &b);
        a.fate = ERR_RETRY;
        wait_ms(r, 3 * LEASE_MS);
        assert_true(b.leader.leading && a.leader.lapsed);
        a.fate = 0;
        assert_int_equal(leader_regain(&a.leader, &a.err), ERR_TIMEOUT);
        assert_string_equal(a.err.text, "leadership lost: another holds the lease");
        holder_is(r, "b", 1);
        close_candidate(&b);
        assert_int_equal(rig_delete(r, PATH), 200);
        assert_int_equal(leader_regain(&a.leader, &a.err), ERR_TIMEOUT);
        close_candidate(&a);
}

static void a_lease_that_lapsed_is_regained_unless_another_had_it(void **state)
{
        rig_run(body_regain);
        rig_run(body_regain_too_late);
}

/* The other one counts from the moment the renewal was written. */
static void body_late_answers(struct rig *r)
{
        struct candidate a, b;
        int64_t written;

        open_both(r, &a, &b);
        a.answer_ms = 3000;
        wait_ms(r, 4 * LEASE_MS);
        await_renewal(r);
        written = loop_now_ms(r->loop);
        a.fate = ERR_RETRY; /* the last answer is still on its way */
        wait_ms(r, 2 * LEASE_MS);
        assert_int_equal(a.code, ERR_TIMEOUT);
        assert_true(a.led_to_ms - written <= RENEW_MS);
        assert_true(b.led_from_ms > a.led_to_ms);
        close_candidate(&a);
        close_candidate(&b);
}

static void a_leader_counts_from_when_it_asked_and_not_from_the_answer(void **state)
{
        rig_run(body_late_answers);
}

static void body_lost_answer(struct rig *r)
{
        struct candidate a, b;

        open_both(r, &a, &b);
        a.fate = ERR_CLOSED; /* written, and the answer lost */
        wait_ms(r, RETRY_MS + 100);
        a.fate = 0;
        wait_ms(r, 4 * LEASE_MS);
        assert_true(a.leader.leading);
        holder_is(r, "a", 0);
        close_candidate(&a);
        close_candidate(&b);
}

static void a_lost_answer_to_a_renewal_loses_nothing(void **state)
{
        rig_run(body_lost_answer);
}

static void body_taken(struct rig *r)
{
        struct candidate a;

        open_candidate(r, &a, "a");
        start(&a);
        wait_ms(r, 5000);
        assert_int_equal(rig_merge(r, PATH, "{\"spec\":{\"holderIdentity\":\"somebody\"}}"), 200);
        wait_ms(r, RETRY_MS + 100);
        assert_int_equal(a.code, ERR_TIMEOUT);
        assert_non_null(strstr(a.err.text, "another holds the lease"));
        holder_is(r, "somebody", 0);
        close_candidate(&a);
}

static void a_leader_whose_lease_was_taken_stops_at_its_next_renewal(void **state)
{
        rig_run(body_taken);
}

/* So it looks to a process that was frozen for longer than its lease. */
static void body_given_back(struct rig *r)
{
        struct candidate a;

        open_candidate(r, &a, "a");
        start(&a);
        wait_ms(r, 5000);
        assert_int_equal(rig_merge(r, PATH, "{\"spec\":{\"holderIdentity\":\"b\",\"leaseTransitions\":1}}"),
                         200);
        assert_int_equal(rig_merge(r, PATH, "{\"spec\":{\"holderIdentity\":\"\"}}"), 200);
        wait_ms(r, RETRY_MS + 100);
        assert_int_equal(a.code, ERR_TIMEOUT);
        assert_false(a.leader.lapsed);
        assert_string_equal(a.err.text, "leadership lost: another had the lease");
        holder_is(r, "", 1);
        close_candidate(&a);
}

static void a_leader_whose_lease_was_taken_and_given_back_stops_too(void **state)
{
        rig_run(body_given_back);
}

/* What others write beside the holder is no loss. */
static void body_labelled(struct rig *r)
{
        struct candidate a;

        open_candidate(r, &a, "a");
        start(&a);
        wait_ms(r, 5000);
        assert_int_equal(rig_merge(r, PATH, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"), 200);
        wait_ms(r, 2 * LEASE_MS);
        assert_true(a.leader.leading);
        holder_is(r, "a", 0);
        assert_string_equal(rig_string(r, "metadata.labels.a"), "b");
        close_candidate(&a);
}

static void a_leader_whose_lease_was_labelled_goes_on(void **state)
{
        rig_run(body_labelled);
}

static void body_deleted(struct rig *r)
{
        struct candidate a;

        open_candidate(r, &a, "a");
        start(&a);
        wait_ms(r, 5000);
        assert_int_equal(rig_delete(r, PATH), 200);
        wait_ms(r, RETRY_MS + 100);
        assert_true(a.leader.leading);
        holder_is(r, "a", 0);
        close_candidate(&a);
}

static void a_deleted_lease_is_made_again_by_its_holder(void **state)
{
        rig_run(body_deleted);
}

/* The times in the record are another machine's: only whether it changes counts, by one's own clock. */
static void body_skew(struct rig *r)
{
        struct candidate a, b;

        open_both(r, &a, &b);
        loop_shift_wall(r->loop, 3600000);
        wait_ms(r, LEASE_MS);
        holder_is(r, "a", 0);
        loop_shift_wall(r->loop, -7200000);
        wait_ms(r, 4 * LEASE_MS);
        holder_is(r, "a", 0);
        close_candidate(&a);
        close_candidate(&b);
}

static void clocks_that_differ_by_hours_change_nothing(void **state)
{
        rig_run(body_skew);
}

static void body_foreign(struct rig *r)
{
        struct candidate a;

        assert_int_equal(rig_post(r, "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                                  "{\"metadata\":{\"name\":\"boss\"},\"spec\":{\"holderIdentity\":\"old\","
                                  "\"leaseDurationSeconds\":60,\"leaseTransitions\":4,\"renewTime\":"
                                  "\"2020-01-01T00:00:00.000000Z\"}}"),
                         201);
        open_candidate(r, &a, "a");
        start(&a);
        wait_ms(r, 59000);
        holder_is(r, "old", 4);
        wait_ms(r, 2 * RETRY_MS);
        holder_is(r, "a", 5);
        close_candidate(&a);
}

static void the_holders_own_duration_is_waited_for_and_the_change_is_counted(void **state)
{
        rig_run(body_foreign);
}

/* ---- a candidate whose process is stopped in the middle of a turn ---- */

struct holder {
        struct rig *rig;
        struct loop_process *stops; /* with the answer that tells its renewal */
        int64_t taken_ms;           /* when it was first written; 0 = not yet */
};

/* Another's lease, renewed once and then no more: who asks is stopped with the answer in hand. */
static void answer_as_held(void *ctx, struct http_exchange *x)
{
        struct holder *h = ctx;
        bool renewed = loop_now_ms(h->rig->loop) > 1000;

        if (!text_equal(x->method, "GET") && !h->taken_ms)
                h->taken_ms = loop_now_ms(h->rig->loop);
        http_reply(x, 200, "application/json",
                   slice_of(arena_printf(x->arena,
                                         "{\"metadata\":{\"name\":\"boss\",\"resourceVersion\":\"7\"},"
                                         "\"spec\":{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":%d,"
                                         "\"renewTime\":\"2026-01-01T00:00:0%d.000000Z\"}}",
                                         LEASE_MS / 1000, renewed)),
                   NULL);
        if (renewed && h->stops)
                loop_process_stop(TAKE_PTR(h->stops));
}

static void body_stopped(struct rig *r)
{
        struct loop_process *process = loop_process_new(r->loop);
        struct holder h = { .rig = r, .stops = process };
        struct candidate b;
        int64_t went_on_ms;

        assert_int_equal(loopback_listen(r->net, "held", answer_as_held, &h), 0);
        open_candidate(r, &b, "b");
        r->endpoint.base_url = (char *)"https://held";
        loop_process_add(process, b.group);
        start(&b);
        wait_ms(r, 2 * RETRY_MS);
        assert_true(loop_process_stopped(process));
        wait_ms(r, 2 * LEASE_MS);
        loop_process_go_on(process);
        went_on_ms = loop_now_ms(r->loop);
        wait_ms(r, 2 * LEASE_MS);
        assert_in_range(h.taken_ms - went_on_ms, LEASE_MS, LEASE_MS + 2 * RETRY_MS);
        close_candidate(&b);
        loop_process_free(process);
        loopback_listen(r->net, "held", NULL, NULL);
}

/* What it read may have been written while it was stopped. */
static void a_candidate_that_was_stopped_counts_from_when_it_went_on(void **state)
{
        rig_run(body_stopped);
}

/* ---- who it is ---- */

static const char *in_a_pod(void *ctx, const char *name)
{
        return text_equal(name, "HOSTNAME") ? "hub-agent-7d4" : text_equal(name, "POD_UID") ? "0b5f" : NULL;
}

static const char *on_a_machine(void *ctx, const char *name)
{
        return text_equal(name, "HOSTNAME") ? "laptop" : NULL;
}

static void body_identity(struct rig *r)
{
        static const struct world_process pod = { .getenv = in_a_pod }, machine = { .getenv = on_a_machine };
        struct world w = r->world;
        char one[LEADER_IDENTITY_SIZE], two[LEADER_IDENTITY_SIZE];

        w.process = &pod;
        leader_identity(&w, "hub-agent", one);
        assert_string_equal(one, "hub-agent-7d4_0b5f");
        w.process = &machine;
        leader_identity(&w, "hub-agent", one);
        leader_identity(&w, "hub-agent", two);
        assert_memory_equal(one, "laptop_", 7);
        assert_string_not_equal(one, two);
}

static void a_process_has_one_identity_for_the_life_of_its_pod(void **state)
{
        rig_run(body_identity);
}

static void body_successor(struct rig *r)
{
        struct candidate killed, successor;

        open_candidate(r, &killed, "pod_uid");
        open_candidate(r, &successor, "pod_uid");
        start(&killed);
        wait_ms(r, 1000);
        killed.fate = ERR_RETRY; /* dead: it releases nothing */
        start(&successor);
        wait_ms(r, 100);
        assert_true(successor.leader.leading);
        assert_false(successor.leader.followed);
        close_candidate(&killed);
        close_candidate(&successor);
}

static void who_comes_back_under_the_same_identity_does_not_wait_for_its_own_lease(void **state)
{
        rig_run(body_successor);
}

static uint64_t lease_requests(struct rig *r, const char *verb)
{
        struct devcluster_request_count *at = NULL;
        uint64_t sum = 0;
        size_t n = 0;

        assert_int_equal(devcluster_requests(r->devcluster, "hub", &r->arena, &at, &n), 0);
        for (size_t i = 0; i < n; i++)
                if (text_equal(at[i].verb, verb) && text_equal(at[i].resource, "leases"))
                        sum += at[i].n;
        return sum;
}

/* The leader knows the lease: it writes it without reading it first, all its life long. */
static void body_one_request(struct rig *r)
{
        struct candidate a;
        uint64_t reads, writes;

        open_candidate(r, &a, "a");
        start(&a);
        wait_ms(r, 1000);
        reads = lease_requests(r, "get");
        writes = lease_requests(r, "update");
        wait_ms(r, 60000);
        assert_true(a.leader.leading);
        assert_int_equal(lease_requests(r, "get") - reads, 0);
        assert_in_range(lease_requests(r, "update") - writes, 60000 / RETRY_MS - 5, 60000 / RETRY_MS + 1);
        close_candidate(&a);
}

static void a_renewal_is_one_request(void **state)
{
        rig_run(body_one_request);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_candidate_leads_and_the_other_waits),
                cmocka_unit_test(a_killed_leader_is_replaced_when_its_lease_has_run_out),
                cmocka_unit_test(a_leader_that_is_stopped_gives_the_lease_back_at_once),
                cmocka_unit_test(
                        a_lease_is_given_back_to_a_slow_server_and_one_that_is_silent_is_not_waited_for),
                cmocka_unit_test(a_leader_that_cannot_renew_stops_before_another_starts),
                cmocka_unit_test(a_lease_that_lapsed_is_regained_unless_another_had_it),
                cmocka_unit_test(a_leader_counts_from_when_it_asked_and_not_from_the_answer),
                cmocka_unit_test(a_lost_answer_to_a_renewal_loses_nothing),
                cmocka_unit_test(a_leader_whose_lease_was_taken_stops_at_its_next_renewal),
                cmocka_unit_test(a_leader_whose_lease_was_taken_and_given_back_stops_too),
                cmocka_unit_test(a_leader_whose_lease_was_labelled_goes_on),
                cmocka_unit_test(a_deleted_lease_is_made_again_by_its_holder),
                cmocka_unit_test(clocks_that_differ_by_hours_change_nothing),
                cmocka_unit_test(the_holders_own_duration_is_waited_for_and_the_change_is_counted),
                cmocka_unit_test(a_candidate_that_was_stopped_counts_from_when_it_went_on),
                cmocka_unit_test(a_process_has_one_identity_for_the_life_of_its_pod),
                cmocka_unit_test(who_comes_back_under_the_same_identity_does_not_wait_for_its_own_lease),
                cmocka_unit_test(a_renewal_is_one_request),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
