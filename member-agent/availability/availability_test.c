/* spec/member-agent.md 2.12, line by line (checklist 43, 44). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "member-agent/availability/availability.h"

struct line {
        const char *what, *group, *version, *plural, *object;
        enum availability expected;
};

static const struct line lines[] = {
        { "deployment, all replicas", "apps", "v1", "deployments",
          "{'metadata':{'generation':2},'spec':{'replicas':3},'status':{'observedGeneration':2,'"
          "availableReplicas':3,"
          "'updatedReplicas':3}}",
          AVAILABILITY_AVAILABLE },
        { "deployment, default of one replica", "apps", "v1", "deployments",
          "{'metadata':{'generation':1},'spec':{},'status':{'observedGeneration':1,'availableReplicas':1,"
          "'updatedReplicas':1}}",
          AVAILABILITY_AVAILABLE },
        { "deployment, controller has not looked", "apps", "v1", "deployments",
          "{'metadata':{'generation':2},'spec':{'replicas':1},'status':{'observedGeneration':1,'"
          "availableReplicas':1,"
          "'updatedReplicas':1}}",
          AVAILABILITY_NOT_YET },
        { "deployment, an old replica is left", "apps", "v1", "deployments",
          "{'metadata':{'generation':1},'spec':{'replicas':1},'status':{'observedGeneration':1,'"
          "availableReplicas':1,"
          "'updatedReplicas':1,'unavailableReplicas':1}}",
          AVAILABILITY_NOT_YET },
        { "deployment scaled to zero", "apps", "v1", "deployments",
          "{'metadata':{'generation':1},'spec':{'replicas':0},'status':{'observedGeneration':1}}",
          AVAILABILITY_AVAILABLE },
        { "deployment of a wrong type", "apps", "v1", "deployments",
          "{'metadata':{'generation':1},'spec':{'replicas':'three'},'status':{'observedGeneration':1}}",
          AVAILABILITY_FAILED },
        { "deployment of another version", "apps", "v1beta1", "deployments", "{'metadata':{}}",
          AVAILABILITY_NOT_TRACKABLE },
        { "stateful set", "apps", "v1", "statefulsets",
          "{'metadata':{'generation':1},'spec':{'replicas':2},'status':{'observedGeneration':1,'"
          "availableReplicas':2,"
          "'currentReplicas':2,'updatedReplicas':2,'currentRevision':'a','updateRevision':'a'}}",
          AVAILABILITY_AVAILABLE },
        { "stateful set in the middle of an update", "apps", "v1", "statefulsets",
          "{'metadata':{'generation':1},'spec':{'replicas':2},'status':{'observedGeneration':1,'"
          "availableReplicas':2,"
          "'currentReplicas':2,'updatedReplicas':2,'currentRevision':'a','updateRevision':'b'}}",
          AVAILABILITY_NOT_YET },
        { "daemon set", "apps", "v1", "daemonsets",
          "{'metadata':{'generation':1},'status':{'observedGeneration':1,'numberAvailable':3,'"
          "desiredNumberScheduled':3,"
          "'currentNumberScheduled':3,'updatedNumberScheduled':3}}",
          AVAILABILITY_AVAILABLE },
        { "daemon set, one missing", "apps", "v1", "daemonsets",
          "{'metadata':{'generation':1},'status':{'observedGeneration':1,'numberAvailable':2,'"
          "desiredNumberScheduled':3,"
          "'currentNumberScheduled':3,'updatedNumberScheduled':3}}",
          AVAILABILITY_NOT_YET },
        { "daemon set for no node", "apps", "v1", "daemonsets",
          "{'metadata':{'generation':1},'status':{'observedGeneration':1}}", AVAILABILITY_AVAILABLE },
        { "service with an address", "", "v1", "services", "{'spec':{'clusterIPs':['10.0.0.1']}}",
          AVAILABILITY_AVAILABLE },
        { "headless service", "", "v1", "services", "{'spec':{'type':'ClusterIP','clusterIPs':['None']}}",
          AVAILABILITY_AVAILABLE },
        { "node port without address yet", "", "v1", "services", "{'spec':{'type':'NodePort'}}",
          AVAILABILITY_NOT_YET },
        { "external name", "", "v1", "services", "{'spec':{'type':'ExternalName'}}",
          AVAILABILITY_NOT_TRACKABLE },
        { "load balancer with ip", "", "v1", "services",
          "{'spec':{'type':'LoadBalancer'},'status':{'loadBalancer':{'ingress':[{'ip':'1.2.3.4'}]}}}",
          AVAILABILITY_AVAILABLE },
        { "load balancer with host name", "", "v1", "services",
          "{'spec':{'type':'LoadBalancer'},'status':{'loadBalancer':{'ingress':[{'hostname':'lb'}]}}}",
          AVAILABILITY_AVAILABLE },
        { "load balancer that waits", "", "v1", "services",
          "{'spec':{'type':'LoadBalancer','clusterIPs':['10.0.0.1']},'status':{'loadBalancer':{}}}",
          AVAILABILITY_NOT_YET },
        { "established definition", "apiextensions.k8s.io", "v1", "customresourcedefinitions",
          "{'status':{'conditions':[{'type':'Established','status':'True'},{'type':'NamesAccepted','status':'"
          "True'}]}}",
          AVAILABILITY_AVAILABLE },
        { "definition with refused names", "apiextensions.k8s.io", "v1", "customresourcedefinitions",
          "{'status':{'conditions':[{'type':'Established','status':'True'},{'type':'NamesAccepted','status':'"
          "False'}]}}",
          AVAILABILITY_NOT_YET },
        { "budget that allows", "policy", "v1", "poddisruptionbudgets",
          "{'metadata':{'generation':1},'status':{'observedGeneration':1,'disruptionsAllowed':1,'conditions':"
          "[{'type':'DisruptionAllowed','status':'True','reason':'SufficientPods'}]}}",
          AVAILABILITY_AVAILABLE },
        { "budget that allows nothing is judged all the same", "policy", "v1", "poddisruptionbudgets",
          "{'metadata':{'generation':1},'status':{'observedGeneration':1,'disruptionsAllowed':0,'conditions':"
          "[{'type':'DisruptionAllowed','status':'False','reason':'InsufficientPods'}]}}",
          AVAILABILITY_AVAILABLE },
        { "budget that contradicts itself", "policy", "v1", "poddisruptionbudgets",
          "{'metadata':{'generation':1},'status':{'observedGeneration':1,'disruptionsAllowed':0,'conditions':"
          "[{'type':'DisruptionAllowed','status':'True','reason':'SufficientPods'}]}}",
          AVAILABILITY_NOT_YET },
        { "config map", "", "v1", "configmaps", "{}", AVAILABILITY_AVAILABLE },
        { "config map that is being deleted", "", "v1", "configmaps",
          "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}}", AVAILABILITY_NOT_YET },
        { "job that is being deleted", "batch", "v1", "jobs",
          "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}}", AVAILABILITY_NOT_YET },
        { "namespace", "", "v1", "namespaces", "{}", AVAILABILITY_AVAILABLE },
        { "secret", "", "v1", "secrets", "{}", AVAILABILITY_AVAILABLE },
        { "cluster role", "rbac.authorization.k8s.io", "v1", "clusterroles", "{}", AVAILABILITY_AVAILABLE },
        { "network policy", "networking.k8s.io", "v1", "networkpolicies", "{}", AVAILABILITY_AVAILABLE },
        { "storage class", "storage.k8s.io", "v1", "storageclasses", "{}", AVAILABILITY_AVAILABLE },
        { "priority class", "scheduling.k8s.io", "v1", "priorityclasses", "{}", AVAILABILITY_AVAILABLE },
        { "job", "batch", "v1", "jobs", "{}", AVAILABILITY_NOT_TRACKABLE },
        { "ingress", "networking.k8s.io", "v1", "ingresses", "{}", AVAILABILITY_NOT_TRACKABLE },
        { "custom resource", "example.com", "v1", "widgets", "{}", AVAILABILITY_NOT_TRACKABLE },
        { "custom resource with a name that we know", "example.com", "v1", "services", "{}",
          AVAILABILITY_NOT_TRACKABLE },
        { "another version of a kind that we know", "", "v2", "services", "{}", AVAILABILITY_NOT_TRACKABLE },
};

static json_t *parse(const char *text)
{
        char json[1024];
        json_t *doc = NULL;
        size_t n = 0;

        for (; text[n]; n++)
                json[n] = text[n] == '\'' ? '"' : text[n];
        assert_int_equal(doc_parse((struct slice){ json, n }, &doc, NULL), 0);
        return doc;
}

/* spec/member-agent.md checklist 43, 44 */
static void every_kind_is_judged_by_its_own_rule(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                const struct line *l = &lines[i];
                AUTO_JSON json_t *doc = parse(l->object);
                struct error err = { 0 };
                enum availability is = availability_of(l->group, l->version, l->plural, doc, &err);

                if (is != l->expected)
                        print_error("%s: is %s\n", l->what, availability_word(is));
                assert_int_equal(is, l->expected);
        }
}

