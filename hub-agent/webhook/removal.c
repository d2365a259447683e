#include "hub-agent/webhook/removal.h"

#include "common/base/memory.h"
#include "hub-agent/webhook/policies.h"
#include "hub-agent/webhook/registration.h"

#define PAUSE_MS 1000

static int remove_found(const struct webhook_removal *o, const struct kube_resource *r, const json_t *found,
                        struct error *err)
{
        const char *name = or_empty(doc_get_string(found, "metadata.name"));

        TRY(kube_doc_delete(o->kube, r, NULL, name, or_empty(doc_get_string(found, "metadata.uid")), NULL,
                            err));
        log_info(o->log, "what the agent left is removed", "kind", r->kind, "name", name);
        return 0;
}

/* ---- webhooks ---- */

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

static int remove_configuration(const struct webhook_removal *o, enum webhook_configuration_id id,
                                struct error *err)
{
        const struct kube_resource *r = webhook_configuration_resource(id);
        const char *name = webhook_configuration_name(id);
        AUTO_JSON json_t *found = NULL;

        TRY(kube_doc_get(o->kube, r, NULL, name, &found, err));
        if (is_ours(found, o))
                return remove_found(o, r, found, err);
        log_info(o->log, "a webhook configuration leads to another agent and stays", "kind", r->kind, "name",
                 name);
        return 0;
}

/* ---- admission policies ---- */

static bool has_labels_of(const json_t *found, const json_t *made)
{
        const char *label;
        json_t *value;

        json_object_foreach(doc_get_object(made, "metadata.labels"), label, value)
                if (!json_equal(json_object_get(doc_get_object(found, "metadata.labels"), label), value))
                        return false;
        return true;
}

/* made: as the agent makes it, if it is told to. */
static int remove_policy(const struct webhook_removal *o, const json_t *made, struct error *err)
{
        const struct kube_resource *r = admission_policy_resource(made);
        AUTO_JSON json_t *found = NULL;

        TRY(kube_doc_get(o->kube, r, NULL, or_empty(doc_get_string(made, "metadata.name")), &found, err));
        return has_labels_of(found, made) ? remove_found(o, r, found, err) : 0;
}

/* New: all that there may be, a policy before its binding. */
static int list_policies(const struct webhook_removal *o, json_t **ret, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct admission_policies all;

        *ret = NULL;
        if (!o->policies)
                return 0;
        TRY(admission_policies_parse(&arena, NULL, &all, err));
        return admission_policies_make(&all, ret, err);
}

/* ---- all of it ---- */

static void note(int code, const struct error *one, struct error *first)
{
        if (code < 0 && code != ERR_NOT_FOUND && first->code == 0)
                *first = *one;
}

/* What cannot be removed keeps none of the others; the first error is told. */
static int remove_all(const struct webhook_removal *o, struct error *err)
{
        AUTO_JSON json_t *made = NULL;
        struct error first = { 0 };

        TRY(list_policies(o, &made, err));
        for (int id = 0; id < N_WEBHOOK_CONFIGURATIONS; id++) {
                struct error one = { 0 };

                note(remove_configuration(o, (enum webhook_configuration_id)id, &one), &one, &first);
        }
        for (size_t i = json_array_size(made); i-- > 0;) {
                struct error one = { 0 };

                note(remove_policy(o, json_array_get(made, i), &one), &one, &first);
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
                log_warn(o->log, "what the agent left cannot be removed yet, trying again", "error",
                         err->text);
                error_clear(err);
                if (fiber_sleep(loop, PAUSE_MS) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
        }
}
