/* What limits, scales and admits other objects, volumes, and events. */
#include "common/base/memory.h"
#include "common/json/quantity.h"
#include "e2e/devcluster/builtin/checks.h"

/* ---- quotas ---- */

static bool is_counted(const char *name)
{
        static const char *const names[] = {
                "cpu",
                "memory",
                "ephemeral-storage",
                "requests.cpu",
                "requests.memory",
                "requests.storage",
                "requests.ephemeral-storage",
                "limits.cpu",
                "limits.memory",
                "limits.ephemeral-storage",
                "pods",
                "resourcequotas",
                "services",
                "replicationcontrollers",
                "secrets",
                "persistentvolumeclaims",
                "configmaps",
                "services.nodeports",
                "services.loadbalancers",
        };

        return strchr(name, '/') || text_starts_with(name, "requests.hugepages-") ||
               text_starts_with(name, "hugepages-") || text_in(name, names, ARRAY_LEN(names));
}

int check_quota(const json_t *doc, struct schema_problems *p)
{
        const char *key;
        json_t *v;
        struct quantity q;

        json_object_foreach(doc_get_object(doc, "spec.hard"), key, v) {
                const char *path = arena_printf(p->arena, "spec.hard[%s]", key);

                if (!path)
                        return ERR_NO_MEMORY;
                if (!is_counted(key)) {
                        TRY(problem_add(p, "FieldValueInvalid", path,
                                        "Invalid value: \"%s\": must be a standard resource type or fully "
                                        "qualified",
                                        key));
                        TRY(problem_add(p, "FieldValueInvalid", path,
                                        "Invalid value: \"%s\": must be a standard resource for quota", key));
                }
                if (check_amount(v, &q) && q.nano < 0)
                        TRY(problem_add(p, "FieldValueInvalid", path,
                                        "Invalid value: \"%s\": must be greater than or equal to 0",
                                        json_is_string(v) ? json_string_value(v) : ""));
        }
        return 0;
}

/* ---- limit ranges ---- */

/* Two amounts of one limit, of which the first may not be more than the second. */
struct order {
        const char *less, *more; /* members of the limit */
        const char *at;          /* the member the problem is told of */
        bool value_is_less;      /* whose value is shown */
        const char *less_word, *more_word;
};

static const struct order orders[] = {
        { "min", "max", "min", true, "min value", "max value" },
        { "min", "defaultRequest", "defaultRequest", false, "min value", "default request value" },
        { "defaultRequest", "max", "defaultRequest", true, "default request value", "max value" },
        { "defaultRequest", "default", "defaultRequest", true, "default request value",
          "default limit value" },
        { "min", "default", "default", true, "min value", "default value" },
        { "default", "max", "default", true, "default value", "max value" },
};

static int check_order(const json_t *limit, size_t i, const struct order *o, struct schema_problems *p)
{
        const json_t *more = doc_get_object(limit, o->more);
        const char *key;
        json_t *v;

        json_object_foreach(doc_get_object(limit, o->less), key, v) {
                struct quantity a, b;
                char less[64], most[64];

                if (!check_amount(v, &a) || !check_amount(json_object_get(more, key), &b) ||
                    quantity_compare(a, b) <= 0)
                        continue;
                quantity_print(a, less);
                quantity_print(b, most);
                TRY(problem_at(p, "FieldValueInvalid",
                               arena_printf(p->arena, "Invalid value: \"%s\": %s %s is greater than %s %s",
                                            o->value_is_less ? less : most, o->less_word, less, o->more_word,
                                            most),
                               "spec.limits[%zu].%s[%s]", i, o->at, key));
        }
        return 0;
}

int check_limit_range(const json_t *doc, struct schema_problems *p)
{
        size_t i, k;
        json_t *limit;

        json_array_foreach(doc_get_array(doc, "spec.limits"), i, limit)
                for (k = 0; k < ARRAY_LEN(orders); k++)
                        TRY(check_order(limit, i, &orders[k], p));
        return 0;
}

/* ---- budgets and autoscalers ---- */

