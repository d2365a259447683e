/* The making of a scene: clusters, accounts, files, the agent. How it goes on: play.c. */
#include "e2e/connections/play.h"

#include <signal.h>
#include <stdio.h>

#include "common/base/memory.h"
#include "common/json/doc.h"
#include "e2e/connections/insider.h"
#include "hub-agent/membership/membership.h"
#include "proto/gen/kinds.h"
#include "proto/object.h"

#define RBAC "rbac.authorization.k8s.io"
#define ACCOUNT "agent"
#define ACCOUNT_NS "default"
#define DAY_MS INT64_C(86400000)

extern const char hub_agent_rules_text[], hub_agent_select_rules_text[], member_agent_rules_text[],
        member_agent_apply_rules_text[]; /* e2e/scenarios/rules.S */

static const struct kube_resource roles = { RBAC, "v1", "clusterroles", "ClusterRole", false };
static const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount", true };
static const struct kube_resource bindings = { RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding",
                                               false };
static const struct kube_resource definitions = { "apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                                  "CustomResourceDefinition", false };

void scene_check(struct scene *s, int code, const struct error *err, const char *what)
{
        if (code < 0)
                scene_fail(s, "%s: %s", what, err->text);
}

void scene_create(struct scene *s, struct kube_client *k, const struct kube_resource *r, const char *ns,
                  json_t *doc)
{
        AUTO_JSON json_t *own = doc;
        struct error err = { 0 };

        scene_check(s, own ? kube_doc_create(k, r, ns, own, NULL, NULL, &err) : error_no_memory(&err), &err,
                    r->kind);
}

/* ---- the spoiled side ---- */

static bool on_member(const struct scene *s)
{
        return s->side == MEMBER_OWN;
}

struct stand *scene_stand(struct scene *s)
{
        return on_member(s) ? s->member_stand : s->hub_stand;
}

struct kube_client *scene_admin(struct scene *s)
{
        return on_member(s) ? &s->member : &s->hub;
}

static const char *file_of(struct scene *s, bool member, const char *what)
{
        return arena_printf(&s->arena, "%s/%s.%s", s->folder, member ? "member" : "hub", what);
}

const char *scene_file(struct scene *s, const char *what)
{
        return file_of(s, on_member(s), what);
}

static void write_text(struct scene *s, const char *path, const char *text)
{
        const struct world *w = &s->b->world;
        struct error err = { 0 };

        scene_check(s, w->files->write(w->ctx, path, text, strlen(text), &err), &err, path);
}

void scene_write(struct scene *s, const char *what, const char *text)
{
        write_text(s, scene_file(s, what), text);
}

void scene_stand_as(struct scene *s, enum stand_mode mode, const struct tls_identity *identity)
{
        struct error err = { 0 };

        scene_check(s, stand_set(scene_stand(s), mode, identity, &err), &err, "stand");
}

/* ---- accounts ---- */

static const char *cluster_name(struct scene *s, bool member)
{
        const char *url = member ? s->member_endpoint.base_url : s->hub_endpoint.base_url;

        return strrchr(url, '/') + 1;
}

static const char *token_of(struct scene *s, bool member, const char *audience, int64_t seconds)
{
        AUTO_JSON json_t *account = NULL;
        struct insider_token t = {
                .ns = ACCOUNT_NS, .account = ACCOUNT, .audience = audience, .seconds = seconds
        };
        struct kube_client *k = member ? &s->member : &s->hub;
        struct error err = { 0 };
        const char *token = "";

        scene_check(s, kube_doc_get(k, &accounts, ACCOUNT_NS, ACCOUNT, &account, &err), &err, "account");
        t.account_uid = doc_get_string(account, "metadata.uid");
        if (t.account_uid)
                scene_check(s, insider_sign(s->b->devcluster, &t, &s->arena, &token, &err), &err, "token");
        return token;
}

const char *scene_token(struct scene *s, const char *audience, int64_t seconds)
{
        return token_of(s, on_member(s), audience, seconds);
}

static void make_account(struct scene *s, struct kube_client *k)
{
        struct error err = { 0 };
        int code = kube_doc_delete(k, &accounts, ACCOUNT_NS, ACCOUNT, NULL, NULL, &err);

        scene_check(s, code == ERR_NOT_FOUND ? 0 : code, &err, "account");
        scene_create(s, k, &accounts, ACCOUNT_NS,
                     json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "ServiceAccount",
                               "metadata", "name", ACCOUNT));
}

void scene_make_account(struct scene *s)
{
        make_account(s, scene_admin(s));
}

static json_t *chart_rules(const char *own, const char *more)
{
        AUTO_JSON json_t *extension = NULL;
        json_t *rules = NULL;

        if (yaml_parse(slice_of(own), &rules, NULL) < 0 || yaml_parse(slice_of(more), &extension, NULL) < 0)
                return NULL;
        json_array_extend(rules, extension);
        return rules;
}

