#include "e2e/devcluster/request.h"

#include <stdarg.h>

#include "e2e/devcluster/convert.h"
#include "e2e/devcluster/crd.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

struct table *request_table(struct request *rq, bool create)
{
        const char *key = rq->resource->flags & RESOURCE_AS_CORE ? CORE_EVENTS : rq->resource->table_key;
        return api_store_table(rq->cluster, key, create);
}

const char *request_api_version(struct request *rq)
{
        return resource_api_version(rq->resource, rq->resource_version, rq->arena);
}

#define WARNINGS_MAX 32

void request_warn(struct request *rq, const char *fmt, ...)
{
        char text[ERROR_TEXT_MAX];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof(text), fmt, ap);
        va_end(ap);
        const char *copy = arena_strdup(rq->arena, text);
        for (size_t i = 0; copy && i < rq->warnings.n; i++)
                if (strcmp(rq->warnings.at[i], copy) == 0)
                        return;
        if (copy && rq->warnings.n < WARNINGS_MAX)
                (void)vec_push(&rq->warnings, copy);
}

static const char *const system_groups[] = { "system:masters", "system:authenticated", NULL };
static const struct identity system_identity = { .name = "system:apiserver",
                                                 .uid = "",
                                                 .groups = system_groups };

int request_internal(struct request *rq, struct devcluster *d, struct cluster *c, const char *table_key,
                     const char *ns, const char *name, struct arena *arena)
{
        const struct resource *r = registry_find_key(c, table_key);
        if (!r || resource_hold(r, arena) < 0)
                return ERR_NOT_FOUND;
        *rq = (struct request){ .devcluster = d,
                                .cluster = c,
                                .arena = arena,
                                .user = &system_identity,
                                .verb = "update",
                                .group = r->group,
                                .plural = r->plural,
                                .ns = text_empty(ns) ? NULL : ns,
                                .name = name,
                                .resource = r,
                                .resource_version = resource_storage_version(r),
                                .field_manager = "kube-controller-manager",
                                .field_validation = FIELDS_IGNORE,
                                .now_ms = loop_wall_ms(d->loop) };
        rq->version = rq->resource_version->version;
        return 0;
}

int request_load(struct request *rq, json_t **ret)
{
        struct blob *b = api_store_get(request_table(rq, false), rq->ns, rq->name);
        if (!b)
                return request_fail_not_found(rq, rq->name);
        struct error err = { 0 };
        if (convert_blob(rq, b, ret, &err) < 0)
                return request_fail_error(rq, &err);
        return 0;
}

int request_look(struct request *rq, json_t **ret)
{
        struct table *t = request_table(rq, false);
        const struct blob *b = api_store_get(t, rq->ns, rq->name);
        rq->sound = b && convert_is_identity(rq, t, b) ? blob_kept_doc(b) : NULL;
        if (!rq->sound)
                return request_load(rq, ret);
        *ret = json_incref((json_t *)rq->sound);
        return 0;
}

int request_check_unmoved(struct request *rq, const json_t *live)
{
        const struct blob *now;
        uint64_t rv;
        if (!rq->waited)
                return 0;
        now = api_store_get(request_table(rq, false), rq->ns, rq->name);
        if (now && text_parse_u64(meta_rv(live), &rv) && now->rv == rv)
                return 0;
        rq->again = true;
        return request_fail_conflict(rq, rq->name, MOVED_MESSAGE);
}
