#include "hub-agent/webhook/removal.h"

#include "common/base/memory.h"
#include "hub-agent/webhook/admission.h"

#define PAUSE_MS 1000
#define REGISTRATION "admissionregistration.k8s.io"

static const struct kube_resource validating = { REGISTRATION, "v1", "validatingwebhookconfigurations",
                                                 "ValidatingWebhookConfiguration", false };
static const struct kube_resource mutating = { REGISTRATION, "v1", "mutatingwebhookconfigurations",
                                               "MutatingWebhookConfiguration", false };

/* "https://NAME.NAMESPACE.svc", and what follows is no more of the name. */
static bool is_url_of(const char *url, const struct webhook_removal *o)
{
        AUTO_FREE char *begin = mem_printf("https://%s.%s.svc", o->service, o->ns);

        return begin && text_starts_with(url, begin) && !text_empty(url + strlen(begin)) &&
               strchr(".:/", url[strlen(begin)]);
}

static bool leads_here(const json_t *webhook, const struct webhook_removal *o)
{
        const char *url = doc_get_string(webhook, "clientConfig.url");

        if (url)
                return is_url_of(url, o);
        return text_equal(doc_get_string(webhook, "clientConfig.service.name"), o->service) &&
               text_equal(doc_get_string(webhook, "clientConfig.service.namespace"), o->ns);
}

static bool is_ours(const json_t *configuration, const struct webhook_removal *o)
{
        json_t *webhook;
        size_t i;

        json_array_foreach(doc_get_array(configuration, "webhooks"), i, webhook)
                if (leads_here(webhook, o))
                        return true;
        return false;
}

static int look_and_remove(const struct webhook_removal *o, enum webhook_configuration_id id,
                           struct error *err)
{
        const struct kube_resource *r = id == WEBHOOKS_MUTATING ? &mutating : &validating;
        const char *name = webhook_configuration_name(id);
        AUTO_JSON json_t *found = NULL;

        TRY(kube_doc_get(o->kube, r, NULL, name, &found, err));
        if (!is_ours(found, o)) {
                log_info(o->log, "a webhook configuration leads to another agent and stays", "kind", r->kind,
                         "name", name);
                return 0;
        }
        TRY(kube_doc_delete(o->kube, r, NULL, name, or_empty(doc_get_string(found, "metadata.uid")), NULL,
                            err));
        log_info(o->log, "a webhook configuration is removed", "kind", r->kind, "name", name);
        return 0;
}

/* What cannot be removed keeps none of the others; the first error is told. */
static int remove_all(const struct webhook_removal *o, struct error *err)
{
        struct error first = { 0 };

        for (int id = 0; id < N_WEBHOOK_CONFIGURATIONS; id++) {
                struct error one = { 0 };
                int code = look_and_remove(o, (enum webhook_configuration_id)id, &one);

                if (code < 0 && code != ERR_NOT_FOUND && first.code == 0)
                        first = one;
        }
        if (first.code == 0)
                return 0;
        *err = first;
        return first.code;
}

int webhook_removal_run(const struct webhook_removal *o, struct error *err)
{
        struct loop *loop = o->kube->world->loop;
        int64_t deadline = loop_now_ms(loop) + WEBHOOK_REMOVAL_MS;

        for (;;) {
                int code = remove_all(o, err);

                if (code == 0 || code == ERR_CANCELLED || loop_now_ms(loop) >= deadline)
                        return code;
                log_warn(o->log, "webhook configurations cannot be removed yet, trying again", "error",
                         err->text);
                error_clear(err);
                if (fiber_sleep(loop, PAUSE_MS) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
        }
}
