/* Replicas that share shards by leases, against devcluster on a virtual clock: each has a network of its own.
 * At every tenth of a second no shard has two owners. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/ctrl/shards.h"
#include "e2e/devcluster/rig.h"

#define LEASE_MS 15000
#define RENEW_MS 10000
#define RETRY_MS 2000
#define N 8
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"
#define REPLICAS 4

struct replica {
        struct rig *rig;
        struct world world;
        struct loopback_faults faults;
        struct kube_client kube;
        struct log log;
        struct metrics *metrics;
        struct fiber_group *group;
        struct shards *shards;
        int fate;          /* of every request */
        const char *only;  /* of those whose path has this in it; NULL = all */
        int64_t answer_ms; /* delay of every answer */
        shard_set works;   /* begun and not ended */
        shard_set busy;    /* what runs takes long */
        unsigned prepared, begun, lost;
        int64_t arriving_ms;
        shard_set arriving; /* it is of those; 0 = of all */
        int prepare_fails;
        struct error err;
        int code;
};

static struct replica replicas[REPLICAS];

/* ---- what is done about shards ---- */

static int prepare(void *ctx, struct error *err)
{
        struct replica *p = ctx;

        p->prepared++;
        if (p->prepare_fails-- > 0)
                return error_set(err, ERR_RETRY, "no cache");
        return fiber_sleep(p->rig->loop, 300);
}

static void begin(void *ctx, shard_set set)
{
        struct replica *p = ctx;

        assert_int_equal(p->works & set, 0);
        p->works |= set;
        p->begun += (unsigned)__builtin_popcountll(set);
}

static void end(void *ctx, shard_set set, bool lost)
{
        struct replica *p = ctx;

        p->works &= ~set;
        p->lost += lost;
}

static void forget(void *ctx)
{
}

static bool busy(void *ctx, unsigned shard)
{
        return ((struct replica *)ctx)->busy & SHARD_BIT(shard);
}

static int64_t arriving_ms(void *ctx, shard_set of)
{
        struct replica *p = ctx;

        if (p->arriving && !(p->arriving & of))
                return 0;
        return MAX(p->arriving_ms - loop_now_ms(p->rig->loop), (int64_t)0);
}

/* ---- replicas ---- */

static int fate(void *ctx, const struct http_request *rq)
{
        struct replica *p = ctx;

        return !p->only || strstr(rq->path, p->only) ? p->fate : 0;
}

static int64_t delay(void *ctx, const struct http_request *rq, bool answer)
{
        return answer ? ((struct replica *)ctx)->answer_ms : 0;
}

static void open_replica_of(struct rig *r, struct replica *p, const char *identity, unsigned n)
{
        struct shards_options o = {
                .n = n,
                .lease = { "default", "boss", identity, LEASE_MS, RENEW_MS, RETRY_MS },
                .work = { p, prepare, begin, end, forget, busy, arriving_ms },
        };

        *p = (struct replica){ .rig = r, .world = r->world, .code = 1 };
        p->faults = (struct loopback_faults){ .ctx = p, .fate = fate, .delay = delay };
        p->world.transport = loopback_transport(r->net, &p->world, &p->faults);
        p->kube = (struct kube_client){
                .world = &p->world, .endpoint = &r->endpoint, .log = &p->log, .field_manager = identity
        };
        p->metrics = metrics_new(METRIC_OF_HUB);
        o.kube = &p->kube;
        o.log = &p->log;
        o.metrics = p->metrics;
        p->group = fiber_group_new(r->loop, NULL, identity);
        p->shards = shards_new(&o, p->group);
        assert_non_null(p->shards);
}

static void open_replica(struct rig *r, struct replica *p, const char *identity)
{
        open_replica_of(r, p, identity, N);
}

static void replica_fiber(void *ctx)
{
        struct replica *p = ctx;

        p->code = shards_run(p->shards, &p->err);
}

static void start(struct replica *p)
{
        assert_non_null(fiber_spawn(p->group, "replica", replica_fiber, p));
}

static void start_replica(struct rig *r, struct replica *p, const char *identity)
{
        open_replica(r, p, identity);
        start(p);
}

