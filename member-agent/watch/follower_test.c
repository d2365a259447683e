/* Following without a cache: what a server may say that must not stop it. */
#include "member-agent/watch/follower.h"

#include "common/ctrl/informer_test.h"
#include "common/kube/connection.h"
#include "common/kube/trouble.h"

static void show(void *ctx, const struct object *o, bool deleted)
{
        struct fixture *f = ctx;

        buf_printf(&f->seen.text, "%c%s ", deleted ? '-' : '+', o->meta.name);
}

static void begin(void *ctx)
{
        buf_append_str(&((struct fixture *)ctx)->seen.text, "[");
}

static void end(void *ctx)
{
        buf_append_str(&((struct fixture *)ctx)->seen.text, "] ");
}

static void follow(struct fixture *f, bool metadata_only)
{
        struct follower_options o = { .kube = &f->kube,
                                      .kind = &member_cluster_kind,
                                      .metadata_only = metadata_only,
                                      .begin = begin,
                                      .object = show,
                                      .end = end,
                                      .ctx = f };
        struct follower *follower;

        put(&f->server, "a");
        put_odd(&f->server, "b", true);
        put(&f->server, "c");
        follower = follower_new(f->group, &o, NULL);
        assert_non_null(follower);
        settle(f);
        expect_seen(f, metadata_only ? "[+a +b +c ] " : "[+a +c ] ");
        put_odd(&f->server, "b", true);
        drop(&f->server, "b");
        put(&f->server, "d");
        settle(f);
        expect_seen(f, metadata_only ? "+b -b +d " : "-b +d ");
        assert_int_equal(f->server.lists, 1);
        assert_true(follower_current(follower));
        follower_stop(follower);
}

static void body_whole(struct fixture *f)
{
        follow(f, false);
}

static void an_object_that_cannot_be_decoded_is_passed_over(void **state)
{
        with_informer(body_whole);
}

static void body_metadata(struct fixture *f)
{
        follow(f, true);
}

static void of_metadata_its_identity_is_shown(void **state)
{
        with_informer(body_metadata);
}

static struct follower *follow_all(struct fixture *f)
{
        const struct follower_options o = { .kube = &f->kube,
                                            .kind = &member_cluster_kind,
                                            .begin = begin,
                                            .object = show,
                                            .end = end,
                                            .ctx = f };
        struct follower *follower = follower_new(f->group, &o, NULL);

        assert_non_null(follower);
        settle(f);
        return follower;
}

static void body_rights(struct fixture *f)
{
        struct follower_options o = { .kube = &f->kube,
                                      .kind = &member_cluster_kind,
                                      .begin = begin,
                                      .object = show,
                                      .end = end,
                                      .ctx = f };
        struct follower *follower = follower_new(f->group, &o, NULL);
        unsigned refused;

        assert_non_null(follower);
        f->server.forbidden = true;
        assert_int_equal(fiber_sleep(f->loop, 300000), 0);
        assert_string_not_equal(follower_problem(follower), "");
        refused = f->server.refused;
        assert_int_equal(fiber_sleep(f->loop, 100000), 0);
        assert_in_range(f->server.refused - refused, 10, 25);
        buf_clear(&f->seen.text);
        f->server.forbidden = false;
        put(&f->server, "a");
        assert_int_equal(fiber_sleep(f->loop, 10000), 0);
        expect_seen(f, "[+a ] ");
        follower_stop(follower);
}

static void a_right_that_comes_is_noticed_within_ten_seconds(void **state)
{
        with_informer(body_rights);
}

/* How long it was missing does not make what fails afterwards wait. */
static void body_rights_and_failures(struct fixture *f)
{
        struct follower *follower;

        f->server.forbidden = true;
        follower = follow_all(f);
        assert_int_equal(fiber_sleep(f->loop, 300000), 0);
        f->server.fail_watches = 2;
        f->server.forbidden = false;
        assert_int_equal(fiber_sleep(f->loop, 15000), 0);
        assert_true(follower_current(follower));
        follower_stop(follower);
}

