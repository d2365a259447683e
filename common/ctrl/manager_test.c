/* The manager and its caches: which of them it waits for, and what happens when they go or fail. */
#include "common/base/intern.h"
#include "common/ctrl/controller.h"
#include "common/ctrl/informer_test.h"

struct bench {
        struct fixture *f;
        struct metrics *metrics;
        struct manager *manager;
        struct error err;
        int code; /* of manager_run, 1 = it runs */
        unsigned visits, other_visits;
        struct outcome (*reconcile)(struct bench *b, struct reconcile *rc);
        bool no_memory;
        int read; /* what the last read of a cache came to */
};

static struct outcome reconcile(struct reconcile *rc)
{
        struct bench *b = rc->agent;

        b->visits++;
        return b->reconcile ? b->reconcile(b, rc) : done();
}

static struct outcome reconcile_other(struct reconcile *rc)
{
        ((struct bench *)rc->agent)->other_visits++;
        return done();
}

static const struct watch watches[] = {
        { &member_cluster_kind, ON_ALL, NULL },
};

static const struct controller controller = {
        .name = "test", .watches = watches, .n_watches = ARRAY_LEN(watches), .reconcile = reconcile
};

/* Lists of Works never come to an end: the server knows but one kind. */
static const struct watch unfillable[] = {
        { &member_cluster_kind, ON_ALL, NULL },
        { &work_kind, ON_ALL, NULL },
};

static const struct controller other_controller = { .name = "other",
                                                    .watches = unfillable,
                                                    .n_watches = ARRAY_LEN(unfillable),
                                                    .reconcile = reconcile_other };

static void open_bench(struct fixture *f, struct bench *b)
{
        struct manager_options o = { .world = &f->world, .log = &f->log, .kube = &f->kube, .agent = b };

        *b = (struct bench){ .f = f, .metrics = metrics_new(METRIC_OF_BOTH), .code = 1 };
        o.component = "test";
        o.metrics = b->metrics;
        b->manager = manager_new(&o, f->group, &b->err);
        assert_non_null(b->manager);
}

static void manager_fiber(void *ctx)
{
        struct bench *b = ctx;

        b->code = manager_run(b->manager, &b->err);
}

static struct fiber *run_manager(struct bench *b)
{
        struct fiber *fiber = fiber_spawn(b->f->group, "manager", manager_fiber, b);

        assert_non_null(fiber);
        fiber_sleep(b->f->loop, 1000);
        return fiber;
}

static void close_bench(struct bench *b, struct fiber *fiber)
{
        fiber_cancel(fiber);
        fiber_sleep(b->f->loop, 1000);
        assert_int_equal(b->code, ERR_CANCELLED);
        manager_free(b->manager);
        metrics_free(b->metrics);
}

static struct informer *add_other(struct bench *b)
{
        struct informer_options o = { .kind = &work_kind, .flags = DECODE_PROJECTION };
        struct informer *i;

        assert_int_equal(manager_add_informer(b->manager, &o, &i), 0);
        return i;
}

/* A kind whose lists fail for as long as it exists, and then it goes. */
static void body_removed(struct fixture *f)
{
        struct informer *other;
        struct fiber *fiber;
        struct bench b;

        put(&f->server, "a");
        open_bench(f, &b);
        other = add_other(&b);
        manager_await_informer(b.manager, other);
        assert_int_equal(manager_add_controller(b.manager, &controller), 0);
        fiber = run_manager(&b);
        assert_false(manager_is_leader(b.manager));
        manager_remove_informer(b.manager, other);
        fiber_sleep(f->loop, 1000);
        assert_true(manager_is_leader(b.manager));
        fiber_sleep(f->loop, 1000);
        assert_int_equal(b.visits, 1);
        close_bench(&b, fiber);
}

static void an_informer_that_goes_while_the_manager_waits_for_it_holds_up_nothing(void **state)
{
        with_plain_informer(body_removed);
}

static void body_unawaited(struct fixture *f)
{
        struct fiber *fiber;
        struct bench b;

        put(&f->server, "a");
        open_bench(f, &b);
        add_other(&b);
        assert_int_equal(manager_add_controller(b.manager, &controller), 0);
        fiber = run_manager(&b);
        assert_true(manager_is_leader(b.manager));
        assert_int_equal(b.visits, 1);
        close_bench(&b, fiber);
}

static void nobody_waits_for_a_cache_that_no_controller_names(void **state)
{
        with_plain_informer(body_unawaited);
}

static void body_unfillable(struct fixture *f)
{
        struct fiber *fiber;
        struct bench b;

        put(&f->server, "a");
        open_bench(f, &b);
        assert_int_equal(manager_add_controller(b.manager, &controller), 0);
        assert_int_equal(manager_add_controller(b.manager, &other_controller), 0);
        fiber = run_manager(&b);
        fiber_sleep(f->loop, 10000);
        assert_int_equal(b.visits, 0); /* a cache that only takes long is worth a wait */
        fiber_sleep(f->loop, 20000);
        assert_int_equal(b.visits, 1);
        assert_int_equal(b.other_visits, 0);
        put(&f->server, "b");
        settle(f);
        assert_int_equal(b.visits, 2);
        assert_int_equal(b.other_visits, 0);
        close_bench(&b, fiber);
}

static void a_cache_that_cannot_be_filled_stops_only_the_controllers_that_watch_it(void **state)
{
        with_plain_informer(body_unfillable);
}

static struct outcome reads_works(struct bench *b, struct reconcile *rc)
{
        const struct object *o;

        b->read = cache_get(rc, &work_kind, "ns", "name", &o);
        return b->read < 0 ? failed(rc->err) : done();
}