/* As SIGTERM does. */
static void leave(struct replica *p)
{
        fiber_group_cancel(p->group);
        assert_int_equal(fiber_sleep(p->rig->loop, 1), 0);
        shards_withdraw(p->shards);
        p->works = 0;
        shards_release(p->shards);
}

static void close_replica(struct replica *p)
{
        if (!p->group)
                return;
        fiber_group_cancel(p->group);
        assert_int_equal(fiber_sleep(p->rig->loop, 1), 0);
        shards_free(p->shards);
        fiber_group_end(p->group);
        http_transport_free(p->world.transport);
        metrics_free(p->metrics);
        *p = (struct replica){ 0 };
}

/* As kill -9 does. */
static void kill_replica(struct replica *p)
{
        p->fate = ERR_RETRY;
        p->only = NULL;
        close_replica(p);
}

static void close_all(void)
{
        for (size_t i = 0; i < REPLICAS; i++)
                close_replica(&replicas[i]);
}

/* ---- what holds ---- */

static shard_set owned(const struct replica *p)
{
        shard_set set = 0;

        for (unsigned k = 0; p->shards && k < shards_count(p->shards); k++)
                if (shards_own(p->shards, k))
                        set |= SHARD_BIT(k);
        return set;
}

static unsigned count(const struct replica *p)
{
        return (unsigned)__builtin_popcountll(owned(p));
}

static void check_single_owners(void)
{
        shard_set seen = 0;

        for (size_t i = 0; i < REPLICAS; i++) {
                shard_set mine = owned(&replicas[i]);

                if (seen & mine)
                        fail_msg("two owners of %llx", (unsigned long long)(seen & mine));
                assert_int_equal(mine & ~replicas[i].works, 0); /* it was told of all it owns */
                seen |= mine;
        }
}

static void wait_ms(struct rig *r, int64_t ms)
{
        for (int64_t until = loop_now_ms(r->loop) + ms; loop_now_ms(r->loop) < until;) {
                assert_int_equal(fiber_sleep(r->loop, MIN(until - loop_now_ms(r->loop), (int64_t)100)), 0);
                check_single_owners();
        }
}

static unsigned all_owned(void)
{
        shard_set set = 0;

        for (size_t i = 0; i < REPLICAS; i++)
                set |= owned(&replicas[i]);
        return (unsigned)__builtin_popcountll(set);
}

static void one_shares(const unsigned counts[3])
{
        assert_int_equal(all_owned(), N);
        for (int i = 0; i < 3; i++)
                assert_int_equal(count(&replicas[i]), counts[i]);
}

static void begin_three(struct rig *r)
{
        start_replica(r, &replicas[0], "a");
        start_replica(r, &replicas[1], "b");
        start_replica(r, &replicas[2], "c");
        wait_ms(r, 3 * RETRY_MS);
        assert_int_equal(all_owned(), N);
        wait_ms(r, 4 * RETRY_MS);
        for (int i = 0; i < 3; i++)
                assert_in_range(count(&replicas[i]), 2, 3);
}

static const char *path_of(struct rig *r, const char *name)
{
        return arena_printf(&r->arena, LEASES "/%s", name);
}

static const char *shard_path(struct rig *r, unsigned k)
{
        return arena_printf(&r->arena, LEASES "/boss-shard-%u-of-%u", k, N);
}

static const char *holder_at(struct rig *r, const char *path)
{
        assert_int_equal(rig_get(r, path), 200);
        return arena_strdup(&r->arena, rig_string(r, "spec.holderIdentity"));
}

RIG_TEST(one_replica_takes_all_and_fills_no_cache_anew, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 2000);
        assert_int_equal(count(&replicas[0]), N);
        assert_int_equal(replicas[0].prepared, 0); /* nobody wrote before */
        assert_string_equal(holder_at(r, path_of(r, "boss")), "shards-8");
        assert_string_equal(holder_at(r, shard_path(r, 3)), "a");
        assert_true(metric_value(replicas[0].metrics, METRIC_SHARDS_HELD, NULL) == N);
        assert_true(metric_value(replicas[0].metrics, METRIC_SHARD_TAKEOVERS, NULL) == N);
        wait_ms(r, 10 * LEASE_MS);
        assert_int_equal(count(&replicas[0]), N);
        assert_int_equal(replicas[0].begun, N);
        close_all();
})

