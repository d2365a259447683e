/* See process_fleet.h; an agent's way to the hub goes through a relay of its own, so that it can be cut. */
#include <signal.h>
#include <unistd.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/scenarios/process.h"
#include "e2e/scenarios/process_fleet.h"
#include "e2e/scenarios/webhook_service.h"

#define STOP_MS (30000 * PATIENCE) /* a kubelet gives a pod the thirty seconds */
#define PATIENCE 10 /* the machine may be busy: how exact a bound is, the simulation's clock tells */
#define ACCOUNT_TOKEN_SECONDS 86400

struct program_agent {
        char name[32];
        struct process *process;
        struct relay *relay;
};

struct program_fleet {
        struct fleet fleet;
        const char *programs, *scratch;
        bool as_installed, direct, own_server;
        int webhook_port, webhook_fd; /* of the first hub-agent: held, so that it stays ours; fd -1 = none */
        int metrics_port, metrics_fd; /* likewise; port 0 = it serves none */
        struct server_program *server;
        struct program_agent *agents; /* [0] = hub-agent, [i] = member-i, then further hub-agents */
        struct arena arena;           /* file names */
};

static struct program_fleet *of(struct fleet *f)
{
        return container_of(f, struct program_fleet, fleet);
}

static const char *program(struct program_fleet *p, const char *name)
{
        return arena_printf(&p->arena, "%s/%s", p->programs, name);
}

/* ---- clusters ---- */

static const char *cluster_name(struct program_fleet *p, unsigned index)
{
        return index ? arena_printf(&p->arena, "member-%u", index) : "hub";
}

static int find_cluster(struct fleet *f, const char *cluster, unsigned *ret, struct error *err)
{
        for (unsigned i = 0; i <= f->n_members; i++) {
                if (!text_equal(cluster, cluster_name(of(f), i)))
                        continue;
                *ret = i;
                return 0;
        }
        return error_set(err, ERR_NOT_FOUND, "no cluster \"%s\" in this fleet", cluster);
}

static int get_client(struct fleet *f, const char *cluster, struct kube_client **ret, struct error *err)
{
        unsigned i = 0;

        TRY(find_cluster(f, cluster, &i, err));
        *ret = server_program_client(of(f)->server, i);
        return 0;
}

static int set_ready(struct fleet *f, const char *cluster, const char *kind, const char *ns, const char *name,
                     bool ready, struct error *err)
{
        unsigned i = 0;

        TRY(find_cluster(f, cluster, &i, err));
        return server_program_set_ready(of(f)->server, i, kind, ns, name, ready, err);
}

static const struct http_endpoint *endpoint_of(struct program_fleet *p, unsigned cluster)
{
        return server_program_client(p->server, cluster)->endpoint;
}

/* ---- agents ---- */

static unsigned n_agents(const struct program_fleet *p)
{
        return p->fleet.n_members + p->fleet.n_hub_agents;
}

static bool is_hub_agent(const struct program_fleet *p, unsigned index)
{
        return index == 0 || index > p->fleet.n_members;
}

static void name_agent(struct program_fleet *p, unsigned index)
{
        struct program_agent *a = &p->agents[index];

        if (is_hub_agent(p, index))
                fleet_hub_agent_name(index ? index - p->fleet.n_members : 0, a->name);
        else
                snprintf(a->name, sizeof(a->name), "member-%u", index);
}

static int find_agent(struct fleet *f, const char *name, unsigned *ret, struct error *err)
{
        for (unsigned i = 0; i < n_agents(of(f)); i++) {
                if (!text_equal(of(f)->agents[i].name, name))
                        continue;
                *ret = i;
                return 0;
        }
        return error_set(err, ERR_NOT_FOUND, "no agent \"%s\" in this fleet", name);
}

static int write_file(struct program_fleet *p, const char *path, const char *text, struct error *err)
{
        struct world *w = p->fleet.world;

        return w->files->write(w->ctx, path, text, strlen(text), err);
}

/* A token of the agent's account on its own cluster, in a file. */
static int write_account_token(struct program_fleet *p, unsigned cluster, const char *path, struct error *err)
{
        AUTO_FREE char *token = NULL;

        TRY(fleet_account_token(&p->fleet, cluster_name(p, cluster), ACCOUNT_TOKEN_SECONDS, &token, err));
        return write_file(p, path, token, err);
}

