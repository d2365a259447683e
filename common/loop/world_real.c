#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/loop/files.h"
#include "common/loop/real.h"
#include "common/loop/world.h"

static int refuse(struct error *err, const char *verb, const char *path)
{
        int saved = errno;
        if (saved == ENOENT || saved == ENOTDIR)
                return error_set(err, ERR_NOT_FOUND, "%s %s: no such file", verb, path);
        return error_errno(err, saved, "%s %s", verb, path);
}

/* ---- reading ---- */

static int read_all(int fd, const char *path, char *data, size_t size, size_t *ret_len, struct error *err)
{
        size_t len = 0;
        while (len < size) {
                ssize_t got = read(fd, data + len, size - len);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return refuse(err, "read", path);
                if (got == 0)
                        break;
                len += (size_t)got;
        }
        *ret_len = len;
        return 0;
}

/* Follows links, as projected tokens and kubeconfigs need, but takes regular files only: a pipe or device
 * could hold the loop. */
static int real_read(void *ctx, const char *path, size_t max, char **ret_data, size_t *ret_len,
                     struct error *err)
{
        AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0)
                return refuse(err, "read", path);
        if (!S_ISREG(st.st_mode))
                return error_set(err, ERR_INVALID, "read %s: not a regular file", path);
        /* Files of /proc and /sys say 0: read up to the maximum then. One byte more shows what is too long.
         */
        size_t size = st.st_size > 0 && (uint64_t)st.st_size < max ? (size_t)st.st_size : max;
        AUTO_FREE char *data = mem_alloc(size + 2);
        size_t len = 0;
        if (!data)
                return error_no_memory(err);
        TRY(read_all(fd, path, data, size + 1, &len, err));
        if (len > max)
                return error_set(err, ERR_LIMIT, "read %s: longer than %zu bytes", path, max);
        if (len > size)
                return error_set(err, ERR_RETRY, "read %s: it grew meanwhile", path);
        data[len] = '\0';
        *ret_data = TAKE_PTR(data);
        *ret_len = len;
        return 0;
}

static uint64_t real_stamp(void *ctx, const char *path)
{
        struct stat st;
        if (stat(path, &st) < 0)
                return 0;
        return stamp_of(&st);
}

/* ---- writing ---- */

/* The folder of the path, opened; *ret_name is the last part. */
static int open_parent(const char *path, const char **ret_name, struct error *err)
{
        const char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        if (!*name || text_equal(name, ".") || text_equal(name, ".."))
                return error_set(err, ERR_INVALID, "%s names no file", path);
        AUTO_FREE char *folder =
                !slash ? mem_strdup(".") : mem_strndup(path, MAX((size_t)(slash - path), (size_t)1));
        if (!folder)
                return error_no_memory(err);
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return refuse(err, "open folder", folder);
        *ret_name = name;
        return fd;
}

static int write_all(int fd, const char *data, size_t len)
{
        while (len) {
                ssize_t put = write(fd, data, len);
                if (put < 0 && errno == EINTR)
                        continue;
                if (put < 0)
                        return -1;
                data += put;
                len -= (size_t)put;
        }
        return fsync(fd);
}

/* Under a name nobody can guess, never through a link, and visible under its own name only when whole. */
static int real_write(void *ctx, const char *path, const void *data, size_t len, struct error *err)
{
        const char *name = NULL;
        AUTO_FD int folder = open_parent(path, &name, err);
        if (folder < 0)
                return folder;
        AUTO_FREE char *temporary = mem_printf(".%s.%016llx", name, (unsigned long long)loop_random_u64(ctx));
        if (!temporary)
                return error_no_memory(err);
        AUTO_FD int fd =
                openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return refuse(err, "write", path);
        if (write_all(fd, data, len) < 0 || renameat(folder, temporary, folder, name) < 0) {
                int code = refuse(err, "write", path);
                unlinkat(folder, temporary, 0);
                return code;
        }
        return fsync(folder) < 0 ? refuse(err, "write", path) : 0;
}

