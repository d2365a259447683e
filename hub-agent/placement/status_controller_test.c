/* Intake and status of placements within a whole agent: who does what, and when nothing is said. */
#include "hub-agent/hub_agent_test.h"

#include "common/ctrl/metrics.h"

#define WEB FLEET "clusterresourceplacements/web"

static void start_on(struct rig *r, struct fleet *f, struct line *line)
{
        start(r, f);
        line_lay(f, line);
        f->metrics = metrics_new(METRIC_OF_HUB);
        assert_non_null(f->metrics);
        start_again(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(f);
        settle(f);
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
}

static void close_all(struct fleet *f)
{
        stop(f);
        http_transport_free(f->world.transport);
        metrics_free(f->metrics);
}

/* As a member's answer that came by way of its Work. */
static void say_available(struct rig *r, const char *status)
{
        char patch[512], now[RFC3339_SIZE];
        json_t *work;

        rig_get(r, FLEET "namespaces/fleet-member-member-1/works/web-work");
        work = r->answer;
        time_format_rfc3339(loop_wall_ms(r->loop), now);
        snprintf(patch, sizeof(patch),
                 "{\"status\":{\"conditions\":[{\"type\":\"Applied\",\"status\":\"True\",\"reason\":\"A\","
                 "\"message\":\"\",\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld},"
                 "{\"type\":\"Available\",\"status\":\"%s\",\"reason\":\"B\",\"message\":\"\","
                 "\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld}]}}",
                 now, (long long)doc_get_int(work, "metadata.generation", 0), status, now,
                 (long long)doc_get_int(work, "metadata.generation", 0));
        assert_int_equal(rig_merge(r, FLEET "namespaces/fleet-member-member-1/works/web-work/status", patch),
                         200);
}

static void wait_ms(struct rig *r, int64_t ms)
{
        fiber_sleep(r->loop, ms);
        rig_settle(r);
}

static const char *told(struct rig *r, const char *type)
{
        rig_get(r, WEB);
        return condition_of(r, type);
}

/* ---- tests ---- */

static void selects_nothing(struct rig *r)
{
        struct line line;
        struct fleet f;
        double intakes, statuses;

        start_on(r, &f, &line);
        wait_ms(r, 1000);
        intakes = passes_of(&f, "placement-intake");
        statuses = passes_of(&f, "placement-status");
        assert_true(intakes > 0);
        say_available(r, "False");
        wait_ms(r, 5000);
        assert_string_equal(told(r, "ClusterResourcePlacementAvailable"), "False");
        say_available(r, "True");
        wait_ms(r, 5000);
        assert_string_equal(told(r, "ClusterResourcePlacementAvailable"), "True");
        assert_true(passes_of(&f, "placement-status") > statuses);
        assert_true(passes_of(&f, "placement-intake") == intakes);
        close_all(&f);
}
static void what_members_report_makes_nothing_be_selected_anew(void **state)
{
        rig_run(selects_nothing);
}

/* What is selected cannot be read, so the intake fails; what the members have is told all the same. */
static void goes_on(struct rig *r)
{
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.path = "/api/v1/namespaces/app/";
        line.fate = 503;
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        wait_ms(r, 3000);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 1);
        say_available(r, "False");
        wait_ms(r, 5000);
        assert_string_equal(told(r, "ClusterResourcePlacementAvailable"), "False");
        line.path = NULL;
        wait_ms(r, 90000);
        settle(&f);
        settle(&f);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 2);
        assert_string_equal(told(r, "ClusterResourcePlacementAvailable"), "True");
        rig_get(r, WEB);
        assert_string_equal(doc_get_string(r->answer, "status.observedResourceIndex"), "1");
        close_all(&f);
}
static void a_selection_that_fails_holds_up_no_report_of_the_members(void **state)
{
        rig_run(goes_on);
}

