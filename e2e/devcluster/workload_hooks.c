/* Deployments and their like, jobs and pods as resources: fields the server fills in, and the mistakes people
 * make. */
#include "e2e/devcluster/builtin/defaults.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/rest_write.h"

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

/* ---- containers ---- */

static int add_at(struct request *rq, struct schema_problems *p, const char *reason, const char *list,
                  size_t i, const char *field, const char *message)
{
        const char *path = arena_printf(rq->arena, "%s[%zu].%s", list, i, field);
        return path ? problem_add(p, reason, path, "%s", message) : ERR_NO_MEMORY;
}

static int validate_name(struct request *rq, const json_t *containers, const char *list, size_t i,
                         struct schema_problems *p)
{
        const char *name = text_at(json_array_get(containers, i), "name");
        if (!*name)
                return add_at(rq, p, "FieldValueRequired", list, i, "name", "Required value");
        if (!text_is_dns1123_label(name))
                return add_at(
                        rq, p, "FieldValueInvalid", list, i, "name",
                        arena_printf(
                                rq->arena,
                                "Invalid value: \"%s\": a lowercase RFC 1123 label must consist of lower "
                                "case "
                                "alphanumeric characters or '-', and must start and end with an alphanumeric "
                                "character (e.g. 'my-name',  or '123-abc', regex used for validation is "
                                "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
                                name));
        for (size_t k = 0; k < i; k++)
                if (strcmp(text_at(json_array_get(containers, k), "name"), name) == 0)
                        return add_at(rq, p, "FieldValueDuplicate", list, i, "name",
                                      arena_printf(rq->arena, "Duplicate value: \"%s\"", name));
        return 0;
}

static int validate_ports(struct request *rq, const json_t *ports, const char *list, size_t i,
                          struct schema_problems *p)
{
        size_t k;
        json_t *port;
        json_array_foreach(ports, k, port) {
                int64_t n = doc_get_int(port, "containerPort", 0);
                const char *field = arena_printf(rq->arena, "ports[%zu].containerPort", k);
                if (!field)
                        return ERR_NO_MEMORY;
                if (!json_object_get(port, "containerPort"))
                        TRY(add_at(rq, p, "FieldValueRequired", list, i, field, "Required value"));
                else if (n < 1 || n > 65535)
                        TRY(add_at(rq, p, "FieldValueInvalid", list, i, field,
                                   arena_printf(rq->arena,
                                                "Invalid value: %lld: must be between 1 and 65535, inclusive",
                                                (long long)n)));
        }
        return 0;
}

static int validate_containers(struct request *rq, const json_t *containers, const char *list,
                               struct schema_problems *p)
{
        size_t i;
        json_t *c;
        json_array_foreach(containers, i, c) {
                TRY(validate_name(rq, containers, list, i, p));
                if (!*text_at(c, "image"))
                        TRY(add_at(rq, p, "FieldValueRequired", list, i, "image", "Required value"));
                TRY(validate_ports(rq, json_object_get(c, "ports"), list, i, p));
        }
        return 0;
}

static bool has_volume(const json_t *spec, const char *name)
{
        size_t i;
        json_t *v;
        json_array_foreach(doc_get_array(spec, "volumes"), i, v)
                if (strcmp(text_at(v, "name"), name) == 0)
                        return true;
        return false;
}

static int validate_mounts(struct request *rq, const json_t *doc, const json_t *spec, const char *list,
                           struct schema_problems *p)
{
        size_t i, k;
        json_t *c, *m;
        bool claims = json_array_size(doc_get_array(doc, "spec.volumeClaimTemplates")) > 0;
        json_array_foreach(doc_get_array(spec, "containers"), i, c)
                json_array_foreach(doc_get_array(c, "volumeMounts"), k, m) {
                        const char *name = text_at(m, "name");
                        if (claims || has_volume(spec, name))
                                continue;
                        TRY(add_at(rq, p, "FieldValueNotFound", list, i,
                                   arena_printf(rq->arena, "volumeMounts[%zu].name", k),
                                   arena_printf(rq->arena, "Not found: \"%s\"", name)));
                }
        return 0;
}

int pod_validate_spec(struct request *rq, const json_t *doc, const json_t *spec, const char *path,
                      struct schema_problems *p)
{
        const char *containers = arena_printf(rq->arena, "%s.containers", path);
        const char *init = arena_printf(rq->arena, "%s.initContainers", path);
        if (!containers || !init)
                return ERR_NO_MEMORY;
        if (json_array_size(doc_get_array(spec, "containers")) == 0)
                TRY(problem_add(p, "FieldValueRequired", containers, "Required value"));
        TRY(validate_containers(rq, doc_get_array(spec, "initContainers"), init, p));
        TRY(validate_containers(rq, doc_get_array(spec, "containers"), containers, p));
        return validate_mounts(rq, doc, spec, containers, p);
}

