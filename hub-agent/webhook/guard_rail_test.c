#include "hub-agent/webhook/webhook_test.h"

#define CLUSTER_GROUP "cluster.kubernetes-fleet.io"
#define FLEET_KEY "fleet.azure.com/cluster-resource-id"

enum { PLAIN, ADMIN, ACCOUNT, N_USERS };
static const char *const groups_of[N_USERS] = { "[\"system:authenticated\"]", "[\"system:masters\"]",
                                                "[\"system:serviceaccounts\"]" };

static bool is_allowed(struct hub *h, struct question q, const char *groups)
{
        q.path = GUARD_PATH;
        q.groups = groups;
        return ask(h, &q);
}

/* ---- MemberClusters ---- */

#define MEMBER(labels, annotations, spec, status)                                                            \
        "{\"metadata\":{\"name\":\"m1\",\"resourceVersion\":\"7\",\"labels\":{" labels                       \
        "},\"annotations\":{" annotations                                                                    \
        "}},\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"a\"}" spec "},\"status\":{" status "}}"
#define FLEET(more) "\"" FLEET_KEY "\":\"1\"" more
#define TAINTS ",\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]"

static struct question member(const char *operation, const char *old, const char *object)
{
        return (struct question){ .operation = operation,
                                  .group = CLUSTER_GROUP,
                                  .kind = "MemberCluster",
                                  .name = "m1",
                                  .old = old,
                                  .object = object };
}

struct member_row {
        const char *what, *old, *now;
        bool plain, known; /* who may */
        const char *says;
};

static void check_updates(struct hub *h, const struct member_row *rows, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct member_row *r = &rows[i];

                if (is_allowed(h, member("UPDATE", r->old, r->now), groups_of[PLAIN]) != r->plain)
                        fail_msg("%s: plain user: %s", r->what, h->message);
                if (r->says)
                        assert_says(h, r->says);
                if (is_allowed(h, member("UPDATE", r->old, r->now), groups_of[ADMIN]) != r->known)
                        fail_msg("%s: administrator: %s", r->what, h->message);
                if (is_allowed(h, member("UPDATE", r->old, r->now), groups_of[ACCOUNT]) != r->known)
                        fail_msg("%s: service account: %s", r->what, h->message);
        }
}

#define F MEMBER("", FLEET(""), "", "")
/* spec/membership-webhooks-charts.md checklist 36, 37 */
static void a_fleet_member_is_guarded(void **state)
{
        static const struct member_row rows[] = {
                { "nothing", F, F, true, true },
                { "labels", F, MEMBER("\"a\":\"b\"", FLEET(""), "", ""), true, true },
                { "taints", F, MEMBER("", FLEET(""), TAINTS, ""), true, true },
                { "taints that go", MEMBER("", FLEET(""), TAINTS, ""), F, true, true },
                { "an annotation", F, MEMBER("", FLEET(",\"a\":\"b\""), "", ""), true, true },
                { "one more of the fleet", F, MEMBER("", FLEET(",\"fleet.azure.com/x\":\"b\""), "", ""), true,
                  true },
                { "spec", F, MEMBER("", FLEET(""), ",\"heartbeatPeriodSeconds\":5", ""), false, true },
                { "status", F, MEMBER("", FLEET(""), "", "\"agentStatus\":[{\"type\":\"MemberAgent\"}]"),
                  false, true },
                { "finalizers", F,
                  "{\"metadata\":{\"name\":\"m1\",\"finalizers\":[\"a/b\"],\"annotations\":{" FLEET(
                          "") "}},"
                              "\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"a\"}},\"status\":{}}",
                  false, true },
                { "what the server writes", F,
                  "{\"metadata\":{\"name\":\"m1\",\"generation\":3,\"managedFields\":[],"
                  "\"annotations\":{" FLEET(
                          "") "}},"
                              "\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"a\"}},\"status\":{}}",
                  true, true },
                { "an annotation of the fleet", F, MEMBER("", "\"" FLEET_KEY "\":\"2\"", "", ""), false,
                  true },
                { "one of two gone", MEMBER("", FLEET(",\"fleet.azure.com/x\":\"b\""), "", ""), F, false,
                  true },
                { "the last one gone", F, MEMBER("", "\"a\":\"b\"", "", ""), false, false,
                  "no user is allowed to remove all fleet pre-fixed annotations from a fleet member "
                  "cluster" },
        };
        AUTO_HUB struct hub *h = hub_new();

        check_updates(h, rows, ARRAY_LEN(rows));
}

