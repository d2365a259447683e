/* What a server may say that must not stop a cache. */
#include "common/ctrl/metrics.h"
#include "common/ctrl/told_test.h"
#include "common/kube/connection.h"
#include "common/kube/version.h"

/* ---- objects that cannot be decoded ---- */

/* Ends the watch when z was written behind its back: it must list. */
static void expire(struct fixture *f)
{
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        put(&f->server, "z");
        f->server.oldest = f->server.version;
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        fiber_sleep(f->loop, 5000);
}

static void body_odd_list(struct fixture *f)
{
        put(&f->server, "a");
        put_odd(&f->server, "b", true);
        put(&f->server, "c");
        open_informer(f);
        expect_seen(f, "+a +c ");
        assert_string_equal(informer_problem(f->informer), "");
        put_odd(&f->server, "b", false);
        put(&f->server, "d");
        settle(f);
        expect_seen(f, "+b +d ");
        assert_int_equal(f->server.lists, 1);
}

static void a_list_with_an_object_that_cannot_be_decoded_gives_the_others(void **state)
{
        with_informer(body_odd_list);
}

static void body_odd_events(struct fixture *f)
{
        const struct object *b;

        put(&f->server, "b");
        open_informer(f);
        expect_seen(f, "+b ");
        put_odd(&f->server, "b", true);
        put_odd(&f->server, "x", true);
        put(&f->server, "c");
        settle(f);
        expect_seen(f, "+c ");
        b = held(f, "b");
        assert_non_null(b);
        assert_string_equal(b->meta.resource_version, "1"); /* as it was last known */
        expire(f);
        assert_int_equal(f->server.lists, 2);
        assert_string_equal(held(f, "b")->meta.resource_version, "1");
        expect_seen(f, "+z ");
        drop(&f->server, "b");
        drop(&f->server, "x");
        put(&f->server, "d");
        settle(f);
        expect_seen(f, "-b +d ");
        assert_int_equal(f->server.lists, 2);
}

static void an_object_that_cannot_be_decoded_any_more_stays_as_it_was_until_it_goes(void **state)
{
        with_informer(body_odd_events);
}

static void body_odd_successor(struct fixture *f)
{
        put(&f->server, "b");
        open_informer(f);
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        drop(&f->server, "b");
        put_odd(&f->server, "b", true);
        expire(f);
        expect_seen(f, "+b -b +z ");
        assert_null(held(f, "b"));
}

static void what_is_held_of_an_object_goes_when_its_successor_cannot_be_decoded(void **state)
{
        with_informer(body_odd_successor);
}

static void body_odd_count(struct fixture *f)
{
        static const char *const values[] = { "memberclusters" };

        f->metrics = metrics_new(METRIC_OF_BOTH);
        put_odd(&f->server, "a", true);
        put_odd(&f->server, "b", true);
        open_informer(f);
        assert_int_equal((int)metric_value(f->metrics, METRIC_UNDECODABLE, values), 2);
        expire(f);
        assert_int_equal((int)metric_value(f->metrics, METRIC_UNDECODABLE, values), 2);
        put_odd(&f->server, "b", true);
        settle(f);
        assert_int_equal((int)metric_value(f->metrics, METRIC_UNDECODABLE, values), 3);
        f->informer = informer_stop(f->informer);
        f->metrics = metrics_free(f->metrics);
}

static void each_version_that_cannot_be_decoded_is_counted_once(void **state)
{
        with_informer(body_odd_count);
}

/* Of metadata it is worth knowing that the object is there, whatever is the matter with the rest. */
static void body_odd_metadata(struct fixture *f)
{
        static const struct kube_resource members = { "cluster.kubernetes-fleet.io", "v1beta1",
                                                      "memberclusters", "MemberCluster", false };
        struct informer_options o = { .kind = &member_cluster_kind,
                                      .flags = DECODE_PROJECTION,
                                      .resource = &members };

        put_odd(&f->server, "a", true);
        f->informer = informer_new(&f->kube, f->group, &o);
        assert_non_null(f->informer);
        assert_int_equal(informer_add_handler(f->informer, record, &f->seen), 0);
        assert_int_equal(informer_wait_synced(f->informer, loop_now_ms(f->loop) + 60000), 0);
        expect_seen(f, "+a ");
        put_odd(&f->server, "b", true);
        settle(f);
        expect_seen(f, "+b ");
        put_odd(&f->server, "b", true);
        drop(&f->server, "a");
        settle(f);
        expect_seen(f, "-a ");
}

