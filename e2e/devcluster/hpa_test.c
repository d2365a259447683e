/* Autoscalers in two versions: what v1 has no fields for comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/devcluster/hpa.h"

static json_t *parse(const char *text)
{
        json_t *doc = NULL;
        assert_int_equal(doc_parse(slice_of(text), &doc, NULL), 0);
        return doc;
}

static void everything_of_v2_survives_v1(void **state)
{
        static const char v2[] =
                "{\"apiVersion\":\"autoscaling/"
                "v2\",\"metadata\":{\"name\":\"h\"},\"spec\":{\"maxReplicas\":3,"
                "\"behavior\":{\"scaleUp\":{\"selectPolicy\":\"Max\",\"policies\":[{\"type\":\"Pods\","
                "\"value\":4,"
                "\"periodSeconds\":15}]}},\"metrics\":["
                "{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"target\":{\"type\":"
                "\"AverageValue\","
                "\"averageValue\":\"1Gi\"}}},"
                "{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"q\",\"selector\":{\"matchLabels\":{"
                "\"a\":"
                "\"b\"}}},\"target\":{\"type\":\"AverageValue\",\"averageValue\":\"5\"}}},"
                "{\"type\":\"Object\",\"object\":{\"describedObject\":{\"kind\":\"Ingress\",\"name\":\"i\"},"
                "\"metric\":{\"name\":\"rps\"},\"target\":{\"type\":\"Value\",\"value\":\"10k\"}}},"
                "{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":\"Utilization\","
                "\"averageUtilization\":50}}}]}}";
        AUTO_JSON json_t *doc = parse(v2), *before = parse(v2);
        assert_int_equal(hpa_convert(doc, "v1"), 0);
        assert_int_equal(doc_get_int(doc, "spec.targetCPUUtilizationPercentage", 0), 50);
        /* What the schema of v1 leaves. */
        json_object_del(doc_get_object(doc, "spec"), "metrics");
        json_object_del(doc_get_object(doc, "spec"), "behavior");
        assert_int_equal(doc_set_string(doc, "apiVersion", "autoscaling/v1"), 0);
        assert_int_equal(hpa_convert(doc, "v2"), 0);
        json_object_del(doc_get_object(doc, "spec"), "targetCPUUtilizationPercentage");
        assert_int_equal(doc_set_string(doc, "apiVersion", "autoscaling/v2"), 0);
        assert_true(doc_equal(doc, before));
}

static void v1_without_a_target_means_80_percent(void **state)
{
        AUTO_JSON json_t *doc = parse("{\"apiVersion\":\"autoscaling/v1\",\"spec\":{\"maxReplicas\":3}}");
        assert_int_equal(hpa_convert(doc, "v2"), 0);
        const json_t *metric = json_array_get(doc_get_array(doc, "spec.metrics"), 0);
        assert_int_equal(doc_get_int(metric, "resource.target.averageUtilization", 0), 80);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(everything_of_v2_survives_v1),
                cmocka_unit_test(v1_without_a_target_means_80_percent),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
