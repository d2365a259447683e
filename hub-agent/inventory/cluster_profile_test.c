/* What stands in a ClusterProfile, and which events touch it: spec/membership-webhooks-charts.md 3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/inventory/cluster_profile.h"

#define NOW INT64_C(1000000000)

struct scene {
        struct arena arena;
        struct member_cluster_status status;
        struct member_cluster member;
        struct condition conditions[2], health;
        struct agent_status agent;
        struct property_value_entry properties[3];
};

/* A member that has joined, is healthy and reports all properties. */
static void begin(struct scene *s)
{
        *s = (struct scene){ .arena = ARENA_INIT };
        s->conditions[0] = make_condition(CONDITION_JOINED, "True", "R", "", 3);
        s->conditions[1] = make_condition(CONDITION_PROPERTY_COLLECTION_SUCCEEDED, "True", "R", "", 3);
        s->health = make_condition(CONDITION_HEALTHY, "True", "R", "", 3);
        s->agent = (struct agent_status){ AGENT_MEMBER, { &s->health, 1, true }, NOW - 1000 };
        s->properties[0] = (struct property_value_entry){ PROPERTY_CERTIFICATE_AUTHORITY, { "PEM", NOW } };
        s->properties[1] = (struct property_value_entry){ PROPERTY_ENTRYPOINT, { "https://m1", NOW } };
        s->properties[2] = (struct property_value_entry){ PROPERTY_KUBERNETES_VERSION, { "v1.36.1", NOW } };
        s->status.conditions = (struct condition_list){ s->conditions, 2, true };
        s->status.agent_status = (struct agent_status_list){ &s->agent, 1, true };
        s->status.properties = (struct property_value_map){ s->properties, 3, true };
        s->member = (struct member_cluster){ .object = { .kind = &member_cluster_kind,
                                                         .meta = { .name = "m1", .generation = 3 } },
                                             .status = &s->status };
}

static struct member_cluster *copy(struct scene *s)
{
        return (struct member_cluster *)object_copy(&s->member.object, &s->arena);
}

static struct cluster_profile *profile(struct scene *s)
{
        struct cluster_profile *p = profile_with_spec(&s->arena, &s->member, NULL);

        assert_non_null(p);
        p->object.meta.generation = 7;
        return p;
}

static const struct condition *health_after(struct scene *s)
{
        const struct cluster_profile *p = profile_with_status(&s->arena, &s->member, profile(s), NOW);

        assert_non_null(p);
        return condition_find(&p->status->conditions, CONDITION_CONTROL_PLANE_HEALTHY);
}

static void only_who_has_joined_for_this_generation_is_listed(void **state)
{
        struct scene s;

        begin(&s);
        assert_true(member_is_in_inventory(&s.member));
        s.member.object.meta.generation = 4;
        assert_false(member_is_in_inventory(&s.member));
        begin(&s);
        s.conditions[0].status = "False";
        assert_false(member_is_in_inventory(&s.member));
        s.member.status = NULL;
        assert_false(member_is_in_inventory(&s.member));
}

static void a_profile_says_name_and_manager_and_keeps_what_others_added(void **state)
{
        struct scene s;
        struct cluster_profile *p, *again;

        begin(&s);
        p = profile(&s);
        assert_string_equal(p->object.meta.ns, "fleet-system");
        assert_string_equal(p->object.meta.name, "m1");
        assert_string_equal(label_of(&p->object, "x-k8s.io/cluster-manager"), "KubeFleet");
        assert_string_equal(p->spec->display_name, "m1");
        assert_string_equal(profile_manager(p), "KubeFleet");
        assert_int_equal(p->object.meta.n_owners, 0);
        assert_true(profile_is_ours(p));
        p->spec->display_name = "edited";
        assert_int_equal(set_label(&p->object, "team", "a", &s.arena), 0);
        assert_int_equal(set_label(&p->object, LABEL_CLUSTER_MANAGER, "x", &s.arena), 0);
        again = profile_with_spec(&s.arena, &s.member, p);
        assert_string_equal(again->spec->display_name, "m1");
        assert_string_equal(label_of(&again->object, LABEL_CLUSTER_MANAGER), "KubeFleet");
        assert_string_equal(label_of(&again->object, "team"), "a");
        p->spec->cluster_manager->name = "other";
        assert_false(profile_is_ours(p));
        arena_free(&s.arena);
}