static void of_metadata_what_cannot_be_decoded_is_there_all_the_same(void **state)
{
        with_informer(body_odd_metadata);
}

/* It speaks of no object, so none is unreadable. */
static void body_odd_bookmark(struct fixture *f)
{
        static const char *const values[] = { "memberclusters" };

        f->metrics = metrics_new(METRIC_OF_BOTH);
        put(&f->server, "a");
        open_informer(f);
        say(&f->server, "BOOKMARK", "x", &(struct entry){ .version = ++f->server.version, .odd = true });
        put(&f->server, "b");
        settle(f);
        expect_seen(f, "+a +b ");
        assert_int_equal((int)metric_value(f->metrics, METRIC_UNDECODABLE, values), 0);
        f->informer = informer_stop(f->informer);
        f->metrics = metrics_free(f->metrics);
}

static void a_bookmark_that_cannot_be_decoded_says_where_the_server_is_and_no_more(void **state)
{
        with_informer(body_odd_bookmark);
}

/* ---- lists that are too large ---- */

static void put_large(struct server *s, size_t n, size_t padding)
{
        for (size_t i = 0; i < n; i++) {
                struct entry *e = NEW(struct entry);
                char name[32];

                e->padding = padding;
                e->version = ++s->version;
                snprintf(name, sizeof(name), "large-%zu", i);
                assert_int_equal(map_put(&s->objects, name, e), 0);
                assert_int_equal(vec_push(&s->log, mem_strdup("")), 0);
        }
}

static void body_many_large(struct fixture *f)
{
        put_large(&f->server, 275, 255000);
        open_informer(f);
        assert_int_equal(informer_objects(f->informer), 275);
        assert_in_range(f->server.lists, 2, 24);
        f->server.lists = 0;
        expire(f); /* a list that is made anew takes the same way */
        assert_int_equal(informer_objects(f->informer), 276);
        assert_in_range(f->server.lists, 2, 24);
}

static void a_list_that_is_too_large_comes_in_smaller_pages(void **state)
{
        with_informer(body_many_large);
}

static void body_very_large(struct fixture *f)
{
        put_large(&f->server, 24, 2900000);
        put(&f->server, "z");
        open_informer(f);
        assert_int_equal(informer_objects(f->informer), 25);
        assert_in_range(f->server.lists, 2, 30);
}

static void objects_as_large_as_can_be_come_few_at_a_time(void **state)
{
        with_informer(body_very_large);
}

static void body_large_first(struct fixture *f)
{
        put_large(&f->server, 1, 17 << 20);
        for (int i = 0; i < 2000; i++) {
                char name[32];

                snprintf(name, sizeof(name), "small-%d", i);
                put(&f->server, name);
        }
        open_informer(f);
        assert_int_equal(informer_objects(f->informer), 2001);
        assert_in_range(f->server.lists, 10, 30);
}

static void behind_a_large_object_pages_grow_again(void **state)
{
        with_informer(body_large_first);
}

/* ---- watches that cannot begin ---- */

static void body_always_expired(struct fixture *f)
{
        put(&f->server, "a");
        f->server.oldest = UINT64_MAX;
        open_informer(f);
        f->server.lists = 0;
        fiber_sleep(f->loop, 600000);
        assert_in_range(f->server.lists, 10, 60); /* every half minute or so */
        f->server.oldest = 0;
        fiber_sleep(f->loop, 60000);
        f->server.lists = 0;
        put(&f->server, "b");
        settle(f);
        assert_non_null(held(f, "b"));
        expire(f); /* a watch that held is worth a list at once */
        assert_int_equal(f->server.lists, 1);
}

