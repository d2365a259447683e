/* The hub agent's program: flags in, one agent on the real loop, exit code out. 0 = ended by a signal; 1 =
 * cannot start or go on; 2 = bad flags. */
#include <strings.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/ctrl/program.h"
#include "common/kube/config.h"
#include "common/net/http_files.h"
#include "hub-agent/flags.h"
#include "hub-agent/hub_agent.h"
#include "hub-agent/source/options.h"
#include "hub-agent/webhook/policies.h"
#include "hub-agent/webhook/removal.h"
#include "hub-agent/webhook/serving.h"

struct agent {
        struct program program;
        struct hub_flags flags;
        struct kube_config hub;
        struct http_files_follower files;
        struct arena arena; /* of the policies' texts */
        struct admission_policies policies;
        struct webhook_options webhooks;
        struct source_options sources;
        char metrics_host[FLAG_HOST_SIZE], health_host[FLAG_HOST_SIZE], webhook_host[FLAG_HOST_SIZE];
        int metrics_port, health_port, webhook_port;
};

static struct agent *of(struct program *p)
{
        return container_of(p, struct agent, program);
}

static int check(struct program *p, struct error *err)
{
        struct agent *a = of(p);

        p->log_format = a->flags.json_logs ? LOG_JSON : LOG_TEXT;
        p->log_level = a->flags.verbosity >= 4 ? LOG_DEBUG : LOG_INFO;
        TRY(hub_flags_check(&a->flags, err));
        TRY(flags_address(a->flags.metrics_address, a->metrics_host, &a->metrics_port, err));
        TRY(flags_address(a->flags.webhook_address, a->webhook_host, &a->webhook_port, err));
        return flags_address(a->flags.health_address, a->health_host, &a->health_port, err);
}

static int read_policies(struct agent *a, struct error *err)
{
        const char *path = a->flags.policy_config;
        struct world *w = &a->program.world;
        AUTO_FREE char *text = NULL;
        struct slice all = { 0 };

        if (text_empty(path))
                return admission_policies_parse(&a->arena, NULL, &a->policies, err);
        TRY(w->files->read(w->ctx, path, LIMIT_POLICY_CONFIG_BYTES, &text, &all.len, err));
        all.data = text;
        return admission_policies_parse(&a->arena, &all, &a->policies, err) < 0
                       ? error_wrap(err, "admission-policy-manager-config: %s", path)
                       : 0;
}

static int find_hub(struct agent *a, struct error *err)
{
        const char *kubeconfig = a->flags.kubeconfig;
        struct program *p = &a->program;

        TRY(kube_config_find(&p->world, text_empty(kubeconfig) ? NULL : kubeconfig, NULL, &a->hub, err));
        a->files = (struct http_files_follower){ &p->world, &p->log, { &a->hub.endpoint } };
        return http_files_follow(p->group, &a->files) < 0 ? error_no_memory(err) : 0;
}

/* Where the webhooks' Service is. */
static int own_namespace(struct agent *a, const char *flag, const char **ret, struct error *err)
{
        struct world *w = &a->program.world;

        *ret = w->process->getenv(w->ctx, "POD_NAMESPACE");
        if (!text_empty(*ret))
                return 0;
        return error_set(err, ERR_INVALID, "%s: fail to obtain Pod namespace from POD_NAMESPACE", flag);
}

static int remove_webhooks(struct agent *a, struct error *err)
{
        struct program *p = &a->program;
        struct kube_client hub = { .world = &p->world, .endpoint = &a->hub.endpoint, .log = &p->log };
        struct webhook_removal o = { .kube = &hub,
                                     .log = &p->log,
                                     .service = a->flags.webhook_service,
                                     .policies = a->flags.policy_manager };

        TRY(own_namespace(a, "remove-webhooks", &o.ns, err));
        TRY(find_hub(a, err));
        return webhook_removal_run(&o, err);
}

