/* devcluster as a program: logical Kubernetes clusters on one port. 0 = ended by a signal, 1 = cannot start,
 * 2 = bad flags. */
#include <stdio.h>

#include "common/base/flags.h"
#include "common/base/memory.h"
#include "e2e/devcluster/devcluster.h"

#define CLUSTERS_MAX 10000

struct flags {
        const char *data, *bind, *clusters, *kubeconfig, *public_url;
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
        { "kubeconfig", FLAG_STRING, "", offsetof(struct flags, kubeconfig),
          "file to write the administrator's kubeconfig to", 0, 0, false },
        { "public-url", FLAG_STRING, "", offsetof(struct flags, public_url),
          "URL for kubeconfigs; default https://BIND:PORT", 0, 0, false },
        { "cluster-ports", FLAG_BOOL, "false", offsetof(struct flags, cluster_ports),
          "give each cluster a port of its own too, where paths have no /clusters/NAME in front, and name it "
          "in "
          "the kubeconfig: for clients inside a cluster. The N-th gets --port plus N, or a free one",
          0, 0, false },
        { "watch-history", FLAG_INT, "10000", offsetof(struct flags, watch_history),
          "events kept per cluster for watches", 1, 10000000, false },
        { "no-sync", FLAG_BOOL, "false", offsetof(struct flags, no_sync),
          "do not wait for the disk: a power cut loses writes", 0, 0, false },
        { "anonymous-admin", FLAG_BOOL, "false", offsetof(struct flags, anonymous_admin),
          "requests without credentials may do everything (tests only)", 0, 0, false },
        { "help", FLAG_BOOL, "false", offsetof(struct flags, help), "print this help", 0, 0, false },
};

struct program {
        struct flags flags;
        struct loop *loop;
        struct world world;
        struct log log;
        struct fiber_group *group;
        struct fiber *fiber;
        struct devcluster *devcluster;
        struct devcluster_server *server;
        struct devcluster_server **own; /* of the clusters, with --cluster-ports */
        size_t n_own;
        bool stopping;
        int code;
};

static void terminate(void *ctx)
{
        struct program *p = ctx;
        p->stopping = true;
        if (p->fiber)
                fiber_wake(p->fiber);
}

/* ---- starting ---- */

static int open_devcluster(struct program *p, struct error *err)
{
        AUTO_FREE char *path = NULL, *url = NULL;
        const struct flags *f = &p->flags;
        if (*f->data) {
                TRY(p->world.files->make_directory(p->world.ctx, f->data, err));
                path = mem_must(mem_printf("%s/devcluster.db", f->data));
        }
        url = mem_must(*f->public_url ? mem_strdup(f->public_url)
                                      : mem_printf("https://%s:%lld", f->bind, (long long)f->port));
        const struct devcluster_options o = { .world = &p->world,
                                              .log = &p->log,
                                              .path = path ? path : ":memory:",
                                              .sync_commits = !f->no_sync,
                                              .watch_history = f->watch_history,
                                              .public_url = url,
                                              .anonymous_admin = f->anonymous_admin };
        return devcluster_open(&o, p->group, &p->devcluster, err);
}

struct names {
        const char *at[CLUSTERS_MAX];
        size_t n;
};

static int read_names(const struct program *p, struct arena *arena, struct names *ret, struct error *err)
{
        struct slice rest = slice_of(p->flags.clusters), head;
        while (rest.len) {
                (void)slice_cut(&rest, ',', &head);
                head = slice_trim(head);
                if (!head.len)
                        continue;
                if (ret->n == CLUSTERS_MAX)
                        return error_set(err, ERR_LIMIT, "--clusters: more than %d names", CLUSTERS_MAX);
                ret->at[ret->n++] = mem_must(arena_strndup(arena, head.data, head.len));
        }
        return 0;
}

static int write_kubeconfig(struct program *p, const struct names *names, struct error *err)
{
        AUTO_FREE char *text = NULL;
        if (!*p->flags.kubeconfig)
                return 0;
        TRY(devcluster_kubeconfig(p->devcluster, names->at, names->n, &text, err));
        return p->world.files->write(p->world.ctx, p->flags.kubeconfig, text, strlen(text), err);
}

