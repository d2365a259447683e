#include "e2e/devcluster/builtin/validate.h"

#include "e2e/devcluster/builtin/checks.h"

/* ---- rules on one field each, as a table ---- */

enum rule { ONE_OF, ALL_OF, AT_LEAST_0, ABOVE_0, PORT };

struct field_rule {
        const char *group, *kind, *path; /* "spec.ports[].protocol" */
        enum rule rule;
        const char *
                values; /* ONE_OF, ALL_OF (items of a list, told of the list): as kube-apiserver lists them */
};

#define PULL "\"Always\", \"IfNotPresent\", \"Never\""
#define MESSAGE "\"File\", \"FallbackToLogsOnError\""
#define PROTOCOLS "\"SCTP\", \"TCP\", \"UDP\""
#define DNS "\"ClusterFirstWithHostNet\", \"ClusterFirst\", \"Default\", \"None\""
#define MODES "\"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\""

/* In the order in which kube-apiserver complains. */
static const struct field_rule field_rules[] = {
        { "", "Pod", "spec.containers[].ports[].protocol", ONE_OF, PROTOCOLS },
        { "", "Pod", "spec.containers[].terminationMessagePolicy", ONE_OF, MESSAGE },
        { "", "Pod", "spec.containers[].imagePullPolicy", ONE_OF, PULL },
        { "", "Pod", "spec.restartPolicy", ONE_OF, "\"Always\", \"OnFailure\", \"Never\"" },
        { "", "Pod", "spec.dnsPolicy", ONE_OF, DNS },
        { "apps", "Deployment", "spec.template.spec.restartPolicy", ONE_OF, "\"Always\"" },
        { "apps", "Deployment", "spec.replicas", AT_LEAST_0, NULL },
        { "apps", "ReplicaSet", "spec.replicas", AT_LEAST_0, NULL },
        { "apps", "ReplicaSet", "spec.minReadySeconds", AT_LEAST_0, NULL },
        { "apps", "StatefulSet", "spec.replicas", AT_LEAST_0, NULL },
        { "apps", "StatefulSet", "spec.minReadySeconds", AT_LEAST_0, NULL },
        { "apps", "StatefulSet", "spec.revisionHistoryLimit", AT_LEAST_0, NULL },
        { "apps", "DaemonSet", "spec.minReadySeconds", AT_LEAST_0, NULL },
        { "apps", "DaemonSet", "spec.revisionHistoryLimit", AT_LEAST_0, NULL },
        { "", "ReplicationController", "spec.replicas", AT_LEAST_0, NULL },
        { "", "ReplicationController", "spec.minReadySeconds", AT_LEAST_0, NULL },
        { "batch", "Job", "spec.parallelism", AT_LEAST_0, NULL },
        { "batch", "Job", "spec.completions", AT_LEAST_0, NULL },
        { "batch", "Job", "spec.backoffLimit", AT_LEAST_0, NULL },
        { "batch", "Job", "spec.activeDeadlineSeconds", AT_LEAST_0, NULL },
        { "batch", "Job", "spec.ttlSecondsAfterFinished", AT_LEAST_0, NULL },
        { "batch", "CronJob", "spec.successfulJobsHistoryLimit", AT_LEAST_0, NULL },
        { "batch", "CronJob", "spec.failedJobsHistoryLimit", AT_LEAST_0, NULL },
        { "batch", "CronJob", "spec.startingDeadlineSeconds", AT_LEAST_0, NULL },
        { "apps", "Deployment", "spec.minReadySeconds", AT_LEAST_0, NULL },
        { "apps", "Deployment", "spec.revisionHistoryLimit", AT_LEAST_0, NULL },
        { "apps", "DaemonSet", "spec.template.spec.restartPolicy", ONE_OF, "\"Always\"" },
        { "apps", "StatefulSet", "spec.template.spec.restartPolicy", ONE_OF, "\"Always\"" },
        { "apps", "ReplicaSet", "spec.template.spec.restartPolicy", ONE_OF, "\"Always\"" },
        { "batch", "CronJob", "spec.concurrencyPolicy", ONE_OF, "\"Allow\", \"Forbid\", \"Replace\"" },
        { "", "Service", "spec.ports[].protocol", ONE_OF, PROTOCOLS },
        { "", "Service", "spec.sessionAffinity", ONE_OF, "\"ClientIP\", \"None\"" },
        { "", "PersistentVolumeClaim", "spec.accessModes", ALL_OF, MODES },
        { "", "PersistentVolume", "spec.accessModes", ALL_OF, MODES },
        { "storage.k8s.io", "StorageClass", "reclaimPolicy", ONE_OF, "\"Delete\", \"Retain\"" },
        { "scheduling.k8s.io", "PriorityClass", "preemptionPolicy", ONE_OF,
          "\"PreemptLowerPriority\", \"Never\"" },
        { "coordination.k8s.io", "Lease", "spec.leaseDurationSeconds", ABOVE_0, NULL },
        { "coordination.k8s.io", "Lease", "spec.leaseTransitions", AT_LEAST_0, NULL },
        { "discovery.k8s.io", "EndpointSlice", "addressType", ONE_OF, "\"FQDN\", \"IPv4\", \"IPv6\"" },
        { "networking.k8s.io", "NetworkPolicy", "spec.ingress[].ports[].protocol", ONE_OF,
          "\"TCP\", \"UDP\", \"SCTP\"" },
        { "networking.k8s.io", "NetworkPolicy", "spec.policyTypes[]", ONE_OF, "\"Ingress\", \"Egress\"" },
        { "networking.k8s.io", "NetworkPolicy", "spec.ingress[].ports[].port", PORT, NULL },
};

