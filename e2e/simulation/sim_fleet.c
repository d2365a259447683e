#include <errno.h>

#include "common/base/memory.h"
#include "common/loop/volume.h"
#include "e2e/simulation/sim_disk.h"
#include "e2e/simulation/sim_fleet_internal.h"
#include "e2e/simulation/sim_webhooks.h"
#include "hub-agent/hub_agent.h"
#include "hub-agent/webhook/policies.h"
#include "member-agent/flags.h"
#include "member-agent/member_agent.h"

#define AUTHORITY "fleet.test"
#define TOKEN_SECONDS 600
#define TOKEN_LOOK_MS 10000
#define KEEP_ALIVE_MS 1000

static void world_init(struct sim_fleet *sim, struct world *w)
{
        *w = (struct world){ .loop = sim->options.loop,
                             .log_sink = sim->options.log_sink,
                             .files = &sim_files_table,
                             .process = &sim_no_process,
                             .ctx = &sim->files };
}

/* ---- agents ---- */

/* `agent` "": of the test itself. */
static int endpoint_for(const char *cluster, const char *agent, struct http_endpoint *ret, struct error *err)
{
        ret->base_url = mem_printf("https://" AUTHORITY "/clusters/%s", cluster);
        ret->user_agent = mem_printf("simulation%s%s", agent[0] ? "/" : "", agent);
        return ret->base_url && ret->user_agent ? 0 : error_no_memory(err);
}

unsigned sim_fleet_agents(const struct sim_fleet *sim)
{
        return sim->fleet.n_members + sim->fleet.n_hub_agents;
}

static bool is_hub_agent(const struct sim_fleet *sim, unsigned index)
{
        return index == 0 || index > sim->fleet.n_members;
}

int sim_fleet_serve(struct fleet *f, const char *authority, http_handler_fn handle, void *ctx,
                    struct error *err)
{
        struct sim_fleet *sim = container_of(f, struct sim_fleet, fleet);

        return loopback_listen(sim->loopback, authority, handle, ctx) < 0 ? error_no_memory(err) : 0;
}

/* Who ends on its own accord has lost the lease; if not, the report must say why. */
static void say_ended(struct sim_agent *a)
{
        a->ended = true;
        a->sim->n_ended++;
        if (a->err.code == ERR_TIMEOUT)
                log_info(&a->log, "agent ended by itself", "error", a->err.text);
        else if (a->err.code != ERR_CANCELLED)
                log_error(&a->log, "agent ended by itself", "code", error_code_name(a->err.code), "error",
                          a->err.text);
}

/* Nothing that a dead agent still does reaches its disk. */
static int volume_fault(void *ctx, enum volume_change what, const char *path)
{
        const struct sim_agent *a = ctx;
        bool adds = what == VOLUME_CREATE || what == VOLUME_APPEND || what == VOLUME_SYNC;

        return a->killed ? EIO : a->volume_full && adds ? ENOSPC : 0;
}

static void files_served(void *ctx, http_handler_fn handle, void *handle_ctx)
{
        struct sim_agent *a = ctx;
        char authority[FLEET_AGENT_NAME + 16];

        snprintf(authority, sizeof(authority), "%s.files", a->name);
        (void)loopback_listen(a->sim->loopback, authority, handle, handle_ctx);
}

