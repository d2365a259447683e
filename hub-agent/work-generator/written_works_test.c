/* Works that somebody else changes on the hub. */
#include "hub-agent/hub_agent_test.h"

#define WEB FLEET "clusterresourceplacements/web"
#define WORK FLEET "namespaces/fleet-member-member-1/works/web-work"
#define NO_MANIFESTS "\"workload\":{\"manifests\":[]}"

static void place_one(struct rig *r, struct fleet *f)
{
        start(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(f);
        settle(f);
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
}

static size_t n_manifests(struct rig *r)
{
        rig_get(r, WORK);
        return json_array_size(doc_get_array(r->answer, "spec.workload.manifests"));
}

static void change(struct rig *r, const char *patch)
{
        assert_int_equal(rig_merge(r, WORK, patch), 200);
}

static const char *manifests_of(struct rig *r, char patch[4096])
{
        char *text;

        rig_get(r, WORK);
        text = json_dumps(doc_get_array(r->answer, "spec.workload.manifests"), JSON_COMPACT);
        snprintf(patch, 4096, "{\"spec\":{\"workload\":{\"manifests\":%s}}}", text);
        free(text);
        return patch;
}

static void restores(struct rig *r)
{
        static const char *const patches[] = {
                "{\"spec\":{" NO_MANIFESTS "}}",
                /* what is put right first must not hide the rest */
                "{\"spec\":{" NO_MANIFESTS ",\"applyStrategy\":{\"whenToApply\":\"IfNotDrifted\"}}}",
        };
        struct fleet f;
        size_t n;

        place_one(r, &f);
        n = n_manifests(r);
        assert_true(n > 0);
        for (size_t i = 0; i < ARRAY_LEN(patches); i++) {
                change(r, patches[i]);
                rig_settle(r);
                assert_int_equal(n_manifests(r), n);
                assert_non_null(strstr(r->text, "\"whenToApply\":\"Always\""));
                settle(&f);
                rig_get(r, WEB);
                assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        }
        stop(&f);
}
static void a_work_that_somebody_changed_is_given_its_content_again(void **state)
{
        rig_run(restores);
}

/* Nothing is left to be written, so nothing comes that would end the wait for it. */
static void goes_on(struct rig *r)
{
        char patch[4096];
        struct fleet f;

        place_one(r, &f);
        manifests_of(r, patch);
        change(r, "{\"spec\":{" NO_MANIFESTS "}}");
        change(r, patch);
        settle(&f);
        settle(&f);
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        stop(&f);
}
static void a_work_that_somebody_changed_and_put_right_holds_nothing_up(void **state)
{
        rig_run(goes_on);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_work_that_somebody_changed_is_given_its_content_again),
                cmocka_unit_test(a_work_that_somebody_changed_and_put_right_holds_nothing_up),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
