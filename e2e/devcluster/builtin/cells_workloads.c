/* How kubectl shows pods, what makes pods, and what scales and guards them. */
#include "common/base/timefmt.h"
#include "e2e/devcluster/builtin/cells_internal.h"

#define SHOWN_METRICS 2

static const char *pod_reason(const json_t *doc)
{
        const char *reason = doc_get_string(doc, "status.reason"),
                   *phase = doc_get_string(doc, "status.phase");
        json_t *status;
        size_t i;

        json_array_foreach(doc_get_array(doc, "status.containerStatuses"), i, status) {
                const char *waiting = doc_get_string(status, "state.waiting.reason");
                const char *ended = doc_get_string(status, "state.terminated.reason");

                if (waiting || ended)
                        return waiting ? waiting : ended;
        }
        if (doc_get(doc, "metadata.deletionTimestamp"))
                return "Terminating";
        return reason ? reason : phase ? phase : "Unknown";
}

static void print_pod_ready(struct cell *c)
{
        size_t total = json_array_size(doc_get_array(c->doc, "spec.containers")), ready = 0, i;
        json_t *status;

        json_array_foreach(doc_get_array(c->doc, "status.containerStatuses"), i, status)
                ready += doc_get_bool(status, "ready", false);
        buf_printf(c->out, "%zu/%zu", ready, total);
}

static void print_pod_status(struct cell *c)
{
        buf_append_str(c->out, pod_reason(c->doc));
}

static void print_pod_restarts(struct cell *c)
{
        int64_t restarts = 0;
        json_t *status;
        size_t i;

        json_array_foreach(doc_get_array(c->doc, "status.containerStatuses"), i, status)
                restarts += doc_get_int(status, "restartCount", 0);
        buf_printf(c->out, "%lld", (long long)restarts);
}

static void print_readiness_gates(struct cell *c)
{
        buf_append_str(c->out, "<none>");
}

static void print_deployment_ready(struct cell *c)
{
        buf_printf(c->out, "%lld/%lld", (long long)cell_number(c, "status.readyReplicas", 0),
                   (long long)cell_number(c, "spec.replicas", 1));
}

static void print_containers(struct cell *c)
{
        cell_print_joined(c->out, doc_get_array(c->doc, "spec.template.spec.containers"), ",", "name");
}

static void print_images(struct cell *c)
{
        cell_print_joined(c->out, doc_get_array(c->doc, "spec.template.spec.containers"), ",", "image");
}

static void print_job_containers(struct cell *c)
{
        cell_print_joined(c->out, doc_get_array(c->doc, "spec.jobTemplate.spec.template.spec.containers"),
                          ",", "name");
}

static void print_job_images(struct cell *c)
{
        cell_print_joined(c->out, doc_get_array(c->doc, "spec.jobTemplate.spec.template.spec.containers"),
                          ",", "image");
}

static void print_job_selector(struct cell *c)
{
        cell_print_selector(c, "spec.jobTemplate.spec.selector");
}

static void print_template_containers(struct cell *c)
{
        cell_print_joined(c->out, doc_get_array(c->doc, "template.spec.containers"), ",", "name");
}

static void print_template_images(struct cell *c)
{
        cell_print_joined(c->out, doc_get_array(c->doc, "template.spec.containers"), ",", "image");
}

static void print_template_labels(struct cell *c)
{
        cell_print_map(c->out, doc_get_object(c->doc, "template.metadata.labels"));
}

static void print_spec_selector(struct cell *c)
{
        cell_print_selector(c, "spec.selector");
}

static void print_node_selector(struct cell *c)
{
        cell_print_map(c->out, doc_get_object(c->doc, "spec.template.spec.nodeSelector"));
}

