#include "e2e/devcluster/hpa.h"

#include "common/base/memory.h"

/* v1 knows only the CPU target. What else v2 says travels through v1 in annotations: metrics in v1's own
 * shape, behaviour as Kubernetes' internal struct is written. */

#define METRICS "autoscaling.alpha.kubernetes.io/metrics"
#define CURRENT "autoscaling.alpha.kubernetes.io/current-metrics"
#define BEHAVIOR "autoscaling.alpha.kubernetes.io/behavior"
#define CONDITIONS "autoscaling.alpha.kubernetes.io/conditions"
#define CPU_DEFAULT 80

/* Where a source's kind is, and how v1 names its parts. */
static const struct source {
        const char *type, *member;
        const char *name; /* v1's name of the metric; NULL: the source has a name of its own */
        const char *selector, *value, *average, *utilization;
} sources[] = {
        { "Resource", "resource", NULL, NULL, NULL, "targetAverageValue", "targetAverageUtilization" },
        { "ContainerResource", "containerResource", NULL, NULL, NULL, "targetAverageValue",
          "targetAverageUtilization" },
        { "Pods", "pods", "metricName", "selector", NULL, "targetAverageValue", NULL },
        { "Object", "object", "metricName", "selector", "targetValue", "averageValue", NULL },
        { "External", "external", "metricName", "metricSelector", "targetValue", "targetAverageValue", NULL },
};

static const struct source *source_of(const json_t *metric)
{
        const char *type = doc_get_string(metric, "type");
        for (size_t i = 0; i < ARRAY_LEN(sources); i++)
                if (text_equal(type, sources[i].type))
                        return &sources[i];
        return NULL;
}

static bool is_cpu(const json_t *metric)
{
        return text_equal(doc_get_string(metric, "type"), "Resource") &&
               text_equal(doc_get_string(metric, "resource.name"), "cpu") &&
               doc_get(metric, "resource.target.averageUtilization");
}

static int copy(json_t *to, const char *to_path, const json_t *from, const char *from_path)
{
        const json_t *v = to_path ? doc_get(from, from_path) : NULL;
        return v ? doc_set(to, to_path, doc_copy(v)) : 0;
}

/* ---- metrics ---- */

static json_t *metric_to_v1(const json_t *metric)
{
        const struct source *s = source_of(metric);
        const json_t *in = s ? doc_get_object(metric, s->member) : NULL;
        json_t *out = json_object();
        int r = 0;
        if (!in)
                return json_decref(out), NULL;
        r |= copy(out, "target", in, "describedObject");
        r |= copy(out, "name", in, "name");
        r |= copy(out, "container", in, "container");
        r |= copy(out, s->name, in, "metric.name");
        r |= copy(out, s->selector, in, "metric.selector");
        r |= copy(out, s->utilization, in, "target.averageUtilization");
        r |= copy(out, s->average, in, "target.averageValue");
        r |= copy(out, s->value, in, "target.value");
        json_t *whole = r < 0 ? NULL : json_pack("{s:s,s:O}", "type", s->type, s->member, out);
        json_decref(out);
        return whole;
}

static json_t *metric_to_v2(const json_t *metric)
{
        const struct source *s = source_of(metric);
        const json_t *in = s ? doc_get_object(metric, s->member) : NULL;
        json_t *out = json_object();
        int r = 0;
        if (!in)
                return json_decref(out), NULL;
        r |= copy(out, "describedObject", in, "target");
        r |= copy(out, "name", in, "name");
        r |= copy(out, "container", in, "container");
        if (s->name) {
                r |= copy(out, "metric.name", in, s->name);
                r |= copy(out, "metric.selector", in, s->selector);
        }
        bool share = s->utilization && doc_get(in, s->utilization);
        bool average = !share && s->average && doc_get(in, s->average);
        r |= doc_set_string(out, "target.type", share ? "Utilization" : average ? "AverageValue" : "Value");
        r |= copy(out, "target.averageUtilization", in, s->utilization ? s->utilization : "none");
        r |= copy(out, "target.averageValue", in, average ? s->average : "none");
        r |= copy(out, "target.value", in, s->value ? s->value : "none");
        json_t *whole = r < 0 ? NULL : json_pack("{s:s,s:O}", "type", s->type, s->member, out);
        json_decref(out);
        return whole;
}

/* ---- behaviour ---- */