static void a_server_that_answers_every_watch_with_410_is_not_listed_in_a_tight_loop(void **state)
{
        with_informer(body_always_expired);
}

/* ---- rights ---- */

static void body_rights(struct fixture *f)
{
        unsigned refused;

        open_informer(f);
        f->server.forbidden = true;
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        assert_int_equal(fiber_sleep(f->loop, 300000), 0);
        refused = f->server.refused;
        assert_int_equal(fiber_sleep(f->loop, 100000), 0);
        assert_in_range(f->server.refused - refused, 10, 25);
        f->server.forbidden = false;
        put(&f->server, "a");
        assert_int_equal(fiber_sleep(f->loop, 10000), 0);
        expect_seen(f, "+a ");
}

static void a_right_that_comes_is_noticed_within_ten_seconds(void **state)
{
        with_informer(body_rights);
}

/* How long it was missing does not make what fails afterwards wait. */
static void body_rights_and_failures(struct fixture *f)
{
        open_informer(f);
        f->server.forbidden = true;
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        assert_int_equal(fiber_sleep(f->loop, 300000), 0);
        f->server.fail_watches = 2;
        f->server.forbidden = false;
        put(&f->server, "a");
        assert_int_equal(fiber_sleep(f->loop, 15000), 0);
        expect_seen(f, "+a ");
}

static void what_fails_when_a_right_has_come_is_tried_again_soon(void **state)
{
        with_informer(body_rights_and_failures);
}

/* The server forgets old versions: a watch that began again at the list would be told to list anew. */
static void body_goes_on(struct fixture *f)
{
        put(&f->server, "a");
        open_informer(f);
        put(&f->server, "b");
        put(&f->server, "a");
        settle(f);
        drop(&f->server, "b");
        settle(f);
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        assert_int_equal(fiber_sleep(f->loop, 5000), 0);
        assert_int_equal(f->server.watches, 2);
        assert_int_equal(f->server.lists, 1);
        assert_int_equal(f->server.watched_from, f->server.version);
}

static void a_watch_that_was_cut_goes_on_behind_the_last_event(void **state)
{
        with_informer(body_goes_on);
}

/* ---- a server that was restored ---- */

static void answer_watches_again(void *server)
{
        struct server *s = server;

        s->oldest = 0;
        s->fail_lists = s->lists == s->failing_list;
}

/* The server has what it had at that version, and knows nothing of what was said since. */
static void go_back(struct fixture *f, uint64_t version)
{
        struct server *s = &f->server;
        size_t n;
        AUTO_FREE const char **names = map_sorted_keys(&s->objects, &n);

        loopback_listen(f->loopback, "api.test", NULL, NULL);
        for (size_t i = 0; i < n; i++)
                if (((struct entry *)map_get(&s->objects, names[i]))->version > version)
                        mem_free(map_take(&s->objects, names[i]));
        while (s->log.n > version)
                mem_free(s->log.at[--s->log.n]);
        s->version = version;
        s->oldest = UINT64_MAX; /* nobody's watch goes on */
        s->on_page = answer_watches_again;
        s->on_page_ctx = s;
        loopback_listen(f->loopback, "api.test", serve, s);
        fiber_sleep(f->loop, 60000);
}

static void observe(struct fixture *f, const char *name, uint64_t version)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o = make(name, version, &arena);

        informer_observe(f->informer, o);
        object_unref(o);
}

static void body_restored(struct fixture *f)
{
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        expect_seen(f, "+a +b ");
        for (int round = 0; round < 2; round++) {
                for (int i = 0; i < 5; i++)
                        put(&f->server, "c");
                settle(f);
                expect_seen(f, "+c ~c ~c ~c ~c ");
                go_back(f, 2);
                expect_seen(f, "-c ");
                put(&f->server, "d");
                settle(f);
                expect_seen(f, "+d ");
                put(&f->server, "d");
                settle(f);
                expect_seen(f, "~d ");
                observe(f, "d", 3); /* a late answer */
                expect_seen(f, "");
                observe(f, "e", 5); /* an own write, by the new count */
                expect_seen(f, "+e ");
                go_back(f, 2);
                expect_seen(f, "-d -e ");
        }
}

