#include "e2e/simulation/sim_files.h"

#include "common/base/memory.h"

struct file {
        size_t len;
        uint64_t stamp;
        char data[];
};

static int disk_read(void *ctx, const char *path, size_t max, char **ret_data, size_t *ret_len,
                     struct error *err)
{
        struct sim_files *files = ctx;
        const struct file *f = map_get(&files->at, path);

        if (!f)
                return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
        if (f->len > max)
                return error_set(err, ERR_LIMIT, "%s: larger than %zu bytes", path, max);
        *ret_data = mem_strndup(f->data, f->len);
        *ret_len = f->len;
        return *ret_data ? 0 : error_no_memory(err);
}

static int disk_write(void *ctx, const char *path, const void *data, size_t len, struct error *err)
{
        struct sim_files *files = ctx;
        struct file *f = mem_alloc(sizeof(*f) + len);

        if (!f)
                return error_no_memory(err);
        *f = (struct file){ .len = len, .stamp = ++files->stamp };
        memcpy(f->data, data, len);
        if (map_put(&files->at, path, f) == 0)
                return 0;
        mem_free(f);
        return error_no_memory(err);
}

static uint64_t disk_stamp(void *ctx, const char *path)
{
        const struct sim_files *files = ctx;
        const struct file *f = map_get(&files->at, path);

        return f ? f->stamp : 0;
}

static int disk_make_directory(void *ctx, const char *path, struct error *err)
{
        return 0; /* folders are there by being named */
}

static int disk_remove(void *ctx, const char *path, struct error *err)
{
        struct sim_files *files = ctx;

        return map_remove(&files->at, path) ? 0 : error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
}

static const char *no_getenv(void *ctx, const char *name)
{
        return NULL;
}

static int64_t no_cpu(void *ctx)
{
        return 0;
}

const struct world_files sim_files_table = { disk_read, disk_write, disk_stamp, disk_make_directory,
                                             disk_remove };
const struct world_process sim_no_process = { no_getenv, no_cpu };

void sim_files_init(struct sim_files *files)
{
        *files = (struct sim_files){ .stamp = 0 };
        map_init(&files->at, MAP_OWN_KEYS, mem_free);
}

void sim_files_free(struct sim_files *files)
{
        map_free(&files->at);
}
