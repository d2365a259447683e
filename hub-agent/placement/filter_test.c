#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/timefmt.h"
#include "hub-agent/placement/filter.h"

static struct filter_rules rules_of(const char *skipped, const char *allowed, const char *namespaces)
{
        struct filter_rules r;
        struct error err = { 0 };

        if (filter_rules_parse(skipped, allowed, namespaces, false, &r, &err) < 0)
                fail_msg("%s", err.text);
        return r;
}

static void the_deny_list_holds_what_belongs_to_the_hub(void **state)
{
        static const struct {
                const char *group, *version, *kind;
                bool allowed;
        } rows[] = {
                { "", "v1", "Pod", false },
                { "", "v1", "Node", false },
                { "", "v1", "Event", false },
                { "events.k8s.io", "v1", "Event", false },
                { "coordination.k8s.io", "v1", "Lease", false },
                { "cluster.kubernetes-fleet.io", "v1", "MemberCluster", false },
                { "placement.kubernetes-fleet.io", "v1beta1", "Work", false },
                { "placement.kubernetes-fleet.io", "v1beta1", "ResourceEnvelope", true },
                { "networking.fleet.azure.com", "v1", "ServiceImport", false },
                { "networking.fleet.azure.com", "v1", "ServiceExport", true },
                { "", "v1", "ConfigMap", true },
                { "apps", "v1", "Deployment", true },
                { "batch", "v1", "Job", false },
                { "apps", "v1beta9", "Deployment", false },
                { "", "v1", "Secret", false },
                { "x.io", "v1", "B", false },
                { "x.io", "v1", "C", true },
        };
        struct filter_rules r = rules_of("batch; apps/v1beta9;v1/Secret;x.io/v1/A,B;", NULL, NULL);

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                if (filter_api_allowed(&r, rows[i].group, rows[i].version, rows[i].kind) != rows[i].allowed)
                        fail_msg("%s/%s %s", rows[i].group, rows[i].version, rows[i].kind);
        filter_rules_free(&r);
}

/* spec/placement.md checklist 30 */
static void an_allow_list_replaces_the_deny_list(void **state)
{
        struct filter_rules r =
                rules_of(NULL, "v1/Pod;coordination.k8s.io;placement.kubernetes-fleet.io/v1/Work", NULL);

        assert_true(filter_api_allowed(&r, "coordination.k8s.io", "v1", "Lease"));
        assert_true(filter_api_allowed(&r, "placement.kubernetes-fleet.io", "v1", "Work"));
        assert_false(filter_api_allowed(&r, "placement.kubernetes-fleet.io", "v1beta1", "Work"));
        assert_false(filter_api_allowed(&r, "", "v1", "Namespace"));

        assert_true(filter_api_allowed(&r, "", "v1", "Pod"));
        assert_false(filter_api_allowed(&r, "", "v1", "ConfigMap"));
        filter_rules_free(&r);
}

static void malformed_lists_are_refused(void **state)
{
        struct filter_rules r;
        struct error err = { 0 };

        assert_int_equal(filter_rules_parse("a/b/c/d", NULL, NULL, false, &r, &err), ERR_INVALID);
        assert_string_equal(err.text, "invalid parameter: a/b/c/d");
        assert_int_equal(filter_rules_parse("a", "b", NULL, false, &r, &err), ERR_INVALID);
}

static void reserved_and_skipped_namespaces_stay(void **state)
{
        struct filter_rules r = rules_of(NULL, NULL, "one, two;three");

        assert_false(filter_namespace_allowed(&r, "kube-system"));
        assert_false(filter_namespace_allowed(&r, "fleet-member-x"));
        assert_false(filter_namespace_allowed(&r, "default"));
        assert_false(filter_namespace_allowed(&r, "one"));
        assert_false(filter_namespace_allowed(&r, "two"));
        assert_false(filter_namespace_allowed(&r, "three"));
        assert_true(filter_namespace_allowed(&r, "app"));
        filter_rules_free(&r);
}

