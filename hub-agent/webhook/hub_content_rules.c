/* What does not run on a hub: spec/membership-webhooks-charts.md 5.7. */
#include "hub-agent/webhook/rules.h"

/* The name, as far as it has one yet. */
static int refuse_on_hub(struct admission_call *c, const char *kind, const char *why)
{
        const char *name = doc_get_string(c->request.object, "metadata.name");

        if (c->request.operation != ADMISSION_CREATE)
                return admission_allow(c);
        if (!json_is_object(c->request.object))
                return admission_answer_with(c, false, 400, NULL, "there is no content to decode");
        if (is_reserved_namespace(c->request.ns))
                return ADMISSION_ALLOW(c, "%s %s/%s is in a reserved namespace", kind, c->request.ns,
                                       or_empty(name));
        return ADMISSION_DENY(c, "%s %s/%s %s", kind, c->request.ns, or_empty(name), why);
}

int pod_validate(struct admission_call *c)
{
        return refuse_on_hub(c, "Pod", "creation is disallowed in the fleet hub cluster");
}

int replica_set_validate(struct admission_call *c)
{
        return refuse_on_hub(c, "ReplicaSet", "creation is disallowed in the fleet hub cluster.");
}

int pod_budget_validate(struct admission_call *c)
{
        return refuse_on_hub(
                c, "PDBs",
                "cannot be directly created in the hub cluster due to potential side effects; to "
                "place a PDB to member clusters, consider wrapping it in a resource envelope.");
}