RIG_TEST(three_replicas_that_start_at_once_share_all_at_once, {
        begin_three(r);
        wait_ms(r, 10 * LEASE_MS);
        for (int i = 0; i < 3; i++)
                assert_int_equal(replicas[i].lost, 0);
        close_all();
})

RIG_TEST(a_newcomer_is_given_its_share_by_those_who_work, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        start_replica(r, &replicas[1], "b");
        wait_ms(r, 4 * RETRY_MS);
        one_shares((const unsigned[3]){ 4, 4, 0 });
        assert_int_equal(replicas[1].prepared, 1); /* once for all of them */
        assert_int_equal(replicas[0].begun, N);
        assert_int_equal(replicas[0].lost, 0);
        close_all();
})

RIG_TEST(what_was_given_up_after_long_is_left_to_a_newcomer_that_is_slow_to_take_it, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 2 * LEASE_MS);
        open_replica(r, &replicas[1], "b");
        replicas[1].fate = 500;
        replicas[1].only = "boss-shard-";
        start(&replicas[1]);
        wait_ms(r, LEASE_MS - 2 * RETRY_MS);
        assert_int_equal(count(&replicas[0]), 4);
        assert_int_equal(replicas[0].begun, N);
        replicas[1].fate = 0;
        wait_ms(r, 3 * RETRY_MS);
        one_shares((const unsigned[3]){ 4, 4, 0 });
        assert_int_equal(replicas[0].begun, N);
        close_all();
})

static shard_set leases_of(struct rig *r, const char *holder)
{
        shard_set set = 0;

        for (unsigned k = 0; k < N; k++)
                if (text_equal(holder_at(r, shard_path(r, k)), holder))
                        set |= SHARD_BIT(k);
        return set;
}

RIG_TEST(what_is_given_up_is_released_when_what_runs_has_ended, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        replicas[0].busy = SHARDS_ALL(N);
        start_replica(r, &replicas[1], "b");
        wait_ms(r, 2 * LEASE_MS);
        assert_int_equal(count(&replicas[0]), 4); /* nothing of the others is begun any more */
        assert_int_equal(leases_of(r, "a"), SHARDS_ALL(N));
        assert_int_equal(count(&replicas[1]), 0);
        for (unsigned k = 0; k < N; k++) /* what runs may write */
                assert_true(shards_may_write(replicas[0].shards, k, shards_term(replicas[0].shards, k)));
        replicas[0].busy = 0;
        replicas[0].arriving_ms = loop_now_ms(r->loop) + 5000;
        wait_ms(r, 4000);
        assert_int_equal(leases_of(r, "a"), SHARDS_ALL(N)); /* and what was sent may arrive */
        wait_ms(r, 3 * RETRY_MS);
        one_shares((const unsigned[3]){ 4, 4, 0 });
        close_all();
})

RIG_TEST(a_killed_replicas_shards_are_taken_once_their_leases_have_run_out, {
        shard_set of_c;
        double unowned;
        begin_three(r);
        unowned = metric_value(replicas[0].metrics, METRIC_SHARD_UNOWNED_SECONDS, NULL);
        of_c = owned(&replicas[2]);
        kill_replica(&replicas[2]);
        wait_ms(r, LEASE_MS - 2 * RETRY_MS);
        assert_int_equal(all_owned(), N - (unsigned)__builtin_popcountll(of_c));
        wait_ms(r, 5 * RETRY_MS);
        one_shares((const unsigned[3]){ 4, 4, 0 });
        assert_int_equal(replicas[0].lost + replicas[1].lost, 0);
        assert_int_equal(replicas[0].prepared, 1);
        assert_true(metric_value(replicas[0].metrics, METRIC_SHARD_UNOWNED_SECONDS, NULL) - unowned <=
                    2.0 * RETRY_MS / 1000 * __builtin_popcountll(of_c));
        wait_ms(r, 12 * LEASE_MS); /* and nothing is left of it */
        assert_int_equal(rig_get(r, LEASES), 200);
        assert_int_equal(json_array_size(doc_get(r->answer, "items")), 1 + N + 2);
        close_all();
})

