/* The hub agent's program: flags in, one agent on the real loop, exit code out. 0 = ended by a signal; 1 =
 * cannot start or go on; 2 = bad flags. */
#include <stdio.h>

#include "common/base/memory.h"
#include "common/kube/config.h"
#include "hub-agent/flags.h"
#include "hub-agent/hub_agent.h"

struct program {
        struct hub_flags flags;
        struct loop *loop;
        struct world world;
        struct log log;
        struct fiber_group *group;
        struct kube_config hub;
        char metrics_host[64], health_host[64];
        int metrics_port, health_port;
        bool stopping;
        int code;
};

static int run_agent(struct program *p, struct error *err)
{
        const struct hub_flags *f = &p->flags;
        struct hub_agent_options o = { .world = &p->world,
                                       .log = &p->log,
                                       .hub = &p->hub.endpoint,
                                       .lease_namespace = f->leader_election_namespace,
                                       .leader_election = f->leader_elect,
                                       .lease_duration_ms = f->lease_duration_ms,
                                       .renew_deadline_ms = f->renew_deadline_ms,
                                       .retry_period_ms = f->retry_period_ms,
                                       .bind = p->metrics_port >= 0 ? p->metrics_host : p->health_host,
                                       .metrics_port = p->metrics_port,
                                       .health_port = p->health_port,
                                       .heartbeat_grace_ms = f->unhealthy_threshold_ms,
                                       .skipped_namespaces = f->skipped_namespaces,
                                       .skipped_resources = f->skipped_apis,
                                       .allowed_resources = f->allowed_apis,
                                       .enable_workload = f->enable_workload,
                                       .force_delete_wait_ms = f->force_delete_wait_ms,
                                       .resource_snapshot_min_interval_ms = f->snapshot_min_interval_ms,
                                       .resource_change_collect_ms = f->change_collect_ms };

        TRY(kube_config_find(&p->world, text_empty(f->kubeconfig) ? NULL : f->kubeconfig, NULL, &p->hub,
                             err));
        return hub_agent_run(&o, err);
}

static void agent_fiber(void *ctx)
{
        struct program *p = ctx;
        struct error err = { 0 };
        int code = run_agent(p, &err);

        if (code < 0 && !p->stopping) {
                log_error(&p->log, "the agent ends", "code", error_code_name(code), "error", err.text);
                p->code = 1;
        }
        loop_stop(p->loop);
}

static void on_terminate(void *ctx)
{
        struct program *p = ctx;

        p->stopping = true;
        log_info(&p->log, "asked to end");
        fiber_group_cancel(p->group);
}

static int start(struct program *p, struct error *err)
{
        const struct log_sink *sink = log_sink_stderr(p->flags.json_logs ? LOG_JSON : LOG_TEXT,
                                                      p->flags.verbosity >= 4 ? LOG_DEBUG : LOG_INFO);

        p->log = (struct log){ .sink = sink };
        TRY(flags_address(p->flags.metrics_address, p->metrics_host, &p->metrics_port, err));
        TRY(flags_address(p->flags.health_address, p->health_host, &p->health_port, err));
        p->loop = loop_new_real(err);
        if (!p->loop)
                return err->code;
        world_init_real(&p->world, p->loop, sink);
        p->world.transport = http_transport_curl(&p->world, err);
        if (!p->world.transport)
                return err->code;
        p->group = fiber_group_new(p->loop, NULL, "program");
        if (!p->group || !fiber_spawn(p->group, "agent", agent_fiber, p))
                return error_no_memory(err);
        return world_on_terminate(&p->world, on_terminate, p, err);
}

static void finish(struct program *p)
{
        if (p->group)
                fiber_group_end(p->group);
        http_transport_free(p->world.transport);
        kube_config_free(&p->hub);
        if (p->loop)
                loop_free(p->loop);
}

static void print_help(FILE *to)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        (void)flags_help(hub_flag_table, n_hub_flags, &b);
        fprintf(to, "Usage of hub-agent:\n%s", b.data);
}

int main(int argc, char **argv)
{
        struct program p = { 0 };
        struct error err = { 0 };

        mem_hook_libraries();
        if (flags_parse(hub_flag_table, n_hub_flags, argc, (const char *const *)argv, &p.flags, &err) < 0) {
                fprintf(stderr, "%s\n", err.text);
                print_help(stderr);
                return 2;
        }
        if (p.flags.help) {
                print_help(stdout);
                return 0;
        }
        if (hub_flags_check(&p.flags, &err) < 0) {
                fprintf(stderr, "%s\n", err.text);
                return 1;
        }
        if (start(&p, &err) < 0 || loop_run(p.loop, &err) < 0) {
                fprintf(stderr, "hub-agent: %s\n", err.text);
                p.code = 1;
        }
        finish(&p);
        return p.code;
}
