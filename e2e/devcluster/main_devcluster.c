/* devcluster as a program: logical Kubernetes clusters on one port. 0 = ended by a signal, 1 = cannot start,
 * 2 = bad flags. */
#include <stdio.h>

#include "common/base/memory.h"
#include "common/ctrl/program.h"
#include "e2e/devcluster/devcluster.h"

#define CLUSTERS_MAX 10000

struct flags {
        const char *data, *bind, *clusters, *pods, *kubeconfig, *public_url, *services;
        int64_t port, watch_history;
        bool no_sync, anonymous_admin, cluster_ports, help;
};

static const struct flag flag_table[] = {
        { "data", FLAG_STRING, "", offsetof(struct flags, data),
          "folder of the database; empty keeps everything in memory", 0, 0, false },
        { "bind", FLAG_STRING, "127.0.0.1", offsetof(struct flags, bind), "address to listen on", 0, 0,
          false },
        { "port", FLAG_INT, "6443", offsetof(struct flags, port), "port to listen on; 0 takes a free one", 0,
          65535, false },
        { "clusters", FLAG_STRING, "hub", offsetof(struct flags, clusters),
          "names of the logical clusters, separated by commas", 0, 0, false },
        { "pods", FLAG_STRING, "", offsetof(struct flags, pods),
          "names of those clusters, separated by commas, whose workloads get ReplicaSets and Pods: a hub's "
          "have none",
          0, 0, false },
        { "kubeconfig", FLAG_STRING, "", offsetof(struct flags, kubeconfig),
          "file to write the administrator's kubeconfig to", 0, 0, false },
        { "public-url", FLAG_STRING, "", offsetof(struct flags, public_url),
          "URL for kubeconfigs; default https://BIND:PORT", 0, 0, false },
        { "cluster-ports", FLAG_BOOL, "false", offsetof(struct flags, cluster_ports),
          "give each cluster a port of its own too, where paths have no /clusters/NAME in front, and name it "
          "in "
          "the kubeconfig: for clients inside a cluster. The N-th gets --port plus N, or a free one",
          0, 0, false },
        { "service-address", FLAG_STRING, "", offsetof(struct flags, services),
          "where the Services of webhooks are reached, as NAMESPACE/NAME=HOST:PORT, separated by commas", 0,
          0, false },
        { "watch-history", FLAG_INT, "10000", offsetof(struct flags, watch_history),
          "events kept per cluster for watches", 1, 10000000, false },
        { "no-sync", FLAG_BOOL, "false", offsetof(struct flags, no_sync),
          "do not wait for the disk: a power cut loses writes", 0, 0, false },
        { "anonymous-admin", FLAG_BOOL, "false", offsetof(struct flags, anonymous_admin),
          "requests without credentials may do everything (tests only)", 0, 0, false },
        { "help", FLAG_BOOL, "false", offsetof(struct flags, help), "print this help", 0, 0, false },
};

struct server {
        struct program program;
        struct flags flags;
        struct devcluster *devcluster;
        struct devcluster_server *server;
        struct devcluster_server **own; /* of the clusters, with --cluster-ports */
        size_t n_own;
};

static struct server *of(struct program *p)
{
        return container_of(p, struct server, program);
}

/* ---- starting ---- */

static int open_devcluster(struct server *s, struct error *err)
{
        AUTO_FREE char *path = NULL, *url = NULL;
        const struct flags *f = &s->flags;
        if (*f->data) {
                TRY(s->program.world.files->make_directory(s->program.world.ctx, f->data, err));
                path = mem_must(mem_printf("%s/devcluster.db", f->data));
        }
        url = mem_must(*f->public_url ? mem_strdup(f->public_url)
                                      : mem_printf("https://%s:%lld", f->bind, (long long)f->port));
        const struct devcluster_options o = { .world = &s->program.world,
                                              .log = &s->program.log,
                                              .path = path ? path : ":memory:",
                                              .sync_commits = !f->no_sync,
                                              .watch_history = f->watch_history,
                                              .public_url = url,
                                              .anonymous_admin = f->anonymous_admin,
                                              .webhooks = s->program.world.transport };
        return devcluster_open(&o, s->program.group, &s->devcluster, err);
}

struct names {
        const char *at[CLUSTERS_MAX];
        size_t n;
};

static int read_names(const char *flag, const char *list, struct arena *arena, struct names *ret,
                      struct error *err)
{
        struct slice rest = slice_of(list), head;
        while (rest.len) {
                (void)slice_cut(&rest, ',', &head);
                head = slice_trim(head);
                if (!head.len)
                        continue;
                if (ret->n == CLUSTERS_MAX)
                        return error_set(err, ERR_LIMIT, "--%s: more than %d names", flag, CLUSTERS_MAX);
                ret->at[ret->n++] = mem_must(arena_strndup(arena, head.data, head.len));
        }
        return 0;
}