/* An agent's kubeconfig for its own cluster: the agent's account by its token, never the administrator. The
 * server is replaced when `server` is given. */
static int write_kubeconfig(struct program_fleet *p, unsigned index, const char *server, const char *path,
                            struct error *err)
{
        const char *token_file = arena_printf(&p->arena, "%s.token", path);
        const struct http_endpoint *e = endpoint_of(p, index);
        AUTO_JSON json_t *doc =
                json_pack("{s:s, s:s, s:s, s:[{s:s, s:{s:s}}], s:[{s:s, s:{s:s}}], s:[{s:s, s:{s:s, s:s}}]}",
                          "apiVersion", "v1", "kind", "Config", "current-context", "c", "clusters", "name",
                          "c", "cluster", "server", server ? server : e->base_url, "users", "name", "u",
                          "user", "tokenFile", strrchr(token_file, '/') + 1, "contexts", "name", "c",
                          "context", "cluster", "c", "user", "u");
        AUTO_BUF struct buf text;

        buf_init(&text, LIMIT_KUBECONFIG_BYTES);
        if (!doc || doc_set(doc_get(json_array_get(doc_get(doc, "clusters"), 0), "cluster"),
                            "certificate-authority-data", doc_base64(slice_of(e->ca_pem))) < 0)
                return error_no_memory(err);
        TRY(write_account_token(p, index, token_file, err));
        if (doc_write(doc, &text) < 0)
                return error_no_memory(err);
        return write_file(p, path, text.data, err);
}

/* The hub's port as it stands in its URL: "https://HOST:PORT" with or without a path. */
static struct slice hub_port(struct program_fleet *p)
{
        struct slice port = slice_of(strrchr(endpoint_of(p, 0)->base_url, ':') + 1);

        port.len = strspn(port.data, "0123456789");
        return port;
}

/* The hub's URL for one agent: through its relay if it has one. */
static const char *relayed_url(struct program_fleet *p, unsigned index)
{
        const char *url = endpoint_of(p, 0)->base_url;
        struct slice port = hub_port(p);

        if (p->direct)
                return url;
        return arena_printf(&p->arena, "%.*s%d%s", (int)(port.data - url), url,
                            relay_port(p->agents[index].relay), port.data + port.len);
}

/* What a MemberCluster has that does not say. */
#define HEARTBEAT_INSTALLED_SECONDS 60

/* Short, so that a test need not wait for long when a leader dies, but not shorter than an answer takes on a
 * machine that runs several API servers. */
struct lease_flags {
        const char *duration, *renew, *retry;
};

static struct lease_flags lease_flags(const struct program_fleet *p)
{
        if (p->as_installed)
                return (struct lease_flags){ "--leader-lease-duration=60s", "--leader-renew-deadline=45s",
                                             "--leader-retry-period=5s" };
        return (struct lease_flags){ "--leader-lease-duration=15s", "--leader-renew-deadline=12s",
                                     "--leader-retry-period=1s" };
}

/* Real API servers take the port from the webhook configurations, so that not the port but the address is a
 * fleet's own: the port that is held on 127.0.0.1 makes it. */
static const char *webhook_host(struct program_fleet *p)
{
        if (!server_program_is_kubernetes(p->server))
                return "127.0.0.1";
        return arena_printf(&p->arena, "127.%d.%d.1", p->webhook_port >> 8, p->webhook_port & 255);
}

static const char *webhook_address(struct program_fleet *p, unsigned index)
{
        int port = server_program_is_kubernetes(p->server) ? WEBHOOK_SERVICE_PORT : p->webhook_port;

        return arena_printf(&p->arena, "%s:%d", webhook_host(p), index ? 0 : port);
}

/* devcluster was told where the webhooks are when it was started. */
static int lead_to_webhooks(struct program_fleet *p, unsigned index, struct error *err)
{
        if (!p->fleet.webhooks || index != 0 || !server_program_is_kubernetes(p->server))
                return 0;
        return webhook_service_make(server_program_client(p->server, 0), webhook_host(p), err);
}

