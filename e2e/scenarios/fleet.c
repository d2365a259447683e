/* Setting a fleet up through its API servers, the way the join scripts do it. */
#include "e2e/scenarios/fleet.h"

#include "common/base/memory.h"
#include "common/kube/mapping.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

#define POLL_MS 20
#define FIELD_MANAGER "fleet-setup"
#define SYSTEM_NAMESPACE "fleet-system"
#define HEARTBEAT_SECONDS 5
#define CLUSTER_API "cluster.kubernetes-fleet.io"

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };
static const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount", true };
static const struct kube_resource crds = { "apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                           "CustomResourceDefinition", false };
static const struct kube_resource leases = { "coordination.k8s.io", "v1", "leases", "Lease", true };
static const struct kube_resource member_clusters = { CLUSTER_API, "v1beta1", "memberclusters",
                                                      "MemberCluster", false };

static int apply(struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                 const json_t *doc, struct error *err)
{
        struct kube_write how = { .field_manager = FIELD_MANAGER, .force = true };

        if (!doc)
                return error_no_memory(err);
        return kube_doc_patch(k, r, ns, name, KUBE_PATCH_APPLY, doc, &how, NULL, err);
}

static bool condition_holds(const json_t *list, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach((json_t *)list, i, c)
                if (text_equal(doc_get_string(c, "type"), type) &&
                    text_equal(doc_get_string(c, "status"), "True"))
                        return true;
        return false;
}

/* Waits until status.conditions of an object has `type` True. */
static int wait_condition(struct kube_client *k, const struct kube_resource *r, const char *name,
                          const char *type, int64_t deadline_ms, struct error *err)
{
        struct loop *l = k->world->loop;

        for (;;) {
                AUTO_JSON json_t *doc = NULL;
                int code = kube_doc_get(k, r, NULL, name, &doc, err);

                if (code == 0 && condition_holds(doc_get_array(doc, "status.conditions"), type))
                        return 0;
                if (code == ERR_CANCELLED)
                        return code;
                if (loop_now_ms(l) >= deadline_ms) {
                        AUTO_BUF struct buf seen;

                        buf_init(&seen, 1 << 20);
                        if (doc_get(doc, "status"))
                                doc_write(doc_get(doc, "status"), &seen);
                        return error_set(err, ERR_TIMEOUT, "%s %s did not become %s; status: %.500s", r->kind,
                                         name, type, seen.data);
                }
                TRY(fiber_sleep(l, POLL_MS));
        }
}

static int install_crds(struct kube_client *k, bool hub, int64_t deadline_ms, struct error *err)
{
        for (size_t i = 0; i < n_crd_texts; i++) {
                AUTO_JSON json_t *doc = NULL;

                if (hub ? !crd_texts[i].hub : !crd_texts[i].member)
                        continue;
                TRY(doc_parse(slice_of(crd_texts[i].json), &doc, err));
                TRY(apply(k, &crds, NULL, crd_texts[i].name, doc, err));
        }
        for (size_t i = 0; i < n_crd_texts; i++)
                if (hub ? crd_texts[i].hub : crd_texts[i].member)
                        TRY(wait_condition(k, &crds, crd_texts[i].name, "Established", deadline_ms, err));
        return 0;
}

static int make_namespace(struct kube_client *k, const char *name, struct error *err)
{
        AUTO_JSON json_t *doc = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                                          "metadata", "name", name);

        return apply(k, &namespaces, NULL, name, doc, err);
}

static int prepare_cluster(struct fleet *f, const char *cluster, int64_t deadline_ms, struct error *err)
{
        struct kube_client *k;
        int code;

        TRY(f->ops->client(f, cluster, &k, err));
        code = install_crds(k, text_equal(cluster, "hub"), deadline_ms, err);
        if (code == 0)
                code = make_namespace(k, SYSTEM_NAMESPACE, err);
        if (code == 0)
                code = fleet_make_account(f, cluster, err);
        return code < 0 ? error_wrap(err, "preparing %s", cluster) : 0;
}

/* The service account by which a member comes to the hub. */
static int make_identity(struct kube_client *hub, const char *member, char account[128], struct error *err)
{
        snprintf(account, 128, "%s-hub-cluster-access", member);
        AUTO_JSON json_t *doc =
                json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", "v1", "kind", "ServiceAccount",
                          "metadata", "name", account, "namespace", SYSTEM_NAMESPACE);

        return apply(hub, &accounts, SYSTEM_NAMESPACE, account, doc, err);
}

int fleet_make_member(struct fleet *f, const char *member, struct error *err)
{
        struct kube_client *hub;
        char account[128];

        TRY(f->ops->client(f, "hub", &hub, err));
        TRY(make_identity(hub, member, account, err));
        AUTO_JSON json_t *doc = json_pack(
                "{s:s, s:s, s:{s:s}, s:{s:{s:s, s:s, s:s, s:s}, s:i}}", "apiVersion", CLUSTER_API "/v1beta1",
                "kind", "MemberCluster", "metadata", "name", member, "spec", "identity", "kind",
                "ServiceAccount", "name", account, "namespace", SYSTEM_NAMESPACE, "apiGroup", "",
                "heartbeatPeriodSeconds", f->heartbeat_s ? (int)f->heartbeat_s : HEARTBEAT_SECONDS);

        return apply(hub, &member_clusters, NULL, member, doc, err);
}

int fleet_join_member(struct fleet *f, const char *member, struct error *err)
{
        TRY(fleet_make_member(f, member, err));
        return f->ops->start_agent(f, member, err);
}

int fleet_leave_member(struct fleet *f, const char *member, struct error *err)
{
        struct kube_client *hub;
        int code;

        TRY(f->ops->client(f, "hub", &hub, err));
        code = kube_doc_delete(hub, &member_clusters, NULL, member, NULL, NULL, err);
        return code == ERR_NOT_FOUND ? 0 : code;
}