int check_budget(const json_t *doc, struct schema_problems *p)
{
        const json_t *least = doc_get(doc, "spec.minAvailable"), *most = doc_get(doc, "spec.maxUnavailable");
        const char *percent = json_string_value(least);
        int64_t n;

        TRY(check_label_selector(doc_get_object(doc, "spec.selector"), "spec.selector", NULL, p));
        if (json_is_integer(least) && json_is_integer(most) && !doc_get(doc, "spec.selector"))
                return problem_add(
                        p, "FieldValueInvalid", "spec",
                        "Invalid value: {\"MinAvailable\":%lld,\"Selector\":null,\"MaxUnavailable\":%lld,"
                        "\"UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot be "
                        "both set",
                        (long long)json_integer_value(least), (long long)json_integer_value(most));
        if (least && most)
                return problem_add(p, "FieldValueInvalid", "spec",
                                   "Invalid value: minAvailable and maxUnavailable cannot be both set");
        if (percent && text_ends_with(percent, "%") &&
            slice_parse_i64((struct slice){ percent, strlen(percent) - 1 }, &n) && n > 100)
                return problem_add(p, "FieldValueInvalid", "spec.minAvailable",
                                   "Invalid value: \"%s\": must not be greater than 100%%", percent);
        return 0;
}

static int check_target(const json_t *doc, struct schema_problems *p)
{
        static const char *const needed[] = { "kind", "name" };
        const json_t *target = doc_get_object(doc, "spec.scaleTargetRef");

        for (size_t i = 0; i < ARRAY_LEN(needed); i++)
                if (!*check_text(target, needed[i]))
                        TRY(problem_at(p, "FieldValueRequired", "Required value", "spec.scaleTargetRef.%s",
                                       needed[i]));
        if (*check_text(target, "apiVersion"))
                return 0;
        return problem_add(p, "FieldValueInvalid", "spec.scaleTargetRef.apiVersion",
                           "Invalid value: \"\": apiVersion must specify API group");
}

static int check_metric(const json_t *metric, size_t i, struct schema_problems *p)
{
        static const struct {
                const char *type, *member;
        } sources[] = { { "ContainerResource", "containerResource" },
                        { "External", "external" },
                        { "Object", "object" },
                        { "Pods", "pods" },
                        { "Resource", "resource" } };
        const char *type = check_text(metric, "type");

        for (size_t k = 0; k < ARRAY_LEN(sources); k++)
                if (strcmp(sources[k].type, type) == 0)
                        return doc_get_object(metric, sources[k].member)
                                       ? 0
                                       : problem_at(p, "FieldValueRequired",
                                                    "Required value: must populate information for the given "
                                                    "metric source",
                                                    "spec.metrics[%zu].%s", i, sources[k].member);
        return problem_at(p, "FieldValueNotSupported",
                          arena_printf(p->arena,
                                       "Unsupported value: \"%s\": supported values: \"ContainerResource\", "
                                       "\"External\", \"Object\", \"Pods\", \"Resource\"",
                                       type),
                          "spec.metrics[%zu].type", i);
}

int check_autoscaler(const json_t *doc, struct schema_problems *p)
{
        int64_t most = doc_get_int(doc, "spec.maxReplicas", 0),
                least = doc_get_int(doc, "spec.minReplicas", 1);
        size_t i;
        json_t *metric;

        if (least < 1)
                TRY(problem_add(p, "FieldValueInvalid", "spec.minReplicas",
                                "Invalid value: %lld: must be greater than or equal to 1", (long long)least));
        if (most < 1)
                TRY(problem_add(p, "FieldValueRequired", "spec.maxReplicas",
                                "Required value: must be set and greater than 0"));
        if (most < least)
                TRY(problem_add(p, "FieldValueInvalid", "spec.maxReplicas",
                                "Invalid value: %lld: must be greater than or equal to `minReplicas`",
                                (long long)most));
        TRY(check_target(doc, p));
        json_array_foreach(doc_get_array(doc, "spec.metrics"), i, metric)
                TRY(check_metric(metric, i, p));
        return 0;
}

/* ---- volumes ---- */

static bool has_source(const json_t *spec)
{
        static const char *const sources[] = {
                "awsElasticBlockStore",
                "azureDisk",
                "azureFile",
                "cephfs",
                "cinder",
                "csi",
                "fc",
                "flexVolume",
                "flocker",
                "gcePersistentDisk",
                "glusterfs",
                "hostPath",
                "iscsi",
                "local",
                "nfs",
                "photonPersistentDisk",
                "portworxVolume",
                "quobyte",
                "rbd",
                "scaleIO",
                "storageos",
                "vsphereVolume",
        };

        for (size_t i = 0; i < ARRAY_LEN(sources); i++)
                if (doc_get_object(spec, sources[i]))
                        return true;
        return false;
}