/* spec/member-agent.md 2.12, improve. Of three replicas. */
static void a_partition_holds_its_replicas_back_and_no_others(void **state)
{
        static const struct {
                int partition, available, updated;
                const char *revision; /* the one to come; the current one is a */
                enum availability expected;
        } rows[] = {
                { 2, 3, 1, "b", AVAILABILITY_AVAILABLE },
                { 2, 3, 0, "b", AVAILABILITY_NOT_YET },
                { 2, 2, 1, "b", AVAILABILITY_NOT_YET },
                { 2, 3, 2, "b", AVAILABILITY_AVAILABLE }, /* raised */
                { 1, 3, 2, "b", AVAILABILITY_AVAILABLE },
                { 1, 3, 1, "b", AVAILABILITY_NOT_YET },
                { 3, 3, 0, "b", AVAILABILITY_AVAILABLE },
                { 5, 3, 0, "b", AVAILABILITY_AVAILABLE },
                { 0, 3, 3, "b", AVAILABILITY_NOT_YET },
                { 2, 3, 3, "a", AVAILABILITY_AVAILABLE },
                { 2, 3, 2, "a", AVAILABILITY_NOT_YET },
                { 0, 3, 3, "a", AVAILABILITY_AVAILABLE },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *o = json_pack(
                        "{s:{s:i}, s:{s:i, s:{s:{s:i}}}, s:{s:i, s:i, s:i, s:i, s:s, s:s}}", "metadata",
                        "generation", 4, "spec", "replicas", 3, "updateStrategy", "rollingUpdate",
                        "partition", rows[i].partition, "status", "observedGeneration", 4,
                        "availableReplicas", rows[i].available, "currentReplicas", 3, "updatedReplicas",
                        rows[i].updated, "currentRevision", "a", "updateRevision", rows[i].revision);
                struct error err = { 0 };

                assert_non_null(o);
                if (availability_of("apps", "v1", "statefulsets", o, &err) != rows[i].expected)
                        fail_msg("row %zu", i);
        }
}

