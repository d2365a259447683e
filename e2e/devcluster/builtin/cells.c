/* A kind's table is a list of columns; each column says how its cell is made: a path into the object, or a
 * small function where kube-apiserver computes something. */
#include "e2e/devcluster/builtin/cells.h"

#include "common/base/timefmt.h"

#define CELL_MAX 4096

struct cell {
        const json_t *doc;
        int64_t now_ms;
        struct buf *out; /* text of the cell */
};

struct column {
        const char *name;
        int priority;
        const char *path;              /* text or number found there */
        void (*print)(struct cell *c); /* or a function */
        const char *fallback;          /* when nothing was printed; NULL = "" */
        bool number;                   /* the cell is a JSON number (0 if absent) */
        const char *type; /* as declared, which kube-apiserver does not always keep to; NULL = by cell */
        bool as_text, as_boolean, as_integer; /* the cell's own type where it is not the declared one */
        const char *format;                   /* NULL = "name" for the first column */
};

/* ---- pieces ---- */

static void print_value(struct buf *b, const json_t *v)
{
        if (json_is_string(v))
                buf_append_str(b, json_string_value(v));
        else if (json_is_integer(v))
                buf_printf(b, "%lld", (long long)json_integer_value(v));
        else if (json_is_boolean(v))
                buf_append_str(b, json_is_true(v) ? "true" : "false");
}

static void print_path(struct cell *c, const char *path)
{
        print_value(c->out, doc_get(c->doc, path));
}

static void print_since(struct cell *c, const char *path)
{
        const char *text = doc_get_string(c->doc, path);
        int64_t then;
        char age[32];

        if (!text || time_parse_rfc3339(slice_of(text), &then) < 0) {
                buf_append_str(c->out, "<unknown>");
                return;
        }
        duration_format_human(c->now_ms > then ? c->now_ms - then : 0, age, sizeof(age));
        buf_append_str(c->out, age);
}

static void print_age(struct cell *c)
{
        print_since(c, "metadata.creationTimestamp");
}

static void print_created(struct cell *c)
{
        print_path(c, "metadata.creationTimestamp");
}

static void print_joined(struct buf *b, const json_t *list, const char *separator, const char *key)
{
        const char *before = "";
        json_t *item;
        size_t i;

        json_array_foreach((json_t *)list, i, item) {
                const json_t *v = key ? doc_get(item, key) : item;

                if (!v)
                        continue;
                buf_append_str(b, before);
                print_value(b, v);
                before = separator;
        }
}

static void print_map(struct buf *b, const json_t *map)
{
        const char *key, *before = "";
        json_t *v;

        json_object_foreach((json_t *)map, key, v) {
                buf_printf(b, "%s%s=", before, key);
                print_value(b, v);
                before = ",";
        }
}

static void print_selector(struct cell *c, const char *path)
{
        print_map(c->out, doc_get_object(doc_get(c->doc, path), "matchLabels"));
}

static int64_t number(const struct cell *c, const char *path, int64_t fallback)
{
        return doc_get_int(c->doc, path, fallback);
}

/* ---- pods ---- */

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

/* ---- workloads ---- */

static void print_deployment_ready(struct cell *c)
{
        buf_printf(c->out, "%lld/%lld", (long long)number(c, "status.readyReplicas", 0),
                   (long long)number(c, "spec.replicas", 1));
}

static void print_containers(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "spec.template.spec.containers"), ",", "name");
}

static void print_images(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "spec.template.spec.containers"), ",", "image");
}

static void print_job_containers(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "spec.jobTemplate.spec.template.spec.containers"), ",",
                     "name");
}

static void print_job_images(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "spec.jobTemplate.spec.template.spec.containers"), ",",
                     "image");
}

static void print_job_selector(struct cell *c)
{
        print_selector(c, "spec.jobTemplate.spec.selector");
}

static void print_template_containers(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "template.spec.containers"), ",", "name");
}

static void print_template_images(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "template.spec.containers"), ",", "image");
}

