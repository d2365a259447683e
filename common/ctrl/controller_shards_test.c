/* The controller frame of replicas that share keys out: each key is worked on by one of them, and nothing is
 * written for a key that is another's. */
#include "common/base/memory.h"
#include "common/ctrl/controller_stopped_test.h"
#include "common/ctrl/frame.h"
#include "common/ctrl/shards_plan.h"

#define N 4
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"
#define KEYS 24

static unsigned forgotten, cut_off;
static const char *unknown; /* the placement of this key cannot be told, once its object is gone */

static int placement_of(void *agent, const char *key, const struct object *about, struct key *ret)
{
        if (text_equal(key, unknown) && !(about && text_equal(about->meta.name, key)))
                return 0;
        return key_join(ret, NULL, '/', key);
}

static const struct controller shared = {
        .name = "test",
        .watches = member_watches,
        .n_watches = ARRAY_LEN(member_watches),
        .reconcile = reconcile,
        .reconcile_deadline_ms = DEADLINE_MS,
        .backoff_base_ms = 100,
        .backoff_max_ms = BACKOFF_MAX_MS,
        .placement_of = placement_of,
};

static void forget(void *agent)
{
        forgotten++;
}

static void open_shared(struct rig *r, struct bench *b, const char *identity, const struct controller *c)
{
        const struct manager_options o = { .lease_namespace = "default",
                                           .lease_name = "test",
                                           .identity = identity,
                                           .shards = N,
                                           .forget = forget };

        open_bench_led(r, b, o, c, NULL);
}

static void make_all(struct rig *r)
{
        char name[16];

        for (int i = 0; i < KEYS; i++) {
                snprintf(name, sizeof(name), "m%d", i);
                make(r, name);
        }
}

static unsigned visits_of(const struct bench *b, const char *key)
{
        unsigned n = 0;

        vec_for_each(&b->visits, v)
                n += text_equal(v->key, key);
        return n;
}

static void edit_all(struct bench *b, int heartbeat)
{
        char name[16], patch[64];

        snprintf(patch, sizeof(patch), "{\"spec\":{\"heartbeatPeriodSeconds\":%d}}", heartbeat);
        for (int i = 0; i < KEYS; i++) {
                snprintf(name, sizeof(name), "m%d", i);
                edit(b, name, patch);
        }
}

/* Each key was worked on by one of the two, and each of them had some. */
static void are_shared(struct bench *a, struct bench *b)
{
        unsigned by_a = 0;
        char name[16];

        for (int i = 0; i < KEYS; i++) {
                snprintf(name, sizeof(name), "m%d", i);
                assert_int_equal(visits_of(a, name) + visits_of(b, name), 1);
                by_a += visits_of(a, name);
        }
        assert_in_range(by_a, 1, KEYS - 1);
}

RIG_TEST(each_key_is_worked_on_by_one_of_two, {
        struct bench a;
        struct bench b;
        open_shared(r, &a, "a", &shared);
        make_all(r);
        run_manager(&a);
        wait_ms(&a, 5000);
        assert_int_equal(a.visits.n, KEYS);
        open_shared(r, &b, "b", &shared);
        run_manager(&b);
        wait_ms(&a, 10000);
        assert_int_equal(a.visits.n, KEYS); /* what it kept it does not look at anew */
        assert_in_range(b.visits.n, 1, KEYS - 1);
        a.visits.n = b.visits.n = 0;
        edit_all(&a, 31);
        wait_ms(&a, 1000);
        are_shared(&a, &b);
        close_bench(&b); /* it leaves, and the other has all again */
        wait_ms(&a, 3000);
        a.visits.n = 0;
        edit_all(&a, 32);
        wait_ms(&a, 1000);
        assert_int_equal(a.visits.n, KEYS);
        close_bench(&a);
})

static void take_from(struct rig *r, const char *key, const char *holder)
{
        assert_int_equal(
                rig_merge(r, arena_printf(&r->arena, LEASES "/test-shard-%u-of-%u", shard_of_key(key, N), N),
                          arena_printf(&r->arena, "{\"spec\":{\"holderIdentity\":\"%s\"}}", holder)),
                200);
}

