/* The chart runner as a program (runner.h), and with the word `container` the helper that becomes one
 * container's program (container.h). 0 = ended by a signal; 1 = cannot start; 2 = bad flags. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/flags.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/http.h"
#include "e2e/chart-runner/container.h"
#include "e2e/chart-runner/runner.h"

#define CANNOT_RUN 128 /* as container engines report it */

struct flags {
        const char *kubeconfig, *context, *ns, *programs, *scratch, *node;
        int64_t restart_delay_ms;
        bool help;
};

static const struct flag flag_table[] = {
        { "kubeconfig", FLAG_STRING, "", offsetof(struct flags, kubeconfig),
          "who to be, and which servers pods reach" },
        { "context", FLAG_STRING, "", offsetof(struct flags, context), "the cluster to run pods of" },
        { "namespace", FLAG_STRING, "fleet-system", offsetof(struct flags, ns),
          "the namespace to run pods of" },
        { "programs", FLAG_STRING, "build/bin", offsetof(struct flags, programs),
          "folder of what the images hold" },
        { "scratch", FLAG_STRING, "", offsetof(struct flags, scratch), "folder for volumes and logs" },
        { "node", FLAG_STRING, "chart-runner", offsetof(struct flags, node),
          "the node's name, where the runner places pods itself" },
        { "restart-delay", FLAG_DURATION, "10s", offsetof(struct flags, restart_delay_ms),
          "wait before a container's second restart; doubles with each" },
        { "help", FLAG_BOOL, "false", offsetof(struct flags, help), "print this help" },
};

struct program {
        struct flags flags;
        struct loop *loop;
        struct world world;
        struct log log;
        struct fiber_group *group;
        char programs[PATH_MAX], scratch[PATH_MAX], self[PATH_MAX];
        bool single_user, stopping;
        int code;
};

/* ---- the helper ---- */

static int read_plan(const char *path, json_t **ret, struct error *err)
{
        AUTO_FREE char *text = mem_alloc(LIMIT_OBJECT_BYTES + 1);
        FILE *f = fopen(path, "re");
        size_t n = f && text ? fread(text, 1, LIMIT_OBJECT_BYTES, f) : 0;

        if (f)
                fclose(f);
        if (n == 0)
                return error_set(err, ERR_SYSTEM, "%s: cannot be read", path);
        return doc_parse((struct slice){ text, n }, ret, err);
}

static int run_container(const char *path)
{
        struct error err = { 0 };
        json_t *plan = NULL;

        if (read_plan(path, &plan, &err) == 0)
                (void)container_enter(plan, &err);
        fprintf(stderr, "chart-runner: container cannot start: %s\n", err.text);
        return CANNOT_RUN;
}

/* ---- the runner ---- */

static void write_file(const char *path, const char *text)
{
        FILE *f = fopen(path, "we");

        if (!f || fputs(text, f) < 0)
                fprintf(stderr, "chart-runner: %s: cannot be written\n", path);
        if (f)
                fclose(f);
}

/* A normal user becomes root of a user namespace that holds nothing but itself: enough for mounts and
 * networks of its own. Before any thread starts. */
static int enter_user_namespace(struct program *p, struct error *err)
{
        char map[64];
        uid_t uid = getuid();
        gid_t gid = getgid();

        if (uid == 0)
                return 0;
        if (unshare(CLONE_NEWUSER) < 0)
                return error_errno(err, errno, "neither root nor allowed to make a user namespace");
        write_file("/proc/self/setgroups", "deny");
        snprintf(map, sizeof(map), "0 %u 1", uid);
        write_file("/proc/self/uid_map", map);
        snprintf(map, sizeof(map), "0 %u 1", gid);
        write_file("/proc/self/gid_map", map);
        p->single_user = true;
        return 0;
}

static void run(void *ctx)
{
        struct program *p = ctx;
        struct error err = { 0 };
        const struct runner_options o = { .world = &p->world,
                                          .log = &p->log,
                                          .kubeconfig = p->flags.kubeconfig,
                                          .context = text_empty(p->flags.context) ? NULL : p->flags.context,
                                          .ns = p->flags.ns,
                                          .node = p->flags.node,
                                          .programs = p->programs,
                                          .scratch = p->scratch,
                                          .self = p->self,
                                          .restart_delay_ms = p->flags.restart_delay_ms,
                                          .single_user = p->single_user };

        if (runner_run(&o, p->group, &err) < 0 && !p->stopping) {
                fprintf(stderr, "chart-runner: %s\n", err.text);
                p->code = 1;
        }
        loop_stop(p->loop);
}

static void terminate(void *ctx)
{
        struct program *p = ctx;

        p->stopping = true;
        fiber_group_cancel(p->group);
}

static int find_paths(struct program *p, struct error *err)
{
        ssize_t n = readlink("/proc/self/exe", p->self, sizeof(p->self) - 1);

        if (text_empty(p->flags.kubeconfig) || text_empty(p->flags.scratch))
                return error_set(err, ERR_INVALID, "--kubeconfig and --scratch are needed");
        p->self[n > 0 ? n : 0] = '\0';
        if (!realpath(p->flags.programs, p->programs))
                return error_errno(err, errno, "--programs %s", p->flags.programs);
        TRY(p->world.files->make_directory(p->world.ctx, p->flags.scratch, err));
        if (!realpath(p->flags.scratch, p->scratch))
                return error_errno(err, errno, "--scratch %s", p->flags.scratch);
        return 0;
}

static int run_all(struct program *p, struct error *err)
{
        TRY(enter_user_namespace(p, err));
        p->loop = loop_new_real(err);
        if (!p->loop)
                return ERR_NO_MEMORY;
        p->log.sink = log_sink_stderr(LOG_TEXT, LOG_INFO);
        world_init_real(&p->world, p->loop, p->log.sink);
        TRY(find_paths(p, err));
        p->world.transport = http_transport_curl(&p->world, err);
        if (!p->world.transport)
                return ERR_NO_MEMORY;
        p->group = fiber_group_new(p->loop, NULL, "chart-runner");
        if (!p->group || !fiber_spawn(p->group, "chart-runner", run, p))
                return error_no_memory(err);
        TRY(world_on_terminate(&p->world, terminate, p, err));
        return loop_run(p->loop, err);
}

static void print_help(void)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        (void)flags_help(flag_table, ARRAY_LEN(flag_table), &b);
        printf("chart-runner: runs the pods of one namespace as local processes.\n\n%s", b.data);
}

int main(int argc, char **argv)
{
        struct program p = { 0 };
        struct error err = { 0 };

        if (argc == 3 && strcmp(argv[1], "container") == 0)
                return run_container(argv[2]);
        mem_hook_libraries();
        if (flags_parse(flag_table, ARRAY_LEN(flag_table), argc, (const char *const *)argv, &p.flags, &err) <
            0) {
                fprintf(stderr, "chart-runner: %s\n", err.text);
                return 2;
        }
        if (p.flags.help)
                return print_help(), 0;
        if (run_all(&p, &err) < 0) {
                fprintf(stderr, "chart-runner: %s\n", err.text);
                return 1;
        }
        p.group = fiber_group_end(p.group);
        p.world.transport = http_transport_free(p.world.transport);
        loop_free(p.loop);
        return p.code;
}