/* The first list says that the server went back, the second one fails. */
static void body_restored_and_failing(struct fixture *f)
{
        put(&f->server, "a");
        open_informer(f);
        for (int i = 0; i < 5; i++)
                put(&f->server, "a");
        settle(f);
        expect_seen(f, "+a ~a ~a ~a ~a ~a ");
        ((struct entry *)map_get(&f->server.objects, "a"))->version = 1;
        f->server.lists = 0;
        f->server.failing_list = 2;
        go_back(f, 1);
        assert_int_equal(f->server.lists, 3);
        expect_seen(f, "~a ");
        assert_string_equal(held(f, "a")->meta.resource_version, "1");
}

static void a_restored_server_is_believed_though_a_list_fails(void **state)
{
        with_informer(body_restored_and_failing);
}

static void a_server_that_was_restored_is_followed_again_and_again(void **state)
{
        with_informer(body_restored);
}

/* ---- a server that fails ---- */

/* Of the pages of a list only the first comes. */
static void fail_the_next_page(void *server)
{
        struct server *s = server;

        if (s->lists == 2)
                s->fail_lists = 1;
}

static void body_half_list(struct fixture *f)
{
        put(&f->server, "a");
        put(&f->server, "b");
        put(&f->server, "c");
        open_informer(f);
        expect_seen(f, "+a +b +c ");
        f->server.page = 1;
        f->server.lists = 0;
        f->server.on_page = fail_the_next_page;
        f->server.on_page_ctx = &f->server;
        expire(f);
        assert_in_range(f->server.lists, 4, 6);
        expect_seen(f, "+z ");
}

static void body_no_list(struct fixture *f)
{
        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        f->server.fail_lists = 1;
        expire(f);
        assert_int_equal(f->server.fail_lists, 0);
        expect_seen(f, "+z ");
}

static void what_a_failed_list_does_not_name_is_not_gone(void **state)
{
        with_informer(body_half_list);
        with_informer(body_no_list);
}

static void count_busy(void *server)
{
        struct server *s = server;

        if (s->lists == 2)
                s->fail_lists = 3;
}

/* Answers of API priority and fairness: no Status, and a time. */
static void body_busy(struct fixture *f)
{
        int64_t begun = loop_now_ms(f->loop);

        put(&f->server, "a");
        put(&f->server, "b");
        put(&f->server, "c");
        f->server.page = 1;
        f->server.busy = true;
        f->server.retry_after = "4";
        f->server.on_page = count_busy;
        f->server.on_page_ctx = &f->server;
        open_informer(f);
        expect_seen(f, "+a +b +c ");
        assert_in_range(loop_now_ms(f->loop) - begun, 12000, 13000);
        assert_int_equal(f->server.lists, 6); /* three pages, of which one was asked for four times */
}

static void a_list_goes_on_when_the_server_has_time_again(void **state)
{
        with_informer(body_busy);
}

static void body_retry_after(struct fixture *f)
{
        int64_t begun = loop_now_ms(f->loop);

        put(&f->server, "a");
        f->server.fail_lists = 1;
        f->server.retry_after = "40";
        open_informer(f);
        assert_in_range(loop_now_ms(f->loop) - begun, 40000, 41000);
}

static void who_is_told_when_to_come_again_comes_then(void **state)
{
        with_informer(body_retry_after);
}

/* ---- after an outage ---- */

/* What the outage cost says nothing of a watch that fails after it: the connection waits for the server. */
static void body_outage(struct fixture *f)
{
        const struct kube_connection_options o = { .kube = &f->kube, .name = "hub", .title = "the hub" };
        struct kube_connection *c = kube_connection_new(f->group, &o);

        assert_non_null(c);
        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        fiber_sleep(f->loop, 600000);
        assert_false(kube_connection_good(c));
        put(&f->server, "b");
        f->server.fail_watches = 2;
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        assert_int_equal(kube_connection_wait(c, loop_now_ms(f->loop) + 60000), 0);
        fiber_sleep(f->loop, 5000);
        expect_seen(f, "+b ");
        f->informer = informer_stop(f->informer);
        kube_connection_free(c);
}

