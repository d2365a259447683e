/* The kinds by which an API server is told of webhooks and admission policies. */
#pragma once

#include "common/kube/client.h"
#include "hub-agent/webhook/admission.h"

extern const struct kube_resource validating_webhooks, mutating_webhooks;
extern const struct kube_resource admission_policies, admission_policy_bindings;

const struct kube_resource *webhook_configuration_resource(enum webhook_configuration_id id);
/* Of a policy or binding, by its kind. */
const struct kube_resource *admission_policy_resource(const json_t *doc);