/* ---- selectors ---- */

static bool label_matches(const json_t *labels, const char *key, const json_t *value)
{
        return text_equal(json_string_value(json_object_get(labels, key)), json_string_value(value));
}

static bool in_values(const json_t *values, const char *s)
{
        size_t i;
        json_t *v;
        json_array_foreach(values, i, v)
                if (text_equal(json_string_value(v), s))
                        return true;
        return false;
}

static bool expression_matches(const json_t *e, const json_t *labels)
{
        const char *op = text_at(e, "operator");
        const char *value = json_string_value(json_object_get(labels, text_at(e, "key")));
        if (strcmp(op, "Exists") == 0)
                return value;
        if (strcmp(op, "DoesNotExist") == 0)
                return !value;
        bool in = value && in_values(json_object_get(e, "values"), value);
        return strcmp(op, "NotIn") == 0 ? !in : in;
}

static bool selector_matches_labels(const json_t *selector, const json_t *labels)
{
        const char *key;
        size_t i;
        json_t *v;
        json_object_foreach((json_t *)doc_get_object(selector, "matchLabels"), key, v)
                if (!label_matches(labels, key, v))
                        return false;
        json_array_foreach(doc_get_array(selector, "matchExpressions"), i, v)
                if (!expression_matches(v, labels))
                        return false;
        return true;
}

/* A map as kube-apiserver shows it in a message: {"a":"b"}, or null. */
static int write_labels(const json_t *labels, struct buf *b)
{
        const char *key;
        json_t *v;
        bool first = true;
        if (!labels)
                return buf_append_str(b, "null");
        TRY(buf_append_char(b, '{'));
        json_object_foreach((json_t *)labels, key, v) {
                TRY(buf_printf(b, "%s\"%s\":\"%s\"", first ? "" : ",", key, json_string_value(v)));
                first = false;
        }
        return buf_append_char(b, '}');
}

static int validate_selector(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        const json_t *selector = doc_get_object(doc, "spec.selector");
        const json_t *labels = doc_get_object(doc, "spec.template.metadata.labels");
        AUTO_BUF struct buf text;
        buf_init(&text, 64u << 10);
        if (!selector)
                return problem_add(p, "FieldValueRequired", "spec.selector", "Required value");
        if (json_object_size(selector) == 0)
                return problem_add(p, "FieldValueInvalid", "spec.selector",
                                   "Invalid value: {}: empty selector is invalid for deployment");
        if (!selector_matches_labels(selector, labels)) {
                TRY(write_labels(labels, &text));
                TRY(problem_add(p, "FieldValueInvalid", "spec.template.metadata.labels",
                                "Invalid value: %s: `selector` does not match template `labels`", text.data));
        }
        const json_t *before = doc_get_object(live, "spec.selector");
        if (!before || doc_equal(before, selector))
                return 0;
        buf_clear(&text);
        TRY(doc_write(selector, &text));
        return problem_add(p, "FieldValueInvalid", "spec.selector", "Invalid value: %s: field is immutable",
                           text.data);
}

/* ---- workloads ---- */

static int validate_not_negative(const json_t *doc, const char *path, struct schema_problems *p)
{
        int64_t n = doc_get_int(doc, path, 0);
        if (n >= 0)
                return 0;
        return problem_add(p, "FieldValueInvalid", path,
                           "Invalid value: %lld: must be greater than or equal to 0", (long long)n);
}

