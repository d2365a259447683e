#include "e2e/scenarios/webhook_service.h"

#include "common/json/doc.h"

#define SERVICE "fleetwebhook"
#define SYSTEM_NAMESPACE "fleet-system"

static const struct kube_resource services = { "", "v1", "services", "Service", true };

/* Endpoints on the loopback are refused; an external name may look like one, and is followed. */
int webhook_service_make(struct kube_client *hub, const char *address, struct error *err)
{
        const struct kube_write how = { .field_manager = "fleet-setup", .force = true };
        AUTO_JSON json_t *doc =
                json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s}}", "apiVersion", "v1", "kind", services.kind,
                          "metadata", "name", SERVICE, "namespace", SYSTEM_NAMESPACE, "spec", "type",
                          "ExternalName", "externalName", address);

        if (!doc || !address)
                return error_no_memory(err);
        return kube_doc_patch(hub, &services, SYSTEM_NAMESPACE, SERVICE, KUBE_PATCH_APPLY, doc, &how, NULL,
                              err);
}
