/* How kubectl shows services, ingresses and what belongs to them. */
#include "e2e/devcluster/builtin/cells_internal.h"

static void print_external_ip(struct cell *c)
{
        const char *type = doc_get_string(c->doc, "spec.type");
        json_t *ingress = doc_get_array(c->doc, "status.loadBalancer.ingress");

        if (text_equal(type, "ExternalName")) {
                cell_print_path(c, "spec.externalName");
        } else if (text_equal(type, "LoadBalancer")) {
                cell_print_joined(c->out, ingress, ",", "ip");
                if (c->out->len == 0)
                        buf_append_str(c->out, "<pending>");
        } else {
                cell_print_joined(c->out, doc_get_array(c->doc, "spec.externalIPs"), ",", NULL);
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
        cell_print_map(c->out, doc_get_object(c->doc, "spec.selector"));
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
        cell_print_joined(c->out, doc_get_array(c->doc, "spec.rules"), ",", "host");
        if (c->out->len == 0)
                buf_append_char(c->out, '*');
}

static void print_ingress_address(struct cell *c)
{
        cell_print_joined(c->out, doc_get_array(c->doc, "status.loadBalancer.ingress"), ",", "ip");
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
        cell_print_selector(c, "spec.podSelector");
}

static void print_slice_ports(struct cell *c)
{
        cell_print_joined(c->out, doc_get_array(c->doc, "ports"), ",", "port");
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

const struct cell_table cells_network[] = {
        CELL_TABLE("", "Service", service_columns),
        CELL_TABLE("", "Endpoints", endpoints_columns),
        CELL_TABLE("networking.k8s.io", "Ingress", ingress_columns),
        CELL_TABLE("networking.k8s.io", "IngressClass", ingress_class_columns),
        CELL_TABLE("networking.k8s.io", "NetworkPolicy", network_policy_columns),
        CELL_TABLE("discovery.k8s.io", "EndpointSlice", slice_columns),
};
const size_t n_cells_network = ARRAY_LEN(cells_network);
