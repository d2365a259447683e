/* spec/member-agent.md 3.1, 3.2 (checklist 53-55). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/timefmt.h"
#include "member-agent/membership/membership.h"

static struct internal_member_cluster_status *report(struct arena *arena, struct internal_member_cluster *c,
                                                     struct membership_report r)
{
        struct internal_member_cluster_status *s = NULL;

        assert_int_equal(membership_status(c, &r, arena, &s, NULL), 0);
        return s;
}

static const struct agent_status *own(const struct internal_member_cluster_status *s)
{
        for (uint32_t i = 0; i < s->agent_status.n; i++)
                if (text_equal(s->agent_status.at[i].type, "MemberAgent"))
                        return &s->agent_status.at[i];
        return NULL;
}

static void joining_reports_heartbeat_health_and_membership(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct internal_member_cluster c = { .object.meta.generation = 4 };
        struct internal_member_cluster_status *s =
                report(&arena, &c,
                       (struct membership_report){
                               .state = AGENT_JOINED, .beat = true, .healthy = true, .now_ms = 9 });

        assert_int_equal(own(s)->last_received_heartbeat, 9);
        assert_string_equal(membership_condition(s, "Joined")->reason, "InternalMemberClusterJoined");
        assert_string_equal(membership_condition(s, "Joined")->status, "True");
        assert_string_equal(membership_condition(s, "Healthy")->reason, "InternalMemberClusterHealthy");
        assert_string_equal(membership_condition(s, "Healthy")->message, "");
        assert_int_equal(membership_condition(s, "Joined")->observed_generation.value, 4);
}

/* spec/member-agent.md checklist 54 */
static void heartbeats_go_on_when_the_probe_fails(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct internal_member_cluster c = { 0 };
        struct internal_member_cluster_status *s =
                report(&arena, &c,
                       (struct membership_report){ .state = AGENT_JOINED,
                                                   .beat = true,
                                                   .health_problem = "health probe failed with status code 0",
                                                   .now_ms = 9 });

        assert_int_equal(own(s)->last_received_heartbeat, 9);
        assert_string_equal(membership_condition(s, "Healthy")->status, "False");
        assert_string_equal(membership_condition(s, "Healthy")->message,
                            "health probe failed with status code 0");
        assert_string_equal(membership_condition(s, "Joined")->status, "True");
}

/* spec/member-agent.md checklist 55 */
static void other_agents_and_old_properties_stay(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct agent_status other = { .type = "ServiceExportImportAgent", .last_received_heartbeat = 3 };
        struct property_value_entry property = { .key = "k" };
        struct internal_member_cluster_status before = { .agent_status = { &other, 1, true },
                                                         .properties = { &property, 1, true } };
        struct internal_member_cluster c = { .status = &before };
        struct internal_member_cluster_status *s =
                report(&arena, &c,
                       (struct membership_report){
                               .state = AGENT_JOINED, .beat = true, .healthy = true, .now_ms = 9 });

        assert_int_equal(s->agent_status.n, 2);
        assert_string_equal(s->agent_status.at[0].type, "ServiceExportImportAgent");
        assert_int_equal(s->agent_status.at[0].last_received_heartbeat, 3);
        assert_int_equal(s->properties.n, 1);
        assert_int_equal(before.agent_status.n, 1);
}

static void passes_between_heartbeats_write_what_else_changed(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct internal_member_cluster c = { .object.meta.generation = 1 };
        struct resource_usage usage = { .observation_time = 9 }, later = { .observation_time = 12 };
        struct property_collection told = { .usage = &usage };
        struct membership_report r = { .state = AGENT_JOINED, .beat = true, .healthy = true, .now_ms = 9 };

        assert_true(membership_report_due(&c));
        c.status = report(&arena, &c, r);
        assert_false(membership_report_due(&c));
        r = (struct membership_report){
                .state = AGENT_JOINED, .told = &told, .health_problem = "x", .now_ms = 12
        };
        c.status = report(&arena, &c, r); /* usage for the first time: at once */
        assert_int_equal(own(c.status)->last_received_heartbeat, 9);
        assert_ptr_equal(c.status->resource_usage, &usage);
        assert_string_equal(membership_condition(c.status, "Healthy")->status, "False");
        told.usage = &later;
        c.status = report(&arena, &c, r);
        assert_ptr_equal(c.status->resource_usage, &usage);
        c.object.meta.generation = 2;
        assert_true(membership_report_due(&c));
}

