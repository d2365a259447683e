#include "member-agent/properties/namespace_watch.h"

#include "common/base/memory.h"
#include "proto/gen/kinds.h"

struct namespace_watch {
        struct namespaces namespaces;
        struct follower *follower;
        bool listed;
};

static void begin(void *ctx)
{
        namespaces_begin(&((struct namespace_watch *)ctx)->namespaces);
}

static void show(void *ctx, const struct object *o, bool deleted)
{
        struct namespace_watch *w = ctx;

        if (deleted)
                namespaces_remove(&w->namespaces, o->meta.name);
        else
                (void)namespaces_put(&w->namespaces, o); /* told of by its next event */
}

static void end(void *ctx)
{
        struct namespace_watch *w = ctx;

        namespaces_end(&w->namespaces);
        w->listed = true;
}

struct namespace_watch *namespace_watch_new(struct kube_client *kube, struct fiber_group *group,
                                            struct error *err)
{
        static const struct kube_resource resource = { "", "v1", "namespaces", "Namespace", false };
        struct namespace_watch *w = NEW(struct namespace_watch);
        struct follower_options options = { .kube = kube,
                                            .kind = &partial_object_kind,
                                            .resource = &resource,
                                            .metadata_only = true,
                                            .begin = begin,
                                            .object = show,
                                            .end = end,
                                            .ctx = w };

        if (!w) {
                error_no_memory(err);
                return NULL;
        }
        namespaces_init(&w->namespaces);
        w->follower = follower_new(group, &options, err);
        return w->follower ? w : namespace_watch_free(w);
}

struct namespace_watch *namespace_watch_free(struct namespace_watch *w)
{
        if (!w)
                return NULL;
        follower_stop(w->follower);
        namespaces_free(&w->namespaces);
        mem_free(w);
        return NULL;
}

const struct namespaces *namespace_watch_get(const struct namespace_watch *w, const char **ret_problem)
{
        if (ret_problem)
                *ret_problem = w ? follower_problem(w->follower) : "";
        return w && w->listed ? &w->namespaces : NULL;
}
