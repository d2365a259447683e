/* A folder of the file system. Each step down a path opens the next folder from the one before and follows no
 * link. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/loop/files.h"
#include "common/loop/volume_internal.h"

struct folder_volume {
        struct volume base;
        int fd;
};

struct file_reader {
        struct volume_reader base;
        int fd;
};

struct file_writer {
        struct volume_writer base;
        struct loop *loop;
        int folder, fd;
        char *path, *name, *temporary; /* name: within path */
        uint64_t size;
        void *view;
        size_t viewed;
};

static int take_fd(int *fd)
{
        int taken = *fd;

        *fd = -1;
        return taken;
}

/* ---- ways ---- */

static int open_folder(int at, const char *name, bool make)
{
        int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd >= 0 || !make || errno != ENOENT)
                return fd;
        if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
                return -1;
        return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The folder that a path's last part is in, opened; -1 and errno. */
static int open_way(struct volume *v, const char *path, bool make, const char **ret_name)
{
        AUTO_FREE char *way = mem_strdup(path);
        AUTO_FD int at = way ? fcntl(((struct folder_volume *)v)->fd, F_DUPFD_CLOEXEC, 0) : -1;
        char *part = way, *slash;

        if (!way)
                errno = ENOMEM;
        for (; at >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
                *slash = '\0';
                int next = open_folder(at, part, make);

                close(at);
                at = next;
        }
        *ret_name = at >= 0 ? path + (part - way) : NULL;
        return take_fd(&at);
}

/* ---- looking ---- */

static void tell(const struct stat *st, struct volume_info *ret)
{
        *ret = (struct volume_info){
                .kind = S_ISREG(st->st_mode)   ? VOLUME_FILE
                        : S_ISDIR(st->st_mode) ? VOLUME_FOLDER
                        : S_ISLNK(st->st_mode) ? VOLUME_LINK
                                               : VOLUME_OTHER,
                .size = (uint64_t)st->st_size,
                .changed_ms = st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000,
                .stamp = stamp_of(st),
        };
}