static bool lists(const char *values, const char *value)
{
        char quoted[256];

        snprintf(quoted, sizeof(quoted), "\"%s\"", value);
        return strstr(values, quoted) != NULL;
}

static int check_number(const struct field_rule *r, const char *path, int64_t n, struct schema_problems *p)
{
        const char *why = r->rule == AT_LEAST_0 && n < 0            ? "must be greater than or equal to 0"
                          : r->rule == ABOVE_0 && n <= 0            ? "must be greater than 0"
                          : r->rule == PORT && (n < 1 || n > 65535) ? "must be between 1 and 65535, inclusive"
                                                                    : NULL;

        if (!why)
                return 0;
        return problem_add(p, "FieldValueInvalid", path, "Invalid value: %lld: %s", (long long)n, why);
}

static int check_rule(const struct field_rule *r, const char *path, const json_t *v,
                      struct schema_problems *p)
{
        const char *text = json_string_value(v);
        json_t *item;
        size_t i;

        if (r->rule == ALL_OF) {
                struct field_rule one = *r;

                one.rule = ONE_OF;
                json_array_foreach((json_t *)v, i, item)
                        TRY(check_rule(&one, path, item, p));
                return 0;
        }
        if (r->rule == ONE_OF && text && !lists(r->values, text))
                return problem_add(p, "FieldValueNotSupported", path,
                                   "Unsupported value: \"%s\": supported values: %s", text, r->values);
        return r->rule != ONE_OF && json_is_integer(v) ? check_number(r, path, json_integer_value(v), p) : 0;
}

/* Walks along `rest`; `path` is where we are, as errors name it. */
static int walk(const struct field_rule *r, const char *rest, const char *path, const json_t *v,
                struct schema_problems *p)
{
        size_t n = strcspn(rest, ".["), i;
        json_t *item;
        char key[64];

        if (!v)
                return 0;
        if (!*rest)
                return check_rule(r, path, v, p);
        if (*rest == '[') {
                json_array_foreach((json_t *)v, i, item) {
                        const char *at = arena_printf(p->arena, "%s[%zu]", path, i);

                        TRY(at ? walk(r, rest + 2, at, item, p) : ERR_NO_MEMORY);
                }
                return 0;
        }
        if (*rest == '.')
                return walk(r, rest + 1, path, v, p);
        snprintf(key, sizeof(key), "%.*s", (int)n, rest);
        const char *at = *path ? arena_printf(p->arena, "%s.%s", path, key) : arena_strdup(p->arena, key);
        return at ? walk(r, rest + n, at, json_object_get(v, key), p) : ERR_NO_MEMORY;
}

