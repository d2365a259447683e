#include "e2e/devcluster/admission_plugins.h"

#include "common/base/timefmt.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

static const char *annotation(const json_t *doc, const char *key)
{
        const char *const path[] = { "metadata", "annotations", key };
        return json_string_value(doc_get_keys(doc, path, ARRAY_LEN(path)));
}

/* The list at path, made when absent; NULL on no memory. */
static json_t *list_at(json_t *doc, const char *path)
{
        json_t *list = doc_get_array(doc, path);
        if (!list && doc_set(doc, path, list = json_array()) < 0)
                return NULL;
        return list;
}

/* ---- ServiceAccount ---- */

#define TOKEN_VOLUME "kube-api-access-"
#define TOKEN_MOUNT "/var/run/secrets/kubernetes.io/serviceaccount"
#define TOKEN_SECONDS 3607

static const char *find_token_volume(const json_t *pod)
{
        size_t i;
        json_t *v;
        json_array_foreach(doc_get_array(pod, "spec.volumes"), i, v)
                if (text_starts_with(text_at(v, "name"), TOKEN_VOLUME))
                        return text_at(v, "name");
        return NULL;
}

static bool has_mount(const json_t *container)
{
        size_t i;
        json_t *m;
        json_array_foreach(doc_get_array(container, "volumeMounts"), i, m)
                if (text_equal(text_at(m, "mountPath"), TOKEN_MOUNT))
                        return true;
        return false;
}

/* *mounted becomes true when a container got the mount. */
static int mount_token(json_t *containers, const char *volume, bool *mounted)
{
        size_t i;
        json_t *c;
        json_array_foreach(containers, i, c) {
                json_t *mounts = has_mount(c) ? NULL : list_at(c, "volumeMounts");
                if (has_mount(c))
                        continue;
                if (!mounts ||
                    json_array_append_new(mounts, json_pack("{s:s,s:b,s:s}", "name", volume, "readOnly", 1,
                                                            "mountPath", TOKEN_MOUNT)) < 0)
                        return ERR_NO_MEMORY;
                *mounted = true;
        }
        return 0;
}

static json_t *token_volume(const char *name)
{
        return json_pack(
                "{s:s,s:{s:[{s:{s:i,s:s}},{s:{s:s,s:[{s:s,s:s}]}},{s:{s:[{s:s,s:{s:s,s:s}}]}}],s:i}}", "name",
                name, "projected", "sources", "serviceAccountToken", "expirationSeconds", TOKEN_SECONDS,
                "path", "token", "configMap", "name", "kube-root-ca.crt", "items", "key", "ca.crt", "path",
                "ca.crt", "downwardAPI", "items", "path", "namespace", "fieldRef", "apiVersion", "v1",
                "fieldPath", "metadata.namespace", "defaultMode", 420);
}

static int add_token(struct request *rq, json_t *pod)
{
        const char *there = find_token_volume(pod);
        const char *name = there ? there : meta_random_name(rq, TOKEN_VOLUME);
        bool mounted = false;
        if (!name || mount_token(doc_get_array(pod, "spec.initContainers"), name, &mounted) < 0 ||
            mount_token(doc_get_array(pod, "spec.containers"), name, &mounted) < 0)
                return ERR_NO_MEMORY;
        if (!mounted || there)
                return 0;
        json_t *volumes = list_at(pod, "spec.volumes");
        return volumes && json_array_append_new(volumes, token_volume(name)) == 0 ? 0 : ERR_NO_MEMORY;
}

static int use_account(struct request *rq, const json_t *account, json_t *pod)
{
        const json_t *secrets = doc_get_array(account, "imagePullSecrets");
        bool automount = doc_get_bool(account, "automountServiceAccountToken", true);
        if (doc_get_bool(pod, "spec.automountServiceAccountToken", automount))
                TRY(add_token(rq, pod));
        if (json_array_size(secrets) == 0 || json_array_size(doc_get_array(pod, "spec.imagePullSecrets")) > 0)
                return 0;
        return doc_set(pod, "spec.imagePullSecrets", doc_copy(secrets));
}

static int admit_service_account(struct request *rq, json_t *pod)
{
        const char *name = text_at(pod, "spec.serviceAccountName");
        AUTO_JSON json_t *account = NULL;
        if (annotation(pod, "kubernetes.io/config.mirror"))
                return 0;
        const struct blob *b =
                api_store_get(api_store_table(rq->cluster, "/serviceaccounts", false), rq->ns, name);
        if (!b)
                return request_fail_forbidden(
                        rq, meta_name(pod),
                        "error looking up service account %s/%s: serviceaccount \"%s\" not found", rq->ns,
                        name, name);
        if (blob_parse(b, &account, NULL) < 0 || use_account(rq, account, pod) < 0)
                return request_fail_memory(rq);
        return 0;
}