static void print_template_labels(struct cell *c)
{
        print_map(c->out, doc_get_object(c->doc, "template.metadata.labels"));
}

static void print_spec_selector(struct cell *c)
{
        print_selector(c, "spec.selector");
}

static void print_node_selector(struct cell *c)
{
        print_map(c->out, doc_get_object(c->doc, "spec.template.spec.nodeSelector"));
}

static bool has_condition(const json_t *doc, const char *type)
{
        json_t *condition;
        size_t i;

        json_array_foreach(doc_get_array(doc, "status.conditions"), i, condition)
                if (text_equal(doc_get_string(condition, "type"), type) &&
                    text_equal(doc_get_string(condition, "status"), "True"))
                        return true;
        return false;
}

static void print_job_status(struct cell *c)
{
        if (has_condition(c->doc, "Complete"))
                buf_append_str(c->out, "Complete");
        else if (has_condition(c->doc, "Failed"))
                buf_append_str(c->out, "Failed");
        else if (doc_get(c->doc, "metadata.deletionTimestamp"))
                buf_append_str(c->out, "Terminating");
        else
                buf_append_str(c->out, has_condition(c->doc, "Suspended") ? "Suspended" : "Running");
}

static void print_job_completions(struct cell *c)
{
        long long succeeded = number(c, "status.succeeded", 0);

        if (doc_get(c->doc, "spec.completions"))
                buf_printf(c->out, "%lld/%lld", succeeded, (long long)number(c, "spec.completions", 1));
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
                print_since(c, "status.lastScheduleTime");
}

static void print_suspend(struct cell *c)
{
        buf_append_str(c->out, doc_get_bool(c->doc, "spec.suspend", false) ? "True" : "False");
}

/* ---- services and networks ---- */

static void print_external_ip(struct cell *c)
{
        const char *type = doc_get_string(c->doc, "spec.type");
        json_t *ingress = doc_get_array(c->doc, "status.loadBalancer.ingress");

        if (text_equal(type, "ExternalName")) {
                print_path(c, "spec.externalName");
        } else if (text_equal(type, "LoadBalancer")) {
                print_joined(c->out, ingress, ",", "ip");
                if (c->out->len == 0)
                        buf_append_str(c->out, "<pending>");
        } else {
                print_joined(c->out, doc_get_array(c->doc, "spec.externalIPs"), ",", NULL);
        }
}

static void print_service_ports(struct cell *c)
{
        const char *before = "";
        json_t *port;
        size_t i;

        json_array_foreach(doc_get_array(c->doc, "spec.ports"), i, port) {
                long long node_port = doc_get_int(port, "nodePort", 0);

                buf_printf(c->out, "%s%lld", before, (long long)doc_get_int(port, "port", 0));
                if (node_port)
                        buf_printf(c->out, ":%lld", node_port);
                buf_printf(c->out, "/%s",
                           doc_get_string(port, "protocol") ? doc_get_string(port, "protocol") : "TCP");
                before = ",";
        }
}

static void print_service_selector(struct cell *c)
{
        print_map(c->out, doc_get_object(c->doc, "spec.selector"));
}

static void print_endpoints(struct cell *c)
{
        json_t *subset, *address;
        const char *before = "";
        size_t i, k;

        json_array_foreach(doc_get_array(c->doc, "subsets"), i, subset) {
                json_array_foreach(doc_get_array(subset, "addresses"), k, address) {
                        const char *ip = doc_get_string(address, "ip");
                        int64_t port =
                                doc_get_int(json_array_get(doc_get_array(subset, "ports"), 0), "port", 0);

                        buf_printf(c->out, port ? "%s%s:%lld" : "%s%s", before, ip ? ip : "",
                                   (long long)port);
                        before = ",";
                }
        }
}

static void print_ingress_hosts(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "spec.rules"), ",", "host");
        if (c->out->len == 0)
                buf_append_char(c->out, '*');
}

