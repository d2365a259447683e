#include "e2e/chart-runner/container.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/memory.h"

#define LAST_CAPABILITY 63

static int failed_at(struct error *err, const char *what, const char *path)
{
        return error_errno(err, errno, "%s %s", what, path);
}

/* ---- files of the root ---- */

/* Makes the folders above `path`, and `path` itself as a folder or an empty file to mount on. */
static int make_place(const char *path, bool folder, struct error *err)
{
        char at[PATH_MAX];
        int fd;

        if (snprintf(at, sizeof(at), "%s", path) >= (int)sizeof(at))
                return error_set(err, ERR_LIMIT, "%s: path too long", path);
        for (char *slash = strchr(at + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                if (mkdir(at, 0755) < 0 && errno != EEXIST)
                        return failed_at(err, "mkdir", at);
                *slash = '/';
        }
        if (folder)
                return mkdir(at, 0755) < 0 && errno != EEXIST ? failed_at(err, "mkdir", at) : 0;
        fd = open(at, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0)
                return failed_at(err, "create", at);
        close(fd);
        return 0;
}

static int bind_at(const char *source, const char *root, const char *target, bool read_only,
                   struct error *err)
{
        AUTO_FREE char *at = mem_printf("%s%s", root, target);
        struct stat s;

        if (!at)
                return error_no_memory(err);
        if (stat(source, &s) < 0)
                return failed_at(err, "stat", source);
        TRY(make_place(at, S_ISDIR(s.st_mode), err));
        if (mount(source, at, NULL, MS_BIND | MS_REC, NULL) < 0)
                return failed_at(err, "bind", at);
        /* A bind takes its flags only from a second call. */
        if (read_only &&
            mount(NULL, at, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) < 0)
                return failed_at(err, "remount", at);
        return 0;
}

static int bind_optional(const char *path, const char *root, struct error *err)
{
        return access(path, F_OK) == 0 ? bind_at(path, root, path, true, err) : 0;
}

static int write_at(const char *root, const char *target, const char *text, struct error *err)
{
        AUTO_FREE char *at = mem_printf("%s%s", root, target);
        int fd;

        if (!at)
                return error_no_memory(err);
        TRY(make_place(at, false, err));
        fd = open(at, O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                return failed_at(err, "write", at);
        close(fd);
        return 0;
}

/* libwebsockets loads the plugin for the agents' loop by its path beside itself, so no list names it
 * (charts/image/rootfs puts it into the image for the same reason). */
static int bind_plugin_of(const char *library, const char *root, struct error *err)
{
        char real[PATH_MAX];
        AUTO_FREE char *plugin = NULL;

        if (!strstr(library, "/libwebsockets.so"))
                return 0;
        if (!realpath(library, real))
                return failed_at(err, "resolve", library);
        *strrchr(real, '/') = '\0';
        plugin = mem_printf("%s/libwebsockets-evlib_uv.so", real);
        return plugin ? bind_at(plugin, root, plugin, true, err) : error_no_memory(err);
}

/* The shared libraries of a program as the dynamic linker lists them; none for a static one. */
static int bind_libraries(const char *program, const char *root, struct error *err)
{
        AUTO_FREE char *command = mem_printf("ldd '%s' 2>/dev/null", program);
        FILE *list;
        char line[PATH_MAX + 64];
        int code = 0;

        if (strchr(program, '\''))
                return error_set(err, ERR_INVALID, "%s: a quote in the path", program);
        list = command ? popen(command, "re") : NULL;
        if (!list)
                return error_set(err, ERR_SYSTEM, "%s: its libraries cannot be listed", program);
        while (code == 0 && fgets(line, sizeof(line), list)) {
                char *slash = strchr(line, '/'), *end = slash ? strstr(slash, " (") : NULL;

                if (!end)
                        continue;
                *end = '\0';
                code = bind_at(slash, root, slash, true, err);
                if (code == 0)
                        code = bind_plugin_of(slash, root, err);
        }
        pclose(list);
        return code;
}

static int make_image(const json_t *plan, const char *root, struct error *err)
{
        static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom" };
        const char *program = doc_get_string(plan, "program"), *host = doc_get_string(plan, "hostname");
        AUTO_FREE char *tmp = mem_printf("%s/tmp", root), *hosts = NULL;

        TRY(bind_at(program, root, doc_get_string(plan, "entrypoint"), true, err));
        TRY(bind_libraries(program, root, err));
        for (size_t i = 0; i < ARRAY_LEN(devices); i++)
                TRY(bind_at(devices[i], root, devices[i], false, err));
        TRY(bind_at("/proc", root, "/proc", false, err));
        TRY(bind_optional("/etc/ssl/certs", root, err));
        TRY(bind_optional("/usr/share/ca-certificates", root, err)); /* what the links there point to */
        TRY(write_at(root, "/etc/passwd",
                     "root:x:0:0:root:/root:/sbin/nologin\n"
                     "nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n",
                     err));
        TRY(write_at(root, "/etc/group", "root:x:0:\nnonroot:x:65532:\n", err));
        TRY(write_at(root, "/etc/nsswitch.conf", "hosts: files\n", err));
        hosts = mem_printf("127.0.0.1 localhost\n127.0.0.1 %s\n", host);
        if (!hosts || !tmp)
                return error_no_memory(err);
        TRY(write_at(root, "/etc/hosts", hosts, err));
        TRY(make_place(tmp, true, err));
        return chmod(tmp, 01777) < 0 ? failed_at(err, "chmod", tmp) : 0;
}

static int mount_volumes(const json_t *plan, const char *root, struct error *err)
{
        json_t *m;
        size_t i;

        json_array_foreach(doc_get_array(plan, "mounts"), i, m)
                TRY(bind_at(doc_get_string(m, "source"), root, doc_get_string(m, "target"),
                            doc_get_bool(m, "readOnly", false), err));
        return 0;
}

/* Our old root goes away with all that was mounted: nothing of the host stays in reach. */
static int change_root(const char *root, bool read_only, struct error *err)
{
        if (read_only && mount(NULL, root, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
                return failed_at(err, "remount", root);
        if (chdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
            chdir("/") < 0)
                return failed_at(err, "pivot_root", root);
        return 0;
}

static int make_root(const json_t *plan, struct error *err)
{
        const char *root = doc_get_string(plan, "root");

        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return failed_at(err, "make private", "/");
        if (mount("container", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=64m") < 0)
                return failed_at(err, "mount", root);
        TRY(make_image(plan, root, err));
        TRY(mount_volumes(plan, root, err));
        return change_root(root, doc_get_bool(plan, "readOnlyRoot", false), err);
}

/* ---- rights ---- */

static int enter_namespaces(const json_t *plan, struct error *err)
{
        const char *network = doc_get_string(plan, "network"), *host = doc_get_string(plan, "hostname");
        int fd = open(network, O_RDONLY | O_CLOEXEC);

        if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
                return failed_at(err, "enter", network);
        close(fd);
        if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC) < 0)
                return failed_at(err, "unshare", "mount, host name and IPC namespaces");
        return sethostname(host, strlen(host)) < 0 ? failed_at(err, "sethostname", host) : 0;
}

/* As a normal user the runner is root of a user namespace that holds no id but its own: the container then
 * sees that one as the id it asks for. */
static bool one_id_only(void)
{
        FILE *f = fopen("/proc/self/uid_map", "re");
        unsigned long inside = 0, outside = 0, count = 0;
        bool one = f && fscanf(f, "%lu %lu %lu", &inside, &outside, &count) == 3 && count == 1;

        if (f)
                fclose(f);
        return one;
}

static int write_proc(const char *path, const char *text)
{
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        int code = fd >= 0 && write(fd, text, strlen(text)) > 0 ? 0 : -1;

        if (fd >= 0)
                close(fd);
        return code;
}

static int map_id(uid_t uid, gid_t gid, struct error *err)
{
        char map[64];

        if (unshare(CLONE_NEWUSER) < 0)
                return failed_at(err, "unshare", "user namespace");
        snprintf(map, sizeof(map), "%u 0 1", uid);
        if (write_proc("/proc/self/uid_map", map) < 0)
                return failed_at(err, "write", "uid_map");
        snprintf(map, sizeof(map), "%u 0 1", gid);
        (void)write_proc("/proc/self/setgroups", "deny");
        if (write_proc("/proc/self/gid_map", map) < 0)
                return failed_at(err, "write", "gid_map");
        return 0;
}

static int become(const json_t *plan, struct error *err)
{
        uid_t uid = (uid_t)doc_get_int(plan, "uid", 0);
        gid_t gid = (gid_t)doc_get_int(plan, "gid", 0), groups[32];
        size_t n = 0, i;
        json_t *g;

        json_array_foreach(doc_get_array(plan, "groups"), i, g)
                if (n < ARRAY_LEN(groups))
                        groups[n++] = (gid_t)json_integer_value(g);
        if (setgroups(n, groups) < 0 || setgid(gid) < 0 || setuid(uid) < 0)
                return failed_at(err, "become the user of", "the pod");
        return 0;
}

static int give_up_rights(const json_t *plan, struct error *err)
{
        uid_t uid = (uid_t)doc_get_int(plan, "uid", 0);
        gid_t gid = (gid_t)doc_get_int(plan, "gid", 0);

        if (doc_get_bool(plan, "dropCapabilities", false))
                for (int c = 0; c <= LAST_CAPABILITY; c++)
                        (void)prctl(PR_CAPBSET_DROP, c, 0, 0, 0); /* fails behind the kernel's last one */
        if (one_id_only())
                TRY(map_id(uid, gid, err));
        else
                TRY(become(plan, err));
        if (doc_get_bool(plan, "noNewPrivileges", false) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return failed_at(err, "prctl", "no new privileges");
        return 0;
}

/* Set last: a change of ids clears it. A parent that went meanwhile is seen by its number. */
static int die_with_parent(const json_t *plan, struct error *err)
{
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
                return failed_at(err, "prctl", "parent death signal");
        if (getppid() != (pid_t)doc_get_int(plan, "parent", 0))
                return error_set(err, ERR_CANCELLED, "the runner has ended");
        return 0;
}

/* ---- the program ---- */

static char **strings_of(const json_t *list)
{
        char **at = mem_calloc(json_array_size(list) + 1, sizeof(*at));
        json_t *s;
        size_t i;

        if (at)
                json_array_foreach((json_t *)list, i, s)
                        at[i] = (char *)json_string_value(s);
        return at;
}

int container_enter(const json_t *plan, struct error *err)
{
        char **words = strings_of(doc_get_array(plan, "words")),
             **env = strings_of(doc_get_array(plan, "env"));
        const char *directory = doc_get_string(plan, "directory");

        if (!words || !env || !words[0])
                return error_set(err, ERR_INVALID, "the plan names no program");
        umask(022);
        TRY(enter_namespaces(plan, err));
        TRY(make_root(plan, err));
        if (chdir(directory ? directory : "/") < 0)
                return failed_at(err, "chdir", directory);
        TRY(give_up_rights(plan, err));
        TRY(die_with_parent(plan, err));
        execve(words[0], words, env);
        return failed_at(err, "exec", words[0]);
}
