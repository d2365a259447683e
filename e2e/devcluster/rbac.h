/* RBAC rules and what they say about a request. Pure: authz.c keeps the rules of a cluster, this file reads
 * them. */
#pragma once

#include "common/json/doc.h"

/* One PolicyRule; lists are NULL-terminated and never NULL. */
struct rbac_rule {
        const char *const *verbs, *const *groups, *const *resources, *const *names, *const *urls;
};

struct rbac_rules {
        const struct rbac_rule *at;
        size_t n;
};

/* What is asked. Either path (a non-resource request) or group, resource and the rest; "" or NULL = none. */
struct rbac_question {
        const char *verb;
        const char *group, *resource, *subresource, *name;
        const char *path;
};

/* Reads an array of rules into the arena; members of a wrong type are skipped (validation refuses them before
 * they are stored). ERR_NO_MEMORY. */
int rbac_rules_parse(struct arena *arena, const json_t *rules, struct rbac_rules *ret);
bool rbac_rule_allows(const struct rbac_rule *rule, const struct rbac_question *q);

/* Whether `held` grants everything in `wanted`. If not, *ret_missing is a text with one line for each part
 * that is not held, sorted, as kube-apiserver prints them; NULL otherwise. ERR_NO_MEMORY. */
int rbac_find_missing(struct arena *arena, const struct rbac_rule *const *held, size_t n_held,
                      const struct rbac_rules *wanted, const char **ret_missing);