static int make_one(const char *path, struct error *err)
{
        struct stat st;
        if (mkdir(path, 0700) == 0)
                return 0;
        int saved = errno;
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
                return 0;
        errno = saved;
        if (saved == EEXIST)
                return error_set(err, ERR_EXISTS, "make folder %s: a file is in the way", path);
        return refuse(err, "make folder", path);
}

static int real_make_directory(void *ctx, const char *path, struct error *err)
{
        AUTO_FREE char *part = mem_strdup(path);
        if (!part)
                return error_no_memory(err);
        for (char *c = part + 1; *part && *c; c++) {
                if (*c != '/' || c[-1] == '/')
                        continue;
                *c = '\0';
                TRY(make_one(part, err));
                *c = '/';
        }
        return make_one(path, err);
}

static int real_remove(void *ctx, const char *path, struct error *err)
{
        return unlink(path) < 0 ? refuse(err, "remove", path) : 0;
}

/* ---- folders ---- */

static void close_folder(DIR **d)
{
        if (*d)
                closedir(*d);
}

static int read_names(DIR *d, struct buf *names, size_t *ret_n, const char *path, struct error *err)
{
        struct dirent *entry;
        for (*ret_n = 0; (errno = 0, entry = readdir(d));) {
                if (text_equal(entry->d_name, ".") || text_equal(entry->d_name, ".."))
                        continue;
                buf_append(names, entry->d_name, strlen(entry->d_name) + 1);
                ++*ret_n;
        }
        return errno ? refuse(err, "read", path) : buf_status(names, err, path);
}

static int real_list(void *ctx, const char *path, char **ret_names, struct error *err)
{
        CLEANUP(close_folder) DIR *d = opendir(path);
        if (!d && errno == ENOTDIR)
                return error_set(err, ERR_UNSUPPORTED, "read %s: not a folder", path);
        if (!d)
                return refuse(err, "read", path);
        AUTO_BUF struct buf names;
        size_t n;
        buf_init(&names, NAMES_BYTES);
        TRY(read_names(d, &names, &n, path, err));
        return sort_names(names.data, n, ret_names, err);
}

/* ---- process ---- */

static const char *real_getenv(void *ctx, const char *name)
{
        return getenv(name);
}

static const char *const *real_environment(void *ctx)
{
        return (const char *const *)environ;
}

void world_init_real(struct world *w, struct loop *l, const struct log_sink *sink)
{
        static const struct world_files files = {
                .read = real_read,
                .write = real_write,
                .stamp = real_stamp,
                .make_directory = real_make_directory,
                .remove = real_remove,
                .list = real_list,
        };
        static const struct world_process process = {
                .getenv = real_getenv,
                .cpu_us = real_cpu_us,
                .usage = real_usage,
                .run = real_run,
                .run_confined = real_run_confined,
                .environment = real_environment,
        };
        *w = (struct world){ .loop = l,
                             .log_sink = sink,
                             .files = &files,
                             .process = &process,
                             .began_ms = loop_wall_ms(l),
                             .ctx = l };
        signal(SIGPIPE, SIG_IGN); /* a peer that hung up is an error of that write, not our end */
}

/* ---- log ---- */

static void stderr_write(void *ctx, const char *line, size_t n)
{
        while (n) {
                ssize_t put = write(STDERR_FILENO, line, n);
                if (put < 0 && errno == EINTR)
                        continue;
                if (put <= 0)
                        return; /* nowhere left to complain */
                line += put;
                n -= (size_t)put;
        }
}

static int64_t stderr_wall_ms(void *ctx)
{
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#define SINK(form, level)                                                                                    \
        {                                                                                                    \
                .write = stderr_write, .wall_ms = stderr_wall_ms, .format = form, .least = level             \
        }
#define SINKS(form)                                                                                          \
        {                                                                                                    \
                SINK(form, LOG_DEBUG), SINK(form, LOG_INFO), SINK(form, LOG_WARN), SINK(form, LOG_ERROR)     \
        }

const struct log_sink *log_sink_stderr(enum log_format format, enum log_level least)
{
        static const struct log_sink sinks[2][4] = { SINKS(LOG_TEXT), SINKS(LOG_JSON) };
        return &sinks[format][least];
}