/* NULL: they are not played. Every other agent keeps directories of indexes in memory. */
static const struct source_options *sources_of(struct sim_agent *a)
{
        if (!a->sim->fleet.sources)
                return NULL;
        if (!a->volume) {
                a->volume = volume_new_in_memory(a->sim->options.loop);
                if (!a->volume)
                        return NULL;
                volume_set_fault(a->volume, volume_fault, a);
        }
        a->sources = (struct source_options){ .port = -1,
                                              .served = files_served,
                                              .served_ctx = a,
                                              .volume = a->volume,
                                              .address = "http://files.test",
                                              .retention = { SOURCE_RETENTION_MS, SOURCE_RETENTION_RECORDS },
                                              .index_bytes = SOURCE_INDEX_BYTES,
                                              .chart_bytes = SOURCE_CHART_BYTES,
                                              .file_bytes = SOURCE_FILE_BYTES,
                                              .cache_most = text_equal(a->name, "hub-agent"),
                                              .cache_ttl_ms = 900000,
                                              .cache_purge_ms = 60000,
                                              .concurrency = 2,
                                              .jitter_percent = 5,
                                              .retry_least_ms = 750,
                                              .retry_most_ms = 900000 };
        return &a->sources;
}

static void run_hub_agent(void *ctx)
{
        struct sim_agent *a = ctx;
        struct admission_policies policies;
        struct hub_agent_options o = { .world = &a->world,
                                       .log = &a->log,
                                       .hub = &a->hub,
                                       .leader_election = true,
                                       .shards = a->sim->fleet.shards,
                                       .list_page = a->sim->fleet.list_page,
                                       .identity = a->name,
                                       .metrics_port = -1,
                                       .health_port = -1,
                                       .resource_snapshot_min_interval_ms = 0,
                                       .resource_change_collect_ms = 0,
                                       .force_delete_wait_ms = 30000,
                                       .heartbeat_grace_ms = SIM_HEARTBEAT_GRACE_MS,
                                       .resource_sets = a->sim->fleet.resource_sets,
                                       .resource_set_account = FLEET_SETS_ACCOUNT,
                                       .local_input_providers = a->sim->fleet.resource_sets,
                                       .networking_agents = a->sim->fleet.networking_agents,
                                       .sources = sources_of(a) };

        if (a->sim->fleet.admission_policies && admission_policies_parse(NULL, NULL, &policies, NULL) == 0)
                o.admission_policies = &policies;
        if (a->sim->fleet.webhooks)
                sim_webhooks_run(&o, sim_webhooks_started, a, &a->err);
        else
                hub_agent_run(&o, &a->err);
        say_ended(a);
}

/* As the program does with its command line, of which only this part means something here. */
static int read_properties(const struct fleet *f, struct arena *arena, struct property_settings *ret,
                           struct error *err)
{
        const char *argv[FLEET_FLAGS_MAX + 1] = { "member-agent" };
        struct member_flags flags;
        int n = 1;

        while (f->member_flags && f->member_flags[n - 1] && n <= FLEET_FLAGS_MAX) {
                argv[n] = f->member_flags[n - 1];
                n++;
        }
        TRY(flags_parse(member_flag_table, n_member_flags, n, argv, &flags, err));
        TRY(member_flags_check(&flags, err));
        TRY(member_flags_properties(&flags, arena, ret, err));
        ret->namespaces = ret->namespaces || f->collect_namespaces;
        return 0;
}

static void run_member_agent(void *ctx)
{
        struct sim_agent *a = ctx;
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct property_settings properties = { 0 };
        int readable = read_properties(&a->sim->fleet, &arena, &properties, &a->err);
        struct member_agent_options o = { .world = &a->world,
                                          .log = &a->log,
                                          .member_name = a->name,
                                          .hub = &a->hub,
                                          .member = &a->member,
                                          .state_path = sim_disk_uri(a->disk),
                                          .namespace_account = a->sim->fleet.namespace_account,
                                          .properties = properties,
                                          .metrics_port = -1,
                                          .health_port = -1 };

        if (readable == 0)
                member_agent_run(&o, &a->err);
        say_ended(a);
}

static void run_guest(void *ctx)
{
        struct sim_agent *a = ctx;

        a->run(a->run_ctx, &a->world, &a->log, &a->hub, &a->err);
        say_ended(a);
}

