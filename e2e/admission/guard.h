/* The guard rail as admission policies: what charts/hub-agent/templates/guardpolicies.yaml renders, for tests
 * that have no helm. e2e/charts compares the two. */
#pragma once

#include "common/json/doc.h"

struct guard_policy {
        const char *name, *text; /* the file of charts/hub-agent/files/guard */
        const char *bindings[3]; /* their names, ended by NULL */
};
extern const struct guard_policy guard_policies[];
extern const size_t n_guard_policies;

struct guard_options {
        const char *const *whitelist; /* ended by NULL; NULL = nobody */
        bool fixed_labels;
};
/* The policy, and one of its bindings: new, complete but for the chart's labels. */
int guard_policy_make(const struct guard_policy *p, const struct guard_options *o, json_t **ret,
                      struct error *err);
int guard_binding_make(const struct guard_policy *p, const char *binding, json_t **ret, struct error *err);