RIG_TEST(what_was_begun_before_a_shard_was_lost_writes_nothing_any_more, {
        struct bench b;
        int64_t before;
        open_shared(r, &b, "a", &shared);
        b.reconcile = write_when_open;
        make(r, "m1");
        run_manager(&b);
        wait_ms(&b, 2000);
        assert_int_equal(b.running, 1);
        before = heartbeat_at(r, "m1");
        take_from(r, "m1", "stranger");
        wait_ms(&b, 3000);
        b.open = true;
        waitq_wake_all(&b.gate);
        wait_ms(&b, 1000);
        assert_int_equal(b.code, ERR_RETRY);
        assert_int_equal(b.running, 0);
        assert_int_equal(heartbeat_at(r, "m1"), before);
        wait_ms(&b, 5000);
        assert_int_equal(b.visits.n, 1); /* and does not come again */
        wait_ms(&b, 20000);              /* until the shard is ours again */
        assert_int_equal(heartbeat_at(r, "m1"), 77);
        close_bench(&b);
})

static void open_of_shared(struct rig *r, struct bench *b, const char *identity)
{
        open_shared(r, b, identity, &shared);
}

/* As SIGSTOP and SIGCONT do, with the write waiting for a connection. */
RIG_TEST(a_replica_that_was_stopped_with_a_write_decided_does_not_send_it_after_its_lease, {
        struct bench a;
        struct bench b;
        int64_t before = stop_with_write_decided(r, &a, &b, open_of_shared, 60000);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == N);
        assert_int_equal(b.visits.n, 1);
        go_on_without_writing(r, &a, before);
        assert_int_equal(manager_arriving_of(a.manager, SHARDS_ALL(N)), 0); /* nor is it on its way */
        close_bench(&b);
        close_bench(&a);
        process = loop_process_free(process);
})

static struct outcome wait_for_cancel(struct bench *b, struct reconcile *rc)
{
        int code = fiber_sleep(b->rig->loop, 15000);

        cut_off += code < 0;
        return code < 0 ? (struct outcome){ code } : done();
}

RIG_TEST(what_runs_is_stopped_when_its_shard_is_lost_and_only_that, {
        struct bench b;
        size_t of_lost = 0;
        char name[16];
        open_shared(r, &b, "a", &shared);
        b.reconcile = wait_for_cancel;
        make_all(r);
        run_manager(&b);
        wait_ms(&b, 1000);
        for (int i = 0; i < KEYS; i++) {
                snprintf(name, sizeof(name), "m%d", i);
                of_lost += shard_of_key(name, N) == shard_of_key("m1", N);
        }
        forgotten = 0;
        take_from(r, "m1", "stranger");
        wait_ms(&b, 3000);
        assert_int_equal(forgotten, 1);
        vec_for_each(&b.visits, v)
                assert_true(map_has(&b.active, v->key) == (shard_of_key(v->key, N) != shard_of_key("m1", N)));
        assert_true(of_lost > 0);
        assert_true(b.running > 0);
        close_bench(&b);
})

RIG_TEST(a_given_up_shard_waits_for_what_runs, {
        struct bench a;
        struct bench b;
        open_shared(r, &a, "a", &shared);
        a.reconcile = wait_for_cancel;
        cut_off = 0;
        make_all(r);
        run_manager(&a);
        wait_ms(&a, 1000);
        open_shared(r, &b, "b", &shared);
        run_manager(&b);
        wait_ms(&a, 10000);
        assert_int_equal(b.visits.n, 0);
        wait_ms(&a, 15000);
        assert_in_range(b.visits.n, 1, KEYS);
        assert_int_equal(cut_off, 0);
        close_bench(&b);
        close_bench(&a);
})

RIG_TEST(a_key_whose_object_is_gone_is_worked_on_as_its_event_told_the_placement, {
        struct bench b;
        open_shared(r, &b, "a", &shared);
        unknown = "m1";
        make(r, "m1");
        run_manager(&b);
        wait_ms(&b, 2000);
        assert_int_equal(b.visits.n, 1);
        assert_int_equal(rig_delete(r, GROUP "/m1"), 200);
        wait_ms(&b, 1000);
        assert_int_equal(b.visits.n, 2);
        assert_int_equal(b.visits.at[1].heartbeat, -1);
        manager_enqueue(b.manager, &shared, "m1", QUEUE_HIGH); /* now nobody knows */
        manager_enqueue_after(b.manager, &shared, "m1", 10);
        wait_ms(&b, 1000);
        assert_int_equal(b.visits.n, 2);
        unknown = NULL;
        close_bench(&b);
})

