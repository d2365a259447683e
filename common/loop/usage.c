/* What the process uses, as the kernel tells it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/loop/real.h"
#include "common/loop/world.h"

int64_t real_cpu_us(void *ctx)
{
        struct timespec used;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

/* The first two numbers of statm: pages of address space, and those in memory. */
static int read_pages(uint64_t *ret_virtual, uint64_t *ret_resident)
{
        char text[128];
        int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
        struct slice rest = { text, n > 0 ? (size_t)n : 0 }, part;
        int64_t pages[2];

        if (fd >= 0)
                close(fd);
        for (size_t i = 0; i < ARRAY_LEN(pages); i++)
                if (!slice_cut(&rest, ' ', &part) || !slice_parse_i64(part, &pages[i]))
                        return ERR_SYSTEM;
        *ret_virtual = (uint64_t)pages[0] * (uint64_t)sysconf(_SC_PAGESIZE);
        *ret_resident = (uint64_t)pages[1] * (uint64_t)sysconf(_SC_PAGESIZE);
        return 0;
}

static int count_files(uint64_t *ret)
{
        DIR *d = opendir("/proc/self/fd");
        const struct dirent *e;
        uint64_t n = 0;

        if (!d)
                return ERR_SYSTEM;
        while ((e = readdir(d)))
                n += e->d_name[0] != '.';
        closedir(d);
        *ret = n - 1; /* without the one that was read */
        return 0;
}

int real_usage(void *ctx, struct world_usage *ret)
{
        struct rlimit files = { 0 };

        *ret = (struct world_usage){ .cpu_us = real_cpu_us(ctx) };
        TRY(read_pages(&ret->virtual_bytes, &ret->resident_bytes));
        TRY(count_files(&ret->open_files));
        if (getrlimit(RLIMIT_NOFILE, &files) < 0)
                return ERR_SYSTEM;
        ret->most_files = files.rlim_cur;
        return 0;
}
