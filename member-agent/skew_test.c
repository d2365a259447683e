/* A member agent of this version on a hub of the minor version before, whose definitions have none of the
 * fields that came since: e2e/devcluster/former.h. */
#include "e2e/devcluster/former.h"
#include "member-agent/member_agent_test.h"

static void with_each_definition(struct rig *r, void (*make)(struct rig *r, const char *definition))
{
        on(r, HUB);
        for (size_t i = 0; i < n_crd_texts; i++)
                if (text_starts_with(crd_texts[i].name, "works.") ||
                    text_starts_with(crd_texts[i].name, "internalmemberclusters."))
                        make(r, crd_texts[i].json);
}

static void former(struct rig *r, const char *definition)
{
        assert_true(make_former(r, definition));
}

struct writes {
        struct buf said;
};

/* Heartbeats apart. */
static int note_write(void *ctx, const struct http_request *rq)
{
        struct writes *w = ctx;

        if (!text_equal(rq->method, "GET") && text_equal(rq->endpoint->base_url, HUB) &&
            !strstr(rq->path, "/internalmemberclusters/"))
                buf_printf(&w->said, "%s %s %.*s\n", rq->method, rq->path, (int)rq->body.len,
                           rq->body.data ? rq->body.data : "");
        return 0;
}

static void begin_former(struct agent *a, struct rig *r, struct writes *w,
                         const struct loopback_faults *faults)
{
        buf_init(&w->said, 4 << 20);
        prepare_clusters(r);
        with_each_definition(r, former);
        rig_settle(r);
        invite(r);
        start(a, r, ":memory:");
        a->options.properties.namespaces = true;
        meet(a, faults);
}

#define REPORTING "'reportBackStrategy':{'type':'Mirror','destination':'OriginalResource'},"

/* spec/membership-webhooks-charts.md checklist 52 */
RIG_TEST(a_hub_of_the_version_before_is_served, {
        struct writes w;
        const struct loopback_faults faults = { .ctx = &w, .fate = note_write };
        struct agent a;

        begin_former(&a, r, &w, &faults);
        place(r, "w", REPORTING, CONFIG_MAP("c", "1") "," DEPLOYMENT);
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_null(doc_get(r->answer, "spec.reportBackStrategy"));
        assert_null(doc_get(json_array_get(doc_get_array(r->answer, "status.manifestConditions"), 1),
                            "backReportedStatus"));
        wait_for(r, HUB, IMCS "/m1", "metadata.name", "m1");
        assert_null(doc_get(r->answer, "status.namespaces"));
        fiber_sleep(r->loop, 5000);
        buf_truncate(&w.said, 0);
        fiber_sleep(r->loop, 300000);
        if (w.said.len > 0)
                fail_msg("in five idle minutes: %s", w.said.data);
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_until_gone(r, HUB, WORKS "/w");
        stop(&a);
        buf_free(&w.said);
})

/* spec/membership-webhooks-charts.md checklist 52: the hub is upgraded first, and then asks for more. */
RIG_TEST(what_came_later_is_reported_once_the_hub_is_upgraded, {
        struct writes w;
        const struct loopback_faults faults = { .ctx = &w, .fate = note_write };
        struct agent a;

        begin_former(&a, r, &w, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1") "," DEPLOYMENT);
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        with_each_definition(r, make_present);
        merge(r, HUB, WORKS "/w",
              "{'spec':{'reportBackStrategy':{'type':'Mirror','destination':'OriginalResource'}}}");
        fiber_sleep(r->loop, 120000);
        assert_non_null(doc_get(manifest_status(r, "w", 1), "backReportedStatus"));
        get(r, HUB, IMCS "/m1");
        assert_non_null(doc_get(r->answer, "status.namespaces"));
        stop(&a);
        buf_free(&w.said);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_hub_of_the_version_before_is_served),
                cmocka_unit_test(what_came_later_is_reported_once_the_hub_is_upgraded),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