/* With heartbeats, and at once for the first time. */
static void namespaces_are_told_with_whether_they_are_all(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct string_pair first = { "web", "w" }, second = { "db", "" };
        struct condition other = { .type = "Other", .status = "True" };
        struct internal_member_cluster_status before = { .conditions = { &other, 1, true } };
        struct internal_member_cluster c = { .object.meta.generation = 4, .status = &before };
        struct condition all = {
                .type = "NamespaceCollectionSucceeded", .status = "True", .reason = "Succeeded", .message = ""
        };
        struct property_collection look = { .namespaces = { &first, 1, true },
                                            .conditions = { &all, 1, true } };
        const char *const none[] = { NULL }, *const back[] = { "NamespaceCollectionSucceeded", NULL };
        struct membership_report r = {
                .state = AGENT_JOINED, .told = &look, .taken_back = none, .now_ms = 9
        };
        const struct condition *told;

        c.status = report(&arena, &c, r);
        assert_string_equal(string_map_get(&c.status->namespaces, "web"), "w");
        assert_int_equal(before.conditions.n, 1);
        assert_int_equal(c.status->conditions.n, 2);
        told = condition_find(&c.status->conditions, "NamespaceCollectionSucceeded");
        assert_string_equal(told->status, "True");
        assert_int_equal(told->observed_generation.value, 4);
        look.namespaces.at = &second;
        all.status = "False";
        all.reason = "Degraded";
        c.status = report(&arena, &c, r); /* between heartbeats */
        assert_null(string_map_get(&c.status->namespaces, "db"));
        r.beat = true;
        c.status = report(&arena, &c, r);
        assert_non_null(string_map_get(&c.status->namespaces, "db"));
        told = condition_find(&c.status->conditions, "NamespaceCollectionSucceeded");
        assert_string_equal(told->status, "False");
        assert_string_equal(told->reason, "Degraded");
        look = (struct property_collection){ 0 };
        c.status = report(&arena, &c, r); /* not known yet, after a restart */
        assert_non_null(string_map_get(&c.status->namespaces, "db"));
        r.taken_back = back;
        before = *c.status;
        c.status = report(&arena, &c, r);
        assert_false(c.status->namespaces.set);
        assert_int_equal(c.status->conditions.n, 1);
        assert_int_equal(before.conditions.n, 2);
}

/* spec/member-agent.md checklist 53 */
static void leaving_stops_the_heartbeat_and_leaves_health_alone(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct internal_member_cluster c = { 0 };

        c.status = report(&arena, &c,
                          (struct membership_report){
                                  .state = AGENT_JOINED, .beat = true, .healthy = true, .now_ms = 9 });
        c.status = report(&arena, &c, (struct membership_report){ .state = AGENT_LEFT, .now_ms = 20 });
        assert_int_equal(own(c.status)->last_received_heartbeat, 9);
        assert_string_equal(membership_condition(c.status, "Joined")->status, "False");
        assert_string_equal(membership_condition(c.status, "Joined")->reason, "InternalMemberClusterLeft");
        assert_int_equal(membership_condition(c.status, "Joined")->last_transition_ms, 20);
        assert_string_equal(membership_condition(c.status, "Healthy")->status, "True");
}

static void events_tell_of_changes_only(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct internal_member_cluster c = { .object.meta.generation = 1 };
        struct membership_report r = { .state = AGENT_JOINED, .beat = true, .healthy = true, .now_ms = 9 };
        struct internal_member_cluster_status *first = report(&arena, &c, r), *second;

        assert_true(membership_event_due(NULL, first, "Joined", true));
        c.status = first;
        second = report(&arena, &c, r);
        assert_false(membership_event_due(first, second, "Joined", true));
        c.object.meta.generation = 2;
        second = report(&arena, &c, r);
        assert_true(membership_event_due(first, second, "Joined", true));
        assert_false(membership_event_due(first, second, "Healthy", false));
        assert_string_equal(membership_event_text("SomethingElse"), "");
        assert_string_equal(membership_event_text("InternalMemberClusterLeft"),
                            "internal member cluster left");
}

/* spec/member-agent.md checklist 54 */
static void the_interval_plays_five_percent_around_the_period(void **state)
{
        for (uint64_t random = 0; random < 100000; random += 997) {
                int64_t ms = membership_next_ms(60, random);

                assert_true(ms >= 59500 && ms <= 60500);
                assert_in_range(membership_next_ms(1, random), 950, 1050);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(joining_reports_heartbeat_health_and_membership),
                cmocka_unit_test(heartbeats_go_on_when_the_probe_fails),
                cmocka_unit_test(other_agents_and_old_properties_stay),
                cmocka_unit_test(passes_between_heartbeats_write_what_else_changed),
                cmocka_unit_test(namespaces_are_told_with_whether_they_are_all),
                cmocka_unit_test(leaving_stops_the_heartbeat_and_leaves_health_alone),
                cmocka_unit_test(events_tell_of_changes_only),
                cmocka_unit_test(the_interval_plays_five_percent_around_the_period),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
