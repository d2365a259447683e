/* The admission policies that the agent installs, for what the API server can judge by itself:
 * spec/membership-webhooks-charts.md 6. Pure. */
#pragma once

#include "common/json/doc.h"
#include "proto/object.h"

/* What a policy is made from; the strings live in the arena that it was read with. */
struct admission_policy_config {
        bool wanted;
        struct string_list prefixes; /* of reserved namespaces: one at least */
        struct string_list users, groups;
};
struct admission_policies {
        struct admission_policy_config pods;     /* no Pods nor ReplicaSets outside reserved namespaces */
        struct admission_policy_config accounts; /* no ServiceAccounts nor their tokens inside of them */
};

/* From the text of the configuration file (YAML or JSON); NULL: both policies, for fleet- and kube-. Keys in
 * whatever case; ERR_INVALID names all that is wrong. */
int admission_policies_parse(struct arena *arena, const struct slice *text, struct admission_policies *ret,
                             struct error *err);

/* As all objects of the policy manager are labelled: by this they are found again. */
#define ADMISSION_POLICY_SELECTOR                                                                            \
        "app.kubernetes.io/managed-by=fleet-hub-agent,app.kubernetes.io/part-of=fleet,"                      \
        "app.kubernetes.io/component=admission-policy-manager"
/* Whether a policy or binding of the name may be one of the agent's: it has rights for no other. */
bool admission_policy_is_named(const char *name);
/* The policies and bindings as they are to be, each policy before its binding. *ret: a new array. */
int admission_policies_make(const struct admission_policies *p, json_t **ret, struct error *err);
