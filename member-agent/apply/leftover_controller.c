/* Objects that were applied and are no longer in the Work: spec/member-agent.md 2.4. The inventory names
 * candidates, the live owner reference decides. */
#include "common/base/vec.h"
#include "member-agent/apply/pass.h"
#include "member-agent/watch/applied.h"

typedef VEC(struct row) row_vec;

static bool same_object(const struct row *row, const char *group, const char *kind, const char *ns,
                        const char *name)
{
        return text_equal(row->group, group) && text_equal(row->kind, kind) &&
               text_equal(row->ns, ns ? ns : "") && text_equal(row->name, name);
}

/* Compared without version: a changed apiVersion does not make another object. A manifest that cannot be
 * mapped right now is still in the Work. */
static bool is_in_work(const struct pass *p, const struct row *row)
{
        for (size_t i = 0; i < p->n; i++) {
                const struct manifest *m = &p->manifests[i];

                if (m->name && same_object(row, m->group, m->kind, m->ns, m->name))
                        return true;
        }
        return false;
}

/* The state file may be younger than the objects: what the AppliedWork lists counts as inventory too. */
static int add_from_applied_work(struct pass *p, row_vec *candidates, struct error *err)
{
        const struct applied_work *w = (const struct applied_work *)(const void *)p->applied_work;

        for (uint32_t i = 0; w->status && i < w->status->applied_resources.n; i++) {
                const struct applied_resource *r = &w->status->applied_resources.at[i];
                struct row row = { .work = p->name,
                                   .group = r->id.group ? r->id.group : "",
                                   .version = r->id.version ? r->id.version : "",
                                   .kind = r->id.kind ? r->id.kind : "",
                                   .plural = r->id.resource ? r->id.resource : "",
                                   .ns = r->id.ns ? r->id.ns : "",
                                   .name = r->id.name ? r->id.name : "",
                                   .namespaced = !text_empty(r->id.ns),
                                   .uid = r->uid ? r->uid : "",
                                   .hash = "",
                                   .handled = "",
                                   .seen = "" };
                bool known = false;

                for (size_t k = 0; k < p->rows.n && !known; k++)
                        known = same_object(&p->rows.at[k], row.group, row.kind, row.ns, row.name);
                if (!known && !is_in_work(p, &row) && !text_empty(row.name) && !text_empty(row.plural) &&
                    vec_push(candidates, row) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

static int drop_reference(struct pass *p, const struct kube_resource *r, const struct row *row,
                          json_t *without, struct error *err)
{
        static const struct kube_write write = { 0 };
        AUTO_JSON json_t *patch = json_pack("{s:{s:O?, s:O?}}", "metadata", "resourceVersion",
                                            doc_get(without, "metadata.resourceVersion"), "ownerReferences",
                                            doc_get(without, "metadata.ownerReferences"));

        if (!patch)
                return error_no_memory(err);
        return kube_doc_patch(&p->agent->member, r, row->namespaced ? row->ns : NULL, row->name,
                              KUBE_PATCH_MERGE, patch, &write, NULL, err);
}

static int remove_object(struct pass *p, const struct row *row, struct error *err)
{
        struct kube_resource r = { row->group, row->version, row->plural, row->kind, row->namespaced };
        const char *ns = row->namespaced ? row->ns : NULL;
        AUTO_JSON json_t *live = NULL;
        AUTO_JSON json_t *without = NULL;
        bool sole = false;
        int result = kube_doc_get(&p->agent->member, &r, ns, row->name, &live, err);

        if (result == ERR_NOT_FOUND)
                return 0;
        TRY(result);
        if (doc_get(live, "metadata.deletionTimestamp") || !owner_find(live, &p->owner))
                return 0;
        TRY(owner_without(live, &p->owner, &without, &sole, err));
        if (!sole)
                return drop_reference(p, &r, row, without, err);
        result = kube_doc_delete(&p->agent->member, &r, ns, row->name, doc_get_string(live, "metadata.uid"),
                                 NULL, err);
        return result == ERR_NOT_FOUND ? 0 : result;
}

static int remove_one(struct pass *p, const struct row *row, size_t *left, struct error *err)
{
        struct error why = { 0 };
        int r = remove_object(p, row, &why);

        if (r == 0)
                return store_row_remove(p->agent->store, row, err);
        if (r == ERR_NO_MEMORY || r == ERR_CANCELLED) {
                *err = why;
                return r;
        }
        (*left)++;
        log_warn(p->log, "an object that left the Work could not be removed yet", "kind", row->kind,
                 "namespace", row->ns, "name", row->name, "error", why.text);
        return 0;
}

static int collect(struct pass *p, row_vec *candidates, struct error *err)
{
        for (size_t i = 0; i < p->rows.n; i++)
                if (!is_in_work(p, &p->rows.at[i]) && vec_push(candidates, p->rows.at[i]) < 0)
                        return error_no_memory(err);
        return add_from_applied_work(p, candidates, err);
}

int leftover_remove(struct pass *p, size_t *ret_left, struct error *err)
{
        row_vec candidates = VEC_INIT;
        int r = collect(p, &candidates, err);

        *ret_left = 0;
        for (size_t i = 0; r == 0 && i < candidates.n; i++)
                r = remove_one(p, &candidates.at[i], ret_left, err);
        if (r == 0 && candidates.n > 0)
                r = applied_watch_reconcile(p->agent->applied, err);
        vec_free(&candidates);
        return r;
}
