/* The member agent's program: flags and environment in, one agent on the real loop, exit code out.
 * 0 = ended by a signal; 1 = cannot start or go on; 2 = bad flags. */
#include <sys/stat.h>

#include "common/base/memory.h"
#include "common/ctrl/program.h"
#include "common/kube/config.h"
#include "common/kube/mapping.h"
#include "common/net/http_files.h"
#include "member-agent/flags.h"
#include "member-agent/hub-token/renewal.h"
#include "member-agent/hub_connection.h"
#include "member-agent/member_agent.h"
#include "proto/gen/kinds.h"

#define ADDRESSES 4

struct agent {
        struct program program;
        struct member_flags flags;
        struct arena arena;
        struct hub_connection hub;
        struct kube_config member;
        struct http_files_follower files;
        struct http_transport *hub_transport; /* NULL without extra headers */
        const char *secret_ns, *secret_name;  /* with the token for the hub; NULL = none */
        struct property_settings properties;
        char hosts[ADDRESSES][FLAG_HOST_SIZE];
        struct listen_address addresses[ADDRESSES];
};

static struct agent *of(struct program *p)
{
        return container_of(p, struct agent, program);
}

static int read_addresses(struct agent *a, struct error *err)
{
        const char *const texts[ADDRESSES] = { a->flags.hub_metrics_address, a->flags.hub_health_address,
                                               a->flags.metrics_address, a->flags.health_address };

        for (size_t i = 0; i < ADDRESSES; i++) {
                a->addresses[i].host = a->hosts[i];
                TRY(flags_address(texts[i], a->hosts[i], &a->addresses[i].port, err));
        }
        return 0;
}

/* The member cluster has to know AppliedWork: 4 tries, 10, 50, 250 ms apart. */
static int check_applied_work(struct agent *a, struct error *err)
{
        struct kube_client k = { .world = &a->program.world,
                                 .endpoint = &a->member.endpoint,
                                 .log = &a->program.log };
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
                if (r < 0 && try < ARRAY_LEN(waits) && fiber_sleep(a->program.loop, waits[try]) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
        }
        return r < 0 ? error_wrap(err, "the member cluster does not serve AppliedWork") : 0;
}

/* Certificates that are wrong now may be put right in their files. */
static int follow_files(struct agent *a, struct error *err)
{
        struct program *p = &a->program;

        a->files =
                (struct http_files_follower){ &p->world, &p->log, { &a->hub.endpoint, &a->member.endpoint } };
        return http_files_follow(p->group, &a->files) < 0 ? error_no_memory(err) : 0;
}

/* Without a file yet, the Secret may have the token; with a sidecar the file comes a moment later. */
static void fetch_token(struct agent *a)
{
        struct world *w = &a->program.world;
        struct kube_client member = { .world = w, .endpoint = &a->member.endpoint, .log = &a->program.log };
        const struct token_renewal_options o = { .member = &member,
                                                 .log = &a->program.log,
                                                 .path = a->hub.endpoint.bearer_token_file,
                                                 .secret_ns = a->secret_ns,
                                                 .secret_name = a->secret_name };
        struct error err = { 0 };

        if (!o.path || !o.secret_name || w->files->stamp(w->ctx, o.path) != 0)
                return;
        if (token_fetch(&o, &err) < 0)
                log_warn(&a->program.log, "no token for the hub yet", "error", err.text);
}

static int load_both(struct agent *a, struct error *err)
{
        const char *kubeconfig = text_empty(a->flags.kubeconfig) ? NULL : a->flags.kubeconfig;

        TRY(hub_connection_load(&a->program.world, a->flags.use_ca_auth, a->flags.tls_insecure, &a->arena,
                                &a->hub, err));
        TRY(kube_config_find(&a->program.world, kubeconfig, NULL, &a->member, err));
        TRY(follow_files(a, err));
        if (a->hub.headers.n > 0 &&
            !(a->hub_transport = header_transport_new(a->program.world.transport, &a->hub.headers)))
                return error_no_memory(err);
        return 0;
}