#define U MEMBER("", "", "", "")
/* spec/membership-webhooks-charts.md checklist 37 */
static void an_upstream_member_is_everybodys_but_for_its_status(void **state)
{
        static const struct member_row rows[] = {
                { "spec", U, MEMBER("", "", ",\"heartbeatPeriodSeconds\":5", ""), true, true },
                { "labels", U, MEMBER("\"a\":\"b\"", "", "", ""), true, true },
                { "annotations", U, MEMBER("", "\"a\":\"b\"", "", ""), true, true },
                { "status", U, MEMBER("", "", "", "\"conditions\":[]"), false, true },
                { "an annotation of the fleet", U, F, false, false,
                  "no user is allowed to add a fleet pre-fixed annotation to an upstream member cluster" },
        };
        AUTO_HUB struct hub *h = hub_new();

        check_updates(h, rows, ARRAY_LEN(rows));
}

static void members_are_made_and_deleted_by_those_they_belong_to(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        assert_true(is_allowed(h, member("CREATE", NULL, U), groups_of[PLAIN]));
        assert_string_equal(h->message,
                            "upstream member cluster resource is allowed to be created/deleted by any user");
        assert_true(is_allowed(h, member("DELETE", U, NULL), groups_of[PLAIN]));
        assert_false(is_allowed(h, member("CREATE", NULL, F), groups_of[PLAIN]));
        assert_string_equal(h->message,
                            "user: 'test-user' in 'groups: [system:authenticated]' is not allowed to CREATE "
                            "resource cluster.kubernetes-fleet.io/v1beta1, Kind=MemberCluster/: /m1");
        assert_false(is_allowed(h, member("DELETE", F, NULL), groups_of[PLAIN]));
        assert_true(is_allowed(h, member("CREATE", NULL, F), groups_of[ACCOUNT]));
        assert_true(is_allowed(h, member("DELETE", F, NULL), groups_of[ADMIN]));
        assert_false(is_allowed(h, member("CREATE", NULL, "{\"spec\":1}"), groups_of[ADMIN]));
        assert_int_equal(h->code, 400);
        assert_false(is_allowed(h, member("UPDATE", F, "{\"spec\":1}"), groups_of[ADMIN]));
        assert_int_equal(h->code, 400);
        assert_false(is_allowed(h, member("UPDATE", "{\"spec\":1}", F), groups_of[ADMIN]));
        assert_int_equal(h->code, 400);
        assert_false(is_allowed(h, member("UPDATE", NULL, F), groups_of[ADMIN]));
        assert_int_equal(h->code, 400);
}