static struct sim_agent *find_agent(struct sim_fleet *sim, const char *name)
{
        for (unsigned i = 0; i < sim_fleet_agents(sim); i++)
                if (text_equal(sim->agents[i]->name, name))
                        return sim->agents[i];
        return sim->guest && text_equal(sim->guest->name, name) ? sim->guest : NULL;
}

static int agent_named(struct fleet *f, const char *name, struct sim_agent **ret, struct error *err)
{
        *ret = find_agent(container_of(f, struct sim_fleet, fleet), name);
        return *ret ? 0 : error_set(err, ERR_NOT_FOUND, "no agent \"%s\" in this fleet", name);
}

static int write_token(struct sim_agent *a, struct http_endpoint *e, const char *kind, const char *token,
                       struct error *err)
{
        if (!e->bearer_token_file && !(e->bearer_token_file = mem_printf("/tokens/%s-%s", a->name, kind)))
                return error_no_memory(err);
        return sim_files_table.write(&a->sim->files, e->bearer_token_file, token, strlen(token), err);
}

/* The tokens of an agent come from files that somebody else keeps fresh: that of its account on its own
 * cluster, which has the rights of the chart, and a member's for the hub. */
static int refresh_tokens(struct sim_agent *a, struct error *err)
{
        int64_t now = loop_wall_ms(a->sim->options.loop);
        struct http_endpoint *own = a->hub_agent ? &a->hub : &a->member;
        AUTO_FREE char *account = NULL, *token = NULL;
        int seconds = (int)a->sim->options.token_s;

        TRY(fleet_account_token(&a->sim->fleet, a->hub_agent ? "hub" : a->name, seconds, &account, err));
        TRY(write_token(a, own, "account", account, err));
        if (!a->hub_agent) {
                TRY(fleet_member_token(&a->sim->fleet, a->name, seconds, &token, err));
                TRY(write_token(a, &a->hub, "hub", token, err));
        }
        a->token_ms = now;
        return 0;
}

/* Looks now and then; a jump of the clock leaves the agents with tokens that are not good, until then. */
static void refresher_fiber(void *ctx)
{
        struct sim_fleet *sim = ctx;

        while (fiber_sleep(sim->options.loop, TOKEN_LOOK_MS) == 0)
                for (unsigned i = 0; i < sim_fleet_agents(sim); i++) {
                        struct sim_agent *a = sim->agents[i];
                        int64_t age = loop_wall_ms(sim->options.loop) - a->token_ms;
                        struct error err;

                        if (a->token_ms && (age < 0 || age > sim->options.token_s * 500))
                                (void)refresh_tokens(a, &err); /* else the next time */
                }
}

static int start_agent(struct fleet *f, const char *name, struct error *err)
{
        struct sim_agent *a;

        TRY(agent_named(f, name, &a, err));
        if (a->group && !a->ended)
                return error_set(err, ERR_INVALID, "agent \"%s\" is running", name);
        if (a->group)
                a->group = fiber_group_end(a->group);
        if (!a->token_ms && !a->run)
                TRY(refresh_tokens(a, err));
        a->sim->n_ended -= a->ended;
        a->killed = a->ended = false;
        error_clear(&a->err);
        a->group = fiber_group_new(a->sim->options.loop, a->sim->group, a->name);
        if (a->group)
                loop_process_add(a->pause.process, a->group);
        if (!a->group || !fiber_spawn(a->group, a->name,
                                      a->run         ? run_guest
                                      : a->hub_agent ? run_hub_agent
                                                     : run_member_agent,
                                      a))
                return error_no_memory(err);
        return 0;
}

static void keeper_fiber(void *ctx)
{
        struct sim_fleet *sim = ctx;

        while (fiber_sleep(sim->options.loop, KEEP_ALIVE_MS) == 0)
                for (unsigned i = 0; sim->keep_alive && sim->n_ended && i < sim_fleet_agents(sim); i++) {
                        struct sim_agent *a = sim->agents[i];
                        struct error err;

                        if (a->group && a->ended)
                                (void)start_agent(&sim->fleet, a->name, &err); /* else the next time */
                }
}

