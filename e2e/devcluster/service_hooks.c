/* Services as resources: cluster addresses and node ports, given once and kept. */
#include <arpa/inet.h>

#include "e2e/devcluster/builtin/checks.h"
#include "e2e/devcluster/builtin/defaults.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

#define FIRST_NODE_PORT 30000
#define N_NODE_PORTS 2768
#define N_ADDRESSES 65000

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

static bool has_type(const json_t *doc, const char *type)
{
        return strcmp(text_at(doc, "spec.type"), type) == 0;
}

/* ---- giving out ---- */

/* Services are few: looking through their texts needs no second book that could differ from the first. */
static bool is_taken(struct cluster *c, const char *text)
{
        const struct table *t = api_store_table(c, "/services", false);
        for (size_t i = 0; t && i < t->items.n; i++)
                if (memmem(t->items.at[i]->data, t->items.at[i]->len, text, strlen(text)))
                        return true;
        return false;
}

static bool is_taken_by_other(struct cluster *c, const json_t *doc)
{
        const struct table *t = api_store_table(c, "/services", false);
        char text[128];
        snprintf(text, sizeof(text), "\"clusterIP\":\"%s\"", text_at(doc, "spec.clusterIP"));
        for (size_t i = 0; t && i < t->items.n; i++)
                if (strstr(t->items.at[i]->data, text) &&
                    (strcmp(blob_ns(t->items.at[i]), meta_ns(doc)) != 0 ||
                     strcmp(blob_name(t->items.at[i]), meta_name(doc)) != 0))
                        return true;
        return false;
}

static uint64_t start_of(const json_t *doc)
{
        const char *uid = meta_uid(doc);
        return hash_bytes(uid, strlen(uid), 0);
}

static int give_address(struct request *rq, json_t *doc)
{
        uint64_t at = start_of(doc);
        char address[32], text[64];
        for (unsigned i = 0; i < N_ADDRESSES; i++) {
                unsigned n = (unsigned)((at + i) % N_ADDRESSES) + 2;
                snprintf(address, sizeof(address), "10.96.%u.%u", n >> 8 & 255, n & 255);
                snprintf(text, sizeof(text), "\"clusterIP\":\"%s\"", address);
                if (!is_taken(rq->cluster, text))
                        return doc_set_string(doc, "spec.clusterIP", address) < 0 ? request_fail_memory(rq)
                                                                                  : 0;
        }
        return request_fail(rq, 500, "InternalError",
                            "Internal error occurred: failed to allocate a serviceIP: range is full");
}

static bool has_policy(const json_t *doc, const char *policy)
{
        return strcmp(text_at(doc, "spec.ipFamilyPolicy"), policy) == 0;
}

/* Without an address and without pods of its own: whoever writes its endpoints may use any family. */
static bool is_open(const json_t *doc)
{
        return strcmp(text_at(doc, "spec.clusterIP"), "None") == 0 &&
               json_object_size(doc_get_object(doc, "spec.selector")) == 0;
}

static int keep_or_give_address(struct request *rq, const json_t *live, json_t *doc)
{
        const char *before = text_at(live, "spec.clusterIP");
        if (has_type(doc, "ExternalName"))
                return 0;
        if (!*text_at(doc, "spec.clusterIP") && *before && !has_type(live, "ExternalName") &&
            doc_set_string(doc, "spec.clusterIP", before) < 0)
                return request_fail_memory(rq);
        if (!*text_at(doc, "spec.clusterIP"))
                TRY(give_address(rq, doc));
        int r = doc_set(doc, "spec.clusterIPs", json_pack("[s]", text_at(doc, "spec.clusterIP")));
        bool anything = is_open(doc);
        if (!doc_get(doc, "spec.ipFamilyPolicy"))
                r |= doc_set_string(doc, "spec.ipFamilyPolicy",
                                    anything ? "RequireDualStack" : "SingleStack");
        bool both = anything && !has_policy(doc, "SingleStack");
        if (!doc_get(doc, "spec.ipFamilies"))
                r |= doc_set(doc, "spec.ipFamilies",
                             both ? json_pack("[s,s]", "IPv4", "IPv6") : json_pack("[s]", "IPv4"));
        return r < 0 ? request_fail_memory(rq) : 0;
}

static int64_t port_before(const json_t *live, const json_t *port)
{
        size_t i;
        json_t *old;
        json_array_foreach(doc_get_array(live, "spec.ports"), i, old)
                if (doc_get_int(old, "port", 0) == doc_get_int(port, "port", -1) &&
                    strcmp(text_at(old, "protocol"), text_at(port, "protocol")) == 0)
                        return doc_get_int(old, "nodePort", 0);
        return 0;
}

