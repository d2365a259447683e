/* The same as documents, for -o json and yaml. */
#include "hub-agent/common.h"
#include "kubectl-fleet/placement_view.h"

int doc_set_unless_empty(json_t *doc, const char *key, const char *text)
{
        return text_empty(text) ? 0 : json_object_set_new(doc, key, json_string(text));
}

json_t *condition_doc(const struct condition *c)
{
        if (!c)
                return json_null();
        return json_pack("{s:s, s:s, s:s, s:s}", "type", or_empty(c->type), "status", or_empty(c->status),
                         "reason", or_empty(c->reason), "message", or_empty(c->message));
}

json_t *resource_identifier_doc(const struct resource_identifier *id)
{
        return json_pack("{s:s, s:s, s:s, s:s, s:s}", "group", or_empty(id->group), "version",
                         or_empty(id->version), "kind", or_empty(id->kind), "namespace", or_empty(id->ns),
                         "name", or_empty(id->name));
}

static json_t *progress_doc(const struct progress *p)
{
        return json_pack("{s:I, s:I, s:I, s:I}", "available", (json_int_t)p->good, "inProgress",
                         (json_int_t)p->busy, "failed", (json_int_t)p->bad, "total", (json_int_t)p->total);
}

json_t *placement_summary_doc(const struct placement_summary *v)
{
        const struct object *o = &v->placement->object;
        json_t *doc = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:I}", "kind", o->kind->kind, "name",
                                o->meta.name, "policy", v->policy, "revision", v->revision, "state", v->word,
                                "clusters", progress_doc(&v->progress), "drifted", (json_int_t)v->n_drifted,
                                "differing", (json_int_t)v->n_diffed);

        if (doc && doc_set_unless_empty(doc, "namespace", o->meta.ns) < 0) {
                json_decref(doc);
                return NULL;
        }
        return doc;
}

static json_t *failed_doc(const struct failed_placement *f)
{
        json_t *doc = resource_identifier_doc(&f->id);

        if (doc && json_object_set_new(doc, "condition", condition_doc(f->condition)) < 0) {
                json_decref(doc);
                return NULL;
        }
        return doc;
}

static json_t *cluster_doc(const struct cluster_view *c)
{
        const struct binding_status *status = c->binding->status;
        struct failed_placement_list failed = LIST_OR_NONE(status ? status->failed_placements : NULL);
        struct drifted_placement_list drifted = LIST_OR_NONE(status ? status->drifted_placements : NULL);
        struct diffed_placement_list diffed = LIST_OR_NONE(status ? status->diffed_placements : NULL);
        json_t *works = json_array(), *failures = json_array();

        for (size_t i = 0; works && i < c->n_works; i++)
                json_array_append_new(works, json_string(c->works[i]));
        for (uint32_t i = 0; failures && i < failed.n; i++)
                json_array_append_new(failures, failed_doc(&failed.at[i]));
        return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:I, s:I}", "cluster", c->cluster, "binding",
                         c->binding->object.meta.name, "revision", c->revision, "state", c->word.word,
                         "message", c->word.because ? or_empty(c->word.because->message) : "", "works", works,
                         "failedResources", failures, "driftedResources", (json_int_t)drifted.n,
                         "differingResources", (json_int_t)diffed.n);
}

json_t *placement_doc(const struct placement_view *v)
{
        const struct placement_status *status = v->summary.placement->status;
        AUTO_JSON json_t *doc = placement_summary_doc(&v->summary);
        json_t *clusters = json_array(), *resources = json_array();

        for (size_t i = 0; clusters && i < v->n_clusters; i++)
                json_array_append_new(clusters, cluster_doc(&v->clusters[i]));
        for (uint32_t i = 0; resources && status && i < status->selected_resources.n; i++)
                json_array_append_new(resources, resource_identifier_doc(&status->selected_resources.at[i]));
        if (!doc || json_object_set_new(doc, "progress", json_incref(json_object_get(doc, "clusters"))) < 0 ||
            json_object_set_new(doc, "clusters", clusters) < 0 ||
            json_object_set_new(doc, "resources", resources) < 0 ||
            json_object_set_new(doc, "scheduled", condition_doc(v->scheduled)) < 0 ||
            doc_set_unless_empty(doc, "snapshot", v->snapshot) < 0)
                return NULL;
        return json_incref(doc);
}
