#include "e2e/scenarios/server_program.h"

#include <signal.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/kube/config.h"
#include "e2e/scenarios/process.h"

#define STOP_MS 5000
#define CONTROL_MS 300000

struct server_client {
        struct kube_config config;
        struct kube_client kube;
};

struct server_program {
        struct server_program_options o;
        struct world world;
        struct log log;
        const struct server_kind *kind;
        struct process *process;
        int port, port_fd; /* of devcluster: held, so that the agents find it again; fd -1 = none */
        struct server_client *clients; /* [0] = hub, [i] = member-i */
        struct http_endpoint control;  /* of kube-clusters */
        struct arena arena;            /* file names */
};

/* How the two programs differ. */
struct server_kind {
        const char *name;
        int64_t ready_ms;
        int (*start)(struct server_program *s, struct error *err);
        int (*restart)(struct server_program *s, struct error *err);
        int (*set_ready)(struct server_program *s, unsigned cluster, const char *query, struct error *err);
};

static const char *in_scratch(struct server_program *s, const char *file)
{
        return arena_printf(&s->arena, "%s/%s", s->o.scratch, file);
}

static const char *cluster_name(struct server_program *s, unsigned index)
{
        return index ? arena_printf(&s->arena, "member-%u", index) : "hub";
}

static const char *cluster_names(struct server_program *s)
{
        AUTO_BUF struct buf names;

        buf_init(&names, 65536);
        for (unsigned i = 0; i <= s->o.members; i++)
                buf_printf(&names, "%s%s", i ? "," : "", cluster_name(s, i));
        return arena_strdup(&s->arena, names.data);
}

static const char *log_file(struct server_program *s)
{
        return arena_printf(&s->arena, "%s/%s.log", s->o.scratch, s->kind->name);
}

/* ---- waiting ---- */

static int load_client(struct server_program *s, unsigned index, struct error *err)
{
        struct server_client *c = &s->clients[index];

        TRY(kube_config_load(&s->world, in_scratch(s, "kubeconfig"), cluster_name(s, index), &c->config,
                             err));
        c->kube = (struct kube_client){ .world = &s->world,
                                        .endpoint = &c->config.endpoint,
                                        .log = &s->log,
                                        .field_manager = "scenario" };
        return 0;
}

static int ask(struct server_program *s, unsigned index, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        if (!s->clients[index].kube.world)
                TRY(load_client(s, index, err));
        return kube_raw(&s->clients[index].kube, "GET", "/readyz", NULL, (struct slice){ 0 }, &arena, &r,
                        err);
}

/* Ready when the kubeconfig is there and every API server answers. */
static int wait_ready(struct server_program *s, struct error *err)
{
        int64_t deadline =
                loop_now_ms(s->world.loop) + (s->o.patience_s ? s->o.patience_s * 1000LL : s->kind->ready_ms);

        for (unsigned i = 0; i <= s->o.members;) {
                if (ask(s, i, err) == 0) {
                        i++;
                        continue;
                }
                if (!process_running(s->process))
                        return error_set(err, ERR_SYSTEM, "%s ended; see %s", s->kind->name, log_file(s));
                if (loop_now_ms(s->world.loop) > deadline)
                        return error_wrap(err, "%s did not become ready", s->kind->name);
                TRY(fiber_sleep(s->world.loop, 20));
        }
        return 0;
}

/* ---- devcluster ---- */

static int start_devcluster(struct server_program *s, struct error *err)
{
        const char *argv[] = {
                arena_printf(&s->arena, "%s/devcluster", s->o.programs),
                s->o.watch_history ? arena_printf(&s->arena, "--watch-history=%u", s->o.watch_history)
                                   : "--watch-history=10000",
                "--data",
                in_scratch(s, "data"),
                "--port",
                arena_printf(&s->arena, "%d", s->port),
                "--clusters",
                cluster_names(s),
                "--kubeconfig",
                in_scratch(s, "kubeconfig"),
                s->o.webhook_port ? "--service-address" : NULL,
                arena_printf(&s->arena, "fleet-system/fleetwebhook=127.0.0.1:%d", s->o.webhook_port),
                NULL
        };

        return process_start(s->world.loop, argv, NULL, log_file(s), &s->process, err);
}

static int restart_devcluster(struct server_program *s, struct error *err)
{
        process_stop(TAKE_PTR(s->process), SIGKILL, STOP_MS);
        TRY(start_devcluster(s, err));
        return wait_ready(s, err);
}

static int set_ready_devcluster(struct server_program *s, unsigned cluster, const char *query,
                                struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *path = arena_printf(&arena, "/devcluster/readiness?%s", query);
        struct http_response r;

        if (!path)
                return error_no_memory(err);
        return kube_raw(&s->clients[cluster].kube, "POST", path, NULL, (struct slice){ 0 }, &arena, &r, err);
}

static const struct server_kind devcluster_kind = { "devcluster", 600000, start_devcluster,
                                                    restart_devcluster, set_ready_devcluster };

/* ---- kube-clusters ---- */

static int start_kubernetes(struct server_program *s, struct error *err)
{
        const char *argv[] = { arena_printf(&s->arena, "%s/kube-clusters", s->o.programs),
                               "--with-parent=true",
                               "--assets",
                               s->o.assets,
                               "--data",
                               in_scratch(s, "data"),
                               "--clusters",
                               cluster_names(s),
                               "--kubeconfig",
                               in_scratch(s, "kubeconfig"),
                               NULL };

        return process_start(s->world.loop, argv, NULL, log_file(s), &s->process, err);
}