static int64_t free_port(struct request *rq, const json_t *doc, size_t i)
{
        uint64_t at = start_of(doc) + i * 7;
        char text[32];
        for (unsigned k = 0; k < N_NODE_PORTS; k++) {
                int port = FIRST_NODE_PORT + (int)((at + k) % N_NODE_PORTS);
                snprintf(text, sizeof(text), "odePort\":%d", port); /* nodePort, healthCheckNodePort */
                if (!is_taken(rq->cluster, text))
                        return port;
        }
        return 0;
}

static int keep_or_give_ports(struct request *rq, const json_t *live, json_t *doc)
{
        size_t i;
        json_t *port;
        bool wanted =
                has_type(doc, "NodePort") || (has_type(doc, "LoadBalancer") &&
                                              doc_get_bool(doc, "spec.allocateLoadBalancerNodePorts", true));
        json_array_foreach(doc_get_array(doc, "spec.ports"), i, port) {
                if (!wanted || doc_get_int(port, "nodePort", 0) > 0)
                        continue;
                int64_t n = port_before(live, port);
                if (doc_set_int(port, "nodePort", n ? n : free_port(rq, doc, i)) < 0)
                        return request_fail_memory(rq);
        }
        return 0;
}

/* The port where a node says whether it has endpoints of this service itself. */
static int keep_or_give_health_port(struct request *rq, const json_t *live, json_t *doc)
{
        int64_t before = doc_get_int(live, "spec.healthCheckNodePort", 0);
        bool wanted = has_type(doc, "LoadBalancer") &&
                      strcmp(text_at(doc, "spec.externalTrafficPolicy"), "Local") == 0;
        if (!wanted || doc_get_int(doc, "spec.healthCheckNodePort", 0) > 0)
                return 0;
        size_t behind = json_array_size(doc_get_array(doc, "spec.ports"));
        int64_t port = before ? before : free_port(rq, doc, behind);
        return doc_set_int(doc, "spec.healthCheckNodePort", port) < 0 ? request_fail_memory(rq) : 0;
}

static int prepare(struct request *rq, const json_t *live, json_t *doc)
{
        if (builtin_set_defaults("", "Service", doc) < 0)
                return request_fail_memory(rq);
        if (rq->subresource || !doc_get_object(doc, "spec"))
                return 0;
        TRY(keep_or_give_address(rq, live, doc));
        TRY(keep_or_give_ports(rq, live, doc));
        TRY(keep_or_give_health_port(rq, live, doc));
        if (!live && doc_set(doc, "status", json_pack("{s:{}}", "loadBalancer")) < 0)
                return request_fail_memory(rq);
        return 0;
}

/* ---- validation ---- */

static int validate_number(struct request *rq, const json_t *port, size_t i, const char *field, int64_t low,
                           struct schema_problems *p)
{
        const json_t *value = json_object_get(port, field);
        int64_t n = json_integer_value(value);
        if (!json_is_integer(value) || (n >= low && n <= 65535))
                return 0;
        const char *path = arena_printf(rq->arena, "spec.ports[%zu].%s", i, field);
        return path ? problem_add(p, "FieldValueInvalid", path,
                                  "Invalid value: %lld: must be between 1 and 65535, inclusive", (long long)n)
                    : ERR_NO_MEMORY;
}

static int validate_node_port(struct request *rq, const json_t *port, size_t i, struct schema_problems *p)
{
        int64_t n = doc_get_int(port, "nodePort", 0);
        if (n == 0 || (n >= FIRST_NODE_PORT && n < FIRST_NODE_PORT + N_NODE_PORTS))
                return 0;
        const char *path = arena_printf(rq->arena, "spec.ports[%zu].nodePort", i);
        return path ? problem_add(p, "FieldValueInvalid", path,
                                  "Invalid value: %lld: provided port is not in the valid range. The range "
                                  "of valid ports "
                                  "is 30000-32767",
                                  (long long)n)
                    : ERR_NO_MEMORY;
}

static int validate_port_name(struct request *rq, const json_t *ports, size_t i, struct schema_problems *p)
{
        const char *name = text_at(json_array_get(ports, i), "name");
        const char *path = arena_printf(rq->arena, "spec.ports[%zu].name", i);
        if (!path)
                return ERR_NO_MEMORY;
        if (!*name)
                return json_array_size(ports) > 1
                               ? problem_add(p, "FieldValueRequired", path, "Required value")
                               : 0;
        for (size_t k = 0; k < i; k++)
                if (strcmp(text_at(json_array_get(ports, k), "name"), name) == 0)
                        return problem_add(p, "FieldValueDuplicate", path, "Duplicate value: \"%s\"", name);
        return 0;
}

