/* How a real API server finds the hub-agent's webhooks, where no kube-proxy leads from a Service to a process
 * beside it. */
#pragma once

#include "common/kube/client.h"

/* Makes, or leads elsewhere, the Service fleet-system/fleetwebhook, whose one endpoint is a port of
 * 127.0.0.1. API servers have to look for endpoints themselves (--enable-aggregator-routing). */
int webhook_service_make(struct kube_client *hub, int port, struct error *err);
