/* kube-clusters: real Kubernetes clusters on this machine, in devcluster's place. 0 = ended by a signal, 1 =
 * cannot start, 2 = bad flags. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/base/flags.h"
#include "common/base/memory.h"
#include "common/net/http_server.h"
#include "e2e/kube/control.h"

#define CLUSTERS_MAX 32

struct flags {
        const char *assets, *data, *clusters, *kubeconfig, *audit_policy;
        int64_t nodes, control_port;
        bool with_parent, help;
};

static const struct flag flag_table[] = {
        { "assets", FLAG_STRING, "", offsetof(struct flags, assets),
          "folder with etcd, kube-apiserver, kube-controller-manager and kube-scheduler (e2e/kube/build)", 0,
          0, false },
        { "data", FLAG_STRING, "", offsetof(struct flags, data),
          "folder for databases, keys and logs of the servers", 0, 0, false },
        { "clusters", FLAG_STRING, "hub", offsetof(struct flags, clusters),
          "names of the clusters, separated by commas; hub has no nodes", 0, 0, false },
        { "kubeconfig", FLAG_STRING, "", offsetof(struct flags, kubeconfig),
          "file to write the administrator's kubeconfig to, once all is ready", 0, 0, false },
        { "audit-policy", FLAG_STRING, "", offsetof(struct flags, audit_policy),
          "audit policy file: requests are logged to DATA/CLUSTER/audit.log", 0, 0, false },
        { "nodes", FLAG_INT, "2", offsetof(struct flags, nodes), "nodes of each cluster but the hub", 0, 100,
          false },
        { "control-port", FLAG_INT, "0", offsetof(struct flags, control_port),
          "port of 127.0.0.1 for restarts, resets and readiness rules; 0 takes a free one. Its URL is in the "
          "file DATA/control",
          0, 65535, false },
        { "with-parent", FLAG_BOOL, "false", offsetof(struct flags, with_parent),
          "end when the process that started this one ends", 0, 0, false },
        { "help", FLAG_BOOL, "false", offsetof(struct flags, help), "print this help", 0, 0, false },
};

struct program {
        struct flags flags;
        struct loop *loop;
        struct world world;
        struct log log;
        struct fiber_group *group;
        struct fiber *fiber;
        struct kube_clusters *clusters;
        struct http_server *control;
        bool stopping;
        int code;
};

/* `kube-clusters launch PARENT PROGRAM FLAGS...`: becomes PROGRAM, which the kernel ends with PARENT. */
static int launch(char **argv)
{
        int64_t parent;

        if (!argv[0] || !argv[1] || !text_parse_i64(argv[0], &parent))
                return 2;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) /* it went between the fork and now */
                return 1;
        execv(argv[1], argv + 1);
        perror(argv[1]);
        return 127;
}

static void terminate(void *ctx)
{
        struct program *p = ctx;

        p->stopping = true;
        if (p->fiber)
                fiber_cancel(p->fiber);
}

static int read_names(const struct program *p, struct arena *arena, const char *ret[CLUSTERS_MAX],
                      size_t *ret_n, struct error *err)
{
        struct slice rest = slice_of(p->flags.clusters), head;
        size_t n = 0;

        while (rest.len) {
                slice_cut(&rest, ',', &head);
                head = slice_trim(head);
                if (n == CLUSTERS_MAX)
                        return error_set(err, ERR_LIMIT, "--clusters: more than %d names", CLUSTERS_MAX);
                ret[n] = mem_must(arena_strndup(arena, head.data, head.len));
                if (!text_is_dns1123_label(ret[n++]))
                        return error_set(err, ERR_INVALID, "--clusters: \"%s\" is no DNS label", ret[n - 1]);
        }
        *ret_n = n;
        return n ? 0 : error_set(err, ERR_INVALID, "--clusters: names are needed");
}