RIG_TEST(a_replica_that_leaves_hands_over_within_a_retry_period, {
        begin_three(r);
        leave(&replicas[1]);
        close_replica(&replicas[1]);
        wait_ms(r, RETRY_MS + RETRY_MS / 10 + 1000);
        one_shares((const unsigned[3]){ 4, 0, 4 });
        assert_string_equal(holder_at(r, path_of(r, "boss")), "shards-8"); /* others live */
        leave(&replicas[0]);
        leave(&replicas[2]);
        assert_string_equal(holder_at(r, path_of(r, "boss")), ""); /* and the last one puts out the light */
        close_all();
})

/* Of the thirty seconds between SIGTERM and SIGKILL in a Pod that says nothing else. */
RIG_TEST(who_leaves_a_slow_server_gives_all_back_within_half_of_a_pods_grace_period, {
        int64_t left;

        start_replica(r, &replicas[0], "a");
        wait_ms(r, 2000);
        replicas[0].answer_ms = 1900;
        left = loop_now_ms(r->loop);
        leave(&replicas[0]);
        assert_in_range(loop_now_ms(r->loop) - left, replicas[0].answer_ms, 15000);
        assert_int_equal(leases_of(r, "a"), 0);
        assert_string_equal(holder_at(r, path_of(r, "boss")), "");
        close_all();
})

RIG_TEST(who_leaves_with_a_write_under_way_lets_its_leases_run_out, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 2000);
        replicas[0].arriving_ms = loop_now_ms(r->loop) + 10000;
        leave(&replicas[0]);
        assert_int_equal(leases_of(r, "a"), SHARDS_ALL(N));
        assert_string_equal(holder_at(r, path_of(r, "boss")), "shards-8");
        close_all();
})

/* ---- out of touch ---- */

RIG_TEST(a_replica_that_cannot_renew_stops_in_time_and_goes_on_when_nobody_took_over, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        replicas[0].fate = ERR_RETRY;
        wait_ms(r, RENEW_MS + RETRY_MS);
        assert_int_equal(count(&replicas[0]), 0);
        assert_int_equal(replicas[0].works, 0);
        wait_ms(r, 86400000 / 100);
        assert_int_equal(replicas[0].code, 1); /* it has not ended */
        replicas[0].fate = 0;
        wait_ms(r, 3 * RETRY_MS);
        assert_int_equal(count(&replicas[0]), N);
        assert_int_equal(replicas[0].prepared, 0); /* nobody wrote meanwhile */
        close_all();
})

RIG_TEST(a_replica_that_was_cut_off_finds_others_in_its_place, {
        begin_three(r);
        replicas[0].fate = ERR_RETRY;
        wait_ms(r, 3 * LEASE_MS);
        assert_int_equal(count(&replicas[0]), 0);
        one_shares((const unsigned[3]){ 0, 4, 4 });
        replicas[0].fate = 0;
        wait_ms(r, 6 * RETRY_MS);
        assert_int_equal(all_owned(), N);
        assert_in_range(count(&replicas[0]), 2, 3);
        assert_true(replicas[0].prepared > 0);
        close_all();
})

RIG_TEST(one_lease_that_cannot_be_written_costs_that_shard_alone, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        replicas[0].fate = 500;
        replicas[0].only = "shard-3-of";
        wait_ms(r, RENEW_MS + RETRY_MS);
        assert_int_equal(owned(&replicas[0]), SHARDS_ALL(N) & ~SHARD_BIT(3));
        replicas[0].fate = 0;
        wait_ms(r, 2 * RETRY_MS);
        assert_int_equal(owned(&replicas[0]), SHARDS_ALL(N));
        close_all();
})

RIG_TEST(a_lease_that_another_took_is_let_go_of, {
        uint32_t term;
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        term = shards_term(replicas[0].shards, 3);
        assert_int_equal(rig_merge(r, shard_path(r, 3), "{\"spec\":{\"holderIdentity\":\"stranger\"}}"), 200);
        wait_ms(r, 2 * RETRY_MS);
        assert_int_equal(owned(&replicas[0]), SHARDS_ALL(N) & ~SHARD_BIT(3));
        wait_ms(r, LEASE_MS + 3 * RETRY_MS); /* it has run out */
        assert_int_equal(owned(&replicas[0]), SHARDS_ALL(N));
        assert_int_equal(replicas[0].prepared, 1);
        assert_false(shards_may_write(replicas[0].shards, 3, term)); /* of what began before */
        assert_true(shards_may_write(replicas[0].shards, 3, shards_term(replicas[0].shards, 3)));
        close_all();
})

