/* Lists that come as watches: what the server begins with, the mark, what goes wrong before it. */
#include "common/ctrl/informer_test.h"
#include "common/ctrl/metrics.h"

static void body_one_request(struct fixture *f)
{
        f->server.offers_watch_lists = true;
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        expect_seen(f, "+a +b ");
        put(&f->server, "b");
        put(&f->server, "c");
        drop(&f->server, "a");
        settle(f);
        expect_seen(f, "~b +c -a ");
        assert_int_equal(f->server.lists, 0);
        assert_int_equal(f->server.watches, 1);
        f->server.cut = true; /* the next is a watch from the last version, as ever */
        waitq_wake_all(&f->server.changed);
        settle(f);
        put(&f->server, "d");
        settle(f);
        expect_seen(f, "+d ");
        assert_int_equal(f->server.watches, 2);
        assert_int_equal(f->server.watch_lists, 1);
        assert_true(f->server.watched_from > 0);
}

static void list_and_watch_are_one_request(void **state)
{
        with_informer(body_one_request);
}

static void body_nothing(struct fixture *f)
{
        f->server.offers_watch_lists = true;
        open_informer(f);
        assert_true(informer_synced(f->informer));
        assert_int_equal(informer_objects(f->informer), 0);
        put(&f->server, "a");
        settle(f);
        expect_seen(f, "+a ");
        assert_int_equal(f->server.lists, 0);
}

static void where_nothing_is_the_mark_says_so(void **state)
{
        with_informer(body_nothing);
}

static void body_refused(struct fixture *f)
{
        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        assert_int_equal(f->server.watch_lists, 1);
        assert_int_equal(f->server.lists, 1);
        assert_string_equal(informer_problem(f->informer), "");
        assert_int_equal(informer_refresh(f->informer), 0);
        assert_int_equal(informer_wait_synced(f->informer, loop_now_ms(f->loop) + 60000), 0);
        assert_int_equal(f->server.watch_lists, 1); /* it is not asked again */
        assert_int_equal(f->server.lists, 2);
}

static void a_server_that_does_not_offer_it_is_asked_once_and_listed(void **state)
{
        with_informer(body_refused);
}

static void body_forbidden(struct fixture *f)
{
        f->server.offers_watch_lists = f->server.forbidden = true;
        put(&f->server, "a");
        f->informer = informer_new(
                &f->kube, f->group,
                &(struct informer_options){ .kind = &member_cluster_kind, .flags = DECODE_PROJECTION });
        assert_int_equal(informer_add_handler(f->informer, record, &f->seen), 0);
        assert_int_equal(fiber_sleep(f->loop, 5000), 0);
        assert_int_equal(informer_problem_code(f->informer), ERR_FORBIDDEN);
        f->server.forbidden = false;
        assert_int_equal(fiber_sleep(f->loop, 20000), 0);
        expect_seen(f, "+a ");
        assert_true(kube_offers_watch_lists(&f->kube)); /* a missing right is no refusal of it */
}

static void a_missing_right_says_nothing_of_what_is_offered(void **state)
{
        with_plain_informer(body_forbidden);
}

static void change_before_mark(void *server)
{
        struct server *s = server;

        s->on_mark = NULL;
        put(s, "b");
        put(s, "x");
        drop(s, "a");
}

static void body_changes(struct fixture *f)
{
        f->server.offers_watch_lists = true;
        put(&f->server, "a");
        put(&f->server, "b");
        f->server.on_mark = change_before_mark;
        f->server.on_page_ctx = &f->server;
        open_informer(f);
        assert_null(held(f, "a"));
        assert_string_equal(held(f, "b")->meta.resource_version, "3");
        assert_non_null(held(f, "x"));
        assert_int_equal(informer_objects(f->informer), 2);
        put(&f->server, "a");
        settle(f);
        assert_non_null(held(f, "a"));
}

static void what_changes_before_the_mark_counts(void **state)
{
        with_informer(body_changes);
}

