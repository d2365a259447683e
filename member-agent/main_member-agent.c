/* The member agent's program: flags and environment in, one agent on the real loop, exit code out.
 * 0 = ended by a signal; 1 = cannot start or go on; 2 = bad flags. */
#include <sys/stat.h>

#include "common/base/memory.h"
#include "common/kube/config.h"
#include "common/kube/mapping.h"
#include "member-agent/flags.h"
#include "member-agent/hub_connection.h"
#include "member-agent/member_agent.h"
#include "proto/gen/kinds.h"

#define ADDRESSES 4
#define TOKEN_WAIT_MS 60000

struct program {
        struct member_flags flags;
        struct loop *loop;
        struct world world;
        struct log log;
        struct fiber_group *group;
        struct arena arena;
        struct hub_connection hub;
        struct kube_config member;
        struct http_transport *hub_transport; /* NULL without extra headers */
        char hosts[ADDRESSES][64];
        struct listen_address addresses[ADDRESSES];
        bool stopping;
        int code;
};

static int read_addresses(struct program *p, struct error *err)
{
        const char *const texts[ADDRESSES] = { p->flags.hub_metrics_address, p->flags.hub_health_address,
                                               p->flags.metrics_address, p->flags.health_address };

        for (size_t i = 0; i < ADDRESSES; i++) {
                p->addresses[i].host = p->hosts[i];
                TRY(flags_address(texts[i], p->hosts[i], &p->addresses[i].port, err));
        }
        return 0;
}

/* The member cluster has to know AppliedWork: 4 tries, 10, 50, 250 ms apart. */
static int check_applied_work(struct program *p, struct error *err)
{
        struct kube_client k = { .world = &p->world, .endpoint = &p->member.endpoint, .log = &p->log };
        static const int64_t waits[] = { 10, 50, 250 };
        int r = ERR_NOT_FOUND;

        for (size_t try = 0; r < 0 && r != ERR_CANCELLED && try <= ARRAY_LEN(waits); try++) {
                struct kube_mapper *mapper = kube_mapper_new(&k);
                struct kube_mapped mapped;

                if (!mapper)
                        return error_no_memory(err);
                error_clear(err);
                r = kube_mapper_api_version(mapper, applied_work_kind.api_version, applied_work_kind.kind,
                                            &mapped, err);
                kube_mapper_free(mapper);
                if (r < 0 && try < ARRAY_LEN(waits) && fiber_sleep(p->loop, waits[try]) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
        }
        return r < 0 ? error_wrap(err, "the member cluster does not serve AppliedWork") : 0;
}

static int connect_both(struct program *p, struct error *err)
{
        const char *kubeconfig = text_empty(p->flags.kubeconfig) ? NULL : p->flags.kubeconfig;

        TRY(hub_connection_load(&p->world, p->flags.use_ca_auth, p->flags.tls_insecure, &p->arena, &p->hub,
                                err));
        TRY(hub_connection_wait_token(&p->world, &p->hub, loop_now_ms(p->loop) + TOKEN_WAIT_MS, err));
        TRY(kube_config_find(&p->world, kubeconfig, NULL, &p->member, err));
        if (p->hub.headers.n > 0 &&
            !(p->hub_transport = header_transport_new(p->world.transport, &p->hub.headers)))
                return error_no_memory(err);
        return check_applied_work(p, err);
}

/* The state file's folder may have to be made; if it cannot be, the store goes on in memory and says so. */
static void make_state_directory(struct program *p)
{
        const char *slash = strrchr(p->flags.state_file, '/');
        char *directory;

        if (!slash || slash == p->flags.state_file)
                return;
        directory = arena_strndup(&p->arena, p->flags.state_file, (size_t)(slash - p->flags.state_file));
        if (directory)
                (void)p->world.files->make_directory(p->world.ctx, directory, NULL);
}

static int run_agent(struct program *p, struct error *err)
{
        struct limiter_options limits = member_flags_limits(&p->flags);
        struct member_agent_options o = { .world = &p->world,
                                          .log = &p->log,
                                          .hub = &p->hub.endpoint,
                                          .member = &p->member.endpoint,
                                          .member_name = p->hub.member_name,
                                          .state_path = p->flags.state_file,
                                          .metrics_port = -1,
                                          .health_port = -1,
                                          .hub_transport = p->hub_transport,
                                          .lease_namespace = p->flags.leader_elect
                                                                     ? p->flags.leader_election_namespace
                                                                     : NULL,
                                          .lease_duration_ms = p->flags.lease_duration_ms,
                                          .renew_deadline_ms = p->flags.renew_deadline_ms,
                                          .retry_period_ms = p->flags.retry_period_ms,
                                          .limits = &limits,
                                          .deletion_wait_ms = p->flags.deletion_wait_minutes * 60000,
                                          .also = p->addresses,
                                          .n_also = ADDRESSES };

        make_state_directory(p);
        return member_agent_run(&o, err);
}

static void agent_fiber(void *ctx)
{
        struct program *p = ctx;
        struct error err = { 0 };
        int r = connect_both(p, &err);

        if (r == 0)
                r = run_agent(p, &err);
        if (r < 0 && !p->stopping) {
                log_error(&p->log, "the agent ends", "code", error_code_name(r), "error", err.text);
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
        TRY(read_addresses(p, err));
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
        http_transport_free(p->hub_transport);
        http_transport_free(p->world.transport);
        hub_connection_free(&p->hub);
        kube_config_free(&p->member);
        arena_free(&p->arena);
        if (p->loop)
                loop_free(p->loop);
}

static void print_help(FILE *to)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        (void)flags_help(member_flag_table, n_member_flags, &b);
        fprintf(to, "Usage of member-agent:\n%s", b.data);
}

int main(int argc, char **argv)
{
        struct program p = { 0 };
        struct error err = { 0 };

        mem_hook_libraries();
        umask(077); /* state and key files are nobody else's business */
        if (flags_parse(member_flag_table, n_member_flags, argc, (const char *const *)argv, &p.flags, &err) <
            0) {
                fprintf(stderr, "%s\n", err.text);
                print_help(stderr);
                return 2;
        }
        if (p.flags.help) {
                print_help(stdout);
                return 0;
        }
        if (member_flags_check(&p.flags, &err) < 0) {
                fprintf(stderr, "%s\n", err.text);
                return 1;
        }
        if (start(&p, &err) < 0 || loop_run(p.loop, &err) < 0) {
                fprintf(stderr, "member-agent: %s\n", err.text);
                p.code = 1;
        }
        finish(&p);
        return p.code;
}
