/* What others do to an object while our own request for it is on its way. */
#include "member-agent/member_agent_test.h"

#define PATIENCE_MS 20000
#define NAMED(more)                                                                                          \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'b','namespace':'default'}" more "}"
#define KEYS "'1':'a','2':'a','3':'a','4':'a','5':'a'"
#define FIRST NAMED(",'data':{" KEYS ",'other':'1'}")
#define SECOND NAMED(",'data':{" KEYS ",'other':'2'}")
#define B_PATH CONFIG_MAP_PATH("b")

struct slow {
        bool active;
        unsigned n, most; /* so many patches take their time */
};

static int64_t delay_patch(void *ctx, const struct http_request *rq, bool answer)
{
        struct slow *slow = ctx;

        if (answer || !slow->active || slow->n >= slow->most || !text_equal(rq->method, "PATCH") ||
            !text_starts_with(rq->path, B_PATH "?"))
                return 0;
        slow->n++;
        return 5000;
}

static void wait_for_patch(struct rig *r, const struct slow *slow, unsigned n)
{
        for (int i = 0; i < PATIENCE_MS && slow->n < n; i++)
                assert_int_equal(fiber_sleep(r->loop, 1), 0);
        assert_int_equal(slow->n, n);
}

/* ctx: how many patches in a row meet an edit. */
static void edited_body(struct rig *r)
{
        const unsigned edits = *(const unsigned *)r->ctx;
        struct slow slow = { .most = edits };
        struct loopback_faults faults = { .ctx = &slow, .delay = delay_patch };
        struct agent a;

        begin(&a, r);
        http_transport_free(a.world.transport);
        a.world.transport = loopback_transport(r->net, &a.world, &faults);
        place(r, "w", "", FIRST);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        slow.active = true;
        replace_manifests(r, "w", SECOND);
        for (unsigned i = 1; i <= edits; i++) {
                wait_for_patch(r, &slow, i);
                merge(r, MEMBER, B_PATH, arena_printf(&r->arena, "{'data':{'%u':'edited'}}", i));
        }
        wait_for(r, MEMBER, B_PATH, "data.other", "2");
        for (unsigned i = 1; i <= edits; i++)
                wait_for(r, MEMBER, B_PATH, arena_printf(&r->arena, "data.%u", i), "a");
        stop(&a);
}

/* A patch is the difference to what was read: what changed since is no part of it, and comes back with the
 * answer as if it were ours. */
static void an_edit_while_a_patch_is_on_its_way_is_put_right(void **state)
{
        static const unsigned edits[] = { 1, 2, 3, 4, 5 };

        for (size_t i = 0; i < ARRAY_LEN(edits); i++)
                rig_run_for(edited_body, (void *)(uintptr_t)&edits[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_edit_while_a_patch_is_on_its_way_is_put_right),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
