/* Following without a cache: what a server may say that must not stop it. */
#include "member-agent/watch/follower.h"

#include "common/ctrl/informer_test.h"

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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_object_that_cannot_be_decoded_is_passed_over),
                cmocka_unit_test(of_metadata_its_identity_is_shown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
