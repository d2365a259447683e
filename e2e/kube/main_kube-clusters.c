/* kube-clusters: real Kubernetes clusters on this machine, in devcluster's place. 0 = ended by a signal, 1 =
 * cannot start, 2 = bad flags. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/ctrl/program.h"
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

struct servers {
        struct program program;
        struct flags flags;
        struct kube_clusters *clusters;
        struct http_server *control;
};

static struct servers *of(struct program *p)
{
        return container_of(p, struct servers, program);
}

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

static int read_names(const struct servers *s, struct arena *arena, const char *ret[CLUSTERS_MAX],
                      size_t *ret_n, struct error *err)
{
        struct slice rest = slice_of(s->flags.clusters), head;
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

static int start_control(struct servers *s, struct error *err)
{
        const struct http_server_options o = { .bind = "127.0.0.1",
                                               .port = (int)s->flags.control_port,
                                               .handle = kube_control_handle,
                                               .ctx = s->clusters };

        TRY(http_server_start(&s->program.world, &o, &s->control, err));
        AUTO_FREE char *path = mem_must(mem_printf("%s/control", s->flags.data));
        AUTO_FREE char *url = mem_must(mem_printf("http://127.0.0.1:%d\n", http_server_port(s->control)));
        return s->program.world.files->write(s->program.world.ctx, path, url, strlen(url), err);
}

static int start(struct servers *s, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *names[CLUSTERS_MAX];
        struct kube_clusters_options o = { .world = &s->program.world,
                                           .log = &s->program.log,
                                           .group = s->program.group,
                                           .assets = s->flags.assets,
                                           .data = s->flags.data,
                                           .names = names,
                                           .nodes = (unsigned)s->flags.nodes,
                                           .audit_policy = s->flags.audit_policy };

        if (!*o.assets || !*o.data)
                return error_set(err, ERR_INVALID, "--assets and --data are needed");
        TRY(read_names(s, &arena, names, &o.n, err));
        TRY(kube_clusters_open(&o, &s->clusters, err));
        TRY(start_control(s, err));
        if (*s->flags.kubeconfig)
                TRY(kube_clusters_write_kubeconfig(s->clusters, s->flags.kubeconfig, err));
        printf("kube-clusters ready with %zu clusters, control on port %d\n", o.n,
               http_server_port(s->control));
        fflush(stdout);
        return 0;
}

static int check(struct program *p, struct error *err)
{
        if (of(p)->flags.with_parent)
                prctl(PR_SET_PDEATHSIG, SIGTERM);
        return 0;
}

static int run(struct program *p, struct error *err)
{
        TRY(start(of(p), err));
        return program_wait(p);
}

static void stop(struct program *p)
{
        http_server_stop(of(p)->control);
        kube_clusters_close(of(p)->clusters);
}

int main(int argc, char **argv)
{
        struct servers s = { .program = { .name = "kube-clusters",
                                          .about = "kube-clusters: real Kubernetes clusters on this machine, "
                                                   "for tests.",
                                          .flags = flag_table,
                                          .n_flags = ARRAY_LEN(flag_table),
                                          .values = &s.flags,
                                          .help = &s.flags.help,
                                          .check = check,
                                          .run = run,
                                          .close = stop,
                                          .tool = true,
                                          .log_level = LOG_INFO } };

        if (argc > 1 && text_equal(argv[1], "launch"))
                return launch(argv + 2);
        return program_main(&s.program, argc, argv);
}
