/* As whom the objects of a set are read, written and deleted. spec/resource-set.md 13. */
#pragma once

#include "hub-agent/agent.h"

struct set_account {
        const char *ns, *name; /* name NULL = the agent itself */
        bool of_set;           /* in the set's namespace: who writes sets there may well remove it */
};
/* What the set names, else the default of all namespaces, else the one account of all sets. ERR_NO_MEMORY. */
int set_account_of(struct arena *arena, const struct resource_set *set, const struct hub_agent_options *o,
                   struct set_account *ret);
/* The user that it is to the API server; of the arena, NULL on no memory. */
const char *set_account_user(struct arena *arena, const struct set_account *account);
/* Whether text is "NAMESPACE/NAME", as hub_agent_options.resource_set_account has it. */
bool set_account_is_named(const char *text);