static int serve_each(struct program *p, const struct names *names, struct error *err)
{
        p->own = mem_must(mem_calloc(names->n + 1, sizeof(*p->own)));
        for (size_t i = 0; i < names->n; i++) {
                const struct devcluster_server_options o = {
                        .devcluster = p->devcluster,
                        .bind = p->flags.bind,
                        .port = p->flags.port ? (int)(p->flags.port + 1 + (int64_t)i) : 0,
                        .cluster = names->at[i],
                };
                TRY(devcluster_serve(&o, &p->own[p->n_own], err));
                AUTO_FREE char *url = mem_must(
                        mem_printf("https://%s:%d", p->flags.bind, devcluster_server_port(p->own[p->n_own])));
                p->n_own++;
                TRY(devcluster_set_cluster_url(p->devcluster, names->at[i], url));
        }
        return 0;
}

static int start(struct program *p, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct names *names = mem_must(arena_zalloc(&arena, sizeof(*names)));
        TRY(read_names(p, &arena, names, err));
        TRY(open_devcluster(p, err));
        for (size_t i = 0; i < names->n; i++)
                TRY(devcluster_create_cluster(p->devcluster, names->at[i], err));
        const struct devcluster_server_options o = { .devcluster = p->devcluster,
                                                     .bind = p->flags.bind,
                                                     .port = (int)p->flags.port };
        TRY(devcluster_serve(&o, &p->server, err));
        if (!*p->flags.public_url && p->flags.port == 0)
                devcluster_set_public_url(p->devcluster, p->flags.bind, devcluster_server_port(p->server));
        if (p->flags.cluster_ports)
                TRY(serve_each(p, names, err));
        TRY(write_kubeconfig(p, names, err));
        printf("devcluster ready on https://%s:%d with %zu clusters\n", p->flags.bind,
               devcluster_server_port(p->server), names->n);
        fflush(stdout);
        return 0;
}

static void run(void *ctx)
{
        struct program *p = ctx;
        struct error err = { 0 };
        p->fiber = fiber_self(p->loop);
        if (start(p, &err) < 0) {
                fprintf(stderr, "devcluster: %s\n", err.text);
                p->code = 1;
                p->stopping = true;
        }
        while (!p->stopping && fiber_park(p->loop, DEADLINE_NONE) != ERR_CANCELLED)
                ;
        for (size_t i = 0; i < p->n_own; i++)
                devcluster_server_stop(p->own[i]);
        mem_free(p->own);
        devcluster_server_stop(p->server);
        devcluster_close(p->devcluster);
        p->fiber = NULL;
        loop_stop(p->loop);
}

static int print_help(void)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 1u << 20);
        (void)buf_append_str(
                &b,
                "devcluster: an embedded Kubernetes API server, many logical clusters in one process.\n\n");
        (void)flags_help(flag_table, ARRAY_LEN(flag_table), &b);
        fputs(b.data, stdout);
        return 0;
}

int main(int argc, char **argv)
{
        struct program p = { 0 };
        struct error err = { 0 };
        mem_hook_libraries();
        if (flags_parse(flag_table, ARRAY_LEN(flag_table), argc, (const char *const *)argv, &p.flags, &err) <
            0) {
                fprintf(stderr, "devcluster: %s\n", err.text);
                return 2;
        }
        if (p.flags.help)
                return print_help();
        p.loop = loop_new_real(&err);
        if (!p.loop) {
                fprintf(stderr, "devcluster: %s\n", err.text);
                return 1;
        }
        const struct log_sink *sink = log_sink_stderr(LOG_TEXT, LOG_INFO);
        world_init_real(&p.world, p.loop, sink);
        p.log.sink = sink;
        p.group = fiber_group_new(p.loop, NULL, "devcluster program");
        if (!p.group || world_on_terminate(&p.world, terminate, &p, &err) < 0 ||
            !fiber_spawn(p.group, "devcluster", run, &p)) {
                fprintf(stderr, "devcluster: cannot start: %s\n", err.text);
                return 1;
        }
        (void)loop_run(p.loop, &err);
        fiber_group_end(p.group);
        loop_free(p.loop);
        return p.code;
}
