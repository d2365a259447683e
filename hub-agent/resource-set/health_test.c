#include "hub-agent/resource-set/health.h"

#include "hub-agent/resource-set/testing.h"

#define NOW_MS INT64_C(1767225660000) /* 2026-01-01T00:01:00Z */
#define C(type, status) "{type: " type ", status: '" status "'}"
#define WHY(type, status, reason) "{type: " type ", status: '" status "', reason: " reason "}"
#define AT(type, status, generation)                                                                         \
        "{type: " type ", status: '" status "', observedGeneration: " generation "}"
#define APPS(kind, spec, status)                                                                             \
        "{apiVersion: apps/v1, kind: " kind ", metadata: {generation: 1}, spec: {" spec                      \
        "}, status: {" status "}}"
#define CORE(kind, rest) "{apiVersion: v1, kind: " kind ", " rest "}"
#define CONDITIONS(all) "conditions: [" all "]"
#define OTHER(rest) "{apiVersion: x.io/v1, kind: X, metadata: {generation: 2" rest "}"
#define ROLLED "replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2, "
#define PLACED(kind, spec, conditions)                                                                       \
        "{apiVersion: placement.kubernetes-fleet.io/v1beta1, kind: " kind ", metadata: {generation: 3}, "    \
        "spec: {" spec "}, status: {conditions: [" conditions "]}}"
#define OURS(conditions)                                                                                     \
        "{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {generation: 3}, "             \
        "status: {conditions: [" conditions "]}}"

