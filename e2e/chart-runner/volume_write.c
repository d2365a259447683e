/* Files of a volume on disk: everything behind one link that is renamed over the old one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/chart-runner/folder.h"
#include "e2e/chart-runner/volume_files.h"

#define DATA_LINK "..data"

/* A name that stands for the contents: equal contents need no write. */
static int name_of(const struct volume_files *f, char ret[24], struct error *err)
{
        uint64_t h = 0;

        for (size_t i = 0; i < f->n; i++) {
                h = hash_bytes(f->at[i].path, strlen(f->at[i].path) + 1, h);
                h = hash_bytes(f->at[i].data, f->at[i].n, h);
                h = hash_bytes(&f->at[i].mode, sizeof(f->at[i].mode), h);
        }
        snprintf(ret, 24, "..%016llx", (unsigned long long)h);
        return 0;
}

static int write_one(int folder, const struct volume_file *file, int64_t uid, int64_t gid, struct error *err)
{
        mode_t mode = (mode_t)file->mode | (gid >= 0 ? 0440 : 0); /* fsGroup may read */
        const char *slash = strchr(file->path, '/');
        int fd;

        if (slash)
                return error_set(err, ERR_UNSUPPORTED, "%s: folders inside a volume are not supported",
                                 file->path);
        fd = openat(folder, file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(err, errno, "%s", file->path);
        bool good = write(fd, file->data, file->n) == (ssize_t)file->n && fchmod(fd, mode) == 0 &&
                    ((uid < 0 && gid < 0) || fchown(fd, (uid_t)uid, (gid_t)gid) == 0);
        int saved = errno;

        close(fd);
        return good ? 0 : error_errno(err, saved, "%s", file->path);
}

static int write_all(int at, const char *name, const struct volume_files *f, int64_t uid, int64_t gid,
                     struct error *err)
{
        int inner, code = 0;

        if (mkdirat(at, name, 0755) < 0)
                return error_errno(err, errno, "mkdir %s", name);
        inner = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (inner < 0)
                return error_errno(err, errno, "open %s", name);
        for (size_t i = 0; code == 0 && i < f->n; i++)
                code = write_one(inner, &f->at[i], uid, gid, err);
        close(inner);
        return code;
}

static int link_files(int at, const struct volume_files *f, struct error *err)
{
        char to[PATH_MAX];

        for (size_t i = 0; i < f->n; i++) {
                snprintf(to, sizeof(to), DATA_LINK "/%s", f->at[i].path);
                if (symlinkat(to, at, f->at[i].path) < 0 && errno != EEXIST)
                        return error_errno(err, errno, "link %s", f->at[i].path);
        }
        return 0;
}

/* Links to files that the new contents lack. */
static void unlink_gone(int at, const char *old, const struct volume_files *f)
{
        struct folder_names names;

        if (!*old || folder_list(at, old, &names) < 0)
                return;
        for (size_t i = 0; i < names.n; i++) {
                bool kept = false;

                for (size_t k = 0; k < f->n; k++)
                        kept |= strcmp(f->at[k].path, names.at[i]) == 0;
                if (!kept)
                        (void)unlinkat(at, names.at[i], 0);
        }
        folder_names_free(&names);
}

static int exchange(int at, const char *name, const struct volume_files *f, int64_t uid, int64_t gid,
                    struct error *err)
{
        char old[NAME_MAX + 1] = "";
        ssize_t n = readlinkat(at, DATA_LINK, old, NAME_MAX);

        old[n > 0 ? n : 0] = '\0';
        if (strcmp(old, name) == 0)
                return 0;
        folder_remove(at, name); /* what a crash in the middle left */
        TRY(write_all(at, name, f, uid, gid, err));
        (void)unlinkat(at, DATA_LINK "_tmp", 0);
        if (symlinkat(name, at, DATA_LINK "_tmp") < 0 || renameat(at, DATA_LINK "_tmp", at, DATA_LINK) < 0)
                return error_errno(err, errno, "link %s", name);
        TRY(link_files(at, f, err));
        unlink_gone(at, old, f);
        if (*old)
                folder_remove(at, old);
        return 0;
}

int volume_files_write(const struct volume_files *f, const char *folder, int64_t uid, int64_t gid,
                       struct error *err)
{
        char name[24];
        int at, code;

        TRY(name_of(f, name, err));
        TRY(folder_make(folder, err));
        at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (at < 0)
                return error_errno(err, errno, "%s", folder);
        code = exchange(at, name, f, uid, gid, err);
        close(at);
        return code < 0 ? error_wrap(err, "%s", folder) : 0;
}