/* ---- the layout ---- */

RIG_TEST(an_agent_without_shards_keeps_replicas_out_and_they_keep_it_out, {
        bool is_free;
        struct leader other;
        const struct leader_options o = { "default", "boss", "lone", LEASE_MS, RENEW_MS, RETRY_MS };
        assert_int_equal(rig_post(r, LEASES,
                                  "{\"metadata\":{\"name\":\"boss\"},\"spec\":{\"holderIdentity\":"
                                  "\"lone\",\"leaseDurationSeconds\":15}}"),
                         201);
        start_replica(r, &replicas[0], "a");
        wait_ms(r, LEASE_MS - RETRY_MS);
        assert_int_equal(count(&replicas[0]), 0);
        wait_ms(r, 4 * RETRY_MS);
        assert_int_equal(count(&replicas[0]), N);
        assert_int_equal(replicas[0].prepared, 1); /* the other wrote until a moment ago */
        leader_init(&other, &replicas[0].kube, &o);
        for (int i = 0; i < 40; i++) {
                assert_int_equal(rig_get(r, path_of(r, "boss")), 200);
                assert_int_equal(leader_look(&other, r->answer, &is_free), 0);
                assert_false(is_free);
                wait_ms(r, 1000);
        }
        leader_clear(&other);
        close_all();
})

RIG_TEST(another_number_of_shards_is_another_layout, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 2000);
        open_replica_of(r, &replicas[1], "b", 4);
        start(&replicas[1]);
        wait_ms(r, 3 * LEASE_MS);
        one_shares((const unsigned[3]){ N, 0, 0 });
        leave(&replicas[0]); /* one of the other layout is nobody to stay for */
        wait_ms(r, 3 * RETRY_MS);
        assert_int_equal(count(&replicas[1]), 4);
        assert_int_equal(replicas[1].prepared, 1);
        close_all();
})

/* Whoever made the leases ended before anybody took one, and then another layout worked. */
static void leave_vacant_leases(struct rig *r)
{
        for (unsigned k = 0; k < N; k++)
                assert_int_equal(
                        rig_post(r, LEASES,
                                 arena_printf(&r->arena,
                                              "{\"metadata\":{\"name\":\"boss-shard-%u-of-%u\",\"labels\":"
                                              "{\"kubernetes-fleet.io/hub-agent-shards\":\"8\"}},"
                                              "\"spec\":{\"holderIdentity\":\"\"}}",
                                              k, N)),
                        201);
        assert_int_equal(rig_post(r, LEASES,
                                  "{\"metadata\":{\"name\":\"boss\"},\"spec\":{\"holderIdentity\":\"\","
                                  "\"acquireTime\":\"2026-01-01T00:00:00.000000Z\"}}"),
                         201);
}

RIG_TEST(leases_that_nobody_ever_took_are_no_sign_that_nobody_wrote, {
        leave_vacant_leases(r);
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 3 * RETRY_MS);
        assert_int_equal(count(&replicas[0]), N);
        assert_int_equal(replicas[0].prepared, 1);
        close_all();
})

/* Nor for who did not begin the layout: it cannot know what worked before it was begun. */
RIG_TEST(who_only_joins_a_layout_fills_its_caches_whatever_the_leases_say, {
        leave_vacant_leases(r);
        begin_three(r);
        for (int i = 0; i < 3; i++)
                assert_int_equal(replicas[i].prepared, 1);
        close_all();
})

RIG_TEST(who_loses_the_layout_ends, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        assert_int_equal(rig_merge(r, path_of(r, "boss"), "{\"spec\":{\"holderIdentity\":\"lone\"}}"), 200);
        wait_ms(r, 2 * RETRY_MS);
        assert_int_equal(count(&replicas[0]), 0);
        assert_int_equal(replicas[0].works, 0);
        assert_int_equal(replicas[0].code, ERR_TIMEOUT);
        close_all();
})