/* What the hub-agent lets a member do. */
static json_t *member_rules(void)
{
        const struct member_cluster c = { .object.kind = &member_cluster_kind,
                                          .object.meta = { .name = "m1" } };
        AUTO_JSON json_t *role = member_role_doc(&c, false);

        return json_incref(json_object_get(role, "rules"));
}

/* The rights of the charts, and no others. */
static void make_role(struct scene *s, struct kube_client *k)
{
        json_t *rules = k == &s->member ? chart_rules(member_agent_rules_text, member_agent_apply_rules_text)
                        : s->side == HUB_AGENT
                                ? chart_rules(hub_agent_rules_text, hub_agent_select_rules_text)
                                : member_rules();

        scene_create(s, k, &roles, NULL,
                     json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", RBAC "/v1", "kind", "ClusterRole",
                               "metadata", "name", ACCOUNT, "rules", rules));
}

static void bind_account(struct scene *s, struct kube_client *k)
{
        scene_create(s, k, &bindings, NULL,
                     json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:s}, s:[{s:s, s:s, s:s}]}", "apiVersion",
                               RBAC "/v1", "kind", "ClusterRoleBinding", "metadata", "name", ACCOUNT,
                               "roleRef", "apiGroup", RBAC, "kind", "ClusterRole", "name", ACCOUNT,
                               "subjects", "kind", "ServiceAccount", "name", ACCOUNT, "namespace",
                               ACCOUNT_NS));
}

void scene_allow(struct scene *s, bool allowed)
{
        struct error err = { 0 };

        if (allowed)
                bind_account(s, scene_admin(s));
        else
                scene_check(s, kube_doc_delete(scene_admin(s), &bindings, NULL, ACCOUNT, NULL, NULL, &err),
                            &err, "binding");
}

void scene_certificate(struct scene *s, bool other_authority, int64_t from_days)
{
        static const char *const groups[] = { "system:masters", NULL };
        static const struct cert_subject owner = { .common_name = "agent", .organizations = groups };
        const char *ca = s->b->other_ca, *ca_key = s->b->other_ca_key;
        AUTO_FREE char *cert = NULL;
        AUTO_FREE char *key = NULL;
        struct error err = { 0 };
        int code = 0;

        if (!other_authority)
                code = insider_authority(s->b->devcluster, &ca, &ca_key, &err);
        if (code == 0)
                code = cert_issue(ca, ca_key, &owner, false, loop_wall_ms(s->b->loop) + from_days * DAY_MS, 3,
                                  &cert, &key, &err);
        scene_check(s, code, &err, "certificate");
        if (code < 0)
                return;
        scene_write(s, "key", key);
        scene_write(s, "cert", cert);
}

/* ---- clusters ---- */

static void set_client(struct scene *s, const char *cluster, struct http_endpoint *e, struct kube_client *k,
                       struct world *w)
{
        e->base_url = arena_printf(&s->arena, "https://dev/clusters/%s", cluster);
        *k = (struct kube_client){ .world = w, .endpoint = e, .log = NULL };
}

static void define_kinds(struct scene *s, struct kube_client *k, bool member)
{
        for (size_t i = 0; i < n_crd_texts && !s->failed; i++)
                if (member ? crd_texts[i].member : crd_texts[i].hub) {
                        json_t *doc = NULL;

                        (void)doc_parse(slice_of(crd_texts[i].json), &doc, NULL);
                        scene_create(s, k, &definitions, NULL, doc);
                }
}

static void make_cluster(struct scene *s, bool member, struct stand **ret)
{
        const char *cluster = cluster_name(s, member);
        struct kube_client *k = member ? &s->member : &s->hub;
        struct error err = { 0 };

        scene_check(s, devcluster_create_cluster(s->b->devcluster, cluster, &err), &err, cluster);
        define_kinds(s, k, member);
        make_account(s, k);
        make_role(s, k);
        bind_account(s, k);
        write_text(s, file_of(s, member, "ca"), s->b->ca);
        write_text(s, file_of(s, member, "token"), token_of(s, member, NULL, 86400));
        scene_check(s, stand_open(s->b->devcluster, s->b->loop, cluster, &s->b->good, ret, &err), &err,
                    "stand");
}

/* ---- the agent ---- */

static void write_kubeconfig(struct scene *s, bool member)
{
        bool certificate = s->c->client_certificate && (s->side == (member ? MEMBER_OWN : HUB_AGENT));
        const char *side = member ? "member" : "hub";
        const char *user =
                certificate ? arena_printf(&s->arena, "client-certificate: %s.cert, client-key: %s.key", side,
                                           side)
                            : arena_printf(&s->arena, "tokenFile: %s.token", side);
        const struct stand *stand = member ? s->member_stand : s->hub_stand;

        write_text(s, file_of(s, member, "kubeconfig"),
                   arena_printf(&s->arena,
                                "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
                                "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:%d', "
                                "certificate-authority: %s.ca}}]\nusers: [{name: u, user: {%s}}]\n",
                                stand ? stand_port(stand) : 0, side, user));
}

static const char *program(struct scene *s, const char *name)
{
        return arena_printf(&s->arena, "%s/%s", s->b->programs, name);
}