static void a_watch_that_fails_after_an_outage_is_tried_again_soon(void **state)
{
        with_informer(body_outage);
}

/* A network that swallows everything, until the connection asks again while a watch still waits for its
 * answer. */
struct darkness {
        struct loop *loop;
        int64_t until_ms, watch_ms;
        bool over;
};

static int swallow(void *ctx, const struct http_request *rq)
{
        struct darkness *d = ctx;
        int64_t now_ms = loop_now_ms(d->loop);

        if (strstr(rq->path, "watch="))
                d->watch_ms = now_ms;
        else if (now_ms >= d->until_ms && now_ms - d->watch_ms < 20000)
                d->over = true;
        return d->over ? 0 : ERR_TIMEOUT;
}

static void body_swallowed(struct fixture *f)
{
        const struct kube_connection_options o = { .kube = &f->kube, .name = "hub", .title = "the hub" };
        struct darkness dark = { .loop = f->loop, .over = true };
        const struct loopback_faults faults = { .ctx = &dark, .fate = swallow };
        struct http_transport *plain = f->world.transport;
        struct kube_connection *c;

        f->world.transport = loopback_transport(f->loopback, &f->world, &faults);
        c = kube_connection_new(f->group, &o);
        assert_non_null(c);
        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        dark = (struct darkness){ .loop = f->loop, .until_ms = loop_now_ms(f->loop) + 600000 };
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        while (!dark.over)
                fiber_sleep(f->loop, 100);
        put(&f->server, "b");
        settle(f);
        assert_true(kube_connection_good(c));
        expect_seen(f, "");
        for (int i = 0; i < 31; i++) { /* a call's deadline, and a little: others are answered meanwhile */
                assert_int_equal(kube_version_check(&f->kube, NULL), 0);
                fiber_sleep(f->loop, 1000);
        }
        expect_seen(f, "+b ");
        f->informer = informer_stop(f->informer);
        kube_connection_free(c);
        http_transport_free(f->world.transport);
        f->world.transport = plain;
}

static void a_watch_that_an_outage_swallowed_is_opened_again_at_once(void **state)
{
        with_informer(body_swallowed);
}

/* The watch of a kind of which nothing is told but bookmarks, and then nothing at all. */
static void body_silent(struct fixture *f)
{
        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        for (int i = 0; i < 30; i++) {
                fiber_sleep(f->loop, 60000);
                say_bookmark(&f->server);
        }
        settle(f);
        assert_int_equal(f->server.watches, 1);
        f->server.stalled = true;
        put(&f->server, "b");
        fiber_sleep(f->loop, 120000);
        assert_int_equal(f->server.watches, 1);
        f->server.stalled = false; /* for who asks anew */
        fiber_sleep(f->loop, 15000);
        expect_seen(f, "+b ");
        assert_int_equal(f->server.watches, 2);
        assert_int_equal(f->server.watched_from, 31);
        assert_int_equal(f->server.lists, 1);
        assert_string_equal(informer_problem(f->informer), "");
        f->informer = informer_stop(f->informer);
}

static void a_watch_that_says_nothing_for_minutes_is_opened_anew(void **state)
{
        with_informer(body_silent);
}

static void body_silenced(struct fixture *f)
{
        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        informer_silence(f->informer);
        put(&f->server, "b");
        settle(f);
        expect_seen(f, "");
        assert_non_null(held(f, "b"));
        assert_int_equal(informer_wait_synced(f->informer, DEADLINE_NONE), ERR_CLOSED);
        f->informer = informer_stop(f->informer);
}

/* While several caches end, nobody is told by one of what he would look up in another. */
static void a_cache_that_is_silenced_tells_nobody_until_it_ends(void **state)
{
        with_informer(body_silenced);
}

/* ---- what is held of each object ---- */

static struct object *without_labels(void *ctx, const struct object *o)
{
        struct member_cluster less = *(const struct member_cluster *)o;

        less.object.meta.labels = (struct string_map){ 0 };
        return object_block(&less.object, o, NULL);
}

