/* What joining makes on the hub, and what is mended of it: spec/membership-webhooks-charts.md 2.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/json/doc.h"
#include "hub-agent/membership/membership.h"

static struct subject identity = { .kind = "ServiceAccount", .name = "m1-access", .ns = "fleet-system" };
static struct member_cluster_spec spec = { .identity = &identity };
static struct member_cluster member = {
        .object = { .kind = &member_cluster_kind, .meta = { .name = "m1", .uid = "u-1" } }, .spec = &spec
};

static json_t *parsed(const char *text)
{
        json_t *doc = json_loads(text, 0, NULL);

        assert_non_null(doc);
        return doc;
}

static void the_role_names_no_wildcard_and_nothing_that_creates_or_deletes_fleet_objects(void **state)
{
        AUTO_JSON json_t *role = member_role_doc(&member, false);
        json_t *rule;
        size_t i;

        assert_string_equal(doc_get_string(role, "metadata.name"), "fleet-role-m1");
        assert_string_equal(doc_get_string(role, "metadata.namespace"), "fleet-member-m1");
        json_array_foreach(json_object_get(role, "rules"), i, rule) {
                AUTO_FREE char *text = json_dumps(rule, JSON_COMPACT);

                assert_null(strchr(text, '*'));
                assert_null(strstr(text, "delete"));
                if (!strstr(text, "\"events\""))
                        assert_null(strstr(text, "create"));
        }
        assert_int_equal(i, 5);
}

static void the_spec_of_the_own_report_object_cannot_be_written(void **state)
{
        AUTO_JSON json_t *role = member_role_doc(&member, false);
        json_t *rule;
        size_t i;

        json_array_foreach(json_object_get(role, "rules"), i, rule) {
                AUTO_FREE char *verbs = json_dumps(json_object_get(rule, "verbs"), JSON_COMPACT);

                if (text_equal(json_string_value(json_array_get(json_object_get(rule, "resources"), 0)),
                               "internalmemberclusters"))
                        assert_string_equal(verbs, "[\"get\",\"list\",\"watch\"]");
        }
}

static void a_wide_role_of_an_older_version_is_narrowed(void **state)
{
        AUTO_JSON json_t *wanted = member_role_doc(&member, false), *now = json_deep_copy(wanted);

        assert_false(member_object_differs(now, wanted, "rules"));
        json_object_set_new(now, "rules",
                            parsed("[{\"apiGroups\":[\"placement.kubernetes-fleet.io\"],\"resources\":"
                                   "[\"*\"],\"verbs\":[\"*\"]}]"));
        assert_true(member_object_differs(now, wanted, "rules"));
        assert_int_equal(member_object_mend(now, wanted, "rules"), 0);
        assert_true(doc_equal(now, wanted));
}

static void a_lost_owner_comes_back_and_other_owners_stay(void **state)
{
        static const struct {
                const char *now, *after;
        } rows[] = {
                { NULL, "[OURS]" },
                { "[]", "[OURS]" },
                { "[{\"kind\":\"ConfigMap\",\"name\":\"c\",\"uid\":\"u-9\"}]",
                  "[{\"kind\":\"ConfigMap\",\"name\":\"c\",\"uid\":\"u-9\"},OURS]" },
                /* A MemberCluster of the same name that is gone. */
                { "[{\"kind\":\"MemberCluster\",\"name\":\"m1\",\"uid\":\"u-0\",\"controller\":true}]",
                  "[OURS]" },
                { "[{\"kind\":\"MemberCluster\",\"name\":\"m1\",\"uid\":\"u-1\"}]", "[OURS]" },
        };
        static const char ours[] = "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":"
                                   "\"MemberCluster\",\"name\":\"m1\",\"uid\":\"u-1\",\"controller\":true}";

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *wanted = member_role_doc(&member, false), *now = json_deep_copy(wanted);
                const char *cut = strstr(rows[i].after, "OURS");
                char text[1024];
                AUTO_JSON json_t *after = NULL;

                snprintf(text, sizeof(text), "%.*s%s%s", (int)(cut - rows[i].after), rows[i].after, ours,
                         cut + 4);
                after = parsed(text);
                json_object_del(doc_get_object(now, "metadata"), "ownerReferences");
                if (rows[i].now)
                        json_object_set_new(doc_get_object(now, "metadata"), "ownerReferences",
                                            parsed(rows[i].now));
                assert_true(member_object_differs(now, wanted, "rules"));
                assert_int_equal(member_object_mend(now, wanted, "rules"), 0);
                assert_true(doc_equal(doc_get_array(now, "metadata.ownerReferences"), after));
                assert_false(member_object_differs(now, wanted, "rules"));
        }
}