static void what_fails_when_a_right_has_come_is_tried_again_soon(void **state)
{
        with_informer(body_rights_and_failures);
}

static void count_rights(void *ctx, const struct kube_connection_change *change)
{
        int *missing = ctx;

        if (change->trouble && text_equal(change->trouble->reason, KUBE_REASON_RIGHT_MISSING))
                *missing += change->over ? -1 : 1;
}

static void body_watch(struct fixture *f)
{
        int missing = 0;
        const struct kube_connection_options c = { &f->kube, "member", "the server", count_rights, &missing };
        struct follower_options o = { .kube = &f->kube,
                                      .kind = &member_cluster_kind,
                                      .begin = begin,
                                      .object = show,
                                      .end = end,
                                      .ctx = f };
        struct kube_connection *connection = kube_connection_new(f->group, &c);
        struct follower *follower = follower_new(f->group, &o, NULL);

        settle(f);
        assert_true(follower_current(follower));
        f->server.forbidden = true;
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        assert_int_equal(fiber_sleep(f->loop, 20000), 0);
        assert_int_equal(missing, 1);
        assert_false(follower_current(follower));
        f->server.forbidden = false;
        assert_int_equal(fiber_sleep(f->loop, 10000), 0);
        assert_int_equal(missing, 0);
        assert_true(follower_current(follower));
        follower_stop(follower);
        kube_connection_free(connection);
}

static void a_watch_that_is_refused_is_told(void **state)
{
        with_informer(body_watch);
}

/* Who asks is told why nothing comes, until it comes again. */
static void body_problem(struct fixture *f)
{
        const struct follower_options o = { .kube = &f->kube,
                                            .kind = &member_cluster_kind,
                                            .begin = begin,
                                            .object = show,
                                            .end = end,
                                            .ctx = f };
        struct follower *follower;

        put(&f->server, "a");
        f->server.fail_lists = 1;
        follower = follower_new(f->group, &o, NULL);
        assert_non_null(follower);
        settle(f);
        assert_false(follower_current(follower));
        assert_non_null(strstr(follower_problem(follower), "boom"));
        assert_int_equal(fiber_sleep(f->loop, 60000), 0);
        assert_true(follower_current(follower));
        assert_string_equal(f->seen.text.data, "[[+a ] ");
        f->server.fail_watches = 1;
        f->server.cut = true;
        put(&f->server, "b");
        assert_int_equal(fiber_sleep(f->loop, 300), 0);
        assert_non_null(strstr(follower_problem(follower), "watch"));
        assert_int_equal(fiber_sleep(f->loop, 5000), 0);
        assert_string_equal(follower_problem(follower), "");
        follower_stop(follower);
}

static void why_nothing_comes_is_known(void **state)
{
        with_informer(body_problem);
}

/* ---- going on ---- */

static void body_cut(struct fixture *f)
{
        struct follower *follower;

        put(&f->server, "a");
        follower = follow_all(f);
        put(&f->server, "b");
        settle(f);
        expect_seen(f, "[+a ] +b ");
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        assert_int_equal(fiber_sleep(f->loop, 2000), 0);
        put(&f->server, "c");
        settle(f);
        expect_seen(f, "+c ");
        assert_int_equal(f->server.lists, 1);
        assert_int_equal(f->server.watches, 2);
        assert_int_equal(f->server.watched_from, 2);
        assert_true(follower_current(follower));
        assert_string_equal(follower_problem(follower), "");
        follower_stop(follower);
}

static void a_watch_that_was_cut_goes_on_behind_the_last_event(void **state)
{
        with_informer(body_cut);
}

static void body_expired(struct fixture *f)
{
        struct follower *follower;

        put(&f->server, "a");
        put(&f->server, "b");
        follower = follow_all(f);
        expect_seen(f, "[+a +b ] ");
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        drop(&f->server, "b");
        f->server.oldest = f->server.version;
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        assert_int_equal(fiber_sleep(f->loop, 5000), 0);
        expect_seen(f, "[+a ] ");
        assert_true(follower_current(follower));
        follower_stop(follower);
}