static void labels_of_members_can_be_fixed(void **state)
{
        static const struct {
                const char *old, *now;
                bool fixed;
        } rows[] = {
                { F, MEMBER("\"env\":\"a\"", FLEET(""), "", ""), true },
                { MEMBER("\"env\":\"a\"", FLEET(""), "", ""), F, true },
                { MEMBER("\"env\":\"a\"", FLEET(""), "", ""), MEMBER("\"env\":\"b\"", FLEET(""), "", ""),
                  true },
                { F, MEMBER("\"kubernetes-fleet.io/x\":\"a\"", FLEET(""), "", ""), false },
                { MEMBER("\"env\":\"a\"", FLEET(""), "", ""), MEMBER("\"env\":\"a\"", FLEET(""), "", ""),
                  false },
        };
        AUTO_HUB struct hub *h = hub_new();

        h->world.flags.fixed_member_labels = true;
        h->world.flags.whitelisted_users = "test-user";
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct question q = member("UPDATE", rows[i].old, rows[i].now);

                assert_true(is_allowed(h, q, groups_of[ADMIN]));
                assert_int_equal(is_allowed(h, q, groups_of[ACCOUNT]), !rows[i].fixed);
                assert_int_equal(is_allowed(h, q, "[\"kubeadm:cluster-admins\"]"), !rows[i].fixed);
                if (rows[i].fixed)
                        assert_string_equal(
                                h->message,
                                "users are not allowed to modify labels through hub cluster directly");
        }
}

/* ---- what agents write ---- */

#define IDENTITY(kind, name, ns)                                                                             \
        "{\"metadata\":{\"name\":\"m1\"},\"spec\":{\"identity\":{\"kind\":\"" kind "\",\"name\":\"" name     \
        "\",\"namespace\":\"" ns "\"}}}"

static struct question report(const char *ns, const char *user)
{
        return (struct question){ .operation = "UPDATE",
                                  .group = CLUSTER_GROUP,
                                  .kind = "InternalMemberCluster",
                                  .subresource = "status",
                                  .ns = ns,
                                  .name = "m1",
                                  .user = user,
                                  .old = "{}",
                                  .object = "{}" };
}

/* spec/membership-webhooks-charts.md checklist 38 */
static void a_member_writes_in_its_own_namespace(void **state)
{
        static const struct {
                const char *identity, *user;
                bool may;
        } rows[] = {
                { IDENTITY("User", "alice", ""), "alice", true },
                { IDENTITY("User", "alice", ""), "bob", false },
                { IDENTITY("User", "alice", ""), "", false },
                { IDENTITY("ServiceAccount", "agent", "fleet-system"),
                  "system:serviceaccount:fleet-system:agent", true },
                { IDENTITY("ServiceAccount", "agent", ""), "system:serviceaccount:fleet-system:agent", true },
                { IDENTITY("ServiceAccount", "agent", "team"), "system:serviceaccount:team:agent", true },
                { IDENTITY("ServiceAccount", "agent", "team"), "system:serviceaccount:fleet-system:agent",
                  false },
                { IDENTITY("ServiceAccount", "agent", "fleet-system"), "system:serviceaccount:team:agent",
                  false },
                { IDENTITY("ServiceAccount", "agent", "fleet-system"), "agent", true },
                { IDENTITY("ServiceAccount", "", ""), "", false },
                { IDENTITY("ServiceAccount", "agent", ""), "system", false },
                { IDENTITY("ServiceAccount", "agent", ""), "system:serviceaccount", false },
                { IDENTITY("ServiceAccount", "agent", ""), "system:serviceaccount:fleet-system", false },
                { IDENTITY("ServiceAccount", "agent", ""), "system:node:fleet-system:agent", false },
                { IDENTITY("ServiceAccount", "agent", ""), "kube:serviceaccount:fleet-system:agent", false },
                { IDENTITY("ServiceAccount", "agent", ""), "system:serviceaccount:fleet-system:agent:x",
                  false },
        };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct question q = report("fleet-member-m1", rows[i].user);

                h->members[0] = rows[i].identity;
                if (is_allowed(h, q, groups_of[PLAIN]) != rows[i].may)
                        fail_msg("%s as %s", rows[i].identity, rows[i].user);
                q.group = "placement.kubernetes-fleet.io";
                q.kind = "Work";
                assert_int_equal(is_allowed(h, q, groups_of[PLAIN]), rows[i].may);
                assert_true(is_allowed(h, q, groups_of[ADMIN]));
                q.ns = "fleet-system";
                assert_false(is_allowed(h, q, groups_of[PLAIN]));
                q.ns = "default";
                assert_true(is_allowed(h, q, groups_of[PLAIN]));
                q.ns = "fleet-member-m1"; /* no right for what is not the agents' */
                q.group = "";
                q.kind = "Pod";
                assert_false(is_allowed(h, q, groups_of[PLAIN]));
        }
}

