/* See process_fleet.h; an agent's way to the hub goes through a relay of its own, so that it can be cut. */
#include <signal.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/kube/config.h"
#include "e2e/scenarios/backend.h"
#include "e2e/scenarios/process.h"
#include "e2e/scenarios/process_fleet.h"

#define READY_MS 20000
#define STOP_MS 3000
#define SET_UP_MS 60000
#define ACCOUNT_TOKEN_SECONDS 86400

struct program_agent {
        char name[32];
        struct process *process;
        struct relay *relay;
};

struct program_client {
        struct kube_config config;
        struct kube_client kube;
};

struct program_fleet {
        struct fleet fleet;
        struct world world;
        struct log log;
        const char *programs, *scratch;
        bool direct;
        struct process *server;
        int port;
        struct program_agent *agents;   /* [0] = hub-agent, [i] = member-i, then further hub-agents */
        struct program_client *clients; /* [0] = hub, [i] = member-i */
        struct arena arena;             /* file names */
};

static struct program_fleet *of(struct fleet *f)
{
        return container_of(f, struct program_fleet, fleet);
}

static const char *in_scratch(struct program_fleet *p, const char *file)
{
        return arena_printf(&p->arena, "%s/%s", p->scratch, file);
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

static int load_client(struct program_fleet *p, unsigned index, struct error *err)
{
        struct program_client *c = &p->clients[index];

        TRY(kube_config_load(&p->world, in_scratch(p, "kubeconfig"), cluster_name(p, index), &c->config,
                             err));
        c->kube = (struct kube_client){ .world = &p->world,
                                        .endpoint = &c->config.endpoint,
                                        .log = &p->log,
                                        .field_manager = "scenario" };
        return 0;
}

static int get_client(struct fleet *f, const char *cluster, struct kube_client **ret, struct error *err)
{
        for (unsigned i = 0; i <= f->n_members; i++) {
                if (!text_equal(cluster, cluster_name(of(f), i)))
                        continue;
                *ret = &of(f)->clients[i].kube;
                return 0;
        }
        return error_set(err, ERR_NOT_FOUND, "no cluster \"%s\" in this fleet", cluster);
}

static int port_of_url(const char *url)
{
        const char *colon = strrchr(url, ':');
        int64_t port = 0;
        struct slice digits = slice_of(colon ? colon + 1 : "");

        digits.len = strspn(digits.data, "0123456789");
        return slice_parse_i64(digits, &port) ? (int)port : 0;
}

static int start_server(struct program_fleet *p, struct error *err)
{
        AUTO_BUF struct buf clusters;
        const char *port = arena_printf(&p->arena, "%d", p->port);

        buf_init(&clusters, 65536);
        for (unsigned i = 0; i <= p->fleet.n_members; i++)
                buf_printf(&clusters, "%s%s", i ? "," : "", cluster_name(p, i));
        const char *argv[] = { program(p, "devcluster"),
                               "--data",
                               in_scratch(p, "data"),
                               "--port",
                               port,
                               "--clusters",
                               clusters.data,
                               "--kubeconfig",
                               in_scratch(p, "kubeconfig"),
                               NULL };
        return process_start(p->world.loop, argv, NULL, in_scratch(p, "devcluster.log"), &p->server, err);
}

/* Ready when the kubeconfig is there and every API server answers. */
static int wait_server(struct program_fleet *p, struct error *err)
{
        int64_t deadline = loop_now_ms(p->world.loop) + READY_MS;
        int code = -1;

        for (unsigned i = 0; i <= p->fleet.n_members; code < 0 ? 0 : i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct http_response r;

                code = p->clients[i].kube.world ? 0 : load_client(p, i, err);
                if (code == 0)
                        code = kube_raw(&p->clients[i].kube, "GET", "/readyz", NULL, (struct slice){ 0 },
                                        &arena, &r, err);
                if (code == 0)
                        continue;
                if (!process_running(p->server))
                        return error_set(err, ERR_SYSTEM, "devcluster ended; see %s",
                                         in_scratch(p, "devcluster.log"));
                if (loop_now_ms(p->world.loop) > deadline)
                        return error_wrap(err, "devcluster did not become ready");
                TRY(fiber_sleep(p->world.loop, 20));
        }
        p->port = port_of_url(p->clients[0].config.endpoint.base_url);
        return 0;
}

static int restart_server(struct fleet *f, struct error *err)
{
        struct program_fleet *p = of(f);

        process_stop(p->server, SIGKILL, STOP_MS);
        p->server = NULL;
        TRY(start_server(p, err));
        return wait_server(p, err);
}

static int set_ready(struct fleet *f, const char *cluster, const char *kind, const char *ns, const char *name,
                     bool ready, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;
        struct kube_client *k;
        const char *path =
                arena_printf(&arena, "/devcluster/readiness?kind=%s&namespace=%s&name=%s&ready=%s",
                             kind ? kind : "", ns ? ns : "", name ? name : "", ready ? "true" : "false");

        TRY(get_client(f, cluster, &k, err));
        return kube_raw(k, "POST", path, NULL, (struct slice){ 0 }, &arena, &r, err);
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
        return p->world.files->write(p->world.ctx, path, text, strlen(text), err);
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
        const struct http_endpoint *e = &p->clients[index].config.endpoint;
        AUTO_JSON json_t *doc =
                json_pack("{s:s, s:s, s:s, s:[{s:s, s:{s:s}}], s:[{s:s, s:{s:s}}], s:[{s:s, s:{s:s, s:s}}]}",
                          "apiVersion", "v1", "kind", "Config", "current-context", "c", "clusters", "name",
                          "c", "cluster", "server", server ? server : e->base_url, "users", "name", "u",
                          "user", "tokenFile", strrchr(token_file, '/') + 1, "contexts", "name", "c",
                          "context", "cluster", "c", "user", "u");
        AUTO_FREE char *ca = mem_alloc(text_base64_size(strlen(e->ca_pem)));
        AUTO_BUF struct buf text;

        if (!doc || !ca)
                return error_no_memory(err);
        text_base64_encode(e->ca_pem, strlen(e->ca_pem), ca);
        if (doc_set_string(doc_get(json_array_get(doc_get(doc, "clusters"), 0), "cluster"),
                           "certificate-authority-data", ca) < 0)
                return error_no_memory(err);
        TRY(write_account_token(p, index, token_file, err));
        buf_init(&text, LIMIT_KUBECONFIG_BYTES);
        if (doc_write(doc, &text) < 0)
                return error_no_memory(err);
        return write_file(p, path, text.data, err);
}

static const char *relayed_url(struct program_fleet *p, unsigned index)
{
        return arena_printf(&p->arena, "https://127.0.0.1:%d/clusters/hub",
                            p->direct ? p->port : relay_port(p->agents[index].relay));
}

/* The name of the machine is how the lease tells who leads. */
static int start_hub_agent(struct program_fleet *p, unsigned index, struct error *err)
{
        struct program_agent *a = &p->agents[index];
        const char *config = arena_printf(&p->arena, "%s/%s.kubeconfig", p->scratch, a->name);
        const char *environment[] = { arena_printf(&p->arena, "HOSTNAME=%s", a->name), NULL };
        const char *argv[] = { program(p, "hub-agent"),
                               "--kubeconfig",
                               config,
                               "--leader-elect=true",
                               "--metrics-bind-address=0",
                               "--health-probe-bind-address=0",
                               "--enable-webhook=false",
                               "--leader-lease-duration=5s",
                               "--leader-renew-deadline=3s",
                               "--leader-retry-period=1s",
                               "--resource-snapshot-creation-minimum-interval=0s",
                               "--resource-changes-collection-duration=0s",
                               NULL };

        TRY(write_kubeconfig(p, 0, relayed_url(p, index), config, err));
        return process_start(p->world.loop, argv, environment,
                             arena_printf(&p->arena, "%s/%s.log", p->scratch, a->name), &a->process, err);
}

static int start_member_agent(struct program_fleet *p, unsigned index, struct error *err)
{
        struct program_agent *a = &p->agents[index];
        const char *config = arena_printf(&p->arena, "%s/%s.kubeconfig", p->scratch, a->name);
        const char *token_file = arena_printf(&p->arena, "%s/%s.token", p->scratch, a->name);
        const char *ca = p->clients[0].config.endpoint.ca_pem;
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
        const char *argv[] = { program(p, "member-agent"),
                               "--kubeconfig",
                               config,
                               "--state-file",
                               arena_printf(&p->arena, "%s/%s.db", p->scratch, a->name),
                               "--metrics-bind-address=0",
                               "--health-probe-bind-address=0",
                               "--hub-metrics-bind-address=0",
                               "--hub-health-probe-bind-address=0",
                               NULL };
        return process_start(p->world.loop, argv, environment,
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

/* ---- life ---- */

static struct fleet *close_fleet(struct fleet *f)
{
        struct program_fleet *p = of(f);

        for (unsigned i = 0; p->agents && i < n_agents(p); i++)
                process_stop(p->agents[i].process, SIGTERM, STOP_MS);
        process_stop(p->server, SIGTERM, STOP_MS);
        for (unsigned i = 0; p->agents && i < n_agents(p); i++)
                relay_stop(p->agents[i].relay);
        for (unsigned i = 0; p->clients && i <= f->n_members; i++)
                kube_config_free(&p->clients[i].config);
        mem_free(p->agents);
        mem_free(p->clients);
        http_transport_free(p->world.transport);
        arena_free(&p->arena);
        mem_free(p);
        return NULL;
}

static const struct fleet_ops ops = { get_client, start_agent, stop_agent,     exit_code,
                                      set_link,   set_ready,   restart_server, close_fleet };

static int open_all(struct program_fleet *p, struct error *err)
{
        p->world.transport = http_transport_curl(&p->world, err);
        if (!p->world.transport)
                return err ? err->code : ERR_NO_MEMORY;
        TRY(p->world.files->make_directory(p->world.ctx, p->scratch, err));
        TRY(start_server(p, err));
        TRY(wait_server(p, err));
        for (unsigned i = 0; i < n_agents(p); i++) {
                name_agent(p, i);
                if (!p->direct)
                        TRY(relay_start(p->world.loop, p->port, &p->agents[i].relay, err));
        }
        return 0;
}

int process_fleet_open(const struct process_fleet_options *o, struct fleet **ret, struct error *err)
{
        struct program_fleet *p = NEW(struct program_fleet);
        int code;

        if (!p)
                return error_no_memory(err);
        world_init_real(&p->world, o->loop, o->log_sink);
        p->log = (struct log){ .sink = o->log_sink };
        p->programs = o->programs;
        p->scratch = o->scratch;
        p->direct = o->direct;
        p->fleet = (struct fleet){ .ops = &ops,
                                   .world = &p->world,
                                   .log = &p->log,
                                   .n_members = o->members,
                                   .n_hub_agents = MAX(o->hub_agents, 1u) };
        p->agents = mem_calloc(n_agents(p), sizeof(*p->agents));
        p->clients = mem_calloc(p->fleet.n_members + 1, sizeof(*p->clients));
        code = p->agents && p->clients ? open_all(p, err) : error_no_memory(err);
        if (code < 0)
                return close_fleet(&p->fleet), code;
        *ret = &p->fleet;
        return 0;
}

int process_fleet_pid(struct fleet *f, const char *name)
{
        unsigned i = 0;

        if (text_equal(name, "devcluster"))
                return process_pid(of(f)->server);
        return find_agent(f, name, &i, NULL) == 0 ? process_pid(of(f)->agents[i].process) : 0;
}

struct process_run {
        const struct scenario *scenario;
        const char *programs, *scratch;
        struct loop *loop;
        struct log_sink sink;
        struct buf *log;
        struct error *err;
        int code;
};

static int run_in(struct process_run *r)
{
        const struct process_fleet_options o = { .loop = r->loop,
                                                 .log_sink = &r->sink,
                                                 .programs = r->programs,
                                                 .scratch = r->scratch,
                                                 .members = r->scenario->members,
                                                 .hub_agents = r->scenario->hub_agents };
        struct fleet *f;
        int code;

        TRY(process_fleet_open(&o, &f, r->err));
        code = fleet_set_up(f, loop_now_ms(r->loop) + SET_UP_MS, r->err);
        if (code < 0)
                error_wrap(r->err, "setting the fleet up");
        if (code == 0)
                code = scenario_run(r->scenario, f, r->err);
        close_fleet(f);
        return code;
}

static void run_fiber(void *ctx)
{
        struct process_run *r = ctx;

        r->code = run_in(r);
}

static void write_log(void *ctx, const char *line, size_t n)
{
        struct process_run *r = ctx;

        buf_append(r->log, line, n);
}

static int64_t log_wall(void *ctx)
{
        struct process_run *r = ctx;

        return loop_wall_ms(r->loop);
}

/* The programs' own logs, for the report of a failure. */
static void collect_logs(struct process_run *r)
{
        static const char *const names[] = { "devcluster", "hub-agent", "hub-agent-2",
                                             "member-1",   "member-2",  "member-3" };
        struct world w;

        world_init_real(&w, r->loop, NULL);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
                AUTO_FREE char *path = mem_printf("%s/%s.log", r->scratch, names[i]);
                AUTO_FREE char *text = NULL;
                size_t n = 0;

                if (!path || w.files->read(w.ctx, path, 16 << 20, &text, &n, NULL) < 0)
                        continue;
                buf_printf(r->log, "== %s\n", names[i]);
                buf_append(r->log, n > 4000 ? text + n - 4000 : text, MIN(n, (size_t)4000));
        }
}

int scenario_run_processes(const struct scenario *s, const char *programs, const char *scratch,
                           struct scenario_report *report, struct error *err)
{
        struct process_run r = {
                .scenario = s, .programs = programs, .scratch = scratch, .log = &report->log, .err = err
        };
        struct fiber_group *group;
        int64_t began;
        int code;

        r.sink = (struct log_sink){
                .write = write_log, .wall_ms = log_wall, .ctx = &r, .format = LOG_TEXT, .least = LOG_INFO
        };
        r.loop = loop_new_real(err);
        if (!r.loop)
                return ERR_NO_MEMORY;
        began = loop_now_ms(r.loop);
        group = fiber_group_new(r.loop, NULL, "scenario");
        if (!group || !fiber_spawn(group, "scenario", run_fiber, &r))
                return error_no_memory(err);
        code = loop_run(r.loop, err);
        report->took_ms = loop_now_ms(r.loop) - began;
        if (code == 0)
                code = r.code;
        if (code < 0)
                collect_logs(&r);
        fiber_group_end(group);
        loop_free(r.loop);
        return code;
}