static const struct {
        const char *object;
        enum object_health wanted;
} rows[] = {
        { OTHER(", deletionTimestamp: x}"), HEALTH_TERMINATING },
        { OTHER("}, status: {observedGeneration: 1}"), HEALTH_IN_PROGRESS },
        { OTHER("}, status: {observedGeneration: 2}"), HEALTH_CURRENT },
        { OTHER("}, status: {" CONDITIONS(C("Reconciling", "True")) "}"), HEALTH_IN_PROGRESS },
        { OTHER("}, status: {" CONDITIONS(C("Stalled", "True")) "}"), HEALTH_FAILED },
        { OTHER("}, status: {" CONDITIONS(C("Ready", "True")) "}"), HEALTH_CURRENT },
        { OTHER("}, status: {" CONDITIONS(C("Ready", "False")) "}"), HEALTH_IN_PROGRESS },
        { OTHER("}, status: {" CONDITIONS(C("Ready", "Unknown")) "}"), HEALTH_IN_PROGRESS },
        { OTHER("}"), HEALTH_CURRENT },
        { OURS(""), HEALTH_IN_PROGRESS },
        { OURS(AT("Ready", "True", "3")), HEALTH_CURRENT },
        { OURS(AT("Ready", "True", "2")), HEALTH_IN_PROGRESS },
        { OURS(AT("Ready", "False", "3")), HEALTH_IN_PROGRESS },
        { APPS("Deployment", "replicas: 2", ROLLED CONDITIONS(C("Available", "True"))), HEALTH_CURRENT },
        { APPS("Deployment", "",
               "replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1, " CONDITIONS(
                       C("Available", "True"))),
          HEALTH_CURRENT },
        { APPS("Deployment", "replicas: 2", ROLLED CONDITIONS(C("Available", "False"))), HEALTH_IN_PROGRESS },
        { APPS("Deployment", "replicas: 3", ROLLED CONDITIONS(C("Available", "True"))), HEALTH_IN_PROGRESS },
        { APPS("Deployment", "replicas: 1", ROLLED CONDITIONS(C("Available", "True"))), HEALTH_IN_PROGRESS },
        { APPS("Deployment", "replicas: 2, progressDeadlineSeconds: 600",
               ROLLED CONDITIONS(C("Available", "True"))),
          HEALTH_IN_PROGRESS },
        { APPS("Deployment", "replicas: 2, progressDeadlineSeconds: 600",
               ROLLED CONDITIONS(
                       C("Available", "True") ", " WHY("Progressing", "True", "NewReplicaSetAvailable"))),
          HEALTH_CURRENT },
        { APPS("Deployment", "replicas: 2",
               CONDITIONS(WHY("Progressing", "False", "ProgressDeadlineExceeded"))),
          HEALTH_FAILED },
        { APPS("StatefulSet", "updateStrategy: {type: OnDelete}", ""), HEALTH_CURRENT },
        { APPS("StatefulSet", "replicas: 2", "replicas: 2, readyReplicas: 1"), HEALTH_IN_PROGRESS },
        { APPS("StatefulSet", "replicas: 1",
               "replicas: 1, readyReplicas: 1, currentReplicas: 1, "
               "currentRevision: a, updateRevision: a"),
          HEALTH_CURRENT },
        { APPS("StatefulSet", "replicas: 1",
               "replicas: 1, readyReplicas: 1, currentReplicas: 1, "
               "currentRevision: a, updateRevision: b"),
          HEALTH_IN_PROGRESS },
        { APPS("StatefulSet", "replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}",
               "replicas: 3, readyReplicas: 3, updatedReplicas: 1"),
          HEALTH_CURRENT },
        { APPS("StatefulSet", "replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}",
               "replicas: 3, readyReplicas: 3, updatedReplicas: 0"),
          HEALTH_IN_PROGRESS },
        { APPS("DaemonSet", "", ""), HEALTH_IN_PROGRESS },
        { APPS("DaemonSet", "",
               "observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 2, "
               "updatedNumberScheduled: 2, numberAvailable: 2, numberReady: 2"),
          HEALTH_CURRENT },
        { APPS("DaemonSet", "",
               "observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 2, "
               "updatedNumberScheduled: 1, numberAvailable: 2, numberReady: 2"),
          HEALTH_IN_PROGRESS },
        { APPS("ReplicaSet", "replicas: 1",
               "replicas: 1, fullyLabeledReplicas: 1, availableReplicas: 1, "
               "readyReplicas: 1"),
          HEALTH_CURRENT },
        { APPS("ReplicaSet", "replicas: 1",
               "replicas: 1, fullyLabeledReplicas: 1, availableReplicas: 1, "
               "readyReplicas: 1, " CONDITIONS(C("ReplicaFailure", "True"))),
          HEALTH_IN_PROGRESS },
        { CORE("Pod", "status: {}"), HEALTH_IN_PROGRESS },
        { CORE("Pod", "status: {phase: Succeeded}"), HEALTH_CURRENT },
        { CORE("Pod", "status: {phase: Failed}"), HEALTH_CURRENT },
        { CORE("Pod", "status: {phase: Running, " CONDITIONS(C("Ready", "True")) "}"), HEALTH_CURRENT },
        { CORE("Pod", "status: {phase: Running}"), HEALTH_IN_PROGRESS },
        { CORE("Pod", "status: {phase: Running, containerStatuses: [{state: {waiting: {reason: "
                      "CrashLoopBackOff}}}]}"),
          HEALTH_FAILED },
        { CORE("Pod", "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: "
                      "Unschedulable, lastTransitionTime: '2026-01-01T00:00:40Z'}]}"),
          HEALTH_FAILED },
        { CORE("Pod", "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: "
                      "Unschedulable, lastTransitionTime: '2026-01-01T00:00:50Z'}]}"),
          HEALTH_IN_PROGRESS },
        { "{apiVersion: batch/v1, kind: Job, spec: {suspend: true}}", HEALTH_CURRENT },
        { "{apiVersion: batch/v1, kind: Job, status: {" CONDITIONS(C("Complete", "True")) "}}",
          HEALTH_CURRENT },
        { "{apiVersion: batch/v1, kind: Job, status: {" CONDITIONS(C("Failed", "True")) "}}", HEALTH_FAILED },
        { "{apiVersion: batch/v1, kind: Job, status: {startTime: x}}", HEALTH_IN_PROGRESS },
        { CORE("PersistentVolumeClaim", "status: {phase: Bound}"), HEALTH_CURRENT },
        { CORE("PersistentVolumeClaim", "status: {phase: Pending}"), HEALTH_IN_PROGRESS },
        { CORE("Service", "spec: {type: LoadBalancer}"), HEALTH_IN_PROGRESS },
        { CORE("Service", "spec: {type: LoadBalancer, clusterIP: 1.2.3.4}"), HEALTH_CURRENT },
        { CORE("Service", "spec: {type: ClusterIP}"), HEALTH_CURRENT },
        { "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {" CONDITIONS(
                  C("NamesAccepted", "False")) "}}",
          HEALTH_FAILED },
        { "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {" CONDITIONS(
                  WHY("Established", "False", "Installing")) "}}",
          HEALTH_IN_PROGRESS },
        { "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {" CONDITIONS(
                  WHY("Established", "False", "Broken")) "}}",
          HEALTH_FAILED },
        { "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {" CONDITIONS(
                  C("Established", "True")) "}}",
          HEALTH_CURRENT },
        { CORE("ConfigMap", "status: {" CONDITIONS(C("Ready", "False")) "}"), HEALTH_CURRENT },
        { CORE("Namespace", "status: {phase: Active}"), HEALTH_CURRENT },
        { CORE("Namespace", "status: {}"), HEALTH_IN_PROGRESS },
};