RIG_TEST(a_layout_lost_and_vacant_again_while_out_of_touch_is_begun_anew, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        replicas[0].fate = ERR_RETRY;
        wait_ms(r, 2 * LEASE_MS);
        assert_int_equal(rig_merge(r, path_of(r, "boss"), "{\"spec\":{\"holderIdentity\":\"\"}}"), 200);
        replicas[0].fate = 0;
        wait_ms(r, 3 * RETRY_MS);
        assert_int_equal(count(&replicas[0]), N);
        assert_int_equal(replicas[0].prepared, 1); /* another wrote */
        close_all();
})

/* ---- hands in the leases ---- */

RIG_TEST(a_lease_that_a_user_removed_is_made_anew_by_its_holder_alone, {
        begin_three(r);
        for (unsigned k = 0; k < N; k++)
                assert_int_equal(rig_delete(r, shard_path(r, k)), 200);
        wait_ms(r, 10 * RETRY_MS);
        assert_int_equal(all_owned(), N);
        for (int i = 0; i < 3; i++)
                assert_int_equal(replicas[i].lost, 0);
        close_all();
})

RIG_TEST(the_lease_of_a_dead_holder_that_a_user_removed_is_taken_as_late_as_ever, {
        unsigned prepared;
        begin_three(r);
        prepared = replicas[0].prepared;
        kill_replica(&replicas[2]);
        for (unsigned k = 0; k < N; k++)
                assert_int_equal(rig_delete(r, shard_path(r, k)), 200);
        wait_ms(r, LEASE_MS - 2 * RETRY_MS);
        assert_in_range(all_owned(), N - 3, N - 2);
        wait_ms(r, 6 * RETRY_MS);
        one_shares((const unsigned[3]){ 4, 4, 0 });
        assert_int_equal(replicas[0].prepared, prepared + 1); /* whose it was is not known */
        close_all();
})

RIG_TEST(a_layout_that_a_user_removed_is_made_anew_and_nothing_stops, {
        begin_three(r);
        assert_int_equal(rig_delete(r, path_of(r, "boss")), 200);
        wait_ms(r, 10 * RETRY_MS);
        assert_int_equal(all_owned(), N);
        for (int i = 0; i < 3; i++)
                assert_int_equal(replicas[i].lost, 0);
        close_all();
})

RIG_TEST(garbage_in_leases_is_waited_out, {
        static const char *const garbage[] = {
                "{\"spec\":{\"holderIdentity\":\"x\",\"leaseDurationSeconds\":2147483647}}",
                "{\"spec\":null}",
                "{\"spec\":{\"holderIdentity\":\"\",\"renewTime\":null}}",
                "{\"metadata\":{\"labels\":null}}",
        };
        begin_three(r);
        for (size_t i = 0; i < ARRAY_LEN(garbage); i++) {
                assert_int_equal(rig_merge(r, shard_path(r, (unsigned)i), garbage[i]), 200);
                assert_int_equal(
                        rig_post(r, LEASES,
                                 arena_printf(&r->arena,
                                              "{\"metadata\":{\"name\":\"boss-replica-%zu\",\"labels\":"
                                              "{\"kubernetes-fleet.io/hub-agent-shards\":\"8\"}}}",
                                              i)),
                        201);
                rig_merge(r, path_of(r, arena_printf(&r->arena, "boss-replica-%zu", i)), garbage[i]);
        }
        wait_ms(r, 12 * LEASE_MS);
        assert_int_equal(all_owned(), N);
        for (int i = 0; i < 3; i++)
                assert_in_range(count(&replicas[i]), 2, 3);
        close_all();
})

/* ---- odds ---- */

RIG_TEST(a_take_over_that_fails_is_tried_again_while_the_lease_is_kept, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        open_replica(r, &replicas[1], "b");
        replicas[1].prepare_fails = 20;
        start(&replicas[1]);
        wait_ms(r, 2 * LEASE_MS);
        one_shares((const unsigned[3]){ 4, 4, 0 });
        assert_int_equal(replicas[1].prepared, 21);
        close_all();
})

