#include "member-agent/properties/usage_watch.h"

#include "common/base/memory.h"

/* Only pods that are on a node and not finished take anything; the server filters them. */
#define TAKING_PODS "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

struct usage_watch {
        struct usage usage;
        struct follower *nodes, *pods; /* pods: NULL = nobody asks for them */
        bool nodes_listed, pods_listed;
};

static void begin_nodes(void *ctx)
{
        usage_begin_nodes(&((struct usage_watch *)ctx)->usage);
}

static void show_node(void *ctx, const struct object *o, bool deleted)
{
        struct usage_watch *w = ctx;

        if (deleted)
                usage_remove_node(&w->usage, o->meta.name);
        else
                (void)usage_put_node(&w->usage,
                                     (const struct node *)(const void *)o); /* counted by the next event */
}

static void end_nodes(void *ctx)
{
        struct usage_watch *w = ctx;

        usage_end_nodes(&w->usage);
        w->nodes_listed = true;
}

static void begin_pods(void *ctx)
{
        usage_begin_pods(&((struct usage_watch *)ctx)->usage);
}

static void show_pod(void *ctx, const struct object *o, bool deleted)
{
        struct usage_watch *w = ctx;

        if (deleted)
                usage_remove_pod(&w->usage, o->meta.ns, o->meta.name);
        else
                (void)usage_put_pod(&w->usage, (const struct pod *)(const void *)o);
}

static void end_pods(void *ctx)
{
        struct usage_watch *w = ctx;

        usage_end_pods(&w->usage);
        w->pods_listed = true;
}

struct usage_watch *usage_watch_new(struct kube_client *kube, struct fiber_group *group, bool with_pods,
                                    struct error *err)
{
        struct usage_watch *w = NEW(struct usage_watch);
        struct follower_options nodes = { .kube = kube,
                                          .kind = &node_kind,
                                          .begin = begin_nodes,
                                          .object = show_node,
                                          .end = end_nodes,
                                          .ctx = w };
        struct follower_options pods = { .kube = kube,
                                         .kind = &pod_kind,
                                         .field_selector = TAKING_PODS,
                                         .begin = begin_pods,
                                         .object = show_pod,
                                         .end = end_pods,
                                         .ctx = w };

        if (!w) {
                error_no_memory(err);
                return NULL;
        }
        usage_init(&w->usage);
        w->nodes = follower_new(group, &nodes, err);
        w->pods = w->nodes && with_pods ? follower_new(group, &pods, err) : NULL;
        w->pods_listed = !with_pods;
        return w->nodes && (w->pods || !with_pods) ? w : usage_watch_free(w);
}

struct usage_watch *usage_watch_free(struct usage_watch *w)
{
        if (!w)
                return NULL;
        follower_stop(w->nodes);
        follower_stop(w->pods);
        usage_free(&w->usage);
        mem_free(w);
        return NULL;
}

const struct usage *usage_watch_get(const struct usage_watch *w, const char **ret_problem)
{
        const char *problem = follower_problem(w->nodes);

        if (!problem[0] && w->pods)
                problem = follower_problem(w->pods);
        if (ret_problem)
                *ret_problem = problem;
        return w->nodes_listed && w->pods_listed ? &w->usage : NULL;
}

bool usage_watch_sees_pods(const struct usage_watch *w)
{
        return w->pods;
}

bool usage_watch_current(const struct usage_watch *w)
{
        return follower_current(w->nodes) && (!w->pods || follower_current(w->pods));
}