static void which_kinds_are_available_at_once(void **state)
{
        static const struct {
                const char *group, *plural;
        } known[] = { { "", "configmaps" },
                      { "apps", "controllerrevisions" },
                      { "storage.k8s.io", "csinodes" } };

        for (size_t i = 0; i < ARRAY_LEN(known); i++)
                for (size_t k = 0; k < ARRAY_LEN(known); k++) {
                        AUTO_JSON json_t *doc = parse("{}");
                        struct error err = { 0 };

                        assert_int_equal(availability_of(known[i].group, "v1", known[k].plural, doc, &err),
                                         i == k ? AVAILABILITY_AVAILABLE : AVAILABILITY_NOT_TRACKABLE);
                }
}

#define SET(state, available, progressing)                                                                   \
        "{'metadata':{'generation':2},'spec':{'lifecycleState':'" state "'},'status':{'conditions':["        \
        "{'type':'Available'," available "},{'type':'Progressing'," progressing "}]}}"
#define AVAILABLE(status, generation) "'status':'" status "','observedGeneration':" generation
#define PROGRESSING(reason, generation)                                                                      \
        "'status':'True','reason':'" reason "','observedGeneration':" generation

/* spec/cluster-object-set.md checklist 98 */
static void an_object_set_is_available_once_it_is_rolled_out_or_archived(void **state)
{
        static const struct {
                const char *object;
                enum availability expected;
        } rows[] = {
                { "{'metadata':{'generation':2},'spec':{'lifecycleState':'Active'}}", AVAILABILITY_NOT_YET },
                { SET("Active", AVAILABLE("True", "2"), PROGRESSING("Succeeded", "2")),
                  AVAILABILITY_AVAILABLE },
                { SET("Active", AVAILABLE("True", "1"), PROGRESSING("Succeeded", "2")),
                  AVAILABILITY_NOT_YET },
                { SET("Active", AVAILABLE("True", "2"), PROGRESSING("Succeeded", "1")),
                  AVAILABILITY_NOT_YET },
                { SET("Active", AVAILABLE("True", "2"), PROGRESSING("RollingOut", "2")),
                  AVAILABILITY_NOT_YET },
                { SET("Active", AVAILABLE("False", "2"), PROGRESSING("Succeeded", "2")),
                  AVAILABILITY_NOT_YET },
                { SET("Archived", AVAILABLE("Unknown", "1"), PROGRESSING("Retrying", "1")),
                  AVAILABILITY_AVAILABLE },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *o = parse(rows[i].object);
                struct error err = { 0 };

                assert_int_equal(
                        availability_of("olm.operatorframework.io", "v1", "clusterobjectsets", o, &err),
                        rows[i].expected);
        }
}