static void print_job_status(struct cell *c)
{
        if (cell_has_condition(c->doc, "Complete"))
                buf_append_str(c->out, "Complete");
        else if (cell_has_condition(c->doc, "Failed"))
                buf_append_str(c->out, "Failed");
        else if (doc_get(c->doc, "metadata.deletionTimestamp"))
                buf_append_str(c->out, "Terminating");
        else
                buf_append_str(c->out, cell_has_condition(c->doc, "Suspended") ? "Suspended" : "Running");
}

static void print_job_completions(struct cell *c)
{
        long long succeeded = cell_number(c, "status.succeeded", 0);

        if (doc_get(c->doc, "spec.completions"))
                buf_printf(c->out, "%lld/%lld", succeeded, (long long)cell_number(c, "spec.completions", 1));
        else
                buf_printf(c->out, "%lld/1", succeeded);
}

static void print_job_duration(struct cell *c)
{
        int64_t begin, end = c->now_ms;
        const char *start = doc_get_string(c->doc, "status.startTime");
        const char *stop = doc_get_string(c->doc, "status.completionTime");
        char text[32];

        if (!start || time_parse_rfc3339(slice_of(start), &begin) < 0)
                return;
        if (stop && time_parse_rfc3339(slice_of(stop), &end) < 0)
                return;
        duration_format_human(end > begin ? end - begin : 0, text, sizeof(text));
        buf_append_str(c->out, text);
}

static void print_active_jobs(struct cell *c)
{
        buf_printf(c->out, "%zu", json_array_size(doc_get_array(c->doc, "status.active")));
}

static void print_last_schedule(struct cell *c)
{
        if (doc_get(c->doc, "status.lastScheduleTime"))
                cell_print_since(c, "status.lastScheduleTime");
}

static void print_suspend(struct cell *c)
{
        buf_append_str(c->out, doc_get_bool(c->doc, "spec.suspend", false) ? "True" : "False");
}

static void print_controller(struct cell *c)
{
        json_t *owner;
        size_t i;

        json_array_foreach(doc_get_array(c->doc, "metadata.ownerReferences"), i, owner) {
                const char *kind = doc_get_string(owner, "kind"),
                           *version = doc_get_string(owner, "apiVersion"),
                           *name = doc_get_string(owner, "name"),
                           *slash = version ? strchr(version, '/') : NULL;

                if (!doc_get_bool(owner, "controller", false) || !kind || !name)
                        continue;
                for (const char *p = kind; *p; p++)
                        buf_append_char(c->out, (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p));
                if (slash)
                        buf_printf(c->out, ".%.*s", (int)(slash - version), version);
                buf_printf(c->out, "/%s", name);
        }
}

static void print_reference(struct cell *c)
{
        cell_print_path(c, "spec.scaleTargetRef.kind");
        buf_append_char(c->out, '/');
        cell_print_path(c, "spec.scaleTargetRef.name");
}

/* What a target says, and the same member of the current value: "80%", "1Gi", "1Gi (avg)". */
static void print_target(struct buf *b, const json_t *target, const json_t *current, bool say_average)
{
        static const struct {
                const char *member, *suffix;
                bool average;
        } forms[] = { { "averageUtilization", "%", false },
                      { "averageValue", "", true },
                      { "value", "", false } };

        for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
                const json_t *wanted = json_object_get(target, forms[i].member),
                             *now = json_object_get(current, forms[i].member);

                if (!wanted)
                        continue;
                if (now)
                        cell_print_value(b, now);
                buf_append_str(b, now ? forms[i].suffix : "<unknown>");
                buf_append_char(b, '/');
                cell_print_value(b, wanted);
                buf_printf(b, "%s%s", forms[i].suffix, forms[i].average && say_average ? " (avg)" : "");
                return;
        }
        buf_append_str(b, "<auto>");
}