static int real_look(struct volume *v, const char *path, struct volume_info *ret, struct error *err)
{
        const char *name;
        AUTO_FD int folder = open_way(v, path, false, &name);
        struct stat st;

        if (folder < 0 || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return volume_refuse(err, errno, "look at", path);
        tell(&st, ret);
        return 0;
}

static void close_dir(DIR **d)
{
        if (*d)
                closedir(*d);
}

static int read_names(DIR *d, const char *path, char **ret, struct error *err)
{
        AUTO_BUF struct buf names;
        struct dirent *entry;
        size_t n = 0;

        buf_init(&names, NAMES_BYTES);
        while ((errno = 0, entry = readdir(d))) {
                if (text_equal(entry->d_name, ".") || text_equal(entry->d_name, ".."))
                        continue;
                (void)buf_append(&names, entry->d_name, strlen(entry->d_name) + 1);
                n++;
        }
        if (errno)
                return volume_refuse(err, errno, "read", path);
        TRY(buf_status(&names, err, path));
        return sort_names(names.data, n, ret, err);
}

static int real_list(struct volume *v, const char *path, char **ret_names, struct error *err)
{
        const char *name = ".";
        AUTO_FD int folder = *path ? open_way(v, path, false, &name)
                                   : fcntl(((struct folder_volume *)v)->fd, F_DUPFD_CLOEXEC, 0);
        AUTO_FD int fd =
                folder >= 0 ? openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
        CLEANUP(close_dir) DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

        if (!d && fd >= 0 && errno == ENOTDIR)
                return error_set(err, ERR_UNSUPPORTED, "read %s: not a folder", path);
        if (!d)
                return volume_refuse(err, errno, "read", path);
        (void)take_fd(&fd); /* of the stream by now */
        return read_names(d, path, ret_names, err);
}

/* ---- reading ---- */

static int read_part(int fd, uint64_t offset, void *ret, size_t n, size_t *ret_n, struct error *err)
{
        for (*ret_n = 0; *ret_n < n;) {
                ssize_t got = pread(fd, (char *)ret + *ret_n, n - *ret_n, (off_t)(offset + *ret_n));

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return error_errno(err, errno, "read a file that is kept");
                if (got == 0)
                        break;
                *ret_n += (size_t)got;
        }
        return 0;
}

static int reader_read(struct volume_reader *base, uint64_t offset, void *ret, size_t n, size_t *ret_n,
                       struct error *err)
{
        return read_part(((struct file_reader *)base)->fd, offset, ret, n, ret_n, err);
}

static void reader_close(struct volume_reader *base)
{
        struct file_reader *r = (struct file_reader *)base;

        close(r->fd);
        mem_free(r);
}

static const struct volume_reader_ops reader_ops = { .read = reader_read, .close = reader_close };

static int real_open_file(struct volume *v, const char *path, struct volume_reader **ret, struct error *err)
{
        const char *name;
        AUTO_FD int folder = open_way(v, path, false, &name);
        AUTO_FD int fd =
                folder >= 0 ? openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
        struct file_reader *r;
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return volume_refuse(err, errno, "read", path);
        if (!S_ISREG(st.st_mode))
                return error_set(err, ERR_INVALID, "read %s: not a regular file", path);
        r = NEW(struct file_reader);
        if (!r)
                return error_no_memory(err);
        *r = (struct file_reader){ { &reader_ops, (uint64_t)st.st_size }, take_fd(&fd) };
        *ret = &r->base;
        return 0;
}

/* ---- writing ---- */

static void unmap(struct file_writer *w)
{
        if (w->view)
                munmap(w->view, w->viewed);
        w->view = NULL;
}

static void writer_free(struct file_writer *w)
{
        unmap(w);
        close_fd(&w->fd);
        close_fd(&w->folder);
        mem_free(w->path);
        mem_free(w->temporary);
        mem_free(w);
}

static int writer_append(struct volume_writer *base, const void *data, size_t n, struct error *err)
{
        struct file_writer *w = (struct file_writer *)base;
        const char *from = data;

        unmap(w);
        while (n) {
                ssize_t put = write(w->fd, from, n);

                if (put < 0 && errno == EINTR)
                        continue;
                if (put < 0)
                        return volume_refuse(err, errno, "write", w->path);
                from += put;
                n -= (size_t)put;
                w->size += (uint64_t)put;
        }
        return 0;
}

static int writer_read(struct volume_writer *base, uint64_t offset, void *ret, size_t n, size_t *ret_n,
                       struct error *err)
{
        return read_part(((struct file_writer *)base)->fd, offset, ret, n, ret_n, err);
}

static int writer_written(struct volume_writer *base, struct slice *ret, struct error *err)
{
        struct file_writer *w = (struct file_writer *)base;

        *ret = (struct slice){ "", 0 };
        if (!w->size)
                return 0;
        if (!w->view) {
                w->viewed = (size_t)w->size;
                w->view = mmap(NULL, w->viewed, PROT_READ, MAP_SHARED, w->fd, 0);
        }
        if (w->view == MAP_FAILED) {
                w->view = NULL;
                return volume_refuse(err, errno, "read", w->path);
        }
        *ret = (struct slice){ w->view, w->viewed };
        return 0;
}

struct landing {
        struct file_writer *writer;
        int error_number;
};

static void land(void *ctx)
{
        struct landing *l = ctx;
        struct file_writer *w = l->writer;

        if (fsync(w->fd) < 0 || renameat(w->folder, w->temporary, w->folder, w->name) < 0)
                l->error_number = errno;
        else if (fsync(w->folder) < 0)
                l->error_number = errno;
}

static void writer_abandon(struct volume_writer *base)
{
        struct file_writer *w = (struct file_writer *)base;

        (void)unlinkat(w->folder, w->temporary, 0);
        writer_free(w);
}

static int writer_commit(struct volume_writer *base, struct error *err)
{
        struct file_writer *w = (struct file_writer *)base;
        struct landing l = { w, 0 };
        int code = offload(w->loop, land, &l, err);

        if (code == 0 && l.error_number)
                code = volume_refuse(err, l.error_number, "write", w->path);
        if (code < 0)
                writer_abandon(base);
        else
                writer_free(w);
        return code;
}

static const struct volume_writer_ops writer_ops = { .append = writer_append,
                                                     .written = writer_written,
                                                     .read = writer_read,
                                                     .commit = writer_commit,
                                                     .abandon = writer_abandon };

static int real_create(struct volume *v, const char *path, struct volume_writer **ret, struct error *err)
{
        const char *name;
        AUTO_FD int folder = open_way(v, path, true, &name);
        struct file_writer *w;

        if (folder < 0)
                return volume_refuse(err, errno, "write", path);
        w = NEW(struct file_writer);
        if (!w)
                return error_no_memory(err);
        *w = (struct file_writer){
                { &writer_ops }, v->loop, take_fd(&folder), -1, mem_strdup(path), NULL, NULL, 0, NULL, 0
        };
        w->temporary = volume_temporary_name(v->loop, name);
        if (!w->path || !w->temporary) {
                writer_free(w);
                return error_no_memory(err);
        }
        w->name = w->path + (name - path);
        w->fd = openat(w->folder, w->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (w->fd < 0) {
                int saved = errno;

                writer_free(w);
                return volume_refuse(err, saved, "write", path);
        }
        *ret = &w->base;
        return 0;
}

static int real_link(struct volume *v, const char *path, const char *target, struct error *err)
{
        const char *name;
        AUTO_FD int folder = open_way(v, path, true, &name);
        AUTO_FREE char *temporary = folder >= 0 ? volume_temporary_name(v->loop, name) : NULL;
        int saved;

        if (folder < 0)
                return volume_refuse(err, errno, "link", path);
        if (!temporary)
                return error_no_memory(err);
        if (symlinkat(target, folder, temporary) == 0 && renameat(folder, temporary, folder, name) == 0)
                return 0;
        saved = errno;
        (void)unlinkat(folder, temporary, 0);
        return volume_refuse(err, saved, "link", path);
}

static int real_read_link(struct volume *v, const char *path, char **ret, struct error *err)
{
        const char *name;
        AUTO_FD int folder = open_way(v, path, false, &name);
        char target[PATH_MAX];
        ssize_t n = folder >= 0 ? readlinkat(folder, name, target, sizeof(target)) : -1;

        if (n < 0 && folder >= 0 && errno == EINVAL)
                return error_set(err, ERR_INVALID, "read %s: not a link", path);
        if (n < 0)
                return volume_refuse(err, errno, "read", path);
        if (n == sizeof(target))
                return error_set(err, ERR_LIMIT, "read %s: it leads further than %d bytes", path, PATH_MAX);
        *ret = mem_strndup(target, (size_t)n);
        return *ret ? 0 : error_no_memory(err);
}

static int real_remove(struct volume *v, const char *path, struct error *err)
{
        const char *name;
        AUTO_FD int folder = open_way(v, path, false, &name);

        if (folder < 0)
                return volume_refuse(err, errno, "remove", path);
        if (unlinkat(folder, name, 0) == 0)
                return 0;
        if (errno == EISDIR && unlinkat(folder, name, AT_REMOVEDIR) == 0)
                return 0;
        return volume_refuse(err, errno, "remove", path);
}

static int real_remove_all(struct volume *v, const char *path, struct error *err)
{
        const char *name;
        AUTO_FD int folder = open_way(v, path, false, &name);
        int problem = folder < 0 ? errno : folder_remove_all(folder, name);

        if (problem == 0 || problem == ENOENT || problem == ENOTDIR || problem == ELOOP)
                return 0;
        return volume_refuse(err, problem, "remove", path);
}

/* ---- the folder ---- */

static struct volume *real_close(struct volume *v)
{
        struct folder_volume *f = (struct folder_volume *)v;

        close(f->fd);
        mem_free(f);
        return NULL;
}

static const struct volume_ops ops = {
        .look = real_look,
        .list = real_list,
        .open_file = real_open_file,
        .create = real_create,
        .link = real_link,
        .read_link = real_read_link,
        .remove = real_remove,
        .remove_all = real_remove_all,
        .close = real_close,
};

int volume_open(struct world *w, const char *folder, struct volume **ret, struct error *err)
{
        AUTO_FD int fd = open(folder, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECTORY);
        struct folder_volume *v;

        if (fd < 0 && errno == ENOTDIR)
                return error_set(err, ERR_UNSUPPORTED, "open %s: not a folder", folder);
        if (fd < 0)
                return volume_refuse(err, errno, "open", folder);
        v = NEW(struct folder_volume);
        if (!v)
                return error_no_memory(err);
        *v = (struct folder_volume){ { &ops, w->loop }, take_fd(&fd) };
        *ret = &v->base;
        return 0;
}
