#include "e2e/chart-runner/pod_template.h"

#define TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"
#define TOKEN_VOLUME "kube-api-access"
#define TOKEN_SECONDS 3607 /* what admission asks for: an hour and a bit */

static const struct kube_resource service_accounts = { "", "v1", "serviceaccounts", "ServiceAccount", true };

static json_t *token_volume(void)
{
        return json_pack("{s:s, s:{s:i, s:[{s:{s:i, s:s}}, {s:{s:s, s:[{s:s, s:s}]}}, "
                         "{s:{s:[{s:s, s:{s:s, s:s}}]}}]}}",
                         "name", TOKEN_VOLUME, "projected", "defaultMode", 0644, "sources",
                         "serviceAccountToken", "expirationSeconds", TOKEN_SECONDS, "path", "token",
                         "configMap", "name", "kube-root-ca.crt", "items", "key", "ca.crt", "path", "ca.crt",
                         "downwardAPI", "items", "path", "namespace", "fieldRef", "apiVersion", "v1",
                         "fieldPath", "metadata.namespace");
}

static int append(json_t *object, const char *field, json_t *value)
{
        json_t *list = json_object_get(object, field);

        if (!list && json_object_set_new(object, field, list = json_array()) < 0)
                return json_decref(value), ERR_NO_MEMORY;
        return json_array_append_new(list, value) < 0 ? ERR_NO_MEMORY : 0;
}

static bool has_mount(const json_t *container)
{
        json_t *mount;
        size_t i;

        json_array_foreach(doc_get_array(container, "volumeMounts"), i, mount)
                if (text_equal(doc_get_string(mount, "mountPath"), TOKEN_PATH))
                        return true;
        return false;
}

int pod_add_token_volume(json_t *spec)
{
        static const char *const lists[] = { "initContainers", "containers" };
        bool used = false;
        json_t *container;
        size_t i;

        for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
                json_array_foreach(doc_get_array(spec, lists[k]), i, container) {
                        if (has_mount(container))
                                continue;
                        used = true;
                        TRY(append(container, "volumeMounts",
                                   json_pack("{s:s, s:b, s:s}", "name", TOKEN_VOLUME, "readOnly", 1,
                                             "mountPath", TOKEN_PATH)));
                }
        }
        return used ? append(spec, "volumes", token_volume()) : 0;
}

/* The account must be there; it may say that its token is not for every pod. */
static int add_account(struct runner *r, json_t *spec, struct error *err)
{
        const char *name = doc_get_string(spec, "serviceAccountName");
        AUTO_JSON json_t *account = NULL;
        bool wanted;

        TRY(kube_doc_get(&r->kube, &service_accounts, r->options.ns, name ? name : "default", &account, err));
        if (!name && doc_set_string(spec, "serviceAccountName", "default") < 0)
                return error_no_memory(err);
        wanted = doc_get_bool(spec, "automountServiceAccountToken",
                              doc_get_bool(account, "automountServiceAccountToken", true));
        return wanted && pod_add_token_volume(spec) < 0 ? error_no_memory(err) : 0;
}

int pod_from_template(struct runner *r, const json_t *replica_set, json_t *owner, json_t **ret,
                      struct error *err)
{
        AUTO_JSON json_t *owners = owner, *spec = doc_copy(doc_get(replica_set, "spec.template.spec")),
                         *pod = json_pack("{s:s, s:s, s:{s:o, s:[s]}}", "apiVersion", "v1", "kind", "Pod",
                                          "metadata", "generateName",
                                          json_sprintf("%s-", doc_get_string(replica_set, "metadata.name")),
                                          "finalizers", RUNNER_FINALIZER);
        json_t *labels = doc_get(replica_set, "spec.template.metadata.labels"),
               *annotations = doc_get(replica_set, "spec.template.metadata.annotations");

        if (!owners || !spec || !pod || doc_set(pod, "metadata.ownerReferences", json_incref(owners)) < 0)
                return error_no_memory(err);
        TRY(add_account(r, spec, err));
        if ((labels && doc_set(pod, "metadata.labels", doc_copy(labels)) < 0) ||
            (annotations && doc_set(pod, "metadata.annotations", doc_copy(annotations)) < 0) ||
            doc_set_string(spec, "nodeName", r->options.node) < 0 ||
            doc_set(pod, "spec", json_incref(spec)) < 0)
                return error_no_memory(err);
        *ret = json_incref(pod);
        return 0;
}