static const char *doubted;

/* The answer of the write is lost, and by the look at the cache nothing is to be written. */
static struct outcome doubts_once(struct bench *b, struct reconcile *rc)
{
        const struct object *o;
        struct member_cluster wanted;
        struct member_cluster_spec spec;

        if (!text_equal(rc->key, doubted) || visits_of(b, doubted) > 1)
                return done();
        assert_int_equal(cache_get(rc, &member_cluster_kind, NULL, rc->name, &o), 0);
        wanted = *(const struct member_cluster *)o;
        spec = *wanted.spec;
        spec.heartbeat_period_seconds.value++;
        wanted.spec = &spec;
        b->code = rc_patch_diff(rc, o, &wanted.object, OBJECT_META_SPEC, NULL);
        return failed(rc->err);
}

static char unwritten[64]; /* the lease that cannot be written */

static int lose_answers(void *ctx, const struct http_request *rq)
{
        if (text_equal(rq->method, "PUT") && strstr(rq->path, unwritten))
                return 500;
        return text_equal(rq->method, "PATCH") ? ERR_CLOSED : 0;
}

static void map_to_nothing(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
}

static const struct watch silent_watches[] = { { &member_cluster_kind, ON_DELETION, map_to_nothing } };

static const struct controller silent = {
        .name = "test",
        .watches = silent_watches,
        .n_watches = ARRAY_LEN(silent_watches),
        .reconcile = reconcile,
        .backoff_base_ms = 100,
        .backoff_max_ms = BACKOFF_MAX_MS,
        .placement_of = placement_of,
};

static const char *of_another_shard(struct rig *r, const char *key)
{
        const char *name = key;

        for (int i = 0; shard_of_key(name, N) == shard_of_key(key, N); i++)
                name = arena_printf(&r->arena, "m%d", i);
        return name;
}

/* The shard of m1 is lost and comes again, while an answer that was lost is still told by no event. */
RIG_TEST(a_shard_that_comes_settles_no_doubt_of_another, {
        struct bench b;
        open_shared(r, &b, "a", &silent);
        make_all(r);
        run_manager(&b);
        wait_ms(&b, 2000);
        doubted = of_another_shard(r, "m1");
        snprintf(unwritten, sizeof(unwritten), "test-shard-%u-of", shard_of_key("m1", N));
        b.reconcile = doubts_once;
        b.faults.fate = lose_answers;
        b.stalled = true;
        manager_enqueue(b.manager, &silent, doubted, QUEUE_HIGH);
        wait_ms(&b, 13000);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == N - 1);
        b.faults.fate = NULL;
        wait_ms(&b, 15000);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == N);
        assert_true(metric_value(b.metrics, METRIC_SHARD_TAKEOVERS, NULL) == N + 1);
        assert_int_equal(visits_of(&b, doubted), 2);
        b.stalled = false;
        wait_ms(&b, 600000); /* a watch that is silent is opened anew */
        assert_int_equal(visits_of(&b, doubted), 3);
        close_bench(&b);
})

RIG_TEST(a_write_without_an_answer_holds_up_no_other_shard, {
        struct bench b;
        open_shared(r, &b, "a", &silent);
        make_all(r);
        run_manager(&b);
        wait_ms(&b, 2000);
        doubted = of_another_shard(r, "m1");
        snprintf(unwritten, sizeof(unwritten), "test-shard-%u-of", shard_of_key("m1", N));
        b.reconcile = doubts_once;
        b.faults.fate = lose_answers;
        wait_ms(&b, 13000);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == N - 1);
        manager_enqueue(b.manager, &silent, doubted, QUEUE_HIGH);
        wait_ms(&b, 500);
        assert_int_equal(visits_of(&b, doubted), 2);
        b.faults.fate = NULL;
        wait_ms(&b, 5000);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == N);
        /* Its own it does. */
        snprintf(unwritten, sizeof(unwritten), "test-shard-%u-of", shard_of_key(doubted, N));
        b.faults.fate = lose_answers;
        wait_ms(&b, 8000);
        b.visits.n = 0;
        manager_enqueue(b.manager, &silent, doubted, QUEUE_HIGH);
        wait_ms(&b, 5000);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == N - 1);
        b.faults.fate = NULL;
        wait_ms(&b, 3000);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == N - 1);
        wait_ms(&b, 10000);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == N);
        close_bench(&b);
})

