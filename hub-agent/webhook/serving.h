/* The webhooks' endpoint: HTTPS on every replica, leading or not, and the configurations that lead the API
 * server to it. spec/membership-webhooks-charts.md 4. */
#pragma once

#include "common/kube/connection.h"
#include "common/net/http_server.h"
#include "hub-agent/common.h"
#include "hub-agent/webhook/admission.h"
#include "hub-agent/webhook/hub_view.h"

#define WEBHOOK_PORT 9443
#define WEBHOOK_CERTIFICATE_FOLDER "/tmp/k8s-webhook-server/serving-certs"

struct webhook_options {
        struct admission_flags flags;
        const char *ns, *service; /* of the agent's Service */
        bool url;                 /* by URL of its name instead of by reference */
        bool cert_manager;        /* certificates come as files, authorities into the configurations */
        const char *folder;       /* of those files; NULL = WEBHOOK_CERTIFICATE_FOLDER */
        const char *bind;
        int port; /* -1 = none is opened: `started` serves; 0 = any */
        /* Told when reviews can be answered, and with handle NULL before they cannot any more; may be NULL.
         */
        void (*started)(void *ctx, http_handler_fn handle, void *handle_ctx);
        /* Where `started` serves: from now on with this certificate, as http_server_set_identity(). May be
         * NULL.
         */
        int (*renewed)(void *ctx, const struct tls_identity *identity, struct error *err);
        void *started_ctx; /* of both */
};

struct webhook_serving;
struct webhook_serving_options {
        const struct webhook_options *webhooks;
        struct world *world;
        const struct log *log;
        struct kube_client *kube;
        struct manager *manager;
        struct kube_mapper *mapper;
        const struct filter_rules *filters;
        struct fiber_group *group; /* its fibers live here */
};
/* Parks until there are certificates: made and stored, read from the Secret that another replica stored, or
 * files. An API server that cannot be asked is asked again. */
int webhook_serving_start(const struct webhook_serving_options *o, struct webhook_serving **ret,
                          struct error *err);
struct webhook_serving *webhook_serving_stop(struct webhook_serving *s);
int webhook_serving_port(const struct webhook_serving *s);
/* The certificate that is served now, as PEM. */
const char *webhook_serving_certificate(const struct webhook_serving *s);

/* Whether the API server can use the webhooks: with cert-manager, whether every one has its authorities. */
bool webhook_serving_ready(void *serving, struct buf *why_not);

/* By the leader: the configurations as they are to be, with the authorities that serving has now; those that
 * flags switched off are removed. Edits are followed. */
extern const struct controller webhook_configurations_controller;
int webhook_configurations_start(struct manager *m);
/* What the configurations are to be; *ret is NULL where there is to be none. */
int webhook_serving_configuration(const struct webhook_serving *s, enum webhook_configuration_id id,
                                  json_t **ret, struct error *err);
bool webhook_serving_injected(const struct webhook_serving *s); /* by cert-manager, not by us */
