/* Ingresses and network policies. */
#include <arpa/inet.h>
#include <stdio.h>

#include "e2e/devcluster/builtin/checks.h"

/* ---- ingresses ---- */

static int check_path(const json_t *item, const char *at, struct schema_problems *p)
{
        const char *type = check_text(item, "pathType"), *path = check_text(item, "path");

        if (!*type)
                TRY(problem_at(p, "FieldValueRequired", "Required value: pathType must be specified",
                               "%s.pathType", at));
        else if (strcmp(type, "Exact") != 0 && strcmp(type, "Prefix") != 0 &&
                 strcmp(type, "ImplementationSpecific") != 0)
                TRY(problem_at(p, "FieldValueNotSupported",
                               arena_printf(p->arena,
                                            "Unsupported value: \"%s\": supported values: \"Exact\", "
                                            "\"ImplementationSpecific\", \"Prefix\"",
                                            type),
                               "%s.pathType", at));
        else if (*path != '/' && (*path || strcmp(type, "ImplementationSpecific") != 0))
                TRY(problem_at(
                        p, "FieldValueInvalid",
                        arena_printf(p->arena, "Invalid value: \"%s\": must be an absolute path", path),
                        "%s.path", at));
        if (doc_get_object(item, "backend.service") || doc_get_object(item, "backend.resource"))
                return 0;
        return problem_at(p, "FieldValueInvalid",
                          "Invalid value: \"\": resource or service backend is required", "%s.backend", at);
}

static int check_ingress_rule(const json_t *rule, size_t i, struct schema_problems *p)
{
        const char *host = check_text(rule, "host"), *name = text_starts_with(host, "*.") ? host + 2 : host;
        size_t k;
        json_t *item;

        if (*host && !text_is_dns1123_subdomain(name))
                TRY(problem_at(p, "FieldValueInvalid",
                               arena_printf(p->arena, "Invalid value: \"%s\": " SUBDOMAIN_MESSAGE, host),
                               "spec.rules[%zu].host", i));
        json_array_foreach(doc_get_array(rule, "http.paths"), k, item) {
                const char *at = arena_printf(p->arena, "spec.rules[%zu].http.paths[%zu]", i, k);

                TRY(at ? check_path(item, at, p) : ERR_NO_MEMORY);
        }
        return 0;
}

int check_ingress(const json_t *doc, struct schema_problems *p)
{
        const json_t *rules = doc_get_array(doc, "spec.rules");
        json_t *rule;
        size_t i;

        if (json_array_size(rules) == 0 && !doc_get_object(doc, "spec.defaultBackend"))
                TRY(problem_add(p, "FieldValueInvalid", "spec",
                                "Invalid value: null: either `defaultBackend` or `rules` must be specified"));
        json_array_foreach((json_t *)rules, i, rule)
                TRY(check_ingress_rule(rule, i, p));
        return 0;
}

/* ---- network policies ---- */

/* "10.0.0.0/8", "2001:db8::/64" */
static bool is_cidr(const char *text)
{
        char address[64];
        const char *slash = strchr(text, '/');
        struct in6_addr six;
        int64_t bits;

        if (!slash || (size_t)(slash - text) >= sizeof(address) ||
            !slice_parse_i64(slice_of(slash + 1), &bits))
                return false;
        snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
        if (inet_pton(AF_INET, address, &six) == 1)
                return bits >= 0 && bits <= 32;
        return inet_pton(AF_INET6, address, &six) == 1 && bits >= 0 && bits <= 128;
}

static int check_peer(const json_t *peer, const char *at, struct schema_problems *p)
{
        static const char *const selectors[] = { "podSelector", "namespaceSelector" };
        const char *cidr = doc_get_string(peer, "ipBlock.cidr");

        for (size_t i = 0; i < ARRAY_LEN(selectors); i++) {
                const char *path = arena_printf(p->arena, "%s.%s", at, selectors[i]);

                TRY(path ? check_label_selector(doc_get_object(peer, selectors[i]), path, NULL, p)
                         : ERR_NO_MEMORY);
        }
        if (!cidr || is_cidr(cidr))
                return 0;
        return problem_at(p, "FieldValueInvalid",
                          arena_printf(p->arena,
                                       "Invalid value: \"%s\": must be a valid CIDR value, (e.g. 10.9.8.0/24 "
                                       "or 2001:db8::/64)",
                                       cidr),
                          "%s.ipBlock.cidr", at);
}

static int check_peers(const json_t *doc, const char *direction, const char *member,
                       struct schema_problems *p)
{
        const char *list = arena_printf(p->arena, "spec.%s", direction);
        size_t i, k;
        json_t *rule, *peer;

        if (!list)
                return ERR_NO_MEMORY;
        json_array_foreach(doc_get_array(doc, list), i, rule)
                json_array_foreach(doc_get_array(rule, member), k, peer) {
                        const char *at = arena_printf(p->arena, "%s[%zu].%s[%zu]", list, i, member, k);

                        TRY(at ? check_peer(peer, at, p) : ERR_NO_MEMORY);
                }
        return 0;
}

int check_network_policy(const json_t *doc, struct schema_problems *p)
{
        TRY(check_label_selector(doc_get_object(doc, "spec.podSelector"), "spec.podSelector", NULL, p));
        TRY(check_peers(doc, "ingress", "from", p));
        return check_peers(doc, "egress", "to", p);
}