/* spec/placement.md checklist 18 */
static void objects_the_members_make_themselves_are_left_out(void **state)
{
        struct filter_rules r = rules_of(NULL, NULL, NULL);
        struct object_meta plain = { .name = "x", .deletion_ms = TIME_NONE }, owned = plain, root = plain,
                           sa = plain, going = plain, made = plain;
        struct string_pair managed = { "endpointslice.kubernetes.io/managed-by", "endpointslice-controller" };

        owned.n_owners = 1;
        root.name = "kube-root-ca.crt";
        sa.name = "default";
        going.deletion_ms = 1;
        made.labels = (struct string_map){ &managed, 1 };
        assert_true(filter_object_excluded(&r, "apps", "v1", "ReplicaSet", &owned));
        assert_false(filter_object_excluded(&r, "apps", "v1", "ReplicaSet", &plain));
        assert_true(filter_object_excluded(&r, "apps", "v1", "ControllerRevision", &owned));
        assert_false(filter_object_excluded(&r, "apps", "v1", "ControllerRevision", &plain));
        assert_false(filter_object_excluded(&r, "apps", "v1", "Deployment", &owned));
        assert_false(filter_object_excluded(&r, "", "v1", "ConfigMap", &plain));
        assert_false(filter_object_excluded(&r, "", "v1", "ConfigMap", &sa));
        assert_false(filter_object_excluded(&r, "", "v1", "ServiceAccount", &plain));
        assert_false(filter_object_excluded(&r, "", "v1", "ServiceAccount", &root));
        assert_false(filter_object_excluded(&r, "discovery.k8s.io", "v1beta1", "EndpointSlice", &made));
        assert_false(filter_object_excluded(&r, "batch", "v1", "Job", &owned));
        assert_true(filter_object_excluded(&r, "", "v1", "ConfigMap", &root));
        assert_true(filter_object_excluded(&r, "", "v1", "ServiceAccount", &sa));
        assert_true(filter_object_excluded(&r, "", "v1", "Secret", &going));
        assert_false(filter_object_excluded(&r, "", "v1", "PersistentVolumeClaim", &plain));
        assert_true(filter_object_excluded(&r, "discovery.k8s.io", "v1", "EndpointSlice", &made));
        assert_false(filter_object_excluded(&r, "discovery.k8s.io", "v1", "EndpointSlice", &plain));
        filter_rules_free(&r);
}