static void print_ingress_address(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "status.loadBalancer.ingress"), ",", "ip");
}

static void print_ingress_ports(struct cell *c)
{
        buf_append_str(c->out, doc_get(c->doc, "spec.tls") ? "80, 443" : "80");
}

static void print_parameters(struct cell *c)
{
        const char *group = doc_get_string(c->doc, "spec.parameters.apiGroup"),
                   *kind = doc_get_string(c->doc, "spec.parameters.kind"),
                   *name = doc_get_string(c->doc, "spec.parameters.name");

        if (kind && name)
                buf_printf(c->out, "%s%s%s/%s", kind, group ? "." : "", group ? group : "", name);
}

static void print_pod_selector(struct cell *c)
{
        print_selector(c, "spec.podSelector");
}

/* ---- configuration, storage, cluster ---- */

static void print_data_count(struct cell *c)
{
        buf_printf(c->out, "%zu",
                   json_object_size(doc_get_object(c->doc, "data")) +
                           json_object_size(doc_get_object(c->doc, "binaryData")));
}

/* "pods: 1/5, " of the quota's parts that are, or are not, limits. */
static void print_quota(struct cell *c, bool limits)
{
        const char *name, *before = "";
        json_t *hard;

        json_object_foreach(doc_get_object(c->doc, "status.hard"), name, hard) {
                const char *path[] = { "status", "used", name };
                const char *used = json_string_value(doc_get_keys(c->doc, path, 3));

                if (text_starts_with(name, "limits") != limits)
                        continue;
                buf_printf(c->out, "%s%s: %s/%s", before, name, used ? used : "0",
                           json_string_value(hard) ? json_string_value(hard) : "");
                before = ", ";
        }
}

static void print_quota_requests(struct cell *c)
{
        print_quota(c, false);
}

static void print_quota_limits(struct cell *c)
{
        print_quota(c, true);
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

static void print_drivers(struct cell *c)
{
        buf_printf(c->out, "%zu", json_array_size(doc_get_array(c->doc, "spec.drivers")));
}

static void print_token_requests(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "spec.tokenRequests"), ",", "audience");
}

static void print_modes(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "spec.volumeLifecycleModes"), ",", NULL);
}

static void print_slice_ports(struct cell *c)
{
        print_joined(c->out, doc_get_array(c->doc, "ports"), ",", "port");
}

static void print_slice_endpoints(struct cell *c)
{
        json_t *endpoint, *address;
        const char *before = "";
        size_t i, k, n = 0;

        json_array_foreach(doc_get_array(c->doc, "endpoints"), i, endpoint)
                json_array_foreach(doc_get_array(endpoint, "addresses"), k, address)
                        if (++n <= 3) {
                                buf_printf(c->out, "%s%s", before,
                                           json_string_value(address) ? json_string_value(address) : "");
                                before = ",";
                        }
        if (n > 3)
                buf_printf(c->out, " + %zu more...", n - 3);
}

static void print_node_address(struct cell *c, const char *type)
{
        json_t *a;
        size_t i;

        json_array_foreach(doc_get_array(c->doc, "status.addresses"), i, a)
                if (c->out->len == 0 && text_equal(doc_get_string(a, "type"), type))
                        print_value(c->out, json_object_get(a, "address"));
}

static void print_internal_ip(struct cell *c)
{
        print_node_address(c, "InternalIP");
}

static void print_node_external_ip(struct cell *c)
{
        print_node_address(c, "ExternalIP");
}

static void print_first_seen(struct cell *c)
{
        print_since(c, doc_get_string(c->doc, "firstTimestamp") ? "firstTimestamp" : "eventTime");
}

static void print_namespace_status(struct cell *c)
{
        print_path(c, "status.phase");
}

static void print_node_status(struct cell *c)
{
        buf_append_str(c->out, has_condition(c->doc, "Ready") ? "Ready" : "NotReady");
        if (doc_get_bool(c->doc, "spec.unschedulable", false))
                buf_append_str(c->out, ",SchedulingDisabled");
}

