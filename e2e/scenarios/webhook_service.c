#include "e2e/scenarios/webhook_service.h"

#include "common/json/doc.h"

#define SERVICE "fleetwebhook"
#define SYSTEM_NAMESPACE "fleet-system"
#define SERVICE_PORT 9443 /* of the webhook configurations */
#define PORT_NAME "webhook"
#define HERE "127.0.0.1"

static const struct kube_resource services = { "", "v1", "services", "Service", true };
static const struct kube_resource slices = { "discovery.k8s.io", "v1", "endpointslices", "EndpointSlice",
                                             true };

static int put(struct kube_client *k, const struct kube_resource *r, json_t *doc, struct error *err)
{
        AUTO_JSON json_t *own = doc;
        const struct kube_write how = { .field_manager = "fleet-setup", .force = true };

        if (!own)
                return error_no_memory(err);
        return kube_doc_patch(k, r, SYSTEM_NAMESPACE, SERVICE, KUBE_PATCH_APPLY, own, &how, NULL, err);
}

/* Without a selector, so that nobody else writes its endpoints. */
static json_t *service(void)
{
        return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:[{s:s, s:i, s:s}]}}", "apiVersion", "v1", "kind",
                         services.kind, "metadata", "name", SERVICE, "namespace", SYSTEM_NAMESPACE, "spec",
                         "ports", "name", PORT_NAME, "port", SERVICE_PORT, "protocol", "TCP");
}

/* An IPv4 endpoint on the loopback is refused; as a name, which it looks like, it leads there. */
static json_t *slice(int port)
{
        return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:s, s:[{s:[s], s:{s:b}}], s:[{s:s, s:i, s:s}]}",
                         "apiVersion", "discovery.k8s.io/v1", "kind", slices.kind, "metadata", "name",
                         SERVICE, "namespace", SYSTEM_NAMESPACE, "labels", "kubernetes.io/service-name",
                         SERVICE, "addressType", "FQDN", "endpoints", "addresses", HERE, "conditions",
                         "ready", 1, "ports", "name", PORT_NAME, "port", port, "protocol", "TCP");
}

int webhook_service_make(struct kube_client *hub, int port, struct error *err)
{
        TRY(put(hub, &services, service(), err));
        return put(hub, &slices, slice(port), err);
}
