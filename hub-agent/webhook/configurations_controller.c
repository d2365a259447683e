/* The configurations that lead the API server to the webhooks: spec/membership-webhooks-charts.md 4.3. */
#include "hub-agent/agent.h"
#include "hub-agent/webhook/keep.h"
#include "hub-agent/webhook/registration.h"
#include "hub-agent/webhook/serving.h"

#define KEY_ALL "all"

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };

/* With the agent's namespace they go, so that nobody is asked who is not there any more. */
static int belong_to_namespace(struct reconcile *rc, json_t *wanted)
{
        AUTO_JSON json_t *ns = NULL;

        TRY(kube_doc_get(rc->kube, &namespaces, NULL, NAMESPACE_FLEET_SYSTEM, &ns, rc->err));
        return doc_set(wanted, "metadata.ownerReferences",
                       json_pack("[{s:s,s:s,s:s,s:s,s:b}]", "apiVersion", "v1", "kind", "Namespace", "name",
                                 NAMESPACE_FLEET_SYSTEM, "uid", or_empty(doc_get_string(ns, "metadata.uid")),
                                 "blockOwnerDeletion", 0));
}

static const json_t *by_name(const json_t *list, const char *name)
{
        json_t *w;
        size_t i;

        json_array_foreach(list, i, w)
                if (text_equal(doc_get_string(w, "name"), name))
                        return w;
        return NULL;
}

/* What cert-manager has put in is its own. */
static int keep_injected(const json_t *live, json_t *wanted, struct error *err)
{
        json_t *w;
        size_t i;

        json_array_foreach(json_object_get(wanted, "webhooks"), i, w) {
                const json_t *had = by_name(json_object_get(live, "webhooks"), doc_get_string(w, "name"));
                const char *bundle = doc_get_string(had, "clientConfig.caBundle");

                if (bundle && doc_set_string(w, "clientConfig.caBundle", bundle) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

static int take_away(struct reconcile *rc, enum webhook_configuration_id id)
{
        int code = kube_doc_delete(rc->kube, webhook_configuration_resource(id), NULL,
                                   webhook_configuration_name(id), NULL, NULL, rc->err);

        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(rc->err);
        return 0;
}

static int bring_about(struct reconcile *rc, const struct webhook_serving *s,
                       enum webhook_configuration_id id)
{
        AUTO_JSON json_t *wanted = NULL;

        TRY(webhook_serving_configuration(s, id, &wanted, rc->err));
        if (!wanted)
                return take_away(rc, id);
        TRY(belong_to_namespace(rc, wanted));
        return keep_object(rc, webhook_configuration_resource(id), wanted, "a webhook configuration",
                           webhook_serving_injected(s) ? keep_injected : NULL);
}

static struct outcome reconcile(struct reconcile *rc)
{
        for (int id = 0; id < N_WEBHOOK_CONFIGURATIONS; id++)
                if (bring_about(rc, agent_of(rc)->webhooks, (enum webhook_configuration_id)id) < 0)
                        return failed(rc->err);
        return done();
}

const struct controller webhook_configurations_controller = {
        .name = "webhook-configurations",
        .reconcile = reconcile,
        .standing_key = KEY_ALL,
        .concurrency = 1,
};

static void changed(void *manager, const struct informer_event *e)
{
        const char *name = e->now->meta.name;

        for (int id = 0; id < N_WEBHOOK_CONFIGURATIONS; id++)
                if (text_equal(name, webhook_configuration_name((enum webhook_configuration_id)id)))
                        manager_enqueue(manager, &webhook_configurations_controller, KEY_ALL, QUEUE_HIGH);
}

static int follow_edits(struct manager *m, const struct kube_resource *r)
{
        const struct informer_options o = { .kind = &partial_object_kind,
                                            .resource = r,
                                            .flags = DECODE_PROJECTION };
        struct informer *i;

        TRY(manager_add_informer(m, &o, &i));
        return informer_add_handler(i, changed, m);
}

int webhook_configurations_start(struct manager *m)
{
        manager_enqueue(m, &webhook_configurations_controller, KEY_ALL, QUEUE_HIGH);
        TRY(follow_edits(m, &validating_webhooks));
        return follow_edits(m, &mutating_webhooks);
}