/* Not a word about a generation of which nobody knows what it selects. */
static void is_not_spoken_of(struct rig *r)
{
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        say_available(r, "False");
        wait_ms(r, 5000);
        line.path = "/api/v1/namespaces/app/";
        line.fate = 503;
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        rig_merge(r, WEB, "{\"spec\":{\"revisionHistoryLimit\":5}}");
        assert_int_equal(r->status, 200);
        wait_ms(r, 2000);
        say_available(r, "True"); /* of the content before */
        wait_ms(r, 10000);
        rig_get(r, WEB);
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 2);
        assert_null(strstr(r->text, "\"observedGeneration\":2"));
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "False");
        wait_ms(r, 60000);
        assert_string_equal(told(r, "ClusterResourcePlacementScheduled"), "False");
        assert_non_null(strstr(r->text, "cannot be selected at present"));
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "False");
        line.path = NULL;
        wait_ms(r, 90000);
        settle(&f);
        settle(&f);
        assert_string_equal(told(r, "ClusterResourcePlacementScheduled"), "True");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        rig_get(r, WEB);
        assert_string_equal(doc_get_string(r->answer, "status.observedResourceIndex"), "1");
        close_all(&f);
}
static void a_generation_whose_selection_cannot_be_read_is_not_spoken_of(void **state)
{
        rig_run(is_not_spoken_of);
}

/* What is placed is no longer what is selected: that shows, and so does what the members go on to report. */
static void tells_what_lasts(struct rig *r)
{
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.path = "/api/v1/namespaces/app/";
        line.fate = 503;
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        wait_ms(r, 10000);
        assert_string_equal(told(r, "ClusterResourcePlacementScheduled"), "True");
        wait_ms(r, 60000);
        assert_string_equal(told(r, "ClusterResourcePlacementScheduled"), "False");
        assert_non_null(strstr(r->text, "The resources cannot be selected at present, and what is placed "
                                        "stays as it is"));
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        assert_string_equal(doc_get_string(r->answer, "status.observedResourceIndex"), "0");
        say_available(r, "False");
        wait_ms(r, 5000);
        assert_string_equal(told(r, "ClusterResourcePlacementAvailable"), "False");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "False");
        line.path = NULL;
        wait_ms(r, 90000);
        settle(&f);
        settle(&f);
        assert_string_equal(told(r, "ClusterResourcePlacementScheduled"), "True");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        close_all(&f);
}
static void a_selection_that_cannot_be_read_for_long_is_told(void **state)
{
        rig_run(tells_what_lasts);
}

static void stays_refused(struct rig *r)
{
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        rig_merge(r, WEB,
                  "{\"spec\":{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Nothing\","
                  "\"name\":\"app\"}]}}");
        assert_int_equal(r->status, 200);
        wait_ms(r, 2000);
        assert_string_equal(told(r, "ClusterResourcePlacementScheduled"), "False");
        say_available(r, "False");
        wait_ms(r, 5000);
        assert_string_equal(told(r, "ClusterResourcePlacementScheduled"), "False");
        assert_non_null(strstr(r->text, "InvalidResourceSelectors"));
        rig_merge(r, WEB, "{\"spec\":{" SELECT_APP "}}");
        assert_int_equal(r->status, 200);
        wait_ms(r, 5000);
        assert_string_equal(told(r, "ClusterResourcePlacementScheduled"), "True");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "False");
        close_all(&f);
}
static void a_refused_placement_stays_refused_whatever_its_members_report(void **state)
{
        rig_run(stays_refused);
}

/* While the agent stands still the content changes and a member reports; when it comes back it cannot select
 * at first. */
static void says_nothing_yet(struct rig *r)
{
        const char *version;
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        say_available(r, "False");
        wait_ms(r, 5000);
        assert_string_equal(told(r, "ClusterResourcePlacementAvailable"), "False");
        stop(&f);
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        rig_get(r, WEB);
        version = strdup(doc_get_string(r->answer, "metadata.resourceVersion"));
        line.path = "/api/v1/configmaps";
        line.fate = 503;
        metrics_free(f.metrics);
        f.metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, &f);
        say_available(r, "True"); /* of the content before */
        wait_ms(r, 10000);
        assert_true(passes_of(&f, "placement-status") > 0);
        rig_get(r, WEB);
        assert_string_equal(doc_get_string(r->answer, "metadata.resourceVersion"), version);
        line.path = NULL;
        wait_ms(r, 90000);
        rig_get(r, WEB);
        assert_string_equal(doc_get_string(r->answer, "status.observedResourceIndex"), "1");
        free((char *)(uintptr_t)version);
        close_all(&f);
}
static void after_a_restart_nothing_is_said_before_it_is_known_what_is_selected(void **state)
{
        rig_run(says_nothing_yet);
}