/* spec/placement.md checklist 18: that a Secret is a token of a service account is told by its body. */
static void tokens_of_service_accounts_are_left_out(void **state)
{
        static const struct {
                const char *doc;
                bool excluded;
        } rows[] = {
                { "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"type\":\"kubernetes.io/"
                  "service-account-token\"}",
                  true },
                { "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"type\":\"kubernetes.io/tls\"}", false },
                { "{\"apiVersion\":\"v1\",\"kind\":\"Secret\"}", false },
                { "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Secret\",\"type\":"
                  "\"kubernetes.io/service-account-token\"}",
                  false },
                { "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"type\":"
                  "\"kubernetes.io/service-account-token\"}",
                  false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *doc = NULL;
                struct error err = { 0 };

                assert_int_equal(doc_parse(slice_of(rows[i].doc), &doc, &err), 0);
                if (filter_document_excluded(doc) != rows[i].excluded)
                        fail_msg("%s", rows[i].doc);
        }
}

/* spec/placement.md checklist 19: where workloads run, StatefulSets make them. */
static void claims_are_placed_where_no_workloads_run(void **state)
{
        struct object_meta plain = { .name = "x", .deletion_ms = TIME_NONE };

        for (int runs = 0; runs < 2; runs++) {
                struct filter_rules r;
                struct error err = { 0 };

                assert_int_equal(filter_rules_parse(NULL, NULL, NULL, runs, &r, &err), 0);
                assert_int_equal(filter_object_excluded(&r, "", "v1", "PersistentVolumeClaim", &plain), runs);
                assert_false(
                        filter_object_excluded(&r, "example.com", "v1", "PersistentVolumeClaim", &plain));
                filter_rules_free(&r);
        }
}

/* spec/placement.md checklist 31, 32 */
static void cleaned_objects_hold_what_a_user_wrote(void **state)
{
        static const struct {
                const char *before, *after;
        } rows[] = {
                { "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\","
                  "\"resourceVersion\":"
                  "\"1\",\"generation\":2,\"managedFields\":[],\"ownerReferences\":[],\"creationTimestamp\":"
                  "\"t\","
                  "\"finalizers\":[\"f\"],\"annotations\":{\"kubectl.kubernetes.io/"
                  "last-applied-configuration\":\"x\"}},"
                  "\"status\":{}}",
                  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"finalizers\":[\"f\"],"
                  "\"name\":\"a\"}}" },
                { "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"a\",\"annotations\":{"
                  "\"kubectl.kubernetes.io/last-applied-configuration\":\"x\","
                  "\"deployment.kubernetes.io/revision\":\"3\"}},\"status\":{},\"spec\":{"
                  "\"clusterIP\":\"10.0.0.1\","
                  "\"clusterIPs\":[\"10.0.0.1\"],\"healthCheckNodePort\":1,\"ports\":[{\"nodePort\":3,"
                  "\"port\":80}]}}",
                  "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"a\"},\"spec\":{"
                  "\"ports\":[{\"port\":80}]}}" },
                { "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"a\"},\"spec\":{"
                  "\"clusterIP\":\"None\","
                  "\"clusterIPs\":[\"None\"]}}",
                  "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"a\"},\"spec\":{"
                  "\"clusterIP\":\"None\","
                  "\"clusterIPs\":[\"None\"]}}" },
                { "{\"apiVersion\":\"batch/"
                  "v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"selector\":{"
                  "\"matchLabels\":{\"controller-uid\":\"u\"}},\"template\":{\"metadata\":{"
                  "\"creationTimestamp\":null,"
                  "\"labels\":{\"batch.kubernetes.io/controller-uid\":\"u\",\"job-name\":\"a\"}}}}}",
                  "{\"apiVersion\":\"batch/"
                  "v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"selector\":{"
                  "\"matchLabels\":{}},\"template\":{\"metadata\":{\"labels\":{\"job-name\":\"a\"}}}}}" },
#define JOB(manual, labels)                                                                                  \
        "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"a\"},\"spec\":{" manual      \
        "\"selector\":{\"matchLabels\":{" labels "}},\"template\":{\"metadata\":{\"labels\":{" labels        \
        "}}}}}"
#define BOTH_UIDS "\"batch.kubernetes.io/controller-uid\":\"u\",\"controller-uid\":\"u\""
                { JOB("", BOTH_UIDS ",\"mine\":\"m\""), JOB("", "\"mine\":\"m\"") },
                { JOB("\"manualSelector\":false,", BOTH_UIDS), JOB("\"manualSelector\":false,", "") },
                { JOB("\"manualSelector\":true,", BOTH_UIDS), JOB("\"manualSelector\":true,", BOTH_UIDS) },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *doc = NULL;
                AUTO_BUF struct buf b;
                struct error err = { 0 };

                assert_int_equal(doc_parse(slice_of(rows[i].before), &doc, &err), 0);
                assert_int_equal(filter_sanitise(doc, &err), 0);
                buf_init(&b, 1 << 16);
                doc_write_canonical(doc, &b);
                assert_string_equal(b.data, rows[i].after);
        }
}

/* spec/placement.md checklist 17 */
static void resources_come_in_the_fixed_order(void **state)
{
        static const struct selected_id order[] = {
                { "", "v1", "Namespace", "", "app" },
                { "", "v1", "Secret", "app", "z" },
                { "", "v1", "ConfigMap", "app", "a" },
                { "", "v1", "ConfigMap", "app", "b" },
                { "rbac.authorization.k8s.io", "v1", "Role", "app", "a" },
                { "apps", "v1", "Deployment", "app", "a" },
                { "a.io", "v1", "Unknown", "app", "a" },
                { "b.io", "v1", "Another", "app", "a" },
        };

        for (size_t i = 1; i < ARRAY_LEN(order); i++) {
                assert_true(filter_compare(&order[i - 1], &order[i]) < 0);
                assert_true(filter_compare(&order[i], &order[i - 1]) > 0);
        }
}

/* Of kinds without a rank the kind counts before the name. */
static void kinds_that_nobody_knows_come_by_kind(void **state)
{
        struct selected_id a = { "example.com", "v1", "Ant", "app", "z" },
                           b = { "example.com", "v1", "Zebra", "app", "a" };

        assert_true(filter_compare(&a, &b) < 0);
        assert_true(filter_compare(&b, &a) > 0);
}

/* Names of RBAC's kinds have no limit: two that part late are two. */
static void long_names_are_compared_to_their_end(void **state)
{
        char one[1001] = "", other[1001] = "";
        struct selected_id a = { "rbac.authorization.k8s.io", "v1", "ClusterRole", "", one }, b = a;

        memset(one, 'r', sizeof(one) - 1);
        memset(other, 'r', sizeof(other) - 1);
        other[999] = 's';
        b.name = other;
        assert_true(filter_compare(&a, &b) < 0);
        assert_true(filter_compare(&b, &a) > 0);
        assert_int_equal(filter_compare(&a, &a), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_deny_list_holds_what_belongs_to_the_hub),
                cmocka_unit_test(an_allow_list_replaces_the_deny_list),
                cmocka_unit_test(malformed_lists_are_refused),
                cmocka_unit_test(reserved_and_skipped_namespaces_stay),
                cmocka_unit_test(objects_the_members_make_themselves_are_left_out),
                cmocka_unit_test(tokens_of_service_accounts_are_left_out),
                cmocka_unit_test(claims_are_placed_where_no_workloads_run),
                cmocka_unit_test(cleaned_objects_hold_what_a_user_wrote),
                cmocka_unit_test(resources_come_in_the_fixed_order),
                cmocka_unit_test(kinds_that_nobody_knows_come_by_kind),
                cmocka_unit_test(long_names_are_compared_to_their_end),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