static int write_kubeconfig(struct server *s, const struct names *names, struct error *err)
{
        AUTO_FREE char *text = NULL;
        if (!*s->flags.kubeconfig)
                return 0;
        TRY(devcluster_kubeconfig(s->devcluster, names->at, names->n, &text, err));
        return s->program.world.files->write(s->program.world.ctx, s->flags.kubeconfig, text, strlen(text),
                                             err);
}

static int serve_each(struct server *s, const struct names *names, struct error *err)
{
        s->own = mem_must(mem_calloc(names->n + 1, sizeof(*s->own)));
        for (size_t i = 0; i < names->n; i++) {
                const struct devcluster_server_options o = {
                        .devcluster = s->devcluster,
                        .bind = s->flags.bind,
                        .port = s->flags.port ? (int)(s->flags.port + 1 + (int64_t)i) : 0,
                        .cluster = names->at[i],
                };
                TRY(devcluster_serve(&o, &s->own[s->n_own], err));
                AUTO_FREE char *url = mem_must(
                        mem_printf("https://%s:%d", s->flags.bind, devcluster_server_port(s->own[s->n_own])));
                s->n_own++;
                TRY(devcluster_set_cluster_url(s->devcluster, names->at[i], url));
        }
        return 0;
}

static int set_services(struct server *s, const struct names *services, struct error *err)
{
        for (size_t i = 0; i < services->n; i++) {
                AUTO_FREE char *name = mem_must(mem_strdup(services->at[i]));
                char *address = strchr(name, '=');
                if (!address || !strchr(name, '/') || !strrchr(address, ':'))
                        return error_set(err, ERR_INVALID,
                                         "--service-address: \"%s\" is not NAMESPACE/NAME=HOST:PORT", name);
                *address++ = '\0';
                if (devcluster_set_service_address(s->devcluster, name, address) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

static int start(struct server *s, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct names *names = mem_must(arena_zalloc(&arena, sizeof(*names)));
        struct names *with_pods = mem_must(arena_zalloc(&arena, sizeof(*with_pods)));
        struct names *services = mem_must(arena_zalloc(&arena, sizeof(*services)));
        TRY(read_names("clusters", s->flags.clusters, &arena, names, err));
        TRY(read_names("pods", s->flags.pods, &arena, with_pods, err));
        TRY(read_names("service-address", s->flags.services, &arena, services, err));
        TRY(open_devcluster(s, err));
        TRY(set_services(s, services, err));
        for (size_t i = 0; i < names->n; i++)
                TRY(devcluster_create_cluster(s->devcluster, names->at[i], err));
        for (size_t i = 0; i < with_pods->n; i++)
                if (devcluster_set_pods(s->devcluster, with_pods->at[i], true) < 0)
                        return error_set(err, ERR_INVALID, "--pods: no cluster \"%s\"", with_pods->at[i]);
        const struct devcluster_server_options o = { .devcluster = s->devcluster,
                                                     .bind = s->flags.bind,
                                                     .port = (int)s->flags.port };
        TRY(devcluster_serve(&o, &s->server, err));
        if (!*s->flags.public_url && s->flags.port == 0)
                devcluster_set_public_url(s->devcluster, s->flags.bind, devcluster_server_port(s->server));
        if (s->flags.cluster_ports)
                TRY(serve_each(s, names, err));
        TRY(write_kubeconfig(s, names, err));
        printf("devcluster ready on https://%s:%d with %zu clusters\n", s->flags.bind,
               devcluster_server_port(s->server), names->n);
        fflush(stdout);
        return 0;
}

static int run(struct program *p, struct error *err)
{
        TRY(start(of(p), err));
        return program_wait(p);
}

static void stop(struct program *p)
{
        struct server *s = of(p);

        for (size_t i = 0; i < s->n_own; i++)
                devcluster_server_stop(s->own[i]);
        mem_free(s->own);
        devcluster_server_stop(s->server);
        devcluster_close(s->devcluster);
}

int main(int argc, char **argv)
{
        struct server s = { .program = {
                                    .name = "devcluster",
                                    .about = "devcluster: an embedded Kubernetes API server, many logical "
                                             "clusters in one process.",
                                    .flags = flag_table,
                                    .n_flags = ARRAY_LEN(flag_table),
                                    .values = &s.flags,
                                    .help = &s.flags.help,
                                    .tool = true,
                                    .run = run,
                                    .close = stop,
                                    .log_level = LOG_INFO } };

        return program_main(&s.program, argc, argv);
}
