#include "e2e/devcluster/hpa.h"

/* v1 knows only the CPU target; in v2 that is one of the metrics. v1 keeps the other metrics in an annotation
 * on real servers; here they stay in storage only as long as nobody writes through v1. */

static const json_t *cpu_metric(const json_t *metrics, const char *inner)
{
        size_t i;
        json_t *m;
        json_array_foreach((json_t *)metrics, i, m)
                if (text_equal(doc_get_string(m, "type"), "Resource") &&
                    text_equal(doc_get_string(m, "resource.name"), "cpu"))
                        return doc_get_object(m, inner);
        return NULL;
}

static int copy_down(json_t *doc, const char *list, const char *inner, const char *to)
{
        int64_t percent = doc_get_int(cpu_metric(doc_get_array(doc, list), inner), "averageUtilization", -1);
        return percent < 0 ? 0 : doc_set_int(doc, to, percent);
}

static int to_v1(json_t *doc)
{
        TRY(copy_down(doc, "spec.metrics", "resource.target", "spec.targetCPUUtilizationPercentage"));
        return copy_down(doc, "status.currentMetrics", "resource.current",
                         "status.currentCPUUtilizationPercentage");
}

static int copy_up(json_t *doc, const char *from, const char *list, json_t *inner)
{
        AUTO_JSON json_t *taken = inner;
        int64_t percent = doc_get_int(doc, from, -1);
        if (percent < 0)
                return 0;
        if (doc_set_int(taken, "averageUtilization", percent) < 0)
                return ERR_NO_MEMORY;
        const char *key = text_equal(list, "spec.metrics") ? "target" : "current";
        return doc_set(
                doc, list,
                json_pack("[{s:s,s:{s:s,s:O}}]", "type", "Resource", "resource", "name", "cpu", key, taken));
}

static int to_v2(json_t *doc)
{
        TRY(copy_up(doc, "spec.targetCPUUtilizationPercentage", "spec.metrics",
                    json_pack("{s:s}", "type", "Utilization")));
        return copy_up(doc, "status.currentCPUUtilizationPercentage", "status.currentMetrics", json_object());
}

int hpa_convert(json_t *doc, const char *to_version)
{
        const char *from = doc_get_string(doc, "apiVersion");
        if (text_equal(to_version, "v1") && text_equal(from, "autoscaling/v2"))
                return to_v1(doc);
        if (text_equal(to_version, "v2") && text_equal(from, "autoscaling/v1"))
                return to_v2(doc);
        return 0;
}
