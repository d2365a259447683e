/* The cache of one kind: what it holds, and what it tells. */
#include "common/ctrl/informer_test.h"
#include "common/ctrl/metrics.h"

static void body_follow(struct fixture *f)
{
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        expect_seen(f, "+a +b ");
        put(&f->server, "c");
        put(&f->server, "a");
        drop(&f->server, "b");
        settle(f);
        expect_seen(f, "+c ~a -b ");
        assert_int_equal(informer_objects(f->informer), 2);
        assert_non_null(held(f, "a"));
        assert_null(held(f, "b"));
        assert_int_equal(f->server.lists, 1);
}

static void it_lists_once_and_then_follows_the_watch(void **state)
{
        with_informer(body_follow);
}

static void body_pages(struct fixture *f)
{
        f->server.page = 2;
        for (char name[2] = "a"; name[0] <= 'g'; name[0]++)
                put(&f->server, name);
        open_informer(f);
        assert_int_equal(informer_objects(f->informer), 7);
        assert_int_equal(f->server.lists, 4);
}

static void a_long_list_comes_in_pages(void **state)
{
        with_informer(body_pages);
}

/* Names of RBAC's kinds have no limit of their own. */
static void body_long_name(struct fixture *f)
{
        bool found, other, elsewhere;
        char name[1001] = "";

        memset(name, 'r', sizeof(name) - 1);
        put(&f->server, name);
        put(&f->server, "a");
        open_informer(f);
        assert_int_equal(informer_objects(f->informer), 2);
        assert_non_null(held(f, name));
        mem_fail_at(1, true);
        found = informer_has(f->informer, NULL, name);
        elsewhere = informer_has(f->informer, "ns", name);
        name[0] = 's';
        other = informer_has(f->informer, NULL, name);
        name[0] = 'r';
        mem_fail_at(0, false);
        assert_true(found && !other && !elsewhere);
        assert_string_equal(held(f, name)->meta.name, name);
        put(&f->server, name);
        settle(f);
        assert_int_equal(f->server.lists, 1);
        drop(&f->server, name);
        settle(f);
        assert_int_equal(informer_objects(f->informer), 1);
}

static void an_object_of_any_name_is_held_and_stops_no_other(void **state)
{
        with_informer(body_long_name);
}

static void body_cut(struct fixture *f)
{
        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        settle(f);
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        put(&f->server, "b");
        settle(f);
        expect_seen(f, "+b ");
        assert_int_equal(f->server.lists, 1);
        assert_int_equal(f->server.watches, 2);
}

static void a_cut_watch_is_opened_again_without_a_list(void **state)
{
        with_informer(body_cut);
}

static void body_expired(struct fixture *f)
{
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        expect_seen(f, "+a +b ");
        settle(f);
        /* The watch dies; meanwhile b goes, c comes, a changes, and history is compacted. */
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        drop(&f->server, "b");
        put(&f->server, "c");
        put(&f->server, "a");
        f->server.oldest = f->server.version;
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        fiber_sleep(f->loop, 5000);
        expect_seen(f, "~a +c -b ");
        assert_int_equal(f->server.lists, 2);
        put(&f->server, "d");
        settle(f);
        expect_seen(f, "+d ");
}

static void after_410_it_lists_again_and_tells_only_the_difference(void **state)
{
        with_informer(body_expired);
}

static void body_failing(struct fixture *f)
{
        put(&f->server, "a");
        f->server.fail_lists = 3;
        open_informer(f);
        assert_int_equal(f->server.lists, 4);
        expect_seen(f, "+a ");
        assert_string_equal(informer_problem(f->informer), "");
}

static void a_failing_list_is_tried_again_with_backoff(void **state)
{
        with_informer(body_failing);
}

/* The late answer to an own write of b, which is deleted by now, arrives while the list runs. */
static void observe_late(void *ctx)
{
        struct fixture *f = ctx;
        struct object *o = make("b", 4, NULL);

        informer_observe(f->informer, o);
        object_unref(o);
}

static void list_again_with_a_late_answer(struct fixture *f)
{
        settle(f);
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        put(&f->server, "b");
        drop(&f->server, "b");
        f->server.oldest = f->server.version;
        f->server.page = 1;
        f->server.on_page = observe_late;
        f->server.on_page_ctx = f;
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        fiber_sleep(f->loop, 5000);
        assert_null(held(f, "b"));
}

static void body_late(struct fixture *f)
{
        put(&f->server, "a");
        put(&f->server, "b");
        put(&f->server, "c");
        open_informer(f);
        list_again_with_a_late_answer(f);
        assert_int_equal(informer_objects(f->informer), 2);
}

