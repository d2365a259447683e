/* Runs that take a snapshot of what is selected, while their placement goes. */
#include "hub-agent/staged-update/update_run_agent_test.h"

#define READING_MS 5000

struct wire {
        struct loopback_faults faults;
        int made, deleted; /* resource snapshots */
};

static int64_t read_slowly(void *ctx, const struct http_request *rq, bool answer)
{
        bool slow = strstr(rq->path, "configmaps/settings") || strstr(rq->path, "updatestrategies/slow");

        return slow && !answer ? READING_MS : 0;
}

static int count_writes(void *ctx, const struct http_request *rq)
{
        struct wire *w = ctx;
        bool snapshots = strstr(rq->path, "clusterresourcesnapshots");

        w->made += snapshots && text_equal(rq->method, "POST");
        w->deleted += snapshots && text_equal(rq->method, "DELETE");
        return 0;
}

/* The first run reads what is selected when the placement goes, and makes a snapshot of it then; the second
 * comes to its turn after that. */
static void goes_meanwhile(struct rig *r)
{
        struct wire w = { .faults = { .ctx = &w, .delay = read_slowly, .fate = count_writes } };
        struct fleet f;

        start(r, &f);
        stop(&f);
        f.no_external_snapshots = true;
        f.world.transport = loopback_transport(r->net, &f.world, &w.faults);
        start_again(r, &f);
        add_member(&f, "member-1", "\"stage\":\"canary\"");
        add_app(r);
        place(r, ",\"strategy\":{\"type\":\"External\"}");
        fiber_sleep(r->loop, 2 * READING_MS);
        assert_int_equal(w.made, 0);
        post_strategy(r, STAGE("canary", ""));
        post_run(r, "first", "", "");
        fiber_sleep(r->loop, READING_MS - 1000);
        post_run(r, "second", "", "");
        fiber_sleep(r->loop, READING_MS - 1000);
        assert_int_equal(rig_delete(r, FLEET "clusterresourceplacements/web"), 200);
        fiber_sleep(r->loop, 6 * READING_MS);
        assert_int_equal(w.made, 1);
        assert_int_equal(w.deleted, 1);
        assert_int_equal(rig_get(r, FLEET "clusterresourceplacements/web"), 404);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 0);
        assert_run(r, "second", "Initialized", "False UpdateRunInitializedFailed");
        stop(&f);
        http_transport_free(f.world.transport);
}
static void no_run_takes_a_snapshot_of_a_placement_that_goes(void **state)
{
        rig_run(goes_meanwhile);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(no_run_takes_a_snapshot_of_a_placement_that_goes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