void sim_fleet_keep_alive(struct fleet *f, bool on)
{
        container_of(f, struct sim_fleet, fleet)->keep_alive = on;
}

/* What a dead agent left on its disk is what it will find there; half of the deaths are power failures. */
static void settle_disk(struct sim_agent *a)
{
        sim_disk_set_halted(a->disk, false);
        if (a->killed && loop_random_u64(a->sim->options.loop) % 2)
                sim_disk_lose_unsynced(a->disk);
}

/* A kill is modelled as: nothing the agent still says reaches anyone or its disk, then it is gone. */
static int stop_agent(struct fleet *f, const char *name, bool hard, struct error *err)
{
        struct sim_agent *a;

        TRY(agent_named(f, name, &a, err));
        if (!a->group || a->ended)
                return error_set(err, ERR_INVALID, "agent \"%s\" is not running", name);
        a->killed = hard;
        if (hard && a->disk)
                sim_disk_set_halted(a->disk, true);
        sim_pause_end(&a->pause);
        a->group = fiber_group_end(a->group);
        if (a->disk)
                settle_disk(a);
        return 0;
}

static int exit_code(struct fleet *f, const char *name, int *ret, struct error *err)
{
        struct sim_agent *a;

        TRY(agent_named(f, name, &a, err));
        if (!a->group)
                return error_set(err, ERR_INVALID, "agent \"%s\" was not started, or was stopped", name);
        *ret = a->ended ? 1 : -1;
        return 0;
}

static int set_link(struct fleet *f, const char *name, bool up, struct error *err)
{
        struct sim_agent *a;

        TRY(agent_named(f, name, &a, err));
        a->link_down = !up;
        if (!up && sim_server_devcluster(a->sim->server)) /* what is open notices */
                devcluster_cut_watches(sim_server_devcluster(a->sim->server), "hub", false);
        return 0;
}

static struct sim_agent *agent_free(struct sim_agent *a)
{
        if (!a)
                return NULL;
        http_transport_free(a->world.transport);
        sim_pause_clear(&a->pause);
        http_endpoint_free(&a->hub);
        http_endpoint_free(&a->member);
        sim_disk_free(a->disk);
        volume_close(a->volume);
        mem_free(a);
        return NULL;
}

static int agent_new(struct sim_fleet *sim, unsigned index, struct error *err)
{
        struct sim_agent *a = NEW(struct sim_agent);

        if (!a)
                return error_no_memory(err);
        sim->agents[index] = a;
        a->sim = sim;
        a->hub_agent = is_hub_agent(sim, index);
        if (a->hub_agent)
                fleet_hub_agent_name(index ? index - sim->fleet.n_members : 0, a->name);
        else
                snprintf(a->name, sizeof(a->name), "member-%u", index);
        snprintf(a->webhooks_at, sizeof(a->webhooks_at), "%s.webhooks", a->name);
        sim_agent_faults(a);
        if (sim_pause_init(&a->pause, sim->options.loop) < 0)
                return error_no_memory(err);
        world_init(sim, &a->world);
        a->log = log_with(&sim->log, "agent", a->name);
        TRY(endpoint_for("hub", a->name, &a->hub, err));
        if (!a->hub_agent) {
                TRY(endpoint_for(a->name, a->name, &a->member, err));
                a->disk = sim_disk_new(sim->options.loop);
                if (!a->disk)
                        return error_no_memory(err);
        }
        a->world.transport = loopback_transport(sim->loopback, &a->world, &a->faults);
        return a->world.transport ? 0 : error_no_memory(err);
}