/* Its caches are older than what the one before it wrote, however often the lease is taken meanwhile. */
RIG_TEST(a_take_over_that_was_cut_short_fills_the_caches_when_it_is_tried_again, {
        unsigned prepared;
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        open_replica(r, &replicas[1], "b");
        replicas[1].prepare_fails = 1000;
        start(&replicas[1]);
        wait_ms(r, LEASE_MS);
        replicas[1].fate = ERR_RETRY;
        wait_ms(r, RENEW_MS + RETRY_MS);
        assert_true(leases_of(r, "b") != 0);
        prepared = replicas[1].prepared;
        replicas[1].fate = replicas[1].prepare_fails = 0;
        wait_ms(r, 3 * RETRY_MS);
        one_shares((const unsigned[3]){ 4, 4, 0 });
        assert_int_equal(replicas[1].prepared, prepared + 1);
        close_all();
})

/* Removing each takes as long as its answer does. */
RIG_TEST(many_leases_of_the_dead_keep_nobody_from_renewing, {
        start_replica(r, &replicas[0], "a");
        for (int i = 0; i < 20; i++)
                assert_int_equal(
                        rig_post(r, LEASES,
                                 arena_printf(&r->arena,
                                              "{\"metadata\":{\"name\":\"boss-replica-%d\",\"labels\":"
                                              "{\"kubernetes-fleet.io/hub-agent-shards\":\"8\"}},"
                                              "\"spec\":{\"holderIdentity\":\"dead-%d\"}}",
                                              i, i)),
                        201);
        wait_ms(r, 9 * LEASE_MS);
        replicas[0].answer_ms = 900;
        wait_ms(r, 13 * LEASE_MS);
        assert_int_equal(count(&replicas[0]), N);
        assert_int_equal(replicas[0].lost, 0);
        assert_int_equal(rig_get(r, LEASES), 200);
        assert_int_equal(json_array_size(doc_get(r->answer, "items")), 1 + N + 1);
        close_all();
})

RIG_TEST(a_write_on_its_way_holds_up_its_own_shard_alone, {
        shard_set given;
        shard_set late;
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        replicas[0].busy = SHARDS_ALL(N);
        start_replica(r, &replicas[1], "b");
        wait_ms(r, 2 * LEASE_MS);
        given = SHARDS_ALL(N) & ~owned(&replicas[0]);
        late = given & -given;
        replicas[0].arriving = late;
        replicas[0].arriving_ms = loop_now_ms(r->loop) + 4 * RETRY_MS;
        replicas[0].busy = 0;
        wait_ms(r, 3 * RETRY_MS);
        assert_int_equal(leases_of(r, "a"), owned(&replicas[0]) | late);
        assert_int_equal(owned(&replicas[1]), given & ~late);
        wait_ms(r, 4 * RETRY_MS);
        one_shares((const unsigned[3]){ 4, 4, 0 });
        replicas[0].arriving_ms = loop_now_ms(r->loop) + LEASE_MS + 10 * RETRY_MS;
        replicas[0].arriving = late = owned(&replicas[0]) & -owned(&replicas[0]);
        replicas[0].fate = 500;
        replicas[0].only = "boss-shard-";
        wait_ms(r, RENEW_MS + RETRY_MS);
        assert_int_equal(count(&replicas[0]), 0);
        replicas[0].fate = 0;
        wait_ms(r, 3 * RETRY_MS);
        assert_int_equal(count(&replicas[0]), 3); /* and is begun alone later */
        wait_ms(r, LEASE_MS + 8 * RETRY_MS);
        one_shares((const unsigned[3]){ 4, 4, 0 });
        close_all();
})

/* What it sent for others' keys is no matter of what it never worked on. */
RIG_TEST(what_is_on_its_way_holds_up_no_shard_that_another_worked_on, {
        start_replica(r, &replicas[0], "a");
        wait_ms(r, 10000);
        open_replica(r, &replicas[1], "b");
        replicas[1].arriving_ms = loop_now_ms(r->loop) + 100 * LEASE_MS;
        start(&replicas[1]);
        wait_ms(r, 4 * RETRY_MS);
        one_shares((const unsigned[3]){ 4, 4, 0 });
        kill_replica(&replicas[0]);
        replicas[1].fate = ERR_RETRY;
        wait_ms(r, RENEW_MS + RETRY_MS);
        replicas[1].fate = 0;
        wait_ms(r, 2 * LEASE_MS);
        assert_int_equal(count(&replicas[1]), 4); /* but what it did work on waits */
        replicas[1].arriving_ms = 0;
        close_all();
})

