/* Special behaviour of built-in kinds, one table of functions each. */
#pragma once

#include "e2e/devcluster/registry.h"

/* ---- accounts.c: Secrets that carry the token of a service account ---- */
int account_fill_secret(struct request *rq, json_t *doc);
int account_validate_secret(const json_t *doc, struct schema_problems *p);

extern const struct resource_hooks configmap_hooks, event_hooks, namespace_hooks, node_hooks, pod_hooks,
        secret_hooks, service_account_hooks, service_hooks, workload_hooks, job_hooks, csr_hooks, rbac_hooks,
        crd_hooks, binding_hooks, plain_hooks;
extern const struct resource_hooks policy_hooks, policy_binding_hooks, webhook_configuration_hooks;
extern const struct resource_hooks self_subject_review_hooks, token_review_hooks, subject_access_review_hooks,
        self_subject_access_review_hooks, self_subject_rules_review_hooks;

/* ---- pod_hooks.c ---- */
/* What a new pod's status says from the start: quality of service, whether scheduling waits. Comes after
 * admission, which may add requests. 0 or ERR_NO_MEMORY. */
int pod_complete_status(json_t *pod, int64_t now_ms);