static void print_metric(struct cell *c, const json_t *metric, const json_t *status)
{
        static const struct {
                const char *type, *member;
                bool named, say_average;
        } types[] = { { "Resource", "resource", true, false },
                      { "ContainerResource", "containerResource", true, false },
                      { "Pods", "pods", false, false },
                      { "Object", "object", false, true },
                      { "External", "external", false, true } };

        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                const json_t *source = json_object_get(metric, types[i].member),
                             *seen = json_object_get(status, types[i].member);

                if (!text_equal(doc_get_string(metric, "type"), types[i].type))
                        continue;
                if (types[i].named && doc_get_string(source, "name"))
                        buf_printf(c->out, "%s: ", doc_get_string(source, "name"));
                print_target(c->out, doc_get_object(source, "target"), doc_get_object(seen, "current"),
                             types[i].say_average);
                return;
        }
        buf_append_str(c->out, "<unknown type>");
}

/* "cpu: 20%/80%, 1/10 + 2 more..." */
static void print_targets(struct cell *c)
{
        const json_t *metrics = doc_get_array(c->doc, "spec.metrics"),
                     *statuses = doc_get_array(c->doc, "status.currentMetrics");
        size_t n = json_array_size(metrics);

        int64_t cpu = cell_number(c, "spec.targetCPUUtilizationPercentage", -1); /* autoscaling/v1 */

        if (cpu >= 0)
                buf_printf(c->out, "cpu: <unknown>/%lld%%", (long long)cpu);
        for (size_t i = 0; i < n && i < SHOWN_METRICS; i++) {
                buf_append_str(c->out, i ? ", " : "");
                print_metric(c, json_array_get(metrics, i), json_array_get(statuses, i));
        }
        if (n > SHOWN_METRICS)
                buf_printf(c->out, " + %zu more...", n - SHOWN_METRICS);
}

