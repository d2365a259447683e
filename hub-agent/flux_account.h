/* As whom a ResourceSet, or a provider, reaches the hub's objects. spec/resource-set.md 13. */
#pragma once

#include "hub-agent/agent.h"

/* The service account: its own or the agent's default; NULL or "": the agent itself. Borrowed. */
const char *flux_account(struct reconcile *rc, const char *own);
/* The reconcile's client, as that account of the namespace. Lives as long as the reconcile. ERR_NO_MEMORY. */
int flux_account_client(struct reconcile *rc, const char *ns, const char *own, struct kube_client *ret);