static void print_node_roles(struct cell *c)
{
        static const char prefix[] = "node-role.kubernetes.io/";
        const char *key, *before = "";
        json_t *v;

        json_object_foreach(doc_get_object(c->doc, "metadata.labels"), key, v) {
                if (!text_starts_with(key, prefix))
                        continue;
                buf_printf(c->out, "%s%s", before, key + sizeof(prefix) - 1);
                before = ",";
        }
}

static void print_access_modes(struct cell *c)
{
        static const struct {
                const char *name, *brief;
        } modes[] = { { "ReadWriteOnce", "RWO" },
                      { "ReadOnlyMany", "ROX" },
                      { "ReadWriteMany", "RWX" },
                      { "ReadWriteOncePod", "RWOP" } };
        const char *before = "";

        for (size_t k = 0; k < ARRAY_LEN(modes); k++) {
                json_t *mode;
                size_t i;

                json_array_foreach(doc_get_array(c->doc, "spec.accessModes"), i, mode) {
                        if (!text_equal(json_string_value(mode), modes[k].name))
                                continue;
                        buf_printf(c->out, "%s%s", before, modes[k].brief);
                        before = ",";
                        break;
                }
        }
}

static void print_claim(struct cell *c)
{
        if (!doc_get(c->doc, "spec.claimRef"))
                return;
        print_path(c, "spec.claimRef.namespace");
        buf_append_char(c->out, '/');
        print_path(c, "spec.claimRef.name");
}

static void print_default_class_name(struct cell *c)
{
        static const char *const keys[] = { "metadata", "annotations",
                                            "storageclass.kubernetes.io/is-default-class" };

        print_path(c, "metadata.name");
        if (text_equal(json_string_value(doc_get_keys(c->doc, keys, 3)), "true"))
                buf_append_str(c->out, " (default)");
}

static void print_role(struct cell *c)
{
        print_path(c, "roleRef.kind");
        buf_append_char(c->out, '/');
        print_path(c, "roleRef.name");
}

static void print_subjects(struct cell *c, const char *kind)
{
        const char *before = "";
        json_t *subject;
        size_t i;

        json_array_foreach(doc_get_array(c->doc, "subjects"), i, subject) {
                const char *ns = doc_get_string(subject, "namespace");

                if (!text_equal(doc_get_string(subject, "kind"), kind))
                        continue;
                buf_printf(c->out, "%s%s%s%s", before, ns ? ns : "", ns ? "/" : "",
                           doc_get_string(subject, "name"));
                before = ", ";
        }
}

static void print_users(struct cell *c)
{
        print_subjects(c, "User");
}

static void print_groups(struct cell *c)
{
        print_subjects(c, "Group");
}

static void print_accounts(struct cell *c)
{
        print_subjects(c, "ServiceAccount");
}

static void print_reference(struct cell *c)
{
        print_path(c, "spec.scaleTargetRef.kind");
        buf_append_char(c->out, '/');
        print_path(c, "spec.scaleTargetRef.name");
}

static void print_targets(struct cell *c)
{
        if (json_array_size(doc_get_array(c->doc, "spec.metrics")) > 0)
                buf_append_str(c->out, "<unknown>");
}

static void print_webhooks(struct cell *c)
{
        buf_printf(c->out, "%zu", json_array_size(doc_get_array(c->doc, "webhooks")));
}

static void print_event_object(struct cell *c)
{
        const char *kind = doc_get_string(c->doc, "involvedObject.kind");

        for (; kind && *kind; kind++)
                buf_append_char(c->out, (char)(*kind >= 'A' && *kind <= 'Z' ? *kind + 32 : *kind));
        buf_append_char(c->out, '/');
        print_path(c, "involvedObject.name");
}

static void print_last_seen(struct cell *c)
{
        print_since(c, doc_get(c->doc, "lastTimestamp") ? "lastTimestamp"
                       : doc_get(c->doc, "eventTime")   ? "eventTime"
                                                        : "metadata.creationTimestamp");
}