RIG_TEST(slow_answers_make_nobody_lose_anything, {
        begin_three(r);
        for (int i = 0; i < 3; i++)
                replicas[i].answer_ms = 900;
        wait_ms(r, 10 * LEASE_MS);
        assert_int_equal(all_owned(), N);
        for (int i = 0; i < 3; i++)
                assert_int_equal(replicas[i].lost, 0);
        close_all();
})

/* The same identity again, as a container that starts again in its Pod: it need not wait for itself. */
RIG_TEST(a_replica_that_starts_again_under_its_name_takes_what_was_its_own, {
        begin_three(r);
        kill_replica(&replicas[2]);
        start_replica(r, &replicas[2], "c");
        wait_ms(r, 2 * RETRY_MS);
        assert_int_equal(all_owned(), N);
        assert_int_equal(replicas[2].prepared, 1);
        close_all();
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_replica_takes_all_and_fills_no_cache_anew),
                cmocka_unit_test(three_replicas_that_start_at_once_share_all_at_once),
                cmocka_unit_test(a_newcomer_is_given_its_share_by_those_who_work),
                cmocka_unit_test(what_was_given_up_after_long_is_left_to_a_newcomer_that_is_slow_to_take_it),
                cmocka_unit_test(what_is_given_up_is_released_when_what_runs_has_ended),
                cmocka_unit_test(a_killed_replicas_shards_are_taken_once_their_leases_have_run_out),
                cmocka_unit_test(a_replica_that_leaves_hands_over_within_a_retry_period),
                cmocka_unit_test(who_leaves_a_slow_server_gives_all_back_within_half_of_a_pods_grace_period),
                cmocka_unit_test(who_leaves_with_a_write_under_way_lets_its_leases_run_out),
                cmocka_unit_test(a_replica_that_cannot_renew_stops_in_time_and_goes_on_when_nobody_took_over),
                cmocka_unit_test(a_replica_that_was_cut_off_finds_others_in_its_place),
                cmocka_unit_test(one_lease_that_cannot_be_written_costs_that_shard_alone),
                cmocka_unit_test(a_lease_that_another_took_is_let_go_of),
                cmocka_unit_test(an_agent_without_shards_keeps_replicas_out_and_they_keep_it_out),
                cmocka_unit_test(another_number_of_shards_is_another_layout),
                cmocka_unit_test(leases_that_nobody_ever_took_are_no_sign_that_nobody_wrote),
                cmocka_unit_test(who_only_joins_a_layout_fills_its_caches_whatever_the_leases_say),
                cmocka_unit_test(who_loses_the_layout_ends),
                cmocka_unit_test(a_layout_lost_and_vacant_again_while_out_of_touch_is_begun_anew),
                cmocka_unit_test(a_lease_that_a_user_removed_is_made_anew_by_its_holder_alone),
                cmocka_unit_test(the_lease_of_a_dead_holder_that_a_user_removed_is_taken_as_late_as_ever),
                cmocka_unit_test(a_layout_that_a_user_removed_is_made_anew_and_nothing_stops),
                cmocka_unit_test(garbage_in_leases_is_waited_out),
                cmocka_unit_test(a_take_over_that_fails_is_tried_again_while_the_lease_is_kept),
                cmocka_unit_test(a_take_over_that_was_cut_short_fills_the_caches_when_it_is_tried_again),
                cmocka_unit_test(many_leases_of_the_dead_keep_nobody_from_renewing),
                cmocka_unit_test(a_write_on_its_way_holds_up_its_own_shard_alone),
                cmocka_unit_test(what_is_on_its_way_holds_up_no_shard_that_another_worked_on),
                cmocka_unit_test(slow_answers_make_nobody_lose_anything),
                cmocka_unit_test(a_replica_that_starts_again_under_its_name_takes_what_was_its_own),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