/* The certificate is text as a property, and base64 once as every field of bytes.
 * spec/membership-webhooks-charts.md checklist 17 */
static void properties_become_version_and_access(void **state)
{
        struct scene s;
        const struct cluster_profile *p;
        const struct access_provider *access;

        begin(&s);
        p = profile_with_status(&s.arena, &s.member, profile(&s), NOW);
        assert_string_equal(p->status->version->kubernetes, "v1.36.1");
        assert_int_equal(p->status->access_providers.n, 1);
        access = &p->status->access_providers.at[0];
        assert_string_equal(access->name, "KubeFleet");
        assert_string_equal(access->cluster->server, "https://m1");
        assert_string_equal(access->cluster->certificate_authority_data, "UEVN");
        assert_int_equal(p->status->credential_providers.n, 0);
        assert_int_equal(p->status->properties.n, 0);
        s.status.properties.n = 0;
        p = profile_with_status(&s.arena, &s.member, profile(&s), NOW);
        assert_null(p->status->version);
        assert_int_equal(p->status->access_providers.n, 1);
        assert_string_equal(p->status->access_providers.at[0].cluster->server, "");
        assert_null(p->status->access_providers.at[0].cluster->certificate_authority_data);
        arena_free(&s.arena);
}

static void properties_that_are_not_current_leave_what_was_known(void **state)
{
        struct scene s;
        const struct cluster_profile *before, *p;

        begin(&s);
        before = profile_with_status(&s.arena, &s.member, profile(&s), NOW);
        s.conditions[1].status = "False";
        s.properties[2].value.value = "v1.37.0";
        p = profile_with_status(&s.arena, &s.member, before, NOW);
        assert_string_equal(p->status->version->kubernetes, "v1.36.1");
        s.conditions[1].status = "True";
        s.conditions[1].observed_generation.value = 2;
        p = profile_with_status(&s.arena, &s.member, before, NOW);
        assert_string_equal(p->status->version->kubernetes, "v1.36.1");
        s.conditions[1].observed_generation.value = 3;
        p = profile_with_status(&s.arena, &s.member, before, NOW);
        assert_string_equal(p->status->version->kubernetes, "v1.37.0");
        p = profile_with_status(&s.arena, &s.member, profile(&s), NOW);
        assert_non_null(p->status->version);
        arena_free(&s.arena);
}

/* However old a heartbeat is: who asked for news of it says that it is lost.
 * spec/membership-webhooks-charts.md checklist 16 */
