#include "e2e/devcluster/storage_protection.h"

#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/rest_write.h"

#define CLAIMS "/persistentvolumeclaims"

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

static bool is_over(const struct blob *pod)
{
        return strstr(pod->data, "\"phase\":\"Succeeded\"") || strstr(pod->data, "\"phase\":\"Failed\"");
}

/* Texts are searched, not parsed: a claim that is kept a little too long does no harm. */
static bool is_mounted(struct request *rq, const json_t *claim)
{
        const struct table *pods = api_store_table(rq->cluster, "/pods", false);
        const char *wanted = arena_printf(rq->arena, "\"claimName\":\"%s\"", meta_name(claim));
        for (size_t i = pods ? api_store_lower_bound(pods, meta_ns(claim), "") : 0;
             wanted && pods && i < pods->items.n && strcmp(blob_ns(pods->items.at[i]), meta_ns(claim)) == 0;
             i++)
                if (strstr(pods->items.at[i]->data, wanted) && !is_over(pods->items.at[i]))
                        return true;
        return !wanted;
}

static bool is_claimed(struct request *rq, const json_t *volume)
{
        const struct blob *b = api_store_get(api_store_table(rq->cluster, CLAIMS, false),
                                             text_at(volume, "spec.claimRef.namespace"),
                                             text_at(volume, "spec.claimRef.name"));
        const char *uid = text_at(volume, "spec.claimRef.uid");
        return b && (!*uid || strcmp(uid, blob_uid(b)) == 0);
}

void storage_protection_release(struct request *rq, const json_t *live)
{
        bool claim = strcmp(rq->resource->table_key, CLAIMS) == 0;
        const char *finalizer = claim ? "kubernetes.io/pvc-protection" : "kubernetes.io/pv-protection";
        if ((!claim && strcmp(rq->resource->table_key, "/persistentvolumes") != 0) ||
            !meta_has_finalizer(live, finalizer) || (claim ? is_mounted(rq, live) : is_claimed(rq, live)))
                return;
        AUTO_JSON json_t *doc = doc_copy(live);
        struct write_result w = { 0 };
        if (!doc || meta_remove_finalizer(doc, finalizer) < 0 ||
            rest_update_live(rq, live, doc, false, &w) < 0)
                log_warn(rq->devcluster->log, "a protected object cannot be let go", "cluster",
                         rq->cluster->name, "name", meta_name(live), "error",
                         rq->status.message ? rq->status.message : "out of memory");
        json_decref(w.doc);
}