int fleet_has_left(struct fleet *f, const char *member, bool *ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct kube_client *hub;
        int code;

        TRY(f->ops->client(f, "hub", &hub, err));
        code = kube_doc_get(hub, &member_clusters, NULL, member, &doc, err);
        *ret = code == ERR_NOT_FOUND;
        return *ret ? 0 : code;
}

int fleet_wait_joined(struct fleet *f, const char *member, int64_t deadline_ms, struct error *err)
{
        struct kube_client *hub;

        TRY(f->ops->client(f, "hub", &hub, err));
        return wait_condition(hub, &member_clusters, member, f->networking_agents ? "ReadyToJoin" : "Joined",
                              deadline_ms, err);
}

void fleet_hub_agent_name(unsigned index, char ret[FLEET_AGENT_NAME])
{
        snprintf(ret, FLEET_AGENT_NAME, index ? "hub-agent-%u" : "hub-agent", index + 1);
}

/* The identity of a holder is the name of its machine, then "_" and what makes it one process. */
int fleet_leader(struct fleet *f, char ret[FLEET_AGENT_NAME], struct error *err)
{
        AUTO_JSON json_t *lease = NULL;
        struct kube_client *hub;
        const char *holder;

        TRY(f->ops->client(f, "hub", &hub, err));
        TRY(kube_doc_get(hub, &leases, SYSTEM_NAMESPACE, LEASE_HUB_AGENT, &lease, err));
        holder = doc_get_string(lease, "spec.holderIdentity");
        for (unsigned i = 0; i < f->n_hub_agents && !text_empty(holder); i++) {
                size_t n;

                fleet_hub_agent_name(i, ret);
                n = strlen(ret);
                if (text_starts_with(holder, ret) && (holder[n] == '\0' || holder[n] == '_'))
                        return 0;
        }
        return error_set(err, ERR_NOT_FOUND, "no agent of this fleet holds the lease: its holder is \"%s\"",
                         holder ? holder : "");
}

int fleet_prepare(struct fleet *f, int64_t deadline_ms, struct error *err)
{
        char member[32];

        TRY(prepare_cluster(f, "hub", deadline_ms, err));
        for (unsigned i = 1; i <= f->n_members; i++) {
                snprintf(member, sizeof(member), "member-%u", i);
                TRY(prepare_cluster(f, member, deadline_ms, err));
        }
        return 0;
}

static bool is_out(const struct fleet *f, unsigned member)
{
        return member < 64 && f->out >> member & 1;
}

/* An API server that was reset may call the webhooks of the fleet before for a moment more. */
static int make_member(struct fleet *f, const char *member, int64_t deadline_ms, struct error *err)
{
        struct loop *l = f->world->loop;
        int code;

        while ((code = fleet_make_member(f, member, err)) < 0 && code != ERR_CANCELLED &&
               code != ERR_NO_MEMORY && loop_now_ms(l) < deadline_ms) {
                error_clear(err);
                TRY(fiber_sleep(l, POLL_MS));
        }
        return code;
}

static int start_members(struct fleet *f, int64_t deadline_ms, struct error *err)
{
        char member[32];

        for (unsigned i = 1; i <= f->n_members; i++) {
                snprintf(member, sizeof(member), "member-%u", i);
                if (!f->prepared)
                        TRY(prepare_cluster(f, member, deadline_ms, err));
                if (is_out(f, i))
                        continue;
                TRY(make_member(f, member, deadline_ms, err));
                TRY(f->ops->start_agent(f, member, err));
        }
        return 0;
}

int fleet_set_up(struct fleet *f, int64_t deadline_ms, struct error *err)
{
        char name[FLEET_AGENT_NAME];

        if (!f->prepared)
                TRY(prepare_cluster(f, "hub", deadline_ms, err));
        else if (f->admission_policies || f->guard_policies || f->rule_policies || f->webhooks ||
                 f->networking_agents || f->resource_sets || f->shards)
                TRY(fleet_make_account(f, "hub", err));
        for (unsigned i = 0; i < f->n_hub_agents; i++) {
                fleet_hub_agent_name(i, name);
                TRY(f->ops->start_agent(f, name, err));
        }
        TRY(start_members(f, deadline_ms, err));
        for (unsigned i = 1; i <= f->n_members; i++) {
                snprintf(name, sizeof(name), "member-%u", i);
                if (!is_out(f, i))
                        TRY(fleet_wait_joined(f, name, deadline_ms, err));
        }
        return 0;
}

int fleet_token(struct fleet *f, const char *cluster, const char *account, int seconds, char **ret_token,
                struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *answer = NULL;
        struct http_response r;
        struct kube_client *k;
        const char *token;
        char path[256], body[160];

        TRY(f->ops->client(f, cluster, &k, err));
        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\","
                 "\"spec\":{\"expirationSeconds\":%d}}",
                 seconds);
        snprintf(path, sizeof(path), "/api/v1/namespaces/" SYSTEM_NAMESPACE "/serviceaccounts/%s/token",
                 account);
        TRY(kube_raw(k, "POST", path, "application/json", slice_of(body), &arena, &r, err));
        TRY(doc_parse(r.body, &answer, err));
        TRY(doc_need_string(answer, "status.token", &token, err));
        *ret_token = mem_strdup(token);
        return *ret_token ? 0 : error_no_memory(err);
}

int fleet_member_token(struct fleet *f, const char *member, int seconds, char **ret_token, struct error *err)
{
        char account[128];

        snprintf(account, sizeof(account), "%s-hub-cluster-access", member);
        return fleet_token(f, "hub", account, seconds, ret_token, err);
}