/* Only replicas, template and the like of a stateful set may change. */
static int validate_stateful_update(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        static const char *const fixed[] = { "serviceName", "podManagementPolicy", "volumeClaimTemplates",
                                             "selector" };
        for (size_t i = 0; live && i < ARRAY_LEN(fixed); i++) {
                const json_t *a = json_object_get(doc_get(live, "spec"), fixed[i]);
                const json_t *b = json_object_get(doc_get(doc, "spec"), fixed[i]);
                if ((a || b) && (!a || !b || !doc_equal(a, b)))
                        return problem_add(
                                p, "FieldValueForbidden", "spec",
                                "Forbidden: updates to statefulset spec for fields other than 'replicas', "
                                "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
                                "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
        }
        return 0;
}

static int validate_job(const json_t *doc, struct schema_problems *p)
{
        static const char *const counts[] = { "spec.parallelism", "spec.completions", "spec.backoffLimit" };
        const char *restart = text_at(doc, "spec.template.spec.restartPolicy");
        for (size_t i = 0; i < ARRAY_LEN(counts); i++)
                TRY(validate_not_negative(doc, counts[i], p));
        if (strcmp(restart, "OnFailure") != 0 && strcmp(restart, "Never") != 0)
                TRY(problem_add(p, "FieldValueNotSupported", "spec.template.spec.restartPolicy",
                                "Unsupported value: \"%s\": supported values: \"OnFailure\", \"Never\"",
                                restart));
        return 0;
}

static int validate_cron_job(const json_t *doc, struct schema_problems *p)
{
        if (!*text_at(doc, "spec.schedule"))
                return problem_add(p, "FieldValueRequired", "spec.schedule", "Required value");
        return 0;
}

static int validate_workload(struct request *rq, const json_t *live, const json_t *doc,
                             struct schema_problems *p)
{
        const char *kind = rq->resource->kind;
        if (text_equal(rq->subresource, "status"))
                return 0;
        if (strcmp(kind, "CronJob") == 0) {
                TRY(validate_cron_job(doc, p));
                return pod_validate_spec(rq, doc, doc_get(doc, "spec.jobTemplate.spec.template.spec"),
                                         "spec.jobTemplate.spec.template.spec", p);
        }
        if (strcmp(kind, "Job") == 0)
                TRY(validate_job(doc, p));
        else
                TRY(validate_not_negative(doc, "spec.replicas", p));
        if (strcmp(kind, "StatefulSet") == 0)
                TRY(validate_stateful_update(live, doc, p));
        if (strcmp(rq->resource->group, "apps") == 0)
                TRY(validate_selector(strcmp(kind, "StatefulSet") == 0 ? NULL : live, doc, p));
        return pod_validate_spec(rq, doc, doc_get(doc, "spec.template.spec"), "spec.template.spec", p);
}

/* A job finds its pods by its uid, unless it says that it knows better. */
static int select_job_pods(json_t *doc)
{
        static const char *const by_uid[] = { "batch.kubernetes.io/controller-uid", "controller-uid" };
        static const char *const by_name[] = { "batch.kubernetes.io/job-name", "job-name" };
        if (doc_get_bool(doc, "spec.manualSelector", false) || !doc_get_object(doc, "spec.template"))
                return 0;
        if (!doc_get_object(doc, "spec.template.metadata.labels"))
                TRY(doc_set(doc, "spec.template.metadata.labels", json_object()));
        json_t *labels = doc_get_object(doc, "spec.template.metadata.labels");
        for (size_t i = 0; i < 2; i++)
                if (json_object_set_new(labels, by_uid[i], json_string(meta_uid(doc))) < 0 ||
                    json_object_set_new(labels, by_name[i], json_string(meta_name(doc))) < 0)
                        return ERR_NO_MEMORY;
        return doc_set(doc, "spec.selector", json_pack("{s:{s:s}}", "matchLabels", by_uid[0], meta_uid(doc)));
}

/* A job without labels has those of its pods. */
static int label_job(json_t *doc)
{
        const json_t *labels = doc_get_object(doc, "spec.template.metadata.labels");
        if (!labels || json_object_size(doc_get_object(doc, "metadata.labels")) > 0)
                return 0;
        return doc_set(doc, "metadata.labels", doc_copy(labels));
}

/* How often the template of a daemon set changed: a field of old versions, kept as an annotation. */
static int count_template(const json_t *live, json_t *doc)
{
        static const char *const key[] = { "metadata", "annotations",
                                           "deprecated.daemonset.template.generation" };
        const char *before = json_string_value(doc_get_keys(live, key, 3));
        bool same = doc_equal(doc_get(live, "spec.template"), doc_get(doc, "spec.template"));
        int64_t n = 0;
        char text[32];
        if (before)
                (void)text_parse_i64(before, &n);
        snprintf(text, sizeof(text), "%lld", (long long)(same ? n : n + 1));
        return json_object_set_new(doc_get_object(doc, "metadata.annotations"), key[2], json_string(text)) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

static int prepare_workload(struct request *rq, const json_t *live, json_t *doc)
{
        bool job = strcmp(rq->resource->kind, "Job") == 0;
        if (builtin_set_defaults(rq->resource->group, rq->resource->kind, doc) < 0)
                return request_fail_memory(rq);
        if (job && !live && (select_job_pods(doc) < 0 || label_job(doc) < 0))
                return request_fail_memory(rq);
        if (live && strcmp(rq->resource->kind, "DaemonSet") == 0 && count_template(live, doc) < 0)
                return request_fail_memory(rq);
        const json_t *selector = doc_get_object(live, "spec.selector");
        if (job && selector && !doc_get(doc, "spec.selector") &&
            doc_set(doc, "spec.selector", doc_copy(selector)) < 0)
                return request_fail_memory(rq);
        return 0;
}

static const char *job_field(const json_t *doc, const char *path, struct arena *a)
{
        if (strcmp(path, "status.successful") != 0)
                return NULL;
        const char *text = arena_printf(a, "%lld", (long long)(doc ? doc_get_int(doc, path, 0) : 0));
        return text ? text : "";
}

const struct resource_hooks workload_hooks = { .prepare = prepare_workload, .validate = validate_workload };
const struct resource_hooks job_hooks = { .prepare = prepare_workload,
                                          .validate = validate_workload,
                                          .field = job_field };
