/* What the agent remembers may be behind: caches, watches, its own state file. Nothing is lost or done twice
 * for that. */
#include "member-agent/member_agent_test.h"

static void begin_with(struct agent *a, struct rig *r, const struct loopback_faults *faults)
{
        begin(a, r);
        http_transport_free(a->world.transport);
        a->world.transport = loopback_transport(r->net, &a->world, faults);
}

/* ---- an AppliedWork that the cache still has ---- */

struct lag {
        bool active;
};

static int64_t delay_watch(void *ctx, const struct http_request *rq, bool answer)
{
        const struct lag *lag = ctx;

        return lag->active && answer && strstr(rq->path, "appliedworks") && strstr(rq->path, "watch=") ? 30000
                                                                                                       : 0;
}

static void dead_owner_body(struct rig *r)
{
        struct lag lag = { false };
        struct loopback_faults faults = { .ctx = &lag, .delay = delay_watch };
        const char *uid;
        struct agent a;

        begin_with(&a, r, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        lag.active = true;
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        place(r, "w", "", CONFIG_MAP("c", "2"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        get(r, MEMBER, APPLIED_WORKS "/w");
        assert_int_equal(r->status, 200);
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0),
                               "uid"),
                uid);
        stop(&a);
}

static void a_work_that_is_made_again_at_once_does_not_take_a_dead_owner(void **state)
{
        rig_run(dead_owner_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_work_that_is_made_again_at_once_does_not_take_a_dead_owner),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
