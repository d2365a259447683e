#include "e2e/devcluster/authn.h"

#include "e2e/devcluster/internal.h"

static const char *const admin_groups[] = { "system:masters", "system:authenticated", NULL };
static const struct identity admin = { .name = "system:admin", .uid = "", .groups = admin_groups };
static const char *const anonymous_groups[] = { "system:unauthenticated", NULL };
static const struct identity anonymous = { .name = "system:anonymous",
                                           .uid = "",
                                           .groups = anonymous_groups };

static int from_certificate(struct request *rq)
{
        const char *const *o = rq->x->peer_organizations;
        size_t n = 0;
        while (o && o[n])
                n++;
        const char **groups = ARENA_NEW_ARRAY(rq->arena, const char *, n + 2);
        struct identity *id = ARENA_NEW(rq->arena, struct identity);
        if (!groups || !id)
                return request_fail_memory(rq);
        for (size_t i = 0; i < n; i++)
                groups[i] = o[i];
        groups[n] = "system:authenticated";
        *id = (struct identity){ .name = rq->x->peer_common_name, .uid = "", .groups = groups };
        rq->user = id;
        return 0;
}

int authenticate(struct request *rq)
{
        if (!text_empty(rq->x->peer_common_name))
                return from_certificate(rq);
        if (http_header_get(&rq->x->headers, "Authorization") && !rq->devcluster->options.anonymous_admin)
                return request_fail(rq, 401, "Unauthorized", "Unauthorized");
        rq->user = rq->devcluster->options.anonymous_admin ? &admin : &anonymous;
        return 0;
}
