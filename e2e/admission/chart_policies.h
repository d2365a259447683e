/* What webhooks say, as admission policies: what charts/hub-agent/templates/webhookpolicies.yaml renders, for
 * tests that have no helm. e2e/charts compares the two. */
#pragma once

#include "common/json/doc.h"

struct chart_policy {
        const char *name, *text; /* the spec: a file of charts/hub-agent/files */
        const char *shared;      /* variables before its own; NULL = none */
        const char *bindings[3]; /* their names, ended by NULL */
};
extern const struct chart_policy guard_policies[]; /* the guard rail: files/guard */
extern const size_t n_guard_policies;
extern const struct chart_policy rule_policies[]; /* the other webhooks: files/webhook-rules */
extern const size_t n_rule_policies;

struct chart_policy_options {
        const char *const *whitelist; /* ended by NULL; NULL = nobody */
        bool fixed_labels;
};
/* The policy, and one of its bindings: new, complete but for the chart's labels. */
int chart_policy_make(const struct chart_policy *p, const struct chart_policy_options *o, json_t **ret,
                      struct error *err);
int chart_policy_binding(const struct chart_policy *p, const char *binding, json_t **ret, struct error *err);