static const struct column pod_columns[] = {
        NAME_COLUMN,
        { .name = "Ready", .print = print_pod_ready },
        { .name = "Status", .print = print_pod_status },
        { .name = "Restarts", .print = print_pod_restarts },
        AGE_COLUMN,
        { .name = "IP", .path = "status.podIP", NONE, WIDE },
        { .name = "Node", .path = "spec.nodeName", NONE, WIDE },
        { .name = "Nominated Node", .path = "status.nominatedNodeName", NONE, WIDE },
        { .name = "Readiness Gates", .print = print_readiness_gates, WIDE },
};
static const struct column deployment_columns[] = {
        NAME_COLUMN,
        { .name = "Ready", .print = print_deployment_ready },
        { .name = "Up-to-date", .path = "status.updatedReplicas", .number = true, .type = "string" },
        { .name = "Available", .path = "status.availableReplicas", .number = true, .type = "string" },
        AGE_COLUMN,
        { .name = "Containers", .print = print_containers, WIDE },
        { .name = "Images", .print = print_images, WIDE },
        { .name = "Selector", .print = print_spec_selector, WIDE },
};
static const struct column replica_set_columns[] = {
        NAME_COLUMN,
        { .name = "Desired", .path = "spec.replicas", .number = true },
        { .name = "Current", .path = "status.replicas", .number = true },
        { .name = "Ready", .path = "status.readyReplicas", .number = true },
        AGE_COLUMN,
        { .name = "Containers", .print = print_containers, WIDE },
        { .name = "Images", .print = print_images, WIDE },
        { .name = "Selector", .print = print_spec_selector, WIDE },
};
static const struct column stateful_set_columns[] = {
        NAME_COLUMN,
        { .name = "Ready", .print = print_deployment_ready },
        AGE_COLUMN,
        { .name = "Containers", .print = print_containers, WIDE },
        { .name = "Images", .print = print_images, WIDE },
};
static const struct column daemon_set_columns[] = {
        NAME_COLUMN,
        { .name = "Desired", .path = "status.desiredNumberScheduled", .number = true },
        { .name = "Current", .path = "status.currentNumberScheduled", .number = true },
        { .name = "Ready", .path = "status.numberReady", .number = true },
        { .name = "Up-to-date", .path = "status.updatedNumberScheduled", .number = true },
        { .name = "Available", .path = "status.numberAvailable", .number = true },
        { .name = "Node Selector", .print = print_node_selector, NONE },
        AGE_COLUMN,
        { .name = "Containers", .print = print_containers, WIDE },
        { .name = "Images", .print = print_images, WIDE },
        { .name = "Selector", .print = print_spec_selector, WIDE },
};
static const struct column job_columns[] = {
        NAME_COLUMN,
        { .name = "Status", .print = print_job_status },
        { .name = "Completions", .print = print_job_completions },
        { .name = "Duration", .print = print_job_duration },
        AGE_COLUMN,
        { .name = "Containers", .print = print_containers, WIDE },
        { .name = "Images", .print = print_images, WIDE },
        { .name = "Selector", .print = print_spec_selector, WIDE },
};
static const struct column cron_job_columns[] = {
        NAME_COLUMN,
        { .name = "Schedule", .path = "spec.schedule" },
        { .name = "Timezone", .path = "spec.timeZone", NONE },
        { .name = "Suspend", .print = print_suspend, .type = "boolean", .as_text = true },
        { .name = "Active", .print = print_active_jobs, .type = "integer" },
        { .name = "Last Schedule", .print = print_last_schedule, NONE },
        AGE_COLUMN,
        { .name = "Containers", .print = print_job_containers, WIDE },
        { .name = "Images", .print = print_job_images, WIDE },
        { .name = "Selector", .print = print_job_selector, NONE, WIDE },
};
static const struct column pod_template_columns[] = {
        NAME_COLUMN,
        { .name = "Containers", .print = print_template_containers },
        { .name = "Images", .print = print_template_images },
        { .name = "Pod Labels", .print = print_template_labels, NONE },
};
static const struct column revision_columns[] = {
        NAME_COLUMN,
        { .name = "Controller", .print = print_controller, NONE },
        { .name = "Revision", .path = "revision", .number = true, .type = "string" },
        AGE_COLUMN,
};
static const struct column autoscaler_columns[] = {
        NAME_COLUMN,
        { .name = "Reference", .print = print_reference },
        { .name = "Targets", .print = print_targets, NONE },
        { .name = "MinPods", .path = "spec.minReplicas", .fallback = "<unset>" },
        { .name = "MaxPods", .path = "spec.maxReplicas", .number = true, .type = "string" },
        { .name = "Replicas", .path = "status.currentReplicas", .number = true, .type = "string" },
        AGE_COLUMN,
};
static const struct column budget_columns[] = {
        NAME_COLUMN,
        { .name = "Min Available", .path = "spec.minAvailable", .fallback = "N/A" },
        { .name = "Max Unavailable", .path = "spec.maxUnavailable", .fallback = "N/A" },
        { .name = "Allowed Disruptions", .path = "status.disruptionsAllowed", .number = true },
        AGE_COLUMN,
};

const struct cell_table cells_workloads[] = {
        CELL_TABLE("", "Pod", pod_columns),
        CELL_TABLE("", "PodTemplate", pod_template_columns),
        CELL_TABLE("apps", "ControllerRevision", revision_columns),
        CELL_TABLE("", "ReplicationController", replica_set_columns),
        CELL_TABLE("apps", "Deployment", deployment_columns),
        CELL_TABLE("apps", "ReplicaSet", replica_set_columns),
        CELL_TABLE("apps", "StatefulSet", stateful_set_columns),
        CELL_TABLE("apps", "DaemonSet", daemon_set_columns),
        CELL_TABLE("batch", "Job", job_columns),
        CELL_TABLE("batch", "CronJob", cron_job_columns),
        CELL_TABLE("autoscaling", "HorizontalPodAutoscaler", autoscaler_columns),
        CELL_TABLE("policy", "PodDisruptionBudget", budget_columns),
};
const size_t n_cells_workloads = ARRAY_LEN(cells_workloads);