static void a_user_without_a_group_does_not_differ_from_what_the_server_stored(void **state)
{
        struct subject user = { .kind = "User", .name = "jane" };
        struct member_cluster_spec own = { .identity = &user };
        struct member_cluster c = member;

        c.spec = &own;
        AUTO_JSON json_t *binding = member_role_binding_doc(&c);
        AUTO_JSON json_t *stored =
                parsed("[{\"kind\":\"User\",\"name\":\"jane\",\"apiGroup\":\"rbac.authorization.k8s.io\"}]");
        assert_true(doc_equal(json_object_get(binding, "subjects"), stored));
}

/* ---- reports that are not what they should be ---- */

#define MANY 20000

static struct member_cluster *taken_over(struct arena *arena, struct internal_member_cluster_status *status,
                                         bool *cut)
{
        struct internal_member_cluster report = { .status = status };
        const struct member_status_input in = {
                .member = &member, .report = &report, .ready = true, .now_ms = 1000, .cut = cut
        };
        enum joined joined;
        struct member_cluster *m = member_with_status(arena, &in, &joined);

        assert_non_null(m);
        return m;
}

static void a_report_of_thousands_is_cut_and_told(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition *conditions = ARENA_NEW_ARRAY(&arena, struct condition, MANY);
        struct agent_status *agents = ARENA_NEW_ARRAY(&arena, struct agent_status, MANY);
        struct property_value_entry *properties = ARENA_NEW_ARRAY(&arena, struct property_value_entry, MANY);
        struct internal_member_cluster_status status = { .conditions = { conditions, MANY, true },
                                                         .agent_status = { agents, MANY, true },
                                                         .properties = { properties, MANY, true } };
        bool cut = false;
        struct member_cluster *m;

        for (int i = 0; i < MANY; i++) {
                conditions[i] =
                        (struct condition){ .type = arena_printf(&arena, "T%d", i), .status = "True" };
                agents[i] = (struct agent_status){ .type = "X", .conditions = { conditions, MANY, true } };
                properties[i].key = conditions[i].type;
        }
        m = taken_over(&arena, &status, &cut);
        assert_true(cut);
        assert_int_equal(m->status->conditions.n, 32);
        assert_int_equal(m->status->agent_status.n, 8);
        assert_int_equal(m->status->agent_status.at[0].conditions.n, 32);
        assert_int_equal(m->status->properties.n, 1000);
}