/* ---- Priority ---- */

#define PRIORITY_CLASSES "scheduling.k8s.io/priorityclasses"

/* The class for pods that name none: of several the one with the lowest value. *ret new, NULL if none. */
static int default_priority(struct request *rq, json_t **ret)
{
        const struct table *t = api_store_table(rq->cluster, PRIORITY_CLASSES, false);
        for (size_t i = 0; t && i < t->items.n; i++) {
                AUTO_JSON json_t *class = NULL;
                if (!strstr(t->items.at[i]->data, "\"globalDefault\":true"))
                        continue;
                if (blob_parse(t->items.at[i], &class, NULL) < 0)
                        return ERR_NO_MEMORY;
                if (!*ret || doc_get_int(class, "value", 0) < doc_get_int(*ret, "value", 0)) {
                        json_decref(*ret);
                        *ret = TAKE_PTR(class);
                }
        }
        return 0;
}

/* What nobody has to create: as every cluster has them. */
static json_t *system_class(const char *name)
{
        int value = text_equal(name, "system-node-critical")      ? 2000001000
                    : text_equal(name, "system-cluster-critical") ? 2000000000
                                                                  : 0;
        return value ? json_pack("{s:{s:s},s:i}", "metadata", "name", name, "value", value) : NULL;
}

static int find_priority(struct request *rq, const json_t *pod, json_t **ret)
{
        const char *name = text_at(pod, "spec.priorityClassName");
        const struct blob *b = api_store_get(api_store_table(rq->cluster, PRIORITY_CLASSES, false), "", name);
        if (!*name)
                return default_priority(rq, ret) < 0 ? request_fail_memory(rq) : 0;
        if (!b && (*ret = system_class(name)))
                return 0;
        if (!b)
                return request_fail_forbidden(rq, meta_name(pod), "no PriorityClass with name %s was found",
                                              name);
        return blob_parse(b, ret, NULL) < 0 ? request_fail_memory(rq) : 0;
}

static int admit_priority(struct request *rq, json_t *pod)
{
        AUTO_JSON json_t *class = NULL;
        TRY(find_priority(rq, pod, &class));
        int64_t value = doc_get_int(class, "value", 0);
        const char *policy = doc_get_string(class, "preemptionPolicy");
        policy = policy ? policy : "PreemptLowerPriority";
        if (doc_get(pod, "spec.priority") && doc_get_int(pod, "spec.priority", 0) != value)
                return request_fail_forbidden(rq, meta_name(pod),
                                              "the integer value of priority (%lld) must not be provided in "
                                              "pod spec; priority admission controller computed %lld from "
                                              "the given PriorityClass name",
                                              (long long)doc_get_int(pod, "spec.priority", 0),
                                              (long long)value);
        if (doc_get(pod, "spec.preemptionPolicy") &&
            !text_equal(text_at(pod, "spec.preemptionPolicy"), policy))
                return request_fail_forbidden(
                        rq, meta_name(pod),
                        "the string value of PreemptionPolicy (%s) must not be provided "
                        "in pod spec; priority admission controller computed %s from "
                        "the given PriorityClass name",
                        text_at(pod, "spec.preemptionPolicy"), policy);
        int r = class ? doc_set_string(pod, "spec.priorityClassName", meta_name(class)) : 0;
        r |= doc_set_int(pod, "spec.priority", value);
        r |= doc_set_string(pod, "spec.preemptionPolicy", policy);
        return r < 0 ? request_fail_memory(rq) : 0;
}

/* ---- DefaultTolerationSeconds ---- */

#define TOLERATION_SECONDS 300

static bool tolerates(const json_t *list, const char *taint)
{
        size_t i;
        json_t *t;
        json_array_foreach(list, i, t) {
                const char *key = text_at(t, "key"), *effect = text_at(t, "effect");
                if ((!*key || strcmp(key, taint) == 0) && (!*effect || strcmp(effect, "NoExecute") == 0))
                        return true;
        }
        return false;
}

static int admit_tolerations(struct request *rq, json_t *pod)
{
        static const char *const taints[] = { "node.kubernetes.io/not-ready",
                                              "node.kubernetes.io/unreachable" };
        json_t *list = list_at(pod, "spec.tolerations");
        for (size_t i = 0; list && i < ARRAY_LEN(taints); i++)
                if (!tolerates(list, taints[i]) &&
                    json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:i}", "key", taints[i], "operator",
                                                          "Exists", "effect", "NoExecute",
                                                          "tolerationSeconds", TOLERATION_SECONDS)) < 0)
                        return request_fail_memory(rq);
        if (list && json_array_size(list) == 0)
                json_object_del(doc_get_object(pod, "spec"), "tolerations");
        return list ? 0 : request_fail_memory(rq);
}