static void body_unfilled(struct fixture *f)
{
        struct fiber *fiber;
        struct bench b;

        put(&f->server, "a");
        open_bench(f, &b);
        b.reconcile = reads_works;
        add_other(&b);
        assert_int_equal(manager_add_controller(b.manager, &controller), 0);
        fiber = run_manager(&b);
        assert_true(b.visits > 0);
        assert_int_equal(b.read, ERR_RETRY);
        close_bench(&b, fiber);
}

static void what_is_not_in_a_cache_that_is_not_filled_is_not_absent(void **state)
{
        with_plain_informer(body_unfilled);
}

static struct outcome reads_without_memory(struct bench *b, struct reconcile *rc)
{
        const struct object *o = NULL;

        mem_fail_at(1, true);
        b->read = cache_get(rc, &member_cluster_kind, NULL, rc->name, &o);
        b->no_memory = mem_fault_fired();
        mem_fail_at(0, false);
        return done();
}

static void body_no_memory(struct fixture *f)
{
        struct fiber *fiber;
        struct bench b;

        put(&f->server, "a");
        open_bench(f, &b);
        b.reconcile = reads_without_memory;
        assert_int_equal(manager_add_controller(b.manager, &controller), 0);
        fiber = run_manager(&b);
        assert_int_equal(b.visits, 1);
        assert_true(b.no_memory);
        assert_int_equal(b.read, ERR_NO_MEMORY);
        close_bench(&b, fiber);
}

static void what_there_is_no_memory_to_read_is_not_absent(void **state)
{
        with_plain_informer(body_no_memory);
}

static struct outcome reads_one_namespace(struct bench *b, struct reconcile *rc)
{
        bool there;

        b->read = cache_has(rc, &work_kind, "ns", "name", &there);
        return b->read < 0 ? failed(rc->err) : done();
}

static struct informer *add_works(struct bench *b, const char *ns, const char *labels)
{
        struct informer_options o = {
                .kind = &work_kind, .flags = DECODE_PROJECTION, .ns = ns, .label_selector = labels
        };
        struct informer *i;

        assert_int_equal(manager_add_informer(b->manager, &o, &i), 0);
        return i;
}

static void body_restricted(struct fixture *f)
{
        static const struct kube_resource works = { "placement.kubernetes-fleet.io", "v1", "works", "Work",
                                                    true };
        struct informer_options of_metadata = { .kind = &work_kind, .resource = &works };
        struct informer *one, *some, *other;
        struct fiber *fiber;
        struct bench b;

        put(&f->server, "a");
        open_bench(f, &b);
        some = add_works(&b, NULL, "a=b");
        one = add_works(&b, "ns", NULL);
        assert_int_equal(manager_add_informer(b.manager, &of_metadata, &other), 0);
        assert_int_equal(manager_add_controller(b.manager, &controller), 0);
        b.reconcile = reads_one_namespace;
        fiber = run_manager(&b);
        assert_int_equal(b.read, ERR_RETRY); /* it is the one of the namespace, and not filled */
        assert_ptr_not_equal(manager_informer(b.manager, &work_kind), one);
        assert_ptr_not_equal(manager_informer(b.manager, &work_kind), some);
        assert_ptr_not_equal(manager_informer(b.manager, &work_kind), other);
        assert_ptr_equal(manager_informer(b.manager, &work_kind), manager_informer(b.manager, &work_kind));
        close_bench(&b, fiber);
}

static void a_cache_of_some_objects_does_not_stand_for_all(void **state)
{
        with_plain_informer(body_restricted);
}

static void no_more_memory(void *ctx, const struct informer_event *e)
{
        mem_fail_at(1, true);
}

static void memory_again(void *ctx, const struct informer_event *e)
{
        mem_fail_at(0, false);
}

/* Only the controller's own handler finds no memory. */
static void body_lost_keys(struct fixture *f)
{
        struct informer *i;
        struct fiber *fiber;
        struct bench b;

        open_bench(f, &b);
        i = manager_informer(b.manager, &member_cluster_kind);
        assert_int_equal(informer_add_handler(i, no_more_memory, NULL), 0);
        assert_int_equal(manager_add_controller(b.manager, &controller), 0);
        assert_int_equal(informer_add_handler(i, memory_again, NULL), 0);
        fiber = run_manager(&b);
        put(&f->server, "a");
        settle(f);
        assert_int_equal(b.visits, 0);
        fiber_sleep(f->loop, 2000);
        assert_int_equal(b.visits, 1);
        drop(&f->server, "a");
        settle(f);
        assert_int_equal(b.visits, 1);
        fiber_sleep(f->loop, 2000);
        assert_int_equal(b.visits, 2);
        fiber_sleep(f->loop, 60000);
        assert_int_equal(b.visits, 2);
        put(&f->server, "b"); /* again */
        fiber_sleep(f->loop, 60000);
        assert_int_equal(b.visits, 3);
        close_bench(&b, fiber);
}

static void a_key_there_was_no_memory_for_is_found_again(void **state)
{
        with_plain_informer(body_lost_keys);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_informer_that_goes_while_the_manager_waits_for_it_holds_up_nothing),
                cmocka_unit_test(nobody_waits_for_a_cache_that_no_controller_names),
                cmocka_unit_test(a_cache_that_cannot_be_filled_stops_only_the_controllers_that_watch_it),
                cmocka_unit_test(what_is_not_in_a_cache_that_is_not_filled_is_not_absent),
                cmocka_unit_test(what_there_is_no_memory_to_read_is_not_absent),
                cmocka_unit_test(a_cache_of_some_objects_does_not_stand_for_all),
                cmocka_unit_test(a_key_there_was_no_memory_for_is_found_again),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
