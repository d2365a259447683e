#include "e2e/chart-runner/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/vec.h"

int folder_make(const char *path, struct error *err)
{
        char at[PATH_MAX];

        if (snprintf(at, sizeof(at), "%s", path) >= (int)sizeof(at))
                return error_set(err, ERR_LIMIT, "%s: path too long", path);
        for (char *slash = strchr(at + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                (void)mkdir(at, 0755);
                *slash = '/';
        }
        if (mkdir(at, 0755) < 0 && errno != EEXIST)
                return error_errno(err, errno, "mkdir %s", at);
        return 0;
}

int folder_list(int at, const char *name, struct folder_names *ret)
{
        int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        int code = d ? 0 : ERR_SYSTEM;

        *ret = (struct folder_names){ 0 };
        for (struct dirent *e = d ? readdir(d) : NULL; e && code == 0; e = readdir(d)) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                char *copy = mem_strdup(e->d_name);

                code = copy ? vec_push(ret, copy) : ERR_NO_MEMORY;
                if (code < 0)
                        mem_free(copy);
        }
        if (d)
                closedir(d);
        else if (fd >= 0)
                close(fd);
        if (code < 0)
                folder_names_free(ret);
        return code;
}

void folder_names_free(struct folder_names *names)
{
        for (size_t i = 0; i < names->n; i++)
                mem_free(names->at[i]);
        vec_free(names);
        *names = (struct folder_names){ 0 };
}

void folder_remove(int at, const char *name)
{
        struct folder_names names;

        if (unlinkat(at, name, 0) == 0 || errno == ENOENT || folder_list(at, name, &names) < 0)
                return;
        int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        for (size_t i = 0; fd >= 0 && i < names.n; i++)
                folder_remove(fd, names.at[i]);
        if (fd >= 0)
                close(fd);
        folder_names_free(&names);
        (void)unlinkat(at, name, AT_REMOVEDIR);
}
