/* Which change of an object calls for a reconcile of it: enum watch_on. */
#include "common/ctrl/controller_test.h"

/* What happens to the object a, one after another. */
static const struct change {
        const char *path, *patch; /* patch NULL: it is deleted */
        unsigned is;
        const char *owner; /* or: it gets that one as its only owner */
        bool controller;
} story[] = {
        { "a", "{\"metadata\":{\"labels\":{\"color\":\"blue\"}}}", ON_META },
        { "a", "{\"metadata\":{\"labels\":{\"color\":\"red\"}}}", ON_META },
        { "a", "{\"metadata\":{\"annotations\":{\"note\":\"x\"}}}", ON_META },
        { "a", "{\"metadata\":{\"finalizers\":[\"example.com/one\"]}}", ON_META },
        { "a", "{\"metadata\":{\"finalizers\":[\"example.com/two\"]}}", ON_META },
        { "a", "", ON_META, "one", false },
        { "a", "", ON_META, "two", false },
        { "a", "", ON_META, "two", true },
        { "a", "{\"metadata\":{\"ownerReferences\":null}}", ON_META },
        { "a", "{\"spec\":{\"heartbeatPeriodSeconds\":30}}", ON_SPEC },
        { "a/status", "{\"status\":{\"resourceUsage\":{\"capacity\":{\"cpu\":\"1\"}}}}", ON_STATUS },
        { "a", NULL, ON_DELETION | ON_SPEC }, /* its generation grows */
        { "a", "{\"metadata\":{\"finalizers\":null}}", ON_DELETION },
};

static void own(struct bench *b, const struct change *c)
{
        char path[128], patch[512];

        snprintf(path, sizeof(path), GROUP "/%s", c->owner);
        assert_int_equal(rig_get(b->rig, path), 200);
        snprintf(
                patch, sizeof(patch),
                "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\","
                "\"kind\":\"MemberCluster\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":%s}]}}",
                c->owner, rig_string(b->rig, "metadata.uid"), c->controller ? "true" : "false");
        edit(b, c->path, patch);
}

static void happen(struct bench *b, const struct change *c)
{
        if (c->owner)
                own(b, c);
        else if (c->patch)
                edit(b, c->path, c->patch);
        else
                assert_in_range(rig_delete(b->rig, GROUP "/a"), 200, 202);
}

static size_t visits_of_a(const struct bench *b)
{
        size_t n = 0;

        for (size_t i = 0; i < b->visits.n; i++)
                n += text_equal(b->visits.at[i].key, "a");
        return n;
}

static void watch_body(struct rig *r)
{
        const struct watch watch = { &member_cluster_kind, *(const unsigned *)r->ctx, NULL };
        struct controller c = two_at_a_time;
        struct bench b;

        c.watches = &watch;
        c.n_watches = 1;
        install_crds(r);
        make(r, "one");
        make(r, "two");
        make(r, "a");
        open_bench_with(r, &b, false, &c, NULL);
        run_manager(&b);
        assert_int_equal(visits_of_a(&b), watch.on == ON_DELETION ? 0 : 1); /* one that is there is new */
        for (size_t i = 0; i < ARRAY_LEN(story); i++) {
                size_t before = visits_of_a(&b);

                happen(&b, &story[i]);
                wait_ms(&b, 500);
                if (visits_of_a(&b) - before != ((story[i].is & watch.on) != 0))
                        fail_msg("who watches %u: %zu visits after change %zu", watch.on,
                                 visits_of_a(&b) - before, i);
        }
        close_bench(&b);
}

static void each_watch_is_told_of_what_it_asks_for_and_of_nothing_else(void **state)
{
        static const unsigned watches[] = { ON_SPEC, ON_STATUS, ON_META, ON_DELETION, ON_SPEC | ON_META };

        for (size_t i = 0; i < ARRAY_LEN(watches); i++)
                rig_run_for(watch_body, (void *)(uintptr_t)&watches[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_watch_is_told_of_what_it_asks_for_and_of_nothing_else),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