/* The watch ends, and what happened since is older than what the server can tell. */
static void expire(struct fixture *f)
{
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        put(&f->server, "z");
        f->server.oldest = f->server.version;
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        assert_int_equal(fiber_sleep(f->loop, 10000), 0);
}

static void body_swept(struct fixture *f)
{
        f->server.offers_watch_lists = true;
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        expect_seen(f, "+a +b ");
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        drop(&f->server, "a");
        put(&f->server, "b");
        expire(f);
        assert_null(held(f, "a"));
        expect_seen(f, "~b +z -a ");
        assert_int_equal(f->server.lists, 0);
        assert_int_equal(f->server.watch_lists, 2);
}

static void what_a_later_one_does_not_tell_is_gone(void **state)
{
        with_informer(body_swept);
}

static void body_cut(struct fixture *f)
{
        f->server.offers_watch_lists = true;
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        expect_seen(f, "+a +b ");
        f->server.cut_watch_lists = 1;
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        drop(&f->server, "a");
        expire(f);
        assert_null(held(f, "a"));
        assert_non_null(held(f, "b"));
        expect_seen(f, "+z -a "); /* each once, and b never left */
        assert_int_equal(f->server.watch_lists, 2);
        assert_int_equal(f->server.lists, 1);
}

static void one_that_is_cut_before_the_mark_forgets_nothing(void **state)
{
        with_informer(body_cut);
}

static void body_never_marked(struct fixture *f)
{
        f->server.offers_watch_lists = true;
        f->server.cut_watch_lists = 100;
        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        assert_int_equal(f->server.watch_lists, 1);
        assert_int_equal(f->server.lists, 1);
}

static void where_the_mark_never_comes_it_is_listed(void **state)
{
        with_informer(body_never_marked);
}

static void body_silent(struct fixture *f)
{
        f->server.offers_watch_lists = f->server.stalled = true;
        f->server.silent_watch_lists = true;
        put(&f->server, "a");
        open_informer(f); /* within a minute */
        expect_seen(f, "+a ");
        assert_int_equal(f->server.watch_lists, 1);
        assert_int_equal(f->server.lists, 1);
}

static void where_streams_say_nothing_it_is_listed(void **state)
{
        with_informer(body_silent);
}

static void body_odd(struct fixture *f)
{
        static const char *const values[] = { "memberclusters" };

        f->metrics = metrics_new(METRIC_OF_BOTH);
        f->server.offers_watch_lists = true;
        put(&f->server, "a");
        put_odd(&f->server, "b", true);
        put(&f->server, "c");
        open_informer(f);
        expect_seen(f, "+a +c ");
        assert_int_equal((int)metric_value(f->metrics, METRIC_UNDECODABLE, values), 1);
        put_odd(&f->server, "b", false);
        settle(f);
        expect_seen(f, "+b ");
        put_odd(&f->server, "b", true); /* is kept as it was by the next list, too */
        settle(f);
        expire(f);
        assert_non_null(held(f, "b"));
        assert_string_equal(held(f, "b")->meta.resource_version, "4");
        assert_int_equal(f->server.lists, 0);
        f->informer = informer_stop(f->informer);
        f->metrics = metrics_free(f->metrics);
}

static void an_object_that_cannot_be_decoded_stops_nothing(void **state)
{
        with_informer(body_odd);
}

static void body_many(struct fixture *f)
{
        char name[32];

        f->server.offers_watch_lists = true;
        for (int i = 0; i < 1000; i++) {
                snprintf(name, sizeof(name), "m-%d", i);
                put(&f->server, name);
        }
        open_informer(f);
        assert_int_equal(informer_objects(f->informer), 1000);
        expire(f);
        assert_int_equal(informer_objects(f->informer), 1001);
        assert_int_equal(f->server.lists, 0);
}

static void more_than_are_taken_at_once(void **state)
{
        with_informer(body_many);
}