/* This cluster can be reached. */
static int begin(void *ctx, struct error *err)
{
        struct agent *a = ctx;

        fetch_token(a);
        return check_applied_work(a, err);
}

/* The state file's folder may have to be made; if it cannot be, the store goes on in memory and says so. */
static void make_state_directory(struct agent *a)
{
        const char *slash = strrchr(a->flags.state_file, '/');
        char *directory;

        if (!slash || slash == a->flags.state_file)
                return;
        directory = arena_strndup(&a->arena, a->flags.state_file, (size_t)(slash - a->flags.state_file));
        if (directory)
                (void)a->program.world.files->make_directory(a->program.world.ctx, directory, NULL);
}

/* The kubelet names the machine of a container after its Pod. */
static const char *pod_name(const struct world *w)
{
        const char *name = w->process->getenv(w->ctx, "POD_NAME");

        return text_empty(name) ? w->process->getenv(w->ctx, "HOSTNAME") : name;
}

static int run_agent(struct agent *a, struct error *err)
{
        struct limiter_options limits = member_flags_limits(&a->flags);
        struct member_agent_options o = {
                .world = &a->program.world,
                .log = &a->program.log,
                .hub = &a->hub.endpoint,
                .member = &a->member.endpoint,
                .member_name = a->hub.member_name,
                .state_path = a->flags.state_file,
                .metrics_port = -1,
                .health_port = -1,
                .hub_transport = a->hub_transport,
                .hub_token_file = a->flags.hub_token_renewal ? a->hub.endpoint.bearer_token_file : NULL,
                .hub_token_secret_ns = a->secret_ns,
                .hub_token_secret = a->secret_name,
                .lease_namespace = a->flags.leader_elect ? a->flags.leader_election_namespace : NULL,
                .lease_duration_ms = a->flags.lease_duration_ms,
                .renew_deadline_ms = a->flags.renew_deadline_ms,
                .retry_period_ms = a->flags.retry_period_ms,
                .limits = &limits,
                .deletion_wait_ms = a->flags.deletion_wait_minutes * 60000,
                .namespace_account = a->flags.namespace_account,
                .properties = a->properties,
                .begin = begin,
                .begin_ctx = a,
                .pod_namespace = a->member.namespace_,
                .pod_name = pod_name(&a->program.world),
                .pod_uid = a->program.world.process->getenv(a->program.world.ctx, "POD_UID"),
                .also = a->addresses,
                .n_also = ADDRESSES
        };

        return member_agent_run(&o, err);
}

static int run(struct program *p, struct error *err)
{
        struct agent *a = of(p);

        TRY(load_both(a, err));
        make_state_directory(of(p));
        return run_agent(of(p), err);
}

static void close_agent(struct program *p)
{
        struct agent *a = of(p);

        http_transport_free(a->hub_transport);
        hub_connection_free(&a->hub);
        kube_config_free(&a->member);
        arena_free(&a->arena);
}

static int check(struct program *p, struct error *err)
{
        struct agent *a = of(p);

        p->log_format = a->flags.json_logs ? LOG_JSON : LOG_TEXT;
        p->log_level = a->flags.verbosity >= 4 ? LOG_DEBUG : LOG_INFO;
        TRY(member_flags_check(&a->flags, err));
        TRY(member_flags_secret(&a->flags, &a->arena, &a->secret_ns, &a->secret_name, err));
        TRY(member_flags_properties(&a->flags, &a->arena, &a->properties, err));
        return read_addresses(a, err);
}

int main(int argc, char **argv)
{
        struct agent a = { .program = { .name = "member-agent",
                                        .keeps_secrets = true,
                                        .flags = member_flag_table,
                                        .n_flags = n_member_flags,
                                        .values = &a.flags,
                                        .help = &a.flags.help,
                                        .check = check,
                                        .run = run,
                                        .close = close_agent } };

        umask(077); /* state and key files are nobody else's business */
        return program_main(&a.program, argc, argv);
}
