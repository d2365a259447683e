/* The chart runner as a program (runner.h), and with the word `container` the helper that becomes one
 * container's program (container.h). 0 = ended by a signal; 1 = cannot start; 2 = bad flags. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/ctrl/program.h"
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

struct kubelet {
        struct program program;
        struct flags flags;
        char programs[PATH_MAX], scratch[PATH_MAX], self[PATH_MAX];
        bool single_user;
};

static struct kubelet *of(struct program *p)
{
        return container_of(p, struct kubelet, program);
}

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
static int enter_user_namespace(struct kubelet *k, struct error *err)
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
        k->single_user = true;
        return 0;
}

static int find_paths(struct kubelet *k, struct error *err)
{
        ssize_t n = readlink("/proc/self/exe", k->self, sizeof(k->self) - 1);

        if (text_empty(k->flags.kubeconfig) || text_empty(k->flags.scratch))
                return error_set(err, ERR_INVALID, "--kubeconfig and --scratch are needed");
        k->self[n > 0 ? n : 0] = '\0';
        if (!realpath(k->flags.programs, k->programs))
                return error_errno(err, errno, "--programs %s", k->flags.programs);
        TRY(k->program.world.files->make_directory(k->program.world.ctx, k->flags.scratch, err));
        if (!realpath(k->flags.scratch, k->scratch))
                return error_errno(err, errno, "--scratch %s", k->flags.scratch);
        return 0;
}

static int check(struct program *p, struct error *err)
{
        return enter_user_namespace(of(p), err);
}

static int run(struct program *p, struct error *err)
{
        struct kubelet *k = of(p);
        const struct runner_options o = { .world = &p->world,
                                          .log = &p->log,
                                          .kubeconfig = k->flags.kubeconfig,
                                          .context = text_empty(k->flags.context) ? NULL : k->flags.context,
                                          .ns = k->flags.ns,
                                          .node = k->flags.node,
                                          .programs = k->programs,
                                          .scratch = k->scratch,
                                          .self = k->self,
                                          .restart_delay_ms = k->flags.restart_delay_ms,
                                          .single_user = k->single_user };

        TRY(find_paths(k, err));
        return runner_run(&o, p->group, err);
}

int main(int argc, char **argv)
{
        struct kubelet k = { .program = { .name = "chart-runner",
                                          .about = "chart-runner: runs the pods of one namespace as local "
                                                   "processes.",
                                          .flags = flag_table,
                                          .n_flags = ARRAY_LEN(flag_table),
                                          .values = &k.flags,
                                          .help = &k.flags.help,
                                          .check = check,
                                          .run = run,
                                          .tool = true,
                                          .log_level = LOG_INFO } };

        if (argc == 3 && strcmp(argv[1], "container") == 0)
                return run_container(argv[2]);
        return program_main(&k.program, argc, argv);
}
