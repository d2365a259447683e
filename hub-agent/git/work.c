#include "common/base/memory.h"
#include "common/loop/volume.h"
#include "hub-agent/git/git.h"

#define PREFIX "git-" /* what names of folders begin with that may be swept */

struct git_work {
        struct world *world;
        struct volume *volume;
        char *path;
        struct list folders;
        unsigned round; /* of looks at what is left */
};

/* One that was named. */
struct folder {
        struct list node;
        bool left; /* it is to go; what could not be removed is tried again */
        bool busy; /* somebody removes it */
        unsigned round;
        char name[];
};

static void forget(struct folder *f)
{
        list_remove(&f->node);
        mem_free(f);
}

struct removal {
        struct volume *volume;
        const char *name;
        struct error *err;
        int code;
};

static void remove_all(void *ctx)
{
        struct removal *r = ctx;

        r->code = volume_remove_all(r->volume, r->name, r->err);
}

/* What a command left may be millions of files: they go on another thread, where there is a fiber that can
 * wait. */
static int remove_folder(struct git_work *g, const char *name, struct error *err)
{
        struct removal r = { g->volume, name, err, 0 };

        if (fiber_self(g->world->loop))
                TRY(offload(g->world->loop, remove_all, &r, err));
        else
                remove_all(&r);
        return r.code;
}

static int sweep(void *ctx, const char *name, struct error *err)
{
        return text_starts_with(name, PREFIX) ? remove_folder(ctx, name, err) : 0;
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

        if (g) {
                list_init(&g->folders);
                g->path = mem_strdup(folder);
        }
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
        list_for_each_safe(f, next, &g->folders, struct folder, node)
                forget(f);
        volume_close(g->volume);
        mem_free(g->path);
        mem_free(g);
        return NULL;
}

static struct folder *find_left(const struct git_work *g, unsigned round)
{
        list_for_each(f, &g->folders, struct folder, node)
                if (f->left && !f->busy && f->round < round)
                        return f;
        return NULL;
}

/* Without memory, say, a folder stays until there is some. Each is tried once; meanwhile others may come and
 * go. */
static void remove_left(struct git_work *g)
{
        unsigned round = ++g->round;
        struct folder *f;

        while ((f = find_left(g, round))) {
                f->round = round;
                f->busy = true;
                bool gone = remove_folder(g, f->name, NULL) == 0;

                f->busy = false;
                if (gone)
                        forget(f);
        }
}

int git_work_name(struct git_work *g, const char *what, struct arena *arena, const char **ret,
                  struct error *err)
{
        const char *path = arena_printf(arena, "%s/" PREFIX "%s-%016llx", g->path, what,
                                        (unsigned long long)loop_random_u64(g->world->loop));
        const char *name = path ? strrchr(path, '/') + 1 : "";
        struct folder *f = mem_zalloc(sizeof(*f) + strlen(name) + 1);

        if (!path || !f) {
                mem_free(f);
                return error_no_memory(err);
        }
        memcpy(f->name, name, strlen(name) + 1);
        list_append(&g->folders, &f->node);
        remove_left(g);
        *ret = path;
        return 0;
}

void git_work_remove(struct git_work *g, const char *path)
{
        const char *slash = strrchr(path, '/');

        list_for_each(f, &g->folders, struct folder, node)
                if (text_equal(f->name, slash ? slash + 1 : path))
                        f->left = true;
        remove_left(g);
}