/* {"scaleUp": ...} as {"ScaleUp": ...}, or back: only the case of the first letters of members differs. */
static json_t *with_case(const json_t *v, bool upper)
{
        if (json_is_array(v)) {
                json_t *out = json_array(), *item;
                size_t i;
                json_array_foreach((json_t *)v, i, item)
                        json_array_append_new(out, with_case(item, upper));
                return out;
        }
        if (!json_is_object(v))
                return doc_copy(v);
        json_t *out = json_object(), *item;
        const char *key;
        json_object_foreach((json_t *)v, key, item) {
                char name[64];
                snprintf(name, sizeof(name), "%s", key);
                name[0] = (char)(upper ? name[0] & ~32 : name[0] | 32);
                if (!json_is_null(item))
                        json_object_set_new(out, name, with_case(item, upper));
        }
        return out;
}

/* ---- annotations ---- */

/* value (taken) as JSON text; NULL = out of memory. */
static int annotate(json_t *doc, const char *key, json_t *value)
{
        AUTO_JSON json_t *taken UNUSED = value;
        AUTO_FREE char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
        json_t *annotations = doc_get_object(doc, "metadata.annotations");
        if (!text)
                return ERR_NO_MEMORY;
        if (!annotations && doc_set(doc, "metadata.annotations", annotations = json_object()) < 0)
                return ERR_NO_MEMORY;
        return json_object_set_new(annotations, key, json_string(text)) < 0 ? ERR_NO_MEMORY : 0;
}

/* The document in an annotation, which is taken out; NULL if there is none that can be read. */
static json_t *take_annotation(json_t *doc, const char *key)
{
        json_t *annotations = doc_get_object(doc, "metadata.annotations");
        const char *text = json_string_value(json_object_get(annotations, key));
        json_t *value = NULL;
        if (text && doc_parse(slice_of(text), &value, NULL) < 0)
                value = NULL;
        json_object_del(annotations, key);
        if (annotations && json_object_size(annotations) == 0)
                json_object_del(doc_get_object(doc, "metadata"), "annotations");
        return value;
}

/* ---- both ways ---- */

static int metrics_to_v1(json_t *doc)
{
        AUTO_JSON json_t *others = json_array();
        bool found = false;
        size_t i;
        json_t *m;
        json_array_foreach(doc_get_array(doc, "spec.metrics"), i, m) {
                bool first_cpu = !found && is_cpu(m);
                if (first_cpu && doc_set_int(doc, "spec.targetCPUUtilizationPercentage",
                                             doc_get_int(m, "resource.target.averageUtilization", 0)) < 0)
                        return ERR_NO_MEMORY;
                found = found || first_cpu;
                json_t *other = first_cpu ? NULL : metric_to_v1(m);
                if (other && json_array_append_new(others, other) < 0)
                        return ERR_NO_MEMORY;
        }
        return json_array_size(others) ? annotate(doc, METRICS, json_incref(others)) : 0;
}

static int to_v1(json_t *doc)
{
        const json_t *behavior = doc_get_object(doc, "spec.behavior"),
                     *conditions = doc_get_array(doc, "status.conditions");
        TRY(metrics_to_v1(doc));
        if (behavior)
                TRY(annotate(doc, BEHAVIOR, with_case(behavior, true)));
        return json_array_size(conditions) ? annotate(doc, CONDITIONS, doc_copy(conditions)) : 0;
}

static int metrics_to_v2(json_t *doc)
{
        AUTO_JSON json_t *others = take_annotation(doc, METRICS), *metrics = json_array();
        int64_t percent = doc_get_int(doc, "spec.targetCPUUtilizationPercentage", -1);
        size_t i;
        json_t *m;
        json_array_foreach(others, i, m) {
                json_t *metric = metric_to_v2(m);
                if (metric && json_array_append_new(metrics, metric) < 0)
                        return ERR_NO_MEMORY;
        }
        if (percent < 0 && json_array_size(metrics) == 0)
                percent = CPU_DEFAULT;
        if (percent >= 0 &&
            json_array_append_new(metrics,
                                  json_pack("{s:s,s:{s:s,s:{s:s,s:I}}}", "type", "Resource", "resource",
                                            "name", "cpu", "target", "type", "Utilization",
                                            "averageUtilization", (json_int_t)percent)) < 0)
                return ERR_NO_MEMORY;
        return doc_set(doc, "spec.metrics", json_incref(metrics));
}

static int to_v2(json_t *doc)
{
        AUTO_JSON json_t *behavior = take_annotation(doc, BEHAVIOR),
                         *conditions = take_annotation(doc, CONDITIONS),
                         *current UNUSED = take_annotation(doc, CURRENT);
        TRY(metrics_to_v2(doc));
        if (json_is_object(behavior))
                TRY(doc_set(doc, "spec.behavior", with_case(behavior, false)));
        return json_is_array(conditions) ? doc_set(doc, "status.conditions", json_incref(conditions)) : 0;
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
