/* What `hub-agent --remove-webhooks` does when the agent was uninstalled: its webhook configurations go,
 * which would let nobody write placements and Pods for want of an agent that judges them, and its admission
 * policies, which would go on refusing Pods and ServiceAccounts. */
#pragma once

#include "common/kube/client.h"

#define WEBHOOK_REMOVAL_MS 60000

struct webhook_removal {
        struct kube_client *kube;
        const struct log *log;
        const char *ns,
                *service; /* of the agent's Service: a configuration that leads elsewhere is another's */
        bool policies;    /* those of --enable-admission-policy-manager, too */
};
/* From a fiber. Tries again for WEBHOOK_REMOVAL_MS; then the last error. */
int webhook_removal_run(const struct webhook_removal *o, struct error *err);