static void what_the_server_has_forgotten_is_listed(void **state)
{
        with_informer(body_expired);
}

static void body_silent(struct fixture *f)
{
        struct follower *follower = follow_all(f);

        expect_seen(f, "[] ");
        for (int i = 0; i < 30; i++) {
                assert_int_equal(fiber_sleep(f->loop, 60000), 0);
                say_bookmark(&f->server);
        }
        settle(f);
        assert_int_equal(f->server.watches, 1);
        f->server.stalled = true;
        put(&f->server, "a");
        assert_int_equal(fiber_sleep(f->loop, 120000), 0);
        assert_int_equal(f->server.watches, 1);
        f->server.stalled = false; /* for who asks anew */
        assert_int_equal(fiber_sleep(f->loop, 15000), 0);
        assert_int_equal(f->server.watches, 2);
        expect_seen(f, "+a ");
        assert_int_equal(f->server.lists, 1);
        follower_stop(follower);
}

static void a_watch_that_says_nothing_for_minutes_is_opened_anew(void **state)
{
        with_informer(body_silent);
}

static void body_failing(struct fixture *f)
{
        struct follower *follower;
        unsigned lists;

        f->server.fail_lists = 1000;
        follower = follow_all(f);
        assert_int_equal(fiber_sleep(f->loop, 10000), 0);
        assert_in_range(f->server.lists, 5, 8); /* 0.2 s, then twice as long each time */
        assert_int_equal(fiber_sleep(f->loop, 60000), 0);
        lists = f->server.lists;
        assert_int_equal(fiber_sleep(f->loop, 600000), 0);
        assert_in_range(f->server.lists - lists, 18, 30);
        f->server.fail_lists = 0;
        assert_int_equal(fiber_sleep(f->loop, 40000), 0);
        assert_true(follower_current(follower));
        f->server.fail_watches = 1; /* what failed before is forgotten by now */
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        assert_int_equal(fiber_sleep(f->loop, 2000), 0);
        assert_true(follower_current(follower));
        follower_stop(follower);
}

static void a_server_that_fails_is_asked_ever_more_seldom(void **state)
{
        with_informer(body_failing);
}

/* What an outage cost says nothing of a watch that fails after it. */
static void body_outage(struct fixture *f)
{
        const struct kube_connection_options o = { .kube = &f->kube,
                                                   .name = "member",
                                                   .title = "the member" };
        struct kube_connection *connection = kube_connection_new(f->group, &o);
        struct follower *follower = follow_all(f);

        settle(f);
        assert_true(follower_current(follower));
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        assert_int_equal(fiber_sleep(f->loop, 600000), 0);
        f->server.fail_watches = 3;
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        assert_int_equal(kube_connection_wait(connection, loop_now_ms(f->loop) + 60000), 0);
        assert_int_equal(fiber_sleep(f->loop, 5000), 0);
        assert_true(follower_current(follower));
        follower_stop(follower);
        kube_connection_free(connection);
}

static void a_watch_that_fails_after_an_outage_is_tried_again_soon(void **state)
{
        with_informer(body_outage);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_object_that_cannot_be_decoded_is_passed_over),
                cmocka_unit_test(of_metadata_its_identity_is_shown),
                cmocka_unit_test(a_right_that_comes_is_noticed_within_ten_seconds),
                cmocka_unit_test(what_fails_when_a_right_has_come_is_tried_again_soon),
                cmocka_unit_test(a_watch_that_is_refused_is_told),
                cmocka_unit_test(why_nothing_comes_is_known),
                cmocka_unit_test(a_watch_that_was_cut_goes_on_behind_the_last_event),
                cmocka_unit_test(what_the_server_has_forgotten_is_listed),
                cmocka_unit_test(a_watch_that_says_nothing_for_minutes_is_opened_anew),
                cmocka_unit_test(a_server_that_fails_is_asked_ever_more_seldom),
                cmocka_unit_test(a_watch_that_fails_after_an_outage_is_tried_again_soon),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