static void print_request_status(struct cell *c)
{
        bool denied = has_condition(c->doc, "Denied"), approved = has_condition(c->doc, "Approved");

        buf_append_str(c->out, denied ? "Denied" : approved ? "Approved" : "Pending");
        if (doc_get_string(c->doc, "status.certificate"))
                buf_append_str(c->out, ",Issued");
}

/* ---- tables ---- */

#define NAME_COLUMN                                                                                          \
        {                                                                                                    \
                .name = "Name", .path = "metadata.name"                                                      \
        }
#define AGE_COLUMN                                                                                           \
        {                                                                                                    \
                .name = "Age", .print = print_age                                                            \
        }
#define CREATED_COLUMN                                                                                       \
        {                                                                                                    \
                .name = "Created At", .print = print_created, .type = "date"                                 \
        }
#define WIDE .priority = 1
#define NONE .fallback = "<none>"

static const struct column plain_columns[] = { NAME_COLUMN, AGE_COLUMN };
static const struct column created_columns[] = { NAME_COLUMN, CREATED_COLUMN };
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
static const struct column service_columns[] = {
        NAME_COLUMN,
        { .name = "Type", .path = "spec.type" },
        { .name = "Cluster-IP", .path = "spec.clusterIP", NONE },
        { .name = "External-IP", .print = print_external_ip, NONE },
        { .name = "Port(s)", .print = print_service_ports, NONE },
        AGE_COLUMN,
        { .name = "Selector", .print = print_service_selector, NONE, WIDE },
};
static const struct column endpoints_columns[] = { NAME_COLUMN,
                                                   { .name = "Endpoints", .print = print_endpoints, NONE },
                                                   AGE_COLUMN };
static const struct column slice_columns[] = {
        NAME_COLUMN,
        { .name = "AddressType", .path = "addressType" },
        { .name = "Ports", .print = print_slice_ports, .fallback = "<unset>" },
        { .name = "Endpoints", .print = print_slice_endpoints, .fallback = "<unset>" },
        AGE_COLUMN
};
static const struct column config_map_columns[] = {
        NAME_COLUMN, { .name = "Data", .print = print_data_count, .as_integer = true }, AGE_COLUMN
};
static const struct column secret_columns[] = {
        NAME_COLUMN,
        { .name = "Type", .path = "type" },
        { .name = "Data", .print = print_data_count, .as_integer = true },
        AGE_COLUMN
};
static const struct column pod_template_columns[] = {
        NAME_COLUMN,
        { .name = "Containers", .print = print_template_containers },
        { .name = "Images", .print = print_template_images },
        { .name = "Pod Labels", .print = print_template_labels, NONE },
};
static const struct column quota_columns[] = {
        NAME_COLUMN,
        { .name = "Request", .print = print_quota_requests },
        { .name = "Limit", .print = print_quota_limits },
        AGE_COLUMN,
};
static const struct column revision_columns[] = {
        NAME_COLUMN,
        { .name = "Controller", .print = print_controller, NONE },
        { .name = "Revision", .path = "revision", .number = true, .type = "string" },
        AGE_COLUMN,
};
static const struct column runtime_class_columns[] = { NAME_COLUMN,
                                                       { .name = "Handler", .path = "handler" },
                                                       AGE_COLUMN };