/* ---- classes ---- */

/* The newest class marked as the default one, of two of the same second the first by name; NULL = none. */
static const struct blob *default_class(struct request *rq, const char *table_key, const char *mark)
{
        const struct table *t = api_store_table(rq->cluster, table_key, false);
        const struct blob *best = NULL;
        char best_time[RFC3339_SIZE] = "";
        for (size_t i = 0; t && i < t->items.n; i++) {
                AUTO_JSON json_t *class = NULL;
                if (!strstr(t->items.at[i]->data, mark) || blob_parse(t->items.at[i], &class, NULL) < 0 ||
                    !text_equal(annotation(class, mark), "true"))
                        continue;
                const char *made = text_at(class, "metadata.creationTimestamp");
                if (best && strcmp(made, best_time) <= 0)
                        continue;
                best = t->items.at[i];
                snprintf(best_time, sizeof(best_time), "%s", made);
        }
        return best;
}

static int set_class(struct request *rq, json_t *doc, const char *path, const struct blob *class)
{
        return class && doc_set_string(doc, path, blob_name(class)) < 0 ? request_fail_memory(rq) : 0;
}

static int protect(struct request *rq, json_t *doc, const char *finalizer)
{
        if (meta_has_finalizer(doc, finalizer))
                return 0;
        return meta_add_finalizer(doc, finalizer) < 0 ? request_fail_memory(rq) : 0;
}

static int admit_claim(struct request *rq, json_t *claim)
{
        static const char mark[] = "storageclass.kubernetes.io/is-default-class";
        TRY(limit_ranger_admit(rq, claim));
        if (!doc_get(claim, "spec.storageClassName") &&
            !annotation(claim, "volume.beta.kubernetes.io/storage-class"))
                TRY(set_class(rq, claim, "spec.storageClassName",
                              default_class(rq, "storage.k8s.io/storageclasses", mark)));
        return protect(rq, claim, "kubernetes.io/pvc-protection");
}

static int admit_volume(struct request *rq, json_t *volume)
{
        char now[RFC3339_SIZE];
        time_format_rfc3339(rq->now_ms, now);
        if (doc_set_string(volume, "status.lastPhaseTransitionTime", now) < 0)
                return request_fail_memory(rq);
        return protect(rq, volume, "kubernetes.io/pv-protection");
}

static int admit_ingress(struct request *rq, json_t *ingress)
{
        static const char mark[] = "ingressclass.kubernetes.io/is-default-class";
        if (doc_get(ingress, "spec.ingressClassName") || annotation(ingress, "kubernetes.io/ingress.class"))
                return 0;
        return set_class(rq, ingress, "spec.ingressClassName",
                         default_class(rq, "networking.k8s.io/ingressclasses", mark));
}

/* ---- all ---- */

static int admit_pod(struct request *rq, json_t *pod)
{
        if (!doc_get_object(pod, "spec"))
                return 0;
        TRY(limit_ranger_admit(rq, pod));
        TRY(admit_service_account(rq, pod));
        TRY(admit_priority(rq, pod));
        TRY(admit_tolerations(rq, pod));
        return pod_complete_status(pod, rq->now_ms) < 0 ? request_fail_memory(rq) : 0;
}

/* Nothing is to run there before its kubelet has said that it is ready. */
static int admit_node(struct request *rq, json_t *node)
{
        static const char key[] = "node.kubernetes.io/not-ready";
        size_t i;
        json_t *t, *taints = list_at(node, "spec.taints");
        json_array_foreach(taints, i, t)
                if (text_equal(text_at(t, "key"), key))
                        return 0;
        if (!taints ||
            json_array_append_new(taints, json_pack("{s:s,s:s}", "key", key, "effect", "NoSchedule")) < 0)
                return request_fail_memory(rq);
        return 0;
}

int admission_complete(struct request *rq, json_t *doc)
{
        static const struct {
                const char *table_key;
                int (*admit)(struct request *rq, json_t *doc);
        } plugins[] = {
                { "/pods", admit_pod },
                { "/persistentvolumeclaims", admit_claim },
                { "/persistentvolumes", admit_volume },
                { "/nodes", admit_node },
                { "networking.k8s.io/ingresses", admit_ingress },
        };
        for (size_t i = 0; !rq->resource->custom && i < ARRAY_LEN(plugins); i++)
                if (strcmp(plugins[i].table_key, rq->resource->table_key) == 0)
                        return plugins[i].admit(rq, doc);
        return 0;
}