int check_volume(const json_t *doc, struct schema_problems *p)
{
        const json_t *spec = doc_get_object(doc, "spec"), *capacity = doc_get_object(spec, "capacity");

        if (json_array_size(doc_get_array(spec, "accessModes")) == 0)
                TRY(problem_add(p, "FieldValueRequired", "spec.accessModes", "Required value"));
        if (json_object_size(capacity) == 0) {
                TRY(problem_add(p, "FieldValueRequired", "spec.capacity", "Required value"));
                TRY(problem_add(p, "FieldValueNotSupported", "spec.capacity",
                                "Unsupported value: null: supported values: \"storage\""));
        }
        return has_source(spec) ? 0
                                : problem_add(p, "FieldValueRequired", "spec",
                                              "Required value: must specify a volume type");
}

/* ---- webhooks ---- */

static bool knows_version(const json_t *hook)
{
        size_t i;
        json_t *v;

        json_array_foreach(doc_get_array(hook, "admissionReviewVersions"), i, v)
                if (text_equal(json_string_value(v), "v1") || text_equal(json_string_value(v), "v1beta1"))
                        return true;
        return false;
}

static size_t count_segments(const char *name)
{
        size_t n = 1;

        for (; *name; name++)
                n += *name == '.';
        return n;
}

static int check_webhook(const json_t *hook, size_t i, struct schema_problems *p)
{
        const char *name = check_text(hook, "name"), *effects = check_text(hook, "sideEffects");
        const json_t *versions = doc_get_array(hook, "admissionReviewVersions");
        AUTO_FREE char *text = json_dumps(versions, JSON_COMPACT);

        if (*name && count_segments(name) < 3)
                TRY(problem_at(p, "FieldValueInvalid",
                               arena_printf(p->arena,
                                            "Invalid value: \"%s\": should be a domain with at least three "
                                            "segments separated by dots",
                                            name),
                               "webhooks[%zu].name", i));
        if (*effects && strcmp(effects, "None") != 0 && strcmp(effects, "NoneOnDryRun") != 0)
                TRY(problem_at(p, "FieldValueNotSupported",
                               arena_printf(p->arena,
                                            "Unsupported value: \"%s\": supported values: \"None\", "
                                            "\"NoneOnDryRun\"",
                                            effects),
                               "webhooks[%zu].sideEffects", i));
        if (!doc_get(hook, "clientConfig.url") == !doc_get(hook, "clientConfig.service"))
                TRY(problem_at(p, "FieldValueRequired",
                               "Required value: exactly one of url or service is required",
                               "webhooks[%zu].clientConfig", i));
        if (json_array_size(versions) == 0 || knows_version(hook))
                return 0;
        return problem_at(p, "FieldValueInvalid",
                          arena_printf(p->arena,
                                       "Invalid value: %s: must include at least one of v1, v1beta1",
                                       text ? text : "[]"),
                          "webhooks[%zu].admissionReviewVersions", i);
}

int check_webhooks(const json_t *doc, struct schema_problems *p)
{
        size_t i;
        json_t *hook;

        json_array_foreach(doc_get_array(doc, "webhooks"), i, hook)
                TRY(check_webhook(hook, i, p));
        return 0;
}

/* ---- events of events.k8s.io ---- */

int check_new_event(const json_t *doc, struct schema_problems *p)
{
        static const char *const needed[] = { "reportingController", "reportingInstance", "action",
                                              "reason" };
        const char *type = check_text(doc, "type");
        bool timed = *check_text(doc, "eventTime");

        for (size_t i = 0; timed && i < ARRAY_LEN(needed); i++)
                if (!*check_text(doc, needed[i]))
                        TRY(problem_add(p, "FieldValueRequired", needed[i], "Required value"));
        if (strcmp(type, "Normal") == 0 || strcmp(type, "Warning") == 0)
                return 0;
        return problem_add(p, "FieldValueInvalid", "type", "Invalid value: \"%s\": has invalid value: %s",
                           type, type);
}
