/* Removes a folder of the file system with all below, as any program may have left it: however deep, however
 * full, and with modes that lock its owner out. What is below folders in it is moved up to it first, so that
 * neither the stack nor open files grow with the depth. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/loop/files.h"
#include "common/loop/volume_internal.h"

struct emptying {
        int top;       /* the folder that goes */
        unsigned name; /* the next for what is moved up to it */
        bool changed;  /* something went since it was asked last */
        int problem;   /* error number of the first that did not */
};

static void note(struct emptying *e, bool done)
{
        e->changed = e->changed || done;
        if (!done && !e->problem)
                e->problem = errno;
}

static int open_folder(int at, const char *name)
{
        return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int open_unlocked(int at, const char *name)
{
        int fd = open_folder(at, name);

        if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0)
                fd = open_folder(at, name);
        if (fd >= 0)
                (void)fchmod(fd, 0700);
        return fd;
}

/* Its owner may read, write and enter it then. By an open folder, as modes of links are not to be changed. */
static void unlock(int at, const char *name)
{
        int fd = open_unlocked(at, name);

        close_fd(&fd);
}

static bool is_folder(int at, const struct dirent *entry)
{
        struct stat st;

        if (entry->d_type != DT_UNKNOWN)
                return entry->d_type == DT_DIR;
        return fstatat(at, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static bool move_up(struct emptying *e, int at, const char *name)
{
        char to[16];

        unlock(at, name); /* who moves a folder has to be allowed to write in it */
        do
                (void)snprintf(to, sizeof(to), "%u", e->name++);
        while (renameat2(at, name, e->top, to, RENAME_NOREPLACE) < 0 && errno == EEXIST);
        return faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

static bool remove_entry(struct emptying *e, int at, const struct dirent *entry);

/* Of each name in the folder but "." and "..". */
static void each(struct emptying *e, int folder)
{
        int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        struct dirent *entry;

        if (!d) {
                note(e, false);
                close_fd(&fd);
                return;
        }
        while ((errno = 0, entry = readdir(d)))
                if (!text_equal(entry->d_name, ".") && !text_equal(entry->d_name, ".."))
                        note(e, remove_entry(e, folder, entry));
        if (errno)
                note(e, false);
        closedir(d);
}

static bool remove_entry(struct emptying *e, int at, const struct dirent *entry)
{
        const char *name = entry->d_name;

        if (!is_folder(at, entry))
                return unlinkat(at, name, 0) == 0;
        if (at != e->top)
                return move_up(e, at, name);
        AUTO_FD int folder = open_unlocked(at, name);

        if (folder < 0)
                return false;
        each(e, folder);
        return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

/* What was moved up is met with the next look, at the latest. */
static int empty(int folder)
{
        struct emptying e = { .top = folder, .changed = true };

        while (e.changed) {
                e.changed = false;
                e.problem = 0;
                each(&e, folder);
        }
        return e.problem;
}

int folder_remove_all(int at, const char *name)
{
        struct stat st;

        if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : errno;
        if (!S_ISDIR(st.st_mode))
                return unlinkat(at, name, 0) < 0 && errno != ENOENT ? errno : 0;
        AUTO_FD int folder = open_unlocked(at, name);
        int problem = folder < 0 ? errno : empty(folder);

        if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
                return 0;
        return problem ? problem : errno;
}