int sim_fleet_add_guest(struct fleet *f, const char *name, sim_guest_fn *run, void *ctx, struct error *err)
{
        struct sim_fleet *sim = container_of(f, struct sim_fleet, fleet);
        struct sim_agent *a = NEW(struct sim_agent);

        ASSERT(!sim->guest);
        if (!a)
                return error_no_memory(err);
        sim->guest = a;
        *a = (struct sim_agent){ .sim = sim, .run = run, .run_ctx = ctx };
        snprintf(a->name, sizeof(a->name), "%s", name);
        sim_agent_faults(a);
        if (sim_pause_init(&a->pause, sim->options.loop) < 0)
                return error_no_memory(err);
        world_init(sim, &a->world);
        a->log = log_with(&sim->log, "agent", a->name);
        TRY(endpoint_for("hub", a->name, &a->hub, err));
        a->world.transport = loopback_transport(sim->loopback, &a->world, &a->faults);
        return a->world.transport ? 0 : error_no_memory(err);
}

/* ---- clusters ---- */

static int get_client(struct fleet *f, const char *cluster, struct kube_client **ret, struct error *err)
{
        struct sim_fleet *sim = container_of(f, struct sim_fleet, fleet);
        uint64_t index = 0;

        if (!text_equal(cluster, "hub") &&
            !(text_starts_with(cluster, "member-") && text_parse_u64(cluster + 7, &index)))
                index = UINT64_MAX;
        if (index > f->n_members)
                return error_set(err, ERR_NOT_FOUND, "no cluster \"%s\" in this fleet", cluster);
        *ret = &sim->clients[index]->kube;
        return 0;
}

static int client_new(struct sim_fleet *sim, unsigned index, struct error *err)
{
        struct sim_client *c = NEW(struct sim_client);
        char name[32] = "hub";

        if (!c)
                return error_no_memory(err);
        sim->clients[index] = c;
        if (index > 0)
                snprintf(name, sizeof(name), "member-%u", index);
        TRY(endpoint_for(name, "", &c->endpoint, err));
        c->kube = (struct kube_client){
                .world = &sim->world, .endpoint = &c->endpoint, .log = &sim->log, .field_manager = "scenario"
        };
        return sim_server_create_cluster(sim->server, name, err);
}

static int set_ready(struct fleet *f, const char *cluster, const char *kind, const char *ns, const char *name,
                     bool ready, struct error *err)
{
        struct sim_fleet *sim = container_of(f, struct sim_fleet, fleet);

        return sim_server_set_ready(sim->server, cluster, kind, ns, name, ready, err);
}

static int open_server(struct sim_fleet *sim, struct error *err)
{
        struct sim_server_options o = { .world = &sim->world,
                                        .log = &sim->log,
                                        .group = sim->group,
                                        .loopback = sim->loopback,
                                        .authority = AUTHORITY,
                                        .webhooks = sim->webhook_calls,
                                        .changed = sim->options.changed,
                                        .looks_into = sim->options.looks_into,
                                        .ctx = sim->options.ctx };

        return sim_server_open(&o, &sim->server, err);
}

static int restart_server(struct fleet *f, struct error *err)
{
        return sim_server_restart(container_of(f, struct sim_fleet, fleet)->server, err);
}

int sim_fleet_kill_server(struct fleet *f, bool power_failure, struct error *err)
{
        return sim_server_kill(container_of(f, struct sim_fleet, fleet)->server, power_failure, err);
}

int sim_fleet_set_server_disk_full(struct fleet *f, bool full, struct error *err)
{
        return sim_server_set_disk_full(container_of(f, struct sim_fleet, fleet)->server, full, err);
}

const json_t *sim_fleet_get(struct fleet *f, const char *cluster, const char *resource, const char *ns,
                            const char *name)
{
        struct sim_fleet *sim = container_of(f, struct sim_fleet, fleet);

        return mirror_get(sim_server_mirror(sim->server), cluster, resource, ns, name);
}

