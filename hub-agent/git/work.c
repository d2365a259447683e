#include "common/base/memory.h"
#include "common/loop/volume.h"
#include "hub-agent/git/git.h"

#define PREFIX "git-" /* what names of folders begin with that may be swept */

struct git_work {
        struct world *world;
        struct volume *volume;
        char *path;
};

static int sweep(void *ctx, const char *name, struct error *err)
{
        struct git_work *g = ctx;

        return text_starts_with(name, PREFIX) ? volume_remove_all(g->volume, name, err) : 0;
}

static int open_volume(struct git_work *g, struct error *err)
{
        int code = volume_open(g->world, g->path, &g->volume, err);

        if (code != ERR_NOT_FOUND || !g->world->files || !g->world->files->make_directory)
                return code;
        error_clear(err);
        TRY(g->world->files->make_directory(g->world->ctx, g->path, err));
        return volume_open(g->world, g->path, &g->volume, err);
}

int git_work_open(struct world *w, const char *folder, struct git_work **ret, struct error *err)
{
        struct git_work *g = NEW(struct git_work);

        if (g)
                g->path = mem_strdup(folder);
        if (!g || !g->path) {
                git_work_close(g);
                return error_no_memory(err);
        }
        g->world = w;
        int code = open_volume(g, err);

        if (code == 0)
                code = volume_each(g->volume, "", sweep, g, err);
        if (code < 0)
                git_work_close(g);
        else
                *ret = g;
        return code;
}

struct git_work *git_work_close(struct git_work *g)
{
        if (!g)
                return NULL;
        volume_close(g->volume);
        mem_free(g->path);
        mem_free(g);
        return NULL;
}

int git_work_name(struct git_work *g, const char *what, struct arena *arena, const char **ret,
                  struct error *err)
{
        *ret = arena_printf(arena, "%s/" PREFIX "%s-%016llx", g->path, what,
                            (unsigned long long)loop_random_u64(g->world->loop));
        return *ret ? 0 : error_no_memory(err);
}

void git_work_remove(struct git_work *g, const char *path)
{
        size_t n = strlen(g->path);

        if (strncmp(path, g->path, n) == 0 && path[n] == '/')
                (void)volume_remove_all(g->volume, path + n + 1, NULL);
}
