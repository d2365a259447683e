#include "common/loop/files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/memory.h"

void close_fd(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
        h = (h ^ v) * 0x9e3779b97f4a7c15u;
        return h ^ h >> 29;
}

uint64_t stamp_of(const struct stat *st)
{
        uint64_t h = mix(mix(mix(1, st->st_dev), st->st_ino), (uint64_t)st->st_size);

        h = mix(mix(h, (uint64_t)st->st_mtim.tv_sec), (uint64_t)st->st_mtim.tv_nsec);
        h = mix(mix(h, (uint64_t)st->st_ctim.tv_sec), (uint64_t)st->st_ctim.tv_nsec);
        return h ? h : 1;
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int sort_names(const char *names, size_t n, char **ret, struct error *err)
{
        AUTO_FREE const char **at = mem_calloc(n, sizeof(*at));
        AUTO_BUF struct buf sorted;

        buf_init(&sorted, NAMES_BYTES + 1);
        if (!at)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++, names += strlen(names) + 1)
                at[i] = names;
        if (n)
                qsort(at, n, sizeof(*at), compare_names);
        for (size_t i = 0; i < n; i++)
                (void)buf_append(&sorted, at[i], strlen(at[i]) + 1);
        (void)buf_append_char(&sorted, '\0');
        TRY(buf_status(&sorted, err, "names of a folder"));
        *ret = buf_take(&sorted, NULL);
        return *ret ? 0 : error_no_memory(err);
}
