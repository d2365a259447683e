/* How a real API server finds the hub-agent's webhooks, where no kube-proxy leads from a Service to a process
 * beside it. */
#pragma once

#include "common/kube/client.h"

#define WEBHOOK_SERVICE_PORT 9443 /* of the webhook configurations: API servers ask nowhere else */

/* Makes, or leads elsewhere, the Service fleet-system/fleetwebhook: another name of `address`, an IP address
 * of this machine. */
int webhook_service_make(struct kube_client *hub, const char *address, struct error *err);