/* spec/cluster-object-set.md 17 */
static void an_object_set_in_trouble_says_what_it_is(void **state)
{
        static const struct {
                const char *progressing, *words;
        } rows[] = {
                { PROGRESSING("Blocked", "2") ",'message':'why'", "Blocked: why" },
                { PROGRESSING("Retrying", "2") ",'message':'why'", "Retrying: why" },
                { PROGRESSING("ProgressDeadlineExceeded", "2") ",'message':'why'",
                  "ProgressDeadlineExceeded: why" },
                { PROGRESSING("Blocked", "1") ",'message':'why'", "" },
                { PROGRESSING("RollingOut", "2") ",'message':'why'", "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char text[400];
                AUTO_JSON json_t *o = NULL;
                struct error err = { 0 };

                snprintf(text, sizeof(text), SET("Active", AVAILABLE("Unknown", "2"), "%s"),
                         rows[i].progressing);
                o = parse(text);
                assert_int_equal(
                        availability_of("olm.operatorframework.io", "v1", "clusterobjectsets", o, &err),
                        AVAILABILITY_NOT_YET);
                assert_string_equal(err.text, rows[i].words);
        }
}

static void a_field_of_a_wrong_type_is_named(void **state)
{
        AUTO_JSON json_t *doc = parse("{'spec':{'replicas':'three'}}");
        struct error err = { 0 };

        assert_int_equal(availability_of("apps", "v1", "deployments", doc, &err), AVAILABILITY_FAILED);
        assert_non_null(strstr(err.text, "spec.replicas"));
}

/* Everything that a rule asks for, spoilt one at a time. */
static void one_number_that_is_not_right_is_enough(void **state)
{
        static const struct {
                const char *plural, *object, *spoilt[6];
        } rows[] = {
                { "deployments",
                  "{'metadata':{'generation':4},'spec':{'replicas':3},'status':{'observedGeneration':4,"
                  "'availableReplicas':3,'updatedReplicas':3,'unavailableReplicas':0}}",
                  { "observedGeneration", "availableReplicas", "updatedReplicas", "unavailableReplicas" } },
                { "statefulsets",
                  "{'metadata':{'generation':4},'spec':{'replicas':3},'status':{'observedGeneration':4,"
                  "'availableReplicas':3,'currentReplicas':3,'updatedReplicas':3,'currentRevision':'a',"
                  "'updateRevision':'a'}}",
                  { "observedGeneration", "availableReplicas", "currentReplicas", "updatedReplicas" } },
                { "daemonsets",
                  "{'metadata':{'generation':4},'status':{'observedGeneration':4,'numberAvailable':3,"
                  "'desiredNumberScheduled':3,'currentNumberScheduled':3,'updatedNumberScheduled':3}}",
                  { "observedGeneration", "numberAvailable", "desiredNumberScheduled",
                    "currentNumberScheduled", "updatedNumberScheduled" } },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                for (size_t k = 0; k == 0 || rows[i].spoilt[k - 1]; k++) {
                        AUTO_JSON json_t *o = parse(rows[i].object);
                        json_t *status = json_object_get(o, "status");
                        struct error err = { 0 };

                        if (k > 0)
                                json_object_set_new(
                                        status, rows[i].spoilt[k - 1],
                                        json_integer(doc_get_int(status, rows[i].spoilt[k - 1], 0) + 1));
                        if (availability_of("apps", "v1", rows[i].plural, o, &err) !=
                            (k == 0 ? AVAILABILITY_AVAILABLE : AVAILABILITY_NOT_YET))
                                fail_msg("%s %s", rows[i].plural, k ? rows[i].spoilt[k - 1] : "as it is");
                }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_kind_is_judged_by_its_own_rule),
                cmocka_unit_test(one_number_that_is_not_right_is_enough),
                cmocka_unit_test(a_partition_holds_its_replicas_back_and_no_others),
                cmocka_unit_test(which_kinds_are_available_at_once),
                cmocka_unit_test(an_object_set_is_available_once_it_is_rolled_out_or_archived),
                cmocka_unit_test(an_object_set_in_trouble_says_what_it_is),
                cmocka_unit_test(a_field_of_a_wrong_type_is_named),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
