/* What the hub was to be told of a Work, when the first word of it did not arrive. */
#include "member-agent/member_agent_test.h"

struct loss {
        int fate;
        bool on;
};

static int lose_status(void *ctx, const struct http_request *rq)
{
        struct loss *l = ctx;
        int fate = l->on && strstr(rq->path, "/works/w/status") ? l->fate : 0;

        l->on = l->on && !fate;
        return fate;
}

/* Its manifests go, all of them: so does what the status says of them. */
static void loss_body(struct rig *r)
{
        struct loss *l = r->ctx;
        struct loopback_faults faults = { .ctx = l, .fate = lose_status };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_non_null(manifest_status(r, "w", 0));
        l->on = true;
        replace_manifests(r, "w", "");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(l->on, l->fate == 0);
        get(r, HUB, WORKS "/w");
        assert_int_equal(doc_get_int(json_array_get(doc_get_array(r->answer, "status.conditions"), 0),
                                     "observedGeneration", 0),
                         doc_get_int(r->answer, "metadata.generation", -1));
        if (manifest_status(r, "w", 0))
                fail_msg("fate %d: %s", l->fate, r->text);
        stop(&a);
}

static void no_row_stays_on_the_hub_of_a_manifest_that_went(void **state)
{
        static const int fates[] = { 0, 503, 409, ERR_RETRY, ERR_CLOSED, ERR_TIMEOUT };

        for (size_t i = 0; i < ARRAY_LEN(fates); i++) {
                struct loss l = { .fate = fates[i] };

                rig_run_for(loss_body, &l);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(no_row_stays_on_the_hub_of_a_manifest_that_went),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
