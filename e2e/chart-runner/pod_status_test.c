/* A pod's status from its containers, and kubelet's counting of probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/json/doc.h"
#include "e2e/chart-runner/pod_status.h"
#include "e2e/chart-runner/probe.h"

static const char *condition(const json_t *status, const char *type, const char *field)
{
        json_t *c;
        size_t i;

        json_array_foreach(json_object_get(status, "conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return doc_get_string(c, field);
        return NULL;
}

static json_t *status_of(const json_t *pod, const struct container_state *at, size_t n, int64_t now_ms)
{
        const struct pod_facts facts = { .ip = "198.18.0.1", .now_ms = now_ms, .network_ready = true };
        json_t *ret = NULL;

        assert_int_equal(pod_status(pod, at, n, &facts, &ret), 0);
        return ret;
}

static void a_pod_is_ready_when_all_its_containers_are(void **state)
{
        struct container_state at[] = {
                { .name = "a",
                  .image = "i",
                  .phase = CONTAINER_RUNNING,
                  .pid = 7,
                  .ready = true,
                  .started = true },
                { .name = "b", .image = "i", .phase = CONTAINER_RUNNING, .pid = 8, .started = true },
        };
        AUTO_JSON json_t *pod = json_pack("{s:{s:[{s:s, s:s, s:s}]}}", "status", "conditions", "type",
                                          "PodScheduled", "status", "True", "lastTransitionTime", "then");
        AUTO_JSON json_t *first = status_of(pod, at, 2, 1000);

        assert_string_equal(doc_get_string(first, "phase"), "Running");
        assert_string_equal(condition(first, "Ready", "status"), "False");
        assert_string_equal(condition(first, "PodScheduled", "lastTransitionTime"), "then");
        assert_string_equal(condition(first, "Initialized", "lastTransitionTime"), "1970-01-01T00:00:01Z");
        assert_int_equal(doc_set(pod, "status", json_incref(first)), 0);
        at[1].ready = true;
        AUTO_JSON json_t *second = status_of(pod, at, 2, 5000);

        assert_string_equal(condition(second, "Ready", "status"), "True");
        assert_string_equal(condition(second, "Ready", "lastTransitionTime"), "1970-01-01T00:00:05Z");
        assert_string_equal(condition(second, "Initialized", "lastTransitionTime"), "1970-01-01T00:00:01Z");
        assert_string_equal(doc_get_string(json_array_get(json_object_get(second, "containerStatuses"), 1),
                                           "containerID"),
                            "chart-runner://8");
}

static void what_keeps_a_container_from_running_is_in_its_status(void **state)
{
        struct container_state waiting = {
                .name = "a", .image = "i", .reason = "CrashLoopBackOff", .restarts = 3
        };

        waiting.last.known = true;
        waiting.last.exit_code = 1;
        AUTO_JSON json_t *pod = json_object(), *status = status_of(pod, &waiting, 1, 0);
        const json_t *c = json_array_get(json_object_get(status, "containerStatuses"), 0);

        assert_string_equal(doc_get_string(c, "state.waiting.reason"), "CrashLoopBackOff");
        assert_string_equal(doc_get_string(c, "lastState.terminated.reason"), "Error");
        assert_int_equal(doc_get_int(c, "restartCount", 0), 3);
        assert_string_equal(doc_get_string(status, "phase"), "Running");
}

static void a_sidecar_counts_for_readiness_and_an_init_container_does_not(void **state)
{
        struct container_state at[] = {
                { .name = "i", .image = "i", .init = true, .phase = CONTAINER_ENDED },
                { .name = "s",
                  .image = "i",
                  .init = true,
                  .restarting = true,
                  .phase = CONTAINER_RUNNING,
                  .started = true },
                { .name = "m", .image = "i", .phase = CONTAINER_RUNNING, .started = true, .ready = true },
        };
        AUTO_JSON json_t *pod = json_object(), *status = status_of(pod, at, 3, 0);

        assert_string_equal(condition(status, "Initialized", "status"), "True");
        assert_string_equal(condition(status, "Ready", "status"), "False");
        at[1].ready = true;
        assert_true(pod_status_ready(at, 3));
}

static void probes_change_their_verdict_at_the_thresholds(void **state)
{
        const struct probe p = { .needed_good = 2, .needed_bad = 3 };
        struct probe_count count = { 0 };
        bool verdict = false;

        assert_false(probe_count(&p, &count, true, &verdict));
        assert_true(probe_count(&p, &count, true, &verdict) && verdict);
        assert_false(probe_count(&p, &count, false, &verdict));
        assert_false(probe_count(&p, &count, false, &verdict));
        assert_false(probe_count(&p, &count, true, &verdict)); /* the row is broken */
        assert_false(probe_count(&p, &count, false, &verdict));
        assert_false(probe_count(&p, &count, false, &verdict));
        assert_true(probe_count(&p, &count, false, &verdict) && !verdict);
}

static void a_probe_finds_its_port_by_name(void **state)
{
        AUTO_JSON json_t *container = json_pack(
                "{s:[{s:s, s:i}], s:{s:{s:s, s:s}, s:i}, s:{s:{s:s}}, s:{s:{}}}", "ports", "name", "h",
                "containerPort", 8081, "readinessProbe", "httpGet", "path", "/readyz", "port", "h",
                "periodSeconds", 3, "livenessProbe", "httpGet", "port", "none", "startupProbe", "exec");
        struct probe p;
        bool there = false;
        struct error err = { 0 };

        assert_int_equal(probe_read(container, "readinessProbe", &p, &there, &err), 0);
        assert_true(there);
        assert_int_equal(p.port, 8081);
        assert_int_equal(p.period_ms, 3000);
        assert_int_equal(p.timeout_ms, 1000);
        assert_int_equal(probe_read(container, "livenessProbe", &p, &there, &err), ERR_INVALID);
        assert_string_equal(err.text, "livenessProbe: httpGet.port: no containerPort has this name");
        assert_int_equal(probe_read(container, "startupProbe", &p, &there, &err), ERR_UNSUPPORTED);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_pod_is_ready_when_all_its_containers_are),
                cmocka_unit_test(what_keeps_a_container_from_running_is_in_its_status),
                cmocka_unit_test(a_sidecar_counts_for_readiness_and_an_init_container_does_not),
                cmocka_unit_test(probes_change_their_verdict_at_the_thresholds),
                cmocka_unit_test(a_probe_finds_its_port_by_name),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