static void body_late_when_empty(struct fixture *f)
{
        open_informer(f);
        f->server.version = 3;
        list_again_with_a_late_answer(f);
        assert_int_equal(informer_objects(f->informer), 0);
}

static void a_late_answer_during_a_list_does_not_bring_back_what_was_deleted(void **state)
{
        with_informer(body_late);
        with_informer(body_late_when_empty);
}

static void by_first(const struct object *o, index_emit emit, void *to)
{
        const char *first = string_map_get(&o->meta.labels, "first");

        if (first)
                emit(to, first);
}

static size_t indexed(struct fixture *f, const char *value)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list list;

        assert_int_equal(informer_by_index(f->informer, "first", value, &arena, &list), 0);
        return list.n;
}

static void body_index(struct fixture *f)
{
        put(&f->server, "a1");
        put(&f->server, "a2");
        put(&f->server, "b1");
        open_informer(f);
        assert_int_equal(informer_add_index(f->informer, "first", by_first), 0);
        assert_int_equal(indexed(f, "a"), 2);
        put(&f->server, "a3");
        put(&f->server, "a1");
        drop(&f->server, "a2");
        drop(&f->server, "b1");
        settle(f);
        assert_int_equal(indexed(f, "a"), 2);
        assert_int_equal(indexed(f, "b"), 0);
}

static void indexes_follow_adds_changes_and_deletes(void **state)
{
        with_informer(body_index);
}

/* Who does not read the status gets all else; a cache of objects has no other ones to give. */
static void body_without_status(struct fixture *f)
{
        static const char text[] = "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"100\",\"labels\":{"
                                   "\"first\":\"a\"}},\"spec\":{\"heartbeatPeriodSeconds\":7},\"status\":{"
                                   "\"namespaces\":{\"app\":\"\"}}}";
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list with, without;
        struct object *o;

        open_informer(f);
        assert_int_equal(informer_add_index(f->informer, "first", by_first), 0);
        assert_int_equal(
                object_decode(&member_cluster_kind, slice_of(text), DECODE_PROJECTION, NULL, &o, NULL), 0);
        informer_observe(f->informer, o);
        object_unref(o);
        assert_int_equal(informer_by_index(f->informer, "first", "a", &arena, &with), 0);
        assert_int_equal(informer_by_index_without_status(f->informer, "first", "a", &arena, &without), 0);
        assert_int_equal(with.n, 1);
        assert_int_equal(without.n, 1);
        assert_non_null(((const struct member_cluster *)with.at[0])->status);
        assert_int_equal(!((const struct member_cluster *)without.at[0])->status, f->stowed);
        assert_true(object_equal_part(with.at[0], without.at[0], OBJECT_META_SPEC));
}

static void a_status_that_is_not_read_is_not_made(void **state)
{
        with_informer(body_without_status);
}

static void body_observe(struct fixture *f)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o;

        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        settle(f);
        /* Our own write of b is answered before the watch tells of it. */
        f->server.version++;
        o = make("b", f->server.version, &arena);
        informer_observe(f->informer, o);
        expect_seen(f, "+b ");
        say(&f->server, "ADDED", "b", &(struct entry){ f->server.version, 1 });
        settle(f);
        expect_seen(f, "");
        object_unref(o);
        o = make("b", 0, &arena); /* what has no version is not known to be newer */
        informer_observe(f->informer, o);
        expect_seen(f, "");
        object_unref(o);
        /* An answer that comes after the watch told of the deletion must not bring the object back. */
        o = make("a", 1, &arena);
        drop(&f->server, "a");
        settle(f);
        expect_seen(f, "-a ");
        informer_observe(f->informer, o);
        expect_seen(f, "");
        assert_null(held(f, "a"));
        object_unref(o);
}

static void own_writes_are_seen_at_once_and_never_twice_nor_after_deletion(void **state)
{
        with_informer(body_observe);
}

