/* What every logical cluster has from the start, and what every namespace gets. */
#include "common/base/timefmt.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/rbac_bootstrap.h"

#define CLUSTER_ROLES "rbac.authorization.k8s.io/clusterroles"
#define CLUSTER_BINDINGS "rbac.authorization.k8s.io/clusterrolebindings"

static int create(struct devcluster *d, struct cluster *c, const char *key, const char *ns, json_t *doc,
                  struct error *err)
{
        AUTO_JSON json_t *taken UNUSED = doc; /* dropped at the end, whatever happens */
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct request rq;
        struct write_result w = { 0 };
        if (!doc)
                return error_no_memory(err);
        TRY(request_internal(&rq, d, c, key, ns, NULL, &arena));
        int r = rest_create(&rq, doc, &w);
        if (r < 0 && text_equal(rq.status.reason, "AlreadyExists"))
                r = 0;
        if (r < 0)
                error_set(err, ERR_INTERNAL, "%s: %s", key, rq.status.message);
        json_decref(w.doc);
        vec_free(&rq.warnings);
        return r;
}

static int create_namespace(struct devcluster *d, struct cluster *c, const char *name, struct error *err)
{
        return create(d, c, "/namespaces", NULL, json_pack("{s:{s:s}}", "metadata", "name", name), err);
}

int bootstrap_namespace(struct devcluster *d, struct cluster *c, const char *name, struct error *err)
{
        TRY(create(d, c, "/serviceaccounts", name, json_pack("{s:{s:s}}", "metadata", "name", "default"),
                   err));
        static const char description[] =
                "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
                "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
                "guaranteed across distributions of Kubernetes clusters.";
        json_t *ca =
                json_pack("{s:{s:s,s:{s:s}},s:{s:s}}", "metadata", "name", "kube-root-ca.crt", "annotations",
                          "kubernetes.io/description", description, "data", "ca.crt", pki_ca_text(d));
        return create(d, c, "/configmaps", name, ca, err);
}

static int create_kubernetes_service(struct devcluster *d, struct cluster *c, struct error *err)
{
        json_t *service = json_pack(
                "{s:{s:s,s:{s:s,s:s}},s:{s:s,s:[s],s:[s],s:s,s:[{s:s,s:i,s:s,s:i}],s:s,s:s}}", "metadata",
                "name", "kubernetes", "labels", "component", "apiserver", "provider", "kubernetes", "spec",
                "clusterIP", "10.96.0.1", "clusterIPs", "10.96.0.1", "ipFamilies", "IPv4", "ipFamilyPolicy",
                "SingleStack", "ports", "name", "https", "port", 443, "protocol", "TCP", "targetPort", 6443,
                "sessionAffinity", "None", "type", "ClusterIP");
        return create(d, c, "/services", "default", service, err);
}

/* The documents as the first cluster stored them: the same for all but uid and time. */
static int make_roles(struct devcluster *d, struct cluster *c, struct error *err)
{
        AUTO_JSON json_t *made = json_array();
        json_t *doc;
        for (size_t i = 0;; i++) {
                int r = rbac_bootstrap_object(i, &doc);
                if (r == ERR_NOT_FOUND)
                        break;
                if (r < 0)
                        return error_no_memory(err);
                bool role = text_equal(doc_get_string(doc, "kind"), "ClusterRole");
                int kept = json_array_append(made, doc);
                TRY(create(d, c, role ? CLUSTER_ROLES : CLUSTER_BINDINGS, NULL, doc, err));
                if (kept < 0)
                        return error_no_memory(err);
        }
        d->bootstrap_roles = TAKE_PTR(made);
        return 0;
}

static int copy_role(struct devcluster *d, struct cluster *c, const json_t *made, struct error *err)
{
        AUTO_JSON json_t *doc = json_object(), *meta = json_object();
        char uid[37], now[RFC3339_SIZE];
        meta_new_uid(d->loop, uid);
        time_format_rfc3339(loop_wall_ms(d->loop), now);
        bool role = text_equal(doc_get_string(made, "kind"), "ClusterRole");
        struct table *t = api_store_table(c, role ? CLUSTER_ROLES : CLUSTER_BINDINGS, true);
        if (!doc || !t || json_object_update(doc, (json_t *)made) < 0 ||
            json_object_update(meta, json_object_get(made, "metadata")) < 0 ||
            json_object_set(doc, "metadata", meta) < 0 || doc_set_string(doc, "metadata.uid", uid) < 0 ||
            doc_set_string(doc, "metadata.creationTimestamp", now) < 0)
                return error_no_memory(err);
        return api_store_put(t, doc, NULL, err);
}

static int create_roles(struct devcluster *d, struct cluster *c, struct error *err)
{
        size_t i;
        json_t *made;
        if (!d->bootstrap_roles)
                return make_roles(d, c, err);
        json_array_foreach(d->bootstrap_roles, i, made)
                TRY(copy_role(d, c, made, err));
        return 0;
}

int bootstrap_cluster(struct devcluster *d, struct cluster *c, struct error *err)
{
        static const char *const namespaces[] = { "default", "kube-system", "kube-public",
                                                  "kube-node-lease" };
        for (size_t i = 0; i < ARRAY_LEN(namespaces); i++)
                TRY(create_namespace(d, c, namespaces[i], err));
        TRY(create_roles(d, c, err));
        return create_kubernetes_service(d, c, err);
}
