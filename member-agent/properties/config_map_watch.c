#include "member-agent/properties/config_map_watch.h"

#include "common/base/memory.h"

struct config_map_watch {
        struct config_map *now; /* NULL = there is none */
        char *selector;
        struct follower *follower;
        bool seen; /* by the list that is under way */
        bool listed;
};

static void set(struct config_map_watch *w, const struct object *o)
{
        if (o)
                object_ref(o);
        if (w->now)
                object_unref(&w->now->object);
        w->now = (struct config_map *)(uintptr_t)o;
}

static void begin(void *ctx)
{
        ((struct config_map_watch *)ctx)->seen = false;
}

static void show(void *ctx, const struct object *o, bool deleted)
{
        struct config_map_watch *w = ctx;

        w->seen = !deleted;
        set(w, deleted ? NULL : o);
}

static void end(void *ctx)
{
        struct config_map_watch *w = ctx;

        if (!w->seen)
                set(w, NULL);
        w->listed = true;
}

struct config_map_watch *config_map_watch_new(struct kube_client *kube, struct fiber_group *group,
                                              const char *ns, const char *name, struct error *err)
{
        struct config_map_watch *w = NEW(struct config_map_watch);
        struct follower_options o = { .kube = kube,
                                      .kind = &config_map_kind,
                                      .ns = ns,
                                      .begin = begin,
                                      .object = show,
                                      .end = end,
                                      .ctx = w };

        if (!w || !(w->selector = mem_printf("metadata.name=%s", name))) {
                error_no_memory(err);
                return config_map_watch_free(w);
        }
        o.field_selector = w->selector;
        w->follower = follower_new(group, &o, err);
        return w->follower ? w : config_map_watch_free(w);
}

struct config_map_watch *config_map_watch_free(struct config_map_watch *w)
{
        if (!w)
                return NULL;
        follower_stop(w->follower);
        set(w, NULL);
        mem_free(w->selector);
        mem_free(w);
        return NULL;
}

bool config_map_watch_get(const struct config_map_watch *w, const struct config_map **ret,
                          const char **ret_problem)
{
        *ret = w->now;
        if (ret_problem)
                *ret_problem = follower_problem(w->follower);
        return w->listed;
}
