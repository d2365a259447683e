/* delete: preconditions, finalizers, propagation. What happens to dependents is gc.c's business. */
#include "common/base/timefmt.h"
#include "e2e/devcluster/admission.h"
#include "e2e/devcluster/convert.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/rest_write.h"
#include "e2e/devcluster/webhook.h"

/* A conflict that names the kind, not the resource: so does kube-apiserver here. */
static int fail_precondition(struct request *rq, const char *name, const char *fmt, const char *wanted,
                             const char *is)
{
        const struct resource *r = rq->resource;
        const char *why = arena_printf(rq->arena, fmt, wanted, is);
        (void)request_fail(rq, 409, "Conflict", "Operation cannot be fulfilled on %s%s%s \"%s\": %s", r->kind,
                           *r->group ? "." : "", r->group, name, why ? why : "");
        rq->status.name = arena_strdup(rq->arena, name);
        rq->status.group = r->group;
        rq->status.kind = r->kind;
        return ERR_CONFLICT;
}

static int check_preconditions(struct request *rq, const json_t *live, const struct delete_options *o)
{
        if (o->uid && strcmp(o->uid, meta_uid(live)) != 0)
                return fail_precondition(rq, meta_name(live),
                                         "the UID in the precondition (%s) does not match the UID in "
                                         "record (%s). The object might "
                                         "have been deleted and then recreated",
                                         o->uid, meta_uid(live));
        if (o->rv && strcmp(o->rv, meta_rv(live)) != 0)
                return fail_precondition(rq, meta_name(live),
                                         "the ResourceVersion in the precondition (%s) does not match "
                                         "the ResourceVersion in record "
                                         "(%s). The object might have been modified",
                                         o->rv, meta_rv(live));
        return 0;
}

static int set_propagation_finalizer(json_t *doc, const char *propagation)
{
        if (!propagation)
                return 0;
        (void)meta_remove_finalizer(doc, "orphan");
        (void)meta_remove_finalizer(doc, "foregroundDeletion");
        if (strcmp(propagation, "Orphan") == 0)
                return meta_add_finalizer(doc, "orphan");
        if (strcmp(propagation, "Foreground") == 0)
                return meta_add_finalizer(doc, "foregroundDeletion");
        return 0;
}

static bool must_wait(const json_t *doc)
{
        return meta_has_finalizers(doc) || json_array_size(doc_get_array(doc, "spec.finalizers")) > 0;
}

static int mark_deleting(struct request *rq, json_t *doc)
{
        char now[RFC3339_SIZE];
        bool own_life = text_equal(rq->resource->table_key, "/namespaces") ||
                        text_equal(rq->resource->table_key, "apiextensions.k8s.io/customresourcedefinitions");
        time_format_rfc3339(rq->now_ms, now);
        if (doc_set_string(doc, "metadata.deletionTimestamp", now) < 0)
                return request_fail_memory(rq);
        if (own_life) /* deleted by a procedure of their own, without grace */
                return text_equal(rq->resource->plural, "namespaces")
                               ? doc_set_string(doc, "status.phase", "Terminating")
                               : 0;
        if (doc_set_int(doc, "metadata.deletionGracePeriodSeconds", 0) < 0)
                return request_fail_memory(rq);
        int64_t generation = doc_get_int(doc, "metadata.generation", -1);
        if (generation >= 0 && doc_set_int(doc, "metadata.generation", generation + 1) < 0)
                return request_fail_memory(rq);
        return 0;
}

static int store_deleting(struct request *rq, const json_t *live, json_t *doc, bool dry_run)
{
        struct error err = { 0 };
        if (dry_run || doc_equal(live, doc))
                return 0;
        AUTO_JSON json_t *stored = NULL;
        if (convert_to_storage(rq, doc, &stored, &err) < 0 ||
            api_store_put(request_table(rq, true), stored, NULL, &err) < 0)
                return request_fail_error(rq, &err);
        const struct resource_hooks *hooks = rq->resource->hooks;
        if (hooks && hooks->after_write)
                hooks->after_write(rq->devcluster, rq->cluster, live, doc);
        return 0;
}

/* Deletion works on the storage version: nothing is validated, nothing may get lost. */
static int delete_live(struct request *rq, const json_t *live, const struct delete_options *o, json_t **ret)
{
        AUTO_JSON json_t *doc = doc_copy(live);
        if (!doc)
                return request_fail_memory(rq);
        const struct resource_hooks *hooks = rq->resource->hooks;
        if (hooks && hooks->before_delete)
                TRY(hooks->before_delete(rq, doc));
        if (set_propagation_finalizer(doc, o->propagation) < 0)
                return request_fail_memory(rq);
        if (!must_wait(doc)) {
                if (rq->resource->flags & RESOURCE_EVICTION) /* deleted with grace, of which none is left */
                        TRY(mark_deleting(rq, doc));
                if (!o->dry_run)
                        TRY(rest_remove(rq, doc));
                *ret = rq->resource->flags & RESOURCE_RETURN_DELETED ? TAKE_PTR(doc) : NULL;
                return 0;
        }
        if (!meta_is_deleting(doc))
                TRY(mark_deleting(rq, doc));
        TRY(store_deleting(rq, live, doc, o->dry_run));
        *ret = TAKE_PTR(doc);
        return 0;
}

static int delete_named(struct request *rq, const struct delete_options *o, json_t **ret,
                        const char **ret_uid)
{
        AUTO_JSON json_t *live = NULL;
        TRY(request_load(rq, &live));
        TRY(check_preconditions(rq, live, o));
        TRY(webhooks_mutate(rq, "DELETE", NULL, live, NULL, NULL));
        TRY(admission_review(rq, "DELETE", NULL, live, NULL));
        TRY(request_check_unmoved(rq, live));
        *ret_uid = arena_strdup(rq->arena, meta_uid(live));
        return delete_live(rq, live, o, ret);
}

int rest_delete(struct request *rq, const char *ns, const char *name, const struct delete_options *o,
                json_t **ret, const char **ret_uid)
{
        struct request on = *rq;
        on.ns = ns;
        on.name = name;
        on.resource_version = resource_storage_version(rq->resource);
        int r = delete_named(&on, o, ret, ret_uid);
        rq->waited = on.waited;
        rq->again = on.again;
        rq->status = on.status;
        rq->warnings.at = on.warnings.at;
        rq->warnings.n = on.warnings.n;
        rq->warnings.cap = on.warnings.cap;
        return r;
}
