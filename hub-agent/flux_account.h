/* As whom the objects of a ResourceSet, and what a provider looks for, are reached. spec/resource-set.md 13.
 */
#pragma once

#include "hub-agent/agent.h"

struct flux_account {
        const char *ns, *name; /* name NULL = the agent itself */
        bool is_local;         /* in the object's own namespace: who writes there may well remove it */
};
/* What an object of namespace `ns` names (NULL or "": nothing), else the default of all namespaces, else the
 * one account of all sets. Texts are borrowed, or the arena's. ERR_NO_MEMORY. */
int flux_account_of(struct arena *arena, const char *ns, const char *named, const struct hub_agent_options *o,
                    struct flux_account *ret);
/* The user that it is to the API server; of the arena, NULL on no memory. */
const char *flux_account_user(struct arena *arena, const struct flux_account *account);
/* Whether text is "NAMESPACE/NAME", as hub_agent_options.resource_set_account has it. */
bool flux_account_is_named(const char *text);
/* The reconcile's client as that account, as long as the reconcile. ERR_NO_MEMORY. */
int flux_account_client(struct reconcile *rc, const struct flux_account *account, struct kube_client *ret);