static const char *metrics_flag(struct program_fleet *p, unsigned index)
{
        if (index || !p->metrics_port)
                return "--metrics-bind-address=0";
        return arena_printf(&p->arena, "--metrics-bind-address=127.0.0.1:%d", p->metrics_port);
}

/* The name of the machine is how the lease tells who leads. */
static int start_hub_agent(struct program_fleet *p, unsigned index, struct error *err)
{
        struct lease_flags lease = lease_flags(p);
        struct program_agent *a = &p->agents[index];
        const char *config = arena_printf(&p->arena, "%s/%s.kubeconfig", p->scratch, a->name);
        const char *environment[] = { arena_printf(&p->arena, "HOSTNAME=%s", a->name),
                                      "POD_NAMESPACE=fleet-system", NULL };
        const char *folder = arena_printf(&p->arena, "--storage-path=%s", p->scratch);
        const char *argv[] = {
                program(p, "hub-agent"),
                "--kubeconfig",
                config,
                "--leader-elect=true",
                metrics_flag(p, index),
                arena_printf(&p->arena, "--shards=%u", p->fleet.shards),
                "--health-probe-bind-address=0",
                p->fleet.webhooks ? "--enable-webhook=true" : "--enable-webhook=false",
                p->fleet.webhooks ? "--enable-guard-rail=true" : "--enable-guard-rail=false",
                "--webhook-client-connection-type=service",
                arena_printf(&p->arena, "--webhook-bind-address=%s", webhook_address(p, index)),
                p->fleet.admission_policies ? "--enable-admission-policy-manager=true"
                                            : "--enable-admission-policy-manager=false",
                p->fleet.networking_agents ? "--networking-agents-enabled=true"
                                           : "--networking-agents-enabled=false",
                p->fleet.resource_sets ? "--enable-resource-sets=true" : "--enable-resource-sets=false",
                "--resource-set-account=" FLEET_SETS_ACCOUNT,
                p->fleet.sources ? "--enable-sources=true" : "--enable-sources=false",
                folder,
                "--storage-addr=127.0.0.1:0",
                lease.duration,
                lease.renew,
                lease.retry,
                "--resource-snapshot-creation-minimum-interval=0s",
                "--resource-changes-collection-duration=0s",
                "--force-delete-wait-time=30s",
                "--cluster-unhealthy-threshold=30s",
                NULL
        };

        TRY(lead_to_webhooks(p, index, err));
        TRY(write_kubeconfig(p, 0, relayed_url(p, index), config, err));
        return process_start(p->fleet.world->loop, argv, environment,
                             arena_printf(&p->arena, "%s/%s.log", p->scratch, a->name), &a->process, err);
}

static int start_member_agent(struct program_fleet *p, unsigned index, struct error *err)
{
        static const char *const elected[] = { "--leader-elect=true", "--leader-lease-duration=30s",
                                               "--leader-renew-deadline=20s", "--leader-retry-period=5s" };
        struct program_agent *a = &p->agents[index];
        const char *config = arena_printf(&p->arena, "%s/%s.kubeconfig", p->scratch, a->name);
        const char *token_file = arena_printf(&p->arena, "%s/%s.token", p->scratch, a->name);
        const char *ca = endpoint_of(p, 0)->ca_pem;
        char *ca64 = arena_alloc(&p->arena, text_base64_size(strlen(ca)));
        AUTO_FREE char *token = NULL;

        if (!ca64)
                return error_no_memory(err);
        text_base64_encode(ca, strlen(ca), ca64);
        TRY(fleet_member_token(&p->fleet, a->name, 86400, &token, err));
        TRY(write_file(p, token_file, token, err));
        TRY(write_kubeconfig(p, index, NULL, config, err));
        const char *environment[] = { arena_printf(&p->arena, "HUB_SERVER_URL=%s", relayed_url(p, index)),
                                      arena_printf(&p->arena, "MEMBER_CLUSTER_NAME=%s", a->name),
                                      arena_printf(&p->arena, "CONFIG_PATH=%s", token_file),
                                      arena_printf(&p->arena, "HUB_CERTIFICATE_AUTHORITY=%s", ca64), NULL };
        const char *account = p->fleet.namespace_account;
        const char *argv[40] = {
                program(p, "member-agent"),
                "--kubeconfig",
                config,
                "--state-file",
                arena_printf(&p->arena, "%s/%s.db", p->scratch, a->name),
                "--metrics-bind-address=0",
                "--health-probe-bind-address=0",
                "--hub-metrics-bind-address=0",
                "--hub-health-probe-bind-address=0",
                arena_printf(&p->arena, "--namespace-service-account=%s", account ? account : ""),
                arena_printf(&p->arena, "--enable-namespace-collection-in-property-provider=%s",
                             p->fleet.collect_namespaces ? "true" : "false"),
        };
        size_t n = 0;

        while (argv[n])
                n++;
        for (const char *const *flag = p->fleet.member_flags; flag && *flag; flag++)
                argv[n++] = *flag;
        for (size_t i = 0; p->as_installed && i < ARRAY_LEN(elected); i++)
                argv[n++] = elected[i];
        return process_start(p->fleet.world->loop, argv, environment,
                             arena_printf(&p->arena, "%s/%s.log", p->scratch, a->name), &a->process, err);
}