/* ---- configuration ---- */

#define KEY_MESSAGE                                                                                          \
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " \
        "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
#define CONFIG_MAX (1u << 20)

static int check_keys(const json_t *data, const char *field, const json_t *other, struct schema_problems *p)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)data, key, value) {
                const char *path = arena_printf(p->arena, "%s[%s]", field, key);
                bool good = *key && strlen(key) <= 253;

                for (const char *c = key; *c && good; c++)
                        good = strchr("-._", *c) || (*c >= '0' && *c <= '9') ||
                               ((*c | 32) >= 'a' && (*c | 32) <= 'z');
                if (!path)
                        return ERR_NO_MEMORY;
                if (!good)
                        TRY(problem_add(p, "FieldValueInvalid", path, "Invalid value: \"%s\": " KEY_MESSAGE,
                                        key));
                if (text_equal(key, ".") || text_equal(key, ".."))
                        TRY(problem_add(p, "FieldValueInvalid", path,
                                        "Invalid value: \"%s\": must not be '%s'", key, key));
                if (json_object_get(other, key))
                        TRY(problem_add(p, "FieldValueInvalid", path,
                                        "Invalid value: \"%s\": duplicate of key present in binaryData",
                                        key));
        }
        return 0;
}

static size_t content_size(const json_t *data, bool base64)
{
        const char *key;
        json_t *value;
        size_t sum = 0;

        json_object_foreach((json_t *)data, key, value)
                sum += base64 ? json_string_length(value) / 4 * 3 : json_string_length(value);
        return sum;
}

static int check_config_map(const json_t *doc, struct schema_problems *p)
{
        const json_t *data = json_object_get(doc, "data"), *binary = json_object_get(doc, "binaryData");

        TRY(check_keys(data, "data", binary, p));
        TRY(check_keys(binary, "binaryData", NULL, p));
        if (content_size(data, false) + content_size(binary, true) > CONFIG_MAX)
                return problem_add(p, "FieldValueTooLong", "[]", "Too long: may not be more than %u bytes",
                                   CONFIG_MAX);
        return 0;
}

static int check_secret(const json_t *doc, struct schema_problems *p)
{
        static const struct {
                const char *type, *keys[2];
                bool any; /* one of the keys is enough; both are named */
        } types[] = {
                { "kubernetes.io/tls", { "tls.crt", "tls.key" }, false },
                { "kubernetes.io/dockerconfigjson", { ".dockerconfigjson" }, false },
                { "kubernetes.io/dockercfg", { ".dockercfg" }, false },
                { "kubernetes.io/basic-auth", { "username", "password" }, true },
                { "kubernetes.io/ssh-auth", { "ssh-privatekey" }, false },
        };
        const json_t *data = json_object_get(doc, "data");
        const char *type = doc_get_string(doc, "type");

        TRY(check_keys(data, "data", NULL, p));
        if (content_size(data, true) > CONFIG_MAX)
                TRY(problem_add(p, "FieldValueTooLong", "data", "Too long: may not be more than %u bytes",
                                CONFIG_MAX));
        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                bool some = false;

                if (!text_equal(type, types[i].type))
                        continue;
                for (size_t k = 0; k < 2 && types[i].keys[k]; k++)
                        some = some || json_object_get(data, types[i].keys[k]);
                for (size_t k = 0; k < 2 && types[i].keys[k] && !(types[i].any && some); k++)
                        if (!json_object_get(data, types[i].keys[k]))
                                TRY(problem_add(p, "FieldValueRequired",
                                                arena_printf(p->arena, "data[%s]", types[i].keys[k]),
                                                "Required value"));
        }
        return 0;
}

/* ---- others ---- */