void sim_fleet_each(struct fleet *f, const char *cluster, const char *resource, const char *ns,
                    bool (*fn)(void *ctx, const json_t *doc), void *ctx)
{
        struct sim_fleet *sim = container_of(f, struct sim_fleet, fleet);

        mirror_each(sim_server_mirror(sim->server), cluster, resource, ns, fn, ctx);
}

/* ---- life ---- */

static void sim_go_on(struct sim_fleet *sim)
{
        for (unsigned i = 0; sim->agents && i < sim_fleet_agents(sim); i++)
                if (sim->agents[i])
                        sim_pause_end(&sim->agents[i]->pause);
        if (sim->guest)
                sim_pause_end(&sim->guest->pause);
}

static struct fleet *close_fleet(struct fleet *f)
{
        struct sim_fleet *sim = container_of(f, struct sim_fleet, fleet);

        sim_go_on(sim);
        for (unsigned i = 0; sim->agents && i < sim_fleet_agents(sim); i++)
                if (sim->agents[i] && sim->agents[i]->group)
                        sim->agents[i]->group = fiber_group_end(sim->agents[i]->group);
        if (sim->guest && sim->guest->group)
                sim->guest->group = fiber_group_end(sim->guest->group);
        sim_server_close(sim->server);
        agent_free(sim->guest);
        for (unsigned i = 0; sim->agents && i < sim_fleet_agents(sim); i++)
                agent_free(sim->agents[i]);
        for (unsigned i = 0; sim->clients && i <= f->n_members; i++) {
                if (sim->clients[i])
                        http_endpoint_free(&sim->clients[i]->endpoint);
                mem_free(sim->clients[i]);
        }
        mem_free(sim->agents);
        mem_free(sim->clients);
        if (sim->group)
                fiber_group_end(sim->group);
        http_transport_free(sim->world.transport);
        http_transport_free(sim->webhook_calls);
        if (sim->loopback)
                loopback_free(sim->loopback);
        sim_files_free(&sim->files);
        mem_free(sim);
        return NULL;
}

static int set_frozen(struct fleet *f, const char *agent, bool frozen, struct error *err)
{
        struct sim_agent *a;

        TRY(agent_named(f, agent, &a, err));
        if (frozen)
                loop_process_stop(a->pause.process);
        else
                sim_pause_end(&a->pause);
        return 0;
}

int sim_fleet_pause(struct fleet *f, const char *agent, enum sim_pause_at at, int64_t ms, struct error *err)
{
        struct sim_agent *a;

        TRY(agent_named(f, agent, &a, err));
        if (!a->group || a->ended || sim_pause_is_on(&a->pause))
                return ERR_EXISTS;
        return sim_pause_begin(&a->pause, at, ms) < 0 ? error_no_memory(err) : 0;
}

void sim_fleet_go_on(struct fleet *f)
{
        sim_go_on(container_of(f, struct sim_fleet, fleet));
}

static const struct fleet_ops ops = { get_client, start_agent, stop_agent,     exit_code,  set_link,
                                      set_frozen, set_ready,   restart_server, close_fleet };

static int open_all(struct sim_fleet *sim, struct error *err)
{
        unsigned n = sim->options.members;

        sim->options.token_s = sim->options.token_s ? sim->options.token_s : TOKEN_SECONDS;

        sim_files_init(&sim->files);
        world_init(sim, &sim->world);
        sim->log = (struct log){ .sink = sim->options.log_sink };
        sim->fleet = (struct fleet){ .ops = &ops,
                                     .world = &sim->world,
                                     .log = &sim->log,
                                     .n_members = n,
                                     .n_hub_agents = MAX(sim->options.hub_agents, 1u) };
        sim->group = fiber_group_new(sim->options.loop, NULL, "fleet");
        sim->loopback = loopback_new(sim->options.loop);
        sim->agents = mem_calloc(sim_fleet_agents(sim), sizeof(*sim->agents));
        sim->clients = mem_calloc(n + 1, sizeof(*sim->clients));
        if (!sim->group || !sim->loopback || !sim->agents || !sim->clients)
                return error_no_memory(err);
        sim->world.transport = loopback_transport(sim->loopback, &sim->world, NULL);
        sim_webhook_faults(sim);
        sim->webhook_calls = loopback_transport(sim->loopback, &sim->world, &sim->webhook_faults);
        if (!sim->world.transport || !sim->webhook_calls)
                return error_no_memory(err);
        TRY(open_server(sim, err));
        for (unsigned i = 0; i <= n; i++)
                TRY(client_new(sim, i, err));
        for (unsigned i = 0; i < sim_fleet_agents(sim); i++)
                TRY(agent_new(sim, i, err));
        sim_server_begin(sim->server);
        return fiber_spawn(sim->group, "tokens", refresher_fiber, sim) &&
                               fiber_spawn(sim->group, "kubelet", keeper_fiber, sim)
                       ? 0
                       : error_no_memory(err);
}

