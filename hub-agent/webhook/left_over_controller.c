/* Webhook configurations that an agent before this one left: spec/membership-webhooks-charts.md 4.3. */
#include "hub-agent/webhook/left_over.h"

/* The three names belong to whoever leads: each maker's agent writes them anew when it becomes the leader,
 * and none takes them away when it goes. This agent serves no webhooks, so that what it finds can only
 * refuse: with failurePolicy Fail no Pod and no placement could be written. One that serves webhooks writes
 * these names itself in place of this. */
static const struct kind validating = { .group = "admissionregistration.k8s.io",
                                        .version = "v1",
                                        .api_version = "admissionregistration.k8s.io/v1",
                                        .kind = "ValidatingWebhookConfiguration",
                                        .plural = "validatingwebhookconfigurations",
                                        .list_kind = "ValidatingWebhookConfigurationList" };
static const struct kind mutating = { .group = "admissionregistration.k8s.io",
                                      .version = "v1",
                                      .api_version = "admissionregistration.k8s.io/v1",
                                      .kind = "MutatingWebhookConfiguration",
                                      .plural = "mutatingwebhookconfigurations",
                                      .list_kind = "MutatingWebhookConfigurationList" };
static const struct left_over {
        const struct kind *kind;
        const char *name;
} left_overs[] = {
        { &validating, "fleet-validating-webhook-configuration" },
        { &validating, "fleet-guard-rail-webhook-configuration" },
        { &mutating, "fleet-mutating-webhook-configuration" },
};

static void tell(struct reconcile *rc, const struct left_over *l, const char *uid)
{
        const struct object about = {
                .kind = l->kind, .meta = { .name = (char *)(uintptr_t)l->name, .uid = (char *)(uintptr_t)uid }
        };

        log_warn(&rc->log, "a webhook configuration that another agent left is removed", "kind",
                 l->kind->kind, "name", l->name);
        rc_event(rc, &about, "Warning", "LeftOverWebhooksRemoved",
                 "another agent left it, and this one, which leads now, serves no webhooks");
}

static int take_away(struct reconcile *rc, const struct left_over *l)
{
        const struct kube_resource r = kube_resource_of(l->kind);
        AUTO_JSON json_t *found = NULL;
        int code = kube_doc_get(rc->kube, &r, NULL, l->name, &found, rc->err);
        const char *uid;

        if (code == 0) {
                uid = or_empty(doc_get_string(found, "metadata.uid"));
                code = kube_doc_delete(rc->kube, &r, NULL, l->name, uid, NULL, rc->err);
                if (code == 0)
                        tell(rc, l, uid);
        }
        if (code == ERR_NOT_FOUND) {
                error_clear(rc->err);
                code = 0;
        }
        return code;
}

/* What cannot be removed keeps none of the others; the frame tries again, and a missing right is told. */
static struct outcome reconcile(struct reconcile *rc)
{
        struct error first = { 0 };

        for (size_t i = 0; i < ARRAY_LEN(left_overs); i++)
                if (take_away(rc, &left_overs[i]) < 0) {
                        if (rc->err->code == ERR_CANCELLED)
                                return failed(rc->err);
                        if (first.code == 0)
                                first = *rc->err;
                        error_clear(rc->err);
                }
        if (first.code == 0)
                return done();
        *rc->err = first;
        return failed(rc->err);
}

const struct controller left_over_webhooks_controller = {
        .name = "left-over-webhooks",
        .reconcile = reconcile,
        .standing_key = "all",
        .concurrency = 1,
};

void left_over_webhooks_enqueue(struct manager *m)
{
        manager_enqueue(m, &left_over_webhooks_controller, "all", QUEUE_HIGH);
}