static int start_agent(struct fleet *f, const char *name, struct error *err)
{
        struct program_agent *a;
        unsigned i = 0;

        TRY(find_agent(f, name, &i, err));
        a = &of(f)->agents[i];
        if (process_running(a->process))
                return error_set(err, ERR_INVALID, "agent \"%s\" is running", name);
        process_stop(TAKE_PTR(a->process), 0, 0); /* it ended by itself */
        return is_hub_agent(of(f), i) ? start_hub_agent(of(f), i, err) : start_member_agent(of(f), i, err);
}

/* A hub agent that could not renew its lease meanwhile has ended, as it must; in a cluster the kubelet starts
 * it again. */
static int restart_server(struct fleet *f, struct error *err)
{
        struct program_fleet *p = of(f);

        TRY(server_program_restart(p->server, err));
        for (unsigned i = 0; i < n_agents(p); i++)
                if (p->agents[i].process && !process_running(p->agents[i].process))
                        TRY(start_agent(f, p->agents[i].name, err));
        return 0;
}

static int stop_agent(struct fleet *f, const char *name, bool hard, struct error *err)
{
        struct program_agent *a;
        unsigned i = 0;
        int result;

        TRY(find_agent(f, name, &i, err));
        a = &of(f)->agents[i];
        if (!process_running(a->process))
                return error_set(err, ERR_INVALID, "agent \"%s\" is not running", name);
        result = process_stop(a->process, hard ? SIGKILL : SIGTERM, STOP_MS);
        a->process = NULL;
        if (!hard && result != 0)
                return error_set(err, ERR_INVALID, "agent \"%s\" did not end cleanly: %d", name, result);
        return 0;
}

static int exit_code(struct fleet *f, const char *name, int *ret, struct error *err)
{
        unsigned i = 0;

        TRY(find_agent(f, name, &i, err));
        if (!of(f)->agents[i].process)
                return error_set(err, ERR_INVALID, "agent \"%s\" was not started, or was stopped", name);
        *ret = process_exit_code(of(f)->agents[i].process);
        return 0;
}

static int set_link(struct fleet *f, const char *name, bool up, struct error *err)
{
        unsigned i = 0;

        TRY(find_agent(f, name, &i, err));
        if (of(f)->direct)
                return error_set(err, ERR_INVALID, "agents of this fleet have no relay to cut");
        relay_set(of(f)->agents[i].relay, up);
        return 0;
}

static int set_frozen(struct fleet *f, const char *name, bool frozen, struct error *err)
{
        unsigned i = 0;

        TRY(find_agent(f, name, &i, err));
        if (process_signal(of(f)->agents[i].process, frozen ? SIGSTOP : SIGCONT) == 0)
                return 0;
        return error_set(err, ERR_INVALID, "%s does not run", name);
}

/* ---- life ---- */

static struct fleet *close_fleet(struct fleet *f)
{
        struct program_fleet *p = of(f);

