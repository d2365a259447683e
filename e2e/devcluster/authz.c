#include "e2e/devcluster/authz.h"

#include "e2e/devcluster/internal.h"

static bool is_master(const struct identity *who)
{
        for (const char *const *g = who->groups; g && *g; g++)
                if (strcmp(*g, "system:masters") == 0)
                        return true;
        return false;
}

bool access_allowed(struct devcluster *d, struct cluster *c, const struct access_question *q,
                    struct arena *arena, const char **ret_reason)
{
        if (ret_reason)
                *ret_reason = "";
        return is_master(q->who);
}

void access_forget(struct cluster *c)
{
}

void access_free(struct cluster *c)
{
}

static int fail_path(struct request *rq)
{
        return request_fail(rq, 403, "Forbidden", "forbidden: User \"%s\" cannot %s path \"%s\"",
                            rq->user->name, rq->verb, rq->path);
}

static int fail_resource(struct request *rq)
{
        const char *sub = rq->subresource ? rq->subresource : "";
        const char *what = arena_printf(rq->arena, "%s%s%s", rq->plural, *sub ? "/" : "", sub);
        const char *where = rq->ns ? arena_printf(rq->arena, " in the namespace \"%s\"", rq->ns)
                                   : " at the cluster scope";
        const char *qualified =
                *rq->group ? arena_printf(rq->arena, "%s.%s", rq->plural, rq->group) : rq->plural;
        const char *name = rq->name ? arena_printf(rq->arena, " \"%s\"", rq->name) : "";
        (void)request_fail(rq, 403, "Forbidden",
                           "%s%s is forbidden: User \"%s\" cannot %s resource \"%s\" in API group \"%s\"%s",
                           qualified, name, rq->user->name, rq->verb, what, rq->group, where);
        rq->status.name = rq->name ? rq->name : "";
        rq->status.group = rq->group;
        rq->status.kind = rq->plural;
        return ERR_FORBIDDEN;
}

int authorize(struct request *rq)
{
        struct access_question q = { .who = rq->user,
                                     .verb = rq->verb,
                                     .group = rq->group,
                                     .version = rq->version,
                                     .resource = rq->plural,
                                     .subresource = rq->subresource,
                                     .ns = rq->ns,
                                     .name = rq->name,
                                     .path = rq->plural ? NULL : rq->path };
        if (access_allowed(rq->devcluster, rq->cluster, &q, rq->arena, NULL))
                return 0;
        return rq->plural ? fail_resource(rq) : fail_path(rq);
}