/* Two ports that nothing tells apart: told as the struct Kubernetes compares. */
static int validate_different(struct request *rq, const json_t *ports, size_t i, struct schema_problems *p)
{
        const json_t *port = json_array_get(ports, i);
        for (size_t k = 0; k < i; k++) {
                const json_t *other = json_array_get(ports, k);
                if (doc_get_int(other, "port", 0) == doc_get_int(port, "port", -1) &&
                    strcmp(text_at(other, "protocol"), text_at(port, "protocol")) == 0)
                        return problem_at(p, "FieldValueDuplicate",
                                          arena_printf(rq->arena,
                                                       "Duplicate value: {\"Name\":\"\",\"Protocol\":\"%s\","
                                                       "\"AppProtocol\":null,\"Port\":%lld,\"TargetPort\":0,"
                                                       "\"NodePort\":0}",
                                                       text_at(port, "protocol"),
                                                       (long long)doc_get_int(port, "port", 0)),
                                          "spec.ports[%zu]", i);
        }
        return 0;
}

static int validate_target_port(struct request *rq, const json_t *port, size_t i, struct schema_problems *p)
{
        const char *name = doc_get_string(port, "targetPort");
        const char *path = arena_printf(rq->arena, "spec.ports[%zu].targetPort", i);
        if (!path)
                return ERR_NO_MEMORY;
        return name ? check_port_name(name, path, p) : 0;
}

static int validate_ports(struct request *rq, const json_t *doc, struct schema_problems *p)
{
        size_t i;
        json_t *port;
        const json_t *ports = doc_get_array(doc, "spec.ports");
        bool headless = strcmp(text_at(doc, "spec.clusterIP"), "None") == 0;
        if (json_array_size(ports) == 0 && !headless && !has_type(doc, "ExternalName"))
                TRY(problem_add(p, "FieldValueRequired", "spec.ports", "Required value"));
        json_array_foreach(ports, i, port) {
                TRY(validate_port_name(rq, ports, i, p));
                TRY(validate_number(rq, port, i, "port", 1, p));
                TRY(validate_number(rq, port, i, "targetPort", 1, p));
                TRY(validate_target_port(rq, port, i, p));
                TRY(validate_different(rq, ports, i, p));
                TRY(validate_node_port(rq, port, i, p));
        }
        return 0;
}

#define SERVICE_RANGE 0x0a600000u /* 10.96.0.0/12 */
#define SERVICE_RANGE_MASK 0xfff00000u

/* An address a client chose: one of the range, and nobody else's. */
static int validate_chosen(struct request *rq, const json_t *live, const json_t *doc,
                           struct schema_problems *p)
{
        const char *address = text_at(doc, "spec.clusterIP"), *why = NULL;
        struct in6_addr six;
        struct in_addr four;
        if (!*address || strcmp(address, "None") == 0 ||
            strcmp(address, text_at(live, "spec.clusterIP")) == 0)
                return 0;
        bool is_four = inet_pton(AF_INET, address, &four) == 1;
        if (!is_four && inet_pton(AF_INET6, address, &six) != 1)
                return problem_add(p, "FieldValueInvalid", "spec.clusterIPs[0]",
                                   "Invalid value: \"%s\": must be a valid IP address, (e.g. 10.9.8.7 or "
                                   "2001:db8::ffff)",
                                   address);
        if (!is_four || (ntohl(four.s_addr) & SERVICE_RANGE_MASK) != SERVICE_RANGE)
                why = "the provided network does not match the current range";
        else if (is_taken_by_other(rq->cluster, doc))
                why = "provided IP is already allocated";
        return why ? problem_add(p, "FieldValueInvalid", "spec.clusterIPs",
                                 "Invalid value: [\"%s\"]: failed to allocate IP %s: %s", address, address,
                                 why)
                   : 0;
}

static int validate_address(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        const char *before = text_at(live, "spec.clusterIP"), *now = text_at(doc, "spec.clusterIP");
        if (!*before || strcmp(before, now) == 0 || has_type(live, "ExternalName") ||
            has_type(doc, "ExternalName"))
                return 0;
        return problem_add(p, "FieldValueInvalid", "spec.clusterIPs[0]",
                           "Invalid value: [\"%s\"]: may not change once set", now);
}

static int validate(struct request *rq, const json_t *live, const json_t *doc, struct schema_problems *p)
{
        static const char *const types[] = { "ClusterIP", "ExternalName", "LoadBalancer", "NodePort" };
        if (rq->subresource)
                return 0;
        if (!text_in(text_at(doc, "spec.type"), types, ARRAY_LEN(types)))
                TRY(problem_add(
                        p, "FieldValueNotSupported", "spec.type",
                        "Unsupported value: \"%s\": supported values: \"ClusterIP\", \"ExternalName\", "
                        "\"LoadBalancer\", \"NodePort\"",
                        text_at(doc, "spec.type")));
        if (has_type(doc, "ExternalName") && !*text_at(doc, "spec.externalName"))
                TRY(problem_add(p, "FieldValueRequired", "spec.externalName", "Required value"));
        TRY(validate_ports(rq, doc, p));
        TRY(check_labels(doc_get_object(doc, "spec.selector"), "spec.selector", p));
        TRY(validate_address(live, doc, p));
        return p->n ? 0 : validate_chosen(rq, live, doc, p);
}

const struct resource_hooks service_hooks = { .prepare = prepare, .validate = validate };