        for (unsigned i = 0; p->agents && i < n_agents(p); i++)
                process_stop(p->agents[i].process, SIGTERM, STOP_MS);
        for (unsigned i = 0; p->agents && i < n_agents(p); i++)
                relay_stop(p->agents[i].relay);
        if (p->own_server)
                server_program_stop(p->server);
        if (p->webhook_fd >= 0)
                close(p->webhook_fd);
        if (p->metrics_fd >= 0)
                close(p->metrics_fd);
        mem_free(p->agents);
        arena_free(&p->arena);
        mem_free(p);
        return NULL;
}

static const struct fleet_ops ops = { get_client, start_agent, stop_agent,     exit_code,  set_link,
                                      set_frozen, set_ready,   restart_server, close_fleet };

static int start_own_server(struct program_fleet *p, const struct process_fleet_options *o, struct error *err)
{
        const struct server_program_options so = { .loop = o->loop,
                                                   .log_sink = o->log_sink,
                                                   .programs = o->programs,
                                                   .scratch = o->scratch,
                                                   .assets = o->assets,
                                                   .members = o->members,
                                                   .patience_s = o->patience_s,
                                                   .watch_history = o->watch_history,
                                                   .webhook_port = p->webhook_port };

        TRY(server_program_start(&so, &p->server, err));
        p->own_server = true;
        return 0;
}

static int start_relays(struct program_fleet *p, struct error *err)
{
        int64_t port = 0;

        slice_parse_i64(hub_port(p), &port);
        for (unsigned i = 0; i < n_agents(p); i++)
                TRY(relay_start(p->fleet.world->loop, (int)port, &p->agents[i].relay, err));
        return 0;
}

static int open_all(struct program_fleet *p, const struct process_fleet_options *o, struct error *err)
{
        struct world *w;

        p->server = o->server;
        TRY(process_reserve_port(&p->webhook_port, &p->webhook_fd, err));
        if (o->metrics)
                TRY(process_reserve_port(&p->metrics_port, &p->metrics_fd, err));
        if (!p->server)
                TRY(start_own_server(p, o, err));
        w = server_program_world(p->server);
        p->fleet.world = w;
        p->fleet.log = server_program_log(p->server);
        p->fleet.patience = PATIENCE;
        p->agents = mem_calloc(n_agents(p), sizeof(*p->agents));
        if (!p->agents)
                return error_no_memory(err);
        TRY(w->files->make_directory(w->ctx, p->scratch, err));
        for (unsigned i = 0; i < n_agents(p); i++)
                name_agent(p, i);
        return p->direct ? 0 : start_relays(p, err);
}

int process_fleet_open(const struct process_fleet_options *o, struct fleet **ret, struct error *err)
{
        struct program_fleet *p = NEW(struct program_fleet);
        int code;

        if (!p)
                return error_no_memory(err);
        p->webhook_fd = p->metrics_fd = -1;
        p->programs = o->programs;
        p->scratch = o->scratch;
        p->direct = o->direct;
        p->as_installed = o->as_installed;
        p->fleet = (struct fleet){ .ops = &ops,
                                   .n_members = o->members,
                                   .n_hub_agents = MAX(o->hub_agents, 1u),
                                   .heartbeat_s = o->as_installed ? HEARTBEAT_INSTALLED_SECONDS : 0,
                                   .prepared = o->prepared };
        code = open_all(p, o, err);
        if (code < 0)
                return close_fleet(&p->fleet), code;
        *ret = &p->fleet;
        return 0;
}

struct server_program *process_fleet_server(const struct fleet *f)
{
        return of((struct fleet *)f)->server;
}

int process_fleet_pid(struct fleet *f, const char *name)
{
        unsigned i = 0;

        if (text_equal(name, server_program_name(of(f)->server)))
                return server_program_pid(of(f)->server);
        return find_agent(f, name, &i, NULL) == 0 ? process_pid(of(f)->agents[i].process) : 0;
}

int process_fleet_webhook_port(const struct fleet *f)
{
        return of((struct fleet *)f)->webhook_port;
}

int process_fleet_metrics_port(const struct fleet *f)
{
        return of((struct fleet *)f)->metrics_port;
}
