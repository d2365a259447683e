/* How kubectl shows nodes, namespaces, rights, admission and events. */
#include "common/base/timefmt.h"
#include "e2e/devcluster/builtin/cells_internal.h"

static void print_node_address(struct cell *c, const char *type)
{
        json_t *a;
        size_t i;

        json_array_foreach(doc_get_array(c->doc, "status.addresses"), i, a)
                if (c->out->len == 0 && text_equal(doc_get_string(a, "type"), type))
                        cell_print_value(c->out, json_object_get(a, "address"));
}

static void print_internal_ip(struct cell *c)
{
        print_node_address(c, "InternalIP");
}

static void print_node_external_ip(struct cell *c)
{
        print_node_address(c, "ExternalIP");
}

static void print_namespace_status(struct cell *c)
{
        cell_print_path(c, "status.phase");
}

static void print_node_status(struct cell *c)
{
        buf_append_str(c->out, cell_has_condition(c->doc, "Ready") ? "Ready" : "NotReady");
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

static void print_role(struct cell *c)
{
        cell_print_path(c, "roleRef.kind");
        buf_append_char(c->out, '/');
        cell_print_path(c, "roleRef.name");
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

static void print_webhooks(struct cell *c)
{
        buf_printf(c->out, "%zu", json_array_size(doc_get_array(c->doc, "webhooks")));
}

static void print_validations(struct cell *c)
{
        buf_printf(c->out, "%zu", json_array_size(doc_get_array(c->doc, "spec.validations")));
}

static void print_mutations(struct cell *c)
{
        buf_printf(c->out, "%zu", json_array_size(doc_get_array(c->doc, "spec.mutations")));
}

static void print_param_kind(struct cell *c)
{
        if (!doc_get_object(c->doc, "spec.paramKind"))
                return;
        cell_print_path(c, "spec.paramKind.apiVersion");
        buf_append_char(c->out, '/');
        cell_print_path(c, "spec.paramKind.kind");
}

/* The next key behind `last` (NULL = the first) in the order of bytes; NULL at the end. */
static const char *next_key(const json_t *o, const char *last)
{
        const char *key, *next = NULL;
        json_t *value;

        json_object_foreach((json_t *)o, key, value)
                if ((!last || strcmp(key, last) > 0) && (!next || strcmp(key, next) < 0))
                        next = key;
        return next;
}

static void print_strings(struct buf *b, const json_t *list)
{
        json_t *item;
        size_t i;

        json_array_foreach((json_t *)list, i, item)
                buf_printf(b, "%s%s", i ? " " : "", json_string_value(item) ? json_string_value(item) : "");
}

/* As Go prints the structure. */
static void print_go_selector(struct buf *b, const json_t *selector)
{
        const json_t *labels = json_object_get(selector, "matchLabels"), *term;
        size_t i;

        buf_append_str(b, "&LabelSelector{MatchLabels:map[string]string{");
        for (const char *key = next_key(labels, NULL); key; key = next_key(labels, key))
                buf_printf(b, "%s: %s,", key, json_string_value(json_object_get(labels, key)));
        buf_append_str(b, "},MatchExpressions:[]LabelSelectorRequirement{");
        json_array_foreach(json_object_get(selector, "matchExpressions"), i, term) {
                const char *key = doc_get_string(term, "key"), *operator= doc_get_string(term, "operator");

                buf_printf(b, "LabelSelectorRequirement{Key:%s,Operator:%s,Values:[", key ? key : "",
                           operator? operator: "");
                print_strings(b, json_object_get(term, "values"));
                buf_append_str(b, "],},");
        }
        buf_append_str(b, "},}");
}

static void print_param_ref(struct cell *c)
{
        const json_t *ref = doc_get_object(c->doc, "spec.paramRef");
        const char *ns = doc_get_string(ref, "namespace"), *name = doc_get_string(ref, "name");

        if (!text_empty(name))
                buf_printf(c->out, "%s/%s", text_empty(ns) ? "*" : ns, name);
        else if (json_object_get(ref, "selector"))
                print_go_selector(c->out, json_object_get(ref, "selector"));
}

/* A member under its core name, or as events.k8s.io calls it. */
static const char *either(const json_t *doc, const char *core, const char *other)
{
        return text_empty(doc_get_string(doc, core)) && doc_get(doc, other) ? other : core;
}

static void print_event_object(struct cell *c)
{
        const char *kind = doc_get_string(c->doc, either(c->doc, "involvedObject.kind", "regarding.kind"));

        for (; kind && *kind; kind++)
                buf_append_char(c->out, (char)(*kind >= 'A' && *kind <= 'Z' ? *kind + 32 : *kind));
        buf_append_char(c->out, '/');
        cell_print_path(c, either(c->doc, "involvedObject.name", "regarding.name"));
}

static void print_event_part(struct cell *c)
{
        cell_print_path(c, either(c->doc, "involvedObject.fieldPath", "regarding.fieldPath"));
}

static void print_event_message(struct cell *c)
{
        cell_print_path(c, either(c->doc, "message", "note"));
}

static bool has_text(const json_t *doc, const char *path)
{
        return !text_empty(doc_get_string(doc, path));
}

static void print_first_seen(struct cell *c)
{
        const char *first = either(c->doc, "firstTimestamp", "deprecatedFirstTimestamp");

        cell_print_since(c, has_text(c->doc, first) ? first : "eventTime");
}

static void print_last_seen(struct cell *c)
{
        const char *last = either(c->doc, "lastTimestamp", "deprecatedLastTimestamp");

        if (has_text(c->doc, last))
                cell_print_since(c, last);
        else if (has_text(c->doc, "eventTime"))
                cell_print_since(c, "eventTime");
        else
                print_first_seen(c);
}

static void print_event_count(struct cell *c)
{
        bool series = doc_get_object(c->doc, "series");
        int64_t n = cell_number(c,
                                series                     ? "series.count"
                                : doc_get(c->doc, "count") ? "count"
                                                           : "deprecatedCount",
                                0);

        buf_printf(c->out, "%lld", (long long)(n == 0 && !series ? 1 : n));
}

/* "component, host", or who reported it. */
static void print_event_source(struct cell *c)
{
        const char *source = either(c->doc, "source.component", "deprecatedSource.component"),
                   *host = either(c->doc, "source.host", "deprecatedSource.host");
        bool old = has_text(c->doc, source);
        const char *instance = doc_get_string(c->doc, old ? host : "reportingInstance");

        cell_print_path(c, old ? source : either(c->doc, "reportingComponent", "reportingController"));
        if (!text_empty(instance))
                buf_printf(c->out, ", %s", instance);
}

static void print_requested(struct cell *c)
{
        int64_t seconds = cell_number(c, "spec.expirationSeconds", 0);
        char text[32];

        if (seconds <= 0)
                return;
        duration_format_human(seconds * 1000, text, sizeof(text));
        buf_append_str(c->out, text);
}

static void print_request_status(struct cell *c)
{
        bool denied = cell_has_condition(c->doc, "Denied"), approved = cell_has_condition(c->doc, "Approved");

        buf_append_str(c->out, denied ? "Denied" : approved ? "Approved" : "Pending");
        if (doc_get_string(c->doc, "status.certificate"))
                buf_append_str(c->out, ",Issued");
}

static const struct column runtime_class_columns[] = { NAME_COLUMN,
                                                       { .name = "Handler", .path = "handler" },
                                                       AGE_COLUMN };
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
static const struct column policy_columns[] = {
        NAME_COLUMN,
        { .name = "Validations", .print = print_validations, .type = "integer" },
        { .name = "ParamKind", .print = print_param_kind, .fallback = "<unset>" },
        AGE_COLUMN,
};
static const struct column mutating_policy_columns[] = {
        NAME_COLUMN,
        { .name = "Mutations", .print = print_mutations, .type = "integer" },
        { .name = "ParamKind", .print = print_param_kind, .fallback = "<unset>" },
        AGE_COLUMN,
};
static const struct column policy_binding_columns[] = {
        NAME_COLUMN,
        { .name = "PolicyName", .path = "spec.policyName" },
        { .name = "ParamRef", .print = print_param_ref, .fallback = "<unset>" },
        AGE_COLUMN,
};
static const struct column event_columns[] = {
        { .name = "Last Seen", .print = print_last_seen, .format = "" },
        { .name = "Type", .path = "type" },
        { .name = "Reason", .path = "reason" },
        { .name = "Object", .print = print_event_object },
        { .name = "Subobject", .print = print_event_part, WIDE },
        { .name = "Source", .print = print_event_source, WIDE },
        { .name = "Message", .print = print_event_message },
        { .name = "First Seen", .print = print_first_seen, WIDE },
        { .name = "Count", .print = print_event_count, .as_integer = true, WIDE },
        { .name = "Name", .path = "metadata.name", .format = "name", WIDE },
};
static const struct column request_columns[] = {
        NAME_COLUMN,
        AGE_COLUMN,
        { .name = "SignerName", .path = "spec.signerName" },
        { .name = "Requestor", .path = "spec.username" },
        { .name = "RequestedDuration", .print = print_requested, NONE },
        { .name = "Condition", .print = print_request_status },
};

#define RBAC "rbac.authorization.k8s.io"
#define ADMISSION "admissionregistration.k8s.io"

const struct cell_table cells_cluster[] = {
        CELL_TABLE("node.k8s.io", "RuntimeClass", runtime_class_columns),
        CELL_TABLE("", "Namespace", namespace_columns),
        CELL_TABLE("", "Node", node_columns),
        CELL_TABLE("", "Event", event_columns),
        CELL_TABLE("events.k8s.io", "Event", event_columns),
        CELL_TABLE("coordination.k8s.io", "Lease", lease_columns),
        CELL_TABLE("scheduling.k8s.io", "PriorityClass", priority_class_columns),
        CELL_TABLE(RBAC, "RoleBinding", binding_columns),
        CELL_TABLE(RBAC, "ClusterRoleBinding", binding_columns),
        CELL_TABLE(ADMISSION, "ValidatingWebhookConfiguration", webhook_columns),
        CELL_TABLE(ADMISSION, "MutatingWebhookConfiguration", webhook_columns),
        CELL_TABLE(ADMISSION, "ValidatingAdmissionPolicy", policy_columns),
        CELL_TABLE(ADMISSION, "ValidatingAdmissionPolicyBinding", policy_binding_columns),
        CELL_TABLE(ADMISSION, "MutatingAdmissionPolicy", mutating_policy_columns),
        CELL_TABLE(ADMISSION, "MutatingAdmissionPolicyBinding", policy_binding_columns),
        CELL_TABLE("certificates.k8s.io", "CertificateSigningRequest", request_columns),
};
const size_t n_cells_cluster = ARRAY_LEN(cells_cluster);