static int start_control(struct program *p, struct error *err)
{
        const struct http_server_options o = { .bind = "127.0.0.1",
                                               .port = (int)p->flags.control_port,
                                               .handle = kube_control_handle,
                                               .ctx = p->clusters };

        TRY(http_server_start(&p->world, &o, &p->control, err));
        AUTO_FREE char *path = mem_must(mem_printf("%s/control", p->flags.data));
        AUTO_FREE char *url = mem_must(mem_printf("http://127.0.0.1:%d\n", http_server_port(p->control)));
        return p->world.files->write(p->world.ctx, path, url, strlen(url), err);
}

static int start(struct program *p, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *names[CLUSTERS_MAX];
        struct kube_clusters_options o = { .world = &p->world,
                                           .log = &p->log,
                                           .group = p->group,
                                           .assets = p->flags.assets,
                                           .data = p->flags.data,
                                           .names = names,
                                           .nodes = (unsigned)p->flags.nodes,
                                           .audit_policy = p->flags.audit_policy };

        if (!*o.assets || !*o.data)
                return error_set(err, ERR_INVALID, "--assets and --data are needed");
        TRY(read_names(p, &arena, names, &o.n, err));
        TRY(kube_clusters_open(&o, &p->clusters, err));
        TRY(start_control(p, err));
        if (*p->flags.kubeconfig)
                TRY(kube_clusters_write_kubeconfig(p->clusters, p->flags.kubeconfig, err));
        printf("kube-clusters ready with %zu clusters, control on port %d\n", o.n,
               http_server_port(p->control));
        fflush(stdout);
        return 0;
}

static void run(void *ctx)
{
        struct program *p = ctx;
        struct error err = { 0 };
        int code;

        p->fiber = fiber_self(p->loop);
        code = start(p, &err);
        if (code < 0 && !p->stopping) {
                fprintf(stderr, "kube-clusters: %s\n", err.text);
                p->code = 1;
        }
        while (code == 0 && fiber_park(p->loop, DEADLINE_NONE) != ERR_CANCELLED)
                ;
        p->fiber = NULL;
        http_server_stop(p->control);
        kube_clusters_close(p->clusters);
        loop_stop(p->loop);
}

static int print_help(void)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1u << 20);
        buf_append_str(&b, "kube-clusters: real Kubernetes clusters on this machine, for tests.\n\n");
        flags_help(flag_table, ARRAY_LEN(flag_table), &b);
        fputs(b.data, stdout);
        return 0;
}

static int run_program(struct program *p, struct error *err)
{
        const struct log_sink *sink = log_sink_stderr(LOG_TEXT, LOG_INFO);

        p->loop = loop_new_real(err);
        if (!p->loop)
                return ERR_SYSTEM;
        world_init_real(&p->world, p->loop, sink);
        p->log.sink = sink;
        p->world.transport = http_transport_curl(&p->world, err);
        p->group = fiber_group_new(p->loop, NULL, "kube-clusters");
        if (!p->world.transport || !p->group)
                return ERR_NO_MEMORY;
        TRY(world_on_terminate(&p->world, terminate, p, err));
        if (!fiber_spawn(p->group, "kube-clusters", run, p))
                return error_no_memory(err);
        TRY(loop_run(p->loop, err));
        http_transport_free(p->world.transport);
        fiber_group_end(p->group);
        loop_free(p->loop);
        return 0;
}

int main(int argc, char **argv)
{
        struct program p = { 0 };
        struct error err = { 0 };

        if (argc > 1 && text_equal(argv[1], "launch"))
                return launch(argv + 2);
        mem_hook_libraries();
        if (flags_parse(flag_table, ARRAY_LEN(flag_table), argc, (const char *const *)argv, &p.flags, &err) <
            0) {
                fprintf(stderr, "kube-clusters: %s\n", err.text);
                return 2;
        }
        if (p.flags.help)
                return print_help();
        if (p.flags.with_parent)
                prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (run_program(&p, &err) < 0) {
                fprintf(stderr, "kube-clusters: cannot start: %s\n", err.text);
                return 1;
        }
        return p.code;
}