static const struct column csi_node_columns[] = {
        NAME_COLUMN, { .name = "Drivers", .print = print_drivers, .type = "integer" }, AGE_COLUMN
};
static const struct column csi_driver_columns[] = {
        NAME_COLUMN,
        { .name = "AttachRequired", .path = "spec.attachRequired", .fallback = "true", .type = "boolean" },
        { .name = "PodInfoOnMount", .path = "spec.podInfoOnMount", .fallback = "false", .type = "boolean" },
        { .name = "StorageCapacity", .path = "spec.storageCapacity", .fallback = "false", .type = "boolean" },
        { .name = "TokenRequests", .print = print_token_requests, .fallback = "<unset>" },
        { .name = "RequiresRepublish",
          .path = "spec.requiresRepublish",
          .fallback = "false",
          .type = "boolean" },
        { .name = "Modes", .print = print_modes },
        AGE_COLUMN,
};
static const struct column attachment_columns[] = {
        NAME_COLUMN,
        { .name = "Attacher", .path = "spec.attacher", .format = "name" },
        { .name = "PV", .path = "spec.source.persistentVolumeName" },
        { .name = "Node", .path = "spec.nodeName" },
        { .name = "Attached", .path = "status.attached", .fallback = "false", .type = "boolean" },
        AGE_COLUMN,
};
static const struct column namespace_columns[] = { NAME_COLUMN,
                                                   { .name = "Status", .print = print_namespace_status },
                                                   AGE_COLUMN };