static int find_control(struct server_program *s, struct error *err)
{
        AUTO_FREE char *text = NULL;
        size_t n;

        if (s->control.base_url)
                return 0;
        TRY(s->world.files->read(s->world.ctx, in_scratch(s, "data/control"), 200, &text, &n, err));
        s->control.base_url = mem_strndup(text, strcspn(text, "\n"));
        return s->control.base_url ? 0 : error_no_memory(err);
}

static int control(struct server_program *s, const char *command, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_request rq = { .endpoint = &s->control,
                                   .method = "POST",
                                   .path = arena_printf(&arena, "/kube-clusters/%s", command),
                                   .deadline_ms = loop_now_ms(s->world.loop) + CONTROL_MS };
        struct http_response r;

        if (!rq.path)
                return error_no_memory(err);
        TRY(find_control(s, err));
        TRY(http_roundtrip(s->world.transport, &rq, &arena, &r, err));
        return r.status == 200 ? 0
                               : error_set(err, ERR_SYSTEM, "kube-clusters %s: %.*s", command,
                                           (int)MIN(r.body.len, (size_t)500), r.body.data);
}

static int restart_kubernetes(struct server_program *s, struct error *err)
{
        return control(s, "restart", err);
}

static int set_ready_kubernetes(struct server_program *s, unsigned cluster, const char *query,
                                struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *command =
                arena_printf(&arena, "readiness?cluster=%s&%s", cluster_name(s, cluster), query);

        return command ? control(s, command, err) : error_no_memory(err);
}

static const struct server_kind kubernetes_kind = { "kube-clusters", 900000, start_kubernetes,
                                                    restart_kubernetes, set_ready_kubernetes };

/* ---- use ---- */

const char *server_program_name(const struct server_program *s)
{
        return s->kind->name;
}

bool server_program_is_kubernetes(const struct server_program *s)
{
        return s->kind == &kubernetes_kind;
}

int server_program_pid(const struct server_program *s)
{
        return process_pid(s->process);
}

struct world *server_program_world(struct server_program *s)
{
        return &s->world;
}

const struct log *server_program_log(const struct server_program *s)
{
        return &s->log;
}

struct kube_client *server_program_client(struct server_program *s, unsigned cluster)
{
        ASSERT(cluster <= s->o.members);
        return &s->clients[cluster].kube;
}

int server_program_restart(struct server_program *s, struct error *err)
{
        return s->kind->restart(s, err);
}

int server_program_set_ready(struct server_program *s, unsigned cluster, const char *kind, const char *ns,
                             const char *name, bool ready, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *query = arena_printf(&arena, "kind=%s&namespace=%s&name=%s&ready=%s", kind ? kind : "",
                                         ns ? ns : "", name ? name : "", ready ? "true" : "false");

        return query ? s->kind->set_ready(s, cluster, query, err) : error_no_memory(err);
}

static int need_kubernetes(const struct server_program *s, struct error *err)
{
        return server_program_is_kubernetes(s)
                       ? 0
                       : error_set(err, ERR_UNSUPPORTED, "%s has no checkpoints", s->kind->name);
}

int server_program_checkpoint(struct server_program *s, struct error *err)
{
        TRY(need_kubernetes(s, err));
        return control(s, "checkpoint", err);
}

int server_program_reset(struct server_program *s, struct error *err)
{
        TRY(need_kubernetes(s, err));
        return control(s, "reset", err);
}

/* ---- life ---- */

struct server_program *server_program_stop(struct server_program *s)
{
        if (!s)
                return NULL;
        process_stop(s->process, SIGTERM, STOP_MS);
        for (unsigned i = 0; s->clients && i <= s->o.members; i++)
                kube_config_free(&s->clients[i].config);
        mem_free(s->clients);
        http_endpoint_free(&s->control);
        http_transport_free(s->world.transport);
        if (s->port_fd >= 0)
                close(s->port_fd);
        arena_free(&s->arena);
        mem_free(s);
        return NULL;
}

static int start_all(struct server_program *s, struct error *err)
{
        s->clients = mem_calloc(s->o.members + 1, sizeof(*s->clients));
        if (!s->clients)
                return error_no_memory(err);
        s->world.transport = http_transport_curl(&s->world, err);
        if (!s->world.transport)
                return err ? err->code : ERR_NO_MEMORY;
        TRY(s->world.files->make_directory(s->world.ctx, s->o.scratch, err));
        TRY(process_reserve_port(&s->port, &s->port_fd, err));
        TRY(s->kind->start(s, err));
        return wait_ready(s, err);
}

int server_program_start(const struct server_program_options *o, struct server_program **ret,
                         struct error *err)
{
        struct server_program *s = NEW(struct server_program);
        int code;

        if (!s)
                return error_no_memory(err);
        s->o = *o;
        s->kind = o->assets ? &kubernetes_kind : &devcluster_kind;
        s->port_fd = -1;
        world_init_real(&s->world, o->loop, o->log_sink);
        s->log = (struct log){ .sink = o->log_sink };
        code = start_all(s, err);
        if (code < 0) {
                server_program_stop(s);
                return code;
        }
        *ret = s;
        return 0;
}