static int read_webhooks(struct agent *a, struct error *err)
{
        const struct hub_flags *f = &a->flags;
        const char *ns = NULL;

        TRY(own_namespace(a, "enable-webhook", &ns, err));
        a->webhooks = (struct webhook_options){
                .flags = { .workload = f->enable_workload,
                           .pdbs = f->pdbs,
                           .guard_rail = f->guard_rail,
                           .networking_agents = f->networking_agents,
                           .fixed_member_labels = f->fixed_member_labels,
                           .whitelisted_users = f->whitelisted_users },
                .ns = ns,
                .service = f->webhook_service,
                .url = strcasecmp(f->webhook_connection, "service") != 0,
                .cert_manager = f->cert_manager,
                .bind = a->webhook_host,
                .port = a->webhook_port,
        };
        return 0;
}

static int run_agent(struct agent *a, struct error *err)
{
        struct program *p = &a->program;
        const struct hub_flags *f = &a->flags;
        const struct resource_set_pace pace = { .concurrency = (unsigned)f->set_concurrency,
                                                .jitter_percent = (unsigned)f->set_jitter,
                                                .retry_least_ms = f->set_retry_least_ms,
                                                .retry_most_ms = f->set_retry_most_ms };
        struct hub_agent_options o = { .world = &p->world,
                                       .log = &p->log,
                                       .hub = &a->hub.endpoint,
                                       .lease_namespace = f->leader_election_namespace,
                                       .leader_election = f->leader_elect,
                                       .shards = (unsigned)f->shards,
                                       .lease_duration_ms = f->lease_duration_ms,
                                       .renew_deadline_ms = f->renew_deadline_ms,
                                       .retry_period_ms = f->retry_period_ms,
                                       .bind = a->metrics_port >= 0 ? a->metrics_host : a->health_host,
                                       .metrics_port = a->metrics_port,
                                       .health_port = a->health_port,
                                       .heartbeat_grace_ms = f->unhealthy_threshold_ms,
                                       .skipped_namespaces = f->skipped_namespaces,
                                       .skipped_resources = f->skipped_apis,
                                       .allowed_resources = f->allowed_apis,
                                       .enable_workload = f->enable_workload,
                                       .networking_agents = f->networking_agents,
                                       .without_evictions = !f->evictions,
                                       .without_inventory = !f->inventory,
                                       .resource_sets = f->resource_sets,
                                       .local_input_providers = f->local_input_providers,
                                       .default_service_account = f->default_service_account,
                                       .resource_set_account = f->resource_set_account,
                                       .watch_configs = f->watch_configs,
                                       .override_managers = &f->override_managers,
                                       .requeue_dependency_ms = f->requeue_dependency_ms,
                                       .resource_set_pace = &pace,
                                       .without_report_back = !f->report_back,
                                       .without_staged_runs = !f->staged_runs,
                                       .no_external_snapshots = !f->external_snapshots,
                                       .force_delete_wait_ms = f->force_delete_wait_ms,
                                       .resource_snapshot_min_interval_ms = f->snapshot_min_interval_ms,
                                       .resource_change_collect_ms = f->change_collect_ms };

        if (f->webhook) {
                TRY(read_webhooks(a, err));
                o.webhooks = &a->webhooks;
        }
        if (f->policy_manager) {
                TRY(read_policies(a, err));
                o.admission_policies = &a->policies;
        }
        if (f->sources) {
                TRY(source_options_open(&p->world, f, &a->arena, &a->sources, err));
                o.sources = &a->sources;
        }
        TRY(find_hub(a, err));
        return hub_agent_run(&o, err);
}

static int run(struct program *p, struct error *err)
{
        if (of(p)->flags.remove_webhooks)
                return remove_webhooks(of(p), err);
        TRY(hub_flags_take_environment(&of(p)->flags, &p->world, &of(p)->arena, err));
        return run_agent(of(p), err);
}

static void close_agent(struct program *p)
{
        kube_config_free(&of(p)->hub);
        volume_close(of(p)->sources.volume);
        arena_free(&of(p)->arena);
}

int main(int argc, char **argv)
{
        struct agent a = { .program = { .name = "hub-agent",
                                        .keeps_secrets = true,
                                        .flags = hub_flag_table,
                                        .n_flags = n_hub_flags,
                                        .values = &a.flags,
                                        .help = &a.flags.help,
                                        .check = check,
                                        .run = run,
                                        .close = close_agent } };

        return program_main(&a.program, argc, argv);
}