/* Who read the event would find that it cannot be decoded. */
static void body_answered(struct fixture *f)
{
        static const char *const values[] = { "memberclusters" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o;

        f->metrics = metrics_new(METRIC_OF_BOTH);
        put(&f->server, "a");
        open_informer(f);
        o = make("b", ++f->server.version, &arena);
        informer_observe(f->informer, o);
        object_unref(o);
        say(&f->server, "ADDED", "b", &(struct entry){ f->server.version, 1, .odd = true });
        settle(f);
        expect_seen(f, "+a +b ");
        assert_int_equal((int)metric_value(f->metrics, METRIC_UNDECODABLE, values), 0);
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        settle(f);
        settle(f);
        assert_int_equal(f->server.watched_from, f->server.version);
        say(&f->server, "MODIFIED", "b", &(struct entry){ ++f->server.version, 1, .odd = true });
        settle(f);
        assert_int_equal((int)metric_value(f->metrics, METRIC_UNDECODABLE, values), 1);
        f->informer = informer_stop(f->informer);
        f->metrics = metrics_free(f->metrics);
}

static void what_the_answer_to_an_own_write_told_is_not_read_again(void **state)
{
        with_informer(body_answered);
}

static void body_refresh(struct fixture *f)
{
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        f->server.stalled = true;
        put(&f->server, "b");
        put(&f->server, "c");
        drop(&f->server, "a");
        settle(f);
        expect_seen(f, "+a +b ");
        assert_int_equal(informer_refresh(f->informer), 0);
        assert_false(informer_synced(f->informer));
        assert_non_null(held(f, "a"));
        assert_int_equal(informer_wait_synced(f->informer, loop_now_ms(f->loop) + 60000), 0);
        expect_seen(f, "~b +c -a ");
        f->server.stalled = false;
        put(&f->server, "d");
        settle(f);
        expect_seen(f, "+d ");
        assert_int_equal(f->server.lists, 2);
}

static void a_refresh_lists_what_a_stalled_watch_kept_back(void **state)
{
        with_informer(body_refresh);
}

/* a is deleted and made again by us, and its answer comes before the watch tells of either. */
static void body_late_deletion(struct fixture *f)
{
        struct object *o;

        put(&f->server, "a");
        open_informer(f);
        settle(f);
        f->server.stalled = true;
        drop(&f->server, "a");
        put(&f->server, "a");
        o = make("a", f->server.version, NULL);
        informer_observe(f->informer, o);
        object_unref(o);
        expect_seen(f, "+a ~a ");
        f->server.stalled = false;
        waitq_wake_all(&f->server.changed);
        settle(f);
        expect_seen(f, "");
        o = (struct object *)held(f, "a");
        assert_non_null(o);
        assert_string_equal(o->meta.resource_version, "3");
        drop(&f->server, "a");
        settle(f);
        expect_seen(f, "-a ");
}

static void a_deletion_of_the_former_object_does_not_take_its_successor(void **state)
{
        with_informer(body_late_deletion);
}

/* The n-th allocation fails while the informer takes a change, for each n until none fails. */
static bool observe_without_memory(struct fixture *f, uint64_t n, uint64_t version)
{
        struct object *o = make("a1", version, NULL);
        bool fired;

        mem_fail_at(n, false);
        informer_observe(f->informer, o);
        fired = mem_fault_fired();
        mem_fail_at(0, false);
        if (fired) { /* what failed left no trace: the same again is taken as news */
                assert_int_equal(indexed(f, "a"), informer_objects(f->informer));
                expect_seen(f, "");
                informer_observe(f->informer, o);
        }
        object_unref(o);
        return fired;
}

static void body_no_memory(struct fixture *f)
{
        uint64_t version = 100, n = 1;

        open_informer(f);
        assert_int_equal(informer_add_index(f->informer, "first", by_first), 0);
        for (bool fired = true; fired; n++) {
                fired = observe_without_memory(f, n, version++);
                assert_int_equal(informer_objects(f->informer), 1);
                assert_int_equal(indexed(f, "a"), 1);
                expect_seen(f, n == 1 ? "+a1 " : "~a1 ");
        }
}

static void body_no_memory_to_relist(struct fixture *f)
{
        uint64_t lists = 0;
        int code;

        put(&f->server, "a");
        open_informer(f);
        assert_true(informer_synced(f->informer));
        mem_fail_at(1, true);
        code = informer_relist(f->informer, &lists);
        mem_fail_at(0, false);
        assert_int_equal(code, ERR_NO_MEMORY);
        assert_false(informer_synced(f->informer));
        assert_int_equal(informer_relist(f->informer, &lists), 0);
        assert_int_equal(informer_wait_listed(f->informer, lists, false, DEADLINE_NONE), 0);
        assert_true(informer_synced(f->informer));
}

static void a_cache_that_nothing_watches_for_want_of_memory_is_not_in_sync(void **state)
{
        with_informer(body_no_memory_to_relist);
}

static void by_name(const struct object *o, index_emit emit, void *to)
{
        AUTO_KEY struct key k = KEY_EMPTY;

        emit(to, key_join(&k, NULL, '/', o->meta.name) < 0 ? NULL : k.text);
}

/* A value too long for its struct is put together anew to be taken out of the index. */
static void body_no_memory_for_a_long_value(struct fixture *f)
{
        char name[1001] = "";

        memset(name, 'r', sizeof(name) - 1);
        open_informer(f);
        assert_int_equal(informer_add_index(f->informer, "name", by_name), 0);
        for (uint64_t version = 100, n = 1, fired = 1; fired; n++) {
                struct object *o = make(name, version++, NULL);
                struct object_list l;
                struct arena arena = ARENA_INIT;

                mem_fail_at(n, false);
                informer_observe(f->informer, o);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                informer_observe(f->informer, o);
                object_unref(o);
                assert_int_equal(informer_by_index(f->informer, "name", name, &arena, &l), 0);
                assert_int_equal(l.n, 1);
                assert_string_equal(l.at[0]->meta.resource_version, held(f, name)->meta.resource_version);
                arena_free(&arena);
        }
}

static void an_index_value_that_there_is_no_memory_for_leaves_nothing_behind(void **state)
{
        with_informer(body_no_memory_for_a_long_value);
}

static void what_there_is_no_memory_for_leaves_the_cache_as_it_was(void **state)
{
        with_informer(body_no_memory);
}

struct waiting {
        struct fixture *f;
        struct informer *informer;
        int (*wait)(struct informer *i);
        int code;
};

static int wait_synced(struct informer *i)
{
        return informer_wait_synced(i, DEADLINE_NONE);
}

static void waiting_fiber(void *ctx)
{
        struct waiting *w = ctx;

        w->code = w->wait(w->informer);
}

/* The informer is stopped while another fiber is parked in `wait`. */
static void stop_under(struct fixture *f, int (*wait)(struct informer *i))
{
        struct informer_options o = { .kind = &member_cluster_kind, .flags = DECODE_PROJECTION };
        struct waiting w = { .f = f, .wait = wait, .code = 1 };

        w.informer = informer_new(&f->kube, f->group, &o);
        assert_non_null(w.informer);
        settle(f);
        assert_non_null(fiber_spawn(f->group, "waiting", waiting_fiber, &w));
        assert_int_equal(fiber_yield(f->loop), 0);
        assert_int_equal(w.code, 1);
        informer_stop(w.informer);
        settle(f);
        assert_int_equal(w.code, ERR_CLOSED);
}

static void body_stop(struct fixture *f)
{
        f->server.fail_lists = 1000;
        stop_under(f, wait_synced);
        f->server.fail_lists = 0;
        stop_under(f, informer_refresh);
}

static void who_waits_for_an_informer_that_is_stopped_is_told(void **state)
{
        with_informer(body_stop);
}

/* At every moment of an event's way: what has arrived, and is not handled yet, is told nobody any more. */
static void body_stop_amid(struct fixture *f)
{
        bool told = false;

        for (unsigned moment = 0; !told; moment++) {
                size_t before;

                open_informer(f);
                settle(f);
                buf_clear(&f->seen.text);
                put(&f->server, "a");
                for (unsigned i = 0; i < moment; i++)
                        assert_int_equal(fiber_yield(f->loop), 0);
                before = f->seen.text.len;
                told = before > 0;
                f->informer = informer_stop(f->informer);
                settle(f);
                assert_int_equal(f->seen.text.len, before);
                assert_true(moment < 100);
        }
}

static void nobody_is_told_by_an_informer_that_is_stopped(void **state)
{
        with_informer(body_stop_amid);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_refresh_lists_what_a_stalled_watch_kept_back),
                cmocka_unit_test(who_waits_for_an_informer_that_is_stopped_is_told),
                cmocka_unit_test(nobody_is_told_by_an_informer_that_is_stopped),
                cmocka_unit_test(a_deletion_of_the_former_object_does_not_take_its_successor),
                cmocka_unit_test(a_cache_that_nothing_watches_for_want_of_memory_is_not_in_sync),
                cmocka_unit_test(an_index_value_that_there_is_no_memory_for_leaves_nothing_behind),
                cmocka_unit_test(what_there_is_no_memory_for_leaves_the_cache_as_it_was),
                cmocka_unit_test(an_object_of_any_name_is_held_and_stops_no_other),
                cmocka_unit_test(it_lists_once_and_then_follows_the_watch),
                cmocka_unit_test(a_long_list_comes_in_pages),
                cmocka_unit_test(a_cut_watch_is_opened_again_without_a_list),
                cmocka_unit_test(after_410_it_lists_again_and_tells_only_the_difference),
                cmocka_unit_test(a_failing_list_is_tried_again_with_backoff),
                cmocka_unit_test(a_late_answer_during_a_list_does_not_bring_back_what_was_deleted),
                cmocka_unit_test(indexes_follow_adds_changes_and_deletes),
                cmocka_unit_test(a_status_that_is_not_read_is_not_made),
                cmocka_unit_test(own_writes_are_seen_at_once_and_never_twice_nor_after_deletion),
                cmocka_unit_test(what_the_answer_to_an_own_write_told_is_not_read_again),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
