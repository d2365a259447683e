#include "e2e/hostile/hostile.h"

#include "common/base/memory.h"

#define HUB_NAMESPACE "/api/v1/namespaces"
#define PLACEMENT "/apis/placement.kubernetes-fleet.io/v1beta1"
#define CLUSTER "/apis/cluster.kubernetes-fleet.io/v1beta1"
#define TRIES 450
#define POLL_MS 200
#define RBAC "/apis/rbac.authorization.k8s.io/v1"

/* Made by the administrator, in this order. */
static const struct {
        const char *path, *body;
} made[] = {
        { HUB_NAMESPACE, "{'metadata':{'name':'secret-app'}}" },
        { HUB_NAMESPACE "/secret-app/secrets",
          "{'metadata':{'name':'password'},'stringData':{'password':'" MARKER "'}}" },
        { HUB_NAMESPACE "/secret-app/configmaps",
          "{'metadata':{'name':'settings'},'data':{'key':'" MARKER "'}}" },
        { PLACEMENT "/clusterresourceplacements",
          "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ClusterResourcePlacement',"
          "'metadata':{'name':'secret-app','annotations':{'note':'" MARKER "'}},'spec':{'policy':"
          "{'placementType':'PickFixed','clusterNames':['" VICTIM "']},'resourceSelectors':[{'group':'',"
          "'version':'v1','kind':'Namespace','name':'secret-app'}]}}" },
        { PLACEMENT "/namespaces/fleet-member-" VICTIM "/works",
          "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'Work','metadata':{'name':'target'},"
          "'spec':{'workload':{'manifests':[{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c',"
          "'namespace':'default'},'data':{'key':'" MARKER "'}}]}}}" },
        { PLACEMENT "/namespaces/fleet-member-" HOSTILE "/works",
          "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'Work','metadata':{'name':'target',"
          "'labels':{'of':'the-hub'},'annotations':{'of':'the-hub'},"
          "'finalizers':['example.com/of-the-hub']},'spec':{'workload':{'manifests':[]}}}" },
        /* As the join script does: the right to renew the own token. */
        { RBAC "/namespaces/fleet-system/roles",
          "{'metadata':{'name':'" HOSTILE_ACCOUNT "'},'rules':[{'apiGroups':[''],'resources':"
          "['serviceaccounts/token'],'resourceNames':['" HOSTILE_ACCOUNT "'],'verbs':['create']}]}" },
        { RBAC "/namespaces/fleet-system/rolebindings",
          "{'metadata':{'name':'" HOSTILE_ACCOUNT "'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
          "'kind':'Role','name':'" HOSTILE_ACCOUNT "'},'subjects':[{'kind':'ServiceAccount','name':"
          "'" HOSTILE_ACCOUNT "','namespace':'fleet-system'}]}" },
};

/* All of these must be afterwards as they were. */
static const char *const kept[] = {
        PLACEMENT "/namespaces/fleet-member-" VICTIM "/works/target",
        PLACEMENT "/namespaces/fleet-member-" HOSTILE "/works/target",
        CLUSTER "/namespaces/fleet-member-" VICTIM "/internalmemberclusters/" VICTIM,
        CLUSTER "/namespaces/fleet-member-" HOSTILE "/internalmemberclusters/" HOSTILE,
        CLUSTER "/memberclusters/" VICTIM,
        CLUSTER "/memberclusters/" HOSTILE,
        PLACEMENT "/clusterresourceplacements/secret-app",
        RBAC "/namespaces/fleet-member-" VICTIM "/roles/fleet-role-" VICTIM,
        RBAC "/namespaces/fleet-member-" VICTIM "/rolebindings/fleet-rolebinding-" VICTIM,
        RBAC "/namespaces/fleet-member-" HOSTILE "/roles/fleet-role-" HOSTILE,
        RBAC "/namespaces/fleet-member-" HOSTILE "/rolebindings/fleet-rolebinding-" HOSTILE,
        RBAC "/clusterroles/view",
        HUB_NAMESPACE "/fleet-member-" VICTIM,
        HUB_NAMESPACE "/fleet-member-" HOSTILE,
        HUB_NAMESPACE "/secret-app/secrets/password",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/works.placement.kubernetes-fleet.io",
};

/* Where something of the name "hostile..." must not have come up. */
static const char *const searched[] = {
        PLACEMENT "/works",
        PLACEMENT "/clusterresourceplacements",
        PLACEMENT "/clusterresourcebindings",
        PLACEMENT "/clusterresourceoverrides",
        PLACEMENT "/resourceplacements",
        CLUSTER "/memberclusters",
        CLUSTER "/internalmemberclusters",
        RBAC "/roles",
        RBAC "/rolebindings",
        RBAC "/clusterroles",
        RBAC "/clusterrolebindings",
        "/api/v1/namespaces",
        "/api/v1/secrets",
        "/api/v1/configmaps",
        "/api/v1/serviceaccounts",
        "/api/v1/pods",
        "/api/v1/events",
        "/apis/apps/v1/deployments",
        "/apis/coordination.k8s.io/v1/leases",
        "/apis/certificates.k8s.io/v1/certificatesigningrequests",
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "/apis/apiregistration.k8s.io/v1/apiservices",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
};