/* spec/resource-set.md checklist 81 */
static void objects_are_judged_by_their_kind(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                enum object_health got = health_of(yaml_of(&arena, rows[i].object), NOW_MS);

                if (got != rows[i].wanted)
                        fail_msg("%s: wanted %s, got %s", rows[i].object, health_word(rows[i].wanted),
                                 health_word(got));
        }
        assert_int_equal(health_of(NULL, NOW_MS), HEALTH_NOT_FOUND);
        assert_string_equal(health_word(HEALTH_IN_PROGRESS), "InProgress");
}

/* spec/resource-set.md checklist 84 */
static void a_placement_is_ready_when_it_is_available(void **state)
{
        static const struct {
                const char *object;
                enum object_health wanted;
        } cases[] = {
                { PLACED("ClusterResourcePlacement", "", ""), HEALTH_IN_PROGRESS },
                { PLACED("ClusterResourcePlacement", "",
                         AT("ClusterResourcePlacementAvailable", "True", "3")),
                  HEALTH_CURRENT },
                { PLACED("ClusterResourcePlacement", "",
                         AT("ClusterResourcePlacementAvailable", "True", "2")),
                  HEALTH_IN_PROGRESS },
                { PLACED("ClusterResourcePlacement", "",
                         AT("ClusterResourcePlacementAvailable", "False", "3")),
                  HEALTH_IN_PROGRESS },
                { PLACED("ClusterResourcePlacement", "", AT("ClusterResourcePlacementApplied", "True", "3")),
                  HEALTH_CURRENT },
                { PLACED("ResourcePlacement", "", AT("ResourcePlacementAvailable", "True", "3")),
                  HEALTH_CURRENT },
                { PLACED("ResourcePlacement", "strategy: {applyStrategy: {type: ReportDiff}}",
                         AT("ResourcePlacementAvailable", "True", "3")),
                  HEALTH_IN_PROGRESS },
                { PLACED("ResourcePlacement", "strategy: {applyStrategy: {type: ReportDiff}}",
                         AT("ResourcePlacementDiffReported", "True", "3")),
                  HEALTH_CURRENT },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;

                if (health_of(yaml_of(&arena, cases[i].object), NOW_MS) != cases[i].wanted)
                        fail_msg("%s", cases[i].object);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(objects_are_judged_by_their_kind),
                cmocka_unit_test(a_placement_is_ready_when_it_is_available),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