static void health_is_the_first_of_six_cases(void **state)
{
        static const struct {
                bool no_agent, no_health;
                const char *health, *because, *status, *reason;
        } rows[] = {
                { true, true, "False", "R", "Unknown", "MemberAgentReportedNoStatus" },
                { false, true, "False", "R", "Unknown", "MemberAgentReportedNoHealthInfo" },
                { false, false, "Unknown", REASON_HEARTBEAT_LOST, "False", "MemberAgentHeartbeatLost" },
                { false, false, "Unknown", "R", "Unknown", "MemberAgentReportedNoHealthInfo" },
                { false, false, "False", "R", "False", "MemberClusterAPIServerUnhealthy" },
                { false, false, "True", "R", "True", "MemberClusterAPIServerHealthy" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct condition *c;
                struct scene s;

                begin(&s);
                s.agent.last_received_heartbeat = NOW - 3600000;
                s.health.status = rows[i].health;
                s.health.reason = rows[i].because;
                if (rows[i].no_agent)
                        s.agent.type = AGENT_MULTI_CLUSTER_SERVICE;
                if (rows[i].no_health)
                        s.agent.conditions.n = 0;
                c = health_after(&s);
                assert_string_equal(c->status, rows[i].status);
                assert_string_equal(c->reason, rows[i].reason);
                assert_int_equal(c->observed_generation.value, 7);
                arena_free(&s.arena);
        }
}

static void an_agent_that_never_spoke_is_lost(void **state)
{
        struct scene s;

        begin(&s);
        s.agent.last_received_heartbeat = TIME_NONE;
        assert_string_equal(health_after(&s)->reason, "MemberAgentHeartbeatLost");
        arena_free(&s.arena);
}

/* ---- events ---- */

static void heartbeat(struct scene *s)
{
        s->agent.last_received_heartbeat += 1000;
}
static void is_unknown(struct scene *s)
{
        s->health.status = "Unknown";
}
static void is_lost(struct scene *s)
{
        is_unknown(s);
        s->health.reason = REASON_HEARTBEAT_LOST;
}
static void first_heartbeat(struct scene *s)
{
        s->agent.last_received_heartbeat = TIME_NONE;
}
static void unhealthy(struct scene *s)
{
        s->health.status = "Unknown";
}
static void other_health_reason(struct scene *s)
{
        s->health.reason = "Other";
}
static void no_agent(struct scene *s)
{
        s->status.agent_status.n = 0;
}
static void left(struct scene *s)
{
        s->conditions[0].status = "False";
}
static void joined_for_another(struct scene *s)
{
        s->conditions[0].observed_generation.value++;
}
static void not_collected(struct scene *s)
{
        s->conditions[1].status = "False";
}
static void version(struct scene *s)
{
        s->properties[2].value.value = "v2";
}
static void authority(struct scene *s)
{
        s->properties[0].value.value = "PEM2";
}
static void entrypoint(struct scene *s)
{
        s->properties[1].value.value = "https://m2";
}
static void observed_again(struct scene *s)
{
        s->properties[1].value.observation_time++;
}
static void generation(struct scene *s)
{
        s->member.object.meta.generation++;
}
static void deleted(struct scene *s)
{
        s->member.object.meta.deletion_ms = NOW;
}
static void finalizer(struct scene *s)
{
        assert_int_equal(object_add_finalizer(&s->member.object, FINALIZER_CLUSTER_PROFILE, &s->arena), 0);
}
static void other_finalizer(struct scene *s)
{
        assert_int_equal(object_add_finalizer(&s->member.object, "x/y", &s->arena), 0);
}
static void no_status(struct scene *s)
{
        s->member.status = NULL;
}

static void only_what_a_profile_is_made_of_touches_it(void **state)
{
        static const struct {
                void (*change)(struct scene *s);
                bool touches;
                void (*before)(struct scene *s); /* NULL = nothing */
        } rows[] = {
                { heartbeat, false },
                { is_lost, true },
                { is_lost, true, is_unknown },
                { heartbeat, false, is_lost },
                { version, true, is_lost },
                { first_heartbeat, true },
                { unhealthy, true },
                { other_health_reason, false },
                { no_agent, true },
                { left, true },
                { joined_for_another, true },
                { not_collected, true },
                { version, true },
                { authority, true },
                { entrypoint, true },
                { observed_again, false },
                { generation, true },
                { deleted, true },
                { finalizer, true },
                { other_finalizer, false },
                { no_status, true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct member_cluster *before;
                struct scene s;

                begin(&s);
                s.member.object.meta.deletion_ms = TIME_NONE;
                if (rows[i].before)
                        rows[i].before(&s);
                before = copy(&s);
                assert_non_null(before);
                rows[i].change(&s);
                if (profile_is_touched(before, &s.member) != rows[i].touches)
                        fail_msg("row %zu", i);
                arena_free(&s.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_who_has_joined_for_this_generation_is_listed),
                cmocka_unit_test(a_profile_says_name_and_manager_and_keeps_what_others_added),
                cmocka_unit_test(properties_become_version_and_access),
                cmocka_unit_test(properties_that_are_not_current_leave_what_was_known),
                cmocka_unit_test(health_is_the_first_of_six_cases),
                cmocka_unit_test(an_agent_that_never_spoke_is_lost),
                cmocka_unit_test(only_what_a_profile_is_made_of_touches_it),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