/* A call that renews the lease may take a third of the deadline: longer than a busy machine lets it wait. */
#define LEADER_FLAGS                                                                                         \
        "--leader-elect=true", "--leader-election-namespace=default", "--leader-lease-duration=20s",         \
                "--leader-renew-deadline=15s", "--leader-retry-period=1s"

static void start_hub_agent(struct scene *s)
{
        const char *argv[] = { program(s, "hub-agent"),
                               "--kubeconfig",
                               file_of(s, false, "kubeconfig"),
                               "--metrics-bind-address=0",
                               arena_printf(&s->arena, "--health-probe-bind-address=127.0.0.1:%d",
                                            s->health_port),
                               "--enable-webhook=false",
                               LEADER_FLAGS,
                               NULL };
        struct error err = { 0 };

        scene_check(s, process_start(s->b->loop, argv, NULL, s->log_path, &s->agent, &err), &err,
                    "hub-agent");
}

static void start_member_agent(struct scene *s)
{
        bool certificate = s->c->client_certificate && s->side == MEMBER_HUB;
        const char *environment[] = {
                arena_printf(&s->arena, "HUB_SERVER_URL=https://127.0.0.1:%d", stand_port(s->hub_stand)),
                "MEMBER_CLUSTER_NAME=m1",
                "HOSTNAME=member-agent-0",
                arena_printf(&s->arena, "CA_BUNDLE=%s", file_of(s, false, "ca")),
                arena_printf(&s->arena, certificate ? "IDENTITY_CERT=%s" : "CONFIG_PATH=%s",
                             file_of(s, false, certificate ? "cert" : "token")),
                certificate ? arena_printf(&s->arena, "IDENTITY_KEY=%s", file_of(s, false, "key")) : NULL,
                NULL
        };
        const char *argv[] = { program(s, "member-agent"),
                               "--kubeconfig",
                               file_of(s, true, "kubeconfig"),
                               "--state-file=:memory:",
                               certificate ? "--use-ca-auth=true" : "--use-ca-auth=false",
                               "--hub-metrics-bind-address=0",
                               "--metrics-bind-address=0",
                               "--health-probe-bind-address=0",
                               arena_printf(&s->arena, "--hub-health-probe-bind-address=127.0.0.1:%d",
                                            s->health_port),
                               LEADER_FLAGS,
                               NULL };
        struct error err = { 0 };

        scene_check(s, process_start(s->b->loop, argv, environment, s->log_path, &s->agent, &err), &err,
                    "member-agent");
}

void scene_start_agent(struct scene *s)
{
        write_kubeconfig(s, false);
        if (s->side != HUB_AGENT)
                write_kubeconfig(s, true);
        if (s->side == HUB_AGENT)
                start_hub_agent(s);
        else
                start_member_agent(s);
}

/* ---- life ---- */

static const char *side_name(enum agent_side side)
{
        return side == HUB_AGENT ? "hub-agent" : side == MEMBER_HUB ? "member-agent-hub" : "member-agent-own";
}

/* "a black hole" -> "a-black-hole-hub-agent" */
static const char *scene_name(struct scene *s)
{
        char *name = arena_printf(&s->arena, "%s-%s", s->c->name, side_name(s->side));

        for (char *p = name; *p; p++)
                *p = *p == ' ' ? '-' : *p >= 'A' && *p <= 'Z' ? (char)(*p + 'a' - 'A') : *p;
        return name;
}

static void open_scene(struct scene *s)
{
        struct world *w = &s->b->world;
        struct error err = { 0 };

        s->name = scene_name(s);
        s->folder = arena_printf(&s->arena, "%s/%s", s->b->scratch, s->name);
        s->log_path = arena_printf(&s->arena, "%s/agent.log", s->folder);
        scene_check(s, w->files->make_directory(w->ctx, s->folder, &err), &err, s->folder);
        set_client(s, arena_printf(&s->arena, "%s.h", s->name), &s->hub_endpoint, &s->hub,
                   &s->b->admin_world);
        set_client(s, arena_printf(&s->arena, "%s.m", s->name), &s->member_endpoint, &s->member,
                   &s->b->admin_world);
        s->health_port = bench_free_port(s->b);
        make_cluster(s, false, &s->hub_stand);
        if (s->side != HUB_AGENT)
                make_cluster(s, true, &s->member_stand);
        if (s->c->client_certificate)
                scene_certificate(s, false, 0);
}

static void close_scene(struct scene *s)
{
        int ended = s->agent ? process_stop(s->agent, SIGTERM, 10000) : -1;

        if (!s->failed && ended != 0)
                scene_fail(s, "the agent ended with %d", ended);
        stand_close(s->hub_stand);
        stand_close(s->member_stand);
        s->b->failed += s->failed;
        s->b->passed += !s->failed;
        if (!s->failed)
                printf("ok %s\n", s->name);
        arena_free(&s->arena);
}

void scene_run(struct bench *b, const struct connection_case *c, enum agent_side side)
{
        struct scene s = { .b = b, .c = c, .side = side };

        open_scene(&s);
        if (!s.failed)
                scene_play(&s);
        close_scene(&s);
}