int sim_fleet_open(const struct sim_fleet_options *o, struct fleet **ret, struct error *err)
{
        struct sim_fleet *sim = NEW(struct sim_fleet);

        if (!sim)
                return error_no_memory(err);
        sim->options = *o;
        if (open_all(sim, err) < 0) {
                close_fleet(&sim->fleet);
                return err ? err->code : ERR_INTERNAL;
        }
        *ret = &sim->fleet;
        return 0;
}

int sim_fleet_set_disk_full(struct fleet *f, unsigned member, bool full, struct error *err)
{
        struct sim_fleet *sim = container_of(f, struct sim_fleet, fleet);

        if (member < 1 || member > f->n_members)
                return error_set(err, ERR_NOT_FOUND, "no member %u in this fleet", member);
        sim_disk_set_full(sim->agents[member]->disk, full);
        return 0;
}

struct sqlite3 *sim_fleet_read_state(struct fleet *f, unsigned member)
{
        const struct sim_agent *a = container_of(f, struct sim_fleet, fleet)->agents[member];

        return a->group && !a->ended ? sim_disk_read(a->disk) : NULL;
}

struct devcluster *sim_fleet_devcluster(struct fleet *f)
{
        return sim_server_devcluster(container_of(f, struct sim_fleet, fleet)->server);
}

/* ---- artifacts ---- */

static struct sim_agent *hub_agent_at(struct fleet *f, unsigned hub_agent)
{
        char name[FLEET_AGENT_NAME];

        fleet_hub_agent_name(hub_agent, name);
        return find_agent(container_of(f, struct sim_fleet, fleet), name);
}

struct volume *sim_fleet_volume(struct fleet *f, unsigned hub_agent)
{
        const struct sim_agent *a = hub_agent_at(f, hub_agent);

        return a ? a->volume : NULL;
}

int sim_fleet_set_volume_full(struct fleet *f, unsigned hub_agent, bool full, struct error *err)
{
        struct sim_agent *a = hub_agent_at(f, hub_agent);

        if (!a)
                return error_set(err, ERR_NOT_FOUND, "no hub agent %u in this fleet", hub_agent);
        a->volume_full = full;
        return 0;
}

int sim_fleet_get_file(struct fleet *f, unsigned hub_agent, const char *path, struct arena *arena,
                       struct http_response *ret)
{
        const struct sim_agent *a = hub_agent_at(f, hub_agent);
        AUTO_FREE char *url = a ? mem_printf("https://%s.files", a->name) : NULL;
        struct http_endpoint endpoint = { .base_url = url };
        const struct http_request rq = { .endpoint = &endpoint,
                                         .method = "GET",
                                         .path = path,
                                         .deadline_ms = loop_now_ms(f->world->loop) + 5000 };
        struct error err = { 0 };

        if (!url || http_roundtrip(f->world->transport, &rq, arena, ret, &err) < 0)
                return err.code ? err.code : ERR_NOT_FOUND;
        return ret->status;
}