static void with_double_quotes(char *text)
{
        for (; *text; text++)
                if (*text == '\'')
                        *text = '"';
}

static int get(struct hostile *h, const char *path, json_t **ret, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        TRY(kube_raw(h->admin, "GET", path, NULL, (struct slice){ 0 }, &arena, &r, err));
        return doc_parse(r.body, ret, err);
}

/* What the hub-agent writes into it at first is no attempt of anybody's. */
static int wait_for_placement(struct hostile *h, struct error *err)
{
        for (int i = 0; i < TRIES; i++) {
                AUTO_JSON json_t *doc = NULL;

                TRY(get(h, PLACEMENT "/clusterresourceplacements/secret-app", &doc, err));
                if (doc_get(doc, "metadata.finalizers") && doc_get(doc, "status.conditions"))
                        return 0;
                TRY(fiber_sleep(h->admin->world->loop, POLL_MS));
        }
        return error_set(err, ERR_TIMEOUT, "the hub-agent has not taken the placement in after %d ms",
                         TRIES * POLL_MS);
}

int ground_prepare(struct hostile *h, struct error *err)
{
        for (size_t i = 0; i < ARRAY_LEN(made); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                char *body = arena_strdup(&arena, made[i].body);
                struct http_response r;

                if (!body)
                        return error_no_memory(err);
                with_double_quotes(body);
                if (kube_raw(h->admin, "POST", made[i].path, "application/json", slice_of(body), &arena, &r,
                             err) < 0)
                        return error_wrap(err, "POST %s", made[i].path);
        }
        return wait_for_placement(h, err);
}

int ground_wait_for_policy(struct hostile *h, struct error *err)
{
        AUTO_FREE char *authorization = mem_printf("Bearer %s", h->token);
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct answer *answer = arena_alloc(&arena, sizeof(*answer));
        const struct ask change = { .method = "PATCH",
                                    .path = PLACEMENT "/namespaces/fleet-member-" HOSTILE
                                                      "/works/target?dryRun=All",
                                    .content_type = "application/merge-patch+json",
                                    .body = "{\"spec\":null}",
                                    .authorization = authorization };

        if (!authorization || !answer)
                return error_no_memory(err);
        for (int i = 0; i < TRIES; i++) {
                hostile_ask(h, &change, answer);
                if (answer->status == 403)
                        return 0;
                TRY(fiber_sleep(h->admin->world->loop, POLL_MS));
        }
        return error_set(err, ERR_TIMEOUT, "a member may change the spec of its Works after %d ms",
                         TRIES * POLL_MS);
}

/* What a member could want to change of an object; not what goes on by itself (versions, heartbeats). */
static json_t *essence(const json_t *doc)
{
        static const char *const parts[] = { "spec", "data", "rules", "subjects", "roleRef" };
        static const char *const metadata[] = {
                "uid",        "generation",        "labels", "annotations",
                "finalizers", "deletionTimestamp", "name",   "ownerReferences"
        };
        json_t *out = json_object();

        for (size_t i = 0; i < ARRAY_LEN(parts); i++)
                if (json_object_get(doc, parts[i]))
                        json_object_set(out, parts[i], json_object_get(doc, parts[i]));
        for (size_t i = 0; i < ARRAY_LEN(metadata); i++)
                if (json_object_get(json_object_get(doc, "metadata"), metadata[i]))
                        json_object_set(out, metadata[i],
                                        json_object_get(json_object_get(doc, "metadata"), metadata[i]));
        return out;
}

int ground_describe(struct hostile *h, char **ret, struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 16u << 20);
        for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
                AUTO_JSON json_t *doc = NULL, *short_doc = NULL;

                TRY(get(h, kept[i], &doc, err));
                short_doc = essence(doc);
                buf_printf(&b, "%s ", kept[i]);
                if (!short_doc || doc_write(short_doc, &b) < 0)
                        return error_no_memory(err);
                buf_append_char(&b, '\n');
        }
        *ret = buf_take(&b, NULL);
        return *ret ? 0 : error_no_memory(err);
}

int ground_find_foreign(struct hostile *h, struct buf *found, struct error *err)
{
        for (size_t i = 0; i < ARRAY_LEN(searched); i++) {
                AUTO_JSON json_t *list = NULL;
                json_t *item;
                size_t k;

                TRY(get(h, searched[i], &list, err));
                json_array_foreach(doc_get_array(list, "items"), k, item) {
                        const char *name = doc_get_string(item, "metadata.name");

                        if (name && text_starts_with(name, "hostile"))
                                buf_printf(found, " %s/%s", searched[i], name);
                }
        }
        return buf_status(found, err, "what was found");
}
