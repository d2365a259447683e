#include "hub-agent/webhook/registration.h"

#define REGISTRATION "admissionregistration.k8s.io"

const struct kube_resource validating_webhooks = { REGISTRATION, "v1", "validatingwebhookconfigurations",
                                                   "ValidatingWebhookConfiguration", false };
const struct kube_resource mutating_webhooks = { REGISTRATION, "v1", "mutatingwebhookconfigurations",
                                                 "MutatingWebhookConfiguration", false };
const struct kube_resource admission_policies = { REGISTRATION, "v1", "validatingadmissionpolicies",
                                                  "ValidatingAdmissionPolicy", false };
const struct kube_resource admission_policy_bindings = { REGISTRATION, "v1",
                                                         "validatingadmissionpolicybindings",
                                                         "ValidatingAdmissionPolicyBinding", false };

const struct kube_resource *webhook_configuration_resource(enum webhook_configuration_id id)
{
        return id == WEBHOOKS_MUTATING ? &mutating_webhooks : &validating_webhooks;
}

const struct kube_resource *admission_policy_resource(const json_t *doc)
{
        return text_equal(doc_get_string(doc, "kind"), admission_policies.kind) ? &admission_policies
                                                                                : &admission_policy_bindings;
}
