/* The configurations that lead the API server to the webhooks: spec/membership-webhooks-charts.md 4.3. What
 * the server would complete is written out, so that a configuration that it holds can be compared. */
#include "hub-agent/webhook/admission.h"
#include "proto/names.h"

static const struct {
        const char *kind, *name;
} configurations[N_WEBHOOK_CONFIGURATIONS] = {
        [WEBHOOKS_MUTATING] = { "MutatingWebhookConfiguration", WEBHOOK_CONFIGURATION_MUTATING },
        [WEBHOOKS_VALIDATING] = { "ValidatingWebhookConfiguration", WEBHOOK_CONFIGURATION_VALIDATING },
        [WEBHOOKS_GUARD_RAIL] = { "ValidatingWebhookConfiguration", WEBHOOK_CONFIGURATION_GUARD_RAIL },
};

const char *webhook_configuration_name(enum webhook_configuration_id id)
{
        return configurations[id].name;
}

/* New; "" is a list of one empty word, the core group. */
static json_t *words(const char *text)
{
        struct slice rest = slice_of(text), word;
        json_t *list = json_array();
        bool more;

        do {
                more = slice_cut(&rest, ' ', &word);
                if (json_array_append_new(list, json_stringn(word.data, word.len)) < 0) {
                        json_decref(list);
                        return NULL;
                }
        } while (more);
        return list;
}

static json_t *operations(unsigned set)
{
        static const struct {
                enum admission_operation bit;
                const char *name;
        } names[] = { { ADMISSION_CREATE, "CREATE" },
                      { ADMISSION_UPDATE, "UPDATE" },
                      { ADMISSION_DELETE, "DELETE" },
                      { ADMISSION_CONNECT, "CONNECT" } };
        json_t *list = json_array();

        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if ((set & names[i].bit) && json_array_append_new(list, json_string(names[i].name)) < 0) {
                        json_decref(list);
                        return NULL;
                }
        return list;
}

static json_t *rules(const struct webhook *w)
{
        json_t *list = json_array();

        for (size_t i = 0; i < w->n_rules; i++) {
                const struct webhook_rule *r = &w->rules[i];
                json_t *rule =
                        json_pack("{s:o,s:o,s:o,s:o,s:s}", "operations", operations(r->operations),
                                  "apiGroups", words(r->groups), "apiVersions", words(r->versions),
                                  "resources", words(r->resources), "scope", r->scope ? r->scope : "*");

                if (json_array_append_new(list, rule) < 0) {
                        json_decref(list);
                        return NULL;
                }
        }
        return list;
}

/* Any but those where the agent may run means also where it does. */
static json_t *namespaces(const struct webhook *w, const struct webhook_client *c)
{
        json_t *list = words(w->namespace_values), *one;
        size_t i;

        if (!w->elsewhere)
                return list;
        json_array_foreach(list, i, one)
                if (text_equal(json_string_value(one), c->ns))
                        return list;
        if (json_array_append_new(list, json_string(c->ns)) == 0)
                return list;
        json_decref(list);
        return NULL;
}

static json_t *namespace_selector(const struct webhook *w, const struct webhook_client *c)
{
        if (!w->namespace_label)
                return json_object();
        return json_pack("{s:[{s:s,s:s,s:o}]}", "matchExpressions", "key", w->namespace_label, "operator",
                         w->elsewhere ? "NotIn" : "In", "values", namespaces(w, c));
}

static json_t *client_config(const struct webhook *w, const struct webhook_client *c)
{
        json_t *config = c->url ? json_pack("{s:o}", "url",
                                            json_sprintf("https://%s.%s.svc.cluster.local:%d%s", c->service,
                                                         c->ns, c->port, w->path))
                                : json_pack("{s:{s:s,s:s,s:i,s:s}}", "service", "namespace", c->ns, "name",
                                            c->service, "port", c->port, "path", w->path);

        if (c->ca_bundle.len && json_object_set_new(config, "caBundle", doc_base64(c->ca_bundle)) < 0) {
                json_decref(config);
                return NULL;
        }
        return config;
}

static json_t *webhook_entry(const struct webhook *w, const struct webhook_client *client)
{
        json_t *entry =
                json_pack("{s:s,s:o,s:o,s:s,s:s,s:i,s:s,s:[s,s],s:o,s:{}}", "name", w->name, "clientConfig",
                          client_config(w, client), "rules", rules(w), "failurePolicy",
                          w->ignore_failures ? "Ignore" : "Fail", "sideEffects", "None", "timeoutSeconds",
                          w->timeout_seconds, "matchPolicy", "Equivalent", "admissionReviewVersions", "v1",
                          "v1beta1", "namespaceSelector", namespace_selector(w, client), "objectSelector");

        if (w->configuration == WEBHOOKS_MUTATING &&
            json_object_set_new(entry, "reinvocationPolicy", json_string("Never")) < 0) {
                json_decref(entry);
                return NULL;
        }
        return entry;
}

static json_t *frame(enum webhook_configuration_id id, const struct webhook_client *client)
{
        json_t *doc =
                json_pack("{s:s,s:s,s:{s:s,s:{s:s}},s:[]}", "apiVersion", "admissionregistration.k8s.io/v1",
                          "kind", configurations[id].kind, "metadata", "name", configurations[id].name,
                          "labels", LABEL_ADMISSIONS_ENFORCER_DISABLED, "true", "webhooks");

        if (client->inject_from &&
            json_object_set_new(json_object_get(doc, "metadata"), "annotations",
                                json_pack("{s:s}", ANNOTATION_INJECT_CA_FROM, client->inject_from)) < 0) {
                json_decref(doc);
                return NULL;
        }
        return doc;
}

int webhook_configuration_make(enum webhook_configuration_id id, const struct admission_flags *f,
                               const struct webhook_client *client, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;

        *ret = NULL;
        if (id == WEBHOOKS_GUARD_RAIL && !f->guard_rail)
                return 0;
        doc = frame(id, client);
        if (!doc)
                return error_no_memory(err);
        for (size_t i = 0; i < n_webhooks; i++) {
                const struct webhook *w = &webhooks[i];

                if (w->configuration != id || (w->registered && !w->registered(f)))
                        continue;
                if (json_array_append_new(json_object_get(doc, "webhooks"), webhook_entry(w, client)) < 0)
                        return error_no_memory(err);
        }
        *ret = TAKE_PTR(doc);
        return 0;
}