static void what_a_member_writes_is_judged_in_every_version(void **state)
{
        AUTO_HUB struct hub *h = hub_new();
        struct question q = report("fleet-member-m1", "alice");

        h->members[0] = IDENTITY("User", "alice", "");
        q.operation = "DELETE";
        q.version = "v1";
        assert_true(is_allowed(h, q, groups_of[PLAIN]));
        q.user = "bob";
        assert_false(is_allowed(h, q, groups_of[PLAIN]));
}

/* spec/membership-webhooks-charts.md checklist 39 */
static void a_member_that_cannot_be_read_lets_the_write_in(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        assert_true(is_allowed(h, report("fleet-member-m1", "bob"), groups_of[PLAIN]));
        assert_string_equal(h->message,
                            "user: 'bob' in 'groups: [system:authenticated]' is allowed to UPDATE resource "
                            "cluster.kubernetes-fleet.io/v1beta1, Kind=InternalMemberCluster/status: "
                            "fleet-member-m1/m1 because we failed to get MC");
        h->members[0] = IDENTITY("User", "alice", "");
        assert_false(is_allowed(h, report("fleet-member-m1", "bob"), groups_of[PLAIN]));
        h->find_fails = "not now";
        assert_true(is_allowed(h, report("fleet-member-m1", "bob"), groups_of[PLAIN]));
}

/* ---- the rest ---- */

/* spec/membership-webhooks-charts.md checklist 40 */
static void definitions_of_the_fleet_are_for_administrators(void **state)
{
        static const struct {
                const char *name;
                bool ours;
        } rows[] = {
                { "works.placement.kubernetes-fleet.io", true },
                { "memberclusters.cluster.kubernetes-fleet.io", true },
                { "serviceexports.networking.fleet.azure.com", true },
                { "clusterprofiles.multicluster.x-k8s.io", true },
                { "works.example.com", false },
                { "placement.kubernetes-fleet.io.example.com", false },
                { "works", false },
        };
        static const char *const admins[] = { "[\"system:masters\"]", "[\"a\",\"kubeadm:cluster-admins\"]" };
        static const char *const others[] = { "[\"system:serviceaccounts\"]", "[\"system:nodes\"]", "[]" };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct question q = { .operation = "DELETE",
                                      .group = "apiextensions.k8s.io",
                                      .version = "v1",
                                      .kind = "CustomResourceDefinition",
                                      .name = rows[i].name };

                for (size_t k = 0; k < ARRAY_LEN(admins); k++)
                        assert_true(is_allowed(h, q, admins[k]));
                for (size_t k = 0; k < ARRAY_LEN(others); k++)
                        assert_int_equal(is_allowed(h, q, others[k]), !rows[i].ours);
                q.user = "carol";
                h->world.flags.whitelisted_users = "alice, carol ,,bob";
                assert_true(is_allowed(h, q, "[]"));
                h->world.flags.whitelisted_users = "";
                q.user = "";
                assert_int_equal(is_allowed(h, q, "[]"), !rows[i].ours);
        }
}

/* A collection is deleted item by item, without a name in the request. */
static void an_item_of_a_deleted_collection_is_known_by_its_object(void **state)
{
        static const char *const names[] = { "works.placement.kubernetes-fleet.io", "works.example.com" };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
                char old[128];

                snprintf(old, sizeof(old), "{\"metadata\":{\"name\":\"%s\"}}", names[i]);
                assert_int_equal(is_allowed(h,
                                            (struct question){ .operation = "DELETE",
                                                               .group = "apiextensions.k8s.io",
                                                               .version = "v1",
                                                               .kind = "CustomResourceDefinition",
                                                               .old = old },
                                            groups_of[PLAIN]),
                                 i == 1);
        }
}