static int check_claim(const json_t *doc, struct schema_problems *p)
{
        const char *storage = doc_get_string(doc, "spec.resources.requests.storage");

        if (json_array_size(doc_get_array(doc, "spec.accessModes")) == 0)
                TRY(problem_add(p, "FieldValueRequired", "spec.accessModes",
                                "Required value: at least 1 access mode is required"));
        if (!doc_get(doc, "spec.resources.requests.storage"))
                return problem_add(p, "FieldValueRequired", "spec.resources[storage]", "Required value");
        if (storage && (*storage == '-' || text_equal(storage, "0")))
                return problem_add(p, "FieldValueInvalid", "spec.resources[storage]",
                                   "Invalid value: \"%s\": must be greater than zero", storage);
        return 0;
}

static int check_event(const json_t *doc, struct schema_problems *p)
{
        const char *about = doc_get_string(doc, "involvedObject.namespace"),
                   *own = doc_get_string(doc, "metadata.namespace");

        if (!about || text_equal(about, own))
                return 0;
        return problem_add(p, "FieldValueInvalid", "involvedObject.namespace",
                           "Invalid value: \"%s\": does not match event.namespace", about);
}

static int check_priority_class(const json_t *doc, struct schema_problems *p)
{
        const char *name = doc_get_string(doc, "metadata.name");

        if (!name || !text_starts_with(name, "system-") || text_equal(name, "system-node-critical") ||
            text_equal(name, "system-cluster-critical"))
                return 0;
        return problem_add(
                p, "FieldValueForbidden", "metadata.name",
                "Forbidden: priority class names with 'system-' prefix are reserved for system use only. "
                "error: %s is not a known system priority class",
                name);
}

static int check_slice(const json_t *doc, struct schema_problems *p)
{
        json_t *e;
        size_t i;

        json_array_foreach(doc_get_array(doc, "endpoints"), i, e)
                if (json_array_size(doc_get_array(e, "addresses")) == 0)
                        TRY(problem_add(p, "FieldValueRequired",
                                        arena_printf(p->arena, "endpoints[%zu].addresses", i),
                                        "Required value: must contain at least 1 address"));
        return 0;
}

static const struct {
        const char *group, *kind;
        int (*check)(const json_t *doc, struct schema_problems *p);
} checks[] = {
        { "", "ConfigMap", check_config_map },
        { "", "Secret", check_secret },
        { "", "PersistentVolumeClaim", check_claim },
        { "", "Event", check_event },
        { "", "Pod", check_pod },
        { "", "ReplicationController", check_replication_controller },
        { "", "ResourceQuota", check_quota },
        { "", "LimitRange", check_limit_range },
        { "", "PersistentVolume", check_volume },
        { "apps", "Deployment", check_deployment },
        { "apps", "ReplicaSet", check_replica_set },
        { "apps", "StatefulSet", check_stateful_set },
        { "apps", "DaemonSet", check_daemon_set },
        { "batch", "Job", check_job },
        { "batch", "CronJob", check_cron_job },
        { "networking.k8s.io", "Ingress", check_ingress },
        { "networking.k8s.io", "NetworkPolicy", check_network_policy },
        { "policy", "PodDisruptionBudget", check_budget },
        { "autoscaling", "HorizontalPodAutoscaler", check_autoscaler },
        { "admissionregistration.k8s.io", "ValidatingWebhookConfiguration", check_webhooks },
        { "admissionregistration.k8s.io", "MutatingWebhookConfiguration", check_webhooks },
        { "events.k8s.io", "Event", check_new_event },
        { "scheduling.k8s.io", "PriorityClass", check_priority_class },
};

int builtin_validate(const char *group, const char *kind, const json_t *doc, struct schema_problems *p)
{
        for (size_t i = 0; i < ARRAY_LEN(checks); i++)
                if (text_equal(checks[i].kind, kind) && text_equal(checks[i].group, group))
                        TRY(checks[i].check(doc, p));
        for (size_t i = 0; i < ARRAY_LEN(field_rules); i++)
                if (text_equal(field_rules[i].kind, kind) && text_equal(field_rules[i].group, group))
                        TRY(walk(&field_rules[i], field_rules[i].path, "", doc, p));
        return text_equal(kind, "EndpointSlice") ? check_slice(doc, p) : 0;
}