/* Nothing else would make the intake look at a snapshot whose label somebody took off. */
static void is_put_right(struct rig *r)
{
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        rig_merge(r, FLEET "clusterresourcesnapshots/web-0-snapshot",
                  "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":\"false\"}}}");
        assert_int_equal(r->status, 200);
        rig_settle(r);
        say_available(r, "False");
        wait_ms(r, 60000);
        assert_string_equal(told(r, "ClusterResourcePlacementAvailable"), "False");
        rig_get(r, FLEET "clusterresourcesnapshots/web-0-snapshot");
        assert_non_null(strstr(r->text, "\"kubernetes-fleet.io/is-latest-snapshot\":\"true\""));
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 1);
        close_all(&f);
}
static void snapshots_that_somebody_changed_are_put_right_and_the_status_goes_on(void **state)
{
        rig_run(is_put_right);
}

static bool is_told(struct rig *r, const char *reason)
{
        json_t *item;
        size_t i;

        rig_get(r, "/api/v1/namespaces/default/events");
        json_array_foreach(json_object_get(r->answer, "items"), i, item)
                if (text_equal(doc_get_string(item, "reason"), reason))
                        return true;
        return false;
}

RIG_TEST(that_nothing_is_found_is_told_in_time_though_the_clock_is_set_back, {
        struct line line = { 0 };
        struct fleet f;

        start_on(r, &f, &line);
        rig_merge(r, WEB,
                  "{\"spec\":{\"resourceSelectors\":[{\"group\":\"rbac.authorization.k8s.io\",\"version\":"
                  "\"v1\",\"kind\":\"ClusterRole\",\"name\":\"none\"}]}}");
        assert_int_equal(r->status, 200);
        fiber_sleep(r->loop, 1000);
        loop_shift_wall(r->loop, -200000);
        fiber_sleep(r->loop, 20000);
        assert_true(is_told(r, "PlacementResourceNotFound"));
        close_all(&f);
})

/* Its readers in the namespace have no other. */
RIG_TEST(a_copy_of_the_status_that_somebody_deletes_is_made_anew, {
        static const char copy[] = FLEET "namespaces/app/clusterresourceplacementstatuses/web";
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, ",\"statusReportingScope\":\"NamespaceAccessible\"");
        settle(&f);
        settle(&f);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(rig_get(r, copy), 200);
        assert_int_equal(rig_delete(r, copy), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, copy), 200);
        stop(&f);
})

/* What passes by itself is nothing that a user could mend. */
RIG_TEST(a_copy_of_the_status_that_is_refused_is_told_and_made_good, {
        static const char copy[] = FLEET "namespaces/app/clusterresourceplacementstatuses/web";
        static const struct {
                int fate;
                const char *synced;
        } rows[] = { { 503, "absent" }, { 403, "False" } };
        struct line line;
        struct fleet f;

        start(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        line.path = "namespaces/app/clusterresourceplacementstatuses";
        line.fate = rows[0].fate;
        place(r, ",\"statusReportingScope\":\"NamespaceAccessible\"");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                line.fate = rows[i].fate;
                settle(&f);
                fiber_sleep(r->loop, 60000);
                rig_get(r, WEB);
                assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "True");
                assert_string_equal(condition_of(r, "ClusterResourcePlacementStatusSynced"), rows[i].synced);
                assert_int_equal(rig_get(r, copy), 404);
        }
        line.path = NULL;
        fiber_sleep(r->loop, 60000);
        assert_int_equal(rig_get(r, copy), 200);
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementStatusSynced"), "True");
        stop(&f);
        http_transport_free(f.world.transport);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_members_report_makes_nothing_be_selected_anew),
                cmocka_unit_test(a_selection_that_fails_holds_up_no_report_of_the_members),
                cmocka_unit_test(a_generation_whose_selection_cannot_be_read_is_not_spoken_of),
                cmocka_unit_test(a_selection_that_cannot_be_read_for_long_is_told),
                cmocka_unit_test(a_refused_placement_stays_refused_whatever_its_members_report),
                cmocka_unit_test(after_a_restart_nothing_is_said_before_it_is_known_what_is_selected),
                cmocka_unit_test(snapshots_that_somebody_changed_are_put_right_and_the_status_goes_on),
                cmocka_unit_test(a_copy_of_the_status_that_somebody_deletes_is_made_anew),
                cmocka_unit_test(a_copy_of_the_status_that_is_refused_is_told_and_made_good),
                cmocka_unit_test(that_nothing_is_found_is_told_in_time_though_the_clock_is_set_back),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