static void reserved_namespaces_are_for_those_who_are_known(void **state)
{
        static const struct {
                const char *name;
                bool reserved;
        } rows[] = { { "fleet-member-m1", true }, { "kube-x", true }, { "fleet-", true },
                     { "default", false },        { "fleet", false }, { "my-fleet-x", false } };
        static const struct {
                const char *user, *groups;
        } known[] = { { "a", "[\"system:masters\"]" },
                      { "a", "[\"system:nodes\"]" },
                      { "a", "[\"system:serviceaccounts\"]" },
                      { "system:kube-scheduler", "[]" },
                      { "system:kube-controller-manager", "[]" },
                      { "aks-support", "[]" } };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct question q = { .operation = "DELETE",
                                      .version = "v1",
                                      .kind = "Namespace",
                                      .name = rows[i].name,
                                      .ns = rows[i].name };

                assert_int_equal(is_allowed(h, q, groups_of[PLAIN]), !rows[i].reserved);
                for (size_t k = 0; k < ARRAY_LEN(known); k++) {
                        q.user = known[k].user;
                        assert_true(is_allowed(h, q, known[k].groups));
                }
        }
        assert_says(h, "Kind=Namespace/: /my-fleet-x");
}

static void other_content_is_for_those_who_are_known(void **state)
{
        struct question q = {
                .operation = "CREATE", .version = "v1", .kind = "Pod", .ns = "kube-system", .name = "p"
        };
        AUTO_HUB struct hub *h = hub_new();

        assert_false(is_allowed(h, q, groups_of[PLAIN]));
        assert_string_equal(h->message,
                            "user: 'test-user' in 'groups: [system:authenticated]' is not allowed "
                            "to CREATE resource /v1, Kind=Pod/: kube-system/p");
        assert_true(is_allowed(h, q, groups_of[ACCOUNT]));
        q.kind = "Event";
        assert_true(is_allowed(h, q, groups_of[PLAIN]));
        q.kind = "PersistentVolume";
        q.ns = NULL;
        assert_true(is_allowed(h, q, groups_of[PLAIN]));
}

/* spec/membership-webhooks-charts.md checklist 41 */
static void a_long_list_of_groups_is_told_in_part(void **state)
{
        struct question q = {
                .operation = "CREATE", .version = "v1", .kind = "Pod", .ns = "kube-system", .name = "p"
        };
        AUTO_HUB struct hub *h = hub_new();

        assert_false(is_allowed(h, q, "[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\",\"j\"]"));
        assert_says(h, "in 'groups: [a b c d e f g h i j]' is not");
        assert_false(is_allowed(h, q, "[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\",\"j\",\"k\"]"));
        assert_says(h, "in 'groups: [a, b, c,......]' is not");
        assert_false(is_allowed(h, q, "[]"));
        assert_says(h, "in 'groups: []' is not");
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_fleet_member_is_guarded),
                cmocka_unit_test(an_upstream_member_is_everybodys_but_for_its_status),
                cmocka_unit_test(members_are_made_and_deleted_by_those_they_belong_to),
                cmocka_unit_test(labels_of_members_can_be_fixed),
                cmocka_unit_test(a_member_writes_in_its_own_namespace),
                cmocka_unit_test(what_a_member_writes_is_judged_in_every_version),
                cmocka_unit_test(a_member_that_cannot_be_read_lets_the_write_in),
                cmocka_unit_test(definitions_of_the_fleet_are_for_administrators),
                cmocka_unit_test(an_item_of_a_deleted_collection_is_known_by_its_object),
                cmocka_unit_test(reserved_namespaces_are_for_those_who_are_known),
                cmocka_unit_test(other_content_is_for_those_who_are_known),
                cmocka_unit_test(a_long_list_of_groups_is_told_in_part),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
