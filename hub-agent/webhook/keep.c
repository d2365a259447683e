#include "hub-agent/webhook/keep.h"

#include "common/json/patch.h"
#include "hub-agent/common.h"

static const char *name_of(const json_t *doc)
{
        return or_empty(doc_get_string(doc, "metadata.name"));
}

static int put_right(struct reconcile *rc, const struct kube_resource *r, const json_t *live,
                     const json_t *wanted, const char *what)
{
        AUTO_JSON json_t *merged = NULL, *patch = NULL;

        TRY(patch_merge(live, wanted, &merged, rc->err));
        if (doc_equal(live, merged))
                return 0;
        TRY(patch_merge_diff(live, merged, &patch, rc->err));
        if (doc_set_string(patch, "metadata.resourceVersion",
                           or_empty(doc_get_string(live, "metadata.resourceVersion"))) < 0)
                return error_no_memory(rc->err);
        TRY(kube_doc_patch(rc->kube, r, NULL, name_of(wanted), KUBE_PATCH_MERGE, patch, NULL, NULL, rc->err));
        log_info(&rc->log, "what differs is put right", "what", what, "kind", r->kind, "name",
                 name_of(wanted));
        return 0;
}

int keep_object(struct reconcile *rc, const struct kube_resource *r, json_t *wanted, const char *what,
                int (*prepare)(const json_t *live, json_t *wanted, struct error *err))
{
        AUTO_JSON json_t *live = NULL;
        int code = kube_doc_get(rc->kube, r, NULL, name_of(wanted), &live, rc->err);

        if (code == 0 && prepare)
                TRY(prepare(live, wanted, rc->err));
        if (code == 0)
                return put_right(rc, r, live, wanted, what);
        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(rc->err);
        TRY(kube_doc_create(rc->kube, r, NULL, wanted, NULL, NULL, rc->err));
        log_info(&rc->log, "installed", "what", what, "kind", r->kind, "name", name_of(wanted));
        return 0;
}