static const char *joined_by(const char *const *statuses, size_t n, const char **ret_message)
{
        static const char *const types[] = { "MemberAgent", "MultiClusterServiceAgent",
                                             "ServiceExportImportAgent" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct agent_status agents[4];
        struct condition conditions[4];
        struct internal_member_cluster_status status = { .agent_status = { agents, (uint32_t)n, true } };
        struct internal_member_cluster report = { .status = &status };
        const struct member_status_input in = {
                .member = &member, .report = &report, .networking_agents = true, .now_ms = 1000
        };
        const struct condition *c;
        enum joined joined;
        static char message[256];

        for (size_t i = 0; i < n; i++) {
                conditions[i] = (struct condition){ .type = "Joined", .status = statuses[i], .reason = "X" };
                agents[i] =
                        (struct agent_status){ .type = i < 3 ? types[i] : "Stranger",
                                               .conditions = { &conditions[i], statuses[i] != NULL, true } };
        }
        c = condition_find(&member_with_status(&arena, &in, &joined)->status->conditions, "Joined");
        snprintf(message, sizeof(message), "%s", c->message);
        *ret_message = message;
        return text_equal(c->status, "True") ? "True" : text_equal(c->status, "False") ? "False" : "Unknown";
}

/* spec/membership-webhooks-charts.md checklist 7, 8 */
static void with_networking_agents_all_three_have_to_join_and_to_leave(void **state)
{
        static const struct {
                const char *said[4];
                size_t n;
                const char *joined, *words;
        } rows[] = {
                { { "True", "True", "True" }, 3, "True", "successfully joined" },
                { { "True", "True" }, 2, "Unknown", "expected 3, got 2" },
                { { "True", "True", NULL }, 3, "Unknown", "condition for agent ServiceExportImportAgent" },
                { { "True", "False", "True" }, 3, "Unknown", "not in a consistent state" },
                { { "False", "False", "False" }, 3, "False", "has left" },
                { { "True", "True", "True", "False" }, 4, "True", "successfully joined" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char *message;

                assert_string_equal(joined_by(rows[i].said, rows[i].n, &message), rows[i].joined);
                assert_non_null(strstr(message, rows[i].words));
        }
}

static const struct condition *healthy_of(const struct member_cluster *m)
{
        return condition_find(&m->status->agent_status.at[0].conditions, "Healthy");
}

static struct member_cluster *seen_at(struct arena *arena, const struct member_cluster *before,
                                      const struct internal_member_cluster *report, int64_t now_ms)
{
        const struct member_status_input in = {
                .member = before, .report = report, .silence_ms = 60000, .now_ms = now_ms
        };
        enum joined joined;
        struct member_cluster *m = member_with_status(arena, &in, &joined);

        assert_non_null(m);
        return m;
}

/* A heartbeat that was too near to the last one to be shown counts all the same. */
static void who_spoke_last_unshown_is_not_silent_yet(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition well = { .type = "Healthy", .status = "True", .reason = "Well" };
        struct agent_status agent = { .type = "MemberAgent", .conditions = { &well, 1, true } };
        struct internal_member_cluster_status status = { .agent_status = { &agent, 1, true } };
        struct internal_member_cluster report = { .status = &status };
        struct member_status_input in = {
                .member = &member, .report = &report, .silence_ms = 60000, .heartbeat_every_ms = 5000
        };
        enum joined joined;
        struct member_cluster *m;

        agent.last_received_heartbeat = in.now_ms = 1000;
        in.member = m = member_with_status(&arena, &in, &joined);
        agent.last_received_heartbeat = in.now_ms = 3000;
        in.member = m = member_with_status(&arena, &in, &joined);
        assert_int_equal(m->status->agent_status.at[0].last_received_heartbeat, 1000);
        in.now_ms = 61001;
        in.member = m = member_with_status(&arena, &in, &joined);
        assert_false(member_is_silent(m));
        assert_int_equal(m->status->agent_status.at[0].last_received_heartbeat, 3000);
        assert_int_equal(member_silent_in_ms(m, 60000, 61001), 1999);
        in.now_ms = 63001;
        m = member_with_status(&arena, &in, &joined);
        assert_true(member_is_silent(m));
        assert_string_equal(healthy_of(m)->message, "no heartbeat since 1970-01-01T00:00:03Z");
}

static void who_is_silent_is_not_called_healthy_until_it_is_heard_of_again(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition said[] = { { .type = "Joined", .status = "True", .reason = "X" },
                                    { .type = "Healthy", .status = "True", .reason = "Well" } };
        struct agent_status agent = { .type = "MemberAgent",
                                      .conditions = { said, 2, true },
                                      .last_received_heartbeat = 1000 };
        struct internal_member_cluster_status status = { .agent_status = { &agent, 1, true } };
        struct internal_member_cluster report = { .status = &status }, gone = { 0 };
        struct member_cluster *m = seen_at(&arena, &member, &report, 61000);

        assert_string_equal(healthy_of(m)->status, "True");
        assert_int_equal(member_silent_in_ms(m, 60000, 61000), 0);
        m = seen_at(&arena, m, &report, 61001);
        assert_string_equal(healthy_of(m)->status, "Unknown");
        assert_string_equal(healthy_of(m)->message, "no heartbeat since 1970-01-01T00:00:01Z");
        assert_true(member_is_silent(m));
        assert_int_equal(member_silent_in_ms(m, 60000, 61001), -1);
        for (int i = 0; i < 2; i++) { /* the report stays, or goes */
                m = seen_at(&arena, m, i ? &gone : &report, 90000 + i);
                assert_int_equal(healthy_of(m)->last_transition_ms, 61001);
                assert_string_equal(
                        condition_find(&m->status->agent_status.at[0].conditions, "Joined")->status, "True");
        }
        agent.last_received_heartbeat = 95000;
        m = seen_at(&arena, m, &report, 95100);
        assert_string_equal(healthy_of(m)->status, "True");
        assert_false(member_is_silent(m));
}

static void a_refusal_stands_on_the_member_until_it_can_join(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct member_status_input in = { .member = &member, .refusal = "no such name", .now_ms = 1 };
        enum joined joined;
        struct member_cluster *m = member_with_status(&arena, &in, &joined);
        const struct condition *c = condition_find(&m->status->conditions, "ReadyToJoin");

        assert_string_equal(c->status, "False");
        assert_string_equal(c->reason, "MemberClusterNotReadyToJoin");
        assert_string_equal(c->message, "no such name");
        in = (struct member_status_input){ .member = m, .ready = true, .now_ms = 2 };
        m = member_with_status(&arena, &in, &joined);
        assert_string_equal(condition_find(&m->status->conditions, "ReadyToJoin")->status, "True");
}

static void networking_agents_have_their_group_and_others_do_not(void **state)
{
        AUTO_JSON json_t *with = member_role_doc(&member, true), *without = member_role_doc(&member, false);
        AUTO_FREE char *wide = json_dumps(with, JSON_COMPACT), *narrow = json_dumps(without, JSON_COMPACT);

        assert_non_null(strstr(wide, "{\"apiGroups\":[\"networking.fleet.azure.com\"],\"resources\":[\"*\"],"
                                     "\"verbs\":[\"get\",\"list\",\"watch\",\"create\",\"update\","
                                     "\"patch\",\"delete\"]}"));
        assert_null(strstr(narrow, "networking"));
        assert_int_equal(json_array_size(json_object_get(with, "rules")), 6);
}

static void a_member_does_not_write_the_hubs_conditions(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition conditions[] = { { .type = "ReadyToJoin", .status = "False", .reason = "Mine" },
                                          { .type = "Joined", .status = "True", .reason = "Mine" },
                                          { .type = "Own", .status = "True", .reason = "Mine" } };
        struct internal_member_cluster_status status = { .conditions = { conditions, 3, true } };
        bool cut = false;
        struct member_cluster *m = taken_over(&arena, &status, &cut);

        assert_false(cut);
        assert_string_equal(condition_find(&m->status->conditions, "ReadyToJoin")->status, "True");
        assert_string_equal(condition_find(&m->status->conditions, "Joined")->status, "Unknown");
        assert_string_equal(condition_find(&m->status->conditions, "Own")->status, "True");
}

/* The scheduler goes by it: with the condition and without namespaces nothing would be placed there. */
static void a_member_that_tells_of_no_namespaces_any_more_is_taken_at_its_word(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition conditions[] = { { .type = "NamespaceCollectionSucceeded", .status = "True" },
                                          { .type = "Own", .status = "True" } };
        struct string_pair web = { "web", "w" };
        struct internal_member_cluster_status status = { .conditions = { conditions, 2, true },
                                                         .namespaces = { &web, 1, true } };
        struct internal_member_cluster report = { .status = &status };
        struct member_cluster *m = seen_at(&arena, &member, &report, 1000);

        assert_string_equal(string_map_get(&m->status->namespaces, "web"), "w");
        assert_non_null(condition_find(&m->status->conditions, "NamespaceCollectionSucceeded"));
        status.conditions = (struct condition_list){ conditions + 1, 1, true };
        status.namespaces = (struct string_map){ 0 };
        m = seen_at(&arena, m, &report, 2000);
        assert_int_equal(m->status->namespaces.n, 0);
        assert_null(condition_find(&m->status->conditions, "NamespaceCollectionSucceeded"));
        assert_non_null(condition_find(&m->status->conditions, "Own"));
}

/* spec 2.6: who has joined is given the time to leave; also one whose report the hub has not taken over yet.
 */
static void a_member_of_which_anything_was_heard_is_waited_for(void **state)
{
        struct agent_status agent = { .type = "MemberAgent" };
        struct member_cluster_status told = { .agent_status = { &agent, 1, true } }, silent = { 0 };
        struct internal_member_cluster_status reported = { .agent_status = { &agent, 1, true } },
                                              empty = { 0 };
        const struct {
                struct member_cluster_status *member;
                struct internal_member_cluster_status *report;
                bool nobody;
        } rows[] = {
                { NULL, NULL, true },        { &silent, &empty, true },  { &silent, NULL, true },
                { NULL, &empty, true },      { NULL, &reported, false }, { &silent, &reported, false },
                { &told, &reported, false }, { &told, &empty, false },   { &told, NULL, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct member_cluster c = { .status = rows[i].member };
                const struct internal_member_cluster report = { .status = rows[i].report };

                assert_int_equal(nobody_came(&c, &report), rows[i].nobody);
        }
}

/* An agent that never said how it is, and says no more. */
static void who_never_spoke_of_its_health_may_fall_silent_too(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct condition said = { .type = "Joined", .status = "True", .reason = "X" };
        struct agent_status agent = { .type = "MemberAgent",
                                      .conditions = { &said, 1, true },
                                      .last_received_heartbeat = 1000 };
        struct internal_member_cluster_status status = { .agent_status = { &agent, 1, true } };
        struct internal_member_cluster report = { .status = &status };
        struct member_cluster *m = seen_at(&arena, &member, &report, 2000);

        assert_null(healthy_of(m));
        assert_false(member_is_silent(m));
        m = seen_at(&arena, m, &report, 61001);
        assert_string_equal(healthy_of(m)->status, "Unknown");
        assert_int_equal(healthy_of(m)->last_transition_ms, 61001);
        assert_true(member_is_silent(m));
}

/* Else an agent could fall silent unseen until that time has come. */
static void a_heartbeat_shown_before_the_clock_was_set_back_gives_way_to_the_next(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct agent_status agent = { .type = "MemberAgent", .last_received_heartbeat = 900000 };
        struct internal_member_cluster_status status = { .agent_status = { &agent, 1, true } };
        struct internal_member_cluster report = { .status = &status };
        struct member_cluster *m = seen_at(&arena, &member, &report, 900100);

        agent.last_received_heartbeat = 300000;
        m = seen_at(&arena, m, &report, 300100);
        assert_int_equal(m->status->agent_status.at[0].last_received_heartbeat, 300000);
        agent.last_received_heartbeat = 299000; /* an older report, of a cache that lags */
        m = seen_at(&arena, m, &report, 300200);
        assert_int_equal(m->status->agent_status.at[0].last_received_heartbeat, 300000);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(
                        the_role_names_no_wildcard_and_nothing_that_creates_or_deletes_fleet_objects),
                cmocka_unit_test(the_spec_of_the_own_report_object_cannot_be_written),
                cmocka_unit_test(a_wide_role_of_an_older_version_is_narrowed),
                cmocka_unit_test(a_lost_owner_comes_back_and_other_owners_stay),
                cmocka_unit_test(a_report_of_thousands_is_cut_and_told),
                cmocka_unit_test(with_networking_agents_all_three_have_to_join_and_to_leave),
                cmocka_unit_test(who_spoke_last_unshown_is_not_silent_yet),
                cmocka_unit_test(who_is_silent_is_not_called_healthy_until_it_is_heard_of_again),
                cmocka_unit_test(a_refusal_stands_on_the_member_until_it_can_join),
                cmocka_unit_test(networking_agents_have_their_group_and_others_do_not),
                cmocka_unit_test(a_member_does_not_write_the_hubs_conditions),
                cmocka_unit_test(a_member_that_tells_of_no_namespaces_any_more_is_taken_at_its_word),
                cmocka_unit_test(a_user_without_a_group_does_not_differ_from_what_the_server_stored),
                cmocka_unit_test(a_member_of_which_anything_was_heard_is_waited_for),
                cmocka_unit_test(who_never_spoke_of_its_health_may_fall_silent_too),
                cmocka_unit_test(a_heartbeat_shown_before_the_clock_was_set_back_gives_way_to_the_next),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