static unsigned mapped;

static void count_maps(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        mapped++;
}

static const struct watch counting_watches[] = { { &member_cluster_kind, ON_SPEC, count_maps } };

static const struct controller of_the_first = {
        .name = "first", .watches = counting_watches, .n_watches = 1, .reconcile = reconcile
};

/* What a map does beside giving keys, as forgetting what was known, is not to be done for nothing. */
RIG_TEST(what_is_no_placements_is_walked_for_the_first_shard_alone, {
        struct bench b;
        const char *key = NULL;
        open_shared(r, &b, "a", &of_the_first);
        make_all(r);
        run_manager(&b);
        wait_ms(&b, 2000);
        for (int i = 0; !key || shard_of_key(key, N) == 0; i++)
                key = arena_printf(&r->arena, "m%d", i);
        b.faults.fate = lose_answers;
        snprintf(unwritten, sizeof(unwritten), "test-shard-%u-of", shard_of_key(key, N));
        wait_ms(&b, 13000);
        mapped = 0;
        b.faults.fate = NULL;
        wait_ms(&b, 15000);
        assert_true(metric_value(b.metrics, METRIC_SHARD_TAKEOVERS, NULL) == N + 1);
        assert_int_equal(mapped, 0);
        b.faults.fate = lose_answers;
        snprintf(unwritten, sizeof(unwritten), "test-shard-0-of");
        wait_ms(&b, 13000);
        b.faults.fate = NULL;
        wait_ms(&b, 15000);
        assert_true(metric_value(b.metrics, METRIC_SHARD_TAKEOVERS, NULL) == N + 2);
        assert_int_equal(mapped, KEYS);
        close_bench(&b);
})

static unsigned mapped_meanwhile;

static void note_mapped(void *ctx)
{
        mapped_meanwhile = mapped;
}

static void spawn_at_first(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        struct bench *b = agent;

        if (mapped++ == 0)
                assert_non_null(fiber_spawn(b->group, "other", note_mapped, b));
}

static const struct watch spawning_watches[] = { { &member_cluster_kind, ON_SPEC, spawn_at_first } };

static const struct controller of_many = {
        .name = "many", .watches = spawning_watches, .n_watches = 1, .reconcile = reconcile
};

#define MANY 2000

/* The walk over all keys of a shard that comes holds nobody up. */
RIG_TEST(others_run_while_the_keys_of_a_shard_that_comes_are_looked_at, {
        struct bench b;
        char name[16];
        open_shared(r, &b, "a", &of_many);
        for (int i = 0; i < MANY; i++) {
                snprintf(name, sizeof(name), "m%d", i);
                make(r, name);
        }
        run_manager(&b);
        wait_ms(&b, 2000);
        mapped = 0;
        snprintf(unwritten, sizeof(unwritten), "test-shard-0-of");
        b.faults.fate = lose_answers;
        wait_ms(&b, 13000);
        b.faults.fate = NULL;
        wait_ms(&b, 15000);
        assert_true(metric_value(b.metrics, METRIC_SHARD_TAKEOVERS, NULL) == N + 1);
        assert_int_equal(mapped, MANY);
        assert_in_range(mapped_meanwhile, 1, MANY - 1);
        close_bench(&b);
})

/* A kind that may be absent, and is. */
static const struct watch late_watches[] = { { &internal_member_cluster_kind, ON_ALL, NULL } };
static const struct controller late = {
        .name = "late", .watches = late_watches, .n_watches = 1, .reconcile = reconcile, .optional = true
};