static int no_turn(void *ctx)
{
        (void)ctx;
        return 0;
}

static void body_turns(struct fixture *f)
{
        struct informer_options o = { .kind = &member_cluster_kind,
                                      .flags = DECODE_PROJECTION,
                                      .turn = no_turn };

        f->server.offers_watch_lists = true;
        put(&f->server, "a");
        f->informer = informer_new(&f->kube, f->group, &o);
        assert_int_equal(informer_wait_synced(f->informer, loop_now_ms(f->loop) + 60000), 0);
        assert_int_equal(f->server.watch_lists, 0);
        assert_int_equal(f->server.lists, 1);
}

static void lists_that_wait_their_turn_come_in_pages(void **state)
{
        with_plain_informer(body_turns);
}

static void body_restored(struct fixture *f)
{
        f->server.offers_watch_lists = true;
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        expect_seen(f, "+a +b ");
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        drop(&f->server, "b");
        f->server.version = 1; /* as it was when only a was there */
        vec_for_each(&f->server.log, line)
                mem_free(*line);
        f->server.log.n = 0;
        assert_int_equal(vec_push(&f->server.log, mem_strdup("")), 0);
        f->server.oldest = 10;
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        assert_int_equal(fiber_sleep(f->loop, 10000), 0);
        expect_seen(f, "-b ");
        assert_true(f->server.watch_lists >= 2); /* that it went back was told by the second */
}

static void a_server_that_went_back_is_believed(void **state)
{
        with_informer(body_restored);
}

/* ---- the mark ---- */

static void the_mark_is_told_from_other_lines(void **state)
{
        static const struct {
                const char *line;
                bool is;
        } cases[] = {
                { "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"A\",\"metadata\":{\"resourceVersion\":\"5\","
                  "\"creationTimestamp\":null,\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}",
                  true },
                { "{\"object\":{\"metadata\":{\"annotations\":{\"a\":{\"b\":[1]},\"k8s.io/"
                  "initial-events-end\":"
                  "\"true\"},\"resourceVersion\":\"5\"}},\"type\":\"BOOKMARK\"}",
                  true },
                { "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"5\"}}}", false },
                { "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"annotations\":{"
                  "\"k8s.io/initial-events-end\":\"false\"}}}}",
                  false },
                { "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"annotations\":{"
                  "\"k8s.io/initial-events-end\":true}}}}",
                  false },
                { "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"annotations\":{"
                  "\"k8s.io/initial-events-end\":\"true\"}}}}",
                  false },
                { "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"labels\":{"
                  "\"k8s.io/initial-events-end\":\"true\"}}}}",
                  false },
                { "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"annotations\":null}}}", false },
                { "{\"type\":\"BOOKMARK\"", false },
                { "[]", false },
                { "", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                assert_int_equal(object_ends_initial_events(slice_of(cases[i].line)), cases[i].is);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(list_and_watch_are_one_request),
                cmocka_unit_test(where_nothing_is_the_mark_says_so),
                cmocka_unit_test(a_server_that_does_not_offer_it_is_asked_once_and_listed),
                cmocka_unit_test(a_missing_right_says_nothing_of_what_is_offered),
                cmocka_unit_test(what_changes_before_the_mark_counts),
                cmocka_unit_test(what_a_later_one_does_not_tell_is_gone),
                cmocka_unit_test(one_that_is_cut_before_the_mark_forgets_nothing),
                cmocka_unit_test(where_the_mark_never_comes_it_is_listed),
                cmocka_unit_test(where_streams_say_nothing_it_is_listed),
                cmocka_unit_test(an_object_that_cannot_be_decoded_stops_nothing),
                cmocka_unit_test(more_than_are_taken_at_once),
                cmocka_unit_test(lists_that_wait_their_turn_come_in_pages),
                cmocka_unit_test(a_server_that_went_back_is_believed),
                cmocka_unit_test(the_mark_is_told_from_other_lines),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