static const struct column node_columns[] = {
        NAME_COLUMN,
        { .name = "Status", .print = print_node_status },
        { .name = "Roles", .print = print_node_roles, NONE },
        AGE_COLUMN,
        { .name = "Version", .path = "status.nodeInfo.kubeletVersion" },
        { .name = "Internal-IP", .print = print_internal_ip, NONE, WIDE },
        { .name = "External-IP", .print = print_node_external_ip, NONE, WIDE },
        { .name = "OS-Image", .path = "status.nodeInfo.osImage", .fallback = "<unknown>", WIDE },
        { .name = "Kernel-Version", .path = "status.nodeInfo.kernelVersion", .fallback = "<unknown>", WIDE },
        { .name = "Container-Runtime",
          .path = "status.nodeInfo.containerRuntimeVersion",
          .fallback = "<unknown>",
          WIDE },
};
static const struct column volume_columns[] = {
        NAME_COLUMN,
        { .name = "Capacity", .path = "spec.capacity.storage" },
        { .name = "Access Modes", .print = print_access_modes },
        { .name = "Reclaim Policy", .path = "spec.persistentVolumeReclaimPolicy" },
        { .name = "Status", .path = "status.phase" },
        { .name = "Claim", .print = print_claim },
        { .name = "StorageClass", .path = "spec.storageClassName" },
        { .name = "VolumeAttributesClass", .path = "spec.volumeAttributesClassName", .fallback = "<unset>" },
        { .name = "Reason", .path = "status.reason" },
        AGE_COLUMN,
        { .name = "VolumeMode", .path = "spec.volumeMode", WIDE },
};
static const struct column claim_columns[] = {
        NAME_COLUMN,
        { .name = "Status", .path = "status.phase" },
        { .name = "Volume", .path = "spec.volumeName" },
        { .name = "Capacity", .path = "status.capacity.storage" },
        { .name = "Access Modes", .print = print_access_modes },
        { .name = "StorageClass", .path = "spec.storageClassName" },
        { .name = "VolumeAttributesClass", .path = "spec.volumeAttributesClassName", .fallback = "<unset>" },
        AGE_COLUMN,
        { .name = "VolumeMode", .path = "spec.volumeMode", WIDE },
};
static const struct column class_columns[] = {
        { .name = "Name", .print = print_default_class_name },
        { .name = "Provisioner", .path = "provisioner" },
        { .name = "ReclaimPolicy", .path = "reclaimPolicy" },
        { .name = "VolumeBindingMode", .path = "volumeBindingMode" },
        { .name = "AllowVolumeExpansion",
          .path = "allowVolumeExpansion",
          .fallback = "false",
          .type = "string",
          .as_boolean = true },
        AGE_COLUMN,
};
static const struct column ingress_columns[] = {
        NAME_COLUMN,
        { .name = "Class", .path = "spec.ingressClassName", NONE },
        { .name = "Hosts", .print = print_ingress_hosts },
        { .name = "Address", .print = print_ingress_address },
        { .name = "Ports", .print = print_ingress_ports },
        AGE_COLUMN,
};
static const struct column ingress_class_columns[] = {
        NAME_COLUMN,
        { .name = "Controller", .path = "spec.controller" },
        { .name = "Parameters", .print = print_parameters, NONE },
        AGE_COLUMN
};
static const struct column network_policy_columns[] = {
        NAME_COLUMN, { .name = "Pod-Selector", .print = print_pod_selector, NONE }, AGE_COLUMN
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
static const struct column lease_columns[] = { NAME_COLUMN,
                                               { .name = "Holder", .path = "spec.holderIdentity" },
                                               AGE_COLUMN };
static const struct column binding_columns[] = {
        NAME_COLUMN,
        { .name = "Role", .print = print_role },
        AGE_COLUMN,
        { .name = "Users", .print = print_users, WIDE },
        { .name = "Groups", .print = print_groups, WIDE },
        { .name = "ServiceAccounts", .print = print_accounts, WIDE },
};
static const struct column priority_class_columns[] = {
        NAME_COLUMN,
        { .name = "Value", .path = "value", .number = true },
        { .name = "Global-Default", .path = "globalDefault", .fallback = "false", .type = "boolean" },
        AGE_COLUMN,
        { .name = "PreemptionPolicy", .path = "preemptionPolicy" },
};
static const struct column webhook_columns[] = {
        NAME_COLUMN, { .name = "Webhooks", .print = print_webhooks, .type = "integer" }, AGE_COLUMN
};
static const struct column event_columns[] = {
        { .name = "Last Seen", .print = print_last_seen, .format = "" },
        { .name = "Type", .path = "type" },
        { .name = "Reason", .path = "reason" },
        { .name = "Object", .print = print_event_object },
        { .name = "Subobject", .path = "involvedObject.fieldPath", WIDE },
        { .name = "Source", .path = "source.component", WIDE },
        { .name = "Message", .path = "message" },
        { .name = "First Seen", .print = print_first_seen, WIDE },
        { .name = "Count", .path = "count", .number = true, .type = "string", WIDE },
        { .name = "Name", .path = "metadata.name", WIDE },
};
static const struct column request_columns[] = {
        NAME_COLUMN,
        AGE_COLUMN,
        { .name = "SignerName", .path = "spec.signerName" },
        { .name = "Requestor", .path = "spec.username" },
        { .name = "RequestedDuration", .path = "spec.expirationSeconds", NONE },
        { .name = "Condition", .print = print_request_status },
};

struct table {
        const char *group, *kind;
        const struct column *columns;
        size_t n;
};

#define TABLE(g, k, c)                                                                                       \
        {                                                                                                    \
                g, k, c, ARRAY_LEN(c)                                                                        \
        }
#define RBAC "rbac.authorization.k8s.io"
#define ADMISSION "admissionregistration.k8s.io"

static const struct table tables[] = {
        TABLE("", "Pod", pod_columns),
        TABLE("", "Service", service_columns),
        TABLE("", "Endpoints", endpoints_columns),
        TABLE("", "ConfigMap", config_map_columns),
        TABLE("", "Secret", secret_columns),
        TABLE("", "PodTemplate", pod_template_columns),
        TABLE("", "ResourceQuota", quota_columns),
        TABLE("", "LimitRange", created_columns),
        TABLE("apps", "ControllerRevision", revision_columns),
        TABLE("node.k8s.io", "RuntimeClass", runtime_class_columns),
        TABLE("storage.k8s.io", "CSINode", csi_node_columns),
        TABLE("storage.k8s.io", "CSIDriver", csi_driver_columns),
        TABLE("storage.k8s.io", "CSIStorageCapacity", created_columns),
        TABLE("storage.k8s.io", "VolumeAttachment", attachment_columns),
        TABLE("", "Namespace", namespace_columns),
        TABLE("", "Node", node_columns),
        TABLE("", "PersistentVolume", volume_columns),
        TABLE("", "PersistentVolumeClaim", claim_columns),
        TABLE("", "Event", event_columns),
        TABLE("events.k8s.io", "Event", event_columns),
        TABLE("", "ReplicationController", replica_set_columns),
        TABLE("apps", "Deployment", deployment_columns),
        TABLE("apps", "ReplicaSet", replica_set_columns),
        TABLE("apps", "StatefulSet", stateful_set_columns),
        TABLE("apps", "DaemonSet", daemon_set_columns),
        TABLE("batch", "Job", job_columns),
        TABLE("batch", "CronJob", cron_job_columns),
        TABLE("networking.k8s.io", "Ingress", ingress_columns),
        TABLE("networking.k8s.io", "IngressClass", ingress_class_columns),
        TABLE("networking.k8s.io", "NetworkPolicy", network_policy_columns),
        TABLE("discovery.k8s.io", "EndpointSlice", slice_columns),
        TABLE("autoscaling", "HorizontalPodAutoscaler", autoscaler_columns),
        TABLE("policy", "PodDisruptionBudget", budget_columns),
        TABLE("coordination.k8s.io", "Lease", lease_columns),
        TABLE("storage.k8s.io", "StorageClass", class_columns),
        TABLE("scheduling.k8s.io", "PriorityClass", priority_class_columns),
        TABLE(RBAC, "Role", created_columns),
        TABLE(RBAC, "ClusterRole", created_columns),
        TABLE(RBAC, "RoleBinding", binding_columns),
        TABLE(RBAC, "ClusterRoleBinding", binding_columns),
        TABLE("apiextensions.k8s.io", "CustomResourceDefinition", created_columns),
        TABLE(ADMISSION, "ValidatingWebhookConfiguration", webhook_columns),
        TABLE(ADMISSION, "MutatingWebhookConfiguration", webhook_columns),
        TABLE("certificates.k8s.io", "CertificateSigningRequest", request_columns),
};

static struct table find_table(const char *group, const char *kind)
{
        for (size_t i = 0; i < ARRAY_LEN(tables); i++)
                if (text_equal(tables[i].group, group) && text_equal(tables[i].kind, kind))
                        return tables[i];
        return (struct table)TABLE("", "", plain_columns);
}

size_t builtin_columns(const char *group, const char *kind, struct cell_column ret[BUILTIN_COLUMNS_MAX])
{
        struct table t = find_table(group, kind);

        ASSERT(t.n <= BUILTIN_COLUMNS_MAX);
        for (size_t i = 0; i < t.n; i++)
                ret[i] = (struct cell_column){ .name = t.columns[i].name,
                                               .type = t.columns[i].type     ? t.columns[i].type
                                                       : t.columns[i].number ? "integer"
                                                                             : "string",
                                               .format = t.columns[i].format ? t.columns[i].format
                                                         : i == 0            ? "name"
                                                                             : "",
                                               .priority = t.columns[i].priority };
        return t.n;
}

static json_t *make_cell(const struct column *column, struct cell *c)
{
        int64_t value;

        if (column->number)
                return json_integer(doc_get_int(c->doc, column->path, 0));
        buf_clear(c->out);
        if (column->path)
                print_path(c, column->path);
        else
                column->print(c);
        if (c->out->len == 0 && column->fallback)
                buf_append_str(c->out, column->fallback);
        if (column->as_boolean || (text_equal(column->type, "boolean") && !column->as_text))
                return json_boolean(text_equal(c->out->data, "true"));
        if ((column->as_integer || text_equal(column->type, "integer")) &&
            text_parse_i64(c->out->data, &value))
                return json_integer(value);
        return json_stringn(c->out->data, c->out->len);
}

int builtin_cells(const char *group, const char *kind, const json_t *doc, int64_t now_ms, json_t *cells)
{
        struct table t = find_table(group, kind);
        AUTO_BUF struct buf text;
        struct cell c = { doc, now_ms, &text };

        buf_init(&text, CELL_MAX);
        for (size_t i = 0; i < t.n; i++)
                if (json_array_append_new(cells, make_cell(&t.columns[i], &c)) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}