RIG_TEST(a_cache_that_nobody_waits_for_holds_up_no_take_over, {
        struct bench a;
        struct bench b;
        open_shared(r, &a, "a", &shared);
        make_all(r);
        run_manager(&a);
        wait_ms(&a, 2000);
        open_shared(r, &b, "b", &shared);
        assert_int_equal(rig_delete(r, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                                       "internalmemberclusters.cluster.kubernetes-fleet.io"),
                         200);
        wait_ms(&a, 1000);
        assert_int_equal(manager_add_controller(b.manager, &late), 0);
        run_manager(&b);
        wait_ms(&b, 10000);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == N / 2);
        assert_in_range(b.visits.n, 1, KEYS - 1);
        close_bench(&b);
        close_bench(&a);
})

static struct outcome note_all(struct reconcile *rc)
{
        struct bench *b = rc->agent;
        struct visit v = { .heartbeat = 0 };

        assert_int_equal(vec_push(&b->visits, v), 0);
        return done();
}

static const struct controller standing = { .name = "test", .reconcile = note_all, .standing_key = "all" };

RIG_TEST(what_is_no_placements_belongs_to_who_has_the_first_shard, {
        struct bench a;
        struct bench b;
        struct bench *first;
        open_shared(r, &a, "a", &standing);
        open_shared(r, &b, "b", &standing);
        run_manager(&a);
        run_manager(&b);
        wait_ms(&a, 10000);
        assert_true(manager_is_leader(a.manager) != manager_is_leader(b.manager));
        first = manager_is_leader(a.manager) ? &a : &b;
        assert_true(first->visits.n > 0);
        a.visits.n = b.visits.n = 0;
        manager_enqueue(a.manager, &standing, "all", QUEUE_HIGH);
        manager_enqueue(b.manager, &standing, "all", QUEUE_HIGH);
        wait_ms(&a, 1000);
        assert_int_equal(first->visits.n, 1);
        assert_int_equal(a.visits.n + b.visits.n, 1);
        close_bench(first);
        wait_ms(first == &a ? &b : &a, 4000);
        assert_int_equal((first == &a ? &b : &a)->visits.n, 1); /* the other does it then */
        close_bench(first == &a ? &b : &a);
})

/* Its watch is stalled: what the one before it wrote it knows only of a new list. */
RIG_TEST(who_takes_a_shard_over_knows_what_was_written_before_and_the_rest_goes_on, {
        struct bench a;
        struct bench b;
        open_shared(r, &a, "a", &shared);
        make_all(r);
        run_manager(&a);
        open_shared(r, &b, "b", &shared);
        run_manager(&b);
        wait_ms(&a, 10000);
        b.stalled = true;
        edit_all(&a, 44);
        wait_ms(&a, 1000);
        b.visits.n = 0;
        close_bench(&a);
        wait_ms(&b, 5000);
        assert_in_range(b.visits.n, KEYS, 2 * KEYS); /* a new list tells of its own keys too */
        vec_for_each(&b.visits, v)
                assert_int_equal(v->heartbeat, 44);
        close_bench(&b);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_key_is_worked_on_by_one_of_two),
                cmocka_unit_test(what_was_begun_before_a_shard_was_lost_writes_nothing_any_more),
                cmocka_unit_test(
                        a_replica_that_was_stopped_with_a_write_decided_does_not_send_it_after_its_lease),
                cmocka_unit_test(what_runs_is_stopped_when_its_shard_is_lost_and_only_that),
                cmocka_unit_test(a_given_up_shard_waits_for_what_runs),
                cmocka_unit_test(a_key_whose_object_is_gone_is_worked_on_as_its_event_told_the_placement),
                cmocka_unit_test(a_shard_that_comes_settles_no_doubt_of_another),
                cmocka_unit_test(a_write_without_an_answer_holds_up_no_other_shard),
                cmocka_unit_test(what_is_no_placements_is_walked_for_the_first_shard_alone),
                cmocka_unit_test(others_run_while_the_keys_of_a_shard_that_comes_are_looked_at),
                cmocka_unit_test(a_cache_that_nobody_waits_for_holds_up_no_take_over),
                cmocka_unit_test(what_is_no_placements_belongs_to_who_has_the_first_shard),
                cmocka_unit_test(who_takes_a_shard_over_knows_what_was_written_before_and_the_rest_goes_on),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