static void body_reduced(struct fixture *f)
{
        struct told t = { .f = f };
        const struct object *a, *b;

        put(&f->server, "a");
        open_told(&t, (struct informer_options){ .reduce = without_labels });
        put(&f->server, "b");
        settle(f);
        a = informer_get(t.i, NULL, "a");
        b = informer_get(t.i, NULL, "b");
        assert_non_null(a);
        assert_non_null(b);
        assert_int_equal(a->meta.labels.n + b->meta.labels.n, 0);
        assert_string_equal(((const struct member_cluster *)b)->spec->identity->name, "x");
        informer_stop(t.i);
        buf_free(&t.text);
}

static void a_cache_may_hold_less_of_each_object(void **state)
{
        with_informer(body_reduced);
}

static void expect_version(const struct told *t, const char *version, bool outlined)
{
        const struct object *a = informer_get(t->i, NULL, "a");

        assert_non_null(a);
        assert_string_equal(a->meta.resource_version, version);
        assert_int_equal(a->outlined, outlined);
        assert_string_equal(((const struct member_cluster *)a)->spec->identity->name, "x");
}

static void body_outlined(struct fixture *f)
{
        struct told t = { .f = f };

        put(&f->server, "a");
        open_told(&t, (struct informer_options){ .flags = DECODE_OUTLINED });
        expect_version(&t, "1", false); /* as a list gave it */
        for (int i = 2; i < 12; i++) {
                char version[8];

                put(&f->server, "a");
                settle(f);
                snprintf(version, sizeof(version), "%d", i);
                expect_version(&t, version, true);
        }
        put_odd(&f->server, "a", true);
        settle(f);
        expect_version(&t, "11", true);
        informer_stop(t.i);
        buf_free(&t.text);
}

static void a_state_is_made_beside_the_last_one_where_no_more_than_its_version_moved(void **state)
{
        with_informer(body_outlined);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_restored_server_is_believed_though_a_list_fails),
                cmocka_unit_test(what_a_failed_list_does_not_name_is_not_gone),
                cmocka_unit_test(a_list_goes_on_when_the_server_has_time_again),
                cmocka_unit_test(who_is_told_when_to_come_again_comes_then),
                cmocka_unit_test(a_server_that_was_restored_is_followed_again_and_again),
                cmocka_unit_test(a_list_with_an_object_that_cannot_be_decoded_gives_the_others),
                cmocka_unit_test(an_object_that_cannot_be_decoded_any_more_stays_as_it_was_until_it_goes),
                cmocka_unit_test(what_is_held_of_an_object_goes_when_its_successor_cannot_be_decoded),
                cmocka_unit_test(of_metadata_what_cannot_be_decoded_is_there_all_the_same),
                cmocka_unit_test(a_bookmark_that_cannot_be_decoded_says_where_the_server_is_and_no_more),
                cmocka_unit_test(a_list_that_is_too_large_comes_in_smaller_pages),
                cmocka_unit_test(objects_as_large_as_can_be_come_few_at_a_time),
                cmocka_unit_test(behind_a_large_object_pages_grow_again),
                cmocka_unit_test(a_server_that_answers_every_watch_with_410_is_not_listed_in_a_tight_loop),
                cmocka_unit_test(each_version_that_cannot_be_decoded_is_counted_once),
                cmocka_unit_test(a_right_that_comes_is_noticed_within_ten_seconds),
                cmocka_unit_test(what_fails_when_a_right_has_come_is_tried_again_soon),
                cmocka_unit_test(a_watch_that_was_cut_goes_on_behind_the_last_event),
                cmocka_unit_test(a_watch_that_fails_after_an_outage_is_tried_again_soon),
                cmocka_unit_test(a_watch_that_an_outage_swallowed_is_opened_again_at_once),
                cmocka_unit_test(a_watch_that_says_nothing_for_minutes_is_opened_anew),
                cmocka_unit_test(a_cache_that_is_silenced_tells_nobody_until_it_ends),
                cmocka_unit_test(a_cache_may_hold_less_of_each_object),
                cmocka_unit_test(a_state_is_made_beside_the_last_one_where_no_more_than_its_version_moved),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
