#include "e2e/devcluster/convert.h"

#include "e2e/devcluster/events.h"
#include "e2e/devcluster/go_shape.h"
#include "e2e/devcluster/hpa.h"
#include "e2e/devcluster/internal.h"

bool convert_is_identity(const struct request *rq, const struct table *t, const struct blob *b)
{
        return rq->resource_version == resource_storage_version(rq->resource) && b->rv > t->stale_rv &&
               !(rq->resource->flags & RESOURCE_AS_CORE);
}

/* Whether these come first: so they do in what was stored. */
static bool begins_with(json_t *doc, const char *const *keys, size_t n)
{
        void *at = json_object_iter(doc);
        for (size_t i = 0; i < n; i++, at = json_object_iter_next(doc, at))
                if (!at || strcmp(json_object_iter_key(at), keys[i]) != 0)
                        return false;
        return true;
}

/* metadata has rules of its own (meta.c), and a CRD's schema only says it is an object: keep it out of the
 * way. */
int convert_prune(struct request *rq, const struct resource_version *v, json_t *doc, json_t *ret_removed,
                  struct error *err)
{
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, v);
        if (!schema)
                return 0;
        static const char *const apart[] = { "kind", "apiVersion", "metadata" };
        if (begins_with(doc, apart, ARRAY_LEN(apart))) /* they would end up where they are */
                return schema_prune_beside(schema, doc, rq->sound, ret_removed, err);
        json_t *kept[ARRAY_LEN(apart)];
        AUTO_JSON json_t *rest = json_object();
        if (!rest)
                return error_no_memory(err);
        for (size_t i = 0; i < ARRAY_LEN(apart); i++) {
                kept[i] = json_incref(json_object_get(doc, apart[i]));
                json_object_del(doc, apart[i]);
        }
        int r = schema_prune(schema, doc, ret_removed, err);
        json_object_update(rest, doc);
        json_object_clear(doc);
        for (size_t i = 0; i < ARRAY_LEN(apart); i++)
                if (kept[i] && json_object_set_new(doc, apart[i], kept[i]) < 0)
                        r = error_no_memory(err);
        if (json_object_update(doc, rest) < 0)
                r = error_no_memory(err);
        return r;
}

static bool is_storage(const struct request *rq, const struct resource_version *v)
{
        return v == resource_storage_version(rq->resource);
}

/* Defaults of a custom resource are set where it is decoded: in what a client sends, and in what is stored.
 */
static bool sets_defaults(const struct request *rq, const struct resource_version *to)
{
        return !rq->resource->custom || is_storage(rq, to);
}

static int convert(struct request *rq, const struct resource_version *to, json_t *doc, struct error *err)
{
        const char *api_version = resource_api_version(rq->resource, to, rq->arena);
        if (strcmp(rq->resource->table_key, "autoscaling/horizontalpodautoscalers") == 0 &&
            hpa_convert(doc, to->version) < 0)
                return error_no_memory(err);
        if (json_object_set_new(doc, "apiVersion", json_string(api_version)) < 0)
                return error_no_memory(err);
        TRY(convert_prune(rq, to, doc, NULL, err));
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, to);
        return schema && sets_defaults(rq, to) ? schema_apply_defaults(schema, doc, err) : 0;
}

int convert_stored(struct request *rq, json_t *doc, struct error *err)
{
        if (!is_storage(rq, rq->resource_version))
                TRY(convert(rq, resource_storage_version(rq->resource), doc, err));
        return convert(rq, rq->resource_version, doc, err);
}

/* Between the two shapes of events; Go writes either one with its own fields. */
static int convert_event(struct request *rq, json_t *doc, bool to_core, struct error *err)
{
        const struct resource *core = registry_find_key(rq->cluster, CORE_EVENTS),
                              *r = to_core ? core : rq->resource;
        const struct schema *schema = resource_schema(rq->devcluster, r, resource_storage_version(r));
        if ((to_core ? event_to_core(doc) : event_from_core(doc)) < 0 || !schema || go_shape(schema, doc) < 0)
                return error_no_memory(err);
        return 0;
}

int convert_blob(struct request *rq, const struct blob *b, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        TRY(blob_parse(b, &doc, err));
        const struct table *t = request_table(rq, false);
        if (rq->resource->flags & RESOURCE_AS_CORE)
                TRY(convert_event(rq, doc, false, err));
        else if (!t || !convert_is_identity(rq, t, b))
                TRY(convert_stored(rq, doc, err));
        *ret = TAKE_PTR(doc);
        return 0;
}

int convert_copy(struct request *rq, const struct resource_version *to, const json_t *doc, json_t **ret,
                 struct error *err)
{
        AUTO_JSON json_t *copy = doc_copy(doc);
        if (!copy)
                return error_no_memory(err);
        TRY(convert(rq, to, copy, err));
        *ret = TAKE_PTR(copy);
        return 0;
}

int convert_to_storage(struct request *rq, json_t *doc, json_t **ret, struct error *err)
{
        const struct resource_version *storage = resource_storage_version(rq->resource);
        if (rq->resource->flags & RESOURCE_AS_CORE) {
                AUTO_JSON json_t *copy = doc_copy(doc);
                if (!copy)
                        return error_no_memory(err);
                TRY(convert_event(rq, copy, true, err));
                *ret = TAKE_PTR(copy);
                return 0;
        }
        if (rq->resource_version == storage) {
                *ret = json_incref(doc);
                return 0;
        }
        return convert_copy(rq, storage, doc, ret, err);
}
